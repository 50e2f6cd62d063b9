//! One answer in words: a value, a table of groups, or a refusal.

use crate::typed;

use super::{
    Layout,
    grid::{Grid, Laid},
    percent,
    percent::Percents,
    printable, question, summary,
};
use equipoise_session::{
    answer::{BatchAnswer, Group},
    bar::{
        Condition, ErrorBar, PERCENT, SHARE, rare_keys_words, rounded, rows_words, table_ranks_words,
        with_signs,
    },
    release::{Outcome, Release},
    statistic::Statistic,
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
    keys_from: Option<u64>,
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
                    keys_from: source.keys_from,
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
        Some(SHARE) => PERCENT,
        _ => "",
    }
}

/// What the quantiles of a summary are called.
const SUMMARY: &str = "quantiles 0.05 0.25 0.5 0.75 0.95";

pub(super) fn show(shown: &Shown<'_>, layout: Layout) {
    let percents = Percents::of(shown);
    let shown = &percents.as_ref().map_or(shown.clone(), |percents| percents.shown(shown));
    let question = question(shown.statistic, shown.column, shown.group_by);
    match (shown.groups, shown.outcome) {
        (Some(groups), outcome) if !groups.is_empty() => {
            println!("{question}{}", if outcome == Outcome::Refused { ": refused" } else { "" });
            let laid = table(shown, &groups[..groups.len().min(layout.most)], layout.width);
            println!("{}", laid.lines.join("\n"));
            if groups.len() > layout.most {
                println!("  … {} more, use --json, or --show {}", groups.len() - layout.most, groups.len());
            }
            if laid.cut {
                println!("  … stands where a text is too long for this width; --json has all of it");
            }
        }
        (_, Outcome::Refused) => println!("{question}: refused"),
        _ if shown.answers.is_some() => println!("{question}"),
        (_, Outcome::Released) => {
            let limits = shown.error.and_then(ErrorBar::limits_words);
            let limits = limits.map_or(String::new(), |limits| format!(", {limits}"));
            println!("{question}{limits}: {}{}", rounded(shown.value, shown.error), shown.measure);
        }
    }
    if let Some(groups) = shown.groups {
        if let Some((holds, about)) =
            ErrorBar::table_words(groups.iter().filter_map(|group| group.error.as_ref()))
        {
            println!("  error      {holds}");
            for words in about {
                println!("  about      {words}");
            }
        }
        if let Some(words) = ranks(shown.statistic, groups) {
            println!("  ranks      {words}");
        }
        if let Some(confidence) = groups.iter().find_map(|group| Some(summary::error(group)?.confidence())) {
            let answers = groups.iter().flat_map(|group| group.answers.iter().flatten());
            let rounded = rounding(answers.filter_map(|item| item.error.as_ref()));
            println!(
                "  error      each holds on its own, and the quantiles of a group all at once ({} confidence){rounded}; --json has \
                 all digits",
                percent(confidence)
            );
            if let Some(words) = summary::common_limits(groups) {
                println!("  about      {words}");
            }
        }
        if let Some(rows) = shown.keys_from.filter(|_| shown.outcome == Outcome::Released) {
            println!("  about      {}", rare_keys_words(rows));
        }
        if let Some(advice) = groups.iter().find_map(|group| group.advice.as_ref().or(summary::advice(group)))
        {
            println!("  advice     for groups that were refused: {}", typed(advice));
        }
    }
    for item in shown.answers.unwrap_or_default() {
        let name = match (item.statistic.as_str(), item.column.as_deref()) {
            ("quantiles", _) => SUMMARY.to_string(),
            ("coefficient", Some(column)) => format!("coefficient of {}", printable(column)),
            (statistic, _) => statistic.to_string(),
        };
        match (item.outcome, &item.error) {
            (Outcome::Released, error) => {
                let rows = || item.rows.or_else(|| counted(shown.answers.unwrap_or_default()));
                let error = error.as_ref().map_or_else(
                    || NO_BAR.to_string(),
                    |error| match rows().filter(|_| error.in_ranks().is_some()) {
                        Some(rows) => {
                            error.words(&item.value) + &rows_words(&item.statistic, rows, error, &item.value)
                        }
                        None => error.words(&item.value),
                    },
                );
                println!("  {name:<34} {}", rounded(&item.value, item.error.as_ref()));
                println!("    error    {error}");
            }
            (Outcome::Refused, _) => {
                println!("  {name:<34} refused: {}", typed(item.advice.as_deref().unwrap_or_default()));
            }
        }
    }
    if let Some(words) = shown.answers.and_then(|answers| ranges(answers, shown.rows)) {
        println!("  about      {words}");
    }
    if let Some(error) = shown.error {
        let rows =
            shown.rows.map_or(String::new(), |rows| rows_words(shown.statistic, rows, error, shown.value));
        let words = error.words(shown.value);
        let words = if percents.is_some() { with_signs(&words) } else { words };
        println!("  error      {words}{rows}");
    }
    if let Some(advice) = shown.advice {
        println!("  advice     {}", typed(advice));
    }
}

/// What ranks mean in a table of groups.
fn ranks(statistic: &str, groups: &[Group]) -> Option<String> {
    let own = groups.iter().filter_map(|group| Some((group.rows, group.error.as_ref()?)));
    // Of summaries, those of their quantiles; rows are what each counted.
    let of_summaries = groups.iter().flat_map(|group| {
        let answers = group.answers.as_deref().unwrap_or_default();
        answers.iter().filter_map(|item| Some((counted(answers), item.error.as_ref()?)))
    });
    table_ranks_words(statistic, &own.chain(of_summaries).collect::<Vec<_>>())
}

/// How many rows a summary counted.
fn counted(answers: &[BatchAnswer]) -> Option<i64> {
    answers.iter().find(|item| item.statistic == Statistic::Count.name()).and_then(|item| item.value.as_i64())
}

/// Why a coefficient of a regression has none.
const NO_BAR: &str =
    "none: as far as noise tells, the columns that explain may be combinations of each other";

/// What the bars of a regression are about: the ranges that rows were moved into, by column.
fn ranges(answers: &[BatchAnswer], rows: Option<i64>) -> Option<String> {
    let ranges = answers.iter().find_map(|item| item.error.as_ref()?.each_limited_to())?;
    let explains = answers.iter().filter(|item| item.statistic == "coefficient");
    let names = explains.chain(answers.first()).filter_map(|item| item.column.as_deref());
    let each = names.zip(ranges).map(|(name, [low, high])| {
        let [low, high] = [low, high].map(|end| rounded(&serde_json::json!(end), None));
        format!("{} {low} to {high}", printable(name))
    });
    let each: Vec<String> = each.collect();
    let rows = rows.map_or(String::new(), |rows| format!("; about {rows} rows"));
    Some(format!("the bars hold at once, of rows limited to {}{rows}", each.join(", ")))
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

/// Groups as a table: a column for each part of the key, the answer, and its error in short. Where that is too wide, the
/// numbers of a list stand one below another, and so do the statistics of a summary.
fn table(shown: &Shown<'_>, groups: &[Group], width: usize) -> Laid {
    let is_summary = groups.iter().any(|group| group.answers.is_some());
    let (wide, tall) = if is_summary {
        (summaries(shown, groups, false), true)
    } else {
        (lists(shown, groups, false), false)
    };
    let laid = wide.laid(width);
    if laid.fits && !laid.cut {
        return laid;
    }
    let narrow = if tall { summaries(shown, groups, true) } else { lists(shown, groups, true) };
    narrow.laid(width)
}

/// The heads of the key columns, which may be cut.
fn key_heads<'a>(shown: &Shown<'a>) -> impl Iterator<Item = (String, bool)> + use<'a> {
    shown.group_by.iter().map(|name| (printable(name), true))
}

/// Groups with an answer each; `tall` has the numbers of a list one below another.
fn lists(shown: &Shown<'_>, groups: &[Group], tall: bool) -> Grid {
    let answer = match shown.measure {
        "" => "answer".to_string(),
        measure => format!("answer in{measure}"),
    };
    // An answer that is a text out of the rows may be long too.
    let texts = groups.iter().any(|group| group.value.is_string());
    let heads = [(answer, texts), ("error".to_string(), false)];
    let mut grid = Grid::new(key_heads(shown).chain(heads));
    for group in groups {
        let (answer, error) = match (group.outcome, &group.error, &group.value) {
            (Outcome::Refused, ..) => ("refused".to_string(), String::new()),
            (Outcome::Released, Some(error), Value::Array(values)) if tall => {
                let each = values.iter().enumerate().map(|(place, value)| match value {
                    Value::Null => ("too few rows".to_string(), " ".to_string()),
                    value => {
                        let error = error.at(place);
                        (rounded(value, Some(&error)), error.short_words(value))
                    }
                });
                let (answers, errors): (Vec<String>, Vec<String>) = each.unzip();
                (answers.join("\n"), errors.join("\n"))
            }
            (Outcome::Released, error, value) => {
                let words = error.as_ref().map_or(String::new(), |error| error.short_words(value));
                (rounded(value, error.as_ref()), words)
            }
        };
        grid.row(keys(group).into_iter().chain([answer, error]));
    }
    grid
}

/// Groups with a summary each; `tall` has its statistics one below another.
fn summaries(shown: &Shown<'_>, groups: &[Group], tall: bool) -> Grid {
    let first = groups.iter().find_map(|group| group.answers.as_deref()).unwrap_or_default();
    // A range that differs by group stands with each bar.
    let own = summary::common_limits(groups).is_none();
    if !tall {
        let heads = summary::columns(first).into_iter().map(|name| (name, false));
        let mut grid = Grid::new(key_heads(shown).chain(heads));
        for group in groups {
            grid.row(
                keys(group)
                    .into_iter()
                    .chain(summary::cells(group.answers.as_deref().unwrap_or_default(), own)),
            );
        }
        return grid;
    }
    let heads = ["statistic", "answer", "error"].map(|head| (head.to_string(), false));
    let mut grid = Grid::new(key_heads(shown).chain(heads));
    for group in groups {
        let answers = group.answers.as_deref().unwrap_or_default();
        let cells = summary::cells(answers, own);
        let (values, errors): (Vec<&str>, Vec<&str>) =
            cells.iter().map(|cell| cell.split_once('\n').unwrap_or((cell, " "))).unzip();
        let cells = [summary::columns(answers).join("\n"), values.join("\n"), errors.join("\n")];
        grid.row(keys(group).into_iter().chain(cells));
    }
    grid
}

/// The parts of a group's key.
fn keys(group: &Group) -> Vec<String> {
    match &group.key {
        Value::Array(keys) => keys.iter().map(key).collect(),
        one => vec![key(one)],
    }
}

fn key(key: &Value) -> String {
    key.as_str().map_or("(empty)".to_string(), printable)
}
