//! What a declared type of SQLite means. Its cells may hold anything all the same.

use crate::columnar::decimal_kind;
use equipoise_session::source::Kind;

/// The kind that fits best, `None` where nothing was declared. Days, moments, yes and no, and decimals by the names that people give
/// them, which SQLite has no types for; the rest by SQLite's own rules of affinity.
pub(super) fn kind(declared: &str) -> Option<Kind> {
    let declared = declared.trim().to_ascii_uppercase();
    let name = declared.split('(').next().unwrap_or_default().trim();
    match name {
        "" | "BLOB" | "ANY" => return None,
        "DATE" => return Some(Kind::Date),
        "DATETIME" | "TIMESTAMP" | "TIMESTAMPTZ" => return Some(Kind::Timestamp),
        "BOOL" | "BOOLEAN" => return Some(Kind::Boolean),
        "DECIMAL" | "NUMERIC" | "NUMBER" => return Some(decimal(&declared)),
        _ => {}
    }
    let has = |part: &str| declared.contains(part);
    if has("INT") {
        Some(Kind::Integer)
    } else if has("CHAR") || has("CLOB") || has("TEXT") || has("UUID") {
        Some(Kind::Text)
    } else if has("BLOB") {
        None
    } else {
        // REAL, FLOAT, DOUBLE, and what SQLite calls numeric because it knows no better.
        (has("REAL") || has("FLOA") || has("DOUB")).then_some(Kind::Float)
    }
}

/// `DECIMAL(10,2)`: so many digits, so many of them after the point. Without both it is any number.
fn decimal(declared: &str) -> Kind {
    let inner = declared.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(inner, _)| inner);
    let sizes = inner.and_then(|inner| inner.split_once(','));
    let sizes = sizes
        .and_then(|(precision, scale)| Some((precision.trim().parse().ok()?, scale.trim().parse().ok()?)));
    sizes.map_or(Kind::Float, |(precision, scale)| decimal_kind(precision, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_by_hand() {
        let table = [
            ("INTEGER", Some(Kind::Integer)),
            ("unsigned big int", Some(Kind::Integer)),
            ("REAL", Some(Kind::Float)),
            ("double precision", Some(Kind::Float)),
            ("TEXT", Some(Kind::Text)),
            ("varchar(30)", Some(Kind::Text)),
            ("DECIMAL(10, 2)", Some(Kind::Decimal { digits: 2 })),
            ("NUMERIC(38,18)", Some(Kind::Decimal { digits: 6 })),
            ("NUMERIC", Some(Kind::Float)),
            ("DECIMAL(10)", Some(Kind::Float)),
            ("date", Some(Kind::Date)),
            ("DATETIME", Some(Kind::Timestamp)),
            ("TIMESTAMP(3)", Some(Kind::Timestamp)),
            ("BOOLEAN", Some(Kind::Boolean)),
            ("BLOB", None),
            ("", None),
            ("WHATEVER", None),
        ];
        for (declared, expected) in table {
            assert_eq!(kind(declared), expected, "{declared}");
        }
    }
}
