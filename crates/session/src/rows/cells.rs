//! How many rows of a column lie in each cell of a coarse public lattice of numbers.
//!
//! It is all that a search for a range asks of the rows: one pass finds it, there are at most as many counts as cells, and the
//! counts of two parts of the rows add up to those of both.

use super::values::{Pairs, Table, Values};
use equipoise_core::stability::{
    Range, Reach, Window,
    lattice::{FLOATS, float},
    reachable::Target,
    selection::WindowParts,
};
use std::collections::BTreeMap;

/// From so many rows on counting into a table is quicker than sorting.
const MANY: u64 = 1 << 17;

/// A coarse lattice: floats without the lowest bits of their ordinals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellLattice {
    /// So many bits are left out.
    pub shift: u32,
}

impl CellLattice {
    /// All cells.
    pub fn range(self) -> Range {
        Range::new(FLOATS.lo() >> self.shift, FLOATS.hi() >> self.shift).expect("in order")
    }

    /// The cell of a number; that of the largest for an infinite one, and of zero for none.
    pub fn cell(self, number: f64) -> i64 {
        let bits = number.to_bits().cast_signed();
        let magnitude = (bits & i64::MAX).min(FLOATS.hi());
        let ordinal = if bits < 0 { -magnitude } else { magnitude };
        (if number.is_nan() { 0 } else { ordinal }) >> self.shift
    }

    /// The least number of a cell; the end of the floats beyond the last.
    pub fn edge(self, cell: i64) -> f64 {
        float(FLOATS.clamp(cell.saturating_mul(1 << self.shift))).expect("clamped to the floats")
    }
}

/// The sign, the exponent and eight bits of a float: 2^20 cells in place of 2^64 floats, each less than a half percent wide.
pub(crate) const FINE: CellLattice = CellLattice { shift: 44 };

/// How many rows of a part of the rows lie in each cell.
///
/// A number is counted where its highest bits say, which is the same work for every number; which cell that is, and which of the places are
/// of no number, is worked out once for each place.
#[derive(Default)]
pub(crate) struct CellTable {
    /// By places. Four megabytes.
    counts: Vec<u32>,
    /// How many numbers have been counted there, and what was put aside before these could be too many.
    counted: u64,
    aside: BTreeMap<usize, u64>,
}

/// So many numbers at most are counted before the counts are put aside.
const COUNTED: u64 = u32::MAX as u64;

impl CellTable {
    /// Count numbers; those that are none do not take part.
    pub fn extend(&mut self, lattice: CellLattice, numbers: impl IntoIterator<Item = f64>) {
        self.counts.resize(lattice.places(), 0);
        let Self { counts, counted, aside } = self;
        // A power of two, so that no place is looked at twice.
        let last = counts.len() - 1;
        for number in numbers {
            if *counted == COUNTED {
                put_aside(counts, aside);
                *counted = 0;
            }
            *counted += 1;
            counts[lattice.place(number) & last] += 1;
        }
    }

    /// Add the counts of another part.
    pub fn take(&mut self, other: Self) {
        if self.counts.is_empty() {
            return *self = other;
        }
        if self.counted + other.counted > COUNTED {
            put_aside(&mut self.counts, &mut self.aside);
            self.counted = 0;
        }
        self.counted += other.counted;
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        for (place, more) in other.aside {
            *self.aside.entry(place).or_default() += more;
        }
    }

    /// The cells that hold rows.
    pub fn cells(&self, lattice: CellLattice) -> Cells {
        let Some((above, below)) =
            self.counts.split_at_checked(self.counts.len() / 2).filter(|(above, _)| !above.is_empty())
        else {
            return Cells::from_counts(std::iter::empty());
        };
        let (top, infinite) = (lattice.place(f64::MAX), lattice.place(f64::INFINITY));
        let aside = |place: usize| self.aside.get(&place).copied().unwrap_or_default();
        let mut found: Vec<(i64, u64)> = Vec::new();
        let mut add = |cell: i64, count: u32, place: usize| {
            // Nearly all are zero, and nearly nobody has so many rows that counts were put aside.
            if count > 0 || !self.aside.is_empty() {
                found.push((cell, u64::from(count) + aside(place)));
            }
        };
        for (size, &count) in below[..=top].iter().enumerate().rev() {
            add(-whole(size) - 1, count, above.len() + size);
        }
        for (size, &count) in above[..=top].iter().enumerate() {
            add(whole(size), count, size);
        }
        let beyond = u64::from(above[infinite]) + aside(infinite);
        match found.last_mut() {
            // What is infinite is in the last cell.
            Some((cell, count)) if *cell == whole(top) => *count += beyond,
            _ => found.push((whole(top), beyond)),
        }
        Cells::from_counts(found.into_iter().filter(|&(_, count)| count > 0))
    }
}

fn put_aside(counts: &mut [u32], aside: &mut BTreeMap<usize, u64>) {
    for (place, count) in counts.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
        *aside.entry(place).or_default() += u64::from(std::mem::take(count));
    }
}

impl CellLattice {
    /// How many places there are: those of every combination of the highest bits.
    fn places(self) -> usize {
        assert!(self.shift < 52, "the bit that tells what is no number from infinity is among the highest");
        1 << (u64::BITS - self.shift)
    }

    /// Where a number is counted: its highest bits, once zero has no sign and what lies below zero is one ordinal less, as cells
    /// reach upwards. What is no number is counted in one place, whatever its bits.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^20 places")]
    fn place(self, number: f64) -> usize {
        const INFINITE: u64 = f64::INFINITY.to_bits();
        const NO_NUMBER: u64 = f64::NAN.to_bits() & (u64::MAX >> 1);
        let bits = number.to_bits();
        let size = bits & (u64::MAX >> 1);
        let bits = if size > INFINITE { NO_NUMBER } else { bits };
        let bits = if size == 0 { 0 } else { bits };
        ((bits - (bits >> 63)) >> self.shift) as usize
    }
}

fn whole(place: usize) -> i64 {
    i64::try_from(place).expect("at most 2^20 places")
}

/// The cells that hold rows, in order, and how many rows lie in each and the cells before.
#[derive(Clone)]
pub(crate) struct Cells {
    cells: Vec<i64>,
    upto: Vec<u64>,
}

impl Cells {
    /// Those of all rows that have a number.
    pub fn of(values: Values<'_, '_>, lattice: CellLattice) -> Self {
        if values.count(true) < MANY { Self::sorted(values, lattice) } else { Self::tabled(values, lattice) }
    }

    /// Those of one column of records that have a number in two.
    pub fn of_pairs(pairs: Pairs<'_, '_>, side: usize, lattice: CellLattice) -> Self {
        if pairs.count() >= MANY {
            let mut table = CellTable::default();
            pairs.each(|some| table.extend(lattice, some.iter().map(|pair| pair[side])));
            return table.cells(lattice);
        }
        let mut cells = Vec::new();
        pairs.each(|some| cells.extend(some.iter().map(|pair| lattice.cell(pair[side]))));
        Self::from_places(cells)
    }

    /// Those of one column of records that have a number in several.
    pub fn of_table(table: Table<'_, '_>, column: usize, lattice: CellLattice) -> Self {
        if table.count() >= MANY {
            let mut counted = CellTable::default();
            table.each(|some| {
                counted.extend(lattice, some.iter().copied().skip(column).step_by(table.width));
            });
            return counted.cells(lattice);
        }
        let mut cells = Vec::new();
        table.each(|some| {
            let numbers = some.iter().skip(column).step_by(table.width);
            cells.extend(numbers.map(|&number| lattice.cell(number)));
        });
        Self::from_places(cells)
    }

    fn sorted(values: Values<'_, '_>, lattice: CellLattice) -> Self {
        let mut cells = Vec::new();
        values.each_number(|some| {
            cells.extend(some.iter().filter(|number| !number.is_nan()).map(|&number| lattice.cell(number)));
        });
        Self::from_places(cells)
    }

    /// The cells of all rows, in any order.
    fn from_places(mut cells: Vec<i64>) -> Self {
        cells.sort_unstable();
        Self::from_counts(cells.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)))
    }

    fn tabled(values: Values<'_, '_>, lattice: CellLattice) -> Self {
        let mut table = CellTable::default();
        values.each_number(|some| table.extend(lattice, some.iter().copied()));
        table.cells(lattice)
    }

    /// Cells in order, with the number of rows in each.
    pub fn from_counts(counts: impl Iterator<Item = (i64, u64)>) -> Self {
        let mut all = 0;
        let (cells, upto) = counts
            .map(|(cell, count)| {
                all += count;
                (cell, all)
            })
            .unzip();
        Self { cells, upto }
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.upto.last().copied().unwrap_or_default()
    }

    /// How many rows lie in cells before this one.
    pub fn before(&self, cell: i64) -> u64 {
        let place = self.cells.partition_point(|&one| one < cell);
        if place == 0 { 0 } else { self.upto[place - 1] }
    }

    /// How many rows lie in cells after this one.
    pub fn after(&self, cell: i64) -> u64 {
        self.rows() - cell.checked_add(1).map_or(self.rows(), |next| self.before(next))
    }

    /// The cells of the rows around a target.
    pub fn window(&self, target: Target, range: Range, reach: Reach) -> Window {
        let rows = self.rows();
        let rank = target.nearest_rank(rows);
        let (first, last) = match reach {
            Reach::All => (1, rows),
            Reach::Ranks(ranks) => (rank.saturating_sub(ranks).max(1), rank.saturating_add(ranks).min(rows)),
        };
        // The cell of the row of a rank, and how many rows lie before it and in it.
        let cell = |rank: u64| {
            let place = self.upto.partition_point(|&upto| upto < rank);
            let before = if place == 0 { 0 } else { self.upto[place - 1] };
            (self.cells[place], before, self.upto[place] - before)
        };
        let mut values = Vec::new();
        let mut at = first;
        while at <= last {
            let (value, before, equal) = cell(at);
            let until = (before + equal).min(last);
            values.resize(values.len() + usize::try_from(until + 1 - at).expect("a window in memory"), value);
            at = until + 1;
        }
        let (less, equal) = if rows == 0 { (0, 0) } else { (cell(rank).1, cell(rank).2) };
        Window::from_parts(WindowParts { range, reach, rank, rows, below: first - 1, values, less, equal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::numbers::Numbers;
    use equipoise_core::{ratio::Ratio, stability::Quantile};
    use proptest::prelude::*;
    use std::borrow::Cow;

    const COARSE: CellLattice = CellLattice { shift: 48 };

    fn odd() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<f64>(),
            (-3i32..3).prop_map(f64::from),
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(-0.0),
        ]
    }

    #[test]
    fn cells_are_in_the_order_of_their_numbers() {
        for shift in [44, 48, 62] {
            let lattice = CellLattice { shift };
            let numbers =
                [f64::NEG_INFINITY, f64::MIN, -2.0, -5e-324, 0.0, 5e-324, 2.0, f64::MAX, f64::INFINITY];
            assert!(numbers.map(|number| lattice.cell(number)).is_sorted(), "{shift}");
            assert_eq!(lattice.cell(-0.0), lattice.cell(0.0));
            for number in &numbers[1..8] {
                let cell = lattice.cell(*number);
                assert!(
                    lattice.edge(cell) <= *number && *number <= lattice.edge(cell + 1),
                    "{shift} {number}"
                );
                assert_eq!(lattice.range().clamp(cell), cell);
            }
        }
    }

    /// A cell that is counted beyond 32 bits goes on.
    #[test]
    fn counts_go_beyond_32_bits_and_parts_add_up() {
        let mut tables = [CellTable::default(), CellTable::default(), CellTable::default()];
        for table in &mut tables {
            table.extend(COARSE, [1.0, 1.0, f64::NAN, -1.0]);
            // As if one number had been there nearly as often as can be counted.
            table.counts[COARSE.place(1.0)] += u32::MAX - 4;
            table.counted += u64::from(u32::MAX - 4);
            table.extend(COARSE, [1.0, -1.0]);
        }
        let [mut one, other, third] = tables;
        one.take(other);
        one.take(third);
        let cells = one.cells(COARSE);
        assert_eq!(cells.rows(), 3 * (u64::from(u32::MAX) + 1));
        assert_eq!((cells.before(0), cells.after(COARSE.cell(1.0))), (6, 0));
    }

    /// What is no number comes in many forms, and none of them is counted; zero comes in two.
    #[test]
    fn every_number_is_counted_in_its_cell() {
        let quiet = f64::NAN.to_bits();
        let nothing =
            [quiet, quiet | 1 << 63, 0x7ff0_0000_0000_0001, 0xfff0_0000_0000_0001, u64::MAX, u64::MAX >> 1];
        for lattice in [COARSE, FINE] {
            let edges = [0, 1, 2, 3].map(|cell| lattice.edge(cell * 1000));
            let numbers =
                [0.0, f64::MIN_POSITIVE, 5e-324, 1.0, f64::MAX, f64::INFINITY].into_iter().chain(edges);
            for number in numbers
                .flat_map(|number| [number, number.next_down().max(0.0)])
                .flat_map(|number| [number, -number])
            {
                let mut table = CellTable::default();
                table.extend(lattice, nothing.map(f64::from_bits).into_iter().chain([number]));
                let cells = table.cells(lattice);
                assert_eq!((cells.rows(), &cells.cells[..]), (1, &[lattice.cell(number)][..]), "{number}");
            }
        }
    }

    proptest! {
        #[test]
        fn counts_and_windows_are_those_of_all_rows(
            numbers in prop::collection::vec(odd(), 0..60), at in 1u64..10, reach in 0u64..20,
        ) {
            let held = Numbers::InMemory(Cow::Borrowed(&numbers));
            let values = Values::Floats(&held);
            let cells: Vec<i64> = numbers.iter().filter(|row| !row.is_nan()).map(|&row| COARSE.cell(row)).collect();
            let target: Target = Quantile::new(&Ratio::new(at.cast_signed(), 10)).unwrap().into();
            for found in [Cells::sorted(values, COARSE), Cells::tabled(values, COARSE)] {
                prop_assert_eq!(found.rows(), cells.len() as u64);
                for &cell in cells.iter().chain(&[i64::MIN, i64::MAX, 0]) {
                    prop_assert_eq!(found.before(cell), cells.iter().filter(|&&one| one < cell).count() as u64);
                    prop_assert_eq!(found.after(cell), cells.iter().filter(|&&one| one > cell).count() as u64);
                }
                let (range, reach) = (COARSE.range(), Reach::Ranks(reach));
                prop_assert!(found.window(target, range, reach) == target.window(&cells, range, reach));
            }
        }
    }
}
