//! One file for each shipped mechanism: its claim, its mutant.

use crate::Audit;

mod bound_local_sensitivity;
mod conditions;
mod exponential;
mod exponential_density;
mod laplace;
mod permute_and_flip;
mod sampled;

pub(crate) use sampled::any_one;

/// Every shipped claim.
pub const ALL: &[&Audit] = &[
    &laplace::AUDIT,
    &exponential::AUDIT,
    &exponential_density::AUDIT,
    &permute_and_flip::AUDIT,
    &sampled::AUDIT,
    &bound_local_sensitivity::AUDIT,
];
