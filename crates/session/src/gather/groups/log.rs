//! Values and their groups in the order of the rows, and the values of some groups side by side.
//!
//! A value that is met is written behind those before it, whatever its group, and only groups that are asked for are ever put
//! together: most groups of many are not told.

use std::mem;

/// Values with the groups that they belong to, in the order in which they were met.
pub(super) struct Log<T> {
    /// What each thread has found, one after the other.
    parts: Vec<Part<T>>,
}

struct Part<T> {
    groups: Vec<u32>,
    values: Vec<T>,
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { parts: vec![Part { groups: Vec::new(), values: Vec::new() }] }
    }
}

impl<T: Copy + Default> Log<T> {
    pub fn push(&mut self, group: u32, value: T) {
        let part = &mut self.parts[0];
        part.groups.push(group);
        part.values.push(value);
    }

    /// As many values as groups.
    pub fn extend(&mut self, groups: &[u32], values: &[T]) {
        let part = &mut self.parts[0];
        part.groups.extend_from_slice(groups);
        part.values.extend_from_slice(values);
    }

    /// How many bytes of memory the values take.
    pub fn bytes(&self) -> u64 {
        let each = mem::size_of::<u32>() + mem::size_of::<T>();
        self.parts.iter().map(|part| part.groups.len() * each).sum::<usize>() as u64
    }

    /// Take over what another thread has found, whose groups have these numbers here.
    pub fn absorb(&mut self, other: Self, places: &[usize]) {
        for mut part in other.parts {
            for group in &mut part.groups {
                *group = u32::try_from(places[*group as usize]).expect("fewer than 2^32 groups");
            }
            self.parts.push(part);
        }
    }

    /// The values of these groups, of so many.
    pub fn by_group(&self, groups: &[usize], many: usize) -> ByGroup<T> {
        const UNASKED: u32 = u32::MAX;
        let mut places = vec![UNASKED; many];
        for (place, &group) in groups.iter().enumerate() {
            places[group] = u32::try_from(place).expect("fewer than 2^32 groups");
        }
        let mut starts = vec![0; groups.len() + 1];
        for part in &self.parts {
            for &group in &part.groups {
                let place = places[group as usize];
                if place != UNASKED {
                    starts[place as usize + 1] += 1;
                }
            }
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let mut next = starts.clone();
        let mut values = vec![T::default(); starts[groups.len()]];
        for part in &self.parts {
            for (&group, &value) in part.groups.iter().zip(&part.values) {
                let place = places[group as usize];
                if place != UNASKED {
                    let at = &mut next[place as usize];
                    values[*at] = value;
                    *at += 1;
                }
            }
        }
        ByGroup { starts, values }
    }
}

/// The values of some groups, those of each side by side, in the order in which they were met.
pub(super) struct ByGroup<T> {
    /// Where the values of each place begin, and where the last end.
    starts: Vec<usize>,
    values: Vec<T>,
}

impl<T> ByGroup<T> {
    /// The values of the group with this place among those that were asked for.
    pub fn of(&self, place: usize) -> &[T] {
        &self.values[self.starts[place]..self.starts[place + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_by_group_in_the_order_in_which_they_were_met() {
        let (mut one, mut other) = (Log::default(), Log::default());
        one.extend(&[0, 1, 0], &[1.0, 2.0, 3.0]);
        one.push(2, 4.0);
        other.extend(&[0, 1, 0], &[5.0, 6.0, 7.0]);
        assert_eq!((one.bytes(), other.bytes()), (48, 36));
        // The other thread met group 2 first and a new one second.
        one.absorb(other, &[2, 3]);
        let found = one.by_group(&[3, 2, 0], 4);
        assert_eq!(
            [0, 1, 2].map(|place| found.of(place).to_vec()),
            [vec![6.0], vec![4.0, 5.0, 7.0], vec![1.0, 3.0]]
        );
        assert_eq!(one.by_group(&[1], 4).of(0), [2.0]);
        assert!(Log::<i64>::default().by_group(&[0], 1).of(0).is_empty());
    }
}
