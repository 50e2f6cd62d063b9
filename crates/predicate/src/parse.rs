//! Text to a tree: a hand-written reader that always ends, in depth and length that are bounded.

use crate::{PredicateError, shown};
use std::fmt;

const LONGEST: usize = 10_000;
const DEEPEST: usize = 60;

/// A yes-or-no question about one record, as it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Predicate {
    /// All of them.
    And(Vec<Predicate>),
    /// At least one of them.
    Or(Vec<Predicate>),
    /// The opposite.
    Not(Box<Predicate>),
    /// A comparison.
    Compare(Side, Comparison, Side),
    /// The column has one of these values.
    In(String, Vec<Constant>),
    /// The column lies between both, ends included.
    Between(String, Constant, Constant),
    /// The column has no value.
    IsNull(String),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// =
    Equal,
    /// <> or !=
    Unequal,
    /// <
    Below,
    /// <=
    AtMost,
    /// >
    Above,
    /// >=
    AtLeast,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Side {
    /// A column by name.
    Column(String),
    /// A constant.
    Constant(Constant),
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// A whole number.
    Whole(i64),
    /// Any other number, as the nearest float.
    Real(f64),
    /// Text.
    Text(String),
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Quoted(String),
    Constant(Constant),
    Sign(&'static str),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) | Self::Quoted(text) | Self::Constant(Constant::Text(text)) => {
                write!(f, "'{}'", shown(text))
            }
            Self::Constant(Constant::Whole(value)) => write!(f, "'{value}'"),
            Self::Constant(Constant::Real(value)) => write!(f, "'{value}'"),
            Self::Sign(sign) => write!(f, "'{sign}'"),
        }
    }
}

const SIGNS: [&str; 11] = ["<=", ">=", "<>", "!=", "==", "=", "<", ">", "(", ")", ","];
const KEYWORDS: [&str; 7] = ["and", "or", "not", "in", "between", "is", "null"];

fn error(text: impl Into<String>) -> PredicateError {
    PredicateError(text.into())
}

impl Predicate {
    /// Read a predicate such as `age >= 18 and country in ('CH', 'AT')`.
    pub fn parse(text: &str) -> Result<Self, PredicateError> {
        if text.len() > LONGEST {
            return Err(error(format!(
                "a predicate of {} bytes is too long; use at most {LONGEST}",
                text.len()
            )));
        }
        let mut reader = Reader { tokens: tokens(text)?, at: 0, depth: 0 };
        let predicate = reader.either()?;
        match reader.peek() {
            None => Ok(predicate),
            Some(token) => Err(error(format!("{token} is not expected here; join conditions with and, or"))),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, PredicateError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first == '\'' || first == '"' {
            let (content, length) = quoted(rest, first)?;
            (
                if first == '"' { Token::Quoted(content) } else { Token::Constant(Constant::Text(content)) },
                length,
            )
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            (Token::Word(rest[..length].to_string()), length)
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Token::Sign(if sign == "==" { "=" } else { sign }), sign.len())
        } else if let Some(length) = moment(rest) {
            (Token::Constant(Constant::Text(rest[..length].to_string())), length)
        } else {
            number(rest)?
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// The text between quotes, a doubled quote standing for one, and how many bytes it took.
fn quoted(text: &str, quote: char) -> Result<(String, usize), PredicateError> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((index, character)) = characters.next() {
        if character != quote {
            content.push(character);
        } else if characters.peek().is_some_and(|(_, next)| *next == quote) {
            content.push(quote);
            characters.next();
        } else {
            return Ok((content, index + 1));
        }
    }
    Err(error(format!("the quote that opens {} is never closed", shown(text))))
}

/// How many bytes a day or moment takes that stands without quotes, such as 2026-01-31 or 2026-01-31T12:30:00Z. It is text;
/// in this form the order of texts is that of days.
fn moment(text: &str) -> Option<usize> {
    let is_day = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    let day = text.as_bytes().get(..10)?;
    day.iter().copied().enumerate().all(is_day).then(|| {
        let part = |c: char| c.is_ascii_digit() || matches!(c, 'T' | 't' | 'Z' | 'z' | ':' | '.' | '+' | '-');
        text.find(|c| !part(c)).unwrap_or(text.len())
    })
}

fn number(text: &str) -> Result<(Token, usize), PredicateError> {
    let mut length = 0;
    for (index, character) in text.char_indices() {
        let exponent = text[..index].ends_with(['e', 'E']);
        let sign = matches!(character, '+' | '-') && (index == 0 || exponent);
        if !(sign || character.is_ascii_alphanumeric() || character == '.') {
            break;
        }
        length = index + character.len_utf8();
    }
    let digits = &text[..length];
    let plain = digits.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let constant =
        digits.parse().map(Constant::Whole).ok().or_else(|| {
            digits.parse().ok().filter(|value: &f64| plain && value.is_finite()).map(Constant::Real)
        });
    if let Some(constant) = constant {
        return Ok((Token::Constant(constant), length));
    }
    let start: String = text.chars().take(length.max(1)).collect();
    Err(error(format!("'{}' is neither a number nor a sign of the grammar", shown(&start))))
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self, wanted: &str) -> Result<Token, PredicateError> {
        let token = self
            .peek()
            .cloned()
            .ok_or_else(|| error(format!("the predicate ends where {wanted} is expected")))?;
        self.at += 1;
        Ok(token)
    }

    /// Take this word or sign if it comes next.
    fn take(&mut self, wanted: &str) -> bool {
        let found = match self.peek() {
            Some(Token::Word(word)) => word.eq_ignore_ascii_case(wanted),
            Some(Token::Sign(sign)) => *sign == wanted,
            _ => false,
        };
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: &str) -> Result<(), PredicateError> {
        if self.take(wanted) {
            return Ok(());
        }
        let token = self.next(&format!("'{wanted}'"))?;
        Err(error(format!("{token} stands where '{wanted}' is expected")))
    }

    fn either(&mut self) -> Result<Predicate, PredicateError> {
        self.list("or", Self::both, Predicate::Or)
    }

    fn both(&mut self) -> Result<Predicate, PredicateError> {
        self.list("and", Self::opposite, Predicate::And)
    }

    fn list(
        &mut self,
        word: &str,
        part: fn(&mut Self) -> Result<Predicate, PredicateError>,
        join: fn(Vec<Predicate>) -> Predicate,
    ) -> Result<Predicate, PredicateError> {
        let first = part(self)?;
        if !self.take(word) {
            return Ok(first);
        }
        let mut parts = vec![first, part(self)?];
        while self.take(word) {
            parts.push(part(self)?);
        }
        Ok(join(parts))
    }

    fn opposite(&mut self) -> Result<Predicate, PredicateError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(error(format!("the predicate is nested more than {DEEPEST} deep; write it flatter")));
        }
        let predicate = if self.take("not") {
            Ok(Predicate::Not(Box::new(self.opposite()?)))
        } else if self.take("(") {
            let inner = self.either()?;
            self.expect(")").map(|()| inner)
        } else {
            self.condition()
        };
        self.depth -= 1;
        predicate
    }

    fn condition(&mut self) -> Result<Predicate, PredicateError> {
        let left = self.operand()?;
        if let Side::Column(name) = &left {
            let name = name.clone();
            if self.take("is") {
                let negated = self.take("not");
                self.expect("null")?;
                return Ok(negate_if(negated, Predicate::IsNull(name)));
            }
            let negated = self.take("not");
            if self.take("in") {
                return Ok(negate_if(negated, Predicate::In(name, self.constants()?)));
            }
            if self.take("between") {
                let low = self.constant()?;
                self.expect("and")?;
                return Ok(negate_if(negated, Predicate::Between(name, low, self.constant()?)));
            }
            if negated {
                let token = self.next("in or between")?;
                return Err(error(format!("{token} stands where 'in' or 'between' is expected")));
            }
        }
        let comparison = self.comparison()?;
        Ok(Predicate::Compare(left, comparison, self.operand()?))
    }

    fn comparison(&mut self) -> Result<Comparison, PredicateError> {
        let token = self.next("a comparison such as >=")?;
        match token {
            Token::Sign("=") => Ok(Comparison::Equal),
            Token::Sign("<>" | "!=") => Ok(Comparison::Unequal),
            Token::Sign("<") => Ok(Comparison::Below),
            Token::Sign("<=") => Ok(Comparison::AtMost),
            Token::Sign(">") => Ok(Comparison::Above),
            Token::Sign(">=") => Ok(Comparison::AtLeast),
            token => Err(error(format!("{token} stands where a comparison such as >= is expected"))),
        }
    }

    fn operand(&mut self) -> Result<Side, PredicateError> {
        match self.next("a column or a constant")? {
            Token::Quoted(name) => Ok(Side::Column(name)),
            Token::Constant(constant) => Ok(Side::Constant(constant)),
            Token::Word(word) if !KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword)) => {
                Ok(Side::Column(word))
            }
            token => Err(error(format!("{token} stands where a column or a constant is expected"))),
        }
    }

    fn constant(&mut self) -> Result<Constant, PredicateError> {
        match self.next("a constant")? {
            Token::Constant(constant) => Ok(constant),
            token => {
                Err(error(format!("{token} stands where a constant is expected; put text between ' and '")))
            }
        }
    }

    fn constants(&mut self) -> Result<Vec<Constant>, PredicateError> {
        self.expect("(")?;
        let mut constants = vec![self.constant()?];
        while self.take(",") {
            constants.push(self.constant()?);
        }
        self.expect(")").map(|()| constants)
    }
}

fn negate_if(negated: bool, predicate: Predicate) -> Predicate {
    if negated { Predicate::Not(Box::new(predicate)) } else { predicate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> String {
        Predicate::parse(text).map_or_else(|error| error.to_string(), |predicate| format!("{predicate:?}"))
    }

    #[test]
    fn and_binds_closer_than_or_and_not_closer_than_both() {
        assert_eq!(read("a = 1 or b = 2 and not c = 3"), read("a = 1 OR (b == 2 AND (NOT (c = 3)))"));
        assert_eq!(read("x not in (1, 'two', 3.5)"), read("not x in (1, 'two', 3.5)"));
        assert_eq!(read("\"odd \"\"name\" is not null"), "Not(IsNull(\"odd \\\"name\"))");
        assert_eq!(read("-2.5e3 <= x"), "Compare(Constant(Real(-2500.0)), AtMost, Column(\"x\"))");
        assert_eq!(read("x between -1 and 99999999999999999999"), "Between(\"x\", Whole(-1), Real(1e20))");
        assert_eq!(read("day>=2026-01-31and x=1"), read("day >= '2026-01-31' and x = 1"));
        assert_eq!(
            read("t in (2026-01-31T12:30:00.5+01:00,1)"),
            read("t in ('2026-01-31T12:30:00.5+01:00', 1)")
        );
        assert_eq!(read("name = 'O''Hara'"), "Compare(Column(\"name\"), Equal, Constant(Text(\"O'Hara\")))");
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        for (text, expected) in [
            ("", "the predicate ends where a column or a constant is expected"),
            ("age >", "the predicate ends where a column or a constant is expected"),
            ("age 18", "'18' stands where a comparison such as >= is expected"),
            ("age > 18 country = 'x'", "'country' is not expected here; join conditions with and, or"),
            ("(age > 18", "the predicate ends where ')' is expected"),
            ("age > 18)", "')' is not expected here; join conditions with and, or"),
            ("name = 'Bob", "the quote that opens 'Bob is never closed"),
            ("x in (a)", "'a' stands where a constant is expected; put text between ' and '"),
            ("x in ()", "')' stands where a constant is expected; put text between ' and '"),
            ("x / 2 > 1", "'/' is neither a number nor a sign of the grammar"),
            ("x = 12abc", "'12abc' is neither a number nor a sign of the grammar"),
            ("x = -inf", "'-inf' is neither a number nor a sign of the grammar"),
            ("x = 1e999", "'1e999' is neither a number nor a sign of the grammar"),
            ("and = 1", "'and' stands where a column or a constant is expected"),
            ("x not like 'a%'", "'like' stands where 'in' or 'between' is expected"),
            ("x is 3", "'3' stands where 'null' is expected"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let deep = format!("{}x = 1", "not ".repeat(100));
        assert_eq!(read(&deep), "the predicate is nested more than 60 deep; write it flatter");
        assert!(read(&"(".repeat(9000)).starts_with("the predicate is nested"));
        assert!(read(&"x".repeat(10_001)).starts_with("a predicate of 10001 bytes is too long"));
        assert!(Predicate::parse(&vec!["x = 1"; 900].join(" and ")).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_in_one_line(text in "[ a-c0-9<>=!'\"(),.+eandotrilsu-]{0,60}|\\PC{0,20}") {
            if let Err(error) = Predicate::parse(&text) {
                prop_assert!(!error.to_string().contains(char::is_control));
            }
        }
    }
}
