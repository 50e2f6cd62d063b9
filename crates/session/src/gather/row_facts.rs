//! The facts that statistics ask for, from rows that a scan here has kept.

use super::{ScanResult, groups::Groups};
use crate::{
    need::{Key, Need},
    row_facts::{Around, Ask, GroupFacts, Nulls, RowFacts, bins::Bins, places::Places, steps::Steps},
    rows::cells::{CellLattice, Cells},
    rows::values::Values,
    source::ColumnRead,
};
use equipoise_core::{
    adjacency::Adjacency,
    stability::{InOrder, Sorted, Spacing, Window, bracket},
};
use std::collections::{BTreeMap, HashMap};

impl RowFacts for ScanResult<'_> {
    fn count(&self, need: &Need, nulls: Nulls) -> u64 {
        match need {
            Need::Records => self.records(),
            Need::Present(read) => self.present(read.column),
            Need::Pairs(..) => self.pairs(need).count(),
            Need::Table(_) => self.table(need).count(),
            _ => self.values(need).count(nulls == Nulls::Counted),
        }
    }

    fn windows(&self, need: &Need, places: &Places, wanted: &[Around]) -> Vec<Window> {
        let Places { space, adjacency } = places;
        let values = self.values(need);
        if wanted.len() > 1 && !space.is_plain() {
            // Rows are moved to their places once for all windows.
            let all = values.places(space, *adjacency);
            let window = |one: &Around| {
                bracket::window(&all[..], one.target, space.range(), one.reach, Adjacency::AddRemove)
            };
            return wanted.iter().map(window).collect();
        }
        wanted.iter().map(|one| values.window_in(space, one.target, one.reach, *adjacency)).collect()
    }

    fn in_order(&self, need: &Need, places: &Places, spacing: Spacing) -> Box<dyn InOrder + '_> {
        let all = self.values(need).places(&places.space, places.adjacency);
        Box::new(Sorted::new(&all, places.range()).spaced(spacing))
    }

    fn cells(&self, need: &Need, column: usize, lattice: CellLattice) -> Cells {
        match need {
            Need::Cells(read) => self.counted_cells(read.column),
            Need::Pairs(..) => Cells::of_pairs(self.pairs(need), column, lattice),
            Need::Table(_) => Cells::of_table(self.table(need), column, lattice),
            _ => Cells::of(self.values(need), lattice),
        }
    }

    fn bins(&self, need: &Need, bins: &Bins) -> BTreeMap<i64, u64> {
        let values = self.values(need);
        if let Some(many) = bins.many() {
            let mut counts = vec![0; many];
            each_bin(values, bins, |bin| counts[usize::try_from(bin).expect("a bin that there is")] += 1);
            return (0..).zip(counts).collect();
        }
        let mut counts = HashMap::new();
        each_bin(values, bins, |bin| *counts.entry(bin).or_default() += 1);
        // In the order of the numbers, so that coins which are replayed meet the same bin.
        counts.into_iter().collect()
    }

    fn sums(&self, need: &Need, steps: &Steps) -> Vec<i128> {
        let mut sums = vec![0; steps.many()];
        match need {
            Need::Pairs(..) => {
                if let Some(numbers) = self.pairs(need).0 {
                    numbers.each(|some| steps.add_numbers(some, &mut sums));
                }
            }
            Need::Table(_) => self.table(need).each(|some| steps.add_numbers(some, &mut sums)),
            _ if steps.are_of_wholes() => {
                self.values(need).each_whole(|some| steps.add_wholes(some, &mut sums));
            }
            _ => self.values(need).each_number(|some| steps.add_numbers(some, &mut sums)),
        }
        sums
    }

    fn each_text(&self, read: ColumnRead, visit: &mut dyn FnMut(&str, u64)) {
        Self::each_text(self, read, visit);
    }

    fn with_texts(&self, read: ColumnRead, texts: &[String]) -> Vec<u64> {
        Self::with_texts(self, read, texts)
    }

    fn groups(&self, by: &[ColumnRead]) -> Box<dyn GroupFacts + '_> {
        Box::new(Self::groups(self, by).expect("what is asked for was looked for"))
    }
}

/// Hand over the bin of each row that has a value.
fn each_bin(values: Values<'_, '_>, bins: &Bins, mut visit: impl FnMut(i64)) {
    if bins.are_of_wholes() {
        values.each_whole(|some| some.iter().for_each(|&whole| visit(bins.of_whole(whole))));
    } else {
        values.each_number(|some| {
            let numbers = some.iter().filter(|number| !number.is_nan());
            numbers.for_each(|&number| visit(bins.of_number(number)));
        });
    }
}

impl GroupFacts for &Groups {
    fn written(&self, key: &Key) -> Vec<u8> {
        Groups::written(self, key)
    }

    fn read(&self, written: &[u8]) -> Key {
        Groups::read(self, written)
    }

    fn each_count(&self, need: &Need, visit: &mut dyn FnMut(&[u8], u64)) {
        Groups::each_count(self, need, visit);
    }

    fn counts_of(&self, need: &Need, keys: &[Vec<u8>]) -> Vec<u64> {
        Groups::counts_of(self, need, keys)
    }

    fn each_of(&self, keys: &[Vec<u8>], _asks: &[Ask], visit: &mut dyn FnMut(usize, &dyn RowFacts)) {
        Groups::each_of(self, keys, |place, group| visit(place, group));
    }
}
