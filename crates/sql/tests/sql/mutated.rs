//! Queries that are changed at random: nothing panics, and whatever is wrong is one line.

use crate::support::People;
use equipoise_session::request::Request;
use equipoise_sql_front::Query;
use std::{fs, path::Path};

/// Numbers that look random and are the same in every run.
struct Words(u64);

impl Words {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

/// All queries of the files, those that are accepted and those that are not.
fn queries() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queries");
    let mut queries = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let cases = text.split("\n\n").filter_map(|case| case.split_once("\n----"));
        queries.extend(cases.filter_map(|(head, _)| Some(head.split_once('\n')?.1.to_string())));
    }
    queries.sort();
    assert!(queries.len() > 200);
    queries
}

const PIECES: [&str; 40] = [
    "(",
    ")",
    ",",
    "'",
    "\"",
    "`",
    "--",
    "/*",
    "*/",
    ";",
    ".",
    "=",
    "=>",
    "[",
    "]",
    "*",
    "%",
    "||",
    "::",
    " SELECT ",
    " FROM ",
    " WHERE ",
    " GROUP BY ",
    " HAVING ",
    " ORDER BY ",
    " LIMIT ",
    " AS ",
    " CASE ",
    " WHEN ",
    " END ",
    " AND ",
    " NOT ",
    " IN ",
    " BETWEEN ",
    " COUNT(",
    " AVG(",
    " DP_INTERVAL_LOW(",
    " 1e999 ",
    " é\u{202e} ",
    "\n",
];

fn mutate(query: &str, others: &[String], words: &mut Words) -> String {
    let mut characters: Vec<char> = query.chars().collect();
    for _ in 0..=words.below(3) {
        let (from, length) = (words.below(characters.len() + 1), words.below(12));
        let to = (from + length).min(characters.len());
        match words.below(5) {
            0 => drop(characters.drain(from..to)),
            1 => {
                let piece: Vec<char> = PIECES[words.below(PIECES.len())].chars().collect();
                characters.splice(from..from, piece);
            }
            2 => {
                let copy = characters[from..to].to_vec();
                let at = words.below(characters.len() + 1);
                characters.splice(at..at, copy);
            }
            3 => {
                let other: Vec<char> = others[words.below(others.len())].chars().collect();
                let start = words.below(other.len());
                let piece = other[start..(start + 20).min(other.len())].to_vec();
                characters.splice(from..to, piece);
            }
            _ => characters.truncate(to.max(1)),
        }
    }
    characters.into_iter().collect()
}

#[test]
fn no_query_panics_and_whatever_is_wrong_is_one_line() {
    let (queries, mut words) = (queries(), Words(25));
    let (epsilon, delta) = (Some("1".into()), Some("1e-6".into()));
    let given = Request { epsilon, delta, ..Request::default() };
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..20_000 {
        let text = mutate(&queries[round % queries.len()], &queries, &mut words);
        let planned = Query::read(&text, &given).and_then(|query| query.plan(&People::facts()));
        match planned {
            Ok(_) => accepted += 1,
            Err(error) => {
                let line = error.to_string();
                assert!(!line.is_empty() && !line.chars().any(char::is_control), "{text:?}: {line:?}");
                assert!(!line.contains('\u{202e}'), "{text:?}: {line:?}");
                if let Some((line, column)) = error.position() {
                    let lines: Vec<&str> = text.split('\n').collect();
                    assert!(line >= 1 && line <= lines.len(), "{text:?}");
                    assert!(column >= 1 && column <= lines[line - 1].chars().count() + 1, "{text:?}");
                }
                refused += 1;
            }
        }
    }
    assert!(accepted > 200 && refused > 5_000, "{accepted} accepted, {refused} refused: too few of a kind");
}

/// What is nested or repeated without end ends in one line, and soon.
#[test]
fn nothing_grows_without_bound() {
    let many = |piece: &str| piece.repeat(20_000);
    for text in [
        format!("SELECT {}COUNT(*) FROM people", many("(")),
        format!("SELECT {}COUNT(*){} FROM people", "(".repeat(500), ")".repeat(500)),
        format!("SELECT {}COUNT(*) FROM people", many("-")),
        format!("SELECT {}COUNT(*) FROM people", many("NOT ")),
        format!("SELECT {}1 FROM people", many("CASE WHEN ")),
        format!("SELECT COUNT(*){} FROM people", many(" + 1")),
        format!("SELECT COUNT(*){} FROM people", " BETWEEN 1 AND 2".repeat(3_000)),
        format!("SELECT COUNT(*){} FROM people", many(", 1")),
        format!("SELECT COUNT(*) FROM people WHERE {}age > 1", many("(")),
        format!("SELECT COUNT(*) FROM people WHERE age = 1{}", " OR age = 1".repeat(5_000)),
        format!(
            "SELECT {} FROM people",
            (0..200).map(|n| format!("COUNT(age + {n})")).collect::<Vec<_>>().join(", ")
        ),
        format!("SELECT COUNT(*) FROM people GROUP BY {}age", many("age, ")),
        format!("SELECT COUNT(*) FROM people ORDER BY {}1", many("1, ")),
        format!("SELECT COUNT(*) FROM people{}", many(" a")),
        "x".repeat(200_000),
    ] {
        let given = Request { epsilon: Some("1".into()), ..Request::default() };
        if let Err(error) = Query::read(&text, &given).and_then(|query| query.plan(&People::facts())) {
            assert!(error.to_string().len() < 2_000, "{error}");
        }
    }
}
