//! `--where`: a predicate about one record at a time, evaluated a batch at a time.
//!
//! # Which type a column has
//!
//! The one that was declared; days, moments and yes or no by the schema ([`constants`](super::constants)). Else a file of text
//! has none, and rows are never looked at to find one. The constants that a column is compared with fix it:
//! text, and the column is read as text; numbers, and it is read as floats. Where a whole constant is beyond 2^53, which floats
//! cannot tell apart, it is read both ways: a whole number of 64 bits is compared as one, any other number as a float. Two columns that are compared with each other only are numbers. A
//! column that is only asked whether it is null is read as text. A condition that computes something is an expression of its own
//! ([`derived`](super::derived)), in which a column of no declared type is read as what it is used for. What a record does not have, or has in another form, is null,
//! and a null passes no comparison.

use super::{
    constants::Known,
    derived::{Names, input},
    first, place_of,
};
use crate::{
    columns,
    error::PlanError,
    facts::DataFacts,
    source::{Batch, Cells, ColumnRead, ColumnType, Visitor},
    statistic::Argument,
    types::Types,
};
use equipoise_core::wording;
use equipoise_expression::{
    Bitmap, Column, Comparison, Constant, Expression, Input, Kind as Type, NULL_CODE, Predicate, Program,
    Question, Side, Test,
};
use std::collections::BTreeMap;

/// A predicate whose columns are known.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    question: Question,
    /// The columns by the places that the question knows them by.
    wanted: Vec<ColumnRead>,
    /// Conditions that compute something; the question knows their answers by the places behind the columns.
    computed: Vec<Condition>,
}

/// A condition that computes something.
#[derive(Clone, Debug)]
struct Condition {
    program: Program,
    /// The places of its cells among those of the filter.
    places: Vec<usize>,
    /// Whether the records are wanted of which it is true, or those of which it is false.
    wanted: bool,
}

/// The name of a condition that computes something, which no column has.
fn name_of(condition: usize) -> String {
    format!("\u{0}{condition}")
}

impl Filter {
    /// Read a predicate and find its columns.
    pub fn plan(text: &str, facts: &DataFacts, types: &Types) -> Result<Self, PlanError> {
        let wrong = |error: &dyn std::fmt::Display| {
            PlanError::line(error.to_string()).within_argument(Argument::Where)
        };
        let names = Names { facts, types, argument: Argument::Where };
        let expression = Expression::parse(text).map_err(|error| names.wrong(text, &error))?;
        let mut programs = Vec::new();
        let predicate = Predicate::of(&expression, &mut |condition: &Expression| {
            names.check(condition)?;
            let program = Program::condition(condition, &|name| names.known(name));
            programs.push(program.map_err(|error| names.wrong(text, &error))?);
            let name = Side::Column(name_of(programs.len() - 1));
            Ok::<_, PlanError>(Predicate::Compare(
                name,
                Comparison::Equal,
                Side::Constant(Constant::Whole(1)),
            ))
        })?;
        let known = Known { facts, types, typed: text };
        let predicate = known.typed(predicate)?;
        let mut types = BTreeMap::new();
        type_columns(&predicate, &mut types);
        types.retain(|name, _| !name.starts_with('\u{0}'));
        let mut wanted = Vec::new();
        let mut places = BTreeMap::new();
        let mut wholes = BTreeMap::new();
        for (name, found) in types {
            let column = columns::place(&facts.columns, name).map_err(|error| {
                wrong(&format!("{error}; text stands between single quotes, 'like this'"))
            })?;
            let (kind, bound) = match (known.kind(name), found) {
                (Some(kind), _) => (kind, type_of_kind(kind)),
                (None, Found::Text | Found::Nothing) => (ColumnType::Text, Type::Text),
                (None, Found::Number | Found::Large) => (ColumnType::Float, Type::Real),
            };
            places.insert(name.to_string(), (wanted.len(), bound));
            wanted.push(ColumnRead { column, kind });
            if kind == ColumnType::Float && found == Found::Large {
                wholes.insert(name.to_string(), (wanted.len(), Type::Whole));
                wanted.push(ColumnRead { column, kind: ColumnType::Integer });
            }
        }
        let mut computed: Vec<Condition> = programs
            .into_iter()
            .map(|program| {
                let places =
                    Names::reads(&program).into_iter().map(|read| place_of(read, &mut wanted)).collect();
                Condition { program, places, wanted: true }
            })
            .collect();
        if wanted.is_empty() {
            return Err(wrong(&format!("'{}' names no column", wording::shown(text.trim())))
                .hint("compare a column with something, as in age >= 18"));
        }
        for condition in 0..computed.len() {
            places.insert(name_of(condition), (wanted.len() + condition, Type::Whole));
        }
        let question = |whole_first: bool| {
            let place = |name: &str| wholes.get(name).filter(|_| whole_first).or_else(|| places.get(name));
            predicate.bind(|name| place(name).copied()).map_err(|error| wrong(&error))
        };
        let question = whole_or_real(question(true)?, question(false)?);
        let question = by_bits(question, wanted.len(), &mut computed);
        Ok(Self { question, wanted, computed })
    }

    /// The same about the rows alone of which this cell lies in one of these ranges, ends included, however the predicate was typed.
    pub fn within(filter: Option<Self>, cell: ColumnRead, ranges: &[(i64, i64)]) -> Self {
        let place = filter.as_ref().map_or(0, |filter| filter.wanted.len());
        let test = |&(low, high): &(i64, i64)| Question::Test(place, Test::Whole(low, high, true));
        let within = Question::Or(ranges.iter().map(test).collect());
        let Some(Self { question, mut wanted, computed }) = filter else {
            return Self { question: within, wanted: vec![cell], computed: Vec::new() };
        };
        wanted.push(cell);
        // Computed conditions stand behind the cells, of which there is one more.
        Self { question: Question::And(vec![moved(question, place), within]), wanted, computed }
    }

    /// The cells that the predicate looks at.
    pub fn wanted(&self) -> &[ColumnRead] {
        &self.wanted
    }

    /// Which rows pass, given the places of the predicate's cells in a batch.
    fn passing(&self, batch: Batch<'_>, places: &[usize]) -> Bitmap {
        let cells = |place: usize| &batch.cells[places[place]];
        let bits: Vec<Bitmap> =
            self.computed.iter().map(|condition| condition.bits(batch.rows, cells)).collect();
        if let (Question::Computed(_), [only]) = (&self.question, bits.as_slice()) {
            return only.clone();
        }
        let held: Vec<Held<'_>> = (0..places.len()).map(|place| self.held(place, cells(place))).collect();
        let columns = held.iter().map(Held::column).chain(bits.iter().map(Column::Bits));
        self.question.evaluate(&columns.collect::<Vec<_>>(), batch.rows)
    }

    /// Cells in the form that the question reads; nothing where only computed conditions read them.
    fn held<'a>(&self, place: usize, cells: &Cells<'a>) -> Held<'a> {
        if asks_about(&self.question, place) { Held::new(cells) } else { Held::Floats(&[]) }
    }
}

impl Condition {
    /// The records that are wanted.
    fn bits<'a>(&self, rows: usize, cells: impl Fn(usize) -> &'a Cells<'a>) -> Bitmap {
        let inputs: Vec<Input<'_>> = self.places.iter().map(|&place| input(cells(place))).collect();
        self.program.holds(&inputs, rows, self.wanted)
    }
}

/// The same question where what stood at a place, or behind it, stands one place on.
fn moved(question: Question, from: usize) -> Question {
    let all = |parts: Vec<Question>| parts.into_iter().map(|part| moved(part, from)).collect();
    let on = |place: usize| if place >= from { place + 1 } else { place };
    match question {
        Question::And(parts) => Question::And(all(parts)),
        Question::Or(parts) => Question::Or(all(parts)),
        Question::Test(place, test) => Question::Test(on(place), test),
        Question::Null(place, wanted) => Question::Null(on(place), wanted),
        Question::Columns(left, comparison, right) => Question::Columns(on(left), comparison, on(right)),
        Question::Computed(place) => Question::Computed(on(place)),
        Question::Always(always) => Question::Always(always),
    }
}

/// Does a question look at the column of this place?
fn asks_about(question: &Question, place: usize) -> bool {
    match question {
        Question::And(parts) | Question::Or(parts) => parts.iter().any(|part| asks_about(part, place)),
        Question::Test(column, _) | Question::Null(column, _) => *column == place,
        Question::Columns(left, _, right) => *left == place || *right == place,
        Question::Always(_) | Question::Computed(_) => false,
    }
}

/// The same question, with the conditions that compute something as bits of the records that are wanted. Negations have been pushed down
/// to them, so that each is wanted true or false.
fn by_bits(question: Question, columns: usize, computed: &mut [Condition]) -> Question {
    let mut all = |parts: Vec<Question>| -> Vec<Question> {
        parts.into_iter().map(|part| by_bits(part, columns, computed)).collect()
    };
    match question {
        Question::And(parts) => Question::And(all(parts)),
        Question::Or(parts) => Question::Or(all(parts)),
        Question::Test(place, Test::Whole(1, 1, inside)) if place >= columns => {
            computed[place - columns].wanted = inside;
            Question::Computed(place)
        }
        other => other,
    }
}

/// The same question about columns that are read as whole numbers and about columns that are read as floats, in one: where
/// there is a whole number it is asked about, else the float.
fn whole_or_real(whole: Question, real: Question) -> Question {
    let all = |whole: Vec<Question>, real: Vec<Question>| {
        whole.into_iter().zip(real).map(|(whole, real)| whole_or_real(whole, real)).collect()
    };
    match (whole, real) {
        (Question::And(whole), Question::And(real)) => Question::And(all(whole, real)),
        (Question::Or(whole), Question::Or(real)) => Question::Or(all(whole, real)),
        (whole @ Question::Test(column, _), real @ Question::Test(other, _)) if column != other => {
            Question::Or(vec![whole, Question::And(vec![Question::Null(column, true), real])])
        }
        // Whether there is a number, or how two columns compare, floats tell.
        (_, real) => real,
    }
}

fn type_of_kind(kind: ColumnType) -> Type {
    match kind {
        ColumnType::Float => Type::Real,
        ColumnType::Text => Type::Text,
        _ => Type::Whole,
    }
}

/// What constants say of a column, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    Nothing,
    Number,
    Large,
    Text,
}

fn type_columns<'a>(predicate: &'a Predicate, types: &mut BTreeMap<&'a str, Found>) {
    let mut note = |name: &'a str, found: Found| {
        let known = types.entry(name).or_insert(Found::Nothing);
        *known = (*known).max(found);
    };
    match predicate {
        Predicate::And(parts) | Predicate::Or(parts) => {
            for part in parts {
                type_columns(part, types);
            }
        }
        Predicate::Not(inner) => type_columns(inner, types),
        Predicate::IsNull(name) => note(name, Found::Nothing),
        Predicate::In(name, constants) => {
            for constant in constants {
                note(name, type_of(constant));
            }
        }
        Predicate::Between(name, low, high) => {
            for constant in [low, high] {
                note(name, type_of(constant));
            }
        }
        Predicate::Compare(left, _, right) => {
            for (side, other) in [(left, right), (right, left)] {
                match (side, other) {
                    (Side::Column(name), Side::Constant(constant)) => note(name, type_of(constant)),
                    (Side::Column(name), Side::Column(_)) => note(name, Found::Number),
                    (Side::Constant(_), _) => {}
                }
            }
        }
    }
}

fn type_of(constant: &Constant) -> Found {
    match constant {
        Constant::Text(_) => Found::Text,
        Constant::Whole(value) if value.unsigned_abs() > 1 << 53 => Found::Large,
        Constant::Whole(_) | Constant::Real(_) => Found::Number,
    }
}

/// Cells in the form that predicates read.
enum Held<'a> {
    Floats(&'a [f64]),
    Integers(Vec<i64>, Bitmap),
    Texts(&'a [Option<&'a str>]),
    Coded(Vec<u32>, Vec<Box<str>>),
}

impl<'a> Held<'a> {
    fn new(cells: &Cells<'a>) -> Self {
        match *cells {
            Cells::Floats(values) => Self::Floats(values),
            Cells::Integers(values) => Self::Integers(
                values.iter().map(|value| value.unwrap_or_default()).collect(),
                Bitmap::from_test(values, Option::is_some),
            ),
            Cells::Texts(texts) => Self::Texts(texts),
            Cells::Coded { texts, codes } => Self::Coded(
                codes.iter().map(|code| code.unwrap_or(NULL_CODE)).collect(),
                texts.iter().map(|&text| text.into()).collect(),
            ),
        }
    }

    fn column(&self) -> Column<'_> {
        match self {
            Self::Floats(values) => Column::Real { values, present: None },
            Self::Integers(values, present) => Column::Whole { values, present: Some(present) },
            Self::Texts(words) => Column::Words(words),
            Self::Coded(codes, words) => Column::Text { codes, words },
        }
    }
}

/// Lets through the rows that pass.
pub(super) struct Sieve<'a> {
    filter: &'a Filter,
    places: &'a [usize],
    columns: usize,
    next: &'a mut dyn Visitor,
}

impl<'a> Sieve<'a> {
    /// The predicate's cells are at `places` of a batch; the next visitor sees the first so many columns.
    pub fn new(filter: &'a Filter, places: &'a [usize], columns: usize, next: &'a mut dyn Visitor) -> Self {
        Self { filter, places, columns, next }
    }
}

impl Visitor for Sieve<'_> {
    fn batch(&mut self, batch: Batch<'_>) {
        let passing = self.filter.passing(batch, self.places);
        let rows = usize::try_from(passing.count()).expect("no more than the rows of a batch");
        if rows == batch.rows {
            return self.next.batch(first(batch, self.columns));
        }
        if rows == 0 {
            return;
        }
        let kept: Vec<Kept<'_>> =
            batch.cells[..self.columns].iter().map(|cells| Kept::new(cells, &passing)).collect();
        let cells: Vec<Cells<'_>> = kept.iter().map(Kept::cells).collect();
        self.next.batch(Batch { rows, cells: &cells });
    }
}

/// The cells of the rows that pass.
enum Kept<'a> {
    Floats(Vec<f64>),
    Integers(Vec<Option<i64>>),
    Texts(Vec<Option<&'a str>>),
    Coded(&'a [&'a str], Vec<Option<u32>>),
}

impl<'a> Kept<'a> {
    fn new(cells: &Cells<'a>, passing: &Bitmap) -> Self {
        match *cells {
            Cells::Floats(values) => Self::Floats(keep(values, passing)),
            Cells::Integers(values) => Self::Integers(keep(values, passing)),
            Cells::Texts(texts) => Self::Texts(keep(texts, passing)),
            Cells::Coded { texts, codes } => Self::Coded(texts, keep(codes, passing)),
        }
    }

    fn cells(&self) -> Cells<'_> {
        match self {
            Self::Floats(values) => Cells::Floats(values),
            Self::Integers(values) => Cells::Integers(values),
            Self::Texts(texts) => Cells::Texts(texts),
            Self::Coded(texts, codes) => Cells::Coded { texts, codes },
        }
    }
}

fn keep<T: Copy>(values: &[T], passing: &Bitmap) -> Vec<T> {
    let mut kept = Vec::with_capacity(values.len());
    for (block, &word) in values.chunks(64).zip(passing.words()) {
        let mut word = word;
        while word != 0 {
            kept.push(block[word.trailing_zeros() as usize]);
            word &= word - 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> DataFacts {
        let columns = ["id", "age", "town", "pay"].map(String::from).to_vec();
        DataFacts { name: "people".into(), columns, registered: None, kinds: Vec::new(), windows: None }
    }

    fn kinds(text: &str) -> Vec<(usize, ColumnType)> {
        let filter = Filter::plan(text, &facts(), &Types::default()).unwrap();
        filter.wanted().iter().map(|wanted| (wanted.column, wanted.kind)).collect()
    }

    #[test]
    fn constants_fix_the_types_of_columns() {
        assert_eq!(
            kinds("age > 3 and town = 'Ayr' and id in (9007199254740993, 1)"),
            [(1, ColumnType::Float), (0, ColumnType::Float), (0, ColumnType::Integer), (2, ColumnType::Text)]
        );
        assert_eq!(kinds("pay is null"), [(3, ColumnType::Text)]);
        assert_eq!(kinds("pay < age or pay > 2.5"), [(1, ColumnType::Float), (3, ColumnType::Float)]);
        for (text, said) in [
            ("wage > 3", "`where`: no column is called 'wage'; did you mean 'age'?"),
            ("town = 'Ayr' or town = 3", "`where`: column 'town' holds text"),
            ("age >", "`where`: "),
        ] {
            let error = Filter::plan(text, &facts(), &Types::default()).unwrap_err().to_string();
            assert!(error.starts_with(said) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_large_whole_constant_does_not_make_fractions_null() {
        let rows = ["1.5", "-9007199254740993", "9007199254740993", "9007199254740994", "2e19", "", "many"];
        let passing = |text: &str| {
            let filter = Filter::plan(text, &facts(), &Types::default()).unwrap();
            let floats: Vec<f64> =
                rows.iter().map(|row| crate::field::number::float(row.as_bytes())).collect();
            let wholes: Vec<Option<i64>> = rows.iter().map(|row| ColumnType::Integer.read(row)).collect();
            let cells: Vec<Cells<'_>> = filter
                .wanted()
                .iter()
                .map(|wanted| match wanted.kind {
                    ColumnType::Float => Cells::Floats(&floats),
                    _ => Cells::Integers(&wholes),
                })
                .collect();
            let places: Vec<usize> = (0..cells.len()).collect();
            let bits = filter.passing(Batch { rows: rows.len(), cells: &cells }, &places);
            rows.iter().enumerate().filter(|(row, _)| bits.get(*row)).map(|(_, row)| *row).collect::<Vec<_>>()
        };
        assert_eq!(passing("age < 9007199254740993"), ["1.5", "-9007199254740993"]);
        assert_eq!(passing("not age < 9007199254740993"), rows[2..5]);
        assert_eq!(passing("age > 9007199254740993"), rows[3..5]);
        assert_eq!(passing("age = 9007199254740993"), ["9007199254740993"]);
        assert_eq!(passing("age not in (9007199254740993, 1.5)"), [rows[1], rows[3], rows[4]]);
        assert_eq!(passing("age between -9007199254740993 and 9007199254740993"), rows[..3]);
        assert_eq!(
            passing("age <> 9007199254740993 and age is not null"),
            [rows[0], rows[1], rows[3], rows[4]]
        );
        assert_eq!(passing("age is null and not (age > 9007199254740993)"), Vec::<&str>::new());
    }

    /// The columns of [`facts`] with declared types: id integer, age date, town boolean, pay decimal:2.
    fn typed(text: &str) -> Result<Filter, PlanError> {
        let words = [("id", "integer"), ("age", "date"), ("town", "boolean"), ("pay", "decimal:2")];
        let types = words.iter().map(|(name, word)| (name.to_string(), word.to_string())).collect();
        let request = crate::request::Request { types, ..crate::request::Request::new("count") };
        Filter::plan(text, &facts(), &Types::plan(&request, &facts()).unwrap())
    }

    /// Which of the whole numbers pass, for a predicate about one column.
    fn passing(text: &str, wholes: &[i64]) -> Vec<i64> {
        let filter = typed(text).unwrap_or_else(|error| panic!("{error}"));
        let cells: Vec<Option<i64>> = wholes.iter().map(|&whole| Some(whole)).collect();
        let bits = filter.passing(Batch { rows: cells.len(), cells: &[Cells::Integers(&cells)] }, &[0]);
        wholes.iter().enumerate().filter(|(row, _)| bits.get(*row)).map(|(_, &whole)| whole).collect()
    }

    #[test]
    fn constants_of_declared_types_are_values_of_those_types() {
        let days = [0, 20_511, 20_512, 20_513];
        assert_eq!(passing("age < 2026-02-28", &days), [0, 20_511]);
        assert_eq!(passing("age in ('2026-02-28', 1970-01-01)", &days), [0, 20_512]);
        assert_eq!(passing("not (age between 1970-01-01 and 2026-02-28)", &days), [20_513]);
        let cents = [-5, 28, 29, 30, 1234, 1235, i64::MAX];
        assert_eq!(passing("pay = 0.29", &cents), [29]);
        assert_eq!(passing("pay <= 12.345", &cents), [-5, 28, 29, 30, 1234]);
        assert_eq!(passing("pay >= 12.345", &cents), [1235, i64::MAX]);
        assert_eq!(passing("pay in (0.295, 12.34, '0.3')", &cents), [30, 1234]);
        assert_eq!(passing("pay < 1e300", &cents), cents);
        assert!(passing("pay < -92233720368547758.09", &cents).is_empty());
        let ids = [(1 << 53) + 1, 1 << 53, 7];
        assert_eq!(passing("id = 9007199254740993", &ids), [(1 << 53) + 1]);
        assert_eq!(passing("id = 7 or id = '9007199254740992'", &ids), [1 << 53, 7]);
        for yes in ["town = true", "town = 'yes'", "no <> town", "1 = town", "not town = false"] {
            assert_eq!(passing(yes, &[0, 1]), [1], "{yes}");
        }
    }

    #[test]
    fn what_is_no_value_of_the_type_is_one_line() {
        for (text, said) in [
            ("age > 5", "`where`: column 'age' is of the type date, which 5 is not; write 2026-01-31"),
            ("age > 2026-02-30", "which 2026-02-30 is not"),
            ("town = 2", "write true or false"),
            ("pay = 'cheap'", "write a number"),
            ("id = 'me'", "write a number"),
            ("pay > id", "'pay' is decimal:2 and 'id' is integer; declare one type for both"),
            ("town = maybe", "no column is called 'maybe'"),
        ] {
            let error = typed(text).unwrap_err().to_string();
            assert!(
                error.starts_with("`where`: ") && error.contains(said) && !error.contains('\n'),
                "{error}"
            );
        }
        assert!(typed("id < town").is_ok() && typed("age is null").is_ok());
    }

    #[test]
    fn conditions_that_compute_stand_beside_those_that_do_not() {
        let passing = |text: &str| -> Vec<usize> {
            let filter =
                Filter::plan(text, &facts(), &Types::default()).unwrap_or_else(|error| panic!("{error}"));
            let ages = [10.0, 20.0, f64::NAN, 40.0, 9_007_199_254_740_992.0];
            let pays = [5.0, 0.0, 1.0, 80.0, 1.0];
            let ids = [Some(1), Some(2), Some(3), None, Some(9_007_199_254_740_993)];
            let towns = [Some("Ayr"), Some("Rome"), None, Some("York"), Some("new")];
            let cells: Vec<Cells<'_>> = filter
                .wanted()
                .iter()
                .map(|read| match (read.column, read.kind) {
                    (2, _) => Cells::Texts(&towns),
                    (_, ColumnType::Integer) => Cells::Integers(&ids),
                    (3, _) => Cells::Floats(&pays),
                    _ => Cells::Floats(&ages),
                })
                .collect();
            let places: Vec<usize> = (0..cells.len()).collect();
            let bits = filter.passing(Batch { rows: 5, cells: &cells }, &places);
            (0..5).filter(|&row| bits.get(row)).collect()
        };
        for (text, rows) in [
            ("age / pay > 1", vec![0, 4]),
            ("not age / pay > 1", vec![3]),
            ("not (age / pay > 1 and pay > 2)", vec![1, 2, 3, 4]),
            ("age / pay > 1 or town = 'York'", vec![0, 3, 4]),
            ("lower(town) = 'ayr' or age - pay between 19 and 21", vec![0, 1]),
            ("not lower(town) like '%o%' and pay <> 5", vec![4]),
            ("id = 9007199254740993 and length(town) = 3", vec![4]),
            ("if(age > 15, pay, age) < 20", vec![0, 1, 4]),
            ("coalesce(age, 0) = 0", vec![2]),
            ("cast(cast(pay as float) as text) = '80'", vec![3]),
            ("null is null and pay > 2", vec![0, 3]),
        ] {
            assert_eq!(passing(text), rows, "{text}");
        }
    }

    #[test]
    fn what_a_condition_could_mean_twice_or_not_at_all_is_an_error() {
        for (text, said) in [
            (
                "age > '60'",
                "`where`: '60' is a number in quotes, and nothing declares whether 'age' holds numbers or texts; write 60 to compare numbers, or `types=age=text` and '60' to compare texts",
            ),
            (
                "town in ('a', '7')",
                "`where`: '7' is a number in quotes, and nothing declares whether 'town' holds numbers or texts; write 7 to compare numbers, or `types=town=text` and '7' to compare texts",
            ),
            ("1 < 2", "`where`: '1 < 2' names no column; compare a column with something, as in age >= 18"),
            ("true", "`where`: 'true' names no column; compare a column with something, as in age >= 18"),
            (
                "age + 1",
                "`where`: age + 1 is of the type float where a boolean is due; write cast(age + 1 as boolean)",
            ),
            (
                "lower(twn) = 'x'",
                "`where`: no column is called 'twn'; did you mean 'town'? There are: id, age, town, pay; text stands between single quotes, 'like this'",
            ),
        ] {
            let error = Filter::plan(text, &facts(), &Types::default()).unwrap_err();
            assert_eq!(error.to_string(), said, "{text}");
        }
        let text = [("town".to_string(), "text".to_string())].into();
        let request = crate::request::Request { types: text, ..crate::request::Request::new("count") };
        assert!(Filter::plan("town = '7'", &facts(), &Types::plan(&request, &facts()).unwrap()).is_ok());
        let schema = DataFacts { kinds: vec![Some(ColumnType::Text); 4], ..facts() };
        assert!(Filter::plan("town = '7' and lower(town) = '7'", &schema, &Types::default()).is_ok());
        let numbers = DataFacts { kinds: vec![Some(ColumnType::Integer); 4], ..facts() };
        let types = Types::plan(&crate::request::Request::new("count"), &numbers).unwrap();
        let error = Filter::plan("age > 'old'", &numbers, &types).unwrap_err().to_string();
        assert_eq!(error, "`where`: column 'age' is of the type integer, which old is not; write a number");
    }

    struct Seen(Vec<String>);

    impl Visitor for Seen {
        fn batch(&mut self, batch: Batch<'_>) {
            for row in 0..batch.rows {
                let cell = |cells: &Cells<'_>| match cells {
                    Cells::Floats(values) => format!("{}", values[row]),
                    Cells::Integers(values) => format!("{:?}", values[row]),
                    texts => format!("{:?}", super::super::text_at(texts, row)),
                };
                self.0.push(batch.cells.iter().map(cell).collect::<Vec<_>>().join(" "));
            }
        }
    }

    #[test]
    fn rows_that_pass_keep_all_their_cells_whatever_their_form() {
        let filter =
            Filter::plan("age >= 2 and (town <> 'b' or town is null)", &facts(), &Types::default()).unwrap();
        let ages = [1.0, 2.0, f64::NAN, 3.0, 4.0, 2.0];
        let towns = [Some("a"), Some("b"), Some("a"), Some("c"), None, Some("a")];
        let codes = [Some(0), Some(1), Some(0), Some(2), None, Some(0)];
        let wholes: Vec<Option<i64>> = (0..6).map(Some).collect();
        for text in [Cells::Texts(&towns), Cells::Coded { texts: &["a", "b", "c"], codes: &codes }] {
            let cells = [Cells::Integers(&wholes), text, Cells::Floats(&ages)];
            let mut seen = Seen(Vec::new());
            let places = [2, 1];
            assert_eq!(filter.wanted()[0].kind, ColumnType::Float);
            Sieve::new(&filter, &places, 2, &mut seen).batch(Batch { rows: 6, cells: &cells });
            assert_eq!(seen.0, ["Some(3) Some(\"c\")", "Some(4) None", "Some(5) Some(\"a\")"]);
        }
        // Many rows, all or none.
        for (from, many) in [(0.0, 0), (2.0, 1000)] {
            let ages = vec![from; 1000];
            let towns = vec![None; 1000];
            let mut seen = Seen(Vec::new());
            let cells = [Cells::Floats(&ages), Cells::Texts(&towns)];
            Sieve::new(&filter, &[0, 1], 1, &mut seen).batch(Batch { rows: 1000, cells: &cells });
            assert_eq!(seen.0.len(), many);
        }
    }
}
