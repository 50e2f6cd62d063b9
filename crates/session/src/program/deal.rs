//! Records dealt into blocks, each block as comma-separated text with the names of the columns on top.
//!
//! Within a block records stand in a random order, drawn afresh: which order they had in the file, or on which thread they
//! were read, is nothing that a program learns.

use crate::source::{Batch, Cells, Kind, Lost, Source, Visitor, Wanted};
use equipoise_core::{
    coins::Coins,
    sampler::uniform::shuffle,
    subsample::partition::{self, Blocks},
};
use std::fmt;

/// Blocks of records, for whoever runs programs on them. How many there are is public, what is in them is not.
pub struct ProgramBlocks {
    header: Vec<u8>,
    records: Records,
    blocks: Vec<Vec<usize>>,
}

impl fmt::Debug for ProgramBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramBlocks").field("count", &self.blocks.len()).finish_non_exhaustive()
    }
}

impl ProgramBlocks {
    /// How many blocks.
    pub fn count(&self) -> usize {
        self.blocks.len()
    }

    /// A block as comma-separated text.
    pub fn csv(&self, index: usize) -> Vec<u8> {
        let mut text = self.header.clone();
        for &place in &self.blocks[index] {
            text.extend_from_slice(self.records.line(place));
        }
        text
    }

    /// Read all records and deal them.
    pub(super) fn deal<C: Coins>(
        source: &dyn Source,
        people: Option<usize>,
        partition: &partition::Calibrated,
        threads: usize,
        coins: &mut C,
    ) -> Result<Self, Lost> {
        let records = Records::read(source, people, threads)?;
        let dealt: Blocks = if people.is_some() {
            partition.deal_people(&records.people, coins)
        } else {
            partition.deal_rows(records.count(), coins)
        };
        let mut blocks: Vec<Vec<usize>> = dealt.iter().map(<[usize]>::to_vec).collect();
        for block in &mut blocks {
            shuffle(block, coins);
        }
        Ok(Self { header: header(source.columns()), records, blocks })
    }
}

/// The names of the columns as the first line of a block.
pub fn header(columns: &[String]) -> Vec<u8> {
    let mut line = Vec::new();
    write_line(columns.iter().map(|name| Some(name.as_str())), &mut line);
    line
}

/// Records as lines of text, and whose they are where that is asked for.
#[derive(Default)]
struct Records {
    text: Vec<u8>,
    ends: Vec<usize>,
    people: Vec<Box<[u8]>>,
    /// The place of the column that names the person.
    unit: Option<usize>,
}

impl Records {
    fn read(source: &dyn Source, unit: Option<usize>, threads: usize) -> Result<Self, Lost> {
        let wanted: Vec<Wanted> =
            (0..source.columns().len()).map(|column| Wanted { column, kind: Kind::Text }).collect();
        let mut parts: Vec<Self> = (0..threads.max(1)).map(|_| Self { unit, ..Self::default() }).collect();
        let mut visitors: Vec<&mut dyn Visitor> =
            parts.iter_mut().map(|part| part as &mut dyn Visitor).collect();
        source.scan(&wanted, &mut visitors)?;
        let mut all = Self::default();
        for part in parts {
            let start = all.text.len();
            all.text.extend_from_slice(&part.text);
            all.ends.extend(part.ends.iter().map(|end| start + end));
            all.people.extend(part.people);
        }
        Ok(all)
    }

    fn count(&self) -> usize {
        self.ends.len()
    }

    fn line(&self, place: usize) -> &[u8] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[place]]
    }
}

impl Visitor for Records {
    fn batch(&mut self, batch: Batch<'_>) {
        for row in 0..batch.rows {
            if let Some(unit) = self.unit {
                // A record of nobody is dropped, on its own.
                let Some(person) = text(&batch.cells[unit], row) else { continue };
                self.people.push(person.as_bytes().into());
            }
            write_line(batch.cells.iter().map(|cells| text(cells, row)), &mut self.text);
            self.ends.push(self.text.len());
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
    use crate::gather::tests::Memory;
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
            fn scan(&self, wanted: &[Wanted], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
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
        ProgramBlocks::deal(&source, people, &partition, threads, &mut SplitMix(7)).unwrap()
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

    #[test]
    fn a_disk_that_fails_is_a_lost_answer() {
        let mut memory = Memory::new(vec![1.0], &["a"]);
        memory.readable = false;
        assert_eq!(Records::read(&memory, None, 2).err(), Some(Lost));
    }
}
