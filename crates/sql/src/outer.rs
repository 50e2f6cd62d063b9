//! What is done to released values: the list behind SELECT, HAVING and ORDER BY, as trees over group keys and aggregates.
//!
//! From loose to close: `or`, `and`, `not`, comparisons, `+ -`, `* / %`, the sign of a number. Whatever is accepted is nested at most
//! [`DEEPEST`] deep.

use crate::{
    SqlError,
    aggregate::{self, Aggregate, Units},
    clauses::Clauses,
    inner, interval,
    token::Kind,
};
use equipoise_core::wording;
use serde_json::{Value, json};
use std::{collections::BTreeSet, ops::Range};

/// How deep an expression may be nested.
const DEEPEST: usize = 60;
/// How many values one expression may be made of: whoever walks the tree does not run out of stack.
const LARGEST: usize = 300;
/// The most aggregates of a query, group keys, and columns that are sorted by.
pub(crate) const MOST: usize = 100;

/// What two values are made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Below,
    AtMost,
    Above,
    AtLeast,
    Plus,
    Minus,
    Times,
    Over,
    Modulo,
}

/// A value that is made of released ones.
#[derive(Clone, Debug)]
pub(crate) enum Outer {
    Constant(Value),
    /// A group key.
    Key(usize),
    /// An aggregate.
    Aggregate(usize),
    /// The lower end of an aggregate's bar.
    Low(usize),
    /// The upper end.
    High(usize),
    /// The lower end, or else the upper one, of where a value lies that is made of aggregates.
    EndOf(Box<Outer>, bool),
    Negative(Box<Outer>),
    Not(Box<Outer>),
    IsNull(Box<Outer>),
    Binary(Box<Outer>, Operator, Box<Outer>),
    /// Between both, ends included.
    Between(Box<Outer>, Box<Outer>, Box<Outer>),
    /// One of these.
    In(Box<Outer>, Vec<Outer>),
    /// Conditions, or what a subject is compared with, with their values; and the value where none is true.
    Case(Option<Box<Outer>>, Vec<(Outer, Outer)>, Box<Outer>),
    /// What stands at this place behind SELECT.
    Item(usize),
    Call(&'static str, Vec<Outer>),
}

/// The functions of released values, with the least and the most arguments.
pub const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("abs", 1, 1),
    ("round", 1, 2),
    ("floor", 1, 1),
    ("ceil", 1, 1),
    ("sqrt", 1, 1),
    ("ln", 1, 1),
    ("exp", 1, 1),
    ("coalesce", 1, 16),
    ("nullif", 2, 2),
    ("least", 1, 16),
    ("greatest", 1, 16),
    ("if", 3, 3),
    ("upper", 1, 1),
    ("lower", 1, 1),
];

/// A group key of a query.
#[derive(Clone, Debug)]
pub(crate) struct GroupKey {
    /// The expression in its one spelling.
    pub text: String,
    /// The name of its column, where it is nothing else.
    pub column: Option<String>,
    /// What it is called in the list behind SELECT.
    pub alias: Option<String>,
    /// Its first byte.
    pub at: usize,
}

/// The tokens of something that is selected, and its alias.
pub(crate) type Selected = (Range<usize>, Option<String>);

/// Reads trees over released values, and notes the aggregates that they need.
pub(crate) struct Reader<'a> {
    pub clauses: &'a Clauses<'a>,
    pub tables: &'a [String],
    pub units: &'a Units,
    pub keys: &'a [GroupKey],
    pub aggregates: Vec<Aggregate>,
    /// What stands behind SELECT, with its name where it has one.
    pub selected: &'a [Selected],
    /// The same as it was read; nothing while that is being done.
    pub items: Vec<(Option<String>, Outer)>,
    next: usize,
    end: usize,
    depth: usize,
    size: usize,
}

type Read = Result<Outer, SqlError>;

impl<'a> Reader<'a> {
    pub fn new(
        clauses: &'a Clauses<'a>,
        tables: &'a [String],
        units: &'a Units,
        keys: &'a [GroupKey],
        selected: &'a [Selected],
    ) -> Self {
        Self {
            selected,
            clauses,
            tables,
            units,
            keys,
            aggregates: Vec::new(),
            items: Vec::new(),
            next: 0,
            end: 0,
            depth: 0,
            size: 0,
        }
    }

    /// The tree of a range of tokens.
    pub fn read(&mut self, range: &Range<usize>) -> Read {
        (self.next, self.end, self.depth, self.size) = (range.start, range.end, 0, 0);
        if let Some(key) = self.whole_key(range) {
            return Ok(Outer::Key(key));
        }
        let tree = self.binary(0)?;
        if self.next >= self.end {
            return Ok(tree);
        }
        let next = &self.clauses.tokens[self.next];
        let wrong = self.clauses.wrong(self.next, format!("{} is not expected here", next.shown()));
        Err(match next {
            next if next.is_word("filter") => {
                wrong.hint("write COUNTIF(condition), or AVG(CASE WHEN condition THEN x END)")
            }
            next if next.is_sign("[") => wrong.hint("ask for one quantile, as in QUANTILE(x, 0.5)"),
            _ => wrong,
        })
    }

    /// The group key that a range is, whatever it is made of.
    fn whole_key(&self, range: &Range<usize>) -> Option<usize> {
        let inner = inner::read(self.clauses, range, self.tables).ok()?;
        self.keys.iter().position(|key| key.text == inner.text)
    }

    fn is_next(&self, wanted: &str) -> bool {
        self.next < self.end && {
            let token = &self.clauses.tokens[self.next];
            token.is_word(wanted) || token.is_sign(wanted)
        }
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.is_next(wanted);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: &str) -> Result<(), SqlError> {
        if self.take(wanted) { Ok(()) } else { Err(self.expected(&format!("'{wanted}'"))) }
    }

    fn expected(&self, wanted: &str) -> SqlError {
        let problem = match self.clauses.tokens[..self.end].get(self.next) {
            Some(token) => format!("{} stands where {wanted} is expected", token.shown()),
            None => format!("{wanted} is expected here"),
        };
        self.clauses.wrong(self.next, problem)
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        let token = self.clauses.tokens[..self.end].get(self.next)?;
        Some(match token.kind {
            Kind::Sign("=") => (Operator::Equal, 3),
            Kind::Sign("<>" | "!=") => (Operator::Unequal, 3),
            Kind::Sign("<") => (Operator::Below, 3),
            Kind::Sign("<=") => (Operator::AtMost, 3),
            Kind::Sign(">") => (Operator::Above, 3),
            Kind::Sign(">=") => (Operator::AtLeast, 3),
            Kind::Sign("+") => (Operator::Plus, 4),
            Kind::Sign("-") => (Operator::Minus, 4),
            Kind::Sign("*") => (Operator::Times, 5),
            Kind::Sign("/") => (Operator::Over, 5),
            Kind::Sign("%") => (Operator::Modulo, 5),
            _ if token.is_word("or") => (Operator::Or, 1),
            _ if token.is_word("and") => (Operator::And, 2),
            _ => return None,
        })
    }

    /// Everything from here that holds together at least so closely.
    fn binary(&mut self, power: u8) -> Read {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self
                .clauses
                .wrong(self.next, format!("the expression is nested more than {DEEPEST} deep"))
                .hint("write it flatter"));
        }
        let mut left = self.operand()?;
        loop {
            if power <= 3 && ["is", "in", "between", "not", "like"].iter().any(|word| self.is_next(word)) {
                left = self.condition(left)?;
            } else if let Some((operator, close)) = self.operator().filter(|(_, close)| power <= *close) {
                self.next += 1;
                let right = self.binary(close + 1)?;
                left = Outer::Binary(Box::new(left), operator, Box::new(right));
            } else {
                break;
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    fn condition(&mut self, left: Outer) -> Read {
        if self.take("is") {
            let negated = self.take("not");
            self.expect("null")?;
            return Ok(negate_if(negated, Outer::IsNull(Box::new(left))));
        }
        let negated = self.take("not");
        let left = Box::new(left);
        if self.take("between") {
            let low = self.binary(4)?;
            self.expect("and")?;
            let high = self.binary(4)?;
            return Ok(negate_if(negated, Outer::Between(left, Box::new(low), Box::new(high))));
        }
        if self.take("in") {
            self.expect("(")?;
            let mut list = vec![self.binary(4)?];
            while self.take(",") {
                list.push(self.binary(4)?);
            }
            self.expect(")")?;
            return Ok(negate_if(negated, Outer::In(left, list)));
        }
        Err(self.expected("'in' or 'between'").hint("LIKE and the rest stand in WHERE, which is about rows"))
    }

    fn operand(&mut self) -> Read {
        let Some(token) = self.clauses.tokens[..self.end].get(self.next).cloned() else {
            return Err(self.expected("a group key or an aggregate"));
        };
        let place = self.next;
        self.size += 1;
        if self.size > LARGEST {
            return Err(self
                .clauses
                .wrong(place, format!("the expression is made of more than {LARGEST} values"))
                .hint("write a shorter one"));
        }
        if self.take("not") {
            return Ok(Outer::Not(Box::new(self.binary(3)?)));
        }
        if self.take("-") {
            return Ok(match self.binary(6)? {
                Outer::Constant(Value::Number(number)) => Outer::Constant(negative(&number)),
                other => Outer::Negative(Box::new(other)),
            });
        }
        if self.take("(") {
            let tree = self.binary(0)?;
            self.expect(")")?;
            return Ok(tree);
        }
        if self.is_next("*") {
            return Err(self
                .clauses
                .wrong(place, "* would release rows")
                .hint("name group keys and aggregates, as in COUNT(*)"));
        }
        let called = place + 1 < self.end && self.clauses.tokens[place + 1].is_sign("(");
        match &token.kind {
            Kind::Number(digits) => {
                self.next += 1;
                Ok(Outer::Constant(number(digits)))
            }
            Kind::Text(text) => {
                self.next += 1;
                Ok(Outer::Constant(json!(text)))
            }
            Kind::Word(word) if called => self.call(place, word),
            Kind::Word(word) if word.eq_ignore_ascii_case("case") => self.case(),
            Kind::Word(word) if word.eq_ignore_ascii_case("null") => Ok(self.constant(Value::Null)),
            Kind::Word(word) if word.eq_ignore_ascii_case("true") => Ok(self.constant(json!(true))),
            Kind::Word(word) if word.eq_ignore_ascii_case("false") => Ok(self.constant(json!(false))),
            Kind::Word(name) | Kind::Quoted(name) => self.name(place, name),
            Kind::Sign(_) => Err(self.expected("a group key or an aggregate")),
        }
    }

    fn constant(&mut self, value: Value) -> Outer {
        self.next += 1;
        Outer::Constant(value)
    }

    /// A group key or something that stands behind SELECT.
    fn name(&mut self, place: usize, name: &str) -> Read {
        self.next += 1;
        let mut name = name.to_string();
        if self.take(".") {
            match self.clauses.tokens[..self.end].get(self.next).map(|token| &token.kind) {
                Some(Kind::Word(column) | Kind::Quoted(column)) => name.clone_from(column),
                _ => return Err(self.expected("the name of a column")),
            }
            self.next += 1;
        }
        let is_alias = |alias: &str| alias.eq_ignore_ascii_case(&name);
        let key = self.keys.iter().position(|key| key.column.as_deref() == Some(&name));
        if let Some(key) = key {
            return Ok(Outer::Key(key));
        }
        let item = self.items.iter().position(|(alias, _)| alias.as_deref().is_some_and(is_alias));
        if let Some(item) = item {
            return Ok(Outer::Item(item));
        }
        if let Some(key) = self.keys.iter().position(|key| key.alias.as_deref().is_some_and(is_alias)) {
            return Ok(Outer::Key(key));
        }
        let name = wording::shown(&name);
        Err(self
            .clauses
            .wrong(place, format!("'{name}' stands outside of an aggregate and is no group key"))
            .hint(format!("write an aggregate of it, such as AVG({name}), or add it to GROUP BY")))
    }

    fn case(&mut self) -> Read {
        self.next += 1;
        let subject = if self.is_next("when") { None } else { Some(self.binary(0)?) };
        let mut branches = Vec::new();
        while self.take("when") {
            let tested = self.binary(0)?;
            self.expect("then")?;
            branches.push((tested, self.binary(0)?));
        }
        if branches.is_empty() {
            return Err(self.expected("'when'"));
        }
        let other = if self.take("else") { self.binary(0)? } else { Outer::Constant(Value::Null) };
        self.expect("end")?;
        Ok(Outer::Case(subject.map(Box::new), branches, Box::new(other)))
    }

    fn call(&mut self, place: usize, word: &str) -> Read {
        let Some(close) = self.clauses.closing(place + 1, self.end) else {
            return Err(self.clauses.wrong(place + 1, "this parenthesis is never closed").hint("close it"));
        };
        if let Some(row) = aggregate::named(word) {
            let found = aggregate::read(self.clauses, (place, close), row, self.tables, self.units)?;
            self.next = close + 1;
            return self.note(found).map(Outer::Aggregate);
        }
        if let Some(instead) = aggregate::instead_of(word) {
            let word = word.to_uppercase();
            return Err(self.clauses.wrong(place, format!("{word} is not accepted")).hint(instead));
        }
        // What a key is called may be a call.
        if let Some(key) = self.whole_key(&(place..close + 1)) {
            self.next = close + 1;
            return Ok(Outer::Key(key));
        }
        let low = word.eq_ignore_ascii_case("dp_interval_low");
        if low || word.eq_ignore_ascii_case("dp_interval_high") {
            return self.end_of_bar(place, close, low);
        }
        let Some(&(name, least, most)) = FUNCTIONS.iter().find(|(name, ..)| word.eq_ignore_ascii_case(name))
        else {
            return Err(self.no_function(place, word));
        };
        self.next += 2;
        let mut arguments = Vec::new();
        while !self.is_next(")") {
            arguments.push(self.binary(0)?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        if !(least..=most).contains(&arguments.len()) {
            let problem = format!("{name} takes {least} to {most} values, not {}", arguments.len());
            return Err(self.clauses.wrong(place, problem));
        }
        Ok(Outer::Call(name, arguments))
    }

    /// A function that there is not: of rows it would have to stand in an aggregate.
    fn no_function(&self, place: usize, word: &str) -> SqlError {
        let word = wording::shown(word);
        if equipoise_expression::Function::named(&word).is_some() || word.eq_ignore_ascii_case("cast") {
            return self
                .clauses
                .wrong(place, format!("{word} of a row stands outside of an aggregate and is no group key"))
                .hint("put it into an aggregate, or into GROUP BY too");
        }
        let aggregates: Vec<&str> = aggregate::TABLE.iter().map(|row| row.names[0]).collect();
        let nearest = wording::nearest(&word, &aggregates);
        let (problem, meant) = wording::and_nearest(&format!("no function is called '{word}'"), &nearest);
        self.clauses.wrong(place, problem).hint(format!("{meant}Aggregates are: {}", aggregates.join(", ")))
    }

    /// An end of the error bar of an aggregate, by its alias or itself.
    fn end_of_bar(&mut self, place: usize, close: usize, low: bool) -> Read {
        let usage = "name an aggregate by its alias, as in DP_INTERVAL_LOW(n)";
        if place + 2 >= close {
            return Err(self.clauses.wrong(place, "whose error bar?").hint(usage));
        }
        let named = self.named(place + 2, close);
        let range = named.unwrap_or(place + 2..close);
        let nothing = self.clauses.wrong(place + 2, "only an aggregate has an error bar").hint(usage);
        if let Some(number) = self.only_aggregate(&range)? {
            self.next = close + 1;
            // A quantile has ends only where they are bought.
            self.aggregates[number].interval = true;
            return Ok(if low { Outer::Low(number) } else { Outer::High(number) });
        }
        let end = std::mem::replace(&mut self.end, range.end);
        self.next = range.start;
        let is_name = range.len() == 1;
        let tree = self.binary(0).map_err(|error| if is_name { nothing.clone() } else { error })?;
        let mut made_of = BTreeSet::new();
        interval::aggregates_of(&tree, &mut made_of);
        if self.next < self.end || made_of.is_empty() {
            return Err(nothing);
        }
        for &number in &made_of {
            self.aggregates[number].interval = true;
        }
        (self.next, self.end) = (close + 1, end);
        Ok(Outer::EndOf(Box::new(tree), low))
    }

    /// What is selected under the name that stands here alone, whether or not it was read already.
    fn named(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let [token] = &self.clauses.tokens[start..end] else { return None };
        let (Kind::Word(name) | Kind::Quoted(name)) = &token.kind else { return None };
        let is =
            |alias: &Option<String>| alias.as_ref().is_some_and(|alias| alias.eq_ignore_ascii_case(name));
        self.selected.iter().find(|(_, alias)| is(alias)).map(|(range, _)| range.clone())
    }

    /// The number of the aggregate that a range of tokens is, where it is nothing else.
    fn only_aggregate(&mut self, range: &Range<usize>) -> Result<Option<usize>, SqlError> {
        let [name, open, .., last] = &self.clauses.tokens[range.clone()] else { return Ok(None) };
        let Kind::Word(word) = &name.kind else { return Ok(None) };
        let Some(row) = aggregate::named(word).filter(|_| open.is_sign("(") && last.is_sign(")")) else {
            return Ok(None);
        };
        if self.clauses.closing(range.start + 1, range.end) != Some(range.end - 1) {
            return Ok(None);
        }
        let place = (range.start, range.end - 1);
        let found = aggregate::read(self.clauses, place, row, self.tables, self.units)?;
        self.note(found).map(Some)
    }

    /// The number of an aggregate among those of the query, each of which is asked once.
    fn note(&mut self, found: Aggregate) -> Result<usize, SqlError> {
        if let Some(number) = self.aggregates.iter().position(|known| known.is_like(&found)) {
            return Ok(number);
        }
        if self.aggregates.len() >= MOST {
            return Err(SqlError::at(
                self.clauses.text,
                found.at,
                format!("more than {MOST} aggregates are asked for"),
            )
            .hint("ask for fewer"));
        }
        self.aggregates.push(found);
        Ok(self.aggregates.len() - 1)
    }
}

fn negate_if(negated: bool, tree: Outer) -> Outer {
    if negated { Outer::Not(Box::new(tree)) } else { tree }
}

/// A number as it was typed: whole where it is.
fn number(digits: &str) -> Value {
    match digits.parse::<i64>() {
        Ok(whole) => json!(whole),
        Err(_) => digits.parse::<f64>().map_or(Value::Null, |real| json!(real)),
    }
}

fn negative(number: &serde_json::Number) -> Value {
    match number.as_i64() {
        Some(whole) => json!(-whole),
        None => json!(-number.as_f64().unwrap_or_default()),
    }
}
