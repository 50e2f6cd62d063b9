//! Release-or-refuse tests on a distance.

use super::{ADJACENCY, CatalogError, DELTA, Derived, EPSILON, Entry, Given, Number, Parameter, cost};
use crate::{
    loss::ParameterError,
    mechanism::{
        gate::Gate,
        noisy_distance::NoisyDistance,
        threshold::{NoisyThreshold, Threshold},
    },
    outcome::Slack,
    ratio::Ratio,
};

pub(super) const STEPS: Parameter = Parameter {
    name: "steps",
    default: Some(""),
    about: "rows to change until the value changes: the chance of a release there is derived",
};

pub(super) static GATE: Entry = Entry {
    name: "gate",
    about: "releases a value with the largest probability that (epsilon, delta) allows at its distance",
    parameters: &[EPSILON, DELTA, STEPS, ADJACENCY],
    derive: gate,
};

pub(super) static THRESHOLD: Entry = Entry {
    name: "threshold",
    about: "releases a value if its noisy distance exceeds a printed threshold, at the delta that this truly keeps",
    parameters: &[
        EPSILON,
        DELTA,
        STEPS,
        Parameter {
            name: "form",
            default: Some("least"),
            about: "least, algorithm-13 (000), prose (000) or algorithm-1 (002)",
        },
        ADJACENCY,
    ],
    derive: threshold,
};

pub(super) static NOISY_DISTANCE: Entry = Entry {
    name: "noisy-distance",
    about: "makes the noisy distance to another value public, and releases the value where it is large",
    parameters: &[EPSILON, DELTA, STEPS, ADJACENCY],
    derive: noisy_distance,
};

/// Slacks at which the chance of a release passes one half, 99 percent, and certainty.
pub(super) fn needed(name: [&'static str; 3], slack_for: impl Fn(&Ratio) -> Option<Slack>) -> Vec<Number> {
    let levels = [Ratio::new(1, 2), Ratio::new(99, 100), Ratio::one()];
    let about = [
        "rows to change at which the chance of a release reaches one half",
        "rows to change at which it reaches 99 percent",
        "rows to change from which on a release is certain",
    ];
    let rows = |level: &Ratio| slack_for(level).and_then(Slack::until_change).map(Ratio::from);
    (0..3).filter_map(|i| Some(Number::exact(name[i], rows(&levels[i])?, about[i]))).collect()
}

pub(super) const NEEDED: [&str; 3] = ["steps_for_half", "steps_for_99", "steps_for_certain"];

/// The chances at one distance, from a bound on that of a refusal.
pub(super) fn release_at(refusal: Ratio) -> [Number; 2] {
    [
        Number::at_least("probability", Ratio::one() - &refusal, "chance of a release there, rounded down"),
        Number::exact("refusal", refusal, "chance of a refusal there, rounded up"),
    ]
}

fn gate(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let adjacency = given.adjacency()?;
    let calibrated = Gate { eps: given.eps()?, delta: given.delta()?, adjacency }.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.extend(needed(NEEDED, |level| calibrated.slack_for(level)));
    let at = |steps: u64| calibrated.probability(Slack::rows_to_change(steps, adjacency));
    if given.said("steps") {
        numbers.extend(release_at(Ratio::one() - at(given.count("steps")?)));
    } else {
        let last = calibrated.slack_for(&Ratio::one()).and_then(Slack::until_change).unwrap_or(1);
        if last <= 2000 {
            let table = (1..=last).map(|steps| (steps, at(steps))).collect();
            let about = "chance of a release by rows to change";
            numbers.push(Number { name: "table", value: Derived::TableAtLeast(table), about });
        }
    }
    Ok(numbers)
}

fn threshold(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let adjacency = given.adjacency()?;
    let delta = given.delta()?;
    if delta.is_zero() {
        let accepted = "give a number above 0 such as 1e-6";
        return Err(ParameterError::out_of_range("delta", 0, accepted).into());
    }
    let threshold = match given.text("form") {
        "least" => Threshold::Least { delta },
        "algorithm-13" => Threshold::Algorithm13 { delta },
        "prose" => Threshold::Prose { delta },
        "algorithm-1" => Threshold::Algorithm1 { delta },
        other => {
            let accepted = "write least, algorithm-13, prose or algorithm-1";
            return Err(ParameterError::out_of_range("form", other, accepted).into());
        }
    };
    let calibrated = NoisyThreshold { eps: given.eps()?, threshold, adjacency }.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    numbers.extend(needed(NEEDED, |level| calibrated.slack_for(level)));
    if given.said("steps") {
        let slack = Slack::rows_to_change(given.count("steps")?, adjacency);
        numbers.extend(release_at(calibrated.accuracy(slack)));
    }
    Ok(numbers)
}

fn noisy_distance(given: &Given) -> Result<Vec<Number>, CatalogError> {
    let adjacency = given.adjacency()?;
    let calibrated = NoisyDistance { eps: given.eps()?, delta: given.delta()?, adjacency }.calibrate()?;
    let mut numbers = cost(&calibrated.cost());
    let threshold = Ratio::from(calibrated.threshold());
    numbers.push(Number::exact("threshold", threshold, "the value is released from this noisy distance on"));
    if given.said("steps") {
        let slack = Slack::rows_to_change(given.count("steps")?, adjacency);
        numbers.extend(release_at(calibrated.accuracy(slack)));
    }
    Ok(numbers)
}
