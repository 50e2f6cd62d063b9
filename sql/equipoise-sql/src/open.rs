//! From a query about several tables to a relation that the session can ask about. Only headers and schemas are read here.

use crate::{
    dialect::{self, NamedTable},
    prepare::{self, Limits},
    refusal::Refusal,
    relation::Relation,
    table::{Column, Reader, Table},
};
use datafusion::{
    common::{Column as PlanColumn, DFSchema},
    logical_expr::LogicalPlan,
};
use equipoise_core::wording;
use equipoise_engine::{OpenOptions, STANDARD_INPUT, csv::Header, ids_of};
use equipoise_session::{
    file_id::FileId,
    request::Request,
    source::{ColumnRead, ColumnType, Lost, Visitor},
};
use equipoise_sql_cluster::{Cluster, Membership};
use equipoise_sql_front::{
    SqlError,
    several::{self, Joined, Joins, Named, PrivateTable, Several},
};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc, thread, time::Duration};
use tokio::runtime::Builder;

/// Joins tables with DataFusion.
pub(crate) struct DataFusionJoins;

/// So much memory the engine may use where nothing else is said, in bytes.
const MEMORY: usize = 4 << 30;
/// The variable that says otherwise, in mebibytes.
const MEMORY_VARIABLE: &str = "EQUIPOISE_SQL_MEMORY";

fn limits(several: &Several) -> Result<Limits, SqlError> {
    let memory = match std::env::var(MEMORY_VARIABLE) {
        Err(_) => MEMORY,
        Ok(said) => {
            let mebibytes = said.parse::<usize>().ok().filter(|&mebibytes| mebibytes > 0);
            let bytes = mebibytes.and_then(|mebibytes| mebibytes.checked_mul(1 << 20));
            bytes.ok_or_else(|| {
                let problem = format!(
                    "{MEMORY_VARIABLE} is '{}', which is no number of mebibytes",
                    wording::shown(&said)
                );
                several.wrong(problem, format!("set {MEMORY_VARIABLE}=4096, or leave it out"))
            })?
        }
    };
    Ok(Limits { memory, threads: thread::available_parallelism().map_or(1, usize::from) })
}

/// How many parts of a relation a cluster works on side by side, where nothing else is said.
const PARTS: usize = 8;
/// The variable that says otherwise.
const PARTS_VARIABLE: &str = "EQUIPOISE_CLUSTER_PARTS";
/// How long one pass on a cluster may take where nothing else is said, in seconds.
const SECONDS: usize = 600;
/// The variable that says otherwise.
const SECONDS_VARIABLE: &str = "EQUIPOISE_CLUSTER_SECONDS";

/// A whole number that a variable says, from some least one on.
fn said(several: &Several, variable: &str, unsaid: usize, least: usize) -> Result<usize, SqlError> {
    let Ok(said) = std::env::var(variable) else { return Ok(unsaid) };
    said.parse::<usize>().ok().filter(|&number| number >= least).ok_or_else(|| {
        let problem =
            format!("{variable} is '{}', which is no number from {least} on", wording::shown(&said));
        several.wrong(problem, format!("set {variable}={unsaid}, or leave it out"))
    })
}

/// The cluster that was named, as a member of it.
fn member(several: &Several, on: &several::Cluster) -> Result<Cluster, SqlError> {
    let members = match &on.certificates {
        None => Ok(Membership::of_this_host()),
        Some(folder) => Membership::of_folder(folder),
    };
    let members = members.map_err(|not| several.wrong(not.problem, not.next))?;
    Ok(Cluster {
        scheduler: on.scheduler.clone(),
        members,
        parts: said(several, PARTS_VARIABLE, PARTS, 2)?,
        deadline: Duration::from_secs(said(several, SECONDS_VARIABLE, SECONDS, 1)? as u64),
    })
}

impl Joins for DataFusionJoins {
    fn open(
        &self,
        several: &Several,
        given: &Request,
        on: Option<&several::Cluster>,
    ) -> Result<Joined, SqlError> {
        let accepted = dialect::read(several.inner()).map_err(|refusal| wrong(several, &refusal))?;
        let declared = declared(several, given, &accepted.tables)?;
        let opened = accepted.tables.iter().zip(&declared);
        let opened = opened.map(|(named, owner)| open_table(several, given, named, owner.as_deref()));
        let tables = opened.collect::<Result<Vec<_>, _>>()?;
        check_types(several, given, &tables)?;
        let Some(first) = declared.iter().flatten().next() else {
            return Err(several.wrong(
                "none of the tables is private",
                "name the privacy unit of each private one: OPTIONS(privacy_unit_column=[orders.person])",
            ));
        };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|_| several.wrong("no thread could be started", "try again"))?;
        let refused = |refusal: Refusal| wrong(several, &refusal);
        let limits = limits(several)?;
        let cluster = on.map(|on| member(several, on)).transpose()?;
        let context = prepare::context(&tables, limits).map_err(refused)?;
        if let Some(cluster) = &cluster {
            cluster.adapt(&context);
        }
        let whole = runtime.block_on(prepare::named(&context, &accepted)).map_err(refused)?;
        // All columns first: the walk tells which of them hold the unit.
        let unit = unit_of(&context.state(), &whole, several)?;
        // Types were declared for columns of tables, which have them by now.
        let given = Request { types: BTreeMap::new(), ..given.clone() };
        let query = several.query(&given, first)?;
        let asked = query.columns_read();
        let mut columns = vec![(unit.clone(), first.clone())];
        for name in &asked {
            let column = column(several, whole.schema(), name)?;
            if *name != *first {
                columns.push((column, name.clone()));
            } else if column != unit {
                return Err(collision(several, name));
            }
        }
        let plan = prepare::projected(whole, &columns).map_err(refused)?;
        let proved = prepare::proved(&context.state(), plan).map_err(refused)?;
        if !proved.units.contains(&0) {
            return Err(several.wrong("the unit of the rows was lost", "select it as it is in every part"));
        }
        let (plan, task) = runtime.block_on(prepare::physical(&context, &proved.plan)).map_err(refused)?;
        if let Some(cluster) = &cluster {
            let checked = runtime.block_on(cluster.check(&plan, &task));
            checked.map_err(|refused| several.wrong(refused.problem, refused.next))?;
        }
        let private = accepted.tables.iter().zip(&declared);
        let private = private
            .filter_map(|(table, unit)| Some(PrivateTable { name: table.name.clone(), unit: unit.clone()? }));
        let public = accepted.tables.iter().zip(&declared).filter(|(_, unit)| unit.is_none());
        Ok(Joined {
            query,
            source: Box::new(Relation::new(plan, task, limits, cluster)),
            private: private.collect(),
            public: public.map(|(table, _)| table.name.clone()).collect(),
        })
    }
}

/// A refusal at its place in the query.
fn wrong(several: &Several, refusal: &Refusal) -> SqlError {
    match refusal.place {
        Some(place) => several.wrong_at(place, refusal.problem(), refusal.rewrite.clone()),
        None => several.wrong(refusal.problem(), refusal.rewrite.clone()),
    }
}

/// For each table the column that names its unit, or that it is public. A table that is neither is an error: others would take it for
/// public without a word.
fn declared(
    several: &Several,
    given: &Request,
    tables: &[NamedTable],
) -> Result<Vec<Option<String>>, SqlError> {
    let is = |table: &NamedTable, said: &str| table.name == said || dialect::called(&table.name) == said;
    for named in several.units().iter().filter(|named| named.table.is_some()) {
        let said = named.table.as_deref().unwrap_or_default();
        if !tables.iter().any(|table| is(table, said)) {
            let problem = format!("no table of the query is called '{}'", wording::shown(said));
            return Err(several.wrong_column(
                named,
                problem,
                "write the name that it has behind FROM or JOIN",
            ));
        }
    }
    for said in several.public_tables() {
        if !tables.iter().any(|table| is(table, said)) {
            let problem = format!(
                "no table of the query is called '{}', which public_tables names",
                wording::shown(said)
            );
            return Err(
                several.wrong(problem, "write the name that it has behind FROM or JOIN, or leave it out")
            );
        }
    }
    let one = |table: &NamedTable| {
        let own =
            several.units().iter().filter(|named| named.table.as_deref().is_some_and(|said| is(table, said)));
        let own: Vec<&Named> = own.collect();
        let public = several.public_tables().iter().any(|said| is(table, said));
        let shown = wording::shown(&table.name);
        let place = table.place.unwrap_or((1, 1));
        match (own.as_slice(), public) {
            ([only], false) => Ok(Some(only.column.clone())),
            ([], true) => Ok(None),
            ([_, ..], true) => Err(several.wrong_at(
                place,
                format!("'{shown}' is said to be public and to have a privacy unit"),
                "leave one of both out",
            )),
            ([_, second, ..], false) => Err(several.wrong_column(
                second,
                format!("'{shown}' has two privacy units"),
                "name one: all records with one value of it are protected together",
            )),
            ([], false) => match alone(several, given) {
                Some(unit) => Ok(Some(unit)),
                None => Err(several.wrong_at(
                    place,
                    format!("'{shown}' is neither private nor public"),
                    format!(
                        "name its unit, as in OPTIONS(privacy_unit_column=[{0}.person]), or say OPTIONS(public_tables=['{0}'])",
                        wording::shown(&dialect::called(&table.name))
                    ),
                )),
            },
        }
    };
    tables.iter().map(one).collect()
}

/// The unit that is named without a table: that of every table that is not public.
fn alone(several: &Several, given: &Request) -> Option<String> {
    let named = several.units().iter().find(|named| named.table.is_none());
    named.map(|named| named.column.clone()).or_else(|| given.unit.clone())
}

/// How tables are read, as it was said beside the query.
fn options(several: &Several, given: &Request) -> Result<OpenOptions, SqlError> {
    let delimiter = match given.delimiter.as_deref() {
        None => None,
        Some("tab" | "\\t") => Some('\t'),
        Some(text) => match (text.chars().next(), text.chars().count()) {
            (Some(one), 1) => Some(one),
            _ => return Err(several.wrong("the delimiter is not one character", "give one, such as ';'")),
        },
    };
    Ok(OpenOptions { delimiter, header: (given.header == Some(false)).then_some(Header::Numbered) })
}

/// A table by its path, with the types of its schema or those that were declared beside the query.
fn open_table(
    several: &Several,
    given: &Request,
    named: &NamedTable,
    unit: Option<&str>,
) -> Result<Arc<Table>, SqlError> {
    let place = named.place.unwrap_or((1, 1));
    if named.name == STANDARD_INPUT {
        return Err(several.wrong_at(
            place,
            "standard input is not joined: it can be read once",
            "write it to a file",
        ));
    }
    let path = PathBuf::from(&named.name);
    let options = options(several, given)?;
    let source = equipoise_engine::open(&[&path], &options).map_err(|error| {
        several.wrong_at(place, error.to_string(), "name a file, as in FROM 'people.csv' AS p")
    })?;
    let mut columns = Vec::new();
    for (place, name) in source.columns().iter().enumerate() {
        // Lists and the like are not columns here; whoever asks for one is told that there is none.
        if source.unreadable(place).is_some() {
            continue;
        }
        let said = given.types.get(name).and_then(|kind| ColumnType::named(kind));
        let kind = said.or_else(|| source.declared(place)).unwrap_or(ColumnType::Text);
        columns.push(Column { name: name.clone(), place, kind });
    }
    let unit = match unit {
        None => None,
        Some(unit) => Some(columns.iter().position(|column| column.name == unit).ok_or_else(|| {
            let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            let nearest = wording::nearest(unit, &names);
            let problem =
                format!("'{}' has no column '{}'", wording::shown(&named.name), wording::shown(unit));
            let (problem, meant) = wording::and_nearest(&problem, &nearest);
            several.wrong_at(place, problem, format!("{meant}name the column that holds its privacy unit"))
        })?),
    };
    let reader = FileReader { columns: source.columns().to_vec(), ids: ids_of(&path), path, options };
    Ok(Arc::new(Table::new(columns, unit, Arc::new(reader))))
}

/// Every type that was declared is one, of a column that some table has.
fn check_types(several: &Several, given: &Request, tables: &[Arc<Table>]) -> Result<(), SqlError> {
    for (name, kind) in &given.types {
        let shown = wording::shown(name);
        if ColumnType::named(kind).is_none() {
            let problem = format!("no type is called '{}'", wording::shown(kind));
            let hint = "use number, integer, decimal:2, date, timestamp, boolean or text";
            return Err(several.wrong(problem, hint));
        }
        if !tables.iter().any(|table| table.has(name)) {
            return Err(several
                .wrong(format!("a type is declared for '{shown}', which no table has"), "check its name"));
        }
    }
    Ok(())
}

/// Opens a file for each scan: two scans of one query never wait for each other.
struct FileReader {
    path: PathBuf,
    options: OpenOptions,
    columns: Vec<String>,
    ids: Vec<FileId>,
}

impl Reader for FileReader {
    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let source = equipoise_engine::open(&[&self.path], &self.options).map_err(|_| Lost)?;
        // Another file under the same name is not what was planned and paid for.
        if source.columns() != self.columns || ids_of(&self.path) != self.ids {
            return Err(Lost);
        }
        source.scan(wanted, visitors)
    }
}

/// A column of the relation that holds the unit of every row.
fn unit_of(
    state: &datafusion::execution::SessionState,
    whole: &LogicalPlan,
    several: &Several,
) -> Result<PlanColumn, SqlError> {
    let proved = prepare::proved(state, whole.clone()).map_err(|refusal| wrong(several, &refusal))?;
    let place = proved.units.first().copied().unwrap_or_default();
    Ok(PlanColumn::from(whole.schema().qualified_field(place)))
}

fn collision(several: &Several, name: &str) -> SqlError {
    let shown = wording::shown(name);
    several.wrong(
        format!("two columns are called '{shown}'"),
        format!("name them apart in a subquery, as in FROM (SELECT o.{shown} AS other_{shown}, .. FROM ..)"),
    )
}

/// The column of the relation that the outer query means by a name.
fn column(several: &Several, schema: &DFSchema, name: &str) -> Result<PlanColumn, SqlError> {
    let mut found: Option<PlanColumn> = None;
    let said = several.tables_of(name);
    let tables: Vec<Option<&str>> = said.iter().map(|named| named.table.as_deref()).collect();
    // Bare words may be aliases of the outer query: they count only where no table was named.
    let bare_only = tables.iter().all(Option::is_none);
    for named in said.iter().filter(|named| bare_only || named.table.is_some()) {
        let fits: Vec<PlanColumn> = schema
            .iter()
            .filter(|(table, field)| {
                field.name() == name
                    && named
                        .table
                        .as_deref()
                        .is_none_or(|said| table.is_some_and(|table| table.table() == said))
            })
            .map(PlanColumn::from)
            .collect();
        match fits.as_slice() {
            [only] if found.as_ref().is_none_or(|before| before == only) => found = Some(only.clone()),
            [_] => return Err(collision(several, name)),
            [] => return Err(no_column(several, named, schema)),
            _ => {
                let problem = format!("'{}' is in several tables", wording::shown(name));
                return Err(several.wrong_column(named, problem, "write the table before it, as in o.name"));
            }
        }
    }
    found.ok_or_else(|| {
        several.wrong(format!("no column is called '{}'", wording::shown(name)), "check its name")
    })
}

fn no_column(several: &Several, named: &Named, schema: &DFSchema) -> SqlError {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let nearest = wording::nearest(&named.column, &names);
    let problem = format!("no column is called '{}'", named.shown());
    let (problem, meant) = wording::and_nearest(&problem, &nearest);
    let all = names.iter().take(20).copied().collect::<Vec<_>>().join(", ");
    several.wrong_column(named, problem, format!("{meant}The relation has: {}", wording::shown(&all)))
}
