//! Copies of an estimator that Python holds: what is decided from what they say is decided here.

use crate::errors;
use equipoise_core::ratio::Ratio;
use equipoise_entropy::OsCoins;
use equipoise_robust::elsewhere::{self, Way, Wish};
use pyo3::{prelude::*, types::PyBytes};
use std::sync::{Mutex, PoisonError};

fn ratio(name: &'static str, text: &str) -> PyResult<Ratio> {
    text.parse().map_err(|_| errors::request(format!("{name} is not a number; give one such as 0.1")))
}

fn way(name: &str) -> Way {
    match name {
        "switching" => Way::Switching,
        "flips" => Way::Flips,
        _ => Way::Copies,
    }
}

/// Copies that live in Python.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct Together {
    held: Mutex<(elsewhere::Together, OsCoins)>,
    needed: (f64, f64),
}

#[pymethods]
impl Together {
    /// Begin: method, alpha, beta, answers or copies, changes, the largest answer in units, whether alpha is in units, ln(1/failure)
    /// where it is stated, and whether new phases follow.
    #[new]
    #[pyo3(signature = (method, alpha, beta, answers, copies, changes, highest, absolute, failure, keep))]
    #[expect(clippy::too_many_arguments, reason = "called from one place")]
    fn new(
        method: &str,
        alpha: &str,
        beta: &str,
        answers: Option<u64>,
        copies: Option<usize>,
        changes: u64,
        highest: i128,
        absolute: bool,
        failure: Option<&str>,
        keep: bool,
    ) -> PyResult<Self> {
        let mut wish = Wish {
            way: way(method),
            alpha: ratio("alpha", alpha)?,
            beta: ratio("beta", beta)?,
            answers: answers.unwrap_or(1000),
            changes,
            highest,
            absolute,
            ln_inverse_failure: failure.map(|text| ratio("failure", text)).transpose()?,
            keep,
        };
        if let (None, Some(copies)) = (answers, copies) {
            wish.answers = wish.answers_of(copies).map_err(errors::request)?;
        }
        let sizes = wish.sizes().map_err(errors::request)?;
        let mut coins = OsCoins::new().map_err(errors::lost)?;
        let held = elsewhere::Together::new(&wish, &mut coins).map_err(errors::request)?;
        let needed = (sizes.ln_inverse_failure.to_f64(), sizes.copy_alpha.to_f64());
        Ok(Self { held: Mutex::new((held, coins)), needed })
    }

    /// Go on from a stored state.
    #[staticmethod]
    fn from_bytes(method: &str, copies: usize, needed: (f64, f64), state: &[u8]) -> PyResult<Self> {
        let mut coins = OsCoins::new().map_err(errors::lost)?;
        let held = elsewhere::Together::from_bytes(way(method), copies, state, &mut coins)
            .map_err(errors::request)?;
        Ok(Self { held: Mutex::new((held, coins)), needed })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.lock().0.to_bytes())
    }

    /// Queries left, changes left, copies, guarantee, the places that the next answer asks, and whether it begins a new phase.
    #[getter]
    fn facts(&self) -> (u64, Option<u64>, usize, String, (usize, usize), bool) {
        let held = &self.lock().0;
        let asks = held.asks();
        let guarantee = held.guarantee().to_string();
        (
            held.queries_left(),
            held.changes_left(),
            held.copies(),
            guarantee,
            (asks.start, asks.end),
            held.begins_anew(),
        )
    }

    /// What a copy must be: ln(1/chance) to be off, and by how much it may be off.
    #[getter]
    fn needed(&self) -> (f64, f64) {
        self.needed
    }

    /// The answer, from what each copy says by its place.
    #[expect(clippy::needless_pass_by_value, reason = "extracted from a list")]
    fn answer(&self, says: Vec<i128>) -> PyResult<i128> {
        let (held, coins) = &mut *self.lock();
        held.answer(&says, coins).map_err(errors::request)
    }
}

impl Together {
    fn lock(&self) -> std::sync::MutexGuard<'_, (elsewhere::Together, OsCoins)> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
