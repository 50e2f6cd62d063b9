//! Runs a mechanism on a secret random sample of the records, which loses less than running it on all.
//!
//! Source: 003_82bbcee9e9852ea0.txt, "DP-Stability Amplification", Algorithm B; Balle, Barthe and Gaboardi,
//! "Privacy amplification by subsampling" (2018).
//!
//! # Guarantee
//!
//! If what runs inside keeps [`InnerLoss`] on data of every size that a sample can have, the output has the
//! loss `cost()` under the adjacency of the parameters.
//! - [`PoissonSampled`] keeps each record with probability p. Add/remove: `(ln(1 + p·(e^eps - 1)), p·delta)`.
//!   Replace: the inner mechanism must be private under add/remove as well.
//! - [`SubsetSampled`] keeps a fixed number of a public number of records. Replace only.
//!
//! # Why
//!
//! 1. Each record is in the sample with probability p, whatever the records are; the coins are fresh.
//! 2. Nobody sees the sample, so the output is a mixture of runs with and without a record.
//! 3. The crate's `amplify` module bounds the loss of that mixture.
//!
//! # Differs
//!
//! The source claims (p, p·delta) from (1, delta); an audit below refutes it. It does not name the adjacency;
//! a mechanism that is private under replace alone may reveal the size of its sample, then Poisson sampling
//! gains nothing, and calibration refuses it.
//!
//! One decision per record on every path, whatever is kept (grade 1). The inner mechanism's running time
//! must not reveal the size of a Poisson sample.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{
//!     adjacency::Adjacency,
//!     coins::ScriptedWords,
//!     loss::Approx,
//!     mechanism::sampled::{InnerLoss, PoissonSampled},
//! };
//!
//! let inner = Approx::new(&"1".parse()?, &"0".parse()?);
//! let sampled = PoissonSampled {
//!     rate: "0.5".parse()?,
//!     adjacency: Adjacency::AddRemove,
//!     inner: InnerLoss::add_remove(inner),
//! };
//! let calibrated = sampled.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "0.620115-differential privacy");
//! let mut coins = ScriptedWords::new(vec![0, u64::MAX, 1]);
//! let kept = calibrated.run(&["a", "b", "c"], |sample, _| sample.len(), &mut coins);
//! assert_eq!(kept, 2); // a real inner mechanism would add noise here
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use crate::{
    adjacency::Adjacency,
    amplify::{fixed_size_replace, poisson_add_remove, poisson_replace, rate_of},
    chance::Odds,
    coins::Coins,
    loss::{Approx, Loss, ParameterError, Rate},
    ratio::Ratio,
};

/// What the inner mechanism loses under each relation, as far as it is private under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerLoss {
    /// When a record of the sample comes or goes.
    pub add_remove: Option<Approx>,
    /// When a record of the sample takes another value.
    pub replace: Option<Approx>,
}

impl InnerLoss {
    /// Private under add/remove; under replace follows at the price of two steps.
    pub fn add_remove(loss: Approx) -> Self {
        Self { add_remove: Some(loss), replace: None }
    }

    /// Private under replace alone: the size of its data may show.
    pub fn replace(loss: Approx) -> Self {
        Self { add_remove: None, replace: Some(loss) }
    }

    /// Private under both, with a loss for each.
    pub fn both(add_remove: Approx, replace: Approx) -> Self {
        Self { add_remove: Some(add_remove), replace: Some(replace) }
    }
}

/// Each record is kept with probability `rate`, independently.
#[derive(Clone, Debug)]
pub struct PoissonSampled {
    /// The probability of keeping a record.
    pub rate: Rate,
    /// The adjacency wanted of the whole.
    pub adjacency: Adjacency,
    /// What runs on the sample.
    pub inner: InnerLoss,
}

/// A fixed number of records is kept, every set of that size equally likely.
#[derive(Clone, Debug)]
pub struct SubsetSampled {
    /// How many records are kept.
    pub size: u64,
    /// How many there are: public.
    pub rows: u64,
    /// The adjacency wanted of the whole; only replace will do.
    pub adjacency: Adjacency,
    /// What runs on the sample.
    pub inner: InnerLoss,
}

/// A Poisson sampler with its certified cost.
#[derive(Clone, Debug)]
pub struct CalibratedPoisson {
    keep: Odds,
    rate: Rate,
    cost: Approx,
}

/// A subset sampler with its certified cost.
#[derive(Clone, Debug)]
pub struct CalibratedSubset {
    size: u64,
    rows: u64,
    cost: Approx,
}

/// The size of a sample, for accuracy hints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleSize {
    /// Its expectation.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
}

impl PoissonSampled {
    /// The cost, or why there is none. Sees no data.
    pub fn calibrate(self) -> Result<CalibratedPoisson, ParameterError> {
        let Some(add_remove) = &self.inner.add_remove else {
            if self.inner.replace.is_none() {
                return Err(no_inner_loss());
            }
            return Err(ParameterError::out_of_range(
                "inner mechanism",
                "private under replace only",
                "its sample's size may show, and it is random; use one that is private under add-remove, or a sample of fixed size",
            ));
        };
        let amplified = poisson_add_remove(add_remove, &self.rate);
        let cost = match self.adjacency {
            Adjacency::AddRemove => amplified,
            Adjacency::Replace => {
                // Two proofs; keep the sharper where they can be ordered.
                let two_steps = amplified.two_steps();
                let direct = self.inner.replace.as_ref().map(|r| poisson_replace(add_remove, r, &self.rate));
                direct
                    .filter(|direct| direct.eps < two_steps.eps || direct.delta < two_steps.delta)
                    .unwrap_or(two_steps)
            }
        };
        Ok(CalibratedPoisson { keep: Odds::new(self.rate.ratio()), rate: self.rate, cost })
    }
}

impl CalibratedPoisson {
    /// The loss of the sampled mechanism.
    pub fn cost(&self) -> Loss {
        Loss::Approx(self.cost.clone())
    }

    /// Draw a sample, keep the order, and run `inner` on it.
    pub fn run<T: Clone, Y, C: Coins>(
        &self,
        records: &[T],
        inner: impl FnOnce(&[T], &mut C) -> Y,
        coins: &mut C,
    ) -> Y {
        let sample: Vec<T> = records.iter().filter(|_| coins.bernoulli(&self.keep)).cloned().collect();
        inner(&sample, coins)
    }

    /// How many of so many records a sample keeps.
    pub fn accuracy(&self, rows: u64) -> SampleSize {
        let (rate, rows) = (self.rate.ratio().to_f64(), rows as f64);
        SampleSize { mean: rows * rate, deviation: (rows * rate * (1.0 - rate)).sqrt() }
    }
}

impl SubsetSampled {
    /// The cost, or why there is none. Sees no data.
    pub fn calibrate(self) -> Result<CalibratedSubset, ParameterError> {
        rate_of(self.size, self.rows)?;
        if self.adjacency == Adjacency::AddRemove {
            return Err(ParameterError::out_of_range(
                "adjacency",
                self.adjacency,
                "a sample of fixed size needs a public number of rows; use replace, or keep each record with a probability",
            ));
        }
        let by_two_steps = || self.inner.add_remove.as_ref().map(Approx::two_steps);
        let Some(base) = self.inner.replace.clone().or_else(by_two_steps) else {
            return Err(no_inner_loss());
        };
        let cost = fixed_size_replace(&base, self.size, self.rows)?;
        Ok(CalibratedSubset { size: self.size, rows: self.rows, cost })
    }
}

fn no_inner_loss() -> ParameterError {
    let next = "sampling makes a private mechanism more private, it does not make one; give its loss";
    ParameterError::out_of_range("inner mechanism", "without any loss", next)
}

impl CalibratedSubset {
    /// The loss of the sampled mechanism.
    pub fn cost(&self) -> Loss {
        Loss::Approx(self.cost.clone())
    }

    /// Draw a sample, keep the order, and run `inner` on it.
    ///
    /// Panics unless there are as many records as calibrated for; their number is public.
    pub fn run<T: Clone, Y, C: Coins>(
        &self,
        records: &[T],
        inner: impl FnOnce(&[T], &mut C) -> Y,
        coins: &mut C,
    ) -> Y {
        assert_eq!(records.len() as u64, self.rows, "calibrated for another number of rows");
        let (mut wanted, mut left) = (self.size, self.rows);
        let mut sample = Vec::new();
        for record in records {
            // A record is kept with the share of places that are still free among the records still to come.
            if coins.bernoulli(&Odds::new(&(Ratio::from(wanted) / Ratio::from(left)))) {
                sample.push(record.clone());
                wanted -= 1;
            }
            left -= 1;
        }
        inner(&sample, coins)
    }

    /// How many records a sample keeps: always the same number.
    pub fn accuracy(&self) -> SampleSize {
        SampleSize { mean: self.size as f64, deviation: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        chance::{Chance, Enclosed, ExpNeg},
        coins::ScriptedWords,
        interval::Interval,
        loss::Amount,
        tape::{Pmf, Tape, delta_between, enumerate},
        universe::neighbouring_pairs,
    };

    const BITS: [i64; 2] = [0, 1];

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn loss(eps: &str, delta: &str) -> Approx {
        let amount = |text: &str| Amount::new(ratio(text)).unwrap();
        Approx { eps: amount(eps), delta: amount(delta) }
    }

    fn poisson(rate: &str, adjacency: Adjacency, inner: InnerLoss) -> CalibratedPoisson {
        PoissonSampled { rate: rate.parse().unwrap(), adjacency, inner }.calibrate().unwrap()
    }

    fn subset(size: u64, rows: u64, inner: InnerLoss) -> CalibratedSubset {
        SubsetSampled { size, rows, adjacency: Adjacency::Replace, inner }.calibrate().unwrap()
    }

    /// Says whether `bit` holds, truthfully with probability e/(1 + e): 1-DP and no better.
    fn respond(bit: bool, coins: &mut impl Coins) -> bool {
        let truth = Enclosed::new(|bits| {
            let decay = ExpNeg::new(&Ratio::one()).enclose(bits);
            Interval::one(bits).div(&decay.add(&Interval::one(bits)))
        });
        coins.bernoulli(&truth) == bit
    }

    fn any_one(sample: &[i64], coins: &mut Tape) -> bool {
        respond(sample.contains(&1), coins)
    }

    /// Tells the truth and says so with probability 1/10: (1, 0.1)-DP and no better.
    fn any_one_or_leak(sample: &[i64], coins: &mut Tape) -> (bool, bool) {
        let leak = coins.bernoulli(&Odds::new(&ratio("0.1")));
        (leak, if leak { sample.contains(&1) } else { any_one(sample, coins) })
    }

    /// One response about ones and one about zeros: a replacement changes both.
    fn two_questions(sample: &[i64], coins: &mut Tape) -> (bool, bool) {
        (respond(sample.contains(&0), coins), any_one(sample, coins))
    }

    /// Private under replace, but shows how many records it was given.
    fn with_size(sample: &[i64], coins: &mut Tape) -> (usize, bool) {
        (sample.len(), any_one(sample, coins))
    }

    /// The worst delta at `eps` over every neighbouring pair of up to three records.
    fn audit<Y: Ord>(
        eps: &Ratio,
        rows: usize,
        adjacency: Adjacency,
        run: impl Fn(&[i64], &mut Tape) -> Y,
    ) -> Interval {
        let pmf = |data: &[i64]| -> Pmf<Y> { enumerate(&ratio("1e-30"), |tape| run(data, tape)) };
        neighbouring_pairs(&BITS, rows, adjacency)
            .into_iter()
            .map(|(a, b)| delta_between(eps, &pmf(&a), &pmf(&b)))
            .reduce(|a, b| a.max(&b))
            .expect("some pair")
    }

    fn just_below(eps: &Amount) -> Ratio {
        eps.ratio() * &(Ratio::one() - ratio("1e-9"))
    }

    #[test]
    fn exact_audit_of_poisson_sampling_and_of_the_printed_claim_its_mutant() {
        for (rate, eps, at_printed) in [
            ("0.1", 0.1586, 0.0179),
            ("0.25", 0.3574, 0.0391),
            ("0.5", 0.6201, 0.0566),
            ("0.9", 0.9347, 0.0234),
        ] {
            for adjacency in Adjacency::ALL {
                let inner = InnerLoss::both(loss("1", "0"), loss("1", "0"));
                let calibrated = poisson(rate, adjacency, inner);
                let run = |data: &[i64], tape: &mut Tape| calibrated.run(data, any_one, tape);
                let claim = &calibrated.cost.eps;
                assert!((claim.ratio().to_f64() - eps).abs() < 5e-5 && calibrated.cost.delta.is_zero());
                assert!(audit(claim.ratio(), 3, adjacency, run).upper().is_zero(), "{rate} {adjacency}");
                assert!(audit(&just_below(claim), 3, adjacency, run).lower().is_positive());
                // The mutant: the source's claim, epsilon equal to the rate, fails by this much.
                let printed = audit(&ratio(rate), 3, adjacency, run);
                assert!((printed.lower().to_f64() - at_printed).abs() < 5e-5, "{rate} {adjacency}");
            }
        }
    }

    #[test]
    fn a_delta_shrinks_with_the_rate_and_no_further() {
        let calibrated = poisson("0.25", Adjacency::AddRemove, InnerLoss::add_remove(loss("1", "0.1")));
        let (eps, delta) = (calibrated.cost.eps.ratio(), calibrated.cost.delta.ratio());
        assert_eq!(*delta, ratio("0.025"));
        let run = |data: &[i64], tape: &mut Tape| calibrated.run(data, any_one_or_leak, tape);
        let audited = audit(eps, 3, Adjacency::AddRemove, run);
        let noise = ratio("1e-30");
        assert!(audited.upper() <= delta + &noise && audited.lower() >= delta - &noise);
        // The source's claim (rate, rate·delta) fails by the epsilon as before, and so does half the delta.
        assert!(audit(&ratio("0.25"), 3, Adjacency::AddRemove, run).lower() > ratio("0.06"));
    }

    #[test]
    fn a_replacement_of_two_answers_costs_two_steps() {
        let inner = InnerLoss::both(loss("1", "0"), loss("2", "0"));
        let calibrated = poisson("0.25", Adjacency::Replace, inner);
        let claim = calibrated.cost.eps.ratio();
        assert!((claim.to_f64() - 2.0 * 0.3574).abs() < 1e-4);
        let run = |data: &[i64], tape: &mut Tape| calibrated.run(data, two_questions, tape);
        assert!(audit(claim, 2, Adjacency::Replace, run).upper().is_zero());
        // The mutant: the bound of add/remove, as if a replacement were one step.
        let one_step = claim / &ratio("2");
        assert!(audit(&one_step, 2, Adjacency::Replace, run).lower() > ratio("0.01"));
    }

    #[test]
    fn a_mechanism_that_shows_its_size_is_refused_and_would_gain_nothing() {
        for adjacency in Adjacency::ALL {
            let inner = InnerLoss::replace(loss("1", "0"));
            let refused = PoissonSampled { rate: "0.1".parse().unwrap(), adjacency, inner }.calibrate();
            assert_eq!(
                refused.unwrap_err().to_string(),
                "inner mechanism private under replace only is not accepted: its sample's size may show, and it is random; \
                 use one that is private under add-remove, or a sample of fixed size"
            );
        }
        // Had it been accepted: one record, replaced, at the amplified epsilon and just below one.
        for (rate, figure) in [("0.1", 0.0416), ("0.5", 0.1155)] {
            let accepted = poisson(rate, Adjacency::Replace, InnerLoss::both(loss("1", "0"), loss("1", "0")));
            let run = |data: &[i64], tape: &mut Tape| accepted.run(data, with_size, tape);
            let audited = audit(accepted.cost.eps.ratio(), 1, Adjacency::Replace, run);
            assert!((audited.lower().to_f64() - figure).abs() < 5e-5, "{rate}");
            assert!(audit(&ratio("0.999999"), 1, Adjacency::Replace, run).lower().is_positive());
        }
    }

    #[test]
    fn a_fixed_size_keeps_its_claim_even_if_the_size_shows() {
        for (size, rows) in [(1, 3), (2, 3), (2, 4), (3, 3)] {
            let calibrated = subset(size, rows, InnerLoss::replace(loss("1", "0")));
            let claim = &calibrated.cost.eps;
            let run = |data: &[i64], tape: &mut Tape| calibrated.run(data, with_size, tape);
            let count = usize::try_from(rows).unwrap();
            let noise = ratio("1e-50"); // at size = rows the claim is exact and unrounded
            assert!(audit(claim.ratio(), count, Adjacency::Replace, run).upper() < noise, "{size} {rows}");
            assert!(audit(&just_below(claim), count, Adjacency::Replace, run).lower().is_positive());
            // The mutant: one row too many in the rate.
            let wrong = fixed_size_replace(&loss("1", "0"), size, rows + 1).unwrap();
            assert!(audit(wrong.eps.ratio(), count, Adjacency::Replace, run).lower() > ratio("0.01"));
        }
        // From add/remove alone, through two steps.
        let doubled = subset(1, 4, InnerLoss::add_remove(loss("0.5", "0")));
        assert_eq!(doubled.cost, subset(1, 4, InnerLoss::replace(loss("1", "0"))).cost);
    }

    #[test]
    fn every_subset_is_equally_likely_after_one_decision_per_record() {
        let calibrated = subset(2, 5, InnerLoss::replace(loss("1", "0")));
        let pmf = enumerate(&ratio("1e-30"), |tape| {
            let sample = calibrated.run(&[1, 2, 3, 4, 5], |sample, _| sample.to_vec(), tape);
            assert_eq!(tape.decisions(), 5);
            sample
        });
        assert_eq!(pmf.iter().count(), 10);
        assert!(pmf.iter().all(|(_, mass)| mass.lower() <= ratio("0.1") && ratio("0.1") <= mass.upper()));
        let calibrated = poisson("0.1", Adjacency::AddRemove, InnerLoss::add_remove(loss("1", "0")));
        let pmf = enumerate(&ratio("1e-30"), |tape| {
            let sample = calibrated.run(&[1, 2, 3], |sample, _| sample.to_vec(), tape);
            assert_eq!(tape.decisions(), 3);
            sample
        });
        assert!((pmf.mass(&vec![2]).to_f64() - 0.081).abs() < 1e-15);
    }

    #[test]
    fn edges_and_refusals() {
        let pure = InnerLoss::replace(loss("1", "0"));
        let error = |size, rows, adjacency, inner: &InnerLoss| {
            SubsetSampled { size, rows, adjacency, inner: inner.clone() }.calibrate().unwrap_err().to_string()
        };
        assert_eq!(
            error(4, 3, Adjacency::Replace, &pure),
            "sample size 4 is not accepted: give at least 1 and at most the number of rows"
        );
        assert_eq!(
            error(1, 3, Adjacency::AddRemove, &pure),
            "adjacency add-remove is not accepted: a sample of fixed size needs a public number of rows; \
             use replace, or keep each record with a probability"
        );
        assert_eq!(
            error(1, 3, Adjacency::Replace, &InnerLoss { add_remove: None, replace: None }),
            "inner mechanism without any loss is not accepted: \
             sampling makes a private mechanism more private, it does not make one; give its loss"
        );
        let nothing = InnerLoss { add_remove: None, replace: None };
        let rate = "0.5".parse().unwrap();
        let refused = PoissonSampled { rate, adjacency: Adjacency::AddRemove, inner: nothing }.calibrate();
        assert_eq!(refused.unwrap_err(), no_inner_loss());
        let all = poisson("1", Adjacency::AddRemove, InnerLoss::add_remove(loss("1", "0.5")));
        assert_eq!(all.cost, loss("1", "0.5"));
        assert_eq!(all.accuracy(10), SampleSize { mean: 10.0, deviation: 0.0 });
        let empty: [i64; 0] = [];
        assert_eq!(all.run(&empty, |sample, _| sample.len(), &mut ScriptedWords::new(vec![])), 0);
        assert_eq!(subset(2, 5, pure).accuracy(), SampleSize { mean: 2.0, deviation: 0.0 });
    }

    #[test]
    fn a_scripted_tape_keeps_the_records_it_should() {
        let half = poisson("0.5", Adjacency::AddRemove, InnerLoss::add_remove(loss("1", "0")));
        let mut coins = ScriptedWords::new(vec![1 << 62, 3 << 62, (1 << 63) - 1, 7]);
        let kept = half.run(
            &["a", "b", "c"],
            |sample, coins: &mut ScriptedWords| (sample.to_vec(), coins.bits(64)),
            &mut coins,
        );
        assert_eq!((kept, coins.used()), ((vec!["a", "c"], 7), 4));
        // One of three: 1/3 fails, 1/2 holds, then nothing is left to keep.
        let one = subset(1, 3, InnerLoss::replace(loss("1", "0")));
        let mut coins = ScriptedWords::new(vec![1 << 63, 1 << 62, 0, 0]);
        assert_eq!(one.run(&[10, 20, 30], |sample, _| sample.to_vec(), &mut coins), vec![20]);
    }
}
