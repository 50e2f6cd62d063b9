//! Plans and releases in words, or as one JSON object.

mod answers;
mod grid;
mod order;
mod percent;
mod query;
mod simulation;
mod summary;

pub(crate) use grid::width;
pub(crate) use order::Order;
pub(crate) use query::rows;
pub(crate) use simulation::{own_title, simulation, simulation_of, simulation_title};

use crate::{Exit, args::Showing, typed};
use equipoise_core::{ratio::Ratio, wording};
use equipoise_session::{
    answer::BatchAnswer,
    bar::{ErrorBar, percent},
    ledger::Balance,
    plan::Plan,
    planned::{PlanSummary, PredictedError},
    release::{Outcome, Promise, Release, Remaining, Spent, WindowStanding},
    statistic::Statistic,
};
pub(crate) use equipoise_session::{
    bar::{printable, value},
    meaning::{amount, blocks as blocks_words, left as left_words},
};
use serde_json::json;

/// Print a plan; nothing of it depends on rows. What earlier releases tell of it comes with a command that would do.
pub(crate) fn plan(
    plan: &Plan,
    balance: Option<&Balance>,
    refused: Option<(String, Option<String>)>,
    showing: &Showing,
) {
    let summary = plan.summary();
    if showing.json {
        let mut document = summary.document(balance);
        if let Some((line, command)) = refused {
            document["would_be_refused"] = json!({ "why": typed(&line), "command": command });
        }
        println!("{document:#}");
        return;
    }
    let (guarantee, charge) = (plan.guarantee(), &summary.charge);
    let remaining = balance.and_then(Balance::remaining);
    warn(&plan.warnings());
    let confidence = summary.error.as_ref().map_or(1.0, ErrorBar::confidence);
    let sure =
        if confidence < 1.0 { format!(" ({} confidence)", percent(confidence)) } else { String::new() };
    let asked = question(plan.statistic(), plan.column().as_deref(), plan.group_by());
    println!("{asked} (planned; nothing was read or charged)");
    if plan.is_batch() {
        for part in &summary.questions {
            println!("  {}", question(&part.statistic, part.column.as_deref(), &part.group_by));
            println!("    expect   {}", typed(&part.expected));
            println!("    cost     {}; {}", amount(&part.cost), part.mechanism);
        }
        if plan.has_one_selection() {
            println!("  keys       found once for all questions");
        }
    } else {
        println!("  expect     {}{sure}", typed(&summary.expected));
        if let Some(likely) = &summary.likely {
            println!("  likely     {}", likely_words(likely));
        }
        for other in summary.runners_up.iter().filter(|other| other.possible || showing.explain) {
            let likely = other.likely.map_or(String::new(), |likely| format!("{}; ", likely_words(&likely)));
            println!("  instead    --mechanism {}: {likely}{}", other.mechanism, typed(&other.expected));
        }
    }
    if let Some((line, command)) = refused {
        println!("  earlier    {}", typed(&line));
        if let Some(command) = command {
            println!("  instead    {command}");
        }
    }
    composed(&summary.guarantee);
    given(&summary.stated);
    rows_line(plan.rows_words(), plan.request().filter.as_deref());
    println!("  privacy    {guarantee}; {}", plan.mechanism());
    windows_lines(&summary.guarantee, &standing(balance));
    println!("  charge     {}", amount(charge));
    match (balance, remaining) {
        (Some(balance), Some(left)) => {
            let left: Remaining = (&left).into();
            println!(
                "  budget     {} spent, {} left{}",
                amount(&balance.spent().into()),
                left_words(&left),
                after(&left, charge)
            );
        }
        (Some(balance), None) => println!("  budget     {} spent, no limit", amount(&balance.spent().into())),
        (None, _) => println!("  budget     nothing spent, no limit"),
    }
}

/// Print what is known of a plan that is no question of the table.
pub(crate) fn summary(summary: &PlanSummary, balance: Option<&Balance>, as_json: bool) {
    if as_json {
        println!("{:#}", summary.document(balance));
        return;
    }
    warn(&summary.warnings);
    let confidence = summary.error.as_ref().map_or(1.0, ErrorBar::confidence);
    let sure =
        if confidence < 1.0 { format!(" ({} confidence)", percent(confidence)) } else { String::new() };
    let asked = question(&summary.statistic, summary.column.as_deref(), &summary.group_by);
    println!("{asked} (planned; nothing was read or charged)");
    println!("  expect     {}{sure}", typed(&summary.expected));
    given(&summary.stated);
    rows_line(summary.rows.clone(), summary.filter.as_deref());
    promised(&summary.guarantee, &summary.mechanism);
    windows_lines(&summary.guarantee, &standing(balance));
    println!("  charge     {}", amount(&summary.charge));
    let spent = balance.map_or("nothing".to_string(), |balance| amount(&balance.spent().into()));
    let left = balance.and_then(Balance::remaining).map_or("no limit".to_string(), |left| {
        let left: Remaining = (&left).into();
        format!("{} left{}", left_words(&left), after(&left, &summary.charge))
    });
    println!("  budget     {spent} spent, {left}");
}

/// What is left after a charge, where the limit is an epsilon and plain sums tell.
fn after(left: &Remaining, charge: &Spent) -> String {
    let number = |text: &str| text.parse::<Ratio>().ok();
    let left = left.epsilon.as_deref().and_then(number).zip(number(&charge.epsilon));
    match left {
        None => String::new(),
        Some((left, charge)) if charge > left => "; this would be over it".to_string(),
        Some((left, charge)) => format!(", epsilon {} after this", (left - charge).to_short_down(6, 12)),
    }
}

/// Say on standard error what protects little; JSON has it in the document.
pub(crate) fn warn(warnings: &[String]) {
    for warning in warnings {
        eprintln!("equipoise: warning: {}", wording::line(&typed(warning)));
    }
}

/// How much of a table is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// So many groups.
    most: usize,
    /// So wide.
    width: usize,
}

/// Print a release; the exit code tells an answer from a refusal. Its groups are brought into the order in which words and
/// pictures show them; JSON has all of them as they were released.
pub(crate) fn release(release: &mut Release, showing: &Showing) -> Exit {
    let exit = match release.outcome {
        Outcome::Released => Exit::Done,
        Outcome::Refused => Exit::Refused,
    };
    if showing.json {
        println!("{}", release.to_lines());
        order::sort(release, showing.order());
        return exit;
    }
    order::sort(release, showing.order());
    let layout = Layout { most: showing.most(), width: grid::width() };
    warn(&release.warnings);
    match &release.answers {
        Some(answers) if release.statistic == "batch" => {
            println!("{} of {} questions answered", released(answers), answers.len());
            for item in answers {
                answers::show(&item.into(), layout);
                if let Some(cost) = &item.cost {
                    println!("  cost       {}; {}", amount(cost), item.mechanism);
                }
            }
            println!("in all");
        }
        _ => answers::show(&(&*release).into(), layout),
    }
    if let Some(blocks) = &release.blocks {
        println!("  blocks     {}", blocks_words(blocks));
    }
    paid(release);
    exit
}

/// Print which rows took part, what is promised and what it cost.
fn paid(release: &Release) {
    let promise = &release.guarantee;
    composed(promise);
    let groups = match promise.max_groups_per_unit {
        None => String::new(),
        Some(1) => " in one group".to_string(),
        Some(groups) => format!(" in at most {groups} groups"),
    };
    let drawn = promise.max_rows_per_unit.map(|rows| match rows {
        1 => format!("one row of each {}{groups}, drawn at random", printable(&promise.unit)),
        rows => format!("at most {rows} rows of each {}{groups}, drawn at random", printable(&promise.unit)),
    });
    let drawn = match (promise.per_unit_words(), drawn) {
        (Some(made), Some(drawn)) => Some(format!("{made}; of other questions {drawn}")),
        (made, drawn) => made.or(drawn),
    };
    given(&release.stated);
    rows_line(drawn.or_else(|| promise.values_words()), release.filter.as_deref());
    promised(promise, &release.mechanism);
    windows_lines(promise, &release.windows);
    let left = release
        .remaining
        .as_ref()
        .map_or("no limit".to_string(), |left| format!("{} left", left_words(left)));
    println!("  budget     {} spent on {}, {left}", amount(&release.spent), release.data);
    if let Some(receipt) = &release.receipt {
        println!("  receipt    {} ({})", receipt.id, receipt.time);
    }
}

/// How the losses of questions were added up, where not as they are.
fn composed(promise: &Promise) {
    if let Some(accountant) = &promise.composition {
        println!(
            "  composed   as concentrated losses ({}) at delta {}, which leaves more to each part",
            printable(accountant),
            promise.delta
        );
    }
}

/// What is not checked, and answered for by whoever asks.
fn given(stated: &[String]) {
    for clause in stated {
        println!("  given      {}", printable(clause));
    }
}

/// What is promised, and by which mechanism.
fn promised(promise: &Promise, mechanism: &str) {
    println!(
        "  privacy    {} for one {} ({}); {mechanism}",
        amount(&Spent { epsilon: promise.epsilon.clone(), delta: promise.delta.clone() }),
        printable(&promise.unit),
        promise.adjacency,
    );
}

/// How the calendar windows stand that something counts in.
fn standing(balance: Option<&Balance>) -> Vec<WindowStanding> {
    balance.map_or(Vec::new(), |balance| balance.windows.iter().map(WindowStanding::from).collect())
}

/// Which calendar windows a promise is about, what is left in those that it is charged in, and what that leaves to who has rows in
/// several.
fn windows_lines(promise: &Promise, standing: &[WindowStanding]) {
    const MOST: usize = 12;
    if let Some(windows) = &promise.windows {
        println!("  windows    what one {} has in {}", printable(&promise.unit), windows.words());
        println!("             {}", windows.adds_up());
    }
    for one in standing.iter().take(MOST) {
        let left = one.remaining.as_ref().map_or("no limit".to_string(), left_words);
        println!("    {} {}: {} spent, {left} left", one.every, one.window, amount(&one.spent));
    }
    if standing.len() > MOST {
        println!("    and {} more", standing.len() - MOST);
    }
}

/// Which rows took part, where not all did.
fn rows_line(drawn: Option<String>, filter: Option<&str>) {
    let filter = filter.map(|filter| format!("where {}", printable(filter)));
    let parts: Vec<String> = drawn.into_iter().chain(filter).collect();
    if !parts.is_empty() {
        println!("  rows       {}", parts.join("; "));
    }
}

fn released(answers: &[BatchAnswer]) -> usize {
    answers.iter().filter(|item| item.outcome == Outcome::Released).count()
}

fn likely_words(likely: &PredictedError) -> String {
    let short: f64 = format!("{:.3e}", likely.error).parse().unwrap_or(likely.error);
    let error = value(&json!(short));
    format!("off by about {error} if {} rows lie evenly in the range", likely.rows)
}

/// What was asked, in short.
fn question(statistic: &str, column: Option<&str>, group_by: &[String]) -> String {
    let named = Statistic::named(statistic);
    let of = match (named, statistic) {
        (Some(Statistic::Share), _) => "of rows where",
        (None, "choose") => "by",
        _ => "of",
    };
    // A distribution function is of the last column that it has answers by.
    let (column, group_by) = match group_by {
        [by @ .., own] if named == Some(Statistic::Ecdf) && column.is_none() => (Some(own.as_str()), by),
        by => (column, by),
    };
    let of = column.map_or(String::new(), |column| format!(" {of} {}", printable(column)));
    let names: Vec<String> = group_by.iter().map(|name| printable(name)).collect();
    let by = if names.is_empty() { String::new() } else { format!(" by {}", names.join(", ")) };
    format!("{statistic}{of}{by}")
}
