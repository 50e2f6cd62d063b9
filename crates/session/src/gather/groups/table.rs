//! What was found in each group, in memory.

use super::{
    in_memory,
    key::text,
    log::{ByGroup, Log},
    tally::Tally,
};
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

/// Some groups of a table, with the numbers of each side by side.
pub(super) struct Sorted<'t> {
    table: &'t Table,
    /// In order, each once.
    groups: Vec<usize>,
    found: Vec<SortedValues>,
}

/// The values of one need, by the places of groups.
enum SortedValues {
    Floats(ByGroup<f64>),
    Wholes(ByGroup<i64>),
    /// What is not of many values.
    Elsewhere,
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
    Floats(Log<f64>),
    /// Whole numbers, and how many rows of each group have none.
    Wholes(Log<i64>, Vec<u64>),
    Tallies(Vec<Tally>),
}

impl Table {
    pub fn new(needs: &[Need], key: [u64; 2]) -> Self {
        let several = |need: &Need| match need {
            Need::Floats(_) | Need::Pairs(..) => Several::Floats(Log::default()),
            Need::Wholes(_) => Several::Wholes(Log::default(), Vec::new()),
            Need::Tally(_) => Several::Tallies(Vec::new()),
            Need::Records | Need::Present(_) => Several::Counts(Vec::new()),
            Need::Cells(_) | Need::Table(_) | Need::Grouped { .. } => {
                unreachable!("found of all records together")
            }
        };
        Self { keys: Names::keyed(key), found: needs.iter().map(several).collect() }
    }

    /// Take in rows whose groups these are, where cells of each need have these places. How many bytes of memory that took, about.
    pub fn batch(&mut self, needs: &[Need], batch: Batch<'_>, groups: &[u32], cells: &[Place]) -> u64 {
        let many = self.keys.len();
        let mut taken = 0;
        for ((found, place), need) in self.found.iter_mut().zip(cells).zip(needs) {
            taken += found.resize(many);
            let rows = groups.iter().copied().enumerate();
            if let (Several::Floats(all), Some(first), Some(second)) =
                (&mut *found, place.first, place.second)
            {
                let columns = [(&batch.cells[first], need.wanted()), (&batch.cells[second], need.second())];
                let before = all.bytes();
                for (row, group) in rows {
                    if let Some(both) = pair(columns, row) {
                        for number in both {
                            all.push(group, number);
                        }
                    }
                }
                taken += all.bytes() - before;
                continue;
            }
            match (found, place.first.map(|place| &batch.cells[place])) {
                (Several::Counts(counts), None) => {
                    for &group in groups {
                        counts[group as usize] += 1;
                    }
                }
                (Several::Counts(counts), Some(cells)) => {
                    rows.for_each(|(row, group)| counts[group as usize] += u64::from(is_present(cells, row)));
                }
                (Several::Floats(all), Some(Cells::Floats(cells))) => {
                    let before = all.bytes();
                    all.extend(groups, cells);
                    taken += all.bytes() - before;
                }
                (Several::Wholes(all, nulls), Some(Cells::Integers(cells))) => {
                    let before = all.bytes();
                    for (row, group) in rows {
                        match cells[row] {
                            None => nulls[group as usize] += 1,
                            Some(whole) => all.push(group, whole),
                        }
                    }
                    taken += all.bytes() - before;
                }
                (Several::Tallies(tallies), Some(Cells::Integers(cells))) => {
                    rows.for_each(|(row, group)| taken += tallies[group as usize].add_whole(cells[row], 1));
                }
                (Several::Tallies(tallies), Some(cells)) => {
                    rows.for_each(|(row, group)| taken += tallies[group as usize].add(text(cells, row), 1));
                }
                _ => panic!("a source hands over the kinds that were wanted"),
            }
        }
        taken
    }

    /// Take over what another thread has found.
    pub fn absorb(&mut self, other: Self) {
        let places: Vec<usize> = other.keys.iter().map(|key| self.keys.number(key)).collect();
        drop(other.keys);
        for (mine, theirs) in self.found.iter_mut().zip(other.found) {
            mine.resize(self.keys.len());
            let numbered = places.iter().copied();
            match (mine, theirs) {
                (Several::Counts(mine), Several::Counts(theirs)) => {
                    numbered.zip(theirs).for_each(|(place, count)| mine[place] += count);
                }
                (Several::Floats(mine), Several::Floats(theirs)) => mine.absorb(theirs, &places),
                (Several::Wholes(mine, nulls), Several::Wholes(theirs, other_nulls)) => {
                    mine.absorb(theirs, &places);
                    numbered.zip(other_nulls).for_each(|(place, count)| nulls[place] += count);
                }
                (Several::Tallies(mine), Several::Tallies(theirs)) => {
                    numbered.zip(theirs).for_each(|(place, tally)| mine[place].take(tally));
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

    /// These groups with the numbers of each side by side.
    pub fn sorted(&self, mut groups: Vec<usize>) -> Sorted<'_> {
        groups.sort_unstable();
        groups.dedup();
        let sorted = |found: &Several| match found {
            Several::Floats(all) => SortedValues::Floats(all.by_group(&groups, self.keys.len())),
            Several::Wholes(all, _) => SortedValues::Wholes(all.by_group(&groups, self.keys.len())),
            Several::Counts(_) | Several::Tallies(_) => SortedValues::Elsewhere,
        };
        let found = self.found.iter().map(sorted).collect();
        Sorted { table: self, groups, found }
    }
}

impl Sorted<'_> {
    /// The place of a group among those that were asked for.
    fn place(&self, group: usize) -> usize {
        self.groups.binary_search(&group).expect("groups that are looked at were asked for")
    }

    /// What was found in one of the groups.
    pub fn gathered(&self, group: usize, needs: &[Need]) -> ScanResult<'_> {
        let mut gathered = ScanResult::default();
        let place = self.place(group);
        for ((need, found), sorted) in needs.iter().zip(&self.table.found).zip(&self.found) {
            match (found, sorted) {
                (Several::Counts(counts), _) => gathered.put(need, Partial::Count(counts[group])),
                (Several::Wholes(_, nulls), SortedValues::Wholes(rows)) => {
                    gathered.lend_wholes(need, rows.of(place), nulls[group]);
                }
                (Several::Tallies(tallies), _) => gathered.put(need, Partial::Tally(tallies[group].clone())),
                (_, SortedValues::Floats(rows)) => gathered.lend_floats(need, rows.of(place)),
                _ => unreachable!("numbers were sorted"),
            }
        }
        gathered
    }

    /// Write what was found in a group, as one record or, where it has many numbers, as several; each is handed over.
    pub fn each_record(&self, group: usize, record: &mut Vec<u8>, mut put_away: impl FnMut(&[u8])) {
        let place = self.place(group);
        let mut at = 0;
        loop {
            record.clear();
            let mut more = false;
            for (found, sorted) in self.table.found.iter().zip(&self.found) {
                match (found, sorted) {
                    (Several::Counts(counts), _) => {
                        put_count(if at == 0 { counts[group] } else { 0 }, record);
                    }
                    (Several::Wholes(_, nulls), SortedValues::Wholes(rows)) => {
                        put_count(if at == 0 { nulls[group] } else { 0 }, record);
                        more |= put_some(rows.of(place), at, record);
                    }
                    (Several::Tallies(tallies), _) if at == 0 => tallies[group].put(record),
                    (Several::Tallies(_), _) => Tally::default().put(record),
                    (_, SortedValues::Floats(rows)) => more |= put_some(rows.of(place), at, record),
                    _ => unreachable!("numbers were sorted"),
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
            Self::Floats(_) => (many, 0),
            Self::Wholes(_, nulls) => {
                let before = nulls.len();
                nulls.resize(many, 0);
                (before, 16)
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
