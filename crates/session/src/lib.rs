//! The only place where a number becomes public.
//!
//! A [`Source`](source::Source) shows its columns for free; its rows are read only after a charge.

#![forbid(unsafe_code)]

pub mod columns;
pub mod source;
