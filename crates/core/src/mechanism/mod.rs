//! Mechanisms, one file each: parameters, calibration, cost, run, accuracy, and the audit of the claim.

pub mod exponential;
pub mod exponential_density;
pub mod inverse_sensitivity;
pub mod laplace;
pub mod permute_and_flip;
pub mod quantile_interval;
pub mod quantiles;
pub mod sampled;
pub mod selection;
#[cfg(test)]
mod selection_audit;
