//! One file for each shipped mechanism: its claim, its mutant.

use crate::Audit;

mod inverse_sensitivity;
mod laplace;
mod quantile_interval;
mod quantiles;
mod sampled;

pub(crate) use sampled::any_one;

/// Every shipped claim.
pub const ALL: &[&Audit] = &[
    &laplace::AUDIT,
    &sampled::AUDIT,
    &inverse_sensitivity::AUDIT,
    &quantiles::AUDIT,
    &quantile_interval::AUDIT,
];
