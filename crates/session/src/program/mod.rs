//! Programs that nobody trusts, run on blocks of the records: a vote whose voters are programs.
//!
//! Session deals records into blocks and reads what comes back as votes; who runs the programs, and how they are kept apart,
//! is the business of whoever calls [`Session::run_program`].

pub(crate) mod audits;
mod deal;
mod printed;

pub(crate) use deal::ProgramRecords;
pub use deal::{ProgramBlocks, header, kinds};

use crate::{
    quiet::privately,
    release::Release,
    session::{Charged, Held, Session},
    source::Source,
    unanswered::Unanswered,
    votes::{Dealt, Vote, VotePlan},
};
use equipoise_entropy::OsCoins;
use serde_json::Value;
use std::thread;

/// What ledger and releases call it.
pub const STATISTIC: &str = "program";

impl Session {
    /// Read the records, deal them, have the programs run on every block, make one answer of theirs, record it. The
    /// charge is used up whatever happens.
    ///
    /// `run` gives the vote of each block, in their order, and nothing where a program failed; [`ProgramBlocks::read`] makes votes of
    /// what was printed. Where blocks choose an analysis first, it is called twice: with nothing for the programs that choose, then with
    /// the name of what was chosen, on blocks that were dealt anew. The guarantee holds if it lets no program see more than its block.
    pub fn run_program(
        &mut self,
        charged: Charged<VotePlan>,
        source: &dyn Source,
        run: impl FnMut(&ProgramBlocks, Option<&str>) -> Vec<Option<Vote>>,
    ) -> Result<Release, Unanswered> {
        let held = self.answer_program(charged, source, run)?;
        self.record(held)
    }

    /// The same without recording it: nobody sees the answer before that.
    pub fn answer_program(
        &mut self,
        charged: Charged<VotePlan>,
        source: &dyn Source,
        mut run: impl FnMut(&ProgramBlocks, Option<&str>) -> Vec<Option<Vote>>,
    ) -> Result<Held, Unanswered> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        self.hold_votes(charged, |plan, coins| {
            Ok(ProgramRecords::read(source, plan, threads)?.vote(plan, &mut run, coins))
        })
    }
}

/// Programs on blocks of public or made-up rows, many times: what to expect. Nothing is charged, and what comes out is no release.
/// `run` gives the vote of each block; it is called once, with all blocks there are to look at.
pub fn rehearse(
    plan: &VotePlan,
    source: &dyn Source,
    rounds: usize,
    trials: usize,
    run: impl FnOnce(&ProgramBlocks) -> Vec<Option<Vote>>,
) -> Result<Value, Unanswered> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    privately(|| {
        let mut coins = OsCoins::new().map_err(|_| Unanswered::Coins)?;
        let records = ProgramRecords::read(source, plan, threads)?;
        let people = records.people();
        let dealt = people.as_deref().map_or(Dealt::Rows(records.count()), Dealt::People);
        let looks = plan.looks(dealt, rounds, &mut coins);
        let places = looks.iter().flat_map(|look| look.blocks.iter().cloned()).collect();
        let mut votes = run(&records.blocks(places, plan.ballots(), &mut coins)).into_iter();
        let of_look = looks.iter().map(|look| votes.by_ref().take(look.blocks.len()).collect());
        let votes: Vec<Vec<Option<Vote>>> = of_look.collect();
        plan.rehearsed(&looks, &votes, trials)
    })
}
