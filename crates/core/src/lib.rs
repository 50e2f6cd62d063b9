//! The mathematics of Equipoise: no input or output, no clock, no global state.

#![forbid(unsafe_code)]

pub mod adjacency;
pub mod amplify;
pub mod chance;
pub mod coins;
pub mod interval;
pub mod ladder;
pub mod loss;
pub mod mechanism;
mod opening;
pub mod outcome;
pub mod pick;
pub mod ratio;
pub mod sampler;
pub mod solve;
pub mod tape;
pub mod universe;
