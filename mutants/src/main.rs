//! Changes single lines that privacy and money rest on, one at a time, and tells which changes no test notices.
//!
//! All changes are written into one copy of the tree, below `target/mutants`, each behind a question that a test program answers
//! when it starts, so that the tests are built once. First every test runs alone and unchanged and records which changes it
//! reaches; then each change is tried on the tests of its crate that reach it (for the core on the audits too, for the
//! engine's books and the runner on those of the command line), the quick ones first, until one fails or hangs.
//!
//!     equipoise-mutants [FILE | FOLDER | FILE:LINE]... [--sample N] [--seed S] [--workers N] [--without-audits]
//!         [--folder PATH] [--list]
//!
//! The audits of the command line take a minute for each change of the core that nothing else notices; `--without-audits` leaves them out.

#![forbid(unsafe_code)]

mod points;
mod report;
mod rewrite;
mod suite;
#[cfg(test)]
mod tests;
mod tree;

use report::{Equivalents, Fate};
use std::{
    path::Path,
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};
use suite::{Machine, Test, side_by_side};
use tree::{Mutant, Program, Tree};

/// What privacy and money rest on.
const FOLDERS: [&str; 13] = [
    "crates/core/src/account",
    "crates/core/src/mechanism",
    "crates/core/src/monitor",
    "crates/core/src/opening.rs",
    "crates/core/src/sampler",
    "crates/core/src/stability",
    "crates/core/src/subsample",
    "crates/engine/src/books",
    "crates/runner/src",
    "crates/ledger/src",
    "crates/session/src/rows",
    "crates/session/src/task",
    "crates/session/src/votes",
];
/// Never changed: what keeps hostile programs from the machine. Only tests that let such programs loose could notice, and a sandbox
/// without its limit of processes, or of memory, sets a real fork bomb free on the machine that tries it.
const UNTOUCHED: [&str; 1] = ["crates/runner/src/sandbox"];
/// Tests that let hostile programs loose, by crate and name: none of them ever runs on a changed line, since a change anywhere on
/// the way to the sandbox may leave it out.
const HOSTILE: [(&str, &str); 1] = [("runner", "hostile")];
/// Tests of more than the crate itself that count.
const ALSO: [(&str, &str); 4] =
    [("core", "audit"), ("engine", "cli"), ("ledger", "session"), ("runner", "cli")];
/// The test of the command line that runs all audits, which count for the core too.
const AUDITS: &str = "guarantees";
/// What must be noticed of the changes that are not equivalent.
const ENOUGH: f64 = 0.95;

struct Orders {
    /// Files, folders, or files with a line.
    wanted: Vec<String>,
    sample: usize,
    seed: u64,
    workers: usize,
    audits: bool,
    /// Where the copy is made and built.
    folder: String,
    list: bool,
}

fn orders() -> Result<Orders, String> {
    let mut orders = Orders {
        wanted: Vec::new(),
        sample: usize::MAX,
        seed: 1,
        workers: 2,
        audits: true,
        folder: "target/mutants".into(),
        list: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || {
            let text = words.next().unwrap_or_default();
            text.parse::<u64>().map_err(|_| format!("{word} '{text}': say a whole number"))
        };
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        match word.as_str() {
            "--sample" => orders.sample = size(number()?),
            "--seed" => orders.seed = number()?,
            "--workers" => orders.workers = size(number()?).max(1),
            "--without-audits" => orders.audits = false,
            "--folder" => orders.folder = words.next().unwrap_or_default(),
            "--list" => orders.list = true,
            other if other.starts_with('-') => {
                return Err(format!("{other} is unknown: see mutants/src/main.rs"));
            }
            path => orders.wanted.push(path.trim_start_matches("./").trim_end_matches('/').to_string()),
        }
    }
    Ok(orders)
}

impl Orders {
    fn wants(&self, mutant: &Mutant) -> bool {
        let Mutant { file, line, .. } = mutant;
        self.wanted.is_empty()
            || self.wanted.iter().any(|wanted| {
                file == wanted
                    || file.starts_with(&format!("{wanted}/"))
                    || format!("{file}:{line}") == *wanted
            })
    }

    /// Some of the numbers, in order: which ones depends on the seed alone.
    fn drawn(&self, mut numbers: Vec<usize>) -> Vec<usize> {
        let mut state = self.seed;
        for last in (1..numbers.len()).rev() {
            // Steele, Lea and Flood's SplitMix64: nothing is published here, and a run can be repeated.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            numbers.swap(last, usize::try_from((word ^ (word >> 31)) % (last as u64 + 1)).expect("an index"));
        }
        numbers.truncate(self.sample);
        numbers.sort_unstable();
        numbers
    }
}

/// Whether the tests of a program count for changes in a crate.
fn counts(own: &str, program: &Program, audits: bool) -> bool {
    if HOSTILE.contains(&(&program.krate, &program.name)) {
        return false;
    }
    program.krate == own
        || ALSO.contains(&(own, &program.krate))
        || audits && own == "core" && program.name == AUDITS
}

fn krate(file: &str) -> &str {
    file.split('/').nth(1).unwrap_or_default()
}

/// The tests that count for a change.
fn that_count<'a>(mutant: &Mutant, number: usize, tests: &'a [Test], audits: bool) -> Vec<&'a Test> {
    let own = krate(&mutant.file);
    tests
        .iter()
        .filter(|test| test.reaches.contains(&number))
        .filter(|test| counts(own, &test.program, audits))
        .collect()
}

fn work() -> Result<bool, String> {
    let orders = orders()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder of the project");
    let mut tree = Tree::copy(root, &root.join(&orders.folder), &FOLDERS, &UNTOUCHED)?;
    let equivalents = Equivalents::read(&root.join("mutants/equivalent.json"))?;
    let stale = equivalents.stale(&tree.mutants);
    if !stale.is_empty() {
        return Err(format!(
            "mutants/equivalent.json speaks of lines that are gone; delete:\n{}",
            stale.join("\n")
        ));
    }
    let wanted: Vec<usize> =
        (0..tree.mutants.len()).filter(|number| orders.wants(&tree.mutants[*number])).collect();
    if wanted.is_empty() {
        return Err(format!(
            "nothing to change in {:?}: say files or folders below {}; never {}, which keeps hostile programs from this machine",
            orders.wanted,
            FOLDERS.join(", "),
            UNTOUCHED.join(", ")
        ));
    }
    if orders.list {
        for number in wanted {
            let mutant = &tree.mutants[number];
            println!("{}:{}: {}", mutant.file, mutant.line, mutant.point.change);
        }
        return Ok(true);
    }
    let mut programs = tree.build()?;
    let crates: Vec<&str> = wanted.iter().map(|number| krate(&tree.mutants[*number].file)).collect();
    programs.retain(|program| crates.iter().any(|own| counts(own, program, orders.audits)));
    let machine = Machine { tree: tree.scratch.join("tree"), temporary: tree.scratch.join("temporary") };
    let (tests, failing) = machine.baseline(&programs, orders.workers, &tree.scratch.join("baseline.json"));
    for test in failing {
        eprintln!("left out, since it fails in the unchanged copy too: {test}");
    }
    let possible: Vec<usize> = wanted.into_iter().filter(|number| tree.compile.contains(number)).collect();
    let points: Vec<&Mutant> = possible.iter().map(|number| &tree.mutants[*number]).collect();
    let tried = orders.drawn(possible);
    let done = AtomicUsize::new(0);
    let fates = side_by_side(orders.workers, &tried, |worker, number| {
        let mutant = &tree.mutants[*number];
        let fate = if let Some(because) = equivalents.reason(mutant) {
            Fate::Equivalent(because.into())
        } else {
            match that_count(mutant, *number, &tests, orders.audits) {
                none if none.is_empty() => Fate::Unreached,
                some => machine
                    .notices(worker, *number, &some)
                    .map_or(Fate::Unnoticed, |(by, end)| Fate::Noticed(format!("{by}: {end:?}"))),
            }
        };
        let count = done.fetch_add(1, Relaxed) + 1;
        if matches!(fate, Fate::Unnoticed | Fate::Unreached) || count.is_multiple_of(50) {
            eprintln!(
                "{count}/{}: {}:{} {} {fate:?}",
                tried.len(),
                mutant.file,
                mutant.line,
                mutant.point.change
            );
        }
        (mutant, fate)
    });
    tree::save(&tree.scratch.join("report.json"), &format!("{:#}", report::as_json(points.len(), &fates)))?;
    let (table, share) = report::table(&points, &fates);
    println!("{table}");
    Ok(share >= ENOUGH)
}

fn main() -> ExitCode {
    match work() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(problem) => {
            eprintln!("mutants: {problem}");
            ExitCode::from(2)
        }
    }
}
