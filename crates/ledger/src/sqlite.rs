//! Ledgers in files of SQLite and in memory: how they are made, opened, recognised and written to.

use super::{
    Fallible, clock,
    entries::{Entries, Held, Kept, Outcome, ROW, Store, Value},
    entry::Row,
    error::Fault,
    hold::{self, Shared},
    store::{self, NEWEST, VERSION},
};
use equipoise_core::wording;
use equipoise_entropy::{OsCoins, fork};
use rusqlite::{
    Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, params_from_iter,
    types::{ToSql, ToSqlOutput, ValueRef},
};
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

/// A connection to a ledger, and the file that it has to be.
struct Connected {
    connection: Connection,
    /// The path, and what tells the file from any other that takes its name.
    file: Option<(PathBuf, (u64, u64))>,
}

impl Held for Connected {
    fn write(&mut self, work: &mut dyn FnMut(&dyn Entries) -> Outcome) -> Result<(), Fault> {
        let transaction = begun(&self.connection, TransactionBehavior::Immediate)?;
        // What is charged in a file that was moved away or removed is charged nowhere.
        if let Some((path, file)) = &self.file
            && !identity(path).is_ok_and(|now| now == *file)
        {
            return Err(Fault::Replaced);
        }
        match work(&*transaction) {
            Outcome::Commit => transaction.commit().map_err(uncommitted),
            Outcome::Leave => Ok(()),
        }
    }

    fn read(&mut self, work: &mut dyn FnMut(&dyn Entries)) -> Result<(), Fault> {
        let transaction = begun(&self.connection, TransactionBehavior::Deferred)?;
        work(&*transaction);
        Ok(())
    }
}

/// A transaction that has begun to read, so that nobody is waited for in the middle of it.
fn begun(connection: &Connection, behaviour: TransactionBehavior) -> Fallible<Transaction<'_>> {
    let transaction = Transaction::new_unchecked(connection, behaviour)?;
    transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(transaction)
}

impl Entries for Connection {
    fn rows(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Fault> {
        let mut statement = self.prepare(sql)?;
        let width = statement.column_count();
        let mut rows = statement.query(params_from_iter(parameters))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let cells = (0..width).map(|place| Ok(cell(row.get_ref(place)?)));
            found.push(cells.collect::<Fallible<Option<Vec<Value>>>>()?.ok_or_else(unreadable)?);
        }
        Ok(found)
    }

    fn append(&self, row: &Row) -> Result<(), Fault> {
        let sql = format!("INSERT INTO entries ({ROW}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
        self.prepare(&sql)?.execute(params_from_iter(row.values()))?;
        Ok(())
    }

    fn now(&self) -> Result<u64, Fault> {
        Ok(clock::seconds_now())
    }

    fn field(&self, name: &str) -> String {
        format!("body -> '$.{name}'")
    }

    fn version(&self) -> Result<i64, Fault> {
        Ok(marks(self)?.1)
    }

    fn raise(&self, version: i64) -> Result<(), Fault> {
        if marks(self)?.1 < version {
            self.execute_batch(&format!("PRAGMA user_version = {version};"))?;
        }
        Ok(())
    }

    fn damage(&self) -> Result<Option<String>, Fault> {
        let said: String = self.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if said != "ok" {
            return Ok(Some(format!("SQLite finds it damaged ({})", wording::shown(&said))));
        }
        let changed = !is_unchanged(self)?;
        Ok(changed.then(|| "its tables, indexes or triggers were changed".to_string()))
    }
}

fn unreadable() -> Fault {
    Fault::damaged(0, "something in it is of another type than was written")
}

fn cell(found: ValueRef<'_>) -> Option<Value> {
    Some(match found {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Number(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8(text.to_vec()).ok()?),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
        ValueRef::Real(_) => return None,
    })
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly,
            Some(ErrorCode::CannotOpen) => Self::NoAccess,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::NotADatabase) => Self::NotALedger,
            Some(ErrorCode::DatabaseCorrupt) => Self::damaged(0, "SQLite cannot read it"),
            _ => Self::Io { reason: reason(&error) },
        }
    }
}

/// A ledger in a file.
struct InFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl Store for InFile {
    fn connect(&self, kept: Kept) -> Result<Box<dyn Held>, Fault> {
        if !identity(&self.path).is_ok_and(|now| now == self.identity) {
            return Err(Fault::Replaced);
        }
        let connection = connect_again(&self.path, kept)?;
        Ok(Box::new(Connected { connection, file: Some((self.path.clone(), self.identity)) }))
    }
}

/// The ledger in this file to charge; made if there is none.
pub(super) fn open_file(path: &Path, coins: &mut OsCoins) -> Fallible<Arc<Shared>> {
    make_file(path)?;
    let (mut connection, begun) = connect_to_write(path)?;
    if !begun {
        begin(&mut connection, coins, &SCHEMA)?;
    }
    shared(connection, path, Kept::Whole)
}

/// The ledger in this file, for looking.
pub(super) fn look_at_file(path: &Path) -> Fallible<Arc<Shared>> {
    look_at(path)?.ok_or(Fault::Missing)?;
    shared(connect_again(path, Kept::ReadOnly)?, path, Kept::ReadOnly)
}

fn shared(connection: Connection, path: &Path, kept: Kept) -> Fallible<Arc<Shared>> {
    let (id, identity) = (store::id_of(&connection)?, identity(path)?);
    let store = InFile { path: path.to_path_buf(), identity };
    let held = Connected { connection, file: Some((path.to_path_buf(), identity)) };
    Ok(Shared::in_file(Box::new(held), id, path.to_path_buf(), Box::new(store), kept))
}

/// A ledger that ends with the process.
pub(super) fn in_memory(kept: Kept, coins: &mut OsCoins) -> Fallible<Arc<Shared>> {
    // An odometer forgets what it has summed up.
    let stays = |part: &&str| kept != Kept::Counted || !part.contains(STAY);
    let schema: Vec<&str> = SCHEMA.into_iter().filter(stays).collect();
    let mut connection = Connection::open_in_memory()?;
    begin(&mut connection, coins, &schema)?;
    let id = store::id_of(&connection)?;
    Ok(Shared::in_memory(Box::new(Connected { connection, file: None }), id, kept))
}

/// Write a copy of one state of a ledger to an empty file.
pub(super) fn copy(from: &Path, to: &str) -> Fallible<()> {
    hold::opening(|| {
        connect_again(from, Kept::ReadOnly)?.execute("VACUUM INTO ?1", [to])?;
        Ok(())
    })
}

/// A commit that failed. Where there was no space, its last page is not in the log, and without that one it is none; after another
/// failure, of a synchronisation above all, nobody can say what the disk has.
fn uncommitted(error: rusqlite::Error) -> Fault {
    match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) => Fault::Unfinished { reason: reason(&error) },
        _ => error.into(),
    }
}

/// What SQLite said, or what it means where it says little.
fn reason(error: &rusqlite::Error) -> String {
    match error.sqlite_error().map(|error| error.extended_code) {
        Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => {
            "its -shm file cannot grow; is its disk full?".to_string()
        }
        _ => error.to_string(),
    }
}

/// A connection to a file, and whether it is a ledger already.
fn connect_to_write(path: &Path) -> Fallible<(Connection, bool)> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    if connection.is_readonly("main")? {
        return Err(Fault::ReadOnly);
    }
    let begun = recognise(&connection)?;
    durable(&connection)?;
    Ok((connection, begun))
}

/// A connection to a file that is a ledger.
fn connect_again(path: &Path, kept: Kept) -> Fallible<Connection> {
    if kept != Kept::ReadOnly {
        let (connection, begun) = connect_to_write(path)?;
        return if begun { Ok(connection) } else { Err(Fault::Replaced) };
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = connect(path, flags)?;
    let mut begun = recognise(&connection);
    if begun.as_ref().is_err_and(is_about_the_folder) && !has_log(path) {
        connection = connect(&frozen(path), flags | OpenFlags::SQLITE_OPEN_URI)?;
        begun = recognise(&connection);
    }
    if begun? { Ok(connection) } else { Err(Fault::Missing) }
}

/// SQLite could not make or use a file beside the ledger.
fn is_about_the_folder(fault: &Fault) -> bool {
    matches!(fault, Fault::NoAccess | Fault::ReadOnly)
}

/// What stands at the path: nothing, or a file of some length that may be written to.
fn look_at(path: &Path) -> Fallible<Option<fs::Metadata>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(found)),
        Ok(_) => Err(Fault::NotAFile),
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
            return Err(Fault::ReadOnly);
        }
        // Each name would have a log of its own beside it.
        if found.nlink() > 1 {
            return Err(Fault::TwoNames);
        }
        // An empty file may be what a crash left before the next line but one was reached.
        return if found.len() == 0 { keep_folder(path) } else { Ok(()) };
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
            return Err(Fault::ReadOnly);
        }
        // Its folder is not there.
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Fault::NoAccess),
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
fn identity(path: &Path) -> Fallible<(u64, u64)> {
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

fn said(error: &io::Error) -> Fault {
    match error.kind() {
        ErrorKind::StorageFull => Fault::Full,
        ErrorKind::PermissionDenied => Fault::NoAccess,
        _ => Fault::Io { reason: error.to_string() },
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
        (APPLICATION, version, _) if version > NEWEST => Err(Fault::Newer { version }),
        (0, 0, 0) => Ok(false),
        _ => Err(Fault::NotALedger),
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
        return Err(Fault::NoSharedMemory);
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
    store::begin(&*transaction, coins)?;
    transaction.execute_batch(&format!("PRAGMA application_id = {APPLICATION};"))?;
    transaction.commit()?;
    Ok(())
}

/// Are tables, indexes and triggers as we made them?
fn is_unchanged(connection: &Connection) -> Fallible<bool> {
    let mut statement =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")?;
    let found: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(found == SCHEMA)
}
