//! The mathematics of Equipoise: no input or output; no clock but the deadline of a block of
//! [`subsample`]. [`stop`] breaks long work off.

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
pub mod stop;
mod strips;
pub mod subsample;
mod tail;
pub mod tape;
pub mod universe;
pub mod wording;

/// Compute now what is otherwise computed when it is first asked for. A process that is forked while another thread computes it
/// would wait for that thread for ever in the child, so a program that forks calls this before it starts threads.
pub fn prepare() {
    fixed_exp::prepare();
    interval::point::prepare();
    loss::prepare();
    monitor::prepare();
    subsample::blocks::prepare();
}
