//! Intervals of values that hold true quantiles: for each two more quantiles, one to either side.
//!
//! # Why
//!
//! 1. The end below aims as many ranks before the wanted quantile as it may be off, so it lies at or below the true one
//!    unless it is farther off; the end above likewise.
//! 2. Of k quantiles there are 2k ends. Each fails with one part in 2k of the failure probability, so all intervals
//!    hold together with the stated confidence; and each costs one part in 2k of the epsilon for them.
//! 3. Where every end is on its side, it still is when the lower and the upper ends are sorted, as the true ones are.

use super::guard;
use crate::{error::PlanError, lattice::AnswerLattice, resolved::ResolvedRequest};
use equipoise_core::{
    loss::{Eps, Loss, Rho},
    mechanism::inverse_sensitivity::{Calibrated, InverseSensitivity},
    ratio::Ratio,
    stability::{Quantile, reachable::Target},
};

/// The ends of all intervals, in the order of their quantiles.
#[derive(Clone, Debug)]
pub(super) struct IntervalEnds {
    low: Vec<Calibrated>,
    high: Vec<Calibrated>,
    /// From how many rows on each interval is of use: an end aims as far away as it may be off, and lies among the rows where there are
    /// twice as many on its side.
    needed: Vec<u64>,
}

impl IntervalEnds {
    /// For this epsilon in all.
    pub fn plan(
        said: &ResolvedRequest,
        eps: &Eps,
        space: &AnswerLattice,
        fractions: &[Ratio],
    ) -> Result<Self, PlanError> {
        let many = Ratio::from(2 * fractions.len() as u64);
        let failure = said.failure() / &many;
        let of = |target| {
            let eps = Eps::new(eps.ratio() / &many)?;
            InverseSensitivity { eps, target, range: space.range(), adjacency: said.adjacency() }.calibrate()
        };
        let quantiles = fractions.iter().map(Quantile::new).collect::<Result<Vec<_>, _>>()?;
        // One calibration serves all, because only their quantiles differ.
        let first = of(quantiles[0].into())?;
        let (mut low, mut high, mut needed) = (Vec::new(), Vec::new(), Vec::new());
        for (quantile, fraction) in quantiles.into_iter().zip(fractions) {
            let off = first.at(quantile.into()).accuracy(&failure)?.cast_signed();
            needed.push(guard::needed(off.unsigned_abs().saturating_mul(2), fraction));
            low.push(first.at(Target::shifted(quantile, -off)));
            high.push(first.at(Target::shifted(quantile, off)));
        }
        Ok(Self { low, high, needed })
    }

    pub fn cost(&self) -> Loss {
        let costs = self.low.iter().chain(&self.high).map(Calibrated::cost);
        costs.reduce(|sum, cost| sum.compose(&cost)).expect("two ends of one quantile at least")
    }

    /// The same as concentrated losses, each by itself.
    pub fn rho(&self) -> impl Iterator<Item = Rho> {
        self.low.iter().chain(&self.high).map(Calibrated::bounded_range_rho)
    }

    /// From how many rows on each interval is of use.
    pub fn needed(&self) -> &[u64] {
        &self.needed
    }

    /// Each end, in the order in which they are drawn.
    pub fn each(&self) -> impl Iterator<Item = &Calibrated> {
        self.low.iter().chain(&self.high)
    }

    /// The places of both ends of each interval.
    pub fn draw(&self, one: impl FnMut(&Calibrated) -> i64) -> Vec<(i64, i64)> {
        let mut drawn: Vec<i64> = self.each().map(one).collect();
        let (low, high) = drawn.split_at_mut(self.low.len());
        low.sort_unstable();
        high.sort_unstable();
        low.iter().zip(high).map(|(&low, &mut high)| (low.min(high), low.max(high))).collect()
    }
}
