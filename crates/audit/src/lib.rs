//! Audits: every privacy claim of the core, attacked exactly, and a zoo of broken mechanisms.
//!
//! An [`Audit`] runs the shipped code of one mechanism on the enumerating tape, over every neighbouring
//! pair of a small universe, and encloses the least delta that the claimed epsilon needs. A claim holds
//! when the whole enclosure lies at or below the claimed delta, up to the resolution of the tape. Beside each claim stands a mutant, the same
//! code with one constant or one comparison changed, which the same measurement must catch. The zoo holds
//! mechanisms that were published or are often written, and are not private: each must be caught.

#![forbid(unsafe_code)]

pub mod exact;
pub mod pairs;
pub mod report;
pub mod sampled;
pub mod zoo;

use equipoise_core::{adjacency::Adjacency, interval::Interval, ratio::Ratio};

/// What an audit measured: the claim, and the least delta that its epsilon needs.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The claimed epsilon.
    pub eps: Ratio,
    /// The claimed delta.
    pub delta: Ratio,
    /// The adjacency of the pairs that were measured.
    pub adjacency: Adjacency,
    /// The least delta at that epsilon over all pairs, enclosed.
    pub worst: Interval,
    /// An epsilon that some pair refutes at the claimed delta: no smaller claim would hold. Between this and the claim lies what the
    /// pairs leave open. Zero where no epsilon is refuted.
    pub refuted_eps: Ratio,
    /// How many neighbouring pairs were measured.
    pub pairs: usize,
    /// Which pairs those were: all of a universe, or a few.
    pub over: String,
    /// Which part of the claim, with which parameters; empty where the claim has one part.
    pub case: String,
    /// Deltas that differ by less are not told apart, because the tape cuts off paths that are less likely. Whole answers have more
    /// of those than a mechanism.
    pub resolution: Ratio,
}

/// The resolution of the audits of mechanisms.
pub fn resolution() -> Ratio {
    Ratio::new(1, 1_000_000_000)
}

impl Measured {
    /// The claim is true of every pair that was measured.
    pub fn holds(&self) -> bool {
        self.worst.upper() <= &self.delta + &self.resolution
    }

    /// Some pair refutes the claim.
    pub fn refuted(&self) -> bool {
        self.worst.lower() > &self.delta + &self.resolution
    }

    /// The same, named by the part of the claim that it measures.
    #[must_use]
    pub fn case(self, case: impl Into<String>) -> Self {
        Self { case: case.into(), ..self }
    }

    /// Does the price bind: is a third of epsilon refuted, or a twentieth of delta needed? A measurement that exercises less of its
    /// price could not catch a mistake in it.
    pub fn exercised(&self) -> bool {
        let some_eps = &self.refuted_eps * &Ratio::from(3u64) >= self.eps;
        let some_delta =
            self.worst.lower() > (&self.delta / &Ratio::from(20u64)).max(self.resolution.clone());
        some_eps || some_delta
    }
}

/// One line of the audit: a shipped claim with its mutant, or a zoo entry.
pub struct Audit {
    /// A name that stays, for `--only` and for the documents.
    pub name: &'static str,
    /// What is claimed, in words.
    pub about: &'static str,
    /// Where the claim or the misprint comes from.
    pub source: &'static str,
    /// What is expected.
    pub kind: Kind,
}

/// What an audit expects of its measurements.
pub enum Kind {
    /// Every measurement must hold, and some measurement of the mutant must be refuted.
    Claim {
        /// The shipped code.
        shipped: fn() -> Vec<Measured>,
        /// What was changed in the mutant.
        change: &'static str,
        /// The changed code, measured against the same claim.
        mutant: fn() -> Vec<Measured>,
    },
    /// Some measurement must be refuted.
    Zoo {
        /// The broken code, measured against what it promises.
        broken: fn() -> Vec<Measured>,
    },
}
