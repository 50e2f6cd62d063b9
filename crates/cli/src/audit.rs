//! `equipoise audit`: claim against measurement, as a table or as JSON.

use crate::{Exit, args::AuditOptions, ask::usage};
use comfy_table::{ContentArrangement, Table, presets::NOTHING};
use equipoise_audit::{
    Audit, Kind, Measured,
    report::{self, Finding},
    resolution,
};
use equipoise_core::wording;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};

pub(crate) fn run(options: &AuditOptions) -> Exit {
    if options.sampled {
        return crate::sampled::run(options);
    }
    if !options.compare.is_empty() {
        return crate::compare::run(options);
    }
    let chosen = chosen(&options.only);
    if chosen.is_empty() {
        let wanted = wording::shown(&options.only.join(", "));
        return usage(format!(
            "no audit has a name with '{wanted}' in it; `equipoise audit --list` shows all names"
        ));
    }
    if options.list {
        list(&chosen, options.json);
        return Exit::Done;
    }
    let show_progress = std::io::stderr().is_terminal();
    let findings = report::run(&chosen, |finding| {
        if show_progress {
            eprintln!("{:>8}  {}", finding.verdict().word(), finding.audit.name);
        }
    });
    if options.json {
        print_json(&findings);
    } else {
        print_table(&findings);
    }
    if findings.iter().all(|finding| finding.verdict().good()) { Exit::Done } else { Exit::Failed }
}

/// Every audit there is: of answers to questions, and of answers that stay right while users react to them.
fn all() -> Vec<&'static Audit> {
    equipoise_session::audits::all()
        .into_iter()
        .chain(equipoise_robust::audits::ALL.iter().copied())
        .collect()
}

fn chosen(only: &[String]) -> Vec<&'static Audit> {
    let wanted =
        |audit: &&Audit| only.is_empty() || only.iter().any(|text| audit.name.contains(text.as_str()));
    all().into_iter().filter(wanted).collect()
}

fn kind(audit: &Audit) -> &'static str {
    match audit.kind {
        Kind::Claim { .. } => "claim",
        Kind::Zoo { .. } => "zoo",
    }
}

fn list(audits: &[&'static Audit], as_json: bool) {
    if as_json {
        let entry = |audit: &&Audit| json!({"name": audit.name, "kind": kind(audit), "about": audit.about, "source": audit.source});
        println!("{}", Value::from(audits.iter().map(entry).collect::<Vec<_>>()));
        return;
    }
    for audit in audits {
        println!("{:5}  {}\n       {}\n       {}", kind(audit), audit.name, audit.about, audit.source);
    }
}

/// The measurement that says most: the one whose delta exceeds its claim by most.
fn worst(measured: &[Measured]) -> Option<&Measured> {
    let excess = |m: &Measured| m.worst.upper() - &m.delta;
    measured.iter().max_by(|a, b| excess(a).cmp(&excess(b)))
}

fn print_table(findings: &[Finding]) {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["", "audit", "promise", "adjacency", "measured delta", "mutant's delta", "pairs"]);
    for finding in findings {
        let Some(seen) = worst(&finding.measured) else { continue };
        let pairs: usize = finding.measured.iter().map(|m| m.pairs).sum();
        table.add_row([
            finding.verdict().word().to_string(),
            finding.audit.name.to_string(),
            format!("({}, {})", seen.eps.to_short_up(6, 12), seen.delta.to_short_up(6, 12)),
            seen.adjacency.to_string(),
            shown(seen),
            worst(&finding.mutant).map_or_else(String::new, shown),
            pairs.to_string(),
        ]);
    }
    let bad = findings.iter().filter(|finding| !finding.verdict().good()).count();
    let (claims, zoo): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|f| kind(f.audit) == "claim");
    let coarsest = findings.iter().flat_map(|finding| &finding.measured).map(|m| m.resolution.to_f64());
    let coarsest = coarsest.fold(0.0, f64::max);
    let coarser = coarsest > resolution().to_f64();
    let whole_answers = if coarser { format!(", in whole answers {coarsest},") } else { String::new() };
    let mut out = std::io::stdout().lock();
    // A closed pipe (`equipoise audit | head`) is no failure of the audit.
    let _ = writeln!(
        out,
        "{}\n{} claims with their mutants, {} broken mechanisms; {}. Deltas that differ by less than {}{} are not told apart.",
        table.trim_fmt(),
        claims.len(),
        zoo.len(),
        if bad == 0 {
            "every claim holds, every zoo entry is caught".to_string()
        } else {
            format!("{bad} NOT AS THEY SHOULD BE")
        },
        resolution().to_f64(),
        whole_answers,
    );
}

/// The enclosed delta in a few digits, rounded outwards.
fn shown(measured: &Measured) -> String {
    let (low, high) = (measured.worst.lower().to_f64(), measured.worst.upper().to_f64());
    if high <= measured.resolution.to_f64() {
        return "0".to_string();
    }
    let (low, high) = (format!("{low:.4e}"), format!("{high:.4e}"));
    if low == high { low } else { format!("{low} .. {high}") }
}

fn print_json(findings: &[Finding]) {
    let measurement = |m: &Measured| {
        json!({
            "epsilon": m.eps.to_string(),
            "delta": m.delta.to_string(),
            "adjacency": m.adjacency.to_string(),
            "measured_delta": {"low": m.worst.lower().to_f64(), "high": m.worst.upper().to_f64()},
            "pairs": m.pairs,
            "holds": m.holds(),
            "refuted_epsilon": m.refuted_eps.to_f64(),
            "exercised": m.exercised(),
            "over": m.over,
            "case": m.case,
            "resolution": m.resolution.to_f64(),
        })
    };
    let audits: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let mut entry = json!({
                "name": finding.audit.name,
                "kind": kind(finding.audit),
                "about": finding.audit.about,
                "source": finding.audit.source,
                "verdict": finding.verdict().word().to_lowercase(),
                "measurements": finding.measured.iter().map(measurement).collect::<Vec<_>>(),
                "seconds": finding.seconds,
            });
            if let Kind::Claim { change, .. } = finding.audit.kind {
                entry["mutant"] = json!({
                    "change": change,
                    "measurements": finding.mutant.iter().map(measurement).collect::<Vec<_>>(),
                });
            }
            entry
        })
        .collect();
    let good = findings.iter().all(|finding| finding.verdict().good());
    println!("{}", json!({"good": good, "resolution": resolution().to_string(), "audits": audits}));
}
