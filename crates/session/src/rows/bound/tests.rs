//! The bound, checked over all small files, all orders of rows, and hashes that were chosen to break it.

use super::*;
use crate::{gather::tests::FixedWords, source::Cells};
use equipoise_core::coins::{ScriptedWords, Words};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Who, a group, a value.
type Record = (&'static str, &'static str, i64);
type Place = fn(&[u8]) -> u64;

/// The rows that a visitor was given.
#[derive(Default)]
struct Seen(Vec<(String, String, i64)>);

impl Visitor for Seen {
    fn batch(&mut self, batch: Batch<'_>) {
        let [Cells::Floats(values), Cells::Texts(keys), Cells::Texts(ids)] = batch.cells else {
            panic!("three columns")
        };
        let text = |texts: &[Option<&str>], row: usize| texts[row].unwrap_or_default().to_string();
        #[expect(clippy::cast_possible_truncation, reason = "small whole numbers")]
        self.0.extend((0..batch.rows).map(|row| (text(ids, row), text(keys, row), values[row] as i64)));
    }
}

const VALUE: ColumnRead = ColumnRead { column: 1, kind: ColumnType::Float };
const KEY: ColumnRead = ColumnRead { column: 2, kind: ColumnType::Text };
const ID: ColumnRead = ColumnRead { column: 0, kind: ColumnType::Text };

fn bound(rows: u64, most: Option<u64>) -> Bound {
    Bound { unit: 0, rows, groups: most.map(|most| GroupLimit { keys: vec![KEY], most }), step: Step::Row }
}

fn hands(key: u64) -> ScanKeys {
    ScanKeys::new(1, &mut ScriptedWords::new(vec![key; 6]))
}

const SMALL: Limits = Limits { parts: 3, piece: 40, memory: 100 };

/// What is kept, in rising order.
fn kept(bound: &Bound, rows: &[Record], hands: &ScanKeys, limits: &Limits) -> Vec<(String, String, i64)> {
    kept_by(None, bound, rows, hands, limits)
}

fn kept_by(
    instead: Option<Place>,
    bound: &Bound,
    rows: &[Record],
    hands: &ScanKeys,
    limits: &Limits,
) -> Vec<(String, String, i64)> {
    let mut stage = bound.stage_within(&[VALUE, KEY, ID], &PerUnit::default(), hands, limits);
    stage.ranking.instead = instead;
    let mut routers: Vec<Router<'_>> = (0..hands.count).map(|_| stage.router()).collect();
    for (at, &(id, key, value)) in rows.iter().enumerate() {
        let cells = [Cells::Floats(&[value as f64]), Cells::Texts(&[Some(key)]), Cells::Texts(&[Some(id)])];
        routers[at % hands.count].batch(Batch { rows: 1, cells: &cells });
    }
    routers.into_iter().for_each(Router::finish);
    let mut seen: Vec<Seen> = (0..hands.count).map(|_| Seen::default()).collect();
    let mut visitors: Vec<&mut dyn Visitor> = seen.iter_mut().map(|seen| seen as &mut dyn Visitor).collect();
    stage.deliver(&mut visitors).unwrap();
    let mut all: Vec<_> = seen.into_iter().flat_map(|seen| seen.0).collect();
    all.sort_unstable();
    all
}

/// The bound as engines of tables would keep it: ranks of one row among all others, nothing shared with the stage.
struct Model {
    /// Which number tells this row apart from its equals.
    copy: fn(&[Record], usize) -> usize,
    /// What the order may depend on beside the row.
    salt: fn(&[Record]) -> usize,
}

const MODEL: Model =
    Model { copy: |rows, at| 1 + rows[..at].iter().filter(|row| **row == rows[at]).count(), salt: |_| 0 };

impl Model {
    fn kept(
        &self,
        bound: &Bound,
        rows: &[Record],
        place: &dyn Fn(&str) -> u64,
    ) -> Vec<(String, String, i64)> {
        let text = |text: &str| format!("{}:{text},", text.len());
        let grouped = bound.groups.is_some();
        let group = |(id, key, _): &Record| text(id) + &if grouped { text(key) } else { String::new() };
        let salt = match (self.salt)(rows) {
            0 => String::new(),
            salt => salt.to_string(),
        };
        let placed = |message: String| (place(&(salt.clone() + &message)), message);
        let row = |at: usize| {
            let (id, key, value) = rows[at];
            let cells = format!("{},{}{}", (value as f64).to_bits(), text(key), text(id));
            placed(format!("{}{cells}{},", group(&rows[at]), (self.copy)(rows, at)))
        };
        let places: Vec<(u64, String)> = (0..rows.len()).map(row).collect();
        let kept = |at: usize| {
            let mine = |other: &usize| group(&rows[*other]) == group(&rows[at]);
            let before = (0..rows.len()).filter(mine).filter(|&other| places[other] < places[at]).count();
            let groups: BTreeSet<(u64, String)> =
                rows.iter().filter(|row| row.0 == rows[at].0).map(|row| placed(group(row))).collect();
            let groups_before = groups.iter().filter(|other| **other < placed(group(&rows[at]))).count();
            (before as u64) < bound.rows
                && bound.groups.as_ref().is_none_or(|groups| (groups_before as u64) < groups.most)
        };
        let named = |at: usize| (rows[at].0.to_string(), rows[at].1.to_string(), rows[at].2);
        let mut all: Vec<_> = (0..rows.len()).filter(|&at| kept(at)).map(named).collect();
        all.sort_unstable();
        all
    }
}

/// SHA-256 behind a key, by another way than that of the stage.
fn sha256(key: u64) -> impl Fn(&str) -> u64 {
    move |message| {
        let digest = Sha256::digest(format!("{}{message}", format!("{key:016x}").repeat(4)));
        digest[..8].iter().fold(0, |place, &byte| place << 8 | u64::from(byte))
    }
}

const RECORDS: [Record; 12] = [
    ("ann", "a", 0),
    ("ann", "a", 1),
    ("ann", "b", 0),
    ("ann", "b", 1),
    ("ann", "c", 0),
    ("ann", "c", 1),
    ("bob", "a", 0),
    ("bob", "a", 1),
    ("bob", "b", 0),
    ("bob", "b", 1),
    ("bob", "c", 0),
    ("bob", "c", 1),
];

/// All files of at most so many records, copies included, in rising order.
fn files(most: usize) -> Vec<Vec<Record>> {
    let mut all = vec![Vec::new()];
    let mut last: Vec<Vec<Record>> = all.clone();
    for _ in 0..most {
        let longer = |file: &Vec<Record>| {
            let file = file.clone();
            RECORDS.iter().map(move |record| [&file[..], &[*record]].concat())
        };
        last = last.iter().flat_map(longer).filter(|file| file.is_sorted()).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// How many rows are in one list and not in the other.
fn changed<T: Ord>(one: &[T], other: &[T]) -> u64 {
    let mut counts: BTreeMap<&T, i64> = BTreeMap::new();
    for row in one {
        *counts.entry(row).or_default() += 1;
    }
    for row in other {
        *counts.entry(row).or_default() -= 1;
    }
    counts.values().map(|count| count.unsigned_abs()).sum()
}

/// The most kept rows that one person, coming or going, changes over all files of so many rows, and the most that one row changes, which stands
/// before all others.
fn most_changed(rows: usize, keep: impl Fn(&[Record]) -> Vec<(String, String, i64)>) -> (u64, u64) {
    let (mut by_person, mut by_row) = (0, 0);
    for file in files(rows) {
        let all = keep(&file);
        for id in ["ann", "bob"] {
            let others: Vec<Record> = file.iter().copied().filter(|row| row.0 != id).collect();
            by_person = by_person.max(changed(&all, &keep(&others)));
        }
        for record in RECORDS {
            by_row = by_row.max(changed(&all, &keep(&[&[record], &file[..]].concat())));
        }
    }
    (by_person, by_row)
}

const BOUNDS: [(u64, Option<u64>); 6] =
    [(1, None), (2, None), (1, Some(1)), (2, Some(1)), (1, Some(2)), (2, Some(2))];

/// No order at all, the order of messages turned around, one that sees the last byte but one only, and lengths.
const HOSTILE: [Place; 4] = [
    |_| 7,
    |message| u64::MAX - message.iter().fold(0, |sum, &byte| sum * 31 % (1 << 40) + u64::from(byte)),
    |message| u64::from(message[message.len() - 2] % 2),
    |message| message.len() as u64,
];

#[test]
fn under_every_key_and_any_hash_a_person_changes_k_rows_and_a_row_no_more_than_it_is_charged() {
    for (rows, groups) in BOUNDS {
        let bound = bound(rows, groups);
        let claimed = (bound.rows_per_unit().min(3), bound.changed_by_row());
        let keys = [1, 2, 3].map(|key| (hands(key), None));
        let hostile = HOSTILE.map(|place| (hands(0), Some(place)));
        let mut worst = (0, 0);
        for (hands, place) in keys.into_iter().chain(hostile) {
            let found = most_changed(3, |rows| kept_by(place, &bound, rows, &hands, &SMALL));
            assert!(found.0 <= claimed.0 && found.1 <= claimed.1, "{rows} {groups:?}: {found:?}");
            worst = (worst.0.max(found.0), worst.1.max(found.1));
        }
        // No smaller claim would do.
        assert_eq!(worst, claimed, "{rows} {groups:?}");
    }
}

/// The same search finds what is wrong with orders that look at more than a person's set of rows.
#[test]
fn orders_that_know_other_rows_are_caught() {
    let by_other_people: Model = Model { salt: <[Record]>::len, ..MODEL };
    let by_the_order_of_the_file =
        Model { copy: |rows, at| rows[..at].iter().filter(|row| row.0 == rows[at].0).count(), ..MODEL };
    // Numbered by value within the group: a small value moves the numbers of all that are larger.
    let by_too_few_cells = Model {
        copy: |rows, at| {
            let before = |row: &&Record| (row.0, row.1) == (rows[at].0, rows[at].1) && row.2 < rows[at].2;
            rows.iter().filter(before).count() + (MODEL.copy)(rows, at)
        },
        ..MODEL
    };
    let worst = |model: &Model, rows: u64| {
        let bound = bound(rows, None);
        let found = [1, 2, 3, 4].map(|key| most_changed(3, |file| model.kept(&bound, file, &sha256(key))));
        found.into_iter().fold((0, 0), |worst, found| (worst.0.max(found.0), worst.1.max(found.1)))
    };
    assert_eq!((worst(&MODEL, 1), worst(&MODEL, 2)), ((1, 2), (2, 2)));
    assert!(worst(&by_other_people, 1).0 > 1);
    assert!(worst(&by_the_order_of_the_file, 2).1 > 2);
    assert!(worst(&by_too_few_cells, 2).1 > 2);
}

#[test]
fn the_stage_keeps_what_ranks_over_tables_keep() {
    for (rows, groups) in BOUNDS {
        let bound = bound(rows, groups);
        for file in files(3) {
            for key in [1, 2] {
                let expected = MODEL.kept(&bound, &file, &sha256(key));
                assert_eq!(kept(&bound, &file, &hands(key), &SMALL), expected, "{file:?}");
            }
            for place in HOSTILE {
                let expected = MODEL.kept(&bound, &file, &|message| place(message.as_bytes()));
                assert_eq!(kept_by(Some(place), &bound, &file, &hands(0), &SMALL), expected, "{file:?}");
            }
        }
    }
}

proptest! {
    /// Neither the order of rows nor how work is cut decides what is kept.
    #[test]
    fn order_threads_parts_and_memory_change_nothing(
        rows in prop::collection::vec((0..3usize, 0..3usize, 0..4i64), 0..80),
        order in any::<u64>(),
        (count, parts, piece, memory) in (1..5usize, 1..9usize, 1..300usize, 0..2000u64),
        key in any::<u64>(),
        which in 0..BOUNDS.len(),
    ) {
        let (names, keys) = (["ann", "bob", "cy"], ["a", "b", ""]);
        let file: Vec<Record> = rows.iter().map(|&(id, key, value)| (names[id], keys[key], value)).collect();
        let mut words = FixedWords(order);
        let mut shuffled = file.clone();
        shuffled.sort_by_cached_key(|_| words.word());
        let (rows, groups) = BOUNDS[which];
        let bound = bound(rows, groups);
        let one = kept(&bound, &file, &hands(key), &SMALL);
        let several = ScanKeys { count, table: [order, key], ..hands(key) };
        let other = kept(&bound, &shuffled, &several, &Limits { parts, piece, memory });
        prop_assert_eq!(&one, &other);
        // Nobody loses a row that the bound has room for.
        for id in names {
            let mut left: BTreeMap<&str, u64> = BTreeMap::new();
            for row in file.iter().filter(|row| row.0 == id) {
                *left.entry(if groups.is_some() { row.1 } else { "" }).or_default() += 1;
            }
            let mine: Vec<_> = one.iter().filter(|row| row.0 == id).collect();
            let groups_kept: BTreeSet<&str> =
                mine.iter().map(|row| if groups.is_some() { row.1.as_str() } else { "" }).collect();
            prop_assert_eq!(groups_kept.len() as u64, (left.len() as u64).min(groups.unwrap_or(1)));
            let expected: u64 = groups_kept.iter().map(|key| left[key].min(rows)).sum();
            prop_assert_eq!(mine.len() as u64, expected);
        }
    }
}

/// One person has far more rows than are hashed before somebody looks whether to end, and copies among them.
#[test]
fn a_person_with_many_rows_keeps_the_first_of_all() {
    let rows: Vec<Record> = (0..10_000).map(|at| ("ann", "a", at % 3000)).collect();
    let message = |value: i64, copy: i64| format!("3:ann,{},1:a,3:ann,{copy},", (value as f64).to_bits());
    let place = sha256(1);
    let mut all: Vec<(u64, i64)> =
        (0..10_000).map(|at| (place(&message(at % 3000, 1 + at / 3000)), at % 3000)).collect();
    all.sort_unstable();
    let mut expected: Vec<i64> = all[..50].iter().map(|(_, value)| *value).collect();
    expected.sort_unstable();
    let kept = kept(&bound(50, None), &rows, &hands(1), &SMALL);
    assert_eq!(kept.iter().map(|row| row.2).collect::<Vec<_>>(), expected);
}

/// How often each outcome comes up over keys, and that all come up about equally often: within five standard deviations. The keys
/// are always the same, so this never fails by chance.
fn equally_often<T: Ord + std::fmt::Debug>(outcomes: u64, outcome: impl Fn(&ScanKeys) -> T) {
    const KEYS: u64 = 6000;
    let mut words = FixedWords(1);
    let mut counts: BTreeMap<T, u64> = BTreeMap::new();
    for _ in 0..KEYS {
        *counts.entry(outcome(&ScanKeys::new(1, &mut words))).or_default() += 1;
    }
    assert_eq!(counts.len() as u64, outcomes, "{counts:?}");
    let chance = 1.0 / outcomes as f64;
    let deviation = (KEYS as f64 * chance * (1.0 - chance)).sqrt();
    for count in counts.values() {
        assert!((*count as f64 - KEYS as f64 * chance).abs() <= 5.0 * deviation, "{counts:?}");
    }
}

#[test]
fn each_set_of_a_persons_rows_is_about_equally_likely() {
    for (many, most, sets) in [(1, 1, 1), (4, 1, 4), (4, 2, 6), (4, 3, 4), (5, 2, 10), (3, 7, 1)] {
        let rows: Vec<Record> = (0..many).map(|value| ("ann", "a", value)).collect();
        equally_often(sets, |hands| kept(&bound(most, None), &rows, hands, &SMALL));
    }
}

/// Copies count as often as they are there: of a row and three copies of another, each copy is as likely as the row.
#[test]
fn copies_are_rows_of_their_own() {
    let rows = [("ann", "a", 5), ("ann", "a", 0), ("ann", "a", 0), ("ann", "a", 0)];
    let (mut five, mut keys) = (0, FixedWords(2));
    for _ in 0..6000 {
        five += u64::from(kept(&bound(1, None), &rows, &ScanKeys::new(1, &mut keys), &SMALL)[0].2 == 5);
    }
    // A quarter of 6000, whose standard deviation is 33.5.
    assert!(five.abs_diff(1500) <= 5 * 34, "{five}");
}

#[test]
fn each_set_of_groups_is_about_equally_likely_whatever_their_sizes() {
    let rows = [("ann", "a", 0), ("ann", "a", 1), ("ann", "a", 2), ("ann", "b", 0), ("ann", "c", 0)];
    equally_often(3, |hands| {
        kept(&bound(1, Some(2)), &rows, hands, &SMALL).into_iter().map(|row| row.1).collect::<Vec<_>>()
    });
}

#[test]
fn people_are_drawn_for_independently() {
    let rows = [("ann", "a", 0), ("ann", "a", 1), ("bob", "a", 0), ("bob", "a", 1)];
    equally_often(4, |hands| kept(&bound(1, None), &rows, hands, &SMALL));
    let rows = [("ann", "a", 0), ("ann", "b", 0), ("bob", "a", 0), ("bob", "b", 0)];
    equally_often(4, |hands| kept(&bound(1, Some(1)), &rows, hands, &SMALL));
}

#[test]
fn records_without_an_id_are_nobodys() {
    let rows = [("", "a", 0), (" ann", "a", 1), ("ann ", "b", 2), ("\t", "c", 3)];
    let left = kept(&bound(9, None), &rows, &hands(1), &SMALL);
    assert_eq!(left.iter().map(|row| row.2).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn an_id_that_no_question_wants_is_read_for_the_stage_alone() {
    let bound = bound(1, Some(1));
    let wanted = |questions: &[ColumnRead]| {
        bound.stage_within(questions, &PerUnit::default(), &hands(1), &SMALL).wanted().to_vec()
    };
    assert_eq!(wanted(&[VALUE]), [VALUE, ID, KEY]);
    assert_eq!(wanted(&[KEY, VALUE]), [KEY, VALUE, ID]);
}

/// Rows as text.
#[derive(Default)]
struct Lines(Vec<String>);

impl Visitor for Lines {
    fn batch(&mut self, batch: Batch<'_>) {
        let [Cells::Floats(values), Cells::Texts(keys), Cells::Texts(ids)] = batch.cells else {
            panic!("three columns")
        };
        let line = |row: usize| {
            format!("{} {} {:?}", ids[row].unwrap_or("-"), keys[row].unwrap_or("-"), values[row])
        };
        self.0.extend((0..batch.rows).map(line));
    }
}

/// DuckDB 2.0 kept these rows, with the expressions of [`rank`](crate::rows::rank) and of this module in SQL.
#[test]
fn another_engine_keeps_the_same_rows() {
    let rows = [
        ("ann", Some("a"), 1.5),
        ("ann", Some("a"), 1.5),
        ("ann", Some("a"), -2.0),
        ("ann", Some("a"), 0.1),
        ("ann", Some("b"), f64::NAN),
        ("ann", Some("b"), -f64::NAN),
        ("ann", Some("b"), 3e-310),
        ("ann", None, 1e300),
        ("ann", None, -0.0),
        ("bob", Some("x,y"), 7.0),
        ("bob", Some("x,y"), 8.0),
        ("bob", Some("2:a"), 9.0),
        ("bob", Some("\u{fc}"), 10.0),
    ];
    let hands = hands(0x0123_4567_89ab_cdef);
    for (rows_kept, groups, expected) in [
        (1, None, "ann b NaN; bob \u{fc} 10.0"),
        (2, None, "ann b NaN; ann b NaN; bob 2:a 9.0; bob \u{fc} 10.0"),
        (1, Some(1), "ann b NaN; bob 2:a 9.0"),
        (2, Some(1), "ann b NaN; ann b NaN; bob 2:a 9.0"),
        (1, Some(2), "ann a 1.5; ann b NaN; bob 2:a 9.0; bob x,y 7.0"),
        (2, Some(2), "ann a 1.5; ann a 1.5; ann b NaN; ann b NaN; bob 2:a 9.0; bob x,y 7.0; bob x,y 8.0"),
    ] {
        let bound = bound(rows_kept, groups);
        let stage = bound.stage_within(&[VALUE, KEY, ID], &PerUnit::default(), &hands, &SMALL);
        let mut router = stage.router();
        for (id, key, value) in rows {
            let cells = [Cells::Floats(&[value]), Cells::Texts(&[key]), Cells::Texts(&[Some(id)])];
            router.batch(Batch { rows: 1, cells: &cells });
        }
        router.finish();
        let mut lines = Lines::default();
        stage.deliver(&mut [&mut lines]).unwrap();
        lines.0.sort_unstable();
        assert_eq!(lines.0.join("; "), expected, "{rows_kept} {groups:?}");
    }
}
