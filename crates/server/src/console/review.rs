//! The ledger for reviewers: its entries, and whether it holds together.

use super::{
    Posted, Visitor,
    page::{Page, html, text},
    then,
};
use crate::{
    acts::{
        audits,
        data_sets::Number,
        review::{self, Restoring, Verifying},
    },
    authorise::{Act, Caller, authorise},
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
    ledger::{Entry, Event},
    log::happened,
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
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
    next: Option<String>,
    who: String,
    read_only: bool,
    manages: bool,
    witness: String,
    audit: Audit,
}

struct Audit {
    line: String,
    running: bool,
    rows: Vec<[String; 3]>,
}

/// What the audits found that ran here, in a line and as a table.
fn audit(found: &Value) -> Audit {
    let findings: Vec<&Value> = found["findings"].as_array().into_iter().flatten().collect();
    let (all, good) =
        (found["audits"].as_u64().unwrap_or_default(), found["good"].as_u64().unwrap_or_default());
    let running = found["running"].as_bool().unwrap_or_default();
    let version = text(found, "version");
    let line = match (running, found["finished"].as_str()) {
        (true, _) => format!(
            "Version {version}: {} of {all} audits have run, {good} of them well; they go on.",
            findings.len()
        ),
        (false, Some(time)) if good == all => {
            format!(
                "Version {version}: all claims hold and all broken mechanisms are caught, {all} audits, at {}.",
                printable(time)
            )
        }
        (false, Some(time)) => {
            format!("Version {version}: {} of {all} audits FAILED, at {}.", all - good, printable(time))
        }
        (false, None) => format!(
            "Version {version} has {all} audits; they have not run here yet. They take minutes of one core."
        ),
    };
    let row = |finding: &&Value| ["name", "kind", "verdict"].map(|name| text(finding, name));
    Audit { line, running, rows: findings.iter().map(row).collect() }
}

/// How long ago, in words.
fn ago(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s ago"),
        120..7200 => format!("{} min ago", seconds / 60),
        _ => format!("{} h ago", seconds / 3600),
    }
}

fn row(entry: &Entry) -> Row {
    // Whoever manages is named in the entry itself; whom it is about stands behind it.
    let manager = match &entry.event {
        Event::Acted { by, .. } | Event::Restored { by, .. } | Event::Limited { by: Some(by), .. } => {
            Some(by)
        }
        _ => None,
    };
    let words = happened(&entry.event);
    let (by, what) = match manager {
        None => (entry.analyst.as_deref(), words),
        Some(by) => {
            let what = words.strip_suffix(&format!(" (by {})", printable(by))).unwrap_or(&words).to_string();
            let about = entry.analyst.as_ref().map_or(String::new(), |whom| format!(": {}", printable(whom)));
            (Some(by.as_str()), what + &about)
        }
    };
    Row {
        number: entry.number,
        time: entry.time.clone(),
        who: by.map_or(String::new(), printable),
        what,
        data: entry.data_set.as_deref().map_or(String::new(), printable),
        hash: entry.hash.chars().take(10).collect(),
        answer: matches!(entry.event, Event::Charged { .. }).then(|| entry.id.clone()),
    }
}

fn page(state: &State, caller: &Caller, after: u64, who: &str, wrong: Option<String>) -> Answer {
    let found = review::entries_of(state, caller, after, PAGE + 1, who)?;
    let head = review::head(state, caller)?;
    let shown = &found[..found.len().min(PAGE)];
    let verification = &head["verified"];
    let line = verification["time"].as_str().map(|time| {
        let word = if verification["holds"] == true { "VERIFIED" } else { "NOT VERIFIED" };
        format!("{word} at {}: {}", printable(time), text(verification, "what"))
    });
    let witness = head["witness_agreed_seconds_ago"].as_u64();
    let template = Review {
        page: Page::new("Review", Some(caller), "/review"),
        ledger: text(&head, "ledger"),
        entries: head["entries"].as_u64().unwrap_or_default(),
        head: text(&head, "head"),
        holds: wrong.is_none() && verification["holds"] == true,
        verified: wrong.or(line),
        who: printable(who),
        read_only: head["read_only"] == true,
        manages: authorise(caller, Act::Manage).is_ok(),
        witness: witness.map_or(
            "No witness has come yet: clients that were answered send what they saw last.".to_string(),
            |seconds| format!("A witness agreed with the ledger {}.", ago(seconds)),
        ),
        audit: audit(&state.audits.document()),
        rows: shown.iter().map(row).collect(),
        after,
        next: shown.last().filter(|_| found.len() > PAGE).map(|last| {
            format!("/review?after={}&who={}", last.number, utf8_percent_encode(who, NON_ALPHANUMERIC))
        }),
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
    let who = query.get("who").unwrap_or_default().to_string();
    aside(&state, move |state| page(state, &caller, after, &who, None)).await
}

/// Recompute the whole ledger, and say what came of it.
pub async fn verify(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Posted(form): Posted,
) -> Answer {
    let said = Verifying { head: form.get("head").map(str::to_string) };
    aside(&state, move |state| {
        let wrong = match review::verify(state, &caller, &said) {
            Ok(_) => None,
            Err(problem) if matches!(problem.status, StatusCode::CONFLICT | StatusCode::BAD_REQUEST) => {
                Some(problem.detail)
            }
            Err(problem) => return Err(problem),
        };
        page(state, &caller, 0, "", wrong)
    })
    .await
}

/// Count what a restored copy lacks, and go on.
pub async fn restored(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Posted(form): Posted,
) -> Answer {
    let number = |name: &str| form.get(name).map(|text| Number::Text(text.to_string()));
    let said = Restoring { epsilon: number("epsilon"), delta: number("delta") };
    aside(&state, move |state| review::restored(state, &caller, &said)).await?;
    Ok(then("/review"))
}

/// Run the audits of this build.
pub async fn audit_now(Shared(state): Shared<Arc<State>>, Visitor(caller): Visitor, _form: Posted) -> Answer {
    audits::run(state, &caller)?;
    Ok(then("/review"))
}
