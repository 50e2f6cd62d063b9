//! What a declared type of SQLite means. Its cells may hold anything all the same.

use crate::columnar::decimal_kind;
use equipoise_session::source::ColumnType;

/// The kind that fits best, `None` where nothing was declared. Days, moments, yes and no, and decimals by the names that people give
/// them, which SQLite has no types for; the rest by SQLite's own rules of affinity.
pub(super) fn kind(declared: &str) -> Option<ColumnType> {
    let declared = declared.trim().to_ascii_uppercase();
    let name = declared.split('(').next().unwrap_or_default().trim();
    match name {
        "" | "BLOB" | "ANY" => return None,
        "DATE" => return Some(ColumnType::Date),
        "DATETIME" | "TIMESTAMP" | "TIMESTAMPTZ" => return Some(ColumnType::Timestamp),
        "BOOL" | "BOOLEAN" => return Some(ColumnType::Boolean),
        "DECIMAL" | "NUMERIC" | "NUMBER" => return Some(decimal(&declared)),
        _ => {}
    }
    let has = |part: &str| declared.contains(part);
    if has("INT") {
        Some(ColumnType::Integer)
    } else if has("CHAR") || has("CLOB") || has("TEXT") || has("UUID") {
        Some(ColumnType::Text)
    } else if has("BLOB") {
        None
    } else {
        // REAL, FLOAT, DOUBLE, and what SQLite calls numeric because it knows no better.
        (has("REAL") || has("FLOA") || has("DOUB")).then_some(ColumnType::Float)
    }
}

/// `DECIMAL(10,2)`: so many digits, so many of them after the point. Without both it is any number.
fn decimal(declared: &str) -> ColumnType {
    let inner = declared.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(inner, _)| inner);
    let sizes = inner.and_then(|inner| inner.split_once(','));
    let sizes = sizes
        .and_then(|(precision, scale)| Some((precision.trim().parse().ok()?, scale.trim().parse().ok()?)));
    sizes.map_or(ColumnType::Float, |(precision, scale)| decimal_kind(precision, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_by_hand() {
        let table = [
            ("INTEGER", Some(ColumnType::Integer)),
            ("unsigned big int", Some(ColumnType::Integer)),
            ("REAL", Some(ColumnType::Float)),
            ("double precision", Some(ColumnType::Float)),
            ("TEXT", Some(ColumnType::Text)),
            ("varchar(30)", Some(ColumnType::Text)),
            ("DECIMAL(10, 2)", Some(ColumnType::Decimal { digits: 2 })),
            ("NUMERIC(38,18)", Some(ColumnType::Decimal { digits: 6 })),
            ("NUMERIC", Some(ColumnType::Float)),
            ("DECIMAL(10)", Some(ColumnType::Float)),
            ("date", Some(ColumnType::Date)),
            ("DATETIME", Some(ColumnType::Timestamp)),
            ("TIMESTAMP(3)", Some(ColumnType::Timestamp)),
            ("BOOLEAN", Some(ColumnType::Boolean)),
            ("BLOB", None),
            ("", None),
            ("WHATEVER", None),
        ];
        for (declared, expected) in table {
            assert_eq!(kind(declared), expected, "{declared}");
        }
    }
}
