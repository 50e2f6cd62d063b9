//! A predicate meets the columns of a data set: names become places, constants take the kind of their column.

use crate::{
    ExpressionError,
    predicate::{Comparison, Constant, Predicate, Side},
    shown,
};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers of 64 bits.
    Whole,
    /// Floats.
    Real,
    /// Text.
    Text,
}

impl Kind {
    fn is_number(self) -> bool {
        self != Self::Text
    }

    fn name(self) -> &'static str {
        if self.is_number() { "numbers" } else { "text" }
    }
}

/// A predicate whose columns are known: it can be evaluated, and cannot fail.
///
/// Negations are pushed down to the conditions, where a null makes either form not true; so one bit for each record
/// is enough for the three-valued logic of SQL.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// All of them.
    And(Vec<Question>),
    /// At least one of them.
    Or(Vec<Question>),
    /// Always this, on every record.
    Always(bool),
    /// The value of a column passes a test, which no null does.
    Test(usize, Test),
    /// Two columns that compare so; neither is null.
    Columns(usize, Comparison, usize),
    /// The column is null, or, where false, is not.
    Null(usize, bool),
    /// The answer that was computed already, as bits at this place.
    Computed(usize),
}

/// A test of one value.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Whole numbers from the first to the last, or all others where false; none where the first exceeds the last.
    Whole(i64, i64, bool),
    /// Floats in the sorted ranges, ends included where true; or all others where false.
    Real(Comparison, f64),
    /// Text that compares so with this.
    Text(Comparison, String),
    /// One of these floats, sorted.
    RealIn(Vec<f64>, bool),
    /// One of these whole numbers, sorted.
    WholeIn(Vec<i64>, bool),
    /// One of these texts, sorted.
    TextIn(Vec<String>, bool),
}

impl Comparison {
    /// What holds where this does not.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Equal => Self::Unequal,
            Self::Unequal => Self::Equal,
            Self::Below => Self::AtLeast,
            Self::AtLeast => Self::Below,
            Self::Above => Self::AtMost,
            Self::AtMost => Self::Above,
        }
    }

    /// The same with both sides exchanged.
    #[must_use]
    pub fn mirrored(self) -> Self {
        match self {
            Self::Below => Self::Above,
            Self::Above => Self::Below,
            Self::AtMost => Self::AtLeast,
            Self::AtLeast => Self::AtMost,
            same => same,
        }
    }

    /// Does it hold for values in this order?
    pub fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }
}

impl Predicate {
    /// Find the columns: `lookup` gives the place and the kind of a name, or nothing. Errors are one line.
    pub fn bind(&self, lookup: impl Fn(&str) -> Option<(usize, Kind)>) -> Result<Question, ExpressionError> {
        bind(self, false, &|name: &str| {
            lookup(name).ok_or_else(|| ExpressionError::new(format!("no column is called '{}'", shown(name))))
        })
    }
}

type Lookup<'a> = &'a dyn Fn(&str) -> Result<(usize, Kind), ExpressionError>;

fn bind(predicate: &Predicate, negated: bool, lookup: Lookup<'_>) -> Result<Question, ExpressionError> {
    let all = |parts: &[Predicate]| -> Result<Vec<Question>, ExpressionError> {
        parts.iter().map(|part| bind(part, negated, lookup)).collect()
    };
    Ok(match predicate {
        Predicate::And(parts) if !negated => Question::And(all(parts)?),
        Predicate::Or(parts) if negated => Question::And(all(parts)?),
        Predicate::And(parts) | Predicate::Or(parts) => Question::Or(all(parts)?),
        Predicate::Not(inner) => bind(inner, !negated, lookup)?,
        Predicate::IsNull(name) => Question::Null(lookup(name)?.0, !negated),
        Predicate::In(name, constants) => within(lookup(name)?, name, constants, !negated)?,
        Predicate::Between(name, low, high) => {
            let column = lookup(name)?;
            let [from, to] =
                [(Comparison::AtLeast, low), (Comparison::AtMost, high)].map(|(comparison, end)| {
                    compare(column, name, if negated { comparison.negated() } else { comparison }, end)
                });
            if negated { Question::Or(vec![from?, to?]) } else { Question::And(vec![from?, to?]) }
        }
        Predicate::Compare(left, comparison, right) => {
            let comparison = if negated { comparison.negated() } else { *comparison };
            match (left, right) {
                (Side::Column(name), Side::Constant(constant)) => {
                    compare(lookup(name)?, name, comparison, constant)?
                }
                (Side::Constant(constant), Side::Column(name)) => {
                    compare(lookup(name)?, name, comparison.mirrored(), constant)?
                }
                (Side::Column(left), Side::Column(right)) => {
                    let ((a, kind), (b, other)) = (lookup(left)?, lookup(right)?);
                    if kind.is_number() != other.is_number() {
                        return Err(ExpressionError::new(format!(
                            "column '{}' holds {} and column '{}' holds {}; compare like with like",
                            shown(left),
                            kind.name(),
                            shown(right),
                            other.name()
                        )));
                    }
                    Question::Columns(a, comparison, b)
                }
                (Side::Constant(left), Side::Constant(right)) => {
                    let order = order_of(left, right).ok_or_else(|| {
                        ExpressionError::new(
                            "a number and a text are compared; compare like with like".to_string(),
                        )
                    })?;
                    Question::Always(comparison.holds(order))
                }
            }
        }
    })
}

fn unlike(kind: Kind, name: &str) -> ExpressionError {
    let write = if kind.is_number() { "a number" } else { "text between ' and '" };
    ExpressionError::new(format!("column '{}' holds {}; compare it with {write}", shown(name), kind.name()))
}

fn compare(
    (column, kind): (usize, Kind),
    name: &str,
    comparison: Comparison,
    constant: &Constant,
) -> Result<Question, ExpressionError> {
    let test = against(kind, comparison, constant).ok_or_else(|| unlike(kind, name))?;
    Ok(Question::Test(column, test))
}

/// The test that values of a kind pass which compare so with a constant; none where they cannot be compared.
pub(crate) fn against(kind: Kind, comparison: Comparison, constant: &Constant) -> Option<Test> {
    Some(match (kind, constant) {
        (Kind::Text, Constant::Text(text)) => Test::Text(comparison, text.clone()),
        (Kind::Real, Constant::Real(value)) => Test::Real(comparison, *value),
        (Kind::Real, Constant::Whole(value)) => real_against(comparison, *value),
        (Kind::Whole, Constant::Whole(value)) => whole(comparison, *value),
        (Kind::Whole, Constant::Real(value)) => whole_against(comparison, *value),
        _ => return None,
    })
}

/// The whole numbers that compare so.
fn whole(comparison: Comparison, value: i64) -> Test {
    let none = Test::Whole(1, 0, true);
    match comparison {
        Comparison::Equal => Test::Whole(value, value, true),
        Comparison::Unequal => Test::Whole(value, value, false),
        Comparison::AtMost => Test::Whole(i64::MIN, value, true),
        Comparison::AtLeast => Test::Whole(value, i64::MAX, true),
        Comparison::Below => value.checked_sub(1).map_or(none, |last| Test::Whole(i64::MIN, last, true)),
        Comparison::Above => value.checked_add(1).map_or(none, |first| Test::Whole(first, i64::MAX, true)),
    }
}

/// The whole numbers that compare so with a finite float.
#[expect(
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    reason = "within 64 bits; whole or not, exactly"
)]
fn whole_against(comparison: Comparison, value: f64) -> Test {
    const END: f64 = 9_223_372_036_854_775_808.0;
    if !(-END..END).contains(&value) {
        // Every whole number is below, or every one above.
        let order = if value > 0.0 { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater };
        let (first, last) = if comparison.holds(order) { (i64::MIN, i64::MAX) } else { (1, 0) };
        return Test::Whole(first, last, true);
    }
    let floor = value.floor();
    if floor == value {
        return whole(comparison, floor as i64);
    }
    match comparison {
        Comparison::Equal => Test::Whole(1, 0, true),
        Comparison::Unequal => Test::Whole(1, 0, false),
        Comparison::Below | Comparison::AtMost => whole(Comparison::AtMost, floor as i64),
        Comparison::Above | Comparison::AtLeast => whole(Comparison::Above, floor as i64),
    }
}

/// The floats that compare so with a whole number, which need not be a float itself.
fn real_against(comparison: Comparison, value: i64) -> Test {
    let near = value as f64;
    match compare_exactly(value, near) {
        std::cmp::Ordering::Equal => Test::Real(comparison, near),
        // No float lies between the two, so one of them can stand for the other.
        order => match comparison {
            Comparison::Equal => Test::RealIn(Vec::new(), true),
            Comparison::Unequal => Test::RealIn(Vec::new(), false),
            Comparison::Below | Comparison::AtMost => {
                Test::Real(if order.is_gt() { Comparison::AtMost } else { Comparison::Below }, near)
            }
            Comparison::Above | Comparison::AtLeast => {
                Test::Real(if order.is_lt() { Comparison::AtLeast } else { Comparison::Above }, near)
            }
        },
    }
}

/// A whole number and a float that is not NaN, as the numbers that they are.
#[expect(clippy::cast_possible_truncation, reason = "a float within 2^64 has a whole part within 128 bits")]
pub(crate) fn compare_exactly(whole: i64, real: f64) -> std::cmp::Ordering {
    if real.abs() >= 2e19 {
        return 0.0.partial_cmp(&real).unwrap_or(std::cmp::Ordering::Equal);
    }
    let floor = real.floor();
    let order = i128::from(whole).cmp(&(floor as i128));
    if order.is_eq() && real > floor { std::cmp::Ordering::Less } else { order }
}

fn order_of(left: &Constant, right: &Constant) -> Option<std::cmp::Ordering> {
    match (left, right) {
        (Constant::Whole(a), Constant::Whole(b)) => Some(a.cmp(b)),
        (Constant::Real(a), Constant::Real(b)) => a.partial_cmp(b),
        (Constant::Whole(a), Constant::Real(b)) => Some(compare_exactly(*a, *b)),
        (Constant::Real(a), Constant::Whole(b)) => Some(compare_exactly(*b, *a).reverse()),
        (Constant::Text(a), Constant::Text(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// A list may mix whole numbers and others; each keeps those that its column can hold.
fn within(
    (column, kind): (usize, Kind),
    name: &str,
    constants: &[Constant],
    inside: bool,
) -> Result<Question, ExpressionError> {
    let test = among(kind, constants, inside).ok_or_else(|| unlike(kind, name))?;
    Ok(Question::Test(column, test))
}

/// The test that values of a kind pass which are one of these constants, or none of them; nothing where they cannot be compared.
pub(crate) fn among(kind: Kind, constants: &[Constant], inside: bool) -> Option<Test> {
    let (mut wholes, mut reals, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for constant in constants {
        match against(kind, Comparison::Equal, constant)? {
            Test::Whole(first, last, true) if first == last => wholes.push(first),
            Test::Real(_, value) => reals.push(value),
            Test::Text(_, text) => texts.push(text),
            // No value of the column equals it.
            _ => {}
        }
    }
    wholes.sort_unstable();
    reals.sort_unstable_by(f64::total_cmp);
    texts.sort_unstable();
    Some(match kind {
        Kind::Whole => Test::WholeIn(wholes, inside),
        Kind::Real => Test::RealIn(reals, inside),
        Kind::Text => Test::TextIn(texts, inside),
    })
}
