//! The privacy-loss distribution of a fixed list of events: the tightest total there is, certified.
//!
//! Source: Sommer, Meiser and Mohammadi, "Privacy loss classes" (2019), for the distribution; Zhu, Dong and Wang,
//! "Optimal accounting of differential privacy via characteristic function" (2022), for worst pairs and both directions.
//!
//! # Guarantee
//!
//! [`LossDistribution::eps_above`] and [`LossDistribution::delta_above`] are true bounds for any mechanisms whose
//! pairs the events dominate, run one after the other or all at once, each chosen with the earlier answers in hand.
//! The *parameters* must be fixed beforehand: choosing them along the way is what filters are for.
//!
//! # Why
//!
//! 1. The losses of independent releases add up, so their law is a convolution; delta at epsilon is the mean of
//!    `(1 - e^(epsilon - loss))_+`, which grows with every loss.
//! 2. `atoms.rs` gives a law that dominates each event's, rounded up; `grid.rs` puts it on one grid, up again.
//! 3. `compose.rs` convolves, and adds what floats, the window and cut-off tails may be wrong by.
//! 4. Removing and adding a record are two lists of laws, kept apart; the larger delta counts.
//!
//! Floats decide nothing here by themselves: each is on the side that loses more, by a margin that is proved in its file.
//!
//! ```
//! use equipoise_core::{account::{Event, LossDistribution}, ratio::Ratio};
//!
//! let noisy = Event::Gaussian { ratio: Ratio::new(1, 20) };
//! let total = LossDistribution::new([(noisy, 100)]).eps_above(&"1e-6".parse()?).unwrap();
//! // The exact answer is 2.25408…
//! assert!(total.eps.ratio().to_f64() > 2.25408 && total.eps.ratio().to_f64() < 2.2545);
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

mod atoms;
mod compose;
mod float;
mod grid;

use super::event::Event;
use crate::{
    loss::{Amount, Approx, Delta},
    ratio::Ratio,
};
use atoms::{Atoms, Detail, Direction, spread};
use compose::{Sum, Task};
use float::below;
use grid::{OnGrid, cumulant};

/// Events and how many of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossDistribution {
    events: Vec<(Event, u64)>,
}

/// The usual length of the window, in standard deviations of the sum.
const WINDOW: f64 = 8.0;
/// Places of the window for each root of the number of events: splitting losses between neighbours of the grid
/// then raises the variance of the sum by less than a part in two thousand.
const PLACES: f64 = 160.0;
const SHORTEST: usize = 1 << 12;
const LONGEST: usize = 1 << 21;
/// Places of the law of one event, on either side of zero; a coarser grid serves where this would be exceeded.
const MOST_PLACES: f64 = (1u64 << 20) as f64;

/// What is asked of a sum of losses.
#[derive(Clone, Copy)]
enum Target {
    Delta(f64),
    Eps(f64),
}

impl LossDistribution {
    /// These events, each as often as said. Equal events are gathered.
    pub fn new(events: impl IntoIterator<Item = (Event, u64)>) -> Self {
        let mut gathered: Vec<(Event, u64)> = Vec::new();
        for (event, times) in events {
            match gathered.iter_mut().find(|(known, _)| *known == event) {
                Some((_, count)) => *count = count.saturating_add(times),
                None if times > 0 => gathered.push((event, times)),
                None => {}
            }
        }
        Self { events: gathered }
    }

    /// An epsilon at this delta, rounded up; `None` where delta is zero or too small for the infinite losses, or an
    /// event has no pair.
    pub fn eps_above(&self, delta: &Delta) -> Option<Approx> {
        let wanted = below(delta.ratio());
        if wanted <= 0.0 {
            return None;
        }
        let mut worst = Ratio::zero();
        if self.is_flat() {
            let eps = Amount::zero();
            return (self.flat_delta() <= *delta.ratio()).then(|| Approx { eps, delta: delta.into() });
        }
        for direction in self.directions() {
            let parts = self.parts(*direction, wanted / 1e8)?;
            let target = Target::Delta(wanted);
            let (steep, gentle) = parts.tilts(target);
            let eps = parts.sum(gentle, steep, target).eps_above(wanted);
            // Deltas too small for the gentle tilt may be within reach of the other.
            let eps = eps.or_else(|| parts.sum(steep, steep, target).eps_above(wanted));
            worst = worst.max(Ratio::from_f64_exact(eps?)?);
        }
        // Where nearly all of the largest loss is reached, the plain sum has no grid.
        let sum = self
            .events
            .iter()
            .try_fold(Approx { eps: Amount::zero(), delta: Amount::zero() }, |sum, event| {
                Some(sum.compose(&event.0.approx()?.times(event.1)))
            });
        let sum = sum.filter(|sum| sum.delta.ratio() <= delta.ratio()).map(|sum| sum.eps);
        let eps = Amount::new(worst).ok()?;
        Some(Approx { eps: sum.map_or(eps.clone(), |sum| sum.min(eps)), delta: delta.into() })
    }

    /// The delta at this epsilon, rounded up; `None` where an event has no pair.
    pub fn delta_above(&self, eps: &Ratio) -> Option<Ratio> {
        if self.is_flat() {
            return Some(self.flat_delta());
        }
        let eps = below(eps).max(0.0);
        let mut worst = 0.0f64;
        for direction in self.directions() {
            let mut least = 1.0f64;
            for tail in [1e-22, 1e-280] {
                let parts = self.parts(*direction, tail)?;
                let target = Target::Eps(eps);
                let (steep, gentle) = parts.tilts(target);
                for tilt in [gentle, steep] {
                    let sum = parts.sum(tilt, steep, target);
                    least = least.min(if eps < sum.lowest() { 1.0 } else { sum.delta_above(eps) });
                }
                if least > tail * 1e8 {
                    break;
                }
            }
            worst = worst.max(least);
        }
        Ratio::from_f64_exact(worst)
    }

    /// No event has a loss between zero and infinity.
    fn is_flat(&self) -> bool {
        self.events.iter().all(|(event, _)| event.approx().is_some_and(|loss| loss.eps.is_zero()))
    }

    fn flat_delta(&self) -> Ratio {
        let delta = |(event, times): &(Event, u64)| {
            event.approx().map_or_else(Ratio::one, |loss| loss.delta.times_up(*times).ratio().clone())
        };
        self.events.iter().map(delta).sum::<Ratio>().min(Ratio::one())
    }

    /// Every pair but those of samples is its own mirror image.
    fn directions(&self) -> &'static [Direction] {
        let sampled = self.events.iter().any(|(event, _)| matches!(event, Event::Sampled { .. }));
        if sampled { &[Direction::Remove, Direction::Add] } else { &[Direction::Remove] }
    }

    /// The laws of all events on one grid; `None` where an event has no pair.
    fn parts(&self, direction: Direction, tail: f64) -> Option<Parts> {
        let count: f64 = self.events.iter().map(|(_, times)| *times as f64).sum();
        let variance: f64 =
            self.events.iter().map(|(event, times)| *times as f64 * spread(event).powi(2)).sum();
        let length = length_for(count);
        let span = WINDOW * variance.sqrt();
        let tail = (tail / count).max(1e-290);
        let laws = |step: f64| -> Option<Vec<(Atoms, u64)>> {
            let law = |(event, times): &(Event, u64)| {
                Some((atoms::atoms(event, direction, Detail { step, tail })?, *times))
            };
            self.events.iter().map(law).collect()
        };
        // A small sample has losses that are far larger than their standard deviation: a rough look finds them.
        let largest = laws(64.0)?.iter().map(|(law, _)| law.largest()).fold(0.0, f64::max);
        let step = short((span / length as f64).max(largest / MOST_PLACES));
        let on_grid = |(law, times)| (OnGrid::new(&law, step), times);
        Some(Parts::new(laws(step)?.into_iter().map(on_grid).collect(), step, length))
    }
}

/// Laws on a grid, and how many of each.
struct Parts {
    list: Vec<(OnGrid, u64)>,
    /// The same in short, for searches.
    outlines: Vec<(Vec<(f64, f64)>, f64)>,
    step: f64,
    length: usize,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a small range")]
fn length_for(count: f64) -> usize {
    let places = (PLACES * count.sqrt()).clamp(SHORTEST as f64, LONGEST as f64);
    (places as usize).next_power_of_two()
}

/// About this number, with 12 significant bits, so that its multiples are exact.
fn short(value: f64) -> f64 {
    let value = value.clamp(2f64.powi(-40), 64.0);
    f64::from_bits(value.to_bits() & !((1 << 41) - 1))
}

impl Parts {
    fn new(list: Vec<(OnGrid, u64)>, step: f64, length: usize) -> Self {
        let outlines = list.iter().map(|(part, times)| (part.outline(), *times as f64)).collect();
        Self { list, outlines, step, length }
    }

    /// The logarithm of the moment of the sum at this tilt, the mean and the variance of the tilted sum; a hint.
    fn total(&self, tilt: f64) -> (f64, f64, f64) {
        self.outlines.iter().fold((0.0, 0.0, 0.0), |sum, (outline, times)| {
            let (k, mean, variance) = cumulant(outline, tilt);
            (sum.0 + times * k, sum.1 + times * mean, sum.2 + times * variance)
        })
    }

    /// The sum at this tilt, on a window that leaves out nothing that matters.
    fn sum(&self, tilt: f64, steep: f64, target: Target) -> Sum {
        if let [(part, 1)] = &self.list[..] {
            return Sum::of_one(part);
        }
        let (_, mean, variance) = self.total(tilt);
        let moment = self.total(steep).0;
        let (delta, eps) = match target {
            Target::Delta(delta) => (delta, (moment - delta.ln()) / steep),
            Target::Eps(eps) => ((moment - steep * eps).exp().clamp(1e-300, 1.0), eps),
        };
        // What lies below the window comes back at its top, where the weights have fallen by e^-(tilt·width): the width
        // makes that a part in 10^7. Losses beyond the top are as rare.
        let scale = variance.sqrt();
        let fall = (tilt * scale).max(0.5);
        let top = (mean + (18.0 / fall).min(8.0) * scale).max(eps + 18.0 / steep);
        let bottom = (top - (fall / 2.0 + 19.0 / fall).clamp(7.0, 16.0) * scale).min(mean - 2.0 * scale);
        let asked = if let Target::Eps(eps) = target { eps } else { bottom };
        let bottom = bottom.min(asked) - 2.0 * self.step;
        let mut length = self.length;
        while length as f64 * self.step < top - bottom && length < LONGEST {
            length *= 2;
        }
        #[expect(clippy::cast_possible_truncation, reason = "losses over steps are far below 2^63")]
        let first = (bottom / self.step).floor() as i64;
        let shifts: Vec<f64> = self.outlines.iter().map(|(outline, _)| cumulant(outline, tilt).0).collect();
        let enough = delta / 1e9;
        Sum::new(&Task { parts: &self.list, tilt, steep, enough, shifts: &shifts, length, first })
    }

    /// A tilt near the saddle point of what is asked, and one that does not widen the sum much. Hints, both.
    fn tilts(&self, target: Target) -> (f64, f64) {
        let largest = self.list.iter().map(|(part, _)| part.largest()).fold(1e-12, f64::max);
        let variance = self.total(0.0).2.max(1e-24);
        let score = |tilt: f64| match target {
            Target::Delta(delta) => (self.total(tilt).0 - delta.ln()) / tilt,
            Target::Eps(eps) => self.total(tilt).0 - tilt * eps,
        };
        let at = |exponent: f64| (exponent.exp() / variance.sqrt()).min(300.0 / largest);
        let better = |&a: &f64, &b: &f64| score(at(a)).total_cmp(&score(at(b)));
        let coarse = (-8..=10).map(|half| f64::from(half) / 2.0);
        let mut best = coarse.min_by(better).unwrap_or(0.0);
        for width in [0.2, 0.1] {
            best = [best - width, best, best + width].into_iter().min_by(better).unwrap_or(best);
        }
        let steep = at(best);
        let mut gentle = steep;
        while self.total(gentle).2 > 2.0 * variance && gentle > 1e-3 * steep {
            gentle *= 0.7;
        }
        (steep, gentle)
    }
}

#[cfg(test)]
mod atoms_tests;
#[cfg(test)]
mod tests;
