//! For reviewers: the ledger's entries, its head, and whether it holds together.

use super::{allow, data_sets::Number};
use crate::{
    authorise::{Act, Caller},
    problem::Problem,
    rate::Counted,
    state::{State, Verification},
};
use axum::http::StatusCode;
use equipoise_core::loss::{Approx, Delta, Eps};
use equipoise_session::{
    ledger::{Entry, Event, Head, VerifyError, seconds_now, utc},
    log,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{ops::ControlFlow, sync::PoisonError};

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

/// Those of one member or data set, or all where none is named.
pub fn entries_of(
    state: &State,
    caller: &Caller,
    after: u64,
    most: usize,
    who: &str,
) -> Result<Vec<Entry>, Problem> {
    allow(caller, Act::Review)?;
    let by = |entry: &Entry| match &entry.event {
        Event::Acted { by, .. }
        | Event::Restored { by, .. }
        | Event::Limited { by: Some(by), .. }
        | Event::Renews { by: Some(by), .. }
        | Event::Confirmed { by: Some(by) } => by == who,
        _ => false,
    };
    let is_of = |entry: &Entry| {
        let named = [entry.analyst.as_deref(), entry.data_set.as_deref()];
        who.is_empty() || named.contains(&Some(who)) || by(entry)
    };
    let mut found = Vec::new();
    state.ledger()?.each_entry_after(after, &mut |entry| {
        if is_of(entry) {
            found.push(entry.clone());
        }
        if found.len() >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(found)
}

/// The last entry: keep it elsewhere, and a restored old copy shows.
pub fn head(state: &State, caller: &Caller) -> Result<Value, Problem> {
    allow(caller, Act::Review)?;
    let head = state.ledger()?.head()?;
    let mut document = standing(state);
    document["ledger"] = head.ledger.as_str().into();
    document["entries"] = head.entries.into();
    document["hash"] = head.hash.as_str().into();
    document["head"] = head.to_string().into();
    Ok(document)
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
    let keep = |holds: bool, line: String| {
        let found = Verification { time: utc(seconds_now()), holds, line };
        *state.verified.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
    };
    match state.ledger()?.verify(head.as_ref()) {
        Ok(verified) => {
            let line = format!(
                "{} charges, {} answers recorded, {} without one",
                verified.charges, verified.recorded, verified.lost
            );
            keep(true, line);
            Ok(log::verified_json(&verified))
        }
        Err(VerifyError::Ledger(error)) => Err(error.into()),
        Err(broken @ VerifyError::Broken { .. }) => {
            keep(false, broken.to_string());
            Err(Problem::new(StatusCode::CONFLICT, broken.to_string()).exit(1).with("verified", false))
        }
    }
}

/// What can have been spent in the entries that a restored copy lacks.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Restoring {
    /// Epsilon at most; without, every limit counts as spent.
    pub epsilon: Option<Number>,
    /// Delta at most.
    pub delta: Option<Number>,
}

/// Which day it is.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirming {
    /// In UTC, as 2026-11-18.
    pub is: String,
}

/// The ledger is an older copy: count what is missing, and go on.
pub fn restored(state: &State, caller: &Caller, said: &Restoring) -> Result<Value, Problem> {
    allow(caller, Act::Manage)?;
    state.limiter.count(&caller.name, Counted::Change)?;
    let [epsilon, delta] = [&said.epsilon, &said.delta].map(|number| number.as_ref().map(Number::text));
    let bound = bound(epsilon.as_deref(), delta.as_deref()).map_err(Problem::wrong)?;
    state.ledger()?.restored(&caller.name, bound.as_ref())?;
    state.rollback.is_settled()?;
    head(state, caller)
}

/// The clock is right, says a steward: windows that ended since the last charge are over.
pub fn clock(state: &State, caller: &Caller, said: &Confirming) -> Result<Value, Problem> {
    allow(caller, Act::Manage)?;
    state.limiter.count(&caller.name, Counted::Change)?;
    state.ledger_to_write()?.confirm_clock(&said.is, Some(&caller.name))?;
    head(state, caller)
}

/// A bound that was typed; nothing where none was.
pub fn bound(epsilon: Option<&str>, delta: Option<&str>) -> Result<Option<Approx>, String> {
    let delta: Delta = match delta {
        None => Delta::zero(),
        Some(text) => text.parse().map_err(|error| format!("{error}"))?,
    };
    match epsilon {
        None if delta.ratio().is_zero() => Ok(None),
        None => Err("a bound has an epsilon; give one".to_string()),
        Some(text) => {
            let epsilon: Eps = text.parse().map_err(|error| format!("{error}"))?;
            Ok(Some(Approx::new(&epsilon, &delta)))
        }
    }
}

/// What is known of the ledger's being whole: when it was verified, when a witness agreed, whether it is an older copy.
pub fn standing(state: &State) -> Value {
    let verified = state.verified.lock().unwrap_or_else(PoisonError::into_inner).clone();
    json!({
        "read_only": state.rollback.is_found(),
        "witness_agreed_seconds_ago": state.rollback.agreed_ago(),
        "verified": verified.map(|found| json!({ "time": found.time, "holds": found.holds, "what": found.line })),
    })
}
