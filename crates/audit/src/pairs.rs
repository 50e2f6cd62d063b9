//! The worst neighbouring pair of a small universe.

use crate::{Measured, resolution};
use equipoise_core::{
    adjacency::Adjacency,
    interval::{AUDIT_BITS, Interval},
    loss::{Approx, Loss},
    ratio::Ratio,
    stop,
    tape::{Pmf, delta_between},
    universe::{neighbouring_pairs, votes_within},
};
use std::collections::{BTreeMap, BTreeSet};

/// A claim to be measured: (epsilon, delta) under an adjacency.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Epsilon.
    pub eps: Ratio,
    /// Delta.
    pub delta: Ratio,
    /// Adjacency.
    pub adjacency: Adjacency,
    /// What is not told apart; see [`Measured::resolution`].
    pub resolution: Ratio,
}

/// A claim from decimals. Panics on anything else: audits are written by us.
pub fn claim(eps: &str, delta: &str, adjacency: Adjacency) -> Claim {
    Claim::new(eps.parse().expect("a decimal"), delta.parse().expect("a decimal"), adjacency)
}

/// The probability below which the tape cuts a path.
pub fn floor() -> Ratio {
    &resolution() / &Ratio::from(100_000u64)
}

/// The same for audits of two or more variables with long tails, whose paths multiply.
pub fn coarse_floor() -> Ratio {
    &resolution() / &Ratio::from(10_000u64)
}

/// The worst of several pairs: the delta at the claimed epsilon, and the largest epsilon that the claimed delta refutes.
struct Worst {
    delta: Interval,
    refuted_eps: Ratio,
    pairs: usize,
}

/// A refuted epsilon is looked for among so many parts of the claimed one.
const PARTS: u64 = 64;

impl Worst {
    fn new() -> Self {
        Self { delta: Interval::zero(AUDIT_BITS), refuted_eps: Ratio::zero(), pairs: 0 }
    }

    fn see<T: Ord>(&mut self, claim: &Claim, a: &Pmf<T>, b: &Pmf<T>) {
        stop::look();
        self.delta = self.delta.max(&delta_between(&claim.eps, a, b));
        let allowed = &claim.delta + &claim.resolution;
        let part = |count: u64| &claim.eps * &(Ratio::from(count) / Ratio::from(PARTS));
        let refutes = |count: u64| delta_between(&part(count), a, b).lower() > allowed;
        // Few pairs raise what is refuted; those are searched by halves, up to the claim itself.
        let mut low = (1..=PARTS).take_while(|&count| part(count) <= self.refuted_eps).count() as u64;
        let mut high = PARTS + 1;
        if low == PARTS || !refutes(low + 1) {
            return;
        }
        low += 1;
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if refutes(middle) { low = middle } else { high = middle }
        }
        self.refuted_eps = part(low);
    }
}

impl Claim {
    /// A claim, measured as finely as those of mechanisms.
    pub fn new(eps: Ratio, delta: Ratio, adjacency: Adjacency) -> Self {
        Self { eps, delta, adjacency, resolution: resolution() }
    }

    /// What a loss promises in (epsilon, delta); other losses are converted at this delta.
    pub fn of(loss: &Loss, delta: &str, adjacency: Adjacency) -> Self {
        let delta = delta.parse().expect("a decimal");
        let approx = loss.to_approx(&delta).expect("every loss has an epsilon at a delta above zero");
        Self::promised(&approx, adjacency)
    }

    /// The claim of (epsilon, delta).
    pub fn promised(approx: &Approx, adjacency: Adjacency) -> Self {
        Self::new(approx.eps.ratio().clone(), approx.delta.ratio().clone(), adjacency)
    }

    /// The same, measured less finely.
    #[must_use]
    pub fn at_resolution(self, resolution: &str) -> Self {
        Self { resolution: resolution.parse().expect("a decimal"), ..self }
    }

    /// The measurement over given pairs of distributions, which `over` describes.
    pub fn over<T: Ord>(
        &self,
        over: impl Into<String>,
        pairs: impl IntoIterator<Item = (Pmf<T>, Pmf<T>)>,
    ) -> Measured {
        let mut worst = Worst::new();
        for (a, b) in pairs {
            worst.pairs += 1;
            worst.see(self, &a, &b);
        }
        self.found(worst, over.into())
    }

    /// The measurement over pairs of inputs, each of whose distributions is computed once.
    pub fn over_inputs<I: Ord + Clone, T: Ord>(
        &self,
        over: impl Into<String>,
        pairs: impl IntoIterator<Item = (I, I)>,
        mut distribution: impl FnMut(&I) -> Pmf<T>,
    ) -> Measured {
        // Inputs of one law, files whose drawn rows are the same for one, are compared with others once.
        let mut laws: Vec<Pmf<T>> = Vec::new();
        let mut law_of: BTreeMap<I, usize> = BTreeMap::new();
        let mut compared = BTreeSet::new();
        let mut worst = Worst::new();
        for (a, b) in pairs {
            let [one, other] = [a, b].map(|input| {
                *law_of.entry(input).or_insert_with_key(|input| {
                    let law = distribution(input);
                    laws.iter().position(|known| *known == law).unwrap_or_else(|| {
                        laws.push(law);
                        laws.len() - 1
                    })
                })
            });
            worst.pairs += 1;
            if compared.insert((one, other)) {
                worst.see(self, &laws[one], &laws[other]);
            }
        }
        self.found(worst, over.into())
    }

    /// The measurement over all neighbouring pairs of data sets over these values, of at most `size` rows.
    pub fn over_universe<T: Ord>(
        &self,
        values: &[i64],
        size: usize,
        mut distribution: impl FnMut(&[i64]) -> Pmf<T>,
    ) -> Measured {
        let of = if self.adjacency == Adjacency::AddRemove { "up to " } else { "" };
        let over = format!("all data sets of {of}{size} rows, {} values", values.len());
        let pairs = neighbouring_pairs(values, size, self.adjacency);
        self.over_inputs(over, pairs, |data: &Vec<i64>| distribution(data))
    }

    /// The measurement over all lists of `size` votes of which one person replaces at most `replaced`.
    pub fn over_votes<T: Ord>(
        &self,
        values: &[i64],
        size: usize,
        replaced: u64,
        mut law: impl FnMut(&[i64]) -> Pmf<T>,
    ) -> Measured {
        let over = format!("all lists of {size} votes, {} values, {replaced} replaced", values.len());
        let pairs = votes_within(values, size, usize::try_from(replaced).expect("a few"));
        self.over_inputs(over, pairs, |votes: &Vec<i64>| law(votes))
    }

    /// A measurement made some other exact way.
    pub fn measured(&self, worst: Interval, over: impl Into<String>) -> Measured {
        self.found(Worst { delta: worst, pairs: 1, ..Worst::new() }, over.into())
    }

    fn found(&self, worst: Worst, over: String) -> Measured {
        Measured {
            eps: self.eps.clone(),
            delta: self.delta.clone(),
            adjacency: self.adjacency,
            worst: worst.delta,
            refuted_eps: worst.refuted_eps,
            pairs: worst.pairs,
            over,
            case: String::new(),
            resolution: self.resolution.clone(),
        }
    }
}
