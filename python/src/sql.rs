//! SQL queries: from a text to a plan, and from a release to rows, as texts of JSON.

use crate::{
    books::{Books, Planned},
    errors, joined,
};
use equipoise_session::{plan::DataFacts, release::Release, request::Request, session, source::ColumnType};
use equipoise_sql_front::Query;
use pyo3::prelude::*;
use std::path::PathBuf;

/// A query that was understood: it asks about one table.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct SqlQuery(Query);

#[pymethods]
impl SqlQuery {
    /// Understand a query; `given` is what keywords say beside it, as a request in JSON.
    #[new]
    fn new(text: &str, given: &str) -> PyResult<Self> {
        let given = Request::from_json(given).map_err(errors::request)?;
        Query::read(text, &given).map(Self).map_err(joined::alone)
    }

    /// The name of the table that it is about.
    #[getter]
    fn table(&self) -> &str {
        &self.0.table().name
    }

    /// What is wrong with that table, at its place in the query.
    fn wrong_table(&self, problem: &str) -> String {
        self.0.wrong_table(problem).to_string()
    }

    /// The adjacency that it asks for.
    #[getter]
    fn adjacency(&self) -> Option<&str> {
        self.0.batch().shared.adjacency.as_deref()
    }

    /// The column that names the unit.
    #[getter]
    fn unit(&self) -> Option<&str> {
        self.0.batch().shared.unit.as_deref()
    }

    /// Plan its questions about a data set with these columns, and what they hold by their types. Free.
    fn plan(
        &self,
        py: Python<'_>,
        books: &Books,
        data: &str,
        columns: Vec<String>,
        kinds: Vec<Option<String>>,
    ) -> PyResult<Planned> {
        py.detach(|| {
            let session = books.session()?;
            let facts = session::facts(Some(session.ledger()), data, &columns)
                .map_err(|error| errors::ledger(&error))?;
            let kinds = kinds.into_iter().map(|kind| ColumnType::named(&kind?)).collect();
            let plan = self.0.plan(&DataFacts { kinds, ..facts }).map_err(errors::request)?;
            Ok(Planned::new(plan, columns))
        })
    }

    /// What earlier answers tell of its questions: the line of those that would be refused, at their place.
    #[expect(clippy::needless_pass_by_value, reason = "extracted from a path")]
    fn too_few(
        &self,
        py: Python<'_>,
        books: &Books,
        planned: &Planned,
        data: &str,
        file: PathBuf,
    ) -> PyResult<Option<String>> {
        py.detach(|| {
            let few = books.too_few_rows(planned, data, Some(&file), &[])?;
            Ok(few.map(|few| self.0.too_few(&few).to_string()))
        })
    }

    /// The answer that was given for its questions under this id, as JSON; looked up before anything is planned.
    fn answered(
        &self,
        py: Python<'_>,
        books: &Books,
        data: &str,
        request_id: &str,
    ) -> PyResult<Option<String>> {
        py.detach(|| {
            let session = books.session()?;
            // The unit that the data is registered for is written down, too.
            let registered = session.ledger().data_set(data).map_err(|error| errors::ledger(&error))?;
            let asked = self.0.asked(registered.map(|data| data.unit).as_ref());
            let before = session.replayed(data, request_id, &asked).map_err(|error| errors::pay(&error))?;
            Ok(before.map(|release| release.to_text()))
        })
    }

    /// The rows of a release of its questions, as JSON: columns, rows, errors and advice.
    fn rows(&self, py: Python<'_>, release: &str) -> PyResult<String> {
        py.detach(|| {
            let release: Release = serde_json::from_str(release).map_err(errors::request)?;
            Ok(self.0.rows(&release).to_json().to_string())
        })
    }
}
