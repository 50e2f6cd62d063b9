//! A choice among a few options with whole-number weights that sum to 2^64: one word decides it exactly.

/// Options with weights over 2^64, arranged in columns (Walker's alias method, in integers).
///
/// # Guarantee
///
/// A uniform word finds option i with probability exactly `weight(i) / 2^64`: each column holds
/// `2^64 / columns` words, split at a whole number between the option of the same index and another, and
/// the parts of an option add up to its weight.
#[derive(Clone, Debug)]
pub struct Pick {
    weights: Vec<u64>,
    /// For each column its split, above `column_bits` bits that name the other option: words whose place
    /// in the column is below the split take the column's own.
    columns: Vec<u64>,
    column_bits: u32,
}

impl Pick {
    /// These weights; they must sum to 2^64, so at least two options are needed. Panics otherwise.
    pub fn new(weights: Vec<u64>) -> Self {
        let total: u128 = weights.iter().map(|&w| u128::from(w)).sum();
        assert_eq!(total, 1 << 64, "weights are parts of 2^64");
        let column_bits = weights.len().next_power_of_two().trailing_zeros().max(1);
        let capacity = 1u64 << (64 - column_bits);
        let mut left = weights.clone();
        left.resize(1 << column_bits, 0);
        // A column that its own option fills is its own other option.
        let mut columns: Vec<u64> = (0..1 << column_bits).collect();
        let (mut light, mut heavy): (Vec<usize>, Vec<usize>) =
            (0..left.len()).partition(|&option| left[option] < capacity);
        while let Some(own) = light.pop() {
            let other = *heavy.last().expect("weights fill every column");
            columns[own] = left[own] << column_bits | other as u64;
            left[other] -= capacity - left[own];
            if left[other] < capacity {
                light.extend(heavy.pop());
            }
        }
        Self { weights, columns, column_bits }
    }

    /// The weights over 2^64.
    pub fn weights(&self) -> &[u64] {
        &self.weights
    }

    /// The option of this word.
    #[inline]
    pub(crate) fn find(&self, word: u64) -> usize {
        let index = word >> (64 - self.column_bits);
        let column = self.columns[usize::try_from(index).unwrap_or(0)];
        let names = (1 << self.column_bits) - 1;
        // With all ones in place of a name, a place is below a column if and only if it is below its split.
        let own = (word << self.column_bits | names) < column;
        usize::try_from(if own { index } else { column & names }).unwrap_or(0)
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
        for (own, column) in pick.columns.iter().enumerate() {
            let split = u128::from(column >> pick.column_bits);
            let other = column & ((1 << pick.column_bits) - 1);
            if split > 0 {
                found[own] += split;
            }
            found[usize::try_from(other).unwrap()] += capacity - split;
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
    fn words_at_a_split_find_the_option_they_should() {
        let pick = Pick::new(vec![(1 << 63) - 5, (1 << 62) + 3, (1 << 62) + 2]);
        for (own, column) in pick.columns.iter().enumerate() {
            let first = (own as u64) << (64 - pick.column_bits);
            let (split, other) = (column >> pick.column_bits, column & ((1 << pick.column_bits) - 1));
            assert_eq!(pick.find(first + split) as u64, other);
            if split > 0 {
                assert_eq!(pick.find(first + split - 1), own);
            }
        }
    }

    #[test]
    fn words_at_the_ends_find_an_option() {
        let pick = Pick::new(vec![1 << 63, 1 << 62, 1 << 62]);
        assert!(pick.find(0) < 3 && pick.find(u64::MAX) < 3);
    }
}
