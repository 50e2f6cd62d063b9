//! The options of the clause: what the answers may cost, whose privacy is protected, and how much of each unit takes part.

use crate::{
    SqlError,
    clauses::Clauses,
    token::{Kind, Token},
};
use equipoise_core::wording;
use equipoise_session::request::Request;
use std::ops::Range;

/// The options there are.
const NAMES: [&str; 10] = [
    "epsilon",
    "delta",
    "privacy_unit_column",
    "max_groups_contributed",
    "max_rows_contributed",
    "group_selection_strategy",
    "keys",
    "confidence",
    "adjacency",
    "window",
];

/// The options of a query, put beside what flags say. An option that both give must be the same.
pub(crate) fn read(clauses: &Clauses<'_>, given: &Request) -> Result<Request, SqlError> {
    let mut request = given.clone();
    let Some(options) = &clauses.options else { return Ok(request) };
    if options.is_empty() {
        return Ok(request);
    }
    let mut seen: Vec<String> = Vec::new();
    for option in clauses.list(options) {
        let [name, sign, _, ..] = &clauses.tokens[option.clone()] else {
            return Err(clauses
                .wrong(option.start, "an option is a name and a value")
                .hint("write OPTIONS(epsilon=1, delta=1e-6)"));
        };
        let Kind::Word(word) = &name.kind else {
            return Err(clauses.wrong(option.start, format!("{} is no option", name.shown())));
        };
        if !sign.is_sign("=") {
            return Err(clauses.wrong(option.start + 1, format!("'=' is expected behind {}", name.shown())));
        }
        let name = word.to_ascii_lowercase();
        if seen.contains(&name) {
            return Err(clauses
                .wrong(option.start, format!("{name} stands there twice"))
                .hint("give it once"));
        }
        one(clauses, &name, &option, &mut request)?;
        seen.push(name);
    }
    Ok(request)
}

fn one(
    clauses: &Clauses<'_>,
    name: &str,
    option: &Range<usize>,
    request: &mut Request,
) -> Result<(), SqlError> {
    let value = option.start + 2..option.end;
    match name {
        "epsilon" => set(clauses, option, &mut request.epsilon, number(clauses, &value)?),
        "delta" => set(clauses, option, &mut request.delta, number(clauses, &value)?),
        "confidence" => set(clauses, option, &mut request.confidence, number(clauses, &value)?),
        "adjacency" => set(clauses, option, &mut request.adjacency, text(clauses, &value)?),
        "window" => set(clauses, option, &mut request.window, text(clauses, &value)?),
        "privacy_unit_column" => {
            if clauses.tokens[value.start].is_sign("[") {
                return Err(clauses.more_than_one_table(value.start, "a list of units"));
            }
            set(clauses, option, &mut request.unit, text(clauses, &value)?)
        }
        "max_groups_contributed" => {
            set(clauses, option, &mut request.max_groups_per_unit, bound(clauses, &value)?)
        }
        "max_rows_contributed" => {
            set(clauses, option, &mut request.max_rows_per_unit, bound(clauses, &value)?)
        }
        "group_selection_strategy" => {
            let strategy = text(clauses, &value)?;
            match strategy.to_ascii_lowercase().as_str() {
                "laplace_threshold" => Ok(()),
                "public_groups" => Err(clauses
                    .wrong(value.start, "PUBLIC_GROUPS takes the keys from a second table")
                    .hint("state them: OPTIONS(keys=['Ayr', 'Bern'])")),
                _ => Err(clauses
                    .wrong(value.start, format!("no strategy is called '{}'", wording::shown(&strategy)))
                    .hint("leave it out; keys that enough rows have are found")),
            }
        }
        "keys" => {
            request.keys = list(clauses, &value)?;
            Ok(())
        }
        "min_privacy_units_per_group" => Err(clauses
            .wrong(option.start, "min_privacy_units_per_group is not accepted")
            .hint("leave it out; keys that only few units have are not released, and HAVING COUNT(DISTINCT unit) > 50 asks for more")),
        "public_tables" => Err(clauses.more_than_one_table(option.start, "a second table")),
        _ => {
            let nearest = wording::nearest(name, &NAMES);
            let problem = format!("no option is called '{}'", wording::shown(name));
            let (problem, meant) = wording::and_nearest(&problem, &nearest);
            Err(clauses.wrong(option.start, problem).hint(format!("{meant}There are: {}", NAMES.join(", "))))
        }
    }
}

/// Take a value, unless a flag says another.
fn set(
    clauses: &Clauses<'_>,
    option: &Range<usize>,
    field: &mut Option<String>,
    value: String,
) -> Result<(), SqlError> {
    if let Some(given) = field
        && *given != value
    {
        let name = clauses.tokens[option.start].shown();
        let (here, there) = (wording::shown(&value), wording::shown(given));
        return Err(clauses
            .wrong(option.start, format!("{name} is {here} here and {there} beside the query"))
            .hint("give it once"));
    }
    *field = Some(value);
    Ok(())
}

fn number(clauses: &Clauses<'_>, value: &Range<usize>) -> Result<String, SqlError> {
    if let [Token { kind: Kind::Number(digits), .. }] = &clauses.tokens[value.clone()] {
        return Ok(digits.clone());
    }
    let typed = wording::shown(&clauses.slice(value));
    Err(clauses.wrong(value.start, format!("{typed} is not a number")).hint("write it as in epsilon=0.5"))
}

fn bound(clauses: &Clauses<'_>, value: &Range<usize>) -> Result<String, SqlError> {
    if clauses.tokens[value.start].is_word("null") {
        return Err(clauses
            .wrong(value.start, "without a bound one person could change every group")
            .hint("give a whole number, or leave it out"));
    }
    number(clauses, value)
}

fn text(clauses: &Clauses<'_>, value: &Range<usize>) -> Result<String, SqlError> {
    match &clauses.tokens[value.clone()] {
        [Token { kind: Kind::Word(text) | Kind::Quoted(text) | Kind::Text(text), .. }] => Ok(text.clone()),
        // A column with the name of its table before it.
        [_, dot, Token { kind: Kind::Word(text) | Kind::Quoted(text), .. }] if dot.is_sign(".") => {
            Ok(text.clone())
        }
        _ => {
            let typed = wording::shown(&clauses.slice(value));
            Err(clauses.wrong(value.start, format!("{typed} is no name")))
        }
    }
}

/// Texts or numbers between brackets.
fn list(clauses: &Clauses<'_>, value: &Range<usize>) -> Result<Vec<String>, SqlError> {
    let wrong = |place: usize| {
        clauses.wrong(place, "a list stands between brackets").hint("write keys=['Ayr', 'Bern']")
    };
    let tokens = &clauses.tokens[value.clone()];
    let [open, _, .., close] = tokens else { return Err(wrong(value.start)) };
    if !open.is_sign("[") || !close.is_sign("]") {
        return Err(wrong(value.start));
    }
    let one = |range: Range<usize>| match &clauses.tokens[range.clone()] {
        [Token { kind: Kind::Text(text) | Kind::Number(text), .. }] => Ok(text.clone()),
        [null] if null.is_word("null") => Ok(String::new()),
        _ => Err(wrong(range.start)),
    };
    clauses.list(&(value.start + 1..value.end - 1)).into_iter().map(one).collect()
}
