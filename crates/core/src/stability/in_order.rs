//! Rows looked up by their rank, wherever they lie: sorted in memory, or behind counts that somebody else makes.
//!
//! # Claim
//!
//! Mechanisms that look at rows through [`InOrder`] see the ranks that they ask for and how many rows are equal to a place, and nothing
//! else. So two implementations that agree in these give the same law of answers.

use super::{
    Range, Sorted, Spacing,
    lattice::{FLOATS, float, ordinal},
};

/// Rows in the order of their places.
pub trait InOrder {
    /// The public range of the rows.
    fn range(&self) -> Range;

    /// How far apart places are.
    fn spacing(&self) -> Spacing;

    /// The number of rows: private under add/remove.
    fn count(&self) -> u64;

    /// The row of a rank, from one to the number of rows.
    fn row(&self, rank: u64) -> i64;

    /// How many rows are below a place, and how many are at it.
    fn ties(&self, place: i64) -> (u64, u64);

    /// Rows of these ranks will be looked at. Whoever has to fetch them can do so at once.
    fn look_at(&self, _first: u64, _last: u64) {}

    /// All rows, where they are at hand.
    fn all(&self) -> Option<&Sorted> {
        None
    }

    /// The row of this rank, from one: the low end before the first row, the high end after the last.
    fn at(&self, rank: i128) -> i64 {
        match u64::try_from(rank) {
            Ok(rank) if rank > self.count() => self.range().hi(),
            Ok(rank) if rank > 0 => self.row(rank),
            Ok(_) => self.range().lo(),
            Err(_) if rank < 0 => self.range().lo(),
            Err(_) => self.range().hi(),
        }
    }

    /// How far apart two places are, the lower first.
    fn gap(&self, low: i64, high: i64) -> u64 {
        self.spacing().gap(low, high)
    }
}

impl Spacing {
    /// How far apart two places are, the lower first.
    pub fn gap(self, low: i64, high: i64) -> u64 {
        match self {
            Self::Even => high.abs_diff(low),
            Self::Floats => {
                let [low, high] =
                    [low, high].map(|place| float(FLOATS.clamp(place)).expect("clamped to the floats"));
                let apart = ordinal((high - low).min(f64::MAX)).expect("finite");
                apart.unsigned_abs()
            }
        }
    }
}

impl InOrder for Sorted {
    fn range(&self) -> Range {
        Self::range(self)
    }

    fn spacing(&self) -> Spacing {
        Self::spacing(self)
    }

    fn count(&self) -> u64 {
        Self::count(self)
    }

    fn row(&self, rank: u64) -> i64 {
        self.rows()[usize::try_from(rank - 1).expect("a rank of rows in memory")]
    }

    fn ties(&self, place: i64) -> (u64, u64) {
        let first = self.rows().partition_point(|&row| row < place);
        let ties = self.rows()[first..].partition_point(|&row| row == place);
        (first as u64, ties as u64)
    }

    fn all(&self) -> Option<&Sorted> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_rows_are_looked_up_by_rank_and_by_place() {
        let range = Range::new(-5, 9).unwrap();
        let sorted = Sorted::new(&[7, 90, -2, 7], range);
        let rows: &dyn InOrder = &sorted;
        assert_eq!(
            [i128::MIN, -4, 0, 1, 2, 3, 4, 5, i128::MAX].map(|rank| rows.at(rank)),
            [-5, -5, -5, -2, 7, 7, 9, 9, 9]
        );
        assert_eq!([-5, -2, 0, 7, 9].map(|place| rows.ties(place)), [(0, 0), (0, 1), (1, 0), (1, 2), (3, 1)]);
        assert_eq!((rows.count(), rows.gap(-5, 9), rows.all().map(Sorted::count)), (4, 14, Some(4)));
    }
}
