//! Keeps a bounds-free answer on a handful of rows from looking like a number.
//!
//! A rank-based answer on fewer rows than twice its rank error can lie anywhere. The number of rows is
//! public under replace, stated by the data holder, or bought with a small share of epsilon.

use super::count::{whole_noise, within};
use crate::plan::{PlanError, Said};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss},
    mechanism::laplace,
    ratio::Ratio,
};

/// One part in this many of epsilon buys the number of rows.
const SHARE: u64 = 20;

/// How the number of rows is known.
#[derive(Clone, Debug)]
pub(crate) enum Guard {
    /// Public: replace adjacency.
    Public,
    /// Stated by the data holder.
    Declared(u64),
    /// Bought: noise, and how far it goes.
    Bought { noise: Box<laplace::Calibrated>, within: i64 },
}

/// Whether there are rows enough, and how many there seem to be.
pub(crate) struct Verdict {
    pub enough: bool,
    pub noisy_rows: Option<i64>,
}

impl Guard {
    /// The guard that the request's words lead to, and the epsilon that is left for the answer.
    pub fn plan(said: &Said) -> Result<(Self, Eps), PlanError> {
        if let Some(rows) = said.rows()? {
            return Ok((Self::Declared(rows), said.eps().clone()));
        }
        if said.adjacency() == Adjacency::Replace {
            return Ok((Self::Public, said.eps().clone()));
        }
        let share = Eps::new(said.eps().ratio() / &Ratio::from(SHARE))?;
        let noise = whole_noise(&share)?;
        let within = within(&noise, said.failure())?;
        let rest = Eps::new(said.eps().ratio() - share.ratio())?;
        Ok((Self::Bought { noise: Box::new(noise), within }, rest))
    }

    /// What the number of rows costs, where it is bought.
    pub fn cost(&self) -> Option<Loss> {
        match self {
            Self::Bought { noise, .. } => Some(noise.cost()),
            Self::Public | Self::Declared(_) => None,
        }
    }

    /// A declared number of rows that is too small needs no data to be refused.
    pub fn check_declared(&self, rank_error: u64) -> Result<(), PlanError> {
        match self {
            Self::Declared(rows) if *rows < needed(rank_error) => Err(PlanError::line(format!(
                "{rows} rows are too few: the answer may be off by {rank_error} ranks, which takes at least {} rows; \
                 raise epsilon, or declare --range and --resolution",
                needed(rank_error)
            ))),
            _ => Ok(()),
        }
    }

    /// Are there rows enough? Draws its noise in every case.
    pub fn verdict<C: Coins>(&self, rows: u64, rank_error: u64, coins: &mut C) -> Verdict {
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        let (known, noisy_rows) = match self {
            Self::Public => (rows, None),
            Self::Declared(declared) => (i64::try_from(*declared).unwrap_or(i64::MAX), None),
            Self::Bought { noise, .. } => {
                let noisy = noise.run_whole(rows, coins);
                (noisy, Some(noisy))
            }
        };
        let enough = u64::try_from(known).is_ok_and(|known| known >= needed(rank_error));
        Verdict { enough, noisy_rows }
    }

    /// The words for a plan: from how many rows on there is an answer.
    pub fn words(&self, rank_error: u64) -> String {
        let needed = needed(rank_error);
        match self {
            Self::Declared(rows) => format!("released: the {rows} rows that were declared are enough"),
            Self::Public => format!("refused with fewer than {needed} rows"),
            Self::Bought { within, .. } => format!(
                "refused when a noisy count of the rows (off by at most {within}, from 1/{SHARE} of epsilon) is below {needed}"
            ),
        }
    }

    /// What to do after a refusal.
    pub fn advice(&self, rank_error: u64) -> String {
        let or_state = match self {
            Self::Bought { .. } => ", or state --rows where their number is public",
            Self::Public | Self::Declared(_) => "",
        };
        format!(
            "too few rows: the answer may be off by {rank_error} ranks, which takes at least {} rows; \
             raise epsilon, or declare --range and --resolution{or_state}",
            needed(rank_error)
        )
    }
}

fn needed(rank_error: u64) -> u64 {
    rank_error.saturating_mul(2).max(1)
}
