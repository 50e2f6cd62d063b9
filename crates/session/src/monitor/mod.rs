//! Threshold questions about a file, for ever: paid for once, durable, the same after a crash as without one.
//!
//! # Guarantee
//!
//! - All answers of one monitor together are (epsilon, delta)-DP for one unit, under its adjacency, however many there
//!   are, and however often the program ends and starts again, whoever chooses the moments.
//! - The ledger is charged once, before any row is read. What cannot be paid for is not begun.
//! - An answer is on the disk before anybody sees it, and its question was there before its coins were drawn: no
//!   question is asked twice and none is answered in two ways. The same question on another line is another question.
//! - What can be wrong with a line is said in one line, spends nothing and stops nobody.
//!
//! # Why
//!
//! 1. Between two questions the mechanism remembers no noise, only what is left of each unit's budget, and that is a
//!    function of the unit's rows and of the answers so far
//!    ([`threshold_monitor`](equipoise_core::monitor::threshold_monitor), step 2). So the questions and answers are the
//!    whole state. Reading them again gives the state of a program that never ended, and coins that are drawn after a
//!    restart are as fresh as any: nothing has to be stored that must stay secret, and no coin is used twice.
//! 2. A program may end after coins were drawn for a question and before its answer is on the disk. Nobody was shown the
//!    answer, but who ended the program may have guessed it, from the time it took say. Asking again would be a second
//!    look that nobody pays for. So such a question is never asked again: its outcome is *lost*, for ever, and everybody
//!    who contributed to it spends as if the answer had been positive.
//! 3. That is no weaker: let the outcome, lost or not, be any function of the drawn answer and of the transcript. In the
//!    proof of the mechanism each positive answer spends; here what is lost spends as well, positive or not. So after k
//!    times nothing of the unit is seen any more, as before, and what is told is computed from what the proof already
//!    grants to whoever looks.
//! 4. A line that the disk does not have whole had no consequences: coins are drawn after the line of their questions
//!    is durable, and answers are shown after theirs is ([`log`]).
//! 5. The file's own id is the request id under which the ledger is charged, so that a program that ends between charge and
//!    first answer finds its charge again.
//! 6. The rows are fixed: a fingerprint of the content is taken after the charge and compared whenever rows are read.
//! 7. The first line says which file it is, so that a copy is refused: it would spend one charge twice. A file of a version that
//!    did not say so is taken up once, and the ledger keeps which file that was.
//!
//! Units are rows, or people named by a column. A person says yes who has a row that does, and a person's sum is cut to
//! one, so that a person needs no bound on rows: the budget of the mechanism is one for each person.
//!
//! # What it cannot do
//!
//! Stop who can write the state file, or put back an old copy of it: such a person can read the data as well.
//! Its time tells how many different texts a column holds that a question names, and nothing else of equally many rows.

mod live;
pub mod log;
mod plan;
mod query;
mod state;
mod table;

pub use live::LiveMonitor;
pub use log::Outcome;
pub use plan::{MonitorPlan, MonitorRequest};
pub use query::{LONGEST_LINE, Query, QueryError};
pub use state::{StateError, StateFault};

use crate::{
    answer,
    ledger::{ChargeError, Charging, Event, FingerprintError, Ledger, LedgerError, Receipt},
    quiet::privately,
    release::Release,
    session::Priced,
    source::{ColumnRead, Lost, Source},
    unanswered::Unanswered,
};
use equipoise_core::{
    coins::{Coins, Words},
    monitor::threshold_monitor::{Answer, Calibrated, Contributions, Watch},
    ratio::Ratio,
};
use equipoise_entropy::{EntropyError, OsCoins};
use log::{Head, Line, Log, Payment};
use query::Bound;
use serde_json::{Value, json};
use state::State;
use std::{
    fmt,
    io::{self, Read},
    path::Path,
};
use table::{MOST_COLUMNS, Parts, Table};

/// Opens the content of the rows, to take its fingerprint.
pub type Content<'a> = &'a dyn Fn() -> io::Result<Box<dyn Read>>;

/// Opens the rows.
pub type Rows<'a> = &'a dyn Fn() -> Result<Box<dyn Source + 'a>, Lost>;

/// What a monitor watches, and where it writes.
pub struct Watched<'a> {
    /// The rows.
    pub rows: Rows<'a>,
    /// Their content, where they have any.
    pub content: Option<Content<'a>>,
    /// The state file; a new one is begun where there is none.
    pub state: &'a Path,
}

/// A monitor that has been paid for.
pub struct Monitor {
    state: State,
    payment: Payment,
    running: Running,
    names: Names,
    coins: OsCoins,
    asked: u64,
    /// Something failed half way; only a restart knows how things stand.
    stopped: bool,
    resumed: bool,
    /// Questions that are answered on the disk.
    history: Vec<(Query, Outcome)>,
    /// How many of them earlier starts answered.
    before: usize,
}

impl Monitor {
    /// Pay for a monitor and begin it, or take up the one in the state file, which was paid for.
    pub fn open(plan: &MonitorPlan, watched: &Watched<'_>, ledger: &mut Ledger) -> Result<Self, OpenError> {
        let mut coins = OsCoins::new()?;
        let (mut state, log) = State::open(watched.state)?;
        let log = match log {
            Some(log) => same_monitor(plan, ledger, log).map_err(|fault| state.failed(fault))?,
            None => begin(plan, ledger, &mut state, &mut coins)?,
        };
        let resumed = log.payment.is_some();
        let (state, payment) = match &log.payment {
            Some(payment) => {
                check_paid(ledger, plan, &payment.receipt)?.then_some(()).ok_or_else(|| {
                    state.failed(StateFault::Unpaid { receipt: payment.receipt.id.clone() })
                })?;
                (state, payment.clone())
            }
            None => pay(plan, ledger, state, &log.head.id, watched.content)?,
        };
        if log.head.file.is_none() && !ledger.adopt(&payment.receipt.id, state.id())? {
            return Err(state.failed(StateFault::Copied).into());
        }
        // Opened after the first look and read before the second, so that these are the rows that were paid for.
        let same = || fingerprint(ledger, watched.content).map(|content| content == payment.content);
        let other_rows = || OpenError::from(state.failed(StateFault::OtherRows));
        same()?.then_some(()).ok_or_else(other_rows)?;
        let source = (watched.rows)().map_err(unread)?;
        let names = Names::of(&*source);
        let rebuilt =
            privately(|| Ok(Running::rebuild(plan.calibrated(), plan.unit_column(), &*source, &log)?));
        same()?.then_some(()).ok_or_else(other_rows)?;
        let mut monitor = Self {
            running: rebuilt.map_err(OpenError::Unread)?,
            names,
            state,
            payment,
            coins,
            asked: (log.answered.len() + log.open.len()) as u64,
            stopped: false,
            resumed,
            history: log.answered,
            before: 0,
        };
        if !log.open.is_empty() {
            monitor
                .state
                .append(&Line::Answers(vec![Outcome::Lost; log.open.len()]))
                .map_err(OpenError::Unwritten)?;
            monitor.history.extend(log.open.into_iter().map(|query| (query, Outcome::Lost)));
        }
        monitor.before = monitor.history.len();
        Ok(monitor)
    }

    /// What paid for it.
    pub fn receipt(&self) -> &Receipt {
        &self.payment.receipt
    }

    /// Was it begun earlier?
    pub fn resumed(&self) -> bool {
        self.resumed
    }

    /// Every question of earlier starts with its answer.
    pub fn earlier(&self) -> impl Iterator<Item = Value> {
        self.history().take(self.before)
    }

    /// Every question so far with its answer, as the lines that were or would have been shown.
    pub fn history(&self) -> impl Iterator<Item = Value> {
        self.history.iter().zip(1u64..).map(|((query, outcome), number)| {
            let mut line = answer(number, *outcome);
            line["asked"] = query.to_json();
            line
        })
    }

    /// Answer lines, one JSON object for each, in order. What is returned is on the disk. What is watched is what it was
    /// opened with.
    ///
    /// Lines that are there at the same time share the waiting for the disk.
    pub fn ask(
        &mut self,
        lines: &[&str],
        watched: &Watched<'_>,
        ledger: &Ledger,
    ) -> Result<Vec<Value>, AskError> {
        let read = |line: &&str| {
            let query = Query::parse(line)?;
            let bound = query.bind(&self.names, self.running.sums())?;
            Ok((query, bound))
        };
        let asked: Vec<Result<(Query, Bound), QueryError>> = lines.iter().map(read).collect();
        let good: Vec<&(Query, Bound)> = asked.iter().flatten().collect();
        let mut outcomes = Vec::with_capacity(good.len());
        let mut rest = &good[..];
        while !rest.is_empty() {
            let (group, later) = rest.split_at(group_length(rest));
            outcomes.extend(self.ask_group(group, watched, ledger)?);
            rest = later;
        }
        let mut outcomes = outcomes.into_iter();
        let mut line = |asked: &Result<_, QueryError>| {
            if let Err(error) = asked {
                return json!({ "error": error.to_string() });
            }
            self.asked += 1;
            answer(self.asked, outcomes.next().expect("one for each question"))
        };
        Ok(asked.iter().map(&mut line).collect())
    }

    fn ask_group(
        &mut self,
        group: &[&(Query, Bound)],
        watched: &Watched<'_>,
        ledger: &Ledger,
    ) -> Result<Vec<Outcome>, AskError> {
        if std::mem::replace(&mut self.stopped, true) {
            return Err(Unanswered::Stopped.into());
        }
        let columns: Vec<ColumnRead> =
            group.iter().flat_map(|(_, bound)| bound.wanted.iter().copied()).collect();
        // Before anything is written, so that a disk that fails here costs nobody's budget.
        if self.running.table.missing(&columns).is_empty() {
            self.running.table.load(&self.names, &columns)?;
        } else {
            let source = (watched.rows)()?;
            privately(|| Ok(self.running.table.load(&*source, &columns)?))?;
            if fingerprint(ledger, watched.content)? != self.payment.content {
                return Err(self.state.failed(StateFault::OtherRows).into());
            }
        }
        self.state.append(&Line::Queries(group.iter().map(|(query, _)| query.clone()).collect()))?;
        let (running, coins) = (&mut self.running, &mut self.coins);
        let outcomes =
            privately(|| Ok(group.iter().map(|(_, bound)| running.ask(bound, coins)).collect::<Vec<_>>()))?;
        self.state.append(&Line::Answers(outcomes.clone()))?;
        self.history.extend(group.iter().map(|(query, _)| query.clone()).zip(outcomes.iter().copied()));
        self.stopped = false;
        Ok(outcomes)
    }
}

/// The columns as they were when the monitor was opened: questions are bound to these, whatever becomes of the file.
struct Names {
    columns: Vec<String>,
    unreadable: Vec<Option<String>>,
}

impl Names {
    fn of(source: &dyn Source) -> Self {
        let columns = source.columns().to_vec();
        Self { unreadable: (0..columns.len()).map(|place| source.unreadable(place)).collect(), columns }
    }
}

impl Source for Names {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn scan(&self, _: &[ColumnRead], _: &mut [&mut dyn crate::source::Visitor]) -> Result<(), Lost> {
        Err(Lost)
    }

    fn unreadable(&self, column: usize) -> Option<String> {
        self.unreadable.get(column).cloned().flatten()
    }
}

/// How many questions to answer together: as many as their columns fit.
fn group_length(questions: &[&(Query, Bound)]) -> usize {
    let mut columns: Vec<ColumnRead> = Vec::new();
    for (length, (_, bound)) in questions.iter().enumerate() {
        columns.extend_from_slice(&bound.wanted);
        columns.sort_unstable();
        columns.dedup();
        if columns.len() > MOST_COLUMNS {
            return length.max(1);
        }
    }
    questions.len()
}

fn answer(number: u64, outcome: Outcome) -> Value {
    json!({ "query": number, "answer": outcome })
}

/// Is the file of this ledger, data set and request?
fn same_monitor(plan: &MonitorPlan, ledger: &Ledger, log: Log) -> Result<Log, StateFault> {
    let other =
        |what, there: &str, here: &str| StateFault::Other { what, there: there.into(), here: here.into() };
    if log.head.data != plan.data() {
        return Err(other("the data set", &log.head.data, plan.data()));
    }
    if log.head.ledger != ledger.id() {
        return Err(other("the ledger", &log.head.ledger, ledger.id()));
    }
    let names = [
        "epsilon",
        "delta",
        "budget_per_unit",
        "unit",
        "adjacency",
        "sums",
        "form",
        "analyst",
        "delimiter",
        "header",
    ];
    for what in names {
        let (there, here) = (&log.head.request[what], &plan.request()[what]);
        if there != here {
            let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
            return Err(other(what, &shown(there), &shown(here)));
        }
    }
    Ok(log)
}

fn begin(
    plan: &MonitorPlan,
    ledger: &Ledger,
    state: &mut State,
    coins: &mut impl Words,
) -> Result<Log, StateError> {
    let head = Head {
        id: format!("monitor-{:016x}{:016x}", coins.word(), coins.word()),
        ledger: ledger.id().to_string(),
        data: plan.data().to_string(),
        request: plan.request().clone(),
        file: Some(state.id()),
    };
    state.begin(head.clone())?;
    Ok(Log { head, payment: None, answered: Vec::new(), open: Vec::new(), hash: log::START, whole: 0 })
}

/// Does the ledger know the receipt, for this very request and in the account in force?
fn check_paid(ledger: &Ledger, plan: &MonitorPlan, receipt: &Receipt) -> Result<bool, LedgerError> {
    let Some((entry, recorded)) = ledger.find(&receipt.id)? else { return Ok(false) };
    let counts = ledger.counts(&entry)?;
    let wanted = plan.request().to_string();
    Ok(counts
        && matches!(entry.event, Event::Charged { request, .. } if request == wanted)
        && recorded.is_some_and(|recorded| recorded.receipt.hash == receipt.hash))
}

/// Charge the ledger, once; then write down what paid, and for which rows.
fn pay(
    plan: &MonitorPlan,
    ledger: &mut Ledger,
    mut state: State,
    id: &str,
    content: Option<Content<'_>>,
) -> Result<(State, Payment), OpenError> {
    let receipt = match ledger.charge_once(&plan.charge_request(plan.analyst(), Some(id))) {
        Ok(Charging::Granted(charge)) => {
            // What the ledger keeps is that it was begun. Its answers are in its own file.
            let release = Release::of(&plan.summary(), answer::Answer::given_elsewhere(), &charge);
            ledger.record(&charge, &release.to_text()).map_err(OpenError::Unrecorded)?
        }
        Ok(Charging::Replay(recorded)) => recorded.receipt,
        Err(error) => {
            // Where the ledger failed it may be charged, and the file finds the charge again.
            if !matches!(error, ChargeError::Ledger(_)) {
                state.remove();
            }
            return Err(error.into());
        }
    };
    let payment = Payment { receipt, content: fingerprint(ledger, content)? };
    state.append(&Line::Payment(payment.clone())).map_err(OpenError::Unwritten)?;
    Ok((state, payment))
}

fn fingerprint(ledger: &Ledger, content: Option<Content<'_>>) -> Result<Option<String>, FingerprintError> {
    let Some(content) = content else { return Ok(None) };
    let mut reader = content().map_err(|error| FingerprintError::Content(error.kind()))?;
    ledger.fingerprint(&mut *reader).map(Some)
}

fn unread(lost: Lost) -> OpenError {
    OpenError::Unread(lost.into())
}

/// The mechanism over a table. Generic over coins, so that audits enumerate it.
struct Running {
    table: Table,
    watch: Watch,
    contributions: Contributions,
}

impl Running {
    /// Nothing asked yet; these columns in memory.
    fn start(
        calibrated: &Calibrated,
        unit: Option<usize>,
        source: &dyn Source,
        columns: &[ColumnRead],
    ) -> Result<Self, Lost> {
        let table = Table::open(source, unit, columns)?;
        let watch = calibrated.start(table.units());
        Ok(Self { table, watch, contributions: calibrated.contributions() })
    }

    /// The state after all that the log says. What was open counts as lost.
    fn rebuild(
        calibrated: &Calibrated,
        unit: Option<usize>,
        source: &dyn Source,
        log: &Log,
    ) -> Result<Self, Lost> {
        let sums = calibrated.contributions() != Contributions::Binary;
        let lost = log.open.iter().map(|query| (query, Outcome::Lost));
        let all = log.answered.iter().map(|(query, outcome)| (query, *outcome)).chain(lost);
        let spending: Vec<(Bound, Outcome)> = all
            .filter(|(_, outcome)| outcome.spends_as() == Answer::Above)
            .map(|(query, outcome)| Ok((query.bind(source, sums).map_err(|_| Lost)?, outcome)))
            .collect::<Result<_, Lost>>()?;
        let mut first: Vec<ColumnRead> =
            spending.iter().flat_map(|(bound, _)| bound.wanted.iter().copied()).collect();
        first.sort_unstable();
        first.dedup();
        first.truncate(MOST_COLUMNS);
        let mut running = Self::start(calibrated, unit, source, &first)?;
        for (bound, outcome) in &spending {
            running.table.load(source, &bound.wanted)?;
            match running.table.parts(bound, running.contributions) {
                Parts::YesOrNo(yes) => running.watch.record(&yes, outcome.spends_as()),
                Parts::Units(units) => running.watch.record_units(&units, outcome.spends_as()),
            }
        }
        Ok(running)
    }

    fn sums(&self) -> bool {
        self.contributions != Contributions::Binary
    }

    /// Draw the answer to a question whose columns are loaded.
    fn ask(&mut self, bound: &Bound, coins: &mut impl Coins) -> Outcome {
        self.draw(&self.table.parts(bound, self.contributions), &bound.threshold, coins)
    }

    fn draw(&mut self, parts: &Parts, threshold: &Ratio, coins: &mut impl Coins) -> Outcome {
        let answer = match parts {
            Parts::YesOrNo(yes) => self.watch.ask(yes, threshold, coins),
            Parts::Units(units) => self.watch.ask_units(units, threshold, coins),
        };
        match answer {
            Answer::Above => Outcome::Above,
            Answer::Below => Outcome::Below,
            Answer::Halted => Outcome::Halted,
        }
    }
}

/// A monitor could not begin or go on. `Display` is one line.
#[derive(Debug)]
pub enum OpenError {
    /// The state file, before anything was charged by this start.
    State(StateError),
    /// The ledger does not grant it.
    Charge(ChargeError),
    /// The ledger cannot be read.
    Ledger(LedgerError),
    /// It is charged, and the ledger did not record that it began.
    Unrecorded(LedgerError),
    /// It is charged, and the state file cannot be written.
    Unwritten(StateError),
    /// It is charged, and the data could not be read.
    Unread(Unanswered),
    /// It is charged and lives in memory alone, so the charge is lost with it.
    Lost(Unanswered),
    /// There are no coins.
    Coins(EntropyError),
}

impl OpenError {
    /// The exit code of the command line.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::State(error) => error.exit_code(),
            Self::Charge(error) => error.exit_code(),
            Self::Ledger(error) => error.exit_code(),
            Self::Unrecorded(_) | Self::Unwritten(_) | Self::Unread(_) | Self::Lost(_) | Self::Coins(_) => 1,
        }
    }
}

/// What becomes of a monitor with a state file that failed after its charge: the file finds the charge again.
const GOES_ON: &str = "the charge stands; start it again the same way, nothing more is charged";

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State(error @ StateError { fault: StateFault::Io(_), .. }) => {
                write!(f, "{error}; this start charged nothing")
            }
            Self::State(error) => error.fmt(f),
            Self::Charge(error) => error.fmt(f),
            Self::Ledger(error) => write!(
                f,
                "{error}; what was charged stands; start it again the same way, nothing more is charged"
            ),
            Self::Unrecorded(error) => {
                let (which, what) = (error.which(), error.fault.what());
                write!(f, "{which} could not record that the monitor began ({what}); {GOES_ON}")
            }
            Self::Unwritten(error) => write!(f, "{error}; {GOES_ON}"),
            Self::Unread(why) => write!(f, "{}; {GOES_ON}", why.what()),
            Self::Lost(why) => write!(f, "{}; {} and the monitor is lost", why.what(), why.charge()),
            Self::Coins(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

macro_rules! opens_with {
    ($($kind:ident($error:ty)),*) => { $(
        impl From<$error> for OpenError {
            fn from(error: $error) -> Self {
                Self::$kind(error)
            }
        }
    )* };
}
opens_with!(State(StateError), Charge(ChargeError), Ledger(LedgerError), Coins(EntropyError));

impl From<FingerprintError> for OpenError {
    fn from(error: FingerprintError) -> Self {
        match error {
            FingerprintError::Ledger(error) => Self::Ledger(error),
            // What the disk said of the data is left out.
            FingerprintError::Content(_) => Self::Unread(Unanswered::Data),
        }
    }
}

/// A question could not be answered, nor can any other before a restart. `Display` is one line.
#[derive(Debug, PartialEq, Eq)]
pub enum AskError {
    /// The state file.
    State(StateError),
    /// The ledger, by whose secret the rows are recognised.
    Ledger(LedgerError),
    /// Something else: the data above all, or what broke over it.
    Lost(Unanswered),
}

impl AskError {
    /// The exit code of the command line.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::State(error) => error.exit_code(),
            Self::Ledger(_) | Self::Lost(_) => 1,
        }
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const AGAIN: &str = "start again, nothing more is charged";
        match self {
            Self::State(error @ StateError { fault: StateFault::Io(_) | StateFault::Broken, .. }) => {
                write!(f, "{error}; what was not printed is not answered; {AGAIN}")
            }
            Self::State(error) => error.fmt(f),
            Self::Ledger(error) => write!(f, "{error}; {AGAIN}"),
            Self::Lost(why) => write!(f, "{}; {AGAIN}", why.what()),
        }
    }
}

impl std::error::Error for AskError {}

impl From<StateError> for AskError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

impl From<Unanswered> for AskError {
    fn from(why: Unanswered) -> Self {
        Self::Lost(why)
    }
}

impl From<Lost> for AskError {
    fn from(lost: Lost) -> Self {
        Self::Lost(lost.into())
    }
}

impl From<FingerprintError> for AskError {
    fn from(error: FingerprintError) -> Self {
        match error {
            FingerprintError::Ledger(error) => Self::Ledger(error),
            FingerprintError::Content(_) => Self::Lost(Unanswered::Data),
        }
    }
}

pub(crate) mod audits;
#[cfg(test)]
mod tests;
