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

/// A text of ours, as one line without characters that command a terminal.
pub fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// "; did you mean '…'?" where one of the names is at most two slips away, however it is capitalised, else "."
pub fn nearest<N: AsRef<str>>(typed: &str, names: &[N]) -> String {
    let typed = typed.to_lowercase();
    let slips = |name: &&str| edit_distance(&typed, &name.to_lowercase());
    match names.iter().map(AsRef::as_ref).min_by_key(slips) {
        // Not a name that shares nothing with a short word.
        Some(name) if slips(&name) <= 2.min(typed.chars().count().saturating_sub(1)) => {
            format!("; did you mean '{}'?", shown(name))
        }
        _ => ".".to_string(),
    }
}

/// Insertions, deletions and substitutions of characters; names differ early or not at all.
fn edit_distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 60;
    let b: Vec<char> = b.chars().take(LONGEST).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(LONGEST).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
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

    #[test]
    fn the_nearest_name_is_at_most_two_slips_away() {
        let names = ["salary", "city", "x"];
        let table = [
            ("salary", Some("salary")),
            ("slary", Some("salary")),
            ("SALARY", Some("salary")),
            ("celery", None),
            ("ciyt", Some("city")),
            ("", None),
            ("y", None),
            ("xy", Some("x")),
        ];
        for (typed, name) in table {
            let hint = name.map_or(".".to_string(), |name| format!("; did you mean '{name}'?"));
            assert_eq!(nearest(typed, &names), hint, "{typed}");
        }
        assert_eq!(nearest::<&str>("salary", &[]), ".");
    }
}
