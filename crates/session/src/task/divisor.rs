//! How many rows a mean is over: what sums are divided by.
//!
//! Where a row can only be replaced and all rows take part, their number is public. A stated number is a constant: dividing
//! by it reveals nothing, and the answer is the mean if it is right, which the error bar says. It is believed only where it is
//! about all rows, with a declared range: a number that is left over from a question without `--where` would be wrong by far.
//! Where it is not known, a mean needs no count of its own: the two sides of its sum ([`sums`](super::sums)) add up to it.

use super::count::{whole_noise, within};
use crate::{
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{Nulls, RowFacts},
    statistic::Statistic,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss},
    mechanism::laplace,
    ratio::Ratio,
};
use std::sync::Arc;

/// How the number of rows is known.
#[derive(Clone, Debug)]
pub(super) enum Divisor {
    /// That of rows with a value, bought: noise, and how far it goes.
    Bought { noise: Arc<laplace::Calibrated>, within: i64 },
    /// That of rows with a value, which the two sides of a sum add up to.
    TwoSides,
    /// That of all rows, which is public. Rows without a value count as the centre.
    Public,
    /// That of rows with a value, as it was stated.
    Stated(u64),
}

/// The same before there is a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    No,
    Public,
    Stated(u64),
}

impl Known {
    /// Whether sums over a declared range need no bought number of rows. A summary tells the number, so it buys it.
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        Ok(match (said.adjacency(), said.rows()?) {
            _ if said.statistic() == Statistic::Summary => Self::No,
            // Rows of which a condition is unknown have no share, and how many there are is nobody's to know.
            (Adjacency::Replace, _) if said.statistic() == Statistic::Share => Self::No,
            (Adjacency::Replace, _) => Self::Public,
            (Adjacency::AddRemove, Some(rows)) if said.takes_all_rows() => Self::Stated(rows),
            _ => Self::No,
        })
    }
}

impl Divisor {
    /// A number of rows that costs `eps`, and may be farther off with this probability.
    pub fn bought(eps: &Eps, failure: &Ratio) -> Result<Self, PlanError> {
        let noise = whole_noise(eps)?;
        let within = within(&noise, failure)?;
        Ok(Self::Bought { noise, within })
    }

    /// What it costs, where it is bought. A row has a value or none, so replacing one moves it by one at most.
    pub fn cost(&self) -> Option<Loss> {
        match self {
            Self::Bought { noise, .. } => Some(noise.cost()),
            Self::TwoSides | Self::Public | Self::Stated(_) => None,
        }
    }

    /// How far off the number may be.
    pub fn within(&self) -> i64 {
        match self {
            Self::Bought { within, .. } => *within,
            Self::TwoSides | Self::Public | Self::Stated(_) => 0,
        }
    }

    /// Whether the number comes with noise.
    pub fn is_noisy(&self) -> bool {
        matches!(self, Self::Bought { .. } | Self::TwoSides)
    }

    /// A number of rows that was counted, with the noise that was bought.
    pub fn noisy<C: Coins>(&self, rows: u64, coins: &mut C) -> i64 {
        let rows = i64::try_from(rows).unwrap_or(i64::MAX);
        match self {
            Self::Bought { noise, .. } => noise.run_whole(rows, coins),
            Self::TwoSides | Self::Public | Self::Stated(_) => unreachable!("a number that was bought"),
        }
    }

    /// How many rows there are for these values, where sums do not tell.
    pub fn count<C: Coins>(&self, rows: &dyn RowFacts, need: &Need, coins: &mut C) -> i64 {
        let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let counted = |nulls| whole(rows.count(need, nulls));
        match self {
            Self::Bought { noise, .. } => noise.run_whole(counted(Nulls::LeftOut), coins),
            Self::Public => counted(Nulls::Counted),
            Self::Stated(rows) => whole(*rows),
            Self::TwoSides => 0,
        }
    }
}
