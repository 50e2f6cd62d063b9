//! What k arrivals of a process tell about its rate: the exact (epsilon, delta) curve, and a Renyi curve.
//!
//! Source: our own reading of the proof idea in 003_82bbcee9e9852ea0.txt (ThresholdMonitor), by way of Poisson
//! processes; the tails of Gamma variables are textbook.
//!
//! # Guarantee
//!
//! A process has rate 1 in one world and rate e^slope in the other and is watched, in time windows chosen by
//! whoever watches, until its k-th arrival. [`Arrivals::delta_upper`] is at least the delta of that at epsilon, both
//! ways round, and no smaller delta would do (up to rounding). [`renyi_delta_upper`] and [`renyi_eps_upper`] hold as
//! well where each arrival spends a part of the budget k, and for two budgets where k counts both.
//!
//! # Why
//!
//! 1. The likelihood ratio depends on the time G of the k-th arrival alone: its logarithm is k·slope - u·G with
//!    u = e^slope - 1, G being Gamma(k) at the rate of its world.
//! 2. So the worst events are "G <= t" and "G > t", at the t where the log-ratio is epsilon:
//!    P(G <= e^slope·s) - e^eps·P(G <= s) with s = (k·slope - eps)/u, and
//!    P(G > s) - e^eps·P(G > e^slope·s) with s = (k·slope + eps)/u.
//! 3. P(G > s) is the chance of fewer than k arrivals by time s, a Poisson tail: its nearest term times a series
//!    whose ratios fall below one, so that what is left out is below a geometric sum.
//! 4. e^(lam·L - mu·N) is a supermartingale, L being the log-ratio and N what was spent, for mu at least
//!    `lam·slope - ln(1 + lam(1 - e^-slope))` (one way) and `-lam·slope - ln(1 - lam·u)` (the other). As N <= k, the
//!    divergence of order 1 + lam is at most k·mu/lam. Both are convex in the slope and zero at zero, so that a part
//!    c of a contribution costs at most c·mu.

use super::{
    order::{order_cost_hint, order_cost_upper, search_order},
    renyi::RenyiCurve,
};
use crate::{interval::Interval, ratio::Ratio};
use dashu_base::{BitTest, UnsignedAbs};
use dashu_int::UBig;

/// Factorials up to here are multiplied out.
const EXACT_FACTORIAL: u64 = 2000;
const BITS: usize = 256;

/// The curve of the k-th arrival.
#[derive(Clone, Debug)]
pub struct Arrivals {
    count: u64,
    slope: Ratio,
}

impl Arrivals {
    /// At least one arrival, and a rate that differs by e^slope, slope above zero.
    pub fn new(count: u64, slope: &Ratio) -> Self {
        assert!(count > 0 && slope.is_positive(), "arrivals that tell something");
        Self { count, slope: slope.clone() }
    }

    /// The least delta at epsilon, rounded up.
    pub fn delta_upper(&self, eps: &Ratio) -> Ratio {
        assert!(!eps.is_negative(), "an epsilon is not negative");
        let bits = BITS
            + 2 * self.slope.bits_of_inverse()
            + 2 * (eps.ceil_big().unsigned_abs().bit_len() + self.count.bit_len())
            + usize::try_from((eps * &Ratio::new(3, 2)).ceil_i64().unwrap_or(i64::MAX)).unwrap_or(0);
        let grown = Interval::exact(&self.slope, bits).exp();
        let excess = grown.sub(&Interval::one(bits));
        let factor = Interval::exact(eps, bits).exp();
        let total = &self.slope * &Ratio::from(self.count);
        let factorial = LogFactorial::new(self.count - 1, bits);
        let late = Interval::exact(&(&total + eps), bits).div(&excess);
        let later = self.tails(&late.mul(&grown), &factorial).above;
        let mut delta = self.tails(&late, &factorial).above.sub(&factor.mul(&later)).upper();
        if *eps < total {
            let early = Interval::exact(&(&total - eps), bits).div(&excess);
            let earlier = self.tails(&early, &factorial).at_most;
            let with = self.tails(&early.mul(&grown), &factorial).at_most;
            delta = delta.max(with.sub(&factor.mul(&earlier)).upper());
        }
        delta.max(Ratio::zero())
    }

    /// P(G <= s) and P(G > s) for G ~ Gamma(k), s certainly positive.
    fn tails(&self, s: &Interval, factorial: &LogFactorial) -> Tails {
        let bits = s.bits();
        let one = Interval::one(bits);
        let count = Ratio::from(self.count);
        // (k - 1)·ln s - s - ln (k-1)!, the logarithm of P(exactly k - 1 arrivals by s).
        let log = s.ln().mul_ratio(&(&count - &Ratio::one())).sub(s).sub(&factorial.0);
        let clamp = |x: Interval| x.max(&Interval::zero(bits)).min(&one);
        if s.upper() < count {
            // k or more: the term at k times 1 + s/(k+1) + s²/((k+1)(k+2)) + …
            let first = log.exp().mul(&s.div_small(self.count));
            let at_most = clamp(first.mul(&series(bits, |i| s.div_small(self.count + i))));
            Tails { above: clamp(one.sub(&at_most)), at_most }
        } else {
            // k - 1 or fewer: the term at k - 1 times 1 + (k-1)/s + (k-1)(k-2)/s² + …
            let inverse = one.div(s);
            let ratio = |i: u64| inverse.mul_ratio(&Ratio::from(self.count.saturating_sub(i)));
            let above = clamp(log.exp().mul(&series(bits, ratio)));
            Tails { at_most: clamp(one.sub(&above)), above }
        }
    }
}

struct Tails {
    at_most: Interval,
    above: Interval,
}

/// `1 + r(1) + r(1)·r(2) + …` for falling ratios, enclosed; it is cut where a term is below 2^-160.
fn series(bits: usize, ratio: impl Fn(u64) -> Interval) -> Interval {
    let one = Interval::one(bits);
    let small = Ratio::new(1, 1 << 40).squared().squared();
    let (mut sum, mut term) = (one.clone(), one.clone());
    for i in 1.. {
        let next = ratio(i);
        // Ratios fall, so the rest is below term·next/(1 - next) once next is below one.
        if term.certainly_at_most(&small) && next.upper() < Ratio::one() {
            let rest = term.mul(&next).div(&one.sub(&next));
            return sum.add(&Interval::zero(bits).hull(&rest));
        }
        term = term.mul(&next);
        sum = sum.add(&term);
    }
    unreachable!("ratios fall below one")
}

/// ln n!, enclosed.
struct LogFactorial(Interval);

impl LogFactorial {
    fn new(n: u64, bits: usize) -> Self {
        if n <= EXACT_FACTORIAL {
            let product = (2..=n).fold(UBig::ONE, |product, factor| product * UBig::from(factor));
            return Self(Interval::exact(&Ratio::whole(product.into()), bits).ln());
        }
        // Robbins 1955: n ln n - n + ln(2 pi n)/2 + r with 1/(12n + 1) < r < 1/(12n).
        let n_exact = Ratio::from(n);
        let point = Interval::exact(&n_exact, bits);
        let turn = Interval::pi(bits).mul_ratio(&(&n_exact + &n_exact)).ln().div_small(2);
        let twelve = &n_exact * &Ratio::from(12u64);
        let rest = Interval::between(&(&twelve + &Ratio::one()).recip(), &twelve.recip(), bits);
        Self(point.ln().mul_ratio(&n_exact).sub(&point).add(&turn).add(&rest))
    }
}

/// `max(mu1, mu2)/lam` for each unit that is spent, rounded up; `None` where no divergence of that order is finite.
fn renyi_unit_upper(slope: &Ratio, lam: &Ratio) -> Option<Ratio> {
    let bits = BITS + 2 * slope.bits_of_inverse() + 2 * lam.bits_of_inverse();
    let one = Interval::one(bits);
    let at = |x: &Ratio| Interval::exact(x, bits);
    let with = one.add(&one.sub(&at(&-slope.clone()).exp()).mul_ratio(lam));
    let without = one.sub(&at(slope).exp().sub(&one).mul_ratio(lam));
    if !without.lower().is_positive() {
        return None;
    }
    let first = slope - &(with.ln().lower() / lam);
    let second = -slope.clone() - without.ln().lower() / lam;
    Some(first.max(second).max(Ratio::zero()))
}

/// The same as a float, for the search for a good order.
fn renyi_unit_hint(slope: f64, lam: f64) -> f64 {
    let first = slope - (-lam * (-slope).exp_m1()).ln_1p() / lam;
    let inner = lam * slope.exp_m1();
    if inner >= 1.0 { f64::INFINITY } else { first.max(-slope - (-inner).ln_1p() / lam) }
}

/// The Renyi curve of a budget, rounded up. Orders without a finite bound have none.
pub fn renyi_curve_upper(budget: u64, slope: &Ratio) -> RenyiCurve {
    let budget = Ratio::from(budget);
    RenyiCurve::from_upper_bounds(|order| Some(renyi_unit_upper(slope, &(order - &Ratio::one()))? * &budget))
}

/// The least epsilon that some order certifies at delta, rounded up; `None` where none does.
pub fn renyi_eps_upper(budget: u64, slope: &Ratio, delta: &Ratio) -> Option<Ratio> {
    let (k, a, ln_delta) = (budget as f64, slope.to_f64(), delta.to_f64().ln());
    let order = search_order(|lam| k * renyi_unit_hint(a, lam) + order_cost_hint(lam, ln_delta));
    let unit = renyi_unit_upper(slope, &(&order - &Ratio::one()))?;
    Some((unit * Ratio::from(budget) + order_cost_upper(&order, delta)).max(Ratio::zero()).dyadic_up(96))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn delta(count: u64, scale: &str, eps: &str) -> f64 {
        Arrivals::new(count, &ratio(scale).recip()).delta_upper(&ratio(eps)).to_f64()
    }

    /// One arrival has a closed form: (1 - e^-a)·exp(-(eps + a)/(e^a - 1)), where eps >= a.
    #[test]
    fn one_arrival_by_hand() {
        for (scale, eps) in [("10.92", "1"), ("3", "0.5"), ("84.4", "0.1"), ("1", "2")] {
            let (a, e) = (1.0 / ratio(scale).to_f64(), ratio(eps).to_f64());
            let closed = -(-a).exp_m1() * (-(e + a) / a.exp_m1()).exp();
            assert!((delta(1, scale, eps) / closed - 1.0).abs() < 1e-9, "{scale} {eps}");
        }
    }

    /// The worst cases that the theory page found over all adversaries.
    #[test]
    fn figures_of_the_theory_page() {
        for (count, scale, eps, expected) in
            [(1, "6", "1", 2.4683e-4), (4, "6", "1", 3.6675e-3), (8, "12", "0.8", 6.992e-4)]
        {
            let found = delta(count, scale, eps);
            assert!((found / expected - 1.0).abs() < 2e-4, "{count} {scale} {eps}: {found:e}");
        }
    }

    /// Both tails against sums of Poisson masses in floats.
    #[test]
    fn tails_are_those_of_a_gamma_variable() {
        for count in [1u64, 2, 5, 30] {
            for s in ["0.3", "1", "4.5", "29.9", "30", "31", "60"] {
                let x = ratio(s).to_f64();
                let mut term = (-x).exp();
                let mut fewer = 0.0;
                for j in 0..count {
                    fewer += term;
                    term *= x / (j + 1) as f64;
                }
                let arrivals = Arrivals::new(count, &Ratio::one());
                let tails =
                    arrivals.tails(&Interval::exact(&ratio(s), 256), &LogFactorial::new(count - 1, 256));
                assert!((tails.above.to_f64() - fewer).abs() < 1e-12, "{count} {s}");
                assert!((tails.at_most.to_f64() - (1.0 - fewer)).abs() < 1e-12, "{count} {s}");
            }
        }
    }

    #[test]
    fn both_logarithms_of_a_factorial_agree() {
        let product = LogFactorial::new(EXACT_FACTORIAL, 256).0;
        let next = product.add(&Interval::integer(2001, 256).ln());
        let robbins = LogFactorial::new(EXACT_FACTORIAL + 1, 256).0;
        assert!(robbins.lower() <= next.lower() && next.upper() <= robbins.upper());
        assert!((robbins.upper() - robbins.lower()).to_f64() < 1e-8);
    }

    #[test]
    fn many_arrivals_and_the_ends_of_the_domain() {
        // b close to (sqrt(2k ln 1/d) + ln 1/d)/eps, and slowly below it.
        let found = delta(1_000_000, "4200", "1");
        assert!(found > 1e-9 && found < 1e-5, "{found:e}");
        assert!(delta(1, "0.1", "0") > 0.99 && delta(3, "1000", "900") < 1e-60);
        assert!(delta(2, "1", "2") > 0.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn the_renyi_way_is_above_the_exact_one(count in 1u64..40, scale in 2u64..60, tenths in 1u64..40) {
            let slope = Ratio::new(1, scale);
            let exact = Arrivals::new(count, &slope).delta_upper(&Ratio::new(i64::try_from(tenths).unwrap(), 10));
            prop_assume!(exact.is_positive() && exact < Ratio::new(1, 10));
            if let Some(eps) = renyi_eps_upper(count, &slope, &exact) {
                prop_assert!(eps.to_f64() >= tenths as f64 / 10.0 - 1e-9);
            }
        }
    }

    /// The slope of the curve is that of the order's divergence, not of a zCDP line: it ends.
    #[test]
    fn high_orders_have_no_bound() {
        let slope = Ratio::new(1, 10);
        let curve = renyi_curve_upper(1, &slope);
        let last = curve.iter().filter(|(_, bound)| bound.is_some()).last().unwrap().0.to_f64();
        assert!(last < 1.0 + 1.0 / 0.1f64.exp_m1() && last > 8.0, "{last}");
        let at_two = curve.iter().find(|(order, _)| **order == Ratio::from(2u64)).unwrap().1.unwrap();
        let by_hand = f64::max(0.1 - (2.0 - (-0.1f64).exp()).ln(), -0.1 - (2.0 - 0.1f64.exp()).ln());
        assert!((at_two.ratio().to_f64() / by_hand - 1.0).abs() < 1e-9);
    }
}
