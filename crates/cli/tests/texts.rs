//! docs/texts.md is the table of the files in examples/texts, made of what stands at their beginning, and their commands run.
//! `EQUIPOISE_WRITE_DOCS=1 cargo test --workspace --test texts` writes it anew. The files themselves are run by python/tests/test_texts.py.

use assert_cmd::Command;
use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

const FIELDS: [&str; 5] = ["Text", "Command line", "Python", "Audit", "Figure"];
const HEAD: &str = "# The source texts, runnable

A file for each algorithm, example and exercise of the five [source texts](sources.md), with the figure that it asserts. `python examples/texts/FILE` runs one (after
`pip install ./python`), `python/check texts` all of them; the commands run in a folder with the files of `examples/texts`, `examples/programs` and
`examples/salaries.csv`. Where a text is misprinted the figure is the right one, and [errata.md](errata.md) has both. This page is made of the beginnings of the files by
`EQUIPOISE_WRITE_DOCS=1 cargo test --workspace --test texts`.

";

struct Entry {
    file: String,
    what: String,
    fields: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn entries() -> Vec<Entry> {
    let folder = root().join("examples/texts");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "py"))
        .collect();
    files.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("readable");
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        let begin = text.strip_prefix("\"\"\"").and_then(|rest| rest.split("\"\"\"").next());
        let begin = begin.unwrap_or_else(|| panic!("{file}: begins with what it is"));
        let field = |name: &str| {
            let line = begin.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
            line.unwrap_or_else(|| panic!("{file}: no line '{name}: ..'")).trim().to_string()
        };
        let what = begin.lines().next().expect("a line").to_string();
        Entry { what, fields: FIELDS.map(field).to_vec(), file }
    };
    files.iter().map(read).collect()
}

/// A cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn table(entries: &[Entry]) -> String {
    let mut text = HEAD.to_string();
    text +=
        "| what | text | figure | file | command line | Python | audit |\n|---|---|---|---|---|---|---|\n";
    for Entry { file, what, fields } in entries {
        let [source, command, python, audit, figure] = &fields[..] else { panic!("five fields") };
        let command = if command.starts_with("equipoise") { format!("`{command}`") } else { command.clone() };
        let _ = writeln!(
            text,
            "| {} | {} | {} | [{file}](../examples/texts/{file}) | {} | `{}` | `equipoise audit --only {audit}` |",
            cell(what),
            cell(source),
            cell(figure),
            cell(&command),
            cell(python)
        );
    }
    text
}

#[test]
fn the_table_is_made_of_the_files_and_no_cell_is_empty() {
    let entries = entries();
    for text in ["S0", "S1", "S2", "S3", "S4"] {
        let many = entries.iter().filter(|entry| entry.fields[0].starts_with(text)).count();
        assert!(many >= 4, "{text}: {many}");
    }
    for Entry { file, what, fields } in &entries {
        assert!(!what.is_empty() && fields.iter().all(|field| field.len() > 1), "{file}: an empty cell");
        assert!(
            fields[1].starts_with("equipoise ") || fields[1].starts_with("no command"),
            "{file}: a command, or why there is none"
        );
    }
    let audits: BTreeSet<&str> = equipoise_session::audits::all()
        .into_iter()
        .chain(equipoise_robust::audits::ALL.iter().copied())
        .map(|audit| audit.name)
        .collect();
    for Entry { file, fields, .. } in &entries {
        assert!(audits.contains(fields[3].as_str()), "{file}: no audit is called {}", fields[3]);
    }
    let (path, made) = (root().join("docs/texts.md"), table(&entries));
    if std::env::var_os("EQUIPOISE_WRITE_DOCS").is_some() {
        fs::write(path, made).expect("written");
        return;
    }
    let written = fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == made,
        "docs/texts.md is not what the files say; EQUIPOISE_WRITE_DOCS=1 writes it anew"
    );
}

/// Each command once, in the folder that the page describes: released, or refused, but never an error.
#[test]
fn commands_of_the_texts_run() {
    let folder = tempfile::tempdir().expect("a folder");
    for from in ["examples/texts", "examples/programs", "examples"] {
        for entry in fs::read_dir(root().join(from)).expect("the folder") {
            let path = entry.expect("readable").path();
            if path.is_file() {
                fs::copy(&path, folder.path().join(path.file_name().expect("a name"))).expect("copied");
            }
        }
    }
    let mut seen = BTreeSet::new();
    for Entry { file, fields, .. } in entries() {
        let command = &fields[1];
        // Audits run in `crates/cli/tests/guarantees.rs`, all of them.
        if !command.starts_with("equipoise ")
            || command.contains("equipoise audit")
            || !seen.insert(command.clone())
        {
            continue;
        }
        let shell = command.replacen("equipoise", env!("CARGO_BIN_EXE_equipoise"), 1);
        let mut run = Command::new("sh");
        run.env_remove("EQUIPOISE_LEDGER").env_remove("EQUIPOISE_ANALYST");
        let output = run.args(["-c", &shell]).current_dir(folder.path()).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        if cfg!(not(target_os = "linux")) && command.contains(" run ") {
            continue;
        }
        assert!(matches!(output.status.code(), Some(0 | 3)), "{file}: {command}\n{said}");
    }
}
