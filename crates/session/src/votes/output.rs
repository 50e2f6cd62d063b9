//! What blocks answer with, and one block's answer as a vote of a size that public facts fix.

use crate::plan::PlanError;
use equipoise_core::{loss::ParameterError, wording};
use std::collections::BTreeSet;

/// What blocks answer with; public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A finite number: `3.5`, also as JSON.
    Number,
    /// So many finite numbers: `1 2 3`, `1,2,3`, one a line, or a JSON list.
    Vector(usize),
    /// One line of text, or a JSON text or number.
    Label,
    /// Several such, one a line or separated by commas, or a JSON list.
    Labels,
}

/// The longest vector.
const MOST_COORDINATES: usize = 16_383;

impl Output {
    /// From `number`, `vector:K`, `label` or `labels`.
    pub fn read(text: &str) -> Result<Self, PlanError> {
        let wrong = || {
            let shown = wording::shown(text);
            PlanError::from(ParameterError::out_of_range(
                "output",
                shown,
                "write number, vector:3, label or labels",
            ))
        };
        match text {
            "number" => Ok(Self::Number),
            "label" => Ok(Self::Label),
            "labels" => Ok(Self::Labels),
            _ => {
                let length: usize =
                    text.strip_prefix("vector:").and_then(|length| length.parse().ok()).ok_or_else(wrong)?;
                if (1..=MOST_COORDINATES).contains(&length) { Ok(Self::Vector(length)) } else { Err(wrong()) }
            }
        }
    }

    /// The longest text that is read as an answer, in bytes: a longer one is none.
    pub fn longest_answer(self) -> usize {
        const WORD: usize = 4096;
        match self {
            Self::Number | Self::Label => WORD,
            Self::Labels => 1 << 16,
            Self::Vector(length) => WORD + 64 * length,
        }
    }
}

/// One block's vote. How much room it takes is nearly the same for all votes of one request, so that what happens
/// to votes takes the same time.
#[derive(Clone, Debug, PartialEq)]
pub enum Vote {
    /// A finite number.
    Number(f64),
    /// Finite numbers, as many as were said.
    Vector(Vec<f64>),
    /// A label where none are listed.
    Label(String),
    /// A set of labels where none are listed, sorted.
    Labels(Vec<String>),
    /// The place of a label among those that are listed.
    Listed(usize),
    /// Which of the listed labels it names.
    Named(Vec<bool>),
}

/// Makes votes of answers, by a total rule: whatever is not of the kind that was said is no vote.
#[derive(Clone, Debug)]
pub struct Ballots {
    output: Output,
    options: Option<Vec<String>>,
}

/// The longest label, in characters.
const LONGEST_LABEL: usize = 200;
/// The most labels of one answer, and the most bytes of all of them where none are listed.
const MOST_LABELS: usize = 10_000;
const MOST_TEXT: usize = 4096;

impl Ballots {
    /// For answers of this kind, and labels that are listed, sorted.
    pub(crate) fn new(output: Output, options: Option<Vec<String>>) -> Self {
        Self { output, options }
    }

    /// What is answered with.
    pub fn output(&self) -> Output {
        self.output
    }

    /// A number.
    pub fn number(&self, value: f64) -> Option<Vote> {
        (self.output == Output::Number && value.is_finite()).then_some(Vote::Number(value))
    }

    /// A vector.
    pub fn vector(&self, value: Vec<f64>) -> Option<Vote> {
        let fits = self.output == Output::Vector(value.len()) && value.iter().all(|one| one.is_finite());
        fits.then_some(Vote::Vector(value))
    }

    /// A label: one line of text that is not empty, without the space around it.
    pub fn label(&self, text: &str) -> Option<Vote> {
        let text = fit(text)?;
        match (self.output, &self.options) {
            (Output::Label, Some(options)) => place(options, text).map(Vote::Listed),
            (Output::Label, None) => Some(Vote::Label(text.to_string())),
            _ => None,
        }
    }

    /// A set of labels, which may be empty.
    pub fn labels<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Option<Vote> {
        if self.output != Output::Labels {
            return None;
        }
        let mut set = BTreeSet::new();
        let mut named = self.options.as_ref().map(|options| vec![false; options.len()]);
        for (count, text) in texts.into_iter().enumerate() {
            let text = fit(text).filter(|_| count < MOST_LABELS)?;
            match (&self.options, &mut named) {
                (Some(options), Some(named)) => {
                    if let Some(place) = place(options, text) {
                        named[place] = true;
                    }
                }
                _ => {
                    set.insert(text);
                }
            }
        }
        if let Some(named) = named {
            return Some(Vote::Named(named));
        }
        let short = set.iter().map(|text| text.len()).sum::<usize>() <= MOST_TEXT;
        short.then(|| Vote::Labels(set.into_iter().map(str::to_string).collect()))
    }
}

/// The options are sorted.
fn place(options: &[String], text: &str) -> Option<usize> {
    options.binary_search_by(|option| option.as_str().cmp(text)).ok()
}

fn fit(text: &str) -> Option<&str> {
    let text = text.trim();
    let good =
        !text.is_empty() && text.chars().count() <= LONGEST_LABEL && !text.chars().any(char::is_control);
    good.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read_or_one_line_says_what_there_is() {
        assert_eq!(Output::read("vector:3").unwrap(), Output::Vector(3));
        for text in ["vector", "vector:0", "vector:x", "numbers", "vector:99999"] {
            let error = Output::read(text).unwrap_err().to_string();
            assert!(error.contains("write number, vector:3, label or labels"), "{error}");
        }
    }

    #[test]
    fn votes_are_of_the_kind_that_was_said_and_of_bounded_size() {
        let ballots = |output, options: Option<&[&str]>| {
            Ballots::new(output, options.map(|options| options.iter().map(ToString::to_string).collect()))
        };
        let number = ballots(Output::Number, None);
        assert_eq!(number.number(3.5), Some(Vote::Number(3.5)));
        assert_eq!((number.number(f64::NAN), number.label("a")), (None, None));
        let vector = ballots(Output::Vector(2), None);
        assert!(vector.vector(vec![1.0, 2.0]).is_some());
        assert_eq!((vector.vector(vec![1.0]), vector.vector(vec![1.0, f64::INFINITY])), (None, None));
        let listed = ballots(Output::Label, Some(&["a", "b"]));
        assert_eq!((listed.label(" b "), listed.label("c")), (Some(Vote::Listed(1)), None));
        let named = ballots(Output::Labels, Some(&["a", "b"]));
        assert_eq!(named.labels(["b", "z", "b"]), Some(Vote::Named(vec![false, true])));
        let sets = ballots(Output::Labels, None);
        assert_eq!(sets.labels(["b", "a", "b"]), Some(Vote::Labels(vec!["a".into(), "b".into()])));
        let any = ballots(Output::Label, None);
        // In characters, not in bytes.
        let long = |length: usize| any.label(&"\u{e9}".repeat(length)).is_some();
        assert_eq!([1, 199, 200, 201].map(long), [true, true, true, false]);
        assert_eq!((any.label(" "), any.label("a\u{7}")), (None, None));
        // However much is printed, a vote is small and is read after so many labels at most.
        let many: Vec<String> = (0..3000).map(|label| label.to_string()).collect();
        assert_eq!(sets.labels(many.iter().map(String::as_str)), None);
        assert_eq!(named.labels(std::iter::repeat_n("a", MOST_LABELS + 1)), None);
    }
}
