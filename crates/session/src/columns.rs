//! Columns by name.

use equipoise_core::wording;
use std::fmt;

/// The place of a column among the names, or one line that says what there is.
pub fn place(columns: &[String], name: &str) -> Result<usize, UnknownColumn> {
    columns.iter().position(|column| column == name).ok_or_else(|| UnknownColumn {
        typed: name.to_string(),
        hint: wording::nearest(name, columns),
        columns: columns.iter().take(LISTED).cloned().collect(),
        more: columns.len().saturating_sub(LISTED),
    })
}

/// How many names an error lists.
const LISTED: usize = 8;

/// No column has this name. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownColumn {
    /// What was typed.
    pub typed: String,
    /// What was probably meant, in words.
    hint: String,
    /// The first columns there are.
    pub columns: Vec<String>,
    /// How many more there are.
    pub more: usize,
}

impl fmt::Display for UnknownColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no column is called '{}'{}", wording::shown(&self.typed), self.hint)?;
        let names: Vec<String> = self.columns.iter().map(|name| wording::shown(name)).collect();
        write!(f, " There are: {}", names.join(", "))?;
        if self.more > 0 {
            write!(f, " and {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownColumn {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_found_by_its_name_or_the_nearest_is_suggested() {
        let columns: Vec<String> = (1..=10).map(|k| format!("column {k}")).collect();
        assert_eq!(place(&columns, "column 3"), Ok(2));
        let listed = "column 1, column 2, column 3, column 4, column 5, column 6, column 7, column 8";
        let table = [
            (
                "colum 3",
                format!(
                    "no column is called 'colum 3'; did you mean 'column 3'? There are: {listed} and 2 more"
                ),
            ),
            ("pay\n", format!("no column is called 'pay\u{fffd}'. There are: {listed} and 2 more")),
        ];
        for (typed, line) in table {
            assert_eq!(place(&columns, typed).expect_err("no such column").to_string(), line);
        }
    }
}
