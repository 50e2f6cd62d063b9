//! Aggregates: which statistics of the session they are, and how their arguments are written.

use crate::{
    SqlError,
    clauses::Clauses,
    inner,
    token::{Kind, Token},
};
use equipoise_core::wording;
use equipoise_session::{
    request::Request,
    statistic::{Argument, Statistic},
};
use std::ops::Range;

/// What the arguments of an aggregate are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `*`, a column, or `DISTINCT` and a column.
    Counted,
    /// A condition.
    Condition,
    /// A column.
    Column,
    /// A column and a fraction.
    Fraction,
    /// A column, and into how many parts its rows are divided.
    Parts,
    /// Two columns.
    Two,
}

/// One aggregate.
#[derive(Debug)]
pub struct Row {
    /// What it is called; the first is how it is shown.
    pub names: &'static [&'static str],
    /// The statistic that it is.
    pub statistic: Statistic,
    /// What its arguments are.
    pub shape: Shape,
}

const fn row(names: &'static [&'static str], statistic: Statistic, shape: Shape) -> Row {
    Row { names, statistic, shape }
}

/// All aggregates.
pub const TABLE: &[Row] = &[
    row(&["COUNT"], Statistic::Count, Shape::Counted),
    row(&["COUNTIF", "COUNT_IF"], Statistic::Count, Shape::Condition),
    row(&["SUM"], Statistic::Sum, Shape::Column),
    row(&["AVG", "MEAN"], Statistic::Mean, Shape::Column),
    row(&["MEDIAN"], Statistic::Median, Shape::Column),
    row(
        &["QUANTILE", "PERCENTILE_CONT", "PERCENTILE_DISC", "APPROX_PERCENTILE"],
        Statistic::Quantile,
        Shape::Fraction,
    ),
    row(&["APPROX_QUANTILES"], Statistic::Quantile, Shape::Parts),
    row(&["VAR_POP", "VAR", "VARIANCE"], Statistic::Variance, Shape::Column),
    row(&["STDDEV_POP", "STDDEV", "STD"], Statistic::Std, Shape::Column),
    row(&["CORR"], Statistic::Correlation, Shape::Two),
    row(&["COVAR_POP"], Statistic::Covariance, Shape::Two),
    row(&["IQR"], Statistic::Iqr, Shape::Column),
    row(&["MODE"], Statistic::Mode, Shape::Column),
    row(&["MIN"], Statistic::Min, Shape::Column),
    row(&["MAX"], Statistic::Max, Shape::Column),
    row(&["APPROX_COUNT_DISTINCT"], Statistic::Distinct, Shape::Column),
];

/// Aggregates that others have, and what to write instead.
const OTHERS: &[(&[&str], &str)] = &[
    (&["VAR_SAMP", "STDDEV_SAMP"], "write VAR_POP or STDDEV_POP, which divide by the number of rows"),
    (
        &["ANON_COUNT", "ANON_SUM", "ANON_AVG", "ANON_VAR_POP", "ANON_STDDEV_POP", "ANON_PERCENTILE_CONT"],
        "write COUNT, SUM, AVG and so on; a range stands behind contribution_bounds_per_row =>",
    ),
    (
        &["ARRAY_AGG", "STRING_AGG", "GROUP_CONCAT", "LISTAGG", "ANY_VALUE", "FIRST_VALUE", "LAST_VALUE"],
        "it would release rows; ask for COUNT, MODE, MEDIAN or another aggregate",
    ),
    (
        &["FIRST", "LAST", "ARG_MAX", "ARG_MIN", "MAX_BY", "MIN_BY"],
        "it would release rows; ask for MODE or MEDIAN",
    ),
    (
        &["BIT_AND", "BIT_OR", "BIT_XOR", "LOGICAL_AND", "LOGICAL_OR", "BOOL_AND", "BOOL_OR"],
        "ask for COUNTIF(condition)",
    ),
    (&["COVAR_SAMP"], "write COVAR_POP, which divides by the number of rows"),
    (&["REGR_SLOPE"], "write COVAR_POP(y, x) / VAR_POP(x)"),
    (&["GROUPING", "ROW_NUMBER", "RANK", "DENSE_RANK", "LAG", "LEAD", "NTILE"], "aggregate by GROUP BY"),
];

/// The row of an aggregate.
pub(crate) fn named(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.names.iter().any(|known| name.eq_ignore_ascii_case(known)))
}

/// What to write instead of an aggregate that others have.
pub(crate) fn instead_of(name: &str) -> Option<&'static str> {
    let is = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    OTHERS.iter().find(|(names, _)| is(names)).map(|(_, instead)| *instead)
}

/// What options and flags say of units: some aggregates mean something only then.
#[derive(Clone, Debug, Default)]
pub(crate) struct Units {
    /// The column that names the unit.
    pub column: Option<String>,
}

/// An aggregate of a query.
#[derive(Clone, Debug)]
pub(crate) struct Aggregate {
    pub statistic: Statistic,
    pub column: Option<String>,
    /// The second column, and its range.
    pub y: Option<String>,
    pub range_y: Option<String>,
    pub fraction: Option<String>,
    /// Between which values rows lie, as stated.
    pub range: Option<(String, String)>,
    /// Between which values what each unit's rows in a group are made lies, as stated.
    pub unit_range: Option<(String, String)>,
    /// Are units counted, whatever rows they have?
    pub counts_units: bool,
    /// Does it only find group keys, for a query that asks for nothing else?
    pub is_found: bool,
    /// Are the ends of its bar asked for?
    pub interval: bool,
    /// The byte of the query at which it begins.
    pub at: usize,
}

impl Aggregate {
    /// Is it the same question?
    pub fn is_like(&self, other: &Self) -> bool {
        let words = |one: &Self| (one.statistic, one.column.clone(), one.fraction.clone(), one.counts_units);
        let ranges = |one: &Self| (one.range.clone(), one.unit_range.clone());
        let second = |one: &Self| (one.y.clone(), one.range_y.clone());
        words(self) == words(other) && ranges(self) == ranges(other) && second(self) == second(other)
    }

    /// Is it taken of each unit first, and then over units?
    fn is_per_unit(&self) -> bool {
        matches!(self.statistic, Statistic::Count | Statistic::Sum | Statistic::Mean) && !self.counts_units
    }

    /// The question, about rows or, where there is a unit, about what each unit's rows are made; `shared` is what all of them have.
    pub fn question(&self, shared: &Request) -> Request {
        let written = |(low, high): &(String, String)| format!("{low},{high}");
        let question = Request {
            statistic: self.statistic.name().to_string(),
            column: self.column.clone(),
            y: self.y.clone(),
            range_y: self.range_y.clone(),
            fraction: self.fraction.clone(),
            range: self.range.as_ref().or(self.unit_range.as_ref()).map(written),
            epsilon: None,
            delta: None,
            ..shared.clone()
        };
        let limits_both = self.range.is_some() && self.unit_range.is_some();
        if shared.unit.is_none() && !limits_both || self.is_found {
            // A row counts as one, which a range for counts holds.
            return Request {
                range: question.range.filter(|_| self.statistic != Statistic::Count),
                ..question
            };
        }
        if self.counts_units {
            // Each of several rows would count; of a unit's rows, however many, one does.
            let several = shared.max_rows_per_unit.as_deref().is_some_and(|rows| rows != "1");
            let once = several.then(|| "0,1".to_string());
            return Request { per_unit: several.then_some(true), range: once, column: None, ..question };
        }
        if !self.is_per_unit() {
            return question;
        }
        let limited = |column: String| match &self.range {
            Some((low, high)) => {
                let is_plain = column.chars().all(|c| c.is_alphanumeric() || c == '_');
                let column = if is_plain { column } else { format!("({column})") };
                format!(
                    "case when {column} < {low} then {low} when {column} > {high} then {high} else {column} end"
                )
            }
            None => column,
        };
        // A mean of rows within a range lies within it; a sum need not.
        let of_rows = self.range.as_ref().filter(|_| self.statistic == Statistic::Mean);
        let range = self.unit_range.as_ref().or(of_rows).map(written);
        // Without a unit a row is its own.
        let per_unit = shared.unit.is_some().then_some(true);
        Request { column: question.column.clone().map(limited), range, per_unit, ..question }
    }
}

/// Read the aggregate whose name stands at this place and whose parentheses end at `close`.
pub(crate) fn read(
    clauses: &Clauses<'_>,
    (place, close): (usize, usize),
    row: &'static Row,
    tables: &[String],
    units: &Units,
) -> Result<Aggregate, SqlError> {
    let name = row.names[0];
    let arguments = clauses.list(&(place + 2..close));
    let is_named = |range: &&Range<usize>| {
        clauses.tokens[(*range).clone()].get(1).is_some_and(|second| second.is_sign("=>"))
    };
    let by_order = |place: &usize| {
        clauses.tokens[*place].is_any(&["order", "within"])
            && clauses.tokens[*place + 1].is_any(&["by", "group"])
    };
    if let Some(place) = (place + 2..close).find(by_order) {
        return Err(clauses
            .wrong(place, format!("{} in an aggregate is not accepted", clauses.tokens[place].shown()))
            .hint("leave it out: no aggregate here depends on the order of rows"));
    }
    let plain: Vec<Range<usize>> = arguments.iter().filter(|range| !is_named(range)).cloned().collect();
    let mut aggregate = Aggregate {
        statistic: row.statistic,
        column: None,
        y: None,
        range_y: None,
        fraction: None,
        range: None,
        unit_range: None,
        counts_units: false,
        is_found: false,
        interval: false,
        at: clauses.byte(place),
    };
    let wanted = match row.shape {
        Shape::Fraction | Shape::Parts | Shape::Two => 2,
        _ => 1,
    };
    let first = plain.first().cloned().unwrap_or(close..close);
    if plain.len() != wanted || first.is_empty() {
        return Err(clauses
            .wrong(place, format!("{name} takes other arguments"))
            .hint(usage(name, row.shape)));
    }
    match row.shape {
        Shape::Counted => counted(clauses, first, tables, units, &mut aggregate)?,
        Shape::Condition => {
            let condition = inner::read(clauses, &first, tables)?;
            aggregate.column = Some(format!("case when {} then 1 end", condition.text));
        }
        Shape::Column | Shape::Fraction | Shape::Parts | Shape::Two => {
            aggregate.column = Some(column(clauses, &first, name, tables)?);
        }
    }
    if let (Shape::Two, Some(second)) = (row.shape, plain.get(1)) {
        aggregate.y = Some(column(clauses, second, name, tables)?);
    } else if let Some(second) = plain.get(1) {
        aggregate.fraction = Some(fraction(clauses, second, row.shape)?);
    }
    for argument in arguments.iter().filter(is_named) {
        contribution(clauses, argument, name, &mut aggregate)?;
    }
    Ok(aggregate)
}

/// A column, or what is computed of some.
fn column(
    clauses: &Clauses<'_>,
    range: &Range<usize>,
    name: &str,
    tables: &[String],
) -> Result<String, SqlError> {
    if clauses.tokens[range.start].is_word("distinct") {
        return Err(clauses
            .wrong(range.start, format!("{name}(DISTINCT ..) is not accepted"))
            .hint("leave DISTINCT out"));
    }
    let column = inner::read(clauses, range, tables)?;
    if !column.names_column {
        return Err(clauses.wrong(range.start, "a constant has no aggregate").hint("name a column"));
    }
    Ok(column.text)
}

fn usage(name: &str, shape: Shape) -> String {
    match shape {
        Shape::Counted => "write COUNT(*), COUNT(x) or COUNT(DISTINCT unit)".to_string(),
        Shape::Condition => format!("write {name}(x > 5)"),
        Shape::Column => format!("write {name}(x)"),
        Shape::Fraction => format!("write {name}(x, 0.9)"),
        Shape::Parts => format!("write {name}(x, 4)"),
        Shape::Two => format!("write {name}(x, y)"),
    }
}

/// What COUNT counts.
fn counted(
    clauses: &Clauses<'_>,
    first: Range<usize>,
    tables: &[String],
    units: &Units,
    aggregate: &mut Aggregate,
) -> Result<(), SqlError> {
    if first.len() == 1 && clauses.tokens[first.start].is_sign("*") {
        return Ok(());
    }
    if !clauses.tokens[first.start].is_word("distinct") {
        let column = inner::read(clauses, &first, tables)?;
        // COUNT(1) counts rows.
        aggregate.column = column.names_column.then_some(column.text);
        return Ok(());
    }
    let column = inner::read(clauses, &(first.start + 1..first.end), tables)?;
    if column.column.is_some() && column.column == units.column {
        aggregate.counts_units = true;
        return Ok(());
    }
    aggregate.statistic = Statistic::Distinct;
    aggregate.column = Some(column.text);
    Ok(())
}

/// Which quantile, or which quantiles divide the rows into so many parts.
fn fraction(clauses: &Clauses<'_>, range: &Range<usize>, shape: Shape) -> Result<String, SqlError> {
    const MOST: usize = 100;
    if shape == Shape::Parts {
        let parts = clauses.whole(range, "the number of parts")?;
        if !(2..=MOST).contains(&parts) {
            return Err(clauses
                .wrong(range.start, format!("{parts} parts are not accepted"))
                .hint(format!("give a whole number from 2 to {MOST}")));
        }
        return Ok((1..parts).map(|part| format!("{part}/{parts}")).collect::<Vec<_>>().join(","));
    }
    match &clauses.tokens[range.clone()] {
        [Token { kind: Kind::Number(digits), .. }] => Ok(digits.clone()),
        _ => Err(clauses
            .wrong(range.start, "the fraction is a number")
            .hint("write it as in QUANTILE(x, 0.9)")),
    }
}

/// A range that was stated for an aggregate: `contribution_bounds_per_row => (0, 100)`.
fn contribution(
    clauses: &Clauses<'_>,
    argument: &Range<usize>,
    name: &str,
    aggregate: &mut Aggregate,
) -> Result<(), SqlError> {
    let word = &clauses.tokens[argument.start];
    let per_group = word.is_word("contribution_bounds_per_group");
    if word.is_word("report_format") {
        return Err(clauses
            .wrong(argument.start, "report_format is not accepted")
            .hint("DP_INTERVAL_LOW(alias) and DP_INTERVAL_HIGH(alias) are the ends of its error bar"));
    }
    if !per_group && !word.is_word("contribution_bounds_per_row") {
        return Err(clauses
            .wrong(argument.start, format!("no argument is called {}", word.shown()))
            .hint("There are: contribution_bounds_per_row, contribution_bounds_per_group"));
    }
    // Of two columns the first range is that of the first.
    let second = !per_group && aggregate.y.is_some() && aggregate.range.is_some();
    let stated = match (per_group, second) {
        (true, _) => aggregate.unit_range.is_some(),
        (false, true) => aggregate.range_y.is_some(),
        (false, false) => aggregate.range.is_some(),
    };
    if stated {
        return Err(clauses.wrong(argument.start, "a range is stated twice").hint("state it once"));
    }
    let value = argument.start + 2..argument.end;
    let (low, high) = pair(clauses, &value)?;
    if aggregate.statistic == Statistic::Count && per_group && !aggregate.counts_units {
        let holds_one = |number: &str, below: bool| {
            number.parse::<f64>().is_ok_and(|number| if below { number <= 1.0 } else { number >= 1.0 })
        };
        if !holds_one(&low, true) || !holds_one(&high, false) {
            return Err(clauses
                .wrong(value.start, "a unit with one row counts as one")
                .hint("give a range that holds 1, such as (0, 10)"));
        }
        aggregate.unit_range = Some((low, high));
        return Ok(());
    }
    let takes = aggregate.statistic.takes(Argument::Range);
    if !takes
        || !per_group && aggregate.statistic == Statistic::Count
        || per_group && !aggregate.is_per_unit()
    {
        return Err(clauses
            .wrong(argument.start, format!("{name} takes no {}", wording::shown(&word.shown())))
            .hint("leave it out"));
    }
    if aggregate.is_per_unit() {
        let number = |text: &str| text.parse::<f64>().ok();
        if !number(&low).zip(number(&high)).is_some_and(|(low, high)| low <= high) {
            return Err(clauses
                .wrong(
                    value.start,
                    format!("({}, {}) is no range of numbers", wording::shown(&low), wording::shown(&high)),
                )
                .hint("give the lower one first, as in (0, 100)"));
        }
    }
    if second {
        aggregate.range_y = Some(format!("{low},{high}"));
        return Ok(());
    }
    let range = if per_group { &mut aggregate.unit_range } else { &mut aggregate.range };
    *range = Some((low, high));
    Ok(())
}

/// Two numbers in parentheses.
fn pair(clauses: &Clauses<'_>, range: &Range<usize>) -> Result<(String, String), SqlError> {
    let wrong = || clauses.wrong(range.start, "a range is two values in parentheses").hint("write (0, 100)");
    let tokens = &clauses.tokens[range.clone()];
    let [open, .., close] = tokens else { return Err(wrong()) };
    if !open.is_sign("(") || !close.is_sign(")") {
        return Err(wrong());
    }
    let ends = clauses.list(&(range.start + 1..range.end - 1));
    let end = |range: &Range<usize>| match &clauses.tokens[range.clone()] {
        [Token { kind: Kind::Number(digits), .. }] => Some(digits.clone()),
        [Token { kind: Kind::Text(text), .. }] => Some(text.clone()),
        [minus, Token { kind: Kind::Number(digits), .. }] if minus.is_sign("-") => Some(format!("-{digits}")),
        _ => None,
    };
    match ends.as_slice() {
        [low, high] => Ok((end(low).ok_or_else(wrong)?, end(high).ok_or_else(wrong)?)),
        _ => Err(wrong()),
    }
}
