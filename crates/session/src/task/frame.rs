//! Rows as whole steps from a centre, and the exact sums of them.

use super::clip::Clip;
use crate::rows::values::Values;

/// What rows are measured from, and the farthest that they lie from there.
pub(super) struct Frame {
    pub centre: f64,
    pub farthest: f64,
}

impl Frame {
    pub fn new(from_zero: bool, clip: &Clip) -> Self {
        let centre = if from_zero { 0.0 } else { clip.middle };
        let farthest = (clip.high - centre).abs().max((centre - clip.low).abs()).max(f64::MIN_POSITIVE);
        Self { centre, farthest }
    }

    pub fn share(&self, row: f64) -> f64 {
        (row - self.centre) / self.farthest
    }

    /// The steps of a row. Larger rows never have fewer.
    pub fn place(&self, row: f64, most: i64) -> i64 {
        steps_of(self.share(row), most)
    }

    /// How far a replaced row moves a sum of steps, where a row without a value counts nothing.
    pub fn span(&self, clip: &Clip, most: i64) -> i64 {
        // Ends so near that steps cannot tell them apart still get some noise.
        (self.place(clip.high, most).max(0) - self.place(clip.low, most).min(0)).max(1)
    }
}

/// The whole steps of a share between -1 and 1.
pub(super) fn steps_of(share: f64, most: i64) -> i64 {
    let most = most as f64;
    #[expect(clippy::cast_possible_truncation, reason = "clamped; not a number becomes zero")]
    let steps = (share * most).round().clamp(-most, most) as i64;
    steps
}

/// The exact sum of whole steps, one number for each row that has a value.
pub(super) fn sum(numbers: Values<'_, '_>, clip: &Clip, steps: impl Fn(f64) -> i64) -> i64 {
    let steps = |&row: &f64| i128::from(steps(row.clamp(clip.low, clip.high)));
    let mut sum = 0;
    numbers.each_number(|some| sum += some.iter().filter(|row| !row.is_nan()).map(steps).sum::<i128>());
    i64::try_from(sum).unwrap_or(if sum > 0 { i64::MAX } else { i64::MIN })
}
