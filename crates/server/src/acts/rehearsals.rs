//! A question tried on made-up rows: what its answer looks like and how it is refused, from names and types of columns alone.

use super::{
    allow, found,
    questions::{Question, planned},
};
use crate::{
    authorise::{Act, Caller},
    made_up::{MadeUp, ROWS},
    problem::Problem,
    rate::Counted,
    state::State,
};
use equipoise_core::adjacency::Unit;
use equipoise_session::simulate::{self, Series, simulate};
use serde_json::{Value, json};
use std::sync::PoisonError;

/// So many answers at most: they cost the server time and nobody anything else.
pub const MOST_TRIALS: usize = 1000;

/// Ask so many times on made-up rows. Reads the header or schema, and no row.
pub fn rehearse(
    state: &State,
    caller: &Caller,
    id: &str,
    question: &Question,
    trials: usize,
) -> Result<Value, Problem> {
    let data = found(state, id)?;
    allow(caller, Act::Plan(&data))?;
    state.limiter.count(&caller.name, Counted::Plan)?;
    question.read_as_registered()?;
    if !(1..=MOST_TRIALS).contains(&trials) {
        return Err(Problem::wrong(format!("trials is a whole number from 1 to {MOST_TRIALS}")));
    }
    let _pass = state.rehearsals.enter(&caller.name)?;
    let ledger = state.ledger()?;
    let (plan, source) = planned(state, &ledger, &data, question)?;
    if trials.saturating_mul(plan.parts().len()) > MOST_TRIALS {
        return Err(Problem::wrong(format!(
            "trials times questions is at most {MOST_TRIALS}; try fewer of them"
        )));
    }
    simulate::check(&plan)?;
    let unit = ledger.data_set(&data.name)?.and_then(|registered| match registered.unit {
        Unit::Column(name) => Some(name),
        Unit::Row => None,
    });
    let made_up = MadeUp::like(&*source, unit.as_deref());
    drop(source);
    let _one = state.rehearsing.lock().unwrap_or_else(PoisonError::into_inner);
    let found = simulate(&plan, &made_up, trials).map_err(Problem::inside)?;
    let values: Vec<Value> = found.trials.iter().map(|trial| trial.value().unwrap_or_default()).collect();
    let refused = found.trials.iter().filter(|trial| !trial.is_released()).count();
    Ok(json!({
        "made_up": true, "rows": ROWS, "trials": trials, "refused": refused, "values": values,
        "errors": found.trials.iter().map(|trial| json!(trial.error())).collect::<Vec<_>>(),
        "series": found.series.iter().map(Series::summary).collect::<Vec<_>>(),
        "answers": found.trials.iter().map(simulate::Trial::document).collect::<Vec<_>>(),
    }))
}
