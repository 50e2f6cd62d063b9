//! Bars for whoever speaks of a population: what the rows differ from it by chance, on top of the noise.
//!
//! # Why
//!
//! The rows are taken for draws from one law, each on its own. Nothing else is assumed of it.
//!
//! 1. Means of numbers between 0 and 1: with mean p, the mean of n draws is at least q > p with a probability of at most
//!    `e^(-n·KL(q||p))`, and likewise below (Hoeffding 1963, Theorem 1). So p lies where `n·KL(q||p)` is at most `ln(2/beta)`, except
//!    with probability beta. Noise leaves an interval of q: its lower end bounds p from below, its upper end from above.
//!    Where the ends of the range were found in the same rows, the means of all ranges at once are needed: a limited mean is the end less
//!    the area under the share of rows up to each place, so that 2. bounds it by the width of the range times the same root.
//! 2. Quantiles: the share of draws up to any place differs from that of the law by at most `sqrt(ln(2/beta)/(2n))`, everywhere at
//!    once (Massart 1990). In ranks that is `sqrt(n·ln(2/beta)/2)`, for all quantiles together.

use super::bar::Bar;
use equipoise_core::ratio::Ratio;

/// What floats may be wrong by here, with room to spare.
const SLACK: f64 = 1e-9;

/// How often the rows may differ from their population by more than is said, and the number of rows from what it seems.
#[derive(Clone, Debug)]
pub(super) struct Population {
    /// The probability for the rows.
    beta: f64,
    /// There are at most so many rows more than it seems.
    pub margin: u64,
}

impl Population {
    pub fn new(beta: &Ratio, margin: u64) -> Self {
        Self { beta: beta.to_f64() * (1.0 - SLACK), margin }
    }

    fn units(&self) -> f64 {
        (2.0 / self.beta).ln() * (1.0 + SLACK)
    }

    /// How many ranks more the quantiles of so many rows may be off.
    pub fn ranks(&self, rows: u64) -> u64 {
        let rows = rows.saturating_add(self.margin) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the root of a count")]
        let ranks = ((rows * self.units() / 2.0).sqrt() * (1.0 + SLACK)).ceil() as u64;
        ranks
    }

    /// The mean of the population, where that of at least so many rows between these ends, which were found in the rows, lies within the bar.
    pub fn mean_of_found(&self, bar: Bar, rows: f64, [low, high]: [f64; 2]) -> Bar {
        let width = high - low;
        if !(width > 0.0 && width.is_finite() && rows >= 1.0) {
            return Bar { low, high, ..bar };
        }
        let off = width * (self.units() / (2.0 * rows.floor())).sqrt() * (1.0 + SLACK);
        Bar { low: (bar.low - off).max(low), value: bar.value, high: (bar.high + off).min(high) }
    }

    /// The same where the ends were declared.
    pub fn mean(&self, bar: Bar, rows: f64, [low, high]: [f64; 2]) -> Bar {
        let width = high - low;
        if !(width > 0.0 && width.is_finite() && rows >= 1.0) {
            return Bar { low, high, ..bar };
        }
        let most = self.units() / rows.floor();
        let share = |value: f64| ((value - low) / width).clamp(0.0, 1.0);
        let below = 1.0 - farthest_above((1.0 - share(bar.low) + SLACK).min(1.0), most);
        let above = farthest_above((share(bar.high) + SLACK).min(1.0), most);
        let slack = SLACK * (low.abs() + high.abs());
        let (lowest, highest) = (low + below * width - slack, low + above * width + slack);
        Bar { low: lowest.max(low), value: bar.value, high: highest.min(high) }
    }
}

/// The largest p from q on for which the divergence of q from p is at most this.
fn farthest_above(q: f64, most: f64) -> f64 {
    let (mut near, mut far) = (q, 1.0);
    for _ in 0..60 {
        let middle = near + (far - near) / 2.0;
        if divergence(q, middle) <= most { near = middle } else { far = middle }
    }
    far
}

/// The divergence of a yes with probability q from one with probability p.
fn divergence(q: f64, p: f64) -> f64 {
    let part = |q: f64, p: f64| if q <= 0.0 { 0.0 } else { q * (q / p).ln() };
    part(q, p) + part(1.0 - q, 1.0 - p)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn population() -> Population {
        Population::new(&Ratio::new(1, 20), 0)
    }

    #[test]
    fn a_mean_without_noise_has_the_ends_of_hoeffdings_theorem() {
        let at = |share: f64, rows: f64| population().mean(Bar::exact(share), rows, [0.0, 1.0]);
        // ln 40 = 3.6889: of 100 rows without a yes, at most 1 - e^-0.036889.
        assert!((at(0.0, 100.0).high - 0.036_217).abs() < 1e-5);
        assert!(at(0.0, 100.0).low.abs() < 1e-6 && (at(1.0, 100.0).low - 0.963_783).abs() < 1e-5);
        // In the middle nearly the root of 3.6889/(2·10000).
        let half = at(0.5, 10_000.0);
        assert!((half.high - 0.5 - 0.013_580).abs() < 1e-4 && (0.5 - half.low - 0.013_580).abs() < 1e-4);
        let none = population().mean(Bar::exact(5.0), 0.0, [0.0, 20.0]);
        assert!(none.low.abs() < 1e-9 && (none.high - 20.0).abs() < 1e-9, "no rows say nothing");
    }

    #[test]
    fn ranks_grow_with_the_root_of_the_rows() {
        // The root of 10000·3.6889/2 is 135.8.
        assert_eq!(population().ranks(10_000), 136);
        assert_eq!(Population::new(&Ratio::new(1, 20), 200).ranks(9_800), 136);
    }

    /// Yes and no from a law of one in ten: how often the law lies within the bar of its draws.
    #[test]
    fn the_law_lies_within_the_bar_as_often_as_is_said() {
        let mut state = 5_u64;
        let mut below = |part: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 10 < part
        };
        let mut held = 0;
        for _ in 0..2000 {
            let yes = (0..200).filter(|_| below(1)).count();
            let bar = population().mean(Bar::exact(yes as f64 / 200.0), 200.0, [0.0, 1.0]);
            held += usize::from(bar.low <= 0.1 && 0.1 <= bar.high);
        }
        assert!((1900..2000).contains(&held), "{held}");
    }
}
