//! Mechanisms that measure how sensitive the value is here, upwards or downwards.

use super::{
    CONFIDENCE, CatalogError, DELTA, EPSILON, Entry, Given, Number, Parameter, cost,
    given::required,
    noise::{VALUES, values},
};
use crate::{
    loss::ParameterError,
    mechanism::{
        black_box::{BlackBox, Rows},
        bound_local_sensitivity::{BoundLocalSensitivity, Ceiling},
        shifted_inverse::{Answers, ShiftedInverse},
    },
    ratio::Ratio,
};

const TOTAL: Parameter =
    Parameter { name: "epsilon", default: None, about: "privacy parameter of all parts together, above 0" };
const REMOVALS: Parameter = Parameter {
    name: "removals",
    default: Some(""),
    about: "removed rows whose effect you can live with: the epsilon this needs is derived",
};

pub(super) static BOUNDED_LOCAL_SENSITIVITY: Entry = Entry {
    name: "bounded-local-sensitivity",
    about: "a noisy bound on how far one change moves the value here, then Laplace noise at that bound",
    parameters: &[
        TOTAL,
        DELTA,
        Parameter {
            name: "bound-share",
            default: Some("1/2"),
            about: "the part of epsilon that the bound gets; the value gets the rest",
        },
        Parameter {
            name: "sensitivity",
            default: Some("1"),
            about: "the most that the local bound itself moves between neighbours",
        },
        Parameter { name: "grid", default: Some("1"), about: "bounds and answers are multiples of this" },
        VALUES,
        Parameter { name: "floor", default: Some("1"), about: "noise is never scaled to less, above 0" },
        Parameter {
            name: "ceiling",
            default: Some(""),
            about: "no change ever moves the value farther than this; or give refuse-above",
        },
        Parameter {
            name: "refuse-above",
            default: Some(""),
            about: "where no ceiling is known: bounds above this refuse the value",
        },
        Parameter { name: "local", default: Some("0"), about: "a guess of the local bound, for the error" },
        CONFIDENCE,
        Parameter {
            name: "error",
            default: Some(""),
            about: "an error you can live with: the epsilon it needs at the guessed local bound is derived",
        },
    ],
    derive: bounded_local_sensitivity,
};

pub(super) static SHIFTED_INVERSE: Entry = Entry {
    name: "shifted-inverse",
    about: "sums, distinct counts, largest rows: a value that the statistic comes down to without a few rows",
    parameters: &[
        EPSILON,
        Parameter {
            name: "base",
            default: Some("1.01"),
            about: "each possible answer is at most this many times the one before",
        },
        Parameter { name: "last", default: Some("18446744073709551615"), about: "the answers end here" },
        CONFIDENCE,
        REMOVALS,
    ],
    derive: shifted_inverse,
};

pub(super) static BLACK_BOX: Entry = Entry {
    name: "black-box",
    about: "any function of a few rows, by its values on subsets",
    parameters: &[
        TOTAL,
        Parameter {
            name: "rows",
            default: Some(""),
            about: "the number of rows where that is public: neighbours replace a row; else they add or remove one",
        },
        Parameter {
            name: "rows-share",
            default: Some("1/2"),
            about: "the part of epsilon that finding out a private number of rows gets",
        },
        Parameter { name: "first", default: Some("0"), about: "the first possible answer" },
        Parameter { name: "step", default: Some("1"), about: "the distance between possible answers" },
        Parameter { name: "answers", default: None, about: "how many possible answers there are" },
        Parameter {
            name: "evaluations",
            default: Some("1000000"),
            about: "the most times that one run may evaluate the function",
        },
        CONFIDENCE,
        REMOVALS,
    ],
    derive: black_box,
};

fn ceiling(given: &Given) -> Result<Ceiling, CatalogError> {
    match (given.said("ceiling"), given.said("refuse-above")) {
        (true, false) => Ok(Ceiling::Global(given.ratio("ceiling")?)),
        (false, true) => Ok(Ceiling::RefuseAbove(given.ratio("refuse-above")?)),
        _ => {
            let text = "bounded-local-sensitivity needs ceiling or refuse-above, one of them";
            Err(CatalogError::Name(text.to_string()))
        }
    }
}

fn bounded_local_sensitivity(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let (bound_eps, value_eps) = given.split("bound-share")?;
    let mechanism = BoundLocalSensitivity {
        bound_eps,
        value_eps,
        delta: given.delta()?,
        sensitivity: given.ratio("sensitivity")?,
        grid: given.ratio("grid")?,
        values: values(given)?,
        floor: given.ratio("floor")?,
        ceiling: ceiling(given)?,
    };
    let (local, beta) = (given.ratio("local")?, given.beta()?);
    if local.is_negative() {
        return Err(ParameterError::out_of_range("local", local, "give a number of at least 0").into());
    }
    let calibrated = mechanism.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    let about = "how far the published bound lies above the local one on average";
    numbers.push(Number::exact("offset", calibrated.offset(), about));
    numbers.push(match calibrated.accuracy(&local, &beta) {
        Some(error) => {
            let about =
                "the answer is off by at most this at the guessed local bound, at the confidence given";
            Number::exact("error", error, about)
        }
        None => {
            Number::text("error", &"none", "there, the value is refused too often for the confidence given")
        }
    });
    if given.said("error") {
        let wanted = given.ratio("error")?;
        let eps = required("error", &wanted, mechanism.eps_for(&local, &wanted, &beta))?;
        let about = "the least epsilon with that error, split alike";
        numbers.push(Number::exact("epsilon_for_error", eps.ratio().clone(), about));
    }
    Ok(numbers)
}

fn shifted_inverse(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let answers = Answers::growing(&given.ratio("base")?, given.count("last")?)?;
    let beta = given.beta()?;
    let mechanism = ShiftedInverse { eps: given.eps()?, answers, beta: beta.clone() };
    let calibrated = mechanism.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.push(Number::exact("answers", Ratio::from(calibrated.answers().count()), "possible answers"));
    let about = "the answer lies between the statistic without its so many largest rows and the first possible \
                 answer not below it, at the confidence given";
    numbers
        .extend(calibrated.accuracy(&beta).map(|rows| Number::exact("removals", Ratio::from(rows), about)));
    if given.said("removals") {
        let removals = given.count("removals")?;
        let eps = required("removals", &Ratio::from(removals), mechanism.eps_for(removals))?;
        let about = "the least epsilon with which so many removed rows bound the error";
        numbers.push(Number::exact("epsilon_for_removals", eps.ratio().clone(), about));
    }
    Ok(numbers)
}

fn black_box(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let (eps, rows, adjacency) = if given.said("rows") {
        (
            given.eps()?,
            Rows::Public { count: given.count("rows")? },
            "replace, because the number of rows is public",
        )
    } else {
        let (for_rows, eps) = given.split("rows-share")?;
        (eps, Rows::Private { eps: for_rows }, "add-remove, because the number of rows is private")
    };
    let answers = Answers::Even {
        first: given.ratio("first")?,
        step: given.ratio("step")?,
        count: given.count("answers")?,
    };
    let evaluations = given.count("evaluations")?;
    let mechanism = BlackBox { eps, rows, answers, beta: given.beta()?, evaluations };
    let calibrated = mechanism.calibrate()?;
    let accuracy = calibrated.accuracy();
    let mut numbers = cost(&calibrated.cost());
    numbers.extend([
        Number::text("adjacency", &adjacency, "of the cost"),
        Number::exact(
            "removals",
            Ratio::from(accuracy.removals),
            "the answer lies between two values of the function, each after at most so many removals",
        ),
        Number::exact(
            "bounds",
            Ratio::from(accuracy.bounds),
            "so many statements must hold for that, each at the confidence given",
        ),
    ]);
    if !given.said("rows") {
        let about = "data sets of up to so many rows are answered, at the confidence given";
        numbers.push(Number::exact("most_rows", Ratio::from(calibrated.most_rows()), about));
    }
    if given.said("removals") {
        let removals = given.count("removals")?;
        let eps = required("removals", &Ratio::from(removals), mechanism.eps_for(removals))?;
        let about = "the least epsilon with which so many removed rows bound the error, split alike";
        numbers.push(Number::exact("epsilon_for_removals", eps.ratio().clone(), about));
    }
    Ok(numbers)
}
