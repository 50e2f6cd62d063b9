//! Answers: before their time, afterwards, in words, and as a picture.

use super::allow;
use crate::{
    authorise::{Act, Caller},
    http::Witness,
    problem::{self, Problem},
    state::State,
};
use equipoise_core::wording::Surface;
use equipoise_session::{
    explanation::{self, Unexplained},
    ledger::{Entry, Event},
    picture,
    release::Release,
    request::Request,
    session,
};
use serde_json::Value;

/// What can be seen of an answer now.
pub enum Seen {
    /// Its time has not come.
    NotYet {
        /// When it will.
        ready_at: String,
        /// In how many seconds.
        seconds: u64,
    },
    /// Released or refused.
    Release(Box<Release>),
}

/// An answer by the id of its charge.
pub fn read(state: &State, caller: &Caller, id: &str) -> Result<Seen, Problem> {
    look(state, caller, id).map(|(seen, _)| seen)
}

/// A witness of an answer, for its reader to keep.
pub fn witness(state: &State, release: &Release) -> Option<Witness> {
    let receipt = release.receipt.as_ref()?;
    state.ledger().ok()?.witness(&receipt.id, &receipt.hash).ok().map(Witness)
}

/// The same with the charge, where its time has come.
fn look(state: &State, caller: &Caller, id: &str) -> Result<(Seen, Option<Entry>), Problem> {
    check_id(id)?;
    // First whether it waits: what is recorded afterwards is found below.
    if let Some((member, ready_at, seconds)) = state.desk.waits(id) {
        allow(caller, Act::Read { asked_by: &member })?;
        return Ok((Seen::NotYet { ready_at, seconds: seconds.max(1) }, None));
    }
    let ledger = state.ledger()?;
    let Some((entry, mut recorded)) = ledger.find(id)? else { return Err(Problem::not_found()) };
    may_read(state, caller, id, &entry)?;
    if recorded.is_none() {
        // It may have been charged a moment ago, or recorded a moment ago.
        state.desk.settle();
        if let Some((_, ready_at, seconds)) = state.desk.waits(id) {
            return Ok((Seen::NotYet { ready_at, seconds: seconds.max(1) }, None));
        }
        recorded = ledger.find(id)?.and_then(|(_, recorded)| recorded);
    }
    let recorded = recorded.ok_or_else(|| problem::lost(id))?;
    let release = session::stored(&recorded)?;
    Ok((Seen::Release(Box::new(release)), Some(entry)))
}

/// Whoever asked, or was shown the answer of another while they may ask about its data.
fn may_read(state: &State, caller: &Caller, id: &str, entry: &Entry) -> Result<(), Problem> {
    let asked_by = entry.analyst.as_deref().unwrap_or_default();
    let denied = match allow(caller, Act::Read { asked_by }) {
        Ok(()) => return Ok(()),
        Err(denied) => denied,
    };
    let name = entry.data_set.as_deref().unwrap_or_default();
    let data = state.store.data_set_named(name);
    let asks = data.is_some_and(|data| allow(caller, Act::Ask(&data)).is_ok());
    if asks && state.ledger()?.has_seen(name, &caller.name, id)? { Ok(()) } else { Err(denied) }
}

/// Ids are hexadecimal; nothing else is looked up.
pub(super) fn check_id(id: &str) -> Result<(), Problem> {
    let good =
        id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if good { Ok(()) } else { Err(Problem::not_found()) }
}

/// A paragraph for a paper, and what it is made of.
pub fn explain(state: &State, caller: &Caller, id: &str) -> Result<Result<Value, (String, u64)>, Problem> {
    match look(state, caller, id) {
        Ok((Seen::NotYet { ready_at, seconds }, _)) => return Ok(Err((ready_at, seconds))),
        // What was lost can be explained too.
        Err(problem) if problem.status == axum::http::StatusCode::GONE => {}
        Err(problem) => return Err(problem),
        Ok(_) => {}
    }
    let explained =
        explanation::explain(&state.ledger()?, id, Surface::Python).map_err(|error| match error {
            Unexplained::Unknown => Problem::not_found(),
            Unexplained::Ledger(error) => error.into(),
            other @ Unexplained::OfAnotherVersion => Problem::inside(other),
        })?;
    Ok(Ok(explained.document))
}

/// The answer as a picture.
pub fn draw(state: &State, caller: &Caller, id: &str) -> Result<Result<String, (String, u64)>, Problem> {
    match look(state, caller, id)? {
        (Seen::NotYet { ready_at, seconds }, _) => Ok(Err((ready_at, seconds))),
        (Seen::Release(release), entry) => {
            Ok(Ok(picture::release(&release, &fractions(entry.as_ref()), Surface::Python)))
        }
    }
}

/// The quantiles that each question of a charge asked for.
pub fn fractions(entry: Option<&Entry>) -> Vec<Vec<String>> {
    let Some(Event::Charged { request, .. }) = entry.map(|entry| &entry.event) else { return Vec::new() };
    let asked: Value = serde_json::from_str(request).unwrap_or_default();
    let questions = match asked.get("questions").and_then(Value::as_array) {
        Some(questions) => questions.clone(),
        None => vec![asked],
    };
    let of = |question: &Value| {
        let request: Option<Request> = serde_json::from_value(question.clone()).ok();
        let text = request.and_then(|request| request.fraction).unwrap_or_default();
        text.split(',').map(|one| one.trim().to_string()).filter(|one| !one.is_empty()).collect()
    };
    questions.iter().map(of).collect()
}
