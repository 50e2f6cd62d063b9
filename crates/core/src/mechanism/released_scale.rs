//! Releases a noisy smooth bound first, and then the statistic with Laplace noise at that bound: light tails and a
//! public error bar; never a refusal.
//!
//! Source: 002_c9075a084346ce80.txt, sections 1.5 (privately bound the sensitivity) and 1.6; Vadhan 2017, 7.3.4.
//!
//! # Guarantee
//!
//! (eps_scale + eps_value, delta)-DP for both numbers together, under the adjacency of the bound, for every value in
//! the range and every bound made by [`Calibrated::decay`].
//!
//! # Why
//!
//! 1. The logarithm of the bound moves by at most beta between neighbours. Rounded up to within u = 2^-63 it moves
//!    by at most beta + u, so Laplace noise of scale (beta + u)/eps_scale hides it with eps_scale.
//! 2. A public margin is added, and the sum rounded to a public grid and moved into public limits: post-processing.
//!    The released bound is at least e to the result.
//! 3. The margin is (beta + u)/eps_scale·ln(1/(2 delta)) and half a grid step, so the released bound is below the true
//!    one with probability at most delta: the noise must fall below minus the first part.
//! 4. Where it is not below, the value moves by at most the released bound between neighbours, so Laplace noise at
//!    released bound/eps_value hides it with eps_value. The event of step 3 is the same delta for both numbers.
//!
//! # Differs
//!
//! The text bounds the local sensitivity itself, which for a median jumps by the whole range between neighbours; the
//! logarithm of a smooth bound does not.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, ratio::Ratio, stability::{Median, Range}};
//! use equipoise_core::mechanism::released_scale::ReleasedScale;
//!
//! let range = Range::new(0, 200_000)?;
//! let mechanism = ReleasedScale {
//!     eps_scale: "0.5".parse()?,
//!     eps_value: "0.5".parse()?,
//!     delta: "1e-6".parse()?,
//!     beta: "0.02".parse()?,
//!     range: Some(range),
//!     grid: Ratio::one(),
//! };
//! let calibrated = mechanism.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "(1, 0.000001)-differential privacy");
//! let rows: Vec<i64> = (0..10_000).map(|person| 20 * person).collect();
//! let window = Median.window(&rows, range, calibrated.decay().reach(Median.quantile(), Adjacency::AddRemove));
//! let bound = calibrated.decay().median(&window, Adjacency::AddRemove);
//! # let mut coins = ScriptedWords::new(vec![1 << 63, 0, 1 << 63, 0]);
//! let released = calibrated.run(&Ratio::from(window.target().or(0)), &bound, &mut coins);
//! // The error bar belongs to the release: it tells nothing new.
//! let error = calibrated.accuracy(&released, &"0.05".parse()?);
//! # assert_eq!(error.ceil_i64(), Some(3804));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::outputs::Outputs;
use crate::{
    coins::Coins,
    interval::{exp_upper, ln_upper, point},
    loss::{Delta, Eps, Loss, ParameterError, significant_down},
    ratio::Ratio,
    sampler::{
        laplace_real::RealLaplace,
        real::{Placement, Rounded},
    },
    solve,
    stability::{
        Range,
        smooth::{Bound, Decay},
    },
};
use dashu_base::UnsignedAbs;
use dashu_int::UBig;
use std::ops::RangeInclusive;

/// The logarithm of a bound is rounded up by at most 2^-63.
const LOG_BITS: usize = 64;
/// The released logarithm is a multiple of this part of its noise's scale, or less.
const STEPS_PER_SCALE: u64 = 8;

/// Parameters of the mechanism; all public.
#[derive(Clone, Debug)]
pub struct ReleasedScale {
    /// Privacy of the released bound.
    pub eps_scale: Eps,
    /// Privacy of the value.
    pub eps_value: Eps,
    /// The probability that the released bound is too small; above zero.
    pub delta: Delta,
    /// How fast the bound may change between neighbours.
    pub beta: Ratio,
    /// The range of the statistic; without one, a smooth bound is infinite.
    pub range: Option<Range>,
    /// Answers are multiples of this.
    pub grid: Ratio,
}

/// A mechanism ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    cost: Loss,
    eps_value: Eps,
    /// The noise of the logarithm.
    log_scale: Ratio,
    margin: Ratio,
    log_grid: Ratio,
    decay: Decay,
    outputs: Outputs,
}

/// What is released: both numbers are public from here on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Released {
    /// The noisy value, a multiple of the grid.
    pub value: Ratio,
    /// The noisy bound that the noise of the value was made with.
    pub bound: Ratio,
}

impl ReleasedScale {
    /// Compute the noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let outputs = Outputs::new(self.range, &self.grid)?;
        if self.delta.is_zero() {
            return Err(ParameterError::out_of_range(
                "delta",
                &self.delta,
                "a released bound is too small with some probability, so give a delta such as 1e-6; or use the \
                 smooth mechanism with Cauchy, Student or PolyPlace noise",
            ));
        }
        if self.beta < Ratio::new(1, 1_000_000_000) {
            return Err(ParameterError::out_of_range(
                "beta",
                &self.beta,
                "give at least 1e-9, such as a tenth of epsilon",
            ));
        }
        let decay = Decay::for_range(&self.beta, outputs.range)?;
        let log_scale = (&self.beta + &Ratio::dyadic(2.into(), LOG_BITS)) / self.eps_scale.ratio();
        let log_grid = significant_down(&(&log_scale / &Ratio::from(STEPS_PER_SCALE)), 1);
        let tail = ln_upper(&(self.delta.ratio() * &Ratio::from(2u64)).recip()).max(Ratio::zero());
        Ok(Calibrated {
            cost: Loss::pure(&self.eps_scale).compose(&Loss::approx(&self.eps_value, &self.delta)),
            eps_value: self.eps_value.clone(),
            margin: tail * &log_scale + &log_grid * &Ratio::new(1, 2),
            log_scale,
            log_grid,
            decay,
            outputs,
        })
    }

    /// The least epsilon in all (six digits), split as here, whose error is within `error` with probability
    /// 1 - failure, if the smooth bound at this beta is `bound`: a guess, since the real one is private.
    pub fn eps_for(&self, error: &Ratio, bound: &Ratio, failure: &Ratio) -> Option<Eps> {
        let total = self.eps_scale.ratio() + self.eps_value.ratio();
        let share = self.eps_scale.ratio() / &total;
        let split = |eps: &Eps| -> Option<Self> {
            let eps_scale = Eps::new(eps.ratio() * &share).ok()?;
            let eps_value = Eps::new(eps.ratio() - eps_scale.ratio()).ok()?;
            Some(Self { eps_scale, eps_value, ..self.clone() })
        };
        solve::smallest_eps(|eps| {
            let calibrated = split(eps).and_then(|here| here.calibrate().ok());
            calibrated.is_some_and(|here| here.accuracy_for(bound, failure) <= *error)
        })
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        self.cost.clone()
    }

    /// The weights that the bound of a run is made with.
    pub fn decay(&self) -> &Decay {
        &self.decay
    }

    /// The noisy value and the noisy bound. Panics if the bound was made with another beta, which is public.
    pub fn run(&self, value: &Ratio, bound: &Bound, coins: &mut impl Coins) -> Released {
        assert_eq!(bound.beta(), self.decay.beta(), "the bound is made by the decay of this mechanism");
        let bound = self.release_bound(bound, coins);
        let Outputs { range, grid, clamp } = &self.outputs;
        let center = value.clone().max(range.lo().into()).min(range.hi().into());
        let scale = &bound / self.eps_value.ratio();
        let placement = Placement { center, scale, grid: grid.clone(), clamp: clamp.clone() };
        let multiple = coins.sample(&Rounded::new(RealLaplace, placement));
        Released { value: Ratio::from(multiple) * grid, bound }
    }

    fn release_bound(&self, bound: &Bound, coins: &mut impl Coins) -> Ratio {
        if bound.most().is_zero() {
            return Ratio::zero();
        }
        let placement = Placement {
            center: log_up(bound.value()) + &self.margin,
            scale: self.log_scale.clone(),
            grid: self.log_grid.clone(),
            clamp: self.limits(bound),
        };
        let multiple = coins.sample(&Rounded::new(RealLaplace, placement));
        self.bound_at(multiple, bound.most())
    }

    /// The multiples that the logarithm of a bound can take, from the least bound to the largest.
    fn limits(&self, bound: &Bound) -> RangeInclusive<i64> {
        let steps = |bound: &Ratio| (log_up(bound) / &self.log_grid).ceil_i64();
        steps(bound.least()).unwrap_or(i64::MIN)..=steps(bound.most()).unwrap_or(i64::MAX)
    }

    /// At least e to this multiple of the log grid, and at most what any row can do.
    fn bound_at(&self, multiple: i64, most: &Ratio) -> Ratio {
        exp_at_most(&(Ratio::from(multiple) * &self.log_grid), most)
    }

    /// The error bar of a release: with probability 1 - failure the error is at most this. Public.
    pub fn accuracy(&self, released: &Released, failure: &Ratio) -> Ratio {
        self.outputs.error(&RealLaplace, &(&released.bound / self.eps_value.ratio()), failure)
    }

    /// What can be said beforehand: with probability 1 - failure the error is at most this, if the smooth bound is
    /// `bound`. Half of the failure goes to each of the two noises.
    pub fn accuracy_for(&self, bound: &Ratio, failure: &Ratio) -> Ratio {
        let half = failure * &Ratio::new(1, 2);
        let most = Ratio::from(self.outputs.range.width());
        if bound.is_zero() || !failure.is_positive() {
            return self.outputs.error(&RealLaplace, bound, failure);
        }
        // Rounding adds at most half a step. One side of the noise makes the bound larger: P(Z > t) = e^-t/2.
        let tail = ln_upper(&failure.recip()).max(Ratio::zero());
        let log = log_up(bound) + &self.margin + tail * &self.log_scale + &self.log_grid * &Ratio::new(1, 2);
        let likely = exp_at_most(&log, &most);
        self.outputs.error(&RealLaplace, &(likely / self.eps_value.ratio()), &half)
    }
}

/// At least e to this, or `most` where that is less.
fn exp_at_most(log: &Ratio, most: &Ratio) -> Ratio {
    if *log >= log_up(most) { most.clone() } else { exp_upper(log).min(most.clone()) }
}

/// The logarithm of a number above zero, rounded up by at most 2^-63, in a number of steps that does not depend on it.
fn log_up(value: &Ratio) -> Ratio {
    let ln = |part: UBig| point::ln(&part, 0, LOG_BITS + 32);
    let ln = ln(value.numerator().clone().unsigned_abs()).sub(&ln(value.denominator().clone()));
    ln.upper().dyadic_up(LOG_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adjacency::Adjacency,
        coins::ScriptedWords,
        stability::{Median, Profile},
        tape::{Pmf, delta_between, enumerate},
        universe::neighbouring_pairs,
    };
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn mechanism(eps_scale: &str, eps_value: &str, delta: &str, beta: &str, hi: i64) -> ReleasedScale {
        ReleasedScale {
            eps_scale: eps_scale.parse().unwrap(),
            eps_value: eps_value.parse().unwrap(),
            delta: delta.parse().unwrap(),
            beta: ratio(beta),
            range: Some(Range::new(0, hi).unwrap()),
            grid: Ratio::one(),
        }
    }

    #[test]
    fn hand_computed_calibration() {
        let calibrated = mechanism("0.5", "2", "1e-6", "0.1", 100).calibrate().unwrap();
        assert_eq!(calibrated.cost().to_string(), "(2.5, 0.000001)-differential privacy");
        // beta/eps_scale = 0.2; a step of at most an eighth of that, half of one in the margin.
        assert!((calibrated.log_scale.to_f64() - 0.2).abs() < 1e-15 && calibrated.log_scale > ratio("0.2"));
        assert!(calibrated.log_grid <= ratio("0.025") && calibrated.log_grid > ratio("0.0125"));
        let margin = 0.2 * (5e5f64).ln() + calibrated.log_grid.to_f64() / 2.0;
        assert!((calibrated.margin.to_f64() - margin).abs() < 1e-12);
        // A delta of one half or more needs no margin but the rounding.
        let loose = mechanism("0.5", "2", "0.7", "0.1", 100).calibrate().unwrap();
        assert_eq!(loose.margin, &loose.log_grid / &Ratio::from(2u64));
    }

    /// What is said beforehand, in floats: half of the failure for the bound, half for the value.
    #[test]
    fn an_error_that_is_said_beforehand_counts_both_noises() {
        let calibrated = mechanism("0.5", "2", "1e-6", "0.1", 1 << 50).calibrate().unwrap();
        let (margin, scale) = (calibrated.margin.to_f64(), calibrated.log_scale.to_f64());
        let log = 1e9f64.ln() + margin + 10f64.ln() * scale + calibrated.log_grid.to_f64() / 2.0;
        // P(|Z| > t) = e^-t for each half; the tail of the value is found to a part in 10,000, upwards.
        let wanted = log.exp() / 2.0 * 20f64.ln();
        let found = calibrated.accuracy_for(&ratio("1e9"), &ratio("0.1")).to_f64();
        assert!(found > wanted * (1.0 - 1e-9) && found < wanted * (1.0 + 2e-4), "{found} {wanted}");
    }

    #[test]
    fn bad_parameters_are_refused_in_one_line() {
        let refusal = |mechanism: ReleasedScale| mechanism.calibrate().unwrap_err().to_string();
        assert_eq!(
            refusal(mechanism("1", "1", "0", "0.1", 9)),
            "delta 0 is not accepted: a released bound is too small with some probability, so give a delta such as \
             1e-6; or use the smooth mechanism with Cauchy, Student or PolyPlace noise"
        );
        let unbounded = ReleasedScale { range: None, ..mechanism("1", "1", "1e-6", "0.1", 9) };
        assert!(refusal(unbounded).starts_with("range unbounded is not accepted: give LO,HI"));
        for beta in ["0", "-1", "1e-10", "1001"] {
            let error = refusal(mechanism("1", "1", "1e-6", beta, 9));
            assert!(
                error.starts_with(&format!("beta {} is not accepted", ratio(beta))) && !error.contains('\n')
            );
        }
    }

    fn bound_of(calibrated: &Calibrated, data: &[i64], adjacency: Adjacency) -> Bound {
        let decay = calibrated.decay();
        let reach = decay.reach(Median.quantile(), adjacency);
        decay.median(&Median.window(data, Range::new(0, 4).unwrap(), reach), adjacency)
    }

    /// The worst delta at the claimed epsilon over all neighbours, as a certified bracket.
    fn worst_delta(calibrated: &Calibrated, eps: &str, adjacency: Adjacency) -> (Ratio, Ratio) {
        let mut seen: BTreeMap<Vec<i64>, Pmf<Released>> = BTreeMap::new();
        let (mut low, mut high) = (Ratio::zero(), Ratio::zero());
        for (a, b) in neighbouring_pairs(&[0, 4], 3, adjacency) {
            for data in [&a, &b] {
                seen.entry(data.clone()).or_insert_with(|| {
                    let median = data.get(data.len().saturating_sub(1) / 2).copied().unwrap_or(0);
                    let bound = bound_of(calibrated, data, adjacency);
                    enumerate(&ratio("1e-12"), |tape| calibrated.run(&Ratio::from(median), &bound, tape))
                });
            }
            let delta = delta_between(&ratio(eps), &seen[&a], &seen[&b]);
            (low, high) = (low.max(delta.lower()), high.max(delta.upper()));
        }
        (low, high)
    }

    #[test]
    fn exact_audit_over_all_neighbours_and_a_mutant_without_the_margin() {
        for adjacency in Adjacency::ALL {
            let calibrated = mechanism("0.5", "1", "0.01", "1.2", 4).calibrate().unwrap();
            let (_, high) = worst_delta(&calibrated, "1.5", adjacency);
            assert!(high <= ratio("0.010001"), "{}", high.to_f64());
            let mutant = Calibrated { margin: Ratio::zero(), ..calibrated };
            let (low, _) = worst_delta(&mutant, "1.5", adjacency);
            assert!(low > ratio("0.011"), "{}", low.to_f64());
        }
    }

    #[test]
    fn the_released_bound_is_too_small_with_probability_at_most_delta() {
        for (delta, beta, eps) in [("0.01", "0.5", "0.5"), ("0.2", "1", "0.3"), ("0.001", "0.5", "1")] {
            let calibrated = mechanism(eps, "1", delta, beta, 4).calibrate().unwrap();
            for data in [vec![0, 0, 0, 4], vec![0; 7], vec![1, 1, 2, 2, 3]] {
                let bound = bound_of(&calibrated, &data, Adjacency::Replace);
                let pmf = enumerate(&ratio("1e-20"), |tape| calibrated.release_bound(&bound, tape));
                let below = pmf.iter().filter(|(released, _)| *released < bound.value());
                let chance: Ratio = below.map(|(_, mass)| mass.upper()).sum();
                assert!(chance <= ratio(delta), "{delta} {}", chance.to_f64());
                assert!(pmf.iter().all(|(released, _)| *released <= *bound.most()));
            }
        }
    }

    #[test]
    fn logarithms_are_rounded_up_a_little() {
        for text in ["1", "1e-30", "3", "12345678901234567890", "7/3", "1e-300", "1e300"] {
            let (found, exact) = (log_up(&ratio(text)), ln_upper(&ratio(text)));
            assert!(found >= &exact - &ratio("1e-23") && found <= exact + Ratio::dyadic(2.into(), LOG_BITS));
        }
    }

    #[test]
    fn a_scripted_run() {
        let calibrated = mechanism("0.5", "2", "1e-3", "0.1", 1000).calibrate().unwrap();
        let bound = calibrated.decay().profile(&Profile { at_distance: vec![10u64; 100], beyond: 1000 });
        // U = 3/4 twice: the logarithm rises by 0.2 ln 2, the value by half of the released bound times ln 2.
        let mut coins = ScriptedWords::new(vec![3 << 62, 0, 3 << 62, 0]);
        let released = calibrated.run(&Ratio::from(500u64), &bound, &mut coins);
        assert_eq!(coins.used(), 4);
        let log = bound.value().to_f64().ln() + calibrated.margin.to_f64() + 0.2 * 2f64.ln();
        assert!((released.bound.to_f64().ln() - log).abs() <= calibrated.log_grid.to_f64() / 2.0 + 1e-9);
        let value = 500.0 + released.bound.to_f64() / 2.0 * 2f64.ln();
        assert!((released.value.to_f64() - value).abs() <= 0.5);
        let error = calibrated.accuracy(&released, &ratio("0.05")).to_f64();
        let exact = released.bound.to_f64() / 2.0 * 20f64.ln() + 0.5;
        assert!((exact..exact * 1.0002).contains(&error), "{error} {exact}");
    }

    #[test]
    fn a_range_of_one_value_needs_no_noise() {
        let calibrated = mechanism("1", "1", "1e-6", "0.1", 0).calibrate().unwrap();
        let reach = calibrated.decay().reach(Median.quantile(), Adjacency::AddRemove);
        let window = Median.window(&[5], Range::new(0, 0).unwrap(), reach);
        let bound = calibrated.decay().median(&window, Adjacency::AddRemove);
        let released = calibrated.run(&Ratio::zero(), &bound, &mut ScriptedWords::new(vec![1, 1]));
        assert_eq!(released, Released { value: Ratio::zero(), bound: Ratio::zero() });
    }

    #[test]
    fn epsilon_from_an_accuracy_and_back() {
        let (here, bound, failure) =
            (mechanism("0.5", "0.5", "1e-6", "0.02", 100_000), ratio("30"), ratio("0.1"));
        let error = here.calibrate().unwrap().accuracy_for(&bound, &failure);
        let eps = here.eps_for(&error, &bound, &failure).unwrap();
        assert!(*eps.ratio() <= Ratio::one() && *eps.ratio() > ratio("0.95"), "{eps}");
        assert!(here.eps_for(&ratio("0.4"), &bound, &failure).is_none());
        // The error bar of a usual release is about that of the guess.
        assert!(error < here.calibrate().unwrap().accuracy_for(&ratio("60"), &failure));
    }
}
