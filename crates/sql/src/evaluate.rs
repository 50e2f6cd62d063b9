//! Trees over released values, worked out for one row. Null is what nobody knows, and whatever cannot be worked out.

use crate::{
    interval,
    outer::{Operator, Outer},
};
use serde_json::{Value, json};
use std::cmp::Ordering;

/// What is known of one row of the answer.
pub(crate) trait Known {
    /// The value of a group key.
    fn key(&self, number: usize) -> Value;
    /// The released value of an aggregate; null after a refusal.
    fn aggregate(&self, number: usize) -> Value;
    /// The ends of its error bar.
    fn ends(&self, number: usize) -> (Value, Value);
    /// With which probability its error bar holds.
    fn confidence(&self, number: usize) -> Option<f64>;
    /// What stands at a place behind SELECT.
    fn item(&self, number: usize) -> &Outer;
}

/// The value of a tree.
pub(crate) fn value(tree: &Outer, row: &impl Known) -> Value {
    let of = |tree: &Outer| value(tree, row);
    match tree {
        Outer::Constant(constant) => constant.clone(),
        Outer::Key(number) => row.key(*number),
        Outer::Aggregate(number) => row.aggregate(*number),
        Outer::Low(number) => row.ends(*number).0,
        Outer::High(number) => row.ends(*number).1,
        Outer::EndOf(one, low) => {
            let between = interval::of(one, row);
            between.map_or(Value::Null, |between| real(if *low { between.low } else { between.high }))
        }
        Outer::Negative(one) => arithmetic(&json!(0), Operator::Minus, &of(one)),
        Outer::Not(one) => match of(one) {
            Value::Bool(known) => json!(!known),
            _ => Value::Null,
        },
        Outer::IsNull(one) => json!(of(one).is_null()),
        Outer::Binary(left, operator @ (Operator::And | Operator::Or), right) => {
            logic(&of(left), *operator, &of(right))
        }
        Outer::Binary(left, operator, right) => binary(&of(left), *operator, &of(right)),
        Outer::Between(one, low, high) => {
            let one = of(one);
            let (above, below) =
                (binary(&one, Operator::AtLeast, &of(low)), binary(&one, Operator::AtMost, &of(high)));
            logic(&above, Operator::And, &below)
        }
        Outer::In(one, list) => {
            let one = of(one);
            let any =
                |any: Value, other| logic(&any, Operator::Or, &binary(&one, Operator::Equal, &of(other)));
            list.iter().fold(json!(false), any)
        }
        Outer::Case(subject, branches, other) => {
            let subject = subject.as_deref().map(of);
            let is_taken = |tested: &Outer| match &subject {
                Some(subject) => binary(subject, Operator::Equal, &of(tested)) == json!(true),
                None => of(tested) == json!(true),
            };
            let taken = branches.iter().find(|(tested, _)| is_taken(tested));
            of(taken.map_or(&**other, |(_, value)| value))
        }
        Outer::Item(number) => of(row.item(*number)),
        Outer::Call(name, arguments) => call(name, &arguments.iter().map(of).collect::<Vec<_>>()),
    }
}

/// Logic with three values.
fn logic(left: &Value, operator: Operator, right: &Value) -> Value {
    let decides = operator == Operator::Or;
    match (left.as_bool(), right.as_bool()) {
        (Some(one), _) if one == decides => json!(decides),
        (_, Some(one)) if one == decides => json!(decides),
        (Some(_), Some(_)) => json!(!decides),
        _ => Value::Null,
    }
}

fn binary(left: &Value, operator: Operator, right: &Value) -> Value {
    if left.is_null() || right.is_null() {
        return Value::Null;
    }
    let compared =
        |holds: fn(Ordering) -> bool| compare(left, right).map_or(Value::Null, |order| json!(holds(order)));
    match operator {
        Operator::Equal => compared(Ordering::is_eq),
        Operator::Unequal => compared(Ordering::is_ne),
        Operator::Below => compared(Ordering::is_lt),
        Operator::AtMost => compared(Ordering::is_le),
        Operator::Above => compared(Ordering::is_gt),
        Operator::AtLeast => compared(Ordering::is_ge),
        operator => arithmetic(left, operator, right),
    }
}

/// The number that a value is; group keys are texts, and so are exact decimals.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// How two values lie in order: numbers as numbers, also where one is written as text; texts by their characters' codes.
pub(crate) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        _ => match (number(left), number(right)) {
            (Some(left), Some(right)) => left.partial_cmp(&right),
            _ => Some(left.as_str()?.cmp(right.as_str()?)),
        },
    }
}

/// The whole number that a value is.
fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_i64(),
    }
}

fn arithmetic(left: &Value, operator: Operator, right: &Value) -> Value {
    if let (Some(left), Some(right)) = (whole(left), whole(right)) {
        let whole = match operator {
            Operator::Plus => left.checked_add(right),
            Operator::Minus => left.checked_sub(right),
            Operator::Times => left.checked_mul(right),
            Operator::Modulo => left.checked_rem(right),
            _ => None,
        };
        if let Some(whole) = whole {
            return json!(whole);
        }
    }
    let (Some(left), Some(right)) = (number(left), number(right)) else { return Value::Null };
    real(match operator {
        Operator::Plus => left + right,
        Operator::Minus => left - right,
        Operator::Times => left * right,
        Operator::Over => left / right,
        Operator::Modulo => left % right,
        _ => f64::NAN,
    })
}

/// A number, or null where it is none.
fn real(number: f64) -> Value {
    if number.is_finite() { json!(number) } else { Value::Null }
}

fn call(name: &str, arguments: &[Value]) -> Value {
    let known = || arguments.iter().filter(|value| !value.is_null());
    let extreme = |wanted: Ordering| {
        let better = |best: &'_ Value, value: &'_ Value| compare(value, best) == Some(wanted);
        known().fold(None, |best: Option<&Value>, value| match best {
            Some(best) if !better(best, value) => Some(best),
            _ => Some(value),
        })
    };
    match name {
        "coalesce" => known().next().cloned().unwrap_or_default(),
        "least" => extreme(Ordering::Less).cloned().unwrap_or_default(),
        "greatest" => extreme(Ordering::Greater).cloned().unwrap_or_default(),
        "nullif" if compare(&arguments[0], &arguments[1]) == Some(Ordering::Equal) => Value::Null,
        "nullif" => arguments[0].clone(),
        "if" => arguments[if arguments[0] == json!(true) { 1 } else { 2 }].clone(),
        "upper" => arguments[0].as_str().map_or(Value::Null, |text| json!(text.to_uppercase())),
        "lower" => arguments[0].as_str().map_or(Value::Null, |text| json!(text.to_lowercase())),
        "round" => round(arguments),
        _ => number(&arguments[0]).map_or(Value::Null, |number| {
            real(match name {
                "abs" => number.abs(),
                "floor" => number.floor(),
                "ceil" => number.ceil(),
                "sqrt" => number.sqrt(),
                "ln" => number.ln(),
                _ => number.exp(),
            })
        }),
    }
}

/// To a whole number, or to so many digits behind the point.
fn round(arguments: &[Value]) -> Value {
    let Some(of) = number(&arguments[0]) else { return Value::Null };
    let digits = match arguments.get(1) {
        None => 0,
        Some(digits) => match digits.as_i64().and_then(|digits| i32::try_from(digits).ok()) {
            Some(digits) => digits.clamp(-300, 300),
            None => return Value::Null,
        },
    };
    let scale = 10f64.powi(digits);
    let rounded = (of * scale).round() / scale;
    real(if rounded.is_finite() { rounded } else { of })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One;

    impl Known for One {
        fn key(&self, number: usize) -> Value {
            [json!("10"), Value::Null][number].clone()
        }
        fn aggregate(&self, number: usize) -> Value {
            [json!(7), Value::Null, json!(2.5)][number].clone()
        }
        fn ends(&self, _: usize) -> (Value, Value) {
            (json!(5), json!(9))
        }
        fn confidence(&self, _: usize) -> Option<f64> {
            Some(0.95)
        }
        fn item(&self, _: usize) -> &Outer {
            &Outer::Aggregate(0)
        }
    }

    #[test]
    fn null_is_what_nobody_knows() {
        let both = |left: Outer, operator, right: Outer| {
            value(&Outer::Binary(Box::new(left), operator, Box::new(right)), &One)
        };
        let constant = |value: Value| Outer::Constant(value);
        assert_eq!(both(Outer::Aggregate(0), Operator::Plus, Outer::Aggregate(1)), Value::Null);
        assert_eq!(both(Outer::Aggregate(0), Operator::Over, constant(json!(0))), Value::Null);
        assert_eq!(both(Outer::Aggregate(0), Operator::Over, constant(json!(2))), json!(3.5));
        assert_eq!(
            both(Outer::Aggregate(0), Operator::Times, constant(json!(i64::MAX))),
            json!(7.0 * i64::MAX as f64)
        );
        assert_eq!(both(constant(Value::Null), Operator::Or, constant(json!(true))), json!(true));
        assert_eq!(both(constant(Value::Null), Operator::And, constant(json!(false))), json!(false));
        assert_eq!(both(constant(Value::Null), Operator::And, constant(json!(true))), Value::Null);
        assert_eq!(
            both(Outer::Key(0), Operator::Above, constant(json!(9))),
            json!(true),
            "keys are numbers too"
        );
        assert_eq!(both(Outer::Key(0), Operator::Above, constant(json!("x"))), json!(false), "and texts");
        assert_eq!(both(Outer::Low(0), Operator::Minus, Outer::High(0)), json!(-4));
    }

    #[test]
    fn functions_of_released_values() {
        let of = |name: &'static str, arguments: &[Value]| call(name, arguments);
        assert_eq!(of("round", &[json!(2.345), json!(1)]), json!(2.3));
        assert_eq!(of("round", &[json!(1250), json!(-2)]), json!(1300.0));
        assert_eq!(of("round", &[json!("x")]), Value::Null);
        assert_eq!(of("least", &[json!(3), Value::Null, json!(2.5)]), json!(2.5));
        assert_eq!(of("greatest", &[json!(3), Value::Null, json!(2.5)]), json!(3));
        assert_eq!(of("coalesce", &[Value::Null, json!(0)]), json!(0));
        assert_eq!(of("nullif", &[json!(1), json!(1.0)]), Value::Null);
        assert_eq!(of("if", &[Value::Null, json!(1), json!(2)]), json!(2));
        assert_eq!(of("sqrt", &[json!(-1)]), Value::Null);
    }
}
