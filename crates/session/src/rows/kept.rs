//! The people of one part, and which of their rows are kept.
//!
//! # Memory
//!
//! The bytes of the part, and for each row where it lies: copies of a row can only be numbered where all rows of its group are at hand. A
//! person with millions of rows has them in one part, so these take what they took in the scan and 40 bytes a row; what is hashed
//! is worked on group by group, another 32 bytes for each row of the largest group. All other parts wait in the [`Spill`](super::spill::Spill).

use super::{
    bound::Stage,
    encode::{Decoder, take, take_length},
    rank::{Placed, Ranking, keep_first},
};
use crate::{names::Names, source::Visitor};
use equipoise_core::stop;

/// The people of one part.
pub(super) struct People<'s, 'p> {
    stage: &'s Stage<'s>,
    ids: Names,
    /// The groups of all people, each named by its person and its key. Without groups nobody is in it: people are groups themselves.
    groups: Names,
    /// The person of each group.
    owners: Vec<(usize, usize)>,
    /// The group of each row, and its cells.
    rows: Vec<(usize, &'p [u8])>,
    written: Vec<u8>,
}

/// After so many hashes somebody looks whether the work is to end.
const HASHES: usize = 4096;

impl<'s, 'p> People<'s, 'p> {
    pub fn new(stage: &'s Stage<'s>) -> Self {
        let (ids, groups) = (Names::default(), Names::default());
        Self { stage, ids, groups, owners: Vec::new(), rows: Vec::new(), written: Vec::new() }
    }

    /// Take in one row as a router wrote it.
    pub fn row(&mut self, rest: &mut &'p [u8]) {
        let id = take(take_length(rest), rest);
        let person = self.ids.number(self.stage.hash(id), id);
        let group = if self.stage.groups().is_some() {
            let key = take(take_length(rest), rest);
            self.written.clear();
            self.written.extend_from_slice(&(person as u64).to_le_bytes());
            self.written.extend_from_slice(key);
            let group = self.groups.number(self.stage.hash(&self.written), &self.written);
            if group == self.owners.len() {
                self.owners.push((person, group));
            }
            group
        } else {
            person
        };
        self.rows.push((group, take(take_length(rest), rest)));
    }

    /// Hand over the rows that are kept.
    pub fn deliver(self, decoder: &mut Decoder, visitor: &mut dyn Visitor) {
        let mut drawing = Drawing { ranking: self.stage.ranking(), message: Vec::new(), rows: Vec::new() };
        let mut hand_over = |rows: &[&'p [u8]], id: &[u8], key: &[u8]| {
            for cells in drawing.kept(rows, self.stage.rows(), id, key) {
                decoder.row(cells, visitor);
            }
        };
        let Some(most) = self.stage.groups() else {
            let rows = Dealt::new(&self.rows, self.ids.len());
            for (person, id) in self.ids.iter().enumerate() {
                hand_over(rows.of(person), id, &[]);
            }
            return;
        };
        let rows = Dealt::new(&self.rows, self.groups.len());
        let groups = Dealt::new(&self.owners, self.ids.len());
        let mut message = Vec::new();
        for (person, id) in self.ids.iter().enumerate() {
            for group in self.kept_groups(groups.of(person), most, id, &mut message) {
                hand_over(rows.of(group), id, self.key(group));
            }
        }
    }

    /// The first groups of a person, no more than that.
    fn kept_groups(&self, groups: &[usize], most: usize, id: &[u8], message: &mut Vec<u8>) -> Vec<usize> {
        if groups.len() <= most {
            return groups.to_vec();
        }
        let ranking = self.stage.ranking();
        let mut placed = Vec::with_capacity(groups.len());
        for (number, &group) in groups.iter().enumerate() {
            if number % HASHES == 0 {
                stop::look();
            }
            ranking.group_message(id, self.key(group), message);
            placed.push(Placed { place: ranking.place(message), what: group });
        }
        keep_first(&mut placed, most, |&group| {
            let mut message = Vec::new();
            ranking.group_message(id, self.key(group), &mut message);
            message
        });
        placed.into_iter().map(|group| group.what).collect()
    }

    /// The cells of a group's key, behind the number of its person.
    fn key(&self, group: usize) -> &[u8] {
        &self.groups.name(group)[size_of::<u64>()..]
    }
}

/// Draws rows of one group after the other; its buffers are used again and again.
struct Drawing<'s, 'p> {
    ranking: &'s Ranking,
    message: Vec<u8>,
    rows: Vec<Placed<Copied<'p>>>,
}

/// A row and how many of its copies stand before it, itself included.
#[derive(Clone, Copy)]
struct Copied<'p> {
    cells: &'p [u8],
    copy: u64,
}

impl<'p> Drawing<'_, 'p> {
    /// The first rows of a group, no more than that.
    fn kept<'a>(
        &'a mut self,
        rows: &'a [&'p [u8]],
        most: usize,
        id: &[u8],
        key: &[u8],
    ) -> impl Iterator<Item = &'p [u8]> + use<'a, 'p> {
        self.rows.clear();
        // Of copies of one row it does not matter which are kept.
        let unranked = if rows.len() <= most || rows.iter().all(|&cells| cells == rows[0]) {
            &rows[..most.min(rows.len())]
        } else {
            self.rank(rows, most, id, key);
            &[]
        };
        unranked.iter().copied().chain(self.rows.iter().map(|row| row.what.cells))
    }

    fn rank(&mut self, rows: &[&'p [u8]], most: usize, id: &[u8], key: &[u8]) {
        let Self { ranking, message, rows: placed } = self;
        ranking.group_message(id, key, message);
        let beginning = message.len();
        let mut place = |row: Copied<'_>| {
            message.truncate(beginning);
            ranking.row_message(row.cells, row.copy, message);
            ranking.place(message)
        };
        for some in rows.chunks(HASHES) {
            stop::look();
            placed.extend(some.iter().map(|&cells| {
                let what = Copied { cells, copy: 1 };
                Placed { place: place(what), what }
            }));
        }
        // Copies have the same place so far, and lie side by side in this order.
        placed.sort_unstable_by(|one, other| {
            one.place.cmp(&other.place).then_with(|| one.what.cells.cmp(other.what.cells))
        });
        for at in 1..placed.len() {
            if at % HASHES == 0 {
                stop::look();
            }
            let before = placed[at - 1].what;
            if before.cells == placed[at].what.cells {
                let what = Copied { copy: before.copy + 1, ..before };
                placed[at] = Placed { place: place(what), what };
            }
        }
        keep_first(placed, most, |row| {
            let mut message = Vec::new();
            ranking.group_message(id, key, &mut message);
            ranking.row_message(row.cells, row.copy, &mut message);
            message
        });
    }
}

/// Items by owner.
struct Dealt<T> {
    /// Where the items of each owner begin, and where the last end.
    starts: Vec<usize>,
    items: Vec<T>,
}

impl<T: Copy + Default> Dealt<T> {
    /// Deal items, each with its owner, to so many owners.
    fn new(owned: &[(usize, T)], owners: usize) -> Self {
        let mut starts = vec![0; owners + 1];
        for &(owner, _) in owned {
            starts[owner] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        // Each start is still an end, and moves to the front with every item.
        let mut items = vec![T::default(); owned.len()];
        for &(owner, item) in owned {
            starts[owner] -= 1;
            items[starts[owner]] = item;
        }
        Self { starts, items }
    }

    fn of(&self, owner: usize) -> &[T] {
        &self.items[self.starts[owner]..self.starts[owner + 1]]
    }
}
