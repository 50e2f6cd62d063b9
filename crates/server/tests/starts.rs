//! How the program is started: what would send secrets over a network in the clear, or read without end, is one line and no server.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The program with these words; ended where it does not end by itself, which a server that was started does not.
fn started(folder: &Path, words: &[&str]) -> Option<Output> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_equipoise-server"))
        .args(["serve", "--listen", "127.0.0.1:0", "--directory"])
        .arg(folder.join("server"))
        .args(words)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(5) {
        if child.try_wait().unwrap().is_some() {
            return Some(child.wait_with_output().unwrap());
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// It ends at once with a line that says this, and with nothing else.
fn turned_down(folder: &Path, words: &[&str], says: &str) {
    let output = started(folder, words).unwrap_or_else(|| panic!("{words:?}: it runs"));
    let line = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {line}");
    assert!(line.lines().count() == 1 && line.contains(says), "{words:?}: {line}");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!told.contains("/sign-in/"), "{words:?}: no link is printed: {told}");
}

#[test]
fn browsers_elsewhere_reach_it_by_https_alone() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("data")).unwrap();
    let steward = ["--data", "data", "--first-steward", "sam"];
    let with = |words: &[&'static str]| [&steward, words].concat();
    let https = "begin --public-url with https://";
    turned_down(folder, &with(&["--behind-proxy", "--public-url", "http://answers.example.org"]), https);
    turned_down(folder, &with(&["--public-url", "http://answers.example.org"]), https);
    turned_down(folder, &with(&["--public-url", "http://127.0.0.1.example.org:80"]), https);
    for odd in ["https://a.example/x", "https://a.example;x", "https://user@a.example", "ftp://a.example"] {
        let words = [&steward[..], &["--public-url", odd]].concat();
        turned_down(folder, &words, "is a scheme and a host");
    }
    for good in ["https://answers.example.org", "http://localhost:8470", "http://[::1]:8470"] {
        let words = [&steward[..], &["--public-url", good]].concat();
        assert!(started(folder, &words).is_none(), "{good}");
    }
}

#[test]
fn what_is_no_folder_no_file_and_no_name_is_told_at_once() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("data")).unwrap();
    turned_down(folder, &["--data", "date"], "date is no folder");
    turned_down(folder, &["--data", "data", "--programs", "nowhere"], "nowhere is no folder");
    // A device has no last line.
    turned_down(folder, &["--data", "data", "--head-file", "/dev/zero"], "it is no file");
    for name in ["..", "a/b", " sam", "demo"] {
        turned_down(folder, &["--data", "data", "--first-steward", name], "a member's name has words");
    }
}
