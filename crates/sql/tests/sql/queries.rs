//! Queries in files, with what comes of them: errors and plans word for word, rows near the truth at a large epsilon.
//!
//! A case is a line `error`, `plan` or `rows`, a query, a line `----`, and what is expected up to an empty line. In rows, `~1200` is any
//! number within two percent of 1200 or within 2 of it. `EQUIPOISE_WRITE_DOCS=1` writes what errors and plans say anew, to be read before
//! it is committed.

use crate::support::People;
use equipoise_session::{
    ledger::Ledger,
    plan::{DataFacts, Plan},
    request::Request,
    session::{Paid, Session},
};
use equipoise_sql_front::{Query, Rows};
use serde_json::Value;
use std::{env, fs, path::Path};

/// What is said beside the query where it says no price itself.
fn given() -> Request {
    Request { epsilon: Some("500".into()), delta: Some("1e-6".into()), ..Request::default() }
}

fn facts() -> DataFacts {
    People::facts()
}

fn planned(text: &str, given: &Request) -> Result<(Query, Plan), String> {
    let query = Query::read(text, given).map_err(|error| error.to_string())?;
    let plan = query.plan(&facts()).map_err(|error| error.to_string())?;
    Ok((query, plan))
}

/// A plan as lines: each question, which rows take part, what is charged, and the columns of the answer.
fn plan_lines(query: &Query, plan: &Plan) -> Vec<String> {
    let summary = plan.summary();
    let mut lines = vec![format!("table {}", query.table().name)];
    for (part, question) in plan.parts().iter().zip(&summary.questions) {
        let request = part.request();
        let of = question.column.as_ref().map_or(String::new(), |column| format!(" of {column}"));
        let by = if question.group_by.is_empty() {
            String::new()
        } else {
            format!(" by {}", question.group_by.join(", "))
        };
        let with =
            |name: &str, text: Option<&str>| text.map_or(String::new(), |text| format!(" {name} {text}"));
        let interval = if request.interval == Some(true) { " with an interval" } else { "" };
        lines.push(format!(
            "{}{of}{by}{}{}{}{interval}",
            question.statistic,
            with("at", request.fraction.as_deref()),
            with("limited to", request.range.as_deref()),
            with("and", request.range_y.as_deref())
        ));
    }
    if plan.has_one_selection() {
        lines.push("keys found once".to_string());
    }
    if !plan.request().keys.is_empty() {
        lines.push(format!("keys {}", plan.request().keys.join(", ")));
    }
    lines.extend(summary.filter.map(|filter| format!("where {filter}")));
    lines.extend(summary.rows.map(|rows| format!("rows {rows}")));
    lines.push(format!(
        "charge {} {} for one {}",
        summary.charge.epsilon, summary.charge.delta, summary.guarantee.unit
    ));
    lines.push(format!("columns {}", query.column_names().join(" | ")));
    lines
}

fn answered(text: &str) -> Result<Rows, String> {
    let (query, plan) = planned(text, &given())?;
    let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
    let Paid::Charged(charged) = session.charge(plan, None).map_err(|error| error.to_string())? else {
        panic!("no request id was given")
    };
    let release = session.run(*charged, &People::table()).map_err(|error| error.to_string())?;
    Ok(query.rows(&release))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Is a value what is expected of it?
fn is_near(value: &Value, expected: &str) -> bool {
    let Some(expected) = expected.strip_prefix('~') else { return shown(value) == expected };
    let number = |text: &str| text.parse::<f64>().ok();
    match (number(&shown(value)), number(expected)) {
        (Some(value), Some(expected)) => (value - expected).abs() <= (0.02 * expected.abs()).max(2.0),
        _ => match value {
            Value::Array(values) => {
                let expected: Vec<&str> =
                    expected.trim_matches(['[', ']']).split(',').map(str::trim).collect();
                values.len() == expected.len()
                    && values
                        .iter()
                        .zip(expected)
                        .all(|(value, expected)| is_near(value, &format!("~{expected}")))
            }
            _ => false,
        },
    }
}

/// One case of a file.
struct Case {
    kind: String,
    query: String,
    expected: Vec<String>,
    line: usize,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with("# ")).peekable();
    while let Some((number, kind)) = lines.next() {
        if kind.trim().is_empty() {
            continue;
        }
        let mut query = Vec::new();
        for (_, line) in lines.by_ref() {
            if line == "----" {
                break;
            }
            query.push(line);
        }
        let mut expected = Vec::new();
        for (_, line) in lines.by_ref() {
            if line.is_empty() {
                break;
            }
            expected.push(line.to_string());
        }
        cases.push(Case { kind: kind.to_string(), query: query.join("\n"), expected, line: number + 1 });
    }
    cases
}

/// What an error or a plan says, in lines.
fn told(case: &Case) -> Vec<String> {
    // Queries of plans and errors say all of it themselves.
    match (planned(&case.query, &Request::default()), case.kind.as_str()) {
        (Ok((query, plan)), "plan") => plan_lines(&query, &plan),
        (Err(error), "error") => vec![error],
        (Ok(_), _) => vec!["it is accepted".to_string()],
        (Err(error), _) => vec![format!("error: {error}")],
    }
}

#[test]
fn every_query_is_answered_planned_or_refused_as_its_file_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queries");
    let write = env::var_os("EQUIPOISE_WRITE_DOCS").is_some();
    let (mut many, mut wrong) = (0, Vec::new());
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut rewritten = text.clone();
        for case in cases(&text) {
            many += 1;
            if case.kind != "rows" {
                let told = told(&case);
                assert!(told.iter().all(|line| !line.contains('\n')), "{name}:{}: {told:?}", case.line);
                if told != case.expected {
                    let from = format!("{}\n----\n{}", case.query, case.expected.join("\n"));
                    rewritten =
                        rewritten.replace(&from, &format!("{}\n----\n{}", case.query, told.join("\n")));
                    wrong.push(format!("{name}:{}: {}\n{}", case.line, case.query, told.join("\n")));
                }
                continue;
            }
            let rows = match answered(&case.query) {
                Ok(rows) => rows,
                Err(error) => {
                    wrong.push(format!("{name}:{}: {}\n{error}", case.line, case.query));
                    continue;
                }
            };
            let near = rows.rows.len() == case.expected.len()
                && rows.rows.iter().zip(&case.expected).all(|(row, expected)| {
                    let expected: Vec<&str> = expected.split('|').map(str::trim).collect();
                    row.len() == expected.len()
                        && row.iter().zip(expected).all(|(cell, expected)| is_near(&cell.value, expected))
                });
            if !near {
                let line = |row: &Vec<equipoise_sql_front::Cell>| {
                    row.iter().map(|cell| shown(&cell.value)).collect::<Vec<_>>().join(" | ")
                };
                let lines: Vec<String> = rows.rows.iter().map(line).collect();
                let (lines, advice) = (lines.join("\n"), rows.advice.join("; "));
                wrong.push(format!("{name}:{}: {}\n{lines}\n{advice}", case.line, case.query));
            }
        }
        if write && rewritten != text {
            fs::write(&path, rewritten).unwrap();
        }
    }
    assert!(many >= 200, "{many} cases");
    assert!(
        wrong.is_empty(),
        "{} of {many} cases are not as expected:\n\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}
