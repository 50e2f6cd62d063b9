//! Errors name the argument that they are about as it is typed, and for programs as data.

mod support;

use serde_json::{Value, json};
use support::Folder;

fn rows() -> Folder {
    Folder::new(format!("value,who\n{}", "7,ann\n".repeat(200)))
}

fn told(folder: &Folder, line: &str) -> Value {
    let output = folder.run(line);
    assert_eq!(output.status.code(), Some(2), "{line}");
    serde_json::from_slice(&output.stderr).unwrap_or_else(|_| panic!("{line}: {output:?}"))
}

#[test]
fn who_asks_for_json_gets_the_argument_and_the_next_step() {
    let folder = rows();
    for (line, argument, hint) in [
        ("median data.csv value", "epsilon", "Give --epsilon, such as --epsilon 1"),
        (
            "median data.csv value --epsilon 0",
            "epsilon",
            "give a number above 0 and at most 1000, such as 1 or 0.5",
        ),
        ("mode data.csv value --epsilon 1", "delta", "give --delta 1e-6 or one over ten times the rows"),
        ("median data.csv vaule --epsilon 1", "column", "did you mean 'value'? There are: value, who"),
        (
            "count data.csv --epsilon 1 --max-rows-per-unit 2",
            "max_rows_per_unit",
            "name the column of people with --unit",
        ),
        (
            "count data.csv --epsilon 1 --unit who --max-rows-per-unit 0",
            "max_rows_per_unit",
            "give a whole number from 1 to 100000, such as 3",
        ),
        ("count data.csv --epsilon 1 --unit whom", "unit", "did you mean 'who'? There are: value, who"),
        ("median data.csv value --epsilon 1 --type value=day", "types", "did you mean 'date'?"),
        ("median data.csv value --epsilon 1 --mechanism stabel", "mechanism", "did you mean 'stable'?"),
        ("median data.csv value --epsilon 1 --keys a,b", "keys", "leave it out"),
    ] {
        let error = told(&folder, &format!("{line} --json"));
        assert_eq!(error["argument"], argument, "{line}: {error}");
        let said = error["hint"].as_str().unwrap_or_else(|| panic!("{line}: {error}"));
        assert!(said.starts_with(hint), "{line}: {said}");
        let whole = error["error"].as_str().expect("a text");
        assert!(whole.ends_with(said) && !whole.contains('`'), "{line}: {whole}");
    }
    // Where no argument is to blame, there is no such field.
    let error = told(&folder, "median missing.csv value --epsilon 1 --json");
    assert_eq!((error.get("argument"), error.get("hint")), (None, None), "{error}");
}

#[test]
fn a_refusal_names_options_as_they_are_typed_and_by_name_in_json() {
    let folder = Folder::new("value\n1\n2\n");
    let words = folder.run("median data.csv value --epsilon 0.1");
    let words = String::from_utf8(words.stdout).expect("text");
    assert!(words.contains("declare --range and --resolution") && !words.contains('`'), "{words}");
    let document = folder.run("median data.csv value --epsilon 0.1 --json");
    let document: Value = serde_json::from_slice(&document.stdout).expect("JSON");
    let advice = document["advice"].as_str().expect("advice");
    assert!(advice.contains("declare `range` and `resolution`"), "{advice}");
}

/// The names of columns are somebody else's.
#[test]
fn a_column_that_is_called_as_an_option_stays_a_column() {
    let folder = Folder::new("`range`\n1\n");
    let error = told(&folder, "median data.csv x --epsilon 1 --json");
    assert_eq!(error["hint"], json!(r"There are: \u{60}range\u{60}"));
    folder.write("batch.json", r#"{"epsilon": 1, "questions": [{"statistic": "count", "epsilo": 2}]}"#);
    let error = told(&folder, "batch batch.json data.csv --json");
    let line = error["error"].as_str().expect("a text");
    assert!(line.contains("unknown field 'epsilo'") && !line.contains("--"), "{line}");
}
