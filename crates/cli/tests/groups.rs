//! Answers for groups as a user asks for them.

mod support;

use serde_json::Value;
use std::fs;
use support::Folder;

fn keys(release: &Value) -> Vec<Value> {
    release["groups"].as_array().expect("groups").iter().map(|group| group["key"].clone()).collect()
}

/// The key of one row is told with probability 1e-13; a key of a thousand rows is missed with one below e^-1000.
#[test]
fn keys_are_found_and_the_rare_one_stays_unsaid() {
    let folder = Folder::of_towns();
    let release = folder.json("histogram data.csv town --epsilon 2 --delta 1e-13");
    assert_eq!((&release["outcome"], &release["value"]), (&"released".into(), &Value::Null));
    assert_eq!(keys(&release), ["Ayr", "Bath"]);
    let ayr = &release["groups"][0];
    let (low, high) = (ayr["error"]["low"].as_f64().unwrap(), ayr["error"]["high"].as_f64().unwrap());
    let value = ayr["value"].as_f64().unwrap();
    assert!(low <= value && value <= high && (value - 1000.0).abs() < 30.0, "{ayr}");
    let both = folder.json("count data.csv --group-by town,year --epsilon 2 --delta 1e-13");
    assert_eq!(keys(&both).len(), 4);
    assert_eq!(keys(&both)[0], serde_json::json!(["Ayr", "2020"]));
    assert_eq!(
        (&both["spent"]["epsilon"], &both["guarantee"]["delta"]),
        (&"4".into(), &"0.0000000000001".into())
    );
}

#[test]
fn stated_keys_need_no_delta_and_all_have_a_count() {
    let folder = Folder::of_towns();
    let release = folder.json("histogram data.csv town --keys Bath,Ayr,Nowhere --epsilon 2");
    assert_eq!(keys(&release), ["Ayr", "Bath", "Nowhere"]);
    assert_eq!(release["guarantee"]["delta"], "0");
    assert!(release["groups"][2]["value"].as_i64().unwrap().abs() < 30);
}

/// At epsilon 100 an answer beyond the rows has a probability below e^-100.
#[test]
fn statistics_by_group() {
    let folder = Folder::of_towns();
    for (line, low, high) in [
        ("median data.csv value", 1000.0, 2000.0),
        ("mean data.csv value", 1000.0, 2000.0),
        ("mean data.csv value --range 0,3000", 1000.0, 2000.0),
        ("sum data.csv value --range 0,3000", 1e5, 1e7),
        ("quantile data.csv value 0.9", 2000.0, 3000.0),
        ("iqr data.csv value", 1000.0, 2000.0),
    ] {
        let release = folder.json(&format!("{line} --group-by town --epsilon 100 --delta 1e-13"));
        assert_eq!(keys(&release), ["Ayr", "Bath"], "{line}");
        for group in release["groups"].as_array().unwrap() {
            let value = group["value"].as_f64().unwrap_or_else(|| panic!("{line}: {group}"));
            assert!((low..high).contains(&value), "{line}: {value}");
        }
    }
    let mode = folder.json("mode data.csv year --group-by town --epsilon 100 --delta 1e-13");
    // Both years have five hundred rows in Ayr: a tie is refused, and the other group answers.
    assert_eq!(mode["groups"][0]["outcome"], "refused");
    let text = folder.run("median data.csv value --group-by town --epsilon 100 --delta 1e-13");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.starts_with("median of value by town\n") && text.contains("\n   town "), "{text}");
}

/// Bath leads by a thousand rows: at epsilon 2 another is chosen with a probability below e^-500.
#[test]
fn select_names_the_most_frequent_value() {
    let folder = Folder::of_towns();
    let stated = folder.json("select data.csv town --among Ayr,Bath,Nowhere --epsilon 2");
    assert_eq!((&stated["value"], &stated["guarantee"]["delta"]), (&"Bath".into(), &"0".into()));
    assert_eq!((&stated["mechanism"], &stated["error"]["kind"]), (&"permute-and-flip".into(), &"gap".into()));
    let found = folder.json("select data.csv town --epsilon 2 --delta 1e-13");
    assert_eq!(found["value"], "Bath");
    assert!(found["error"]["gap"].as_u64().unwrap() < 100);
    let by_year =
        folder.json("select data.csv town --among Ayr,Bath --group-by year --keys 2020,2021 --epsilon 2");
    assert_eq!((&by_year["groups"][0]["value"], &by_year["spent"]["epsilon"]), (&"Bath".into(), &"6".into()));
}

/// At epsilon 200 the count is off by more than one with a probability below e^-20, the rest by a few rows.
#[test]
fn a_summary_is_several_answers_for_one_price() {
    let folder = Folder::of_towns();
    let release = folder.json("summary data.csv value --epsilon 200");
    assert_eq!(release["spent"]["epsilon"], "200");
    let value = &release["value"];
    let number = |name: &str| value[name].as_f64().unwrap_or_else(|| panic!("{name}: {value}"));
    assert!((number("count") - 3001.0).abs() < 10.0);
    assert!((number("mean") - 1500.0).abs() < 50.0);
    assert!((number("standard-deviation") - 866.0).abs() < 50.0);
    let quantiles = value["quantiles"].as_array().expect("quantiles");
    assert_eq!(quantiles.len(), 5);
    assert!((quantiles[2].as_f64().unwrap() - 1500.0).abs() < 50.0);
    assert_eq!(release["answers"].as_array().expect("answers").len(), 4);
    let text = String::from_utf8(folder.run("summary data.csv value --epsilon 200").stdout).unwrap();
    assert!(text.starts_with("summary of value\n  count "), "{text}");
}

/// At epsilon 400 a group's answers have 160 for sums and 160 for quantiles: farther off than this with a probability below e^-50.
#[test]
fn a_summary_by_group_has_all_answers_for_each_group() {
    let folder = Folder::of_towns();
    let line = "summary data.csv value --group-by town --epsilon 400 --delta 1e-13";
    let release = folder.json(line);
    assert_eq!(
        (keys(&release), &release["spent"]["epsilon"]),
        (vec!["Ayr".into(), "Bath".into()], &"400".into())
    );
    assert!(release["value"].is_null() && release["answers"].is_null());
    for (group, rows) in release["groups"].as_array().unwrap().iter().zip([1000.0, 2000.0]) {
        let names: Vec<&Value> =
            group["answers"].as_array().unwrap().iter().map(|one| &one["statistic"]).collect();
        assert_eq!(names, ["count", "mean", "standard-deviation", "quantiles"]);
        let near = |value: &Value, truth: f64| (value.as_f64().unwrap() - truth).abs() < 100.0;
        let value = &group["value"];
        assert!(near(&value["count"], rows) && near(&value["mean"], 1500.0), "{group}");
        assert!(near(&value["standard-deviation"], 866.0) && near(&value["quantiles"][2], 1500.0), "{group}");
        assert!(group["answers"][0]["error"]["low"].is_number() && group["error"].is_null(), "{group}");
        assert_eq!(group["answers"][3]["error"]["together"], true);
    }
    let text = String::from_utf8(folder.run(line).stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "summary of value by town");
    let row = |place: usize| lines[place].split_whitespace().collect::<Vec<_>>();
    assert_eq!(row(1), ["town", "statistic", "answer", "error"]);
    assert!(lines[2].starts_with("   Ayr   count ") && lines[2].contains(" to "), "{text}");
    let names: Vec<&str> = (3..10).map(|place| row(place)[0]).collect();
    assert_eq!(names, ["mean", "standard-deviation", "0.05", "0.25", "0.5", "0.75", "0.95"]);
    assert!(lines[7].ends_with(" ranks") && lines[10].starts_with("   Bath  count "), "{text}");
    assert!(
        lines[18].starts_with("  ranks      within 2 ranks: at most 2 rows of its group lie between"),
        "{text}"
    );
    assert!(lines[18].contains("so that its median lies between the 49."), "{text}");
    assert!(lines[19].starts_with("  error      each holds on its own, and the quantiles"), "{text}");
    let stated = folder.json("summary data.csv value --group-by town --keys Ayr --epsilon 400 --interval");
    assert_eq!((&stated["guarantee"]["delta"], keys(&stated)), (&"0".into(), vec!["Ayr".into()]));
    assert_eq!(stated["groups"][0]["answers"][3]["error"]["kind"], "interval");
    let questions = r#"{"epsilon": 400, "delta": "1e-13", "questions": [
        {"statistic": "summary", "column": "value", "group-by": "town", "weight": 9}, {"statistic": "count"}]}"#;
    fs::write(folder.path("questions.json"), questions).unwrap();
    let batch = folder.json("batch questions.json data.csv --plot out.svg");
    assert_eq!(batch["answers"][0]["groups"][1]["answers"][3]["statistic"], "quantiles", "{batch}");
    let picture = fs::read_to_string(folder.path("out.svg")).unwrap();
    assert!(
        picture.contains("question 1: summary of value by town, mean") && picture.contains("Ayr"),
        "{picture}"
    );
    let people = "--group-by town --unit year --max-groups-per-unit 2 --dry-run";
    let planned = folder.json(&format!("summary data.csv value --epsilon 40 --delta 1e-6 {people}"));
    assert_eq!((&planned["outcome"], &planned["group_by"][0]), (&"planned".into(), &"town".into()));
}

#[test]
fn no_key_is_a_refusal() {
    let folder = Folder::new("town\nAyr\nBath\n");
    let output = folder.run("histogram data.csv town --epsilon 1 --delta 1e-13");
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stdout).contains("no key was released"));
}

#[test]
fn wrong_requests_for_groups_are_one_line() {
    let folder = Folder::of_towns();
    let lines = [
        "histogram data.csv --epsilon 1 --delta 1e-6",
        "histogram data.csv town --epsilon 1",
        "histogram data.csv twon --epsilon 1 --delta 1e-6",
        "histogram data.csv town,town --epsilon 1 --delta 1e-6",
        "histogram data.csv town,year --keys Ayr --epsilon 1",
        "histogram data.csv town --keys Ayr,Ayr --epsilon 1",
        "median data.csv value --group-by town --epsilon 1",
        "median data.csv value --group-by town --rows 100 --epsilon 1 --delta 1e-6",
        "median data.csv value --keys Ayr --epsilon 1 --delta 1e-6",
        "mode data.csv year --group-by town --keys Ayr --epsilon 1",
        "select data.csv town --epsilon 1",
        "select data.csv town --among Ayr,Ayr --epsilon 1",
        "select data.csv town --epsilon 1 --delta 1e-6 --mechanism stable",
        "summary data.csv --epsilon 1",
        "summary data.csv value --epsilon 1 --mechanism laplace",
    ];
    let said = lines.map(|line| {
        let output = folder.run(line);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("{line}\n  exit {}: {}", output.status.code().expect("no signal"), error.trim_end())
    });
    insta::assert_snapshot!(said.join("\n"));
    assert!(!folder.path("equipoise.ledger").exists(), "nothing was charged");
}

/// At epsilon 1000 noise on a count is other than zero with a chance below 2·e^-1000.
#[test]
fn an_empty_key_is_that_of_rows_without_a_value_and_no_candidate() {
    let folder = Folder::new("value,town\n1,a\n2,\n3,\"\"\n4,b\n");
    let release = folder.json("histogram data.csv town --keys ,a --epsilon 1000");
    let counts: Vec<(Value, Value)> = release["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| (group["key"].clone(), group["value"].clone()))
        .collect();
    assert_eq!(counts, [(Value::Null, 2.into()), ("a".into(), 1.into())]);
    assert!(folder.fails("select data.csv town --among ,a --epsilon 1").contains("is no candidate"));
}
