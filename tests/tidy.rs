//! Rules of the source tree that no compiler checks. Each failure names the file and what to do.

mod documents;
mod modules;
mod options;
mod python_surface;
mod statistic_names;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files below a folder with this ending, as paths relative to the root.
fn files(folder: &str, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                folders.extend(Some(path).filter(|path| !path.ends_with("target")));
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no {ending} files below {folder}: this check checks nothing");
    found
}

/// The names of the modules in a folder of the core.
fn modules(folder: &str) -> Vec<String> {
    let name = |path: &String| Path::new(path).file_stem().expect("a file").to_string_lossy().into_owned();
    files(folder, ".rs").iter().map(name).filter(|name| name != "mod").collect()
}

/// The part of a file before its tests.
fn shipped(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

fn headings_in_order(path: &str, wanted: &[&str]) {
    let text = read(path);
    let header: String =
        text.lines().take_while(|line| line.starts_with("//!")).collect::<Vec<_>>().join("\n");
    let mut from = 0;
    for heading in wanted {
        match header[from..].find(heading) {
            Some(at) => from += at + heading.len(),
            None => panic!("{path}: the header needs '{heading}', in the order {wanted:?}"),
        }
    }
}

#[test]
fn every_file_says_what_it_is() {
    for path in files("crates", ".rs").into_iter().chain(files("sql", ".rs")) {
        assert!(read(&path).starts_with("//!"), "{path}: begin with one sentence after //!");
    }
}

#[test]
fn files_can_be_read_in_one_sitting() {
    let sources = files("crates", ".rs").into_iter().chain(files("sql", ".rs"));
    for path in sources.chain(files("tests", ".rs")) {
        let lines = read(&path).lines().count();
        assert!(lines <= 700, "{path} has {lines} lines: split it");
    }
}

#[test]
fn every_mechanism_states_a_guarantee_and_tests_it() {
    // What mechanisms share, and what their audits share, promises nothing by itself.
    let shared = [
        "l2",
        "outputs",
        "selection",
        "selection_audit",
        "smooth_plan",
        "silence",
        "threshold_monitor_tests",
    ];
    for path in
        files("crates/core/src/mechanism", ".rs").into_iter().chain(files("crates/core/src/monitor", ".rs"))
    {
        let name = Path::new(&path).file_stem().expect("a file").to_string_lossy().into_owned();
        if name == "mod" || shared.contains(&name.as_str()) {
            continue;
        }
        headings_in_order(&path, &["Source:", "# Guarantee", "# Why", "# Example"]);
        let tests = path.replace(".rs", "_tests.rs");
        let tests = if root().join(&tests).exists() { read(&tests) } else { String::new() };
        let text = read(&path) + &tests;
        for test in ["exact_audit", "mutant"] {
            assert!(text.contains(test), "{path}: no test with '{test}' in its name");
        }
        let audit = format!("crates/audit/src/exact/{name}.rs");
        assert!(root().join(&audit).exists(), "{path}: no audit in {audit}");
    }
}

#[test]
fn every_aggregator_states_a_guarantee_and_tests_it() {
    // What aggregators share, and plans, promise nothing private by themselves; means of vectors are private quantiles and
    // Gaussian noise, which have audits of their own.
    let shared = ["binomial", "blocks", "clip", "plan", "stability_estimate", "vectors"];
    for name in
        modules("crates/core/src/subsample").into_iter().filter(|name| !shared.contains(&name.as_str()))
    {
        let path = format!("crates/core/src/subsample/{name}.rs");
        headings_in_order(&path, &["# Guarantee", "# Why", "# Example"]);
        let text = read(&path);
        for test in ["exact_audit", "mutant"] {
            assert!(text.contains(test), "{path}: no test with '{test}' in its name");
        }
        let audit = format!("crates/audit/src/exact/{name}.rs");
        assert!(root().join(&audit).exists(), "{path}: no audit in {audit}");
    }
}

#[test]
fn every_sampler_states_a_law_and_a_grade_and_tests_them() {
    // Machinery of the real samplers, without a law of its own.
    let shared = ["real", "real_audit", "span"];
    for name in modules("crates/core/src/sampler").into_iter().filter(|name| !shared.contains(&name.as_str()))
    {
        let path = format!("crates/core/src/sampler/{name}.rs");
        let text = read(&path);
        // The real laws are drawn by one kernel, which names their grade.
        let drawn_by_the_kernel = text.contains("impl RealVariable for");
        headings_in_order(
            &path,
            if drawn_by_the_kernel { &["# Guarantee", "grade"] } else { &["# Guarantee", "# Grade"] },
        );
        for test in ["fn exact_audit", "mutant"] {
            assert!(text.contains(test), "{path}: no test with '{test}' in it");
        }
        assert!(text.contains("decisions") || text.contains("coins_"), "{path}: no test counts its coins");
    }
}

#[test]
fn every_audit_is_listed() {
    for (folder, list) in [("crates/audit/src/exact", "exact"), ("crates/audit/src/zoo", "zoo")] {
        let index = read(format!("{folder}/mod.rs"));
        for name in modules(folder) {
            assert!(index.contains(&format!("mod {name};")), "{folder}/{name}.rs is not a module of {list}");
            let statics = read(format!("{folder}/{name}.rs")).matches(": Audit = Audit {").count();
            let listed = index.matches(&format!("&{name}::")).count();
            assert!(statics == listed, "{folder}/{name}.rs has {statics} audits, {list}::ALL lists {listed}");
        }
    }
}

#[test]
fn no_test_is_switched_off() {
    for path in files("crates", ".rs") {
        let text = read(&path);
        for word in [concat!("#[", "ignore"), concat!("todo", "!("), concat!("unimplemented", "!(")] {
            assert!(!text.contains(word), "{path} contains {word}");
        }
    }
}

#[test]
fn randomness_comes_from_coins_only() {
    let banned = [
        "rand::",
        "rand_core",
        "SeedableRng",
        "seed_from",
        "thread_rng",
        "StdRng",
        "SmallRng",
        "getrandom",
        "RandomState",
        "chacha20",
        "fastrand",
        "SystemTime",
    ];
    for path in files("crates", ".rs") {
        if path.starts_with("crates/entropy/") {
            continue;
        }
        for word in banned {
            // The ledger's entries carry a time; nothing is drawn or decided by it.
            if word == "SystemTime" && path == "crates/ledger/src/clock.rs" {
                continue;
            }
            // Programs in the sandbox may draw what they like.
            if word == "getrandom" && path == "crates/runner/src/sandbox/calls.rs" {
                continue;
            }
            assert!(
                !shipped(&read(&path)).contains(word),
                "{path} names {word}: take coins as the last argument"
            );
        }
    }
    let entropy = read("crates/entropy/src/lib.rs");
    for word in ["SeedableRng", "from_seed", "pub fn with_key", "derive(Clone", "Serialize"] {
        assert!(
            !shipped(&entropy).contains(word),
            "crates/entropy names {word}: coins cannot be seeded or copied"
        );
    }
}

/// Fresh coins in a test are a failure by chance. Those of the coins themselves write down how likely it is.
#[test]
fn tests_draw_fixed_words() {
    for path in files("crates", ".rs") {
        let text = read(&path);
        let tests = if path.contains("/tests") || path.contains("/audits") {
            &text[..]
        } else {
            text.split_once("#[cfg(test)]\nmod tests").map_or("", |(_, tests)| tests)
        };
        let fresh = tests.contains(concat!("Os", "Coins::new"));
        assert!(!fresh || path.starts_with("crates/entropy/"), "{path}: take fixed words in tests");
    }
    assert!(read(".cargo/config.toml").contains("\nPROPTEST_RNG_SEED = "), "properties need a fixed seed");
}

#[test]
fn unsafe_code_stays_in_one_crate() {
    for name in crates() {
        if name == "entropy" {
            continue;
        }
        let top = ["lib.rs", "main.rs"].map(|file| root().join(format!("crates/{name}/src/{file}")));
        let top = top.iter().find(|path| path.exists()).expect("a crate has a top file");
        let text = fs::read_to_string(top).expect("readable");
        assert!(text.contains("#![forbid(unsafe_code)]"), "crates/{name}: forbid unsafe code");
    }
}

/// A lock of the whole process stays locked in a child that is forked while another thread has it.
#[test]
fn locks_of_the_process_are_known_to_survive_forks() {
    // Taken inside the gate that forks wait at.
    let inside =
        ["crates/entropy/src/fork.rs", "crates/ledger/src/hold.rs", "crates/postgres/src/password.rs"];
    // Made by `prepare` before a program forks.
    let prepared = [
        "crates/core/src/fixed_exp.rs",
        "crates/core/src/interval/point.rs",
        "crates/core/src/loss/renyi.rs",
        "crates/core/src/monitor/silence.rs",
        "crates/core/src/subsample/blocks.rs",
        "crates/session/src/quiet.rs",
    ];
    // Set by whoever starts the program before anything is asked, in Python by `prepare`; looking at it takes no lock.
    let handed_in =
        ["crates/engine/src/remote/mod.rs", "crates/ledger/src/store.rs", "crates/sql/src/several.rs"];
    // The command line starts programs and does not fork.
    let apart = "crates/cli/";
    let mut found = BTreeSet::new();
    for path in files("crates", ".rs").into_iter().chain(files("python/src", ".rs")) {
        let text = read(&path);
        let held = ["Mutex<", "RwLock<", "OnceLock<", "LazyLock<", "Once ", "Constant "];
        let is_static = |line: &str| {
            let line = line.trim_start();
            let line = line
                .trim_start_matches("pub(super) ")
                .trim_start_matches("pub(crate) ")
                .trim_start_matches("pub ");
            line.starts_with("static ") && held.iter().any(|kind| line.contains(&format!(": {kind}")))
        };
        if shipped(&text).lines().any(is_static) && !path.starts_with(apart) && !path.contains("/tests/") {
            found.insert(path);
        }
    }
    let known: BTreeSet<String> =
        [&inside[..], &prepared, &handed_in].concat().into_iter().map(str::to_string).collect();
    assert_eq!(
        found, known,
        "take it inside `equipoise_entropy::fork`, or make it in `prepare`, and list it here"
    );
    for path in prepared {
        assert!(read(path).contains("fn prepare()"), "{path}: nothing is prepared");
    }
}

fn crates() -> Vec<String> {
    let entries = fs::read_dir(root().join("crates")).expect("crates");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn crates_depend_only_along_the_arrows() {
    let arrows: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("core", &[] as &[&str]),
        ("expression", &[]),
        ("entropy", &["core"]),
        // Its audits are written beside its code.
        ("robust", &["audit", "core"]),
        ("audit", &["core"]),
        ("ledger", &["core", "entropy", "expression"]),
        ("session", &["core", "entropy", "ledger", "expression", "audit"]),
        ("engine", &["core", "session"]),
        // From text to questions, from a release to rows: no ledger, no data, no coins.
        ("sql", &["core", "expression", "session"]),
        // Programs get bytes and give bytes; what they mean is the session's.
        ("runner", &[]),
        // For tests alone: a dev-dependency of whoever must survive crashes.
        ("faults", &[]),
        // What it answers is the session's.
        // Rows of another kind of source; whoever starts the program hands it to the engine.
        ("postgres", &["core", "entropy", "session", "engine"]),
        ("server", &["core", "entropy", "audit", "session", "engine", "postgres", "runner", "sql"]),
        ("cli", &["core", "entropy", "audit", "robust", "session", "engine", "runner", "sql"]),
        // The command line with tables of Postgres, outside the first build.
        ("cli-postgres", &["postgres"]),
    ]);
    for name in crates() {
        let allowed = arrows
            .get(name.as_str())
            .unwrap_or_else(|| panic!("crates/{name}: draw its arrows in tests/tidy.rs"));
        let manifest = read(format!("crates/{name}/Cargo.toml"));
        let normal = manifest.split("[dev-dependencies]").next().unwrap_or_default();
        for other in crates() {
            let named = normal.contains(&format!("\nequipoise-{other}"));
            assert!(!named || allowed.contains(&other.as_str()), "crates/{name} must not depend on {other}");
        }
        assert!(
            read("ARCHITECTURE.md").contains(&format!("crates/{name}")),
            "ARCHITECTURE.md does not mention crates/{name}"
        );
    }
}

/// Words in backticks that follow `--only`.
fn audits_named_in(document: &str) -> BTreeSet<String> {
    let text = read(document);
    text.split("--only ")
        .skip(1)
        .filter_map(|rest| rest.split([' ', '`', '\n', '|']).next())
        .map(str::to_string)
        .collect()
}

#[test]
fn documents_name_every_audit_and_no_other() {
    let names: BTreeMap<&str, bool> = equipoise_session::audits::all()
        .iter()
        .map(|audit| (audit.name, matches!(audit.kind, equipoise_audit::Kind::Claim { .. })))
        .collect();
    assert_eq!(names.len(), equipoise_session::audits::all().len(), "two audits share a name");
    // Of the audits by sampling, the shipped ones go by the names of the exact ones.
    let sampled = equipoise_audit::sampled::all();
    let sampled_zoo = sampled.iter().filter(|entry| entry.expect == equipoise_audit::sampled::Expect::Caught);
    let names: BTreeMap<&str, bool> =
        names.into_iter().chain(sampled_zoo.map(|entry| (entry.name, false))).collect();
    let guarantees = audits_named_in("docs/guarantees.md");
    let errata = audits_named_in("docs/errata.md");
    for (name, is_claim) in &names {
        let (set, document) = if *is_claim { (&guarantees, "guarantees") } else { (&errata, "errata") };
        assert!(set.contains(*name), "docs/{document}.md does not say `equipoise audit --only {name}`");
    }
    for name in guarantees.iter().chain(&errata) {
        assert!(
            names.contains_key(name.as_str()),
            "the documents name an audit '{name}' that does not exist"
        );
    }
}

/// What a document sets in backticks.
fn code_words(document: &str) -> Vec<String> {
    // Fenced blocks are run by a test of their own.
    let mut text = String::new();
    let mut fenced = false;
    for line in read(document).lines() {
        fenced ^= line.trim_start().starts_with("```");
        if !fenced {
            text.push_str(line);
            text.push(' ');
        }
    }
    text.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

fn documents() -> Vec<String> {
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "python/README.md"].map(str::to_string);
    files("docs", ".md").into_iter().chain(top).collect()
}

#[test]
fn documents_name_files_that_exist() {
    let folders =
        ["crates/", "docs/", "python/", "examples/", "bench/", "tests/", "fuzz/", "mutants/", "sql/"];
    let mut named = 0;
    for document in documents() {
        for word in code_words(&document) {
            let path = word.split([' ', ':']).next().unwrap_or_default();
            if !folders.iter().any(|folder| path.starts_with(folder)) || path.contains(['*', '{', '<']) {
                continue;
            }
            named += 1;
            let beside = Path::new(&document).parent().expect("a folder").join(path);
            assert!(
                root().join(path).exists() || root().join(beside).exists(),
                "{document} names '{path}', which does not exist"
            );
        }
    }
    assert!(named > 30, "only {named} paths were found");
}

#[test]
fn documents_name_tests_that_exist() {
    let mut named = 0;
    for document in documents() {
        let words = code_words(&document);
        // `a_test` in `its/file.rs`
        for pair in words.windows(2) {
            let is_test = pair[0].len() > 12
                && pair[0].chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            let in_file = format!("`{}` in `{}`", pair[0], pair[1]);
            if is_test && pair[1].contains('/') && read(&document).replace('\n', " ").contains(&in_file) {
                named += 1;
                let text = read(&pair[1]);
                let written = [format!("fn {}(", pair[0]), format!("def {}(", pair[0])];
                assert!(
                    written.iter().any(|name| text.contains(name)),
                    "{document}: {in_file} does not exist"
                );
            }
        }
    }
    // test `module::file`: tests of a file of the core
    let errata = read("docs/errata.md");
    for rest in errata.split("test `").skip(1) {
        let name = rest.split('`').next().expect("the end of the name");
        if !name.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == ':') {
            continue;
        }
        let file = format!("crates/core/src/{}", name.replace("::", "/"));
        named += 1;
        let path = [format!("{file}.rs"), format!("{file}/mod.rs")]
            .into_iter()
            .find(|path| root().join(path).exists());
        let path = path.unwrap_or_else(|| {
            panic!("docs/errata.md names the tests of '{name}', which is no file of the core")
        });
        let beside = path.replace(".rs", "_tests.rs");
        let tested = read(&path).contains("#[test]") || root().join(beside).exists();
        assert!(tested, "docs/errata.md names the tests of '{name}', which has none");
    }
    assert!(named > 15, "only {named} tests were found");
}

#[test]
fn documents_name_commands_that_exist() {
    let help = Command::new(env!("CARGO_BIN_EXE_equipoise")).arg("--help").output().expect("it runs");
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let commands: BTreeSet<&str> =
        help.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let mut named = 0;
    for document in documents() {
        for word in code_words(&document) {
            let Some(rest) = word.strip_prefix("equipoise ") else { continue };
            let command = rest.split([' ', ',']).next().unwrap_or_default();
            if command.starts_with('-') || !command.chars().all(|c| c.is_ascii_lowercase() || c == '-') {
                continue;
            }
            named += 1;
            assert!(
                commands.contains(command),
                "{document} names the command 'equipoise {command}', which does not exist"
            );
        }
    }
    assert!(named > 40, "only {named} commands were found");
}

#[test]
fn the_project_speaks_of_itself_alone() {
    let here = root().parent().expect("a folder above").to_string_lossy().into_owned();
    let documents = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_string);
    let sources = files("crates", ".rs").into_iter().chain(files("sql", ""));
    for path in sources.chain(files("docs", ".md")).chain(documents) {
        assert!(
            here.len() < 3 || !read(&path).contains(&format!("{here}/")),
            "{path} names a folder of this machine"
        );
    }
}

#[test]
fn dependencies_have_licences_we_accept() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let version = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names its host");
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", host])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let allowed = read("deny.toml");
    let accepted = |licence: &str| allowed.contains(&format!("\"{}\"", licence.trim_matches(['(', ')'])));
    for package in metadata["packages"].as_array().expect("packages") {
        let licence = package["license"].as_str().unwrap_or_default();
        // "A OR B" needs one accepted choice; "A AND B" needs all of its parts.
        let good = licence
            .split(" OR ")
            .flat_map(|choice| choice.split('/'))
            .any(|choice| choice.split(" AND ").all(|part| accepted(part.trim())));
        assert!(good, "{}: licence '{licence}' is not in deny.toml", package["name"]);
    }
}

/// Each package with its features, as cargo would build them.
fn built_with(arguments: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p} {f}"])
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| line.trim_end_matches(" (*)").to_string()).collect()
}

/// With other features a dependency, and all that stands on it, is built once more: minutes of every check.
#[test]
fn the_wheel_is_built_of_what_the_tests_are_built_of() {
    let tests = built_with(&["--workspace", "--edges", "normal,build,dev"]);
    let wheel = built_with(&["--package", "equipoise-python", "--edges", "normal,build"]);
    let other: Vec<&String> = wheel.difference(&tests).collect();
    assert!(
        other.is_empty(),
        "give these, in python/Cargo.toml, the features that the workspace gives: {other:?}"
    );
}

/// The words in quotes in a piece of source that could name a mechanism.
fn words_in_quotes(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
    };
    text.split('"').skip(1).step_by(2).filter(is_name)
}

/// What stands between the place where `begin` is found, each time, and the next `end`.
fn between<'a>(text: &'a str, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(begin).skip(1).filter_map(move |rest| rest.split(end).next())
}

/// One mechanism has one name: in flags, audits, `calibrate`, releases, documents and Python.
#[test]
fn mechanisms_have_the_names_of_one_list() {
    let names = equipoise_core::catalog::NAMES;
    let mut used: BTreeMap<String, String> = BTreeMap::new();
    let mut found = |name: &str, place: &str| {
        assert!(names.contains(&name), "{place}: '{name}' is no name of crates/core/src/catalog/names.rs");
        used.insert(name.to_string(), place.to_string());
    };
    for entry in equipoise_core::catalog::ALL {
        found(entry.name, "calibrate");
        for parameter in entry.parameters {
            assert!(!parameter.name.contains('_'), "{} {}: write hyphens", entry.name, parameter.name);
        }
    }
    for audit in equipoise_audit::exact::ALL {
        found(audit.name, "audit");
    }
    // What `--mechanism` takes and what releases say: the functions and lists that name it.
    let mut places = 0;
    for path in files("crates/session/src", ".rs") {
        let text = read(&path);
        let text = shipped(&text);
        let functions = between(text, "fn mechanism(&self) -> &'static str {", "\n    }\n").chain(between(
            text,
            "fn names(&self) -> &'static [&'static str] {",
            "\n    }\n",
        ));
        let lists =
            ["const NAMES: [&str; 3] =", "const LAWS:", "const ONE_QUANTILE:", "const MECHANISM: &str ="];
        let lists = lists.into_iter().filter(|_| !path.ends_with("/kind.rs"));
        for part in functions.chain(lists.flat_map(|list| between(text, list, ";\n"))) {
            places += 1;
            words_in_quotes(part).for_each(|name| found(name, &path));
        }
    }
    assert!(places > 10, "the session names its mechanisms elsewhere now: read them there");
    // Names that are written out: in code that makes JSON, in documents, in help and in Python.
    let code = files("crates", ".rs").into_iter().chain(files("python", ".py"));
    let documents = files("docs", ".md").into_iter().chain(["README.md".to_string()]);
    for path in code.chain(documents) {
        let text = read(&path);
        for begin in ["--mechanism ", "mechanism=\"", "\"mechanism\": \""] {
            for rest in text.split(begin).skip(1) {
                let is_part = |c: &char| c.is_ascii_lowercase() || *c == '-';
                let name: String = rest.chars().take_while(is_part).collect();
                // Of a plan of events `approx` is one that is known by its epsilon alone.
                let is_word = name.is_empty() || ["auto", "approx", "copies"].contains(&name.as_str());
                if !is_word && !path.contains("/tests") {
                    found(&name, &path);
                }
            }
        }
    }
    for name in names {
        assert!(used.contains_key(*name), "crates/core/src/catalog/names.rs: nothing is called '{name}'");
    }
}
