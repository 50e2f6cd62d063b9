//! The walker's claim, tried: on small databases each unit is removed from all private tables, the inner relation is run again, and what is
//! left must be the same rows, byte for byte. Queries are kept in files, accepted ones and rejected ones with their line.

mod cluster;
mod database;
mod mutants;

use crate::{
    dialect,
    prepare::{self, Limits, Proved},
    refusal::Refusal,
    rules::Rules,
};
use arrow::{
    array::{Array, Float64Array, RecordBatch},
    util::display::{ArrayFormatter, FormatOptions},
};
use database::{DATABASES, TABLES, UNITS, World};
use datafusion::{logical_expr::LogicalPlan, prelude::SessionContext};
use std::{collections::BTreeMap, env, fs, path::PathBuf, sync::Arc};
use tokio::runtime::{Builder, Runtime};

const LIMITS: Limits = Limits { memory: 256 << 20, threads: 2 };

/// A query of a file, and the line that it is rejected with; none where it is accepted.
struct Case {
    query: String,
    line: Option<String>,
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/queries").join(name)
}

/// Cases stand apart by an empty line; a line behind `----` is why one is rejected. Lines that begin with `#` say what follows.
fn cases(name: &str) -> Vec<Case> {
    let text = fs::read_to_string(file(name)).expect("the file is there");
    let one = |part: &str| {
        let lines: Vec<&str> = part.lines().filter(|line| !line.starts_with('#')).collect();
        let (query, line) = match lines.iter().position(|line| *line == "----") {
            Some(place) => (&lines[..place], Some(lines[place + 1..].join("\n"))),
            None => (&lines[..], None),
        };
        let query = query.join("\n");
        (!query.is_empty()).then_some(Case { query, line })
    };
    text.split("\n\n").filter_map(one).collect()
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads can be started")
}

/// A query in the dialect, proved by the rules that are shipped.
fn accepted(world: &Arc<World>, query: &str, runtime: &Runtime) -> Result<(SessionContext, Proved), Refusal> {
    let read = dialect::read(query)?;
    let tables: Vec<_> = read.tables.iter().map(|table| world.table(&table.name)).collect();
    let context = prepare::context(&tables, LIMITS)?;
    let plan = runtime.block_on(prepare::named(&context, &read))?;
    let proved = prepare::proved(&context.state(), plan)?;
    Ok((context, proved))
}

/// The same by other rules, and without the dialect in front of them.
fn accepted_by(
    world: &Arc<World>,
    query: &str,
    rules: &Rules,
    runtime: &Runtime,
) -> Result<(SessionContext, Proved), Refusal> {
    let context = prepare::context(&[], LIMITS)?;
    for table in TABLES {
        context.register_table(table.name, world.table(table.name)).expect("it is a new name");
    }
    let state = context.state();
    let plan = runtime.block_on(state.create_logical_plan(query));
    let plan = plan.map_err(|error| Refusal::new("the query", error.strip_backtrace(), ""))?;
    let proved = prepare::proved_by(&state, plan, rules)?;
    Ok((context, proved))
}

type Row = Vec<String>;

/// All rows of a plan, sorted, each cell as its bytes; or why there are none, which a proved plan has no reason for.
fn rows(context: &SessionContext, plan: &LogicalPlan, runtime: &Runtime) -> Result<Vec<Row>, String> {
    let batches = runtime.block_on(async {
        let (plan, task) =
            prepare::physical(context, plan).await.map_err(|refusal| format!("{CANNOT_RUN}: {refusal}"))?;
        datafusion::physical_plan::collect(plan, task)
            .await
            .map_err(|error| format!("a row fails it: {error}"))
    })?;
    let mut rows: Vec<Row> = batches.iter().flat_map(cells).collect();
    rows.sort();
    Ok(rows)
}

/// A plan that only a wrong rule lets through may be one that the engine does not have.
const CANNOT_RUN: &str = "it cannot be run";

fn cells(batch: &RecordBatch) -> Vec<Row> {
    let options = FormatOptions::default().with_null("\u{2205}");
    let cell = |column: usize, row: usize| {
        let array = batch.column(column);
        match array.as_any().downcast_ref::<Float64Array>() {
            Some(floats) if floats.is_valid(row) => format!("{:016x}", floats.value(row).to_bits()),
            _ => ArrayFormatter::try_new(array, &options).expect("cells can be shown").value(row).to_string(),
        }
    };
    (0..batch.num_rows())
        .map(|row| (0..batch.num_columns()).map(|column| cell(column, row)).collect())
        .collect()
}

/// What is wrong with a plan whose owner was told, on some database.
fn violation(world: &World, context: &SessionContext, proved: &Proved, runtime: &Runtime) -> Option<String> {
    kept(world, context, proved, runtime).err()
}

fn kept(world: &World, context: &SessionContext, proved: &Proved, runtime: &Runtime) -> Result<(), String> {
    let unit = proved.units.first().copied().unwrap_or(0);
    for database in 0..DATABASES {
        world.hold(database, None);
        let all = rows(context, &proved.plan, runtime)?;
        for row in &all {
            if let Some(other) = proved.units.iter().find(|&&column| row[column] != row[unit]) {
                return Err(format!("database {database}: columns {unit} and {other} of {row:?} differ"));
            }
            if !UNITS.contains(&row[unit].as_str()) {
                return Err(format!("database {database}: {row:?} has no unit in column {unit}"));
            }
        }
        for removed in UNITS {
            world.hold(database, Some(removed));
            let left = rows(context, &proved.plan, runtime)?;
            let expected: Vec<&Row> = all.iter().filter(|row| row[unit] != removed).collect();
            if left.iter().ne(expected) {
                return Err(format!("database {database}: without {removed} other rows change"));
            }
        }
    }
    Ok(())
}

#[test]
fn every_accepted_query_keeps_its_promise() {
    let (world, runtime) = (World::new(), runtime());
    let (mut seen, mut kinds) = (0, BTreeMap::new());
    for case in cases("accepted.sql") {
        let (context, proved) = accepted(&world, &case.query, &runtime)
            .unwrap_or_else(|refusal| panic!("{}\n{refusal}", case.query));
        count_kinds(&proved.plan, &mut kinds);
        if let Some(wrong) = violation(&world, &context, &proved, &runtime) {
            panic!("{}\n{wrong}\n{}", case.query, proved.plan.display_indent());
        }
        seen += 1;
    }
    eprintln!("{seen} accepted queries; nodes {kinds:?}");
    assert!(seen >= 200, "{seen} accepted queries");
    for kind in ["Aggregate", "Filter", "Join", "Projection", "SubqueryAlias", "TableScan", "Union"] {
        assert!(kinds.contains_key(kind), "no accepted query has a node {kind}: {kinds:?}");
    }
}

/// How often each kind of node stands in a plan.
fn count_kinds(plan: &LogicalPlan, kinds: &mut BTreeMap<String, usize>) {
    let name = match plan {
        LogicalPlan::Join(join) => {
            *kinds.entry(format!("Join {}", join.join_type)).or_default() += 1;
            "Join".to_string()
        }
        other => {
            let shown = other.display().to_string();
            shown.split([':', ' ']).next().unwrap_or_default().to_string()
        }
    };
    *kinds.entry(name).or_default() += 1;
    plan.inputs().into_iter().for_each(|input| count_kinds(input, kinds));
}

#[test]
fn every_rejected_query_says_why_in_one_line() {
    let (world, runtime) = (World::new(), runtime());
    let mut written = String::from(
        "# Queries that are not accepted, each with its line. \"?\" is filled in by EQUIPOISE_WRITE_DOCS=1, to be read before it is committed.\n",
    );
    let (mut seen, mut wrong) = (0, Vec::new());
    for case in cases("rejected.sql") {
        let said = match accepted(&world, &case.query, &runtime) {
            Err(refusal) => refusal.to_string(),
            Ok(_) => "accepted".to_string(),
        };
        assert!(said != "accepted", "accepted: {}", case.query);
        assert!(!said.contains('\n') && said.len() < 400, "{said}");
        written.extend(["\n", &case.query, "\n----\n", &said, "\n"]);
        if case.line.as_deref() != Some(said.as_str()) {
            wrong.push(format!("{}\n{said}", case.query));
        }
        seen += 1;
    }
    if env::var_os("EQUIPOISE_WRITE_DOCS").is_some() {
        fs::write(file("rejected.sql"), written).expect("it can be written");
    } else {
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
    assert!(seen >= 100, "{seen} rejected queries");
}
