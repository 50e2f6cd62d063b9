//! Threads that take turns, where a forked child does not wait for a thread that it does not have.

use crate::errors;
use equipoise_entropy::fork;
use pyo3::PyResult;
use std::{
    ops::{Deref, DerefMut},
    process,
    sync::{
        Mutex, MutexGuard, TryLockError,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

/// Something that one thread at a time changes, perhaps for long.
pub struct Turns<T> {
    state: Mutex<T>,
    /// The process whose thread has it, or nothing.
    holder: AtomicU32,
}

/// One thread's turn.
pub struct Turn<'a, T> {
    /// Nothing only while it is given back.
    state: Option<MutexGuard<'a, T>>,
    holder: &'a AtomicU32,
}

impl<T> Turns<T> {
    pub fn new(state: T) -> Self {
        Self { state: Mutex::new(state), holder: AtomicU32::new(0) }
    }

    /// Wait for a turn. In a child that was forked in the middle of another thread's there will be none.
    pub fn wait(&self) -> PyResult<Turn<'_, T>> {
        loop {
            {
                // The lock and who has it change together, also for a fork.
                let _inside = fork::enter();
                let state = match self.state.try_lock() {
                    Ok(state) => Some(state),
                    Err(TryLockError::Poisoned(state)) => Some(state.into_inner()),
                    Err(TryLockError::WouldBlock) => None,
                };
                if state.is_some() {
                    self.holder.store(process::id(), SeqCst);
                    return Ok(Turn { state, holder: &self.holder });
                }
                if ![0, process::id()].contains(&self.holder.load(SeqCst)) {
                    return Err(errors::request(
                        "another thread was changing it when this process was forked; make a new one here",
                    ));
                }
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl<T> Deref for Turn<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.state.as_ref().expect("this turn is not over")
    }
}

impl<T> DerefMut for Turn<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.state.as_mut().expect("this turn is not over")
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        let _inside = fork::enter();
        self.holder.store(0, SeqCst);
        self.state = None;
    }
}
