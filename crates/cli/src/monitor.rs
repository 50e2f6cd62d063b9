//! `equipoise monitor`: threshold questions about a file, one a line, for ever.

use crate::{
    Exit,
    args::MonitorOptions,
    ask::{delimiter, existing, internal, unopened, usage},
    fail, progress, show, unplanned,
};
use equipoise_core::wording;
use equipoise_engine::{
    OpenError, OpenOptions, STANDARD_INPUT, TableAddress,
    books::{Account, Asked},
    csv::Header,
    expand, is_pattern,
    remote::PostgresAddress,
};
use equipoise_session::{
    monitor::{LONGEST_LINE, Monitor, MonitorPlan, MonitorRequest, Watched},
    session,
    session::Priced,
    source::Lost,
};
use serde_json::Value;
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};

/// So many lines that are there already share the waiting for the disk.
const TOGETHER: usize = 64;

pub(crate) fn run(options: &MonitorOptions) -> Exit {
    watch(options).unwrap_or_else(|exit| exit)
}

fn request(options: &MonitorOptions) -> MonitorRequest {
    MonitorRequest {
        epsilon: options.epsilon.clone(),
        delta: options.delta.clone(),
        budget_per_unit: options.budget_per_unit.clone(),
        unit: options.unit.clone(),
        adjacency: options.adjacency.clone(),
        sums: options.sums,
        form: options.form.clone(),
        analyst: options.analyst.clone(),
        delimiter: options.reading.delimiter.clone(),
        header: options.reading.no_header.then_some(false),
    }
}

fn watch(options: &MonitorOptions) -> Result<Exit, Exit> {
    if options.file == Path::new(STANDARD_INPUT) {
        return Err(usage("a monitor reads its rows again and again, which a pipe cannot give; name a file"));
    }
    if TableAddress::of(&options.file).is_some() || PostgresAddress::is(&options.file) {
        return Err(usage(
            "a monitor watches files, whose rows stand still; write the table to a file first",
        ));
    }
    let (data, ledger_named) = (&*options.file, options.ledger.as_deref());
    let account = Account::of(&Asked { data, name: None, ledger: ledger_named, apart: options.apart })
        .map_err(|error| fail(&error, error.exit_code()))?;
    let path = &account.ledger;
    // Once, before anything is written: what lies beside the data later is no part of it.
    let mut files = expand(&options.file)
        .map_err(|problem| usage(OpenError { path: Some(options.file.clone()), problem }))?;
    // A pattern may take in what an earlier start wrote; a file that is named is what is meant.
    let state = options.state.as_deref().unwrap_or(path);
    let own = |file: &PathBuf| [state, path.as_path()].into_iter().any(|own| same_file(own, file));
    if is_pattern(&options.file) {
        files.retain(|file| !own(file));
    }
    if files.is_empty() || files.iter().any(own) {
        return Err(usage(
            "the state file or the ledger is among the data; give data that does not take it in",
        ));
    }
    let reading = OpenOptions {
        delimiter: options.reading.delimiter.as_deref().map(delimiter).transpose()?,
        header: options.reading.no_header.then_some(Header::Numbered),
    };
    let source = equipoise_engine::open(&files, &reading).map_err(usage)?;
    let known = existing(path)?;
    let facts = session::facts(known.as_ref(), &account.name, source.columns()).map_err(unopened)?;
    let plan = MonitorPlan::new(&request(options), &facts).map_err(|error| unplanned(&error))?;
    drop(known);
    if options.dry_run {
        println!("{:#}", planned(&plan));
        return Ok(Exit::Done);
    }
    let state = state_path(options)?;
    // Before the charge: a file of questions that is not there costs nothing.
    let mut input = questions(options.questions.as_deref())?;
    let mut ledger = account.open().map_err(unopened)?;
    let content = || equipoise_engine::content(&files);
    let rows = || equipoise_engine::open(&files, &reading).map_err(|_| Lost);
    let watched = Watched { rows: &rows, content: Some(&content), state: &state };
    let mut monitor = progress::spinning("reading", || Monitor::open(&plan, &watched, &mut ledger))
        .map_err(|error| fail(&error, error.exit_code()))?;
    announce(&plan, &monitor, &state);
    if options.history {
        print_lines(monitor.earlier())?;
    }
    loop {
        let lines = next_lines(&mut *input).map_err(internal)?;
        if lines.is_empty() {
            return Ok(Exit::Done);
        }
        let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
        let answers =
            monitor.ask(&texts, &watched, &ledger).map_err(|error| fail(&error, error.exit_code()))?;
        print_lines(answers.into_iter())?;
    }
}

fn planned(plan: &MonitorPlan) -> Value {
    let mut document = plan.summary().document(None);
    document["scale"] = format!("{:.6}", plan.scale().to_f64()).into();
    document
}

fn announce(plan: &MonitorPlan, monitor: &Monitor, state: &Path) {
    show::warn(&plan.warnings());
    let (epsilon, delta) = (&plan.charge().eps, &plan.charge().delta);
    let begun = if monitor.resumed() { "goes on, charged before" } else { "begins, charged once" };
    eprintln!(
        "equipoise: monitor {begun}: epsilon {epsilon}, delta {delta}, scale {:.2}, receipt {}, state {}",
        plan.scale().to_f64(),
        &monitor.receipt().id,
        wording::shown(&state.to_string_lossy()),
    );
}

/// The file that was named, or one beside the data.
fn state_path(options: &MonitorOptions) -> Result<PathBuf, Exit> {
    match &options.state {
        Some(path) => Ok(path.clone()),
        None if is_pattern(&options.file) => {
            Err(usage("a state file cannot lie beside a pattern; name one with --state"))
        }
        None => {
            let mut name = options.file.clone().into_os_string();
            name.push(".monitor");
            Ok(name.into())
        }
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn questions(path: Option<&Path>) -> Result<Box<dyn Peek>, Exit> {
    match path {
        None => Ok(Box::new(BufReader::new(io::stdin()))),
        Some(path) if path == Path::new("-") => Ok(Box::new(BufReader::new(io::stdin()))),
        Some(path) => match File::open(path) {
            Ok(file) => Ok(Box::new(BufReader::new(file))),
            Err(error) => {
                let path = path.to_string_lossy();
                Err(usage(format!("cannot open '{}': {}", wording::shown(&path), error.kind())))
            }
        },
    }
}

/// A reader that says whether a whole line is there already.
trait Peek: BufRead {
    fn has_line(&self) -> bool;
}

impl<R: Read> Peek for BufReader<R> {
    fn has_line(&self) -> bool {
        self.buffer().contains(&b'\n')
    }
}

/// The next line, and those that have come with it; none at the end. Blank lines are left out.
fn next_lines(input: &mut dyn Peek) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    while lines.is_empty() || (lines.len() < TOGETHER && input.has_line()) {
        let Some(line) = next_line(input)? else { break };
        if !line.trim().is_empty() {
            lines.push(line);
        }
    }
    Ok(lines)
}

/// One line, cut off beyond what is read as a question; bytes that are no text become signs that no question has.
fn next_line(input: &mut dyn Peek) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let mut any = false;
    loop {
        let found = input.fill_buf()?;
        if found.is_empty() {
            break;
        }
        any = true;
        let end = found.iter().position(|&byte| byte == b'\n');
        let part = &found[..end.unwrap_or(found.len())];
        let room = (LONGEST_LINE + 1).saturating_sub(bytes.len());
        bytes.extend_from_slice(&part[..part.len().min(room)]);
        let used = end.map_or(found.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(any.then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Whoever reads may react to each answer: it goes out at once.
fn print_lines(mut lines: impl Iterator<Item = Value>) -> Result<(), Exit> {
    let mut output = io::stdout().lock();
    let written = lines.try_for_each(|line| writeln!(output, "{}", wording::seen_in_json(&line.to_string())));
    match written.and_then(|()| output.flush()) {
        Ok(()) => Ok(()),
        // Nobody reads on; what was answered is in the state file.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Exit::Done),
        Err(error) => {
            let next = "--history prints what was answered";
            Err(internal(format!("the output could not be written ({}); {next}", error.kind())))
        }
    }
}
