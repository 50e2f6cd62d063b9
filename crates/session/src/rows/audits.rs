//! Exact audits of the whole stage: a person with several rows comes, goes or is replaced, and the distribution of the whole
//! answer is enumerated, the draws of rows included.

use super::{Hands, Rows};
use crate::{
    gather::{Gathered, tests::Memory},
    plan::{DataFacts, Plan},
    request::Request,
    source::{Kind, Wanted},
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    interval::{Interval, exp_upper},
    loss::Approx,
    ratio::Ratio,
    tape::{Pmf, delta_between, enumerate},
};
use std::collections::BTreeMap;

/// A record: who, and a number or an empty field.
type Record = (&'static str, Option<i64>);
type Data = Vec<Record>;

const VALUES: [Option<i64>; 3] = [None, Some(0), Some(2)];

fn source(data: &[Record]) -> Memory {
    let numbers = data.iter().map(|(_, value)| value.map_or(f64::NAN, |value| value as f64)).collect();
    Memory::new(numbers, &data.iter().map(|(id, _)| *id).collect::<Vec<_>>())
}

fn facts(registered: Option<(Unit, Adjacency)>) -> DataFacts {
    DataFacts {
        name: "visits".into(),
        columns: vec!["salary".into(), "town".into()],
        registered,
        kinds: Vec::new(),
    }
}

fn plan(request: &Request) -> Plan {
    Plan::new(request, &facts(None)).expect("a good request")
}

fn distribution(plan: &Plan, rows: &Rows, data: &[Record], floor: &Ratio) -> Pmf<String> {
    let memory = source(data);
    enumerate(floor, |tape| {
        let gathered = Gathered::scan(&memory, rows, &plan.needs(), Hands::One(&mut *tape)).expect("memory");
        format!("{:?}", plan.task().answer(&gathered, tape))
    })
}

/// The largest delta that any pair shows at this epsilon.
fn worst(plan: &Plan, rows: &Rows, eps: &Ratio, pairs: &[(Data, Data)]) -> Interval {
    let mut seen: BTreeMap<Data, Pmf<String>> = BTreeMap::new();
    let floor = "1e-9".parse::<Ratio>().unwrap() / exp_upper(eps);
    let mut worst: Option<Interval> = None;
    for (a, b) in pairs {
        for data in [a, b] {
            if !seen.contains_key(data) {
                seen.insert(data.clone(), distribution(plan, rows, data, &floor));
            }
        }
        let delta = delta_between(eps, &seen[a], &seen[b]);
        worst = Some(worst.map_or(delta.clone(), |worst| worst.max(&delta)));
    }
    worst.expect("some pair")
}

fn keeps(plan: &Plan, loss: &Approx, pairs: &[(Data, Data)], what: &str) {
    let measured = worst(plan, plan.rows(), loss.eps.ratio(), pairs);
    let allowed = loss.delta.ratio() + &"1e-5".parse::<Ratio>().unwrap();
    assert!(
        measured.upper() <= allowed,
        "{what} {}: {}",
        plan.request().to_json(),
        measured.upper().to_f64()
    );
}

/// All lists of at most so many rows of one person, in rising order.
fn rows_of(id: &'static str, most: usize) -> Vec<Data> {
    let mut all = vec![Vec::new()];
    let mut last: Vec<Data> = vec![Vec::new()];
    for _ in 0..most {
        last = last
            .iter()
            .flat_map(|rows| VALUES.iter().map(move |value| [&rows[..], &[(id, *value)]].concat()))
            .filter(|rows| rows.is_sorted())
            .collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// Files in which others have few rows and one person any: that person comes or goes, or is replaced.
fn people(adjacency: Adjacency) -> Vec<(Data, Data)> {
    let others: [Data; 3] =
        [vec![], vec![("bob", Some(0))], vec![("bob", Some(2)), ("cy", Some(0)), ("", Some(2))]];
    let mine = rows_of("ann", 3);
    let mut pairs = Vec::new();
    for other in &others {
        let file = |rows: &Data| [&rows[..], &other[..]].concat();
        match adjacency {
            Adjacency::AddRemove => pairs.extend(mine.iter().map(|rows| (file(rows), other.clone()))),
            Adjacency::Replace => {
                for from in mine.iter().filter(|rows| !rows.is_empty()) {
                    pairs.extend(
                        mine.iter()
                            .filter(|to| !to.is_empty() && *to != from)
                            .map(|to| (file(from), file(to))),
                    );
                }
            }
        }
    }
    pairs
}

fn request(statistic: &str, eps: &str, adjacency: Adjacency) -> Request {
    Request { epsilon: Some(eps.into()), adjacency: Some(adjacency.to_string()), ..Request::new(statistic) }
}

fn of_people(rows: u64, request: Request) -> Request {
    Request { unit: Some("town".into()), max_rows_per_unit: Some(rows.to_string()), ..request }
}

fn on_a_small_grid(request: Request) -> Request {
    Request {
        column: Some("salary".into()),
        range: Some("0,2".into()),
        resolution: Some("1".into()),
        ..request
    }
}

fn exact(request: Request) -> Request {
    Request { mechanism: Some("stable".into()), delta: Some("0.1".into()), ..request }
}

#[test]
fn a_person_with_several_rows_loses_no_more_than_was_said() {
    for adjacency in Adjacency::ALL {
        let pairs = people(adjacency);
        for rows in [1, 2] {
            let fields = Request { column: Some("salary".into()), ..request("count", "3", adjacency) };
            for request in [
                request("count", "3", adjacency),
                fields,
                on_a_small_grid(request("median", "32", adjacency)),
                exact(on_a_small_grid(request("median", "2", adjacency))),
            ] {
                let plan = plan(&of_people(rows, request));
                assert_eq!(plan.cost().eps.to_string(), plan.request().epsilon.clone().unwrap());
                keeps(&plan, plan.cost(), &pairs, "people");
            }
        }
    }
}

/// Answers by group: the rows of a person may lie in several, and what is drawn lies in at most as many.
#[test]
fn groups_of_peoples_rows_keep_what_they_promise() {
    for adjacency in Adjacency::ALL {
        let request = Request {
            group_by: vec!["salary".into()],
            keys: vec!["0".into(), "2".into()],
            ..request("count", "12", adjacency)
        };
        let pairs = people(adjacency);
        for (rows, groups) in [(1, None), (1, Some(2)), (2, Some(1))] {
            let max_groups_per_unit = groups.map(|groups: u64| groups.to_string());
            let plan = plan(&of_people(rows, Request { max_groups_per_unit, ..request.clone() }));
            assert_eq!(plan.rows_per_unit(), Some(rows * groups.unwrap_or(1)));
            keeps(&plan, plan.cost(), &pairs, "groups");
        }
    }
}

/// Counts for two stated keys, with at most so many rows in at most so many groups of each person.
fn by_group(rows: u64, groups: u64, eps: &str, adjacency: Adjacency) -> Request {
    of_people(
        rows,
        Request {
            group_by: vec!["salary".into()],
            keys: vec!["0".into(), "2".into()],
            max_groups_per_unit: Some(groups.to_string()),
            ..request("count", eps, adjacency)
        },
    )
}

/// A person whose rows lie in both groups where one was declared and nothing draws one of them is caught.
#[test]
fn a_mutant_that_keeps_more_groups_than_were_declared_is_caught() {
    let one = plan(&by_group(1, 1, "2", Adjacency::AddRemove));
    let pairs = people(Adjacency::AddRemove);
    let eps = one.cost().eps.ratio().clone();
    let kept = worst(&one, one.rows(), &eps, &pairs);
    assert!(kept.upper() <= "1e-5".parse().unwrap(), "{}", kept.upper().to_f64());
    let keys = vec![Wanted { column: 0, kind: Kind::Text }];
    let unbounded = one.rows().clone().in_groups(keys, 2);
    let measured = worst(&one, &unbounded, &eps, &pairs);
    assert!(measured.lower() > "0.1".parse().unwrap(), "{}", measured.lower().to_f64());
}

/// One row more may open a group that takes the place of another with all its rows: a budget of rows pays one step more than a
/// group has rows. Two steps, which are enough without groups, are not.
#[test]
fn a_budget_of_rows_is_charged_enough_for_answers_by_group() {
    for adjacency in Adjacency::ALL {
        let pairs = records(3, adjacency);
        let registered = facts(Some((Unit::Row, adjacency)));
        for (rows, groups, steps) in [(1, 1, 2), (1, 2, 2), (2, 1, 3)] {
            let request = by_group(rows, groups, "6", adjacency);
            let plan = Plan::new(&request, &registered).expect("a good request");
            let twice = if adjacency == Adjacency::Replace { 2 } else { 1 };
            assert_eq!(plan.charge(), &plan.parts()[0].of_row().steps(steps * twice));
            keeps(&plan, plan.charge(), &pairs, "budget of rows by group");
        }
    }
    let plan = Plan::new(&by_group(2, 1, "8", Adjacency::AddRemove), &facts(None)).expect("a good request");
    let two_steps = plan.parts()[0].of_row().steps(2);
    let measured = worst(&plan, plan.rows(), two_steps.eps.ratio(), &records(3, Adjacency::AddRemove));
    assert!(measured.lower() > "0.01".parse().unwrap(), "{}", measured.lower().to_f64());
}

/// The same audit sees it when noise is for one row and two are kept, and when a person keeps one row in each of two groups
/// where one in all was counted.
#[test]
fn mutants_that_forget_a_row_are_caught() {
    let pairs = people(Adjacency::AddRemove);
    let two = plan(&of_people(2, request("count", "2", Adjacency::AddRemove)));
    let measured = worst(&two, two.rows(), &"1".parse().unwrap(), &pairs);
    assert!(measured.lower() > "0.1".parse().unwrap(), "{}", measured.lower().to_f64());
    let one = plan(&of_people(1, request("count", "2", Adjacency::AddRemove)));
    let keys = vec![Wanted { column: 0, kind: Kind::Float }];
    let grouped = one.rows().clone().in_groups(keys, 2);
    let measured = worst(&one, &grouped, &"2".parse().unwrap(), &pairs);
    assert!(measured.lower() > "0.1".parse().unwrap(), "{}", measured.lower().to_f64());
    // The bound that was counted is kept.
    assert_eq!(grouped.rows_per_unit(), 2);
    let measured = worst(&one, &grouped, &"4".parse().unwrap(), &pairs);
    assert!(measured.upper() <= "1e-5".parse().unwrap(), "{}", measured.upper().to_f64());
}

/// All files of at most so many rows of two people.
fn files(most: usize) -> Vec<Data> {
    let each = rows_of("ann", most);
    let mut all: Vec<Data> = each
        .iter()
        .flat_map(|a| rows_of("bob", most).into_iter().map(move |b| [&a[..], &b[..]].concat()))
        .collect();
    all.retain(|file| file.len() <= most);
    all
}

/// Pairs in which one record comes or goes, or another stands in its place.
fn records(most: usize, adjacency: Adjacency) -> Vec<(Data, Data)> {
    let mut pairs = Vec::new();
    for file in files(most) {
        for place in 0..file.len() {
            let mut without = file.clone();
            let gone = without.remove(place);
            match adjacency {
                Adjacency::AddRemove => pairs.push((file.clone(), without)),
                Adjacency::Replace => {
                    for id in ["ann", "bob"] {
                        for value in VALUES.iter().filter(|value| (id, **value) != gone) {
                            pairs.push((file.clone(), [&without[..], &[(id, *value)]].concat()));
                        }
                    }
                }
            }
        }
    }
    pairs
}

/// A filter under replace: how many rows pass is private, and one replacement may bring a row and take one.
#[test]
fn filters_keep_what_they_promise() {
    for adjacency in Adjacency::ALL {
        let pairs = records(2, adjacency);
        let fields = Request { column: Some("salary".into()), ..request("count", "2", adjacency) };
        for request in [
            request("count", "2", adjacency),
            fields,
            on_a_small_grid(request("median", "16", adjacency)),
            exact(on_a_small_grid(request("median", "2", adjacency))),
        ] {
            for filter in ["town = 'ann'", "salary > 1", "salary is null or town <> 'ann'"] {
                let plan = plan(&Request { filter: Some(filter.into()), ..request.clone() });
                assert_eq!(plan.cost().eps.to_string(), plan.request().epsilon.clone().unwrap());
                keeps(&plan, plan.cost(), &pairs, "filter");
            }
        }
    }
}

/// A budget that counts single rows pays two steps for a row and four for a replaced one: that is enough.
#[test]
fn a_budget_of_rows_is_charged_enough_for_an_answer_about_people() {
    for adjacency in Adjacency::ALL {
        let (pairs, few) = (records(3, adjacency), records(2, adjacency));
        for rows in [1, 2] {
            for (request, pairs) in [
                (request("count", "2", adjacency), &pairs),
                // With the noisy number of rows that it buys, every file takes seconds.
                (on_a_small_grid(request("median", "8", adjacency)), &few),
                (exact(on_a_small_grid(request("median", "1", adjacency))), &pairs),
            ] {
                let facts = facts(Some((Unit::Row, adjacency)));
                let plan = Plan::new(&of_people(rows, request), &facts).expect("a good request");
                assert_eq!(plan.charged_for(), &Unit::Row);
                keeps(&plan, plan.charge(), pairs, "budget of rows");
            }
        }
    }
}

#[test]
fn units_and_filters_are_said_in_plans_and_wrong_ones_in_one_line() {
    let people = plan(&of_people(3, request("count", "1", Adjacency::AddRemove)));
    assert_eq!(people.rows_words().as_deref(), Some("at most 3 rows of each town, drawn at random"));
    assert_eq!(
        people.guarantee().to_string(),
        "1-differential privacy for all rows of one town, added or removed"
    );
    let registered = facts(Some((Unit::Column("town".into()), Adjacency::AddRemove)));
    let known = Plan::new(&request("count", "1", Adjacency::AddRemove), &registered).unwrap();
    assert_eq!(known.rows_words().as_deref(), Some("one row of each town, drawn at random"));
    assert_eq!(known.charge().eps.to_string(), "1");
    for (change, facts, said) in [
        (of_people(0, Request::default()), facts(None), "max-rows-per-unit 0 is not accepted"),
        (of_people(100_001, Request::default()), facts(None), "from 1 to 100000"),
        (Request { max_rows_per_unit: Some("2".into()), ..Request::default() }, facts(None), "needs a unit"),
        (Request { unit: Some("tow".into()), ..Request::default() }, facts(None), "did you mean 'town'"),
        (
            Request { unit: Some("salary".into()), ..Request::default() },
            registered.clone(),
            "registered with the unit town",
        ),
        (
            Request { max_groups_per_unit: Some("2".into()), ..Request::default() },
            facts(None),
            "max-groups-per-unit needs a unit",
        ),
        (
            Request { max_groups_per_unit: Some("2".into()), ..of_people(1, Request::default()) },
            facts(None),
            "is for answers by group",
        ),
        (
            Request { statistic: "count".into(), ..by_group(1, 0, "1", Adjacency::AddRemove) },
            facts(None),
            "max-groups-per-unit 0",
        ),
        (by_group(1000, 101, "1", Adjacency::AddRemove), facts(None), "give smaller bounds"),
        (Request { filter: Some("town >".into()), ..Request::default() }, facts(None), "--where: "),
    ] {
        let request = Request { statistic: "count".into(), epsilon: Some("1".into()), ..change };
        let error = Plan::new(&request, &facts).unwrap_err().to_string();
        assert!(error.contains(said) && !error.contains('\n'), "{error}");
    }
    // Two steps at half the price, and delta with it.
    let filtered = Request {
        filter: Some("salary > 1".into()),
        ..exact(on_a_small_grid(request("median", "1", Adjacency::Replace)))
    };
    let plan = plan(&filtered);
    assert_eq!((plan.cost().eps.to_string(), plan.cost().delta.to_string()), ("1".into(), "0.1".into()));
    assert_eq!(plan.charge(), plan.cost());
}
