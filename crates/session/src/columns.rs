//! Columns by name.

use equipoise_core::wording;
use equipoise_expression::Expression;
pub use equipoise_expression::TABLE as FUNCTIONS;
use std::fmt;

/// The place of the one column with this name, or one line that says what there is: which of two is meant nobody can know.
pub fn place(columns: &[String], name: &str) -> Result<usize, UnknownColumn> {
    let is_it = |&place: &usize| columns[place] == name && !name.starts_with(UNNAMED);
    let mut places = (0..columns.len()).filter(is_it);
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (found, _) => {
            let named = columns.iter().filter(|column| !column.starts_with(UNNAMED));
            let columns: Vec<String> = named.cloned().collect();
            Err(UnknownColumn {
                typed: name.to_string(),
                several: found.is_some(),
                nearest: wording::nearest_of(name, &columns).map(str::to_string),
                hint: wording::nearest(name, &columns),
                more: columns.len().saturating_sub(LISTED),
                columns: columns.into_iter().take(LISTED).collect(),
            })
        }
    }
}

/// What the names of columns begin with that questions have and nobody names; a column of a file whose name begins so cannot be asked about.
pub(crate) const UNNAMED: char = '\0';

/// The same for what somebody typed: a name as it stands, or between `"` or backticks.
pub(crate) fn named(columns: &[String], typed: &str) -> Result<usize, UnknownColumn> {
    match place(columns, typed) {
        Err(error) if !error.several => match Expression::quoted_name(typed) {
            Some(name) => place(columns, &name),
            None => Err(error),
        },
        found => found,
    }
}

/// How many names an error lists.
const LISTED: usize = 8;

/// No column has this name, or more than one. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownColumn {
    /// What was typed.
    pub typed: String,
    /// Is it the name of more than one column?
    pub several: bool,
    /// What was probably meant, and in words.
    nearest: Option<String>,
    hint: String,
    /// The first columns there are.
    pub columns: Vec<String>,
    /// How many more there are.
    pub more: usize,
}

impl fmt::Display for UnknownColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (problem, hint) = self.parts();
        f.write_str(&wording::with_hint(&problem, &hint))
    }
}

impl UnknownColumn {
    /// The name that was probably meant.
    pub(crate) fn nearest(&self) -> Option<&str> {
        self.nearest.as_deref().filter(|_| !self.several)
    }

    /// What is wrong, and what there is.
    pub fn parts(&self) -> (String, String) {
        let typed = wording::shown(&self.typed);
        if self.several {
            let problem = format!("more than one column is called '{typed}'");
            return (problem, "give each a name of its own".to_string());
        }
        let names: Vec<String> = self.columns.iter().map(|name| wording::shown(name)).collect();
        let more = if self.more > 0 { format!(" and {} more", self.more) } else { String::new() };
        let (problem, meant) = wording::and_nearest(&format!("no column is called '{typed}'"), &self.hint);
        (problem, format!("{meant}There are: {}{more}", names.join(", ")))
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
            ("pay\n", format!("no column is called 'pay\\u{{a}}'. There are: {listed} and 2 more")),
        ];
        for (typed, line) in table {
            assert_eq!(place(&columns, typed).expect_err("no such column").to_string(), line);
        }
    }

    #[test]
    fn which_of_two_columns_of_one_name_is_meant_is_not_guessed() {
        let columns = ["pay", "age", "pay"].map(String::from);
        assert_eq!(place(&columns, "age"), Ok(1));
        let line = "more than one column is called 'pay'; give each a name of its own";
        assert_eq!(place(&columns, "pay").expect_err("two").to_string(), line);
    }
}
