//! At most so many rows of each person, drawn by a key; where answers are grouped, in at most so many groups. Where values are
//! counted, each person once for each value.
//!
//! # Guarantee
//!
//! For every key, whatever function hashes: the rows that are kept of a person are a function of that person's rows, not of their order in the
//! file, of other people, threads, parts or memory. There are at most [`Bound::rows_per_unit`] of them, and one row more or less of a
//! person changes at most [`Bound::changed_by_row`] of them.
//!
//! Over keys: of a person with m rows, each set of min(m, R) of them is kept with the same probability, independently of all other
//! people; with groups, each set of min(g, G) of the person's g groups, and within each of these each set of min(m, R) of its rows. This is
//! as good as SHA-256 looks random under an unknown key, and only error bars and usefulness rest on it.
//!
//! # Why
//!
//! 1. A group's rows are numbered among their equals: the set of (cells, copy number) is a function of the *multiset* of rows. One row more, of
//!    which there are c already, adds the one element (cells, c + 1) to it and changes no other.
//! 2. All elements have places in one order ([`rank`](super::rank)), which knows the element, its person and its group's key and nothing else. The messages
//!    of different elements differ, so there are no ties.
//! 3. The first R of a set that gains one element lose at most one and gain at most one: two changes. A set that loses one, the same.
//! 4. The keys of a person's groups are a set with an order of the same kind. A row more of a group that was there changes nothing in it: if the
//!    group is kept, two rows change. A row that opens a group adds one element: then the first G gain this group, with its one row, and
//!    lose at most one other, with at most R rows: R + 1 changes, and R is at least one.
//! 5. Different elements have different messages, so that places are equally likely to be in any order; people's ids are in all messages,
//!    so that people are independent.
//!
//! 6. Where a person counts once for each value ([`Step::Person`]), values are groups of which one row each is kept: a row more of a
//!    value that the person has changes nothing, a row of another one adds it, and takes the place of at most one other where only so many
//!    values are kept.
//!
//! Other engines keep the same rows under the same key. Let unit, key and value be spelt as [`rank`](super::rank) spells them, value being
//! *all* cells handed on: equal means equally spelt, whatever an engine thinks of minus zero. Then `copy` is `row_number()` over (unit, key, value); kept
//! are the rows of which `row_number()` over (unit, key) by the place of (unit, key, value, copy) is at most R, in groups of which `dense_rank()` over
//! (unit) by the place of (unit, key) is at most G.
//!
//! # Memory
//!
//! Rows are dealt into parts by a keyed hash of their id, so that all rows of a person are in one part, and the parts wait in
//! a [`Spill`]. Each thread reads one part at a time into memory ([`kept`](super::kept)). Ids are compared byte for byte: the hash decides
//! only which part, and so carries no guarantee.

use super::{
    ScanKeys,
    encode::{Decoder, put, put_length},
    id,
    kept::{Drawing, People},
    per_unit::{Folding, PerUnit},
    place_of,
    rank::Ranking,
    spill::{MEMORY, Piece, Spill},
    text_at,
};
use crate::{
    names,
    quiet::ended_by,
    source::{Batch, ColumnRead, ColumnType, Visitor},
    unanswered::Unanswered,
};
use equipoise_core::stop;
use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// How many rows each person may have in what questions see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    /// The column that names the person.
    pub unit: usize,
    /// At most so many rows of each person, or of each person in each group.
    pub rows: u64,
    /// At most so many groups of each person.
    pub groups: Option<GroupLimit>,
    /// What is one step for the question.
    pub step: Step,
}

/// What the question loses its price for once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A row that comes or goes.
    Row,
    /// A person who comes or goes with one row for each value: of the count of every value, at most one row, and all of them up or all of
    /// them down. Only for questions that see nothing but these counts, and are calibrated for that.
    Person,
}

/// Groups of a person's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupLimit {
    /// Rows that agree in these are one group.
    pub keys: Vec<ColumnRead>,
    /// How many groups of a person are kept.
    pub most: u64,
}

/// As many groups as a person has.
pub(crate) const ALL_GROUPS: u64 = u64::MAX;

const PARTS: usize = 256;
const PIECE: usize = 64 << 10;

impl Bound {
    /// The cells of the person's name, and of the keys of groups.
    pub fn wanted(&self) -> Vec<ColumnRead> {
        let unit = ColumnRead { column: self.unit, kind: ColumnType::Text };
        let keys = self.groups.iter().flat_map(|groups| groups.keys.iter().copied());
        std::iter::once(unit).chain(keys).collect()
    }

    /// The most rows of one person that are let through.
    pub fn rows_per_unit(&self) -> u64 {
        self.rows.saturating_mul(self.groups.as_ref().map_or(1, |groups| groups.most))
    }

    /// How many steps of the question a person is at most.
    pub fn steps_per_unit(&self) -> u64 {
        match self.step {
            Step::Row => self.rows_per_unit(),
            Step::Person => 1,
        }
    }

    /// How many of the rows that are let through one row more or less can change (steps 3, 4 and 6).
    pub fn changed_by_row(&self) -> u64 {
        match (&self.groups, self.step) {
            (None, _) => 2,
            (Some(GroupLimit { most: ALL_GROUPS, .. }), Step::Person) => 1,
            (Some(_), _) => self.rows.saturating_add(1),
        }
    }

    /// Are some of a person's rows or values left out by chance?
    pub fn draws(&self) -> bool {
        !matches!((&self.groups, self.step), (Some(GroupLimit { most: ALL_GROUPS, .. }), Step::Person))
    }

    /// One scan's work, with the default limits.
    pub(super) fn stage(&self, wanted: &[ColumnRead], per_unit: &PerUnit, hands: &ScanKeys) -> Stage<'_> {
        let limits = Limits { parts: PARTS, piece: PIECE, memory: MEMORY };
        self.stage_within(wanted, per_unit, hands, &limits)
    }

    fn stage_within(
        &self,
        wanted: &[ColumnRead],
        per_unit: &PerUnit,
        hands: &ScanKeys,
        limits: &Limits,
    ) -> Stage<'_> {
        let (of_rows, of_people) = per_unit.split(wanted);
        let mut all = of_rows.to_vec();
        let unit = place_of(ColumnRead { column: self.unit, kind: ColumnType::Text }, &mut all);
        let keys: &[ColumnRead] = self.groups.as_ref().map_or(&[], |groups| &groups.keys);
        let added_up = per_unit.cells(of_people);
        Stage {
            bound: self,
            ranking: Ranking::new(hands.run, keys, of_rows),
            delivered: wanted.to_vec(),
            columns: of_rows.len(),
            unit,
            keys: keys.iter().map(|&key| place_of(key, &mut all)).collect(),
            added_up: added_up.iter().map(|&cell| place_of(cell, &mut all)).collect(),
            folding: per_unit.folding(of_people, &added_up),
            wanted: all,
            table: hands.table,
            piece: limits.piece,
            spill: Spill::new(limits.memory),
            parts: (0..limits.parts).map(|_| Mutex::default()).collect(),
        }
    }
}

/// What work is cut into. Public and fixed but in tests; nothing that is kept depends on it.
struct Limits {
    parts: usize,
    /// A part's rows are put away when there are so many bytes of them.
    piece: usize,
    /// So many bytes of rows wait in memory, others in a file.
    memory: u64,
}

/// The rows of one scan on their way to the questions.
pub(super) struct Stage<'a> {
    bound: &'a Bound,
    /// What the source is asked for: first what the questions want, then what only this stage needs.
    wanted: Vec<ColumnRead>,
    /// What the questions are handed: cells of rows, then values of people.
    delivered: Vec<ColumnRead>,
    columns: usize,
    unit: usize,
    keys: Vec<usize>,
    /// The cells that values of people are made of.
    added_up: Vec<usize>,
    folding: Folding,
    ranking: Ranking,
    table: [u64; 2],
    piece: usize,
    spill: Spill,
    parts: Vec<Mutex<Vec<Piece>>>,
}

impl Stage<'_> {
    pub fn wanted(&self) -> &[ColumnRead] {
        &self.wanted
    }

    /// How many rows of a person, or of a person's group, are kept.
    pub fn rows(&self) -> usize {
        usize::try_from(self.bound.rows).unwrap_or(usize::MAX)
    }

    /// How many groups of a person are kept; `None` without groups.
    pub fn groups(&self) -> Option<usize> {
        self.bound.groups.as_ref().map(|groups| usize::try_from(groups.most).unwrap_or(usize::MAX))
    }

    /// Are cells added up for each person?
    pub fn adds_up(&self) -> bool {
        !self.added_up.is_empty()
    }

    pub fn router(&self) -> Router<'_> {
        Router { stage: self, buffers: self.parts.iter().map(|_| Vec::new()).collect(), written: Vec::new() }
    }

    /// The key of tables: it balances work.
    pub fn table(&self) -> [u64; 2] {
        self.table
    }

    /// For parts: it balances work.
    fn hash(&self, bytes: &[u8]) -> u64 {
        names::hash(self.table, bytes)
    }

    fn put_away(&self, part: usize, buffer: &mut Vec<u8>) {
        let piece = self.spill.keep(buffer);
        self.parts[part].lock().unwrap_or_else(PoisonError::into_inner).push(piece);
    }

    /// Keep the bound in every part, and hand over what is left, on a thread for each visitor.
    pub fn deliver(self, visitors: &mut [&mut dyn Visitor]) -> Result<(), Unanswered> {
        self.spill.intact()?;
        let next = AtomicUsize::new(0);
        if let [visitor] = visitors {
            return self.work(&next, &mut **visitor);
        }
        thread::scope(|scope| {
            let (stage, next) = (&self, &next);
            let threads: Vec<_> = visitors
                .iter_mut()
                .map(|visitor| scope.spawn(stop::carried(move || stage.work(next, &mut **visitor))))
                .collect();
            // Wait for all: a panic that nobody asks about would go on in this thread.
            let ends: Vec<Result<(), Unanswered>> = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| Err(ended_by(&*panic))))
                .collect();
            ends.into_iter().collect()
        })
    }

    fn work(&self, next: &AtomicUsize, visitor: &mut dyn Visitor) -> Result<(), Unanswered> {
        let mut decoder = Decoder::new(&self.delivered);
        let mut people = People::new(self, &self.folding);
        let mut drawing = Drawing::new(&self.ranking);
        let mut buffer = Vec::new();
        while let Some(part) = self.parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let pieces = std::mem::take(&mut *part.lock().unwrap_or_else(PoisonError::into_inner));
            for piece in pieces {
                let mut rest = self.spill.read(&piece, &mut buffer)?;
                stop::look();
                while !rest.is_empty() {
                    people.row(&mut rest);
                }
            }
            people.deliver(&mut drawing, &mut decoder, visitor);
        }
        decoder.flush(visitor);
        Ok(())
    }
}

/// Deals rows into parts.
pub(super) struct Router<'a> {
    stage: &'a Stage<'a>,
    buffers: Vec<Vec<u8>>,
    written: Vec<u8>,
}

impl Router<'_> {
    /// Put away what is left.
    pub fn finish(self) {
        for (part, mut buffer) in
            self.buffers.into_iter().enumerate().filter(|(_, buffer)| !buffer.is_empty())
        {
            buffer.shrink_to_fit();
            self.stage.put_away(part, &mut buffer);
        }
    }
}

impl Visitor for Router<'_> {
    fn batch(&mut self, batch: Batch<'_>) {
        let stage = self.stage;
        for row in 0..batch.rows {
            let Some(id) = id::canonical(text_at(&batch.cells[stage.unit], row)) else { continue };
            let part = names::part(stage.hash(id.as_bytes()), stage.parts.len());
            let buffer = &mut self.buffers[part];
            put_length(id.len(), buffer);
            buffer.extend_from_slice(id.as_bytes());
            if stage.bound.groups.is_some() {
                self.written.clear();
                stage.keys.iter().for_each(|&key| put(&batch.cells[key], row, &mut self.written));
                put_length(self.written.len(), buffer);
                buffer.extend_from_slice(&self.written);
            }
            self.written.clear();
            batch.cells[..stage.columns].iter().for_each(|cells| put(cells, row, &mut self.written));
            put_length(self.written.len(), buffer);
            buffer.extend_from_slice(&self.written);
            if !stage.added_up.is_empty() {
                self.written.clear();
                stage.added_up.iter().for_each(|&cell| put(&batch.cells[cell], row, &mut self.written));
                put_length(self.written.len(), buffer);
                buffer.extend_from_slice(&self.written);
            }
            if buffer.len() >= stage.piece {
                stage.put_away(part, buffer);
            }
        }
    }
}

#[cfg(test)]
mod per_unit_tests;
#[cfg(test)]
mod tests;
