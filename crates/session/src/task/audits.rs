//! Exact audits of parts of whole answers, and mutants of them; the answers themselves are audited in [`crate::audits`].

use super::{Answering, Task, moments::Moments};
use crate::{
    gather::tests::{FixedWords, Memory, all_rows},
    plan::{DataFacts, Plan},
    request::Request,
    resolved::ResolvedRequest,
};
use equipoise_core::{
    adjacency::Adjacency,
    interval::Interval,
    loss::Loss,
    ratio::Ratio,
    tape::{Pmf, delta_between, enumerate},
    universe::neighbouring_pairs,
};
use std::collections::BTreeMap;

/// A record is a code: its number and its text, or empty fields.
pub(super) const EMPTY: i64 = -1;
const TEXTS: [&str; 3] = ["ash", "beech", "cedar"];

fn source(codes: &[i64]) -> Memory {
    let number = |&code: &i64| if code == EMPTY { f64::NAN } else { code as f64 };
    let text = |&code: &i64| usize::try_from(code).map_or("", |code| TEXTS[code]);
    Memory::new(codes.iter().map(number).collect(), &codes.iter().map(text).collect::<Vec<_>>())
}

fn facts() -> DataFacts {
    DataFacts {
        name: "people".into(),
        columns: vec!["salary".into(), "town".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    }
}

fn plan(request: &Request) -> Plan {
    Plan::new(request, &facts()).expect("a good request")
}

fn distribution(task: &Task, codes: &[i64], floor: &Ratio) -> Pmf<String> {
    let memory = source(codes);
    let gathered = all_rows(&memory, &task.needs(), 1);
    enumerate(floor, |tape| format!("{:?}", task.answer(&gathered, tape)))
}

/// The largest delta that any pair shows at this epsilon.
fn worst(task: &Task, adjacency: Adjacency, eps: &Ratio, codes: &[i64], size: usize) -> Interval {
    worst_above("1e-9", task, adjacency, eps, codes, size)
}

/// The same where paths less likely than this, over e^epsilon, are cut off.
pub(super) fn worst_above(
    floor: &str,
    task: &Task,
    adjacency: Adjacency,
    eps: &Ratio,
    codes: &[i64],
    size: usize,
) -> Interval {
    let mut seen: BTreeMap<Vec<i64>, Pmf<String>> = BTreeMap::new();
    let mut worst: Option<Interval> = None;
    // What one side cuts off weighs e^epsilon against the other, and a thousand outcomes lie at the cut.
    let floor = floor.parse::<Ratio>().unwrap() / equipoise_core::interval::exp_upper(eps);
    for (a, b) in neighbouring_pairs(codes, size, adjacency) {
        for data in [&a, &b] {
            if !seen.contains_key(data) {
                seen.insert(data.clone(), distribution(task, data, &floor));
            }
        }
        let delta = delta_between(eps, &seen[&a], &seen[&b]);
        worst = Some(worst.map_or(delta.clone(), |worst| worst.max(&delta)));
    }
    worst.expect("some pair")
}

pub(super) fn request(statistic: &str, column: Option<&str>, eps: &str, adjacency: Adjacency) -> Request {
    Request {
        column: column.map(str::to_string),
        epsilon: Some(eps.into()),
        adjacency: Some(adjacency.to_string()),
        ..Request::new(statistic)
    }
}

fn on_a_small_grid(request: Request) -> Request {
    Request { range: Some("0,2".into()), resolution: Some("1".into()), ..request }
}

/// Intervals of two quantiles: half of epsilon buys the answers, and an eighth each of the four ends. A mutant that promises
/// the price of two ends only is caught, and one that promises 1 for the difference of quartiles, which shows less.
#[test]
fn intervals_of_several_quantiles_keep_what_they_promise() {
    for adjacency in Adjacency::ALL {
        let asked = |statistic: &str, fraction: Option<&str>| Request {
            fraction: fraction.map(str::to_string),
            interval: Some(true),
            rows: Some("100".into()),
            range: Some("0,1".into()),
            resolution: Some("1".into()),
            ..request(
                statistic,
                Some("salary"),
                if adjacency == Adjacency::Replace { "48" } else { "24" },
                adjacency,
            )
        };
        for request in [asked("iqr", None), asked("quantile", Some("0.25,0.75"))] {
            let plan = plan(&request);
            // Under replace the number of rows is what it is, and so many are enough for an answer and its intervals.
            let size = if adjacency == Adjacency::Replace { 8 } else { 2 };
            let audit = |eps: &Ratio| worst(plan.task(), adjacency, eps, &[EMPTY, 0, 2], size);
            assert_eq!(plan.cost().eps.ratio().to_string(), *request.epsilon.as_ref().unwrap());
            let measured = audit(plan.cost().eps.ratio());
            assert!(measured.upper() <= "1e-5".parse().unwrap(), "{}", measured.to_f64());
            let (promised, caught) = if request.statistic == "iqr" { ("1", "0.5") } else { ("6", "0.001") };
            let measured = audit(&promised.parse().unwrap());
            assert!(measured.lower() > caught.parse().unwrap(), "{}", measured.to_f64());
        }
    }
}

/// The price of the core's mechanism is that of the whole answer, bar and refusal included; and a mutant that promises half
/// of its epsilon is caught.
#[test]
fn noise_that_follows_the_rows_keeps_what_it_promises() {
    for adjacency in Adjacency::ALL {
        for (mechanism, delta) in
            [("smooth", "0"), ("smooth", "0.1"), ("released-scale", "0.1"), ("propose-test-release", "0.1")]
        {
            let request = Request {
                mechanism: Some(mechanism.into()),
                delta: Some(delta.into()),
                ..on_a_small_grid(request("median", Some("salary"), "2", adjacency))
            };
            let plan = plan(&request);
            // Under replace the number of rows is what it is, and so many are enough for an answer and its intervals.
            let size = if adjacency == Adjacency::Replace { 8 } else { 2 };
            let audit = |eps: &Ratio| worst(plan.task(), adjacency, eps, &[EMPTY, 0, 2], size);
            let (eps, delta) = (plan.cost().eps.ratio(), plan.cost().delta.ratio());
            assert_eq!(*eps, Ratio::from(2u64));
            let measured = audit(eps);
            assert!(
                measured.upper() <= delta + &"1e-5".parse().unwrap(),
                "{mechanism} {adjacency}: {}",
                measured.to_f64()
            );
            let measured = audit(&Ratio::new(1, 10));
            assert!(
                measured.lower() > delta + &"0.01".parse().unwrap(),
                "{mechanism} {adjacency}: {}",
                measured.to_f64()
            );
        }
    }
}

fn by_town(request: Request) -> Request {
    Request { group_by: vec!["town".into()], delta: Some("0.12".into()), ..request }
}

fn measured_delta(request: &Request, adjacency: Adjacency, codes: &[i64], size: usize) -> (Interval, Ratio) {
    let plan = plan(request);
    let cost = plan.cost();
    (worst(plan.task(), adjacency, cost.eps.ratio(), codes, size), cost.delta.ratio().clone())
}

/// A replaced row touches two groups, and the price of one does not cover it; keys cost delta; counts cost all of
/// epsilon.
#[test]
fn mutants_of_groups_are_caught() {
    let one_step = by_town(request("count", None, "2", Adjacency::AddRemove));
    let (measured, delta) = measured_delta(&one_step, Adjacency::Replace, &[0, 2], 3);
    assert!(measured.lower() > delta * "1.5".parse::<Ratio>().unwrap());
    // Half of delta is spent on the keys, and all of it is seen.
    let mode = by_town(request("mode", Some("town"), "2", Adjacency::AddRemove));
    let (measured, delta) = measured_delta(&mode, Adjacency::AddRemove, &[0, 2], 2);
    assert!(measured.lower() > delta * "0.45".parse::<Ratio>().unwrap(), "{}", measured.lower().to_f64());
    let facts = facts();
    let stated = Request {
        keys: vec!["ash".into()],
        group_by: vec!["town".into()],
        ..request("count", None, "2", Adjacency::AddRemove)
    };
    let task = Task::plan(&ResolvedRequest::new(&stated, &facts).unwrap()).unwrap();
    let measured = worst(&task, Adjacency::AddRemove, &"1.9".parse().unwrap(), &[0, 2], 2);
    assert!(measured.lower() > "1e-3".parse().unwrap());
}

/// The same audit sees it when a count promises a twentieth less than its noise keeps, and when the bought
/// number of rows, which costs a twentieth of a median, is not counted.
#[test]
fn mutants_that_promise_too_much_are_caught() {
    let count = plan(&request("count", Some("town"), "2", Adjacency::AddRemove));
    let median = plan(&on_a_small_grid(request("median", Some("salary"), "8", Adjacency::AddRemove)));
    let select = |mechanism: &str| {
        plan(&Request {
            among: vec!["ash".into(), "cedar".into()],
            mechanism: Some(mechanism.into()),
            ..request("select", Some("town"), "2", Adjacency::AddRemove)
        })
    };
    let [flips, weights, noisy] = ["permute-and-flip", "exponential", "noisy-max"].map(select);
    for (plan, promised) in [(count, "1.9"), (median, "0.38"), (flips, "1"), (weights, "1"), (noisy, "1")] {
        let measured = worst(plan.task(), Adjacency::AddRemove, &promised.parse().unwrap(), &[0, 2], 2);
        assert!(measured.lower() > "1e-4".parse().unwrap(), "{}", measured.lower().to_f64());
    }
}

/// In one step from the middle to the ends. The number of rows without a value, one more with noise, is enumerated in `holding` and `sums`.
fn of_sums(said: &ResolvedRequest) -> Moments {
    Moments::with_steps(said, 1).unwrap().without_pair()
}

/// Sums of a declared range in two steps: count, sum and squares together.
#[test]
fn moments_keep_what_they_promise_and_a_mutant_does_not() {
    let facts = facts();
    for adjacency in Adjacency::ALL {
        for (statistic, law) in ["sum", "mean", "variance", "std"]
            .into_iter()
            .flat_map(|statistic| ["laplace", "gaussian"].map(|law| (statistic, law)))
        {
            let request = Request {
                range: Some("-1,1".into()),
                mechanism: Some(law.into()),
                delta: Some("0.1".into()),
                ..request(statistic, Some("salary"), "8", adjacency)
            };
            let delta: Ratio = if law == "gaussian" { Ratio::new(1, 10) } else { Ratio::zero() };
            let said = ResolvedRequest::new(&request, &facts).unwrap();
            let task = Task::Moments(Box::new(of_sums(&said)));
            // What is lost below the floor counts e^epsilon times, hence the room.
            let audit = |eps: &Ratio| worst_above("1e-7", &task, adjacency, eps, &[EMPTY, 0, 2], 2);
            let measured = audit(said.eps().ratio());
            assert!(measured.upper() <= &delta + &"1e-3".parse().unwrap(), "{statistic} {law} {adjacency}");
            let measured = audit(&Ratio::one());
            assert!(measured.lower() > &delta + &"0.01".parse().unwrap(), "{statistic} {law} {adjacency}");
        }
    }
}

/// Where the number of rows is public or was stated, all of epsilon buys sums. Empty fields lie in the middle, so that every
/// replaced row moves them. Mutants: noise for one step where a row goes from end to end, a number of rows that leaves empty
/// fields out, and a public number of rows where rows come and go.
#[test]
fn sums_over_a_known_number_of_rows_keep_what_they_promise_and_mutants_do_not() {
    let facts = facts();
    let codes = [EMPTY, 0, 2];
    let [slack, caught]: [Ratio; 2] = ["1e-3", "0.05"].map(|text| text.parse().unwrap());
    for (statistic, law) in ["sum", "mean", "variance"]
        .into_iter()
        .flat_map(|statistic| ["laplace", "gaussian"].map(|law| (statistic, law)))
    {
        let delta: Ratio = if law == "gaussian" { Ratio::new(1, 10) } else { Ratio::zero() };
        let planned = |adjacency: Adjacency| {
            let request = Request {
                range: Some("0,2".into()),
                rows: (statistic != "sum").then(|| "3".to_string()),
                mechanism: Some(law.into()),
                delta: Some("0.1".into()),
                ..request(statistic, Some("salary"), "3", adjacency)
            };
            let said = ResolvedRequest::new(&request, &facts).unwrap();
            Task::Moments(Box::new(of_sums(&said)))
        };
        let audit = |task: &Task, adjacency: Adjacency| {
            worst_above("1e-7", task, adjacency, &Ratio::from(3u64), &codes, 2)
        };
        for adjacency in Adjacency::ALL {
            let measured = audit(&planned(adjacency), adjacency);
            assert!(
                measured.upper() <= &delta + &slack,
                "{statistic} {law} {adjacency}: {}",
                measured.to_f64()
            );
        }
        if statistic == "sum" {
            continue;
        }
        let [added, replaced] = [Adjacency::AddRemove, Adjacency::Replace].map(planned);
        // From end to end squares stay as they are, so that noise for one step would be enough for a variance here.
        if statistic == "mean" {
            let measured = audit(&added, Adjacency::Replace);
            assert!(measured.lower() > &delta + &caught, "{statistic} {law}: {}", measured.to_f64());
        }
        let measured = audit(&replaced, Adjacency::AddRemove);
        assert!(measured.lower() > &delta + &caught, "{statistic} {law}: {}", measured.to_f64());
        let floor = "1e-9".parse().unwrap();
        let [without_empty, with] = [&[0][..], &[0, 2]].map(|codes| distribution(&replaced, codes, &floor));
        let measured = delta_between(&Ratio::from(3u64), &without_empty, &with);
        assert!(measured.lower() > &delta + &caught, "{statistic} {law}: {}", measured.to_f64());
    }
}

/// After the charge nothing may fail, whatever the rows: a panic is an answer that was paid for and lost.
#[test]
fn no_rows_make_an_answer_panic() {
    let mut coins = FixedWords(7);
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 5e-324, -5e-324, -0.0, 1.0];
    let mut files: Vec<Vec<f64>> = odd.iter().flat_map(|&row| [vec![row], vec![row; 700]]).collect();
    files.extend([vec![], odd.to_vec(), odd.repeat(80)]);
    for adjacency in Adjacency::ALL {
        for (statistic, range, mechanism) in [
            ("count", None, None),
            ("sum", None, None),
            ("mean", None, None),
            ("variance", None, None),
            ("std", None, None),
            ("variance", Some("-1.7e308,1.7e308"), None),
            ("mean", Some("0,5e-324"), None),
            ("median", None, None),
            ("median", None, Some("stable")),
            ("iqr", None, None),
            ("mode", None, None),
            ("histogram", None, None),
            ("select", None, None),
            ("summary", None, None),
            ("median by town", None, None),
            ("mean by town", None, None),
            ("summary by town", None, None),
        ] {
            let (statistic, by) = statistic.split_once(" by ").unwrap_or((statistic, ""));
            let group_by: Vec<String> = (!by.is_empty()).then(|| by.to_string()).into_iter().collect();
            let column = if matches!(statistic, "mode" | "histogram" | "select") { "town" } else { "salary" };
            let delta = (matches!(statistic, "mode" | "histogram" | "select")
                || mechanism.is_some()
                || !by.is_empty())
            .then(|| "0.1".to_string());
            let (range, mechanism) = (range.map(str::to_string), mechanism.map(str::to_string));
            let plan = plan(&Request {
                delta,
                mechanism,
                range,
                group_by,
                ..request(statistic, Some(column), "4", adjacency)
            });
            for file in &files {
                let memory = Memory::new(file.clone(), &["ash", ""]);
                let gathered = all_rows(&memory, &plan.needs(), 2);
                let answer = plan.task().answer(&gathered, &mut coins);
                let ends =
                    answer.error.iter().filter_map(|bar| bar.ends()).flat_map(|ends| [&ends.low, &ends.high]);
                assert!(ends.into_iter().all(serde_json::Value::is_number), "{statistic} {answer:?}");
                let none = answer.value.as_ref().is_some_and(serde_json::Value::is_null);
                let exact = answer.error.as_ref().is_some_and(|bar| bar.confidence() >= 1.0);
                assert!(
                    !none || exact || answer.groups.is_some(),
                    "{statistic}: a number became null: {answer:?}"
                );
            }
        }
    }
}

/// What is promised is what the parts cost, added up: whoever changes one share of epsilon or delta changes the sum.
#[test]
fn the_parts_of_an_answer_cost_what_it_promises() {
    for adjacency in Adjacency::ALL {
        let in_steps = |loss: Loss| match (loss, adjacency) {
            (Loss::Approx(loss), Adjacency::Replace) => Loss::Approx(loss.two_steps()),
            (loss, _) => loss,
        };
        let range = |request: Request| Request { range: Some("0,100".into()), ..request };
        let grouped = |statistic: &str| by_town(request(statistic, Some("salary"), "1", adjacency));
        let stable = Request { mechanism: Some("stable".into()), ..grouped("median") };
        let mut requests = vec![
            grouped("mean"),
            grouped("median"),
            stable,
            by_town(request("mode", Some("town"), "1", adjacency)),
            grouped("summary"),
            Request { interval: Some(true), ..grouped("summary") },
            Request { keys: vec!["ash".into()], ..range(grouped("summary")) },
        ];
        for (statistic, fraction) in [("iqr", None), ("quantile", Some("0.25,0.5,0.9")), ("median", None)] {
            let fraction = fraction.map(str::to_string);
            let asked = Request { fraction, ..request(statistic, Some("salary"), "7", adjacency) };
            let asked = Request { interval: Some(true), ..asked };
            requests.extend([range(asked.clone()), asked.clone(), by_town(asked)]);
        }
        for statistic in ["sum", "mean", "variance", "std", "summary"] {
            let asked = request(statistic, Some("salary"), "1", adjacency);
            requests.extend([range(asked.clone()), asked.clone()]);
            if statistic != "summary" {
                let (mechanism, delta) = (Some("gaussian".to_string()), Some("0.01".to_string()));
                let asked = Request { delta, mechanism, ..asked };
                requests.extend([range(asked.clone()), asked.clone(), by_town(asked)]);
            }
        }
        for request in requests {
            let plan = plan(&request);
            // What is composed does not add up; the tests of `plan::composed` hold it to what was said.
            if plan.promise().composition.is_some() {
                continue;
            }
            let spent = match plan.task() {
                Task::Moments(task) => task.spent(adjacency),
                Task::Groups(task) => in_steps(task.spent()),
                Task::Summary(task) => task.spent(adjacency),
                Task::Quantiles(task) => task.cost(),
                Task::Spread(task) => task.cost(),
                _ => unreachable!("one of these"),
            };
            let Loss::Approx(spent) = spent else { panic!("an (epsilon, delta) price") };
            let cost = plan.cost();
            assert_eq!(spent.eps.ratio(), cost.eps.ratio(), "{} under {adjacency}", request.to_json());
            let (spent, promised) = (spent.delta.ratio(), cost.delta.ratio());
            let most = promised * &"0.999999".parse().unwrap();
            assert!(
                spent <= promised && (promised.is_zero() || *spent >= most),
                "{}: {spent}",
                request.to_json()
            );
        }
    }
}

/// Stated keys cost no delta, but `smooth` may spend it, though it does not need one; the charge was epsilon alone.
#[test]
fn a_mechanism_that_may_spend_delta_is_charged_for_it_where_keys_are_stated() {
    for adjacency in Adjacency::ALL {
        let request = Request {
            keys: vec!["ash".into()],
            mechanism: Some("smooth".into()),
            range: Some("0,1000000".into()),
            resolution: Some("1".into()),
            ..by_town(request("median", Some("salary"), "1", adjacency))
        };
        let plan = plan(&request);
        let Task::Groups(task) = plan.task() else { panic!("groups") };
        let Loss::Approx(spent) = task.spent() else { panic!("an (epsilon, delta) price") };
        assert!(
            !spent.delta.is_zero() && *plan.cost().delta.ratio() == "0.12".parse().unwrap(),
            "{adjacency}"
        );
    }
}

/// What small files with groups lose at epsilon 1 is known exactly: one more or less in any constant shows.
#[test]
fn the_loss_of_groups_is_that_of_their_constants() {
    for (request, adjacency, known) in [
        (by_town(request("count", None, "2", Adjacency::AddRemove)), Adjacency::AddRemove, "0.556770"),
        (by_town(request("mode", Some("town"), "2", Adjacency::AddRemove)), Adjacency::AddRemove, "0.136026"),
        (by_town(request("count", None, "2", Adjacency::Replace)), Adjacency::Replace, "0.013390"),
    ] {
        let plan = plan(&request);
        let measured = worst(plan.task(), adjacency, &Ratio::one(), &[EMPTY, 0, 2], 3);
        let (known, near): (Ratio, Ratio) = (known.parse().unwrap(), "0.000001".parse().unwrap());
        assert!(
            &known - &near < measured.lower() && measured.upper() < known + near,
            "{}: {}",
            request.to_json(),
            measured.to_f64()
        );
    }
}
