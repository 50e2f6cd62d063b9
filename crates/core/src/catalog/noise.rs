//! Mechanisms that add noise to numbers.

use super::{CONFIDENCE, CatalogError, EPSILON, Entry, Given, Number, Parameter, cost};
use crate::{
    loss::ParameterError,
    mechanism::{
        Noise, Values,
        gaussian::{Gaussian, Target},
        l2::L2,
        laplace::Laplace,
    },
    ratio::Ratio,
};

const SENSITIVITY: Parameter = Parameter {
    name: "sensitivity",
    default: Some("1"),
    about: "the most one person can move all coordinates together",
};
const GRID: Parameter =
    Parameter { name: "grid", default: Some("1"), about: "answers are multiples of this" };
const DIMENSIONS: Parameter = Parameter { name: "dimensions", default: Some("1"), about: "how many numbers" };
pub(super) const VALUES: Parameter = Parameter {
    name: "values",
    default: Some("on-grid"),
    about: "on-grid for multiples of the grid, such as counts; any for numbers that are rounded first",
};
const NOISE: Parameter = Parameter {
    name: "noise",
    default: Some("discrete"),
    about: "discrete, which is fast; or real, rounded once with the value",
};
const ERROR: Parameter = Parameter {
    name: "error",
    default: Some(""),
    about: "an error you can live with: the epsilon it needs is derived",
};

pub(super) static LAPLACE: Entry = Entry {
    name: "laplace",
    about: "adds Laplace noise, discrete or real and rounded once; epsilon-DP for an L1 sensitivity",
    parameters: &[EPSILON, SENSITIVITY, GRID, DIMENSIONS, VALUES, NOISE, CONFIDENCE, ERROR],
    derive: laplace,
};

pub(super) static GAUSSIAN: Entry = Entry {
    name: "gaussian",
    about: "adds Gaussian noise; (epsilon, delta) or rho for an L2 sensitivity",
    parameters: &[
        Parameter { name: "epsilon", default: Some(""), about: "privacy parameter, with delta; or give rho" },
        Parameter { name: "delta", default: Some(""), about: "above 0, such as 1e-6" },
        Parameter {
            name: "rho",
            default: Some(""),
            about: "zero-concentrated privacy, instead of epsilon and delta",
        },
        Parameter {
            name: "sensitivity",
            default: Some("1"),
            about: "the most one person can move all coordinates together, in L2",
        },
        GRID,
        DIMENSIONS,
        VALUES,
        NOISE,
        CONFIDENCE,
        ERROR,
    ],
    derive: gaussian,
};

fn target(given: &Given) -> Result<Target, CatalogError> {
    match (given.said("rho"), given.said("epsilon") || given.said("delta")) {
        (true, false) => Ok(Target::Zcdp(given.read("rho")?)),
        (false, true) => Ok(Target::Approx { eps: given.eps()?, delta: given.delta()? }),
        (true, true) => {
            Err(CatalogError::Name("gaussian takes rho, or epsilon and delta, not both".to_string()))
        }
        (false, false) => Err(CatalogError::Name("gaussian needs epsilon and delta, or rho".to_string())),
    }
}

fn gaussian(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let mechanism = Gaussian {
        target: target(given)?,
        sensitivity: L2::Exact(given.ratio("sensitivity")?),
        grid: given.ratio("grid")?,
        dimensions: dimensions(given)?,
        values: values(given)?,
        noise: noise(given)?,
    };
    let beta = given.beta()?;
    let calibrated = mechanism.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.extend([
        Number::exact("variance", calibrated.variance(), "variance of the noise, sigma squared"),
        Number::exact(
            "error",
            calibrated.accuracy(&beta),
            "no coordinate is off by more, at the confidence given",
        ),
    ]);
    if !given.said("rho") {
        let rho = calibrated.rho().ratio().clone();
        numbers.push(Number::exact("rho", rho, "what the same noise costs as zero-concentrated privacy"));
    }
    if given.said("error") {
        let error = given.ratio("error")?;
        if !given.said("delta") {
            return Err(CatalogError::Name(
                "gaussian derives an epsilon for an error only at a delta; give delta".to_string(),
            ));
        }
        let eps =
            mechanism.eps_for(&error, &beta, &given.delta()?).ok_or_else(|| not_that_accurate(error))?;
        numbers.push(Number::exact(
            "epsilon_for_error",
            eps.ratio().clone(),
            "the least epsilon with that error",
        ));
    }
    Ok(numbers)
}

fn not_that_accurate(error: Ratio) -> ParameterError {
    let accepted = "no epsilon up to 1000 is that accurate; allow more or use a finer grid";
    ParameterError::out_of_range("error", error, accepted)
}

pub(super) fn values(given: &Given) -> Result<Values, CatalogError> {
    given.choice("values", &[("on-grid", Values::OnGrid), ("any", Values::Any)], "write on-grid or any")
}

fn noise(given: &Given) -> Result<Noise, CatalogError> {
    given.choice("noise", &[("discrete", Noise::Discrete), ("real", Noise::Real)], "write discrete or real")
}

fn dimensions(given: &Given) -> Result<usize, CatalogError> {
    let count = given.count("dimensions")?;
    usize::try_from(count)
        .map_err(|_| ParameterError::out_of_range("dimensions", count, "give a smaller number").into())
}

fn laplace(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let mechanism = Laplace {
        eps: given.eps()?,
        sensitivity: given.ratio("sensitivity")?,
        grid: given.ratio("grid")?,
        dimensions: dimensions(given)?,
        values: values(given)?,
        noise: noise(given)?,
    };
    let beta = given.beta()?;
    let calibrated = mechanism.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.extend([
        Number::exact(
            "scale",
            calibrated.scale(),
            "scale of the noise: P(noise beyond t) falls by e for each",
        ),
        Number::exact(
            "error",
            calibrated.accuracy(&beta),
            "no coordinate is off by more, at the confidence given",
        ),
    ]);
    if given.said("error") {
        let error = given.ratio("error")?;
        let eps = mechanism.eps_for(&error, &beta).ok_or_else(|| not_that_accurate(error))?;
        numbers.push(Number::exact(
            "epsilon_for_error",
            eps.ratio().clone(),
            "the least epsilon with that error",
        ));
    }
    Ok(numbers)
}
