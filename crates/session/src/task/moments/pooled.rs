//! Several moments of one column from one draw: the sum, the mean, the variance and the standard deviation that questions of a batch ask
//! for share one searched range, one set of noisy sums, and what these cost.
//!
//! # Guarantee
//!
//! What is drawn is what the mean alone would draw, or the variance where squares are needed, at the price of all questions together
//! ([`Moments::draw`]). Each answer is computed from that and from public numbers, so that all of them cost what the draw does.
//!
//! # Why nobody is worse off
//!
//! 1. A mean and a sum need the same two sides ([`sums`](crate::task::sums)), which have the price of both. Let a and b be the sides, and
//!    t and u the ends of the range: the sum is a·t + b·u, which noise of one law on both sides moves by no more than (|t| + |u|) times
//!    what it moves one side by, as often (Proschan 1965, as for the mean). A sum alone is moved by the larger of |t| and |u| at half the
//!    price.
//! 2. Beside a variance the sum of rows has half of the price of at least two questions, which is that of one.
//! 3. Each bar may fail as often as it was said, whatever the others are.

use super::{Fineness, Moment, Moments, RangeBy};
use crate::{
    answer::{Answer, Named},
    error::PlanError,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{Ask, RowFacts},
    statistic::Statistic,
    task::{Answering, Expected, stages::SharedRange},
};
use equipoise_core::{coins::Coins, loss::Loss};

/// Several moments of one column.
#[derive(Clone, Debug)]
pub(crate) struct Pooled {
    /// What is drawn.
    lead: Moments,
    /// What is told of it, one for each question.
    told: Vec<Moments>,
}

impl Pooled {
    /// The statistics that can be told of one draw.
    pub const STATISTICS: [Statistic; 4] =
        [Statistic::Sum, Statistic::Mean, Statistic::Variance, Statistic::Std];

    /// The statistic whose draw tells all of these.
    pub fn lead_of(statistics: &[Statistic]) -> Statistic {
        let squares = |one: &Statistic| matches!(one, Statistic::Variance | Statistic::Std);
        if statistics.iter().any(squares) { Statistic::Variance } else { Statistic::Mean }
    }

    /// For these statistics; what is said is about the one whose draw tells all of them.
    pub fn plan(said: &ResolvedRequest, statistics: &[Statistic]) -> Result<Self, PlanError> {
        Self::with(said, statistics, super::FINEST)
    }

    /// The same on a coarser lattice; audits run it.
    pub fn with(
        said: &ResolvedRequest,
        statistics: &[Statistic],
        fineness: Fineness,
    ) -> Result<Self, PlanError> {
        let first = |one: &Statistic| matches!(one, Statistic::Sum | Statistic::Mean);
        let lead = Moments::with(said, fineness, statistics.iter().any(first))?;
        let told = statistics.iter().map(|&one| lead.as_told(said, one)).collect::<Result<_, _>>()?;
        Ok(Self { lead, told })
    }

    /// Is the range one that is searched, and the number of rows one that the sums tell?
    pub fn is_searched(&self) -> bool {
        matches!(self.lead.range, RangeBy::Searched(_)) && self.lead.has_two_sides()
    }

    /// The task of one of the questions alone: for what is told of it beforehand.
    pub fn only(&self, place: usize) -> &Moments {
        &self.told[place]
    }

    /// What the parts cost under the adjacency that was asked for, added up.
    #[cfg(test)]
    pub fn spent(&self, adjacency: equipoise_core::adjacency::Adjacency) -> Loss {
        self.lead.spent(adjacency)
    }
}

impl Moments {
    /// One moment of those that a draw tells: with the bar that it would have alone.
    fn as_told(&self, said: &ResolvedRequest, statistic: Statistic) -> Result<Self, PlanError> {
        let moment = match statistic {
            Statistic::Sum => Moment::Sum,
            Statistic::Mean => Moment::Mean,
            _ => Moment::Variance,
        };
        let mut told = Self { moment, statistic, ..self.clone() };
        if moment != Moment::Variance {
            match &mut told.range {
                RangeBy::Declared(_, sums) => **sums = sums.of_first_alone(said.failure())?,
                RangeBy::Searched(searched) => {
                    for stage in &mut searched.stages {
                        stage.sums = stage.sums.of_first_alone(said.failure())?;
                    }
                }
            }
        }
        Ok(told)
    }
}

impl Answering for Pooled {
    fn mechanism(&self) -> &'static str {
        self.lead.mechanism()
    }

    fn cost(&self) -> Loss {
        self.lead.cost()
    }

    fn needs(&self) -> Vec<Need> {
        self.lead.needs()
    }

    fn expected(&self) -> Expected {
        self.lead.expected()
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        self.answer_group(None, gathered, coins)
    }

    fn asks(&self, shared: Option<&SharedRange>) -> Vec<Ask> {
        self.lead.asks(shared)
    }

    fn shared_need(&self) -> Option<Need> {
        self.lead.shared_need()
    }

    fn shared<C: Coins>(&self, all: &dyn RowFacts, coins: &mut C) -> Option<SharedRange> {
        self.lead.shared(all, coins)
    }

    fn answer_group<C: Coins>(
        &self,
        shared: Option<&SharedRange>,
        group: &dyn RowFacts,
        coins: &mut C,
    ) -> Answer {
        let answers = self.answers_group(shared, group, coins);
        let named = |(told, answer): (&Moments, Answer)| Named {
            statistic: told.statistic.name(),
            column: None,
            mechanism: told.mechanism(),
            answer,
        };
        Answer::summary(self.told.iter().zip(answers).map(named).collect())
    }

    fn answers_group<C: Coins>(
        &self,
        shared: Option<&SharedRange>,
        group: &dyn RowFacts,
        coins: &mut C,
    ) -> Vec<Answer> {
        let drawn = self.lead.draw(shared, group, coins);
        self.told.iter().map(|told| told.told(&drawn)).collect()
    }

    fn answers(&self) -> usize {
        self.told.len()
    }

    fn noise_share(&self) -> Option<f64> {
        self.lead.noise_share()
    }

    fn rows_needed(&self) -> Option<u64> {
        self.lead.rows_needed()
    }

    fn rows_assured(&self) -> Option<u64> {
        self.lead.rows_assured()
    }

    fn rows_within(&self) -> u64 {
        self.lead.rows_within()
    }

    fn no_prediction(&self) -> String {
        self.lead.no_prediction()
    }
}

#[cfg(test)]
#[path = "pooled_tests.rs"]
mod tests;
