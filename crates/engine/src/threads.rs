//! Visitors side by side, each on a thread of its own.

use equipoise_session::{
    quiet::quietly,
    source::{Lost, Visitor},
};
use std::thread;

/// Run the same work for every visitor. The answer is lost if any of it is, or panics, and nobody sees what the panic says:
/// readers of files that are broken may say what they met.
pub fn each(
    visitors: &mut [&mut dyn Visitor],
    work: impl Fn(&mut dyn Visitor) -> Result<(), Lost> + Sync,
) -> Result<(), Lost> {
    let work = &work;
    match visitors {
        // A thread costs more than a small file.
        [only] => quietly(|| work(&mut **only)),
        many => quietly(|| {
            thread::scope(|scope| {
                let threads: Vec<_> =
                    many.iter_mut().map(|visitor| scope.spawn(move || work(&mut **visitor))).collect();
                // Wait for all: a panic that nobody asks about would go on in this thread.
                let ends: Vec<Result<(), Lost>> =
                    threads.into_iter().map(|thread| thread.join().unwrap_or(Err(Lost))).collect();
                ends.into_iter().collect()
            })
        }),
    }
}
