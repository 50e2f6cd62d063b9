//! When and where blocks run, so that neither tells anything about rows.
//!
//! Block i runs on lane i modulo the number of lanes, whatever the others do. With a fixed pace, the k-th block of each lane
//! begins k block times after the start: early answers wait, and late ones are killed in the last part of their time, which
//! is kept for clearing up. A process that is killed first ends the call that it is in, so many can die slowly: then the
//! lane goes on later, with as much time for each block as ever, and the run ends at the declared time all the same, because
//! that has room for it ([`Run::clearing_time`]). What the run shows of its progress follows the clock alone.

use crate::{
    Program, Refusal, Sandbox,
    block::{self, Ended, LOOK, Rehearsed, Watch},
    fingerprint::Fingerprint,
    sandbox::{Lane, NOT_BUILT, NOT_STARTED, not_built},
};
use nix::{
    sched::{CpuSet, sched_getaffinity},
    unistd::Pid,
};
use std::{
    ops::Range,
    sync::Arc,
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

/// What keeps the programs of a run to their blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Nothing.
    None,
    /// The sandbox of processes.
    Process,
    /// A machine without clock, files or threads, inside that sandbox.
    Machine,
}

/// The least and most time of a block.
pub const BLOCK_TIMES: [Duration; 2] = [Duration::from_millis(100), Duration::from_hours(24)];

/// Programs to be run on blocks.
pub struct Run<'a> {
    /// The programs: block i goes to program i modulo their number.
    pub programs: Vec<Program>,
    /// Only these of them take blocks, where that is said.
    pub turn: Option<Range<usize>>,
    /// How they are kept apart.
    pub sandbox: Sandbox,
    /// How long blocks take.
    pub pace: Pace,
    /// One block at a time, so that none can slow another down.
    pub serial: bool,
    /// Told how many blocks are over, out of how many, by the clock: with a fixed pace only, else nothing is told.
    pub progress: Option<&'a (dyn Fn(usize, usize) + Sync)>,
    /// Asked ten times a second or more whether somebody still waits for the answers. Where nobody does, the run ends at once,
    /// and what it gives is of no use.
    pub given_up: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Run<'_> {
    /// Ten seconds for each block, one block for each processor, no program yet.
    pub fn new(sandbox: Sandbox) -> Self {
        let pace = Pace::Fixed(Duration::from_secs(10));
        Self {
            programs: Vec::new(),
            turn: None,
            sandbox,
            pace,
            serial: false,
            progress: None,
            given_up: None,
        }
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
                "WebAssembly modules run in the sandbox only; leave out `unsafe_no_sandbox`",
            ));
        }
        let one = |(index, program): (usize, &Program)| {
            let lane = Lane { processor: processors().first().copied(), messages: true };
            // Not the identity of any block.
            let orders = self.sandbox.orders(program, index + MOST_BLOCKS, lane)?;
            let until = Instant::now() + self.pace.program_time();
            let ended = block::run(&self.sandbox, &orders, empty_block, self.watch(until))
                .map_err(|error| block::not_started(&error))?;
            self.started(program, &ended)?;
            Ok(Rehearsed::new(ended))
        };
        self.programs.iter().enumerate().map(one).collect()
    }

    /// Programs, their scripts and what they are shown, as a hash: what may only be answered by the same run.
    pub fn fingerprint(&self) -> Result<String, Refusal> {
        let mut fingerprint = Fingerprint::default();
        for program in &self.programs {
            // Data and ledger are refused here, before anything of them is read.
            self.sandbox.orders(program, 0, Lane::default())?;
            program.tell(&mut fingerprint)?;
        }
        self.sandbox.tell(&mut fingerprint)?;
        Ok(fingerprint.text())
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
                "'{}' cannot be started in the sandbox ({last}); show it the folders of its own files with `allow_read`",
                program.name()
            )));
        }
        Ok(())
    }

    /// The answers, one for each block, in their order; nothing where a program failed or was late. Whatever programs do,
    /// this comes back, and with a fixed pace it takes [`Run::total_time`].
    ///
    /// What was printed is read in the time of its block, so that nothing afterwards depends on how much it was; `read` says
    /// what it means.
    pub fn answers<V: Send>(
        &self,
        count: usize,
        block: impl Fn(usize) -> Vec<u8> + Sync,
        read: impl Fn(&[u8]) -> Option<V> + Sync,
    ) -> Vec<Option<V>> {
        let processors = processors();
        let lanes = self.lanes(count);
        let start = Instant::now();
        let work = |lane: usize| -> Vec<(usize, Option<V>)> {
            let turns = (lane..count).step_by(lanes).enumerate();
            let one = |(turn, index)| {
                // Made before its time begins, so that large blocks take none of it.
                let rows = block(index);
                let begin = self.begin(start, turn);
                let answer = self.one(index, &rows, processors.get(lane).copied(), begin);
                (index, answer.and_then(|answer| read(&answer)))
            };
            turns.take_while(|_| !self.is_given_up()).map(one).collect()
        };
        let mut answers: Vec<Option<V>> = (0..count).map(|_| None).collect();
        thread::scope(|scope| {
            let work = &work;
            let others: Vec<_> = (1..lanes).map(|lane| scope.spawn(move || work(lane))).collect();
            scope.spawn(move || self.show_time(start, count));
            let mut found = work(0);
            for other in others {
                found.extend(other.join().unwrap_or_default());
            }
            for (index, answer) in found {
                answers[index] = answer;
            }
        });
        self.end(start, count);
        answers
    }

    /// When the block of this turn begins: waits until then. Later where the lane is late, so that no block has less time.
    fn begin(&self, start: Instant, turn: usize) -> Instant {
        if let Pace::Fixed(time) = self.pace {
            self.wait_until(start + time * u32::try_from(turn).unwrap_or(u32::MAX));
        }
        Instant::now()
    }

    /// With a fixed pace, how many blocks are over is told by the clock.
    fn show_time(&self, start: Instant, count: usize) {
        let (Pace::Fixed(time), Some(progress)) = (self.pace, self.progress) else { return };
        let lanes = self.lanes(count);
        for turn in 1..=count.div_ceil(lanes) {
            self.wait_until(start + time * u32::try_from(turn).unwrap_or(u32::MAX));
            if self.is_given_up() {
                return;
            }
            progress((turn * lanes).min(count), count);
        }
    }

    /// With a fixed pace, the run ends at its time; twice as late, or four times, where clearing up took longer than there
    /// is room for, so that not even then it shows how long.
    fn end(&self, start: Instant, count: usize) {
        let Pace::Fixed(_) = self.pace else { return };
        let mut whole = self.total_time(count);
        while start.elapsed() > whole {
            whole = whole.saturating_mul(2);
        }
        self.wait_until(start + whole);
    }

    fn is_given_up(&self) -> bool {
        self.given_up.as_ref().is_some_and(|given_up| given_up())
    }

    fn watch(&self, until: Instant) -> Watch<'_> {
        Watch { until, given_up: self.given_up.as_deref() }
    }

    fn wait_until(&self, moment: Instant) {
        while !self.is_given_up() {
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::sleep(if self.given_up.is_some() { left.min(LOOK) } else { left });
        }
    }

    fn one(&self, index: usize, block: &[u8], processor: Option<usize>, begin: Instant) -> Option<Vec<u8>> {
        let programs = self.turn.clone().map_or(&self.programs[..], |turn| &self.programs[turn]);
        let program = &programs[index % programs.len()];
        let orders = self.sandbox.orders(program, index, Lane { processor, messages: false }).ok()?;
        let until = begin + self.pace.program_time();
        block::run(&self.sandbox, &orders, block, self.watch(until)).ok()?.answer()
    }

    /// What keeps the programs to their blocks.
    pub fn isolation(&self) -> Isolation {
        match self.sandbox.is_protected() {
            false => Isolation::None,
            true if self.programs.iter().all(Program::is_module) => Isolation::Machine,
            true => Isolation::Process,
        }
    }

    /// How many blocks run side by side.
    pub fn lanes(&self, count: usize) -> usize {
        if self.serial { 1 } else { processors().len().clamp(1, count.max(1)) }
    }

    /// How long so many blocks take with a fixed pace, and at most else.
    pub fn total_time(&self, count: usize) -> Duration {
        let turns = count.div_ceil(self.lanes(count));
        let blocks = self.pace.block_time() * u32::try_from(turns).unwrap_or(u32::MAX);
        match self.pace {
            Pace::Fixed(_) => blocks + self.clearing_time(),
            Pace::UpTo(_) => blocks,
        }
    }

    /// The room at the end of a run for one block that dies slowly: all processes that it may have, each in the longest call that
    /// cannot be broken off, which is to read or write a file as large as its scratch folder.
    pub fn clearing_time(&self) -> Duration {
        let processes = u32::try_from(self.sandbox.limits.processes).unwrap_or(u32::MAX);
        LONGEST_CALL.saturating_mul(processes)
    }
}

/// More than there are ever blocks.
const MOST_BLOCKS: usize = 1 << 21;
/// How long a process may take to end the call that it was killed in.
const LONGEST_CALL: Duration = Duration::from_millis(100);

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

    /// A lane that is late, because a block died slowly, takes nothing from the next: its time counts from when it begins.
    #[test]
    fn a_block_of_a_late_lane_has_its_whole_time() {
        let time = Duration::from_secs(1);
        let run = Run { pace: Pace::Fixed(time), ..Run::new(Sandbox::new().unwrap()) };
        let now = Instant::now();
        let Some(long_ago) = now.checked_sub(Duration::from_secs(30)) else { return };
        assert!(run.begin(long_ago, 1) >= now);
        // And one that is early waits.
        assert!(run.begin(now, 1) >= now + time);
    }

    #[test]
    fn no_program_and_any_module_without_a_sandbox_are_refused_before_anything_runs() {
        let bare = || Run::new(Sandbox::new().unwrap().without_protection());
        let refused = |programs: &[&str]| {
            let programs = programs.iter().map(|program| Program::unseen(program)).collect();
            Run { programs, ..bare() }.rehearse(b"").unwrap_err().to_string()
        };
        assert!(refused(&[]).starts_with("which program?"));
        for programs in [&["a.wasm"][..], &["/bin/true", "a.wasm"], &["a.wat", "/bin/true"]] {
            assert!(
                refused(programs).starts_with("WebAssembly modules run in the sandbox only"),
                "{programs:?}"
            );
        }
    }

    /// One that is kept to one processor, as a batch system does, has one lane.
    #[test]
    fn the_processors_are_those_of_this_process() {
        let first = processors()[0];
        let kept = thread::spawn(move || {
            let mut one = CpuSet::new();
            one.set(first).unwrap();
            nix::sched::sched_setaffinity(Pid::from_raw(0), &one).unwrap();
            processors()
        });
        assert_eq!(kept.join().unwrap(), [first]);
    }

    #[test]
    fn the_time_of_all_blocks_is_known_beforehand() {
        let run = Run { serial: true, ..Run::new(Sandbox::new().unwrap()) };
        assert_eq!(run.total_time(7), Duration::from_secs(70) + run.clearing_time());
        assert_eq!(run.clearing_time(), Duration::from_millis(3200));
        assert_eq!((run.lanes(0), run.lanes(1000)), (1, 1));
        let side_by_side = Run::new(Sandbox::new().unwrap());
        assert_eq!(side_by_side.lanes(1000), processors().len());
        assert_eq!((side_by_side.lanes(0), side_by_side.lanes(1)), (1, 1));
        let trusted = Run { pace: Pace::UpTo(Duration::from_secs(2)), ..run };
        assert_eq!(trusted.total_time(7), Duration::from_secs(14));
    }

    /// How long after its start a run of one block ends, where clearing up was over so many milliseconds after the start.
    fn ends(over_after: u64) -> Option<Duration> {
        let mut run = Run { serial: true, ..Run::new(Sandbox::new().unwrap()) };
        (run.pace, run.sandbox.limits.processes) = (Pace::Fixed(Duration::from_millis(200)), 1);
        assert_eq!(run.total_time(1), Duration::from_millis(300));
        let start = Instant::now().checked_sub(Duration::from_millis(over_after))?;
        run.end(start, 1);
        Some(start.elapsed())
    }

    /// Whoever watches the end of a run learns a number of doublings and no more.
    #[test]
    fn a_late_run_ends_at_a_later_declared_time() {
        // On time, just late, and later: its own time would be soon after the first number.
        for (over_after, declared) in [(0, 300), (310, 600), (700, 1200), (1190, 1200)] {
            if let Some(end) = ends(over_after) {
                assert!(end >= Duration::from_millis(declared), "{over_after}: {end:?}");
            }
        }
        let trusted = Run { pace: Pace::UpTo(Duration::from_hours(1)), ..Run::new(Sandbox::new().unwrap()) };
        trusted.end(Instant::now(), 1);
    }
}
