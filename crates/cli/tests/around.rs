//! A limit that covers a file is not walked around by another ledger, another name, a link or a move; not without a word.

mod support;

use serde_json::Value;
use std::{fs, process::Stdio};
use support::Folder;

/// `a.csv` with a limit of epsilon 1 that is used up, in the ledger beside it.
fn used_up() -> Folder {
    let folder = Folder::with("a.csv", format!("x\n{}", "7\n".repeat(300)));
    assert_eq!(folder.code("budget set a.csv --epsilon 1"), 0);
    assert_eq!(folder.code("count a.csv --epsilon 1"), 0);
    assert_eq!(folder.code("count a.csv --epsilon 1"), 4);
    folder
}

/// Refused before anything is charged or made, in one line that says what covers the file.
fn refused(folder: &Folder, line: &str) -> String {
    let before = files(folder);
    let output = folder.run(line);
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{line}: {said}");
    assert!(said.contains("is limited in the ledger") || said.contains("which is limited"), "{line}: {said}");
    assert!(said.contains("or say --apart to count it apart") && said.lines().count() == 1, "{said}");
    assert_eq!(files(folder), before, "{line}: no ledger was made");
    said
}

/// The ledgers below a folder.
fn files(folder: &Folder) -> Vec<String> {
    let found = glob(folder.root());
    assert!(!found.is_empty());
    found
}

fn glob(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(glob(&path));
        } else if path.to_string_lossy().ends_with(".ledger") {
            found.push(path.to_string_lossy().into_owned());
        }
    }
    found.sort();
    found
}

/// The entries of a kind, of a ledger.
fn entries(folder: &Folder, ledger: &str, kind: &str) -> Vec<Value> {
    let log = folder.json(&format!("budget log --ledger {ledger}"));
    log.as_array().expect("a list").iter().filter(|entry| entry["event"]["kind"] == kind).cloned().collect()
}

#[test]
fn another_ledger_is_no_way_around() {
    let folder = used_up();
    let said = refused(&folder, "count a.csv --epsilon 1 --ledger other.ledger");
    assert!(said.contains("as 'a.csv'; name that ledger with --ledger, or say"), "{said}");
    fs::create_dir(folder.path("sub")).expect("a folder");
    refused(&folder, "count a.csv --epsilon 1 --ledger sub/other.ledger");
    refused(&folder, "count a.csv --epsilon 1 --ledger sub/other.ledger --dry-run");
    refused(&folder, "monitor a.csv --epsilon 1 --delta 1e-6 --budget-per-unit 2 --ledger sub/other.ledger");
    let mut command = folder.command(&["count", "a.csv", "--epsilon", "1"]);
    let output = command.env("EQUIPOISE_LEDGER", folder.path("sub/other.ledger")).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    folder.write("questions.json", r#"{"epsilon": "1", "questions": [{"statistic": "count"}]}"#);
    refused(&folder, "batch questions.json a.csv --ledger other.ledger");
}

/// What a copy of a ledger has, the ledger has too, until one of them is charged alone: then the other is behind, and says so.
#[test]
fn of_a_ledger_and_its_copy_one_goes_on() {
    let folder = Folder::with("a.csv", "x\n1\n2\n");
    assert_eq!(folder.code("budget set a.csv --epsilon 3"), 0);
    assert_eq!(folder.code("count a.csv --epsilon 1"), 0);
    fs::copy(folder.path("equipoise.ledger"), folder.path("backup.ledger")).expect("a copy");
    assert_eq!(folder.code("count a.csv --epsilon 1"), 0, "a backup is in nobody's way");
    refused(&folder, "count a.csv --epsilon 1 --ledger backup.ledger");
    assert_eq!(folder.code("count a.csv --epsilon 1"), 0);
    assert_eq!(folder.code("count a.csv --epsilon 1"), 4);
}

#[test]
fn whatever_the_ledger_of_a_limit_is_called_it_is_found() {
    let folder = Folder::with("a.csv", format!("x\n{}", "7\n".repeat(300)));
    assert_eq!(folder.code("budget set a.csv --epsilon 1 --ledger steward.ledger"), 0);
    let said = refused(&folder, "count a.csv --epsilon 1");
    assert!(said.contains("'steward.ledger'") || said.contains("/steward.ledger'"), "{said}");
    assert_eq!(folder.code("count a.csv --epsilon 1 --ledger steward.ledger"), 0);
    // Without a limit there is nothing to walk around, and somebody else's file is no ledger.
    let plain = Folder::with("a.csv", "x\n1\n2\n");
    plain.write("accounts.ledger", "2024/01/01 * Groceries\n");
    assert_eq!(plain.code("count a.csv --epsilon 1"), 0);
    assert_eq!(plain.code("count a.csv --epsilon 1 --ledger other.ledger"), 0);
}

#[test]
fn links_and_moves_are_no_way_around() {
    let folder = used_up();
    fs::create_dir_all(folder.path("sub/deep")).expect("folders");
    fs::hard_link(folder.path("a.csv"), folder.path("sub/deep/b.csv")).expect("a link");
    let said = refused(&folder, "count sub/deep/b.csv --epsilon 1");
    assert!(said.contains("as 'a.csv'; ask of 'a.csv' with --ledger"), "{said}");
    refused(&folder, "count sub/deep/b.csv --epsilon 1 --ledger sub/mine.ledger");
    // Beside the file the name is not registered, and stays so.
    fs::hard_link(folder.path("a.csv"), folder.path("c.csv")).expect("a link");
    let said = refused(&folder, "count c.csv --epsilon 1");
    assert!(
        said.contains("; ask of 'a.csv', or say --apart") && said.contains("which the ledger writes"),
        "{said}"
    );
    std::os::unix::fs::symlink(folder.path("a.csv"), folder.path("sub/soft.csv")).expect("a link");
    refused(&folder, "count sub/soft.csv --epsilon 1 --ledger sub/mine.ledger");
    assert_eq!(folder.code("count sub/soft.csv --epsilon 1"), 4, "a link leads to the file and its ledger");
    for link in ["sub/deep/b.csv", "c.csv", "sub/soft.csv"] {
        fs::remove_file(folder.path(link)).expect("a link");
    }
    fs::rename(folder.path("a.csv"), folder.path("sub/moved.csv")).expect("the same disk");
    let said = refused(&folder, "count sub/moved.csv --epsilon 1");
    assert!(said.contains("put it back as '") && said.contains("/a.csv'"), "{said}");
    refused(&folder, "count sub --epsilon 1");
    refused(&folder, "count sub/*.csv --epsilon 1");
}

#[test]
fn a_folder_and_a_pattern_are_the_files_in_them() {
    let folder = Folder::with("data/a.csv", "x\n1\n");
    folder.write("data/b.csv", "x\n1\n");
    assert_eq!(folder.code("budget set data/a.csv --epsilon 1"), 0);
    refused(&folder, "count data --epsilon 1 --ledger other.ledger");
    refused(&folder, "count data/*.csv --epsilon 1 --ledger other.ledger");
    assert_eq!(folder.code("count data/b.csv --epsilon 1 --ledger other.ledger"), 0, "no limit covers it");
    // And the other way around: a limit on all of them covers each, also where each was counted before.
    let folder = Folder::with("data/a.csv", "x\n1\n");
    folder.write("data/b.csv", "x\n1\n");
    assert_eq!(folder.code("count data/a.csv --epsilon 1 --ledger equipoise.ledger"), 0);
    assert_eq!(folder.code("budget set data --epsilon 1 --ledger equipoise.ledger"), 0);
    let said = refused(&folder, "count data/a.csv --epsilon 1 --ledger equipoise.ledger");
    assert!(said.contains("is one of the files of 'data', which is limited"), "{said}");
    refused(&folder, "count data/b.csv --epsilon 1");
    // Where the steward sets a limit for one of them too, and was told, both hold.
    let set = folder.run("budget set data/a.csv --epsilon 1 --ledger equipoise.ledger");
    let told = String::from_utf8(set.stderr).expect("text");
    assert!(told.contains("is one of the files of 'data'") && told.contains("the same people"), "{told}");
    assert_eq!(folder.code("count data/a.csv --epsilon 0 --ledger equipoise.ledger"), 2);
    assert_eq!(folder.code("count data/a.csv --epsilon 1 --ledger equipoise.ledger"), 4);
}

#[test]
fn a_file_that_is_moved_out_of_a_large_folder_is_still_known() {
    let folder = Folder::empty();
    fs::create_dir(folder.path("year")).expect("a folder");
    for day in 0..1200 {
        fs::write(folder.path(&format!("year/{day}.csv")), "x\n1\n").expect("written");
    }
    assert_eq!(folder.code("budget set year --epsilon 1 --ledger equipoise.ledger"), 0);
    fs::create_dir(folder.path("elsewhere")).expect("a folder");
    for day in [0, 999, 1199] {
        let moved = format!("elsewhere/{day}.csv");
        fs::rename(folder.path(&format!("year/{day}.csv")), folder.path(&moved)).expect("moved");
        refused(&folder, &format!("count {moved} --epsilon 1"));
    }
}

#[test]
fn standard_input_out_of_a_file_is_that_file() {
    let folder = used_up();
    let asked = |words: &[&str]| {
        let input = fs::File::open(folder.path("a.csv")).expect("a file");
        folder.command(words).stdin(Stdio::from(input)).output().expect("it runs")
    };
    let words = ["count", "-", "--name", "mine", "--epsilon", "1"];
    let named = [&words[..], &["--ledger", "other.ledger"]].concat();
    for words in [&words[..], &named] {
        let output = asked(words);
        let said = String::from_utf8(output.stderr).expect("text");
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("is limited in the ledger"), "{said}");
    }
    let apart = asked(&[&named[..], &["--apart"]].concat());
    assert_eq!(apart.status.code(), Some(0), "{apart:?}");
}

#[test]
fn what_is_counted_apart_stands_in_both_ledgers() {
    let folder = used_up();
    let line = "count a.csv --epsilon 0.5 --ledger other.ledger --apart --analyst ada";
    assert_eq!(folder.code(line), 0);
    let here = entries(&folder, "other.ledger", "apart");
    let there = entries(&folder, "equipoise.ledger", "apart");
    let [here, there] = [&here[..], &there[..]].map(|found| match found {
        [one] => one.clone(),
        other => panic!("{other:?}"),
    });
    for (entry, charged, other) in [(&here, "here", "equipoise.ledger"), (&there, "there", "other.ledger")] {
        let event = &entry["event"];
        assert_eq!(
            (&event["charged"], &event["cost"]["epsilon"]),
            (&charged.into(), &"0.5".into()),
            "{entry}"
        );
        assert!(event["path"].as_str().is_some_and(|path| path.ends_with(other)), "{entry}");
        assert_eq!(
            (&entry["data"], &event["data"], &entry["analyst"]),
            (&"a.csv".into(), &"a.csv".into(), &"ada".into())
        );
    }
    for ledger in ["other.ledger", "equipoise.ledger"] {
        assert_eq!(folder.code(&format!("budget verify --ledger {ledger}")), 0);
    }
    let log = String::from_utf8(folder.run("budget log").stdout).expect("text");
    assert!(
        log.contains("asked apart from this limit: epsilon 0.5, charged to a.csv in other.ledger"),
        "{log}"
    );
    // Every command says so for itself.
    refused(&folder, "count a.csv --epsilon 0.5 --ledger other.ledger --analyst ada");
    // Where the other ledger cannot be written, nothing is charged.
    let path = folder.path("equipoise.ledger");
    let mut mode = fs::metadata(&path).expect("a ledger").permissions();
    mode.set_readonly(true);
    fs::set_permissions(&path, mode).expect("a mode");
    let output = folder.run(line);
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("must be written down where the limit is") && said.contains("read-only"), "{said}");
    assert_eq!(entries(&folder, "other.ledger", "charged").len(), 1);
}

#[test]
fn a_steward_is_told_of_the_same_content_near_by_and_nobody_else() {
    let folder = used_up();
    fs::create_dir(folder.path("sub")).expect("a folder");
    fs::copy(folder.path("a.csv"), folder.path("sub/copy.csv")).expect("a copy");
    let asked = folder.run("count sub/copy.csv --epsilon 0.1");
    assert_eq!((asked.status.code(), asked.stderr.len()), (Some(0), 0), "an analyst is told nothing");
    let set = folder.run("budget set sub/copy.csv --epsilon 1");
    let told = String::from_utf8(set.stderr).expect("text");
    assert!(told.contains("'a.csv' in the ledger '") && told.contains("has the same content"), "{told}");
}

/// Its rows were published by simulating on a link beside it.
#[test]
fn a_link_to_a_registered_file_is_not_simulated() {
    let folder = used_up();
    fs::create_dir(folder.path("sub")).expect("a folder");
    for link in ["b.csv", "sub/b.csv"] {
        fs::hard_link(folder.path("a.csv"), folder.path(link)).expect("a link");
        for line in [
            format!("simulate --trials 3 count {link} --epsilon 1"),
            format!("simulate --trials 3 count {link} --epsilon 1 --ledger none.ledger"),
            format!("simulate --trials 3 --neighbour {link} count public.csv --epsilon 1"),
        ] {
            folder.write("public.csv", "x\n1\n");
            let output = folder.run(&line);
            let said = String::from_utf8(output.stderr).expect("text");
            assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{line}: {said}");
            assert!(said.contains("a.csv is in a ledger, so its rows are private"), "{said}");
        }
    }
    let moved = folder.path("sub/moved.csv");
    fs::rename(folder.path("a.csv"), &moved).expect("the same disk");
    assert_eq!(folder.code("simulate --trials 3 count sub/moved.csv --epsilon 1"), 2);
}

/// An analyst who had used up a limit went on by leaving the name out.
#[test]
fn where_analysts_have_limits_a_name_is_needed() {
    let folder = Folder::with("a.csv", "x\n1\n2\n");
    assert_eq!(folder.code("budget set a.csv --epsilon 9"), 0);
    assert_eq!(folder.code("budget set a.csv --epsilon 1 --analyst ana"), 0);
    assert_eq!(folder.code("count a.csv --epsilon 1 --analyst ana"), 0);
    assert_eq!(folder.code("count a.csv --epsilon 1 --analyst ana"), 4);
    let output = folder.run("count a.csv --epsilon 1");
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!((output.status.code(), folder.charges()), (Some(2), 1), "{said}");
    assert!(said.contains("say who asks with --analyst NAME"), "{said}");
}

/// A hard link in a folder above is asked of freely, for nobody there knows a limit; then its ledger stood in the way of the file with
/// the limit below, which is the one that counts.
#[test]
fn a_ledger_above_that_only_counts_does_not_block_the_one_with_the_limit() {
    let folder = Folder::with("below/a.csv", format!("x\n{}", "7\n".repeat(300)));
    assert_eq!(folder.code("budget set below/a.csv --epsilon 1"), 0);
    fs::hard_link(folder.path("below/a.csv"), folder.path("b.csv")).expect("a link");
    assert_eq!(folder.code("count b.csv --epsilon 0.25"), 0);
    assert_eq!(folder.code("count below/a.csv --epsilon 1"), 0);
    assert_eq!(folder.code("count below/a.csv --epsilon 1"), 4, "its own limit holds");
    // A limit above still counts beside the one below, and without one below what is counted above is.
    assert_eq!(folder.code("budget set b.csv --epsilon 1"), 0);
    refused(&folder, "count below/a.csv --epsilon 0.1");
    let plain = Folder::with("below/a.csv", "x\n1\n");
    fs::hard_link(plain.path("below/a.csv"), plain.path("b.csv")).expect("a link");
    assert_eq!(plain.code("count b.csv --epsilon 0.25"), 0);
    assert!(plain.fails("count below/a.csv --epsilon 1").contains("is counted in the ledger"));
}
