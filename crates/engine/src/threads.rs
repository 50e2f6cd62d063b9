//! Visitors side by side, each on a thread of its own.

use equipoise_core::stop;
use equipoise_session::{
    quiet::quietly,
    source::{Batch, Lost, Visitor},
};
use std::thread;

/// Run the same work for every visitor. The answer is lost if any of it is, or panics, and nobody sees what the panic says:
/// readers of files that are broken may say what they met. It is lost as well where nobody waits for it any longer.
pub fn each(
    visitors: &mut [&mut dyn Visitor],
    work: impl Fn(&mut dyn Visitor) -> Result<(), Lost> + Sync,
) -> Result<(), Lost> {
    let work = &|visitor: &mut dyn Visitor| work(&mut LookupError(visitor));
    match visitors {
        // A thread costs more than a small file.
        [only] => quietly(|| work(&mut **only)),
        many => quietly(|| {
            thread::scope(|scope| {
                let threads: Vec<_> = many
                    .iter_mut()
                    .map(|visitor| scope.spawn(stop::carried(move || work(&mut **visitor))))
                    .collect();
                // Wait for all: a panic that nobody asks about would go on in this thread.
                let ends: Vec<Result<(), Lost>> =
                    threads.into_iter().map(|thread| thread.join().unwrap_or(Err(Lost))).collect();
                ends.into_iter().collect()
            })
        }),
    }
}

/// A visitor that ends where nobody waits for it.
struct LookupError<'a>(&'a mut dyn Visitor);

impl Visitor for LookupError<'_> {
    fn batch(&mut self, batch: Batch<'_>) {
        stop::look();
        self.0.batch(batch);
    }
}
