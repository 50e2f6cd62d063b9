//! Questions about files as a user asks them: answers, charges, and what a wrong request says.

mod support;

use serde_json::Value;
use std::{fmt::Write as _, fs, path::Path, process::Command};
use support::Folder;

/// A folder with one data file in it.
/// A thousand rows: values 1 to 1000, and a town.
fn thousand() -> Folder {
    let mut text = String::from("value,town\n");
    for value in 1..=1000 {
        writeln!(text, "{value},{}", if value % 3 == 0 { "Ayr" } else { "Bath" }).expect("a string");
    }
    Folder::new(text)
}

/// A median 100 ranks off has a probability of about e^(-0.85·100/2) < 1e-18, a count 20 off e^(-100), a noisy number of
/// rows 800 off e^(-40); the mode leads by so much that its gate is open for certain.
#[test]
fn answers_lie_where_their_error_bars_say() {
    let folder = thousand();
    let median = folder.json("median data.csv value --epsilon 1");
    assert_eq!(median["outcome"], "released");
    let value = median["value"].as_f64().expect("a number");
    assert!((400.0..600.0).contains(&value), "{value}");
    assert_eq!(median["error"]["rank"], 32);
    assert_eq!(median["guarantee"]["epsilon"], "1");
    assert_eq!(median["receipt"]["ledger"].as_str().expect("an id").len(), 32);
    let several = folder.json("quantile data.csv value 0.25,0.75 --epsilon 4");
    assert_eq!(several["value"].as_array().expect("a list").len(), 2);
    let count = folder.json("count data.csv --epsilon 5");
    assert!((count["value"].as_i64().expect("a number") - 1000).abs() < 20);
    let mode = folder.json("mode data.csv town --epsilon 1 --delta 1e-6");
    assert_eq!(mode["value"], "Bath");
    assert_eq!(mode["spent"]["epsilon"], "11");
    assert_eq!(folder.charges(), 4);
}

#[test]
fn a_handful_of_rows_is_refused_and_charged() {
    let folder = Folder::new(b"value\n1\n2\n3\n");
    // Under replace the number of rows is public, and so the refusal certain.
    let output = folder.run("median data.csv value --epsilon 1 --adjacency replace --json");
    assert_eq!(output.status.code(), Some(3));
    let release: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&release["outcome"], &release["value"]), (&Value::from("refused"), &Value::Null));
    assert!(release["advice"].as_str().expect("advice").contains("too few rows"));
    assert_eq!(folder.charges(), 1);
    // Else it is noisy: one file in some hundreds of three rows passes for one of a hundred.
    let folder = Folder::new(b"value\n1\n2\n3\n");
    let output = folder.run("median data.csv value --epsilon 1 --json");
    let release: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let outcome = release["outcome"].as_str().expect("an outcome");
    assert!([(Some(0), "released"), (Some(3), "refused")].contains(&(output.status.code(), outcome)));
    assert_eq!(folder.charges(), 1);
}

#[test]
fn the_same_request_id_gives_the_same_answer_for_free() {
    let folder = thousand();
    let line = "median data.csv value --epsilon 1 --request-id monday";
    let first = folder.json(line);
    assert_eq!(folder.json(line), first);
    assert_eq!(folder.charges(), 1);
    let other = folder.fails("median data.csv value --epsilon 2 --request-id monday");
    assert!(other.contains("exit 2:"), "{other}");
}

#[test]
fn a_plan_reads_nothing_and_makes_no_ledger() {
    let folder = thousand();
    let plan = folder.json("median data.csv value --epsilon 1 --dry-run");
    assert_eq!(plan["outcome"], "planned");
    assert!(!folder.path("equipoise.ledger").exists());
    // Neither does what is wrong with the rows show in it.
    fs::write(folder.path("data.csv"), b"value,town\n\"never,closed\n\xff\xfe\n").expect("a file");
    assert_eq!(folder.json("median data.csv value --epsilon 1 --dry-run"), plan);
}

#[test]
fn a_limit_is_never_exceeded_and_an_odometer_only_counts() {
    let folder = thousand();
    assert_eq!(folder.run("count data.csv --epsilon 1").status.code(), Some(0));
    assert_eq!(folder.run("budget set data.csv --epsilon 2.5").status.code(), Some(0));
    assert_eq!(folder.run("count data.csv --epsilon 1.5").status.code(), Some(0));
    let over = folder.run("count data.csv --epsilon 0.001");
    assert_eq!(over.status.code(), Some(4));
    // Another file has no budget here any more.
    fs::copy(folder.path("data.csv"), folder.path("copy.csv")).expect("a copy");
    assert_eq!(folder.run("count copy.csv --epsilon 1").status.code(), Some(2));
    // The steward who registers it is told that it is the same content; an analyst is not.
    let set = folder.run("budget set copy.csv --epsilon 1");
    assert!(String::from_utf8_lossy(&set.stderr).contains("data.csv has the same content"));
    assert_eq!(folder.run("count copy.csv --epsilon 1").status.code(), Some(0));
}

#[test]
fn registered_replace_converts_add_remove_upwards() {
    let folder = thousand();
    assert_eq!(folder.run("budget set data.csv --epsilon 10 --adjacency replace").status.code(), Some(0));
    let own = folder.json("median data.csv value --epsilon 1");
    assert_eq!((&own["guarantee"]["adjacency"], &own["spent"]["epsilon"]), (&"replace".into(), &"1".into()));
    let other = folder.json("count data.csv value --epsilon 1 --adjacency add-remove");
    assert_eq!(
        (&other["guarantee"]["adjacency"], &other["spent"]["epsilon"]),
        (&"add-remove".into(), &"3".into())
    );
}

#[test]
fn explanations_name_the_promise() {
    let folder = thousand();
    let release = folder.json("median data.csv value --epsilon 1");
    let id = release["receipt"]["id"].as_str().expect("an id").to_string();
    let output = folder.run(&format!("explain {}", &id[..8]));
    let text = String::from_utf8_lossy(&output.stdout);
    for part in
        ["the median of the column 'value'", "'data.csv'", "e^1", "added or removed", "inverse-sensitivity"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(folder.json(&format!("explain {id}"))["release"]["value"], release["value"]);
    assert_eq!(folder.run(&format!("explain {}", "0".repeat(32))).status.code(), Some(2));
}

#[test]
fn wrong_requests_are_one_line_with_the_next_step_and_cost_nothing() {
    let folder = thousand();
    fs::create_dir(folder.path("folder")).expect("a folder");
    fs::write(folder.path("empty.csv"), b"").expect("a file");
    let lines = [
        "median missing.csv value --epsilon 1",
        "median folder value --epsilon 1",
        "median empty.csv value --epsilon 1",
        "median data.csv vaule --epsilon 1",
        "median data.csv --epsilon 1",
        "median data.csv value",
        "median data.csv value --epsilon -1",
        "median data.csv value --epsilon much",
        "median data.csv value --epsilon 1 --delta 2",
        "median data.csv value --epsilon 1 --confidence 1",
        "median data.csv value --epsilon 1 --adjacency swap",
        "median data.csv value --epsilon 1 --mechanism smoth",
        "median data.csv value --epsilon 1 --mechanism stable",
        "median data.csv value --epsilon 1 --range 9,1",
        "median data.csv value --epsilon 1 --resolution 0",
        "median data.csv value --epsilon 1 --rows 20",
        "median data.csv value --epsilon 1 --rows many",
        "quantile data.csv value --epsilon 1",
        "quantile data.csv value 1.5 --epsilon 1",
        "quantile data.csv value 0.5,0.25 --epsilon 1",
        "iqr data.csv value --epsilon 1 --mechanism scale",
        "mode data.csv town --epsilon 1",
        "count data.csv --epsilon 1 --adjacency replace",
        "median data.csv value --epsilon 1 --delimiter ;;",
        "median data.csv value --epsilon 1e-9",
        "budget show",
        "budget set missing.csv --epsilon 1",
        "explain 1234",
    ];
    let text = lines.map(|line| folder.fails(line)).join("\n");
    insta::assert_snapshot!(text);
    assert!(!folder.path("equipoise.ledger").exists(), "nothing was charged");
}

#[test]
fn a_ledger_that_cannot_be_used_is_one_line() {
    let folder = thousand();
    fs::write(
        folder.path("notes.txt"),
        b"These are notes and not a ledger, and longer than a header would be.",
    )
    .expect("a file");
    let said = folder.fails("count data.csv --epsilon 1 --ledger notes.txt");
    assert!(said.contains("exit 2:") && said.contains("not a ledger"), "{said}");
    let said = folder.fails("count data.csv --epsilon 1 --ledger .");
    assert!(said.contains("exit 2:"), "{said}");
    assert_eq!(folder.run("count data.csv --epsilon 1").status.code(), Some(0));
    newer(&folder.path("equipoise.ledger"));
    let said = folder.fails("count data.csv --epsilon 1");
    assert!(said.contains("exit 2:") && said.contains("newer"), "{said}");
}

/// Raise the version in the header of the SQLite file, where `PRAGMA user_version` lies.
fn newer(ledger: &Path) {
    let mut bytes = fs::read(ledger).expect("a ledger");
    bytes[60..64].copy_from_slice(&9_999u32.to_be_bytes());
    fs::write(ledger, bytes).expect("a ledger");
    for ending in ["-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", ledger.display()));
    }
}

/// One bad record moves the answer no more than one record may, whatever is bad about it: the count of records
/// that are read is off by at most one, and the exact median does not move at all.
#[test]
fn one_bad_record_is_one_record() {
    let good: Vec<u8> = [b"value,town\n".to_vec(), b"7,Ayr\n".repeat(400), b"9,Bath\n".repeat(300)].concat();
    let huge = [b"5,".to_vec(), b"x".repeat(3 << 20), b"\n".to_vec()].concat();
    let bad: [&[u8]; 8] = [
        b"\"7,Ayr\n",
        b"7,\"Ayr\n",
        b"7\n",
        b"7,Ayr,Ayr,Ayr\n",
        b"seven,Ayr\n",
        b"\xff\xfe,\xc3\n",
        b"\0\0\0\n",
        &huge,
    ];
    for line in bad {
        for at in [11, 11 + 6 * 200, good.len()] {
            let folder = Folder::new([&good[..at], line, &good[at..]].concat());
            let median = folder.json("median data.csv value --epsilon 1 --delta 1e-6 --mechanism stable");
            assert_eq!(
                median["value"],
                7.0,
                "{:?} at {at}",
                String::from_utf8_lossy(&line[..line.len().min(20)])
            );
            let count = folder.json("count data.csv --epsilon 50");
            let off = count["value"].as_i64().expect("a number") - 701;
            assert!(off.abs() <= 1, "{off}");
        }
    }
}

/// A file decides what its header and its texts hold; a terminal must not obey them.
#[test]
fn texts_of_a_file_do_not_command_the_terminal() {
    let row = "\u{1b}]0;owned\u{7}\u{1b}[2Jred\u{9b}\u{202e}\n";
    let folder = Folder::new(format!("co\u{1b}[31mlour\n{}", row.repeat(300)).as_bytes());
    let column = "co\u{1b}[31mlour";
    let mode = format!("mode data.csv {column} --epsilon 5 --delta 1e-3");
    let release = folder.json(&mode);
    assert_eq!(release["value"], row.trim_end_matches('\n'));
    let receipt = release["receipt"]["id"].as_str().expect("an id");
    let explain = format!("explain {receipt}");
    for line in [&mode, &explain, &format!("{mode} --dry-run"), &"budget log".to_string()] {
        let output = folder.run(line);
        assert_eq!(output.status.code(), Some(0), "{line}");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(
            !text.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{202e}')),
            "{line}: {text:?}"
        );
    }
}

#[test]
fn an_interquartile_range_beyond_floats_is_not_told_as_no_rows() {
    let folder = Folder::new(format!("v\n{}", "1.7e308\n-1.7e308\n".repeat(500)).as_bytes());
    let release = folder.json("iqr data.csv v --epsilon 5");
    assert!(release["value"].as_f64().is_some_and(|width| width > 1.79e308), "{release}");
}

/// The values 1 to 1000. At epsilon 400 every end has epsilon 31 or more and aims 5 ranks off; that it is on the wrong side or 20 more
/// off has a probability below e^-70, because between any two rows lie about as many values.
#[test]
fn several_quantiles_and_their_range_have_intervals_of_values() {
    let folder = thousand();
    let near = |value: &Value, truth: f64| (value.as_f64().expect("a number") - truth).abs() <= 60.0;
    let list = folder
        .json("quantile data.csv value 0.25,0.5,0.75 --epsilon 400 --interval --confidence 0.999999999");
    assert_eq!(list["spent"]["epsilon"], "400");
    let error = &list["error"];
    assert_eq!((&error["kind"], &error["together"]), (&"interval".into(), &true.into()));
    for (place, truth) in [250.0, 500.0, 750.0].into_iter().enumerate() {
        let (low, high) = (&error["low"][place], &error["high"][place]);
        assert!(near(low, truth) && near(high, truth), "{error}");
        assert!(low.as_f64().unwrap() <= truth && truth <= high.as_f64().unwrap(), "{error}");
    }
    let line = "iqr data.csv value --epsilon 400 --confidence 0.999999999";
    let range = folder.json(&format!("{line} --interval"));
    let error = &range["error"];
    assert!(near(&error["low"], 500.0) && near(&error["high"], 500.0), "{error}");
    assert!((error["low"].as_f64().unwrap()..=error["high"].as_f64().unwrap()).contains(&500.0), "{error}");
    let said = |line: &str| String::from_utf8(folder.run(line).stdout).expect("text");
    assert!(said(&format!("{line} --interval")).contains(", each quartile within "), "{}", said(line));
    assert!(said(line).contains("  error      each quartile within "), "{}", said(line));
    let words = said("quantile data.csv value 0.25,0.75 --epsilon 400 --interval");
    assert!(
        words.contains("  error      the true values lie between 2") && words.contains(", all at once (95 %"),
        "{words}"
    );
    assert_eq!(
        folder
            .fails("iqr data.csv value --epsilon 1 --interval --mechanism scale --delta 1e-6")
            .matches("leave out --interval")
            .count(),
        1
    );
}

/// Reading a file in another way is another request.
#[test]
fn a_request_id_covers_how_the_file_is_read() {
    let folder = Folder::new("1;2\n5;6\n".repeat(500).as_bytes());
    let line = "median data.csv 1 --epsilon 1 --request-id monday --no-header --delimiter";
    folder.json(&format!("{line} ;"));
    let other = folder.fails(&format!("{line} ,"));
    assert!(other.contains("exit 2:") && other.contains("another request"), "{other}");
    assert_eq!(folder.charges(), 1);
}

/// However a file is reached, it has one ledger and one name in it; a link to a ledger is that ledger.
#[cfg(unix)]
#[test]
fn links_do_not_split_a_budget() {
    use std::os::unix::fs::symlink;
    let folder = thousand();
    fs::create_dir(folder.path("elsewhere")).expect("a folder");
    folder.json("count data.csv --epsilon 1");
    symlink("../data.csv", folder.path("elsewhere/link.csv")).expect("a link");
    assert_eq!(folder.json("count elsewhere/link.csv --epsilon 1")["spent"]["epsilon"], "2");
    assert!(!folder.path("elsewhere/equipoise.ledger").exists());
    symlink("../equipoise.ledger", folder.path("elsewhere/books")).expect("a link");
    let through = folder.json("count data.csv --epsilon 1 --ledger elsewhere/books");
    assert_eq!((&through["data"], &through["spent"]["epsilon"]), (&"data.csv".into(), &"3".into()));
    // Another file of the same name beside the link is another data set.
    fs::copy(folder.path("data.csv"), folder.path("elsewhere/data.csv")).expect("a copy");
    let other = folder.json("count elsewhere/data.csv --epsilon 1 --ledger elsewhere/books");
    assert_eq!((&other["data"], &other["spent"]["epsilon"]), (&"elsewhere/data.csv".into(), &"1".into()));
}

/// Two names that differ only in bytes that are not text would else share one budget.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_text_has_no_budget() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let folder = thousand();
    let name = OsStr::from_bytes(b"data\xff.csv");
    fs::copy(folder.path("data.csv"), folder.root().join(name)).expect("a copy");
    let output = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .args([OsStr::new("count"), name, OsStr::new("--epsilon"), OsStr::new("1")])
        .current_dir(folder.root())
        .env_remove("EQUIPOISE_LEDGER")
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.path("equipoise.ledger").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_one_line_and_no_panic() {
    let folder = thousand();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
    let output = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .args("count data.csv --epsilon 1".split_whitespace())
        .current_dir(folder.root())
        .env_remove("EQUIPOISE_LEDGER")
        .stdout(full)
        .output()
        .expect("the program runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    assert_eq!(folder.charges(), 1);
}

/// Opening a pipe waits for a writer, for ever.
#[cfg(unix)]
#[test]
fn pipes_and_missing_folders_are_refused_at_once() {
    let folder = thousand();
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo runs");
    assert!(made.success());
    for line in [
        "count pipe --epsilon 1",
        "budget set pipe --epsilon 1",
        "budget set /dev/zero --epsilon 1",
        "count data.csv --epsilon 1 --ledger nowhere/books",
    ] {
        let failed = folder.fails(line);
        assert!(failed.contains("exit 2: equipoise: ") && failed.lines().count() == 2, "{failed}");
    }
}

/// A receipt is what most people keep; its hash alone must tell an older copy.
#[test]
fn a_receipt_tells_a_restored_old_copy() {
    let folder = thousand();
    folder.json("count data.csv --epsilon 1");
    fs::copy(folder.path("equipoise.ledger"), folder.path("old")).expect("a copy");
    let later = folder.json("count data.csv --epsilon 1");
    let hash = later["receipt"]["hash"].as_str().expect("a hash");
    assert_eq!(folder.json(&format!("budget verify --head {hash}"))["verified"], true);
    let old = folder.fails(&format!("budget verify --ledger old --head {hash}"));
    assert!(old.contains("exit 1: ") && old.contains("older copy"), "{old}");
    assert!(folder.fails("budget verify --head 1234").contains("exit 2: "));
}

/// A text column asked for a mean cost its epsilon and did not say why there was no answer; a hopeless question was charged.
#[test]
fn a_refusal_says_what_rows_hold_and_a_count_keeps_from_asking_in_vain() {
    let folder = thousand();
    // Counts are about the file as it is, and are compared with when it was changed or put into its place, to the second.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let text = folder.run("mean data.csv town --epsilon 10");
    let said = String::from_utf8_lossy(&text.stdout);
    // A number of rows that is 100 off has a probability of e^-50.
    assert!(said.contains("does the column hold numbers?") && text.status.code() == Some(3), "{said}");
    assert!(
        said.contains("next       equipoise histogram data.csv town --epsilon 10 --delta 1e-6"),
        "{said}"
    );
    assert_eq!(folder.run("count data.csv --epsilon 5").status.code(), Some(0));
    let known = folder.run("median data.csv value --epsilon 0.02");
    let said = String::from_utf8_lossy(&known.stderr);
    assert_eq!(known.status.code(), Some(2), "{said}");
    assert!(said.starts_with("equipoise: this would be refused: it takes about"), "{said}");
    assert!(said.contains("\n  try: equipoise median data.csv value --epsilon 0."), "{said}");
    assert_eq!(folder.charges(), 2, "nothing is charged for it");
    let anyway = folder.run("median data.csv value --epsilon 0.02 --anyway");
    assert!([Some(0), Some(3)].contains(&anyway.status.code()) && folder.charges() == 3);
    // Of a summary the quantiles would be refused, and of a batch one question: the plan says so, and asks.
    let summary = folder.run("summary data.csv value --epsilon 0.5 --interval");
    let said = String::from_utf8_lossy(&summary.stderr);
    assert!(said.starts_with("equipoise: some of this would be refused: the quantiles 0.05, "), "{said}");
    assert!(
        said.contains("\n  try: equipoise summary data.csv value --epsilon 0.5 --no-quantiles"),
        "{said}"
    );
    let planned = folder.run("summary data.csv value --epsilon 0.5 --interval --dry-run");
    let said = String::from_utf8_lossy(&planned.stdout);
    assert!(
        said.contains("  earlier    some of this would be refused:") && planned.status.success(),
        "{said}"
    );
    let without = folder.json("summary data.csv value --epsilon 0.5 --no-quantiles");
    assert_eq!(
        (without["answers"].as_array().map(Vec::len), &without["guarantee"]["epsilon"]),
        (Some(3), &"0.5".into())
    );
    let questions = r#"{"epsilon": 0.1, "column": "value",
        "questions": [{"statistic": "iqr"}, {"statistic": "count"}, {"statistic": "median", "epsilon": "0.01"}]}"#;
    fs::write(folder.path("q.json"), questions).expect("a file");
    let batch = folder.run("batch q.json data.csv");
    let said = String::from_utf8_lossy(&batch.stderr);
    assert!(said.starts_with("equipoise: questions 1, 3 would be refused: they take up to about "), "{said}");
    assert!(said.contains("\n  try: equipoise batch q.json data.csv --leave-out 1,3"), "{said}");
    assert_eq!((batch.status.code(), folder.charges()), (Some(2), 4));
    let rest = folder.json("batch q.json data.csv --leave-out 1,3");
    assert_eq!(
        (rest["answers"].as_array().map(Vec::len), &rest["guarantee"]["epsilon"]),
        (Some(1), &"0.1".into())
    );
    assert!(folder.fails("batch q.json data.csv --leave-out 4").contains("there is no question 4"));
    // A query has the place of what would be refused.
    let query = "SELECT COUNT(*),\n  IQR(value) FROM data.csv";
    let wrong = folder.run_words(&["sql", query, "--epsilon", "0.1"]);
    let said = String::from_utf8_lossy(&wrong.stderr);
    assert!(
        said.starts_with("equipoise: line 2, column 3: this would be refused: it takes about "),
        "{said}"
    );
    assert!(said.contains("raise epsilon, leave it out, or give --anyway to ask all the same"), "{said}");
    let planned = folder.run_words(&["sql", query, "--epsilon", "0.1", "--dry-run"]);
    let said = String::from_utf8_lossy(&planned.stdout);
    assert!(said.contains("  earlier    line 2, column 3: this would be refused"), "{said}");
    let charges = folder.charges();
    let anyway = folder.run_words(&["sql", query, "--epsilon", "0.1", "--anyway"]);
    assert!(anyway.status.success() && folder.charges() == charges + 1);
    // A file with another content and an old date is another file.
    fs::write(folder.path("other.csv"), "town,value\nAyr,1\n").expect("a file");
    let touched = Command::new("touch")
        .args(["-d", "2020-01-01"])
        .arg(folder.path("other.csv"))
        .status()
        .expect("touch");
    assert!(touched.success());
    fs::rename(folder.path("other.csv"), folder.path("data.csv")).expect("renamed");
    assert_eq!(folder.run("median data.csv value --epsilon 0.02").status.code(), Some(3));
}

/// A condition with a name or a constant that is nearly right has the whole command that was probably meant.
#[test]
fn a_wrong_condition_has_the_command_that_was_meant() {
    let folder = thousand();
    for (condition, meant) in [("valu>3", "value>3"), ("value>'60'", "value>60")] {
        let wrong = folder.run(&format!("count data.csv --where {condition} --epsilon 1"));
        let said = String::from_utf8_lossy(&wrong.stderr);
        assert!(
            said.contains(&format!(
                "\n  try: equipoise count data.csv --where '{meant}' --epsilon 1   (epsilon 1)"
            )),
            "{said}"
        );
    }
    let text = folder.run("count data.csv --where valu='valu' --epsilon 1");
    let said = String::from_utf8_lossy(&text.stderr);
    assert!(
        said.contains("try: equipoise count data.csv --where 'value='\\''valu'\\''' "),
        "a text stays as it is: {said}"
    );
}
