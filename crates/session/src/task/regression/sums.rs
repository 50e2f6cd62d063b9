//! The noisy sums that a regression is made of: how many rows, the sum of each column, and of all their squares and products.
//!
//! # Guarantee
//!
//! Let u and v be two of the m values of a row, limited to their ranges and counted in whole steps from the middles: whole numbers between -s
//! and s. A row adds
//!
//! 1. s to the number of rows,
//! 2. u to the sum of each column,
//! 3. u·u/s, rounded, less s/2 to the centred sum of its squares: a whole number between -s/2 and s/2,
//! 4. u·v/s, rounded, to the sum of the products of each two columns: a whole number between -s and s.
//!
//! So a row that comes or goes moves the sums by at most s·(1 + m + m/2 + m(m-1)/2) together, and along the straight line by at most s times the root of
//! 1 + m + m/4 + m(m-1)/2; a row in a corner of all ranges moves them by as much. A replaced row leaves the number of rows as it is, and moves
//! each other sum by at most twice as much. A row without all values adds nothing.
//!
//! Squares are centred because they are never negative: half of what they could move is known. What is taken off for each row is added again
//! for the noisy number of rows.

use super::ball;
use crate::{
    error::PlanError,
    resolved::ResolvedRequest,
    row_facts::steps::{Clip, Steps, sums_of},
    task::noise::{LAWS, calibrated, laplace, whole},
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Delta, Eps},
    mechanism::{
        Noise as Kind, Values,
        gaussian::{self, Gaussian, Target},
        l2::L2,
        laplace as laplace_noise,
    },
    ratio::Ratio,
};
use std::sync::Arc;

/// Noise for the sums.
#[derive(Clone, Debug)]
pub(super) struct MomentSums {
    /// How many columns.
    pub width: usize,
    /// Steps from the middle of a range to its end are two to this power.
    bits: u32,
    noise: Noise,
    /// Every sum is off by at most so many steps,
    pub within: i64,
    /// and all of them by at most this along the straight line: both hold at once.
    pub ball: f64,
    /// About how far a sum is off.
    pub deviation: f64,
}

#[derive(Clone, Debug)]
enum Noise {
    Laplace(Arc<laplace_noise::Calibrated>),
    Gaussian(Arc<gaussian::Calibrated>),
}

/// The most that a row moves the sums, in halves of all steps together, and in quarters of their square along the straight line.
pub(super) fn moves(width: usize, adjacency: Adjacency) -> (u64, u64) {
    let columns = width as u64;
    let pairs = columns * (columns - 1) / 2;
    match adjacency {
        Adjacency::AddRemove => {
            (2 + 2 * columns + columns + 2 * pairs, 4 + 4 * columns + columns + 4 * pairs)
        }
        Adjacency::Replace => {
            (4 * columns + 2 * columns + 4 * pairs, 16 * columns + 4 * columns + 16 * pairs)
        }
    }
}

impl MomentSums {
    /// For this epsilon in all, and for all of delta where the law is the bell curve.
    pub fn plan(said: &ResolvedRequest, eps: &Eps, width: usize, bits: u32) -> Result<Self, PlanError> {
        let (together, straight) = moves(width, said.adjacency());
        let steps = 1i64 << bits;
        let many = sums_of(width);
        // Half of the failures are those of single sums, half those of all together.
        let failure = said.failure() / &Ratio::from(2u64);
        if said.mechanism() == Some(LAWS[1]) {
            let noise = bell_curve(eps, said.delta(), many, straight, steps)?;
            let within = whole(&noise.accuracy(&failure))?;
            let deviation = noise.variance().to_f64().sqrt();
            let ball = ball::of_bell_curves(many, deviation, &failure);
            return Ok(Self { width, bits, noise: Noise::Gaussian(noise), within, ball, deviation });
        }
        let together = i64::try_from(together).expect("a few thousand");
        let noise = laplace(eps, (together * steps + 1) / 2)?;
        let within = whole(&noise.accuracy(&(&failure / &Ratio::from(many as u64))))?;
        let scale = noise.scale().to_f64();
        let ball = ball::of_laplace(many, scale, &failure);
        let deviation = scale * std::f64::consts::SQRT_2;
        Ok(Self { width, bits, noise: Noise::Laplace(noise), within, ball, deviation })
    }

    pub fn steps(&self) -> i64 {
        1 << self.bits
    }

    /// What the sums cost together.
    #[cfg(test)]
    pub fn cost(&self) -> equipoise_core::loss::Loss {
        match &self.noise {
            Noise::Laplace(noise) => noise.cost(),
            Noise::Gaussian(noise) => noise.cost(),
        }
    }

    /// What each row adds over these ranges.
    pub fn of_rows(&self, clips: &[Clip]) -> Steps {
        Steps::Moments { clips: clips.to_vec(), bits: self.bits }
    }

    /// The sums with noise.
    pub fn run<C: Coins>(&self, mut sums: Vec<i64>, coins: &mut C) -> Vec<i64> {
        match &self.noise {
            Noise::Laplace(noise) => {
                for sum in &mut sums {
                    *sum = noise.run_whole(*sum, coins);
                }
            }
            Noise::Gaussian(noise) => noise.run_counts(&mut sums, coins),
        }
        sums
    }
}

/// Real noise, rounded once, has the exact curve in every direction.
fn bell_curve(
    eps: &Eps,
    delta: &Delta,
    dimensions: usize,
    quarters: u64,
    steps: i64,
) -> Result<Arc<gaussian::Calibrated>, PlanError> {
    let squared = &Ratio::from(quarters) * &Ratio::from(steps).squared() / &Ratio::from(4u64);
    let gaussian = Gaussian {
        target: Target::Approx { eps: eps.clone(), delta: delta.clone() },
        sensitivity: L2::RootOf(squared),
        grid: Ratio::one(),
        dimensions,
        values: Values::OnGrid,
        noise: Kind::Real,
    };
    calibrated(gaussian)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_facts::steps::add_row;

    type Adds = dyn Fn(&[i64], u32, &mut [i128]);

    /// All rows of so many columns on a small lattice, and a row without values.
    fn rows(width: usize, bits: u32, add: &Adds) -> Vec<Vec<i128>> {
        let side = 2 * (1i64 << bits) + 1;
        let many = side.pow(u32::try_from(width).unwrap());
        let mut rows = vec![vec![0; sums_of(width)]];
        for code in 0..many {
            let place =
                |column: usize| (code / side.pow(u32::try_from(column).unwrap())) % side - (1 << bits);
            let mut sums = vec![0; sums_of(width)];
            add(&(0..width).map(place).collect::<Vec<_>>(), bits, &mut sums);
            rows.push(sums);
        }
        rows
    }

    /// The most that sums of one row differ, all together and by the square of the straight line.
    fn worst(rows: &[Vec<i128>], adjacency: Adjacency) -> (i128, i128) {
        let apart = |a: &[i128], b: &[i128]| {
            let moved = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            moved.fold((0, 0), |(sum, squares), moved| (sum + moved, squares + moved * moved))
        };
        let pairs: Vec<(i128, i128)> = match adjacency {
            Adjacency::AddRemove => rows.iter().map(|row| apart(row, &rows[0])).collect(),
            Adjacency::Replace => rows.iter().flat_map(|a| rows.iter().map(move |b| apart(a, b))).collect(),
        };
        pairs.into_iter().fold((0, 0), |(most, square), (a, b)| (most.max(a), square.max(b)))
    }

    /// What the noise is for, in steps.
    fn paid(width: usize, bits: u32, adjacency: Adjacency) -> (i128, i128) {
        let (halves, quarters) = moves(width, adjacency);
        let steps = i128::from(1i64 << bits);
        (i128::from(halves) * steps / 2, i128::from(quarters) * steps * steps / 4)
    }

    /// Where a row comes or goes, no smaller number would do; a replaced one moves the sums of one column by no less either.
    #[test]
    fn a_row_moves_the_sums_by_what_the_noise_is_for() {
        for (width, bits) in [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)] {
            let rows = rows(width, bits, &add_row);
            let (sum, square) = worst(&rows, Adjacency::AddRemove);
            assert_eq!((sum, square), paid(width, bits, Adjacency::AddRemove), "{width} {bits}");
            if rows.len() < 1000 {
                let (sum, square) = worst(&rows, Adjacency::Replace);
                let (most, straight) = paid(width, bits, Adjacency::Replace);
                assert!(
                    sum <= most && square <= straight,
                    "{width} {bits}: {sum} {most} {square} {straight}"
                );
                assert!(2 * sum > most, "{width} {bits}: {sum} {most}");
            }
        }
    }

    /// Squares that are not centred move the sums by more than they are paid for; so does a row that counts a step too much.
    #[test]
    fn other_ways_to_add_a_row_are_caught() {
        let plain: &Adds = &|places, bits, sums| {
            add_row(places, bits, sums);
            for sum in &mut sums[1 + places.len()..=2 * places.len()] {
                *sum += i128::from(1i64 << bits) / 2;
            }
        };
        let twice: &Adds = &|places, bits, sums| {
            add_row(places, bits, sums);
            sums[0] += 1;
        };
        for mutant in [plain, twice] {
            for width in [1, 2, 3] {
                let (sum, square) = worst(&rows(width, 1, mutant), Adjacency::AddRemove);
                let (most, straight) = paid(width, 1, Adjacency::AddRemove);
                assert!(sum > most && square > straight, "{width}: {sum} {most}");
            }
        }
    }

    /// Whole numbers of 64 bits hold what the largest number of steps comes to.
    #[test]
    fn the_corners_of_the_shipped_lattice_do_not_overflow() {
        let steps = 1i64 << super::super::BITS;
        for corner in [[steps, steps], [steps, -steps], [-steps, -steps], [steps, 0], [0, 0]] {
            let mut sums = vec![0; sums_of(2)];
            add_row(&corner, super::super::BITS, &mut sums);
            let (half, product) = (i128::from(steps / 2), i128::from(corner[0] / steps * corner[1]));
            let square = |place: i64| if place == 0 { -half } else { half };
            let places = corner.map(i128::from);
            let all =
                [i128::from(steps), places[0], places[1], square(corner[0]), square(corner[1]), product];
            assert_eq!(sums, all);
        }
    }
}
