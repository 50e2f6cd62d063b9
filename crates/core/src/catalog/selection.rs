//! Mechanisms that choose one of several public candidates.

use super::{CONFIDENCE, CatalogError, EPSILON, Entry, Given, Number, Parameter, cost};
use crate::{
    loss::{Loss, ParameterError},
    mechanism::{
        exponential::Exponential,
        far_end::FarEnd,
        noisy_max::{Noise, NoisyMax},
        permute_and_flip::PermuteAndFlip,
        selection::{Candidates, Goal},
    },
    ratio::Ratio,
};

const CANDIDATES: Parameter = Parameter { name: "candidates", default: None, about: "how many there are" };
const SENSITIVITY: Parameter = Parameter {
    name: "sensitivity",
    default: Some("1"),
    about: "the most one person changes the score of any one candidate",
};
const MONOTONE: Parameter = Parameter {
    name: "monotone",
    default: Some("false"),
    about: "true where all scores move the same way between neighbours, as counts do when a row comes or goes",
};
const ERROR: Parameter = Parameter {
    name: "error",
    default: Some(""),
    about: "a loss of score you can live with: the epsilon it needs is derived",
};

pub(super) static EXPONENTIAL: Entry = Entry {
    name: "exponential",
    about: "chooses a candidate with probability proportional to e^(epsilon·score/(2·sensitivity)); cheapest in rho",
    parameters: &[EPSILON, CANDIDATES, SENSITIVITY, MONOTONE, CONFIDENCE, ERROR],
    derive: exponential,
};

pub(super) static PERMUTE_AND_FLIP: Entry = Entry {
    name: "permute-and-flip",
    about: "chooses a candidate; errs least of all at the same epsilon",
    parameters: &[EPSILON, CANDIDATES, SENSITIVITY, MONOTONE, CONFIDENCE, ERROR],
    derive: permute_and_flip,
};

pub(super) static NOISY_MAX: Entry = Entry {
    name: "noisy-max",
    about: "chooses the candidate with the largest noisy score",
    parameters: &[
        EPSILON,
        CANDIDATES,
        SENSITIVITY,
        MONOTONE,
        Parameter { name: "noise", default: Some("exponential"), about: "exponential, gumbel or laplace" },
        CONFIDENCE,
        ERROR,
    ],
    derive: noisy_max,
};

pub(super) static FAR_END: Entry = Entry {
    name: "far-end",
    about: "chooses one of several nested ends, near ones first, with few rows beyond it",
    parameters: &[
        EPSILON,
        Parameter { name: "ends", default: None, about: "how many ends there are" },
        CONFIDENCE,
    ],
    derive: far_end,
};

fn candidates(given: &Given) -> Result<Candidates, CatalogError> {
    let count = given.count("candidates")?;
    let too_many = || ParameterError::out_of_range("candidates", count, "give a smaller number");
    Ok(Candidates {
        count: usize::try_from(count).map_err(|_| too_many())?,
        sensitivity: given.ratio("sensitivity")?,
        monotone: given.flag("monotone")?,
    })
}

/// The numbers that all selections have, and the epsilon for a wanted error.
fn numbers(
    given: &Given,
    cost_of_run: &Loss,
    error: Ratio,
    for_error: impl FnOnce(&Goal) -> Result<Ratio, ParameterError>,
) -> Result<Vec<Number>, CatalogError> {
    let mut numbers = cost(cost_of_run);
    numbers.push(Number::exact(
        "error",
        error,
        "the chosen score is at most this far below the best, at the confidence given",
    ));
    if given.said("error") {
        let goal = Goal { error: given.ratio("error")?, beta: given.beta()? };
        numbers.push(Number::exact(
            "epsilon_for_error",
            for_error(&goal)?,
            "the least epsilon with that error",
        ));
    }
    Ok(numbers)
}

fn exponential(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let candidates = candidates(given)?;
    let calibrated = Exponential { eps: given.eps()?, candidates: candidates.clone() }.calibrate()?;
    let error = calibrated.accuracy(&given.beta()?)?;
    let mut numbers = numbers(given, &calibrated.cost(), error, |goal| {
        Exponential::for_error(candidates, goal).map(|mechanism| mechanism.eps.ratio().clone())
    })?;
    let rho = calibrated.bounded_range_rho().ratio().clone();
    numbers.push(Number::exact("rho", rho, "the same cost as zero-concentrated privacy"));
    Ok(numbers)
}

fn permute_and_flip(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let candidates = candidates(given)?;
    let calibrated = PermuteAndFlip { eps: given.eps()?, candidates: candidates.clone() }.calibrate()?;
    let error = calibrated.accuracy(&given.beta()?)?;
    numbers(given, &calibrated.cost(), error, |goal| {
        PermuteAndFlip::for_error(candidates, goal).map(|mechanism| mechanism.eps.ratio().clone())
    })
}

fn noisy_max(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let options =
        [("exponential", Noise::Exponential), ("gumbel", Noise::Gumbel), ("laplace", Noise::Laplace)];
    let noise = given.choice("noise", &options, "write exponential, gumbel or laplace")?;
    let candidates = candidates(given)?;
    let calibrated = NoisyMax { eps: given.eps()?, noise, candidates: candidates.clone() }.calibrate()?;
    let error = calibrated.accuracy(&given.beta()?)?;
    numbers(given, &calibrated.cost(), error, |goal| {
        NoisyMax::for_error(noise, candidates, goal).map(|mechanism| mechanism.eps.ratio().clone())
    })
}

fn far_end(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let ends = given.count("ends")?;
    let too_many = || ParameterError::out_of_range("ends", ends, "give at most a million");
    let ends = usize::try_from(ends).ok().filter(|&ends| ends <= 1_000_000).ok_or_else(too_many)?;
    let calibrated = FarEnd { eps: given.eps()?, prices: vec![0; ends] }.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.push(Number::exact(
        "rows",
        calibrated.accuracy(&given.beta()?)?,
        "so many rows more lie beyond the chosen end than beyond the best one, prices included, at the confidence given",
    ));
    let rho = calibrated.bounded_range_rho().ratio().clone();
    numbers.push(Number::exact("rho", rho, "the same cost as zero-concentrated privacy"));
    Ok(numbers)
}
