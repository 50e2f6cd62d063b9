//! Sums of losses by the fast Fourier transform, with everything it may be wrong by added to delta.
//!
//! Source: Koskela, Jälkö and Honkela, "Computing tight differential privacy guarantees using FFT" (2020), for the
//! idea; the tilt is that of large-deviation theory, so that a delta of 1e-50 is as easy as one of 0.1. The error
//! bound of the transform: Higham, "Accuracy and stability of numerical algorithms", 2nd edition, Theorem 24.2.
//!
//! # Guarantee
//!
//! [`Sum::delta_above`] is at least the delta of the composition of the masses given, at its epsilon.
//!
//! # Why
//!
//! 1. Tilt: with `q(l) = p(l)·e^(T·l - shift)`, the sum of c losses has `p*(s) = q*(s)·e^(c·shift - T·s)`; T and shift are floats,
//!    taken as they are. So delta is a sum of q* with weights g that fall off from epsilon on.
//! 2. A transform of length N is cyclic: it adds to q*(s) what lies a multiple of N away. That only adds. What lies
//!    above the window is missing from it and is bounded by Chernoff: at most e^(-T'·top) times the moment at T', for any T'.
//!    What lies below epsilon does not count, and epsilon is never below the window.
//! 3. The transform of length N = 2^t in floats is off by at most `t·w/(1 - t·w)` times the result, in the Euclidean
//!    norm, with `w = m + 4u·(sqrt(2) + m)`, u = 2^-53, m the error of the roots of unity. Ours are computed by the crate
//!    rustfft as the sine and cosine of a twice rounded angle: m <= 2^-49 allows them 16u. Theorem 24.2 is about
//!    butterflies of two; the crate's steps of four, eight and sixteen are the same butterflies, with fewer
//!    multiplications by roots. We double the bound all the same. The scalar code of the crate is used on every machine.
//! 4. A product of C transforms, each of size at most one (and a little) and off by e_j, is off by the sum of
//!    `c_j·e_j`, times that little to the power C. Mirroring one half of the result costs a factor sqrt(2). Powers
//!    by squaring round 2·C times at most, each by less than 4u. Factors whose size is below 1e-60 count as zero.
//! 5. By Parseval and by Cauchy and Schwarz, the sum of q*·g is then off by at most the error over sqrt(N) times the norm of g.

use super::{
    float::{ABOVE, exp, exp_above, total},
    grid::OnGrid,
};
use rustfft::{Fft, FftPlanner, num_complex::Complex};
use std::{cell::RefCell, sync::Arc};

thread_local! {
    /// One for each thread: a lock would stay locked in a process that is forked meanwhile.
    static PLANNER: RefCell<FftPlanner<f64>> = RefCell::new(FftPlanner::new());
}

/// The distribution of a sum, tilted, on a window of multiples of the step.
pub(super) struct Sum {
    /// Values of q* on the window, from `first` on.
    values: Vec<f64>,
    /// `e^(c·shift - T·s)` and a little more.
    weights: Vec<f64>,
    first: i64,
    step: f64,
    /// The Euclidean norm of what the values may be off by.
    off: f64,
    /// What is added to every delta: infinite losses and losses beyond the window.
    beyond: f64,
}

/// What is to be summed and how.
pub(super) struct Task<'a> {
    /// Laws and how many of each.
    pub parts: &'a [(OnGrid, u64)],
    /// T.
    pub tilt: f64,
    /// A tilt of at least that size, for what lies beyond the window.
    pub steep: f64,
    /// A probability that does not matter.
    pub enough: f64,
    /// The shift of each part.
    pub shifts: &'a [f64],
    /// A power of two.
    pub length: usize,
    /// The first multiple of the window.
    pub first: i64,
}

fn transform(length: usize, inverse: bool) -> Arc<dyn Fft<f64>> {
    PLANNER.with_borrow_mut(|planner| {
        if inverse { planner.plan_fft_inverse(length) } else { planner.plan_fft_forward(length) }
    })
}

/// The relative error of one transform, in the Euclidean norm: twice `t·w/(1 - t·w)`.
pub(super) fn transform_error(length: usize) -> f64 {
    let unit = f64::EPSILON / 2.0;
    let roots = 16.0 * unit;
    let per_level = roots + 4.0 * unit * (1.4143 + roots) * 1.001;
    let levels = f64::from(length.trailing_zeros()) * per_level;
    2.0 * levels / (1.0 - levels)
}

fn norm(values: impl Iterator<Item = f64>) -> f64 {
    total(values.map(|value| value * value)).sqrt() * ABOVE
}

fn power(base: Complex<f64>, mut count: u64) -> Complex<f64> {
    let (mut result, mut square) = (Complex::new(1.0, 0.0), base);
    while count > 0 {
        if count & 1 == 1 {
            result *= square;
        }
        count >>= 1;
        if count > 0 {
            square *= square;
        }
    }
    result
}

/// The cyclic convolution of all tilted parts, and the norm of what it may be off by.
fn convolve(task: &Task) -> (Vec<f64>, f64) {
    let length = task.length;
    let (size, cycle) = (length as f64, i64::try_from(length).expect("a short window"));
    let relative = transform_error(length);
    let forward = transform(length, false);
    let mut scratch = vec![Complex::new(0.0, 0.0); forward.get_inplace_scratch_len()];
    let mut product = vec![Complex::new(1.0, 0.0); length / 2 + 1];
    let (mut off, mut skipped) = (0.0, 0.0);
    let (mut growth, mut count) = (0.0, 0.0);
    for ((part, times), shift) in task.parts.iter().zip(task.shifts) {
        let mut buffer = vec![Complex::new(0.0, 0.0); length];
        for (index, mass) in part.tilted(task.tilt, *shift) {
            buffer[usize::try_from(index.rem_euclid(cycle)).expect("inside")].re += mass;
        }
        // Masses that share a place were rounded when they were added.
        for value in &mut buffer {
            value.re *= ABOVE;
        }
        let mass = total(buffer.iter().map(|value| value.re)) * ABOVE;
        let error = relative * size.sqrt() * norm(buffer.iter().map(|value| value.re));
        forward.process_with_scratch(&mut buffer, &mut scratch);
        // Most transforms of long sums vanish; those whose power is below 1e-60 are not computed.
        let vanishing = exp(-276.4 / *times as f64);
        for (product, value) in product.iter_mut().zip(&buffer) {
            let vanishes = value.norm_sqr() < vanishing;
            *product *= if vanishes { Complex::new(0.0, 0.0) } else { power(*value, *times) };
        }
        let times = *times as f64;
        skipped += size * 1e-60;
        off += times * error;
        growth += times * (mass + error - 1.0).max(0.0);
        count += times + 1.0;
    }
    let mut buffer: Vec<Complex<f64>> = product.clone();
    buffer.extend((1..length / 2).rev().map(|i| product[i].conj()));
    let size_of_product = norm(buffer.iter().flat_map(|value| [value.re, value.im]));
    let rounding = 8.0 * count * f64::EPSILON;
    let off =
        (1.5 * off + skipped) * exp_above(growth) + (2.0 * rounding + relative) * size_of_product * ABOVE;
    transform(length, true).process_with_scratch(&mut buffer, &mut scratch);
    let values = buffer.iter().map(|value| (value.re / size).max(0.0)).collect();
    (values, off / size.sqrt() * ABOVE)
}

impl Sum {
    pub(super) fn new(task: &Task) -> Self {
        let (cyclic, off) = convolve(task);
        let cycle = i64::try_from(task.length).expect("a short window");
        let mut values = cyclic;
        values.rotate_left(usize::try_from(task.first.rem_euclid(cycle)).expect("inside"));
        let step = task.parts.first().map_or(1.0, |(part, _)| part.step);
        let shifts = || task.parts.iter().zip(task.shifts).map(|((_, times), shift)| *times as f64 * shift);
        // What the exponents may be off by: a few roundings of their terms.
        let slack = shifts().map(f64::abs).sum::<f64>() / (1u64 << 44) as f64;
        let start = shifts().sum::<f64>() + slack;
        let weight = |i: usize| {
            let at = (task.first as f64 + i as f64) * step;
            exp_above(start - task.tilt * at + (task.tilt * at).abs() / (1u64 << 48) as f64)
        };
        let weights = geometric(task.length, weight, exp(-task.tilt * step));
        let top = (task.first as f64 + task.length as f64) * step;
        let infinite: f64 = task.parts.iter().map(|(part, times)| *times as f64 * part.infinite).sum();
        let beyond = (infinite + Self::above_window(task, top)) * ABOVE;
        Self { values, weights, first: task.first, step, off, beyond }
    }

    /// The law itself: nothing is transformed, tilted or left out.
    pub(super) fn of_one(part: &OnGrid) -> Self {
        const FIRST: i64 = -1;
        let before = usize::try_from(part.first - FIRST).unwrap_or(0);
        let values: Vec<f64> = std::iter::repeat_n(0.0, before)
            .chain(part.iter().filter(|(index, _)| *index >= FIRST).map(|(_, mass)| mass))
            .collect();
        let weights = vec![1.0; values.len()];
        Self { values, weights, first: FIRST, step: part.step, off: 0.0, beyond: part.infinite * ABOVE }
    }

    /// Chernoff's bound on losses beyond the window.
    fn above_window(task: &Task, top: f64) -> f64 {
        let bound = |tilt: f64| {
            let moments = task.parts.iter().map(|(part, times)| *times as f64 * part.log_moment_above(tilt));
            let exponent = moments.sum::<f64>() - tilt * top;
            exp_above(exponent + (tilt * top).abs() / (1u64 << 44) as f64)
        };
        // No loss at all may reach beyond it.
        let reach = |(part, times): &(OnGrid, u64)| {
            *times as f64 * (part.first as f64 + part.masses.len() as f64 - 1.0) * part.step
        };
        if task.parts.iter().map(reach).sum::<f64>() * ABOVE < top {
            return 0.0;
        }
        let mut best = f64::INFINITY;
        for factor in [1.0, 1.25, 1.5, 2.0, 3.0, 5.0] {
            let next = bound(task.steep * factor);
            if next >= best || next < task.enough {
                return best.min(next);
            }
            best = next;
        }
        best
    }

    /// The lowest epsilon that the window can answer for.
    pub(super) fn lowest(&self) -> f64 {
        self.first as f64 * self.step
    }

    /// At least the delta at this epsilon, which must not be below the window.
    pub(super) fn delta_above(&self, eps: f64) -> f64 {
        let from = self.index_above(eps);
        // e^(epsilon - loss), from below.
        let decay = |i: usize| exp(eps - (self.first as f64 + (from + i) as f64) * self.step);
        let decays = geometric(self.values.len() - from, decay, exp(-self.step));
        let part = |(weight, decay): (&f64, &f64)| weight * (1.0 - decay / (ABOVE * ABOVE)).max(0.0);
        let weights: Vec<f64> = self.weights[from..].iter().zip(&decays).map(part).collect();
        let sum = total(self.values[from..].iter().zip(&weights).map(|(value, weight)| value * weight));
        let off = self.off * norm(weights.iter().copied());
        let delta = (sum * ABOVE + off * ABOVE + self.beyond) * ABOVE;
        if delta.is_nan() { 1.0 } else { delta.min(1.0) }
    }

    /// The first place of the window whose loss is above epsilon.
    fn index_above(&self, eps: f64) -> usize {
        let index = ((eps / self.step).floor() - self.first as f64).max(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the length")]
        let index = (index as usize).min(self.values.len());
        index
    }

    /// An epsilon whose delta is certified to be at most the one given, close to the least such; `None` if there is none.
    pub(super) fn eps_above(&self, delta: f64) -> Option<f64> {
        let mut wanted = delta - self.beyond;
        let mut eps = self.lowest();
        // The certified curve lies a little above the hint's, so aim lower.
        for _ in 0..3 {
            if wanted.is_nan() || wanted <= 0.0 {
                return None;
            }
            eps = self.eps_hint(wanted).max(self.lowest()).max(0.0);
            wanted -= self.off * norm(self.weights[self.index_above(eps)..].iter().copied());
            wanted *= 1.0 - 1e-9;
            if self.delta_above(eps) <= delta {
                return Some(eps);
            }
        }
        let mut more = 1e-9 * eps.max(self.step);
        while self.delta_above(eps) > delta {
            eps += more;
            more *= 2.0;
            if eps > self.lowest() + self.values.len() as f64 * self.step {
                return None;
            }
        }
        Some(eps)
    }

    /// Where the sum of values and weights crosses delta.
    fn eps_hint(&self, delta: f64) -> f64 {
        // From the top down: at place i, delta = a - e^eps·b over the places above.
        let (mut a, mut b) = (0.0, 0.0);
        let shrink = exp(-self.step);
        for (i, (value, weight)) in self.values.iter().zip(&self.weights).enumerate().rev() {
            // b is kept relative to e^-(this place).
            b *= shrink;
            if a - b > delta {
                let beyond = (self.first as f64 + i as f64) * self.step;
                return beyond + ((a - delta) / b).ln().clamp(0.0, self.step);
            }
            a += value * weight;
            b += value * weight;
        }
        self.lowest()
    }
}

/// `at(0), at(1), …` where neighbours differ by `ratio`, within 2^-44: computed afresh every 64 places.
fn geometric(length: usize, at: impl Fn(usize) -> f64, ratio: f64) -> Vec<f64> {
    let mut all = Vec::with_capacity(length);
    let mut value = 0.0;
    for i in 0..length {
        value = if i % 64 == 0 { at(i) } else { value * ratio };
        all.push(value);
    }
    // One inflation covers the 64 roundings and the error of the ratio's powers.
    for value in &mut all {
        *value *= ABOVE;
    }
    all
}
