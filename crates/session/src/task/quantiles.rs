//! Medians, quantiles and the interquartile range without bounds, over a lattice of values.
//!
//! `inverse-sensitivity` answers from every data set that is large enough, under pure epsilon; `stable`
//! releases the exact quantile or refuses.

use super::{
    Answering, Expected,
    cell_quantiles::{CellQuantiles, Limits},
    ends::IntervalEnds,
    guard::{Counted, MinimumRows},
    population::Population,
    sensitivity_noise::SensitivityNoise,
    stages::SharedRange,
};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar, rounded_to},
    error::PlanError,
    lattice::AnswerLattice,
    need::Need,
    planned::PredictedError,
    resolved::ResolvedRequest,
    row_facts::{Ask, Nulls, RowFacts},
    statistic::Argument,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Loss, Rho},
    mechanism::{inverse_sensitivity, quantiles, stable},
    outcome::Outcome,
    ratio::Ratio,
    stability::{Answer as Found, Quantile, Spacing, Window},
};
use plan::{first_told, likely, plan_one, plan_several, plan_stable};
use serde_json::Value;
use shape::{Shape, fractions};

/// The name of the mechanism that releases the exact value or refuses.
pub(super) const STABLE: &str = "stable";

/// Quantiles of one column.
#[derive(Clone, Debug)]
pub(crate) struct Quantiles {
    need: Need,
    adjacency: Adjacency,
    space: AnswerLattice,
    kind: Kind,
    shape: Shape,
    confidence: f64,
    likely: Option<PredictedError>,
    population: Option<Population>,
    /// What becomes of rows beyond a declared range, as a clause.
    limited: Option<Condition>,
    /// Where a list was asked for: at which fractions, so that answers tell of each other.
    listed: Vec<f64>,
    /// What the quantiles of a list are called.
    names: Vec<String>,
}

#[derive(Clone, Debug)]
enum Kind {
    One {
        mechanism: inverse_sensitivity::Calibrated,
        guard: MinimumRows,
        rank_error: u64,
        /// There is an answer from so many rows on.
        needed: u64,
        ends: Option<IntervalEnds>,
    },
    Several {
        mechanism: ManyQuantiles,
        guard: MinimumRows,
        rank_errors: Vec<u64>,
        needed: Vec<u64>,
        ends: Option<IntervalEnds>,
        /// What is drawn in place of the mechanism where there are too few rows for some of them, and a range is at hand: it costs the same.
        cells: Option<Box<CellQuantiles>>,
    },
    Stable {
        mechanism: stable::Calibrated,
        quantile: Quantile,
        changes: Option<u64>,
    },
}

/// What was drawn, and how many rows there seem to be.
pub(crate) struct Drawn {
    pub answer: Answer,
    pub rows: u64,
}

/// How several quantiles are drawn; the better way is known beforehand.
#[derive(Clone, Debug)]
enum ManyQuantiles {
    /// By halves of the rows: better for many.
    Halves(Box<quantiles::Calibrated>),
    /// Each with its share of epsilon, and sorted: better for few.
    Each(Vec<inverse_sensitivity::Calibrated>),
}

impl ManyQuantiles {
    fn cost(&self) -> Loss {
        match self {
            Self::Halves(mechanism) => mechanism.cost(),
            Self::Each(mechanisms) => {
                let costs = mechanisms.iter().map(inverse_sensitivity::Calibrated::cost);
                costs.reduce(|sum, cost| sum.compose(&cost)).expect("several")
            }
        }
    }

    fn rho(&self) -> Vec<Rho> {
        match self {
            Self::Halves(mechanism) => vec![mechanism.bounded_range_rho()],
            Self::Each(mechanisms) => {
                mechanisms.iter().map(inverse_sensitivity::Calibrated::bounded_range_rho).collect()
            }
        }
    }

    /// Those that look at a window of ranks each.
    fn each(&self) -> &[inverse_sensitivity::Calibrated] {
        match self {
            Self::Halves(_) => &[],
            Self::Each(mechanisms) => mechanisms,
        }
    }
}

impl Quantiles {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let (fractions, shape) = fractions(said)?;
        let listed = match shape {
            // A population adds to the ranks, and an interval is bought for what this tells.
            Shape::List if !said.population() && !said.interval() => {
                fractions.iter().map(Ratio::to_f64).collect()
            }
            _ => Vec::new(),
        };
        let names = fractions.iter().filter(|_| shape == Shape::List).map(Ratio::to_string).collect();
        Ok(Self { listed, names, ..Self::of(said, &fractions, shape)? })
    }

    /// What a summary tells of the shape of a column.
    pub fn summary(said: &ResolvedRequest, hundredths: &[i64]) -> Result<Self, PlanError> {
        let fractions: Vec<Ratio> =
            hundredths.iter().map(|&hundredths| Ratio::new(hundredths, 100)).collect();
        // Bars of cells are in values of these rows, and their noise is no part of a concentrated price.
        let plain = !said.is_concentrated() && !said.interval() && !said.population();
        let column = said.column()?;
        let (need, space) = (said.numbers(column)?, said.lattice(column)?);
        let plain = plain && space.kind().is_none_or(|kind| !kind.is_time());
        Self::with_cells(said, need, space, &fractions, Shape::List, plain)
    }

    /// Are there answers with few rows, from cells of a range?
    pub fn has_cells(&self) -> bool {
        matches!(self.kind, Kind::Several { cells: Some(_), .. })
    }

    /// Several quantiles of a column, in order, from which others count.
    pub fn edges(
        said: &ResolvedRequest,
        need: Need,
        space: AnswerLattice,
        fractions: &[Ratio],
    ) -> Result<Self, PlanError> {
        let shape = if fractions.len() > 1 { Shape::List } else { Shape::Single };
        Self::over(said, need, space, fractions, shape)
    }

    /// From how many rows on each quantile is released, in their order.
    pub fn needed_each(&self) -> &[u64] {
        match &self.kind {
            Kind::One { needed, .. } => std::slice::from_ref(needed),
            Kind::Several { needed, .. } => needed,
            Kind::Stable { .. } => &[],
        }
    }

    /// How far off the number of rows is, except with this probability.
    pub fn margin(&self, failure: &Ratio) -> Result<u64, PlanError> {
        match &self.kind {
            Kind::One { guard, .. } | Kind::Several { guard, .. } => guard.margin(failure),
            Kind::Stable { .. } => Ok(0),
        }
    }

    fn of(said: &ResolvedRequest, fractions: &[Ratio], shape: Shape) -> Result<Self, PlanError> {
        let column = said.column()?;
        let need = said.numbers(column)?;
        let space = said.lattice(column)?;
        Self::over(said, need, space, fractions, shape)
    }

    /// The same over any lattice of answers.
    fn over(
        said: &ResolvedRequest,
        need: Need,
        space: AnswerLattice,
        fractions: &[Ratio],
        shape: Shape,
    ) -> Result<Self, PlanError> {
        Self::with_cells(said, need, space, fractions, shape, false)
    }

    /// The same, from cells of a range where rows are few, if so wanted.
    fn with_cells(
        said: &ResolvedRequest,
        need: Need,
        space: AnswerLattice,
        fractions: &[Ratio],
        shape: Shape,
        cells: bool,
    ) -> Result<Self, PlanError> {
        let several = fractions.len() > 1;
        let confidence = said.confidence();
        let parts = |of: u64| said.failure() / &Ratio::from(of);
        let quarter = parts(4);
        if said.population() && (said.interval() || said.mechanism() == Some(STABLE)) {
            return Err(PlanError::about(Argument::Population, "a population is for bars in ranks")
                .hint("leave out `interval` and `mechanism`"));
        }
        // Half of what may fail is for the rows and their number, where a population is meant.
        let said = &if said.population() { said.with_failure(parts(2)) } else { said.clone() };
        if said.interval() && said.mechanism() == Some(STABLE) {
            return Err(no_interval());
        }
        let kind = match said.mechanism() {
            Some(STABLE) => plan_stable(said, &fractions[0])?,
            _ if several => plan_several(said, &space, fractions, shape, cells)?,
            _ => plan_one(said, &space, &fractions[0])?,
        };
        let likely = likely(said, &space, &kind, shape)?;
        let population = match &kind {
            Kind::One { guard, .. } | Kind::Several { guard, .. } if said.population() => {
                Some(Population::new(&quarter, guard.margin(&quarter)?))
            }
            _ => None,
        };
        let adjacency = said.adjacency();
        let limited = said.range().map(|range| {
            let ends = range.replacen(',', " to ", 1);
            Condition::Given(format!("rows beyond {ends} count as the nearest end"))
        });
        let (listed, names) = (Vec::new(), Vec::new());
        Ok(Self {
            need,
            adjacency,
            space,
            kind,
            shape,
            confidence,
            likely,
            population,
            limited,
            listed,
            names,
        })
    }

    pub fn need(&self) -> Need {
        self.need.clone()
    }

    fn foreseen(&self) -> Expected {
        match &self.kind {
            Kind::One { guard, rank_error, needed, ends, .. } => {
                let interval = match ends {
                    Some(_) => "; half of epsilon buys an interval of values that holds the true one",
                    None => "",
                };
                Expected {
                    error: Some(self.of_rows(guard, ErrorBar::rank(self.confidence, *rank_error))),
                    words: format!(
                        "within {rank_error} ranks{}{}{interval}; {}",
                        self.rounding_words(),
                        guard.condition_words(),
                        guard.words(*needed)
                    ),
                }
            }
            Kind::Several { guard, rank_errors, needed, ends, cells, .. } => {
                let worst = largest(rank_errors);
                let within = if rank_errors.iter().all(|error| *error == worst) {
                    worst.to_string()
                } else {
                    rank_errors.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
                };
                let (each, interval, told) = match self.shape {
                    Shape::List if cells.is_some() => ("each", "", guard.or_cells_words(largest(needed))),
                    Shape::List => {
                        ("each", "intervals of values that hold all true ones", guard.list_words(needed))
                    }
                    _ => (
                        "each quartile",
                        "an interval of values that holds the true range",
                        guard.words(largest(needed)),
                    ),
                };
                let interval = match ends {
                    Some(_) => format!("; half of epsilon buys {interval}"),
                    None => String::new(),
                };
                Expected {
                    error: Some(self.of_rows(guard, ErrorBar::ranks(self.confidence, rank_errors))),
                    words: format!(
                        "{each} within {within} ranks{}{}{interval}; {told}",
                        self.rounding_words(),
                        guard.condition_words()
                    ),
                }
            }
            Kind::Stable { changes, .. } => Expected {
                error: Some(ErrorBar::exact().on(self.rounding()).on(self.limited.clone())),
                words: format!(
                    "the exact value{}, or a refusal: {}",
                    self.rounding_words(),
                    released_from(*changes)
                ),
            },
        }
    }

    /// What was done to rows before they were ranked, where they are rounded.
    fn rounding(&self) -> Option<Condition> {
        self.space.rounded().map(|digits| Condition::RoundedTo(digits.digits()))
    }

    fn rounding_words(&self) -> String {
        let words = |digits: u32| format!(" of rows {}", rounded_to(digits));
        self.space.rounded().map_or(String::new(), |digits| words(digits.digits()))
    }

    /// The same bar, with all that it takes for granted.
    fn covered(&self, guard: &MinimumRows, bar: ErrorBar) -> ErrorBar {
        let of = self.population.as_ref().map(|_| Condition::Population);
        self.of_rows(guard, bar).on(of)
    }

    /// The same about the rows alone.
    fn of_rows(&self, guard: &MinimumRows, bar: ErrorBar) -> ErrorBar {
        guard.conditioned(bar).on(self.rounding()).on(self.limited.clone())
    }

    /// How many ranks more the rows may be off from their population, where one is meant.
    fn sampled(&self, counted: &Counted) -> u64 {
        self.population.as_ref().map_or(0, |population| population.ranks(counted.known()))
    }

    /// The answer, and how many rows there seem to be.
    pub fn drawn<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Drawn {
        self.drawn_within(None, gathered, coins)
    }

    /// The same where rows may be limited to a range, if they are few.
    pub fn drawn_within<C: Coins>(
        &self,
        limits: Option<&Limits>,
        gathered: &dyn RowFacts,
        coins: &mut C,
    ) -> Drawn {
        let (answer, rows) = match &self.kind {
            Kind::One { mechanism, guard, rank_error, needed, ends } => {
                let counted = guard.count(self.counted(gathered), coins);
                let mut windows = self.windows(gathered).into_iter();
                let mut next = |one: &inverse_sensitivity::Calibrated| draw(one, &mut windows, coins);
                let place = next(mechanism);
                let interval = ends.as_ref().map(|ends| ends.draw(next));
                let answer = if counted.at_least(*needed) {
                    let off = rank_error.saturating_add(self.sampled(&counted));
                    let ranks = self.covered(guard, ErrorBar::rank(self.confidence, off));
                    let error = match useless(ends.as_ref(), &counted) {
                        None => self.with_interval(ranks, interval.as_deref()),
                        useless => ranks.on(useless),
                    };
                    Answer::released(self.value(&[place]), error)
                } else {
                    let seen = guard.seen(&counted, self.without_a_value(gathered), coins);
                    Answer::refused(guard.advice(&seen, *rank_error, *needed, self.shape.instead()))
                };
                (answer.with_rows(counted.noisy_rows), counted.known())
            }
            Kind::Several { mechanism, guard, rank_errors, needed, ends, cells } => {
                let counted = guard.count(self.counted(gathered), coins);
                // The noisy number of rows decides which of both is drawn, never both.
                if let (Some(cells), Some(limits), false) = (cells, limits, counted.at_least(largest(needed)))
                {
                    let kind = self.space.kind();
                    let answer = cells.answer((gathered, &self.need), counted.known(), limits, kind, coins);
                    let answer = answer.with_rows(counted.noisy_rows);
                    return Drawn { answer, rows: counted.known() };
                }
                let mut windows = self.windows(gathered).into_iter();
                let places = match mechanism {
                    // Which rows a cut looks at depends on the cuts before.
                    ManyQuantiles::Halves(halves) => {
                        let rows = gathered.in_order(&self.need, &self.places(), Spacing::Even);
                        halves.run(&*rows, coins)
                    }
                    ManyQuantiles::Each(mechanisms) => {
                        let next = |one| draw(one, &mut windows, coins);
                        let mut drawn: Vec<i64> = mechanisms.iter().map(next).collect();
                        drawn.sort_unstable();
                        drawn
                    }
                };
                let interval = ends.as_ref().map(|ends| ends.draw(|end| draw(end, &mut windows, coins)));
                let enough: Vec<bool> = needed.iter().map(|&needed| counted.at_least(needed)).collect();
                let told = match self.shape {
                    Shape::List => enough.contains(&true),
                    _ => !enough.contains(&false),
                };
                let answer = if told {
                    let more = self.sampled(&counted);
                    let off: Vec<u64> = rank_errors.iter().map(|error| error.saturating_add(more)).collect();
                    let ranks = self.covered(guard, ErrorBar::ranks(self.confidence, &off));
                    let error = match useless(ends.as_ref(), &counted) {
                        Some(useless) if self.shape == Shape::Difference => ranks.on(useless),
                        _ => self.with_interval(ranks, interval.as_deref()),
                    };
                    let narrow: Vec<bool> = match &ends {
                        Some(ends) => {
                            let narrow = ends.needed().iter().map(|&needed| counted.at_least(needed));
                            narrow.zip(&enough).map(|(narrow, &told)| narrow && told).collect()
                        }
                        None => enough.clone(),
                    };
                    let error = error.map_ends(|ends| left_out(ends, &narrow));
                    let value = left_out(self.value(&places), &enough);
                    let between =
                        between::others(&self.listed, &off[..self.listed.len()], counted.known(), &value);
                    Answer::released(value, error.on(between))
                } else {
                    let (error, rows) = first_told(rank_errors, needed, self.shape);
                    let seen = guard.seen(&counted, self.without_a_value(gathered), coins);
                    Answer::refused(guard.advice(&seen, error, rows, self.shape.instead()))
                };
                (answer.with_rows(counted.noisy_rows), counted.known())
            }
            Kind::Stable { mechanism, quantile, changes } => {
                let answer = match mechanism.quantile(*quantile, &self.windows(gathered)[0], coins) {
                    Outcome::Value(Found::Value(place)) => {
                        let exact = ErrorBar::exact().on(self.rounding()).on(self.limited.clone());
                        Answer::released(self.value(&[place]), exact)
                    }
                    Outcome::Value(Found::Empty) => Answer::released(Value::Null, ErrorBar::exact()),
                    Outcome::Refused => Answer::refused(format!(
                        "too few rows share the value: {}; raise epsilon or delta, declare a coarser `resolution`, \
                         or use `mechanism=inverse-sensitivity`",
                        released_from(*changes)
                    )),
                };
                (answer, 0)
            }
        };
        Drawn { answer: answer.with_empty_lowest(self.adjacency), rows }
    }

    fn value(&self, places: &[i64]) -> Value {
        match self.shape {
            Shape::Single => self.space.value(places[0]),
            Shape::List => places.iter().map(|&place| self.space.value(place)).collect(),
            Shape::Difference => self.space.distance(places[0], places[places.len() - 1]),
        }
    }

    /// The bar in ranks with the interval between both ends of each quantile, where they were bought.
    fn with_interval(&self, ranks: ErrorBar, ends: Option<&[(i64, i64)]>) -> ErrorBar {
        let Some(ends) = ends else { return ranks };
        let value = |place: i64| self.space.value(place);
        let ((first_low, first_high), (last_low, last_high)) = (ends[0], ends[ends.len() - 1]);
        let (low, high) = match self.shape {
            Shape::Single => (value(first_low), value(first_high)),
            Shape::List => {
                (ends.iter().map(|end| value(end.0)).collect(), ends.iter().map(|end| value(end.1)).collect())
            }
            // At its shortest from the upper end of the first quartile to the lower end of the last.
            Shape::Difference => {
                (self.space.distance(first_high, last_low), self.space.distance(first_low, last_high))
            }
        };
        ranks.with_interval(low, high)
    }
}

impl Answering for Quantiles {
    fn mechanism(&self) -> &'static str {
        match self.kind {
            Kind::One { .. } | Kind::Several { .. } => "inverse-sensitivity",
            Kind::Stable { .. } => STABLE,
        }
    }

    fn cost(&self) -> Loss {
        let with_more = |answer: Loss, guard: &MinimumRows, ends: &Option<IntervalEnds>| {
            let more = guard.cost().into_iter().chain(ends.as_ref().map(IntervalEnds::cost));
            more.fold(answer, |sum, cost| sum.compose(&cost))
        };
        match &self.kind {
            Kind::One { mechanism, guard, ends, .. } => with_more(mechanism.cost(), guard, ends),
            Kind::Several { mechanism, guard, ends, .. } => with_more(mechanism.cost(), guard, ends),
            Kind::Stable { mechanism, .. } => mechanism.cost(),
        }
    }

    fn losses(&self) -> Vec<Loss> {
        let (drawn, guard, ends) = match &self.kind {
            Kind::One { mechanism, guard, ends, .. } => (vec![mechanism.bounded_range_rho()], guard, ends),
            Kind::Several { mechanism, guard, ends, .. } => (mechanism.rho(), guard, ends),
            Kind::Stable { mechanism, .. } => return vec![mechanism.cost()],
        };
        let ends = ends.iter().flat_map(IntervalEnds::rho);
        guard.cost().into_iter().chain(drawn.into_iter().chain(ends).map(|rho| Loss::zcdp(&rho))).collect()
    }

    fn answer_type(&self) -> Option<String> {
        let kind = self.space.kind()?;
        let measure = if self.shape == Shape::Difference { kind.measure() } else { None };
        Some(measure.map_or_else(|| kind.to_string(), str::to_string))
    }

    fn likely(&self) -> Option<PredictedError> {
        self.likely
    }

    fn predicted(&self) -> Option<f64> {
        match &self.kind {
            Kind::One { rank_error, .. } => Some(*rank_error as f64),
            Kind::Several { rank_errors, .. } => Some(largest(rank_errors) as f64),
            Kind::Stable { .. } => None,
        }
    }

    fn rows_needed(&self) -> Option<u64> {
        match &self.kind {
            Kind::One { needed, .. } => Some(*needed),
            Kind::Several { needed, .. } => Some(largest(needed)),
            Kind::Stable { .. } => None,
        }
    }

    fn rows_assured(&self) -> Option<u64> {
        Some(self.rows_needed()?.saturating_add(self.rows_within()))
    }

    fn rows_within(&self) -> u64 {
        match &self.kind {
            Kind::One { guard, .. } | Kind::Several { guard, .. } => guard.within(),
            Kind::Stable { .. } => 0,
        }
    }

    fn parts_needed(&self) -> Vec<(Option<String>, u64)> {
        self.names.iter().cloned().map(Some).zip(self.needed_each().iter().copied()).collect()
    }

    fn expected(&self) -> Expected {
        let Expected { error, words } = self.foreseen();
        let empty = match self.adjacency {
            Adjacency::AddRemove => "",
            Adjacency::Replace => "; empty fields count as the lowest value",
        };
        let limited = if self.limited.is_some() { "; rows beyond the range are moved into it" } else { "" };
        Expected { error, words: words + limited + empty }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        self.drawn(gathered, coins).answer
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need()]
    }

    fn asks(&self, _shared: Option<&SharedRange>) -> Vec<Ask> {
        let counts = [Nulls::LeftOut, Nulls::Counted].map(|nulls| Ask::Count(self.need(), nulls));
        counts.into_iter().chain([Ask::Windows(self.need(), self.places(), self.wanted())]).collect()
    }
}

/// A value from the window that is next.
fn draw<C: Coins>(
    mechanism: &inverse_sensitivity::Calibrated,
    windows: &mut impl Iterator<Item = Window>,
    coins: &mut C,
) -> i64 {
    mechanism.run(&windows.next().expect("a window for each draw"), coins)
}

/// What to say where an interval was bought and there are too few rows for one that is of use: it would reach to where numbers end.
fn useless(ends: Option<&IntervalEnds>, counted: &Counted) -> Option<Condition> {
    let needed = largest(ends?.needed());
    (!counted.at_least(needed)).then_some(Condition::NoInterval(needed))
}

/// A quantile with noise that follows the rows.
pub(super) fn plan_noised(said: &ResolvedRequest) -> Result<SensitivityNoise, PlanError> {
    if said.population() {
        return Err(PlanError::about(Argument::Population, "a population is for bars in ranks")
            .hint("leave out `population` or `mechanism`"));
    }
    let (fractions, _) = fractions(said)?;
    if said.interval() {
        return Err(no_interval());
    }
    SensitivityNoise::plan(said, said.mechanism().unwrap_or_default(), &fractions[0])
}

/// The other mechanisms tell the exact value, or a bar in values as it is.
pub(super) fn no_interval() -> PlanError {
    PlanError::about(Argument::Interval, "an interval is bought by inverse-sensitivity")
        .hint("leave out `interval` or `mechanism`")
}

/// A list tells those that there are rows enough for.
fn left_out(list: Value, enough: &[bool]) -> Value {
    let Value::Array(values) = list else { return list };
    values.into_iter().zip(enough).map(|(value, enough)| if *enough { value } else { Value::Null }).collect()
}

fn released_from(changes: Option<u64>) -> String {
    match changes {
        Some(changes) => format!(
            "a value is released in 19 cases of 20 when at least {changes} rows must change before it does"
        ),
        None => "no value is released in 19 cases of 20 at this delta".to_string(),
    }
}

fn largest(errors: &[u64]) -> u64 {
    errors.iter().copied().max().unwrap_or_default()
}

#[path = "quantiles_between.rs"]
mod between;
#[path = "quantiles_facts.rs"]
mod facts;
#[path = "quantiles_plan.rs"]
mod plan;
#[path = "quantiles_shape.rs"]
mod shape;

#[cfg(test)]
#[path = "quantiles_audits.rs"]
mod audits;
#[cfg(test)]
#[path = "quantiles_tests.rs"]
mod tests;
