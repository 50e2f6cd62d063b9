//! Amplification by sampling.

use super::{ADJACENCY, CatalogError, EPSILON, Entry, Given, Number, Parameter, cost};
use crate::{
    adjacency::Adjacency,
    loss::Approx,
    mechanism::sampled::{InnerLoss, PoissonSampled},
};

pub(super) static SAMPLED: Entry = Entry {
    name: "sampled",
    about: "runs a mechanism on a secret random sample of the rows, which loses less",
    parameters: &[
        EPSILON,
        Parameter { name: "delta", default: Some("0"), about: "delta of the mechanism inside" },
        Parameter { name: "rate", default: None, about: "probability that a row is in the sample" },
        ADJACENCY,
    ],
    derive: sampled,
};

fn sampled(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let inner = Approx::new(&given.eps()?, &given.delta()?);
    let adjacency = given.adjacency()?;
    let inner = match adjacency {
        Adjacency::AddRemove => InnerLoss::add_remove(inner),
        // The same numbers are taken to hold under both relations, which Poisson sampling under replace needs.
        Adjacency::Replace => InnerLoss::both(inner.clone(), inner),
    };
    let calibrated = PoissonSampled { rate: given.read("rate")?, adjacency, inner }.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    let about = "of the cost; the mechanism inside must be private under add-remove too";
    numbers.push(Number::text("adjacency", &adjacency, about));
    Ok(numbers)
}
