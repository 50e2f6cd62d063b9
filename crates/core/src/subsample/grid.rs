//! Releases numbers that most votes nearly agree on, or refuses: votes are cells of a public grid with a public random shift.
//!
//! Source: 001_3b43439ac39fb76e.txt, section 2 ("a more realistic notion might allow for a small change in the answer").
//!
//! # Guarantee
//!
//! (epsilon, delta), under the adjacency of the [`VotesPerUnit`], for any votes of which one person replaces at most
//! [`VotesPerUnit::per_unit`]; the width of a cell and the shift are public.
//!
//! # Why
//!
//! 1. The shift is drawn without looking at votes. For every shift the cells are a [`majority`] of labels.
//! 2. Two numbers h apart are in the same cell of width w with probability 1 - h/w over the shift, so that with a few widths
//!    of room, votes that are close agree; without the shift a cell's edge could lie at the very answer, for every data set.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, outcome::Outcome, subsample::{VotesPerUnit, grid::GridVotes}};
//!
//! let touch = VotesPerUnit::new(60, 1, Adjacency::AddRemove)?;
//! let votes: Vec<Vec<f64>> = (0..60).map(|i| vec![3.14 + f64::from(i) * 1e-4]).collect();
//! let grid = GridVotes { eps: "1".parse()?, delta: "1e-6".parse()?, widths: vec![0.1], touch }.calibrate()?;
//! # let mut coins = ScriptedWords::new(vec![1 << 61, 5]);
//! let Outcome::Value(middle) = grid.run(&votes, &mut coins) else { panic!("all in one cell") };
//! assert!((middle[0] - 3.14).abs() < 0.1);
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{
    VotesPerUnit,
    majority::{self, Majority},
};
use crate::{
    coins::Coins,
    loss::{Delta, Eps, Loss, ParameterError},
    outcome::{Outcome, Slack},
    ratio::Ratio,
};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq)]
pub struct GridVotes {
    /// How much the slack may show.
    pub eps: Eps,
    /// Above zero.
    pub delta: Delta,
    /// The width of a cell in each coordinate: above zero.
    pub widths: Vec<f64>,
    /// How many votes there are, and how many one person can change.
    pub touch: VotesPerUnit,
}

/// An election of cells ready to be held.
#[derive(Clone, Debug)]
pub struct Calibrated {
    widths: Vec<f64>,
    majority: majority::Calibrated,
}

impl GridVotes {
    /// Compute the gate. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let good = |width: &&f64| !(width.is_finite() && **width > 0.0);
        if let Some(width) = self.widths.iter().find(good) {
            return Err(ParameterError::out_of_range("width", width, "give a number above 0, such as 0.1"));
        }
        let (eps, delta) = (self.eps.clone(), self.delta.clone());
        let majority = Majority { eps, delta, touch: self.touch }.calibrate()?;
        Ok(Calibrated { widths: self.widths.clone(), majority })
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        self.majority.cost()
    }

    /// The middle of the cell that most votes are in, or a refusal. Panics unless there are as many votes as was said, each
    /// as long as there are widths.
    pub fn run<C: Coins>(&self, votes: &[Vec<f64>], coins: &mut C) -> Outcome<Vec<f64>> {
        let shifts = self.shifts(coins);
        self.run_shifted(votes, &shifts, coins)
    }

    /// Shifts of the cells, drawn without looking at votes: public.
    pub fn shifts<C: Coins>(&self, coins: &mut C) -> Vec<f64> {
        self.widths.iter().map(|_| share(coins.bits(52))).collect()
    }

    /// How many people it takes to make another cell the one with most votes, for given shifts: private.
    pub fn slack(&self, votes: &[Vec<f64>], shifts: &[f64]) -> Slack {
        let cells: Vec<Vec<i64>> = votes.iter().map(|vote| self.cell(vote, shifts)).collect();
        self.majority.mode_and_slack(&cells).1
    }

    /// The same for given shifts: as private for any that are chosen without looking at votes.
    pub fn run_shifted<C: Coins>(
        &self,
        votes: &[Vec<f64>],
        shifts: &[f64],
        coins: &mut C,
    ) -> Outcome<Vec<f64>> {
        let cells: Vec<Vec<i64>> = votes.iter().map(|vote| self.cell(vote, shifts)).collect();
        self.majority.run(&cells, coins).map(|cell| self.middle(&cell, shifts))
    }

    /// One vote gives one cell, however floats round.
    fn cell(&self, vote: &[f64], shifts: &[f64]) -> Vec<i64> {
        assert!(vote.len() == self.widths.len(), "votes of one length");
        let places = vote.iter().zip(&self.widths).zip(shifts);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "beyond 64 bits the cells at the ends stand for the rest"
        )]
        places.map(|((value, width), shift)| (value / width + shift).floor() as i64).collect()
    }

    fn middle(&self, cell: &[i64], shifts: &[f64]) -> Vec<f64> {
        let places = cell.iter().zip(&self.widths).zip(shifts);
        places.map(|((&cell, width), shift)| (cell as f64 + 0.5 - shift) * width).collect()
    }

    /// The chance of a refusal where so many people must change to change the cell; an answer is off by at most half a
    /// width from the votes in its cell.
    pub fn accuracy(&self, slack: Slack) -> Ratio {
        self.majority.accuracy(slack)
    }
}

/// 52 bits as a number from zero to below one.
fn share(bits: u64) -> f64 {
    bits as f64 / (1u64 << 52) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adjacency::Adjacency,
        coins::ScriptedWords,
        interval::{AUDIT_BITS, Interval},
        tape::{delta_between, enumerate},
        universe::votes_within,
    };

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    #[test]
    fn shifts_reach_all_of_a_cell() {
        assert!(share(0) <= 0.0 && share((1 << 52) - 1) < 1.0 && share((1 << 52) - 1) > 0.999);
        assert!((share(1 << 51) - 0.5).abs() < 1e-15);
    }

    fn grid(delta: &str, widths: Vec<f64>, votes: u64, per_unit: u64) -> Calibrated {
        let touch = VotesPerUnit::new(votes, per_unit, Adjacency::Replace).unwrap();
        let (eps, delta) = ("1".parse().unwrap(), delta.parse().unwrap());
        GridVotes { eps, delta, widths, touch }.calibrate().unwrap()
    }

    /// For each shift, the cells over all votes that one person can change.
    fn worst(grid: &Calibrated, replaced: usize) -> Interval {
        let mut worst = Interval::zero(AUDIT_BITS);
        for shift in [0.0, 0.25, 0.7] {
            let law = |votes: &[i64]| {
                let cells: Vec<Vec<i64>> =
                    votes.iter().map(|&vote| grid.cell(&[vote as f64 * 0.4], &[shift])).collect();
                enumerate(&ratio("1e-20"), |tape| grid.majority.run(&cells, tape))
            };
            for (a, b) in votes_within(&[0, 1, 4], 5, replaced) {
                worst = worst.max(&delta_between(&Ratio::one(), &law(&a), &law(&b)));
            }
        }
        worst
    }

    #[test]
    fn exact_audit_for_several_shifts() {
        assert!(worst(&grid("0.01", vec![1.0], 5, 1), 1).certainly_at_most(&ratio("0.010000001")));
    }

    #[test]
    fn a_mutant_whose_person_has_two_votes_is_caught() {
        assert!(worst(&grid("0.01", vec![1.0], 5, 1), 2).certainly_above(&ratio("0.02")));
    }

    #[test]
    fn close_votes_agree_and_the_middle_is_near_them() {
        let grid = grid("1e-6", vec![1.0, 1e-3], 40, 1);
        let votes: Vec<Vec<f64>> = (0..40).map(|i| vec![7.2 + f64::from(i) * 1e-3, 0.0055]).collect();
        let mut coins = ScriptedWords::new(vec![1 << 63, 0, 9]);
        let Outcome::Value(found) = grid.run(&votes, &mut coins) else { panic!("one cell") };
        assert!((found[0] - 7.2).abs() <= 0.5 && (found[1] - 0.0055).abs() <= 0.0005, "{found:?}");
        let huge = grid.run(&vec![vec![1e300, -1e300]; 40], &mut ScriptedWords::new(vec![0, 0, 9]));
        assert!(matches!(huge, Outcome::Value(_)));
        let touch = VotesPerUnit::new(1, 1, Adjacency::Replace).unwrap();
        let (eps, delta): (Eps, Delta) = ("1".parse().unwrap(), "0.1".parse().unwrap());
        assert!(GridVotes { eps, delta, widths: vec![0.0], touch }.calibrate().is_err());
    }
}
