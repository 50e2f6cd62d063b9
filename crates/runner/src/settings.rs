//! How programs are run, as it was said: one place for the command line and for Python.

use crate::{
    Pace, Program, Refusal, Run, Sandbox,
    sandbox::{Input, Limits},
};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

/// What was said.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own that was said or not")]
pub struct Settings {
    /// Command lines; block i goes to the i-th, modulo their number.
    pub commands: Vec<Vec<OsString>>,
    /// The seconds of a block.
    pub block_time: f64,
    /// The megabytes of memory for each process.
    pub memory: u64,
    /// Processes and threads of a block.
    pub processes: u64,
    /// One block at a time.
    pub serial: bool,
    /// Does every block take its whole time?
    pub padded: bool,
    /// Is there a sandbox?
    pub protected: bool,
    /// How programs get their block.
    pub input: Input,
    /// Do they see /proc?
    pub proc: bool,
    /// What they are shown.
    pub allow_read: Vec<PathBuf>,
    /// The files of the data.
    pub data: Vec<PathBuf>,
    /// The ledger.
    pub ledger: Option<PathBuf>,
}

impl Settings {
    /// A run as it was said, or one line on what cannot be.
    pub fn run(&self, sandbox: Sandbox) -> Result<Run<'static>, Refusal> {
        let time = Duration::try_from_secs_f64(self.block_time)
            .map_err(|_| Refusal::line("`block_time` takes seconds, such as 10 or 0.5"))?;
        let mut sandbox = if self.protected { sandbox } else { sandbox.without_protection() };
        sandbox.limits = Limits {
            memory: self.memory.saturating_mul(1 << 20),
            processes: self.processes,
            ..Limits::default()
        };
        (sandbox.input, sandbox.proc) = (self.input, self.proc);
        for file in &self.data {
            sandbox.hide(file);
        }
        for ending in ["", "-wal", "-shm", "-journal"] {
            let Some(ledger) = &self.ledger else { break };
            let mut name = ledger.as_os_str().to_os_string();
            name.push(ending);
            sandbox.hide(Path::new(&name));
        }
        self.allow_read.iter().try_for_each(|path| sandbox.show(path))?;
        let programs: Result<Vec<Program>, Refusal> =
            self.commands.iter().map(|words| Program::from_words(words)).collect();
        let pace = if self.padded { Pace::Fixed(time) } else { Pace::UpTo(time) };
        Ok(Run { programs: programs?, pace, serial: self.serial, ..Run::new(sandbox) })
    }

    /// What else than the programs' words makes this request: an answer that was stored for one is not given for another.
    pub fn words(&self, run: &Run) -> Result<Vec<String>, Refusal> {
        let mut words = vec![
            format!("block-time={}", self.block_time),
            format!("memory={}", self.memory),
            format!("processes={}", self.processes),
            format!("files={}", run.fingerprint()?),
        ];
        let flags = [
            ("block-file", self.input != Input::Stdin),
            ("serial", self.serial),
            ("with-proc", self.proc),
            ("no-time-padding", !self.padded),
            ("unsafe-no-sandbox", !self.protected),
        ];
        words.extend(flags.iter().filter(|(_, said)| *said).map(|(name, _)| (*name).to_string()));
        words.extend(self.allow_read.iter().map(|path| format!("allow-read={}", path.display())));
        Ok(words)
    }
}
