//! Mechanisms that release quantiles.

use super::{
    ADJACENCY, CONFIDENCE, CatalogError, EPSILON, Entry, Given, Number, Parameter, cost, given::required,
};
use crate::{
    loss::ParameterError,
    mechanism::{
        inverse_sensitivity::InverseSensitivity,
        quantile_interval::QuantileInterval,
        quantiles::Quantiles,
        spread::{InverseSpread, Widths},
    },
    ratio::Ratio,
    stability::{
        Quantile, Range,
        digits::Digits,
        lattice::{FLOATS, range_of_floats},
    },
};

const QUANTILE: Parameter =
    Parameter { name: "quantile", default: Some("0.5"), about: "which quantile; 0.5 is the median" };
const RANGE: Parameter = Parameter {
    name: "range",
    default: Some(""),
    about: "LO,HI if something is known of the values; else all finite floats",
};
const RANKS: Parameter = Parameter {
    name: "ranks",
    default: Some(""),
    about: "a rank error you can live with: the epsilon it needs is derived",
};
const ROWS: Parameter =
    Parameter { name: "rows", default: Some("1000"), about: "the most rows there may be, public" };

pub(super) static INVERSE_SENSITIVITY: Entry = Entry {
    name: "inverse-sensitivity",
    about: "a quantile over all finite floats or a range of them; epsilon-DP, never refuses",
    parameters: &[EPSILON, QUANTILE, RANGE, ADJACENCY, CONFIDENCE, RANKS],
    derive: inverse_sensitivity,
};

pub(super) static QUANTILES: Entry = Entry {
    name: "quantiles",
    about: "several quantiles at once over all finite floats or a range of them; epsilon-DP, never refuses",
    parameters: &[
        EPSILON,
        Parameter {
            name: "quantiles",
            default: Some("0.25,0.5,0.75"),
            about: "which ones, in increasing order, each between 0 and 1",
        },
        RANGE,
        ADJACENCY,
        CONFIDENCE,
        RANKS,
    ],
    derive: quantiles,
};

pub(super) static SPREAD: Entry = Entry {
    name: "spread",
    about: "the interquartile range of floats, among decimals; epsilon-DP, never refuses",
    parameters: &[
        EPSILON,
        Parameter {
            name: "digits",
            default: Some("6"),
            about: "significant digits of the answer, from 1 to 15",
        },
        ADJACENCY,
        CONFIDENCE,
    ],
    derive: spread,
};

pub(super) static QUANTILE_INTERVAL: Entry = Entry {
    name: "quantile-interval",
    about: "an interval for a quantile of the population, with the chance of the sample and the noise",
    parameters: &[EPSILON, QUANTILE, RANGE, ADJACENCY, CONFIDENCE, ROWS],
    derive: quantile_interval,
};

fn quantile(given: &Given) -> Result<Quantile, CatalogError> {
    Ok(Quantile::new(&given.ratio("quantile")?)?)
}

fn range(given: &Given) -> Result<Range, CatalogError> {
    if !given.said("range") {
        return Ok(FLOATS);
    }
    let ends: Option<(f64, f64)> = given
        .text("range")
        .split_once(',')
        .and_then(|(lo, hi)| lo.trim().parse().ok().zip(hi.trim().parse().ok()));
    match ends {
        Some((lo, hi)) => Ok(range_of_floats(lo, hi)?),
        None => {
            Err(ParameterError::out_of_range("range", given.text("range"), "give LO,HI as two numbers")
                .into())
        }
    }
}

fn inverse_sensitivity(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let mechanism = InverseSensitivity {
        eps: given.eps()?,
        target: quantile(given)?.into(),
        range: range(given)?,
        adjacency: given.adjacency()?,
    };
    let beta = given.beta()?;
    let calibrated = mechanism.clone().calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.extend([
        Number::exact(
            "rho",
            calibrated.bounded_range_rho().ratio().clone(),
            "the same run in zero-concentrated accounting",
        ),
        Number::exact(
            "rank_error",
            Ratio::from(calibrated.accuracy(&beta)?),
            "the answer is at most this many ranks off, at the confidence given",
        ),
    ]);
    if given.said("ranks") {
        let ranks = given.count("ranks")?;
        let eps = required("ranks", &Ratio::from(ranks), mechanism.eps_for(ranks, &beta)?)?;
        let about = "the least epsilon with that rank error";
        numbers.push(Number::exact("epsilon_for_ranks", eps.ratio().clone(), about));
    }
    Ok(numbers)
}

fn spread(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let digits = u32::try_from(given.count("digits")?).unwrap_or(u32::MAX);
    let mechanism = InverseSpread {
        eps: given.eps()?,
        widths: Widths::Decimals(Digits::new(digits)?),
        adjacency: given.adjacency()?,
    };
    let calibrated = mechanism.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.extend([
        Number::exact(
            "rho",
            calibrated.bounded_range_rho().ratio().clone(),
            "the same run in zero-concentrated accounting",
        ),
        Number::exact(
            "rank_error",
            Ratio::from(calibrated.accuracy(&given.beta()?)?),
            "each quartile is at most this many ranks off, at the confidence given",
        ),
    ]);
    Ok(numbers)
}

fn quantiles(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let read = |text: &str| {
        text.trim()
            .parse::<Ratio>()
            .map_err(|reason| ParameterError::NotANumber { name: "quantiles", reason })
    };
    let fractions: Vec<Ratio> = given.text("quantiles").split(',').map(read).collect::<Result<_, _>>()?;
    let (range, adjacency) = (range(given)?, given.adjacency()?);
    let mechanism = Quantiles { eps: given.eps()?, fractions: fractions.clone(), range, adjacency };
    let beta = given.beta()?;
    let calibrated = mechanism.clone().calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    let errors = calibrated.accuracy(&beta)?;
    let worst = Ratio::from(errors.iter().copied().max().unwrap_or(0));
    let each: Vec<String> =
        fractions.iter().zip(&errors).map(|(fraction, error)| format!("{fraction}: {error}")).collect();
    numbers.extend([
        Number::exact(
            "rank_error",
            worst,
            "no answer is more ranks off, at the confidence given for all together",
        ),
        Number::text("rank_errors", &each.join(", "), "the same for each quantile"),
    ]);
    if given.said("ranks") {
        let ranks = given.count("ranks")?;
        let eps = required("ranks", &Ratio::from(ranks), mechanism.eps_for(ranks, &beta)?)?;
        let about = "the least epsilon with that rank error";
        numbers.push(Number::exact("epsilon_for_ranks", eps.ratio().clone(), about));
    }
    Ok(numbers)
}

fn quantile_interval(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let interval = QuantileInterval {
        eps: given.eps()?,
        quantile: quantile(given)?,
        range: range(given)?,
        adjacency: given.adjacency()?,
        beta: given.beta()?,
        rows_at_most: given.count("rows")?,
    };
    let calibrated = interval.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.push(Number::exact(
        "shift",
        Ratio::from(calibrated.shift()),
        "the ends aim this many ranks below and above the quantile of the rows",
    ));
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::super::{Derived, find};
    use super::*;

    fn derived(name: &str, pairs: &[(&str, &str)]) -> Result<Vec<Number>, String> {
        let entry = find(name).unwrap();
        let pairs = pairs.iter().map(|(a, b)| ((*a).to_string(), (*b).to_string()));
        let given = Given::new(entry, pairs).map_err(|error| error.to_string())?;
        (entry.derive)(&given).map_err(|error| error.to_string())
    }

    fn number(name: &str, numbers: &[Number]) -> String {
        match &numbers.iter().find(|number| number.name == name).unwrap().value {
            Derived::Exact(value) => value.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn ranges_and_goals_are_read() {
        let all = derived("inverse-sensitivity", &[("epsilon", "1"), ("ranks", "100")]).unwrap();
        assert_eq!([number("rank_error", &all), number("rho", &all)], ["47", "0.125"]);
        assert_eq!(number("epsilon_for_ranks", &all), "0.470701");
        let some = derived("inverse-sensitivity", &[("epsilon", "1"), ("range", "0, 1e6")]).unwrap();
        assert_eq!(number("rank_error", &some), "46");
        for (range, expected) in [
            ("7", "range 7 is not accepted: give LO,HI as two numbers"),
            ("2,1", "range 2,1 is not accepted: give LO,HI as finite numbers with LO at most HI"),
        ] {
            let told = derived("inverse-sensitivity", &[("epsilon", "1"), ("range", range)]).unwrap_err();
            assert_eq!(told, expected);
        }
        let interval = derived("quantile-interval", &[("epsilon", "1"), ("rows", "100000")]).unwrap();
        assert_eq!(number("shift", &interval), "418");
    }
}
