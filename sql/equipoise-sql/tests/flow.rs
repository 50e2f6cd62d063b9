//! The whole flow, as a user has it: planned for free, charged to every private table at once, answered, recorded. What fails after the charge is
//! one fixed line.

use serde_json::Value;
use std::{
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Output},
};
use tempfile::TempDir;

const PEOPLE: usize = 3000;

/// 3000 people in three towns of two countries, with two visits each, one cheap and one dear; one visit is nobody's.
fn database() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut people = String::from("person,town,salary\n");
    let mut visits = String::from("who,day,cost\n,2026-01-05,1000000\n");
    for person in 0..PEOPLE {
        writeln!(people, "{person},{},{}", ["Ayr", "Bern", "Cork"][person % 3], 1000 + person % 3 * 100)
            .unwrap();
        write!(visits, "{person},2026-01-05,10\n{person},2026-02-05,{}\n", 20 + person % 3 * 10).unwrap();
    }
    fs::write(folder.path().join("people.csv"), people).unwrap();
    fs::write(folder.path().join("visits.csv"), visits).unwrap();
    fs::write(folder.path().join("towns.csv"), "town,country\nAyr,X\nBern,X\nCork,Y\n").unwrap();
    folder
}

fn run(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise-sql"));
    command.args(words).current_dir(folder).env_remove("EQUIPOISE_LEDGER").output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The rows of an answer.
fn rows(folder: &Path, query: &str, more: &[&str]) -> Vec<Vec<Value>> {
    let words: Vec<&str> = ["sql", query, "--json"].iter().chain(more).copied().collect();
    let output = run(folder, &words);
    assert_eq!(output.status.code(), Some(0), "{query}: {}", said(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = answer["rows"].as_array().unwrap().iter();
    rows.map(|row| row.as_array().unwrap().clone()).collect()
}

fn near(value: &Value, truth: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - truth).abs() <= 0.03 * truth.abs() + 3.0)
}

const OPTIONS: &str = "OPTIONS(epsilon=200, delta=1e-6, privacy_unit_column=[people.person, visits.who], public_tables=[towns])";

#[test]
fn answers_are_near_the_truth_where_noise_is_small() {
    let folder = database();
    let query = |rest: &str| format!("SELECT WITH DIFFERENTIAL_PRIVACY {OPTIONS} {rest}");
    let joined = query(
        "t.country, COUNT(*) AS n, SUM(v.cost) AS s FROM 'people.csv' p JOIN 'visits.csv' v ON p.person = v.who \
         JOIN 'towns.csv' t ON t.town = p.town WHERE v.day >= '2026-02-01' GROUP BY t.country ORDER BY country",
    );
    let found = rows(folder.path(), &joined, &[]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0][0] == "X" && near(&found[0][1], 2000.0) && near(&found[0][2], 50_000.0), "{found:?}");
    assert!(found[1][0] == "Y" && near(&found[1][1], 1000.0) && near(&found[1][2], 40_000.0), "{found:?}");

    let aggregated = query(
        "AVG(x.c) AS c, COUNT(*) AS n FROM (SELECT who, SUM(cost) AS c FROM 'visits.csv' GROUP BY who) x \
         JOIN 'people.csv' p ON p.person = x.who JOIN 'towns.csv' t ON t.town = p.town WHERE t.country = 'X'",
    );
    let found = rows(folder.path(), &aggregated, &["--type", "cost=number"]);
    assert!(near(&found[0][0], 35.0) && near(&found[0][1], 2000.0), "{found:?}");

    let absent = query(
        "COUNT(*) AS n FROM 'people.csv' p WHERE NOT EXISTS (SELECT 1 FROM 'visits.csv' v WHERE v.who = p.person AND \
         CAST(v.cost AS INT) >= 40) AND p.town IN (SELECT town FROM 'towns.csv')",
    );
    let found = rows(folder.path(), &absent, &[]);
    assert!(near(&found[0][0], 2000.0), "{found:?}");

    // The unit under the name that its table has in FROM.
    let by_unit = query(
        "COUNT(p.person) AS n, COUNT(DISTINCT v.who) AS m FROM 'people.csv' p JOIN 'visits.csv' v ON p.person = v.who JOIN 'towns.csv' t ON t.town = p.town",
    );
    let words = ["sql", by_unit.as_str(), "--dry-run"];
    assert_eq!(run(folder.path(), &words).status.code(), Some(0), "{}", said(&run(folder.path(), &words)));
}

/// What was charged to each data set, by the log.
fn log(folder: &Path) -> String {
    let output = run(folder, &["budget", "log", "--ledger", "equipoise.ledger"]);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

const BOTH: &str = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, privacy_unit_column=[people.person, visits.who]) \
                    COUNT(*) FROM 'people.csv' p JOIN 'visits.csv' v ON p.person = v.who";

#[test]
fn every_private_table_pays_or_none_does() {
    let folder = database();
    let folder = folder.path();
    let set = |file: &str, unit: &str, epsilon: &str| {
        let output = run(folder, &["budget", "set", file, "--unit", unit, "--epsilon", epsilon]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    };
    set("people.csv", "person", "5");
    set("visits.csv", "who", "1.5");
    assert_eq!(run(folder, &["sql", BOTH]).status.code(), Some(0));
    let charged = |name: &str| {
        log(folder).lines().filter(|line| line.contains(name) && line.contains("charged")).count()
    };
    assert_eq!((charged("people.csv"), charged("visits.csv")), (1, 1), "{}", log(folder));
    // The second does not fit the smaller limit: nothing is charged to either.
    let output = run(folder, &["sql", BOTH]);
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(said(&output).contains("visits.csv"), "{}", said(&output));
    assert_eq!((charged("people.csv"), charged("visits.csv")), (1, 1), "{}", log(folder));
    assert_eq!(run(folder, &["budget", "verify", "--ledger", "equipoise.ledger"]).status.code(), Some(0));
}

#[test]
fn the_same_request_is_answered_once_and_another_relation_is_another_request() {
    let folder = database();
    let ask = |query: &str| run(folder.path(), &["sql", query, "--json", "--request-id", "a"]);
    let (first, again) = (ask(BOTH), ask(BOTH));
    assert_eq!((first.status.code(), &first.stdout), (Some(0), &again.stdout), "{}", said(&again));
    let and = |more: &str| BOTH.replace("p.person = v.who", &format!("p.person = v.who{more}"));
    let other = and(" AND v.cost = '10'");
    assert_eq!(ask(&other).status.code(), Some(2), "{}", said(&ask(&other)));
    assert_eq!(log(folder.path()).matches("charged").count(), 2, "{}", log(folder.path()));
    // Blanks and comments between words are nothing, those inside of a text are something.
    let ask = |query: &str, more: &[&str]| {
        let words: Vec<&str> =
            ["sql", query, "--json", "--request-id", "b"].iter().chain(more).copied().collect();
        run(folder.path(), &words)
    };
    let first = ask(&and(" AND v.day <> 'a b'"), &[]);
    let again = ask(&and("  /* the same */ AND v.day <> 'a b'"), &[]);
    assert_eq!((first.status.code(), &first.stdout), (Some(0), &again.stdout), "{}", said(&again));
    for (query, more) in
        [(and(" AND v.day <> 'a  b'"), &[][..]), (and(" AND v.day <> 'a b'"), &["--type", "salary=number"])]
    {
        let other = ask(&query, more);
        assert_eq!(other.status.code(), Some(2), "{query}: {}", said(&other));
        assert!(said(&other).contains("request"), "{query}: {}", said(&other));
    }
    assert_eq!(log(folder.path()).matches("charged").count(), 4, "{}", log(folder.path()));
}

/// One file by two names: else a person would be removed with the rows of one name and stay with those of the other.
#[test]
fn the_same_rows_have_one_unit_and_are_not_public_too() {
    let folder = database();
    let folder = folder.path();
    fs::create_dir(folder.join("all")).unwrap();
    fs::hard_link(folder.join("people.csv"), folder.join("hard.csv")).unwrap();
    fs::hard_link(folder.join("people.csv"), folder.join("all").join("some.csv")).unwrap();
    std::os::unix::fs::symlink("people.csv", folder.join("link.csv")).unwrap();
    let whole = folder.join("people.csv").display().to_string();
    for name in ["./people.csv", "hard.csv", "link.csv", "all", "all/*.csv", "p*e.csv", whole.as_str()] {
        let answered = |units: &str, condition: &str| {
            let query = format!(
                "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, {units}) COUNT(*) FROM 'people.csv' a \
                 WHERE EXISTS (SELECT 1 FROM '{name}' b WHERE {condition})"
            );
            run(folder, &["sql", &query, "--ledger", "a.ledger", "--dry-run"])
        };
        let two = format!("privacy_unit_column=['people.csv'.person, '{name}'.town]");
        let output = answered(&two, "a.person = b.town");
        assert_eq!(output.status.code(), Some(2), "{name}: {}", said(&output));
        assert!(said(&output).contains("two privacy units, person and town"), "{name}: {}", said(&output));
        let public = format!("privacy_unit_column=['people.csv'.person], public_tables=['{name}']");
        let output = answered(&public, "b.person = '7' AND b.town = 'Bern'");
        assert_eq!(output.status.code(), Some(2), "{name}: {}", said(&output));
        assert!(
            said(&output).contains("said to be public and the other private"),
            "{name}: {}",
            said(&output)
        );
        let output = answered("privacy_unit_column=person", "a.person = b.person");
        assert_eq!(output.status.code(), Some(0), "{name}: {}", said(&output));
    }
    assert!(!folder.join("a.ledger").exists());
}

#[test]
fn a_short_name_makes_one_table_public() {
    let folder = database();
    let folder = folder.path();
    fs::create_dir(folder.join("b")).unwrap();
    fs::copy(folder.join("visits.csv"), folder.join("b").join("towns.csv")).unwrap();
    let plan = |options: &str| {
        let query = format!(
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, {options}) COUNT(*) FROM 'people.csv' p \
             JOIN 'towns.csv' t ON t.town = p.town JOIN 'b/towns.csv' v ON v.who = p.person"
        );
        let output = run(folder, &["sql", &query, "--dry-run", "--ledger", "a.ledger"]);
        (output.status.code(), said(&output))
    };
    let (code, said) = plan("privacy_unit_column=[people.person], public_tables=[towns]");
    assert!(
        code == Some(2) && said.contains("public_tables names 'towns': 'towns.csv' or 'b/towns.csv'?"),
        "{said}"
    );
    let (code, said) = plan("privacy_unit_column=[people.person], public_tables=['towns.csv']");
    assert!(code == Some(2) && said.contains("'b/towns.csv' is neither private nor public"), "{said}");
    let (code, said) =
        plan("privacy_unit_column=[people.person, 'b/towns.csv'.who], public_tables=['towns.csv']");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = plan("privacy_unit_column=[person, who], public_tables=['towns.csv']");
    assert!(code == Some(2) && said.contains("two privacy units stand without a table"), "{said}");
}

/// One person's long text is joined to many public rows: they are a batch of more than 2 GiB unless it is null.
#[test]
fn one_long_text_does_not_lose_the_answer() {
    let folder = database();
    let folder = folder.path();
    let mut people = fs::read_to_string(folder.join("people.csv")).unwrap();
    writeln!(people, "9999,Ayr,{}", "x".repeat(1_000_000)).unwrap();
    fs::write(folder.join("people.csv"), people).unwrap();
    let mut many = String::from("town,n\n");
    for number in 0..2500 {
        writeln!(many, "Ayr,{number}").unwrap();
    }
    fs::write(folder.join("many.csv"), many).unwrap();
    let query = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, privacy_unit_column=[people.person], public_tables=[many]) \
                 COUNT(DISTINCT person) FROM 'people.csv' p JOIN 'many.csv' m ON m.town = p.town WHERE p.person = '9999' AND m.n <> p.salary";
    let output = run(folder, &["sql", query]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

#[test]
fn nothing_is_charged_for_a_query_that_is_not_accepted() {
    let folder = database();
    let register = ["budget", "set", "people.csv", "--epsilon", "5"];
    let refused = |query: &str, words: &str| {
        let output = run(folder.path(), &["sql", query]);
        assert_eq!(output.status.code(), Some(2), "{query}: {}", said(&output));
        assert!(said(&output).contains(words), "{query}: {}", said(&output));
        assert_eq!(said(&output).lines().count(), 1, "{}", said(&output));
    };
    refused(&BOTH.replace("p.person = v.who", "p.town = v.day"), "a row would belong to two units");
    refused(&BOTH.replace(", visits.who", ""), "'visits.csv' is neither private nor public");
    refused(&BOTH.replace("visits.who", "visits.nobody"), "no column 'nobody'");
    refused(&BOTH.replace("COUNT(*)", "SUM(p.nothing)"), "no column is called 'p.nothing'");
    refused(&BOTH.replace("epsilon=1", "epsilon=1, adjacency='replace'"), "added or removed");
    refused(
        &BOTH.replace("'visits.csv'", "'nowhere.csv'").replace("visits.who", "nowhere.who"),
        "nowhere.csv",
    );
    assert!(!folder.path().join("equipoise.ledger").exists());
    // What a ledger knows is not public.
    assert_eq!(
        run(folder.path(), &["budget", "set", "visits.csv", "--unit", "who", "--epsilon", "5"]).status.code(),
        Some(0)
    );
    let public = BOTH.replace("people.person, visits.who]", "people.person], public_tables=['visits']");
    refused(&public, "'visits.csv' is said to be public, and a ledger knows it");
    // A table that counts single rows: one of them can make many rows of a relation.
    assert_eq!(run(folder.path(), &register).status.code(), Some(0));
    refused(BOTH, "registered");
    assert!(!log(folder.path()).contains("charged"), "{}", log(folder.path()));
}

/// Rows go to whoever bounds them as they come: a relation needs no memory for all of its rows.
#[test]
fn a_relation_may_be_larger_than_the_memory() {
    let folder = database();
    let hours: String = (0..400).fold("hour\n".into(), |all, hour| all + &format!("{hour}\n"));
    fs::write(folder.path().join("hours.csv"), hours).unwrap();
    let query = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=200, delta=1e-6, privacy_unit_column=people.person, public_tables=[hours]) \
                 COUNT(*) AS n FROM 'people.csv' people CROSS JOIN 'hours.csv' hours";
    let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise-sql"));
    command.args(["sql", query, "--json"]).current_dir(folder.path());
    // 1.2 million rows of an id each have 30 MB and more.
    let output = command.env_remove("EQUIPOISE_LEDGER").env("EQUIPOISE_SQL_MEMORY", "8").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(near(&answer["rows"][0][0], 400.0 * PEOPLE as f64), "{answer}");
}

#[test]
fn what_fails_after_the_charge_is_one_fixed_line() {
    let folder = database();
    let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise-sql"));
    let output = command.args(["sql", BOTH]).current_dir(folder.path()).env("EQUIPOISE_SQL_MEMORY", "0.1");
    assert_eq!(output.output().unwrap().status.code(), Some(2), "a limit that is no number is an error");
    let mut people = fs::read_to_string(folder.path().join("people.csv")).unwrap();
    for person in 0..60_000 {
        writeln!(people, "{person},Ayr,{}", "9".repeat(60)).unwrap();
    }
    fs::write(folder.path().join("people.csv"), people).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise-sql"));
    let query = BOTH.replace("COUNT(*)", "MODE(salary)").replace("epsilon=1", "epsilon=1, delta=1e-6");
    let output = command
        .args(["sql", &query])
        .current_dir(folder.path())
        .env("EQUIPOISE_SQL_MEMORY", "1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert_eq!(
        said(&output),
        "equipoise: the data could not be read to the end; the charge stands and the answer is lost\n"
    );
    assert_eq!(log(folder.path()).matches("charged").count(), 2, "{}", log(folder.path()));
}
