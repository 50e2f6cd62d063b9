//! From a wanted error to the least epsilon that keeps it.
//!
//! Every trial is a whole plan, so what is found is certified by the calibration that will run. The result is a short
//! decimal; it is what is charged and shown.

use super::{DataFacts, PlanError};
use crate::{
    request::Request,
    resolved::ResolvedRequest,
    statistic::Argument,
    task::{Answering, Task, candidates},
};
use equipoise_core::{loss::ParameterError, ratio::Ratio, solve};

/// Epsilons from a ten-thousandth to a hundred are tried: less is useless, more protects nobody.
const POWERS: std::ops::Range<i64> = -4..2;

/// The same request with the least epsilon for its wanted error.
pub(crate) fn solve(request: &Request, facts: &DataFacts) -> Result<Request, PlanError> {
    let Some(text) = request.target_error.as_deref() else { return Ok(request.clone()) };
    if request.epsilon.is_some() {
        return Err(PlanError::about(Argument::TargetError, "give either `epsilon` or `target_error`")
            .hint("the other follows from it"));
    }
    let target = text.parse::<Ratio>().ok().filter(|target| !target.is_negative()).ok_or_else(|| {
        ParameterError::out_of_range("target error", text, "give a number of 0 or more, such as 10")
    })?;
    if request.mechanism.as_deref().is_none_or(|name| name == "auto") {
        return by_some_mechanism(request, facts, &target);
    }
    least(request, facts, &target)
}

/// The mechanism that keeps the error at the least price, which is then the one that is taken.
fn by_some_mechanism(request: &Request, facts: &DataFacts, target: &Ratio) -> Result<Request, PlanError> {
    // Which there are does not depend on the price.
    let at_some_price = Request { epsilon: Some("1".to_string()), target_error: None, ..request.clone() };
    let names = candidates::eligible(&ResolvedRequest::new(&at_some_price, facts)?);
    if names.len() < 2 {
        return least(request, facts, target);
    }
    let by =
        |name: &&str| least(&Request { mechanism: Some(name.to_string()), ..request.clone() }, facts, target);
    let mut solved: Vec<_> = names.iter().map(by).collect();
    let price =
        |solved: &Result<Request, PlanError>| solved.as_ref().ok()?.epsilon.as_deref()?.parse::<Ratio>().ok();
    let best = (0..solved.len())
        .filter_map(|place| price(&solved[place]).map(|price| (price, place)))
        .min_by(|a, b| a.0.cmp(&b.0));
    solved.swap_remove(best.map_or(0, |(_, place)| place))
}

/// The least epsilon with which this request keeps the error.
fn least(request: &Request, facts: &DataFacts, target: &Ratio) -> Result<Request, PlanError> {
    let text = request.target_error.as_deref().unwrap_or_default();
    let at = |eps: &Ratio| {
        let priced = Request { epsilon: Some(eps.to_string()), target_error: None, ..request.clone() };
        ResolvedRequest::new(&priced, facts).and_then(|said| Task::plan(&said)).map(|task| (priced, task))
    };
    let unreachable = || {
        PlanError::about(Argument::TargetError, format!("no epsilon up to 100 keeps the error within {text}"))
            .hint("give a larger target error")
    };
    // Whatever else is wrong with the request is wrong at every price.
    let most = at(&Ratio::from(100u64));
    let (_, task) = most.map_err(|error| if error.is_of_a_share() { unreachable() } else { error })?;
    if task.predicted().is_none() {
        return Err(PlanError::about(Argument::TargetError, task.no_prediction()));
    }
    let target = target.to_f64();
    let enough = |eps: &Ratio| {
        at(eps).ok().and_then(|(_, task)| task.predicted()).is_some_and(|error| error <= target)
    };
    let eps = solve::smallest_decimal(POWERS, enough).ok_or_else(unreachable)?;
    at(&eps).map(|(priced, _)| priced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    fn facts() -> DataFacts {
        let columns = ["salary", "town"].map(String::from).to_vec();
        DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new(), windows: None }
    }

    fn aimed(statistic: &str, target: &str) -> Request {
        let column = (statistic != "count").then(|| "salary".to_string());
        Request { column, target_error: Some(target.into()), ..Request::new(statistic) }
    }

    /// The error that is predicted at the price that was found, and at a little less.
    fn around(request: &Request) -> (f64, f64) {
        let found = solve(request, &facts()).unwrap_or_else(|error| panic!("{}: {error}", request.to_json()));
        let predicted = |request: &Request| {
            Plan::new(request, &facts()).map_or(f64::INFINITY, |plan| plan.task().predicted().unwrap())
        };
        let eps: f64 = found.epsilon.as_deref().unwrap().parse().unwrap();
        let less = Request { epsilon: Some((eps * 0.999).to_string()), ..found.clone() };
        (predicted(&found), predicted(&less))
    }

    #[test]
    fn every_statistic_with_a_predicted_error_finds_its_least_epsilon() {
        let range = || Some("0,100".to_string());
        let rows = || Some("5000".to_string());
        let delta = || Some("1e-6".to_string());
        let replace = || Some("replace".to_string());
        let town = || vec!["town".to_string()];
        for (request, target) in [
            (aimed("count", "10"), 10.0),
            (Request { group_by: town(), delta: delta(), ..aimed("count", "10") }, 10.0),
            (Request { group_by: town(), keys: vec!["a".into()], ..aimed("count", "10") }, 10.0),
            (Request { column: Some("town".into()), delta: delta(), ..aimed("histogram", "20") }, 20.0),
            (Request { range: range(), ..aimed("sum", "1000") }, 1000.0),
            (Request { range: range(), group_by: town(), delta: delta(), ..aimed("sum", "1000") }, 1000.0),
            (Request { range: range(), rows: rows(), ..aimed("mean", "0.5") }, 0.5),
            (Request { range: range(), rows: rows(), ..aimed("variance", "20") }, 20.0),
            (Request { range: range(), rows: rows(), adjacency: replace(), ..aimed("mean", "0.5") }, 0.5),
            // A bought number of rows is off by 1 or by 0, and all of epsilon 29 was paid for the second.
            (Request { range: Some("0,1000000".into()), rows: rows(), ..aimed("mean", "20") }, 20.0),
            (aimed("median", "50"), 50.0),
            (Request { range: range(), resolution: Some("1".into()), ..aimed("median", "50") }, 50.0),
            (Request { fraction: Some("0.9".into()), ..aimed("quantile", "50") }, 50.0),
            (Request { fraction: Some("0.1,0.9".into()), ..aimed("quantile", "50") }, 50.0),
            (aimed("iqr", "50"), 50.0),
            (
                Request {
                    column: Some("town".into()),
                    among: vec!["a".into(), "b".into()],
                    ..aimed("select", "9")
                },
                9.0,
            ),
        ] {
            let (at, below) = around(&request);
            assert!(at <= target && below > at, "{}: {at} and {below}", request.to_json());
            // Whole numbers may jump past the target; others are found to a thousandth.
            assert!(below > target || at >= target, "{}: {at} and {below}", request.to_json());
        }
    }

    #[test]
    fn what_cannot_be_aimed_at_says_why_and_what_to_do() {
        let delta = || Some("1e-6".to_string());
        for (request, said) in [
            (aimed("sum", "5"), "depends on its range; declare `range`"),
            (aimed("mean", "5"), "declare `range` and `rows`"),
            (Request { range: Some("0,1".into()), ..aimed("mean", "5") }, "state `rows` where it is public"),
            (
                Request { range: Some("0,1".into()), rows: Some("3".into()), ..aimed("variance", "1e-9") },
                "no epsilon up to 100",
            ),
            (Request { delta: delta(), ..aimed("mode", "5") }, "exact or refused"),
            (Request { delta: delta(), ..aimed("select", "5") }, "state them with `among`"),
            (aimed("summary", "5"), "several errors"),
            (
                Request {
                    mechanism: Some("scale".into()),
                    resolution: Some("1".into()),
                    delta: delta(),
                    ..aimed("iqr", "5")
                },
                "is a factor",
            ),
            (
                Request {
                    mechanism: Some("smooth".into()),
                    resolution: Some("1".into()),
                    range: Some("0,100".into()),
                    ..aimed("median", "5")
                },
                "follows the rows",
            ),
            (
                Request { mechanism: Some("stable".into()), delta: delta(), ..aimed("median", "5") },
                "exact or refused",
            ),
            (aimed("median", "-1"), "give a number of 0 or more"),
        ] {
            let error = solve(&request, &facts()).expect_err(&request.to_json()).to_string();
            assert!(error.contains(said) && !error.contains('\n'), "{}: {error}", request.to_json());
        }
    }
}
