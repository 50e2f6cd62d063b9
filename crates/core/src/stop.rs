//! Work that nobody waits for any longer ends soon.
//!
//! Whoever starts long work may want to break it off, as Ctrl-C does. A [`Stop`] goes with the work from thread to thread; loops
//! that may be long look at it on their way. The clock decides when somebody asks, never the rows, and what is broken off has no
//! answer. Nothing that is being written down looks: a charge or a record is whole or not there.

use std::{
    cell::RefCell,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

thread_local! {
    static CURRENT: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

/// A wish to break work off, and the work that looks for it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// From now on the work is to end.
    pub fn ask(&self) {
        self.0.store(true, Relaxed);
    }

    /// Was it asked to end?
    pub fn is_asked(&self) -> bool {
        self.0.load(Relaxed)
    }

    /// Do work that looks at this one, on this thread.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let _before = Before(CURRENT.replace(Some(self.clone())));
        work()
    }
}

/// What was looked at before comes back, also where the work panics.
struct Before(Option<Stop>);

impl Drop for Before {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Is the work of this thread to end?
pub fn asked() -> bool {
    CURRENT.with_borrow(|current| current.as_ref().is_some_and(Stop::is_asked))
}

/// End here if the work of this thread is to end: as a panic without a message, for work whose panics are a lost answer.
pub fn look() {
    if asked() {
        resume_unwind(Box::new("stopped"));
    }
}

/// What the work of this thread looks at, for threads that are not ours to start.
pub fn current() -> Stop {
    CURRENT.with_borrow(|current| current.clone().unwrap_or_default())
}

/// The same work for another thread, which then looks at what this one looks at.
pub fn carried<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let current = CURRENT.with_borrow(Clone::clone);
    move || match current {
        Some(stop) => stop.during(work),
        None => work(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{panic::catch_unwind, thread};

    #[test]
    fn work_on_other_threads_looks_at_what_its_starter_looks_at() {
        let stop = Stop::default();
        let seen = |stop: &Stop| {
            stop.during(|| {
                let other = thread::scope(|scope| scope.spawn(carried(asked)).join().unwrap());
                (asked(), other, thread::scope(|scope| scope.spawn(asked).join().unwrap()))
            })
        };
        assert_eq!(seen(&stop), (false, false, false));
        stop.ask();
        assert_eq!(seen(&stop), (true, true, false), "only who carries it along");
        assert!(!asked(), "and only during the work");
        assert_eq!(seen(&Stop::default()), (false, false, false), "each has its own");
    }

    #[test]
    fn who_looks_ends_and_what_was_before_comes_back() {
        let (outer, inner) = (Stop::default(), Stop::default());
        inner.ask();
        outer.during(|| {
            look();
            assert!(catch_unwind(|| inner.during(look)).is_err());
            assert!(!asked());
        });
    }
}
