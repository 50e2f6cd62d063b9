//! What a release says as lines of a picture: numbers that share a meaning share an axis, and no others.

use super::axis::number;
use super::panel::{Line, Mark, Panel, Style};
use crate::{
    answer::{BatchAnswer, Group},
    bar::{
        ErrorBar, PERCENT, SHARE, Shape, TOGETHER, TOGETHER_IN_GROUP, hundredfold, hundredfold_bar, percent,
        printable, rounded, value, with_signs,
    },
    release::{Outcome, Release},
    statistic::Statistic,
};
use equipoise_core::wording::{self, Surface};
use serde_json::Value;

/// Amounts are drawn as bars from zero; other statistics are values, of which zero says nothing.
const AMOUNTS: [Statistic; 6] = [
    Statistic::Count,
    Statistic::Histogram,
    Statistic::Sum,
    Statistic::Share,
    Statistic::Distinct,
    Statistic::Top,
];
/// The quantiles of a summary.
const SUMMARY: [&str; 5] = ["0.05", "0.25", "0.5", "0.75", "0.95"];

/// How the answers to a statistic of this name are drawn.
fn style_of(statistic: &str) -> Style {
    let is_amount = Statistic::named(statistic).is_some_and(|statistic| AMOUNTS.contains(&statistic));
    if is_amount { Style::Bars } else { Style::Dots }
}

/// One question of a release.
struct Asked<'a> {
    statistic: &'a str,
    value_type: Option<&'a str>,
    outcome: Outcome,
    value: &'a Value,
    error: Option<&'a ErrorBar>,
    groups: Option<&'a [Group]>,
    answers: Option<&'a [BatchAnswer]>,
    advice: Option<&'a str>,
    /// What the numbers of a list are called, where that is known.
    fractions: &'a [String],
}

macro_rules! asked {
    ($source:expr, $fractions:expr) => {
        Asked {
            statistic: &$source.statistic,
            value_type: $source.value_type.as_deref(),
            outcome: $source.outcome,
            value: &$source.value,
            error: $source.error.as_ref(),
            groups: $source.groups.as_deref(),
            answers: $source.answers.as_deref(),
            advice: $source.advice.as_deref(),
            fractions: $fractions,
        }
    };
}

/// The panels of a release, in which nothing is left out. `fractions` are the quantiles that each of its questions asked for.
pub(super) fn panels(release: &Release, fractions: &[Vec<String>], surface: Surface) -> Vec<Panel> {
    let of = |question: usize| fractions.get(question).map_or(&[][..], Vec::as_slice);
    match &release.answers {
        Some(answers) if release.statistic == "batch" => {
            let each = answers.iter().enumerate().flat_map(|(place, item)| {
                let asked = question(&item.statistic, item.column.as_deref(), &item.group_by);
                let name = format!("question {}: {asked}", place + 1);
                let mut panels = of_question(&asked!(item, of(place)), surface);
                for panel in &mut panels {
                    let part = std::mem::take(&mut panel.caption);
                    panel.caption = if part.is_empty() { name.clone() } else { format!("{name}, {part}") };
                }
                panels
            });
            each.collect()
        }
        _ => of_question(&asked!(release, of(0)), surface),
    }
}

/// What was asked, in short.
pub(super) fn question(statistic: &str, column: Option<&str>, group_by: &[String]) -> String {
    // A distribution function is of the last column that it has answers by.
    let (column, group_by) = match group_by {
        [by @ .., own] if statistic == Statistic::Ecdf.name() && column.is_none() => (Some(own.as_str()), by),
        by => (column, by),
    };
    let of = if statistic == Statistic::Share.name() { "of rows where" } else { "of" };
    let of = column.map_or(String::new(), |column| format!(" {of} {}", printable(column)));
    let names: Vec<String> = group_by.iter().map(|name| printable(name)).collect();
    let by = if names.is_empty() { String::new() } else { format!(" by {}", names.join(", ")) };
    format!("{statistic}{of}{by}")
}

fn of_question(asked: &Asked<'_>, surface: Surface) -> Vec<Panel> {
    match (asked.groups, asked.answers) {
        (Some(groups), _) if groups.iter().any(|group| group.answers.is_some()) => of_summaries(groups),
        (Some(groups), _) => vec![of_groups(asked, groups, surface)],
        (None, Some(answers)) => of_summary(answers),
        (None, None) => vec![of_one(asked, surface)],
    }
}

/// One answer, or each of a list.
fn of_one(asked: &Asked<'_>, surface: Surface) -> Panel {
    let error_words = |error: &ErrorBar| match asked.value_type {
        Some(SHARE) => with_signs(&hundredfold_bar(error.clone()).words(&hundredfold(asked.value))),
        _ => error.words(asked.value),
    };
    let mut words: Vec<String> =
        asked.error.iter().map(|error| format!("error: {}", error_words(error))).collect();
    words.extend(
        asked.advice.filter(|_| asked.outcome == Outcome::Refused).map(|advice| wording::on(surface, advice)),
    );
    let panel = |lines| Panel {
        caption: String::new(),
        style: Style::Dots,
        value_type: asked.value_type.map(str::to_string),
        lines,
        words,
    };
    match asked.value {
        Value::Array(values) if !values.is_empty() => {
            let each = values.iter().enumerate().map(|(place, one)| {
                let error = asked.error.map(|error| error.at(place));
                // A set has no first: it is in the order of the alphabet.
                let is_set = asked.error.is_some_and(|error| matches!(error.shape(), Shape::Exact));
                let name = match asked.fractions.get(place) {
                    Some(fraction) => format!("{} {fraction}", asked.statistic),
                    None if is_set => format!("one of the {} {}", asked.statistic, values.len()),
                    None => format!("{} {} of {}", asked.statistic, place + 1, values.len()),
                };
                line(name, Outcome::Released, one, error.as_ref(), asked.value_type)
            });
            panel(each.collect())
        }
        value => panel(vec![line(
            asked.statistic.to_string(),
            asked.outcome,
            value,
            asked.error,
            asked.value_type,
        )]),
    }
}

/// Groups that have an answer each; a list is one line with several dots.
fn of_groups(asked: &Asked<'_>, groups: &[Group], surface: Surface) -> Panel {
    let lines: Vec<Line> = groups
        .iter()
        .map(|group| {
            line(key(&group.key), group.outcome, &group.value, group.error.as_ref(), asked.value_type)
        })
        .collect();
    let style = style_of(asked.statistic);
    let caption = match asked.fractions {
        [] | [_] => String::new(),
        several => format!("quantiles {}", several.join(", ")),
    };
    let words = below(groups.iter().filter_map(|group| group.error.as_ref()));
    let advice = groups.iter().find_map(|group| group.advice.as_deref()).or(asked.advice);
    let advice = advice.map(|advice| format!("groups that were refused: {}", wording::on(surface, advice)));
    let words = words.into_iter().chain(advice).collect();
    Panel { caption, style, value_type: asked.value_type.map(str::to_string), lines, words }
}

/// A summary: its count, what lies among the values, and the deviation, which are three scales.
fn of_summary(answers: &[BatchAnswer]) -> Vec<Panel> {
    let among: Vec<&BatchAnswer> =
        answers.iter().filter(|item| matches!(item.statistic.as_str(), "mean" | "quantiles")).collect();
    let mut panels = Vec::new();
    for item in answers {
        let is_among = among.iter().any(|one| std::ptr::eq(*one, item));
        if is_among && !std::ptr::eq(among[0], item) {
            continue;
        }
        let items = if is_among { among.clone() } else { vec![item] };
        let mut lines = Vec::new();
        for item in &items {
            lines.extend(parts(item));
        }
        let several = |item: &&BatchAnswer| {
            let error = item.error.as_ref()?;
            let name = if items.len() > 1 { format!("{}: ", item.statistic) } else { String::new() };
            Some(format!("{name}{}", error.words(&item.value)))
        };
        let names: Vec<String> = items.iter().map(|item| name_of(item)).collect();
        panels.push(Panel {
            caption: names.join(" and "),
            style: Style::Dots,
            value_type: items[0].value_type.clone(),
            words: items.iter().filter_map(several).collect(),
            lines,
        });
    }
    panels
}

/// One statistic of a summary: a line, or one for each quantile.
fn parts(item: &BatchAnswer) -> Vec<Line> {
    let kind = item.value_type.as_deref();
    match (&item.value, item.outcome) {
        (Value::Array(values), Outcome::Released) => {
            let each = values.iter().enumerate().map(|(place, one)| {
                let error = item.error.as_ref().map(|error| error.at(place));
                let fraction = SUMMARY.get(place).filter(|_| values.len() == SUMMARY.len());
                let name =
                    fraction.map_or(format!("quantile {}", place + 1), |name| format!("quantile {name}"));
                line(name, Outcome::Released, one, error.as_ref(), kind)
            });
            each.collect()
        }
        _ => vec![line(name_of(item), item.outcome, &item.value, item.error.as_ref(), kind)],
    }
}

/// What one answer of several is called: coefficients by their columns.
fn name_of(item: &BatchAnswer) -> String {
    match (item.statistic.as_str(), item.column.as_deref()) {
        ("coefficient", Some(column)) => format!("coefficient of {column}"),
        (statistic, _) => statistic.to_string(),
    }
}

/// The summaries of groups: one panel for each statistic, in which each group has a line.
fn of_summaries(groups: &[Group]) -> Vec<Panel> {
    let first = groups.iter().find_map(|group| group.answers.as_deref()).unwrap_or_default();
    let panel = |(place, of): (usize, &BatchAnswer)| {
        let here = |group: &Group| group.answers.as_ref().and_then(|answers| answers.get(place)).cloned();
        let lines = groups.iter().map(|group| match here(group) {
            None => line(key(&group.key), Outcome::Refused, &Value::Null, None, None),
            Some(item) => line(
                key(&group.key),
                item.outcome,
                &item.value,
                item.error.as_ref(),
                of.value_type.as_deref(),
            ),
        });
        let items: Vec<BatchAnswer> = groups.iter().filter_map(here).collect();
        let style = style_of(&of.statistic);
        let caption = match of.statistic.as_str() {
            "quantiles" => format!("quantiles {}", SUMMARY.join(", ")),
            name => name.to_string(),
        };
        let lines = lines.collect();
        let words = below(items.iter().filter_map(|item| item.error.as_ref()));
        Panel { caption, style, value_type: of.value_type.clone(), lines, words }
    };
    first.iter().enumerate().map(panel).collect()
}

/// What is true of all bars of a panel.
fn below<'a>(bars: impl Iterator<Item = &'a ErrorBar>) -> Vec<String> {
    let bars: Vec<&ErrorBar> = bars.collect();
    let Some(first) = bars.first() else { return Vec::new() };
    let confidence = percent(first.confidence());
    let common = ErrorBar::common_words(bars);
    // What is said of bars that hold at once says it for them.
    let together = common.iter().any(|words| [TOGETHER, TOGETHER_IN_GROUP].contains(&words.as_str()));
    let sure = if together {
        format!("errors with {confidence} confidence")
    } else {
        format!("each error holds on its own ({confidence} confidence)")
    };
    std::iter::once(sure).chain(common).collect()
}

/// One answer with its error, as words and as numbers.
fn line(
    name: String,
    outcome: Outcome,
    of: &Value,
    error: Option<&ErrorBar>,
    value_type: Option<&str>,
) -> Line {
    if outcome == Outcome::Refused {
        return Line { name, note: "refused".to_string(), refused: true, ..Line::default() };
    }
    let measure = match value_type {
        Some("days") => " days",
        Some("seconds") => " seconds",
        Some(SHARE) => PERCENT,
        _ => "",
    };
    let in_percent;
    let (of, error) = if value_type == Some(SHARE) {
        in_percent = (hundredfold(of), error.cloned().map(hundredfold_bar));
        (&in_percent.0, in_percent.1.as_ref())
    } else {
        (of, error)
    };
    let short = error
        .filter(|_| !of.is_null())
        .map_or(String::new(), |error| format!(" ({})", error.short_words(of)));
    let shown = if of.is_null() { "too few rows".to_string() } else { rounded(of, error) };
    let marks = match of {
        Value::Array(values) => {
            let each = values.iter().enumerate();
            each.map(|(place, one)| mark(one, error.map(|error| error.at(place)).as_ref(), value_type))
                .collect()
        }
        one => vec![mark(one, error, value_type)],
    };
    Line { name, note: format!("{shown}{measure}{short}"), marks, truth: None, refused: of.is_null() }
}

fn mark(of: &Value, error: Option<&ErrorBar>, value_type: Option<&str>) -> Mark {
    let middle = number(of, value_type);
    let ends = error.and_then(|error| {
        if let Shape::Within(scale) = error.shape() {
            return middle.map(|middle| [middle - scale, middle + scale]);
        }
        let ends = error.ends()?;
        Some([number(&ends.low, value_type)?, number(&ends.high, value_type)?])
    });
    Mark { value: middle, ends: ends.filter(|_| middle.is_some()) }
}

fn key(of: &Value) -> String {
    match of {
        Value::Array(parts) => parts.iter().map(key).collect::<Vec<_>>().join(", "),
        Value::Null => "(empty)".to_string(),
        other => value(other),
    }
}
