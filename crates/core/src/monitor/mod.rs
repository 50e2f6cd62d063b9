//! Mechanisms that answer one question after another, each chosen with the earlier answers in mind.

pub mod above_threshold;
pub mod holdout;
mod silence;
pub mod threshold_monitor;

pub(crate) use silence::prepare;
