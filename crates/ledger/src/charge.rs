//! Charge, then run; record, then show.

use super::{
    Fallible, Ledger, Stop,
    balance::{self, Account, Balance},
    calendar::Window,
    chain::{self, Link},
    clock,
    cost::Cost,
    entries::{Entries, values},
    entry::{self, ChargeBody, Event, Row, kind},
    entry_of,
    error::{ChargeError, DataSetError, Fault, LedgerError, OverBudget},
    files, forget,
    registry::{self, ANALYST, DataSet, check_name},
    renewing::{self, AskedWindows},
    request_equality::same,
    reregistration, store,
};
use serde::{Deserialize, Serialize};

/// What is to be paid for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChargeRequest {
    /// The data set with the unit and adjacency that the cost is for.
    pub data_set: DataSet,
    /// Who asks.
    pub analyst: Option<String>,
    /// A name for this request: asking again under it gives the same answer for free.
    pub request_id: Option<String>,
    /// The request as JSON in one canonical form; two requests are the same when their texts are, numbers compared as numbers.
    pub request: String,
    /// The question and the mechanism that answers it, as JSON, for the log and for explanations.
    pub question: String,
    /// What it costs.
    pub cost: Cost,
    /// The calendar windows whose rows alone it is about, where a limit renews by a column of days.
    pub windows: Option<AskedWindows>,
}

/// A charge that is durable. It is the only way to an answer, cannot be copied, and comes from a ledger alone.
///
/// ```compile_fail
/// # fn twice(charge: equipoise_ledger::Charge) {
/// let two = charge.clone();
/// # }
/// ```
///
/// ```compile_fail
/// # use equipoise_ledger::Charge;
/// let free = Charge { id: "free".into() };
/// ```
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a charge is paid for; run its plan"]
pub struct Charge {
    id: String,
    hash: String,
    time: String,
    cost: Cost,
    balance: Balance,
}

impl Charge {
    /// Its id, which will be the id of the receipt.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The hash of its entry and of everything before it.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// When it was made.
    pub fn time(&self) -> &str {
        &self.time
    }

    /// So many seconds after it was made.
    pub fn time_after(&self, seconds: u64) -> String {
        clock::after(&self.time, seconds).unwrap_or_else(|| self.time.clone())
    }

    /// What was charged: what was asked for, rounded up where the exact number does not fit a line.
    pub fn cost(&self) -> &Cost {
        &self.cost
    }

    /// What is spent and left with it.
    pub fn balance(&self) -> &Balance {
        &self.balance
    }
}

/// What came of a charge that was not an error.
#[derive(Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and its caller moves the charge on")]
pub enum Charging {
    /// It is durable; go on.
    Granted(Charge),
    /// The same request was answered before: this is the answer, and nothing was charged.
    Replay(Recorded),
}

/// An answer that was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The release without its receipt.
    pub release: String,
    /// Its receipt.
    pub receipt: Receipt,
}

/// What shows later that an answer was paid for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The id of the charge.
    pub id: String,
    /// The hash of the record and of everything in the ledger before it.
    pub hash: String,
    /// When the answer was recorded.
    pub time: String,
    /// The id of the ledger; `None` for one that ended with its process.
    pub ledger: Option<String>,
}

impl Ledger {
    /// Pay for a request, in one durable transaction, or say why not. What is not granted changes nothing.
    pub fn charge(&mut self, request: &ChargeRequest) -> Result<Charging, ChargeError> {
        self.charge_together(request, &[]).map(|(charging, _)| charging)
    }

    /// The same for a request about rows of several data sets: each pays the whole price, in the same transaction, or none does. The request
    /// id belongs to the first; where that is a replay, nobody pays.
    pub fn charge_together(
        &mut self,
        request: &ChargeRequest,
        others: &[DataSet],
    ) -> Result<(Charging, Vec<Charge>), ChargeError> {
        let other = |data_set: &DataSet| ChargeRequest {
            data_set: data_set.clone(),
            request_id: None,
            // The windows are those of the first: what the others would be filtered by is not known.
            windows: None,
            ..request.clone()
        };
        let others: Vec<ChargeRequest> = others.iter().map(other).collect();
        check_names(request)?;
        others.iter().try_for_each(check_names)?;
        if !request.cost.is_accountable() {
            return Err(ChargeError::TooMuch { requested: request.cost.approx.clone() });
        }
        let cost = request.cost.written_up();
        let ledger = self.lasting_id();
        // An answer that is given again is charged nowhere.
        let (analyst, request_id) = (request.analyst.as_deref(), request.request_id.as_deref());
        let again = self.read(|entries| earlier(entries, analyst, request_id))?.is_some();
        let mut paying = Vec::new();
        for one in std::iter::once(request).chain(&others) {
            let apart = if again { Vec::new() } else { self.said_elsewhere(one)? };
            let known =
                self.shared.expected(&one.data_set.name).map_or(Vec::new(), |expected| expected.files);
            paying.push((one, apart, known));
        }
        self.write(|entries, coins| {
            if let Some(earlier) = earlier(entries, analyst, request_id)? {
                let name = &request.data_set.name;
                let recorded = replay(entries, name, &request.request, &earlier, ledger)?;
                return Ok((Charging::Replay(recorded), Vec::new()));
            }
            let mut charges = Vec::new();
            for (one, apart, known) in &paying {
                let name = &one.data_set.name;
                admit(entries, &one.data_set, || store::fresh_id(coins))?;
                named_where_needed(entries, one)?;
                files::note(entries, coins, name, known)?;
                for apart in apart {
                    files::enter(entries, &store::fresh_id(coins), name, one.analyst.as_deref(), apart)?;
                }
                let id = store::fresh_id(coins);
                charges.push(enter(entries, id, one, cost.clone())?);
            }
            let first = charges.remove(0);
            Ok((Charging::Granted(first), charges))
        })
    }

    /// The answer that this analyst was given for the same request under this id; nothing where the id is new. Whoever looks before
    /// planning gives answers again that a later version would not plan. Nothing is charged or written.
    pub fn answered(
        &self,
        data_set: &str,
        analyst: Option<&str>,
        request_id: &str,
        request: &str,
    ) -> Result<Option<Recorded>, ChargeError> {
        let ledger = self.lasting_id();
        let found = self.read(|entries| {
            let Some(before) = earlier(entries, analyst, Some(request_id))? else { return Ok(Ok(None)) };
            match replay(entries, data_set, request, &before, ledger) {
                Ok(recorded) => Ok(Ok(Some(recorded))),
                Err(Stop::Refused(error)) => Ok(Err(error)),
                Err(Stop::Failed(error)) => Err(error),
            }
        });
        found?
    }

    /// The same, where a charge under this request id that was never recorded is taken up again instead of lost. Only for
    /// who can show that nothing was answered on its strength, as a monitor's state file does.
    pub fn charge_once(&mut self, request: &ChargeRequest) -> Result<Charging, ChargeError> {
        match self.charge(request) {
            Err(ChargeError::Lost { id, .. }) => Ok(Charging::Granted(self.taken_up(&id, request)?)),
            other => other,
        }
    }

    /// The charge with this id, as it was granted.
    fn taken_up(&self, id: &str, request: &ChargeRequest) -> Result<Charge, LedgerError> {
        self.read(|entries| {
            let Some(row) = by_id(entries, kind::CHARGE, id)? else {
                return Err(Fault::NotItsCharge);
            };
            let Event::Charged { cost, windows, .. } = entry_of(&row)?.event else {
                unreachable!("a row of this kind reads as such an event")
            };
            let name = &request.data_set.name;
            let mut balance = balance::balance(entries, name, request.analyst.as_deref())?;
            balance.windows = renewing::standing(entries, name, &windows)?;
            Ok(Charge { id: row.id, hash: row.hash, time: row.time, cost, balance })
        })
    }

    /// Keep the answer to a charge, before anybody sees it. The receipt completes the release.
    pub fn record(&mut self, charge: &Charge, release: &str) -> Result<Receipt, LedgerError> {
        self.record_with(charge, release, None)
    }

    /// The same at a time that was fixed when it was charged: so many seconds later. That time is written down, whatever the clock
    /// shows, so that an entry says nothing of how long its answer took.
    pub fn record_after(
        &mut self,
        charge: &Charge,
        release: &str,
        seconds: u64,
    ) -> Result<Receipt, LedgerError> {
        let time = charge.time_after(seconds);
        self.record_with(charge, release, Some(time))
    }

    fn record_with(
        &mut self,
        charge: &Charge,
        release: &str,
        time: Option<String>,
    ) -> Result<Receipt, LedgerError> {
        let ledger = self.lasting_id();
        let forgets = self.forgets();
        self.write(|entries, _| {
            let paid = by_id(entries, kind::CHARGE, &charge.id)?;
            let Some(paid) = paid.filter(|paid| paid.hash == charge.hash) else {
                return Err(Stop::Failed(Fault::NotItsCharge));
            };
            if by_id(entries, kind::RECORD, &charge.id)?.is_some() {
                return Err(Stop::Failed(Fault::AlreadyRecorded));
            }
            let analyst = (!paid.analyst.is_empty()).then_some(paid.analyst.as_str());
            let link = Link {
                kind: kind::RECORD,
                id: &charge.id,
                data_set: &paid.data_set,
                analyst,
                request_id: None,
                body: entry::record_body(release),
            };
            let row = match time {
                Some(time) => chain::append_at(entries, link, time)?,
                None => chain::append(entries, link)?,
            };
            if forgets {
                forget::after(entries, &paid)?;
            }
            Ok(receipt(row, ledger))
        })
    }
}

fn check_names(request: &ChargeRequest) -> Result<(), DataSetError> {
    check_name("data set", &request.data_set.name)?;
    for (what, name) in [(ANALYST, &request.analyst), ("request id", &request.request_id)] {
        if let Some(name) = name {
            check_name(what, name)?;
        }
    }
    Ok(())
}

impl Ledger {
    /// Did this analyst charge something under this request id?
    pub fn is_used(&self, analyst: &str, request_id: &str) -> Result<bool, LedgerError> {
        self.read(|entries| Ok(earlier(entries, Some(analyst), Some(request_id))?.is_some()))
    }
}

/// The charge that this analyst made under the same request id.
fn earlier(entries: &dyn Entries, analyst: Option<&str>, request_id: Option<&str>) -> Fallible<Option<Row>> {
    let Some(request_id) = request_id else { return Ok(None) };
    let analyst = analyst.unwrap_or_default();
    entries.one("analyst = ?1 AND request_id = ?2", values![analyst, request_id])
}

fn replay(
    entries: &dyn Entries,
    data_set: &str,
    request: &str,
    earlier: &Row,
    ledger: Option<String>,
) -> Result<Recorded, Stop<ChargeError>> {
    let Event::Charged { request: before, request_id, .. } = entry_of(earlier)?.event else {
        return Err(Fault::damaged(earlier.number.unsigned_abs(), "only charges have a request id").into());
    };
    if !same(&before, request) || earlier.data_set != data_set {
        let request_id = request_id.unwrap_or_default();
        return Err(Stop::Refused(ChargeError::RequestIdTaken { request_id }));
    }
    if !reregistration::is_in_force(entries, &earlier.data_set, earlier.number)? {
        let request_id = request_id.unwrap_or_default();
        return Err(Stop::Refused(ChargeError::BeforeAnew { request_id }));
    }
    let Some(row) = by_id(entries, kind::RECORD, &earlier.id)? else {
        let (id, time) = (earlier.id.clone(), earlier.time.clone());
        return Err(Stop::Refused(ChargeError::Lost { id, time }));
    };
    Ok(recorded(row, ledger)?)
}

/// The data set is what the request takes it for; a ledger without limits takes in new names.
fn admit(
    entries: &dyn Entries,
    data_set: &DataSet,
    fresh_id: impl FnOnce() -> String,
) -> Result<(), Stop<ChargeError>> {
    if registry::check::<ChargeError>(entries, data_set)?.is_some() {
        return Ok(());
    }
    if registry::any_limit(entries)? {
        return Err(DataSetError::Unregistered { name: data_set.name.clone() }.into());
    }
    Ok(registry::enter(entries, &fresh_id(), data_set, None)?)
}

/// Where analysts have limits, somebody asks: else who has used one up would go on by saying nothing.
fn named_where_needed(entries: &dyn Entries, request: &ChargeRequest) -> Result<(), Stop<ChargeError>> {
    let name = &request.data_set.name;
    let needed = request.analyst.is_none()
        && files::limited_analysts(entries, name)?.iter().any(|analyst| !analyst.is_empty());
    if needed { Err(Stop::Refused(ChargeError::Nameless { name: name.clone() })) } else { Ok(()) }
}

/// Check the limits and write the charge with its sums.
fn enter(
    entries: &dyn Entries,
    id: String,
    request: &ChargeRequest,
    cost: Cost,
) -> Result<Charge, Stop<ChargeError>> {
    let (name, analyst) = (&request.data_set.name, request.analyst.as_deref());
    let mut balance = balance::balance(entries, name, analyst)?;
    let over_window = |account: &Account, analyst: Option<&str>, window: Option<Window>, cost: &Cost| {
        Stop::Refused(ChargeError::OverBudget(Box::new(OverBudget {
            data_set: name.clone(),
            analyst: analyst.map(str::to_string),
            window,
            spent: account.spent_of_limit(),
            requested: account.limit.as_ref().and_then(|limit| limit.spent(&[(cost.clone(), 1)])),
            remaining: account.remaining().expect("only a limit refuses"),
            limit: account.limit.clone().expect("only a limit refuses"),
        })))
    };
    let over = |account: &Account, analyst: Option<&str>| over_window(account, analyst, None, &cost);
    let of_window =
        |account: &Account, window: Window, cost: &Cost| over_window(account, None, Some(window), cost);
    let (windows, time) = renewing::admit(entries, request, &cost, of_window)?;
    balance.windows = windows;
    if let Some(account) = &mut balance.analyst {
        *account = account.after(&cost).map_err(|()| over(account, analyst))?;
    }
    balance.data_set = balance.data_set.after(&cost).map_err(|()| over(&balance.data_set, None))?;
    let body = ChargeBody {
        cost: &cost,
        request: &request.request,
        question: &request.question,
        spent: &balance.data_set.spent,
        spent_by_analyst: balance.analyst.as_ref().map(|account| &account.spent),
        windows: &balance.windows,
    };
    let link = Link {
        kind: kind::CHARGE,
        id: &id,
        data_set: name,
        analyst,
        request_id: request.request_id.as_deref(),
        body: body.text(),
    };
    let row = chain::append_in_time(entries, link, time)?;
    Ok(Charge { id, hash: row.hash, time: row.time, cost, balance })
}

/// The row of a kind with this id.
pub(super) fn by_id(entries: &dyn Entries, kind: &str, id: &str) -> Fallible<Option<Row>> {
    entries.one("id = ?1 AND kind = ?2", values![id, kind])
}

/// What a record holds.
pub(super) fn recorded(row: Row, ledger: Option<String>) -> Fallible<Recorded> {
    match entry_of(&row)?.event {
        Event::Recorded { release } => Ok(Recorded { release, receipt: receipt(row, ledger) }),
        _ => unreachable!("a row of this kind reads as such an event"),
    }
}

fn receipt(row: Row, ledger: Option<String>) -> Receipt {
    Receipt { id: row.id, hash: row.hash, time: row.time, ledger }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Limit,
        tests::{logged, loss, request, salaries},
    };

    fn visits() -> DataSet {
        DataSet { name: "visits".into(), ..salaries() }
    }

    fn charges_of(ledger: &Ledger, name: &str) -> usize {
        let is = |entry: &crate::Entry| {
            entry.data_set.as_deref() == Some(name) && matches!(entry.event, Event::Charged { .. })
        };
        logged(ledger).iter().filter(|entry| is(entry)).count()
    }

    #[test]
    fn several_data_sets_pay_together_or_not_at_all() {
        let mut ledger = Ledger::in_memory().unwrap();
        for (data_set, eps) in [(salaries(), "5"), (visits(), "1.5")] {
            ledger.register(&data_set, None).unwrap();
            ledger.set_limit(&data_set.name, None, Some(&Limit::Approx(loss(eps, "0")))).unwrap();
        }
        let (first, others) = ledger.charge_together(&request("1"), &[visits()]).unwrap();
        assert!(matches!(first, Charging::Granted(_)) && others.len() == 1);
        assert_eq!((charges_of(&ledger, "salaries"), charges_of(&ledger, "visits")), (1, 1));
        // The second limit is too small: the first data set is not charged either.
        let refused = ledger.charge_together(&request("1"), &[visits()]).unwrap_err();
        assert!(
            matches!(&refused, ChargeError::OverBudget(over) if over.data_set == "visits"),
            "{refused:?}"
        );
        assert_eq!((charges_of(&ledger, "salaries"), charges_of(&ledger, "visits")), (1, 1));
        ledger.verify(None).unwrap();
    }

    #[test]
    fn a_replay_charges_nobody() {
        let mut ledger = Ledger::in_memory().unwrap();
        let request = ChargeRequest { request_id: Some("a".into()), ..request("1") };
        let (first, others) = ledger.charge_together(&request, &[visits()]).unwrap();
        let Charging::Granted(charge) = first else { panic!("it is new") };
        ledger.record(&charge, "{}").unwrap();
        ledger.record(&others[0], "{}").unwrap();
        let (again, others) = ledger.charge_together(&request, &[visits()]).unwrap();
        assert!(matches!(again, Charging::Replay(_)) && others.is_empty());
        assert_eq!(charges_of(&ledger, "visits"), 1);
    }
}
