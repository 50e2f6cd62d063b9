//! What a shell is offered: columns of the file, mechanisms of the statistic, data sets of the ledger; never a row.

mod support;

use support::Folder;

/// What bash is offered for the last of these words, but for options, which an empty word may become too.
fn offered(folder: &Folder, words: &[&str]) -> Vec<String> {
    let mut line = vec!["--", "equipoise"];
    line.extend(words);
    let output = folder
        .command(&line)
        .env("EQUIPOISE_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_IFS", "\n")
        .output()
        .expect("the program runs");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().filter(|line| !line.starts_with("--")).map(str::to_string).collect()
}

#[test]
fn columns_of_the_file_that_is_named() {
    let folder = Folder::of_towns();
    assert_eq!(offered(&folder, &["median", "data.csv", "v"]), ["value"]);
    assert_eq!(offered(&folder, &["median", "data.csv", "value", "--epsilon", "1", "--unit", "t"]), ["town"]);
    assert_eq!(offered(&folder, &["mean", "data.csv", "value", "--group-by", "town,y"]), ["town,year"]);
    assert_eq!(offered(&folder, &["count", "data.csv", "--type", "y"]), ["year="]);
    assert_eq!(offered(&folder, &["simulate", "median", "data.csv", "v"]), ["value"]);
    assert!(offered(&folder, &["median", "none.csv", "v"]).is_empty());
    assert!(!folder.path("equipoise.ledger").exists(), "nothing is written");
}

#[test]
fn commands_mechanisms_and_data_sets() {
    let folder = Folder::of_towns();
    assert_eq!(offered(&folder, &["med"]), ["median"]);
    let mechanisms = offered(&folder, &["median", "data.csv", "value", "--mechanism", ""]);
    assert!(mechanisms.iter().any(|name| name == "inverse-sensitivity"), "{mechanisms:?}");
    assert!(
        !mechanisms.iter().any(|name| name == "gaussian"),
        "medians have no such mechanism: {mechanisms:?}"
    );
    assert_eq!(offered(&folder, &["calibrate", "lap"]), ["laplace"]);
    folder.write("books/people.csv", "a\n1\n");
    let set = "budget set books/people.csv --epsilon 1 --ledger books/all.ledger";
    assert_eq!(folder.run(set).status.code(), Some(0));
    let known = offered(&folder, &["budget", "log", "--ledger", "books/all.ledger", "books/p"]);
    assert_eq!(known, ["books/people.csv"]);
}

/// What others wrote is put into a line that somebody may run.
#[test]
fn a_name_that_a_shell_would_read_as_more_is_not_offered() {
    let folder = Folder::new("plain,$(reboot),a b,-rf,\u{1b}[2J,`id`,a;b\n1,2,3,4,5,6,7\n");
    assert_eq!(offered(&folder, &["median", "data.csv", ""]), ["plain"]);
}

/// Rows are not read: a file whose rows are a pipe nobody writes to would hold the shell for ever.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for() {
    let folder = Folder::empty();
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe.csv")).status();
    assert!(made.expect("mkfifo runs").success());
    assert!(offered(&folder, &["median", "pipe.csv", ""]).is_empty());
    assert!(offered(&folder, &["median", "-", ""]).is_empty());
}
