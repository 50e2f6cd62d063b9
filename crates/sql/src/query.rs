//! A query that was understood: the questions that it asks, and what becomes of their answers.

use crate::{
    SqlError,
    aggregate::{Aggregate, Units},
    clauses::Clauses,
    inner, options,
    outer::{GroupKey, MOST, Outer, Reader, Selected},
    token::{Kind, Token},
    words,
};
use equipoise_core::{adjacency::Unit, wording};
use equipoise_session::{
    batch::Batch,
    earlier::TooFewRows,
    plan::{DataFacts, Plan, PlanError},
    request::Request,
    statistic::{Argument, Statistic},
};
use std::{borrow::Cow, collections::BTreeSet, ops::Range};

/// The table that a query is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name, as it was typed: a file, or what somebody calls a table.
    pub name: String,
    at: usize,
}

/// A query: questions that the session can plan, and what is done to what they release.
#[derive(Clone, Debug)]
pub struct Query {
    text: String,
    table: Table,
    batch: Batch,
    pub(crate) keys: Vec<GroupKey>,
    pub(crate) aggregates: Vec<Aggregate>,
    pub(crate) items: Vec<Item>,
    pub(crate) having: Option<Outer>,
    pub(crate) order: Vec<Sorting>,
    pub(crate) limit: Option<usize>,
    pub(crate) offset: usize,
    /// Where the filter begins, and the options.
    filter_at: Option<usize>,
    options_at: Option<usize>,
}

/// Something that is selected.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub name: String,
    pub tree: Outer,
}

/// What rows are sorted by.
#[derive(Clone, Debug)]
pub(crate) struct Sorting {
    pub tree: Outer,
    pub descending: bool,
    pub nulls_first: bool,
}

/// Words that are no alias where they stand behind an expression.
const NO_ALIAS: [&str; 13] =
    ["end", "null", "true", "false", "and", "or", "not", "in", "is", "between", "like", "then", "as"];

impl Query {
    /// Understand a query. `given` is what was said beside it, by flags or arguments: epsilon, delta, the unit and so on.
    pub fn read(text: &str, given: &Request) -> Result<Self, SqlError> {
        let clauses = &Clauses::read(text)?;
        let options = options::read(clauses, given)?;
        let (name, tables, at) = clauses.table()?;
        let units = &Units { column: options.unit.clone() };
        let filter = clauses.filter.as_ref().map(|range| filter(clauses, range, &tables)).transpose()?;
        let filter = both(given.filter.as_deref(), filter);
        let selected = selected(clauses)?;
        let keys = keys(clauses, &selected, &tables)?;
        let mut reader = Reader::new(clauses, &tables, units, &keys, &selected);
        let mut items = Vec::new();
        for (range, alias) in &selected {
            let tree = reader.read(range)?;
            let name = alias.clone().unwrap_or_else(|| called(clauses, range));
            items.push(Item { name, tree });
        }
        reader.items = selected
            .iter()
            .zip(&items)
            .map(|((_, alias), item)| (alias.clone(), item.tree.clone()))
            .collect();
        let having = clauses.having.as_ref().map(|range| reader.read(range)).transpose()?;
        let order = match &clauses.order {
            Some(range) => few(clauses, range)?
                .into_iter()
                .map(|range| sorting(clauses, range, &mut reader))
                .collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        let limit = clauses.limit.as_ref().map(|range| clauses.whole(range, "LIMIT")).transpose()?;
        let offset = clauses.offset.as_ref().map(|range| clauses.whole(range, "OFFSET")).transpose()?;
        let aggregates = asked(clauses, reader.aggregates, &keys)?;
        Ok(Self {
            text: text.to_string(),
            table: Table { name, at },
            batch: batch(options, filter, &keys, &aggregates),
            keys,
            aggregates,
            items,
            having,
            order,
            limit,
            offset: offset.unwrap_or(0),
            filter_at: clauses.filter.as_ref().map(|range| clauses.byte(range.start)),
            options_at: clauses.options.as_ref().map(|range| clauses.byte(range.start)),
        })
    }

    /// The same about a relation of several tables, which is charged and recorded as this text.
    #[must_use]
    pub(crate) fn about_relation(mut self, relation: String) -> Self {
        self.batch.relation = Some(relation);
        // Where the names of tables were taken off, blanks are left.
        for item in &mut self.items {
            item.name = item.name.replace("( ", "(");
        }
        self
    }

    /// The columns that it reads, each once, in the order of their names.
    pub fn columns_read(&self) -> BTreeSet<String> {
        let Batch { shared, questions, .. } = &self.batch;
        let asked = questions.iter().flat_map(|one| one.column.iter().chain(&one.y));
        let texts = asked.chain(&shared.group_by).chain(&shared.filter);
        let names = texts.filter_map(|text| equipoise_expression::Expression::parse(text).ok());
        names
            .flat_map(|expression| expression.names().into_iter().map(str::to_string).collect::<Vec<_>>())
            .collect()
    }

    /// The table that it is about.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// What is wrong with the table, at its place.
    pub fn wrong_table(&self, problem: impl Into<String>) -> SqlError {
        SqlError::at(&self.text, self.table.at, problem)
    }

    /// The questions that it asks: what is planned, charged and recorded.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// The questions about data that is registered for this unit, which is as good as one that is named.
    fn about(&self, registered: Option<&Unit>) -> Cow<'_, Batch> {
        match registered {
            Some(Unit::Column(unit)) if self.batch.shared.unit.is_none() => {
                let shared = Request { unit: Some(unit.clone()), ..self.batch.shared.clone() };
                let relation = self.batch.relation.clone();
                Cow::Owned(Batch { relation, ..questions(shared, &self.aggregates) })
            }
            _ => Cow::Borrowed(&self.batch),
        }
    }

    /// The text that its plan about such data writes down: under it an earlier answer is found again.
    pub fn asked(&self, registered: Option<&Unit>) -> String {
        self.about(registered).to_json()
    }

    /// Plan the questions. Whatever is wrong has the place of the query that it is about.
    pub fn plan(&self, facts: &DataFacts) -> Result<Plan, SqlError> {
        if self.batch.shared.epsilon.is_none() {
            return Err(SqlError::anywhere("how much privacy may the query cost?")
                .hint("Write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1), or give `epsilon`"));
        }
        let batch = self.about(facts.registered.as_ref().map(|(unit, _)| unit));
        Plan::batch_or_question(&batch, facts).map_err(|(number, error)| {
            let number = number.or_else(|| self.culprit(facts, &error));
            self.placed(number, &error)
        })
    }

    /// What earlier counts tell of its questions, at the place of the first that would be refused.
    pub fn too_few(&self, few: &TooFewRows) -> SqlError {
        let places = few.refused.iter().filter_map(|number| self.aggregates.get(number.checked_sub(1)?));
        let at = places.map(|aggregate| aggregate.at).min();
        let (problem, it) = match few.refused.len() {
            1 => (format!("this would be refused: it takes {}", few.rows), "it"),
            many => (format!("{many} aggregates would be refused: they take up to {}", few.rows), "them"),
        };
        let leave = if few.leave_out.is_empty() { String::new() } else { format!(", leave {it} out") };
        let error = match at {
            Some(at) => SqlError::at(&self.text, at, problem),
            None => SqlError::anywhere(problem),
        };
        error.hint(format!("raise epsilon{leave}, or give `anyway` to ask all the same"))
    }

    /// The question that has this error when it is asked alone.
    fn culprit(&self, facts: &DataFacts, error: &PlanError) -> Option<usize> {
        let alone = |question: &Request| Batch { questions: vec![question.clone()], ..self.batch.clone() };
        let same = |question: &Request| match Plan::batch_or_question(&alone(question), facts) {
            Err((_, other)) => other.to_string() == error.to_string(),
            Ok(_) => false,
        };
        self.batch.questions.iter().position(same)
    }

    /// An error of the plan at the place that it is about.
    fn placed(&self, number: Option<usize>, error: &PlanError) -> SqlError {
        let name = error.argument().map(|argument| argument.name);
        let is = |argument: Argument| name == Some(argument.name());
        let of_aggregate =
            number.and_then(|number| self.aggregates.get(number)).map(|aggregate| aggregate.at);
        let at = if is(Argument::Types) {
            // A flag, which has no place in the query.
            None
        } else if is(Argument::Where) {
            self.filter_at
        } else if is(Argument::GroupBy) {
            self.keys.first().map(|key| key.at)
        } else if Self::is_of_options(name) {
            // Keys that are found take a delta, also where no clause has one.
            let key = self.keys.first().filter(|_| is(Argument::Delta)).map(|key| key.at);
            self.options_at.or(key)
        } else {
            of_aggregate
        };
        let line = words::in_query(&error.to_string(), self.is_of_people(number));
        match at {
            Some(at) => SqlError::at(&self.text, at, line),
            None => SqlError::anywhere(line),
        }
    }

    /// Is a question about what each unit's rows are made?
    pub(crate) fn is_of_people(&self, number: Option<usize>) -> bool {
        number.and_then(|number| self.batch.questions.get(number)).is_some_and(|one| one.fold().is_some())
    }

    /// Is it an option of the clause, or of the flags beside it?
    fn is_of_options(name: Option<&str>) -> bool {
        let common = [
            Argument::Epsilon,
            Argument::Delta,
            Argument::Unit,
            Argument::Adjacency,
            Argument::Confidence,
            Argument::MaxRowsPerUnit,
            Argument::MaxGroupsPerUnit,
            Argument::Keys,
        ];
        common.iter().any(|argument| name == Some(argument.name()))
    }
}

/// The condition of WHERE.
fn filter(clauses: &Clauses<'_>, range: &Range<usize>, tables: &[String]) -> Result<String, SqlError> {
    let condition = inner::read(clauses, range, tables)?;
    Ok(condition.text)
}

/// Two conditions, both of which must hold.
fn both(given: Option<&str>, own: Option<String>) -> Option<String> {
    match (given, own) {
        (Some(given), Some(own)) => Some(format!("({given}) and ({own})")),
        (Some(given), None) => Some(given.to_string()),
        (None, own) => own,
    }
}

/// What is selected, each with its alias.
fn selected(clauses: &Clauses<'_>) -> Result<Vec<Selected>, SqlError> {
    let one = |range: Range<usize>| {
        let tokens = &clauses.tokens[range.clone()];
        if tokens.is_empty() {
            return Err(clauses.wrong(range.start, "a group key or an aggregate is expected here"));
        }
        let name = |token: &Token| match &token.kind {
            Kind::Word(name) | Kind::Quoted(name) => Some(name.clone()),
            _ => None,
        };
        match tokens {
            [_, .., word, alias] if word.is_word("as") => match name(alias) {
                Some(alias) => Ok((range.start..range.end - 2, Some(alias))),
                None => Err(clauses.wrong(range.end - 1, "a name is expected behind AS")),
            },
            [.., before, alias]
                if ends_value(before) && !alias.is_any(&NO_ALIAS) && name(alias).is_some() =>
            {
                Ok((range.start..range.end - 1, name(alias)))
            }
            _ => Ok((range, None)),
        }
    };
    few(clauses, &clauses.select)?.into_iter().map(one).collect()
}

/// Can a value end with this token, so that a name behind it is an alias?
fn ends_value(token: &Token) -> bool {
    match &token.kind {
        Kind::Word(_) => token.is_word("end") || !token.is_any(&NO_ALIAS),
        Kind::Sign(sign) => *sign == ")",
        _ => true,
    }
}

/// The parts of a list that nobody writes longer.
fn few(clauses: &Clauses<'_>, range: &Range<usize>) -> Result<Vec<Range<usize>>, SqlError> {
    let parts = clauses.list(range);
    match parts.get(MOST) {
        Some(part) => Err(clauses.wrong(part.start, format!("the list has more than {MOST} parts"))),
        None => Ok(parts),
    }
}

/// What a column without an alias is called: as it was typed.
fn called(clauses: &Clauses<'_>, range: &Range<usize>) -> String {
    match &clauses.tokens[range.clone()] {
        [Token { kind: Kind::Word(name) | Kind::Quoted(name), .. }] => name.clone(),
        _ => clauses.slice(range),
    }
}

/// The keys of GROUP BY: expressions, or what is selected, by its place or its alias.
fn keys(clauses: &Clauses<'_>, selected: &[Selected], tables: &[String]) -> Result<Vec<GroupKey>, SqlError> {
    let Some(range) = &clauses.group else { return Ok(Vec::new()) };
    let mut keys: Vec<GroupKey> = Vec::new();
    for part in few(clauses, range)? {
        let (range, alias) = key_range(clauses, &part, selected)?;
        let inner = inner::read(clauses, &range, tables)?;
        if !inner.names_column {
            return Err(clauses
                .wrong(part.start, "a constant makes no groups")
                .hint("name a column, or the place of one behind SELECT"));
        }
        if keys.iter().any(|key| key.text == inner.text) {
            return Err(clauses.wrong(part.start, "this is grouped by twice").hint("name it once"));
        }
        keys.push(GroupKey { text: inner.text, column: inner.column, alias, at: clauses.byte(part.start) });
    }
    Ok(keys)
}

/// The tokens of a key, and its alias.
fn key_range(
    clauses: &Clauses<'_>,
    part: &Range<usize>,
    selected: &[Selected],
) -> Result<Selected, SqlError> {
    let tokens = &clauses.tokens[part.clone()];
    match tokens {
        [] => Err(clauses.wrong(part.start, "a column is expected here")),
        [Token { kind: Kind::Number(digits), .. }] => {
            let place = digits.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
            let found = place.and_then(|place| selected.get(place)).ok_or_else(|| {
                let most = selected.len();
                clauses
                    .wrong(part.start, format!("nothing is selected at place {digits}"))
                    .hint(format!("give a place from 1 to {most}"))
            })?;
            Ok(found.clone())
        }
        [first, ..] if first.is_any(&["rollup", "cube", "grouping", "all"]) => Err(clauses
            .wrong(part.start, format!("GROUP BY {} is not accepted", first.shown()))
            .hint("name the columns")),
        [Token { kind: Kind::Word(name) | Kind::Quoted(name), .. }]
            if !is_column_too(clauses, name, selected) =>
        {
            let alias = |(_, alias): &&Selected| {
                alias.as_deref().is_some_and(|alias| alias.eq_ignore_ascii_case(name))
            };
            Ok(selected.iter().find(alias).cloned().unwrap_or((part.clone(), None)))
        }
        _ => Ok((part.clone(), None)),
    }
}

/// Is a name that is grouped by also selected as what it is, so that an alias of the same name means nothing else?
fn is_column_too(clauses: &Clauses<'_>, name: &str, selected: &[Selected]) -> bool {
    selected.iter().any(|(range, _)| match &clauses.tokens[range.clone()] {
        [Token { kind: Kind::Word(own) | Kind::Quoted(own), .. }] => own == name,
        _ => false,
    })
}

/// One part of ORDER BY.
fn sorting(clauses: &Clauses<'_>, range: Range<usize>, reader: &mut Reader<'_>) -> Result<Sorting, SqlError> {
    let mut end = range.end;
    let mut nulls = None;
    let is = |place: usize, word: &str| place > range.start && clauses.tokens[place].is_word(word);
    if end >= range.start + 2 && is(end - 2, "nulls") {
        nulls = match &clauses.tokens[end - 1] {
            token if token.is_word("first") => Some(true),
            token if token.is_word("last") => Some(false),
            _ => return Err(clauses.wrong(end - 1, "FIRST or LAST is expected behind NULLS")),
        };
        end -= 2;
    }
    let descending = end > range.start && is(end - 1, "desc");
    if descending || (end > range.start && is(end - 1, "asc")) {
        end -= 1;
    }
    let range = range.start..end;
    let tree = match &clauses.tokens[range.clone()] {
        [] => return Err(clauses.wrong(range.start, "a column is expected here")),
        [Token { kind: Kind::Number(digits), .. }] => {
            let place = digits.parse::<usize>().ok().and_then(|place| place.checked_sub(1));
            let place = place.filter(|&place| place < reader.items.len()).ok_or_else(|| {
                clauses.wrong(range.start, format!("nothing is selected at place {digits}"))
            })?;
            Outer::Item(place)
        }
        _ => reader.read(&range)?,
    };
    // As in GoogleSQL: nulls are the least.
    Ok(Sorting { tree, descending, nulls_first: nulls.unwrap_or(!descending) })
}

/// The aggregates that are asked for; where there are keys alone, how many rows each has, which finds them.
fn asked(
    clauses: &Clauses<'_>,
    mut aggregates: Vec<Aggregate>,
    keys: &[GroupKey],
) -> Result<Vec<Aggregate>, SqlError> {
    if aggregates.is_empty() {
        if keys.is_empty() {
            return Err(clauses
                .wrong(clauses.select.start, "no aggregate is asked for")
                .hint("write one, as in COUNT(*), AVG(x) or MEDIAN(x)"));
        }
        let at = clauses.byte(clauses.select.start);
        aggregates.push(Aggregate {
            statistic: Statistic::Count,
            column: None,
            y: None,
            range_y: None,
            fraction: None,
            range: None,
            unit_range: None,
            counts_units: false,
            is_found: true,
            interval: false,
            at,
        });
    }
    for aggregate in aggregates.iter().filter(|aggregate| aggregate.interval) {
        if aggregate.statistic == Statistic::Mode {
            return Err(SqlError::at(clauses.text, aggregate.at, "MODE has no interval")
                .hint("its value is exact, or refused"));
        }
    }
    Ok(aggregates)
}

/// The questions of a query.
fn batch(options: Request, filter: Option<String>, keys: &[GroupKey], aggregates: &[Aggregate]) -> Batch {
    let shared = Request {
        statistic: "batch".to_string(),
        filter,
        group_by: keys.iter().map(|key| key.text.clone()).collect(),
        ..options
    };
    questions(shared, aggregates)
}

/// The questions with what all of them have.
fn questions(shared: Request, aggregates: &[Aggregate]) -> Batch {
    let question = |aggregate: &Aggregate| {
        let buys = aggregate.statistic.takes(Argument::Interval);
        let interval = (aggregate.interval && buys).then_some(true);
        Request { interval, ..aggregate.question(&shared) }
    };
    Batch { data: None, relation: None, questions: aggregates.iter().map(question).collect(), shared }
}

impl Table {
    /// Its name for a line of text.
    pub fn shown(&self) -> String {
        wording::shown(&self.name)
    }
}
