//! Each person's rows first: counts, sums and means over people, with all rows of each, as a user asks for them.

mod support;

use serde_json::Value;
use std::fmt::Write as _;
use support::Folder;

/// Visits of 700 people: person p came p % 7 + 1 times, each time for 10·(p % 7 + 1) minutes, in the east the first time and then in the west;
/// some ids are missing, and one person came 5,000 times more.
fn visits(with_regular: bool) -> Folder {
    let mut text = String::from("person,minutes,ward\n");
    for person in 0..700 {
        for visit in 0..=person % 7 {
            let ward = if visit == 0 { "east" } else { "west" };
            writeln!(text, "p{person},{},{ward}", 10 * (person % 7 + 1)).expect("a string");
        }
    }
    if with_regular {
        text.push_str(&"regular,99,east\n".repeat(5000));
    }
    text.push_str(",1,east\n  ,2,west\n");
    Folder::with("visits.csv", text)
}

fn near(release: &Value, truth: f64, within: f64) {
    let value = release["value"].as_f64().unwrap_or_else(|| panic!("{release}"));
    assert!((value - truth).abs() <= within, "{value} is not near {truth}");
}

const PER_UNIT: [&str; 5] = ["--unit", "person", "--per-unit", "--epsilon", "100"];

fn asked(folder: &Folder, words: &[&str]) -> Value {
    folder.json_words(&[words, &PER_UNIT].concat())
}

/// 2,800 rows, 112,000 minutes in means of 40 over 700 people. At epsilon 100 the noise of a value of at most 100 is above 40 with a chance of e^-40.
#[test]
fn all_rows_of_each_person_are_made_one_value_first() {
    let folder = visits(false);
    let count = asked(&folder, &["count", "visits.csv", "--range", "0,10"]);
    near(&count, 2800.0, 4.0);
    assert_eq!(count["guarantee"]["per_unit"], true);
    assert_eq!(count["guarantee"].get("max_rows_per_unit"), None);
    assert_eq!((&count["error"]["per_unit"], &count["type"]), (&"count".into(), &"integer".into()));
    let minutes: i32 = (1..=7).map(|visits| 100 * visits * 10 * visits).sum();
    near(&asked(&folder, &["sum", "visits.csv", "minutes", "--range", "0,600"]), f64::from(minutes), 300.0);
    near(&asked(&folder, &["mean", "visits.csv", "minutes", "--range", "0,100"]), 40.0, 1.0);
    // Without a range one is searched.
    let searched = asked(&folder, &["count", "visits.csv"]);
    let range = searched["error"]["range"].as_array().expect("a range that was found").clone();
    assert!(range[1].as_f64().is_some_and(|high| (7.0..100.0).contains(&high)), "{range:?}");
    near(&searched, 2800.0, 30.0);
    near(&asked(&folder, &["mean", "visits.csv", "minutes"]), 40.0, 2.0);
}

/// Five thousand rows of one person move a count by what the range allows, and a mean of means by one person's part.
#[test]
fn a_person_with_most_rows_is_one_person() {
    let folder = visits(true);
    near(&asked(&folder, &["count", "visits.csv", "--range", "0,10"]), 2810.0, 4.0);
    near(&asked(&folder, &["mean", "visits.csv", "minutes", "--range", "0,100"]), 40.0, 1.0);
}

#[test]
fn by_group_each_person_has_a_value_in_as_many_groups_as_is_said() {
    let folder = visits(false);
    let by_ward = ["--group-by", "ward", "--keys", "east,west", "--range", "0,10"];
    let of = |release: &Value, ward: &str| {
        let groups = release["groups"].as_array().expect("groups");
        let group = groups.iter().find(|group| group["key"] == ward).expect("a ward");
        group["value"].as_f64().expect("a number")
    };
    let both =
        asked(&folder, &[&["count", "visits.csv", "--max-groups-per-unit", "2"], &by_ward[..]].concat());
    assert!((of(&both, "east") - 700.0).abs() <= 6.0 && (of(&both, "west") - 2100.0).abs() <= 6.0, "{both}");
    let one = asked(&folder, &[&["count", "visits.csv"], &by_ward[..]].concat());
    assert_eq!(one["guarantee"]["max_groups_per_unit"], 1);
    // People who came once are in the east, the 600 others in one ward of two by a coin: 12 standard deviations are 147.
    assert!((of(&one, "east") - 400.0).abs() <= 153.0, "{one}");
    let found = asked(
        &folder,
        &["mean", "visits.csv", "minutes", "--group-by", "ward", "--delta", "1e-6", "--range", "0,100"],
    );
    assert!((of(&found, "east") - 36.25).abs() < 8.0, "{found}");
}

#[test]
fn what_takes_part_is_said_everywhere() {
    let folder = visits(false);
    let words = |more: &[&str]| {
        let mean =
            ["mean", "visits.csv", "minutes", "--range", "0,100", "--unit", "person", "--epsilon", "5"];
        let output = folder.run_words(&[&mean, more].concat());
        String::from_utf8(output.stdout).expect("text")
    };
    let plan = words(&["--per-unit", "--dry-run"]);
    assert!(plan.contains("  rows       all rows of each person, first made one value\n"), "{plan}");
    assert!(plan.contains("each person's rows are first made one value; "), "{plan}");
    let release = words(&["--per-unit"]);
    assert!(release.contains("with each person's mean limited to 0 to 100"), "{release}");
    assert!(
        release.contains("each person's rows first: it is about one mean of all rows of a person"),
        "{release}"
    );
    assert!(release.contains("  rows       all rows of each person, first made one value\n"), "{release}");
    assert!(!release.contains("drawn at random") && !release.contains("  next "), "{release}");
    // An answer about rows that are drawn says how to ask about all of them.
    let drawn = words(&[]);
    assert!(drawn.contains("one row of each person, drawn at random"), "{drawn}");
    let next = drawn.lines().find_map(|line| line.strip_prefix("  next       ")).expect("a next step");
    assert!(next.contains("--per-unit") && next.contains("--unit person"), "{next}");
    let next: Vec<&str> = next.split(' ').skip(1).collect();
    assert_eq!(folder.run_words(&next).status.code(), Some(0));
}

/// The truth of a simulation is that of all rows, and the bars hold about as often as they say.
#[test]
fn a_simulation_knows_the_truth_of_people() {
    let folder = visits(false);
    let simulated = folder.json_words(&[
        "simulate",
        "--trials",
        "60",
        "count",
        "visits.csv",
        "--unit",
        "person",
        "--per-unit",
        "--range",
        "0,10",
        "--epsilon",
        "1",
    ]);
    let text = simulated.to_string();
    assert!(text.contains("2800"), "{text}");
}

/// A file may have columns called as ours are in words; those of ours nobody can name.
#[test]
fn columns_of_people_are_not_named_and_none_is_taken_for_another() {
    let folder = Folder::empty();
    let mut text = String::from("id,rows\n");
    for person in 0..1000 {
        for row in 0..4 {
            writeln!(text, "p{person},{}", if row == 0 { "1" } else { "" }).expect("a string");
        }
    }
    folder.write("many.csv", text);
    let counts = r#"{"epsilon": 200, "unit": "id", "questions": [{"statistic": "count", "per_unit": true}, {"statistic": "count", "column": "rows", "per_unit": true}]}"#;
    folder.write("batch.json", counts);
    let answered = folder.json("batch batch.json many.csv");
    near(&answered["answers"][0], 4000.0, 40.0);
    near(&answered["answers"][1], 1000.0, 40.0);
    for words in [
        ["--where", "\"count per unit\" > 2"],
        ["--where", "\"count of rows per unit\" > 2"],
        ["--group-by", "count per unit"],
    ] {
        let line =
            [&["count", "many.csv", "--unit", "id", "--per-unit", "--epsilon", "1"], &words[..]].concat();
        assert_eq!(folder.run_words(&line).status.code(), Some(2), "{words:?}");
    }
}
