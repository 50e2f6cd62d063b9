//! Rows by key: what questions need of each group of records that agree in some columns.
//!
//! # Memory
//!
//! Groups are found in memory while they are few. When they take more than a public limit, each thread writes what it has found
//! so far to a temporary file, in parts by a keyed hash of the key, and begins anew. Then a part at a time is read again:
//! first how many records each key has, which is all that selects keys, then the rows of those keys that are told. So memory
//! is bounded by the limit and by a part of the keys, not by all of them. The hash decides only which part, and so
//! carries no guarantee. What one group's values hold ([`Tally`]) has to fit in memory. Numbers are put together by group when they are written
//! or told, which takes as much again while it lasts.
//!
//! A file that cannot be read again is a panic here, which is a lost answer: what is asked of groups is asked after the
//! charge, where nothing fails with a reason.

mod key;
mod log;
mod table;
mod tally;

pub(crate) use key::{Standing, read as read_key, sort_by_key, written as written_key};
pub(crate) use tally::Tally;

use crate::{
    gather::{Need, Partial, ScanResult},
    names::{self, Names},
    need::Key,
    quiet::give_up,
    rows::{
        encode::{put_length, take, take_length},
        numbers::{self, Store},
        spill::{Piece, Spill},
    },
    source::{Batch, Cells, ColumnRead},
    unanswered::Unanswered,
};
use equipoise_core::stop;
use std::{
    collections::BTreeMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use table::{Place, Table};

/// How many bytes of groups one scan keeps in memory. Public and fixed.
pub(crate) const MEMORY: u64 = 512 << 20;
/// Into how many parts groups are dealt.
const PARTS: usize = 256;
/// Records of a part are put away when there are so many bytes of them.
const PIECE: usize = 64 << 10;
/// What a key costs in memory beside its own bytes.
const KEY: u64 = 100;

/// What is looked for in groups of records that agree in these columns.
pub(crate) struct GroupQuery {
    by: Vec<ColumnRead>,
    /// How the cells of the key are read: as whole numbers, where the texts that are asked for are such and nothing else.
    read_as: Vec<ColumnRead>,
    /// Those that count stand first.
    needs: Vec<Need>,
    key: [u64; 2],
    memory: u64,
    /// What did not fit in memory: pieces of each part, in the order in which they were put away.
    parts: Mutex<BTreeMap<usize, Vec<Piece>>>,
    spill: Spill,
}

impl GroupQuery {
    /// Look for nothing yet. Each column of the key is read as this says.
    pub fn new(by: &[ColumnRead], read_as: impl Fn(ColumnRead) -> ColumnRead, key: [u64; 2]) -> Self {
        Self {
            by: by.to_vec(),
            read_as: by.iter().map(|&column| read_as(column)).collect(),
            needs: Vec::new(),
            key,
            memory: MEMORY,
            parts: Mutex::default(),
            spill: Spill::new(0),
        }
    }

    /// Each thread keeps so many bytes in memory.
    pub fn within(self, memory: u64) -> Self {
        Self { memory, ..self }
    }

    /// The columns of the key.
    pub fn by(&self) -> &[ColumnRead] {
        &self.by
    }

    /// How the cells of the key are read.
    pub fn read_as(&self) -> &[ColumnRead] {
        &self.read_as
    }

    /// Look for this as well.
    pub fn serve(&mut self, need: &Need) {
        if self.needs.contains(need) {
            return;
        }
        match need {
            Need::Records | Need::Present(_) => self.needs.insert(0, need.clone()),
            _ => self.needs.push(need.clone()),
        }
    }

    fn hash(&self, key: &[u8]) -> u64 {
        names::hash(self.key, key)
    }

    fn part(&self, key: &[u8]) -> usize {
        names::part(self.hash(key), PARTS)
    }

    fn parts(&self) -> MutexGuard<'_, BTreeMap<usize, Vec<Piece>>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put_away(&self, part: usize, bytes: &mut Vec<u8>) {
        let piece = self.spill.keep(bytes);
        self.parts().entry(part).or_default().push(piece);
    }

    /// Hand over the key and the record of each group of a part that was put away, in the order in which they were.
    fn each_record(&self, part: usize, mut visit: impl FnMut(&[u8], &[u8])) {
        let mut buffer = Vec::new();
        for piece in self.parts().get(&part).into_iter().flatten() {
            let mut rest = self.spill.read(piece, &mut buffer).unwrap_or_else(|why| give_up(why));
            stop::look();
            while !rest.is_empty() {
                let key = take(take_length(&mut rest), &mut rest);
                let record = take(take_length(&mut rest), &mut rest);
                visit(key, record);
            }
        }
    }
}

/// The groups that one worker has met.
pub(crate) struct Grouping {
    search: Arc<GroupQuery>,
    /// The places in a batch of the key's cells, and of each need's.
    places: Vec<usize>,
    cells: Vec<Place>,
    table: Table,
    taken: u64,
    /// Has it ever put groups away?
    spilling: bool,
    /// The group of each row of a batch, and room to write a key.
    groups: Vec<u32>,
    written: Vec<u8>,
}

impl Grouping {
    pub fn new(search: &Arc<GroupQuery>, wanted: &[ColumnRead]) -> Self {
        let place = |cells: ColumnRead| wanted.iter().position(|&one| one == cells);
        Self {
            places: search.read_as.iter().map(|&key| place(key).expect("keys are wanted")).collect(),
            cells: search
                .needs
                .iter()
                .map(|need| Place {
                    first: need.wanted().and_then(place),
                    second: need.second().and_then(place),
                })
                .collect(),
            table: Table::new(&search.needs, search.key),
            search: Arc::clone(search),
            taken: 0,
            spilling: false,
            groups: Vec::new(),
            written: Vec::new(),
        }
    }

    pub fn batch(&mut self, batch: Batch<'_>) {
        let (keys, bytes) = (self.table.keys.len(), self.table.keys.bytes());
        self.find_groups(batch);
        let (new, bytes) = (self.table.keys.len() - keys, self.table.keys.bytes() - bytes);
        self.taken += KEY * new as u64 + 2 * bytes as u64;
        self.taken += self.table.batch(&self.search.needs, batch, &self.groups, &self.cells);
        if self.taken > self.search.memory {
            self.put_away();
        }
    }

    /// The group of each row. A key of one column is looked up as it lies where it is short.
    fn find_groups(&mut self, batch: Batch<'_>) {
        let Self { groups, written, table, places, .. } = self;
        let keys = &mut table.keys;
        groups.clear();
        let one = match places[..] {
            [place] => Some(&batch.cells[place]),
            _ => None,
        };
        match one {
            Some(&Cells::Coded { texts, codes }) => find_coded(texts, codes, keys, written, groups),
            Some(Cells::Integers(cells)) => {
                groups.extend(cells.iter().map(|&cell| numbered(keys.number_short(key::short_whole(cell)))));
            }
            Some(Cells::Texts(texts)) => {
                groups.extend(texts.iter().map(|&text| of_text(text, keys, written)));
            }
            _ => groups.extend((0..batch.rows).map(|row| {
                written.clear();
                key::put_row(batch, row, places, written);
                numbered(keys.number(written))
            })),
        }
    }

    /// Write all groups to the file, and begin anew.
    fn put_away(&mut self) {
        self.spilling = true;
        self.taken = 0;
        let search = Arc::clone(&self.search);
        let table = mem::replace(&mut self.table, Table::new(&search.needs, search.key));
        let sorted = table.sorted((0..table.keys.len()).collect());
        let mut buffers: Vec<Vec<u8>> = vec![Vec::new(); PARTS];
        for (group, key) in table.keys.iter().enumerate() {
            let part = search.part(key);
            let buffer = &mut buffers[part];
            sorted.each_record(group, &mut self.written, |record| {
                put_length(key.len(), buffer);
                buffer.extend_from_slice(key);
                put_length(record.len(), buffer);
                buffer.extend_from_slice(record);
                if buffer.len() >= PIECE {
                    search.put_away(part, buffer);
                }
            });
        }
        for (part, buffer) in buffers.iter_mut().enumerate().filter(|(_, buffer)| !buffer.is_empty()) {
            search.put_away(part, buffer);
        }
    }

    /// What all workers of one search have found.
    pub fn finish(workers: Vec<Self>) -> Result<Groups, Unanswered> {
        let search = workers.first().map(|worker| Arc::clone(&worker.search)).ok_or(Unanswered::Data)?;
        if workers.iter().any(|worker| worker.spilling) {
            for mut worker in workers {
                worker.put_away();
            }
            search.spill.intact()?;
            return Ok(Groups { search, here: None });
        }
        let mut tables = workers.into_iter().map(|worker| worker.table);
        let mut all = tables.next().ok_or(Unanswered::Data)?;
        tables.for_each(|table| all.absorb(table));
        Ok(Groups { search, here: Some(all) })
    }
}

/// The group of each row where texts are places in a list: each text is looked up when it is first met.
fn find_coded(
    texts: &[&str],
    codes: &[Option<u32>],
    keys: &mut Names,
    written: &mut Vec<u8>,
    groups: &mut Vec<u32>,
) {
    const UNMET: u32 = u32::MAX;
    let mut met: Vec<u32> = vec![UNMET; texts.len() + 1];
    groups.extend(codes.iter().map(|code| {
        let place = code.map_or(texts.len(), |code| code as usize).min(texts.len());
        if met[place] == UNMET {
            met[place] = of_text(texts.get(place).copied(), keys, written);
        }
        met[place]
    }));
}

/// The group of a key that is one text; a new one if no row has had it.
#[inline(always)]
fn of_text(text: Option<&str>, keys: &mut Names, written: &mut Vec<u8>) -> u32 {
    if let Some(short) = key::short_text(text) {
        return numbered(keys.number_short(short));
    }
    written.clear();
    key::put_text(text, written);
    numbered(keys.number(written))
}

/// A number of a name in half the memory.
#[inline(always)]
fn numbered(group: usize) -> u32 {
    u32::try_from(group).expect("names are fewer than 2^32")
}

/// All groups of a scan.
pub(crate) struct Groups {
    search: Arc<GroupQuery>,
    /// Where nothing was put away.
    here: Option<Table>,
}

impl Groups {
    /// The columns of the key.
    pub fn by(&self) -> &[ColumnRead] {
        self.search.by()
    }

    /// Was anything put away?
    #[cfg(test)]
    pub fn is_apart(&self) -> bool {
        self.here.is_none()
    }

    /// A stated key as it is compared.
    pub fn written(&self, key: &Key) -> Vec<u8> {
        key::written_as(key, self.by(), self.search.read_as())
    }

    /// The texts of a key.
    pub fn read(&self, written: &[u8]) -> Key {
        key::read(written, self.search.read_as())
    }

    /// The place of a need that counts.
    fn counting(&self, need: &Need) -> usize {
        let known = self.search.needs.iter().position(|known| known == need);
        known.expect("what is asked for was looked for")
    }

    /// Hand over every key and the count of its group, each key once.
    pub fn each_count(&self, need: &Need, mut visit: impl FnMut(&[u8], u64)) {
        let need = self.counting(need);
        if let Some(table) = &self.here {
            let keys = table.keys.iter().enumerate();
            return keys.for_each(|(group, key)| visit(key, table.count(group, need)));
        }
        for part in 0..PARTS {
            let (keys, counts) = self.counts(part, need);
            keys.iter().zip(counts).for_each(|(key, count)| visit(key, count));
        }
    }

    /// The counts of these keys, zero where no record has one.
    pub fn counts_of(&self, need: &Need, keys: &[Vec<u8>]) -> Vec<u64> {
        let need = self.counting(need);
        let mut found = vec![0; keys.len()];
        for (part, places) in self.by_part(keys.iter().map(Vec::as_slice)) {
            let read = self.here.is_none().then(|| self.counts(part, need));
            for place in places {
                let count = match (&self.here, &read) {
                    (Some(table), _) => table.keys.find(&keys[place]).map(|group| table.count(group, need)),
                    (None, Some((names, counts))) => names.find(&keys[place]).map(|group| counts[group]),
                    (None, None) => None,
                };
                found[place] = count.unwrap_or_default();
            }
        }
        found
    }

    /// Hand over each of these keys by its place, and what was found in its group.
    pub fn each_of(&self, keys: &[Vec<u8>], mut visit: impl FnMut(usize, &ScanResult<'_>)) {
        for (part, places) in self.by_part(keys.iter().map(Vec::as_slice)) {
            if let Some(table) = &self.here {
                let groups: Vec<Option<usize>> =
                    places.iter().map(|&place| table.keys.find(&keys[place])).collect();
                let sorted = table.sorted(groups.iter().flatten().copied().collect());
                for (place, group) in places.into_iter().zip(groups) {
                    stop::look();
                    let gathered = group.map(|group| sorted.gathered(group, &self.search.needs));
                    visit(place, &gathered.unwrap_or_default());
                }
                continue;
            }
            let wanted: BTreeMap<&[u8], usize> =
                places.iter().map(|&place| (keys[place].as_slice(), place)).collect();
            let mut found = self.rows(part, &wanted);
            for place in places {
                stop::look();
                visit(place, &found.remove(&place).unwrap_or_default());
            }
        }
    }

    /// The places of keys, by the part that they are dealt to; all in one where nothing was put away.
    fn by_part<'a>(&self, keys: impl Iterator<Item = &'a [u8]>) -> BTreeMap<usize, Vec<usize>> {
        let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, key) in keys.enumerate() {
            let part = if self.here.is_some() { 0 } else { self.search.part(key) };
            places.entry(part).or_default().push(place);
        }
        places
    }

    /// The keys of a part that was put away, and the count of each.
    fn counts(&self, part: usize, need: usize) -> (Names, Vec<u64>) {
        let (mut keys, mut counts) = (Names::keyed(self.search.key), Vec::new());
        self.search.each_record(part, |key, record| {
            let group = keys.number(key);
            if group == counts.len() {
                counts.push(0);
            }
            counts[group] += table::count_of(record, need);
        });
        (keys, counts)
    }

    /// What was found in those groups of a part that are wanted.
    fn rows(&self, part: usize, wanted: &BTreeMap<&[u8], usize>) -> BTreeMap<usize, ScanResult<'static>> {
        let store = Store::new(numbers::MEMORY);
        let mut rows: BTreeMap<usize, Vec<Partial>> = BTreeMap::new();
        let mut room = Default::default();
        self.search.each_record(part, |key, record| {
            let Some(&place) = wanted.get(key) else { return };
            let new = || self.search.needs.iter().map(|need| Partial::new(need, &store)).collect();
            table::add_record(record, rows.entry(place).or_insert_with(new), &mut room);
        });
        let gathered = |found: Vec<Partial>| {
            let mut gathered = ScanResult::default();
            self.search.needs.iter().zip(found).for_each(|(need, found)| gathered.put(need, found));
            gathered
        };
        rows.into_iter().map(|(place, found)| (place, gathered(found))).collect()
    }
}

/// A count as a length, which it can be where addresses have 64 bits.
fn in_memory(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
