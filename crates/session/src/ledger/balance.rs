//! What was spent, what is allowed, what is left: free to look at.

use super::{
    Fallible, Ledger,
    chain::{self, Link},
    cost::{Cost, Limit},
    entry::{self, Event, kind},
    entry_of,
    error::{DataSetError, LedgerError, RegisterError},
    latest,
    registry::{check_name, find},
    store,
};
use equipoise_core::loss::Approx;
use rusqlite::Connection;

/// What was spent from one budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// In total.
    pub spent: Cost,
    /// What may be spent in total; `None` without a limit.
    pub limit: Option<Limit>,
}

impl Account {
    /// What is left; `None` without a limit. Zero where the limit was lowered below what was spent.
    pub fn remaining(&self) -> Option<Limit> {
        self.limit.as_ref().map(|limit| limit.left(&self.spent))
    }

    /// Would this still fit? Returns what would then have been spent.
    pub(super) fn after(&self, cost: &Cost) -> Result<Cost, ()> {
        let spent = self.spent.plus(cost);
        let fits = self.limit.as_ref().is_none_or(|limit| limit.allows(&spent));
        if fits { Ok(spent) } else { Err(()) }
    }
}

/// The accounts that a charge goes to: the data set's, and the analyst's on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Everybody together.
    pub data_set: Account,
    /// One analyst, if one was named.
    pub analyst: Option<Account>,
}

impl Balance {
    /// What everybody together spent on the data set.
    pub fn spent(&self) -> &Approx {
        &self.data_set.spent.approx
    }

    /// The tighter limit of each part, the data set's where an analyst's is in another currency; `None` without any.
    pub fn limit(&self) -> Option<Limit> {
        self.tighter(|account| account.limit.clone())
    }

    /// What may still be asked for; `None` without any limit.
    pub fn remaining(&self) -> Option<Limit> {
        self.tighter(Account::remaining)
    }

    fn tighter(&self, part: impl Fn(&Account) -> Option<Limit>) -> Option<Limit> {
        let parts = [Some(&self.data_set), self.analyst.as_ref()];
        parts.into_iter().flatten().filter_map(part).reduce(Limit::least)
    }
}

impl Ledger {
    /// What was spent on a data set, and by this analyst. A name that was never used has spent nothing.
    pub fn balance(&self, data_set: &str, analyst: Option<&str>) -> Result<Balance, LedgerError> {
        self.read(|connection| balance(connection, data_set, analyst))
    }

    /// Everybody who asked or has a limit on a data set, in order.
    pub fn analysts(&self, data_set: &str) -> Result<Vec<String>, LedgerError> {
        let sql = "SELECT DISTINCT analyst FROM entries \
                   WHERE kind IN ('charge', 'limit') AND data_set = ?1 AND analyst <> '' ORDER BY analyst";
        self.read(|connection| {
            let mut statement = connection.prepare(sql)?;
            let names = statement.query_map([data_set], |row| row.get(0))?;
            Ok(names.collect::<Result<_, _>>()?)
        })
    }

    /// Allow so much in total from now on, what was already spent included; `None` lifts the limit. A limit
    /// below what was spent grants nothing more. The data set must be registered.
    pub fn set_limit(
        &mut self,
        data_set: &str,
        analyst: Option<&str>,
        limit: Option<&Limit>,
    ) -> Result<Balance, RegisterError> {
        if let Some(analyst) = analyst {
            check_name("analyst", analyst)?;
        }
        let limit = limit.map(Limit::written_down);
        self.write(|transaction, coins| {
            if find(transaction, data_set)?.is_none() {
                return Err(DataSetError::Unregistered { name: data_set.to_string() }.into());
            }
            let (id, body) = (store::fresh_id(coins), entry::limit_body(limit.as_ref()));
            let link = Link { kind: kind::LIMIT, id: &id, data_set, analyst, request_id: None, body };
            chain::append(transaction, link)?;
            Ok(balance(transaction, data_set, analyst)?)
        })
    }
}

pub(super) fn balance(connection: &Connection, data_set: &str, analyst: Option<&str>) -> Fallible<Balance> {
    Ok(Balance {
        data_set: account(connection, data_set, None)?,
        analyst: analyst.map(|name| account(connection, data_set, Some(name))).transpose()?,
    })
}

fn account(connection: &Connection, data_set: &str, analyst: Option<&str>) -> Fallible<Account> {
    let spent = match latest(connection, kind::CHARGE, data_set, analyst)? {
        None => Cost::nothing(),
        Some(row) => match entry_of(&row)?.event {
            Event::Charged { spent, .. } if analyst.is_none() => spent,
            Event::Charged { spent_by_analyst: Some(spent), .. } => spent,
            _ => {
                return Err(super::Error::damaged(row.number.unsigned_abs(), "it has no sum of its analyst"));
            }
        },
    };
    // A limit for everybody names no analyst.
    let limit = match latest(connection, kind::LIMIT, data_set, Some(analyst.unwrap_or_default()))? {
        None => None,
        Some(row) => match entry_of(&row)?.event {
            Event::Limited { limit } => limit,
            _ => unreachable!("a row of this kind reads as such an event"),
        },
    };
    Ok(Account { spent, limit })
}
