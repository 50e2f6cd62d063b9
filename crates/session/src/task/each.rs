//! Several quantiles, each with its share of epsilon: how far off each of them is, and from how many rows on all of them are.

use super::guard::{self, MinimumRows};
use crate::{lattice::AnswerLattice, resolved::ResolvedRequest};
use equipoise_core::{
    loss::Eps,
    mechanism::inverse_sensitivity::{Calibrated, InverseSensitivity},
    ratio::Ratio,
    stability::Quantile,
};

/// More quantiles than this are better drawn by halves of the rows, whose epsilon is shared by levels only.
const FEW: usize = 16;

/// Each with its share of epsilon: how far off they are is known before anything is calibrated.
///
/// They are sorted, and each error still is that of its fraction: of numbers that lie between lower and upper ends, the i-th
/// smallest lies between the i-th smallest of either. With n rows the ends of a fraction p that may be e ranks off are
/// p·n - e and p·n + e, rounded up, and both rise with p where n is at least (|e' - e| + 1) / (p' - p) for every two that are
/// neighbours with different errors.
pub(super) struct Each {
    mechanisms: Vec<InverseSensitivity>,
    pub rank_errors: Vec<u64>,
    /// The ends rise where there seem to be so many rows.
    pub rising_from: u64,
}

/// One part in this many of the failure is kept for a number of rows that is smaller than it seems.
const RARE: u64 = 100;

impl Each {
    /// None where they are many.
    pub fn plan(
        said: &ResolvedRequest,
        eps: &Eps,
        space: &AnswerLattice,
        fractions: &[Ratio],
        guard: &MinimumRows,
    ) -> Option<Self> {
        if fractions.len() > FEW {
            return None;
        }
        let many = Ratio::from(fractions.len() as u64);
        let eps = Eps::new(eps.ratio() / &many).ok()?;
        let one = |fraction: &Ratio| {
            let target = Quantile::new(fraction).ok()?.into();
            let (range, adjacency) = (space.range(), said.adjacency());
            Some(InverseSensitivity { eps: eps.clone(), target, range, adjacency })
        };
        let mechanisms: Vec<InverseSensitivity> = fractions.iter().map(one).collect::<Option<_>>()?;
        let errors = |failure: &Ratio| -> Option<Vec<u64>> {
            mechanisms.iter().map(|one| one.ranks_for(&(failure / &many)).ok()).collect()
        };
        let rank_errors = evened(errors(said.failure())?, fractions);
        if rising_from(&rank_errors, fractions) == 0 {
            return Some(Self { mechanisms, rank_errors, rising_from: 0 });
        }
        let rare = said.failure() / &Ratio::from(RARE);
        let rank_errors = evened(errors(&(said.failure() - &rare))?, fractions);
        let rising_from = rising_from(&rank_errors, fractions).saturating_add(guard.margin(&rare).ok()?);
        Some(Self { mechanisms, rank_errors, rising_from })
    }

    /// One calibration serves all, because only their quantiles differ. None where the share is too small for it.
    pub fn calibrate(self) -> Option<(Vec<Calibrated>, Vec<u64>, u64)> {
        let first = self.mechanisms[0].clone().calibrate().ok()?;
        let each = self.mechanisms.iter().map(|one| first.at(one.target)).collect();
        Some((each, self.rank_errors, self.rising_from))
    }
}

/// From how many rows on the ends of these errors rise with the fractions.
pub(super) fn rising_from(errors: &[u64], fractions: &[Ratio]) -> u64 {
    let pairs = errors.windows(2).zip(fractions.windows(2));
    pairs.map(|(errors, fractions)| pair_rises_from(errors, fractions)).max().unwrap_or_default()
}

/// The same for two neighbours.
fn pair_rises_from(errors: &[u64], fractions: &[Ratio]) -> u64 {
    if errors[0] == errors[1] {
        return 0;
    }
    let ranks = Ratio::from(errors[0].abs_diff(errors[1]).saturating_add(1));
    let rows = ranks / (&fractions[1] - &fractions[0]);
    rows.ceil_i64().and_then(|rows| u64::try_from(rows).ok()).unwrap_or(u64::MAX)
}

/// The same errors, but one for both of two neighbours that lie so close that different ones would need more rows than either
/// of them does.
pub(super) fn evened(mut errors: Vec<u64>, fractions: &[Ratio]) -> Vec<u64> {
    loop {
        let close = (1..errors.len()).find(|&place| {
            let pair = place - 1..=place;
            let alone = pair.clone().map(|place| guard::needed(errors[place], &fractions[place]));
            pair_rises_from(&errors[pair.clone()], &fractions[pair]) > alone.max().unwrap_or_default()
        });
        let Some(place) = close else { return errors };
        let larger = errors[place - 1].max(errors[place]);
        errors[place - 1..=place].fill(larger);
    }
}
