//! Our values beside DuckDB's, row by row, for the expressions that both know. `tests/python/duckdb_expressions.py` wrote what DuckDB says.
//!
//! Where DuckDB fails on a row, and where its value is infinite, not a number or an empty text, ours is null: that is what total means. All
//! other differences are listed with their reason.

use equipoise_expression::{
    Expression, Input, Known, Output, Program, Type,
    field::{calendar, number},
};
use std::collections::BTreeMap;

const COLUMNS: [(&str, Type); 6] = [
    ("f", Type::Float),
    ("i", Type::Integer),
    ("b", Type::Boolean),
    ("t", Type::Text),
    ("d", Type::Date),
    ("m", Type::Timestamp),
];

/// Expressions whose values differ, in which rows, and why.
const DIFFERENT: [(&str, &[usize], &str); 5] = [
    (
        "cast(f as integer)",
        &[0, 1, 9],
        "halves go away from zero, as with round; DuckDB's go to the even number",
    ),
    ("cast(t as integer)", &[6], "-1.5e3 is a number, but not written as a whole one"),
    ("upper(t)", &[4], "a sharp s is SS in large letters; DuckDB has one letter for one"),
    ("d + 1", &[4], "the year 10000 has a sign here, as it must in ISO 8601"),
    ("d - 30", &[5], "the year before 1 is 0 here, and 1 (BC) there"),
];

struct Table {
    reals: Vec<f64>,
    as_reals: Vec<f64>,
    wholes: BTreeMap<&'static str, Vec<Option<i64>>>,
    moments_of_days: Vec<Option<i64>>,
    texts: Vec<Option<String>>,
}

fn whole(kind: Type, text: &str) -> Option<i64> {
    match kind {
        Type::Date => calendar::date(text.as_bytes()),
        Type::Timestamp => calendar::timestamp(text.as_bytes()),
        _ => number::integer(text.as_bytes()),
    }
}

impl Table {
    fn read(lines: &[Vec<&str>]) -> Self {
        let column = |name: &str| {
            &lines.iter().find(|line| line[0] == format!("column {name}")).expect("a column")[1..]
        };
        let wholes: BTreeMap<&'static str, Vec<Option<i64>>> = COLUMNS
            .into_iter()
            .map(|(name, kind)| (name, column(name).iter().map(|text| whole(kind, text)).collect()))
            .collect();
        let texts =
            column("t").iter().map(|text| Some((*text).to_string()).filter(|text| text != "null")).collect();
        Self {
            reals: column("f").iter().map(|text| number::float(text.as_bytes())).collect(),
            as_reals: wholes["i"].iter().map(|value| value.map_or(f64::NAN, |value| value as f64)).collect(),
            moments_of_days: wholes["d"].iter().map(|day| Some((*day)? * 86_400_000_000)).collect(),
            wholes,
            texts,
        }
    }

    fn values(&self, program: &Program) -> Vec<String> {
        let texts: Vec<Option<&str>> = self.texts.iter().map(Option::as_deref).collect();
        let inputs: Vec<Input<'_>> = program
            .reads()
            .iter()
            .map(|&(place, kind)| match (COLUMNS[place].0, kind) {
                ("i", Type::Float) => Input::Real(&self.as_reals),
                ("d", Type::Timestamp) => Input::Whole(&self.moments_of_days),
                ("f", _) => Input::Real(&self.reals),
                ("t", _) => Input::Text(&texts),
                (name, _) => Input::Whole(&self.wholes[name]),
            })
            .collect();
        let text = |value: Option<String>| value.unwrap_or_else(|| "null".to_string());
        match program.run(&inputs, self.reals.len(), program.kind()) {
            Output::Real(values) => {
                values.iter().map(|value| text((!value.is_nan()).then(|| format!("{value:?}")))).collect()
            }
            Output::Whole(values) => {
                values.iter().map(|value| text(value.map(|value| value.to_string()))).collect()
            }
            Output::Text(texts) => {
                texts.iter().map(|one| text(one.as_ref().map(ToString::to_string))).collect()
            }
            Output::Coded { texts, codes } => {
                codes.iter().map(|code| text(code.map(|code| texts[code as usize].to_string()))).collect()
            }
        }
    }
}

fn alike(kind: Type, ours: &str, theirs: &str) -> bool {
    match kind {
        _ if theirs == "error" || theirs == "null" || ours == "null" => {
            ours == "null" && matches!(theirs, "error" | "null")
        }
        Type::Float => {
            let (ours, theirs) = (number::float(ours.as_bytes()), number::float(theirs.as_bytes()));
            (ours - theirs).abs() <= 1e-14 * theirs.abs()
        }
        Type::Date | Type::Timestamp => {
            // A day of ours may be the midnight that a moment of theirs is.
            let theirs = calendar::timestamp(theirs.as_bytes());
            let unit = if kind == Type::Date { 86_400_000_000 } else { 1 };
            ours.parse::<i64>().ok().map(|ours| ours * unit) == theirs
        }
        Type::Text => ours == theirs,
        // Whole numbers of theirs may have a point where ours have none.
        _ => ours == theirs || number::integer(ours.as_bytes()) == number::integer(theirs.as_bytes()),
    }
}

#[test]
fn values_are_those_of_duckdb_but_for_what_is_listed() {
    let lines: Vec<Vec<&str>> =
        include_str!("duckdb.tsv").lines().map(|line| line.split('\t').collect()).collect();
    let table = Table::read(&lines);
    let lookup = |name: &str| {
        let place = COLUMNS.iter().position(|(known, _)| *known == name)?;
        Some(Known { place, kind: Some(COLUMNS[place].1), by_schema: true })
    };
    let (mut compared, mut different) = (0, Vec::new());
    for line in lines.iter().filter(|line| !line[0].starts_with("column ")) {
        let program = Expression::parse(line[0])
            .and_then(|expression| Program::bind(&expression, &lookup, None))
            .unwrap_or_else(|error| panic!("{}: {error}", line[0]));
        let ours = table.values(&program);
        let listed =
            DIFFERENT.iter().find(|(text, ..)| *text == line[0]).map_or(&[] as &[usize], |listed| listed.1);
        for (row, (ours, theirs)) in ours.iter().zip(&line[1..]).enumerate() {
            if alike(program.kind(), ours, theirs) == listed.contains(&row) {
                different.push(format!("{} in row {row}: {ours} beside {theirs}", line[0]));
            }
        }
        compared += 1;
    }
    assert!(compared >= 150, "{compared} expressions");
    assert!(different.is_empty(), "{different:#?}");
}
