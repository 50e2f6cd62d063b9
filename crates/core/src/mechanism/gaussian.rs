//! Releases a vector plus Gaussian noise that hides one person's share of it; it never refuses.
//!
//! Source: 004_5f92a75732c1853f.txt, Exercise 1 (its formula is lost); Canonne, Kamath and Steinke 2020 for
//! noise on a grid; Balle and Wang 2018 for real noise.
//!
//! # Guarantee
//!
//! Under the adjacency in which neighbouring inputs move the values by at most `sensitivity` in L2, over all
//! coordinates together: the target, be it rho-zero-concentrated or (epsilon, delta). Whatever the target,
//! [`Calibrated::rho`]-zero-concentrated as well.
//!
//! # Why
//!
//! 1. Discrete noise: rounded values are whole steps apart, by `l2.rs` at most S in the sum of squares. Each
//!    coordinate gets noise with P(z) proportional to `e^(-z²/(2v))`.
//! 2. Of the shift s, the Renyi divergence of order a is `a·s²/(2v)`, plus the logarithm over a - 1 of the bell
//!    curve's sum over the whole numbers moved by as, over its sum over the whole numbers. By Poisson's
//!    formula no moved sum is larger, so `a·s²/(2v)` bounds it, and over the coordinates `a·S/(2v)`: rho = S/(2v).
//! 3. (epsilon, delta) then follows by the certified conversion. Where only one coordinate can move (there is
//!    but one, or S = 1), the exact curve of `loss::discrete_gaussian_delta_upper` gives less noise.
//! 4. Real noise: the density of a Gaussian vector depends on distances alone, so a vector loses what one number
//!    at distance D would: `loss::gaussian_delta_upper`, and rho = D²/(2 sigma²). Value and noise are added as
//!    exact real numbers and rounded once; rounding is post-processing and costs nothing.
//!
//! # Differs
//!
//! The textbook's sigma, `sqrt(2 ln(1.25/delta))·D/epsilon`, is not offered. It holds for epsilon <= 1 only,
//! where it is a quarter to a half too large; at epsilon 10 it breaks its promise.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{
//!     coins::ScriptedWords,
//!     mechanism::{Noise, Values, gaussian::{Gaussian, Target}, l2::L2},
//!     ratio::Ratio,
//! };
//!
//! // A histogram of three bins, of which a replaced row moves two by one.
//! let histogram = Gaussian {
//!     target: Target::Zcdp("0.1".parse()?),
//!     sensitivity: L2::RootOf(Ratio::from(2u64)),
//!     grid: Ratio::one(),
//!     dimensions: 3,
//!     values: Values::OnGrid,
//!     noise: Noise::Discrete,
//! };
//! let calibrated = histogram.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "0.1-zero-concentrated differential privacy");
//! assert_eq!(calibrated.variance(), Ratio::from(10u64));
//! // With probability at least 0.95 no bin is off by more than 8.
//! assert_eq!(calibrated.accuracy(&"0.05".parse()?), Ratio::from(8u64));
//! # let mut coins = ScriptedWords::new(vec![1 << 40; 8]);
//! let answer = calibrated.run(&[41u64, 7, 0].map(Ratio::from), &mut coins);
//! # let _ = answer;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{
    Noise, Values,
    l2::{L2, floor_root, root_up},
};
use crate::{
    coins::Coins,
    loss::{
        Amount, Delta, Eps, Loss, ParameterError, Rho, delta_above_zero, discrete_gaussian_outside,
        discrete_gaussian_variance_upper, gaussian_sigma_upper, normal_outside, rho_for,
    },
    ratio::Ratio,
    sampler::{
        discrete_gaussian::DiscreteGaussian,
        gaussian_real::RealGaussian,
        real::{EVERY_MULTIPLE, Placement, Rounded},
    },
    solve::{self, Excess, first_whole, nearest},
};

/// What is promised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Zero-concentrated privacy.
    Zcdp(Rho),
    /// (epsilon, delta), with a delta above zero.
    Approx {
        /// Epsilon.
        eps: Eps,
        /// Delta.
        delta: Delta,
    },
}

/// Parameters of the Gaussian mechanism; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gaussian {
    /// Privacy of the whole vector.
    pub target: Target,
    /// The most that all coordinates together can move between neighbours, in L2.
    pub sensitivity: L2,
    /// Answers are multiples of this.
    pub grid: Ratio,
    /// How many coordinates.
    pub dimensions: usize,
    /// Whether values lie on the grid already.
    pub values: Values,
    /// Which noise.
    pub noise: Noise,
}

/// A Gaussian mechanism ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    mechanism: Gaussian,
    /// The largest squared distance between neighbours, and the variance of the noise, both in grid steps.
    squared_steps: Ratio,
    variance_steps: Ratio,
    law: NoiseLaw,
}

#[derive(Clone, Debug)]
enum NoiseLaw {
    Discrete(Box<DiscreteGaussian>),
    Real { scale_steps: Ratio },
}

/// The law of the whole steps nearest to `center` plus real noise, in steps.
fn rounded(center: Ratio, scale_steps: &Ratio) -> Rounded<RealGaussian> {
    let (scale, grid) = (scale_steps.clone(), Ratio::one());
    Rounded::new(RealGaussian, Placement { center, scale, grid, clamp: EVERY_MULTIPLE })
}

impl Gaussian {
    /// Compute the noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let squared_steps = self.squared_steps()?;
        let variance_steps = self.variance_steps(&self.target, &squared_steps)?;
        let law = match self.noise {
            Noise::Discrete => NoiseLaw::Discrete(Box::new(DiscreteGaussian::new(&variance_steps)?)),
            Noise::Real => NoiseLaw::Real { scale_steps: root_up(&variance_steps) },
        };
        Ok(Calibrated { mechanism: self.clone(), squared_steps, variance_steps, law })
    }

    /// The square of the sensitivity, in grid steps: after rounding, where values are rounded first.
    fn squared_steps(&self) -> Result<Ratio, ParameterError> {
        let refuse = |name, value: &Ratio, accepted| ParameterError::out_of_range(name, value, accepted);
        if !self.sensitivity.is_positive() {
            let (L2::Exact(value) | L2::RootOf(value)) = &self.sensitivity;
            return Err(refuse("sensitivity", value, "give a positive number; a constant needs no noise"));
        }
        if !self.grid.is_positive() {
            return Err(refuse("grid", &self.grid, "give a positive step such as 1 or 0.01"));
        }
        if self.dimensions == 0 {
            return Err(refuse("dimensions", &Ratio::zero(), "give at least one coordinate"));
        }
        let squared = match (self.noise, self.values) {
            (Noise::Real, Values::Any) => &self.sensitivity.squared() / &self.grid.squared(),
            _ => self.sensitivity.squared_steps(&self.grid, self.dimensions, self.values),
        };
        if squared.is_positive() {
            return Ok(squared);
        }
        let accepted = "the grid step must not exceed the sensitivity when values lie on the grid";
        Err(refuse("grid", &self.grid, accepted))
    }

    /// The variance for a target, in squared grid steps, rounded up; for real noise it is a square.
    fn variance_steps(&self, target: &Target, squared_steps: &Ratio) -> Result<Ratio, ParameterError> {
        let variance = match target {
            Target::Zcdp(rho) => self.variance_for_rho(rho, squared_steps),
            Target::Approx { eps, delta } => {
                delta_above_zero(delta)?;
                let one_moves = self.dimensions == 1 || *squared_steps == Ratio::one();
                match self.noise {
                    Noise::Real => gaussian_sigma_upper(eps, delta, &root_up(squared_steps))?.squared(),
                    Noise::Discrete if one_moves => {
                        discrete_gaussian_variance_upper(eps, delta, &floor_root(squared_steps))?
                    }
                    Noise::Discrete => self.variance_for_rho(&rho_for(eps, delta)?, squared_steps),
                }
            }
        };
        // Far more than the range of numbers that anyone counts, and what the samplers are made for.
        if variance > Ratio::from(1u64 << 50).squared() {
            let accepted = "it must be at most 2^100 squared grid steps; use a coarser grid";
            return Err(ParameterError::out_of_range("noise variance", variance, accepted));
        }
        Ok(variance)
    }

    fn variance_for_rho(&self, rho: &Rho, squared_steps: &Ratio) -> Ratio {
        let variance = squared_steps / &(&Ratio::from(2u64) * rho.ratio());
        match self.noise {
            Noise::Discrete => variance,
            Noise::Real => root_up(&variance).squared(),
        }
    }

    /// The least epsilon (six digits) at this delta whose noise is within `error` in every coordinate, with
    /// probability 1 - beta.
    pub fn eps_for(&self, error: &Ratio, beta: &Ratio, delta: &Delta) -> Option<Eps> {
        let squared_steps = self.squared_steps().ok()?;
        let reach = Ratio::whole((error / &self.grid - self.rounding_steps()).floor_big());
        if reach.is_negative() {
            return None;
        }
        solve::smallest_eps(|eps| {
            let target = Target::Approx { eps: eps.clone(), delta: delta.clone() };
            let variance = self.variance_steps(&target, &squared_steps);
            variance.is_ok_and(|variance| self.miss_upper(&variance, &reach) <= *beta)
        })
    }

    /// What rounding alone may add to an error, in grid steps.
    fn rounding_steps(&self) -> Ratio {
        if self.values == Values::Any { Ratio::new(1, 2) } else { Ratio::zero() }
    }

    /// The chance, rounded up, that some coordinate is off by more than `reach` and the rounding; `reach` is a
    /// whole number of grid steps.
    fn miss_upper(&self, variance_steps: &Ratio, reach: &Ratio) -> Ratio {
        let outside = match (self.noise, self.values) {
            (Noise::Discrete, _) => discrete_gaussian_outside(reach, variance_steps),
            (Noise::Real, Values::Any) => normal_outside(&(reach / &root_up(variance_steps))),
            // A value on the grid moves by more than `reach` whole steps where the noise exceeds it by half of one.
            (Noise::Real, Values::OnGrid) => {
                normal_outside(&((reach + &Ratio::new(1, 2)) / root_up(variance_steps)))
            }
        };
        outside.upper() * Ratio::from(self.dimensions as u64)
    }
}

impl Calibrated {
    /// What was calibrated.
    pub fn params(&self) -> &Gaussian {
        &self.mechanism
    }

    /// What a run costs.
    pub fn cost(&self) -> Loss {
        match &self.mechanism.target {
            Target::Zcdp(rho) => Loss::zcdp(rho),
            Target::Approx { eps, delta } => Loss::approx(eps, delta),
        }
    }

    /// The rho of zero-concentrated privacy that a run keeps, whatever it was calibrated for.
    pub fn rho(&self) -> Amount {
        Amount::clamped(&self.squared_steps / &(&Ratio::from(2u64) * &self.variance_steps))
    }

    /// The variance parameter of the noise, in the squared unit of the values.
    pub fn variance(&self) -> Ratio {
        &self.variance_steps * &self.mechanism.grid.squared()
    }

    /// The noisy values, one for each value. Missing values count as zero and extra ones are left out, so that
    /// the shape of the answer is public.
    pub fn run(&self, values: &[Ratio], coins: &mut impl Coins) -> Vec<Ratio> {
        let zero = Ratio::zero();
        let add_noise = |index: usize| {
            let steps = values.get(index).unwrap_or(&zero) / &self.mechanism.grid;
            // Whole steps are set aside, so that what is rounded is small whatever the value.
            let nearest = Ratio::whole(steps.round_big());
            let noise = match &self.law {
                NoiseLaw::Discrete(law) => coins.sample(&**law),
                NoiseLaw::Real { scale_steps } => coins.sample(&rounded(&steps - &nearest, scale_steps)),
            };
            (nearest + Ratio::from(noise)) * &self.mechanism.grid
        };
        (0..self.mechanism.dimensions).map(add_noise).collect()
    }

    /// Add noise to whole numbers, on a grid of one, in place: the fast path for counts.
    pub fn run_counts(&self, counts: &mut [i64], coins: &mut impl Coins) {
        let fits = self.mechanism.grid == Ratio::one() && counts.len() == self.mechanism.dimensions;
        assert!(fits, "counts lie on a grid of one");
        let mut noise = vec![0; counts.len()];
        match &self.law {
            NoiseLaw::Discrete(law) => law.fill(&mut noise, coins),
            NoiseLaw::Real { scale_steps } => {
                let law = rounded(Ratio::zero(), scale_steps);
                noise.fill_with(|| coins.sample(&law));
            }
        }
        for (count, noise) in counts.iter_mut().zip(noise) {
            *count = count.saturating_add(noise);
        }
    }

    /// How many coordinates there are.
    pub fn dimensions(&self) -> usize {
        self.mechanism.dimensions
    }

    /// With probability 1 - beta every coordinate's error is at most this.
    pub fn accuracy(&self, beta: &Ratio) -> Ratio {
        assert!(beta.is_positive(), "certainty has no finite bound");
        let miss = |reach: u64| {
            Excess::of(&self.mechanism.miss_upper(&self.variance_steps, &Ratio::from(reach)), beta)
        };
        // A tail is about e^(-x²/2v).
        let far =
            2.0 * ((self.mechanism.dimensions as f64).ln() - beta.to_f64().max(f64::MIN_POSITIVE).ln() + 1.0);
        let hint = (self.variance_steps.to_f64() * far.max(1.0)).sqrt();
        let reach = least_whole(hint, miss);
        (Ratio::from(reach) + self.mechanism.rounding_steps()) * &self.mechanism.grid
    }
}

/// The least whole number that holds; those from there on do as well. The hint should be one of them, and not much larger.
fn least_whole(hint: f64, at: impl Fn(u64) -> Excess) -> u64 {
    let below = at(0);
    if below.holds {
        return 0;
    }
    let mut last = nearest(hint.clamp(1.0, 1e15)).max(1);
    let above = loop {
        let excess = at(last);
        if excess.holds {
            break excess;
        }
        last = last.checked_mul(2).expect("noise stays below 2^50 steps");
    };
    first_whole((0, below), (last, above), |number| number as f64, nearest, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::{Law, ScriptedWords},
        interval::{AUDIT_BITS, Interval},
        loss::Zcdp,
        tape::{Pmf, delta_between, enumerate},
    };

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn rho(text: &str) -> Target {
        Target::Zcdp(text.parse().unwrap())
    }

    fn approx(eps: &str, delta: &str) -> Target {
        Target::Approx { eps: eps.parse().unwrap(), delta: delta.parse().unwrap() }
    }

    fn exact(distance: &str) -> L2 {
        L2::Exact(ratio(distance))
    }

    fn root_of_two() -> L2 {
        L2::RootOf(ratio("2"))
    }

    /// On a grid of one.
    fn gaussian(
        target: Target,
        sensitivity: L2,
        dimensions: usize,
        values: Values,
        noise: Noise,
    ) -> Gaussian {
        Gaussian { target, sensitivity, grid: Ratio::one(), dimensions, values, noise }
    }

    /// A failure that is just what seven steps have is kept by seven steps.
    #[test]
    fn the_error_of_a_failure_that_is_just_met_is_no_larger() {
        for noise in [Noise::Discrete, Noise::Real] {
            let calibrated = gaussian(rho("0.02"), exact("1"), 3, Values::Any, noise).calibrate().unwrap();
            let beta = calibrated.mechanism.miss_upper(&calibrated.variance_steps, &ratio("7"));
            assert_eq!(calibrated.accuracy(&beta), ratio("7.5"));
            assert_eq!(calibrated.accuracy(&(beta * ratio("0.999999"))), ratio("8.5"));
        }
    }

    #[test]
    fn hand_computed_variances_for_rho() {
        use Values::{Any, OnGrid};
        for (target, sensitivity, grid, dimensions, values, variance) in [
            ("0.5", exact("1"), "1", 1, OnGrid, "1"),
            ("0.125", exact("3"), "1", 4, OnGrid, "36"),
            ("0.5", exact("3.7"), "1", 1, OnGrid, "9"),
            ("0.5", root_of_two(), "1", 2, OnGrid, "2"),
            ("0.5", exact("3.7"), "1", 1, Any, "16"),
            ("0.5", exact("1"), "1", 2, Any, "2"),
            ("0.5", exact("1"), "0.01", 1, Any, "1"),
            ("2", exact("1/3"), "0.25", 1, Any, "1/16"),
        ] {
            let shape = gaussian(rho(target), sensitivity, dimensions, values, Noise::Discrete);
            let calibrated = Gaussian { grid: ratio(grid), ..shape }.calibrate().unwrap();
            assert_eq!(calibrated.variance(), ratio(variance), "{target} {grid} {dimensions} {values:?}");
            assert_eq!(*calibrated.rho().ratio(), ratio(target));
            assert_eq!(calibrated.cost(), Loss::zcdp(&target.parse().unwrap()));
        }
        // Real noise pays nothing for rounding, and its scale is rational.
        let real = gaussian(rho("0.5"), root_of_two(), 9, Any, Noise::Real).calibrate().unwrap();
        assert!((real.variance().to_f64() - 2.0).abs() < 1e-15 && *real.rho().ratio() <= ratio("0.5"));
    }

    #[test]
    fn hand_computed_scales_for_epsilon_and_delta() {
        use Noise::{Discrete, Real};
        for (eps, delta, sensitivity, dimensions, noise, scale) in [
            // The analytic scales, for a vector as for a number.
            ("0.1", "1e-6", exact("1"), 1, Real, 36.304_690),
            ("1", "1e-6", exact("1"), 7, Real, 4.224_679),
            ("10", "1e-5", exact("1"), 1, Real, 0.499_889),
            ("50", "1e-5", exact("1"), 1, Real, 0.149_761),
            ("1", "1e-6", root_of_two(), 2, Real, 5.974_598),
            // The exact curve on whole numbers, for one number or where only one of many can move.
            ("1", "1e-6", exact("1"), 1, Discrete, 4.230_779),
            ("1", "1e-6", exact("1.4"), 7, Discrete, 4.230_779),
            ("10", "1e-5", exact("1"), 1, Discrete, 0.499_008),
            ("50", "1e-5", exact("1"), 1, Discrete, 0.1),
        ] {
            let shape = gaussian(approx(eps, delta), sensitivity, dimensions, Values::OnGrid, noise);
            let calibrated = shape.calibrate().unwrap();
            let got = calibrated.variance().to_f64().sqrt();
            assert!((got / scale - 1.0).abs() < 1e-5, "{eps} {delta} {noise:?}: {got}");
            assert_eq!(calibrated.cost(), Loss::approx(&eps.parse().unwrap(), &delta.parse().unwrap()));
        }
        // Several numbers that move together on a grid go through rho.
        let shape = gaussian(approx("1", "1e-6"), root_of_two(), 2, Values::OnGrid, Discrete);
        let converted = rho_for(&"1".parse().unwrap(), &"1e-6".parse().unwrap()).unwrap();
        assert_eq!(shape.calibrate().unwrap().variance(), converted.ratio().recip());
    }

    #[test]
    fn bad_parameters_are_refused_in_one_line() {
        let good = gaussian(approx("1", "1e-6"), exact("1"), 2, Values::Any, Noise::Discrete);
        let with = |change: &dyn Fn(&mut Gaussian)| {
            let mut bad = good.clone();
            change(&mut bad);
            bad
        };
        for (bad, expected) in [
            (with(&|g| g.sensitivity = exact("0")), "sensitivity 0 is not accepted"),
            (with(&|g| g.sensitivity = exact("-1")), "sensitivity -1 is not accepted"),
            (with(&|g| g.sensitivity = L2::RootOf(ratio("-2"))), "sensitivity -2 is not accepted"),
            (with(&|g| g.grid = Ratio::zero()), "grid 0 is not accepted"),
            (with(&|g| g.dimensions = 0), "dimensions 0 is not accepted"),
            (with(&|g| (g.grid, g.values) = (ratio("2"), Values::OnGrid)), "grid 2 is not accepted"),
            (with(&|g| g.grid = ratio("1e-30")), "noise variance"),
            (with(&|g| (g.grid, g.noise) = (ratio("1e-30"), Noise::Real)), "noise variance"),
        ] {
            let error = bad.calibrate().unwrap_err().to_string();
            assert!(error.starts_with(expected) && !error.contains('\n'), "{error}");
        }
        for (dimensions, noise) in [(1, Noise::Discrete), (3, Noise::Discrete), (1, Noise::Real)] {
            let pure = gaussian(approx("1", "0"), exact("1"), dimensions, Values::Any, noise);
            assert_eq!(
                pure.calibrate().unwrap_err().to_string(),
                "delta 0 is not accepted: Gaussian noise needs a delta above 0, such as 1e-6; for delta 0 use laplace"
            );
        }
    }

    fn distribution(calibrated: &Calibrated, values: &[&str]) -> Pmf<Vec<Ratio>> {
        let values: Vec<Ratio> = values.iter().map(|text| ratio(text)).collect();
        enumerate(&ratio("1e-10"), |tape| calibrated.run(&values, tape))
    }

    /// The largest delta of these pairs at this epsilon.
    fn worst<const K: usize>(
        calibrated: &Calibrated,
        eps: &str,
        pairs: &[([&str; K], [&str; K])],
    ) -> Interval {
        let at = |values: &[&str]| distribution(calibrated, values);
        let deltas = pairs.iter().map(|(a, b)| delta_between(&ratio(eps), &at(a), &at(b)));
        deltas.reduce(|a, b| a.max(&b)).unwrap()
    }

    /// At the edge of what one person may do: the root of two on the grid, and one step between grid points.
    const TWO_MOVE: [([&str; 2], [&str; 2]); 2] = [(["0", "0"], ["1", "1"]), (["0", "0"], ["1", "-1"])];
    const BETWEEN: [([&str; 2], [&str; 2]); 3] =
        [(["0", "0"], ["1", "0"]), (["0.4", "0.4"], ["1.1", "1.1"]), (["-0.6", "0.2"], ["-0.1", "0.7"])];

    #[test]
    fn exact_audit_of_vectors_on_and_between_grid_points() {
        use Values::{Any, OnGrid};
        let at_most = |shape: Gaussian, pairs: &[([&str; 2], [&str; 2])], eps: &str, delta: &str| {
            let measured = worst(&shape.calibrate().unwrap(), eps, pairs);
            assert!(measured.upper() <= ratio(delta), "{shape:?}: {}", measured.to_f64());
            assert!(measured.lower() > ratio(delta) / ratio("10"), "{shape:?}: {}", measured.to_f64());
        };
        at_most(
            gaussian(approx("1", "0.01"), root_of_two(), 2, OnGrid, Noise::Discrete),
            &TWO_MOVE,
            "1",
            "0.01",
        );
        at_most(gaussian(approx("1", "0.01"), exact("1"), 2, Any, Noise::Discrete), &BETWEEN, "1", "0.01");
        at_most(gaussian(approx("2", "0.01"), exact("1"), 2, Any, Noise::Real), &BETWEEN, "2", "0.01");
        // What the target rho says at delta 0.01.
        let loss = Zcdp::new(&"0.25".parse().unwrap()).to_approx(&"0.01".parse().unwrap()).unwrap();
        let eps = loss.eps.ratio().to_string();
        at_most(gaussian(rho("0.25"), root_of_two(), 2, OnGrid, Noise::Discrete), &TWO_MOVE, &eps, "0.01");
    }

    #[test]
    fn exact_audit_of_one_number_attains_the_claim() {
        for (eps, delta, distance) in [("1", "0.01", "1"), ("0.5", "0.05", "2"), ("4", "0.001", "1")] {
            let shape = gaussian(approx(eps, delta), exact(distance), 1, Values::OnGrid, Noise::Discrete);
            let measured = worst(&shape.calibrate().unwrap(), eps, &[(["0"], [distance])]);
            assert!(measured.lower() <= ratio(delta));
            assert!(measured.lower() > ratio(delta) * ratio("0.999999"), "{eps}: {}", measured.to_f64());
        }
    }

    #[test]
    fn a_mutant_calibrated_for_one_bin_is_caught_when_two_move() {
        for noise in [Noise::Discrete, Noise::Real] {
            let mutant =
                gaussian(approx("1", "0.01"), exact("1"), 2, Values::OnGrid, noise).calibrate().unwrap();
            let measured = worst(&mutant, "1", &TWO_MOVE[..1]);
            assert!(measured.lower() > ratio("0.03"), "{noise:?}: {}", measured.to_f64());
        }
    }

    /// The divergence of order 2 of a whole shift is exactly 2·rho.
    #[test]
    fn rho_is_attained() {
        let calibrated =
            gaussian(rho("0.25"), exact("2"), 1, Values::OnGrid, Noise::Discrete).calibrate().unwrap();
        let here = enumerate(&ratio("1e-40"), |tape| calibrated.run(&[ratio("0")], tape));
        let there = enumerate(&ratio("1e-40"), |tape| calibrated.run(&[ratio("2")], tape));
        let moment = here
            .iter()
            .filter(|(value, _)| there.mass(value).lower().is_positive())
            .map(|(value, mass)| mass.square().div(&there.mass(value)))
            .fold(Interval::zero(AUDIT_BITS), |sum, term| sum.add(&term));
        assert!((moment.to_f64().ln() - 0.5).abs() < 1e-9, "{}", moment.to_f64().ln());
    }

    #[test]
    fn accuracy_is_the_exact_tail() {
        let beta = ratio("0.05");
        for (noise, values) in [
            (Noise::Discrete, Values::OnGrid),
            (Noise::Real, Values::OnGrid),
            (Noise::Discrete, Values::Any),
            (Noise::Real, Values::Any),
        ] {
            let shape = gaussian(approx("1", "1e-3"), exact("1"), 1, values, noise);
            let calibrated = shape.calibrate().unwrap();
            let bound = calibrated.accuracy(&beta);
            let pmf = distribution(&calibrated, &["0"]);
            let beyond = |t: &Ratio| -> f64 {
                let outside = pmf.iter().filter(|(value, _)| value[0].abs() > *t);
                outside.map(|(_, mass)| mass.to_f64()).sum()
            };
            assert!(beyond(&bound) <= 0.05);
            if values == Values::OnGrid {
                assert!(beyond(&(&bound - &Ratio::one())) > 0.05, "{noise:?}");
            }
        }
    }

    #[test]
    fn the_least_epsilon_for_an_error_is_least() {
        let (beta, delta) = (ratio("0.05"), "1e-3".parse().unwrap());
        for (noise, values, error) in
            [(Noise::Discrete, Values::OnGrid, "6"), (Noise::Real, Values::Any, "7.5")]
        {
            let (shape, error) = (gaussian(approx("1", "1e-3"), exact("1"), 1, values, noise), ratio(error));
            let eps = shape.eps_for(&error, &beta, &delta).unwrap();
            let at = |eps: Eps| {
                let target = Target::Approx { eps, delta: delta.clone() };
                Gaussian { target, ..shape.clone() }.calibrate().unwrap().accuracy(&beta)
            };
            assert_eq!(at(eps.clone()), error);
            assert!(at(Eps::new(eps.ratio() - &ratio("1e-6")).unwrap()) > error, "{noise:?} {values:?}");
            assert!(shape.eps_for(&ratio("-1"), &beta, &delta).is_none());
            assert!(shape.eps_for(&error, &beta, &Delta::zero()).is_none());
        }
    }

    #[test]
    fn a_scripted_run() {
        // Real noise of scale one: U = 1/2 and V = 1/8 give sqrt(ln 2) = 0.832554…, V = 3/8 negates it.
        let shape = gaussian(rho("0.5"), exact("1"), 2, Values::Any, Noise::Real);
        let calibrated = Gaussian { grid: ratio("0.001"), ..shape }.calibrate().unwrap();
        let words = vec![1 << 63, 1 << 61, 0, 0, 1 << 63, 3 << 61, 0, 0];
        let answer = calibrated.run(&[ratio("3.0004"), ratio("1e30")], &mut ScriptedWords::new(words));
        assert_eq!(answer, vec![ratio("3.833"), ratio("1e30") - ratio("0.833")]);
        // Discrete noise of variance one: what the law draws from the same words, one after the other.
        let shape = gaussian(rho("0.5"), exact("1"), 2, Values::OnGrid, Noise::Discrete);
        let calibrated = shape.calibrate().unwrap();
        let words = vec![0, 0, (1 << 60) - 1, 1 << 63];
        let answer = calibrated.run(&[ratio("3"), ratio("4")], &mut ScriptedWords::new(words.clone()));
        let law = DiscreteGaussian::new(&Ratio::one()).unwrap();
        let mut same = ScriptedWords::new(words.clone());
        let noisy = [3 + law.draw(&mut same), 4 + law.draw(&mut same)];
        assert_eq!(answer, noisy.map(Ratio::from));
        let mut counts = [3, 4];
        calibrated.run_counts(&mut counts, &mut ScriptedWords::new(words));
        assert_eq!(counts, noisy);
    }

    #[test]
    fn the_shape_of_the_answer_is_public() {
        for noise in [Noise::Discrete, Noise::Real] {
            let calibrated = gaussian(rho("0.5"), exact("1"), 2, Values::OnGrid, noise).calibrate().unwrap();
            for values in [vec![], vec![Ratio::one(); 5]] {
                assert_eq!(calibrated.run(&values, &mut ScriptedWords::new(vec![1 << 40; 99])).len(), 2);
            }
        }
    }
}
