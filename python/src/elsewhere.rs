//! Engines that Python drives: passes go over as texts of JSON, and counts come back so.
//!
//! It is total: whatever the other side raises, or hands back that is no counts, is a failure without a word, because an exception of
//! somebody's may quote a cell. The answer is lost then, and its charge stands.

use crate::{
    books::{Books, Planned},
    errors, waiting,
};
use equipoise_session::{
    elsewhere::{Engine, EngineFailure, Pass, PassResult},
    session::Charged,
};
use pyo3::{prelude::*, types::PyList};

/// An object with the methods `begin` and `count`.
struct PythonEngine(Py<PyAny>);

impl PythonEngine {
    /// Call a method with a text; what it gives back as a text.
    fn call(&self, method: &str, said: &str) -> Result<String, EngineFailure> {
        Python::attach(|py| {
            let found = self.0.bind(py).call_method1(method, (said,)).map_err(|_| EngineFailure)?;
            found.extract::<String>().map_err(|_| EngineFailure)
        })
    }
}

impl Engine for PythonEngine {
    fn begin(&mut self, run_key: &str) -> Result<(), EngineFailure> {
        self.call("begin", run_key).map(drop)
    }

    fn pass(&mut self, pass: &Pass) -> Result<PassResult, EngineFailure> {
        let found = self.call("count", &pass.to_json().to_string())?;
        serde_json::from_str(&found).map_err(|_| EngineFailure)
    }
}

impl Books {
    fn answer_elsewhere(&self, charged: Box<Charged>, mut engine: PythonEngine) -> PyResult<String> {
        let mut session = self.paid_session()?;
        let held = session.answer_elsewhere(*charged, &mut engine).map_err(errors::lost)?;
        Ok(session.record(held).map_err(errors::lost)?.to_text())
    }
}

/// Pay for a plan, then have an engine count what it asks for. Whoever holds back what signals raise gives the list in which it is held:
/// where something is in it, the work stops, and the engine looks into it too.
#[pyfunction]
pub fn release_elsewhere(
    py: Python<'_>,
    books: &Books,
    planned: &Planned,
    engine: Py<PyAny>,
    request_id: Option<&str>,
    came: &Bound<'_, PyList>,
) -> PyResult<String> {
    let charged = match waiting::held(py, came, || books.charge(planned, request_id))? {
        Ok(charged) => charged,
        Err(before) => return Ok(before),
    };
    let engine = PythonEngine(engine);
    waiting::held_after_charge(py, came, || books.answer_elsewhere(charged, engine))
}
