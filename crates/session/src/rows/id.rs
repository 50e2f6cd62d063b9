//! One canonical form of an id, by a written rule.
//!
//! The id of a record is its field as text, without the ASCII whitespace (space, tab, line feed, form feed, carriage return)
//! around it, byte for byte otherwise: `7` and `07`, `Ann` and `ann` are different people. A field that is empty then is no id, and
//! its record is dropped.
//!
//! Two spellings of one person are two people to the guarantee, so the rule is public and simple enough to be applied to a
//! file beforehand. It does nothing that depends on other records.

/// The canonical id; `None` where there is none.
pub(crate) fn canonical(field: Option<&str>) -> Option<&str> {
    field.map(str::trim_ascii).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_their_bytes_without_ascii_space_around_them() {
        for (field, id) in [
            (None, None),
            (Some(""), None),
            (Some(" \t\r"), None),
            (Some(" 7\t"), Some("7")),
            (Some("07"), Some("07")),
            (Some("Ann B"), Some("Ann B")),
            (Some("\u{a0}7"), Some("\u{a0}7")),
        ] {
            assert_eq!(canonical(field), id, "{field:?}");
        }
    }
}
