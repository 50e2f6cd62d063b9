//! Computed columns between a request and a source.

use super::*;
use crate::{plan::Plan, rows::Rows};

/// Three columns of a file of text, or with a schema.
fn facts(kinds: &[Option<ColumnType>]) -> DataFacts {
    let columns = ["left", "arrived", "day", "a - b"].map(String::from).to_vec();
    DataFacts { name: "flights".into(), columns, registered: None, kinds: kinds.to_vec(), windows: None }
}

fn asked(statistic: &str, column: Option<&str>, group_by: &[&str]) -> Request {
    Request {
        column: column.map(str::to_string),
        group_by: group_by.iter().map(ToString::to_string).collect(),
        epsilon: Some("1".into()),
        delta: Some("1e-6".into()),
        ..Request::new(statistic)
    }
}

fn planned(request: &Request, kinds: &[Option<ColumnType>]) -> Result<Plan, PlanError> {
    Plan::new(request, &facts(kinds))
}

/// What a plan reads of a file.
fn wanted(request: &Request, kinds: &[Option<ColumnType>]) -> Vec<(usize, ColumnType)> {
    let plan = planned(request, kinds).unwrap_or_else(|error| panic!("{error}"));
    plan.wanted().iter().map(|read| (read.column, read.kind)).collect()
}

#[test]
fn columns_are_read_by_their_types_or_their_use() {
    let median = |column: &str| asked("median", Some(column), &[]);
    assert_eq!(wanted(&median("arrived - left"), &[]), [(0, ColumnType::Float), (1, ColumnType::Float)]);
    let whole = [Some(ColumnType::Integer), Some(ColumnType::Integer), Some(ColumnType::Date), None];
    assert_eq!(
        wanted(&median("arrived - left"), &whole),
        [(0, ColumnType::Integer), (1, ColumnType::Integer)]
    );
    assert_eq!(wanted(&median("a - b"), &[]), [(3, ColumnType::Float)], "a column of that name comes first");
    assert_eq!(wanted(&median("`a - b`"), &[]), [(3, ColumnType::Float)]);
    assert_eq!(wanted(&median("\"left\""), &[]), [(0, ColumnType::Float)]);
    let keys = asked("count", None, &["month(day), date_trunc('year', day)", "left"]);
    assert_eq!(wanted(&keys, &whole), [(0, ColumnType::Text), (2, ColumnType::Date)]);
    assert_eq!(wanted(&keys, &[]), [(0, ColumnType::Text), (2, ColumnType::Timestamp)]);
    assert_eq!(wanted(&asked("histogram", Some("month(day)"), &[]), &whole), [(2, ColumnType::Date)]);
    let summary = planned(&keys, &whole).unwrap().summary();
    assert_eq!(summary.group_by, ["month(day)", "date_trunc('year', day)", "left"]);
    let days = planned(&median("day + 1"), &whole).unwrap().summary();
    assert_eq!((days.column.as_deref(), days.value_type.as_deref()), (Some("day + 1"), Some("date")));
}

#[test]
fn what_cannot_be_computed_is_one_line_before_the_charge() {
    let kinds = [Some(ColumnType::Integer), Some(ColumnType::Text), Some(ColumnType::Date), None];
    for (request, line) in [
        (
            asked("median", Some("arrived - left"), &[]),
            "`column`: arrived is of the type text, with which - does not compute; write cast(arrived as float), or || to join texts",
        ),
        (
            asked("median", Some("lower(arrived)"), &[]),
            "median of a text has no meaning, and 'lower(arrived)' is one; ask for mode, histogram or select",
        ),
        (
            asked("median", Some("left +"), &[]),
            "`column`: the expression ends where a column or a constant is expected",
        ),
        (asked("median", Some("1 + 1"), &[]), "'1 + 1' names no column; name one, as in \"pay / 12\""),
        (
            asked("median", Some("lefd"), &[]),
            "no column is called 'lefd'; did you mean 'left'? There are: left, arrived, day, a - b",
        ),
        (
            asked("median", Some("a-b"), &[]),
            "no column is called 'a-b'; did you mean 'a - b'? There are: left, arrived, day, a - b",
        ),
        (
            asked("median", Some("abs(lefd)"), &[]),
            "`column`: no column is called 'lefd'; did you mean 'left'? There are: left, arrived, day, a - b; text stands between single quotes, 'like this'",
        ),
        (
            asked("count", None, &["month(day", "left"]),
            "`group_by`: the expression ends where ')' is expected",
        ),
        (asked("count", None, &["month(day), month(day)"]), "'month(day)' is grouped by twice; name it once"),
        (
            asked("sum", Some("day + 1"), &[]),
            "sum of a date has no meaning, and 'day + 1' is one; ask for median, quantile, iqr, mode, histogram or select",
        ),
        (
            Request { unit: Some("abs(left)".into()), ..asked("median", Some("abs(left)"), &[]) },
            "`unit`: no column is called 'abs(left)'. There are: left, arrived, day, a - b",
        ),
        (
            Request {
                types: [("abs(left)".to_string(), "integer".to_string())].into(),
                ..asked("median", Some("abs(left)"), &[])
            },
            "`types`: no column is called 'abs(left)'. There are: left, arrived, day, a - b",
        ),
    ] {
        let error = planned(&request, &kinds).expect_err("refused");
        assert_eq!(error.to_string(), line);
    }
    let error = planned(&asked("median", Some("left + * 2"), &[]), &kinds).unwrap_err();
    assert_eq!(error.position(), Some((1, 8)));
}

/// Rows in memory, one batch of all that is wanted.
struct Flights;

const LEFT: [Option<i64>; 4] = [Some(10), Some(20), None, Some(i64::MAX)];
const ARRIVED: [Option<&str>; 4] = [Some("Rome"), Some("rome"), None, Some("Ayr")];

impl Source for Flights {
    fn columns(&self) -> &[String] {
        &[]
    }

    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let floats = LEFT.map(|value| value.map_or(f64::NAN, |value| value as f64));
        let cells: Vec<Cells<'_>> = wanted
            .iter()
            .map(|read| match read.kind {
                ColumnType::Text => Cells::Texts(&ARRIVED),
                ColumnType::Float => Cells::Floats(&floats),
                _ => Cells::Integers(&LEFT),
            })
            .collect();
        visitors[0].batch(Batch { rows: 4, cells: &cells });
        Ok(())
    }
}

struct Seen(Vec<Vec<String>>);

impl Visitor for Seen {
    fn batch(&mut self, batch: Batch<'_>) {
        let cell = |cells: &Cells<'_>, row: usize| match cells {
            Cells::Floats(values) => values[row].to_string(),
            Cells::Integers(values) => format!("{:?}", values[row]),
            texts => format!("{:?}", crate::rows::text_at(texts, row)),
        };
        let column = |cells| (0..batch.rows).map(|row| cell(cells, row)).collect();
        self.0.extend(batch.cells.iter().map(column));
    }
}

/// The cells of these kinds of the first computed column, and of the column `left` of the file.
fn cells(column: &str, kind: ColumnType) -> Vec<Vec<String>> {
    let facts = facts(&[Some(ColumnType::Integer), Some(ColumnType::Text), Some(ColumnType::Date), None]);
    let request = asked("mode", Some(column), &[]);
    let (derived, extended) = Derived::plan([&request], &facts).unwrap();
    assert_eq!(extended.columns.len(), 5);
    let rows = Rows::default().with_derived(derived);
    let wanted = [ColumnRead { column: 4, kind }, ColumnRead { column: 0, kind: ColumnType::Integer }];
    let mut seen = Seen(Vec::new());
    rows.derived().scan(&Flights, &wanted, &mut [&mut seen]).unwrap();
    seen.0
}

#[test]
fn computed_cells_stand_beside_those_of_the_file_in_any_kind() {
    let left = LEFT.map(|value| format!("{value:?}")).to_vec();
    for (column, kind, values) in [
        ("left + 1", ColumnType::Integer, ["Some(11)", "Some(21)", "None", "None"]),
        ("left + 1", ColumnType::Float, ["11", "21", "NaN", "NaN"]),
        ("left + 1", ColumnType::Text, ["Some(\"11\")", "Some(\"21\")", "None", "None"]),
        ("left / 4", ColumnType::Decimal { digits: 1 }, ["Some(25)", "Some(50)", "None", "None"]),
        ("left / 4", ColumnType::Float, ["2.5", "5", "NaN", "2305843009213694000"]),
        ("lower(arrived)", ColumnType::Text, ["Some(\"rome\")", "Some(\"rome\")", "None", "Some(\"ayr\")"]),
        ("left > 15", ColumnType::Text, ["Some(\"false\")", "Some(\"true\")", "None", "Some(\"true\")"]),
        ("left > 15", ColumnType::Boolean, ["Some(0)", "Some(1)", "None", "Some(1)"]),
        ("substr(arrived, 5)", ColumnType::Text, ["None", "None", "None", "None"]),
    ] {
        let found = cells(column, kind);
        assert_eq!(found, [values.map(String::from).to_vec(), left.clone()], "{column} as {kind}");
    }
}

/// Of two columns of one name none is guessed at, nor is the name computed where it reads as an expression.
#[test]
fn a_name_that_two_columns_have_is_not_computed() {
    for name in ["left - 1", "1", "left"] {
        let columns = vec![name.to_string(), "left".into(), name.to_string()];
        let facts =
            DataFacts { name: "flights".into(), columns, registered: None, kinds: Vec::new(), windows: None };
        let error = Plan::new(&asked("median", Some(name), &[]), &facts).unwrap_err().to_string();
        assert!(error.contains(&format!("more than one column is called '{name}'")), "{error}");
    }
}
