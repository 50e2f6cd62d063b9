//! The `equipoise` command. This file owns the exit codes; each command has a file of its own.

#![forbid(unsafe_code)]

mod args;
mod audit;
mod calibrate;

use clap::Parser;
use std::process::ExitCode;

/// How a command ends. The numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for was done.
    Done = 0,
    /// An audit found what must not be.
    Failed = 1,
    /// The command line was wrong; nothing was done.
    Usage = 2,
}

fn main() -> ExitCode {
    let exit = match args::Arguments::parse().command {
        args::Command::Audit(options) => audit::run(&options),
        args::Command::Calibrate(options) => calibrate::run(&options),
    };
    ExitCode::from(exit as u8)
}
