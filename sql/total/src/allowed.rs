//! The list: which functions have a total form, which arguments must be literals, and why others have none.

use crate::{
    kernel::{Kernel, OPERATORS},
    size::Size,
    total::Total,
};
use datafusion::logical_expr::{Operator, ScalarUDF};
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

/// What a total form asks of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    pub name: &'static str,
    /// Places of arguments that must be literals: patterns, formats, units, sizes.
    pub literals: &'static [usize],
    pub size: Size,
    /// When the value is null although no argument is.
    pub null: &'static str,
}

const fn rule(name: &'static str, literals: &'static [usize], size: Size, null: &'static str) -> Rule {
    Rule { name, literals, size, null }
}

const fn plain(name: &'static str, null: &'static str) -> Rule {
    rule(name, &[], Size::Small, null)
}

const RANGE: &str = "the argument is outside of what the function is defined on, or the result is infinite";
const LEAVES: &str = "the result leaves its type";
const CALENDAR: &str = "the text is no such moment, or the result leaves the calendar or its type";

/// The functions of the list.
pub const FUNCTIONS: &[Rule] = &[
    plain("abs", LEAVES),
    plain("acos", RANGE),
    plain("acosh", RANGE),
    plain("asin", RANGE),
    plain("asinh", RANGE),
    plain("atan", RANGE),
    plain("atan2", RANGE),
    plain("atanh", RANGE),
    plain("cbrt", RANGE),
    plain("ceil", LEAVES),
    plain("cos", RANGE),
    plain("cosh", RANGE),
    plain("cot", RANGE),
    plain("degrees", RANGE),
    plain("exp", RANGE),
    plain("factorial", "the number is negative or above 20"),
    plain("floor", LEAVES),
    plain("gcd", LEAVES),
    plain("greatest", ""),
    plain("iszero", ""),
    plain("lcm", LEAVES),
    plain("least", ""),
    plain("ln", RANGE),
    plain("log", RANGE),
    plain("log10", RANGE),
    plain("log2", RANGE),
    plain("power", RANGE),
    plain("radians", RANGE),
    plain("round", LEAVES),
    plain("signum", ""),
    plain("sin", RANGE),
    plain("sinh", RANGE),
    plain("sqrt", RANGE),
    plain("tan", RANGE),
    plain("tanh", RANGE),
    plain("trunc", LEAVES),
    plain("ascii", ""),
    plain("bit_length", LEAVES),
    plain("btrim", ""),
    plain("character_length", LEAVES),
    plain("chr", "the number is no character"),
    rule("concat", &[], Size::Joined, ""),
    rule("concat_ws", &[], Size::Joined, ""),
    plain("contains", ""),
    plain("ends_with", ""),
    plain("find_in_set", ""),
    plain("initcap", ""),
    plain("left", ""),
    plain("lower", ""),
    rule("lpad", &[1], Size::Padded, ""),
    plain("ltrim", ""),
    plain("octet_length", LEAVES),
    rule("overlay", &[], Size::Joined, "the position is below 1"),
    rule("repeat", &[1], Size::Repeated, ""),
    rule("replace", &[], Size::Replaced, ""),
    plain("reverse", ""),
    plain("right", ""),
    rule("rpad", &[1], Size::Padded, ""),
    plain("rtrim", ""),
    plain("split_part", "the part is the zeroth"),
    plain("starts_with", ""),
    plain("strpos", ""),
    plain("substr", "the length is negative"),
    plain("substr_index", ""),
    plain("to_hex", ""),
    rule("translate", &[], Size::Translated, ""),
    plain("upper", ""),
    rule("regexp_count", &[1, 3], Size::Small, "the start is below 1"),
    rule("regexp_instr", &[1, 4], Size::Small, "the start is below 1"),
    rule("regexp_like", &[1, 2], Size::Small, ""),
    rule("regexp_replace", &[1, 2, 3], Size::PatternReplaced, ""),
    rule("date_bin", &[0, 2], Size::Small, CALENDAR),
    rule("date_part", &[0], Size::Small, CALENDAR),
    rule("date_trunc", &[0], Size::Small, CALENDAR),
    rule("from_unixtime", &[1], Size::Small, CALENDAR),
    plain("make_date", CALENDAR),
    plain("make_time", CALENDAR),
    rule("to_char", &[1], Size::Small, CALENDAR),
    rule("to_date", &[1, 2, 3, 4], Size::Small, CALENDAR),
    plain("to_local_time", CALENDAR),
    rule("to_time", &[1, 2, 3, 4], Size::Small, CALENDAR),
    rule("to_timestamp", &[1, 2, 3, 4], Size::Small, CALENDAR),
    rule("to_timestamp_micros", &[1, 2, 3, 4], Size::Small, CALENDAR),
    rule("to_timestamp_millis", &[1, 2, 3, 4], Size::Small, CALENDAR),
    rule("to_timestamp_nanos", &[1, 2, 3, 4], Size::Small, CALENDAR),
    rule("to_timestamp_seconds", &[1, 2, 3, 4], Size::Small, CALENDAR),
    rule("to_unixtime", &[1, 2, 3, 4], Size::Small, CALENDAR),
];

/// Functions that people will ask for and that have no total form: why, and what to write.
pub const REFUSED: &[(&str, &str, &str)] = &[
    (
        "now",
        "its value depends on when the query runs",
        "write the moment as a literal: TIMESTAMP '2026-01-31 12:00:00'",
    ),
    (
        "current_date",
        "its value depends on when the query runs",
        "write the day as a literal: DATE '2026-01-31'",
    ),
    ("current_time", "its value depends on when the query runs", "write the time as a literal"),
    ("random", "its value is not a function of the row", "leave it out"),
    ("uuid", "its value is not a function of the row", "leave it out"),
    ("isnan", "NaN is null in private queries", "write x IS NULL"),
    ("nanvl", "NaN is null in private queries", "write coalesce(x, y)"),
    ("levenshtein", "its time is the product of two lengths that rows decide", "compare with = or LIKE"),
    ("regexp_match", "its value is a list", "write regexp_like, regexp_count or regexp_replace"),
    ("arrow_cast", "it casts to types by name", "write CAST(x AS type)"),
    ("arrow_try_cast", "it casts to types by name", "write CAST(x AS type)"),
];

static BY_NAME: LazyLock<BTreeMap<&'static str, Rule>> =
    LazyLock::new(|| FUNCTIONS.iter().map(|rule| (rule.name, *rule)).collect());

/// The total form of a function, if it is on the list.
pub fn function(function: &Arc<ScalarUDF>) -> Option<Total> {
    let rule = BY_NAME.get(function.name())?;
    Some(Total::new(rule.name, Kernel::Function(Arc::clone(function)), *rule))
}

/// The total form of an operator, if it has one.
pub fn operator(operator: Operator) -> Option<Total> {
    use Operator::{
        ILikeMatch, LikeMatch, NotILikeMatch, NotLikeMatch, RegexIMatch, RegexMatch, RegexNotIMatch,
        RegexNotMatch, StringConcat,
    };
    let (_, name) = OPERATORS.iter().find(|(known, _)| *known == operator)?;
    let (literals, size): (&'static [usize], _) = match operator {
        StringConcat => (&[], Size::Joined),
        LikeMatch | NotLikeMatch | ILikeMatch | NotILikeMatch | RegexMatch | RegexIMatch | RegexNotMatch
        | RegexNotIMatch => (&[1], Size::Small),
        _ => (&[], Size::Small),
    };
    Some(Total::new(name, Kernel::Operator(operator), rule(name, literals, size, "")))
}

pub fn cast() -> Total {
    Total::new("cast", Kernel::Cast, rule("cast", &[1], Size::Small, ""))
}

pub fn negative() -> Total {
    Total::new("negative", Kernel::Negative, plain("negative", ""))
}

pub fn normal() -> Total {
    Total::new("normal", Kernel::Normal, plain("normal", ""))
}

/// Every total form, with DataFusion's functions as they are without settings.
pub fn all() -> Vec<Total> {
    let functions = datafusion::functions::all_default_functions();
    let operators = OPERATORS.iter().filter_map(|(known, _)| operator(*known));
    functions.iter().filter_map(function).chain(operators).chain([cast(), negative(), normal()]).collect()
}
