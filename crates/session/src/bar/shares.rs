//! Shares as people read them: JSON has 0.081, words and pictures have 8.1 %.

use super::ErrorBar;
use serde_json::{Value, json};

/// What answers are that are shares.
pub const SHARE: &str = "share";
/// What stands behind an answer in percent.
pub const PERCENT: &str = " %";

/// A share in percent.
pub fn hundredfold(share: &Value) -> Value {
    share.as_f64().map_or(share.clone(), |share| json!(100.0 * share))
}

/// The bar of a share in percent.
pub fn hundredfold_bar(error: ErrorBar) -> ErrorBar {
    error.map_ends(|end| hundredfold(&end))
}

/// A bar in words, whose ends are shares: a sign behind each of them.
pub fn with_signs(words: &str) -> String {
    let Some((before, ends)) = words.split_once(" between ") else { return words.to_string() };
    match ends.split_once(" and ").and_then(|(low, rest)| Some((low, rest.split_once(' ')?))) {
        Some((low, (high, rest))) => format!("{before} between {low}{PERCENT} and {high}{PERCENT} {rest}"),
        None => words.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_have_a_sign_each() {
        let bar = hundredfold_bar(ErrorBar::noise(0.95, 0.25, 0.5));
        assert_eq!(
            with_signs(&bar.words(&hundredfold(&json!(0.375)))),
            "the true value lies between 25 % and 50 % (95 % confidence)"
        );
        assert_eq!(with_signs("within 3 ranks of the true one"), "within 3 ranks of the true one");
    }
}
