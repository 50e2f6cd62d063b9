//! What text is a yes or a no.

use super::number::trimmed;

/// 1 for `true`, `yes`, `t`, `y` and `1`; 0 for `false`, `no`, `f`, `n` and `0`; in any case, with spaces and tabs around.
/// Nothing else is either.
pub fn boolean(field: &[u8]) -> Option<i64> {
    let text = trimmed(field);
    let is_one_of = |words: [&str; 5]| words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()));
    if is_one_of(["true", "yes", "t", "y", "1"]) {
        Some(1)
    } else if is_one_of(["false", "no", "f", "n", "0"]) {
        Some(0)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_by_hand() {
        for text in ["true", "TRUE", " Yes\t", "t", "Y", "1"] {
            assert_eq!(boolean(text.as_bytes()), Some(1), "{text}");
        }
        for text in ["false", "False", "NO", "f", "n ", "0"] {
            assert_eq!(boolean(text.as_bytes()), Some(0), "{text}");
        }
        for text in ["", " ", "2", "-1", "1.0", "on", "off", "tru", "truee", "ja", "\u{ff11}"] {
            assert_eq!(boolean(text.as_bytes()), None, "{text}");
        }
    }
}
