//! How far a sum of some Laplace noises goes.
//!
//! # Why
//!
//! 1. The sum of k Laplace variables of scale one has the density
//!    `e^(-x) · sum over j < k of (k-1+j)! / ((k-1-j)! j! (k-1)!) · 2^(-k-j) · x^(k-1-j)` for x from zero on, and the same for -x: a difference of two
//!    gamma variables. What lies beyond t is a sum of `m! · e^(-t) · sum over i <= m of t^i/i!`.
//! 2. Noise on whole numbers is at most one step off such a variable: with the ratio a = e^(-1/scale), it is m steps or farther with
//!    probability `2a^m/(1 + a)`, which lies between a^m and a^(m-1). So the sum of k of them is at most k steps farther.

use equipoise_core::ratio::Ratio;

/// What floats may be wrong by here, with room to spare.
const SLACK: f64 = 1e-9;

/// The sum of so many noises of this scale, in steps, goes farther with at most this probability; rounded up.
#[expect(clippy::cast_possible_truncation, reason = "far below 2^63, or the end of what is counted")]
pub(super) fn reach(noises: u32, scale: f64, failure: &Ratio) -> i64 {
    let failure = failure.to_f64() * (1.0 - SLACK);
    // Farther than this is the tail of more noises than there are here.
    let (mut near, mut far) = (0.0, 1000.0);
    for _ in 0..80 {
        let middle = f64::midpoint(near, far);
        if beyond(noises, middle) > failure { near = middle } else { far = middle }
    }
    (far * scale * (1.0 + SLACK)).ceil() as i64 + i64::from(noises)
}

/// How likely the sum of so many variables of scale one lies beyond t, on either side.
fn beyond(noises: u32, t: f64) -> f64 {
    let last = noises - 1;
    let factorial = |number: u32| (1..=number).map(f64::from).product::<f64>();
    let upper = |power: u32| {
        let mut term = 1.0;
        let mut sum = 1.0;
        for step in 1..=power {
            term *= t / f64::from(step);
            sum += term;
        }
        factorial(power) * sum
    };
    let term = |j: u32| {
        let weight = factorial(last + j) / (factorial(last - j) * factorial(j) * factorial(last));
        weight * 0.5f64.powi(i32::try_from(noises + j).expect("a handful")) * upper(last - j)
    };
    2.0 * (-t).exp() * (0..noises).map(term).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gather::tests::FixedWords, task::noise::laplace};

    #[test]
    fn tails_by_hand() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        for noises in 1..=5 {
            near(beyond(noises, 0.0), 1.0);
        }
        near(beyond(1, 3.0), (-3.0f64).exp());
        near(beyond(2, 3.0), 2.5 * (-3.0f64).exp());
        // Three: (1 + 5t/8 + t^2/8)·e^-t.
        near(beyond(3, 2.0), (1.0 + 1.25 + 0.5) * (-2.0f64).exp());
    }

    /// Sums of shipped noise stay within reach as often as is said, and not much more often. False alarm: a binomial of 20,000 at 0.05 is
    /// beyond 1,150 with a chance below 1e-6.
    #[test]
    fn sums_of_noise_stay_within_reach_and_nearly_use_it() {
        const TRIALS: usize = 20_000;
        let mut coins = FixedWords(11);
        for noises in [1, 2, 3, 5] {
            for (eps, steps) in [("0.5", 1), ("1", 40)] {
                let noise = laplace(&eps.parse().unwrap(), steps).unwrap();
                let far = reach(noises, noise.scale().to_f64(), &Ratio::new(1, 20));
                let sum =
                    |coins: &mut FixedWords| -> i64 { (0..noises).map(|_| noise.run_whole(0, coins)).sum() };
                let outside = (0..TRIALS).filter(|_| sum(&mut coins).abs() > far).count();
                assert!(outside <= 1150, "{noises} of {steps}: {outside}");
                assert!(steps == 1 || outside >= 700, "{noises} of {steps}: {outside}");
            }
        }
    }
}
