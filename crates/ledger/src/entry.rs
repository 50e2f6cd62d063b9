//! One entry of the ledger: a line of the log, and the text that is stored and hashed for it.

use super::{
    calendar::Window,
    cost::Cost,
    files::{Apart, Charged},
    limit::Limit,
    registry::DataSet,
    renewing::{DayColumn, InWindow, Renewing, Windows},
};
use crate::file_id::FileId;
use equipoise_core::adjacency::{Adjacency, Unit};
use serde_json::{Value, json};

/// A line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its place, counted from one.
    pub number: u64,
    /// Its id. A charge and the record of its answer share one.
    pub id: String,
    /// When it was made, in UTC, as RFC 3339.
    pub time: String,
    /// The data set; `None` for the entry that began the ledger.
    pub data_set: Option<String>,
    /// Who asked, or whose limit it is.
    pub analyst: Option<String>,
    /// What happened.
    pub event: Event,
    /// The hash of this entry and of all before it, in hexadecimal.
    pub hash: String,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "most entries are charges")]
pub enum Event {
    /// The ledger began; its id is the id of this entry.
    Created,
    /// A data set was registered, or its content was looked at again.
    Registered {
        /// Whose privacy is protected.
        unit: Unit,
        /// What one of them may change.
        adjacency: Adjacency,
    },
    /// By its steward's word the data set counts for another unit or adjacency from here on.
    Anew {
        /// Whose privacy is protected.
        unit: Unit,
        /// What one of them may change.
        adjacency: Adjacency,
        /// The unit until here.
        unit_before: Unit,
        /// The adjacency until here.
        adjacency_before: Adjacency,
        /// What was spent for them, which stays and is no longer counted.
        spent_before: Cost,
    },
    /// A limit was set, or lifted.
    Limited {
        /// What may be spent in total; `None` for no limit any more.
        limit: Option<Limit>,
        /// Who set it, where several people manage the ledger.
        by: Option<String>,
    },
    /// A limit for each calendar window was set, or lifted.
    Renews {
        /// What may be spent in each window; `None` for no such limit any more.
        renewing: Option<Renewing>,
        /// Who set it, where several people manage the ledger.
        by: Option<String>,
    },
    /// The clock is right, says the steward.
    Confirmed {
        /// Who says so, where several people manage the ledger.
        by: Option<String>,
    },
    /// A request was paid for.
    Charged {
        /// What it cost.
        cost: Cost,
        /// The id that came with the request.
        request_id: Option<String>,
        /// The request, as it was made.
        request: String,
        /// The question and the mechanism that answers it.
        question: String,
        /// What was spent on the data set with it.
        spent: Cost,
        /// What this analyst spent on the data set with it.
        spent_by_analyst: Option<Cost>,
        /// The windows that it counts in, and what was spent in each with it; none without a limit that renews.
        windows: Vec<(Window, Cost)>,
    },
    /// Which files the data set is, from here on.
    Files {
        /// The files.
        files: Vec<FileId>,
    },
    /// Something was asked apart from a limit that covers the same files.
    Apart(Apart),
    /// The monitor that a charge paid for goes on in this file only. The entry has the id of the charge.
    Adopted {
        /// The file of its state.
        file: FileId,
    },
    /// Somebody who manages the data changed who may ask, or what may be asked about; the entry names the data set and whom it is
    /// about, where there are such.
    Acted {
        /// Who did it.
        by: String,
        /// What, in a line.
        what: String,
    },
    /// The file is an older copy that was put back; what counts for the entries that are missing follows.
    Restored {
        /// Who says so.
        by: String,
        /// What was spent in the missing entries at most, where somebody stated it; otherwise every limit counts as spent.
        bound: Option<Cost>,
    },
    /// So much counts as spent, by everybody or by one analyst, for entries that are missing.
    Gap {
        /// How much.
        cost: Cost,
        /// What was spent with it.
        spent: Cost,
    },
    /// An analyst was shown an answer that another paid for.
    Seen {
        /// The id of its charge.
        answer: String,
        /// Its price, which counts as seen.
        cost: Cost,
        /// What the analyst has spent and seen with it.
        spent: Cost,
    },
    /// The answer to a charge, before it was shown.
    Recorded {
        /// The release without its receipt.
        release: String,
    },
}

/// A row of the table as it stands.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its place, counted from one.
    pub number: i64,
    /// Which event it is.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// When it was made.
    pub time: String,
    /// The data set, or nothing.
    pub data_set: String,
    /// Who asked or whom it is about, or nothing.
    pub analyst: String,
    /// The id that came with a request.
    pub request_id: Option<String>,
    /// What it says, as JSON.
    pub body: String,
    /// The hash of all of this and of what stands before it.
    pub hash: String,
}

/// The kinds of rows.
pub(super) mod kind {
    pub const CREATED: &str = "created";
    pub const REGISTER: &str = "register";
    pub const ANEW: &str = "anew";
    pub const LIMIT: &str = "limit";
    pub const RENEW: &str = "renew";
    pub const TIME: &str = "time";
    pub const CHARGE: &str = "charge";
    pub const RECORD: &str = "record";
    pub const FILES: &str = "files";
    pub const APART: &str = "apart";
    pub const ADOPT: &str = "adopt";
    pub const ACT: &str = "act";
    pub const RESTORED: &str = "restored";
    pub const GAP: &str = "gap";
    pub const SEEN: &str = "seen";
}

/// What a charge writes down.
pub(super) struct ChargeBody<'a> {
    pub cost: &'a Cost,
    pub request: &'a str,
    pub question: &'a str,
    pub spent: &'a Cost,
    pub spent_by_analyst: Option<&'a Cost>,
    pub windows: &'a [InWindow],
}

impl ChargeBody<'_> {
    pub fn text(&self) -> String {
        let mut body = json!({
            "cost": self.cost.to_json(),
            "request": self.request,
            "question": self.question,
            "spent": self.spent.to_json(),
            "spent_by_analyst": self.spent_by_analyst.map(Cost::to_json),
        });
        if !self.windows.is_empty() {
            let sum = |one: &InWindow| (one.window.to_string(), one.account.spent.to_json());
            body["windows"] = Value::Object(self.windows.iter().map(sum).collect());
        }
        body.to_string()
    }
}

/// What was spent in each window with a charge, as its body has it.
pub(super) fn sums_by_window(value: &Value) -> Option<Vec<(Window, Cost)>> {
    let sum = |(window, spent): (&String, &Value)| Some((window.parse().ok()?, Cost::from_json(spent)?));
    value.as_object()?.iter().map(sum).collect()
}

pub(super) fn created_body(version: i64, secret_hash: &str) -> String {
    json!({ "version": version, "secret": secret_hash }).to_string()
}

pub(super) fn register_body(unit: &Unit, adjacency: Adjacency, fingerprint: Option<&str>) -> String {
    json!({ "unit": unit_name(unit), "adjacency": adjacency.to_string(), "fingerprint": fingerprint })
        .to_string()
}

pub(super) fn anew_body(data_set: &DataSet, before: &DataSet, spent: &Cost) -> String {
    json!({
        "unit": unit_name(&data_set.unit),
        "adjacency": data_set.adjacency.to_string(),
        "before": {
            "unit": unit_name(&before.unit),
            "adjacency": before.adjacency.to_string(),
            "spent": spent.to_json(),
        },
    })
    .to_string()
}

fn unit_name(unit: &Unit) -> Option<&String> {
    match unit {
        Unit::Row => None,
        Unit::Column(name) => Some(name),
    }
}

fn unit_and_adjacency(body: &Value) -> Option<(Unit, Adjacency)> {
    let unit = match body.get("unit")? {
        Value::Null => Unit::Row,
        unit => Unit::Column(unit.as_str()?.to_string()),
    };
    Some((unit, body.get("adjacency")?.as_str()?.parse().ok()?))
}

pub(super) fn limit_body(limit: Option<&Limit>, by: Option<&str>) -> String {
    let mut body = json!({ "limit": limit.map(Limit::to_json) });
    if let Some(by) = by {
        body["by"] = by.into();
    }
    body.to_string()
}

pub(super) fn renew_body(renewing: Option<&Renewing>, by: Option<&str>) -> String {
    let windows = renewing.map(|renewing| &renewing.windows);
    let day = windows.and_then(|windows| windows.day.as_ref());
    let mut body = json!({
        "every": windows.map(|windows| windows.every.name()),
        "day": day.map(|day| json!({ "column": day.name, "type": day.holds() })),
        "limit": renewing.map(|renewing| renewing.limit.to_json()),
    });
    if let Some(by) = by {
        body["by"] = by.into();
    }
    body.to_string()
}

#[expect(clippy::option_option, reason = "unreadable, or a limit that no longer renews, or one that does")]
fn renews(body: &Value) -> Option<Option<Renewing>> {
    let every = match (body.get("every")?, body.get("limit")?) {
        (Value::Null, Value::Null) => return Some(None),
        (every, _) => every.as_str()?.parse().ok()?,
    };
    let day = match body.get("day")? {
        Value::Null => None,
        day => Some(DayColumn {
            name: day.get("column")?.as_str()?.to_string(),
            moments: match day.get("type")?.as_str()? {
                "timestamp" => true,
                "date" => false,
                _ => return None,
            },
        }),
    };
    Some(Some(Renewing { windows: Windows { every, day }, limit: Limit::from_json(body.get("limit")?)? }))
}

#[expect(clippy::option_option, reason = "unreadable, or nobody, or somebody")]
fn optional_by(body: &Value) -> Option<Option<String>> {
    match body.get("by") {
        None => Some(None),
        Some(by) => Some(Some(by.as_str()?.to_string())),
    }
}

pub(super) fn time_body(by: Option<&str>) -> String {
    by.map_or_else(|| json!({}), |by| json!({ "by": by })).to_string()
}

pub(super) fn restored_body(by: &str, bound: Option<&Cost>) -> String {
    json!({ "by": by, "bound": bound.map(Cost::to_json) }).to_string()
}

pub(super) fn gap_body(cost: &Cost, spent: &Cost) -> String {
    json!({ "cost": cost.to_json(), "spent": spent.to_json() }).to_string()
}

pub(super) fn seen_body(answer: &str, cost: &Cost, spent: &Cost) -> String {
    json!({ "answer": answer, "cost": cost.to_json(), "spent": spent.to_json() }).to_string()
}

pub(super) fn files_body(files: &[FileId]) -> String {
    json!({ "files": files.iter().map(FileId::to_string).collect::<Vec<_>>() }).to_string()
}

fn files(body: &Value) -> Option<Vec<FileId>> {
    body.get("files")?.as_array()?.iter().map(|file| file.as_str()?.parse().ok()).collect()
}

const HERE: &str = "here";
const THERE: &str = "there";

pub(super) fn apart_body(apart: &Apart) -> String {
    json!({
        "charged": match apart.charged {
            Charged::Here => HERE,
            Charged::There => THERE,
        },
        "ledger": apart.ledger,
        "path": apart.path,
        "data_set": apart.data_set,
        "cost": apart.cost.to_json(),
    })
    .to_string()
}

pub(super) fn act_body(by: &str, what: &str) -> String {
    json!({ "by": by, "what": what }).to_string()
}

pub(super) fn record_body(release: &str) -> String {
    // A release may be long: this writes it once.
    format!("{{\"release\":{}}}", serde_json::to_string(release).expect("a text is always JSON"))
}

impl Row {
    /// The entry that the row stands for, or what is wrong with the row.
    pub(super) fn entry(&self) -> Result<Entry, String> {
        let body: Value = serde_json::from_str(&self.body).map_err(|_| "its body is not JSON".to_string())?;
        let event =
            self.event(&body).ok_or_else(|| format!("its body is not that of the kind '{}'", self.kind))?;
        let optional = |text: &String| (!text.is_empty()).then(|| text.clone());
        Ok(Entry {
            number: u64::try_from(self.number).map_err(|_| "its number is negative".to_string())?,
            id: self.id.clone(),
            time: self.time.clone(),
            data_set: optional(&self.data_set),
            analyst: optional(&self.analyst),
            event,
            hash: self.hash.clone(),
        })
    }

    fn event(&self, body: &Value) -> Option<Event> {
        let text = |name: &str| body.get(name)?.as_str().map(str::to_string);
        Some(match self.kind.as_str() {
            kind::CREATED => Event::Created,
            kind::REGISTER => {
                let (unit, adjacency) = unit_and_adjacency(body)?;
                Event::Registered { unit, adjacency }
            }
            kind::ANEW => {
                let before = body.get("before")?;
                let (unit, adjacency) = unit_and_adjacency(body)?;
                let (unit_before, adjacency_before) = unit_and_adjacency(before)?;
                let spent_before = Cost::from_json(before.get("spent")?)?;
                Event::Anew { unit, adjacency, unit_before, adjacency_before, spent_before }
            }
            kind::LIMIT => Event::Limited {
                limit: match body.get("limit")? {
                    Value::Null => None,
                    limit => Some(Limit::from_json(limit)?),
                },
                by: optional_by(body)?,
            },
            kind::RENEW => Event::Renews { renewing: renews(body)?, by: optional_by(body)? },
            kind::TIME => Event::Confirmed { by: optional_by(body)? },
            kind::CHARGE => Event::Charged {
                cost: Cost::from_json(body.get("cost")?)?,
                request_id: self.request_id.clone(),
                request: text("request")?,
                question: text("question")?,
                spent: Cost::from_json(body.get("spent")?)?,
                spent_by_analyst: match body.get("spent_by_analyst")? {
                    Value::Null => None,
                    spent => Some(Cost::from_json(spent)?),
                },
                windows: body.get("windows").map_or(Some(Vec::new()), sums_by_window)?,
            },
            kind::RECORD => Event::Recorded { release: text("release")? },
            kind::ACT => Event::Acted { by: text("by")?, what: text("what")? },
            kind::RESTORED => Event::Restored {
                by: text("by")?,
                bound: match body.get("bound")? {
                    Value::Null => None,
                    bound => Some(Cost::from_json(bound)?),
                },
            },
            kind::GAP => Event::Gap {
                cost: Cost::from_json(body.get("cost")?)?,
                spent: Cost::from_json(body.get("spent")?)?,
            },
            kind::SEEN => Event::Seen {
                answer: text("answer")?,
                cost: Cost::from_json(body.get("cost")?)?,
                spent: Cost::from_json(body.get("spent")?)?,
            },
            kind::FILES => Event::Files { files: files(body)? },
            kind::ADOPT => match files(body)?[..] {
                [file] => Event::Adopted { file },
                _ => return None,
            },
            kind::APART => Event::Apart(Apart {
                charged: match text("charged")?.as_str() {
                    HERE => Charged::Here,
                    THERE => Charged::There,
                    _ => return None,
                },
                ledger: text("ledger")?,
                path: text("path")?,
                data_set: text("data_set")?,
                cost: Cost::from_json(body.get("cost")?)?,
            }),
            _ => return None,
        })
    }

    /// The fingerprint of a registration. It never leaves the ledger.
    pub(super) fn fingerprint(&self) -> Option<String> {
        let body: Value = serde_json::from_str(&self.body).ok()?;
        body.get("fingerprint")?.as_str().map(str::to_string)
    }

    /// What the first entry says about the layout and the secret.
    pub(super) fn created(&self) -> Option<(i64, String)> {
        let body: Value = serde_json::from_str(&self.body).ok()?;
        Some((body.get("version")?.as_i64()?, body.get("secret")?.as_str()?.to_string()))
    }
}
