//! Data sets: what is public of them, and what their stewards do.

use super::{allow, found};
use crate::{
    authorise::{Act, Caller, authorise},
    problem::Problem,
    rate::Counted,
    state::{State, delimiter},
    store::{Allowed, DataSource, Role},
};
use axum::http::StatusCode;
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Approx, Delta, Zcdp},
    ratio::Ratio,
    wording,
};
use equipoise_engine::{
    books::{Account, content_of},
    remote::{PostgresAddress, shown},
};
use equipoise_session::{
    ledger::{
        Accountant, Balance, DataSet, Event, Every, Expected, Ledger, Limit, Renewing, Windows, seconds_now,
        utc,
    },
    log::renewing_json,
    release::{Remaining, Spent, WindowStanding},
    source::Source,
    windows,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{collections::BTreeMap, io::Read, ops::ControlFlow};

/// The shortest and the longest time after which answers are shown, in seconds.
pub(super) const ANSWER_TIMES: std::ops::RangeInclusive<u64> = 1..=3600;
/// Where nothing was said.
const ANSWER_TIME: u64 = 2;

/// What a steward says of data.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registering {
    /// Its name in the ledger; the id unless it is said.
    pub name: Option<String>,
    /// Where it is, from a folder that the server was started with.
    pub path: String,
    /// The column that names the person; rows are protected without.
    pub unit: Option<String>,
    /// What one person may change.
    pub adjacency: Option<String>,
    /// What separates fields of CSV.
    pub delimiter: Option<String>,
    /// Whether the first line names the columns.
    pub header: Option<bool>,
    /// After how many seconds answers are shown.
    pub answer_time: Option<u64>,
}

/// A limit as it was said.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limiting {
    /// Epsilon in total.
    pub epsilon: Option<Number>,
    /// Rho in total.
    pub rho: Option<Number>,
    /// Delta in total.
    pub delta: Option<Number>,
    /// How charges are added up.
    pub accountant: Option<String>,
    /// For each of which calendar windows, beside the limit in total; `never` lifts it.
    pub every: Option<String>,
    /// The column of days by which rows lie in windows.
    pub day: Option<String>,
    /// Without such a column: the same rows may lose it again with every window, and that is known.
    pub adds_up: Option<bool>,
}

/// A number as it was typed.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// In quotes.
    Text(String),
    /// As JSON writes it.
    Number(serde_json::Number),
}

impl Number {
    /// As it was typed.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

/// All data sets that the caller may see.
pub fn list(state: &State, caller: &Caller) -> Result<Vec<Value>, Problem> {
    let sees = |data: &DataSource| authorise(caller, Act::See(data)).is_ok();
    if caller.role == Role::Operator {
        return Err(Problem::forbidden("your role does not include data"));
    }
    state
        .store
        .data_sets()
        .iter()
        .filter(|data| sees(data))
        .map(|data| document(state, caller, data))
        .collect()
}

/// One data set.
pub fn show(state: &State, caller: &Caller, id: &str) -> Result<Value, Problem> {
    let data = found(state, id)?;
    allow(caller, Act::See(&data))?;
    let mut shown = document(state, caller, &data)?;
    if authorise(caller, Act::SeeInside).is_ok() {
        let ledger = state.ledger()?;
        let spending = spending(&ledger, &data.name)?;
        for account in shown["analysts"].as_array_mut().into_iter().flatten() {
            account["last_asked"] =
                json!(account["analyst"].as_str().and_then(|name| spending.last.get(name)));
        }
        shown["days"] = spending.days();
        shown["same_content"] = json!(ledger.same_content_as(&data.name)?);
    }
    Ok(shown)
}

/// What is public of a data set, and what is left to the caller; stewards see more.
pub(super) fn document(state: &State, caller: &Caller, data: &DataSource) -> Result<Value, Problem> {
    let ledger = state.ledger()?;
    let registered = ledger.data_set(&data.name)?.ok_or_else(Problem::not_found)?;
    let asks = authorise(caller, Act::Ask(data)).is_ok();
    let balance = ledger.balance(&data.name, asks.then_some(caller.name.as_str()))?;
    let mut document = json!({
        "id": data.id, "data": data.name,
        "unit": registered.unit.to_string(), "adjacency": registered.adjacency.to_string(),
        "columns": columns(state, data), "answer_time": data.answer_time, "shared": data.shared,
        "programs": programs(caller, data),
        "spent": Spent::from(balance.spent()),
        "limit": balance.data_set.limit.as_ref().map(Remaining::from),
        "remaining": balance.remaining().as_ref().map(Remaining::from),
        "rights": rights(caller, data),
        "yours": own_account(&balance),
    });
    if let Some(renewing) = ledger.renewing(&data.name)? {
        document["renewing"] = renewing_json(&renewing);
        document["windows"] =
            ledger.windows(&data.name)?.iter().map(WindowStanding::from).map(|one| json!(one)).collect();
    }
    if authorise(caller, Act::SeeInside).is_ok() {
        document["path"] = shown(&data.path).into();
        document["delimiter"] = json!(data.delimiter);
        document["header"] = json!(data.header);
        document["grants"] = json!(data.grants);
        document["analysts"] = analysts(&ledger, data)?.into();
        let longest = state.desk.longest_scan(&data.id).map(|took| took.as_secs_f64());
        document["longest_scan"] = json!(longest.map(|seconds| (seconds * 10.0).ceil() / 10.0));
        let half = std::time::Duration::from_secs(data.answer_time) / 2;
        document["slow"] = state.desk.longest_scan(&data.id).is_some_and(|took| took > half).into();
    }
    Ok(document)
}

fn rights(caller: &Caller, data: &DataSource) -> Vec<&'static str> {
    let all = [
        ("plan", Act::Plan(data)),
        ("ask", Act::Ask(data)),
        ("manage", Act::Manage),
        ("review", Act::Review),
    ];
    all.into_iter().filter(|(_, act)| authorise(caller, *act).is_ok()).map(|(name, _)| name).collect()
}

/// The programs that may be asked for; a steward sees what they are made of.
fn programs(caller: &Caller, data: &DataSource) -> Vec<Value> {
    let inside = authorise(caller, Act::SeeInside).is_ok();
    let one = |(name, program): (&String, &Allowed)| {
        let mut document = json!({
            "name": name, "output": program.output, "range": program.range, "options": program.options,
            "default": program.default, "mechanism": program.mechanism, "blocks": program.blocks,
            "block_time": program.block_time(),
        });
        if inside {
            document["command"] = json!(program.command);
            document["shows"] = json!(program.shows);
            document["memory"] = program.memory.into();
            document["processes"] = program.processes.into();
            document["input"] = if program.arrow { "arrow" } else { "csv" }.into();
        }
        document
    };
    data.programs.iter().map(one).collect()
}

fn own_account(balance: &Balance) -> Option<Value> {
    let own = balance.analyst.as_ref()?;
    Some(json!({
        "spent": Spent::from(&own.spent.approx),
        "limit": own.limit.as_ref().map(Remaining::from),
        "remaining": own.remaining().as_ref().map(Remaining::from),
    }))
}

/// When and how much was asked, for stewards.
#[derive(Default)]
struct Spending {
    days: BTreeMap<String, (u64, Ratio)>,
    last: BTreeMap<String, String>,
}

/// So many days are shown.
const DAYS: usize = 14;

impl Spending {
    fn days(&self) -> Value {
        let later = self.days.iter().rev().take(DAYS);
        let one = |(day, (questions, spent)): (&String, &(u64, Ratio))| json!({ "day": day, "questions": questions, "epsilon": spent.to_string() });
        later.map(one).collect()
    }
}

fn spending(ledger: &Ledger, name: &str) -> Result<Spending, Problem> {
    let mut found = Spending::default();
    ledger.each_entry(Some(name), &mut |entry| {
        if let Event::Charged { cost, .. } = &entry.event {
            let day: String = entry.time.chars().take(10).collect();
            let (questions, spent) = found.days.entry(day).or_insert((0, Ratio::zero()));
            *questions += 1;
            *spent = &*spent + cost.approx.eps.ratio();
            found.last.insert(entry.analyst.clone().unwrap_or_default(), entry.time.clone());
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

fn analysts(ledger: &Ledger, data: &DataSource) -> Result<Vec<Value>, Problem> {
    let mut names = ledger.analysts(&data.name)?;
    names.extend(data.grants.iter().cloned());
    names.sort();
    names.dedup();
    let one = |name: &String| {
        let mut account = account_of(ledger, &data.name, name)?;
        account["granted"] = data.grants.contains(name).into();
        Ok(account)
    };
    names.iter().map(one).collect()
}

/// The names of the columns and the types that a schema declares; null where the data cannot be opened now.
fn columns(state: &State, data: &DataSource) -> Option<Vec<Value>> {
    let source = state.open_data(data).ok()?;
    Some(columns_of(&*source))
}

fn columns_of(source: &dyn Source) -> Vec<Value> {
    let kind = |place: usize| source.declared(place).map(|kind| kind.to_string());
    source
        .columns()
        .iter()
        .enumerate()
        .map(|(place, name)| json!({ "name": name, "type": kind(place) }))
        .collect()
}

/// Register data, or say anew where it is.
pub fn register(
    state: &State,
    caller: &Caller,
    id: &str,
    said: &Registering,
) -> Result<(StatusCode, Value), Problem> {
    allow(caller, Act::Manage)?;
    state.limiter.count(&caller.name, Counted::Change)?;
    check_id(id)?;
    let known = state.store.data_set(id);
    let name = said
        .name
        .clone()
        .or(known.as_ref().map(|known| known.name.clone()))
        .unwrap_or_else(|| id.to_string());
    let answer_time =
        said.answer_time.or(known.as_ref().map(|known| known.answer_time)).unwrap_or(ANSWER_TIME);
    check_answer_time(answer_time)?;
    if let Some(text) = &said.delimiter {
        delimiter(text)?;
    }
    let typed = std::path::Path::new(&said.path);
    let allowed = state.allowed_path(typed)?;
    // As whom a database is asked is for whoever starts the server to say, tomorrow too.
    let path = if PostgresAddress::is(typed) { typed.to_path_buf() } else { allowed.clone() };
    let data = DataSource {
        id: id.to_string(),
        name: name.clone(),
        path,
        delimiter: said.delimiter.clone(),
        header: said.header,
        answer_time,
        grants: std::collections::BTreeSet::new(),
        shared: false,
        programs: BTreeMap::new(),
    };
    let source = state
        .open_data(&data)
        .map_err(|_| Problem::wrong("this is no data that can be read; 'equipoise check' says why"))?;
    let mut ledger = state.ledger_to_write()?;
    let before = ledger.data_set(&name)?;
    if before.is_some() && known.is_none() {
        return Err(Problem::wrong("the ledger has a data set of this name already; give another name"));
    }
    let data_set = DataSet {
        name: name.clone(),
        unit: unit(said, before.as_ref(), &*source)?,
        adjacency: adjacency(said, before.as_ref())?,
    };
    state.expect(&ledger, &data);
    let mut content = content_of(&allowed).map_err(Problem::wrong)?;
    let registration =
        ledger.register(&data_set, content.as_mut().map(|content| content as &mut dyn Read))?;
    drop(ledger);
    let elsewhere = elsewhere(state, &data);
    state.store.put_data_set(data.clone())?;
    state.note(&caller.name, "registered where the data is and how it is read", Some(&name), None)?;
    let mut document = document(state, caller, &state.store.data_set(id).unwrap_or(data))?;
    document["same_content"] = json!(registration.same_content);
    document["elsewhere"] = json!(elsewhere);
    Ok((if known.is_none() { StatusCode::CREATED } else { StatusCode::OK }, document))
}

/// For the steward alone: who else counts what is spent on the same files.
fn elsewhere(state: &State, data: &DataSource) -> Vec<String> {
    let account =
        Account { ledger: state.settings.ledger(), name: data.name.clone(), expected: Expected::default() };
    let Ok(path) = state.allowed_path(&data.path) else { return Vec::new() };
    let known = account.known_elsewhere(&path).unwrap_or_default();
    known.iter().map(ToString::to_string).collect()
}

fn unit(said: &Registering, before: Option<&DataSet>, source: &dyn Source) -> Result<Unit, Problem> {
    match said.unit.as_deref() {
        None => Ok(before.map(|before| before.unit.clone()).unwrap_or_default()),
        Some("row") => Ok(Unit::Row),
        Some(column) if source.columns().iter().any(|known| known == column) => {
            Ok(Unit::Column(column.to_string()))
        }
        Some(column) => {
            Err(Problem::wrong(format!("there is no column '{}' to name people by", wording::shown(column))))
        }
    }
}

fn adjacency(said: &Registering, before: Option<&DataSet>) -> Result<Adjacency, Problem> {
    match said.adjacency.as_deref() {
        None => Ok(before.map(|before| before.adjacency).unwrap_or_default()),
        Some(text) => text.parse().map_err(|_| Problem::wrong("an adjacency is add-remove or replace")),
    }
}

/// What stands in addresses.
pub(super) fn check_id(id: &str) -> Result<(), Problem> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if (1..=64).contains(&id.len()) && id.chars().all(good) {
        return Ok(());
    }
    Err(Problem::wrong(
        "the id of a data set, or of a program, is 1 to 64 small letters, digits, '-' and '_'",
    ))
}

fn check_answer_time(seconds: u64) -> Result<(), Problem> {
    if ANSWER_TIMES.contains(&seconds) {
        return Ok(());
    }
    Err(Problem::wrong("answer_time is a whole number of seconds from 1 to 3600"))
}

/// Set what may be spent in total, by everybody or by one analyst.
pub fn limit(
    state: &State,
    caller: &Caller,
    id: &str,
    analyst: Option<&str>,
    said: &Limiting,
) -> Result<Value, Problem> {
    allow(caller, Act::Manage)?;
    state.limiter.count(&caller.name, Counted::Change)?;
    let data = found(state, id)?;
    allow(caller, Act::See(&data))?;
    if let Some(analyst) = analyst
        && state.store.member(analyst).is_none_or(|member| member.role != Role::Analyst)
    {
        return Err(Problem::wrong("there is no analyst of this name; invite one first"));
    }
    if let Some(every) = &said.every {
        if analyst.is_some() {
            return Err(Problem::wrong(
                "a limit for each window is of everybody together; set it without an analyst",
            ));
        }
        return limit_each(state, caller, &data, every, said);
    }
    if said.day.is_some() || said.adds_up.is_some() {
        return Err(Problem::wrong(
            "`day` and `adds_up` are for a limit for each window; say `every`, such as month",
        ));
    }
    let limit = read_limit(said)?;
    state.ledger_to_write()?.set_limit_by(&data.name, analyst, Some(&limit), Some(&caller.name))?;
    document(state, caller, &data)
}

/// Set what may be spent in each calendar window, or lift that.
fn limit_each(
    state: &State,
    caller: &Caller,
    data: &DataSource,
    every: &str,
    said: &Limiting,
) -> Result<Value, Problem> {
    let by = Some(caller.name.as_str());
    if every == "never" {
        state.ledger_to_write()?.set_renewing(&data.name, None, false, by)?;
        return document(state, caller, data);
    }
    let every: Every = every.parse().map_err(|()| {
        Problem::wrong("a window is a day, week, month, quarter or year; never lifts the limit")
    })?;
    let limit = read_limit(said)?;
    let day = match &said.day {
        None => None,
        Some(said) => {
            let source = state.open_data(data)?;
            Some(windows::day_column(said, source.columns(), |column| source.declared(column))?)
        }
    };
    let renewing = Renewing { windows: Windows { every, day }, limit };
    let adds_up = said.adds_up == Some(true);
    state.ledger_to_write()?.set_renewing(&data.name, Some(&renewing), adds_up, by)?;
    document(state, caller, data)
}

/// Say anew after how many seconds answers are shown. What was charged already keeps its time.
pub fn set_answer_time(state: &State, caller: &Caller, id: &str, seconds: u64) -> Result<Value, Problem> {
    allow(caller, Act::Manage)?;
    state.limiter.count(&caller.name, Counted::Change)?;
    check_answer_time(seconds)?;
    state.rollback.check()?;
    let data = DataSource { answer_time: seconds, ..found(state, id)? };
    state.store.put_data_set(data.clone())?;
    let what = format!("answers are shown {seconds} s after their charge");
    state.note(&caller.name, &what, Some(&data.name), None)?;
    document(state, caller, &data)
}

fn read_limit(said: &Limiting) -> Result<Limit, Problem> {
    let wrong = |error: &dyn std::fmt::Display| Problem::wrong(error.to_string());
    let delta: Delta = match &said.delta {
        None => Delta::zero(),
        Some(number) => number.text().parse().map_err(|error| wrong(&error))?,
    };
    match (&said.epsilon, &said.rho) {
        (Some(epsilon), None) => {
            let epsilon = epsilon.text().parse().map_err(|error| wrong(&error))?;
            let named = said.accountant.as_deref().unwrap_or("basic");
            let accountant = Accountant::ALL.into_iter().find(|known| known.name() == named);
            let accountant =
                accountant.ok_or_else(|| Problem::wrong("an accountant is basic, zcdp or renyi"))?;
            Limit::within(&epsilon, &delta, accountant).map_err(|error| wrong(&error))
        }
        (None, Some(rho)) => {
            let one = "1".parse().map_err(|error| wrong(&error))?;
            let delta = Approx::new(&one, &delta).delta;
            let rho = rho.text().parse().map_err(|error| wrong(&error))?;
            Ok(Limit::Zcdp(Zcdp { delta, ..Zcdp::new(&rho) }))
        }
        _ => Err(Problem::wrong("a limit is in epsilon or in rho; give one of them")),
    }
}

/// Let an analyst ask about data, or no more.
pub fn grant(
    state: &State,
    caller: &Caller,
    id: &str,
    analyst: &str,
    granted: bool,
) -> Result<Value, Problem> {
    allow(caller, Act::Manage)?;
    state.limiter.count(&caller.name, Counted::Change)?;
    state.rollback.check()?;
    let data = found(state, id)?;
    allow(caller, Act::See(&data))?;
    state.store.grant(id, analyst, granted)?;
    let what = if granted { "granted" } else { "revoked" };
    state.note(&caller.name, what, Some(&data.name), Some(analyst))?;
    document(state, caller, &state.store.data_set(id).unwrap_or(data))
}

/// Show answers that somebody paid for to others who may ask, or no more.
pub fn share(state: &State, caller: &Caller, id: &str, shared: bool) -> Result<Value, Problem> {
    allow(caller, Act::Manage)?;
    state.limiter.count(&caller.name, Counted::Change)?;
    state.rollback.check()?;
    let data = found(state, id)?;
    state.store.share(id, shared)?;
    let what = if shared {
        "answers are shown to others who may ask"
    } else {
        "answers are no longer shown to others"
    };
    state.note(&caller.name, what, Some(&data.name), None)?;
    document(state, caller, &state.store.data_set(id).unwrap_or(data))
}

/// What each analyst spent on a data set, and within which limit.
pub fn who_spent(ledger: &Ledger, name: &str) -> Result<Vec<Value>, Problem> {
    ledger.analysts(name)?.iter().map(|analyst| account_of(ledger, name, analyst)).collect()
}

fn account_of(ledger: &Ledger, name: &str, analyst: &str) -> Result<Value, Problem> {
    let mut account = own_account(&ledger.balance(name, Some(analyst))?).unwrap_or_default();
    account["analyst"] = analyst.into();
    Ok(account)
}

/// The time now, as the ledger writes it.
pub fn now() -> String {
    utc(seconds_now())
}
