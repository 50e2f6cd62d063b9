//! Rows by key: what questions need of each group of records that agree in some columns.

use crate::{
    gather::{Found, Need, Tally},
    source::{Batch, Cells, Wanted},
};
use std::collections::HashMap;

/// The texts of a group in the columns of its key, of a whole type those that its values are written as; a field that is not there is `None`, a key like any other.
pub(crate) type Key = Vec<Option<String>>;

/// The groups that one worker has met.
pub(crate) struct Grouping {
    by: Vec<Wanted>,
    /// The places of the key's cells in a batch.
    places: Vec<usize>,
    index: HashMap<Box<[u8]>, usize>,
    parts: Vec<Part>,
    /// The group of each row of a batch, and room to write a key.
    groups: Vec<usize>,
    written: Vec<u8>,
}

struct Part {
    need: Need,
    cells: Option<usize>,
    found: Several,
}

/// What was found in each group.
enum Several {
    Counts(Vec<u64>),
    Floats(Vec<Vec<f64>>),
    /// Whole numbers, and how many rows have none.
    Wholes(Vec<(Vec<i64>, u64)>),
    Tallies(Vec<Tally>),
}

impl Grouping {
    pub fn new(by: &[Wanted], wanted: &[Wanted]) -> Self {
        let place = |&key: &Wanted| wanted.iter().position(|&one| one == key).expect("keys are wanted");
        Self {
            by: by.to_vec(),
            places: by.iter().map(place).collect(),
            index: HashMap::new(),
            parts: Vec::new(),
            groups: Vec::new(),
            written: Vec::new(),
        }
    }

    pub fn by(&self) -> &[Wanted] {
        &self.by
    }

    /// Look for this as well.
    pub fn serve(&mut self, need: &Need, wanted: &[Wanted]) {
        if self.parts.iter().any(|part| part.need == *need) {
            return;
        }
        let cells = need.wanted().and_then(|need| wanted.iter().position(|&one| one == need));
        let found = match need {
            Need::Floats(_) => Several::Floats(Vec::new()),
            Need::Wholes(_) => Several::Wholes(Vec::new()),
            Need::Tally(_) => Several::Tallies(Vec::new()),
            Need::Records | Need::Present(_) => Several::Counts(Vec::new()),
            Need::Grouped { .. } => unreachable!("groups have no groups"),
        };
        self.parts.push(Part { need: need.clone(), cells, found });
    }

    pub fn batch(&mut self, batch: Batch<'_>) {
        self.find_groups(batch);
        let many = self.index.len();
        for part in &mut self.parts {
            let cells = part.cells.map(|place| &batch.cells[place]);
            match (&mut part.found, cells) {
                (Several::Counts(counts), None) => {
                    counts.resize(many, 0);
                    self.groups.iter().for_each(|&group| counts[group] += 1);
                }
                (Several::Counts(counts), Some(cells)) => {
                    counts.resize(many, 0);
                    for (row, &group) in self.groups.iter().enumerate() {
                        counts[group] += u64::from(is_present(cells, row));
                    }
                }
                (Several::Floats(rows), Some(Cells::Floats(cells))) => {
                    rows.resize_with(many, Vec::new);
                    self.groups.iter().zip(*cells).for_each(|(&group, &cell)| rows[group].push(cell));
                }
                (Several::Wholes(rows), Some(Cells::Integers(cells))) => {
                    rows.resize_with(many, Default::default);
                    for (&group, cell) in self.groups.iter().zip(*cells) {
                        let (wholes, nulls) = &mut rows[group];
                        cell.map_or_else(|| *nulls += 1, |whole| wholes.push(whole));
                    }
                }
                (Several::Tallies(tallies), Some(Cells::Integers(cells))) => {
                    tallies.resize_with(many, Tally::default);
                    for (&group, &cell) in self.groups.iter().zip(*cells) {
                        tallies[group].add_whole(cell);
                    }
                }
                (Several::Tallies(tallies), Some(cells)) => {
                    tallies.resize_with(many, Tally::default);
                    for (row, &group) in self.groups.iter().enumerate() {
                        tallies[group].add(text(cells, row), 1);
                    }
                }
                _ => panic!("a source hands over the kinds that were wanted"),
            }
        }
    }

    /// The group of each row.
    fn find_groups(&mut self, batch: Batch<'_>) {
        self.groups.clear();
        if let [place] = self.places[..]
            && let Cells::Coded { texts, codes } = batch.cells[place]
        {
            return self.find_coded(texts, codes);
        }
        for row in 0..batch.rows {
            self.written.clear();
            for (&place, key) in self.places.iter().zip(&self.by) {
                match batch.cells[place] {
                    Cells::Integers(cells) => {
                        let whole = cells[row].map(|whole| key.kind.write(whole));
                        write(whole.as_deref(), &mut self.written);
                    }
                    cells => write(text(&cells, row), &mut self.written),
                }
            }
            let group = self.look_up();
            self.groups.push(group);
        }
    }

    /// The same where texts are places in a list: each text is looked up when it is first met.
    fn find_coded(&mut self, texts: &[&str], codes: &[Option<u32>]) {
        let mut met: Vec<Option<usize>> = vec![None; texts.len() + 1];
        for code in codes {
            let place = code.map_or(texts.len(), |code| code as usize).min(texts.len());
            let group = met[place].unwrap_or_else(|| {
                self.written.clear();
                write(texts.get(place).copied(), &mut self.written);
                self.look_up()
            });
            met[place] = Some(group);
            self.groups.push(group);
        }
    }

    /// The group of the key that was written; a new one if no row has had it.
    fn look_up(&mut self) -> usize {
        // Looked up by reference first, because most keys have been seen before.
        if let Some(&group) = self.index.get(self.written.as_slice()) {
            return group;
        }
        let next = self.index.len();
        self.index.insert(self.written.as_slice().into(), next);
        next
    }

    /// Hand over what was found, group by group and need by need.
    pub fn finish(self, mut take: impl FnMut(Key, &Need, Found)) {
        let mut keys: Vec<Key> = vec![Vec::new(); self.index.len()];
        for (written, group) in self.index {
            keys[group] = read(&written);
        }
        for part in self.parts {
            let need = &part.need;
            let mut each = |found: Vec<Found>| {
                for (key, found) in keys.iter().zip(found) {
                    take(key.clone(), need, found);
                }
            };
            match part.found {
                Several::Counts(counts) => each(counts.into_iter().map(Found::Count).collect()),
                Several::Floats(rows) => each(rows.into_iter().map(Found::List).collect()),
                Several::Wholes(rows) => {
                    each(rows.into_iter().map(|(rows, nulls)| Found::WholeList(rows, nulls)).collect());
                }
                Several::Tallies(tallies) => each(tallies.into_iter().map(Found::Tally).collect()),
            }
        }
    }
}

/// Does a row have a value?
fn is_present(cells: &Cells<'_>, row: usize) -> bool {
    match cells {
        Cells::Integers(cells) => cells[row].is_some(),
        cells => text(cells, row).is_some(),
    }
}

/// The text of a row.
fn text<'a>(cells: &Cells<'a>, row: usize) -> Option<&'a str> {
    match cells {
        Cells::Texts(texts) => texts[row],
        Cells::Coded { texts, codes } => texts.get(codes[row]? as usize).copied(),
        _ => panic!("a source hands over the kinds that were wanted"),
    }
}

/// A text with its length before it, so that no two keys of several texts are written alike.
fn write(text: Option<&str>, written: &mut Vec<u8>) {
    match text {
        None => written.push(0),
        Some(text) => {
            written.push(1);
            written.extend_from_slice(&(text.len() as u64).to_le_bytes());
            written.extend_from_slice(text.as_bytes());
        }
    }
}

fn read(mut written: &[u8]) -> Key {
    let mut key = Vec::new();
    while let Some((&there, rest)) = written.split_first() {
        written = rest;
        key.push((there == 1).then(|| {
            let (length, rest) = written.split_first_chunk::<8>().expect("a length was written");
            let length = usize::try_from(u64::from_le_bytes(*length)).expect("a length in memory");
            let (text, rest) = rest.split_at(length);
            written = rest;
            String::from_utf8_lossy(text).into_owned()
        }));
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_were_written_and_differ_where_they_differ() {
        let keys: [&[Option<&str>]; 6] = [
            &[None],
            &[Some("")],
            &[Some("a"), Some("bc")],
            &[Some("ab"), Some("c")],
            &[None, Some("\u{0}\u{1}")],
            &[Some("\u{0}"), None],
        ];
        let mut seen = std::collections::BTreeSet::new();
        for key in keys {
            let mut written = Vec::new();
            for text in key {
                write(*text, &mut written);
            }
            let expected: Key = key.iter().map(|text| text.map(str::to_string)).collect();
            assert_eq!(read(&written), expected);
            assert!(seen.insert(written));
        }
    }
}
