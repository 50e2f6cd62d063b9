//! The plain loss: (epsilon, delta).

use super::{
    amount::{Amount, significant_down, significant_up},
    parameter::{Delta, Eps, ParameterError},
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
    #[must_use]
    pub fn two_steps(&self) -> Self {
        self.steps(2)
    }

    /// What a path of `count` neighbouring steps may lose: `(count·eps, delta·(1 + e^eps + … + e^((count-1)·eps)))`, the
    /// delta rounded up. A group of rows that come or go together is such a path.
    ///
    /// From P to R to Q: P <= e^eps·R + delta <= e^eps·(e^eps·Q + delta) + delta, and so on.
    #[must_use]
    pub fn steps(&self, count: u64) -> Self {
        Self { eps: self.eps.times_up(count), delta: self.steps_delta_up(count) }
    }

    /// The loss that one of `count` steps may have, so that the path loses at most this: the inverse of
    /// [`steps`](Self::steps), the delta rounded down. Panics at zero.
    pub fn step_of(eps: &Eps, delta: &Delta, count: u64) -> Result<(Eps, Delta), ParameterError> {
        assert!(count > 0, "a path has steps");
        let step = Eps::new(eps.ratio() / &Ratio::from(count))?;
        if count == 1 || delta.is_zero() {
            return Ok((step, delta.clone()));
        }
        // A little less than the share, so that the path stays below after it is rounded up.
        let kept = Ratio::one() - Ratio::dyadic(1.into(), BITS - 28);
        let share = delta.ratio() * &kept / &powers(step.ratio(), count).upper();
        Ok((step, Delta::new(significant_down(&share, BITS))?))
    }

    fn steps_delta_up(&self, count: u64) -> Amount {
        if self.delta.is_zero() || count == 1 {
            return self.delta.clone();
        }
        // A delta of one promises nothing, so nothing larger needs computing.
        if self.eps.times_up(count).ratio() > &Ratio::from(4000u64) {
            return Amount::clamped(Ratio::one());
        }
        let delta = significant_up(&(powers(self.eps.ratio(), count).upper() * self.delta.ratio()), BITS);
        Amount::clamped(delta.min(Ratio::one().max(self.delta.ratio().clone())))
    }
}

const BITS: usize = 128;

/// 1 + e^x + … + e^((count-1)·x), by halves.
fn powers(x: &Ratio, count: u64) -> Interval {
    let power = |times: u64| Interval::exact(&(x * &Ratio::from(times)), BITS).exp();
    match count {
        0 => Interval::zero(BITS),
        1 => Interval::one(BITS),
        odd if odd % 2 == 1 => powers(x, odd - 1).mul(&power(1)).add(&Interval::one(BITS)),
        even => powers(x, even / 2).mul(&power(even / 2).add(&Interval::one(BITS))),
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
    fn a_path_loses_what_its_steps_lose_and_a_step_is_its_share() {
        // 1 + e + e² + e³ = 31.192874850577363203519…
        let four = approx("1", "1e-6").steps(4);
        assert_eq!(*four.eps.ratio(), Ratio::from(4u64));
        let (low, high) = ("3.1192874850577363203519e-5", "3.1192874850577363203520e-5");
        assert!(*four.delta.ratio() > low.parse().unwrap() && *four.delta.ratio() < high.parse().unwrap());
        assert_eq!(approx("1", "1e-6").steps(1), approx("1", "1e-6"));
        assert_eq!(*approx("1", "1e-9").steps(5000).delta.ratio(), Ratio::one());
        for (eps, delta, count) in
            [("1", "1e-6", 1), ("1", "1e-6", 2), ("0.3", "0", 7), ("1000", "1e-6", 65_535), ("1", "0.5", 3)]
        {
            let (eps, delta) = (eps.parse().unwrap(), delta.parse().unwrap());
            let (step_eps, step_delta) = Approx::step_of(&eps, &delta, count).unwrap();
            let path = Approx::new(&step_eps, &step_delta).steps(count);
            assert!(path.eps.ratio() == eps.ratio() && path.delta.ratio() <= delta.ratio());
            let room = Ratio::one() + Ratio::dyadic(1.into(), 98);
            assert!(*path.delta.ratio() >= delta.ratio() / &room, "no more is kept back than rounding");
        }
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
