//! Exact audits of whole questions about people and filters: a person with several rows comes, goes or is replaced, or a single record
//! does, and the distribution of the whole answer is enumerated. Which rows of a person are drawn is a function of a key, and the guarantee
//! holds for every key: each of a few is audited for itself.

use super::Memory;
use crate::{
    gather::ScanResult,
    need::Need,
    plan::{DataFacts, Plan},
    request::Request,
    rows::{Rows, ScanKeys},
    source::{Batch, ColumnRead, ColumnType, Visitor},
    task::Answering,
};
use equipoise_audit::{Audit, Kind as AuditKind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    coins::ScriptedWords,
    interval::exp_upper,
    loss::Approx,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static UNITS: Audit = Audit {
    name: "units",
    about: "whole answers with a privacy unit: all rows of one person, of which at most so many are drawn",
    source: "bounding by a sample of each person's rows",
    kind: AuditKind::Claim {
        shipped: units,
        change: "the noise of one row where two are kept",
        mutant: || {
            let plan = plan(&of_people(2, request("count", "2", Adjacency::AddRemove)));
            let half = Claim::new(Ratio::one(), Ratio::zero(), Adjacency::AddRemove);
            vec![measured(&plan, plan.rows(), half, &people(Adjacency::AddRemove), PEOPLE)]
        },
    },
};

pub(super) static UNIT_GROUPS: Audit = Audit {
    name: "unit-groups",
    about: "answers by group with a privacy unit: the rows of one person in at most so many groups",
    source: "bounding by a sample of each person's groups and rows",
    kind: AuditKind::Claim {
        shipped: unit_groups,
        change: "two groups are kept where one was declared",
        mutant: || {
            let plan = plan(&by_group(1, 1, "2", Adjacency::AddRemove));
            let keys = vec![ColumnRead { column: 0, kind: ColumnType::Text }];
            let unbounded = plan.rows().clone().in_groups(keys, 2);
            let claim = Claim::promised(plan.cost(), Adjacency::AddRemove);
            vec![measured(&plan, &unbounded, claim, &people(Adjacency::AddRemove), PEOPLE)]
        },
    },
};

pub(super) static FILTERS: Audit = Audit {
    name: "filters",
    about: "whole answers about the rows that pass a filter, whose number is private under replace too",
    source: "one replacement may bring a row and take one",
    kind: AuditKind::Claim {
        shipped: filters,
        change: "under replace, what one row that comes or goes costs",
        mutant: || {
            let median = exact(on_a_small_grid(request("median", "2", Adjacency::AddRemove)));
            let plan = plan(&filtered("town = 'ann'", median));
            let claim = Claim::promised(plan.cost(), Adjacency::Replace);
            vec![measured(&plan, plan.rows(), claim, &records(2, Adjacency::Replace), RECORDS)]
        },
    },
};

pub(super) static ROW_BUDGETS: Audit = Audit {
    name: "row-budgets",
    about: "what a budget of single rows is charged for answers about people and about people's groups",
    source: "a row more may change which rows of its person are drawn, and which group",
    kind: AuditKind::Claim {
        shipped: row_budgets,
        change: "two steps where a group of two rows may take the place of another",
        mutant: || {
            let plan = plan(&by_group(2, 1, "8", Adjacency::AddRemove));
            let claim = Claim::promised(&plan.parts()[0].of_row().steps(2), Adjacency::AddRemove);
            vec![measured(&plan, plan.rows(), claim, &records(3, Adjacency::AddRemove), DRAWN_RECORDS)]
        },
    },
};

pub(super) const PEOPLE: &str = "three files in which one person has any of 20 lists of up to 3 rows, 3 keys";
pub(super) const RECORDS: &str = "all files of two people's records, 3 values";
pub(super) const DRAWN_RECORDS: &str = "all files of two people's records, 3 values, 3 keys";

/// A record: who, and a number or an empty field.
pub(super) type Record = (&'static str, Option<i64>);
pub(super) type Data = Vec<Record>;

const VALUES: [Option<i64>; 3] = [None, Some(0), Some(2)];

pub(super) fn source(data: &[Record]) -> Memory {
    let numbers = data.iter().map(|(_, value)| value.map_or(f64::NAN, |value| value as f64)).collect();
    Memory::new(numbers, &data.iter().map(|(id, _)| *id).collect::<Vec<_>>())
}

pub(super) fn facts(registered: Option<(Unit, Adjacency)>) -> DataFacts {
    DataFacts {
        name: "visits".into(),
        columns: vec!["salary".into(), "town".into()],
        registered,
        kinds: Vec::new(),
        windows: None,
    }
}

pub(super) fn plan(request: &Request) -> Plan {
    Plan::new(request, &facts(None)).expect("a good request")
}

/// Keys under which rows of people are drawn. Between them they draw rows and groups in either order.
const KEYS: [u64; 3] = [1, 2, 4];

pub(super) fn hands(key: u64) -> ScanKeys {
    ScanKeys::new(1, &mut ScriptedWords::new(vec![key; 6]))
}

fn law(plan: &Plan, rows: &Rows, key: u64, data: &[Record], floor: &Ratio) -> Pmf<String> {
    let memory = source(data);
    let gathered = ScanResult::scan(&memory, rows, &plan.needs(), &hands(key)).expect("memory");
    enumerate(floor, |tape| format!("{:?}", plan.task().answer(&gathered, tape)))
}

/// The cells that are handed over of rows that take part, in their order.
struct Delivered(Vec<String>);

impl Visitor for Delivered {
    fn batch(&mut self, batch: Batch<'_>) {
        self.0.push(format!("{} {:?}", batch.rows, batch.cells));
    }
}

/// All that a scan hands over of a file, which is all that an answer knows of it.
fn delivered(plan: &Plan, rows: &Rows, key: u64, data: &[Record]) -> Vec<String> {
    let mut wanted: Vec<ColumnRead> = plan.needs().iter().flat_map(Need::all_wanted).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut delivered = Delivered(Vec::new());
    rows.scan(&source(data), &wanted, &mut [&mut delivered], &hands(key)).expect("memory");
    delivered.0
}

pub(super) fn measured(
    plan: &Plan,
    rows: &Rows,
    claim: Claim,
    pairs: &[(Data, Data)],
    over: &str,
) -> Measured {
    // What one side cuts off weighs e^epsilon against the other, and a thousand outcomes lie at the cut.
    let floor = "1e-9".parse::<Ratio>().expect("a decimal") / exp_upper(&claim.eps);
    let claim = claim.at_resolution("1e-5");
    // Without people there is nothing that a key draws.
    let keys = if rows.bound().is_some() { &KEYS[..] } else { &KEYS[..1] };
    let under = |&key: &u64| pairs.iter().cloned().map(move |(one, other)| ((key, one), (key, other)));
    let pairs = keys.iter().flat_map(under);
    // Many files and keys leave the same rows; the law of their answers is enumerated once.
    let mut laws: BTreeMap<Vec<String>, Pmf<String>> = BTreeMap::new();
    let found = claim.over_inputs(over, pairs, |(key, data): &(u64, Data)| {
        let known = laws.entry(delivered(plan, rows, *key, data));
        known.or_insert_with(|| law(plan, rows, *key, data, &floor)).clone()
    });
    found.case(case(plan))
}

/// The question, in a few words.
fn case(plan: &Plan) -> String {
    let request = plan.request();
    let mut words = request.statistic.clone();
    if let Some(mechanism) = &request.mechanism {
        words = format!("{words}, {mechanism}");
    }
    if let Some(rows) = &request.max_rows_per_unit {
        words = format!("{words}, {rows} rows a person");
    }
    if let Some(groups) = &request.max_groups_per_unit {
        words = format!("{words}, {groups} groups a person");
    }
    if let Some(filter) = &request.filter {
        words = format!("{words}, where {filter}");
    }
    words
}

pub(super) fn keeps(
    plan: &Plan,
    loss: &Approx,
    adjacency: Adjacency,
    pairs: &[(Data, Data)],
    over: &str,
) -> Measured {
    measured(plan, plan.rows(), Claim::promised(loss, adjacency), pairs, over)
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

pub(super) const PEOPLE_OF_TWO: &str = "two files in which one person has any of 10 lists of up to 2 rows";

/// Files in which another has one row and one person up to two: that person comes or goes, or is replaced.
pub(super) fn people_of_two(adjacency: Adjacency) -> Vec<(Data, Data)> {
    let small = |data: &Data| data.iter().filter(|(id, _)| *id == "ann").count() <= 2 && data.len() <= 3;
    people(adjacency).into_iter().filter(|(one, other)| small(one) && small(other)).collect()
}

/// Files in which others have few rows and one person any: that person comes or goes, or is replaced.
pub(super) fn people(adjacency: Adjacency) -> Vec<(Data, Data)> {
    let others: [Data; 3] =
        [vec![], vec![("bob", Some(0))], vec![("bob", Some(2)), ("cy", Some(0)), ("", Some(2))]];
    let mine = rows_of("ann", 3);
    let mut pairs = BTreeSet::new();
    for other in &others {
        let file = |rows: &Data| [&rows[..], &other[..]].concat();
        match adjacency {
            Adjacency::AddRemove => {
                pairs.extend(mine.iter().filter_map(|rows| unordered(file(rows), other.clone())));
            }
            Adjacency::Replace => {
                for from in mine.iter().filter(|rows| !rows.is_empty()) {
                    pairs.extend(
                        mine.iter()
                            .filter(|to| !to.is_empty())
                            .filter_map(|to| unordered(file(from), file(to))),
                    );
                }
            }
        }
    }
    pairs.into_iter().collect()
}

pub(super) fn request(statistic: &str, eps: &str, adjacency: Adjacency) -> Request {
    Request { epsilon: Some(eps.into()), adjacency: Some(adjacency.to_string()), ..Request::new(statistic) }
}

pub(super) fn of_people(rows: u64, request: Request) -> Request {
    Request { unit: Some("town".into()), max_rows_per_unit: Some(rows.to_string()), ..request }
}

pub(super) fn on_a_small_grid(request: Request) -> Request {
    Request {
        column: Some("salary".into()),
        range: Some("0,2".into()),
        resolution: Some("1".into()),
        ..request
    }
}

pub(super) fn exact(request: Request) -> Request {
    Request { mechanism: Some("stable".into()), delta: Some("0.1".into()), ..request }
}

pub(super) fn filtered(filter: &str, request: Request) -> Request {
    Request { filter: Some(filter.into()), ..request }
}

/// Counts for two stated keys, with at most so many rows in at most so many groups of each person.
pub(super) fn by_group(rows: u64, groups: u64, eps: &str, adjacency: Adjacency) -> Request {
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

fn units() -> Vec<Measured> {
    let mut found = Vec::new();
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
                found.push(keeps(&plan, plan.cost(), adjacency, &pairs, PEOPLE));
            }
        }
    }
    found
}

fn unit_groups() -> Vec<Measured> {
    let mut found = Vec::new();
    for adjacency in Adjacency::ALL {
        let pairs = people(adjacency);
        for (rows, groups) in [(1, 1), (1, 2), (2, 1)] {
            let plan = plan(&by_group(rows, groups, "12", adjacency));
            found.push(keeps(&plan, plan.cost(), adjacency, &pairs, PEOPLE));
        }
    }
    found
}

fn filters() -> Vec<Measured> {
    let mut found = Vec::new();
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
                let plan = plan(&filtered(filter, request.clone()));
                found.push(keeps(&plan, plan.cost(), adjacency, &pairs, RECORDS));
            }
        }
    }
    found
}

/// A budget that counts single rows pays two steps for a row and four for a replaced one; by group, one step more than a group has
/// rows.
fn row_budgets() -> Vec<Measured> {
    let mut found = Vec::new();
    for adjacency in Adjacency::ALL {
        let (pairs, few) = (records(3, adjacency), records(2, adjacency));
        let registered = facts(Some((Unit::Row, adjacency)));
        for (request, pairs) in [
            (of_people(1, request("count", "2", adjacency)), &pairs),
            (of_people(2, request("count", "2", adjacency)), &pairs),
            // With the noisy number of rows that it buys, every file takes seconds.
            (of_people(1, on_a_small_grid(request("median", "8", adjacency))), &few),
            (of_people(1, exact(on_a_small_grid(request("median", "1", adjacency)))), &pairs),
            (of_people(2, exact(on_a_small_grid(request("median", "1", adjacency)))), &pairs),
            (by_group(1, 1, "6", adjacency), &pairs),
            (by_group(1, 2, "6", adjacency), &pairs),
            (by_group(2, 1, "6", adjacency), &pairs),
        ] {
            let plan = Plan::new(&request, &registered).expect("a good request");
            found.push(keeps(&plan, plan.charge(), adjacency, pairs, DRAWN_RECORDS));
        }
    }
    found
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
pub(super) fn records(most: usize, adjacency: Adjacency) -> Vec<(Data, Data)> {
    let mut pairs = BTreeSet::new();
    for file in files(most) {
        for place in 0..file.len() {
            let mut without = file.clone();
            let gone = without.remove(place);
            match adjacency {
                Adjacency::AddRemove => pairs.extend(unordered(file.clone(), without)),
                Adjacency::Replace => {
                    for id in ["ann", "bob"] {
                        for value in VALUES.iter().filter(|value| (id, **value) != gone) {
                            let other = [&without[..], &[(id, *value)]].concat();
                            pairs.extend(unordered(file.clone(), other));
                        }
                    }
                }
            }
        }
    }
    pairs.into_iter().collect()
}

/// The pair once, whichever comes first, with rows in rising order; nothing where they are the same.
fn unordered(mut a: Data, mut b: Data) -> Option<(Data, Data)> {
    a.sort_unstable();
    b.sort_unstable();
    (a != b).then(|| if a < b { (a, b) } else { (b, a) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::tests::FixedWords;

    /// What is charged, by hand: the promise itself, and steps of a row where a budget counts rows.
    #[test]
    fn prices_are_those_that_were_asked_for() {
        for adjacency in Adjacency::ALL {
            let twice = if adjacency == Adjacency::Replace { 2 } else { 1 };
            let registered = facts(Some((Unit::Row, adjacency)));
            for (rows, groups, steps) in [(1, 1, 2), (1, 2, 2), (2, 1, 3)] {
                let request = by_group(rows, groups, "6", adjacency);
                assert_eq!(plan(&request).rows_per_unit(), Some(rows * groups));
                assert_eq!(plan(&request).cost().eps.to_string(), "6");
                let plan = Plan::new(&request, &registered).expect("a good request");
                assert_eq!(plan.charged_for(), &Unit::Row);
                assert_eq!(plan.charge(), &plan.parts()[0].of_row().steps(steps * twice));
            }
            let filtered = plan(&filtered("salary > 1", request("count", "2", adjacency)));
            assert_eq!(filtered.cost().eps.to_string(), "2");
        }
    }

    /// The keys of audits are worth auditing: for each person some keep one group and some the other, and some one row and some the other.
    #[test]
    fn keys_of_audits_draw_either_way() {
        let fields =
            Request { column: Some("salary".into()), ..request("count", "50", Adjacency::AddRemove) };
        let fields = plan(&of_people(1, fields));
        let grouped = plan(&by_group(1, 1, "50", Adjacency::AddRemove));
        for id in ["ann", "bob"] {
            for (plan, values) in [(&fields, [None, Some(0)]), (&grouped, [Some(0), Some(2)])] {
                let memory = source(&values.map(|value| (id, value)));
                let answer = |key: u64| {
                    let gathered =
                        ScanResult::scan(&memory, plan.rows(), &plan.needs(), &hands(key)).unwrap();
                    format!("{:?}", plan.task().answer(&gathered, &mut FixedWords(1)))
                };
                let seen: BTreeSet<String> = KEYS.into_iter().map(answer).collect();
                assert_eq!(seen.len(), 2, "{id} {seen:?}");
            }
        }
    }

    /// A person who keeps one row in each of two groups where one in all was counted loses twice as much, and no more.
    #[test]
    fn a_bound_that_counts_groups_twice_is_kept() {
        let one = plan(&of_people(1, request("count", "2", Adjacency::AddRemove)));
        let keys = vec![ColumnRead { column: 0, kind: ColumnType::Float }];
        let grouped = one.rows().clone().in_groups(keys, 2);
        assert_eq!(grouped.steps_per_unit(), 2);
        let at = |eps: u64| {
            let claim = Claim::new(Ratio::from(eps), Ratio::zero(), Adjacency::AddRemove);
            measured(&one, &grouped, claim, &people(Adjacency::AddRemove), PEOPLE)
        };
        assert!(at(2).refuted() && at(4).holds());
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
            (of_people(0, Request::default()), facts(None), "`max_rows_per_unit=0` is not accepted"),
            (of_people(100_001, Request::default()), facts(None), "from 1 to 100000"),
            (
                Request { max_rows_per_unit: Some("2".into()), ..Request::default() },
                facts(None),
                "needs a unit",
            ),
            (Request { unit: Some("tow".into()), ..Request::default() }, facts(None), "did you mean 'town'"),
            (
                Request { unit: Some("salary".into()), ..Request::default() },
                registered.clone(),
                "registered with the unit town",
            ),
            (
                Request { max_groups_per_unit: Some("2".into()), ..Request::default() },
                facts(None),
                "`max_groups_per_unit` needs a unit",
            ),
            (
                Request { max_groups_per_unit: Some("2".into()), ..of_people(1, Request::default()) },
                facts(None),
                "is for answers by group",
            ),
            (
                Request { statistic: "count".into(), ..by_group(1, 0, "1", Adjacency::AddRemove) },
                facts(None),
                "`max_groups_per_unit=0`",
            ),
            (by_group(1000, 101, "1", Adjacency::AddRemove), facts(None), "give smaller bounds"),
            (Request { filter: Some("town >".into()), ..Request::default() }, facts(None), "`where`: "),
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
}
