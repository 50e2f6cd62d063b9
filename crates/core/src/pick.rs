//! A choice among a few options with whole-number weights that sum to 2^64: one word decides it exactly.

/// Options with weights over 2^64, arranged in columns (Walker's alias method, in integers).
///
/// # Guarantee
///
/// A uniform word finds option i with probability exactly `weight(i) / 2^64`: each column holds
/// `2^64 / columns` words, split at a whole number between two options, and the splits add up to the weights.
#[derive(Clone, Debug)]
pub struct Pick {
    weights: Vec<u64>,
    columns: Vec<Column>,
    column_bits: u32,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    /// Words of this column below it take `below`, the others `above`.
    split: u64,
    below: u32,
    above: u32,
}

impl Pick {
    /// These weights; they must sum to 2^64, so at least two options are needed. Panics otherwise.
    pub fn new(weights: Vec<u64>) -> Self {
        let total: u128 = weights.iter().map(|&w| u128::from(w)).sum();
        assert_eq!(total, 1 << 64, "weights are parts of 2^64");
        let column_bits = weights.len().next_power_of_two().trailing_zeros().max(1);
        let count = 1usize << column_bits;
        let capacity = 1u64 << (64 - column_bits);
        let mut left: Vec<(u32, u64)> =
            (0u32..).zip(weights.iter().copied()).filter(|&(_, w)| w > 0).collect();
        // Fill each column with the lightest option that is left, topped up by the heaviest.
        left.sort_by_key(|&(_, weight)| weight);
        let mut heavy: Vec<(u32, u64)> = Vec::new();
        let mut light: Vec<(u32, u64)> = Vec::new();
        for option in left {
            if option.1 < capacity { light.push(option) } else { heavy.push(option) }
        }
        let mut columns = Vec::with_capacity(count);
        while columns.len() < count {
            let (below, split) = match light.pop() {
                Some(option) => option,
                None => (heavy.last().expect("weights fill every column").0, 0),
            };
            let (above, weight) = heavy.pop().unwrap_or((below, capacity - split));
            columns.push(Column { split, below, above });
            let rest = weight - (capacity - split);
            if rest >= capacity {
                heavy.push((above, rest));
            } else if rest > 0 {
                light.push((above, rest));
            }
        }
        debug_assert!(light.is_empty() && heavy.is_empty());
        Self { weights, columns, column_bits }
    }

    /// The weights over 2^64.
    pub fn weights(&self) -> &[u64] {
        &self.weights
    }

    /// The option of this word.
    #[inline]
    pub(crate) fn find(&self, word: u64) -> usize {
        let column = self.columns[usize::try_from(word >> (64 - self.column_bits)).unwrap_or(0)];
        let within = word & (u64::MAX >> self.column_bits);
        (if within < column.split { column.below } else { column.above }) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How many of the 2^64 words find each option, counted column by column.
    fn measured(pick: &Pick) -> Vec<u128> {
        let mut found = vec![0u128; pick.weights.len()];
        let capacity = 1u128 << (64 - pick.column_bits);
        for column in &pick.columns {
            assert!(u128::from(column.split) <= capacity);
            found[column.below as usize] += u128::from(column.split);
            found[column.above as usize] += capacity - u128::from(column.split);
        }
        found
    }

    proptest! {
        #[test]
        fn every_option_is_found_by_exactly_its_weight(cuts in proptest::collection::vec(any::<u64>(), 1..40), twin in any::<bool>()) {
            let mut cuts = cuts;
            if twin { let first = cuts[0]; cuts.push(first); }
            cuts.sort_unstable();
            let mut weights: Vec<u64> = Vec::new();
            let mut last = 0;
            for &cut in &cuts { weights.push(cut - last); last = cut; }
            weights.push((u64::MAX - last) / 2);
            weights.push((u64::MAX - last) - (u64::MAX - last) / 2);
            weights.push(1);
            let pick = Pick::new(weights.clone());
            let expected: Vec<u128> = weights.iter().map(|&w| u128::from(w)).collect();
            prop_assert_eq!(measured(&pick), expected);
        }
    }

    #[test]
    fn words_at_the_ends_find_an_option() {
        let pick = Pick::new(vec![1 << 63, 1 << 62, 1 << 62]);
        assert!(pick.find(0) < 3 && pick.find(u64::MAX) < 3);
    }
}
