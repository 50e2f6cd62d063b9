//! How many records there are, or how many have a field that is not empty: exact noise on whole numbers.

use super::{
    Answering, Expected,
    bar::Bar,
    noise::{self, Noise},
};
use crate::{
    answer::Answer,
    bar::ErrorBar,
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{Nulls, RowFacts},
    source::ColumnRead,
    statistic::Argument,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss},
    mechanism::laplace,
    ratio::Ratio,
};
use serde_json::json;
use std::sync::Arc;

/// A noisy count.
#[derive(Clone, Debug)]
pub(crate) struct Count {
    column: Option<ColumnRead>,
    noise: Noise,
    confidence: f64,
    /// Noise stays within this, with that confidence.
    within: i64,
}

impl Count {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let column = said.optional_column()?.map(|column| said.key(column));
        if column.is_none() && said.adjacency() == Adjacency::Replace && said.takes_all_rows() {
            return Err(PlanError::about(Argument::Adjacency, "under replace the number of rows is public:")
                .hint("count it with any tool, or name a column to count its fields that are not empty"));
        }
        let noise = Noise::plan(said, said.eps(), said.delta(), 1)?;
        let within = noise.within(said.failure())?;
        Ok(Self { column, noise, confidence: said.confidence(), within })
    }

    pub fn need(&self) -> Need {
        self.column.map_or(Need::Records, Need::Present)
    }

    pub fn within(&self) -> f64 {
        self.within as f64
    }
}

impl Answering for Count {
    fn mechanism(&self) -> &'static str {
        self.noise.law()
    }

    fn cost(&self) -> Loss {
        self.noise.cost()
    }

    fn expected(&self) -> Expected {
        let error = ErrorBar::noise(self.confidence, -(self.within as f64), self.within as f64);
        let words = format!("the count is off by at most {}; it is never refused", self.within);
        Expected { error: Some(error), words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let need = self.column.map_or(Need::Records, Need::Present);
        let count = gathered.count(&need, Nulls::LeftOut);
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let noisy = self.noise.run(count, coins);
        counted(self.confidence, noisy, self.within)
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need()]
    }

    fn predicted(&self) -> Option<f64> {
        Some(self.within())
    }
}

/// A count that is off by at most so much, as it is released: neither it nor its bar is below zero, and the bar is never a point.
pub(super) fn counted(confidence: f64, noisy: i64, within: i64) -> Answer {
    let bar = Bar::around(noisy, within).at_least_zero();
    Answer::released(json!(noisy.max(0)), ErrorBar::noise(confidence, bar.low, bar.high))
}

/// Noise for a count that one unit moves by one.
pub(super) fn whole_noise(eps: &Eps) -> Result<Arc<laplace::Calibrated>, PlanError> {
    noise::laplace(eps, 1)
}

/// How far noise goes, rounded up to a whole number.
pub(super) fn within(noise: &laplace::Calibrated, failure: &Ratio) -> Result<i64, PlanError> {
    noise::within(noise, failure)
}
