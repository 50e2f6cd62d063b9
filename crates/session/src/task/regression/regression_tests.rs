//! Bars, refusals and prices of regressions.

use super::*;
use crate::{
    audits::Memory,
    gather::{ScanResult, tests::FixedWords},
    plan::{DataFacts, Plan},
    request::Request,
    rows::ScanKeys,
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

/// A question about what is computed of one column.
fn request(column: &str, on: &[&str], eps: &str) -> Request {
    Request {
        column: Some(column.into()),
        on: on.iter().map(ToString::to_string).collect(),
        epsilon: Some(eps.into()),
        ..Request::new("regression")
    }
}

fn ranged(request: Request, range: &str, range_on: &str) -> Request {
    Request { range: Some(range.into()), range_on: Some(range_on.into()), ..request }
}

fn bell_curve(request: Request) -> Request {
    Request { mechanism: Some("gaussian".into()), delta: Some("1e-6".into()), ..request }
}

fn plan(request: &Request) -> Plan {
    Plan::new(request, &facts()).unwrap_or_else(|error| panic!("{}: {error}", request.to_json()))
}

fn gathered<'a>(plan: &Plan, memory: &'a Memory) -> ScanResult<'a> {
    let hands = ScanKeys::new(1, &mut ScriptedWords::new(vec![1; 6]));
    ScanResult::scan(memory, plan.rows(), &plan.needs(), &hands).expect("memory")
}

/// Least squares on two columns, and which share coefficients that were told explain; of rows that are limited.
struct Plain {
    rows: Vec<[f64; 3]>,
}

impl Plain {
    fn limited(rows: &[[f64; 3]], ranges: &[[f64; 2]]) -> Self {
        let limited =
            |row: &[f64; 3]| [0, 1, 2].map(|place| row[place].clamp(ranges[place][0], ranges[place][1]));
        Self { rows: rows.iter().map(limited).collect() }
    }

    fn mean(&self, of: &dyn Fn(&[f64; 3]) -> f64) -> f64 {
        self.rows.iter().map(of).sum::<f64>() / self.rows.len() as f64
    }

    fn product(&self, a: usize, b: usize) -> f64 {
        let (x, y) = (self.mean(&|row| row[a]), self.mean(&|row| row[b]));
        self.mean(&|row| (row[a] - x) * (row[b] - y))
    }

    /// Intercept and both coefficients.
    fn fit(&self) -> [f64; 3] {
        let [a, b, c] = [self.product(0, 0), self.product(0, 1), self.product(1, 1)];
        let [x, y] = [self.product(0, 2), self.product(1, 2)];
        let below = a * c - b * b;
        let (first, second) = ((c * x - b * y) / below, (a * y - b * x) / below);
        let mean = self.mean(&|row| row[2] - first * row[0] - second * row[1]);
        [mean, first, second]
    }

    fn explained(&self, model: [f64; 3]) -> f64 {
        let left = self.mean(&|row| (row[2] - model[0] - model[1] * row[0] - model[2] * row[1]).powi(2));
        1.0 - left / self.product(2, 2)
    }
}

fn numbers() -> Vec<f64> {
    (0..6000).map(|row| f64::from(row % 250) - 30.0 + f64::from(row % 7)).collect()
}

const ON: [&str; 2] = ["salary", "abs(salary - 90)"];
const TARGET: &str = "salary * 2 - salary % 7 * 10 + 5";

fn rows(numbers: &[f64]) -> Vec<[f64; 3]> {
    numbers.iter().map(|&x| [x, (x - 90.0).abs(), x * 2.0 - x % 7.0 * 10.0 + 5.0]).collect()
}

/// All bars hold at once as often as they say, by both laws, of ranges that were declared and found. The false alarm is below 1e-6 (a binomial of
/// 150 at 0.8 below 93).
#[test]
fn bars_hold_at_once_as_often_as_they_say() {
    const TRIALS: usize = 150;
    let memory = Memory::new(numbers(), &["ash"]);
    let all = rows(&numbers());
    let mut coins = FixedWords(21);
    let asked = |request: Request| Request { confidence: Some("0.8".into()), ..request };
    let searched = request(TARGET, &ON, "8");
    let declared = ranged(request(TARGET, &ON, "2"), "-100,500", "-50,250,0,150");
    for request in [
        asked(searched.clone()),
        asked(declared.clone()),
        asked(bell_curve(searched)),
        asked(bell_curve(declared)),
    ] {
        let plan = plan(&request);
        let gathered = gathered(&plan, &memory);
        let (mut held, mut told) = (0, 0);
        for _ in 0..TRIALS {
            let answer = plan.task().answer(&gathered, &mut coins);
            let Some(several) = &answer.several else { continue };
            told += 1;
            let bar = |place: usize| several[place].answer.error.as_ref();
            let value = |place: usize| several[place].answer.value.as_ref().unwrap().as_f64().unwrap();
            let plain = Plain::limited(&all, bar(3).unwrap().each_limited_to().unwrap());
            let [intercept, first, second] = plain.fit();
            let explained = plain.explained([value(0), value(1), value(2)]);
            let truths = [intercept, first, second, explained, plain.mean(&|row| row[2])];
            let holds = |(place, truth): (usize, &f64)| {
                let [low, high] = bar(place)?.numeric_ends()?;
                Some(low - 1e-9 * low.abs() <= *truth && *truth <= high + 1e-9 * high.abs())
            };
            held += usize::from(truths.iter().enumerate().all(|one| holds(one) != Some(false)));
            assert!(bar(1).is_some(), "{}: a coefficient without a bar", request.to_json());
        }
        assert!(told == TRIALS, "{}: {told}", request.to_json());
        assert!(held >= 93, "{}: {held} of {told}", request.to_json());
    }
}

/// With hardly any noise the answer is what everybody else computes, and bars are narrow.
#[test]
fn answers_are_right_where_there_is_hardly_any_noise() {
    let memory = Memory::new(numbers(), &["ash"]);
    let all = rows(&numbers());
    let request = ranged(request(TARGET, &ON, "1000"), "-500,1000", "-100,300,0,200");
    for request in [request.clone(), bell_curve(request)] {
        let plan = plan(&request);
        let answer = plan.task().answer(&gathered(&plan, &memory), &mut FixedWords(3));
        let told = answer.value.expect("a model");
        let plain = Plain { rows: all.clone() };
        let [intercept, first, second] = plain.fit();
        let coefficient = |name: &str| told["coefficients"][name].as_f64().unwrap();
        for (told, truth) in [
            (told["intercept"].as_f64().unwrap(), intercept),
            (coefficient(ON[0]), first),
            (coefficient(ON[1]), second),
            (told["r-squared"].as_f64().unwrap(), plain.explained([intercept, first, second])),
        ] {
            assert!((told - truth).abs() < 0.02 * (1.0 + truth.abs()), "{told} {truth}");
        }
        for named in answer.several.expect("all numbers") {
            let [low, high] = named.answer.error.unwrap().numeric_ends().unwrap();
            assert!(high - low < 5.0, "{} {low} {high}", named.statistic);
        }
    }
}

/// A model that may be worse than none is refused, and it is said what would do; so are few rows and a column of one value.
#[test]
fn models_that_may_be_worse_than_none_are_refused_with_what_would_do() {
    let mut coins = FixedWords(6);
    let mut advice = |memory: &Memory, request: &Request| {
        let plan = plan(request);
        let answer = plan.task().answer(&gathered(&plan, memory), &mut coins);
        answer.advice.unwrap_or_else(|| panic!("released: {:?}", answer.value))
    };
    let few = Memory::new(numbers()[..300].to_vec(), &["ash"]);
    let wide = ranged(request(TARGET, &ON, "1"), "-10000,10000", "-1000,1000,0,1000");
    let told = advice(&few, &wide);
    assert!(told.contains("may") && (told.contains("would do") || told.contains("raise epsilon")), "{told}");
    let told = advice(&few, &request(TARGET, &ON, "0.5"));
    assert!(told.starts_with("too few rows: ranges of 3 columns are found from about 420 rows"), "{told}");
    let constant = Memory::new(vec![5.0; 3000], &["ash"]);
    let told = advice(&constant, &ranged(request("salary * 2", &["salary"], "1"), "0,20", "0,10"));
    assert!(told.contains("may all be the same") || told.contains("worse than the mean alone"), "{told}");
}

/// Columns that are combinations of each other have no bar, and the model predicts all the same.
#[test]
fn columns_that_noise_cannot_tell_apart_have_no_bars() {
    let memory = Memory::new(numbers(), &["ash"]);
    let request =
        ranged(request("salary * 3 + 1", &["salary", "salary + 1"], "4"), "-100,800", "-40,260,-40,260");
    let plan = plan(&request);
    let answer = plan.task().answer(&gathered(&plan, &memory), &mut FixedWords(2));
    let several = answer.several.expect("a model");
    assert!(several[1].answer.error.is_none() && several[2].answer.error.is_none());
    let [low, _] = several[3].answer.error.as_ref().unwrap().numeric_ends().unwrap();
    assert!(low > 0.8, "{low}");
}

#[test]
fn wrong_requests_are_one_line() {
    for (request, said) in [
        (request("salary", &[], "1"), "regression on which columns?"),
        (request("salary", &["nobody"], "1"), "nobody"),
        (request("salary", &["salary"], "1"), "'salary' is in the model twice"),
        (
            ranged(request("salary", &["salary * 2"], "1"), "0,1", "0,1,2"),
            "`range_on` has 3 numbers for 1 columns",
        ),
        (ranged(request("salary", &["salary * 2"], "1"), "0,1", "2,1"), "range_on 2,1 is not accepted"),
        (ranged(request("salary", &["salary * 2"], "1"), "5", "0,1"), "range 5 is not accepted"),
        (Request { mechanism: Some("gaussian".into()), ..request("salary", &["salary * 2"], "1") }, "delta"),
    ] {
        let error = Plan::new(&request, &facts()).expect_err(said).to_string();
        assert!(error.contains(said) && !error.contains('\n'), "{error}");
    }
}

/// The parts of every split cost all of epsilon and no more, for both laws; delta belongs to the bell curve.
#[test]
fn prices_are_what_was_said() {
    for adjacency in Adjacency::ALL {
        let asked = |request: Request| Request { adjacency: Some(adjacency.to_string()), ..request };
        let declared = ranged(request("salary", &["salary * 2"], "1"), "0,1", "0,2");
        for (request, pure) in [(asked(declared.clone()), true), (asked(bell_curve(declared)), false)] {
            let plan = plan(&request);
            assert_eq!((plan.cost().eps.to_string(), plan.cost().delta.is_zero()), ("1".into(), pure));
            let facts = facts();
            let (_, extended) = crate::rows::derived::Derived::plan([&request], &facts).unwrap();
            let said = ResolvedRequest::new(&request, &extended).unwrap();
            let task = Regression::plan(&said).unwrap();
            let Ranges::Declared(_, sums) = &task.ranges else { panic!("declared") };
            assert_eq!(sums.cost().to_string(), task.cost.to_string());
        }
    }
}
