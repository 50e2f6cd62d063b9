//! Releases the most frequent vote, exactly, or refuses: whatever the number of options, with no list of them.
//!
//! Source: 000_4d769f04a6a550e8.txt, Algorithm 14 (A_samp), lines 6 to 16, and Lemma 7.4; Smith and Thakurta 2013.
//!
//! # Guarantee
//!
//! (epsilon, delta) under the adjacency of the [`VotesPerUnit`], for any votes of which one person replaces at most
//! [`VotesPerUnit::per_unit`]. Nothing depends on how many options there are: votes may be numbers, names, lists or sets.
//!
//! # Why
//!
//! 1. The mode of the votes has a slack S: the fewest replaced votes that make another one
//!    ([`mode`](crate::stability::mode)). It moves by at most one for each replaced vote.
//! 2. One person replaces at most t votes. So ceil(S/t) moves by at most one between neighbours; and where
//!    neighbours have different modes, S is at most t for both and ceil(S/t) is one.
//! 3. That is what [`stable`] asks of a slack.
//! 4. A vote may be missing, and is then for nobody. A replaced vote that leaves the mode for another still closes the lead by
//!    two, one that comes from nobody by one, so the fewest replaced votes are those of the votes that are there. Where there
//!    is none, one vote makes a mode.
//!
//! # Differs
//!
//! The text divides the gap of the two largest counts by 4mq, subtracts one, adds Laplace noise and compares with a
//! threshold. The slack is the exact distance where t is one; the gate is the best test there is.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, outcome::Outcome, ratio::Ratio};
//! use equipoise_core::subsample::{VotesPerUnit, majority::Majority};
//!
//! let touch = VotesPerUnit::new(110, 1, Adjacency::AddRemove)?;
//! let majority = Majority { eps: "1".parse()?, delta: "1e-6".parse()?, touch }.calibrate()?;
//! // A function that is right on three of four blocks is answered with probability 0.99.
//! assert!(majority.success_lower(&Ratio::new(3, 4)) > "0.99".parse().unwrap());
//! let votes: Vec<&str> = (0..110).map(|block| if block < 90 { "model 3" } else { "model 8" }).collect();
//! # let mut coins = ScriptedWords::new(vec![5]);
//! assert_eq!(majority.run(&votes, &mut coins), Outcome::Value("model 3"));
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{VotesPerUnit, binomial};
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    interval::Interval,
    loss::{Delta, Eps, Loss, ParameterError},
    mechanism::stable::{self, Stable},
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::{
        Answer,
        mode::{Tally, Unseen},
    },
};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Majority {
    /// How much the slack may show.
    pub eps: Eps,
    /// How often a vote that a neighbour would not elect may be released. Above zero.
    pub delta: Delta,
    /// How many votes there are, and how many one person can change.
    pub touch: VotesPerUnit,
}

/// An election ready to be held.
#[derive(Clone, Debug)]
pub struct Calibrated {
    stable: stable::Calibrated,
    touch: VotesPerUnit,
}

impl Majority {
    /// Compute the gate. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let Self { eps, delta, touch } = self.clone();
        let stable = Stable { eps, delta, adjacency: touch.adjacency() }.calibrate()?;
        Ok(Calibrated { stable, touch })
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        self.stable.cost()
    }

    /// How many votes there are, and how many one person can change.
    pub fn touch(&self) -> VotesPerUnit {
        self.touch
    }

    /// The most frequent vote, ties to the smallest, or a refusal. Panics unless there are as many votes as was said.
    pub fn run<T: Ord + Clone>(&self, votes: &[T], coins: &mut impl Coins) -> Outcome<T> {
        let (mode, slack) = self.mode_and_slack(votes);
        self.stable.run(mode, slack, coins)
    }

    /// The same where votes may be missing: the most frequent of those that are there, nothing where none is, or a refusal.
    pub fn run_some<T: Ord + Clone>(
        &self,
        votes: &[Option<T>],
        coins: &mut impl Coins,
    ) -> Outcome<Option<T>> {
        let (mode, slack) = self.mode_and_slack_of_some(votes);
        self.stable.run(mode, slack, coins)
    }

    /// The most frequent vote, and how many people it takes to change it: private, both.
    pub fn mode_and_slack<T: Ord + Clone>(&self, votes: &[T]) -> (T, Slack) {
        let votes: Vec<Option<T>> = votes.iter().cloned().map(Some).collect();
        let (mode, slack) = self.mode_and_slack_of_some(&votes);
        (mode.expect("at least one vote"), slack)
    }

    /// The same where votes may be missing.
    pub fn mode_and_slack_of_some<T: Ord + Clone>(&self, votes: &[Option<T>]) -> (Option<T>, Slack) {
        self.touch.check(votes.len());
        let mut sorted: Vec<T> = votes.iter().flatten().cloned().collect();
        sorted.sort_unstable();
        let people = |votes| Slack::rows_to_change(self.touch.people(votes), self.touch.adjacency());
        let Some(tally) = Tally::from_sorted(&sorted) else { return (None, people(1)) };
        // Any option might exist beyond those seen: safe for every universe.
        let unseen = Unseen { below: true, above: true };
        let found = tally.value_and_slack(unseen, Adjacency::Replace);
        let Answer::Value(mode) = found.value else { unreachable!("there are votes") };
        (Some(mode), people(found.slack.until_change().expect("another option can always win")))
    }

    /// The chance of a refusal where so many people must change to change the mode.
    pub fn accuracy(&self, slack: Slack) -> Ratio {
        self.stable.accuracy(slack)
    }

    /// The chance that the right option is released, rounded down, if each vote is right with this probability
    /// independently of the others, and all the wrong ones agree.
    pub fn success_lower(&self, agreement: &Ratio) -> Ratio {
        let votes = self.touch.votes();
        let masses = binomial::masses(votes, agreement);
        let bits = masses[0].bits();
        let mut sum = Interval::zero(bits);
        for (right, mass) in (0..=votes).zip(masses) {
            // The right one must be ahead, and ties go to the other, which may be the smaller of the two.
            if let Some(lead) = right.checked_sub(votes - right).filter(|&lead| lead > 0) {
                let slack = self.touch.people(lead.div_ceil(2));
                let refusal = self.accuracy(Slack::rows_to_change(slack, self.touch.adjacency()));
                sum = sum.add(&mass.mul_ratio(&(Ratio::one() - refusal)));
            }
        }
        sum.lower().max(Ratio::zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::AUDIT_BITS,
        tape::{delta_between, enumerate},
        universe::{multisets, votes_within},
    };
    use std::collections::{BTreeMap, BTreeSet};

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn calibrated(eps: &str, delta: &str, votes: u64, per_unit: u64) -> Calibrated {
        let touch = VotesPerUnit::new(votes, per_unit, Adjacency::Replace).unwrap();
        Majority { eps: eps.parse().unwrap(), delta: delta.parse().unwrap(), touch }.calibrate().unwrap()
    }

    #[test]
    fn hand_computed_slacks() {
        for (votes, per_unit, mode, people) in [
            // Nine against four: three changed votes make it seven against six.
            ([vec![1; 4], vec![2; 9]].concat(), 1, 2, 3),
            ([vec![1; 4], vec![2; 9]].concat(), 2, 2, 2),
            ([vec![1; 4], vec![2; 9]].concat(), 3, 2, 1),
            // Ties go to the smaller one, and one vote is enough to change that.
            ([vec![1; 4], vec![2; 4]].concat(), 1, 1, 1),
            // All agree on seven: four changed votes can elect a smaller option, unseen so far.
            (vec![5; 7], 1, 5, 4),
            (vec![5; 7], 4, 5, 1),
            (vec![5], 1, 5, 1),
        ] {
            let (found, slack) = calibrated("1", "1e-6", votes.len() as u64, per_unit).mode_and_slack(&votes);
            assert_eq!((found, slack.until_change()), (mode, Some(people)), "{votes:?} {per_unit}");
        }
    }

    /// The figures of the theory page: blocks that a three-quarters stable function needs.
    #[test]
    fn a_hundred_blocks_are_enough() {
        let success = |votes, per_unit| {
            calibrated("1", "1e-6", votes, per_unit).success_lower(&Ratio::new(3, 4)).to_f64()
        };
        let (one, two) = (success(110, 1), success(150, 2));
        assert!(one > 0.99 && two > 0.955, "{one} {two}");
        assert!(success(53, 1) < 0.6);
        let unanimous = calibrated("1", "1e-6", 57, 1).success_lower(&Ratio::one());
        assert_eq!(unanimous, Ratio::one());
    }

    fn worst(election: &Calibrated, votes: usize, replaced: usize) -> Interval {
        let mut seen = BTreeMap::new();
        let mut worst = Interval::zero(AUDIT_BITS);
        for (a, b) in votes_within(&[0, 1, 2], votes, replaced) {
            for votes in [&a, &b] {
                seen.entry(votes.clone())
                    .or_insert_with(|| enumerate(&ratio("1e-30"), |tape| election.run(votes, tape)));
            }
            worst = worst.max(&delta_between(&Ratio::one(), &seen[&a], &seen[&b]));
        }
        worst
    }

    #[test]
    fn exact_audit_over_all_votes_that_one_person_can_change() {
        for per_unit in [1, 2, 3] {
            let delta = worst(&calibrated("1", "0.001", 7, per_unit), 7, usize::try_from(per_unit).unwrap());
            assert!(delta.certainly_at_most(&ratio("0.001000000001")), "{per_unit}: {}", delta.to_f64());
            assert!(delta.lower() > ratio("0.000999"), "{per_unit}: {}", delta.to_f64());
        }
    }

    /// The slack is the fewest replaced votes that change the mode, votes of nobody included: every list within that many is
    /// looked at. The release is audited over the same lists.
    #[test]
    fn exact_audit_with_votes_for_nobody() {
        let some = |votes: &[i64]| -> Vec<Option<i64>> {
            votes.iter().map(|&vote| (vote >= 0).then_some(vote)).collect()
        };
        let election = calibrated("1", "0.001", 5, 1);
        let mode = |votes: &[i64]| election.mode_and_slack_of_some(&some(votes));
        // Options 0 and 9 are the unseen ones below and above.
        let lists = multisets(&[-1, 0, 1, 2, 9], 5);
        for votes in lists.iter().filter(|votes| !votes.contains(&0) && !votes.contains(&9)) {
            let (found, slack) = mode(votes);
            let replaced = |other: &Vec<i64>| 5 - shared(votes, other);
            let fewest = lists.iter().filter(|other| mode(other).0 != found).map(replaced).min();
            assert_eq!(slack.until_change(), fewest.map(|votes| votes as u64), "{votes:?}");
        }
        for per_unit in [1, 2] {
            let election = calibrated("1", "0.001", 5, per_unit);
            let mut worst = Interval::zero(AUDIT_BITS);
            for (a, b) in votes_within(&[-1, 0, 1, 2], 5, usize::try_from(per_unit).unwrap()) {
                let [a, b] = [a, b]
                    .map(|votes| enumerate(&ratio("1e-30"), |tape| election.run_some(&some(&votes), tape)));
                worst = worst.max(&delta_between(&Ratio::one(), &a, &b));
            }
            assert!(worst.certainly_at_most(&ratio("0.001000000001")), "{per_unit}: {}", worst.to_f64());
        }
    }

    /// How many entries two lists share.
    fn shared(a: &[i64], b: &[i64]) -> usize {
        let count = |list: &[i64], value: i64| list.iter().filter(|&&one| one == value).count();
        [-1, 0, 1, 2, 9].iter().map(|&value| count(a, value).min(count(b, value))).sum()
    }

    #[test]
    fn a_mutant_that_counts_one_vote_for_a_person_in_two_blocks_is_caught() {
        let delta = worst(&calibrated("1", "0.001", 7, 1), 7, 2);
        assert!(delta.certainly_above(&ratio("0.003")), "{}", delta.to_f64());
    }

    #[test]
    fn sets_are_votes_as_well() {
        let election = calibrated("1", "0.5", 3, 1);
        let votes: Vec<BTreeSet<u32>> = [[1, 4], [1, 4], [2, 3]].map(BTreeSet::from).to_vec();
        let mut coins = ScriptedWords::new(vec![0]);
        assert_eq!(election.run(&votes, &mut coins), Outcome::Value(BTreeSet::from([1, 4])));
    }

    #[test]
    fn a_scripted_run() {
        let election = calibrated("1", "0.5", 2, 1);
        let half = 1 << 63;
        for (word, outcome) in [(half - 1, Outcome::Value(1)), (half + 1, Outcome::Refused)] {
            assert_eq!(election.run(&[1, 2], &mut ScriptedWords::new(vec![word, 0])), outcome);
        }
        let error = Majority {
            delta: Delta::zero(),
            ..Majority {
                eps: "1".parse().unwrap(),
                delta: "0.1".parse().unwrap(),
                touch: VotesPerUnit::new(3, 1, Adjacency::Replace).unwrap(),
            }
        };
        assert!(error.calibrate().unwrap_err().to_string().starts_with("delta 0 is not accepted"));
    }
}
