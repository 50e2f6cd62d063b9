//! The interquartile range itself, drawn without bounds among decimals: `iqr --mechanism spread`.
//!
//! One width costs half of what two quartiles do, and there are fewer widths than values: less than half of the ranks. Where a step, a type with
//! steps, an interval or a population was asked for, quartiles are drawn instead ([`quantiles`](super::quantiles)).

use super::{
    Answering, Expected,
    even::EvenRows,
    guard::{self, MinimumRows},
};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar},
    error::PlanError,
    lattice::AnswerLattice,
    need::Need,
    planned::PredictedError,
    resolved::ResolvedRequest,
    row_facts::{RowFacts, places::Places},
    statistic::Argument,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::Loss,
    mechanism::spread::{self, InverseSpread, Widths},
    ratio::Ratio,
    stability::{Spacing, digits::Digits},
};

/// Its name.
pub(super) const NAME: &str = "spread";
/// Widths are decimals of so many significant digits: of a million rows privacy moves the sixth.
const DIGITS: u32 = 6;

/// A width, and how many rows there seem to be.
#[derive(Clone, Debug)]
pub(crate) struct SpreadDrawn {
    need: Need,
    adjacency: Adjacency,
    space: AnswerLattice,
    mechanism: spread::Calibrated,
    guard: MinimumRows,
    rank_error: u64,
    needed: u64,
    confidence: f64,
    likely: Option<PredictedError>,
    /// What becomes of rows beyond a declared range, as a clause.
    limited: Option<String>,
}

impl SpreadDrawn {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let column = said.column()?;
        let need = said.numbers(column)?;
        let space = said.exact_lattice(column)?;
        if said.has_step() || space.kind().is_some() {
            return Err(PlanError::about(Argument::Resolution, "spread is for numbers without a step")
                .hint("leave out `resolution`, or use inverse-sensitivity"));
        }
        if said.interval() || said.population() {
            return Err(PlanError::about(Argument::Interval, "an interval is bought by inverse-sensitivity")
                .hint("leave out `interval`, `population` or `mechanism`"));
        }
        let adjacency = said.adjacency();
        let quarter = Ratio::new(1, 4);
        let widths = Widths::Decimals(Digits::new(DIGITS)?);
        let of = |eps| InverseSpread { eps, widths: widths.clone(), adjacency };
        let (guard, eps) = MinimumRows::plan(said, |eps| {
            let ranks = of(eps.clone()).ranks_for(said.failure()).ok()?;
            Some(guard::needed(ranks, &quarter))
        })?;
        // As many widths have each length, and two rows that change move the range by as much as two of its rows lie apart.
        let unlikely = -2.0 * said.failure().to_f64().ln() / eps.ratio().to_f64();
        let likely = EvenRows::new(said, &space)?.map(|even| even.likely(unlikely.ceil() / 2.0 * even.gap()));
        let mechanism = of(eps).calibrate()?;
        let rank_error = mechanism.accuracy(said.failure())?;
        let needed = guard::needed(rank_error, &quarter);
        guard.check_declared(rank_error, needed, "")?;
        let limited = said.range().map(|range| {
            format!("; rows beyond {} count as the nearest end", range.replacen(',', " to ", 1))
        });
        let confidence = said.confidence();
        Ok(Self { need, adjacency, space, mechanism, guard, rank_error, needed, confidence, likely, limited })
    }

    fn bar(&self) -> ErrorBar {
        let ranks = ErrorBar::ranks(self.confidence, &[self.rank_error; 2]);
        let limited = self.limited.as_deref().unwrap_or_default();
        let given = format!("the answer is rounded to {DIGITS} significant digits{limited}");
        self.guard.conditioned(ranks).on(Some(Condition::Given(given)))
    }
}

impl Answering for SpreadDrawn {
    fn mechanism(&self) -> &'static str {
        NAME
    }

    fn cost(&self) -> Loss {
        let drawn = self.mechanism.cost();
        self.guard.cost().map_or(drawn.clone(), |guard| drawn.compose(&guard))
    }

    fn losses(&self) -> Vec<Loss> {
        let drawn = Loss::zcdp(&self.mechanism.bounded_range_rho());
        self.guard.cost().into_iter().chain([drawn]).collect()
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need.clone()]
    }

    fn expected(&self) -> Expected {
        let limited = if self.limited.is_some() { "; rows beyond the range are moved into it" } else { "" };
        let empty = match self.adjacency {
            Adjacency::AddRemove => "",
            Adjacency::Replace => "; empty fields count as the lowest value",
        };
        let words = format!(
            "each quartile within {} ranks{}, the range between them rounded to {DIGITS} significant digits; {}{limited}{empty}",
            self.rank_error,
            self.guard.condition_words(),
            self.guard.words(self.needed)
        );
        Expected { error: Some(self.bar()), words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let counted = self.guard.count(gathered.count(&self.need, guard::nulls(self.adjacency)), coins);
        let places = Places { space: self.space.clone(), adjacency: self.adjacency };
        let rows = gathered.in_order(&self.need, &places, Spacing::Floats);
        let width = self.mechanism.run(&*rows, coins);
        let answer = if counted.at_least(self.needed) {
            Answer::number(width, self.bar())
        } else {
            let without = guard::without_a_value(gathered, &self.need);
            let seen = self.guard.seen(&counted, without, coins);
            Answer::refused(self.guard.advice(
                &seen,
                self.rank_error,
                self.needed,
                ", or use `mechanism=scale`",
            ))
        };
        answer.with_rows(counted.noisy_rows).with_empty_lowest(self.adjacency)
    }

    fn likely(&self) -> Option<PredictedError> {
        self.likely
    }

    fn predicted(&self) -> Option<f64> {
        Some(self.rank_error as f64)
    }

    fn rows_needed(&self) -> Option<u64> {
        Some(self.needed)
    }

    fn rows_assured(&self) -> Option<u64> {
        Some(self.needed.saturating_add(self.rows_within()))
    }

    fn rows_within(&self) -> u64 {
        self.guard.within()
    }
}
