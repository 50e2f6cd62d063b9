//! The program `equipoise`: the command line as an executable of its own.

#![forbid(unsafe_code)]

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    // Sandboxes of programs are this executable, started again.
    #[cfg(target_os = "linux")]
    if let Some(code) = equipoise_runner::sandbox::take_part() {
        return ExitCode::from(code);
    }
    ExitCode::from(equipoise_cli::run(env::args_os().collect(), None))
}
