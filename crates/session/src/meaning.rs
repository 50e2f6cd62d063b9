//! What a promise means to the person whom it protects, in plain words that are true as they stand.
//!
//! # Guarantee
//!
//! Under epsilon alone, whatever is released is at most e^epsilon times likelier with any one person than without, so for whoever
//! knows the records of all others the odds that this person is in the data change by at most that factor, in either
//! direction. It is a factor of odds, not of probabilities. With a delta no factor holds for each outcome: what is bounded
//! is how often any one conclusion is drawn. The words say the one or the other.

use crate::{
    bar::{Condition, ErrorBar, percent, printable, rounded},
    release::{Blocks, Outcome, Promise, Release, Remaining, Spent},
};
use equipoise_core::ratio::Ratio;

/// Who is protected: "one row", "one person (all rows with the same 'person_id')", or of a graph one edge or one node.
pub fn protected(unit: &str) -> String {
    match graph_unit(unit) {
        Some(("edge", ends)) => {
            format!("one edge (all rows that name the same two of '{}')", printable(ends))
        }
        Some((_, ends)) => format!("one node (all edges that name it in '{}')", printable(ends)),
        None if unit == "row" => "one row".to_string(),
        None => format!("one person (all rows with the same '{}')", printable(unit)),
    }
}

/// The same for a promise: where it is about calendar windows of rows, what one has in them.
pub fn protected_by(promise: &Promise) -> String {
    let who = protected(&promise.unit);
    promise.windows.as_ref().map_or(who.clone(), |windows| format!("{who} in {}", windows.words()))
}

/// `edge of FROM,TO` or `node of FROM,TO`, apart: what counts of a graph are registered for. A column of such a name has no comma in it.
pub fn graph_unit(unit: &str) -> Option<(&'static str, &str)> {
    let ends = |word: &'static str| unit.strip_prefix(word)?.strip_prefix(" of ").map(|ends| (word, ends));
    ends("edge").or_else(|| ends("node")).filter(|(_, ends)| ends.contains(','))
}

/// e^epsilon in two digits, rounded up: "e^2.1 = 8.2", and "more than anybody can use" where a float ends.
pub fn factor(epsilon: &str) -> String {
    let exact: Option<Ratio> = epsilon.parse().ok();
    let shown = exact.as_ref().map_or(epsilon.to_string(), |number| number.to_short_up(6, 12));
    // A float is next to the number, and the power next to the float: a millionth part covers both.
    let power = exact.map_or(f64::INFINITY, |number| number.to_f64().exp() * (1.0 + 1e-6));
    format!("e^{shown} = {}", two_digits_up(power))
}

/// Two digits that are not below the number.
fn two_digits_up(number: f64) -> String {
    if !number.is_finite() || number >= 1e300 {
        return "more than 10^300".to_string();
    }
    let power = number.log10().floor();
    let scale = 10f64.powf(power - 1.0);
    let up = (number / scale).ceil() * scale;
    match up {
        up if up < 10.0 => format!("{up:.1}"),
        up if up < 1e7 => format!("{up:.0}"),
        up => format!("{up:.1e}"),
    }
}

/// What whoever sees answers of this price learns about one person at most, as a sentence.
pub fn surer(promise: &Promise) -> String {
    let Promise { epsilon, delta, adjacency, .. } = promise;
    let (who, factor) = (protected_by(promise), factor(epsilon));
    // What may be different between two data sets that are hard to tell apart.
    let (claim, instead) = match adjacency.as_str() {
        "add-remove" => (format!("{who} is in the data"), "is not"),
        _ => (format!("{who} has these values"), "has any others"),
    };
    if epsilon == "0" && delta == "0" {
        return format!("Whoever sees this learns nothing about whether {claim}.");
    }
    if delta == "0" {
        return format!(
            "Whoever knows all other records and sees this can become at most {factor} times surer that {claim}, or that it \
             {instead}: odds change by at most that factor, in either direction."
        );
    }
    let delta = delta.parse().map_or(delta.clone(), |delta: Ratio| delta.to_short_up(6, 12));
    format!(
        "Whatever anybody concludes from this, they conclude it at most {factor} times as often where {claim} as where it \
         {instead}, plus a probability of {delta}; and the other way round."
    )
}

/// An epsilon and a delta for people, rounded up.
pub fn amount(spent: &Spent) -> String {
    match spent.delta.as_str() {
        "0" => format!("epsilon {}", short_up(&spent.epsilon)),
        delta => format!("epsilon {}, delta {}", short_up(&spent.epsilon), short_up(delta)),
    }
}

/// What was spent, short enough for people and not below.
pub fn short_up(exact: &str) -> String {
    exact.parse().map_or(exact.to_string(), |number: Ratio| number.to_short_up(6, 12))
}

/// A part of a whole in percent, rounded up to a tenth.
pub fn percent_of(part: f64, whole: f64) -> Option<String> {
    (whole > 0.0).then(|| {
        let percent = (part / whole * 1000.0 - 1e-9).ceil().max(0.0) / 10.0;
        format!("{percent} %")
    })
}

/// What a limit leaves, in its currency. Long numbers are rounded down.
pub fn left(left: &Remaining) -> String {
    let and_delta = |loss: String| {
        if left.delta == "0" { loss } else { format!("{loss}, delta {}", short_down(&left.delta)) }
    };
    match left {
        Remaining { rho: Some(rho), .. } => and_delta(format!("rho {}", short_down(rho))),
        Remaining { order: Some(order), divergence: Some(divergence), .. } => {
            and_delta(format!("divergence {} at order {order}", short_down(divergence)))
        }
        Remaining { epsilon, .. } => {
            and_delta(format!("epsilon {}", epsilon.as_deref().map_or("0".to_string(), short_down)))
        }
    }
}

/// What is left, short enough for people and not above.
fn short_down(exact: &str) -> String {
    exact.parse().map_or(exact.to_string(), |number: Ratio| number.to_short_down(6, 12))
}

/// About how many blocks answered, where that was paid for, and what they chose or how many voted for the answer.
pub fn blocks(blocks: &Blocks) -> String {
    let Blocks { count, answered, answered_within, confidence, .. } = blocks;
    let shown = |noisy: i64| noisy.clamp(0, i64::try_from(*count).unwrap_or(i64::MAX));
    let sure = |within: u64| format!("(off by at most {within}, {} confidence)", percent(*confidence));
    let mut words = match (answered, answered_within) {
        (Some(answered), Some(within)) => {
            format!("about {} of {count} answered {}", shown(*answered), sure(*within))
        }
        _ if blocks.default_stated => {
            format!("{count}; how many answered is not released, because a default was stated")
        }
        _ => format!("{count} samples; how many answered is not released"),
    };
    if let (Some(votes), Some(within)) = (blocks.votes, blocks.votes_within) {
        words = format!("{words}; about {} voted for it {}", shown(votes), sure(within));
    }
    if let (Some(analysis), Some(gap)) = (&blocks.analysis, blocks.analysis_gap) {
        let chose = printable(analysis);
        words = format!("{words}; they chose {chose}, and at most {gap} more name another analysis");
    }
    words
}

/// What became of a question, in short: the value with its error, how many groups, or that it was refused.
pub fn outcome(release: &Release) -> String {
    match release {
        Release { outcome: Outcome::Refused, .. } => "refused".to_string(),
        Release { answers: Some(answers), .. } => {
            let released = answers.iter().filter(|item| item.outcome == Outcome::Released).count();
            format!("{released} of {} answers", answers.len())
        }
        Release { groups: Some(groups), .. } => {
            let refused = groups.iter().filter(|group| group.outcome == Outcome::Refused).count();
            let refused = if refused == 0 { String::new() } else { format!(", {refused} of them refused") };
            format!("{} groups{refused}", groups.len())
        }
        Release { value, .. } if value.is_null() => "answers given elsewhere".to_string(),
        Release { value, error, .. } => {
            let short =
                error.as_ref().map_or(String::new(), |error| format!(" ({})", error.short_words(value)));
            let population = |error: &ErrorBar| error.conditions().contains(&Condition::Population);
            let of = if error.as_ref().is_some_and(population) { ", of the population" } else { "" };
            // A number is not read without what its values were limited to.
            let limits = error.as_ref().and_then(ErrorBar::limits_words);
            let limits = limits.map_or(String::new(), |limits| format!(", {limits}"));
            format!("{}{short}{limits}{of}", rounded(value, error.as_ref()))
        }
    }
}

/// What the caller stated, as clauses of one sentence that says so itself.
pub fn stated<T: AsRef<str>>(clauses: &[T]) -> String {
    let bare = |clause: &T| printable(clause.as_ref().trim_end_matches(", as stated by the caller"));
    clauses.iter().map(bare).collect::<Vec<_>>().join("; ")
}

/// A release in a paragraph, from what it says itself.
pub fn paragraph(release: &Release) -> String {
    let promise = &release.guarantee;
    let of = release.column.as_ref().map_or(String::new(), |column| format!(" of '{}'", printable(column)));
    let by: Vec<String> = release.group_by.iter().map(|name| format!("'{}'", printable(name))).collect();
    let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(" and ")) };
    let filter =
        release.filter.as_ref().map_or(String::new(), |filter| format!(", rows where {}", printable(filter)));
    let said = match (&release.error, release.outcome) {
        (Some(error), Outcome::Released) => format!(
            "The released value is {}; its error: {}.",
            rounded(&release.value, Some(error)),
            error.words(&release.value)
        ),
        (_, Outcome::Refused) => format!(
            "There is no answer{}; a refusal is part of what the guarantee covers.",
            release.advice.as_ref().map_or(String::new(), |advice| format!(" ({advice})"))
        ),
        _ => format!("Released: {}.", outcome(release)),
    };
    let left =
        release.remaining.as_ref().and_then(|left| left.epsilon.as_ref()).and_then(|left| left.parse().ok());
    let left = left.map_or(", and no limit in epsilon".to_string(), |left: Ratio| {
        format!(", and epsilon {} is left", left.to_short_down(6, 12))
    });
    let receipt =
        release.receipt.as_ref().map_or(String::new(), |receipt| format!(" Receipt: {}.", receipt.id));
    let rests = match &release.stated[..] {
        [] => String::new(),
        clauses => format!(", if what the caller stated is true, which nobody checked: {}", stated(clauses)),
    };
    let windows =
        promise.windows.as_ref().map_or(String::new(), |windows| format!("; {}", windows.adds_up()));
    let left = left + &windows;
    // Calls in Python without a ledger are counted together, under a name that nobody gave.
    let in_memory = release.receipt.as_ref().is_some_and(|receipt| receipt.ledger.is_none());
    let (data, of_whom) = if in_memory && release.data.starts_with("this process") {
        ("data in memory".to_string(), "on all data of this process without a ledger")
    } else {
        (printable(&release.data), "on the data set in all")
    };
    format!(
        "The {}{of}{by} of {data}{filter}, by the mechanism {}. {said} It promises {} for {}, {}{rests}. {} With this release {} \
         is spent {of_whom}{left}.{receipt}",
        release.statistic,
        release.mechanism,
        amount(&Spent { epsilon: promise.epsilon.clone(), delta: promise.delta.clone() }),
        protected_by(promise),
        if promise.adjacency == "add-remove" { "added or removed" } else { "replaced by any other" },
        surer(promise),
        amount(&release.spent),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise(epsilon: &str, delta: &str, unit: &str, adjacency: &str) -> Promise {
        Promise {
            epsilon: epsilon.into(),
            delta: delta.into(),
            adjacency: adjacency.into(),
            unit: unit.into(),
            max_rows_per_unit: None,
            max_groups_per_unit: None,
            once_for_each_value: false,
            per_unit: false,
            composition: None,
            windows: None,
        }
    }

    #[test]
    fn factors_are_rounded_up() {
        for (epsilon, said) in [
            ("2.1", "e^2.1 = 8.2"),
            ("0.1", "e^0.1 = 1.2"),
            ("1/3", "e^0.333334 = 1.4"),
            ("3", "e^3 = 21"),
            ("20", "e^20 = 4.9e8"),
            ("1000", "e^1000 = more than 10^300"),
        ] {
            assert_eq!(factor(epsilon), said);
        }
        for epsilon in 1..600 {
            let epsilon = f64::from(epsilon) / 10.0;
            let said = factor(&format!("{epsilon:.1}"));
            let read: f64 = said.rsplit(' ').next().unwrap().parse().unwrap();
            assert!(read >= epsilon.exp() && read <= epsilon.exp() * 1.11, "{said}");
        }
    }

    #[test]
    fn the_sentence_speaks_of_odds_or_with_a_delta_of_conclusions() {
        let pure = surer(&promise("2.1", "0", "row", "add-remove"));
        assert_eq!(
            pure,
            "Whoever knows all other records and sees this can become at most e^2.1 = 8.2 times surer that one row is in the \
             data, or that it is not: odds change by at most that factor, in either direction."
        );
        let person = surer(&promise("1", "1/1000000", "id", "replace"));
        assert_eq!(
            person,
            "Whatever anybody concludes from this, they conclude it at most e^1 = 2.8 times as often where one person (all rows \
             with the same 'id') has these values as where it has any others, plus a probability of 0.000001; and the other way \
             round."
        );
    }

    /// Randomised response at this epsilon reaches the factor: odds of one to one become e^epsilon to one, never more, while a
    /// probability of a half becomes less than twice as much. So the words may say odds, and may not say probability.
    #[test]
    fn odds_change_by_the_factor_and_probabilities_do_not() {
        let epsilon: f64 = 2.1;
        let truth = epsilon.exp() / (1.0 + epsilon.exp());
        for prior in [0.001, 0.5, 0.9] {
            let posterior = prior * truth / (prior * truth + (1.0 - prior) * (1.0 - truth));
            let odds = |share: f64| share / (1.0 - share);
            let change = odds(posterior) / odds(prior);
            assert!((change - epsilon.exp()).abs() < 1e-9);
            assert!(posterior / prior < epsilon.exp());
        }
    }
}
