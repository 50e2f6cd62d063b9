//! A paid range for votes without bounds: two private quantiles, widened, and votes as whole steps of it.
//!
//! Shared by [`location`](super::location) and [`vectors`](super::vectors); what it costs is in their guarantees.

use super::VotesPerUnit;
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, ParameterError},
    mechanism::inverse_sensitivity::{self, InverseSensitivity},
    ratio::Ratio,
    stability::{
        Quantile, Range,
        lattice::{FLOATS, float, ordinal},
    },
};

/// The range is cut into this many steps, as a power of two.
const STEP_BITS: u32 = 30;
/// How many ranks beyond the range's ends are likely: with this probability at most.
const FAILURE: (i64, u64) = (1, 100);
/// The range aims to hold what lies within so many standard deviations of normal votes.
const HALF_RANGE: f64 = 3.0;

/// How many leading bits of a vote the quantiles look at, if nothing is said: a range that is right to one part in
/// 4096 of the votes themselves, from 2^24 values in place of 2^64.
pub const DEFAULT_BITS: u32 = 12;

/// Two quantiles of the votes, ready to run.
#[derive(Clone, Debug)]
pub(super) struct Finder {
    low: inverse_sensitivity::Calibrated,
    high: inverse_sensitivity::Calibrated,
    /// Votes are looked at without so many last bits.
    shift: u32,
    /// Each side is widened by this part of what lies between the quantiles.
    widen: f64,
    /// How many standard deviations of normal votes the range is wide, about.
    width_in_spreads: f64,
}

/// One end of a range: a quantile of votes over these places, for `each` and any t votes of a person. Public for audits of it.
pub fn range_quantile(
    each: &Eps,
    touch: VotesPerUnit,
    fraction: &Ratio,
    places: Range,
) -> Result<inverse_sensitivity::Calibrated, ParameterError> {
    // t replaced votes move a length by at most t, so each vote has its part of epsilon.
    let eps = Eps::new(each.ratio() / &Ratio::from(touch.per_unit()))?;
    let target = Quantile::new(fraction)?.into();
    InverseSensitivity { eps, target, range: places, adjacency: Adjacency::Replace }.calibrate()
}

impl Finder {
    /// Each quantile costs `each`, and so `each²/8` in rho.
    pub(super) fn new(each: &Eps, touch: VotesPerUnit, bits: u32) -> Result<Self, ParameterError> {
        if bits == 0 || bits > 52 {
            let accepted = "give between 1 and 52 leading bits of a vote";
            return Err(ParameterError::out_of_range("bits", bits, accepted));
        }
        let shift = 52 - bits;
        let range = Range::new(FLOATS.lo() >> shift, FLOATS.hi() >> shift)?;
        let at = |fraction: &Ratio| range_quantile(each, touch, fraction, range);
        let votes = touch.votes();
        let ranks = at(&Ratio::new(1, 2))?.accuracy(&Ratio::new(FAILURE.0, FAILURE.1))? + 1;
        // The quantile may be off by `ranks` to either side and must stay on its own side of the middle.
        if ranks.saturating_mul(4) >= votes.saturating_mul(2) {
            return Err(ParameterError::out_of_range(
                "blocks",
                votes,
                "too few to find a range privately; use more blocks or a larger epsilon",
            ));
        }
        let (low, high) =
            (Ratio::new(ranks.cast_signed(), votes), Ratio::new((votes - ranks).cast_signed(), votes));
        let z = normal_quantile(ranks as f64 / votes as f64).abs().max(0.05);
        let widen = ((HALF_RANGE / z - 1.0) / 2.0).max(0.0);
        // A length is off by 2/epsilon on average; twice that is a cautious guess.
        let usual = 4.0 * touch.per_unit() as f64 / each.ratio().to_f64();
        let farthest = normal_quantile((ranks as f64 - usual).max(1.0) / (votes as f64 + 1.0)).abs().max(z);
        let width_in_spreads = 2.0 * farthest * (1.0 + 2.0 * widen);
        Ok(Self { low: at(&low)?, high: at(&high)?, shift, widen, width_in_spreads })
    }

    /// How wide a range is, in standard deviations of votes, if those are normal: a hint.
    pub(super) fn width_in_spreads(&self) -> f64 {
        self.width_in_spreads
    }

    /// A range that holds most votes, if they have a common size at all.
    pub(super) fn run<C: Coins>(&self, votes: &[f64], coins: &mut C) -> Clip {
        // Votes are finite: what was not a number is a default already. Any map of single votes would do.
        let place = |vote: &f64| ordinal(*vote).unwrap_or(0) >> self.shift;
        let places: Vec<i64> = votes.iter().map(place).collect();
        let (a, b) = (self.low.run_integers(&places, coins), self.high.run_integers(&places, coins));
        let edge = |place: i64| float(FLOATS.clamp(place << self.shift)).expect("clamped to the floats");
        // The whole cells of both ends, so that the range is never empty.
        let (low, high) = (edge(a.min(b)), edge(a.max(b) + 1));
        // Ends of opposite signs may be farther apart than any float, and infinity times no widening is not a number.
        let more = (high - low).min(f64::MAX) * self.widen;
        Clip { low: finite(low - more), high: finite(high + more) }
    }
}

fn finite(value: f64) -> f64 {
    value.clamp(-f64::MAX, f64::MAX)
}

/// A public range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clip {
    /// Lower votes count as this.
    pub low: f64,
    /// Higher votes count as this.
    pub high: f64,
}

impl Clip {
    /// The most that one vote can move a sum of steps.
    pub(super) fn most_steps() -> u64 {
        1 << STEP_BITS
    }

    /// The place of a vote in the range, in whole steps from 0 to [`Clip::most_steps`]. How floats round does not
    /// matter to privacy: one vote gives one number of that range.
    pub(super) fn steps(&self, vote: f64) -> i64 {
        let most = (1i64 << STEP_BITS) as f64;
        let share = (vote.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        // Not a number, where the range is as wide as all floats, becomes zero.
        #[expect(clippy::cast_possible_truncation, reason = "clamped to 2^30")]
        let steps = (share * most).round().clamp(0.0, most) as i64;
        steps
    }

    /// The number at so many steps.
    pub(super) fn value(&self, steps: f64) -> f64 {
        let share = steps / (1i64 << STEP_BITS) as f64;
        self.low * (1.0 - share) + self.high * share
    }

    /// How wide it is.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }
}

/// The quantile of the normal distribution, to about 1e-4: hints only.
pub(super) fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if normal_cdf(middle) < p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The normal distribution function by Abramowitz and Stegun 26.2.17, to 1e-7: hints only.
fn normal_cdf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let series = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let tail = series.iter().rev().fold(0.0, |sum, c| (sum + c) * t) * (-x * x / 2.0).exp()
        / (2.0 * std::f64::consts::PI).sqrt();
    if x >= 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coins::ScriptedWords;

    #[test]
    fn every_vote_is_a_number_of_steps_in_range() {
        for clip in [
            Clip { low: -1.0, high: 3.0 },
            Clip { low: -f64::MAX, high: f64::MAX },
            Clip { low: 0.0, high: f64::MIN_POSITIVE },
        ] {
            for vote in [0.0, -1.0, 1e300, -1e300, f64::MAX, 5e-324, 2.0] {
                assert!((0..=1 << 30).contains(&clip.steps(vote)), "{clip:?} {vote}");
            }
        }
        let clip = Clip { low: -1.0, high: 3.0 };
        assert_eq!((clip.steps(-5.0), clip.steps(1.0), clip.steps(9.0)), (0, 1 << 29, 1 << 30));
        assert!((clip.value(clip.steps(0.25) as f64) - 0.25).abs() < 1e-8);
    }

    #[test]
    fn a_range_holds_most_votes_and_is_never_empty() {
        let touch = VotesPerUnit::new(1000, 1, Adjacency::AddRemove).unwrap();
        let finder = Finder::new(&"0.5".parse().unwrap(), touch, DEFAULT_BITS).unwrap();
        for (centre, spread) in [(0.0, 1.0), (1e6, 100.0), (-3e-9, 1e-12), (5.0, 0.0), (0.0, 0.0)] {
            let votes: Vec<f64> =
                (1..=1000).map(|i| centre + spread * normal_quantile(f64::from(i) / 1001.0)).collect();
            let clip = finder.run(&votes, &mut ScriptedWords::new(vec![1 << 62; 40]));
            let inside = votes.iter().filter(|&&vote| clip.low <= vote && vote <= clip.high).count();
            assert!(clip.width() > 0.0 && inside > 970, "{centre} {spread} {clip:?} {inside}");
        }
        let few = VotesPerUnit::new(100, 1, Adjacency::AddRemove).unwrap();
        let error = Finder::new(&"0.1".parse().unwrap(), few, DEFAULT_BITS).unwrap_err().to_string();
        assert!(error.starts_with("blocks 100 is not accepted: too few"), "{error}");
    }

    /// Many blocks need no widening; the width of all floats is infinite, and zero times that was the end of the range,
    /// at which clamping panicked.
    #[test]
    fn a_range_as_wide_as_all_floats_has_ends_without_widening() {
        let touch = VotesPerUnit::new(40_000, 1, Adjacency::AddRemove).unwrap();
        let finder = Finder::new(&"2".parse().unwrap(), touch, DEFAULT_BITS).unwrap();
        assert!(finder.widen == 0.0, "{}", finder.widen);
        let votes: Vec<f64> = (0..40_000).map(|i| if i % 2 == 0 { -1.5e308 } else { 1.5e308 }).collect();
        let clip = finder.run(&votes, &mut ScriptedWords::new(vec![1 << 62; 40]));
        assert!(clip.low.is_finite() && clip.high.is_finite() && clip.low < clip.high, "{clip:?}");
        assert!((0..=1 << 30).contains(&clip.steps(1.5e308)));
    }

    /// Votes of 1 with three bits after the leading one lie between 1 and 1 1/8; with all 52 between 1 and the next float.
    #[test]
    fn a_range_of_equal_votes_is_one_cell_of_as_many_bits() {
        let touch = VotesPerUnit::new(40_000, 1, Adjacency::AddRemove).unwrap();
        for (bits, high) in [(3, 1.125), (1, 1.5), (52, 1.0f64.next_up())] {
            let finder = Finder::new(&"2".parse().unwrap(), touch, bits).unwrap();
            assert!(finder.widen == 0.0);
            let clip = finder.run(&vec![1.0; 40_000], &mut ScriptedWords::new(vec![1 << 62; 40]));
            assert_eq!((clip.low, clip.high), (1.0, high), "{bits}");
        }
    }

    /// What is said beforehand of normal votes is what is found on them, up to a guess of how far the ends are off.
    #[test]
    fn the_width_that_is_foreseen_is_found_on_normal_votes() {
        for (votes, eps) in [(1000, "0.5"), (300, "0.5"), (40_000, "2"), (5000, "0.2")] {
            let touch = VotesPerUnit::new(votes, 1, Adjacency::AddRemove).unwrap();
            let finder = Finder::new(&eps.parse().unwrap(), touch, DEFAULT_BITS).unwrap();
            let normal = |i: u64| normal_quantile(i as f64 / (votes as f64 + 1.0));
            let rows: Vec<f64> = (1..=votes).map(normal).collect();
            let clip = finder.run(&rows, &mut ScriptedWords::new(vec![1 << 62; 40]));
            let share = clip.width() / finder.width_in_spreads();
            assert!((0.6..=1.05).contains(&share), "{votes} {eps}: {share}");
        }
    }

    #[test]
    fn quantiles_of_the_normal_distribution() {
        for (p, z) in [(0.5, 0.0), (0.975, 1.959_964), (0.01, -2.326_348)] {
            assert!((normal_quantile(p) - z).abs() < 1e-4);
        }
    }
}
