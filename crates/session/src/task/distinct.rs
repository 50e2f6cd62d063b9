//! How many different values a column has, or how many people there are.
//!
//! # Guarantee
//!
//! A row that comes adds one value at most, one that goes takes one, and one that is replaced does both, which together is one at most: the
//! noise of a count is enough under both adjacencies, and R rows of a person cost R times that.

use super::{Answering, Expected, bar::Bar, noise::Noise};
use crate::{
    answer::Answer,
    bar::ErrorBar,
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::RowFacts,
    source::{ColumnRead, ColumnType},
};
use equipoise_core::{coins::Coins, loss::Loss};
use serde_json::json;

/// A noisy number of values.
#[derive(Clone, Debug)]
pub(crate) struct Distinct {
    column: ColumnRead,
    noise: Noise,
    confidence: f64,
    /// Noise stays within this, with that confidence.
    within: i64,
    /// There are no more than this, by the column's type.
    most: Option<i64>,
}

impl Distinct {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let column = said.distinct_values()?;
        let noise = Noise::plan(said, said.eps(), said.delta(), 1)?;
        let within = noise.within(said.failure())?;
        let most = (column.kind == ColumnType::Boolean).then_some(2);
        Ok(Self { column, noise, confidence: said.confidence(), within, most })
    }
}

impl Answering for Distinct {
    fn mechanism(&self) -> &'static str {
        self.noise.law()
    }

    fn cost(&self) -> Loss {
        self.noise.cost()
    }

    fn needs(&self) -> Vec<Need> {
        vec![Need::Tally(self.column)]
    }

    fn expected(&self) -> Expected {
        let within = self.within as f64;
        let words = format!(
            "the number of values is off by at most {}; empty fields are none; never refused",
            self.within
        );
        Expected { error: Some(ErrorBar::noise(self.confidence, -within, within)), words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let mut values = 0i64;
        gathered
            .each_text(self.column, &mut |text, count| values += i64::from(count > 0 && !text.is_empty()));
        let noisy = self.noise.run(values, coins);
        let bar = Bar::around(noisy, self.within).at_least_zero();
        let bar = self.most.map_or(bar, |most| bar.between(0.0, most as f64));
        let shown = noisy.clamp(0, self.most.unwrap_or(i64::MAX));
        Answer::released(json!(shown), ErrorBar::noise(self.confidence, bar.low, bar.high))
    }

    fn predicted(&self) -> Option<f64> {
        Some(self.within as f64)
    }
}
