//! `equipoise monitor`: threshold questions about a file, one a line, for ever.

use crate::{
    Exit,
    args::MonitorOptions,
    ask::{existing, internal, ledger, open, usage},
    books::{data_name, ledger_path},
    fail, progress,
};
use equipoise_core::wording;
use equipoise_session::{
    ledger::Ledger,
    monitor::{LONGEST_LINE, Monitor, MonitorPlan, MonitorRequest, Watched},
    release::Spent,
    session,
};
use serde_json::{Value, json};
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
        analyst: options.analyst.clone(),
        delimiter: options.reading.delimiter.clone(),
        header: options.reading.no_header.then_some(false),
    }
}

fn watch(options: &MonitorOptions) -> Result<Exit, Exit> {
    let header = options.reading.no_header.then_some(false);
    let source = open(&options.file, options.reading.delimiter.as_deref(), header)?;
    let path = ledger_path(options.ledger.as_deref(), Some(&options.file));
    let name = data_name(&options.file, None, &path).map_err(usage)?;
    let known = existing(&path)?;
    let facts = session::facts(known.as_ref(), &name, source.columns()).map_err(ledger)?;
    let plan = MonitorPlan::new(&request(options), &facts).map_err(usage)?;
    drop(known);
    if options.dry_run {
        println!("{:#}", planned(&plan));
        return Ok(Exit::Done);
    }
    // Before the charge: a file of questions that is not there costs nothing.
    let mut input = questions(options.questions.as_deref())?;
    let mut ledger = Ledger::open(&path).map_err(ledger)?;
    let state = state_path(options);
    let content =
        || Ok(Box::new(BufReader::with_capacity(1 << 16, File::open(&options.file)?)) as Box<dyn Read>);
    let watched = Watched { source: &*source, content: Some(&content), state: &state };
    let mut monitor = progress::spinning("reading", || Monitor::open(&plan, watched, &mut ledger))
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
        let answers = monitor.ask(&texts, &ledger).map_err(|error| fail(&error, error.exit_code()))?;
        print_lines(answers.into_iter())?;
    }
}

fn planned(plan: &MonitorPlan) -> Value {
    json!({
        "outcome": "planned",
        "statistic": "monitor",
        "data": plan.data(),
        "mechanism": "threshold-monitor",
        "guarantee": plan.promise(),
        "scale": format!("{:.6}", plan.scale().to_f64()),
        "expected": plan.expected(),
        "charge": Spent::from(plan.charge()),
    })
}

fn announce(plan: &MonitorPlan, monitor: &Monitor<'_>, state: &Path) {
    let Spent { epsilon, delta } = Spent::from(plan.charge());
    let begun = if monitor.resumed() { "goes on, charged before" } else { "begins, charged once" };
    eprintln!(
        "equipoise: monitor {begun}: epsilon {epsilon}, delta {delta}, scale {:.2}, receipt {}, state {}",
        plan.scale().to_f64(),
        &monitor.receipt().id,
        wording::shown(&state.to_string_lossy()),
    );
}

/// The file that was named, or one beside the data.
fn state_path(options: &MonitorOptions) -> PathBuf {
    options.state.clone().unwrap_or_else(|| {
        let mut name = options.file.clone().into_os_string();
        name.push(".monitor");
        name.into()
    })
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
    let written = lines.try_for_each(|line| writeln!(output, "{line}"));
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
