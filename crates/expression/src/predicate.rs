//! Conditions about columns and constants alone: the part of an expression that is compared without computing anything.

use crate::{
    ExpressionError,
    tree::{Expression, Node},
};

/// A yes-or-no question about one record, as it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// All of them.
    And(Vec<Predicate>),
    /// At least one of them.
    Or(Vec<Predicate>),
    /// The opposite.
    Not(Box<Predicate>),
    /// A comparison.
    Compare(Side, Comparison, Side),
    /// The column has one of these values.
    In(String, Vec<Constant>),
    /// The column lies between both, ends included.
    Between(String, Constant, Constant),
    /// The column has no value.
    IsNull(String),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// =
    Equal,
    /// <> or !=
    Unequal,
    /// <
    Below,
    /// <=
    AtMost,
    /// >
    Above,
    /// >=
    AtLeast,
}

impl Comparison {
    /// How it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "<>",
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        }
    }
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Side {
    /// A column by name.
    Column(String),
    /// A constant.
    Constant(Constant),
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// A whole number.
    Whole(i64),
    /// Any other number, as the nearest float.
    Real(f64),
    /// Text.
    Text(String),
}

impl Predicate {
    /// Read a predicate such as `age >= 18 and country in ('CH', 'AT')`, which computes nothing.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let refuse = |leaf: &Expression| {
            Err(ExpressionError::new(format!("{} is not a comparison", crate::shown(&leaf.to_string())))
                .hint("compare columns with constants or columns, as in age >= 18")
                .at(leaf.at))
        };
        Self::of(&Expression::parse(text)?, &mut |leaf| refuse(leaf))
    }

    /// The predicate that an expression is. What computes something is handed to `compute`, which says what stands for it.
    pub fn of<E>(
        expression: &Expression,
        compute: &mut impl FnMut(&Expression) -> Result<Self, E>,
    ) -> Result<Self, E> {
        let mut all = |parts: &[Expression]| -> Result<Vec<Self>, E> {
            parts.iter().map(|part| Self::of(part, compute)).collect()
        };
        match &expression.node {
            Node::And(parts) => Ok(Self::And(all(parts)?)),
            Node::Or(parts) => Ok(Self::Or(all(parts)?)),
            Node::Not(inner) => Ok(Self::Not(Box::new(Self::of(inner, compute)?))),
            _ => plain(expression).map_or_else(|| compute(expression), Ok),
        }
    }
}

/// A condition about columns and constants.
fn plain(expression: &Expression) -> Option<Predicate> {
    let column = |one: &Expression| one.as_column().map(str::to_string);
    let constant = |one: &Expression| one.as_constant().cloned();
    let side = |one: &Expression| column(one).map(Side::Column).or_else(|| constant(one).map(Side::Constant));
    Some(match &expression.node {
        Node::Compare(left, comparison, right) => Predicate::Compare(side(left)?, *comparison, side(right)?),
        Node::In(one, list) => Predicate::In(column(one)?, list.iter().map(constant).collect::<Option<_>>()?),
        Node::Between(one, low, high) => Predicate::Between(column(one)?, constant(low)?, constant(high)?),
        Node::IsNull(one) => Predicate::IsNull(column(one)?),
        _ => return None,
    })
}
