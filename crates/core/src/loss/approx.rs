//! The plain loss: (epsilon, delta).

use super::{
    amount::{Amount, significant_up},
    parameter::{Delta, Eps},
};
use crate::{interval::Interval, ratio::Ratio};

/// P(E) <= e^eps·Q(E) + delta for every event and both ways round.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Approx {
    /// The largest log-ratio, outside of delta.
    pub eps: Amount,
    /// The probability outside the bound; one or more promises nothing.
    pub delta: Amount,
}

impl Approx {
    /// Epsilon and delta as requested.
    pub fn new(eps: &Eps, delta: &Delta) -> Self {
        Self { eps: eps.into(), delta: delta.into() }
    }

    /// The sum of both.
    #[must_use]
    pub fn compose(&self, other: &Self) -> Self {
        Self { eps: self.eps.plus_up(&other.eps), delta: self.delta.plus_up(&other.delta) }
    }

    /// This loss, `count` times.
    #[must_use]
    pub fn times(&self, count: u64) -> Self {
        Self { eps: self.eps.times_up(count), delta: self.delta.times_up(count) }
    }

    /// What two neighbouring steps may lose: `(2 eps, delta·(1 + e^eps))`, the delta rounded up.
    ///
    /// From P to R to Q: P <= e^eps·R + delta <= e^eps·(e^eps·Q + delta) + delta.
    #[must_use]
    pub fn two_steps(&self) -> Self {
        Self { eps: self.eps.times_up(2), delta: self.two_steps_delta_up() }
    }

    fn two_steps_delta_up(&self) -> Amount {
        const BITS: usize = 128;
        if self.delta.is_zero() {
            return Amount::zero();
        }
        // A delta of one promises nothing, so nothing larger needs computing.
        if self.eps.ratio() > &Ratio::from(2000u64) {
            return Amount::clamped(Ratio::one());
        }
        let factor = Interval::exact(self.eps.ratio(), BITS).exp().add(&Interval::one(BITS));
        let delta = significant_up(&(factor.upper() * self.delta.ratio()), BITS);
        Amount::clamped(delta.min(Ratio::one().max(self.delta.ratio().clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approx(eps: &str, delta: &str) -> Approx {
        Approx::new(&eps.parse().unwrap(), &delta.parse().unwrap())
    }

    #[test]
    fn two_steps_round_the_delta_up() {
        assert_eq!(approx("0.5", "0").two_steps(), approx("1", "0"));
        let two = approx("1", "1e-6").two_steps();
        assert_eq!(*two.eps.ratio(), Ratio::from(2u64));
        // 1 + e = 3.718281828459045235360287471352662497757…
        let (low, high) =
            ("3.71828182845904523536028747135266249775e-6", "3.71828182845904523536028747135266249777e-6");
        assert!(*two.delta.ratio() > low.parse().unwrap() && *two.delta.ratio() < high.parse().unwrap());
        assert_eq!(*approx("1000", "1e-6").two_steps().delta.ratio(), Ratio::one());
        assert_eq!(*approx("1000", "1e-6").times(3).two_steps().delta.ratio(), Ratio::one());
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(approx("0.1", "1e-7").compose(&approx("0.2", "2e-7")), approx("0.3", "3e-7"));
        assert_eq!(approx("0.1", "1e-8").times(100), approx("10", "1e-6"));
    }

    /// Every mechanism with three outcomes on a coarse grid: a path of two steps loses at most `two_steps`.
    #[test]
    fn no_path_of_two_steps_loses_more() {
        let grid: Vec<[f64; 3]> = (0..=10)
            .flat_map(|a| (0..=10 - a).map(move |b| [f64::from(a), f64::from(b), f64::from(10 - a - b)]))
            .map(|p| p.map(|x| x / 10.0))
            .collect();
        let stick = |e: f64, p: &[f64; 3], q: &[f64; 3]| -> f64 {
            p.iter().zip(q).map(|(p, q)| (p - e * q).max(0.0)).sum()
        };
        let e = 2f64;
        let mut tight: f64 = 0.0;
        for p in &grid {
            for r in &grid {
                for q in &grid {
                    let delta = stick(e, p, r).max(stick(e, r, q)).max(stick(e, r, p)).max(stick(e, q, r));
                    let two = stick(e * e, p, q);
                    assert!(two <= delta * (1.0 + e) + 1e-12);
                    if delta > 0.0 {
                        tight = tight.max(two / (delta * (1.0 + e)));
                    }
                }
            }
        }
        assert!(tight > 0.99, "the bound is attained: {tight}");
    }
}
