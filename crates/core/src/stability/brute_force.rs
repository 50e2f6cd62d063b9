//! The same answers by walking from data set to data set: slow, small, and obviously right.
//!
//! Every formula of this module's neighbours is held against these searches, and so can be any distance
//! that somebody else wrote. Data sets are sorted rows over a short list of values; a formula whose
//! extreme cases only ever use rows of the data and the two ends of the range may be checked on any list
//! of values that holds both ends.

use crate::{adjacency::Adjacency, outcome::Slack, universe};
use std::collections::{HashMap, HashSet};

/// Every data set within `steps` changes, nearest first, grouped by distance.
fn shells(data: &[i64], values: &[i64], adjacency: Adjacency, steps: u64) -> Vec<Vec<Vec<i64>>> {
    let mut seen = HashSet::from([data.to_vec()]);
    let mut shells = vec![vec![data.to_vec()]];
    for _ in 0..steps {
        let mut next = Vec::new();
        for near in shells.last().expect("starts with one shell") {
            for other in universe::neighbours(near, values, adjacency) {
                if seen.insert(other.clone()) {
                    next.push(other);
                }
            }
        }
        if next.is_empty() {
            break;
        }
        shells.push(next);
    }
    shells
}

/// The slack of any function, if another value lies within `limit` changes.
///
/// Under replace, where `limit` is at least the number of rows, `None` means that there is none.
pub fn slack_by_search<Y: PartialEq>(
    function: impl Fn(&[i64]) -> Y,
    data: &[i64],
    values: &[i64],
    adjacency: Adjacency,
    limit: u64,
) -> Option<Slack> {
    let here = function(data);
    let shells = shells(data, values, adjacency, limit);
    let found = shells.iter().position(|shell| shell.iter().any(|other| function(other) != here))?;
    Some(Slack::rows_to_change(u64::try_from(found).ok()?, adjacency))
}

/// The most that one further change can move the value after at most `distance` changes; `None` where
/// no data set has a neighbour.
pub fn local_sensitivity_at_distance_by_search<Y, D: Ord>(
    function: impl Fn(&[i64]) -> Y,
    difference: impl Fn(&Y, &Y) -> D,
    data: &[i64],
    values: &[i64],
    adjacency: Adjacency,
    distance: u64,
) -> Option<D> {
    let near = shells(data, values, adjacency, distance).into_iter().flatten();
    near.filter_map(|near| {
        let here = function(&near);
        let others = universe::neighbours(&near, values, adjacency);
        others.iter().map(|other| difference(&here, &function(other))).max()
    })
    .max()
}

/// All small data sets and who is next to whom: searches from everywhere at once.
#[derive(Clone, Debug)]
pub struct Neighbourhoods {
    adjacency: Adjacency,
    size: usize,
    datasets: Vec<Vec<i64>>,
    places: HashMap<Vec<i64>, usize>,
    neighbours: Vec<Vec<usize>>,
}

impl Neighbourhoods {
    /// The data sets of exactly `size` rows under replace, of up to `size` under add/remove.
    ///
    /// Under add/remove, answers about distance k are exact for data sets of at most `size - k - 1` rows.
    pub fn new(values: &[i64], size: usize, adjacency: Adjacency) -> Self {
        let datasets = universe::datasets(values, size, adjacency);
        let places: HashMap<_, _> = datasets.iter().cloned().enumerate().map(|(i, data)| (data, i)).collect();
        let next_to = |data: &Vec<i64>| {
            let others = universe::neighbours(data, values, adjacency);
            others.iter().filter_map(|other| places.get(other).copied()).collect()
        };
        let neighbours = datasets.iter().map(next_to).collect();
        Self { adjacency, size, datasets, places, neighbours }
    }

    /// Every data set, in the order of the answers below.
    pub fn datasets(&self) -> &[Vec<i64>] {
        &self.datasets
    }

    /// Are answers about this distance exact at this data set?
    pub fn covers(&self, data: &[i64], distance: u64) -> bool {
        match self.adjacency {
            Adjacency::Replace => true,
            Adjacency::AddRemove => (data.len() as u64).saturating_add(distance) < self.size as u64,
        }
    }

    /// For each data set the least number of changes to another value; `None` where none was found.
    pub fn slacks<Y: PartialEq>(&self, function: impl Fn(&[i64]) -> Y) -> Vec<Option<u64>> {
        let values: Vec<Y> = self.datasets.iter().map(|data| function(data)).collect();
        let unstable = |i: usize| self.neighbours[i].iter().any(|&j| values[j] != values[i]);
        let mut slacks: Vec<Option<u64>> =
            (0..self.datasets.len()).map(|i| unstable(i).then_some(1)).collect();
        let mut changes = 1;
        loop {
            let reached = |i: &usize| slacks[*i].is_none() && self.any_neighbour(*i, |j| slacks[j].is_some());
            let next: Vec<usize> = (0..slacks.len()).filter(reached).collect();
            if next.is_empty() {
                return slacks;
            }
            changes += 1;
            for i in next {
                slacks[i] = Some(changes);
            }
        }
    }

    fn any_neighbour(&self, i: usize, holds: impl Fn(usize) -> bool) -> bool {
        self.neighbours[i].iter().any(|&j| holds(j))
    }

    /// For each distance below `distances`, for each data set, the local sensitivity at that distance.
    pub fn local_sensitivities<Y, D: Ord + Clone>(
        &self,
        function: impl Fn(&[i64]) -> Y,
        difference: impl Fn(&Y, &Y) -> D,
        distances: usize,
    ) -> Vec<Vec<Option<D>>> {
        let values: Vec<Y> = self.datasets.iter().map(|data| function(data)).collect();
        let local = |i: usize| self.neighbours[i].iter().map(|&j| difference(&values[i], &values[j])).max();
        let mut levels = vec![(0..values.len()).map(local).collect::<Vec<_>>()];
        while levels.len() < distances {
            let last = levels.last().expect("starts with one level");
            let widened =
                |i: usize| self.neighbours[i].iter().map(|&j| &last[j]).fold(&last[i], std::cmp::max).clone();
            levels.push((0..values.len()).map(widened).collect());
        }
        levels
    }

    /// For each data set the least number of changes to one where `wanted` holds; `None` where none was
    /// found.
    pub fn distances_to(&self, wanted: impl Fn(&[i64]) -> bool) -> Vec<Option<u64>> {
        let mut distances: Vec<Option<u64>> =
            self.datasets.iter().map(|data| wanted(data).then_some(0)).collect();
        for distance in 1.. {
            let reached = |i: &usize| {
                distances[*i].is_none() && self.any_neighbour(*i, |j| distances[j] == Some(distance - 1))
            };
            let next: Vec<usize> = (0..distances.len()).filter(reached).collect();
            if next.is_empty() {
                break;
            }
            for i in next {
                distances[i] = Some(distance);
            }
        }
        distances
    }

    /// The place of a data set among [`Self::datasets`].
    pub fn place(&self, data: &[i64]) -> Option<usize> {
        self.places.get(data).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn largest(data: &[i64]) -> i64 {
        data.last().copied().unwrap_or(0)
    }

    /// Where nothing were covered, every comparison with a search would hold.
    #[test]
    fn answers_are_exact_while_rows_can_still_come() {
        let replace = Neighbourhoods::new(&[0, 1], 3, Adjacency::Replace);
        assert!(replace.covers(&[0, 1, 1], 9));
        let free = Neighbourhoods::new(&[0, 1], 3, Adjacency::AddRemove);
        assert!(free.covers(&[], 2) && free.covers(&[0, 1], 0));
        assert!(!free.covers(&[], 3) && !free.covers(&[0, 1], 1) && !free.covers(&[0], u64::MAX));
    }

    #[test]
    fn searches_from_one_place_and_from_everywhere_agree() {
        let values = [0, 1, 4];
        for adjacency in Adjacency::ALL {
            let all = Neighbourhoods::new(&values, 6, adjacency);
            let apart = |a: &i64, b: &i64| a.abs_diff(*b);
            let slacks = all.slacks(largest);
            let levels = all.local_sensitivities(largest, apart, 3);
            for (i, data) in all.datasets().iter().enumerate() {
                assert_eq!(all.place(data), Some(i));
                for distance in 0..3u64 {
                    if all.covers(data, distance) {
                        let one = local_sensitivity_at_distance_by_search(
                            largest, apart, data, &values, adjacency, distance,
                        );
                        assert_eq!(levels[usize::try_from(distance).unwrap()][i], one, "{data:?} {distance}");
                    }
                }
                if slacks[i].is_some_and(|slack| all.covers(data, slack)) {
                    let one = slack_by_search(largest, data, &values, adjacency, 6);
                    assert_eq!(one.and_then(Slack::until_change), slacks[i], "{data:?}");
                }
            }
        }
    }

    #[test]
    fn worked_by_hand() {
        let values = [0, 1, 4];
        let slack = |data: &[i64], adjacency| {
            slack_by_search(largest, data, &values, adjacency, 9).and_then(Slack::until_change)
        };
        assert_eq!(slack(&[0, 4, 4], Adjacency::Replace), Some(2));
        assert_eq!(slack(&[0, 1, 1], Adjacency::Replace), Some(1));
        assert_eq!(slack(&[4, 4, 4], Adjacency::AddRemove), Some(3));
        assert_eq!(slack_by_search(|_| 0, &[1, 1], &values, Adjacency::Replace, 9), None);
        let far = Neighbourhoods::new(&values, 3, Adjacency::Replace).distances_to(|data| data == [4, 4, 4]);
        assert_eq!(far.iter().max(), Some(&Some(3)));
    }
}
