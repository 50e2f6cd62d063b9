//! Noisy sums and numbers of rows, and the bars of what is made of them.

use super::{bar::Bar, clip::Clip};

/// A multiple of a noisy sum, how far off that may be, and the number of rows that the sum is to be divided by.
pub(super) struct NoisySum {
    pub value: i64,
    pub within: i64,
    pub multiple: f64,
    pub rows: Bar,
}

impl NoisySum {
    pub fn bar(&self) -> Bar {
        Bar::around(self.value, self.within).divided(self.multiple)
    }
}

/// How many rows there seem to be.
#[derive(Clone, Copy)]
pub(super) struct NoisyRows {
    pub about: i64,
    pub within: i64,
    pub bar: Bar,
}

impl NoisyRows {
    /// There are no more than so many.
    pub fn most(&self) -> f64 {
        self.bar.high.max(0.0)
    }
}

/// Noisy sums, in shares of the farthest that a row can lie from the centre.
pub(super) struct Measured {
    pub count: Bar,
    /// The mean, from the noisy number that stands for the count.
    pub share: Bar,
    /// The noisy sum in steps.
    pub noisy: i64,
    pub first: Bar,
    pub second: Option<Bar>,
    /// The rows on either side of the centre, each counted by how far it lies there, where these are what has noise.
    pub sides: Option<[Bar; 2]>,
    pub centre: Bar,
    pub farthest: Bar,
    pub clip: Clip,
    /// At most so many rows lie outside of it, where that is known.
    pub outside: Option<u64>,
    /// What is to be known of a column in which no number may be.
    pub doubt: Option<String>,
    /// The ends of the range as doubles that hold it: those of a whole type may be none.
    pub ends: [f64; 2],
}

impl Measured {
    /// The sum: of two sides, each times the end that it lies at.
    pub fn sum(&self) -> Bar {
        match self.sides {
            None => self.first.times(self.farthest),
            Some([above, below]) => {
                let (top, bottom) = (self.centre.plus(self.farthest), self.centre.less(self.farthest));
                above.multiplied(top).plus(below.multiplied(bottom))
            }
        }
    }

    /// The mean of rows in a range, which lies there.
    pub fn mean(&self) -> Bar {
        self.share.times(self.farthest).plus(self.centre).between(self.ends[0], self.ends[1])
    }

    /// The variance. Panics where no squares were summed.
    pub fn variance(&self) -> Bar {
        let second = self.second.expect("a variance has a second sum");
        // Values between -1 and 1 have no larger variance than one; rounding a lower end of zero outwards would leave it below.
        let squares = second.over(self.count).minus_square(self.share.between(-1.0, 1.0)).between(0.0, 1.0);
        squares.times(self.farthest).times(self.farthest).at_least_zero()
    }
}
