//! How far off a value may be that is made of several released ones: intervals, worked out as the value is.
//!
//! # Guarantee
//!
//! Where the bars of all aggregates that a tree is made of hold at once, what the tree would be of the true values lies between the ends: each step
//! gives an interval that holds every value that it can have, one float wider on each side than floats come to. All bars hold at
//! once with at least one less what each may fail by, which is the confidence of the interval; an aggregate that stands there twice is one.
//!
//! Nothing is told where a step could divide by zero, or where which branch is taken depends on what is not known.

use crate::{
    evaluate::{self, Known, number},
    outer::{Operator, Outer},
};
use std::collections::BTreeSet;

/// Between which numbers a value lies, and which aggregates' bars say so.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Between {
    pub low: f64,
    pub high: f64,
    pub aggregates: BTreeSet<usize>,
}

impl Between {
    fn exactly(number: f64) -> Self {
        Self { low: number, high: number, aggregates: BTreeSet::new() }
    }

    fn new(low: f64, high: f64, aggregates: BTreeSet<usize>) -> Option<Self> {
        let finite = low.is_finite() && high.is_finite() && low <= high;
        finite.then_some(Self { low, high, aggregates })
    }

    /// The hull of some floats, each of which may have been rounded.
    fn hull(ends: impl IntoIterator<Item = f64> + Clone, aggregates: BTreeSet<usize>) -> Option<Self> {
        if ends.clone().into_iter().any(f64::is_nan) {
            return None;
        }
        let low = ends.clone().into_iter().fold(f64::INFINITY, f64::min);
        let high = ends.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Self::new(low.next_down(), high.next_up(), aggregates)
    }

    /// Through a function that never falls.
    fn rising(self, of: impl Fn(f64) -> f64) -> Option<Self> {
        Self::hull([of(self.low), of(self.high)], self.aggregates)
    }
}

/// With which probability the bars of these hold at once, at least.
pub(crate) fn at_once(aggregates: &BTreeSet<usize>, row: &impl Known) -> Option<f64> {
    let failures: Option<f64> = aggregates.iter().map(|&one| Some(1.0 - row.confidence(one)?)).sum();
    failures.map(|failures| 1.0 - failures).filter(|confidence| *confidence > 0.0)
}

/// The aggregates that a tree is made of.
pub(crate) fn aggregates_of(tree: &Outer, found: &mut BTreeSet<usize>) {
    let mut all = |trees: &[&Outer]| trees.iter().for_each(|tree| aggregates_of(tree, found));
    match tree {
        Outer::Aggregate(number) | Outer::Low(number) | Outer::High(number) => {
            found.insert(*number);
        }
        Outer::Constant(_) | Outer::Key(_) | Outer::Item(_) => {}
        Outer::Negative(one) | Outer::Not(one) | Outer::IsNull(one) | Outer::EndOf(one, _) => all(&[one]),
        Outer::Binary(left, _, right) => all(&[left, right]),
        Outer::Between(one, low, high) => all(&[one, low, high]),
        Outer::In(one, list) => {
            all(&[one]);
            all(&list.iter().collect::<Vec<_>>());
        }
        Outer::Case(subject, branches, other) => {
            all(&subject.iter().map(|subject| &**subject).collect::<Vec<_>>());
            for (tested, value) in branches {
                all(&[tested, value]);
            }
            all(&[other]);
        }
        Outer::Call(_, arguments) => all(&arguments.iter().collect::<Vec<_>>()),
    }
}

/// Where the value of a tree lies, where that can be told.
pub(crate) fn of(tree: &Outer, row: &impl Known) -> Option<Between> {
    match tree {
        Outer::Constant(constant) => number(constant).map(Between::exactly),
        Outer::Key(_) => number(&evaluate::value(tree, row)).map(Between::exactly),
        Outer::Aggregate(place) => {
            let (low, high) = row.ends(*place);
            Between::new(number(&low)?, number(&high)?, [*place].into())
        }
        Outer::Negative(one) => {
            let one = of(one, row)?;
            Between::new(-one.high, -one.low, one.aggregates)
        }
        Outer::Binary(left, operator, right) => binary(&of(left, row)?, *operator, &of(right, row)?),
        Outer::Item(place) => of(row.item(*place), row),
        Outer::Call(name, arguments) => call(name, arguments, row),
        _ => None,
    }
}

fn binary(left: &Between, operator: Operator, right: &Between) -> Option<Between> {
    let aggregates: BTreeSet<usize> = left.aggregates.union(&right.aggregates).copied().collect();
    let corners = |of: fn(f64, f64) -> f64| {
        [
            of(left.low, right.low),
            of(left.low, right.high),
            of(left.high, right.low),
            of(left.high, right.high),
        ]
    };
    match operator {
        Operator::Plus => Between::hull([left.low + right.low, left.high + right.high], aggregates),
        Operator::Minus => Between::hull([left.low - right.high, left.high - right.low], aggregates),
        Operator::Times => Between::hull(corners(|a, b| a * b), aggregates),
        // Zero among what it may be divided by leaves nothing to say.
        Operator::Over if right.low > 0.0 || right.high < 0.0 => {
            Between::hull(corners(|a, b| a / b), aggregates)
        }
        _ => None,
    }
}

fn call(name: &str, arguments: &[Outer], row: &impl Known) -> Option<Between> {
    if name == "coalesce" {
        let known = arguments.iter().find(|one| !evaluate::value(one, row).is_null())?;
        return of(known, row);
    }
    let all: Vec<Between> = arguments.iter().map(|one| of(one, row)).collect::<Option<_>>()?;
    let aggregates: BTreeSet<usize> = all.iter().flat_map(|one| one.aggregates.iter().copied()).collect();
    let fold = |of: fn(f64, f64) -> f64| {
        let low = all.iter().map(|one| one.low).reduce(of)?;
        let high = all.iter().map(|one| one.high).reduce(of)?;
        Between::new(low, high, aggregates.clone())
    };
    match name {
        "least" => return fold(f64::min),
        "greatest" => return fold(f64::max),
        _ => {}
    }
    let one = all.first().cloned()?;
    match name {
        "round" if all.len() == 1 => one.rising(f64::round),
        "floor" => one.rising(f64::floor),
        "ceil" => one.rising(f64::ceil),
        "exp" => one.rising(f64::exp),
        "sqrt" if one.low >= 0.0 => one.rising(f64::sqrt),
        "ln" if one.low > 0.0 => one.rising(f64::ln),
        "abs" if one.low >= 0.0 => Some(one),
        "abs" => {
            let (low, high) = (one.low, one.high);
            let least = if high < 0.0 { -high } else { 0.0 };
            Between::new(least, high.abs().max(low.abs()), one.aggregates)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Three aggregates with bars, and one that has none.
    struct Bars;

    impl Known for Bars {
        fn key(&self, _: usize) -> Value {
            json!("4")
        }
        fn aggregate(&self, number: usize) -> Value {
            json!([10, 4, -1, 7][number])
        }
        fn ends(&self, number: usize) -> (Value, Value) {
            let ends = [[json!(8), json!(12)], [json!("3"), json!("5")], [json!(-2), json!(1)]];
            ends.get(number).map_or((Value::Null, Value::Null), |[low, high]| (low.clone(), high.clone()))
        }
        fn confidence(&self, number: usize) -> Option<f64> {
            [Some(0.95), Some(0.95), Some(0.6), None][number]
        }
        fn item(&self, _: usize) -> &Outer {
            &Outer::Aggregate(0)
        }
    }

    fn both(left: Outer, operator: Operator, right: Outer) -> Outer {
        Outer::Binary(Box::new(left), operator, Box::new(right))
    }

    fn near(tree: &Outer, low: f64, high: f64, aggregates: &[usize]) {
        let found = of(tree, &Bars).unwrap_or_else(|| panic!("{tree:?}"));
        let inside = found.low <= low && high <= found.high;
        assert!(inside && low - found.low < 1e-9 && found.high - high < 1e-9, "{tree:?}: {found:?}");
        assert_eq!(found.aggregates, aggregates.iter().copied().collect());
    }

    #[test]
    fn intervals_by_hand() {
        use Operator::{Minus, Over, Plus, Times};
        let one = Outer::Aggregate;
        let constant = |number: i64| Outer::Constant(json!(number));
        near(&both(one(0), Over, one(1)), 8.0 / 5.0, 4.0, &[0, 1]);
        near(&both(one(0), Minus, one(1)), 3.0, 9.0, &[0, 1]);
        near(&both(one(0), Times, one(2)), -24.0, 12.0, &[0, 2]);
        near(&both(constant(100), Times, both(one(1), Plus, Outer::Key(0))), 700.0, 900.0, &[1]);
        near(&Outer::Negative(Box::new(one(2))), -1.0, 2.0, &[2]);
        near(&Outer::Item(0), 8.0, 12.0, &[0]);
        near(&Outer::Call("abs", vec![one(2)]), 0.0, 2.0, &[2]);
        near(&Outer::Call("least", vec![one(0), one(1), constant(4)]), 3.0, 4.0, &[0, 1]);
        near(&Outer::Call("sqrt", vec![one(0)]), 8f64.sqrt(), 12f64.sqrt(), &[0]);
        for unknown in [
            both(one(0), Over, one(2)),
            both(one(0), Plus, one(3)),
            both(one(0), Operator::Below, one(1)),
            Outer::Call("ln", vec![one(2)]),
        ] {
            assert_eq!(of(&unknown, &Bars), None, "{unknown:?}");
        }
    }

    #[test]
    fn bars_hold_at_once_as_often_as_none_fails() {
        assert!((at_once(&[0, 1].into(), &Bars).unwrap() - 0.9).abs() < 1e-12);
        assert!((at_once(&[0].into(), &Bars).unwrap() - 0.95).abs() < 1e-12);
        assert_eq!(at_once(&[0, 3].into(), &Bars), None);
    }

    /// Whatever lies within the bars of the parts, the whole lies between the ends.
    #[test]
    fn no_value_within_the_bars_leads_out() {
        struct At(f64, f64, f64);
        impl Known for At {
            fn key(&self, _: usize) -> Value {
                json!(4)
            }
            fn aggregate(&self, number: usize) -> Value {
                json!([self.0, self.1, self.2][number])
            }
            fn ends(&self, _: usize) -> (Value, Value) {
                unreachable!("values alone")
            }
            fn confidence(&self, _: usize) -> Option<f64> {
                None
            }
            fn item(&self, _: usize) -> &Outer {
                &Outer::Aggregate(0)
            }
        }
        use Operator::{Minus, Over, Plus, Times};
        let one = Outer::Aggregate;
        let trees = [
            both(both(one(0), Minus, one(1)), Over, both(one(0), Plus, one(1))),
            both(both(one(2), Times, one(2)), Minus, Outer::Call("exp", vec![one(2)])),
            Outer::Call("greatest", vec![both(one(0), Times, one(2)), Outer::Call("abs", vec![one(2)])]),
        ];
        for tree in &trees {
            let bars = of(tree, &Bars).unwrap();
            for a in 0..=8 {
                for b in 0..=8 {
                    for c in 0..=8 {
                        let part =
                            |low: f64, high: f64, place: i32| low + (high - low) * f64::from(place) / 8.0;
                        let at = At(part(8.0, 12.0, a), part(3.0, 5.0, b), part(-2.0, 1.0, c));
                        let value = evaluate::value(tree, &at).as_f64().unwrap();
                        assert!(bars.low <= value && value <= bars.high, "{tree:?}: {value} {bars:?}");
                    }
                }
            }
        }
    }
}
