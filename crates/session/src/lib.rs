//! The only place where a number becomes public.
//!
//! A [`Request`](request::Request) is what was said. A [`Plan`](plan::Plan) is what it means, with its price; every error a
//! request can have happens there, for free, before rows are read. A [`Source`](source::Source) shows its columns for
//! free; its rows are read only after a charge. An analysis of your own begins with the [`prelude`].

#![forbid(unsafe_code)]

pub mod answer;
pub mod audits;
pub mod bar;
pub mod caution;
pub mod columns;
pub mod earlier;
pub mod elsewhere;
pub mod error;
pub mod explanation;
pub mod facts;
mod gather;
pub mod graph;
pub mod kind;
mod lattice;
pub mod log;
pub mod meaning;
pub mod monitor;
mod names;
mod need;
pub mod next;
pub mod picture;
pub mod plan;
pub mod planned;
pub mod prelude;
pub mod program;
pub mod promise;
pub mod quiet;
pub mod release;
mod remembered;
pub mod request;
mod resolved;
mod row_facts;
mod rows;
pub mod session;
pub mod simulate;
pub mod source;
pub mod stated;
pub mod statistic;
pub mod streams;
pub mod task;
pub mod terms;
mod types;
pub mod unanswered;
pub mod votes;
pub mod windows;

pub use equipoise_expression::field;
pub use equipoise_ledger::{self as ledger, file_id};
pub use plan::batch;
