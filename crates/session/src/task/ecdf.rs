//! The empirical distribution function at stated points: which share of the rows is not above each of them.
//!
//! # Guarantee
//!
//! The points cut the line into cells, a row lies in one of them or in none, and each cell is counted with noise for all of epsilon, under
//! replace for two steps within it. What is released is made of these counts.
//!
//! # Why the bars are as they say, all at once
//!
//! 1. Let a rows lie up to a point and b behind it, u = a/(a + b), and let x and y be the noise of the cells on either side, added up. Then
//!    (1 - u)(a + x) - u(b + y) = (1 - u)x - uy: the noisy share is off by at most the larger of |x| and |y|, over the noisy number of rows.
//! 2. A sum of m noises goes beyond t with probability at most 2·min over s of M(s)^m·e^(-st), where M(s) = (cosh e - 1)/(cosh e - cosh s)
//!    is the mean of e^(s·noise) for noise with the ratio e^-e; and at most m times as often as one of them goes beyond t/m.
//! 3. For k points there are 2k such sums, and each fails with a 2k-th of what all may fail with.
//! 4. Shares grow from point to point, so that where all bars hold, the lower end of an earlier one and the upper end of a later one hold too.

use super::holding::DOUBT;
use super::{
    Answering, Expected,
    count::{whole_noise, within},
    edges::Edges,
    noise::LAWS,
};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar},
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{RowFacts, bins::OnEdge},
    source::{ColumnRead, ColumnType},
    statistic::Argument,
};
use equipoise_core::{coins::Coins, loss::Loss, mechanism::laplace, ratio::Ratio};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Shares up to stated points.
#[derive(Clone, Debug)]
pub(crate) struct Ecdf {
    by: [ColumnRead; 1],
    need: Need,
    points: Edges,
    noise: Arc<laplace::Calibrated>,
    /// How far the noise of both sides of each point goes, in rows.
    within: Vec<f64>,
    cost: Loss,
    confidence: f64,
    /// For which points all bars hold at once, in words.
    together: &'static str,
}

impl Ecdf {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let (&[column], false) = (said.group_by(), said.limits_groups()) else {
            return Err(PlanError::about(Argument::Column, "ecdf of which column?")
                .hint("name one, and leave `max_groups_per_unit` out"));
        };
        let kind = said.kind(column).unwrap_or(ColumnType::Float);
        let Some(at) = said.at() else {
            return Err(
                PlanError::about(Argument::At, "at which points?").hint("give `at`, such as `at=0,10,60`")
            );
        };
        let points = Edges::points(kind, at)?;
        let single = said.in_single_steps()?;
        let noise = whole_noise(single.eps())?;
        let cells = points.len() + 1;
        // Both sides of each point.
        let failure = said.failure() / &Ratio::from(2 * points.len() as u64);
        let reach = (1..cells).map(|cells| reach(&noise, single.eps().ratio(), cells as u64, &failure));
        let reach: Vec<f64> = reach.collect::<Result<_, PlanError>>()?;
        // Before the point that so many points lie before, there is one cell more.
        let within = (0..points.len()).map(|before| reach[before].max(reach[cells - before - 2])).collect();
        Ok(Self {
            by: [said.key(column)],
            need: said.numbers(column)?,
            points,
            noise,
            within,
            cost: Loss::pure(said.eps()),
            confidence: said.confidence(),
            together: said.together(),
        })
    }

    fn labels(&self) -> impl Iterator<Item = String> {
        (0..self.points.len()).map(|place| format!("up to {}", self.points.text(place)))
    }

    /// The true shares: what a simulation holds answers against.
    pub fn truths(&self, gathered: &dyn RowFacts) -> BTreeMap<String, Value> {
        let counts = self.points.counts(gathered, &self.need, OnEdge::Before);
        let all: u64 = counts.iter().sum();
        let share = |place: usize| counts[..=place].iter().sum::<u64>() as f64 / all as f64;
        self.labels().enumerate().map(|(place, label)| (label, json!(share(place)))).collect()
    }

    /// Each share with its ends, from noisy counts.
    fn shares(&self, counts: &[i64]) -> Vec<[f64; 3]> {
        let all: i64 = counts.iter().sum();
        let noisy = |place: usize| counts[..=place].iter().sum::<i64>() as f64 / all as f64;
        let mut shares: Vec<[f64; 3]> = (0..self.points.len())
            .map(|place| {
                // Division and the sums before it round by far less than a part in 2^40.
                let off = self.within[place] / all as f64 * (1.0 + 1e-12) + 1e-12;
                [(noisy(place) - off).clamp(0.0, 1.0), noisy(place), (noisy(place) + off).clamp(0.0, 1.0)]
            })
            .collect();
        for place in 1..shares.len() {
            shares[place][0] = shares[place][0].max(shares[place - 1][0]);
        }
        for place in (1..shares.len()).rev() {
            shares[place - 1][2] = shares[place - 1][2].min(shares[place][2]);
        }
        let mut before = 0.0f64;
        for [low, share, high] in &mut shares {
            // Ends cross where some bar fails; the number then lies at one of them.
            *share = share.max(*low).min(*high).max(before);
            before = *share;
        }
        shares
    }
}

/// How far the sum of so many noises goes but for this chance, rounded up.
pub(super) fn reach(
    noise: &laplace::Calibrated,
    eps: &Ratio,
    noises: u64,
    failure: &Ratio,
) -> Result<f64, PlanError> {
    let each = within(noise, &(failure / &Ratio::from(noises)))? as f64 * noises as f64;
    let (eps, many) = (eps.to_f64(), noises as f64);
    let bound = |part: f64| {
        let slope = eps * part;
        // cosh e - cosh s = 2 sinh((e + s)/2) sinh((e - s)/2), and the same with s = 0, without cancellation.
        let half = |sum: f64| (sum / 2.0).sinh();
        let mean = half(eps).powi(2) / (half(eps + slope) * half(eps - slope));
        ((2.0 / failure.to_f64()).ln() + many * mean.ln()) / slope
    };
    let parts = (1..200).map(|part| bound(f64::from(part) / 200.0)).filter(|bound| bound.is_finite());
    // Any slope gives a bound, so that a coarse search is none the worse; floats err in the last digits.
    Ok(parts.fold(each, f64::min) * (1.0 + 1e-9) + 1.0)
}

impl Answering for Ecdf {
    fn mechanism(&self) -> &'static str {
        LAWS[0]
    }

    fn cost(&self) -> Loss {
        self.cost.clone()
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need.clone()]
    }

    fn expected(&self) -> Expected {
        let most = self.within.iter().copied().fold(0.0, f64::max);
        let enough = (100.0 * most).ceil();
        let words = format!(
            "each share is off by at most {most:.1} over a noisy number of rows, all points at once, so that about {enough:.0} rows are enough \
             for ±1 %; rows without a number take no part; refused when \
             the noisy number of rows is below 1"
        );
        Expected { error: None, words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let counts = self.points.counts(gathered, &self.need, OnEdge::Before);
        let noisy: Vec<i64> = counts
            .into_iter()
            .map(|count| self.noise.run_whole(i64::try_from(count).unwrap_or(i64::MAX), coins))
            .collect();
        let all = noisy.iter().fold(0, |sum: i64, count| sum.saturating_add(*count));
        if all < 1 {
            return Answer::refused(format!(
                "too few rows: a noisy count of them found none: {DOUBT}; raise epsilon, or bring more rows"
            ));
        }
        let group = |(label, [low, share, high]): (String, [f64; 3])| {
            let bar = ErrorBar::noise(self.confidence, low.min(share), high.max(share))
                .on(Condition::Given(self.together.to_string()));
            Answer::number(share, bar).into_group(&vec![Some(label)])
        };
        let groups = self.labels().zip(self.shares(&noisy)).map(group).collect();
        Answer::grouped(groups, String::new).with_rows(Some(all))
    }

    fn answer_type(&self) -> Option<String> {
        Some("share".to_string())
    }

    fn group_by(&self) -> &[ColumnRead] {
        &self.by
    }

    fn answers(&self) -> usize {
        self.points.len()
    }

    fn no_prediction(&self) -> String {
        "the error of an ecdf depends on the number of rows; give `epsilon`".to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::tests::FixedWords;

    /// The sum of noises is within what is said as often as is said, and the bound is not wasteful: of one in twenty it is off
    /// by less than twice.
    #[test]
    fn sums_of_noise_stay_within_reach() {
        const TRIALS: usize = 4000;
        let mut coins = FixedWords(5);
        for (eps, noises) in [("0.1", 1), ("0.1", 6), ("1", 20), ("3", 4)] {
            let eps: equipoise_core::loss::Eps = eps.parse().unwrap();
            let noise = whole_noise(&eps).unwrap();
            let far = reach(&noise, eps.ratio(), noises, &Ratio::new(1, 20)).unwrap();
            let mut sums: Vec<i64> = (0..TRIALS)
                .map(|_| (0..noises).map(|_| noise.run_whole(0, &mut coins)).sum::<i64>().abs())
                .collect();
            sums.sort_unstable();
            let typical = sums[TRIALS * 19 / 20] as f64;
            assert!(
                typical <= far && far <= 2.0 * typical + 2.0,
                "{} {noises}: {typical} of {far}",
                eps.ratio()
            );
        }
    }
}
