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
    use crate::{interval::Interval, ratio::Ratio, tape::Pmf};

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

    /// Three answers about a record, each with odds 2:1 for the truth. A record that may lose `limit` times ln 2 sits
    /// out after that many, and is then answered for as if it were absent.
    fn transcript(present: bool, limit: usize) -> Pmf<Vec<bool>> {
        let mut laws = BTreeMap::from([(Vec::new(), Ratio::one())]);
        for round in 0..3 {
            let yes = if present && round < limit { Ratio::new(2, 3) } else { Ratio::new(1, 3) };
            let chances = [(true, yes.clone()), (false, Ratio::one() - yes)];
            let longer = |(seen, mass): (Vec<bool>, Ratio)| {
                chances.clone().map(|(answer, chance)| ([&seen[..], &[answer]].concat(), &mass * &chance))
            };
            laws = laws.into_iter().flat_map(longer).collect();
        }
        let enclosed = laws.into_iter().map(|(seen, mass)| (seen, Interval::exact(&mass, 192)));
        Pmf::from_masses(enclosed)
    }

    #[test]
    fn an_exact_audit_finds_the_limit_and_the_mutant_without_it() {
        let loss = |limit: usize| transcript(true, limit).largest_loss(&transcript(false, limit));
        assert!(loss(2) <= 4f64.ln() + 1e-9, "{}", loss(2));
        assert!(loss(usize::MAX) > 4f64.ln() + 0.1, "three answers lose ln 8: {}", loss(usize::MAX));
    }
}
