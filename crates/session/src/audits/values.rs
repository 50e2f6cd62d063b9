//! Exact audits of whole questions that count each person once for each value: a person with any rows comes, goes or is replaced.

use super::people::{
    DRAWN_RECORDS, Data, PEOPLE, facts, keeps, measured, of_people, people, plan, records, request,
};
use crate::{plan::Plan, request::Request};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::adjacency::{Adjacency, Unit};

pub(super) static UNIT_VALUES: Audit = Audit {
    name: "unit-values",
    about: "whole answers about frequent values with a privacy unit: each person counts once for each value, with all their rows",
    source: "counts that one person moves by at most one, all of them the same way",
    kind: Kind::Claim {
        shipped: unit_values,
        change: "a person counts for a value as often as they have it",
        mutant: || {
            let request = among("permute-and-flip", "2", Adjacency::AddRemove);
            let (once, every) = (plan(&request), plan(&of_people(3, request)));
            let claim = Claim::promised(once.cost(), Adjacency::AddRemove);
            vec![measured(&once, every.rows(), claim, &people(Adjacency::AddRemove), PEOPLE)]
        },
    },
};

/// One of three stated values that nearly the most people have, one of which nobody has.
fn among(mechanism: &str, eps: &str, adjacency: Adjacency) -> Request {
    Request {
        column: Some("salary".into()),
        unit: Some("town".into()),
        among: ["0", "2", "7"].map(String::from).to_vec(),
        mechanism: Some(mechanism.into()),
        ..request("select", eps, adjacency)
    }
}

/// The same of values that are found, with at most so many of each person.
fn found(values: u64, adjacency: Adjacency) -> Request {
    Request {
        among: Vec::new(),
        max_groups_per_unit: Some(values.to_string()),
        delta: Some("0.1".into()),
        ..among("permute-and-flip", "2", adjacency)
    }
}

/// The value that the most people have, or a refusal.
fn exact(adjacency: Adjacency) -> Request {
    let mode = Request { among: Vec::new(), mechanism: None, ..among("", "2", adjacency) };
    Request { statistic: "mode".into(), delta: Some("0.1".into()), ..mode }
}

/// The two values that the most people have, of stated ones or of all.
fn top(request: Request) -> Request {
    Request { statistic: "top".into(), k: Some("2".into()), ..request }
}

fn requests(adjacency: Adjacency) -> Vec<Request> {
    let stated =
        ["permute-and-flip", "exponential", "noisy-max"].map(|mechanism| among(mechanism, "2", adjacency));
    let tops = [top(among("permute-and-flip", "2", adjacency)), top(exact(adjacency))];
    let found = [exact(adjacency), found(1, adjacency), found(2, adjacency)];
    stated.into_iter().chain(found).chain(tops).collect()
}

fn unit_values() -> Vec<Measured> {
    let mut found = Vec::new();
    for adjacency in Adjacency::ALL {
        let pairs = people(adjacency);
        for request in requests(adjacency) {
            let plan = plan(&request);
            found.push(keeps(&plan, plan.cost(), adjacency, &pairs, PEOPLE));
        }
        // What a budget of single rows is charged: one step where all values count, two where some are drawn.
        let registered = facts(Some((Unit::Row, adjacency)));
        let pairs: Vec<(Data, Data)> = records(3, adjacency);
        for request in requests(adjacency) {
            let plan = Plan::new(&request, &registered).expect("a good request");
            found.push(keeps(&plan, plan.charge(), adjacency, &pairs, DRAWN_RECORDS));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistic::{Argument, Statistic};
    use equipoise_core::ratio::Ratio;

    /// Two choices at half of epsilon each lose all of it.
    #[test]
    fn a_top_of_two_that_promises_one_choice_is_caught() {
        for adjacency in Adjacency::ALL {
            let plan = plan(&top(among("permute-and-flip", "2", adjacency)));
            let claim = Claim::new(Ratio::one(), Ratio::zero(), adjacency);
            assert!(measured(&plan, plan.rows(), claim, &people(adjacency), PEOPLE).refuted());
        }
    }

    /// A person is one step, or two who are replaced; a single row is one step, or two where another value may go for it.
    #[test]
    fn prices_are_those_of_one_step() {
        for adjacency in Adjacency::ALL {
            let twice = if adjacency == Adjacency::Replace { 2 } else { 1 };
            let registered = facts(Some((Unit::Row, adjacency)));
            for (request, steps) in [
                (among("exponential", "2", adjacency), 1),
                (exact(adjacency), 1),
                (found(1, adjacency), 2),
                (found(2, adjacency), 2),
            ] {
                assert_eq!(plan(&request).cost().eps.to_string(), "2");
                let plan = Plan::new(&request, &registered).expect("a good request");
                assert_eq!(plan.charge(), &plan.parts()[0].of_row().steps(steps * twice));
                assert_eq!(plan.rows().steps_per_unit(), 1);
            }
        }
    }

    /// A number of values was asked for at the price of one step and told all values of a person: a thousand of theirs moved it by a thousand.
    #[test]
    fn no_other_statistic_lets_all_rows_of_a_person_in() {
        for statistic in Statistic::ALL {
            let frequent = matches!(statistic, Statistic::Mode | Statistic::Top | Statistic::Select);
            let spec = statistic.spec();
            for adjacency in Adjacency::ALL {
                let asked = Request {
                    column: Some(
                        if statistic == Statistic::Share { "salary > 1" } else { "salary" }.to_string(),
                    ),
                    unit: Some("town".into()),
                    delta: Some("0.1".into()),
                    fraction: statistic.takes(Argument::Fraction).then(|| "0.5".to_string()),
                    y: statistic.takes(Argument::Y).then(|| "salary".to_string()),
                    on: if statistic.takes(Argument::On) {
                        vec!["salary * salary".into()]
                    } else {
                        Vec::new()
                    },
                    at: statistic.takes(Argument::At).then(|| "1".to_string()),
                    k: statistic.takes(Argument::K).then(|| "1".to_string()),
                    among: if statistic.takes(Argument::Among) {
                        vec!["0".into(), "2".into()]
                    } else {
                        Vec::new()
                    },
                    ..request(spec.name, "2", adjacency)
                };
                let plan =
                    Plan::new(&asked, &facts(None)).unwrap_or_else(|error| panic!("{}: {error}", spec.name));
                assert_eq!(plan.promise().once_for_each_value, frequent, "{}", spec.name);
                assert_eq!(plan.rows_per_unit(), (!frequent).then_some(1), "{}", spec.name);
            }
        }
    }

    /// A person with any rows comes, goes or is replaced, and the number of values shows no more than was promised.
    #[test]
    fn a_number_of_values_keeps_what_it_promises_to_people() {
        for adjacency in Adjacency::ALL {
            let asked = Request {
                column: Some("salary".into()),
                unit: Some("town".into()),
                ..request("distinct", "1", adjacency)
            };
            let (one, three) = (plan(&asked), plan(&of_people(3, asked)));
            let claim = || Claim::promised(one.cost(), adjacency);
            let pairs = people(adjacency);
            assert!(!measured(&one, one.rows(), claim(), &pairs, PEOPLE).refuted());
            // With all rows of a person at the price of one it is found out.
            assert!(measured(&one, three.rows(), claim(), &pairs, PEOPLE).refuted());
        }
    }

    /// Which rows take part is said in a plan and in what it promises; who states a bound on rows gets rows.
    #[test]
    fn what_is_counted_is_said() {
        let adjacency = Adjacency::AddRemove;
        for (request, words, promised) in [
            (exact(adjacency), "each town counts once for each value", (None, None, true)),
            (
                found(3, adjacency),
                "each town counts once for each of at most 3 values, drawn at random",
                (None, Some(3), true),
            ),
            (found(1, adjacency), "each town counts for one value, drawn at random", (None, Some(1), true)),
            (
                of_people(2, exact(adjacency)),
                "at most 2 rows of each town, drawn at random",
                (Some(2), None, false),
            ),
            (
                Request { max_groups_per_unit: None, ..found(1, adjacency) },
                "one row of each town, drawn at random",
                (Some(1), None, false),
            ),
        ] {
            let plan = plan(&request);
            assert_eq!(plan.rows_words().as_deref(), Some(words));
            let promise = plan.promise();
            let said = (promise.max_rows_per_unit, promise.max_groups_per_unit, promise.once_for_each_value);
            assert_eq!(said, promised, "{words}");
            assert_eq!(promise.values_words().as_deref(), promised.2.then_some(words));
        }
        for request in [
            Request { max_groups_per_unit: Some("2".into()), ..exact(adjacency) },
            of_people(1, found(2, adjacency)),
        ] {
            let error = Plan::new(&request, &facts(None)).unwrap_err().to_string();
            assert!(error.contains("is for answers by group"), "{error}");
        }
    }
}
