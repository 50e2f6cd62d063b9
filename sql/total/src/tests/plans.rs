//! What plans become: accepted and refused queries, values that floats and sums have, names and types.

use super::{
    analyzed, refused,
    whole::{CUTS, Cut, last_plan, rows, tables},
};
use crate::{check, make_total};
use arrow::{
    array::{Float64Array, Int64Array, ListArray, RecordBatch, StringArray},
    datatypes::{DataType, Field, Int64Type, Schema},
};
use datafusion::prelude::SessionContext;
use std::{fmt::Write, sync::Arc};

fn numbers() -> RecordBatch {
    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("f", DataType::Float64, true),
        Field::new("n", DataType::Int64, false),
        Field::new("s", DataType::Utf8, true),
        Field::new("list", DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true))), true),
    ]);
    let lists = (0..8).map(|row| Some(vec![Some(row)]));
    let columns: Vec<arrow::array::ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![1, 1, 1, 2, 2, 2, 3, 3])),
        Arc::new(Float64Array::from(vec![0.0, -0.0, f64::NAN, 1e16, 1.0, -1e16, -f64::NAN, f64::INFINITY])),
        Arc::new(Int64Array::from(vec![i64::MAX, 1, 0, 5, 0, -5, i64::MIN, -1])),
        Arc::new(StringArray::from(vec![
            Some("7"),
            Some("x"),
            None,
            Some("1e9"),
            Some(""),
            Some("-3"),
            Some("08"),
            None,
        ])),
        Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists)),
    ];
    RecordBatch::try_new(Arc::new(schema), columns).unwrap()
}

fn context(cut: Cut) -> SessionContext {
    let numbers = numbers();
    tables(&[("t", &numbers), ("p", &numbers)], cut)
}

async fn is(sql: &str, wanted: &[&[&str]]) {
    for cut in CUTS {
        let found = rows(&context(cut), sql).await;
        assert_eq!(found, wanted, "{sql}, {cut:?}");
    }
}

#[tokio::test]
async fn nan_is_null_and_zero_has_one_sign() {
    is("SELECT DISTINCT f FROM t", &[&["-1e16"], &["0.0"], &["1.0"], &["1e16"], &["inf"], &["∅"]]).await;
    is("SELECT DISTINCT CAST(f AS VARCHAR), CAST(-f AS VARCHAR), CAST(f * -1 AS VARCHAR) FROM t WHERE id = 1", &[
        &["0.0", "0.0", "0.0"],
        &["∅", "∅", "∅"],
    ])
    .await;
    is("SELECT f, count(*) FROM t WHERE id = 1 GROUP BY f", &[&["0.0", "2"], &["∅", "1"]]).await;
    is("SELECT count(DISTINCT f), min(f), max(f) FROM t WHERE id < 3", &[&["4", "-1e16", "1e16"]]).await;
    is("SELECT count(*) FROM t JOIN p ON t.f = p.f WHERE t.id = 1", &[&["4"]]).await;
    is("SELECT f FROM t WHERE id = 1 EXCEPT SELECT f FROM p WHERE id = 2", &[&["0.0"], &["∅"]]).await;
    is("SELECT count(*) FROM t WHERE f = 0", &[&["2"]]).await;
    is("SELECT count(*) FROM t WHERE f IN (0.0, 1.0, CAST('NaN' AS DOUBLE))", &[&["3"]]).await;
}

#[tokio::test]
async fn sums_are_exact_and_integers_that_leave_their_type_are_null() {
    is(
        "SELECT id, sum(f), avg(f) FROM t GROUP BY id",
        &[&["1", "0.0", "0.0"], &["2", "1.0", "0.3333333333333333"], &["3", "inf", "inf"]],
    )
    .await;
    is("SELECT id, sum(n) FROM t GROUP BY id", &[&["1", "∅"], &["2", "0"], &["3", "∅"]]).await;
    is("SELECT sum(n), avg(n) FROM t", &[&["-1", "0.0"]]).await;
    is(
        "SELECT id, var(n), stddev_pop(f) FROM t WHERE id = 2 GROUP BY id",
        &[&["2", "25.0", "8164965809277260.0"]],
    )
    .await;
    is(
        "SELECT sum(CAST(n AS DECIMAL(20, 1))), avg(CAST(n AS DECIMAL(20, 1))) FROM t",
        &[&["-1.0", "-0.12500"]],
    )
    .await;
    is("SELECT sum(n) FILTER (WHERE id = 2 AND s <> ''), sum(f) FROM t WHERE id = 9", &[&["∅", "∅"]]).await;
}

#[tokio::test]
async fn rows_that_would_fail_are_null() {
    is("SELECT CAST(s AS BIGINT) FROM t WHERE id < 3", &[&["-3"], &["7"], &["∅"], &["∅"], &["∅"], &["∅"]])
        .await;
    is("SELECT id / n FROM t", &[&["-3"], &["0"], &["0"], &["0"], &["0"], &["1"], &["∅"], &["∅"]]).await;
    is("SELECT count(*) FROM t WHERE id = 2 AND (n / n = 1 OR s > 5)", &[&["2"]]).await;
    is("SELECT count(*) FROM t JOIN p ON t.id = p.id AND 10 / p.n > 0 WHERE t.id = 2", &[&["3"]]).await;
    is("SELECT n + 1, count(*) FROM t WHERE id = 1 GROUP BY n + 1", &[&["1", "1"], &["2", "1"], &["∅", "1"]])
        .await;
    // Plain DataFusion wraps around here.
    is("SELECT -n FROM t WHERE id = 3", &[&["1"], &["∅"]]).await;
}

#[tokio::test]
async fn constants_that_fail_are_null_before_anything_is_read() {
    let context = context(CUTS[0]);
    for sql in [
        "SELECT 1 / 0 FROM t",
        "SELECT CAST('x' AS INT) FROM t",
        "SELECT chr(-5) FROM t",
        "SELECT sqrt(-1) FROM t",
    ] {
        let last = last_plan(&context, sql).await;
        assert!(format!("{last}").contains("NULL"), "{sql}: {last}");
    }
}

/// A column that could not be null and now can: DataFusion fails where a schema says otherwise.
#[tokio::test]
async fn what_was_computed_may_be_null_also_in_a_union() {
    is("SELECT n FROM t WHERE id = 3 UNION ALL SELECT n / 0 FROM t WHERE id = 3 UNION ALL SELECT n - 1 FROM t WHERE id = 3", &[
        &["-1"],
        &["-2"],
        &["-9223372036854775808"],
        &["∅"],
        &["∅"],
        &["∅"],
    ])
    .await;
    // A column that cannot be null is never asked whether it is; not all ways to the last plan tell anew which can.
    let union = "SELECT n AS m FROM t UNION ALL SELECT n / id FROM t";
    let plain = analyzed(&context(CUTS[0]), union).await;
    assert!(!plain.schema().field(0).is_nullable());
    assert!(make_total(plain).unwrap().schema().field(0).is_nullable());
    is(
        "SELECT count(*) FROM (SELECT n AS m FROM t WHERE id = 3 UNION ALL SELECT n / 0 FROM t WHERE id = 3) u WHERE m IS NULL",
        &[&["2"]],
    )
    .await;
    is("SELECT count(m) FROM (SELECT n * 2 AS m FROM t) WHERE m IS NOT NULL", &[&["6"]]).await;
}

#[tokio::test]
async fn subqueries_of_every_kind() {
    is("SELECT count(*) FROM t WHERE id IN (SELECT CAST(s AS BIGINT) - 6 FROM p)", &[&["6"]]).await;
    is(
        "SELECT count(*) FROM t WHERE EXISTS (SELECT 1 FROM p WHERE p.id = t.id AND p.n / p.n = 1)",
        &[&["8"]],
    )
    .await;
    is(
        "SELECT id, n, (SELECT sum(p.f) FROM p WHERE p.id = t.id) FROM t WHERE id = 2",
        &[&["2", "-5", "1.0"], &["2", "0", "1.0"], &["2", "5", "1.0"]],
    )
    .await;
    is("SELECT count(*) FROM t WHERE n > (SELECT avg(n) FROM p)", &[&["3"]]).await;
    is("WITH a AS (SELECT id, max(f) AS m FROM t GROUP BY id) SELECT count(*) FROM a JOIN p ON a.id = p.id AND a.m = p.f", &[
        &["4"],
    ])
    .await;
}

#[tokio::test]
async fn names_and_types_stay() {
    let context = context(CUTS[0]);
    for sql in [
        "SELECT id + n, f / 2, CAST(s AS INT), sum(f) OVER_IT FROM t GROUP BY id + n, f / 2, CAST(s AS INT)",
        "SELECT round(CAST(f AS DECIMAL(10, 4)), 1) = 1.5, coalesce(s, 'x'), upper(s) || 'a' FROM t",
        "SELECT id, avg(n), sum(n), var(f), count(DISTINCT s), min(s) FROM t GROUP BY id",
        "SELECT t.id, p.f FROM t LEFT JOIN p USING (id) WHERE t.f BETWEEN 0 AND p.n",
    ] {
        let plain = analyzed(&context, sql).await;
        let total = make_total(plain.clone()).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let fields = |plan: &datafusion::logical_expr::LogicalPlan| -> Vec<(String, DataType)> {
            plan.schema()
                .iter()
                .map(|(qualifier, field)| {
                    (format!("{qualifier:?}.{}", field.name()), field.data_type().clone())
                })
                .collect()
        };
        assert_eq!(fields(&plain), fields(&total), "{sql}");
        // Made total again it is the same, and the optimizer's last plan stays total.
        make_total(total).unwrap_or_else(|error| panic!("{sql}: {error}"));
        last_plan(&context, sql).await;
    }
}

/// A type that could be compared but not be a key would fail after the charge.
#[tokio::test]
async fn every_plain_type_is_a_key() {
    let table = super::hostile::table();
    let context = tables(&[("t", &table), ("p", &table)], CUTS[2]);
    for field in table.schema().fields() {
        let column = field.name();
        for sql in [
            format!("SELECT {column}, count(*) FROM t GROUP BY {column}"),
            format!("SELECT count(DISTINCT {column}), min({column}), max({column}) FROM t"),
            format!("SELECT bx, min({column}), max({column}), count(DISTINCT {column}) FROM t GROUP BY bx"),
            format!(
                "SELECT count(*) FROM (SELECT DISTINCT {column} FROM t) a JOIN p ON a.{column} = p.{column}"
            ),
            format!("SELECT {column} FROM t ORDER BY {column} LIMIT 3"),
            format!("SELECT {column} FROM t WHERE {column} > (SELECT min(p.{column}) FROM p)"),
            format!("SELECT {column} FROM t EXCEPT SELECT {column} FROM p"),
        ] {
            rows(&context, &sql).await;
        }
    }
}

/// Where nothing overflows and no order shows, exact aggregates are those of plain DataFusion.
#[tokio::test]
async fn exact_aggregates_are_the_plain_ones_of_harmless_values() {
    let rows_of = 1000i64;
    let whole =
        Int64Array::from_iter((0..rows_of).map(|row| (row % 11 != 0).then_some(row * row % 997 - 400)));
    let keys = Int64Array::from_iter_values((0..rows_of).map(|row| row % 7));
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("k", Arc::new(keys) as arrow::array::ArrayRef, true),
        ("n", Arc::new(whole), true),
    ])
    .unwrap();
    for cut in CUTS {
        let context = tables(&[("t", &batch)], cut);
        for sql in [
            "SELECT k, sum(n), avg(n), sum(n / 4.0) FROM t GROUP BY k",
            "SELECT sum(CAST(n AS INT)) FROM t",
            "SELECT k, sum(CAST(n AS DECIMAL(12, 3))), avg(CAST(n AS DECIMAL(12, 3))) FROM t WHERE n <> 5 GROUP BY k",
            "SELECT sum(CAST(n AS DECIMAL(38, 3))), sum(CAST(n + 400 AS BIGINT UNSIGNED)) FROM t",
            "SELECT sum(n), avg(n) FROM t",
            "SELECT k, round(var(n), 6), round(var_pop(n), 6), round(stddev(n), 6), round(stddev_pop(n), 6) FROM t GROUP BY k",
        ] {
            let plain = context.state().optimize(&analyzed(&context, sql).await).unwrap();
            let plain = super::whole::execute(&context, &plain).await.unwrap();
            assert_eq!(rows(&context, sql).await, plain, "{sql}, {cut:?}");
        }
    }
}

/// The assertion on the last plan is not empty: plans that were never made total do not pass.
#[tokio::test]
async fn a_plain_plan_does_not_pass_the_check() {
    let context = context(CUTS[0]);
    for (sql, what) in [
        ("SELECT id / n FROM t", "operator /"),
        ("SELECT CAST(s AS INT) FROM t", "CAST from Utf8 to Int32"),
        ("SELECT abs(n) FROM t", "function abs"),
        ("SELECT id FROM t WHERE s LIKE 'a%'", "LIKE"),
        ("SELECT sum(n) FROM t", "aggregate sum"),
        ("SELECT f FROM t", "the plan"),
        ("SELECT id FROM t WHERE f > 1", "the plan"),
        ("SELECT count(*) FROM t GROUP BY f", "the plan"),
        ("SELECT t.id FROM t JOIN p ON t.f = p.f", "the plan"),
        ("SELECT DISTINCT f FROM t", "the plan"),
        ("SELECT count(*) FROM (SELECT DISTINCT f FROM t)", "the plan"),
        ("SELECT id FROM (SELECT id, f FROM t UNION ALL SELECT id, f FROM p) u WHERE f > 1", "the plan"),
        ("SELECT id FROM t ORDER BY f", "the plan"),
        ("SELECT id FROM t WHERE EXISTS (SELECT 1 FROM p WHERE p.id = t.id AND p.f > 1)", "the plan"),
    ] {
        let plain = analyzed(&context, sql).await;
        let last = context.state().optimize(&plain).unwrap();
        for plan in [plain, last] {
            let error = check(&plan).expect_err(sql);
            assert!(error.what.contains(what), "{sql}: {error}");
        }
    }
}

#[tokio::test]
async fn refusals_are_one_line_with_what_why_and_a_rewrite() {
    let context = context(CUTS[0]);
    let mut said = String::new();
    for sql in REFUSED {
        let line = refused(&context, sql).await;
        assert!(!line.contains('\n') && line.len() < 260, "{line}");
        writeln!(said, "{sql}\n    {line}").unwrap();
    }
    if std::env::var_os("EQUIPOISE_WRITE_DOCS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/refusals.txt"), &said).unwrap();
        return;
    }
    let wanted = include_str!("refusals.txt");
    assert!(said == wanted, "EQUIPOISE_WRITE_DOCS=1 writes refusals.txt:\n{said}");
}

const REFUSED: [&str; 33] = [
    "SELECT now() FROM t",
    "SELECT current_date FROM t",
    "SELECT random() FROM t",
    "SELECT uuid() FROM t",
    "SELECT isnan(f) FROM t",
    "SELECT levenshtein(s, s) FROM t",
    "SELECT arrow_cast(n, 'Int8') FROM t",
    "SELECT version() FROM t",
    "SELECT lpad(s, n) FROM t",
    "SELECT lpad(s, 100000) FROM t",
    "SELECT repeat(s, n) FROM t",
    "SELECT repeat(s, 1000000) FROM t",
    "SELECT s LIKE s FROM t",
    "SELECT s ~ s FROM t",
    "SELECT regexp_like(s, s) FROM t",
    "SELECT regexp_like(s, '(') FROM t",
    "SELECT date_trunc('fortnight', CAST(s AS TIMESTAMP)) FROM t",
    "SELECT date_trunc(s, CAST(s AS TIMESTAMP)) FROM t",
    "SELECT s SIMILAR TO 'a' FROM t",
    "SELECT first_value(n) FROM t",
    "SELECT array_agg(n) FROM t",
    "SELECT string_agg(s, ',') FROM t",
    "SELECT approx_distinct(n) FROM t",
    "SELECT median(n) FROM t",
    "SELECT corr(f, f) FROM t",
    "SELECT sum(DISTINCT n) FROM t",
    "SELECT sum(n) OVER () FROM t",
    "SELECT DISTINCT ON (id) id, n FROM t",
    "SELECT id FROM t GROUP BY ROLLUP (id)",
    "SELECT (SELECT n FROM p) FROM t",
    "SELECT id FROM t WHERE n > ALL (SELECT n FROM p)",
    "SELECT count(*) FROM t GROUP BY list",
    "SELECT DISTINCT list FROM t",
];
