//! A charge and its answer in a paragraph, for a paper or a privacy board: one text for the command line and the server.

use crate::{
    bar::{printable, rounded},
    ledger::{Cost, Entry, Event, Ledger, LedgerError, Limit},
    log,
    meaning::{self, amount, percent_of, short_up},
    release::{Outcome, Promise, Release, Spent},
    statistic::Statistic,
};
use equipoise_core::wording::{self, Surface};
use serde_json::{Value, json};
use std::fmt;

/// What is asked of more than one column.
const TWO_COLUMNS: [Statistic; 3] = [Statistic::Correlation, Statistic::Covariance, Statistic::Regression];

/// A charge with its answer, explained.
pub struct Explanation {
    /// The paragraph.
    pub words: String,
    /// The paragraph and everything that it is made of, as one JSON object.
    pub document: Value,
}

/// Why there is no explanation. `Display` is one line.
#[derive(Debug)]
pub enum Unexplained {
    /// There is no charge with this id.
    Unknown,
    /// The charge was written by another version.
    OfAnotherVersion,
    /// The ledger cannot be read.
    Ledger(LedgerError),
}

impl fmt::Display for Unexplained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("there is no such receipt in this ledger"),
            Self::OfAnotherVersion => {
                f.write_str("this charge was written by another version; see 'equipoise budget log --json'")
            }
            Self::Ledger(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Unexplained {}

impl From<LedgerError> for Unexplained {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

/// Explain the charge with this id. `surface` is how options are typed where advice names some.
pub fn explain(opened: &Ledger, id: &str, surface: Surface) -> Result<Explanation, Unexplained> {
    let (entry, recorded) = opened.find(id)?.ok_or(Unexplained::Unknown)?;
    let Event::Charged { cost, request, question, .. } = &entry.event else {
        return Err(Unexplained::Unknown);
    };
    let question: Value = serde_json::from_str(question).unwrap_or_default();
    let promise: Promise =
        serde_json::from_value(question["guarantee"].clone()).map_err(|_| Unexplained::OfAnotherVersion)?;
    let kept = recorded.as_ref().map_or(Kept::Lost, |kept| {
        serde_json::from_str(&kept.release)
            .map_or(Kept::OfAnotherVersion, |release| Kept::Release(Box::new(release)))
    });
    let data = entry.data_set.clone().unwrap_or_default();
    let share = share(opened, &entry, cost)?;
    let charge = Charge { time: &entry.time, cost: &Spent::from(&cost.approx), share: &share };
    let words = paragraph(&data, &question, &promise, &charge, &kept, surface);
    let words = words + &changes(opened, &entry)?;
    let document = json!({
        "receipt": id, "time": entry.time, "data": data,
        "request": serde_json::from_str::<Value>(request).unwrap_or_default(),
        "question": question, "charge": Spent::from(&cost.approx),
        "release": kept.release().map(Release::to_json), "lost": recorded.is_none(), "explanation": words,
    });
    Ok(Explanation { words, document })
}

/// What became of the answer.
#[derive(PartialEq)]
enum Kept {
    /// It was recorded, and can be read.
    Release(Box<Release>),
    /// It was recorded, and has fields that only another version understands.
    OfAnotherVersion,
    /// It was never recorded.
    Lost,
}

impl Kept {
    fn release(&self) -> Option<&Release> {
        match self {
            Self::Release(release) => Some(release),
            Self::OfAnotherVersion | Self::Lost => None,
        }
    }
}

/// What a reader must know where the data set ever began anew for another unit or adjacency.
fn changes(opened: &Ledger, charge: &Entry) -> Result<String, LedgerError> {
    let name = charge.data_set.as_deref().unwrap_or_default();
    let Some(now) = opened.data_set(name)? else { return Ok(String::new()) };
    if !opened.counts(charge)? {
        return Ok(format!(
            " Since then the data set counts for {}: this charge is kept, is no part of the sum in force, and is not bounded by it.",
            now.words()
        ));
    }
    let earlier = opened.earlier(Some(name))?;
    let told: Vec<String> = earlier.iter().map(|earlier| log::earlier_words(earlier, &now)).collect();
    Ok(if told.is_empty() { String::new() } else { format!(" {}.", told.join(". ")) })
}

/// When it was charged, how much, and which part of the limit that is.
struct Charge<'a> {
    time: &'a str,
    cost: &'a Spent,
    share: &'a str,
}

/// Which part of the data set's limit a charge is, where the limit in force is in the same currency and counts it.
fn share(opened: &Ledger, entry: &Entry, cost: &Cost) -> Result<String, LedgerError> {
    let name = entry.data_set.as_deref().unwrap_or_default();
    let limit = opened.balance(name, None)?.data_set.limit;
    let Some(Limit::Approx(limit)) = limit.filter(|_| opened.counts(entry).unwrap_or(false)) else {
        return Ok(String::new());
    };
    let share = percent_of(cost.approx.eps.ratio().to_f64(), limit.eps.ratio().to_f64());
    let whole = amount(&Spent::from(&limit));
    Ok(share.map_or(String::new(), |share| format!(", {share} of the limit of {whole}")))
}

fn paragraph(
    data: &str,
    question: &Value,
    promise: &Promise,
    charge: &Charge<'_>,
    kept: &Kept,
    surface: Surface,
) -> String {
    let Charge { time, cost, share } = charge;
    let release = kept.release();
    let text = |name: &str| question[name].as_str().unwrap_or_default();
    let two = Statistic::named(text("statistic")).is_some_and(|statistic| TWO_COLUMNS.contains(&statistic));
    let columns = if two { "columns" } else { "column" };
    let of = question["column"]
        .as_str()
        .map_or(String::new(), |column| format!(" of the {columns} '{}'", printable(column)));
    let names = question["group_by"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let by: Vec<String> = names.map(|name| format!("'{}'", printable(name))).collect();
    let by = if by.is_empty() { String::new() } else { format!(", by {},", by.join(" and ")) };
    let took_part = match (question["rows"].as_str(), question["where"].as_str()) {
        (None, None) => String::new(),
        (rows, filter) => {
            let filter = filter.map(|filter| format!("rows where {}", printable(filter)));
            let parts: Vec<String> = filter.into_iter().chain(rows.map(printable)).collect();
            format!(" Of its records took part: {}.", parts.join("; "))
        }
    };
    let who = meaning::protected_by(promise);
    let neighbours = match promise.adjacency.as_str() {
        "add-remove" => format!("{who} is added or removed; the number of them is protected too"),
        _ => format!("{who} takes other values; the number of them is taken as public"),
    };
    let factor = meaning::factor(&promise.epsilon);
    let meaning = match promise.delta.as_str() {
        "0" => format!("the probability of any outcome changes by at most a factor of {factor}"),
        // A single outcome may change by any factor; what is bounded are sets of outcomes.
        delta => format!(
            "the probability of any set of outcomes is at most {factor} times what it would be otherwise, plus {},",
            short_up(delta)
        ),
    };
    let plainly = meaning::surer(promise);
    let came = match release {
        None if *kept == Kept::Lost => {
            "The answer was lost before it was recorded; the charge stands.".to_string()
        }
        None => {
            "The answer was recorded by another version of this program; 'equipoise budget log --json' has it as it was written."
                .to_string()
        }
        Some(release) if release.outcome == Outcome::Refused => format!(
            "The outcome was a refusal, which is part of what the guarantee covers{}.",
            release.advice.as_ref().map_or(String::new(), |advice| format!(" ({})", wording::on(surface, advice)))
        ),
        Some(Release { answers: Some(_), statistic, .. }) if *statistic == Statistic::Regression.name() => {
            "Intercept, coefficients, which share they explain and the mean were released, each with its error where it has one."
                .to_string()
        }
        Some(Release { answers: Some(answers), .. }) => {
            format!("{} questions were answered together, each with its error.", answers.len())
        }
        Some(release) if release.statistic == "monitor" => {
            "Its answers stand in the monitor's state file, each with its question.".to_string()
        }
        Some(release)
            if matches!(release.statistic.as_str(), "above-threshold" | "threshold-monitor" | "holdout") =>
        {
            "Its answers were given one by one, to questions that are not written down here.".to_string()
        }
        Some(Release { groups: Some(groups), statistic, .. }) if *statistic == Statistic::Ecdf.name() => format!(
            "The shares at {} points were released, each with its error, all of which hold at once.",
            groups.len()
        ),
        // Only a delta pays for finding groups, and so for leaving some out.
        Some(Release { groups: Some(groups), .. }) if promise.delta == "0" => {
            format!("Answers for {} groups were released, each with its error.", groups.len())
        }
        Some(Release { groups: Some(groups), .. }) => format!(
            "Answers for {} groups were released, each with its error; groups that are not among them are not released.",
            groups.len()
        ),
        Some(release) => format!(
            "The released value is {}; its error: {}.",
            rounded(&release.value, release.error.as_ref()),
            release.error.as_ref().map_or("not stated".to_string(), |error| error.words(&release.value))
        ),
    };
    let blocks = release.and_then(|release| release.blocks.as_ref());
    let blocks = blocks.map_or(String::new(), |blocks| format!(" Its blocks: {}.", meaning::blocks(blocks)));
    format!(
        "On {time} the {statistic}{of}{by} of the data set '{data}' was released with {promised} by the mechanism \
         {mechanism}.{took_part} The guarantee: {meaning} when {neighbours}. {plainly} Charged to \
         the ledger of the data set: {charged}{share}. Before any data was read, this was expected: {expected}.{instead} {came}{blocks} The \
         guarantee assumes nothing about the data or about what others know{assumed}; it adds up over all releases from the \
         same people, which the ledger sums.",
        statistic = text("statistic"),
        promised = amount(&Spent { epsilon: promise.epsilon.clone(), delta: promise.delta.clone() }),
        mechanism = text("mechanism"),
        charged = amount(cost),
        expected = text("expected"),
        instead = instead(question),
        assumed = assumed(question),
    )
}

/// What the guarantee rests on beside the mechanism: on what the caller stated of a function, or on somebody's code that is run on blocks.
fn assumed(question: &Value) -> String {
    let stated: Vec<&str> =
        question["stated"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !stated.is_empty() {
        return format!(
            ", except what the caller stated, which nobody checked: {}",
            meaning::stated(&stated)
        );
    }
    let text = |name: &str| question[name].as_str().unwrap_or_default();
    match (text("statistic"), text("mechanism")) {
        (_, "subsample, programs confined") => {
            ", except that the program in its sandbox leaves no message for other blocks in what the kernel keeps for all"
        }
        (_, "subsample, programs trusted") => {
            ", except that the program's running time and what it leaves behind on the machine say nothing of its rows"
        }
        ("subsample", _)
        | (_, "trimmed" | "winsorized" | "ball" | "bounded" | "vectors" | "majority" | "arg-max" | "counts") => {
            ", except that the function that was run on blocks looks at its block alone and keeps no memory"
        }
        _ => "",
    }
    .to_string()
}

/// The mechanisms that could have answered as well.
fn instead(question: &Value) -> String {
    // Earlier versions had other names.
    let others = question.get("runners_up").or(question.get("instead"));
    let others = others.and_then(Value::as_array).into_iter().flatten();
    let possible = others.filter(|other| other["possible"] == true).map(|other| {
        let text = |name: &str| other[name].as_str().unwrap_or_default();
        let likely = other["likely"]["error"]
            .as_f64()
            .or(other["likely_error"].as_f64())
            .map_or(String::new(), |error| format!("off by about {error:.4}; "));
        format!("{} ({likely}{})", text("mechanism"), text("expected"))
    });
    let possible: Vec<String> = possible.collect();
    if possible.is_empty() {
        return String::new();
    }
    format!(
        " Mechanisms that were not taken, with what they promised at the same price: {}.",
        possible.join(", ")
    )
}
