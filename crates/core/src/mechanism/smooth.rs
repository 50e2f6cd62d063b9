//! Releases a statistic plus noise in proportion to its smooth bound: little where the data is stable, never a
//! refusal.
//!
//! Source: 002_c9075a084346ce80.txt, section 1.6; Nissim, Raskhodnikova, Smith 2007.
//!
//! # Guarantee
//!
//! With Cauchy, Student or PolyPlace noise: epsilon-DP; with Laplace noise: (epsilon, delta)-DP. Under the
//! adjacency of the bound, for every value in the range and every bound made by [`Calibrated::decay`].
//!
//! # Why
//!
//! 1. Between neighbours the value moves by at most the smaller of the two bounds, and the bound by at most a
//!    factor e^beta, both exactly ([`Bound`]).
//! 2. Noise at the scale bound/shift therefore moves its centre by at most `shift` of its own scales, and the
//!    logarithm of its scale by at most beta: the setting of [`Moves`](crate::loss::Moves). The calibration is
//!    the largest shift, rounded down, whose exact worst case keeps to epsilon and delta.
//! 3. The answer is exactly what that ideal real number rounds to ([`Rounded`]), moved into the public range:
//!    post-processing.
//!
//! # Differs
//!
//! The text adds `Z·SS/epsilon` with Cauchy noise and beta = epsilon, which loses 1.143 at epsilon 1. The published
//! constants for Laplace noise, beta = epsilon/(2 ln(2/delta)) and scale 2·SS/epsilon, are private but add 39 % more
//! noise than needed. Both are replaced by the exact calibration for any beta.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, ratio::Ratio, stability::{Median, Range}};
//! use equipoise_core::mechanism::smooth::{Noise, Smooth};
//!
//! let mechanism = Smooth {
//!     eps: "1".parse()?,
//!     noise: Noise::Cauchy,
//!     beta: "0.5".parse()?,
//!     range: Some(Range::new(0, 200_000)?),
//!     grid: Ratio::one(),
//! };
//! let calibrated = mechanism.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "1-differential privacy");
//! // 10,000 incomes, 20 apart around the middle.
//! let rows: Vec<i64> = (0..10_000).map(|person| 20 * person).collect();
//! let window = Median.window(&rows, Range::new(0, 200_000)?, calibrated.decay().reach(Median.quantile(), Adjacency::AddRemove));
//! let bound = calibrated.decay().median(&window, Adjacency::AddRemove);
//! # let mut coins = ScriptedWords::new(vec![3 << 62, 0]);
//! let answer = calibrated.run(&Ratio::from(window.target().or(0)), &bound, &mut coins);
//! // With probability at least 0.9 the error is at most 148.
//! assert_eq!(calibrated.accuracy(bound.value(), &"0.1".parse()?).ceil_i64(), Some(148));
//! # let _ = answer;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::outputs::Outputs;
use crate::{
    coins::Coins,
    loss::{
        Delta, Eps, Loss, ParameterError, laplace_pair_shift_lower, poly_place_shift_lower,
        student_shift_lower,
    },
    ratio::Ratio,
    sampler::{
        cauchy::Cauchy,
        laplace_real::RealLaplace,
        poly_place::PolyPlace,
        real::{Placement, RealVariable, Rounded},
        student_t::StudentT,
    },
    solve,
    stability::{
        Range,
        smooth::{Bound, Decay},
    },
};

/// Which noise; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noise {
    /// The heaviest tail, for a beta close to epsilon.
    Cauchy,
    /// Student's noise with so many degrees of freedom, at least one; needs beta below epsilon/nu.
    StudentT {
        /// Degrees of freedom.
        nu: Ratio,
    },
    /// A density that falls like `|x|^-alpha`; needs `1 < alpha <= 1 + epsilon/beta`.
    PolyPlace {
        /// The exponent; the largest has the least spread in every case tried.
        alpha: Ratio,
    },
    /// The lightest tail, at the price of a delta; needs beta of about epsilon/ln(1/delta) or less.
    Laplace {
        /// Above zero.
        delta: Delta,
    },
}

/// Parameters of the smooth-sensitivity mechanism; all public.
#[derive(Clone, Debug)]
pub struct Smooth {
    /// Privacy.
    pub eps: Eps,
    /// Which noise.
    pub noise: Noise,
    /// How fast the bound may change between neighbours; a smaller beta makes it larger and the noise lighter.
    pub beta: Ratio,
    /// The range of the statistic; without one, a smooth bound is infinite.
    pub range: Option<Range>,
    /// Answers are multiples of this.
    pub grid: Ratio,
}

#[derive(Clone, Debug)]
enum Variable {
    Cauchy(Cauchy),
    StudentT(StudentT),
    PolyPlace(PolyPlace),
    Laplace(RealLaplace),
}

/// A smooth-sensitivity mechanism ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    cost: Loss,
    variable: Variable,
    scale_per_bound: Ratio,
    decay: Decay,
    outputs: Outputs,
}

impl Noise {
    fn delta(&self) -> Delta {
        match self {
            Self::Laplace { delta } => delta.clone(),
            _ => Delta::zero(),
        }
    }

    /// Parameters of the law itself, apart from epsilon and beta.
    fn check(&self) -> Result<(), ParameterError> {
        match self {
            Self::StudentT { nu } if *nu < Ratio::one() => Err(ParameterError::out_of_range(
                "nu",
                nu,
                "give at least 1; the next lighter tail is at a larger nu",
            )),
            Self::PolyPlace { alpha } if *alpha <= Ratio::one() => Err(ParameterError::out_of_range(
                "alpha",
                alpha,
                "give a number above 1, such as 1 + epsilon/beta",
            )),
            Self::Laplace { delta } if delta.is_zero() => Err(ParameterError::out_of_range(
                "delta",
                delta,
                "Laplace noise needs a delta such as 1e-6; without one use Cauchy, Student or PolyPlace noise",
            )),
            _ => Ok(()),
        }
    }

    fn shift_lower(&self, eps: &Ratio, beta: &Ratio) -> Option<Ratio> {
        match self {
            Self::Cauchy => student_shift_lower(&Ratio::one(), eps, beta),
            Self::StudentT { nu } => student_shift_lower(nu, eps, beta),
            Self::PolyPlace { alpha } => poly_place_shift_lower(alpha, eps, beta),
            Self::Laplace { delta } => laplace_pair_shift_lower(eps, delta.ratio(), beta),
        }
    }

    fn no_shift(&self, beta: &Ratio) -> ParameterError {
        let accepted = match self {
            Self::Cauchy => "Cauchy noise needs it below epsilon; give half of epsilon",
            Self::StudentT { .. } => "Student's noise needs it below epsilon/nu; give a smaller beta or nu",
            Self::PolyPlace { .. } => {
                "PolyPlace noise needs it below epsilon and at most epsilon/(alpha - 1); give a smaller beta or alpha"
            }
            Self::Laplace { .. } => {
                "Laplace noise needs it smaller for this delta; give epsilon/(2 ln(2/delta)) or a larger delta"
            }
        };
        ParameterError::out_of_range("beta", beta, accepted)
    }
}

impl Variable {
    fn new(noise: &Noise) -> Self {
        match noise {
            Noise::Cauchy => Self::Cauchy(Cauchy),
            Noise::StudentT { nu } => Self::StudentT(StudentT::new(nu)),
            Noise::PolyPlace { alpha } => Self::PolyPlace(PolyPlace::new(alpha)),
            Noise::Laplace { .. } => Self::Laplace(RealLaplace),
        }
    }

    fn error(&self, outputs: &Outputs, scale: &Ratio, failure: &Ratio) -> Ratio {
        match self {
            Self::Cauchy(variable) => outputs.error(variable, scale, failure),
            Self::StudentT(variable) => outputs.error(variable, scale, failure),
            Self::PolyPlace(variable) => outputs.error(variable, scale, failure),
            Self::Laplace(variable) => outputs.error(variable, scale, failure),
        }
    }
}

impl Smooth {
    /// Compute the noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let outputs = Outputs::new(self.range, &self.grid)?;
        let scale_per_bound = self.scale_per_bound()?;
        Ok(Calibrated {
            cost: Loss::approx(&self.eps, &self.noise.delta()),
            variable: Variable::new(&self.noise),
            scale_per_bound,
            decay: Decay::for_range(&self.beta, outputs.range)?,
            outputs,
        })
    }

    /// The scale of the noise for a bound of one.
    pub fn scale_per_bound(&self) -> Result<Ratio, ParameterError> {
        self.noise.check()?;
        if !self.beta.is_positive() {
            return Err(ParameterError::out_of_range(
                "beta",
                &self.beta,
                "give a number above 0, such as a tenth of epsilon",
            ));
        }
        let shift = self.noise.shift_lower(self.eps.ratio(), &self.beta);
        shift.map(|shift| shift.recip()).ok_or_else(|| self.noise.no_shift(&self.beta))
    }

    /// The error with probability 1 - failure, where the bound is `bound`: from public numbers alone.
    pub fn error(&self, bound: &Ratio, failure: &Ratio) -> Result<Ratio, ParameterError> {
        let outputs = Outputs::new(self.range, &self.grid)?;
        let scale = self.scale_per_bound()? * bound;
        Ok(Variable::new(&self.noise).error(&outputs, &scale, failure))
    }

    /// The least epsilon (six digits) whose error is within `error` with probability 1 - failure, if the smooth
    /// bound at this beta is `bound`: a guess, since the real one is private.
    pub fn eps_for(&self, error: &Ratio, bound: &Ratio, failure: &Ratio) -> Option<Eps> {
        solve::smallest_eps(|eps| {
            let here = Self { eps: eps.clone(), ..self.clone() };
            here.error(bound, failure).is_ok_and(|found| found <= *error)
        })
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        self.cost.clone()
    }

    /// The scale of the noise for a bound of one.
    pub fn scale_per_bound(&self) -> &Ratio {
        &self.scale_per_bound
    }

    /// The weights that the bound of a run is made with.
    pub fn decay(&self) -> &Decay {
        &self.decay
    }

    /// The noisy value: a multiple of the grid, from the one at or below the range to the one at or above it.
    /// Panics if the bound was made with another beta, which is public.
    pub fn run(&self, value: &Ratio, bound: &Bound, coins: &mut impl Coins) -> Ratio {
        assert_eq!(bound.beta(), self.decay.beta(), "the bound is made by the decay of this mechanism");
        let multiple = match &self.variable {
            Variable::Cauchy(variable) => self.draw(variable, value, bound, coins),
            Variable::StudentT(variable) => self.draw(variable, value, bound, coins),
            Variable::PolyPlace(variable) => self.draw(variable, value, bound, coins),
            Variable::Laplace(variable) => self.draw(variable, value, bound, coins),
        };
        Ratio::from(multiple) * &self.outputs.grid
    }

    fn draw<V: RealVariable>(
        &self,
        variable: &V,
        value: &Ratio,
        bound: &Bound,
        coins: &mut impl Coins,
    ) -> i64 {
        let Outputs { range, grid, clamp } = &self.outputs;
        let [least, scale, most] =
            [bound.least(), bound.value(), bound.most()].map(|bound| bound * &self.scale_per_bound);
        let center = value.clone().max(range.lo().into()).min(range.hi().into());
        let placement = Placement { center, scale, grid: grid.clone(), clamp: clamp.clone() };
        coins.sample(&Rounded::new(variable, placement).for_scales_between(&least, &most))
    }

    /// With probability 1 - failure the error is at most this, where the bound is `bound`. Private if the bound
    /// is; public for a guess of it.
    pub fn accuracy(&self, bound: &Ratio, failure: &Ratio) -> Ratio {
        self.variable.error(&self.outputs, &(bound * &self.scale_per_bound), failure)
    }

    /// The same for every data set: the bound is at most the width of the range.
    pub fn accuracy_at_worst(&self, failure: &Ratio) -> Ratio {
        self.accuracy(&Ratio::from(self.outputs.range.width()), failure)
    }
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

    fn smooth(eps: &str, noise: Noise, beta: &str, hi: i64) -> Smooth {
        Smooth {
            eps: eps.parse().unwrap(),
            noise,
            beta: ratio(beta),
            range: Some(Range::new(0, hi).unwrap()),
            grid: Ratio::one(),
        }
    }

    fn student(nu: &str) -> Noise {
        Noise::StudentT { nu: ratio(nu) }
    }

    fn poly(alpha: &str) -> Noise {
        Noise::PolyPlace { alpha: ratio(alpha) }
    }

    fn laplace(delta: &str) -> Noise {
        Noise::Laplace { delta: delta.parse().unwrap() }
    }

    #[test]
    fn hand_computed_scales() {
        // Cauchy: 1/(2 sinh ½), or 1/√(2e^0.9(cosh 1 - cosh 0.9)) where beta is close to epsilon.
        let cauchy = 1.0 / (2.0 * 0.5f64.sinh());
        let close = 1.0 / (2.0 * 0.9f64.exp() * (1f64.cosh() - 0.9f64.cosh())).sqrt();
        // Student, three degrees of freedom: 1/√(6e^0.1(cosh 0.45 - cosh 0.1)).
        let three = 1.0 / (6.0 * 0.1f64.exp() * (0.45f64.cosh() - 0.1f64.cosh())).sqrt();
        // PolyPlace: alpha = 3, h = e^0.2(e^(0.8/3) - 1).
        let third = 1.0 / (0.2f64.exp() * ((0.8f64 / 3.0).exp() - 1.0));
        for (noise, beta, scale) in [
            (Noise::Cauchy, "0.5", cauchy),
            (Noise::Cauchy, "0.9", close),
            (student("3"), "0.1", three),
            (poly("3"), "0.2", third),
        ] {
            let found = smooth("1", noise, beta, 9).scale_per_bound().unwrap().to_f64();
            assert!((found - scale).abs() < 1e-12, "{found} {scale}");
        }
        assert!((cauchy - 0.960).abs() < 5e-4 && (three - 1.241).abs() < 5e-4);
        let found = smooth("1", laplace("1e-6"), "0.03446", 9).scale_per_bound().unwrap().to_f64();
        assert!((found - 1.443).abs() < 1e-3, "{found}");
    }

    #[test]
    fn bad_parameters_are_refused_in_one_line() {
        let refusal = |mechanism: Smooth| mechanism.calibrate().unwrap_err().to_string();
        let unbounded = Smooth { range: None, ..smooth("1", Noise::Cauchy, "0.5", 9) };
        assert_eq!(
            refusal(unbounded),
            "range unbounded is not accepted: give LO,HI, without which a smooth bound is infinite; or use \
             inverse-sensitivity, which needs none"
        );
        assert_eq!(
            refusal(smooth("1", laplace("0"), "0.01", 9)),
            "delta 0 is not accepted: Laplace noise needs a delta such as 1e-6; without one use Cauchy, Student or \
             PolyPlace noise"
        );
        for (mechanism, expected) in [
            (
                smooth("1", Noise::Cauchy, "1", 9),
                "beta 1 is not accepted: Cauchy noise needs it below epsilon",
            ),
            (smooth("1", student("3"), "0.34", 9), "beta 0.34 is not accepted: Student's noise"),
            (smooth("1", student("0.9"), "0.3", 9), "nu 0.9 is not accepted"),
            (smooth("1", poly("1"), "0.3", 9), "alpha 1 is not accepted"),
            (smooth("1", poly("12"), "0.1", 9), "beta 0.1 is not accepted: PolyPlace noise"),
            (smooth("1", laplace("1e-6"), "0.5", 9), "beta 0.5 is not accepted: Laplace noise"),
            (smooth("1", Noise::Cauchy, "0", 9), "beta 0 is not accepted"),
            (
                Smooth { grid: Ratio::zero(), ..smooth("1", Noise::Cauchy, "0.5", 9) },
                "grid 0 is not accepted",
            ),
            (Smooth { grid: ratio("1e-30"), ..smooth("1", Noise::Cauchy, "0.5", 9) }, "grid 0.0000"),
        ] {
            let error = refusal(mechanism);
            assert!(error.starts_with(expected) && !error.contains('\n'), "{error}");
        }
    }

    /// The bound as shipped.
    fn shipped(calibrated: &Calibrated, data: &[i64], hi: i64, adjacency: Adjacency) -> Bound {
        let decay = calibrated.decay();
        let reach = decay.reach(Median.quantile(), adjacency);
        decay.median(&Median.window(data, Range::new(0, hi).unwrap(), reach), adjacency)
    }

    /// The local sensitivity in place of the bound: beta is ignored.
    fn local(calibrated: &Calibrated, data: &[i64], hi: i64, adjacency: Adjacency) -> Bound {
        let window = Median.window(data, Range::new(0, hi).unwrap(), crate::stability::Reach::Ranks(1));
        let moved = Median.local_sensitivity_at_distance(&window, 0, adjacency).unwrap();
        calibrated.decay().profile(&Profile { at_distance: vec![moved], beyond: 0 })
    }

    type MakeBound = fn(&Calibrated, &[i64], i64, Adjacency) -> Bound;

    /// The worst delta at the claimed epsilon over all neighbours, as a certified bracket.
    fn worst_delta(
        mechanism: &Smooth,
        bound: MakeBound,
        adjacency: Adjacency,
        size: usize,
    ) -> (Ratio, Ratio) {
        const VALUES: [i64; 3] = [0, 1, 4];
        let calibrated = mechanism.calibrate().unwrap();
        let mut seen: BTreeMap<Vec<i64>, Pmf<Ratio>> = BTreeMap::new();
        let (mut low, mut high) = (Ratio::zero(), Ratio::zero());
        for (a, b) in neighbouring_pairs(&VALUES, size, adjacency) {
            for data in [&a, &b] {
                seen.entry(data.clone()).or_insert_with(|| {
                    let median = data.get(data.len().saturating_sub(1) / 2).copied().unwrap_or(0);
                    let bound = bound(&calibrated, data, 4, adjacency);
                    enumerate(&ratio("1e-20"), |tape| calibrated.run(&Ratio::from(median), &bound, tape))
                });
            }
            let delta = delta_between(mechanism.eps.ratio(), &seen[&a], &seen[&b]);
            (low, high) = (low.max(delta.lower()), high.max(delta.upper()));
        }
        (low, high)
    }

    #[test]
    fn exact_audit_over_all_neighbours_and_a_mutant_that_ignores_beta() {
        for adjacency in Adjacency::ALL {
            for (noise, beta) in [(Noise::Cauchy, "0.5"), (poly("3"), "0.5"), (laplace("0.01"), "0.2")] {
                let delta = noise.delta();
                let mechanism = Smooth { grid: ratio("0.5"), ..smooth("1", noise, beta, 4) };
                let (_, high) = worst_delta(&mechanism, shipped, adjacency, 4);
                assert!(high <= delta.ratio() + &ratio("1e-15"), "{mechanism:?}: {}", high.to_f64());
                let (low, _) = worst_delta(&mechanism, local, adjacency, 4);
                assert!(low > ratio("0.1"), "{mechanism:?}: {}", low.to_f64());
            }
        }
        // Student's distribution function takes long, so fewer data sets.
        let mechanism = smooth("1", student("2"), "0.3", 4);
        assert!(worst_delta(&mechanism, shipped, Adjacency::Replace, 2).1 <= ratio("1e-15"));
        assert!(worst_delta(&mechanism, local, Adjacency::Replace, 2).0 > ratio("0.1"));
    }

    #[test]
    fn a_scripted_run() {
        // U = 3/4 makes the Cauchy noise one: the answer is the value plus the scale.
        let mechanism = Smooth { grid: ratio("0.001"), ..smooth("1", Noise::Cauchy, "0.5", 100) };
        let calibrated = mechanism.calibrate().unwrap();
        let bound = calibrated.decay().profile(&Profile { at_distance: vec![10u64], beyond: 10 });
        let run = |value: &str, word: u64| {
            let mut coins = ScriptedWords::new(vec![word, 0]);
            let answer = calibrated.run(&ratio(value), &bound, &mut coins);
            assert_eq!(coins.used(), 2);
            answer
        };
        assert_eq!(run("40", 3 << 62), ratio("49.595"));
        assert_eq!(run("40", 1 << 62), ratio("30.405"));
        // Answers and values stay in the range.
        assert_eq!((run("40", 1), run("40", u64::MAX)), (ratio("0"), ratio("100")));
        assert_eq!(run("700", 1 << 62), ratio("90.405"));
    }

    #[test]
    fn a_range_of_one_value_needs_no_noise() {
        let mechanism =
            Smooth { range: Some(Range::new(7, 7).unwrap()), ..smooth("1", Noise::Cauchy, "0.5", 9) };
        let calibrated = mechanism.calibrate().unwrap();
        let reach = calibrated.decay().reach(Median.quantile(), Adjacency::AddRemove);
        let window = Median.window(&[3, 9], mechanism.range.unwrap(), reach);
        let bound = calibrated.decay().median(&window, Adjacency::AddRemove);
        assert!(bound.value().is_zero());
        let answer = calibrated.run(&Ratio::from(7u64), &bound, &mut ScriptedWords::new(vec![1, 1]));
        assert_eq!(answer, Ratio::from(7u64));
        assert_eq!(calibrated.accuracy(bound.value(), &ratio("0.01")), ratio("0.5"));
    }

    #[test]
    #[should_panic(expected = "made by the decay of this mechanism")]
    fn a_bound_for_another_beta_is_not_taken() {
        let decay = Decay::new(&ratio("0.6"), 3).unwrap();
        let bound = decay.profile(&Profile { at_distance: vec![1u64], beyond: 9 });
        let calibrated = smooth("1", Noise::Cauchy, "0.5", 9).calibrate().unwrap();
        calibrated.run(&Ratio::zero(), &bound, &mut ScriptedWords::new(vec![1, 1]));
    }

    #[test]
    fn accuracy_is_the_tail_of_the_noise() {
        let failure = ratio("0.05");
        let tail = |noise: Noise, beta: &str| {
            let calibrated = smooth("1", noise, beta, 1 << 40).calibrate().unwrap();
            let unit = calibrated.scale_per_bound().to_f64();
            // The grid adds a half, which a large bound makes small.
            (calibrated.accuracy(&ratio("1e6"), &failure).to_f64() - 0.5) / 1e6 / unit
        };
        // tan(0.95 pi/2); Student's table for three degrees; 0.05^(-1/2) - 1; ln 20.
        for (noise, beta, wanted) in [
            (Noise::Cauchy, "0.5", 12.7062),
            (student("3"), "0.1", 3.18245),
            (poly("3"), "0.2", 20f64.sqrt() - 1.0),
            (laplace("1e-6"), "0.03", 20f64.ln()),
        ] {
            let found = tail(noise, beta);
            assert!((wanted - 1e-4..wanted * 1.0002).contains(&found), "{found} {wanted}");
        }
        let calibrated = smooth("1", Noise::Cauchy, "0.5", 9).calibrate().unwrap();
        assert_eq!(calibrated.accuracy_at_worst(&ratio("1e-9")), Ratio::from(10u64));
    }

    #[test]
    fn epsilon_from_an_accuracy_and_back() {
        let (bound, failure) = (ratio("3"), ratio("0.1"));
        for noise in [Noise::Cauchy, laplace("1e-3"), poly("2")] {
            let mechanism = smooth("1", noise, "0.1", 1000);
            let error = mechanism.calibrate().unwrap().accuracy(&bound, &failure);
            let eps = mechanism.eps_for(&error, &bound, &failure).unwrap();
            assert!(eps <= mechanism.eps && *eps.ratio() > ratio("0.999"), "{eps}");
            assert!(mechanism.eps_for(&ratio("0.4"), &bound, &failure).is_none());
        }
    }
}
