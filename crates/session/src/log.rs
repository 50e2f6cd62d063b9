//! Entries of a ledger in words and as JSON: one form for the command line and the server.

use crate::{
    bar::printable,
    ledger::{Apart, Charged, Cost, DataSet, Earlier, Entry, Event, Renewing, Verified, Window},
    meaning::{amount, left},
    release::{Remaining, Spent},
};
use serde_json::{Value, json};

/// A ledger that holds together, as JSON.
pub fn verified_json(verified: &Verified) -> Value {
    json!({
        "verified": true, "charges": verified.charges, "recorded": verified.recorded,
        "lost": verified.lost_ids, "lost_count": verified.lost, "head": verified.head.to_string(),
        "earlier": earlier_json(&verified.earlier),
    })
}

/// What an entry says, in a line.
pub fn happened(event: &Event) -> String {
    match event {
        Event::Created => "ledger begun".to_string(),
        Event::Registered { unit, adjacency } => {
            format!("registered: {adjacency}, one {}", printable(&unit.to_string()))
        }
        Event::Anew { unit, adjacency, unit_before, adjacency_before, spent_before } => format!(
            "begun anew: {adjacency}, one {}; {} spent for one {} ({adjacency_before}) is kept, not counted",
            printable(&unit.to_string()),
            amount(&(&spent_before.approx).into()),
            printable(&unit_before.to_string())
        ),
        Event::Limited { limit, by } => {
            let what = limit
                .as_ref()
                .map_or("limit lifted".to_string(), |limit| format!("limit {}", left(&limit.into())));
            what + &by.as_ref().map_or(String::new(), |by| format!(" (by {})", printable(by)))
        }
        Event::Renews { renewing, by } => {
            let what = renewing.as_ref().map_or("limit for each window lifted".to_string(), renewing_words);
            what + &by.as_ref().map_or(String::new(), |by| format!(" (by {})", printable(by)))
        }
        Event::Confirmed { by } => {
            let by = by.as_ref().map_or(String::new(), |by| format!(" (by {})", printable(by)));
            format!("the clock is right{by}")
        }
        Event::Restored { by, bound: Some(bound) } => format!(
            "restored from an older copy: at most {} was spent in what is missing (by {})",
            amount(&(&bound.approx).into()),
            printable(by)
        ),
        Event::Restored { by, bound: None } => {
            format!("restored from an older copy: every limit counts as spent (by {})", printable(by))
        }
        Event::Gap { cost, .. } => {
            format!("{} counts as spent for entries that are missing", amount(&(&cost.approx).into()))
        }
        Event::Seen { cost, .. } => {
            format!("shown an answer of another; {} counts as seen", amount(&(&cost.approx).into()))
        }
        Event::Charged { cost, question, windows, .. } => {
            let question: Value = serde_json::from_str(question).unwrap_or_default();
            let text = |name: &str| question[name].as_str().unwrap_or_default().to_string();
            let column = printable(&text("column"));
            let statistic = printable(&text("statistic"));
            let asked = format!("charged {} for {statistic} {column}", amount(&(&cost.approx).into()));
            let names: Vec<String> = windows.iter().map(|(window, _)| window.name()).collect();
            let windows = match names.as_slice() {
                [] => String::new(),
                [first, .., last] if names.len() > 3 => {
                    format!(" in {} windows, {first} to {last}", names.len())
                }
                _ => format!(" in {}", names.join(", ")),
            };
            asked.trim_end().to_string() + &windows
        }
        Event::Recorded { .. } => "answer recorded".to_string(),
        // What lies on no disk is a table of a server, and its partitions.
        Event::Files { files } if files.iter().all(|id| id.words()[0] == 0) => match files.len() {
            1 => "is one table, known by its number on the server".to_string(),
            count => format!("is {count} tables of one, known by their numbers on the server"),
        },
        Event::Files { files } => match files.len() {
            1 => "is one file, known by its place on the disk".to_string(),
            count => format!("is {count} files, known by their places on the disk"),
        },
        Event::Apart(Apart { charged, path, data_set, cost, .. }) => {
            let (path, data_set) = (printable(path), printable(data_set));
            let cost = amount(&(&cost.approx).into());
            match charged {
                Charged::Here => format!("counted apart from the limit of {data_set} in {path}: {cost}"),
                Charged::There => {
                    format!("asked apart from this limit: {cost}, charged to {data_set} in {path}")
                }
            }
        }
        Event::Adopted { .. } => "the monitor goes on in one file".to_string(),
        Event::Acted { by, what } => format!("{} (by {})", printable(what), printable(by)),
        _ => "written by a newer version".to_string(),
    }
}

/// The same as JSON: a line of `budget log --json`.
pub fn entry_json(entry: &Entry) -> Value {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| json!(text));
    let event = match &entry.event {
        Event::Created => json!({"kind": "created"}),
        Event::Registered { unit, adjacency } => {
            json!({"kind": "registered", "unit": unit.to_string(), "adjacency": adjacency.to_string()})
        }
        Event::Anew { unit, adjacency, unit_before, adjacency_before, spent_before } => json!({
            "kind": "anew", "unit": unit.to_string(), "adjacency": adjacency.to_string(),
            "before": {
                "unit": unit_before.to_string(), "adjacency": adjacency_before.to_string(),
                "spent": Spent::from(&spent_before.approx),
            },
        }),
        Event::Limited { limit, by } => {
            let mut event = json!({"kind": "limited", "limit": limit.as_ref().map(Remaining::from)});
            if let Some(by) = by {
                event["by"] = by.as_str().into();
            }
            event
        }
        Event::Renews { renewing, by } => {
            let mut event = json!({"kind": "renews", "renewing": renewing.as_ref().map(renewing_json)});
            if let Some(by) = by {
                event["by"] = by.as_str().into();
            }
            event
        }
        Event::Confirmed { by } => json!({"kind": "confirmed", "by": by}),
        Event::Restored { by, bound } => json!({
            "kind": "restored", "by": by, "bound": bound.as_ref().map(|bound| Spent::from(&bound.approx)),
        }),
        Event::Gap { cost, spent } => json!({
            "kind": "gap", "cost": Spent::from(&cost.approx), "spent": Spent::from(&spent.approx),
        }),
        Event::Seen { answer, cost, spent } => json!({
            "kind": "seen", "answer": answer,
            "cost": Spent::from(&cost.approx), "spent": Spent::from(&spent.approx),
        }),
        Event::Charged { cost, request_id, request, question, spent, windows, .. } => {
            let mut event = json!({
                "kind": "charged",
                "cost": Spent::from(&cost.approx),
                "request_id": request_id,
                "request": parsed(request),
                "question": parsed(question),
                "spent": Spent::from(&spent.approx),
            });
            if !windows.is_empty() {
                let one = |(window, spent): &(Window, Cost)| json!({"window": window.name(), "spent": Spent::from(&spent.approx)});
                event["windows"] = windows.iter().map(one).collect();
            }
            event
        }
        Event::Recorded { release } => json!({"kind": "recorded", "release": parsed(release)}),
        Event::Files { files } => {
            json!({"kind": "files", "files": files.iter().map(ToString::to_string).collect::<Vec<_>>()})
        }
        Event::Apart(Apart { charged, ledger, path, data_set, cost }) => json!({
            "kind": "apart",
            "charged": match charged {
                Charged::Here => "here",
                Charged::There => "there",
            },
            "ledger": ledger, "path": path, "data": data_set, "cost": Spent::from(&cost.approx),
        }),
        Event::Adopted { file } => json!({"kind": "adopted", "file": file.to_string()}),
        Event::Acted { by, what } => json!({"kind": "acted", "by": by, "what": what}),
        _ => json!({"kind": "newer"}),
    };
    json!({
        "number": entry.number, "id": entry.id, "time": entry.time, "data": entry.data_set,
        "analyst": entry.analyst, "event": event, "hash": entry.hash,
    })
}

/// What may be spent in each calendar window, and what that leaves to whoever has rows in several.
pub fn renewing_words(renewing: &Renewing) -> String {
    let (every, limit) = (renewing.windows.every.name(), left(&(&renewing.limit).into()));
    match &renewing.windows.day {
        Some(day) => format!(
            "limit {limit} for the rows of each {every} by '{}' (UTC), which whoever has rows in n {every}s may lose n times",
            printable(&day.name)
        ),
        None => format!(
            "limit {limit} in each {every} of the ledger's time (UTC), which adds up for the same rows: {} in a year",
            left(&(&renewing.in_a_year()).into())
        ),
    }
}

/// The same as JSON.
pub fn renewing_json(renewing: &Renewing) -> Value {
    let day = renewing.windows.day.as_ref();
    json!({
        "every": renewing.windows.every.name(),
        "day": day.map(|day| json!({"column": day.name, "type": day.holds()})),
        "limit": Remaining::from(&renewing.limit),
        "in_a_year": day.is_none().then(|| Remaining::from(&renewing.in_a_year())),
    })
}

/// That so much was spent for another unit or adjacency, and that nothing in force bounds it.
pub fn earlier_words(earlier: &Earlier, now: &DataSet) -> String {
    format!(
        "{}: {} was spent for {} until {}; it is kept, not counted, and NOT bounded by the figures for {}",
        printable(&earlier.data_set.name),
        amount(&(&earlier.spent.approx).into()),
        earlier.data_set.words(),
        earlier.until,
        now.words()
    )
}

/// The same as JSON.
pub fn earlier_json(earlier: &[Earlier]) -> Vec<Value> {
    let one = |earlier: &Earlier| {
        json!({
            "data": earlier.data_set.name,
            "unit": earlier.data_set.unit.to_string(),
            "adjacency": earlier.data_set.adjacency.to_string(),
            "spent": Spent::from(&earlier.spent.approx),
            "charges": earlier.charges,
            "until": earlier.until,
            "bounded_by_figures_in_force": false,
        })
    };
    earlier.iter().map(one).collect()
}
