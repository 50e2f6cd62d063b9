//! Names a value that a statistic comes down to when a few rows are removed; it never refuses and needs no
//! bound on the rows.
//!
//! Source: Fang, Dong and Yi 2022, "Shifted inverse"; down-sensitivity as in 002_c9075a084346ce80.txt, section
//! 1.4.
//!
//! # Guarantee
//!
//! For a statistic that never falls when a row is added: (epsilon, 0), under add/remove and under replace, for
//! every public list of answers. Answer y is given with probability exactly proportional to
//! `e^(-epsilon·loss(y)/2)`, `loss(y) = max(length(y) - shift, shift + 1 - length(before y), 0)`, where the length
//! of y is the fewest removed rows after which the statistic is at most y, cut off at `2·shift + 1`, and nothing
//! comes before the first answer.
//!
//! # Why
//!
//! 1. A row that is added raises every length by zero or one: what brings the larger data set down brings the
//!    smaller one down too, and one removal more makes up for the row. A row that is replaced is one removed,
//!    which lowers lengths by zero or one, and one added, which raises them by zero or one: together no length
//!    moves by more than one. The cut-off and the loss keep that.
//! 2. So each loss moves by at most one, and the choice is the exponential mechanism with sensitivity one.
//! 3. If the last answer is within `shift` removals, some answer has loss zero: the first one with length at most
//!    `shift`. With d answers, one of loss above `shift` is given with probability at most
//!    `(d-1)p/(1+(d-1)p)`, `p = e^(-epsilon·(shift+1)/2)`, and the shift is the least that makes this beta.
//! 4. A loss of at most `shift` means: after some `2·shift` removals the statistic is at most y, and it is not at
//!    most the answer before y as it stands.
//!
//! # Differs
//!
//! The published mechanism is for add/remove and would cost twice the epsilon under replace; by step 1 it does
//! not. Lengths are cut off at a public number, which the error bound does not notice, so that the work after
//! selecting the rows is the same for all rows: two weights for each length, whatever the number of answers.
//! The shift uses the tight form of the error bound.
//!
//! Constant coins: five words, and more with probability below 2^-60.
//!
//! # Example
//!
//! ```
//! use equipoise_core::mechanism::shifted_inverse::{Answers, ShiftedInverse};
//! use equipoise_core::{coins::ScriptedWords, ratio::Ratio, stability::sum};
//!
//! // The sum of amounts without a largest one: answers grow by a hundredth up to 2^64.
//! let answers = Answers::growing(&"1.01".parse()?, u64::MAX)?;
//! let mechanism = ShiftedInverse { eps: "1".parse()?, answers, beta: "0.05".parse()? }.calibrate()?;
//! let amounts: Vec<u64> = (1..=10_000).collect();
//! let removals = sum::removals(&amounts, mechanism.limit());
//! # let mut coins = ScriptedWords::new(vec![1 << 62; 5]);
//! let answer = mechanism.run(&removals, &mut coins);
//! // With probability 0.95 it lies between the sum without its 44 largest amounts and 1.01 times the sum.
//! assert_eq!(mechanism.accuracy(&"0.05".parse()?), Some(44));
//! assert!(answer >= Ratio::from(49_500_000u64) && answer <= Ratio::from(50_600_000u64));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::exponential::units_up;
use crate::{
    coins::Coins,
    loss::{Eps, Loss, ParameterError},
    ratio::Ratio,
    sampler::{
        uniform::UpTo,
        weighted::{Power, Weighted},
    },
    solve,
    stability::removals::Removals,
};
use dashu_int::IBig;

/// The answers that can be given: public, in growing order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answers {
    /// `first`, `first + step`, and so on.
    Even {
        /// The first answer.
        first: Ratio,
        /// The distance between neighbouring answers; above zero.
        step: Ratio,
        /// How many answers there are.
        count: u64,
    },
    /// These, in growing order.
    List(Vec<Ratio>),
}

impl Answers {
    /// The whole numbers 0 and 1, and from there each at most `base` times the one before, rounded up, until
    /// the first that is not below `last`.
    pub fn growing(base: &Ratio, last: u64) -> Result<Self, ParameterError> {
        if *base < Ratio::new(10_001, 10_000) {
            return Err(ParameterError::out_of_range(
                "base",
                base,
                "give a number from 1.0001 on, such as 1.01",
            ));
        }
        let mut list = vec![Ratio::zero(), Ratio::one()];
        while let Some(answer) = list.last().filter(|&answer| *answer < Ratio::from(last)) {
            list.push(Ratio::whole((answer * base).ceil_big()));
        }
        Ok(Self::List(list))
    }

    fn check(&self) -> Result<(), ParameterError> {
        let refuse =
            |name, value: &dyn std::fmt::Display, next| Err(ParameterError::out_of_range(name, value, next));
        match self {
            Self::Even { count: 0, .. } => refuse("number of answers", &0, "give at least one"),
            Self::Even { step, .. } if !step.is_positive() => {
                refuse("step of the answers", step, "give a number above 0, such as 1")
            }
            Self::List(list) if list.is_empty() => refuse("number of answers", &0, "give at least one"),
            Self::List(list) => match list.windows(2).find(|pair| pair[0] >= pair[1]) {
                Some(pair) => refuse("answer", &pair[1], "give the answers in growing order, each once"),
                None => Ok(()),
            },
            Self::Even { .. } => Ok(()),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        match self {
            Self::Even { count, .. } => *count,
            Self::List(list) => list.len() as u64,
        }
    }

    /// The answer at this place. Panics at a place that is not below the count.
    pub fn value(&self, place: u64) -> Ratio {
        assert!(place < self.count(), "a place of an answer");
        match self {
            Self::Even { first, step, .. } => first + &(step * &Ratio::from(place)),
            Self::List(list) => list[usize::try_from(place).expect("an index of the list")].clone(),
        }
    }

    /// The place of the first answer that is not below this value; the count where there is none.
    pub fn first_not_below(&self, value: &Ratio) -> u64 {
        match self {
            Self::Even { first, step, count } => {
                let place = ((value - first) / step).ceil_big().clamp(IBig::ZERO, IBig::from(*count));
                u64::try_from(place).expect("between zero and the count")
            }
            Self::List(list) => list.partition_point(|answer| answer < value) as u64,
        }
    }
}

/// Parameters of the mechanism; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShiftedInverse {
    /// The privacy loss.
    pub eps: Eps,
    /// What can be answered.
    pub answers: Answers,
    /// How often the answer may lie outside its bounds.
    pub beta: Ratio,
}

/// A mechanism that is ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calibrated {
    eps: Eps,
    answers: Answers,
    beta: Ratio,
    shift: u64,
}

/// Shifts beyond this would make tables of more than a quarter of a million weights.
const LARGEST_SHIFT: u64 = 1 << 16;

impl ShiftedInverse {
    /// Choose the shift. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        self.answers.check()?;
        let others = Ratio::from(self.answers.count() - 1);
        // One more than the shift, times epsilon/2, must reach this.
        let units = units_up(&others, &self.beta)?;
        let beyond = (units * Ratio::from(2u64) / self.eps.ratio()).ceil_big();
        let shift = u64::try_from((beyond - IBig::ONE).max(IBig::ZERO)).unwrap_or(u64::MAX);
        if shift > LARGEST_SHIFT {
            return Err(ParameterError::out_of_range(
                "epsilon",
                &self.eps,
                "so many answers would need more than 65536 removed rows; give a larger epsilon or fewer answers",
            ));
        }
        Ok(Calibrated {
            eps: self.eps.clone(),
            answers: self.answers.clone(),
            beta: self.beta.clone(),
            shift,
        })
    }

    /// The least epsilon (six digits) with which so many removed rows bound the error.
    pub fn eps_for(&self, removals: u64) -> Option<Eps> {
        solve::smallest_eps(|eps| {
            let here = Self { eps: eps.clone(), ..self.clone() };
            here.calibrate().is_ok_and(|here| here.limit() <= removals)
        })
    }
}

impl Calibrated {
    /// What a run costs, under add/remove and under replace.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.eps)
    }

    /// The answers that can be given.
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// How many removals separate the answer aimed at from the statistic.
    pub fn shift(&self) -> u64 {
        self.shift
    }

    /// How many removals the mechanism looks at: compute [`Removals`] with this limit.
    pub fn limit(&self) -> u64 {
        2 * self.shift
    }

    /// An answer. Panics unless the removals were computed with [`Calibrated::limit`], which is public.
    pub fn run(&self, removals: &Removals, coins: &mut impl Coins) -> Ratio {
        assert_eq!(removals.limit(), self.limit(), "as many removals as the mechanism looks at");
        let reached = |removed| {
            let least = Ratio::from_parts(IBig::from(removals.least_after(removed)), 1u8.into());
            self.answers.first_not_below(&least)
        };
        let reached: Vec<u64> = (0..=self.limit()).map(reached).collect();
        self.answers.value(self.choose(&reached, coins))
    }

    /// The same from what the statistic comes down to at least after 0, 1, …, `limit` removals, in any numbers. A number
    /// that is not below the one before counts as that one: fewer removals are always allowed. Panics unless there is one
    /// for each.
    pub fn run_least_after(&self, least: &[Ratio], coins: &mut impl Coins) -> Ratio {
        assert_eq!(least.len() as u64, self.limit() + 1, "as many removals as the mechanism looks at");
        let mut lowest = self.answers.count();
        let reached = |value: &Ratio| {
            lowest = lowest.min(self.answers.first_not_below(value));
            lowest
        };
        let reached: Vec<u64> = least.iter().map(reached).collect();
        self.answers.value(self.choose(&reached, coins))
    }

    /// The place of an answer, from the place of the first answer within 0, 1, …, `limit` removals.
    pub(super) fn choose(&self, reached: &[u64], coins: &mut impl Coins) -> u64 {
        let runs = self.runs(reached);
        let powers = runs.iter().flat_map(|run| {
            let first = Power { multiplier: u128::from(run.count.min(1)), steps: run.first_loss };
            [first, Power { multiplier: u128::from(run.count.saturating_sub(1)), steps: run.other_loss }]
        });
        let weights = Weighted::powers(&(self.eps.ratio() / &Ratio::from(2u64)), powers);
        let chosen = coins.sample(&weights);
        let (run, first) = (&runs[chosen / 2], chosen.is_multiple_of(2));
        // Drawn for a first answer too: the coins do not tell which kind it is.
        let other = coins.sample(&UpTo(u128::from(run.count.saturating_sub(2))));
        let other = u64::try_from(other).expect("one of the run's answers");
        run.from + if first { 0 } else { 1 + other }
    }

    /// The answers of each length, from the largest length down. The number of runs is public.
    fn runs(&self, reached: &[u64]) -> Vec<Run> {
        let cut = self.limit() + 1;
        let place = |length: u64| reached[usize::try_from(length).expect("a short table")];
        let mut before = None;
        let mut run = |length: u64| {
            let from = if length == cut { 0 } else { place(length) };
            let to = if length == 0 { self.answers.count() } else { place(length - 1) };
            let too_far = length.saturating_sub(self.shift);
            let too_near = |length: u64| (self.shift + 1).saturating_sub(length);
            let run = Run {
                from,
                count: to - from,
                first_loss: too_far.max(before.map_or(0, too_near)),
                other_loss: too_far.max(too_near(length)),
            };
            if run.count > 0 {
                before = Some(length);
            }
            run
        };
        (0..=cut).rev().map(&mut run).collect()
    }

    /// So many removed rows bound the error: with probability 1 - beta the answer is not below what the
    /// statistic comes down to without them, and not above the first answer that the statistic itself does not
    /// exceed. It supposes that `shift` removals bring the statistic down to the last answer. `None` for a
    /// smaller beta than the mechanism was calibrated for.
    pub fn accuracy(&self, beta: &Ratio) -> Option<u64> {
        let here =
            ShiftedInverse { eps: self.eps.clone(), answers: self.answers.clone(), beta: beta.clone() };
        (*beta >= self.beta).then(|| Some(self.shift + here.calibrate().ok()?.shift))?
    }
}

/// Neighbouring answers of one length. Those after the first follow an answer of the same length.
struct Run {
    from: u64,
    count: u64,
    first_loss: u64,
    other_loss: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adjacency::Adjacency,
        coins::ScriptedWords,
        interval::{AUDIT_BITS, Interval},
        sampler::weighted::Weight,
        stability::{Range, Sorted, distinct::Multiplicities, max, sum},
        tape::{Pmf, delta_between, enumerate},
        universe::{datasets, neighbouring_pairs},
    };
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn whole(count: u64) -> Answers {
        Answers::Even { first: Ratio::zero(), step: Ratio::one(), count }
    }

    /// A mechanism with this shift, whatever beta would ask for.
    fn shifted(eps: &str, answers: Answers, shift: u64) -> Calibrated {
        Calibrated { eps: eps.parse().unwrap(), answers, beta: ratio("0.5"), shift }
    }

    /// A statistic of small rows: its removals, its largest value on n rows up to v.
    struct Statistic {
        removals: fn(&[i64], u64) -> Removals,
        most: fn(u64, u64) -> u64,
    }

    fn unsigned(rows: &[i64]) -> Vec<u64> {
        rows.iter().map(|row| row.unsigned_abs()).collect()
    }

    const MAX: Statistic = Statistic {
        removals: |rows, limit| max::removals(&Sorted::new(rows, Range::new(0, 9).unwrap()), limit),
        most: |_, v| v,
    };
    const DISTINCT: Statistic = Statistic {
        removals: |rows, limit| Multiplicities::from_sorted(rows, None).removals(limit),
        most: |n, v| n.min(v + 1),
    };
    const TOP_TWO: Statistic = Statistic {
        removals: |rows, limit| max::TopSum { k: 2 }.removals(&unsigned(rows), limit),
        most: |_, v| 2 * v,
    };
    const SUM: Statistic =
        Statistic { removals: |rows, limit| sum::removals(&unsigned(rows), limit), most: |n, v| n * v };
    const ALL: [Statistic; 4] = [MAX, DISTINCT, TOP_TWO, SUM];

    fn distribution(mechanism: &Calibrated, statistic: &Statistic, rows: &[i64]) -> Pmf<Ratio> {
        let removals = (statistic.removals)(rows, mechanism.limit());
        enumerate(&ratio("1e-30"), |tape| mechanism.run(&removals, tape))
    }

    #[test]
    fn hand_computed_shifts() {
        // others·(1 - beta)/beta: 100·19 = 1900, ln = 7.5496, 16 half-epsilons and so a shift of 15.
        for (eps, answers, beta, shift) in [
            ("1", whole(101), "0.05", 15),
            ("2", whole(101), "0.05", 7),
            ("0.1", whole(101), "0.05", 150),
            ("1", whole(2), "0.05", 5),
            ("1", whole(1), "0.05", 0),
            ("1", whole(11), "0.95", 0),
            ("1", whole(u64::MAX), "0.001", 102),
        ] {
            let mechanism = ShiftedInverse { eps: eps.parse().unwrap(), answers, beta: ratio(beta) };
            let calibrated = mechanism.calibrate().unwrap();
            assert_eq!((calibrated.shift(), calibrated.limit()), (shift, 2 * shift), "{eps} {beta}");
            assert_eq!(calibrated.accuracy(&ratio(beta)), Some(2 * shift));
            assert!(calibrated.accuracy(&ratio("0.0001")).is_none());
            assert_eq!(calibrated.cost(), Loss::pure(&mechanism.eps));
        }
    }

    /// The same law from plain numbers as from the core's own removals, and a number that rises counts as the one before.
    #[test]
    fn numbers_after_removals_are_as_good_as_removals() {
        let mechanism = shifted("1", whole(6), 2);
        for rows in datasets(&[0, 1, 3], 4, Adjacency::AddRemove) {
            let removals = sum::removals(&unsigned(&rows), mechanism.limit());
            let whole = |value: u128| Ratio::from(u64::try_from(value).unwrap());
            let least: Vec<Ratio> = (0..=4).map(|removed| whole(removals.least_after(removed))).collect();
            let law =
                |least: &[Ratio]| enumerate(&ratio("1e-30"), |tape| mechanism.run_least_after(least, tape));
            let known = enumerate(&ratio("1e-30"), |tape| mechanism.run(&removals, tape));
            assert!(delta_between(&Ratio::zero(), &law(&least), &known).upper() < ratio("1e-20"), "{rows:?}");
            let mut rising = least.clone();
            rising[4] = Ratio::from(5u64);
            rising[3] = least[3].clone();
            let mut flat = least;
            flat[4] = flat[3].clone();
            assert!(delta_between(&Ratio::zero(), &law(&rising), &law(&flat)).upper() < ratio("1e-20"));
        }
    }

    #[test]
    fn answers_that_grow() {
        let Answers::List(list) = Answers::growing(&ratio("1.5"), 20).unwrap() else { unreachable!() };
        let list: Vec<i64> = list.iter().map(|answer| answer.floor_i64().unwrap()).collect();
        assert_eq!(list, [0, 1, 2, 3, 5, 8, 12, 18, 27]);
        let even = Answers::Even { first: ratio("-1"), step: ratio("0.5"), count: 5 };
        assert_eq!([0, 4].map(|place| even.value(place)), [ratio("-1"), ratio("1")]);
        for (value, place) in
            [("-2", 0), ("-1", 0), ("-0.9", 1), ("0.5", 3), ("1", 4), ("1.1", 5), ("1e300", 5)]
        {
            assert_eq!(even.first_not_below(&ratio(value)), place);
            let list = Answers::List((0..5).map(|place| even.value(place)).collect());
            assert_eq!(list.first_not_below(&ratio(value)), place);
        }
    }

    #[test]
    fn bad_parameters_are_refused_in_one_line() {
        let error = |answers, eps: &str, beta: &str| {
            let mechanism = ShiftedInverse { eps: eps.parse().unwrap(), answers, beta: ratio(beta) };
            mechanism.calibrate().unwrap_err().to_string()
        };
        for (found, expected) in [
            (error(whole(0), "1", "0.1"), "number of answers 0 is not accepted: give at least one"),
            (
                error(Answers::List(vec![]), "1", "0.1"),
                "number of answers 0 is not accepted: give at least one",
            ),
            (
                error(Answers::List(vec![Ratio::one(), Ratio::one()]), "1", "0.1"),
                "answer 1 is not accepted: give the answers in growing order, each once",
            ),
            (
                error(Answers::Even { first: Ratio::zero(), step: Ratio::zero(), count: 3 }, "1", "0.1"),
                "step of the answers 0 is not accepted: give a number above 0, such as 1",
            ),
            (
                error(whole(100), "1e-9", "0.1"),
                "epsilon 0.000000001 is not accepted: so many answers would need more than 65536 removed rows; \
                 give a larger epsilon or fewer answers",
            ),
        ] {
            assert_eq!(found, expected);
        }
        assert!(error(whole(9), "1", "0").starts_with("beta 0 is not accepted"));
        assert!(Answers::growing(&Ratio::one(), 9).is_err());
    }

    #[test]
    fn runs_of_answers_weigh_what_each_answer_should() {
        for (statistic, shift) in ALL.iter().flat_map(|statistic| (0..3).map(move |shift| (statistic, shift)))
        {
            let mechanism = shifted("1", whole((statistic.most)(4, 3) + 2), shift);
            for rows in datasets(&[0, 1, 3], 4, Adjacency::AddRemove) {
                let removals = (statistic.removals)(&rows, mechanism.limit());
                let length = |y: u64| removals.length(y.into());
                let loss = |y: u64| {
                    let near = if y == 0 { 0 } else { (shift + 1).saturating_sub(length(y - 1)) };
                    length(y).saturating_sub(shift).max(near)
                };
                let weights = (0..mechanism.answers.count()).map(|y| Weight {
                    multiplier: Ratio::one(),
                    exponent: Ratio::from(loss(y)) / Ratio::from(2u64),
                });
                let expected = super::super::selection_audit::claimed(&Weighted::new(weights));
                let found = distribution(&mechanism, statistic, &rows);
                for (&y, mass) in expected.iter() {
                    let difference = mass.sub(&found.mass(&Ratio::from(y as u64)));
                    assert!(difference.to_f64().abs() < 1e-40, "{rows:?} {y}");
                }
            }
        }
    }

    /// The worst delta at `eps` and the largest loss over all neighbours.
    fn worst(
        mechanism: &Calibrated,
        statistic: &Statistic,
        (values, size): (&[i64], usize),
        adjacency: Adjacency,
        eps: &Ratio,
    ) -> (Interval, f64) {
        let mut seen: BTreeMap<Vec<i64>, Pmf<Ratio>> = BTreeMap::new();
        let (mut delta, mut loss) = (Interval::zero(AUDIT_BITS), 0f64);
        for (a, b) in neighbouring_pairs(values, size, adjacency) {
            for rows in [&a, &b] {
                seen.entry(rows.clone()).or_insert_with(|| distribution(mechanism, statistic, rows));
            }
            delta = delta.max(&delta_between(eps, &seen[&a], &seen[&b]));
            loss = loss.max(seen[&a].largest_loss(&seen[&b])).max(seen[&b].largest_loss(&seen[&a]));
        }
        (delta, loss)
    }

    #[test]
    fn exact_audit_under_both_adjacencies_at_the_same_epsilon() {
        for (statistic, adjacency) in ALL.iter().flat_map(|s| Adjacency::ALL.map(|adjacency| (s, adjacency)))
        {
            for (eps, shift) in [("1", 1), ("3", 2)] {
                let mechanism = shifted(eps, whole((statistic.most)(4, 3) + 1), shift);
                let (delta, _) = worst(&mechanism, statistic, (&[0, 1, 2, 3], 4), adjacency, &ratio(eps));
                assert!(delta.upper() < ratio("1e-25"), "{eps} {shift} {adjacency}: {}", delta.to_f64());
            }
        }
    }

    #[test]
    fn the_exact_losses_of_the_theory_page() {
        // Not every length is looked at by the page: with the cut-off, the same worst pairs lie at larger shifts.
        for (statistic, last, size, shift, expected) in
            [(MAX, 3, 3, 1, 0.685), (DISTINCT, 2, 4, 3, 0.612), (TOP_TWO, 4, 3, 2, 0.815)]
        {
            let values: Vec<i64> = (0..=last).collect();
            let mechanism =
                shifted("1", whole((statistic.most)(size as u64, last.unsigned_abs()) + 1), shift);
            let (_, loss) =
                worst(&mechanism, &statistic, (&values, size), Adjacency::AddRemove, &Ratio::one());
            assert!((loss - expected).abs() < 6e-4, "{loss} {expected}");
        }
    }

    #[test]
    fn a_mutant_that_does_not_halve_epsilon_is_caught() {
        let mutant = shifted("2", whole(9), 2);
        for adjacency in Adjacency::ALL {
            let (delta, loss) = worst(&mutant, &TOP_TWO, (&[0, 1, 2, 3, 4], 3), adjacency, &Ratio::one());
            assert!(delta.lower() > ratio("0.05"), "{adjacency} {loss}");
        }
    }

    #[test]
    fn the_answer_keeps_to_its_bounds() {
        for (statistic, eps) in ALL.iter().flat_map(|s| ["2", "6"].map(|eps| (s, eps))) {
            let answers = whole((statistic.most)(5, 3) + 1);
            let mechanism = ShiftedInverse { eps: eps.parse().unwrap(), answers, beta: ratio("0.1") };
            let calibrated = mechanism.calibrate().unwrap();
            for rows in datasets(&[0, 1, 3], 5, Adjacency::AddRemove) {
                let removals = (statistic.removals)(&rows, calibrated.limit());
                let bound = |value: u128| Ratio::from(u64::try_from(value).unwrap());
                let (low, high) = (bound(removals.least()), bound(removals.value()));
                let pmf = distribution(&calibrated, statistic, &rows);
                let outside = pmf.iter().filter(|(answer, _)| **answer < low || **answer > high);
                assert!(outside.map(|(_, mass)| mass.to_f64()).sum::<f64>() <= 0.1, "{rows:?}");
            }
            let eps = mechanism.eps_for(calibrated.limit()).unwrap();
            assert!(eps <= mechanism.eps);
            let less = Eps::new(eps.ratio() * &ratio("0.99999")).unwrap();
            assert!(ShiftedInverse { eps: less, ..mechanism }.calibrate().unwrap().shift > calibrated.shift);
        }
    }

    #[test]
    fn edges_of_rows_and_answers() {
        let mechanism = shifted("1", whole(1), 0);
        let run = |mechanism: &Calibrated, rows: &[u64], word: u64| {
            let removals = sum::removals(rows, mechanism.limit());
            let mut coins = ScriptedWords::new(vec![word; 5]);
            let answer = mechanism.run(&removals, &mut coins);
            assert_eq!(coins.used(), 5);
            answer
        };
        assert_eq!(run(&mechanism, &[], 5), Ratio::zero());
        assert_eq!(run(&mechanism, &[7, 9], 5), Ratio::zero());
        // As many answers as there are 64-bit numbers, and a sum beyond all of them.
        let wide =
            ShiftedInverse { eps: "2".parse().unwrap(), answers: whole(u64::MAX), beta: ratio("0.01") };
        let wide = wide.calibrate().unwrap();
        for word in [9, 1 << 63, u64::MAX - 1] {
            assert!(run(&wide, &[u64::MAX; 200], word) <= Ratio::from(u64::MAX));
            assert!(run(&wide, &[], word) <= Ratio::from(u64::MAX));
        }
        // A thousand rows of a million each: 49 removals on either side of a shift of 49.
        let answer = run(&wide, &[1_000_000; 1000], 1 << 63).to_f64();
        assert!((902e6..=1000e6).contains(&answer), "{answer}");
    }

    #[test]
    fn a_scripted_run() {
        // Rows 1 and 3, shift 1, answers 0 to 3: lengths 2, 1, 1, 0 and losses 1, 0, 1, 1; the last two are
        // single. Weights e^-1/2, 1, e^-1/2, e^-1/2 in the order of the answers: 0.215, 0.570, 0.785.
        let mechanism = shifted("1", whole(4), 1);
        let removals = max::removals(&Sorted::new(&[1, 3], Range::new(0, 9).unwrap()), mechanism.limit());
        for (first, answer) in [(0.21, 0i64), (0.22, 1), (0.56, 1), (0.58, 2), (0.78, 2), (0.79, 3)] {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a word of a script")]
            let word = (first * 2f64.powi(64)) as u64;
            let mut coins = ScriptedWords::new(vec![word, 0, 0, 0, 0]);
            assert_eq!(mechanism.run(&removals, &mut coins), Ratio::from(answer), "{first}");
        }
    }
}
