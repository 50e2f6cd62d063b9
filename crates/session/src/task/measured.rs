//! Noisy sums and numbers of rows, and the bars of what is made of them.

use super::{bar::Bar, clip::Clip};

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
    /// The sum itself.
    pub sum: Bar,
    /// The variance, where it was asked for.
    pub variance: Option<Bar>,
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
    /// The mean of rows in a range, which lies there.
    pub fn mean(&self) -> Bar {
        self.share.times(self.farthest).plus(self.centre).between(self.ends[0], self.ends[1])
    }

    /// The variance. Panics where none was asked for.
    pub fn variance(&self) -> Bar {
        let variance = self.variance.expect("a variance was asked for");
        variance.between(0.0, 1.0).times(self.farthest).times(self.farthest).at_least_zero()
    }
}
