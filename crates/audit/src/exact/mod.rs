//! One file for each shipped mechanism: its claim, its mutant.

use crate::Audit;

mod gate;

/// Every shipped claim.
pub const ALL: &[&Audit] = &[&gate::AUDIT];
