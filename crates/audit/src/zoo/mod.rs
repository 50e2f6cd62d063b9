//! Broken mechanisms, published or often written. Each must be caught.

use crate::Audit;
use equipoise_core::interval::Interval;

mod amplification;
mod bound_from_data;
mod cauchy_smooth;
mod count_threshold;
mod float_gate;
mod gaussian_classical;
mod local_sensitivity;
mod noisy_max;
mod private_rows;
mod scale_threshold;
mod sparse_vector;
mod stable_distance;
mod subsample;
mod winsorized;

/// Every broken mechanism.
pub const ALL: &[&Audit] = &[
    &scale_threshold::AUDIT,
    &stable_distance::RAW_GAP,
    &stable_distance::OFF_BY_ONE,
    &local_sensitivity::LOCAL,
    &local_sensitivity::DOWN,
    &cauchy_smooth::AUDIT,
    &winsorized::AUDIT,
    &subsample::HASHED,
    &subsample::EQUAL,
    &noisy_max::AUDIT,
    &gaussian_classical::AUDIT,
    &amplification::PRINTED,
    &amplification::SIZE,
    &sparse_vector::NO_CUTOFF,
    &sparse_vector::NOISE_IGNORES_CUTOFF,
    &sparse_vector::NO_QUERY_NOISE,
    &sparse_vector::VALUE,
    &float_gate::AUDIT,
    &private_rows::AUDIT,
    &count_threshold::AUDIT,
    &bound_from_data::AUDIT,
];

/// P(Lap(1/eps) > t) for a real t, enclosed, from the exponent eps·t.
fn laplace_tail(exponent: &Interval) -> Interval {
    let bits = exponent.bits();
    let half = Interval::one(bits).div_small(2);
    // ½e^-y above zero, 1 - ½e^y below; at either end the two agree, so the hull of both sides is safe.
    let above = half.mul(&exponent.max(&Interval::zero(bits)).neg().exp());
    let below = Interval::one(bits).sub(&half.mul(&exponent.min(&Interval::zero(bits)).exp()));
    above.add(&below).sub(&half)
}
