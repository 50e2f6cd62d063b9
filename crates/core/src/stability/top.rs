//! The values that the most rows have, so many of them as a set, ties to the smaller value, and the slack of that set.
//!
//! Source: the mode ([`mode`](super::mode)), with a set in its place.
//!
//! # Claim
//!
//! [`Top::value_and_slack`] is one where a neighbour has another set, and moves by at most one between neighbours: where one row comes or
//! goes, where one is replaced, and under add/remove also where a person comes or goes who adds one to the counts of any values at once. That is
//! what [`stable`](crate::mechanism::stable) asks for. Where the universe has values on both sides of the rows it is the fewest changed rows
//! that lead to another set.
//!
//! # Why
//!
//! 1. A set stays while each of its values v has more rows than each other value w, or as many and is smaller: while
//!    count(v) - count(w) + \[w > v\] is at least one. The least of these differences is the margin.
//! 2. Whoever comes or goes moves every count by at most one, and all of them the same way, so a difference of two moves by at most one; a
//!    replaced row moves it by at most two, and half the margin, rounded up, by at most one.
//! 3. Another set has a difference of at most zero where this one had at least one: the margin was one, or at most two under replace.
//! 4. Only the last value of the set, in the order of counts and then of values, decides: it has the least count, and is the largest of those that have
//!    it. Values that no row has compete with count zero, and may lie below it.
//! 5. Fewer values than wanted are a set too, which one row more changes. A neighbour with enough of them has one that a single row or
//!    person has, so that its margin is one.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, stability::{Answer, top::Top}};
//!
//! let counts = [("ash", 9), ("beech", 2), ("cedar", 7)];
//! let top = Top::from_passes(2, |visit: &mut dyn FnMut(&str, u64)| {
//!     counts.iter().for_each(|&(value, count)| visit(value, count));
//! });
//! let found = top.value_and_slack(Adjacency::AddRemove);
//! assert_eq!(found.value, Answer::Value(vec!["ash".to_string(), "cedar".to_string()]));
//! // Five more rows make it seven beech against seven cedar, and beech is smaller.
//! assert_eq!(found.slack.until_change(), Some(5));
//! ```

use super::{Answer, ValueAndSlack};
use crate::{adjacency::Adjacency, outcome::Slack, redact::debug_only_public};
use std::{borrow::Borrow, cmp::Reverse, collections::BTreeSet};

/// The most frequent values, and the best of the others.
#[derive(Clone, PartialEq, Eq)]
pub struct Top<T> {
    wanted: usize,
    /// The last is the one that would go first.
    values: BTreeSet<(Reverse<u64>, T)>,
    /// The largest count of a value that is not among them and smaller than the last.
    below: u64,
    /// The same of larger values.
    above: u64,
}

debug_only_public!(impl[T] Top[T] {});

impl<T: Ord> Top<T> {
    /// So many, at least one, of the values that `pass` hands over twice, each once with how many rows have it. Counts of zero are left out.
    pub fn from_passes<V>(wanted: usize, mut pass: impl FnMut(&mut dyn FnMut(&V, u64))) -> Self
    where
        T: Borrow<V>,
        V: Ord + ToOwned<Owned = T> + ?Sized,
    {
        let wanted = wanted.max(1);
        let mut values: BTreeSet<(Reverse<u64>, T)> = BTreeSet::new();
        pass(&mut |value, count| {
            let full = values.len() == wanted;
            if count > 0 && !(full && values.last().is_some_and(|last| is_behind(value, count, last))) {
                values.insert((Reverse(count), value.to_owned()));
                if full {
                    values.pop_last();
                }
            }
        });
        let (mut below, mut above) = (0, 0);
        if let Some(last) = values.last() {
            pass(&mut |value, count| {
                if is_behind(value, count, last) {
                    let last: &V = last.1.borrow();
                    let best = if value < last { &mut below } else { &mut above };
                    *best = count.max(*best);
                }
            });
        }
        Self { wanted, values, below, above }
    }

    /// The values in rising order, fewer where there are no more, and how many changes lead to other ones at least.
    pub fn value_and_slack(self, adjacency: Adjacency) -> ValueAndSlack<Vec<T>> {
        let margin = match self.values.last() {
            Some((Reverse(count), _)) if self.values.len() == self.wanted => {
                (count - self.below).min(count - self.above + 1)
            }
            _ => 1,
        };
        let changes = match adjacency {
            Adjacency::AddRemove => margin,
            Adjacency::Replace => margin.div_ceil(2),
        };
        let mut values: Vec<T> = self.values.into_iter().map(|(_, value)| value).collect();
        values.sort_unstable();
        ValueAndSlack { value: Answer::Value(values), slack: Slack::rows_to_change(changes, adjacency) }
    }
}

/// Does this value come after that one, by its count or as the larger of two with the same?
fn is_behind<V: Ord + ?Sized, T: Borrow<V>>(value: &V, count: u64, last: &(Reverse<u64>, T)) -> bool {
    let last_value: &V = last.1.borrow();
    (Reverse(count), value) > (last.0, last_value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{stability::brute_force::Neighbourhoods, universe};
    use std::collections::BTreeMap;

    fn counted(rows: &[i64]) -> BTreeMap<i64, u64> {
        rows.iter().fold(BTreeMap::new(), |mut counts, &row| {
            *counts.entry(row).or_default() += 1;
            counts
        })
    }

    fn top_of(counts: &BTreeMap<i64, u64>, wanted: usize, adjacency: Adjacency) -> (Vec<i64>, u64) {
        let top = Top::<i64>::from_passes(wanted, |visit: &mut dyn FnMut(&i64, u64)| {
            for (value, &count) in counts {
                visit(value, count);
            }
        });
        let found = top.value_and_slack(adjacency);
        let Answer::Value(values) = found.value else { panic!("a set, empty or not") };
        (values, found.slack.until_change().expect("every set can change"))
    }

    fn direct(rows: &[i64], wanted: usize) -> Vec<i64> {
        let mut counts: Vec<(i64, u64)> = counted(rows).into_iter().collect();
        counts.sort_by_key(|&(value, count)| (Reverse(count), value));
        let mut values: Vec<i64> = counts.into_iter().take(wanted).map(|(value, _)| value).collect();
        values.sort_unstable();
        values
    }

    /// What the gate asks of two neighbours: other sets have a slack of one on both sides, and slacks differ by at most one.
    fn fit(one: &(Vec<i64>, u64), other: &(Vec<i64>, u64)) -> bool {
        one.1.abs_diff(other.1) <= 1 && (one.0 == other.0 || (one.1 == 1 && other.1 == 1))
    }

    #[test]
    fn neighbours_in_rows_fit_the_gate() {
        for adjacency in Adjacency::ALL {
            for wanted in 1..=3 {
                for size in 1..=6 {
                    for (a, b) in universe::neighbouring_pairs(&[0, 1, 2, 3], size, adjacency) {
                        let [one, other] = [&a, &b].map(|rows| top_of(&counted(rows), wanted, adjacency));
                        assert_eq!(one.0, direct(&a, wanted));
                        assert!(fit(&one, &other), "{a:?} {b:?} {wanted} {adjacency}");
                    }
                }
            }
        }
    }

    /// A person adds one to the counts of any values at once. One who is replaced is not one step: counts move both ways.
    #[test]
    fn neighbours_in_people_fit_the_gate_where_they_come_or_go() {
        const VALUES: u32 = 4;
        let mut replaced_fit = true;
        for code in 0..5_u64.pow(VALUES) {
            let with = |person: u64| -> BTreeMap<i64, u64> {
                let count = |place: u32| code / 5_u64.pow(place) % 5 + (person >> place & 1);
                (0..VALUES).map(|place| (i64::from(place), count(place))).collect()
            };
            for wanted in 1..=3 {
                let all: Vec<(Vec<i64>, u64)> = (0..1 << VALUES)
                    .map(|person| top_of(&with(person), wanted, Adjacency::AddRemove))
                    .collect();
                assert!(all.iter().all(|came| fit(&all[0], came)), "{code} {wanted}");
                replaced_fit &= all.iter().all(|one| all.iter().all(|other| fit(one, other)));
            }
        }
        assert!(!replaced_fit, "a mutant that takes a replaced person for one step is caught");
    }

    #[test]
    fn slacks_agree_with_search_where_values_lie_on_both_sides() {
        let values = [0, 1, 2, 3, 4];
        for adjacency in Adjacency::ALL {
            for wanted in 1..=2 {
                for rows in 1..=4 {
                    let size = if adjacency == Adjacency::Replace { rows } else { 2 * rows + 1 };
                    let all = Neighbourhoods::new(&values, size, adjacency);
                    let slacks = all.slacks(|data| direct(data, wanted));
                    let inner = |data: &Vec<i64>| data.len() == rows && data.iter().all(|&row| row % 4 != 0);
                    for (data, slack) in all.datasets().iter().zip(slacks).filter(|(data, _)| inner(data)) {
                        let (_, found) = top_of(&counted(data), wanted, adjacency);
                        assert_eq!(Some(found), slack, "{data:?} {wanted} {adjacency}");
                    }
                }
            }
        }
    }

    #[test]
    fn sets_by_hand() {
        let counts = BTreeMap::from([(1, 9), (2, 7), (3, 7), (4, 2), (5, 0)]);
        let of = |wanted| top_of(&counts, wanted, Adjacency::AddRemove);
        assert_eq!(of(1), (vec![1], 3));
        assert_eq!(of(2), (vec![1, 2], 1));
        assert_eq!(of(3), (vec![1, 2, 3], 6));
        // Nothing else has a row, and a value below 4 may come.
        assert_eq!(of(4), (vec![1, 2, 3, 4], 2));
        assert_eq!(of(5), (vec![1, 2, 3, 4], 1));
        assert_eq!(top_of(&counts, 3, Adjacency::Replace), (vec![1, 2, 3], 3));
        assert_eq!(top_of(&BTreeMap::new(), 3, Adjacency::AddRemove), (vec![], 1));
    }
}
