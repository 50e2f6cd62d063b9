//! How far a sum of noises goes, each times a number of its own.
//!
//! # Why
//!
//! 1. Laplace variables of different scales p, q, .. have a sum beyond t, on either side, with the probability
//!    `sum over p of e^(-t/p) · product over q of p²/(p² - q²)`. Scales that are nearly alike are moved apart, upwards, which takes the sum
//!    farther: what is added to noise that is symmetric with one peak only widens it (Wintner 1938).
//! 2. Bell curves add up to one whose width is the root of the sum of the squares.
//! 3. Noise on whole numbers is at most one step off a variable that has a density, so that the sum is off by the sum of the numbers.
//! 4. At most three noises stay within what each goes beyond in a third of the failures, all at once.
//! 5. Noises of one law, symmetric and with a log-concave density: a sum goes no farther, as often, where the largest number is no larger, the two
//!    largest together are not, and so on (Proschan 1965). It goes no farther either where each number is no larger.

use super::noise::Noise;
use crate::error::PlanError;
use equipoise_core::ratio::Ratio;

/// What floats may be wrong by here, with room to spare.
const SLACK: f64 = 1e-9;
/// Scales lie at least this part apart.
const APART: f64 = 1e-3;

/// How often something may fail, of what the request allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fails {
    /// As often as that.
    All,
    /// Nine times of ten.
    Most,
    /// Once of twenty; two of these and most are all.
    Little,
}

impl Fails {
    const EACH: [Self; 3] = [Self::All, Self::Most, Self::Little];

    fn part(self) -> Ratio {
        match self {
            Self::All => Ratio::one(),
            Self::Most => Ratio::new(9, 10),
            Self::Little => Ratio::new(1, 20),
        }
    }
}

/// Noise of one law on some numbers: how far what is made of them goes.
#[derive(Clone, Debug)]
pub(super) struct Mixtures {
    /// The scale of Laplace noise, if it is that.
    scale: Option<f64>,
    /// How often each may fail.
    failures: [f64; 3],
    /// How far one noise goes, in each case.
    single: [f64; 3],
    /// How far each of three goes.
    each: [f64; 3],
}

impl Mixtures {
    pub fn new(noise: &Noise, failure: &Ratio) -> Result<Self, PlanError> {
        let mut single = [0.0; 3];
        let mut each = [0.0; 3];
        let mut failures = [0.0; 3];
        for (place, fails) in Fails::EACH.into_iter().enumerate() {
            let part = failure * &fails.part();
            single[place] = noise.within(&part)? as f64;
            each[place] = noise.within(&(&part / &Ratio::from(3u64)))? as f64;
            failures[place] = part.to_f64() * (1.0 - SLACK);
        }
        let scale = match noise {
            Noise::Laplace(noise) => Some(noise.scale().to_f64() * (1.0 + SLACK)),
            Noise::Gaussian(_) => None,
        };
        Ok(Self { scale, failures, single, each })
    }

    /// How far the sum of the noises goes, each times its number, in steps.
    pub fn within(&self, numbers: &[f64], fails: Fails) -> f64 {
        let steps: f64 = numbers.iter().map(|number| number.abs()).sum();
        if numbers.iter().filter(|&&number| number != 0.0).count() == 1 {
            return self.single[fails as usize] * steps;
        }
        let off = match self.scale {
            Some(scale) => scale * reach(numbers, self.failures[fails as usize]),
            None => {
                let squares: f64 = numbers.iter().map(|number| number * number).sum();
                self.single[fails as usize] * squares.sqrt()
            }
        };
        // Where there is hardly any noise, each of the noises by itself says more than all of them, a step off.
        ((off + steps) * (1.0 + SLACK)).min(self.each[fails as usize] * steps * (1.0 + SLACK))
    }
}

/// How far a sum of Laplace variables of these scales goes, except with this probability.
fn reach(scales: &[f64], failure: f64) -> f64 {
    let mut scales: Vec<f64> = scales.iter().map(|scale| scale.abs()).filter(|&scale| scale > 0.0).collect();
    if scales.is_empty() {
        return 0.0;
    }
    scales.sort_by(f64::total_cmp);
    let least = scales[scales.len() - 1] * APART;
    scales[0] = scales[0].max(least);
    for place in 1..scales.len() {
        scales[place] = scales[place].max(scales[place - 1] * (1.0 + APART));
    }
    let largest = scales[scales.len() - 1];
    // Any one of them alone goes no farther (5. above).
    let mut near = largest * -failure.ln();
    let mut far = near + largest;
    while beyond(&scales, far) > failure {
        (near, far) = (far, far + 2.0 * largest);
    }
    for _ in 0..24 {
        let middle = f64::midpoint(near, far);
        if beyond(&scales, middle) > failure { near = middle } else { far = middle }
    }
    far
}

/// How likely the sum of variables of these scales, no two of them alike, lies beyond t on either side.
fn beyond(scales: &[f64], t: f64) -> f64 {
    let weight = |one: f64| -> f64 {
        let others = scales.iter().filter(|&&other| other.total_cmp(&one).is_ne());
        others.map(|other| one * one / ((one - other) * (one + other))).product()
    };
    scales.iter().map(|&one| weight(one) * (-t / one).exp()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gather::tests::FixedWords, task::noise::laplace};

    #[test]
    fn tails_by_hand() {
        let near = |a: f64, b: f64, by: f64| assert!((a - b).abs() < by, "{a} {b}");
        near(beyond(&[1.0], 3.0), (-3.0f64).exp(), 1e-12);
        // (4·e^-1 - e^-2)/3.
        near(beyond(&[1.0, 2.0], 2.0), (4.0 * (-1.0f64).exp() - (-2.0f64).exp()) / 3.0, 1e-12);
        // Two alike: (1 + t/2)·e^-t is 0.05 at 4.1144.
        near(reach(&[1.0, -1.0], 0.05), 4.1144, 0.01);
        let three = reach(&[1.0, 1.0, 1.0], 0.05);
        near((1.0 + 0.625 * three + three * three / 8.0) * (-three).exp(), 0.05, 5e-4);
        near(reach(&[0.0, 2.0, 0.0], 0.05), 2.0 * 20f64.ln(), 1e-6);
        near(reach(&[0.0; 3], 0.05), 0.0, 1e-300);
        assert!(reach(&[1.0, 1.0, 1.0], 1e-12).is_finite() && reach(&[1.0, 1e-9], 0.05) < 3.0);
    }

    /// What is moved apart goes no nearer, and no number makes a tail that is less than it is: against the tails of alike ones by hand.
    #[test]
    fn numbers_that_are_larger_go_farther() {
        for failure in [0.3, 0.05, 1e-6] {
            for (one, other) in [
                ([1.0, 1.0, 0.0], [1.5, 0.5, 0.0]),
                ([1.5, 0.5, 0.0], [2.0, 0.0, 0.0]),
                ([1.0, 1.0, 1.0], [1.0, 1.1, 1.0]),
                ([1.0, 0.9, 0.5], [1.2, 0.8, 0.4]),
                ([2.0, 1.0, 0.0], [4.0, 0.5, 0.0]),
            ] {
                let [near, far] = [one, other].map(|numbers| reach(&numbers, failure));
                assert!(near <= far * (1.0 + 3.0 * APART), "{one:?} {near} {other:?} {far}");
            }
        }
    }

    /// Sums of shipped noise stay within reach as often as is said, and not much more often. False alarm: a binomial of 20,000 at 0.05 is
    /// beyond 1,150 with a chance below 1e-6.
    #[test]
    fn sums_of_noise_stay_within_reach_and_nearly_use_it() {
        const TRIALS: usize = 20_000;
        let mut coins = FixedWords(11);
        for numbers in [[1.0, 1.0, 0.0], [0.3, -1.7, 0.3], [2.0, 0.5, 0.0], [-0.9, 1.1, 1.0]] {
            let noise = Noise::Laplace(Box::new(laplace(&"1".parse().unwrap(), 100).unwrap()));
            let far = Mixtures::new(&noise, &Ratio::new(1, 20)).unwrap().within(&numbers, Fails::All);
            let mut sum =
                || numbers.iter().map(|number| number * noise.run(0, &mut coins) as f64).sum::<f64>();
            let outside = (0..TRIALS).filter(|_| sum().abs() > far).count();
            assert!((800..=1150).contains(&outside), "{numbers:?}: {outside}");
        }
    }
}
