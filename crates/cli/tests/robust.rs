//! What a user of `equipoise robust` sees: answers to a stream of lines, and what happens to bad ones.

use assert_cmd::Command;

/// Exit code, standard output and standard error in one text.
fn run(arguments: &[&str], lines: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .arg("robust")
        .args(arguments)
        .write_stdin(lines)
        .output()
        .expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_string();
    let code = output.status.code().expect("no signal");
    format!("exit {code}\n--- stdout\n{}\n--- stderr\n{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_triangle_loses_an_edge() {
    insta::assert_snapshot!(run(&["min-cut", "--vertices", "3", "--side"], "+ 0 1\n+ 1 2 5\n+ 2 0\n?\n- 0 1\n?\n"), @r"
    exit 0
    --- stdout
    2: 0
    1: 0
    --- stderr
    ");
}

#[test]
fn bad_lines_are_named_and_the_rest_goes_on() {
    let lines = "# a comment\n+ 0 9\n+ 1 1\n- 0 1\n+ 0 1 -2\n+ 0 1 NaN\n+ 0\nhello\n?\n+ 0 1 2\n?\n";
    insta::assert_snapshot!(run(&["min-cut", "--vertices", "2", "--json"], lines), @r#"
    exit 2
    --- stdout
    {"answer":"0","queries_left":null,"guarantee":"exact"}
    {"answer":"2","queries_left":null,"guarantee":"exact"}
    --- stderr
    equipoise: line 2: vertex 9 is not in the graph; its vertices are 0 to 1
    equipoise: line 3: an edge from 1 to itself crosses no cut; name two vertices
    equipoise: line 4: there is no edge between 0 and 1 to take 1 from
    equipoise: line 5: weight '-2' is not accepted; give a whole number from 1 to 2^60
    equipoise: line 6: weight 'NaN' is not accepted; give a whole number from 1 to 2^60
    equipoise: line 7: an edge has two vertices and perhaps a weight
    equipoise: line 8: write `+ U V [WEIGHT]`, `- U V [WEIGHT]` or `?`
    "#);
}

#[test]
fn distinct_items_under_a_key() {
    let output = run(&["distinct", "--json"], "ann\nbob\nann\n?\ntwo words\ncid\n?\n");
    let (stdout, stderr) = output.split_once("\n--- stderr\n").expect("both streams");
    insta::assert_snapshot!(stdout, @r#"
    exit 2
    --- stdout
    {"answer":"2","queries_left":null,"guarantee":"proved"}
    {"answer":"3","queries_left":null,"guarantee":"proved"}
    "#);
    assert!(stderr.starts_with("equipoise: copies 1, answers without limit, memory "), "{stderr}");
    assert!(stderr.ends_with("guarantee: proved\nequipoise: line 5: write one item, or `?`"), "{stderr}");
}

#[test]
fn more_questions_than_declared_are_refused_and_updates_go_on() {
    let arguments = ["distinct", "--method", "copies", "--answers", "2", "--alpha", "0.5", "--json"];
    let output = run(&arguments, "ann\n?\nbob\n?\n?\ncid\n?\n");
    assert!(output.starts_with("exit 2"), "{output}");
    assert!(output.contains(r#""queries_left":1,"guarantee":"proved""#), "{output}");
    assert!(output.contains(r#""queries_left":0,"guarantee":"proved""#), "{output}");
    assert_eq!(output.matches("all 2 declared answers were given; declare more at the start").count(), 2);
    // Kept items let a new phase begin.
    let kept = run(&[&arguments[..], &["--keep"]].concat(), "ann\n?\nbob\n?\n?\ncid\n?\n");
    assert!(kept.starts_with("exit 0"), "{kept}");
}

#[test]
fn squared_counts_and_points_with_sizes_of_ones_own() {
    let own = ["--answers", "10", "--alpha", "0.5", "--beta", "0.1", "--heuristic", "80,3,64,2", "--json"];
    let f2 = run(&[&["f2"], &own[..]].concat(), "ann 3\nbob 4\n?\nbob -4\nbob x\n?\n");
    assert!(f2.starts_with("exit 2") && f2.contains(r#""guarantee":"heuristic""#), "{f2}");
    assert!(
        f2.contains("line 5: count 'x' is not accepted; give a whole number, below zero for items that go")
    );
    let point = run(&[&["point"], &own[..]].concat(), "ann 3\n? ann\n?\n");
    assert!(
        point.contains(r#""queries_left":9"#) && point.contains("line 3: name the item: `? ITEM`"),
        "{point}"
    );
}

#[test]
fn sizes_out_of_range_say_what_to_give() {
    for (arguments, expected) in [
        (&["min-cut", "--vertices", "1"][..], "1 vertices are not accepted; a graph has from 2 to 2^28"),
        (
            &["f2", "--alpha", "0"],
            "alpha 0 is not accepted: give a number above 0 and at most 1, such as 0.1",
        ),
        (&["f2", "--answers", "0"], "answers 0 is not accepted: give from 1 to 2^40 answers for each phase"),
        (&["distinct", "--beta", "2"], "beta 2 is not accepted: give a number between 0 and 1, such as 0.01"),
        (&["f2", "--heuristic", "4,3,64,1"], "copies 4 is not accepted: their private median would be noise"),
        (&["f2", "--heuristic", "4"], "--heuristic takes COPIES,ROWS,WIDTH,LOSS, such as 64,5,400,1"),
    ] {
        let output = run(arguments, "");
        assert!(output.starts_with("exit 2") && output.contains(expected), "{output}");
    }
}
