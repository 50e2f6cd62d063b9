//! `equipoise audit --sampled`: attack what mechanisms put out, with the operating system's coins.

use crate::{Exit, args::AuditOptions, ask::usage};
use equipoise_audit::sampled::{Entry, Expect, Found, Limits, all};
use equipoise_core::wording;
use equipoise_entropy::OsCoins;
use serde_json::{Value, json};
use std::{
    io::{IsTerminal, Write as _},
    time::Instant,
};

pub(crate) fn run(options: &AuditOptions) -> Exit {
    let wanted = |entry: &&Entry| {
        options.only.is_empty() || options.only.iter().any(|text| entry.name.contains(text.as_str()))
    };
    let entries: Vec<&Entry> = all().into_iter().filter(wanted).collect();
    if entries.is_empty() {
        let wanted = wording::shown(&options.only.join(", "));
        let next = "`equipoise audit --sampled --list` shows all names";
        return usage(format!("no audit by sampling has a name with '{wanted}' in it; {next}"));
    }
    if options.list {
        for entry in &entries {
            println!("{:5}  {}\n       {}\n       {}", kind(entry), entry.name, entry.about, entry.source);
        }
        return Exit::Done;
    }
    let risk = 1.0 - options.confidence;
    if !(risk > 0.0 && risk < 1.0 && options.seconds > 0.0 && options.seconds.is_finite()) {
        eprintln!(
            "equipoise: --confidence and --seconds are not accepted: give a confidence between 0 and 1, such as 0.999, and seconds above 0"
        );
        return Exit::Usage;
    }
    let findings = attack(&entries, options.seconds, risk);
    if options.json {
        print_json(&findings, options);
    } else {
        print_table(&findings, options);
    }
    if findings.iter().all(|(entry, found)| good(entry, found)) { Exit::Done } else { Exit::Failed }
}

/// Each entry gets an equal part of the risk, and of the time that is left.
fn attack<'a>(entries: &[&'a Entry], seconds: f64, risk: f64) -> Vec<(&'a Entry, Found)> {
    let start = Instant::now();
    let coins = || OsCoins::new().expect("the operating system gives random words");
    let show_progress = std::io::stderr().is_terminal();
    let mut findings = Vec::new();
    for (done, entry) in entries.iter().enumerate() {
        let left = (entries.len() - done) as f64;
        let limits = Limits {
            false_alarm: risk / entries.len() as f64,
            seconds: (seconds - start.elapsed().as_secs_f64()).max(0.0) / left,
            ..Limits::default()
        };
        let found = entry.attack(&limits, &coins);
        if show_progress {
            eprintln!("{:>8}  {}", word(entry, &found), entry.name);
        }
        findings.push((*entry, found));
    }
    findings
}

fn kind(entry: &Entry) -> &'static str {
    match entry.expect {
        Expect::Quiet => "claim",
        Expect::Caught => "zoo",
    }
}

fn good(entry: &Entry, found: &Found) -> bool {
    found.alarm == (entry.expect == Expect::Caught)
}

fn word(entry: &Entry, found: &Found) -> &'static str {
    match (entry.expect, found.alarm) {
        (Expect::Quiet, false) => "quiet",
        (Expect::Quiet, true) => "ALARM",
        (Expect::Caught, true) => "caught",
        (Expect::Caught, false) => "MISSED",
    }
}

fn print_table(findings: &[(&Entry, Found)], options: &AuditOptions) {
    let mut out = std::io::stdout().lock();
    // A closed pipe is no failure of the audit.
    let _ = writeln!(
        out,
        "{:>7}  {:32} {:>10} {:>8} {:>9} {:>8} {:>7}  event",
        "", "audit", "promise", "epsilon>", "delta>", "runs", "seconds"
    );
    for (entry, found) in findings {
        let promise = format!("({}, {})", entry.promise.0, entry.promise.1);
        let _ = writeln!(
            out,
            "{:>7}  {:32} {promise:>10} {:>8.4} {:>9.2e} {:>8} {:>7.1}  {}",
            word(entry, found),
            entry.name,
            found.eps_lower,
            found.delta_lower,
            found.runs,
            found.seconds,
            found.event
        );
    }
    let bad = findings.iter().filter(|(entry, found)| !good(entry, found)).count();
    let verdict = if bad == 0 {
        "no alarm about shipped mechanisms, every broken one is caught".to_string()
    } else {
        format!("{bad} NOT AS THEY SHOULD BE")
    };
    let _ = writeln!(
        out,
        "{verdict}. Bounds from below hold together with confidence {}; sampling can refute a promise, never confirm one.",
        options.confidence
    );
}

fn print_json(findings: &[(&Entry, Found)], options: &AuditOptions) {
    let one = |(entry, found): &(&Entry, Found)| {
        json!({
            "name": entry.name, "kind": kind(entry), "about": entry.about, "source": entry.source,
            "epsilon": entry.promise.0, "delta": entry.promise.1, "verdict": word(entry, found).to_lowercase(),
            "epsilon_lower": found.eps_lower, "delta_lower": found.delta_lower, "event": found.event,
            "pair": found.pair, "runs": found.runs, "seconds": found.seconds,
        })
    };
    let good = findings.iter().all(|(entry, found)| good(entry, found));
    let audits: Vec<Value> = findings.iter().map(one).collect();
    println!("{}", json!({"good": good, "confidence": options.confidence, "audits": audits}));
}
