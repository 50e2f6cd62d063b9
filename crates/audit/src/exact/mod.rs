//! One file for each shipped mechanism: its claim, its mutant.

use crate::Audit;

mod above_threshold;
mod black_box;
mod bound_local_sensitivity;
mod conditions;
mod exponential;
mod exponential_density;
mod gate;
mod gaussian;
mod histogram_keys;
mod holdout;
mod inverse_sensitivity;
mod laplace;
mod noisy_distance;
mod noisy_max;
mod permute_and_flip;
mod propose_test_release;
mod quantile_interval;
mod quantiles;
mod released_scale;
mod sampled;
mod scale;
mod searched_bound;
mod shifted_inverse;
mod small_rows;
mod smooth;
mod stable;
mod threshold;
mod threshold_monitor;

pub(crate) use sampled::any_one;

/// Noisy max with half the noise that counts under replace need; the zoo shows it as the text's prose has it.
pub(crate) fn half_noise() -> Vec<crate::Measured> {
    conditions::taken_for_monotone(noisy_max::exponential)
}

/// Every shipped claim.
pub const ALL: &[&Audit] = &[
    &laplace::AUDIT,
    &gaussian::AUDIT,
    &exponential::AUDIT,
    &exponential_density::AUDIT,
    &permute_and_flip::AUDIT,
    &noisy_max::AUDIT,
    &sampled::AUDIT,
    &bound_local_sensitivity::AUDIT,
    &shifted_inverse::AUDIT,
    &black_box::AUDIT,
    &scale::AUDIT,
    &gate::AUDIT,
    &threshold::AUDIT,
    &noisy_distance::AUDIT,
    &inverse_sensitivity::AUDIT,
    &quantiles::AUDIT,
    &quantile_interval::AUDIT,
    &stable::AUDIT,
    &histogram_keys::AUDIT,
    &propose_test_release::AUDIT,
    &searched_bound::AUDIT,
    &smooth::AUDIT,
    &released_scale::AUDIT,
    &above_threshold::AUDIT,
    &threshold_monitor::AUDIT,
    &holdout::AUDIT,
];
