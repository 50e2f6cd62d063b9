//! Numbers in JSON are the exact ones, and a request is known again by its numbers.

mod support;

use equipoise_core::ratio::Ratio;
use serde_json::Value;
use std::fmt::Write as _;
use support::Folder;

fn rows() -> Folder {
    let mut text = String::from("value,person,town\n");
    for row in 1..=900 {
        writeln!(text, "{row},p{},t{}", row % 300, row % 2).expect("a string");
    }
    Folder::new(text)
}

fn number(value: &Value) -> Ratio {
    value.as_str().expect("a text").parse().expect("a number")
}

#[test]
fn what_does_not_end_is_a_fraction_that_is_read_back() {
    let folder = rows();
    let release = folder.json("count data.csv --epsilon 1/3");
    for place in ["guarantee", "spent"] {
        assert_eq!((&release[place]["epsilon"], &release[place]["delta"]), (&"1/3".into(), &"0".into()));
    }
    let again = folder.json(&format!(
        "count data.csv --epsilon {} --dry-run",
        release["guarantee"]["epsilon"].as_str().unwrap()
    ));
    assert_eq!(again["charge"]["epsilon"], "1/3");
    folder.run("budget set data.csv --epsilon 1 --delta 0.00000018918918900001");
    let shown = folder.json("budget show data.csv");
    assert_eq!(
        (&shown[0]["spent"]["epsilon"], &shown[0]["remaining"]["epsilon"]),
        (&"1/3".into(), &"2/3".into())
    );
    assert_eq!(shown[0]["limit"]["delta"], "0.00000018918918900001", "a decimal is written whole");
    let basic = &shown[0]["accountants"]["lines"][0];
    assert_eq!((&basic["spent"]["epsilon"], &basic["left"]), (&"1/3".into(), &"2/3".into()));
    let log = folder.json("budget log");
    let charged = log.as_array().unwrap().iter().find(|entry| entry["event"]["kind"] == "charged").unwrap();
    assert_eq!(charged["event"]["cost"]["epsilon"], "1/3");
    let exported: Value = serde_json::from_slice(&folder.run("budget export").stdout).unwrap();
    assert_eq!(exported["data_sets"][0]["charges"][0]["epsilon"], "1/3");
    let receipt = release["receipt"]["id"].as_str().unwrap();
    assert_eq!(folder.json(&format!("explain {receipt}"))["charge"]["epsilon"], "1/3");
    // People get six digits, against ourselves.
    let words = String::from_utf8(folder.run("budget show data.csv").stdout).unwrap();
    assert!(words.contains("epsilon 0.333334") && words.contains("epsilon 0.666666"), "{words}");
}

/// The parts' deltas were rounded up to six digits, so that they added up to more than was spent.
#[test]
fn the_parts_of_a_batch_add_up_to_what_was_spent() {
    let question = |words: &str| format!(r#"{{{words}, "column": "town"}}"#);
    let questions = [
        question(r#""statistic": "histogram", "weight": "1/3""#),
        question(r#""statistic": "histogram", "weight": 0.7"#),
        question(r#""statistic": "mode", "weight": 2"#),
        question(r#""statistic": "count""#),
        question(r#""statistic": "count", "epsilon": "1/7""#),
    ]
    .join(", ");
    for (shared, total) in [
        (r#""epsilon": 1, "delta": "1e-6""#, ("1", "1e-6")),
        (r#""epsilon": "10/3", "delta": "1/3000000""#, ("10/3", "1/3000000")),
        (r#""epsilon": 3, "delta": "1e-6", "unit": "person", "max-rows-per-unit": 3"#, ("3", "1e-6")),
        (r#""epsilon": 3, "delta": "1e-6", "adjacency": "replace", "where": "value > 3""#, ("3", "1e-6")),
    ] {
        let folder = rows();
        folder.write("q.json", format!(r#"{{"data": "data.csv", {shared}, "questions": [{questions}]}}"#));
        let planned = folder.json("batch q.json --dry-run");
        let release = folder.json("batch q.json");
        for (name, total) in [("epsilon", total.0), ("delta", total.1)] {
            let total: Ratio = total.parse().unwrap();
            for (document, parts, whole) in
                [(&release, "answers", "spent"), (&planned, "questions", "charge")]
            {
                let parts = document[parts].as_array().expect("parts");
                let sum: Ratio = parts.iter().map(|part| number(&part["cost"][name])).sum();
                assert_eq!(sum, number(&document[whole][name]), "{shared} {name}: {document:#}");
                assert_eq!(sum, number(&document["guarantee"][name]));
                assert!(sum <= total, "{shared} {name} {sum}");
            }
        }
        assert_eq!(number(&release["spent"]["epsilon"]), total.0.parse().unwrap());
    }
}

#[test]
fn a_request_is_known_again_by_its_numbers() {
    let folder = rows();
    let first =
        folder.json("quantile data.csv value 0.25,0.5 --epsilon 1 --delta 0 --range 0,1000 --request-id r");
    let again =
        "quantile data.csv value 2.5e-1,0.50 --epsilon 1.0 --delta 0.0 --range 0.0,1e3 --request-id r";
    assert_eq!(folder.json(again), first);
    for other in [
        "quantile data.csv value 0.25,0.5 --epsilon 1.01 --delta 0 --range 0,1000 --request-id r",
        "quantile data.csv value 0.25,0.6 --epsilon 1 --delta 0 --range 0,1000 --request-id r",
        "quantile data.csv value 0.2,0.5 --epsilon 1 --delta 0 --range 0,1000 --request-id r",
        "quantile data.csv value 0.25,0.5 --epsilon 1 --delta 0 --range 0,1001 --request-id r",
        "quantile data.csv value 0.25,0.5 --epsilon 1 --delta 0 --range 0,1000 --where value>0 --request-id r",
    ] {
        let output = folder.run(other);
        assert_eq!(output.status.code(), Some(2), "{other}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("was used for another request"),
            "{output:?}"
        );
    }
    assert_eq!(folder.charges(), 1);
    let batch = |weight: &str, epsilon: &str| {
        format!(
            r#"{{"data": "data.csv", "epsilon": {epsilon}, "questions": [{{"statistic": "count", "weight": {weight}}},
                {{"statistic": "median", "column": "value"}}]}}"#
        )
    };
    folder.write("q.json", batch("2", "1"));
    let first = folder.json("batch q.json --request-id b");
    folder.write("q.json", batch("\"4/2\"", "1.0"));
    assert_eq!(folder.json("batch q.json --request-id b"), first);
    folder.write("q.json", batch("3", "1"));
    assert_eq!(folder.code("batch q.json --request-id b"), 2);
    assert_eq!(folder.charges(), 2);
}
