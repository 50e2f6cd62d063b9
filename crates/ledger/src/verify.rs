//! Recomputes everything that the ledger says.
//!
//! # Guarantee
//!
//! If [`Ledger::verify`] finds nothing wrong, then under the collision resistance of SHA-256 no entry was
//! edited, reordered, dropped in the middle or put in between since any hash of it became known elsewhere; the
//! sums are those of the charges; no charge went beyond a limit of its time; every answer has a charge before it.
//!
//! # Why so little is held
//!
//! Entries are read one at a time, and what is held grows with the number of budgets, not of entries: that no id and no request id
//! comes twice is what SQLite's own check of its unique indexes says, and the charge of an answer is looked up.

use super::{
    Fallible, Ledger,
    balance::{self, Account, Charges},
    calendar::Window,
    chain::{self, Head, hex},
    charge, clock,
    cost::Cost,
    entries::{Entries, values},
    entry::{Entry, Event, Row, kind},
    entry_of,
    error::{Fault, LedgerError},
    fingerprint,
    registry::DataSet,
    renewing::{self, Recomputed},
    reregistration::{self, Earlier},
    store,
};
use std::{
    collections::{HashMap, VecDeque},
    fmt,
};

/// How many ids of charges without an answer are told.
const LOST_TOLD: i64 = 1000;
/// How many charges are remembered until their answer comes; the charge of any other answer is looked up.
const REMEMBERED: usize = 1024;

/// A ledger that holds together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The last entry: keep it elsewhere to notice later that entries were lost.
    pub head: Head,
    /// Charges made.
    pub charges: u64,
    /// Answers recorded.
    pub recorded: u64,
    /// Charges without an answer.
    pub lost: u64,
    /// The ids of those, the first thousand of them.
    pub lost_ids: Vec<String>,
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
        self.read(|entries| {
            let (number, hash) =
                chain::last(entries)?.ok_or_else(|| Fault::damaged(0, "it has no entries"))?;
            Ok(Head { ledger: self.id().to_string(), entries: number.unsigned_abs(), hash })
        })
    }

    /// Recompute the whole ledger, and compare it with a head that was kept elsewhere.
    pub fn verify(&self, kept: Option<&Head>) -> Result<Verified, VerifyError> {
        let found = self.read_whole(|entries| {
            if let Some(what) = file_fault(entries)? {
                return Ok(Err(VerifyError::Broken { entry: 0, what }));
            }
            replay(entries, kept)
        });
        match found {
            Ok(found) => found,
            // What cannot be read back was not written by us.
            Err(LedgerError { fault: Fault::Damaged { entry, what }, .. }) => {
                Err(VerifyError::Broken { entry, what })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What is wrong with the file as a whole: its pages, its tables, its secret.
fn file_fault(entries: &dyn Entries) -> Fallible<Option<String>> {
    if let Some(damage) = entries.damage()? {
        return Ok(Some(damage));
    }
    let sealed = chain::first(entries)?.and_then(|first| first.created());
    let good = sealed.is_some_and(|(version, seal)| {
        version == store::VERSION
            && entries.secret().is_ok_and(|secret| hex(&fingerprint::seal(&secret)) == seal)
    });
    let good = good && store::version_fits(entries)?;
    Ok((!good).then(|| "its secret or its version is not the one of the first entry".to_string()))
}

/// What the entries so far add up to.
struct State<'c> {
    entries: &'c dyn Entries,
    data_sets: HashMap<String, DataSet>,
    /// By data set and analyst; the empty analyst stands for everybody.
    accounts: HashMap<(String, String), Account>,
    /// The sums of data sets for units and adjacencies that are not in force, by analyst.
    set_aside: HashMap<DataSet, HashMap<String, Cost>>,
    /// The limits that renew and are in force, and what was spent in their windows.
    renewing: HashMap<String, Recomputed>,
    /// Ledger time, in seconds since 1970.
    time: Option<u64>,
    remembered: Remembered,
    charges: u64,
    answered: u64,
}

/// The latest charges: an answer mostly comes soon.
#[derive(Default)]
struct Remembered {
    charges: HashMap<String, (String, String)>,
    order: VecDeque<String>,
}

impl Remembered {
    fn put(&mut self, row: Row) {
        if self.order.len() == REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.charges.remove(&oldest);
        }
        self.order.push_back(row.id.clone());
        self.charges.insert(row.id, (row.data_set, row.analyst));
    }
}

fn replay(entries: &dyn Entries, kept: Option<&Head>) -> Fallible<Result<Verified, VerifyError>> {
    let mut state = State::new(entries);
    let (mut count, mut ledger, mut hash) = (0u64, String::new(), String::new());
    let mut broken = None;
    chain::walk(entries, |row, follows| {
        count += 1;
        if broken.is_some() {
            return Ok(());
        }
        if count == 1 {
            ledger.clone_from(&row.id);
        }
        hash.clone_from(&row.hash);
        let fault = match link_fault(&row, follows, count, kept) {
            Some(what) => Some(what),
            None => match entry_of(&row) {
                Ok(entry) => state.step(row, entry)?,
                Err(Fault::Damaged { what, .. }) => Some(what),
                Err(_) => Some("it cannot be read".to_string()),
            },
        };
        broken = fault.map(|what| VerifyError::Broken { entry: count, what });
        Ok(())
    })?;
    if let Some(broken) = broken {
        return Ok(Err(broken));
    }
    if let Some(what) = kept.and_then(|kept| kept_fault(kept, &ledger, count)) {
        return Ok(Err(VerifyError::Broken { entry: 0, what }));
    }
    Ok(Ok(Verified {
        head: Head { ledger, entries: count, hash },
        charges: state.charges,
        recorded: state.answered,
        lost: state.charges - state.answered,
        lost_ids: lost_ids(entries)?,
        earlier: reregistration::earlier(entries, None)?,
    }))
}

/// The first charges without an answer.
fn lost_ids(entries: &dyn Entries) -> Fallible<Vec<String>> {
    let sql = "SELECT id FROM entries AS charge WHERE kind = ?1 AND NOT EXISTS \
               (SELECT 1 FROM entries AS record WHERE record.id = charge.id AND record.kind = ?2) \
               ORDER BY number LIMIT ?3";
    entries.texts(sql, values![kind::CHARGE, kind::RECORD, LOST_TOLD])
}

fn link_fault(row: &Row, follows: bool, count: u64, kept: Option<&Head>) -> Option<String> {
    if u64::try_from(row.number) != Ok(count) {
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

impl<'c> State<'c> {
    fn new(entries: &'c dyn Entries) -> Self {
        Self {
            entries,
            data_sets: HashMap::new(),
            accounts: HashMap::new(),
            set_aside: HashMap::new(),
            renewing: HashMap::new(),
            time: None,
            remembered: Remembered::default(),
            charges: 0,
            answered: 0,
        }
    }

    /// Take in the next entry; what is wrong with it, if anything is.
    fn step(&mut self, row: Row, entry: Entry) -> Fallible<Option<String>> {
        let first = self.data_sets.is_empty() && entry.number == 1;
        let name = row.data_set.clone();
        let acted =
            matches!(entry.event, Event::Acted { .. } | Event::Restored { .. } | Event::Confirmed { .. });
        if matches!(entry.event, Event::Created) != first || (name.is_empty() != first && !acted) {
            return Ok(Some("the ledger begins with the entry that made it, and only there".to_string()));
        }
        // Who is a member belongs to no data set.
        let of_none = first || (acted && name.is_empty());
        let registers = matches!(entry.event, Event::Registered { .. });
        if !of_none && !registers && !self.data_sets.contains_key(&name) {
            return Ok(Some("its data set is not registered before it".to_string()));
        }
        if row.request_id.is_some() && !matches!(entry.event, Event::Charged { .. }) {
            return Ok(Some("only charges have a request id".to_string()));
        }
        if let Some(what) = self.pass_time(&entry) {
            return Ok(Some(what.to_string()));
        }
        match entry.event {
            Event::Created
            | Event::Confirmed { .. }
            | Event::Files { .. }
            | Event::Apart(_)
            | Event::Acted { .. }
            | Event::Restored { .. } => Ok(None),
            Event::Registered { unit, adjacency } => {
                let new = DataSet { name: name.clone(), unit, adjacency };
                let known = self.data_sets.entry(name).or_insert_with(|| new.clone());
                Ok((*known != new).then(|| "unit or adjacency of its data set changed".to_string()))
            }
            Event::Anew { unit, adjacency, unit_before, adjacency_before, spent_before } => {
                let before = DataSet { name: name.clone(), unit: unit_before, adjacency: adjacency_before };
                let new = DataSet { name, unit, adjacency };
                self.begin_anew(row.number, &before, new, &spent_before)
            }
            Event::Limited { limit, .. } => {
                let data_set = self.data_sets[&name].clone();
                let charges = self.charged(row.number, &data_set, &row.analyst);
                let account = self.account(&name, &row.analyst);
                *account = account.clone().under(limit, charges)?;
                Ok(None)
            }
            Event::Renews { renewing, .. } => {
                let spent = self.account(&name, "").spent.clone();
                let before = self.renewing.remove(&name);
                let at = (row.number, &spent);
                let after = Recomputed::following(self.entries, &name, before, renewing, at)?;
                self.renewing.extend(after.map(|after| (name, after)));
                Ok(None)
            }
            Event::Charged { cost, spent, spent_by_analyst, windows, .. } => {
                if let Some(what) = self.charge_windows(&row, &cost, &windows)? {
                    return Ok(Some(what.to_string()));
                }
                Ok(self.charge(row, &cost, &spent, spent_by_analyst.as_ref()))
            }
            Event::Gap { cost, spent } => {
                if let Some(renewing) = self.renewing.get_mut(&name).filter(|_| row.analyst.is_empty()) {
                    renewing.gap(&cost);
                }
                let account = self.account(&name, &row.analyst);
                *account = account.with(&cost);
                Ok((account.spent != spent).then(|| "its sum is not that of the entries".to_string()))
            }
            Event::Seen { answer, cost, spent } => self.see(&row, &answer, &cost, &spent),
            Event::Recorded { .. } => self.record(&row),
            Event::Adopted { .. } => self.of_its_charge(&row, "a file"),
        }
    }

    /// Each cost that was charged before this entry for a unit and adjacency, where a limit needs them.
    fn charged(
        &self,
        number: i64,
        data_set: &DataSet,
        analyst: &str,
    ) -> impl FnOnce() -> Fallible<Charges> + use<'c> {
        let (entries, data_set, analyst) = (self.entries, data_set.clone(), analyst.to_string());
        move || {
            let scope = reregistration::scope_before(entries, &data_set, number)?;
            let analyst = (!analyst.is_empty()).then_some(analyst.as_str());
            balance::charges(entries, &data_set.name, analyst, &scope)
        }
    }

    /// Put the sums of the old unit aside and take up those of the new one.
    fn begin_anew(
        &mut self,
        number: i64,
        before: &DataSet,
        new: DataSet,
        spent: &Cost,
    ) -> Fallible<Option<String>> {
        if self.data_sets.get(&new.name) != Some(before) || new == *before {
            return Ok(Some("it does not begin anew from the unit and adjacency in force".to_string()));
        }
        if self.account(&new.name, "").spent != *spent {
            return Ok(Some("its sum of what was spent before is not that of the charges".to_string()));
        }
        let mut taken_up = self.set_aside.remove(&new).unwrap_or_default();
        let mut set_aside = HashMap::new();
        let analysts: Vec<String> = self
            .accounts
            .keys()
            .filter(|(name, _)| *name == new.name)
            .map(|(_, analyst)| analyst.clone())
            .collect();
        for analyst in analysts {
            let spent = taken_up.remove(&analyst).unwrap_or_else(Cost::nothing);
            let charges = self.charged(number, &new, &analyst);
            let account = self.account(&new.name, &analyst);
            let under = Account { spent, ..Account::new() }.under(account.limit.clone(), charges)?;
            let old = std::mem::replace(account, under);
            set_aside.insert(analyst, old.spent);
        }
        if let Some(renewing) = self.renewing.remove(&new.name) {
            let spent = self.account(&new.name, "").spent.clone();
            self.renewing.insert(new.name.clone(), renewing.anew(number, &spent));
        }
        self.set_aside.insert(before.clone(), set_aside);
        self.data_sets.insert(new.name.clone(), new);
        Ok(None)
    }

    /// Ledger time goes on with charges and words of the steward; what is wrong with it, where windows depend on it.
    fn pass_time(&mut self, entry: &Entry) -> Option<&'static str> {
        let charged = matches!(entry.event, Event::Charged { .. });
        let said =
            matches!(entry.event, Event::Limited { .. } | Event::Renews { .. } | Event::Confirmed { .. });
        if !charged && !said {
            return None;
        }
        let of_time = self.renewing.values().map(|found| &found.force.renewing.windows);
        let lengths: Vec<_> =
            of_time.filter(|windows| windows.day.is_none()).map(|windows| windows.every).collect();
        let (last, now) = (self.time, clock::seconds_of(&entry.time));
        self.time = now.or(last);
        if lengths.is_empty() {
            return None;
        }
        let Some(now) = now else { return Some("its time cannot be read") };
        let last = last?;
        if now < last {
            return Some("ledger time runs back");
        }
        let jumps = charged && lengths.into_iter().any(|every| renewing::jumps(every, last, now));
        jumps.then_some(
            "a window ended more than a day after what is before it, without a word of the steward",
        )
    }

    /// The sums of the windows that a charge counts in.
    fn charge_windows(
        &mut self,
        row: &Row,
        cost: &Cost,
        windows: &[(Window, Cost)],
    ) -> Fallible<Option<&'static str>> {
        let Some(renewing) = self.renewing.get_mut(&row.data_set) else {
            return Ok((!windows.is_empty()).then_some("it counts in windows, and no limit renews"));
        };
        let at = (row.number, clock::seconds_of(&row.time).unwrap_or(0));
        renewing.charge(self.entries, &self.data_sets[&row.data_set], at, cost, windows)
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
        }
        self.charges += 1;
        self.remembered.put(row);
        None
    }

    /// An answer that another paid for, for the price that was paid, within the limit of its reader.
    fn see(&mut self, row: &Row, answer: &str, cost: &Cost, spent: &Cost) -> Fallible<Option<String>> {
        let paid = charge::by_id(self.entries, kind::CHARGE, answer)?
            .filter(|paid| paid.number < row.number && paid.data_set == row.data_set);
        let recorded = charge::by_id(self.entries, kind::RECORD, answer)?
            .is_some_and(|recorded| recorded.number < row.number);
        let price = paid.filter(|_| recorded).map(|paid| entry_of(&paid)).transpose()?;
        let is_price = price
            .is_some_and(|price| matches!(&price.event, Event::Charged { cost: paid, .. } if paid == cost));
        if !is_price || row.analyst.is_empty() {
            return Ok(Some("it shows an answer that nobody paid for, or not for this price".to_string()));
        }
        let account = self.account(&row.data_set, &row.analyst);
        Ok(match account.after(cost) {
            Err(()) => Some("it goes beyond the limit".to_string()),
            Ok(sum) if sum.spent != *spent => Some("its sum is not that of the entries".to_string()),
            Ok(sum) => {
                *account = sum;
                None
            }
        })
    }

    fn record(&mut self, row: &Row) -> Fallible<Option<String>> {
        let fault = self.of_its_charge(row, "an answer")?;
        self.answered += u64::from(fault.is_none());
        Ok(fault)
    }

    /// Does the entry belong to a charge before it, by its id?
    fn of_its_charge(&self, row: &Row, what: &str) -> Fallible<Option<String>> {
        let of = match self.remembered.charges.get(&row.id) {
            Some(of) => Some(of.clone()),
            None => charge::by_id(self.entries, kind::CHARGE, &row.id)?
                .filter(|charge| charge.number < row.number)
                .map(|charge| (charge.data_set, charge.analyst)),
        };
        let Some((data_set, analyst)) = of else {
            return Ok(Some(format!("{what} without a charge before it")));
        };
        let other = data_set != row.data_set || analyst != row.analyst;
        Ok(other.then(|| format!("{what} to a charge of another data set or analyst")))
    }
}
