//! Every small data set and its neighbours: what brute-force checks and exact audits run over.

use crate::adjacency::Adjacency;

/// All multisets of `size` values, each sorted.
pub fn multisets(values: &[i64], size: usize) -> Vec<Vec<i64>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (index, &value) in values.iter().enumerate() {
        for mut rest in multisets(&values[index..], size - 1) {
            rest.insert(0, value);
            all.push(rest);
        }
    }
    all
}

/// The data sets an audit looks at: of exactly `size` rows under replace, of up to `size` under add/remove.
pub fn datasets(values: &[i64], size: usize, adjacency: Adjacency) -> Vec<Vec<i64>> {
    match adjacency {
        Adjacency::Replace => multisets(values, size),
        Adjacency::AddRemove => (0..=size).flat_map(|size| multisets(values, size)).collect(),
    }
}

/// The neighbours of a sorted data set, sorted, without repeats.
pub fn neighbours(data: &[i64], values: &[i64], adjacency: Adjacency) -> Vec<Vec<i64>> {
    let mut all = Vec::new();
    let without = |index: usize| {
        let mut rest = data.to_vec();
        rest.remove(index);
        rest
    };
    let with = |mut rest: Vec<i64>, value: i64| {
        rest.insert(rest.partition_point(|&x| x < value), value);
        rest
    };
    match adjacency {
        Adjacency::AddRemove => {
            all.extend((0..data.len()).map(without));
            all.extend(values.iter().map(|&value| with(data.to_vec(), value)));
        }
        Adjacency::Replace => {
            for index in 0..data.len() {
                all.extend(values.iter().map(|&value| with(without(index), value)));
            }
            all.retain(|other| other != data);
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Every unordered pair of neighbours among [`datasets`].
pub fn neighbouring_pairs(values: &[i64], size: usize, adjacency: Adjacency) -> Vec<(Vec<i64>, Vec<i64>)> {
    let mut pairs = Vec::new();
    for data in datasets(values, size, adjacency) {
        for other in neighbours(&data, values, adjacency) {
            if other.len() <= size && data < other {
                pairs.push((data.clone(), other));
            }
        }
    }
    pairs
}

/// Every unordered pair of lists of `size` votes of which at most `replaced` differ, each list sorted: what one
/// person can do to the votes of blocks.
pub fn votes_within(values: &[i64], size: usize, replaced: usize) -> Vec<(Vec<i64>, Vec<i64>)> {
    let all = multisets(values, size);
    let mut pairs = Vec::new();
    for (index, votes) in all.iter().enumerate() {
        for other in &all[index + 1..] {
            if size - shared(votes, other) <= replaced {
                pairs.push((votes.clone(), other.clone()));
            }
        }
    }
    pairs
}

/// How many entries two sorted lists share.
fn shared(a: &[i64], b: &[i64]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                (i, j, count) = (i + 1, j + 1, count + 1);
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_the_binomials() {
        assert_eq!(multisets(&[0, 1, 2, 3, 4], 7).len(), 330);
        assert_eq!(datasets(&[0, 1], 3, Adjacency::AddRemove).len(), 1 + 2 + 3 + 4);
        assert_eq!(neighbours(&[0, 0, 1], &[0, 1], Adjacency::Replace), vec![vec![0, 0, 0], vec![0, 1, 1]]);
        assert_eq!(neighbours(&[], &[0, 1], Adjacency::AddRemove), vec![vec![0], vec![1]]);
        // Adding one of two values to each of the multisets of size 0, 1, 2.
        assert_eq!(neighbouring_pairs(&[0, 1], 3, Adjacency::AddRemove).len(), 2 + 4 + 6);
        assert_eq!(neighbouring_pairs(&[0, 1], 3, Adjacency::Replace).len(), 3);
        assert_eq!(votes_within(&[0, 1], 3, 1), neighbouring_pairs(&[0, 1], 3, Adjacency::Replace));
        assert_eq!(votes_within(&[0, 1], 3, 2).len(), 5);
    }
}
