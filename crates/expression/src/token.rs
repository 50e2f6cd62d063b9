//! Text to words, numbers and signs, each with the place where it stands.

use crate::{ExpressionError, shown};
use std::{fmt, ops::Range};

/// The longest text of an expression, in bytes.
const LONGEST: usize = 10_000;
/// The longest text between quotes, in bytes: what a constant adds to each row's text is bounded by it.
const LONGEST_QUOTED: usize = 1_000;

/// One word, number or sign.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A name or a keyword.
    Word(String),
    /// A column between `"` or backticks.
    Quoted(String),
    /// Text between `'`, or a day or moment that stands without quotes.
    Text(String),
    /// Digits, as they were typed and without a sign.
    Number(String),
    /// An operator, a comparison, a parenthesis or a comma.
    Sign(&'static str),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) | Self::Quoted(text) | Self::Text(text) | Self::Number(text) => {
                write!(f, "'{}'", shown(text))
            }
            Self::Sign(sign) => write!(f, "'{sign}'"),
        }
    }
}

/// Longer signs first, so that `<=` is not `<` and `=`.
const SIGNS: [&str; 17] =
    ["<=", ">=", "<>", "!=", "==", "||", "=", "<", ">", "(", ")", ",", "+", "-", "*", "/", "%"];

/// All tokens of a text with the byte at which each begins.
pub(crate) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ExpressionError> {
    Ok(spans(text)?.into_iter().map(|(range, token)| (range.start, token)).collect())
}

/// All tokens of a text with the bytes that each takes.
pub(crate) fn spans(text: &str) -> Result<Vec<(Range<usize>, Token)>, ExpressionError> {
    if text.len() > LONGEST {
        return Err(ExpressionError::new(format!("an expression of {} bytes is too long", text.len()))
            .hint(format!("use at most {LONGEST}")));
    }
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        let (token, length) = one(rest, first).map_err(|error| error.at(at))?;
        tokens.push((at..at + length, token));
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn one(rest: &str, first: char) -> Result<(Token, usize), ExpressionError> {
    if matches!(first, '\'' | '"' | '`') {
        let (content, length) = quoted(rest, first)?;
        return Ok((if first == '\'' { Token::Text(content) } else { Token::Quoted(content) }, length));
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        return Ok((Token::Word(rest[..length].to_string()), length));
    }
    if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
        return Ok((Token::Sign(if sign == "==" { "=" } else { sign }), sign.len()));
    }
    match moment(rest) {
        Some(length) => Ok((Token::Text(rest[..length].to_string()), length)),
        None => number(rest),
    }
}

/// The text between quotes, a doubled quote standing for one, and how many bytes it took.
fn quoted(text: &str, quote: char) -> Result<(String, usize), ExpressionError> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((index, character)) = characters.next() {
        if character != quote {
            content.push(character);
        } else if characters.peek().is_some_and(|(_, next)| *next == quote) {
            content.push(quote);
            characters.next();
        } else if content.len() > LONGEST_QUOTED {
            return Err(ExpressionError::new(format!("a text of {} bytes is too long", content.len()))
                .hint(format!("use at most {LONGEST_QUOTED}")));
        } else {
            return Ok((content, index + 1));
        }
    }
    Err(ExpressionError::new(format!("the quote that opens {} is never closed", shown(text))))
}

/// How many bytes a day or moment takes that stands without quotes, such as 2026-01-31 or 2026-01-31T12:30:00Z.
fn moment(text: &str) -> Option<usize> {
    let is_day = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    let day = text.as_bytes().get(..10)?;
    day.iter().copied().enumerate().all(is_day).then(|| {
        // After the day only a time belongs to it: `2026-01-31-x` is a day less x.
        let follows = text[10..].starts_with(['T', 't']);
        let part = |c: char| c.is_ascii_digit() || matches!(c, 'T' | 't' | 'Z' | 'z' | ':' | '.' | '+' | '-');
        if follows { text.find(|c| !part(c)).unwrap_or(text.len()) } else { 10 }
    })
}

/// Digits with at most one point, and an exponent.
fn number(text: &str) -> Result<(Token, usize), ExpressionError> {
    let mut length = 0;
    for (index, character) in text.char_indices() {
        let after_exponent = text[..index].ends_with(['e', 'E']);
        let signed = matches!(character, '+' | '-') && after_exponent;
        if !(signed || character.is_ascii_alphanumeric() || character == '.') {
            break;
        }
        length = index + character.len_utf8();
    }
    let digits = &text[..length];
    let finite = digits.parse().is_ok_and(|value: f64| value.is_finite());
    if finite && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Ok((Token::Number(digits.to_string()), length));
    }
    let start: String = text.chars().take(length.max(1)).collect();
    Err(ExpressionError::new(format!("'{}' is neither a number nor a sign of the grammar", shown(&start))))
}
