//! Limits that renew: one for each calendar window of the data, or one for each calendar window of the ledger's time.
//!
//! # Guarantee
//!
//! - By a column of days: what is charged for questions about rows whose day lies in a window is at most the limit, for every window and
//!   for ever. So what one person's rows in one window may lose is at most the limit, and a person with rows in n windows loses at
//!   most n times the limit. A question that states no windows is not charged.
//! - By the ledger's time: what is charged in one window of time is at most the limit. The rows stay, so that what they lose adds up with
//!   every window; whoever sets such a limit is told how much that is in a year first.
//! - What was charged before windows of this shape were in force counts in each of them, and so does what counts for entries that
//!   are missing.
//! - The window of a charge is decided in its own transaction. Ledger time never runs back: it is the later of the clock and the last
//!   charge or word of the steward. Where the clock moved by more than a day since then and a window ended in between, only a
//!   word of the steward ([`Ledger::confirm_clock`]) opens the next one.
//!
//! # Why
//!
//! 1. A question about rows of some windows is a function of those rows: the filter drops every other row by itself. It loses
//!    nothing about a row of another window, and so only the windows that it names are charged.
//! 2. A single row lies in one window, and so do the rows of a person in a question about one window: they come and go at the price of
//!    the question.
//! 3. In a question about several windows all rows of a person are bounded together. Where those of one window come or go and those of
//!    another stay, the person goes with all rows and comes with some: two steps. Each window is charged those
//!    ([`cost_in_each`]); the data set, which counts whole persons, is charged one.
//! 4. A person who comes or goes with rows in n windows changes only answers that were charged to one of them, each at its price: the sum
//!    over n windows is not below that.
//! 5. Under replace a row may go from one window to another, and a change then costs what was spent in both. So a limit by a column of days
//!    takes add-remove only.
//!
//! # Differs
//!
//! Rolling windows ("any 30 days") overlap, so that no sum over them says what a row has lost; they are not offered.

use super::{
    Fallible, Ledger, Stop,
    balance::{self, Account, Charges},
    calendar::{Every, Window},
    chain::{self, Link},
    charge::ChargeRequest,
    clock,
    cost::Cost,
    entries::{Entries, values},
    entry::{self, Event, kind},
    entry_of,
    error::{ChargeError, DataSetError, Fault, LedgerError, RegisterError},
    limit::Limit,
    registry::{self, ANALYST, DataSet, check_name},
    reregistration, store,
};
use crate::window_fault::WindowFault;
use equipoise_core::adjacency::{Adjacency, Unit};
use std::collections::BTreeMap;

/// The most windows that one question may name: the days of a year and some more.
pub const MOST_WINDOWS: usize = 400;

/// Which column says in which window a row lies, and how it is read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DayColumn {
    /// Its name.
    pub name: String,
    /// Whether it holds moments, of which the day in UTC counts; days otherwise.
    pub moments: bool,
}

impl DayColumn {
    /// What it holds, as columns' types are called.
    pub fn holds(&self) -> &'static str {
        if self.moments { "timestamp" } else { "date" }
    }
}

/// What windows there are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Windows {
    /// How long each is.
    pub every: Every,
    /// The column by which rows lie in them; without one they are windows of the ledger's time.
    pub day: Option<DayColumn>,
}

/// A limit for each window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewing {
    /// Which windows.
    pub windows: Windows,
    /// What may be spent in each of them.
    pub limit: Limit,
}

impl Renewing {
    /// What may be spent in the windows that the days of one calendar year lie in.
    pub fn in_a_year(&self) -> Limit {
        self.limit.times(self.windows.every.most_in_a_year())
    }

    /// May it be set on this data set? Where the same rows may lose it again and again, only by somebody who says that this `adds_up`.
    pub fn check(&self, data_set: &DataSet, adds_up: bool) -> Result<(), DataSetError> {
        let (name, every) = (data_set.name.clone(), self.windows.every);
        let fault = match &self.windows.day {
            Some(_) if data_set.adjacency == Adjacency::Replace => WindowFault::Moves { name },
            None if !adds_up => WindowFault::AddsUp { name, every, in_a_year: self.in_a_year() },
            _ => return Ok(()),
        };
        Err(DataSetError::Window(Box::new(fault)))
    }
}

/// The windows that a question is about: rows of others were taken out by a filter that its plan has beside the words of whoever asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedWindows {
    /// Which windows there were when it was planned.
    pub windows: Windows,
    /// Those that it is about.
    pub asked: Vec<Window>,
}

/// One window, and what was spent in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InWindow {
    /// Which.
    pub window: Window,
    /// What was spent, and what may be.
    pub account: Account,
}

/// A limit that renews, and since which entry its windows are these.
#[derive(Clone, Debug)]
pub(super) struct InForce {
    pub renewing: Renewing,
    pub from: i64,
}

impl Ledger {
    /// The limit for each window that is in force on a data set.
    pub fn renewing(&self, data_set: &str) -> Result<Option<Renewing>, LedgerError> {
        self.read(|entries| Ok(in_force(entries, data_set)?.map(|found| found.renewing)))
    }

    /// Allow so much in each window from now on; nothing lifts it. Without a column of days what rows lose adds up over windows: that is
    /// refused, with the sum over a year, until it is said that this is known. Other limits stay in force beside it.
    pub fn set_renewing(
        &mut self,
        data_set: &str,
        renewing: Option<&Renewing>,
        adds_up: bool,
        by: Option<&str>,
    ) -> Result<(), RegisterError> {
        by.map_or(Ok(()), |by| check_name(ANALYST, by))?;
        let renewing = renewing.map(|renewing| Renewing {
            limit: renewing.limit.written_down(),
            windows: renewing.windows.clone(),
        });
        if let Some(DayColumn { name, .. }) = renewing.as_ref().and_then(|found| found.windows.day.as_ref()) {
            check_name("column", name)?;
        }
        self.read_whole(|_| Ok(()))?;
        self.write(|entries, coins| {
            let Some(known) = registry::find(entries, data_set)? else {
                return Err(DataSetError::Unregistered { name: data_set.to_string() }.into());
            };
            if let Some(renewing) = &renewing {
                renewing.check(&known, adds_up)?;
            }
            entries.raise(store::WITH_WINDOWS)?;
            let id = store::fresh_id(coins);
            let body = entry::renew_body(renewing.as_ref(), by);
            let link = Link { kind: kind::RENEW, id: &id, data_set, analyst: None, request_id: None, body };
            chain::append_in_time(entries, link, time(entries)?.1)?;
            Ok(())
        })
    }

    /// The clock is right, says its steward, on this day in UTC: the windows that ended since the last charge are over. The time
    /// that is written down.
    pub fn confirm_clock(&mut self, day: &str, by: Option<&str>) -> Result<String, RegisterError> {
        by.map_or(Ok(()), |by| check_name(ANALYST, by))?;
        self.read_whole(|_| Ok(()))?;
        self.write(|entries, coins| {
            let now = clock::at(entries.now()?);
            if now.get(..10) != Some(day) {
                let (day, now) = (day.to_string(), now.clone());
                return Err(DataSetError::Window(Box::new(WindowFault::OtherDay { day, now })).into());
            }
            entries.raise(store::WITH_WINDOWS)?;
            let id = store::fresh_id(coins);
            let body = entry::time_body(by);
            let link =
                Link { kind: kind::TIME, id: &id, data_set: "", analyst: None, request_id: None, body };
            Ok(chain::append_in_time(entries, link, time(entries)?.1)?.time)
        })
    }

    /// The balance with the windows that a question is about; in those of time, with the one that a charge would count in now.
    pub fn balance_in(
        &self,
        data_set: &str,
        analyst: Option<&str>,
        asked: &[Window],
    ) -> Result<balance::Balance, LedgerError> {
        self.read(|entries| {
            let mut found = balance::balance(entries, data_set, analyst)?;
            if let Some(force) = in_force(entries, data_set)? {
                for window in windows_of(&force.renewing.windows, asked, time(entries)?.1) {
                    found
                        .windows
                        .push(InWindow { window, account: account(entries, data_set, &force, window)? });
                }
            }
            Ok(found)
        })
    }

    /// Every window in which something was charged under the limit in force, and in those of time the one that is now. What was spent
    /// before counts in windows that are not here, too.
    pub fn windows(&self, data_set: &str) -> Result<Vec<InWindow>, LedgerError> {
        self.read_whole(|entries| {
            let Some(force) = in_force(entries, data_set)? else { return Ok(Vec::new()) };
            let mut found: Vec<Window> = Vec::new();
            for (sums, _) in sums(entries, data_set, force.from, None)? {
                found.extend(sums.into_iter().map(|(window, _)| window));
            }
            found.extend(windows_of(&force.renewing.windows, &[], time(entries)?.1));
            found.sort_unstable();
            found.dedup();
            let of = |window| Ok(InWindow { window, account: account(entries, data_set, &force, window)? });
            found.into_iter().map(of).collect()
        })
    }
}

/// May a data set with its limits begin anew under this adjacency?
pub(super) fn check_anew(entries: &dyn Entries, new: &DataSet) -> Result<(), Stop<RegisterError>> {
    match in_force(entries, &new.name)? {
        Some(force) => Ok(force.renewing.check(new, true)?),
        None => Ok(()),
    }
}

/// The limit that renews and is in force.
pub(super) fn in_force(entries: &dyn Entries, data_set: &str) -> Fallible<Option<InForce>> {
    let mut found: Option<InForce> = None;
    for row in entries.all("kind = ?1 AND data_set = ?2 ORDER BY number", values![kind::RENEW, data_set])? {
        let Event::Renews { renewing, .. } = entry_of(&row)?.event else {
            unreachable!("a row of this kind reads as such an event")
        };
        found = following(found, renewing, row.number);
    }
    let Some(force) = found else { return Ok(None) };
    // Another unit has sums of its own.
    let anew = entries
        .one("kind = ?1 AND data_set = ?2 ORDER BY number DESC", values![kind::ANEW, data_set])?
        .map_or(0, |row| row.number);
    Ok(Some(InForce { from: force.from.max(anew), ..force }))
}

/// What is in force after an entry that sets or lifts a limit: windows of another shape begin with it.
pub(super) fn following(before: Option<InForce>, set: Option<Renewing>, number: i64) -> Option<InForce> {
    let renewing = set?;
    let from = match before {
        Some(before) if before.renewing.windows == renewing.windows => before.from,
        _ => number,
    };
    Some(InForce { renewing, from })
}

/// Which windows a charge counts in.
fn windows_of(windows: &Windows, asked: &[Window], time: u64) -> Vec<Window> {
    if windows.day.is_some() { asked.to_vec() } else { vec![window_at(windows.every, time)] }
}

/// The window of a time in seconds since 1970.
pub(super) fn window_at(every: Every, time: u64) -> Window {
    every.containing(i64::try_from(time / 86_400).unwrap_or(i64::MAX))
}

/// What a charge costs in each of its windows: where people have rows in several of them, those of one come or go in two steps.
pub fn cost_in_each(unit: &Unit, cost: &Cost, windows: usize) -> Cost {
    match unit {
        Unit::Column(_) if windows > 1 => Cost::from(cost.approx.two_steps()).written_up(),
        _ => cost.clone(),
    }
}

/// What was spent in a window and may be.
pub(super) fn account(
    entries: &dyn Entries,
    data_set: &str,
    force: &InForce,
    window: Window,
) -> Fallible<Account> {
    let last = sums(entries, data_set, force.from, Some(window))?.pop();
    let (mut spent, since) = match last {
        Some((sums, number)) => {
            let own = sums.into_iter().find(|(other, _)| *other == window);
            (
                own.ok_or_else(|| Fault::damaged(number.unsigned_abs(), "it has no sum of its window"))?.1,
                number,
            )
        }
        None => (before(entries, data_set, force.from)?, force.from),
    };
    for cost in gaps(entries, data_set, since, i64::MAX)? {
        spent = spent.plus(&cost);
    }
    let limit = Some(force.renewing.limit.clone());
    Account { spent, ..Account::new() }.under(limit, || charges(entries, data_set, force, window, i64::MAX))
}

/// What was spent before these windows were in force, in the unit that is.
pub(super) fn before(entries: &dyn Entries, data_set: &str, from: i64) -> Fallible<Cost> {
    let scope = reregistration::in_force(entries, data_set)?;
    balance::spent(entries, data_set, None, &format!("{scope} AND number < {from}"))
}

/// Each cost that counts in a window and how often, among the entries before a number.
pub(super) fn charges(
    entries: &dyn Entries,
    data_set: &str,
    force: &InForce,
    window: Window,
    number: i64,
) -> Fallible<Charges> {
    let Some(known) = data_set_at(entries, data_set, number)? else { return Ok(Vec::new()) };
    let scope = reregistration::scope_before(entries, &known, force.from)?;
    let mut found = balance::charges(entries, data_set, None, &scope)?;
    found.extend(gaps(entries, data_set, force.from, number)?.into_iter().map(|cost| (cost, 1)));
    let condition = format!(
        "kind = ?1 AND data_set = ?2 AND number > ?3 AND number < ?4 AND {} LIKE ?5 ORDER BY number",
        entries.field(FIELD)
    );
    for row in entries.all(&condition, values![kind::CHARGE, data_set, force.from, number, &like(window)])? {
        if let Event::Charged { cost, windows, .. } = entry_of(&row)?.event {
            found.push((cost_in_each(&known.unit, &cost, windows.len()), 1));
        }
    }
    Ok(found)
}

fn data_set_at(entries: &dyn Entries, data_set: &str, number: i64) -> Fallible<Option<DataSet>> {
    reregistration::before(entries, data_set, number)
}

/// What counts for entries that are missing, by everybody.
fn gaps(entries: &dyn Entries, data_set: &str, after: i64, before: i64) -> Fallible<Vec<Cost>> {
    let condition =
        "kind = ?1 AND data_set = ?2 AND analyst = '' AND number > ?3 AND number < ?4 ORDER BY number";
    let mut found = Vec::new();
    for row in entries.all(condition, values![kind::GAP, data_set, after, before])? {
        if let Event::Gap { cost, .. } = entry_of(&row)?.event {
            found.push(cost);
        }
    }
    Ok(found)
}

/// Where charges have the sums of their windows.
const FIELD: &str = "windows";

/// What the text of that field has in it where a window is among its names. No number in it has a blank.
fn like(window: Window) -> String {
    format!("%\"{window}\":%")
}

/// A charge's sums by window, and its number.
type Sums = (Vec<(Window, Cost)>, i64);

/// The sums of charges after a number; with a window, of the last charge that counts in it.
fn sums(entries: &dyn Entries, data_set: &str, after: i64, of: Option<Window>) -> Fallible<Vec<Sums>> {
    let field = entries.field(FIELD);
    let (like, order) = match of {
        Some(window) => (like(window), "ORDER BY number DESC LIMIT 1"),
        None => ("%".to_string(), "ORDER BY number"),
    };
    let sql = format!(
        "SELECT {field}, number, number FROM entries WHERE kind = ?1 AND data_set = ?2 AND number > ?3 \
         AND {field} LIKE ?4 {order}"
    );
    let mut found = Vec::new();
    for (text, number, _) in entries.numbered(&sql, values![kind::CHARGE, data_set, after, &like])? {
        let sums = serde_json::from_str(&text).ok().and_then(|value| entry::sums_by_window(&value));
        let sums = sums.ok_or_else(|| Fault::damaged(number.unsigned_abs(), "its windows cannot be read"))?;
        found.push((sums, number));
    }
    Ok(found)
}

/// The time of the last charge or word of the steward, where there is one, and ledger time: the later of that and the clock. In a ledger
/// that never had windows, only the clock.
pub(super) fn time(entries: &dyn Entries) -> Fallible<(Option<u64>, u64)> {
    if entries.version()? < store::WITH_WINDOWS {
        return Ok((None, entries.now()?));
    }
    let sql = "SELECT time, number, number FROM entries WHERE kind IN (?1, ?2, ?3, ?4) ORDER BY number DESC LIMIT 1";
    let last = entries.numbered(sql, values![kind::CHARGE, kind::LIMIT, kind::RENEW, kind::TIME])?.pop();
    let last = last.and_then(|(time, ..)| clock::seconds_of(&time));
    Ok((last, entries.now()?.max(last.unwrap_or(0))))
}

/// So far the clock may move ahead without a word of the steward, in seconds.
const JUMP: u64 = 86_400;

/// Did a window end between two times that are more than a day apart?
pub(super) fn jumps(every: Every, last: u64, now: u64) -> bool {
    now.saturating_sub(last) > JUMP && window_at(every, last) != window_at(every, now)
}

/// The windows that a charge counts in, with what is spent in each with it; and the time that is written down.
pub(super) fn admit(
    entries: &dyn Entries,
    request: &ChargeRequest,
    cost: &Cost,
    over: impl Fn(&Account, Window, &Cost) -> Stop<ChargeError>,
) -> Result<(Vec<InWindow>, u64), Stop<ChargeError>> {
    let name = &request.data_set.name;
    let refused = |fault: WindowFault| Stop::Refused(ChargeError::Window(Box::new(fault)));
    if request.windows.is_none() && entries.version()? < store::WITH_WINDOWS {
        return Ok((Vec::new(), entries.now()?));
    }
    let (last, now) = time(entries)?;
    if let Some(last) = last
        && let Some(every) = of_time(entries)?.into_iter().find(|&every| jumps(every, last, now))
    {
        let (last, now) = (clock::at(last), clock::at(now));
        return Err(refused(WindowFault::Jump { every, last, now }));
    }
    let Some(force) = in_force(entries, name)? else {
        // A limit that was lifted since this was planned; its filter is there, and counts for nothing.
        return match &request.windows {
            Some(_) => Err(refused(WindowFault::Changed { name: name.clone() })),
            None => Ok((Vec::new(), now)),
        };
    };
    let windows = &force.renewing.windows;
    let asked = match (&request.windows, &windows.day) {
        (None, None) => &[][..],
        (Some(asked), Some(_)) if asked.windows == *windows && is_good(asked) => &asked.asked,
        (None, Some(day)) => {
            let (name, every, day) = (name.clone(), windows.every, day.name.clone());
            return Err(refused(WindowFault::NotOfWindows { name, every, day }));
        }
        (Some(_), _) => return Err(refused(WindowFault::Changed { name: name.clone() })),
    };
    let found = windows_of(windows, asked, now);
    let cost = cost_in_each(&request.data_set.unit, cost, found.len());
    let mut charged = Vec::new();
    for window in found {
        let account = account(entries, name, &force, window)?;
        let account = account.after(&cost).map_err(|()| over(&account, window, &cost))?;
        charged.push(InWindow { window, account });
    }
    Ok((charged, now))
}

/// How the windows of a charge stand that was made before.
pub(super) fn standing(
    entries: &dyn Entries,
    data_set: &str,
    charged: &[(Window, Cost)],
) -> Fallible<Vec<InWindow>> {
    let Some(force) = in_force(entries, data_set)?.filter(|_| !charged.is_empty()) else {
        return Ok(Vec::new());
    };
    let of = |&(window, _): &(Window, Cost)| {
        Ok(InWindow { window, account: account(entries, data_set, &force, window)? })
    };
    charged.iter().map(of).collect()
}

/// Some windows of the length in force, each once and in order.
fn is_good(asked: &AskedWindows) -> bool {
    let windows = &asked.asked;
    (1..=MOST_WINDOWS).contains(&windows.len())
        && windows.iter().all(|window| window.every() == asked.windows.every)
        && windows.windows(2).all(|two| two[0] < two[1])
}

/// The lengths of all windows of time that are in force in this ledger, the shortest first: a charge of any data set moves ledger time.
pub(super) fn of_time(entries: &dyn Entries) -> Fallible<Vec<Every>> {
    let names =
        entries.texts("SELECT DISTINCT data_set FROM entries WHERE kind = ?1", values![kind::RENEW])?;
    let mut found = Vec::new();
    for name in names {
        let windows = in_force(entries, &name)?.map(|force| force.renewing.windows);
        found.extend(windows.filter(|windows| windows.day.is_none()).map(|windows| windows.every));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The sums of windows, as verification recomputes them.
#[derive(Debug)]
pub(super) struct Recomputed {
    pub force: InForce,
    /// What counts in every window.
    base: Cost,
    windows: BTreeMap<Window, Account>,
}

impl Recomputed {
    /// From the entry that sets the limit, or with which the unit begins anew; nothing where it lifts one.
    pub fn following(
        entries: &dyn Entries,
        name: &str,
        before: Option<Self>,
        set: Option<Renewing>,
        (number, spent): (i64, &Cost),
    ) -> Fallible<Option<Self>> {
        let (force, kept) = match before {
            Some(Self { force, base, windows }) => (Some(force), Some((base, windows))),
            None => (None, None),
        };
        let Some(force) = following(force, set, number) else { return Ok(None) };
        let (base, windows) = match kept {
            Some(kept) if force.from != number => kept,
            _ => (spent.clone(), BTreeMap::new()),
        };
        let mut found = Self { force, base, windows: BTreeMap::new() };
        for (window, account) in windows {
            let account = found.under_limit(entries, name, window, account.spent, number)?;
            found.windows.insert(window, account);
        }
        Ok(Some(found))
    }

    /// The same under another unit, of which so much was spent before.
    pub fn anew(self, number: i64, spent: &Cost) -> Self {
        let force = InForce { from: number, ..self.force };
        Self { force, base: spent.clone(), windows: BTreeMap::new() }
    }

    fn under_limit(
        &self,
        entries: &dyn Entries,
        name: &str,
        window: Window,
        spent: Cost,
        number: i64,
    ) -> Fallible<Account> {
        let limit = Some(self.force.renewing.limit.clone());
        Account { spent, ..Account::new() }
            .under(limit, || charges(entries, name, &self.force, window, number))
    }

    /// What counts for entries that are missing counts in every window.
    pub fn gap(&mut self, cost: &Cost) {
        self.base = self.base.plus(cost);
        for account in self.windows.values_mut() {
            *account = account.with(cost);
        }
    }

    /// Take in a charge at a time, with what it says of its windows; what is wrong with it, if anything is.
    pub fn charge(
        &mut self,
        entries: &dyn Entries,
        data_set: &DataSet,
        (number, time): (i64, u64),
        cost: &Cost,
        said: &[(Window, Cost)],
    ) -> Fallible<Option<&'static str>> {
        let windows = &self.force.renewing.windows;
        let good = if windows.day.is_some() {
            let asked = said.iter().map(|(window, _)| *window).collect();
            is_good(&AskedWindows { windows: windows.clone(), asked })
        } else {
            matches!(said, [(window, _)] if *window == window_at(windows.every, time))
        };
        if !good {
            return Ok(Some("its windows are not those of the limit that renews"));
        }
        let cost = cost_in_each(&data_set.unit, cost, said.len());
        for (window, spent) in said {
            let account = match self.windows.remove(window) {
                Some(account) => account,
                None => self.under_limit(entries, &data_set.name, *window, self.base.clone(), number)?,
            };
            match account.after(&cost) {
                Err(()) => return Ok(Some("it goes beyond the limit of its window")),
                Ok(sum) if sum.spent != *spent => {
                    return Ok(Some("the sum of its window is not that of the charges"));
                }
                Ok(sum) => {
                    self.windows.insert(*window, sum);
                }
            }
        }
        Ok(None)
    }
}
