//! Releases numbers plus Laplace noise that hides one person's share of them; it never refuses.
//!
//! Source: 004_5f92a75732c1853f.txt, Algorithm 1 and Lemma 3; Dwork, McSherry, Nissim, Smith 2006.
//!
//! # Guarantee
//!
//! epsilon-DP under the adjacency in which neighbouring inputs move the values by at most `sensitivity`
//! in L1, summed over all coordinates.
//!
//! # Why
//!
//! 1. Discrete noise: values are rounded to the public grid one by one: a coordinate that moved by d moves by at most
//!    ceil(d/grid) steps, so k coordinates move by at most ceil(sensitivity/grid) + k - 1 steps together.
//!    Values that lie on the grid already move by at most floor(sensitivity/grid).
//! 2. Each coordinate gets independent discrete Laplace noise with P(z) proportional to e^(-|z|/scale).
//! 3. Shifting a coordinate by s steps changes any probability by at most e^(s/scale); over all coordinates
//!    the shifts add up to at most steps, and steps/scale = epsilon.
//! 4. Real noise: the density of f + scale·Z changes by at most e^(d/scale) when f moves by d, so epsilon =
//!    sensitivity/scale without any rounding cost. Value and noise are added as exact real numbers and rounded
//!    once, which is post-processing.
//!
//! # Differs
//!
//! The text adds continuous noise. Noise on a grid has the same guarantee and no floating-point holes.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{coins::ScriptedWords, mechanism::{Noise, Values, laplace::Laplace}, ratio::Ratio};
//!
//! let count = Laplace { eps: "0.5".parse()?, sensitivity: Ratio::one(), grid: Ratio::one(), dimensions: 1, values: Values::OnGrid, noise: Noise::Discrete };
//! let calibrated = count.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "0.5-differential privacy");
//! // With probability at least 0.95 the noise is at most 6.
//! assert_eq!(calibrated.accuracy(&"0.05".parse()?), Ratio::from(6u64));
//! # let mut coins = ScriptedWords::new(vec![1 << 40; 8]);
//! let answer = calibrated.run(&[Ratio::from(41u64)], &mut coins);
//! # let _ = answer;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{Noise, Values};
use crate::{
    coins::Coins,
    interval::{Interval, ln_upper},
    loss::{Eps, Loss, ParameterError},
    ratio::Ratio,
    sampler::{
        discrete_laplace::DiscreteLaplace,
        laplace_real::RealLaplace,
        real::{EVERY_MULTIPLE, Placement, Rounded},
    },
    solve,
};

/// Parameters of the Laplace mechanism; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Laplace {
    /// Privacy of the whole vector.
    pub eps: Eps,
    /// The most that all coordinates together can move between neighbours, in L1.
    pub sensitivity: Ratio,
    /// Answers are multiples of this.
    pub grid: Ratio,
    /// How many coordinates.
    pub dimensions: usize,
    /// Whether values lie on the grid already.
    pub values: Values,
    /// Which noise.
    pub noise: Noise,
}

/// A Laplace mechanism ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    mechanism: Laplace,
    scale_steps: Ratio,
    law: NoiseLaw,
}

#[derive(Clone, Debug)]
enum NoiseLaw {
    Discrete(Box<DiscreteLaplace>),
    Real,
}

/// Noise beyond 2^63 steps would be cut there, around the private value, which would show it. At this scale that
/// has probability e^-2048.
const LARGEST_SCALE_STEPS: u64 = 1 << 52;

impl Laplace {
    /// Compute the noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let scale_steps = &self.sensitivity_steps()? / self.eps.ratio();
        if scale_steps > Ratio::from(LARGEST_SCALE_STEPS) {
            let accepted = "the noise scale must be at most 2^52 grid steps; use a coarser grid";
            return Err(ParameterError::out_of_range("noise scale", scale_steps, accepted));
        }
        let law = match self.noise {
            Noise::Discrete => NoiseLaw::Discrete(Box::new(DiscreteLaplace::new(&scale_steps)?)),
            Noise::Real => NoiseLaw::Real,
        };
        Ok(Calibrated { mechanism: self.clone(), scale_steps, law })
    }

    /// How far apart neighbours may lie, in grid steps.
    fn sensitivity_steps(&self) -> Result<Ratio, ParameterError> {
        let refuse = |name, value: &Ratio, accepted| ParameterError::out_of_range(name, value, accepted);
        if !self.sensitivity.is_positive() {
            return Err(refuse(
                "sensitivity",
                &self.sensitivity,
                "give a positive number; a constant needs no noise",
            ));
        }
        if !self.grid.is_positive() {
            return Err(refuse("grid", &self.grid, "give a positive step such as 1 or 0.01"));
        }
        if self.dimensions == 0 {
            return Err(refuse("dimensions", &Ratio::zero(), "give at least one coordinate"));
        }
        let exact = &self.sensitivity / &self.grid;
        let steps = match (self.noise, self.values) {
            (Noise::Real, _) => exact,
            (Noise::Discrete, Values::OnGrid) => Ratio::whole(exact.floor_big()),
            (Noise::Discrete, Values::Any) => {
                Ratio::whole(exact.ceil_big()) + Ratio::from(self.dimensions as u64 - 1)
            }
        };
        if steps.is_positive() {
            Ok(steps)
        } else {
            Err(refuse(
                "grid",
                &self.grid,
                "the grid step must not exceed the sensitivity when values lie on the grid",
            ))
        }
    }

    /// The least epsilon (six digits) whose noise is within `error` in every coordinate, with probability 1 - beta.
    pub fn eps_for(&self, error: &Ratio, beta: &Ratio) -> Option<Eps> {
        let steps = self.sensitivity_steps().ok()?;
        solve::smallest_eps(|eps| self.accuracy_at(&(&steps / eps.ratio()), beta) <= *error)
    }

    /// A bound on every coordinate's error that holds with probability 1 - beta.
    fn accuracy_at(&self, scale_steps: &Ratio, beta: &Ratio) -> Ratio {
        assert!(beta.is_positive(), "certainty has no finite bound");
        let each = beta / &Ratio::from(self.dimensions as u64);
        let noise = match self.noise {
            Noise::Discrete => discrete_tail_steps(scale_steps, &each),
            // P(|Z| > t) = e^(-t/scale).
            Noise::Real => scale_steps * &ln_upper(&each.recip()).max(Ratio::zero()),
        };
        let rounded = self.noise == Noise::Real || self.values == Values::Any;
        let rounding = if rounded { Ratio::new(1, 2) } else { Ratio::zero() };
        (noise + rounding) * &self.grid
    }
}

/// The least t with P(|Z| > t) <= beta, perhaps one more: P(|Z| > t) = 2 q^(t+1)/(1 + q), q = e^(-1/scale).
pub(super) fn discrete_tail_steps(scale: &Ratio, beta: &Ratio) -> Ratio {
    let bits = 160 + beta.bits_of_inverse();
    let one = Interval::one(bits);
    let q = Interval::exact(&-scale.recip(), bits).exp();
    let log = one.add(&one).div(&one.add(&q)).div(&Interval::exact(beta, bits)).ln();
    let beyond = Ratio::whole(log.mul_ratio(scale).upper().ceil_big()) - Ratio::one();
    beyond.max(Ratio::zero())
}

/// The law of the whole steps nearest to `center` plus real noise, in steps.
fn rounded(center: Ratio, scale_steps: &Ratio) -> Rounded<RealLaplace> {
    let (scale, grid) = (scale_steps.clone(), Ratio::one());
    Rounded::new(RealLaplace, Placement { center, scale, grid, clamp: EVERY_MULTIPLE })
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.mechanism.eps)
    }

    /// The scale of the noise, in the unit of the values.
    pub fn scale(&self) -> Ratio {
        &self.scale_steps * &self.mechanism.grid
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
                NoiseLaw::Real => coins.sample(&rounded(&steps - &nearest, &self.scale_steps)),
            };
            (nearest + Ratio::from(noise)) * &self.mechanism.grid
        };
        (0..self.mechanism.dimensions).map(add_noise).collect()
    }

    /// One whole number plus noise, on a grid of one.
    pub fn run_whole<C: Coins>(&self, value: i64, coins: &mut C) -> i64 {
        assert!(self.mechanism.grid == Ratio::one(), "whole numbers lie on a grid of one");
        let noise = match &self.law {
            NoiseLaw::Discrete(law) => coins.sample(&**law),
            NoiseLaw::Real => coins.sample(&rounded(Ratio::zero(), &self.scale_steps)),
        };
        value.saturating_add(noise)
    }

    /// Add noise to whole numbers, on a grid of one, in place.
    pub fn run_counts(&self, counts: &mut [i64], coins: &mut impl Coins) {
        assert!(counts.len() == self.mechanism.dimensions, "one count for each coordinate");
        for count in counts {
            *count = self.run_whole(*count, coins);
        }
    }

    /// With probability 1 - beta every coordinate's error is at most this.
    pub fn accuracy(&self, beta: &Ratio) -> Ratio {
        self.mechanism.accuracy_at(&self.scale_steps, beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        tape::{Pmf, delta_between, enumerate},
    };

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn laplace(eps: &str, sensitivity: &str, grid: &str, dimensions: usize, values: Values) -> Laplace {
        Laplace {
            eps: eps.parse().unwrap(),
            sensitivity: ratio(sensitivity),
            grid: ratio(grid),
            dimensions,
            values,
            noise: Noise::Discrete,
        }
    }

    #[test]
    fn hand_computed_scales() {
        for (eps, sensitivity, grid, dimensions, values, scale) in [
            ("1", "1", "1", 1, Values::OnGrid, "1"),
            ("0.1", "1", "1", 1, Values::OnGrid, "10"),
            ("0.5", "3", "1", 4, Values::OnGrid, "6"),
            ("0.5", "3.7", "1", 1, Values::OnGrid, "6"),
            ("1", "3.7", "1", 1, Values::Any, "4"),
            ("1", "1", "0.01", 1, Values::Any, "1"),
            ("1", "1", "0.01", 3, Values::Any, "1.02"),
            ("2", "1/3", "0.25", 2, Values::Any, "0.375"),
        ] {
            let calibrated = laplace(eps, sensitivity, grid, dimensions, values).calibrate().unwrap();
            assert_eq!(calibrated.scale(), ratio(scale), "{eps} {sensitivity} {grid} {dimensions}");
        }
    }

    /// Half a step where something is rounded: values that lie anywhere, and noise that does.
    #[test]
    fn errors_count_what_is_rounded() {
        let error = |values: Values, noise: Noise| {
            let mechanism = Laplace { noise, ..laplace("0.1", "1", "1", 1, values) };
            mechanism.calibrate().unwrap().accuracy(&ratio("0.05"))
        };
        let exact = error(Values::OnGrid, Noise::Discrete);
        assert_eq!(error(Values::Any, Noise::Discrete), exact + Ratio::new(1, 2));
        // 10·ln 20 is 29.957.
        for values in [Values::OnGrid, Values::Any] {
            let real = error(values, Noise::Real).to_f64();
            assert!((real - 30.457).abs() < 0.001, "{values:?}: {real}");
        }
    }

    #[test]
    fn bad_parameters_are_refused_in_one_line() {
        for (sensitivity, grid, dimensions, values, expected) in [
            ("0", "1", 1, Values::Any, "sensitivity 0 is not accepted"),
            ("-1", "1", 1, Values::Any, "sensitivity -1 is not accepted"),
            ("1", "0", 1, Values::Any, "grid 0 is not accepted"),
            ("1", "1", 0, Values::Any, "dimensions 0 is not accepted"),
            ("1", "2", 1, Values::OnGrid, "grid 2 is not accepted"),
            ("1", "1e-30", 1, Values::Any, "noise scale"),
        ] {
            let error =
                laplace("1", sensitivity, grid, dimensions, values).calibrate().unwrap_err().to_string();
            assert!(error.starts_with(expected) && !error.contains('\n'), "{error}");
        }
    }

    fn distribution(calibrated: &Calibrated, values: &[&str]) -> Pmf<Vec<Ratio>> {
        let values: Vec<Ratio> = values.iter().map(|text| ratio(text)).collect();
        enumerate(&ratio("1e-10"), |tape| calibrated.run(&values, tape))
    }

    /// Pairs at the edge of what one person may do, with values between grid points.
    const PAIRS: [([&str; 2], [&str; 2]); 4] = [
        (["0", "0"], ["1", "0"]),
        (["0.49", "0"], ["1.49", "0"]),
        (["0.4", "0.4"], ["0.9", "0.9"]),
        (["-0.6", "0.2"], ["-0.1", "0.7"]),
    ];

    #[test]
    fn exact_audit_over_values_between_grid_points() {
        let shape = laplace("1", "1", "1", 2, Values::Any);
        let calibrated = shape.calibrate().unwrap();
        for (a, b) in PAIRS {
            let delta = delta_between(
                shape.eps.ratio(),
                &distribution(&calibrated, &a),
                &distribution(&calibrated, &b),
            );
            assert!(delta.upper() < ratio("1e-6"), "{a:?} {b:?}: {}", delta.upper().to_f64());
        }
    }

    #[test]
    fn exact_audit_of_real_noise_which_needs_no_room_for_rounding() {
        let shape = Laplace { noise: Noise::Real, ..laplace("1", "1", "1", 2, Values::Any) };
        let calibrated = shape.calibrate().unwrap();
        assert_eq!(calibrated.scale(), Ratio::one());
        for (a, b) in PAIRS {
            let delta = delta_between(
                shape.eps.ratio(),
                &distribution(&calibrated, &a),
                &distribution(&calibrated, &b),
            );
            assert!(delta.upper() < ratio("1e-6"), "{a:?} {b:?}: {}", delta.upper().to_f64());
        }
    }

    #[test]
    fn real_noise_is_as_accurate_as_its_tail_and_half_a_step() {
        let shape = Laplace { noise: Noise::Real, ..laplace("0.5", "1", "0.01", 1, Values::Any) };
        // 2·ln(20) = 5.9914…, and 0.005 for rounding.
        assert_eq!(shape.calibrate().unwrap().accuracy(&ratio("0.05")).to_decimal_up(4), "5.9965");
        assert_eq!(shape.eps_for(&ratio("5.9965"), &ratio("0.05")).unwrap().to_string(), "0.499998");
    }

    #[test]
    fn a_mutant_that_forgets_the_rounding_of_the_second_coordinate_is_caught() {
        let shape = laplace("1", "1", "1", 2, Values::Any);
        // As if values lay on the grid: one step instead of two.
        let mutant = Laplace { values: Values::OnGrid, ..shape.clone() }.calibrate().unwrap();
        let worst = PAIRS.iter().map(|(a, b)| {
            delta_between(shape.eps.ratio(), &distribution(&mutant, a), &distribution(&mutant, b)).lower()
        });
        assert!(worst.max().unwrap() > ratio("0.1"));
    }

    #[test]
    fn accuracy_is_the_exact_tail_and_its_inverse_agrees() {
        let shape = laplace("0.5", "1", "1", 1, Values::OnGrid);
        let calibrated = shape.calibrate().unwrap();
        let (beta, pmf) = (ratio("0.05"), distribution(&calibrated, &["0"]));
        let bound = calibrated.accuracy(&beta);
        let beyond = |t: &Ratio| -> f64 {
            let outside = pmf.iter().filter(|(value, _)| value[0].abs() > *t);
            outside.map(|(_, mass)| mass.to_f64()).sum()
        };
        assert!(beyond(&bound) <= 0.05 && beyond(&(&bound - &Ratio::one())) > 0.05);
        let eps = shape.eps_for(&bound, &beta).unwrap();
        let at = |eps: Eps| Laplace { eps, ..shape.clone() }.calibrate().unwrap().accuracy(&beta);
        assert!(at(eps.clone()) <= bound && eps <= shape.eps);
        assert!(at(Eps::new(eps.ratio() - &ratio("1e-6")).unwrap()) > bound);
        assert!(shape.eps_for(&ratio("-1"), &beta).is_none());
    }

    #[test]
    fn a_scripted_run() {
        let calibrated = laplace("1", "1", "0.5", 2, Values::OnGrid).calibrate().unwrap();
        // Scale two steps. A word that finds a strip of one number, here of zero and of three steps, then a
        // word of its sign and the uniform number that accepts it; twice.
        let words = vec![0, 0, 3 << 57, 1 << 63];
        let answer = calibrated.run(&[ratio("3"), ratio("4.5")], &mut ScriptedWords::new(words));
        assert_eq!(answer, vec![ratio("3"), ratio("3")]);
    }

    /// Real noise once had no largest scale: on a fine grid it was cut at 2^63 steps around the value.
    #[test]
    fn noise_that_would_be_cut_around_the_value_is_refused() {
        for noise in [Noise::Discrete, Noise::Real] {
            let fine = Laplace { noise, ..laplace("0.1", "1000", "1e-15", 1, Values::Any) };
            let error = fine.calibrate().unwrap_err().to_string();
            assert!(error.starts_with("noise scale") && error.contains("coarser grid"), "{error}");
        }
    }

    #[test]
    fn extreme_confidences_have_finite_bounds() {
        let calibrated = laplace("1", "1", "1", 1, Values::OnGrid).calibrate().unwrap();
        assert_eq!(calibrated.accuracy(&ratio("1e-100")).to_decimal_up(0), "230");
    }

    #[test]
    fn the_shape_of_the_answer_is_public() {
        let calibrated = laplace("1", "1", "1", 2, Values::OnGrid).calibrate().unwrap();
        for values in [vec![], vec![Ratio::one(); 5]] {
            assert_eq!(calibrated.run(&values, &mut ScriptedWords::new(vec![1 << 40; 99])).len(), 2);
        }
    }

    /// Each count gets the noise that one whole number would get from the same words, in order.
    #[test]
    fn several_counts_are_noised_one_after_another() {
        let words: Vec<u64> = (1..400u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for noise in [Noise::Discrete, Noise::Real] {
            let several = |dimensions| Laplace {
                eps: "0.1".parse().unwrap(),
                sensitivity: Ratio::one(),
                grid: Ratio::one(),
                dimensions,
                values: Values::OnGrid,
                noise,
            };
            let calibrated = several(3).calibrate().unwrap();
            let (mut one, mut other) = (ScriptedWords::new(words.clone()), ScriptedWords::new(words.clone()));
            let mut counts = [5, 50, i64::MAX];
            calibrated.run_counts(&mut counts, &mut one);
            let singly = [5, 50, i64::MAX].map(|count| calibrated.run_whole(count, &mut other));
            assert_eq!((counts, one.used()), (singly, other.used()));
            assert_ne!(counts[..2], [5, 50]);
        }
    }
}
