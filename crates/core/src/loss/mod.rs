//! What a release costs: (epsilon, delta), zero-concentrated or Renyi loss, in exact numbers.
//!
//! Losses add up within a family and across families; the way to (epsilon, delta) is certified.
//!
//! # Guarantee
//!
//! Every function here returns a true upper bound on the loss (or a true lower bound on a budget, where
//! its name or text says "down"). Sums are exact up to 512 significant bits and rounded up beyond.
//! Composition is the basic sum of losses whose parameters were fixed beforehand; the mechanisms
//! themselves may be chosen adaptively. Where parameters are chosen along the way, use a filter of
//! [`crate::account`].
//!
//! ```
//! use equipoise_core::loss::Loss;
//!
//! let one = Loss::pure(&"0.1".parse()?);
//! let delta = "1e-6".parse()?;
//! // A hundred releases of epsilon 0.1 sum to 10; concentrated accounting certifies about 5.22.
//! assert_eq!(one.times(100).to_string(), "10-differential privacy");
//! let concentrated = one.to_zcdp().unwrap().times(100).to_approx(&delta).unwrap();
//! assert!(concentrated.eps.ratio().to_f64() < 5.22);
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

mod amount;
mod approx;
mod arrivals_profile;
mod discrete_gaussian_profile;
mod gaussian_profile;
mod guarantee;
mod laplace_profile;
mod location_scale;
mod order;
mod parameter;
mod renyi;
mod zcdp;

pub use amount::Amount;
pub(crate) use amount::{significant_down, significant_up};
pub use approx::Approx;
pub use arrivals_profile::{Arrivals, renyi_curve_upper, renyi_eps_upper};
pub(crate) use discrete_gaussian_profile::discrete_gaussian_outside;
pub use discrete_gaussian_profile::{
    discrete_gaussian_delta_lower, discrete_gaussian_delta_upper, discrete_gaussian_variance_upper,
};
pub(crate) use gaussian_profile::{delta_above_zero, normal_outside};
pub use gaussian_profile::{gaussian_delta_lower, gaussian_delta_upper, gaussian_sigma_upper};
pub use guarantee::Guarantee;
pub use laplace_profile::{DiscreteLaplaceLoss, laplace_curve_upper, laplace_delta_upper};
pub use location_scale::{
    Moves, laplace_pair_delta, laplace_pair_shift_lower, poly_place_eps, poly_place_shift_lower, student_eps,
    student_shift_lower,
};
pub(crate) use order::order_cost_upper;
pub use parameter::{Delta, Eps, ParameterError, Rate, Rho};
pub(crate) use renyi::prepare;
pub use renyi::{Renyi, RenyiCurve, renyi_pure_upper};
pub use zcdp::{Zcdp, rho_for};

use crate::ratio::Ratio;
use std::fmt;

/// The loss of a release, in the family that describes it best.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Loss {
    /// (epsilon, delta).
    Approx(Approx),
    /// Delta-approximate zero-concentrated.
    Zcdp(Zcdp),
    /// Delta-approximate Renyi, on a fixed grid of orders.
    Renyi(Renyi),
}

impl Loss {
    /// No loss at all.
    pub fn nothing() -> Self {
        Self::Approx(Approx { eps: Amount::zero(), delta: Amount::zero() })
    }

    /// Epsilon without a delta.
    pub fn pure(eps: &Eps) -> Self {
        Self::approx(eps, &Delta::zero())
    }

    /// Epsilon and delta.
    pub fn approx(eps: &Eps, delta: &Delta) -> Self {
        Self::Approx(Approx::new(eps, delta))
    }

    /// Rho.
    pub fn zcdp(rho: &Rho) -> Self {
        Self::Zcdp(Zcdp::new(rho))
    }

    /// The loss of both releases together. Two families meet in the more general one: (epsilon, delta) in
    /// zCDP, both in Renyi; to sum in another family, convert first.
    #[must_use]
    pub fn compose(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Approx(a), Self::Approx(b)) => Self::Approx(a.compose(b)),
            (Self::Renyi(_), _) | (_, Self::Renyi(_)) => {
                Self::Renyi(self.to_renyi().compose(&other.to_renyi()))
            }
            (Self::Zcdp(a), Self::Zcdp(b)) => Self::Zcdp(a.compose(b)),
            (Self::Zcdp(a), Self::Approx(b)) | (Self::Approx(b), Self::Zcdp(a)) => {
                Self::Zcdp(a.compose(&zcdp_of(b)))
            }
        }
    }

    /// The loss of `count` such releases.
    #[must_use]
    pub fn times(&self, count: u64) -> Self {
        match self {
            Self::Approx(loss) => Self::Approx(loss.times(count)),
            Self::Zcdp(loss) => Self::Zcdp(loss.times(count)),
            Self::Renyi(loss) => Self::Renyi(loss.times(count)),
        }
    }

    /// As zero-concentrated loss; `None` for a Renyi curve, which need not be below any line.
    ///
    /// (epsilon, delta)-DP is delta-approximate `epsilon·tanh(epsilon/2)`-zCDP (rounded up), because it is,
    /// up to probability delta, post-processed randomized response. A mechanism that knows a smaller rho
    /// of its own, as the exponential mechanism does, says so itself.
    pub fn to_zcdp(&self) -> Option<Zcdp> {
        match self {
            Self::Approx(loss) => Some(zcdp_of(loss)),
            Self::Zcdp(loss) => Some(loss.clone()),
            Self::Renyi(_) => None,
        }
    }

    /// As Renyi loss.
    pub fn to_renyi(&self) -> Renyi {
        match self {
            Self::Approx(loss) => loss.into(),
            Self::Zcdp(loss) => loss.into(),
            Self::Renyi(loss) => loss.clone(),
        }
    }

    /// As (epsilon, delta) at this delta, epsilon rounded up; `None` where the delta does not suffice.
    pub fn to_approx(&self, delta: &Delta) -> Option<Approx> {
        match self {
            Self::Approx(loss) => (loss.delta.ratio() <= delta.ratio()).then(|| loss.clone()),
            Self::Zcdp(loss) => loss.to_approx(delta),
            Self::Renyi(loss) => loss.to_approx(delta),
        }
    }

    /// What a path of `count` neighbouring steps may lose: that of (epsilon, delta), or `count²·rho`. `None` where
    /// [`two_steps`](Self::two_steps) has none.
    pub fn steps(&self, count: u64) -> Option<Self> {
        match self {
            Self::Approx(loss) => Some(Self::Approx(loss.steps(count))),
            Self::Zcdp(loss) if loss.delta.is_zero() => Some(Self::Zcdp(loss.times(count).times(count))),
            Self::Zcdp(_) | Self::Renyi(_) => (count == 1).then(|| self.clone()),
        }
    }

    /// What two neighbouring steps may lose: (2 epsilon, delta(1 + e^epsilon)), or 4 rho. `None` for a
    /// concentrated loss with a delta and for Renyi curves: convert those to (epsilon, delta) first.
    pub fn two_steps(&self) -> Option<Self> {
        match self {
            Self::Approx(loss) => Some(Self::Approx(loss.two_steps())),
            // Group privacy of zCDP goes with the square of the number of steps (Bun and Steinke, Prop. 27).
            Self::Zcdp(loss) if loss.delta.is_zero() => Some(Self::Zcdp(loss.times(4))),
            Self::Zcdp(_) | Self::Renyi(_) => None,
        }
    }
}

fn zcdp_of(loss: &Approx) -> Zcdp {
    Zcdp { rho: Amount::clamped(zcdp::rho_of_pure_upper(loss.eps.ratio())), delta: loss.delta.clone() }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let approximate = |f: &mut fmt::Formatter<'_>, delta: &Amount| {
            if delta.is_zero() { Ok(()) } else { write!(f, "{delta}-approximate ") }
        };
        match self {
            Self::Approx(Approx { eps, delta }) if delta.is_zero() => write!(f, "{eps}-differential privacy"),
            Self::Approx(Approx { eps, delta }) => write!(f, "({eps}, {delta})-differential privacy"),
            Self::Zcdp(Zcdp { rho, delta }) => {
                approximate(f, delta)?;
                write!(f, "{rho}-zero-concentrated differential privacy")
            }
            Self::Renyi(Renyi { curve, delta }) => {
                approximate(f, delta)?;
                let two = Ratio::from(2u64);
                let known = |&(order, bound): &(&Ratio, Option<&Amount>)| *order >= two && bound.is_some();
                match curve.iter().find(known) {
                    Some((order, Some(bound))) => {
                        write!(f, "Renyi differential privacy ({bound} at order {order})")
                    }
                    _ => f.write_str("Renyi differential privacy (no bound)"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pure(eps: &str) -> Loss {
        Loss::pure(&eps.parse().unwrap())
    }

    fn eps_of(loss: &Loss, delta: &str) -> f64 {
        loss.to_approx(&delta.parse().unwrap()).unwrap().eps.ratio().to_f64()
    }

    #[test]
    fn a_hundred_releases_in_three_families() {
        let one = pure("0.1");
        let basic = eps_of(&one.times(100), "1e-6");
        let zcdp = eps_of(&Loss::Zcdp(one.to_zcdp().unwrap()).times(100), "1e-6");
        let renyi = eps_of(&Loss::Renyi(one.to_renyi()).times(100), "1e-6");
        assert!((basic - 10.0).abs() < 1e-12 && (zcdp - 5.22).abs() < 5e-3, "{basic} {zcdp}");
        assert!((renyi - 5.073).abs() < 3e-3, "{renyi}");
    }

    #[test]
    fn families_meet_in_the_more_general_one() {
        let (approx, zcdp) = (
            Loss::approx(&"1".parse().unwrap(), &"1e-7".parse().unwrap()),
            Loss::zcdp(&"0.5".parse().unwrap()),
        );
        let renyi = Loss::Renyi(zcdp.to_renyi());
        let Loss::Zcdp(sum) = approx.compose(&zcdp) else { panic!("a zCDP sum") };
        // tanh(1/2) = 0.46211715726000975850231848364367254873028928033…
        let (low, high) =
            ("0.962117157260009758502318483643672548", "0.962117157260009758502318483643672549");
        assert!(*sum.rho.ratio() > low.parse().unwrap() && *sum.rho.ratio() < high.parse().unwrap());
        assert_eq!(*sum.delta.ratio(), "1e-7".parse().unwrap());
        assert_eq!(approx.compose(&zcdp), zcdp.compose(&approx));
        for other in [&approx, &zcdp, &renyi] {
            let (one, two) = (renyi.compose(other), other.compose(&renyi));
            assert!(matches!(one, Loss::Renyi(_)) && one == two);
            assert!(eps_of(&one, "1e-6") > eps_of(&renyi, "1e-6"));
        }
        assert!(renyi.to_zcdp().is_none());
    }

    /// Group privacy: a path of steps costs what it costs by two steps, again and again.
    #[test]
    fn paths_of_steps_in_each_family() {
        let zcdp = Loss::zcdp(&"0.3".parse().unwrap());
        assert_eq!(zcdp.steps(2), zcdp.two_steps());
        let Some(Loss::Zcdp(three)) = zcdp.steps(3) else { panic!("a zCDP path") };
        assert_eq!(*three.rho.ratio(), "2.7".parse().unwrap());
        assert_eq!(pure("0.5").steps(3), Some(pure("1.5")));
        let both = zcdp.compose(&Loss::approx(&"1".parse().unwrap(), &"1e-7".parse().unwrap()));
        assert_eq!((both.steps(1).as_ref(), both.steps(2)), (Some(&both), None));
        assert_eq!(Loss::Renyi(zcdp.to_renyi()).steps(2), None);
    }

    #[test]
    fn nothing_adds_nothing() {
        let delta = "1e-6".parse().unwrap();
        for loss in [pure("1"), Loss::zcdp(&"0.3".parse().unwrap()), Loss::Renyi(pure("2").to_renyi())] {
            assert_eq!(loss.compose(&Loss::nothing()), loss);
            assert_eq!(Loss::nothing().compose(&loss).to_approx(&delta), loss.to_approx(&delta));
            assert_eq!(loss.times(3), loss.compose(&loss).compose(&loss));
        }
        assert!(Loss::approx(&"1".parse().unwrap(), &"1e-5".parse().unwrap()).to_approx(&delta).is_none());
    }
}
