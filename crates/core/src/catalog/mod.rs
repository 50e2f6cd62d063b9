//! Every mechanism by name: the parameters it takes and the numbers that calibration derives from them.
//!
//! The command line and the Python package both answer `calibrate NAME …` from this list, so that they
//! cannot disagree. Nothing here sees data.

mod blocks;
mod gates;
mod given;
mod local;
mod names;
mod noise;
mod online;
mod ranks;
mod releases;
mod sampling;
mod selection;
mod smooth;

pub use given::{CatalogError, Given};
pub use names::NAMES;

use crate::{loss::Loss, ratio::Ratio};

/// A mechanism in the catalog.
pub struct Entry {
    /// Its name, one of [`NAMES`].
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// The parameters it takes.
    pub parameters: &'static [Parameter],
    /// The numbers, or why there are none.
    pub derive: fn(&Given) -> Result<Vec<Number>, CatalogError>,
}

impl Entry {
    /// What a parameter takes when nothing is said; empty where there is no such parameter.
    fn default_of(&self, name: &str) -> &'static str {
        let parameter = self.parameters.iter().find(|parameter| parameter.name == name);
        parameter.and_then(|parameter| parameter.default).unwrap_or("")
    }
}

/// A parameter of a mechanism.
pub struct Parameter {
    /// Its name, with hyphens between words; Python writes underscores, which are read too.
    pub name: &'static str,
    /// What it takes when nothing is said; `None` if something must be said.
    pub default: Option<&'static str>,
    /// What it means.
    pub about: &'static str,
}

/// A derived number.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: Derived,
    /// What it means.
    pub about: &'static str,
}

/// The value of a derived number.
#[derive(Clone, Debug, PartialEq)]
pub enum Derived {
    /// An exact number, such as a cost or an error; shown rounded up.
    Exact(Ratio),
    /// An exact number that promises something, such as the chance of an answer; shown rounded down.
    AtLeast(Ratio),
    /// A sentence, such as a guarantee.
    Text(String),
    /// A table from whole numbers to exact ones; shown rounded up.
    Table(Vec<(u64, Ratio)>),
    /// A table from whole numbers to promises; shown rounded down.
    TableAtLeast(Vec<(u64, Ratio)>),
}

impl Number {
    fn exact(name: &'static str, value: Ratio, about: &'static str) -> Self {
        Self { name, value: Derived::Exact(value), about }
    }

    fn at_least(name: &'static str, value: Ratio, about: &'static str) -> Self {
        Self { name, value: Derived::AtLeast(value), about }
    }

    fn table(name: &'static str, rows: Vec<(u64, Ratio)>, about: &'static str) -> Self {
        Self { name, value: Derived::Table(rows), about }
    }

    fn text(name: &'static str, value: &impl ToString, about: &'static str) -> Self {
        Self { name, value: Derived::Text(value.to_string()), about }
    }
}

/// The cost as a sentence and as numbers.
fn cost(loss: &Loss) -> Vec<Number> {
    let mut numbers = vec![Number::text("cost", &loss, "what a run costs")];
    match loss {
        Loss::Approx(loss) => {
            numbers.push(Number::exact("epsilon", loss.eps.ratio().clone(), "epsilon of the cost"));
            numbers.push(Number::exact("delta", loss.delta.ratio().clone(), "delta of the cost"));
        }
        Loss::Zcdp(loss) => {
            numbers.push(Number::exact("rho", loss.rho.ratio().clone(), "rho of the cost"));
            numbers.push(Number::exact("delta", loss.delta.ratio().clone(), "delta of the cost"));
        }
        Loss::Renyi(loss) => {
            numbers.push(Number::exact("delta", loss.delta.ratio().clone(), "delta beside the curve"));
        }
    }
    numbers
}

const EPSILON: Parameter = Parameter { name: "epsilon", default: None, about: "privacy parameter, above 0" };
const DELTA: Parameter = Parameter { name: "delta", default: None, about: "above 0, such as 1e-6" };
const CONFIDENCE: Parameter = Parameter {
    name: "confidence",
    default: Some("0.95"),
    about: "probability with which the error bound holds",
};
const ADJACENCY: Parameter =
    Parameter { name: "adjacency", default: Some("add-remove"), about: "add-remove or replace" };

/// Every mechanism that can be calibrated.
pub const ALL: &[&Entry] = &[
    &noise::LAPLACE,
    &noise::GAUSSIAN,
    &selection::EXPONENTIAL,
    &selection::PERMUTE_AND_FLIP,
    &selection::NOISY_MAX,
    &selection::FAR_END,
    &gates::GATE,
    &gates::THRESHOLD,
    &gates::NOISY_DISTANCE,
    &sampling::SAMPLED,
    &ranks::INVERSE_SENSITIVITY,
    &ranks::QUANTILES,
    &ranks::QUANTILE_INTERVAL,
    &ranks::SPREAD,
    &releases::STABLE,
    &releases::HISTOGRAM_KEYS,
    &releases::PROPOSE_TEST_RELEASE,
    &releases::SEARCHED_BOUND,
    &releases::SCALE,
    &smooth::SMOOTH,
    &smooth::RELEASED_SCALE,
    &local::BOUNDED_LOCAL_SENSITIVITY,
    &local::SHIFTED_INVERSE,
    &local::BLACK_BOX,
    &blocks::WINSORIZED,
    &blocks::SUBSAMPLE,
    &blocks::BOOTSTRAP,
    &online::ABOVE_THRESHOLD,
    &online::GENERALIZATION,
    &online::THRESHOLD_MONITOR,
];

/// The mechanism of this name.
pub fn find(name: &str) -> Result<&'static Entry, CatalogError> {
    ALL.iter().copied().find(|entry| entry.name == name).ok_or_else(|| CatalogError::unknown_mechanism(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_derives_numbers_from_plain_parameters() {
        for entry in ALL {
            let given = |parameter: &Parameter| {
                let value = match parameter.name {
                    "epsilon" if entry.name == "black-box" => "8",
                    "epsilon" | "sensitivity" => "1",
                    "delta" => "1e-6",
                    "rate" => "0.5",
                    "candidates" | "answers" | "ends" => "10",
                    "range" => "0,1000",
                    "ceiling" => "28",
                    _ => return None,
                };
                let needed =
                    ["gaussian", "searched-bound", "smooth", "released-scale", "bounded-local-sensitivity"];
                let must_be_said = parameter.default.is_none()
                    || (needed.contains(&entry.name) && parameter.default == Some(""));
                must_be_said.then(|| (parameter.name.to_string(), value.to_string()))
            };
            let pairs: Vec<_> = entry.parameters.iter().filter_map(given).collect();
            let given = Given::new(entry, pairs).unwrap();
            let numbers = (entry.derive)(&given).unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            assert!(numbers.iter().any(|number| number.name == "cost"), "{} has no cost", entry.name);
        }
    }

    #[test]
    fn what_cannot_be_read_is_said_in_one_line() {
        let laplace = find("laplace").unwrap();
        let error = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(a, b)| ((*a).to_string(), (*b).to_string()));
            Given::new(laplace, pairs).and_then(|given| (laplace.derive)(&given)).unwrap_err().to_string()
        };
        assert_eq!(
            error(&[("epsilom", "1")]),
            "laplace takes no parameter 'epsilom'; did you mean 'epsilon'? It takes epsilon, sensitivity, grid, dimensions, values, noise, confidence, error"
        );
        assert_eq!(error(&[]), "laplace needs epsilon (privacy parameter, above 0)");
        assert_eq!(error(&[("epsilon", "1"), ("epsilon", "2")]), "laplace was given 'epsilon' twice");
        assert!(error(&[("epsilon", "0")]).starts_with("epsilon 0 is not accepted"));
        assert!(error(&[("epsilon", "1"), ("confidence", "1")]).starts_with("confidence 1 is not accepted"));
        assert!(
            error(&[("epsilon", "1"), ("dimensions", "1.5")]).starts_with("dimensions 1.5 is not accepted")
        );
        assert!(error(&[("epsilon", "1"), ("values", "some")]).starts_with("values some is not accepted"));
        let unknown = find("laplas").err().unwrap().to_string();
        assert!(unknown.starts_with("no mechanism is called 'laplas'; did you mean 'laplace'?"), "{unknown}");
    }

    #[test]
    fn between_words_stand_hyphens_or_underscores_and_former_names_lead_to_the_new_ones() {
        let of = |name: &str, pairs: &[(&str, &str)]| {
            let entry = find(name)?;
            let pairs = pairs.iter().map(|(a, b)| ((*a).to_string(), (*b).to_string()));
            Given::new(entry, pairs).and_then(|given| (entry.derive)(&given))
        };
        let both = [("epsilon", "1"), ("delta", "1e-6")];
        let with = |name| [both[0], both[1], (name, "0.25")];
        let hyphens = of("propose-test-release", &with("test-share")).unwrap();
        assert_eq!(of("propose-test-release", &with("test_share")).unwrap(), hyphens);
        assert_ne!(of("propose-test-release", &both).unwrap(), hyphens);
        let twice = [both[0], both[1], ("test-share", "0.5"), ("test_share", "0.25")];
        let error = of("propose-test-release", &twice).unwrap_err().to_string();
        assert_eq!(error, "propose-test-release was given 'test-share' twice");
        let error = of("ptr", &both).unwrap_err().to_string();
        assert!(error.starts_with("the mechanism 'ptr' is called propose-test-release;"), "{error}");
    }
}
