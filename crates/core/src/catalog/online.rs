//! Mechanisms that answer a stream of questions.

use super::{ADJACENCY, CONFIDENCE, CatalogError, Derived, EPSILON, Entry, Given, Number, Parameter, cost};
use crate::{
    generalization::Released,
    loss::{Loss, ParameterError},
    mechanism::Values,
    monitor::{
        above_threshold::{AboveThreshold, Form},
        threshold_monitor::{Contributions, Noise, ThresholdMonitor},
    },
    ratio::Ratio,
};

const QUESTIONS: Parameter = Parameter {
    name: "questions",
    default: Some("1000"),
    about: "how many questions the error bound covers; privacy does not depend on it",
};

pub(super) static ABOVE_THRESHOLD: Entry = Entry {
    name: "above-threshold",
    about: "tells which questions of a stream lie above a threshold until a cut-off (sparse vector); epsilon-DP",
    parameters: &[
        EPSILON,
        Parameter { name: "cutoff", default: Some("1"), about: "how many positive answers there can be" },
        Parameter {
            name: "monotone",
            default: Some("false"),
            about: "true if one person moves all values the same way, as counts under add-remove",
        },
        Parameter {
            name: "sensitivity",
            default: Some("1"),
            about: "the most one person moves any question's value",
        },
        Parameter { name: "grid", default: Some("1"), about: "values are multiples of this" },
        Parameter {
            name: "form",
            default: Some("one-sided"),
            about: "one-sided, which has half the variance; or textbook, with Laplace noise",
        },
        QUESTIONS,
        CONFIDENCE,
        Parameter {
            name: "error",
            default: Some(""),
            about: "an error you can live with: the epsilon it needs is derived",
        },
    ],
    derive: above_threshold,
};

fn above_threshold(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let form = [("one-sided", Form::OneSided), ("textbook", Form::Textbook)];
    let stream = AboveThreshold {
        eps: given.eps()?,
        threshold: Ratio::zero(),
        sensitivity: given.ratio("sensitivity")?,
        grid: given.ratio("grid")?,
        values: Values::OnGrid,
        cutoff: given.count("cutoff")?,
        monotone: given.flag("monotone")?,
        form: given.choice("form", &form, "write one-sided or textbook")?,
    };
    let (questions, beta) = (given.count("questions")?, given.beta()?);
    let calibrated = stream.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.extend([
        Number::exact("threshold_scale", calibrated.threshold_scale(), "scale of the threshold's noise"),
        Number::exact("question_scale", calibrated.question_scale(), "scale of each question's noise"),
        Number::exact(
            "error",
            calibrated.accuracy(questions, &beta),
            "no question farther from the threshold is answered wrongly, at the confidence given",
        ),
    ]);
    if given.said("error") {
        let error = given.ratio("error")?;
        let eps = stream.eps_for(&error, questions, &beta).ok_or_else(|| {
            let accepted = "no epsilon up to 1000 is that accurate; allow more or use a finer grid";
            ParameterError::out_of_range("error", error, accepted)
        })?;
        let about = "the least epsilon with that error";
        numbers.push(Number::exact("epsilon_for_error", eps.ratio().clone(), about));
    }
    Ok(numbers)
}

pub(super) static GENERALIZATION: Entry = Entry {
    name: "generalization",
    about: "how far private answers about rows may be from the population that the rows were drawn from",
    parameters: &[
        EPSILON,
        Parameter { name: "delta", default: Some("0"), about: "at least 0; both are under replace" },
        Parameter {
            name: "error",
            default: Some("0.05"),
            about: "how far answers may be from the rows' own means",
        },
        Parameter { name: "failure", default: Some("0.01"), about: "how likely some answer is farther" },
        CONFIDENCE,
    ],
    derive: generalization,
};

fn generalization(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let released = Released {
        eps: given.eps()?,
        delta: given.delta()?,
        error: given.ratio("error")?,
        failure: given.ratio("failure")?,
    };
    let error = released.population_error(&given.beta()?).ok_or_else(|| {
        let shown = format!("{} with failure {}", released.error, released.failure);
        ParameterError::out_of_range("error", shown, "give an error and a failure of at least 0")
    })?;
    let about =
        "how far answers are from the population's means, at the confidence given; one or more says nothing";
    let mut numbers = cost(&Loss::approx(&released.eps, &released.delta));
    numbers.push(Number::exact("population_error", error, about));
    Ok(numbers)
}

pub(super) static THRESHOLD_MONITOR: Entry = Entry {
    name: "threshold-monitor",
    about: "tells which questions are above their thresholds, for ever; records drop out once they have helped",
    parameters: &[
        EPSILON,
        Parameter { name: "delta", default: None, about: "above 0, such as 1e-6" },
        Parameter {
            name: "budget",
            default: Some(""),
            about: "how often each record may contribute to positive answers; a table of several if not given",
        },
        Parameter {
            name: "contributions",
            default: Some("binary"),
            about: "binary for yes or no; fractional from 0 to 1; signed from -1 to 1",
        },
        Parameter {
            name: "noise",
            default: Some("gumbel"),
            about: "gumbel, saturated, or laplace as printed",
        },
        Parameter {
            name: "scale",
            default: Some(""),
            about: "a scale of noise: the epsilon that it keeps at delta is derived instead",
        },
        ADJACENCY,
        QUESTIONS,
        CONFIDENCE,
    ],
    derive: threshold_monitor,
};

/// As many rings as make a miss at the threshold less likely than this.
fn strength(questions: u64, beta: &Ratio) -> u64 {
    let misses = (questions as f64 * 2.0 / beta.to_f64()).ln().ceil();
    Ratio::from_f64_exact(misses)
        .and_then(|m| m.round_i64())
        .and_then(|m| u64::try_from(m).ok())
        .unwrap_or(1)
        .max(1)
}

fn threshold_monitor(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let (questions, beta) = (given.count("questions")?, given.beta()?);
    let kinds = [
        ("binary", Contributions::Binary),
        ("fractional", Contributions::Fractional { bits: 16 }),
        ("signed", Contributions::Signed { bits: 16 }),
    ];
    let noises = [
        ("gumbel", Noise::Gumbel),
        ("saturated", Noise::Saturated { strength: strength(questions, &beta) }),
        ("laplace", Noise::Laplace),
    ];
    let monitor = ThresholdMonitor {
        eps: given.eps()?,
        delta: given.delta()?,
        budget: if given.said("budget") { given.count("budget")? } else { 1 },
        contributions: given.choice("contributions", &kinds, "write binary, fractional or signed")?,
        noise: given.choice("noise", &noises, "write gumbel, saturated or laplace")?,
        adjacency: given.adjacency()?,
    };
    let calibrated =
        if given.said("scale") { monitor.at_scale(&given.ratio("scale")?)? } else { monitor.calibrate()? };
    let mut numbers = cost(&calibrated.cost());
    let accuracy = calibrated.accuracy(questions, &beta);
    numbers.push(Number::exact("scale", calibrated.scale().clone(), "scale of the noise, called b"));
    numbers.push(Number::exact("error_below", accuracy.below, "values this far below are called below"));
    if let Some(above) = accuracy.above {
        numbers.push(Number::exact("error_above", above, "values this far above are called above"));
    }
    if !given.said("budget") && !given.said("scale") {
        let at = |budget| {
            let scale = ThresholdMonitor { budget, ..monitor.clone() }.calibrate()?.scale().clone();
            Ok::<_, CatalogError>((budget, scale))
        };
        let table = [1, 10, 100, 1000].into_iter().map(at).collect::<Result<_, _>>()?;
        let about = "scale of the noise by budget";
        numbers.push(Number { name: "table", value: Derived::Table(table), about });
    }
    Ok(numbers)
}
