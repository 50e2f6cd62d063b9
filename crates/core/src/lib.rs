#![forbid(unsafe_code)]
//! The mathematics of Equipoise: no input or output, no clock, no global state.
pub mod chance;
pub mod coins;
pub mod interval;
pub mod ladder;
pub mod pick;
pub mod ratio;
