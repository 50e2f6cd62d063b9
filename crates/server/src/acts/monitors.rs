//! Monitors: threshold questions about data that are paid for once. Answers leave on a grid of times.

use super::{allow, found};
use crate::{
    authorise::{Act, Caller},
    monitors::{self, Kept, Unwatched},
    problem::Problem,
    rate::Counted,
    secret::Secret,
    state::State,
    store::DataSource,
};
use axum::http::StatusCode;
use equipoise_session::{
    monitor::{MonitorRequest, OpenError},
    release::Spent,
    session::{PayError, Priced},
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

/// What is said of a monitor.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watching {
    /// The id of the data set.
    pub data_set: String,
    /// The privacy loss of all answers together.
    pub epsilon: Option<super::data_sets::Number>,
    /// Its delta, which a monitor needs.
    pub delta: Option<super::data_sets::Number>,
    /// To how many positive answers one unit may add before it drops out.
    pub budget_per_unit: Option<super::data_sets::Number>,
    /// The column that names people; the registered one unless it is said.
    pub unit: Option<String>,
    /// Sums will be asked for besides counts.
    #[serde(default)]
    pub sums: bool,
    /// Only what it would cost.
    #[serde(default)]
    pub dry_run: bool,
}

/// The first time of the grid after which answers leave. Each is twice the one before, so that how long rows took is told in
/// powers of two at most.
const TICK: Duration = Duration::from_millis(100);
/// So many questions at once.
const MOST_QUESTIONS: usize = 64;

/// What is said where something may have been charged.
const STANDS: &str =
    "the monitor cannot be taken up now; what was charged stands, and asking again charges nothing more";

/// The first time of the grid that is not over.
fn leaves_after(took: Duration) -> Duration {
    let mut tick = TICK;
    while tick < took {
        tick *= 2;
    }
    tick
}

/// Wait for the grid, whatever came out.
async fn on_the_grid<T>(work: impl Future<Output = T>) -> T {
    let began = Instant::now();
    let done = work.await;
    tokio::time::sleep_until((began + leaves_after(began.elapsed())).into()).await;
    done
}

/// Begin a monitor: plan, charge, read rows. Asking again under one key gives the same one.
pub async fn begin(
    state: Arc<State>,
    caller: Caller,
    key: String,
    said: Watching,
) -> Result<(StatusCode, Value), Problem> {
    // What it fails with says itself whether something was charged; what ends without a word may have been.
    let work = async {
        let begun = tokio::task::spawn_blocking(move || begun(&state, &caller, &key, &said));
        begun.await.unwrap_or_else(|_| Err(Problem::inside("a monitor ended without a word").saying(STANDS)))
    };
    on_the_grid(work).await
}

fn begun(state: &State, caller: &Caller, key: &str, said: &Watching) -> Result<(StatusCode, Value), Problem> {
    let data = found(state, &said.data_set)?;
    allow(caller, if said.dry_run { Act::Plan(&data) } else { Act::Ask(&data) })?;
    state.limiter.count(&caller.name, if said.dry_run { Counted::Plan } else { Counted::Question })?;
    let plan = monitors::plan(state, &data, &request(caller, &data, said))?;
    if said.dry_run {
        let balance = state.ledger()?.balance(&data.name, Some(&caller.name))?;
        return Ok((StatusCode::OK, plan.summary().document(Some(&balance))));
    }
    if key.is_empty() {
        return Err(Problem::wrong(
            "send an Idempotency-Key of 1 to 200 characters: asking again under it is free",
        ));
    }
    let _underway = state.desk.underway(&caller.name, key)?;
    let known = state.monitors.under(&caller.name, key);
    let is_new = known.is_none();
    let kept = match known {
        Some(known) if known.said == plan.asked() && known.data_set == data.id => known,
        Some(_) => {
            let line = "this key was used for another monitor; give this one a key of its own";
            return Err(super::questions::key_taken(line));
        }
        None => {
            if state.ledger()?.is_used(&caller.name, key)? {
                let line = "this key was used for a question; give this monitor a key of its own";
                return Err(super::questions::key_taken(line));
            }
            super::questions::limited(state, &data)?;
            state.rollback.check()?;
            let kept = Kept {
                id: Secret::fresh().map_err(Problem::inside)?.hash()[..32].to_string(),
                member: caller.name.clone(),
                data_set: data.id.clone(),
                key: key.to_string(),
                request: serde_json::from_str(&plan.asked()).map_err(Problem::inside)?,
                said: plan.asked(),
                time: super::data_sets::now(),
            };
            state.monitors.put(kept.clone())?;
            kept
        }
    };
    let _place = state.desk.place(&caller.name)?;
    let opened = state.monitors.with(state, &kept, &data, |monitor, _| Ok(monitor.receipt().clone()));
    match opened {
        Ok(receipt) => {
            if is_new {
                state.metrics.charges.fetch_add(1, Ordering::SeqCst);
            }
            let balance = state
                .ledger()
                .and_then(|ledger| Ok(ledger.balance(&data.name, Some(&caller.name))?))
                .map_err(|problem| problem.saying(STANDS))?;
            let document = json!({
                "id": kept.id, "data_set": data.id, "receipt": receipt,
                "charge": Spent::from(&plan.price()), "spent": Spent::from(balance.spent()),
                "scale": format!("{:.6}", plan.scale().to_f64()),
            });
            Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, document))
        }
        Err(error) => {
            // One that was paid for stays, whatever becomes of this start.
            let unpaid = matches!(
                &error,
                Unwatched::Problem(_) | Unwatched::Open(OpenError::Charge(_) | OpenError::State(_))
            );
            if is_new && unpaid {
                state.monitors.remove(&kept.id);
            }
            Err(told(state, &data, error))
        }
    }
}

fn request(caller: &Caller, data: &DataSource, said: &Watching) -> MonitorRequest {
    MonitorRequest {
        epsilon: said.epsilon.as_ref().map(super::data_sets::Number::text),
        delta: said.delta.as_ref().map(super::data_sets::Number::text),
        budget_per_unit: said.budget_per_unit.as_ref().map(super::data_sets::Number::text),
        unit: said.unit.clone(),
        adjacency: None,
        sums: said.sums,
        form: None,
        analyst: Some(caller.name.clone()),
        delimiter: data.delimiter.clone(),
        header: data.header,
    }
}

/// What went wrong, without a word of files.
fn told(state: &State, data: &DataSource, error: Unwatched) -> Problem {
    match error {
        Unwatched::Problem(problem) => *problem,
        Unwatched::Open(OpenError::Charge(error)) => {
            super::questions::with_who_spent(state, data, PayError::from(error).into())
        }
        Unwatched::Open(OpenError::Unread(_)) => {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, STANDS).exit(1)
        }
        Unwatched::Open(error) => Problem::inside(error).saying(STANDS),
        Unwatched::Ask(error) => Problem::inside(error).saying(STANDS),
    }
}

/// The monitor, for whoever asked for it; its history is for stewards and reviewers, too.
fn kept(state: &State, caller: &Caller, id: &str) -> Result<(Kept, DataSource), Problem> {
    let kept = state.monitors.get(id).ok_or_else(Problem::not_found)?;
    allow(caller, Act::Read { asked_by: &kept.member })?;
    let data = found(state, &kept.data_set)?;
    Ok((kept, data))
}

/// Monitors that the caller may see.
pub fn list(state: &State, caller: &Caller) -> Result<Vec<Value>, Problem> {
    if caller.role == crate::store::Role::Operator {
        return Err(Problem::forbidden("your role does not include data"));
    }
    let all = state.monitors.all().into_iter();
    let seen = all.filter(|kept| allow(caller, Act::Read { asked_by: &kept.member }).is_ok());
    Ok(seen.map(|kept| document(&kept)).collect())
}

fn document(kept: &Kept) -> Value {
    json!({
        "id": kept.id, "data_set": kept.data_set, "analyst": kept.member, "time": kept.time, "request": kept.request,
    })
}

/// Ask some threshold questions. Each is answered, or an error of its own; none costs anything more.
pub async fn ask(
    state: Arc<State>,
    caller: Caller,
    id: String,
    questions: Vec<Value>,
) -> Result<Value, Problem> {
    let work = crate::http::aside(&state, move |state| {
        let (kept, data) = kept(state, &caller, &id)?;
        if kept.member != caller.name {
            return Err(Problem::forbidden("only whoever began a monitor asks it"));
        }
        allow(&caller, Act::Ask(&data))?;
        state.limiter.count(&caller.name, Counted::Plan)?;
        state.rollback.check()?;
        let _pass = state.watching.enter(&caller.name)?;
        if questions.is_empty() || questions.len() > MOST_QUESTIONS {
            return Err(Problem::wrong(format!("send 1 to {MOST_QUESTIONS} questions at once")));
        }
        let lines: Vec<String> = questions.iter().map(Value::to_string).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let ledger = state.ledger()?;
        let answers = state
            .monitors
            .with(state, &kept, &data, |monitor, watched| monitor.ask(&lines, watched, &ledger));
        let answers = answers.map_err(|error| told(state, &data, error))?;
        Ok(json!({ "answers": answers }))
    });
    on_the_grid(work).await
}

/// Every question so far with its answer.
pub async fn history(state: Arc<State>, caller: Caller, id: String) -> Result<Value, Problem> {
    let work = crate::http::aside(&state, move |state| {
        let (kept, data) = kept(state, &caller, &id)?;
        // One that is not in memory reads its rows again.
        state.limiter.count(&caller.name, Counted::Plan)?;
        let _pass = state.watching.enter(&caller.name)?;
        if !state.monitors.is_begun(&kept.id) {
            let mut document = document(&kept);
            document["answers"] = json!([]);
            return Ok(document);
        }
        let answers =
            state.monitors.with(state, &kept, &data, |monitor, _| Ok(monitor.history().collect::<Vec<_>>()));
        let answers = answers.map_err(|error| told(state, &data, error))?;
        let mut document = document(&kept);
        document["answers"] = answers.into();
        Ok(document)
    });
    on_the_grid(work).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_leave_at_powers_of_two_of_a_tick() {
        let ms = Duration::from_millis;
        for (took, leaves) in [(0, 100), (100, 100), (101, 200), (399, 400), (5000, 6400)] {
            assert_eq!(leaves_after(ms(took)), ms(leaves), "{took}");
        }
    }
}
