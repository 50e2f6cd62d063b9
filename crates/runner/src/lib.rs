//! Blocks of data through any program that nobody trusts: processes in a sandbox, WebAssembly modules.
//!
//! # Guarantee
//!
//! [`Run::answers`] gives one entry for each block, in their order. Entry i is what the program printed on block i, as it was read, if it
//! ended well and in time, and nothing otherwise. A program in the sandbox sees its block, its own files and the system's
//! programs; no network, no other process, no file of anybody else; whatever it makes dies with its block. So entry
//! i depends on block i and on i alone, up to what `docs/programs.md` names: how blocks that run side by side slow each other
//! down, and the few counters of the kernel that all processes share.
//!
//! With [`Pace::Fixed`] every block takes the same time as seen from outside, whatever its program does.
//!
//! # Why
//!
//! 1. No layer is enough alone, so all are there or nothing runs ([`sandbox`]): namespaces hide processes, mounts and
//!    networks; Landlock and read-only mounts keep files as they are; a list of system calls closes what
//!    namespaces share (locks on common files, keyrings, watches, `sysinfo`); limits bound what a block can take.
//! 2. The first process of a block is the first of its process namespace: when it ends or is killed, the kernel ends all
//!    others before anybody learns of it. No block can leave anything behind.
//! 3. Which processor a block runs on, and when it starts, is fixed beforehand ([`schedule`]).
//!
//! # Example
//!
//! ```no_run
//! use equipoise_runner::{Program, Run, Sandbox};
//!
//! let average = Program::new("awk", &["-F,", "NR > 1 { sum += $2 } END { print sum / (NR - 1) }"])?;
//! let run = Run { programs: vec![average], ..Run::new(Sandbox::new()?) };
//! run.rehearse(b"name,age\n")?;
//! let blocks = [b"name,age\nann,31\n".to_vec(), b"name,age\nbob,45\n".to_vec()];
//! let answers = run.answers(blocks.len(), |index| blocks[index].clone(), |printed| Some(printed.to_vec()));
//! # Ok::<(), equipoise_runner::Refusal>(())
//! ```

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod block;
mod fingerprint;
mod program;
pub mod sandbox;
pub mod schedule;
mod settings;
#[cfg(feature = "wasm")]
mod wasm;

pub use program::Program;
pub use sandbox::Sandbox;
pub use schedule::{Isolation, Pace, Run};
pub use settings::Settings;

use std::fmt;

/// Why nothing was run. `Display` is one line; it depends on public facts only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    pub(crate) fn line(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}
