//! Mechanisms that release or refuse by a distance.

use super::{
    ADJACENCY, CONFIDENCE, CatalogError, DELTA, EPSILON, Entry, Given, Number, Parameter, cost,
    gates::{NEEDED, STEPS, needed, release_at},
    given::whole_range,
};
use crate::{
    interval::Interval,
    loss::ParameterError,
    mechanism::{
        gate::Gate,
        histogram_keys::HistogramKeys,
        propose_test_release::LaplaceAtBound,
        scale::{Scale, TwoTests},
        searched_bound::{SearchedBound, doubling_bounds},
        stable::Stable,
    },
    outcome::Slack,
    ratio::Ratio,
};

/// Epsilon of all parts together.
const TOTAL: Parameter =
    Parameter { name: "epsilon", default: None, about: "privacy parameter of all parts together, above 0" };
const TEST_SHARE: Parameter = Parameter {
    name: "test-share",
    default: Some("1/2"),
    about: "the part of epsilon that the test gets; the noise gets the rest",
};
/// Steps to a data set where the bound fails.
const DISTANCE: Parameter = Parameter {
    name: "steps",
    default: Some(""),
    about: "rows to change until one more could move the value beyond the bound: the chance of a release there is derived",
};

pub(super) static STABLE: Entry = Entry {
    name: "stable",
    about: "releases an exact median, quantile, mode or any discrete value, unless few rows could change it",
    parameters: &[
        EPSILON,
        DELTA,
        STEPS,
        Parameter {
            name: "refusal",
            default: Some(""),
            about: "a chance of refusal you can live with at these steps: the epsilon it needs is derived",
        },
        ADJACENCY,
    ],
    derive: stable,
};

pub(super) static HISTOGRAM_KEYS: Entry = Entry {
    name: "histogram-keys",
    about: "names the keys that enough people have, from a universe that nobody wrote down",
    parameters: &[
        EPSILON,
        DELTA,
        Parameter {
            name: "keys-per-unit",
            default: Some("1"),
            about: "how many keys of one person count, chosen at random",
        },
        Parameter {
            name: "count",
            default: Some(""),
            about: "people who have a key: the chance that it is named is derived",
        },
        ADJACENCY,
    ],
    derive: histogram_keys,
};

pub(super) static PROPOSE_TEST_RELEASE: Entry = Entry {
    name: "propose-test-release",
    about: "propose-test-release: Laplace noise at a proposed bound on local sensitivity, or a refusal",
    parameters: &[
        TOTAL,
        DELTA,
        TEST_SHARE,
        Parameter {
            name: "bound",
            default: Some("1"),
            about: "the most that one row may move the value, proposed without looking at the data; a whole number",
        },
        DISTANCE,
        ADJACENCY,
        CONFIDENCE,
    ],
    derive: propose_test_release,
};

pub(super) static SEARCHED_BOUND: Entry = Entry {
    name: "searched-bound",
    about: "propose-test-release with a paid private search for the bound on a public list",
    parameters: &[
        TOTAL,
        DELTA,
        Parameter {
            name: "search-share",
            default: Some("1/4"),
            about: "the part of epsilon that the search gets",
        },
        Parameter {
            name: "test-share",
            default: Some("1/4"),
            about: "the part of epsilon that the test gets; the noise gets what is left",
        },
        Parameter {
            name: "bounds",
            default: Some(""),
            about: "bounds to choose from, growing, such as 1,2,4,8; or give range",
        },
        Parameter {
            name: "range",
            default: Some(""),
            about: "LO,HI in whole numbers: bounds double from 1 until they cover it",
        },
        ADJACENCY,
        CONFIDENCE,
    ],
    derive: searched_bound,
};

pub(super) static SCALE: Entry = Entry {
    name: "scale",
    about: "the interquartile range up to a factor, or a refusal where few rows could change it by more",
    parameters: &[
        TOTAL,
        DELTA,
        Parameter {
            name: "form",
            default: Some("gate"),
            about: "gate, one over all shifts; or two-tests, the text's form with its threshold corrected",
        },
        TEST_SHARE,
        Parameter { name: "base", default: Some("2"), about: "the ratio of the ends of a bin, above 1" },
        Parameter { name: "shifts", default: Some("2"), about: "in how many positions bins are tried" },
        Parameter { name: "parts", default: Some("2"), about: "cells of a bin: a multiple of the shifts" },
        Parameter {
            name: "steps",
            default: Some(""),
            about: "rows to change until the range leaves its bin: the chance of a release there is derived",
        },
        ADJACENCY,
        CONFIDENCE,
    ],
    derive: scale,
};

fn stable(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let adjacency = given.adjacency()?;
    let mechanism = Stable { eps: given.eps()?, delta: given.delta()?, adjacency };
    let calibrated = mechanism.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.extend(needed(NEEDED, |level| calibrated.slack_for(&(Ratio::one() - level))));
    if given.said("refusal") && !given.said("steps") {
        let text = "stable derives an epsilon for a chance of refusal only at some steps; give steps";
        return Err(CatalogError::Name(text.to_string()));
    }
    if given.said("steps") {
        let slack = Slack::rows_to_change(given.count("steps")?, adjacency);
        numbers.extend(release_at(calibrated.accuracy(slack)));
        if given.said("refusal") {
            let refusal = given.ratio("refusal")?;
            let eps = mechanism.eps_for(slack, &refusal).ok_or_else(|| {
                let accepted = "no epsilon up to 1000 refuses so rarely at these steps; allow more";
                ParameterError::out_of_range("refusal", refusal, accepted)
            })?;
            let about = "the least epsilon with that chance of refusal";
            numbers.push(Number::exact("epsilon_for_refusal", eps.ratio().clone(), about));
        }
    }
    Ok(numbers)
}

fn histogram_keys(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let keys = HistogramKeys {
        eps: given.eps()?,
        delta: given.delta()?,
        max_keys_per_unit: given.count("keys-per-unit")?,
        adjacency: given.adjacency()?,
    };
    let calibrated = keys.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    for (name, level, about) in [
        ("count_for_half", Ratio::new(1, 2), "people with whom a key is named with a chance of one half"),
        ("count_for_99", Ratio::new(99, 100), "people with whom it is named with a chance of 99 percent"),
        ("count_for_certain", Ratio::one(), "people from whom on it is certainly named"),
    ] {
        numbers
            .extend(calibrated.count_for(&level).map(|count| Number::exact(name, Ratio::from(count), about)));
    }
    if given.said("count") {
        numbers.extend(release_at(calibrated.accuracy(given.count("count")?)));
    }
    Ok(numbers)
}

fn propose_test_release(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let adjacency = given.adjacency()?;
    let (test_eps, noise_eps) = given.split("test-share")?;
    let test = Gate { eps: test_eps, delta: given.delta()?, adjacency };
    let bound = given.count("bound")?;
    let calibrated = LaplaceAtBound { test: test.clone(), noise_eps, bound }.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.push(Number::exact(
        "error",
        calibrated.accuracy(&given.beta()?),
        "an answer is off by at most this, at the confidence given",
    ));
    let gate = test.calibrate()?;
    numbers.extend(needed(NEEDED, |level| gate.slack_for(level)));
    if given.said("steps") {
        let slack = Slack::rows_to_change(given.count("steps")?, adjacency);
        numbers.extend(release_at(calibrated.chance_of_refusal(slack)));
    }
    Ok(numbers)
}

fn bounds(given: &Given) -> Result<Vec<u64>, CatalogError> {
    match (given.said("bounds"), given.said("range")) {
        (false, true) => Ok(doubling_bounds(whole_range(given)?)),
        (true, false) => {
            let read = given.text("bounds").split(',').map(|bound| bound.trim().parse().ok());
            let refused = || {
                let accepted = "give growing whole numbers such as 1,2,4,8";
                ParameterError::out_of_range("bounds", given.text("bounds"), accepted)
            };
            Ok(read.collect::<Option<_>>().ok_or_else(refused)?)
        }
        _ => Err(CatalogError::Name("searched-bound needs bounds or range, one of them".to_string())),
    }
}

fn searched_bound(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let bounds = bounds(given)?;
    let (search_share, test_share) = (given.share("search-share")?, given.share("test-share")?);
    let left = Ratio::one() - &search_share - &test_share;
    if !left.is_positive() {
        let accepted = "leave a part to the noise: search and test must get less than all together";
        return Err(ParameterError::out_of_range("test-share", test_share, accepted).into());
    }
    let beta = given.beta()?;
    let search = SearchedBound {
        search_eps: given.part(&search_share)?,
        test: Gate { eps: given.part(&test_share)?, delta: given.delta()?, adjacency: given.adjacency()? },
        noise_eps: given.part(&left)?,
        bounds: bounds.clone(),
        beta: beta.clone(),
    };
    let calibrated = search.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    let target = calibrated.target().until_change();
    numbers.extend(target.map(|rows| {
        let about = "rows to change beyond some bound with which there is an answer, at the confidence given";
        Number::exact("steps_for_answer", Ratio::from(rows), about)
    }));
    let errors = bounds.iter().filter_map(|&bound| Some((bound, calibrated.accuracy(bound, &beta)?)));
    let about = "by bound that is found: the answer is off by at most this, at the confidence given";
    numbers.push(Number::table("error", errors.collect(), about));
    Ok(numbers)
}

fn scale(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let two_tests =
        given.choice("form", &[("gate", false), ("two-tests", true)], "write gate or two-tests")?;
    let (base, beta) = (given.ratio("base")?, given.beta()?);
    let (mut numbers, power) = if two_tests { two_tests_of(given, &beta)? } else { one_gate(given, &beta)? };
    let at = |value: &Ratio| Interval::exact(value, 128);
    let factor = at(&base).pow(&at(&power)).upper();
    numbers.push(Number::exact(
        "power",
        power,
        "the answer is off by a factor of the base to this power at most",
    ));
    numbers.push(Number::exact("factor", factor, "that factor, at the confidence given"));
    Ok(numbers)
}

fn small(given: &Given, name: &'static str) -> Result<u32, CatalogError> {
    let count = given.count(name)?;
    u32::try_from(count)
        .map_err(|_| ParameterError::out_of_range(name, count, "give a smaller number").into())
}

/// The numbers of the gate over all shifts, and the power of the base that bounds the error.
fn one_gate(given: &Given, beta: &Ratio) -> Result<(Vec<Number>, Ratio), CatalogError> {
    let (gate_eps, noise_eps) = given.split("test-share")?;
    let adjacency = given.adjacency()?;
    let mechanism = Scale {
        gate_eps,
        noise_eps,
        delta: given.delta()?,
        base: given.ratio("base")?,
        shifts: small(given, "shifts")?,
        parts: small(given, "parts")?,
        adjacency,
    };
    let calibrated = mechanism.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.extend(needed(NEEDED, |level| calibrated.slack_for(&(Ratio::one() - level))));
    if given.said("steps") {
        let slack = Slack::rows_to_change(given.count("steps")?, adjacency);
        numbers.extend(release_at(calibrated.chance_of_refusal(slack)));
    }
    Ok((numbers, calibrated.accuracy(beta)))
}

/// The same for the form of the text, each of whose noises gets half of epsilon.
fn two_tests_of(given: &Given, beta: &Ratio) -> Result<(Vec<Number>, Ratio), CatalogError> {
    for name in ["steps", "shifts", "test-share"] {
        if given.said(name) && given.text(name) != SCALE.default_of(name) {
            let text = format!("the two tests of the text take no {name}; leave it out or use `form=gate`");
            return Err(CatalogError::Name(text));
        }
    }
    let mechanism = TwoTests {
        eps: given.part(&Ratio::new(1, 2))?,
        delta: given.delta()?,
        base: given.ratio("base")?,
        parts: small(given, "parts")?,
        adjacency: given.adjacency()?,
    };
    let calibrated = mechanism.calibrate()?;
    Ok((cost(&calibrated.cost()), calibrated.accuracy(beta)))
}
