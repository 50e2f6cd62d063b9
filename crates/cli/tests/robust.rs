//! What a user of `equipoise robust` sees: answers to a stream of lines, and what happens to bad ones.

use assert_cmd::Command;
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Stdio,
};

/// Exit code, standard output and standard error in one text.
fn run(arguments: &[&str], lines: &str) -> String {
    run_in(Path::new("."), arguments, lines)
}

fn run_in(folder: &Path, arguments: &[&str], lines: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .current_dir(folder)
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

/// Lines are followed many at once, and named one by one.
#[test]
fn a_refused_line_among_thousands_is_named_by_its_number() {
    let lines = format!(
        "{}- 0 2\n{}hello\n{}?\n",
        "+ 0 1\n".repeat(5000),
        "+ 1 2 3\n".repeat(3000),
        "+ 0 1\n".repeat(6000)
    );
    insta::assert_snapshot!(run(&["min-cut", "--vertices", "3"], &lines), @r"
    exit 2
    --- stdout
    9000
    --- stderr
    equipoise: line 5001: there is no edge between 0 and 2 to take 1 from
    equipoise: line 8002: write `+ U V [WEIGHT]`, `- U V [WEIGHT]` or `?`
    ");
}

/// A log that is long enough becomes part of the state in the middle of lines that were followed at once: none of them counts twice.
#[test]
fn lines_around_a_new_state_count_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = format!("+ 0 1 {}1\n", "0".repeat(400));
    let arguments = ["min-cut", "--vertices", "2", "--state", "cut"];
    let first = run_in(folder.path(), &arguments, &format!("{}?\n", line.repeat(45_000)));
    assert!(first.contains("--- stdout\n45000\n"), "{first}");
    let again = run_in(folder.path(), &arguments, "?\n");
    assert!(again.contains("--- stdout\n45000\n"), "{again}");
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
        (&["min-cut", "--vertices", "1"][..], "1 vertices are not accepted; a graph has from 2 to 2^25"),
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

#[test]
fn a_graph_begins_with_a_file_of_edges() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("edges.csv", "u,v,weight\n0,1,2\n1,2,3\n2,0,4\n0,1,1\n");
    write("plain.csv", "0,1\n1,2\n2,0\n");
    let exact = |arguments: &[&str], lines: &str| {
        run_in(folder.path(), &[&["min-cut", "--side"], arguments].concat(), lines)
    };
    insta::assert_snapshot!(exact(&["--graph", "edges.csv"], "?\n- 1 0 3\n?\n"), @r"
    exit 0
    --- stdout
    6: 1
    3: 1
    --- stderr
    ");
    insta::assert_snapshot!(exact(&["--graph", "plain.csv", "--no-header", "--vertices", "4"], "?\n+ 3 0\n?\n"), @r"
    exit 0
    --- stdout
    0: 3
    1: 3
    --- stderr
    ");
    // The weight goes by its name.
    write("turned.csv", "weight,u,v\n9,0,1\n9,1,2\n9,0,2\n");
    assert!(exact(&["--graph", "turned.csv"], "?\n").starts_with("exit 0\n--- stdout\n18: "));
    write("mixed.csv", "0,1\n1,2,9\n2,0,9\n");
    let mixed = exact(&["--graph", "mixed.csv", "--no-header"], "?\n");
    assert!(mixed.contains("record 1 has no weight from 1 to 2^60 and others have"), "{mixed}");
    let forgotten = exact(&["--graph", "plain.csv"], "?\n");
    assert!(forgotten.contains("say --no-header if they are an edge"), "{forgotten}");
    write("loop.csv", "u,v\n0,1\n1,1\n");
    write("negative.csv", "u,v,weight\n0,1,1\n1,2,-3\n");
    write("nan.csv", "u,v,weight\n0,1,NaN\n");
    write("far.csv", "u,v\n0,9\n");
    write("one.csv", "u\n0\n");
    let errors = ["loop", "negative", "nan", "far", "one", "missing"].map(|name| {
        let output = exact(&["--graph", &format!("{name}.csv"), "--vertices", "5"], "?\n");
        assert!(output.starts_with("exit 2"), "{output}");
        output.lines().last().unwrap().to_string()
    });
    insta::assert_snapshot!(errors.join("\n"), @r"
    equipoise: 'loop.csv', record 2: an edge from 1 to itself crosses no cut; name two vertices
    equipoise: 'negative.csv', record 2: two vertices and a weight from 1 to 2^60, all whole numbers, make an edge
    equipoise: 'nan.csv', record 1: two vertices and a weight from 1 to 2^60, all whole numbers, make an edge
    equipoise: 'far.csv', record 1: vertex 9 is not in the graph; its vertices are 0 to 4
    equipoise: 'one.csv' has 1 columns; a list of edges has two vertices and perhaps a weight
    equipoise: there is no file 'missing.csv'; check the path
    ");
}

#[test]
fn a_sampled_cut_says_what_it_promises() {
    let arguments = ["min-cut", "--vertices", "3", "--method", "sampled", "--answers", "4", "--json"];
    let output = run(&arguments, "+ 0 1\n+ 1 2\n+ 2 0\n?\n");
    // Below what its forests keep a sampled cut is exact, in every copy, and so is the median of equal numbers but for a
    // chance of 1 in 100 that this does not look at.
    assert!(output.contains(r#""queries_left":3,"guarantee":"proved""#), "{output}");
    assert!(output.contains("the exact cut from scratch"), "{output}");
    let heavy = run(&arguments, "+ 0 1 2000000\n");
    assert!(heavy.contains("samples follow weights unit by unit, at most 1048576 at once"), "{heavy}");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("h.csv"), "u,v,w\n0,1,1099511627776\n").unwrap();
    let heavy = run_in(folder.path(), &["min-cut", "--graph", "h.csv", "--method", "sampled"], "?\n");
    assert!(heavy.contains("weight of the graph 1099511627776 is not accepted"), "{heavy}");
    let exact = run(&["min-cut", "--vertices", "3", "--alpha", "0.1"], "");
    assert!(exact.contains("--alpha is for samples; the exact cut needs none"), "{exact}");
    let side = run(&["min-cut", "--vertices", "3", "--method", "sampled", "--side"], "");
    assert!(side.contains("--side needs the exact cut"), "{side}");
}

#[test]
fn a_state_goes_on_and_only_its_owner_can_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let distinct = |arguments: &[&str], lines: &str| {
        run_in(folder.path(), &[&["distinct", "--state", "s"], arguments].concat(), lines)
    };
    assert!(distinct(&[], "ann\nbob\n?\n").starts_with("exit 0\n--- stdout\n2\n"));
    assert!(distinct(&[], "ann\ncid\n?\n").starts_with("exit 0\n--- stdout\n3\n"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left behind");
    let last = |output: String| output.lines().last().unwrap().to_string();
    let mut errors = vec![last(distinct(&["--alpha", "0.3"], "?\n"))];
    errors.push(last(run_in(folder.path(), &["f2", "--state", "s"], "?\n")));
    let good = fs::read(&path).unwrap();
    fs::copy(&path, folder.path().join("copy")).unwrap();
    errors.push(last(run_in(folder.path(), &["distinct", "--state", "copy"], "?\n")));
    fs::remove_file(folder.path().join("copy")).unwrap();
    fs::write(&path, &good[..good.len() - 1]).unwrap();
    errors.push(last(distinct(&[], "?\n")));
    fs::write(&path, "hello").unwrap();
    errors.push(last(distinct(&[], "?\n")));
    fs::write(&path, &good).unwrap();
    let lock = fs::File::open(&path).unwrap();
    lock.lock().unwrap();
    errors.push(last(distinct(&[], "?\n")));
    drop(lock);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    errors.push(last(distinct(&[], "?\n")));
    insta::assert_snapshot!(errors.join("\n"), @r"
    equipoise: --alpha 0.3 is not what the state 's' began with: it began with 0.2; leave it out, or begin a new state
    equipoise: state 's': the state is of the structure 'distinct', not 'rows-f2'; give the one that was stored
    equipoise: the state 'copy' was copied or brought back: its coins may answer elsewhere too, which nothing covers; say --copied to go on without a guarantee, or begin anew
    equipoise: state 's': the state is damaged, cut short or changed; begin anew
    equipoise: state 's': this is not a stored structure; give what was stored, or begin anew
    equipoise: the state 's' is in use by another process; wait until it ends
    equipoise: others can read the state 's', which holds keys; run chmod 600 on it
    ");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(distinct(&[], "?\n").starts_with("exit 0\n--- stdout\n3\n"), "the state is as it was");
}

#[test]
fn a_state_counts_answers_and_remembers_what_a_stopped_program_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let start =
        ["distinct", "--method", "copies", "--answers", "3", "--alpha", "0.9", "--json", "--state", "s"];
    let go_on = ["distinct", "--json", "--state", "s"];
    let first = run_in(folder.path(), &start, "ann\n?\n");
    assert!(first.contains(r#""queries_left":2"#), "{first}");
    let state = fs::read(&path).unwrap();
    // A program that was stopped after it answered: its lines stand behind the state, the last one cut off.
    let (_, behind_mark) = equipoise_robust::state::split(&state).unwrap();
    let mut chain = equipoise_robust::state::Chain::behind(behind_mark);
    let mut log: Vec<u8> = [&b"bob"[..], b"?", b"cid"].iter().flat_map(|line| chain.link(line)).collect();
    log.pop();
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(&log).unwrap();
    let second = run_in(folder.path(), &go_on, "?\n?\n");
    assert!(second.contains(r#""queries_left":0"#), "{second}");
    assert!(second.contains("line 2: all 3 declared answers were given"), "{second}");
    let third = run_in(folder.path(), &go_on, "dan\n?\n");
    assert!(third.starts_with("exit 2") && third.contains("all 3 declared answers were given"), "{third}");
}

#[test]
fn a_cut_goes_on_from_its_state() {
    let folder = tempfile::tempdir().unwrap();
    let cut = |arguments: &[&str], lines: &str| {
        run_in(folder.path(), &[&["min-cut", "--state", "s"], arguments].concat(), lines)
    };
    assert!(cut(&["--vertices", "3"], "+ 0 1\n+ 1 2\n?\n").starts_with("exit 0\n--- stdout\n1\n"));
    assert!(cut(&[], "+ 2 0\n?\n").starts_with("exit 0\n--- stdout\n2\n"));
    assert!(cut(&["--vertices", "3"], "?\n").starts_with("exit 0\n--- stdout\n2\n"), "what it began with");
    assert!(
        cut(&["--vertices", "4"], "?\n")
            .contains("--vertices 4 is not what the state 's' began with: it began with 3")
    );
}

/// The command line that began a state was refused by it after a crash.
#[test]
fn after_a_kill_the_same_command_line_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let line = [
        "distinct",
        "--method",
        "copies",
        "--answers",
        "9",
        "--alpha",
        "0.90",
        "--beta",
        "1/50",
        "--json",
        "--state",
        "s",
    ];
    let mut killed = std::process::Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .arg("robust")
        .args(line)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = killed.stdin.take().unwrap();
    input.write_all(b"ann\nbob\n?\n").unwrap();
    let mut answer = String::new();
    BufReader::new(killed.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains(r#""queries_left":8"#), "{answer}");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let again = run_in(folder.path(), &line, "?\n");
    assert!(again.starts_with("exit 0") && again.contains(r#""queries_left":7"#), "{again}");
    // Numbers are compared as numbers, and what is left out stays as it was settled.
    let [other, less] = [["--alpha", "0.9"], ["--beta", "0.02"]].map(|flag| {
        run_in(folder.path(), &[&["distinct", "--json", "--state", "s"], &flag[..]].concat(), "?\n")
    });
    assert!(other.contains(r#""queries_left":6"#) && less.contains(r#""queries_left":5"#), "{other}{less}");
    let wrong = run_in(folder.path(), &["distinct", "--state", "s", "--keep"], "?\n");
    assert!(
        wrong.starts_with("exit 2")
            && wrong.contains("--keep is not what the state 's' began with: it began without it"),
        "{wrong}"
    );
    let counted = run_in(folder.path(), &line, "?\n");
    assert!(counted.contains(r#""queries_left":4"#), "what was refused counted nothing: {counted}");
}

#[test]
fn a_copied_state_goes_on_without_a_guarantee_only() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |arguments: &[&str], lines: &str| run_in(folder.path(), arguments, lines);
    run(&["distinct", "--state", "s"], "ann\nbob\n");
    fs::copy(at("s"), at("t")).unwrap();
    for again in
        [&["distinct", "--state", "t", "--json", "--copied"][..], &["distinct", "--state", "t", "--json"]]
    {
        let output = run(again, "?\n");
        assert!(output.contains(r#"{"answer":"2","queries_left":null,"guarantee":"heuristic"}"#), "{output}");
        assert!(output.ends_with("guarantee: heuristic"), "{output}");
    }
    // A link leads to the file itself, and a file with two names is two.
    std::os::unix::fs::symlink("s", at("link")).unwrap();
    assert!(run(&["distinct", "--state", "link", "--json"], "?\n").contains(r#""guarantee":"proved""#));
    assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    fs::hard_link(at("s"), at("twin")).unwrap();
    let twin = run(&["distinct", "--state", "s"], "?\n");
    assert!(twin.contains("the state 's' has more than one name; remove the others"), "{twin}");
    fs::remove_file(at("twin")).unwrap();
    // The one that stayed where it was is as good as ever, and so is one that was moved.
    fs::rename(at("s"), at("u")).unwrap();
    assert!(run(&["distinct", "--state", "u", "--json"], "?\n").contains(r#""guarantee":"proved""#));
    // A kept input has fresh coins each time, and an exact cut none.
    let kept =
        ["distinct", "--method", "copies", "--answers", "2", "--alpha", "0.9", "--keep", "--state", "k"];
    run(&kept, "ann\n");
    run(&["min-cut", "--vertices", "2", "--state", "c"], "+ 0 1\n");
    for (name, question) in [("k", "distinct"), ("c", "min-cut")] {
        fs::copy(at(name), at("again")).unwrap();
        let output = run(&[question, "--state", "again"], "?\n");
        assert!(output.starts_with("exit 0"), "{output}");
        fs::remove_file(at("again")).unwrap();
    }
}

#[test]
fn items_are_any_bytes_and_a_comment_is_a_word_of_its_own() {
    let output = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .args(["robust", "distinct"])
        .write_stdin(&b"\xff\n\xfe\n\xfd\n#a\n#b\n# a comment\n?\n"[..])
        .output()
        .expect("it runs");
    assert_eq!(output.stdout, b"5\n");
}

#[test]
fn counts_beyond_a_million_are_answered_within_the_promise() {
    // One item alone: all rows are exact, so an answer off its grid value is a miss of the median, 1 in 100 000 here.
    let point = run(&["point", "--answers", "10", "--beta", "1e-5", "--json"], "a 1099511627776\n? a\n");
    let answer: f64 = point.split('"').nth(3).unwrap().parse().unwrap();
    assert!((0.9..=1.0).contains(&(answer / 1_099_511_627_776.0)), "{point}");
    let f2 = run(
        &["f2", "--answers", "5", "--beta", "1e-5", "--json"],
        &("a 1099511627776\n".repeat(4096) + "?\n"),
    );
    let answer: f64 = f2.split('"').nth(3).unwrap().parse().unwrap();
    assert!((0.9..=1.0).contains(&(answer / 2f64.powi(104))), "{f2}");
    let heavy = run(&["f2", "--answers", "5"], "a 1152921504606846976\na 1\nb -1\n?\n");
    assert!(heavy.starts_with("exit 2"), "{heavy}");
    assert_eq!(
        heavy.matches("all counts of the stream together would exceed 2^60; use a larger unit").count(),
        2
    );
}

#[test]
fn squared_counts_and_distinct_items_in_other_ways() {
    for method in ["switching", "flips"] {
        let few = ["--method", method, "--changes", "3", "--answers", "9", "--alpha", "0.5", "--json"];
        let f2 = run(&[&["f2"], &few[..]].concat(), "ann 3\n?\n?\n");
        assert!(f2.contains(r#""queries_left":7,"guarantee":"proved","changes_left":2"#), "{f2}");
        let distinct = run(&[&["distinct"], &few[..]].concat(), "ann\n?\n");
        assert!(distinct.contains(r#""queries_left":8,"guarantee":"proved","changes_left":2"#), "{distinct}");
        assert!(distinct.contains("changes of the answer 3"), "{distinct}");
    }
    let used = ["f2", "--method", "switching", "--changes", "1", "--answers", "9", "--alpha", "0.5"];
    let used = run(&used, "ann 3\n?\nbob 100\n?\ncid\n");
    assert!(used.contains("line 4: the answer has changed 1 times, as often as planned"), "{used}");
    for (arguments, expected) in [
        (&["distinct", "--keep"][..], "--keep is for copies, not for the method keyed"),
        (&["distinct", "--answers", "9"], "--answers is for copies, not for the method keyed"),
        (&["f2", "--method", "flips", "--keep"], "--keep is for copies, not for the method flips"),
        (&["f2", "--changes", "9"], "--changes is for the methods switching and flips"),
        (&["f2", "--method", "flips", "--heuristic", "9,3,64,2"], "--heuristic is for copies"),
        (&["distinct", "--copied"], "--state <FILE>"),
    ] {
        let output = run(arguments, "");
        assert!(output.starts_with("exit 2") && output.contains(expected), "{output}");
    }
}

#[test]
fn a_kept_stream_spreads_beta_over_its_phases() {
    // Without a number of answers a phase is as long as this machine makes quickest, and at least 64.
    let kept = run(&["distinct", "--method", "copies", "--keep", "--alpha", "0.9"], "ann\n?\n");
    let answers = kept.split("answers ").nth(1).unwrap().split(',').next().unwrap();
    assert!(answers.parse::<u64>().unwrap() >= 64, "{kept}");
    let asked = ["distinct", "--method", "copies", "--answers", "50", "--alpha", "0.9"];
    let copies = |output: String| -> u64 {
        output.split("copies ").nth(1).unwrap().split(',').next().unwrap().parse().unwrap()
    };
    let all = copies(run(&asked, ""));
    assert!(copies(run(&[&asked[..], &["--asked", "24"]].concat(), "")) > 2 * all);
}

#[test]
fn sizes_that_no_memory_holds_are_refused() {
    for arguments in [
        &["f2", "--alpha", "0.01"][..],
        &["f2", "--answers", "1099511627776", "--alpha", "1"],
        &["f2", "--heuristic", "100000000000,5,64,2"],
    ] {
        let output = run(arguments, "?\n");
        assert!(
            output.starts_with("exit 2") && output.contains("they would take more than 8 GB"),
            "{output}"
        );
    }
    assert!(run(&["min-cut", "--vertices", "268435456"], "").contains("a graph has from 2 to 2^25"));
}

#[test]
fn a_choice_names_its_size_and_promise() {
    let text = run(&["choose", "distinct", "--insertions-only"], "");
    assert!(text.starts_with("exit 0\n--- stdout\nkeyed "), "{text}");
    assert!(text.contains("copies behind a private median; right for the declared answers"), "{text}");
    let json = run(&["choose", "f2", "--json"], "");
    assert!(json.contains(r#"{"choices":[{"method":"copies","copies":"#), "{json}");
    assert!(json.contains(r#""guarantee":"proved""#), "{json}");
    let often = run(&["choose", "f2", "--answers", "1000000000", "--changes", "40"], "");
    assert!(often.starts_with("exit 0\n--- stdout\nswitching "), "{often}");
    assert!(run(&["choose", "f2", "--alpha", "2"], "").contains("alpha 2 is not accepted"));
    assert!(run(&["choose", "distinct"], "").contains("no distinct count here follows items that go again"));
    let many = run(&["choose", "distinct", "--insertions-only", "--answers", "1000000000000"], "");
    assert!(many.starts_with("exit 0\n--- stdout\nkeyed "), "{many}");
    assert!(run(&["choose", "f2", "--answers", "0"], "").contains("answers 0 is not accepted"));
}
