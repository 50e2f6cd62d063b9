//! Zero-concentrated privacy: one number rho that bounds every Renyi divergence by `order·rho`.
//!
//! Source: Bun and Steinke, "Concentrated differential privacy" (2016); the conversion is in `order.rs`.

use super::{
    amount::{Amount, significant_down},
    approx::Approx,
    order::{order_cost_hint, order_cost_upper, search_order},
    parameter::{Delta, Eps, ParameterError, Rho},
};
use crate::{
    interval::{Interval, ln_lower},
    ratio::Ratio,
};

/// Up to an event of probability `delta`, the Renyi divergence of every order a is at most `a·rho`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Zcdp {
    /// Bounds the divergence of order a by `a·rho`.
    pub rho: Amount,
    /// The probability outside the bound.
    pub delta: Amount,
}

impl Zcdp {
    /// Rho without a delta.
    pub fn new(rho: &Rho) -> Self {
        Self { rho: rho.into(), delta: Amount::zero() }
    }

    /// The sum of both.
    #[must_use]
    pub fn compose(&self, other: &Self) -> Self {
        Self { rho: self.rho.plus_up(&other.rho), delta: self.delta.plus_up(&other.delta) }
    }

    /// This loss, `count` times.
    #[must_use]
    pub fn times(&self, count: u64) -> Self {
        Self { rho: self.rho.times_up(count), delta: self.delta.times_up(count) }
    }

    /// The least epsilon we can certify at this delta, rounded up; `None` unless the delta exceeds the
    /// loss's own.
    pub fn to_approx(&self, delta: &Delta) -> Option<Approx> {
        if self.rho.is_zero() && self.delta.ratio() <= delta.ratio() {
            return Some(Approx { eps: Amount::zero(), delta: delta.into() });
        }
        let left = delta_left(delta, &self.delta)?;
        let (rho, ln_delta) = (self.rho.ratio().to_f64(), ln_lower(&left).to_f64());
        let order = search_order(|x| (1.0 + x) * rho + order_cost_hint(x, ln_delta));
        let eps = self.rho.ratio() * &order + order_cost_upper(&order, &left);
        Some(Approx { eps: Amount::clamped(eps.dyadic_up(96)), delta: delta.into() })
    }
}

/// What the wanted delta leaves for a conversion after the loss's own: with probability at least
/// `1 - own` the bound holds, so `wanted = own + (1 - own)·left`. `None` where nothing is left.
pub(crate) fn delta_left(wanted: &Delta, own: &Amount) -> Option<Ratio> {
    let left = wanted.ratio() - own.ratio();
    left.is_positive().then(|| left / (Ratio::one() - own.ratio()))
}

/// The largest rho, rounded down, whose [`Zcdp::to_approx`] stays within (epsilon, delta).
pub fn rho_for(eps: &Eps, delta: &Delta) -> Result<Rho, ParameterError> {
    if delta.is_zero() {
        return Err(ParameterError::out_of_range(
            "delta",
            "0",
            "rho gives an epsilon only at a delta above 0, such as 1e-6",
        ));
    }
    let (want, ln_delta) = (eps.ratio().to_f64(), ln_lower(delta.ratio()).to_f64());
    let order = search_order(|x| (order_cost_hint(x, ln_delta) - want) / (1.0 + x));
    let rho = (eps.ratio() - order_cost_upper(&order, delta.ratio())) / order;
    let mut rho = significant_down(&rho, 64);
    // The way back searches an order of its own, so give way until it agrees.
    let mut cut = Ratio::dyadic(1.into(), 50);
    loop {
        let candidate = Rho::new(rho.clone())?;
        let back = Zcdp::new(&candidate).to_approx(delta).expect("a delta above zero");
        if back.eps.ratio() <= eps.ratio() {
            return Ok(candidate);
        }
        rho = significant_down(&(&rho * &(Ratio::one() - &cut)), 64);
        cut = &cut * &Ratio::from(2u64);
    }
}

/// The least rho of every epsilon-DP mechanism, `epsilon·tanh(epsilon/2)`, rounded up.
///
/// # Why
///
/// 1. An epsilon-DP pair of distributions is post-processed randomized response (Kairouz, Oh, Viswanath).
/// 2. With x = epsilon/2 and t = 2a - 1, its divergence of order a, times a - 1, is `ln cosh(tx) - ln cosh(x)`.
/// 3. That is the integral of `x·tanh(sx)` over s from 1 to t, and `tanh(sx) <= s·tanh(x)`, as tanh is concave.
/// 4. So it is at most `x·tanh(x)·(t² - 1)/2 = a(a - 1)·epsilon·tanh(epsilon/2)`; a near one attains it.
///
/// It is below the usual epsilon²/2, and below epsilon.
pub(crate) fn rho_of_pure_upper(eps: &Ratio) -> Ratio {
    const BITS: usize = 192;
    let one = Interval::one(BITS);
    let decay = Interval::exact(&-eps.clone(), BITS).exp();
    let tanh = one.sub(&decay).div(&one.add(&decay));
    let half_square = &eps.squared() / &Ratio::from(2u64);
    tanh.mul_ratio(eps).upper().dyadic_up(128).min(half_square)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(text: &str) -> Delta {
        text.parse().unwrap()
    }

    fn zcdp(rho: &str) -> Zcdp {
        Zcdp::new(&rho.parse().unwrap())
    }

    #[test]
    fn known_figures() {
        // A hundred releases of epsilon 0.1 at the usual epsilon²/2; a hundred Gaussians of scale 20.
        for (rho, figure) in [("0.5", "5.2216"), ("0.125", "2.419"), ("5", "20.55")] {
            let eps = zcdp(rho).to_approx(&delta("1e-6")).unwrap().eps.ratio().to_f64();
            let digit = if figure.len() == 6 { 1e-4 } else { 1e-3 };
            assert!((eps - figure.parse::<f64>().unwrap()).abs() < 5.0 * digit, "{rho}: {eps}");
        }
        // Never worse than the older rho + 2 sqrt(rho ln 1/delta).
        for rho in ["1e-12", "0.001", "0.5", "20", "400000"] {
            let eps = zcdp(rho).to_approx(&delta("1e-9")).unwrap().eps.ratio().to_f64();
            let rho: f64 = rho.parse().unwrap();
            assert!(
                eps <= rho + 2.0 * (rho * 1e9f64.ln()).sqrt() && eps >= rho.min(1.0) * 1e-3,
                "{rho} {eps}"
            );
        }
    }

    #[test]
    fn edges_of_the_conversion() {
        let nothing = Zcdp { rho: Amount::zero(), delta: Amount::zero() };
        assert!(nothing.to_approx(&Delta::zero()).unwrap().eps.is_zero());
        assert!(zcdp("1").to_approx(&Delta::zero()).is_none());
        let failing = Zcdp { rho: Amount::zero(), delta: Amount::from(&delta("0.01")) };
        assert!(failing.to_approx(&delta("0.009")).is_none());
        assert!(failing.to_approx(&delta("0.01")).unwrap().eps.is_zero());
        // Half of everything may fail: a small rho needs no epsilon at all.
        assert!(zcdp("0.0001").to_approx(&delta("0.5")).unwrap().eps.is_zero());
        let own = Zcdp { rho: zcdp("0.5").rho, delta: Amount::from(&delta("5e-7")) };
        assert!(
            own.to_approx(&delta("1e-6")).unwrap().eps > zcdp("0.5").to_approx(&delta("1e-6")).unwrap().eps
        );
        assert!(zcdp("0.1").to_approx(&delta("1e-400")).unwrap().eps.ratio().to_f64() > 18.0);
    }

    #[test]
    fn the_way_back_is_tight_and_never_over() {
        for eps in ["1e-9", "0.01", "0.5", "1", "8", "100", "1000"] {
            for at in ["1e-30", "1e-6", "0.1"] {
                let (eps, at): (Eps, Delta) = (eps.parse().unwrap(), delta(at));
                let rho = rho_for(&eps, &at).unwrap();
                let spent = Zcdp::new(&rho).to_approx(&at).unwrap();
                assert!(spent.eps.ratio() <= eps.ratio());
                let more = Rho::new(rho.ratio() * &"1.000001".parse().unwrap()).unwrap();
                let over = Zcdp::new(&more).to_approx(&at).unwrap();
                assert!(over.eps.ratio() > eps.ratio(), "{eps} {at} {rho}");
            }
        }
        assert_eq!(
            rho_for(&"1".parse().unwrap(), &Delta::zero()).unwrap_err().to_string(),
            "delta 0 is not accepted: rho gives an epsilon only at a delta above 0, such as 1e-6"
        );
    }

    #[test]
    fn the_rho_of_a_pure_loss_bounds_randomized_response_at_every_order() {
        for eps in ["1e-6", "0.1", "1", "3", "30", "1000"] {
            let rho = rho_of_pure_upper(&eps.parse().unwrap()).to_f64();
            let eps: f64 = eps.parse().unwrap();
            assert!(rho <= eps * eps / 2.0 && rho <= eps * (1.0 + 1e-15));
            for step in -40..100 {
                let above_one = 1.2f64.powi(step);
                // ln cosh(t x) - ln cosh(x), written so that it does not overflow.
                let ln_cosh = |y: f64| y + (-2.0 * y).exp().ln_1p() - std::f64::consts::LN_2;
                let x = eps / 2.0;
                let divergence = (ln_cosh((1.0 + 2.0 * above_one) * x) - ln_cosh(x)) / above_one;
                assert!(divergence <= (1.0 + above_one) * rho * (1.0 + 1e-9) + 1e-11, "{eps} {above_one}");
            }
        }
        // The mutant with tanh(epsilon/2)·epsilon·0.99 is beaten by an order near one.
        let rho = rho_of_pure_upper(&Ratio::one()).to_f64() * 0.99;
        let e = 1f64.exp();
        let divergence_at_one = (e - 1.0) / (e + 1.0);
        assert!(divergence_at_one > rho);
    }
}
