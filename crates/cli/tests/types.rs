//! Dates, moments, decimals, whole numbers beyond 2^53, and yes or no, as a user asks about them: declared for a file of text,
//! by the schema of a Parquet file.
//!
//! Of 1000 rows 300 are low, 400 in the middle and 300 high. An answer about ranks at epsilon 20 that is not the value in the
//! middle would have to be 100 ranks off, which has a chance below 2^64·e^-900. At epsilon 1000 a sum has at least 283 of it,
//! and noise is other than zero with a chance below 2·e^-42 where a row counts for at most 20 units.

mod support;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Int64Array, RecordBatch, TimestampMicrosecondArray,
};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};
use std::{
    fmt::Write as _,
    fs::{self, File},
    sync::Arc,
};
use support::Folder;

const LARGE: i64 = 9_007_199_254_740_993;
/// What CSV says of its columns.
const TYPES: [&str; 10] = [
    "--type",
    "hired=date",
    "--type",
    "seen=timestamp",
    "--type",
    "pay=decimal:2",
    "--type",
    "id=integer",
    "--type",
    "member=boolean",
];

/// The same people as text and by a schema.
fn people() -> Folder {
    let folder = Folder::with("people.csv", csv());
    let file = File::create(folder.path("people.parquet")).expect("a file");
    let batch = batch();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
    folder
}

fn text(folder: &Folder, words: &[&str]) -> String {
    let output = folder.run_words(words);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// 0 is low, 1 the middle, 2 high.
fn third(row: usize) -> usize {
    match row % 10 {
        0..3 => 0,
        3..7 => 1,
        _ => 2,
    }
}

/// The same values as [`batch`], written in more ways than one.
fn csv() -> String {
    let mut text = String::from("hired,seen,pay,id,member\n");
    for row in 0..1000 {
        let other = row % 20 < 10;
        let line = match (third(row), other) {
            (0, true) => "2001-05-06,2001-05-06T07:08:09Z,0.1,-5,no",
            (0, false) => " 2001-05-06 ,2001-05-06 07:08:09,0.10,-5,FALSE",
            (1, true) => "2015-02-28,2015-02-28T12:30:00.5Z,0.30,9007199254740993,true",
            (1, false) => "2015-02-28,2015-02-28T13:30:00.5+01:00,.3,9007199254740993.0,1",
            (_, true) => "2023-12-31,2023-12-31T23:59:59Z,99.95,9223372036854775807,yes",
            (_, false) => "2023-12-31,2023-12-31T23:59:59Z,99.950,9223372036854775807,t",
        };
        writeln!(text, "{line}").expect("a string");
    }
    text
}

fn batch() -> RecordBatch {
    let pick = |values: [i64; 3]| (0..1000).map(move |row| values[third(row)]);
    let days = [11_448, 16_494, 19_722].map(i64::from);
    let moments = [989_132_889_000_000, 1_425_126_600_500_000, 1_704_067_199_000_000];
    let days = Date32Array::from_iter_values(pick(days).map(|day| i32::try_from(day).expect("a day")));
    let pays = Decimal128Array::from_iter_values(pick([10, 30, 9995]).map(i128::from));
    let pays = pays.with_precision_and_scale(10, 2).expect("a decimal");
    let members: BooleanArray = pick([0, 1, 1]).map(|yes| Some(yes == 1)).collect();
    let columns: [(&str, ArrayRef); 5] = [
        ("hired", Arc::new(days)),
        ("seen", Arc::new(TimestampMicrosecondArray::from_iter_values(pick(moments)))),
        ("pay", Arc::new(pays)),
        ("id", Arc::new(Int64Array::from_iter_values(pick([-5, LARGE, i64::MAX])))),
        ("member", Arc::new(members)),
    ];
    RecordBatch::try_from_iter(columns).expect("a batch")
}

/// Ask the same of both files, and hand over both answers.
fn both(folder: &Folder, words: &[&str]) -> [Value; 2] {
    let with = |file: &str, types: &[&str]| {
        let words: Vec<&str> = words.iter().map(|&word| if word == "FILE" { file } else { word }).collect();
        folder.json_words(&[&words, types].concat())
    };
    [with("people.csv", &TYPES), with("people.parquet", &[])]
}

#[test]
fn order_statistics_of_every_type_are_values_of_that_type() {
    let folder = people();
    for (column, name, middle) in [
        ("hired", "date", json!("2015-02-28")),
        ("seen", "timestamp", json!("2015-02-28T12:30:00.5Z")),
        ("pay", "decimal:2", json!("0.30")),
        ("id", "integer", json!(LARGE)),
        ("member", "boolean", json!(true)),
    ] {
        for release in both(&folder, &["median", "FILE", column, "--epsilon", "20", "--interval"]) {
            assert_eq!((&release["value"], &release["type"]), (&middle, &json!(name)), "{column}");
            let error = &release["error"];
            assert_eq!(
                (&error["kind"], &error["low"], &error["high"]),
                (&json!("interval"), &middle, &middle)
            );
        }
        for release in both(&folder, &["mode", "FILE", column, "--epsilon", "20", "--delta", "1e-6"]) {
            let most = if column == "member" { json!(true) } else { middle.clone() };
            assert_eq!((&release["value"], &release["type"]), (&most, &json!(name)), "{column}");
        }
    }
    for release in both(&folder, &["quantile", "FILE", "hired", "0.1,0.5,0.9", "--epsilon", "60"]) {
        assert_eq!(release["value"], json!(["2001-05-06", "2015-02-28", "2023-12-31"]));
    }
    for (column, range, unit) in [
        ("hired", json!(8274), json!("days")),
        ("seen", json!(714_934_310), json!("seconds")),
        ("pay", json!("99.85"), json!("decimal:2")),
        ("id", json!(9_223_372_036_854_775_812u64), json!("integer")),
    ] {
        for release in both(&folder, &["iqr", "FILE", column, "--epsilon", "60"]) {
            assert_eq!((&release["value"], &release["type"]), (&range, &unit), "{column}");
        }
    }
    let said = text(&folder, &[&["iqr", "people.csv", "hired", "--epsilon", "60"], &TYPES[..]].concat());
    assert!(said.starts_with("iqr of hired: 8274 days\n"), "{said}");
}

#[test]
fn sums_and_shares_are_exact_where_noise_is_none() {
    let folder = people();
    for (words, value) in [
        (&["mean", "FILE", "member"][..], json!(0.7)),
        (&["sum", "FILE", "member"], json!(700)),
        (&["variance", "FILE", "member"], json!(0.21)),
        (&["sum", "FILE", "pay", "--range", "0,0.2"], json!("170.00")),
        (&["sum", "FILE", "id", "--range", "-9,0"], json!(-1500)),
    ] {
        for release in both(&folder, &[words, &["--epsilon", "1000"]].concat()) {
            let (found, value) = (&release["value"], &value);
            let close = found.as_f64().zip(value.as_f64()).is_some_and(|(a, b)| (a - b).abs() < 1e-9);
            assert!(found == value || close, "{words:?}: {found}");
        }
    }
    // A range that is searched, and one with too many units for exact sums, still give values of the type.
    for range in [&[][..], &["--range", "0,1e9"]] {
        for release in both(&folder, &[&["sum", "FILE", "pay", "--epsilon", "100"], range].concat()) {
            let ends = [&release["error"]["low"], &release["value"], &release["error"]["high"]];
            for end in ends {
                let (_, digits) = end.as_str().and_then(|text| text.split_once('.')).expect("a decimal");
                assert_eq!(digits.len(), 2, "{end}");
            }
        }
    }
}

#[test]
fn keys_candidates_and_conditions_are_values_of_their_types() {
    let folder = people();
    for release in both(&folder, &["histogram", "FILE", "pay", "--epsilon", "20", "--delta", "1e-6"]) {
        let keys: Vec<&Value> =
            release["groups"].as_array().expect("groups").iter().map(|g| &g["key"]).collect();
        assert_eq!(keys, ["0.10", "0.30", "99.95"]);
    }
    let stated = &["histogram", "FILE", "hired", "--keys", "2015-02-28,2015-03-01", "--epsilon", "100"];
    for release in both(&folder, stated) {
        let groups: Vec<(&Value, &Value)> =
            release["groups"].as_array().expect("groups").iter().map(|g| (&g["key"], &g["value"])).collect();
        assert_eq!(groups, [(&json!("2015-02-28"), &json!(400)), (&json!("2015-03-01"), &json!(0))]);
    }
    let among =
        &["select", "FILE", "id", "--among", "-5,9007199254740992,9007199254740993", "--epsilon", "20"];
    for release in both(&folder, among) {
        assert_eq!(release["value"], json!(LARGE));
    }
    for (condition, rows) in [
        ("hired < 2010-01-01", 300),
        ("hired between '2015-02-28' and 2015-02-28", 400),
        ("seen >= 2015-02-28T12:30:00.5Z", 700),
        ("seen > 2015-02-28T12:30:00.5Z and hired is not null", 300),
        ("member = true", 700),
        ("not member = 'yes' or pay = 99.95", 600),
        ("id = 9007199254740993", 400),
        ("id > 9007199254740993", 300),
    ] {
        for release in both(&folder, &["count", "FILE", "--where", condition, "--epsilon", "100"]) {
            assert_eq!(release["value"], json!(rows), "{condition}");
        }
    }
    for release in
        both(&folder, &["median", "FILE", "pay", "--group-by", "hired", "--epsilon", "80", "--delta", "1e-6"])
    {
        let groups = release["groups"].as_array().expect("groups");
        let shown: Vec<(&Value, &Value)> =
            groups.iter().map(|group| (&group["key"], &group["value"])).collect();
        let pair = |key: &str, value: &str| (json!(key), json!(value));
        let due = [pair("2001-05-06", "0.10"), pair("2015-02-28", "0.30"), pair("2023-12-31", "99.95")];
        assert_eq!(shown, due.each_ref().map(|(key, value)| (key, value)));
    }
}

#[test]
fn batches_plans_simulations_and_checks_know_types() {
    let folder = people();
    let questions = r#"{"data": "people.csv", "epsilon": 60, "types": {"hired": "date", "id": "integer"}, "questions": [
        {"statistic": "median", "column": "hired"}, {"statistic": "median", "column": "id"},
        {"statistic": "count", "target-error": 1}], "where": "hired < 2020-01-01"}"#;
    fs::write(folder.path("questions.json"), questions).expect("a file");
    let release = folder.json_words(&["batch", "questions.json"]);
    let values: Vec<&Value> =
        release["answers"].as_array().expect("answers").iter().map(|a| &a["value"]).collect();
    assert_eq!(values[..2], [&json!("2015-02-28"), &json!(LARGE)]);
    let planned = folder.json_words(&[
        "median",
        "people.csv",
        "hired",
        "--type",
        "hired=date",
        "--epsilon",
        "1",
        "--dry-run",
    ]);
    assert_eq!((&planned["outcome"], &planned["type"]), (&json!("planned"), &json!("date")));
    let fewer = folder.json_words(&["median", "people.csv", "hired", "--epsilon", "1", "--dry-run"]);
    assert!(
        planned["error"]["rank"].as_u64() < fewer["error"]["rank"].as_u64(),
        "days are fewer than floats"
    );
    fs::copy(folder.path("people.csv"), folder.path("public.csv")).expect("a copy");
    let simulated = text(
        &folder,
        &[&["simulate", "--trials", "20", "median", "public.csv", "seen", "--epsilon", "20"], &TYPES[..]]
            .concat(),
    );
    let middle = "2015-02-28T12:30:00.5Z";
    assert!(
        simulated.contains(&format!("median {middle}, nine of ten between {middle} and {middle}")),
        "{simulated}"
    );
    assert!(
        simulated.contains(&format!("{middle}; half of the answers are within 0 seconds")),
        "{simulated}"
    );
    let checked = text(&folder, &["check", "people.csv", "--type", "hired=date", "--type", "seen=date"]);
    assert!(checked.contains("hired as date: every field that is not empty"), "{checked}");
    assert!(
        checked
            .contains("seen as date: 1000 fields are none and count as empty, in records 1, 2, 3, 4, 5, ...")
    );
    let found = folder.json_words(&["check", "people.csv", "--type", "seen=date"]);
    assert_eq!(found["declared"][0]["unfit"], json!(1000));
}

#[test]
fn what_is_wrong_with_a_type_is_one_line_and_free() {
    let folder = people();
    for (words, said) in [
        ("median people.csv hired --type hired", "COLUMN=TYPE, such as hired=date"),
        ("median people.csv hired --type hired=day", "no type is called 'day'"),
        ("median people.csv hired --type hired=date --type hired=text", "no type is called 'date and text'"),
        (
            "median people.csv hired --type hire=date",
            "--type: no column is called 'hire'; did you mean 'hired'?",
        ),
        ("median people.csv hired --type hired=text", "median of a text has no meaning"),
        ("mean people.csv hired --type hired=date", "mean of a date has no meaning, and 'hired' is one"),
        ("sum people.parquet seen", "sum of a timestamp has no meaning"),
        ("summary people.parquet hired", "summary of a date has no meaning"),
        ("iqr people.parquet member", "ask for mean, which is the share of yes"),
        (
            "median people.parquet hired --type hired=integer",
            "is of the type date and cannot be read as integer",
        ),
        ("median people.parquet hired --range 0,100", "of the type date"),
        ("median people.parquet hired --range 2026-02-30,2027-01-01", "such as 2000-01-01,2030-12-31"),
        ("median people.parquet pay --range 0,92233720368547758.08", "of the type decimal:2"),
        ("sum people.parquet pay --range 5,5", "LO below HI"),
        ("median people.parquet pay --resolution 0.001", "a multiple of 0.01"),
        ("median people.csv pay --type pay=decimal:19", "no type is called 'decimal:19'"),
        ("histogram people.parquet hired --keys soon --type hired=date", "'soon' was stated and is no date"),
        ("select people.csv id --among a --type id=integer", "'a' was stated and is no integer"),
        ("check people.csv --type hired=day", "no type is called 'day'"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let priced = [&words[..], &["--epsilon", "1"]].concat();
        let output = folder.run_words(if words[0] == "check" { &words } else { &priced });
        let line = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {line}");
        assert!(line.contains(said), "{words:?}: {line}");
    }
    for (condition, said) in [
        ("hired < 5", "column 'hired' is of the type date, which 5 is not; write 2026-01-31"),
        ("hired < 2026-02-30", "which 2026-02-30 is not"),
        ("hired < seen", "'hired' is date and 'seen' is timestamp; declare one type for both with --type"),
        ("member = 7", "write true or false"),
    ] {
        let output = folder.run_words(&["count", "people.parquet", "--epsilon", "1", "--where", condition]);
        let line = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{condition}: {line}");
        let mut lines = line.trim_end().lines();
        assert!(lines.next().is_some_and(|line| line.contains(said)), "{condition}: {line}");
        let look = "  see: equipoise columns people.parquet   (free)";
        assert_eq!((lines.next(), lines.next()), (Some(look), None), "{condition}");
    }
    assert!(!folder.path("equipoise.ledger").exists(), "nothing was charged");
}

/// Days that do not exist, numbers beyond 64 bits and words are nulls, one by one; days beyond the year 9999 are moved to its end.
#[test]
fn values_that_are_not_of_the_type_are_empty_and_far_ones_are_moved() {
    let folder = people();
    let mut text = String::from("day,pay\n");
    for row in 0..1000 {
        text.push_str(
            ["2024-02-30,1e30\n", "soon,much\n", "+12026-01-01,7.005\n", "+12026-01-01,7.005\n"][row % 4],
        );
    }
    fs::write(folder.path("odd.csv"), text).expect("a file");
    let types = ["--type", "day=date", "--type", "pay=decimal:2", "--epsilon", "100"];
    let ask = |words: &[&str]| folder.json_words(&[words, &types].concat())["value"].clone();
    assert_eq!(ask(&["count", "odd.csv", "day"]), json!(500));
    assert_eq!(ask(&["count", "odd.csv", "pay"]), json!(500));
    assert_eq!(ask(&["median", "odd.csv", "day"]), json!("9999-12-31"));
    assert_eq!(
        ask(&["median", "odd.csv", "day", "--range", "2000-01-01,+20000-01-01"]),
        json!("+12026-01-01")
    );
    assert_eq!(ask(&["median", "odd.csv", "pay"]), json!("7.01"));
    assert_eq!(ask(&["count", "odd.csv", "--where", "day is null"]), json!(500));
}

/// Values may be stated in any way that is read as them, whether words or a schema declare the type; what is no such value is
/// refused before the charge. At epsilon 1000 noise on a count is other than zero with a chance below 2·e^-1000.
#[test]
fn stated_values_and_quoted_numbers_are_read_by_the_type() {
    let folder = people();
    let counts = |file: &str, types: &[&str], column: &str, keys: &str| {
        let words = ["histogram", file, column, "--epsilon", "1000", "--keys", keys];
        let groups = folder.json_words(&[&words, types].concat())["groups"].clone();
        let count = |group: &Value| (group["key"].clone(), group["value"].clone());
        groups.as_array().expect("groups").iter().map(count).collect::<Vec<_>>()
    };
    for (file, types) in [("people.parquet", &[][..]), ("people.csv", &TYPES[..])] {
        assert_eq!(
            counts(file, types, "pay", "0.1,0.300"),
            [(json!("0.10"), json!(300)), (json!("0.30"), json!(400))]
        );
        assert_eq!(counts(file, types, "member", "no"), [(json!("false"), json!(300))]);
        assert_eq!(counts(file, types, "id", "-05"), [(json!("-5"), json!(300))]);
        assert_eq!(counts(file, types, "hired", " 2001-05-06 "), [(json!("2001-05-06"), json!(300))]);
        let moment = (json!("2015-02-28T12:30:00.5Z"), json!(400));
        assert_eq!(counts(file, types, "seen", "2015-02-28T13:30:00.5+01:00"), [moment]);
        for (column, wrong) in [("hired", "someday"), ("member", "maybe"), ("id", "five")] {
            let words = ["histogram", file, column, "--epsilon", "1", "--keys", wrong];
            let output = folder.run_words(&[&words, types].concat());
            let said = String::from_utf8(output.stderr).expect("text");
            assert_eq!(output.status.code(), Some(2), "{column}");
            assert!(said.contains("was stated and is no"), "{said}");
        }
        let select = folder
            .json_words(&[&["select", file, "id", "--epsilon", "1000", "--among", "-05,77"], types].concat());
        assert_eq!(select["value"], json!(-5));
    }
    let count = |filter: &str| {
        folder.json_words(&["count", "people.parquet", "--epsilon", "1000", "--where", filter])["value"]
            .clone()
    };
    assert_eq!(
        [count("pay = '0.1'"), count("id = '-5'"), count("id < '9'")],
        [300; 3].map(|many| json!(many))
    );
    let output = folder.run_words(&["count", "people.parquet", "--epsilon", "1", "--where", "id = 'five'"]);
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(
        output.status.code() == Some(2) && said.contains("is of the type integer, which five is not"),
        "{said}"
    );
}
