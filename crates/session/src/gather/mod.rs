//! One scan for any number of questions: what they need of the rows, taken together.

pub(crate) mod groups;
mod row_facts;

use crate::{
    need::Need,
    rows::{
        Rows, ScanKeys,
        cells::{self, CellTable},
        numbers::{self, Collected, Numbers, Store},
        values::{Pairs, Table, Values, Wholes},
    },
    source::{Batch, Cells, ColumnRead, ColumnType, Source, Visitor},
    unanswered::Unanswered,
};
use groups::{GroupQuery, Grouping, Groups, Tally};
use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

/// How many bytes of what is found stay in memory. Public and fixed but in tests.
#[derive(Clone, Copy)]
struct Memory {
    numbers: u64,
    groups: u64,
}

const MEMORY: Memory = Memory { numbers: numbers::MEMORY, groups: groups::MEMORY };

/// What the scan found. Private until a mechanism has answered from it.
#[derive(Default)]
pub(crate) struct ScanResult<'a> {
    records: u64,
    present: BTreeMap<usize, u64>,
    floats: BTreeMap<usize, Numbers<'a>>,
    wholes: BTreeMap<usize, Wholes<'a>>,
    cells: BTreeMap<usize, CellTable>,
    /// Both numbers of a record one after the other, by both columns.
    pairs: BTreeMap<[usize; 2], Numbers<'a>>,
    /// All numbers of a record one after the other, by all columns.
    tables: BTreeMap<Vec<usize>, Numbers<'a>>,
    /// Of one group only; of all records they are groups.
    tallies: BTreeMap<usize, Tally>,
    groups: Vec<Groups>,
}

impl<'a> ScanResult<'a> {
    /// Scan the source once for all needs of these rows, on as many threads as there are hands.
    pub fn scan(
        source: &'a dyn Source,
        rows: &Rows,
        needs: &[Need],
        hands: &ScanKeys,
    ) -> Result<Self, Unanswered> {
        Self::scan_within(source, rows, needs, hands, MEMORY)
    }

    fn scan_within(
        source: &'a dyn Source,
        rows: &Rows,
        needs: &[Need],
        hands: &ScanKeys,
        memory: Memory,
    ) -> Result<Self, Unanswered> {
        let mut found = ScanResult::default();
        let mut scanned: Vec<Need> = Vec::new();
        for need in needs {
            let lent = |wanted: &ColumnRead| {
                matches!(need, Need::Floats(_)) && rows.are_all() && rows.derived().is_of_file(wanted.column)
            };
            let resident = need.wanted().filter(lent);
            match (need, resident.and_then(|wanted| source.resident(wanted))) {
                (Need::Floats(_), Some(rows)) => found.lend_floats(need, rows),
                _ if scanned.contains(need) => {}
                _ => scanned.push(need.clone()),
            }
        }
        if !scanned.is_empty() {
            found.read(source, rows, &scanned, hands, memory)?;
        }
        Ok(found)
    }

    fn read(
        &mut self,
        source: &dyn Source,
        rows: &Rows,
        needs: &[Need],
        hands: &ScanKeys,
        memory: Memory,
    ) -> Result<(), Unanswered> {
        // Which rows of a person are drawn depends on their cells as texts.
        let read_as = |key: ColumnRead| {
            let whole = rows.bound().is_none()
                && rows.derived().is_of_file(key.column)
                && key.kind == ColumnType::Text
                && source.texts_are_wholes(key.column);
            if whole { ColumnRead { kind: ColumnType::Integer, ..key } } else { key }
        };
        let searches = searches(needs, read_as, hands.table, memory.groups / hands.count as u64);
        let keys = searches.iter().flat_map(|search| search.read_as().iter().copied());
        let mut wanted: Vec<ColumnRead> = needs.iter().flat_map(beside_keys).chain(keys).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let store = Store::new(memory.numbers);
        let mut workers: Vec<Worker> =
            (0..hands.count).map(|_| Worker::new(needs, &searches, &wanted, &store)).collect();
        let mut visitors: Vec<&mut dyn Visitor> =
            workers.iter_mut().map(|worker| worker as &mut dyn Visitor).collect();
        rows.scan(source, &wanted, &mut visitors, hands)?;
        self.take(workers)
    }

    fn take(&mut self, workers: Vec<Worker>) -> Result<(), Unanswered> {
        let mut groupings: Vec<Vec<Grouping>> = Vec::new();
        for worker in workers {
            self.records += worker.records;
            for part in worker.parts {
                self.put(&part.need, part.found);
            }
            groupings.resize_with(worker.groupings.len(), Vec::new);
            for (all, one) in groupings.iter_mut().zip(worker.groupings) {
                all.push(one);
            }
        }
        self.groups = groupings.into_iter().map(Grouping::finish).collect::<Result<_, Unanswered>>()?;
        Ok(())
    }

    /// Add what was found to what is there.
    pub fn put(&mut self, need: &Need, found: Partial) {
        match (need, found) {
            (Need::Records, Partial::Count(count)) => self.records += count,
            (Need::Present(wanted), Partial::Count(count)) => {
                *self.present.entry(wanted.column).or_default() += count;
            }
            (Need::Floats(column), Partial::Floats(rows)) => {
                self.floats.entry(*column).or_default().take(rows);
            }
            (Need::Wholes(wanted), Partial::Wholes(rows, nulls)) => {
                let all = self.wholes.entry(wanted.column).or_default();
                all.numbers.take(rows);
                all.nulls += nulls;
            }
            (Need::Cells(wanted), Partial::Cells(table)) => {
                self.cells.entry(wanted.column).or_default().take(table);
            }
            (Need::Pairs(x, y), Partial::Pairs(rows)) => {
                self.pairs.entry([x.column, y.column]).or_default().take(rows);
            }
            (Need::Table(columns), Partial::Table(rows)) => {
                self.tables.entry(places_of(columns)).or_default().take(rows);
            }
            (Need::Tally(wanted), Partial::Tally(tally)) => {
                self.tallies.entry(wanted.column).or_default().take(tally);
            }
            _ => unreachable!("a part finds what it needs"),
        }
    }

    /// Numbers that somebody else keeps, or both numbers of each record.
    pub fn lend_floats(&mut self, need: &Need, rows: &'a [f64]) {
        let rows = Numbers::InMemory(Cow::Borrowed(rows));
        match need {
            Need::Floats(column) => self.floats.insert(*column, rows),
            Need::Pairs(x, y) => self.pairs.insert([x.column, y.column], rows),
            _ => unreachable!("floats are needed"),
        };
    }

    /// Whole numbers that somebody else keeps.
    pub fn lend_wholes(&mut self, need: &Need, rows: &'a [i64], nulls: u64) {
        let Need::Wholes(wanted) = need else { unreachable!("whole numbers are needed") };
        let numbers = Numbers::InMemory(Cow::Borrowed(rows));
        self.wholes.insert(wanted.column, Wholes { numbers, nulls });
    }

    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How many fields of the column are not empty.
    pub fn present(&self, column: usize) -> u64 {
        self.present.get(&column).copied().unwrap_or_default()
    }

    /// All numbers of the column, not-a-number where there was none.
    fn floats(&self, column: usize) -> &Numbers<'a> {
        self.floats.get(&column).unwrap_or(&Numbers::InMemory(Cow::Borrowed(&[])))
    }

    /// How many rows of the column lie in each cell, where that was asked for.
    fn counted_cells(&self, column: usize) -> cells::Cells {
        self.cells.get(&column).unwrap_or(&CellTable::default()).cells(cells::FINE)
    }

    /// All rows of the column that a need is about, as it was read.
    pub fn values(&self, need: &Need) -> Values<'_, 'a> {
        match need {
            &Need::Floats(column) => Values::Floats(self.floats(column)),
            Need::Wholes(wanted) => Values::Wholes(wanted.kind, self.wholes.get(&wanted.column)),
            _ => unreachable!("values of numbers or whole types"),
        }
    }

    /// All records that have a number in both columns of a need.
    pub fn pairs(&self, need: &Need) -> Pairs<'_, 'a> {
        let Need::Pairs(x, y) = need else { unreachable!("pairs are needed") };
        Pairs(self.pairs.get(&[x.column, y.column]))
    }

    /// All records that have a number in every column of a need.
    pub fn table(&self, need: &Need) -> Table<'_, 'a> {
        let Need::Table(columns) = need else { unreachable!("a table is needed") };
        Table { numbers: self.tables.get(&places_of(columns)), width: columns.len() }
    }

    /// Hand over each text of the column, or value of a type as the text that stands for it, and how many records have it;
    /// the empty text stands for records that have none.
    pub fn each_text(&self, wanted: ColumnRead, mut visit: impl FnMut(&str, u64)) {
        if let Some(tally) = self.tallies.get(&wanted.column) {
            return tally.each(wanted.kind, visit);
        }
        let Some(groups) = self.groups(&[wanted]) else { return };
        groups.each_count(&Need::Records, |key, count| {
            let text = groups.read(key).pop().flatten();
            visit(text.as_deref().unwrap_or_default(), count);
        });
    }

    /// How many records have each of these texts in the column.
    pub fn with_texts(&self, wanted: ColumnRead, texts: &[String]) -> Vec<u64> {
        if let Some(tally) = self.tallies.get(&wanted.column) {
            return texts.iter().map(|text| tally.count(wanted.kind, text)).collect();
        }
        let Some(groups) = self.groups(&[wanted]) else { return vec![0; texts.len()] };
        let keys: Vec<Vec<u8>> = texts.iter().map(|text| groups.written(&vec![Some(text.clone())])).collect();
        groups.counts_of(&Need::Records, &keys)
    }

    /// The groups of records that agree in these columns; none where nothing was looked for.
    pub fn groups(&self, by: &[ColumnRead]) -> Option<&Groups> {
        self.groups.iter().find(|groups| groups.by() == by)
    }
}

/// What is looked for in groups. A tally of all records is the groups of its column, counted.
fn searches(
    needs: &[Need],
    read_as: impl Fn(ColumnRead) -> ColumnRead,
    key: [u64; 2],
    memory: u64,
) -> Vec<Arc<GroupQuery>> {
    let mut searches: Vec<GroupQuery> = Vec::new();
    for need in needs {
        let (by, need) = match need {
            Need::Grouped { by, need } => (by.as_slice(), &**need),
            Need::Tally(wanted) => (std::slice::from_ref(wanted), &Need::Records),
            _ => continue,
        };
        let place = searches.iter().position(|search| search.by() == by).unwrap_or_else(|| {
            searches.push(GroupQuery::new(by, &read_as, key));
            searches.len() - 1
        });
        searches[place].serve(need);
    }
    let many = searches.len().max(1) as u64;
    searches.into_iter().map(|search| Arc::new(search.within(memory / many))).collect()
}

/// The cells that a need is found in, keys of groups aside.
fn beside_keys(need: &Need) -> Vec<ColumnRead> {
    match need {
        Need::Tally(_) => Vec::new(),
        Need::Grouped { need, .. } => need.all_wanted().collect(),
        need => need.all_wanted().collect(),
    }
}

struct Worker {
    records: u64,
    parts: Vec<Part>,
    groupings: Vec<Grouping>,
    /// Room for the whole numbers of a batch, and for pairs.
    written: Vec<i64>,
    paired: Vec<f64>,
}

struct Part {
    need: Need,
    /// The places of its cells in a batch: those of its column, or of all its columns.
    cells: Vec<usize>,
    found: Partial,
}

/// What a part of the rows holds.
pub(crate) enum Partial {
    Count(u64),
    Floats(Collected<f64>),
    /// Whole numbers, and how many rows have none.
    Wholes(Collected<i64>, u64),
    Cells(CellTable),
    /// Both numbers of a record one after the other.
    Pairs(Collected<f64>),
    /// All numbers of a record one after the other.
    Table(Collected<f64>),
    Tally(Tally),
}

impl Partial {
    /// Nothing found yet.
    pub fn new(need: &Need, store: &Arc<Store>) -> Self {
        match need {
            Need::Floats(_) => Self::Floats(Collected::new(store)),
            Need::Pairs(..) => Self::Pairs(Collected::of_rows(store, 2)),
            Need::Table(columns) => Self::Table(Collected::of_rows(store, columns.len())),
            Need::Wholes(_) => Self::Wholes(Collected::new(store), 0),
            Need::Cells(_) => Self::Cells(CellTable::default()),
            Need::Tally(_) => Self::Tally(Tally::default()),
            Need::Records | Need::Present(_) => Self::Count(0),
            Need::Grouped { .. } => unreachable!("groups have a place of their own"),
        }
    }
}

impl Worker {
    fn new(needs: &[Need], searches: &[Arc<GroupQuery>], wanted: &[ColumnRead], store: &Arc<Store>) -> Self {
        let part = |need: &Need| {
            // All records are counted once for all; tallies are groups, which have a place of their own.
            if matches!(need, Need::Records | Need::Tally(_) | Need::Grouped { .. }) {
                return None;
            }
            let place = |read: ColumnRead| wanted.iter().position(|&one| one == read);
            let cells: Vec<usize> = need.all_wanted().map(place).collect::<Option<_>>()?;
            Some(Part { need: need.clone(), cells, found: Partial::new(need, store) })
        };
        Self {
            records: 0,
            parts: needs.iter().filter_map(part).collect(),
            groupings: searches.iter().map(|search| Grouping::new(search, wanted)).collect(),
            written: Vec::new(),
            paired: Vec::new(),
        }
    }
}

impl Visitor for Worker {
    fn batch(&mut self, batch: Batch<'_>) {
        self.records += batch.rows as u64;
        for part in &mut self.parts {
            match (&mut part.found, &batch.cells[part.cells[0]]) {
                (Partial::Count(count), Cells::Texts(texts)) => {
                    *count += texts.iter().filter(|text| text.is_some()).count() as u64;
                }
                (Partial::Count(count), Cells::Coded { codes, .. }) => {
                    *count += codes.iter().filter(|code| code.is_some()).count() as u64;
                }
                (Partial::Count(count), Cells::Integers(cells)) => {
                    *count += cells.iter().flatten().count() as u64;
                }
                (Partial::Floats(rows), Cells::Floats(cells)) => rows.extend(cells),
                (Partial::Pairs(rows), cells) => {
                    let second = &batch.cells[part.cells[1]];
                    let (x, y) = (part.need.wanted(), part.need.second());
                    self.paired.clear();
                    let both = (0..batch.rows).filter_map(|row| pair([(cells, x), (second, y)], row));
                    self.paired.extend(both.flatten());
                    rows.extend(&self.paired);
                }
                (Partial::Table(rows), _) => {
                    self.paired.clear();
                    let columns = part.need.table().iter().zip(&part.cells);
                    let columns: Vec<(&Cells<'_>, Option<ColumnRead>)> =
                        columns.map(|(&read, &place)| (&batch.cells[place], Some(read))).collect();
                    for row in 0..batch.rows {
                        let complete = self.paired.len();
                        let numbers = columns.iter().map_while(|&column| number(column, row));
                        self.paired.extend(numbers);
                        if self.paired.len() < complete + columns.len() {
                            self.paired.truncate(complete);
                        }
                    }
                    rows.extend(&self.paired);
                }
                (Partial::Cells(table), Cells::Floats(cells)) => {
                    table.extend(cells::FINE, cells.iter().copied());
                }
                (Partial::Cells(table), Cells::Integers(cells)) => {
                    let kind = part.need.wanted().expect("cells of a column").kind;
                    table.extend(cells::FINE, cells.iter().flatten().map(|&whole| kind.number(whole)));
                }
                (Partial::Wholes(rows, nulls), Cells::Integers(cells)) => {
                    self.written.clear();
                    self.written.extend(cells.iter().flatten());
                    *nulls += (cells.len() - self.written.len()) as u64;
                    rows.extend(&self.written);
                }
                _ => panic!("a source hands over the kinds that were wanted"),
            }
        }
        for grouping in &mut self.groupings {
            grouping.batch(batch);
        }
    }
}

/// Both numbers of a row, where it has both.
fn pair(columns: [(&Cells<'_>, Option<ColumnRead>); 2], row: usize) -> Option<[f64; 2]> {
    let [x, y] = columns;
    Some([number(x, row)?, number(y, row)?])
}

/// The number of a row, where it has one.
fn number((cells, read): (&Cells<'_>, Option<ColumnRead>), row: usize) -> Option<f64> {
    match cells {
        Cells::Floats(cells) => Some(cells[row]).filter(|number| !number.is_nan()),
        Cells::Integers(cells) => Some(read?.kind.number(cells[row]?)),
        _ => panic!("a source hands over the kinds that were wanted"),
    }
}

fn places_of(columns: &[ColumnRead]) -> Vec<usize> {
    columns.iter().map(|read| read.column).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    pub(crate) use crate::audits::Memory;
    use crate::need::Key;
    use crate::source::Lost;
    use equipoise_core::coins::Words;
    use equipoise_entropy::OsCoins;

    /// The same words in every run (SplitMix64), so that no test fails by chance.
    pub(crate) struct FixedWords(pub u64);

    impl Words for FixedWords {
        fn word(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }
    }

    fn text(column: usize) -> ColumnRead {
        ColumnRead { column, kind: ColumnType::Text }
    }

    /// All rows, on this many threads.
    pub(crate) fn all_rows<'a>(source: &'a dyn Source, needs: &[Need], threads: usize) -> ScanResult<'a> {
        within(source, needs, threads, MEMORY)
    }

    fn within<'a>(
        source: &'a dyn Source,
        needs: &[Need],
        threads: usize,
        memory: super::Memory,
    ) -> ScanResult<'a> {
        let hands = ScanKeys::new(threads, &mut OsCoins::new().unwrap());
        ScanResult::scan_within(source, &Rows::default(), needs, &hands, memory).expect("memory can be read")
    }

    fn texts(found: &ScanResult<'_>) -> Vec<(String, u64)> {
        let mut texts = Vec::new();
        found.each_text(text(1), |text, count| texts.push((text.to_string(), count)));
        texts.sort_unstable();
        texts
    }

    fn counts(groups: &Groups) -> Vec<(Key, u64)> {
        let mut counts = Vec::new();
        groups.each_count(&Need::Records, |key, count| counts.push((groups.read(key), count)));
        counts.sort_unstable();
        counts
    }

    /// The numbers of a column, sorted.
    fn sorted(found: &ScanResult<'_>) -> Vec<f64> {
        let mut floats = Vec::new();
        found.floats(0).each(|rows| floats.extend_from_slice(rows));
        floats.sort_unstable_by(f64::total_cmp);
        floats
    }

    #[test]
    fn one_scan_serves_every_need_on_any_number_of_threads() {
        let memory = Memory::new(vec![1.0, f64::NAN, 3.0, 4.0, 5.0], &["a", "b", "", "b"]);
        let needs =
            [Need::Records, Need::Floats(0), Need::Present(text(1)), Need::Tally(text(1)), Need::Floats(0)];
        for threads in [1, 2, 7] {
            let found = all_rows(&memory, &needs, threads);
            assert_eq!((found.records(), found.present(1)), (5, 4));
            let floats: Vec<u64> = sorted(&found).iter().map(|row| row.to_bits()).collect();
            assert_eq!(floats, [1.0f64, 3.0, 4.0, 5.0, f64::NAN].map(f64::to_bits));
            assert_eq!(texts(&found), [("", 1), ("a", 2), ("b", 2)].map(|(text, many)| (text.into(), many)));
            let stated = ["b", "z", "a"].map(String::from);
            assert_eq!(found.with_texts(text(1), &stated), [2, 0, 2]);
        }
    }

    #[test]
    fn groups_are_found_in_the_same_scan() {
        let memory = Memory::new(vec![1.0, f64::NAN, 3.0, 4.0, 5.0], &["a", "b", "", "b"]);
        let grouped = |need| Need::Grouped { by: vec![text(1)], need: Box::new(need) };
        let needs = [
            grouped(Need::Records),
            Need::Floats(0),
            grouped(Need::Floats(0)),
            grouped(Need::Tally(text(1))),
        ];
        for threads in [1, 2, 7] {
            let found = all_rows(&memory, &needs, threads);
            assert_eq!((found.records(), found.floats(0).count(true)), (5, 5));
            let groups = found.groups(&[text(1)]).unwrap();
            let expected = [(None, 1), (Some("a"), 2), (Some("b"), 2)];
            assert_eq!(counts(groups), expected.map(|(key, many)| (vec![key.map(String::from)], many)));
            let keys = ["a", "z"].map(|key| groups.written(&vec![Some(key.into())]));
            let mut seen = Vec::new();
            groups.each_of(&keys, |place, group| seen.push((place, sorted(group), texts(group))));
            let of_a = vec![(String::new(), 0), ("a".to_string(), 2)];
            assert_eq!(seen, [(0, vec![1.0, 5.0], of_a), (1, vec![], vec![])]);
            assert!(found.groups(&[text(0)]).is_none());
        }
    }

    #[test]
    fn coded_texts_are_counted_like_texts() {
        let texts = ["a", "b", "c"];
        let codes = [Some(1), None, Some(0), Some(1), Some(1)];
        let need = Need::Present(text(0));
        let grouped = Need::Grouped { by: vec![text(0)], need: Box::new(Need::Records) };
        let wanted = [need.wanted().unwrap()];
        let searches = searches(std::slice::from_ref(&grouped), |column| column, [1, 2], u64::MAX);
        let mut worker = Worker::new(&[need, grouped], &searches, &wanted, &Store::new(0));
        worker.batch(Batch { rows: 5, cells: &[Cells::Coded { texts: &texts, codes: &codes }] });
        worker.batch(Batch { rows: 2, cells: &[Cells::Texts(&[Some("b"), Some("c")])] });
        assert!(matches!(worker.parts[0].found, Partial::Count(6)));
        let mut found = ScanResult::default();
        found.take(vec![worker]).unwrap();
        let expected = [(None, 1), (Some("a"), 1), (Some("b"), 4), (Some("c"), 1)];
        let groups = found.groups(&[text(0)]).unwrap();
        assert_eq!(counts(groups), expected.map(|(key, many)| (vec![key.map(String::from)], many)));
    }

    /// Everything that was found, where each of these keys is asked for.
    fn all_found(found: &ScanResult<'_>, by: &[ColumnRead]) -> Vec<String> {
        let groups = found.groups(by).unwrap();
        let counts = counts(groups);
        let mut keys: Vec<Vec<u8>> = counts.iter().map(|(key, _)| groups.written(key)).collect();
        assert!(counts.iter().all(|(key, _)| groups.read(&groups.written(key)) == *key));
        keys.push(groups.written(&vec![Some("nobody's".into()); by.len()]));
        let mut seen = vec![String::new(); keys.len()];
        groups.each_of(&keys, |place, group| {
            let mut wholes = Vec::new();
            let days = Need::Wholes(ColumnRead { column: 0, kind: ColumnType::Date });
            group.values(&days).each_whole(|some| wholes.extend_from_slice(some));
            wholes.sort_unstable();
            seen[place] = format!(
                "{} {} {:?} {wholes:?} {} {:?}",
                group.records(),
                group.present(1),
                sorted(group),
                group.values(&days).count(true),
                texts(group)
            );
        });
        let again: Vec<u64> = counts.iter().map(|(_, count)| *count).chain([0]).collect();
        assert_eq!(groups.counts_of(&Need::Records, &keys), again);
        seen.extend(counts.iter().map(|count| format!("{count:?}")));
        seen
    }

    #[test]
    fn groups_are_the_same_in_memory_and_in_the_file() {
        let day = ColumnRead { column: 0, kind: ColumnType::Date };
        // One group of many rows, whose numbers are written in several records, and many of few.
        let keys: Vec<String> =
            (0..2000).map(|i| if i % 3 == 0 { "all".into() } else { format!("k{i}") }).collect();
        let keys: Vec<&str> = keys.iter().map(|key| if key.ends_with('7') { "" } else { key }).collect();
        let numbers = (0..40_000).map(|i| if i % 11 == 0 { f64::NAN } else { f64::from(i % 997) }).collect();
        let source = Memory::new(numbers, &keys);
        for by in [vec![text(1)], vec![day], vec![day, text(1)]] {
            let grouped = |need| Need::Grouped { by: by.clone(), need: Box::new(need) };
            let needs = [
                grouped(Need::Floats(0)),
                grouped(Need::Wholes(day)),
                grouped(Need::Tally(text(1))),
                grouped(Need::Records),
                grouped(Need::Present(text(1))),
                Need::Tally(text(1)),
            ];
            let here = within(&source, &needs, 2, MEMORY);
            let (all, tally) = (all_found(&here, &by), texts(&here));
            for (threads, groups) in [(1, 0), (2, 100_000), (3, 600_000)] {
                let apart = within(&source, &needs, threads, super::Memory { numbers: 1000, groups });
                assert!(apart.groups(&by).unwrap().is_apart(), "{groups}");
                assert!(all_found(&apart, &by) == all, "{by:?} {groups}");
                assert!(texts(&apart) == tally, "{groups}");
                let some = ["k1", "all", "nobody's"].map(String::from);
                assert_eq!(apart.with_texts(text(1), &some), here.with_texts(text(1), &some));
            }
        }
    }

    /// A source whose column of days, as it is asked for by its texts, holds whole numbers.
    struct Numbered(Memory);

    impl Source for Numbered {
        fn columns(&self) -> &[String] {
            self.0.columns()
        }

        fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
            let keys = wanted.iter().filter(|read| read.column == 0);
            assert!(keys.into_iter().all(|read| read.kind == ColumnType::Integer));
            self.0.scan(wanted, visitors)
        }

        fn texts_are_wholes(&self, column: usize) -> bool {
            column == 0
        }
    }

    /// Texts of whole numbers are read as such, and a key that is stated in another way is none.
    #[test]
    fn keys_that_are_whole_numbers_are_told_as_their_texts() {
        let numbers =
            || (0..1000).map(|i| if i % 9 == 0 { f64::NAN } else { f64::from(i % 4) - 1.0 }).collect();
        let (as_texts, as_wholes) =
            (Memory::new(numbers(), &["a"]), Numbered(Memory::new(numbers(), &["a"])));
        let needs = [
            Need::Tally(text(0)),
            Need::Grouped { by: vec![text(0), text(1)], need: Box::new(Need::Wholes(as_integer(0))) },
        ];
        let (one, other) = (all_rows(&as_texts, &needs[..1], 2), all_rows(&as_wholes, &needs, 2));
        let keys = |found: &ScanResult<'_>| {
            let mut keys = Vec::new();
            found.each_text(text(0), |key, count| keys.push((key.to_string(), count)));
            keys.sort_unstable();
            keys
        };
        assert_eq!(keys(&one).len(), 5);
        assert_eq!(keys(&one), keys(&other));
        let stated = ["-1", "1", "01", "+1", " 1", "1.0", "", "x"].map(String::from);
        assert_eq!(one.with_texts(text(0), &stated), other.with_texts(text(0), &stated));
        assert_eq!(other.with_texts(text(0), &stated).iter().filter(|count| **count > 0).count(), 2);
        let groups = other.groups(&[text(0), text(1)]).unwrap();
        let key = vec![Some("2".to_string()), Some("a".to_string())];
        groups.each_of(&[groups.written(&key)], |_, group| {
            group
                .values(&Need::Wholes(as_integer(0)))
                .each_whole(|some| assert!(some.iter().all(|&whole| whole == 2)));
        });
        assert_eq!(groups.read(&groups.written(&key)), key);
    }

    fn as_integer(column: usize) -> ColumnRead {
        ColumnRead { column, kind: ColumnType::Integer }
    }
}
