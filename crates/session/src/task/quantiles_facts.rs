//! What quantiles ask of the rows.

use super::{
    super::{ends::IntervalEnds, guard},
    Kind, Quantiles,
};
use crate::row_facts::{Around, RowFacts, places::Places};
use equipoise_core::{
    mechanism::inverse_sensitivity,
    stability::{Reach, Window},
};
use std::slice;

impl Quantiles {
    /// The windows that are drawn from, in the order of the draws. Coins decide on none of them.
    pub(super) fn wanted(&self) -> Vec<Around> {
        let around = |one: &inverse_sensitivity::Calibrated| Around {
            target: one.params().target,
            reach: one.reach(),
        };
        let with_ends = |drawn: &[inverse_sensitivity::Calibrated], ends: &Option<IntervalEnds>| {
            drawn.iter().chain(ends.iter().flat_map(IntervalEnds::each)).map(around).collect()
        };
        match &self.kind {
            Kind::One { mechanism, ends, .. } => with_ends(slice::from_ref(mechanism), ends),
            Kind::Several { mechanism, ends, .. } => with_ends(mechanism.each(), ends),
            Kind::Stable { quantile, .. } => {
                vec![Around { target: (*quantile).into(), reach: Reach::Ranks(0) }]
            }
        }
    }

    pub(super) fn windows(&self, rows: &dyn RowFacts) -> Vec<Window> {
        rows.windows(&self.need, &self.places(), &self.wanted())
    }

    pub(super) fn places(&self) -> Places {
        Places { space: self.space.clone(), adjacency: self.adjacency }
    }

    /// How many rows take part: under add/remove those that have a value, under replace all.
    pub(super) fn counted(&self, rows: &dyn RowFacts) -> u64 {
        rows.count(&self.need, guard::nulls(self.adjacency))
    }

    /// How many rows have no value.
    pub(super) fn without_a_value(&self, rows: &dyn RowFacts) -> u64 {
        guard::without_a_value(rows, &self.need)
    }
}
