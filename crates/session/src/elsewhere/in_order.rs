//! Rows by rank, fetched as windows where they are looked at.

use super::asked::Elsewhere;
use crate::{
    need::Need,
    row_facts::{Around, Nulls, RowFacts, places::Places},
};
use equipoise_core::stability::{InOrder, Median, Range, Reach, Spacing, Window, reachable::Target};
use std::{cell::RefCell, collections::BTreeMap};

/// The rows of a group as places.
pub(super) struct Looked<'a, 'e> {
    rows: &'a Elsewhere<'e>,
    need: Need,
    places: Places,
    spacing: Spacing,
    count: u64,
    windows: RefCell<Vec<Window>>,
    ties: RefCell<BTreeMap<i64, (u64, u64)>>,
}

impl<'a, 'e> Looked<'a, 'e> {
    pub fn new(rows: &'a Elsewhere<'e>, need: &Need, places: &Places, spacing: Spacing) -> Self {
        let nulls = if places.of_nothing().is_some() { Nulls::Counted } else { Nulls::LeftOut };
        Self {
            count: rows.count(need, nulls),
            rows,
            need: need.clone(),
            places: places.clone(),
            spacing,
            windows: RefCell::default(),
            ties: RefCell::default(),
        }
    }

    /// The row of a rank, if it was fetched.
    fn fetched(&self, rank: u64) -> Option<i64> {
        self.windows.borrow().iter().find_map(|window| {
            let place = usize::try_from(rank.checked_sub(window.below() + 1)?).ok()?;
            window.values().get(place).copied()
        })
    }
}

/// Ties that a window tells: where it does not end in them.
fn told(window: &Window, place: i64) -> Option<(u64, u64)> {
    let values = window.values();
    let (first, last) = (values.first()?, values.last()?);
    if (*first < place || window.below() == 0) && (place < *last || window.above() == 0) {
        let less = values.partition_point(|&value| value < place);
        let upto = values.partition_point(|&value| value <= place);
        return Some((window.below() + less as u64, (upto - less) as u64));
    }
    (window.at(window.rank().into()) == place).then(|| (window.less(), window.equal()))
}

impl InOrder for Looked<'_, '_> {
    fn range(&self) -> Range {
        self.places.range()
    }

    fn spacing(&self) -> Spacing {
        self.spacing
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn row(&self, rank: u64) -> i64 {
        if let Some(row) = self.fetched(rank) {
            return row;
        }
        self.look_at(rank, rank);
        self.fetched(rank).expect("a row that was looked at")
    }

    fn ties(&self, place: i64) -> (u64, u64) {
        if self.count == 0 {
            return (0, 0);
        }
        if let Some(ties) = self.windows.borrow().iter().find_map(|window| told(window, place)) {
            return ties;
        }
        let find = || self.rows.ties(&self.need, &self.places, place, self.count);
        *self.ties.borrow_mut().entry(place).or_insert_with(find)
    }

    fn look_at(&self, first: u64, last: u64) {
        if self.count == 0 || self.fetched(first).is_some() && self.fetched(last).is_some() {
            return;
        }
        let middle = first.midpoint(last);
        // The row of a rank is that of the median, so many ranks on.
        let median: Target = Median.quantile().into();
        let shift = i64::try_from(middle).unwrap_or(i64::MAX).saturating_sub(median.rank(self.count));
        let target = Target::shifted(Median.quantile(), shift);
        let around = Around { target, reach: Reach::Ranks(last - middle) };
        let found = self.rows.windows(&self.need, &self.places, &[around]);
        self.windows.borrow_mut().extend(found);
    }
}
