//! Text to a tree: a hand-written reader that always ends, in depth and length that are bounded.
//!
//! From loose to close: `or`, `and`, `not`, comparisons, `||`, `+ -`, `* / %`, the sign of a number. Whatever is accepted is nested
//! at most [`DEEPEST`] deep, so that nobody who walks the tree runs out of stack.

use crate::{
    Comparison, Constant, ExpressionError,
    functions::{Function, Type},
    token::{Token, tokens},
    tree::{Expression, Node, Operator},
};

const DEEPEST: usize = 60;
/// The most steps, among them those that `case x when ..` repeats.
const LARGEST: usize = 6_000;
/// What no column is called without quotes.
const KEYWORDS: [&str; 7] = ["and", "or", "not", "in", "between", "is", "null"];
/// What no column is called without quotes inside of a case.
const CASE_WORDS: [&str; 4] = ["when", "then", "else", "end"];
/// How closely comparisons hold together; what is joined by `||` or arithmetic does so more closely.
const COMPARISON: u8 = 4;
/// The most texts that one expression joins, which bounds how much longer its texts are than those of the rows.
const MOST_JOINED: usize = 16;

/// Does a word mean something else than a column somewhere?
pub(crate) fn is_reserved(word: &str) -> bool {
    let among = |words: &[&str]| words.iter().any(|keyword| word.eq_ignore_ascii_case(keyword));
    among(&KEYWORDS) || among(&CASE_WORDS) || among(&["case", "like"])
}

impl Expression {
    /// Read an expression such as `arr_delay - dep_delay` or `age >= 18 and country in ('CH', 'AT')`.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        let mut reader = Reader {
            tokens: tokens(text)?,
            end: text.len(),
            next: 0,
            depth: 0,
            cases: 0,
            joined: 0,
            copied: 0,
        };
        let expression = reader.expression(0)?;
        match reader.peek() {
            None => Ok(expression),
            Some(token) => Err(reader
                .wrong(format!("{token} is not expected here"))
                .hint("join conditions with and, or")),
        }
    }

    /// Parts of a text between commas that stand in no parentheses and no quotes; the whole text where it cannot be read.
    pub fn split_list(text: &str) -> Vec<&str> {
        let Ok(tokens) = tokens(text) else { return vec![text.trim()] };
        let (mut depth, mut start) = (0usize, 0);
        let mut parts = Vec::new();
        for (at, token) in tokens {
            match token {
                Token::Sign("(") => depth += 1,
                Token::Sign(")") => depth = depth.saturating_sub(1),
                Token::Sign(",") if depth == 0 => {
                    parts.push(text[start..at].trim());
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.push(text[start..].trim());
        parts
    }

    /// The name of a column between quotes, where a text is nothing else.
    pub fn quoted_name(text: &str) -> Option<String> {
        match tokens(text).ok()?.as_slice() {
            [(_, Token::Quoted(name))] => Some(name.clone()),
            _ => None,
        }
    }

    /// A step made of others, unless they are nested too deep.
    fn of(at: usize, node: Node) -> Result<Self, ExpressionError> {
        let mut made = Self { at, depth: 1, size: 1, node };
        made.depth = 1 + made.children().iter().map(|child| child.depth).max().unwrap_or(0);
        made.size = 1 + made.children().iter().map(|child| child.size).sum::<usize>();
        match made {
            made if made.depth > DEEPEST => Err(too_deep(at)),
            made if made.size > LARGEST => Err(too_large(at)),
            made => Ok(made),
        }
    }
}

fn too_deep(at: usize) -> ExpressionError {
    ExpressionError::new(format!("the expression is nested more than {DEEPEST} deep"))
        .hint("write it flatter")
        .at(at)
}

fn too_large(at: usize) -> ExpressionError {
    ExpressionError::new(format!("the expression has more than {LARGEST} steps"))
        .hint("write a shorter one")
        .at(at)
}

struct Reader {
    tokens: Vec<(usize, Token)>,
    /// The byte behind the last.
    end: usize,
    next: usize,
    depth: usize,
    /// How many cases are open.
    cases: usize,
    joined: usize,
    /// How many steps were copied into the branches of cases.
    copied: usize,
}

type Read = Result<Expression, ExpressionError>;

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(_, token)| token)
    }

    /// The byte at which the next token begins.
    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |(at, _)| *at)
    }

    fn wrong(&self, problem: String) -> ExpressionError {
        ExpressionError::new(problem).at(self.at())
    }

    fn expected(&self, wanted: &str) -> ExpressionError {
        match self.peek() {
            Some(token) => self.wrong(format!("{token} stands where {wanted} is expected")),
            None => self.wrong(format!("the expression ends where {wanted} is expected")),
        }
    }

    /// Does this word or sign come next?
    fn is_next(&self, wanted: &str) -> bool {
        match self.peek() {
            Some(Token::Word(word)) => word.eq_ignore_ascii_case(wanted),
            Some(Token::Sign(sign)) => *sign == wanted,
            _ => false,
        }
    }

    /// Take this word or sign if it comes next.
    fn take(&mut self, wanted: &str) -> bool {
        let found = self.is_next(wanted);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: &str) -> Result<(), ExpressionError> {
        if self.take(wanted) { Ok(()) } else { Err(self.expected(&format!("'{wanted}'"))) }
    }

    /// Everything from here that holds together at least so closely.
    fn expression(&mut self, power: u8) -> Read {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(too_deep(self.at()));
        }
        let mut left = self.operand()?;
        loop {
            let at = self.at();
            left = if power <= 1 && self.is_next("or") {
                Expression::of(at, Node::Or(self.list(left, "or", 2)?))?
            } else if power <= 2 && self.is_next("and") {
                Expression::of(at, Node::And(self.list(left, "and", 3)?))?
            } else if let Some((operator, close)) = self.operator().filter(|(_, close)| power <= *close) {
                self.next += 1;
                let right = self.expression(close + 1)?;
                Expression::of(at, Node::Arithmetic(Box::new(left), operator, Box::new(right)))?
            } else if power <= 5 && self.is_next("||") {
                let parts = self.list(left, "||", 6)?;
                self.joins(parts.len())?;
                Expression::of(at, Node::Call(Function::Join, parts))?
            } else if power <= COMPARISON && self.begins_condition() {
                let condition = self.condition(left)?;
                if self.comparison().is_some() {
                    return Err(self.expected("and, or or the end"));
                }
                condition
            } else {
                break;
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    /// What stands between these words or signs, beginning with what was read already.
    fn list(
        &mut self,
        first: Expression,
        between: &str,
        power: u8,
    ) -> Result<Vec<Expression>, ExpressionError> {
        let mut parts = vec![first];
        while self.take(between) {
            parts.push(self.expression(power)?);
        }
        Ok(parts)
    }

    /// Note that so many texts are joined.
    fn joins(&mut self, texts: usize) -> Result<(), ExpressionError> {
        self.joined += texts;
        if self.joined <= MOST_JOINED {
            return Ok(());
        }
        Err(self.wrong(format!("more than {MOST_JOINED} texts are joined")).hint("join fewer"))
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        Some(match self.peek()? {
            Token::Sign("+") => (Operator::Plus, 6),
            Token::Sign("-") => (Operator::Minus, 6),
            Token::Sign("*") => (Operator::Times, 7),
            Token::Sign("/") => (Operator::Over, 7),
            Token::Sign("%") => (Operator::Modulo, 7),
            _ => return None,
        })
    }

    fn comparison(&self) -> Option<Comparison> {
        Some(match self.peek()? {
            Token::Sign("=") => Comparison::Equal,
            Token::Sign("<>" | "!=") => Comparison::Unequal,
            Token::Sign("<") => Comparison::Below,
            Token::Sign("<=") => Comparison::AtMost,
            Token::Sign(">") => Comparison::Above,
            Token::Sign(">=") => Comparison::AtLeast,
            _ => return None,
        })
    }

    fn begins_condition(&self) -> bool {
        let word = ["is", "in", "between", "like", "not"].iter().any(|word| self.is_next(word));
        word || self.comparison().is_some()
    }

    fn condition(&mut self, left: Expression) -> Read {
        let at = self.at();
        let left = Box::new(left);
        if let Some(comparison) = self.comparison() {
            self.next += 1;
            let right = self.expression(COMPARISON + 1)?;
            return Expression::of(at, Node::Compare(left, comparison, Box::new(right)));
        }
        if self.take("is") {
            let negated = self.take("not");
            self.expect("null")?;
            return negate_if(negated, Expression::of(at, Node::IsNull(left))?);
        }
        let negated = self.take("not");
        if self.take("in") {
            let list = self.constants()?;
            return negate_if(negated, Expression::of(at, Node::In(left, list))?);
        }
        if self.take("between") {
            let low = self.expression(COMPARISON + 1)?;
            self.expect("and")?;
            let high = self.expression(COMPARISON + 1)?;
            return negate_if(
                negated,
                Expression::of(at, Node::Between(left, Box::new(low), Box::new(high)))?,
            );
        }
        if self.take("like") {
            let Some(Token::Text(pattern)) = self.peek().cloned() else {
                return Err(self.expected("a pattern such as 'New%'"));
            };
            self.next += 1;
            return negate_if(negated, Expression::of(at, Node::Like(left, pattern))?);
        }
        Err(self.expected("'in', 'between' or 'like'"))
    }

    fn constants(&mut self) -> Result<Vec<Expression>, ExpressionError> {
        self.expect("(")?;
        let mut list = Vec::new();
        loop {
            let at = self.at();
            let constant = self
                .constant()
                .ok_or_else(|| self.expected("a constant").hint("put text between ' and '"))?;
            list.push(Expression::of(at, Node::Constant(constant))?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")").map(|()| list)
    }

    /// A constant, if one comes next; nothing is taken otherwise.
    fn constant(&mut self) -> Option<Constant> {
        let negative = self.is_next("-");
        let signed = negative || self.is_next("+");
        let place = self.next + usize::from(signed);
        let constant = match self.tokens.get(place).map(|(_, token)| token)? {
            Token::Text(text) if !signed => Constant::Text(text.clone()),
            Token::Number(digits) => number(digits, negative),
            _ => return None,
        };
        self.next = place + 1;
        Some(constant)
    }

    /// What operators stand between.
    fn operand(&mut self) -> Read {
        let at = self.at();
        if let Some(constant) = self.constant() {
            return Expression::of(at, Node::Constant(constant));
        }
        if self.take("not") {
            let inner = self.expression(3)?;
            return negate_if(true, inner);
        }
        if self.take("-") {
            let inner = self.expression(8)?;
            return Expression::of(at, Node::Negative(Box::new(inner)));
        }
        if self.take("(") {
            // What a case keeps for itself is a column again in parentheses.
            let cases = std::mem::take(&mut self.cases);
            let inner = self.expression(0)?;
            self.cases = cases;
            return self.expect(")").map(|()| inner);
        }
        let missing = || self.expected("a column or a constant");
        match self.peek().cloned().ok_or_else(missing)? {
            Token::Quoted(name) => {
                self.next += 1;
                Expression::of(at, Node::Column(name))
            }
            Token::Word(word) => self.word(at, word),
            _ => Err(missing()),
        }
    }

    fn word(&mut self, at: usize, word: String) -> Read {
        let among = |words: &[&str]| words.iter().any(|keyword| word.eq_ignore_ascii_case(keyword));
        let called = matches!(self.tokens.get(self.next + 1), Some((_, Token::Sign("("))));
        if word.eq_ignore_ascii_case("null") {
            self.next += 1;
            return Expression::of(at, Node::Null);
        }
        if among(&KEYWORDS) || (self.cases > 0 && among(&CASE_WORDS)) {
            return Err(self
                .expected("a column or a constant")
                .hint(format!("write \"{word}\" for a column")));
        }
        if word.eq_ignore_ascii_case("case") && self.begins_case() {
            return self.case();
        }
        if called {
            return self.call(at, &word);
        }
        self.next += 1;
        Expression::of(at, Node::Column(word))
    }

    /// Is `case` followed by what a case has, and not by what follows a column?
    fn begins_case(&self) -> bool {
        match self.tokens.get(self.next + 1).map(|(_, token)| token) {
            Some(Token::Word(word)) => {
                word.eq_ignore_ascii_case("not")
                    || !(KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
                        || word.eq_ignore_ascii_case("like"))
            }
            Some(Token::Quoted(_) | Token::Text(_) | Token::Number(_) | Token::Sign("(")) => true,
            _ => false,
        }
    }

    fn case(&mut self) -> Read {
        let at = self.at();
        self.next += 1;
        self.cases += 1;
        let subject = if self.is_next("when") { None } else { Some(self.expression(0)?) };
        let mut branches = Vec::new();
        while self.take("when") {
            let at = self.at();
            let tested = self.expression(0)?;
            let condition = match subject.clone() {
                Some(subject) => {
                    self.copied += subject.size;
                    if self.copied > LARGEST {
                        return Err(too_large(at));
                    }
                    Expression::of(at, Node::Compare(Box::new(subject), Comparison::Equal, Box::new(tested)))?
                }
                None => tested,
            };
            self.expect("then")?;
            branches.push((condition, self.expression(0)?));
        }
        if branches.is_empty() {
            return Err(self.expected("'when'"));
        }
        let other = if self.take("else") { Some(Box::new(self.expression(0)?)) } else { None };
        self.cases -= 1;
        self.expect("end")?;
        Expression::of(at, Node::Case(branches, other))
    }

    fn call(&mut self, at: usize, name: &str) -> Read {
        if name.eq_ignore_ascii_case("cast") || name.eq_ignore_ascii_case("try_cast") {
            return self.cast(at);
        }
        let Some(function) = Function::named(name) else {
            let names = Function::names().join(", ");
            let problem = format!("no function is called '{}'", crate::shown(name));
            return Err(self.wrong(problem).hint(format!("There are: cast, {names}")));
        };
        self.next += 2;
        let cases = std::mem::take(&mut self.cases);
        let mut arguments = Vec::new();
        if !self.is_next(")") {
            arguments.push(self.expression(0)?);
            while self.take(",") {
                arguments.push(self.expression(0)?);
            }
        }
        self.cases = cases;
        self.expect(")")?;
        if function == Function::Concat {
            self.joins(arguments.len())?;
        }
        let (least, most) = function.row().arguments;
        if !(least..=most).contains(&arguments.len()) {
            let problem = format!("{} has {} arguments here", function.name(), arguments.len());
            let usage = function.row().usage.replace("; ", " or ");
            return Err(ExpressionError::new(problem).hint(format!("write {usage}")).at(at));
        }
        if function == Function::If {
            let [condition, value, other] = <[Expression; 3]>::try_from(arguments).expect("three");
            return Expression::of(at, Node::Case(vec![(condition, value)], Some(Box::new(other))));
        }
        Expression::of(at, Node::Call(function, arguments))
    }

    fn cast(&mut self, at: usize) -> Read {
        self.next += 2;
        let cases = std::mem::take(&mut self.cases);
        let inner = self.expression(0)?;
        self.cases = cases;
        self.expect("as")?;
        let kind = match self.peek() {
            Some(Token::Word(word)) => Type::named(word),
            _ => None,
        };
        let Some(kind) = kind else {
            let names = Type::ALL.map(|kind| kind.to_string()).join(", ");
            return Err(self.expected("a type").hint(format!("There are: {names}")));
        };
        self.next += 1;
        self.expect(")")?;
        Expression::of(at, Node::Cast(Box::new(inner), kind))
    }
}

/// Digits as a whole number where they are one of 64 bits, else as the nearest float.
fn number(digits: &str, negative: bool) -> Constant {
    let signed = if negative { format!("-{digits}") } else { digits.to_string() };
    let real = || Constant::Real(signed.parse().unwrap_or(f64::NAN));
    signed.parse().map_or_else(|_| real(), Constant::Whole)
}

fn negate_if(negated: bool, expression: Expression) -> Read {
    if negated { Expression::of(expression.at, Node::Not(Box::new(expression))) } else { Ok(expression) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> String {
        Expression::parse(text).map_or_else(|error| error.to_string(), |read| read.to_string())
    }

    #[test]
    fn every_expression_has_one_spelling() {
        for (text, spelling) in [
            ("a=1 or b=2 and not c=3", "a = 1 or b = 2 and not c = 3"),
            ("a = 1 OR (b == 2 AND (NOT (c != 3)))", "a = 1 or b = 2 and not c <> 3"),
            ("(a or b) and c", "(a or b) and c"),
            ("x not in (1,'two',3.5)", "not x in (1, 'two', 3.5)"),
            ("\"odd \"\"name\" is not null", "not \"odd \"\"name\" is null"),
            ("`odd name` = `end`", "\"odd name\" = \"end\""),
            ("-2.5e3 <= x", "-2500.0 <= x"),
            ("x between -1 and 99999999999999999999", "x between -1 and 1e20"),
            ("day>=2026-01-31and x=1", "day >= '2026-01-31' and x = 1"),
            ("t in (2026-01-31T12:30:00.5+01:00,1)", "t in ('2026-01-31T12:30:00.5+01:00', 1)"),
            ("name = 'O''Hara'", "name = 'O''Hara'"),
            ("a - -1", "a - -1"),
            ("a-1", "a - 1"),
            ("a -b- c", "a - b - c"),
            ("a - (b - c)", "a - (b - c)"),
            ("(a + b) * c / d % 2", "(a + b) * c / d % 2"),
            ("-(a + b) * -c", "-(a + b) * -c"),
            ("a || 'x' || b = 'y'", "a || 'x' || b = 'y'"),
            ("a + 1 > b * 2", "a + 1 > b * 2"),
            ("x not like 'a%'", "not x like 'a%'"),
            ("IF(a > 5, 1, 0)", "case when a > 5 then 1 else 0 end"),
            (
                "case a when 1 then 'x' when 2 then 'y' end",
                "case when a = 1 then 'x' when a = 2 then 'y' end",
            ),
            ("case when a then (end) else 2 end", "case when a then \"end\" else 2 end"),
            ("Round(a, 2) = Ceiling(b)", "round(a, 2) = ceil(b)"),
            ("cast(a as INT) = try_cast(b as varchar)", "cast(a as integer) = cast(b as text)"),
            ("a is null and null is null", "a is null and null is null"),
            ("-9223372036854775808 = x", "-9223372036854775808 = x"),
            ("2026-01-31 - day", "'2026-01-31' - day"),
            (
                "case = 1 and end > start and like like 'x'",
                "\"case\" = 1 and \"end\" > start and \"like\" like 'x'",
            ),
        ] {
            assert_eq!(read(text), spelling, "{text}");
            assert_eq!(read(spelling), spelling, "a spelling reads as itself");
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line_with_its_place() {
        for (text, line, position) in [
            ("", "the expression ends where a column or a constant is expected", (1, 1)),
            ("age >", "the expression ends where a column or a constant is expected", (1, 6)),
            ("age 18", "'18' is not expected here; join conditions with and, or", (1, 5)),
            (
                "age > 18\n country = 'x'",
                "'country' is not expected here; join conditions with and, or",
                (2, 2),
            ),
            ("(age > 18", "the expression ends where ')' is expected", (1, 10)),
            ("age > 18)", "')' is not expected here; join conditions with and, or", (1, 9)),
            ("a < b < c", "'<' stands where and, or or the end is expected", (1, 7)),
            ("name = 'Bob", "the quote that opens 'Bob is never closed", (1, 8)),
            ("x in (a)", "'a' stands where a constant is expected; put text between ' and '", (1, 7)),
            ("x in ()", "')' stands where a constant is expected; put text between ' and '", (1, 7)),
            ("x = 12abc", "'12abc' is neither a number nor a sign of the grammar", (1, 5)),
            ("x = 1e999", "'1e999' is neither a number nor a sign of the grammar", (1, 5)),
            ("x ; 2", "';' is neither a number nor a sign of the grammar", (1, 3)),
            (
                "and = 1",
                "'and' stands where a column or a constant is expected; write \"and\" for a column",
                (1, 1),
            ),
            ("x is 3", "'3' stands where 'null' is expected", (1, 6)),
            ("x not 3", "'3' stands where 'in', 'between' or 'like' is expected", (1, 7)),
            ("x like y", "'y' stands where a pattern such as 'New%' is expected", (1, 8)),
            ("abs(a, b)", "abs has 2 arguments here; write abs(a)", (1, 1)),
            (
                "1 + repeat(a, 9)",
                "no function is called 'repeat'. There are: cast, if, coalesce, nullif, least, greatest, abs, floor, ceil, round, ln, exp, sqrt, lower, upper, length, substr, concat, year, month, day, weekday, hour, date_trunc",
                (1, 5),
            ),
            (
                "cast(a as list)",
                "'list' stands where a type is expected. There are: float, integer, boolean, text, date, timestamp",
                (1, 11),
            ),
            ("case when a then 1", "the expression ends where 'end' is expected", (1, 19)),
        ] {
            let error = Expression::parse(text).unwrap_err();
            assert_eq!(error.to_string(), line, "{text}");
            assert_eq!(error.position(text), Some(position), "{text}");
        }
    }

    #[test]
    fn depth_length_and_copies_are_bounded() {
        let deep = format!("{}x = 1", "not ".repeat(100));
        assert_eq!(read(&deep), "the expression is nested more than 60 deep; write it flatter");
        for text in ["(".repeat(9000), "-".repeat(9000), vec!["x"; 4000].join("+"), "abs(".repeat(2000)] {
            assert!(read(&text).starts_with("the expression is nested"), "{}", &text[..9]);
        }
        assert!(read(&"x".repeat(10_001)).starts_with("an expression of 10001 bytes is too long"));
        assert!(read(&format!("x = '{}'", "y".repeat(1001))).starts_with("a text of 1001 bytes is too long"));
        assert!(Expression::parse(&vec!["x = 1"; 900].join(" and ")).is_ok());
        assert!(Expression::parse(&vec!["x"; 50].join(" + ")).is_ok());
        assert!(read(&vec!["x"; 17].join("||")).starts_with("more than 16 texts are joined"));
        let cases =
            (0..20).fold("x".to_string(), |inner, _| format!("case {inner} when 1 then 2 when 3 then 4 end"));
        assert!(read(&cases).starts_with("the expression has more than 6000 steps"), "{}", read(&cases));
    }

    #[test]
    fn lists_are_split_at_their_own_commas() {
        let split = Expression::split_list;
        assert_eq!(
            split("town, date_trunc('month', day) ,\"a,b\""),
            ["town", "date_trunc('month', day)", "\"a,b\""]
        );
        assert_eq!(split("'a, b"), ["'a, b"]);
        assert_eq!(split(""), [""]);
        assert_eq!(Expression::quoted_name("\"a,b\""), Some("a,b".to_string()));
        assert_eq!(Expression::quoted_name("a"), None);
    }

    /// Tokens in any order: most are refused, and what is accepted has one spelling.
    fn soup() -> impl Strategy<Value = String> {
        let token = prop::sample::select(vec![
            "a",
            "b",
            "\"c d\"",
            "`e`",
            "'x'",
            "'2026-01-31'",
            "2026-01-31",
            "1",
            "2.5",
            "9223372036854775808",
            "(",
            ")",
            ",",
            "+",
            "-",
            "*",
            "/",
            "%",
            "||",
            "=",
            "<>",
            "<",
            "<=",
            ">",
            ">=",
            "and",
            "or",
            "not",
            "in",
            "between",
            "is",
            "null",
            "like",
            "case",
            "when",
            "then",
            "else",
            "end",
            "cast(",
            "as",
            "integer",
            "text",
            "abs(",
            "round(",
            "coalesce(",
            "if(",
            "substr(",
            "year(",
            "date_trunc(",
            "'month'",
            "true",
            "least(",
            "concat(",
        ]);
        prop::collection::vec(token, 0..25).prop_map(|tokens| tokens.join(" "))
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_in_one_line(text in "[ a-c0-9<>=!'\"(),.+eandotrilsu*/%|`-]{0,60}|\\PC{0,20}") {
            match Expression::parse(&text) {
                Err(error) => {
                    prop_assert!(!error.to_string().contains(char::is_control));
                    prop_assert!(error.position(&text).is_some() || text.len() > 10_000);
                }
                Ok(read) => prop_assert_eq!(Expression::parse(&read.to_string()).unwrap().to_string(), read.to_string()),
            }
        }

        #[test]
        fn a_soup_of_tokens_is_read_or_refused(text in soup()) {
            match Expression::parse(&text) {
                Err(error) => prop_assert!(!error.to_string().contains(char::is_control)),
                Ok(read) => prop_assert_eq!(Expression::parse(&read.to_string()).unwrap().to_string(), read.to_string()),
            }
        }
    }
}
