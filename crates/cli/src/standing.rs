//! How a budget stands under each accountant, in words and as JSON.

use equipoise_core::ratio::Ratio;
use equipoise_session::ledger::Standing;
use serde_json::{Value, json};

/// The lines of `budget show` about one data set.
pub(crate) fn words(standing: &Standing, name: &str) -> String {
    let lines = standing.lines.iter().map(|line| {
        let spent = line.spent.as_ref().map_or("no total".to_string(), |spent| {
            let delta =
                if spent.delta.is_zero() { String::new() } else { format!(" at delta {}", spent.delta) };
            format!("epsilon {}{delta} spent", spent.eps)
        });
        let fits = if line.in_force { "fits" } else { "would fit" };
        let left =
            line.left.as_ref().map(|left| format!(", one more charge of epsilon {} {fits}", down(left)));
        let force = if line.in_force { " (in force)" } else { "" };
        let best = if standing.tightest() == Some(line.accountant) { " (tightest)" } else { "" };
        format!("  {:<10} {spent}{}{force}{best}", line.accountant.name(), left.unwrap_or_default())
    });
    let any_time = match &standing.odometer {
        Some(reading) => {
            format!("epsilon {} at delta {} spent, whenever it is read", reading.loss.eps, reading.loss.delta)
        }
        None => "no reading: the deltas spent are too large".to_string(),
    };
    let mut text = vec![format!("{name}, as each accountant adds it up:")];
    text.extend(lines);
    text.push(format!("  {:<10} {any_time}", "odometer"));
    text.push(
        "  (the first three hold for questions fixed beforehand; a limit in force holds for any)".to_string(),
    );
    text.join("\n")
}

/// The same as JSON.
pub(crate) fn to_json(standing: &Standing) -> Value {
    let lines: Vec<Value> = standing
        .lines
        .iter()
        .map(|line| {
            json!({
                "accountant": line.accountant.name(),
                "in_force": line.in_force,
                "tightest": standing.tightest() == Some(line.accountant),
                "spent": line.spent.as_ref().map(equipoise_session::release::Spent::from),
                "left": line.left.as_ref().map(down),
            })
        })
        .collect();
    let odometer = standing.odometer.as_ref().map(|reading| {
        json!({
            "epsilon": reading.loss.eps.to_string(), "delta": reading.loss.delta.to_string(),
        })
    });
    json!({ "lines": lines, "delta": standing.delta.to_string(), "odometer": odometer })
}

/// Six places, rounded down.
fn down(left: &Ratio) -> String {
    let text = (-left.clone()).to_decimal_up(6);
    text.trim_start_matches('-').to_string()
}
