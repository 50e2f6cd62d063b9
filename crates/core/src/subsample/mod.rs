//! Subsample and aggregate: any function, run on blocks of the data, whose votes a private aggregator joins.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.1; 001_3b43439ac39fb76e.txt, section 2; Nissim, Raskhodnikova and
//! Smith 2007.
//!
//! Four steps, each of its own, so that votes may come from anywhere:
//! 1. [`partition`] deals rows or people into blocks, and says how many votes one of them can [touch](VotesPerUnit).
//! 2. [`blocks`] runs a closure on every block. What fails becomes a public default. A program in a sandbox or a
//!    Python function may do this step instead.
//! 3. The votes, as many as was said beforehand, are a data set of their own in which one person replaces as
//!    many votes as the partition lets them touch. Nothing else about the data matters from here on.
//! 4. An aggregator releases something about the votes: labels by [`majority`] or [`arg_max`], numbers by [`location`] or
//!    [`robust_mean`], vectors by [`ball`], [`vectors`] or [`bounded`], sets by [`features`], near agreement by [`grid`] or [`consensus`].
//!
//! [`plan`] says how many blocks and which aggregator; [`choice`] pays for choosing by the data; [`bootstrap`] has the
//! algorithms of the texts by name; [`stability_estimate`] shows on public data whether a function will be answered.

pub mod arg_max;
pub mod ball;
pub mod blocks;
pub mod bootstrap;
pub mod bounded;
pub mod choice;
pub mod clip;
pub mod consensus;
pub mod features;
pub mod grid;
pub mod location;
pub mod majority;
pub mod partition;
pub mod plan;
pub mod robust_mean;
pub mod stability_estimate;
pub mod vectors;

mod binomial;

use crate::{adjacency::Adjacency, loss::ParameterError};

/// How many votes there are, and how many of them one person can change: what every aggregator is calibrated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VotesPerUnit {
    votes: u64,
    per_unit: u64,
    adjacency: Adjacency,
}

impl VotesPerUnit {
    /// Of `votes` votes one neighbouring step replaces at most `per_unit`. The adjacency is that of the records
    /// behind the votes; it names the guarantee and changes nothing else.
    pub fn new(votes: u64, per_unit: u64, adjacency: Adjacency) -> Result<Self, ParameterError> {
        if votes == 0 || votes > MOST_VOTES {
            let accepted = "give at least 1 block and at most 2^32";
            return Err(ParameterError::out_of_range("blocks", votes, accepted));
        }
        if per_unit == 0 {
            return Err(ParameterError::out_of_range("votes per unit", per_unit, "give at least 1"));
        }
        Ok(Self { votes, per_unit: per_unit.min(votes), adjacency })
    }

    /// How many votes there are: public.
    pub fn votes(self) -> u64 {
        self.votes
    }

    /// How many votes one person can change at most.
    pub fn per_unit(self) -> u64 {
        self.per_unit
    }

    /// What a person may do to the records behind the votes.
    pub fn adjacency(self) -> Adjacency {
        self.adjacency
    }

    /// The fewest people who together can change this many votes.
    pub(crate) fn people(self, votes: u64) -> u64 {
        votes.div_ceil(self.per_unit)
    }

    /// Panics unless there are as many votes as was said, which is public.
    pub(crate) fn check(self, votes: usize) {
        assert!(votes as u64 == self.votes, "as many votes as the aggregator was calibrated to");
    }
}

/// Votes are counted in 64-bit products of two such numbers.
const MOST_VOTES: u64 = 1 << 32;
