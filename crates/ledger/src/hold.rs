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
    Fallible,
    chain::{self, Head},
    entries::{Entries, Held, Kept, Outcome, Store},
    error::Fault,
    files::Expected,
    registry, store,
};
use equipoise_entropy::fork;
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

/// A server that went away is waited for so long by who had a line to it.
const RETURN: Duration = Duration::from_secs(20);

/// Everybody's part of a ledger that is open in this process.
pub(super) struct Shared {
    slot: Mutex<Option<Open>>,
    pub id: String,
    /// Its file, or the address of its server as messages show it; nothing in memory.
    place: Option<PathBuf>,
    /// What a connection comes from after a fork, and after a server went away; nothing in memory.
    store: Option<Box<dyn Store>>,
    is_file: bool,
    pub kept: Kept,
    /// What is known of data sets that are about to be charged, by name. Locked inside only.
    expected: Mutex<HashMap<String, Expected>>,
    /// Who is told of every new head. Locked inside only.
    told: Mutex<Option<Tell>>,
}

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Write,
    Read,
}

/// Is told of a head.
type Tell = Box<dyn Fn(&Head) + Send + Sync>;

struct Open {
    held: Box<dyn Held>,
    process: u32,
    /// How many forks had been seen.
    forks: u64,
}

impl Open {
    fn new(held: Box<dyn Held>) -> Self {
        Self { held, process: process::id(), forks: fork::count() }
    }

    fn is_ours(&self) -> bool {
        self.process == process::id()
    }
}

/// Files, and lines to servers, that are to be closed before a fork. Locked inside only.
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
    pub fn in_file(
        held: Box<dyn Held>,
        id: String,
        path: PathBuf,
        store: Box<dyn Store>,
        kept: Kept,
    ) -> Arc<Self> {
        Self::new(held, id, Some((path, store)), true, kept)
    }

    pub fn on_server(
        held: Box<dyn Held>,
        id: String,
        place: PathBuf,
        store: Box<dyn Store>,
        kept: Kept,
    ) -> Arc<Self> {
        Self::new(held, id, Some((place, store)), false, kept)
    }

    pub fn in_memory(held: Box<dyn Held>, id: String, kept: Kept) -> Arc<Self> {
        Self::new(held, id, None, false, kept)
    }

    fn new(
        held: Box<dyn Held>,
        id: String,
        place: Option<(PathBuf, Box<dyn Store>)>,
        is_file: bool,
        kept: Kept,
    ) -> Arc<Self> {
        let (place, store) = place.unzip();
        let shared = Arc::new(Self {
            slot: Mutex::new(Some(Open::new(held))),
            id,
            place,
            store,
            is_file,
            kept,
            expected: Mutex::default(),
            told: Mutex::default(),
        });
        if shared.place.is_some() {
            fork::before_each(close_files);
            let _inside = fork::enter();
            let mut files = locked(&FILES);
            files.retain(|file| file.strong_count() > 0);
            files.push(Arc::downgrade(&shared));
        }
        shared
    }

    /// Run this inside a transaction, and `after` it before anybody else has a turn. Where another process has the ledger this waits for a
    /// minute, and lets forks by.
    pub fn with<T>(
        &self,
        turn: Turn,
        work: impl FnOnce(&dyn Entries) -> (Outcome, T),
        after: impl FnOnce(&T),
    ) -> Fallible<T> {
        let (mut work, mut done) = (Some(work), None);
        let began = Instant::now();
        loop {
            let inside = fork::enter();
            let mut slot = locked(&self.slot);
            let outcome = self.connected(&mut slot).and_then(|held| {
                let mut once = |entries: &dyn Entries| {
                    let Some(work) = work.take() else { return Outcome::Leave };
                    let (outcome, value) = work(entries);
                    done = Some(value);
                    outcome
                };
                match turn {
                    Turn::Write => held.write(&mut once),
                    Turn::Read => held.read(&mut |entries| {
                        once(entries);
                    }),
                }
            });
            // What a broken line was asked for last is not known; another one begins anew.
            if slot.as_ref().is_some_and(|open| open.held.is_broken()) {
                drop(slot.take());
            }
            match outcome {
                Ok(()) => {
                    let done = done.expect("a transaction that ends well has run its work");
                    after(&done);
                    return Ok(done);
                }
                Err(fault) if work.is_none() => return Err(fault),
                Err(Fault::Busy) if began.elapsed() < PATIENCE => {}
                Err(Fault::Gone | Fault::Unreachable) if began.elapsed() < RETURN => {}
                Err(fault) => return Err(fault),
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
    pub fn head_to_tell(&self, entries: &dyn Entries) -> Fallible<Option<Head>> {
        if locked(&self.told).is_none() {
            return Ok(None);
        }
        let last = chain::last(entries)?;
        Ok(last.map(|(number, hash)| Head { ledger: self.id.clone(), entries: number.unsigned_abs(), hash }))
    }

    /// Tell of a head that is durable.
    pub fn tell(&self, head: Option<&Head>) {
        if let (Some(tell), Some(head)) = (&*locked(&self.told), head) {
            tell(head);
        }
    }

    /// The connection, opened again where a fork closed it or its server went away.
    fn connected<'a>(&self, slot: &'a mut Option<Open>) -> Fallible<&'a mut dyn Held> {
        if let Some(open) = slot.as_mut()
            && !open.is_ours()
        {
            let seen = open.forks != fork::count();
            if !seen || self.kept != Kept::Counted || any_limit(&mut *open.held)? {
                return Err(Fault::Forked);
            }
            (open.process, open.forks) = (process::id(), fork::count());
        }
        if slot.is_none() {
            *slot = Some(Open::new(self.again()?));
        }
        Ok(&mut *slot.as_mut().expect("just filled").held)
    }

    /// The same ledger once more.
    fn again(&self) -> Fallible<Box<dyn Held>> {
        let mut held = self.store.as_ref().ok_or(Fault::Forked)?.connect(self.kept)?;
        if id_of(&mut *held)? != self.id {
            return Err(Fault::Replaced);
        }
        Ok(held)
    }

    /// Where it is, as messages show it; nothing in memory.
    pub fn place(&self) -> Option<&Path> {
        self.place.as_deref()
    }

    /// Its file.
    pub fn file(&self) -> Option<&Path> {
        self.place().filter(|_| self.is_file)
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
            && self.place.is_some()
        {
            // Closing it would let go of locks that its own process still relies on, or take leave of a server in its name.
            mem::forget(open);
        }
    }
}

/// The id of a ledger, by a connection of its own.
pub(super) fn id_of(held: &mut dyn Held) -> Fallible<String> {
    let mut found = Err(Fault::Gone);
    held.read(&mut |entries| found = store::id_of(entries))?;
    found
}

fn any_limit(held: &mut dyn Held) -> Fallible<bool> {
    let mut found = Ok(true);
    held.read(&mut |entries| found = registry::any_limit(entries))?;
    found
}

/// Try to open, again and again while the file is busy, and let forks by.
pub(super) fn opening<T>(mut open: impl FnMut() -> Fallible<T>) -> Fallible<T> {
    let began = Instant::now();
    loop {
        let inside = fork::enter();
        match open() {
            Err(Fault::Busy) if began.elapsed() < PATIENCE => {}
            outcome => return outcome,
        }
        drop(inside);
        thread::sleep(Duration::from_millis(1));
    }
}
