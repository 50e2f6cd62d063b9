//! Mechanisms, one file each: parameters, calibration, cost, run, accuracy, and the audit of the claim.

pub mod exponential;
pub mod exponential_density;
pub mod gate;
pub mod histogram_keys;
pub mod laplace;
pub mod noisy_distance;
pub mod permute_and_flip;
pub mod propose_test_release;
pub mod sampled;
pub mod searched_bound;
pub mod selection;
#[cfg(test)]
mod selection_audit;
pub mod stable;
pub mod threshold;
