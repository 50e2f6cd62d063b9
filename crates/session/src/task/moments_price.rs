//! What sums, means and variances lose, in parts.

use super::{Moments, RangeBy, stages::Stage};
#[cfg(test)]
use equipoise_core::adjacency::Adjacency;
use equipoise_core::loss::{Loss, Zcdp};

/// Several losses together.
pub(super) fn sum(losses: impl IntoIterator<Item = Loss>) -> Loss {
    losses.into_iter().reduce(|sum, part| sum.compose(&part)).expect("some part costs something")
}

impl Moments {
    /// Each part by itself. What a search and its sums lose is that of the split that loses most: the number of rows, which is bought before,
    /// decides on the split, and a concentrated loss may be composed with whatever came before as long as its bound was fixed.
    pub(super) fn parts_lost(&self) -> Vec<Loss> {
        match &self.range {
            RangeBy::Declared(_, sums) => self.divisor.cost().into_iter().chain(sums.losses()).collect(),
            RangeBy::Searched(searched) => {
                let split = searched.stages.iter().map(|stage| self.split_lost(stage));
                let worst = split.max_by(|one, other| one.rho.cmp(&other.rho)).expect("some split");
                searched.count.cost().into_iter().chain([Loss::Zcdp(worst)]).collect()
            }
        }
    }

    /// What one split loses. A median that a search begins at is found under add/remove, in two steps under replace.
    fn split_lost(&self, stage: &Stage) -> Zcdp {
        let (start, end) = stage.search.rho();
        let start = start.and_then(|rho| Loss::zcdp(&rho).steps(self.search_steps));
        let end = Loss::zcdp(&end);
        let whole = sum(start.into_iter().chain([end.clone(), end]).chain(stage.sums.losses()));
        whole.to_zcdp().expect("no part is a Renyi curve")
    }

    /// What the parts cost under the adjacency that was asked for, added up: the same for each split.
    #[cfg(test)]
    pub fn spent(&self, adjacency: Adjacency) -> Loss {
        match &self.range {
            RangeBy::Declared(_, sums) => sum(self.divisor.cost().into_iter().chain([sums.cost()])),
            RangeBy::Searched(searched) => {
                let spent = |stage: &Stage| {
                    let (start, ends) = stage.search.spent();
                    let again = start.clone().filter(|_| adjacency == Adjacency::Replace);
                    let parts = [searched.count.cost(), start, again, Some(ends), Some(stage.sums.cost())];
                    sum(parts.into_iter().flatten())
                };
                let mut all = searched.stages.iter().map(spent);
                let first = all.next().expect("some stage");
                assert!(all.all(|other| other == first), "every split costs the same");
                first
            }
        }
    }
}
