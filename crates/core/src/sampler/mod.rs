//! Exact samplers, one file each. Every file names its grade and audits itself on the tape.
//!
//! Grades (what running time and coins reveal):
//! 1. *constant coins*: the same decisions on every path;
//! 2. *constant per round*: rejection rounds alike, their number independent of the result;
//! 3. *variable*: with what it reveals.

pub mod cauchy;
pub mod damped;
pub mod discrete_gaussian;
pub mod discrete_laplace;
pub mod exponential;
pub mod gaussian_real;
pub mod geometric;
pub mod gumbel;
pub mod laplace_real;
pub mod lazy;
pub mod poly_place;
pub mod real;
#[cfg(test)]
mod real_audit;
pub mod span;
pub mod student_t;
pub mod uniform;
pub mod weighted;
