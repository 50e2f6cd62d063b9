//! The log, one charge explained, and events that other accountants read.

use super::{
    Ledger,
    charge::{self, Recorded},
    entry::{Entry, Event, kind},
    entry_of,
    error::LedgerError,
    store::{self, ROW},
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::Amount,
    ratio::Ratio,
};
use serde_json::{Value, json};

impl Ledger {
    /// Every entry, oldest first.
    pub fn log(&self) -> Result<Vec<Entry>, LedgerError> {
        self.read(|connection| {
            let mut statement = connection.prepare(&format!("SELECT {ROW} FROM entries ORDER BY number"))?;
            let mut entries = Vec::new();
            for row in statement.query_map([], store::row)? {
                entries.push(entry_of(&row?)?);
            }
            Ok(entries)
        })
    }

    /// The charge with this id, and its answer unless that was lost.
    pub fn find(&self, id: &str) -> Result<Option<(Entry, Option<Recorded>)>, LedgerError> {
        let ledger = self.path.is_some().then(|| self.id.clone());
        self.read(|connection| {
            let Some(row) = charge::by_id(connection, kind::CHARGE, id)? else { return Ok(None) };
            let record = charge::by_id(connection, kind::RECORD, id)?;
            let record = record.map(|row| charge::recorded(row, ledger)).transpose()?;
            Ok(Some((entry_of(&row)?, record)))
        })
    }

    /// What was spent, as JSON. For each data set: the exact charges, and under `event` one composed event in
    /// the form of `dp_accounting`, whose numbers are floats rounded up.
    pub fn export(&self) -> Result<String, LedgerError> {
        let head = self.head()?;
        let mut data_sets: Vec<(String, Value, Vec<Value>, Vec<Value>)> = Vec::new();
        for entry in self.log()? {
            let Some(name) = entry.data_set.clone() else { continue };
            let at = data_sets.iter().position(|(known, ..)| *known == name);
            match (&entry.event, at) {
                (Event::Registered { unit, adjacency }, None) => {
                    data_sets.push((name, facts(unit, *adjacency), Vec::new(), Vec::new()));
                }
                (Event::Charged { .. }, Some(at)) => {
                    let (charge, event) = charged(&entry);
                    data_sets[at].2.push(charge);
                    data_sets[at].3.push(event);
                }
                _ => {}
            }
        }
        let data_sets: Vec<Value> = data_sets
            .into_iter()
            .map(|(name, facts, charges, events)| {
                json!({
                    "name": name,
                    "unit": facts["unit"],
                    "adjacency": facts["adjacency"],
                    "charges": charges,
                    "event": {
                        "module_name": EVENTS, "class_name": "ComposedDpEvent", "events": events,
                    },
                })
            })
            .collect();
        let whole = json!({
            "ledger": head.ledger, "entries": head.entries, "hash": head.hash, "data_sets": data_sets,
        });
        Ok(whole.to_string())
    }
}

/// Where the names of the events come from.
const EVENTS: &str = "dp_accounting.dp_event";

fn facts(unit: &Unit, adjacency: Adjacency) -> Value {
    json!({ "unit": unit.to_string(), "adjacency": adjacency.to_string() })
}

/// A charge in exact numbers, and as an event of (epsilon, delta).
fn charged(entry: &Entry) -> (Value, Value) {
    let Event::Charged { cost, question, .. } = &entry.event else { unreachable!("only charges come here") };
    let mut exact = cost.to_json();
    exact["id"] = entry.id.clone().into();
    exact["time"] = entry.time.clone().into();
    exact["analyst"] = entry.analyst.clone().into();
    // The planner writes JSON; another caller's text stays text.
    exact["question"] = serde_json::from_str(question).unwrap_or_else(|_| question.clone().into());
    let event = json!({
        "module_name": EVENTS,
        "class_name": "EpsilonDeltaDpEvent",
        "epsilon": float_up(&cost.approx.eps),
        "delta": float_up(&cost.approx.delta),
    });
    (exact, event)
}

/// A float that is not below the number.
fn float_up(value: &Amount) -> f64 {
    let mut float = value.ratio().to_f64();
    while Ratio::from_f64_exact(float).is_some_and(|exact| exact < *value.ratio()) {
        float = float.next_up();
    }
    float
}
