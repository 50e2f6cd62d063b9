//! The mathematics of Equipoise: no input or output; no clock but the deadline of a block of
//! [`subsample`].

#![forbid(unsafe_code)]

pub mod account;
pub mod adjacency;
pub mod amplify;
mod bell;
pub mod catalog;
pub mod chance;
pub mod coins;
mod fixed_exp;
pub mod generalization;
pub mod interval;
pub mod ladder;
pub mod loss;
pub mod mechanism;
pub mod monitor;
mod opening;
pub mod outcome;
pub mod pick;
pub mod ratio;
mod redact;
pub mod refute;
pub mod sampler;
pub mod solve;
pub mod stability;
mod strips;
pub mod subsample;
mod tail;
pub mod tape;
pub mod universe;
pub mod wording;
