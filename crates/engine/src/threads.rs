//! Visitors side by side, each on a thread of its own.

use equipoise_session::source::{Lost, Visitor};
use std::{
    panic::{self, AssertUnwindSafe},
    thread,
};

/// Run the same work for every visitor. The answer is lost if any of it is, or panics.
pub fn each(
    visitors: &mut [&mut dyn Visitor],
    work: impl Fn(&mut dyn Visitor) -> Result<(), Lost> + Sync,
) -> Result<(), Lost> {
    let work = &work;
    match visitors {
        // A thread costs more than a small file.
        [only] => panic::catch_unwind(AssertUnwindSafe(|| work(&mut **only))).unwrap_or(Err(Lost)),
        many => thread::scope(|scope| {
            let threads: Vec<_> =
                many.iter_mut().map(|visitor| scope.spawn(move || work(&mut **visitor))).collect();
            // Wait for all: a panic that nobody asks about would go on in this thread.
            let ends: Vec<Result<(), Lost>> =
                threads.into_iter().map(|thread| thread.join().unwrap_or(Err(Lost))).collect();
            ends.into_iter().collect()
        }),
    }
}
