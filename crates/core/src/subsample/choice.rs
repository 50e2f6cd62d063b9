//! Chooses among a few aggregators or numbers of blocks by how much their votes agree, and pays for the choice.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.1, footnote 3 (the aggregator may depend on the data if it is chosen
//! privately, and the cost is composed).
//!
//! # Guarantee
//!
//! epsilon for the choice, under the adjacency in which slacks are counted; together with what is run after it, the sum
//! of both costs.
//!
//! # Why
//!
//! 1. A slack counts the people who must change before an answer does, and moves by at most one between neighbours;
//!    slacks beyond a public cap count as the cap, which keeps that.
//! 2. Permute-and-flip names the largest with sensitivity one. Nothing says that slacks move together.
//! 3. The chosen aggregator runs with coins of its own: adaptive composition.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, outcome::Slack, subsample::choice::Choice};
//!
//! let choice = Choice { eps: "1".parse()?, options: 2, cap: 40, adjacency: Adjacency::AddRemove }.calibrate()?;
//! let slack = |people| Slack::rows_to_change(people, Adjacency::AddRemove);
//! # let mut coins = ScriptedWords::new(vec![u64::MAX; 20]);
//! // 200 small blocks hardly agree, 100 larger ones do.
//! assert_eq!(choice.run(&[slack(3), slack(31)], &mut coins), 1);
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use crate::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss, ParameterError},
    mechanism::{
        permute_and_flip::{self, PermuteAndFlip},
        selection::Candidates,
    },
    outcome::Slack,
    ratio::Ratio,
};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Privacy of the choice.
    pub eps: Eps,
    /// How many there are to choose from.
    pub options: usize,
    /// Slacks beyond this count as this: enough for an answer to be certain.
    pub cap: u64,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A choice ready to be made.
#[derive(Clone, Debug)]
pub struct Calibrated {
    params: Choice,
    inner: permute_and_flip::Calibrated,
}

impl Choice {
    /// Compute the odds. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let candidates = Candidates { count: self.options, sensitivity: Ratio::one(), monotone: false };
        let inner = PermuteAndFlip { eps: self.eps.clone(), candidates }.calibrate()?;
        Ok(Calibrated { params: self.clone(), inner })
    }
}

impl Calibrated {
    /// What a choice costs; add the cost of what is run after it.
    pub fn cost(&self) -> Loss {
        self.inner.cost()
    }

    /// The index of an option with nearly the largest slack. A slack of another adjacency counts as none. Panics unless
    /// there is one for each option.
    pub fn run<C: Coins>(&self, slacks: &[Slack], coins: &mut C) -> usize {
        let people = |slack: &Slack| match slack.counted_in(self.params.adjacency) {
            Some(slack) => slack.until_change().unwrap_or(self.params.cap).min(self.params.cap),
            None => 0,
        };
        let scores: Vec<Ratio> = slacks.iter().map(|slack| Ratio::from(people(slack))).collect();
        self.inner.run(&scores, coins)
    }

    /// With probability 1 - beta the chosen slack is within this of the largest.
    pub fn accuracy(&self, beta: &Ratio) -> Result<Ratio, ParameterError> {
        self.inner.accuracy(beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adjacency::Adjacency::{AddRemove, Replace},
        coins::ScriptedWords,
        interval::{AUDIT_BITS, Interval},
        tape::{delta_between, enumerate},
    };

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn choice(eps: &str) -> Calibrated {
        Choice { eps: eps.parse().unwrap(), options: 3, cap: 5, adjacency: AddRemove }.calibrate().unwrap()
    }

    /// Every three slacks up to the cap, and each moved by at most one.
    fn worst(choice: &Calibrated) -> Interval {
        let law = |slacks: [u64; 3]| {
            let slacks = slacks.map(|people| Slack::rows_to_change(people, AddRemove));
            enumerate(&ratio("1e-20"), |tape| choice.run(&slacks, tape))
        };
        let mut worst = Interval::zero(AUDIT_BITS);
        for here in [[1, 1, 1], [1, 3, 2], [4, 4, 1], [5, 9, 2], [3, 3, 3]] {
            for moves in 0..27u64 {
                let there =
                    [0, 1, 2].map(|i| (here[i] + moves / 3u64.pow(u32::try_from(i).unwrap()) % 3).max(2) - 1);
                worst = worst.max(&delta_between(&Ratio::one(), &law(here), &law(there)));
            }
        }
        worst
    }

    #[test]
    fn exact_audit_over_slacks_that_move_by_one() {
        assert!(worst(&choice("1")).certainly_at_most(&ratio("1e-12")));
    }

    #[test]
    fn a_mutant_with_twice_the_epsilon_is_caught() {
        assert!(worst(&choice("2")).certainly_above(&ratio("0.01")));
    }

    #[test]
    fn odd_slacks() {
        let mut coins = ScriptedWords::new(vec![0x5555_5555_5555_5555; 30]);
        let constant = Slack::constant(AddRemove);
        let slacks = [Slack::rows_to_change(2, AddRemove), constant, Slack::rows_to_change(9, Replace)];
        assert_eq!(choice("9").run(&slacks, &mut coins), 1);
        assert!(choice("1").accuracy(&ratio("0.05")).unwrap() < Ratio::from(9u64));
    }
}
