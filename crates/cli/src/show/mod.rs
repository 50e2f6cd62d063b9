//! Plans and releases in words, or as one JSON object.

mod answers;
mod simulation;
mod summary;

pub(crate) use simulation::{simulation, simulation_title};

use crate::{Exit, typed};
use equipoise_core::{ratio::Ratio, wording};
pub(crate) use equipoise_session::bar::{printable, value};
use equipoise_session::{
    answer::Item,
    bar::percent,
    ledger::Balance,
    plan::{Part, Plan, RunnerUp},
    release::{Blocks, Left, Outcome, Release, Spent},
    task::Likely,
};
use serde_json::{Value, json};

/// Print a plan; nothing of it depends on rows.
pub(crate) fn plan(plan: &Plan, balance: Option<&Balance>, as_json: bool) {
    let guarantee = plan.guarantee();
    let remaining = balance.and_then(Balance::remaining);
    let charge = Spent::from(plan.charge());
    if as_json {
        let document = json!({
            "outcome": "planned",
            "statistic": plan.statistic(),
            "column": plan.column(),
            "type": if plan.is_batch() { None } else { plan.parts()[0].answer_type() },
            "group_by": plan.group_by(),
            "questions": plan.is_batch().then(|| plan.parts().iter().map(planned).collect::<Vec<_>>()),
            "data": plan.data(),
            "mechanism": plan.mechanism(),
            "guarantee": {
                "epsilon": plan.cost().eps.to_exact(),
                "delta": plan.cost().delta.to_exact(),
                "adjacency": guarantee.adjacency.to_string(),
                "unit": guarantee.unit.to_string(),
                "max_rows_per_unit": plan.rows_per_unit(),
                "max_groups_per_unit": plan.groups_per_unit(),
            },
            "where": plan.request().filter,
            "error": plan.expected().error,
            "expected": plan.expected().words,
            "likely": plan.parts()[0].likely().map(likely_json),
            "runners_up": plan.parts()[0].runners_up().iter().map(runner_up).collect::<Vec<_>>(),
            "charge": charge,
            "warnings": plan.warnings(),
            "spent": balance.map(|balance| Spent::from(balance.spent())),
            "remaining": remaining.as_ref().map(Left::from),
        });
        println!("{document:#}");
        return;
    }
    warn(&plan.warnings());
    let confidence = plan.expected().error.map_or(1.0, |error| error.confidence());
    let sure =
        if confidence < 1.0 { format!(" ({} confidence)", percent(confidence)) } else { String::new() };
    let asked = question(plan.statistic(), plan.column(), plan.group_by());
    println!("{asked} (planned; nothing was read or charged)");
    if plan.is_batch() {
        for part in plan.parts() {
            let asked =
                question(&part.request().statistic, part.request().column.as_deref(), part.group_by());
            println!("  {asked}");
            println!("    expect   {}", typed(&part.expected().words));
            println!("    cost     {}; {}", amount(&part.cost().into()), part.mechanism());
        }
    } else {
        println!("  expect     {}{sure}", typed(&plan.expected().words));
        if let Some(likely) = plan.parts()[0].likely() {
            println!("  likely     {}", likely_words(&likely));
        }
        for other in plan.parts()[0].runners_up() {
            let likely = other.likely.map_or(String::new(), |likely| format!("{}; ", likely_words(&likely)));
            println!("  instead    --mechanism {}: {likely}{}", other.mechanism, typed(&other.words));
        }
    }
    rows_line(plan.rows_words(), plan.request().filter.as_deref());
    println!("  privacy    {guarantee}; {}", plan.mechanism());
    println!("  charge     {}", amount(&charge));
    match (balance, remaining) {
        (Some(balance), Some(left)) => {
            println!(
                "  budget     {} spent, {} left",
                amount(&balance.spent().into()),
                left_words(&(&left).into())
            );
        }
        (Some(balance), None) => println!("  budget     {} spent, no limit", amount(&balance.spent().into())),
        (None, _) => println!("  budget     nothing spent, no limit"),
    }
}

/// Say on standard error what protects little; JSON has it in the document.
pub(crate) fn warn(warnings: &[String]) {
    for warning in warnings {
        eprintln!("equipoise: warning: {}", wording::line(&typed(warning)));
    }
}

/// Print a release; the exit code tells an answer from a refusal.
pub(crate) fn release(release: &Release, as_json: bool) -> Exit {
    let exit = match release.outcome {
        Outcome::Released => Exit::Done,
        Outcome::Refused => Exit::Refused,
    };
    if as_json {
        println!("{}", release.to_lines());
        return exit;
    }
    warn(&release.warnings);
    match &release.answers {
        Some(answers) if release.statistic == "batch" => {
            println!("{} of {} questions answered", released(answers), answers.len());
            for item in answers {
                answers::show(&item.into());
                if let Some(cost) = &item.cost {
                    println!("  cost       {}; {}", amount(cost), item.mechanism);
                }
            }
            println!("in all");
        }
        _ => answers::show(&release.into()),
    }
    if let Some(blocks) = &release.blocks {
        println!("  blocks     {}", blocks_words(blocks));
    }
    let promise = &release.guarantee;
    let groups = match promise.max_groups_per_unit {
        None => String::new(),
        Some(1) => " in one group".to_string(),
        Some(groups) => format!(" in at most {groups} groups"),
    };
    let drawn = promise.max_rows_per_unit.map(|rows| match rows {
        1 => format!("one row of each {}{groups}, drawn at random", printable(&promise.unit)),
        rows => format!("at most {rows} rows of each {}{groups}, drawn at random", printable(&promise.unit)),
    });
    rows_line(drawn, release.filter.as_deref());
    println!(
        "  privacy    {} for one {} ({}); {}",
        amount(&Spent { epsilon: promise.epsilon.clone(), delta: promise.delta.clone() }),
        printable(&promise.unit),
        promise.adjacency,
        release.mechanism
    );
    let left = release
        .remaining
        .as_ref()
        .map_or("no limit".to_string(), |left| format!("{} left", left_words(left)));
    println!("  budget     {} spent on {}, {left}", amount(&release.spent), release.data);
    if let Some(receipt) = &release.receipt {
        println!("  receipt    {} ({})", receipt.id, receipt.time);
    }
    exit
}

/// Which rows took part, where not all did.
fn rows_line(drawn: Option<String>, filter: Option<&str>) {
    let filter = filter.map(|filter| format!("where {}", printable(filter)));
    let parts: Vec<String> = drawn.into_iter().chain(filter).collect();
    if !parts.is_empty() {
        println!("  rows       {}", parts.join("; "));
    }
}

fn released(answers: &[Item]) -> usize {
    answers.iter().filter(|item| item.outcome == Outcome::Released).count()
}

fn likely_json(likely: Likely) -> Value {
    json!({ "error": likely.error, "if_rows_lie_evenly": likely.rows })
}

fn likely_words(likely: &Likely) -> String {
    let short: f64 = format!("{:.3e}", likely.error).parse().unwrap_or(likely.error);
    let error = value(&json!(short));
    format!("off by about {error} if {} rows lie evenly in the range", likely.rows)
}

fn runner_up(other: &RunnerUp) -> Value {
    json!({
        "mechanism": other.mechanism,
        "possible": other.possible,
        "error": other.error,
        "likely": other.likely.map(likely_json),
        "expected": other.words,
    })
}

/// One question of a planned batch.
fn planned(part: &Part) -> Value {
    json!({
        "statistic": part.request().statistic,
        "column": part.request().column,
        "type": part.answer_type(),
        "group_by": part.group_by(),
        "mechanism": part.mechanism(),
        "cost": Spent::from(part.cost()),
        "error": part.expected().error,
        "expected": part.expected().words,
        "likely": part.likely().map(likely_json),
        "runners_up": part.runners_up().iter().map(runner_up).collect::<Vec<_>>(),
    })
}

/// What was asked, in short.
fn question(statistic: &str, column: Option<&str>, group_by: &[String]) -> String {
    let of = column.map_or(String::new(), |column| format!(" of {}", printable(column)));
    let names: Vec<String> = group_by.iter().map(|name| printable(name)).collect();
    let by = if names.is_empty() { String::new() } else { format!(" by {}", names.join(", ")) };
    format!("{statistic}{of}{by}")
}

/// About how many blocks answered, where that was paid for.
pub(crate) fn blocks_words(blocks: &Blocks) -> String {
    let Blocks { count, answered, answered_within, confidence, .. } = blocks;
    match (answered, answered_within) {
        (Some(answered), Some(within)) => {
            let shown = (*answered).clamp(0, i64::try_from(*count).unwrap_or(i64::MAX));
            format!(
                "about {shown} of {count} answered (off by at most {within}, {} confidence)",
                percent(*confidence)
            )
        }
        _ => format!("{count}; how many answered is not told, because a default was stated"),
    }
}

/// Epsilon, and delta where there is one. Long numbers are rounded up for people; JSON has them whole.
pub(crate) fn amount(spent: &Spent) -> String {
    let epsilon = short_up(&spent.epsilon);
    if spent.delta == "0" {
        format!("epsilon {epsilon}")
    } else {
        format!("epsilon {epsilon}, delta {}", short_up(&spent.delta))
    }
}

/// What a limit leaves, in its currency. Long numbers are rounded down.
pub(crate) fn left_words(left: &Left) -> String {
    let and_delta = |loss: String| {
        if left.delta == "0" { loss } else { format!("{loss}, delta {}", short_down(&left.delta)) }
    };
    match left {
        Left { rho: Some(rho), .. } => and_delta(format!("rho {}", short_down(rho))),
        Left { order: Some(order), divergence: Some(divergence), .. } => {
            and_delta(format!("divergence {} at order {order}", short_down(divergence)))
        }
        Left { epsilon, .. } => {
            and_delta(format!("epsilon {}", epsilon.as_deref().map_or("0".to_string(), short_down)))
        }
    }
}

/// What was spent, short enough for people and not below.
pub(crate) fn short_up(exact: &str) -> String {
    exact.parse().map_or(exact.to_string(), |number: Ratio| number.to_short_up(6, 12))
}

/// What is left, short enough for people and not above.
fn short_down(exact: &str) -> String {
    exact.parse().map_or(exact.to_string(), |number: Ratio| number.to_short_down(6, 12))
}
