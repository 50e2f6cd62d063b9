//! What was found in each group, in memory.

use super::{in_memory, key::text, tally::Tally};
use crate::{
    gather::{Need, Partial, ScanResult, pair},
    names::Names,
    rows::{
        encode::{put_length, take, take_length},
        numbers::Word,
    },
    source::{Batch, Cells},
};

/// So many numbers of a group are written together.
const TOGETHER: usize = 8192;

/// Groups by the bytes of their keys, numbered in the order in which they were met.
pub(super) struct Table {
    pub keys: Names,
    found: Vec<Several>,
}

/// Where a batch has the cells of a need.
pub(super) struct Place {
    pub first: Option<usize>,
    /// Those of its second column, where it has two.
    pub second: Option<usize>,
}

/// What was found of one need in each group.
enum Several {
    Counts(Vec<u64>),
    /// Numbers, or both numbers of each record.
    Floats(Vec<Vec<f64>>),
    /// Whole numbers, and how many rows have none.
    Wholes(Vec<(Vec<i64>, u64)>),
    Tallies(Vec<Tally>),
}

impl Table {
    pub fn new(needs: &[Need]) -> Self {
        let several = |need: &Need| match need {
            Need::Floats(_) | Need::Pairs(..) => Several::Floats(Vec::new()),
            Need::Wholes(_) => Several::Wholes(Vec::new()),
            Need::Tally(_) => Several::Tallies(Vec::new()),
            Need::Records | Need::Present(_) => Several::Counts(Vec::new()),
            Need::Cells(_) | Need::Table(_) | Need::Grouped { .. } => {
                unreachable!("found of all records together")
            }
        };
        Self { keys: Names::default(), found: needs.iter().map(several).collect() }
    }

    /// Take in rows whose groups these are, where cells of each need have these places. How many bytes of memory that took, about.
    pub fn batch(&mut self, needs: &[Need], batch: Batch<'_>, groups: &[usize], cells: &[Place]) -> u64 {
        let many = self.keys.len();
        let mut taken = 0;
        for ((found, place), need) in self.found.iter_mut().zip(cells).zip(needs) {
            taken += found.resize(many);
            let rows = groups.iter().copied().enumerate();
            if let (Several::Floats(all), Some(first), Some(second)) =
                (&mut *found, place.first, place.second)
            {
                let columns = [(&batch.cells[first], need.wanted()), (&batch.cells[second], need.second())];
                for (row, group) in rows {
                    if let Some([x, y]) = pair(columns, row) {
                        taken += push(&mut all[group], x) + push(&mut all[group], y);
                    }
                }
                continue;
            }
            match (found, place.first.map(|place| &batch.cells[place])) {
                (Several::Counts(counts), None) => groups.iter().for_each(|&group| counts[group] += 1),
                (Several::Counts(counts), Some(cells)) => {
                    rows.for_each(|(row, group)| counts[group] += u64::from(is_present(cells, row)));
                }
                (Several::Floats(all), Some(Cells::Floats(cells))) => {
                    rows.for_each(|(row, group)| taken += push(&mut all[group], cells[row]));
                }
                (Several::Wholes(all), Some(Cells::Integers(cells))) => {
                    for (row, group) in rows {
                        let (wholes, nulls) = &mut all[group];
                        match cells[row] {
                            None => *nulls += 1,
                            Some(whole) => taken += push(wholes, whole),
                        }
                    }
                }
                (Several::Tallies(tallies), Some(Cells::Integers(cells))) => {
                    rows.for_each(|(row, group)| taken += tallies[group].add_whole(cells[row], 1));
                }
                (Several::Tallies(tallies), Some(cells)) => {
                    rows.for_each(|(row, group)| taken += tallies[group].add(text(cells, row), 1));
                }
                _ => panic!("a source hands over the kinds that were wanted"),
            }
        }
        taken
    }

    /// Take over what another thread has found; `hash` is that of a key.
    pub fn absorb(&mut self, other: Self, hash: impl Fn(&[u8]) -> u64) {
        let places: Vec<usize> = other.keys.iter().map(|key| self.keys.number(hash(key), key)).collect();
        drop(other.keys);
        for (mine, theirs) in self.found.iter_mut().zip(other.found) {
            mine.resize(self.keys.len());
            let places = places.iter().copied();
            match (mine, theirs) {
                (Several::Counts(mine), Several::Counts(theirs)) => {
                    places.zip(theirs).for_each(|(place, count)| mine[place] += count);
                }
                (Several::Floats(mine), Several::Floats(theirs)) => {
                    places.zip(theirs).for_each(|(place, rows)| join(&mut mine[place], rows));
                }
                (Several::Wholes(mine), Several::Wholes(theirs)) => {
                    for (place, (rows, nulls)) in places.zip(theirs) {
                        join(&mut mine[place].0, rows);
                        mine[place].1 += nulls;
                    }
                }
                (Several::Tallies(mine), Several::Tallies(theirs)) => {
                    places.zip(theirs).for_each(|(place, tally)| mine[place].take(tally));
                }
                _ => unreachable!("both look for the same"),
            }
        }
    }

    /// The count of a group, where the need with this place is one that counts.
    pub fn count(&self, group: usize, need: usize) -> u64 {
        match &self.found[need] {
            Several::Counts(counts) => counts.get(group).copied().unwrap_or_default(),
            _ => unreachable!("a need that counts"),
        }
    }

    /// What was found in a group.
    pub fn gathered(&self, group: usize, needs: &[Need]) -> ScanResult<'_> {
        let mut gathered = ScanResult::default();
        for (need, found) in needs.iter().zip(&self.found) {
            match found {
                Several::Counts(counts) => gathered.put(need, Partial::Count(counts[group])),
                Several::Floats(rows) => gathered.lend_floats(need, &rows[group]),
                Several::Wholes(rows) => gathered.lend_wholes(need, &rows[group].0, rows[group].1),
                Several::Tallies(tallies) => gathered.put(need, Partial::Tally(tallies[group].clone())),
            }
        }
        gathered
    }

    /// Write what was found in a group, as one record or, where it has many numbers, as several; each is handed over.
    pub fn each_record(&self, group: usize, record: &mut Vec<u8>, mut put_away: impl FnMut(&[u8])) {
        let mut at = 0;
        loop {
            record.clear();
            let mut more = false;
            for found in &self.found {
                match found {
                    Several::Counts(counts) => put_count(if at == 0 { counts[group] } else { 0 }, record),
                    Several::Floats(rows) => more |= put_some(&rows[group], at, record),
                    Several::Wholes(rows) => {
                        let (wholes, nulls) = &rows[group];
                        put_count(if at == 0 { *nulls } else { 0 }, record);
                        more |= put_some(wholes, at, record);
                    }
                    Several::Tallies(tallies) if at == 0 => tallies[group].put(record),
                    Several::Tallies(_) => Tally::default().put(record),
                }
            }
            put_away(record);
            if !more {
                return;
            }
            at += TOGETHER;
        }
    }
}

impl Several {
    /// Room for so many groups; how many bytes that took.
    fn resize(&mut self, many: usize) -> u64 {
        let (before, each) = match self {
            Self::Counts(counts) => {
                let before = counts.len();
                counts.resize(many, 0);
                (before, 16)
            }
            Self::Floats(rows) => {
                let before = rows.len();
                rows.resize_with(many, Vec::new);
                (before, 48)
            }
            Self::Wholes(rows) => {
                let before = rows.len();
                rows.resize_with(many, Default::default);
                (before, 64)
            }
            Self::Tallies(tallies) => {
                let before = tallies.len();
                tallies.resize_with(many, Tally::default);
                (before, 224)
            }
        };
        (many - before) as u64 * each
    }
}

/// Add a number; how many bytes of memory that took.
fn push<T>(all: &mut Vec<T>, one: T) -> u64 {
    let before = all.capacity();
    all.push(one);
    // Room of its own has a header.
    ((all.capacity() - before) * 8 + if before == 0 { 16 } else { 0 }) as u64
}

fn join<T>(mine: &mut Vec<T>, theirs: Vec<T>) {
    if mine.is_empty() {
        *mine = theirs;
    } else {
        mine.extend(theirs);
    }
}

fn put_count(count: u64, record: &mut Vec<u8>) {
    put_length(in_memory(count), record);
}

/// Write some numbers from a place on; are there more after them?
fn put_some<T: Word>(numbers: &[T], from: usize, record: &mut Vec<u8>) -> bool {
    let end = numbers.len().min(from + TOGETHER);
    let some = numbers.get(from..end).unwrap_or_default();
    put_length(some.len(), record);
    record.extend(some.iter().flat_map(|number| number.written()));
    end < numbers.len()
}

/// The count that stands at this place among the needs of a record; those that count stand first.
pub(super) fn count_of(mut record: &[u8], need: usize) -> u64 {
    for _ in 0..need {
        take_length(&mut record);
    }
    take_length(&mut record) as u64
}

/// Add what a record holds to what was found of each need.
pub(super) fn add_record(mut record: &[u8], found: &mut [Partial], room: &mut (Vec<f64>, Vec<i64>)) {
    for found in found {
        match found {
            Partial::Count(count) => *count += take_length(&mut record) as u64,
            Partial::Floats(rows) | Partial::Pairs(rows) => {
                take_some(&mut record, &mut room.0);
                rows.extend(&room.0);
            }
            Partial::Wholes(rows, nulls) => {
                *nulls += take_length(&mut record) as u64;
                take_some(&mut record, &mut room.1);
                rows.extend(&room.1);
            }
            Partial::Tally(tally) => tally.add_written(&mut record),
            Partial::Cells(_) | Partial::Table(_) => unreachable!("found of all records together"),
        }
    }
}

fn take_some<T: Word>(record: &mut &[u8], numbers: &mut Vec<T>) {
    let bytes = take(8 * take_length(record), record);
    numbers.clear();
    numbers.extend(bytes.as_chunks::<8>().0.iter().map(|&word| T::read(word)));
}

/// Does a row have a value?
fn is_present(cells: &Cells<'_>, row: usize) -> bool {
    match cells {
        Cells::Integers(cells) => cells[row].is_some(),
        cells => text(cells, row).is_some(),
    }
}
