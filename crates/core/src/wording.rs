//! What was typed, made fit for one line of an error message.

/// The first characters of a text, without any that could break the line or command a terminal.
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut characters = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let mut short: String = characters.by_ref().take(LONGEST).collect();
    if characters.next().is_some() {
        short = short.chars().take(LONGEST - 3).chain("...".chars()).collect();
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_length_are_tamed() {
        assert_eq!(shown("0.5"), "0.5");
        assert_eq!(shown("a\nb\u{1b}[31m"), "a\u{fffd}b\u{fffd}[31m");
        assert_eq!(shown(&"9".repeat(41)), format!("{}...", "9".repeat(37)));
        assert_eq!(shown(&"9".repeat(40)).len(), 40);
    }
}
