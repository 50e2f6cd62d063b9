//! Columns that are computed: a source with more columns than its file has.
//!
//! # Guarantee
//!
//! The value of a computed column in a row is a function of that row alone, and always there
//! ([`equipoise_expression`]). So two files that differ in one row differ, with their computed columns, in that one row, and a question about
//! a computed column loses what it loses about a column of the file. The audit `filters` enumerates such answers.
//!
//! Computed columns lie behind those of the file, under the text that asks for them, with a type that follows from declared types; whoever
//! plans or gathers sees columns and nothing else.

use crate::{
    columns,
    error::PlanError,
    facts::DataFacts,
    request::Request,
    rows::per_unit::PerUnit,
    source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor},
    statistic::{self, Argument, Statistic},
    types::Types,
};
use equipoise_core::{adjacency::Unit, wording};
use equipoise_expression::{Expression, ExpressionError, Input, Known, Output, Program, Type};
use std::borrow::Cow;

/// A computed column.
#[derive(Clone, Debug)]
struct Computed {
    name: String,
    program: Program,
    /// The cells of the file that it is made of.
    reads: Vec<ColumnRead>,
}

/// The computed columns of a plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derived {
    /// How many columns the file has.
    own: usize,
    columns: Vec<Computed>,
    per_unit: PerUnit,
}

/// What columns of a request are called, and what is public of them.
pub(crate) struct Names<'a> {
    pub facts: &'a DataFacts,
    pub types: &'a Types,
    pub argument: Argument,
}

impl Names<'_> {
    /// What is known of a column by name.
    pub fn known(&self, name: &str) -> Option<Known> {
        let place = columns::place(&self.facts.columns, name).ok()?;
        let said = self.types.said(place);
        let kind = said.or_else(|| self.facts.kind(place));
        Some(Known { place, kind: kind.map(type_of), by_schema: said.is_none() })
    }

    /// Every name is that of one column, or one line says which is not.
    pub fn check(&self, expression: &Expression) -> Result<(), PlanError> {
        let constant = |name: &str| ["true", "false"].iter().any(|word| name.eq_ignore_ascii_case(word));
        for name in expression.names() {
            if let Err(error) = columns::place(&self.facts.columns, name)
                && (error.several || !constant(name))
            {
                let line = format!("{error}; text stands between single quotes, 'like this'");
                return Err(PlanError::line(line).within_argument(self.argument));
            }
        }
        Ok(())
    }

    /// What is wrong with an expression, and where.
    pub fn wrong(&self, text: &str, error: &ExpressionError) -> PlanError {
        let wrong = PlanError::line(error.problem()).within_argument(self.argument);
        let wrong = match error.next_step() {
            Some(hint) => wrong.hint(hint),
            None => wrong,
        };
        wrong.at(error.position(text))
    }

    /// The cells that a program reads.
    pub fn reads(program: &Program) -> Vec<ColumnRead> {
        let read = |&(column, kind): &(usize, Type)| ColumnRead { column, kind: kind_of(kind) };
        program.reads().iter().map(read).collect()
    }
}

/// The type by which a column takes part in expressions: decimals as the numbers next to them.
fn type_of(kind: ColumnType) -> Type {
    match kind {
        ColumnType::Float | ColumnType::Decimal { .. } => Type::Float,
        ColumnType::Integer => Type::Integer,
        ColumnType::Date => Type::Date,
        ColumnType::Timestamp => Type::Timestamp,
        ColumnType::Boolean => Type::Boolean,
        ColumnType::Text => Type::Text,
    }
}

fn kind_of(kind: Type) -> ColumnType {
    match kind {
        Type::Float => ColumnType::Float,
        Type::Integer => ColumnType::Integer,
        Type::Date => ColumnType::Date,
        Type::Timestamp => ColumnType::Timestamp,
        Type::Boolean => ColumnType::Boolean,
        Type::Text => ColumnType::Text,
    }
}

/// Cells as expressions read them.
pub(crate) fn input<'a>(cells: &Cells<'a>) -> Input<'a> {
    match *cells {
        Cells::Floats(values) => Input::Real(values),
        Cells::Integers(values) => Input::Whole(values),
        Cells::Texts(texts) => Input::Text(texts),
        Cells::Coded { texts, codes } => Input::Coded { texts, codes },
    }
}

impl Derived {
    /// The columns that requests ask for and the file does not have, and what is public of all columns then.
    pub fn plan<'a>(
        requests: impl IntoIterator<Item = &'a Request> + Clone,
        facts: &DataFacts,
    ) -> Result<(Self, DataFacts), PlanError> {
        let mut all = Self { own: facts.columns.len(), columns: Vec::new(), per_unit: PerUnit::default() };
        for request in requests.clone() {
            let Some(statistic) = Statistic::named(&request.statistic) else { continue };
            let types = Types::plan(request, facts)?;
            let column = request.column.as_deref().into_iter();
            let keyed = statistic.spec().column == statistic::Column::Keys;
            for (argument, text) in column
                .map(|text| (Argument::Column, text))
                .chain(request.y.as_deref().map(|text| (Argument::Y, text)))
                .chain(request.on.iter().map(|text| (Argument::On, text.as_str())))
                .chain(request.group_by.iter().map(|text| (Argument::GroupBy, text.as_str())))
            {
                let names = Names { facts, types: &types, argument };
                let is_key = keyed || argument == Argument::GroupBy;
                for text in if is_key { keys(&facts.columns, text) } else { vec![text] } {
                    let statistic = (!is_key).then_some(statistic);
                    all.add(text, statistic, &names)?;
                }
            }
            all.is_no_unit(request, facts)?;
        }
        let mut extended = facts.clone();
        if !all.columns.is_empty() {
            extended.kinds.resize(all.own, None);
        }
        for column in &all.columns {
            extended.columns.push(column.name.clone());
            extended.kinds.push(Some(kind_of(column.program.kind())));
        }
        all.per_unit = PerUnit::plan(requests, &mut extended);
        Ok((all, extended))
    }

    fn add(&mut self, text: &str, statistic: Option<Statistic>, names: &Names<'_>) -> Result<(), PlanError> {
        let known = self.columns.iter().any(|column| column.name == text);
        let is_name = match columns::named(&names.facts.columns, text) {
            Ok(_) => true,
            // Whoever looks for the column says that there are several: none of them is computed.
            Err(error) => error.several,
        };
        if known || is_name {
            return Ok(());
        }
        let expression = match Expression::parse(text) {
            // Whoever looks for the column says that there is none.
            Ok(name) if name.as_column().is_some() => return Ok(()),
            Ok(expression) if names.check(&expression).is_ok() => expression,
            Ok(_) if is_near(text, &names.facts.columns) => return Ok(()),
            Ok(expression) => return names.check(&expression),
            Err(_) if !text.contains(SIGNS) => return Ok(()),
            Err(error) => return Err(names.wrong(text, &error)),
        };
        if !expression.names().iter().any(|name| names.known(name).is_some()) {
            let problem = format!("'{}' names no column", wording::shown(text));
            return Err(PlanError::about(names.argument, problem).hint("name one, as in \"pay / 12\""));
        }
        let numbers = statistic.is_some_and(|statistic| {
            matches!(statistic.spec().column, statistic::Column::Summed | statistic::Column::Ordered)
        });
        let condition =
            statistic.is_some_and(|statistic| statistic.spec().column == statistic::Column::Condition);
        let wanted = match (numbers, condition) {
            (true, _) => Type::Float,
            (_, true) => Type::Boolean,
            _ => Type::Text,
        };
        let program = Program::bind(&expression, &|name| names.known(name), Some(wanted))
            .map_err(|error| names.wrong(text, &error))?;
        if numbers && program.kind() == Type::Text {
            let (statistic, text) = (statistic.expect("of numbers"), wording::shown(text));
            let problem = format!("{statistic} of a text has no meaning, and '{text}' is one");
            return Err(PlanError::about(names.argument, problem).hint("ask for mode, histogram or select"));
        }
        if condition && program.kind() != Type::Boolean {
            let (statistic, kind) = (statistic.expect("of conditions"), kind_of(program.kind()));
            let text = wording::shown(text);
            let problem = format!("{statistic} takes a condition, and '{text}' is of the type {kind}");
            let example = format!("compare it, as in \"{text} {}\"", kind.compared());
            return Err(PlanError::about(names.argument, problem).hint(example));
        }
        let reads = Names::reads(&program);
        self.columns.push(Computed { name: text.to_string(), program, reads });
        Ok(())
    }

    /// A unit is a column of the file: whose rows they are is not computed.
    fn is_no_unit(&self, request: &Request, facts: &DataFacts) -> Result<(), PlanError> {
        let Ok(Unit::Column(name)) = facts.unit(request.unit.as_deref()) else { return Ok(()) };
        match columns::place(&facts.columns, &name) {
            Err(error) if self.columns.iter().any(|column| column.name == name) => {
                Err(PlanError::no_column(Argument::Unit, &error).within_argument(Argument::Unit))
            }
            _ => Ok(()),
        }
    }

    /// Is any column computed?
    pub fn computes(&self) -> bool {
        !self.columns.is_empty()
    }

    /// The columns that hold one value for each person, behind those that are computed.
    pub fn per_unit(&self) -> &PerUnit {
        &self.per_unit
    }

    /// The cells of the file that these cells are made of.
    pub fn of_file(&self, wanted: &[ColumnRead]) -> Vec<ColumnRead> {
        let own = |one: ColumnRead| match self.computed(one) {
            Some(column) => column.reads.clone(),
            None => vec![one],
        };
        wanted.iter().filter_map(|&one| self.per_unit.of_rows(one)).flat_map(own).collect()
    }

    /// Is a column one of the file?
    pub fn is_of_file(&self, column: usize) -> bool {
        self.columns.is_empty() || column < self.own
    }

    fn computed(&self, wanted: ColumnRead) -> Option<&Computed> {
        self.columns.get(wanted.column.checked_sub(self.own)?)
    }

    /// Scan a source like [`Source::scan`], with computed columns among those that are wanted.
    pub fn scan(
        &self,
        source: &dyn Source,
        wanted: &[ColumnRead],
        visitors: &mut [&mut dyn Visitor],
    ) -> Result<(), Lost> {
        if wanted.iter().all(|&one| self.computed(one).is_none()) {
            return source.scan(wanted, visitors);
        }
        let mut all = Vec::new();
        let cells: Vec<Made<'_>> = wanted
            .iter()
            .map(|&one| match self.computed(one) {
                None => Made::Read(super::place_of(one, &mut all)),
                Some(column) => {
                    let places = column.reads.iter().map(|&read| super::place_of(read, &mut all)).collect();
                    Made::Computed { program: &column.program, places, kind: one.kind }
                }
            })
            .collect();
        let mut computing: Vec<Computing<'_>> =
            visitors.iter_mut().map(|visitor| Computing { cells: &cells, next: &mut **visitor }).collect();
        let mut computing: Vec<&mut dyn Visitor> =
            computing.iter_mut().map(|visitor| visitor as &mut dyn Visitor).collect();
        source.scan(&all, &mut computing)
    }
}

/// What no column is expected to have in its name.
const SIGNS: [char; 13] = ['(', ')', '+', '*', '/', '%', '<', '>', '=', '|', '\'', '"', '`'];

/// Is a text nearly the name of a column?
fn is_near(text: &str, columns: &[String]) -> bool {
    let nothing = wording::nearest("", &[] as &[&str]);
    wording::nearest(text, columns) != nothing
}

/// The columns and expressions of a list of keys: one column, or parts between commas.
pub(crate) fn keys<'a>(columns: &[String], text: &'a str) -> Vec<&'a str> {
    if columns.iter().any(|column| column == text) { vec![text] } else { Expression::split_list(text) }
}

/// Where the cells of a wanted column come from.
enum Made<'a> {
    /// From this place of the source's batch.
    Read(usize),
    /// From a program over these places, as this kind.
    Computed { program: &'a Program, places: Vec<usize>, kind: ColumnType },
}

/// Hands on batches with computed cells among those of the source.
struct Computing<'a> {
    cells: &'a [Made<'a>],
    next: &'a mut dyn Visitor,
}

impl Visitor for Computing<'_> {
    fn batch(&mut self, batch: Batch<'_>) {
        let made: Vec<Option<Output<'_>>> = self
            .cells
            .iter()
            .map(|cells| match cells {
                Made::Read(_) => None,
                Made::Computed { program, places, kind } => {
                    let inputs: Vec<Input<'_>> =
                        places.iter().map(|&place| input(&batch.cells[place])).collect();
                    Some(as_kind(program.run(&inputs, batch.rows, type_of(*kind)), *kind))
                }
            })
            .collect();
        let listed: Vec<Listed<'_>> = made.iter().map(|output| Listed::new(output.as_ref())).collect();
        let cells: Vec<Cells<'_>> = self
            .cells
            .iter()
            .zip(made.iter().zip(&listed))
            .map(|(cells, (output, listed))| match (cells, output) {
                (Made::Read(place), _) => batch.cells[*place],
                (_, Some(Output::Real(values))) => Cells::Floats(values),
                (_, Some(Output::Whole(values))) => Cells::Integers(values),
                (_, Some(Output::Coded { codes, .. })) => Cells::Coded { texts: &listed.texts, codes },
                (_, Some(Output::Text(_)) | None) => Cells::Texts(&listed.own),
            })
            .collect();
        self.next.batch(Batch { rows: batch.rows, cells: &cells });
    }
}

/// Values in the whole numbers of a kind, where the kind has other ones than its type.
fn as_kind(output: Output<'_>, kind: ColumnType) -> Output<'_> {
    match (output, kind) {
        (Output::Real(values), ColumnType::Decimal { .. }) => {
            let read = |value: &f64| kind.read(&value.to_string());
            Output::Whole(values.iter().map(read).collect())
        }
        (output, _) => output,
    }
}

/// Texts as batches have them.
#[derive(Default)]
struct Listed<'a> {
    texts: Vec<&'a str>,
    own: Vec<Option<&'a str>>,
}

impl<'a> Listed<'a> {
    fn new(output: Option<&'a Output<'_>>) -> Self {
        match output {
            Some(Output::Coded { texts, .. }) => {
                Self { texts: texts.iter().map(Cow::as_ref).collect(), own: Vec::new() }
            }
            Some(Output::Text(texts)) => {
                Self { texts: Vec::new(), own: texts.iter().map(Option::as_deref).collect() }
            }
            _ => Self::default(),
        }
    }
}

#[cfg(test)]
#[path = "derived_tests.rs"]
mod tests;
