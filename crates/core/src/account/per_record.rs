//! A filter for each record: a record takes part in releases until its own loss would exceed the limit.
//!
//! Source: Feldman and Zrnic, "Individual privacy accounting via a Renyi filter" (2021).
//!
//! # Guarantee
//!
//! Add/remove. Each release is charged to a record with what *that* record can change, a function of the record
//! and of the public transcript. If every release is computed from exactly the records that
//! [`PerRecord::participants`] returns, everything released together has at most the loss `limit`, however long
//! it goes on. The participants and the sums are secret: neither they nor their number may be shown.
//!
//! # Why
//!
//! 1. Compare two runs that differ in one record. Given a common transcript, every other record has been charged
//!    the same in both, so it takes part in both or in neither.
//! 2. So a release differs by the one record alone, and by what it was charged for, or not at all once it is out.
//! 3. Its charges stay within the limit, and the filter of `filter.rs` applies.

use super::filter::Filter;
use crate::loss::Loss;
use std::collections::BTreeMap;

/// Who has spent what. Plain data, and secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerRecord<K: Ord> {
    /// What each record may lose.
    pub limit: Loss,
    /// What each record has lost; those not listed have lost nothing.
    pub spent: BTreeMap<K, Loss>,
}

impl<K: Ord + Clone> PerRecord<K> {
    /// Nobody has lost anything yet.
    pub fn new(limit: Loss) -> Self {
        Self { limit, spent: BTreeMap::new() }
    }

    /// The records that take part in a release with these charges, after they were charged. A record whose
    /// charge does not fit sits this release out, unchanged: a smaller one may still fit later.
    #[must_use = "the release must be computed from these records only"]
    pub fn participants(&mut self, charges: impl IntoIterator<Item = (K, Loss)>) -> Vec<K> {
        let mut inside = Vec::new();
        for (record, charge) in charges {
            let mut filter = Filter::new(self.limit.clone());
            if let Some(spent) = self.spent.get(&record) {
                filter.spent = spent.clone();
            }
            if let Ok(next) = filter.admit(&charge) {
                self.spent.insert(record.clone(), next.spent);
                inside.push(record);
            }
        }
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adjacency::Adjacency,
        chance::Odds,
        coins::Coins,
        ratio::Ratio,
        tape::{Tape, enumerate},
        universe::neighbouring_pairs,
    };

    fn pure(eps: &str) -> Loss {
        Loss::pure(&eps.parse().unwrap())
    }

    #[test]
    fn a_record_sits_out_what_does_not_fit() {
        let mut filter = PerRecord::new(pure("1"));
        assert_eq!(filter.participants([("a", pure("0.6")), ("b", pure("0.1"))]), ["a", "b"]);
        assert_eq!(filter.participants([("a", pure("0.6")), ("b", pure("0.6"))]), ["b"]);
        assert_eq!(filter.participants([("a", pure("0.4")), ("b", Loss::nothing())]), ["a", "b"]);
        assert_eq!(filter.participants([("a", pure("1e-9"))]), [""; 0]);
        assert_eq!(filter.spent["a"], pure("1"));
    }

    /// Four noisy answers to "how many?", each question chosen by the last answer, computed from the records that the filter lets
    /// take part, or by the mutant from all. A record to which the answer is yes pays 0.7: one more of those moves either
    /// answer's probability by a factor of at most two, whose logarithm is 0.693.
    fn transcript(rows: &[i64], filter: Option<&PerRecord<usize>>, tape: &mut Tape) -> Vec<bool> {
        let mut filter = filter.cloned();
        let mut seen = Vec::new();
        for _ in 0..4 {
            let asks_for_all = seen.last() == Some(&false);
            let is_yes = |&record: &usize| asks_for_all || rows[record] == 1;
            let charge = |record| (record, if is_yes(&record) { pure("0.7") } else { Loss::nothing() });
            let inside = match &mut filter {
                Some(filter) => filter.participants((0..rows.len()).map(charge)),
                None => (0..rows.len()).collect(),
            };
            let yes = [Ratio::new(1, 3), Ratio::new(2, 3), Ratio::new(5, 6)];
            seen.push(
                tape.bernoulli(&Odds::new(&yes[inside.iter().filter(|record| is_yes(record)).count()])),
            );
        }
        seen
    }

    /// The largest loss over all pairs of up to two records of which one is missing in the other.
    fn largest_loss(filter: Option<&PerRecord<usize>>) -> f64 {
        let law = |rows: &[i64]| enumerate(&"1e-9".parse().unwrap(), |tape| transcript(rows, filter, tape));
        let pairs = neighbouring_pairs(&[0, 1], 2, Adjacency::AddRemove);
        assert_eq!(pairs.len(), 6);
        let losses = pairs.iter().flat_map(|(one, two)| {
            let (one, two) = (law(one), law(two));
            [one.largest_loss(&two), two.largest_loss(&one)]
        });
        losses.fold(0.0, f64::max)
    }

    #[test]
    fn exact_audit_of_what_is_released_from_the_participants_and_mutants() {
        let limited = |eps: &str| largest_loss(Some(&PerRecord::new(pure(eps))));
        for (limit, answers) in [("0.6", 0.0), ("0.7", 1.0), ("1.4", 2.0), ("2.5", 3.0)] {
            let (lost, allowed) = (limited(limit), limit.parse::<f64>().unwrap());
            assert!(lost <= allowed + 1e-9, "{limit}: {lost}");
            // A record takes part in all that fits.
            assert!((lost - answers * 2f64.ln()).abs() < 1e-9, "{limit}: {lost}");
        }
        // Released from all records, which no filter of losses would allow.
        assert!(largest_loss(None) > 4.0 * 2f64.ln() - 1e-9);
    }
}
