//! The form of a question, its plan, and the charge.

use super::{
    Posted, Visitor,
    page::{Page, Tabs, html, left, spent, text, words},
    then,
};
use crate::{
    acts::{data_sets, questions, rehearsals},
    authorise::Caller,
    http::{Charge, Form, Witness, aside},
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
use equipoise_session::{
    bar::{printable, value},
    request::Request,
    statistic::{Argument, Statistic, Value as Kind},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use questions::Question;
use serde_json::Value;
use std::sync::Arc;

type Answer = Result<Response, Problem>;

/// What the form asks for, in this order, and what each is called there. The first are asked for mostly; the others are folded away.
const FIELDS: [(Argument, &str); 14] = [
    (Argument::Column, "Column"),
    (Argument::Where, "Where"),
    (Argument::GroupBy, "By"),
    (Argument::Epsilon, "Epsilon"),
    (Argument::Delta, "Delta"),
    (Argument::TargetError, "Or error within"),
    (Argument::Fraction, "Quantiles"),
    (Argument::K, "How many"),
    (Argument::Keys, "Groups, if public"),
    (Argument::Among, "Among"),
    (Argument::At, "At"),
    (Argument::Range, "Range"),
    (Argument::Bins, "Bins"),
    (Argument::Width, "Width of bins"),
];
/// So many of them are always shown.
const FIRST: usize = 6;

struct Field {
    name: &'static str,
    label: &'static str,
    help: String,
    value: String,
    columns: bool,
}

/// A plan, for people.
pub struct Planned {
    pub expected: String,
    pub cost: String,
    pub left: String,
    pub more: Option<String>,
    mechanism: String,
    unit: String,
    pub warnings: Vec<String>,
    /// What earlier answers tell of it: why it would be refused, and the form of what would not.
    pub refused: Option<(String, Option<String>)>,
    /// An answer to an equal question, and whether it was seen.
    answered: Option<(String, bool)>,
}

struct Tried {
    rows: u64,
    lines: Vec<String>,
}

#[derive(Template)]
#[template(path = "ask.html")]
struct Ask {
    page: Page,
    tabs: Tabs,
    id: String,
    statistics: Vec<(&'static str, bool)>,
    fields: Vec<Field>,
    others: Vec<Field>,
    others_said: bool,
    columns: Vec<String>,
    wrong: Option<String>,
    instead: Option<String>,
    plan: Option<Planned>,
    tried: Option<Tried>,
    asks: bool,
    key: String,
    sent: Vec<(&'static str, String)>,
    answer_time: u64,
}

/// The question that a form has; nothing where it names no statistic.
fn question(form: &Form) -> Option<Request> {
    let mut request = Request::new(form.get("statistic")?);
    for (argument, _) in FIELDS {
        let Some(text) = form.get(argument.name()) else { continue };
        match argument.value() {
            Kind::Texts => {
                let texts = text.split(',').map(|one| one.trim().to_string()).filter(|one| !one.is_empty());
                request.set_texts(argument, texts.collect());
            }
            _ => request.set_text(argument, Some(text.to_string())),
        }
    }
    Some(request)
}

/// The address of the form with this question filled in.
pub fn address(id: &str, request: &Request) -> String {
    let document = serde_json::to_value(request).unwrap_or_default();
    let said = document.as_object().into_iter().flatten().map(|(name, value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
            other => other.to_string(),
        };
        format!("{name}={}", utf8_percent_encode(&text, NON_ALPHANUMERIC))
    });
    format!("/data-sets/{id}/ask?{}", said.collect::<Vec<_>>().join("&"))
}

/// The form, and the plan of what it holds.
pub async fn ask_page(
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
    let asked = question(form).map(|request| Question::One(Box::new(request)));
    let planning = asked.as_ref().map(|asked| questions::plan(state, caller, id, asked));
    let (mut wrong, mut instead, mut plan, mut tried) = (None, None, None, None);
    match planning {
        None => {}
        Some(Ok(document)) => {
            let mut found = planned(&document);
            if let Some((_, instead)) = &mut found.refused {
                let step = document["would_be_refused"]["next_step"]["request"].clone();
                let request: Option<Request> = serde_json::from_value(step).ok();
                *instead = request.map(|request| address(id, &request));
            }
            plan = Some(found);
            if let (Some(asked), Some(_)) = (&asked, form.get("rehearse")) {
                let found = rehearsals::rehearse(state, caller, id, asked, REHEARSED)?;
                tried = Some(rehearsed(&found));
            }
        }
        Some(Err(problem)) if problem.status == StatusCode::BAD_REQUEST => {
            wrong = Some(words(&problem.detail));
            let step = problem.fields.get("next_step").map(|step| step["request"].clone());
            let request: Option<Request> = step.and_then(|step| serde_json::from_value(step).ok());
            instead = request.map(|request| address(id, &request));
        }
        Some(Err(problem)) => return Err(problem),
    }
    let chosen = form.get("statistic").unwrap_or(Statistic::Median.name());
    let field = |(argument, label): (Argument, &'static str)| Field {
        name: argument.name(),
        label,
        help: words(argument.help()),
        value: form.get(argument.name()).unwrap_or_default().to_string(),
        columns: matches!(argument, Argument::Column | Argument::GroupBy),
    };
    let sent = std::iter::once(("statistic", form.get("statistic")))
        .chain(FIELDS.into_iter().map(|(argument, _)| (argument.name(), form.get(argument.name()))));
    let template = Ask {
        page: Page::new(&format!("Ask about {}", text(&document, "data")), Some(caller), ""),
        tabs: Tabs::of(&document, "ask"),
        id: id.to_string(),
        statistics: Statistic::names().into_iter().map(|name| (name, name == chosen)).collect(),
        fields: FIELDS[..FIRST].iter().copied().map(field).collect(),
        others: FIELDS[FIRST..].iter().copied().map(field).collect(),
        others_said: FIELDS[FIRST..].iter().any(|(argument, _)| form.get(argument.name()).is_some()),
        columns: document["columns"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|column| text(column, "name"))
            .collect(),
        wrong,
        instead,
        plan,
        tried,
        asks: may("ask"),
        key: Secret::fresh().map_err(Problem::inside)?.hash(),
        sent: sent.filter_map(|(name, value)| Some((name, value?.to_string()))).collect(),
        answer_time: document["answer_time"].as_u64().unwrap_or_default(),
    };
    Ok(html(StatusCode::OK, &template))
}

/// A plan's document, for people.
pub fn planned(document: &Value) -> Planned {
    let remaining = &document["remaining"];
    let left = if remaining.is_null() {
        "no limit".to_string()
    } else {
        format!("{} left before it", left(remaining))
    };
    Planned {
        expected: words(document["expected"].as_str().unwrap_or_default()),
        cost: spent(&document["charge"]),
        left,
        more: more(&document["more_like_it"]),
        answered: document["answered"]["id"]
            .as_str()
            .map(|id| (printable(id), document["answered"]["seen"].as_bool().unwrap_or_default())),
        refused: document["would_be_refused"]["problem"].as_str().map(|why| (words(why), None)),
        mechanism: text(document, "mechanism"),
        unit: text(&document["guarantee"], "unit"),
        warnings: document["warnings"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(words)
            .collect(),
    }
}

/// So many answers are shown on made-up rows.
const REHEARSED: usize = 3;

/// How many questions of this price are left after it, where plain sums tell.
fn more(times: &Value) -> Option<String> {
    Some(match times.as_i64()? {
        ..0 => "its epsilon or its delta is more than is left".to_string(),
        0 => "none more like it".to_string(),
        times => format!("{times} more like it"),
    })
}

/// What came of made-up rows, a line for each time.
fn rehearsed(found: &Value) -> Tried {
    let line = |answer: &Value| {
        if answer["outcome"] == "refused" {
            return format!("refused: {}", words(answer["advice"].as_str().unwrap_or_default()));
        }
        let of = if answer["groups"].is_array() { &answer["groups"] } else { &answer["value"] };
        let text = value(of);
        if text.chars().count() <= 200 {
            return text;
        }
        text.chars().take(200).collect::<String>() + " ..."
    };
    Tried {
        rows: found["rows"].as_u64().unwrap_or_default(),
        lines: found["answers"].as_array().into_iter().flatten().map(line).collect(),
    }
}

/// Ask, and go to where the answer will be.
pub async fn ask(
    Shared(state): Shared<Arc<State>>,
    Visitor(caller): Visitor,
    Path(id): Path<String>,
    Posted(form): Posted,
) -> Answer {
    let request = question(&form).ok_or_else(|| Problem::wrong("choose a statistic"))?;
    let key = form.get("key").ok_or_else(|| Problem::wrong("open the form again"))?.to_string();
    asked(state, caller, id, key, Question::One(Box::new(request)), "").await
}

/// Ask, and go to where the answer will be, with what belongs to its address.
pub async fn asked(
    state: Arc<State>,
    caller: Caller,
    id: String,
    key: String,
    question: Question,
    more: &str,
) -> Answer {
    // What earlier answers tell of it stood beside the button.
    let asked = questions::ask(state, caller, id, key, question, true).await;
    // Somebody who presses twice means one question.
    let mut witness = None;
    let answer = match asked {
        Ok(accepted) => {
            witness = accepted.witness;
            accepted.id
        }
        Err(problem) if problem.status == StatusCode::CONFLICT => {
            match problem.fields.get("id").and_then(Value::as_str) {
                Some(id) => id.to_string(),
                None => return Err(problem),
            }
        }
        Err(problem) => return Err(problem),
    };
    let mut response = then(&format!("/answers/{}{more}", printable(&answer)));
    response.extensions_mut().insert(Charge(answer));
    if let Some(witness) = witness {
        response.extensions_mut().insert(Witness(witness));
    }
    Ok(response)
}
