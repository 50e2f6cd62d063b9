//! How many blocks, and which aggregator: from public facts alone, with the error predicted for each choice.
//!
//! # Claim
//!
//! Nothing here sees data, so nothing here costs anything; predictions are hints. The row count must be public (under
//! replace), declared or paid for.
//!
//! # Why
//!
//! 1. Labels: smaller blocks are right less often, so the fewest blocks that answer a three-quarters stable function with
//!    probability 0.99 are best. There the chance is exact.
//! 2. Numbers and vectors: blocks of a public number of rows per parameter give votes whose spread is the standard
//!    error of all rows times the root of the number of blocks. Noise in units of that spread falls at least like one
//!    over the number of blocks, so that more blocks are better until they are too small for the function.
//! 3. The error of a vector is that of a coordinate. Coordinate-wise means need many blocks to find their ranges; the
//!    ball needs few. Both are calibrated and compared.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::{Adjacency, RowCount}, subsample::plan::{Aggregator, Output, Question}};
//!
//! let question = Question {
//!     eps: "1".parse()?,
//!     delta: "1e-6".parse()?,
//!     output: Output::Label,
//!     rows: RowCount::Declared(100_000),
//!     rows_per_block: 100,
//!     adjacency: Adjacency::AddRemove,
//!     people: false,
//! };
//! let best = &question.choices()?[0];
//! assert_eq!((best.aggregator, best.blocks), (Aggregator::Majority, 97));
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{
    VotesPerUnit, ball::Ball, clip::DEFAULT_BITS, location::Location, majority::Majority, vectors::Vectors,
};
use crate::{
    adjacency::{Adjacency, RowCount},
    loss::{Delta, Eps, ParameterError, rho_for},
    ratio::Ratio,
};

/// What the function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// One of any options.
    Label,
    /// A number without bounds.
    Number,
    /// A vector without bounds.
    Vector {
        /// How long.
        dimensions: usize,
    },
}

/// Public facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Epsilon.
    pub eps: Eps,
    /// Delta; zero leaves the mechanisms that need none.
    pub delta: Delta,
    /// What the function gives.
    pub output: Output,
    /// How many rows or people there are, and how that is known.
    pub rows: RowCount,
    /// The fewest rows or people on which the function makes sense: [`ROWS_PER_PARAMETER`] for each parameter of a model is a
    /// good start.
    pub rows_per_block: u64,
    /// What one person may change.
    pub adjacency: Adjacency,
    /// Are people dealt by a hash, who touch two blocks when replaced?
    pub people: bool,
}

/// Which aggregator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregator {
    /// [`majority`](super::majority).
    Majority,
    /// [`location`](super::location).
    Location,
    /// [`vectors`](super::vectors).
    Vectors,
    /// [`ball`](super::ball).
    Ball,
}

/// What to expect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prediction {
    /// The chance that a three-quarters stable function is not answered, or wrongly.
    Failure(f64),
    /// The error of a coordinate as a multiple of the standard error that the function has on all rows.
    StandardErrors(f64),
}

/// A number of blocks with its aggregator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// How many blocks.
    pub blocks: u32,
    /// Which aggregator.
    pub aggregator: Aggregator,
    /// What to expect.
    pub prediction: Prediction,
}

/// Rows of a block for each parameter of a model, if nothing better is known: fits of fewer rows are biased or do not exist,
/// fits of more leave too few blocks.
pub const ROWS_PER_PARAMETER: u64 = 5;

/// What a label's plan aims for: a function that is right on three blocks of four, answered with probability 0.99.
const STABLE: (i64, u64) = (3, 4);
const WANTED: (i64, u64) = (99, 100);
/// Parts of the largest number of blocks that are looked at.
const PARTS: [u64; 4] = [1, 2, 4, 8];

impl Question {
    /// What can be done, the best first; or why nothing can.
    pub fn choices(&self) -> Result<Vec<Choice>, ParameterError> {
        let most = self.most_blocks()?;
        let mut found = Vec::new();
        let mut failure = None;
        let mut note = |blocks: u64, aggregator: Aggregator| match self.predict(blocks, aggregator) {
            Ok(prediction) => {
                let blocks = u32::try_from(blocks).expect("at most 2^20 blocks");
                found.push(Choice { blocks, aggregator, prediction });
            }
            Err(error) => failure = Some(error),
        };
        if self.output == Output::Label {
            let blocks = self.fewest_for_label(most)?;
            note(blocks, Aggregator::Majority);
        } else {
            for blocks in PARTS.map(|part| most / part).into_iter().filter(|&blocks| blocks >= 4) {
                for aggregator in self.aggregators() {
                    note(blocks, *aggregator);
                }
            }
        }
        let size = |choice: &Choice| match choice.prediction {
            Prediction::Failure(size) | Prediction::StandardErrors(size) => size,
        };
        found.sort_by(|a, b| size(a).total_cmp(&size(b)));
        if found.is_empty() { Err(failure.unwrap_or_else(|| too_few(most))) } else { Ok(found) }
    }

    /// How many blocks of the wanted size there are at most.
    fn most_blocks(&self) -> Result<u64, ParameterError> {
        let rows = match self.rows {
            // The number of blocks is seen by all: one row more must not change it.
            RowCount::Public(_) if self.adjacency == Adjacency::AddRemove => {
                let accepted = "add-remove keeps it private: declare it, pay for a noisy count, or use replace adjacency";
                return Err(ParameterError::out_of_range("rows", "public", accepted));
            }
            RowCount::Public(rows) | RowCount::Declared(rows) => rows,
            RowCount::Released(rows) => u64::try_from(rows).unwrap_or(0),
            RowCount::Unknown => {
                return Err(ParameterError::out_of_range(
                    "rows",
                    "unknown",
                    "the number of blocks depends on it: declare it, or pay for a noisy count first",
                ));
            }
        };
        if self.rows_per_block == 0 {
            return Err(ParameterError::out_of_range("rows per block", 0, "give at least 1"));
        }
        let most = (rows / self.rows_per_block).min(1 << 20);
        if most < 4 { Err(too_few(most)) } else { Ok(most) }
    }

    fn touch(&self, blocks: u64) -> Result<VotesPerUnit, ParameterError> {
        let copies = if self.people && self.adjacency == Adjacency::Replace { 2 } else { 1 };
        VotesPerUnit::new(blocks, copies, self.adjacency)
    }

    fn aggregators(&self) -> &'static [Aggregator] {
        match (self.output, self.delta.is_zero()) {
            (Output::Label, _) => &[Aggregator::Majority],
            (Output::Number, true) => &[Aggregator::Location],
            (Output::Number, false) => &[Aggregator::Location, Aggregator::Ball],
            (Output::Vector { .. }, _) => &[Aggregator::Vectors, Aggregator::Ball],
        }
    }

    fn dimensions(&self) -> usize {
        if let Output::Vector { dimensions } = self.output { dimensions } else { 1 }
    }

    fn fewest_for_label(&self, most: u64) -> Result<u64, ParameterError> {
        let good = |blocks: u64| -> Result<bool, ParameterError> {
            let majority =
                Majority { eps: self.eps.clone(), delta: self.delta.clone(), touch: self.touch(blocks)? };
            let success = majority.calibrate()?.success_lower(&Ratio::new(STABLE.0, STABLE.1));
            Ok(success >= Ratio::new(WANTED.0, WANTED.1))
        };
        let (mut low, mut high) = (1, 8);
        while !good(high)? {
            (low, high) = (high, high * 2);
            if low > most.min(1 << 14) {
                return Err(too_few(most));
            }
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if good(middle)? { high = middle } else { low = middle }
        }
        if high > most { Err(too_few(most)) } else { Ok(high) }
    }

    fn predict(&self, blocks: u64, aggregator: Aggregator) -> Result<Prediction, ParameterError> {
        let (eps, delta, touch) = (self.eps.clone(), self.delta.clone(), self.touch(blocks)?);
        let (bits, dimensions) = (DEFAULT_BITS, self.dimensions());
        let spreads = match aggregator {
            Aggregator::Majority => {
                let majority = Majority { eps, delta, touch }.calibrate()?;
                let success = majority.success_lower(&Ratio::new(STABLE.0, STABLE.1)).to_f64();
                return Ok(Prediction::Failure(1.0 - success));
            }
            Aggregator::Location => Location { eps, bits, touch }.calibrate()?.noise_in_spreads(),
            Aggregator::Vectors => {
                let rho = rho_for(&eps, &delta)?;
                Vectors { rho, dimensions, bits, touch }.calibrate()?.noise_in_spreads()
            }
            Aggregator::Ball => Ball { eps, delta, dimensions, touch }.calibrate()?.noise_in_spreads(),
        };
        Ok(Prediction::StandardErrors((1.0 + spreads * spreads * blocks as f64).sqrt()))
    }
}

fn too_few(most: u64) -> ParameterError {
    let accepted = "too few blocks of the wanted size; give smaller blocks, more rows or a larger epsilon";
    ParameterError::out_of_range("blocks", most, accepted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(eps: &str, output: Output, rows: u64, rows_per_block: u64) -> Question {
        Question {
            eps: eps.parse().unwrap(),
            delta: "1e-6".parse().unwrap(),
            output,
            rows: RowCount::Declared(rows),
            rows_per_block,
            adjacency: Adjacency::AddRemove,
            people: true,
        }
    }

    #[test]
    fn labels_take_the_fewest_blocks_that_are_enough() {
        let found = question("1", Output::Label, 100_000, 100).choices().unwrap();
        assert_eq!(found.len(), 1);
        let Prediction::Failure(failure) = found[0].prediction else { panic!("a label") };
        assert!(failure <= 0.01 && found[0].blocks < 111, "{found:?}");
        let replace =
            Question { adjacency: Adjacency::Replace, ..question("1", Output::Label, 100_000, 100) };
        assert!(replace.choices().unwrap()[0].blocks > 150, "two blocks for each replaced person");
        let few = question("1", Output::Label, 5000, 100).choices().unwrap_err().to_string();
        assert!(few.starts_with("blocks 50 is not accepted: too few blocks"), "{few}");
    }

    #[test]
    fn vectors_of_many_coordinates_take_the_ball_and_long_lists_of_blocks_the_coordinates() {
        let eleven = Output::Vector { dimensions: 11 };
        let best = question("1", eleven, 100_000, 110).choices().unwrap()[0];
        assert_eq!((best.aggregator, best.blocks), (Aggregator::Ball, 909));
        let number = question("1", Output::Number, 1_000_000, 100).choices().unwrap();
        assert_eq!(number[0].aggregator, Aggregator::Location, "{number:?}");
        assert!(number.iter().any(|choice| choice.aggregator == Aggregator::Ball));
        let pure = Question { delta: Delta::zero(), ..question("1", Output::Number, 100_000, 100) };
        assert!(pure.choices().unwrap().iter().all(|choice| choice.aggregator == Aggregator::Location));
    }

    #[test]
    fn an_unknown_or_private_number_of_rows_is_refused() {
        let unknown = Question { rows: RowCount::Unknown, ..question("1", Output::Number, 1, 1) };
        assert_eq!(
            unknown.choices().unwrap_err().to_string(),
            "rows unknown is not accepted: the number of blocks depends on it: declare it, or pay for a noisy count first"
        );
        // The exact number of rows would choose the number of blocks, which neighbours under add/remove do not share.
        let public = Question { rows: RowCount::Public(100_000), ..question("1", Output::Label, 1, 100) };
        let error = public.choices().unwrap_err().to_string();
        assert!(error.starts_with("rows public is not accepted: add-remove keeps it private"), "{error}");
        assert!(Question { adjacency: Adjacency::Replace, ..public }.choices().is_ok());
        let released = Question { rows: RowCount::Released(-3), ..question("1", Output::Number, 1, 1) };
        assert!(released.choices().is_err());
    }
}
