//! The ledger for reviewers: its entries, and whether it holds together.

use super::{
    Posted, Visitor,
    page::{Page, html, text},
};
use crate::{
    acts::review::{self, Verifying},
    authorise::Caller,
    http::{Form, aside},
    problem::Problem,
    state::State,
};
use askama::Template;
use axum::{
    extract::{RawQuery, State as Shared},
    http::StatusCode,
    response::Response,
};
use equipoise_session::{
    bar::printable,
    ledger::{Entry, Event, seconds_now, utc},
    log::happened,
};
use std::sync::Arc;

type Answer = Result<Response, Problem>;

/// So many entries on a page.
const PAGE: usize = 100;

struct Row {
    number: u64,
    time: String,
    who: String,
    what: String,
    data: String,
    hash: String,
    answer: Option<String>,
}

#[derive(Template)]
#[template(path = "review.html")]
struct Review {
    page: Page,
    ledger: String,
    entries: u64,
    head: String,
    verified: Option<String>,
    holds: bool,
    rows: Vec<Row>,
    after: u64,
    next: Option<u64>,
}

fn row(entry: &Entry) -> Row {
    let by = match &entry.event {
        Event::Acted { .. } => None,
        _ => entry.analyst.as_deref(),
    };
    let about = match (&entry.event, &entry.analyst) {
        (Event::Acted { .. }, Some(whom)) => format!("; about {}", printable(whom)),
        _ => String::new(),
    };
    Row {
        number: entry.number,
        time: entry.time.clone(),
        who: by.map_or(String::new(), printable),
        what: happened(&entry.event) + &about,
        data: entry.data_set.as_deref().map_or(String::new(), printable),
        hash: entry.hash.chars().take(12).collect(),
        answer: matches!(entry.event, Event::Charged { .. }).then(|| entry.id.clone()),
    }
}

fn page(state: &State, caller: &Caller, after: u64, verified: Option<(bool, String)>) -> Answer {
    let found = review::entries_after(state, caller, after, PAGE + 1)?;
    let head = review::head(state, caller)?;
    let shown = &found[..found.len().min(PAGE)];
    let template = Review {
        page: Page::new("Review", Some(caller), "/review"),
        ledger: text(&head, "ledger"),
        entries: head["entries"].as_u64().unwrap_or_default(),
        head: text(&head, "head"),
        holds: verified.as_ref().is_some_and(|(holds, _)| *holds),
        verified: verified.map(|(_, line)| line),
        rows: shown.iter().map(row).collect(),
        after,
        next: shown.last().map(|last| last.number).filter(|_| found.len() > PAGE),
    };
    Ok(html(StatusCode::OK, &template))
}

/// The entries.
pub async fn review_page(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    RawQuery(query): RawQuery,
) -> Answer {
    let query = Form::read(&query.unwrap_or_default());
    let after = query.get("after").unwrap_or("0").parse().map_err(|_| Problem::not_found())?;
    aside(&state, move |state| page(state, &caller, after, None)).await
}

/// Recompute the whole ledger, and say what came of it.
pub async fn verify(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Posted(form): Posted,
) -> Answer {
    let said = Verifying { head: form.get("head").map(str::to_string) };
    aside(&state, move |state| {
        let verified = match review::verify(state, &caller, &said) {
            Ok(found) => {
                let line = format!(
                    "Verified at {}: {} charges, {} answers recorded, {} without one",
                    utc(seconds_now()),
                    found["charges"],
                    found["recorded"],
                    found["lost_count"]
                );
                (true, line)
            }
            Err(problem) if matches!(problem.status, StatusCode::CONFLICT | StatusCode::BAD_REQUEST) => {
                (false, problem.detail)
            }
            Err(problem) => return Err(problem),
        };
        page(state, &caller, 0, Some(verified))
    })
    .await
}
