//! Sums, means and variances: what they are divided by, how far rows move them, and what their bars hold.

use super::*;
use crate::{
    gather::tests::{FixedWords, Memory, all_rows},
    plan::DataFacts,
    request::Request,
};

fn request(statistic: &str, eps: &str) -> Request {
    Request { column: Some("salary".into()), epsilon: Some(eps.into()), ..Request::new(statistic) }
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

fn plan_of(request: &Request) -> Result<Moments, PlanError> {
    Moments::plan(&ResolvedRequest::new(request, &facts()).unwrap())
}

fn planned(request: &Request) -> Moments {
    plan_of(request).unwrap_or_else(|error| panic!("{}: {error}", request.to_json()))
}

fn moments(statistic: &str, range: Option<&str>, eps: &str) -> Moments {
    planned(&Request { range: range.map(str::to_string), ..request(statistic, eps) })
}

fn ask(task: &Moments, rows: &[f64], coins: &mut FixedWords) -> Answer {
    let memory = Memory::new(rows.to_vec(), &["a"]);
    task.answer(&all_rows(&memory, &[task.need()], 1), coins)
}

/// An infinite answer is null in JSON and then reads as "there are no rows"; an infinite square minus another was
/// told as a variance of zero, surely.
#[test]
fn an_answer_beyond_floats_is_refused_and_never_null_or_zero() {
    let mut coins = FixedWords(7);
    let far: Vec<f64> = (0..2000).map(|i| if i % 2 == 0 { 1.0e308 } else { -1.7e308 }).collect();
    for (statistic, range) in
        [("sum", None), ("mean", None), ("variance", None), ("variance", Some("-1e200,3e200"))]
    {
        let answer = ask(&moments(statistic, range, "5"), &far, &mut coins);
        let Some(value) = answer.value else { continue };
        let value = value.as_f64().unwrap_or_else(|| panic!("{statistic}: not a number"));
        let error = answer.error.expect("a bar");
        let [low, high] = error.numeric_ends().unwrap();
        assert!(statistic == "mean" || statistic == "sum", "{statistic}: {value}");
        assert!(low.is_finite() && high.is_finite() && low <= value && value <= high, "{statistic} {value}");
    }
    // A mean of huge numbers is a number, though their sum is none.
    let answer = ask(&moments("mean", Some("-1.7e308,1.7e308"), "5"), &far, &mut coins);
    assert!(answer.value.and_then(|value| value.as_f64()).is_some_and(|mean| mean < -1e307));
}

/// The centre of a whole type's range is whole, so that one end may lie farther from it than half of the range: of yes and no
/// twice as far. What was said beforehand was half of what the bar then said.
#[test]
fn what_is_said_beforehand_is_what_the_bar_says() {
    for (kind, range) in [
        ("boolean", None),
        ("integer", Some("6,7")),
        ("integer", Some("5,20")),
        ("decimal:1", Some("0,0.1")),
        ("number", Some("0,1")),
    ] {
        let request = Request {
            types: [("salary".to_string(), kind.to_string())].into(),
            range: range.map(str::to_string),
            rows: Some("200".into()),
            ..request("mean", "1")
        };
        let task = planned(&request);
        let answer = ask(&task, &[1.0; 200], &mut FixedWords(3));
        let (value, error) =
            (answer.value.expect("an answer").as_f64().unwrap(), answer.error.expect("a bar"));
        let [low, high] = error.numeric_ends().unwrap();
        // An end beyond the range is moved to it.
        let (said, bar) = (task.predicted().expect("a prediction"), (high - value).max(value - low));
        // Rows of plain numbers are rounded, which only the bar covers.
        assert!(said <= bar && bar < said * 1.000_001, "{kind} {range:?}: said {said}, told {bar}");
    }
}

/// The mean of these is 2^53 + 5, which is no double: the bar held the double next to it and nothing else.
#[test]
fn the_bar_of_a_mean_that_is_no_double_holds_it() {
    let odd = (1i64 << 53) + 5;
    let rows: Vec<f64> = (0..2000).map(|row| (odd - 1 + 2 * (row % 2)) as f64).collect();
    for (range, truth) in [(Some("9007199254740993,9007199254741001"), odd), (None, odd)] {
        let asked = Request {
            types: [("salary".to_string(), "integer".to_string())].into(),
            rows: Some("2000".into()),
            range: range.map(str::to_string),
            ..request("mean", "200")
        };
        let task = planned(&asked);
        for seed in 0..20 {
            let error = ask(&task, &rows, &mut FixedWords(seed)).error.expect("a bar");
            let [low, high] = error.numeric_ends().unwrap().map(|end| Ratio::from_f64_exact(end).unwrap());
            assert!(low <= Ratio::from(truth) && Ratio::from(truth) <= high, "{low} {high}");
            assert!(range.is_none() || &high - &low <= Ratio::from(16u64), "{low} {high}");
        }
    }
}

/// Under replace one row moves a sum over 0,100 by 100, not twice; a sum of squares around the middle by 2500.
#[test]
fn a_replaced_row_moves_sums_by_their_span() {
    let within = |request: Request| {
        let task = planned(&Request { range: Some("0,100".into()), ..request });
        let in_units = |within: i64, steps: i64| within as f64 / steps as f64;
        let second = task.largest().second.as_ref().map(|(_, within)| in_units(*within, task.square_steps));
        (in_units(task.largest().within, task.steps), second)
    };
    let by = |statistic: &str, adjacency: &str| Request {
        adjacency: Some(adjacency.into()),
        rows: (statistic != "sum").then(|| "100".to_string()),
        ..request(statistic, "1")
    };
    let ratio = |statistic: &str| {
        let (added, replaced) = (within(by(statistic, "add-remove")), within(by(statistic, "replace")));
        (replaced.0 / added.0, replaced.1.zip(added.1).map(|(replaced, added)| replaced / added))
    };
    // A sum under add/remove pays a hundredth of epsilon, and of failure, for the number of rows.
    assert!((0.98..1.0).contains(&ratio("sum").0), "{:?}", ratio("sum"));
    assert!((ratio("mean").0 - 2.0).abs() < 1e-6);
    let (first, second) = ratio("variance");
    assert!((first - 2.0).abs() < 1e-6 && (second.unwrap() - 1.0).abs() < 1e-6);
}

/// With a searched range the centre is not public: under replace a row that goes and one that comes may lie at opposite ends, two
/// whole steps apart, and the search runs at half of its share, because it is proved for rows that come or go.
#[test]
fn a_replaced_row_moves_sums_over_a_searched_range_twice() {
    let by = |statistic: &str, adjacency: &str| {
        planned(&Request { adjacency: Some(adjacency.into()), ..request(statistic, "1") })
    };
    for statistic in ["sum", "mean", "variance"] {
        let (added, replaced) = (by(statistic, "add-remove"), by(statistic, "replace"));
        let twice = replaced.largest().within as f64 / added.largest().within as f64;
        assert!((twice - 2.0).abs() < 1e-6, "{statistic}: {twice}");
        // The largest square is moved by itself either way.
        let squares = |task: &Moments| task.largest().second.as_ref().map(|(_, within)| *within);
        assert_eq!(squares(&added), squares(&replaced));
        // All parts together cost what was said.
        for (task, adjacency) in [(&added, Adjacency::AddRemove), (&replaced, Adjacency::Replace)] {
            let (spent, cost) = (task.spent(adjacency), task.cost());
            assert_eq!(spent.to_string(), cost.to_string(), "{statistic} {adjacency:?}");
        }
    }
}

/// What sums are divided by, from what was said. A number that is stated beside a filter may be that of the whole file.
#[test]
fn a_known_number_of_rows_is_not_bought() {
    let base = Request { range: Some("0,100".into()), ..request("mean", "1") };
    let stated = Request { rows: Some("50".into()), ..base.clone() };
    let replace = Request { adjacency: Some("replace".into()), ..base.clone() };
    let filter = || Some("salary > 3".to_string());
    let by = |request: &Request| match planned(request).divisor {
        Divisor::Bought { .. } => "bought",
        Divisor::TwoSides => "two sides",
        Divisor::Public => "public",
        Divisor::Stated(_) => "stated",
    };
    for (request, said) in [
        (base.clone(), "two sides"),
        (stated.clone(), "stated"),
        (replace.clone(), "public"),
        (Request { rows: Some("50".into()), ..replace.clone() }, "public"),
        (Request { filter: filter(), ..stated.clone() }, "two sides"),
        (Request { filter: filter(), ..replace.clone() }, "two sides"),
        (Request { unit: Some("salary".into()), ..stated.clone() }, "two sides"),
        (Request { range: None, rows: Some("5000".into()), ..base.clone() }, "two sides"),
        (Request { range: None, ..replace.clone() }, "two sides"),
        (Request { statistic: "summary".into(), ..replace.clone() }, "two sides"),
        (Request { statistic: "sum".into(), ..base.clone() }, "bought"),
        (Request { statistic: "sum".into(), range: None, ..base.clone() }, "bought"),
    ] {
        assert_eq!(by(&request), said, "{}", request.to_json());
    }
    let (stated, replace) = (planned(&stated), planned(&replace));
    let words = stated.expected().words;
    assert!(words.contains("if 50 rows have a value, as stated") && words.contains("never refused"));
    let words = replace.expected().words;
    assert!(words.contains("empty fields count as 50; refused without rows"), "{words}");
    let mut coins = FixedWords(3);
    let error = ask(&stated, &[1.0; 50], &mut coins).error.unwrap();
    assert!(error.conditions().contains(&Condition::StatedRows(50)) && error.empty_as().is_none());
    let answer = ask(&replace, &[f64::NAN; 50], &mut coins);
    let error = answer.error.unwrap();
    assert!(!error.conditions().iter().any(|condition| matches!(condition, Condition::StatedRows(_))));
    assert_eq!((error.empty_as(), answer.rows), (Some(50.0), None));
    assert_eq!(ask(&replace, &[], &mut coins).advice.as_deref(), Some("there are no rows"));
    let none = Request { rows: Some("0".into()), ..base };
    assert!(plan_of(&none).unwrap_err().to_string().contains("above 0"));
}

#[test]
fn a_declared_range_is_not_advised_to_be_declared() {
    let task = moments("mean", Some("0,1"), "1");
    assert!(!task.expected().words.contains("never refused"), "{}", task.expected().words);
    assert!(!task.too_few(false, None, 0, false).unwrap().contains("`range`"));
}

/// A sum of a column of texts over a declared range was 294 without a word about the column, and every second mean was released over
/// the noise of no rows.
#[test]
fn a_column_without_numbers_is_told_as_one_over_a_declared_range() {
    let mut coins = FixedWords(17);
    let texts = vec![f64::NAN; 5000];
    let few: Vec<f64> = (0..5000).map(|row| if row < 40 { 50.0 } else { f64::NAN }).collect();
    for statistic in ["mean", "variance", "std"] {
        for mechanism in [None, Some("gaussian")] {
            let asked = Request {
                range: Some("0,100".into()),
                mechanism: mechanism.map(str::to_string),
                delta: mechanism.map(|_| "1e-6".to_string()),
                ..request(statistic, "1")
            };
            let task = planned(&asked);
            for _ in 0..50 {
                let answer = ask(&task, &texts, &mut coins);
                let advice = answer.advice.unwrap_or_else(|| panic!("{statistic}: released"));
                let found = advice.starts_with("too few rows (about ")
                    && advice.contains("rows hold a number in 'salary'");
                assert!(found && advice.contains(DOUBT), "{advice}");
            }
        }
    }
    // Forty numbers have a mean, though hardly any row has one.
    let mean = moments("mean", Some("0,100"), "1");
    assert!((0..50).all(|_| ask(&mean, &few, &mut coins).value.is_some()));
    let sum = moments("sum", Some("0,100"), "1");
    let given = |rows: &[f64], coins: &mut FixedWords| {
        let answer = ask(&sum, rows, coins);
        serde_json::to_value(answer.error.expect("a sum is never refused")).unwrap()["given"].to_string()
    };
    // Its number of rows has a hundredth of epsilon and may be off by 760: among 5,000 rows that is no reason to doubt, among 50,000 it is.
    let many_texts = vec![f64::NAN; 50_000];
    assert!((0..50).filter(|_| given(&many_texts, &mut coins).contains(DOUBT)).count() >= 48);
    assert!((0..50).filter(|_| given(&texts, &mut coins).contains(DOUBT)).count() <= 5);
    let numbers = vec![50.0; 5000];
    assert!((0..50).all(|_| given(&numbers, &mut coins) == "null"));
    // Under replace one row moves both numbers, which nobody has paid for.
    let replace = planned(&Request {
        adjacency: Some("replace".into()),
        range: Some("0,100".into()),
        ..request("mean", "1")
    });
    assert!(ask(&replace, &texts, &mut coins).value.is_some() && replace.holding.is_none());
}

/// A request for whole numbers of the column.
fn of_integers(statistic: &str, range: Option<&str>, eps: &str) -> Request {
    Request {
        types: [("salary".to_string(), "integer".to_string())].into(),
        range: range.map(str::to_string),
        ..request(statistic, eps)
    }
}

/// The answer of an epsilon so large that noise is zero, as it is told, and its bar.
fn told(task: &Moments, rows: &[f64]) -> [f64; 3] {
    let answer = ask(task, rows, &mut FixedWords(11));
    let error = answer.error.expect("a bar");
    let [low, high] = error.numeric_ends().expect("ends");
    [low, answer.value.and_then(|value| value.as_f64()).expect("a number"), high]
}

/// Squares of distances from 10 go up to 100 in units of the column, which are steps: 3 squared is 9 of them, and nothing is
/// rounded. Steps of any other length would round, and the bar would say so.
#[test]
fn the_squares_of_whole_numbers_are_not_rounded() {
    let task = planned(&Request {
        adjacency: Some("replace".into()),
        ..of_integers("variance", Some("0,20"), "1000")
    });
    assert_eq!((task.steps, task.square_steps), (10, 100));
    let rows: Vec<f64> = (0..100).map(|row| if row % 2 == 0 { 7.0 } else { 13.0 }).collect();
    let [low, value, high] = told(&task, &rows);
    assert!((value - 9.0).abs() < 1e-9 && high - low < 1e-9, "{low} {value} {high}");
    // 2^16 from the middle, whose square is beyond the steps of a sum.
    let far = planned(&Request {
        adjacency: Some("replace".into()),
        ..of_integers("variance", Some("0,131072"), "1")
    });
    assert_eq!((far.steps, far.square_steps), (1 << 16, STEPS));
}

/// A number of rows that the two sides of a sum tell may be too small: at epsilon 1 either side is off by up to 2·ln(40) = 7.378
/// halves of the range in 39 cases of 40, and the number of rows by as many rows; 7.378 / (1000 - 7.378) * 50 is 0.37165.
#[test]
fn what_is_said_beforehand_counts_what_a_noisy_number_of_rows_may_miss() {
    let filtered =
        Request { filter: Some("salary > 3".into()), rows: Some("1000".into()), ..request("mean", "1") };
    let task = planned(&Request { range: Some("0,100".into()), ..filtered });
    let said = task.predicted().expect("a prediction");
    assert!((said - 0.371_65).abs() < 1e-4, "{said}");
}

/// A row of up to 2^60 is rounded to a double first: by parts of the farther end, which is twice as far from zero as from the
/// centre of 0 to 2^60, whichever side of zero it lies on.
#[test]
fn rows_of_whole_types_are_rounded_by_their_farther_end() {
    let two_to_60 = (1u64 << 60).to_string();
    for range in [format!("0,{two_to_60}"), format!("-{two_to_60},0")] {
        let task = planned(&of_integers("mean", Some(&range), "1"));
        assert!(task.exact.is_none(), "more steps than a sum has");
        let RangeBy::Declared(clip, _) = &task.range else { panic!("a declared range") };
        let rounded = task.rounding(&task.frame(clip), clip, 1 << 30);
        assert_eq!(rounded.to_bits(), (0.5 + (1.0 + 2.0) * 2f64.powi(30 - 49)).to_bits(), "{range}");
        let plain = moments("mean", Some(&range), "1");
        let rounded = plain.rounding(&plain.frame(clip), clip, 1 << 30);
        assert_eq!(rounded.to_bits(), (0.5 + 2f64.powi(30 - 49)).to_bits());
    }
}

/// A sum of plain numbers has a fraction; of whole numbers it is whole, in units of the column whether its range was declared, and
/// its steps are those units, or searched, and they are not.
#[test]
fn a_sum_is_told_in_units_of_its_column() {
    let plain = told(&moments("sum", Some("0,1"), "1000"), &[0.25; 5]);
    assert!((plain[1] - 1.25).abs() < 0.01, "{plain:?}");
    assert!(plain[0] < plain[1] && plain[1] < plain[2] && plain[2] - plain[0] < 0.1, "{plain:?}");
    // Seven rows of 1,000,001 moved to the end of the range.
    let declared = told(&planned(&of_integers("sum", Some("0,1000000"), "1000")), &[1_000_001.0; 7]);
    assert!(declared.iter().all(|told| (told - 7e6).abs() < 5000.0), "{declared:?}");
    let searched = planned(&of_integers("sum", None, "500"));
    let rows: Vec<f64> = (0..2000).map(|row| f64::from(row % 100)).collect();
    let [low, value, high] = told(&searched, &rows);
    assert!(low <= 99_000.0 && 99_000.0 <= high && (value - 99_000.0).abs() < 1000.0, "{low} {value} {high}");
}

/// The failures of the number of rows and of a sum add up to that of the answer: no more, and none is wasted.
#[test]
fn failures_add_up_to_that_of_the_answer() {
    let facts = facts();
    let request = request("sum", "1");
    let said = ResolvedRequest::new(&request, &facts).unwrap();
    for share in [0, 1, 5] {
        let (rows, sums) = failures(&said, share);
        assert_eq!(rows + sums.failure(), *said.failure(), "{share}");
    }
    assert_eq!(failures(&said, 1).0, Ratio::new(1, 2000));
}

/// A standard deviation is the root of a variance from the same coins, its bar with it.
#[test]
fn a_standard_deviation_is_the_root_of_the_variance() {
    let rows: Vec<f64> = (0..4000).map(|row| f64::from(row % 100)).collect();
    for range in [Some("0,100"), None] {
        let [variance, std] = ["variance", "std"].map(|statistic| moments(statistic, range, "8"));
        for seed in 0..20 {
            let [squared, root] = [&variance, &std].map(|task| ask(task, &rows, &mut FixedWords(seed)));
            let number = |answer: &Answer| answer.value.as_ref().and_then(serde_json::Value::as_f64).unwrap();
            assert!((number(&squared).sqrt() - number(&root)).abs() < 1e-9);
            let [squared, root] = [squared, root].map(|answer| answer.error.unwrap().numeric_ends().unwrap());
            for (square, end) in squared.into_iter().zip(root) {
                assert!((square.sqrt() - end).abs() < 1e-9, "{square} {end}");
            }
        }
        assert_eq!(variance.cost(), std.cost());
    }
    let aimed = Request { rows: Some("4000".into()), range: Some("0,100".into()), ..request("std", "1") };
    let squared = Request { statistic: "variance".into(), ..aimed.clone() };
    let [std, variance] = [aimed, squared].map(|request| planned(&request).predicted().unwrap());
    assert!((std * std - variance).abs() < 1e-9 * variance, "{std} {variance}");
}

/// A group of 60 rows among 20,000 searched a range of its own, at epsilon 0.5, and was refused every time; limited to the range
/// of all rows it has an answer. The range is the same for all groups.
#[test]
fn groups_share_one_range() {
    let facts = DataFacts {
        name: "people".into(),
        columns: vec!["salary".into(), "town".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    };
    let asked = |statistic: &str| Request {
        group_by: vec!["town".into()],
        keys: vec!["a".into(), "b".into(), "c".into()],
        ..request(statistic, "0.5")
    };
    // Town c has no rows at all.
    let towns: Vec<&str> = (0..20_000).map(|row| if row % 333 == 0 { "b" } else { "a" }).collect();
    let rows: Vec<f64> =
        (0..20_000).map(|row| if row % 333 == 0 { 300.0 } else { 100.0 + f64::from(row % 200) }).collect();
    for statistic in ["mean", "sum", "std", "summary"] {
        let plan = crate::plan::Plan::new(&asked(statistic), &facts).unwrap();
        let answer = |seed: u64| {
            let memory = Memory::new(rows.clone(), &towns);
            let gathered = all_rows(&memory, &plan.needs(), 1);
            plan.task().answer(&gathered, &mut FixedWords(seed))
        };
        let mut small = 0;
        for seed in 0..20 {
            let groups = answer(seed).groups.expect("groups");
            let errors: Vec<_> = groups
                .iter()
                .map(|group| match &group.answers {
                    Some(parts) => parts[1].error.clone(),
                    None => group.error.clone(),
                })
                .collect();
            let limited = |error: &ErrorBar| {
                let limits = error.conditions().iter();
                limits.filter(|one| matches!(one, Condition::LimitedTo(_))).cloned().collect::<Vec<_>>()
            };
            let limits: Vec<_> = errors.iter().flatten().map(limited).collect();
            assert!(
                limits.iter().all(|limit| limit.len() == 1 && *limit == limits[0]),
                "{statistic}: {limits:?}"
            );
            small += usize::from(errors[1].is_some());
        }
        assert!(small >= 18, "{statistic}: {small} of 20");
    }
}

/// Few rows at a large epsilon: an end cost a whole row for each step of the ladder, so that the nearest one was named with fewer
/// rows than there are steps, and 30 salaries around 45,000 had a mean over 44,800 to 45,056.
#[test]
fn few_rows_at_a_large_epsilon_have_the_range_that_they_lie_in() {
    let rows: Vec<f64> = (0..30).map(|row| 20_000.0 + 4_000.0 * f64::from(row)).collect();
    for (statistic, eps) in [("mean", "5"), ("mean", "10"), ("mean", "100"), ("std", "1000")] {
        let task = moments(statistic, None, eps);
        let mut good = 0;
        for seed in 0..40 {
            let answer = ask(&task, &rows, &mut FixedWords(seed));
            let limits = answer.error.as_ref().and_then(ErrorBar::limited_to);
            good += usize::from(limits.is_some_and(|[low, high]| low < 40_000.0 && high > 110_000.0));
        }
        assert!(good >= 36, "{statistic} {eps}: {good} of 40");
    }
}

/// A column of one value had no mean without a range where the value is the end of a cell.
#[test]
fn columns_of_one_value_have_a_mean() {
    for value in [1.0, 1024.0, 1023.999, -3.0, 0.0, 7e9] {
        for rows in [300, 3000] {
            let released =
                |seed| ask(&moments("mean", None, "1"), &vec![value; rows], &mut FixedWords(seed)).value;
            assert!((0..20).filter(|&seed| released(seed).is_some()).count() >= 19, "{value} {rows}");
        }
    }
}

/// The ends of a range beyond 2^53 are no doubles: a bar that was cut at the doubles next to them never held the upper end.
#[test]
fn a_bar_is_cut_at_doubles_that_hold_the_range() {
    let high = (1i64 << 53) + 5;
    let asked = of_integers("mean", Some("9007199254740892,9007199254740997"), "1");
    assert_eq!(high, 9_007_199_254_740_997);
    let plan = planned(&Request { adjacency: Some("replace".into()), ..asked });
    for seed in 0..20 {
        // 9007199254740996 as a double, which is in the range; the end itself is none.
        let error = ask(&plan, &[(high - 1) as f64; 50], &mut FixedWords(seed)).error.unwrap();
        let [low, up] = error.numeric_ends().unwrap().map(|end| Ratio::from_f64_exact(end).unwrap());
        assert!(low < up && up >= Ratio::from(high - 1), "{low} {up}");
    }
}

/// "standard-deviation 0, between 0 and 30400" stood below a range of 8224: no values there spread by more than half of it.
#[test]
fn a_spread_is_never_beyond_what_the_range_allows() {
    let mut coins = FixedWords(15);
    let rows: Vec<f64> = (0..40).map(|row| f64::from(row) * 20.0).collect();
    let mut cut = 0;
    for (statistic, most) in [("variance", 250_000.0 * 1.000_001), ("std", 500.001)] {
        for _ in 0..100 {
            let answer = ask(&moments(statistic, Some("0,1000"), "0.1"), &rows, &mut coins);
            let Some(value) = answer.value.and_then(|value| value.as_f64()) else { continue };
            let [low, high] = answer.error.unwrap().numeric_ends().unwrap();
            assert!(0.0 <= low && low <= value && value <= high && high <= most, "{value} {low} {high}");
            cut += usize::from(high >= most * 0.999);
        }
    }
    assert!(cut > 20, "{cut}");
}
