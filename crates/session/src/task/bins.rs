//! How many rows lie between public edges: bins of one length over a range, or multiples of a width, of which those that enough rows lie in
//! are found.
//!
//! # Guarantee
//!
//! One row lies in one bin or in none, so that counts of bins are counts of keys, and cost what those of a
//! [histogram](super::histogram) cost: epsilon where the edges are public, (epsilon, delta) where bins are found. What lies below and above
//! a range are two bins more, which cost nothing.

use super::{
    Answering, Expected,
    count::{counted, whole_noise, within},
    edges::{Edges, Multiples},
    histogram::Found,
    noise::LAWS,
};
use crate::{
    answer::{Answer, MOST_TOLD},
    bar::ErrorBar,
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{RowFacts, bins::OnEdge},
    source::{ColumnRead, ColumnType},
    statistic::Argument,
};
use equipoise_core::{
    coins::Coins,
    loss::{Eps, Loss},
    mechanism::laplace,
    ratio::Ratio,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Noisy counts of bins.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    by: [ColumnRead; 1],
    need: Need,
    cost: Loss,
    how: How,
    confidence: f64,
}

#[derive(Clone, Debug)]
enum How {
    Stated { edges: Edges, noise: Arc<laplace::Calibrated>, within: i64 },
    Found { steps: Multiples, found: Box<Found> },
}

impl Bins {
    /// Were bins asked for?
    pub fn are_said(said: &ResolvedRequest) -> bool {
        said.bins().is_some() || said.width().is_some()
    }

    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let (&[column], false) = (said.group_by(), said.limits_groups()) else {
            return Err(PlanError::about(
                Argument::Column,
                "bins are of one column, and a person's rows lie in any of them",
            )
            .hint("name one column, and leave `max_groups_per_unit` out"));
        };
        let kind = said.kind(column).unwrap_or(ColumnType::Float);
        if matches!(kind, ColumnType::Boolean | ColumnType::Text) {
            let problem = format!("bins of a {kind} have no meaning");
            return Err(PlanError::about(Argument::Bins, problem).hint("leave `bins` and `width` out"));
        }
        let need = said.numbers(column)?;
        let single = said.in_single_steps()?;
        let moved = Ratio::from(said.groups_per_unit());
        let eps = Eps::new(single.eps().ratio() / &moved)?;
        let edges = match (said.bins(), said.width(), said.range()) {
            (Some(_), Some(_), _) => {
                return Err(PlanError::about(Argument::Bins, "bins have a number or a width, not both")
                    .hint("leave `bins` or `width` out"));
            }
            (Some(bins), None, Some(range)) => Some(Edges::bins(kind, range, bins)?),
            (Some(_), None, None) => {
                return Err(PlanError::about(Argument::Range, "bins between which ends?")
                    .hint("give `range`, such as `range=0,100`, or `width` in place of `bins`"));
            }
            (None, Some(width), Some(range)) => Some(Edges::multiples(kind, range, width)?),
            (None, _, _) => None,
        };
        let (how, cost) = if let Some(edges) = edges {
            let noise = whole_noise(&eps)?;
            let within = within(&noise, said.failure())?;
            (How::Stated { edges, noise, within }, Loss::pure(said.eps()))
        } else {
            if said.delta().is_zero() {
                return Err(PlanError::about(Argument::Delta, "finding bins needs a delta above 0")
                    .hint("give `delta=1e-6`, or state the ends with `range`"));
            }
            let steps = Multiples::of(kind, said.width().unwrap_or_default())?;
            let found = Found::plan(said, &eps, &(single.delta().ratio() / &moved))?;
            (How::Found { steps, found: Box::new(found) }, Loss::approx(said.eps(), said.delta()))
        };
        Ok(Self { by: [said.key(column)], need, cost, how, confidence: said.confidence() })
    }

    fn within(&self) -> i64 {
        match &self.how {
            How::Stated { within, .. } => *within,
            How::Found { found, .. } => found.within(),
        }
    }

    /// How many rows lie in each bin that has any, or was stated, by its name and in its order: what a simulation holds answers against.
    pub fn truths(&self, gathered: &dyn RowFacts) -> BTreeMap<String, Value> {
        match &self.how {
            How::Stated { edges, .. } => {
                let counts = edges.counts(gathered, &self.need, OnEdge::Behind).into_iter().map(Value::from);
                edges.labels().into_iter().zip(counts).collect()
            }
            How::Found { steps, .. } => {
                let counts = steps.counts(gathered, &self.need).into_iter();
                counts.map(|(place, count)| (steps.label(place), json!(count))).collect()
            }
        }
    }
}

impl Answering for Bins {
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
        let within = self.within();
        let bins = match &self.how {
            How::Stated { edges, .. } => {
                format!("{} bins, and what lies below and above, have one each", edges.len() - 1)
            }
            How::Found { found, .. } => found.told_from_words().replace("key", "bin"),
        };
        let words =
            format!("each count is off by at most {within}; {bins}; rows without a number lie in none");
        let error = ErrorBar::noise(self.confidence, -(within as f64), within as f64);
        Expected { error: Some(error), words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        match &self.how {
            How::Stated { edges, noise, within } => {
                let bins = edges.labels().into_iter().zip(edges.counts(gathered, &self.need, OnEdge::Behind));
                let group = |(label, count): (String, u64)| {
                    let noisy = noise.run_whole(whole(count), coins);
                    counted(self.confidence, noisy, *within).into_group(&vec![Some(label)])
                };
                Answer::grouped(bins.map(group).collect(), String::new)
            }
            How::Found { steps, found } => {
                let mut told = Vec::new();
                for (place, count) in steps.counts(gathered, &self.need) {
                    if let Some(noisy) = found.told(whole(count), coins)
                        && told.len() <= MOST_TOLD
                    {
                        let answer = found.released(self.confidence, noisy);
                        told.push(answer.into_group(&vec![Some(steps.label(place))]));
                    }
                }
                if told.len() > MOST_TOLD {
                    return Answer::too_many_groups();
                }
                let advice = || {
                    let from = found.told_from_words().replace("key", "bin");
                    format!("no bin was released: {from}; raise epsilon or delta, or give a larger `width`")
                };
                Answer::grouped(told, advice)
            }
        }
    }

    fn group_by(&self) -> &[ColumnRead] {
        &self.by
    }

    fn answers(&self) -> usize {
        match &self.how {
            How::Stated { edges, .. } => edges.len() + 1,
            How::Found { .. } => 1,
        }
    }

    fn keys_from(&self) -> Option<u64> {
        match &self.how {
            How::Stated { .. } => None,
            How::Found { found, .. } => Some(found.told_from()),
        }
    }

    fn predicted(&self) -> Option<f64> {
        Some(self.within() as f64)
    }
}
