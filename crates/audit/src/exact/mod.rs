//! One file for each shipped mechanism: its claim, its mutant.

use crate::Audit;

mod laplace;
mod sampled;

pub(crate) use sampled::any_one;

/// Every shipped claim.
pub const ALL: &[&Audit] = &[&laplace::AUDIT, &sampled::AUDIT];
