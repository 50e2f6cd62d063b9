//! What members can do, each in a function that asks `authorise` first. The API and the console
//! call these, so that neither can do more than the other.

pub mod audits;
pub mod data_sets;
pub mod members;
pub mod monitors;
pub mod programs;
pub mod questions;
pub mod rehearsals;
pub mod releases;
pub mod review;
pub mod sql;

use crate::{
    authorise::{Act, Caller, Denied, authorise},
    problem::Problem,
    state::State,
    store::DataSource,
};

/// Allowed, or the problem that says why not.
pub fn allow(caller: &Caller, act: Act<'_>) -> Result<(), Problem> {
    authorise(caller, act).map_err(|denied| match denied {
        Denied::Unseen => Problem::not_found(),
        Denied::Role | Denied::NeedsSignIn => Problem::forbidden(denied.to_string()),
    })
}

/// The registered data with this id. Whoever asks for it is to be allowed to know of it.
fn found(state: &State, id: &str) -> Result<DataSource, Problem> {
    state.store.data_set(id).ok_or_else(Problem::not_found)
}
