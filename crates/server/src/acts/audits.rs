//! The audits of this build, for reviewers: every claim measured against the code that answers, and every broken mechanism caught.

use super::allow;
use crate::{
    authorise::{Act, Caller},
    problem::Problem,
    rate::Counted,
    state::State,
};
use axum::http::StatusCode;
use equipoise_audit::{
    Kind,
    report::{self, Finding},
};
use equipoise_session::{
    audits::all,
    ledger::{seconds_now, utc},
};
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// What was found so far.
#[derive(Default)]
pub struct Audits(Mutex<Found>);

#[derive(Default)]
struct Found {
    running: bool,
    finished: Option<String>,
    findings: Vec<Value>,
    good: usize,
}

impl Audits {
    /// The build, how many audits there are, and what those that ran found.
    pub fn document(&self) -> Value {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        json!({
            "version": env!("CARGO_PKG_VERSION"), "audits": all().len(), "running": found.running,
            "finished": found.finished, "good": found.good, "findings": found.findings,
        })
    }

    fn begin(&self) -> bool {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if found.running {
            return false;
        }
        *found = Found { running: true, ..Found::default() };
        true
    }

    fn put(&self, finding: &Finding) {
        let kind = match finding.audit.kind {
            Kind::Claim { .. } => "claim",
            Kind::Zoo { .. } => "broken mechanism",
        };
        let verdict = finding.verdict();
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.good += usize::from(verdict.good());
        found.findings.push(json!({
            "name": finding.audit.name, "kind": kind, "about": finding.audit.about,
            "verdict": verdict.word(), "good": verdict.good(),
        }));
    }

    fn end(&self) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.running = false;
        found.finished = Some(utc(seconds_now()));
    }
}

/// What the audits found that ran here.
pub fn show(state: &State, caller: &Caller) -> Result<Value, Problem> {
    allow(caller, Act::Review)?;
    Ok(state.audits.document())
}

/// Run all of them once more, one after another on one thread, so that questions have the others.
pub fn run(state: Arc<State>, caller: &Caller) -> Result<Value, Problem> {
    allow(caller, Act::Review)?;
    state.limiter.count(&caller.name, Counted::Change)?;
    if !state.audits.begin() {
        return Err(Problem::new(StatusCode::CONFLICT, "the audits are running; look again later").after(30));
    }
    let document = state.audits.document();
    let work = move || {
        for audit in all() {
            for finding in report::run(&[audit], |_| {}) {
                state.audits.put(&finding);
            }
        }
        state.audits.end();
    };
    thread::Builder::new().name("audits".into()).spawn(work).map_err(Problem::inside)?;
    Ok(document)
}
