//! The people of one part, and which of their rows are kept.
//!
//! # Memory
//!
//! All cells of the part's rows, for each row where they lie, and the ids: copies of a row can only be numbered where all rows of its
//! group are at hand. A person with millions of rows has them in one part, so these take what they took in the scan and 40 bytes a row; what
//! is hashed is worked on group by group, another 32 bytes for each row of the largest group. All other parts wait in the
//! [`Spill`](super::spill::Spill). One thread works on one part after the other in the same memory.

use super::{
    bound::Stage,
    encode::{Decoder, take, take_length},
    per_unit::{Folded, Folding},
    rank::{Placed, Ranking, keep_first},
};
use crate::{names::Names, source::Visitor};
use equipoise_core::stop;

/// The people of one part.
pub(super) struct People<'s> {
    stage: &'s Stage<'s>,
    ids: Names,
    /// The groups of all people, each named by its person and its key. Without groups nothing is in it: people are groups themselves.
    groups: Names,
    /// The person of each group.
    owners: Vec<(usize, usize)>,
    /// The group of each row, and where its cells are.
    rows: Vec<(usize, Span)>,
    cells: Vec<u8>,
    written: Vec<u8>,
    rows_of_group: Dealt<Span>,
    groups_of_person: Dealt<usize>,
    folding: &'s Folding,
}

/// A place among the cells of a part. Behind the cells that are handed over stand those that are added up.
#[derive(Clone, Copy, Default)]
struct Span {
    start: usize,
    len: usize,
    added_up: usize,
}

impl Span {
    fn of(self, cells: &[u8]) -> &[u8] {
        &cells[self.start..self.start + self.len]
    }

    fn added_up(self, cells: &[u8]) -> &[u8] {
        &cells[self.start + self.len..][..self.added_up]
    }
}

/// After so many hashes somebody looks whether the work is to end.
const HASHES: usize = 4096;

impl<'s> People<'s> {
    pub fn new(stage: &'s Stage<'s>, folding: &'s Folding) -> Self {
        Self {
            stage,
            folding,
            ids: Names::keyed(stage.table()),
            groups: Names::keyed(stage.table()),
            owners: Vec::new(),
            rows: Vec::new(),
            cells: Vec::new(),
            written: Vec::new(),
            rows_of_group: Dealt::default(),
            groups_of_person: Dealt::default(),
        }
    }

    /// Take in one row as a router wrote it.
    pub fn row(&mut self, rest: &mut &[u8]) {
        let id = take(take_length(rest), rest);
        let person = self.ids.number(id);
        let group = if self.stage.groups().is_some() {
            let key = take(take_length(rest), rest);
            self.written.clear();
            self.written.extend_from_slice(&(person as u64).to_le_bytes());
            self.written.extend_from_slice(key);
            let group = self.groups.number(&self.written);
            if group == self.owners.len() {
                self.owners.push((person, group));
            }
            group
        } else {
            person
        };
        let start = self.cells.len();
        let len = take_length(rest);
        self.cells.extend_from_slice(take(len, rest));
        let added_up = if self.stage.adds_up() { take_length(rest) } else { 0 };
        self.cells.extend_from_slice(take(added_up, rest));
        self.rows.push((group, Span { start, len, added_up }));
    }

    /// Hand over the rows that are kept, and begin anew.
    pub fn deliver(&mut self, drawing: &mut Drawing<'_>, decoder: &mut Decoder, visitor: &mut dyn Visitor) {
        self.draw(drawing, |cells| decoder.row(cells, visitor));
        self.ids.clear();
        self.groups.clear();
        self.owners.clear();
        self.rows.clear();
        self.cells.clear();
    }

    fn draw(&mut self, drawing: &mut Drawing<'_>, hand_over: impl FnMut(&[u8])) {
        let most_rows = self.stage.rows();
        let mut beside = Beside { folded: self.folding.room(), written: Vec::new(), hand_over };
        let Some(most_groups) = self.stage.groups() else {
            self.rows_of_group.deal(&self.rows, self.ids.len());
            for (person, id) in self.ids.iter().enumerate() {
                let rows = self.rows_of_group.of(person);
                let mut hand_over = beside.values_of(rows, &self.cells);
                drawing.rows(&self.cells, rows, most_rows, id, &[], &mut hand_over);
            }
            return;
        };
        self.rows_of_group.deal(&self.rows, self.groups.len());
        self.groups_of_person.deal(&self.owners, self.ids.len());
        for (person, id) in self.ids.iter().enumerate() {
            let groups = self.groups_of_person.of(person);
            drawing.groups(groups, most_groups, id, |group| self.key(group));
            for at in 0..drawing.groups.len() {
                let group = drawing.groups[at].what;
                let rows = self.rows_of_group.of(group);
                let mut hand_over = beside.values_of(rows, &self.cells);
                drawing.rows(&self.cells, rows, most_rows, id, self.key(group), &mut hand_over);
            }
        }
    }

    /// The cells of a group's key, behind the number of its person.
    fn key(&self, group: usize) -> &[u8] {
        &self.groups.name(group)[size_of::<u64>()..]
    }
}

/// Puts the values of a person beside the first of the rows that are kept of a group; the others have none.
struct Beside<'f, F> {
    folded: Folded<'f>,
    written: Vec<u8>,
    hand_over: F,
}

impl<F: FnMut(&[u8])> Beside<'_, F> {
    /// What hands over the rows that are kept of these.
    fn values_of(&mut self, rows: &[Span], cells: &[u8]) -> impl FnMut(&[u8]) {
        let Self { folded, written, hand_over } = self;
        let adds_up = !folded.is_empty();
        if adds_up {
            folded.clear();
            for row in rows {
                folded.add(row.added_up(cells));
            }
        }
        let mut first = true;
        move |row: &[u8]| {
            if !adds_up {
                return hand_over(row);
            }
            written.clear();
            written.extend_from_slice(row);
            if std::mem::take(&mut first) {
                folded.put(written);
            } else {
                folded.put_nothing(written);
            }
            hand_over(written);
        }
    }
}

/// Draws for one person after the other; its buffers are used again and again.
pub(super) struct Drawing<'s> {
    ranking: &'s Ranking,
    message: Vec<u8>,
    groups: Vec<Placed<usize>>,
    rows: Vec<Placed<Copied>>,
}

/// A row and how many of its copies stand before it, itself included.
#[derive(Clone, Copy)]
struct Copied {
    span: Span,
    copy: u64,
}

impl<'s> Drawing<'s> {
    pub fn new(ranking: &'s Ranking) -> Self {
        Self { ranking, message: Vec::new(), groups: Vec::new(), rows: Vec::new() }
    }

    /// Leave the first groups of a person in [`groups`](Self::groups), no more than that.
    fn groups<'k>(&mut self, groups: &[usize], most: usize, id: &[u8], key: impl Fn(usize) -> &'k [u8]) {
        let Self { ranking, message, groups: placed, .. } = self;
        placed.clear();
        if groups.len() <= most {
            placed.extend(groups.iter().map(|&what| Placed { place: 0, what }));
            return;
        }
        for some in groups.chunks(HASHES) {
            stop::look();
            placed.extend(some.iter().map(|&what| {
                ranking.group_message(id, key(what), message);
                Placed { place: ranking.place(message), what }
            }));
        }
        keep_first(placed, most, |&group| {
            let mut message = Vec::new();
            ranking.group_message(id, key(group), &mut message);
            message
        });
    }

    /// Hand over the first rows of a group, no more than that.
    fn rows(
        &mut self,
        cells: &[u8],
        rows: &[Span],
        most: usize,
        id: &[u8],
        key: &[u8],
        hand_over: &mut impl FnMut(&[u8]),
    ) {
        // Of copies of one row it does not matter which are kept; where nobody wants cells, all rows are copies.
        let all_alike = || cells.is_empty() || rows.iter().all(|row| row.of(cells) == rows[0].of(cells));
        if rows.len() <= most || all_alike() {
            rows.iter().take(most).for_each(|row| hand_over(row.of(cells)));
            return;
        }
        self.ranking.group_message(id, key, &mut self.message);
        self.place(cells, rows);
        self.number_copies(cells);
        let ranking = self.ranking;
        keep_first(&mut self.rows, most, |row| {
            let mut message = Vec::new();
            ranking.group_message(id, key, &mut message);
            ranking.row_message(row.span.of(cells), row.copy, &mut message);
            message
        });
        self.rows.iter().for_each(|row| hand_over(row.what.span.of(cells)));
    }

    /// Place all rows as if there were one copy of each. The message is that of their group.
    fn place(&mut self, cells: &[u8], rows: &[Span]) {
        let Self { ranking, message, rows: placed, .. } = self;
        let beginning = message.len();
        placed.clear();
        for some in rows.chunks(HASHES) {
            stop::look();
            placed.extend(some.iter().map(|&span| {
                message.truncate(beginning);
                ranking.row_message(span.of(cells), 1, message);
                Placed { place: ranking.place(message), what: Copied { span, copy: 1 } }
            }));
        }
        message.truncate(beginning);
    }

    /// Number copies and place them anew.
    fn number_copies(&mut self, cells: &[u8]) {
        let Self { ranking, message, rows: placed, .. } = self;
        // Copies have the same place so far, and lie side by side in this order.
        placed.sort_unstable_by(|one, other| {
            let by_cells = || one.what.span.of(cells).cmp(other.what.span.of(cells));
            one.place.cmp(&other.place).then_with(by_cells)
        });
        let beginning = message.len();
        let mut of_first = placed[0].place;
        for at in 1..placed.len() {
            if at % HASHES == 0 {
                stop::look();
            }
            let (before, span) = (placed[at - 1].what, placed[at].what.span);
            if placed[at].place == of_first && before.span.of(cells) == span.of(cells) {
                let what = Copied { span, copy: before.copy + 1 };
                message.truncate(beginning);
                ranking.row_message(span.of(cells), what.copy, message);
                placed[at] = Placed { place: ranking.place(message), what };
            } else {
                of_first = placed[at].place;
            }
        }
    }
}

/// Items by owner.
#[derive(Default)]
struct Dealt<T> {
    /// Where the items of each owner begin, and where the last end.
    starts: Vec<usize>,
    items: Vec<T>,
}

impl<T: Copy + Default> Dealt<T> {
    /// Deal items, each with its owner, to so many owners.
    fn deal(&mut self, owned: &[(usize, T)], owners: usize) {
        self.starts.clear();
        self.starts.resize(owners + 1, 0);
        for &(owner, _) in owned {
            self.starts[owner] += 1;
        }
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        // Each start is still an end, and moves to the front with every item.
        self.items.resize(owned.len(), T::default());
        for &(owner, item) in owned {
            self.starts[owner] -= 1;
            self.items[self.starts[owner]] = item;
        }
    }

    fn of(&self, owner: usize) -> &[T] {
        &self.items[self.starts[owner]..self.starts[owner + 1]]
    }
}
