//! Mechanisms, one file each: parameters, calibration, cost, run, accuracy, and the audit of the claim.

pub mod bound_local_sensitivity;
pub mod exponential;
pub mod exponential_density;
pub mod laplace;
pub mod permute_and_flip;
pub mod sampled;
pub mod selection;
#[cfg(test)]
mod selection_audit;
