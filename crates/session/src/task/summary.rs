//! Several statistics of one column for one price: count, mean, standard deviation and five quantiles.
//!
//! Half of epsilon buys noisy sums, which carry count, mean and standard deviation together; half buys the quantiles. By group
//! the same for each group, with what the keys left ([`groups`](super::groups)).

use super::{Answering, Expected, moments::Moments, quantiles::Quantiles, stages::SharedRange};
use crate::{
    answer::{Answer, Named},
    error::PlanError,
    gather::ScanResult,
    need::Need,
    resolved::ResolvedRequest,
};
#[cfg(test)]
use equipoise_core::adjacency::Adjacency;
use equipoise_core::{
    coins::Coins,
    loss::{Delta, Eps, Loss},
    ratio::Ratio,
};

/// Count, mean, standard deviation, and the quantiles together.
pub(super) const ANSWERS: usize = 4;

/// The quantiles of a summary, in hundredths. The extremes themselves hang on single rows.
pub(crate) const SUMMARY: [i64; 5] = [5, 25, 50, 75, 95];

/// What describes a column.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    moments: Moments,
    quantiles: Quantiles,
    eps: Eps,
}

impl Summary {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        Self::of(said, &SUMMARY)
    }

    /// The same with other quantiles; few can be enumerated.
    pub fn of(said: &ResolvedRequest, hundredths: &[i64]) -> Result<Self, PlanError> {
        let half = said.part(Eps::new(said.eps().ratio() / &Ratio::from(2u64))?, Delta::zero());
        let (moments, quantiles) = (Moments::plan(&half)?, Quantiles::summary(&half, hundredths)?);
        Ok(Self { moments, quantiles, eps: said.eps().clone() })
    }

    /// What the parts cost, added up.
    #[cfg(test)]
    pub fn spent(&self, adjacency: Adjacency) -> Loss {
        self.moments.spent(adjacency).compose(&self.quantiles.cost())
    }
}

impl Answering for Summary {
    fn cost(&self) -> Loss {
        Loss::pure(&self.eps)
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.moments.need(), self.quantiles.need()]
    }

    fn expected(&self) -> Expected {
        let quantiles = self.quantiles.expected();
        let words = format!(
            "count, mean and standard deviation: {}; the quantiles 0.05, 0.25, 0.5, 0.75 and 0.95: {}",
            self.moments.expected().words,
            quantiles.words
        );
        Expected { words, ..quantiles }
    }

    fn answer<C: Coins>(&self, gathered: &ScanResult<'_>, coins: &mut C) -> Answer {
        self.answer_group(None, gathered, coins)
    }

    fn shared_need(&self) -> Option<Need> {
        self.moments.shared_need()
    }

    fn shared<C: Coins>(&self, all: &ScanResult<'_>, coins: &mut C) -> Option<SharedRange> {
        self.moments.shared(all, coins)
    }

    fn answer_group<C: Coins>(
        &self,
        shared: Option<&SharedRange>,
        gathered: &ScanResult<'_>,
        coins: &mut C,
    ) -> Answer {
        let sums = self.moments.summary(shared, gathered, coins);
        let sums = sums.map(|(statistic, answer)| Named { statistic, mechanism: "laplace", answer });
        let quantiles = Named {
            statistic: "quantiles",
            mechanism: self.quantiles.mechanism(),
            answer: self.quantiles.answer(gathered, coins),
        };
        Answer::summary(sums.into_iter().chain([quantiles]).collect())
    }

    fn mechanism(&self) -> &'static str {
        "laplace, inverse-sensitivity"
    }

    fn answers(&self) -> usize {
        ANSWERS
    }

    fn rows_needed(&self) -> Option<u64> {
        self.moments.rows_needed().max(self.quantiles.rows_needed())
    }

    fn no_prediction(&self) -> String {
        "a summary has several errors; give `epsilon`".to_string()
    }
}
