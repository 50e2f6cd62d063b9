//! Values of a whole type between declared ends, as whole distances from a centre: their sums are exact.

use super::clip::Clip;
use crate::{rows::values::Values, source::Kind};

/// Declared ends, and the value that distances are measured from, as the whole numbers inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    low: i64,
    high: i64,
    centre: i64,
    farthest: i64,
}

impl Exact {
    /// Distances from the middle of the ends, or from zero for a sum; nothing where one could exceed `most`.
    pub fn new(low: i64, high: i64, from_zero: bool, most: i64) -> Option<Self> {
        let middle = (i128::from(low) + i128::from(high)).div_euclid(2);
        let centre = if from_zero { 0 } else { i64::try_from(middle).expect("between the ends") };
        let distance = |end: i64| (i128::from(end) - i128::from(centre)).unsigned_abs();
        let farthest = i64::try_from(distance(low).max(distance(high))).ok()?;
        (1..=most).contains(&farthest).then_some(Self { low, high, centre, farthest })
    }

    /// The farthest that a row lies from the centre.
    pub fn farthest(&self) -> i64 {
        self.farthest
    }

    /// How far a replaced row moves a sum of distances, where a row without a value counts nothing.
    pub fn span(&self) -> i64 {
        (self.high - self.centre).max(0) - (self.low - self.centre).min(0)
    }

    /// The ends and the centre as numbers.
    pub fn clip(&self, kind: Kind) -> Clip {
        Clip { low: kind.number(self.low), high: kind.number(self.high), middle: kind.number(self.centre) }
    }

    /// The sum of distances or of their squares, each row moved between the ends first.
    pub fn sum(&self, values: Values<'_, '_>, squares: bool) -> i64 {
        let mut sum = 0i128;
        values.each_whole(|some| {
            for row in some {
                let distance = i128::from(row.clamp(&self.low, &self.high) - self.centre);
                sum += if squares { distance * distance } else { distance };
            }
        });
        i64::try_from(sum).unwrap_or(if sum > 0 { i64::MAX } else { i64::MIN })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{numbers::Numbers, values::Wholes};

    #[test]
    fn sums_by_hand() {
        let rows = Wholes { numbers: Numbers::InMemory(vec![-7, 3, 10, 50].into()), nulls: 2 };
        let values = Values::Wholes(Kind::Integer, Some(&rows));
        let sums = |exact: Exact| (exact.sum(values, false), exact.sum(values, true));
        assert_eq!(sums(Exact::new(0, 20, true, 100).unwrap()), (33, 9 + 100 + 400));
        let middle = Exact::new(0, 20, false, 100).unwrap();
        assert_eq!((middle.farthest(), sums(middle)), (10, (-10 - 7 + 10, 100 + 49 + 100)));
        let odd = Exact::new(-3, 0, false, 100).unwrap();
        assert_eq!((odd.centre, odd.farthest, odd.span()), (-2, 2, 3));
        assert_eq!(
            [(0, 20), (5, 20), (-3, 20), (-9, -4)]
                .map(|(low, high)| Exact::new(low, high, true, 100).unwrap().span()),
            [20, 20, 23, 9]
        );
        assert_eq!(Exact::new(0, 101, true, 100), None);
        assert_eq!(Exact::new(0, 0, true, 100), None);
        assert_eq!(Exact::new(i64::MIN, i64::MAX, false, i64::MAX), None);
        let far = Exact::new(i64::MAX - 9, i64::MAX, false, 100).unwrap();
        assert_eq!(far.farthest(), 5);
        assert_eq!(far.sum(Values::Wholes(Kind::Integer, None), true), 0);
    }
}
