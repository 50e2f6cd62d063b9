//! From a wanted error to the least epsilon that keeps it.
//!
//! Every trial is a whole plan, so what is found is certified by the calibration that will run. The result is a short
//! decimal; it is what is charged and shown.

use crate::{
    plan::{DataFacts, PlanError, Said},
    request::Request,
    task::Task,
};
use equipoise_core::{loss::ParameterError, ratio::Ratio, solve};

/// Epsilons from a ten-thousandth to a hundred are tried: less is useless, more protects nobody.
const POWERS: std::ops::Range<i64> = -4..2;

/// The same request with the least epsilon for its wanted error.
pub(crate) fn solve(request: &Request, facts: &DataFacts) -> Result<Request, PlanError> {
    let Some(text) = request.target_error.as_deref() else { return Ok(request.clone()) };
    if request.epsilon.is_some() {
        return Err(PlanError::line("give either --epsilon or --target-error; the other follows from it"));
    }
    let target = text.parse::<Ratio>().ok().filter(|target| !target.is_negative()).ok_or_else(|| {
        ParameterError::out_of_range("target error", text, "give a number of 0 or more, such as 10")
    })?;
    let at = |eps: &Ratio| {
        let priced = Request { epsilon: Some(eps.to_string()), target_error: None, ..request.clone() };
        Said::new(&priced, facts).and_then(|said| Task::plan(&said)).map(|task| (priced, task))
    };
    // Whatever is wrong with the request is wrong at every price.
    let (_, task) = at(&Ratio::from(100u64))?;
    if task.predicted().is_none() {
        return Err(PlanError::line(task.no_prediction(&request.statistic)));
    }
    let target = target.to_f64();
    let enough = |eps: &Ratio| {
        at(eps).ok().and_then(|(_, task)| task.predicted()).is_some_and(|error| error <= target)
    };
    let Some(eps) = solve::smallest_decimal(POWERS, enough) else {
        return Err(PlanError::line(format!(
            "no epsilon up to 100 keeps the error within {text}; give a larger target error"
        )));
    };
    at(&eps).map(|(priced, _)| priced)
}
