//! The one table of functions: their names, how they are written, and when their answer is null.
//!
//! The parser finds functions here, and `docs/expressions.md` is held to these rows by a test.

use std::fmt;

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// A number of 64 bits with a point.
    Float,
    /// A whole number of 64 bits.
    Integer,
    /// Yes or no.
    Boolean,
    /// Text.
    Text,
    /// A day.
    Date,
    /// A moment.
    Timestamp,
}

impl Type {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Float, Self::Integer, Self::Boolean, Self::Text, Self::Date, Self::Timestamp];

    /// A type by its name, as in `cast(x as integer)`.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        Some(match name.as_str() {
            "float" | "double" | "real" | "number" => Self::Float,
            "integer" | "int" | "bigint" => Self::Integer,
            "boolean" | "bool" => Self::Boolean,
            "text" | "varchar" | "string" => Self::Text,
            "date" => Self::Date,
            "timestamp" => Self::Timestamp,
            _ => return None,
        })
    }

    /// Is it a number?
    pub fn is_number(self) -> bool {
        matches!(self, Self::Float | Self::Integer)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Float => "float",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Text => "text",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
        })
    }
}

/// What can be called by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "their rows in the table say what they are")]
pub enum Function {
    Abs,
    Floor,
    Ceil,
    Round,
    Ln,
    Exp,
    Sqrt,
    Least,
    Greatest,
    Coalesce,
    Nullif,
    If,
    Lower,
    Upper,
    Length,
    Substr,
    Concat,
    /// The operator `||`.
    Join,
    Year,
    Month,
    Day,
    Weekday,
    Hour,
    DateTrunc,
}

/// One row of the table.
#[derive(Debug)]
pub struct Row {
    /// Which function it is about; none for what the grammar has by itself.
    pub function: Option<Function>,
    /// Its name.
    pub name: &'static str,
    /// How it is written; ways to write it have a semicolon between them.
    pub usage: &'static str,
    /// What it is.
    pub about: &'static str,
    /// When it is null.
    pub null: &'static str,
    /// The least and the most arguments.
    pub arguments: (usize, usize),
}

const ANY: &str = "any part is null";
/// The most arguments of a function that takes any number of them.
const MANY: usize = 16;

const fn grammar(name: &'static str, usage: &'static str, about: &'static str, null: &'static str) -> Row {
    Row { function: None, name, usage, about, null, arguments: (0, 0) }
}

const fn row(
    function: Function,
    (name, usage): (&'static str, &'static str),
    about: &'static str,
    null: &'static str,
    arguments: (usize, usize),
) -> Row {
    Row { function: Some(function), name, usage, about, null, arguments }
}

/// Everything that an expression may hold besides columns and constants.
pub const TABLE: &[Row] = &[
    grammar(
        "+ - *",
        "a + b; a - b; a * b; -a",
        "numbers; whole where both are; a day and a whole number of days; two days make a number of days, two moments one of seconds",
        "any part is null, or the result leaves 64 bits or the calendar, or is infinite",
    ),
    grammar(
        "/",
        "a / b",
        "a number with a point, also of two whole numbers",
        "any part is null, b is 0, or the result is infinite",
    ),
    grammar("%", "a % b", "what is left after dividing, with the sign of a", "any part is null, or b is 0"),
    grammar(
        "= <> < <= > >=",
        "a < b",
        "numbers as the numbers that they are, texts by their characters' codes, days and moments in time",
        ANY,
    ),
    grammar(
        "and or not",
        "a and (b or not c)",
        "logic with three values: yes, no, null",
        "neither yes nor no follows from what is known",
    ),
    grammar("is null", "a is null; a is not null", "whether there is a value", "never"),
    grammar("in", "a in (1, 2); a not in ('x', 'y')", "one of the constants", "a is null"),
    grammar("between", "a between 1 and 5", "ends included", "any part is null and the others do not decide"),
    grammar(
        "like",
        "a like 'N_w%'",
        "% stands for any characters, _ for one; large and small letters differ",
        "a is null",
    ),
    grammar(
        "case",
        "case when a > 5 then 'many' when a > 0 then 'few' else 'none' end; case a when 1 then 'one' end",
        "the value beside the first condition that is true",
        "that value is null, or no condition is true and there is no else",
    ),
    grammar(
        "cast",
        "cast(a as integer)",
        "the same as float, integer, boolean, text, date or timestamp; a number with a point becomes the nearest whole one, halves away from zero",
        "a is null, or is no such value, or leaves 64 bits",
    ),
    row(
        Function::If,
        ("if", "if(a > 5, 'many', 'few')"),
        "the second where the first is true, else the third",
        "the one that is taken is null",
        (3, 3),
    ),
    row(
        Function::Coalesce,
        ("coalesce", "coalesce(a, b, 0)"),
        "the first that is not null",
        "all are null",
        (1, MANY),
    ),
    row(
        Function::Nullif,
        ("nullif", "nullif(a, -1)"),
        "a, but null where both are equal",
        "a is null, or both are equal",
        (2, 2),
    ),
    row(
        Function::Least,
        ("least", "least(a, b)"),
        "the smallest that is not null",
        "all are null",
        (1, MANY),
    ),
    row(
        Function::Greatest,
        ("greatest", "greatest(a, b)"),
        "the largest that is not null",
        "all are null",
        (1, MANY),
    ),
    row(Function::Abs, ("abs", "abs(a)"), "the distance from 0", "a is null, infinite, or -2^63", (1, 1)),
    row(
        Function::Floor,
        ("floor", "floor(a)"),
        "the next whole number below",
        "a is null or infinite",
        (1, 1),
    ),
    row(Function::Ceil, ("ceil", "ceil(a)"), "the next whole number above", "a is null or infinite", (1, 1)),
    row(
        Function::Round,
        ("round", "round(a); round(a, 2)"),
        "the nearest number with so many digits after the point, halves away from zero; the number of digits is a constant",
        "a is null or infinite, or the result leaves 64 bits",
        (1, 2),
    ),
    row(Function::Ln, ("ln", "ln(a)"), "the natural logarithm", "a is null, infinite, 0 or less", (1, 1)),
    row(
        Function::Exp,
        ("exp", "exp(a)"),
        "e to the power of a",
        "a is null, or the result is infinite",
        (1, 1),
    ),
    row(Function::Sqrt, ("sqrt", "sqrt(a)"), "the square root", "a is null, infinite or below 0", (1, 1)),
    row(
        Function::Lower,
        ("lower", "lower(a)"),
        "in small letters",
        "a is null, or the result has more than 65536 bytes",
        (1, 1),
    ),
    row(
        Function::Upper,
        ("upper", "upper(a)"),
        "in large letters",
        "a is null, or the result has more than 65536 bytes",
        (1, 1),
    ),
    row(Function::Length, ("length", "length(a)"), "how many characters", "a is null", (1, 1)),
    row(
        Function::Substr,
        ("substr", "substr(a, 2); substr(a, 2, 3)"),
        "characters from the second on, or three of them; a negative place counts from the end",
        ANY,
        (2, 3),
    ),
    row(
        Function::Join,
        ("||", "a || ' ' || b"),
        "one text after another",
        "any part is null, or the result has more than 65536 bytes",
        (2, MANY),
    ),
    row(
        Function::Concat,
        ("concat", "concat(a, ' ', b)"),
        "the same, nulls left out",
        "the result has more than 65536 bytes",
        (1, MANY),
    ),
    row(Function::Year, ("year", "year(a)"), "the year of a day or moment, in UTC", "a is null", (1, 1)),
    row(Function::Month, ("month", "month(a)"), "1 to 12", "a is null", (1, 1)),
    row(Function::Day, ("day", "day(a)"), "1 to 31", "a is null", (1, 1)),
    row(Function::Weekday, ("weekday", "weekday(a)"), "0 for Sunday to 6 for Saturday", "a is null", (1, 1)),
    row(Function::Hour, ("hour", "hour(a)"), "0 to 23; of a day 0", "a is null", (1, 1)),
    row(
        Function::DateTrunc,
        ("date_trunc", "date_trunc('month', a)"),
        "the beginning of the year, quarter, month, week (Monday) or day as a day, of the hour, minute or second as a moment",
        "a is null, or the result leaves the calendar",
        (2, 2),
    ),
];

impl Function {
    /// A function by its name, or by the name that others give it.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = match name.as_str() {
            "ceiling" => "ceil",
            "substring" => "substr",
            "iff" => "if",
            name => name,
        };
        TABLE.iter().find(|row| row.name == name && row.name != "||").and_then(|row| row.function)
    }

    /// Its row.
    pub(crate) fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.function == Some(self)).expect("every function has a row")
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The names of all functions, for whoever mistyped one.
    pub fn names() -> Vec<&'static str> {
        TABLE.iter().filter(|row| row.function.is_some() && row.name != "||").map(|row| row.name).collect()
    }
}
