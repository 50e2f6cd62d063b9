//! Every function and operator of the list on hostile rows: a batch is each row alone, and nothing fails.

use super::{
    Compiled, analyzed, cells, context,
    hostile::{ROWS, table},
    total,
};
use crate::{allowed, clean::clean_scalar, quiet::caught, total::Total};
use arrow::{
    array::{RecordBatch, UInt32Array},
    compute::take_record_batch,
};
use datafusion::{
    common::tree_node::{TreeNode, TreeNodeRecursion},
    logical_expr::Expr,
    scalar::ScalarValue,
};
use std::collections::BTreeSet;

/// What is tried. `x` and `y` columns hold every pair of hostile values.
const EXPRESSIONS: &str = include_str!("expressions.txt");

/// Expressions on which plain DataFusion fails a whole batch because of one row.
const PLAIN_FAILS: [&str; 25] = [
    "CAST(sx AS BIGINT)",
    "CAST(sx AS DOUBLE)",
    "CAST(sx AS DATE)",
    "CAST(sx AS TIMESTAMP)",
    "CAST(ix AS INT)",
    "CAST(fx AS BIGINT)",
    "CAST(secx AS TIMESTAMP)",
    "sx > 5",
    "ix / iy",
    "ix % iy",
    "dx * dy",
    "dx / dy",
    "abs(ix)",
    "dayx + spany",
    "nsx + spany",
    "date_trunc('month', nsx)",
    "substr(sx, 1, iy)",
    "chr(ix)",
    "split_part(sx, '-', ix)",
    "factorial(ix)",
    "lcm(ix, iy)",
    "make_date(jx, jy, 1)",
    "to_date(sx)",
    "to_timestamp(sx)",
    "regexp_count(sx, 'a', ix)",
];

fn lines() -> impl Iterator<Item = &'static str> {
    EXPRESSIONS.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn rows(batch: &RecordBatch, places: &[usize]) -> RecordBatch {
    let places = UInt32Array::from_iter_values(places.iter().map(|&place| u32::try_from(place).unwrap()));
    take_record_batch(batch, &places).unwrap()
}

/// The value of each row alone.
fn alone(compiled: &Compiled, batch: &RecordBatch) -> Vec<ScalarValue> {
    (0..batch.num_rows())
        .map(|row| cells(&compiled.evaluate(&batch.slice(row, 1)).expect("total")).swap_remove(0))
        .collect()
}

/// All lines that are wrong at once.
#[tokio::test]
async fn every_line_is_accepted() {
    let context = context(&table());
    let mut wrong = Vec::new();
    for line in lines() {
        let state = context.state();
        let plan = match state.create_logical_plan(&format!("SELECT {line} FROM t")).await {
            Ok(plan) => plan,
            Err(error) => {
                wrong.push(format!("{line}: {error}"));
                continue;
            }
        };
        match state.analyzer().execute_and_check(plan, &state.config_options().clone(), |_, _| {}) {
            Ok(plan) => wrong.extend(crate::make_total(plan).err().map(|error| format!("{line}: {error}"))),
            Err(error) => wrong.push(format!("{line}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_batch_is_each_row_alone() {
    let batch = table();
    let context = context(&batch);
    let all: Vec<usize> = (0..ROWS).collect();
    let backwards: Vec<usize> = all.iter().rev().copied().collect();
    let without: Vec<usize> = all.iter().copied().filter(|row| row % 14 != 10).collect();
    for line in lines() {
        let compiled = Compiled::new(&total(&context, &format!("SELECT {line} FROM t")).await);
        let wanted = alone(&compiled, &batch);
        for places in [&all, &backwards, &without] {
            let found = cells(&compiled.evaluate(&rows(&batch, places)).expect("total"));
            for (value, &row) in found.iter().zip(places) {
                assert_eq!(*value, wanted[row], "{line}, row {row} of {}", places.len());
            }
        }
        let halves = batch.slice(ROWS / 2, ROWS / 2);
        assert_eq!(cells(&compiled.evaluate(&halves).unwrap()), wanted[ROWS / 2..], "{line}");
        // Something must be there, or the test would hold of a form that is always null.
        assert!(wanted.iter().any(|value| !value.is_null()), "{line} is null in every row");
    }
}

/// Where there is a value, it is the one that plain DataFusion has for that row.
#[tokio::test]
async fn a_value_is_that_of_plain_datafusion() {
    let batch = table();
    let context = context(&batch);
    let (mut compared, mut nulls) = (0, 0);
    for line in lines() {
        let sql = format!("SELECT {line} FROM t");
        let form = Compiled::new(&total(&context, &sql).await);
        let plain = Compiled::new(&analyzed(&context, &sql).await);
        let entered = form.entered(&batch);
        for (row, value) in alone(&form, &batch).into_iter().enumerate() {
            if value.is_null() {
                nulls += 1;
                continue;
            }
            let Some(Ok(array)) = caught(|| plain.evaluate(&entered.slice(row, 1))) else { continue };
            assert_eq!(value, clean_scalar(cells(&array).swap_remove(0)), "{line}, row {row}");
            compared += 1;
        }
    }
    println!("{} expressions, {compared} values compared, {nulls} nulls", lines().count());
    assert!(compared > 10_000, "{compared}");
}

/// The rows above would fail the query of all.
#[tokio::test]
async fn plain_datafusion_fails_where_the_total_form_is_null() {
    let batch = table();
    let context = context(&batch);
    for line in PLAIN_FAILS {
        let sql = format!("SELECT {line} FROM t");
        let form = Compiled::new(&total(&context, &sql).await);
        let plain = Compiled::new(&analyzed(&context, &sql).await);
        let entered = form.entered(&batch);
        assert!(
            !matches!(caught(|| plain.evaluate(&entered)), Some(Ok(_))),
            "{line} does not fail in plain DataFusion"
        );
        let nulls = cells(&form.evaluate(&batch).unwrap()).iter().filter(|value| value.is_null()).count();
        assert!(nulls > 0 && nulls < ROWS, "{line}: {nulls} nulls");
    }
}

/// DataFusion panics on some days less some spans.
#[tokio::test]
async fn a_row_that_panics_is_null() {
    let batch = table();
    let context = context(&batch);
    let sql = "SELECT dayx - spany FROM t";
    let form = Compiled::new(&total(&context, sql).await);
    let plain = Compiled::new(&analyzed(&context, sql).await);
    let panics = |row: &usize| caught(|| plain.evaluate(&batch.slice(*row, 1))).is_none();
    let row = (0..ROWS).find(panics).expect("none panics any more: take another expression");
    assert!(cells(&form.evaluate(&batch).unwrap())[row].is_null());
}

/// The test above in a process of its own, whose error stream is read.
#[test]
fn a_panic_says_nothing_on_the_error_stream() {
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tests::kernels::a_row_that_panics_is_null", "--nocapture"])
        .output()
        .unwrap();
    let (said, out) = (String::from_utf8_lossy(&child.stderr), String::from_utf8_lossy(&child.stdout));
    assert!(child.status.success() && out.contains("1 passed"), "{said}{out}");
    assert!(!said.contains("panicked"), "{said}");
}

#[tokio::test]
async fn every_form_of_the_list_is_tried() {
    let context = context(&table());
    let mut tried = BTreeSet::new();
    for line in lines() {
        let plan = total(&context, &format!("SELECT {line} FROM t")).await;
        plan.apply(|node| {
            node.apply_expressions(|expr| {
                expr.apply(|step| {
                    if let Expr::ScalarFunction(call) = step
                        && Total::of(&call.func).is_some()
                    {
                        tried.insert(call.func.name().to_owned());
                    }
                    Ok(TreeNodeRecursion::Continue)
                })
            })
        })
        .unwrap();
    }
    let all: BTreeSet<String> = allowed::all()
        .iter()
        .map(|total| datafusion::logical_expr::ScalarUDFImpl::name(total).to_owned())
        .collect();
    assert_eq!(
        all.len(),
        allowed::FUNCTIONS.len() + 19 + 3,
        "a name of the list is no function of DataFusion"
    );
    assert_eq!(all.difference(&tried).collect::<Vec<_>>(), Vec::<&String>::new());
}
