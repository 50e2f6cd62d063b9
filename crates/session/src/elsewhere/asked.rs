//! Facts for groups of records, made of passes; all records are the one group of no columns.

use super::{
    EngineFailure, Pass, PassResult,
    in_order::Looked,
    pass::{Counting, column_of, columns_of},
    windows::WindowSearch,
};
use crate::{
    gather::groups::{read_key, sort_by_key, written_key},
    need::{Key, Need},
    quiet::give_up,
    row_facts::{Around, Ask, GroupFacts, Nulls, RowFacts, bins::Bins, places::Places, steps::Steps},
    rows::cells::{CellLattice, Cells},
    source::ColumnRead,
    unanswered::Unanswered,
};
use equipoise_core::stability::{InOrder, Spacing, Window};
use std::{
    collections::{BTreeMap, BTreeSet},
    slice,
};

/// Whoever runs passes.
pub(crate) type Runs<'e> = &'e dyn Fn(&Pass) -> Result<PassResult, EngineFailure>;

/// What is known of groups is found for so many of them together.
const TOGETHER: usize = 4096;

/// The records of one group, or all of them.
pub(crate) struct Elsewhere<'e> {
    runs: Runs<'e>,
    by: Vec<ColumnRead>,
    key: Vec<u8>,
    known: Vec<(Ask, Fact)>,
}

/// What was asked for.
#[derive(Clone)]
pub(super) enum Fact {
    Count(u64),
    Windows(Vec<Window>),
    Cells(Cells),
    Bins(BTreeMap<i64, u64>),
    Sums(Vec<i128>),
}

/// The groups of all records.
pub(super) struct GroupsElsewhere<'e> {
    runs: Runs<'e>,
    by: Vec<ColumnRead>,
}

impl<'e> Elsewhere<'e> {
    /// All records.
    pub fn new(runs: Runs<'e>) -> Self {
        Self { runs, by: Vec::new(), key: Vec::new(), known: Vec::new() }
    }

    fn groups_of(&self) -> GroupsElsewhere<'e> {
        GroupsElsewhere { runs: self.runs, by: self.by.clone() }
    }

    fn fact(&self, ask: &Ask) -> Fact {
        if let Some((_, fact)) = self.known.iter().find(|(known, _)| known == ask) {
            return fact.clone();
        }
        let keys = slice::from_ref(&self.key);
        self.groups_of().find(keys, slice::from_ref(ask)).remove(0).remove(0)
    }

    /// How many rows lie below a place, and how many at it, of so many.
    pub(super) fn ties(&self, need: &Need, places: &Places, place: i64, rows: u64) -> (u64, u64) {
        let keys = slice::from_ref(&self.key);
        self.groups_of().ties(keys, need, places, &[Tied { group: 0, place, rows }])[0]
    }

    /// How many records of this group have each text of a column.
    fn texts(&self, read: ColumnRead, among: Option<&[String]>) -> BTreeMap<Option<String>, u64> {
        let by: Vec<ColumnRead> = self.by.iter().copied().chain([read]).collect();
        let here = read_key(&self.key, &self.by);
        let with = |text: &String| here.iter().cloned().chain([as_read(text, read)]).collect();
        let keys = match among {
            Some(texts) => Some(texts.iter().map(with).collect()),
            None => (!here.is_empty()).then(|| vec![here.clone()]),
        };
        let groups = GroupsElsewhere { runs: self.runs, by };
        let counts = groups.counted(keys, &Need::Records);
        counts.into_iter().map(|(mut key, (_, count))| (key.pop().flatten(), count)).collect()
    }
}

impl RowFacts for Elsewhere<'_> {
    fn count(&self, need: &Need, nulls: Nulls) -> u64 {
        match self.fact(&Ask::Count(need.clone(), nulls)) {
            Fact::Count(count) => count,
            _ => unreachable!("a fact is what was asked for"),
        }
    }

    fn windows(&self, need: &Need, places: &Places, wanted: &[Around]) -> Vec<Window> {
        match self.fact(&Ask::Windows(need.clone(), places.clone(), wanted.to_vec())) {
            Fact::Windows(windows) => windows,
            _ => unreachable!("a fact is what was asked for"),
        }
    }

    fn in_order(&self, need: &Need, places: &Places, spacing: Spacing) -> Box<dyn InOrder + '_> {
        Box::new(Looked::new(self, need, places, spacing))
    }

    fn cells(&self, need: &Need, column: usize, lattice: CellLattice) -> Cells {
        match self.fact(&Ask::Cells(need.clone(), column, lattice)) {
            Fact::Cells(cells) => cells,
            _ => unreachable!("a fact is what was asked for"),
        }
    }

    fn bins(&self, need: &Need, bins: &Bins) -> BTreeMap<i64, u64> {
        match self.fact(&Ask::Bins(need.clone(), bins.clone())) {
            Fact::Bins(counts) => counts,
            _ => unreachable!("a fact is what was asked for"),
        }
    }

    fn sums(&self, need: &Need, steps: &Steps) -> Vec<i128> {
        match self.fact(&Ask::Sums(need.clone(), steps.clone())) {
            Fact::Sums(sums) => sums,
            _ => unreachable!("a fact is what was asked for"),
        }
    }

    fn each_text(&self, read: ColumnRead, visit: &mut dyn FnMut(&str, u64)) {
        let mut counts: Vec<(Key, u64)> =
            self.texts(read, None).into_iter().map(|(text, count)| (vec![text], count)).collect();
        // A group always says how many records have none.
        if !self.by.is_empty() && counts.iter().all(|(key, _)| key[0].is_some()) {
            counts.push((vec![None], 0));
        }
        // By the values alone, so that coins which are replayed meet the same value.
        sort_by_key(&mut counts, |(key, _)| key);
        for (key, count) in counts {
            visit(key[0].as_deref().unwrap_or_default(), count);
        }
    }

    fn with_texts(&self, read: ColumnRead, texts: &[String]) -> Vec<u64> {
        let found = self.texts(read, Some(texts));
        texts.iter().map(|text| found.get(&as_read(text, read)).copied().unwrap_or_default()).collect()
    }

    fn groups(&self, by: &[ColumnRead]) -> Box<dyn GroupFacts + '_> {
        Box::new(GroupsElsewhere { runs: self.runs, by: by.to_vec() })
    }
}

impl GroupFacts for GroupsElsewhere<'_> {
    fn written(&self, key: &Key) -> Vec<u8> {
        written_key(key, &self.by)
    }

    fn read(&self, written: &[u8]) -> Key {
        read_key(written, &self.by)
    }

    fn each_count(&self, need: &Need, visit: &mut dyn FnMut(&[u8], u64)) {
        let mut counts: Vec<(Key, u64)> =
            self.counted(None, need).into_iter().map(|(key, (_, count))| (key, count)).collect();
        sort_by_key(&mut counts, |(key, _)| key);
        for (key, count) in counts {
            visit(&self.written(&key), count);
        }
    }

    fn counts_of(&self, need: &Need, keys: &[Vec<u8>]) -> Vec<u64> {
        let keys: Vec<Key> = keys.iter().map(|key| self.read(key)).collect();
        let counts = self.counted(Some(keys.clone()), need);
        keys.iter().map(|key| counts.get(key).map_or(0, |&(_, count)| count)).collect()
    }

    fn each_of(&self, keys: &[Vec<u8>], asks: &[Ask], visit: &mut dyn FnMut(usize, &dyn RowFacts)) {
        for (from, some) in (0..).step_by(TOGETHER).zip(keys.chunks(TOGETHER)) {
            for ((place, key), facts) in (from..).zip(some).zip(self.find(some, asks)) {
                let known = asks.iter().cloned().zip(facts).collect();
                visit(place, &Elsewhere { runs: self.runs, by: self.by.clone(), key: key.clone(), known });
            }
        }
    }
}

/// Rows of a group that share a place, of so many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tied {
    pub group: usize,
    pub place: i64,
    pub rows: u64,
}

/// The counts of one thing in one group, by bracket and bucket.
pub(super) type Buckets = BTreeMap<(usize, i64), u64>;

/// What a pass found, by group and by what was counted.
pub(super) struct ByGroup {
    /// By the place of the key among those of the pass.
    pub counts: Vec<Vec<Buckets>>,
    pub sums: Vec<Vec<Vec<i128>>>,
}

impl GroupsElsewhere<'_> {
    /// Run a pass until it says something that can be true; a second time if it does not, and no more.
    pub(super) fn run<T>(&self, pass: &Pass, check: impl Fn(PassResult) -> Option<T>) -> T {
        for _ in 0..2 {
            if let Some(found) = (self.runs)(pass).ok().and_then(&check) {
                return found;
            }
        }
        give_up(Unanswered::Data)
    }

    /// A pass about these groups.
    pub(super) fn pass_of(&self, keys: &[Vec<u8>], counts: Vec<Counting>) -> Pass {
        Pass { by: self.by.clone(), keys: Some(keys.iter().map(|key| self.read(key)).collect()), counts }
    }

    /// What was found in a pass about these groups, each once; nothing where it contradicts what was asked.
    pub(super) fn by_group(&self, pass: &Pass, keys: &[Vec<u8>], found: PassResult) -> Option<ByGroup> {
        let places: BTreeMap<&[u8], usize> =
            keys.iter().enumerate().map(|(place, key)| (key.as_slice(), place)).collect();
        let place = |key: &Key| {
            let place = places.get(self.written(key).as_slice()).copied();
            place.filter(|_| key.len() == self.by.len())
        };
        let mut counts: Vec<Vec<Buckets>> = vec![vec![Buckets::new(); pass.counts.len()]; keys.len()];
        for one in found.counts {
            let group = place(&one.key)?;
            let known = pass.counts.get(one.of)?.allows(group, one.bracket, one.bucket);
            let new = counts[group][one.of].insert((one.bracket, one.bucket), one.count).is_none();
            if !known || !new || one.count == 0 {
                return None;
            }
        }
        let width = |counting: &Counting| match counting {
            Counting::Sums { steps, .. } => steps.many(),
            _ => 0,
        };
        let none: Vec<Vec<i128>> = pass.counts.iter().map(|counting| vec![0; width(counting)]).collect();
        let mut sums = vec![none; keys.len()];
        let mut seen = BTreeSet::new();
        for one in found.sums {
            let group = place(&one.key)?;
            if one.sums.len() != pass.counts.get(one.of).map(width)? || !seen.insert((group, one.of)) {
                return None;
            }
            sums[group][one.of] = one.sums;
        }
        Some(ByGroup { counts, sums })
    }

    /// How many records each group has, and what is counted of them.
    fn counted(&self, keys: Option<Vec<Key>>, need: &Need) -> BTreeMap<Key, (u64, u64)> {
        let values = match need {
            Need::Records => None,
            need => Some(Counting::Values { columns: columns_of(need) }),
        };
        let counts = [Counting::Records].into_iter().chain(values).collect();
        let pass = Pass { by: self.by.clone(), keys, counts };
        // A key that begins another comes before all that it begins.
        let wanted: Option<BTreeSet<&Key>> = pass.keys.as_ref().map(|keys| keys.iter().collect());
        self.run(&pass, |found| {
            let mut counts: BTreeMap<Key, [Option<u64>; 2]> = BTreeMap::new();
            for one in found.counts {
                let wanted = wanted.as_ref().is_none_or(|wanted| {
                    wanted
                        .range::<&Key, _>(..=&one.key)
                        .next_back()
                        .is_some_and(|first| one.key.starts_with(first))
                });
                let is_one = one.key.len() == self.by.len() && wanted;
                let counted = counts.entry(one.key).or_default().get_mut(one.of)?;
                if !is_one || one.count == 0 || counted.replace(one.count).is_some() {
                    return None;
                }
            }
            let both = |(key, [records, values]): (Key, [Option<u64>; 2])| {
                let records = records?;
                let counted = if pass.counts.len() == 1 { records } else { values.unwrap_or_default() };
                (counted <= records).then_some((key, (records, counted)))
            };
            counts.into_iter().map(both).collect()
        })
    }

    /// How many rows of groups lie below places, and how many at them.
    pub(super) fn ties(
        &self,
        keys: &[Vec<u8>],
        need: &Need,
        places: &Places,
        wanted: &[Tied],
    ) -> Vec<(u64, u64)> {
        // Which of the wanted ties a bracket is about, and on which side of the place.
        let mut about: Vec<(usize, usize)> = Vec::new();
        let mut brackets = Vec::new();
        for (at, tied) in wanted.iter().enumerate() {
            for (side, bracket) in (0..).zip(super::windows::around(places, tied.place, Some(tied.group))) {
                about.extend(bracket.iter().map(|_| (at, side)));
                brackets.extend(bracket);
            }
        }
        if brackets.is_empty() {
            return Vec::new();
        }
        let counting = Counting::Places { column: column_of(need), places: places.of_rows(), brackets };
        let pass = self.pass_of(keys, vec![counting]);
        self.run(&pass, |found| {
            let found = self.by_group(&pass, keys, found)?.counts;
            let mut sides = vec![[0; 3]; wanted.len()];
            for (&(bracket, _), count) in found.iter().flat_map(|counts| &counts[0]) {
                let (at, side) = about[bracket];
                sides[at][side] += count;
            }
            // Rows above are counted to be held against all of them.
            let add_up = sides.iter().zip(wanted).all(|(sides, tied)| sides.iter().sum::<u64>() == tied.rows);
            add_up.then(|| sides.iter().map(|[below, equal, _]| (*below, *equal)).collect())
        })
    }

    /// The facts that are asked of each of these groups, for all of them together.
    fn find(&self, keys: &[Vec<u8>], asks: &[Ask]) -> Vec<Vec<Fact>> {
        if asks.is_empty() || keys.is_empty() {
            return vec![Vec::new(); keys.len()];
        }
        let first: Vec<Counting> = asks.iter().map(first_counting).collect();
        // All windows are held against the number of records and values.
        let of_windows = asks.iter().filter_map(|ask| match ask {
            Ask::Windows(need, ..) => Some(Counting::Values { columns: columns_of(need) }),
            _ => None,
        });
        let pass =
            self.pass_of(keys, first.into_iter().chain([Counting::Records]).chain(of_windows).collect());
        let found = self.run(&pass, |found| {
            let found = self.by_group(&pass, keys, found)?;
            found.counts.iter().all(|counts| adds_up(asks, counts)).then_some(found)
        });
        let searches = asks.iter().enumerate().filter_map(|(at, ask)| match ask {
            Ask::Windows(need, places, wanted) => Some((
                at,
                WindowSearch::all(self, keys, need, places, wanted, |group| &found.counts[group][at]),
            )),
            _ => None,
        });
        let mut windows: BTreeMap<usize, Vec<Vec<Window>>> = searches.collect();
        (0..keys.len())
            .map(|group| {
                let counts = &found.counts[group];
                let fact = |(at, ask): (usize, &Ask)| match ask {
                    Ask::Count(..) => Fact::Count(counts[at].values().sum()),
                    Ask::Cells(..) => Fact::Cells(Cells::from_counts(
                        counts[at].iter().map(|(&(_, cell), &count)| (cell, count)),
                    )),
                    Ask::Bins(..) => {
                        Fact::Bins(counts[at].iter().map(|(&(_, bin), &count)| (bin, count)).collect())
                    }
                    Ask::Sums(..) => Fact::Sums(found.sums[group][at].clone()),
                    Ask::Windows(..) => Fact::Windows(
                        windows.get_mut(&at).map(|all| std::mem::take(&mut all[group])).expect("searched"),
                    ),
                };
                asks.iter().enumerate().map(fact).collect()
            })
            .collect()
    }
}

/// A stated text as the text of the value that it stands for.
fn as_read(text: &str, read: ColumnRead) -> Option<String> {
    let by = slice::from_ref(&read);
    read_key(&written_key(&vec![Some(text.to_string())], by), by).remove(0)
}

/// The counts that a question begins with.
fn first_counting(ask: &Ask) -> Counting {
    match ask {
        Ask::Count(Need::Records, _) | Ask::Count(_, Nulls::Counted) => Counting::Records,
        Ask::Count(need, Nulls::LeftOut) => Counting::Values { columns: columns_of(need) },
        Ask::Windows(need, places, _) => Counting::Places {
            column: column_of(need),
            places: places.of_rows(),
            brackets: vec![super::windows::whole(places.of_rows().range())],
        },
        Ask::Cells(need, of, lattice) => {
            Counting::Cells { columns: columns_of(need), of: *of, shift: lattice.shift }
        }
        Ask::Bins(need, bins) => Counting::Bins { column: column_of(need), bins: bins.clone() },
        Ask::Sums(need, steps) => Counting::Sums { columns: columns_of(need), steps: steps.clone() },
    }
}

/// Do the places of rows add up to the rows that have one, and is nothing more than all records?
fn adds_up(asks: &[Ask], counts: &[Buckets]) -> bool {
    let all = |buckets: &Buckets| buckets.values().sum::<u64>();
    let records = all(&counts[asks.len()]);
    let mut values = counts[asks.len() + 1..].iter();
    asks.iter().zip(counts).all(|(ask, buckets)| match ask {
        Ask::Windows(_, places, _) => {
            let values = values.next().map(all);
            let expected = if places.of_nothing().is_some() { Some(records) } else { values };
            values.is_some_and(|values| values <= records) && Some(all(buckets)) == expected
        }
        Ask::Count(..) | Ask::Cells(..) | Ask::Bins(..) => all(buckets) <= records,
        Ask::Sums(..) => buckets.is_empty(),
    })
}

impl Counting {
    /// Can rows of this group be counted here?
    fn allows(&self, group: usize, bracket: usize, bucket: i64) -> bool {
        match self {
            Self::Records | Self::Values { .. } => bracket == 0 && bucket == 0,
            Self::Places { brackets, .. } => brackets
                .get(bracket)
                .is_some_and(|one| one.has(bucket) && one.group.is_none_or(|wanted| wanted == group)),
            Self::Cells { shift, .. } => {
                bracket == 0 && CellLattice { shift: *shift }.range().clamp(bucket) == bucket
            }
            Self::Bins { bins, .. } => {
                bracket == 0
                    && bins.many().is_none_or(|many| usize::try_from(bucket).is_ok_and(|bin| bin < many))
            }
            Self::Sums { .. } => false,
        }
    }
}
