//! When and where blocks run, so that neither tells anything about rows.
//!
//! Block i runs on lane i modulo the number of lanes, whatever the others do. With a fixed pace, the k-th block of each lane
//! begins k block times after the start, and the run ends one block time after the last began: early answers wait, and late
//! ones are killed in the last part of their time, which is kept for clearing up.

use crate::{
    Program, Refusal, Sandbox,
    block::{self, Ended, Rehearsed},
    sandbox::{Lane, NOT_BUILT, NOT_STARTED, not_built},
};
use nix::{
    sched::{CpuSet, sched_getaffinity},
    unistd::Pid,
};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

/// How long blocks take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Each exactly this long, as seen from outside.
    Fixed(Duration),
    /// As long as they like, at most this long: for programs that are trusted not to speak by their time.
    UpTo(Duration),
}

impl Pace {
    /// The time of a block.
    pub fn block_time(self) -> Duration {
        match self {
            Self::Fixed(time) | Self::UpTo(time) => time,
        }
    }

    /// How long the program has, of the block's time: the rest is for clearing up.
    fn program_time(self) -> Duration {
        match self {
            Self::UpTo(time) => time,
            Self::Fixed(time) => {
                let rest = (time / 10).clamp(Duration::from_millis(20), Duration::from_secs(2));
                time.saturating_sub(rest.min(time / 2))
            }
        }
    }
}

/// The least and most time of a block.
pub const BLOCK_TIMES: [Duration; 2] = [Duration::from_millis(100), Duration::from_hours(24)];

/// Programs to be run on blocks.
pub struct Run<'a> {
    /// The programs: block i goes to program i modulo their number.
    pub programs: Vec<Program>,
    /// How they are kept apart.
    pub sandbox: Sandbox,
    /// How long blocks take.
    pub pace: Pace,
    /// One block at a time, so that none can slow another down.
    pub serial: bool,
    /// Told how many blocks are over, out of how many.
    pub progress: Option<&'a (dyn Fn(usize, usize) + Sync)>,
}

impl Run<'_> {
    /// Ten seconds for each block, one block for each processor, no program yet.
    pub fn new(sandbox: Sandbox) -> Self {
        let pace = Pace::Fixed(Duration::from_secs(10));
        Self { programs: Vec::new(), sandbox, pace, serial: false, progress: None }
    }

    /// Build the sandbox and run each program on a block without rows, to see that they start: before anything is
    /// charged or read. Programs may fail on such a block; that is told and no reason to refuse.
    pub fn rehearse(&self, empty_block: &[u8]) -> Result<Vec<Rehearsed>, Refusal> {
        if self.programs.is_empty() {
            return Err(Refusal::line("which program? Write it after --, such as -- python3 fit.py"));
        }
        let [least, most] = BLOCK_TIMES;
        if !(least..=most).contains(&self.pace.block_time()) {
            return Err(Refusal::line("a block time is between 0.1 seconds and 24 hours"));
        }
        if !self.sandbox.is_protected() && self.programs.iter().any(Program::is_module) {
            return Err(Refusal::line(
                "WebAssembly modules run in the sandbox only; leave out --unsafe-no-sandbox",
            ));
        }
        let one = |(index, program): (usize, &Program)| {
            let lane = Lane { processor: processors().first().copied(), messages: true };
            let orders = self.sandbox.orders(program, index, lane)?;
            let until = Instant::now() + self.pace.program_time();
            let ended = block::run(&self.sandbox, &orders, empty_block, until)
                .map_err(|error| block::not_started(&error))?;
            self.started(program, &ended)?;
            Ok(Rehearsed::new(ended))
        };
        self.programs.iter().enumerate().map(one).collect()
    }

    fn started(&self, program: &Program, ended: &Ended) -> Result<(), Refusal> {
        let last = ended.messages.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let last: String = last.chars().filter(|c| !c.is_control()).take(200).collect();
        let is = |code: u8| self.sandbox.is_protected() && ended.code == Some(code.into());
        if is(NOT_BUILT) {
            return Err(not_built(&ended.messages));
        }
        // A shell's codes for a program that is missing or cannot be run.
        if is(NOT_STARTED) || matches!(ended.code, Some(126 | 127)) {
            return Err(Refusal::line(format!(
                "'{}' cannot be started in the sandbox ({last}); show it the folders of its own files with --allow-read",
                program.name()
            )));
        }
        Ok(())
    }

    /// The answers, one for each block, in their order; nothing where a program failed or was late. Whatever programs do,
    /// this comes back, and with a fixed pace it takes [`Run::total_time`].
    pub fn answers(&self, count: usize, block: impl Fn(usize) -> Vec<u8> + Sync) -> Vec<Option<Vec<u8>>> {
        let processors = processors();
        let lanes = self.lanes(count);
        let (start, over) = (Instant::now(), AtomicUsize::new(0));
        let work = |lane: usize| -> Vec<(usize, Option<Vec<u8>>)> {
            let turns = (lane..count).step_by(lanes).enumerate();
            let one = |(turn, index)| {
                let begin = self.begin(start, turn);
                let answer = self.one(index, &block(index), processors.get(lane).copied(), begin);
                if let Pace::Fixed(time) = self.pace {
                    thread::sleep((begin + time).saturating_duration_since(Instant::now()));
                }
                let done = over.fetch_add(1, Ordering::Relaxed) + 1;
                if let Some(progress) = self.progress {
                    progress(done, count);
                }
                (index, answer)
            };
            turns.map(one).collect()
        };
        let mut answers = vec![None; count];
        thread::scope(|scope| {
            let others: Vec<_> = (1..lanes).map(|lane| scope.spawn(move || work(lane))).collect();
            let mut found = work(0);
            for other in others {
                found.extend(other.join().unwrap_or_default());
            }
            for (index, answer) in found {
                answers[index] = answer;
            }
        });
        answers
    }

    /// When the block of this turn begins: waits until then.
    fn begin(&self, start: Instant, turn: usize) -> Instant {
        let Pace::Fixed(time) = self.pace else { return Instant::now() };
        let begin = start + time * u32::try_from(turn).unwrap_or(u32::MAX);
        thread::sleep(begin.saturating_duration_since(Instant::now()));
        begin
    }

    fn one(&self, index: usize, block: &[u8], processor: Option<usize>, begin: Instant) -> Option<Vec<u8>> {
        let program = &self.programs[index % self.programs.len()];
        let orders = self.sandbox.orders(program, index, Lane { processor, messages: false }).ok()?;
        let until = begin + self.pace.program_time();
        block::run(&self.sandbox, &orders, block, until).ok()?.answer()
    }

    /// How many blocks run side by side.
    pub fn lanes(&self, count: usize) -> usize {
        if self.serial { 1 } else { processors().len().clamp(1, count.max(1)) }
    }

    /// How long so many blocks take with a fixed pace, and at most else.
    pub fn total_time(&self, count: usize) -> Duration {
        let turns = count.div_ceil(self.lanes(count));
        self.pace.block_time() * u32::try_from(turns).unwrap_or(u32::MAX)
    }
}

/// The processors that blocks may use, one each.
fn processors() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    (0..CpuSet::count()).filter(|&one| set.is_set(one).unwrap_or(false)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_block_leaves_some_for_clearing_up() {
        let seconds = Duration::from_secs;
        for (pace, program) in [
            (Pace::Fixed(seconds(10)), seconds(9)),
            (Pace::Fixed(seconds(100)), seconds(98)),
            (Pace::Fixed(Duration::from_millis(100)), Duration::from_millis(80)),
            (Pace::UpTo(seconds(10)), seconds(10)),
        ] {
            assert_eq!(pace.program_time(), program, "{pace:?}");
        }
    }

    #[test]
    fn the_time_of_all_blocks_is_known_beforehand() {
        let run = Run { serial: true, ..Run::new(Sandbox::new().unwrap()) };
        assert_eq!(run.total_time(7), Duration::from_secs(70));
        let lanes = Run::new(Sandbox::new().unwrap()).lanes(1000);
        assert!(lanes >= 1);
    }
}
