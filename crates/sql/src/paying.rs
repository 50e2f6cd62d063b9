//! Which data sets pay for a query about several tables, and why they cannot.

use equipoise_core::adjacency::{Adjacency, Unit};
use equipoise_session::{
    ledger::{DataSet, Ledger, LedgerError},
    plan::Plan,
    session::Priced as _,
};

/// Why a query about several tables is not charged, for free.
#[derive(Debug)]
pub enum Unpayable {
    /// The first data set, of this name, does not count for people who are added or removed.
    NotPeople(String),
    /// This one is registered for another unit or adjacency than the query has.
    Registered(String),
    /// This one has a limit for each calendar window of rows by a column: a relation of several tables has no rows of one of them alone, by which
    /// that could hold.
    Windows {
        /// The data set.
        name: String,
        /// The column of days.
        day: String,
    },
    /// The ledger cannot be read.
    Ledger(LedgerError),
}

/// What each data set besides that of the plan is charged as. All private tables count for the same people, added or removed: a row of one
/// table can make many rows of a relation, and how many rows that has is nobody's to know.
pub fn paying(
    plan: &Plan,
    others: &[(String, Unit)],
    known: Option<&Ledger>,
) -> Result<Vec<DataSet>, Unpayable> {
    let first = plan.data_set();
    if first.unit == Unit::Row
        || first.adjacency != Adjacency::AddRemove
        || plan.guarantee().adjacency != Adjacency::AddRemove
    {
        return Err(Unpayable::NotPeople(first.name.clone()));
    }
    for name in std::iter::once(&first.name).chain(others.iter().map(|(name, _)| name)) {
        let renewing = match known {
            Some(known) => known.renewing(name).map_err(Unpayable::Ledger)?,
            None => None,
        };
        if let Some(day) = renewing.and_then(|renewing| renewing.windows.day) {
            return Err(Unpayable::Windows { name: name.clone(), day: day.name });
        }
    }
    let one = |(name, unit): &(String, Unit)| {
        let data_set = DataSet { name: name.clone(), unit: unit.clone(), adjacency: Adjacency::AddRemove };
        let registered = match known {
            Some(known) => known.data_set(name).map_err(Unpayable::Ledger)?,
            None => None,
        };
        match registered {
            Some(registered) if registered != data_set => Err(Unpayable::Registered(name.clone())),
            _ => Ok(data_set),
        }
    };
    others.iter().map(one).collect()
}
