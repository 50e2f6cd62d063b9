//! A sign of life on the terminal while something takes more than a second. Nothing is shown to pipes and files.

use indicatif::{ProgressBar, ProgressStyle};
use std::{io::IsTerminal, sync::mpsc, thread, time::Duration};

/// What takes less than this shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(120);

/// Do the work; after a second, show what is being done and for how long. It tells the time and nothing of the rows.
pub(crate) fn spinning<T>(words: &'static str, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let (done, waiting) = mpsc::channel::<()>();
    let watcher = thread::spawn(move || {
        if waiting.recv_timeout(PATIENCE) != Err(mpsc::RecvTimeoutError::Timeout) {
            return;
        }
        let bar = ProgressBar::new_spinner().with_message(words);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        // Ends when the sender is dropped.
        let _ = waiting.recv();
        bar.finish_and_clear();
    });
    let found = work();
    drop(done);
    let _ = watcher.join();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_once_and_its_result_comes_back() {
        let mut times = 0;
        let found = spinning("working", || {
            times += 1;
            7
        });
        assert_eq!((found, times), (7, 1));
    }
}
