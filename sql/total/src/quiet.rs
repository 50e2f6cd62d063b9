//! Work that may panic, without a word on the error stream: the text of a panic often quotes the value that caused it.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Let panics of `caught` pass unsaid, and all others go to whoever said them before.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                before(panic);
            }
        }));
    });
}

/// What the work gives, or nothing if it panics.
pub fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    install();
    let before = QUIET.replace(true);
    // What the work borrows is dropped or read-only: nothing half-written is looked at afterwards.
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(before);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_nothing_and_the_next_one_is_heard_again() {
        assert_eq!(caught(|| 1), Some(1));
        assert_eq!(caught(|| -> u8 { panic!("a cell") }), None);
        assert!(!QUIET.get());
        assert_eq!(caught(|| caught(|| -> u8 { panic!("a cell") }).or(Some(2))), Some(Some(2)));
        assert!(!QUIET.get());
    }
}
