//! Questions of a batch that are about the same groups: their keys are found once, and all of them are one mechanism with one price.

use super::{
    DataFacts, Part, PlanError,
    part::{Plain, Shared},
};
use crate::{
    batch::Batch,
    planned::RunnerUp,
    request::Request,
    resolved::{self, ResolvedRequest},
    statistic::Statistic,
    task::{
        candidates,
        together::{Joined, Together},
    },
};
use equipoise_core::{
    loss::{Amount, Approx, Loss},
    ratio::Ratio,
};

/// Several questions with one selection of keys.
#[derive(Clone, Debug)]
pub(super) struct OneSelection {
    pub task: Together,
    /// What all of them cost a person.
    pub cost: Approx,
    /// And for each row that comes or goes among those that take part.
    pub of_row: Approx,
}

/// Are there several questions about the same groups, whose keys are to be found? A wanted error has a price of its own, and so do keys
/// that it finds.
pub(super) fn applies(batch: &Batch) -> bool {
    let [first, others @ ..] = batch.questions.as_slice() else { return false };
    let suits = |question: &Request| {
        question.group_by == first.group_by
            && question.keys.is_empty()
            && question.target_error.is_none()
            && resolved::statistic(question).is_ok_and(|statistic| statistic != Statistic::Histogram)
    };
    !others.is_empty() && !first.group_by.is_empty() && batch.questions.iter().all(suits)
}

/// A part of what all questions cost: what is shown of one, never what is charged.
fn of(all: &Amount, part: &Ratio) -> Amount {
    Amount::new(all.ratio() * part).unwrap_or_else(|_| all.clone())
}

/// Plan questions that have their prices. The error is that of the question with this number.
pub(super) fn plan(
    questions: &[Request],
    facts: &DataFacts,
) -> Result<(Vec<Part>, Shared, OneSelection), (usize, PlanError)> {
    let number =
        |text: Option<&str>| text.and_then(|text| text.parse::<Ratio>().ok()).unwrap_or_else(Ratio::zero);
    let eps: Vec<Ratio> = questions.iter().map(|question| number(question.epsilon.as_deref())).collect();
    let delta: Vec<Ratio> = questions.iter().map(|question| number(question.delta.as_deref())).collect();
    let sum = |parts: &[Ratio]| parts.iter().fold(Ratio::zero(), |sum, part| sum + part);
    let share = |part: &Ratio, all: &Ratio| if all.is_zero() { Ratio::zero() } else { part / all };
    let (all_eps, all_delta) = (sum(&eps), sum(&delta));
    let said = |(number, question)| {
        let said = ResolvedRequest::new(question, facts).map_err(|error| (number, error))?;
        said.check_arguments().map_err(|error| (number, error))?;
        Ok(said)
    };
    let said: Vec<ResolvedRequest> = questions.iter().enumerate().map(said).collect::<Result<_, _>>()?;
    let words = Request {
        epsilon: Some(all_eps.to_exact()),
        delta: Some(all_delta.to_exact()),
        ..questions[0].clone()
    };
    let whole = ResolvedRequest::new(&words, facts).map_err(|error| (0, error))?;
    let joined: Vec<Joined<'_>> = said
        .iter()
        .zip(eps.iter().zip(&delta))
        .map(|(said, (eps, delta))| Joined {
            said,
            eps: share(eps, &all_eps),
            delta: share(delta, &all_delta),
        })
        .collect();
    let mut runners_up: Vec<Vec<RunnerUp>> = Vec::new();
    let task = Together::plan(&whole, &joined, |said| {
        let (task, others) = candidates::choose(said)?;
        runners_up.push(others);
        Ok(task)
    })?;
    let Loss::Approx(of_row) = task.cost().clone() else {
        return Err((0, PlanError::line("these mechanisms have no (epsilon, delta) price")));
    };
    let cost = whole.terms.of_person(&of_row);
    let parts = questions
        .iter()
        .zip(runners_up)
        .enumerate()
        .map(|(number, (request, runners_up))| {
            let Joined { eps, delta, .. } = &joined[number];
            let share = |all: &Approx| Approx { eps: of(&all.eps, eps), delta: of(&all.delta, delta) };
            let (task, cost, of_row) = (task.only(number), share(&cost), share(&of_row));
            Part::plain(Plain { request: request.clone(), task, cost, of_row, runners_up }, facts)
        })
        .collect();
    let shared = Shared { adjacency: whole.asked, unit: whole.unit.clone(), rows: whole.rows.clone() };
    Ok((parts, shared, OneSelection { task, cost, of_row }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        audits::Memory,
        ledger::Ledger,
        plan::Plan,
        session::{Paid, Session},
    };
    use equipoise_core::adjacency::Adjacency;

    fn facts() -> DataFacts {
        let columns = ["salary", "town"].map(String::from).to_vec();
        DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new() }
    }

    fn planned(json: &str) -> Plan {
        Plan::batch(&Batch::from_json(json).unwrap(), &facts()).unwrap()
    }

    const BY_TOWN: &str = r#""delta": "1e-6", "group_by": "town""#;

    #[test]
    fn questions_about_the_same_groups_are_one_mechanism_and_others_are_not() {
        let count = r#"{"statistic": "count"}"#;
        let mean = r#"{"statistic": "mean", "column": "salary"}"#;
        for (shared, one, other, together) in [
            (BY_TOWN, count, mean, true),
            (BY_TOWN, mean, r#"{"statistic": "summary", "column": "salary"}"#, true),
            (r#""delta": "1e-6""#, count, mean, false),
            (r#""group_by": "town", "keys": ["Ayr"]"#, count, mean, false),
            (BY_TOWN, count, r#"{"statistic": "count", "target_error": 50}"#, false),
            (BY_TOWN, mean, r#"{"statistic": "mean", "column": "salary", "keys": ["Ayr"]}"#, false),
            (r#""delta": "1e-6""#, count, r#"{"statistic": "count", "group_by": "town"}"#, false),
        ] {
            let plan = planned(&format!(r#"{{"epsilon": 1, {shared}, "questions": [{one}, {other}]}}"#));
            assert_eq!(plan.has_one_selection(), together, "{shared} {other}");
            assert_eq!(plan.cost().eps.to_exact(), "1", "{other}");
        }
        assert!(
            !planned(&format!(r#"{{"epsilon": 1, {BY_TOWN}, "questions": [{mean}]}}"#)).has_one_selection()
        );
    }

    /// What is promised is what the keys and the answers cost, added up; and questions show parts that add up to it.
    #[test]
    fn the_keys_and_all_answers_cost_what_is_promised() {
        for adjacency in Adjacency::ALL {
            for unit in ["", r#", "unit": "town", "max_rows_per_unit": 3"#] {
                let plan = planned(&format!(
                    r#"{{"epsilon": 2, "adjacency": "{adjacency}", {BY_TOWN}{unit}, "questions": [
                        {{"statistic": "count"}}, {{"statistic": "mean", "column": "salary", "weight": 3}},
                        {{"statistic": "mode", "column": "town"}}, {{"statistic": "summary", "column": "salary"}}]}}"#
                ));
                let one = plan.together.as_ref().expect("one selection");
                let Loss::Approx(spent) = one.task.spent() else { panic!("an (epsilon, delta) price") };
                let converted = adjacency == Adjacency::Replace && unit.is_empty();
                let spent = if converted { spent.two_steps() } else { spent };
                assert_eq!(spent.eps.ratio(), one.of_row.eps.ratio(), "{adjacency}{unit}");
                let (spent, promised) = (spent.delta.ratio(), one.of_row.delta.ratio());
                let most = promised * &"0.999999".parse().unwrap();
                assert!(spent <= promised && *spent >= most, "{adjacency}{unit}: {spent} of {promised}");
                assert_eq!(plan.cost().eps.to_exact(), "2");
                let parts = plan.parts().iter().map(Part::cost).cloned().reduce(|sum, one| sum.compose(&one));
                assert_eq!(parts.as_ref(), Some(plan.cost()), "{adjacency}{unit}");
            }
        }
    }

    #[test]
    fn all_questions_have_the_same_keys_and_each_its_answer() {
        let rows = 3000;
        let salaries = (0..rows).map(|row| f64::from(row % 3)).collect();
        let memory = Memory::new(salaries, &["Ayr", "Bern", "Cork"]);
        let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
        let plan = planned(&format!(
            r#"{{"epsilon": 100, {BY_TOWN}, "questions": [{{"statistic": "count"}},
                {{"statistic": "median", "column": "salary"}}, {{"statistic": "mean", "column": "salary", "range": "0,9"}}]}}"#
        ));
        let Paid::Charged(charged) = session.charge(plan, None).unwrap() else { panic!("charged") };
        let release = session.run(*charged, &memory).unwrap();
        let answers = release.answers.unwrap();
        assert_eq!(release.spent.epsilon, "100");
        for (number, expected) in [[1000.0; 3], [0.0, 1.0, 2.0], [0.0, 1.0, 2.0]].iter().enumerate() {
            let groups = answers[number].groups.as_ref().unwrap();
            let keys: Vec<&str> = groups.iter().map(|group| group.key.as_str().unwrap()).collect();
            assert_eq!(keys, ["Ayr", "Bern", "Cork"]);
            for (group, expected) in groups.iter().zip(expected) {
                let value = group.value.as_f64().unwrap();
                assert!(
                    (value - expected).abs() < 0.05 * expected.max(1.0),
                    "{number}: {value} for {expected}"
                );
            }
        }
    }

    #[test]
    fn what_is_wrong_names_the_question_and_a_share_that_is_too_small_the_whole() {
        let error =
            |json: &str| Plan::batch(&Batch::from_json(json).unwrap(), &facts()).unwrap_err().to_string();
        let questions =
            r#""questions": [{"statistic": "count"}, {"statistic": "median", "column": "salary"}]"#;
        assert_eq!(
            error(&format!(r#"{{"epsilon": 1, "group_by": "town", {questions}}}"#)),
            "question 1 (count): finding keys needs a delta above 0; give `delta=1e-6`, or state the keys of one column with `keys`"
        );
        let small = error(&format!(r#"{{"epsilon": "0.0001", {BY_TOWN}, {questions}}}"#));
        assert!(
            small.starts_with("question 2 (median of salary): its share of epsilon 0.0001 is too small: ")
                && small.ends_with(" for the whole batch is enough"),
            "{small}"
        );
        let wrong = r#""questions": [{"statistic": "count"}, {"statistic": "median", "column": "salry"}]"#;
        let wrong = error(&format!(r#"{{"epsilon": 1, {BY_TOWN}, {wrong}}}"#));
        assert!(wrong.starts_with("question 2 (median of salry): no column is called 'salry'"), "{wrong}");
    }
}
