//! Several questions at once, and prices that follow from a wanted error.

mod support;

use std::fs;
use support::Folder;

fn with_questions(text: &str) -> Folder {
    let folder = Folder::of_towns();
    fs::write(folder.path("questions.json"), text).expect("a file");
    folder
}

const QUESTIONS: &str = r#"{"data": "data.csv", "epsilon": 60, "delta": "1e-13", "questions": [
    {"statistic": "median", "column": "value", "weight": 3},
    {"statistic": "histogram", "column": "town"},
    {"statistic": "count", "target-error": 5},
    {"statistic": "mean", "column": "value", "group-by": ["town"], "keys": ["Ayr", "Bath"]}]}"#;

/// At these epsilons the answers are off by more than a few rows with a probability below 1e-13.
#[test]
fn a_batch_is_one_charge_and_one_release() {
    let folder = with_questions(QUESTIONS);
    let release = folder.json("batch questions.json --request-id monday");
    assert_eq!((&release["outcome"], &release["statistic"]), (&"released".into(), &"batch".into()));
    assert_eq!(
        (&release["spent"]["epsilon"], &release["spent"]["delta"]),
        (&"60".into(), &"0.0000000000001".into())
    );
    let answers = release["answers"].as_array().expect("answers");
    let statistics: Vec<_> = answers.iter().map(|answer| answer["statistic"].as_str().unwrap()).collect();
    assert_eq!(statistics, ["median", "histogram", "count", "mean"]);
    let median = answers[0]["value"].as_f64().unwrap();
    assert!((1400.0..1600.0).contains(&median), "{median}");
    assert_eq!(answers[1]["groups"].as_array().unwrap().len(), 2);
    assert_eq!(answers[3]["groups"].as_array().unwrap().len(), 2);
    assert_eq!(folder.json("batch questions.json --request-id monday"), release, "asked again, it is free");
    assert_eq!(folder.json("budget verify")["charges"], 1);
    let shown = String::from_utf8(folder.run("batch questions.json").stdout).expect("text");
    assert!(shown.starts_with("4 of 4 questions answered\nmedian of value: "), "{shown}");
    assert!(shown.contains("\nhistogram by town\n") && shown.contains("\nin all\n"), "{shown}");
}

#[test]
fn a_planned_batch_shows_every_price_and_charges_nothing() {
    let folder = with_questions(QUESTIONS);
    let plan = folder.json("batch questions.json --dry-run");
    assert_eq!((&plan["outcome"], &plan["charge"]["epsilon"]), (&"planned".into(), &"60".into()));
    let costs: Vec<f64> = plan["questions"]
        .as_array()
        .expect("questions")
        .iter()
        .map(|question| question["cost"]["epsilon"].as_str().unwrap().parse().unwrap())
        .collect();
    assert!((costs.iter().sum::<f64>() - 60.0).abs() < 1e-9 && costs[0] > 2.9 * costs[1], "{costs:?}");
    assert!(!folder.path("equipoise.ledger").exists());
}

/// The least epsilon for an error of ten rows is charged and shown; the bar is then ten rows wide.
#[test]
fn a_wanted_error_finds_its_price() {
    let folder = Folder::of_towns();
    let plan = folder.json("count data.csv --target-error 10 --dry-run");
    assert_eq!((&plan["charge"]["epsilon"], &plan["error"]["high"]), (&"0.284349".into(), &10.0.into()));
    let median = folder.json("median data.csv value --target-error 100 --dry-run");
    assert_eq!(median["error"]["rank"], 100);
    let sum = folder.json("sum data.csv value --range 0,100 --target-error 1000 --dry-run");
    assert!(sum["charge"]["epsilon"].as_str().unwrap().starts_with("0.3"), "{sum}");
    let mean = folder.json("mean data.csv value --range 0,100 --rows 2000 --target-error 1 --dry-run");
    assert!(mean["error"]["high"].as_f64().is_some_and(|error| error <= 1.0 && error > 0.97), "{mean}");
}

#[test]
fn wrong_batches_and_targets_are_one_line() {
    let lines = [
        ("", "batch missing.json"),
        ("nonsense", "batch questions.json"),
        (r#"{"epsilon": 1, "questions": [{"statistic": "count"}]}"#, "batch questions.json"),
        (r#"{"epsilon": 1, "questions": [{"statistic": "count"}]}"#, "batch questions.json missing.csv"),
        (
            r#"{"epsilon": 1, "questions": [{"statistic": "count"}, {"statistic": "mediam", "column": "value"}]}"#,
            "batch questions.json data.csv",
        ),
        (
            r#"{"epsilon": 1, "questions": [{"statistic": "count"}, {"statistic": "median", "column": "vaule"}]}"#,
            "batch questions.json data.csv",
        ),
        (
            r#"{"epsilon": 1, "questions": [{"statistic": "histogram", "column": "town"}]}"#,
            "batch questions.json data.csv",
        ),
        (r#"{"questions": [{"statistic": "count"}]}"#, "batch questions.json data.csv"),
        ("", "count data.csv --target-error 10 --epsilon 1"),
        ("", "count data.csv --target-error near"),
        ("", "mean data.csv value --target-error 3"),
        ("", "sum data.csv value --target-error 3"),
        ("", "median data.csv value --mechanism stable --delta 1e-6 --target-error 3"),
        ("", "sum data.csv value --range 0,100 --target-error 0"),
    ];
    let said = lines.map(|(questions, line)| {
        let folder = with_questions(questions);
        let output = folder.run(line);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!folder.path("equipoise.ledger").exists(), "nothing was charged");
        format!(
            "{line} {questions}\n  exit {}: {}",
            output.status.code().expect("no signal"),
            error.trim_end()
        )
    });
    insta::assert_snapshot!(said.join("\n"));
}
