//! A window of ranks from rows that do not fit in memory: a few passes that count, then one that keeps the window.
//!
//! # Claim
//!
//! [`window`] is the window of the rows around the target, as [`Window::select`] finds it. It reads the rows five times
//! whatever they are, and keeps no more of them than the window holds and three tables of 2^16 counts.
//!
//! # Why
//!
//! 1. In four passes of 16 bits each, the first, the target's and the last row of the window are found from their highest bits
//!    down: each pass counts the rows that begin like one of the three, by their next 16 bits.
//! 2. The last of these passes has counted how many rows equal each of the three and how many are below it.
//! 3. The rows strictly between the first and the last are in the window, all of them: the fifth pass keeps these. The
//!    others are ties of the two ends, of which the counts tell how many are in it.

use super::{
    Range, Reach, Window,
    reachable::Target,
    selection::{WindowParts, bounds, count, index},
};

/// The rows around the target. `pass` hands over all rows in pieces, the same rows every time; they are moved into the
/// range, each on its own.
pub fn window(
    mut pass: impl FnMut(&mut dyn FnMut(&[i64])),
    target: Target,
    range: Range,
    reach: Reach,
) -> Window {
    let mut tables = vec![Table::new(0)];
    read(&mut pass, range, 0, &mut tables);
    let rows: u64 = tables[0].counts.iter().sum();
    let rank = target.nearest_rank(rows);
    let (first, last) = bounds(rank, rows, reach);
    let mut parts =
        WindowParts { range, reach, rank, rows, below: first - 1, values: Vec::new(), less: 0, equal: 0 };
    if rows == 0 {
        return Window::from_parts(parts);
    }
    let mut found = [first, rank, last].map(|rank| Found { prefix: 0, less: 0, equal: rows, rank });
    for level in 0..LEVELS {
        if level > 0 {
            let mut prefixes: Vec<u64> = found.iter().map(|found| found.prefix).collect();
            prefixes.dedup();
            tables = prefixes.into_iter().map(Table::new).collect();
            read(&mut pass, range, level, &mut tables);
        }
        for found in &mut found {
            let table = tables.iter().find(|table| table.prefix == found.prefix);
            found.descend(table.expect("a table for each prefix"));
        }
    }
    let [low, middle, high] = found;
    parts.less = middle.less;
    parts.equal = middle.equal;
    // Ranks from one: those up to `less + equal` of an end are its ties.
    let ties = (low.less + low.equal).min(last) + 1 - first;
    parts.values = vec![low.value(); index(ties)];
    if low.prefix < high.prefix {
        let (low, end) = (low.value(), high.value());
        pass(&mut |piece| {
            let between = |place: &i64| low < *place && *place < end;
            parts.values.extend(piece.iter().map(|&row| range.clamp(row)).filter(between));
        });
        parts.values[index(ties)..].sort_unstable();
        parts.values.resize(index(last + 1 - first), end);
    }
    Window::from_parts(parts)
}

/// 64 bits in steps of 16.
const LEVELS: u32 = 4;
const STEP: u32 = 16;

/// How many rows begin with a prefix, by their next 16 bits.
struct Table {
    prefix: u64,
    counts: Vec<u64>,
}

impl Table {
    fn new(prefix: u64) -> Self {
        Self { prefix, counts: vec![0; 1 << STEP] }
    }
}

/// A row of a wanted rank, as far as it is known.
struct Found {
    /// Its highest bits.
    prefix: u64,
    /// How many rows begin with smaller bits, and how many with these.
    less: u64,
    equal: u64,
    rank: u64,
}

impl Found {
    fn descend(&mut self, table: &Table) {
        for (next, &count) in (0u64..).zip(&table.counts) {
            if self.less + count >= self.rank {
                self.prefix = self.prefix << STEP | next;
                self.equal = count;
                return;
            }
            self.less += count;
        }
        unreachable!("the rank is among the rows that begin so");
    }

    fn value(&self) -> i64 {
        place(self.prefix)
    }
}

/// Places in their order as numbers without a sign.
fn bits(place: i64) -> u64 {
    place.cast_unsigned() ^ 1 << 63
}

fn place(bits: u64) -> i64 {
    (bits ^ 1 << 63).cast_signed()
}

fn read(pass: &mut impl FnMut(&mut dyn FnMut(&[i64])), range: Range, level: u32, tables: &mut [Table]) {
    let shift = u64::BITS - STEP * (level + 1);
    pass(&mut |piece| {
        for &row in piece {
            let leading = bits(range.clamp(row)) >> shift;
            let next = index(leading & ((1 << STEP) - 1));
            for table in &mut *tables {
                table.counts[next] += u64::from(level == 0 || leading >> STEP == table.prefix);
            }
        }
    });
    debug_assert!(tables.iter().all(|table| count(table.counts.len()) == 1 << STEP));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ratio::Ratio, stability::Quantile};
    use proptest::prelude::*;

    fn streamed(rows: &[i64], p: &str, range: Range, reach: Reach) -> Window {
        let target = Target::from(Quantile::new(&p.parse::<Ratio>().unwrap()).unwrap());
        let mut passes = 0;
        let found = window(
            |piece| {
                passes += 1;
                rows.chunks(7).for_each(piece);
            },
            target,
            range,
            reach,
        );
        assert!(passes <= 5);
        let selected = target.window(rows, range, reach);
        assert!(found == selected, "{rows:?} {p} {reach:?}");
        found
    }

    #[test]
    fn edges_and_ties() {
        let small = Range::new(-2, 3).unwrap();
        for rows in [&[][..], &[5], &[0, 0, 0, 0], &[i64::MIN, i64::MAX], &[-2, -2, 1, 3, 3, 3, 9]] {
            for p in ["0.01", "1/2", "0.99"] {
                for reach in [Reach::Ranks(0), Reach::Ranks(1), Reach::Ranks(100), Reach::All] {
                    streamed(rows, p, small, reach);
                    streamed(rows, p, Range::WHOLE, reach);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn streams_give_the_windows_of_rows_in_memory(
            near in prop::collection::vec(-4i64..4, 0..40),
            far in prop::collection::vec(any::<i64>(), 0..40),
            reach in 0u64..30,
            percent in 1u32..100,
        ) {
            let rows: Vec<i64> = near.into_iter().chain(far).collect();
            streamed(&rows, &format!("{percent}/100"), Range::WHOLE, Reach::Ranks(reach));
            streamed(&rows, &format!("{percent}/100"), Range::new(-3, 1 << 40).unwrap(), Reach::Ranks(reach));
        }
    }
}
