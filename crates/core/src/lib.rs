#![forbid(unsafe_code)]
//! The mathematics of Equipoise: no input or output, no clock, no global state.
pub mod adjacency;
pub mod chance;
pub mod coins;
pub mod interval;
pub mod ladder;
pub mod loss;
pub mod mechanism;
pub mod outcome;
pub mod pick;
pub mod ratio;
pub mod sampler;
pub mod stability;
pub mod tape;
pub mod universe;
