//! The log, one charge explained, and events that other accountants read.

use super::{
    Ledger,
    charge::{self, Recorded},
    cost::{self, Cost},
    entry::{Entry, Event, kind},
    entry_of,
    error::LedgerError,
    store::{self, ROW},
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Amount, Approx},
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

    /// What was spent, as JSON. For each data set: every charge in exact numbers, and under `event` all of
    /// them as one event in the form of `dp_accounting`, whose numbers are floats rounded up.
    ///
    /// A charge is an event of zero-concentrated privacy, because that is what `dp_accounting` knows of any
    /// mechanism. Where charges have a delta, the events hold outside of it: add `event_delta` to the delta
    /// that is computed from them. A charge without a known rho is an `UnsupportedDpEvent`.
    pub fn export(&self) -> Result<String, LedgerError> {
        let head = self.head()?;
        let mut data_sets: Vec<Exported> = Vec::new();
        for entry in self.log()? {
            let at = data_sets.iter().position(|known| Some(&known.name) == entry.data_set.as_ref());
            match (&entry.event, at) {
                (Event::Registered { unit, adjacency }, None) => data_sets.push(Exported {
                    name: entry.data_set.clone().unwrap_or_default(),
                    unit: unit.clone(),
                    adjacency: *adjacency,
                    charges: Vec::new(),
                    events: Vec::new(),
                    delta: Cost::nothing(),
                }),
                (Event::Charged { cost, question, .. }, Some(at)) => {
                    data_sets[at].add(&entry, cost, question);
                }
                _ => {}
            }
        }
        let data_sets: Vec<Value> = data_sets.into_iter().map(Exported::json).collect();
        let whole = json!({
            "ledger": head.ledger, "entries": head.entries, "hash": head.hash, "data_sets": data_sets,
        });
        Ok(whole.to_string())
    }
}

struct Exported {
    name: String,
    unit: Unit,
    adjacency: Adjacency,
    charges: Vec<Value>,
    events: Vec<Value>,
    /// Its delta is the sum of those that lie outside the events.
    delta: Cost,
}

impl Exported {
    fn add(&mut self, entry: &Entry, cost: &Cost, question: &str) {
        let mut exact = cost.to_json();
        exact["id"] = entry.id.clone().into();
        exact["time"] = entry.time.clone().into();
        exact["analyst"] = entry.analyst.clone().into();
        // The planner writes JSON; another caller's text stays text.
        exact["question"] = serde_json::from_str(question).unwrap_or_else(|_| question.into());
        self.charges.push(exact);
        self.events.push(match &cost.zcdp {
            Some(loss) => {
                let delta = Approx { eps: Amount::zero(), delta: loss.delta.clone() };
                self.delta = self.delta.plus(&Cost { approx: delta, zcdp: None });
                event("ZCDpEvent", &[("rho", float_up(&loss.rho).into()), ("xi", 0.0.into())])
            }
            None => event("UnsupportedDpEvent", &[]),
        });
    }

    fn json(self) -> Value {
        json!({
            "name": self.name,
            "unit": self.unit.to_string(),
            "adjacency": self.adjacency.to_string(),
            "charges": self.charges,
            "event": event("ComposedDpEvent", &[("events", self.events.into())]),
            "event_delta": cost::text(&self.delta.approx.delta),
        })
    }
}

/// An event with the names that `dp_accounting` gives to modules, classes and fields.
fn event(class: &str, fields: &[(&str, Value)]) -> Value {
    let mut event = json!({ "module_name": "dp_accounting.dp_event", "class_name": class });
    for (name, value) in fields {
        event[*name] = value.clone();
    }
    event
}

/// A float that is not below the number.
fn float_up(value: &Amount) -> f64 {
    let mut float = value.ratio().to_f64();
    while Ratio::from_f64_exact(float).is_some_and(|exact| exact < *value.ratio()) {
        float = float.next_up();
    }
    float
}
