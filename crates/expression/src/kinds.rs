//! What kind each column of a predicate is, where no schema says so: its constants do.

use crate::{
    bind::Kind,
    predicate::{Constant, Predicate, Side},
};
use std::collections::BTreeMap;

impl Predicate {
    /// The columns that are named, each with the kind that its constants give it; rows are never looked at.
    ///
    /// Text makes it text. Numbers make it floats, or whole numbers where a whole constant is beyond 2^53, which floats
    /// cannot tell apart; columns that are compared with each other only are floats too. A column that is only asked
    /// whether it is null is text.
    pub fn columns(&self) -> BTreeMap<&str, Kind> {
        let mut found = BTreeMap::new();
        note_all(self, &mut found);
        let kind = |sign| match sign {
            Sign::Nothing | Sign::Text => Kind::Text,
            Sign::Number => Kind::Real,
            Sign::Large => Kind::Whole,
        };
        found.into_iter().map(|(name, sign)| (name, kind(sign))).collect()
    }
}

/// What constants say of a column, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    Nothing,
    Number,
    Large,
    Text,
}

fn note_all<'a>(predicate: &'a Predicate, found: &mut BTreeMap<&'a str, Sign>) {
    let mut note = |name: &'a str, sign: Sign| {
        let known = found.entry(name).or_insert(Sign::Nothing);
        *known = (*known).max(sign);
    };
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().for_each(|part| note_all(part, found)),
        Predicate::Not(inner) => note_all(inner, found),
        Predicate::IsNull(name) => note(name, Sign::Nothing),
        Predicate::In(name, constants) => constants.iter().for_each(|constant| note(name, sign_of(constant))),
        Predicate::Between(name, low, high) => {
            note(name, sign_of(low));
            note(name, sign_of(high));
        }
        Predicate::Compare(left, _, right) => {
            for (side, other) in [(left, right), (right, left)] {
                match (side, other) {
                    (Side::Column(name), Side::Constant(constant)) => note(name, sign_of(constant)),
                    (Side::Column(name), Side::Column(_)) => note(name, Sign::Number),
                    (Side::Constant(_), _) => {}
                }
            }
        }
    }
}

fn sign_of(constant: &Constant) -> Sign {
    match constant {
        Constant::Text(_) => Sign::Text,
        Constant::Whole(value) if value.unsigned_abs() > 1 << 53 => Sign::Large,
        Constant::Whole(_) | Constant::Real(_) => Sign::Number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_give_columns_their_kinds() {
        let text =
            "age > 3 and town = 'Ayr' and id in (9007199254740993, 1) and not (pay < age or note is null)";
        let predicate = Predicate::parse(text).unwrap();
        let kinds: Vec<(&str, Kind)> = predicate.columns().into_iter().collect();
        assert_eq!(
            kinds,
            [
                ("age", Kind::Real),
                ("id", Kind::Whole),
                ("note", Kind::Text),
                ("pay", Kind::Real),
                ("town", Kind::Text)
            ]
        );
        let unlike = Predicate::parse("town = 'Ayr' or 3 = town").unwrap();
        assert_eq!(unlike.columns()["town"], Kind::Text);
        assert!(unlike.bind(|_| Some((0, Kind::Text))).is_err(), "binding says what is wrong");
    }
}
