//! Queries as their users write them: what is planned, what is refused, what is answered, and what becomes of broken ones.

mod googlesql;
mod mutated;
mod queries;
mod support;
