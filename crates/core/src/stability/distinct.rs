//! The number of distinct values.
//!
//! Source: Fang, Dong and Yi, shifted inverse; local notions after 002_c9075a084346ce80.txt, section 1.
//!
//! # Claim
//!
//! Slack, local sensitivity, down-sensitivity and lengths are exact, from the multiplicities alone and
//! whether the universe holds a value that no row has.
//!
//! # Why
//!
//! 1. The number falls by one when the last row of a value goes; the cheapest way down removes whole
//!    values, rarest first.
//! 2. It rises by one when a row takes an unseen value. Under replace that row must come from a value
//!    that keeps another row.

use super::removals::Removals;
use crate::{adjacency::Adjacency, outcome::Slack, redact::debug_only_public};

/// How often each distinct value occurs, rarest first.
#[derive(Clone, PartialEq, Eq)]
pub struct Multiplicities {
    counts: Vec<u64>,
    /// Does the universe hold a value that no row has?
    unseen: bool,
}

debug_only_public!(Multiplicities {});

impl Multiplicities {
    /// From the count of each value; counts of zero are left out.
    pub fn new(counts: impl IntoIterator<Item = u64>, unseen: bool) -> Self {
        let mut counts: Vec<u64> = counts.into_iter().filter(|&count| count > 0).collect();
        counts.sort_unstable();
        Self { counts, unseen }
    }

    /// From sorted rows of a universe of this many values, `None` where it is unbounded.
    pub fn from_sorted<T: PartialEq>(rows: &[T], universe: Option<u64>) -> Self {
        let counts: Vec<u64> = rows.chunk_by(|a, b| a == b).map(|run| run.len() as u64).collect();
        let unseen = universe.is_none_or(|values| values > counts.len() as u64);
        Self::new(counts, unseen)
    }

    /// The number of distinct values.
    pub fn value(&self) -> u64 {
        self.counts.len() as u64
    }

    /// The fewest changed rows that lead to another number.
    pub fn slack(&self, adjacency: Adjacency) -> Slack {
        let rarest = self.counts.first().copied();
        let (rise, fall) = match adjacency {
            Adjacency::AddRemove => (self.unseen, rarest),
            // A value can go only where another one can take its rows.
            Adjacency::Replace => (self.unseen && self.has_repeats(), rarest.filter(|_| self.value() > 1)),
        };
        match rise.then_some(1).into_iter().chain(fall).min() {
            Some(rows) => Slack::rows_to_change(rows, adjacency),
            None => Slack::constant(adjacency),
        }
    }

    /// The most that one row can move the number: one, or none.
    pub fn local_sensitivity(&self, adjacency: Adjacency) -> u64 {
        u64::from(self.slack(adjacency).until_change() == Some(1))
    }

    /// The most that one row can ever move the number, under either adjacency.
    pub fn global_sensitivity() -> u64 {
        1
    }

    /// How far the number falls when rows are removed, looking at `limit` of them.
    pub fn removals(&self, limit: u64) -> Removals {
        let mut removed = 0;
        let after = self.counts.iter().map(move |count| {
            removed += count;
            removed
        });
        let values = (0..=u128::from(self.value())).rev();
        Removals::new(std::iter::once(0).chain(after).zip(values), limit)
    }

    fn has_repeats(&self) -> bool {
        self.counts.last().is_some_and(|&most| most > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stability::{brute_force::Neighbourhoods, removals};

    fn direct(data: &[i64]) -> u128 {
        data.chunk_by(|a, b| a == b).count() as u128
    }

    /// What any row can do is what some row does.
    #[test]
    fn one_row_moves_the_number_by_one_at_most() {
        for adjacency in Adjacency::ALL {
            let all = Neighbourhoods::new(&[0, 1, 2], 4, adjacency);
            let apart = |a: &u128, b: &u128| u64::try_from(a.abs_diff(*b)).unwrap();
            let levels = all.local_sensitivities(direct, apart, 1);
            let most = levels[0].iter().flatten().max().copied();
            assert_eq!(most, Some(Multiplicities::global_sensitivity()), "{adjacency}");
        }
    }

    #[test]
    fn slacks_agree_with_search() {
        for (values, rows) in [(vec![7], 4), (vec![0, 3], 5), (vec![0, 1, 2], 5), (vec![0, 1, 2, 9], 4)] {
            for (adjacency, rows) in
                Adjacency::ALL.iter().flat_map(|&a| (0..=rows).map(move |rows| (a, rows)))
            {
                let size = if adjacency == Adjacency::Replace { rows } else { 2 * rows + 1 };
                let all = Neighbourhoods::new(&values, size, adjacency);
                let slacks = all.slacks(direct);
                let levels = all.local_sensitivities(direct, |a, b| a.abs_diff(*b), 1);
                for (i, data) in all.datasets().iter().enumerate().filter(|(_, data)| data.len() <= rows) {
                    let found = Multiplicities::from_sorted(data, Some(values.len() as u64));
                    assert_eq!(u128::from(found.value()), direct(data));
                    assert_eq!(found.slack(adjacency).until_change(), slacks[i], "{data:?} {adjacency}");
                    let exact = levels[0][i].unwrap_or(0);
                    assert_eq!(u128::from(found.local_sensitivity(adjacency)), exact, "{data:?} {adjacency}");
                    assert!(exact <= Multiplicities::global_sensitivity().into());
                }
            }
        }
    }

    #[test]
    fn lengths_agree_with_every_way_to_remove() {
        removals::tests::check(&[0, 1, 2, 3], 6, direct, |data, limit| {
            Multiplicities::from_sorted(data, None).removals(limit)
        });
    }

    #[test]
    fn down_sensitivity_can_exceed_local_sensitivity_under_replace() {
        // 002, section 1.4, calls it a lower bound; that needs add/remove. A single row is enough.
        let single = Multiplicities::new([1], true);
        assert_eq!(single.local_sensitivity(Adjacency::Replace), 0);
        assert_eq!(single.removals(1).down_sensitivity(), 1);
        assert_eq!(single.local_sensitivity(Adjacency::AddRemove), 1);
    }
}
