//! What each row adds to a sum: an expression about one record, limited to public ends and rounded to a public step.
//!
//! # Guarantee
//!
//! A row adds a whole number of steps between two public ends, which is a function of that row alone; where the expression is null it adds
//! nothing. Sums are whole numbers and exact, so they are the same in any order. One row more or less moves a sum by at most
//! `Steps::most` steps, and one row in the place of another by at most `Steps::widest`.

use crate::{
    columns,
    error::PlanError,
    facts::DataFacts,
    request::Request,
    rows::{
        Rows, ScanKeys,
        derived::{Names, input},
    },
    source::{Batch, ColumnRead, Source, Visitor},
    statistic::Argument,
    statistic::Statistic,
    types::Types,
    unanswered::Unanswered,
};
use equipoise_core::{ratio::Ratio, wording};
use equipoise_entropy::OsCoins;
use equipoise_expression::{Expression, ExpressionError, Input, Output, Program, Type};
use std::thread;

/// The ends and the step of what a row adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Steps {
    low: i64,
    high: i64,
    /// One is 2^bits steps.
    bits: i32,
}

/// The farther end has about 2^40 steps: sums of 2^63 rows fit 128 bits.
const FINE: i32 = 40;
/// Ends beyond 2^1000, or all within 2^-1000, are slips of the pen.
const MOST_BITS: i32 = 1000;

impl Steps {
    /// From one end to the other, which are not both zero; nothing where they are too large or too near to zero.
    pub fn between(low: &Ratio, high: &Ratio) -> Option<Self> {
        let farther = low.abs().max(high.abs());
        if !farther.is_positive() {
            return None;
        }
        let (two, fine) = (Ratio::from(2u64), power(FINE));
        let (mut bits, mut steps) = (0, farther);
        while steps > fine && bits > -MOST_BITS {
            (steps, bits) = (steps / &two, bits - 1);
        }
        while &steps * &two <= fine && bits < MOST_BITS {
            (steps, bits) = (steps * &two, bits + 1);
        }
        if bits.abs() == MOST_BITS {
            return None;
        }
        // The ends lie on steps, outwards.
        let one = power(bits);
        Some(Self { low: (low * &one).floor_i64()?, high: (high * &one).ceil_i64()?, bits })
    }

    /// From zero to one in steps of 2^-32.
    pub const fn of_a_share() -> Self {
        Self { low: 0, high: 1 << 32, bits: 32 }
    }

    /// What a number adds; what is none adds nothing.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "floats beyond 64 bits become the ends, and are limited to nearer ones"
    )]
    fn of(self, number: f64) -> i64 {
        if number.is_nan() {
            return 0;
        }
        // A product with a power of two that leaves the floats lies far beyond an end, or is nothing beside a step.
        ((number * 2f64.powi(self.bits)).round() as i64).clamp(self.low, self.high)
    }

    /// The most that one row adds or takes.
    pub fn most(self) -> Ratio {
        Ratio::from(self.low.unsigned_abs().max(self.high.unsigned_abs())) / power(self.bits)
    }

    /// The most that one row in the place of another moves a sum: a row may add nothing as well.
    pub fn widest(self) -> Ratio {
        Ratio::from(self.high.max(0) - self.low.min(0)) / power(self.bits)
    }

    /// Do all rows move sums the same way when they come?
    pub fn is_one_sided(self) -> bool {
        self.low >= 0 || self.high <= 0
    }

    /// Both ends.
    pub fn ends(self) -> (Ratio, Ratio) {
        (Ratio::from(self.low) / power(self.bits), Ratio::from(self.high) / power(self.bits))
    }

    /// A sum of steps as a number.
    pub fn number(self, sum: i128) -> Ratio {
        let half = i64::try_from(sum >> 62).expect("sums of 2^63 rows have 104 bits");
        let rest = u64::try_from(sum & ((1 << 62) - 1)).expect("62 bits");
        (Ratio::from(half) * power(62) + Ratio::from(rest)) / power(self.bits)
    }
}

/// A power of two.
fn power(bits: i32) -> Ratio {
    Ratio::from_f64_exact(2f64.powi(bits)).expect("a power that floats have")
}

/// An expression whose columns are known, as a number of each row.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    program: Program,
    reads: Vec<ColumnRead>,
}

impl Term {
    /// Find the columns of an expression, which is a number or a condition: one where it holds, zero where not.
    pub fn bind(
        text: &str,
        expression: &Expression,
        facts: &DataFacts,
        types: &Types,
    ) -> Result<Self, PlanError> {
        let names = Names { facts, types, argument: Argument::Column };
        let constant = |name: &str| ["true", "false"].iter().any(|word| name.eq_ignore_ascii_case(word));
        for name in expression.names().into_iter().filter(|name| !constant(name)) {
            columns::place(&facts.columns, name).map_err(|error| {
                PlanError::line(format!("{error}; text stands between single quotes, 'like this'"))
            })?;
        }
        let program = Program::bind(expression, &|name| names.known(name), Some(Type::Float))
            .map_err(|error| wrong(text, &error))?;
        match program.kind() {
            Type::Float | Type::Integer | Type::Boolean => {
                let reads = Names::reads(&program);
                Ok(Self { program, reads })
            }
            _ => {
                let problem = format!("'{}' is no number and no condition", wording::shown(text));
                Err(PlanError::line(problem).hint("write one, as in \"bid >= 10\" or \"bid / 100\""))
            }
        }
    }

    /// The cells that it is made of.
    pub fn reads(&self) -> impl Iterator<Item = ColumnRead> + '_ {
        self.reads.iter().copied()
    }

    /// Is it a condition?
    pub fn is_condition(&self) -> bool {
        self.program.kind() == Type::Boolean
    }

    /// What some rows add together.
    fn sum(&self, batch: &Batch<'_>, places: &[usize], steps: Steps) -> i128 {
        let inputs: Vec<Input<'_>> = places.iter().map(|&place| input(&batch.cells[place])).collect();
        if self.is_condition() {
            let held = self.program.holds(&inputs, batch.rows, true);
            let ones: u32 = held.words().iter().map(|word| word.count_ones()).sum();
            return i128::from(ones) * i128::from(steps.of(1.0));
        }
        match self.program.run(&inputs, batch.rows, Type::Float) {
            Output::Real(values) => values.iter().map(|&value| i128::from(steps.of(value))).sum(),
            _ => unreachable!("floats were asked for"),
        }
    }
}

/// What is wrong with an expression, and where.
pub(crate) fn wrong(text: &str, error: &ExpressionError) -> PlanError {
    let line = PlanError::line(error.problem());
    let line = match error.next_step() {
        Some(hint) => line.hint(hint),
        None => line,
    };
    line.at(error.position(text))
}

/// Adds up what rows add, for several terms at once.
struct Adder<'a> {
    terms: &'a [(&'a Term, Vec<usize>)],
    steps: Steps,
    sums: Vec<i128>,
    rows: u64,
}

impl Visitor for Adder<'_> {
    fn batch(&mut self, batch: Batch<'_>) {
        self.rows += batch.rows as u64;
        for (sum, (term, places)) in self.sums.iter_mut().zip(self.terms) {
            *sum += term.sum(&batch, places, self.steps);
        }
    }
}

/// The sums of some terms over the rows that count, in steps, and how many rows those are. Private.
pub(crate) fn sums(
    source: &dyn Source,
    rows: &Rows,
    terms: &[Term],
    steps: Steps,
) -> Result<(Vec<i128>, u64), Unanswered> {
    let mut wanted: Vec<ColumnRead> = terms.iter().flat_map(|term| term.reads.iter().copied()).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let place = |read: &ColumnRead| wanted.iter().position(|other| other == read).expect("all are wanted");
    let placed: Vec<(&Term, Vec<usize>)> =
        terms.iter().map(|term| (term, term.reads.iter().map(place).collect())).collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let keys = ScanKeys::new(threads, &mut OsCoins::new().map_err(|_| Unanswered::Coins)?);
    let adder = || Adder { terms: &placed, steps, sums: vec![0; terms.len()], rows: 0 };
    let mut adders: Vec<Adder<'_>> = (0..threads).map(|_| adder()).collect();
    let mut visitors: Vec<&mut dyn Visitor> =
        adders.iter_mut().map(|adder| adder as &mut dyn Visitor).collect();
    rows.scan(source, &wanted, &mut visitors, &keys)?;
    let mut all = adder();
    for adder in &adders {
        all.rows += adder.rows;
        all.sums.iter_mut().zip(&adder.sums).for_each(|(all, sum)| *all += sum);
    }
    Ok((all.sums, all.rows))
}

/// A question to a holdout: a number from 0 to 1 of each row, or a condition.
#[derive(Clone, Debug)]
pub struct ShareOf(Term);

impl ShareOf {
    /// Read an expression about rows with these columns.
    pub fn read(text: &str, facts: &DataFacts) -> Result<Self, PlanError> {
        let expression = Expression::parse(text).map_err(|error| wrong(text, &error))?;
        let types = Types::plan(&Request::new(Statistic::Count.name()), facts)?;
        Ok(Self(Term::bind(text, &expression, facts, &types)?))
    }

    /// The sum over all rows, each limited to 0 to 1 and rounded to 2^-32, nothing for a null; and how many rows there are. Private.
    pub fn add_up(&self, source: &dyn Source) -> Result<(Ratio, u64), Unanswered> {
        let steps = Steps::of_a_share();
        let (sums, rows) = sums(source, &Rows::default(), std::slice::from_ref(&self.0), steps)?;
        Ok((steps.number(sums[0]), rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::tests::Memory;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    #[test]
    fn rows_add_whole_steps_within_the_ends() {
        for (low, high) in [("0", "3"), ("-2", "5"), ("0", "0.001"), ("-1e20", "7"), ("1", "2"), ("0", "1/3")]
        {
            let steps = Steps::between(&ratio(low), &ratio(high)).unwrap();
            let tiny = ratio("1e-11") * steps.most();
            for value in [f64::NEG_INFINITY, -1e300, -1.5, -0.0, 1e-300, 0.1, 2.0, 1e300, f64::INFINITY] {
                let added = steps.number(i128::from(steps.of(value)));
                assert!(
                    added >= ratio(low) - &tiny && added <= ratio(high) + &tiny,
                    "{low} {high} {value} {added}"
                );
                assert!(
                    added.abs() <= steps.most()
                        && steps.most() <= ratio(low).abs().max(ratio(high).abs()) + &tiny
                );
            }
            assert_eq!(steps.of(f64::NAN), 0);
            assert!(steps.widest() >= steps.most());
            assert_eq!(steps.is_one_sided(), low.parse::<f64>().unwrap() >= 0.0);
        }
        // Whole numbers stay whole, and what is far beyond 64 bits is still exact.
        let steps = Steps::between(&ratio("0"), &ratio("3")).unwrap();
        assert_eq!(steps.number(i128::from(steps.of(2.0))), ratio("2"));
        assert_eq!(steps.number(i128::from(steps.of(3.0)) * (1 << 60)), Ratio::from(3u64 << 60));
        assert_eq!(steps.number(-i128::from(steps.of(3.0))), ratio("-3"));
        assert_eq!(Steps::between(&ratio("0"), &ratio("0")), None);
        assert_eq!(Steps::between(&ratio("0"), &ratio("1e400")), None);
    }

    #[test]
    fn a_share_adds_up_all_rows_once() {
        let memory = Memory::new(vec![0.25, f64::NAN, 7.0, -3.0, 0.5], &["Ayr"]);
        let (columns, kinds) = (memory.columns().to_vec(), Vec::new());
        let facts = DataFacts { name: "people".into(), columns, registered: None, kinds, windows: None };
        let share = ShareOf::read("salary", &facts).unwrap();
        assert_eq!(share.add_up(&memory).unwrap(), (ratio("1.75"), 5));
        let above = ShareOf::read("salary > 0.3", &facts).unwrap();
        assert_eq!(above.add_up(&memory).unwrap(), (ratio("2"), 5));
        for (text, said) in [("lower(town)", "no number"), ("pay > 1", "'pay'"), ("salary >", "")] {
            let error = ShareOf::read(text, &facts).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
