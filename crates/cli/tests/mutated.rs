//! Broken files of every format through the program: it ends with one of its own exit codes and at most one line on standard
//! error, whatever the file holds.
//!
//! `EQUIPOISE_MUTATED_FILES=20000 cargo test -p equipoise --test mutated -- --nocapture` takes as many of each format.
#![cfg(unix)]

#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../../engine/tests/support/mutate.rs"]
mod mutate;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../../engine/tests/support/originals.rs"]
mod originals;

use mutate::mutated;
use originals::{Original, originals};
use std::{
    collections::BTreeMap,
    env, fs,
    num::NonZero,
    path::Path,
    process::{Command, Output},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// What is asked of each file in turn; the file comes second.
const QUESTIONS: [&[&str]; 7] = [
    &["count", "--epsilon", "1"],
    &["median", "x", "--epsilon", "1"],
    &["mean", "x", "--epsilon", "1"],
    &["histogram", "kind", "--epsilon", "1", "--delta", "1e-6"],
    &["median", "n", "--group-by", "kind", "--epsilon", "1", "--delta", "1e-6"],
    &["count", "--where", "n > 5 and name is not null", "--epsilon", "1"],
    &["check"],
];

/// Ask with little memory: what asks for more than there is would end the program.
fn ask(question: &[&str], file: &Path) -> Output {
    let limit = if cfg!(target_os = "linux") { "ulimit -v 4194304;" } else { "" };
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limit} exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_equipoise")]);
    command.arg(question[0]).arg(file).args(&question[1..]);
    command.env_remove("EQUIPOISE_LEDGER").env_remove("EQUIPOISE_ANALYST");
    command.output().expect("the program runs")
}

/// The exit code, if all is as it should be.
fn checked(question: &[&str], file: &Path) -> Result<i32, String> {
    let output = ask(question, file);
    let said = String::from_utf8_lossy(&output.stderr);
    let one_line = said.lines().count() <= 1 && (said.is_empty() || said.starts_with("equipoise: "));
    match output.status.code() {
        Some(code @ 0..=4) if one_line && !said.contains("panicked") => Ok(code),
        _ => Err(format!("{question:?}: {}, {said}", output.status)),
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder")
}

#[test]
fn files_that_are_whole_are_answered() {
    let folder = folder();
    let all = originals();
    for (question, name) in QUESTIONS.iter().zip([
        "zstd-v2-dictionary.parquet",
        "lz4raw-v1-delta.parquet",
        "gzip-v1-plain.parquet",
        "zstd.arrow",
        "lz4.arrows",
        "a.csv.gz",
        "a.csv.zst",
    ]) {
        let original = all.iter().find(|original| original.name == name).expect(name);
        let path = folder.path().join(name);
        fs::write(&path, &original.bytes).expect("a file");
        let code = checked(question, &path);
        // So few rows may be refused.
        assert!(matches!(code, Ok(0 | 3)), "{name}: {code:?}");
    }
}

#[test]
fn a_broken_file_ends_with_an_exit_code_and_a_line() {
    let each: usize =
        env::var("EQUIPOISE_MUTATED_FILES").ok().and_then(|count| count.parse().ok()).unwrap_or(12);
    let all = originals();
    let mut formats: BTreeMap<&str, Vec<&Original>> = BTreeMap::new();
    for original in &all {
        let (_, format) = original.name.split_once('.').expect("an ending");
        formats.entry(format).or_default().push(original);
    }
    let codes: Mutex<BTreeMap<(&str, i32), usize>> = Mutex::new(BTreeMap::new());
    let (next, workers) = (AtomicUsize::new(0), thread::available_parallelism().map_or(1, NonZero::get));
    let (names, files): (Vec<&str>, Vec<Vec<&Original>>) = formats.into_iter().unzip();
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut place = folder();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let (seed, format) = (number / names.len(), number % names.len());
                    if seed >= each {
                        return;
                    }
                    // A ledger that has grown is slower.
                    if seed % 500 == 499 {
                        place = folder();
                    }
                    let original = files[format][seed % files[format].len()];
                    let other = &all[(seed * 31 + 7) % all.len()];
                    let path = place.path().join(&original.name);
                    fs::write(&path, mutated(&original.bytes, &other.bytes, seed as u64)).expect("a file");
                    let code = checked(QUESTIONS[seed % QUESTIONS.len()], &path)
                        .unwrap_or_else(|what| panic!("{} {seed}: {what}", original.name));
                    *codes.lock().expect("whole").entry((names[format], code)).or_default() += 1;
                }
            });
        }
    });
    let codes = codes.into_inner().expect("whole");
    println!("{codes:?}");
    assert_eq!(codes.values().sum::<usize>(), each * names.len());
    // Broken before the charge, broken after it, and good enough all came to pass.
    for code in [0, 1, 2] {
        assert!(codes.keys().any(|key| key.1 == code), "{codes:?}");
    }
}
