//! How far many noises go together, along the straight line. What is made of noisy sums may weigh them by numbers that the noise itself
//! decided on: the weights' length times this bounds it all the same.

use equipoise_core::ratio::Ratio;

/// What floats may be wrong by here, with room to spare.
const SLACK: f64 = 1e-9;

/// So many bell curves of this deviation, each rounded to a whole step, are together farther with at most this probability.
///
/// The squares of k of them, over the square of the deviation, exceed k·x with probability at most `(x·e^(1-x))^(k/2)` for x from one on, by
/// Chernoff's bound; rounding moves each by at most half a step.
pub(super) fn of_bell_curves(many: usize, deviation: f64, failure: &Ratio) -> f64 {
    let k = many as f64;
    let wanted = (failure.to_f64() * (1.0 - SLACK)).ln();
    let x = least(1.0, |x| k / 2.0 * (x.ln() + 1.0 - x) <= wanted);
    (deviation * (k * x).sqrt() + k.sqrt() / 2.0) * (1.0 + SLACK)
}

/// The same of so many Laplace noises of this scale on whole steps.
///
/// Over the scale their sizes are exponential variables, and steps make each at most one step longer. With half of the failure none of k
/// exceeds L = ln(2k/failure). Of those that do not, the squares exceed t together with probability at most e^(-rate·t) times the k-th power of the
/// integral of e^(rate·x² - x) from 0 to L, whatever the rate; the other half is spent on that.
pub(super) fn of_laplace(many: usize, scale: f64, failure: &Ratio) -> f64 {
    let k = many as f64;
    let failure = failure.to_f64() * (1.0 - SLACK);
    let longest = (2.0 * k / failure).ln();
    let squares = |rate: f64| (k * integral(rate, longest).ln() - (failure / 2.0).ln()) / rate;
    // Any rate is good, and the best of some is taken.
    let rates = (1..=60).map(|step| f64::from(step) / 60.0 / longest * 1.5);
    let least = rates.map(squares).fold(k * longest * longest, f64::min);
    (scale * least.sqrt() + k.sqrt()) * (1.0 + SLACK)
}

/// Not below the integral of e^(rate·x² - x) from 0 to the end: the exponent is convex, so that no point between two exceeds both of them.
fn integral(rate: f64, end: f64) -> f64 {
    const PARTS: u32 = 4000;
    let width = end / f64::from(PARTS);
    let at = |part: u32| {
        let x = width * f64::from(part);
        (rate * x * x - x).exp()
    };
    let area: f64 = (0..PARTS).map(|part| width * at(part).max(at(part + 1))).sum();
    area * (1.0 + SLACK)
}

/// The least number from here on for which a test is true, rounded up; it stays true from there on.
fn least(from: f64, test: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (from, from * 2.0);
    while !test(high) {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if test(middle) { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gather::tests::FixedWords, task::noise::laplace};

    /// Shipped noise stays within its ball as often as is said, and the ball is not many times too wide. False alarm: a binomial of 4,000 at 0.05 is
    /// beyond 270 with a chance below 1e-6.
    #[test]
    fn noise_stays_within_its_ball() {
        const TRIALS: usize = 4000;
        let mut coins = FixedWords(8);
        let failure = Ratio::new(1, 20);
        for many in [3, 10, 78] {
            let noise = laplace(&"0.5".parse().unwrap(), 64).unwrap();
            let ball = of_laplace(many, noise.scale().to_f64(), &failure);
            let mut length = || {
                let square = |_| (noise.run_whole(0, &mut coins) as f64).powi(2);
                (0..many).map(square).sum::<f64>().sqrt()
            };
            let mut lengths: Vec<f64> = (0..TRIALS).map(|_| length()).collect();
            lengths.sort_by(f64::total_cmp);
            assert!(lengths[TRIALS - 270] <= ball, "{many}: {} {ball}", lengths[TRIALS - 270]);
            assert!(ball < 1.7 * lengths[TRIALS - 200], "{many}: {} {ball}", lengths[TRIALS - 200]);
        }
        // The exact quantiles of chi with 3, 10 and 78 degrees are 2.796, 4.279 and 9.984.
        for (many, exact) in [(3, 2.796), (10, 4.279), (78, 9.984)] {
            let ball = of_bell_curves(many, 1e9, &failure) / 1e9;
            assert!(ball > exact && ball < exact * 1.35, "{many}: {ball}");
        }
    }
}
