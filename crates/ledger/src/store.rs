//! A ledger that is open: where it is kept, transactions on it, and the version of its layout.

use super::{
    Fallible, Ledger, Stop,
    chain::{self, Link, hex},
    entries::{Entries, Kept, Outcome, Store, values},
    entry::{self, kind},
    error::{Fault, LedgerError},
    fingerprint,
    hold::{self, Shared, Turn},
    sqlite,
};
use equipoise_core::coins::Words;
use equipoise_entropy::OsCoins;
use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The version of the layout with which a ledger begins. A change that an older program would misread raises it.
pub(super) const VERSION: i64 = 1;
/// The version of a ledger in which a data set began anew: an older program would count on for the old unit.
pub(super) const WITH_ANEW: i64 = 2;
/// The version of a ledger that knows files and what was asked of them apart: an older program would walk around its limits.
pub(super) const WITH_FILES: i64 = 3;
/// The version of a ledger that says who managed what: an older program could not read those entries.
pub(super) const WITH_ACTS: i64 = 4;
/// The version of a ledger with limits that say who set them, or with entries that count without a charge: an older program would
/// leave those out of its sums.
pub(super) const WITH_COUNTED: i64 = 5;
/// The version of a ledger that ever had a limit for each calendar window: an older program would grant what such a limit does not.
pub(super) const WITH_WINDOWS: i64 = 6;
/// The newest that this program knows.
pub const NEWEST: i64 = WITH_WINDOWS;

/// How the address of a ledger on a server begins.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Keeps ledgers on servers.
pub trait Servers: Send + Sync {
    /// What messages and other ledgers may have of an address: no role, no password.
    fn shown(&self, address: &Path) -> PathBuf;

    /// The ledger at an address.
    fn store(&self, address: &Path) -> Result<Box<dyn Store>, Fault>;

    /// Make one there, let this role in, and write what it begins with, all of it or nothing.
    fn make(
        &self,
        address: &Path,
        role: &str,
        begin: &mut dyn FnMut(&dyn Entries) -> Result<(), Fault>,
    ) -> Result<(), Fault>;
}

static SERVERS: OnceLock<&'static dyn Servers> = OnceLock::new();

/// Hand in who keeps ledgers on servers; the first one counts.
pub fn install(servers: &'static dyn Servers) {
    let _ = SERVERS.set(servers);
}

/// Are ledgers on servers kept by this program?
pub fn on_servers() -> bool {
    SERVERS.get().is_some()
}

/// Is this the address of a ledger on a server, not a file?
pub fn is_address(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    SCHEMES.iter().any(|scheme| {
        bytes.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

fn servers() -> Fallible<&'static dyn Servers> {
    SERVERS.get().copied().ok_or(Fault::NotBuilt)
}

/// An address as messages show it.
fn shown(address: &Path) -> PathBuf {
    SERVERS.get().map_or_else(|| PathBuf::from("postgres://.."), |servers| servers.shown(address))
}

impl Ledger {
    /// Open the ledger in this file to charge; make it if there is none. A new file has mode 0600. An address
    /// (`postgres://ROLE@HOST/DATABASE`) leads to the ledger of a database, which its steward has made ([`Ledger::make_on_server`]).
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        if is_address(path) {
            return Self::on_server(path, Kept::Whole);
        }
        let at = |fault: Fault| fault.at(Some(path));
        let mut coins = coins().map_err(at)?;
        let shared = hold::opening(|| sqlite::open_file(path, &mut coins)).map_err(at)?;
        Ok(Self { shared, coins })
    }

    /// Open the ledger in this file to look at it. It must be there. Nothing is written, except that SQLite
    /// may make its index of the log beside it.
    pub fn open_read_only(path: &Path) -> Result<Self, LedgerError> {
        if is_address(path) {
            return Self::on_server(path, Kept::ReadOnly);
        }
        let at = |fault: Fault| fault.at(Some(path));
        let shared = hold::opening(|| sqlite::look_at_file(path)).map_err(at)?;
        Ok(Self { shared, coins: coins().map_err(at)? })
    }

    fn on_server(address: &Path, kept: Kept) -> Result<Self, LedgerError> {
        let place = shown(address);
        let at = |fault: Fault| fault.at(Some(&place));
        let store = servers().and_then(|servers| servers.store(address)).map_err(at)?;
        let opened = hold::opening(|| {
            let mut held = store.connect(kept)?;
            let id = hold::id_of(&mut *held)?;
            Ok((held, id))
        });
        let (held, id) = opened.map_err(at)?;
        let shared = Shared::on_server(held, id, place.clone(), store, kept);
        Ok(Self { shared, coins: coins().map_err(at)? })
    }

    /// Make a ledger in the database at this address, as a role that may make schemas there, and let another role in that may add
    /// entries and neither change nor delete any.
    pub fn make_on_server(address: &Path, role: &str) -> Result<(), LedgerError> {
        let place = shown(address);
        let at = |fault: Fault| fault.at(Some(&place));
        if !is_address(address) {
            return Err(Fault::Server {
                what: "a file needs no beginning: the first charge or 'budget set' makes it".to_string(),
            }
            .at(Some(address)));
        }
        let mut coins = coins().map_err(at)?;
        let made = servers()
            .and_then(|servers| servers.make(address, role, &mut |entries| begin(entries, &mut coins)));
        made.map_err(at)
    }

    /// A ledger that ends with the process.
    pub fn in_memory() -> Result<Self, LedgerError> {
        Self::without_file(Kept::Whole)
    }

    /// A ledger that ends with the process and keeps sums, not entries: what was charged and answered is forgotten with the next
    /// charge of the same data set and analyst, unless it has a request id. It grows with names and request ids, not with
    /// charges. It cannot be verified or exported, and holds no limit at a Renyi order, which needs every charge.
    ///
    /// In a forked child it goes on from what was spent before, unless a limit was ever set: then it is not used there.
    pub fn odometer() -> Result<Self, LedgerError> {
        Self::without_file(Kept::Counted)
    }

    fn without_file(kept: Kept) -> Result<Self, LedgerError> {
        let at = |fault: Fault| fault.at(None);
        let mut coins = coins().map_err(at)?;
        let shared = hold::opening(|| sqlite::in_memory(kept, &mut coins)).map_err(at)?;
        Ok(Self { shared, coins })
    }

    /// Run this inside a transaction that excludes every other writer, and make it durable. What is refused or
    /// fails leaves no trace.
    pub(super) fn write<T, E: From<LedgerError>>(
        &mut self,
        work: impl FnOnce(&dyn Entries, &mut OsCoins) -> Result<T, Stop<E>>,
    ) -> Result<T, E> {
        let (shared, coins) = (&self.shared, &mut self.coins);
        let at = |fault: Fault| E::from(fault.at(shared.place()));
        if shared.kept == Kept::ReadOnly {
            return Err(at(Fault::ReadOnly));
        }
        let counted = |entries: &dyn Entries| {
            let done = work(entries, coins).and_then(|done| Ok((done, shared.head_to_tell(entries)?)));
            (if done.is_ok() { Outcome::Commit } else { Outcome::Leave }, done)
        };
        let tell = |done: &Result<(T, Option<chain::Head>), Stop<E>>| {
            if let Ok((_, head)) = done {
                shared.tell(head.as_ref());
            }
        };
        match shared.with(Turn::Write, counted, tell).map_err(at)? {
            Ok((done, _)) => Ok(done),
            Err(Stop::Refused(error)) => Err(error),
            Err(Stop::Failed(fault)) => Err(at(fault)),
        }
    }

    /// Run this on one consistent state of the ledger.
    pub(super) fn read<T>(&self, work: impl FnOnce(&dyn Entries) -> Fallible<T>) -> Result<T, LedgerError> {
        let found = self.shared.with(Turn::Read, |entries| (Outcome::Leave, work(entries)), |_| ());
        found.and_then(|found| found).map_err(|fault| fault.at(self.shared.place()))
    }

    /// The same where every entry is needed.
    pub(super) fn read_whole<T>(
        &self,
        work: impl FnOnce(&dyn Entries) -> Fallible<T>,
    ) -> Result<T, LedgerError> {
        if self.forgets() {
            return Err(Fault::Forgets.at(None));
        }
        self.read(work)
    }

    /// Does it keep sums alone?
    pub(super) fn forgets(&self) -> bool {
        self.shared.kept == Kept::Counted
    }
}

/// 128 random bits.
pub(super) fn fresh_id(coins: &mut OsCoins) -> String {
    format!("{:016x}{:016x}", coins.word(), coins.word())
}

pub(super) fn coins() -> Fallible<OsCoins> {
    OsCoins::new().map_err(|error| Fault::Io { reason: error.to_string() })
}

/// The secret and the first entry, in tables that were just made.
pub(super) fn begin(entries: &dyn Entries, coins: &mut OsCoins) -> Fallible<()> {
    let secret = fingerprint::fresh_secret(coins);
    entries.rows("INSERT INTO secret (secret) VALUES (?1)", values![&secret[..]])?;
    let id = fresh_id(coins);
    let body = entry::created_body(VERSION, &hex(&fingerprint::seal(&secret)));
    let link = Link { kind: kind::CREATED, id: &id, data_set: "", analyst: None, request_id: None, body };
    chain::append(entries, link)?;
    entries.raise(VERSION)
}

/// The id of a ledger, which is that of its first entry.
pub(super) fn id_of(entries: &dyn Entries) -> Fallible<String> {
    let first = chain::first(entries)?;
    first.map(|first| first.id).ok_or_else(|| Fault::damaged(0, "it has no entries"))
}

/// Is the version of the ledger the one that its entries ask for?
pub(super) fn version_fits(entries: &dyn Entries) -> Fallible<bool> {
    let asked = [
        (kind::RENEW, WITH_WINDOWS),
        (kind::TIME, WITH_WINDOWS),
        (kind::RESTORED, WITH_COUNTED),
        (kind::GAP, WITH_COUNTED),
        (kind::SEEN, WITH_COUNTED),
        (kind::ACT, WITH_ACTS),
        (kind::FILES, WITH_FILES),
        (kind::APART, WITH_FILES),
        (kind::ADOPT, WITH_FILES),
        (kind::ANEW, WITH_ANEW),
    ];
    let mut version = VERSION;
    for (kind, asks_for) in asked {
        if entries.any("kind = ?1", values![kind])? {
            version = version.max(asks_for);
        }
    }
    if entries.any(&format!("kind = ?1 AND {} IS NOT NULL", entries.field("by")), values![kind::LIMIT])? {
        version = version.max(WITH_COUNTED);
    }
    Ok(entries.version()? == version)
}
