//! An answer: before its time, and afterwards with its picture, its table and what it promises.

use super::{
    Posted, Visitor,
    asking::address,
    page::{Page, html, text, words},
    then,
};
use crate::{
    acts::{
        questions,
        releases::{self, Seen},
        sql,
    },
    authorise::Caller,
    http::{Form, aside},
    problem::Problem,
    state::State,
};
use askama::Template;
use axum::{
    extract::{Path, RawQuery, State as Shared},
    http::{StatusCode, header},
    response::Response,
};
use equipoise_session::{
    answer::{BatchAnswer, Group},
    bar::{ErrorBar, printable, rounded, value},
    meaning,
    release::{Outcome, Release, Spent},
};
use equipoise_sql_front::{Cell, Rows};
use serde_json::Value;
use std::sync::Arc;

/// What the release of a monitor is called.
const MONITOR: &str = "monitor";
/// More rows than this are left to the JSON.
const MOST_ROWS: usize = 500;

#[derive(Template)]
#[template(path = "waiting.html")]
struct Waiting {
    page: Page,
    id: String,
    ready_at: String,
}

#[derive(Template)]
#[template(path = "answer.html")]
struct Answer {
    page: Page,
    id: String,
    headline: String,
    refused: bool,
    advice: Option<String>,
    instead: Option<(String, String, String)>,
    warnings: Vec<String>,
    caption: String,
    keyed: bool,
    key_name: String,
    rows: Vec<[String; 3]>,
    left_out: usize,
    promise: String,
    spent: String,
    left: String,
    time: String,
    explanation: String,
    data: Option<String>,
    /// The rows of the query that asked.
    query: Option<QueryRows>,
}

struct QueryRows {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    left_out: usize,
}

/// Rows of a query with their errors, for people.
fn of_query(found: &Rows) -> QueryRows {
    let cell = |cell: &Cell| match (&cell.value, &cell.error) {
        (Value::Null, _) if cell.refused => "refused".to_string(),
        (Value::Null, _) => "(empty)".to_string(),
        (of, Some(error)) => format!("{} ({})", rounded(of, Some(error)), words(&error.words(of))),
        (of, None) => value(of),
    };
    QueryRows {
        columns: found.columns.iter().map(|column| printable(&column.name)).collect(),
        rows: found.rows.iter().take(MOST_ROWS).map(|row| row.iter().map(cell).collect()).collect(),
        left_out: found.rows.len().saturating_sub(MOST_ROWS),
    }
}

/// The answer with this id.
pub async fn answer_page(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = Form::read(&query.unwrap_or_default()).get("sql").map(str::to_string);
    aside(&state, move |state| page(state, &caller, &id, query.as_deref())).await
}

/// Show an answer that another paid for, and go there.
pub async fn see(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    _form: Posted,
) -> Result<Response, Problem> {
    let path = format!("/answers/{}", printable(&id));
    aside(&state, move |state| questions::see(state, &caller, &id)).await?;
    Ok(then(&path))
}

fn page(state: &State, caller: &Caller, id: &str, query: Option<&str>) -> Result<Response, Problem> {
    match releases::read(state, caller, id)? {
        Seen::NotYet { ready_at, seconds } => {
            let page = Page::new("Waiting for the answer", Some(caller), "");
            let mut response = html(StatusCode::OK, &Waiting { page, id: id.to_string(), ready_at });
            response.headers_mut().insert(header::REFRESH, seconds.into());
            Ok(response)
        }
        Seen::Release(release) => {
            let explained = releases::explain(state, caller, id)?.unwrap_or_default();
            let mut shown = shown(state, caller, id, &release, &explained);
            // What is no query of this answer is left out: the answer stands.
            if let Some(Ok(Ok(rows))) =
                query.map(|query| sql::rows(state, caller, id, &sql::Querying::of(query)))
            {
                let many = rows.rows.len();
                shown.headline = if many == 1 { "1 row".to_string() } else { format!("{many} rows") };
                shown.page = Page::new("Answer to a query", Some(caller), "");
                shown.query = Some(of_query(&rows));
            }
            let mut response = html(StatusCode::OK, &shown);
            if let Some(witness) = releases::witness(state, &release) {
                response.extensions_mut().insert(witness);
            }
            Ok(response)
        }
    }
}

fn shown(state: &State, caller: &Caller, id: &str, release: &Release, explained: &Value) -> Answer {
    let refused = release.outcome == Outcome::Refused;
    let data = state.store.data_set_named(&release.data);
    let asked = question(&release.statistic, release.column.as_deref(), &release.group_by);
    let promise = &release.guarantee;
    let price = meaning::amount(&Spent { epsilon: promise.epsilon.clone(), delta: promise.delta.clone() });
    let instead = release.next_step.as_ref().zip(data.as_ref()).map(|(step, data)| {
        (address(&data.id, &step.request), meaning::amount(&step.charge), words(&step.why))
    });
    let mut rows = rows(release);
    let left_out = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let keyed = release.groups.is_some() || release.answers.is_some();
    let key_name = if release.group_by.is_empty() {
        "Question".to_string()
    } else {
        printable(&release.group_by.join(", "))
    };
    let rounded = || words(&meaning::outcome(release));
    Answer {
        page: Page::new(&asked, Some(caller), ""),
        id: id.to_string(),
        headline: if refused { "No answer: refused".to_string() } else { rounded() },
        refused,
        advice: release.advice.as_deref().map(words),
        instead,
        warnings: release.warnings.iter().map(|warning| words(warning)).collect(),
        caption: format!("{asked}, {}{}", printable(&release.data), filter(release)),
        keyed,
        key_name,
        rows,
        left_out,
        promise: format!(
            "{price} for {} ({}), by {}",
            meaning::protected_by(promise),
            promise.adjacency,
            release.mechanism
        ),
        spent: meaning::amount(&release.spent),
        left: release.remaining.as_ref().map_or("no limit".to_string(), meaning::left),
        time: release.receipt.as_ref().map_or(String::new(), |receipt| receipt.time.clone()),
        explanation: text(explained, "explanation"),
        data: data.map(|data| data.id),
        query: None,
    }
}

/// What was asked, in short.
fn question(statistic: &str, column: Option<&str>, group_by: &[String]) -> String {
    let of = column.map_or(String::new(), |column| format!(" of {}", printable(column)));
    let by =
        if group_by.is_empty() { String::new() } else { format!(" by {}", printable(&group_by.join(", "))) };
    format!("{statistic}{of}{by}")
}

fn filter(release: &Release) -> String {
    release.filter.as_ref().map_or(String::new(), |filter| format!(", where {}", printable(filter)))
}

/// A row for each answer: what it is of, the value, the error.
fn rows(release: &Release) -> Vec<[String; 3]> {
    if let Some(groups) = &release.groups {
        return groups.iter().flat_map(group).collect();
    }
    match &release.answers {
        // Of what is charged once and asked later there is nothing here, which is no answer about rows.
        None if release.statistic == MONITOR => {
            vec![[String::new(), "on the page Monitors".to_string(), "on the page Monitors".to_string()]]
        }
        Some(answers) => answers.iter().flat_map(item).collect(),
        None => vec![row(
            String::new(),
            release.outcome,
            &release.value,
            release.error.as_ref(),
            release.advice.as_deref(),
        )],
    }
}

fn key(group: &Group) -> String {
    match &group.key {
        Value::Null => "(empty)".to_string(),
        Value::Array(parts) => {
            let one = |part: &Value| if part.is_null() { "(empty)".to_string() } else { value(part) };
            parts.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        other => value(other),
    }
}

fn group(group: &Group) -> Vec<[String; 3]> {
    let name = key(group);
    match &group.answers {
        Some(answers) => answers
            .iter()
            .flat_map(item)
            .map(|[what, value, error]| [format!("{name}: {what}"), value, error])
            .collect(),
        None => vec![row(name, group.outcome, &group.value, group.error.as_ref(), group.advice.as_deref())],
    }
}

fn item(one: &BatchAnswer) -> Vec<[String; 3]> {
    let name = question(&one.statistic, one.column.as_deref(), &one.group_by);
    let named = |rows: Vec<[String; 3]>| {
        rows.into_iter().map(|[what, value, error]| [format!("{name}: {what}"), value, error]).collect()
    };
    match (&one.groups, &one.answers) {
        (Some(groups), _) => named(groups.iter().flat_map(group).collect()),
        (None, Some(answers)) => named(answers.iter().flat_map(item).collect()),
        (None, None) => vec![row(name, one.outcome, &one.value, one.error.as_ref(), one.advice.as_deref())],
    }
}

fn row(
    name: String,
    outcome: Outcome,
    of: &Value,
    error: Option<&ErrorBar>,
    advice: Option<&str>,
) -> [String; 3] {
    match outcome {
        Outcome::Refused => [name, "refused".to_string(), advice.map(words).unwrap_or_default()],
        Outcome::Released => [
            name,
            rounded(of, error),
            error.map_or("not stated".to_string(), |error| words(&error.words(of))),
        ],
    }
}
