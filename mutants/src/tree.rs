//! A copy of the tree with every change written into it, built once. A change that does not compile is taken out again.

use crate::{
    points::{self, Form, Point},
    rewrite::{Rewritten, rewrite},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// What a person and the list of equivalents know a change by.
pub struct Mutant {
    pub file: String,
    pub line: usize,
    /// The line as it stands in the file, without what surrounds it.
    pub text: String,
    pub point: Point,
}

pub struct Tree {
    /// The tree of the project.
    pub root: PathBuf,
    /// Everything that is made here.
    pub scratch: PathBuf,
    pub mutants: Vec<Mutant>,
    /// Numbers of the changes that compile.
    pub compile: BTreeSet<usize>,
    /// Files as they stand in the project, but for the switch.
    originals: BTreeMap<String, String>,
}

/// A test program that was built.
#[derive(Clone)]
pub struct Program {
    pub path: PathBuf,
    /// As cargo calls it: that of a file of tests, or of the crate.
    pub name: String,
    /// The folder below `crates`.
    pub krate: String,
}

fn run(command: &mut Command) -> Result<String, String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} failed"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Writes a file unless it is the same already, so that only what changed is built again.
fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let problem = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(path.parent().expect("a file lies in a folder")).map_err(problem)?;
    fs::write(path, content).map_err(problem)
}

/// Files of the project below the folders that are changed, without tests and without what is not compiled here.
fn sources(
    root: &Path,
    all: &[String],
    folders: &[&str],
    untouched: &[&str],
) -> Result<BTreeMap<String, (String, Vec<Point>)>, String> {
    let mut found = BTreeMap::new();
    let mut left_out = BTreeSet::new();
    for file in all.iter().filter(|file| file.ends_with(".rs") && file.contains("/src/")) {
        let content = fs::read(root.join(file)).map_err(|error| format!("{file}: {error}"))?;
        let text = String::from_utf8_lossy(&instrumented(file, content)).into_owned();
        let (points, modules) = points::find(&text).map_err(|error| format!("{file}: {error}"))?;
        let stem = file.trim_end_matches(".rs");
        let inside = ["/mod", "/lib", "/main"].iter().find_map(|end| stem.strip_suffix(end)).unwrap_or(stem);
        let beside = Path::new(file).parent().expect("a folder").to_string_lossy();
        left_out.extend(modules.iter().map(|module| match module.strip_prefix("../") {
            Some(path) => format!("{beside}/{path}"),
            None => format!("{inside}/{module}"),
        }));
        let below = |folder: &&str| file == *folder || file.starts_with(&format!("{folder}/"));
        if folders.iter().any(below) && !untouched.iter().any(below) {
            found.insert(file.clone(), (text, points));
        }
    }
    found.retain(|file, _| {
        !left_out
            .iter()
            .any(|module| *file == format!("{module}.rs") || file.starts_with(&format!("{module}/")))
    });
    Ok(found)
}

/// The project's files, without what git does not know.
fn listed(root: &Path) -> Result<Vec<String>, String> {
    let listed = run(Command::new("git").args(["ls-files", "-co", "--exclude-standard"]).current_dir(root))?;
    Ok(listed.lines().filter(|file| root.join(file).is_file()).map(str::to_string).collect())
}

/// The names of the files that are changed.
#[cfg(test)]
pub fn changed_files(root: &Path, folders: &[&str], untouched: &[&str]) -> Result<Vec<String>, String> {
    Ok(sources(root, &listed(root)?, folders, untouched)?.into_keys().collect())
}

/// Changes that no rule makes: each was once made by hand, and no test noticed it.
fn by_hand(root: &Path, sources: &mut BTreeMap<String, (String, Vec<Point>)>) -> Result<(), String> {
    let path = root.join("mutants/by_hand.json");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let list: Vec<Value> =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    for entry in &list {
        let [file, was, becomes] =
            ["file", "was", "becomes"].map(|name| entry[name].as_str().unwrap_or_default());
        let (text, points) = sources.get_mut(file).ok_or(format!("mutants/by_hand.json: no file {file}"))?;
        let found: Vec<usize> = text.match_indices(was).map(|(at, _)| at).collect();
        let [at] = found[..] else {
            return Err(format!("mutants/by_hand.json: '{was}' stands {} times in {file}", found.len()));
        };
        points.push(Point {
            range: at..at + was.len(),
            form: Form::Expression,
            changed: becomes.into(),
            change: format!("`{was}` to `{becomes}`"),
            function: String::new(),
        });
    }
    Ok(())
}

impl Tree {
    /// Copies the project's files and finds everything that can be changed in `folders`, but for what is never changed.
    pub fn copy(root: &Path, scratch: &Path, folders: &[&str], untouched: &[&str]) -> Result<Self, String> {
        let all = listed(root)?;
        let sources = sources(root, &all, folders, untouched)?;
        for file in &all {
            // Cargo also reads the settings of the folders above.
            if !file.starts_with(".cargo/") && !sources.contains_key(file) {
                let content = fs::read(root.join(file)).map_err(|error| format!("{file}: {error}"))?;
                let content = instrumented(file, content);
                write(&scratch.join("tree").join(file), &content)?;
            }
        }
        let mut sources = sources;
        by_hand(root, &mut sources)?;
        let switch = scratch.join("tree/switch");
        write(&switch.join("Cargo.toml"), SWITCH_MANIFEST.as_bytes())?;
        write(&switch.join("src/lib.rs"), include_bytes!("../switch/lib.rs"))?;
        let mut mutants = Vec::new();
        let mut originals = BTreeMap::new();
        for (file, (text, points)) in sources {
            let mut starts: Vec<usize> = vec![0];
            starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
            for point in points {
                let line = starts.partition_point(|start| *start <= point.range.start);
                let words = text.lines().nth(line - 1).unwrap_or_default().trim().to_string();
                mutants.push(Mutant { file: file.clone(), line, text: words, point });
            }
            originals.insert(file, text);
        }
        assert!(mutants.len() < 1 << 16, "the switch has room for fewer changes");
        let compile = (0..mutants.len()).collect();
        Ok(Self { root: root.to_path_buf(), scratch: scratch.to_path_buf(), mutants, compile, originals })
    }

    fn write_sources(&self) -> Result<BTreeMap<String, Rewritten>, String> {
        let mut all = BTreeMap::new();
        for (file, text) in &self.originals {
            let points: Vec<(usize, &Point)> = self
                .compile
                .iter()
                .filter(|number| self.mutants[**number].file == *file)
                .map(|number| (*number, &self.mutants[*number].point))
                .collect();
            let written = rewrite(text, &points);
            write(&self.scratch.join("tree").join(file), written.text.as_bytes())?;
            all.insert(file.clone(), written);
        }
        Ok(all)
    }

    /// Where it is remembered which changes of a file do not compile.
    fn remembered(&self) -> PathBuf {
        self.scratch.join("not_compiled.json")
    }

    fn key(&self, number: usize) -> String {
        let mutant = &self.mutants[number];
        format!("{} {} {} {}", mutant.file, mutant.text, mutant.point.range.len(), mutant.point.changed)
    }

    /// Builds all test programs, taking out what does not compile.
    pub fn build(&mut self) -> Result<Vec<Program>, String> {
        self.take_dependencies()?;
        let remembered = fs::read_to_string(self.remembered()).unwrap_or_default();
        let mut dropped: BTreeSet<String> =
            serde_json::from_str::<Vec<String>>(&remembered).unwrap_or_default().into_iter().collect();
        let numbers: Vec<usize> = self.compile.iter().copied().collect();
        for number in numbers {
            if dropped.contains(&self.key(number)) {
                self.compile.remove(&number);
            }
        }
        for round in 1.. {
            let written = self.write_sources()?;
            eprintln!("building {} changes, round {round}", self.compile.len());
            match self.cargo(&written)? {
                Ok(programs) => return Ok(programs),
                Err(wrong) => {
                    eprintln!("{} of them do not compile and are taken out", wrong.len());
                    for number in wrong {
                        dropped.insert(self.key(number));
                        self.compile.remove(&number);
                    }
                    write(&self.remembered(), json!(dropped).to_string().as_bytes())?;
                }
            }
        }
        unreachable!("every round takes something out")
    }

    /// What others wrote is built the same here as in the project, and takes minutes.
    fn take_dependencies(&self) -> Result<(), String> {
        let (from, to) = (self.root.join("target/debug"), self.scratch.join("target/debug"));
        for folder in ["build", "deps", ".fingerprint"] {
            if !to.join(folder).exists() && from.join(folder).exists() {
                fs::create_dir_all(&to).map_err(|error| format!("{}: {error}", to.display()))?;
                run(Command::new("cp").arg("-a").arg(from.join(folder)).arg(to.join(folder)))?;
                let own = fs::read_dir(to.join(folder)).map_err(|error| error.to_string())?;
                for entry in
                    own.flatten().filter(|entry| entry.file_name().to_string_lossy().contains("equipoise"))
                {
                    let path = entry.path();
                    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
                }
            }
        }
        Ok(())
    }

    /// The programs, or the changes that do not compile.
    fn cargo(
        &self,
        written: &BTreeMap<String, Rewritten>,
    ) -> Result<Result<Vec<Program>, BTreeSet<usize>>, String> {
        let output = Command::new("cargo")
            .args(["test", "--no-run", "--offline", "--workspace", "--lib", "--bins", "--tests"])
            .args(["--message-format", "json", "--quiet", "--target-dir"])
            .arg(self.scratch.join("target"))
            .current_dir(self.scratch.join("tree"))
            .stderr(Stdio::null())
            .output()
            .map_err(|error| format!("cargo: {error}"))?;
        let mut programs = Vec::new();
        let mut wrong = BTreeSet::new();
        let mut unexplained = Vec::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
            if message["reason"] == "compiler-message" && message["message"]["level"] == "error" {
                let numbers = blamed(&message["message"], written);
                if numbers.is_empty() {
                    unexplained.push(message["message"]["rendered"].as_str().unwrap_or_default().to_string());
                }
                wrong.extend(numbers);
            }
            if let Some(path) = message["executable"].as_str().filter(|_| message["profile"]["test"] == true)
            {
                let source = message["target"]["src_path"].as_str().unwrap_or_default();
                let krate =
                    source.split("/crates/").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or("cli");
                let name = message["target"]["name"].as_str().unwrap_or_default();
                programs.push(Program { path: path.into(), name: name.into(), krate: krate.into() });
            }
        }
        if output.status.success() {
            return Ok(Ok(programs));
        }
        if wrong.is_empty() {
            return Err(format!("the changed tree does not build:\n{}", unexplained.join("\n")));
        }
        Ok(Err(wrong))
    }
}

/// Which changes an error of the compiler speaks of: those whose words it points at, or else whose place.
fn blamed(message: &Value, written: &BTreeMap<String, Rewritten>) -> BTreeSet<usize> {
    let mut spans: Vec<(&Rewritten, usize, bool)> = Vec::new();
    let mut pending = vec![message];
    while let Some(message) = pending.pop() {
        pending.extend(message["children"].as_array().into_iter().flatten());
        for span in message["spans"].as_array().into_iter().flatten() {
            let mut span = span;
            while span["expansion"]["span"].is_object() {
                span = &span["expansion"]["span"];
            }
            if let (Some(name), Some(start)) = (span["file_name"].as_str(), span["byte_start"].as_u64())
                && let Some(file) = written.get(name)
            {
                spans.push((file, usize::try_from(start).unwrap_or(0), span["is_primary"] == true));
            }
        }
    }
    for primary_only in [true, false] {
        let mut found = BTreeSet::new();
        for (file, at, primary) in &spans {
            if *primary || !primary_only {
                let within =
                    file.changed.iter().filter(|(_, range)| range.contains(at) || range.start == *at);
                found.extend(within.map(|(number, _)| *number));
            }
        }
        if !found.is_empty() {
            return found;
        }
    }
    // The smallest place around it.
    let around = |(file, at, _): &(&Rewritten, usize, bool)| {
        let places = file.places.iter().filter(|(_, range)| range.contains(at));
        places.min_by_key(|(_, range)| range.len()).map(|(numbers, _)| numbers.clone())
    };
    spans.iter().filter_map(around).flatten().collect()
}

const SWITCH_MANIFEST: &str =
    "[package]\nname = \"equipoise-mutant\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n";

/// The crates that are changed depend on the switch.
fn instrumented(file: &str, content: Vec<u8>) -> Vec<u8> {
    let Ok(text) = String::from_utf8(content.clone()) else { return content };
    match file {
        "Cargo.toml" => text.replacen("\"python\"]", "\"python\", \"switch\"]", 1).into_bytes(),
        "crates/core/Cargo.toml"
        | "crates/ledger/Cargo.toml"
        | "crates/session/Cargo.toml"
        | "crates/engine/Cargo.toml"
        | "crates/runner/Cargo.toml" => {
            let with = "\n[dependencies]\nequipoise-mutant = { path = \"../../switch\" }\n";
            text.replacen("\n[dependencies]\n", with, 1).into_bytes()
        }
        _ => content,
    }
}

/// The file with the lines of a report, made with everything above it.
pub fn save(path: &Path, text: &str) -> Result<(), String> {
    let problem = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(path.parent().expect("a file lies in a folder")).map_err(problem)?;
    fs::File::create(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(problem)
}
