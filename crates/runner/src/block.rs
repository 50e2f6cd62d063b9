//! One block: start a program, hand it its rows, collect what it prints, and end it.

use crate::{
    Refusal,
    sandbox::{KEEPER, Orders, STARTED_BY, Sandbox, own_number},
};
use nix::{
    fcntl::{FcntlArg, SealFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::{
        memfd::{MFdFlags, memfd_create},
        signal::{Signal, kill, killpg},
    },
    unistd::Pid,
};
use std::{
    fs::{self, File},
    io::{self, Read, Seek, Write},
    os::{
        fd::AsFd,
        unix::{fs::DirBuilderExt, process::CommandExt},
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Its exit code; nothing where it was killed.
    pub code: Option<i32>,
    /// What it printed.
    pub answer: Vec<u8>,
    /// What it said besides, where that is passed on.
    pub messages: String,
    /// Was it too late, or its answer too long?
    pub stopped: bool,
}

impl Ended {
    /// The answer, if it ended well.
    pub fn answer(self) -> Option<Vec<u8>> {
        (self.code == Some(0) && !self.stopped).then_some(self.answer)
    }
}

/// How long a keeper may take to clear up after the time of its block before it is killed itself.
const PATIENCE: Duration = Duration::from_secs(30);
/// Messages beyond this are not kept.
const MOST_MESSAGES: usize = 1 << 16;

/// How often a run asks whether somebody still waits for it.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// When the time of a block is up.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    pub until: Instant,
    pub given_up: Option<&'a (dyn Fn() -> bool + Send + Sync)>,
}

impl Watch<'_> {
    /// How long there still is; nothing where nobody waits.
    fn left(&self) -> Duration {
        if self.given_up.is_some_and(|given_up| given_up()) {
            return Duration::ZERO;
        }
        self.until.saturating_duration_since(Instant::now())
    }
}

/// Run a program on a block until it ends or time is up. When this returns, nothing of it is left.
pub(crate) fn run(sandbox: &Sandbox, orders: &Orders, block: &[u8], watch: Watch<'_>) -> io::Result<Ended> {
    let input = sealed(block)?;
    if sandbox.is_protected() {
        let mut keeper = Command::new(sandbox.keeper());
        keeper.arg(KEEPER).args(orders.words()).env_clear().current_dir("/");
        keeper.env(STARTED_BY, own_number()?);
        return attend(&mut keeper, input, orders.limits.answer, watch, stop_keeper);
    }
    let scratch = Scratch::new()?;
    let mut command = Command::new(&orders.command[0]);
    command.args(&orders.command[1..]).env_clear().envs(orders.environment.iter().map(|(a, b)| (a, b)));
    command.current_dir(&scratch.0).process_group(0);
    let input = if let Some(name) = orders.input.file_name() {
        fs::write(scratch.0.join(name), block)?;
        File::open("/dev/null")?
    } else {
        input
    };
    attend(&mut command, input, orders.limits.answer, watch, stop_group)
}

/// The block as a file in memory that nobody can change: no pipe that must be fed, and it can be read twice.
fn sealed(block: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create(c"block", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?);
    file.write_all(block)?;
    file.rewind()?;
    let seals =
        SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_SEAL;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(file)
}

/// The keeper kills all of its block and waits until it is gone.
fn stop_keeper(child: &Child) {
    let _ = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM);
}

fn stop_group(child: &Child) {
    let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
}

fn attend(
    command: &mut Command,
    input: File,
    most: usize,
    watch: Watch<'_>,
    stop: fn(&Child),
) -> io::Result<Ended> {
    let mut child = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (mut output, mut errors) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let (mut answer, mut messages, mut stopped) = (Vec::new(), Vec::new(), false);
    let (mut answering, mut speaking) = (true, true);
    while answering || speaking {
        let left = watch.left();
        if !stopped && (left.is_zero() || answer.len() > most) {
            stopped = true;
            stop(&child);
        }
        if Instant::now().saturating_duration_since(watch.until) > PATIENCE {
            // Its first process dies with it.
            let _ = child.kill();
            break;
        }
        // After it was stopped the pipes close by themselves.
        let wait = match watch.given_up {
            _ if stopped => Duration::from_secs(1),
            Some(_) => left.min(LOOK),
            None => left,
        };
        let wait = PollTimeout::try_from(wait.as_millis().min(60_000) + 1).unwrap_or(PollTimeout::MAX);
        let listen = |open: bool| if open { PollFlags::POLLIN } else { PollFlags::empty() };
        let mut waiting =
            [PollFd::new(output.as_fd(), listen(answering)), PollFd::new(errors.as_fd(), listen(speaking))];
        match poll(&mut waiting, wait) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [heard, said] = waiting.map(|one| one.revents().is_some_and(|events| !events.is_empty()));
        if answering && heard {
            answering = take(&mut output, &mut answer, most.saturating_add(1))?;
        }
        if speaking && said {
            speaking = take(&mut errors, &mut messages, MOST_MESSAGES)?;
        }
        if stopped && !answering {
            break;
        }
    }
    // One that has closed its output may go on all the same.
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if !stopped && watch.left().is_zero() {
            stopped = true;
            stop(&child);
        }
        std::thread::sleep(Duration::from_micros(500));
    };
    let messages = String::from_utf8_lossy(&messages).into_owned();
    Ok(Ended { code: status.code(), stopped: stopped || answer.len() > most, answer, messages })
}

/// Take what is there, keeping at most so much; false at the end.
fn take(from: &mut impl Read, into: &mut Vec<u8>, most: usize) -> io::Result<bool> {
    let mut part = [0; 1 << 14];
    let count = from.read(&mut part)?;
    let room = most.saturating_sub(into.len());
    into.extend_from_slice(&part[..count.min(room)]);
    Ok(count > 0)
}

/// A folder for a program without a sandbox, removed with all that it left there.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("equipoise-{}-{number}", std::process::id()));
        // Blocks are nobody else's to read.
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What a rehearsal found. The program saw a header and no rows, so all of it is public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rehearsed {
    /// What it printed, if it ended well.
    pub answer: Option<String>,
    /// The last line that it said besides.
    pub last_words: Option<String>,
}

impl Rehearsed {
    pub(crate) fn new(ended: Ended) -> Self {
        let last = ended.messages.lines().rev().find(|line| !line.trim().is_empty());
        let tame = |line: &str| line.chars().filter(|c| !c.is_control()).take(200).collect();
        let last_words = last.map(tame);
        let answer = ended.answer().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Self { answer, last_words }
    }
}

/// A block that could not be started at all: the machine is out of something.
pub(crate) fn not_started(error: &io::Error) -> Refusal {
    Refusal::line(format!("no process can be started ({error}); free memory or processes and try again"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Program, sandbox::Input, sandbox::Lane};

    /// A line of shell without a sandbox on a block, for so many milliseconds.
    fn shell(line: &str, input: Input, millis: u64) -> Ended {
        let mut sandbox = Sandbox::new().unwrap().without_protection();
        sandbox.input = input;
        let program = Program::new("sh", &["-c", line]).unwrap();
        let orders = sandbox.orders(&program, 0, Lane { processor: None, messages: true }).unwrap();
        let watch = Watch { until: Instant::now() + Duration::from_millis(millis), given_up: None };
        run(&sandbox, &orders, b"a\n7\n", watch).unwrap()
    }

    #[test]
    fn without_a_sandbox_a_block_comes_as_was_said() {
        for (line, input, answer) in [
            ("cat", Input::Stdin, "a\n7\n"),
            ("cat block.csv; cat", Input::CsvFile, "a\n7\n"),
            ("cat block.arrow; cat", Input::ArrowFile, "a\n7\n"),
        ] {
            let ended = shell(line, input, 60_000);
            assert_eq!(ended.answer().as_deref(), Some(answer.as_bytes()), "{line}");
        }
    }

    /// What got away from its group keeps the pipe of messages open; nobody waits for that.
    #[test]
    fn a_block_that_was_stopped_is_over_although_something_still_speaks() {
        let begun = Instant::now();
        let ended = shell("exec >&-; setsid sleep 25 & sleep 25", Input::Stdin, 300);
        assert!(ended.stopped && begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    }
}
