//! Modules of the session stand on each other in one direction: a reader who follows imports comes to an end.

use super::{files, read, shipped};
use std::collections::{BTreeMap, BTreeSet};

/// The first word of every path that a text takes from its own crate, without comments.
fn imported(text: &str) -> BTreeSet<String> {
    let code =
        text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut found = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(inside) = rest.strip_prefix('{') else {
            found.insert(
                rest.chars().take_while(|&letter| letter.is_alphanumeric() || letter == '_').collect(),
            );
            continue;
        };
        // The first word of each item of the braces, whatever braces it has itself.
        let (mut depth, mut word, mut first) = (0, String::new(), true);
        for letter in inside.chars() {
            match letter {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => first = true,
                letter if depth == 0 && first && (letter.is_alphanumeric() || letter == '_') => {
                    word.push(letter);
                }
                _ if depth == 0 && first && !word.is_empty() => first = false,
                _ => {}
            }
            if (!first || letter == ',') && !word.is_empty() {
                found.insert(std::mem::take(&mut word));
            }
        }
        found.extend((!word.is_empty()).then_some(word));
    }
    found
}

/// What the top modules of a crate import of each other, in code that is shipped.
fn graph(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // Audits of whole questions lie beside what they attack, and plan like whoever asks.
    let beside = ["_tests.rs", "/tests.rs", "audits", "coverage.rs", "cut_bars.rs", "claims.rs"];
    for path in files(folder, ".rs") {
        let inner = path.strip_prefix(folder).expect("inside").trim_start_matches('/');
        let module = inner.split('/').next().unwrap_or_default().trim_end_matches(".rs").to_string();
        let imports = graph.entry(module.clone()).or_default();
        if !beside.iter().any(|mark| path.contains(mark)) {
            imports.extend(imported(shipped(&read(&path))));
        }
    }
    let names: BTreeSet<String> = graph.keys().cloned().collect();
    for (module, imports) in &mut graph {
        imports.retain(|other| names.contains(other) && other != module);
    }
    graph.remove("lib");
    graph
}

/// Modules that import each other in a circle; none where there is no circle.
fn circle(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut left = graph.clone();
    loop {
        let ends: Vec<String> =
            left.iter().filter(|(_, imports)| imports.is_empty()).map(|(name, _)| name.clone()).collect();
        if ends.is_empty() {
            return left.into_keys().collect();
        }
        for end in ends {
            left.remove(&end);
            for imports in left.values_mut() {
                imports.remove(&end);
            }
        }
    }
}

#[test]
fn modules_of_the_session_form_no_circle() {
    for folder in ["crates/session/src", "crates/ledger/src"] {
        let graph = graph(folder);
        assert!(graph.len() > 15, "{folder} was read: {graph:?}");
        if folder.contains("session") {
            assert!(graph["session"].contains("plan") && graph["plan"].contains("task"), "{graph:?}");
            assert_eq!(circle(&graph), Vec::<String>::new(), "{folder}: {graph:?}");
        }
    }
}

#[test]
fn circles_are_found() {
    assert_eq!(
        imported(
            "use crate::{\n    answer::{Answer, Group},\n    bar,\n};\nlet x = crate::plan::Plan; // crate::comment\n// crate::no"
        ),
        ["answer", "bar", "comment", "plan"].map(String::from).into()
    );
    let of = |arrows: &[(&str, &[&str])]| {
        let one =
            |(name, to): &(&str, &[&str])| (name.to_string(), to.iter().map(ToString::to_string).collect());
        arrows.iter().map(one).collect::<BTreeMap<String, BTreeSet<String>>>()
    };
    assert!(circle(&of(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])).is_empty());
    assert_eq!(circle(&of(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])])), ["a", "b", "c"]);
}
