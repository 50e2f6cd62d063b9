//! Programs that nobody trusts, on blocks of a file or of columns, in the sandbox of the command line.

use crate::{
    books::Books,
    errors,
    table::{self, File, Memory},
    waiting,
};
use equipoise_core::stop;
use equipoise_engine::{BlockFormat, on_disk};
use equipoise_runner::{Isolation, Pace, Run, Sandbox, Settings, sandbox::Input};
use equipoise_session::{
    program,
    release::Release,
    session::{Charged, Paid, Priced, facts},
    source::{ColumnRead, ColumnType, Source},
    votes::{Kept, VotePlan, VoteRequest, rehearsal_words},
};
use pyo3::{prelude::*, types::PyList};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Plan, then run on public rows, many times; what was seen as JSON, the same in words, and notes. Nothing is charged.
#[pyfunction]
#[pyo3(signature = (books, data, words, how, names, source, rows, kinds, trials, came))]
#[expect(clippy::too_many_arguments, reason = "called from one place")]
#[expect(clippy::needless_pass_by_value, reason = "extracted from lists")]
pub fn rehearse_program(
    py: Python<'_>,
    books: &Books,
    data: &str,
    words: &str,
    how: &str,
    names: Vec<String>,
    source: &Bound<'_, PyAny>,
    rows: usize,
    kinds: Vec<(usize, String)>,
    trials: usize,
    came: &Bound<'_, PyList>,
) -> PyResult<String> {
    let request: VoteRequest = serde_json::from_str(words).map_err(errors::request)?;
    let how: How = serde_json::from_str(how).map_err(errors::request)?;
    let asked = Asked { books, data, request, how, request_id: None };
    if let Ok(file) = source.cast::<File>() {
        let file = file.get();
        return waiting::held(py, came, || asked.rehearsed(&*file.open()?, trials));
    }
    let wanted: Vec<ColumnRead> =
        kinds.iter().map(|(column, kind)| ColumnRead { column: *column, kind: read_kind(kind) }).collect();
    let held = table::read_after_charge(source, &wanted)?;
    let memory = Memory::new(names, wanted, rows, &held).map_err(errors::unread)?;
    waiting::held(py, came, || asked.rehearsed(&memory, trials))
}

/// How programs are run, as Python says it.
#[derive(Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "keywords on the other side")]
struct How {
    keeper: Option<PathBuf>,
    block_time: f64,
    memory: u64,
    processes: u64,
    serial: bool,
    padded: bool,
    arrow: bool,
    block_file: bool,
    proc: bool,
    allow_read: Vec<PathBuf>,
    data: Option<PathBuf>,
    dry_run: bool,
}

/// Plan, rehearse, pay, run, count. A release or a plan, and notes on what was rehearsed, as JSON.
#[pyfunction]
#[pyo3(signature = (books, data, words, how, names, source, rows, kinds, request_id, came))]
#[expect(clippy::too_many_arguments, reason = "called from one place")]
#[expect(clippy::needless_pass_by_value, reason = "extracted from lists")]
pub fn run_program(
    py: Python<'_>,
    books: &Books,
    data: &str,
    words: &str,
    how: &str,
    names: Vec<String>,
    source: &Bound<'_, PyAny>,
    rows: usize,
    kinds: Vec<(usize, String)>,
    request_id: Option<String>,
    came: &Bound<'_, PyList>,
) -> PyResult<String> {
    let request: VoteRequest = serde_json::from_str(words).map_err(errors::request)?;
    let how: How = serde_json::from_str(how).map_err(errors::request)?;
    let asked = Asked { books, data, request, how, request_id };
    if let Ok(file) = source.cast::<File>() {
        let file = file.get();
        return waiting::held(py, came, || {
            let source = file.open()?;
            asked.pay(&*source)?.map_or_else(Ok, |paid| asked.answer(paid, &*source))
        });
    }
    let wanted: Vec<ColumnRead> =
        kinds.iter().map(|(column, kind)| ColumnRead { column: *column, kind: read_kind(kind) }).collect();
    let unread = Memory::unread(names.clone(), wanted.clone());
    let paid = match waiting::held(py, came, || asked.pay(&unread))? {
        Ok(paid) => paid,
        Err(answered) => return Ok(answered),
    };
    let held = table::read_after_charge(source, &wanted)?;
    let memory = Memory::new(names, wanted, rows, &held).map_err(errors::unread)?;
    waiting::held_after_charge(py, came, || asked.answer(paid, &memory))
}

fn read_kind(text: &str) -> ColumnType {
    if text == "float" { ColumnType::Float } else { ColumnType::named(text).unwrap_or(ColumnType::Text) }
}

struct Asked<'a> {
    books: &'a Books,
    data: &'a str,
    request: VoteRequest,
    how: How,
    request_id: Option<String>,
}

/// So often rows are dealt in a simulation.
const DEALS: usize = 3;

/// What was paid for and how it is run.
struct PaidRun {
    charged: Box<Charged<VotePlan>>,
    run: Run<'static>,
    notes: Vec<Value>,
}

impl Asked<'_> {
    /// Plan by names and types alone, try the program without rows, and pay. What there is to say where nothing is left to
    /// run: a plan, or an answer that was given before.
    fn pay(&self, source: &dyn Source) -> PyResult<Result<PaidRun, String>> {
        if let Some(line) = (0..source.columns().len()).find_map(|column| source.unreadable(column)) {
            return Err(errors::request(line));
        }
        let (plan, run) = self.plan(source)?;
        let run = watched(run);
        let notes = rehearse(&run, &self.format().empty(source))?;
        if self.how.dry_run {
            return Ok(Err(json!({ "plan": plan.summary(), "notes": notes }).to_string()));
        }
        waiting::unless_stopped()?;
        let paid = self.books.session()?.charge(plan, self.request_id.as_deref());
        Ok(match paid.map_err(|error| errors::pay(&error))? {
            Paid::Replayed(release) => Err(answered(&release, &notes)),
            Paid::Charged(charged) => Ok(PaidRun { charged, run, notes }),
        })
    }

    fn answer(&self, paid: PaidRun, source: &dyn Source) -> PyResult<String> {
        let PaidRun { charged, run, notes } = paid;
        let mut run = watched(run);
        let release = self.books.paid_session()?.run_program(*charged, source, |blocks, chosen| {
            run.turn = Some(self.request.turn(chosen));
            let block = |index| self.format().block(blocks, index);
            let answers = run.answers(blocks.count(), block, |printed| blocks.read(printed));
            stop::look();
            answers
        });
        Ok(answered(&release.map_err(errors::lost)?, &notes))
    }

    /// On public rows: what to expect.
    fn rehearsed(&self, source: &dyn Source, trials: usize) -> PyResult<String> {
        let (plan, run) = self.plan(source)?;
        let mut run = watched(run);
        // Public rows have nothing to hide in the time of a block.
        run.pace = Pace::UpTo(run.pace.block_time());
        let notes = rehearse(&run, &self.format().empty(source))?;
        let found = program::rehearse(&plan, source, DEALS, trials, |blocks| {
            let block = |index| self.format().block(blocks, index);
            let answers = run.answers(blocks.count(), block, |printed| blocks.read(printed));
            stop::look();
            answers
        });
        let document = found.map_err(errors::unread)?;
        let words = rehearsal_words(&document);
        Ok(json!({ "simulation": document, "words": words, "notes": notes }).to_string())
    }

    fn format(&self) -> BlockFormat {
        if self.how.arrow { BlockFormat::Arrow } else { BlockFormat::Csv }
    }

    fn plan(&self, source: &dyn Source) -> PyResult<(VotePlan, Run<'static>)> {
        let session = self.books.session()?;
        let ledger = session.ledger();
        let facts =
            facts(Some(ledger), self.data, source.columns()).map_err(|error| errors::ledger(&error))?;
        let folder = ledger.path().and_then(Path::parent).map(Path::to_path_buf);
        let known = ledger.data_sets().map_err(|error| errors::ledger(&error))?;
        let others =
            known.iter().filter_map(|data| Some(folder.as_ref()?.join(on_disk(Path::new(&data.name)))));
        let said = self.settings(others.filter(|path| path.exists()), ledger.path().map(Path::to_path_buf));
        let sandbox = match &self.how.keeper {
            Some(keeper) => Sandbox::found_at(keeper).map_err(errors::request)?,
            // Without a sandbox nobody keeps anything.
            None => Sandbox::kept_by("").without_protection(),
        };
        let mut run = said.run(sandbox).map_err(errors::request)?;
        let kept = match run.isolation() {
            Isolation::Process if said.padded => Kept::Confined,
            Isolation::Machine if said.padded => Kept::Isolated,
            _ => Kept::Trusted,
        };
        let mut settings = said.words(&run).map_err(errors::request)?;
        settings.extend(self.request.settings.iter().cloned());
        let request = VoteRequest {
            statistic: program::STATISTIC.to_string(),
            kept,
            typed: self.how.arrow,
            settings,
            ..self.request.clone()
        };
        let plan = VotePlan::new(&request, &facts).map_err(errors::plan)?;
        let choice = plan.analyses().map(|analyses| analyses.ballots().output().longest_answer());
        run.sandbox.limits.answer = plan.ballots().output().longest_answer().max(choice.unwrap_or(0));
        Ok((plan, run))
    }

    fn settings(&self, others: impl Iterator<Item = PathBuf>, ledger: Option<PathBuf>) -> Settings {
        let how = &self.how;
        let files = how.data.as_ref().map(|path| equipoise_engine::files_of(path).unwrap_or_default());
        Settings {
            commands: self
                .request
                .programs
                .iter()
                .chain(self.request.analyses.iter().flat_map(|analysis| &analysis.programs))
                .map(|words| words.iter().map(Into::into).collect())
                .collect(),
            block_time: how.block_time,
            memory: how.memory,
            processes: how.processes,
            serial: how.serial,
            padded: how.padded,
            protected: how.keeper.is_some(),
            input: match (how.block_file, how.arrow) {
                (false, _) => Input::Stdin,
                (true, false) => Input::CsvFile,
                (true, true) => Input::ArrowFile,
            },
            proc: how.proc,
            allow_read: how.allow_read.clone(),
            data: files.unwrap_or_default().into_iter().chain(others).collect(),
            ledger,
        }
    }
}

/// The run ends where the work of this thread is to end.
fn watched(run: Run<'_>) -> Run<'_> {
    let stop = stop::current();
    Run { given_up: Some(Arc::new(move || stop.is_asked())), ..run }
}

fn answered(release: &Release, notes: &[Value]) -> String {
    json!({ "release": release.to_json(), "notes": notes }).to_string()
}

/// Every program once without rows, which is free: which gave no answer.
fn rehearse(run: &Run, empty: &[u8]) -> PyResult<Vec<Value>> {
    let rehearsed = run.rehearse(empty).map_err(errors::request)?;
    let silent = run.programs.iter().zip(rehearsed).filter(|(_, found)| found.answer.is_none());
    Ok(silent
        .map(|(program, _)| format!("without rows '{}' gives no answer", program.name()).into())
        .collect())
}
