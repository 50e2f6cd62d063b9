//! One question after another: threshold questions of a stream, questions that never end, a holdout that lasts.

use crate::{
    books::Books,
    errors,
    table::{self, Column, File, Memory},
    waiting,
};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::Values,
    monitor::{
        above_threshold::{self, AboveThreshold, Form},
        holdout,
    },
    ratio::Ratio,
};
use equipoise_engine::expand;
use equipoise_entropy::OsCoins;
use equipoise_expression::Bitmap;
use equipoise_session::{
    monitor::{LiveMonitor, Monitor, MonitorPlan, MonitorRequest, OpenError, Outcome, Query, Watched},
    session,
    source::{ColumnRead, ColumnType, Lost},
    streams::{Started, Stream, StreamError},
};
use numpy::PyReadonlyArray1;
use pyo3::{prelude::*, types::PyList};
use serde_json::Value;
use std::{
    io::{self, Read},
    path::PathBuf,
    process,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// State that changes and that a fork would double: two copies of one budget.
struct Running<T> {
    state: Mutex<T>,
    process: u32,
}

impl<T> Running<T> {
    fn new(state: T) -> Self {
        Self { state: Mutex::new(state), process: process::id() }
    }

    fn lock(&self) -> PyResult<MutexGuard<'_, T>> {
        if process::id() != self.process {
            return Err(errors::request(
                "it was begun in the parent process, and two copies would spend one budget twice; begin another one here",
            ));
        }
        Ok(self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn ratio(name: &'static str, text: &str) -> PyResult<Ratio> {
    text.parse().map_err(|_| errors::request(format!("{name} is not a number; give one such as 10 or 0.5")))
}

/// Pay for all answers of a stream and start it, with coins of its own.
fn start(books: &Books, data: &str, stream: &Stream) -> PyResult<(Started, OsCoins)> {
    let coins = OsCoins::new().map_err(errors::lost)?;
    let mut session = books.session()?;
    let facts = session::facts(Some(session.ledger()), data, &[]).map_err(|error| errors::ledger(&error))?;
    let (started, _) = session.start_stream(stream, &facts).map_err(|error| match error {
        StreamError::Plan(error) => errors::plan(error),
        StreamError::Pay(error) => errors::pay(&error),
        StreamError::Lost(error) => errors::lost(error),
    })?;
    Ok((started, coins))
}

/// Which values of a stream lie above a threshold, until so many did.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Threshold {
    calibrated: above_threshold::Calibrated,
    grid: f64,
    running: Running<(Box<above_threshold::Questions>, OsCoins)>,
}

#[pymethods]
impl Threshold {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keywords on the other side")]
    fn new(
        py: Python<'_>,
        books: &Books,
        data: &str,
        epsilon: &str,
        threshold: &str,
        sensitivity: &str,
        resolution: &str,
        cutoff: u64,
        monotone: bool,
        adjacency: &str,
    ) -> PyResult<Self> {
        let grid = ratio("resolution", resolution)?;
        let adjacency: Adjacency = adjacency.parse().map_err(errors::request)?;
        let stream = AboveThreshold {
            eps: epsilon.parse().map_err(errors::request)?,
            threshold: ratio("threshold", threshold)?,
            sensitivity: ratio("sensitivity", sensitivity)?,
            grid: grid.clone(),
            values: Values::Any,
            cutoff,
            monotone,
            form: Form::OneSided,
        };
        py.detach(|| {
            let calibrated = stream.calibrate().map_err(errors::request)?;
            let stream = Stream::AboveThreshold(Box::new(calibrated.clone()), adjacency);
            let (Started::AboveThreshold(questions), coins) = start(books, data, &stream)? else {
                unreachable!("what was asked for is started")
            };
            Ok(Self { calibrated, grid: grid.to_f64(), running: Running::new((questions, coins)) })
        })
    }

    /// For each value whether it is above, nothing where it was not looked at; and the excess of each that is above.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<f64>)> {
        let held = table::floats(values)?;
        let Column::Floats(values) = held.column()? else { return Err(errors::data("give numbers")) };
        let batch = py.detach(|| {
            let steps = self.calibrated.steps_of_floats(values);
            let mut state = self.running.lock()?;
            let (questions, coins) = &mut *state;
            Ok::<_, PyErr>(questions.ask_all(&steps, coins))
        })?;
        // Nearly all are false: one is made and repeated.
        let same = |answer: Option<bool>, many: usize| PyList::new(py, [answer])?.as_sequence().repeat(many);
        let answers = same(Some(false), batch.answered)?;
        for positive in &batch.positives {
            answers.set_item(positive.index, true)?;
        }
        let unasked = same(None, values.len() - batch.answered)?;
        let gaps = batch.positives.iter().map(|one| one.gap as f64 * self.grid).collect();
        Ok((answers.concat(&unasked)?.into_any(), gaps))
    }

    /// How many positive answers are left.
    #[getter]
    fn positives_left(&self) -> PyResult<u64> {
        Ok(self.running.lock()?.0.positives_left())
    }

    /// With this confidence, none of so many questions is answered wrongly whose value is farther from the threshold.
    fn accuracy(&self, py: Python<'_>, questions: u64, confidence: &str) -> PyResult<f64> {
        let beta = Ratio::one() - ratio("confidence", confidence)?;
        if beta.is_zero() || beta.is_negative() || beta >= Ratio::one() {
            return Err(errors::request("confidence is not accepted; give a number between 0 and 1"));
        }
        Ok(py.detach(|| self.calibrated.accuracy(questions, &beta).to_f64()))
    }
}

/// The request of a monitor, from JSON.
fn monitor_request(text: &str) -> PyResult<MonitorRequest> {
    let words: Value = serde_json::from_str(text).map_err(errors::request)?;
    let word = |name: &str| words[name].as_str().map(str::to_string);
    Ok(MonitorRequest {
        epsilon: word("epsilon"),
        delta: word("delta"),
        budget_per_unit: word("budget_per_unit"),
        unit: word("unit"),
        delimiter: word("delimiter"),
        header: words["header"].as_bool(),
        adjacency: word("adjacency"),
        sums: words["sums"] == true,
        ..MonitorRequest::default()
    })
}

fn monitor_plan(books: &Books, data: &str, columns: &[String], request: &str) -> PyResult<MonitorPlan> {
    let session = books.session()?;
    let facts =
        session::facts(Some(session.ledger()), data, columns).map_err(|error| errors::ledger(&error))?;
    MonitorPlan::new(&monitor_request(request)?, &facts).map_err(errors::plan)
}

fn not_opened(error: OpenError) -> PyErr {
    match error {
        OpenError::Charge(error) => errors::charge(&error),
        OpenError::Ledger(error) => errors::ledger(&error),
        error @ OpenError::State(_) => errors::request(error),
        error => errors::lost(error),
    }
}

/// Threshold questions about records in memory, for ever; records drop out once they have helped.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Watch {
    scale: f64,
    columns: Vec<String>,
    rows: usize,
    running: Running<LiveMonitor>,
}

#[pymethods]
impl Watch {
    /// `ids` gives the column of `unit` where the request names one.
    #[new]
    fn new(
        py: Python<'_>,
        books: &Books,
        data: &str,
        columns: Vec<String>,
        rows: usize,
        request: &str,
        ids: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let plan = monitor_plan(books, data, &columns, request)?;
        let unit = monitor_request(request)?.unit;
        let place = unit.and_then(|unit| columns.iter().position(|name| *name == unit));
        let wanted: Vec<ColumnRead> =
            place.into_iter().map(|column| ColumnRead { column, kind: ColumnType::Text }).collect();
        // Ids that cannot be read come to light after the charge, which is the first thing that is made of the rows.
        let held = ids.map_or(Ok(Vec::new()), |ids| table::read_after_charge(ids, &wanted));
        let read = held.as_ref().map_err(|_| Lost);
        let memory = read.and_then(|held| Memory::new(columns.clone(), wanted.clone(), rows, held));
        let memory = memory.unwrap_or_else(|Lost| Memory::unread(columns.clone(), wanted));
        waiting::paid(py, || {
            let started = LiveMonitor::start(&plan, &memory, books.session()?.ledger_mut());
            let (monitor, _) = started.map_err(not_opened)?;
            Ok(Self { scale: plan.scale().to_f64(), columns, rows, running: Running::new(monitor) })
        })
    }

    /// The columns that a question, as a line of JSON, has to be given.
    fn missing(&self, line: &str) -> PyResult<Vec<(usize, String)>> {
        let query = Query::parse(line).map_err(errors::request)?;
        let names = Memory::unread(self.columns.clone(), Vec::new());
        let missing = self.running.lock()?.missing(&query, &names).map_err(errors::request)?;
        Ok(missing.into_iter().map(|wanted| (wanted.column, crate::books::kind(wanted.kind))).collect())
    }

    /// Answer a question; the columns are those that were missing, in their order.
    fn ask(&self, py: Python<'_>, line: &str, columns: &Bound<'_, PyAny>) -> PyResult<bool> {
        let query = Query::parse(line).map_err(errors::request)?;
        let names = Memory::unread(self.columns.clone(), Vec::new());
        let missing = self.running.lock()?.missing(&query, &names).map_err(errors::request)?;
        if missing.len() != columns.len()? {
            return Err(errors::request("another thread asks at the same time; ask one after the other"));
        }
        let held = table::read_after_charge(columns, &missing)?;
        let memory = Memory::new(self.columns.clone(), missing, self.rows, &held).map_err(errors::unread)?;
        waiting::paid(py, || {
            let asked = self.running.lock()?.ask(&query, &memory).map_err(errors::lost)?;
            Ok(asked.map_err(errors::request)? == Outcome::Above)
        })
    }

    /// Do about so many say yes? One entry for each row: a numpy array of booleans, or a list.
    fn ask_rows(&self, py: Python<'_>, yes: &Bound<'_, PyAny>, threshold: &str) -> PyResult<bool> {
        let yes: Bitmap = if table::is_numpy(yes) {
            let array = yes.extract::<PyReadonlyArray1<'_, bool>>()?;
            match array.as_slice() {
                Ok(slice) => Bitmap::from_test(slice, |&yes| yes),
                Err(_) => Bitmap::from_test(&array.as_array().to_vec(), |&yes| yes),
            }
        } else {
            Bitmap::from_test(&yes.extract::<Vec<bool>>()?, |&yes| yes)
        };
        py.detach(|| {
            Ok(self.running.lock()?.ask_rows(&yes, threshold).map_err(errors::data)? == Outcome::Above)
        })
    }

    /// Is the sum about so large? A number for each row, cut to 0 to 1.
    fn ask_parts(&self, py: Python<'_>, parts: &Bound<'_, PyAny>, threshold: &str) -> PyResult<bool> {
        let held = table::floats(parts)?;
        let Column::Floats(parts) = held.column()? else { return Err(errors::data("give numbers")) };
        py.detach(|| {
            Ok(self.running.lock()?.ask_parts(parts, threshold).map_err(errors::data)? == Outcome::Above)
        })
    }

    /// The scale of the noise of an answer, in units.
    #[getter]
    fn scale(&self) -> f64 {
        self.scale
    }
}

/// Threshold questions about a file, for ever, with a state file that survives its program.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct FileWatch {
    scale: f64,
    resumed: bool,
    books: Py<Books>,
    file: Py<File>,
    state: PathBuf,
    running: Running<Monitor>,
}

#[pymethods]
impl FileWatch {
    #[new]
    fn new(
        py: Python<'_>,
        books: Py<Books>,
        data: &str,
        file: Py<File>,
        request: &str,
        state: PathBuf,
    ) -> PyResult<Self> {
        let (account, rows) = (books.get(), file.get());
        let (plan, monitor) = waiting::paid(py, || {
            let plan = monitor_plan(account, data, rows.open()?.columns(), request)?;
            let content = || content(rows);
            let opened = || rows.open().map_err(|_| Lost);
            let watched = Watched { rows: &opened, content: Some(&content), state: &state };
            let monitor = Monitor::open(&plan, &watched, account.session()?.ledger_mut());
            Ok::<_, PyErr>((plan, monitor.map_err(not_opened)?))
        })?;
        let (scale, resumed) = (plan.scale().to_f64(), monitor.resumed());
        Ok(Self { scale, resumed, books, file, state, running: Running::new(monitor) })
    }

    /// Answer a question, a line of JSON: a line of JSON, which is on the disk.
    fn ask(&self, py: Python<'_>, line: &str) -> PyResult<String> {
        let (account, rows) = (self.books.get(), self.file.get());
        waiting::paid(py, || {
            let content = || content(rows);
            let opened = || rows.open().map_err(|_| Lost);
            let watched = Watched { rows: &opened, content: Some(&content), state: &self.state };
            let mut monitor = self.running.lock()?;
            let session = account.session()?;
            let answers = monitor.ask(&[line], &watched, session.ledger()).map_err(errors::lost)?;
            Ok(answers.into_iter().next().unwrap_or_default().to_string())
        })
    }

    /// Questions and answers of earlier starts, a line of JSON each.
    fn earlier(&self) -> PyResult<Vec<String>> {
        Ok(self.running.lock()?.earlier().map(|line| line.to_string()).collect())
    }

    /// Was it begun by an earlier program?
    #[getter]
    fn resumed(&self) -> bool {
        self.resumed
    }

    /// The scale of the noise of an answer, in units.
    #[getter]
    fn scale(&self) -> f64 {
        self.scale
    }
}

fn content(file: &File) -> io::Result<Box<dyn Read>> {
    equipoise_engine::content(&expand(file.path()).map_err(|_| io::ErrorKind::NotFound)?)
}

/// Answers from training rows, and from holdout rows only where the two disagree.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Holdout {
    accuracy: f64,
    running: Running<(Box<holdout::Asking>, OsCoins)>,
}

#[pymethods]
impl Holdout {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keywords on the other side")]
    fn new(
        py: Python<'_>,
        books: &Books,
        data: &str,
        rows: u64,
        questions: u64,
        corrections: u64,
        tolerance: &str,
        threshold: &str,
        beta: &str,
        epsilon: &str,
    ) -> PyResult<Self> {
        let holdout = holdout::Holdout {
            rows,
            questions,
            corrections,
            tolerance: ratio("tolerance", tolerance)?,
            threshold: ratio("threshold", threshold)?,
            beta: ratio("beta", beta)?,
            eps: epsilon.parse().map_err(errors::request)?,
        };
        py.detach(|| {
            let calibrated = holdout.calibrate().map_err(errors::request)?;
            // Means are cut to multiples of 2^-32.
            let accuracy = calibrated.accuracy().to_f64() + 2f64.powi(-32);
            let stream = Stream::Holdout(Box::new(calibrated));
            let (Started::Holdout(asking), coins) = start(books, data, &stream)? else {
                unreachable!("what was asked for is started")
            };
            Ok(Self { accuracy, running: Running::new((asking, coins)) })
        })
    }

    /// A mean, given one number from 0 to 1 for each training row and for each holdout row; and whether the holdout
    /// corrected it. Nothing once it is exhausted.
    fn ask(
        &self,
        py: Python<'_>,
        training: &Bound<'_, PyAny>,
        held_out: &Bound<'_, PyAny>,
    ) -> PyResult<Option<(f64, bool)>> {
        let (training, held_out) = (table::floats(training)?, table::floats(held_out)?);
        let (Column::Floats(training), Column::Floats(held_out)) = (training.column()?, held_out.column()?)
        else {
            return Err(errors::data("give numbers from 0 to 1"));
        };
        // These rows are the analyst's own; those of the holdout are cut to the range in silence.
        if training.iter().any(|part| !(0.0..=1.0).contains(part)) {
            return Err(errors::data(
                "the question gives numbers outside 0 to 1; give a share, a loss cut to that range, or the like",
            ));
        }
        py.detach(|| {
            let means = (holdout::mean(training), holdout::mean(held_out));
            let mut state = self.running.lock()?;
            let (asking, coins) = &mut *state;
            Ok(match asking.ask(&means.0, &means.1, coins) {
                holdout::Answer::Training(mean) => Some((mean.to_f64(), false)),
                holdout::Answer::Holdout(mean) => Some((mean.to_f64(), true)),
                holdout::Answer::Exhausted => None,
            })
        })
    }

    /// How far any answer may be from the mean of the population.
    #[getter]
    fn accuracy(&self) -> f64 {
        self.accuracy
    }

    /// How many questions are left.
    #[getter]
    fn questions_left(&self) -> PyResult<u64> {
        Ok(self.running.lock()?.0.questions_left())
    }

    /// How many answers can still come from the holdout.
    #[getter]
    fn corrections_left(&self) -> PyResult<u64> {
        Ok(self.running.lock()?.0.corrections_left())
    }
}
