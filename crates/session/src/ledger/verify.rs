//! Recomputes everything that the ledger says.
//!
//! # Guarantee
//!
//! If [`Ledger::verify`] finds nothing wrong, then under the collision resistance of SHA-256 no entry was
//! edited, reordered, dropped in the middle or put in between since any hash of it became known elsewhere; the
//! sums are those of the charges; no charge went beyond a limit of its time; every answer has a charge before it.

use super::{
    Fallible, Ledger,
    anew::{self, Earlier},
    balance::Account,
    chain::{self, Head, hex},
    cost::Cost,
    entry::{Entry, Event, Row},
    entry_of,
    error::LedgerError,
    fingerprint,
    registry::DataSet,
    store,
};
use rusqlite::Connection;
use std::{
    collections::{HashMap, HashSet},
    fmt,
};

/// A ledger that holds together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The last entry: keep it elsewhere to notice later that entries were lost.
    pub head: Head,
    /// Charges made.
    pub charges: u64,
    /// Answers recorded.
    pub recorded: u64,
    /// The ids of charges without an answer.
    pub lost: Vec<String>,
    /// What was spent for units and adjacencies that are no longer in force, and is no part of the sums that are.
    pub earlier: Vec<Earlier>,
}

/// A ledger that does not hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifyError {
    /// Something was edited, dropped or put in.
    Broken {
        /// The first entry where it shows, counted from one; zero for the file as a whole.
        entry: u64,
        /// What is wrong there.
        what: String,
    },
    /// The ledger cannot be read.
    Ledger(LedgerError),
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken { entry: 0, what } => write!(f, "the ledger does not verify: {what}"),
            Self::Broken { entry, what } => write!(f, "the ledger does not verify at entry {entry}: {what}"),
            Self::Ledger(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for VerifyError {}

impl From<LedgerError> for VerifyError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl Ledger {
    /// The last entry.
    pub fn head(&self) -> Result<Head, LedgerError> {
        self.read(|connection| {
            let (number, hash) =
                chain::last(connection)?.ok_or_else(|| super::Error::damaged(0, "it has no entries"))?;
            Ok(Head { ledger: self.id().to_string(), entries: number.unsigned_abs(), hash })
        })
    }

    /// Recompute the whole ledger, and compare it with a head that was kept elsewhere.
    pub fn verify(&self, kept: Option<&Head>) -> Result<Verified, VerifyError> {
        let found = self.read_whole(|connection| {
            if let Some(what) = file_fault(connection)? {
                return Ok(Err(VerifyError::Broken { entry: 0, what }));
            }
            replay(connection, kept)
        });
        match found {
            Ok(found) => found,
            // What cannot be read back was not written by us.
            Err(LedgerError { fault: super::Fault::Damaged { entry, what }, .. }) => {
                Err(VerifyError::Broken { entry, what })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What is wrong with the file as a whole: its pages, its tables, its secret.
fn file_fault(connection: &Connection) -> Fallible<Option<String>> {
    let said: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if said != "ok" {
        return Ok(Some(format!("SQLite finds it damaged ({})", equipoise_core::wording::shown(&said))));
    }
    if !store::is_unchanged(connection)? {
        return Ok(Some("its tables, indexes or triggers were changed".to_string()));
    }
    let secrets: i64 = connection.query_row("SELECT count(*) FROM secret", [], |row| row.get(0))?;
    let sealed = chain::first(connection)?.and_then(|first| first.created());
    let good = secrets == 1
        && sealed.is_some_and(|(version, seal)| {
            version == store::VERSION
                && fingerprint::secret(connection)
                    .is_ok_and(|secret| hex(&fingerprint::seal(&secret)) == seal)
        });
    let good = good && store::version_fits(connection)?;
    Ok((!good).then(|| "its secret or its version is not the one of the first entry".to_string()))
}

/// What the entries so far add up to.
#[derive(Default)]
struct State {
    data_sets: HashMap<String, DataSet>,
    /// By data set and analyst; the empty analyst stands for everybody.
    accounts: HashMap<(String, String), Account>,
    /// By the same: each cost and how often it was charged.
    costs: HashMap<(String, String), HashMap<Cost, u64>>,
    limited: bool,
    requests: HashSet<(String, String)>,
    /// The data set and the analyst of each charge, by its id.
    charges: HashMap<String, (String, String)>,
    /// The ids of charges, in order.
    order: Vec<String>,
    answered: HashSet<String>,
    /// The sums of data sets for units and adjacencies that are not in force, by analyst.
    set_aside: HashMap<DataSet, HashMap<String, SetAside>>,
}

/// A sum that is not in force, and what it is made of.
type SetAside = (Cost, HashMap<Cost, u64>);

fn replay(connection: &Connection, kept: Option<&Head>) -> Fallible<Result<Verified, VerifyError>> {
    let mut state = State::default();
    let (mut count, mut ledger, mut hash) = (0u64, String::new(), String::new());
    let mut broken = None;
    chain::walk(connection, |row, follows| {
        count += 1;
        if broken.is_some() {
            return Ok(());
        }
        if count == 1 {
            ledger.clone_from(&row.id);
        }
        hash.clone_from(&row.hash);
        let fault = link_fault(&row, follows, count, kept).or_else(|| match entry_of(&row) {
            Ok(entry) => state.step(row, entry),
            Err(super::Error::Fault(super::Fault::Damaged { what, .. })) => Some(what),
            Err(_) => Some("it cannot be read".to_string()),
        });
        broken = fault.map(|what| VerifyError::Broken { entry: count, what });
        Ok(())
    })?;
    if let Some(broken) = broken {
        return Ok(Err(broken));
    }
    if let Some(what) = kept.and_then(|kept| kept_fault(kept, &ledger, count)) {
        return Ok(Err(VerifyError::Broken { entry: 0, what }));
    }
    let lost = state.order.into_iter().filter(|id| !state.answered.contains(id)).collect();
    Ok(Ok(Verified {
        head: Head { ledger, entries: count, hash },
        charges: state.charges.len() as u64,
        recorded: state.answered.len() as u64,
        lost,
        earlier: anew::earlier(connection, None)?,
    }))
}

fn link_fault(row: &Row, follows: bool, count: u64, kept: Option<&Head>) -> Option<String> {
    if row.number.unsigned_abs() != count || row.number < 0 {
        return Some(format!("an entry is missing before number {}", row.number));
    }
    if !follows {
        return Some("it was changed, or an entry before it was: its hash does not follow".to_string());
    }
    let differs = kept.is_some_and(|kept| kept.entries == count && kept.hash != row.hash);
    differs.then(|| "its hash is not the one that was kept".to_string())
}

fn kept_fault(kept: &Head, ledger: &str, count: u64) -> Option<String> {
    if kept.ledger != ledger {
        return Some(format!("the head that was kept is of ledger {}, this is ledger {ledger}", kept.ledger));
    }
    (kept.entries > count).then(|| {
        format!("it has {count} entries, and had {} when its head was kept: an old copy", kept.entries)
    })
}

impl State {
    /// Take in the next entry; what is wrong with it, if anything is.
    fn step(&mut self, row: Row, entry: Entry) -> Option<String> {
        let first = self.data_sets.is_empty() && entry.number == 1;
        let name = row.data_set.clone();
        if matches!(entry.event, Event::Created) != first || (name.is_empty() != first) {
            return Some("the ledger begins with the entry that made it, and only there".to_string());
        }
        if !first && !matches!(entry.event, Event::Registered { .. }) && !self.data_sets.contains_key(&name) {
            return Some("its data set is not registered before it".to_string());
        }
        if row.request_id.is_some() && !matches!(entry.event, Event::Charged { .. }) {
            return Some("only charges have a request id".to_string());
        }
        match entry.event {
            Event::Created => None,
            Event::Registered { unit, adjacency } => {
                let new = DataSet { name: name.clone(), unit, adjacency };
                let known = self.data_sets.entry(name).or_insert_with(|| new.clone());
                (*known != new).then(|| "unit or adjacency of its data set changed".to_string())
            }
            Event::Anew { unit, adjacency, unit_before, adjacency_before, spent_before } => {
                let before = DataSet { name: name.clone(), unit: unit_before, adjacency: adjacency_before };
                let new = DataSet { name, unit, adjacency };
                self.begin_anew(&before, new, &spent_before)
            }
            Event::Limited { limit } => {
                self.limited = true;
                let key = (name, row.analyst);
                let charges = self.costs.get(&key).map_or_else(Vec::new, |costs| {
                    costs.iter().map(|(cost, count)| (cost.clone(), *count)).collect()
                });
                let account = self.account(&key.0, &key.1);
                let under = account.clone().under(limit, || Ok(charges));
                under.map_or_else(
                    |_| Some("it cannot be read".to_string()),
                    |under| {
                        *account = under;
                        None
                    },
                )
            }
            Event::Charged { cost, spent, spent_by_analyst, .. } => {
                self.charge(row, &cost, &spent, spent_by_analyst.as_ref())
            }
            Event::Recorded { .. } => self.record(&row),
        }
    }

    /// Put the sums of the old unit aside and take up those of the new one.
    fn begin_anew(&mut self, before: &DataSet, new: DataSet, spent: &Cost) -> Option<String> {
        if self.data_sets.get(&new.name) != Some(before) || new == *before {
            return Some("it does not begin anew from the unit and adjacency in force".to_string());
        }
        if self.account(&new.name, "").spent != *spent {
            return Some("its sum of what was spent before is not that of the charges".to_string());
        }
        let mut taken_up = self.set_aside.remove(&new).unwrap_or_default();
        let mut set_aside = HashMap::new();
        for ((name, analyst), account) in &mut self.accounts {
            if *name != new.name {
                continue;
            }
            let (spent, costs) =
                taken_up.remove(analyst).unwrap_or_else(|| (Cost::nothing(), HashMap::new()));
            let charges = costs.iter().map(|(cost, count)| (cost.clone(), *count)).collect();
            let costs_before = self.costs.insert((name.clone(), analyst.clone()), costs).unwrap_or_default();
            let limit = account.limit.take();
            let Ok(under) = (Account { spent, ..Account::new() }).under(limit, || Ok(charges)) else {
                return Some("it cannot be read".to_string());
            };
            let old = std::mem::replace(account, under);
            set_aside.insert(analyst.clone(), (old.spent, costs_before));
        }
        self.set_aside.insert(before.clone(), set_aside);
        self.data_sets.insert(new.name.clone(), new);
        None
    }

    fn account(&mut self, data_set: &str, analyst: &str) -> &mut Account {
        let key = (data_set.to_string(), analyst.to_string());
        self.accounts.entry(key).or_insert_with(Account::new)
    }

    fn charge(&mut self, row: Row, cost: &Cost, spent: &Cost, by_analyst: Option<&Cost>) -> Option<String> {
        if row.analyst.is_empty() == by_analyst.is_some() {
            return Some("the sum of its analyst is missing, or has no analyst".to_string());
        }
        for (analyst, said) in [("", Some(spent)), (row.analyst.as_str(), by_analyst)] {
            let Some(said) = said else { continue };
            let account = self.account(&row.data_set, analyst);
            match account.after(cost) {
                Err(()) => return Some("it goes beyond the limit".to_string()),
                Ok(sum) if sum.spent != *said => {
                    return Some("its sum is not that of the charges".to_string());
                }
                Ok(sum) => *account = sum,
            }
            let costs = self.costs.entry((row.data_set.clone(), analyst.to_string())).or_default();
            *costs.entry(cost.clone()).or_default() += 1;
        }
        if let Some(request_id) = &row.request_id
            && !self.requests.insert((row.analyst.clone(), request_id.clone()))
        {
            return Some("its request id was charged before".to_string());
        }
        self.order.push(row.id.clone());
        let earlier = self.charges.insert(row.id, (row.data_set, row.analyst));
        earlier.map(|_| "its id was used before".to_string())
    }

    fn record(&mut self, row: &Row) -> Option<String> {
        let Some((data_set, analyst)) = self.charges.get(&row.id) else {
            return Some("an answer without a charge before it".to_string());
        };
        if *data_set != row.data_set || *analyst != row.analyst {
            return Some("an answer to a charge of another data set or analyst".to_string());
        }
        (!self.answered.insert(row.id.clone())).then(|| "a second answer to one charge".to_string())
    }
}
