//! Every statistic, answered from a scan here and from counts of parts of the same rows, with the same coins.

use super::{
    BucketCount, Elsewhere, Engine, EngineFailure, GroupSums, Pass, PassResult,
    pass::{Bracket, Counting},
};
use crate::{
    answer::Answer,
    audits::Memory,
    batch::Batch as Questions,
    gather::{ScanResult, tests::FixedWords},
    ledger::Ledger,
    need::Key,
    plan::{DataFacts, Plan},
    quiet::privately,
    request::Request,
    rows::{ScanKeys, cells::CellLattice},
    session::{Paid, Session},
    source::{Batch, Cells, ColumnRead, Source, Visitor},
    statistic::Statistic,
    unanswered::Unanswered,
};
use std::{
    cell::{Cell as Counter, RefCell},
    collections::BTreeSet,
};

#[derive(Clone, Debug)]
enum Cell {
    Float(f64),
    Whole(Option<i64>),
    Text(Option<String>),
}

/// Records that count, in parts: an engine that knows nothing but records and passes.
pub(super) struct Scattered {
    reads: Vec<ColumnRead>,
    parts: Vec<Vec<Vec<Cell>>>,
    /// How many passes there were, and the most counts that one gave back.
    passes: Counter<usize>,
    most: Counter<usize>,
    last: Counter<usize>,
}

struct Collect<'a>(&'a mut Vec<Vec<Cell>>);

impl Visitor for Collect<'_> {
    fn batch(&mut self, batch: Batch<'_>) {
        for row in 0..batch.rows {
            let cell = |cells: &Cells<'_>| match cells {
                Cells::Floats(cells) => Cell::Float(cells[row]),
                Cells::Integers(cells) => Cell::Whole(cells[row]),
                cells => Cell::Text(crate::rows::text_at(cells, row).map(str::to_string)),
            };
            self.0.push(batch.cells.iter().map(cell).collect());
        }
    }
}

impl Scattered {
    pub fn of(plan: &Plan, memory: &dyn Source, many: usize) -> Self {
        let mut reads: Vec<ColumnRead> =
            plan.needs().iter().flat_map(|need| need.all_wanted().collect::<Vec<_>>()).collect();
        reads.sort_unstable();
        reads.dedup();
        let mut records = Vec::new();
        plan.rows().scan(memory, &reads, &mut [&mut Collect(&mut records)], &hands()).expect("memory");
        let mut parts = vec![Vec::new(); many];
        for (row, record) in records.into_iter().enumerate() {
            parts[row % many].push(record);
        }
        Self { reads, parts, passes: Counter::new(0), most: Counter::new(0), last: Counter::new(0) }
    }

    /// Pass and counts as another process would see them.
    #[expect(clippy::unnecessary_wraps, reason = "what an engine answers")]
    pub fn pass(&self, pass: &Pass) -> Result<PassResult, EngineFailure> {
        let sent: Pass = serde_json::from_value(pass.to_json()).expect("a pass can be read again");
        assert_eq!(sent, *pass);
        let counted = self.parts.iter().map(|records| self.count(&sent, records));
        let merged = counted.reduce(PassResult::merge).unwrap_or_default();
        self.passes.set(self.passes.get() + 1);
        self.most.set(self.most.get().max(merged.counts.len()));
        self.last.set(merged.counts.len());
        let text = serde_json::to_string(&merged).expect("plain numbers");
        Ok(serde_json::from_str(&text).expect("what was found can be read again"))
    }

    fn cell<'r>(&self, record: &'r [Cell], read: ColumnRead) -> &'r Cell {
        &record[self.reads.iter().position(|&one| one == read).expect("a column that was needed")]
    }

    fn number(&self, record: &[Cell], read: ColumnRead) -> Option<f64> {
        match self.cell(record, read) {
            Cell::Float(number) => Some(*number).filter(|number| !number.is_nan()),
            Cell::Whole(whole) => whole.map(|whole| read.kind.number(whole)),
            Cell::Text(_) => unreachable!("a number"),
        }
    }

    fn whole(&self, record: &[Cell], read: ColumnRead) -> Option<i64> {
        let Cell::Whole(whole) = self.cell(record, read) else { unreachable!("of a whole type") };
        *whole
    }

    fn key(&self, record: &[Cell], by: &[ColumnRead]) -> Key {
        let text = |&read: &ColumnRead| match self.cell(record, read) {
            Cell::Text(text) => text.clone(),
            Cell::Whole(whole) => whole.map(|whole| read.kind.write(whole)),
            Cell::Float(_) => unreachable!("keys are texts or values of a whole type"),
        };
        by.iter().map(text).collect()
    }

    fn count(&self, pass: &Pass, records: &[Vec<Cell>]) -> PassResult {
        let mut found = PassResult::default();
        for record in records {
            let key = self.key(record, &pass.by);
            let group = pass.keys.as_ref().map(|keys| keys.iter().position(|wanted| key.starts_with(wanted)));
            if group == Some(None) {
                continue;
            }
            let group = group.flatten();
            let mut one = PassResult::default();
            for (of, counting) in pass.counts.iter().enumerate() {
                let mut add = |bracket, bucket| {
                    one.counts.push(BucketCount { key: key.clone(), of, bracket, bucket, count: 1 });
                };
                match counting {
                    Counting::Records => add(0, 0),
                    Counting::Values { columns } if self.is_complete(record, columns) => add(0, 0),
                    Counting::Cells { columns, of, shift } if self.is_complete(record, columns) => {
                        let number = self.number(record, columns[*of]).expect("complete");
                        add(0, CellLattice { shift: *shift }.cell(number));
                    }
                    Counting::Values { .. } | Counting::Cells { .. } => {}
                    Counting::Places { column, places, brackets } => {
                        let place = match self.cell(record, *column) {
                            Cell::Float(number) => places.space.place(*number, places.adjacency),
                            Cell::Whole(Some(whole)) => Some(places.space.whole_place(*whole)),
                            Cell::Whole(None) => places.of_nothing(),
                            Cell::Text(_) => unreachable!("numbers have places"),
                        };
                        let of_group = |one: &Bracket| one.group.is_none() || one.group == group;
                        for (at, bracket) in brackets.iter().enumerate().filter(|(_, one)| of_group(one)) {
                            if let Some(bucket) = place.and_then(|place| bucket(bracket, place)) {
                                add(at, bucket);
                            }
                        }
                    }
                    Counting::Bins { column, bins } => {
                        let bin = if bins.are_of_wholes() {
                            self.whole(record, *column).map(|whole| bins.of_whole(whole))
                        } else {
                            self.number(record, *column).map(|number| bins.of_number(number))
                        };
                        if let Some(bin) = bin {
                            add(0, bin);
                        }
                    }
                    Counting::Sums { columns, steps } => {
                        let mut sums = vec![0; steps.many()];
                        if self.is_complete(record, columns) && steps.are_of_wholes() {
                            steps.add_wholes(&[self.whole(record, columns[0]).expect("complete")], &mut sums);
                        } else if self.is_complete(record, columns) {
                            let numbers: Vec<f64> =
                                columns.iter().filter_map(|&read| self.number(record, read)).collect();
                            steps.add_numbers(&numbers, &mut sums);
                        }
                        one.sums.push(GroupSums { key: key.clone(), of, sums });
                    }
                }
            }
            found.counts.extend(one.counts);
            found.sums.extend(one.sums);
            if found.counts.len() > 50_000 {
                found = found.merge(PassResult::default());
            }
        }
        // Each key and bucket once.
        found.merge(PassResult::default())
    }

    fn is_complete(&self, record: &[Cell], columns: &[ColumnRead]) -> bool {
        columns.iter().all(|&read| match self.cell(record, read) {
            Cell::Float(number) => !number.is_nan(),
            Cell::Whole(whole) => whole.is_some(),
            Cell::Text(text) => text.is_some(),
        })
    }
}

fn bucket(bracket: &Bracket, place: i64) -> Option<i64> {
    let inside = (bracket.low..=bracket.high).contains(&place);
    inside.then(|| (place >> bracket.shift).wrapping_sub(bracket.low >> bracket.shift))
}

pub(super) fn hands() -> ScanKeys {
    ScanKeys::new(1, &mut FixedWords(11))
}

fn facts() -> DataFacts {
    DataFacts {
        name: "people".into(),
        columns: vec!["salary".into(), "town".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    }
}

/// Rows with all that is odd. Keys first come in their order, so that coins meet them in the same one.
fn rows(many: usize) -> Memory {
    let odd =
        [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 7.0, 7.0, -3.25, 1e-300, 1e9, 12.345_678_91];
    let number = |row: usize| match row % 17 {
        place if place < odd.len() => odd[place],
        _ => f64::from(u32::try_from(row).unwrap().wrapping_mul(2_654_435_761) % 9973) / 8.0,
    };
    let towns = ["", "ayr", "bute", "cull", "bute", "ayr", "ayr"];
    Memory::new((0..many).map(number).collect(), &towns)
}

/// Questions with every mechanism of every statistic, and what they may stand with.
const QUESTIONS: &[&str] = &[
    r#""statistic": "count""#,
    r#""statistic": "count", "column": "town""#,
    r#""statistic": "count", "mechanism": "gaussian", "delta": "1e-6""#,
    r#""statistic": "count", "group_by": ["town"], "delta": "1e-3""#,
    r#""statistic": "count", "group_by": ["town"], "keys": ["ayr", "nowhere"]"#,
    r#""statistic": "count", "where": "town = 'ayr'""#,
    r#""statistic": "share", "column": "salary", "types": {"salary": "boolean"}"#,
    r#""statistic": "share", "column": "salary", "types": {"salary": "boolean"}, "mechanism": "gaussian", "delta": "1e-6""#,
    r#""statistic": "sum", "column": "salary""#,
    r#""statistic": "sum", "column": "salary", "range": "0,1000""#,
    r#""statistic": "sum", "column": "salary", "range": "0,1000", "types": {"salary": "integer"}"#,
    r#""statistic": "sum", "column": "salary", "mechanism": "gaussian", "delta": "1e-6", "range": "-5,90""#,
    r#""statistic": "mean", "column": "salary""#,
    r#""statistic": "mean", "column": "salary", "group_by": ["town"], "keys": ["ayr", "bute", "nowhere"]"#,
    r#""statistic": "mean", "column": "salary", "mechanism": "gaussian", "delta": "1e-6", "range": "-5,90""#,
    r#""statistic": "variance", "column": "salary", "range": "0,1000""#,
    r#""statistic": "variance", "column": "salary", "mechanism": "gaussian", "delta": "1e-6", "range": "0,9""#,
    r#""statistic": "std", "column": "salary""#,
    r#""statistic": "std", "column": "salary", "types": {"salary": "decimal:2"}, "range": "0,100""#,
    r#""statistic": "std", "column": "salary", "mechanism": "gaussian", "delta": "1e-6", "range": "0,100""#,
    r#""statistic": "median", "column": "salary""#,
    r#""statistic": "median", "column": "salary", "interval": true"#,
    r#""statistic": "median", "column": "salary", "resolution": "exact""#,
    r#""statistic": "median", "column": "salary", "resolution": "0.5""#,
    r#""statistic": "median", "column": "salary", "types": {"salary": "integer"}"#,
    r#""statistic": "median", "column": "salary", "types": {"salary": "date"}, "resolution": "7""#,
    r#""statistic": "median", "column": "salary", "mechanism": "stable", "delta": "1e-2""#,
    r#""statistic": "median", "column": "salary", "mechanism": "smooth", "range": "0,1000", "resolution": "1""#,
    r#""statistic": "median", "column": "salary", "mechanism": "released-scale", "delta": "1e-4", "range": "0,1000", "resolution": "1""#,
    r#""statistic": "median", "column": "salary", "mechanism": "propose-test-release", "delta": "1e-4", "range": "0,1000", "resolution": "1""#,
    r#""statistic": "median", "column": "salary", "group_by": ["town"], "delta": "1e-3""#,
    r#""statistic": "median", "column": "salary", "group_by": ["town"], "keys": ["ayr", "cull", "nowhere"], "interval": true"#,
    r#""statistic": "median", "column": "salary", "where": "town != 'ayr'""#,
    r#""statistic": "median", "column": "salary", "unit": "town", "max_rows_per_unit": "20""#,
    r#""statistic": "quantile", "column": "salary", "fraction": "0.9""#,
    r#""statistic": "quantile", "column": "salary", "fraction": "0.25,0.5,0.75""#,
    r#""statistic": "quantile", "column": "salary", "fraction": "0.25,0.75", "resolution": "2", "interval": true"#,
    r#""statistic": "quantile", "column": "salary", "fraction": "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9""#,
    r#""statistic": "quantile", "column": "salary", "fraction": "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9", "resolution": "5", "range": "0,2000""#,
    r#""statistic": "quantile", "column": "salary", "fraction": "0.9", "mechanism": "stable", "delta": "1e-2""#,
    r#""statistic": "quantile", "column": "salary", "fraction": "0.9", "mechanism": "smooth", "range": "0,1000", "resolution": "1""#,
    r#""statistic": "quantile", "column": "salary", "fraction": "0.9", "mechanism": "released-scale", "delta": "1e-4", "range": "0,1000", "resolution": "1""#,
    r#""statistic": "quantile", "column": "salary", "fraction": "0.9", "mechanism": "propose-test-release", "delta": "1e-4", "range": "0,1000", "resolution": "1""#,
    r#""statistic": "iqr", "column": "salary", "mechanism": "inverse-sensitivity""#,
    r#""statistic": "iqr", "column": "salary", "mechanism": "spread""#,
    r#""statistic": "iqr", "column": "salary", "mechanism": "scale", "delta": "1e-2""#,
    r#""statistic": "iqr", "column": "salary", "mechanism": "scale", "delta": "1e-2", "resolution": "1""#,
    r#""statistic": "min", "column": "salary""#,
    r#""statistic": "max", "column": "salary", "range": "0,1000", "resolution": "1""#,
    r#""statistic": "max", "column": "salary", "types": {"salary": "integer"}"#,
    r#""statistic": "correlation", "column": "salary", "y": "town", "range": "0,100""#,
    r#""statistic": "covariance", "column": "salary", "y": "town""#,
    r#""statistic": "covariance", "column": "salary", "y": "town", "range": "0,9", "range_y": "0,99""#,
    r#""statistic": "regression", "column": "salary", "on": ["town"]"#,
    r#""statistic": "regression", "column": "salary", "on": ["town"], "mechanism": "gaussian", "delta": "1e-4", "range": "0,100", "range_on": "0,100""#,
    r#""statistic": "distinct", "column": "town", "unit": "town""#,
    r#""statistic": "distinct", "column": "town""#,
    r#""statistic": "distinct", "column": "town", "mechanism": "gaussian", "delta": "1e-4""#,
    r#""statistic": "ecdf", "column": "salary", "at": "0,7,100,900""#,
    r#""statistic": "ecdf", "column": "salary""#,
    r#""statistic": "ecdf", "column": "salary", "at": "3,50", "types": {"salary": "integer"}"#,
    r#""statistic": "mode", "column": "town", "delta": "1e-2""#,
    r#""statistic": "mode", "column": "salary", "delta": "1e-2", "types": {"salary": "integer"}"#,
    r#""statistic": "mode", "column": "salary", "delta": "1e-2", "group_by": ["town"], "keys": ["ayr", "bute"]"#,
    r#""statistic": "histogram", "column": "town", "delta": "1e-3""#,
    r#""statistic": "histogram", "column": "salary", "range": "0,1000", "bins": "10""#,
    r#""statistic": "histogram", "column": "salary", "width": "50", "delta": "1e-3""#,
    r#""statistic": "histogram", "column": "salary", "width": "50", "delta": "1e-3", "types": {"salary": "integer"}"#,
    r#""statistic": "histogram", "column": "salary", "quantile_bins": "4""#,
    r#""statistic": "select", "column": "town", "among": ["ayr", "bute", "elgin"]"#,
    r#""statistic": "select", "column": "town", "among": ["ayr", "bute", "elgin"], "mechanism": "exponential""#,
    r#""statistic": "select", "column": "town", "among": ["ayr", "bute", "elgin"], "mechanism": "noisy-max""#,
    r#""statistic": "select", "column": "town", "delta": "1e-3""#,
    r#""statistic": "top", "column": "town", "k": "2", "among": ["ayr", "bute", "elgin"]"#,
    r#""statistic": "top", "column": "town", "k": "2", "among": ["ayr", "bute", "elgin"], "mechanism": "exponential""#,
    r#""statistic": "top", "column": "town", "k": "2", "among": ["ayr", "bute", "elgin"], "mechanism": "noisy-max""#,
    r#""statistic": "top", "column": "town", "k": "2", "delta": "1e-2""#,
    r#""statistic": "summary", "column": "salary""#,
    r#""statistic": "summary", "column": "salary", "group_by": ["town"], "keys": ["ayr", "bute"]"#,
    r#""statistic": "summary", "column": "salary", "range": "0,99""#,
];

fn plan(question: &str, adjacency: &str) -> Result<Plan, String> {
    let text = format!(r#"{{{question}, "epsilon": "3", "adjacency": "{adjacency}"}}"#);
    let request: Request = serde_json::from_str(&text).expect(question);
    Plan::new(&request, &facts()).map_err(|error| error.to_string())
}

pub(super) fn here(plan: &Plan, memory: &dyn Source, seed: u64) -> Vec<Answer> {
    let gathered = ScanResult::scan(memory, plan.rows(), &plan.needs(), &hands()).expect("memory");
    plan.answers(&gathered, &mut FixedWords(seed))
}

fn elsewhere(plan: &Plan, engine: &Scattered, seed: u64) -> Vec<Answer> {
    let runs = |pass: &Pass| engine.pass(pass);
    plan.answers(&Elsewhere::new(&runs), &mut FixedWords(seed))
}

#[test]
fn every_statistic_answers_the_same_from_counts_of_parts() {
    let mut planned = BTreeSet::new();
    let mut compared = 0;
    let mut wrong = BTreeSet::new();
    for question in QUESTIONS {
        let plans = ["add-remove", "replace"].map(|adjacency| plan(question, adjacency));
        if let [Err(error), Err(_)] = &plans {
            wrong.insert(format!("{question}: {error}"));
        }
        for plan in plans.into_iter().flatten() {
            for part in plan.parts() {
                planned.insert((part.request().statistic.clone(), part.mechanism()));
            }
            for many in [0, 1, 40, 700] {
                let memory = rows(many);
                for parts in [1, 3] {
                    let engine = Scattered::of(&plan, &memory, parts);
                    for seed in 1..3 {
                        let one = here(&plan, &memory, seed);
                        let other = privately(|| Ok(elsewhere(&plan, &engine, seed)));
                        if other != Ok(one.clone()) {
                            let at = format!("{question} {many} rows, {parts} parts");
                            wrong.insert(format!("{at}: {one:?} is {other:?}"));
                        }
                        compared += 1;
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared > 2000, "{compared}");
    // No mechanism of the table of statistics is left out.
    let of_table = Statistic::ALL.iter().flat_map(|statistic| {
        let mechanisms = statistic.spec().mechanisms.iter();
        mechanisms.map(|mechanism| (statistic.name().to_string(), mechanism.name))
    });
    let left_out: Vec<_> = of_table.filter(|one| !planned.contains(one)).collect();
    assert!(left_out.is_empty(), "compared by no question: {left_out:?}");
}

#[test]
fn batches_and_shared_keys_answer_the_same_too() {
    for batch in [
        r#"{"epsilon": 3, "questions": [{"statistic": "mean", "column": "salary"}, {"statistic": "variance", "column": "salary"}]}"#,
        r#"{"epsilon": 3, "delta": "1e-2", "group_by": "town", "questions": [{"statistic": "count"}, {"statistic": "median", "column": "salary"}]}"#,
        r#"{"epsilon": 9, "delta": "1e-2", "group_by": "town", "questions": [{"statistic": "sum", "column": "salary"}, {"statistic": "mean", "column": "salary"}]}"#,
    ] {
        let questions = Questions::from_json(batch).expect("a batch");
        let plan = Plan::batch(&questions, &facts()).expect("a plan");
        for many in [0, 40, 700] {
            let memory = rows(many);
            let engine = Scattered::of(&plan, &memory, 2);
            for seed in 1..6 {
                assert!(here(&plan, &memory, seed) == elsewhere(&plan, &engine, seed), "{batch} {many}");
            }
        }
    }
}

/// What comes back is bounded by public numbers: 2^16 counts for a prefix, and in the end no more than the window.
#[test]
fn passes_are_few_and_what_they_give_back_is_small() {
    let plan = plan(r#""statistic": "median", "column": "salary""#, "add-remove").unwrap();
    let memory = rows(5000);
    let engine = Scattered::of(&plan, &memory, 4);
    assert!(here(&plan, &memory, 5) == elsewhere(&plan, &engine, 5));
    // The counts of rows, the first bits, the other bits in three steps, the rows between, and ties that reach beyond them.
    assert!(engine.passes.get() <= 7, "{}", engine.passes.get());
    assert!(engine.last.get() <= 2 * 89 + 1, "{}", engine.last.get());
    assert!(engine.most.get() <= 3 << 16);
    // For each of many groups as many passes as for one.
    let grouped =
        r#""statistic": "median", "column": "salary", "group_by": ["town"], "keys": ["ayr", "bute", "cull"]"#;
    let grouped = self::plan(grouped, "add-remove").unwrap();
    let engine = Scattered::of(&grouped, &memory, 4);
    elsewhere(&grouped, &engine, 5);
    assert!(engine.passes.get() <= 7, "{}", engine.passes.get());
}

/// A row that is counted twice, lost, or told twice: asked again once, then lost. Never another answer.
#[test]
fn counts_that_contradict_each_other_are_asked_for_again_and_then_lost() {
    let double = |found: &mut PassResult| {
        if let Some(one) = found.counts.last_mut() {
            one.count += 1;
        }
    };
    let lose = |found: &mut PassResult| {
        found.counts.pop();
    };
    let twice = |found: &mut PassResult| found.counts.extend(found.counts.last().cloned());
    let foreign = |found: &mut PassResult| {
        if let Some(one) = found.counts.first_mut() {
            one.key = vec![Some("nowhere".to_string()); one.key.len() + 1];
        }
    };
    let spoils: [&dyn Fn(&mut PassResult); 4] = [&double, &lose, &twice, &foreign];
    let plan =
        plan(r#""statistic": "median", "column": "salary", "resolution": "exact""#, "add-remove").unwrap();
    let memory = rows(700);
    let engine = Scattered::of(&plan, &memory, 2);
    let right = elsewhere(&plan, &engine, 9);
    let passes = engine.passes.get();
    for spoil in spoils {
        for spoilt in 1..passes {
            for times in [1, 2] {
                let at = RefCell::new((0, times));
                let runs = |pass: &Pass| {
                    let mut found = engine.pass(pass)?;
                    let (count, left) = &mut *at.borrow_mut();
                    *count += 1;
                    if *count > spoilt && *left > 0 {
                        *left -= 1;
                        spoil(&mut found);
                    }
                    Ok(found)
                };
                let answers = privately(|| Ok(plan.answers(&Elsewhere::new(&runs), &mut FixedWords(9))));
                match times {
                    1 => assert!(answers == Ok(right.clone()), "{spoilt}"),
                    _ => assert_eq!(answers.map(|_| ()), Err(Unanswered::Data), "{spoilt}"),
                }
            }
        }
    }
    let fails = |_: &Pass| Err(EngineFailure);
    let answers = privately(|| Ok(plan.answers(&Elsewhere::new(&fails), &mut FixedWords(9))));
    assert_eq!(answers.map(|_| ()), Err(Unanswered::Data));
}

/// An engine as whoever has a ledger drives it.
struct Driven<'a> {
    parts: &'a Scattered,
    keys: Vec<String>,
    breaks: bool,
}

impl Engine for Driven<'_> {
    fn begin(&mut self, run_key: &str) -> Result<(), EngineFailure> {
        self.keys.push(run_key.to_string());
        Ok(())
    }

    fn pass(&mut self, pass: &Pass) -> Result<PassResult, EngineFailure> {
        if self.breaks { Err(EngineFailure) } else { self.parts.pass(pass) }
    }
}

#[test]
fn what_an_engine_counts_is_charged_answered_and_recorded_as_any_question() {
    let mut session = Session::new(Ledger::in_memory().unwrap(), None).unwrap();
    let memory = rows(700);
    let mut keys = BTreeSet::new();
    for breaks in [false, true, false] {
        let plan = plan(r#""statistic": "median", "column": "salary""#, "add-remove").unwrap();
        let parts = Scattered::of(&plan, &memory, 2);
        let Paid::Charged(charged) = session.charge(plan, None).unwrap() else { panic!("a new question") };
        let mut engine = Driven { parts: &parts, keys: Vec::new(), breaks };
        let held = session.answer_elsewhere(*charged, &mut engine);
        assert_eq!(engine.keys.len(), 1);
        assert!(engine.keys[0].len() == 64 && keys.insert(engine.keys.remove(0)), "a fresh key each time");
        match held {
            Ok(held) => assert!(!breaks && session.record(held).unwrap().receipt.is_some()),
            Err(error) => assert!(breaks && error == Unanswered::Data),
        }
    }
    let verified = session.ledger().verify(None).unwrap();
    assert_eq!((verified.charges, verified.recorded, verified.lost), (3, 2, 1));
}
