//! Exact audits of whole questions about what each person's rows are made first: a person with any rows comes, goes or is replaced, or a
//! single row does where a budget counts rows.

use super::people::{DRAWN_RECORDS, PEOPLE, facts, keeps, measured, people, plan, records, request};
use crate::{
    plan::Plan,
    request::Request,
    source::{ColumnRead, ColumnType},
};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::adjacency::{Adjacency, Unit};

pub(super) static PER_UNIT: Audit = Audit {
    name: "per-unit",
    about: "whole answers about one value of each person, made of all their rows, by group too",
    source: "one value of each person in each group that is kept, limited to a range",
    kind: Kind::Claim {
        shipped: per_unit,
        change: "a value of each person for each salary, where one for all rows was declared",
        mutant: || {
            let plan = plan(&of_all_rows(request("count", "2", Adjacency::AddRemove)));
            let keys = vec![ColumnRead { column: 0, kind: ColumnType::Text }];
            let apart = plan.rows().clone().in_groups(keys, 3);
            let claim = Claim::promised(plan.cost(), Adjacency::AddRemove);
            vec![measured(&plan, &apart, claim, &people(Adjacency::AddRemove), PEOPLE)]
        },
    },
};

/// All rows of each person, made one value of at most two.
fn of_all_rows(request: Request) -> Request {
    Request {
        unit: Some("town".into()),
        per_unit: Some(true),
        range: Some("0,2".into()),
        types: [("salary".to_string(), "integer".to_string())].into(),
        ..request
    }
}

/// The same for two stated keys, with at most so many groups of each person.
fn by_salary(groups: u64, request: Request) -> Request {
    Request {
        group_by: vec!["salary".into()],
        keys: vec!["0".into(), "2".into()],
        max_groups_per_unit: Some(groups.to_string()),
        ..request
    }
}

fn requests(adjacency: Adjacency) -> Vec<Request> {
    let rows = of_all_rows(request("count", "3", adjacency));
    let of_salary = |statistic: &str| Request {
        column: Some("salary".into()),
        ..of_all_rows(request(statistic, "3", adjacency))
    };
    vec![
        by_salary(1, Request { epsilon: Some("6".into()), ..rows.clone() }),
        by_salary(2, Request { epsilon: Some("12".into()), ..rows.clone() }),
        by_salary(1, Request { epsilon: Some("6".into()), ..of_salary("sum") }),
        rows,
        of_salary("count"),
        of_salary("sum"),
    ]
}

fn per_unit() -> Vec<Measured> {
    let mut found = Vec::new();
    for adjacency in Adjacency::ALL {
        let pairs = people(adjacency);
        for request in requests(adjacency) {
            let plan = plan(&request);
            found.push(keeps(&plan, plan.cost(), adjacency, &pairs, PEOPLE));
        }
        // A row more takes a person's value away and brings another, whether it is the first of its group or not.
        let registered = facts(Some((Unit::Row, adjacency)));
        let pairs = records(3, adjacency);
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
    use crate::{
        batch::Batch,
        gather::{ScanResult, tests::FixedWords},
    };

    /// A person is one step, or two who are replaced; a single row is two, or four.
    #[test]
    fn prices_are_those_that_were_asked_for() {
        for adjacency in Adjacency::ALL {
            let twice = if adjacency == Adjacency::Replace { 2 } else { 1 };
            let registered = facts(Some((Unit::Row, adjacency)));
            for request in requests(adjacency) {
                let (alone, by_row) = (plan(&request), Plan::new(&request, &registered).unwrap());
                assert_eq!(alone.cost().eps.to_string(), request.epsilon.unwrap());
                assert_eq!(by_row.charge(), &by_row.parts()[0].of_row().steps(2 * twice));
            }
        }
    }

    /// What a claim of one step would have hidden: with all rows beside each other as values, a person moves a count three times as far.
    #[test]
    fn rows_that_are_not_made_one_value_are_caught() {
        let adjacency = Adjacency::AddRemove;
        let asked = of_all_rows(request("count", "2", adjacency));
        let made = plan(&asked);
        let three = Request { per_unit: None, range: None, max_rows_per_unit: Some("3".into()), ..asked };
        let rows = plan(&Request { epsilon: Some("6".into()), ..three });
        let claim = Claim::promised(made.cost(), adjacency);
        assert!(measured(&rows, rows.rows(), claim, &people(adjacency), PEOPLE).refuted());
    }

    #[test]
    fn what_is_made_of_rows_is_said_and_what_does_not_fit_is_one_line() {
        let adjacency = Adjacency::AddRemove;
        let asked = of_all_rows(request("count", "1", adjacency));
        for (request, words, groups) in [
            (asked.clone(), "all rows of each town, first made one value", None),
            (
                by_salary(1, asked.clone()),
                "all rows of each town in one group, drawn at random, first made one value",
                Some(1),
            ),
            (
                by_salary(2, asked.clone()),
                "all rows of each town in each of at most 2 groups, drawn at random, first made one value",
                Some(2),
            ),
        ] {
            let plan = plan(&request);
            assert_eq!(plan.rows_words().as_deref(), Some(words));
            let promise = plan.promise();
            assert_eq!((promise.max_rows_per_unit, promise.max_groups_per_unit), (None, groups));
            assert_eq!(promise.per_unit_words().as_deref(), Some(words));
            let expected = plan.expected().words;
            assert!(expected.contains("each person's rows are first made one value"), "{expected}");
        }
        let no_groups_said = Request { max_groups_per_unit: None, ..by_salary(1, asked.clone()) };
        assert_eq!(plan(&no_groups_said).groups_per_unit(), Some(1), "one group unless more are said");
        for (request, said) in [
            (Request { unit: None, ..asked.clone() }, "`per_unit` needs a unit"),
            (
                Request { max_rows_per_unit: Some("3".into()), ..asked.clone() },
                "all rows of each person take part",
            ),
            (Request { per_unit: None, ..asked.clone() }, "count takes no range"),
            (Request { statistic: "median".into(), ..asked.clone() }, "median takes no per_unit"),
            (Request { statistic: "sum".into(), ..asked.clone() }, "sum of which column?"),
            (
                Request { statistic: "sum".into(), column: Some("salry".into()), ..asked.clone() },
                "no column is called 'salry'",
            ),
            (
                Request {
                    statistic: "mean".into(),
                    column: Some("salary".into()),
                    types: [("salary".to_string(), "date".to_string())].into(),
                    ..asked
                },
                "mean of a date has no meaning",
            ),
        ] {
            let error = Plan::new(&request, &facts(None)).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains('\n'), "{error}");
        }
    }

    /// A count of rows, a sum and a mean of people's values beside a median of drawn rows, in one scan.
    #[test]
    fn questions_about_people_and_about_rows_share_a_scan() {
        let batch = Batch::from_json(
            r#"{"epsilon": 1000, "unit": "town", "questions": [
                {"statistic": "count", "per_unit": true, "range": "0,9"},
                {"statistic": "count"},
                {"statistic": "sum", "column": "salary", "per_unit": true, "range": "0,90"},
                {"statistic": "mean", "column": "salary", "per_unit": true, "range": "0,90"},
                {"statistic": "median", "column": "salary", "range": "0,90", "resolution": "1"}]}"#,
        )
        .unwrap();
        let plan = Plan::batch(&batch, &facts(None)).unwrap();
        assert_eq!(
            plan.rows_words().as_deref(),
            Some(
                "all rows of each town, first made one value; of other questions one row of each town, drawn at random"
            )
        );
        // 300 people with 1, 2 or 3 rows of 10, 20 or 30, and rows of nobody.
        let ids: Vec<String> = (0..300).map(|person| format!("p{person}")).collect();
        let mut data: Vec<super::super::people::Record> = vec![("", Some(1000)); 50];
        let ids: &'static [String] = ids.leak();
        for (person, id) in ids.iter().enumerate() {
            let many = person % 3 + 1;
            data.extend((0..many).map(|_| (id.as_str(), Some(10 * i64::try_from(many).unwrap()))));
        }
        let memory = super::super::people::source(&data);
        let hands = super::super::people::hands(1);
        let gathered = ScanResult::scan(&memory, plan.rows(), &plan.needs(), &hands).unwrap();
        let answers = plan.answers(&gathered, &mut FixedWords(3));
        let value = |place: usize| answers[place].value.as_ref().and_then(serde_json::Value::as_f64).unwrap();
        let truths = [600.0, 300.0, 100.0 * (10.0 + 40.0 + 90.0), 20.0, 20.0];
        for (place, truth) in truths.into_iter().enumerate() {
            assert!((value(place) - truth).abs() <= 0.01 * truth, "{place}: {} for {truth}", value(place));
        }
    }
}
