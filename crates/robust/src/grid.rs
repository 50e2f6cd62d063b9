//! The values a robust answer can have, and the private median of what the copies say.
//!
//! Source: 003_82bbcee9e9852ea0.txt, Algorithm B, step 3; the exponential mechanism of 004_5f92a75732c1853f.txt.
//!
//! # Guarantee
//!
//! Replacing one of the numbers changes the probability of no answer by more than a factor `e^eps`, and the
//! median is `eps²/8`-zero-concentrated. An answer with at least the share s of the numbers' grid values strictly
//! on one side of it has a chance of at most `grid·e^(-eps·(s - 1/2)·copies/2)`.
//!
//! # Why
//!
//! 1. With below and above the numbers strictly on either side of a value, its score is
//!    `-max(below - k/2, above - k/2, 0)`. One replaced number changes below and above by at most one each, and so
//!    the score.
//! 2. The value is named with probability proportional to `e^(eps·score/2)`: the exponential mechanism.
//! 3. Values between two neighbouring numbers share a score, so pieces are drawn, and then a value of the piece.
//! 4. The grid value of the median has score zero.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{ratio::Ratio, tape::enumerate};
//! use equipoise_robust::grid::Grid;
//!
//! let grid = Grid::growing(&"0.5".parse()?, 100)?;
//! assert_eq!(grid.values()[..6], [0, 1, 2, 3, 4, 6]);
//! let median = grid.median("2".parse()?);
//! let law = enumerate(&"1e-9".parse()?, |coins| median.run(&[3, 4, 4, 5, 99], coins));
//! // The median is the likeliest answer.
//! assert!(law.iter().all(|(value, _)| law.mass(value).to_f64() <= law.mass(&4).to_f64()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::state::{Damaged, Reader, Stored, Writer};
use equipoise_core::{
    coins::Coins,
    loss::{Eps, ParameterError},
    ratio::Ratio,
    sampler::{
        uniform::Below,
        weighted::{Power, Weighted},
    },
};

/// The most values of a grid: more would make every answer slow and every median need more copies.
const MOST_VALUES: usize = 1 << 24;

/// Ascending whole numbers that an answer can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    values: Vec<i128>,
    recipe: Recipe,
}

/// How the values were made, which is shorter to store.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Recipe {
    Growing { alpha: Ratio, highest: i128 },
    Even { step: i128, highest: i128 },
    Signed { alpha: Ratio, highest: i128 },
}

impl Stored for Grid {
    fn write(&self, out: &mut Writer) {
        match &self.recipe {
            Recipe::Growing { alpha, highest } => {
                out.word(0);
                alpha.write(out);
                highest.write(out);
            }
            Recipe::Even { step, highest } => {
                out.word(1);
                step.write(out);
                highest.write(out);
            }
            Recipe::Signed { alpha, highest } => {
                out.word(2);
                alpha.write(out);
                highest.write(out);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let grid = match from.word()? {
            0 => Self::growing(&Ratio::read(from)?, i128::read(from)?),
            1 => Self::even(i128::read(from)?, i128::read(from)?),
            2 => Self::signed(&Ratio::read(from)?, i128::read(from)?),
            _ => return Err(Damaged::Content("its grid is of no known kind")),
        };
        grid.map_err(|_| Damaged::Content("its grid is out of range"))
    }
}

impl Grid {
    /// 0, 1 and so on up to `highest`, each at most `1 + alpha` times the one before, or one more.
    pub fn growing(alpha: &Ratio, highest: i128) -> Result<Self, ParameterError> {
        if !alpha.is_positive() || *alpha > Ratio::one() {
            return Err(ParameterError::out_of_range(
                "alpha",
                alpha,
                "give a number above 0 and at most 1, such as 0.1",
            ));
        }
        let range = "give a whole number from 1 to 2^120";
        if !(1..=1 << 120).contains(&highest) {
            return Err(ParameterError::out_of_range("highest answer", highest, range));
        }
        // 1 + alpha rounded down to a multiple of 2^-32, so that a product of whole numbers gives the next value.
        let units = (alpha * &Ratio::from(1u64 << 32)).floor_i64().expect("at most 2^32");
        let units = u64::try_from(units).expect("positive");
        let mut values = vec![0];
        let mut at: i128 = 1;
        while at < highest {
            values.push(at);
            let (high, low) = (at >> 32, at & 0xffff_ffff);
            let step = high * i128::from(units) + ((low * i128::from(units)) >> 32);
            at += step.max(1);
            if values.len() > MOST_VALUES {
                return Err(ParameterError::out_of_range(
                    "alpha",
                    alpha,
                    "so fine a grid is too long; give more",
                ));
            }
        }
        values.push(highest);
        Ok(Self { values, recipe: Recipe::Growing { alpha: alpha.clone(), highest } })
    }

    /// The values of [`Grid::growing`] with either sign: for answers with an error in proportion to at least themselves.
    pub fn signed(alpha: &Ratio, highest: i128) -> Result<Self, ParameterError> {
        let above = Self::growing(alpha, highest)?.values;
        let values = above[1..].iter().rev().map(|value| -value).chain(above.iter().copied()).collect();
        Ok(Self { values, recipe: Recipe::Signed { alpha: alpha.clone(), highest } })
    }

    /// From `-highest` to `highest` in equal steps, with zero among them: for answers with an additive error.
    pub fn even(step: i128, highest: i128) -> Result<Self, ParameterError> {
        let most = (MOST_VALUES / 2) as i128;
        if step < 1 || !(1..=1 << 120).contains(&highest) || highest / step >= most {
            return Err(ParameterError::out_of_range(
                "grid step",
                step,
                "give a whole number that divides the range into fewer than 2^24 steps",
            ));
        }
        let steps = highest / step + i128::from(highest % step != 0);
        let values = (-steps..=steps).map(|index| index * step).collect();
        Ok(Self { values, recipe: Recipe::Even { step, highest } })
    }

    /// By which share a value is rounded at most; `None` where that depends on the value.
    pub fn rounding(&self) -> Option<&Ratio> {
        match &self.recipe {
            Recipe::Growing { alpha, .. } | Recipe::Signed { alpha, .. } => Some(alpha),
            Recipe::Even { .. } => None,
        }
    }

    /// The values, ascending.
    pub fn values(&self) -> &[i128] {
        &self.values
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Never: a grid has a value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The index of the largest value at most this one; of the first, where all are larger.
    fn index(&self, value: i128) -> usize {
        self.values.partition_point(|&at| at <= value).saturating_sub(1)
    }

    /// The private median over this grid.
    pub fn median(&self, eps: Eps) -> Median<'_> {
        Median { grid: self, eps }
    }
}

/// A private median over a grid.
#[derive(Clone, Debug)]
pub struct Median<'a> {
    grid: &'a Grid,
    eps: Eps,
}

/// Grid values with the same numbers below and above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    first: usize,
    len: usize,
    /// Twice the distance of the score from zero.
    steps: u64,
}

impl Median<'_> {
    /// A value of the grid near the median of these numbers. Panics without numbers.
    pub fn run<C: Coins>(&self, numbers: &[i128], coins: &mut C) -> i128 {
        let pieces = self.pieces(numbers);
        let powers = pieces.iter().map(|piece| Power { multiplier: piece.len as u128, steps: piece.steps });
        // Steps are half units of the score, and the rate is eps/2.
        let law = Weighted::powers(&(self.eps.ratio() / &Ratio::from(4u64)), powers);
        let piece = pieces[coins.sample(&law)];
        let within = coins.sample(&Below(piece.len as u64));
        self.grid.values[piece.first + usize::try_from(within).expect("an index of the grid")]
    }

    fn pieces(&self, numbers: &[i128]) -> Vec<Piece> {
        assert!(!numbers.is_empty(), "a median is of something");
        let mut indices: Vec<usize> = numbers.iter().map(|&number| self.grid.index(number)).collect();
        indices.sort_unstable();
        let k = indices.len();
        let mut pieces = Vec::with_capacity(2 * k + 1);
        let mut add = |range: std::ops::Range<usize>, below: usize, above: usize| {
            if !range.is_empty() {
                let steps = (2 * below).saturating_sub(k).max((2 * above).saturating_sub(k));
                pieces.push(Piece { first: range.start, len: range.len(), steps: steps as u64 });
            }
        };
        let (mut next, mut below) = (0, 0);
        while below < k {
            let here = indices[below];
            let equal = indices[below..].partition_point(|&index| index == here);
            add(next..here, below, k - below);
            add(here..here + 1, below, k - below - equal);
            next = here + 1;
            below += equal;
        }
        add(next..self.grid.len(), k, 0);
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_core::{
        adjacency::Adjacency,
        coins::ScriptedWords,
        tape::{Pmf, delta_between, enumerate},
        universe::neighbouring_pairs,
    };

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn grid() -> Grid {
        Grid::growing(&ratio("0.1"), 5).unwrap()
    }

    fn law(numbers: &[i64], eps: &str) -> Pmf<i128> {
        let numbers: Vec<i128> = numbers.iter().map(|&number| number.into()).collect();
        let grid = grid();
        let median = grid.median(eps.parse().unwrap());
        enumerate(&ratio("1e-12"), |coins| median.run(&numbers, coins))
    }

    #[test]
    fn grids_never_leave_a_gap_wider_than_alpha() {
        for (alpha, highest) in [("0.1", 1_000_000), ("1", 1 << 100), ("0.01", 12_345), ("1/3", 1)] {
            let grid = Grid::growing(&ratio(alpha), highest).unwrap();
            assert_eq!((grid.values()[0], *grid.values().last().unwrap()), (0, highest));
            let factor = Ratio::one() + ratio(alpha);
            for pair in grid.values().windows(2).filter(|pair| pair[1] < 1 << 60) {
                let (low, high) = (i64::try_from(pair[0]).unwrap(), i64::try_from(pair[1]).unwrap());
                assert!(low < high && (high == low + 1 || Ratio::from(high) <= &factor * &Ratio::from(low)));
            }
        }
        assert_eq!(Grid::even(5, 11).unwrap().values(), [-15, -10, -5, 0, 5, 10, 15]);
        assert_eq!(Grid::signed(&ratio("0.5"), 5).unwrap().values(), [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5]);
        assert_eq!(Grid::growing(&ratio("0.1"), i128::from(u64::MAX)).unwrap().len(), 459);
    }

    #[test]
    fn grids_that_make_no_sense_are_refused() {
        for (alpha, highest, expected) in [
            ("0", 5, "alpha 0 is not accepted: give a number above 0 and at most 1, such as 0.1"),
            ("1.5", 5, "alpha 1.5 is not accepted: give a number above 0 and at most 1, such as 0.1"),
            ("0.5", 0, "highest answer 0 is not accepted: give a whole number from 1 to 2^120"),
        ] {
            assert_eq!(Grid::growing(&ratio(alpha), highest).unwrap_err().to_string(), expected);
        }
        assert!(Grid::even(0, 5).is_err() && Grid::even(1, 1 << 40).is_err());
        assert!(Grid::growing(&ratio("1e-9"), 1 << 100).is_err());
    }

    #[test]
    fn the_law_is_that_of_the_exponential_mechanism() {
        // Scores of 0, …, 5 for the numbers 1, 1, 4 (and one far beyond): twice them is 4, 0, 0, 0, 0, 2.
        let law = law(&[1, 1, 4, 9], "1");
        let weight = |steps: f64| (-steps / 4.0).exp();
        let total = 4.0 * weight(0.0) + weight(4.0) + weight(2.0);
        for (value, steps) in [(0, 4.0), (1, 0.0), (2, 0.0), (3, 0.0), (4, 0.0), (5, 2.0)] {
            assert!((law.mass(&value).to_f64() - weight(steps) / total).abs() < 1e-9, "{value}");
        }
    }

    /// The largest delta at this epsilon over all neighbours of three numbers.
    fn worst(run_at: &str, audited_at: &str) -> f64 {
        let pairs = neighbouring_pairs(&[0, 2, 3, 5], 3, Adjacency::Replace);
        let delta = |(a, b): &(Vec<i64>, Vec<i64>)| {
            delta_between(&ratio(audited_at), &law(a, run_at), &law(b, run_at)).to_f64()
        };
        pairs.iter().map(delta).fold(0.0, f64::max)
    }

    #[test]
    fn exact_audit_over_all_neighbours() {
        for eps in ["0.5", "1", "4"] {
            assert!(worst(eps, eps) < 1e-9, "{eps}");
        }
    }

    #[test]
    fn mutant_with_twice_the_rate_is_caught() {
        assert!(worst("2", "1") > 0.02, "{}", worst("2", "1"));
    }

    #[test]
    fn a_script_is_followed() {
        let grid = grid();
        // The piece at the median, whatever the first half of the words; then nothing to choose within it.
        let mut coins = ScriptedWords::new(vec![u64::MAX / 2, 0, 0, 0]);
        assert_eq!(grid.median("1000".parse().unwrap()).run(&[3, 3, 3], &mut coins), 3);
    }
}
