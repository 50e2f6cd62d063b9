//! What a fork must not tear apart: it waits until nobody is inside.
//!
//! A forked child has one thread. What the others held is held for ever in it: a lock that one of them had taken, a
//! structure that one of them was changing. So whoever takes a lock of the whole process does it inside ([`enter`]), and
//! every `fork` of the process first waits until all are outside, and keeps them there until it is done.
//!
//! # Guarantee
//!
//! A child of `fork`, from whichever thread, finds everything as it is when nobody is inside; what
//! [`before_each`] was given has been called for it. It holds from the first [`enter`] or the first coins of the process on.
//!
//! # Why
//!
//! 1. `pthread_atfork` calls `hold` before every `fork` and `release` after it in both processes, in the thread that forks.
//! 2. `hold` takes the gate for itself alone, and [`enter`] shares it: between the two calls nobody is inside.
//! 3. The thread that took the gate is the one thread of the child, so that it can give it back there.
//!
//! # What it cannot do
//!
//! - See a bare `clone` system call: [`count`] stays the same then, and whoever keeps it can refuse.
//! - Help a thread that forks while it is inside itself: its child has what it was in the middle of.
//! - Be short: who stays inside holds up every fork. Nobody waits inside; [`is_awaited`] says when to come out.

use crate::page::{self, FORKS};
use std::{
    cell::{Cell, RefCell},
    panic::catch_unwind,
    sync::{
        Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

static GATE: RwLock<()> = RwLock::new(());
/// How many forks wait at the gate.
static WAITING: AtomicU64 = AtomicU64::new(0);
/// Looked at inside, or by who has the gate alone.
static WORK: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

thread_local! {
    /// How often this thread is inside; more than nothing too while it has the gate alone.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static HELD: RefCell<Held> = const { RefCell::new(Held { calls: 0, gate: None }) };
}

struct Held {
    /// Two threads that make the first coins at once register twice.
    calls: u32,
    gate: Option<RwLockWriteGuard<'static, ()>>,
}

/// As long as it lives, no other thread forks.
#[must_use = "outside again as soon as this is dropped"]
pub struct Inside {
    /// Nothing where the thread was inside already.
    _gate: Option<RwLockReadGuard<'static, ()>>,
}

/// Wait for forks that are under way, and hold up those that come. A thread may enter again while it is inside.
pub fn enter() -> Inside {
    // Where the system has no memory for the handler there are no coins either, and nothing to protect.
    let _ = page::watch_forks();
    let before = DEPTH.get();
    let gate = (before == 0).then(|| GATE.read().unwrap_or_else(PoisonError::into_inner));
    DEPTH.set(before + 1);
    Inside { _gate: gate }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Call this before every fork, when everybody is outside. Once for each function, however often it is given.
pub fn before_each(work: fn()) {
    let _inside = enter();
    let mut all = WORK.lock().unwrap_or_else(PoisonError::into_inner);
    if !all.iter().any(|&known| std::ptr::fn_addr_eq(known, work)) {
        all.push(work);
    }
}

/// Does a fork wait? Whoever waits for something inside does that outside.
pub fn is_awaited() -> bool {
    WAITING.load(Relaxed) > 0
}

/// One more than the forks that led to this process, as far as they were seen.
pub fn count() -> u64 {
    FORKS.load(Relaxed)
}

/// Before a fork, in the thread that forks. Nothing may panic here: who called is written in C.
pub(crate) fn hold() {
    let _ = HELD.try_with(|held| {
        // A signal handler that forks in the middle of a fork gets no further than this.
        let Ok(mut held) = held.try_borrow_mut() else { return };
        held.calls += 1;
        if held.calls > 1 || DEPTH.get() > 0 {
            return;
        }
        WAITING.fetch_add(1, Relaxed);
        held.gate = Some(GATE.write().unwrap_or_else(PoisonError::into_inner));
        WAITING.fetch_sub(1, Relaxed);
        DEPTH.set(1);
        for work in WORK.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = catch_unwind(work);
        }
    });
}

/// After it, in the same thread, in parent and child.
pub(crate) fn release() {
    let _ = HELD.try_with(|held| {
        let Ok(mut held) = held.try_borrow_mut() else { return };
        held.calls = held.calls.saturating_sub(1);
        if held.calls == 0 && held.gate.take().is_some() {
            DEPTH.set(0);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::{Arc, atomic::AtomicBool, mpsc},
        thread,
        time::Duration,
    };

    thread_local! {
        /// Other tests fork too.
        static CALLED: Cell<u64> = const { Cell::new(0) };
    }

    fn called() {
        // Inside again, as who closes files is.
        let _inside = enter();
        CALLED.set(CALLED.get() + 1);
    }

    /// What the handlers do, without a child: whoever is inside is waited for, and who comes meanwhile waits.
    #[test]
    fn a_fork_waits_for_who_is_inside_and_keeps_out_who_comes() {
        before_each(called);
        before_each(called);
        let (inside, out, forked) = (mpsc::channel(), mpsc::channel(), Arc::new(AtomicBool::new(false)));
        let seen = forked.clone();
        let first = thread::spawn(move || {
            let _outer = enter();
            let _again = enter();
            inside.0.send(()).unwrap();
            out.1.recv().unwrap();
            seen.load(Relaxed)
        });
        inside.1.recv().unwrap();
        let (held, seen) = (mpsc::channel(), forked.clone());
        let (wait, go) = mpsc::channel::<()>();
        let forking = thread::spawn(move || {
            hold();
            hold();
            seen.store(true, Relaxed);
            held.0.send(()).unwrap();
            go.recv().unwrap();
            release();
            release();
            CALLED.get()
        });
        while !is_awaited() {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!forked.load(Relaxed), "somebody is inside");
        out.0.send(()).unwrap();
        assert!(!first.join().unwrap());
        held.1.recv().unwrap();
        let entered = Arc::new(AtomicBool::new(false));
        let done = entered.clone();
        let second = thread::spawn(move || {
            let _inside = enter();
            done.store(true, Relaxed);
        });
        // It cannot come in; that it has not yet says little, that it does in the end says all.
        thread::sleep(Duration::from_millis(20));
        assert!(!entered.load(Relaxed));
        wait.send(()).unwrap();
        assert_eq!(forking.join().unwrap(), 1, "once, whoever registered it how often");
        second.join().unwrap();
        assert!(entered.load(Relaxed));
    }

    #[test]
    fn who_forks_inside_is_not_held_up_by_itself() {
        let _inside = enter();
        hold();
        release();
        let _again = enter();
    }
}
