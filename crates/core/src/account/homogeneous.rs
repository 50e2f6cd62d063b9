//! Optimal composition of equal releases: the exact delta of k releases of which only (epsilon, delta) is known.
//!
//! Source: Kairouz, Oh and Viswanath, "The composition theorem for differential privacy" (2015), Theorem 3.3.
//!
//! # Guarantee
//!
//! k releases, each (e, d)-DP, chosen with all earlier answers in hand, are (epsilon, delta)-DP for
//! `1 - delta = (1-d)^k·(1 - h)`, with h the sum over `(k - 2i)·e > epsilon` of
//! `C(k, i)·e^(-i·e)·(1 - e^(epsilon - (k-2i)·e)) / (1 + e^-e)^k`; and no smaller delta holds for all such releases.
//!
//! # Why
//!
//! Every (e, d)-DP pair is post-processed randomized response that fails with probability d; k of them show how many
//! answers were true, a binomial number, and the sum is its hockey stick.

use crate::{
    interval::Interval,
    loss::{Amount, Approx, Delta, significant_up},
    ratio::Ratio,
};

/// `count` releases of the same (epsilon, delta).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homogeneous {
    /// What each loses.
    pub each: Approx,
    /// How many there are.
    pub count: u64,
}

impl Homogeneous {
    /// The least delta at this epsilon, enclosed.
    pub fn delta(&self, eps: &Ratio) -> Interval {
        let bits = 192 + usize::try_from(self.count).expect("fewer releases than memory");
        let one = Interval::one(bits);
        let base = self.each.eps.ratio();
        let decay = Interval::exact(&-base.clone(), bits).exp();
        let mut mass = power(&one.div(&one.add(&decay)), self.count);
        let mut sum = Interval::zero(bits);
        for i in 0..=self.count / 2 {
            let twice = Ratio::from(2 * i);
            let over = (Ratio::from(self.count) - twice) * base - eps;
            if !over.is_positive() {
                break;
            }
            sum = sum.add(&mass.mul(&one.sub(&Interval::exact(&-over, bits).exp())));
            let next = Ratio::from(self.count - i) / Ratio::from(i + 1);
            mass = mass.mul(&decay).mul_ratio(&next);
        }
        let kept =
            Interval::exact(&(Ratio::one() - self.each.delta.ratio()), bits).max(&Interval::zero(bits));
        one.sub(&power(&kept, self.count).mul(&one.sub(&sum)))
    }

    /// An epsilon at this delta, above the least by at most a part in 2^40 of the plain sum; `None` where the delta is too small.
    pub fn eps_upper(&self, delta: &Delta) -> Option<Approx> {
        let holds = |eps: &Ratio| self.delta(eps).upper() <= *delta.ratio();
        let mut high = self.each.eps.times_up(self.count).ratio().clone();
        if !holds(&high) {
            return None;
        }
        let mut low = Ratio::zero();
        if holds(&low) {
            high = Ratio::zero();
        }
        for _ in 0..40 {
            let middle = significant_up(&((&low + &high) / Ratio::from(2u64)), 64);
            if holds(&middle) { high = middle } else { low = middle }
        }
        Some(Approx { eps: Amount::new(high).ok()?, delta: delta.into() })
    }
}

fn power(base: &Interval, mut count: u64) -> Interval {
    let (mut result, mut square) = (Interval::one(base.bits()), base.clone());
    while count > 0 {
        if count & 1 == 1 {
            result = result.mul(&square);
        }
        square = square.square();
        count >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(eps: &str, delta: &str, count: u64) -> Homogeneous {
        let amount = |text: &str| Amount::new(text.parse().unwrap()).unwrap();
        Homogeneous { each: Approx { eps: amount(eps), delta: amount(delta) }, count }
    }

    #[test]
    fn known_figures() {
        let delta = "1e-6".parse().unwrap();
        let eps = |releases: &Homogeneous| releases.eps_upper(&delta).unwrap().eps.ratio().to_f64();
        assert!((eps(&equal("0.1", "0", 100)) - 4.774_567_6).abs() < 1e-6);
        assert!((eps(&equal("1", "0", 1)) - (1.0 - 1e-6 * (1.0 + (-1f64).exp()))).abs() < 1e-9);
        // A delta of their own: one release is itself, and too small a delta has no epsilon.
        assert!((eps(&equal("1", "1e-7", 1)) - 1.0).abs() < 1e-5);
        assert!(equal("1", "1e-5", 1).eps_upper(&delta).is_none());
        assert!(equal("1", "0", 3).eps_upper(&Delta::zero()).unwrap().eps.ratio().to_f64() >= 3.0);
    }

    /// All 2^k answers of randomized response, one by one.
    #[test]
    fn every_transcript_of_four_answers() {
        let growth = 2f64.exp();
        let (yes, no) = (growth / (1.0 + growth), 1.0 / (1.0 + growth));
        for eps in ["0", "0.5", "3", "4", "7.9", "8"] {
            let at: f64 = eps.parse().unwrap();
            let brute: f64 = (0u32..16)
                .map(|answers| {
                    let trues = answers.count_ones().cast_signed();
                    let (p, q) = (yes.powi(trues) * no.powi(4 - trues), no.powi(trues) * yes.powi(4 - trues));
                    (p - at.exp() * q).max(0.0)
                })
                .sum();
            let exact = equal("2", "0", 4).delta(&eps.parse().unwrap());
            assert!((exact.to_f64() - brute).abs() < 1e-12, "{eps}: {brute}");
        }
    }

    /// At the ends of its search a delta is known to be small enough or not claimed: of one release with a delta that no binary
    /// fraction is, the enclosure reaches beyond its own delta.
    #[test]
    fn what_is_claimed_is_enclosed() {
        for (eps, own, count) in [("1", "0.1", 1), ("1", "0", 1), ("0.3", "0", 7), ("0", "0.1", 1)] {
            let releases = equal(eps, own, count);
            for delta in [own, "0.1", "0.2", "0.5"] {
                let delta: Delta = delta.parse().unwrap();
                let Some(claimed) = releases.eps_upper(&delta) else { continue };
                assert!(releases.delta(claimed.eps.ratio()).upper() <= *delta.ratio(), "{eps} {own} {count}");
                // And not far above the least: less by a part in 2^40 of the plain sum, and a little for rounding, would not do.
                let part = Ratio::new((1 << 20) + 1, 1 << 60);
                let less = claimed.eps.ratio() - releases.each.eps.times_up(count).ratio() * &part;
                let least = claimed.eps.ratio().is_zero() || releases.delta(&less).lower() > *delta.ratio();
                assert!(least, "{eps} {own} {count}: {}", claimed.eps);
                assert_eq!(claimed.delta.ratio(), delta.ratio());
            }
        }
    }

    /// Deltas of their own: the chance that none of three fails is the cube.
    #[test]
    fn deltas_of_their_own_compose_as_failures() {
        let three = equal("1", "0.1", 3).delta(&Ratio::from(3u64));
        assert!((three.to_f64() - (1.0 - 0.9f64.powi(3))).abs() < 1e-12, "{}", three.to_f64());
        assert!((equal("1", "1", 2).delta(&Ratio::zero()).to_f64() - 1.0).abs() < 1e-12);
    }
}
