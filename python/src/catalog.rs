//! Mechanisms by name: the numbers that calibration derives, and audits of the claims.

use crate::{errors, waiting};
use equipoise_audit::{Audit, Kind, Measured, report, report::Finding};
use equipoise_core::{
    catalog::{self, Derived, Given},
    ratio::Ratio,
    wording::{self, Surface},
};
use equipoise_session::{
    audits as session_audits,
    bar::{self, ErrorBar, rounded},
    caution, meaning,
    next::NextStep,
    release::{Promise, Release},
};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// Digits of a number that is too long to be shown exactly, and how long that is.
const DIGITS: u32 = 12;
const LONGEST: usize = 24;

/// Every number that a mechanism derives from its parameters, as JSON.
#[pyfunction]
pub fn calibrate(py: Python<'_>, name: &str, parameters: Vec<(String, String)>) -> PyResult<String> {
    let numbers = py.detach(|| {
        let entry = catalog::find(name)?;
        (entry.derive)(&Given::new(entry, parameters)?)
    });
    let mut found = Map::new();
    found.insert("mechanism".to_string(), json!(name));
    for number in numbers.map_err(errors::request)? {
        found.insert(number.name.to_string(), shown(&number.value));
    }
    Ok(Value::Object(found).to_string())
}

/// What of a price protects little, one line each; a number of rows counts where it was stated.
#[pyfunction]
#[pyo3(signature = (epsilon, delta, unit, stated_rows=None))]
pub fn cautions(epsilon: String, delta: String, unit: String, stated_rows: Option<&str>) -> Vec<String> {
    let promise = Promise {
        epsilon,
        delta,
        // The words are the same under both.
        adjacency: String::new(),
        unit,
        max_rows_per_unit: None,
        max_groups_per_unit: None,
        once_for_each_value: false,
        per_unit: false,
        composition: None,
        windows: None,
    };
    caution::warnings(&promise, caution::Rows::stated(stated_rows))
}

fn shown(value: &Derived) -> Value {
    let up = |value: &Ratio| json!(value.to_short_up(DIGITS, LONGEST));
    let down = |value: &Ratio| json!(value.to_short_down(DIGITS, LONGEST));
    let table = |rows: &[(u64, Ratio)], shown: &dyn Fn(&Ratio) -> Value| {
        Value::Object(rows.iter().map(|(key, value)| (key.to_string(), shown(value))).collect())
    };
    match value {
        Derived::Exact(value) => up(value),
        Derived::AtLeast(value) => down(value),
        Derived::Text(value) => json!({ "text": value }),
        Derived::Table(rows) => table(rows, &up),
        Derived::TableAtLeast(rows) => table(rows, &down),
    }
}

/// Every mechanism: its name, what it does, and its parameters with their defaults.
#[pyfunction]
pub fn mechanisms() -> String {
    let entry = |entry: &&catalog::Entry| {
        let parameter = |one: &catalog::Parameter| json!({ "name": one.name, "default": one.default, "about": one.about });
        let parameters: Vec<Value> = entry.parameters.iter().map(parameter).collect();
        json!({ "name": entry.name, "about": entry.about, "parameters": parameters })
    };
    Value::from(catalog::ALL.iter().map(entry).collect::<Vec<_>>()).to_string()
}

/// A text with every character that nobody would see written out, as on the command line.
#[pyfunction]
pub fn visible(text: &str) -> String {
    wording::visible(text).into_owned()
}

/// A text of the libraries, its options written as keywords.
#[pyfunction]
pub fn in_python(text: &str) -> String {
    wording::on(Surface::Python, text)
}

/// An answer in as many digits as its bar justifies, and the bar in words, both as on the command line.
#[pyfunction]
pub fn answer_words(value: &str, error: &str) -> PyResult<(String, String)> {
    let value: Value = serde_json::from_str(value).map_err(errors::request)?;
    let error: Option<ErrorBar> = serde_json::from_str(error).map_err(errors::request)?;
    let words = error.as_ref().map_or(String::new(), |error| error.words(&value));
    Ok((rounded(&value, error.as_ref()), words))
}

/// About how many rows there are, as a clause behind a bar, and between which quantiles of them an answer in ranks lies.
#[pyfunction]
pub fn rows_words(statistic: &str, rows: i64, value: &str, error: &str) -> PyResult<String> {
    let value: Value = serde_json::from_str(value).map_err(errors::request)?;
    let error: Option<ErrorBar> = serde_json::from_str(error).map_err(errors::request)?;
    Ok(error.map_or(String::new(), |error| bar::rows_words(statistic, rows, &error, &value)))
}

/// What ranks mean in a table of groups, given as pairs of a number of rows and a bar.
#[pyfunction]
pub fn table_ranks_words(statistic: &str, bars: &str) -> PyResult<Option<String>> {
    let bars: Vec<(Option<i64>, ErrorBar)> = serde_json::from_str(bars).map_err(errors::request)?;
    let bars: Vec<(Option<i64>, &ErrorBar)> = bars.iter().map(|(rows, error)| (*rows, error)).collect();
    Ok(bar::table_ranks_words(statistic, &bars))
}

/// What a table of found keys does not show.
#[pyfunction]
pub fn rare_keys_words(rows: u64) -> String {
    bar::rare_keys_words(rows)
}

/// A question that would do after a refusal, as it is typed in Python.
#[pyfunction]
pub fn next_call(step: &str) -> PyResult<String> {
    let step: NextStep = serde_json::from_str(step).map_err(errors::request)?;
    Ok(step.written(Surface::Python, "data"))
}

/// The same in a cell of a table.
#[pyfunction]
pub fn short_words(value: &str, error: &str) -> PyResult<(String, String)> {
    let value: Value = serde_json::from_str(value).map_err(errors::request)?;
    let error: Option<ErrorBar> = serde_json::from_str(error).map_err(errors::request)?;
    let words = error.as_ref().map_or(String::new(), |error| error.short_words(&value));
    Ok((rounded(&value, error.as_ref()), words))
}

/// What values were limited to, as a clause behind the name of an answer, where they were.
#[pyfunction]
pub fn limits_words(error: &str) -> PyResult<Option<String>> {
    let error: Option<ErrorBar> = serde_json::from_str(error).map_err(errors::request)?;
    Ok(error.as_ref().and_then(ErrorBar::limits_words))
}

/// What is true of a whole table of bars: how they hold, and what they are all about.
#[pyfunction]
pub fn table_words(bars: &str) -> PyResult<Option<(String, Vec<String>)>> {
    let bars: Vec<ErrorBar> = serde_json::from_str(bars).map_err(errors::request)?;
    Ok(ErrorBar::table_words(&bars))
}

/// A release, given as its JSON, as the SVG that the command line draws; a list of quantiles is named by these fractions.
#[pyfunction]
pub fn picture(release: &str, fractions: Vec<String>) -> PyResult<String> {
    let release: Release = serde_json::from_str(release).map_err(errors::request)?;
    Ok(equipoise_session::picture::release(&release, &[fractions], Surface::Python))
}

/// A release, given as its JSON, in a paragraph.
#[pyfunction]
pub fn explain(release: &str) -> PyResult<String> {
    let release: Release = serde_json::from_str(release).map_err(errors::request)?;
    Ok(meaning::paragraph(&release))
}

/// Of answers to questions, and of answers that stay right while users react to them.
fn all() -> Vec<&'static Audit> {
    session_audits::all().into_iter().chain(equipoise_robust::audits::ALL.iter().copied()).collect()
}

/// Every audit: its name, whether it is a claim or broken on purpose, and what it is about.
#[pyfunction]
pub fn audits() -> String {
    let entry =
        |audit: &&'static Audit| json!({ "name": audit.name, "kind": kind(audit), "about": audit.about });
    Value::from(all().iter().map(entry).collect::<Vec<_>>()).to_string()
}

/// Attack the claims whose names have this text in them, exactly, and say what was measured, as JSON.
#[pyfunction]
pub fn audit(py: Python<'_>, name: &str) -> PyResult<String> {
    let chosen: Vec<&'static Audit> = all().into_iter().filter(|audit| audit.name.contains(name)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = all().iter().map(|audit| audit.name).collect();
        let hint = wording::nearest(name, &names);
        return Err(errors::request(format!("no audit is called '{}'{hint}", wording::shown(name))));
    }
    let findings = waiting::free(py, || Ok(report::run(&chosen, |_| {})))?;
    Ok(Value::from(findings.iter().map(finding).collect::<Vec<_>>()).to_string())
}

fn kind(audit: &Audit) -> &'static str {
    match audit.kind {
        Kind::Claim { .. } => "claim",
        Kind::Zoo { .. } => "zoo",
    }
}

fn finding(finding: &Finding) -> Value {
    let measurement = |m: &Measured| {
        json!({
            "epsilon": m.eps.to_string(),
            "delta": m.delta.to_string(),
            "adjacency": m.adjacency.to_string(),
            "measured_delta": [m.worst.lower().to_f64(), m.worst.upper().to_f64()],
            "pairs": m.pairs,
            "holds": m.holds(),
        })
    };
    json!({
        "name": finding.audit.name,
        "kind": kind(finding.audit),
        "about": finding.audit.about,
        "verdict": finding.verdict().word().to_lowercase(),
        "good": finding.verdict().good(),
        "measurements": finding.measured.iter().map(measurement).collect::<Vec<_>>(),
        "mutant": finding.mutant.iter().map(measurement).collect::<Vec<_>>(),
    })
}
