//! `equipoise run DATA -- PROGRAM ARGS..`: any program on blocks of the records, in a sandbox, and one private answer.

use crate::{
    Exit,
    args::{Books, Showing},
    ask::{account, delimiter, existing, internal, shown_as, unopened, unread, usage},
    fail,
    interrupt::{Stage, reached},
    plot, progress, show,
    simulate::public,
    typed, unplanned,
};
use clap::{Args, ValueEnum};
use equipoise_engine::{BlockFormat, OpenOptions, books::ledger_path, csv::Header, on_disk};
use equipoise_runner::{Isolation, Pace, Run, Settings, sandbox::Input};
use equipoise_session::{
    ledger::{Balance, DataSet, Ledger},
    program,
    release::Spent,
    session::{self, Paid, Priced, Session},
    source::Source,
    votes::{Analysis, Kept, VotePlan, VoteRequest, rehearsal_words},
};
use serde_json::Value;
use std::{
    ffi::OsString,
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
};

pub(crate) const EXAMPLES: &str = "Examples:
  equipoise run people.csv --epsilon 1 --delta 1e-6 --output label -- python3 choose_model.py
  equipoise run salaries.csv --epsilon 1 --output number --range 0,200000 --block-time 1 \\
      -- awk -F, 'NR > 1 { sum += $2 } END { if (NR > 1) print sum / (NR - 1) }'
  equipoise run people.csv --epsilon 1 --delta 1e-6 --output vector:3 --blocks 400 --unit user_id -- Rscript fit.R
  equipoise run people.csv --epsilon 1 --delta 1e-6 --output label -- ./first.py --and ./second.py
  equipoise run people.csv --epsilon 2 --output number --range 0,100 \\
      -- ./which.py --then mean ./mean.py --then median ./median.py

The program gets a block of the records on standard input, as CSV or as an Arrow stream, and prints its answer, as text or
JSON. It sees its own files, no network, no other block; what it prints besides is dropped. Test it on made-up rows first.
--and separates several programs, which take blocks in turn. With --then the first programs print the name of an analysis: half of
epsilon chooses one, the other half pays for what its programs answer. docs/programs.md says what holds.";

/// What can be typed after `run`.
#[derive(Args, Debug)]
pub(crate) struct RunOptions {
    /// A CSV, Parquet or Arrow file, also packed; a pattern or a folder
    #[arg(value_name = "DATA")]
    pub file: PathBuf,
    #[command(flatten)]
    privacy: RunPrivacy,
    #[command(flatten)]
    answers: Answers,
    #[command(flatten)]
    programs: Programs,
    /// The file has no first line of names: these are its columns, with commas
    #[arg(long, value_name = "NAMES", help_heading = "Reading")]
    columns: Option<String>,
    /// The character between fields [default: ,]
    #[arg(long, value_name = "CHAR", help_heading = "Reading")]
    delimiter: Option<String>,
    #[command(flatten)]
    books: Books,
    #[command(flatten)]
    showing: Showing,
    /// The program and its arguments, after --
    #[arg(last = true, required = true, value_name = "PROGRAM ARGS..", help_heading = None::<&str>)]
    command: Vec<OsString>,
}

/// What an answer may cost, and what it promises.
#[derive(Args, Debug)]
#[command(next_help_heading = "Privacy")]
struct RunPrivacy {
    /// The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<String>,
    /// By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the number of rows
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    delta: Option<String>,
    /// What may change between data sets that look alike, one row or person: add-remove (the number of rows is private too) or replace
    #[arg(long, value_name = "WHICH")]
    adjacency: Option<String>,
    /// The column that names the person: all of their rows are protected together
    #[arg(long, value_name = "COLUMN")]
    unit: Option<String>,
    /// With which probability the error bar holds [default: 0.95]
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    confidence: Option<String>,
}

/// What programs answer, and how many of them.
#[derive(Args, Debug)]
#[command(next_help_heading = "Answers")]
struct Answers {
    /// What the program prints: number, vector:K, label or labels
    #[arg(long, value_name = "KIND")]
    output: String,
    /// Numbers of answers are moved between these; never needed, and fewer blocks are enough with it
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true)]
    range: Option<String>,
    /// The labels that there are; never needed
    #[arg(long, value_name = "A,B,..")]
    options: Option<String>,
    /// What a block without an answer counts as: a number, or numbers or labels with commas. Without it a tenth of epsilon tells
    /// whether at least half of the blocks answered, and there is no answer where they did not
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    default: Option<String>,
    /// How many blocks, or samples [default: the best for --rows, or 100]
    #[arg(long, value_name = "N")]
    blocks: Option<String>,
    /// The number of rows or people, where you state it as public
    #[arg(long, value_name = "N")]
    rows: Option<String>,
    /// How answers become one: trimmed, winsorized, median, consensus, grid, choice or ball for numbers; bounded, vectors, ball, grid or
    /// choice for vectors; arg-max, popularity, majority, bootstrap, a-samp or sa for a label; counts (feature by feature), majority (the
    /// whole set), bootstrap, a-samp or sa for labels
    #[arg(long, value_name = "NAME")]
    mechanism: Option<String>,
    /// With trimmed or winsorized: the share of the answers at each end [default: 0.1]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    trim: Option<String>,
    /// With grid: how wide a cell is in which answers agree; with choice: several, with commas
    #[arg(long, value_name = "W,..", allow_hyphen_values = true)]
    width: Option<String>,
    /// With consensus: the most that one block may move the median where they agree
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    bound: Option<String>,
    /// With bootstrap: the share of the rows in a sample
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    rate: Option<String>,
    /// With bootstrap or sa: the rows of a sample, drawn with repetition
    #[arg(long, value_name = "N")]
    size: Option<String>,
}

/// How programs are run.
#[derive(Args, Debug)]
#[command(next_help_heading = "Programs")]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
struct Programs {
    /// The seconds that every block takes; a later answer does not count
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    block_time: f64,
    /// Show the program this file or folder, read-only (may be given several times)
    #[arg(long, value_name = "PATH")]
    allow_read: Vec<PathBuf>,
    /// What the program gets: comma-separated text, or an Arrow stream with the types of the file
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Csv)]
    input: Format,
    /// The block is the file block.csv or block.arrow in the program's folder, and standard input is empty
    #[arg(long)]
    block_file: bool,
    /// The megabytes of memory for each process
    #[arg(long, value_name = "MB", default_value_t = 2048)]
    memory: u64,
    /// The processes and threads that a block may have at once
    #[arg(long, value_name = "N", default_value_t = 32)]
    processes: u64,
    /// Show the program /proc, which some need; it counts the processes of the whole machine
    #[arg(long)]
    with_proc: bool,
    /// One block at a time, so that no block can slow another down
    #[arg(long)]
    serial: bool,
    /// Take an answer as soon as it is there: the time of the whole run then tells of the rows. For programs you trust
    #[arg(long)]
    no_time_padding: bool,
    /// Show what the program says in the rehearsal without rows. For whoever may read the data: it has a clock and the machine
    #[arg(long)]
    show_messages: bool,
    /// Run without a sandbox: the program can read and send everything that you can. Nothing is promised
    #[arg(long)]
    unsafe_no_sandbox: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Arrow,
}

pub(crate) fn run(options: &RunOptions) -> Exit {
    match answer(options) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn answer(options: &RunOptions) -> Result<Exit, Exit> {
    reached(Stage::Planning);
    let source = open(options)?;
    let account = account(&options.file, &options.books)?;
    let (path, name) = (&account.ledger, &account.name);
    if let Some(picture) = &options.showing.plot {
        plot::check(picture, &[&options.file, path]).map_err(usage)?;
    }
    let known = existing(path)?;
    let facts = session::facts(known.as_ref(), name, source.columns()).map_err(unopened)?;
    let others = known.as_ref().map_or(Ok(Vec::new()), Ledger::data_sets).map_err(unopened)?;
    let said = settings(options, path, &others)?;
    let mut run = said.run(crate::sandbox().map_err(usage)?).map_err(usage)?;
    let request = request(options, &said, &run)?;
    let plan = VotePlan::new(&request, &facts).map_err(|error| unplanned(&error))?;
    run.sandbox.limits.answer = longest_answer(&plan);
    if options.programs.unsafe_no_sandbox {
        eprintln!(
            "equipoise: WARNING: no sandbox; the program can read the data, the ledger and all that you can, and send it anywhere"
        );
    }
    rehearse(options, &run, &*source)?;
    if options.showing.dry_run {
        let balance = match &known {
            Some(known) => Some(known.balance(name, options.books.analyst.as_deref()).map_err(unopened)?),
            None => None,
        };
        show_plan(&plan, &run, balance.as_ref(), options.showing.json);
        return Ok(Exit::Done);
    }
    drop(known);
    reached(Stage::Charging);
    let opened = account.open().map_err(unopened)?;
    let mut session = Session::new(opened, options.books.analyst.clone()).map_err(internal)?;
    let paid = session
        .charge(plan, options.books.request_id.as_deref())
        .map_err(|error| fail(&error, error.exit_code()))?;
    let release = match paid {
        Paid::Replayed(release) => *release,
        Paid::Charged(charged) => {
            reached(Stage::Charged);
            let format = options.programs.input.blocks();
            let shown = std::io::stderr().is_terminal() && matches!(run.pace, Pace::Fixed(_));
            let mut run = Run { progress: shown.then_some(&show_block), ..run };
            let answered = || {
                session.run_program(*charged, &*source, |blocks, chosen| {
                    run.turn = Some(request.turn(chosen));
                    let block = |index| format.block(blocks, index);
                    run.answers(blocks.count(), block, |printed| blocks.read(printed))
                })
            };
            // Without a pace nothing but the time is shown: how many blocks are over would tell of their rows.
            let release = if shown { answered() } else { progress::spinning("running", answered) };
            release.map_err(internal)?
        }
    };
    reached(Stage::Recorded);
    Ok(shown_as(release, &options.showing, &[]))
}

/// So often rows are dealt in a simulation: each time the program runs on every block, while noise is drawn for every trial.
const DEALS: usize = 3;

/// The same on public or made-up rows, many times, without a charge: for `equipoise simulate run`.
pub(crate) fn simulate(options: &RunOptions, trials: usize, as_json: bool) -> Result<Exit, Exit> {
    let source = open(options)?;
    let books = &options.books;
    let facts = public(&options.file, books.name.as_deref(), books.ledger.as_deref(), source.columns())?;
    let ledger = ledger_path(books.ledger.as_deref(), Some(&options.file));
    let said = settings(options, &ledger, &[])?;
    let mut run = said.run(crate::sandbox().map_err(usage)?).map_err(usage)?;
    // Public rows have nothing to hide in the time of a block.
    run.pace = Pace::UpTo(run.pace.block_time());
    let request = request(options, &said, &run)?;
    let plan = VotePlan::new(&request, &facts).map_err(|error| unplanned(&error))?;
    if plan.analyses().is_some() {
        return Err(usage(
            "simulate the programs that choose and those of each analysis apart, without --then",
        ));
    }
    run.sandbox.limits.answer = longest_answer(&plan);
    rehearse(options, &run, &*source)?;
    let format = options.programs.input.blocks();
    let found = progress::spinning("simulating", || {
        program::rehearse(&plan, &*source, DEALS, trials, |blocks| {
            run.answers(blocks.count(), |index| format.block(blocks, index), |printed| blocks.read(printed))
        })
    });
    let document = found.map_err(unread)?;
    if as_json || options.showing.json {
        println!("{document}");
    } else {
        println!("{}", typed(&rehearsal_words(&document)));
    }
    Ok(Exit::Done)
}

impl Format {
    fn blocks(self) -> BlockFormat {
        match self {
            Self::Csv => BlockFormat::Csv,
            Self::Arrow => BlockFormat::Arrow,
        }
    }

    /// How it gets to the program.
    fn input(self, as_file: bool) -> Input {
        match self {
            _ if !as_file => Input::Stdin,
            Self::Csv => Input::CsvFile,
            Self::Arrow => Input::ArrowFile,
        }
    }
}

/// Blocks, not outcomes: how many are over is told by the clock alone.
fn show_block(done: usize, all: usize) {
    let end = if done == all { "\n" } else { "" };
    let _ = write!(std::io::stderr(), "\rblock {done} of {all}{end}");
}

fn open(options: &RunOptions) -> Result<Box<dyn Source>, Exit> {
    let names = options.columns.as_ref();
    let reading = OpenOptions {
        delimiter: options.delimiter.as_deref().map(delimiter).transpose()?,
        header: names
            .map(|names| Header::Declared(names.split(',').map(|name| name.trim().to_string()).collect())),
    };
    let source = equipoise_engine::open(&[&options.file], &reading).map_err(usage)?;
    match (0..source.columns().len()).find_map(|column| source.unreadable(column)) {
        Some(line) => Err(usage(line)),
        None => Ok(source),
    }
}

fn request(options: &RunOptions, said: &Settings, run: &Run) -> Result<VoteRequest, Exit> {
    let (privacy, answers, programs) = (&options.privacy, &options.answers, &options.programs);
    let text = |word: &OsString| {
        word.to_str()
            .map(str::to_string)
            .ok_or_else(|| usage("a program and its arguments must be UTF-8 text"))
    };
    let words = |commands: &[&[OsString]]| -> Result<Vec<Vec<String>>, Exit> {
        commands.iter().map(|words| words.iter().map(text).collect()).collect()
    };
    let Commands { first, then } = commands(options)?;
    let analysis = |(name, commands): &(String, Vec<&[OsString]>)| -> Result<Analysis, Exit> {
        Ok(Analysis { name: name.clone(), programs: words(commands)? })
    };
    let mut settings = said.words(run).map_err(usage)?;
    settings.extend(options.delimiter.iter().map(|text| format!("delimiter={text}")));
    settings.extend(options.columns.iter().map(|text| format!("columns={text}")));
    let kept = match run.isolation() {
        _ if programs.no_time_padding => Kept::Trusted,
        Isolation::None => Kept::Trusted,
        Isolation::Process => Kept::Confined,
        Isolation::Machine => Kept::Isolated,
    };
    Ok(VoteRequest {
        statistic: program::STATISTIC.to_string(),
        programs: words(&first)?,
        analyses: then.iter().map(analysis).collect::<Result<_, _>>()?,
        kept,
        output: answers.output.clone(),
        epsilon: privacy.epsilon.clone(),
        delta: privacy.delta.clone(),
        adjacency: privacy.adjacency.clone(),
        unit: privacy.unit.clone(),
        blocks: answers.blocks.clone(),
        rows: answers.rows.clone(),
        range: answers.range.clone(),
        options: answers.options.as_ref().map(|text| text.split(',').map(str::to_string).collect()),
        default: answers.default.as_deref().map(|text| stated_default(&answers.output, text)),
        mechanism: answers.mechanism.clone(),
        trim: answers.trim.clone(),
        width: answers.width.clone(),
        bound: answers.bound.clone(),
        rate: answers.rate.clone(),
        size: answers.size.clone(),
        confidence: privacy.confidence.clone(),
        typed: programs.input == Format::Arrow,
        settings,
    })
}

/// What was typed for blocks without an answer, as an answer of that kind would be written in JSON; planning says what is wrong
/// with it.
fn stated_default(output: &str, text: &str) -> Value {
    let number = |text: &str| serde_json::from_str(text.trim()).ok().filter(Value::is_number);
    let or_text = |text: &str| number(text).unwrap_or_else(|| Value::from(text.trim()));
    match output {
        "number" => or_text(text),
        "label" => text.into(),
        "labels" => text.split(',').map(str::trim).filter(|label| !label.is_empty()).collect(),
        _ => text.split(',').map(or_text).collect(),
    }
}

/// The command lines: those that take blocks, and those of each analysis that they may choose.
struct Commands<'a> {
    first: Vec<&'a [OsString]>,
    then: Vec<(String, Vec<&'a [OsString]>)>,
}

impl<'a> Commands<'a> {
    fn all(&self) -> impl Iterator<Item = &'a [OsString]> {
        self.first.iter().chain(self.then.iter().flat_map(|(_, commands)| commands)).copied()
    }
}

/// What stands after `--`: programs between `--and`, and after each `--then NAME` those of an analysis.
fn commands(options: &RunOptions) -> Result<Commands<'_>, Exit> {
    fn programs(words: &[OsString]) -> Vec<&[OsString]> {
        words.split(|word| word == "--and").collect()
    }
    fn analysis(words: &[OsString]) -> Result<(String, Vec<&[OsString]>), Exit> {
        match words.split_first() {
            Some((name, rest)) if !rest.is_empty() => match name.to_str() {
                Some(name) => Ok((name.to_string(), programs(rest))),
                None => Err(usage("the name of an analysis must be UTF-8 text")),
            },
            _ => Err(usage("--then takes a name and a program, such as --then mean ./mean.py")),
        }
    }
    let mut parts = options.command.split(|word| word == "--then");
    let first = programs(parts.next().unwrap_or_default());
    Ok(Commands { first, then: parts.map(analysis).collect::<Result<_, _>>()? })
}

/// The longest text that any of the programs may print.
fn longest_answer(plan: &VotePlan) -> usize {
    let choice = plan.analyses().map(|analyses| analyses.ballots().output().longest_answer());
    plan.ballots().output().longest_answer().max(choice.unwrap_or(0))
}

fn settings(options: &RunOptions, ledger: &Path, others: &[DataSet]) -> Result<Settings, Exit> {
    let said = &options.programs;
    // Whatever this ledger knows is data: its names are paths beside it.
    let folder = ledger.parent().unwrap_or(Path::new(""));
    let others =
        others.iter().map(|data| folder.join(on_disk(Path::new(&data.name)))).filter(|path| path.exists());
    Ok(Settings {
        commands: commands(options)?.all().map(<[OsString]>::to_vec).collect(),
        block_time: said.block_time,
        memory: said.memory,
        processes: said.processes,
        serial: said.serial,
        padded: !said.no_time_padding,
        protected: !said.unsafe_no_sandbox,
        input: said.input.input(said.block_file),
        proc: said.with_proc,
        allow_read: said.allow_read.clone(),
        data: equipoise_engine::files_of(&options.file)
            .unwrap_or_default()
            .into_iter()
            .chain(others)
            .collect(),
        ledger: Some(ledger.to_path_buf()),
    })
}

/// Every program once without rows, which is free: does it start at all?
fn rehearse(options: &RunOptions, run: &Run, source: &dyn Source) -> Result<(), Exit> {
    let rehearsed = run.rehearse(&options.programs.input.blocks().empty(source)).map_err(usage)?;
    for (program, found) in run.programs.iter().zip(rehearsed) {
        if found.answer.is_none() {
            let said = match found.last_words.filter(|_| options.programs.show_messages) {
                Some(words) => format!(" ({words})"),
                None => "; --show-messages tells what it says".to_string(),
            };
            eprintln!("equipoise: note: without rows '{}' gives no answer{said}", program.name());
        }
    }
    Ok(())
}

fn show_plan(plan: &VotePlan, run: &Run, balance: Option<&Balance>, as_json: bool) {
    let blocks = usize::try_from(plan.touch().votes()).unwrap_or(usize::MAX);
    // Where an analysis is chosen first, blocks run twice.
    let times = if plan.analyses().is_some() { 2.0 } else { 1.0 };
    let (seconds, lanes) = (times * run.total_time(blocks).as_secs_f64(), run.lanes(blocks));
    let remaining = balance.and_then(Balance::remaining);
    if as_json {
        let mut document = plan.summary().document(balance);
        document["seconds"] = seconds.into();
        println!("{document:#}");
        return;
    }
    show::warn(&plan.warnings());
    let charge = Spent::from(plan.charge());
    println!("program (planned; no rows were read and nothing was charged)");
    println!("  expect     {}", typed(&plan.expected()));
    println!("  blocks     {blocks}, {lanes} at a time; {seconds} seconds in all");
    println!("  privacy    {}; {}", plan.guarantee(), plan.mechanism());
    println!("  charge     {}", show::amount(&charge));
    let spent = balance.map_or("nothing".to_string(), |balance| show::amount(&balance.spent().into()));
    let left = remaining
        .map_or("no limit".to_string(), |left| format!("{} left", show::left_words(&(&left).into())));
    println!("  budget     {spent} spent, {left}");
}
