//! An expression whose columns are known: it has a type, reads columns by place, and cannot fail.

mod arithmetic;
mod binding;
mod casts;
mod compare;
mod run;
mod texts;
mod times;
mod vector;

use crate::{Bitmap, Comparison, ExpressionError, Function, Operator, Test, Type, tree::Expression};
use binding::Binder;
pub(crate) use binding::reads_as_number;
use run::Run;
pub use vector::{Input, Output};

/// The longest text that is made of others, in bytes; a longer one is null.
pub(crate) const LONGEST_TEXT: usize = 65_536;

/// What is known of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its place.
    pub place: usize,
    /// Its type; none where nothing declares one, so that its use decides.
    pub kind: Option<Type>,
    /// Is every cell of that type, by a schema? Then a source may read whole numbers as floats and days as moments. Texts of which
    /// words declare a type may be anything, and are null where they are not of it.
    pub by_schema: bool,
}

/// An expression whose columns are known.
#[derive(Clone, Debug)]
pub struct Program {
    root: Step,
    reads: Vec<(usize, Type)>,
}

impl Program {
    /// Find the columns of an expression and its type. `lookup` knows the columns by name; where nothing declares what the whole is,
    /// it is the wanted type.
    pub fn bind(
        expression: &Expression,
        lookup: &dyn Fn(&str) -> Option<Known>,
        wanted: Option<Type>,
    ) -> Result<Self, ExpressionError> {
        Self::bound(lookup, |binder| binder.natural(expression, wanted.unwrap_or(Type::Text)))
    }

    /// The same for a condition: a yes or no.
    pub fn condition(
        expression: &Expression,
        lookup: &dyn Fn(&str) -> Option<Known>,
    ) -> Result<Self, ExpressionError> {
        Self::bound(lookup, |binder| binder.bind(expression, Type::Boolean))
    }

    /// Bound twice: whether a column of no declared type is null depends on what it is read as in the rest of the expression.
    fn bound(
        lookup: &dyn Fn(&str) -> Option<Known>,
        root: impl Fn(&mut Binder<'_>) -> Result<Step, ExpressionError>,
    ) -> Result<Self, ExpressionError> {
        let mut first = Binder::new(lookup, Vec::new());
        root(&mut first)?;
        let mut binder = Binder::new(lookup, first.into_reads());
        let root = root(&mut binder)?;
        Ok(Self { root, reads: binder.into_reads() })
    }

    /// The type of its values.
    pub fn kind(&self) -> Type {
        self.root.kind
    }

    /// The columns that it reads, by the places that the lookup gave, and as which types: its inputs in this order.
    pub fn reads(&self) -> &[(usize, Type)] {
        &self.reads
    }

    /// The records of which it is true, or those of which it is false.
    pub fn holds(&self, inputs: &[Input<'_>], rows: usize, wanted: bool) -> Bitmap {
        Run { inputs, rows }.condition(&self.root, wanted)
    }

    /// Its values, as a type that they can be cast to.
    pub fn run<'a>(&'a self, inputs: &[Input<'a>], rows: usize, kind: Type) -> Output<'a> {
        let vector = Run { inputs, rows }.vector(&self.root);
        casts::convert(vector, self.root.kind, kind).into_output(kind)
    }
}

/// One step, with the type of its values.
#[derive(Clone, Debug)]
struct Step {
    kind: Type,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    /// The input at this place.
    Input(usize),
    Real(f64),
    /// A whole number, a day or a moment.
    Whole(i64),
    Text(Box<str>),
    Truth(bool),
    Null,
    Negative(Box<Step>),
    /// Both of one type, floats or whole numbers, or a day and days.
    Arithmetic(Operator, Box<Step>, Box<Step>),
    /// From the second moment to the first.
    Seconds(Box<Step>, Box<Step>),
    Compare(Comparison, Box<Step>, Box<Step>),
    /// A comparison with constants.
    Test(Box<Step>, Test),
    Between(Box<Step>, Box<Step>, Box<Step>),
    And(Vec<Step>),
    Or(Vec<Step>),
    Not(Box<Step>),
    IsNull(Box<Step>),
    Like(Box<Step>, Box<str>),
    Case(Vec<(Step, Step)>, Box<Step>),
    Nullif(Box<Step>, Box<Step>),
    Coalesce(Vec<Step>),
    /// The least, or where true the greatest.
    Extreme(Vec<Step>, bool),
    /// A function of one number.
    Number(Function, Box<Step>),
    Round(Box<Step>, i32),
    Lower(Box<Step>),
    Upper(Box<Step>),
    Length(Box<Step>),
    Substr(Box<Step>, Box<Step>, Option<Box<Step>>),
    /// Texts one after another; nulls are left out where true, and else make the whole null.
    Concat(Vec<Step>, bool),
    /// A part of a day or moment.
    Part(Function, Box<Step>),
    Truncated(times::Unit, Box<Step>),
    /// The same in the type of this step.
    Cast(Box<Step>),
}

impl Step {
    fn new(kind: Type, what: What) -> Self {
        Self { kind, what }
    }

    fn null(kind: Type) -> Self {
        Self::new(kind, What::Null)
    }

    fn is_constant(&self) -> bool {
        matches!(self.what, What::Real(_) | What::Whole(_) | What::Text(_) | What::Truth(_) | What::Null)
    }

    /// The number, where it is a constant float.
    fn as_real(&self) -> Option<f64> {
        match self.what {
            What::Real(value) => Some(value),
            _ => None,
        }
    }

    /// What stands directly inside.
    fn children(&self) -> Vec<&Step> {
        match &self.what {
            What::Input(_) | What::Real(_) | What::Whole(_) | What::Text(_) | What::Truth(_) | What::Null => {
                Vec::new()
            }
            What::Negative(one)
            | What::Test(one, _)
            | What::Not(one)
            | What::IsNull(one)
            | What::Like(one, _)
            | What::Number(_, one)
            | What::Round(one, _)
            | What::Lower(one)
            | What::Upper(one)
            | What::Length(one)
            | What::Part(_, one)
            | What::Truncated(_, one)
            | What::Cast(one) => vec![one],
            What::Arithmetic(_, a, b) | What::Seconds(a, b) | What::Compare(_, a, b) | What::Nullif(a, b) => {
                vec![a, b]
            }
            What::Between(a, b, c) => vec![a, b, c],
            What::Substr(a, b, c) => [a, b].into_iter().chain(c).map(|step| &**step).collect(),
            What::And(parts)
            | What::Or(parts)
            | What::Coalesce(parts)
            | What::Extreme(parts, _)
            | What::Concat(parts, _) => parts.iter().collect(),
            What::Case(branches, other) => {
                branches.iter().flat_map(|(condition, value)| [condition, value]).chain([&**other]).collect()
            }
        }
    }

    /// A step that is made of constants alone is one itself.
    fn folded(self) -> Self {
        let children = self.children();
        if children.is_empty() || !children.iter().all(|child| child.is_constant()) {
            return self;
        }
        let what = (Run { inputs: &[], rows: 1 }).vector(&self).first();
        Self { kind: self.kind, what }
    }
}

#[cfg(test)]
mod tests;
