//! Mechanisms, one file each: parameters, calibration, cost, run, accuracy, and the audit of the claim.

pub mod laplace;
pub mod sampled;
