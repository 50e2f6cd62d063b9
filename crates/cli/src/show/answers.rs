//! One answer in words: a value, a table of groups, or a refusal.

use crate::typed;

use super::{
    percent,
    percent::{PERCENT, Percents},
    printable, question, summary,
};
use comfy_table::{Table, presets::NOTHING};
use equipoise_session::{
    answer::{BatchAnswer, Group},
    bar::{Condition, ErrorBar, rounded},
    release::{Outcome, Release},
};
use serde_json::Value;

/// What a release and one answer of a batch share.
#[derive(Clone)]
pub(super) struct Shown<'a> {
    statistic: &'a str,
    column: Option<&'a str>,
    group_by: &'a [String],
    outcome: Outcome,
    pub(super) value: &'a Value,
    pub(super) measure: &'static str,
    pub(super) error: Option<&'a ErrorBar>,
    rows: Option<i64>,
    pub(super) groups: Option<&'a [Group]>,
    answers: Option<&'a [BatchAnswer]>,
    advice: Option<&'a str>,
}

macro_rules! shown_from {
    ($source:ty) => {
        impl<'a> From<&'a $source> for Shown<'a> {
            fn from(source: &'a $source) -> Self {
                Self {
                    statistic: &source.statistic,
                    column: source.column.as_deref(),
                    group_by: &source.group_by,
                    outcome: source.outcome,
                    value: &source.value,
                    measure: measure(source.value_type.as_deref()),
                    error: source.error.as_ref(),
                    rows: source.rows,
                    groups: source.groups.as_deref(),
                    answers: source.answers.as_deref(),
                    advice: source.advice.as_deref(),
                }
            }
        }
    };
}

shown_from!(Release);
shown_from!(BatchAnswer);

/// What an answer is measured in, to stand behind it.
fn measure(value_type: Option<&str>) -> &'static str {
    match value_type {
        Some("days") => " days",
        Some("seconds") => " seconds",
        Some("share") => PERCENT,
        _ => "",
    }
}

/// How many groups a table shows.
const LONGEST_TABLE: usize = 10_000;

/// What the quantiles of a summary are called.
const SUMMARY: &str = "quantiles 0.05 0.25 0.5 0.75 0.95";

pub(super) fn show(shown: &Shown<'_>) {
    let percents = Percents::of(shown);
    let shown = &percents.as_ref().map_or(shown.clone(), |percents| percents.shown(shown));
    let question = question(shown.statistic, shown.column, shown.group_by);
    match (shown.groups, shown.outcome) {
        (Some(groups), outcome) if !groups.is_empty() => {
            println!("{question}{}", if outcome == Outcome::Refused { ": refused" } else { "" });
            println!("{}", table(shown, &groups[..groups.len().min(LONGEST_TABLE)]));
            if groups.len() > LONGEST_TABLE {
                println!("  and {} more groups, which --json shows", groups.len() - LONGEST_TABLE);
            }
        }
        (_, Outcome::Refused) => println!("{question}: refused"),
        _ if shown.answers.is_some() => println!("{question}"),
        (_, Outcome::Released) => {
            println!("{question}: {}{}", rounded(shown.value, shown.error), shown.measure);
        }
    }
    if let Some(groups) = shown.groups {
        if let Some(confidence) = groups.iter().find_map(|group| Some(group.error.as_ref()?.confidence())) {
            println!("  error      each holds on its own ({} confidence)", percent(confidence));
            for words in ErrorBar::common_words(groups.iter().filter_map(|group| group.error.as_ref())) {
                println!("  about      {words}");
            }
        }
        if let Some(confidence) = groups.iter().find_map(|group| Some(summary::error(group)?.confidence())) {
            let answers = groups.iter().flat_map(|group| group.answers.iter().flatten());
            let rounded = rounding(answers.filter_map(|item| item.error.as_ref()));
            println!(
                "  error      below each answer; each holds on its own, and the quantiles of a group all at once ({} \
                 confidence){rounded}; --json has all digits, and the ranges that rows were moved into",
                percent(confidence)
            );
        }
        if let Some(advice) = groups.iter().find_map(|group| group.advice.as_ref().or(summary::advice(group)))
        {
            println!("  advice     for groups that were refused: {}", typed(advice));
        }
    }
    for item in shown.answers.unwrap_or_default() {
        let name = if item.statistic == "quantiles" { SUMMARY } else { item.statistic.as_str() };
        match (item.outcome, &item.error) {
            (Outcome::Released, error) => {
                let error = error.as_ref().map_or(String::new(), |error| error.words(&item.value));
                println!("  {name:<34} {}", rounded(&item.value, item.error.as_ref()));
                println!("    error    {error}");
            }
            (Outcome::Refused, _) => {
                println!("  {name:<34} refused: {}", typed(item.advice.as_deref().unwrap_or_default()));
            }
        }
    }
    if let Some(error) = shown.error {
        let rows = shown.rows.map_or(String::new(), |rows| format!("; about {} rows", rows.max(0)));
        println!("  error      {}{rows}", error.words(shown.value));
    }
    if let Some(advice) = shown.advice {
        println!("  advice     {}", typed(advice));
    }
}

/// What was done to the rows of all groups before they were ranked, where they are rounded: the cells of a table have no room
/// for it.
fn rounding<'a>(mut errors: impl Iterator<Item = &'a ErrorBar>) -> String {
    let digits = errors.find_map(|error| {
        error.conditions().iter().find_map(|condition| match condition {
            Condition::RoundedTo(digits) => Some(*digits),
            _ => None,
        })
    });
    digits.map_or(String::new(), |digits| format!("; rows rounded to at least {digits} significant digits"))
}

/// Groups as a table: a column for each part of the key, the answer, and its error in short.
fn table(shown: &Shown<'_>, groups: &[Group]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    let answer = match shown.measure {
        "" => "answer".to_string(),
        measure => format!("answer in{measure}"),
    };
    let columns = match groups.iter().find_map(|group| group.answers.as_deref()) {
        Some(answers) => summary::columns(answers),
        None => vec![answer, "error".into()],
    };
    let head = shown.group_by.iter().map(|name| printable(name)).chain(columns);
    // Indented like everything else, in the first column.
    table.set_header(head.enumerate().map(|(place, text)| indented(place, &text)));
    for group in groups {
        let keys: Vec<String> = match &group.key {
            Value::Array(keys) => keys.iter().map(key).collect(),
            one => vec![key(one)],
        };
        if let Some(answers) = &group.answers {
            let cells = keys.into_iter().chain(summary::cells(answers));
            table.add_row(cells.enumerate().map(|(place, text)| indented(place, &text)));
            continue;
        }
        let (answer, error) = match (group.outcome, &group.error) {
            (Outcome::Released, error) => {
                let error = error.as_ref().map_or(String::new(), |error| error.short_words(&group.value));
                (rounded(&group.value, group.error.as_ref()), error)
            }
            (Outcome::Refused, _) => ("refused".to_string(), String::new()),
        };
        let cells = keys.into_iter().chain([answer, error]);
        table.add_row(cells.enumerate().map(|(place, text)| indented(place, &text)));
    }
    table
}

fn indented(place: usize, text: &str) -> String {
    if place == 0 { format!("  {text}") } else { text.to_string() }
}

fn key(key: &Value) -> String {
    key.as_str().map_or("(empty)".to_string(), printable)
}
