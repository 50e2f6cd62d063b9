//! What to say where epsilon is too small: the whole epsilon that is enough, not the share that a mechanism got.
//!
//! A question shares its epsilon among its parts, among the rows of a person and among the questions of a batch. That a
//! share is too small is found by the mechanism that got it; whoever asked typed the whole.

use super::{DataFacts, Part, PlanError, Planned, pools, pools::Run, together};
use crate::{batch::Batch, request::Request, statistic::Argument};
use equipoise_core::{loss::Eps, ratio::Ratio, solve, wording};
use std::{cell::RefCell, collections::HashSet};

/// One digit is as much as anybody wants to type, and each trial is a whole plan.
const DIGITS: u32 = 1;
/// The largest power of ten that an epsilon may be.
const LARGEST: i64 = 3;
/// No mechanism takes less, so that the search need not begin below.
const SMALLEST: i64 = -16;

/// The error of one question, in terms of what was typed.
pub(super) fn of_question(request: &Request, facts: &DataFacts, error: PlanError) -> PlanError {
    let Some(typed) = typed(request.epsilon.as_deref()).filter(|_| error.is_of_a_share()) else {
        return error;
    };
    let at = |eps: &Ratio| Request { epsilon: Some(eps.to_string()), ..request.clone() };
    let enough = least(|eps| Part::new(&at(eps), facts).is_ok());
    let statistic = wording::shown(&request.statistic);
    match (enough, rows_of_each(request)) {
        (Some(enough), Some((rows, fewer))) => PlanError::about(
            Argument::Epsilon,
            format!("epsilon {typed} is too small for {statistic} with {rows}:"),
        )
        .hint(format!("{enough} is enough, or {fewer}"))
        .meaning(Argument::Epsilon, Some(enough.to_string())),
        (Some(enough), None) => {
            PlanError::about(Argument::Epsilon, format!("epsilon {typed} is too small for {statistic}:"))
                .hint(format!("{enough} is enough"))
                .meaning(Argument::Epsilon, Some(enough.to_string()))
        }
        (None, Some((rows, fewer))) => PlanError::about(
            Argument::MaxRowsPerUnit,
            format!("no epsilon is large enough for {statistic} with {rows}"),
        )
        .hint(fewer),
        (None, None) => error,
    }
}

/// The error of a question of a batch. Where it has no epsilon of its own, its share grows with that of the batch.
pub(super) fn of_batch(batch: &Batch, number: usize, facts: &DataFacts, error: PlanError) -> PlanError {
    let question = &batch.questions[number];
    if !error.is_of_a_share() {
        return error;
    }
    if question.epsilon.is_some() && !together::applies(batch) {
        return of_question(question, facts, error);
    }
    let whole = typed(batch.shared.epsilon.as_deref()).map_or_else(String::new, |typed| format!(" {typed}"));
    let enough = match least_of_batch(batch, facts) {
        Some(enough) => format!("{enough} for the whole batch is enough"),
        None => "give the batch more".to_string(),
    };
    PlanError::about(Argument::Epsilon, format!("its share of epsilon{whole} is too small:")).hint(enough)
}

/// The batch with another epsilon.
fn at(batch: &Batch, eps: &Ratio) -> Batch {
    let shared = Request { epsilon: Some(eps.to_string()), ..batch.shared.clone() };
    Batch { shared, ..batch.clone() }
}

/// The least epsilon of one digit with which the whole batch has a plan. The whole is planned once, or in every trial where its
/// questions share a draw or a selection.
fn least_of_batch(batch: &Batch, facts: &DataFacts) -> Option<Ratio> {
    let whole = |eps: &Ratio| Planned::plain(&at(batch, eps), facts).is_ok();
    match least_alone(batch, facts) {
        Some(enough) if whole(&enough) => Some(enough),
        _ => least(whole),
    }
}

/// The least with which each question has a plan alone, at its share: the batch has none with less, because its questions are planned
/// one by one. So a trial is one question and not the whole batch. Nothing is told where questions share a draw or a selection.
fn least_alone(batch: &Batch, facts: &DataFacts) -> Option<Ratio> {
    let largest = format!("1e{LARGEST}").parse::<Ratio>().ok()?;
    let questions = at(batch, &largest).priced(facts).ok()?;
    let together = together::applies(batch) || pools::runs(&questions, facts).iter().any(Run::is_pool);
    if together {
        return None;
    }
    // What is enough for one question is mostly enough for the next.
    let last: RefCell<(Ratio, Vec<Request>)> = RefCell::new((largest, questions.clone()));
    let alone = |number: usize, eps: &Ratio| {
        let mut last = last.borrow_mut();
        if last.0 != *eps {
            *last = (eps.clone(), at(batch, eps).priced(facts).unwrap_or_default());
        }
        last.1.get(number).is_some_and(|question| Part::new(question, facts).is_ok())
    };
    let (mut enough, mut seen): (Option<Ratio>, _) = (None, HashSet::new());
    for (number, question) in questions.iter().enumerate() {
        // Equal questions have equal shares.
        let known = !seen.insert(question.to_json());
        if known || enough.as_ref().is_some_and(|enough| alone(number, enough)) {
            continue;
        }
        let more = |eps: &Ratio| enough.as_ref().is_none_or(|enough| eps > enough);
        enough = Some(least(|eps| more(eps) && alone(number, eps))?);
    }
    enough
}

/// The least epsilon of one digit with which there is a plan.
fn least(plans: impl Fn(&Ratio) -> bool) -> Option<Ratio> {
    solve::smallest_of_digits(DIGITS, SMALLEST..LARGEST, plans)
}

/// The epsilon as it was typed, where it is one.
fn typed(text: Option<&str>) -> Option<String> {
    text.filter(|text| text.parse::<Eps>().is_ok()).map(wording::shown)
}

/// The rows of a person share epsilon, if there may be several.
fn rows_of_each(request: &Request) -> Option<(String, &'static str)> {
    let unit = wording::shown(request.unit.as_deref()?);
    let rows = request.max_rows_per_unit.as_deref().filter(|&rows| rows != "1")?;
    Some((format!("{} rows of each {unit}", wording::shown(rows)), "give a smaller `max_rows_per_unit`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    fn facts() -> DataFacts {
        let columns = ["salary", "town"].map(String::from).to_vec();
        DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new(), windows: None }
    }

    fn asked(statistic: &str, eps: &str) -> Request {
        let column = (statistic != "count").then(|| "salary".to_string());
        Request { column, epsilon: Some(eps.into()), ..Request::new(statistic) }
    }

    #[test]
    fn the_whole_epsilon_that_is_enough_is_told_and_no_share_of_it() {
        let hundred: Vec<String> = (1..=100).map(|part| format!("{part}/101")).collect();
        let of_people = |request| Request {
            unit: Some("town".into()),
            max_rows_per_unit: Some("100000".into()),
            ..request
        };
        for (request, said) in [
            (asked("summary", "0.001"), "epsilon 0.001 is too small for summary: 0.002 is enough"),
            (asked("count", "1e-400"), "epsilon 1e-400 is too small for count: 0.0000000000000003 is enough"),
            (asked("median", "1e-400"), "epsilon 1e-400 is too small for median: 0.0002 is enough"),
            (
                Request { fraction: Some(hundred.join(",")), ..asked("quantile", "1/10000") },
                "epsilon 1/10000 is too small for quantile: 0.005 is enough",
            ),
            (
                of_people(asked("median", "0.01")),
                "epsilon 0.01 is too small for median with 100000 rows of each town: 20 is enough, or give a smaller `max_rows_per_unit`",
            ),
            // What was typed wrongly is said as it was typed.
            (
                asked("median", "0"),
                "epsilon 0 is not accepted: give a number above 0 and at most 1000, such as 1 or 0.5",
            ),
        ] {
            assert_eq!(
                Plan::new(&request, &facts()).err().map(|error| error.to_string()).as_deref(),
                Some(said)
            );
        }
    }

    #[test]
    fn what_is_said_to_be_enough_is_enough() {
        for (statistic, enough) in [("summary", "0.003"), ("median", "0.0002"), ("count", "3e-16")] {
            assert!(Plan::new(&asked(statistic, enough), &facts()).is_ok(), "{statistic}");
        }
    }

    #[test]
    fn a_batch_says_what_all_of_it_needs() {
        let error = |json: &str| {
            let batch = Batch::from_json(json).unwrap();
            Plan::batch(&batch, &facts()).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(
            error(
                r#"{"epsilon": "0.0001", "column": "salary", "questions": [{"statistic": "count"}, {"statistic": "median", "weight": 2}]}"#
            ),
            "question 2 (median of salary): its share of epsilon 0.0001 is too small: 0.0003 for the whole batch is enough"
        );
        assert_eq!(
            error(
                r#"{"epsilon": 1, "column": "salary", "questions": [{"statistic": "count"}, {"statistic": "median", "epsilon": "0.00001"}]}"#
            ),
            "question 2 (median of salary): epsilon 0.00001 is too small for median: 0.0002 is enough"
        );
    }

    /// The quick search says what the slow one says that plans the whole batch in every trial.
    #[test]
    fn a_batch_is_told_the_same_as_by_planning_all_of_it_in_every_trial() {
        let questions =
            |list: &str| format!(r#"{{"epsilon": "1e-9", "column": "salary", "questions": [{list}]}}"#);
        let (count, median, iqr) = (
            r#"{"statistic": "count"}"#,
            r#"{"statistic": "median"}"#,
            r#"{"statistic": "iqr", "weight": 3}"#,
        );
        for list in [
            [count, median].join(","),
            [median, count, iqr].join(","),
            [median; 5].join(","),
            // These two share a draw, and are planned together.
            [r#"{"statistic": "sum"}"#, r#"{"statistic": "mean"}"#, median].join(","),
        ] {
            let batch = Batch::from_json(&questions(&list)).unwrap();
            let whole = least(|eps| Planned::plain(&at(&batch, eps), &facts()).is_ok());
            assert!(whole.is_some(), "{list}");
            assert_eq!(least_of_batch(&batch, &facts()), whole, "{list}");
        }
    }

    #[test]
    fn a_runner_up_that_gets_too_little_names_no_share_either() {
        let request = Request { delta: Some("1e-6".into()), ..asked("count", "1e-400") };
        let plan = Plan::new(&request, &facts()).unwrap();
        let others = plan.parts()[0].runners_up();
        assert_eq!((others[0].mechanism, others[0].expected.as_str()), ("laplace", "needs a larger epsilon"));
    }
}
