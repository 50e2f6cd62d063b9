//! An answer or a refusal, and how far the data is from another answer.

use crate::adjacency::Adjacency;
use crate::redact::debug_only_public;
use std::cmp::Ordering;

/// What a release-or-refuse mechanism says. A refusal is an output, charged like any other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome<T> {
    /// An answer.
    Value(T),
    /// An honest "no answer".
    Refused,
}

impl<T> Outcome<T> {
    /// The answer, if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Refused => None,
        }
    }

    /// The same outcome with the answer transformed; post-processing costs nothing.
    pub fn map<U>(self, transform: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Value(value) => Outcome::Value(transform(value)),
            Self::Refused => Outcome::Refused,
        }
    }
}

/// How far a data set is from one where the answer could differ, under a named adjacency.
///
/// Two counts are in use in the literature and differ by one; mixing them multiplies delta by e^epsilon.
/// Both constructors say which they take, and no bare number leaves this type. A slack is compared by how
/// far it is, so that the smaller of two is always the safe one to act on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slack {
    /// Changes of records to a data set with another value; at least one, `None` if there is none.
    rows_to_change: Option<u64>,
    adjacency: Adjacency,
}

debug_only_public!(Slack { adjacency });

impl Slack {
    /// The least number of changes that leads to another *value*: one or more.
    pub fn rows_to_change(rows: u64, adjacency: Adjacency) -> Self {
        Self { rows_to_change: Some(rows.max(1)), adjacency }
    }

    /// The least number of changes that leads to an *unstable* data set, one with a neighbour of another
    /// value: zero or more.
    pub fn steps_to_unstable(steps: u64, adjacency: Adjacency) -> Self {
        Self { rows_to_change: Some(steps.saturating_add(1)), adjacency }
    }

    /// No number of changes leads to another value.
    pub fn constant(adjacency: Adjacency) -> Self {
        Self { rows_to_change: None, adjacency }
    }

    /// Changes to another value, `None` where the value is the same everywhere.
    pub fn until_change(self) -> Option<u64> {
        self.rows_to_change
    }

    /// Changes to an unstable data set, `None` where every data set is stable.
    pub fn until_unstable(self) -> Option<u64> {
        self.rows_to_change.map(|rows| rows - 1)
    }

    /// The adjacency the changes were counted in.
    pub fn adjacency(self) -> Adjacency {
        self.adjacency
    }

    /// A slack that holds in another adjacency, never too large; `None` where nothing follows.
    ///
    /// A replacement is a removal and an addition. So half of the added or removed rows, rounded up, is at
    /// most the number of replaced rows that lead to another value, and moves by at most one where one row is
    /// replaced. Slack under replace says nothing about data sets of another size.
    pub fn counted_in(self, adjacency: Adjacency) -> Option<Self> {
        match (self.adjacency, adjacency) {
            (Adjacency::AddRemove, Adjacency::Replace) => {
                Some(Self { rows_to_change: self.rows_to_change.map(|rows| rows.div_ceil(2)), adjacency })
            }
            (Adjacency::Replace, Adjacency::AddRemove) => None,
            (Adjacency::AddRemove, Adjacency::AddRemove) | (Adjacency::Replace, Adjacency::Replace) => {
                Some(self)
            }
        }
    }
}

impl PartialOrd for Slack {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Slack {
    fn cmp(&self, other: &Self) -> Ordering {
        // "Never" is farther than any number, where `Option` would put it before all of them.
        let distance = |slack: &Self| (slack.rows_to_change.is_none(), slack.rows_to_change, slack.adjacency);
        distance(self).cmp(&distance(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_slack_is_never_the_constant_one() {
        let slacks = [Slack::constant(Adjacency::Replace), Slack::rows_to_change(7, Adjacency::Replace)];
        assert_eq!(slacks.iter().min(), Some(&slacks[1]));
        assert_eq!(slacks.iter().max(), Some(&slacks[0]));
    }

    #[test]
    fn the_two_counts_differ_by_one() {
        let adjacency = Adjacency::Replace;
        assert_eq!(Slack::rows_to_change(3, adjacency), Slack::steps_to_unstable(2, adjacency));
        assert_eq!(Slack::rows_to_change(0, adjacency).until_unstable(), Some(0));
        assert_eq!(Slack::steps_to_unstable(u64::MAX, adjacency).until_change(), Some(u64::MAX));
        assert!(Slack::constant(adjacency).until_change().is_none());
        assert!(Slack::rows_to_change(9, adjacency) > Slack::rows_to_change(1, adjacency));
    }

    #[test]
    fn a_replacement_counts_for_two() {
        let (added, replaced) = (Adjacency::AddRemove, Adjacency::Replace);
        for (rows, halved) in [(1, 1), (2, 1), (3, 2), (u64::MAX, u64::MAX / 2 + 1)] {
            let slack = Slack::rows_to_change(rows, added);
            assert_eq!(slack.counted_in(replaced), Some(Slack::rows_to_change(halved, replaced)));
            assert_eq!(slack.counted_in(added), Some(slack));
            assert_eq!(Slack::rows_to_change(rows, replaced).counted_in(added), None);
        }
        assert_eq!(Slack::constant(added).counted_in(replaced), Some(Slack::constant(replaced)));
        assert_eq!(Slack::constant(replaced).counted_in(added), None);
    }
}
