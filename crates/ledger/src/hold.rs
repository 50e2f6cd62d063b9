//! The connection to a ledger: held by this process alone, let go before every fork, taken up again by the next call.
//!
//! # Guarantee
//!
//! - A forked child never waits for a thread of its parent: whatever SQLite locks for the whole process is locked inside
//!   ([`fork::enter`]), and a fork waits until nobody is.
//! - A child never shares a file of SQLite with its parent. SQLite keeps in memory which locks the process has on a file; a child
//!   that opened the file its parent had open would believe to have locks that it has not, and its charges could go to a
//!   log that another process has just removed. So files are closed before a fork, and parent and child open them anew.
//! - What was held in memory with a limit is not used by a child: two copies of one budget. What only counts
//!   ([`Ledger::odometer`]) goes on in both, each from what was spent before.
//!
//! A fork that goes unseen (a bare `clone` system call) ends in [`Fault::Forked`].

use super::{
    Error, Fallible,
    chain::{self, Head},
    error::Fault,
    files::Expected,
    registry,
    store::{self, Kept},
};
use equipoise_entropy::fork;
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};
use std::{
    collections::HashMap,
    mem,
    path::{Path, PathBuf},
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

/// How long other processes are waited for.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// Everybody's part of a ledger that is open in this process.
pub(super) struct Shared {
    slot: Mutex<Option<Open>>,
    pub id: String,
    pub path: Option<PathBuf>,
    /// Device and inode.
    pub file: Option<(u64, u64)>,
    pub kept: Kept,
    /// What is known of data sets that are about to be charged, by name. Locked inside only.
    expected: Mutex<HashMap<String, Expected>>,
    /// Who is told of every new head. Locked inside only.
    told: Mutex<Option<Tell>>,
}

/// Is told of a head.
type Tell = Box<dyn Fn(&Head) + Send + Sync>;

pub(super) struct Open {
    pub connection: Connection,
    process: u32,
    /// How many forks had been seen.
    forks: u64,
}

impl Open {
    pub fn new(connection: Connection) -> Self {
        Self { connection, process: process::id(), forks: fork::count() }
    }

    fn is_ours(&self) -> bool {
        self.process == process::id()
    }
}

/// Files that are to be closed before a fork. Locked inside only.
static FILES: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called when nobody else is inside.
fn close_files() {
    let files = mem::take(&mut *locked(&FILES));
    let files: Vec<Arc<Shared>> = files.iter().filter_map(Weak::upgrade).collect();
    for file in &files {
        drop(locked(&file.slot).take());
    }
    *locked(&FILES) = files.iter().map(Arc::downgrade).collect();
}

impl Shared {
    pub fn new(
        open: Open,
        id: String,
        path: Option<PathBuf>,
        file: Option<(u64, u64)>,
        kept: Kept,
    ) -> Arc<Self> {
        let on_disk = path.is_some();
        let shared = Arc::new(Self {
            slot: Mutex::new(Some(open)),
            id,
            path,
            file,
            kept,
            expected: Mutex::default(),
            told: Mutex::default(),
        });
        if on_disk {
            fork::before_each(close_files);
            let _inside = fork::enter();
            let mut files = locked(&FILES);
            files.retain(|file| file.strong_count() > 0);
            files.push(Arc::downgrade(&shared));
        }
        shared
    }

    /// Run this inside a transaction. Where another process has the ledger this waits for a minute, and lets forks by.
    pub fn with<T>(
        &self,
        behaviour: TransactionBehavior,
        work: impl FnOnce(Transaction<'_>) -> T,
    ) -> Fallible<T> {
        let began = Instant::now();
        loop {
            let inside = fork::enter();
            let mut slot = locked(&self.slot);
            let connection = self.connected(&mut slot)?;
            match begun(connection, behaviour) {
                Ok(transaction) => return Ok(work(transaction)),
                Err(error) if is_busy(&error) && began.elapsed() < PATIENCE => {}
                Err(error) => return Err(error.into()),
            }
            // Outside, so that a fork that waits comes in between.
            drop(slot);
            drop(inside);
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Remember what is known of a data set until more is said.
    pub fn expect(&self, data_set: &str, expected: Expected) {
        let _inside = fork::enter();
        locked(&self.expected).insert(data_set.to_string(), expected);
    }

    pub fn expected(&self, data_set: &str) -> Option<Expected> {
        let _inside = fork::enter();
        locked(&self.expected).get(data_set).cloned()
    }

    /// Tell this of every head from now on.
    pub fn after_each_commit(&self, tell: Tell) {
        let _inside = fork::enter();
        *locked(&self.told) = Some(tell);
    }

    /// The head that a transaction makes, where somebody is to be told.
    pub fn head_to_tell(&self, connection: &Connection) -> Fallible<Option<Head>> {
        if locked(&self.told).is_none() {
            return Ok(None);
        }
        let last = chain::last(connection)?;
        Ok(last.map(|(number, hash)| Head { ledger: self.id.clone(), entries: number.unsigned_abs(), hash }))
    }

    /// Tell of a head that is durable.
    pub fn tell(&self, head: Option<Head>) {
        if let (Some(tell), Some(head)) = (&*locked(&self.told), head) {
            tell(&head);
        }
    }

    /// The connection, opened again where a fork closed it.
    fn connected<'a>(&self, slot: &'a mut Option<Open>) -> Fallible<&'a mut Connection> {
        if let Some(open) = slot.as_mut()
            && !open.is_ours()
        {
            let seen = open.forks != fork::count();
            if !seen || self.kept != Kept::Counted || registry::any_limit(&open.connection)? {
                return Err(Fault::Forked.into());
            }
            (open.process, open.forks) = (process::id(), fork::count());
        }
        if slot.is_none() {
            *slot = Some(Open::new(self.again()?));
        }
        Ok(&mut slot.as_mut().expect("just filled").connection)
    }

    /// The same file once more.
    fn again(&self) -> Fallible<Connection> {
        let path = self.path.as_deref().ok_or(Fault::Forked)?;
        if !store::identity(path).is_ok_and(|now| Some(now) == self.file) {
            return Err(Fault::Replaced.into());
        }
        let connection = store::connect_again(path, self.kept)?;
        if store::id_of(&connection)? != self.id {
            return Err(Fault::Replaced.into());
        }
        Ok(connection)
    }

    pub fn at(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    #[cfg(test)]
    pub fn pretend_a_fork_that_nobody_saw(&self) {
        locked(&self.slot).as_mut().expect("it is open").process += 1;
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let _inside = fork::enter();
        let slot = self.slot.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = slot.take()
            && !open.is_ours()
            && self.path.is_some()
        {
            // Closing it would let go of locks that its own process still relies on.
            mem::forget(open);
        }
    }
}

/// A transaction that has begun to read, so that nobody is waited for in the middle of it.
fn begun(connection: &Connection, behaviour: TransactionBehavior) -> rusqlite::Result<Transaction<'_>> {
    let transaction = Transaction::new_unchecked(connection, behaviour)?;
    transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(transaction)
}

pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Try to open, again and again while the file is busy, and let forks by.
pub(super) fn opening<T>(mut open: impl FnMut() -> Fallible<T>) -> Fallible<T> {
    let began = Instant::now();
    loop {
        let inside = fork::enter();
        match open() {
            Err(Error::Sql(error)) if is_busy(&error) && began.elapsed() < PATIENCE => {}
            outcome => return outcome,
        }
        drop(inside);
        thread::sleep(Duration::from_millis(1));
    }
}
