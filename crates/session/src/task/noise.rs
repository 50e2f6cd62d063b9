//! Exact noise on whole numbers, by one of two laws.
//!
//! `laplace` costs epsilon alone. `gaussian` costs (epsilon, delta) and reaches less far where a bar must hardly ever fail.

use crate::{error::PlanError, remembered::Remembered, resolved::ResolvedRequest, statistic::Argument};
use equipoise_core::{
    coins::Coins,
    loss::{Delta, Eps, Loss, Rho},
    mechanism::{
        Noise as Kind, Values,
        gaussian::{self, Gaussian, Target},
        l2::L2,
        laplace::{self, Laplace},
    },
    ratio::Ratio,
};
use std::sync::Arc;

/// The laws, for `--mechanism`.
pub(super) const LAWS: [&str; 2] = ["laplace", "gaussian"];

/// What the bell curve may lose where Laplace noise would lose epsilon and losses are concentrated: so that 19 of 20 numbers are off by
/// as much under both (2.94 over epsilon, 3.00 over epsilon), and what is composed is better wherever more epsilon can be shared.
fn bell_rho(eps: &Eps) -> Result<Rho, PlanError> {
    let two_thirds = eps.ratio() * &Ratio::new(2, 3);
    Ok(Rho::new(two_thirds.squared() / Ratio::from(2u64))?)
}

/// Noise for a whole number.
#[derive(Clone, Debug)]
pub(super) enum Noise {
    Laplace(Arc<laplace::Calibrated>),
    Gaussian(Arc<gaussian::Calibrated>),
}

static LAPLACE: Remembered<Laplace, laplace::Calibrated> = Remembered::up_to(64);
static GAUSSIAN: Remembered<Gaussian, gaussian::Calibrated> = Remembered::up_to(512);
/// How far noise goes, by what decides that and how often it may go farther.
static REACHES: Remembered<(Reaching, Ratio), Ratio> = Remembered::up_to(1024);

/// What decides how far noise goes.
#[derive(PartialEq)]
enum Reaching {
    /// The scale of noise on one whole number.
    Laplace(Ratio),
    Gaussian(Box<Gaussian>),
}

impl Noise {
    /// Noise by the law that was asked for, on a number that one row moves by at most so many steps. Only the bell curve
    /// spends of delta.
    pub fn plan(said: &ResolvedRequest, eps: &Eps, delta: &Delta, steps: i64) -> Result<Self, PlanError> {
        Self::of(said, eps, delta, steps, (steps, 1, Kind::Discrete))
    }

    /// The same for two numbers that one row moves by at most so many steps together, and by so many along the straight line
    /// between them. Real noise, rounded once, has the exact curve in every direction.
    pub fn plan_two(
        said: &ResolvedRequest,
        eps: &Eps,
        delta: &Delta,
        (together, straight): (i64, i64),
    ) -> Result<Self, PlanError> {
        Self::of(said, eps, delta, together, (straight, 2, Kind::Real))
    }

    fn of(
        said: &ResolvedRequest,
        eps: &Eps,
        delta: &Delta,
        together: i64,
        (straight, dimensions, noise): (i64, usize, Kind),
    ) -> Result<Self, PlanError> {
        if said.mechanism() != Some(LAWS[1]) {
            // Noise of this scale is what each of several numbers gets.
            return Ok(Self::Laplace(laplace(eps, together)?));
        }
        let target = if said.is_concentrated() {
            Target::Zcdp(bell_rho(eps)?)
        } else {
            Target::Approx { eps: eps.clone(), delta: delta.clone() }
        };
        if delta.is_zero() && !said.is_concentrated() {
            return Err(PlanError::about(Argument::Delta, "the mechanism gaussian needs a delta above 0")
                .hint("give `delta=1e-6`, or use laplace"));
        }
        let gaussian = Gaussian {
            target,
            sensitivity: L2::Exact(Ratio::from(straight)),
            grid: Ratio::one(),
            dimensions,
            values: Values::OnGrid,
            noise,
        };
        Ok(Self::Gaussian(calibrated(gaussian)?))
    }

    /// Its name.
    pub fn law(&self) -> &'static str {
        match self {
            Self::Laplace(_) => LAWS[0],
            Self::Gaussian(_) => LAWS[1],
        }
    }

    /// What a number costs.
    pub fn cost(&self) -> Loss {
        match self {
            Self::Laplace(noise) => noise.cost(),
            Self::Gaussian(noise) => noise.cost(),
        }
    }

    /// How far it goes on one number, except with this probability; rounded up.
    pub fn within(&self, failure: &Ratio) -> Result<i64, PlanError> {
        match self {
            Self::Laplace(noise) => within(noise, failure),
            // It is asked how far either number goes.
            Self::Gaussian(noise) => {
                let failure = failure * &Ratio::from(noise.dimensions() as u64);
                let key = (Reaching::Gaussian(Box::new(noise.params().clone())), failure);
                whole(&*REACHES.get(key, |(_, failure)| Ok::<_, PlanError>(noise.accuracy(failure)))?)
            }
        }
    }

    /// Two numbers with noise.
    pub fn run_two<C: Coins>(&self, mut numbers: [i64; 2], coins: &mut C) -> [i64; 2] {
        match self {
            Self::Laplace(noise) => numbers.map(|number| noise.run_whole(number, coins)),
            Self::Gaussian(noise) => {
                noise.run_counts(&mut numbers, coins);
                numbers
            }
        }
    }

    /// The number with noise. Beside two numbers it is a third: what moves it alone, by no more, costs no more.
    pub fn run<C: Coins>(&self, number: i64, coins: &mut C) -> i64 {
        match self {
            Self::Laplace(noise) => noise.run_whole(number, coins),
            Self::Gaussian(noise) => {
                // Noise of one law on each, of which one is looked at.
                let mut numbers = vec![0; noise.dimensions()];
                numbers[0] = number;
                noise.run_counts(&mut numbers, coins);
                numbers[0]
            }
        }
    }
}

/// Laplace noise for a number that one row moves by at most so many steps.
pub(super) fn laplace(eps: &Eps, steps: i64) -> Result<Arc<laplace::Calibrated>, PlanError> {
    let laplace = Laplace {
        eps: eps.clone(),
        sensitivity: Ratio::from(steps),
        grid: Ratio::one(),
        dimensions: 1,
        values: Values::OnGrid,
        noise: Kind::Discrete,
    };
    LAPLACE.get(laplace, |laplace| Ok(laplace.calibrate()?))
}

/// Noise by a bell curve.
pub(super) fn calibrated(gaussian: Gaussian) -> Result<Arc<gaussian::Calibrated>, PlanError> {
    GAUSSIAN.get(gaussian, |gaussian| Ok(gaussian.calibrate()?))
}

/// How far noise on one whole number goes, except with this probability; rounded up.
pub(super) fn within(noise: &laplace::Calibrated, failure: &Ratio) -> Result<i64, PlanError> {
    let key = (Reaching::Laplace(noise.scale()), failure.clone());
    whole(&*REACHES.get(key, |(_, failure)| Ok::<_, PlanError>(noise.accuracy(failure)))?)
}

/// How far noise goes, rounded up to a whole number.
pub(super) fn whole(error: &Ratio) -> Result<i64, PlanError> {
    error.ceil_i64().ok_or_else(|| {
        PlanError::about(Argument::Epsilon, "the noise would exceed every count")
            .hint("give a larger epsilon or a smaller confidence")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{plan::DataFacts, request::Request};
    use equipoise_core::{
        interval::Interval,
        tape::{delta_between, enumerate},
    };

    /// Noise for numbers that move by so many steps, at epsilon 1 and delta 0.05.
    fn noise(law: &str, steps: i64) -> Noise {
        let facts = DataFacts {
            name: "people".into(),
            columns: Vec::new(),
            registered: None,
            kinds: Vec::new(),
            windows: None,
        };
        let request = Request {
            epsilon: Some("1".into()),
            delta: Some("0.05".into()),
            mechanism: Some(law.into()),
            ..Request::new("count")
        };
        let said = ResolvedRequest::new(&request, &facts).unwrap();
        Noise::plan(&said, said.eps(), said.delta(), steps).unwrap()
    }

    #[test]
    fn a_bell_curve_without_a_delta_is_refused_in_one_line() {
        let facts = DataFacts {
            name: "people".into(),
            columns: Vec::new(),
            registered: None,
            kinds: Vec::new(),
            windows: None,
        };
        let request = Request {
            epsilon: Some("1".into()),
            mechanism: Some("gaussian".into()),
            ..Request::new("count")
        };
        let said = ResolvedRequest::new(&request, &facts).unwrap();
        let refused = Noise::plan(&said, said.eps(), said.delta(), 1).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the mechanism gaussian needs a delta above 0; give `delta=1e-6`, or use laplace"
        );
    }

    /// The largest delta at epsilon 1 between numbers that differ by up to two steps.
    fn worst(noise: &Noise) -> Interval {
        let at = |number: i64| enumerate(&"1e-9".parse().unwrap(), |tape| noise.run(number, tape));
        let shifts = [(0, 1), (1, 0), (0, 2), (2, 0), (-1, 1)];
        let deltas = shifts.map(|(a, b)| delta_between(&Ratio::one(), &at(a), &at(b)));
        deltas.into_iter().reduce(|a, b| a.max(&b)).expect("some shift")
    }

    #[test]
    fn exact_audit_of_both_laws_and_a_mutant_of_half_the_steps() {
        let slack: Ratio = "1e-6".parse().unwrap();
        for (law, delta) in [("laplace", "0"), ("gaussian", "0.05")] {
            let delta: Ratio = delta.parse().unwrap();
            let measured = worst(&noise(law, 2));
            assert!(measured.upper() <= &delta + &slack, "{law}: {}", measured.to_f64());
            // Delta is spent, not wasted.
            assert!(measured.lower() >= &delta * &"0.9".parse().unwrap() - &slack, "{law}");
            let mutant = worst(&noise(law, 1));
            assert!(mutant.lower() > &delta + &"0.05".parse().unwrap(), "{law}: {}", mutant.to_f64());
        }
    }

    #[test]
    fn names_prices_and_reaches() {
        let [laplace, gaussian] = LAWS.map(|law| noise(law, 1 << 30));
        assert_eq!([laplace.law(), gaussian.law()], LAWS);
        assert_eq!(laplace.cost().to_string(), "1-differential privacy");
        assert_eq!(gaussian.cost().to_string(), "(1, 0.05)-differential privacy");
        // In 19 cases of 20: ln(20), and 1.96 times a deviation of 1.333, in units of what a row does.
        let share = |noise: &Noise| noise.within(&Ratio::new(1, 20)).unwrap() as f64 / f64::from(1 << 30);
        assert!((share(&laplace) - 2.9957).abs() < 1e-3, "{}", share(&laplace));
        assert!((share(&gaussian) - 2.6122).abs() < 1e-3, "{}", share(&gaussian));
    }
}
