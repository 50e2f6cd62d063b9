//! The file: how it is made, opened, and recognised.

use super::{
    Error, Fallible, Ledger, Stop,
    chain::{self, Link, hex},
    entry::{self, Row, kind},
    error::{Fault, LedgerError},
    fingerprint,
    hold::{self, Open, Shared},
};
use equipoise_core::coins::Words;
use equipoise_entropy::{OsCoins, fork};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::{
    fmt::Write,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
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
/// The newest that this program knows.
pub(super) const NEWEST: i64 = WITH_COUNTED;
/// "EQLG": marks the file as ours.
const APPLICATION: i64 = 0x4551_4c47;
/// Wait for other processes, a minute in all: a charge takes a few milliseconds, so first in small steps.
/// Where a fork waits, they are waited for outside.
fn be_patient(times_before: i32) -> bool {
    if fork::is_awaited() {
        return false;
    }
    let (short, long) = (Duration::from_millis(1), Duration::from_millis(10));
    thread::sleep(if times_before < 200 { short } else { long });
    times_before < 6200
}

/// The columns of a row, in the order in which [`row`] reads them.
pub(super) const ROW: &str = "number, kind, id, time, data_set, analyst, request_id, body, hash";

/// One table that only grows. Every sum stands in the entry that it belongs to, so there is nothing to keep
/// in step; the indexes find the last entry of an account.
pub(super) const SCHEMA: [&str; 8] = [
    "CREATE TABLE entries (\
       number INTEGER PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, time TEXT NOT NULL, \
       data_set TEXT NOT NULL, analyst TEXT NOT NULL, request_id TEXT, body TEXT NOT NULL, hash TEXT NOT NULL\
     ) STRICT",
    "CREATE TABLE secret (secret BLOB NOT NULL) STRICT",
    "CREATE UNIQUE INDEX entries_by_id ON entries (id, kind)",
    "CREATE INDEX entries_by_data_set ON entries (kind, data_set, number)",
    "CREATE INDEX entries_by_analyst ON entries (kind, data_set, analyst, number)",
    "CREATE UNIQUE INDEX charges_by_request ON entries (analyst, request_id) WHERE request_id IS NOT NULL",
    "CREATE TRIGGER entries_stay BEFORE DELETE ON entries \
     BEGIN SELECT raise(ABORT, 'entries are never deleted'); END",
    "CREATE TRIGGER entries_are_final BEFORE UPDATE ON entries \
     BEGIN SELECT raise(ABORT, 'entries are never changed'); END",
];

/// The name of the rule that an odometer does without.
const STAY: &str = "entries_stay";

/// Read one row of `SELECT {ROW}`.
pub(super) fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    Ok(Row {
        number: row.get(0)?,
        kind: row.get(1)?,
        id: row.get(2)?,
        time: row.get(3)?,
        data_set: row.get(4)?,
        analyst: row.get(5)?,
        request_id: row.get(6)?,
        body: row.get(7)?,
        hash: row.get(8)?,
    })
}

/// What is kept of a ledger, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Every entry, in a file or in memory.
    Whole,
    /// The same, only to be looked at.
    ReadOnly,
    /// In memory: the sums, and what is asked for again under a request id.
    Counted,
}

impl Ledger {
    /// Open the ledger in this file to charge; make it if there is none. A new file has mode 0600.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        let at = |error: Error| error.at(Some(path));
        let mut coins = coins().map_err(at)?;
        let opened = hold::opening(|| {
            make_file(path)?;
            let (mut connection, begun) = connect_to_write(path)?;
            if !begun {
                begin(&mut connection, &mut coins, &SCHEMA)?;
            }
            shared(connection, Some(path), Kept::Whole)
        });
        Ok(Self { shared: opened.map_err(at)?, coins })
    }

    /// Open the ledger in this file to look at it. It must be there. Nothing is written, except that SQLite
    /// may make its index of the log beside it.
    pub fn open_read_only(path: &Path) -> Result<Self, LedgerError> {
        let at = |error: Error| error.at(Some(path));
        let opened = hold::opening(|| {
            look_at(path)?.ok_or(Fault::Missing)?;
            shared(connect_again(path, Kept::ReadOnly)?, Some(path), Kept::ReadOnly)
        });
        Ok(Self { shared: opened.map_err(at)?, coins: coins().map_err(at)? })
    }

    /// A ledger that ends with the process.
    pub fn in_memory() -> Result<Self, LedgerError> {
        Self::without_file(Kept::Whole, &SCHEMA)
    }

    /// A ledger that ends with the process and keeps sums, not entries: what was charged and answered is forgotten with the next
    /// charge of the same data set and analyst, unless it has a request id. It grows with names and request ids, not with
    /// charges. It cannot be verified or exported, and holds no limit at a Renyi order, which needs every charge.
    ///
    /// In a forked child it goes on from what was spent before, unless a limit was ever set: then it is not used there.
    pub fn odometer() -> Result<Self, LedgerError> {
        let deletable: Vec<&str> = SCHEMA.into_iter().filter(|part| !part.contains(STAY)).collect();
        Self::without_file(Kept::Counted, &deletable)
    }

    fn without_file(kept: Kept, schema: &[&str]) -> Result<Self, LedgerError> {
        let at = |error: Error| error.at(None);
        let mut coins = coins().map_err(at)?;
        let opened = hold::opening(|| {
            let mut connection = Connection::open_in_memory()?;
            begin(&mut connection, &mut coins, schema)?;
            shared(connection, None, kept)
        });
        Ok(Self { shared: opened.map_err(at)?, coins })
    }

    /// Run this inside a transaction that excludes every other writer, and make it durable. What is refused or
    /// fails leaves no trace.
    pub(super) fn write<T, E: From<LedgerError>>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>, &mut OsCoins) -> Result<T, Stop<E>>,
    ) -> Result<T, E> {
        let (shared, coins) = (&self.shared, &mut self.coins);
        let at = |error: Error| E::from(error.at(shared.at()));
        if shared.kept == Kept::ReadOnly {
            return Err(at(Fault::ReadOnly.into()));
        }
        let done = shared.with(TransactionBehavior::Immediate, |transaction| {
            // What is charged in a file that was moved away or removed is charged nowhere.
            if let (Some(path), Some(file)) = (shared.at(), shared.file)
                && !identity(path).is_ok_and(|now| now == file)
            {
                return Err(at(Fault::Replaced.into()));
            }
            let done = match work(&transaction, coins) {
                Ok(done) => done,
                Err(Stop::Refused(error)) => return Err(error),
                Err(Stop::Failed(error)) => return Err(at(error)),
            };
            let head = shared.head_to_tell(&transaction).map_err(at)?;
            transaction.commit().map_err(|error| at(uncommitted(error)))?;
            shared.tell(head);
            Ok(done)
        });
        done.map_err(at)?
    }

    /// Run this on one consistent state of the ledger.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> Fallible<T>) -> Result<T, LedgerError> {
        let found = self.shared.with(TransactionBehavior::Deferred, |transaction| work(&transaction));
        found.and_then(|found| found).map_err(|error| error.at(self.path()))
    }

    /// The same where every entry is needed.
    pub(super) fn read_whole<T>(
        &self,
        work: impl FnOnce(&Connection) -> Fallible<T>,
    ) -> Result<T, LedgerError> {
        if self.shared.kept == Kept::Counted {
            return Err(Error::from(Fault::Forgets).at(None));
        }
        self.read(work)
    }

    /// Does it keep sums alone?
    pub(super) fn forgets(&self) -> bool {
        self.shared.kept == Kept::Counted
    }
}

/// A commit that failed. Where there was no space, its last page is not in the log, and without that one it is none; after another
/// failure, of a synchronisation above all, nobody can say what the disk has.
fn uncommitted(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) => Fault::Unfinished { reason: reason(&error) }.into(),
        _ => error.into(),
    }
}

/// What SQLite said, or what it means where it says little.
pub(super) fn reason(error: &rusqlite::Error) -> String {
    match error.sqlite_error().map(|error| error.extended_code) {
        Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => {
            "its -shm file cannot grow; is its disk full?".to_string()
        }
        _ => error.to_string(),
    }
}

fn shared(connection: Connection, path: Option<&Path>, kept: Kept) -> Fallible<Arc<Shared>> {
    let (id, file) = (id_of(&connection)?, path.map(identity).transpose()?);
    Ok(Shared::new(Open::new(connection), id, path.map(PathBuf::from), file, kept))
}

/// The id of a ledger, which is that of its first entry.
pub(super) fn id_of(connection: &Connection) -> Fallible<String> {
    let first = chain::first(connection)?;
    first.map(|first| first.id).ok_or_else(|| Error::damaged(0, "it has no entries"))
}

/// A connection to a file, and whether it is a ledger already.
fn connect_to_write(path: &Path) -> Fallible<(Connection, bool)> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    if connection.is_readonly("main")? {
        return Err(Fault::ReadOnly.into());
    }
    let begun = recognise(&connection)?;
    durable(&connection)?;
    Ok((connection, begun))
}

/// A connection to a file that is a ledger.
pub(super) fn connect_again(path: &Path, kept: Kept) -> Fallible<Connection> {
    if kept != Kept::ReadOnly {
        let (connection, begun) = connect_to_write(path)?;
        return if begun { Ok(connection) } else { Err(Fault::Replaced.into()) };
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = connect(path, flags)?;
    let mut begun = recognise(&connection);
    if begun.as_ref().is_err_and(Error::is_about_the_folder) && !has_log(path) {
        connection = connect(&frozen(path), flags | OpenFlags::SQLITE_OPEN_URI)?;
        begun = recognise(&connection);
    }
    if begun? { Ok(connection) } else { Err(Fault::Missing.into()) }
}

/// 128 random bits.
pub(super) fn fresh_id(coins: &mut OsCoins) -> String {
    format!("{:016x}{:016x}", coins.word(), coins.word())
}

pub(super) fn coins() -> Fallible<OsCoins> {
    OsCoins::new().map_err(|error| Fault::Io { reason: error.to_string() }.into())
}

/// What stands at the path: nothing, or a file of some length that may be written to.
fn look_at(path: &Path) -> Fallible<Option<fs::Metadata>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(found)),
        Ok(_) => Err(Fault::NotAFile.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(said(&error)),
    }
}

/// An empty file that only its owner reads, unless there is one. The folder is synchronised too: a charge is
/// not durable in a file that a power cut removes.
fn make_file(path: &Path) -> Fallible<()> {
    if let Some(found) = look_at(path)? {
        // The mode is a wish of the steward, also towards a user who could override it.
        if found.permissions().readonly() {
            return Err(Fault::ReadOnly.into());
        }
        // Each name would have a log of its own beside it.
        if found.nlink() > 1 {
            return Err(Fault::TwoNames.into());
        }
        // An empty file may be what a crash left before the next line but one was reached.
        return if found.len() == 0 { keep_folder(path) } else { Ok(()) };
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            return Err(Fault::ReadOnly.into());
        }
        // Its folder is not there.
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Fault::NoAccess.into()),
        Err(error) => return Err(said(&error)),
    }
    keep_folder(path)
}

/// Make the file's name durable, where the file system knows how to.
fn keep_folder(path: &Path) -> Fallible<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if error.kind() != ErrorKind::InvalidInput => Err(said(&error)),
        _ => Ok(()),
    }
}

/// What tells the file from any other that takes its name.
pub(super) fn identity(path: &Path) -> Fallible<(u64, u64)> {
    fs::metadata(path).map(|found| (found.dev(), found.ino())).map_err(|error| said(&error))
}

/// Are there entries that are not yet in the file itself?
fn has_log(path: &Path) -> bool {
    // SQLite keeps it beside the file itself, not beside a link to it.
    let mut log = path.canonicalize().unwrap_or_else(|_| path.to_path_buf()).into_os_string();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|found| found.len() > 0)
}

/// The file as one that nobody can change, for a folder in which SQLite cannot make its index of the log.
pub(super) fn frozen(path: &Path) -> PathBuf {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        if plain(byte) {
            uri.push(char::from(byte));
        } else {
            write!(uri, "%{byte:02X}").expect("writing to a string");
        }
    }
    uri.push_str("?immutable=1");
    uri.into()
}

fn said(error: &io::Error) -> Error {
    match error.kind() {
        ErrorKind::StorageFull => Fault::Full.into(),
        ErrorKind::PermissionDenied => Fault::NoAccess.into(),
        _ => Fault::Io { reason: error.to_string() }.into(),
    }
}

pub(super) fn connect(path: &Path, flags: OpenFlags) -> Fallible<Connection> {
    // SQLite takes a path that begins with `file:` for the address of another file.
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let is_address = path.as_os_str().as_bytes().starts_with(b"file:");
    let is_meant = flags.contains(OpenFlags::SQLITE_OPEN_URI);
    let path = if is_address && !is_meant { &absolute } else { path };
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(be_patient))?;
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
    Ok(connection)
}

/// True for a ledger, false for an empty file, an error for anything else. Nothing is written.
pub(super) fn recognise(connection: &Connection) -> Fallible<bool> {
    // Between two reads another process may make the file a ledger, in one step: what is read twice the same is
    // one state. A transaction would do too, but its lock makes the other processes fail.
    let (mut seen, mut again) = (marks(connection)?, marks(connection)?);
    while seen != again {
        (seen, again) = (again, marks(connection)?);
    }
    match seen {
        (APPLICATION, VERSION..=NEWEST, _) => Ok(true),
        (APPLICATION, version, _) if version > NEWEST => Err(Fault::Newer { version }.into()),
        (0, 0, 0) => Ok(false),
        _ => Err(Fault::NotALedger.into()),
    }
}

/// Whose file it is, the version of its layout, and how many tables and indexes it has.
fn marks(connection: &Connection) -> Fallible<(i64, i64, i64)> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let (application, version) = (number("PRAGMA application_id")?, number("PRAGMA user_version")?);
    Ok((application, version, number("SELECT count(*) FROM sqlite_schema")?))
}

/// A commit returns when the disk has it, and readers never wait for writers.
fn durable(connection: &Connection) -> Fallible<()> {
    if write_ahead(connection)? != "wal" {
        return Err(Fault::NoSharedMemory.into());
    }
    // The last two matter where a plain fsync leaves data in the disk's own memory.
    connection.execute_batch(
        "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;",
    )?;
    Ok(())
}

/// Switch to a write-ahead log. Where two processes do this to a new file at once, SQLite tells one of them that it is
/// busy without asking the busy handler, because neither would give way; so ask it here.
fn write_ahead(connection: &Connection) -> Fallible<String> {
    let mut tries = 0..;
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && tries.next().is_some_and(be_patient) => {}
            outcome => return Ok(outcome?),
        }
    }
}

/// Make the tables and the first entry, unless another process did in the meantime.
fn begin(connection: &mut Connection, coins: &mut OsCoins, schema: &[&str]) -> Fallible<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if recognise(&transaction)? {
        return Ok(());
    }
    for statement in schema {
        transaction.execute_batch(statement)?;
    }
    let secret = fingerprint::fresh_secret(coins);
    transaction.execute("INSERT INTO secret (secret) VALUES (?1)", [&secret[..]])?;
    let id = fresh_id(coins);
    let body = entry::created_body(VERSION, &hex(&fingerprint::seal(&secret)));
    let link = Link { kind: kind::CREATED, id: &id, data_set: "", analyst: None, request_id: None, body };
    chain::append(&transaction, link)?;
    transaction
        .execute_batch(&format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"))?;
    transaction.commit()?;
    Ok(())
}

/// From the entry on that is written in the same transaction, the file is for programs that know this version.
pub(super) fn raise(connection: &Connection, version: i64) -> Fallible<()> {
    if marks(connection)?.1 < version {
        connection.execute_batch(&format!("PRAGMA user_version = {version};"))?;
    }
    Ok(())
}

/// Is the version of the file the one that its entries ask for?
pub(super) fn version_fits(connection: &Connection) -> Fallible<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM entries WHERE kind = ?1)";
    let asked = [
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
        if connection.query_row(sql, [kind], |row| row.get(0))? {
            version = version.max(asks_for);
        }
    }
    let sql =
        "SELECT EXISTS (SELECT 1 FROM entries WHERE kind = ?1 AND json_extract(body, '$.by') IS NOT NULL)";
    if connection.query_row(sql, [kind::LIMIT], |row| row.get(0))? {
        version = version.max(WITH_COUNTED);
    }
    Ok(marks(connection)?.1 == version)
}

/// Are tables, indexes and triggers as we made them?
pub(super) fn is_unchanged(connection: &Connection) -> Fallible<bool> {
    let mut statement =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")?;
    let found: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(found == SCHEMA)
}
