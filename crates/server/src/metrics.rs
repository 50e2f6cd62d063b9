//! Counts for whoever keeps the server running, in the text form that Prometheus reads, on a port of this machine alone.
//!
//! No durations, bytes or rows: how long a charged request took, and how long its answer is, may depend on rows. An answer is
//! counted as lost at the time at which it would have been shown.

use crate::{http::aside, problem::Problem, state::State};
use axum::{
    Router,
    http::header,
    response::{IntoResponse, Response},
    routing::get,
};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// What is counted since the server began.
#[derive(Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(String, String, u16), u64>>,
    /// Questions and monitors that were charged.
    pub charges: AtomicU64,
    /// What was refused because it was more than is left.
    pub over_budget: AtomicU64,
}

impl Metrics {
    /// One request was answered. The route is its template, of which there are few.
    pub fn count(&self, method: &str, route: &str, status: u16) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        // Methods are whatever somebody sends; routes that are none have one name.
        let known = ["GET", "POST", "PUT", "DELETE", "HEAD"];
        let method = known.into_iter().find(|known| *known == method).unwrap_or("other");
        *requests.entry((method.to_string(), route.to_string(), status)).or_default() += 1;
    }
}

/// The one page of the port of its own.
pub fn router(state: Arc<State>) -> Router {
    Router::new().route("/metrics", get(page)).with_state(state)
}

async fn page(axum::extract::State(state): axum::extract::State<Arc<State>>) -> Result<Response, Problem> {
    let text = aside(&state, text).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}

/// All counts as text.
pub fn text(state: &State) -> Result<String, Problem> {
    let mut out = String::new();
    let metrics = &state.metrics;
    let mut put = |name: &str, kind: &str, help: &str, lines: &[(String, u64)]| {
        let _ = writeln!(out, "# HELP equipoise_{name} {help}\n# TYPE equipoise_{name} {kind}");
        for (labels, value) in lines {
            let _ = writeln!(out, "equipoise_{name}{labels} {value}");
        }
    };
    let plain = |value: u64| vec![(String::new(), value)];
    let requests = metrics.requests.lock().unwrap_or_else(PoisonError::into_inner);
    let requests: Vec<(String, u64)> = requests
        .iter()
        .map(|((method, route, status), count)| {
            (format!("{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}}"), *count)
        })
        .collect();
    put("requests_total", "counter", "Requests by route and status", &requests);
    let charges = metrics.charges.load(Ordering::SeqCst);
    put("charges_total", "counter", "Questions and monitors that were charged", &plain(charges));
    let over = metrics.over_budget.load(Ordering::SeqCst);
    put("over_budget_total", "counter", "Requests that were more than is left", &plain(over));
    put("lost_total", "counter", "Answers that were lost", &plain(state.desk.lost()));
    let entries = state.ledger()?.head()?.entries;
    put("ledger_entries", "gauge", "Entries of the ledger", &plain(entries));
    let foreign = state.rollback.foreign.load(Ordering::SeqCst);
    put("foreign_witnesses_total", "counter", "Witnesses that were none of this ledger", &plain(foreign));
    let agreed = state.rollback.agreed_ago().map_or(Vec::new(), plain);
    put("witness_age_seconds", "gauge", "How long ago a witness agreed with the ledger", &agreed);
    let read_only = u64::from(state.rollback.is_found());
    put("read_only", "gauge", "1 where the ledger is an older copy and is not written", &plain(read_only));
    Ok(out)
}
