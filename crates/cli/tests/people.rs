//! People with many rows, and rows that take part only where a condition is true, as a user asks for them.

mod support;

use serde_json::Value;
use std::{
    fmt::Write as _,
    fs,
    io::{BufWriter, Write as _},
    path::Path,
    process::Command,
};
use support::Folder;

/// Visits of 500 people: person p came p % 7 + 1 times, and `minutes` is p each time; some ids are missing.
fn visits() -> Folder {
    let mut text = String::from("person,minutes,ward\n");
    for person in 1..=500 {
        for visit in 0..=person % 7 {
            let ward = if visit == 0 { "east" } else { "west" };
            // Space around an id is not part of it.
            let space = if visit % 2 == 0 { "" } else { " " };
            writeln!(text, "{space}p{person}{space},{person},{ward}").expect("a string");
        }
    }
    text.push_str(",1,east\n  ,2,west\n");
    Folder::with("visits.csv", text)
}

fn fails(folder: &Folder, words: &[&str]) -> String {
    let output = folder.run_words(words);
    assert_eq!(output.status.code(), Some(2), "{words:?}");
    String::from_utf8(output.stderr).expect("text")
}

fn near(release: &Value, truth: i64, within: i64) {
    let value = release["value"].as_f64().unwrap_or_else(|| panic!("{release}"));
    assert!((value - truth as f64).abs() <= within as f64, "{value} is not near {truth}");
}

/// At epsilon 20, noise on a count of people exceeds 3 with a probability below e^-60.
#[test]
fn a_count_with_a_unit_counts_people_and_their_rows_up_to_the_bound() {
    let folder = visits();
    let people = ["count", "visits.csv", "--unit", "person", "--epsilon", "20"];
    let release = folder.json_words(&people);
    near(&release, 500, 3);
    assert_eq!(release["guarantee"]["unit"], "person");
    assert_eq!(release["guarantee"]["max_rows_per_unit"], 1);
    // Person p has p % 7 + 1 rows, of which at most three take part.
    let rows: i64 = (1..=500).map(|person| (person % 7 + 1).min(3)).sum();
    let three = folder.json_words(&[&people[..5], &["60", "--max-rows-per-unit", "3"]].concat());
    near(&three, rows, 3);
    let east = folder.json_words(&[&people[..], &["--where", "ward = 'east'"]].concat());
    near(&east, 500, 3);
    assert_eq!(east["where"], "ward = 'east'");
    let few = folder.json_words(&[&people[..], &["--where", "minutes <= 100 and ward = 'west'"]].concat());
    near(&few, (1..=100).map(|person| i64::from(person % 7 > 0)).sum(), 3);
    assert_eq!(few["spent"]["epsilon"], "120");
}

/// Every person has one number of minutes, so the median over one row of each is near 250 of 1 to 500: 2,016 rows would have
/// theirs elsewhere only by chance. At epsilon 20 the answer is within 3 ranks with probability 1 - 1e-9.
#[test]
fn a_median_over_people_is_one_over_one_row_of_each() {
    let folder = visits();
    let words = [
        "median",
        "visits.csv",
        "minutes",
        "--unit",
        "person",
        "--epsilon",
        "20",
        "--confidence",
        "0.999999999",
    ];
    let release = folder.json_words(&words);
    assert_eq!(release["outcome"], "released");
    let rank = release["error"]["rank"].as_i64().expect("a rank");
    near(&release, 250, rank + 1);
    let plan = folder.run_words(&[&words[..], &["--dry-run", "--max-rows-per-unit", "2"]].concat());
    let text = String::from_utf8(plan.stdout).expect("text");
    assert!(text.contains("  rows       at most 2 rows of each person, drawn at random\n"), "{text}");
    assert!(text.contains("for all rows of one person, added or removed"), "{text}");
}

#[test]
fn a_data_set_keeps_its_unit_and_a_budget_of_rows_pays_two_steps() {
    let folder = visits();
    let set = folder.run_words(&["budget", "set", "visits.csv", "--unit", "person", "--epsilon", "50"]);
    assert_eq!(set.status.code(), Some(0));
    let release = folder.json_words(&["count", "visits.csv", "--epsilon", "20"]);
    near(&release, 500, 3);
    assert_eq!(
        (&release["guarantee"]["unit"], &release["spent"]["epsilon"]),
        (&"person".into(), &"20".into())
    );
    let other = fails(&folder, &["count", "visits.csv", "--unit", "ward", "--epsilon", "1"]);
    assert!(other.contains("registered with the unit person"), "{other}");

    let rows = visits();
    rows.json_words(&["count", "visits.csv", "--epsilon", "1"]);
    let release = rows.json_words(&["count", "visits.csv", "--unit", "person", "--epsilon", "2"]);
    assert_eq!(
        (&release["guarantee"]["unit"], &release["guarantee"]["epsilon"]),
        (&"person".into(), &"2".into())
    );
    assert_eq!(release["spent"]["epsilon"], "5", "one, and two steps of two");
    let slip = fails(&rows, &["budget", "set", "visits.csv", "--unit", "persom", "--epsilon", "5"]);
    assert!(slip.contains("did you mean 'person'?"), "{slip}");
}

/// Under replace a filter makes the number of rows private: the price is what was said, the noise is that of two steps.
#[test]
fn replace_with_a_filter_runs_in_two_steps_and_costs_what_was_said() {
    let folder = visits();
    let words = ["median", "visits.csv", "minutes", "--epsilon", "2", "--adjacency", "replace", "--dry-run"];
    let all = folder.json_words(&words);
    let some = folder.json_words(&[&words[..], &["--where", "minutes > 3"]].concat());
    for plan in [&all, &some] {
        assert_eq!(
            (&plan["charge"]["epsilon"], &plan["guarantee"]["adjacency"]),
            (&"2".into(), &"replace".into())
        );
    }
    let words = |plan: &Value| plan["expected"].as_str().expect("words").to_string();
    assert!(words(&all).contains("refused with fewer than"), "{}", words(&all));
    assert!(words(&some).contains("noisy count"), "{}", words(&some));
    // How many rows there are is public; how many pass is not.
    let all = fails(&folder, &["count", "visits.csv", "--epsilon", "1", "--adjacency", "replace"]);
    assert!(all.contains("is public"), "{all}");
    let some =
        ["count", "visits.csv", "--epsilon", "20", "--adjacency", "replace", "--where", "ward = 'east'"];
    near(&folder.json_words(&some), 501, 3);
}

#[test]
fn wrong_words_are_one_line_and_cost_nothing() {
    let folder = visits();
    for (words, said) in [
        (&["--unit", "persn"][..], "--unit: no column is called 'persn'; did you mean 'person'?"),
        (&["--unit", "person", "--max-rows-per-unit", "0"], "max-rows-per-unit 0 is not accepted"),
        (&["--max-rows-per-unit", "2"], "max-rows-per-unit needs a unit"),
        (&["--where", "ward = "], "--where: "),
        (&["--where", "wad = 'x'"], "--where: no column is called 'wad'; did you mean 'ward'?"),
    ] {
        let error = fails(&folder, &[&["count", "visits.csv", "--epsilon", "1"], words].concat());
        // A second line has the whole command that was probably meant, or the one that lists what there is.
        let lines: Vec<&str> = error.lines().collect();
        assert!(
            lines[0].contains(said)
                && lines[1..].iter().all(|line| line.starts_with("  try: equipoise count ")
                    || line.starts_with("  see: equipoise columns ")
                    || line.starts_with("  see: equipoise count --help ")),
            "{error}"
        );
    }
    assert!(!folder.path("equipoise.ledger").exists());
}

/// `EQUIPOISE_BIG_ROWS=100000000` makes a file of so many rows, five for each person, and asks of it within 4 GB of addresses.
#[test]
fn a_file_of_any_size_is_answered_within_four_gigabytes() {
    let Some(rows) = std::env::var("EQUIPOISE_BIG_ROWS").ok().and_then(|rows| rows.parse::<u64>().ok())
    else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    write_big(&folder.path().join("big.csv"), rows);
    for words in ["median big.csv value --epsilon 1", "median big.csv value --epsilon 1 --unit person"] {
        let line = format!(
            "ulimit -v 4194304; exec {} {words} --ledger {}.ledger",
            env!("CARGO_BIN_EXE_equipoise"),
            words.len()
        );
        let begin = std::time::Instant::now();
        let output =
            Command::new("sh").args(["-c", &line]).current_dir(folder.path()).output().expect("a shell");
        println!("{rows} rows, {words}: {:.1} s", begin.elapsed().as_secs_f64());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

fn write_big(path: &Path, rows: u64) {
    let mut file = BufWriter::new(fs::File::create(path).expect("a file"));
    file.write_all(b"person,value\n").expect("room");
    for row in 0..rows {
        // People's rows lie far apart.
        let person = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) % rows.div_ceil(5);
        writeln!(file, "{person},{}", row % 1_000_003).expect("room");
    }
    file.flush().expect("room");
}

/// Noise for a row at epsilon 100 is a whole number other than zero with a chance below 1e-43.
#[test]
fn people_take_part_in_as_many_groups_as_is_said() {
    let folder = visits();
    let by_ward = ["count", "visits.csv", "--group-by", "ward", "--keys", "east,west", "--unit", "person"];
    let counts = |release: &Value| -> Vec<i64> {
        let groups = release["groups"].as_array().expect("groups");
        groups.iter().map(|group| group["value"].as_i64().expect("a count")).collect()
    };
    let both =
        folder.json_words(&[&by_ward[..], &["--max-groups-per-unit", "2", "--epsilon", "200"]].concat());
    // One person in seven came once, to the east.
    assert_eq!(counts(&both), [500, 429]);
    let promise = &both["guarantee"];
    assert_eq!(
        (promise["max_groups_per_unit"].as_u64(), promise["max_rows_per_unit"].as_u64()),
        (Some(2), Some(2))
    );
    let one =
        folder.json_words(&[&by_ward[..], &["--max-groups-per-unit", "1", "--epsilon", "100"]].concat());
    assert_eq!(counts(&one).iter().sum::<i64>(), 500);
    let text =
        folder.run_words(&[&by_ward[..], &["--max-groups-per-unit", "2", "--epsilon", "200"]].concat());
    let text = String::from_utf8(text.stdout).expect("text");
    assert!(text.contains("at most 2 rows of each person in at most 2 groups, drawn at random"), "{text}");
    let questions = r#"{"data": "visits.csv", "epsilon": 400, "unit": "person", "max-groups-per-unit": 2, "questions": [
        {"statistic": "count", "group-by": "ward", "keys": ["east", "west"]},
        {"statistic": "median", "column": "minutes", "group-by": "ward", "keys": ["east", "west"]}]}"#;
    fs::write(folder.path("questions.json"), questions).expect("a file");
    assert_eq!(counts(&folder.json_words(&["batch", "questions.json"])["answers"][0]), [500, 429]);
    fs::write(
        folder.path("unlike.json"),
        questions.replace(
            r#""minutes", "group-by": "ward", "keys": ["east", "west"]"#,
            r#""minutes", "group-by": "person", "delta": "1e-6""#,
        ),
    )
    .expect("a file");
    for (words, said) in [
        (&["batch", "unlike.json"][..], "all questions of a batch are grouped by the same columns"),
        (
            &["count", "visits.csv", "--unit", "person", "--max-groups-per-unit", "2", "--epsilon", "1"],
            "is for answers by group",
        ),
    ] {
        let line = fails(&folder, words);
        assert!(line.contains(said), "{line}");
    }
}
