//! The keeper of a sandbox as an executable of its own, for libraries that run inside another program.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = equipoise_runner::sandbox::take_part() {
        return ExitCode::from(code);
    }
    eprintln!("equipoise-sandbox: this is started by equipoise, not by hand");
    ExitCode::from(2)
}
