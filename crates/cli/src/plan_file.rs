//! Plans as JSON: our own form, and the events of Google's dp_accounting, both ways.

use equipoise_core::{
    account::{Event, Plan},
    loss::{Amount, Approx, Delta, DiscreteLaplaceLoss, Zcdp},
    ratio::Ratio,
    wording,
};
use serde_json::{Map, Value, json};

/// A plan, and the delta that the file names.
pub(crate) struct PlanFile {
    pub plan: Plan,
    pub delta: Option<Delta>,
}

/// Either `{"delta": .., "events": [..]}` or one event of dp_accounting, an object with a "type".
pub(crate) fn read(text: &str) -> Result<PlanFile, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON ({error})"))?;
    let object = value.as_object().ok_or("not an object; write {\"events\": [..]}")?;
    if object.contains_key("type") {
        return Ok(PlanFile { plan: Plan { events: foreign(&value, 1)? }, delta: None });
    }
    known_keys(object, &["delta", "events"])?;
    let delta = object.get("delta").map(|value| parse(value, "delta")).transpose()?;
    let list = object.get("events").and_then(Value::as_array).ok_or("no list of \"events\"")?;
    let events =
        list.iter().enumerate().map(|(i, event)| own(event).map_err(|e| format!("event {}: {e}", i + 1)));
    Ok(PlanFile { plan: Plan { events: events.collect::<Result<_, _>>()? }, delta })
}

fn known_keys(object: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => {
            Err(format!("'{}' is not a key here; known are {}", wording::shown(key), known.join(", ")))
        }
        None => Ok(()),
    }
}

/// A number or a string that holds one; a JSON number is the decimal that was written.
fn parse<T: std::str::FromStr<Err: std::fmt::Display>>(value: &Value, name: &str) -> Result<T, String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Err(format!("{name} is not a number")),
    };
    text.parse::<T>().map_err(|error| error.to_string())
}

fn amount(value: Ratio, name: &str) -> Result<Amount, String> {
    Amount::new(value).map_err(|_| format!("{name} is below 0; give 0 or more"))
}

const KEYS: &[&str] = &[
    "mechanism",
    "epsilon",
    "delta",
    "rho",
    "sigma",
    "variance",
    "sensitivity",
    "scale",
    "steps",
    "rate",
    "times",
    "noise",
];

/// Keys that say how much is lost. One that an event does not use is refused: leaving it out could say too little.
const LOSSES: &[&str] = &["epsilon", "delta", "rho", "sigma", "variance", "scale"];

fn no_other_loss(object: &Map<String, Value>, used: &[&str]) -> Result<(), String> {
    match LOSSES.iter().find(|key| object.contains_key(**key) && !used.contains(key)) {
        Some(key) => Err(format!("{key} is not used beside {}; leave one out", used.join(" and "))),
        None => Ok(()),
    }
}

/// The keys of [`LOSSES`] that this event uses.
fn used_losses(object: &Map<String, Value>, mechanism: &str) -> &'static [&'static str] {
    let has = |key: &str| object.contains_key(key);
    match mechanism {
        "laplace" | "discrete-laplace" if has("epsilon") => &["epsilon"],
        "laplace" | "discrete-laplace" => &["scale"],
        "gaussian" | "discrete-gaussian" if has("variance") => &["variance"],
        "gaussian" | "discrete-gaussian" if has("sigma") => &["sigma"],
        _ if has("rho") => &["rho", "delta"],
        _ => &["epsilon", "delta"],
    }
}

/// How far neighbours are apart on a lattice.
fn whole(value: &Ratio, name: &str) -> Result<u64, String> {
    let steps = value.floor_i64().and_then(|n| u64::try_from(n).ok());
    let steps = steps.filter(|&steps| steps > 0 && value.is_integer());
    steps.ok_or_else(|| format!("{name} is not a positive whole number"))
}

fn own(value: &Value) -> Result<(Event, u64), String> {
    let object = value.as_object().ok_or("not an object")?;
    known_keys(object, KEYS)?;
    let number = |name: &str| object.get(name).map(|value| parse::<Ratio>(value, name)).transpose();
    let positive = |name: &'static str| match number(name)? {
        Some(value) if value.is_positive() => Ok(value),
        Some(_) => Err(format!("{name} is not above 0")),
        None => Err(format!("{name} is missing")),
    };
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    let real = text("noise") == Some("real");
    let sensitivity = number("sensitivity")?.map_or(Ok(Ratio::one()), |_| positive("sensitivity"))?;
    let mechanism = text("mechanism").unwrap_or("approx");
    no_other_loss(object, used_losses(object, mechanism))?;
    let event = match mechanism {
        "laplace" if real => Event::Laplace { eps: amount(laplace_eps(&number, &sensitivity)?, "epsilon")? },
        "discrete-laplace" | "laplace" => {
            let steps = whole(&number("steps")?.unwrap_or_else(Ratio::one), "steps")?;
            let eps = amount(laplace_eps(&number, &sensitivity)?, "epsilon")?;
            Event::DiscreteLaplace(DiscreteLaplaceLoss { eps, steps })
        }
        "gaussian" if real => Event::Gaussian { ratio: &sensitivity / &positive("sigma")? },
        "discrete-gaussian" | "gaussian"
            if object.contains_key("sigma") || object.contains_key("variance") =>
        {
            let variance = match number("variance")? {
                Some(_) => positive("variance")?,
                None => positive("sigma")?.squared(),
            };
            if object.contains_key("steps") && object.contains_key("sensitivity") {
                return Err("sensitivity is not used beside steps; leave one out".into());
            }
            let steps = number("steps")?.unwrap_or(sensitivity);
            if !steps.is_integer() || !steps.is_positive() {
                return Err(
                    "steps is not a positive whole number; for real noise write \"noise\": \"real\"".into()
                );
            }
            Event::DiscreteGaussian { steps, variance }
        }
        _ if object.contains_key("rho") => {
            let delta = amount(number("delta")?.unwrap_or_else(Ratio::zero), "delta")?;
            Event::Concentrated(Zcdp { rho: amount(positive("rho")?, "rho")?, delta })
        }
        // Whatever its name, a mechanism of which only (epsilon, delta) is known.
        _ if object.contains_key("epsilon") => approx(
            number("epsilon")?.unwrap_or_else(Ratio::zero),
            number("delta")?.unwrap_or_else(Ratio::zero),
        )?,
        _ => return Err(format!("'{}' says neither epsilon, rho nor sigma", wording::shown(mechanism))),
    };
    let event = match object.get("rate") {
        Some(rate) => Event::Sampled { base: Box::new(event), rate: parse(rate, "rate")? },
        None => event,
    };
    Ok((event, object.get("times").map_or(Ok(1), |times| parse(times, "times"))?))
}

fn laplace_eps(
    number: &impl Fn(&str) -> Result<Option<Ratio>, String>,
    sensitivity: &Ratio,
) -> Result<Ratio, String> {
    if let Some(eps) = number("epsilon")? {
        return Ok(eps);
    }
    let scale =
        number("scale")?.filter(Ratio::is_positive).ok_or("neither epsilon nor a scale above 0 is given")?;
    Ok(sensitivity / &scale)
}

fn approx(eps: Ratio, delta: Ratio) -> Result<Event, String> {
    Ok(Event::Approx(Approx { eps: amount(eps, "epsilon")?, delta: amount(delta, "delta")? }))
}

/// An event of dp_accounting, `times` times over.
fn foreign(value: &Value, times: u64) -> Result<Vec<(Event, u64)>, String> {
    let kind = value["type"].as_str().unwrap_or_default();
    foreign_keys(value, kind)?;
    let number = |name: &str| parse::<Ratio>(&value[name], name);
    let positive = |name: &str| match number(name)? {
        value if value.is_positive() => Ok(value),
        _ => Err(format!("{name} is not above 0")),
    };
    let one = |event| Ok(vec![(event, times)]);
    match kind {
        "GaussianDpEvent" => one(Event::Gaussian { ratio: positive("noise_multiplier")?.recip() }),
        "LaplaceDpEvent" => {
            one(Event::Laplace { eps: amount(positive("noise_multiplier")?.recip(), "epsilon")? })
        }
        "DiscreteLaplaceDpEvent" => {
            let steps = whole(&number("sensitivity")?, "sensitivity")?;
            let eps = amount(positive("noise_parameter")? * Ratio::from(steps), "epsilon")?;
            one(Event::DiscreteLaplace(DiscreteLaplaceLoss { eps, steps }))
        }
        "EpsilonDeltaDpEvent" => one(approx(number("epsilon")?, number("delta")?)?),
        "ZCDpEvent" => {
            // It promises a divergence of at most xi + rho·order; we have no such line that does not begin at zero.
            if value.get("xi").is_some() && !number("xi")?.is_zero() {
                return Err("xi is not 0, and such events are not known here; leave it out or write it as EpsilonDeltaDpEvent".into());
            }
            one(Event::Concentrated(Zcdp { rho: amount(positive("rho")?, "rho")?, delta: Amount::zero() }))
        }
        "NoOpDpEvent" => Ok(Vec::new()),
        "SelfComposedDpEvent" => {
            let count: u64 = parse(&value["count"], "count")?;
            let times = times.checked_mul(count).ok_or("count is too large")?;
            foreign(&value["event"], times)
        }
        "ComposedDpEvent" => {
            let list = value["events"].as_array().ok_or("no list of \"events\"")?;
            let parts = list.iter().map(|event| foreign(event, times)).collect::<Result<Vec<_>, _>>()?;
            Ok(parts.concat())
        }
        "PoissonSampledDpEvent" => {
            let rate: equipoise_core::loss::Rate =
                parse(&value["sampling_probability"], "sampling_probability")?;
            let mut inner = foreign(&value["event"], 1)?;
            match (inner.pop(), inner.is_empty()) {
                (Some((base, 1)), true) => one(Event::Sampled { base: Box::new(base), rate }),
                _ => Err("a PoissonSampledDpEvent must hold one event, which is not composed".into()),
            }
        }
        _ => Err(format!("'{}' is not an event we know", wording::shown(kind))),
    }
}

/// A key that we do not know could say that more is lost.
fn foreign_keys(value: &Value, kind: &str) -> Result<(), String> {
    let known: &[&str] = match kind {
        "GaussianDpEvent" | "LaplaceDpEvent" => &["type", "noise_multiplier"],
        "DiscreteLaplaceDpEvent" => &["type", "noise_parameter", "sensitivity"],
        "EpsilonDeltaDpEvent" => &["type", "epsilon", "delta"],
        "ZCDpEvent" => &["type", "rho", "xi"],
        "SelfComposedDpEvent" => &["type", "event", "count"],
        "ComposedDpEvent" => &["type", "events"],
        "PoissonSampledDpEvent" => &["type", "sampling_probability", "event"],
        _ => return Ok(()),
    };
    value.as_object().map_or(Ok(()), |object| known_keys(object, known))
}

/// The plan as one event of dp_accounting. Numbers are the nearest floats, as that library has no others.
pub(crate) fn export(plan: &Plan) -> Result<Value, String> {
    let one = |(event, times): &(Event, u64)| {
        let event = exported(event)?;
        Ok(if *times == 1 {
            event
        } else {
            json!({"type": "SelfComposedDpEvent", "event": event, "count": times})
        })
    };
    let events = plan.events.iter().map(one).collect::<Result<Vec<_>, String>>()?;
    Ok(json!({"type": "ComposedDpEvent", "events": events}))
}

fn exported(event: &Event) -> Result<Value, String> {
    let float = |value: &Ratio| value.to_f64();
    Ok(match event {
        Event::Approx(loss) => json!({
            "type": "EpsilonDeltaDpEvent", "epsilon": float(loss.eps.ratio()), "delta": float(loss.delta.ratio())
        }),
        Event::Gaussian { ratio } => {
            json!({"type": "GaussianDpEvent", "noise_multiplier": float(&ratio.recip())})
        }
        Event::Laplace { eps } => {
            json!({"type": "LaplaceDpEvent", "noise_multiplier": float(&eps.ratio().recip())})
        }
        Event::DiscreteLaplace(loss) => json!({
            "type": "DiscreteLaplaceDpEvent", "sensitivity": loss.steps.max(1),
            "noise_parameter": float(&(loss.eps.ratio() / &Ratio::from(loss.steps.max(1)))),
        }),
        Event::Concentrated(loss) if loss.delta.is_zero() => {
            json!({"type": "ZCDpEvent", "rho": float(loss.rho.ratio()), "xi": 0.0})
        }
        Event::Sampled { base, rate } => json!({
            "type": "PoissonSampledDpEvent", "sampling_probability": float(rate.ratio()), "event": exported(base)?
        }),
        Event::Concentrated(_) => return Err("dp_accounting has no event for rho with a delta".into()),
        Event::DiscreteGaussian { .. } => {
            return Err("dp_accounting has no event for discrete Gaussian noise; write \"noise\": \"real\" or \"rho\"".into());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str) -> Vec<(Event, u64)> {
        read(text).unwrap_or_else(|problem| panic!("{text}: {problem}")).plan.events
    }

    #[test]
    fn our_events_come_back_through_theirs() {
        let text = r#"{"events": [
            {"mechanism": "laplace", "noise": "real", "epsilon": "0.25", "times": 3},
            {"mechanism": "laplace", "epsilon": 0.5},
            {"mechanism": "gaussian", "noise": "real", "sigma": 4, "rate": "0.125", "times": 100},
            {"mechanism": "stable", "epsilon": 1, "delta": 0.0009765625},
            {"rho": "0.5"}
        ]}"#;
        let plan = read(text).unwrap().plan;
        assert_eq!(events(&export(&plan).unwrap().to_string()), plan.events);
        assert_eq!(plan.events[2].1, 100);
        assert!(
            matches!(&plan.events[2].0, Event::Sampled { base, .. } if matches!(**base, Event::Gaussian { .. }))
        );
    }

    /// Each of these was read as an event that loses less.
    #[test]
    fn a_number_that_says_more_is_lost_is_never_left_out() {
        for (text, problem) in [
            (r#"{"type": "ZCDpEvent", "rho": 0.1, "xi": 5}"#, "xi is not 0"),
            (
                r#"{"type": "DiscreteLaplaceDpEvent", "noise_parameter": 1, "sensitivity": 2.9}"#,
                "sensitivity is not a positive whole number",
            ),
            (r#"{"type": "GaussianDpEvent", "noise_multiplier": 1, "sensitivity": 3}"#, "'sensitivity'"),
            (
                r#"{"events": [{"mechanism": "laplace", "epsilon": 1, "delta": 0.1}]}"#,
                "event 1: delta is not used beside epsilon",
            ),
            (
                r#"{"events": [{"rho": 0.1, "epsilon": 3}]}"#,
                "event 1: epsilon is not used beside rho and delta",
            ),
            (
                r#"{"events": [{"mechanism": "gaussian", "sigma": 1, "sensitivity": 5, "steps": 1}]}"#,
                "event 1: sensitivity is not used beside steps",
            ),
            (
                r#"{"events": [{"mechanism": "gaussian", "noise": "real", "sigma": 1, "sensitivity": -1}]}"#,
                "event 1: sensitivity is not above 0",
            ),
        ] {
            let found = read(text).err().unwrap_or_else(|| panic!("{text}"));
            assert!(found.starts_with(problem), "{found}");
        }
        assert_eq!(
            events(r#"{"type": "ZCDpEvent", "rho": 0.5, "xi": 0.0}"#),
            events(r#"{"events": [{"rho": 0.5}]}"#)
        );
    }

    #[test]
    fn what_cannot_be_read_is_said_in_one_line() {
        for (text, problem) in [
            ("[]", "not an object; write {\"events\": [..]}"),
            (
                r#"{"events": [{"epsilom": 1}]}"#,
                "event 1: 'epsilom' is not a key here; known are mechanism, epsilon",
            ),
            (
                r#"{"events": [{"mechanism": "gaussian"}]}"#,
                "event 1: 'gaussian' says neither epsilon, rho nor sigma",
            ),
            (r#"{"events": [{"mechanism": "gaussian", "sigma": -1}]}"#, "event 1: sigma is not above 0"),
            (r#"{"events": [{"epsilon": -1}]}"#, "event 1: epsilon is below 0; give 0 or more"),
            (r#"{"type": "TreeDpEvent"}"#, "'TreeDpEvent' is not an event we know"),
        ] {
            let found = read(text).err().unwrap();
            assert!(found.starts_with(problem), "{found}");
        }
    }
}
