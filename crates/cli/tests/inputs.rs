//! Patterns, folders and standard input as a user names them.

use std::{
    fs,
    io::Write,
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

fn run(folder: &TempDir, arguments: &[&str], input: Option<&[u8]>) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_equipoise"))
        .args(arguments)
        .current_dir(folder.path())
        .env_remove("EQUIPOISE_LEDGER")
        .env_remove("EQUIPOISE_ANALYST")
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    if let Some(input) = input {
        // A program that refuses does not read on.
        let _ = child.stdin.take().expect("a pipe").write_all(input);
    }
    child.wait_with_output().expect("the program ends")
}

fn two_files() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("in")).expect("a folder");
    for name in ["a", "b"] {
        let content = format!("value,town\n{}", "1,Bath\n".repeat(500));
        fs::write(folder.path().join(format!("in/{name}.csv")), content).expect("a file");
    }
    folder
}

/// The released count of records and the name that was charged. At epsilon 100 the noise is a whole number other than zero with
/// probability below 1e-43.
fn counted(output: &Output) -> (f64, String) {
    let text = String::from_utf8_lossy(&output.stdout);
    let json: serde_json::Value = serde_json::from_str(&text)
        .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    (json["value"].as_f64().expect("a number"), json["data"].as_str().expect("a name").to_string())
}

#[test]
fn a_pattern_a_folder_and_a_pipe_are_data_sets_with_names() {
    let folder = two_files();
    let count = |arguments: &[&str], input: Option<&[u8]>| {
        let all = [&["count", "--epsilon", "100", "--json"], arguments].concat();
        counted(&run(&folder, &all, input))
    };
    assert_eq!(count(&["in/*.csv"], None), (1000.0, "*.csv".to_string()));
    assert_eq!(count(&["in"], None), (1000.0, ".".to_string()));
    assert_eq!(count(&["in/a.csv"], None), (500.0, "a.csv".to_string()));
    assert_eq!(count(&["-", "--name", "sales"], Some(b"a\n1\n2\n3\n")), (3.0, "sales".to_string()));
    assert!(folder.path().join("equipoise.ledger").exists(), "the ledger of a pipe lies where one stands");
    assert!(folder.path().join("in/equipoise.ledger").exists(), "that of a pattern where the pattern begins");
}

#[test]
fn what_has_no_name_or_no_columns_in_common_is_one_line_and_free() {
    let folder = two_files();
    let line = |arguments: &[&str], input: Option<&[u8]>| {
        let output = run(&folder, &[&["count", "--epsilon", "1"], arguments].concat(), input);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).trim_end().to_string()
    };
    let nameless = "standard input has no name; say --name NAME, which its budget belongs to";
    assert!(line(&["-"], Some(b"a\n1\n")).ends_with(nameless));
    let named = "--name is for standard input alone; a file goes by its path, so leave it out";
    assert!(line(&["in/a.csv", "--name", "x"], None).ends_with(named));
    assert!(
        line(&["-", "--name", "x"], Some(b""))
            .ends_with("the data is empty; its first line must name the columns, or say --no-header")
    );
    assert!(
        line(&["-", "--name", "x"], Some(b"PAR1"))
            .ends_with("Parquet cannot be read from a pipe; save it to a file first")
    );
    assert!(line(&["*.csv"], None).ends_with("no file fits '*.csv'; check the pattern"));
    fs::write(folder.path().join("in/c.csv"), "value\n1\n").expect("a file");
    assert!(
        line(&["in"], None).ends_with(
            "'in/c.csv' lacks the column 'town' that 'in/a.csv' has; all files must have the same"
        )
    );
    assert!(!folder.path().join("equipoise.ledger").exists(), "nothing was charged");
}

#[test]
fn patterns_folders_and_pipes_have_budgets() {
    let folder = two_files();
    for (data, input) in
        [(&["in/*.csv"][..], None), (&["in"], None), (&["-", "--name", "sales"], Some(&b"a\n1\n"[..]))]
    {
        let set = run(&folder, &[&["budget", "set", "--epsilon", "1"], data].concat(), None);
        assert_eq!(set.status.code(), Some(0), "{}", String::from_utf8_lossy(&set.stderr));
        let over = run(&folder, &[&["count", "--epsilon", "2"], data].concat(), input);
        assert_eq!(over.status.code(), Some(4), "{}", String::from_utf8_lossy(&over.stderr));
        let shown = run(&folder, &[&["budget", "show"], data].concat(), None);
        assert_eq!(shown.status.code(), Some(0));
    }
}
