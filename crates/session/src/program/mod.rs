//! Programs that nobody trusts, run on blocks of the records: a vote whose voters are programs.
//!
//! Session deals records into blocks and reads what comes back as votes; who runs the programs, and how they are kept apart,
//! is the business of whoever calls [`Session::run_program`].

pub(crate) mod audits;
mod deal;
mod printed;

pub use deal::{ProgramBlocks, header, kinds};

use crate::{
    release::Release,
    session::{Charged, Session},
    source::Source,
    unanswered::Unanswered,
    votes::{Ballot, Vote, VotePlan},
};
use std::thread;

/// What ledger and releases call it.
pub const STATISTIC: &str = "program";

impl Session {
    /// Read the records, deal them, have the programs run on every block, make one answer of theirs, record it. The
    /// charge is used up whatever happens.
    ///
    /// `run` gives the vote of each block, in their order, and nothing where a program failed;
    /// [`ProgramBlocks::read`] makes votes of what was printed. The guarantee holds if it lets no program see more than its
    /// block.
    pub fn run_program(
        &mut self,
        charged: Charged<VotePlan>,
        source: &dyn Source,
        run: impl FnOnce(&ProgramBlocks) -> Vec<Option<Vote>>,
    ) -> Result<Release, Unanswered> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        self.hold_votes(charged, |plan, coins| {
            let blocks = ProgramBlocks::deal(source, plan, threads, coins)?;
            Ok(Ballot { votes: run(&blocks), rows: Some(blocks.records()) })
        })
    }
}
