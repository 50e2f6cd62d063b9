//! How a budget stands under each accountant, in words and as JSON.

use crate::show::{printable, width};
use equipoise_core::{loss::Approx, ratio::Ratio};
use equipoise_session::{
    ledger::{Accountant, Standing},
    release::Spent,
};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

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
    let mut text = vec![format!("{}, as each accountant adds it up:", printable(name))];
    text.extend(lines);
    if standing.complete {
        text.push(format!("  {:<10} {any_time}", "odometer"));
    } else {
        let next = "'equipoise budget show --accountants' reads them";
        text.push(format!("  (renyi and odometer need every charge, and there are more than 10000; {next})"));
    }
    text.push(
        "  (basic, zcdp and renyi hold for questions fixed beforehand; a limit in force holds for any)"
            .to_string(),
    );
    let width = width();
    text.iter().map(|line| broken(line, width)).collect::<Vec<_>>().join("\n")
}

/// A line in as many lines as fit this width, the next ones below what stands behind its name.
fn broken(line: &str, width: usize) -> String {
    const BEHIND: usize = 13;
    let mut lines = vec![String::new()];
    for word in line.split_inclusive(' ') {
        let taken = lines.last().map_or(0, |last| last.width());
        if taken + word.trim_end().width() > width && taken > BEHIND {
            lines.push(" ".repeat(BEHIND));
        }
        lines.last_mut().expect("a line").push_str(word);
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
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
                "spent": line.spent.as_ref().map(|spent| total(line.accountant, spent)),
                "left": line.left.as_ref().map(|left| match line.accountant {
                    Accountant::Basic => left.to_exact(),
                    _ => left.to_short_down(17, 40),
                }),
            })
        })
        .collect();
    let odometer = standing.odometer.as_ref().map(|reading| {
        json!({
            "epsilon": reading.loss.eps.to_bound(), "delta": reading.loss.delta.to_bound(),
        })
    });
    json!({
        "lines": lines, "delta": standing.delta.ratio().to_exact(), "odometer": odometer,
        "complete": standing.complete,
    })
}

/// The basic sum is the exact one; the others are bounds, and 17 digits of them that are not below are as good.
fn total(accountant: Accountant, spent: &Approx) -> Spent {
    match accountant {
        Accountant::Basic => Spent::from(spent),
        _ => Spent { epsilon: spent.eps.to_bound(), delta: spent.delta.to_bound() },
    }
}

/// Six places, rounded down.
fn down(left: &Ratio) -> String {
    let text = (-left.clone()).to_decimal_up(6);
    text.trim_start_matches('-').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `budget show` wrote 104 columns into a pipe.
    #[test]
    fn long_lines_are_broken_between_words() {
        let line = "  basic      epsilon 10.123456789 spent, one more charge of epsilon 19.876543 fits (in force) (tightest)";
        let lines = broken(line, 80);
        let next = "             fits (in force) (tightest)";
        assert_eq!(lines.lines().last(), Some(next), "{lines}");
        assert!(lines.lines().all(|line| line.width() <= 80), "{lines}");
        assert_eq!(broken("  short     line", 80), "  short     line");
    }
}
