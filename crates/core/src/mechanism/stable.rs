//! Releases the exact value of a statistic, unless few changed rows could change it; then it refuses.
//!
//! Source: 000_4d769f04a6a550e8.txt, Algorithm 13 (A_dist) and Proposition 7.2; 001_3b43439ac39fb76e.txt, SMed and
//! Theorem 1 (the same for the median).
//!
//! # Guarantee
//!
//! For any function that comes with its slack, (epsilon, delta)-DP under the adjacency of the parameters; for
//! medians, quantiles and modes no smaller delta suffices. The slack may be smaller than the true one, as
//! long as it moves by at most one row between neighbours.
//!
//! # Why
//!
//! 1. A true slack is one row where a neighbour has another value, and moves by at most one between
//!    neighbours: a way to another value from one is a way from the other, with one more step.
//! 2. So neighbours with different values both have a slack of one row, as the [`gate`] asks, and
//!    the value passes the gate with (epsilon, delta).
//! 3. With one row to change the gate opens with probability delta, and the value is one that the neighbour
//!    never has: no smaller delta.
//!
//! # Differs
//!
//! The texts add Laplace noise to the slack and compare with a threshold; see [`threshold`](super::threshold)
//! for those forms. The empty data set has a value of its own, [`Answer::Empty`], which passes the gate like
//! any other: under add/remove it is one row away from every single row, under replace it is public.
//! Data in which values hardly repeat has a slack of one row and is nearly always refused: bin it first.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{
//!     adjacency::Adjacency,
//!     coins::ScriptedWords,
//!     mechanism::stable::Stable,
//!     outcome::Outcome,
//!     stability::{Answer, Median, Range, Reach},
//! };
//!
//! // Forty people; their median is 3, and 34 of them would have to come or go to change it.
//! let rows = [vec![2; 3], vec![3; 37]].concat();
//! let window = Median.window(&rows, Range::new(0, 10)?, Reach::Ranks(0));
//! let stable = Stable { eps: "1".parse()?, delta: "1e-6".parse()?, adjacency: Adjacency::AddRemove };
//! let calibrated = stable.calibrate()?;
//! # let mut coins = ScriptedWords::new(vec![1 << 40]);
//! assert_eq!(calibrated.median(&window, &mut coins), Outcome::Value(Answer::Value(3)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::gate::{self, Gate};
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Delta, Eps, Loss, ParameterError},
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::{
        Answer, Median, Quantile, Range, ValueAndSlack, Window,
        mode::{self, Tally, Unseen},
    },
};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stable {
    /// How much the slack may show.
    pub eps: Eps,
    /// How often a value that a neighbour does not have may be released. Above zero.
    pub delta: Delta,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A stable release ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    gate: gate::Calibrated,
}

impl Stable {
    /// Compute the gate. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        Ok(Calibrated { gate: self.gate().calibrate()? })
    }

    fn gate(&self) -> Gate {
        Gate { eps: self.eps.clone(), delta: self.delta.clone(), adjacency: self.adjacency }
    }

    /// The least epsilon (six digits) at which this slack is refused with probability at most beta.
    pub fn eps_for(&self, slack: Slack, beta: &Ratio) -> Option<Eps> {
        self.gate().eps_for(slack, beta)
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        self.gate.cost()
    }

    /// The value or a refusal. Total: it says one or the other whatever the data.
    pub fn run<T>(&self, value: T, slack: Slack, coins: &mut impl Coins) -> Outcome<T> {
        if self.gate.run(slack, coins) { Outcome::Value(value) } else { Outcome::Refused }
    }

    /// The same for what a file of [`stability`](crate::stability) found.
    pub fn run_found<T>(&self, found: ValueAndSlack<T>, coins: &mut impl Coins) -> Outcome<Answer<T>> {
        self.run(found.value, found.slack, coins)
    }

    /// The low median (SMed). The window needs no reach beyond the median itself.
    pub fn median(&self, window: &Window, coins: &mut impl Coins) -> Outcome<Answer<i64>> {
        self.run_found(Median.value_and_slack(window, self.gate.adjacency()), coins)
    }

    /// A quantile, from the window of that quantile.
    pub fn quantile(
        &self,
        quantile: Quantile,
        window: &Window,
        coins: &mut impl Coins,
    ) -> Outcome<Answer<i64>> {
        self.run_found(quantile.value_and_slack(window, self.gate.adjacency()), coins)
    }

    /// The most frequent value of rows in a range, ties to the smaller one.
    pub fn mode(&self, rows: &[i64], range: Range, coins: &mut impl Coins) -> Outcome<Answer<i64>> {
        self.run_found(mode::value_and_slack(rows, range, self.gate.adjacency()), coins)
    }

    /// The most frequent value of anything that was counted; `None` where nothing was. `unseen` says what the
    /// universe holds beyond what was counted: exactly, or both true, which is safe for every universe.
    pub fn mode_of_counts<T: Ord>(
        &self,
        tally: Option<Tally<T>>,
        unseen: Unseen,
        coins: &mut impl Coins,
    ) -> Outcome<Answer<T>> {
        let adjacency = self.gate.adjacency();
        let found = match tally {
            Some(tally) => tally.value_and_slack(unseen, adjacency),
            None => ValueAndSlack { value: Answer::Empty, slack: slack_of_nothing(adjacency) },
        };
        self.run_found(found, coins)
    }

    /// The chance of a refusal at this slack.
    pub fn accuracy(&self, slack: Slack) -> Ratio {
        self.gate.accuracy(slack)
    }

    /// The least slack that is refused with probability at most beta.
    pub fn slack_for(&self, beta: &Ratio) -> Option<Slack> {
        self.gate.slack_for(&(Ratio::one() - beta))
    }
}

/// Any row that comes gives a value; under replace there are no other data sets without rows.
fn slack_of_nothing(adjacency: Adjacency) -> Slack {
    match adjacency {
        Adjacency::AddRemove => Slack::rows_to_change(1, adjacency),
        Adjacency::Replace => Slack::constant(adjacency),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::Interval,
        stability::Reach,
        tape::{Pmf, Tape, delta_between, enumerate},
        universe::neighbouring_pairs,
    };
    use Adjacency::{AddRemove, Replace};
    use std::collections::BTreeMap;

    const VALUES: [i64; 5] = [0, 1, 2, 3, 4];

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn range() -> Range {
        Range::new(0, 4).unwrap()
    }

    fn calibrated(eps: &str, delta: &str, adjacency: Adjacency) -> Calibrated {
        let (eps, delta) = (eps.parse().unwrap(), delta.parse().unwrap());
        Stable { eps, delta, adjacency }.calibrate().unwrap()
    }

    fn median(rows: &[i64], stable: &Calibrated, tape: &mut Tape) -> Outcome<Answer<i64>> {
        stable.median(&Median.window(rows, range(), Reach::Ranks(0)), tape)
    }

    fn quartile(rows: &[i64], stable: &Calibrated, tape: &mut Tape) -> Outcome<Answer<i64>> {
        let quartile = Quantile::new(&ratio("1/4")).unwrap();
        stable.quantile(quartile, &quartile.window(rows, range(), Reach::Ranks(0)), tape)
    }

    fn mode(rows: &[i64], stable: &Calibrated, tape: &mut Tape) -> Outcome<Answer<i64>> {
        stable.mode(rows, range(), tape)
    }

    /// Releases with a slack that counts one row too many.
    fn careless_median(rows: &[i64], stable: &Calibrated, tape: &mut Tape) -> Outcome<Answer<i64>> {
        let window = Median.window(rows, range(), Reach::Ranks(0));
        let found = Median.value_and_slack(&window, stable.gate.adjacency());
        let rows = found.slack.until_change().unwrap() + 1;
        stable.run(found.value, Slack::rows_to_change(rows, found.slack.adjacency()), tape)
    }

    /// Takes the gap between the two top counts for a number of replaced rows.
    fn raw_gap_mode(rows: &[i64], stable: &Calibrated, tape: &mut Tape) -> Outcome<Answer<i64>> {
        let found = mode::value_and_slack(rows, range(), AddRemove);
        let gap = found.slack.until_change().unwrap();
        stable.run(found.value, Slack::rows_to_change(gap, Replace), tape)
    }

    type Release = fn(&[i64], &Calibrated, &mut Tape) -> Outcome<Answer<i64>>;

    fn worst(eps: &str, stable: &Calibrated, size: usize, release: Release) -> Interval {
        let mut seen: BTreeMap<Vec<i64>, Pmf<_>> = BTreeMap::new();
        let pairs = neighbouring_pairs(&VALUES, size, stable.gate.adjacency());
        for data in pairs.iter().flat_map(|(a, b)| [a, b]) {
            let pmf = || enumerate(&ratio("1e-60"), |tape| release(data, stable, tape));
            seen.entry(data.clone()).or_insert_with(pmf);
        }
        let deltas = pairs.iter().map(|(a, b)| delta_between(&ratio(eps), &seen[a], &seen[b]));
        deltas.reduce(|a, b| a.max(&b)).expect("some pair")
    }

    #[test]
    fn exact_audit_meets_the_claim_to_the_last_digit() {
        for adjacency in Adjacency::ALL {
            for release in [median, quartile, mode] as [Release; 3] {
                let worst = worst("1", &calibrated("1", "0.001", adjacency), 6, release);
                assert!(worst.upper() <= ratio("0.001") + ratio("1e-50"), "{adjacency}");
                assert!(worst.lower() >= ratio("0.001") - ratio("1e-30"), "{adjacency}");
            }
        }
    }

    #[test]
    fn a_mutant_with_one_row_too_many_is_caught() {
        for adjacency in Adjacency::ALL {
            let worst = worst("1", &calibrated("1", "0.001", adjacency), 4, careless_median);
            assert!((worst.to_f64() - 0.001 * (1.0 + 1f64.exp())).abs() < 1e-12, "{adjacency}");
        }
    }

    #[test]
    fn a_mutant_mode_with_the_raw_gap_is_caught() {
        let worst = worst("1", &calibrated("1", "0.001", Replace), 6, raw_gap_mode);
        assert!(worst.lower() > ratio("0.003"), "{}", worst.to_f64());
    }

    #[test]
    fn hand_computed_chances_of_a_refusal() {
        let stable = calibrated("1", "1e-6", Replace);
        for (rows, slack) in [(vec![4; 1], 1), (vec![2; 10], 5), (vec![0; 10], 6)] {
            let window = Median.window(&rows, range(), Reach::Ranks(0));
            let found = Median.value_and_slack(&window, Replace).slack;
            assert_eq!(found, Slack::rows_to_change(slack, Replace), "{rows:?}");
        }
        let refused = |rows| stable.accuracy(Slack::rows_to_change(rows, Replace)).to_f64();
        let opens = |rows: i32| 1e-6 * (f64::from(rows).exp() - 1.0) / (1f64.exp() - 1.0);
        for rows in 1..=12 {
            assert!((1.0 - refused(rows) - opens(i32::try_from(rows).unwrap())).abs() < 1e-12, "{rows}");
        }
        assert_eq!(stable.slack_for(&ratio("0.01")).unwrap().until_change(), Some(18));
        assert_eq!(stable.slack_for(&Ratio::zero()).unwrap().until_change(), Some(28));
        let shape = Stable { eps: "9".parse().unwrap(), delta: "1e-6".parse().unwrap(), adjacency: Replace };
        let eps = shape.eps_for(Slack::rows_to_change(18, Replace), &ratio("0.01")).unwrap();
        assert!(eps < "1".parse().unwrap() && eps > "0.9".parse().unwrap());
    }

    #[test]
    fn no_rows_are_an_answer_of_their_own() {
        let always = || ScriptedWords::new(vec![0, 0]);
        let never = || ScriptedWords::new(vec![u64::MAX, 0]);
        let unseen = Unseen { below: true, above: true };
        for (adjacency, refused) in [(AddRemove, true), (Replace, false)] {
            let stable = calibrated("1", "0.5", adjacency);
            let window = Median.window(&[], range(), Reach::Ranks(0));
            let answers = |coins: fn() -> ScriptedWords| {
                [
                    stable.median(&window, &mut coins()),
                    stable.quantile(Quantile::new(&ratio("1/4")).unwrap(), &window, &mut coins()),
                    stable.mode(&[], range(), &mut coins()),
                    stable.mode_of_counts(None, unseen, &mut coins()),
                ]
            };
            assert!(answers(always).iter().all(|answer| *answer == Outcome::Value(Answer::Empty)));
            let expected = if refused { Outcome::Refused } else { Outcome::Value(Answer::Empty) };
            assert!(answers(never).iter().all(|answer| *answer == expected), "{adjacency}");
        }
    }

    #[test]
    fn modes_of_counted_things() {
        let stable = calibrated("1", "1e-6", AddRemove);
        let unseen = Unseen { below: true, above: true };
        let counts = [("green", 3), ("red", 44), ("violet", 12)];
        let mut coins = ScriptedWords::new(vec![u64::MAX, 0]);
        let answer = stable.mode_of_counts(Tally::from_counts(counts), unseen, &mut coins);
        assert_eq!(answer, Outcome::Value(Answer::Value("red")));
    }

    #[test]
    fn worked_examples_of_the_texts() {
        // 001, introduction: 51 people make nothing and 50 a million; the median is one salary away from
        // another one, so it is released with probability delta only.
        let salaries = [vec![0; 51], vec![1_000_000; 50]].concat();
        let window = Median.window(&salaries, Range::new(0, 1_000_000).unwrap(), Reach::Ranks(0));
        let found = Median.value_and_slack(&window, Replace);
        let stable = calibrated("1", "1e-6", Replace);
        let refused = stable.accuracy(found.slack);
        assert!(refused >= ratio("0.999999") && refused < ratio("0.9999990001"));
        // 001, section 2: the mode of this sequence, one replaced row ahead of the next.
        let sequence = [1, 2, 4, 3, 4, 4, 2];
        let answer = stable.mode(&sequence, Range::WHOLE, &mut ScriptedWords::new(vec![0]));
        assert_eq!(answer, Outcome::Value(Answer::Value(4)));
    }
}
