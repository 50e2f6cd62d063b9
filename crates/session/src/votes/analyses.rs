//! Which analysis to run, chosen by the blocks: the first of two steps that are paid for together.
//!
//! Source: 000_4d769f04a6a550e8.txt, Example 7.3 (the raw data problem): analysts who each see a part of the rows name one of a common
//! set of analyses; what most of them name is chosen privately, and then run privately.
//!
//! # Guarantee
//!
//! Half of epsilon for the choice, under the adjacency of the blocks; the other half, and delta, for the answer of what was chosen. The
//! rows are dealt anew for it, so that the two are one after the other: their costs add up.
//!
//! # Why
//!
//! 1. Each block names an analysis or none: [`arg_max`](equipoise_core::subsample::arg_max), which draws nothing that was not listed.
//! 2. Whatever was chosen, what is run next is private by itself, with coins of its own: adaptive composition.

use super::{
    Analysis, VoteRequest,
    output::{Ballots, Output, Vote},
};
use crate::{error::PlanError, resolved::ResolvedRequest};
use equipoise_core::{
    coins::Coins,
    loss::{Eps, Loss},
    ratio::Ratio,
    subsample::{
        VotesPerUnit,
        arg_max::{self, ArgMax},
    },
};

/// The choice, ready to be made.
#[derive(Clone, Debug)]
pub struct Analyses {
    election: arg_max::Calibrated,
    ballots: Ballots,
    names: Vec<String>,
    /// At most so many blocks more name another one.
    gap: u64,
}

/// How epsilon is shared between the choice and the answer.
const SHARES: u64 = 2;

impl Analyses {
    /// With the epsilon that is left for the answer; nothing where no analyses were listed.
    pub(super) fn plan(
        request: &VoteRequest,
        said: &ResolvedRequest,
        touch: VotesPerUnit,
    ) -> Result<Option<(Self, Eps)>, PlanError> {
        if request.analyses.is_empty() {
            return Ok(None);
        }
        let names = names(&request.analyses)?;
        let eps = Eps::new(said.eps().ratio() / &Ratio::from(SHARES))?;
        let rest = Eps::new(said.eps().ratio() - eps.ratio())?;
        let options = names.len() as u64;
        let election = ArgMax { eps, popularity_eps: None, options, touch }.calibrate()?;
        let gap = election.gap(said.failure())?;
        let ballots = Ballots::new(Output::Label, Some(names.clone()));
        Ok(Some((Self { election, ballots, names, gap }, rest)))
    }

    /// What makes votes of what analysts name.
    pub fn ballots(&self) -> &Ballots {
        &self.ballots
    }

    /// At most so many blocks more name another analysis than the chosen one, with the confidence of the answer's bar.
    pub(super) fn gap(&self) -> u64 {
        self.gap
    }

    pub(super) fn cost(&self) -> Loss {
        self.election.cost()
    }

    /// An analysis that many blocks name; paid for, and public from here on.
    pub(super) fn choose<C: Coins>(&self, mut votes: Vec<Option<Vote>>, blocks: u64, coins: &mut C) -> &str {
        votes.resize(usize::try_from(blocks).expect("so many fit in memory"), None);
        let place = |vote: &Option<Vote>| match vote {
            Some(Vote::Listed(place)) => Some(*place as u64),
            _ => None,
        };
        let votes: Vec<Option<u64>> = votes.iter().map(place).collect();
        &self.names[usize::try_from(self.election.run(&votes, coins).option).unwrap_or_default()]
    }

    /// For plans.
    pub(super) fn words(&self, blocks: u64) -> String {
        format!(
            "half of epsilon chooses the analysis that most of {blocks} blocks name, or one that at most {} fewer name",
            self.gap
        )
    }
}

/// The names, sorted, each once.
fn names(analyses: &[Analysis]) -> Result<Vec<String>, PlanError> {
    let mut names: Vec<String> = analyses.iter().map(|one| one.name.trim().to_string()).collect();
    names.sort();
    let total = names.len();
    names.dedup();
    if names.len() < 2 || names.len() < total || names.iter().any(String::is_empty) {
        return Err(PlanError::about_option(
            "then",
            "analyses to choose among need at least two different names",
        )
        .hint("name each once, such as mean and median"));
    }
    Ok(names)
}
