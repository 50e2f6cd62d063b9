//! What the text of one field is: a number, a decimal, a day or moment, a yes or no.
//!
//! All formats, `--range` and the constants of `--where` read by these rules, and answers are written by them.

pub mod boolean;
pub mod calendar;
pub mod decimal;
pub mod number;
