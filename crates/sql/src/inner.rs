//! What is asked of single rows: the tokens of a query as an expression of [`equipoise_expression`], in its one spelling.

use crate::{SqlError, aggregate, clauses::Clauses, token::Kind};
use equipoise_core::wording;
use equipoise_expression::Expression;
use std::ops::Range;

/// What other dialects call functions that there are.
const FUNCTIONS: [(&str, &str); 9] = [
    ("ifnull", "coalesce"),
    ("nvl", "coalesce"),
    ("safe_cast", "cast"),
    ("char_length", "length"),
    ("len", "length"),
    ("substring", "substr"),
    ("ceiling", "ceil"),
    ("ucase", "upper"),
    ("lcase", "lower"),
];
/// What other dialects call types that there are.
const TYPES: [(&str, &str); 4] =
    [("int64", "integer"), ("float64", "float"), ("smallint", "integer"), ("datetime", "timestamp")];
/// The parts of a day that EXTRACT takes, and the functions that tell them.
const PARTS: [(&str, &str); 5] =
    [("year", "year"), ("month", "month"), ("day", "day"), ("hour", "hour"), ("dayofweek", "weekday")];

/// An expression about one row, in its one spelling, and its tokens as they were rewritten.
#[derive(Clone, Debug)]
pub(crate) struct Inner {
    /// The expression; a column by its name, quoted where it needs quotes.
    pub text: String,
    /// The name of the column, where it is nothing else.
    pub column: Option<String>,
    /// Does it name a column at all?
    pub names_column: bool,
}

/// Text that is made of tokens, each byte with the byte of the query that it comes from.
#[derive(Default)]
struct Rewritten {
    text: String,
    from: Vec<usize>,
}

impl Rewritten {
    fn push(&mut self, text: &str, from: usize) {
        self.text.push_str(text);
        self.text.push(' ');
        self.from.resize(self.text.len(), from);
    }

    /// The byte of the query that a place of the text comes from.
    fn byte(&self, (line, column): (usize, usize)) -> Option<usize> {
        // A text between quotes may hold line ends.
        let start = match line {
            1 => 0,
            line => self.text.match_indices('\n').nth(line - 2)?.0 + 1,
        };
        let (offset, _) = self.text[start..].char_indices().nth(column - 1)?;
        self.from.get(start + offset).copied()
    }
}

fn named(list: &[(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    list.iter().find(|(known, _)| word.eq_ignore_ascii_case(known)).map(|(_, name)| *name)
}

/// The expression of some tokens. `tables` are the names that may stand before a column.
pub(crate) fn read(
    clauses: &Clauses<'_>,
    range: &Range<usize>,
    tables: &[String],
) -> Result<Inner, SqlError> {
    if range.is_empty() {
        return Err(clauses.wrong(range.start, "an expression is expected here"));
    }
    let rewritten = rewrite(clauses, range, tables)?;
    let expression = Expression::parse(&rewritten.text).map_err(|error| {
        let place = error.position(&rewritten.text).and_then(|position| rewritten.byte(position));
        let end = clauses.tokens[range.end - 1].end;
        let wrong = SqlError::at(clauses.text, place.unwrap_or(end), error.problem());
        match error.next_step() {
            Some(hint) => wrong.hint(hint),
            None => wrong,
        }
    })?;
    Ok(Inner {
        text: expression.to_string(),
        column: expression.as_column().map(str::to_string),
        names_column: !expression.names().is_empty(),
    })
}

fn rewrite(clauses: &Clauses<'_>, range: &Range<usize>, tables: &[String]) -> Result<Rewritten, SqlError> {
    let mut rewritten = Rewritten::default();
    let tokens = &clauses.tokens[..range.end];
    let mut place = range.start;
    // The parentheses behind which one is added to the number of a day.
    let mut one_more: Vec<usize> = Vec::new();
    while let Some(token) = tokens.get(place) {
        let next = tokens.get(place + 1);
        let called = next.is_some_and(|next| next.is_sign("("));
        let at = token.start;
        match &token.kind {
            Kind::Word(name) | Kind::Quoted(name) if next.is_some_and(|next| next.is_sign(".")) => {
                if !tables.iter().any(|table| table.eq_ignore_ascii_case(name)) {
                    let problem = format!("no table is called '{}'", wording::shown(name));
                    let known = wording::shown(tables.last().map_or("", String::as_str));
                    return Err(clauses
                        .wrong(place, problem)
                        .hint(format!("the table of FROM is '{known}'")));
                }
                place += 1;
            }
            Kind::Word(word) if called && word.eq_ignore_ascii_case("extract") => {
                let part = tokens.get(place + 2).and_then(|part| match &part.kind {
                    Kind::Word(part) => named(&PARTS, part),
                    _ => None,
                });
                let from = tokens.get(place + 3).is_some_and(|from| from.is_word("from"));
                let (Some(part), true) = (part, from) else {
                    return Err(clauses
                        .wrong(place + 2, "EXTRACT takes a part of a day")
                        .hint("write EXTRACT(YEAR FROM x), or MONTH, DAY, HOUR, DAYOFWEEK"));
                };
                if part == "weekday" {
                    // GoogleSQL numbers days from 1 for Sunday, `weekday` from 0.
                    rewritten.push("(", at);
                    one_more.extend(clauses.closing(place + 1, range.end));
                }
                rewritten.push(part, at);
                rewritten.push("(", at);
                place += 3;
            }
            Kind::Word(word) if called && aggregate::named(word).is_some() => {
                let word = word.to_uppercase();
                return Err(clauses
                    .wrong(place, format!("{word} stands where a single row is asked about"))
                    .hint("aggregates stand in the list behind SELECT, in HAVING and in ORDER BY"));
            }
            Kind::Word(word) if called => rewritten.push(named(&FUNCTIONS, word).unwrap_or(word), at),
            Kind::Word(_)
                if token.is_any(&["date", "timestamp", "datetime"])
                    && matches!(next.map(|next| &next.kind), Some(Kind::Text(_))) => {}
            Kind::Word(word) if word.eq_ignore_ascii_case("interval") => {
                return Err(clauses
                    .wrong(place, "INTERVAL is not accepted")
                    .hint("add whole days to a date, as in hired + 30"));
            }
            Kind::Word(_) if token.is_any(&["current_date", "current_timestamp", "current_time", "now"]) => {
                return Err(clauses
                    .wrong(place, "a query has no clock: asked again, it would be another")
                    .hint("write the day, as in '2026-01-31'"));
            }
            Kind::Word(word) => {
                let is_type = place > range.start && tokens[place - 1].is_word("as");
                let renamed = if is_type { named(&TYPES, word) } else { None };
                rewritten.push(renamed.unwrap_or(word), at);
            }
            Kind::Quoted(name) => rewritten.push(&format!("\"{}\"", name.replace('"', "\"\"")), at),
            Kind::Text(text) => rewritten.push(&format!("'{}'", text.replace('\'', "''")), at),
            Kind::Number(digits) => {
                if is_day(clauses, place, range.end) {
                    return Err(clauses
                        .wrong(place, "a day without quotes would be a subtraction")
                        .hint("put it between quotes, as in '2026-01-31'"));
                }
                rewritten.push(digits, at);
            }
            Kind::Sign("::") => {
                return Err(clauses.wrong(place, "'::' is not accepted").hint("write CAST(x AS integer)"));
            }
            Kind::Sign(sign @ ("=>" | "." | "[" | "]" | ";")) => {
                return Err(clauses.wrong(place, format!("'{sign}' is not expected here")));
            }
            Kind::Sign(sign) => {
                rewritten.push(sign, at);
                if one_more.contains(&place) {
                    rewritten.push("+ 1 )", at);
                }
            }
        }
        place += 1;
    }
    Ok(rewritten)
}

/// Do a year, a month and a day stand here, joined by minus signs without spaces?
fn is_day(clauses: &Clauses<'_>, place: usize, end: usize) -> bool {
    let Some(five) = clauses.tokens[..end].get(place..place + 5) else { return false };
    let digits = |place: usize, length: usize| matches!(&five[place].kind, Kind::Number(digits) if digits.len() == length);
    let close = five.windows(2).all(|pair| pair[0].end == pair[1].start);
    close && digits(0, 4) && digits(2, 2) && digits(4, 2) && five[1].is_sign("-") && five[3].is_sign("-")
}
