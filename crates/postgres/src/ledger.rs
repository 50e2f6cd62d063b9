//! A ledger in Postgres, which several hosts share.
//!
//! # Guarantee
//!
//! That of every ledger: a charge is durable before anybody is told of it, and no limit is passed, whoever charges from wherever.
//!
//! # Why
//!
//! 1. A transaction that writes takes one lock first (`pg_advisory_xact_lock`), in `READ COMMITTED`: every statement behind the lock sees what
//!    was committed before it. A snapshot that is taken before the lock, as by `REPEATABLE READ`, would not. Behind the lock the number of
//!    an entry is the primary key, so that no two can take one place.
//! 2. A commit is believed when the server says so, and only of a server that writes before it speaks (`fsync`, `full_page_writes`,
//!    `synchronous_commit`).
//! 3. A commit without a reply is looked up, by the number and the hash of the entry, behind the same lock: by then the transaction that
//!    asked for it has ended one way or the other. Whoever waits for the reply takes it up; nobody else knows of it.
//! 4. The role that charges can add entries and neither change nor delete any; one that can, or could let itself, is refused.
//! 5. Nothing is asked outside of a transaction that has set aside the path on which a database looks for functions and operators: others may
//!    put theirs there, and they would run as the role that charges. An entry counts where the server gives its number and hash back.
//! 6. Times are those of the server's clock.

use crate::{
    line::{Line, Trouble},
    schema,
    settings::Settings,
};
use equipoise_engine::remote::{self, PostgresAddress, ServerProblem};
use equipoise_session::ledger::{
    Entries, Fault, Held, Kept, NEWEST, Outcome, ROW, Row, Servers, Store, Value,
};
use std::{
    cell::{Cell, RefCell},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// A server that went away in the middle of a commit is asked for so long what came of it.
const PATIENCE: Duration = Duration::from_mins(1);
const NAP: Duration = Duration::from_millis(100);

/// Whoever waits for the lock lets go after a second, so that a fork of its process comes by; whoever holds it and says nothing has been
/// cut off, and stands in everybody's way.
const BEGIN_WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL search_path = equipoise, pg_temp;
SET LOCAL row_security = off;
SET LOCAL standard_conforming_strings = on;
SET LOCAL lock_timeout = '1s';
SET LOCAL statement_timeout = '1min';
SET LOCAL idle_in_transaction_session_timeout = '1min'";

const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL search_path = equipoise, pg_temp;
SET LOCAL row_security = off;
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0";

/// The settings without which a server forgets, and what they may be.
const DURABLE: [(&str, &[&str]); 3] =
    [("fsync", &["on"]), ("full_page_writes", &["on"]), ("synchronous_commit", &["on", "remote_apply"])];

/// Keeps ledgers in Postgres.
pub(crate) struct Postgres;

impl Servers for Postgres {
    fn shown(&self, address: &Path) -> PathBuf {
        PathBuf::from(remote::shown(address).into_owned())
    }

    fn store(&self, address: &Path) -> Result<Box<dyn Store>, Fault> {
        Ok(Box::new(InDatabase { settings: settings(address)? }))
    }

    fn make(
        &self,
        address: &Path,
        role: &str,
        begin: &mut dyn FnMut(&dyn Entries) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let line = Line::open(&settings(address)?).map_err(unopened)?;
        line.batch(BEGIN_WRITE).map_err(|trouble| fault(&trouble))?;
        schema::make(&line, role)?;
        let entries = Inside::new(&line);
        begin(&entries)?;
        if entries.failed.get() {
            return Err(failed());
        }
        line.batch("COMMIT").map(|_| ()).map_err(|trouble| match trouble {
            Trouble::Lost => Fault::Unfinished { reason: "the server went away at the end".to_string() },
            Trouble::Code(_) => fault(&trouble),
        })
    }
}

/// Where a ledger is: an address without a table, since the ledger has its own.
fn settings(address: &Path) -> Result<Settings, Fault> {
    let said = |problem: ServerProblem| Fault::Server { what: problem.what() };
    let address = PostgresAddress::of(address).ok_or(Fault::NotALedger)?;
    let address = address.map_err(|problem| said(ServerProblem::Address(problem)))?;
    if address.table.is_some() {
        let what = "the address of a ledger names a database and no table; leave out table=".to_string();
        return Err(Fault::Server { what });
    }
    Settings::of(&address).map_err(said)
}

/// Why there is no line.
fn unopened(problem: ServerProblem) -> Fault {
    match problem {
        ServerProblem::Unreachable => Fault::Unreachable,
        ServerProblem::Busy => Fault::Busy,
        problem => Fault::Server { what: problem.what() },
    }
}

/// What the code of an error means for a ledger. Codes are fixed words; what else the server says stays with it.
pub(crate) fn fault(trouble: &Trouble) -> Fault {
    match trouble {
        Trouble::Lost => Fault::Gone,
        Trouble::Code(code) => match code.as_str() {
            "55P03" | "40P01" => Fault::Busy,
            "25006" => Fault::ReadOnly,
            "53100" => Fault::Full,
            "42501" => not_let_in(),
            code if code.starts_with("53") => Fault::Busy,
            "" => failed(),
            code => Fault::Io { reason: format!("the server refuses with code {code}") },
        },
    }
}

fn failed() -> Fault {
    Fault::Io { reason: "the server could not do what it was asked".to_string() }
}

fn not_let_in() -> Fault {
    let what =
        "the role may not read its entries and add to them; the steward lets it in as docs/databases.md says";
    Fault::Server { what: what.to_string() }
}

/// A ledger in a database.
struct InDatabase {
    settings: Settings,
}

impl Store for InDatabase {
    fn connect(&self, kept: Kept) -> Result<Box<dyn Held>, Fault> {
        let line = Line::open(&self.settings).map_err(unopened)?;
        let lock = recognise(&line, kept)?;
        Ok(Box::new(Connected { line, settings: self.settings.clone(), lock, broken: false }))
    }
}

/// Is there a ledger that this role may use, and no more than use? The number of its lock.
fn recognise(line: &Line, kept: Kept) -> Result<String, Fault> {
    let begin = format!("{BEGIN_READ}; SET LOCAL search_path = ''");
    line.batch(&begin).map_err(|trouble| fault(&trouble))?;
    let lock = recognised(line, kept);
    // Where this does not reach the server, nothing after it does.
    let _ = line.batch("ROLLBACK");
    lock
}

fn recognised(line: &Line, kept: Kept) -> Result<String, Fault> {
    let asked = |sql: &str| {
        line.batch(sql).map_err(|trouble| match &trouble {
            // Whoever may not look into the schema is not told what is in it.
            Trouble::Code(code) if code == "42501" => Fault::NotBegun,
            _ => fault(&trouble),
        })
    };
    let found = asked(
        "SELECT coalesce(to_regclass('equipoise.entries')::oid::bigint, 0), current_setting('server_version_num')::int >= 120000",
    )?;
    let [oid, new_enough] = &found[..] else { return Err(failed()) };
    if new_enough != "t" {
        return Err(Fault::Server { what: ServerProblem::TooOld.what() });
    }
    let oid: i64 = oid.parse().map_err(|_| failed())?;
    if oid == 0 {
        return Err(Fault::NotBegun);
    }
    // Who makes roles, or writes files and runs programs of the server, gets whatever they want.
    let found = asked(&format!(
        "SELECT has_table_privilege({oid}::oid, 'SELECT'), has_table_privilege({oid}::oid, 'INSERT'), \
         bool_or(has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE, TRIGGER') OR has_any_column_privilege(c.oid, 'UPDATE') \
         OR pg_has_role(c.relowner, 'MEMBER')) OR pg_has_role('pg_write_server_files', 'MEMBER') \
         OR pg_has_role('pg_execute_server_program', 'MEMBER') \
         OR (SELECT rolcreaterole FROM pg_catalog.pg_roles WHERE rolname = current_user) \
         FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p') \
         AND c.relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = {oid}::oid)"
    ))?;
    let [reads, adds, changes] = &found[..] else { return Err(failed()) };
    let may = |word: &String| word == "t";
    if !may(reads) || (kept != Kept::ReadOnly && !may(adds)) {
        return Err(not_let_in());
    }
    if kept != Kept::ReadOnly && may(changes) {
        return Err(Fault::MayChange);
    }
    let version = asked("SELECT max(version) FROM equipoise.versions")?;
    let version = version.first().and_then(|version| version.parse().ok()).unwrap_or(0);
    if version > NEWEST {
        return Err(Fault::Newer { version });
    }
    // "EQLG" and the table: two ledgers in one database would not wait for each other.
    Ok(((0x4551_4c47_i64 << 32) | oid).to_string())
}

/// A connection to a ledger in a database.
struct Connected {
    line: Line,
    settings: Settings,
    lock: String,
    broken: bool,
}

impl Connected {
    /// Begin to write, behind the lock.
    fn begin(&self) -> Result<(), Fault> {
        let settings = DURABLE.map(|(name, _)| format!("current_setting('{name}')")).join(", ");
        // The last statement is the first to take a snapshot behind the lock.
        let begin = format!("{BEGIN_WRITE}; SELECT pg_advisory_xact_lock({}); SELECT {settings}", self.lock);
        let found = self.line.batch(&begin).map_err(|trouble| self.left(&trouble))?;
        for ((name, good), is) in DURABLE.iter().zip(&found) {
            if !good.contains(&is.as_str()) {
                self.leave();
                return Err(Fault::Forgetful { setting: format!("{name}={is}") });
            }
        }
        if found.len() == DURABLE.len() { Ok(()) } else { Err(failed()) }
    }

    /// Out of a transaction that could not begin.
    fn left(&self, trouble: &Trouble) -> Fault {
        if *trouble != Trouble::Lost {
            self.leave();
        }
        fault(trouble)
    }

    /// Whether that reaches the server does not matter: it forgets what is not committed.
    fn leave(&self) {
        if !self.broken {
            let _ = self.line.batch("ROLLBACK");
        }
    }

    /// A commit without a reply: was it done? Behind the lock, which the transaction held to its end.
    fn look_up(&self, number: i64, hash: &str) -> Result<(), Fault> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            match self.found(number, hash) {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(Fault::Gone),
                Err(Fault::Gone | Fault::Unreachable | Fault::Busy) => thread::sleep(NAP),
                Err(_) => break,
            }
        }
        let reason = "the server went away in the middle of a commit and did not come back".to_string();
        Err(Fault::Unfinished { reason })
    }

    fn found(&self, number: i64, hash: &str) -> Result<bool, Fault> {
        let line = Line::open(&self.settings).map_err(unopened)?;
        let asked = |sql: &str| line.batch(sql).map_err(|trouble| fault(&trouble));
        asked(&format!("{BEGIN_WRITE}; SELECT pg_advisory_xact_lock({})", self.lock))?;
        let sql = "SELECT EXISTS (SELECT 1 FROM entries WHERE number = $1 AND hash = $2)";
        let found = line.rows(sql, &[number.into(), hash.into()]).map_err(|trouble| fault(&trouble))?;
        asked("ROLLBACK")?;
        Ok(found == [[Value::Number(1)]])
    }
}

impl Held for Connected {
    fn write(&mut self, work: &mut dyn FnMut(&dyn Entries) -> Outcome) -> Result<(), Fault> {
        if let Err(fault) = self.begin() {
            self.broken = fault == Fault::Gone;
            return Err(fault);
        }
        let entries = Inside::new(&self.line);
        let outcome = work(&entries);
        let (appended, lost, failed_inside) =
            (entries.appended.take(), entries.lost.get(), entries.failed.get());
        self.broken = lost;
        // The server would take COMMIT after an error for ROLLBACK, and say that it did as it was told.
        if outcome == Outcome::Leave || failed_inside {
            self.leave();
            return if outcome == Outcome::Leave { Ok(()) } else { Err(failed()) };
        }
        match (self.line.batch("COMMIT"), appended) {
            (Ok(_), _) | (Err(Trouble::Lost), None) => Ok(()),
            (Err(Trouble::Lost), Some((number, hash))) => {
                self.broken = true;
                self.look_up(number, &hash)
            }
            (Err(trouble), _) => Err(fault(&trouble)),
        }
    }

    fn read(&mut self, work: &mut dyn FnMut(&dyn Entries)) -> Result<(), Fault> {
        if let Err(trouble) = self.line.batch(BEGIN_READ) {
            self.broken = trouble == Trouble::Lost;
            return Err(self.left(&trouble));
        }
        let entries = Inside::new(&self.line);
        work(&entries);
        self.broken = entries.lost.get();
        self.leave();
        Ok(())
    }

    fn is_broken(&self) -> bool {
        self.broken
    }
}

/// The entries inside of a transaction.
pub(crate) struct Inside<'a> {
    line: &'a Line,
    /// The last entry that was put at the end, by its number and its hash.
    appended: RefCell<Option<(i64, String)>>,
    /// Is the line gone?
    lost: Cell<bool>,
    /// Did the server refuse anything? Then the transaction comes to nothing.
    failed: Cell<bool>,
}

impl<'a> Inside<'a> {
    fn new(line: &'a Line) -> Self {
        Self { line, appended: RefCell::default(), lost: Cell::new(false), failed: Cell::new(false) }
    }

    fn asked(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Fault> {
        self.line.rows(sql, parameters).map_err(|trouble| {
            self.failed.set(true);
            self.lost.set(self.lost.get() || trouble == Trouble::Lost);
            fault(&trouble)
        })
    }

    fn number(&self, sql: &str) -> Result<i64, Fault> {
        match self.asked(sql, &[])?[..] {
            [ref row] if matches!(row[..], [Value::Number(_)]) => match row[0] {
                Value::Number(number) => Ok(number),
                _ => Err(failed()),
            },
            _ => Err(failed()),
        }
    }
}

impl Entries for Inside<'_> {
    fn rows(&self, sql: &str, parameters: &[Value]) -> Result<Vec<Vec<Value>>, Fault> {
        // The only question marks are those of parameters.
        self.asked(&sql.replace('?', "$"), parameters)
    }

    fn append(&self, row: &Row) -> Result<(), Fault> {
        let sql = format!(
            "INSERT INTO entries ({ROW}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING number, hash"
        );
        let kept = self.asked(&sql, &row.values())?;
        // Rules and triggers can swallow what is added, without an error.
        if kept != [[Value::from(row.number), Value::from(&row.hash)]] {
            self.failed.set(true);
            return Err(failed());
        }
        self.appended.replace(Some((row.number, row.hash.clone())));
        Ok(())
    }

    fn now(&self) -> Result<u64, Fault> {
        let now = self.number("SELECT floor(extract(epoch FROM clock_timestamp()))::bigint")?;
        Ok(u64::try_from(now).unwrap_or(0))
    }

    fn field(&self, name: &str) -> String {
        format!("(body::json -> '{name}')::text")
    }

    fn version(&self) -> Result<i64, Fault> {
        self.number("SELECT coalesce(max(version), 0) FROM versions")
    }

    fn raise(&self, version: i64) -> Result<(), Fault> {
        if self.version()? < version {
            self.asked("INSERT INTO versions (version) VALUES ($1)", &[version.into()])?;
        }
        Ok(())
    }

    fn damage(&self) -> Result<Option<String>, Fault> {
        schema::damage(|sql| self.asked(sql, &[]))
    }
}
