//! Private SQL with joins, subqueries and set operations, on DataFusion.

#![forbid(unsafe_code)]

#[cfg(test)]
mod audit;
mod dialect;
pub mod member;
mod open;
mod prepare;
mod refusal;
mod relation;
mod rules;
mod table;
mod walk;

pub use refusal::Refusal;

/// Have queries about several tables answered by this crate, in every command that takes queries.
pub fn install() {
    equipoise_sql_front::several::install(&open::DataFusionJoins);
}
