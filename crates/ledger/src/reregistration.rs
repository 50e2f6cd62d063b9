//! A data set that begins anew for another unit or adjacency: by its steward's word alone, in the open, with nothing erased.
//!
//! # Guarantee
//!
//! - What is spent is added up for one unit and adjacency at a time, over all the time in which they were in force: a data set
//!   that comes back to an earlier unit takes up the sum it had. Nothing is ever counted down.
//! - Limits stay in force over the change and hold for what counts after it.
//! - Everything that was spent for another unit or adjacency is told ([`Ledger::earlier`]): a loss for one row bounds no
//!   person, so the figures in force say nothing about it.
//! - A request that was answered before is not given again under another unit: its request id is refused.
//!
//! # Why
//!
//! One entry says which unit and adjacency are in force from there on. Sums stand in the entries of charges, so that those of
//! one account are the last of its kind among the numbers between such entries. A program that does not know the entry
//! would count on for the old unit; the version of the file rises with it, and such a program refuses the file.

use super::{
    Fallible, Ledger,
    balance::account,
    chain::{self, Link},
    cost::Cost,
    entries::{Entries, values},
    entry::{self, Entry, Event, Row, kind},
    entry_of,
    error::{DataSetError, LedgerError, RegisterError, SpentForOthers},
    registry::{self, DataSet, check_name},
    renewing, store,
};

/// What was spent on a data set for a unit or an adjacency that is no longer in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// The data set with the unit and adjacency of that time.
    pub data_set: DataSet,
    /// What was spent for them.
    pub spent: Cost,
    /// In how many charges.
    pub charges: u64,
    /// When they went out of force.
    pub until: String,
}

/// From which entry on a unit and an adjacency are in force.
struct Era {
    from: i64,
    time: String,
    data_set: DataSet,
}

impl Ledger {
    /// Count for another unit or adjacency from now on, as the steward of the data set says. Where something was charged for
    /// those in force, only `knowing` that it is kept and no longer counted. What was spent before, if anything changed.
    ///
    /// Questions never do this.
    pub fn begin_anew(
        &mut self,
        data_set: &DataSet,
        knowing: bool,
    ) -> Result<Option<Earlier>, RegisterError> {
        check_name("data set", &data_set.name)?;
        self.write(|entries, coins| {
            let eras = eras(entries, &data_set.name)?;
            let Some(last) = eras.last() else {
                return Err(DataSetError::Unregistered { name: data_set.name.clone() }.into());
            };
            if last.data_set == *data_set {
                return Ok(None);
            }
            renewing::check_anew(entries, data_set)?;
            let (registered, spent) = (last.data_set.clone(), account(entries, &data_set.name, None)?.spent);
            let charges = count(entries, &data_set.name, &scope(&eras, &registered))?;
            if charges > 0 && !knowing {
                let requested = data_set.clone();
                let found = SpentForOthers { registered, requested, spent: spent.approx };
                return Err(DataSetError::Spent(Box::new(found)).into());
            }
            let body = entry::anew_body(data_set, &registered, &spent);
            let (id, name) = (store::fresh_id(coins), data_set.name.as_str());
            let link =
                Link { kind: kind::ANEW, id: &id, data_set: name, analyst: None, request_id: None, body };
            let row = chain::append(entries, link)?;
            entries.raise(store::WITH_ANEW)?;
            Ok(Some(Earlier { data_set: registered, spent, charges, until: row.time }))
        })
    }

    /// What was spent on a data set, or on all of them, for units and adjacencies that are not in force any more.
    pub fn earlier(&self, data_set: Option<&str>) -> Result<Vec<Earlier>, LedgerError> {
        self.read(|entries| earlier(entries, data_set))
    }

    /// Does this charge count for the unit and adjacency that are in force?
    pub fn counts(&self, charge: &Entry) -> Result<bool, LedgerError> {
        let Some(name) = &charge.data_set else { return Ok(false) };
        self.read(|entries| is_in_force(entries, name, i64::try_from(charge.number).unwrap_or(i64::MAX)))
    }
}

pub(super) fn earlier(entries: &dyn Entries, data_set: Option<&str>) -> Fallible<Vec<Earlier>> {
    let mut found = Vec::new();
    for name in changed(entries)?.iter().filter(|name| data_set.is_none_or(|only| only == *name)) {
        found.extend(out_of_force(entries, name)?);
    }
    Ok(found)
}

/// Is what was charged there part of the account in force?
pub(super) fn is_in_force(entries: &dyn Entries, name: &str, number: i64) -> Fallible<bool> {
    let eras = eras(entries, name)?;
    let at = eras.iter().rev().find(|era| era.from < number);
    Ok(at.zip(eras.last()).is_some_and(|(at, last)| at.data_set == last.data_set))
}

/// Which entries count for what is in force, as a condition to append; empty where all of them do.
pub(super) fn in_force(entries: &dyn Entries, name: &str) -> Fallible<String> {
    let eras = eras(entries, name)?;
    Ok(eras.last().map_or(String::new(), |last| scope(&eras, &last.data_set)))
}

/// What is registered under a name.
pub(super) fn current(entries: &dyn Entries, name: &str) -> Fallible<Option<DataSet>> {
    Ok(eras(entries, name)?.pop().map(|era| era.data_set))
}

/// What was registered under a name before an entry.
pub(super) fn before(entries: &dyn Entries, name: &str, number: i64) -> Fallible<Option<DataSet>> {
    let eras = eras(entries, name)?;
    Ok(eras.into_iter().rev().find(|era| era.from < number).map(|era| era.data_set))
}

fn eras(entries: &dyn Entries, name: &str) -> Fallible<Vec<Era>> {
    let mut eras: Vec<Era> = Vec::new();
    let condition = "kind IN (?1, ?2) AND data_set = ?3 ORDER BY number";
    for row in entries.all(condition, values![kind::REGISTER, kind::ANEW, name])? {
        if eras.is_empty() || row.kind == kind::ANEW {
            eras.push(Era { from: row.number, time: row.time.clone(), data_set: facts(&row)? });
        }
    }
    Ok(eras)
}

fn facts(row: &Row) -> Fallible<DataSet> {
    match entry_of(row)?.event {
        Event::Registered { unit, adjacency } | Event::Anew { unit, adjacency, .. } => {
            Ok(DataSet { name: row.data_set.clone(), unit, adjacency })
        }
        _ => unreachable!("a row of these kinds reads as such an event"),
    }
}

/// The entries that count for one unit and adjacency of a data set.
pub(super) struct Scope {
    pub data_set: DataSet,
    pub in_force: bool,
    /// To append to those on the kind and the name.
    pub condition: String,
}

/// Every unit and adjacency that a data set ever had, in the order in which they first came into force.
pub(super) fn accounts(entries: &dyn Entries) -> Fallible<Vec<Scope>> {
    let mut found: Vec<(i64, Scope)> = Vec::new();
    for name in registry::names(entries)? {
        let eras = eras(entries, &name)?;
        for (place, era) in eras.iter().enumerate() {
            if eras[..place].iter().any(|earlier| earlier.data_set == era.data_set) {
                continue;
            }
            let in_force = eras.last().is_some_and(|last| last.data_set == era.data_set);
            let condition = scope(&eras, &era.data_set);
            found.push((era.from, Scope { data_set: era.data_set.clone(), in_force, condition }));
        }
    }
    found.sort_by_key(|(from, _)| *from);
    Ok(found.into_iter().map(|(_, scope)| scope).collect())
}

/// The entries before this one that count for a unit and adjacency.
pub(super) fn scope_before(entries: &dyn Entries, data_set: &DataSet, number: i64) -> Fallible<String> {
    let mut eras = eras(entries, &data_set.name)?;
    eras.retain(|era| era.from < number);
    Ok(format!("{} AND number < {number}", scope(&eras, data_set)))
}

/// The entries from the times in which these were in force.
fn scope(eras: &[Era], data_set: &DataSet) -> String {
    if let [era] = eras
        && era.data_set == *data_set
    {
        return String::new();
    }
    let ends = eras.iter().skip(1).map(|era| era.from).chain([i64::MAX]);
    let spans = eras.iter().zip(ends).filter(|(era, _)| era.data_set == *data_set);
    let spans: Vec<String> =
        spans.map(|(era, end)| format!("number > {} AND number < {end}", era.from)).collect();
    // Of what was never in force there is nothing.
    if spans.is_empty() { "AND 1 = 0".to_string() } else { format!("AND ({})", spans.join(" OR ")) }
}

fn count(entries: &dyn Entries, name: &str, scope: &str) -> Fallible<u64> {
    let sql = format!("SELECT count(*) FROM entries WHERE kind = ?1 AND data_set = ?2 {scope}");
    Ok(entries.number(&sql, values![kind::CHARGE, name])?.unsigned_abs())
}

/// The data sets that ever began anew, in the order of their names.
fn changed(entries: &dyn Entries) -> Fallible<Vec<String>> {
    let sql = "SELECT DISTINCT data_set FROM entries WHERE kind = ?1 ORDER BY data_set";
    entries.texts(sql, values![kind::ANEW])
}

fn out_of_force(entries: &dyn Entries, name: &str) -> Fallible<Vec<Earlier>> {
    let eras = eras(entries, name)?;
    let mut found: Vec<Earlier> = Vec::new();
    for (era, next) in eras.iter().zip(eras.iter().skip(1)) {
        found.retain(|earlier| earlier.data_set != era.data_set);
        if eras.last().is_some_and(|last| last.data_set == era.data_set) {
            continue;
        }
        let scope = scope(&eras, &era.data_set);
        let charges = count(entries, name, &scope)?;
        if charges > 0 {
            let spent = super::balance::spent(entries, name, None, &scope)?;
            let (data_set, until) = (era.data_set.clone(), next.time.clone());
            found.push(Earlier { data_set, spent, charges, until });
        }
    }
    Ok(found)
}
