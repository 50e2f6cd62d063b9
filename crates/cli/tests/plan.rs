//! `equipoise plan`: totals, errors, and agreement with dp_accounting where it is named.

use assert_cmd::Command;
use serde_json::Value;
use std::{io::Write as _, path::Path, process};

fn plan(content: &str, flags: &[&str]) -> process::Output {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.json");
    std::fs::write(&path, content).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_equipoise"));
    command.arg("plan").arg(&path).args(flags).output().expect("it runs")
}

fn totals(content: &str, delta: &str) -> Value {
    let output = plan(content, &["--delta", delta, "--json"]);
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

fn epsilon(totals: &Value, accountant: &str) -> f64 {
    totals[accountant].as_str().expect("a total").parse().expect("a number")
}

const TENTHS: &str =
    r#"{"delta": "1e-6", "events": [{"mechanism": "stable", "epsilon": "0.1", "times": 100}]}"#;
const GAUSSIANS: &str =
    r#"{"events": [{"mechanism": "gaussian", "noise": "real", "sigma": 20, "times": 100}]}"#;

#[test]
fn a_batch_under_every_accountant() {
    let output = plan(TENTHS, &[]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "accountant  epsilon at delta 0.000001\n\
         basic       10\n\
         optimal     4.77457  tightest\n\
         zcdp        5.21908\n\
         renyi       5.07519\n\
         pld         4.77457\n\
         For parameters that are fixed beforehand; a filter keeps parameters that are chosen along the way.\n"
    );
    let gaussians = totals(GAUSSIANS, "1e-6");
    assert!((epsilon(&gaussians, "pld") - 2.2541).abs() < 0.002 && epsilon(&gaussians, "pld") > 2.25408);
    assert_eq!((gaussians["tightest"].as_str(), gaussians["optimal"].is_null()), (Some("pld"), true));
}

#[test]
fn what_is_wrong_with_a_plan_is_one_line() {
    for (content, flags, problem) in [
        (GAUSSIANS, &[][..], "no delta is given; write --delta 1e-6 or a \"delta\" in the file"),
        (TENTHS, &["--delta", "2"], "delta 2 is not accepted: give 0, or a number below 1 such as 1e-6"),
        (r#"{"events": 1}"#, &["--delta", "0"], "no list of \"events\""),
    ] {
        let output = plan(content, flags);
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2));
        assert!(shown.starts_with("equipoise: ") && shown.trim_end().ends_with(problem), "{shown}");
        assert_eq!(shown.lines().count(), 1);
    }
}

fn dp_accounting(python: &str, events: &[u8], delta: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/python/dp_events.py");
    let mut child = process::Command::new(python)
        .arg(script)
        .arg(delta)
        .stdin(process::Stdio::piped())
        .stdout(process::Stdio::piped())
        .spawn()
        .expect("python runs");
    child.stdin.take().expect("a pipe").write_all(events).expect("written");
    let output = child.wait_with_output().expect("python ends");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

/// Skipped unless EQUIPOISE_TEST_PYTHON names a Python that has dp_accounting (`pip install dp-accounting`): what
/// happens to be installed decides nothing.
#[test]
fn dp_accounting_reads_our_events_and_agrees() {
    let Ok(python) = std::env::var("EQUIPOISE_TEST_PYTHON") else { return };
    for (events, delta) in [
        (r#"{"mechanism": "gaussian", "noise": "real", "sigma": 20, "times": 100}"#, "1e-6"),
        (r#"{"mechanism": "laplace", "noise": "real", "epsilon": "0.1", "times": 100}"#, "1e-6"),
        (r#"{"mechanism": "laplace", "epsilon": "0.1", "times": 100}"#, "1e-6"),
        (r#"{"mechanism": "laplace", "epsilon": "0.7", "steps": 7, "times": 10}"#, "1e-6"),
        (r#"{"mechanism": "stable", "epsilon": "0.1", "delta": "1e-9", "times": 100}"#, "1e-6"),
        (r#"{"mechanism": "gaussian", "noise": "real", "sigma": 1, "rate": "0.01", "times": 100}"#, "1e-6"),
        (r#"{"mechanism": "laplace", "noise": "real", "epsilon": 1, "rate": "0.1", "times": 50}"#, "1e-6"),
        (
            r#"{"mechanism": "gaussian", "noise": "real", "sigma": 20, "times": 50}, {"mechanism": "laplace", "noise": "real", "epsilon": "0.5", "times": 3}"#,
            "1e-9",
        ),
    ] {
        let content = format!(r#"{{"events": [{events}]}}"#);
        let exported = plan(&content, &["--export"]).stdout;
        let theirs = dp_accounting(&python, &exported, delta);
        let (ours, pld) =
            (epsilon(&totals(&content, delta), "pld"), theirs["pld"].as_f64().expect("a number"));
        // Both round up: theirs by its grid of 1e-4, ours by less than a part in a thousand.
        assert!((ours - pld).abs() < 1e-3 * pld + 2e-4, "{events}: ours {ours}, theirs {pld}");
        if let Some(by_event) = theirs["pld_by_event"].as_f64() {
            assert!((by_event - pld).abs() < 1e-3 * pld, "{events}: {theirs}");
        }
    }
}
