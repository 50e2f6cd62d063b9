//! Values of a whole type between declared ends, as whole distances from a centre: their sums are exact.

use super::clip::Clip;
use crate::{error::PlanError, lattice, row_facts::steps::Steps, source::ColumnType, statistic::Argument};

/// Declared ends, and the value that distances are measured from, as the whole numbers inside.
///
/// Where the middle of the ends lies between two whole numbers, distances are counted in halves: from a whole number beside it one
/// end would lie farther than it must, twice as far of yes and no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    low: i64,
    high: i64,
    /// So many steps are one unit of the column.
    parts: i64,
    /// In steps.
    centre: i128,
    farthest: i64,
}

impl Exact {
    /// A declared range of a whole type, where steps of its own are few enough.
    pub fn of_range(
        kind: ColumnType,
        text: &str,
        from_zero: bool,
        most: i64,
    ) -> Result<Option<Self>, PlanError> {
        match lattice::whole_ends(kind, text)? {
            (low, high) if low < high => Ok(Self::new(low, high, from_zero, most)),
            _ => Err(PlanError::about(Argument::Range, "the range holds one value of the column's type")
                .hint("give LO,HI with LO below HI")),
        }
    }

    /// Distances from the middle of the ends, or from zero for a sum; nothing where one could exceed `most` steps.
    pub fn new(low: i64, high: i64, from_zero: bool, most: i64) -> Option<Self> {
        let both = i128::from(low) + i128::from(high);
        let (parts, centre) = match (from_zero, both.rem_euclid(2)) {
            (true, _) => (1, 0),
            (false, 0) => (1, both / 2),
            (false, _) => (2, both),
        };
        let distance = |end: i64| (i128::from(parts) * i128::from(end) - centre).unsigned_abs();
        let farthest = i64::try_from(distance(low).max(distance(high))).ok()?;
        (1..=most).contains(&farthest).then_some(Self { low, high, parts, centre, farthest })
    }

    /// The farthest that a row lies from the centre, in steps.
    pub fn farthest(&self) -> i64 {
        self.farthest
    }

    /// The same as a number of the column's type.
    pub fn farthest_number(&self, kind: ColumnType) -> f64 {
        kind.number(self.farthest) / self.parts as f64
    }

    /// How far a replaced row moves a sum of distances in steps, where a row without a value counts nothing.
    pub fn span(&self) -> i64 {
        let distance = |end: i64| i128::from(self.parts) * i128::from(end) - self.centre;
        let span = distance(self.high).max(0) - distance(self.low).min(0);
        i64::try_from(span).expect("at most twice the farthest")
    }

    /// The ends and the centre as numbers.
    pub fn clip(&self, kind: ColumnType) -> Clip {
        let (low, high) = (kind.number(self.low), kind.number(self.high));
        let centre = match i64::try_from(self.centre) {
            Ok(centre) if self.parts == 1 => kind.number(centre),
            _ => low / 2.0 + high / 2.0,
        };
        Clip { low, high, middle: centre }
    }

    /// What rows add to the sum of distances or of their squares, each moved between the ends first.
    pub fn steps(&self, squared: bool) -> Steps {
        let Self { low, high, parts, centre, .. } = *self;
        Steps::Wholes { low, high, parts, centre, squared }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_by_hand() {
        let sum = |exact: Exact, squared| {
            let mut sums = [0];
            exact.steps(squared).add_wholes(&[-7, 3, 10, 50], &mut sums);
            sums[0]
        };
        let sums = |exact: Exact| (sum(exact, false), sum(exact, true));
        assert_eq!(sums(Exact::new(0, 20, true, 100).unwrap()), (33, 9 + 100 + 400));
        let middle = Exact::new(0, 20, false, 100).unwrap();
        assert_eq!((middle.farthest(), sums(middle)), (10, (-10 - 7 + 10, 100 + 49 + 100)));
        let odd = Exact::new(-3, 0, false, 100).unwrap();
        // Halves from -1.5: both ends lie three of them away.
        assert_eq!((odd.parts, odd.centre, odd.farthest, odd.span()), (2, -3, 3, 6));
        assert_eq!(sums(odd), (6, 36));
        let yes = Exact::new(0, 1, false, 100).unwrap();
        assert_eq!((yes.farthest, yes.span(), yes.farthest_number(ColumnType::Boolean)), (1, 2, 0.5));
        assert_eq!(
            [(0, 20), (5, 20), (-3, 20), (-9, -4)]
                .map(|(low, high)| Exact::new(low, high, true, 100).unwrap().span()),
            [20, 20, 23, 9]
        );
        assert_eq!(Exact::new(0, 101, true, 100), None);
        assert_eq!(Exact::new(0, 0, true, 100), None);
        assert_eq!(Exact::new(i64::MIN, i64::MAX, false, i64::MAX), None);
        let far = Exact::new(i64::MAX - 9, i64::MAX, false, 100).unwrap();
        assert_eq!((far.parts, far.farthest()), (2, 9));
    }
}
