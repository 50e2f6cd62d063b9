//! `equipoise plan FILE.json`: what a fixed list of releases costs, under every accountant.

use crate::{Exit, args::PlanOptions, ask::usage, plan_file};
use equipoise_core::{
    account::{Plan, Total},
    loss::Delta,
    wording,
};
use serde_json::{Value, json};

pub(crate) fn run(options: &PlanOptions) -> Exit {
    match answer(options) {
        Ok(text) => {
            println!("{text}");
            Exit::Done
        }
        Err(problem) => usage(problem),
    }
}

fn answer(options: &PlanOptions) -> Result<String, String> {
    let shown = wording::shown(&options.file.to_string_lossy());
    let text = std::fs::read_to_string(&options.file)
        .map_err(|error| format!("cannot read '{shown}': {}; give a JSON file of events", error.kind()))?;
    let file = plan_file::read(&text).map_err(|problem| format!("'{shown}': {problem}"))?;
    if options.export {
        return Ok(plan_file::export(&file.plan)?.to_string());
    }
    let delta = match &options.delta {
        Some(text) => text.parse::<Delta>().map_err(|error| error.to_string())?,
        None => file.delta.ok_or("no delta is given; write --delta 1e-6 or a \"delta\" in the file")?,
    };
    let totals = file.plan.totals(&delta);
    Ok(if options.json { as_json(&delta, &totals).to_string() } else { as_text(&delta, &totals) })
}

fn epsilon(total: &Total) -> Option<String> {
    total.loss.as_ref().map(|loss| loss.eps.to_string())
}

fn as_text(delta: &Delta, totals: &[Total]) -> String {
    let tightest = Plan::tightest(totals).map(|total| total.accountant);
    let mut text = format!("accountant  epsilon at delta {delta}");
    for total in totals {
        let mark = if tightest == Some(total.accountant) { "  tightest" } else { "" };
        let shown = epsilon(total).unwrap_or_else(|| "does not apply".to_string());
        text = format!("{text}\n{:<10}  {shown}{mark}", total.accountant.name());
    }
    text + "\nFor parameters that are fixed beforehand; a filter keeps parameters that are chosen along the way."
}

fn as_json(delta: &Delta, totals: &[Total]) -> Value {
    let mut object = json!({ "delta": delta.ratio().to_exact() });
    for total in totals {
        let epsilon = total.loss.as_ref().map(|loss| loss.eps.to_bound());
        object[total.accountant.name()] = epsilon.map_or(Value::Null, Value::from);
    }
    object["tightest"] = Plan::tightest(totals).map_or(Value::Null, |total| total.accountant.name().into());
    object
}
