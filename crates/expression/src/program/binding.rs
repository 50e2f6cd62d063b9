//! An expression meets the columns of a data set: names become places, constants take the types of what they stand beside, and every
//! step has a type. Rows are never looked at.
//!
//! A column of no declared type is read as what it is used for: as a number beside numbers, as text where texts are due, as a moment
//! where its month is asked for. Two such columns that are compared are numbers.

use super::{Known, Step, What, casts, times::Unit};
use crate::{
    Comparison, Constant, ExpressionError, Function, Kind, Operator, Type,
    bind::{against, among},
    field::{boolean::boolean, calendar, number},
    shown,
    tree::{Expression, Node},
};

/// What is known of the type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guess {
    /// It has this type.
    Known(Type),
    /// A text between quotes, which may also be a day or a yes.
    Literal,
    /// A column of no declared type.
    Unknown,
    /// Null, which is of any type.
    Null,
}

impl Guess {
    /// How much it says.
    fn says(self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Unknown => 1,
            Self::Literal => 2,
            Self::Known(_) => 3,
        }
    }
}

type Bound = Result<Step, ExpressionError>;

pub(super) struct Binder<'l> {
    lookup: &'l dyn Fn(&str) -> Option<Known>,
    reads: Vec<(usize, Type)>,
    /// What was read when the same expression was bound before.
    before: Vec<(usize, Type)>,
}

impl<'l> Binder<'l> {
    pub fn new(lookup: &'l dyn Fn(&str) -> Option<Known>, before: Vec<(usize, Type)>) -> Self {
        Self { lookup, reads: Vec::new(), before }
    }

    pub fn into_reads(self) -> Vec<(usize, Type)> {
        self.reads
    }

    /// The expression in its own type, or in the wanted one where it has none.
    pub fn natural(&mut self, expression: &Expression, wanted: Type) -> Bound {
        match self.guess(expression)? {
            Guess::Known(kind) => self.bind(expression, kind),
            Guess::Literal => self.bind(expression, Type::Text),
            Guess::Unknown | Guess::Null => self.bind(expression, wanted),
        }
    }

    /// The expression as this type, which it must have or lead to without a loss.
    pub fn bind(&mut self, expression: &Expression, wanted: Type) -> Bound {
        let step = self.step(expression, wanted)?.folded();
        if matches!(step.what, What::Null) {
            return Ok(Step::null(wanted));
        }
        match (step.kind, wanted) {
            (kind, wanted) if kind == wanted => Ok(step),
            (Type::Integer, Type::Float) | (Type::Date, Type::Timestamp) => {
                Ok(Step::new(wanted, What::Cast(Box::new(step))).folded())
            }
            (kind, wanted) => Err(mismatch(expression, kind, wanted)),
        }
    }

    fn column(&self, name: &str, at: usize) -> Result<Known, ExpressionError> {
        (self.lookup)(name).ok_or_else(|| {
            ExpressionError::new(format!("no column is called '{}'", shown(name)))
                .hint("text stands between single quotes, 'like this'")
                .at(at)
        })
    }

    /// `true` and `false` are constants unless columns have these names.
    fn truth(&self, name: &str) -> Option<bool> {
        let word = ["false", "true"].iter().position(|word| name.eq_ignore_ascii_case(word))?;
        (self.lookup)(name).is_none().then_some(word == 1)
    }

    fn guess(&self, expression: &Expression) -> Result<Guess, ExpressionError> {
        Ok(match &expression.node {
            Node::Column(name) if self.truth(name).is_some() => Guess::Known(Type::Boolean),
            Node::Column(name) => self.column(name, expression.at)?.kind.map_or(Guess::Unknown, Guess::Known),
            Node::Constant(Constant::Whole(_)) => Guess::Known(Type::Integer),
            Node::Constant(Constant::Real(_)) => Guess::Known(Type::Float),
            Node::Constant(Constant::Text(_)) => Guess::Literal,
            Node::Null => Guess::Null,
            Node::Negative(one) => Guess::Known(self.number(one)?),
            Node::Arithmetic(left, operator, right) => {
                Guess::Known(self.arithmetic(expression, left, *operator, right)?.kind)
            }
            Node::Compare(..)
            | Node::And(_)
            | Node::Or(_)
            | Node::Not(_)
            | Node::IsNull(_)
            | Node::In(..)
            | Node::Between(..)
            | Node::Like(..) => Guess::Known(Type::Boolean),
            Node::Case(branches, other) => {
                let values = branches.iter().map(|(_, value)| value).chain(other.as_deref());
                self.common(&values.collect::<Vec<_>>())?
            }
            Node::Cast(_, kind) => Guess::Known(*kind),
            Node::Call(function, arguments) => self.guess_call(*function, arguments)?,
        })
    }

    fn guess_call(&self, function: Function, arguments: &[Expression]) -> Result<Guess, ExpressionError> {
        let all = arguments.iter().collect::<Vec<_>>();
        Ok(Guess::Known(match function {
            Function::Abs | Function::Floor | Function::Ceil | Function::Round => self.number(all[0])?,
            Function::Ln | Function::Exp | Function::Sqrt => Type::Float,
            Function::Coalesce | Function::Nullif => return self.common(&all),
            Function::Least | Function::Greatest => match self.common(&all)? {
                Guess::Known(kind) => kind,
                Guess::Literal => Type::Text,
                Guess::Unknown | Guess::Null => Type::Float,
            },
            // The reader makes a case of it.
            Function::If => return self.common(&all[1..]),
            Function::Lower | Function::Upper | Function::Substr | Function::Concat | Function::Join => {
                Type::Text
            }
            Function::Length
            | Function::Year
            | Function::Month
            | Function::Day
            | Function::Weekday
            | Function::Hour => Type::Integer,
            Function::DateTrunc => unit(all[0])?.kind(),
        }))
    }

    /// The one type of several values.
    fn common(&self, values: &[&Expression]) -> Result<Guess, ExpressionError> {
        let mut all = Guess::Null;
        for value in values {
            all = match (all, self.guess(value)?) {
                (one, other) if one == other => one,
                // A whole constant does not make a column of no declared type one of whole numbers.
                (Guess::Unknown, Guess::Known(Type::Integer))
                | (Guess::Known(Type::Integer), Guess::Unknown) => Guess::Known(Type::Float),
                (Guess::Known(one), Guess::Known(other)) => match (one, other) {
                    (one, other) if one.is_number() && other.is_number() => Guess::Known(Type::Float),
                    (Type::Date, Type::Timestamp) | (Type::Timestamp, Type::Date) => {
                        Guess::Known(Type::Timestamp)
                    }
                    (one, other) => return Err(unlike(one, other, value.at)),
                },
                (one, other) if one.says() >= other.says() => one,
                (_, other) => other,
            };
        }
        Ok(all)
    }

    /// Float or integer; an error for what is no number.
    fn number(&self, expression: &Expression) -> Result<Type, ExpressionError> {
        match self.guess(expression)? {
            Guess::Known(Type::Integer) => Ok(Type::Integer),
            Guess::Known(Type::Float) | Guess::Unknown | Guess::Null => Ok(Type::Float),
            Guess::Known(kind) => Err(mismatch(expression, kind, Type::Float)),
            Guess::Literal => Err(mismatch(expression, Type::Text, Type::Float)),
        }
    }

    fn step(&mut self, expression: &Expression, wanted: Type) -> Bound {
        let boolean = |what| Ok(Step::new(Type::Boolean, what));
        match &expression.node {
            Node::Column(name) => match self.truth(name) {
                Some(value) => boolean(What::Truth(value)),
                None => self.read(name, expression.at, wanted),
            },
            Node::Constant(constant) => literal(constant, wanted, expression.at),
            Node::Null => Ok(Step::null(wanted)),
            Node::Negative(one) => {
                let kind = self.number(one)?;
                Ok(Step::new(kind, What::Negative(Box::new(self.bind(one, kind)?))))
            }
            Node::Arithmetic(left, operator, right) => self.compute(expression, left, *operator, right),
            Node::Compare(left, comparison, right) => self.compare(left, *comparison, right),
            Node::And(parts) => boolean(What::And(self.conditions(parts)?)),
            Node::Or(parts) => boolean(What::Or(self.conditions(parts)?)),
            Node::Not(one) => boolean(What::Not(Box::new(self.bind(one, Type::Boolean)?))),
            Node::IsNull(one) => {
                let elsewhere = self.read_elsewhere(one)?;
                boolean(What::IsNull(Box::new(self.natural(one, elsewhere)?)))
            }
            Node::In(one, list) => self.within(one, list),
            Node::Between(one, low, high) => self.between(one, low, high),
            Node::Like(one, pattern) => boolean(What::Like(self.text(one)?, pattern.as_str().into())),
            Node::Case(branches, other) => {
                let values = branches.iter().map(|(_, value)| value).chain(other.as_deref());
                let kind = self.resolved(&values.collect::<Vec<_>>(), wanted)?;
                let mut bound = Vec::new();
                for (condition, value) in branches {
                    bound.push((self.bind(condition, Type::Boolean)?, self.bind(value, kind)?));
                }
                let other = other.as_ref().map_or(Ok(Step::null(kind)), |other| self.bind(other, kind))?;
                Ok(Step::new(kind, What::Case(bound, Box::new(other))))
            }
            Node::Cast(one, kind) => self.cast(expression, one, *kind),
            Node::Call(function, arguments) => self.call(expression, *function, arguments, wanted),
        }
    }

    /// A column, read as its own type or, where it has none, as the wanted one.
    fn read(&mut self, name: &str, at: usize, wanted: Type) -> Bound {
        let Known { place, kind: declared, by_schema } = self.column(name, at)?;
        let kind = match (declared.unwrap_or(wanted), wanted) {
            // The source reads it so, without a step in between.
            (Type::Integer, Type::Float) if by_schema => Type::Float,
            (Type::Date, Type::Timestamp) if by_schema => Type::Timestamp,
            (kind, _) => kind,
        };
        let read = (place, kind);
        let known = self.reads.iter().position(|&other| other == read);
        let input = known.unwrap_or_else(|| {
            self.reads.push(read);
            self.reads.len() - 1
        });
        Ok(Step::new(kind, What::Input(input)))
    }

    /// What a column is read as elsewhere in the expression, so that a field that is no number is null everywhere or nowhere.
    fn read_elsewhere(&self, expression: &Expression) -> Result<Type, ExpressionError> {
        let Node::Column(name) = &expression.node else { return Ok(Type::Text) };
        if self.truth(name).is_some() {
            return Ok(Type::Text);
        }
        let place = self.column(name, expression.at)?.place;
        let read = self.before.iter().find(|&&(other, kind)| other == place && kind != Type::Text);
        Ok(read.map_or(Type::Text, |&(_, kind)| kind))
    }

    fn conditions(&mut self, parts: &[Expression]) -> Result<Vec<Step>, ExpressionError> {
        parts.iter().map(|part| self.bind(part, Type::Boolean)).collect()
    }

    /// A text, not something that could be made one.
    fn text(&mut self, expression: &Expression) -> Result<Box<Step>, ExpressionError> {
        Ok(Box::new(self.bind(expression, Type::Text)?))
    }

    /// The common type of values, or the wanted one where nothing declares it.
    fn resolved(&self, values: &[&Expression], wanted: Type) -> Result<Type, ExpressionError> {
        Ok(match self.common(values)? {
            Guess::Known(kind) => kind,
            Guess::Literal => Type::Text,
            Guess::Unknown | Guess::Null => wanted,
        })
    }

    /// Which types both sides of an operator have, and what becomes of them.
    fn arithmetic(
        &self,
        whole: &Expression,
        left: &Expression,
        operator: Operator,
        right: &Expression,
    ) -> Result<Rule, ExpressionError> {
        let (one, other) = (self.guess(left)?, self.guess(right)?);
        let known = |guess: Guess| match guess {
            Guess::Known(kind) => Some(kind),
            Guess::Literal => Some(Type::Text),
            Guess::Unknown | Guess::Null => None,
        };
        let rule = |left, right, kind| Ok(Rule { left, right, kind });
        let plus_or_minus = matches!(operator, Operator::Plus | Operator::Minus);
        match (known(one), known(other)) {
            (Some(Type::Date), Some(Type::Integer)) if plus_or_minus => {
                rule(Type::Date, Type::Integer, Type::Date)
            }
            (Some(Type::Integer), Some(Type::Date)) if operator == Operator::Plus => {
                rule(Type::Integer, Type::Date, Type::Date)
            }
            // A text beside a day or moment is one, and so is a column of no declared type.
            (Some(Type::Date), Some(Type::Date | Type::Text) | None)
            | (Some(Type::Text) | None, Some(Type::Date))
                if operator == Operator::Minus =>
            {
                rule(Type::Date, Type::Date, Type::Integer)
            }
            (Some(Type::Timestamp), Some(Type::Timestamp | Type::Date | Type::Text) | None)
            | (Some(Type::Date | Type::Text) | None, Some(Type::Timestamp))
                if operator == Operator::Minus =>
            {
                rule(Type::Timestamp, Type::Timestamp, Type::Float)
            }
            (Some(kind), _) if !kind.is_number() => Err(not_computed(left, kind, whole, operator)),
            (_, Some(kind)) if !kind.is_number() => Err(not_computed(right, kind, whole, operator)),
            (Some(Type::Integer), Some(Type::Integer)) if operator != Operator::Over => {
                rule(Type::Integer, Type::Integer, Type::Integer)
            }
            _ => rule(Type::Float, Type::Float, Type::Float),
        }
    }

    fn compute(
        &mut self,
        whole: &Expression,
        left: &Expression,
        operator: Operator,
        right: &Expression,
    ) -> Bound {
        let rule = self.arithmetic(whole, left, operator, right)?;
        let left = Box::new(self.bind(left, rule.left)?);
        let right = Box::new(self.bind(right, rule.right)?);
        let what = match rule.left {
            Type::Timestamp => What::Seconds(left, right),
            _ => What::Arithmetic(operator, left, right),
        };
        Ok(Step::new(rule.kind, what))
    }

    /// Two sides that are compared, each in a type that the other can be compared with.
    fn sides(&mut self, values: &[&Expression]) -> Result<Vec<Step>, ExpressionError> {
        let kind = match self.common(values)? {
            Guess::Known(kind) => kind,
            Guess::Literal => {
                // Texts with columns of no declared type.
                no_numbers_in_quotes(values)?;
                Type::Text
            }
            // Columns that are compared with each other are numbers.
            Guess::Unknown | Guess::Null => Type::Float,
        };
        let mut bound = Vec::new();
        for value in values {
            bound.push(match self.guess(value)? {
                // Whole numbers are compared as such, and not as the floats next to them.
                Guess::Known(own) if own.is_number() && kind.is_number() => self.bind(value, own)?,
                Guess::Literal if kind.is_number() => self.step(value, kind)?,
                _ => self.bind(value, kind)?,
            });
        }
        Ok(bound)
    }

    fn compare(&mut self, left: &Expression, comparison: Comparison, right: &Expression) -> Bound {
        let mut sides = self.sides(&[left, right])?;
        let (right, left) = (sides.pop().expect("two sides"), sides.pop().expect("two sides"));
        let what = match (constant_of(&left), constant_of(&right)) {
            (None, Some(constant)) => test(left, comparison, &constant),
            (Some(constant), None) => test(right, comparison.mirrored(), &constant),
            _ => What::Compare(comparison, Box::new(left), Box::new(right)),
        };
        Ok(Step::new(Type::Boolean, what))
    }

    fn between(&mut self, one: &Expression, low: &Expression, high: &Expression) -> Bound {
        let sides = <[Step; 3]>::try_from(self.sides(&[one, low, high])?);
        let [one, low, high] = sides.expect("three sides").map(Box::new);
        Ok(Step::new(Type::Boolean, What::Between(one, low, high)))
    }

    fn within(&mut self, one: &Expression, list: &[Expression]) -> Bound {
        let values: Vec<&Expression> = std::iter::once(one).chain(list).collect();
        let mut sides = self.sides(&values)?;
        let one = sides.remove(0);
        // Yes and no are one and zero.
        let whole = |side: &Step| match side.what {
            What::Truth(value) => Some(Constant::Whole(i64::from(value))),
            _ => constant_of(side),
        };
        let one = match one.kind {
            Type::Boolean => Step::new(Type::Integer, What::Cast(Box::new(one))),
            _ => one,
        };
        let constants: Vec<Constant> = sides.iter().filter_map(whole).collect();
        let what = match among(kind_of(one.kind), &constants, true) {
            Some(test) => What::Test(Box::new(one), test),
            None => What::Null,
        };
        Ok(Step::new(Type::Boolean, what))
    }

    fn cast(&mut self, whole: &Expression, one: &Expression, kind: Type) -> Bound {
        // A column of no declared type is read as what it is cast to: the source knows how.
        if matches!(self.guess(one)?, Guess::Unknown | Guess::Null) {
            return self.bind(one, kind);
        }
        let step = self.natural(one, Type::Text)?;
        if !casts::exists(step.kind, kind) {
            let problem = format!("there is no cast from {} to {kind}", step.kind);
            return Err(ExpressionError::new(problem).hint("cast it to text first").at(whole.at));
        }
        Ok(if step.kind == kind { step } else { Step::new(kind, What::Cast(Box::new(step))) })
    }

    fn call(
        &mut self,
        whole: &Expression,
        function: Function,
        arguments: &[Expression],
        wanted: Type,
    ) -> Bound {
        let all: Vec<&Expression> = arguments.iter().collect();
        let kind = match self.guess(whole)? {
            Guess::Known(kind) => kind,
            Guess::Literal => Type::Text,
            Guess::Unknown | Guess::Null => wanted,
        };
        let step = |what| Ok(Step::new(kind, what));
        match function {
            Function::Abs
            | Function::Floor
            | Function::Ceil
            | Function::Ln
            | Function::Exp
            | Function::Sqrt => {
                self.number(all[0])?;
                step(What::Number(function, Box::new(self.bind(all[0], kind)?)))
            }
            Function::Round => {
                let one = Box::new(self.bind(all[0], kind)?);
                step(What::Round(one, all.get(1).map_or(Ok(0), |digits| digits_of(digits))?))
            }
            Function::Coalesce => step(What::Coalesce(self.all(&all, kind)?)),
            Function::Least => step(What::Extreme(self.all(&all, kind)?, false)),
            Function::Greatest => step(What::Extreme(self.all(&all, kind)?, true)),
            Function::Nullif => {
                let one = Box::new(self.bind(all[0], kind)?);
                step(What::Nullif(one, Box::new(self.bind(all[1], kind)?)))
            }
            Function::If => {
                let condition = self.bind(all[0], Type::Boolean)?;
                let value = self.bind(all[1], kind)?;
                step(What::Case(vec![(condition, value)], Box::new(self.bind(all[2], kind)?)))
            }
            Function::Lower => step(What::Lower(self.text(all[0])?)),
            Function::Upper => step(What::Upper(self.text(all[0])?)),
            Function::Length => step(What::Length(self.text(all[0])?)),
            Function::Substr => {
                let text = self.text(all[0])?;
                let from = Box::new(self.bind(all[1], Type::Integer)?);
                let many = all.get(2).map(|many| self.bind(many, Type::Integer)).transpose()?;
                step(What::Substr(text, from, many.map(Box::new)))
            }
            Function::Concat | Function::Join => {
                let mut texts = Vec::new();
                for one in all {
                    let one = self.natural(one, Type::Text)?;
                    let is_text = one.kind == Type::Text;
                    texts.push(if is_text {
                        one
                    } else {
                        Step::new(Type::Text, What::Cast(Box::new(one))).folded()
                    });
                }
                step(What::Concat(texts, function == Function::Concat))
            }
            Function::Year | Function::Month | Function::Day | Function::Weekday | Function::Hour => {
                step(What::Part(function, self.time(all[0])?))
            }
            Function::DateTrunc => step(What::Truncated(unit(all[0])?, self.time(all[1])?)),
        }
    }

    fn all(&mut self, values: &[&Expression], kind: Type) -> Result<Vec<Step>, ExpressionError> {
        values.iter().map(|value| self.bind(value, kind)).collect()
    }

    /// A day or moment; what has no declared type is read as a moment, of which a day is the midnight.
    fn time(&mut self, expression: &Expression) -> Result<Box<Step>, ExpressionError> {
        let kind = match self.guess(expression)? {
            Guess::Known(kind @ (Type::Date | Type::Timestamp)) => kind,
            Guess::Known(kind) => return Err(mismatch(expression, kind, Type::Date)),
            Guess::Literal | Guess::Unknown | Guess::Null => Type::Timestamp,
        };
        Ok(Box::new(self.bind(expression, kind)?))
    }
}

/// A number in quotes beside a column of no declared type is an error that shows both spellings.
fn no_numbers_in_quotes(values: &[&Expression]) -> Result<(), ExpressionError> {
    let unknown = values.iter().find(|value| value.as_column().is_some());
    let quoted = values.iter().find_map(|value| match value.as_constant() {
        Some(Constant::Text(text)) if reads_as_number(text) => Some((text, value.at)),
        _ => None,
    });
    match (unknown, quoted) {
        (Some(column), Some((text, at))) => Err(two_spellings(&column.to_string(), text).at(at)),
        _ => Ok(()),
    }
}

/// Types of both sides of an operator and of what becomes of them.
struct Rule {
    left: Type,
    right: Type,
    kind: Type,
}

fn kind_of(kind: Type) -> Kind {
    match kind {
        Type::Float => Kind::Real,
        Type::Text => Kind::Text,
        _ => Kind::Whole,
    }
}

fn test(step: Step, comparison: Comparison, constant: &Constant) -> What {
    match against(kind_of(step.kind), comparison, constant) {
        Some(test) => What::Test(Box::new(step), test),
        // The sides have been made alike, so there is a test.
        None => What::Null,
    }
}

/// The constant of a step that can be held against a test.
fn constant_of(step: &Step) -> Option<Constant> {
    match &step.what {
        What::Real(value) => Some(Constant::Real(*value)),
        What::Whole(value) => Some(Constant::Whole(*value)),
        What::Text(text) => Some(Constant::Text(text.to_string())),
        _ => None,
    }
}

/// A constant as the wanted type, where it is one of its values.
fn literal(constant: &Constant, wanted: Type, at: usize) -> Bound {
    let text = match constant {
        Constant::Whole(value) if wanted == Type::Float => {
            return Ok(Step::new(Type::Float, What::Real(*value as f64)));
        }
        Constant::Whole(value) => return Ok(Step::new(Type::Integer, What::Whole(*value))),
        Constant::Real(value) => return Ok(Step::new(Type::Float, What::Real(*value))),
        Constant::Text(text) => text,
    };
    let bytes = text.as_bytes();
    let found = match wanted {
        Type::Text => Some(What::Text(text.as_str().into())),
        Type::Float => Some(number::float(bytes)).filter(|value| value.is_finite()).map(What::Real),
        Type::Integer => {
            if let Some(value) = number::integer(bytes) {
                Some(What::Whole(value))
            } else {
                let real = Some(number::float(bytes)).filter(|value| value.is_finite());
                return real
                    .map(|real| Step::new(Type::Float, What::Real(real)))
                    .ok_or_else(|| no_value(text, wanted, at));
            }
        }
        Type::Date => calendar::date(bytes).map(What::Whole),
        Type::Timestamp => calendar::timestamp(bytes).map(What::Whole),
        Type::Boolean => boolean(bytes).map(|value| What::Truth(value == 1)),
    };
    found.map(|what| Step::new(wanted, what)).ok_or_else(|| no_value(text, wanted, at))
}

fn no_value(text: &str, wanted: Type, at: usize) -> ExpressionError {
    let example = match wanted {
        Type::Date => "2026-01-31",
        Type::Timestamp => "2026-01-31T12:30:00Z",
        Type::Boolean => "true or false",
        _ => "a number",
    };
    ExpressionError::new(format!("'{}' stands beside {}, which it is not", shown(text), a(wanted)))
        .hint(format!("write {example}"))
        .at(at)
}

/// What a constant of digits means in quotes nobody can know where no type is declared.
pub(crate) fn two_spellings(column: &str, text: &str) -> ExpressionError {
    let (column, text) = (shown(column), shown(text));
    ExpressionError::new(format!(
        "'{text}' is a number in quotes, and nothing declares whether '{column}' holds numbers or texts"
    ))
    .hint(format!(
        "write {} to compare numbers, or cast({column} as text) with '{text}' to compare texts",
        text.trim()
    ))
}

/// Would a text be a number without its quotes?
pub(crate) fn reads_as_number(text: &str) -> bool {
    number::float(text.as_bytes()).is_finite()
}

/// A type with its article.
fn a(kind: Type) -> String {
    format!("{} {kind}", if kind == Type::Integer { "an" } else { "a" })
}

fn mismatch(expression: &Expression, kind: Type, wanted: Type) -> ExpressionError {
    let what = shown(&expression.to_string());
    let problem = format!("{what} is of the type {kind} where {} is due", a(wanted));
    let hint = match (kind, wanted) {
        (Type::Boolean, Type::Float | Type::Integer) => format!("write if({what}, 1, 0)"),
        (kind, wanted) if casts::exists(kind, wanted) => format!("write cast({what} as {wanted})"),
        (_, Type::Boolean) => "compare it with something".to_string(),
        (_, wanted) => format!("use {}", a(wanted)),
    };
    ExpressionError::new(problem).hint(hint).at(expression.at)
}

fn unlike(one: Type, other: Type, at: usize) -> ExpressionError {
    ExpressionError::new(format!("{} and {} do not go together", a(one), a(other)))
        .hint("cast one of them, as in cast(x as text)")
        .at(at)
}

fn not_computed(side: &Expression, kind: Type, whole: &Expression, operator: Operator) -> ExpressionError {
    let sign = operator.sign();
    let problem =
        format!("{} is of the type {kind}, with which {sign} does not compute", shown(&side.to_string()));
    let hint = match kind {
        Type::Text => format!("write cast({} as float), or || to join texts", shown(&side.to_string())),
        Type::Boolean => format!("write if({}, 1, 0)", shown(&side.to_string())),
        _ => "subtract days or moments of one type, or add whole days to a date".to_string(),
    };
    ExpressionError::new(problem).hint(hint).at(whole.at)
}

/// The unit that a day or moment is cut to: a word between quotes.
fn unit(expression: &Expression) -> Result<Unit, ExpressionError> {
    let named = match expression.as_constant() {
        Some(Constant::Text(name)) => Unit::named(name),
        _ => None,
    };
    named.ok_or_else(|| {
        let names = Unit::NAMES.map(|(name, _)| format!("'{name}'")).join(", ");
        ExpressionError::new(format!("{} is no unit of time", shown(&expression.to_string())))
            .hint(format!("There are: {names}"))
            .at(expression.at)
    })
}

/// How many digits stay after the point: a constant, so that no row decides it.
fn digits_of(expression: &Expression) -> Result<i32, ExpressionError> {
    if let Some(Constant::Whole(digits @ -300..=300)) = expression.as_constant() {
        return Ok(i32::try_from(*digits).unwrap_or(0));
    }
    let problem = format!("{} is no number of digits", shown(&expression.to_string()));
    Err(ExpressionError::new(problem).hint("give a whole number, as in round(x, 2)").at(expression.at))
}
