//! Amplification by sampling.

use super::{ADJACENCY, CatalogError, EPSILON, Entry, Given, Number, Parameter, cost};
use crate::{
    loss::Approx,
    mechanism::sampled::{InnerLoss, PoissonSampled},
};

pub(super) static SAMPLED: Entry = Entry {
    name: "sampled",
    about: "runs a mechanism on a secret random sample of the rows, which loses less",
    parameters: &[
        EPSILON,
        Parameter {
            name: "delta",
            default: Some("0"),
            about: "delta of the mechanism inside, under add-remove",
        },
        Parameter { name: "rate", default: None, about: "probability that a row is in the sample" },
        ADJACENCY,
    ],
    derive: sampled,
};

fn sampled(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let inner = Approx::new(&given.eps()?, &given.delta()?);
    let adjacency = given.adjacency()?;
    // What is given holds when a row of the sample comes or goes; a replaced row costs two such steps.
    let inner = InnerLoss::add_remove(inner);
    let calibrated = PoissonSampled { rate: given.read("rate")?, adjacency, inner }.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    let about = "of the cost; epsilon and delta of the mechanism inside are those under add-remove";
    numbers.push(Number::text("adjacency", &adjacency, about));
    Ok(numbers)
}
