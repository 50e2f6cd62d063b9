//! Error bars in words: the one printer of the command line and of Python.

use super::{
    Between, Condition, ErrorBar, GapUnit, Ranks, Shape, TOGETHER, TOGETHER_IN_GROUP, digits::alone,
};
use crate::statistic::Fold;
use equipoise_core::wording;
use serde_json::{Value, json};

/// What a table of found groups does not show, where one of so many rows that take part is named in 19 cases of 20.
pub fn rare_keys_words(rows: u64) -> String {
    format!("groups of fewer than about {rows} rows that take part may be missing")
}

/// What is asked where hardly any row has a value.
pub(crate) const DOUBT: &str = "does the column hold numbers?";

impl ErrorBar {
    /// What it says of a value, as a clause, with all that it is about: a bar that leaves out a condition is a false one.
    pub fn words(&self, of: &Value) -> String {
        let not_covered = self.conditions.iter().filter_map(|condition| self.clause(condition));
        let clauses: Vec<String> = not_covered.map(|clause| format!("; {clause}")).collect();
        self.covered(of) + &clauses.concat()
    }

    /// The same in a cell of a table.
    pub fn short_words(&self, of: &Value) -> String {
        match &self.shape {
            Shape::Exact => "exact".to_string(),
            Shape::Noise(between) | Shape::Interval { between, .. } => {
                between.words(of, "to", self.limited_to())
            }
            Shape::Within(scale) => format!("within {}", alone(*scale)),
            Shape::Gap { gap, unit } => format!("at most {gap} {} fewer", unit.words()),
            Shape::Score(gap) => format!("scores at most {} less", alone(*gap)),
            Shape::Votes { least, most } => format!("at least {least} votes, others at most {most}"),
            Shape::Rank(ranks) => ranks.words(of),
        }
    }

    fn covered(&self, of: &Value) -> String {
        let stated = self.conditions.iter().find_map(|condition| match condition {
            Condition::StatedRows(rows) => Some(format!("if {rows} rows have a value, as stated ")),
            _ => None,
        });
        let sure = format!("{}({} confidence)", stated.unwrap_or_default(), percent(self.confidence));
        // What the bar is about, where that is not the true value of all rows.
        let about = |otherwise: &str| self.of.as_deref().map_or(otherwise.to_string(), printable);
        match &self.shape {
            Shape::Exact if self.of.is_some() => format!("none: this is exactly {}", about("")),
            Shape::Exact => "none: this is the exact value".to_string(),
            Shape::Within(scale) => {
                format!("every number lies within {} of {} {sure}", alone(*scale), about("the true one"))
            }
            Shape::Noise(between) => {
                let (limited, between) = (self.limited(), between.words(of, "and", self.limited_to()));
                if of.is_array() {
                    let about = about("the true values");
                    return format!("{limited}{about} lie between {between}, all at once {sure}");
                }
                format!("{limited}{} lies between {between} {sure}", about("the true value"))
            }
            Shape::Interval { ranks, between } => {
                let (between, within) = (between.words(of, "and", self.limited_to()), ranks.words(of));
                match ranks.about(of) {
                    About::One => {
                        format!("the true value lies between {between}, the answer {within} of it {sure}")
                    }
                    About::List => {
                        format!(
                            "the true values lie between {between}, {within} of the answer, all at once {sure}"
                        )
                    }
                    About::Quartiles => {
                        format!("the true value lies between {between}, {within} of the true one {sure}")
                    }
                }
            }
            Shape::Gap { gap, unit } => {
                format!("{} has at most {gap} {} more {sure}", about("the most frequent value"), unit.words())
            }
            Shape::Score(gap) => {
                format!("{} scores at most {} more {sure}", about("the best option"), alone(*gap))
            }
            Shape::Votes { least, most } => format!(
                "each of these is named by at least {least} blocks, each other option by at most {most}, all at once {sure}"
            ),
            Shape::Rank(ranks) => {
                let at_once = if ranks.about(of) == About::List { ", all at once" } else { "" };
                format!("{} of {}{at_once} {sure}", ranks.words(of), about("the true one"))
            }
        }
    }

    /// What rows the bar is about, where they were limited to a range.
    fn limited(&self) -> String {
        let limits = self.conditions.iter().find_map(|condition| match condition {
            Condition::LimitedTo(limits) if self.of.is_none() => Some(limits),
            _ => None,
        });
        limits.map_or(String::new(), |limits| {
            format!("with {} limited to {}, ", self.limited_what(), self.ends_of(*limits))
        })
    }

    /// What values were limited to, as a clause behind the name of an answer, before its number: nobody reads the one without the other.
    pub fn limits_words(&self) -> Option<String> {
        let limits = self.limited_to().filter(|_| self.of.is_none())?;
        let words = |[low, high]: [f64; 2]| format!("{} .. {}", alone(low), alone(high));
        let second = self.second_limited_to().map_or(String::new(), |ends| format!(" and {}", words(ends)));
        let what = self.fold().map_or("values".to_string(), |fold| format!("each person's {}", fold.noun()));
        Some(format!("{what} limited to {}{second}", words(limits)))
    }

    /// What is true of a whole table of bars, to stand below it: how they hold, and what they are all about. Nothing without a bar.
    pub fn table_words<'a>(bars: impl IntoIterator<Item = &'a Self>) -> Option<(String, Vec<String>)> {
        let bars: Vec<&Self> = bars.into_iter().collect();
        let confidence = bars.first()?.confidence;
        let about = Self::common_words(bars.iter().copied());
        let (at_once, mut about): (Vec<String>, Vec<String>) =
            about.into_iter().partition(|words| [TOGETHER, TOGETHER_IN_GROUP].contains(&words.as_str()));
        // What all of them are about comes first, where that is not what the head of the table says.
        let subject = bars.first().and_then(|bar| bar.subject());
        if let Some(subject) = subject.filter(|of| bars.iter().all(|bar| bar.subject() == Some(of))) {
            about.insert(0, printable(subject));
        }
        // What groups differ in is left out of a table; a column that may hold no numbers is not.
        let clauses = bars.iter().flat_map(|bar| bar.conditions.iter().filter_map(|one| bar.clause(one)));
        let doubts: Vec<String> = clauses.filter(|clause| clause.ends_with(DOUBT)).collect();
        if let Some(first) = doubts.first().filter(|first| !about.contains(first)) {
            about.push(format!("{} groups are in doubt, the first of them: {first}", doubts.len()));
        }
        let holds = match at_once.first().map(String::as_str) {
            None => "each holds on its own",
            Some(TOGETHER) => "all hold at once",
            Some(_) => "those of each group hold at once",
        };
        Some((format!("{holds} ({} confidence)", percent(confidence)), about))
    }

    /// What was limited to a range: rows, or what each person's rows were made first.
    fn limited_what(&self) -> String {
        match self.fold() {
            Some(fold) => format!("each person's {}", fold.noun()),
            None => "rows".to_string(),
        }
    }

    fn fold(&self) -> Option<Fold> {
        self.conditions.iter().find_map(|condition| match condition {
            Condition::PerUnit { fold, .. } => Some(*fold),
            _ => None,
        })
    }

    /// The ends that rows are limited to, of one column or of two.
    fn ends_of(&self, limits: [f64; 2]) -> String {
        let words = |[low, high]: [f64; 2]| format!("{} to {}", alone(low), alone(high));
        let second = self.second_limited_to().map(words);
        words(limits) + &second.map_or(String::new(), |second| format!(" and {second}"))
    }

    /// What is true of a whole table of bars, to stand below it: each condition that they all have.
    pub fn common_words<'a>(bars: impl IntoIterator<Item = &'a Self>) -> Vec<String> {
        let bars: Vec<&Self> = bars.into_iter().collect();
        let Some((first, others)) = bars.split_first() else { return Vec::new() };
        let common = |condition: &&Condition| {
            // Both ranges stand in one clause.
            let is_range = matches!(condition, Condition::LimitedTo(_));
            let second = first.second_limited_to();
            let same = |bar: &&&Self| !is_range || bar.second_limited_to() == second;
            others.iter().filter(same).filter(|bar| bar.conditions.contains(condition)).count()
                == others.len()
        };
        let words = |condition: &Condition| match condition {
            Condition::LimitedTo(limits) => {
                let clause = first.clause(condition).unwrap_or_default();
                let (what, are) = (first.limited_what(), if first.fold().is_some() { "is" } else { "are" });
                Some(format!("{what} {are} limited to {}; {clause}", first.ends_of(*limits)))
            }
            condition => first.clause(condition),
        };
        first.conditions.iter().filter(common).filter_map(words).collect()
    }

    /// What a condition adds behind the bar.
    fn clause(&self, condition: &Condition) -> Option<String> {
        match condition {
            // What was limited stands among the clauses, where the bar is about the answers of blocks.
            Condition::LimitedTo(_) => {
                let who = if self.fold().is_some() { "people" } else { "rows" };
                let outside = self.conditions.iter().find_map(|condition| match condition {
                    Condition::Outside(rows) => {
                        Some(format!("at most {rows} {who} lie outside ({}), and", percent(self.confidence)))
                    }
                    _ => None,
                });
                let outside = outside.unwrap_or_else(|| format!("{who} outside"));
                self.of.is_none().then(|| format!("{outside} count as the nearest end"))
            }
            Condition::Drawn(1) => Some("it is about one row of each person, drawn at random".to_string()),
            Condition::Drawn(rows) => {
                Some(format!("it is about at most {rows} rows of each person, drawn at random"))
            }
            Condition::PerUnit { fold, groups } => {
                let groups = match groups {
                    None => String::new(),
                    Some(1) => " in one group of theirs, drawn at random".to_string(),
                    Some(most) => format!(" in each of at most {most} groups of theirs, drawn at random"),
                };
                Some(format!(
                    "each person's rows first: it is about one {} of all rows of a person{groups}",
                    fold.noun()
                ))
            }
            Condition::NoInterval(rows) => {
                Some(format!("no useful interval at this epsilon; about {rows} rows would be enough"))
            }
            Condition::Outside(_)
            | Condition::SecondLimitedTo(_)
            | Condition::EachLimitedTo(_)
            | Condition::StatedRows(_) => None,
            Condition::EmptyAs(number) => Some(format!("empty fields count as {}", value(&json!(number)))),
            Condition::EmptyLowest => Some("empty fields count as the lowest value".to_string()),
            Condition::RoundedTo(digits) => Some(format!("rows {}", rounded_to(*digits))),
            Condition::Population => {
                Some("for the population that the rows were drawn from, each on its own".to_string())
            }
            Condition::Given(clause) => Some(printable(clause)),
        }
    }
}

/// What the ranks of an error bar are about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    One,
    /// A list of quantiles.
    List,
    /// The two quartiles whose difference was released.
    Quartiles,
}

impl Ranks {
    fn about(&self, of: &Value) -> About {
        match self {
            Self::One(_) => About::One,
            Self::Each(_) if of.is_array() => About::List,
            Self::Each(_) => About::Quartiles,
        }
    }

    /// How many ranks off: one number where all are the same.
    fn words(&self, of: &Value) -> String {
        let who = match self.about(of) {
            About::One => "",
            About::List => "each ",
            About::Quartiles => "each quartile ",
        };
        match self {
            Self::One(rank) => format!("within {rank} ranks"),
            Self::Each(each) if each.iter().all(|one| *one == each[0]) => {
                format!("{who}within {} ranks", each.first().copied().unwrap_or_default())
            }
            Self::Each(each) => {
                let each: Vec<String> = each.iter().map(u64::to_string).collect();
                format!("{who}within {} ranks in turn", each.join(", "))
            }
        }
    }
}

impl GapUnit {
    /// As a plural noun.
    pub fn words(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::People => "people",
            Self::Votes => "votes",
        }
    }
}

impl Between {
    /// Both ends of an interval around an answer, or of each of a list; not beyond the range that values were limited to.
    fn words(&self, of: &Value, word: &str, limits: Option<[f64; 2]>) -> String {
        let pair = |of: &Value, low: &Value, high: &Value| {
            if low.is_null() {
                "too few rows".to_string()
            } else {
                Self::rounded(of, low, high, word, limits)
            }
        };
        match (&self.low, &self.high) {
            (Value::Array(low), Value::Array(high)) => {
                let at = |place: usize| of.get(place).unwrap_or(&Value::Null);
                let pairs = low.iter().zip(high).enumerate();
                pairs.map(|(place, (low, high))| pair(at(place), low, high)).collect::<Vec<_>>().join(", ")
            }
            (low, high) => Self::rounded(of, low, high, word, limits),
        }
    }
}

/// An answer as text: numbers as they are, a list with commas.
pub fn value(shown: &Value) -> String {
    match shown {
        Value::Null => "none (there are no rows)".to_string(),
        // No field is an empty text: this stands for fields that are not there.
        Value::String(text) if text.is_empty() => "(empty)".to_string(),
        Value::String(text) => printable(text),
        Value::Array(values) => {
            // One of several quantiles that there were too few rows for.
            let one = |one: &Value| if one.is_null() { "too few rows".to_string() } else { value(one) };
            values.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        Value::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").map_or(text.clone(), str::to_string)
        }
        other => other.to_string(),
    }
}

/// What was done to rows before they were ranked.
pub(crate) fn rounded_to(digits: u32) -> String {
    format!("rounded to at least {digits} significant digits")
}

/// A confidence as people write it.
pub fn percent(confidence: f64) -> String {
    let text = format!("{:.6}", confidence * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A text that came out of a file, with whatever commands a terminal, turns the line around or stays unseen written out.
/// JSON has it exactly.
pub fn printable(text: &str) -> String {
    wording::visible(text).into_owned()
}
