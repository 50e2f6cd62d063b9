//! The constants of a predicate, in the whole numbers that the type of their column has inside.
//!
//! A column of a whole type is compared as those numbers: days with days, units of the last digit with the same units. What is
//! compared with it must be such a value, so that no comparison is ever between unlike things.

use crate::{
    error::PlanError,
    facts::DataFacts,
    field::{boolean::boolean, number},
    source::ColumnType,
    statistic::Argument,
    types::Types,
};
use equipoise_core::{ratio::Ratio, wording};
use equipoise_expression::{Constant, Predicate, Side};

/// What is known of columns by name.
pub(super) struct Known<'a> {
    pub facts: &'a DataFacts,
    pub types: &'a Types,
    /// The condition as it was typed.
    pub typed: &'a str,
}

impl Known<'_> {
    /// The type by which a column is read in a predicate: the declared one, or days, moments and yes or no by the schema.
    /// Numbers of a schema are read as their constants say.
    pub fn kind(&self, name: &str) -> Option<ColumnType> {
        let column = self.facts.columns.iter().position(|column| column == name)?;
        let schema = |kind: &ColumnType| kind.is_time() || *kind == ColumnType::Boolean;
        self.types.said(column).or_else(|| self.types.of(column).filter(schema))
    }

    /// The same predicate with the constants of columns of whole types as whole numbers.
    pub fn typed(&self, predicate: Predicate) -> Result<Predicate, PlanError> {
        let all = |parts: Vec<Predicate>| -> Result<Vec<Predicate>, PlanError> {
            parts.into_iter().map(|part| self.typed(part)).collect()
        };
        Ok(match predicate {
            Predicate::And(parts) => Predicate::And(all(parts)?),
            Predicate::Or(parts) => Predicate::Or(all(parts)?),
            Predicate::Not(inner) => Predicate::Not(Box::new(self.typed(*inner)?)),
            Predicate::In(name, constants) => {
                let constants = constants.into_iter().map(|constant| self.constant(&name, constant));
                let constants = constants.collect::<Result<_, _>>()?;
                Predicate::In(name, constants)
            }
            Predicate::Between(name, low, high) => {
                let (low, high) = (self.constant(&name, low)?, self.constant(&name, high)?);
                Predicate::Between(name, low, high)
            }
            Predicate::Compare(left, comparison, right) => {
                let (left, right) = self.sides(left, right)?;
                Predicate::Compare(left, comparison, right)
            }
            null @ Predicate::IsNull(_) => null,
        })
    }

    fn sides(&self, left: Side, right: Side) -> Result<(Side, Side), PlanError> {
        let left = self.yes_or_no(left, &right);
        let right = self.yes_or_no(right, &left);
        Ok(match (left, right) {
            (Side::Column(name), Side::Constant(constant)) => {
                let constant = self.constant(&name, constant)?;
                (Side::Column(name), Side::Constant(constant))
            }
            (Side::Constant(constant), Side::Column(name)) => {
                let constant = self.constant(&name, constant)?;
                (Side::Constant(constant), Side::Column(name))
            }
            (Side::Column(left), Side::Column(right)) => {
                self.alike(&left, &right)?;
                (Side::Column(left), Side::Column(right))
            }
            constants => constants,
        })
    }

    /// Beside a column of yes or no, the word `true` or `no` is a constant unless a column has that name.
    fn yes_or_no(&self, side: Side, other: &Side) -> Side {
        match (side, other) {
            (Side::Column(word), Side::Column(column))
                if self.kind(column) == Some(ColumnType::Boolean) && !self.facts.columns.contains(&word) =>
            {
                match boolean(word.as_bytes()) {
                    Some(whole) => Side::Constant(Constant::Whole(whole)),
                    None => Side::Column(word),
                }
            }
            (side, _) => side,
        }
    }

    /// Two columns that are compared have one type, or both hold plain numbers.
    fn alike(&self, left: &str, right: &str) -> Result<(), PlanError> {
        let kinds = [self.kind(left), self.kind(right)];
        let plain = |kind: Option<ColumnType>| {
            matches!(kind, None | Some(ColumnType::Float | ColumnType::Integer | ColumnType::Boolean))
        };
        if kinds[0] == kinds[1] || kinds.into_iter().all(plain) {
            return Ok(());
        }
        let [one, other] =
            kinds.map(|kind| kind.map_or("of no declared type".to_string(), |kind| kind.to_string()));
        let (left, right) = (wording::shown(left), wording::shown(right));
        Err(PlanError::about(Argument::Where, format!("`where`: '{left}' is {one} and '{right}' is {other}"))
            .hint("declare one type for both with `types`"))
    }

    /// A constant that a column is compared with.
    fn constant(&self, name: &str, constant: Constant) -> Result<Constant, PlanError> {
        let Some(kind) = self.kind(name).filter(|kind| kind.is_whole()) else {
            return self.plain(name, constant);
        };
        let found = match (kind, &constant) {
            (ColumnType::Decimal { .. }, Constant::Text(text)) => {
                text.trim().parse().ok().map(|number| scaled(number, kind))
            }
            (ColumnType::Decimal { .. }, Constant::Whole(whole)) => Some(scaled(Ratio::from(*whole), kind)),
            // The shortest text of a float is what was typed.
            (ColumnType::Decimal { .. }, Constant::Real(real)) => {
                real.to_string().parse().ok().map(|number| scaled(number, kind))
            }
            (ColumnType::Integer, Constant::Whole(_) | Constant::Real(_))
            | (ColumnType::Boolean, Constant::Whole(0 | 1)) => Some(constant.clone()),
            (_, Constant::Text(text)) => kind.read(text).map(Constant::Whole),
            _ => None,
        };
        found.ok_or_else(|| {
            let shown = match &constant {
                Constant::Text(text) => wording::shown(text),
                Constant::Whole(whole) => whole.to_string(),
                Constant::Real(real) => real.to_string(),
            };
            let example = match kind {
                ColumnType::Date => "2026-01-31",
                ColumnType::Timestamp => "2026-01-31T12:30:00Z",
                ColumnType::Boolean => "true or false",
                _ => "a number",
            };
            let name = wording::shown(name);
            PlanError::about(
                Argument::Where,
                format!("`where`: column '{name}' is of the type {kind}, which {shown} is not"),
            )
            .hint(format!("write {example}"))
        })
    }

    /// A constant that a column of no whole type is compared with: a text beside a column of numbers is read as one, and a number beside
    /// a column of texts is like none of them.
    fn plain(&self, name: &str, constant: Constant) -> Result<Constant, PlanError> {
        let column = self.facts.columns.iter().position(|column| column == name);
        let declared = column.and_then(|column| self.declared(column));
        if declared == Some(ColumnType::Text) && !matches!(constant, Constant::Text(_)) {
            return Err(self.number_beside_text(name, &constant));
        }
        let kind = column.and_then(|column| self.types.of(column)).filter(|kind| *kind != ColumnType::Text);
        let (Some(kind), Constant::Text(text)) = (kind, &constant) else {
            return self.unambiguous(name, constant);
        };
        let real = Some(number::float(text.as_bytes())).filter(|real| real.is_finite()).map(Constant::Real);
        number::integer(text.as_bytes()).map(Constant::Whole).or(real).ok_or_else(|| {
            let (name, text) = (wording::shown(name), wording::shown(text));
            PlanError::about(
                Argument::Where,
                format!("`where`: column '{name}' is of the type {kind}, which {text} is not"),
            )
            .hint("write a number")
        })
    }
}

impl Known<'_> {
    /// What words or the schema say that a column holds.
    fn declared(&self, column: usize) -> Option<ColumnType> {
        self.types.said(column).or_else(|| self.facts.kind(column))
    }

    fn number_beside_text(&self, name: &str, constant: &Constant) -> PlanError {
        let (name, number) = (wording::shown(name), constant.to_string());
        let problem = format!("`where`: column '{name}' holds texts, and {number} is a number");
        let once = self.typed.matches(&number).count() == 1;
        let meant = once.then(|| self.typed.replacen(&number, &format!("'{number}'"), 1));
        let hint = format!(
            "write '{number}' to compare texts, or declare `types={name}=number` to read numbers in it"
        );
        PlanError::about(Argument::Where, problem).hint(hint).meaning(Argument::Where, meant)
    }

    /// What digits in quotes mean nobody can know where nothing declares what a column holds: `delay > '60'` would compare texts, in which
    /// 9 comes after 60.
    fn unambiguous(&self, name: &str, constant: Constant) -> Result<Constant, PlanError> {
        let column = self.facts.columns.iter().position(|column| column == name);
        match &constant {
            Constant::Text(text)
                if column.is_some_and(|column| self.declared(column).is_none())
                    && number::float(text.as_bytes()).is_finite() =>
            {
                let (name, text) = (wording::shown(name), wording::shown(text.trim()));
                let problem = format!(
                    "`where`: '{text}' is a number in quotes, and nothing declares whether '{name}' holds numbers or texts"
                );
                let quoted = format!("'{text}'");
                let once = self.typed.matches(&quoted).count() == 1;
                let meant = once.then(|| self.typed.replacen(&quoted, &text, 1));
                let hint = format!(
                    "write {text} to compare numbers, or `types={name}=text` and '{text}' to compare texts"
                );
                Err(PlanError::about(Argument::Where, problem).hint(hint).meaning(Argument::Where, meant))
            }
            _ => Ok(constant),
        }
    }
}

/// A number in units of a type. What lies between two units stays between them, and what is beyond 64 bits beyond all.
fn scaled(number: Ratio, kind: ColumnType) -> Constant {
    let units = number * &Ratio::from(kind.units());
    match (units.floor_i64(), units.ceil_i64()) {
        (Some(floor), Some(ceil)) if floor == ceil => Constant::Whole(floor),
        (Some(floor), Some(_)) => Constant::Real(floor as f64 + 0.5),
        _ if units.is_negative() => Constant::Real(f64::MIN),
        _ => Constant::Real(f64::MAX),
    }
}
