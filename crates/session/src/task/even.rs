//! The rows that a prediction is made for: as many as were declared, or a thousand, evenly over the declared range.
//!
//! Mechanisms whose noise follows the rows have no useful error that holds for all rows. On these rows every mechanism
//! has one, in the column's unit, from public words alone: that is what `auto` compares.

use crate::{error::PlanError, lattice::AnswerLattice, planned::PredictedError, resolved::ResolvedRequest};
use equipoise_core::{adjacency::Adjacency, loss::Eps, ratio::Ratio, stability::reachable::Target};

/// So many rows where nobody said how many there are.
const ROWS: u64 = 1000;

/// Rows that lie evenly over a declared range.
#[derive(Clone, Copy, Debug)]
pub(super) struct EvenRows {
    rows: u64,
    /// From the lowest to the highest, in the column's unit.
    width: f64,
}

impl EvenRows {
    /// `None` without a declared range.
    pub fn new(said: &ResolvedRequest, space: &AnswerLattice) -> Result<Option<Self>, PlanError> {
        let rows = said.rows()?.unwrap_or(ROWS).max(1);
        let width = space.apart(space.range().lo(), space.range().hi());
        Ok(said.range().map(|_| Self { rows, width }))
    }

    /// How far neighbours lie apart.
    pub fn gap(&self) -> f64 {
        self.width / self.rows as f64
    }

    /// How far the quartiles lie apart.
    pub fn quartiles_apart(&self) -> f64 {
        self.width / 2.0
    }

    /// Are there at least so many rows?
    pub fn has(&self, rows: u64) -> bool {
        self.rows >= rows
    }

    /// The prediction that the error is this.
    pub fn likely(&self, error: f64) -> PredictedError {
        let error = error.min(self.width);
        PredictedError { error, rows: self.rows, helps: error < self.width / 4.0 }
    }

    /// A quantile by inverse sensitivity: as many values have each length, so the length is at least l with probability
    /// `e^(-epsilon·l/2)`.
    pub fn inverse_error(&self, eps: &Eps, target: Target, adjacency: Adjacency, failure: &Ratio) -> f64 {
        let length = -2.0 * failure.to_f64().ln() / eps.ratio().to_f64();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates; a hint")]
        let ranks = target.ranks_within(length.ceil() as u64, adjacency);
        ranks as f64 * self.gap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_rows_over_a_range_of_forty_by_hand() {
        let even = EvenRows { rows: 100, width: 40.0 };
        assert_eq!((even.gap(), even.quartiles_apart()), (0.4, 20.0));
        assert!(even.has(100) && !even.has(101));
        // An error is at most the range, and helps below a quarter of it.
        let likely = |error: f64| (even.likely(error).error, even.likely(error).helps);
        assert_eq!([9.9, 10.0, 50.0].map(likely), [(9.9, true), (10.0, false), (40.0, false)]);
    }
}
