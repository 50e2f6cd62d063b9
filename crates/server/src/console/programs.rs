//! Programs that a steward allows: the form with which one is asked for, its plan, the charge; and what stewards do with them.

use super::{
    Posted, Visitor,
    asking::{Planned, asked, planned},
    page::{Page, Tabs, html, text, words},
    then,
};
use crate::{
    acts::{
        data_sets::{self, Number},
        programs::{self, Allowing, Running},
        questions::{self, Question},
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
use serde_json::Value;
use std::{fmt::Write as _, sync::Arc};

type Answer = Result<Response, Problem>;

struct Program {
    name: String,
    prints: String,
    chosen: bool,
}

#[derive(Template)]
#[template(path = "program.html")]
struct Asking {
    page: Page,
    tabs: Tabs,
    id: String,
    programs: Vec<Program>,
    fields: Vec<(&'static str, &'static str, &'static str, String)>,
    asked: bool,
    wrong: Option<String>,
    plan: Option<Planned>,
    shown_after: u64,
    asks: bool,
    key: String,
    sent: Vec<(&'static str, String)>,
}

/// What the form asks for besides the program, what each is called there, and what it means.
const FIELDS: [(&str, &str, &str); 4] = [
    ("epsilon", "Epsilon", "the privacy loss: 0.1 is careful, 1 is usual, above 10 protects little"),
    ("delta", "Delta", "such as 1e-6; numbers with a range and labels with options need none"),
    ("blocks", "Blocks", "how many; what its steward said, where it is empty"),
    ("rows", "Rows", "the number of rows or people, where it is public"),
];

/// What a form asks for; nothing where it names no program.
fn running(form: &Form) -> Option<Running> {
    let number = |name: &str| form.get(name).map(|text| Number::Text(text.to_string()));
    Some(Running {
        program: form.get("program")?.to_string(),
        epsilon: number("epsilon"),
        delta: number("delta"),
        blocks: number("blocks"),
        rows: number("rows"),
        confidence: None,
    })
}

/// The form, and the plan of what it holds.
pub async fn programs_page(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Answer {
    let form = Form::read(&query.unwrap_or_default());
    aside(&state, move |state| page(state, &caller, &id, &form)).await
}

fn page(state: &State, caller: &Caller, id: &str, form: &Form) -> Answer {
    let document = data_sets::show(state, caller, id)?;
    let may = |right: &str| document["rights"].as_array().into_iter().flatten().any(|one| one == right);
    if !may("plan") {
        return Err(Problem::forbidden("your role does not include asking"));
    }
    let said = running(form);
    let chosen = form.get("program").unwrap_or_default();
    let planning = said.map(|said| {
        let question = Question::Program(Box::new(said));
        questions::plan(state, caller, id, &question)
    });
    let asked = planning.is_some();
    let (mut wrong, mut plan, mut shown_after) = (None, None, 0);
    match planning {
        None => {}
        Some(Ok(document)) => {
            shown_after = document["answer_time"].as_u64().unwrap_or_default();
            plan = Some(planned(&document));
        }
        Some(Err(problem)) if matches!(problem.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT) => {
            wrong = Some(words(&problem.detail));
        }
        Some(Err(problem)) => return Err(problem),
    }
    let list = document["programs"].as_array().into_iter().flatten();
    let program = |document: &Value| {
        let name = text(document, "name");
        Program { chosen: name == chosen, prints: prints(document), name }
    };
    let value = |name: &str| form.get(name).unwrap_or_default().to_string();
    let sent = ["program"].into_iter().chain(FIELDS.iter().map(|(name, ..)| *name));
    let template = Asking {
        page: Page::new(&format!("Ask about {}", text(&document, "data")), Some(caller), ""),
        tabs: Tabs::of(&document, "programs"),
        id: id.to_string(),
        programs: list.map(program).collect(),
        fields: FIELDS.iter().map(|&(name, label, help)| (name, label, help, value(name))).collect(),
        asked,
        wrong,
        plan,
        shown_after,
        asks: may("ask"),
        key: Secret::fresh().map_err(Problem::inside)?.hash(),
        sent: sent.filter_map(|name| Some((name, form.get(name)?.to_string()))).collect(),
    };
    Ok(html(StatusCode::OK, &template))
}

/// What a program answers with, in words.
pub fn prints(document: &Value) -> String {
    let mut line = text(document, "output");
    if let Some(range) = document["range"].as_str() {
        let _ = write!(line, " from {}", words(&range.replacen(',', " to ", 1)));
    }
    let options: Vec<&str> =
        document["options"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !options.is_empty() {
        let _ = write!(line, " among {}", words(&options.join(", ")));
    }
    let seconds = document["block_time"].as_f64().unwrap_or_default();
    format!("{line}; {seconds} s for each block")
}

/// Ask, and go to where the answer will be.
pub async fn ask(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    Posted(form): Posted,
) -> Answer {
    let said = running(&form).ok_or_else(|| Problem::wrong("choose a program"))?;
    let key = form.get("key").ok_or_else(|| Problem::wrong("open the form again"))?.to_string();
    asked(state, caller, id, key, Question::Program(Box::new(said)), "").await
}

/// Allow a program, or no more.
pub async fn allow(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    Posted(form): Posted,
) -> Answer {
    let path = format!("/data-sets/{id}#programs");
    let name = form.get("name").unwrap_or_default().to_string();
    if form.get("remove").is_some() {
        aside(&state, move |state| programs::remove(state, &caller, &id, &name)).await?;
        return Ok(then(&path));
    }
    let said = allowing(&form)?;
    aside(&state, move |state| programs::put(state, &caller, &id, &name, &said)).await?;
    Ok(then(&path))
}

fn allowing(form: &Form) -> Result<Allowing, Problem> {
    let text = |name: &str| form.get(name).map(str::to_string);
    let output = text("output").unwrap_or_default();
    let lines = |name: &str| -> Vec<String> {
        let lines = form.get(name).unwrap_or_default().lines().map(|line| line.trim_end_matches('\r'));
        lines.filter(|line| !line.is_empty()).map(str::to_string).collect()
    };
    let several = |text: &str| -> Vec<String> {
        text.split(',').map(|one| one.trim().to_string()).filter(|one| !one.is_empty()).collect()
    };
    let whole = |name: &'static str| {
        let wrong = |_| Problem::wrong(format!("{name} is a whole number"));
        form.get(name).map(|text| text.parse().map_err(wrong)).transpose()
    };
    let number = |text: &str| serde_json::from_str(text).ok().filter(Value::is_number);
    let default = form.get("default").map(|said| match output.as_str() {
        "number" => number(said).unwrap_or_else(|| said.into()),
        "label" => said.into(),
        "labels" => several(said).into(),
        _ => several(said).iter().map(|one| number(one).unwrap_or_else(|| one.as_str().into())).collect(),
    });
    let block_time = form.get("block_time").map(|text| {
        text.parse().map_err(|_| Problem::wrong("block_time is a number of seconds, such as 1 or 0.5"))
    });
    Ok(Allowing {
        command: lines("command"),
        shows: lines("shows"),
        range: text("range"),
        options: form.get("options").map(several),
        default,
        mechanism: None,
        blocks: whole("blocks")?,
        block_time: block_time.transpose()?,
        memory: None,
        processes: None,
        input: None,
        output,
    })
}
