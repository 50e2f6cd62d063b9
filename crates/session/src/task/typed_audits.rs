//! Exact audits of answers about typed columns: the same enumeration, with rows that are whole numbers inside.

use super::{
    Answering, Task,
    audits::{EMPTY, request, worst_above},
    groups::GroupedStatistic,
    moments::Moments,
    summary::Summary,
};
use crate::{
    gather::tests::{FixedWords, Memory, all_rows},
    plan::{DataFacts, Plan},
    request::Request,
    resolved::ResolvedRequest,
};
use equipoise_core::{adjacency::Adjacency, ratio::Ratio};

fn facts() -> DataFacts {
    let columns = vec!["salary".into(), "town".into()];
    DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new(), windows: None }
}

fn typed(kind: &str, request: Request) -> Request {
    Request { types: [("salary".to_string(), kind.to_string())].into(), ..request }
}

#[test]
fn order_statistics_of_whole_types_keep_what_they_promise() {
    for adjacency in Adjacency::ALL {
        for (kind, range) in [
            ("integer", "0,2"),
            ("date", "1970-01-01,1970-01-03"),
            ("decimal:0", "0,2"),
            ("timestamp", "1970-01-01,1970-01-01T00:00:02"),
        ] {
            let base = Request {
                range: Some(range.into()),
                resolution: (kind == "timestamp").then(|| "1".into()),
                ..typed(kind, request("median", Some("salary"), "8", adjacency))
            };
            let stable = Request {
                mechanism: Some("stable".into()),
                epsilon: Some("1".into()),
                delta: Some("0.1".into()),
                ..base.clone()
            };
            for asked in [base, stable] {
                let plan = Plan::new(&asked, &facts()).expect("a good request");
                let cost = plan.cost();
                let measured =
                    worst_above("1e-9", plan.task(), adjacency, cost.eps.ratio(), &[EMPTY, 0, 2], 3);
                let allowed = cost.delta.ratio() + &"1e-5".parse().unwrap();
                assert!(measured.upper() <= allowed, "{kind} {adjacency} {}", measured.upper().to_f64());
            }
        }
    }
}

/// Sums in units of the column, without rounding; at a quarter of the price the same audit sees through them.
#[test]
fn exact_sums_keep_what_they_promise_and_cheaper_ones_do_not() {
    for adjacency in Adjacency::ALL {
        for (kind, range) in [("boolean", None), ("integer", Some("-1,1"))] {
            for statistic in ["sum", "mean", "variance"] {
                let range = range.map(str::to_string);
                let asked =
                    Request { range, ..typed(kind, request(statistic, Some("salary"), "8", adjacency)) };
                let facts = facts();
                let said = ResolvedRequest::new(&asked, &facts).unwrap();
                // What is said of rows without a value is enumerated in `holding` and `sums`.
                let task = Task::Moments(Box::new(Moments::plan(&said).unwrap().without_pair()));
                let audit = |eps| worst_above("1e-7", &task, adjacency, eps, &[EMPTY, 0, 1], 2);
                let measured = audit(said.eps().ratio());
                assert!(measured.upper() <= "1e-3".parse().unwrap(), "{kind} {statistic} {adjacency}");
                let measured = audit(&"2".parse().unwrap());
                assert!(measured.lower() > "0.01".parse().unwrap(), "{kind} {statistic} {adjacency}");
            }
        }
    }
}

/// Sums, a quantile and the noisy number of its rows for each group, stated or found. A mutant that promises three eighths of the price
/// is caught; where a key that one row has is told with delta, one that promises a quarter.
#[test]
fn summaries_by_group_keep_what_they_promise_and_cheaper_ones_do_not() {
    let adjacency = Adjacency::AddRemove;
    for (keys, delta, promised, size) in
        [(vec!["beech".to_string()], "0", "15", 1), (Vec::new(), "0.1", "10", 2)]
    {
        let asked = Request {
            range: Some("0,1".into()),
            keys,
            delta: Some(delta.into()),
            group_by: vec!["town".into()],
            ..typed("integer", request("summary", Some("salary"), "40", adjacency))
        };
        let facts = facts();
        let said = ResolvedRequest::new(&asked, &facts).unwrap();
        let one = |inner: &ResolvedRequest| Ok(Task::Summary(Box::new(Summary::of(inner, &[50])?)));
        let task = Task::Groups(Box::new(GroupedStatistic::of(&said, one).unwrap()));
        let audit = |floor, eps: &Ratio| worst_above(floor, &task, adjacency, eps, &[1], size);
        let delta: Ratio = delta.parse().unwrap();
        // What is cut off on one side is as rare on the other: the bracket stays narrow.
        let measured = audit("1", said.eps().ratio());
        assert!(measured.upper() <= &delta + &"1e-3".parse().unwrap(), "{}", measured.to_f64());
        let measured = audit("1e-7", &promised.parse().unwrap());
        assert!(measured.lower() > &delta + &"0.1".parse().unwrap(), "{}", measured.to_f64());
    }
}

/// After the charge nothing may fail, whatever the rows: the ends of 64 bits, nulls, none.
#[test]
fn no_whole_numbers_make_an_answer_panic() {
    let mut coins = FixedWords(7);
    let odd = [f64::NAN, f64::MAX, f64::MIN, 0.0, 1.0, -1.0, 9.007_199_254_740_993e15];
    let mut files: Vec<Vec<f64>> = odd.iter().flat_map(|&row| [vec![row], vec![row; 700]]).collect();
    files.extend([vec![], odd.to_vec(), odd.repeat(100)]);
    for adjacency in Adjacency::ALL {
        for kind in ["date", "timestamp", "decimal:2", "decimal:18", "integer", "boolean"] {
            for statistic in
                ["sum", "mean", "variance", "median", "iqr", "mode", "select", "histogram", "summary"]
            {
                let keyed = matches!(statistic, "mode" | "select" | "histogram");
                let delta = keyed.then(|| "0.1".to_string());
                let asked = typed(kind, request(statistic, Some("salary"), "4", adjacency));
                let Ok(plan) = Plan::new(&Request { delta, ..asked }, &facts()) else { continue };
                for file in &files {
                    let memory = Memory::new(file.clone(), &["ash", ""]);
                    let gathered = all_rows(&memory, &plan.needs(), 2);
                    let answer = plan.task().answer(&gathered, &mut coins);
                    let ends = answer
                        .error
                        .iter()
                        .filter_map(|bar| bar.ends())
                        .flat_map(|ends| [&ends.low, &ends.high]);
                    assert!(ends.into_iter().all(|end| !end.is_null()), "{kind} {statistic} {answer:?}");
                }
            }
        }
    }
}
