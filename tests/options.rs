//! Texts of the libraries name options by their one name in backticks, which each surface writes as it is typed there.

use super::{files, read};
use equipoise_core::wording::OptionName;
use std::{collections::BTreeSet, path::Path};

/// Whoever may not know how options are typed.
const LIBRARIES: [&str; 10] = [
    "crates/audit/src",
    "crates/core/src",
    "crates/engine/src",
    "crates/entropy/src",
    "crates/ledger/src",
    "crates/expression/src",
    "crates/robust/src",
    "crates/runner/src",
    "crates/session/src",
    "python/src",
];

/// The help of the verbs and of the functions, of which each has its own.
const HELP: &str = "crates/session/src/statistic/table.rs";

/// The text of a file before the tests in it.
fn before_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

/// Modules in files of their own that only tests have.
fn test_modules() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for path in LIBRARIES.into_iter().flat_map(|folder| files(folder, ".rs")) {
        let text = read(&path);
        for after in text.split("#[cfg(test)]\n").skip(1) {
            let line = after.lines().next().unwrap_or_default();
            if let Some((_, name)) = line.strip_suffix(';').and_then(|line| line.split_once("mod ")) {
                names.insert(name.to_string());
            }
        }
    }
    assert!(names.contains("tests"), "this check takes no file for tests");
    names
}

/// What stands between quotes in Rust, comments left out, lines that go on joined.
fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', '/', 'r']) {
        let here = &rest[at..];
        if here.starts_with("//") {
            rest = here.find('\n').map_or("", |end| &here[end..]);
        } else if let Some(raw) = here.strip_prefix("r\"") {
            let end = raw.find('"').expect("a raw literal ends");
            found.push(raw[..end].to_string());
            rest = &raw[end + 1..];
        } else if let Some(raw) = here.strip_prefix("r#\"") {
            let end = raw.find("\"#").expect("a raw literal ends");
            found.push(raw[..end].to_string());
            rest = &raw[end + 2..];
        } else if let Some(quoted) = here.strip_prefix('"') {
            let end = end_of(quoted);
            let lines = quoted[..end].split("\\\n").map(str::trim_start);
            found.push(lines.collect());
            rest = &quoted[end + 1..];
        } else if let Some(escaped) = here.strip_prefix("'\\") {
            rest = &escaped[escaped.char_indices().nth(1).map_or(1, |(next, _)| next)..];
        } else if let Some(behind) = here.strip_prefix("'\"'") {
            rest = behind;
        } else {
            rest = &here[1..];
        }
    }
    found
}

/// Where a literal ends.
fn end_of(quoted: &str) -> usize {
    let mut escaped = false;
    for (at, c) in quoted.char_indices() {
        match c {
            '"' if !escaped => return at,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    panic!("a literal ends")
}

/// A text without the commands that it quotes, which are to be typed as they are.
fn without_commands(text: &str) -> String {
    let mut left = text.to_string();
    for quote in ['\'', '`'] {
        for program in ["equipoise ", "cargo "] {
            while let Some(begin) = left.find(&format!("{quote}{program}")) {
                let end = left[begin + 1..].find(quote).map_or(left.len(), |end| begin + 1 + end + 1);
                left.replace_range(begin..end, "");
            }
        }
    }
    left
}

/// Names in backticks, without their values, that look like names of options.
fn marked(text: &str) -> Vec<&str> {
    let names = text.split('`').skip(1).step_by(2).map(|token| token.split('=').next().unwrap_or(token));
    let looks = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    names.filter(looks).collect()
}

/// Does it have a flag of the command line in it?
fn has_flag(text: &str) -> bool {
    text.match_indices("--").any(|(at, _)| text[at + 2..].starts_with(|c: char| c.is_ascii_lowercase()))
}

#[test]
fn libraries_name_options_that_there_are_and_no_flags() {
    let tests = test_modules();
    let mut named = BTreeSet::new();
    for path in LIBRARIES.into_iter().flat_map(|folder| files(folder, ".rs")) {
        let stem = Path::new(&path).file_stem().expect("a file").to_string_lossy().into_owned();
        if path == HELP || tests.contains(&stem) {
            continue;
        }
        for text in literals(before_tests(&read(&path))) {
            let text = without_commands(&text);
            assert!(!has_flag(&text), "{path}: write an option as `name` or `name=value` in \"{text}\"");
            for name in marked(&text) {
                assert!(
                    OptionName::named(name).is_some(),
                    "{path}: `{name}` is no option in \"{text}\"; options are in crates/core/src/wording/surface.rs"
                );
                named.insert(name.to_string());
            }
        }
    }
    for name in ["range", "delta", "ledger", "no_header", "unsafe_no_sandbox"] {
        assert!(named.contains(name), "no text names `{name}`: this check reads nothing");
    }
}

#[test]
fn what_reads_literals_finds_flags_and_names_in_them() {
    #[expect(clippy::needless_raw_string_hashes, reason = "a raw literal with one ends inside")]
    let text = r##"
        // "--comment" is none, nor is a lifetime of &'a str
        let x = '"'; let y = '\''; let z = '\\';
        f("give \"--range\", \
           or `delta=1e-6`");
        g(r"raw --keys", r#"a "--where""#, "'equipoise budget log --json' and `typo`");
    "##;
    let found = literals(text);
    assert_eq!(
        found,
        [
            "give \\\"--range\\\", or `delta=1e-6`",
            "raw --keys",
            "a \"--where\"",
            "'equipoise budget log --json' and `typo`"
        ]
    );
    assert!(found[..3].iter().all(|text| has_flag(text)));
    let last = without_commands(&found[3]);
    assert!(!has_flag(&last) && !has_flag("after --, such as -- python3"));
    assert_eq!((marked(&found[0]), marked(&last)), (vec!["delta"], vec!["typo"]));
}
