//! From a query about several tables to a relation that the session can ask about. Only headers and schemas are read here, or asked for.

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
use equipoise_engine::{OpenOptions, STANDARD_INPUT, books, csv::Header, ids_of};
use equipoise_session::{
    file_id::FileId,
    request::Request,
    source::{ColumnRead, ColumnType, Lost, Visitor},
};
use equipoise_sql_cluster::{Cluster, Membership};
use equipoise_sql_front::{
    SqlError,
    apart::{Beside, Connection, Engine, NoTable, Opened, TableColumn, TableRead},
    several::{self, Joined, Joins, Named, PrivateTable, Several, declared_words},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};
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
        let files = Files { options: options(several, given)? };
        opened(several, given, &Beside::default(), &files, on).map(|opened| opened.joined)
    }
}

impl Engine for DataFusionJoins {
    fn open(
        &self,
        several: &Several,
        given: &Request,
        beside: &Beside,
        connection: &Arc<Connection>,
    ) -> Result<Opened, SqlError> {
        opened(several, given, beside, &Handed(connection.clone()), None)
    }
}

/// Where tables are.
trait Tables {
    /// The columns of a table that can be read, and who reads its rows. Its number is its place among those of the query.
    fn table(&self, number: usize, name: &str) -> Result<(Vec<TableColumn>, Arc<dyn Reader>), NoTable>;
    /// Have two names rows in common, as far as can be known here?
    fn share_rows(&self, one: &str, other: &str) -> bool;
}

/// Files, and what else the engine opens.
struct Files {
    options: OpenOptions,
}

impl Tables for Files {
    fn table(&self, _: usize, name: &str) -> Result<(Vec<TableColumn>, Arc<dyn Reader>), NoTable> {
        let no_table = |problem: String, hint: &str| NoTable { problem, hint: hint.to_string() };
        if name == STANDARD_INPUT {
            return Err(no_table(
                "standard input is not joined: it can be read once".into(),
                "write it to a file",
            ));
        }
        let path = PathBuf::from(name);
        let options = self.options.clone();
        let source = equipoise_engine::open(&[&path], &options)
            .map_err(|error| no_table(error.to_string(), "name a file, as in FROM 'people.csv' AS p"))?;
        let reader = FileReader { columns: source.columns().to_vec(), ids: ids_of(&path), path, options };
        Ok((TableColumn::of(&*source), Arc::new(reader)))
    }

    fn share_rows(&self, one: &str, other: &str) -> bool {
        books::share_rows(Path::new(one), Path::new(other))
    }
}

/// Tables of whoever asks.
struct Handed(Arc<Connection>);

impl Tables for Handed {
    fn table(&self, number: usize, name: &str) -> Result<(Vec<TableColumn>, Arc<dyn Reader>), NoTable> {
        Ok((self.0.columns(name)?, Arc::new(HandedReader { connection: self.0.clone(), number })))
    }

    /// Whoever asks knows what the names mean, and looks before the charge (`Agreed::two_owners`).
    fn share_rows(&self, _: &str, _: &str) -> bool {
        false
    }
}

/// Has rows handed over by whoever asks.
struct HandedReader {
    connection: Arc<Connection>,
    number: usize,
}

impl Reader for HandedReader {
    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        self.connection.scan(self.number, wanted, visitors)
    }
}

/// The relation of a query about these tables.
fn opened(
    several: &Several,
    given: &Request,
    beside: &Beside,
    files: &dyn Tables,
    on: Option<&several::Cluster>,
) -> Result<Opened, SqlError> {
    let accepted = dialect::read(several.inner()).map_err(|refusal| wrong(several, &refusal))?;
    // Whether there are such tables comes before whose they are.
    let find = |(number, named): (usize, &NamedTable)| {
        let found = files.table(number, &named.name);
        found.map_err(|why| several.wrong_at(named.place.unwrap_or((1, 1)), why.problem, why.hint))
    };
    let found = accepted.tables.iter().enumerate().map(find).collect::<Result<Vec<_>, _>>()?;
    let declared = declared(several, given, beside, &accepted.tables)?;
    check_apart(several, files, &accepted.tables, &declared)?;
    let tables = accepted.tables.iter().zip(&declared).zip(found);
    let tables =
        tables.map(|((named, unit), found)| open_table(several, given, named, found, unit.as_deref()));
    let tables = tables.collect::<Result<Vec<_>, _>>()?;
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
    let private: Vec<PrivateTable> = (accepted.tables.iter().zip(&declared))
        .filter_map(|(table, unit)| Some(PrivateTable { name: table.name.clone(), unit: unit.clone()? }))
        .collect();
    let public = accepted.tables.iter().zip(&declared).filter(|(_, unit)| unit.is_none());
    let public: Vec<String> = public.map(|(table, _)| table.name.clone()).collect();
    let said = declared_words(&private, &public, &given.types);
    let given = Request { types: BTreeMap::new(), ..given.clone() };
    let query = several.query(&given, first, &said)?;
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
    let joined =
        Joined { query, source: Box::new(Relation::new(plan, task, limits, cluster)), private, public };
    let read = |(named, table): (&NamedTable, &Arc<Table>)| {
        let (wanted, scans) = table.planned();
        TableRead { name: named.name.clone(), wanted, scans }
    };
    let reads = accepted.tables.iter().zip(&tables).map(read).collect();
    Ok(Opened { joined, reads })
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
    beside: &Beside,
    tables: &[NamedTable],
) -> Result<Vec<Option<String>>, SqlError> {
    // The whole name first: what is called so for short is meant where no table is written so.
    let is = |table: &NamedTable, said: &str| {
        let whole = tables.iter().any(|table| table.name == said);
        if whole { table.name == said } else { dialect::called(&table.name) == said }
    };
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
    let mut bare = several.units().iter().filter(|named| named.table.is_none());
    if let (Some(_), Some(second)) = (bare.next(), bare.next()) {
        return Err(several.wrong_column(
            second,
            "two privacy units stand without a table",
            "name the table of each, as in privacy_unit_column=[people.person, visits.who]",
        ));
    }
    for said in several.public_tables() {
        // What is public is never more than was named.
        let meant: Vec<&NamedTable> = tables.iter().filter(|table| is(table, said)).collect();
        if let [one, two, ..] = meant.as_slice() {
            let [one, two] = [one, two].map(|table| wording::shown(&table.name));
            let problem = format!("public_tables names '{}': '{one}' or '{two}'?", wording::shown(said));
            return Err(several.wrong(
                problem,
                format!("write the name of the table as it is behind FROM, as in public_tables=['{one}']"),
            ));
        }
        if meant.is_empty() {
            let problem = format!(
                "no table of the query is called '{}', which public_tables names",
                wording::shown(said)
            );
            return Err(
                several.wrong(problem, "write the name that it has behind FROM or JOIN, or leave it out")
            );
        }
    }
    let known = |table: &NamedTable| {
        let found = beside.units.iter().find(|(said, _)| is(table, said));
        found.map(|(_, unit)| unit.clone())
    };
    let one = |table: &NamedTable| {
        let own =
            several.units().iter().filter(|named| named.table.as_deref().is_some_and(|said| is(table, said)));
        let own: Vec<&Named> = own.collect();
        let mut public = several.public_tables().iter().chain(&beside.public);
        let public = public.any(|said| is(table, said));
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
            ([], false) => match known(table).or_else(|| alone(several, given)) {
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

/// The same rows are not public and private at once, nor do they belong to two units: then nobody's rows would be removed with them.
fn check_apart(
    several: &Several,
    files: &dyn Tables,
    tables: &[NamedTable],
    declared: &[Option<String>],
) -> Result<(), SqlError> {
    let all: Vec<(&NamedTable, &Option<String>)> = tables.iter().zip(declared).collect();
    for (number, (table, unit)) in all.iter().enumerate() {
        for (before, other) in &all[..number] {
            if unit == other || !files.share_rows(&before.name, &table.name) {
                continue;
            }
            let [one, two] = [&before.name, &table.name].map(|name| wording::shown(name));
            let problem = match (other, unit) {
                (Some(one_unit), Some(two_unit)) => format!(
                    "'{one}' and '{two}' have rows in common and two privacy units, {} and {}",
                    wording::shown(one_unit),
                    wording::shown(two_unit)
                ),
                _ => format!(
                    "'{one}' and '{two}' have rows in common, and one is said to be public and the other private"
                ),
            };
            let hint =
                "name one privacy unit for both: all records with one value of it are protected together";
            return Err(several.wrong_at(table.place.unwrap_or((1, 1)), problem, hint));
        }
    }
    Ok(())
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

/// A table that was found, with the types of its schema or those that were declared beside the query.
fn open_table(
    several: &Several,
    given: &Request,
    named: &NamedTable,
    (found, reader): (Vec<TableColumn>, Arc<dyn Reader>),
    unit: Option<&str>,
) -> Result<Arc<Table>, SqlError> {
    let place = named.place.unwrap_or((1, 1));
    let kind = |column: &TableColumn| {
        let said = given.types.get(&column.name).and_then(|kind| ColumnType::named(kind));
        said.or(column.kind).unwrap_or(ColumnType::Text)
    };
    let columns = found.iter().map(|column| Column {
        name: column.name.clone(),
        place: column.place,
        kind: kind(column),
    });
    let columns: Vec<Column> = columns.collect();
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
    Ok(Arc::new(Table::new(columns, unit, reader)))
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
