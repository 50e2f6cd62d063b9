//! A folder with data in it, and the program as a user starts it there.

#![allow(dead_code, reason = "each test file uses a part of it")]

use serde_json::Value;
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// A folder of its own.
pub struct Folder(TempDir);

impl Folder {
    /// With nothing in it.
    pub fn empty() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// With this data.
    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Self::empty();
        folder.write(name, content);
        folder
    }

    /// With this in `data.csv`.
    pub fn new(content: impl AsRef<[u8]>) -> Self {
        Self::with("data.csv", content)
    }

    /// A file in it, in folders that are made.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    /// With three thousand rows in `data.csv`: two towns and two years, and one row of its own.
    pub fn of_towns() -> Self {
        let mut text = String::from("value,town,year\n1,Zed,2020\n");
        for value in 1..=3000 {
            let town = if value % 3 == 0 { "Ayr" } else { "Bath" };
            writeln!(text, "{value},{town},{}", 2020 + value % 2).expect("a string");
        }
        Self::new(text)
    }

    /// The program with these words, apart at spaces.
    pub fn run(&self, line: &str) -> Output {
        self.run_words(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// The program with these words, which may hold spaces.
    pub fn run_words(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the program runs")
    }

    /// The same, not yet started.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise"));
        command
            .args(words)
            .current_dir(self.root())
            .env_remove("EQUIPOISE_LEDGER")
            .env_remove("EQUIPOISE_ANALYST");
        command
    }

    /// The exit code.
    pub fn code(&self, line: &str) -> i32 {
        self.run(line).status.code().expect("no signal")
    }

    /// What it says, as JSON.
    pub fn json(&self, line: &str) -> Value {
        let output = self.run(&format!("{line} --json"));
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{line}: {output:?}"))
    }

    /// The same of words that may hold spaces.
    pub fn json_words(&self, words: &[&str]) -> Value {
        let output = self.run_words(&[words, &["--json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{words:?}: {output:?}"))
    }

    /// Exit code and the one line of standard error.
    pub fn fails(&self, line: &str) -> String {
        let output = self.run(line);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.stdout.is_empty(), "{line}: {}", String::from_utf8_lossy(&output.stdout));
        format!("{line}\n  exit {}: {}", output.status.code().expect("no signal"), error.trim_end())
    }

    /// How much was charged to the ledger of the folder.
    pub fn charges(&self) -> u64 {
        if !self.path("equipoise.ledger").exists() {
            return 0;
        }
        self.json("budget verify")["charges"].as_u64().expect("a number")
    }
}
