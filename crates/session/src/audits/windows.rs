//! Exact audits of questions about calendar windows of rows: what one person has in one window comes or goes while their rows in
//! others stay, and what is charged to that window bounds what the answer loses. Rows of other windows, and those without a day, lose
//! nothing at all, which the tests below hold.

use super::people::{Data, by_group, exact, keeps, of_people, on_a_small_grid, people, records, request};
use crate::{
    plan::{DataFacts, Plan},
    request::Request,
};
use equipoise_audit::{Audit, Kind, Measured};
use equipoise_core::adjacency::{Adjacency, Unit};
use equipoise_ledger::{Cost, DayColumn, Every, Windows, cost_in_each};
use std::collections::BTreeSet;

const OVER: &str = "files in which what one person has on one of two days comes or goes";
const FIRST: &str = "1970-01-01";
const BOTH: &str = "1970-01-01,1970-01-03";

pub(super) static WINDOWS: Audit = Audit {
    name: "windows",
    about: "answers about stated calendar windows: what a person, or a single row, has in one of them",
    source: "one filter by windows, and two steps where people have rows in several",
    kind: Kind::Claim {
        shipped: windows,
        change: "each of two windows is charged what a whole person costs",
        mutant: || {
            let plan = plan(&about(BOTH, by_group(1, 1, "2", Adjacency::AddRemove)), of_people_registered());
            vec![keeps(&plan, plan.charge(), Adjacency::AddRemove, &in_one_window(), OVER)]
        },
    },
};

fn of_people_registered() -> Unit {
    Unit::Column("town".into())
}

/// Numbers are days here, each a window of its own.
fn plan(request: &Request, unit: Unit) -> Plan {
    let day = Some(DayColumn { name: "salary".into(), moments: false });
    let facts = DataFacts {
        name: "visits".into(),
        columns: vec!["salary".into(), "town".into()],
        registered: Some((unit, Adjacency::AddRemove)),
        kinds: Vec::new(),
        windows: Some(Windows { every: Every::Day, day }),
    };
    Plan::new(request, &facts).expect("a good request")
}

fn about(windows: &str, request: Request) -> Request {
    Request { window: Some(windows.into()), ..request }
}

/// Pairs in which all that one person has on one day comes or goes.
fn in_one_window() -> Vec<(Data, Data)> {
    let mut pairs = BTreeSet::new();
    for file in people(Adjacency::AddRemove).into_iter().flat_map(|(one, other)| [one, other]) {
        for day in [Some(0), Some(2)] {
            let without: Data = file.iter().filter(|row| **row != ("ann", day)).copied().collect();
            if without.len() < file.len() {
                pairs.insert((without, file.clone()));
            }
        }
    }
    pairs.into_iter().collect()
}

fn windows() -> Vec<Measured> {
    let mut found = Vec::new();
    let add = Adjacency::AddRemove;
    for (request, rows) in [
        (request("count", "2", add), 1),
        (request("count", "2", add), 2),
        (exact(on_a_small_grid(request("median", "1", add))), 1),
    ] {
        for windows in [FIRST, BOTH] {
            let plan = plan(&about(windows, of_people(rows, request.clone())), of_people_registered());
            found.push(charged(&plan, &in_one_window(), OVER));
        }
    }
    for groups in [1, 2] {
        let plan = plan(&about(BOTH, by_group(1, groups, "2", add)), of_people_registered());
        found.push(charged(&plan, &in_one_window(), OVER));
    }
    // A single row lies in one window, whatever is asked.
    let by_row = plan(&about(BOTH, request("count", "2", add)), Unit::Row);
    found.push(charged(&by_row, &records(3, add), "all files of up to three records, on two days or none"));
    found
}

/// What each window is charged bounds what an answer loses about it.
fn charged(plan: &Plan, pairs: &[(Data, Data)], over: &str) -> Measured {
    let windows = plan.windows().map_or(0, |asked| asked.asked.len());
    let cost = cost_in_each(plan.charged_for(), &Cost::from(plan.charge().clone()), windows);
    keeps(plan, &cost.approx, Adjacency::AddRemove, pairs, over)
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_core::loss::{Amount, Approx};

    /// The pairs that differ in rows of one day alone, or in rows without one.
    fn differing(day: Option<i64>, pairs: Vec<(Data, Data)>) -> Vec<(Data, Data)> {
        let others = |data: &Data| {
            let mut kept: Data = data.iter().filter(|(_, own)| *own != day).copied().collect();
            kept.sort_unstable();
            kept
        };
        pairs.into_iter().filter(|(one, other)| others(one) == others(other)).collect()
    }

    /// By hand: people pay two steps in each of two windows, and the whole price once in the data set; rows and single windows one.
    #[test]
    fn each_window_is_charged_its_steps() {
        let people = plan(
            &about(BOTH, of_people(1, request("count", "0.5", Adjacency::AddRemove))),
            of_people_registered(),
        );
        let of = |plan: &Plan, windows: usize| {
            cost_in_each(plan.charged_for(), &Cost::from(plan.charge().clone()), windows)
                .approx
                .eps
                .to_string()
        };
        assert_eq!(
            (people.charge().eps.to_string(), of(&people, 2), of(&people, 1)),
            ("0.5".into(), "1".into(), "0.5".into())
        );
        let rows = plan(&about(BOTH, request("count", "0.5", Adjacency::AddRemove)), Unit::Row);
        assert_eq!(of(&rows, 2), "0.5");
        assert_eq!(people.windows().unwrap().asked.len(), 2);
        assert!(people.promise().windows.is_some());
    }

    /// Rows of a window that is not charged, and rows of none, change no answer at all.
    #[test]
    fn rows_of_no_stated_window_lose_nothing() {
        let nothing = Approx { eps: Amount::zero(), delta: Amount::zero() };
        for day in [Some(2), None] {
            let add = Adjacency::AddRemove;
            let first = plan(&about(FIRST, of_people(2, request("count", "2", add))), of_people_registered());
            let pairs = differing(day, people(add));
            assert!(!pairs.is_empty(), "a claim about no pairs says nothing");
            assert!(keeps(&first, &nothing, add, &pairs, OVER).holds(), "{day:?}");
            // The same rows are not nothing where their window is stated.
            let both = plan(&about(BOTH, of_people(2, request("count", "2", add))), of_people_registered());
            assert_eq!(keeps(&both, &nothing, add, &pairs, OVER).holds(), day.is_none());
        }
    }

    /// Whoever types a filter that is always true, or one of other days, gets no other row.
    #[test]
    fn a_typed_filter_does_not_choose_the_window() {
        for filter in ["salary is null or salary >= 0", "salary = 2", "abs(salary) >= 0 or town = 'ann'"] {
            let typed =
                Request { filter: Some(filter.into()), ..request("count", "2", Adjacency::AddRemove) };
            let plan = plan(&about(FIRST, of_people(2, typed)), of_people_registered());
            let nothing = Approx { eps: Amount::zero(), delta: Amount::zero() };
            let pairs = differing(Some(2), people(Adjacency::AddRemove));
            assert!(keeps(&plan, &nothing, Adjacency::AddRemove, &pairs, OVER).holds(), "{filter}");
        }
    }
}
