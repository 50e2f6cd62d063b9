//! A disk that is really full, at every number of free pages from none to enough: the line names the ledger, what it says of the
//! charge is true, and no answer is shown that is not recorded.
//!
//! Needs root, for a small disk in memory; without it these tests say so and pass.
#![cfg(target_os = "linux")]

mod support;

use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
    process::{Command, Output},
};
use support::Folder;

/// What a disk gives out at a time.
const PAGE: usize = 4096;

/// A disk of one mebibyte, until it is dropped.
struct Disk(tempfile::TempDir);

impl Disk {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs"]).arg(folder.path());
        let made = mount.output().is_ok_and(|output| output.status.success());
        if !made {
            println!("no disk can be mounted here (only root may): a full disk is not tried");
        }
        made.then_some(Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Everything away but the ledger as it was, and so many free pages.
    fn leave(&self, ledger: Option<&[u8]>, pages: usize) {
        for file in fs::read_dir(self.path()).expect("the disk") {
            fs::remove_file(file.expect("a file").path()).expect("removed");
        }
        if let Some(ledger) = ledger {
            fs::write(self.path().join("l.ledger"), ledger).expect("a copy");
        }
        let mut filler = File::create(self.path().join("filler")).expect("a file");
        while filler.write_all(&[0; PAGE]).is_ok() {}
        let length = filler.metadata().expect("a file").len();
        filler.set_len(length.saturating_sub((pages * PAGE) as u64)).expect("a shorter file");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

/// Ask at every number of free pages; how often it was not charged, charged and lost, answered.
fn tried(words: &[&str], new: bool) -> Option<[usize; 3]> {
    let disk = Disk::new()?;
    let ledger = disk.path().join("l.ledger");
    let folder = Folder::of_towns();
    let named = [words, &["--ledger", ledger.to_str().expect("a path")]].concat();
    let before = (!new).then(|| {
        let output = folder.run_words(&named);
        assert!(output.status.success(), "{output:?}");
        fs::read(&ledger).expect("a ledger")
    });
    let mut ends = [0; 3];
    for pages in 0..60 {
        disk.leave(before.as_deref(), pages);
        let output = folder.run_words(&named);
        fs::remove_file(disk.path().join("filler")).expect("room to look");
        let end = what_is_said_is_true(&folder, &ledger, &output, u64::from(!new), pages);
        ends[end] += 1;
    }
    println!("{}: not charged, lost, answered: {ends:?}", words[0]);
    Some(ends)
}

fn what_is_said_is_true(folder: &Folder, ledger: &Path, output: &Output, before: u64, pages: usize) -> usize {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let verified = folder.run(&format!("budget verify --json --ledger {}", ledger.display()));
    let none = String::from_utf8_lossy(&verified.stderr).contains("there is none yet");
    let none_yet = serde_json::json!({ "charges": 0, "lost_count": 0 });
    let verified =
        if none { none_yet } else { serde_json::from_slice(&verified.stdout).expect("a verified ledger") };
    let count = |what: &str| verified[what].as_u64().unwrap_or_else(|| panic!("{pages} pages: {verified}"));
    let (charges, lost) = (count("charges"), count("lost_count"));
    let place = format!("{pages} free pages: {said}");
    if output.status.success() {
        assert_eq!((charges, lost), (before + 1, 0), "{place}");
        return 2;
    }
    assert!(output.stdout.is_empty() && said.lines().count() == 1, "{place}");
    assert!(said.contains(ledger.to_str().expect("a path")) && !said.contains("the data"), "{place}");
    let charged = said.contains("; the charge stands and the answer is lost");
    let uncharged = said.contains("; nothing was charged");
    // A synchronisation that fails leaves open what the disk has.
    let unsure = said.contains("whether it was written is not known");
    assert!(charged || uncharged || unsure, "{place}");
    assert_eq!(output.status.code(), Some(1), "{place}");
    if charged {
        assert_eq!((charges, lost), (before + 1, 1), "{place}");
    } else if uncharged {
        assert_eq!((charges, lost), (before, 0), "{place}");
    }
    usize::from(charged)
}

fn all_three(ends: Option<[usize; 3]>) {
    assert!(ends.is_none_or(|ends| ends.iter().all(|&end| end > 0)), "{ends:?}");
}

/// A ledger whose disk was full was reported as data that could not be read.
#[test]
fn a_question_says_that_the_ledger_failed_and_whether_it_was_charged() {
    let keys: Vec<String> = (0..600).map(|key| format!("town{key}")).collect();
    let long = ["histogram", "data.csv", "town", "--keys", &keys.join(","), "--epsilon", "1"];
    all_three(tried(&long, false));
    let short = ["median", "data.csv", "value", "--epsilon", "1", "--rows", "3001"];
    all_three(tried(&short, true));
}

#[test]
fn a_program_says_that_the_ledger_failed_and_whether_it_was_charged() {
    let words =
        ["run", "data.csv", "--output", "number", "--range", "0,3000", "--epsilon", "1", "--rows", "3001"];
    let program =
        ["--blocks", "4", "--block-time", "1", "--no-time-padding", "--default", "0", "--unsafe-no-sandbox"];
    let words = [&words[..], &program].concat();
    let ends = tried_program(&words);
    assert!(ends.is_none_or(|ends| ends[0] > 0 && ends[2] > 0), "{ends:?}");
}

/// The same with a program behind everything else, at a few numbers of pages: each starts four processes.
fn tried_program(words: &[&str]) -> Option<[usize; 3]> {
    let disk = Disk::new()?;
    let ledger = disk.path().join("l.ledger");
    let folder = Folder::of_towns();
    let path = ledger.to_str().expect("a path");
    let named = [words, &["--ledger", path, "--", "/bin/echo", "1"]].concat();
    let mut ends = [0; 3];
    for pages in (0..60).step_by(3) {
        disk.leave(None, pages);
        let output = folder.run_words(&named);
        fs::remove_file(disk.path().join("filler")).expect("room to look");
        let warned = String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_string();
        let output = Output { stderr: warned.into_bytes(), ..output };
        ends[what_is_said_is_true(&folder, &ledger, &output, 0, pages)] += 1;
    }
    Some(ends)
}

/// A limit that cannot be written is not set, and the line says so.
#[test]
fn a_limit_says_that_the_ledger_failed_and_that_no_limit_was_changed() {
    let Some(disk) = Disk::new() else { return };
    let (ledger, folder) = (disk.path().join("l.ledger"), Folder::of_towns());
    let mut failed = 0;
    for pages in 0..60 {
        disk.leave(None, pages);
        let words = format!("budget set data.csv --epsilon 1 --ledger {}", ledger.display());
        let output = folder.run(&words);
        fs::remove_file(disk.path().join("filler")).expect("room to look");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            continue;
        }
        failed += 1;
        assert!(said.contains(ledger.to_str().expect("a path")) && output.status.code() == Some(1), "{said}");
        assert!(said.contains("nothing was charged") || said.contains("no limit was changed"), "{said}");
        let shown = folder.run(&format!("budget show --json --ledger {}", ledger.display()));
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(!shown.contains("\"limit\": {"), "{pages} free pages: {said}{shown}");
    }
    assert!((1..60).contains(&failed), "{failed}");
}
