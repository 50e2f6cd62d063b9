//! Exact samplers, one file each. Every file names its grade and audits itself on the tape.
//!
//! Grades (what running time and coins reveal):
//! 1. *constant coins*: the same decisions on every path;
//! 2. *constant per round*: rejection rounds alike, their number independent of the result;
//! 3. *variable*: with what it reveals.

pub mod damped;
pub mod discrete_gaussian;
pub mod discrete_laplace;
pub mod geometric;
pub mod uniform;
pub mod weighted;
