//! The `equipoise` command, for its executable and for Python's package, whose console script runs it too. This file owns the exit codes;
//! each command has a file of its own.

#![forbid(unsafe_code)]

/// The same as the standard one, but where the output cannot be written the program says so and ends; it does not panic.
macro_rules! println {
    ($($text:tt)*) => { $crate::print(format_args!("{}\n", format_args!($($text)*))) };
}

/// The same without a line end.
macro_rules! print {
    ($($text:tt)*) => { $crate::print(format_args!($($text)*)) };
}

/// The same to standard error. Who cannot be told goes on.
macro_rules! eprintln {
    ($($text:tt)*) => { $crate::tell(format_args!($($text)*)) };
}

mod args;
mod ask;
mod audit;
mod budget;
mod calibrate;
mod check;
mod choose;
mod cluster;
mod columns;
mod compare;
mod complete;
mod elsewhere;
mod explain;
mod extract;
mod graph;
mod hand_over;
mod interrupt;
mod joined;
mod manual;
mod monitor;
mod pages;
mod paid;
mod plan;
mod plan_file;
mod plot;
mod progress;
mod prompt;
mod report;
mod robust;
#[cfg(target_os = "linux")]
mod run;
mod sampled;
mod serve;
mod show;
mod simulate;
mod sql;
mod standing;
mod streams;

use clap::Parser;
use equipoise_core::wording::{self, Surface};
#[cfg(target_os = "linux")]
use equipoise_runner::{Refusal, Sandbox};
use equipoise_session::{next::NextStep, plan::PlanError};
#[cfg(target_os = "linux")]
use nix::sys::signal::{SigSet, Signal};
use std::{
    env,
    ffi::OsString,
    fmt,
    io::{self, Write},
    path::PathBuf,
    process::{self, ExitCode},
    sync::OnceLock,
};

/// What was typed, the name of the program first, and who keeps sandboxes.
struct Started {
    words: Vec<OsString>,
    keeper: Option<PathBuf>,
}

static STARTED: OnceLock<Started> = OnceLock::new();

/// How a command ends. The numbers are part of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for was done.
    Done = 0,
    /// An audit found what must not be.
    Failed = 1,
    /// The request was wrong; nothing was done or charged.
    Usage = 2,
    /// There is no answer; the charge stands.
    Refused = 3,
    /// The budget does not allow it; nothing was charged.
    OverBudget = 4,
}

/// Everything that is printed goes through here or [`tell`], so that no name, key or cell of somebody else's commands the
/// terminal or hides in it: what nobody would see is written out, in documents of JSON so that they say the same.
fn print(text: fmt::Arguments<'_>) {
    let text = text.to_string();
    if let Err(error) = io::stdout().lock().write_all(wording::seen_in_json(&text).as_bytes()) {
        not_written(&error);
    }
}

/// The program ends where its output cannot be written.
fn not_written(error: &io::Error) -> ! {
    // Nobody reads on behind a closed pipe, so that is no news.
    if error.kind() != io::ErrorKind::BrokenPipe {
        eprintln!(
            "equipoise: the output could not be written ({}); 'equipoise budget log --json' has what was answered",
            error.kind()
        );
    }
    process::exit(i32::from(Exit::Failed as u8));
}

fn tell(text: fmt::Arguments<'_>) {
    let line = format!("{}\n", wording::seen_in_json(&text.to_string()));
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

/// What was typed, the name of the program first.
pub(crate) fn typed_words() -> &'static [OsString] {
    STARTED.get().map(|started| started.words.as_slice()).unwrap_or_default()
}

/// Were answers asked for as JSON? Then what is wrong is told so too.
fn as_json() -> bool {
    // What follows -- belongs to another program.
    typed_words().iter().skip(1).take_while(|word| *word != "--").any(|word| word == "--json")
}

/// A text of the libraries, its options written as they are typed here.
pub(crate) fn typed(text: &str) -> String {
    wording::on(Surface::CommandLine, text)
}

/// Say what is wrong in one line on standard error, as `{"error": .., "exit": ..}` for who asked for JSON; the code is one of
/// those above.
pub(crate) fn fail(error: &dyn fmt::Display, code: u8) -> Exit {
    told(&typed(&error.to_string()), code, serde_json::Map::new())
}

/// The same for a request that cannot be planned: JSON has the argument by its name and the next step as fields too, where
/// they are known.
pub(crate) fn unplanned(error: &PlanError) -> Exit {
    unplanned_with(error, None)
}

/// The same with a whole question that can be planned, and how it is typed.
pub(crate) fn unplanned_with(error: &PlanError, step: Option<(&NextStep, &str)>) -> Exit {
    let mut fields = serde_json::Map::new();
    if let Some(argument) = error.argument() {
        fields.insert("argument".to_string(), argument.name.into());
    }
    if let Some(hint) = error.next_step() {
        fields.insert("hint".to_string(), typed(hint).into());
    }
    if let Some((step, command)) = step {
        let mut step = serde_json::to_value(step).expect("a step is JSON");
        step["command"] = command.into();
        fields.insert("next_step".to_string(), step);
    }
    let exit = told(&typed(&error.to_string()), Exit::Usage as u8, fields);
    if let (Some((step, command)), false) = (step, as_json()) {
        eprintln!("  try: {command}   ({})", show::amount(&step.charge));
    }
    exit
}

/// The same where no question is known that would be the one that was meant: with a command that shows what can be asked.
pub(crate) fn unplanned_look(error: &PlanError, command: &str) -> Exit {
    let exit = unplanned_with(error, None);
    if !as_json() {
        eprintln!("  see: {command}   (free)");
    }
    exit
}

fn told(line: &str, code: u8, fields: serde_json::Map<String, serde_json::Value>) -> Exit {
    if as_json() {
        let mut document = serde_json::json!({ "error": line, "exit": code });
        document.as_object_mut().expect("an object").extend(fields);
        eprintln!("{document}");
    } else {
        eprintln!("equipoise: {}", wording::line(line));
    }
    match code {
        2 => Exit::Usage,
        4 => Exit::OverBudget,
        _ => Exit::Failed,
    }
}

/// The sandbox of a program, kept by this executable, or by the helper that Python's package brings.
#[cfg(target_os = "linux")]
pub(crate) fn sandbox() -> Result<Sandbox, Refusal> {
    match STARTED.get().and_then(|started| started.keeper.as_ref()) {
        Some(keeper) => Sandbox::found_at(keeper),
        None => Sandbox::new(),
    }
}

/// The whole program, of an executable.
pub fn main() -> ExitCode {
    // Sandboxes of programs are this executable, started again.
    #[cfg(target_os = "linux")]
    if let Some(code) = equipoise_runner::sandbox::take_part() {
        return ExitCode::from(code);
    }
    ExitCode::from(run(env::args_os().collect(), None))
}

/// Run the command that was typed, the name of the program first, and give its exit code. Once in a process: signals are held back from
/// here on. Sandboxes are kept by this executable, whose `main` then begins with `take_part`, or by `keeper`.
pub fn run(words: Vec<OsString>, keeper: Option<PathBuf>) -> u8 {
    if STARTED.set(Started { words, keeper }).is_err() {
        eprintln!("equipoise: the command line runs once in a process; start another one");
        return Exit::Usage as u8;
    }
    let exit = started(&STARTED.get().expect("it was set").words);
    // Inside of another program nobody else does.
    match io::stdout().lock().flush() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => not_written(&error),
        _ => {}
    }
    exit
}

fn started(words: &[OsString]) -> u8 {
    if let Some(exit) = complete::asked(words) {
        return exit as u8;
    }
    hand_over::to_postgres(&words[1..]);
    // A file that may not grow is a disk that fails, not a death: how much is written can depend on private rows. Threads
    // inherit this; programs that are started do not.
    #[cfg(target_os = "linux")]
    {
        let mut growing = SigSet::empty();
        growing.add(Signal::SIGXFSZ);
        if growing.thread_block().is_err() {
            eprintln!("equipoise: signals cannot be held back; nothing was done");
            return Exit::Failed as u8;
        }
        if let Err(error) = interrupt::watch() {
            eprintln!("equipoise: Ctrl-C cannot be waited for ({}); nothing was done", error.kind());
            return Exit::Failed as u8;
        }
    }
    match args::Arguments::try_parse_from(words) {
        Ok(arguments) => obeyed(arguments.command) as u8,
        Err(error) if error.use_stderr() && as_json() => {
            let text = error.to_string();
            let said = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
            let said = said.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ");
            fail(&said.trim_start_matches("error: "), Exit::Usage as u8) as u8
        }
        Err(error) => {
            let text = error.to_string();
            let shown = wording::seen_in_json(&text);
            // Colours are worth having where nothing has to be written out.
            if shown == text {
                error.exit()
            }
            eprintln!("{}", shown.trim_end());
            Exit::Usage as u8
        }
    }
}

fn obeyed(command: args::Command) -> Exit {
    match command {
        args::Command::Ask(question) => ask::run(&question),
        args::Command::Simulate(options) => simulate::run(&options),
        args::Command::Columns(options) => columns::run(&options),
        args::Command::Check(options) => check::run(&options),
        args::Command::Extract(options) => extract::run(&options),
        args::Command::Batch(options) => ask::batch(&options),
        args::Command::Sql(options) => sql::run(&options),
        args::Command::Monitor(options) => monitor::run(&options),
        args::Command::Graph(options) => graph::run(&options),
        args::Command::Choose(options) => choose::run(&options),
        args::Command::AboveThreshold(options) => streams::above_threshold(&options),
        args::Command::Holdout(options) => streams::holdout(&options),
        args::Command::Budget(options) => budget::run(&options.command),
        args::Command::Explain(options) => explain::run(&options),
        #[cfg(target_os = "linux")]
        args::Command::Run(options) => run::run(&options),
        args::Command::Robust(options) => robust::run(&options),
        args::Command::Audit(options) => audit::run(&options),
        args::Command::Plan(options) => plan::run(&options),
        args::Command::Calibrate(options) => calibrate::run(&options),
        args::Command::Serve(options) => serve::run(&options),
        args::Command::Cluster(options) => cluster::run(&options),
        args::Command::Completions(options) => manual::completions(&options),
        args::Command::Man(options) => manual::man(&options),
    }
}
