//! The log, one charge explained, and events that other accountants read.

use super::{
    Ledger, chain,
    charge::{self, Recorded},
    cost::Cost,
    entries::{Value, values},
    entry::{Entry, Event, kind},
    entry_of,
    error::{Fault, LedgerError},
    registry::DataSet,
    reregistration,
};
use equipoise_core::{
    loss::{Amount, Approx},
    ratio::Ratio,
};
use serde_json::{Value as Json, json};
use std::ops::ControlFlow;

/// Takes a piece of text, and says whether more is wanted.
pub type Pieces<'a> = &'a mut dyn FnMut(&str) -> ControlFlow<()>;

impl Ledger {
    /// Every entry, or those of one data set, oldest first and one at a time, as long as more is wanted.
    pub fn each_entry(
        &self,
        data_set: Option<&str>,
        each: &mut dyn FnMut(&Entry) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        let last = self.read_whole(chain::last)?.map_or(0, |(number, _)| number);
        let range = (i64::MIN, last);
        let found = match &data_set {
            Some(data_set) => self.pages("data_set = ?1", &[data_set], range, each),
            None => self.pages("1 = 1", &[], range, each),
        };
        found.map(|_| ())
    }

    /// Every entry after a number, the same way.
    pub fn each_entry_after(
        &self,
        number: u64,
        each: &mut dyn FnMut(&Entry) -> ControlFlow<()>,
    ) -> Result<(), LedgerError> {
        let last = self.read_whole(chain::last)?.map_or(0, |(number, _)| number);
        let range = (i64::try_from(number).unwrap_or(i64::MAX), last);
        self.pages("1 = 1", &[], range, each).map(|_| ())
    }

    /// Entries after a number and up to another, some at a time: however long each takes, forks and other threads come in between. Entries are
    /// never changed, so these are of one state all the same.
    fn pages(
        &self,
        condition: &str,
        parameters: &[&str],
        (mut after, last): (i64, i64),
        each: &mut dyn FnMut(&Entry) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, LedgerError> {
        let (from, to) = (parameters.len() + 1, parameters.len() + 2);
        let condition =
            format!("{condition} AND number > ?{from} AND number <= ?{to} ORDER BY number LIMIT {AT_A_TIME}");
        loop {
            let page = self.read_whole(|entries| {
                let named = parameters.iter().copied().map(Value::from);
                let parameters: Vec<Value> = named.chain([after, last].map(Value::from)).collect();
                entries.all(&condition, &parameters)
            })?;
            after = page.last().map_or(after, |row| row.number);
            if page.is_empty() {
                return Ok(ControlFlow::Continue(()));
            }
            for row in page {
                let entry = entry_of(&row).map_err(|error| error.at(self.shared.place()))?;
                if each(&entry).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
    }

    /// The latest releases of a data set to this analyst, the last first, at most so many and none that is long.
    pub fn latest_records(
        &self,
        data_set: &str,
        analyst: Option<&str>,
        most: u32,
    ) -> Result<Vec<Recorded>, LedgerError> {
        let ledger = self.lasting_id();
        let condition = "kind = ?1 AND data_set = ?2 AND analyst = ?3 AND length(body) < ?4 ORDER BY number DESC LIMIT ?5";
        self.read(|entries| {
            let analyst = analyst.unwrap_or_default();
            let rows =
                entries.all(condition, values![kind::RECORD, data_set, analyst, SHORT, i64::from(most)])?;
            rows.into_iter().map(|row| charge::recorded(row, ledger.clone())).collect()
        })
    }

    /// The latest answers of a data set that others paid for and that were shown to this analyst, the last shown first, at most so many.
    pub fn latest_seen(
        &self,
        data_set: &str,
        analyst: &str,
        most: u32,
    ) -> Result<Vec<Recorded>, LedgerError> {
        let ledger = self.lasting_id();
        let condition = "kind = ?1 AND data_set = ?2 AND analyst = ?3 ORDER BY number DESC LIMIT ?4";
        self.read(|entries| {
            let mut found = Vec::new();
            for row in entries.all(condition, values![kind::SEEN, data_set, analyst, i64::from(most)])? {
                let Event::Seen { answer, .. } = entry_of(&row)?.event else { continue };
                if let Some(record) = charge::by_id(entries, kind::RECORD, &answer)? {
                    found.push(charge::recorded(record, ledger.clone())?);
                }
            }
            Ok(found)
        })
    }

    /// How many characters the longest name of an analyst has.
    pub fn longest_analyst(&self) -> Result<usize, LedgerError> {
        let sql = "SELECT coalesce(max(length(analyst)), 0) FROM entries \
                   WHERE kind IN ('charge', 'limit', 'seen')";
        let longest = self.read(|entries| entries.number(sql, &[]))?;
        Ok(usize::try_from(longest).unwrap_or(0))
    }

    /// Is there an entry with this hash?
    pub fn has_hash(&self, hash: &str) -> Result<bool, LedgerError> {
        self.read(|entries| entries.any("hash = ?1", values![&hash.to_ascii_lowercase()]))
    }

    /// The ids of charges that begin so; two where there are several.
    pub fn beginning_with(&self, beginning: &str) -> Result<Vec<String>, LedgerError> {
        let sql = "SELECT id FROM entries WHERE id >= ?1 AND id < ?2 AND kind = ?3 LIMIT 2";
        let end = format!("{beginning}\u{10ffff}");
        self.read(|entries| entries.texts(sql, values![beginning, &end, kind::CHARGE]))
    }

    /// The charge with this id, and its answer unless that was lost.
    pub fn find(&self, id: &str) -> Result<Option<(Entry, Option<Recorded>)>, LedgerError> {
        let ledger = self.lasting_id();
        self.read(|entries| {
            let Some(row) = charge::by_id(entries, kind::CHARGE, id)? else { return Ok(None) };
            let record = charge::by_id(entries, kind::RECORD, id)?;
            let record = record.map(|row| charge::recorded(row, ledger)).transpose()?;
            Ok(Some((entry_of(&row)?, record)))
        })
    }

    /// What was spent, as one document of JSON, in pieces. For each data set, and apart for each unit and adjacency it ever had:
    /// every charge in exact numbers, and under `event` all of them as one event in the form of `dp_accounting`, whose
    /// numbers are floats rounded up.
    ///
    /// A charge is an event of zero-concentrated privacy, because that is what `dp_accounting` knows of any
    /// mechanism. Where charges have a delta, the events hold outside of it: add `event_delta` to the delta
    /// that is computed from them. A charge without a known rho is an `UnsupportedDpEvent`.
    pub fn export(&self, out: Pieces<'_>) -> Result<(), LedgerError> {
        let (last, accounts) = self.read_whole(|entries| {
            let last = chain::last(entries)?.ok_or_else(|| Fault::damaged(0, "it has no entries"))?;
            Ok((last, reregistration::accounts(entries)?))
        })?;
        exported(self, &last, &accounts, out).map(|_| ())
    }
}

/// Releases of one number are shorter than this, in characters.
const SHORT: i64 = 1 << 14;

/// So many entries are read at a time.
const AT_A_TIME: usize = 64;

/// Go on with a piece, or stop where no more is wanted.
macro_rules! put {
    ($out:expr, $($text:tt)*) => {
        if $out(&format!($($text)*)).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    };
}

fn exported(
    ledger: &Ledger,
    (last, hash): &(i64, String),
    accounts: &[reregistration::Scope],
    out: Pieces<'_>,
) -> Result<ControlFlow<()>, LedgerError> {
    put!(
        out,
        "{{\"ledger\":{},\"entries\":{last},\"hash\":{},\"data_sets\":[",
        json!(ledger.id()),
        json!(hash)
    );
    for (place, account) in accounts.iter().enumerate() {
        if place > 0 {
            put!(out, ",");
        }
        if account_document(ledger, account, *last, out)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    put!(out, "]}}");
    Ok(ControlFlow::Continue(()))
}

/// What was charged to one account: read twice, so that no more than one charge is held at a time.
fn account_document(
    ledger: &Ledger,
    account: &reregistration::Scope,
    last: i64,
    out: Pieces<'_>,
) -> Result<ControlFlow<()>, LedgerError> {
    let note =
        "spent before the data set began anew for another unit or adjacency: no figure for those bounds it";
    let DataSet { name, unit, adjacency } = &account.data_set;
    let (unit, adjacency, in_force) = (unit.to_string(), adjacency.to_string(), account.in_force);
    put!(out, "{{\"name\":{},\"unit\":{},", json!(name), json!(unit));
    put!(out, "\"adjacency\":{},\"in_force\":{in_force},", json!(adjacency));
    put!(out, "\"note\":{},\"charges\":[", json!((!in_force).then_some(note)));
    // Its delta is the sum of those that lie outside the events.
    let mut delta = Cost::nothing();
    let listed = each_charge(ledger, account, last, |first, entry, cost, question| {
        if let Some(loss) = &cost.zcdp {
            let own = Approx { eps: Amount::zero(), delta: loss.delta.clone() };
            delta = delta.plus(&Cost { approx: own, zcdp: None });
        }
        out(&format!("{}{}", if first { "" } else { "," }, exact(entry, cost, question)))
    })?;
    if listed.is_break() {
        return Ok(listed);
    }
    put!(out, "],\"event\":{{\"module_name\":\"{MODULE}\",\"class_name\":\"ComposedDpEvent\",\"events\":[");
    let listed = each_charge(ledger, account, last, |first, _, cost, _| {
        let event = match &cost.zcdp {
            Some(loss) => event("ZCDpEvent", &[("rho", float_up(&loss.rho).into()), ("xi", 0.0.into())]),
            None => event("UnsupportedDpEvent", &[]),
        };
        out(&format!("{}{event}", if first { "" } else { "," }))
    })?;
    if listed.is_break() {
        return Ok(listed);
    }
    put!(out, "]}},\"event_delta\":{}}}", json!(delta.approx.delta.to_exact()));
    Ok(ControlFlow::Continue(()))
}

/// Every charge of an account: whether it is the first, the entry, its cost and its question.
fn each_charge(
    ledger: &Ledger,
    account: &reregistration::Scope,
    last: i64,
    mut each: impl FnMut(bool, &Entry, &Cost, &str) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, LedgerError> {
    // What counts for entries that are missing is part of what was spent.
    let counted = format!("(kind = ?1 OR (kind = '{}' AND analyst = ''))", kind::GAP);
    let condition = format!("{counted} AND data_set = ?2 {}", account.condition);
    let mut first = true;
    let parameters = [kind::CHARGE, account.data_set.name.as_str()];
    ledger.pages(&condition, &parameters, (i64::MIN, last), &mut |entry| {
        let (cost, question) = match &entry.event {
            Event::Charged { cost, question, .. } => (cost, question.as_str()),
            Event::Gap { cost, .. } => (cost, "entries that are missing"),
            _ => unreachable!("a row of these kinds reads as such an event"),
        };
        each(std::mem::take(&mut first), entry, cost, question)
    })
}

/// A charge in exact numbers.
fn exact(entry: &Entry, cost: &Cost, question: &str) -> Json {
    let mut exact = json!({ "epsilon": cost.approx.eps.to_exact(), "delta": cost.approx.delta.to_exact() });
    if let Some(loss) = &cost.zcdp {
        exact["rho"] = loss.rho.to_exact().into();
        exact["rho_delta"] = loss.delta.to_exact().into();
    }
    exact["id"] = entry.id.clone().into();
    exact["time"] = entry.time.clone().into();
    exact["analyst"] = entry.analyst.clone().into();
    if let Event::Charged { windows, .. } = &entry.event
        && !windows.is_empty()
    {
        exact["windows"] = windows.iter().map(|(window, _)| window.name()).collect();
    }
    // The planner writes JSON; another caller's text stays text.
    exact["question"] = serde_json::from_str(question).unwrap_or_else(|_| question.into());
    exact
}

/// Where the classes of events are.
const MODULE: &str = "dp_accounting.dp_event";

/// An event with the names that `dp_accounting` gives to modules, classes and fields.
fn event(class: &str, fields: &[(&str, Json)]) -> Json {
    let mut event = json!({ "module_name": MODULE, "class_name": class });
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
