//! Names a popular vote among publicly many options, and says how popular it is; it never refuses.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.1 and Example 7.1 (report noisy arg-max over block outputs).
//!
//! # Guarantee
//!
//! The option alone: epsilon, and epsilon²/8 in rho. With its popularity: the sum of both epsilons. Under the
//! adjacency of the [`VotesPerUnit`], for any votes of which one person replaces at most [`VotesPerUnit::per_unit`]. A voter may
//! abstain: then the vote counts for no option.
//!
//! # Why
//!
//! 1. One person replaces t votes, each for an option or for none by one for another or for none, so each count moves by at
//!    most t; some may rise while others fall. The exponential mechanism with sensitivity t draws an option with weight
//!    `e^(epsilon·count/(2t))`. That nobody voted is no option, so it is never drawn.
//! 2. Options without a vote all weigh the same, so they are drawn as one group and then one of them, all equally
//!    likely: the same law, without a list of the options.
//! 3. The count of the option that was named moves by at most t as well: Laplace noise, and composition.
//!
//! # Error
//!
//! The answer is random. Options that have more than g votes fewer than the most named one weigh at most
//! `B = (m - 1)·e^(-epsilon·(g + 1)/(2t))` of its weight together, so one of them is drawn with probability at most
//! `B/(1 + B)`; as often where g + 1 vote for one option and all others abstain ([`Calibrated::gap`]).
//!
//! # Differs
//!
//! "b >= log m" blocks are not enough to choose among m options: unanimous votes need
//! `(2t/epsilon)·ln((m - 1)(1 - beta)/beta)` of them. The [`majority`](super::majority) needs no m at all.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, subsample::{VotesPerUnit, arg_max::ArgMax}};
//!
//! let touch = VotesPerUnit::new(100, 1, Adjacency::AddRemove)?;
//! let election = ArgMax { eps: "1".parse()?, popularity_eps: Some("0.5".parse()?), options: 1_000_000, touch };
//! let election = election.calibrate()?;
//! assert_eq!(election.cost().to_string(), "1.5-differential privacy");
//! let votes: Vec<Option<u64>> = (0..100).map(|block| if block < 90 { Some(17) } else { None }).collect();
//! # let mut coins = ScriptedWords::new(vec![1 << 40; 20]);
//! assert_eq!(election.run(&votes, &mut coins).option, 17);
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{VotesPerUnit, binomial};
use crate::{
    coins::Coins,
    interval::Interval,
    loss::{Eps, Loss, ParameterError, Rho},
    mechanism::{
        Noise, Values, exponential,
        laplace::{self, Laplace},
    },
    ratio::Ratio,
    sampler::{
        uniform::UpTo,
        weighted::{Power, Weighted},
    },
};
use std::collections::BTreeMap;

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgMax {
    /// Privacy of the option.
    pub eps: Eps,
    /// Privacy of its popularity, if that is wanted.
    pub popularity_eps: Option<Eps>,
    /// How many options there are: votes are whole numbers below this, or missing.
    pub options: u64,
    /// How many votes there are, and how many one person can change.
    pub touch: VotesPerUnit,
}

/// An election ready to be held.
#[derive(Clone, Debug)]
pub struct Calibrated {
    params: ArgMax,
    rate: Ratio,
    popularity: Option<laplace::Calibrated>,
}

/// What is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Elected {
    /// The option.
    pub option: u64,
    /// About how many votes it got, if that was asked for; noise may take it below zero.
    pub popularity: Option<i64>,
}

impl ArgMax {
    /// Compute the weights and the noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        if self.options == 0 {
            return Err(ParameterError::out_of_range("options", 0, "give at least 1"));
        }
        let touched = Ratio::from(self.touch.per_unit());
        let noise = |eps: &Eps| {
            let (sensitivity, grid) = (touched.clone(), Ratio::one());
            let (values, noise) = (Values::OnGrid, Noise::Discrete);
            Laplace { eps: eps.clone(), sensitivity, grid, dimensions: 1, values, noise }.calibrate()
        };
        let popularity = self.popularity_eps.as_ref().map(noise).transpose()?;
        let rate = self.eps.ratio() / &(Ratio::from(2u64) * &touched);
        Ok(Calibrated { params: self.clone(), rate, popularity })
    }
}

/// e to this is more than any chance of being named is worth.
const FAR_BEHIND: u64 = 100;

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        let named = Loss::pure(&self.params.eps);
        self.popularity.iter().fold(named, |sum, noise| sum.compose(&noise.cost()))
    }

    /// What the option alone costs in zero-concentrated accounting.
    pub fn bounded_range_rho(&self) -> Rho {
        Rho::new(self.params.eps.ratio().squared() / Ratio::from(8u64)).expect("epsilon is at most 1000")
    }

    /// An option, and how popular it is. A vote that is missing, or is no option, counts for none. Panics unless there are
    /// as many votes as was said.
    pub fn run<C: Coins>(&self, votes: &[Option<u64>], coins: &mut C) -> Elected {
        self.params.touch.check(votes.len());
        let mut counts = BTreeMap::new();
        for vote in votes.iter().flatten().copied().filter(|&vote| vote < self.params.options) {
            *counts.entry(vote).or_insert(0u64) += 1;
        }
        let best = counts.values().max().copied().unwrap_or(0);
        let unseen = self.params.options - counts.len() as u64;
        // As many weights as votes and one more, whatever the votes are: those left over weigh nothing.
        let mut powers: Vec<Power> =
            counts.values().map(|&count| Power { multiplier: 1, steps: best - count }).collect();
        powers.resize(votes.len(), Power { multiplier: 0, steps: 0 });
        powers.push(Power { multiplier: unseen.into(), steps: best });
        let drawn = coins.sample(&Weighted::powers(&self.rate, powers));
        let place = coins.sample(&UpTo(u128::from(unseen.saturating_sub(1))));
        let option = match counts.keys().nth(drawn) {
            Some(&option) => option,
            None => unseen_option(&counts, u64::try_from(place).expect("below the number of options")),
        };
        let count = i64::try_from(counts.get(&option).copied().unwrap_or(0)).expect("a number of votes");
        let popularity = self.popularity.as_ref().map(|noise| noise.run_whole(count, coins));
        Elected { option, popularity }
    }

    /// The chance that the right option is named, rounded down, if each vote is right with this probability
    /// independently of the others; least where all the wrong ones agree, since e^x is convex.
    pub fn success_lower(&self, agreement: &Ratio) -> Ratio {
        // The only option is named whatever the votes are.
        if self.params.options == 1 {
            return Ratio::one();
        }
        let votes = self.params.touch.votes();
        let others = Ratio::from(self.params.options - 2);
        let masses = binomial::masses(votes, agreement);
        let bits = masses[0].bits();
        // Beside the right option's weight, which may be too small to be written with so many bits: what others weigh for each of its.
        let power = |votes: &Ratio| Interval::exact(&(&self.rate * votes), bits).exp();
        let one = Interval::one(bits);
        let mut sum = Interval::zero(bits);
        for (right, mass) in (0..=votes).zip(masses) {
            let behind = Ratio::from(votes) - Ratio::from(2 * right);
            // Where the right option is this far behind it is hardly ever named; nothing is counted.
            if &self.rate * &behind > Ratio::from(FAR_BEHIND) {
                continue;
            }
            let unnamed = power(&-Ratio::from(right)).mul_ratio(&others);
            let all = one.add(&power(&behind)).add(&unnamed);
            sum = sum.add(&mass.div(&all));
        }
        sum.lower().max(Ratio::zero())
    }

    /// With probability 1 - beta no option has more than this many votes more than the one that is named: the fewest for
    /// which that can be promised, whatever the votes are.
    pub fn gap(&self, beta: &Ratio) -> Result<u64, ParameterError> {
        let others = Ratio::from(self.params.options - 1);
        let beyond = exponential::units_up(&others, beta)? / &self.rate;
        let gap = beyond.ceil_i64().map_or(u64::MAX, |beyond| u64::try_from(beyond - 1).unwrap_or(0));
        // Nobody has more votes than there are.
        Ok(gap.min(self.params.touch.votes()))
    }

    /// With probability 1 - beta the popularity is off by at most this.
    pub fn accuracy(&self, beta: &Ratio) -> Option<Ratio> {
        self.popularity.as_ref().map(|noise| noise.accuracy(beta))
    }
}

/// The option at this place among those that nobody voted for.
fn unseen_option(counts: &BTreeMap<u64, u64>, place: u64) -> u64 {
    counts.keys().fold(place, |option, &seen| if seen <= option { option + 1 } else { option })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adjacency::Adjacency,
        coins::ScriptedWords,
        interval::AUDIT_BITS,
        tape::{delta_between, enumerate},
        universe::{multisets, votes_within},
    };
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn election(eps: &str, popularity: Option<&str>, options: u64, votes: u64, per_unit: u64) -> Calibrated {
        let touch = VotesPerUnit::new(votes, per_unit, Adjacency::Replace).unwrap();
        let popularity_eps = popularity.map(|eps| eps.parse().unwrap());
        ArgMax { eps: eps.parse().unwrap(), popularity_eps, options, touch }.calibrate().unwrap()
    }

    #[test]
    fn the_option_alone_costs_an_eighth_of_epsilon_squared() {
        let loud = election("2", Some("1"), 4, 4, 1);
        assert_eq!(*loud.bounded_range_rho().ratio(), ratio("1/2"));
        assert_eq!(loud.cost(), Loss::pure(&"3".parse().unwrap()));
    }

    #[test]
    fn hand_computed_chances() {
        // Weights e^(3/2), e^(1/2) and 1 for two unseen options.
        let votes = [2, 2, 2, 0].map(Some);
        let pmf = enumerate(&ratio("1e-20"), |tape| election("1", None, 4, 4, 1).run(&votes, tape));
        let total = 1.5f64.exp() + 0.5f64.exp() + 2.0;
        for (option, weight) in [(0, 0.5f64.exp()), (1, 1.0), (2, 1.5f64.exp()), (3, 1.0)] {
            let mass = pmf.mass(&Elected { option, popularity: None }).to_f64();
            assert!((mass - weight / total).abs() < 1e-12, "{option} {mass}");
        }
        // Unanimous votes among a thousand options: 19.7 blocks for 0.95, not log2 of a thousand.
        let unanimous = |votes| election("1", None, 1000, votes, 1).success_lower(&Ratio::one());
        assert!(unanimous(20) > ratio("0.95") && unanimous(19) < ratio("0.95"));
        assert!(unanimous(10) < ratio("0.14"));
    }

    /// The weight of an option that many votes are against is too small to be written with the bits of the sum: it once was divided by.
    #[test]
    fn chances_at_a_large_epsilon_with_many_votes_do_not_divide_by_weights_that_vanish() {
        for (eps, votes, options) in
            [("100", 500, 3), ("1000", 300, 2), ("40", 1000, 1_000_000), ("1000", 300, 1)]
        {
            let election = election(eps, None, options, votes, 1);
            assert!(election.success_lower(&ratio("0.8")) > ratio("0.999999"), "{eps} {votes}");
            let hardly = election.success_lower(&ratio("0.2"));
            assert_eq!(hardly > ratio("0.999999"), options == 1, "{eps} {votes}");
            assert!(hardly >= Ratio::zero() && hardly <= Ratio::one());
        }
    }

    #[test]
    fn more_options_are_harder_here_and_not_for_the_majority() {
        let success = |options| election("1", None, options, 40, 1).success_lower(&ratio("0.8")).to_f64();
        let (few, many) = (success(10), success(1_000_000));
        assert!(few > 0.95 && many < few - 0.1, "{few} {many}");
    }

    /// A negative number stands for a vote that is missing.
    /// An option that nobody named is named by none, and noise goes both ways from there.
    #[test]
    fn the_popularity_of_an_option_without_votes_is_noise_around_zero() {
        let election = election("1", Some("1"), 2, 3, 1);
        let pmf = enumerate(&ratio("1e-9"), |tape| election.run(&[None; 3], tape).popularity);
        for size in 1..4 {
            let [less, more] = [-size, size].map(|size| pmf.mass(&Some(size)).to_f64());
            assert!(less > 1e-3 && (less - more).abs() < 1e-6, "{size}: {less} {more}");
        }
    }

    fn some_votes(votes: &[i64]) -> Vec<Option<u64>> {
        votes.iter().map(|&vote| u64::try_from(vote).ok()).collect()
    }

    fn worst(election: &Calibrated, claim: &str, replaced: usize) -> Interval {
        let mut seen = BTreeMap::new();
        let mut worst = Interval::zero(AUDIT_BITS);
        let run = |votes: &[i64]| enumerate(&ratio("1e-9"), |tape| election.run(&some_votes(votes), tape));
        for (a, b) in votes_within(&[-1, 0, 1], 4, replaced) {
            for votes in [&a, &b] {
                seen.entry(votes.clone()).or_insert_with(|| run(votes));
            }
            worst = worst.max(&delta_between(&ratio(claim), &seen[&a], &seen[&b]));
        }
        worst
    }

    #[test]
    fn exact_audit_over_all_votes_that_one_person_can_change() {
        for per_unit in [1, 2] {
            let replaced = usize::try_from(per_unit).unwrap();
            let alone = worst(&election("1", None, 5, 4, per_unit), "1", replaced);
            let both = worst(&election("1", Some("1"), 5, 4, per_unit), "2", replaced);
            assert!(alone.certainly_at_most(&ratio("1e-6")) && both.certainly_at_most(&ratio("1e-6")));
        }
    }

    #[test]
    fn a_mutant_whose_popularity_is_free_is_caught() {
        let delta = worst(&election("1", Some("1"), 5, 4, 1), "1", 1);
        assert!(delta.certainly_above(&ratio("0.01")), "{}", delta.to_f64());
    }

    /// One who abstains is calibrated for as one who votes: with twice the rate, as if a vote that comes moved no count,
    /// the audit fails.
    #[test]
    fn a_mutant_that_takes_abstentions_for_free_is_caught() {
        let delta = worst(&election("2", None, 5, 4, 1), "1", 1);
        assert!(delta.certainly_above(&ratio("0.01")), "{}", delta.to_f64());
    }

    /// The chance that some option has more than `gap` votes more than the one that is named, enclosed.
    fn chance_beyond(election: &Calibrated, votes: &[i64], gap: u64) -> Interval {
        let votes = some_votes(votes);
        let count = |option: u64| votes.iter().filter(|&&vote| vote == Some(option)).count() as u64;
        let most = (0..election.params.options).map(count).max().unwrap();
        let pmf = enumerate(&ratio("1e-20"), |tape| election.run(&votes, tape));
        let beyond = pmf.iter().filter(|(elected, _)| most - count(elected.option) > gap);
        beyond.fold(Interval::zero(AUDIT_BITS), |sum, (_, mass)| sum.add(mass)).add(pmf.lost())
    }

    /// Over every list of five votes, with and without abstentions. The bound is attained, so one vote less is a lie.
    #[test]
    fn exact_audit_of_the_gap() {
        for (eps, options, per_unit, beta) in
            [("2", 3, 1, "0.05"), ("2", 2, 1, "0.2"), ("3", 4, 2, "0.3"), ("4", 4, 1, "0.01")]
        {
            let (election, beta) = (election(eps, None, options, 5, per_unit), ratio(beta));
            let gap = election.gap(&beta).unwrap();
            assert!((1..5).contains(&gap), "{eps} {options}: {gap}");
            let lists = multisets(&[-1, 0, 1], 5);
            let chance = |list: &Vec<i64>, gap| chance_beyond(&election, list, gap);
            assert!(lists.iter().all(|list| chance(list, gap).certainly_at_most(&beta)));
            assert!(lists.iter().any(|list| chance(list, gap - 1).certainly_above(&beta)), "{eps} {options}");
        }
        // No more than all votes, and none where there is no choice.
        assert_eq!(election("0.01", None, 9, 5, 1).gap(&ratio("0.05")).unwrap(), 5);
        assert_eq!(election("1", None, 1, 5, 1).gap(&ratio("0.05")).unwrap(), 0);
        assert!(election("1", None, 3, 5, 1).gap(&Ratio::zero()).is_err());
    }

    #[test]
    fn where_nobody_votes_all_options_are_equally_likely() {
        let nobody = election("1", None, 4, 3, 1);
        let pmf = enumerate(&ratio("1e-20"), |tape| nobody.run(&[None, Some(9), None], tape));
        for option in 0..4 {
            let mass = pmf.mass(&Elected { option, popularity: None }).to_f64();
            assert!((mass - 0.25).abs() < 1e-12, "{option} {mass}");
        }
    }

    #[test]
    fn edges_and_a_script() {
        assert_eq!(unseen_option(&BTreeMap::from([(0, 1), (2, 1)]), 0), 1);
        assert_eq!(unseen_option(&BTreeMap::from([(0, 1), (2, 1)]), 1), 3);
        let only = election("1", Some("1"), 1, 2, 1);
        let elected = only.run(&[Some(0), None], &mut ScriptedWords::new(vec![1 << 40; 12]));
        assert_eq!((elected.option, only.success_lower(&ratio("0.5")) > ratio("0.999999")), (0, true));
        assert!(only.accuracy(&ratio("0.05")).unwrap() == Ratio::from(3u64));
        let touch = VotesPerUnit::new(2, 1, Adjacency::Replace).unwrap();
        let none = ArgMax { eps: "1".parse().unwrap(), popularity_eps: None, options: 0, touch };
        assert_eq!(none.calibrate().unwrap_err().to_string(), "options 0 is not accepted: give at least 1");
    }
}
