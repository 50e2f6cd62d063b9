//! Quantiles of few rows: noisy counts of the cells of a range, which was declared or found, and bars in values.
//!
//! An answer by inverse sensitivity may lie anywhere on its lattice until more rows lie around it than its bound has ranks, and for the outer
//! quantiles of a few hundred rows there are not so many. Counts of a few cells say less of where a value lies in its cell, and more
//! of which cell that is: noise of a count does not grow with how many values there are.
//!
//! # Guarantee
//!
//! The range is public by now, a row lies in one of its cells or in none, and each cell is counted with noise for all of epsilon, under
//! replace for two steps within it. What is released is made of these counts.
//!
//! # Why the bars are as they say, all at once
//!
//! 1. Let a rows lie below an edge and b not. The q-quantile lies at the edge or above where (1 - q)a - qb < 0, and below it otherwise: that is
//!    whether a < q(a + b).
//! 2. Let x and y be the noise of the cells on either side, added up. The same of noisy counts is off by (1 - q)x - qy, at most
//!    (1 - q)|x| + q|y|. How far sums of noise go is proved in [`ecdf`](super::ecdf), and for k edges each of 2k sums fails with a 2k-th of
//!    what all may fail with, whatever the number of quantiles.
//! 3. So the greatest edge where the noisy number is surely below zero, or the low end of the range, is a lower end of the bar, and the least
//!    edge where it surely is not, or the high end, is an upper one.
//! 4. Quantiles rise with q, so that where all bars hold, the lower end of an earlier one and the upper end of a later one hold too.

use super::{clip::Clip, count::whole_noise, ecdf::reach};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar},
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{
        RowFacts,
        bins::{Bins, OnEdge},
    },
    source::ColumnType,
};
use equipoise_core::{
    coins::Coins,
    loss::{Delta, Eps},
    mechanism::laplace,
    ratio::Ratio,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// So many cells from so many rows times epsilon on, as shipped. With more of them the noise of many adds up, with fewer each is too wide: noise
/// takes the root of their number over rows and epsilon, and a cell is one over their number.
pub(super) const CELLS: [(f64, usize); 3] = [(0.0, 32), (400.0, 64), (1500.0, 128)];

/// A range that rows are limited to, and how many lie outside at most, where that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub clip: Clip,
    pub outside: Option<u64>,
}

/// Counts of cells, ready to be drawn.
#[derive(Clone, Debug)]
pub(super) struct CellQuantiles {
    noise: Arc<laplace::Calibrated>,
    /// From so many rows on, how far the noise of one cell goes, of two, and so on up to all of them.
    reach: Vec<(u64, Vec<f64>)>,
    fractions: Vec<f64>,
    confidence: f64,
}

impl CellQuantiles {
    /// For this epsilon in all; the number of cells follows from that of the rows, which is known by then.
    pub fn plan(
        said: &ResolvedRequest,
        eps: &Eps,
        fractions: &[Ratio],
        cells: &[(f64, usize)],
    ) -> Result<Self, PlanError> {
        let part = said.part(eps.clone(), Delta::zero());
        let single = part.in_single_steps()?;
        let noise = whole_noise(single.eps())?;
        let of_cells = |&(from, cells): &(f64, usize)| -> Result<(u64, Vec<f64>), PlanError> {
            // Both sides of each edge.
            let failure = said.failure() / &Ratio::from(2 * (cells as u64 - 1));
            let reach = (1..=cells as u64).map(|many| reach(&noise, single.eps().ratio(), many, &failure));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a number of rows, cut off at 2^64"
            )]
            let from = (from / single.eps().ratio().to_f64()).ceil() as u64;
            Ok((from, reach.collect::<Result<_, PlanError>>()?))
        };
        Ok(Self {
            reach: cells.iter().map(of_cells).collect::<Result<_, PlanError>>()?,
            noise,
            fractions: fractions.iter().map(Ratio::to_f64).collect(),
            confidence: said.confidence(),
        })
    }

    /// How far noise goes with the cells for so many rows.
    fn reach(&self, known: u64) -> &[f64] {
        let found = self.reach.iter().rev().find(|(from, _)| known >= *from);
        &found.unwrap_or(&self.reach[0]).1
    }

    /// The noisy numbers of rows in the cells between these edges: all that is drawn.
    pub fn noisy<C: Coins>(
        &self,
        (rows, need): (&dyn RowFacts, &Need),
        edges: &[f64],
        coins: &mut C,
    ) -> Vec<i64> {
        let counts = rows.bins(need, &Bins::Between { edges: edges.to_vec(), on_edge: OnEdge::AlwaysBehind });
        (0..=edges.len() as u64)
            .map(|cell| counts.get(&cell.cast_signed()).copied().unwrap_or(0))
            .map(|count| self.noise.run_whole(i64::try_from(count).unwrap_or(i64::MAX), coins))
            .collect()
    }

    /// The quantiles with their bars, as values of this type; there seem to be `known` rows.
    pub fn answer<C: Coins>(
        &self,
        rows: (&dyn RowFacts, &Need),
        known: u64,
        limits: &Limits,
        kind: Option<ColumnType>,
        coins: &mut C,
    ) -> Answer {
        let Clip { low, high, .. } = limits.clip;
        let reach = self.reach(known);
        let edges = edges(low, high, reach.len());
        let found = self.found(&self.noisy(rows, &edges, coins), reach, &edges, [low, high]);
        let written = |number: f64, round: fn(f64) -> f64| match kind {
            Some(kind) => kind.near(number, round),
            None => json!(number),
        };
        let list = |place: usize, round: fn(f64) -> f64| -> Value {
            found.iter().map(|ends| written(ends[place], round)).collect()
        };
        let bar = ErrorBar::noise_between(self.confidence, list(0, f64::floor), list(2, f64::ceil));
        let bar = bar.on(Condition::LimitedTo([low, high])).on(limits.outside.map(Condition::Outside));
        Answer::released(list(1, f64::round), bar)
    }

    /// Each quantile between its ends, from noisy counts.
    fn found(&self, noisy: &[i64], reach: &[f64], edges: &[f64], [low, high]: [f64; 2]) -> Vec<[f64; 3]> {
        let cells = noisy.len();
        let mut below = vec![0i64];
        below.extend(noisy.iter().scan(0i64, |sum, &count| {
            *sum = sum.saturating_add(count);
            Some(*sum)
        }));
        let all = below[cells];
        let rising = rising(&below);
        let mut found: Vec<[f64; 3]> = self
            .fractions
            .iter()
            .map(|&fraction| {
                let (mut least, mut most) = (low, high);
                for (place, &edge) in edges.iter().enumerate() {
                    let (before, behind) = (below[place + 1] as f64, (all - below[place + 1]) as f64);
                    let off = (1.0 - fraction) * reach[place] + fraction * reach[cells - place - 2];
                    let weighed = (1.0 - fraction) * before - fraction * behind;
                    // Floats round by far less than what reaches are rounded up by.
                    if weighed + off < 0.0 {
                        least = least.max(edge);
                    }
                    if weighed - off >= 0.0 {
                        most = most.min(edge);
                    }
                }
                [least, between(&rising, edges, [low, high], fraction), most]
            })
            .collect();
        for place in 1..found.len() {
            found[place][0] = found[place][0].max(found[place - 1][0]);
        }
        for place in (1..found.len()).rev() {
            found[place - 1][2] = found[place - 1][2].min(found[place][2]);
        }
        let mut last = low;
        for [least, value, most] in &mut found {
            *value = value.max(*least).min(*most).max(last);
            last = *value;
            // Ends cross where some bar fails.
            (*least, *most) = (least.min(*value), most.max(*value));
        }
        found
    }
}

/// The edges between so many cells of a range.
fn edges(low: f64, high: f64, cells: usize) -> Vec<f64> {
    let mut last = low;
    let mut edge = |place: usize| {
        let part = place as f64 / cells as f64;
        // Of both ends, because their distance may be beyond all floats.
        last = (low * (1.0 - part) + high * part).max(last).min(high);
        last
    };
    (1..cells).map(&mut edge).collect()
}

/// Sums that noise made fall somewhere, as near ones that do not: between the greatest before and the least behind.
fn rising(sums: &[i64]) -> Vec<f64> {
    let mut most = sums.to_vec();
    for place in 1..most.len() {
        most[place] = most[place].max(most[place - 1]);
    }
    let mut least = sums.to_vec();
    for place in (1..least.len()).rev() {
        least[place - 1] = least[place - 1].min(least[place]);
    }
    most.iter().zip(&least).map(|(&most, &least)| f64::midpoint(most as f64, least as f64)).collect()
}

/// Where the share of these sums reaches a fraction, evenly in between edges.
fn between(rising: &[f64], edges: &[f64], [low, high]: [f64; 2], fraction: f64) -> f64 {
    let (first, last) = (rising[0], rising[rising.len() - 1]);
    let target = first + fraction * (last - first);
    let place = rising.partition_point(|sum| *sum < target).clamp(1, rising.len() - 1);
    let (from, to) = (rising[place - 1], rising[place]);
    let part = if to > from { ((target - from) / (to - from)).clamp(0.0, 1.0) } else { 0.5 };
    let edge = |place: usize| match place {
        0 => low,
        place => edges.get(place - 1).copied().unwrap_or(high),
    };
    edge(place - 1) * (1.0 - part) + edge(place) * part
}

#[cfg(test)]
#[path = "cell_quantiles_tests.rs"]
mod tests;
