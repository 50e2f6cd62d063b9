//! Ctrl-C ends the program at once, and it says what was charged.
//!
//! Every thread holds the signal back but one, which waits for it; programs that are started do not inherit that. Ending here is
//! like ending anywhere: what is durable stays, what is not is lost, as after `kill -9`.

use std::sync::atomic::{AtomicU8, Ordering};

/// How far a question has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// This command asks nothing.
    Apart = 0,
    /// Nothing was charged.
    Planning = 1,
    /// A charge is being written.
    Charging = 2,
    /// It is written.
    Charged = 3,
    /// So is the answer.
    Recorded = 4,
}

static STAGE: AtomicU8 = AtomicU8::new(Stage::Apart as u8);

/// The question has come this far.
pub(crate) fn reached(stage: Stage) {
    STAGE.store(stage as u8, Ordering::SeqCst);
}

#[cfg(target_os = "linux")]
pub(crate) use signal::watch;

#[cfg(target_os = "linux")]
mod signal {
    use super::{STAGE, Stage};
    use crate::{Exit, fail};
    use nix::sys::signal::{SigSet, Signal};
    use std::{
        fs,
        io::{self, IsTerminal},
        process,
        sync::atomic::Ordering,
        thread,
    };

    /// Wait for the signal from here on. Who started the program may have had it ignored, as shells do for what runs in the
    /// background: then it stays so.
    pub(crate) fn watch() -> io::Result<()> {
        if is_ignored() {
            return Ok(());
        }
        let mut interrupt = SigSet::empty();
        interrupt.add(Signal::SIGINT);
        interrupt.thread_block()?;
        let wait = move || {
            if interrupt.wait().is_ok() {
                end();
            }
        };
        thread::Builder::new().name("interrupt".to_string()).spawn(wait).map(drop)
    }

    fn is_ignored() -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|signals| u64::from_str_radix(signals.trim(), 16).ok()).unwrap_or(0);
        ignored >> (Signal::SIGINT as u32 - 1) & 1 == 1
    }

    fn end() -> ! {
        if io::stderr().is_terminal() {
            // Behind what shows the progress.
            eprintln!("");
        }
        let exit = fail(&words(STAGE.load(Ordering::SeqCst)), Exit::Failed as u8);
        process::exit(i32::from(exit as u8));
    }

    fn words(stage: u8) -> &'static str {
        const PLANNING: u8 = Stage::Planning as u8;
        const CHARGING: u8 = Stage::Charging as u8;
        const CHARGED: u8 = Stage::Charged as u8;
        const RECORDED: u8 = Stage::Recorded as u8;
        match stage {
            PLANNING => "interrupted; nothing was charged",
            CHARGING => {
                "interrupted while it was charged; 'equipoise budget log' tells whether the charge stands"
            }
            CHARGED => {
                "interrupted; the charge stands, and the answer is lost unless 'equipoise budget log' shows it"
            }
            RECORDED => "interrupted; the answer is recorded, and 'equipoise budget log --json' has it",
            _ => "interrupted",
        }
    }
}
