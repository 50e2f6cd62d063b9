//! The worst neighbouring pair of a small universe.

use crate::{Measured, resolution};
use equipoise_core::{
    adjacency::Adjacency,
    interval::{AUDIT_BITS, Interval},
    ratio::Ratio,
    tape::{Pmf, delta_between},
    universe::neighbouring_pairs,
};
use std::collections::BTreeMap;

/// A claim to be measured: (epsilon, delta) under an adjacency.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Epsilon.
    pub eps: Ratio,
    /// Delta.
    pub delta: Ratio,
    /// Adjacency.
    pub adjacency: Adjacency,
}

/// A claim from decimals. Panics on anything else: audits are written by us.
pub fn claim(eps: &str, delta: &str, adjacency: Adjacency) -> Claim {
    Claim { eps: eps.parse().expect("a decimal"), delta: delta.parse().expect("a decimal"), adjacency }
}

/// The probability below which the tape cuts a path.
pub fn floor() -> Ratio {
    &resolution() / &Ratio::from(100_000u64)
}

/// The same for audits of two or more variables with long tails, whose paths multiply.
pub fn coarse_floor() -> Ratio {
    &resolution() / &Ratio::from(10_000u64)
}

impl Claim {
    /// The measurement over given pairs of distributions.
    pub fn over<T: Ord>(&self, pairs: impl IntoIterator<Item = (Pmf<T>, Pmf<T>)>) -> Measured {
        let mut worst = Interval::zero(AUDIT_BITS);
        let mut count = 0;
        for (a, b) in pairs {
            worst = worst.max(&delta_between(&self.eps, &a, &b));
            count += 1;
        }
        self.measured(worst, count)
    }

    /// The measurement over all neighbouring pairs of data sets over these values, of at most `size` rows.
    pub fn over_universe<T: Ord>(
        &self,
        values: &[i64],
        size: usize,
        mut distribution: impl FnMut(&[i64]) -> Pmf<T>,
    ) -> Measured {
        let mut seen: BTreeMap<Vec<i64>, Pmf<T>> = BTreeMap::new();
        let pairs = neighbouring_pairs(values, size, self.adjacency);
        let mut worst = Interval::zero(AUDIT_BITS);
        for (a, b) in &pairs {
            for data in [a, b] {
                if !seen.contains_key(data) {
                    seen.insert(data.clone(), distribution(data));
                }
            }
            worst = worst.max(&delta_between(&self.eps, &seen[a], &seen[b]));
        }
        self.measured(worst, pairs.len())
    }

    /// A measurement made some other exact way.
    pub fn measured(&self, worst: Interval, pairs: usize) -> Measured {
        Measured { eps: self.eps.clone(), delta: self.delta.clone(), adjacency: self.adjacency, worst, pairs }
    }
}
