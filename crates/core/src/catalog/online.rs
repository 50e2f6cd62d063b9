//! Mechanisms that answer a stream of questions.

use super::{CONFIDENCE, CatalogError, EPSILON, Entry, Given, Number, Parameter, cost};
use crate::{
    loss::ParameterError,
    mechanism::Values,
    monitor::above_threshold::{AboveThreshold, Form},
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
