//! The log, one charge explained, and events that other accountants read.

use super::{
    Ledger,
    charge::{self, Recorded},
    cost::Cost,
    entry::{Entry, Event, kind},
    entry_of,
    error::LedgerError,
    registry::DataSet,
    store::{self, ROW},
};
use equipoise_core::{
    loss::{Amount, Approx},
    ratio::Ratio,
};
use serde_json::{Value, json};

impl Ledger {
    /// Every entry, oldest first.
    pub fn log(&self) -> Result<Vec<Entry>, LedgerError> {
        self.read_whole(|connection| {
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
        let ledger = self.path().is_some().then(|| self.id().to_string());
        self.read(|connection| {
            let Some(row) = charge::by_id(connection, kind::CHARGE, id)? else { return Ok(None) };
            let record = charge::by_id(connection, kind::RECORD, id)?;
            let record = record.map(|row| charge::recorded(row, ledger)).transpose()?;
            Ok(Some((entry_of(&row)?, record)))
        })
    }

    /// What was spent, as JSON. For each data set, and apart for each unit and adjacency it ever had: every charge in exact numbers, and under `event` all of
    /// them as one event in the form of `dp_accounting`, whose numbers are floats rounded up.
    ///
    /// A charge is an event of zero-concentrated privacy, because that is what `dp_accounting` knows of any
    /// mechanism. Where charges have a delta, the events hold outside of it: add `event_delta` to the delta
    /// that is computed from them. A charge without a known rho is an `UnsupportedDpEvent`.
    pub fn export(&self) -> Result<String, LedgerError> {
        let head = self.head()?;
        let mut data_sets: Vec<Exported> = Vec::new();
        for entry in self.log()? {
            let name = entry.data_set.clone().unwrap_or_default();
            match &entry.event {
                Event::Registered { unit, adjacency } | Event::Anew { unit, adjacency, .. } => {
                    let data_set = DataSet { name, unit: unit.clone(), adjacency: *adjacency };
                    put_in_force(&mut data_sets, data_set);
                }
                Event::Charged { cost, question, .. } => {
                    let known =
                        data_sets.iter_mut().find(|known| known.in_force && known.data_set.name == name);
                    if let Some(known) = known {
                        known.add(&entry, cost, question);
                    }
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

/// The account of this unit and adjacency is the one that charges go to from here on.
fn put_in_force(data_sets: &mut Vec<Exported>, data_set: DataSet) {
    for known in data_sets.iter_mut().filter(|known| known.data_set.name == data_set.name) {
        known.in_force = known.data_set == data_set;
    }
    if !data_sets.iter().any(|known| known.data_set == data_set) {
        data_sets.push(Exported {
            data_set,
            in_force: true,
            charges: Vec::new(),
            events: Vec::new(),
            delta: Cost::nothing(),
        });
    }
}

struct Exported {
    data_set: DataSet,
    in_force: bool,
    charges: Vec<Value>,
    events: Vec<Value>,
    /// Its delta is the sum of those that lie outside the events.
    delta: Cost,
}

impl Exported {
    fn add(&mut self, entry: &Entry, cost: &Cost, question: &str) {
        let mut exact =
            json!({ "epsilon": cost.approx.eps.to_exact(), "delta": cost.approx.delta.to_exact() });
        if let Some(loss) = &cost.zcdp {
            exact["rho"] = loss.rho.to_exact().into();
            exact["rho_delta"] = loss.delta.to_exact().into();
        }
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
        let note = "spent before the data set began anew for another unit or adjacency: no figure for those bounds it";
        json!({
            "name": self.data_set.name,
            "unit": self.data_set.unit.to_string(),
            "adjacency": self.data_set.adjacency.to_string(),
            "in_force": self.in_force,
            "note": (!self.in_force).then_some(note),
            "charges": self.charges,
            "event": event("ComposedDpEvent", &[("events", self.events.into())]),
            "event_delta": self.delta.approx.delta.to_exact(),
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
