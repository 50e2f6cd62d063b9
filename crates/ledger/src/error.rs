//! What can go wrong with a ledger, each as one line with the next step.

use super::{
    calendar::Window,
    limit::{Limit, shown_down},
    registry::{ANALYST, DataSet},
    window_fault::WindowFault,
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Amount, Approx},
    wording::{shown, visible},
};
use std::{
    fmt,
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// The ledger itself cannot be used. What was being written is not in it, unless the fault is [`Fault::Unfinished`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerError {
    /// The file, or the address of a server without a role; `None` for a ledger in memory.
    pub path: Option<PathBuf>,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// There is no such file, or it is empty.
    Missing,
    /// A folder, or something else that is not a file.
    NotAFile,
    /// A file of another kind.
    NotALedger,
    /// Written by a newer version of Equipoise.
    Newer {
        /// The version of its layout.
        version: i64,
    },
    /// The file or its folder cannot be written to.
    ReadOnly,
    /// The file, or those that belong beside it, cannot be opened by this user.
    NoAccess,
    /// Its file system does not offer what safe sharing needs.
    NoSharedMemory,
    /// Another process held it for longer than a minute.
    Busy,
    /// No space left on its disk.
    Full,
    /// What is written in it contradicts itself.
    Damaged {
        /// The entry, counted from one; zero for the file as a whole.
        entry: u64,
        /// What is wrong there.
        what: String,
    },
    /// Its file has a second name, under which SQLite would keep a log of its own.
    TwoNames,
    /// Its file was removed, or another took its name, while it was open.
    Replaced,
    /// It was opened by a process and used by a forked child of it.
    Forked,
    /// It keeps sums in memory, and every entry is needed.
    Forgets,
    /// The charge is not one of this ledger.
    NotItsCharge,
    /// The answer to this charge was already recorded.
    AlreadyRecorded,
    /// This program was built without what keeps ledgers on servers.
    NotBuilt,
    /// What stands between this program and a server.
    Server {
        /// In our words, with the next step.
        what: String,
    },
    /// No server answers there.
    Unreachable,
    /// The line to the server broke before anything was kept.
    Gone,
    /// The database has no ledger.
    NotBegun,
    /// The database has one already.
    Begun,
    /// A server that could forget what it said it has.
    Forgetful {
        /// The setting, as in `fsync=off`.
        setting: String,
    },
    /// The role may change or delete entries.
    MayChange,
    /// What the operating system or SQLite said.
    Io {
        /// In its words.
        reason: String,
    },
    /// The disk, or the line to a server, failed at the very end of a transaction. It may have all of it: SQLite takes it back, but where
    /// the machine stops right then, the next process finds it whole; a server that does not come back says nothing.
    Unfinished {
        /// In the words of SQLite, or ours.
        reason: String,
    },
}

impl Fault {
    /// What is written contradicts itself, there.
    pub fn damaged(entry: u64, what: impl Into<String>) -> Self {
        Self::Damaged { entry, what: what.into() }
    }

    pub(super) fn at(self, place: Option<&Path>) -> LedgerError {
        LedgerError { path: place.map(PathBuf::from), fault: self }
    }

    /// What is wrong, without a next step and whatever was being done.
    pub fn what(&self) -> String {
        let words = match self {
            Self::Missing => "there is none yet",
            Self::NotAFile => "not a file",
            Self::NotALedger => "not a ledger of Equipoise, left as it is",
            Self::Newer { version } => {
                let known = super::store::NEWEST;
                return format!(
                    "its layout has version {version}, this program knows version {known} at most"
                );
            }
            Self::ReadOnly => "read-only",
            Self::NoAccess => "it, or a file beside it, cannot be opened",
            Self::NoSharedMemory => "its file system cannot share memory between processes",
            Self::Busy => "busy for a minute",
            Self::Full => "no space left on its disk",
            Self::Damaged { entry: 0, what } => return format!("damaged: {what}"),
            Self::Damaged { entry, what } => return format!("damaged at entry {entry}: {what}"),
            Self::TwoNames => "it has a second name, and charges under two names would be lost",
            Self::Replaced => "removed or replaced while it was open",
            Self::Forked => "opened before a fork",
            Self::Forgets => "it keeps sums only, not every charge",
            Self::NotItsCharge => "the charge is not one of this ledger",
            Self::AlreadyRecorded => "the answer to this charge was already recorded",
            Self::NotBuilt => {
                "a ledger on a server is kept by 'equipoise-postgres', which is not installed beside this program or on PATH"
            }
            Self::Server { what } => return what.clone(),
            Self::Unreachable => "no server answers there",
            Self::Gone => "the server went away before anything was written",
            Self::NotBegun => "the database has no ledger that this role may know of",
            Self::Begun => "the database has a ledger already, left as it is",
            Self::Forgetful { setting } => {
                return format!("its server has {setting} and could forget charges");
            }
            Self::MayChange => "the role may change or delete entries",
            Self::Io { reason } | Self::Unfinished { reason } => return reason.clone(),
        };
        words.to_string()
    }

    /// What to do about it, where there is something.
    fn next_step(&self) -> Option<&'static str> {
        Some(match self {
            Self::Missing => "the first charge or 'budget set' makes it",
            Self::NotAFile => "name a file with `ledger`",
            Self::NotALedger => "name another file with `ledger`",
            Self::Newer { .. } => "use a newer equipoise",
            Self::ReadOnly => "make it and its folder writable or name another with `ledger`",
            Self::NoAccess => "get access to it and its folder or name another with `ledger`",
            Self::NoSharedMemory => "put it on a local disk with `ledger`",
            Self::Busy => "nothing was written, try again",
            Self::Full => "free some and try again",
            Self::Damaged { .. } => "run 'equipoise budget verify'",
            Self::TwoNames => "remove the other name (a hard link)",
            Self::Replaced => "open it again",
            Self::Forked => "open it again in the child",
            Self::Forgets => "open one in a file",
            Self::NotItsCharge => "record it where it was made",
            Self::Unfinished { .. } => {
                "whether it was written is not known, 'equipoise budget log' shows what is there"
            }
            Self::NotBuilt => {
                "build it with 'cargo install --path crates/cli-postgres' in the source of equipoise"
            }
            Self::Unreachable => "check host, port and that it is started",
            Self::Gone => "try again",
            Self::NotBegun => "its steward makes one with 'equipoise budget init', which also lets roles in",
            Self::Begun => "let another role in as docs/databases.md says",
            Self::Forgetful { .. } => "have it set to on",
            Self::MayChange => "charge as the role that 'equipoise budget init' let in, which may only add",
            Self::Server { .. } | Self::AlreadyRecorded | Self::Io { .. } => return None,
        })
    }
}

impl LedgerError {
    /// The exit code of the command line: 2 where another file or flag helps, 1 for what failed inside.
    pub fn exit_code(&self) -> u8 {
        match self.fault {
            Fault::Missing
            | Fault::NotAFile
            | Fault::NotALedger
            | Fault::Newer { .. }
            | Fault::ReadOnly
            | Fault::NoAccess
            | Fault::TwoNames
            | Fault::NotBuilt
            | Fault::Server { .. }
            | Fault::Unreachable
            | Fault::NotBegun
            | Fault::Begun
            | Fault::Forgetful { .. }
            | Fault::MayChange
            | Fault::NoSharedMemory => 2,
            _ => 1,
        }
    }
}

impl LedgerError {
    /// Which ledger: "the ledger salaries.ledger".
    pub fn which(&self) -> String {
        self.path
            .as_deref()
            .map_or("the ledger in memory".into(), |path| format!("the ledger {}", path_shown(path)))
    }

    /// The same line where it stood in the way of an entry, with what is true of that entry then.
    pub fn without(&self, entered: &str) -> String {
        match self.fault {
            // Its own words say that this is not known.
            Fault::Unfinished { .. } => self.to_string(),
            _ => format!("{self}; {entered}"),
        }
    }
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "ledger {}: ", path_shown(path))?,
            None => f.write_str("ledger in memory: ")?,
        }
        f.write_str(&self.fault.what())?;
        match self.fault.next_step() {
            Some(next) => write!(f, "; {next}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for LedgerError {}

/// A path for one line of a message, its end kept: that is where files differ.
pub fn path_shown(path: &Path) -> String {
    const LONGEST: usize = 200;
    let text: Vec<char> = visible(&path.to_string_lossy()).chars().collect();
    match text.len().checked_sub(LONGEST) {
        None | Some(0) => text.into_iter().collect(),
        Some(more) => "...".chars().chain(text.into_iter().skip(more + 3)).collect(),
    }
}

/// A data set is not what the request takes it for. Nothing was charged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataSetError {
    /// The ledger has limits, and the name is not registered.
    Unregistered {
        /// The name.
        name: String,
    },
    /// Registered for another privacy unit.
    OtherUnit {
        /// The name.
        name: String,
        /// As registered.
        registered: Unit,
        /// As requested.
        requested: Unit,
    },
    /// Registered for another adjacency.
    OtherAdjacency {
        /// The name.
        name: String,
        /// As registered.
        registered: Adjacency,
        /// As requested.
        requested: Adjacency,
    },
    /// Something was spent for the unit and adjacency in force, which bounds nothing for others.
    Spent(Box<SpentForOthers>),
    /// Its limit is in a currency in which nothing can be counted as spent without a bound.
    Unbounded {
        /// The name.
        name: String,
    },
    /// What stands in the way of a limit that renews.
    Window(Box<WindowFault>),
    /// A name that is empty, too long or has control characters.
    BadName {
        /// Of what: a data set, an analyst, a request id.
        what: &'static str,
        /// The name.
        name: String,
    },
}

/// What was spent on a data set, for whom, and for whom it is to count instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpentForOthers {
    /// As registered.
    pub registered: DataSet,
    /// As requested.
    pub requested: DataSet,
    /// What was spent.
    pub spent: Approx,
}

impl fmt::Display for DataSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unregistered { name } => write!(
                f,
                "data set '{}' is not registered, and this ledger has limits; \
                 its steward registers it with 'equipoise budget set'",
                shown(name)
            ),
            Self::OtherUnit { name, registered, requested } => write!(
                f,
                "data set '{}' is registered with unit {}, not {}; ask with {}",
                shown(name),
                shown(&registered.to_string()),
                shown(&requested.to_string()),
                match registered {
                    Unit::Row => "no `unit`".to_string(),
                    Unit::Column(column) => format!("`unit={}`", shown(column)),
                }
            ),
            Self::OtherAdjacency { name, registered, requested } => write!(
                f,
                "data set '{}' is registered under {registered}, not {requested}; \
                 ask with `adjacency={registered}`",
                shown(name)
            ),
            Self::Spent(found) => write!(
                f,
                "data set '{}' has spent {} for {}, and that bounds nothing for {}; to count for that from now on, with what was \
                 spent kept in the log but no longer counted, say `anew`",
                shown(&found.registered.name),
                pair(&found.spent.eps, &found.spent.delta),
                found.registered.words(),
                found.requested.words()
            ),
            Self::Unbounded { name } => write!(
                f,
                "data set '{}' has a limit that is not in epsilon, and what was spent up to it has no epsilon; state a bound for what is \
                 missing, in `epsilon` and `delta`",
                shown(name)
            ),
            Self::Window(fault) => fault.fmt(f),
            Self::BadName { what, name } => {
                let without =
                    if *what == ANALYST { "characters that cannot be seen" } else { "control characters" };
                let (name, most) = (shown(name), super::registry::LONGEST_NAME);
                write!(f, "{what} '{name}' is not accepted: give 1 to {most} characters without {without}")
            }
        }
    }
}

impl std::error::Error for DataSetError {}

/// Content was not recognised, because one of the two could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FingerprintError {
    /// The ledger.
    Ledger(LedgerError),
    /// The content.
    Content(ErrorKind),
}

impl From<LedgerError> for FingerprintError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

/// A data set or a limit was not entered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// The data set is not what was said.
    DataSet(DataSetError),
    /// The content could not be read to be recognised again.
    Content(ErrorKind),
    /// The ledger cannot be used.
    Ledger(LedgerError),
}

impl RegisterError {
    /// The exit code of the command line.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::DataSet(_) => 2,
            Self::Content(_) => 1,
            Self::Ledger(error) => error.exit_code(),
        }
    }
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DataSet(error) => error.fmt(f),
            Self::Content(kind) => write!(f, "the data could not be read ({kind}); no limit was changed"),
            Self::Ledger(error) => f.write_str(&error.without("no limit was changed")),
        }
    }
}

impl std::error::Error for RegisterError {}

impl From<DataSetError> for RegisterError {
    fn from(error: DataSetError) -> Self {
        Self::DataSet(error)
    }
}

impl From<FingerprintError> for RegisterError {
    fn from(error: FingerprintError) -> Self {
        match error {
            FingerprintError::Ledger(error) => Self::Ledger(error),
            FingerprintError::Content(kind) => Self::Content(kind),
        }
    }
}

impl From<LedgerError> for RegisterError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

/// Why a charge was not made, or why its answer cannot be had again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChargeError {
    /// A limit does not allow it.
    OverBudget(Box<OverBudget>),
    /// The data set is not what the request takes it for.
    DataSet(DataSetError),
    /// The request id belongs to another request.
    RequestIdTaken {
        /// The id.
        request_id: String,
    },
    /// The request id belongs to a request of before the data set began anew for another unit or adjacency.
    BeforeAnew {
        /// The id.
        request_id: String,
    },
    /// This request was charged before, and no answer was recorded.
    Lost {
        /// The id of that charge.
        id: String,
        /// When it was made.
        time: String,
    },
    /// Analysts have limits on the data set, and nobody was named.
    Nameless {
        /// The data set.
        name: String,
    },
    /// The ledger of a limit that this is counted apart from cannot be told so.
    Apart(LedgerError),
    /// It cannot be counted in a window of a limit that renews.
    Window(Box<WindowFault>),
    /// A cost beyond anything that could protect anybody.
    TooMuch {
        /// What was asked for.
        requested: Approx,
    },
    /// The ledger cannot be used.
    Ledger(LedgerError),
}

/// A limit, and how a request compares with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverBudget {
    /// The data set.
    pub data_set: String,
    /// Whose limit: of this analyst, or of everybody together.
    pub analyst: Option<String>,
    /// In which calendar window, where it is the limit for each.
    pub window: Option<Window>,
    /// What was spent before, in the currency of the limit; `None` where it is not known in it.
    pub spent: Option<Limit>,
    /// What was asked for, in the same.
    pub requested: Option<Limit>,
    /// What is left.
    pub remaining: Limit,
    /// What is allowed in total.
    pub limit: Limit,
}

impl ChargeError {
    /// The exit code of the command line: 4 budget, 2 usage, 1 internal or lost.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::OverBudget(_) => 4,
            Self::DataSet(_)
            | Self::RequestIdTaken { .. }
            | Self::BeforeAnew { .. }
            | Self::Nameless { .. }
            | Self::Window(_)
            | Self::TooMuch { .. } => 2,
            Self::Lost { .. } => 1,
            Self::Apart(error) | Self::Ledger(error) => error.exit_code(),
        }
    }
}

impl fmt::Display for ChargeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OverBudget(over) => over.fmt(f),
            Self::DataSet(error) => error.fmt(f),
            Self::RequestIdTaken { request_id } => write!(
                f,
                "request id '{}' was used for another request; give this one an id of its own",
                shown(request_id)
            ),
            Self::BeforeAnew { request_id } => write!(
                f,
                "request id '{}' was charged before the data set began anew for another unit or adjacency, and that answer does not \
                 count as one for these; give this request an id of its own",
                shown(request_id)
            ),
            Self::Lost { id, time } => write!(
                f,
                "this request was charged at {time} ({id}) and no answer was recorded: it is lost, or still \
                 being computed; ask again under a new request id to pay for a new answer"
            ),
            Self::Nameless { name } => write!(
                f,
                "data set '{}' has limits for analysts, and nobody was named; say who asks with `analyst=NAME`",
                shown(name)
            ),
            Self::Apart(error) => {
                let error = error.without("nothing was charged");
                write!(f, "what is counted apart must be written down where the limit is: {error}")
            }
            Self::Window(fault) => fault.fmt(f),
            Self::TooMuch { requested } => write!(
                f,
                "a cost of {} is not accepted: ask for an epsilon of at most 1000",
                pair(&requested.eps, &requested.delta)
            ),
            Self::Ledger(error) => f.write_str(&error.without("nothing was charged")),
        }
    }
}

impl std::error::Error for ChargeError {}

impl From<DataSetError> for ChargeError {
    fn from(error: DataSetError) -> Self {
        Self::DataSet(error)
    }
}

impl From<LedgerError> for ChargeError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { data_set, analyst, window, spent, requested, remaining, limit } = self;
        write!(f, "the budget of data set '{}'", shown(data_set))?;
        if let Some(analyst) = analyst {
            write!(f, " for analyst '{}'", shown(analyst))?;
        }
        if let Some(window) = window {
            write!(f, " for the {window}")?;
        }
        let (Some(spent), Some(requested)) = (spent, requested) else {
            return f.write_str(
                " is in a currency in which this request has no price; have its steward set a limit in epsilon",
            );
        };
        let name = match limit {
            Limit::Approx(_) => "epsilon".to_string(),
            Limit::Zcdp(_) => "rho".to_string(),
            Limit::Renyi(at) => format!("divergence at order {}", at.order),
        };
        let parts = |loss: &Limit| loss.parts().map(Clone::clone);
        let (spent, requested, left, limit) =
            (parts(spent), parts(requested), parts(remaining), parts(limit));
        let names = [name.as_str(), "delta"];
        // A limit below what was spent lets nothing through, however little is asked for.
        if let Some(part) = (0..names.len()).find(|&part| spent[part] > limit[part]) {
            let (name, spent, limit) = (names[part], &spent[part], &limit[part]);
            return write!(
                f,
                " is {name} {limit}, and {spent} is spent already, so that no question fits; have its steward raise it with \
                 'equipoise budget set'"
            );
        }
        // Only the part that does not fit is named, unless both do not.
        let mut joint = " has";
        for (part, name) in names.into_iter().enumerate() {
            if requested[part] > left[part] {
                let (left, limit, requested) = (shown_down(&left[part]), &limit[part], &requested[part]);
                write!(f, "{joint} {name} {left} left of {limit}, and {requested} was asked for")?;
                joint = ";";
            }
        }
        f.write_str("; ask for less, or have its steward raise it with 'equipoise budget set'")
    }
}

fn pair(eps: &Amount, delta: &Amount) -> String {
    if delta.is_zero() { format!("epsilon {eps}") } else { format!("epsilon {eps}, delta {delta}") }
}
