//! Text to words, numbers and signs, each with the bytes where it stands. Comments are nothing.

use crate::SqlError;
use equipoise_core::wording;

/// The longest query, in bytes.
const LONGEST: usize = 100_000;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word(String),
    /// A name between `"` or backticks.
    Quoted(String),
    /// Text between `'`.
    Text(String),
    /// Digits, as they were typed and without a sign.
    Number(String),
    /// An operator, a comparison, a parenthesis or what stands between.
    Sign(&'static str),
}

/// One word, number or sign.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub kind: Kind,
    /// The first byte.
    pub start: usize,
    /// The byte behind the last.
    pub end: usize,
}

impl Token {
    /// Is it this word, however it is capitalised?
    pub fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Word(own) if own.eq_ignore_ascii_case(word))
    }

    /// Is it one of these words?
    pub fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_word(word))
    }

    /// Is it this sign?
    pub fn is_sign(&self, sign: &str) -> bool {
        matches!(self.kind, Kind::Sign(own) if own == sign)
    }

    /// As it was typed, short.
    pub fn shown(&self) -> String {
        match &self.kind {
            Kind::Word(text) | Kind::Quoted(text) | Kind::Text(text) | Kind::Number(text) => {
                format!("'{}'", wording::shown(text))
            }
            Kind::Sign(sign) => format!("'{sign}'"),
        }
    }
}

/// Longer signs first, so that `<=` is not `<` and `=`.
const SIGNS: [&str; 23] = [
    "=>", "<=", ">=", "<>", "!=", "==", "||", "::", "=", "<", ">", "(", ")", ",", "+", "-", "*", "/", "%",
    ";", ".", "[", "]",
];

/// All tokens of a query.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, SqlError> {
    if text.len() > LONGEST {
        let problem = format!("a query of {} bytes is too long", text.len());
        return Err(SqlError::anywhere(problem).hint(format!("use at most {LONGEST}")));
    }
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        if first.is_whitespace() {
            start += first.len_utf8();
        } else if rest.starts_with("--") || first == '#' {
            start += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            let Some(length) = rest.find("*/") else {
                return Err(
                    SqlError::at(text, start, "this comment is never closed").hint("close it with */")
                );
            };
            start += length + 2;
        } else {
            let (kind, length) = one(text, start, first)?;
            tokens.push(Token { kind, start, end: start + length });
            start += length;
        }
    }
    Ok(tokens)
}

fn one(text: &str, start: usize, first: char) -> Result<(Kind, usize), SqlError> {
    let rest = &text[start..];
    if matches!(first, '\'' | '"' | '`') {
        let Some((content, length)) = quoted(rest, first) else {
            return Err(SqlError::at(text, start, format!("the quote {first} is never closed"))
                .hint("close it; a doubled quote stands for one"));
        };
        return Ok((if first == '\'' { Kind::Text(content) } else { Kind::Quoted(content) }, length));
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        return Ok((Kind::Word(rest[..length].to_string()), length));
    }
    let fraction = rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit());
    if first.is_ascii_digit() || fraction {
        return number(text, start);
    }
    if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
        return Ok((Kind::Sign(if sign == "==" { "=" } else { sign }), sign.len()));
    }
    let shown = wording::shown(&first.to_string());
    Err(SqlError::at(text, start, format!("the character {shown} is not expected here"))
        .hint("names with such characters stand between double quotes, \"like this\""))
}

/// The text between quotes, a doubled quote standing for one, and how many bytes it took.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((index, character)) = characters.next() {
        if character != quote {
            content.push(character);
        } else if characters.peek().is_some_and(|(_, next)| *next == quote) {
            content.push(quote);
            characters.next();
        } else {
            return Some((content, index + 1));
        }
    }
    None
}

fn number(text: &str, start: usize) -> Result<(Kind, usize), SqlError> {
    let rest = &text.as_bytes()[start..];
    let digits = |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if rest.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(rest.get(length), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + signed);
        if exponent > 0 {
            length += 1 + signed + exponent;
        }
    }
    let behind = text[start + length..].chars().next();
    if behind.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return Err(SqlError::at(text, start, "letters follow a number without a space")
            .hint("names that begin with a digit stand between double quotes, \"2020\""));
    }
    Ok((Kind::Number(text[start..start + length].to_string()), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn words_quotes_numbers_signs_and_no_comments() {
        let word = |text: &str| Kind::Word(text.into());
        assert_eq!(
            kinds("a -- no\n\"b c\" 'it''s' /* no\nno */ 1.5e-3 .5 <= => # no"),
            [
                word("a"),
                Kind::Quoted("b c".into()),
                Kind::Text("it's".into()),
                Kind::Number("1.5e-3".into()),
                Kind::Number(".5".into()),
                Kind::Sign("<="),
                Kind::Sign("=>"),
            ]
        );
    }

    #[test]
    fn what_cannot_be_read_has_a_place() {
        for (text, said) in [
            ("a\n 'b", "line 2, column 2: the quote ' is never closed"),
            ("/* b", "line 1, column 1: this comment is never closed"),
            ("a 2b", "line 1, column 3: letters follow a number"),
            ("a $b", "line 1, column 3: the character $ is not expected"),
        ] {
            let error = tokens(text).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
        assert!(tokens(&" ".repeat(LONGEST + 1)).unwrap_err().to_string().contains("too long"));
    }
}
