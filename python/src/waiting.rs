//! Ctrl-C while compiled work is under way.
//!
//! The work runs on a thread of its own, without the interpreter's lock. The thread that called waits and looks for signals by the
//! clock, fifty times a second. Where one raises, the work is asked to stop; what is being written down is written to its end.
//! Signals reach the main thread alone, so calls of other threads do their work themselves.

use crate::errors::{self, Interrupted, LostError};
use equipoise_core::stop::{self, Stop};
use equipoise_session::source::Lost;
use pyo3::{exceptions::PyKeyboardInterrupt, prelude::*, types::PyList};
use std::{
    panic::resume_unwind,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, Thread},
    time::Duration,
};

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(20);
/// As much as a main thread has.
const STACK: usize = 8 << 20;

/// Work that charges nothing: a signal that raises breaks it off.
pub fn free<T: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    let (found, raised) = attend(py, None, work);
    raised.map_or(found, Err)
}

/// Work that is paid for, now or before: where it is broken off after the charge, the exception says so.
pub fn paid<T: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    let (found, raised) = attend(py, None, work);
    let Some(raised) = raised else { return found };
    let lost = found.err().is_some_and(|error| error.is_instance_of::<LostError>(py));
    let by_key = raised.is_instance_of::<PyKeyboardInterrupt>(py);
    Err(if lost && by_key { Interrupted::new_err(()) } else { raised })
}

/// Work that changes things one by one, and tells how many: where a signal breaks it off, the exception says so.
pub fn counted(py: Python<'_>, what: &str, work: impl FnOnce() -> PyResult<usize> + Send) -> PyResult<()> {
    let (done, raised) = attend(py, None, work);
    let done = done?;
    Err(match raised {
        None => return Ok(()),
        Some(raised) if raised.is_instance_of::<PyKeyboardInterrupt>(py) => {
            let plural = if done == 1 { "" } else { "s" };
            PyKeyboardInterrupt::new_err(format!(
                "interrupted after {done} {what}{plural}, which were carried out"
            ))
        }
        Some(raised) => raised,
    })
}

/// Work during which the caller holds back what signals raise, in a list. Where there is something in it the work stops and what
/// came of it is returned all the same: it may have been recorded.
pub fn held<T: Send>(
    py: Python<'_>,
    came: &Bound<'_, PyList>,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    if !came.is_empty() {
        return Err(PyKeyboardInterrupt::new_err(()));
    }
    let (found, raised) = attend(py, Some(came), work);
    if let Some(raised) = raised {
        came.append(raised)?;
    }
    found
}

/// The same where the charge stands already: work that is not begun is a lost answer too.
pub fn held_after_charge<T: Send>(
    py: Python<'_>,
    came: &Bound<'_, PyList>,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    held(py, came, work).map_err(|error| {
        let stopped = error.is_instance_of::<PyKeyboardInterrupt>(py);
        if stopped { errors::unread(Lost) } else { error }
    })
}

/// What came of the work, and what a signal raised meanwhile.
fn attend<T: Send>(
    py: Python<'_>,
    came: Option<&Bound<'_, PyList>>,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> (PyResult<T>, Option<PyErr>) {
    match is_main(py) {
        Ok(true) => {}
        Ok(false) => return (py.detach(work), None),
        // A signal that was waiting.
        Err(raised) => return (Err(PyKeyboardInterrupt::new_err(())), Some(raised)),
    }
    let stop = Stop::default();
    // Still there where no thread can be started.
    let work = Mutex::new(Some(work));
    let take = || work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (caller, done) = (thread::current(), AtomicBool::new(false));
    thread::scope(|scope| {
        let run = || {
            // Also where the work panics.
            let _done = Done { done: &done, caller: &caller };
            take().map(|work| stop.during(work))
        };
        let Ok(worker) = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run) else {
            let nothing = || Err(errors::lost("the work was not done"));
            return (py.detach(|| take().map_or_else(nothing, |work| work())), None);
        };
        let mut raised = None;
        // The thread itself may live a little longer; who waited for its end would wait for the next look.
        while !done.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(LOOK));
            if raised.is_none() {
                raised = py.check_signals().err();
            }
            if raised.is_some() || came.is_some_and(|came| !came.is_empty()) {
                stop.ask();
            }
        }
        let found = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        (found.expect("it was there"), raised)
    })
}

/// Tells who waits that the work is over.
struct Done<'a> {
    done: &'a AtomicBool,
    caller: &'a Thread,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        self.caller.unpark();
    }
}

fn is_main(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?;
    Ok(threading.call_method0("current_thread")?.is(&main))
}

/// An error for work that was asked to stop before anything was charged; whoever asked knows better what to raise.
pub fn unless_stopped() -> PyResult<()> {
    if stop::asked() { Err(PyKeyboardInterrupt::new_err(())) } else { Ok(()) }
}
