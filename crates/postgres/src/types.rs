//! What a type of Postgres is read as, from the catalogue alone. docs/databases.md has the same table, and a test holds it to this one.

use equipoise_engine::reading::{Meaning, decimal_kind};
use equipoise_session::source::ColumnType;

/// How the cells of a column come over the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Bool,
    Int2,
    Int4,
    Int8,
    Oid,
    Float4,
    Float8,
    Numeric,
    Day,
    Moment,
    /// Of any length.
    Text,
    /// Labels and names, which are short.
    Label,
    Uuid,
    /// Never read.
    Nothing,
}

/// A column as the catalogue has it, behind all domains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    /// The name of the type, and of its schema.
    pub schema: String,
    pub name: String,
    pub modifier: i32,
    pub is_enum: bool,
    /// Are texts equal only where their bytes are?
    pub deterministic: bool,
    /// Are texts stored as UTF-8, or as whatever bytes they came as?
    pub utf8: bool,
}

/// How cells come, and what they are; in words why they cannot be read.
pub(crate) fn meaning(declared: &Declared) -> (Wire, Result<Meaning, String>) {
    let readable = |kind| Ok(Meaning::Readable(Some(kind)));
    let text = |wire| {
        if !declared.deterministic {
            // Who counts people by such a column would count one person twice.
            (wire, Err("texts under a collation for which different texts are equal".to_string()))
        } else if !declared.utf8 {
            (wire, Err("texts of a database whose encoding is not UTF-8".to_string()))
        } else {
            (wire, readable(ColumnType::Text))
        }
    };
    if declared.is_enum {
        return text(Wire::Label);
    }
    let name = if declared.schema == "pg_catalog" { declared.name.as_str() } else { "" };
    match name {
        "bool" => (Wire::Bool, readable(ColumnType::Boolean)),
        "int2" => (Wire::Int2, readable(ColumnType::Integer)),
        "int4" => (Wire::Int4, readable(ColumnType::Integer)),
        "int8" => (Wire::Int8, readable(ColumnType::Integer)),
        "oid" => (Wire::Oid, readable(ColumnType::Integer)),
        "float4" => (Wire::Float4, readable(ColumnType::Float)),
        "float8" => (Wire::Float8, readable(ColumnType::Float)),
        "numeric" => (Wire::Numeric, readable(numeric(declared.modifier))),
        "date" => (Wire::Day, readable(ColumnType::Date)),
        "timestamp" | "timestamptz" => (Wire::Moment, readable(ColumnType::Timestamp)),
        "text" | "varchar" | "bpchar" => text(Wire::Text),
        "name" => text(Wire::Label),
        "uuid" => (Wire::Uuid, Ok(Meaning::Texts)),
        _ => (Wire::Nothing, Err(format!("values of the type '{}'", declared.name))),
    }
}

/// `numeric(precision, scale)`: digits in all and behind the point. Without them, or with more than decimals of 64 bits have room for
/// behind the point, it is any number.
fn numeric(modifier: i32) -> ColumnType {
    const MOST_DIGITS: i32 = 18;
    if modifier < 4 {
        return ColumnType::Float;
    }
    let precision = ((modifier - 4) >> 16) & 0xffff;
    // Eleven bits with a sign.
    let scale = (((modifier - 4) & 0x7ff) ^ 1024) - 1024;
    match (u8::try_from(precision.min(255)), i8::try_from(scale.max(-1))) {
        (Ok(precision), Ok(scale)) if i32::from(scale) <= MOST_DIGITS => decimal_kind(precision, scale),
        _ => ColumnType::Float,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_of_numeric_by_hand() {
        let modifier = |precision: i32, scale: i32| ((precision << 16) | (scale & 0x7ff)) + 4;
        for (precision, scale, kind) in [
            (9, 2, ColumnType::Decimal { digits: 2 }),
            (18, 18, ColumnType::Decimal { digits: 18 }),
            (38, 10, ColumnType::Decimal { digits: 6 }),
            (1000, 2, ColumnType::Decimal { digits: 2 }),
            (10, 0, ColumnType::Integer),
            (3, -3, ColumnType::Integer),
            (3, -1000, ColumnType::Integer),
            (3, 19, ColumnType::Float),
            (3, 1000, ColumnType::Float),
        ] {
            assert_eq!(numeric(modifier(precision, scale)), kind, "numeric({precision}, {scale})");
        }
        assert_eq!(numeric(-1), ColumnType::Float);
    }
}
