//! From a Renyi divergence at one order to (epsilon, delta), and the search for a good order.
//!
//! Source: Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy" (2020), Proposition 12.
//!
//! # Guarantee
//!
//! If both Renyi divergences of order `a > 1` between neighbours are at most `t`, the mechanism is
//! (epsilon, delta)-DP with `epsilon = max(0, t + order_cost)` and
//! `order_cost = ln(1 - 1/a) - ln(delta·a)/(a - 1)`. This holds at every order, so an order found with
//! floats is sound; only the cost at that order is certified.

use crate::{
    interval::{ln_lower, ln_upper},
    ratio::Ratio,
};

/// What order `a` adds to the divergence to reach `delta`; rounded up, may be negative.
pub(crate) fn order_cost_upper(order: &Ratio, delta: &Ratio) -> Ratio {
    let above_one = order - &Ratio::one();
    assert!(above_one.is_positive() && delta.is_positive(), "an order above one and a delta above zero");
    ln_upper(&(&above_one / order)) - ln_lower(&(delta * order)) / above_one
}

/// The same as a float, for the search; the order is `1 + above_one`.
pub(crate) fn order_cost_hint(above_one: f64, ln_delta: f64) -> f64 {
    -(1.0 / above_one).ln_1p() - (ln_delta + above_one.ln_1p()) / above_one
}

/// An order `1 + x` that makes `score(x)` small: a coarse scan of x from e^-20 to e^60, then a fine one.
pub(crate) fn search_order(score: impl Fn(f64) -> f64) -> Ratio {
    let at = |t: f64| score(t.exp());
    let coarse = (-80..=240).map(|step| f64::from(step) / 4.0);
    let mut best = coarse.min_by(|&a, &b| at(a).total_cmp(&at(b))).unwrap_or(0.0);
    let mut width = 0.25;
    while width > 1e-9 {
        let candidates = [best - width / 2.0, best, best + width / 2.0];
        best = candidates.into_iter().min_by(|&a, &b| at(a).total_cmp(&at(b))).unwrap_or(best);
        width *= 0.7;
    }
    let above_one = Ratio::from_f64_exact(best.exp()).filter(Ratio::is_positive);
    Ratio::one() + above_one.unwrap_or_else(Ratio::one)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For randomized response the hockey stick is known: `(e^eps0 - e^eps)/(1 + e^eps0)`.
    #[test]
    fn the_conversion_is_above_the_truth_for_randomized_response() {
        for eps0 in [0.1f64, 1.0, 4.0] {
            for order in ["1.01", "1.5", "2", "7", "100"] {
                let order: Ratio = order.parse().unwrap();
                let a = order.to_f64();
                let keep = eps0.exp() / (1.0 + eps0.exp());
                let sum =
                    keep.powf(a) * (1.0 - keep).powf(1.0 - a) + (1.0 - keep).powf(a) * keep.powf(1.0 - a);
                let divergence = sum.ln() / (a - 1.0);
                for delta in ["1e-9", "0.001", "0.1"] {
                    let delta: Ratio = delta.parse().unwrap();
                    let eps = (divergence + order_cost_upper(&order, &delta).to_f64()).max(0.0);
                    let truth = (eps0.exp() - eps.exp()) / (1.0 + eps0.exp());
                    assert!(truth <= delta.to_f64(), "{eps0} {order} {delta}: {truth}");
                }
            }
        }
    }

    #[test]
    fn the_hint_follows_the_certified_cost() {
        for (above_one, delta) in [(0.01, "1e-6"), (1.0, "0.5"), (37.5, "1e-30"), (1e9, "1e-6")] {
            let delta: Ratio = delta.parse().unwrap();
            let order = Ratio::one() + Ratio::from_f64_exact(above_one).unwrap();
            let (hint, sure) =
                (order_cost_hint(above_one, delta.to_f64().ln()), order_cost_upper(&order, &delta).to_f64());
            assert!((hint - sure).abs() <= 1e-12 * sure.abs().max(1.0), "{hint} {sure}");
        }
    }

    #[test]
    fn the_search_finds_a_minimum_at_any_scale() {
        for centre in [1e-6, 0.3, 5.0, 1e12] {
            let found = search_order(|x: f64| (x / centre).ln().powi(2)) - Ratio::one();
            assert!((found.to_f64() / centre - 1.0).abs() < 1e-6);
        }
    }
}
