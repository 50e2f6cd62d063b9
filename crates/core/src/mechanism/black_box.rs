//! Answers any function of the rows that changes little when a few rows are removed; nothing need be known of
//! the function, but it is evaluated on very many subsets. Refuses where there may be too many.
//!
//! Source: Fang, Dong and Yi 2022 ("Shifted inverse"), made for arbitrary functions as in Linder, Raskhodnikova,
//! Smith and Steinke 2025; down-sensitivity as in 002_c9075a084346ce80.txt, section 1.4.
//!
//! # Guarantee
//!
//! For every function: (rows' epsilon + epsilon, 0) under add/remove with a private number of rows; (epsilon, 0)
//! under replace with a public one.
//!
//! # Why
//!
//! 1. A size l, a little below the number n of rows, is found: `n - 2·shift` where n is public, else
//!    `n + Z - offset - 2·shift` with discrete Laplace noise of scale one over the rows' epsilon.
//! 2. For a fixed l, the largest value of the function over all subsets of at least l rows never falls when a row
//!    is added. The [shifted inverse](super::shifted_inverse) of it is epsilon-DP under both adjacencies.
//! 3. Where n is above `2·shift`, `2·shift <= n - l <= most` with probability 1 - 2·beta. Then that largest value,
//!    before and after `2·shift` removals, is the function of rows of which at most `most` were removed; so is the
//!    answer, except with probability beta, up to the distance of neighbouring answers.
//! 4. Whether there are too many subsets depends on n, which is private. So l alone decides what is refused: what
//!    `l + most + shift` rows would need. Beyond `l + most` rows the lengths of the shifted inverse are confined
//!    to `[excess, 2·shift + 1 - excess]`, which keeps that each moves by at most one; `shift` rows further none is
//!    left to compute.
//!
//! # Differs
//!
//! The publications count evaluations by the true n. Noise and offset are whole numbers.
//!
//! The number of evaluations, and so the time, shows n, like the time to read the rows.
//!
//! # Example
//!
//! ```
//! use equipoise_core::mechanism::{black_box::{BlackBox, Rows}, shifted_inverse::Answers};
//! use equipoise_core::{coins::ScriptedWords, outcome::Outcome, ratio::Ratio};
//!
//! // The mean of twenty numbers, without a range for them.
//! let mechanism = BlackBox {
//!     eps: "5".parse()?,
//!     rows: Rows::Public { count: 20 },
//!     answers: Answers::Even { first: Ratio::zero(), step: Ratio::one(), count: 21 },
//!     beta: "0.05".parse()?,
//!     evaluations: 10_000,
//! };
//! let calibrated = mechanism.calibrate()?;
//! // With probability 0.95 it is the mean after at most four removals, rounded up.
//! assert_eq!(calibrated.accuracy().removals, 4);
//! let rows: Vec<i64> = (1..=20).collect();
//! let mean = |rows: &[&i64]| Ratio::new(rows.iter().copied().sum(), rows.len() as u64);
//! # let mut coins = ScriptedWords::new(vec![1 << 62; 12]);
//! let answer = calibrated.run(&rows, mean, &mut coins).value().unwrap();
//! assert!(answer >= Ratio::from(8u64) && answer <= Ratio::from(13u64));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{
    bound_local_sensitivity::offset_up,
    shifted_inverse::{self, Answers, ShiftedInverse},
};
use crate::{
    coins::Coins,
    loss::{Eps, Loss, ParameterError},
    outcome::Outcome,
    ratio::Ratio,
    sampler::discrete_laplace::DiscreteLaplace,
    solve,
    stability::subsets,
};

/// What is known of the number of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Nothing: add/remove.
    Private {
        /// What finding it out costs.
        eps: Eps,
    },
    /// Everything: replace.
    Public {
        /// The number.
        count: u64,
    },
}

/// Parameters of the mechanism; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlackBox {
    /// The privacy loss of the answer.
    pub eps: Eps,
    /// What is known of the number of rows, and so the adjacency.
    pub rows: Rows,
    /// What can be answered.
    pub answers: Answers,
    /// How often each of up to three bounds may fail.
    pub beta: Ratio,
    /// The most evaluations of the function that one run may take.
    pub evaluations: u64,
}

/// A mechanism that is ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    shape: BlackBox,
    inner: shifted_inverse::Calibrated,
    size: Size,
}

/// How the size l is found.
#[derive(Clone, Debug)]
enum Size {
    Noisy {
        law: Box<DiscreteLaplace>,
        offset: i64,
        /// The rows that may be removed from an answer, except with probability beta.
        most: u64,
        /// The largest size that is not refused.
        last: u64,
    },
    Exact {
        size: u64,
    },
}

/// What an answer may be off by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accuracy {
    /// The answer lies between two values of the function, each after at most this many removals, or at the
    /// first answer after the larger one.
    pub removals: u64,
    /// Nothing is said of fewer rows than this: an answer that looks for removed rows where there are none tends to
    /// the first of the list.
    pub least_rows: u64,
    /// How many bounds may fail, each with probability beta.
    pub bounds: u64,
}

impl BlackBox {
    /// Choose the size. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let inner =
            ShiftedInverse { eps: self.eps.clone(), answers: self.answers.clone(), beta: self.beta.clone() };
        let inner = inner.calibrate()?;
        let size = match &self.rows {
            Rows::Public { count } => {
                let size = count.saturating_sub(inner.limit()).max(1);
                self.check_evaluations(*count, size)?;
                Size::Exact { size }
            }
            Rows::Private { eps } => {
                let scale = eps.ratio().recip();
                let offset = offset_up(&scale, &self.beta)?;
                let most = inner.limit().saturating_add(offset.unsigned_abs().saturating_mul(2));
                let rows_for = |size: u64| size.saturating_add(most).saturating_add(inner.shift());
                self.check_evaluations(rows_for(1), 1)?;
                let affordable =
                    |size: u64| subsets::count(rows_for(size), size) <= u128::from(self.evaluations);
                Size::Noisy {
                    law: Box::new(DiscreteLaplace::new(&scale)?),
                    offset,
                    most,
                    last: last_true(affordable),
                }
            }
        };
        Ok(Calibrated { shape: self.clone(), inner, size })
    }

    fn check_evaluations(&self, rows: u64, size: u64) -> Result<(), ParameterError> {
        if subsets::count(rows, size) <= u128::from(self.evaluations) {
            return Ok(());
        }
        Err(ParameterError::out_of_range(
            "number of evaluations",
            self.evaluations,
            "subsets without a few rows outnumber it; allow more, or give a larger epsilon or fewer answers",
        ))
    }

    /// The least total epsilon (six digits), split as here, with which so many removed rows bound the error.
    pub fn eps_for(&self, removals: u64) -> Option<Eps> {
        let for_rows = match &self.rows {
            Rows::Private { eps } => eps.ratio().clone(),
            Rows::Public { .. } => Ratio::zero(),
        };
        let now = &for_rows + self.eps.ratio();
        solve::smallest_eps(|total| {
            let share = |part: &Ratio| Eps::new(part / &now * total.ratio());
            let Ok(eps) = share(self.eps.ratio()) else { return false };
            let rows = share(&for_rows).map_or(self.rows.clone(), |eps| Rows::Private { eps });
            let here = Self { eps, rows, ..self.clone() };
            here.calibrate().is_ok_and(|here| here.accuracy().removals <= removals)
        })
    }
}

/// The last number from one on with a property that holds at one and does not come back once it is lost.
fn last_true(holds: impl Fn(u64) -> bool) -> u64 {
    let (mut last, mut step) = (1u64, 1u64 << 62);
    while step > 0 {
        if holds(last.saturating_add(step)) {
            last += step;
        }
        step >>= 1;
    }
    last
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        let answer = Loss::pure(&self.shape.eps);
        match &self.shape.rows {
            Rows::Private { eps } => Loss::pure(eps).compose(&answer),
            Rows::Public { .. } => answer,
        }
    }

    /// Data sets of up to so many rows are refused with probability at most beta.
    pub fn most_rows(&self) -> u64 {
        match &self.size {
            Size::Noisy { last, .. } => last.saturating_add(self.inner.limit()),
            Size::Exact { .. } => u64::MAX,
        }
    }

    /// What the answer may be off by. It supposes that the answers reach up to the values of the function.
    pub fn accuracy(&self) -> Accuracy {
        let least_rows = self.inner.limit() + 1;
        match &self.size {
            Size::Noisy { most, .. } => Accuracy { removals: *most, least_rows, bounds: 3 },
            Size::Exact { .. } => Accuracy { removals: self.inner.limit(), least_rows, bounds: 1 },
        }
    }

    /// An answer. The function is total; it is asked about one or more rows, in the order they have here.
    /// Panics where a public number of rows is not theirs.
    pub fn run<T>(
        &self,
        rows: &[T],
        function: impl FnMut(&[&T]) -> Ratio,
        coins: &mut impl Coins,
    ) -> Outcome<Ratio> {
        if let Rows::Public { count } = self.shape.rows {
            assert_eq!(rows.len() as u64, count, "as many rows as are public");
        }
        let (size, refused) = self.size_of(rows.len() as u64, coins);
        if refused { Outcome::Refused } else { Outcome::Value(self.answer(rows, size, function, coins)) }
    }

    /// The size l for so many rows, and whether it is too large to go on.
    fn size_of(&self, rows: u64, coins: &mut impl Coins) -> (u64, bool) {
        match &self.size {
            Size::Exact { size } => (*size, false),
            Size::Noisy { law, offset, last, .. } => {
                let below = offset.saturating_add_unsigned(self.inner.limit());
                let noisy =
                    i64::try_from(rows).unwrap_or(i64::MAX).saturating_add(coins.sample(law.as_ref()));
                let size = noisy.saturating_sub(below).max(1).unsigned_abs();
                (size, size > *last)
            }
        }
    }

    /// How many rows there are beyond those that this size is meant for.
    fn excess(&self, rows: u64, size: u64) -> u64 {
        match &self.size {
            Size::Noisy { most, .. } => rows.saturating_sub(size.saturating_add(*most)),
            Size::Exact { .. } => 0,
        }
    }

    /// An answer for a size that is public.
    fn answer<T>(
        &self,
        rows: &[T],
        size: u64,
        mut function: impl FnMut(&[&T]) -> Ratio,
        coins: &mut impl Coins,
    ) -> Ratio {
        let answers = self.inner.answers();
        let excess = self.excess(rows.len() as u64, size).min(self.inner.shift() + 1);
        let left_out = (rows.len() as u64).checked_sub(size).filter(|_| excess <= self.inner.shift());
        let places = left_out.map_or(Vec::new(), |left_out| {
            let left_out = usize::try_from(left_out).expect("at most the rows");
            subsets::largest_after_removals(rows, left_out, |kept| answers.first_not_below(&function(kept)))
        });
        // Fewer rows than the size have no subset: their largest value lies below all answers.
        let reached = |removed: u64| {
            if removed >= self.inner.limit() + 1 - excess {
                0
            } else if removed < excess {
                answers.count()
            } else {
                usize::try_from(removed).ok().and_then(|removed| places.get(removed).copied()).unwrap_or(0)
            }
        };
        let reached: Vec<u64> = (0..=self.inner.limit()).map(reached).collect();
        answers.value(self.inner.choose(&reached, coins))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adjacency::Adjacency,
        coins::ScriptedWords,
        interval::{AUDIT_BITS, Interval},
        tape::{Pmf, Tape, delta_between, enumerate},
        universe::{datasets, neighbouring_pairs},
    };
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn mean(rows: &[&i64]) -> Ratio {
        Ratio::new(rows.iter().copied().sum(), rows.len() as u64)
    }

    fn parity(rows: &[&i64]) -> Ratio {
        Ratio::from(rows.iter().copied().sum::<i64>().rem_euclid(2))
    }

    fn median(rows: &[&i64]) -> Ratio {
        Ratio::from(*rows[rows.len().div_ceil(2) - 1])
    }

    /// Tells whether there are few rows: as far from a function that grows with the rows as can be.
    fn few(rows: &[&i64]) -> Ratio {
        if rows.len() <= 2 { ratio("2") } else { Ratio::zero() }
    }

    type Function = fn(&[&i64]) -> Ratio;
    const ALL: [Function; 4] = [mean, parity, median, few];

    /// Answers 0, 1/2, …, 2, and a beta that leads to a shift of one at epsilon one.
    fn shape(eps: &str, rows: Rows, evaluations: u64) -> BlackBox {
        BlackBox {
            eps: eps.parse().unwrap(),
            rows,
            answers: Answers::Even { first: Ratio::zero(), step: ratio("0.5"), count: 5 },
            beta: ratio("0.7"),
            evaluations,
        }
    }

    fn private(eps: &str) -> Rows {
        Rows::Private { eps: eps.parse().unwrap() }
    }

    #[test]
    fn hand_computed_calibrations() {
        let wide = |rows, evaluations| BlackBox {
            eps: "5".parse().unwrap(),
            rows,
            answers: Answers::Even { first: Ratio::zero(), step: Ratio::one(), count: 11 },
            beta: ratio("0.1"),
            evaluations,
        };
        // ln(10·9) = 4.4998 needs two units of 5/2, a shift of one. At epsilon one P(Z > 1) = .0989 < .1.
        let calibrated = wide(private("1"), 1_000_000).calibrate().unwrap();
        assert_eq!(
            (calibrated.inner.shift(), calibrated.accuracy()),
            (1, Accuracy { removals: 4, least_rows: 3, bounds: 3 })
        );
        assert_eq!(calibrated.cost().to_string(), "6-differential privacy");
        // 41 rows without up to five: 1 + 41 + 820 + 10660 + 101270 + 749398; 42 rows: 974982.
        assert_eq!((subsets::count(41, 36), subsets::count(42, 37)), (862_190, 974_982));
        assert!(subsets::count(43, 38) > 1_000_000);
        assert_eq!(calibrated.most_rows(), 37 + 2);
        let public = wide(Rows::Public { count: 50 }, 1276).calibrate().unwrap();
        assert_eq!(public.accuracy(), Accuracy { removals: 2, least_rows: 3, bounds: 1 });
        assert_eq!(public.cost().to_string(), "5-differential privacy");
        for (rows, evaluations) in [(Rows::Public { count: 50 }, 1275), (private("1"), 62)] {
            let error = wide(rows, evaluations).calibrate().unwrap_err().to_string();
            assert_eq!(
                error,
                format!(
                    "number of evaluations {evaluations} is not accepted: subsets without a few rows outnumber it; \
                     allow more, or give a larger epsilon or fewer answers"
                )
            );
        }
    }

    #[test]
    fn the_inverse_question_agrees() {
        for rows in [private("1"), Rows::Public { count: 9 }] {
            let shape = BlackBox { beta: ratio("0.1"), ..shape("3", rows, 1 << 40) };
            let eps = shape.eps_for(6).unwrap();
            let now = if shape.rows == private("1") { ratio("4") } else { ratio("3") };
            let part = eps.ratio() / &now;
            let scaled = |eps: &Eps| Eps::new(eps.ratio() * &part).unwrap();
            let rows = match &shape.rows {
                Rows::Private { eps } => Rows::Private { eps: scaled(eps) },
                public @ Rows::Public { .. } => public.clone(),
            };
            let here = BlackBox { eps: scaled(&shape.eps), rows, ..shape.clone() };
            assert!(here.calibrate().unwrap().accuracy().removals <= 6);
        }
    }

    /// The worst delta and the largest loss over neighbours.
    fn worst<Y: Ord>(
        eps: &str,
        (values, size): (&[i64], usize),
        adjacency: Adjacency,
        run: impl Fn(&[i64], &mut Tape) -> Y,
    ) -> (Interval, f64) {
        let mut seen: BTreeMap<Vec<i64>, Pmf<Y>> = BTreeMap::new();
        let (mut delta, mut loss) = (Interval::zero(AUDIT_BITS), 0f64);
        for (a, b) in neighbouring_pairs(values, size, adjacency) {
            for rows in [&a, &b] {
                seen.entry(rows.clone()).or_insert_with(|| enumerate(&ratio("1e-9"), |tape| run(rows, tape)));
            }
            delta = delta.max(&delta_between(&ratio(eps), &seen[&a], &seen[&b]));
            loss = loss.max(seen[&a].largest_loss(&seen[&b])).max(seen[&b].largest_loss(&seen[&a]));
        }
        (delta, loss)
    }

    #[test]
    fn exact_audit_for_each_size_also_where_rows_are_too_many() {
        let calibrated = shape("1", private("1"), 1 << 20).calibrate().unwrap();
        let Size::Noisy { most, .. } = calibrated.size else { unreachable!() };
        assert_eq!((calibrated.inner.shift(), most), (1, 2));
        // From four rows on the lengths are confined, from five on nothing is computed.
        for (function, size) in ALL.iter().flat_map(|f| (1..3).map(move |size| (f, size))) {
            let (delta, _) = worst("1", (&[0, 1, 2], 6), Adjacency::AddRemove, |rows, tape| {
                calibrated.answer(rows, size, function, tape)
            });
            assert!(delta.upper() < ratio("1e-9"), "{size}: {}", delta.to_f64());
        }
    }

    #[test]
    fn exact_audit_under_both_adjacencies() {
        for function in ALL {
            // A size is meant for two rows more, and looks at one more yet: sizes above four are refused.
            let calibrated = shape("1", private("1"), 64).calibrate().unwrap();
            assert_eq!(calibrated.most_rows(), 4 + 2);
            let (delta, loss) = worst("2", (&[0, 1], 7), Adjacency::AddRemove, |rows, tape| {
                calibrated.run(rows, function, tape)
            });
            assert!(delta.upper() < ratio("1e-6"), "{} at {loss}", delta.to_f64());
            for count in 1..5 {
                let calibrated = shape("1", Rows::Public { count }, 200).calibrate().unwrap();
                let size = usize::try_from(count).unwrap();
                let (delta, _) = worst("1", (&[0, 1, 2], size), Adjacency::Replace, |rows, tape| {
                    calibrated.run(rows, function, tape)
                });
                assert!(delta.upper() < ratio("1e-9"));
            }
        }
    }

    #[test]
    fn exact_losses_at_epsilon_one_if_the_size_were_published_too() {
        let calibrated = shape("0.5", private("0.5"), 1 << 40).calibrate().unwrap();
        for (function, expected) in ALL.iter().zip([0.75, 0.661, 0.75, 0.75]) {
            let (_, loss) = worst("1", (&[0, 1], 4), Adjacency::AddRemove, |rows, tape| {
                let (size, _) = calibrated.size_of(rows.len() as u64, tape);
                (size, calibrated.answer(rows, size, function, tape))
            });
            assert!((loss - expected).abs() < 5e-4, "{loss} {expected}");
        }
    }

    #[test]
    fn a_mutant_that_counts_the_evaluations_it_would_really_take_is_caught() {
        let calibrated = shape("1", private("1"), 20).calibrate().unwrap();
        let (delta, _) = worst("2", (&[0, 1], 6), Adjacency::AddRemove, |rows, tape| {
            let (size, _) = calibrated.size_of(rows.len() as u64, tape);
            if subsets::count(rows.len() as u64, size) > 20 {
                return Outcome::Refused;
            }
            Outcome::Value(calibrated.answer(rows, size, mean, tape))
        });
        assert!(delta.lower() > ratio("0.01"), "{}", delta.to_f64());
    }

    #[test]
    fn a_mutant_that_takes_a_private_number_of_rows_for_a_public_one_is_caught() {
        // A shift of two. Six rows have subsets of two, seven have none that is looked at.
        let (delta, _) = worst("1", (&[0], 7), Adjacency::AddRemove, |rows, tape| {
            let rows_public = Rows::Public { count: rows.len() as u64 };
            let mutant = BlackBox { beta: ratio("0.5"), ..shape("1", rows_public, 200) };
            mutant.calibrate().unwrap().run(rows, few, tape)
        });
        assert!((delta.to_f64() - 0.208).abs() < 1e-3, "{}", delta.to_f64());
    }

    #[test]
    fn the_answer_keeps_to_its_bounds() {
        for (rows, bounds) in [(private("4"), 3.0), (Rows::Public { count: 5 }, 1.0)] {
            let shape = BlackBox { beta: ratio("0.1"), ..shape("6", rows, 1 << 30) };
            let calibrated = shape.calibrate().unwrap();
            let removals = usize::try_from(calibrated.accuracy().removals).unwrap();
            assert!(removals < 5 && calibrated.accuracy().least_rows <= 5);
            for (rows, function) in
                datasets(&[0, 1, 2], 5, Adjacency::Replace).iter().flat_map(|d| ALL.map(|f| (d, f)))
            {
                let kept = (0u32..32).filter(|kept| kept.count_ones() as usize + removals >= 5);
                let values: Vec<Ratio> = kept
                    .map(|kept| {
                        let kept: Vec<&i64> = rows
                            .iter()
                            .enumerate()
                            .filter(|(i, _)| kept >> i & 1 == 1)
                            .map(|(_, r)| r)
                            .collect();
                        function(&kept)
                    })
                    .collect();
                let (low, high) = (values.iter().min().unwrap(), values.iter().max().unwrap());
                let pmf = enumerate(&ratio("1e-9"), |tape| calibrated.run(rows, function, tape));
                let outside = pmf.iter().filter(|(answer, _)| match answer {
                    Outcome::Value(answer) => answer < low || *answer >= high + &ratio("0.5"),
                    Outcome::Refused => true,
                });
                assert!(outside.map(|(_, mass)| mass.to_f64()).sum::<f64>() <= 0.1 * bounds, "{rows:?}");
            }
        }
    }

    #[test]
    fn fewer_rows_than_may_be_removed_are_not_covered_by_the_accuracy() {
        // Two rows of 2, where up to two may be removed: what is left of them is nothing, and 2 is rarely said.
        let two = shape("6", Rows::Public { count: 2 }, 99);
        let calibrated = BlackBox { beta: ratio("0.1"), ..two }.calibrate().unwrap();
        assert_eq!(calibrated.accuracy(), Accuracy { removals: 2, least_rows: 3, bounds: 1 });
        let pmf = enumerate(&ratio("1e-9"), |tape| calibrated.run(&[2, 2], mean, tape));
        let outside = pmf.iter().filter(|(answer, _)| **answer != Outcome::Value(ratio("2")));
        let missed = outside.map(|(_, mass)| mass.to_f64()).sum::<f64>();
        assert!(missed > 0.16, "more than its beta of 0.1: {missed}");
    }

    #[test]
    fn edges_and_a_scripted_run() {
        let calibrated = shape("1", private("1"), 1 << 20).calibrate().unwrap();
        let none: [i64; 0] = [];
        // No rows: noise, then an answer as if the value were the lowest; the function is not asked.
        let never = |_: &[&i64]| unreachable!("there is no subset with a row");
        let mut coins = ScriptedWords::new(vec![0, 0, 9, 9, 9, 9, 9]);
        assert_eq!(calibrated.run(&none, never, &mut coins), Outcome::Value(Ratio::zero()));
        let public = shape("1", Rows::Public { count: 0 }, 1).calibrate().unwrap();
        let mut coins = ScriptedWords::new(vec![9; 5]);
        assert_eq!(public.run(&none, never, &mut coins), Outcome::Value(Ratio::zero()));
        assert_eq!(public.most_rows(), u64::MAX);
        // Far more rows than the noise of a size of one leaves room for: nothing is asked, nothing overflows.
        let many = vec![1i64; 5000];
        let mut coins = ScriptedWords::new(vec![9; 5]);
        assert!(calibrated.answer(&many, 1, never, &mut coins) <= ratio("2"));
    }

    #[test]
    #[should_panic(expected = "as many rows as are public")]
    fn a_public_number_of_rows_is_theirs() {
        let calibrated = shape("1", Rows::Public { count: 3 }, 99).calibrate().unwrap();
        let _ = calibrated.run(&[1i64], mean, &mut ScriptedWords::new(vec![]));
    }
}
