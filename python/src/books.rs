//! The books of a session: plans, charges, releases and balances, as texts of JSON.

use crate::{
    errors,
    table::{self, File, Memory},
    waiting,
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Approx, Delta, Eps},
};
use equipoise_engine::books::{self, LookupError};
use equipoise_session::{
    batch::Batch,
    earlier::{EarlierCounts, TooFewRows},
    ledger::{Balance, DataSet, Earlier, Every, Ledger, LedgerError, Limit, Renewing, SharedLedger, Windows},
    log::renewing_json,
    plan::{DataFacts, Plan},
    release::{Remaining, Spent, WindowStanding},
    request::Request,
    session::{self, Charged, Paid, Session},
    simulate::{Series, Simulation},
    source::{ColumnType, Source},
    unanswered::Unanswered,
    windows,
};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList},
};
use serde_json::{Value, json};
use std::{
    io::Read,
    path::{Path, PathBuf},
};

/// A ledger, on disk or in memory. In memory it counts: what nobody asks for again is forgotten.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Books {
    ledger: SharedLedger,
    analyst: Option<String>,
}

impl Books {
    /// For one call, with coins of its own: threads wait for each other at the ledger only, never for a scan.
    pub fn session(&self) -> PyResult<Session> {
        let ledger = self.ledger.take().map_err(|error| errors::ledger(&error))?;
        Session::new(ledger, self.analyst.clone()).map_err(errors::lost)
    }

    /// The same after a charge, which then stands.
    pub fn paid_session(&self) -> PyResult<Session> {
        let session =
            self.ledger.take().ok().and_then(|ledger| Session::new(ledger, self.analyst.clone()).ok());
        session.ok_or_else(|| errors::lost(Unanswered::Coins))
    }

    /// Pay for a plan; an answer that was given before as JSON.
    pub fn charge(
        &self,
        planned: &Planned,
        request_id: Option<&str>,
    ) -> PyResult<Result<Box<Charged>, String>> {
        waiting::unless_stopped()?;
        let paid = self.session()?.charge(planned.plan.clone(), request_id);
        Ok(match paid.map_err(|error| errors::pay(&error))? {
            Paid::Replayed(release) => Err(release.to_text()),
            Paid::Charged(charged) => Ok(charged),
        })
    }

    fn answer(&self, charged: Box<Charged>, source: &dyn Source) -> PyResult<String> {
        let release = self.paid_session()?.run(*charged, source).map_err(errors::lost)?;
        Ok(release.to_text())
    }

    /// What earlier answers tell of a plan that would be refused.
    pub fn too_few_rows(
        &self,
        planned: &Planned,
        data: &str,
        file: Option<&Path>,
        told: &[String],
    ) -> PyResult<Option<Box<TooFewRows>>> {
        let counts = match file {
            None => EarlierCounts::told(told.iter().map(String::as_str)),
            Some(file) => match books::changed_at(file) {
                None => return Ok(None),
                Some(changed) => {
                    let ledger = self.ledger.take().map_err(|error| errors::ledger(&error))?;
                    EarlierCounts::of(&ledger, data, self.analyst.as_deref(), &changed)
                        .map_err(|error| errors::ledger(&error))?
                }
            },
        };
        Ok(counts.check(&planned.plan).err())
    }

    fn balance_json(&self, data: &str) -> Result<String, LedgerError> {
        let ledger = self.ledger.take()?;
        let balance = ledger.balance(data, self.analyst.as_deref())?;
        let earlier = ledger.earlier(Some(data))?;
        Ok(shown(&balance, &earlier).to_string())
    }
}

#[pymethods]
impl Books {
    #[new]
    #[pyo3(signature = (path=None, analyst=None))]
    fn new(py: Python<'_>, path: Option<PathBuf>, analyst: Option<String>) -> PyResult<Self> {
        py.detach(|| {
            let ledger = path.map_or_else(Ledger::odometer, |path| Ledger::open(&path));
            let ledger = ledger.map_err(|error| errors::ledger(&error))?;
            Ok(Self { ledger: ledger.share(), analyst })
        })
    }

    /// Understand a question about a data set with these columns, and what they hold by their types. Free. Where its rows lie in an engine
    /// elsewhere, what that is called.
    #[pyo3(signature = (data, columns, request, kinds, engine=None))]
    fn plan(
        &self,
        py: Python<'_>,
        data: &str,
        columns: Vec<String>,
        request: &str,
        kinds: Vec<Option<String>>,
        engine: Option<&str>,
    ) -> PyResult<Planned> {
        let words = Words::read(request)?;
        py.detach(|| {
            let session = self.session()?;
            let facts = session::facts(Some(session.ledger()), data, &columns)
                .map_err(|error| errors::ledger(&error))?;
            let kinds = kinds.into_iter().map(|kind| ColumnType::named(&kind?)).collect();
            let facts = DataFacts { kinds, ..facts };
            let plan = match &words {
                Words::Question(request) => Plan::new(request, &facts)
                    .map_err(|error| errors::plan_but(&error, Plan::mended(request, &facts, &error)))?,
                Words::Batch(batch) => Plan::batch(batch, &facts).map_err(errors::plan)?,
            };
            let plan = match engine {
                Some(engine) => plan.counted_elsewhere(engine).map_err(errors::plan)?,
                None => plan,
            };
            Ok(Planned { plan, columns })
        })
    }

    /// What earlier answers tell of a plan that would be refused: a line, the keyword that it is about, what to do, and a call that
    /// would be answered. They are those in the ledger since a file was changed last, or `told`, releases that a session kept.
    #[expect(clippy::needless_pass_by_value, reason = "extracted from lists")]
    fn too_few(
        &self,
        py: Python<'_>,
        planned: &Planned,
        data: &str,
        file: Option<PathBuf>,
        told: Vec<String>,
    ) -> PyResult<Option<errors::Wrong>> {
        py.detach(|| {
            let few = self.too_few_rows(planned, data, file.as_deref(), &told)?;
            Ok(few.map(|few| errors::parts(&few.error, few.call())))
        })
    }

    /// The answer that was given for this request under this id, as JSON; looked up before anything is planned.
    fn answered(
        &self,
        py: Python<'_>,
        data: &str,
        request: &str,
        request_id: &str,
    ) -> PyResult<Option<String>> {
        let words = Words::read(request)?;
        py.detach(|| {
            let session = self.session()?;
            let before =
                session.replayed(data, request_id, &words.to_json()).map_err(|error| errors::pay(&error))?;
            Ok(before.map(|release| release.to_text()))
        })
    }

    /// Pay for a plan, then read and answer: a file, or something whose `read` gives the columns that the plan wants.
    ///
    /// Whoever holds back what signals raise gives the list in which it is held: where something is in it, the work stops.
    #[pyo3(signature = (planned, source, rows, request_id, came))]
    fn release(
        &self,
        py: Python<'_>,
        planned: &Planned,
        source: &Bound<'_, PyAny>,
        rows: usize,
        request_id: Option<&str>,
        came: &Bound<'_, PyList>,
    ) -> PyResult<String> {
        if let Ok(file) = source.cast::<File>() {
            let file = file.get();
            return waiting::held(py, came, || {
                let source = planned.open(file)?;
                let answer = |charged| self.answer(charged, &*source);
                self.charge(planned, request_id)?.map_or_else(Ok, answer)
            });
        }
        let charged = match waiting::held(py, came, || self.charge(planned, request_id))? {
            Ok(charged) => charged,
            Err(before) => return Ok(before),
        };
        let wanted = planned.plan.wanted();
        let held = table::read_after_charge(source, &wanted)?;
        let memory = Memory::new(planned.columns.clone(), wanted, rows, &held).map_err(errors::unread)?;
        waiting::held_after_charge(py, came, || self.answer(charged, &memory))
    }

    /// What is known of the data of an account is written down with its next charge.
    fn expect(&self, account: &Account) -> PyResult<()> {
        let ledger = self.ledger.take().map_err(|error| errors::ledger(&error))?;
        ledger.expect(&account.0.name, account.0.expected.clone());
        Ok(())
    }

    /// Enter a data set and what it may spend in total, what was spent before included; for files, what else has the same content, for
    /// whoever sets the limit.
    ///
    /// With `anew` it counts for this unit and adjacency from now on; what was spent for others is kept and no longer counted.
    #[pyo3(signature = (data, adjacency, epsilon, delta, unit=None, anew=false, file=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords on the other side")]
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over")]
    fn set_limit(
        &self,
        py: Python<'_>,
        data: &str,
        adjacency: &str,
        epsilon: &str,
        delta: &str,
        unit: Option<String>,
        anew: bool,
        file: Option<PathBuf>,
    ) -> PyResult<Vec<String>> {
        let (eps, delta) = (amounts(epsilon)?, small(delta)?);
        let adjacency: Adjacency = adjacency.parse().map_err(errors::request)?;
        let unit = unit.map_or(Unit::Row, Unit::Column);
        let data_set = DataSet { name: data.to_string(), unit, adjacency };
        waiting::free(py, || {
            let limit = Limit::from(Approx::new(&eps, &delta));
            let mut session = self.session()?;
            let ledger = session.ledger_mut();
            if anew && ledger.data_set(data).map_err(|error| errors::ledger(&error))?.is_some() {
                ledger.begin_anew(&data_set, true).map_err(errors::register)?;
            }
            let mut content = match &file {
                Some(file) => books::content_of(file).map_err(errors::data)?,
                None => None,
            };
            let content = content.as_mut().map(|content| content as &mut dyn Read);
            let registration = ledger.register(&data_set, content).map_err(errors::register)?;
            ledger.set_limit(data, None, Some(&limit)).map_err(errors::register)?;
            Ok(registration.same_content)
        })
    }

    /// The same for each calendar window: by a column of days among these, which hold this by their types, or without one by the time of
    /// the ledger, which adds up for the same rows and has to be known. `never` lifts it.
    #[pyo3(signature = (data, adjacency, epsilon, delta, every, columns, kinds, day=None, adds_up=false, unit=None, file=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords on the other side")]
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over")]
    fn set_renewing(
        &self,
        py: Python<'_>,
        data: &str,
        adjacency: &str,
        epsilon: &str,
        delta: &str,
        every: &str,
        columns: Vec<String>,
        kinds: Vec<Option<String>>,
        day: Option<String>,
        adds_up: bool,
        unit: Option<String>,
        file: Option<PathBuf>,
    ) -> PyResult<Vec<String>> {
        let (eps, delta) = (amounts(epsilon)?, small(delta)?);
        let adjacency: Adjacency = adjacency.parse().map_err(errors::request)?;
        let unit = unit.map_or(Unit::Row, Unit::Column);
        let data_set = DataSet { name: data.to_string(), unit, adjacency };
        let every: Every = every.parse().map_err(|()| {
            errors::request("every= is day, week, month, quarter or year; see Session.never_renew")
        })?;
        let kinds: Vec<Option<ColumnType>> =
            kinds.into_iter().map(|kind| ColumnType::named(&kind?)).collect();
        let kind = |column: usize| kinds.get(column).copied().flatten();
        let day =
            day.map(|said| windows::day_column(&said, &columns, kind)).transpose().map_err(errors::plan)?;
        let limit = Limit::from(Approx::new(&eps, &delta));
        let renewing = Renewing { windows: Windows { every, day }, limit };
        waiting::free(py, || {
            renewing.check(&data_set, adds_up).map_err(|error| errors::register(error.into()))?;
            let mut session = self.session()?;
            let ledger = session.ledger_mut();
            let mut content = match &file {
                Some(file) => books::content_of(file).map_err(errors::data)?,
                None => None,
            };
            let content = content.as_mut().map(|content| content as &mut dyn Read);
            let registration = ledger.register(&data_set, content).map_err(errors::register)?;
            ledger.set_renewing(data, Some(&renewing), adds_up, None).map_err(errors::register)?;
            Ok(registration.same_content)
        })
    }

    /// Lift the limit for each calendar window.
    fn never_renew(&self, py: Python<'_>, data: &str) -> PyResult<()> {
        waiting::free(py, || {
            let mut session = self.session()?;
            session.ledger_mut().set_renewing(data, None, false, None).map_err(errors::register)
        })
    }

    /// The limit for each calendar window and how those stand that something was charged in, as JSON; null without one.
    fn windows(&self, py: Python<'_>, data: &str) -> PyResult<String> {
        let found = py.detach(|| {
            let ledger = self.ledger.take()?;
            let Some(renewing) = ledger.renewing(data)? else { return Ok(Value::Null) };
            let windows: Vec<WindowStanding> =
                ledger.windows(data)?.iter().map(WindowStanding::from).collect();
            Ok(json!({ "renewing": renewing_json(&renewing), "windows": windows }))
        });
        found.map(|found| found.to_string()).map_err(|error: LedgerError| errors::ledger(&error))
    }

    /// What a data set has spent and what is left of its limit, as JSON.
    fn balance(&self, py: Python<'_>, data: &str) -> PyResult<String> {
        py.detach(|| self.balance_json(data)).map_err(|error| errors::ledger(&error))
    }
}

/// What is asked: one question, or several.
enum Words {
    Question(Request),
    Batch(Batch),
}

impl Words {
    /// Read a document of JSON; one with a list of questions is a batch, of which the numbers in `leave_out` are not asked.
    fn read(text: &str) -> PyResult<Self> {
        let mut document: Value = serde_json::from_str(text).map_err(errors::request)?;
        match document.as_object_mut().filter(|words| words.contains_key("questions")) {
            None => Request::from_json(text).map(Self::Question).map_err(errors::request),
            Some(words) => {
                let leave_out = words.remove("leave_out").unwrap_or_else(|| json!([]));
                let leave_out: Vec<usize> = serde_json::from_value(leave_out).map_err(errors::request)?;
                let batch = Batch::from_json(&document.to_string()).map_err(errors::request)?;
                Ok(Self::Batch(batch.without(&leave_out).map_err(errors::request)?))
            }
        }
    }

    /// What is charged, hashed and kept.
    fn to_json(&self) -> String {
        match self {
            Self::Question(request) => request.to_json(),
            Self::Batch(batch) => batch.to_json(),
        }
    }
}

fn amounts(epsilon: &str) -> PyResult<Eps> {
    epsilon.parse().map_err(errors::request)
}

fn small(delta: &str) -> PyResult<Delta> {
    delta.parse().map_err(errors::request)
}

fn shown(balance: &Balance, earlier: &[Earlier]) -> Value {
    let earlier = earlier.iter().map(|earlier| {
        json!({
            "unit": earlier.data_set.unit.to_string(),
            "adjacency": earlier.data_set.adjacency.to_string(),
            "spent": Spent::from(&earlier.spent.approx),
            "charges": earlier.charges,
            "until": earlier.until,
        })
    });
    json!({
        "earlier": earlier.collect::<Vec<_>>(),
        "spent": Spent::from(balance.spent()),
        "remaining": balance.remaining().as_ref().map(Remaining::from),
        "limit": balance.limit().as_ref().map(Remaining::from),
    })
}

/// A question that can be answered, with its price.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Planned {
    plan: Plan,
    columns: Vec<String>,
}

#[pymethods]
impl Planned {
    /// The columns that it will read: their places, and how, such as "float" or "text".
    #[getter]
    fn wanted(&self) -> Vec<(usize, String)> {
        self.plan.wanted().into_iter().map(|wanted| (wanted.column, kind(wanted.kind))).collect()
    }

    /// What it costs and what can be told of its answer, as JSON.
    #[getter]
    fn summary(&self) -> String {
        self.plan.summary().to_text()
    }

    /// The rows that an engine elsewhere has to make for it, as JSON.
    #[getter]
    fn rows_elsewhere(&self) -> String {
        self.plan.rows_elsewhere().to_string()
    }

    /// What of its promise protects little, one line each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.plan.warnings()
    }
}

impl Planned {
    /// A plan of a data set with these columns.
    pub fn new(plan: Plan, columns: Vec<String>) -> Self {
        Self { plan, columns }
    }

    /// What will be charged.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A file of which this plan reads columns; one that cannot be read as the plan wants is refused by its schema.
    fn open(&self, file: &File) -> PyResult<Box<dyn Source>> {
        let source = file.open()?;
        self.plan.readable_in(&*source).map_err(errors::plan)?;
        Ok(source)
    }
}

/// How a column is read, in a word; digits after the point follow a colon.
pub fn kind(kind: ColumnType) -> String {
    match kind {
        ColumnType::Float => "float".to_string(),
        ColumnType::Integer => "integer".to_string(),
        ColumnType::Decimal { digits } => format!("decimal:{digits}"),
        ColumnType::Date => "date".to_string(),
        ColumnType::Timestamp => "timestamp".to_string(),
        ColumnType::Boolean => "boolean".to_string(),
        ColumnType::Text => "text".to_string(),
    }
}

/// The question on public data, many times: the values, `None` where refused; their error bars; and what each number and
/// text came to, as a JSON text. Charges nothing.
#[pyfunction]
pub fn simulate<'py>(
    py: Python<'py>,
    planned: &Planned,
    source: &Bound<'py, PyAny>,
    rows: usize,
    trials: usize,
) -> PyResult<Trials<'py>> {
    equipoise_session::simulate::check(&planned.plan).map_err(errors::plan)?;
    let simulation = if let Ok(file) = source.cast::<File>() {
        let file = file.get();
        waiting::free(py, || session_simulate(&planned.plan, &*planned.open(file)?, trials))?
    } else {
        let wanted = planned.plan.wanted();
        let held = table::read_public(source, &wanted)?;
        let memory = Memory::new(planned.columns.clone(), wanted, rows, &held).map_err(errors::unpaid)?;
        waiting::free(py, || session_simulate(&planned.plan, &memory, trials))?
    };
    simulated(py, &simulation)
}

/// What trials came to, as Python has it.
pub type Trials<'py> = (Bound<'py, PyList>, Bound<'py, PyList>, String);

pub fn simulated<'py>(py: Python<'py>, simulation: &Simulation) -> PyResult<Trials<'py>> {
    let (values, errors) = (PyList::empty(py), PyList::empty(py));
    for trial in &simulation.trials {
        values.append(trial.value().map(|value| to_python(py, &value)).transpose()?)?;
        let error = trial.error().and_then(|error| serde_json::to_value(error).ok());
        errors.append(error.map(|error| to_python(py, &error)).transpose()?)?;
    }
    let series: Vec<Value> = simulation.series.iter().map(Series::summary).collect();
    Ok((values, errors, Value::Array(series).to_string()))
}

fn session_simulate(plan: &Plan, source: &dyn Source, trials: usize) -> PyResult<Simulation> {
    equipoise_session::simulate::simulate(plan, source, trials).map_err(errors::unpaid)
}

fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(yes) => yes.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, real) => real.unwrap_or(f64::NAN).into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(values) => {
            let list = PyList::empty(py);
            for value in values {
                list.append(to_python(py, value)?)?;
            }
            list.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, value) in fields {
                dict.set_item(name, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// Where questions about a file, a pattern or a folder are charged, by the same rule as on the command line.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Account(books::Account);

#[pymethods]
impl Account {
    #[new]
    #[pyo3(signature = (data, ledger=None, apart=false))]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from a text")]
    fn new(py: Python<'_>, data: PathBuf, ledger: Option<PathBuf>, apart: bool) -> PyResult<Self> {
        let found = py.detach(|| {
            books::Account::of(&books::Asked { data: &data, name: None, ledger: ledger.as_deref(), apart })
        });
        found.map(Self).map_err(|error| looking(&error))
    }

    /// The ledger.
    #[getter]
    fn ledger(&self) -> PathBuf {
        self.0.ledger.clone()
    }

    /// The name that the budget belongs to.
    #[getter]
    fn name(&self) -> String {
        self.0.name.clone()
    }
}

fn looking(error: &LookupError) -> PyErr {
    match error {
        LookupError::Named(line) => errors::request(line),
        LookupError::Ledger(error) => errors::ledger(error),
    }
}

/// The name under which a ledger knows the data or a part of it, if one does; else their rows count as public.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from a text")]
pub fn known_as(py: Python<'_>, data: PathBuf, ledger: Option<PathBuf>) -> PyResult<Option<String>> {
    py.detach(|| books::known_as(&data, None, ledger.as_deref())).map_err(|error| looking(&error))
}
