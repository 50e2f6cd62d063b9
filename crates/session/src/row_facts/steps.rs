//! What each row adds to exact sums, in whole steps: a function of the row and of public numbers, as a value.
//!
//! Why these sums move by no more than they are paid for is said where the noise is: in the tasks' `sums` and `parts`.

use serde::{Deserialize, Serialize};

/// Rows are moved into this range, each on its own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Clip {
    pub low: f64,
    pub high: f64,
    /// What rows are measured from.
    pub middle: f64,
}

/// What rows are measured from, and the farthest that they lie from there.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Frame {
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
pub(crate) fn steps_of(share: f64, most: i64) -> i64 {
    let most = most as f64;
    #[expect(clippy::cast_possible_truncation, reason = "clamped; not a number becomes zero")]
    let steps = (share * most).round().clamp(-most, most) as i64;
    steps
}

/// How many parts two values of a row have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Parts {
    /// Those of a covariance.
    Three,
    /// Those of a correlation.
    Five,
}

impl Parts {
    pub fn many(self) -> u32 {
        match self {
            Self::Three => 3,
            Self::Five => 5,
        }
    }

    /// What a row adds, whose values lie so many steps from the middles: to the first sums, and to each part.
    pub fn of(self, [u, v]: [i64; 2], steps: i64) -> ([i64; 2], [i64; 5]) {
        let (sum, difference) = (u + v, u - v);
        let [above, below] = [sum * sum, difference * difference];
        let apart = 2 * (u * u - v * v);
        // Of four times the square of all steps, to the nearest step.
        let to_steps = |running: i64| (running + 2 * steps).div_euclid(4 * steps);
        let running = match self {
            Self::Three => [above, above + below, above + below, above + below],
            Self::Five => {
                let both = above + below;
                [above, both, both + apart.max(0), both + apart.abs()]
            }
        };
        let [a, b, c, d] = running.map(to_steps);
        ([sum, difference], [a, b - a, c - b, d - c, steps - d])
    }
}

/// How many sums there are of so many columns.
pub(crate) fn sums_of(width: usize) -> usize {
    1 + 2 * width + width * (width - 1) / 2
}

/// What a row adds to the sums of so many columns, whose values lie so many steps from the middles.
pub(crate) fn add_row(places: &[i64], bits: u32, sums: &mut [i128]) {
    let steps = 1i64 << bits;
    // To the nearest step.
    let scaled = |product: i64| (product + steps / 2) >> bits;
    sums[0] += i128::from(steps);
    let width = places.len();
    let mut next = 1 + 2 * width;
    for (column, &place) in places.iter().enumerate() {
        sums[1 + column] += i128::from(place);
        sums[1 + width + column] += i128::from(scaled(place * place) - steps / 2);
        for &other in &places[column + 1..] {
            sums[next] += i128::from(scaled(place * other));
            next += 1;
        }
    }
}

/// What each row adds. A row without all values adds nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Steps {
    /// Of a number, its share of the farthest from a centre.
    Shares { clip: Clip, frame: Frame, most: i64 },
    /// The square of that share.
    Squares { clip: Clip, frame: Frame, most: i64 },
    /// Of a value of a whole type, moved between the ends: `parts` times it less the centre, or the square of that.
    Wholes { low: i64, high: i64, parts: i64, centre: i128, squared: bool },
    /// Of two numbers, two first sums and five parts.
    Pairs { clips: [Clip; 2], parts: Parts, steps: i64 },
    /// Of some numbers, one, each, their squares and their products.
    Moments { clips: Vec<Clip>, bits: u32 },
}

impl Steps {
    /// How many sums there are.
    pub fn many(&self) -> usize {
        match self {
            Self::Shares { .. } | Self::Squares { .. } | Self::Wholes { .. } => 1,
            Self::Pairs { .. } => 7,
            Self::Moments { clips, .. } => sums_of(clips.len()),
        }
    }

    /// Are they about values of a whole type as they are?
    pub fn are_of_wholes(&self) -> bool {
        matches!(self, Self::Wholes { .. })
    }

    /// Add what rows add whose numbers stand one after the other.
    pub fn add_numbers(&self, numbers: &[f64], sums: &mut [i128]) {
        match self {
            Self::Shares { clip, frame, most } => {
                sums[0] += sum_of_steps::<false>(numbers, clip, frame, *most);
            }
            Self::Squares { clip, frame, most } => {
                sums[0] += sum_of_steps::<true>(numbers, clip, frame, *most);
            }
            Self::Pairs { clips, parts, steps } => {
                let frames = clips.map(|clip| Frame::new(false, &clip));
                let place = |pair: &[f64; 2], side: usize| {
                    let Clip { low, high, .. } = clips[side];
                    frames[side].place(pair[side].clamp(low, high), *steps)
                };
                for pair in numbers.as_chunks::<2>().0 {
                    let (first, five) = parts.of([place(pair, 0), place(pair, 1)], *steps);
                    sums.iter_mut()
                        .zip(first.into_iter().chain(five))
                        .for_each(|(sum, one)| *sum += i128::from(one));
                }
            }
            Self::Moments { clips, bits } => {
                let frames: Vec<Frame> = clips.iter().map(|clip| Frame::new(false, clip)).collect();
                let mut places = vec![0i64; clips.len()];
                for row in numbers.chunks_exact(clips.len()) {
                    for (column, place) in places.iter_mut().enumerate() {
                        let Clip { low, high, .. } = clips[column];
                        *place = frames[column].place(row[column].clamp(low, high), 1 << bits);
                    }
                    add_row(&places, *bits, sums);
                }
            }
            Self::Wholes { .. } => unreachable!("steps of whole numbers"),
        }
    }

    /// Add what values of a whole type add.
    pub fn add_wholes(&self, wholes: &[i64], sums: &mut [i128]) {
        let Self::Wholes { low, high, parts, centre, squared } = self else {
            unreachable!("steps of numbers")
        };
        for row in wholes {
            let row = i128::from(*row.clamp(low, high));
            let distance = i128::from(*parts) * row - centre;
            sums[0] += if *squared { distance * distance } else { distance };
        }
    }
}

/// The steps of shares or of their squares, added up over all numbers, which are moved between the ends first; what is no number adds
/// nothing. Each number takes the same steps.
fn sum_of_steps<const SQUARED: bool>(numbers: &[f64], clip: &Clip, frame: &Frame, most: i64) -> i128 {
    if most > MOST_ADDED {
        let share = |row: &f64| frame.share(row.clamp(clip.low, clip.high));
        let squared = |share: f64| if SQUARED { share * share } else { share };
        return numbers.iter().map(|row| i128::from(steps_of(squared(share(row)), most))).sum();
    }
    // Whole floats are added exactly below 2^53.
    let together =
        usize::try_from(ADDED_BELOW / most.max(1)).map_or(LARGEST_PART, |rows| rows.min(LARGEST_PART));
    let parts = numbers.chunks(together);
    parts.map(|some| i128::from(whole_sum::<SQUARED>(some, *clip, *frame, most as f64))).sum()
}

/// The same of so few numbers that their sum is exact as a float, in lanes that do not wait for each other.
#[inline(never)]
fn whole_sum<const SQUARED: bool>(numbers: &[f64], clip: Clip, frame: Frame, most: f64) -> i64 {
    let Clip { low, high, .. } = clip;
    let Frame { centre, farthest } = frame;
    let steps = |row: f64| {
        let share = (limited(row, low, high) - centre) / farthest;
        let share = if SQUARED { share * share } else { share };
        let steps = rounded(limited(share * most, -most, most));
        if row.is_nan() { 0.0 } else { steps }
    };
    let mut lanes = [0.0; 8];
    let (eights, rest) = numbers.as_chunks::<8>();
    for eight in eights {
        for lane in 0..8 {
            lanes[lane] += steps(eight[lane]);
        }
    }
    let mut sum = 0.0;
    for &row in rest {
        sum += steps(row);
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    let whole = (lanes.iter().sum::<f64>() + sum) as i64;
    whole
}

const ADDED_BELOW: i64 = 1 << 53;
/// Of more steps than this hardly any row would be added before the sum is put aside.
const MOST_ADDED: i64 = 1 << 46;
const LARGEST_PART: usize = 1 << 12;

/// As [`f64::clamp`] does it, which looks at its ends for every number.
#[inline(always)]
fn limited(number: f64, low: f64, high: f64) -> f64 {
    let number = if number < low { low } else { number };
    if number > high { high } else { number }
}

/// To the nearest whole number, halves away from zero, as [`f64::round`] does it, for sizes below 2^51: without a call, so that rows
/// are worked on side by side.
#[inline(always)]
fn rounded(number: f64) -> f64 {
    const WHOLE: f64 = (1u64 << 52) as f64;
    let size = number.abs();
    let nearest = (size + WHOLE) - WHOLE;
    let up = if size - nearest >= 0.5 { 1.0 } else { 0.0 };
    (nearest + up).copysign(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn halves_are_rounded_away_from_zero() {
        let below_half = 0.5f64.next_down();
        for number in
            [0.0, below_half, 0.5, 0.5f64.next_up(), 1.5, 2.5, 1e6 + 0.5, 1e15 + 0.5, 2f64.powi(50) + 0.5]
        {
            for number in [number, number.next_up(), number.next_down()] {
                assert_eq!(rounded(number).to_bits(), number.round().to_bits(), "{number}");
                assert_eq!(rounded(-number).to_bits(), (-number).round().to_bits(), "-{number}");
            }
        }
    }

    proptest! {
        #[test]
        fn sums_are_those_of_single_rows(
            rows in prop::collection::vec(prop_oneof![any::<f64>(), -3.0..3.0, Just(f64::NAN)], 0..60),
            ends in (-2.0..1.0, 1.0..4.0),
            bits in 0u32..52,
        ) {
            let (low, high) = ends;
            let clip = Clip { low, high, middle: low / 2.0 + high / 2.0 };
            let most = 1i64 << bits;
            for from_zero in [false, true] {
                let frame = Frame::new(from_zero, &clip);
                let moved: Vec<f64> =
                    rows.iter().filter(|row| !row.is_nan()).map(|row| row.clamp(low, high)).collect();
                let mut sums = [0];
                Steps::Shares { clip, frame, most }.add_numbers(&rows, &mut sums);
                prop_assert_eq!(sums[0], moved.iter().map(|&row| i128::from(frame.place(row, most))).sum::<i128>());
                let mut squares = [0];
                Steps::Squares { clip, frame, most }.add_numbers(&rows, &mut squares);
                let square = |row: &f64| i128::from(steps_of(frame.share(*row).powi(2), most));
                prop_assert_eq!(squares[0], moved.iter().map(square).sum::<i128>());
            }
        }
    }
}
