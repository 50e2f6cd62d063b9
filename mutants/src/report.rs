//! What was noticed and what was not: a table for people, JSON for programs, and the list of changes that change nothing.

use crate::tree::Mutant;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Noticed(String),
    Unnoticed,
    /// No test runs this line.
    Unreached,
    /// Listed: why nothing can notice it.
    Equivalent(String),
}

/// Changes that change nothing, with the reason. They are known by their words, so that lines may move: by line and change, or
/// by the function, where that only suggests what others check.
pub struct Equivalents(Vec<Entry>);

struct Entry {
    file: String,
    of: Of,
    because: String,
}

enum Of {
    Change { line: String, change: String },
    Function(String),
}

impl Entry {
    fn read(entry: &Value) -> Option<Self> {
        let word = |name: &str| entry[name].as_str().map(str::to_string);
        let of = match word("function") {
            Some(function) => Of::Function(function),
            None => Of::Change { line: word("line")?, change: word("change")? },
        };
        Some(Self { file: word("file")?, of, because: word("because")? })
    }

    fn is(&self, mutant: &Mutant) -> bool {
        let here = match &self.of {
            Of::Change { line, change } => *line == mutant.text && *change == mutant.point.change,
            Of::Function(function) => *function == mutant.point.function,
        };
        here && self.file == mutant.file
    }
}

impl Equivalents {
    pub fn read(path: &Path) -> Result<Self, String> {
        let problem = |error: String| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path).map_err(|error| problem(error.to_string()))?;
        let list: Vec<Value> = serde_json::from_str(&text).map_err(|error| problem(error.to_string()))?;
        let wanted = "an entry has \"file\", \"because\", and \"function\" or \"line\" and \"change\"";
        let entry = |entry: &Value| Entry::read(entry).ok_or_else(|| problem(format!("{wanted}: {entry}")));
        list.iter().map(entry).collect::<Result<_, _>>().map(Self)
    }

    pub fn reason(&self, mutant: &Mutant) -> Option<&str> {
        self.0.iter().find(|entry| entry.is(mutant)).map(|entry| entry.because.as_str())
    }

    /// Entries that speak of lines or functions that are no longer there.
    pub fn stale(&self, mutants: &[Mutant]) -> Vec<String> {
        let rust = self.0.iter().filter(|entry| entry.file.ends_with(".rs"));
        let gone = rust.filter(|entry| !mutants.iter().any(|mutant| entry.is(mutant)));
        gone.map(|entry| match &entry.of {
            Of::Change { line, change } => format!("{}: {line} ({change})", entry.file),
            Of::Function(function) => format!("{}: fn {function}", entry.file),
        })
        .collect()
    }
}

/// The row of the table that a file belongs to.
fn part(file: &str) -> String {
    let parts: Vec<&str> = file.split('/').collect();
    match parts[..] {
        ["crates", "runner", ..] => "crates/runner/src".into(),
        ["crates", krate, "src", folder, _, ..] => format!("crates/{krate}/src/{folder}"),
        _ => file.into(),
    }
}

#[derive(Default)]
struct Row {
    points: usize,
    tried: usize,
    noticed: usize,
    equivalent: usize,
}

impl Row {
    fn share(&self) -> String {
        let counted = self.tried - self.equivalent;
        if counted == 0 {
            "-".into()
        } else {
            format!("{:.1} %", 100.0 * self.noticed as f64 / counted as f64)
        }
    }

    fn line(&self, name: &str) -> String {
        let unnoticed = self.tried - self.equivalent - self.noticed;
        let Self { points, tried, noticed, equivalent } = self;
        format!(
            "{name:<34}{points:>8}{tried:>8}{noticed:>9}{unnoticed:>12}{equivalent:>12}{:>10}",
            self.share()
        )
    }
}

/// The table, what was not noticed, and the share of what could be.
pub fn table(points: &[&Mutant], fates: &[(&Mutant, Fate)]) -> (String, f64) {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for mutant in points {
        rows.entry(part(&mutant.file)).or_default().points += 1;
    }
    let mut unnoticed = Vec::new();
    for (mutant, fate) in fates {
        let row = rows.entry(part(&mutant.file)).or_default();
        row.tried += 1;
        match fate {
            Fate::Noticed(_) => row.noticed += 1,
            Fate::Equivalent(_) => row.equivalent += 1,
            Fate::Unnoticed | Fate::Unreached => {
                let reached = if *fate == Fate::Unreached { " (no test runs this line)" } else { "" };
                unnoticed.push(format!("{}:{}: {}{reached}", mutant.file, mutant.line, mutant.point.change));
            }
        }
    }
    let mut total = Row::default();
    let mut lines = vec![format!(
        "{:<34}{:>8}{:>8}{:>9}{:>12}{:>12}{:>10}",
        "", "changes", "tried", "noticed", "not noticed", "equivalent", "noticed"
    )];
    for (name, row) in &rows {
        lines.push(row.line(name));
        total.points += row.points;
        total.tried += row.tried;
        total.noticed += row.noticed;
        total.equivalent += row.equivalent;
    }
    lines.push(total.line("all"));
    if !unnoticed.is_empty() {
        lines.push("\nnot noticed:".into());
        lines.extend(unnoticed);
    }
    let counted = total.tried - total.equivalent;
    let share = if counted == 0 { 1.0 } else { total.noticed as f64 / counted as f64 };
    (lines.join("\n"), share)
}

pub fn as_json(points: usize, fates: &[(&Mutant, Fate)]) -> Value {
    let entries = fates.iter().map(|(mutant, fate)| {
        let (word, why) = match fate {
            Fate::Noticed(by) => ("noticed", by.as_str()),
            Fate::Unnoticed => ("not noticed", ""),
            Fate::Unreached => ("not noticed", "no test runs this line"),
            Fate::Equivalent(because) => ("equivalent", because.as_str()),
        };
        json!({"file": mutant.file, "line_number": mutant.line, "line": mutant.text, "change": mutant.point.change, "fate": word, "by": why})
    });
    json!({"changes": points, "tried": entries.collect::<Vec<_>>()})
}
