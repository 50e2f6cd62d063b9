//! Counts of a graph whose edges are rows of a file or of a table in memory.

use crate::{
    books::{Books, Trials, kind, simulated},
    errors,
    table::{self, File, Memory},
    waiting,
};
use equipoise_session::{
    graph::{GraphPlan, GraphRequest},
    plan::DataFacts,
    session::{self, Charged, Paid, Priced},
    simulate::Simulated,
    source::{ColumnType, Source},
};
use pyo3::{prelude::*, types::PyList};

/// A count that can be answered, with its price.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Graph {
    plan: GraphPlan,
    columns: Vec<String>,
}

impl Graph {
    /// Pay; an answer that was given before as JSON.
    fn charge(
        &self,
        books: &Books,
        request_id: Option<&str>,
    ) -> PyResult<Result<Box<Charged<GraphPlan>>, String>> {
        waiting::unless_stopped()?;
        let paid = books.session()?.charge(self.plan.clone(), request_id);
        Ok(match paid.map_err(|error| errors::pay(&error))? {
            Paid::Replayed(release) => Err(release.to_text()),
            Paid::Charged(charged) => Ok(charged),
        })
    }
}

fn answer(books: &Books, charged: Charged<GraphPlan>, source: &dyn Source) -> PyResult<String> {
    let release = books.paid_session()?.answer_graph(charged, source).map_err(errors::lost)?;
    Ok(release.to_text())
}

#[pymethods]
impl Graph {
    /// Understand what was said, as JSON, about a data set with these columns. Free.
    #[new]
    fn new(
        py: Python<'_>,
        books: &Books,
        data: &str,
        columns: Vec<String>,
        words: &str,
        kinds: Vec<Option<String>>,
    ) -> PyResult<Self> {
        let request: GraphRequest = serde_json::from_str(words).map_err(errors::request)?;
        py.detach(|| {
            let session = books.session()?;
            let facts = session::facts(Some(session.ledger()), data, &columns)
                .map_err(|error| errors::ledger(&error))?;
            let kinds = kinds.into_iter().map(|kind| ColumnType::named(&kind?)).collect();
            let plan = GraphPlan::new(&request, &DataFacts { kinds, ..facts }).map_err(errors::plan)?;
            Ok(Self { plan, columns })
        })
    }

    /// The columns that it will read: their places, and how.
    #[getter]
    fn wanted(&self) -> Vec<(usize, String)> {
        self.plan.wanted().into_iter().map(|wanted| (wanted.column, kind(wanted.kind))).collect()
    }

    /// What it costs and what can be told of its answer, as JSON.
    #[getter]
    fn summary(&self) -> String {
        self.plan.summary().to_text()
    }

    /// What of its promise protects little, one line each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.plan.summary().warnings
    }

    /// The count of a public graph, many times: values, error bars, and what each number came to as JSON. Charges nothing.
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        rows: usize,
        trials: usize,
    ) -> PyResult<Trials<'py>> {
        let simulate = |source: &dyn Source| self.plan.simulate(source, trials).map_err(errors::unpaid);
        let simulation = if let Ok(file) = source.cast::<File>() {
            let file = file.get();
            waiting::free(py, || {
                let source = file.open()?;
                self.plan.readable_in(&*source).map_err(errors::plan)?;
                simulate(&*source)
            })?
        } else {
            let wanted = self.plan.wanted();
            let held = table::read_public(source, &wanted)?;
            let memory = Memory::new(self.columns.clone(), wanted, rows, &held).map_err(errors::unpaid)?;
            waiting::free(py, || simulate(&memory))?
        };
        simulated(py, &simulation)
    }

    /// Pay, then read and answer, as [`Books::release`] does.
    #[pyo3(signature = (books, source, rows, request_id, came))]
    fn release(
        &self,
        py: Python<'_>,
        books: &Books,
        source: &Bound<'_, PyAny>,
        rows: usize,
        request_id: Option<&str>,
        came: &Bound<'_, PyList>,
    ) -> PyResult<String> {
        if let Ok(file) = source.cast::<File>() {
            let file = file.get();
            return waiting::held(py, came, || {
                let source = file.open()?;
                self.plan.readable_in(&*source).map_err(errors::plan)?;
                let answered = |charged: Box<Charged<GraphPlan>>| answer(books, *charged, &*source);
                self.charge(books, request_id)?.map_or_else(Ok, answered)
            });
        }
        let charged = match waiting::held(py, came, || self.charge(books, request_id))? {
            Ok(charged) => charged,
            Err(before) => return Ok(before),
        };
        let wanted = self.plan.wanted();
        let held = table::read_after_charge(source, &wanted)?;
        let memory = Memory::new(self.columns.clone(), wanted, rows, &held).map_err(errors::unread)?;
        waiting::held_after_charge(py, came, || answer(books, *charged, &memory))
    }
}
