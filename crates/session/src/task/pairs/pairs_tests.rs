//! Bars, refusals, prices and exact audits of covariances and correlations.

use super::*;
use crate::{
    audits::Memory,
    gather::{ScanResult, tests::FixedWords},
    plan::{DataFacts, Plan},
    request::Request,
    rows::ScanKeys,
    task::Task,
};
use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords};

fn facts() -> DataFacts {
    DataFacts {
        name: "people".into(),
        columns: vec!["salary".into(), "town".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    }
}

/// A question about the numbers and what is computed of them.
fn request(statistic: &str, y: &str, eps: &str) -> Request {
    Request {
        column: Some("salary".into()),
        y: Some(y.into()),
        epsilon: Some(eps.into()),
        ..Request::new(statistic)
    }
}

fn declared(statistic: &str, y: &str, ends: [&str; 2], eps: &str) -> Request {
    let [range, range_y] = ends.map(|text| Some(text.to_string()));
    Request { range, range_y, ..request(statistic, y, eps) }
}

fn plan(request: &Request) -> Plan {
    Plan::new(request, &facts()).unwrap_or_else(|error| panic!("{}: {error}", request.to_json()))
}

fn gathered<'a>(plan: &Plan, memory: &'a Memory) -> ScanResult<'a> {
    let hands = ScanKeys::new(1, &mut ScriptedWords::new(vec![1; 6]));
    ScanResult::scan(memory, plan.rows(), &plan.needs(), &hands).expect("memory")
}

fn ends(answer: &Answer) -> Option<[f64; 2]> {
    answer.error.as_ref().and_then(ErrorBar::numeric_ends)
}

/// What is true of rows that are limited as the bar says.
fn truth(is_correlation: bool, rows: &[[f64; 2]], error: &ErrorBar) -> f64 {
    let [x, y] = [error.limited_to(), error.second_limited_to()].map(|range| range.expect("a range is told"));
    let rows: Vec<[f64; 2]> =
        rows.iter().map(|row| [row[0].clamp(x[0], x[1]), row[1].clamp(y[0], y[1])]).collect();
    let mean = |of: &dyn Fn(&[f64; 2]) -> f64| rows.iter().map(of).sum::<f64>() / rows.len() as f64;
    let (a, b) = (mean(&|row| row[0]), mean(&|row| row[1]));
    let covariance = mean(&|row| (row[0] - a) * (row[1] - b));
    let variances = mean(&|row| (row[0] - a).powi(2)) * mean(&|row| (row[1] - b).powi(2));
    if is_correlation { covariance / variances.sqrt() } else { covariance }
}

/// Bars hold as often as they say, of ranges that were declared, found and one of each, whatever the correlation. The false alarm of each is
/// below 1e-6 (a binomial of 300 at 0.8 below 205).
#[test]
fn bars_hold_as_often_as_they_say() {
    type Second = fn(f64) -> f64;
    const TRIALS: usize = 300;
    let numbers: Vec<f64> = (0..4000).map(|row| f64::from(row % 250) - 30.0 + f64::from(row % 7)).collect();
    let memory = Memory::new(numbers.clone(), &["ash"]);
    let mut coins = FixedWords(21);
    let seconds: [(&str, Second); 4] = [
        ("salary * -2 + 5", |x| x * -2.0 + 5.0),
        ("salary * salary", |x| x * x),
        ("abs(salary - 90)", |x| (x - 90.0).abs()),
        ("salary % 7", |x| x % 7.0),
    ];
    for (y, of) in seconds {
        let rows: Vec<[f64; 2]> = numbers.iter().map(|&x| [x, of(x)]).collect();
        for statistic in ["covariance", "correlation"] {
            let is_correlation = statistic == "correlation";
            for (range, range_y) in [
                (Some("0,200"), Some("-100,300")),
                (None, None),
                (Some("0,300"), None),
                (None, Some("-5,40000")),
            ] {
                let request = Request {
                    range: range.map(str::to_string),
                    range_y: range_y.map(str::to_string),
                    confidence: Some("0.8".into()),
                    ..request(statistic, y, "4")
                };
                let plan = plan(&request);
                let gathered = gathered(&plan, &memory);
                let (mut held, mut told) = (0, 0);
                for _ in 0..TRIALS {
                    let answer = plan.task().answer(&gathered, &mut coins);
                    let (Some([low, high]), Some(error)) = (ends(&answer), &answer.error) else { continue };
                    let truth = truth(is_correlation, &rows, error);
                    told += 1;
                    held += usize::from(low - 1e-9 * low.abs() <= truth && truth <= high + 1e-9 * high.abs());
                    if is_correlation {
                        assert!(-1.0 <= low && high <= 1.0, "{low} {high}");
                    }
                }
                assert!(held * 10 >= told * 7, "{}: {held} of {told}", request.to_json());
                // Where a range is far wider than the values, a correlation may be refused; others are there.
                let is_wide = range_y == Some("-5,40000") || (y == "salary % 7" && range_y.is_some());
                assert!(told > 200 || is_wide, "{}: {told}", request.to_json());
            }
        }
    }
}

fn ends_of(error: &ErrorBar) -> f64 {
    let [low, high] = error.numeric_ends().unwrap();
    high - low
}

/// With hardly any noise the answer is what everybody else computes, and the bar is narrow.
#[test]
fn answers_are_right_where_there_is_hardly_any_noise() {
    let memory = Memory::new((0..1000).map(f64::from).collect(), &["ash"]);
    let mut coins = FixedWords(4);
    let mut one = |statistic: &str, y: &str, ends: [&str; 2]| {
        let plan = plan(&declared(statistic, y, ends, "1000"));
        let answer = plan.task().answer(&gathered(&plan, &memory), &mut coins);
        (answer.value.unwrap().as_f64().unwrap(), ends_of(&answer.error.unwrap()))
    };
    // The variance of 0 .. 999 is (10^6 - 1)/12.
    let (value, width) = one("covariance", "salary * 3", ["0,1000", "-500,3000"]);
    assert!((value - 249_999.75).abs() < 100.0 && width < 500.0, "{value} {width}");
    for (y, truth) in [("salary * 3", 1.0), ("5 - salary", -1.0), ("abs(salary - 499.5)", 0.0)] {
        let (value, width) = one("correlation", y, ["0,1000", "-1000,3000"]);
        assert!((value - truth).abs() < 1e-3 && width < 0.01, "{y}: {value} {width}");
    }
}

/// Where all values are the same there is no correlation, with few rows as little, and a covariance is there all the same.
#[test]
fn a_correlation_without_spread_is_refused_with_what_would_do() {
    let mut coins = FixedWords(6);
    let memory = Memory::new(vec![5.0; 3000], &["ash"]);
    let mut asked = |memory: &Memory, request: &Request| {
        let plan = plan(request);
        plan.task().answer(&gathered(&plan, memory), &mut coins)
    };
    let constant = declared("correlation", "salary * 2", ["0,10", "0,20"], "1");
    let advice = asked(&memory, &constant).advice.expect("a refusal");
    assert!(advice.contains("the values of 'salary' may all be the same"), "{advice}");
    let covariance = declared("covariance", "salary * 2", ["0,10", "0,20"], "1");
    let answer = asked(&memory, &covariance);
    assert!(ends(&answer).is_some_and(|[low, high]| low <= 0.0 && (0.0..1.0).contains(&high)), "{answer:?}");
    // Ten times the rows that are said to be enough are.
    let few = Memory::new((0..60).map(|row| f64::from(row % 10)).collect(), &["ash"]);
    let advice = asked(&few, &constant).advice.expect("a refusal");
    assert!(advice.contains("rows would do, or `epsilon=") || advice.contains("raise epsilon"), "{advice}");
    let many = Memory::new((0..6000).map(|row| f64::from(row % 10)).collect(), &["ash"]);
    assert!(asked(&many, &constant).value.is_some());
}

/// "about 376 rows would do, or `epsilon=1.1`" stood below each refusal at 1, and 200 of 200 answers at 1.1 were refused again: the lower end
/// of a variance, which is cut at zero, was taken for what noise may come to. Over ranges that are found anew nothing of the kind is said.
#[test]
fn what_a_refusal_says_would_do_does() {
    let mut coins = FixedWords(31);
    // Values from 33 to 57 in a range of 60.
    let memory = Memory::new((0..342).map(|row| f64::from(row % 25) + 33.0).collect(), &["ash"]);
    let asked = |eps: &str| declared("correlation", "salary * 100", ["20,80", "2000,8000"], eps);
    let mut told = 0;
    for eps in ["0.4", "0.7"] {
        let first = plan(&asked(eps));
        for _ in 0..20 {
            let Some(advice) = first.task().answer(&gathered(&first, &memory), &mut coins).advice else {
                continue;
            };
            let Some((_, rest)) = advice.split_once("rows would do, or `epsilon=") else { continue };
            let better = plan(&asked(rest.split('`').next().unwrap()));
            let again = (0..10).map(|_| better.task().answer(&gathered(&better, &memory), &mut coins));
            let released = again.filter(|answer| answer.value.is_some()).count();
            assert!(released >= 5, "{released} of 10: {advice}");
            told += 1;
        }
    }
    assert!(told >= 5, "{told}");
    let found = plan(&request("correlation", "salary * 100", "0.6"));
    let advice = (0..20).filter_map(|_| found.task().answer(&gathered(&found, &memory), &mut coins).advice);
    assert!(advice.into_iter().all(|advice| !advice.contains("would do")));
}

#[test]
fn what_is_wrong_is_said_for_free() {
    for (request, line) in [
        (Request { y: None, ..request("correlation", "", "1") }, "correlation with which column?"),
        (request("covariance", "twon", "1"), "twon"),
        (declared("covariance", "salary", ["0,1", "2,1"], "1"), "range_y 2,1 is not accepted"),
        (Request { y: Some("town".into()), ..request("mean", "", "1") }, "mean takes no y"),
        (
            Request {
                target_error: Some("1".into()),
                epsilon: None,
                ..request("correlation", "salary", "1")
            },
            "depends on the number of rows",
        ),
    ] {
        let error = Plan::new(&request, &facts()).unwrap_err().to_string();
        assert!(error.contains(line), "{error}");
    }
}

/// What a search, a count and sums cost is what was said, however they are split.
#[test]
fn parts_cost_what_was_said() {
    let facts = facts();
    for adjacency in Adjacency::ALL {
        let adjacency_text = Some(adjacency.to_string());
        for (range, range_y) in [(Some("0,1"), Some("0,1")), (None, None), (Some("0,1"), None)] {
            let request = Request {
                range: range.map(str::to_string),
                range_y: range_y.map(str::to_string),
                adjacency: adjacency_text.clone(),
                y: Some("salary".into()),
                ..request("correlation", "", "2")
            };
            let said = ResolvedRequest::new(&request, &facts).unwrap();
            let planned = PairStatistic::plan(&said).unwrap();
            let whole = |parts: Vec<Option<Loss>>| {
                parts.into_iter().flatten().reduce(|sum, part| sum.compose(&part)).expect("some part")
            };
            match &planned.ranges {
                Ranges::Declared(_, sums) => assert_eq!(sums.cost().to_string(), planned.cost.to_string()),
                Ranges::Searched(clips, searched) => {
                    for stage in &searched.stages {
                        let (start, ends) = stage.search.spent();
                        let again = start.clone().filter(|_| adjacency == Adjacency::Replace);
                        let one = whole(vec![start, again, Some(ends)]);
                        let two = clips.iter().all(Option::is_none).then(|| one.clone());
                        let spent =
                            whole(vec![searched.count.cost(), Some(one), two, Some(stage.sums.cost())]);
                        assert_eq!(spent.to_string(), planned.cost.to_string(), "{adjacency}");
                    }
                }
            }
        }
    }
}

/// After the charge nothing may fail, whatever the rows.
#[test]
fn no_rows_make_these_answers_panic() {
    let mut coins = FixedWords(9);
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 5e-324, -0.0, 1.0];
    let mut files: Vec<Vec<f64>> = odd.iter().flat_map(|&row| [vec![row], vec![row; 300]]).collect();
    files.extend([vec![], odd.to_vec(), odd.repeat(80)]);
    for statistic in ["covariance", "correlation"] {
        for (ends, group_by) in [
            (None, vec![]),
            (None, vec!["town".to_string()]),
            (Some("-1.7e308,1.7e308".to_string()), vec![]),
            (Some("0,5e-324".to_string()), vec!["town".to_string()]),
        ] {
            let request = Request {
                range: ends.clone(),
                range_y: ends,
                group_by,
                delta: Some("0.1".into()),
                ..request(statistic, "salary * -3", "1")
            };
            let plan = plan(&request);
            for file in &files {
                let memory = Memory::new(file.clone(), &["ash", "", "beech"]);
                let _ = plan.task().answer(&gathered(&plan, &memory), &mut coins);
            }
        }
    }
}

/// Groups share their ranges, and each has what it would have alone.
#[test]
fn groups_share_the_ranges_that_are_found() {
    let mut coins = FixedWords(8);
    let memory = Memory::new((0..9000).map(|row| f64::from(row % 100)).collect(), &["ash", "beech", "cedar"]);
    let request = Request {
        group_by: vec!["town".into()],
        keys: vec!["ash".into(), "beech".into()],
        ..request("correlation", "salary * 2", "8")
    };
    let plan = plan(&request);
    let answer = plan.task().answer(&gathered(&plan, &memory), &mut coins);
    let groups = answer.groups.expect("groups");
    assert_eq!(groups.len(), 2);
    let ranges: Vec<_> = groups
        .iter()
        .map(|group| {
            let error = group.error.as_ref().expect("an answer");
            assert!(group.value.as_f64().is_some_and(|value| value > 0.8), "{group:?}");
            (error.limited_to(), error.second_limited_to())
        })
        .collect();
    assert_eq!(ranges[0], ranges[1]);
    assert!(matches!(plan.task(), Task::Groups(_)));
}
