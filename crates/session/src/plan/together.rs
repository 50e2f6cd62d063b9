//! Questions of a batch that are about the same groups: their keys are found once, and all of them are one mechanism with one price.

use super::{
    DataFacts, Part, PlanError,
    composed::{Lost, Terms},
    part::{Plain, Shared},
    pools::{self, Run},
};
use crate::{
    batch::Batch,
    planned::RunnerUp,
    request::Request,
    resolved::{self, ResolvedRequest},
    statistic::Column,
    task::{
        Task,
        together::{Joined, Together},
    },
};
use equipoise_core::{
    loss::{Approx, Loss},
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
    /// What each of them loses in parts.
    pub lost: Lost,
}

/// Are there several questions about the same groups, whose keys are to be found? A wanted error has a price of its own, and so do keys
/// that it finds.
pub(super) fn applies(batch: &Batch) -> bool {
    are_about_the_same_groups(batch) && batch.questions[0].keys.is_empty()
}

/// Are there several questions about the same groups, whose keys are found or stated?
pub(super) fn are_about_the_same_groups(batch: &Batch) -> bool {
    let [first, others @ ..] = batch.questions.as_slice() else { return false };
    let suits = |question: &Request| {
        question.group_by == first.group_by
            && question.keys == first.keys
            && question.target_error.is_none()
            // Where the column is a key too, or has bins in each group, the question finds its keys alone.
            && resolved::statistic(question).is_ok_and(|statistic| statistic.spec().column != Column::Keys)
    };
    !others.is_empty() && !first.group_by.is_empty() && batch.questions.iter().all(suits)
}

/// Plan questions that have their prices, by the mechanisms that answer them. The error is that of the question with this number.
pub(super) fn plan<'a>(
    questions: &'a [Request],
    runs: &'a [Run],
    facts: &'a DataFacts,
    composed: Option<&Terms>,
) -> Result<(Vec<Part>, Shared, OneSelection), (usize, PlanError)> {
    let eps: Vec<Ratio> = questions.iter().map(|one| pools::number(one.epsilon.as_deref())).collect();
    let delta: Vec<Ratio> = questions.iter().map(|one| pools::number(one.delta.as_deref())).collect();
    let sum = |parts: &mut dyn Iterator<Item = &Ratio>| parts.fold(Ratio::zero(), |sum, part| sum + part);
    let (all_eps, all_delta) = (sum(&mut eps.iter()), sum(&mut delta.iter()));
    let said = |(number, question)| {
        let said = ResolvedRequest::new(question, facts).map_err(|error| (number, error))?;
        let said = if composed.is_some() { said.in_groups_concentrated() } else { said };
        said.check_arguments().map_err(|error| (number, error))?;
        Ok(said)
    };
    let said: Vec<ResolvedRequest> = questions.iter().enumerate().map(said).collect::<Result<_, _>>()?;
    let lead = |run: &'a Run| {
        let said = ResolvedRequest::new(&run.lead, facts).map_err(|error| (run.questions[0], error))?;
        Ok(if composed.is_some() { said.in_groups_concentrated() } else { said })
    };
    let leads: Vec<ResolvedRequest> = runs.iter().map(lead).collect::<Result<_, _>>()?;
    let words = Request {
        epsilon: Some(all_eps.to_exact()),
        delta: Some(all_delta.to_exact()),
        ..questions[0].clone()
    };
    let whole = ResolvedRequest::new(&words, facts).map_err(|error| (0, error))?;
    let join = |(run, lead): (&Run, _)| {
        let of = |parts: &[Ratio], all| {
            pools::share(&sum(&mut run.questions.iter().map(|&number| &parts[number])), all)
        };
        let questions = run.questions.iter().map(|&number| (number, said[number].statistic())).collect();
        Joined { said: lead, questions, eps: of(&eps, &all_eps), delta: of(&delta, &all_delta) }
    };
    let joined: Vec<Joined<'_>> = runs.iter().zip(&leads).map(join).collect();
    // What is told of each question beforehand.
    #[expect(clippy::type_complexity, reason = "what a part is made of, for a few lines")]
    let mut told: Vec<Option<(Task, Vec<RunnerUp>, Vec<String>)>> = questions.iter().map(|_| None).collect();
    let task = Together::plan(&whole, &joined, |place, said| {
        let run = &runs[place];
        let (task, each) = run.plan(said)?;
        for (&number, (task, others)) in run.questions.iter().zip(each) {
            told[number] = Some((task, others, run.others(questions, number)));
        }
        Ok(task)
    })?;
    let no_price = || (0, PlanError::line("these mechanisms have no (epsilon, delta) price"));
    let lost = Lost { losses: task.losses(), steps: whole.terms.steps() };
    let (cost, of_row) = match (composed, task.cost()) {
        (Some(terms), _) => {
            (Approx::new(&terms.said.0, &terms.said.1), lost.of_row(&terms.said.1).ok_or_else(no_price)?)
        }
        (None, Loss::Approx(of_row)) => (whole.terms.of_person(of_row), of_row.clone()),
        (None, _) => return Err(no_price()),
    };
    let part = |(number, (request, told)): (usize, (&Request, Option<_>))| {
        let (one, runners_up, others) = told.expect("every question is in one run");
        let [eps, delta] = [(&eps, &all_eps), (&delta, &all_delta)]
            .map(|(parts, all): (&Vec<Ratio>, _)| pools::share(&parts[number], all));
        let share = |all: &Approx| pools::of(all, &eps, &delta);
        let (task, cost, of_row) = (task.only(one), share(&cost), share(&of_row));
        Part::plain(Plain { request: request.clone(), task, cost, of_row, runners_up }, facts)
            .with_sums_of(others)
    };
    let parts = questions.iter().zip(told).enumerate().map(part).collect();
    let shared = Shared { adjacency: whole.asked, unit: whole.unit.clone(), rows: whole.rows.clone() };
    Ok((parts, shared, OneSelection { task, cost, of_row, lost }))
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
        DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new(), windows: None }
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
