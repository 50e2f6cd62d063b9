//! Which type each column has: what a request declares, else what the schema does. Rows are never looked at.

use crate::{
    columns,
    error::PlanError,
    facts::DataFacts,
    kind::NAMES,
    need::Need,
    request::Request,
    source::{ColumnRead, ColumnType},
    statistic::Argument,
};
use equipoise_core::wording;
use std::collections::BTreeMap;

/// The types of columns by their places.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types {
    said: BTreeMap<usize, ColumnType>,
    schema: Vec<Option<ColumnType>>,
}

impl Types {
    /// From `--type COLUMN=TYPE` and the schema.
    pub fn plan(request: &Request, facts: &DataFacts) -> Result<Self, PlanError> {
        let mut said = BTreeMap::new();
        for (name, word) in &request.types {
            let wrong = |error: PlanError| error.within_argument(Argument::Types);
            let column = columns::place(&facts.columns, name)
                .map_err(|error| wrong(PlanError::no_column(Argument::Types, &error)))?;
            let kind =
                ColumnType::named(word).ok_or_else(|| wrong(PlanError::unknown("type", word, &NAMES)))?;
            if let Some(schema) = facts.kind(column).filter(|&schema| !can_read(schema, kind)) {
                let name = wording::shown(name);
                let problem =
                    format!("the column '{name}' is of the type {schema} and cannot be read as {kind}");
                return Err(wrong(PlanError::line(problem).hint("leave it out")));
            }
            said.insert(column, kind);
        }
        Ok(Self { said, schema: facts.kinds.clone() })
    }

    /// The type of a column: declared, or by the schema; nothing where neither says more than text.
    pub fn of(&self, column: usize) -> Option<ColumnType> {
        let schema = || self.schema.get(column).copied().flatten().filter(|&kind| kind != ColumnType::Text);
        self.said.get(&column).copied().or_else(schema)
    }

    /// The type that was declared in words.
    pub fn said(&self, column: usize) -> Option<ColumnType> {
        self.said.get(&column).copied()
    }

    /// How the values of a column are read where they are keys. A file with a schema writes each value in one way only,
    /// so its texts are keys; what was declared about texts is read by that, so that `1.5` and `1.50` are one key.
    pub fn key(&self, column: usize) -> ColumnRead {
        let kind = self.said(column).filter(|kind| kind.is_whole()).unwrap_or(ColumnType::Text);
        ColumnRead { column, kind }
    }

    /// How the values of a column are read where they are numbers.
    pub fn numbers(&self, column: usize) -> Need {
        match self.of(column) {
            Some(kind) if kind.is_whole() => Need::Wholes(ColumnRead { column, kind }),
            _ => Need::Floats(column),
        }
    }
}

/// Can cells of a column of one type be read as another? Text can be anything.
pub(crate) fn can_read(schema: ColumnType, kind: ColumnType) -> bool {
    match (schema, kind) {
        (ColumnType::Text, _)
        | (_, ColumnType::Text)
        | (ColumnType::Date | ColumnType::Timestamp, ColumnType::Timestamp) => true,
        (ColumnType::Date, kind) => kind == ColumnType::Date,
        (ColumnType::Timestamp, _) => false,
        (_, kind) => !kind.is_time(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types(words: &[(&str, &str)]) -> Result<Types, PlanError> {
        let columns = ["hired", "pay", "member", "town"].map(String::from).to_vec();
        let kinds = vec![Some(ColumnType::Date), Some(ColumnType::Float), None, Some(ColumnType::Text)];
        let facts = DataFacts { name: "people".into(), columns, registered: None, kinds, windows: None };
        let types = words.iter().map(|(name, word)| (name.to_string(), word.to_string())).collect();
        Types::plan(&Request { types, ..Request::new("count") }, &facts)
    }

    #[test]
    fn words_come_before_the_schema() {
        let none = types(&[]).unwrap();
        let all = |types: &Types| [0, 1, 2, 3].map(|column| types.of(column));
        assert_eq!(all(&none), [Some(ColumnType::Date), Some(ColumnType::Float), None, None]);
        let cents = ColumnType::Decimal { digits: 2 };
        let said = types(&[("hired", "timestamp"), ("pay", "decimal:2"), ("town", "integer")]).unwrap();
        assert_eq!(all(&said), [Some(ColumnType::Timestamp), Some(cents), None, Some(ColumnType::Integer)]);
        assert_eq!(none.key(0).kind, ColumnType::Text);
        assert_eq!(said.key(1).kind, cents);
        assert_eq!((none.numbers(1), none.numbers(2)), (Need::Floats(1), Need::Floats(2)));
        assert_eq!(none.numbers(0), Need::Wholes(ColumnRead { column: 0, kind: ColumnType::Date }));
    }

    #[test]
    fn what_cannot_be_is_one_line() {
        for (name, word, said) in [
            ("hire", "date", "`types`: no column is called 'hire'; did you mean 'hired'?"),
            ("hired", "day", "`types`: no type is called 'day'"),
            ("pay", "decimal:40", "`types`: no type is called 'decimal:40'; did you mean 'decimal:2'?"),
            (
                "hired",
                "number",
                "`types`: the column 'hired' is of the type date and cannot be read as number",
            ),
            ("pay", "date", "cannot be read as date"),
        ] {
            let error = types(&[(name, word)]).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains('\n'), "{error}");
        }
    }
}
