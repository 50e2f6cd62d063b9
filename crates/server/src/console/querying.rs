//! A query in SQL: its text, its plan, and the charge.

use super::{
    Posted, Visitor,
    asking::{Planned, asked, planned},
    page::{Page, Tabs, html, text, words},
};
use crate::{
    acts::{data_sets, questions, sql},
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
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::sync::Arc;

type Answer = Result<Response, Problem>;

#[derive(Template)]
#[template(path = "sql.html")]
struct Querying {
    page: Page,
    tabs: Tabs,
    id: String,
    query: String,
    columns: Vec<String>,
    asked: bool,
    wrong: Option<String>,
    plan: Option<Planned>,
    asks: bool,
    key: String,
    answer_time: u64,
}

/// The form, and the plan of what it holds.
pub async fn sql_page(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Answer {
    let form = Form::read(&query.unwrap_or_default());
    let query = form.get("query").map(str::to_string);
    aside(&state, move |state| page(state, &caller, &id, query)).await
}

fn page(state: &State, caller: &Caller, id: &str, query: Option<String>) -> Answer {
    let document = data_sets::show(state, caller, id)?;
    let may = |right: &str| document["rights"].as_array().into_iter().flatten().any(|one| one == right);
    if !may("plan") {
        return Err(Problem::forbidden("your role does not include asking"));
    }
    let planning = query.as_ref().map(|query| {
        let (data, question) = sql::read(state, caller, &sql::Querying::of(query))?;
        // The page is of one data set, and so is what is asked on it.
        if data.id != id {
            return Err(Problem::wrong("this page is about another data set; FROM names it by its id"));
        }
        questions::plan(state, caller, id, &question)
    });
    let (mut wrong, mut plan) = (None, None);
    match planning {
        None => {}
        Some(Ok(document)) => plan = Some(planned(&document)),
        Some(Err(problem)) if problem.status == StatusCode::BAD_REQUEST => {
            wrong = Some(words(&problem.detail));
        }
        Some(Err(problem)) => return Err(problem),
    }
    let columns = document["columns"].as_array().into_iter().flatten();
    let example = format!("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1)\n  COUNT(*) AS n\nFROM {id}");
    let template = Querying {
        page: Page::new(&format!("Ask about {}", text(&document, "data")), Some(caller), ""),
        tabs: Tabs::of(&document, "sql"),
        id: id.to_string(),
        asked: query.is_some(),
        query: query.unwrap_or(example),
        columns: columns.map(|column| text(column, "name")).collect(),
        wrong,
        plan,
        asks: may("ask"),
        key: Secret::fresh().map_err(Problem::inside)?.hash(),
        answer_time: document["answer_time"].as_u64().unwrap_or_default(),
    };
    Ok(html(StatusCode::OK, &template))
}

/// Ask, and go to where the rows will be.
pub async fn ask(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    Posted(form): Posted,
) -> Answer {
    let query = form.get("query").ok_or_else(|| Problem::wrong("write a query"))?.to_string();
    let key = form.get("key").ok_or_else(|| Problem::wrong("open the form again"))?.to_string();
    let more = format!("?sql={}", utf8_percent_encode(&query, NON_ALPHANUMERIC));
    let by = caller.clone();
    let (data, question) =
        aside(&state, move |state| sql::read(state, &by, &sql::Querying::of(&query))).await?;
    if data.id != id {
        return Err(Problem::wrong("this page is about another data set; FROM names it by its id"));
    }
    asked(state, caller, id, key, question, &more).await
}
