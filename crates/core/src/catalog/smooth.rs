//! Noise in proportion to a smooth bound on local sensitivity.

use super::{
    CONFIDENCE, CatalogError, EPSILON, Entry, Given, Number, Parameter, cost,
    given::{optional_whole_range, required},
};
use crate::{
    loss::ParameterError,
    mechanism::{
        released_scale::ReleasedScale,
        smooth::{Noise, Smooth},
        smooth_plan::{Choice, Question, betas, even_gaps, plan},
    },
    ratio::Ratio,
    stability::Range,
};

const RANGE: Parameter = Parameter {
    name: "range",
    default: Some(""),
    about: "LO,HI in whole numbers, the range of the statistic; needed",
};
const GRID: Parameter =
    Parameter { name: "grid", default: Some("1"), about: "answers are multiples of this" };
const GAP: Parameter = Parameter {
    name: "gap",
    default: Some("1"),
    about: "how far apart rows near the quantile are believed to lie; a wrong guess costs no privacy",
};
const ERROR: Parameter = Parameter {
    name: "error",
    default: Some(""),
    about: "an error you can live with: the epsilon it needs at the guessed gap is derived",
};

pub(super) static SMOOTH: Entry = Entry {
    name: "smooth",
    about: "noise in proportion to a smooth bound on local sensitivity; the noise itself refuses nothing, questions on few rows are refused",
    parameters: &[
        EPSILON,
        Parameter { name: "delta", default: Some("0"), about: "above 0 for Laplace noise, such as 1e-6" },
        Parameter {
            name: "noise",
            default: Some("auto"),
            about: "cauchy, student, polyplace or laplace; auto takes the most accurate at the guessed gap",
        },
        Parameter {
            name: "nu",
            default: Some(""),
            about: "degrees of freedom of Student's noise, at least 1",
        },
        Parameter {
            name: "alpha",
            default: Some(""),
            about: "exponent of PolyPlace noise, above 1 and at most 1 + epsilon/beta",
        },
        Parameter {
            name: "beta",
            default: Some(""),
            about: "how fast the bound may change between neighbours; the best at the guessed gap if not given",
        },
        RANGE,
        GRID,
        GAP,
        CONFIDENCE,
        ERROR,
    ],
    derive: smooth,
};

pub(super) static RELEASED_SCALE: Entry = Entry {
    name: "released-scale",
    about: "a smooth bound made public with noise, then Laplace noise at it: the error bar is public too",
    parameters: &[
        Parameter {
            name: "epsilon",
            default: None,
            about: "privacy parameter of both parts together, above 0",
        },
        super::DELTA,
        Parameter {
            name: "scale-share",
            default: Some("1/2"),
            about: "the part of epsilon that the bound gets; the value gets the rest",
        },
        Parameter {
            name: "beta",
            default: Some(""),
            about: "how fast the bound may change between neighbours; a fiftieth of epsilon if not given",
        },
        RANGE,
        GRID,
        GAP,
        CONFIDENCE,
        ERROR,
    ],
    derive: released_scale,
};

/// The noise by name, for this beta; `None` for auto.
fn noise(given: &Given, beta: &Ratio) -> Result<Option<Noise>, CatalogError> {
    let ratio_or = |name, default: Ratio| if given.said(name) { given.ratio(name) } else { Ok(default) };
    Ok(match given.text("noise") {
        "auto" => None,
        "cauchy" => Some(Noise::Cauchy),
        "student" => Some(Noise::StudentT { nu: ratio_or("nu", Ratio::from(3u64))? }),
        "polyplace" => {
            let steepest = Ratio::one() + given.eps()?.ratio() / beta;
            Some(Noise::PolyPlace { alpha: ratio_or("alpha", steepest)? })
        }
        "laplace" => Some(Noise::Laplace { delta: given.delta()? }),
        other => {
            let accepted = "write auto, cauchy, student, polyplace or laplace";
            return Err(ParameterError::out_of_range("noise", other, accepted).into());
        }
    })
}

/// A beta that was given, above zero.
fn beta(given: &Given) -> Result<Option<Ratio>, CatalogError> {
    if !given.said("beta") {
        return Ok(None);
    }
    let beta = given.ratio("beta")?;
    let refused =
        || ParameterError::out_of_range("beta", &beta, "give a number above 0, such as a tenth of epsilon");
    if beta.is_positive() { Ok(Some(beta)) } else { Err(refused().into()) }
}

/// The smooth bound that the guessed gap makes likely.
fn guess(given: &Given) -> Result<impl Fn(Range, &Ratio) -> Ratio, CatalogError> {
    let gap = given.ratio("gap")?;
    let accepted = "give a number above 0 in the unit of the rows";
    if !gap.is_positive() {
        return Err(ParameterError::out_of_range("gap", gap, accepted).into());
    }
    Ok(move |range: Range, beta: &Ratio| even_gaps(&gap, range, beta))
}

/// The mechanism for the noise and beta that were given, and the most accurate one where they were not.
fn choose(given: &Given, failure: &Ratio) -> Result<Choice, CatalogError> {
    let (eps, delta, grid) = (given.eps()?, given.delta()?, given.ratio("grid")?);
    let half = eps.ratio() / &Ratio::from(2u64);
    let with =
        |noise, beta: Ratio, range| Smooth { eps: eps.clone(), noise, beta, range, grid: grid.clone() };
    let stated = beta(given)?;
    let range = optional_whole_range(given)?;
    // Whatever is wrong with range or grid is wrong for every noise.
    with(Noise::Cauchy, half.clone(), range).calibrate()?;
    let range = range.expect("an unbounded range is refused");
    let guess = guess(given)?;
    let betas = stated.clone().map_or_else(|| betas(&eps, &delta), |beta| vec![beta]);
    let question = Question { eps: eps.clone(), delta, range, grid: grid.clone(), failure: failure.clone() };
    if noise(given, &half)?.is_none() {
        let choices = plan(&question, &betas, |beta| guess(range, beta));
        if let Some(best) = choices.into_iter().next() {
            return Ok(best);
        }
    }
    let mut best: Option<Choice> = None;
    let mut refused = None;
    for beta in betas {
        let mechanism = with(noise(given, &beta)?.unwrap_or(Noise::Cauchy), beta.clone(), Some(range));
        let bound = guess(range, &beta);
        match mechanism.error(&bound, failure) {
            Ok(error) if best.as_ref().is_none_or(|best| error < best.error) => {
                best = Some(Choice { mechanism, bound, error });
            }
            Ok(_) => {}
            Err(error) => refused = Some(error),
        }
    }
    best.ok_or_else(|| refused.expect("some beta was tried").into())
}

/// The name of a noise with what it takes.
fn named(noise: &Noise) -> String {
    match noise {
        Noise::Cauchy => "cauchy".to_string(),
        Noise::StudentT { nu } => format!("student with nu = {nu}"),
        Noise::PolyPlace { alpha } => format!("polyplace with alpha = {alpha}"),
        Noise::Laplace { .. } => "laplace".to_string(),
    }
}

fn smooth(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let failure = given.beta()?;
    let Choice { mechanism, bound, error } = choose(given, &failure)?;
    let calibrated = mechanism.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.extend([
        Number::text("noise", &named(&mechanism.noise), "the law of the noise"),
        Number::exact("beta", mechanism.beta.clone(), "how fast the bound may change between neighbours"),
        Number::exact(
            "scale_per_bound",
            calibrated.scale_per_bound().clone(),
            "scale of the noise for a bound of one",
        ),
        Number::exact("bound", bound.clone(), "the smooth bound if rows lie the guessed gap apart"),
        Number::exact("error", error, "the answer is then off by at most this, at the confidence given"),
        Number::exact(
            "error_at_worst",
            calibrated.accuracy_at_worst(&failure),
            "the same for any rows at all",
        ),
    ]);
    if given.said("error") {
        let wanted = given.ratio("error")?;
        let eps = required("error", &wanted, mechanism.eps_for(&wanted, &bound, &failure))?;
        let about = "the least epsilon with that error, at this noise, beta and gap";
        numbers.push(Number::exact("epsilon_for_error", eps.ratio().clone(), about));
    }
    Ok(numbers)
}

fn released_scale(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let (eps_scale, eps_value) = given.split("scale-share")?;
    let range = optional_whole_range(given)?;
    let beta = match beta(given)? {
        Some(beta) => beta,
        None => given.eps()?.ratio() / &Ratio::from(50u64),
    };
    let mechanism = ReleasedScale {
        eps_scale,
        eps_value,
        delta: given.delta()?,
        beta: beta.clone(),
        range,
        grid: given.ratio("grid")?,
    };
    let failure = given.beta()?;
    let calibrated = mechanism.calibrate()?;
    let bound = guess(given)?(range.expect("an unbounded range is refused"), &beta);
    let mut numbers = cost(&calibrated.cost());
    numbers.extend([
        Number::exact("beta", beta, "how fast the bound may change between neighbours"),
        Number::exact("bound", bound.clone(), "the smooth bound if rows lie the guessed gap apart"),
        Number::exact(
            "error",
            calibrated.accuracy_for(&bound, &failure),
            "the answer is then off by at most this, at the confidence given; each release says it anew",
        ),
    ]);
    if given.said("error") {
        let wanted = given.ratio("error")?;
        let eps = required("error", &wanted, mechanism.eps_for(&wanted, &bound, &failure))?;
        let about = "the least epsilon with that error, split alike, at this beta and gap";
        numbers.push(Number::exact("epsilon_for_error", eps.ratio().clone(), about));
    }
    Ok(numbers)
}
