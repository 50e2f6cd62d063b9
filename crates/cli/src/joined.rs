//! Where a query about several tables is charged: each private table pays the whole price, in one ledger, in one transaction.

use crate::{
    Exit,
    args::Books,
    ask::{self, Asked, usage},
    fail,
};
use equipoise_core::{adjacency::Unit, wording};
use equipoise_engine::books::{Account, known_as};
use equipoise_session::{
    ledger::{DataSet, Ledger},
    plan::Plan,
};
use equipoise_sql_front::{Unpayable, several::Joined};
use std::path::Path;

/// The accounts of the private tables besides the first one; none where the question is about one table.
pub(crate) fn others(asked: &Asked<'_>, first: &Account) -> Result<Vec<(Account, Unit)>, Exit> {
    let Some(joined) = asked.joined else { return Ok(Vec::new()) };
    let mut others: Vec<(Account, Unit)> = Vec::new();
    for table in joined.private.iter().skip(1) {
        let account = ask::account(Path::new(&table.name), asked.books)?;
        // A ledger that is not there yet lies in a folder that is.
        let real = |ledger: &Path| {
            let folder =
                ledger.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let made = || Some(folder.canonicalize().ok()?.join(ledger.file_name()?));
            ledger.canonicalize().ok().or_else(made)
        };
        let same =
            |one: &Path, other: &Path| one == other || real(one).is_some_and(|one| real(other) == Some(one));
        if !same(&account.ledger, &first.ledger) {
            return Err(usage(format!(
                "the private tables of a query share one ledger, and '{}' has another than '{}'; name one with --ledger FILE",
                wording::shown(&table.name),
                wording::shown(&joined.private[0].name)
            )));
        }
        let unit = Unit::Column(table.unit.clone());
        // One data set under two names pays once, for one unit.
        let paid = if account.name == first.name {
            Some(Unit::Column(joined.private[0].unit.clone()))
        } else {
            others.iter().find(|(other, _)| other.name == account.name).map(|(_, unit)| unit.clone())
        };
        match paid {
            None => others.push((account, unit)),
            Some(known) if known == unit => {}
            Some(known) => {
                return Err(usage(format!(
                    "'{}' has two names in this query and two privacy units, {known} and {unit}; name one unit for both",
                    wording::shown(&account.name)
                )));
            }
        }
    }
    Ok(others)
}

/// A table that is said to be public is one that no ledger knows: others count what is spent on its rows.
pub(crate) fn check_public(joined: &Joined, books: &Books) -> Result<(), Exit> {
    for table in &joined.public {
        let known = known_as(Path::new(table), None, books.ledger.as_deref());
        let known = known.map_err(|error| fail(&error, error.exit_code()))?;
        if let Some(name) = known {
            return Err(usage(format!(
                "'{}' is said to be public, and a ledger knows it as '{}': its rows are somebody's; name its unit in privacy_unit_column",
                wording::shown(table),
                wording::shown(&name)
            )));
        }
    }
    Ok(())
}

/// What each of them is charged as.
pub(crate) fn paying(
    asked: &Asked<'_>,
    others: &[(Account, Unit)],
    plan: &Plan,
    known: Option<&Ledger>,
) -> Result<Vec<DataSet>, Exit> {
    if asked.joined.is_none() {
        return Ok(Vec::new());
    }
    let others: Vec<(String, Unit)> =
        others.iter().map(|(other, unit)| (other.name.clone(), unit.clone())).collect();
    equipoise_sql_front::paying(plan, &others, known).map_err(|why| match why {
        Unpayable::NotPeople(name) => usage(format!(
            "a query about several tables protects people who are added or removed, and '{}' is registered for something else; \
             leave out --adjacency, or register it by its unit: equipoise budget set FILE --unit COLUMN --anew --epsilon E",
            wording::shown(&name)
        )),
        Unpayable::Registered(name) => usage(format!(
            "'{}' is registered for another unit or adjacency than the query has; name its unit in privacy_unit_column, or \
             register it anew: equipoise budget set FILE --unit COLUMN --anew --epsilon E",
            wording::shown(&name)
        )),
        Unpayable::Windows { name, day } => usage(format!(
            "'{}' has a limit for each window of '{}', and a query about several tables has no rows of one window of it; ask about \
             that table alone with --window",
            wording::shown(&name),
            wording::shown(&day)
        )),
        Unpayable::Ledger(error) => ask::unopened(error),
    })
}
