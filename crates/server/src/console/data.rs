//! The list of data sets, and one of them with what its steward does.

use super::{
    Posted, Visitor,
    page::{Page, html, left, spent, text},
    then,
};
use crate::{
    acts::data_sets::{self, Limiting, Number, Registering},
    authorise::{Act, authorise},
    http::aside,
    problem::Problem,
    state::State,
    store::Role,
};
use askama::Template;
use axum::{
    extract::{Path, State as Shared},
    http::StatusCode,
    response::Response,
};
use equipoise_core::ratio::Ratio;
use equipoise_session::bar::printable;
use serde_json::Value;
use std::sync::Arc;

type Answer = Result<Response, Problem>;

struct Row {
    id: String,
    name: String,
    unit: String,
    spent: String,
    left: String,
    own: String,
    share: Option<i64>,
}

#[derive(Template)]
#[template(path = "data_sets.html")]
struct DataSets {
    page: Page,
    rows: Vec<Row>,
    asks: bool,
    manages: bool,
}

/// Which share of its limit a data set has spent, in percent and rounded up.
fn share(document: &Value) -> Option<i64> {
    let number = |value: &Value| value["epsilon"].as_str()?.parse::<Ratio>().ok();
    let (spent, limit) = (number(&document["spent"])?, number(&document["limit"])?);
    if limit.is_zero() {
        return Some(100);
    }
    let share = spent * Ratio::from(100u64) * limit.recip();
    share.ceil_i64().map(|share| share.min(100))
}

/// All data sets that one may see.
pub async fn list_page(Shared(state): Shared<Arc<State>>, Visitor(caller): Visitor) -> Answer {
    if caller.role == Role::Operator {
        return Ok(then("/members"));
    }
    let by = caller.clone();
    let all = aside(&state, move |state| data_sets::list(state, &by)).await?;
    let row = |document: &Value| Row {
        id: text(document, "id"),
        name: text(document, "data"),
        unit: text(document, "unit"),
        spent: spent(&document["spent"]),
        left: left(&document["remaining"]),
        own: left(&document["yours"]["remaining"]),
        share: share(document),
    };
    let template = DataSets {
        page: Page::new("Data sets", Some(&caller), "/data-sets"),
        rows: all.iter().map(row).collect(),
        asks: caller.role == Role::Analyst,
        manages: authorise(&caller, Act::Manage).is_ok(),
    };
    Ok(html(StatusCode::OK, &template))
}

struct Day {
    date: String,
    questions: u64,
    epsilon: String,
    share: u64,
}

struct Analyst {
    name: String,
    limit: String,
    spent: String,
    last: String,
    granted: bool,
}

#[derive(Template)]
#[template(path = "data_set.html")]
#[expect(clippy::struct_excessive_bools, reason = "a page shows one by one what holds")]
struct DataSet {
    page: Page,
    id: String,
    unit: String,
    adjacency: String,
    limit: String,
    /// The limit for each calendar window, and what is left in those that something was charged in.
    renewing: Option<String>,
    windows: Vec<Standing>,
    spent: String,
    left: String,
    answer_time: u64,
    scan: Option<f64>,
    slow: bool,
    columns: Vec<String>,
    path: Option<String>,
    asks: bool,
    manages: bool,
    analysts: Vec<Analyst>,
    others: Vec<String>,
    shared: bool,
    same_content: Vec<String>,
    days: Vec<Day>,
    programs: Vec<Program>,
    runs: bool,
}

struct Program {
    name: String,
    command: String,
    prints: String,
}

struct Standing {
    window: String,
    spent: String,
    left: String,
}

fn standing(one: &Value) -> Standing {
    Standing { window: text(one, "window"), spent: spent(&one["spent"]), left: left(&one["remaining"]) }
}

/// The limit for each calendar window, in a line.
fn renewing(found: &Value) -> Option<String> {
    let (limit, every) = (left(&found["limit"]), found["every"].as_str()?);
    Some(match found["day"]["column"].as_str() {
        Some(day) => format!("{limit} for the rows of each {every} by {}", printable(day)),
        None => format!("{limit} in each {every}, which adds up to {} in a year", left(&found["in_a_year"])),
    })
}

/// One data set.
pub async fn show_page(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
) -> Answer {
    let by = caller.clone();
    let document = aside(&state, move |state| data_sets::show(state, &by, &id)).await?;
    let rights: Vec<&str> =
        document["rights"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let manages = rights.contains(&"manage");
    let analyst = |account: &Value| Analyst {
        name: text(account, "analyst"),
        limit: left(&account["limit"]),
        spent: spent(&account["spent"]),
        last: account["last_asked"].as_str().map_or("never".to_string(), printable),
        granted: account["granted"].as_bool().unwrap_or_default(),
    };
    let analysts: Vec<Analyst> = document["analysts"].as_array().into_iter().flatten().map(analyst).collect();
    let is_other = |member: &crate::store::Member| {
        member.active && member.role == Role::Analyst && !analysts.iter().any(|one| one.name == member.name)
    };
    let others = state.store.members().into_iter().filter(|member| manages && is_other(member));
    let others = others.map(|member| printable(&member.name)).collect();
    let columns = document["columns"].as_array().into_iter().flatten();
    let template = DataSet {
        page: Page::new(&text(&document, "data"), Some(&caller), ""),
        id: text(&document, "id"),
        unit: text(&document, "unit"),
        adjacency: text(&document, "adjacency"),
        limit: left(&document["limit"]),
        renewing: renewing(&document["renewing"]),
        windows: document["windows"].as_array().into_iter().flatten().map(standing).collect(),
        spent: spent(&document["spent"]),
        left: left(&document["remaining"]),
        answer_time: document["answer_time"].as_u64().unwrap_or_default(),
        scan: document["longest_scan"].as_f64(),
        slow: document["slow"].as_bool().unwrap_or_default(),
        columns: columns.map(|column| text(column, "name")).collect(),
        path: document["path"].as_str().map(printable),
        asks: rights.contains(&"ask"),
        manages,
        analysts,
        others,
        shared: document["shared"].as_bool().unwrap_or_default(),
        same_content: texts(&document["same_content"]),
        days: days(&document["days"]),
        programs: document["programs"].as_array().into_iter().flatten().map(program).collect(),
        runs: !state.settings.programs.is_empty(),
    };
    Ok(html(StatusCode::OK, &template))
}

fn program(document: &Value) -> Program {
    Program {
        name: text(document, "name"),
        command: texts(&document["command"]).join(" "),
        prints: super::programs::prints(document),
    }
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(printable).collect()
}

/// Days with their share of the day that spent most, in percent.
fn days(list: &Value) -> Vec<Day> {
    let number = |day: &Value| day["epsilon"].as_str().and_then(|text| text.parse::<Ratio>().ok());
    let all: Vec<&Value> = list.as_array().into_iter().flatten().collect();
    let most = all.iter().filter_map(|day| number(day)).max().filter(|most| !most.is_zero());
    let share = |day: &Value| {
        let (spent, most) = (number(day)?, most.as_ref()?);
        (spent * Ratio::from(100u64) * most.recip()).ceil_i64()?.try_into().ok()
    };
    let day = |day: &&Value| Day {
        date: text(day, "day"),
        questions: day["questions"].as_u64().unwrap_or_default(),
        epsilon: number(day).map_or(String::new(), |spent| spent.to_short_up(4, 8)),
        share: share(day).unwrap_or_default(),
    };
    all.iter().map(day).collect()
}

fn number(text: Option<&str>) -> Option<Number> {
    text.map(|text| Number::Text(text.to_string()))
}

fn seconds(text: Option<&str>) -> Result<Option<u64>, Problem> {
    text.map(|text| text.parse().map_err(|_| Problem::wrong("give a whole number of seconds"))).transpose()
}

/// Register data and set its limit.
pub async fn register(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Posted(form): Posted,
) -> Answer {
    let id = form.get("id").unwrap_or_default().to_string();
    let said = Registering {
        path: form.get("path").unwrap_or_default().to_string(),
        unit: form.get("unit").map(str::to_string),
        answer_time: seconds(form.get("answer_time"))?,
        ..Registering::default()
    };
    let limit = Limiting {
        epsilon: number(form.get("epsilon")),
        delta: number(form.get("delta")),
        ..Limiting::default()
    };
    let path = format!("/data-sets/{id}");
    aside(&state, move |state| {
        data_sets::register(state, &caller, &id, &said)?;
        data_sets::limit(state, &caller, &id, None, &limit)
    })
    .await?;
    Ok(then(&path))
}

/// Set a limit, of everybody or of one analyst.
pub async fn limit(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    Posted(form): Posted,
) -> Answer {
    let limit = Limiting {
        epsilon: number(form.get("epsilon")),
        delta: number(form.get("delta")),
        ..Limiting::default()
    };
    let (path, analyst) = (format!("/data-sets/{id}"), form.get("analyst").map(str::to_string));
    aside(&state, move |state| data_sets::limit(state, &caller, &id, analyst.as_deref(), &limit)).await?;
    Ok(then(&path))
}

/// Let an analyst ask, or no more.
pub async fn grant(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    Posted(form): Posted,
) -> Answer {
    let (path, granted) = (format!("/data-sets/{id}"), form.get("granted") == Some("yes"));
    let analyst = form.get("analyst").unwrap_or_default().to_string();
    aside(&state, move |state| data_sets::grant(state, &caller, &id, &analyst, granted)).await?;
    Ok(then(&path))
}

/// Show answers to others who may ask, or no more.
pub async fn share_answers(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    Posted(form): Posted,
) -> Answer {
    let (path, shared) = (format!("/data-sets/{id}"), form.get("shared") == Some("yes"));
    aside(&state, move |state| data_sets::share(state, &caller, &id, shared)).await?;
    Ok(then(&path))
}

/// Say anew after how many seconds answers are shown.
pub async fn answer_time(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    Posted(form): Posted,
) -> Answer {
    let (path, answer_time) = (format!("/data-sets/{id}"), seconds(form.get("answer_time"))?);
    aside(&state, move |state| {
        data_sets::set_answer_time(state, &caller, &id, answer_time.unwrap_or_default())
    })
    .await?;
    Ok(then(&path))
}
