//! Steps over many records. Every branch is computed for all of them, and every step once.

use super::{
    Step, What, arithmetic, casts, compare,
    compare::Tested,
    texts, times,
    vector::{Input, Texts, Truth, Vector, Wholes},
};
use crate::{Bitmap, Comparison, Type};
use std::borrow::Cow;

/// The records that steps are computed for.
#[derive(Clone, Copy)]
pub(super) struct Run<'r, 'a> {
    pub inputs: &'r [Input<'a>],
    pub rows: usize,
}

impl<'a> Run<'_, 'a> {
    /// The values of a step.
    pub fn vector(&self, step: &'a Step) -> Vector<'a> {
        let rows = self.rows;
        match &step.what {
            What::Input(place) => Vector::read(self.inputs.get(*place), step.kind, rows),
            What::Real(value) => Vector::Real(Cow::Owned(vec![*value; rows])),
            What::Whole(value) => {
                Vector::Whole(Wholes { values: vec![*value; rows], present: Bitmap::filled(rows, true) })
            }
            What::Text(text) => Vector::Text(Texts::one(Cow::Borrowed(text), rows)),
            What::Truth(value) => {
                Vector::Truth(Truth { yes: Bitmap::filled(rows, *value), no: Bitmap::filled(rows, !value) })
            }
            What::Null => Vector::null(step.kind, rows),
            What::Negative(one) => arithmetic::negative(self.vector(one)),
            What::Arithmetic(operator, left, right) => self.arithmetic(step.kind, *operator, left, right),
            What::Seconds(later, earlier) => times::seconds(&self.whole(later), &self.whole(earlier)),
            What::Case(branches, other) => {
                branches.iter().rev().fold(self.vector(other), |value, (condition, taken)| {
                    value.replace(&self.condition(condition, true), self.vector(taken))
                })
            }
            What::Nullif(one, other) => {
                let (one, other) = (self.vector(one), self.vector(other));
                let equal = compare::holds(&one, Comparison::Equal, &other);
                one.replace(&equal, Vector::null(step.kind, rows))
            }
            What::Coalesce(parts) => self.first_of(parts, step.kind, |_, present| present.opposite()),
            What::Extreme(parts, largest) => {
                let better = if *largest { Comparison::Above } else { Comparison::Below };
                self.extreme(parts, step.kind, better)
            }
            What::Number(function, one) => arithmetic::function(*function, self.vector(one)),
            What::Round(one, digits) => arithmetic::round(self.vector(one), *digits),
            What::Lower(one) => {
                Vector::Text(self.texts(one).map(|text| Some(Cow::Owned(text.to_lowercase()))))
            }
            What::Upper(one) => {
                Vector::Text(self.texts(one).map(|text| Some(Cow::Owned(text.to_uppercase()))))
            }
            What::Length(one) => {
                let count = |text: &str| i64::try_from(text.chars().count()).ok();
                Vector::Whole(self.texts(one).wholes(count))
            }
            What::Substr(text, from, many) => {
                let many = many.as_ref().map(|many| self.whole(many));
                Vector::Text(texts::substr(self.texts(text), &self.whole(from), many.as_ref()))
            }
            What::Concat(parts, skip) => {
                let parts: Vec<Texts<'a>> = parts.iter().map(|part| self.texts(part)).collect();
                Vector::Text(texts::concat(&parts, *skip, rows))
            }
            What::Part(function, one) => Vector::Whole(times::part(*function, one.kind, self.whole(one))),
            What::Truncated(unit, one) => Vector::Whole(times::truncated(*unit, one.kind, self.whole(one))),
            What::Cast(one) => casts::convert(self.vector(one), one.kind, step.kind),
            What::Compare(..)
            | What::Test(..)
            | What::Between(..)
            | What::And(_)
            | What::Or(_)
            | What::Not(_)
            | What::IsNull(_)
            | What::Like(..) => Vector::Truth(self.truth(step)),
        }
    }

    /// Floats are read where they lie, and constants are no lists.
    fn arithmetic(
        &self,
        kind: Type,
        operator: crate::Operator,
        left: &'a Step,
        right: &'a Step,
    ) -> Vector<'a> {
        match (left.as_real(), right.as_real()) {
            (_, Some(right)) => arithmetic::with(operator, self.reals(left), right),
            (Some(left), _) => arithmetic::with_first(operator, left, self.reals(right)),
            _ if kind == Type::Float => arithmetic::reals(operator, self.reals(left), self.reals(right)),
            _ => match right.what {
                What::Whole(right) => arithmetic::wholes_with(operator, self.whole(left), right, kind),
                _ => arithmetic::wholes(operator, self.whole(left), &self.whole(right), kind),
            },
        }
    }

    fn reals(&self, step: &'a Step) -> Cow<'a, [f64]> {
        match self.vector(step) {
            Vector::Real(values) => values,
            _ => Cow::Owned(vec![f64::NAN; self.rows]),
        }
    }

    fn whole(&self, step: &'a Step) -> Wholes {
        match self.vector(step) {
            Vector::Whole(wholes) => wholes,
            _ => Wholes { values: vec![0; self.rows], present: Bitmap::filled(self.rows, false) },
        }
    }

    fn texts(&self, step: &'a Step) -> Texts<'a> {
        match self.vector(step) {
            Vector::Text(texts) => texts,
            _ => Texts::Coded { words: Vec::new(), codes: vec![0; self.rows] },
        }
    }

    /// One part after another, where `better` says which records take the next one.
    fn first_of(
        &self,
        parts: &'a [Step],
        kind: Type,
        better: impl Fn(&Vector<'a>, &Bitmap) -> Bitmap,
    ) -> Vector<'a> {
        let mut all = Vector::null(kind, self.rows);
        for part in parts {
            let next = self.vector(part);
            let taken = better(&next, &all.present());
            all = all.replace(&taken, next);
        }
        all
    }

    fn extreme(&self, parts: &'a [Step], kind: Type, better: Comparison) -> Vector<'a> {
        let mut all = Vector::null(kind, self.rows);
        for part in parts {
            let next = self.vector(part);
            let mut taken = compare::holds(&next, better, &all);
            let mut only = all.present().opposite();
            only.intersect(&next.present());
            taken.unite(&only);
            all = all.replace(&taken, next);
        }
        all
    }

    /// The records of which a condition is true, or, where false is wanted, is false. Negations are pushed down to single comparisons,
    /// where a null makes either form not hold, so that one bit for each record is enough.
    pub fn condition(&self, step: &'a Step, wanted: bool) -> Bitmap {
        match &step.what {
            What::And(parts) | What::Or(parts) => {
                let every = matches!(step.what, What::And(_)) == wanted;
                let mut all = Bitmap::filled(self.rows, every);
                for part in parts {
                    let one = self.condition(part, wanted);
                    if every { all.intersect(&one) } else { all.unite(&one) }
                }
                all
            }
            What::Not(one) => self.condition(one, !wanted),
            What::IsNull(one) => {
                let present = self.vector(one).present();
                if wanted { present.opposite() } else { present }
            }
            What::Test(one, test) => {
                let negated;
                let test = if wanted {
                    test
                } else {
                    negated = test.negated();
                    &negated
                };
                match compare::before_arithmetic(one, test) {
                    Some((inner, test)) => self.vector(inner).passing(&test),
                    None => self.vector(one).passing(test),
                }
            }
            What::Compare(comparison, left, right) => {
                let comparison = if wanted { *comparison } else { comparison.negated() };
                compare::holds(&self.vector(left), comparison, &self.vector(right))
            }
            What::Between(one, low, high) => {
                let (one, low, high) = (self.vector(one), self.vector(low), self.vector(high));
                compare::between(&one, &low, &high, wanted)
            }
            What::Like(one, pattern) => {
                let fits = self.texts(one).each(false, |text| texts::like(text, pattern) == wanted);
                Bitmap::from_test(&fits, |&fits| fits)
            }
            _ => match self.vector(step) {
                Vector::Truth(truth) if wanted => truth.yes,
                Vector::Truth(truth) => truth.no,
                _ => Bitmap::filled(self.rows, false),
            },
        }
    }

    /// Both of them, with everything inside computed once.
    fn truth(&self, step: &'a Step) -> Truth {
        let both = |yes: Bitmap, no: Bitmap| Truth { yes, no };
        match &step.what {
            What::And(parts) | What::Or(parts) => {
                let every = matches!(step.what, What::And(_));
                let mut all = both(Bitmap::filled(self.rows, every), Bitmap::filled(self.rows, !every));
                for part in parts {
                    let part = self.truth(part);
                    if every {
                        all.yes.intersect(&part.yes);
                        all.no.unite(&part.no);
                    } else {
                        all.yes.unite(&part.yes);
                        all.no.intersect(&part.no);
                    }
                }
                all
            }
            What::Not(one) => {
                let one = self.truth(one);
                both(one.no, one.yes)
            }
            What::IsNull(one) => {
                let present = self.vector(one).present();
                both(present.opposite(), present)
            }
            What::Test(one, test) => {
                let one = self.vector(one);
                both(one.passing(test), one.passing(&test.negated()))
            }
            What::Compare(comparison, left, right) => {
                let (left, right) = (self.vector(left), self.vector(right));
                let holds = |comparison| compare::holds(&left, comparison, &right);
                both(holds(*comparison), holds(comparison.negated()))
            }
            What::Between(one, low, high) => {
                let (one, low, high) = (self.vector(one), self.vector(low), self.vector(high));
                both(compare::between(&one, &low, &high, true), compare::between(&one, &low, &high, false))
            }
            What::Like(one, pattern) => {
                let fits = self.texts(one).each(None, |text| Some(texts::like(text, pattern)));
                let of = |wanted: bool| Bitmap::from_test(&fits, |fits| *fits == Some(wanted));
                both(of(true), of(false))
            }
            _ => match self.vector(step) {
                Vector::Truth(truth) => truth,
                _ => both(Bitmap::filled(self.rows, false), Bitmap::filled(self.rows, false)),
            },
        }
    }
}
