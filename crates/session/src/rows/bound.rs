//! At most so many rows of each person, drawn by fresh coins; where answers are grouped, in at most so many groups.
//!
//! # Guarantee
//!
//! Of a person with m rows, each set of min(m, R) of them is kept with the same probability, independently of all other
//! people. With groups: each set of min(g, G) of the person's g groups, and within each of these each set of min(m, R) of
//! its rows. [`Bound::rows_per_unit`] is the most rows that are kept of one person.
//!
//! # Why
//!
//! 1. The first R rows of a group fill R places. The j-th row after that draws a number below j and takes the place of that
//!    number, if there is one. By induction every set of R of the first j rows is equally likely: the new row is in with
//!    probability R/j, and pushes out each other with the same probability.
//! 2. Each draw is fresh and used for one person only.
//!
//! # Memory
//!
//! Rows are dealt into parts by a keyed hash of their id, so that all rows of a person are in one part, and the parts wait in
//! a [`Spill`]. Each part is then read once; what it keeps of its people is all that is in memory. Ids are compared byte for
//! byte: the hash decides only which part, and so carries no guarantee.

use super::{
    Hands,
    encode::{Decoder, put, put_length, take, take_length},
    id, place_of,
    spill::{MEMORY, Piece, Spill},
    text_at,
};
use crate::{
    names::{self, Names},
    quiet::ended_by,
    source::{Batch, Kind, Visitor, Wanted},
    unanswered::Unanswered,
};
use equipoise_core::{
    coins::Coins,
    sampler::uniform::{Below, shuffle},
    stop,
};
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
    pub groups: Option<Groups>,
}

/// Groups of a person's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    /// Rows that agree in these are one group.
    pub keys: Vec<Wanted>,
    /// How many groups of a person are kept.
    pub most: u64,
}

/// Into how many parts people are dealt.
const PARTS: usize = 256;
/// A part's rows are put away when there are so many bytes of them.
const PIECE: usize = 64 << 10;

impl Bound {
    /// The cells of the person's name, and of the keys of groups.
    pub fn wanted(&self) -> Vec<Wanted> {
        let unit = Wanted { column: self.unit, kind: Kind::Text };
        let keys = self.groups.iter().flat_map(|groups| groups.keys.iter().copied());
        std::iter::once(unit).chain(keys).collect()
    }

    /// The most rows of one person that are let through.
    pub fn rows_per_unit(&self) -> u64 {
        self.rows.saturating_mul(self.groups.as_ref().map_or(1, |groups| groups.most))
    }

    /// How many of the rows that are let through one row more can change. Without groups it takes the place of at most one
    /// other. With groups it may open a group of the person's, which takes the place of at most one other with all its
    /// kept rows.
    pub fn changed_by_row(&self) -> u64 {
        match self.groups {
            None => 2,
            Some(_) => self.rows.saturating_add(1),
        }
    }

    /// One scan's work, with the default limits.
    pub(super) fn stage(&self, wanted: &[Wanted], key: [u64; 2]) -> Stage<'_> {
        self.stage_within(wanted, key, PARTS, PIECE, MEMORY)
    }

    fn stage_within(
        &self,
        wanted: &[Wanted],
        key: [u64; 2],
        parts: usize,
        piece: usize,
        memory: u64,
    ) -> Stage<'_> {
        let mut all = wanted.to_vec();
        let unit = place_of(Wanted { column: self.unit, kind: Kind::Text }, &mut all);
        let keys: &[Wanted] = self.groups.as_ref().map_or(&[], |groups| &groups.keys);
        let keys = keys.iter().map(|&key| place_of(key, &mut all)).collect();
        Stage {
            bound: self,
            wanted: all,
            columns: wanted.len(),
            unit,
            keys,
            key,
            piece,
            spill: Spill::new(memory),
            parts: (0..parts).map(|_| Mutex::default()).collect(),
        }
    }
}

/// The rows of one scan on their way to the questions.
pub(super) struct Stage<'a> {
    bound: &'a Bound,
    /// What the source is asked for: first what the questions want, then what only this stage needs.
    wanted: Vec<Wanted>,
    columns: usize,
    unit: usize,
    keys: Vec<usize>,
    key: [u64; 2],
    piece: usize,
    spill: Spill,
    parts: Vec<Mutex<Vec<Piece>>>,
}

impl Stage<'_> {
    pub fn wanted(&self) -> &[Wanted] {
        &self.wanted
    }

    pub fn router(&self) -> Router<'_> {
        Router { stage: self, buffers: self.parts.iter().map(|_| Vec::new()).collect(), written: Vec::new() }
    }

    fn hash(&self, bytes: &[u8]) -> u64 {
        names::hash(self.key, bytes)
    }

    fn put_away(&self, part: usize, buffer: &mut Vec<u8>) {
        let piece = self.spill.keep(buffer);
        self.parts[part].lock().unwrap_or_else(PoisonError::into_inner).push(piece);
    }

    /// Keep the bound in every part, and hand over what is left.
    pub fn deliver<C: Coins>(
        self,
        visitors: &mut [&mut dyn Visitor],
        hands: Hands<'_, C>,
    ) -> Result<(), Unanswered> {
        self.spill.intact()?;
        let next = AtomicUsize::new(0);
        match hands {
            Hands::One(coins) => {
                visitors.iter_mut().try_for_each(|visitor| self.work(&next, &mut **visitor, coins))
            }
            Hands::Several(coins) => thread::scope(|scope| {
                let (stage, next) = (&self, &next);
                let threads: Vec<_> = visitors
                    .iter_mut()
                    .zip(coins)
                    .map(|(visitor, coins)| {
                        scope.spawn(stop::carried(move || stage.work(next, &mut **visitor, coins)))
                    })
                    .collect();
                // Wait for all: a panic that nobody asks about would go on in this thread.
                let ends: Vec<Result<(), Unanswered>> = threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(|panic| Err(ended_by(&*panic))))
                    .collect();
                ends.into_iter().collect()
            }),
        }
    }

    fn work<C: Coins>(
        &self,
        next: &AtomicUsize,
        visitor: &mut dyn Visitor,
        coins: &mut C,
    ) -> Result<(), Unanswered> {
        let mut decoder = Decoder::new(&self.wanted[..self.columns]);
        while let Some(part) = self.parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let pieces = std::mem::take(&mut *part.lock().unwrap_or_else(PoisonError::into_inner));
            if pieces.is_empty() {
                continue;
            }
            let mut people = People::default();
            let mut buffer = Vec::new();
            for piece in pieces {
                let mut rest = self.spill.read(&piece, &mut buffer)?;
                stop::look();
                while !rest.is_empty() {
                    people.row(self, &mut rest, coins);
                }
            }
            people.deliver(self.bound, &mut decoder, visitor, coins);
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
            if buffer.len() >= stage.piece {
                stage.put_away(part, buffer);
            }
        }
    }
}

/// The people of one part and the rows that are kept of them so far.
#[derive(Default)]
struct People {
    ids: Names,
    /// The groups of all people, each named by its person and its key; without groups, the people themselves.
    groups: Names,
    /// One for each group.
    kept: Vec<Reservoir>,
    /// The cells of rows that are or were kept.
    cells: Vec<u8>,
    written: Vec<u8>,
}

/// Some rows of a group, each set of them equally likely.
struct Reservoir {
    person: usize,
    seen: u64,
    first: Span,
    more: Vec<Span>,
}

#[derive(Clone, Copy)]
struct Span {
    start: usize,
    len: usize,
}

impl People {
    /// Take in one row as a router wrote it.
    fn row<C: Coins>(&mut self, stage: &Stage<'_>, rest: &mut &[u8], coins: &mut C) {
        let id = take(take_length(rest), rest);
        let person = self.ids.number(stage.hash(id), id);
        let group = if stage.bound.groups.is_some() {
            let key = take(take_length(rest), rest);
            self.written.clear();
            self.written.extend_from_slice(&(person as u64).to_le_bytes());
            self.written.extend_from_slice(key);
            self.groups.number(stage.hash(&self.written), &self.written)
        } else {
            person
        };
        let cells = take(take_length(rest), rest);
        let Some(reservoir) = self.kept.get_mut(group) else {
            let first = store(cells, &mut self.cells);
            self.kept.push(Reservoir { person, seen: 1, first, more: Vec::new() });
            return;
        };
        reservoir.seen += 1;
        if reservoir.seen <= stage.bound.rows {
            reservoir.more.push(store(cells, &mut self.cells));
            return;
        }
        let place = coins.sample(&Below(reservoir.seen));
        if place < stage.bound.rows {
            let span = store(cells, &mut self.cells);
            match usize::try_from(place).expect("a place in memory").checked_sub(1) {
                None => reservoir.first = span,
                Some(place) => reservoir.more[place] = span,
            }
        }
    }

    fn deliver<C: Coins>(
        self,
        bound: &Bound,
        decoder: &mut Decoder,
        visitor: &mut dyn Visitor,
        coins: &mut C,
    ) {
        let mut hand_over = |reservoir: &Reservoir| {
            for span in std::iter::once(&reservoir.first).chain(&reservoir.more) {
                decoder.row(&self.cells[span.start..span.start + span.len], visitor);
            }
        };
        let Some(groups) = &bound.groups else {
            self.kept.iter().for_each(hand_over);
            return;
        };
        let mut of_person: Vec<Vec<usize>> = vec![Vec::new(); self.ids.len()];
        for (group, reservoir) in self.kept.iter().enumerate() {
            of_person[reservoir.person].push(group);
        }
        let most = usize::try_from(groups.most).unwrap_or(usize::MAX);
        for mut mine in of_person {
            if mine.len() > most {
                shuffle(&mut mine, coins);
                mine.truncate(most);
            }
            for group in mine {
                hand_over(&self.kept[group]);
            }
        }
    }
}

fn store(cells: &[u8], all: &mut Vec<u8>) -> Span {
    let start = all.len();
    all.extend_from_slice(cells);
    Span { start, len: cells.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gather::tests::FixedWords, source::Cells};
    use equipoise_core::{interval::Interval, ratio::Ratio, tape::enumerate};
    use std::collections::HashMap;

    /// The rows of one person each, a letter for the key.
    struct Rows(Vec<(f64, String)>);

    impl Visitor for Rows {
        fn batch(&mut self, batch: Batch<'_>) {
            let [Cells::Floats(values), Cells::Texts(keys)] = batch.cells else { panic!("two columns") };
            self.0
                .extend(values.iter().zip(*keys).map(|(&value, key)| (value, key.unwrap_or("").to_string())));
        }
    }

    fn wanted() -> [Wanted; 2] {
        [Wanted { column: 1, kind: Kind::Float }, Wanted { column: 2, kind: Kind::Text }]
    }

    fn bound(rows: u64, most: Option<u64>) -> Bound {
        let groups = most.map(|most| Groups { keys: vec![wanted()[1]], most });
        Bound { unit: 0, rows, groups }
    }

    struct Limits {
        parts: usize,
        piece: usize,
        memory: u64,
    }

    const SMALL: Limits = Limits { parts: 3, piece: 40, memory: 100 };

    /// What is kept of rows (id, key), whose values are 0, 1, 2, ….
    fn kept<C: Coins>(
        bound: &Bound,
        rows: &[(&str, &str)],
        limits: &Limits,
        coins: &mut C,
    ) -> Vec<(f64, String)> {
        let stage = bound.stage_within(&wanted(), [1, 2], limits.parts, limits.piece, limits.memory);
        assert_eq!(stage.wanted().len(), 3);
        let mut router = stage.router();
        for (at, &(id, key)) in rows.iter().enumerate() {
            let cells = [Cells::Floats(&[at as f64]), Cells::Texts(&[Some(key)]), Cells::Texts(&[Some(id)])];
            router.batch(Batch { rows: 1, cells: &cells });
        }
        router.finish();
        let mut out = Rows(Vec::new());
        stage.deliver(&mut [&mut out], Hands::One(coins)).unwrap();
        out.0.sort_by(|a, b| a.0.total_cmp(&b.0));
        out.0
    }

    fn floor() -> Ratio {
        "1e-12".parse().unwrap()
    }

    /// Every subset of the right size, all equally likely: enumerated.
    #[test]
    fn each_set_of_a_persons_rows_is_equally_likely() {
        for (many, most, sets) in [(1, 1, 1u64), (4, 1, 4), (4, 2, 6), (4, 3, 4), (5, 2, 10), (3, 7, 1)] {
            let rows: Vec<(&str, &str)> = vec![("ann", "a"); many];
            let pmf = enumerate(&floor(), |tape| {
                let values = kept(&bound(most, None), &rows, &SMALL, tape);
                values.iter().map(|(value, _)| value.to_bits()).collect::<Vec<_>>()
            });
            let expected = Interval::exact(&Ratio::new(1, sets), 64);
            let masses: Vec<_> = pmf.iter().collect();
            assert_eq!(masses.len() as u64, sets, "{many} {most}");
            for (_, mass) in masses {
                assert!(
                    mass.lower() <= expected.upper() && expected.lower() <= mass.upper(),
                    "{many} {most}"
                );
            }
        }
    }

    #[test]
    fn each_set_of_groups_is_equally_likely_whatever_their_sizes() {
        let rows = [("ann", "a"), ("ann", "a"), ("ann", "a"), ("ann", "b"), ("ann", "c"), ("ann", "c")];
        let pmf = enumerate(&floor(), |tape| {
            let rows = kept(&bound(1, Some(2)), &rows, &SMALL, tape);
            rows.into_iter().map(|(_, key)| key).collect::<Vec<_>>()
        });
        let masses: Vec<_> = pmf.iter().collect();
        assert_eq!(masses.len(), 3);
        for (keys, mass) in masses {
            assert_eq!(keys.len(), 2);
            assert!(mass.lower() <= Ratio::new(1, 3) && mass.upper() >= Ratio::new(1, 3), "{keys:?}");
        }
    }

    #[test]
    fn people_keep_their_bound_and_limits_change_nothing() {
        let names: Vec<String> = (0..500).map(|i| format!("{}", (i * i) % 37)).collect();
        let rows: Vec<(&str, &str)> =
            names.iter().enumerate().map(|(i, id)| (id.as_str(), ["a", "b", "c"][i % 3])).collect();
        for (most_rows, most_groups) in [(1, None), (3, None), (1000, None), (2, Some(1)), (1, Some(2))] {
            let bound = bound(most_rows, most_groups);
            let of = |limits: &Limits| kept(&bound, &rows, limits, &mut FixedWords(7));
            let tiny = of(&Limits { parts: 5, piece: 1, memory: 0 });
            assert_eq!(tiny, of(&Limits { parts: 5, piece: 1 << 20, memory: 1 << 30 }));
            assert_eq!(tiny, of(&Limits { parts: 5, piece: 100, memory: 1000 }));
            let mut counts: HashMap<(&str, &str), u64> = HashMap::new();
            for (value, key) in &tiny {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "small whole numbers"
                )]
                let row = rows[*value as usize];
                assert_eq!(row.1, key);
                *counts.entry((row.0, if most_groups.is_some() { row.1 } else { "" })).or_default() += 1;
            }
            for (&(id, key), &count) in &counts {
                let mine = |row: &&(&str, &str)| row.0 == id && (key.is_empty() || row.1 == key);
                let there = rows.iter().filter(mine).count() as u64;
                assert_eq!(count, there.min(most_rows), "{id} {key}");
            }
            let people: std::collections::BTreeSet<&str> = counts.keys().map(|(id, _)| *id).collect();
            let all: std::collections::BTreeSet<&str> = rows.iter().map(|row| row.0).collect();
            assert_eq!(people, all);
            for id in people {
                let groups = counts.keys().filter(|(other, _)| *other == id).count() as u64;
                assert!(groups <= most_groups.unwrap_or(1), "{id} is in {groups} groups");
            }
        }
    }

    #[test]
    fn records_without_an_id_are_nobodys() {
        let rows = [("", "a"), (" ann", "a"), ("ann ", "b"), ("\t", "c")];
        let left = kept(&bound(9, None), &rows, &SMALL, &mut FixedWords(1));
        assert_eq!(left, [(1.0, "a".to_string()), (2.0, "b".to_string())]);
    }
}
