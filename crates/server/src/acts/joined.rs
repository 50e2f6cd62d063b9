//! Queries about several data sets: joined by the program equipoise-sql, where it is installed, out of rows that the server hands it. Plan,
//! charges, noise, ledger and the time of the answer are the server's.

use super::{allow, sql::wrong};
use crate::{
    authorise::{Act, Caller},
    problem::Problem,
    rate::Counted,
    state::State,
    store::DataSource,
};
use equipoise_core::{adjacency::Unit, wording};
use equipoise_engine::books;
use equipoise_session::{
    ledger::{DataSet, Ledger},
    plan::Plan,
    request::Request,
    session,
    source::Source,
};
use equipoise_sql_front::{
    Query, SqlError, Unpayable,
    apart::{self, Agreed, Beside, NoTable, TableColumn},
    several::Several,
};
use std::{
    collections::BTreeMap,
    env, fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// A query about several data sets, with a program that waits for their rows.
pub struct Together {
    agreed: Arc<Agreed>,
    /// The data sets that are read, by the program's numbers, with the columns that they had.
    reads: Vec<(DataSource, Vec<TableColumn>)>,
    /// The data sets that pay, each once, with the unit that the query names.
    paying: Vec<(DataSource, Unit)>,
}

impl fmt::Debug for Together {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Together").field("paying", &self.paying).finish_non_exhaustive()
    }
}

/// Understand a query about several data sets, each of which the caller may ask about. `tables` has the ids of those that FROM calls otherwise;
/// `alone` is what is wrong with it where nobody joins them.
pub fn read(
    state: &State,
    caller: &Caller,
    text: &str,
    given: &Request,
    tables: &BTreeMap<String, String>,
    alone: SqlError,
) -> Result<Together, Problem> {
    let beside_this = env::current_exe().ok().and_then(|program| Some(program.parent()?.to_path_buf()));
    let Some(program) = apart::find(beside_this.as_slice()) else {
        return Err(wrong(&alone.hint(
            "joins, subqueries and set operations are for the program equipoise-sql, which is not installed on this server; its steward builds it \
             with 'cargo install --path sql/equipoise-sql' in the source of equipoise",
        )));
    };
    // A process is started for it.
    state.limiter.count(&caller.name, Counted::Plan)?;
    let several = Several::read(text).map_err(|error| wrong(&error))?;
    let ledger = state.ledger()?;
    let visible = |name: &str| {
        let id = tables.get(name).map_or(name, String::as_str);
        state.store.data_set(id).filter(|data| allow(caller, Act::See(data)).is_ok())
    };
    // The unit that is registered is as good as one that is named.
    let mut units = Vec::new();
    let seen = state.store.data_sets().into_iter().map(|data| data.id).chain(tables.keys().cloned());
    for name in seen {
        let Some(data) = visible(&name) else { continue };
        if let Some(DataSet { unit: Unit::Column(unit), .. }) = ledger.data_set(&data.name)? {
            units.push((name, unit));
        }
    }
    let found: Mutex<BTreeMap<String, (DataSource, Vec<TableColumn>)>> = Mutex::default();
    let columns = |name: &str| {
        let no_table = |problem: String| NoTable { problem, hint: "name data sets by their ids".into() };
        let Some(data) = visible(name) else {
            let shown = wording::shown(name);
            return Err(no_table(format!("there is no data set '{shown}' that you may ask about")));
        };
        let source = state.open_data(&data).map_err(|problem| no_table(problem.detail.clone()))?;
        let columns = TableColumn::of(&*source);
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        found.insert(name.to_string(), (data, columns.clone()));
        Ok(columns)
    };
    let beside = Beside { public: Vec::new(), units };
    let agreed = apart::open(&program, &several, given, &beside, &columns).map_err(|error| wrong(&error))?;
    if let Some(public) = agreed.public.first() {
        let problem =
            format!("'{}' is said to be public, and what a server has is somebody's", wording::shown(public));
        return Err(wrong(&several.wrong(problem, "name its unit in privacy_unit_column")));
    }
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let of = |name: &str| found.get(name).cloned().ok_or_else(|| Problem::inside("a table nobody asked for"));
    let share = |one: &str, other: &str| match (found.get(one), found.get(other)) {
        (Some((one, _)), Some((other, _))) => one.id == other.id || books::share_rows(&one.path, &other.path),
        _ => true,
    };
    if let Some(problem) = agreed.two_owners(&share) {
        return Err(Problem::wrong(problem));
    }
    let reads = agreed.reads.iter().map(|read| of(&read.name)).collect::<Result<_, _>>()?;
    let mut paying: Vec<(DataSource, Unit)> = Vec::new();
    for table in &agreed.private {
        let (data, _) = of(&table.name)?;
        if paying.iter().all(|(other, _)| other.id != data.id) {
            paying.push((data, Unit::Column(table.unit.clone())));
        }
    }
    Ok(Together { agreed: Arc::new(agreed), reads, paying })
}

impl Together {
    /// What is asked of the relation.
    pub fn query(&self) -> &Query {
        &self.agreed.query
    }

    /// The data sets that pay, the first of them first.
    pub fn data(&self) -> impl Iterator<Item = &DataSource> {
        self.paying.iter().map(|(data, _)| data)
    }

    /// After how many seconds an answer is shown: when that of the slowest data set would be.
    pub fn answer_time(&self) -> u64 {
        self.data().map(|data| data.answer_time).max().unwrap_or_default()
    }

    /// The data sets besides the first, as they are charged.
    pub fn others(&self, plan: &Plan, ledger: &Ledger) -> Result<Vec<DataSet>, Problem> {
        let others = self.paying.iter().skip(1).map(|(data, unit)| (data.name.clone(), unit.clone()));
        equipoise_sql_front::paying(plan, &others.collect::<Vec<_>>(), Some(ledger)).map_err(|why| match why {
            Unpayable::NotPeople(name) => Problem::wrong(format!(
                "a query about several data sets protects people who are added or removed, and '{}' is registered for something else; ask its steward",
                wording::shown(&name)
            )),
            Unpayable::Registered(name) => Problem::wrong(format!(
                "'{}' is registered for another unit or adjacency than the query has; leave its unit out, which is then the registered one",
                wording::shown(&name)
            )),
            Unpayable::Windows { name, day } => Problem::wrong(format!(
                "'{}' has a limit for each window of '{}', and a query about several data sets has no rows of one window of it; ask about it alone",
                wording::shown(&name),
                wording::shown(&day)
            )),
            Unpayable::Ledger(error) => error.into(),
        })
    }
}

/// Plan its questions. Reads headers and schemas, and no row.
pub fn planned(
    state: &State,
    ledger: &Ledger,
    together: &Arc<Together>,
) -> Result<(Plan, Box<dyn Source>), Problem> {
    let opened = |(data, columns): &(DataSource, Vec<TableColumn>)| {
        let source = state.open_data(data)?;
        if TableColumn::of(&*source) == *columns {
            return Ok(source);
        }
        Err(Problem::wrong("the data has other columns than a moment ago; ask again"))
    };
    // Once for each scan: none waits for another.
    let table = |(read, scans): (&(DataSource, Vec<TableColumn>), usize)| {
        (0..scans.max(1)).map(|_| opened(read)).collect::<Result<Vec<_>, Problem>>()
    };
    let scans = together.agreed.reads.iter().map(|read| read.scans);
    let tables = together.reads.iter().zip(scans).map(table).collect::<Result<_, Problem>>()?;
    let rows = together.agreed.handed(tables);
    let first = &together.paying[0].0;
    let facts = session::facts(Some(ledger), &first.name, rows.columns())?.typed_by(&rows);
    let plan = together.query().plan(&facts).map_err(|error| wrong(&error))?;
    plan.readable_in(&rows)?;
    together.others(&plan, ledger)?;
    Ok((plan, Box::new(rows)))
}
