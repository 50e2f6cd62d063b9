//! Queries about several tables: understood by the program that joins, planned, charged and answered here.

use crate::{
    books::{Books, Planned},
    errors,
    table::{self, File, Held, Memory},
    waiting,
};
use equipoise_core::{adjacency::Unit, wording};
use equipoise_engine::{OpenOptions, books};
use equipoise_session::{
    plan::DataFacts,
    release::Release,
    request::Request,
    session::{self, Paid, Session},
    source::{ColumnRead, ColumnType, Source},
};
use equipoise_sql_front::{
    Query, SqlError, Unpayable,
    apart::{self, Agreed, Beside, NoTable, TableColumn},
    several::Several,
};
use pyo3::{prelude::*, types::PyList};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Is this a query about more than one table, and nothing else wrong with it?
#[pyfunction]
pub fn is_about_several(text: &str, given: &str) -> PyResult<bool> {
    let given = Request::from_json(given).map_err(errors::request)?;
    Ok(Query::read(text, &given).is_err_and(|error| error.is_about_several()))
}

/// The program that joins, where there is one: by its variable, in one of these folders, or where programs are looked for.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from a list")]
pub fn sql_program(beside: Vec<PathBuf>) -> Option<PathBuf> {
    apart::find(&beside)
}

/// Where a table is, or its columns and what they hold.
type Beginning = (Option<PathBuf>, Vec<(String, Option<String>)>);
/// A table's name, whether it lies in memory, and its columns by their places and how they are read.
type Reading = (String, bool, Vec<(usize, String)>);

/// What Python knows of a table before its rows are read.
enum Known {
    File,
    Memory(Vec<TableColumn>),
}

/// A query about several tables, with a program that waits for their rows.
#[pyclass(frozen, module = "equipoise._equipoise")]
pub struct JoinedQuery {
    agreed: Agreed,
    memory: Vec<String>,
    /// The columns that files had.
    files: BTreeMap<String, Vec<TableColumn>>,
}

#[pymethods]
impl JoinedQuery {
    /// Have a query understood. `tables` has the columns of those in memory, with what they hold by their types, and nothing for files that
    /// have another name in the query; other names are paths.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from lists")]
    fn new(
        py: Python<'_>,
        text: &str,
        given: &str,
        program: PathBuf,
        public: Vec<String>,
        tables: BTreeMap<String, Beginning>,
    ) -> PyResult<Self> {
        let given = Request::from_json(given).map_err(errors::request)?;
        let column = |(place, (name, kind)): (usize, &(String, Option<String>))| TableColumn {
            name: name.clone(),
            place,
            kind: kind.as_deref().and_then(ColumnType::named),
        };
        let known = |(path, columns): &(Option<PathBuf>, Vec<(String, Option<String>)>)| match path {
            Some(_) => Known::File,
            None => Known::Memory(columns.iter().enumerate().map(column).collect()),
        };
        let paths: BTreeMap<&str, &Path> =
            tables.iter().filter_map(|(name, (path, _))| Some((name.as_str(), path.as_deref()?))).collect();
        let tables_known: BTreeMap<&str, Known> =
            tables.iter().map(|(name, table)| (name.as_str(), known(table))).collect();
        let files = Mutex::new(BTreeMap::new());
        let columns = |name: &str| {
            let found = match tables_known.get(name) {
                Some(Known::Memory(columns)) => return Ok(columns.clone()),
                Some(Known::File) => of_file(paths[name])?,
                None => of_file(Path::new(name)).map_err(|why| missing(name, why, &tables_known))?,
            };
            files.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_string(), found.clone());
            Ok(found)
        };
        let beside = Beside { public, ..Beside::default() };
        let agreed = waiting::free(py, || {
            let several = Several::read(text).map_err(errors::request)?;
            apart::open(&program, &several, &given, &beside, &columns).map_err(errors::request)
        })?;
        let memory = tables_known.iter().filter(|(_, known)| matches!(known, Known::Memory(_)));
        let memory = memory.map(|(name, _)| (*name).to_string()).collect();
        let files = files.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Self { agreed, memory, files })
    }

    /// Each private table, and the column that names its unit.
    #[getter]
    fn private(&self) -> Vec<(String, String)> {
        self.agreed.private.iter().map(|table| (table.name.clone(), table.unit.clone())).collect()
    }

    /// The tables that are said to be public.
    #[getter]
    fn public(&self) -> Vec<String> {
        self.agreed.public.clone()
    }

    /// What is wrong where two tables have rows in common and not one privacy unit; `same` has pairs of names of one object, `paths` of files.
    #[expect(clippy::needless_pass_by_value, reason = "extracted from lists")]
    fn two_owners(
        &self,
        py: Python<'_>,
        same: Vec<(String, String)>,
        paths: BTreeMap<String, PathBuf>,
    ) -> Option<String> {
        let path = |name: &str| {
            paths
                .get(name)
                .cloned()
                .or_else(|| (!self.memory.iter().any(|memory| memory == name)).then(|| PathBuf::from(name)))
        };
        let share = |one: &str, other: &str| {
            let is = |(a, b): &(String, String)| (a == one && b == other) || (a == other && b == one);
            let files =
                path(one).zip(path(other)).is_some_and(|(one, other)| books::share_rows(&one, &other));
            files || same.iter().any(is)
        };
        py.detach(|| self.agreed.two_owners(&share))
    }

    /// What is read of each table: its name, whether it lies in memory, and its columns by their places and how.
    #[getter]
    fn reads(&self) -> Vec<Reading> {
        let kind = |read: &ColumnRead| (read.column, crate::books::kind(read.kind));
        let table = |read: &apart::TableRead| {
            (read.name.clone(), self.memory.contains(&read.name), read.wanted.iter().map(kind).collect())
        };
        self.agreed.reads.iter().map(table).collect()
    }

    /// The adjacency that it asks for.
    #[getter]
    fn adjacency(&self) -> Option<&str> {
        self.agreed.query.batch().shared.adjacency.as_deref()
    }

    /// Plan its questions, with the data sets that pay besides the first, each by its name and unit. Free.
    #[expect(clippy::needless_pass_by_value, reason = "extracted from a list")]
    fn plan(
        &self,
        py: Python<'_>,
        books: &Books,
        data: &str,
        others: Vec<(String, String)>,
    ) -> PyResult<Planned> {
        py.detach(|| {
            let session = books.session()?;
            let relation = self.agreed.relation(Vec::new());
            let columns = relation.columns().to_vec();
            let facts = session::facts(Some(session.ledger()), data, &columns)
                .map_err(|error| errors::ledger(&error))?;
            let facts: DataFacts = facts.typed_by(&relation);
            let plan = self.agreed.query.plan(&facts).map_err(errors::request)?;
            plan.readable_in(&relation).map_err(errors::plan)?;
            equipoise_sql_front::paying(&plan, &units(&others), Some(session.ledger())).map_err(unpayable)?;
            Ok(Planned::new(plan, columns))
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
            let registered = session.ledger().data_set(data).map_err(|error| errors::ledger(&error))?;
            let asked = self.agreed.query.asked(registered.map(|data| data.unit).as_ref());
            let before = session.replayed(data, request_id, &asked).map_err(|error| errors::pay(&error))?;
            Ok(before.map(|release| release.to_text()))
        })
    }

    /// Pay from every data set, then read and answer. `sources` has what each table is read from, in the order of `reads`: a file, or
    /// something whose `read` gives its columns; and how many rows it has.
    #[expect(clippy::too_many_arguments, reason = "keywords on the other side")]
    #[expect(clippy::needless_pass_by_value, reason = "extracted from lists")]
    fn release(
        &self,
        py: Python<'_>,
        books: &Books,
        planned: &Planned,
        others: Vec<(String, String)>,
        sources: Vec<(Bound<'_, PyAny>, usize)>,
        request_id: Option<&str>,
        came: &Bound<'_, PyList>,
    ) -> PyResult<String> {
        let files: Vec<Option<PyRef<'_, File>>> =
            sources.iter().map(|(source, _)| source.cast::<File>().ok().map(|file| file.borrow())).collect();
        // A file once for each scan: none waits for another.
        let opened: Vec<Option<Vec<Box<dyn Source>>>> = (files.iter().zip(&self.agreed.reads))
            .map(|(file, read)| {
                file.as_ref().map(|file| (0..read.scans.max(1)).map(|_| file.open()).collect()).transpose()
            })
            .collect::<PyResult<_>>()?;
        for (read, files) in self.agreed.reads.iter().zip(&opened) {
            if let (Some(files), Some(planned)) = (files, self.files.get(&read.name))
                && files.iter().any(|file| TableColumn::of(&**file) != *planned)
            {
                let name = wording::shown(&read.name);
                return Err(errors::request(format!(
                    "'{name}' has other columns than a moment ago; ask again"
                )));
            }
        }
        let others = units(&others);
        let plan = planned.plan();
        let paid = waiting::held(py, came, || {
            waiting::unless_stopped()?;
            let mut session = books.session()?;
            let paying =
                equipoise_sql_front::paying(plan, &others, Some(session.ledger())).map_err(unpayable)?;
            session.charge_together(plan.clone(), request_id, &paying).map_err(|error| errors::pay(&error))
        })?;
        let (charged, charges) = match paid {
            (Paid::Replayed(release), _) => return Ok(release.to_text()),
            (Paid::Charged(charged), charges) => (charged, charges),
        };
        let held: Vec<Vec<Held<'_>>> = (self.agreed.reads.iter().zip(&sources).zip(&opened))
            .map(|((read, (source, _)), file)| match file {
                Some(_) => Ok(Vec::new()),
                None => table::read_after_charge(source, &read.wanted),
            })
            .collect::<PyResult<_>>()?;
        let memory: Vec<Memory<'_>> = (self.agreed.reads.iter().zip(&sources).zip(&held))
            .zip(&opened)
            .map(|(((read, (_, rows)), held), file)| match file {
                Some(_) => Ok(Memory::unread(Vec::new(), Vec::new())),
                None => Memory::new(Vec::new(), read.wanted.clone(), *rows, held),
            })
            .collect::<Result<_, _>>()
            .map_err(errors::unread)?;
        let tables: Vec<Vec<&dyn Source>> = (memory.iter().zip(&opened))
            .map(|(memory, files)| match files {
                Some(files) => files.iter().map(|file| &**file).collect(),
                None => vec![memory as &dyn Source],
            })
            .collect();
        waiting::held_after_charge(py, came, || {
            let mut session: Session = books.paid_session()?;
            let relation = self.agreed.relation(tables);
            let release = session.run(*charged, &relation).map_err(errors::lost)?;
            session.record_for(&charges, &release).map_err(errors::lost)?;
            Ok(release.to_text())
        })
    }

    /// The rows of a release of its questions, as JSON: columns, rows, errors and advice.
    fn rows(&self, py: Python<'_>, release: &str) -> PyResult<String> {
        py.detach(|| {
            let release: Release = serde_json::from_str(release).map_err(errors::request)?;
            Ok(self.agreed.query.rows(&release).to_json().to_string())
        })
    }
}

/// The columns of a file, by its header or schema.
fn of_file(path: &Path) -> Result<Vec<TableColumn>, NoTable> {
    let source = equipoise_engine::open(&[path], &OpenOptions::default());
    source.map(|source| TableColumn::of(&*source)).map_err(|error| NoTable {
        problem: error.to_string(),
        hint: "name a file, as in FROM 'people.csv' AS p".to_string(),
    })
}

/// A name that is no keyword, and no file either.
fn missing(name: &str, why: NoTable, tables: &BTreeMap<&str, Known>) -> NoTable {
    if Path::new(name).exists() || name.contains(['*', '?', '[', ':']) {
        return why;
    }
    let known: Vec<String> = tables.keys().take(8).map(|name| wording::shown(name)).collect();
    let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
    NoTable {
        problem: format!("no table is called '{}', and no file", wording::shown(name)),
        hint: format!("tables are keywords of sql(), and here there are: {known}"),
    }
}

fn units(others: &[(String, String)]) -> Vec<(String, Unit)> {
    others.iter().map(|(name, unit)| (name.clone(), Unit::Column(unit.clone()))).collect()
}

fn unpayable(why: Unpayable) -> PyErr {
    match why {
        Unpayable::NotPeople(name) => errors::request(format!(
            "a query about several tables protects people who are added or removed, and '{}' counts for something else; leave out \
             adjacency=, and register the data by its unit: equipoise.Session(.., privacy_unit=COLUMN, anew=True)",
            wording::shown(&name)
        )),
        Unpayable::Registered(name) => errors::request(format!(
            "'{}' is registered for another unit or adjacency than the query has; name its unit in privacy_unit_column, as in \
             OPTIONS(privacy_unit_column=[people.person])",
            wording::shown(&name)
        )),
        Unpayable::Windows { name, day } => errors::request(format!(
            "'{}' has a limit for each window of '{}', and a query about several tables has no rows of one window of it; ask about that table \
             alone with window=",
            wording::shown(&name),
            wording::shown(&day)
        )),
        Unpayable::Ledger(error) => errors::ledger(&error),
    }
}

/// What is wrong with a query about several tables where nobody joins them.
pub fn alone(error: SqlError) -> PyErr {
    errors::request(if error.is_about_several() {
        error.hint(
            "joins, subqueries and set operations are for the program equipoise-sql; install it with: pip install 'equipoise[sql]'",
        )
    } else {
        error
    })
}
