//! Calls with a function of the caller's: planned and charged here, computed in Python, answered here with exact noise.

use crate::{
    books::{Books, Trials, simulated},
    errors, waiting,
};
use equipoise_entropy::OsCoins;
use equipoise_session::{
    session::{Charged, Paid, Priced, facts},
    stated::{Found, StatedPlan, StatedRequest},
    unanswered::Unanswered,
};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// A call: planned, then paid for, then answered, each once.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Stated {
    planned: StatedPlan,
    charged: Mutex<Option<Charged<StatedPlan>>>,
}

#[pymethods]
impl Stated {
    /// Understand what was said about a data set, as JSON. Free.
    #[new]
    fn new(py: Python<'_>, books: &Books, data: &str, words: &str) -> PyResult<Self> {
        let request: StatedRequest = serde_json::from_str(words).map_err(errors::request)?;
        py.detach(|| {
            let facts =
                facts(Some(books.session()?.ledger()), data, &[]).map_err(|error| errors::ledger(&error))?;
            let planned = StatedPlan::new(&request, &facts).map_err(errors::plan)?;
            Ok(Self { planned, charged: Mutex::new(None) })
        })
    }

    /// What it will cost, what it promises and what was stated, as JSON.
    #[getter]
    fn summary(&self) -> String {
        self.planned.summary().to_text()
    }

    /// What of its promise protects little, one line each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.planned.summary().warnings
    }

    /// How many distances or removals are looked at: what is computed is decided here, before rows are read.
    #[getter]
    fn wanted(&self) -> u64 {
        self.planned.wanted()
    }

    /// Pay. The stored release as JSON where this request was answered before, else nothing: go on and compute.
    #[pyo3(signature = (books, request_id=None))]
    fn charge(&self, py: Python<'_>, books: &Books, request_id: Option<&str>) -> PyResult<Option<String>> {
        py.detach(|| {
            let paid = books.session()?.charge(self.planned.clone(), request_id);
            match paid.map_err(|error| errors::pay(&error))? {
                Paid::Replayed(release) => Ok(Some(release.to_text())),
                Paid::Charged(charged) => {
                    *self.charged.lock().unwrap_or_else(PoisonError::into_inner) = Some(*charged);
                    Ok(None)
                }
            }
        })
    }

    /// The places of the rows that the function sees: a secret sample where one is drawn, else all of them. After the charge.
    fn sample(&self, py: Python<'_>, rows: usize) -> PyResult<Vec<usize>> {
        py.detach(|| {
            let mut coins = OsCoins::new().map_err(|_| errors::lost(Unanswered::Coins))?;
            Ok(self.planned.sample(rows, &mut coins))
        })
    }

    /// The answer from what was computed: a value as JSON, numbers, and a distance; nothing where the function failed. The release as
    /// JSON.
    fn answer(
        &self,
        py: Python<'_>,
        books: &Books,
        found: Option<(String, Vec<f64>, Option<u64>)>,
    ) -> PyResult<String> {
        let charged = self.paid()?;
        let read = |(value, numbers, distance): (String, Vec<f64>, Option<u64>)| {
            Some(Found { value: serde_json::from_str(&value).ok()?, numbers, distance })
        };
        py.detach(|| {
            let found = found.and_then(read);
            let release =
                books.paid_session()?.answer_stated(charged, found.as_ref()).map_err(errors::lost)?;
            Ok(release.to_text())
        })
    }

    /// A choice by scores of public or made-up rows, many times: values, error bars, and what it came to as JSON. Charges nothing.
    fn simulate<'py>(&self, py: Python<'py>, scores: Vec<f64>, trials: usize) -> PyResult<Trials<'py>> {
        let found = Found { numbers: scores, ..Found::default() };
        let simulation = waiting::free(py, || {
            let simulated = self.planned.simulate(&found, trials);
            simulated
                .ok_or_else(|| errors::request("of your own calls, choices are simulated"))?
                .map_err(errors::unpaid)
        })?;
        simulated(py, &simulation)
    }

    /// The answer of a function of places of rows, which is called on subsets; it gives a number, or `None` where it failed.
    fn answer_subsets(&self, books: &Books, rows: usize, function: &Bound<'_, PyAny>) -> PyResult<String> {
        let charged = self.paid()?;
        // It raises where it is interrupted, and gives nothing where somebody's function fails.
        let call = |kept: &[usize]| {
            Some(function.call1((kept.to_vec(),)).ok()?.extract::<Option<f64>>().ok().flatten())
        };
        let release = books.paid_session()?.answer_subsets(charged, rows, call).map_err(errors::lost)?;
        Ok(release.to_text())
    }
}

impl Stated {
    fn paid(&self) -> PyResult<Charged<StatedPlan>> {
        let charged = self.charged.lock().unwrap_or_else(PoisonError::into_inner).take();
        charged.ok_or_else(|| errors::request("this call was not paid for, or was answered before"))
    }
}
