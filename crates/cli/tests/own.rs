//! Choices by a score, threshold streams and holdouts on the command line: charged first, total over whatever comes, one line for what is wrong.

#![expect(clippy::format_collect, reason = "a file of a few rows")]

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let rows: String = (0..2000).map(|row| format!("{},p{}\n", row % 10, row % 500)).collect();
    fs::write(folder.path().join("bids.csv"), format!("bid,person\n{rows}")).expect("a file");
    folder
}

/// Exit code, standard output, standard error.
fn equipoise(folder: &Path, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("EQUIPOISE_LEDGER")
        .env_remove("EQUIPOISE_ANALYST")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    // Who ends before all is read has seen enough.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (status.code().expect("a code"), text(stdout), text(stderr))
}

const REVENUE: &str = "case when bid >= option then option else 0 end";

#[test]
fn a_price_is_chosen_by_its_revenue_charged_and_given_again_under_its_id() {
    let folder = folder();
    // Revenue of 5 is 5 * 1000, the highest; of 1 it is 1800: the bar at epsilon 20 is below 10.
    let ask = [
        "choose",
        "bids.csv",
        "--score",
        REVENUE,
        "--options",
        "1,5,9",
        "--epsilon",
        "20",
        "--request-id",
        "a",
    ];
    let (code, first, error) = equipoise(folder.path(), &ask, "");
    assert_eq!(code, 0, "{error}");
    assert!(first.starts_with(&format!("choose by {REVENUE}: 5\n")), "{first}");
    let (_, again, _) = equipoise(folder.path(), &ask, "");
    assert_eq!(first, again);
    let (code, _, error) = equipoise(folder.path(), &["budget", "set", "bids.csv", "--epsilon", "21"], "");
    assert_eq!(code, 0, "{error}");
    let more = ["choose", "bids.csv", "--score", REVENUE, "--options", "1,5", "--epsilon", "2"];
    let (code, _, error) = equipoise(folder.path(), &more, "");
    assert_eq!(code, 4, "{error}");
}

#[test]
fn numbers_are_answered_one_by_one_and_paid_for_before_the_first() {
    let folder = folder();
    let stream = |arguments: &[&str], input: &str| {
        let mut all = vec!["above-threshold", "bids.csv", "--threshold", "1000", "--epsilon", "1"];
        all.extend(arguments);
        equipoise(folder.path(), &all, input)
    };
    // What is no number is the least there is; what follows the last positive answer is not read.
    let (code, answers, error) = stream(&["--json", "--cutoff", "2"], "no\n\n-inf\nNaN\n9e9\ninf\n7\n");
    assert_eq!(code, 0, "{error}");
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), 6, "{answers:?}");
    assert!(answers[..4].iter().all(|line| line.ends_with("\"answer\":\"below\"}")), "{answers:?}");
    assert!(answers[4..].iter().all(|line| line.contains("\"answer\":\"above\"")), "{answers:?}");
    // Nothing was asked, and it is charged all the same.
    let (code, answers, error) = stream(&[], "");
    assert_eq!((code, answers.as_str()), (0, ""), "{error}");
    let (_, shown, _) = equipoise(folder.path(), &["budget", "show", "bids.csv", "--json"], "");
    assert!(shown.contains("\"epsilon\": \"2\""), "{shown}");
    // A plan, and what is wrong, cost nothing.
    for (arguments, code, said) in [
        (&["--dry-run"][..], 0, "planned; nothing was read or charged"),
        (&["--form", "none"], 2, "one-sided or textbook"),
        (&["--cutoff", "0"], 2, "cutoff 0 is not accepted"),
        (&["--adjacency", "replace", "--monotone"], 2, "both ways"),
        (&["--resolution", "0"], 2, "grid 0 is not accepted"),
        (&["--adjacency", "replace"], 2, "is registered with add-remove"),
    ] {
        let (found, output, error) = stream(arguments, "5000\n");
        assert!(found == code && (output + &error).contains(said), "{arguments:?}: {error}");
    }
    let (_, shown, _) = equipoise(folder.path(), &["budget", "show", "bids.csv", "--json"], "");
    assert!(shown.contains("\"epsilon\": \"2\""), "{shown}");
}

#[test]
fn a_holdout_corrects_what_training_rows_mislead_about_and_questions_that_cannot_be_read_are_free() {
    let folder = folder();
    fs::write(folder.path().join("train.csv"), "bid,person\n9,a\n9,b\n").expect("a file");
    let ask =
        ["holdout", "train.csv", "bids.csv", "--rows", "2000", "--questions", "2", "--corrections", "1"];
    let ask: Vec<&str> = ask.into_iter().chain(["--tolerance", "0.1", "--epsilon", "4"]).collect();
    let (code, answers, error) =
        equipoise(folder.path(), &ask, "price > 3\nbid >=\nbid > 100\n\nbid = 9\nbid > 1\n");
    assert_eq!(code, 0, "{error}");
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), 4, "{answers:?} {error}");
    assert!(answers[..2].iter().all(|line| line.starts_with("not asked: ")), "{answers:?}");
    // A tenth of the rows has bid 9; the training rows say all, and noise of scale 0.002 does not hide that.
    assert_eq!((answers[2], answers[3]), ("0 (training)", "0.1 (holdout)"));
    assert!(error.contains("charged once: epsilon 4") && error.contains("used up"), "{error}");
}

/// Public rows only: nothing is charged, every answer is there with what is true, and files that a ledger knows are private.
#[test]
fn choices_and_counts_of_graphs_are_simulated_on_public_rows() {
    let folder = folder();
    let edges: String = (0..200).flat_map(|a| [1, 2].map(|b| format!("n{a},n{}\n", (a + b) % 200))).collect();
    fs::write(folder.path().join("edges.csv"), format!("from,to\n{edges}")).expect("a file");
    let choose = ["choose", "bids.csv", "--score", REVENUE, "--options", "1,5,9", "--epsilon", "1"];
    let (code, said, error) =
        equipoise(folder.path(), &[&["simulate", "--trials", "40"], &choose[..]].concat(), "");
    assert_eq!(code, 0, "{error}");
    let title = format!("choose by {REVENUE}, epsilon 1 (simulated; nothing was charged or released)\n");
    assert!(said.starts_with(&title), "{said}");
    // 5000 against 1800: the others have a chance below e^-300.
    for line in ["  trials     40, 0 refused\n", "  answers    5 in 40 of 40\n", "  bars       40 of 40 held"]
    {
        assert!(said.contains(line), "{said}");
    }
    let count =
        "simulate --trials 40 --json graph edges.csv --statistic triangles --adjacency edge --epsilon 1";
    for mechanism in ["smooth", "shifted-inverse"] {
        let words: Vec<&str> = count.split(' ').chain(["--mechanism", mechanism]).collect();
        let (code, said, error) = equipoise(folder.path(), &words, "");
        assert_eq!(code, 0, "{error}");
        let found: serde_json::Value = serde_json::from_str(&said).expect("one JSON object");
        assert_eq!((&found["statistic"], &found["mechanism"]), (&"triangles".into(), &mechanism.into()));
        assert_eq!((&found["truth"], &found["trials"]), (&200.into(), &40.into()));
        assert_eq!(found["answers"].as_array().expect("a list").len(), 40);
        assert_eq!(found["series"][0]["bars"]["judged"], 40);
    }
    assert!(!folder.path().join("equipoise.ledger").exists(), "nothing was charged");
    // One edge less is a neighbour, and no event tells the two apart more than the promise allows.
    let fewer = edges.replacen("n0,n1\n", "", 1);
    fs::write(folder.path().join("fewer.csv"), format!("from,to\n{fewer}")).expect("a file");
    let against = "simulate --trials 400 --neighbour fewer.csv graph edges.csv --statistic edges --adjacency edge --epsilon 1";
    let (code, said, error) = equipoise(folder.path(), &against.split(' ').collect::<Vec<_>>(), "");
    assert!(code == 0 && said.contains("  audit      "), "{said}{error}");
    let (code, ..) = equipoise(folder.path(), &choose, "");
    assert_eq!(code, 0);
    let (code, _, error) = equipoise(folder.path(), &[&["simulate"], &choose[..]].concat(), "");
    assert!(code == 2 && error.contains("bids.csv is in a ledger"), "{error}");
}
