//! What one row adds to the sums of a covariance or correlation, in whole steps, and the noise of these sums.
//!
//! # Guarantee
//!
//! Let u and v be the two values of a row, limited to their ranges and counted in whole steps from the middles: whole numbers between
//! -s and s.
//!
//! 1. u + v and u - v are two whole numbers with |u + v| + |u - v| = 2·max(|u|, |v|), so that a row that comes or goes moves their sums by at
//!    most 2s together, and a replaced one by at most 4s. On u and v as they are it would be the same 2s and 4s, with twice the noise
//!    in each sum: |u| + |v| is up to 2s for numbers that are half as large.
//! 2. (u + v)^2 + (u - v)^2 + 2·|u^2 - v^2| = 4·max(|u|, |v|)^2, which is at most 4s^2. With what is left to 4s^2 these are five parts that are
//!    not negative and add up to the same for every row: 2·(u^2 - v^2) is a part of its own where it is positive, and another where it
//!    is negative. They are rounded as they add up, one after the other, to s steps in all: no part becomes negative, and the
//!    sum stays s. So a row that comes or goes moves their sums by s together, and a replaced one by at most 2s.
//! 3. A covariance needs no squares of one column, so that three parts do: (u + v)^2 + (u - v)^2 = 2·(u^2 + v^2) is at most 4s^2 too.
//!
//! A row without both values adds nothing. The sums of all parts tell how many rows there are, which costs nothing more.

use super::tails::reach;
pub(super) use crate::row_facts::steps::Parts;
use crate::{
    error::PlanError,
    resolved::ResolvedRequest,
    row_facts::{
        saturated,
        steps::{Clip, Frame, Steps},
    },
    task::noise::laplace as noise_for,
};
use equipoise_core::{adjacency::Adjacency, coins::Coins, loss::Eps, mechanism::laplace, ratio::Ratio};
use std::sync::Arc;

/// The part of epsilon for the first sums; the second ones are what the answer is mostly made of.
pub(crate) const FIRST_SHARE: (i64, u64) = (4, 10);
/// How far the steps of the second sums are rounded in a row, beside what the steps of its values are: at most two and a half steps of
/// running sums.
pub(super) const ROUNDED: f64 = 2.5;

/// Exact sums over all rows, or the same with noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Totals {
    pub first: [i64; 2],
    pub parts: [i64; 5],
}

impl Totals {
    /// From exact sums in their order.
    pub fn of(sums: &[i128]) -> Self {
        let at = |place: usize| saturated(sums[place]);
        Self { first: [at(0), at(1)], parts: [2, 3, 4, 5, 6].map(at) }
    }
}

/// Where the values of both columns lie.
pub(super) struct Frames<'c> {
    pub clips: &'c [Clip; 2],
    pub frames: [Frame; 2],
}

impl<'c> Frames<'c> {
    pub fn new(clips: &'c [Clip; 2]) -> Self {
        Self { clips, frames: [0, 1].map(|side| Frame::new(false, &clips[side])) }
    }
}

/// Noise for the sums.
#[derive(Clone, Debug)]
pub(super) struct PairSums {
    pub parts: Parts,
    pub steps: i64,
    first: Arc<laplace::Calibrated>,
    second: Arc<laplace::Calibrated>,
    pub within: Within,
}

/// How far noise moves what is made of the sums, in steps; all of them hold at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Within {
    /// The number of rows, times the steps.
    pub rows: i64,
    /// Twice the sum of one column.
    pub twice_one: i64,
    /// The sum of products.
    pub product: i64,
    /// The sum of squares of one column.
    pub square: i64,
}

impl PairSums {
    /// For this epsilon in all; how far the sums are off may fail with what the request says, all together.
    pub fn plan(said: &ResolvedRequest, eps: &Eps, parts: Parts, steps: i64) -> Result<Self, PlanError> {
        let first_eps = Eps::new(eps.ratio() * &Ratio::new(FIRST_SHARE.0, FIRST_SHARE.1))?;
        let second_eps = Eps::new(eps.ratio() - first_eps.ratio())?;
        let twice = if said.adjacency() == Adjacency::Replace { 2 } else { 1 };
        let first = noise_for(&first_eps, 2 * steps * twice)?;
        let second = noise_for(&second_eps, steps * twice)?;
        // The number of rows, two means and a product; and two squares.
        let claims = match parts {
            Parts::Three => 4u64,
            Parts::Five => 6,
        };
        let failure = said.failure() / &Ratio::from(claims);
        let [wide, narrow] = [&first, &second].map(|noise| noise.scale().to_f64());
        let within = Within {
            rows: reach(parts.many(), narrow, &failure),
            twice_one: reach(2, wide, &failure),
            product: reach(2, narrow, &failure),
            // Two running sums, and what lies between them on either side.
            square: reach(4, narrow, &failure),
        };
        Ok(Self { parts, steps, first, second, within })
    }

    /// What the sums cost together.
    #[cfg(test)]
    pub fn cost(&self) -> equipoise_core::loss::Loss {
        self.first.cost().compose(&self.second.cost())
    }

    /// What each row adds over these ranges.
    pub fn of_rows(&self, clips: &[Clip; 2]) -> Steps {
        Steps::Pairs { clips: *clips, parts: self.parts, steps: self.steps }
    }

    /// The sums with noise; a part that is always nothing gets none.
    pub fn run<C: Coins>(&self, exact: &Totals, coins: &mut C) -> Totals {
        Totals { first: self.run_first(exact, coins), parts: self.run_parts(exact, coins) }
    }

    pub fn run_first<C: Coins>(&self, exact: &Totals, coins: &mut C) -> [i64; 2] {
        exact.first.map(|sum| self.first.run_whole(sum, coins))
    }

    pub fn run_parts<C: Coins>(&self, exact: &Totals, coins: &mut C) -> [i64; 5] {
        let mut parts = exact.parts;
        for (place, part) in parts.iter_mut().enumerate() {
            if self.parts == Parts::Five || place < 2 || place == 4 {
                *part = self.second.run_whole(*part, coins);
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of places on small lattices, and no values at all: what a row that comes, goes or is replaced moves.
    fn worst(
        parts: Parts,
        steps: i64,
        adjacency: Adjacency,
        of: &dyn Fn(Parts, [i64; 2], i64) -> Vec<i64>,
    ) -> i64 {
        let places = (-steps..=steps).flat_map(|u| (-steps..=steps).map(move |v| [u, v]));
        let mut rows: Vec<Vec<i64>> = places.map(|place| of(parts, place, steps)).collect();
        let none = vec![0; rows[0].len()];
        let moved = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<i64>();
        rows.push(none.clone());
        match adjacency {
            Adjacency::AddRemove => rows.iter().map(|row| moved(row, &none)).max(),
            Adjacency::Replace => rows.iter().flat_map(|a| rows.iter().map(move |b| moved(a, b))).max(),
        }
        .expect("some row")
    }

    fn first(parts: Parts, place: [i64; 2], steps: i64) -> Vec<i64> {
        parts.of(place, steps).0.to_vec()
    }

    fn second(parts: Parts, place: [i64; 2], steps: i64) -> Vec<i64> {
        parts.of(place, steps).1.to_vec()
    }

    /// The noise is for these, and no smaller number would do.
    #[test]
    fn a_row_moves_the_sums_by_what_the_noise_is_for() {
        for parts in [Parts::Three, Parts::Five] {
            for steps in 1..=9 {
                for (adjacency, twice) in [(Adjacency::AddRemove, 1), (Adjacency::Replace, 2)] {
                    assert_eq!(
                        worst(parts, steps, adjacency, &first),
                        2 * steps * twice,
                        "{parts:?} {steps}"
                    );
                    assert_eq!(worst(parts, steps, adjacency, &second), steps * twice, "{parts:?} {steps}");
                }
            }
        }
    }

    /// Rounding each part by itself would move the sums by more than they are paid for.
    #[test]
    fn parts_that_are_rounded_one_by_one_are_caught() {
        let alone = |_: Parts, [u, v]: [i64; 2], steps: i64| {
            let nearest = |part: i64| (part + 2 * steps).div_euclid(4 * steps);
            let (sum, difference, apart) = (u + v, u - v, 2 * (u * u - v * v));
            let parts = [sum * sum, difference * difference, apart.max(0), (-apart).max(0)];
            let left = 4 * steps * steps - parts.iter().sum::<i64>();
            parts.iter().chain([&left]).map(|&part| nearest(part)).collect::<Vec<_>>()
        };
        assert!((1..=9).any(|steps| worst(Parts::Five, steps, Adjacency::AddRemove, &alone) > steps));
    }

    /// No part is negative, all of them are one row, and products and squares come out within what is said of rounding.
    #[test]
    fn parts_are_one_row_and_tell_products_and_squares() {
        for steps in [1, 2, 7, 10] {
            for u in -steps..=steps {
                for v in -steps..=steps {
                    let share = |square: i64| square as f64 / steps as f64;
                    let (_, [a, b, c, d, e]) = Parts::Five.of([u, v], steps);
                    assert!([a, b, c, d, e].iter().all(|&part| part >= 0) && a + b + c + d + e == steps);
                    assert!(((a - b) as f64 - share(u * v)).abs() <= ROUNDED);
                    assert!(((a + b + c - d) as f64 - share(u * u)).abs() <= ROUNDED);
                    assert!(((a + b - c + d) as f64 - share(v * v)).abs() <= ROUNDED);
                    let (_, [f, g, none, nothing, left]) = Parts::Three.of([u, v], steps);
                    assert_eq!((f, g, none, nothing, left), (a, b, 0, 0, steps - a - b));
                }
            }
        }
    }

    /// Whole numbers of 64 bits hold what the largest number of steps comes to.
    #[test]
    fn the_corners_of_the_shipped_lattice_do_not_overflow() {
        let steps = 1i64 << 30;
        for corner in [[steps, steps], [steps, -steps], [-steps, -steps], [steps, 0], [0, 0]] {
            let ([sum, difference], parts) = Parts::Five.of(corner, steps);
            assert!(sum.abs() + difference.abs() <= 2 * steps);
            assert!(parts.iter().all(|&part| part >= 0) && parts.iter().sum::<i64>() == steps);
        }
        assert_eq!(Parts::Five.of([steps, steps], steps).1, [steps, 0, 0, 0, 0]);
        assert_eq!(Parts::Five.of([steps, 0], steps).1, [steps / 4, steps / 4, steps / 2, 0, 0]);
    }
}
