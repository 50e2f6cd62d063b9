//! `equipoise run` as a user runs it: programs in a sandbox, one answer, one charge.
#![cfg(target_os = "linux")]

#[path = "support/example_data.rs"]
mod example_data;

use serde_json::Value;
use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};
use tempfile::TempDir;

/// Times that no loaded machine misses; what they give up is tested elsewhere.
const PATIENT: &str = "--no-time-padding --block-time 120";
/// The average of the second column.
const AVERAGE: &str = "awk -F, 'NR > 1 { sum += $2 } END { if (NR > 1) print sum / (NR - 1) }'";

struct Folder(TempDir);

impl Folder {
    /// Two thousand people with an income of 100 each, and the programs of the examples.
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("open to all");
        let mut text = String::from("name,income\n");
        for person in 0..2000 {
            writeln!(text, "p{person},100").expect("a string");
        }
        fs::write(folder.path().join("data.csv"), text).expect("a file");
        fs::write(folder.path().join("salaries.csv"), example_data::salaries()).expect("a file");
        let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/programs"));
        for entry in fs::read_dir(examples).expect("the examples") {
            let path = entry.expect("an entry").path();
            let to = folder.path().join(path.file_name().expect("a name"));
            fs::copy(&path, &to).expect("a copy");
            fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).expect("open to all");
        }
        Self(folder)
    }

    /// A command of a shell; `run` stands for `equipoise run`.
    fn shell(&self, line: &str) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_equipoise"));
        Command::new("sh")
            .args(["-c", &line.replacen("run ", &format!("{} run ", program.display()), 1)])
            .current_dir(self.0.path())
            .env_remove("EQUIPOISE_LEDGER")
            .env_remove("EQUIPOISE_ANALYST")
            .output()
            .expect("a shell")
    }

    fn json(&self, line: &str) -> Value {
        let output = self.shell(line);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{line}: {output:?}"))
    }

    /// The one line of a wrong request; nothing is charged.
    fn refused(&self, line: &str) -> String {
        let output = self.shell(line);
        assert_eq!(output.status.code(), Some(2), "{line}: {output:?}");
        assert!(output.stdout.is_empty() && !self.0.path().join("equipoise.ledger").exists(), "{line}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Can sandboxes be built here? The suite of the runner asserts that the kernel lacks something where not.
    fn sandboxed(&self) -> bool {
        let output = self.shell("run data.csv --epsilon 1 --output number --range 0,1 --dry-run -- true");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() || text.contains("the sandbox cannot be built here"), "{text}");
        output.status.success()
    }
}

/// Is this interpreter there, with what the example needs?
fn has(command: &str) -> bool {
    Command::new("sh").args(["-c", command]).output().is_ok_and(|output| output.status.success())
}

/// A Python that an ordinary identity can read.
fn python() -> &'static str {
    if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" }
}

#[test]
fn a_program_is_planned_for_free_charged_once_and_recorded() {
    let folder = Folder::new();
    if !folder.sandboxed() {
        return;
    }
    let line =
        format!("run data.csv --epsilon 20 --output number --range 0,200 --blocks 40 {PATIENT} --json");
    let plan = folder.json(&format!("{line} --dry-run -- {AVERAGE}"));
    assert_eq!((&plan["outcome"], &plan["blocks"]), (&Value::from("planned"), &Value::from(40)));
    assert!(!folder.0.path().join("equipoise.ledger").exists());
    let release = folder.json(&format!("{line} --request-id one -- {AVERAGE}"));
    assert_eq!(
        (&release["outcome"], &release["statistic"]),
        (&Value::from("released"), &Value::from("program"))
    );
    assert_eq!(release["mechanism"], "subsample, programs trusted");
    // Laplace noise of scale 200/(32·18) on 100: beyond 50 with probability e^-144. An empty block has probability 40·e^-50,
    // and the number of answers seems too small with probability e^-36.
    let value = release["value"].as_f64().expect("a number");
    assert!((50.0..150.0).contains(&value), "{value}");
    assert_eq!(folder.json(&format!("{line} --request-id one -- {AVERAGE}")), release);
    assert_eq!(release["spent"]["epsilon"], "20");
}

#[test]
fn padded_blocks_keep_the_promise_in_full() {
    let folder = Folder::new();
    if !folder.sandboxed() {
        return;
    }
    // However late the answers are, there is a release or a refusal. Two blocks are too few to tell how many answered.
    let line = "run data.csv --epsilon 1 --delta 1e-6 --output label --blocks 2 --block-time 1 --unit name --json --default no";
    let release = folder.json(&format!("{line} -- sh -c 'cat > /dev/null; echo yes'"));
    assert_eq!(release["mechanism"], "subsample, programs confined");
    assert_eq!(release["guarantee"]["unit"], "name");
    assert!(["released", "refused"].contains(&release["outcome"].as_str().expect("a text")));
}

#[test]
fn one_target_changes_one_vote_whatever_the_program_does_about_it() {
    let folder = Folder::new();
    if !folder.sandboxed() {
        return;
    }
    // It fails, stalls its block's processes or shouts where it sees the target; 1 of 40 votes cannot change a majority of
    // 39 at epsilon 18, up to a probability below e^-100; that 39 answered shows but for a probability of e^-34.
    for spite in ["exit 7", "kill -9 $$", "yes 1", "sleep 1000 & exit 1", "echo other"] {
        let script = format!("if grep -q '^p77,'; then {spite}; else echo same; fi");
        let release = folder.json(&format!(
            "run data.csv --epsilon 20 --delta 1e-6 --output label --blocks 40 {PATIENT} --json -- sh -c \"{}\"",
            script.replace('$', "\\$")
        ));
        assert_eq!(release["value"], "same", "{spite}: {release}");
    }
}

/// A file that the caller's shell left open must not be open inside.
#[test]
fn files_that_the_caller_left_open_are_closed() {
    let folder = Folder::new();
    if !folder.sandboxed() {
        return;
    }
    let release = folder.json(&format!(
        "exec 7< data.csv; run data.csv --epsilon 20 --delta 1e-6 --output label --blocks 40 {PATIENT} --json -- \
         sh -c 'if cat <&7 > /dev/null 2>&1; then echo open; else echo closed; fi'"
    ));
    assert_eq!(release["value"], "closed", "{release}");
}

#[test]
fn what_is_wrong_is_said_in_one_line_before_anything_is_charged() {
    let folder = Folder::new();
    let start = "run data.csv --epsilon 1 --output number --range 0,1";
    for (line, said) in [
        (format!("{start} -- no-such-program"), "no program 'no-such-program' is on the PATH"),
        (format!("{start} -- ./data.csv"), "is not a program that can be run"),
        (format!("{start} -- cat data.csv"), "data and ledger never enter the sandbox"),
        (format!("{start} --allow-read . -- cat"), "data and ledger never enter the sandbox"),
        (format!("{start} --allow-read /home -- cat"), "holds more than a program's files"),
        (format!("{start} --allow-read nowhere -- cat"), "cannot show 'nowhere' to the program"),
        (format!("{start} --block-time 0 -- cat"), "a block time is between 0.1 seconds and 24 hours"),
        (format!("{start} --block-time nan -- cat"), "--block-time takes seconds"),
        (format!("{start} -- cat --and"), "which program?"),
        ("run data.csv --epsilon 1 --output letters -- cat".to_string(), "output letters is not accepted"),
        ("run data.csv --epsilon 1 --output label -- cat".to_string(), "need a delta above 0"),
        ("run data.csv --output number --range 0,1 -- cat".to_string(), "Give --epsilon"),
    ] {
        let error = folder.refused(&line);
        assert!(error.contains(said) && error.lines().count() == 1, "{line}: {error}");
    }
    if folder.sandboxed() {
        let error = folder.refused(&format!("{start} -- sh -c 'exec no-such-program'"));
        assert!(error.contains("cannot be started in the sandbox"), "{error}");
    }
}

#[test]
fn without_a_sandbox_there_is_a_loud_line_and_the_answer_says_so() {
    let folder = Folder::new();
    let output = folder.shell(&format!(
        "run data.csv --epsilon 1 --delta 1e-6 --output label --blocks 3 --default none {PATIENT} --unsafe-no-sandbox --json -- cat data.csv"
    ));
    // The data is an argument, which not even this flag allows.
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let output = folder.shell(&format!(
        "run data.csv --epsilon 1 --delta 1e-6 --output label --blocks 3 --default none {PATIENT} --unsafe-no-sandbox --json -- echo a"
    ));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.starts_with("equipoise: WARNING: no sandbox"), "{error}");
    let release: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(release["mechanism"], "subsample, programs trusted");
}

/// With forty blocks that all failed, a number came with a bar of 95 %. So few blocks are refused now before anything is charged;
/// enough of them are refused for their silence, and a default that is stated is told with the bar.
#[test]
fn blocks_that_fail_are_no_answer() {
    let folder = Folder::new();
    if !folder.sandboxed() {
        return;
    }
    let start = format!("run data.csv --output number --range 0,200 {PATIENT}");
    let error = folder.refused(&format!("{start} --epsilon 1 --blocks 40 -- false"));
    let told = "40 blocks are too few at epsilon 1 to show that at least half of them answered: give --blocks 92, or --epsilon 3, or \
                a --default, which blocks without an answer count as";
    assert!(error.contains(told), "{error}");
    // Noise of 21 at epsilon 2 takes the number of answers from none to enough with probability e^-42.
    let release = folder.json(&format!("{start} --epsilon 20 --blocks 40 --json -- false"));
    assert_eq!((&release["outcome"], &release["value"]), (&Value::from("refused"), &Value::Null));
    assert!(release["blocks"]["answered"].as_i64().expect("a number") < 21, "{release}");
    assert!(release["advice"].as_str().expect("advice").starts_with("too few blocks seem to have answered"));
    let output = folder.shell(&format!("{start} --epsilon 20 --blocks 40 --default 70 -- false"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("the trimmed mean of 40 blocks' answers lies between"), "{text}");
    assert!(
        text.contains("answers are limited to 0 to 200; the 4 lowest and the 4 highest are left out"),
        "{text}"
    );
    assert!(text.contains("blocks without an answer count as 70"), "{text}");
    assert!(
        text.contains("blocks     40; how many answered is not released, because a default was stated"),
        "{text}"
    );
    assert!(!text.contains("true value"), "{text}");
    let wrong = folder.shell(&format!("{start} --epsilon 20 --blocks 40 --default seventy -- false"));
    let error = String::from_utf8_lossy(&wrong.stderr);
    assert!(error.contains("default \"seventy\" is not accepted") && error.lines().count() == 1, "{error}");
}

#[test]
fn several_programs_vote_together_and_a_file_can_be_the_block() {
    let folder = Folder::new();
    if !folder.sandboxed() {
        return;
    }
    let release = folder.json(&format!(
        "run data.csv --epsilon 20 --delta 1e-6 --output labels --options a,b,c --blocks 40 {PATIENT} --block-file --json -- \
         sh -c 'grep -q income block.csv && echo a,b' --and echo a"
    ));
    // All forty name a, twenty b, none c; noise of deviation about one leaves b open, and moves the others by twenty with
    // probability e^-200.
    assert!(release["value"].as_array().expect("a list").contains(&Value::from("a")), "{release}");
    assert!(!release["value"].as_array().expect("a list").contains(&Value::from("c")), "{release}");
}

/// The same id with an edited script, or with other files in sight, is another request: exit 2, and nothing is charged.
#[test]
fn a_stored_answer_is_not_given_for_another_script() {
    let folder = Folder::new();
    if !folder.sandboxed() {
        return;
    }
    let (script, more) = (folder.0.path().join("vote.sh"), folder.0.path().join("more.txt"));
    let write = |path: &Path, text: &str| {
        fs::write(path, text).expect("a file");
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("readable by all");
    };
    write(&script, "cat > /dev/null; echo one");
    write(&more, "a");
    let line = |rest: &str| {
        format!(
            "run data.csv --epsilon 20 --delta 1e-6 --output label --blocks 40 {PATIENT} --json --request-id r1 {rest} -- sh vote.sh"
        )
    };
    let first = folder.json(&line("--allow-read more.txt"));
    assert_eq!(first["value"], "one");
    assert_eq!(folder.json(&line("--allow-read more.txt")), first);
    let refused = |rest: &str| {
        let output = folder.shell(&line(rest));
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    };
    refused("");
    write(&more, "b");
    refused("--allow-read more.txt");
    write(&more, "a");
    write(&script, "cat > /dev/null; echo two");
    refused("--allow-read more.txt");
    write(&script, "cat > /dev/null; echo one");
    assert_eq!(folder.json(&line("--allow-read more.txt")), first);
}

/// Programs get an Arrow stream of the same rows, on standard input or as a file.
#[test]
fn blocks_can_be_arrow_streams() {
    let folder = Folder::new();
    if !folder.sandboxed() {
        return;
    }
    // How every stream begins, and a word of its schema.
    let looks = "head -c 4 $1 | od -An -tx1 | tr -d ' \\n'; grep -aq income $1 && echo income";
    for (flag, script) in
        [("", looks.replace("$1", "/scratch/b")), ("--block-file", looks.replace("$1", "block.arrow"))]
    {
        let keep = if flag.is_empty() { "cat > /scratch/b; " } else { "" };
        let release = folder.json(&format!(
            "run data.csv --epsilon 20 --delta 1e-6 --output label --blocks 40 {PATIENT} --input arrow {flag} --json -- sh -c \"{keep}{script}\""
        ));
        assert_eq!(release["value"], "ffffffffincome", "{flag}: {release}");
    }
}

/// What the ledger knows as data is data, whichever file was asked about, and so is a ledger that the run itself makes.
#[test]
fn other_data_of_the_ledger_and_new_ledgers_are_not_shown() {
    let folder = Folder::new();
    let start = "run data.csv --epsilon 1 --output number --range 0,1";
    fs::create_dir(folder.0.path().join("books")).expect("a folder");
    let error = folder.refused(&format!("{start} --ledger books/new.ledger --allow-read books -- cat"));
    assert!(error.contains("data and ledger never enter the sandbox"), "{error}");
    let program = env!("CARGO_BIN_EXE_equipoise");
    let set = Command::new(program)
        .args(["budget", "set", "salaries.csv", "--epsilon", "1"])
        .current_dir(folder.0.path())
        .output()
        .expect("it runs");
    assert!(set.status.success(), "{set:?}");
    let output = folder.shell(&format!("{start} -- cat salaries.csv"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("data and ledger never enter the sandbox"), "{error}");
}

/// Every example runs on its file and is answered: all blocks of the label agree, and the number of answers seems too
/// small with probability e^-32.
#[test]
fn the_examples_run() {
    let folder = Folder::new();
    if !folder.sandboxed() {
        return;
    }
    let python = python();
    let always = "sh -c true".to_string();
    for (needs, line) in [
        (always.clone(), "--output number --range 0,200000 --blocks 50 -- sh typical_salary.sh".to_string()),
        (format!("{python} -c 1"), format!("--output label --blocks 60 -- {python} choose_model.py")),
        (
            format!("{python} -c 1"),
            format!("--output vector:2 --range -100000,100000 --blocks 50 -- {python} line.py"),
        ),
        (
            "python3 -c 'import sklearn'".to_string(),
            "--output vector:3 --range -3,3 --blocks 20 -- python3 classifier.py".to_string(),
        ),
        (
            "Rscript -e 1".to_string(),
            "--output vector:2 --range -100000,100000 --blocks 20 -- Rscript line.R".to_string(),
        ),
    ] {
        if !has(&needs) {
            continue;
        }
        let output =
            folder.shell(&format!("run salaries.csv --epsilon 40 --delta 1e-6 {PATIENT} --json {line}"));
        let release: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{line}: {output:?}"));
        assert_eq!(release["outcome"], "released", "{line}: {release}");
    }
}
