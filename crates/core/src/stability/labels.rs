//! Equal rows told apart: each gets a label from one fixed sequence, spread evenly.
//!
//! # Claim
//!
//! A labelled value is a place in the range followed by a label of a few bits. The j-th of the rows with
//! one value, counted from zero, gets the j-th label of van der Corput's sequence: the bits of j, reversed.
//! So one row more is one labelled row more, and every other labelled row stays as it was. Among any number
//! of equal rows the labels lie nearly evenly: those below a fraction f are within a logarithm of f of them.
//!
//! Cuts between labelled rows can therefore divide equal rows, by a rule that belongs to no row in particular.

use super::{InOrder, Range};
use crate::redact::debug_only_public;

/// Sorted rows with labels, looked up by their place in order.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    rows: &'a dyn InOrder,
    range: Range,
    bits: u32,
}

debug_only_public!(impl['a] Labelled['a] { range, bits });

impl<'a> Labelled<'a> {
    /// These rows with labels of this many bits, at most 32.
    pub fn new(rows: &'a dyn InOrder, bits: u32) -> Self {
        debug_assert!(bits <= 32);
        Self { rows, range: rows.range(), bits }
    }

    /// The last labelled value; the first is zero.
    pub fn last(&self) -> u128 {
        ((u128::from(self.range.width()) + 1) << self.bits) - 1
    }

    /// The value without its label.
    pub fn value(&self, labelled: u128) -> i64 {
        let place = u64::try_from(labelled >> self.bits).expect("a labelled value of the range");
        self.range.lo().wrapping_add_unsigned(place)
    }

    /// The labelled row at this place in order, from zero.
    pub fn at(&self, index: usize) -> u128 {
        let value = self.rows.row(index as u64 + 1);
        let (first, ties) = self.rows.ties(value);
        self.labelled(value, index as u64 - first, ties)
    }

    /// The labelled value of one of so many equal rows.
    fn labelled(&self, value: i64, place: u64, ties: u64) -> u128 {
        let label = nth_label(place, ties, self.bits);
        u128::from(value.abs_diff(self.range.lo())) << self.bits | u128::from(label)
    }

    /// The rows of these places in order, from zero, will be looked at.
    pub fn look_at(&self, first: usize, last: usize) {
        self.rows.look_at(first as u64 + 1, last as u64 + 1);
    }

    /// How many labelled rows are at most this one.
    pub fn count_up_to(&self, labelled: u128) -> usize {
        let value = self.value(labelled);
        let (first, ties) = self.rows.ties(value);
        let (mut low, mut high) = (0, ties);
        while low < high {
            let middle = low.midpoint(high);
            if self.labelled(value, middle, ties) <= labelled { low = middle + 1 } else { high = middle }
        }
        usize::try_from(first + low).expect("a rank of rows")
    }
}

/// The label at this place in order among the first `count` labels of the sequence.
///
/// From the highest bit of the label down, which is the lowest bit of j: of the j that agree so far, those
/// with another zero come first.
fn nth_label(mut index: u64, count: u64, bits: u32) -> u64 {
    let (mut label, mut residue) = (0, 0);
    for bit in 0..bits {
        let period = 2u64 << bit;
        let with_zero = count.saturating_sub(residue).div_ceil(period);
        label <<= 1;
        if index >= with_zero {
            index -= with_zero;
            residue += period / 2;
            label += 1;
        }
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{adjacency::Adjacency, stability::Sorted, universe::neighbouring_pairs};

    fn labels(count: u64, bits: u32) -> Vec<u64> {
        let mut labels: Vec<u64> =
            (0..count).map(|j| (j % (1 << bits)).reverse_bits() >> (64 - bits)).collect();
        labels.sort_unstable();
        labels
    }

    #[test]
    fn labels_in_order_are_the_sorted_sequence() {
        for (bits, count) in [1, 2, 3, 5].into_iter().flat_map(|bits| (1..40).map(move |count| (bits, count)))
        {
            let found: Vec<u64> = (0..count).map(|index| nth_label(index, count, bits)).collect();
            assert_eq!(found, labels(count, bits), "{count} labels of {bits} bits");
        }
        assert_eq!(nth_label(5, 9, 0), 0);
    }

    #[test]
    fn labels_are_spread_evenly() {
        for count in [1u64, 2, 7, 100, 1000, 14_000] {
            let found: Vec<u64> = (0..count).map(|index| nth_label(index, count, 32)).collect();
            assert!(found.is_sorted());
            for (index, label) in (0u64..).zip(found) {
                let even = label as f64 / 2f64.powi(32) * count as f64;
                assert!(
                    (even - index as f64).abs() <= (count as f64).log2() / 2.0 + 2.0,
                    "{index} of {count}"
                );
            }
        }
    }

    fn all(rows: &[i64], range: Range, bits: u32) -> Vec<u128> {
        let sorted = Sorted::new(rows, range);
        let labelled = Labelled::new(&sorted, bits);
        (0..rows.len()).map(|index| labelled.at(index)).collect()
    }

    #[test]
    fn one_row_more_is_one_labelled_row_more() {
        let range = Range::new(-1, 1).unwrap();
        for bits in [0, 1, 2, 32] {
            for (a, b) in neighbouring_pairs(&[-1, 0, 1], 7, Adjacency::AddRemove) {
                let (fewer, more) = if a.len() < b.len() { (a, b) } else { (b, a) };
                let (fewer, mut more) = (all(&fewer, range, bits), all(&more, range, bits));
                assert!(more.is_sorted());
                for row in fewer {
                    more.remove(more.iter().position(|&other| other == row).expect("it is still there"));
                }
                assert_eq!(more.len(), 1);
            }
        }
    }

    #[test]
    fn places_and_counts_agree() {
        let range = Range::new(-3, 2).unwrap();
        let rows = [-3, -3, -3, 0, 0, 1, 2, 2, 2, 2, 2];
        let sorted = Sorted::new(&rows, range);
        let labelled = Labelled::new(&sorted, 2);
        let in_order = all(&rows, range, 2);
        assert_eq!(labelled.last(), 23);
        for at in 0..=labelled.last() {
            assert_eq!(labelled.count_up_to(at), in_order.iter().filter(|&&row| row <= at).count());
        }
        assert_eq!([0, 3, 4, 23].map(|at| labelled.value(at)), [-3, -3, -2, 2]);
        assert_eq!(Labelled::new(&Sorted::new(&[], Range::WHOLE), 32).value(u128::MAX >> 32), i64::MAX);
    }
}
