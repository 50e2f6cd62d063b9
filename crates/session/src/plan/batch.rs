//! Several questions about one data set, in one JSON document: one scan, one charge, one release.
//!
//! ```json
//! {
//!   "data": "salaries.csv", "epsilon": "2", "delta": "1e-6",
//!   "questions": [
//!     {"statistic": "median", "column": "salary", "weight": 3},
//!     {"statistic": "histogram", "column": "department"},
//!     {"statistic": "count", "target_error": 50}
//!   ]
//! }
//! ```
//!
//! What stands beside the questions holds for all of them; epsilon and delta are totals. A question may have an
//! epsilon of its own, or a wanted error, for which the least epsilon is taken; the others share what is left by
//! weight. Delta is shared by weight among the questions that use one. The prices add up; or, where that leaves more to each question,
//! they are composed as concentrated losses at the delta of the batch (`composed.rs`).

use super::{DataFacts, PlanError, target};
use crate::{
    request::{Request, RequestError},
    resolved,
    statistic::Argument,
};
use equipoise_core::{loss::ParameterError, ratio::Ratio, wording};
use serde_json::{Map, Value};

/// Several questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The data set, where the document names it.
    pub data: Option<String>,
    /// The relation of several tables that it is about, where it is not about one: part of what is charged and kept.
    pub relation: Option<String>,
    /// What holds for all questions, and the totals.
    pub shared: Request,
    /// The questions, each with what holds for all.
    pub questions: Vec<Request>,
}

/// A scan and a guarantee have one of each.
const ONCE: [&str; 9] = [
    "adjacency",
    "delimiter",
    "header",
    "types",
    "unit",
    "where",
    "window",
    "max_rows_per_unit",
    "max_groups_per_unit",
];
/// Totals are no default for a question.
const TOTALS: [&str; 2] = ["epsilon", "delta"];
/// More questions than anybody writes.
const MOST: usize = 1000;

impl Batch {
    /// Read a JSON document. The error is one line and names the question.
    pub fn from_json(text: &str) -> Result<Self, RequestError> {
        let wrong = |text: String| RequestError(wording::line(&text));
        let document: Value = serde_json::from_str(text)
            .map_err(|error| wrong(wording::unmarked(&error.to_string()).into_owned()))?;
        let Value::Object(shared) = document else {
            return Err(wrong("a batch is an object such as {\"epsilon\": 1, \"questions\": [..]}".into()));
        };
        let mut shared = underscored(shared).map_err(wrong)?;
        let Some(Value::Array(questions)) = shared.remove("questions") else {
            return Err(wrong("a batch has a list of \"questions\"".into()));
        };
        if questions.is_empty() || questions.len() > MOST {
            return Err(wrong(format!("a batch has between 1 and {MOST} questions")));
        }
        let data = match shared.remove("data") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name),
            Some(_) => return Err(wrong("\"data\" is the name of a file".into())),
        };
        for word in ["statistic", "weight", "target_error"] {
            if shared.contains_key(word) {
                return Err(wrong(format!("\"{word}\" belongs to a question, not beside the questions")));
            }
        }
        let mut defaults = shared.clone();
        defaults.retain(|name, _| !TOTALS.contains(&name.as_str()));
        shared.insert("statistic".into(), "batch".into());
        let questions = questions
            .into_iter()
            .enumerate()
            .map(|(number, question)| {
                one(question, &defaults).map_err(|error| wrong(format!("question {}: {error}", number + 1)))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { data, relation: None, shared: request(shared).map_err(wrong)?, questions })
    }

    /// The same without these questions, counted from one: what is shared is then for the others.
    pub fn without(&self, numbers: &[usize]) -> Result<Self, String> {
        let many = self.questions.len();
        if let Some(number) = numbers.iter().find(|number| !(1..=many).contains(*number)) {
            return Err(format!(
                "there is no question {number} to leave out; they are counted from 1 to {many}"
            ));
        }
        let left = (1..).zip(&self.questions).filter(|(number, _)| !numbers.contains(number));
        let questions: Vec<Request> = left.map(|(_, question)| question.clone()).collect();
        if questions.is_empty() {
            return Err("no question is left; leave fewer out".to_string());
        }
        Ok(Self { questions, ..self.clone() })
    }

    /// One text for one batch: what is charged, hashed and kept.
    pub fn to_json(&self) -> String {
        let mut document = serde_json::to_value(&self.shared).expect("texts and options are always JSON");
        document["questions"] =
            serde_json::to_value(&self.questions).expect("texts and options are always JSON");
        if let Some(relation) = &self.relation {
            document["relation"] = relation.as_str().into();
        }
        document.to_string()
    }

    /// The questions, each with its price.
    pub(crate) fn priced(&self, facts: &DataFacts) -> Result<Vec<Request>, PlanError> {
        self.priced_at(facts, &Ratio::one(), &Ratio::one())
    }

    /// The same where the questions without a price share so many times the epsilon that is left, and a part of delta: for those that are
    /// composed, whose prices do not add up.
    pub(super) fn priced_at(
        &self,
        facts: &DataFacts,
        factor: &Ratio,
        own_delta: &Ratio,
    ) -> Result<Vec<Request>, PlanError> {
        let mut questions = self.questions.clone();
        let weights = self.weights()?;
        self.share_delta(&mut questions, &weights, own_delta)?;
        let mut taken = Ratio::zero();
        for (number, question) in questions.iter_mut().enumerate() {
            if question.target_error.is_some() {
                *question =
                    target::solve(question, facts).map_err(|error| in_question(number, question, error))?;
            }
            if let Some(text) = &question.epsilon {
                let eps: Ratio = text.parse().map_err(|_| {
                    let error = ParameterError::out_of_range("epsilon", text, "give a decimal such as 0.5");
                    in_question(number, question, error)
                })?;
                taken = taken + eps;
            }
        }
        self.share_epsilon(&mut questions, &weights, &taken, factor)?;
        Ok(questions)
    }

    fn weights(&self) -> Result<Vec<Ratio>, PlanError> {
        let weight = |(number, question): (usize, &Request)| match question.weight.as_deref() {
            None => Ok(Ratio::one()),
            Some(text) => text.parse::<Ratio>().ok().filter(Ratio::is_positive).ok_or_else(|| {
                let error = ParameterError::out_of_range("weight", text, "give a number above 0, such as 2");
                in_question(number, question, error)
            }),
        };
        self.questions.iter().enumerate().map(weight).collect()
    }

    /// What is left of epsilon goes to the questions without a price, by weight.
    fn share_epsilon(
        &self,
        questions: &mut [Request],
        weights: &[Ratio],
        taken: &Ratio,
        factor: &Ratio,
    ) -> Result<(), PlanError> {
        let open: Vec<usize> =
            (0..questions.len()).filter(|&number| questions[number].epsilon.is_none()).collect();
        let Some(text) = self.shared.epsilon.as_deref() else {
            return match open.first() {
                Some(number) => {
                    Err(PlanError::about(Argument::Epsilon, "how much privacy may the batch cost?").hint(
                        format!("Give \"epsilon\" beside the questions, or one to question {}", number + 1),
                    ))
                }
                None => Ok(()),
            };
        };
        let total: equipoise_core::loss::Eps = text.parse()?;
        let left = total.ratio() - taken;
        if left.is_negative() || (!open.is_empty() && !left.is_positive()) {
            let problem = format!(
                "the questions with an epsilon or a target error of their own take {taken} of epsilon {total}"
            );
            return Err(PlanError::about(Argument::Epsilon, problem).hint("give the batch more"));
        }
        for (number, share) in shares(&(left * factor), &open, weights) {
            questions[number].epsilon = Some(share.to_string());
        }
        Ok(())
    }

    /// Delta goes to the questions that use one and have none, by weight.
    fn share_delta(
        &self,
        questions: &mut [Request],
        weights: &[Ratio],
        part: &Ratio,
    ) -> Result<(), PlanError> {
        let Some(text) = self.shared.delta.as_deref() else { return Ok(()) };
        let total: equipoise_core::loss::Delta = text.parse()?;
        let mut left = total.ratio() * part;
        for (number, question) in questions.iter().enumerate() {
            if let Some(text) = &question.delta {
                let own: equipoise_core::loss::Delta =
                    text.parse().map_err(|error: ParameterError| in_question(number, question, error))?;
                left = left - own.ratio();
            }
        }
        let open: Vec<usize> = (0..questions.len())
            .filter(|&number| questions[number].delta.is_none() && resolved::uses_delta(&questions[number]))
            .collect();
        if left.is_negative() || (!open.is_empty() && !total.is_zero() && !left.is_positive()) {
            return Err(PlanError::about(
                Argument::Delta,
                format!("the questions with a delta of their own take more than delta {total}"),
            )
            .hint("give the batch more"));
        }
        for (number, share) in shares(&left, &open, weights) {
            questions[number].delta = Some(share.to_string());
        }
        Ok(())
    }
}

/// Decimals in proportion to the weights that add up to the total exactly: all but the last are rounded down.
fn shares(total: &Ratio, open: &[usize], weights: &[Ratio]) -> Vec<(usize, Ratio)> {
    let all = open.iter().fold(Ratio::zero(), |sum, &number| sum + &weights[number]);
    let mut left = total.clone();
    let mut given = Vec::new();
    for (place, &number) in open.iter().enumerate() {
        let share = if place + 1 == open.len() {
            left.clone()
        } else {
            let text = (total * &weights[number] / &all).to_short_down(9, 60);
            text.parse().expect("a short decimal")
        };
        left = left - &share;
        given.push((number, share));
    }
    given
}

/// The error of one question, with its number and what it asks.
pub(crate) fn in_question(number: usize, question: &Request, error: impl Into<PlanError>) -> PlanError {
    let of =
        question.column_words().map_or(String::new(), |column| format!(" of {}", wording::shown(&column)));
    let statistic = wording::shown(&question.statistic);
    error.into().within(format_args!("question {} ({statistic}{of})", number + 1))
}

fn one(question: Value, defaults: &Map<String, Value>) -> Result<Request, String> {
    let Value::Object(own) = question else { return Err("a question is an object".into()) };
    let own = underscored(own)?;
    if let Some(name) = own.keys().find(|name| ONCE.contains(&name.as_str())) {
        return Err(format!("\"{name}\" holds for all questions; write it beside them"));
    }
    let mut merged = defaults.clone();
    merged.extend(own);
    request(merged)
}

/// Names with `_` between their words; earlier versions had `-`.
fn underscored(fields: Map<String, Value>) -> Result<Map<String, Value>, String> {
    let mut renamed = Map::new();
    for (name, value) in fields {
        let name = name.replace('-', "_");
        if renamed.contains_key(&name) {
            return Err(format!("\"{}\" stands there twice", wording::shown(&name)));
        }
        renamed.insert(name, value);
    }
    Ok(renamed)
}

fn request(object: Map<String, Value>) -> Result<Request, String> {
    serde_json::from_value(Value::Object(object))
        .map_err(|error| wording::unmarked(&error.to_string()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> DataFacts {
        let columns = ["salary", "town"].map(String::from).to_vec();
        DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new(), windows: None }
    }

    fn prices(json: &str) -> Result<Vec<(String, Option<String>)>, String> {
        let batch = Batch::from_json(json).map_err(|error| error.to_string())?;
        let priced = batch.priced(&facts()).map_err(|error| error.to_string())?;
        Ok(priced.into_iter().map(|one| (one.epsilon.unwrap_or_default(), one.delta)).collect())
    }

    #[test]
    fn totals_are_shared_by_weight_and_add_up() {
        let json = r#"{"epsilon": 1, "delta": "1e-6", "column": "town", "questions": [
            {"statistic": "count"}, {"statistic": "histogram"}, {"statistic": "mode", "weight": 1}]}"#;
        let prices = prices(json).unwrap();
        let third = "0.333333333";
        assert_eq!(prices[0], (third.into(), None));
        assert_eq!(prices[1], (third.into(), Some("0.0000005".into())));
        assert_eq!(prices[2], ("0.333333334".into(), Some("0.0000005".into())));
    }

    #[test]
    fn own_prices_and_wanted_errors_come_first() {
        let json = r#"{"epsilon": 2, "questions": [{"statistic": "count", "epsilon": 0.5},
            {"statistic": "count", "target-error": 10}, {"statistic": "median", "column": "salary"}]}"#;
        let prices = prices(json).unwrap();
        // Noise beyond 10 has probability 2·e^(-11 epsilon)/(1 + e^-epsilon).
        let solved: f64 = prices[1].0.parse().unwrap();
        let beyond = |eps: f64| 2.0 * (-11.0 * eps).exp() / (1.0 + (-eps).exp());
        assert!(beyond(solved) <= 0.05 && beyond(solved - 1e-5) > 0.05, "{solved}");
        let rest: f64 = prices[2].0.parse().unwrap();
        assert!((rest - (1.5 - solved)).abs() < 1e-9);
    }

    #[test]
    fn what_is_wrong_names_the_question() {
        for (json, said) in [
            ("[]", "a batch is an object"),
            ("{}", "a batch has a list of \"questions\""),
            (r#"{"questions": []}"#, "between 1 and 1000 questions"),
            (r#"{"questions": [{"statistic": "count"}]}"#, "how much privacy may the batch cost?"),
            (r#"{"epsilon": 1, "questions": [7]}"#, "question 1: a question is an object"),
            (
                r#"{"epsilon": 1, "questions": [{"statistic": "count"}, {"column": "x"}]}"#,
                "question 2: missing field",
            ),
            (
                r#"{"epsilon": 1, "weight": 2, "questions": [{"statistic": "count"}]}"#,
                "belongs to a question",
            ),
            (
                r#"{"epsilon": 1, "questions": [{"statistic": "count", "adjacency": "replace"}]}"#,
                "holds for all questions",
            ),
            (
                r#"{"epsilon": 1, "questions": [{"statistic": "count", "weight": 0}]}"#,
                "question 1 (count): weight 0",
            ),
            (
                r#"{"epsilon": 1, "questions": [{"statistic": "count", "epsilon": 1}, {"statistic": "count"}]}"#,
                "take 1 of epsilon 1",
            ),
            (
                r#"{"epsilon": 1, "questions": [{"statistic": "count", "epsilon": "much"}]}"#,
                "question 1 (count): epsilon much",
            ),
            (
                r#"{"questions": [{"statistic": "mode", "column": "town", "target-error": 3}]}"#,
                "question 1 (mode of town)",
            ),
        ] {
            let error = prices(json).expect_err(json);
            assert!(error.contains(said) && !error.contains('\n'), "{json}: {error}");
        }
    }
}
