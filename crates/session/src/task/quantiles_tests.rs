//! Quantiles: how far off several of them are together, and from how many rows on they are told.

use super::{
    super::each::{Each, evened, rising_from},
    *,
};
use crate::{
    gather::tests::{FixedWords, Memory, all_rows},
    plan::{DataFacts, Plan},
    request::Request,
};
use serde_json::json;

#[test]
fn ends_of_different_errors_rise_with_the_fractions_from_there_on() {
    let fractions = [5, 25, 50, 75, 95].map(|hundredths| Ratio::new(hundredths, 100));
    assert_eq!(rising_from(&[7; 5], &fractions), 0);
    for errors in [[473, 373, 249, 373, 473], [1, 900, 2, 3, 4], [5, 4, 3, 2, 1]] {
        let from = rising_from(&errors, &fractions);
        for rows in from..from + 300 {
            let rank = |fraction: &Ratio| (fraction * &Ratio::from(rows)).ceil_i64().unwrap().cast_unsigned();
            let ends = |sign: i64| {
                let end = |(fraction, error): (&Ratio, &u64)| {
                    rank(fraction).cast_signed() + sign * error.cast_signed()
                };
                fractions.iter().zip(&errors).map(end).collect::<Vec<i64>>()
            };
            assert!(ends(-1).is_sorted() && ends(1).is_sorted(), "{rows} {errors:?}");
        }
    }
}

#[test]
fn under_replace_the_bar_says_that_empty_fields_are_lowest() {
    for (adjacency, lowest) in [(Adjacency::AddRemove, false), (Adjacency::Replace, true)] {
        let answer = Answer::released(json!(7), ErrorBar::rank(0.95, 1)).with_empty_lowest(adjacency);
        let error = serde_json::to_value(answer.error.unwrap()).unwrap();
        assert_eq!(error.get("empty_lowest"), lowest.then_some(&json!(true)));
    }
}

/// Quantiles that lie close together were refused fifty times as long as with one error for all.
#[test]
fn neighbours_that_lie_close_share_an_error() {
    let fractions = [4999, 5000, 5001].map(|parts| Ratio::new(parts, 10_000));
    assert_eq!(evened(vec![77, 76, 77], &fractions), [77; 3]);
    let fractions = [1, 5000, 5001, 9000].map(|parts| Ratio::new(parts, 10_000));
    assert_eq!(evened(vec![90, 50, 51, 80], &fractions), [90, 51, 51, 80]);
    let apart = [5, 25, 50, 75, 95].map(|hundredths| Ratio::new(hundredths, 100));
    let errors = vec![473, 373, 249, 373, 473];
    assert_eq!(evened(errors.clone(), &apart), errors);
}

fn facts() -> DataFacts {
    DataFacts {
        name: "people".into(),
        columns: vec!["salary".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    }
}

fn request(statistic: &str) -> Request {
    Request { column: Some("salary".into()), epsilon: Some("1".into()), ..Request::new(statistic) }
}

/// The number of rows is bought with a twentieth of epsilon. It seems larger than it is by 153 or more less than once in 2000
/// times, since e^(-153/20) is less than 0.0004879, and by 152 or more not so seldom.
#[test]
fn ends_rise_where_rows_seem_to_be_more_than_noise_can_make_them() {
    let fractions = [5, 25, 50, 75, 95].map(|hundredths| Ratio::new(hundredths, 100));
    let beyond = |adjacency: &str| {
        let asked = Request { adjacency: Some(adjacency.into()), ..request("quantile") };
        let facts = facts();
        let said = ResolvedRequest::new(&asked, &facts).unwrap();
        let space = said.lattice(0).unwrap();
        // Without a number of rows that an answer needs, a twentieth buys theirs.
        let (guard, eps) = MinimumRows::plan(&said, |_| None).unwrap();
        let each = Each::plan(&said, &eps, &space, &fractions, &guard).unwrap();
        (each.rising_from, rising_from(&each.rank_errors, &fractions))
    };
    let (seem, are) = beyond("add-remove");
    assert!(are > 0);
    assert_eq!(seem - are, 152);
    // A number that is public is what it seems, and under replace all errors are the same.
    assert_eq!(beyond("replace"), (0, 0));
}

/// Each quartile has half of epsilon and half of the failure: 2 ln(40) / 0.5 is 14.8, and 15 rows more or fewer move a quartile by
/// 12 ranks, three quarters of them rounded up. Of 1000 rows over a range of 1000 both are off by 24.
#[test]
fn quartiles_of_even_rows_are_off_by_hand() {
    let asked = Request {
        range: Some("0,1000".into()),
        resolution: Some("1".into()),
        rows: Some("1000".into()),
        ..request("iqr")
    };
    let plan = Quantiles::plan(&ResolvedRequest::new(&asked, &facts()).unwrap()).unwrap();
    let error = plan.likely().unwrap().error;
    assert!((error - 24.0).abs() < 1e-9, "{error}");
}

#[test]
fn a_median_in_a_list_is_told_with_its_own_error() {
    let planned = |fraction: &str, epsilon: &str| {
        let request = Request {
            column: Some("salary".into()),
            fraction: Some(fraction.into()),
            epsilon: Some(epsilon.into()),
            ..Request::new("quantile")
        };
        let expected = Plan::new(&request, &facts()).unwrap().expected();
        (expected.error.unwrap().in_ranks().unwrap().each().to_vec(), expected.words)
    };
    let (ranks, words) = planned("0.05,0.25,0.5,0.75,0.95", "1");
    // A row more moves the rank of the median by half, that of extreme quantiles by nearly one.
    assert!(ranks[2] < ranks[1] && ranks[1] < ranks[0], "{ranks:?}");
    assert!(ranks[2] * 10 < ranks[0] * 6 && ranks[0] == ranks[4] && ranks[1] == ranks[3], "{ranks:?}");
    // With the whole epsilon for itself it is five times as good, but for what all hold at once costs.
    let alone = planned("0.5", "1").0[0];
    assert!(alone * 5 <= ranks[2] && ranks[2] < alone * 6, "{alone} {ranks:?}");
    assert!(words.starts_with(&format!("each within {}, ", ranks[0])), "{words}");
}

/// An interval of too few rows reached from 1e-214 to 6e168 and read like an answer.
#[test]
fn an_interval_that_is_of_no_use_is_said_to_be_none() {
    let drawn = |statistic: &str, rows: usize, fraction: Option<&str>| {
        let fraction = fraction.map(str::to_string);
        let request = Request { interval: Some(true), fraction, ..request(statistic) };
        let plan = Plan::new(&request, &facts()).unwrap();
        let memory = Memory::new((0..rows).map(|row| 500.0 + row as f64).collect(), &vec!["a"; rows]);
        let gathered = all_rows(&memory, &plan.needs(), 1);
        serde_json::to_value(plan.task().answer(&gathered, &mut FixedWords(7)).error.unwrap()).unwrap()
    };
    for (statistic, few, many) in [("median", 250, 2000), ("iqr", 1500, 20_000)] {
        let error = drawn(statistic, few, None);
        let needed = error["interval_needs"].as_u64().unwrap_or_else(|| panic!("{statistic}: {error}"));
        assert!(
            error.get("low").is_none() && needed > few as u64 && needed <= many as u64,
            "{statistic}: {error}"
        );
        let error = drawn(statistic, many, None);
        assert!(error["low"].is_number() && error.get("interval_needs").is_none(), "{statistic}: {error}");
    }
    // Of several each on its own: there are rows enough around the middle.
    let error = drawn("quantile", 3000, Some("0.05,0.5"));
    assert_eq!(error["low"][0], serde_json::Value::Null, "{error}");
    assert!(error["low"][1].is_number() && error["high"][1].is_number(), "{error}");
}
