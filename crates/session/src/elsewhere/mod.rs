//! Answers about rows that lie in another engine: a dialogue of passes, each a grouped count or sum.
//!
//! Whoever holds the ledger draws the coins and decides; the engine holds the rows and counts. What a statistic asks for
//! (`row_facts`) becomes [passes](Pass): plain values, each of which says by which columns records are grouped and what is counted in
//! each group. A pass that ran on several parts of the rows is [merged](PassResult::merge) by adding up.
//!
//! # Claim
//!
//! The facts that are made of the counts are those of a scan of the same rows here, so that with equal coins the answers are equal. Of the rows
//! only counts, sums, and at most the places of a window of ranks for each group come back.
//!
//! # Why a pass is checked
//!
//! A row that an engine counts twice is a person who counts twice: a privacy failure. So every pass is held against what passes before it
//! counted ([`PassResult`] that contradicts itself or them is asked for again, once): counts of places add up to the number of rows, those below a prefix
//! to the count of the prefix, those of a window to its ranks; no key and bucket comes twice, and none that was not asked for. If it still does not
//! fit, the answer is lost. What no later pass can contradict, such as a relation in which every row is there twice, is for the engine to see to.
//!
//! # Which rows
//!
//! What counts as a row is the engine's to apply before any pass: the filter, computed columns, and the bound on people's rows, by the order of
//! `rows::rank` under the key that [`Engine::begin`] is given. [`Plan::rows_elsewhere`](crate::plan::Plan::rows_elsewhere) says which of these there are.

mod asked;
mod in_order;
mod pass;
mod rows;
mod windows;

pub use pass::{BucketCount, GroupSums, Pass, PassResult};

pub(crate) use asked::Elsewhere;

/// An engine that has the rows. It is asked after the charge, and never again once the answer is there.
pub trait Engine {
    /// Fix the rows that count. People's rows are drawn by this key, 64 hexadecimal digits.
    fn begin(&mut self, run_key: &str) -> Result<(), EngineFailure> {
        let _ = run_key;
        Ok(())
    }

    /// Count.
    fn pass(&mut self, pass: &Pass) -> Result<PassResult, EngineFailure>;
}

/// The engine did not count to the end. Without a word why: it may depend on rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineFailure;

#[cfg(test)]
mod engine_tests;
#[cfg(test)]
mod tests;
