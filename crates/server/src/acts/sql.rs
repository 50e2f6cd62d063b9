//! Queries in SQL about one data set: planned, charged and recorded as the questions that they ask; their rows are made of what was
//! released.

use super::{
    allow,
    questions::{Question, planned},
    releases::{self, Seen},
};
use crate::{
    authorise::{Act, Caller},
    problem::Problem,
    state::State,
    store::DataSource,
};
use equipoise_core::{adjacency::Unit, wording};
use equipoise_session::{ledger::Event, release::Release, request::Request};
use equipoise_sql_front::{Query, Rows, SqlError};
use serde::Deserialize;
use serde_json::{Map, Value};

/// So many characters a query has at most.
const LONGEST: usize = 20_000;

/// What is wrong with a query, with its place.
pub fn wrong(error: &SqlError) -> Problem {
    // What a join costs in time and memory can tell of one person.
    let alone = error
        .is_about_several()
        .then(|| error.clone().hint("a server answers queries about one data set; ask about each alone"));
    let error = alone.as_ref().unwrap_or(error);
    let mut problem = Problem::wrong(error.to_string());
    if let Some((line, column)) = error.position() {
        problem = problem.with("line", line).with("column", column);
    }
    if let Some(hint) = error.next_step() {
        problem = problem.with("hint", hint);
    }
    problem
}

/// A query as it was said.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Querying {
    /// Its text.
    pub query: String,
    /// The id of the data set, where FROM calls it otherwise.
    pub data_set: Option<String>,
    /// What the query does not say itself: epsilon, delta, confidence and so on, as in a question.
    #[serde(default)]
    pub given: Map<String, Value>,
    /// Only what it would cost.
    #[serde(default)]
    pub dry_run: bool,
}

impl Querying {
    /// A query that says everything.
    pub fn of(text: &str) -> Self {
        Self { query: text.to_string(), ..Self::default() }
    }
}

/// A query and the data set that it is about, which is named by its id.
pub fn read(state: &State, caller: &Caller, said: &Querying) -> Result<(DataSource, Question), Problem> {
    let text = said.query.as_str();
    if text.chars().count() > LONGEST {
        return Err(Problem::wrong(format!("a query has at most {LONGEST} characters")));
    }
    let mut given = said.given.clone();
    given.insert("statistic".into(), "".into());
    let given = Request::from_json(&Value::Object(given).to_string())?;
    let query = Query::read(text, &given).map_err(|error| wrong(&error))?;
    let named = said.data_set.as_ref().unwrap_or(&query.table().name);
    let data = state.store.data_set(named).filter(|data| allow(caller, Act::See(data)).is_ok());
    let Some(data) = data else {
        let problem = format!(
            "there is no data set '{}' that you may ask about; FROM names one by its id",
            wording::shown(named)
        );
        return Err(wrong(&query.wrong_table(problem)));
    };
    let registered = state.ledger()?.data_set(&data.name)?;
    // The unit that is registered is as good as one that is named, and part of what is charged.
    let unit = registered.and_then(|registered| match registered.unit {
        Unit::Column(name) if query.batch().shared.unit.is_none() => Some(name),
        _ => None,
    });
    let query = match unit {
        None => query,
        unit => Query::read(text, &Request { unit, ..given }).map_err(|error| wrong(&error))?,
    };
    Ok((data, Question::Sql(Box::new(query))))
}

/// The rows of a query from the answer that it was given; nothing while that is still to come.
pub fn rows(
    state: &State,
    caller: &Caller,
    id: &str,
    said: &Querying,
) -> Result<Result<Rows, (String, u64)>, Problem> {
    let release = match releases::read(state, caller, id)? {
        Seen::NotYet { ready_at, seconds } => return Ok(Err((ready_at, seconds))),
        Seen::Release(release) => release,
    };
    Ok(Ok(of_release(state, caller, id, said, &release)?))
}

fn of_release(
    state: &State,
    caller: &Caller,
    id: &str,
    said: &Querying,
    release: &Release,
) -> Result<Rows, Problem> {
    let (data, question) = read(state, caller, said)?;
    let ledger = state.ledger()?;
    let asked = match ledger.find(id)? {
        Some((entry, _)) if entry.data_set.as_deref() == Some(data.name.as_str()) => match entry.event {
            Event::Charged { request, .. } => request,
            _ => String::new(),
        },
        _ => String::new(),
    };
    let (plan, _) = planned(state, &ledger, &data, &question)?;
    match question {
        Question::Sql(query) if plan.asked() == asked => Ok(query.rows(release)),
        _ => Err(Problem::wrong("this query is not the one that the answer was given to")),
    }
}
