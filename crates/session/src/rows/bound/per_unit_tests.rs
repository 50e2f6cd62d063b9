//! What people's rows are made: the same whoever reads them in which order, and of other people nothing.

use super::*;
use crate::{
    facts::DataFacts,
    request::Request,
    rows::{derived::Derived, exact_sum::ExactSum},
    source::Cells,
};
use equipoise_core::coins::ScriptedWords;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Who, a group, a number, a whole number.
type Record = (&'static str, &'static str, f64, Option<i64>);
/// A person's values in a group: rows, numbers, the sum and mean of numbers, the sum and mean of whole numbers.
type Values = (Option<i64>, Option<i64>, u64, u64, Option<i64>, u64);

const COLUMNS: [&str; 4] = ["id", "key", "number", "whole"];

/// What the questions want: the person's name, the group and the values.
fn per_unit() -> (PerUnit, Vec<ColumnRead>) {
    let facts = DataFacts {
        name: "visits".into(),
        columns: COLUMNS.map(String::from).to_vec(),
        registered: None,
        kinds: vec![None, None, Some(ColumnType::Float), Some(ColumnType::Integer)],
        windows: None,
    };
    let request = |statistic: &str, column: Option<&str>| Request {
        column: column.map(str::to_string),
        unit: Some("id".into()),
        per_unit: Some(true),
        ..Request::new(statistic)
    };
    let requests = [
        request("count", None),
        request("count", Some("number")),
        request("sum", Some("number")),
        request("mean", Some("number")),
        request("sum", Some("whole")),
        request("mean", Some("whole")),
    ];
    let (derived, extended) = Derived::plan(&requests, &facts).unwrap();
    let kinds = extended.kinds.iter().enumerate().skip(COLUMNS.len());
    let of_people = kinds.map(|(column, kind)| ColumnRead { column, kind: kind.unwrap() });
    let of_rows = [0, 1].map(|column| ColumnRead { column, kind: ColumnType::Text });
    (derived.per_unit().clone(), of_rows.into_iter().chain(of_people).collect())
}

#[derive(Default)]
struct Seen(Vec<(String, String, Values)>);

impl Visitor for Seen {
    fn batch(&mut self, batch: Batch<'_>) {
        let [
            Cells::Texts(ids),
            Cells::Texts(keys),
            Cells::Integers(rows),
            Cells::Integers(present),
            Cells::Floats(sum),
            Cells::Floats(mean),
            Cells::Integers(whole_sum),
            Cells::Floats(whole_mean),
        ] = batch.cells
        else {
            panic!("eight columns")
        };
        let text = |texts: &[Option<&str>], row: usize| texts[row].unwrap_or_default().to_string();
        self.0.extend((0..batch.rows).map(|row| {
            let values = (
                rows[row],
                present[row],
                sum[row].to_bits(),
                mean[row].to_bits(),
                whole_sum[row],
                whole_mean[row].to_bits(),
            );
            (text(ids, row), text(keys, row), values)
        }));
    }
}

const SMALL: Limits = Limits { parts: 3, piece: 40, memory: 100 };
const LARGE: Limits = Limits { parts: 256, piece: 1 << 16, memory: 1 << 30 };

/// What is delivered, in rising order, where so many threads see batches of so many rows.
fn delivered(
    bound: &Bound,
    records: &[Record],
    (threads, rows): (usize, usize),
    limits: &Limits,
) -> Vec<(String, String, Values)> {
    let (per_unit, wanted) = per_unit();
    let hands = ScanKeys::new(threads, &mut ScriptedWords::new(vec![7; 6]));
    let stage = bound.stage_within(&wanted, &per_unit, &hands, limits);
    let mut routers: Vec<Router<'_>> = (0..threads).map(|_| stage.router()).collect();
    for (at, some) in records.chunks(rows).enumerate() {
        let text = |text: &'static str| Some(text).filter(|text| !text.is_empty());
        let ids: Vec<Option<&str>> = some.iter().map(|record| text(record.0)).collect();
        let keys: Vec<Option<&str>> = some.iter().map(|record| text(record.1)).collect();
        let numbers: Vec<f64> = some.iter().map(|record| record.2).collect();
        let spelt: Vec<String> = numbers.iter().map(f64::to_string).collect();
        let spelt: Vec<Option<&str>> = spelt
            .iter()
            .zip(&numbers)
            .map(|(text, number)| (!number.is_nan()).then_some(text.as_str()))
            .collect();
        let wholes: Vec<Option<i64>> = some.iter().map(|record| record.3).collect();
        let cells: Vec<Cells<'_>> = stage
            .wanted()
            .iter()
            .map(|wanted| match (wanted.column, wanted.kind) {
                (0, _) => Cells::Texts(&ids),
                (1, _) => Cells::Texts(&keys),
                (2, ColumnType::Text) => Cells::Texts(&spelt),
                (2, _) => Cells::Floats(&numbers),
                _ => Cells::Integers(&wholes),
            })
            .collect();
        routers[at % threads].batch(Batch { rows: some.len(), cells: &cells });
    }
    routers.into_iter().for_each(Router::finish);
    let mut seen: Vec<Seen> = (0..threads).map(|_| Seen::default()).collect();
    let mut visitors: Vec<&mut dyn Visitor> = seen.iter_mut().map(|seen| seen as &mut dyn Visitor).collect();
    stage.deliver(&mut visitors).unwrap();
    let mut all: Vec<_> = seen.into_iter().flat_map(|seen| seen.0).collect();
    all.sort();
    all
}

fn bound(rows: u64, groups: Option<u64>) -> Bound {
    let key = ColumnRead { column: 1, kind: ColumnType::Text };
    let groups = groups.map(|most| GroupLimit { keys: vec![key], most });
    Bound { unit: 0, rows, groups, step: Step::Row }
}

/// The values of everybody's groups, added up in one plain loop.
fn expected(records: &[Record], by_key: bool) -> BTreeMap<(&str, &str), Values> {
    let mut rows: BTreeMap<(&str, &str), Vec<&Record>> = BTreeMap::new();
    for record in records.iter().filter(|record| !record.0.is_empty()) {
        rows.entry((record.0, if by_key { record.1 } else { "" })).or_default().push(record);
    }
    let values = |rows: Vec<&Record>| {
        let numbers: Vec<f64> = rows.iter().map(|row| row.2).filter(|number| !number.is_nan()).collect();
        let mut exact = ExactSum::default();
        for &number in &numbers {
            exact.add(number);
        }
        let nothing = f64::NAN.to_bits();
        let normal = |number: f64| if number.is_nan() { nothing } else { number.to_bits() };
        let (sum, mean) = match numbers.len() {
            0 => (nothing, nothing),
            many => (normal(exact.sum()), normal(exact.sum() / many as f64)),
        };
        let wholes: Vec<i64> = rows.iter().filter_map(|row| row.3).collect();
        let whole: i128 = wholes.iter().map(|&whole| i128::from(whole)).sum();
        let ends = [i64::MIN, i64::MAX].map(i128::from);
        let nearest = i64::try_from(whole.clamp(ends[0], ends[1])).unwrap();
        let mean_of_wholes = if wholes.is_empty() { f64::NAN } else { whole as f64 / wholes.len() as f64 };
        let count = |many: usize| Some(i64::try_from(many).unwrap());
        let whole_sum = (!wholes.is_empty()).then_some(nearest);
        (count(rows.len()), count(numbers.len()), sum, mean, whole_sum, normal(mean_of_wholes))
    };
    rows.into_iter().map(|(key, rows)| (key, values(rows))).collect()
}

fn record() -> impl Strategy<Value = Record> {
    let number = prop_oneof![
        4 => -9.0..9.0f64,
        1 => prop_oneof![Just(1e16), Just(-1e16), Just(0.1), Just(-0.0), Just(f64::NAN), Just(1e308)],
        1 => prop_oneof![Just(f64::INFINITY), Just(f64::NEG_INFINITY)],
    ];
    let whole = prop_oneof![3 => (-9..9i64).prop_map(Some), 1 => Just(None), 1 => Just(Some(i64::MAX))];
    (
        prop_oneof![Just("ann"), Just("bob"), Just("cy"), Just("")],
        prop_oneof![Just("x"), Just("y")],
        number,
        whole,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// Shuffled rows, other threads, batches, parts and memory: the same values to the last bit, and those of a plain loop.
    #[test]
    fn values_of_people_depend_on_their_rows_and_on_nothing_else(
        records in prop::collection::vec(record(), 0..60),
        turn in 0usize..60,
        threads in 1usize..4,
        rows in 1usize..9,
    ) {
        let mut shuffled = records.clone();
        shuffled.reverse();
        shuffled.rotate_left(turn.min(records.len()));
        for (bound, by_key) in [(bound(1, None), false), (bound(1, Some(9)), true), (bound(3, Some(9)), true)] {
            let one = delivered(&bound, &records, (1, 1), &LARGE);
            let many = (threads, rows);
            // Which of a person's rows the values stand beside is of no meaning where several are kept.
            let values = |all: &[(String, String, Values)]| {
                let key = |key: &str| if by_key { key.to_string() } else { String::new() };
                let there = all.iter().filter(|(.., values)| values.0.is_some());
                let mut values: Vec<_> = there.map(|(id, of, values)| ((id.clone(), key(of)), *values)).collect();
                values.sort();
                values
            };
            prop_assert_eq!(values(&delivered(&bound, &shuffled, many, &SMALL)), values(&one));
            let expected = expected(&records, by_key);
            let expected: Vec<_> =
                expected.into_iter().map(|((id, key), values)| ((id.to_string(), key.to_string()), values)).collect();
            prop_assert_eq!(values(&one), expected);
        }
    }

    /// Without one person the values of all others are the same to the last bit, and the person had one in each group that was kept.
    #[test]
    fn a_person_who_goes_takes_one_value_of_each_group_along(
        records in prop::collection::vec(record(), 0..60),
        groups in 1u64..3,
    ) {
        let without: Vec<Record> = records.iter().filter(|record| record.0 != "ann").copied().collect();
        for rows in [1, 2] {
            let bound = bound(rows, Some(groups));
            let all = delivered(&bound, &records, (2, 3), &SMALL);
            let others: Vec<_> = all.iter().filter(|(id, ..)| id != "ann").cloned().collect();
            let mine: Vec<_> = all.iter().filter(|(id, ..)| id == "ann").collect();
            prop_assert_eq!(delivered(&bound, &without, (1, 5), &LARGE), others);
            prop_assert!(mine.iter().filter(|(.., values)| values.0.is_some()).count() as u64 <= groups);
            prop_assert!(mine.len() as u64 <= rows * groups);
        }
    }
}
