//! Every claim is measured, and docs/guarantees.md says what was measured: its table is made of `equipoise audit --json`.
//! `EQUIPOISE_WRITE_DOCS=1 cargo test -p equipoise --test guarantees` writes it anew.

use assert_cmd::Command;
use serde_json::Value;
use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

const BEGIN: &str = "<!-- measured by `equipoise audit --json`: begin -->\n";
const END: &str = "<!-- measured: end -->\n";

#[test]
fn every_claim_holds_every_zoo_entry_is_caught_and_the_document_says_what_was_measured() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_equipoise")).args(["audit", "--json"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!(report["good"], true);
    let audits = report["audits"].as_array().expect("audits");
    assert_eq!(audits.len(), equipoise_session::audits::all().len() + equipoise_robust::audits::ALL.len());
    for audit in audits {
        let expected = if audit["kind"] == "zoo" { "caught" } else { "holds" };
        assert_eq!(audit["verdict"], expected, "{}", audit["name"]);
        assert!(!audit["measurements"].as_array().expect("measurements").is_empty());
    }
    let claims: Vec<&Value> = audits.iter().filter(|audit| audit["kind"] == "claim").collect();
    for claim in &claims {
        for (adjacency, measured) in by_adjacency(claim) {
            // A measurement that uses nothing of its price could not see a mistake in it.
            assert!(
                measured.iter().any(|measured| measured["exercised"] == true),
                "{} under {adjacency} exercises nothing of what it promises",
                claim["name"]
            );
        }
    }
    compare(&table(&claims));
}

fn by_adjacency(claim: &Value) -> BTreeMap<&str, Vec<&Value>> {
    let mut all: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for measured in claim["measurements"].as_array().expect("measurements") {
        all.entry(measured["adjacency"].as_str().expect("a text")).or_default().push(measured);
    }
    all
}

/// One row for each claim and adjacency; promise and measurement are those of the case that comes nearest to its promise.
fn table(claims: &[&Value]) -> String {
    let mut text = String::from(
        "| audit | adjacency | cases | pairs | over | the nearest case | promised | measured delta | refuted epsilon | mutant's delta |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for claim in claims {
        let mutant = claim["mutant"]["measurements"].as_array().expect("measurements");
        let mutant = mutant.iter().map(|found| number(&found["measured_delta"]["high"])).fold(0.0, f64::max);
        for (adjacency, measured) in by_adjacency(claim) {
            let pairs: u64 = measured.iter().filter_map(|found| found["pairs"].as_u64()).sum();
            let nearest =
                measured.iter().max_by(|a, b| nearness(a).total_cmp(&nearness(b))).expect("one at least");
            let mut over: Vec<&str> = Vec::new();
            for found in &measured {
                let here = found["over"].as_str().expect("a text");
                if !over.contains(&here) {
                    over.push(here);
                }
            }
            let _ = writeln!(
                text,
                "| `{}` | {adjacency} | {} | {pairs} | {} | {} | ({}, {}) | {} | {} | {} |",
                claim["name"].as_str().expect("a text"),
                measured.len(),
                over.join("; "),
                nearest["case"].as_str().expect("a text"),
                short(exact(&nearest["epsilon"])),
                short(exact(&nearest["delta"])),
                short(number(&nearest["measured_delta"]["high"])),
                short(number(&nearest["refuted_epsilon"])),
                short(mutant),
            );
        }
    }
    text
}

/// How much of the promise a case needs: of delta where there is one, else of epsilon.
fn nearness(measured: &Value) -> f64 {
    let delta = exact(&measured["delta"]);
    let of_delta = if delta > 0.0 { number(&measured["measured_delta"]["high"]) / delta } else { 0.0 };
    of_delta.max(number(&measured["refuted_epsilon"]) / exact(&measured["epsilon"]))
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Epsilon and delta are exact texts: decimals or fractions.
fn exact(value: &Value) -> f64 {
    let text = value.as_str().expect("a text");
    let parsed = |text: &str| text.parse::<f64>().expect("a number");
    text.split_once('/').map_or_else(|| parsed(text), |(above, below)| parsed(above) / parsed(below))
}

/// Three digits; what an audit cannot tell from zero is zero.
fn short(value: f64) -> String {
    if value < 1e-9 {
        return "0".to_string();
    }
    let rounded: f64 = format!("{value:.2e}").parse().expect("a float");
    if rounded < 1e-3 { format!("{rounded:e}") } else { rounded.to_string() }
}

fn compare(made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guarantees.md");
    let document = fs::read_to_string(&path).expect("the document");
    let (before, rest) = document.split_once(BEGIN).expect("where the table begins");
    let (table, after) = rest.split_once(END).expect("where it ends");
    if std::env::var_os("EQUIPOISE_WRITE_DOCS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{made}{END}{after}")).expect("written");
        return;
    }
    assert_eq!(
        table, made,
        "docs/guarantees.md is not what was measured; EQUIPOISE_WRITE_DOCS=1 writes it anew"
    );
}
