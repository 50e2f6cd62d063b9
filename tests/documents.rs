//! Rules of the documents: what they name exists, what they draw is so, and one page looks like the other.

use super::{documents, files, read, root};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
    process::Command,
};

const GRAPH_BEGIN: &str = "<!-- crates by their Cargo.toml: begin -->\n";
const GRAPH_END: &str = "<!-- crates: end -->\n";

/// The crates that one needs, by the names of their folders.
#[derive(Default)]
struct Needs {
    shipped: BTreeSet<String>,
    in_tests: BTreeSet<String>,
}

/// What each crate of the workspace needs of the others, as its Cargo.toml has it.
fn workspace() -> BTreeMap<String, Needs> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    let folder = |package: &Value| {
        let manifest = text(&package["manifest_path"]);
        let folder = Path::new(&manifest).parent().and_then(Path::file_name).expect("a folder");
        folder.to_string_lossy().into_owned()
    };
    let folders: BTreeMap<String, String> =
        packages.iter().map(|package| (text(&package["name"]), folder(package))).collect();
    let needs = |package: &Value| {
        let mut needs = Needs::default();
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let Some(other) = folders.get(&text(&dependency["name"])) else { continue };
            let in_tests = dependency["kind"] == "dev";
            (if in_tests { &mut needs.in_tests } else { &mut needs.shipped }).insert(other.clone());
        }
        needs
    };
    packages.iter().map(|package| (folder(package), needs(package))).collect()
}

/// Everything that a crate needs, by way of others too.
fn reached<'a>(all: &'a BTreeMap<String, Needs>, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for next in &all[from].shipped {
        found.insert(next.as_str());
        found.extend(reached(all, next));
    }
    found
}

/// The picture, and the table of all arrows below it, the crates that need nothing first.
fn graph(all: &BTreeMap<String, Needs>) -> String {
    let mut text = String::from("```mermaid\ngraph TD\n");
    for (name, needs) in all {
        for other in &needs.shipped {
            let implied = needs.shipped.iter().any(|between| reached(all, between).contains(other.as_str()));
            if !implied {
                let _ = writeln!(text, "    {name} --> {other}");
            }
        }
    }
    text.push_str("```\n\n| crate | depends on | in its tests also on |\n|---|---|---|\n");
    let mut names: Vec<&String> = all.keys().collect();
    names.sort_by_key(|name| (reached(all, name).len(), *name));
    let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
    for name in names {
        let Needs { shipped, in_tests } = &all[name];
        let _ = writeln!(text, "| {name} | {} | {} |", list(shipped), list(in_tests));
    }
    text
}

#[test]
fn the_drawn_crates_are_those_of_the_manifests() {
    let all = workspace();
    assert!(all.len() > 10 && all["cli"].shipped.contains("core"), "the workspace was not read");
    let made = graph(&all);
    let document = read("ARCHITECTURE.md");
    let (before, rest) = document.split_once(GRAPH_BEGIN).expect("where the graph begins");
    let (drawn, after) = rest.split_once(GRAPH_END).expect("where it ends");
    if std::env::var_os("EQUIPOISE_WRITE_DOCS").is_some() {
        let text = format!("{before}{GRAPH_BEGIN}{made}{GRAPH_END}{after}");
        fs::write(root().join("ARCHITECTURE.md"), text).expect("written");
        return;
    }
    assert_eq!(drawn, made, "ARCHITECTURE.md draws other crates; EQUIPOISE_WRITE_DOCS=1 draws them anew");
}

/// The cells of the rows of the first table behind a heading, without its own heading.
fn rows_behind(text: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, section) = text.split_once(heading).unwrap_or_else(|| panic!("no section '{heading}'"));
    let table = section.lines().skip_while(|line| !line.starts_with('|'));
    let rows = table.take_while(|line| line.starts_with('|')).skip(2);
    let cells = |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect();
    rows.map(cells).collect()
}

/// What a cell sets in backticks.
fn in_backticks(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn the_path_of_one_question_names_functions_where_they_are() {
    let rows = rows_behind(&read("ARCHITECTURE.md"), "\n## The path of one question, file by file\n");
    assert!(rows.len() > 20, "only {} steps were found", rows.len());
    for row in rows {
        let file = in_backticks(&row[1]).next().unwrap_or_else(|| panic!("{row:?}: no file"));
        let text = read(file);
        for function in in_backticks(&row[2]) {
            let there = ['(', '<'].iter().any(|next| text.contains(&format!("fn {function}{next}")));
            assert!(there, "ARCHITECTURE.md, step '{}': {file} has no function '{function}'", row[0]);
        }
    }
}

#[test]
fn decisions_have_one_shape_and_are_in_the_index() {
    const SECTIONS: [&str; 4] = ["## Decision", "## Why", "## Rejected", "## Where"];
    let index = read("docs/decisions/README.md");
    let pages: Vec<String> =
        files("docs/decisions", ".md").into_iter().filter(|path| !path.ends_with("README.md")).collect();
    let linked = index.lines().filter(|line| line.starts_with("- [")).count();
    assert_eq!(linked, pages.len(), "docs/decisions/README.md lists {linked} pages of {}", pages.len());
    for (place, path) in pages.iter().enumerate() {
        let text = read(path);
        let name = path.trim_start_matches("docs/decisions/");
        let number = format!("{:04}", place + 1);
        let title = text.lines().next().and_then(|line| line.strip_prefix(&format!("# {number}. ")));
        let title = title.unwrap_or_else(|| panic!("{path}: begin with '# {number}. ' and a title"));
        let line = format!("- [{number}]({name}) {title}\n");
        assert!(index.contains(&line), "docs/decisions/README.md lacks the line '{}'", line.trim_end());
        let sections: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(sections, SECTIONS, "{path} has other sections");
        let (_, code) = text.split_once("## Where").expect("it is there");
        assert!(in_backticks(code).next().is_some(), "{path}: name where it is in the code");
        let lines = text.lines().count();
        assert!((10..=25).contains(&lines), "{path} has {lines} lines: one page is one decision");
    }
}

/// The end of a link to a heading, as it is made of the heading's words.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn documents_link_to_pages_and_headings_that_exist() {
    let mut named = 0;
    for document in documents().into_iter().chain(["CHANGELOG.md".to_string()]) {
        let text = read(&document);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("http")) {
            named += 1;
            let (path, heading) = target.split_once('#').unwrap_or((target, ""));
            let beside = Path::new(&document).parent().expect("a folder").join(path);
            let page = if path.is_empty() { Path::new(&document) } else { &beside };
            assert!(root().join(page).exists(), "{document} links to '{target}', which does not exist");
            if !heading.is_empty() {
                let page = read(page);
                let mut headings = page.lines().filter(|line| line.starts_with('#')).map(anchor);
                assert!(headings.any(|one| one == heading), "{document}: no heading for the link '{target}'");
            }
        }
    }
    assert!(named > 60, "only {named} links were found");
}

#[test]
fn the_glossary_is_in_order_short_and_names_every_mechanism() {
    let text = read("docs/glossary.md");
    let (terms, mechanisms) = text.split_once("\n## Mechanisms\n").expect("the section of mechanisms");
    let entries: Vec<(&str, &str)> =
        terms.split("\n\n").filter_map(|entry| entry.trim().strip_prefix("**")?.split_once("**")).collect();
    assert!(entries.len() > 25, "only {} terms were found", entries.len());
    for (term, meaning) in &entries {
        let meaning = meaning.replace('\n', " ");
        let sentences = meaning.matches(". ").count() + usize::from(meaning.ends_with('.'));
        assert!((1..=2).contains(&sentences), "docs/glossary.md, '{term}': {sentences} sentences");
    }
    let words: Vec<String> = entries.iter().map(|(term, _)| term.to_lowercase()).collect();
    assert!(words.is_sorted(), "docs/glossary.md is not in the order of the alphabet: {words:?}");
    let rows = mechanisms.lines().filter(|line| line.starts_with("| `"));
    let names: BTreeSet<&str> = rows.filter_map(|row| in_backticks(row).next()).collect();
    let known: BTreeSet<&str> = equipoise_core::catalog::NAMES.iter().copied().collect();
    assert_eq!(names, known, "docs/glossary.md has other mechanisms than crates/core/src/catalog/names.rs");
}

/// Words of everyday life that once had a technical meaning here, and what to write. Fenced blocks quote programs as they are.
#[test]
fn documents_use_the_words_of_the_field() {
    let plain = [("told", "released"), ("unsaid", "not released"), ("room", "module, memory or time")];
    for document in documents() {
        let mut fenced = false;
        for (number, line) in read(&document).lines().enumerate() {
            fenced ^= line.trim_start().starts_with("```");
            let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).collect();
            for (word, better) in plain {
                let used = !fenced && words.contains(&word);
                assert!(!used, "{document}, line {}: '{word}'; write {better}", number + 1);
            }
        }
    }
}

/// Names of files of the source texts, as headers and audits cite them: three digits, sixteen hexadecimal ones, `.txt`.
fn cited(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(".txt").filter_map(|(end, _)| {
        let name = text.get(end.checked_sub(20)?..end)?;
        let (number, digits) = name.split_once('_')?;
        let is_name = number.len() == 3
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_name.then_some(name)
    })
}

#[test]
fn every_source_text_that_is_cited_has_a_title() {
    let sources = read("docs/sources.md");
    let listed: BTreeSet<&str> = cited(&sources).collect();
    let code: Vec<String> = files("crates", ".rs").iter().map(read).collect();
    let named: BTreeSet<&str> = code.iter().flat_map(|text| cited(text)).collect();
    assert!(named.len() > 3, "only {} source texts are cited", named.len());
    assert_eq!(listed, named, "docs/sources.md lists other texts than the code cites");
}
