//! Any function on all subsets that lack a few rows: what black-box mechanisms look at.
//!
//! Source: Fang, Dong and Yi 2022; Linder, Raskhodnikova, Smith and Steinke 2025.
//!
//! # Claim
//!
//! [`largest_after_removals`] is exact: for each k, the least, over the choices of k removed rows, of the largest
//! value of the function on subsets without them that lack at most `left_out` rows in all. It evaluates the
//! function once on each subset that lacks at most `left_out` rows, [`count`] of them.

/// The number of subsets of at least `size` of so many rows, capped at 2^64.
pub fn count(rows: u64, size: u64) -> u128 {
    let most = 1u128 << 64;
    let (mut sum, mut term) = (0u128, 1u128);
    let Some(left_out) = rows.checked_sub(size) else { return 0 };
    for left_out in 0..=left_out {
        sum = sum.saturating_add(term).min(most);
        if sum == most {
            break;
        }
        // C(n, k + 1) = C(n, k)·(n - k)/(k + 1); a capped term ends the loop.
        term = (term * u128::from(rows - left_out) / u128::from(left_out + 1)).min(most);
    }
    sum
}

/// For k = 0, 1, …, `left_out`: the largest value over subsets that lack at most `left_out` rows, after the k
/// removals that lower it the most. Panics if more rows are left out than there are.
pub fn largest_after_removals<T, V: Ord + Copy>(
    rows: &[T],
    left_out: usize,
    mut value: impl FnMut(&[&T]) -> V,
) -> Vec<V> {
    let ranks = Ranks::new(rows.len(), left_out);
    let mut least = Vec::new();
    // By rank of the removed rows: the largest value known so far, from sets of one row more.
    let mut largest: Vec<Option<V>> = vec![None; ranks.count(left_out)];
    for removed in (0..=left_out).rev() {
        let mut next = vec![None; if removed == 0 { 0 } else { ranks.count(removed - 1) }];
        let mut chosen: Vec<usize> = (0..removed).collect();
        let mut least_here = None;
        for &known in &largest {
            let here = Some(value(&without(rows, &chosen))).max(known);
            least_here = least_here.into_iter().chain(here).min();
            for left in 0..removed {
                let others = chosen.iter().enumerate().filter(|(place, _)| *place != left);
                let slot: &mut Option<V> = &mut next[ranks.rank(others.map(|(_, &row)| row))];
                *slot = (*slot).max(here);
            }
            Ranks::advance(&mut chosen);
        }
        least.push(least_here.expect("some set of removed rows"));
        largest = next;
    }
    least.reverse();
    least
}

/// The rows that are not among the chosen ones, which are in growing order.
fn without<'a, T>(rows: &'a [T], chosen: &[usize]) -> Vec<&'a T> {
    let mut skipped = chosen.iter().peekable();
    let kept = rows.iter().enumerate().filter(|(row, _)| skipped.next_if_eq(&row).is_none());
    kept.map(|(_, row)| row).collect()
}

/// Sets of rows in the order of their ranks: the sum of C(row, place) over the rows in growing order.
struct Ranks {
    /// `binomials[k][n]` is C(n, k).
    binomials: Vec<Vec<usize>>,
    rows: usize,
}

impl Ranks {
    fn new(rows: usize, most: usize) -> Self {
        assert!(most <= rows, "no more rows left out than there are");
        let mut binomials = vec![vec![1; rows + 1]];
        for k in 1..=most {
            let mut line = vec![0usize; rows + 1];
            for n in 1..=rows {
                line[n] = line[n - 1].saturating_add(binomials[k - 1][n - 1]);
            }
            binomials.push(line);
        }
        Self { binomials, rows }
    }

    /// How many sets of this many rows there are.
    fn count(&self, chosen: usize) -> usize {
        self.binomials[chosen][self.rows]
    }

    fn rank(&self, chosen: impl Iterator<Item = usize>) -> usize {
        chosen.enumerate().map(|(place, row)| self.binomials[place + 1][row]).sum()
    }

    /// The set of the next rank: the first row that has room moves up, those before it start over.
    fn advance(chosen: &mut [usize]) {
        for place in 0..chosen.len() {
            let limit = chosen.get(place + 1).copied().unwrap_or(usize::MAX);
            if chosen[place] + 1 < limit {
                chosen[place] += 1;
                for (start, row) in chosen[..place].iter_mut().enumerate() {
                    *row = start;
                }
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{adjacency::Adjacency, universe::datasets};

    /// The definition, by trying everything: bits are kept rows.
    fn by_search(rows: &[i64], left_out: usize, value: fn(&[&i64]) -> i64) -> Vec<i64> {
        let all = 0u32..1 << rows.len();
        let size = |kept: u32| kept.count_ones() as usize;
        let at = |kept: u32| {
            let inside = rows.iter().enumerate().filter(|(place, _)| kept >> place & 1 == 1);
            value(&inside.map(|(_, row)| row).collect::<Vec<_>>())
        };
        let largest = |within: u32| {
            let subsets =
                all.clone().filter(|kept| kept & !within == 0 && size(*kept) + left_out >= rows.len());
            subsets.map(at).max().unwrap()
        };
        let removing = |k: usize| all.clone().filter(move |&kept| size(kept) + k == rows.len());
        (0..=left_out).map(|k| removing(k).map(largest).min().unwrap()).collect()
    }

    #[test]
    fn every_small_data_set_agrees_with_search() {
        let functions: [fn(&[&i64]) -> i64; 3] = [
            |rows| rows.iter().map(|row| **row * 60).sum::<i64>() / i64::try_from(rows.len().max(1)).unwrap(),
            |rows| rows.iter().copied().sum::<i64>() % 2,
            |rows| if rows.len() == 3 { 7 } else { rows.first().map_or(-9, |row| **row) },
        ];
        for rows in datasets(&[0, 1, 3], 6, Adjacency::AddRemove) {
            for (left_out, function) in (0..=rows.len()).flat_map(|k| functions.map(|f| (k, f))) {
                let mut asked = 0;
                let found = largest_after_removals(&rows, left_out, |kept| {
                    asked += 1;
                    function(kept)
                });
                assert_eq!(found, by_search(&rows, left_out, function), "{rows:?} {left_out}");
                assert_eq!(asked, count(rows.len() as u64, (rows.len() - left_out) as u64));
            }
        }
    }

    #[test]
    fn counts_are_sums_of_binomials() {
        assert_eq!([count(3, 1), count(3, 0), count(3, 3), count(3, 4), count(0, 0)], [7, 8, 1, 0, 1]);
        assert_eq!(
            (count(41, 36), count(u64::MAX, 1), count(u64::MAX, u64::MAX - 1)),
            (862_190, 1 << 64, 1 << 64)
        );
        assert_eq!(count(1 << 40, (1 << 40) - 1), (1 << 40) + 1);
    }

    #[test]
    fn subsets_keep_the_order_of_the_rows() {
        let mut seen = Vec::new();
        largest_after_removals(&["a", "b", "c"], 1, |kept| {
            seen.push(kept.iter().copied().copied().collect::<String>());
        });
        assert_eq!(seen, ["bc", "ac", "ab", "abc"]);
    }
}
