//! Monitors: the list, one with its questions and answers, and the form with which one is begun.

use super::{
    Posted, Visitor,
    asking::{Planned, planned},
    page::{Page, Tabs, html, text, words},
    then,
};
use crate::{
    acts::{
        data_sets::{self, Number},
        monitors::{self, Watching},
    },
    authorise::Caller,
    http::{Form, aside},
    problem::Problem,
    secret::Secret,
    state::State,
};
use askama::Template;
use axum::{
    extract::{Path, RawQuery, State as Shared},
    http::StatusCode,
    response::Response,
};
use equipoise_session::bar::{printable, value};
use serde_json::{Map, Value, json};
use std::sync::Arc;

type Answer = Result<Response, Problem>;

struct Row {
    id: String,
    data: String,
    analyst: String,
    promise: String,
    time: String,
}

/// What a monitor promises, as it was said.
fn promise(request: &Value) -> String {
    let said = |name: &str| match &request[name] {
        Value::Null => String::new(),
        other => value(other),
    };
    let sums = if request["sums"] == true { "counts and sums" } else { "counts" };
    format!(
        "epsilon {}, delta {}; each adds to 'above' at most {} times; {sums}",
        said("epsilon"),
        said("delta"),
        said("budget_per_unit")
    )
}

fn row(document: &Value) -> Row {
    Row {
        id: text(document, "id"),
        data: text(document, "data_set"),
        analyst: text(document, "analyst"),
        promise: promise(&document["request"]),
        time: text(document, "time"),
    }
}

#[derive(Template)]
#[template(path = "monitors.html")]
struct Monitors {
    page: Page,
    rows: Vec<Row>,
}

/// Those that one may see.
pub async fn list_page(Shared(state): Shared<Arc<State>>, Visitor(caller): Visitor) -> Answer {
    let all = monitors::list(&state, &caller)?;
    let page = Page::new("Monitors", Some(&caller), "/monitors");
    Ok(html(StatusCode::OK, &Monitors { page, rows: all.iter().map(row).collect() }))
}

#[derive(Template)]
#[template(path = "watch.html")]
struct Watch {
    page: Page,
    tabs: Tabs,
    id: String,
    fields: Vec<(&'static str, &'static str, &'static str, String)>,
    sums: bool,
    asked: bool,
    wrong: Option<String>,
    plan: Option<Planned>,
    asks: bool,
    key: String,
    sent: Vec<(&'static str, String)>,
}

/// What the form of a new monitor asks for, what each is called there, and what it means.
const FIELDS: [(&str, &str, &str); 3] = [
    ("epsilon", "Epsilon", "the privacy loss of all answers together, however many there are"),
    ("delta", "Delta", "such as 1e-6"),
    (
        "budget_per_unit",
        "Answers of each",
        "to how many answers of 'above' one person may add; then nothing of them is looked at any more",
    ),
];

fn watching(id: &str, form: &Form, dry_run: bool) -> Watching {
    let number = |name: &str| form.get(name).map(|text| Number::Text(text.to_string()));
    Watching {
        data_set: id.to_string(),
        epsilon: number("epsilon"),
        delta: number("delta"),
        budget_per_unit: number("budget_per_unit"),
        unit: None,
        sums: form.get("sums").is_some(),
        dry_run,
    }
}

/// The form of a new monitor, and the plan of what it holds.
pub async fn watch_page(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Answer {
    let form = Form::read(&query.unwrap_or_default());
    let (by, of) = (caller.clone(), id.clone());
    let document = aside(&state, move |state| data_sets::show(state, &by, &of)).await?;
    let may = |right: &str| document["rights"].as_array().into_iter().flatten().any(|one| one == right);
    if !may("plan") {
        return Err(Problem::forbidden("your role does not include asking"));
    }
    let asked = form.get("epsilon").is_some() || form.get("delta").is_some();
    let (mut wrong, mut plan) = (None, None);
    if asked {
        let said = watching(&id, &form, true);
        match monitors::begin(state.clone(), caller.clone(), String::new(), said).await {
            Ok((_, document)) => plan = Some(planned(&document)),
            Err(problem) if problem.status == StatusCode::BAD_REQUEST => wrong = Some(words(&problem.detail)),
            Err(problem) => return Err(problem),
        }
    }
    let value = |name: &str| form.get(name).unwrap_or_default().to_string();
    let sent = FIELDS.iter().map(|(name, ..)| *name).chain(["sums"]);
    let template = Watch {
        page: Page::new(&format!("Watch {}", text(&document, "data")), Some(&caller), ""),
        tabs: Tabs::of(&document, "watch"),
        fields: FIELDS.iter().map(|&(name, label, help)| (name, label, help, value(name))).collect(),
        sums: form.get("sums").is_some(),
        asked,
        wrong,
        plan,
        asks: may("ask"),
        key: Secret::fresh().map_err(Problem::inside)?.hash(),
        sent: sent.filter_map(|name| Some((name, form.get(name)?.to_string()))).collect(),
        id,
    };
    Ok(html(StatusCode::OK, &template))
}

/// Begin a monitor, and go there.
pub async fn begin(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    Posted(form): Posted,
) -> Answer {
    let key = form.get("key").ok_or_else(|| Problem::wrong("open the form again"))?.to_string();
    let (_, begun) = monitors::begin(state, caller, key, watching(&id, &form, false)).await?;
    Ok(then(&format!("/monitors/{}", text(&begun, "id"))))
}

struct Asked {
    number: u64,
    question: String,
    answer: &'static str,
}

#[derive(Template)]
#[template(path = "monitor.html")]
struct Monitor {
    page: Page,
    id: String,
    of: Row,
    columns: Vec<String>,
    asks: bool,
    sums: bool,
    wrong: Option<String>,
    fields: [String; 4],
    history: Vec<Asked>,
    left_out: usize,
}

/// So many of its last answers are shown.
const SHOWN: usize = 200;

/// One with its questions and answers.
pub async fn show_page(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
) -> Answer {
    page(state, caller, id, None, &Form::read("")).await
}

/// A question that was asked, in words.
fn question(asked: &Value) -> String {
    let said = |name: &str| match &asked[name] {
        Value::String(text) => printable(text),
        other => value(other),
    };
    let what = match (asked["sum"].as_str(), asked["where"].as_str()) {
        (Some(_), Some(_)) => {
            format!("sum of {} up to {}, where {}", said("sum"), said("most"), said("where"))
        }
        (Some(_), None) => format!("sum of {} up to {}", said("sum"), said("most")),
        _ => format!("count where {}", said("where")),
    };
    format!("{what}: at least about {}?", said("threshold"))
}

fn answer(outcome: &Value) -> &'static str {
    match outcome.as_str() {
        Some("above") => "yes, above",
        Some("below") => "no, below",
        Some("halted") => "halted",
        _ => "lost",
    }
}

async fn page(state: Arc<State>, caller: Caller, id: String, wrong: Option<String>, form: &Form) -> Answer {
    let document = monitors::history(state.clone(), caller.clone(), id.clone()).await?;
    let of = row(&document);
    let (by, data) = (caller.clone(), text(&document, "data_set"));
    // Whoever may read its answers need not be let in to its data any more.
    let data = aside(&state, move |state| data_sets::show(state, &by, &data)).await.unwrap_or_default();
    let answers: Vec<&Value> = document["answers"].as_array().into_iter().flatten().collect();
    let one = |line: &&Value| Asked {
        number: line["query"].as_u64().unwrap_or_default(),
        question: question(&line["asked"]),
        answer: answer(&line["answer"]),
    };
    let asks = data["rights"].as_array().into_iter().flatten().any(|right| right == "ask");
    let template = Monitor {
        page: Page::new(&format!("Monitor of {}", of.data), Some(&caller), ""),
        asks: asks && document["analyst"] == caller.name.as_str(),
        sums: document["request"]["sums"] == true,
        columns: data["columns"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|column| text(column, "name"))
            .collect(),
        wrong,
        fields: QUESTION.map(|name| form.get(name).unwrap_or_default().to_string()),
        history: answers.iter().rev().take(SHOWN).map(one).collect(),
        left_out: answers.len().saturating_sub(SHOWN),
        id,
        of,
    };
    Ok(html(StatusCode::OK, &template))
}

/// What a threshold question is made of.
const QUESTION: [&str; 4] = ["where", "threshold", "sum", "most"];

/// Ask a threshold question, and show the answer with the others.
pub async fn ask(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    Posted(form): Posted,
) -> Answer {
    let said = QUESTION.iter().filter_map(|name| Some(((*name).to_string(), json!(form.get(name)?))));
    let line: Map<String, Value> = said.collect();
    let answered = monitors::ask(state.clone(), caller.clone(), id.clone(), vec![line.into()]).await?;
    match answered["answers"][0]["error"].as_str() {
        // Nothing was spent on it.
        Some(wrong) => page(state, caller, id, Some(words(wrong)), &form).await,
        None => Ok(then(&format!("/monitors/{}", printable(&id)))),
    }
}
