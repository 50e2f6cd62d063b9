//! Records dealt into blocks, each block as cells of its columns: as comma-separated text with the names of the columns on top,
//! or whatever somebody else makes of the cells.
//!
//! Within a block records stand in a random order, drawn afresh: which order they had in the file, or on which thread they
//! were read, is nothing that a program learns.

use super::printed;
use crate::{
    rows::id,
    source::{Batch, Cells, ColumnRead, ColumnType, Lost, Source, Visitor},
    votes::{Ballot, Ballots, Vote, VotePlan},
};
use equipoise_core::{coins::Coins, sampler::uniform::shuffle};
use std::{fmt, sync::Arc};

/// Blocks of records, for whoever runs programs on them. How many there are is public, what is in them is not.
pub struct ProgramBlocks {
    names: Vec<String>,
    kinds: Vec<ColumnType>,
    records: Arc<Records>,
    blocks: Vec<Vec<usize>>,
    ballots: Ballots,
}

impl fmt::Debug for ProgramBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramBlocks").field("count", &self.blocks.len()).finish_non_exhaustive()
    }
}

/// How cells are handed to programs: as text, or, where that is wanted, as what the columns are declared to be.
pub fn kinds(source: &dyn Source, typed: bool) -> Vec<ColumnType> {
    let kind = |column| source.declared(column).filter(|_| typed).unwrap_or(ColumnType::Text);
    (0..source.columns().len()).map(kind).collect()
}

impl ProgramBlocks {
    /// How many blocks.
    pub fn count(&self) -> usize {
        self.blocks.len()
    }

    /// The names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What the cells of each column are.
    pub fn kinds(&self) -> &[ColumnType] {
        &self.kinds
    }

    /// See the cells of a block, column by column.
    pub fn see<R>(&self, index: usize, seen: impl FnOnce(Batch<'_>) -> R) -> R {
        let places = &self.blocks[index];
        let taken: Vec<Taken> = self.records.columns.iter().map(|column| column.take(places)).collect();
        let cells: Vec<Cells> = taken.iter().map(Taken::cells).collect();
        seen(Batch { rows: places.len(), cells: &cells })
    }

    /// A block as comma-separated text. Panics where cells are not text.
    pub fn csv(&self, index: usize) -> Vec<u8> {
        let mut lines = header(&self.names);
        self.see(index, |batch| {
            for row in 0..batch.rows {
                write_line(batch.cells.iter().map(|cells| text(cells, row)), &mut lines);
            }
        });
        lines
    }

    /// What was printed on a block, as a vote.
    pub fn read(&self, printed: &[u8]) -> Option<Vote> {
        printed::read(&self.ballots, printed)
    }

    /// Blocks of these places, in each of which records stand in a random order.
    fn of<C: Coins>(
        read: &ProgramRecords,
        mut blocks: Vec<Vec<usize>>,
        ballots: Ballots,
        coins: &mut C,
    ) -> Self {
        for block in &mut blocks {
            shuffle(block, coins);
        }
        let (names, kinds) = (read.names.clone(), read.kinds.clone());
        Self { names, kinds, records: Arc::clone(&read.records), blocks, ballots }
    }
}

/// All records of a source, read once: private.
pub(crate) struct ProgramRecords {
    names: Vec<String>,
    kinds: Vec<ColumnType>,
    records: Arc<Records>,
    by_people: bool,
}

impl ProgramRecords {
    /// Read all records that a plan deals.
    pub fn read(source: &dyn Source, plan: &VotePlan, threads: usize) -> Result<Self, Lost> {
        Self::read_as(source, kinds(source, plan.is_typed()), plan.unit(), threads)
    }

    fn read_as(
        source: &dyn Source,
        kinds: Vec<ColumnType>,
        people: Option<usize>,
        threads: usize,
    ) -> Result<Self, Lost> {
        let records = Arc::new(Records::read(source, &kinds, people, threads)?);
        Ok(Self { names: source.columns().to_vec(), kinds, records, by_people: people.is_some() })
    }

    /// How many there are: private, unless rows can only be replaced.
    pub fn count(&self) -> usize {
        self.records.count
    }

    /// Whose each record is, where people are dealt; private.
    pub fn people(&self) -> Option<Vec<Option<String>>> {
        let name = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned());
        self.by_people.then(|| self.records.people.iter().map(|bytes| name(bytes)).collect())
    }

    /// Blocks as a plan deals them, afresh; what programs print on them is read by these ballots.
    pub fn deal<C: Coins>(&self, plan: &VotePlan, ballots: &Ballots, coins: &mut C) -> ProgramBlocks {
        let blocks = if self.by_people {
            plan.deal_named(&self.records.people, coins)
        } else {
            plan.deal_rows(self.records.count, coins)
        };
        ProgramBlocks::of(self, blocks, ballots.clone(), coins)
    }

    /// The votes of all blocks, and what they chose first where there is a choice.
    pub fn vote<C: Coins>(
        &self,
        plan: &VotePlan,
        run: &mut impl FnMut(&ProgramBlocks, Option<&str>) -> Vec<Option<Vote>>,
        coins: &mut C,
    ) -> Ballot {
        let chosen = plan.analyses().and_then(|analyses| {
            let votes = run(&self.deal(plan, analyses.ballots(), coins), None);
            plan.choose(votes, coins)
        });
        let votes = run(&self.deal(plan, plan.ballots(), coins), chosen.as_deref());
        Ballot { votes, rows: Some(self.count() as u64), chosen }
    }

    /// Blocks of these places.
    pub fn blocks<C: Coins>(
        &self,
        places: Vec<Vec<usize>>,
        ballots: &Ballots,
        coins: &mut C,
    ) -> ProgramBlocks {
        ProgramBlocks::of(self, places, ballots.clone(), coins)
    }
}

/// The names of the columns as the first line of a block.
pub fn header(columns: &[String]) -> Vec<u8> {
    let mut line = Vec::new();
    write_line(columns.iter().map(|name| Some(name.as_str())), &mut line);
    line
}

/// All records, column by column, and whose they are where that is asked for.
#[derive(Default)]
struct Records {
    count: usize,
    columns: Vec<Column>,
    people: Vec<Box<[u8]>>,
    /// The place of the id among the cells.
    id: Option<usize>,
}

/// The cells of one column.
enum Column {
    Floats(Vec<f64>),
    Integers(Vec<Option<i64>>),
    /// Texts one after the other, and where each ends; an empty one is null.
    Texts(String, Vec<usize>),
}

/// Some cells of a column.
enum Taken<'a> {
    Floats(Vec<f64>),
    Integers(Vec<Option<i64>>),
    Texts(Vec<Option<&'a str>>),
}

impl Column {
    fn new(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Text => Self::Texts(String::new(), Vec::new()),
            ColumnType::Float => Self::Floats(Vec::new()),
            _ => Self::Integers(Vec::new()),
        }
    }

    fn push(&mut self, cells: &Cells<'_>, row: usize) {
        match (self, cells) {
            (Self::Floats(all), Cells::Floats(floats)) => all.push(floats[row]),
            (Self::Integers(all), Cells::Integers(integers)) => all.push(integers[row]),
            (Self::Texts(all, ends), cells) => {
                all.push_str(text(cells, row).unwrap_or_default());
                ends.push(all.len());
            }
            _ => panic!("a source hands over the kinds that were wanted"),
        }
    }

    fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Floats(all), Self::Floats(more)) => all.extend(more),
            (Self::Integers(all), Self::Integers(more)) => all.extend(more),
            (Self::Texts(all, ends), Self::Texts(more, more_ends)) => {
                let start = all.len();
                all.push_str(&more);
                ends.extend(more_ends.iter().map(|end| start + end));
            }
            _ => panic!("parts of one column are of one kind"),
        }
    }

    fn take(&self, places: &[usize]) -> Taken<'_> {
        match self {
            Self::Floats(all) => Taken::Floats(places.iter().map(|&place| all[place]).collect()),
            Self::Integers(all) => Taken::Integers(places.iter().map(|&place| all[place]).collect()),
            Self::Texts(all, ends) => {
                let start = |place: usize| place.checked_sub(1).map_or(0, |before| ends[before]);
                let text = |&place: &usize| Some(&all[start(place)..ends[place]]);
                Taken::Texts(places.iter().map(|place| text(place).filter(|text| !text.is_empty())).collect())
            }
        }
    }
}

impl Taken<'_> {
    fn cells(&self) -> Cells<'_> {
        match self {
            Self::Floats(floats) => Cells::Floats(floats),
            Self::Integers(integers) => Cells::Integers(integers),
            Self::Texts(texts) => Cells::Texts(texts),
        }
    }
}

impl Records {
    fn read(
        source: &dyn Source,
        kinds: &[ColumnType],
        unit: Option<usize>,
        threads: usize,
    ) -> Result<Self, Lost> {
        let mut wanted: Vec<ColumnRead> =
            kinds.iter().enumerate().map(|(column, &kind)| ColumnRead { column, kind }).collect();
        // An id is a text, whatever the column holds.
        let id = unit.map(|column| {
            if kinds[column] == ColumnType::Text {
                return column;
            }
            wanted.push(ColumnRead { column, kind: ColumnType::Text });
            wanted.len() - 1
        });
        let empty =
            || Self { columns: kinds.iter().map(|&kind| Column::new(kind)).collect(), id, ..Self::default() };
        let mut parts: Vec<Self> = (0..threads.max(1)).map(|_| empty()).collect();
        let mut visitors: Vec<&mut dyn Visitor> =
            parts.iter_mut().map(|part| part as &mut dyn Visitor).collect();
        source.scan(&wanted, &mut visitors)?;
        let mut all = empty();
        for part in parts {
            all.count += part.count;
            all.people.extend(part.people);
            for (column, more) in all.columns.iter_mut().zip(part.columns) {
                column.append(more);
            }
        }
        Ok(all)
    }
}

impl Visitor for Records {
    fn batch(&mut self, batch: Batch<'_>) {
        for row in 0..batch.rows {
            if let Some(place) = self.id {
                // A record of nobody is dropped, on its own.
                let Some(person) = id::canonical(text(&batch.cells[place], row)) else { continue };
                self.people.push(person.as_bytes().into());
            }
            for (column, cells) in self.columns.iter_mut().zip(batch.cells) {
                column.push(cells, row);
            }
            self.count += 1;
        }
    }
}

fn text<'a>(cells: &Cells<'a>, row: usize) -> Option<&'a str> {
    match cells {
        Cells::Texts(texts) => texts[row],
        Cells::Coded { texts, codes } => codes[row].map(|code| texts[code as usize]),
        Cells::Floats(_) | Cells::Integers(_) => panic!("a source hands over the kinds that were wanted"),
    }
}

/// A line of fields, quoted where they must be. A null is an empty field.
fn write_line<'a>(fields: impl Iterator<Item = Option<&'a str>>, into: &mut Vec<u8>) {
    for (place, field) in fields.enumerate() {
        if place > 0 {
            into.push(b',');
        }
        let field = field.unwrap_or_default().as_bytes();
        if field.iter().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
            into.push(b'"');
            for &byte in field {
                into.push(byte);
                if byte == b'"' {
                    into.push(b'"');
                }
            }
            into.push(b'"');
        } else {
            into.extend_from_slice(field);
        }
    }
    into.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gather::tests::Memory, votes::Output};
    use equipoise_core::{
        adjacency::Adjacency,
        coins::Words,
        subsample::partition::{Design, Partition},
    };

    /// Fixed words, so that a test cannot fail by chance.
    struct SplitMix(u64);

    impl Words for SplitMix {
        fn word(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed ^ (mixed >> 27)
        }
    }

    fn dealt(towns: &[&str], people: Option<usize>, threads: usize) -> ProgramBlocks {
        struct Towns(Vec<String>, Vec<String>);
        impl Source for Towns {
            fn columns(&self) -> &[String] {
                &self.0
            }
            fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
                let texts: Vec<Option<&str>> =
                    self.1.iter().map(|text| (!text.is_empty()).then_some(text.as_str())).collect();
                let places: Vec<String> = (0..texts.len()).map(|place| place.to_string()).collect();
                let places: Vec<Option<&str>> = places.iter().map(|place| Some(place.as_str())).collect();
                let many = visitors.len();
                for (row, (place, text)) in places.iter().zip(&texts).enumerate() {
                    let cells: Vec<Cells> = wanted
                        .iter()
                        .map(|one| {
                            Cells::Texts(std::slice::from_ref(if one.column == 0 { place } else { text }))
                        })
                        .collect();
                    visitors[row % many].batch(Batch { rows: 1, cells: &cells });
                }
                Ok(())
            }
        }
        let design = if people.is_some() {
            Design::People { blocks: 4, rounds: 1 }
        } else {
            Design::Rows { blocks: 4, rounds: 1 }
        };
        let partition = Partition { design, adjacency: Adjacency::AddRemove }.calibrate().unwrap();
        let source =
            Towns(vec!["n".into(), "town, \"old\"".into()], towns.iter().map(ToString::to_string).collect());
        let (kinds, ballots, coins) =
            (kinds(&source, true), Ballots::new(Output::Number, None), &mut SplitMix(7));
        let read = ProgramRecords::read_as(&source, kinds, people, threads).unwrap();
        let dealt = match people {
            Some(_) => partition.deal_people(&read.records.people, coins),
            None => partition.deal_rows(read.count(), coins),
        };
        read.blocks(dealt.iter().map(<[usize]>::to_vec).collect(), &ballots, coins)
    }

    #[test]
    fn every_record_is_in_one_block_under_the_names_of_its_columns() {
        for threads in [1, 3] {
            let blocks = dealt(&["Ayr", "a,b", "say \"x\"", "", "Ayr"], None, threads);
            assert_eq!(blocks.count(), 4);
            let mut lines = Vec::new();
            for index in 0..4 {
                let text = String::from_utf8(blocks.csv(index)).unwrap();
                let mut rest = text.lines().map(str::to_string);
                assert_eq!(rest.next().unwrap(), "n,\"town, \"\"old\"\"\"");
                lines.extend(rest);
            }
            lines.sort();
            assert_eq!(lines, ["0,Ayr", "1,\"a,b\"", "2,\"say \"\"x\"\"\"", "3,", "4,Ayr"]);
            assert_eq!(format!("{blocks:?}"), "ProgramBlocks { count: 4, .. }");
        }
    }

    #[test]
    fn all_records_of_a_person_are_in_one_block_and_those_of_nobody_in_none() {
        let blocks = dealt(&["ann", "bob", "ann", "", "ann", "cid", "bob"], Some(1), 2);
        let found: Vec<String> = (0..4).map(|index| String::from_utf8(blocks.csv(index)).unwrap()).collect();
        for person in ["ann", "bob", "cid"] {
            assert_eq!(found.iter().filter(|text| text.contains(person)).count(), 1, "{person}");
        }
        assert_eq!(found.iter().map(|text| text.lines().count() - 1).sum::<usize>(), 6);
    }

    /// Spellings of one id are one person, as in every other question.
    #[test]
    fn an_id_with_space_around_it_is_the_same_person() {
        let blocks = dealt(&["7", " 7", "7 ", "\t7", "  ", "7", " 7 "], Some(1), 1);
        let rows = |index| blocks.see(index, |batch| batch.rows);
        let mut counts: Vec<usize> = (0..4).map(rows).collect();
        counts.sort_unstable();
        assert_eq!(counts, [0, 0, 0, 6]);
    }

    #[test]
    fn a_disk_that_fails_is_a_lost_answer() {
        let mut memory = Memory::new(vec![1.0], &["a"]);
        memory.readable = false;
        assert_eq!(Records::read(&memory, &[ColumnType::Float], None, 2).err(), Some(Lost));
    }
}
