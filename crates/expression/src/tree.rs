//! What was written, as a tree: before anybody knows which columns there are.

use crate::{Comparison, Constant, Type, functions::Function};
use std::fmt;

/// An expression as it was written. `Display` is its one spelling: equal trees have equal texts.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The byte of the text at which it begins.
    pub at: usize,
    /// How deep it is nested, one for a column or a constant.
    pub(crate) depth: usize,
    /// How many steps it has.
    pub(crate) size: usize,
    /// What it is.
    pub node: Node,
}

/// One step of an expression.
#[derive(Clone, Debug)]
pub enum Node {
    /// A column by name.
    Column(String),
    /// A constant.
    Constant(Constant),
    /// No value.
    Null,
    /// The opposite number.
    Negative(Box<Expression>),
    /// Two numbers, or days, make a third.
    Arithmetic(Box<Expression>, Operator, Box<Expression>),
    /// A comparison.
    Compare(Box<Expression>, Comparison, Box<Expression>),
    /// All of them.
    And(Vec<Expression>),
    /// At least one of them.
    Or(Vec<Expression>),
    /// The opposite.
    Not(Box<Expression>),
    /// There is no value.
    IsNull(Box<Expression>),
    /// One of these constants.
    In(Box<Expression>, Vec<Expression>),
    /// Between both, ends included.
    Between(Box<Expression>, Box<Expression>, Box<Expression>),
    /// A text that fits a pattern, in which `%` stands for any characters and `_` for one.
    Like(Box<Expression>, String),
    /// The value beside the first condition that is true.
    Case(Vec<(Expression, Expression)>, Option<Box<Expression>>),
    /// The same as another type.
    Cast(Box<Expression>, Type),
    /// A function.
    Call(Function, Vec<Expression>),
}

/// What two numbers are made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// +
    Plus,
    /// -
    Minus,
    /// *
    Times,
    /// /
    Over,
    /// %
    Modulo,
}

impl Operator {
    /// How it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Over => "/",
            Self::Modulo => "%",
        }
    }
}

impl Expression {
    /// The column, where it is nothing but one.
    pub fn as_column(&self) -> Option<&str> {
        match &self.node {
            Node::Column(name) => Some(name),
            _ => None,
        }
    }

    /// The constant, where it is nothing but one.
    pub fn as_constant(&self) -> Option<&Constant> {
        match &self.node {
            Node::Constant(constant) => Some(constant),
            _ => None,
        }
    }

    /// What stands directly inside, in the order in which it was written.
    pub(crate) fn children(&self) -> Vec<&Expression> {
        match &self.node {
            Node::Column(_) | Node::Constant(_) | Node::Null => Vec::new(),
            Node::Negative(one)
            | Node::Not(one)
            | Node::IsNull(one)
            | Node::Like(one, _)
            | Node::Cast(one, _) => {
                vec![one]
            }
            Node::Arithmetic(left, _, right) | Node::Compare(left, _, right) => vec![left, right],
            Node::And(parts) | Node::Or(parts) | Node::Call(_, parts) => parts.iter().collect(),
            Node::In(one, list) => std::iter::once(&**one).chain(list).collect(),
            Node::Between(one, low, high) => vec![one, low, high],
            Node::Case(branches, other) => {
                let branches = branches.iter().flat_map(|(condition, value)| [condition, value]);
                branches.chain(other.as_deref()).collect()
            }
        }
    }

    /// The names that stand where columns do, in order and perhaps more than once.
    pub fn names(&self) -> Vec<&str> {
        match self.as_column() {
            Some(name) => vec![name],
            None => self.children().into_iter().flat_map(Expression::names).collect(),
        }
    }

    /// The same with a constant wherever a name stands.
    #[must_use]
    pub fn with_constant(&self, name: &str, constant: &Constant) -> Self {
        let one = |part: &Self| Box::new(part.with_constant(name, constant));
        let all = |parts: &[Self]| parts.iter().map(|part| part.with_constant(name, constant)).collect();
        let node = match &self.node {
            Node::Column(column) if column == name => Node::Constant(constant.clone()),
            Node::Column(_) | Node::Constant(_) | Node::Null => self.node.clone(),
            Node::Negative(part) => Node::Negative(one(part)),
            Node::Not(part) => Node::Not(one(part)),
            Node::IsNull(part) => Node::IsNull(one(part)),
            Node::Like(part, pattern) => Node::Like(one(part), pattern.clone()),
            Node::Cast(part, kind) => Node::Cast(one(part), *kind),
            Node::Arithmetic(left, operator, right) => Node::Arithmetic(one(left), *operator, one(right)),
            Node::Compare(left, comparison, right) => Node::Compare(one(left), *comparison, one(right)),
            Node::And(parts) => Node::And(all(parts)),
            Node::Or(parts) => Node::Or(all(parts)),
            Node::Call(function, parts) => Node::Call(*function, all(parts)),
            Node::In(part, list) => Node::In(one(part), all(list)),
            Node::Between(part, low, high) => Node::Between(one(part), one(low), one(high)),
            Node::Case(branches, other) => {
                let branch = |(condition, value): &(Self, Self)| (*one(condition), *one(value));
                Node::Case(branches.iter().map(branch).collect(), other.as_deref().map(one))
            }
        };
        Self { node, ..self.clone() }
    }

    /// Between which numbers it lies whatever the columns hold, as far as constants, cases and plain arithmetic tell; what is null lies
    /// anywhere.
    pub fn ends(&self) -> Option<(f64, f64)> {
        let hull = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        match &self.node {
            Node::Constant(Constant::Whole(number)) => Some((*number as f64, *number as f64)),
            Node::Constant(Constant::Real(number)) => Some((*number, *number)),
            Node::Negative(part) => part.ends().map(|(low, high)| (-high, -low)),
            Node::Case(branches, other) => {
                let values = branches.iter().map(|(_, value)| value).chain(other.as_deref());
                let values = values.filter(|value| !matches!(value.node, Node::Null));
                let ends: Vec<(f64, f64)> = values.map(Self::ends).collect::<Option<_>>()?;
                ends.into_iter().reduce(hull)
            }
            Node::Arithmetic(left, operator, right) => {
                let (a, b) = (left.ends()?, right.ends()?);
                let corners = |of: fn(f64, f64) -> f64| {
                    let all = [of(a.0, b.0), of(a.0, b.1), of(a.1, b.0), of(a.1, b.1)];
                    all.into_iter().map(|one| (one, one)).reduce(hull)
                };
                match operator {
                    Operator::Plus => corners(|a, b| a + b),
                    Operator::Minus => corners(|a, b| a - b),
                    Operator::Times => corners(|a, b| a * b),
                    Operator::Over | Operator::Modulo => None,
                }
            }
            _ => None,
        }
        .filter(|(low, high)| low.is_finite() && high.is_finite())
    }

    /// How closely it holds together, as the grammar has it.
    fn power(&self) -> u8 {
        match &self.node {
            Node::Or(_) => 1,
            Node::And(_) => 2,
            Node::Not(_) => 3,
            Node::Compare(..) | Node::IsNull(_) | Node::In(..) | Node::Between(..) | Node::Like(..) => 4,
            Node::Call(Function::Join, _) => 5,
            Node::Arithmetic(_, Operator::Plus | Operator::Minus, _) => 6,
            Node::Arithmetic(..) => 7,
            Node::Negative(_) => 8,
            _ => 9,
        }
    }

    /// In parentheses where it would fall apart beside something that holds so closely.
    fn beside(&self, power: u8) -> String {
        if self.power() < power { format!("({self})") } else { self.to_string() }
    }
}

fn joined(parts: &[Expression], between: &str, power: u8) -> String {
    parts.iter().map(|part| part.beside(power)).collect::<Vec<_>>().join(between)
}

/// Is a name read as a column wherever it stands without quotes?
fn is_plain(name: &str) -> bool {
    let mut characters = name.chars();
    let word = characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|c| c.is_alphanumeric() || c == '_');
    word && !crate::parse::is_reserved(name)
}

fn quoted(text: &str, quote: char) -> String {
    let doubled = format!("{quote}{quote}");
    format!("{quote}{}{quote}", text.replace(quote, &doubled))
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            Node::Column(name) if is_plain(name) => f.write_str(name),
            Node::Column(name) => f.write_str(&quoted(name, '"')),
            Node::Constant(constant) => write!(f, "{constant}"),
            Node::Null => f.write_str("null"),
            Node::Negative(one) => write!(f, "-{}", one.beside(9)),
            Node::Arithmetic(left, operator, right) => {
                let power = self.power();
                write!(f, "{} {} {}", left.beside(power), operator.sign(), right.beside(power + 1))
            }
            Node::Compare(left, comparison, right) => {
                write!(f, "{} {} {}", left.beside(5), comparison.sign(), right.beside(5))
            }
            Node::And(parts) => f.write_str(&joined(parts, " and ", 3)),
            Node::Or(parts) => f.write_str(&joined(parts, " or ", 2)),
            Node::Not(one) => write!(f, "not {}", one.beside(4)),
            Node::IsNull(one) => write!(f, "{} is null", one.beside(5)),
            Node::In(one, list) => write!(f, "{} in ({})", one.beside(5), joined(list, ", ", 0)),
            Node::Between(one, low, high) => {
                write!(f, "{} between {} and {}", one.beside(5), low.beside(5), high.beside(5))
            }
            Node::Like(one, pattern) => write!(f, "{} like {}", one.beside(5), quoted(pattern, '\'')),
            Node::Case(branches, other) => {
                f.write_str("case")?;
                for (condition, value) in branches {
                    write!(f, " when {condition} then {value}")?;
                }
                if let Some(other) = other {
                    write!(f, " else {other}")?;
                }
                f.write_str(" end")
            }
            Node::Cast(one, kind) => write!(f, "cast({one} as {kind})"),
            Node::Call(Function::Join, parts) => f.write_str(&joined(parts, " || ", 6)),
            Node::Call(function, parts) => write!(f, "{}({})", function.name(), joined(parts, ", ", 0)),
        }
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(value) => write!(f, "{value}"),
            // Always with a point or an exponent, so that it is never read as a whole number.
            Self::Real(value) => write!(f, "{value:?}"),
            Self::Text(text) => f.write_str(&quoted(text, '\'')),
        }
    }
}
