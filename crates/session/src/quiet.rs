//! A panic over private rows must not tell what it met.
//!
//! While private work is under way the panic hook prints nothing, on any thread, because the message of a
//! panic can hold a row. What the caller gets is that the answer is lost.

use crate::{source::Lost, unanswered::Unanswered};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook},
    sync::{
        Once,
        atomic::{AtomicUsize, Ordering},
    },
};

static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
static HOOK: Once = Once::new();

/// Set the hook now and not when it is first needed: a process that is forked meanwhile would wait for it for ever.
pub fn prepare() {
    HOOK.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |info| {
            if UNDER_WAY.load(Ordering::SeqCst) == 0 {
                loud(info);
            }
        }));
    });
}

/// Run private work; a panic in it is a lost answer without a word.
pub fn quietly<T>(work: impl FnOnce() -> Result<T, Lost>) -> Result<T, Lost> {
    caught(work).unwrap_or(Err(Lost))
}

/// The same where more than the data can fail.
pub(crate) fn privately<T>(work: impl FnOnce() -> Result<T, Unanswered>) -> Result<T, Unanswered> {
    caught(work).unwrap_or_else(|panic| Err(ended_by(&*panic)))
}

/// End private work from where nothing is returned: [`privately`] says why.
pub(crate) fn give_up(why: Unanswered) -> ! {
    resume_unwind(Box::new(why))
}

/// Why private work ended, from what its panic carries. A message is none of anybody's business.
pub(crate) fn ended_by(panic: &(dyn Any + Send)) -> Unanswered {
    panic.downcast_ref::<Unanswered>().cloned().unwrap_or(Unanswered::Data)
}

fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    prepare();
    UNDER_WAY.fetch_add(1, Ordering::SeqCst);
    // What the closure leaves half done is dropped with it: nothing of it is seen again.
    let outcome = catch_unwind(AssertUnwindSafe(work));
    UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_lost_answer() {
        assert_eq!(quietly(|| -> Result<(), Lost> { panic!("salary 123456") }), Err(Lost));
        assert_eq!(quietly(|| Ok(7)), Ok(7));
        assert_eq!(privately(|| -> Result<(), _> { panic!("salary 123456") }), Err(Unanswered::Data));
        assert_eq!(
            privately(|| -> Result<(), _> { give_up(Unanswered::Temporary) }),
            Err(Unanswered::Temporary)
        );
    }
}
