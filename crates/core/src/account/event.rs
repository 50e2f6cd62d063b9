//! What accountants know about one release: a worst pair of output laws, or numbers that stand for one.

use crate::{
    amplify::poisson_add_remove,
    interval::Interval,
    loss::{Amount, Approx, DiscreteLaplaceLoss, Loss, Rate, Renyi, RenyiCurve, Zcdp, laplace_curve_upper},
    ratio::Ratio,
};

/// A release whose parameters are fixed. Every kind but `Concentrated` has a pair of output laws that no pair of
/// neighbours exceeds, so that its losses can be added up as a distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Only (epsilon, delta) is known: the worst pair is randomized response that fails with probability delta.
    Approx(Approx),
    /// Only rho is known.
    Concentrated(Zcdp),
    /// Real Gaussian noise on a value or vector of this L2-sensitivity over its scale.
    Gaussian {
        /// Sensitivity over scale, above zero.
        ratio: Ratio,
    },
    /// Real Laplace noise on one number: sensitivity over scale is epsilon.
    Laplace {
        /// Sensitivity over scale.
        eps: Amount,
    },
    /// Laplace noise on the integers, on one number.
    DiscreteLaplace(DiscreteLaplaceLoss),
    /// Gaussian noise on the integers, on one number.
    DiscreteGaussian {
        /// How far neighbours can move the number, a positive whole number.
        steps: Ratio,
        /// The variance parameter, above zero.
        variance: Ratio,
    },
    /// One of the other kinds on a sample in which each record is with this probability, under add/remove.
    Sampled {
        /// What runs on the sample.
        base: Box<Event>,
        /// The probability.
        rate: Rate,
    },
}

impl Event {
    /// As (epsilon, delta), where that needs no delta of the asker's.
    pub fn approx(&self) -> Option<Approx> {
        let pure = |eps: &Amount| Approx { eps: eps.clone(), delta: Amount::zero() };
        match self {
            Self::Approx(loss) => Some(loss.clone()),
            Self::Laplace { eps } => Some(pure(eps)),
            Self::DiscreteLaplace(loss) => Some(pure(&loss.eps)),
            Self::Sampled { base, rate } => base.approx().map(|base| poisson_add_remove(&base, rate)),
            Self::Concentrated(_) | Self::Gaussian { .. } | Self::DiscreteGaussian { .. } => None,
        }
    }

    /// As zero-concentrated loss, where there is a bound.
    pub fn zcdp(&self) -> Option<Zcdp> {
        match self {
            Self::Concentrated(loss) => Some(loss.clone()),
            Self::Gaussian { ratio } => Some(of_rho(&ratio.squared())),
            Self::DiscreteGaussian { steps, variance } => Some(of_rho(&(steps.squared() / variance))),
            _ => Loss::Approx(self.approx()?).to_zcdp(),
        }
    }

    /// As Renyi loss, where there is a bound at some order.
    pub fn renyi(&self) -> Option<Renyi> {
        let plain = |curve| Some(Renyi { curve, delta: Amount::zero() });
        match self {
            Self::Laplace { eps } => plain(laplace_curve_upper(eps)),
            Self::DiscreteLaplace(loss) => plain(loss.curve_upper()),
            Self::Sampled { base, rate } => match &**base {
                Self::Gaussian { ratio } => plain(sampled_gaussian_curve(ratio, rate)),
                _ => self.approx().map(|loss| Loss::Approx(loss).to_renyi()),
            },
            Self::Approx(loss) => Some(Loss::Approx(loss.clone()).to_renyi()),
            _ => self.zcdp().map(|loss| Loss::Zcdp(loss).to_renyi()),
        }
    }
}

/// Half of a squared ratio of sensitivity and scale.
fn of_rho(squared: &Ratio) -> Zcdp {
    Zcdp { rho: Amount::clamped(squared / &Ratio::from(2u64)), delta: Amount::zero() }
}

/// Renyi curve of real Gaussian noise on a Poisson sample, rounded up.
///
/// At a whole order a: `ln(sum over k of C(a, k)·(1-p)^(a-k)·p^k·e^(k(k-1)·m²/2)) / (a-1)` with m the ratio (Mironov,
/// Talwar and Zhang, "Renyi differential privacy of the sampled Gaussian mechanism", 2019, section 3.3, which also
/// shows that the other direction is smaller). Divergences grow with the order, so another order takes the next whole one's.
/// Orders above 256 are left out: they serve deltas that this curve is not for.
fn sampled_gaussian_curve(ratio: &Ratio, rate: &Rate) -> RenyiCurve {
    const BITS: usize = 256;
    const LARGEST: i64 = 256;
    let half_square = ratio.squared() / Ratio::from(2u64);
    let keep = Ratio::one() - rate.ratio();
    let mut kept = vec![Interval::one(BITS)];
    for _ in 0..LARGEST {
        kept.extend(kept.last().map(|power| power.mul_ratio(&keep)));
    }
    let log_moment = |order: i64| -> Option<Ratio> {
        // The largest exponent decides how many bits the sum needs; too large a sum helps nobody.
        let top = (&half_square * &Ratio::from(order * (order - 1))).to_f64();
        if top > 2000.0 {
            return None;
        }
        let mut sum = Interval::zero(BITS);
        let (mut choose, mut power) = (Ratio::one(), Ratio::one());
        for k in 0..=order {
            let kept = &kept[usize::try_from(order - k).expect("k is at most the order")];
            let exponent = &half_square * &Ratio::from(k * (k - 1));
            let term = Interval::exact(&exponent, BITS).exp().mul(kept).mul_ratio(&choose);
            sum = sum.add(&term.mul_ratio(&power));
            choose = choose * Ratio::from(order - k) / Ratio::from(k + 1);
            power = (power * rate.ratio()).dyadic_up(4 * BITS);
        }
        Some(sum.ln().upper())
    };
    let mut known: Vec<(i64, Option<Ratio>)> = Vec::new();
    for order in RenyiCurve::orders() {
        let whole = order.ceil_i64().unwrap_or(i64::MAX).max(2);
        if whole <= LARGEST && known.last().is_none_or(|(last, _)| *last < whole) {
            let bound = log_moment(whole).map(|ln| (ln / Ratio::from(whole - 1)).max(Ratio::zero()));
            known.push((whole, bound));
        }
    }
    RenyiCurve::from_upper_bounds(|order| {
        known.iter().find(|(whole, _)| Ratio::from(*whole) >= *order)?.1.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[test]
    fn every_family_of_a_gaussian_and_of_a_sampled_one() {
        let gaussian = Event::Gaussian { ratio: Ratio::new(1, 20) };
        assert!(gaussian.approx().is_none());
        assert_eq!(*gaussian.zcdp().unwrap().rho.ratio(), Ratio::new(1, 800));
        let sampled = Event::Sampled { base: Box::new(gaussian), rate: rate("0.01") };
        assert!(sampled.zcdp().is_none() && sampled.approx().is_none() && sampled.renyi().is_some());
        let whole =
            Event::Sampled { base: Box::new(Event::Gaussian { ratio: Ratio::one() }), rate: rate("1") };
        for (order, bound) in whole.renyi().unwrap().curve.iter() {
            // Without sampling the curve is order/2, as far as the largest exponent, a(a - 1)/2, is at most 2000.
            let whole = order.ceil_i64().unwrap().max(2);
            assert_eq!(bound.is_some(), whole <= 63, "{order}");
            let Some(bound) = bound else { continue };
            let line = whole as f64 / 2.0;
            assert!((bound.ratio().to_f64() - line).abs() < 1e-9 * line, "{order}");
        }
    }

    #[test]
    fn a_known_figure_of_the_sampled_gaussian() {
        // Noise 1, rate 0.01: at order 2 the divergence is ln(1 + 0.0001·(e - 1)).
        let event =
            Event::Sampled { base: Box::new(Event::Gaussian { ratio: Ratio::one() }), rate: rate("0.01") };
        let curve = event.renyi().unwrap().curve;
        let (_, bound) = curve.iter().find(|(order, _)| **order == Ratio::from(2u64)).unwrap();
        let truth = (1e-4 * (1f64.exp() - 1.0)).ln_1p();
        let got = bound.unwrap().ratio().to_f64();
        assert!(got >= truth && got < truth * (1.0 + 1e-9), "{got} {truth}");
    }

    /// With much noise exponents stay small, and the curve ends where it is said to.
    #[test]
    fn orders_above_256_are_left_out() {
        let base = Box::new(Event::Gaussian { ratio: Ratio::new(1, 20) });
        let event = Event::Sampled { base, rate: rate("0.01") };
        for (order, bound) in event.renyi().unwrap().curve.iter() {
            assert_eq!(bound.is_some(), *order <= Ratio::from(256u64), "{order}");
        }
    }
}
