//! Mechanisms, one file each: parameters, calibration, cost, run, accuracy, and the audit of the claim.

pub mod gate;
pub mod laplace;
pub mod sampled;
