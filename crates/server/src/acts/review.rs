//! For reviewers: the ledger's entries, its head, and whether it holds together.

use super::allow;
use crate::{
    authorise::{Act, Caller},
    problem::Problem,
    rate::Counted,
    state::State,
};
use axum::http::StatusCode;
use equipoise_session::{
    ledger::{Entry, Head, VerifyError},
    log,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// So many entries are given at once.
const PAGE: usize = 200;

/// Entries after a number, oldest first; `next` is where to go on.
pub fn entries(state: &State, caller: &Caller, after: u64) -> Result<Value, Problem> {
    let found = entries_after(state, caller, after, PAGE + 1)?;
    let more = found.len() > PAGE;
    let next = found.iter().take(PAGE).next_back().map(|entry| entry.number).filter(|_| more);
    let documents: Vec<Value> = found.iter().take(PAGE).map(log::entry_json).collect();
    Ok(json!({ "entries": documents, "next": next }))
}

/// The same as they are.
pub fn entries_after(state: &State, caller: &Caller, after: u64, most: usize) -> Result<Vec<Entry>, Problem> {
    allow(caller, Act::Review)?;
    let mut found = Vec::new();
    state.ledger()?.each_entry_after(after, &mut |entry| {
        found.push(entry.clone());
        if found.len() >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(found)
}

/// The last entry: keep it elsewhere, and a restored old copy shows.
pub fn head(state: &State, caller: &Caller) -> Result<Value, Problem> {
    allow(caller, Act::Review)?;
    let head = state.ledger()?.head()?;
    Ok(json!({ "ledger": head.ledger, "entries": head.entries, "hash": head.hash, "head": head.to_string() }))
}

/// What was kept elsewhere.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verifying {
    /// A head that was kept.
    pub head: Option<String>,
}

/// Recompute the whole ledger.
pub fn verify(state: &State, caller: &Caller, said: &Verifying) -> Result<Value, Problem> {
    allow(caller, Act::Review)?;
    state.limiter.count(&caller.name, Counted::Change)?;
    let head: Option<Head> = said
        .head
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(|error: equipoise_session::ledger::NotAHead| Problem::wrong(error.to_string()))?;
    match state.ledger()?.verify(head.as_ref()) {
        Ok(verified) => Ok(log::verified_json(&verified)),
        Err(VerifyError::Ledger(error)) => Err(error.into()),
        Err(broken @ VerifyError::Broken { .. }) => {
            Err(Problem::new(StatusCode::CONFLICT, broken.to_string()).exit(1).with("verified", false))
        }
    }
}
