//! One file for each shipped mechanism: its claim, its mutant.

use crate::Audit;

mod above_threshold;
mod arg_max;
mod ball;
mod black_box;
mod bootstrap;
mod bound_local_sensitivity;
mod bounded;
mod choice;
mod conditions;
mod consensus;
mod exponential;
mod exponential_density;
mod far_end;
mod features;
mod gate;
mod gaussian;
mod grid;
mod histogram_keys;
mod holdout;
mod inverse_sensitivity;
mod laplace;
mod location;
mod majority;
mod noisy_distance;
mod noisy_max;
pub(crate) mod partition;
mod permute_and_flip;
mod propose_test_release;
mod quantile_interval;
mod quantiles;
mod released_scale;
mod robust_mean;
mod sampled;
mod scale;
mod searched_bound;
mod shifted_inverse;
mod small_rows;
mod smooth;
mod spread;
mod stable;
mod threshold;
mod threshold_monitor;
mod vectors;

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
    &far_end::AUDIT,
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
    &spread::AUDIT,
    &stable::AUDIT,
    &histogram_keys::AUDIT,
    &propose_test_release::AUDIT,
    &searched_bound::AUDIT,
    &smooth::AUDIT,
    &released_scale::AUDIT,
    &partition::AUDIT,
    &majority::AUDIT,
    &arg_max::AUDIT,
    &robust_mean::AUDIT,
    &location::AUDIT,
    &vectors::AUDIT,
    &ball::AUDIT,
    &bounded::AUDIT,
    &features::AUDIT,
    &grid::AUDIT,
    &consensus::AUDIT,
    &choice::AUDIT,
    &bootstrap::AUDIT,
    &above_threshold::AUDIT,
    &threshold_monitor::AUDIT,
    &holdout::AUDIT,
];
