//! Mechanisms that add noise to numbers.

use super::{CONFIDENCE, CatalogError, EPSILON, Entry, Given, Number, Parameter, cost};
use crate::{
    loss::ParameterError,
    mechanism::laplace::{Laplace, Values},
};

const SENSITIVITY: Parameter = Parameter {
    name: "sensitivity",
    default: Some("1"),
    about: "the most one person can move all coordinates together",
};
const GRID: Parameter =
    Parameter { name: "grid", default: Some("1"), about: "answers are multiples of this" };
const DIMENSIONS: Parameter = Parameter { name: "dimensions", default: Some("1"), about: "how many numbers" };
const VALUES: Parameter = Parameter {
    name: "values",
    default: Some("on-grid"),
    about: "on-grid for multiples of the grid, such as counts; any for numbers that are rounded first",
};
const ERROR: Parameter = Parameter {
    name: "error",
    default: Some(""),
    about: "an error you can live with: the epsilon it needs is derived",
};

pub(super) static LAPLACE: Entry = Entry {
    name: "laplace",
    about: "adds discrete Laplace noise; epsilon-DP for an L1 sensitivity",
    parameters: &[EPSILON, SENSITIVITY, GRID, DIMENSIONS, VALUES, CONFIDENCE, ERROR],
    derive: laplace,
};

fn values(given: &Given) -> Result<Values, CatalogError> {
    given.choice("values", &[("on-grid", Values::OnGrid), ("any", Values::Any)], "write on-grid or any")
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
        let eps = mechanism.eps_for(&error, &beta).ok_or_else(|| {
            ParameterError::out_of_range(
                "error",
                error,
                "no epsilon up to 1000 is that accurate; allow more or use a finer grid",
            )
        })?;
        numbers.push(Number::exact(
            "epsilon_for_error",
            eps.ratio().clone(),
            "the least epsilon with that error",
        ));
    }
    Ok(numbers)
}
