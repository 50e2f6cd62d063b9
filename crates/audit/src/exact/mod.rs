//! One file for each shipped mechanism: its claim, its mutant.

use crate::Audit;

/// Every shipped claim.
pub const ALL: &[&Audit] = &[];
