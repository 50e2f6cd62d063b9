//! Answers that stay right while whoever asks reacts to them: here privacy protects the algorithm's own coins.
//!
//! A randomised dynamic algorithm is *oblivious* if it is right for inputs that were fixed in advance. Whoever
//! chooses the next update after seeing an answer learns about its coins, and can steer it into a mistake.
//! [`copies`] runs several copies and publishes a private median of what they say: little is learnt about
//! the coins of any copy, and so nearly all copies stay right. [`parameters`] says how many copies that takes.
//!
//! [`around`] takes an estimator of one's own, [`elsewhere`] one that lives in another language.
//! [`choose`] says which of these suits a stream. [`switching`] and [`flips`] need fewer copies where the value changes
//! rarely.
//! What is deterministic, as [`min_cut::exact`], needs none of this.

#![forbid(unsafe_code)]

pub mod around;
pub mod audits;
pub mod choose;
pub mod copies;
pub mod elsewhere;
pub mod flips;
pub mod grid;
pub mod hash;
pub mod min_cut;
pub mod parameters;
pub mod ready;
pub mod sketch;
pub mod state;
pub mod switching;
#[cfg(test)]
mod test_counter;

use equipoise_core::{coins::Coins, loss::ParameterError, ratio::Ratio};
use std::fmt;

/// A dynamic algorithm whose answers are right for updates that do not depend on its coins.
///
/// Everything it knows about its input comes through `init` and `update`; its coins are drawn in `init`.
pub trait Oblivious: Sized {
    /// Public sizes: how many counters, levels, rows.
    type Shape: Shape;
    /// What the algorithm is asked about, as far as the present.
    type Input;
    /// One change of the input.
    type Update;
    /// What a query names; `()` where there is only one question.
    type Question: ?Sized;
    /// Why an update does not fit the input.
    type Refused;

    /// Check an update against the input and carry it out there. A refused update changes nothing.
    fn apply(input: &mut Self::Input, update: &Self::Update) -> Result<(), Self::Refused>;

    /// Begin on this input with fresh coins.
    fn init<C: Coins>(shape: &Self::Shape, input: &Self::Input, coins: &mut C) -> Self;

    /// Follow one change of the input.
    fn update(&mut self, update: &Self::Update);

    /// Follow many changes. The order does not matter to the answers that follow.
    fn update_all(&mut self, updates: &[Self::Update]) {
        for update in updates {
            self.update(update);
        }
    }

    /// The answer about the present input, a whole number.
    fn query(&mut self, question: &Self::Question) -> i128;

    /// Bytes of memory, about.
    fn space(&self) -> usize;
}

/// The public sizes of an oblivious algorithm.
pub trait Shape: Clone + fmt::Debug {
    /// A proved lower bound on ln(1/p), where p is the chance that an algorithm of this shape is off by more
    /// than it promises at one moment of one fixed sequence of updates. Zero if nothing is proved.
    fn ln_inverse_failure(&self) -> Ratio;

    /// How far off an answer may be, as a share, and not count as off.
    fn alpha(&self) -> Ratio;

    /// Bytes of memory of an algorithm of this shape, about, as far as they do not depend on its input.
    fn space(&self) -> usize;
}

/// The most memory that all copies together may take.
const MOST_BYTES: usize = 1 << 33;

/// Sizes that no memory holds are refused before any of it is taken.
pub(crate) fn fits_memory(copies: usize, shape: &impl Shape) -> Result<(), ParameterError> {
    if copies.checked_mul(shape.space().max(1)).is_some_and(|bytes| bytes <= MOST_BYTES) {
        return Ok(());
    }
    let size = format!("{copies} of {} bytes", shape.space());
    let next = "they would take more than 8 GB; allow a larger error, declare fewer answers or changes, or give smaller sizes";
    Err(ParameterError::out_of_range("copies", size, next))
}

/// What stands behind the answers of a robust structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarantee {
    /// A theorem whose conditions were checked.
    Proved,
    /// Smaller sizes than the theorem asks for, chosen on request.
    Heuristic,
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Proved => "proved",
            Self::Heuristic => "heuristic",
        })
    }
}

/// Words for tests that must not change from run to run.
#[cfg(test)]
pub(crate) struct TestWords(pub u64);

#[cfg(test)]
impl equipoise_core::coins::Words for TestWords {
    fn word(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
