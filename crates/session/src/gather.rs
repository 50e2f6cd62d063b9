//! One scan for any number of questions: what they need of the rows, taken together.

use crate::{
    groups::{Grouping, Key},
    rows::{
        Hands, Rows,
        numbers::{self, Collected, Numbers, Store},
        values::{Values, Wholes},
    },
    source::{Batch, Cells, Kind, Lost, Source, Visitor, Wanted},
};
use equipoise_core::coins::Coins;
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

/// What a question needs of the rows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Need {
    /// How many records there are.
    Records,
    /// How many fields of a column are not empty, or can be read as a whole type.
    Present(Wanted),
    /// All numbers of a column.
    Floats(usize),
    /// All values of a column of a whole type.
    Wholes(Wanted),
    /// Each text of a column, or each value of a whole type, and how many records have it; empty fields are one more.
    Tally(Wanted),
    /// The same for each group of records that agree in these columns.
    Grouped {
        /// The columns whose texts, or values of a whole type, are the key.
        by: Vec<Wanted>,
        /// What is needed of each group.
        need: Box<Need>,
    },
}

impl Need {
    /// The cells that it is found in, keys aside.
    pub fn wanted(&self) -> Option<Wanted> {
        match self {
            Self::Records => None,
            &Self::Present(wanted) | &Self::Tally(wanted) | &Self::Wholes(wanted) => Some(wanted),
            &Self::Floats(column) => Some(Wanted { column, kind: Kind::Float }),
            Self::Grouped { need, .. } => need.wanted(),
        }
    }

    /// All cells that it needs.
    pub fn all_wanted(&self) -> impl Iterator<Item = Wanted> {
        self.wanted().into_iter().chain(self.keys())
    }

    /// The cells of its key.
    pub fn keys(&self) -> impl Iterator<Item = Wanted> {
        let by: &[Wanted] = match self {
            Self::Grouped { by, .. } => by,
            _ => &[],
        };
        by.iter().copied()
    }
}

/// What the scan found. Private until a mechanism has answered from it.
#[derive(Default)]
pub(crate) struct Gathered<'a> {
    records: u64,
    present: Few<u64>,
    floats: Few<Numbers<'a>>,
    wholes: Few<Wholes>,
    tallies: Few<Tally>,
    groups: BTreeMap<Vec<Wanted>, BTreeMap<Key, Gathered<'static>>>,
}

/// Something about each of a few columns. There is one of these for each group, and there may be millions of groups, which
/// a map would make ten times as large.
struct Few<T>(Vec<(usize, T)>);

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> Few<T> {
    fn get(&self, column: usize) -> Option<&T> {
        self.0.iter().find(|(known, _)| *known == column).map(|(_, found)| found)
    }

    fn of(&mut self, column: usize) -> &mut T {
        let known = self.0.iter().position(|(known, _)| *known == column);
        let place = known.unwrap_or_else(|| {
            self.0.reserve_exact(1);
            self.0.push((column, T::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }
}

/// How many records have each text or each whole number, and how many have none.
#[derive(Default)]
pub(crate) struct Tally {
    texts: HashMap<Box<str>, u64>,
    wholes: HashMap<i64, u64>,
    empty: u64,
}

impl Tally {
    pub fn add(&mut self, text: Option<&str>, count: u64) {
        let Some(text) = text else {
            self.empty += count;
            return;
        };
        // Looked up by reference first, because most texts have been seen before.
        match self.texts.get_mut(text) {
            Some(seen) => *seen += count,
            None => {
                self.texts.insert(text.into(), count);
            }
        }
    }

    pub fn add_whole(&mut self, whole: Option<i64>) {
        match whole {
            None => self.empty += 1,
            Some(whole) => *self.wholes.entry(whole).or_default() += 1,
        }
    }

    /// Take over what another thread has counted, whole numbers as the texts of their type.
    fn take(&mut self, other: Self, kind: Kind) {
        self.empty += other.empty;
        for (text, count) in other.texts {
            self.add(Some(&text), count);
        }
        for (whole, count) in other.wholes {
            self.add(Some(&kind.write(whole)), count);
        }
    }

    /// Count by places first, and look each text up once.
    fn add_coded(&mut self, texts: &[&str], codes: &[Option<u32>]) {
        if texts.len() > codes.len() {
            // Most of a long list is not in this batch.
            let text = |code: &Option<u32>| texts.get((*code)? as usize).copied();
            return codes.iter().for_each(|code| self.add(text(code), 1));
        }
        // A place for each text, and one for rows without.
        let mut counts = vec![0u64; texts.len() + 1];
        for code in codes {
            let place = code.map_or(texts.len(), |code| code as usize);
            counts[place.min(texts.len())] += 1;
        }
        self.empty += counts[texts.len()];
        for (text, &count) in texts.iter().zip(&counts).filter(|&(_, &count)| count > 0) {
            self.add(Some(text), count);
        }
    }
}

impl<'a> Gathered<'a> {
    /// Scan the source once for all needs of these rows, on as many threads as there are hands.
    pub fn scan<C: Coins>(
        source: &'a dyn Source,
        rows: &Rows,
        needs: &[Need],
        hands: Hands<'_, C>,
    ) -> Result<Self, Lost> {
        let mut found = Gathered::default();
        let mut scanned: Vec<Need> = Vec::new();
        for need in needs {
            let resident = need.wanted().filter(|_| matches!(need, Need::Floats(_)) && rows.are_all());
            match (need, resident.and_then(|wanted| source.resident(wanted))) {
                (&Need::Floats(column), Some(rows)) => {
                    *found.floats.of(column) = Numbers::Here(Cow::Borrowed(rows));
                }
                _ if scanned.contains(need) => {}
                _ => scanned.push(need.clone()),
            }
        }
        if !scanned.is_empty() {
            found.read(source, rows, &scanned, hands)?;
        }
        Ok(found)
    }

    fn read<C: Coins>(
        &mut self,
        source: &dyn Source,
        rows: &Rows,
        needs: &[Need],
        hands: Hands<'_, C>,
    ) -> Result<(), Lost> {
        let mut wanted: Vec<Wanted> = needs.iter().flat_map(Need::all_wanted).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let store = Store::new(numbers::MEMORY);
        let mut workers: Vec<Worker> =
            (0..hands.count()).map(|_| Worker::new(needs, &wanted, &store)).collect();
        let mut visitors: Vec<&mut dyn Visitor> =
            workers.iter_mut().map(|worker| worker as &mut dyn Visitor).collect();
        rows.scan(source, &wanted, &mut visitors, hands)?;
        for worker in workers {
            self.take(worker);
        }
        Ok(())
    }

    fn take(&mut self, worker: Worker) {
        self.records += worker.records;
        for part in worker.parts {
            self.put(&part.need, part.found);
        }
        for grouping in worker.groupings {
            let groups = self.groups.entry(grouping.by().to_vec()).or_default();
            grouping.finish(|key, need, found| groups.entry(key).or_default().put(need, found));
        }
    }

    /// Add what was found to what is there.
    fn put(&mut self, need: &Need, found: Found) {
        match (need, found) {
            (Need::Records, Found::Count(count)) => self.records += count,
            (Need::Present(wanted), Found::Count(count)) => {
                *self.present.of(wanted.column) += count;
            }
            (Need::Floats(column), Found::Floats(rows)) => {
                self.floats.of(*column).take(rows);
            }
            (Need::Floats(column), Found::List(rows)) => {
                self.floats.of(*column).extend(rows);
            }
            (Need::Wholes(wanted), Found::Wholes(rows, nulls)) => {
                let all = self.wholes.of(wanted.column);
                all.numbers.take(rows);
                all.nulls += nulls;
            }
            (Need::Wholes(wanted), Found::WholeList(rows, nulls)) => {
                let all = self.wholes.of(wanted.column);
                all.numbers.extend(rows);
                all.nulls += nulls;
            }
            (Need::Tally(wanted), Found::Tally(tally)) => {
                self.tallies.of(wanted.column).take(tally, wanted.kind);
            }
            _ => unreachable!("a part finds what it needs"),
        }
    }

    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How many fields of the column are not empty.
    pub fn present(&self, column: usize) -> u64 {
        self.present.get(column).copied().unwrap_or_default()
    }

    /// All numbers of the column, not-a-number where there was none.
    fn floats(&self, column: usize) -> &Numbers<'a> {
        self.floats.get(column).unwrap_or(&Numbers::Here(Cow::Borrowed(&[])))
    }

    /// All rows of the column that a need is about, as it was read.
    pub fn values(&self, need: &Need) -> Values<'_, 'a> {
        match need {
            &Need::Floats(column) => Values::Floats(self.floats(column)),
            Need::Wholes(wanted) => Values::Wholes(wanted.kind, self.wholes.get(wanted.column)),
            _ => unreachable!("values of numbers or whole types"),
        }
    }

    /// Each text of the column and how many records have it.
    pub fn texts(&self, column: usize) -> impl Iterator<Item = (&str, u64)> + Clone {
        let tally = self.tallies.get(column);
        tally.into_iter().flat_map(|tally| tally.texts.iter().map(|(text, &count)| (&**text, count)))
    }

    /// How many records have this text in the column.
    pub fn with_text(&self, column: usize, text: &str) -> u64 {
        self.tallies.get(column).and_then(|tally| tally.texts.get(text)).copied().unwrap_or_default()
    }

    /// How many records have no text in the column.
    pub fn empty(&self, column: usize) -> u64 {
        self.tallies.get(column).map_or(0, |tally| tally.empty)
    }

    /// What was found in each group of records that agree in these columns, in the order of their keys.
    pub fn groups(&self, by: &[Wanted]) -> impl Iterator<Item = (&Key, &Gathered<'static>)> {
        self.groups.get(by).into_iter().flatten()
    }

    /// What was found in the group of this key, if a record has it.
    pub fn group(&self, by: &[Wanted], key: &Key) -> Option<&Gathered<'static>> {
        self.groups.get(by)?.get(key)
    }
}

struct Worker {
    records: u64,
    parts: Vec<Part>,
    groupings: Vec<Grouping>,
    /// Room for the whole numbers of a batch.
    written: Vec<i64>,
}

struct Part {
    need: Need,
    /// The place of its cells in a batch.
    cells: usize,
    found: Found,
}

/// What a part of the rows holds.
pub(crate) enum Found {
    Count(u64),
    Floats(Collected<f64>),
    List(Vec<f64>),
    /// Whole numbers, and how many rows have none.
    Wholes(Collected<i64>, u64),
    WholeList(Vec<i64>, u64),
    Tally(Tally),
}

impl Worker {
    fn new(needs: &[Need], wanted: &[Wanted], store: &Arc<Store>) -> Self {
        let part = |need: &Need| {
            let cells = wanted.iter().position(|&one| Some(one) == need.wanted())?;
            let found = match need {
                Need::Floats(_) => Found::Floats(Collected::new(store)),
                Need::Wholes(_) => Found::Wholes(Collected::new(store), 0),
                Need::Tally(_) => Found::Tally(Tally::default()),
                Need::Present(_) => Found::Count(0),
                // All records are counted once for all; groups have a place of their own.
                Need::Records | Need::Grouped { .. } => return None,
            };
            Some(Part { need: need.clone(), cells, found })
        };
        let parts = needs.iter().filter_map(part).collect();
        let mut groupings: Vec<Grouping> = Vec::new();
        for need in needs {
            let Need::Grouped { by, need } = need else { continue };
            let place = groupings.iter().position(|grouping| grouping.by() == by).unwrap_or_else(|| {
                groupings.push(Grouping::new(by, wanted));
                groupings.len() - 1
            });
            groupings[place].serve(need, wanted);
        }
        Self { records: 0, parts, groupings, written: Vec::new() }
    }
}

impl Visitor for Worker {
    fn batch(&mut self, batch: Batch<'_>) {
        self.records += batch.rows as u64;
        for part in &mut self.parts {
            match (&mut part.found, &batch.cells[part.cells]) {
                (Found::Count(count), Cells::Texts(texts)) => {
                    *count += texts.iter().filter(|text| text.is_some()).count() as u64;
                }
                (Found::Count(count), Cells::Coded { codes, .. }) => {
                    *count += codes.iter().filter(|code| code.is_some()).count() as u64;
                }
                (Found::Count(count), Cells::Integers(cells)) => {
                    *count += cells.iter().flatten().count() as u64;
                }
                (Found::Floats(rows), Cells::Floats(cells)) => rows.extend(cells),
                (Found::Wholes(rows, nulls), Cells::Integers(cells)) => {
                    self.written.clear();
                    self.written.extend(cells.iter().flatten());
                    *nulls += (cells.len() - self.written.len()) as u64;
                    rows.extend(&self.written);
                }
                (Found::Tally(tally), Cells::Integers(cells)) => {
                    cells.iter().for_each(|&whole| tally.add_whole(whole));
                }
                (Found::Tally(tally), Cells::Texts(texts)) => {
                    texts.iter().for_each(|text| tally.add(*text, 1));
                }
                (Found::Tally(tally), Cells::Coded { texts, codes }) => tally.add_coded(texts, codes),
                _ => panic!("a source hands over the kinds that were wanted"),
            }
        }
        for grouping in &mut self.groupings {
            grouping.batch(batch);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
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

    /// Rows of two columns in memory, one of numbers and one of texts.
    pub(crate) struct Memory {
        columns: Vec<String>,
        numbers: Vec<f64>,
        texts: Vec<Option<String>>,
        pub readable: bool,
    }

    impl Memory {
        pub fn new(numbers: Vec<f64>, texts: &[&str]) -> Self {
            let text = |row: usize| texts.get(row % texts.len().max(1)).filter(|text| !text.is_empty());
            let texts = (0..numbers.len()).map(|row| text(row).map(ToString::to_string)).collect();
            Self { columns: vec!["salary".into(), "town".into()], numbers, texts, readable: true }
        }
    }

    fn text(column: usize) -> Wanted {
        Wanted { column, kind: Kind::Text }
    }

    /// All rows, on this many threads.
    pub(crate) fn all_rows<'a>(source: &'a dyn Source, needs: &[Need], threads: usize) -> Gathered<'a> {
        let mut coins: Vec<OsCoins> = (0..threads).map(|_| OsCoins::new().unwrap()).collect();
        let hands = Hands::<OsCoins>::Several(&mut coins);
        Gathered::scan(source, &Rows::default(), needs, hands).expect("memory can be read")
    }

    /// The numbers of a column, sorted.
    fn sorted(found: &Gathered<'_>) -> Vec<f64> {
        let mut floats = Vec::new();
        found.floats(0).each(|rows| floats.extend_from_slice(rows));
        floats.sort_unstable_by(f64::total_cmp);
        floats
    }

    impl Source for Memory {
        fn columns(&self) -> &[String] {
            &self.columns
        }

        fn scan(&self, wanted: &[Wanted], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
            if !self.readable {
                return Err(Lost);
            }
            let texts: Vec<Option<&str>> = self.texts.iter().map(Option::as_deref).collect();
            let spelt = |number: &f64| if number.is_nan() { None } else { Some(number.to_string()) };
            let spelt: Vec<Option<String>> = self.numbers.iter().map(spelt).collect();
            let spelt: Vec<Option<&str>> = spelt.iter().map(Option::as_deref).collect();
            let whole = |wanted: &Wanted| -> Vec<Option<i64>> {
                #[expect(clippy::cast_possible_truncation, reason = "stops at the ends of 64 bits")]
                let whole = |number: &f64| (*number * wanted.kind.units() as f64) as i64;
                let whole = |number: &f64| (!number.is_nan()).then(|| whole(number));
                self.numbers.iter().map(whole).collect()
            };
            let wholes: Vec<Vec<Option<i64>>> = wanted.iter().map(whole).collect();
            let many = visitors.len();
            for (start, visitor) in visitors.iter_mut().enumerate() {
                for row in (start..self.numbers.len()).step_by(many) {
                    let cells: Vec<Cells> = wanted
                        .iter()
                        .zip(&wholes)
                        .map(|(wanted, wholes)| match wanted.kind {
                            Kind::Float => Cells::Floats(&self.numbers[row..=row]),
                            kind if kind.is_whole() => Cells::Integers(&wholes[row..=row]),
                            _ if wanted.column == 0 => Cells::Texts(&spelt[row..=row]),
                            _ => Cells::Texts(&texts[row..=row]),
                        })
                        .collect();
                    visitor.batch(Batch { rows: 1, cells: &cells });
                }
            }
            Ok(())
        }
    }

    #[test]
    fn one_scan_serves_every_need_on_any_number_of_threads() {
        let memory = Memory::new(vec![1.0, f64::NAN, 3.0, 4.0, 5.0], &["a", "b", "", "b"]);
        let needs =
            [Need::Records, Need::Floats(0), Need::Present(text(1)), Need::Tally(text(1)), Need::Floats(0)];
        for threads in [1, 2, 7] {
            let found = all_rows(&memory, &needs, threads);
            assert_eq!((found.records(), found.present(1), found.empty(1)), (5, 4, 1));
            let floats: Vec<u64> = sorted(&found).iter().map(|row| row.to_bits()).collect();
            assert_eq!(floats, [1.0f64, 3.0, 4.0, 5.0, f64::NAN].map(f64::to_bits));
            let mut texts: Vec<(&str, u64)> = found.texts(1).collect();
            texts.sort_unstable();
            assert_eq!(texts, [("a", 2), ("b", 2)]);
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
            let shown: Vec<_> =
                found.groups(&[text(1)]).map(|(key, group)| (key[0].as_deref(), group.records())).collect();
            assert_eq!(shown, [(None, 1), (Some("a"), 2), (Some("b"), 2)]);
            let group = found.group(&[text(1)], &vec![Some("a".into())]).unwrap();
            assert_eq!(sorted(group), [1.0, 5.0]);
            assert_eq!(group.texts(1).collect::<Vec<_>>(), [("a", 2)]);
            assert!(found.groups(&[text(0)]).next().is_none());
        }
    }

    #[test]
    fn coded_texts_are_counted_like_texts() {
        let texts = ["a", "b", "c"];
        let codes = [Some(1), None, Some(0), Some(1), Some(1)];
        for few in [1, 2, 5] {
            let (mut plain, mut coded) = (Tally::default(), Tally::default());
            for code in &codes[..few] {
                plain.add(code.map(|at| texts[at as usize]), 1);
            }
            coded.add_coded(&texts, &codes[..few]);
            assert_eq!((plain.texts, plain.empty), (coded.texts, coded.empty));
        }
        let need = Need::Present(text(0));
        let grouped = Need::Grouped { by: vec![text(0)], need: Box::new(Need::Records) };
        let wanted = [need.wanted().unwrap()];
        let mut worker = Worker::new(&[need, grouped], &wanted, &Store::new(0));
        worker.batch(Batch { rows: 5, cells: &[Cells::Coded { texts: &texts, codes: &codes }] });
        worker.batch(Batch { rows: 2, cells: &[Cells::Texts(&[Some("b"), Some("c")])] });
        assert!(matches!(worker.parts[0].found, Found::Count(6)));
        let mut found = Gathered::default();
        found.take(worker);
        let groups: Vec<_> =
            found.groups(&[text(0)]).map(|(key, group)| (key[0].as_deref(), group.records())).collect();
        assert_eq!(groups, [(None, 1), (Some("a"), 1), (Some("b"), 4), (Some("c"), 1)]);
    }
}
