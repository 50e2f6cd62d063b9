//! Subsample and aggregate: elections of labels, means without bounds, the printed A_samp.

use super::{ADJACENCY, CatalogError, EPSILON, Entry, Given, Number, Parameter, cost};
use crate::{
    adjacency::{Adjacency, RowCount},
    ratio::Ratio,
    subsample::{
        VotesPerUnit,
        bootstrap::Printed,
        clip::DEFAULT_BITS,
        location::Location,
        majority::Majority,
        plan::{Output, Question},
    },
};

const DELTA: Parameter = Parameter { name: "delta", default: None, about: "above 0, such as 1e-6" };
const PER_UNIT: Parameter = Parameter {
    name: "votes-per-unit",
    default: Some("1"),
    about: "how many blocks one person can change: 2 for hashed people under replace",
};

pub(super) static SUBSAMPLE: Entry = Entry {
    name: "subsample",
    about: "releases the label that most blocks of the data agree on, whatever the number of options",
    parameters: &[
        EPSILON,
        DELTA,
        Parameter { name: "blocks", default: Some("110"), about: "how many blocks" },
        PER_UNIT,
        Parameter {
            name: "agreement",
            default: Some("3/4"),
            about: "probability that the function is right on a block",
        },
        ADJACENCY,
    ],
    derive: subsample,
};

pub(super) static WINSORIZED: Entry = Entry {
    name: "winsorized",
    about: "releases the mean of block outputs clipped to a range that two private quantiles choose",
    parameters: &[
        EPSILON,
        Parameter { name: "blocks", default: Some("1000"), about: "how many blocks" },
        PER_UNIT,
        Parameter {
            name: "bits",
            default: Some("12"),
            about: "leading bits of outputs that quantiles look at",
        },
        ADJACENCY,
    ],
    derive: winsorized,
};

pub(super) static BOOTSTRAP: Entry = Entry {
    name: "bootstrap",
    about: "A_samp as printed: what it really keeps and what it takes, beside the election that replaces it",
    parameters: &[
        EPSILON,
        DELTA,
        Parameter { name: "rows", default: Some("100000"), about: "number of rows, public or declared" },
        ADJACENCY,
    ],
    derive: bootstrap,
};

fn touch(given: &Given) -> Result<VotesPerUnit, CatalogError> {
    Ok(VotesPerUnit::new(given.count("blocks")?, given.count("votes-per-unit")?, given.adjacency()?)?)
}

fn subsample(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let (eps, delta, touch) = (given.eps()?, given.delta()?, touch(given)?);
    let agreement = given.ratio("agreement")?;
    if agreement.is_negative() || agreement > Ratio::one() {
        let accepted = "give a probability, such as 3/4";
        return Err(crate::loss::ParameterError::out_of_range("agreement", agreement, accepted).into());
    }
    let election = Majority { eps, delta, touch }.calibrate()?;
    let mut numbers = cost(&election.cost());
    numbers.push(Number::exact(
        "success",
        election.success_lower(&agreement),
        "chance of the right label at this agreement, rounded down; all wrong blocks agree",
    ));
    Ok(numbers)
}

fn winsorized(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let bits = u32::try_from(given.count("bits")?).unwrap_or(DEFAULT_BITS);
    let mean = Location { eps: given.eps()?, bits, touch: touch(given)? }.calibrate()?;
    let mut numbers = cost(&mean.cost());
    let about = "standard deviation of the noise in those of block outputs, if these are normal";
    numbers.push(Number::text("noise", &format!("{:.4}", mean.noise_in_spreads()), about));
    Ok(numbers)
}

fn bootstrap(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let (eps, delta, adjacency) = (given.eps()?, given.delta()?, given.adjacency()?);
    let rows = given.count("rows")?;
    let known = match adjacency {
        Adjacency::AddRemove => RowCount::Declared(rows),
        Adjacency::Replace => RowCount::Public(rows),
    };
    let printed = Printed { eps: eps.clone(), delta: delta.clone(), rows: known, adjacency }.calibrate()?;
    let mut numbers = cost(&printed.cost());
    numbers.push(Number::exact("samples", Ratio::from(printed.samples()), "evaluations as printed"));
    numbers.push(Number::exact("rate", printed.rate().clone(), "share of the rows in a sample, as printed"));
    let (output, rows_per_block, people) = (Output::Label, 1, false);
    let question = Question { eps, delta, output, rows: known, rows_per_block, adjacency, people };
    if let Ok(choices) = question.choices() {
        let about = "disjoint blocks that answer a three-quarters stable function with probability 0.99";
        numbers.push(Number::exact("blocks", Ratio::from(u64::from(choices[0].blocks)), about));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(entry: &Entry, pairs: &[(&str, &str)]) -> Vec<Number> {
        let pairs = pairs.iter().map(|(a, b)| ((*a).to_string(), (*b).to_string()));
        (entry.derive)(&Given::new(entry, pairs).unwrap()).unwrap()
    }

    #[test]
    fn a_hundred_blocks_beside_twenty_million_evaluations() {
        let common = [("epsilon", "1"), ("delta", "1e-6")];
        let value = |numbers: &[Number], name: &str| {
            let number = numbers.iter().find(|number| number.name == name).unwrap();
            let super::super::Derived::Exact(value) = &number.value else { panic!("a number") };
            value.to_f64()
        };
        assert!(value(&derived(&SUBSAMPLE, &common), "success") > 0.99);
        let printed = derived(&BOOTSTRAP, &common);
        assert!(value(&printed, "samples") > 1.9e7 && value(&printed, "blocks") < 111.0);
        assert!(derived(&WINSORIZED, &common[..1]).iter().any(|number| number.name == "noise"));
    }
}
