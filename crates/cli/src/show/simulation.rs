//! What many trials came to, in words: a few lines for one number or text, a table for several.

use super::{printable, question, value};
use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets::NOTHING};
use equipoise_session::{
    bar::{ErrorBar, rounded},
    plan::{Part, Plan},
    planned::PlanSummary,
    simulate::{Series, Simulation},
};
use serde_json::{Value, json};

/// So many lines of a table are shown.
const MOST: usize = 12;
/// So many different texts are shown of one answer.
const MOST_TEXTS: usize = 5;

/// What was asked, at which price.
pub(crate) fn simulation_title(plan: &Plan) -> String {
    let asked = if plan.is_batch() { "batch".to_string() } else { asked(&plan.parts()[0]) };
    format!("{asked}, epsilon {}", plan.cost().eps)
}

fn asked(part: &Part) -> String {
    question(&part.request().statistic, part.request().column_words().as_deref(), part.group_by())
}

/// Show what each question came to.
pub(crate) fn simulation(plan: &Plan, simulation: &Simulation) {
    let parts: Vec<String> = plan.parts().iter().map(asked).collect();
    let names: Vec<Option<&str>> =
        parts.iter().map(|part| plan.is_batch().then_some(part.as_str())).collect();
    simulation_of(&simulation_title(plan), &names, simulation);
}

/// What a count of a graph or a choice is called, at which price.
pub(crate) fn own_title(summary: &PlanSummary) -> String {
    let asked = question(&summary.statistic, summary.column.as_deref(), &summary.group_by);
    format!("{asked}, epsilon {}", summary.guarantee.epsilon)
}

/// Show what each part came to, those that have a name under it.
pub(crate) fn simulation_of(title: &str, parts: &[Option<&str>], simulation: &Simulation) {
    println!("{title} (simulated; nothing was charged or released)");
    for (number, part) in parts.iter().enumerate() {
        if let Some(name) = part {
            println!("{name}");
        }
        println!("  trials     {}, {} refused", simulation.trials.len(), simulation.refused(number));
        let series: Vec<&Series> = simulation.of(number).collect();
        match series[..] {
            [one] if one.key.is_none() => alone(one, simulation.trials.len()),
            [] => {}
            _ => table(&series, simulation.trials.len()),
        }
    }
    if let Some(unsaid) = simulation.unsaid.filter(|&unsaid| unsaid > 0) {
        println!("  missing    {}", unsaid_words(unsaid));
    }
}

fn unsaid_words(keys: u64) -> String {
    match keys {
        1 => "1 key that rows have was released in no trial".to_string(),
        many => format!("{many} keys that rows have were released in no trial"),
    }
}

/// One number or text.
fn alone(series: &Series, trials: usize) {
    if let Some(spread) = series.spread() {
        let [median, low, high] = [&spread.median, &spread.low, &spread.high].map(|one| beside(one, series));
        println!("  answers    median {median}, nine of ten between {low} and {high}");
    } else if !series.values.is_empty() {
        println!("  answers    {}", texts(series, trials));
    }
    if let Some(truth) = series.truth() {
        let half = half_within(series, series.number(&truth));
        let half = half.map_or_else(String::new, |half| format!("; half of the answers are within {half}"));
        let whole = if series.all_rows.is_some() { " of all rows" } else { "" };
        println!("  truth      {}{whole}{half}", beside(&truth, series));
    }
    if let Some(drawn) = series.truth_drawn() {
        println!(
            "  drawn      truth {} of the rows drawn, in the middle one of the trials",
            beside(&drawn, series)
        );
    }
    if series.bars > 0 {
        let judged = match (series.all_rows.is_some(), series.moved_by()) {
            (true, Some(_)) => ", each for the rows drawn as they were limited",
            (true, None) => ", each for the rows drawn",
            (false, Some(_)) => " for rows as they were limited",
            (false, None) => "",
        };
        println!("  bars       {} of {} held{judged}{}", series.held, series.bars, promised(series));
        if let Some(moved) = series.moved_by() {
            println!(
                "  limits     {} of {} bars hold the truth without limits, which limiting moved by {} in the middle one of the trials",
                series.held_plainly,
                series.moved.len(),
                beside(&json!(moved), series)
            );
        }
    }
}

/// A number in the digits that answers agree in: nine of ten of them stand for a bar.
fn beside(one: &Value, series: &Series) -> String {
    // Where nothing was released no answer says how many digits are worth it.
    let (Some(spread), Some(number)) = (series.spread(), one.as_f64()) else {
        let six = one
            .as_f64()
            .filter(|_| one.is_f64())
            .and_then(|number| format!("{number:.5e}").parse::<f64>().ok());
        return six.map_or_else(|| value(one), |six| value(&json!(six)));
    };
    let half = (series.number(&spread.high) - series.number(&spread.low)) / 2.0;
    if half > 0.0 && half.is_finite() {
        rounded(one, Some(&ErrorBar::noise(0.9, number - half, number + half)))
    } else {
        value(one)
    }
}

/// How often the bars say that they hold.
fn promised(series: &Series) -> String {
    let stated = series.confidence.filter(|&confidence| confidence < 1.0);
    stated.map_or_else(String::new, |confidence| format!(" ({} confidence)", super::percent(confidence)))
}

/// The most frequent answers and their shares.
fn texts(series: &Series, trials: usize) -> String {
    let answers = series.frequent();
    let more = answers.len().saturating_sub(MOST_TEXTS);
    let mut said: Vec<String> = answers
        .iter()
        .take(MOST_TEXTS)
        .map(|(answer, times)| format!("{} in {times} of {trials}", value(answer)))
        .collect();
    if more > 0 {
        said.push(format!("{more} others"));
    }
    said.join(", ")
}

/// How far half of the answers are from the true one at most.
fn half_within(series: &Series, truth: f64) -> Option<String> {
    if series.frequent || !truth.is_finite() {
        return None;
    }
    let mut errors: Vec<f64> = series.numbers().iter().map(|number| (number - truth).abs()).collect();
    errors.sort_unstable_by(f64::total_cmp);
    let half = errors.get(errors.len() / 2)?;
    Some(match series.value_type.as_deref() {
        Some("date" | "days") => format!("{half} days"),
        Some("timestamp" | "seconds") => format!("{half} seconds"),
        _ => beside(&json!(half), series),
    })
}

/// Several numbers and texts, a line each.
fn table(series: &[&Series], trials: usize) {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(super::grid::width()).unwrap_or(u16::MAX));
    let texts_only = series[0].frequent;
    let drawn = series.iter().any(|series| series.all_rows.is_some());
    let mut header = if texts_only {
        vec!["", "released", "answers"]
    } else {
        vec!["", "released", "median", "nine of ten between"]
    };
    header.extend(if drawn { vec!["truth of all rows", "of rows drawn"] } else { vec!["truth"] });
    let limited = series.iter().any(|series| !series.moved.is_empty());
    header.push(if limited { "bars held for limited rows" } else { "bars held" });
    header.extend(limited.then_some("without limits"));
    table.set_header(header);
    let name = &series[0].name;
    let alike = series.iter().all(|series| &series.name == name);
    for series in series.iter().take(MOST) {
        let refused =
            if series.refused > 0 { format!(", {} refused", series.refused) } else { String::new() };
        let mut cells = vec![
            format!("  {}", printable(&series.label(alike))),
            format!("{} of {trials}{refused}", series.values.len()),
        ];
        match series.spread() {
            _ if texts_only => cells.push(texts(series, trials)),
            Some(spread) => {
                let [median, low, high] =
                    [&spread.median, &spread.low, &spread.high].map(|one| beside(one, series));
                cells.push(median);
                cells.push(format!("{low} and {high}"));
            }
            None => cells.extend([String::new(), String::new()]),
        }
        cells.push(series.truth().map_or_else(String::new, |truth| beside(&truth, series)));
        if drawn {
            cells.push(series.truth_drawn().map_or_else(String::new, |truth| beside(&truth, series)));
        }
        let share = |held: usize, of: usize| if of > 0 { format!("{held} of {of}") } else { String::new() };
        cells.push(share(series.held, series.bars));
        if limited {
            cells.push(share(series.held_plainly, series.moved.len()));
        }
        table.add_row(cells);
    }
    // What a line is about is not broken, and numbers rather than words are.
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::ContentWidth);
    }
    println!("{table}");
    if series.len() > MOST {
        println!("  more       {} more lines; --json has all", series.len() - MOST);
    }
    let judged = series.iter().find(|series| series.bars > 0);
    if let Some(confidence) = judged.map(|series| promised(series)).filter(|words| !words.is_empty()) {
        println!("  bars       each says that it holds{confidence}");
    }
}
