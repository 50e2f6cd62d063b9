//! The Renyi divergence at every order of one fixed, public grid.
//!
//! Source: Mironov, "Renyi differential privacy" (2017); the conversion is in `order.rs`.

use super::{
    amount::{Amount, significant_up},
    approx::Approx,
    order::order_cost_upper,
    parameter::Delta,
    zcdp::{Zcdp, delta_left},
};
use crate::{interval::Interval, ratio::Ratio};
use std::sync::LazyLock;

/// `1 + m·2^e` for m = 8/8, 9/8, … 15/8 and e = -5 … 11: a conversion is within one part in 500 of the
/// one over all orders between.
static ORDERS: LazyLock<Vec<Ratio>> = LazyLock::new(|| {
    let above_one = |octave: u32| (8..16).map(move |eighths: i64| Ratio::new(eighths << octave, 8 << 5));
    (0..17).flat_map(above_one).map(|above_one| Ratio::one() + above_one).collect()
});

/// See [`crate::prepare`].
pub(crate) fn prepare() {
    LazyLock::force(&ORDERS);
}

/// Upper bounds on the Renyi divergence, one for each of [`RenyiCurve::orders`]; `None` where none is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RenyiCurve(Vec<Option<Amount>>);

/// Up to an event of probability `delta`, the Renyi divergences are bounded by the curve.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Renyi {
    /// Bounds at every order.
    pub curve: RenyiCurve,
    /// The probability outside the bounds.
    pub delta: Amount,
}

impl RenyiCurve {
    /// The orders of every curve: rational, above one, ascending.
    pub fn orders() -> &'static [Ratio] {
        &ORDERS
    }

    /// The curve of these upper bounds, each rounded up once more to stay short. Panics below zero.
    pub fn from_upper_bounds(bound: impl Fn(&Ratio) -> Option<Ratio>) -> Self {
        let at = |order| {
            bound(order).map(|value| {
                assert!(!value.is_negative(), "a divergence is not negative");
                Amount::clamped(significant_up(&value, 128))
            })
        };
        Self(Self::orders().iter().map(at).collect())
    }

    /// The curve with these amounts, as they are, one for the index of each order: how a ledger reads back a
    /// curve that it wrote.
    pub fn from_amounts(at: impl Fn(usize) -> Option<Amount>) -> Self {
        Self((0..Self::orders().len()).map(at).collect())
    }

    /// The curve of an epsilon-DP mechanism: that of randomized response, which every one post-processes.
    ///
    /// At order a: `epsilon + ln((1 + e^(-(2a-1)·epsilon)) / (1 + e^-epsilon)) / (a - 1)`, rounded up.
    pub fn pure(eps: &Amount) -> Self {
        Self::from_upper_bounds(|order| Some(renyi_pure_upper(eps, order)))
    }

    /// The curve of rho-zCDP: `order·rho`.
    pub fn zcdp(rho: &Amount) -> Self {
        Self::from_upper_bounds(|order| Some(order * rho.ratio()))
    }

    /// The bound at each order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Ratio, Option<&Amount>)> {
        Self::orders().iter().zip(self.0.iter().map(Option::as_ref))
    }

    /// The sum of both at each order.
    #[must_use]
    pub fn compose(&self, other: &Self) -> Self {
        let sum = |(a, b): (&Option<Amount>, &Option<Amount>)| Some(a.as_ref()?.plus_up(b.as_ref()?));
        Self(self.0.iter().zip(&other.0).map(sum).collect())
    }

    /// The curve of `count` such releases.
    #[must_use]
    pub fn times(&self, count: u64) -> Self {
        Self(self.0.iter().map(|value| value.as_ref().map(|value| value.times_up(count))).collect())
    }

    /// The least epsilon that some order certifies at this delta, rounded up; `None` where no order has a
    /// bound. Panics unless delta is positive.
    fn eps_upper(&self, delta: &Ratio) -> Option<Amount> {
        let at = |(order, bound): (&Ratio, Option<&Amount>)| {
            bound.map(|bound| (bound.ratio() + &order_cost_upper(order, delta)).dyadic_up(96))
        };
        self.iter().filter_map(at).min().map(Amount::clamped)
    }
}

/// What an epsilon-DP mechanism has at one order: see [`RenyiCurve::pure`]. Rounded up.
pub fn renyi_pure_upper(eps: &Amount, order: &Ratio) -> Ratio {
    const BITS: usize = 192;
    let eps = eps.ratio();
    let one_plus_exp = |x: &Ratio| Interval::exact(x, BITS).exp().add(&Interval::one(BITS));
    let two = Ratio::from(2u64);
    let far = one_plus_exp(&-(eps * &(order * &two - Ratio::one())));
    let logarithm = far.div(&one_plus_exp(&-eps.clone())).ln().upper();
    let exact = eps + &(logarithm / (order - &Ratio::one()));
    // Both are true bounds as well, and free of rounding.
    let simple = (order * &eps.squared() / &two).min(eps.clone());
    if exact.is_negative() { simple } else { exact.min(simple) }
}

impl Renyi {
    /// The sum of both.
    #[must_use]
    pub fn compose(&self, other: &Self) -> Self {
        Self { curve: self.curve.compose(&other.curve), delta: self.delta.plus_up(&other.delta) }
    }

    /// This loss, `count` times.
    #[must_use]
    pub fn times(&self, count: u64) -> Self {
        Self { curve: self.curve.times(count), delta: self.delta.times_up(count) }
    }

    /// The least epsilon we can certify at this delta, rounded up; `None` unless the delta exceeds the
    /// loss's own and some order has a bound.
    pub fn to_approx(&self, delta: &Delta) -> Option<Approx> {
        let eps = self.curve.eps_upper(&delta_left(delta, &self.delta)?)?;
        Some(Approx { eps, delta: delta.into() })
    }
}

impl From<&Approx> for Renyi {
    fn from(loss: &Approx) -> Self {
        Self { curve: RenyiCurve::pure(&loss.eps), delta: loss.delta.clone() }
    }
}

impl From<&Zcdp> for Renyi {
    fn from(loss: &Zcdp) -> Self {
        Self { curve: RenyiCurve::zcdp(&loss.rho), delta: loss.delta.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn amount(text: &str) -> Amount {
        Amount::new(text.parse().unwrap()).unwrap()
    }

    fn eps_at(curve: RenyiCurve, delta: &str) -> f64 {
        let loss = Renyi { curve, delta: Amount::zero() };
        loss.to_approx(&delta.parse().unwrap()).unwrap().eps.ratio().to_f64()
    }

    fn divergence(order: f64, p: &[f64], q: &[f64]) -> f64 {
        // In logarithms, because high orders overflow.
        let terms: Vec<f64> = p.iter().zip(q).map(|(p, q)| order * p.ln() + (1.0 - order) * q.ln()).collect();
        let top = terms.iter().copied().fold(f64::MIN, f64::max);
        (top + terms.iter().map(|t| (t - top).exp()).sum::<f64>().ln()) / (order - 1.0)
    }

    #[test]
    fn the_grid_is_rational_and_ascending_above_one() {
        let orders = RenyiCurve::orders();
        assert_eq!(orders.len(), 136);
        assert!(orders.is_sorted_by(|a, b| a < b) && orders[0] > Ratio::one());
        assert_eq!(
            (orders[0].to_string(), orders[40].to_string(), orders[135].to_string()),
            ("1.03125".into(), "2".into(), "3841".into())
        );
    }

    #[test]
    fn the_pure_curve_is_that_of_randomized_response() {
        for eps in ["0.001", "0.1", "1", "5", "20"] {
            let curve = RenyiCurve::pure(&amount(eps));
            let e: f64 = eps.parse::<f64>().unwrap();
            let (yes, no) = (1.0 / (1.0 + (-e).exp()), 1.0 / (1.0 + e.exp()));
            for (order, bound) in curve.iter() {
                let (got, order) = (bound.unwrap().ratio().to_f64(), order.to_f64());
                let brute = divergence(order, &[yes, no], &[no, yes]);
                assert!((got - brute).abs() <= 1e-11 * order.max(1.0), "{eps} {order}: {got} {brute}");
                assert!(got <= e && got <= order * e * e / 2.0 + 1e-300);
            }
        }
    }

    #[test]
    fn known_figures() {
        // A hundred releases of epsilon 0.1.
        let figure = eps_at(RenyiCurve::pure(&amount("0.1")).times(100), "1e-6");
        assert!((figure - 5.073).abs() < 3e-3, "{figure}");
        // The grid costs next to nothing against the search over all orders.
        for rho in ["0.001", "0.125", "0.5", "30"] {
            let over_all = Zcdp { rho: amount(rho), delta: Amount::zero() };
            let over_all = over_all.to_approx(&"1e-6".parse().unwrap()).unwrap().eps.ratio().to_f64();
            let on_grid = eps_at(RenyiCurve::zcdp(&amount(rho)), "1e-6");
            assert!(on_grid >= over_all && on_grid <= over_all * 1.002, "{rho}: {on_grid} {over_all}");
        }
    }

    #[test]
    fn an_unknown_order_stays_unknown() {
        let two = Ratio::from(2u64);
        let low = RenyiCurve::from_upper_bounds(|order| (*order <= two).then(|| order.clone()));
        let sum = low.compose(&RenyiCurve::zcdp(&amount("1")));
        assert!(sum.iter().all(|(order, bound)| bound.is_some() == (*order <= two)));
        assert!(sum.times(3).iter().all(|(order, bound)| bound.is_some() == (*order <= two)));
        let none = Renyi { curve: RenyiCurve::from_upper_bounds(|_| None), delta: Amount::zero() };
        assert!(none.to_approx(&"0.1".parse().unwrap()).is_none());
        assert!(none.compose(&none.times(2)).to_approx(&Delta::zero()).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn no_pure_mechanism_exceeds_its_curve(
            weights in proptest::collection::vec((0.01f64..1.0, 0.0f64..=1.0), 2..6), eps in 0.05f64..4.0,
        ) {
            // Tilt a distribution by factors in [e^-eps, 1], then by their common norm: at most eps apart.
            let total: f64 = weights.iter().map(|w| w.0).sum();
            let p: Vec<f64> = weights.iter().map(|w| w.0 / total).collect();
            let raw: Vec<f64> = weights.iter().zip(&p).map(|(w, p)| p * (-eps * w.1).exp()).collect();
            let norm: f64 = raw.iter().sum();
            let q: Vec<f64> = raw.iter().map(|r| r / norm).collect();
            let loss = p.iter().zip(&q).map(|(p, q)| (p / q).ln().abs()).fold(0.0, f64::max);
            let curve = RenyiCurve::pure(&Amount::new(Ratio::from_f64_exact(loss).unwrap()).unwrap());
            for (order, bound) in curve.iter().step_by(9) {
                let (order, bound) = (order.to_f64(), bound.unwrap().ratio().to_f64());
                prop_assert!(divergence(order, &p, &q) <= bound + 1e-9);
                prop_assert!(divergence(order, &q, &p) <= bound + 1e-9);
            }
        }
    }
}
