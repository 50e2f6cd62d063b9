//! Atoms on a common grid, and their exponential tilt.

use super::{
    atoms::Atoms,
    float::{ABOVE, exp, exp_above, ln_above, one_minus_exp_neg, total},
};

/// The law of a loss on the multiples of a step.
#[derive(Clone, Debug)]
pub(super) struct OnGrid {
    /// The multiple at which the masses begin.
    pub first: i64,
    pub masses: Vec<f64>,
    pub infinite: f64,
    pub step: f64,
}

/// The largest multiple that is not above the loss.
#[expect(clippy::cast_possible_truncation, reason = "losses are below 10^5 and steps above 2^-40")]
fn floor(loss: f64, step: f64) -> i64 {
    let mut index = (loss / step).floor();
    while index * step > loss {
        index -= 1.0;
    }
    while (index + 1.0) * step <= loss {
        index += 1.0;
    }
    index as i64
}

fn offset(index: i64, first: i64) -> usize {
    usize::try_from(index - first).expect("not before the first")
}

impl OnGrid {
    /// Each atom is split between the two multiples around it, as step 1 of `atoms.rs` says.
    pub(super) fn new(atoms: &Atoms, step: f64) -> Self {
        let losses = || atoms.list.iter().map(|atom| atom.loss);
        let first = floor(losses().fold(f64::INFINITY, f64::min), step);
        let last = floor(losses().fold(f64::NEG_INFINITY, f64::max), step) + 1;
        let mut masses = vec![0.0; offset(last, first) + 1];
        let whole = one_minus_exp_neg(step);
        let unsure = ABOVE - 1.0;
        for atom in &atoms.list {
            let index = floor(atom.loss, step);
            let rest = atom.loss - index as f64 * step;
            let at = offset(index, first);
            if rest > 0.0 {
                let up = one_minus_exp_neg(rest) / whole;
                masses[at] += atom.mass * (1.0 - up + unsure).min(1.0);
                masses[at + 1] += atom.mass * (up + unsure).min(1.0);
            } else {
                masses[at] += atom.mass;
            }
        }
        Self { first, masses, infinite: atoms.infinite, step }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, f64)> {
        (self.first..).zip(self.masses.iter().copied())
    }

    /// The largest loss in size.
    pub(super) fn largest(&self) -> f64 {
        let last = self.first as f64 + self.masses.len() as f64 - 1.0;
        last.abs().max((self.first as f64).abs()) * self.step
    }

    /// A shorter list with about the same moments, for searches: neighbours are merged while that takes
    /// little from the variance.
    pub(super) fn outline(&self) -> Vec<(f64, f64)> {
        let moment = |power: i32| -> f64 {
            self.iter().map(|(index, mass)| mass * (index as f64 * self.step).powi(power)).sum()
        };
        // Rare losses matter most under a tilt, so that their groups are narrow as well.
        let narrow = (self.largest() / 64.0).min(0.1);
        let little = (moment(2) - moment(1).powi(2)).max(0.0) / 500.0;
        let mut short: Vec<(f64, f64)> = Vec::new();
        let (mut sum, mut mean, mut square) = (0.0, 0.0, 0.0);
        for (index, mass) in self.iter().filter(|&(_, mass)| mass > 0.0) {
            let loss = index as f64 * self.step;
            let (next, next_mean) = (sum + mass, mean + mass * loss);
            let next_square = square + mass * loss * loss;
            let lost = next_square - next_mean * next_mean / next;
            if sum > 0.0 && (lost > little || loss - mean / sum > narrow) {
                short.push((mean / sum, sum));
                (sum, mean, square) = (mass, mass * loss, mass * loss * loss);
            } else {
                (sum, mean, square) = (next, next_mean, next_square);
            }
        }
        short.push((mean / sum, sum));
        short
    }

    /// At least the logarithm of the sum of mass·e^(tilt·loss), or infinite.
    pub(super) fn log_moment_above(&self, tilt: f64) -> f64 {
        // Scaled so that the largest factor is about one.
        let top = tilt * (self.first as f64 + self.masses.len() as f64) * self.step;
        let term = |(index, mass): (i64, f64)| mass * exp_above(tilt * index as f64 * self.step - top);
        let sum = total(self.iter().map(term));
        // Arguments are rounded by a few parts in 2^52 of at most 2·top.
        ln_above(sum * ABOVE) + top + (1.0 + top.abs()) / (1u64 << 40) as f64
    }

    /// `mass·e^(tilt·loss - shift)` and a little more, for each multiple; infinite where the exponential does not reach.
    pub(super) fn tilted(&self, tilt: f64, shift: f64) -> impl Iterator<Item = (i64, f64)> {
        self.iter()
            .map(move |(index, mass)| (index, mass * exp_above(tilt * index as f64 * self.step - shift)))
    }
}

/// The logarithm of the sum of mass·e^(tilt·loss) with its first two derivatives, as a hint.
pub(super) fn cumulant(outline: &[(f64, f64)], tilt: f64) -> (f64, f64, f64) {
    let top = outline.iter().map(|(loss, _)| tilt * loss).fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut mean, mut square) = (0.0, 0.0, 0.0);
    for (loss, mass) in outline {
        let weight = mass * exp(tilt * loss - top);
        sum += weight;
        mean += weight * loss;
        square += weight * loss * loss;
    }
    let mean = mean / sum;
    (sum.ln() + top, mean, (square / sum - mean * mean).max(0.0))
}
