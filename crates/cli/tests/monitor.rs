//! `equipoise monitor` as a program: answers, errors, restarts, and death at any of its system calls.
//!
//! Values lie at least 100 scales from their thresholds, so that an answer is wrong with a probability below e^-100.

use equipoise_session::{
    ledger::Ledger,
    monitor::log::{Log, Outcome},
};
use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output, Stdio},
};

const HIGH: &str = r#"{"where": "age >= 0 and town = 'Ayr'", "threshold": 0}"#;
const LOW: &str = r#"{"where": "age > 100", "threshold": 1000}"#;
const HALF: &str = r#"{"where": "age >= 0", "threshold": 500}"#;

fn data() -> String {
    let mut text = String::from("age,town\n");
    for age in 0..1000 {
        writeln!(text, "{},Ayr", age % 90).expect("a string");
    }
    text
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    fs::write(folder.path().join("people.csv"), data()).expect("a file");
    folder
}

/// The words of a monitor at a scale below two, whose records help twice.
const WORDS: [&str; 6] = ["--epsilon", "20", "--delta", "1e-6", "--budget-per-unit", "2"];

fn monitor(folder: &Path, words: &[&str], lines: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .args(["monitor", "people.csv"])
        .args(words)
        .current_dir(folder)
        .env_remove("EQUIPOISE_LEDGER")
        .env_remove("EQUIPOISE_ANALYST")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    // A program that refuses its words does not read on.
    let _ = child.stdin.take().expect("a pipe").write_all(lines.as_bytes());
    child.wait_with_output().expect("it ends")
}

fn shown(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn spent(folder: &Path) -> String {
    let ledger = Ledger::open(&folder.join("equipoise.ledger")).expect("a ledger");
    ledger.verify(None).expect("it holds together");
    ledger.balance("people.csv", None).expect("a balance").spent().eps.to_string()
}

#[test]
fn questions_are_answered_line_by_line_and_bad_ones_stop_nobody() {
    let folder = folder();
    let lines = format!(
        "{HIGH}\n\nnonsense\n{}\n{}\n{LOW}",
        r#"{"where": "wage > 3", "threshold": 1}"#, r#"{"where": "age > 3", "threshold": "NaN"}"#
    );
    let (out, err, code) = shown(&monitor(folder.path(), &WORDS, &lines));
    let expected = [
        r#"{"query":1,"answer":"above"}"#,
        r#"{"error":"not a question: no JSON object; write {\"where\": \"age > 40\", \"threshold\": 1000}"}"#,
        r#"{"error":"no column is called 'wage'; did you mean 'age'? There are: age, town"}"#,
        r#"{"error":"threshold 'NaN' is not accepted; give a number such as 1000"}"#,
        r#"{"query":2,"answer":"below"}"#,
    ];
    assert_eq!(out.lines().collect::<Vec<_>>(), expected, "{err}");
    assert_eq!(code, Some(0));
    let lines: Vec<&str> = err.lines().collect();
    assert!(lines[0].starts_with("equipoise: warning: epsilon 20 is above 10"), "{err}");
    assert!(
        lines[1].starts_with("equipoise: monitor begins, charged once: epsilon 20, delta 0.000001, scale "),
        "{err}"
    );
    assert_eq!(spent(folder.path()), "20");
    let state = folder.path().join("people.csv.monitor");
    assert_eq!(fs::metadata(&state).expect("a state file").permissions().mode() & 0o777, 0o600);

    // A file of questions works as well, and a second start charges nothing and remembers who was deleted.
    fs::write(folder.path().join("questions"), format!("{HALF}\n{HALF}\n")).expect("a file");
    let words: Vec<&str> = ["questions", "--history"].into_iter().chain(WORDS).collect();
    let (out, err, _) = shown(&monitor(folder.path(), &words, ""));
    let answers: Vec<&str> =
        out.lines().map(|line| if line.contains("above") { "above" } else { "below" }).collect();
    assert_eq!(answers, ["above", "below", "above", "below"], "{err}");
    assert!(
        out.lines().nth(1).expect("a line").contains(r#""asked":{"where":"age > 100","threshold":"1000"}"#)
    );
    assert!(err.contains("\nequipoise: monitor goes on, charged before:"), "{err}");
    assert_eq!(spent(folder.path()), "20");
}

/// A copy asked on, and so did the original: one charge was spent twice.
#[test]
fn a_copied_state_is_refused_and_the_original_goes_on_where_it_is_moved() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    assert_eq!(shown(&monitor(folder.path(), &WORDS, HIGH)).2, Some(0));
    fs::copy(at("people.csv.monitor"), at("copy")).expect("a copy");
    let with_state = |state: &'static str| [&["--state", state], &WORDS[..]].concat();
    let (out, err, code) = shown(&monitor(folder.path(), &with_state("copy"), LOW));
    assert_eq!((out.as_str(), code), ("", Some(2)), "{err}");
    assert_eq!(
        err,
        "equipoise: state file copy: it was copied, brought back or moved to another disk, and what was paid for once may be asked \
         elsewhere too; go on with the original, or begin a new monitor with another --state\n"
    );
    // Put in the place of the original it is still the copy.
    fs::rename(at("people.csv.monitor"), at("moved")).expect("a move");
    fs::rename(at("copy"), at("people.csv.monitor")).expect("a move");
    assert_eq!(shown(&monitor(folder.path(), &WORDS, LOW)).2, Some(2));
    let (out, err, code) = shown(&monitor(folder.path(), &with_state("moved"), LOW));
    assert_eq!((out.as_str(), code), ("{\"query\":2,\"answer\":\"below\"}\n", Some(0)), "{err}");
    assert_eq!(spent(folder.path()), "20");
}

#[test]
fn what_is_wrong_is_one_line_and_costs_nothing() {
    let folder = folder();
    let path = folder.path();
    let refused = |words: &[&str], said: &str, wanted: i32| {
        let (out, err, code) = shown(&monitor(path, words, HIGH));
        assert!(out.is_empty() && err.lines().count() == 1, "{out}{err}");
        assert!(err.contains(said) && code == Some(wanted), "{err} {code:?}");
    };
    refused(&["--delta", "1e-6", "--budget-per-unit", "2"], "Give --epsilon", 2);
    refused(&["--epsilon", "1", "--delta", "0", "--budget-per-unit", "2"], "delta 0", 2);
    refused(&["--epsilon", "1", "--delta", "1e-6", "--budget-per-unit", "many"], "budget-per-unit many", 2);
    let no_unit: Vec<&str> = ["--unit", "person"].into_iter().chain(WORDS).collect();
    refused(&no_unit, "--unit: no column is called 'person'", 2);
    let no_file: Vec<&str> = ["missing.jsonl"].into_iter().chain(WORDS).collect();
    refused(&no_file, "cannot open 'missing.jsonl'", 2);
    let the_data: Vec<&str> = ["--state", "people.csv"].into_iter().chain(WORDS).collect();
    refused(&the_data, "the state file or the ledger is among the data", 2);
    fs::write(path.join("notes"), "mine\n").expect("a file");
    let not_ours: Vec<&str> = ["--state", "notes"].into_iter().chain(WORDS).collect();
    refused(&not_ours, "it is no monitor's", 2);
    assert_eq!(fs::read_to_string(path.join("notes")).expect("a file"), "mine\n");
    assert_eq!(fs::read_to_string(path.join("people.csv")).expect("the data"), data());
    assert_eq!(spent(path), "0");

    // A monitor of its own, then another's words, changed rows and a damaged file.
    assert_eq!(monitor(path, &WORDS, HIGH).status.code(), Some(0));
    refused(&["--epsilon", "19", "--delta", "1e-6", "--budget-per-unit", "2"], "with epsilon 20, not 19", 2);
    fs::write(path.join("people.csv"), data() + "7,Ayr\n").expect("a file");
    refused(&WORDS, "the data have changed since it began", 2);
    fs::write(path.join("people.csv"), data()).expect("a file");
    let state = path.join("people.csv.monitor");
    let mut bytes = fs::read(&state).expect("a state file");
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    fs::write(&state, &bytes).expect("a file");
    refused(&WORDS, "line 4 is not what was written", 1);
    assert_eq!(spent(path), "20");
}

#[test]
fn several_files_are_watched_as_one_and_a_pipe_is_not() {
    let folder = folder();
    fs::write(folder.path().join("people2.csv"), data()).expect("a file");
    let pattern = |words: &[&str]| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_equipoise"))
            .args([&["monitor"], words, &WORDS[..]].concat())
            .current_dir(folder.path())
            .env_remove("EQUIPOISE_LEDGER")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program");
        let _ = child.stdin.take().expect("a pipe").write_all(HIGH.replace("\": 0", "\": 1500").as_bytes());
        shown(&child.wait_with_output().expect("it ends"))
    };
    let (_, said, code) = pattern(&["people*.csv"]);
    assert!(code == Some(2) && said.contains("cannot lie beside a pattern"), "{said}");
    let (_, said, code) = pattern(&["-"]);
    assert!(code == Some(2) && said.contains("which a pipe cannot give"), "{said}");
    assert!(!folder.path().join("equipoise.ledger").exists());
    let words = ["people*.csv", "--state", "state"];
    let (answers, said, code) = pattern(&words);
    assert_eq!((answers.as_str(), code), ("{\"query\":1,\"answer\":\"above\"}\n", Some(0)), "{said}");
    // A pattern that takes in its own state file goes on with it.
    let taken_in = ["people*", "--state", "people.state"];
    for number in [1, 2] {
        let (answers, said, _) = pattern(&taken_in);
        assert!(answers.starts_with(&format!("{{\"query\":{number},\"answer\":\"")), "{said}");
    }
    // One more row in either of them, and it is another data set.
    fs::write(folder.path().join("people2.csv"), data() + "5,Ayr\n").expect("a file");
    let (_, said, code) = pattern(&words);
    assert!(code == Some(2) && said.contains("the data have changed since it began"), "{said}");
}

#[test]
fn a_plan_reads_and_writes_nothing() {
    let folder = folder();
    let words = ["--epsilon", "1", "--delta", "1e-6", "--budget-per-unit", "10", "--dry-run"];
    let (out, err, code) = shown(&monitor(folder.path(), &words, ""));
    assert!(out.contains(r#""scale": "19.7"#) && err.is_empty() && code == Some(0), "{out}{err}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

fn charges(folder: &Path, what: &str) -> u64 {
    let path = folder.join("equipoise.ledger");
    if !path.exists() {
        return 0;
    }
    let ledger = Ledger::open(&path).unwrap_or_else(|error| panic!("{what}: {error}"));
    ledger.verify(None).unwrap_or_else(|error| panic!("{what}: {error}")).charges
}

/// What a state file says after a run: every answer that was printed, and no other for the same question.
fn check(folder: &Path, printed: &str, what: &str) -> Option<Log> {
    let charges = charges(folder, what);
    let bytes = fs::read(folder.join("people.csv.monitor")).unwrap_or_default();
    let log = Log::read(&bytes).unwrap_or_else(|damage| panic!("{what}: {damage:?}"));
    assert!(charges <= 1, "{what}: charged {charges} times");
    let answered = log.as_ref().map_or(&[][..], |log| &log.answered);
    for (index, line) in printed.lines().filter(|line| line.contains("\"query\"")).enumerate() {
        // Without its end, a line that was torn on its way out says nothing.
        let Some((_, outcome)) = answered.get(index) else {
            panic!("{what}: printed before it was logged: {line}")
        };
        let wanted = match outcome {
            Outcome::Above => "above",
            Outcome::Below => "below",
            Outcome::Lost => "lost",
            Outcome::Halted => "halted",
        };
        assert!(line.contains(wanted) && charges == 1, "{what}: {line}, logged {outcome:?}");
    }
    log
}

/// Ends at every point of a run, then starts again: one charge, nothing forgotten, nothing answered twice.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod crashes {
    use super::*;
    use equipoise_faults::{End, Fault, Program, Run, Start, run};

    /// Points of each kind in a default run; `EQUIPOISE_ALL_FAULTS=1` takes them all.
    const SAMPLE: usize = 20;

    fn watch(folder: &Path, fault: Fault) -> Run {
        let mut program = Program::new(env!("CARGO_BIN_EXE_equipoise"))
            .argument("monitor")
            .argument(folder.join("people.csv"))
            .argument(folder.join("questions"))
            .argument("--ledger")
            .argument(folder.join("equipoise.ledger"));
        for word in WORDS {
            program = program.argument(word);
        }
        run(&program, Start::Program, fault)
    }

    /// One run with a fault, one without. Returns the first.
    fn twice(fault: Fault) -> Run {
        let folder = folder();
        // More than one group of lines, so that answers are printed between writes.
        let questions = [HIGH, LOW].map(|line| format!("{line}\n")).concat().repeat(40);
        fs::write(folder.path().join("questions"), questions).expect("a file");
        let what = format!("{fault:?}");
        let first = watch(folder.path(), fault);
        let log = check(folder.path(), &first.stdout, &what);
        let charged = charges(folder.path(), &what);
        let before = log.as_ref().map_or(0, |log| log.answered.len() + log.open.len());
        let lost = log.as_ref().map_or(0, |log| log.open.len());
        let second = watch(folder.path(), Fault::None);
        assert_eq!(second.end, End::Exited(0), "{what}: {}", second.stderr);
        let after = check(folder.path(), "", &what).expect("a state file");
        assert_eq!(after.answered.len(), before + 80, "{what}");
        if let Some(log) = log {
            assert_eq!(after.answered[..log.answered.len()], log.answered, "{what}: an answer changed");
            let open = &after.answered[log.answered.len()..][..lost];
            assert!(open.iter().all(|(_, outcome)| *outcome == Outcome::Lost), "{what}: asked again");
        }
        // The records help twice: the third positive answer about all of them cannot come.
        let spending = after.answered.iter().filter(|(_, outcome)| *outcome != Outcome::Below).count();
        assert!(spending >= 2, "{what}");
        let numbers: Vec<&str> = second.stdout.lines().collect();
        assert_eq!(numbers.len(), 80, "{what}");
        assert!(numbers[0].starts_with(&format!("{{\"query\":{}", before + 1)), "{what}: {}", numbers[0]);
        if let End::Exited(code @ 1..) = first.end {
            assert!(
                first.stderr.lines().last().is_some_and(|line| line.starts_with("equipoise: ")),
                "{what} {code}"
            );
            words_are_true(&first.stderr, charged, &what);
        }
        first
    }

    /// The line names the file that failed, and says what became of the charge.
    fn words_are_true(said: &str, charges: u64, what: &str) {
        let line = said.lines().last().expect("a line");
        assert!(line.contains("equipoise.ledger") || line.contains("people.csv.monitor"), "{what}: {line}");
        assert!(!line.contains("the data"), "{what}: {line}");
        let claims = [
            ("nothing was charged", 0),
            ("this start charged nothing", 0),
            ("the charge stands; start it again the same way, nothing more is charged", 1),
            ("what was not printed is not answered; start again, nothing more is charged", 1),
        ];
        let made: Vec<u64> =
            claims.iter().filter(|(words, _)| line.contains(words)).map(|claim| claim.1).collect();
        let unsure = line.contains("whether it was written is not known");
        assert!(made == [charges] || (made.is_empty() && unsure), "{what}: {charges} charges, {line}");
    }

    fn points(count: usize) -> Vec<usize> {
        if std::env::var_os("EQUIPOISE_ALL_FAULTS").is_some() || count <= SAMPLE {
            return (0..count).collect();
        }
        (0..SAMPLE).map(|point| point * (count - 1) / (SAMPLE - 1)).collect()
    }

    #[test]
    fn killed_anywhere_it_is_charged_once_and_never_answers_twice() {
        let whole = twice(Fault::None);
        assert_eq!((whole.end, whole.stdout.lines().count()), (End::Exited(0), 80));
        // The second half of a run is where lines are written.
        let mut stops = points(whole.stops);
        stops.extend(points(whole.stops / 4).into_iter().map(|stop| whole.stops - 1 - stop));
        stops.sort_unstable();
        stops.dedup();
        for &stop in &stops {
            twice(Fault::KillAt { stop });
        }
        println!("{} system call stops, {} tried", whole.stops, stops.len());
    }

    #[test]
    fn a_failing_or_tearing_disk_never_costs_an_answer_twice() {
        let whole = twice(Fault::None);
        let mut torn = 0;
        for &call in &points(whole.disk_calls) {
            for fault in [Fault::Fail { call, lasting: true }, Fault::Tear { call }] {
                torn += usize::from(twice(fault).end != End::Exited(0));
            }
        }
        println!("{} disk calls, {torn} runs ended early", whole.disk_calls);
        assert!(torn > 0, "some fault reaches the user");
    }
}
