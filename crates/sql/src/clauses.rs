//! The clauses of a query: which tokens belong to which, in the one order that is accepted.

use crate::{
    SqlError,
    token::{Kind, Token, tokens},
};
use equipoise_core::wording;
use std::ops::Range;

/// A query as clauses, none of which is understood yet.
#[derive(Debug)]
pub(crate) struct Clauses<'a> {
    pub text: &'a str,
    pub tokens: Vec<Token>,
    /// What stands in the parentheses of `OPTIONS`.
    pub options: Option<Range<usize>>,
    pub select: Range<usize>,
    pub from: Range<usize>,
    pub filter: Option<Range<usize>>,
    pub group: Option<Range<usize>>,
    pub having: Option<Range<usize>>,
    pub order: Option<Range<usize>>,
    pub limit: Option<Range<usize>>,
    pub offset: Option<Range<usize>>,
}

/// The words that begin clauses, in their order.
const ORDER: [&str; 8] = ["select", "from", "where", "group", "having", "order", "limit", "offset"];
/// What joins tables.
const JOINS: [&str; 9] = ["join", "inner", "left", "right", "full", "cross", "natural", "lateral", "outer"];
/// What puts queries together.
const SETS: [&str; 4] = ["union", "intersect", "except", "minus"];
/// Clauses that others have.
const OTHERS: [&str; 8] = ["qualify", "window", "tablesample", "fetch", "for", "pivot", "unpivot", "into"];

impl<'a> Clauses<'a> {
    /// Find the clauses of a query.
    pub fn read(text: &'a str) -> Result<Self, SqlError> {
        let tokens = tokens(text)?;
        let this = Self {
            text,
            tokens,
            options: None,
            select: 0..0,
            from: 0..0,
            filter: None,
            group: None,
            having: None,
            order: None,
            limit: None,
            offset: None,
        };
        this.is_one_query()?;
        this.split()
    }

    /// What is wrong at a token.
    pub fn wrong(&self, token: usize, problem: impl Into<String>) -> SqlError {
        let at = self.tokens.get(token).map_or(self.text.len(), |token| token.start);
        SqlError::at(self.text, at, problem)
    }

    /// The query as it was typed, from one token to another, spaces made one.
    pub fn slice(&self, range: &Range<usize>) -> String {
        let (Some(first), Some(last)) = (self.tokens.get(range.start), self.tokens[..range.end].last())
        else {
            return String::new();
        };
        self.text[first.start..last.end.max(first.start)].split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Where a range begins, in bytes.
    pub fn byte(&self, place: usize) -> usize {
        self.tokens.get(place).map_or(self.text.len(), |token| token.start)
    }

    /// Parts of a range between commas that stand in no parentheses or brackets.
    pub fn list(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let (mut depth, mut start) = (0usize, range.start);
        for place in range.clone() {
            match self.tokens[place].kind {
                Kind::Sign("(" | "[") => depth += 1,
                Kind::Sign(")" | "]") => depth = depth.saturating_sub(1),
                Kind::Sign(",") if depth == 0 => {
                    parts.push(start..place);
                    start = place + 1;
                }
                _ => {}
            }
        }
        parts.push(start..range.end);
        parts
    }

    /// The place behind the parenthesis that closes the one at this place.
    pub fn closing(&self, open: usize, end: usize) -> Option<usize> {
        let mut depth = 0usize;
        for place in open..end {
            match self.tokens[place].kind {
                Kind::Sign("(") => depth += 1,
                Kind::Sign(")") => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(place);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// One SELECT about one table, with parentheses that fit; what needs more names the program that will take it.
    fn is_one_query(&self) -> Result<(), SqlError> {
        let Some(first) = self.tokens.first() else {
            return Err(
                SqlError::anywhere("the query is empty").hint("write SELECT COUNT(*) FROM 'people.csv'")
            );
        };
        if first.is_word("with") {
            return Err(self.more_than_one_table(0, "a WITH query before SELECT"));
        }
        if first.is_word("explain") {
            return Err(self.wrong(0, "EXPLAIN is not a query here").hint("ask for a dry run instead"));
        }
        if first.is_sign("(") {
            return Err(self.more_than_one_table(0, "a query in parentheses"));
        }
        if !first.is_word("select") {
            return Err(self.wrong(0, format!("{} begins no query", first.shown())).hint("write SELECT"));
        }
        let mut open = Vec::new();
        for (place, token) in self.tokens.iter().enumerate() {
            let next = self.tokens.get(place + 1);
            let called = next.is_some_and(|next| next.is_sign("("));
            match token.kind {
                Kind::Sign("(" | "[") => {
                    if next.is_some_and(|next| next.is_any(&["select", "with"])) {
                        return Err(self.more_than_one_table(place, "a subquery"));
                    }
                    open.push(place);
                }
                Kind::Sign(")" | "]") if open.pop().is_none() => {
                    return Err(self.wrong(place, "this parenthesis closes nothing").hint("leave it out"));
                }
                Kind::Sign(";") if next.is_some() => {
                    return Err(self.wrong(place + 1, "a second query follows").hint("ask one at a time"));
                }
                _ if token.is_word("over") && (called || place + 2 == self.tokens.len()) => {
                    return Err(self
                        .wrong(place, "windows are not accepted: a row must not see others")
                        .hint("aggregate by GROUP BY"));
                }
                _ if token.is_any(&SETS)
                    && next.is_some_and(|next| {
                        next.is_sign("(") || next.is_any(&["select", "all", "distinct"])
                    }) =>
                {
                    return Err(self.more_than_one_table(place, "a query made of several"));
                }
                _ => {}
            }
        }
        match open.pop() {
            Some(place) => Err(self.wrong(place, "this parenthesis is never closed").hint("close it")),
            None => Ok(()),
        }
    }

    /// What only a larger program can answer.
    pub fn more_than_one_table(&self, place: usize, what: &str) -> SqlError {
        self.wrong(place, format!("{what} is not accepted: a query here is one SELECT about one table"))
            .hint("joins, subqueries and set operations are for the program equipoise-sql; where it is not installed, build it with 'cargo install --path sql/equipoise-sql' in the source of equipoise")
            .about_several()
    }

    fn split(mut self) -> Result<Self, SqlError> {
        let end = self.tokens.len() - usize::from(self.tokens.last().is_some_and(|last| last.is_sign(";")));
        let mut begins: Vec<(usize, usize)> = Vec::new();
        let mut depth = 0usize;
        for (place, token) in self.tokens[..end].iter().enumerate() {
            match token.kind {
                Kind::Sign("(" | "[") => depth += 1,
                Kind::Sign(")" | "]") => depth -= 1,
                Kind::Word(_) if depth == 0 => {
                    let Some(clause) = ORDER.iter().position(|word| token.is_word(word)) else {
                        if token.is_any(&OTHERS) && begins.last().is_some_and(|&(_, last)| last > 0) {
                            return Err(self
                                .wrong(place, format!("{} is not accepted", token.shown()))
                                .hint("leave it out"));
                        }
                        continue;
                    };
                    if let Some(&(_, last)) = begins.last()
                        && clause <= last
                    {
                        let word = ORDER[clause].to_uppercase();
                        return Err(self
                            .wrong(place, format!("{word} stands where it is not expected"))
                            .hint("write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT .., each once"));
                    }
                    begins.push((place, clause));
                }
                _ => {}
            }
        }
        for (number, &(place, clause)) in begins.iter().enumerate() {
            let behind = begins.get(number + 1).map_or(end, |&(next, _)| next);
            let from = self.behind_words(place, clause)?;
            if from >= behind {
                let word = self.tokens[place].shown();
                return Err(self.wrong(behind, format!("nothing follows {word}")));
            }
            let range = from..behind;
            match ORDER[clause] {
                "select" => self.select = range,
                "from" => self.from = range,
                "where" => self.filter = Some(range),
                "group" => self.group = Some(range),
                "having" => self.having = Some(range),
                "order" => self.order = Some(range),
                "limit" => self.limit = Some(range),
                _ => self.offset = Some(range),
            }
        }
        if self.from.is_empty() {
            return Err(self.wrong(end, "FROM is missing").hint("name the table, as in FROM 'people.csv'"));
        }
        self.privacy_clause()?;
        Ok(self)
    }

    /// The first token behind the words of a clause.
    fn behind_words(&self, place: usize, clause: usize) -> Result<usize, SqlError> {
        if !matches!(ORDER[clause], "group" | "order") {
            return Ok(place + 1);
        }
        match self.tokens.get(place + 1) {
            Some(next) if next.is_word("by") => Ok(place + 2),
            _ => Err(self.wrong(place + 1, format!("BY is missing behind {}", self.tokens[place].shown()))),
        }
    }

    /// Take `WITH DIFFERENTIAL_PRIVACY OPTIONS(..)` off the list of what is selected.
    fn privacy_clause(&mut self) -> Result<(), SqlError> {
        let mut start = self.select.start;
        let is = |this: &Self, place: usize, word: &str| {
            place < this.select.end && this.tokens[place].is_word(word)
        };
        if is(self, start, "with") {
            if is(self, start + 1, "anonymization") {
                return Err(self
                    .wrong(start + 1, "ANONYMIZATION is the older name of this clause")
                    .hint("write WITH DIFFERENTIAL_PRIVACY"));
            }
            if !is(self, start + 1, "differential_privacy") {
                return Err(self
                    .wrong(start + 1, "DIFFERENTIAL_PRIVACY is expected behind SELECT WITH")
                    .hint("write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6)"));
            }
            start += 2;
            if is(self, start, "options") {
                let open = start + 1;
                let closed = self.tokens.get(open).filter(|token| token.is_sign("("));
                let closed = closed.and_then(|_| self.closing(open, self.select.end));
                let Some(close) = closed else {
                    return Err(self
                        .wrong(open, "OPTIONS has a list in parentheses")
                        .hint("write OPTIONS(epsilon=1, delta=1e-6)"));
                };
                self.options = Some(open + 1..close);
                start = close + 1;
            }
        }
        for word in ["distinct", "all", "as"] {
            if is(self, start, word) && !self.tokens.get(start + 1).is_some_and(|next| next.is_sign("(")) {
                let word = word.to_uppercase();
                return Err(self
                    .wrong(start, format!("SELECT {word} is not accepted"))
                    .hint("name group keys and aggregates"));
            }
        }
        if start >= self.select.end {
            return Err(self.wrong(start, "nothing is selected").hint("name an aggregate, as in COUNT(*)"));
        }
        self.select.start = start;
        Ok(())
    }

    /// The table of FROM, the names under which its columns may stand, and where it stands.
    pub fn table(&self) -> Result<(String, Vec<String>, usize), SqlError> {
        let mut place = self.from.start;
        let first = &self.tokens[place];
        let mut name = match &first.kind {
            Kind::Text(name) | Kind::Quoted(name) | Kind::Word(name) => name.clone(),
            _ => {
                return Err(self
                    .wrong(place, "the name of a table is expected")
                    .hint("write FROM 'people.csv'"));
            }
        };
        let mut last = name.clone();
        place += 1;
        // people.csv without quotes.
        while place + 1 < self.from.end && self.tokens[place].is_sign(".") {
            let (Kind::Word(part) | Kind::Quoted(part)) = &self.tokens[place + 1].kind else {
                return Err(self.wrong(place + 1, "the name of a table is expected"));
            };
            name = format!("{name}.{part}");
            last.clone_from(part);
            place += 2;
        }
        if first.is_word("unnest") {
            return Err(self.more_than_one_table(self.from.start, "UNNEST"));
        }
        let mut names = vec![name.clone(), last];
        if place < self.from.end && self.tokens[place].is_word("as") {
            place += 1;
        }
        if place < self.from.end
            && let Kind::Word(alias) | Kind::Quoted(alias) = &self.tokens[place].kind
            && !self.tokens[place].is_any(&JOINS)
        {
            // Where there is another name, only that is known.
            names = vec![alias.clone()];
            place += 1;
        }
        if place < self.from.end {
            let next = &self.tokens[place];
            if next.is_any(&JOINS) || next.is_sign(",") {
                return Err(self.more_than_one_table(place, "a join"));
            }
            return Err(self.wrong(place, format!("{} is not expected behind the table", next.shown())));
        }
        Ok((name, names, self.tokens[self.from.start].start))
    }

    /// A whole number that stands alone.
    pub fn whole(&self, range: &Range<usize>, clause: &str) -> Result<usize, SqlError> {
        let number = match self.tokens[range.clone()] {
            [Token { kind: Kind::Number(ref digits), .. }] => digits.parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| {
            let typed = wording::shown(&self.slice(range));
            self.wrong(range.start, format!("{clause} {typed} is not accepted")).hint("give a whole number")
        })
    }
}
