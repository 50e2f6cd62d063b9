//! Sums, means, variances and standard deviations: exact sums of clipped rows with noise, over a range that was declared or paid for.
//!
//! Each row becomes one whole number of steps between public ends; how floats round on the way does not matter,
//! because one row gives one such number. Where a column has a whole type and a declared range, the steps are its own
//! units, and nothing is rounded. The noise of the sums is `laplace`, or `gaussian` where there is a delta, which
//! goes to the sums alone.
//!
//! Under replace a row that has a value takes the place of another, or of one that has none and counts nothing: the sum of
//! distances from the centre moves by the whole range, that of squares by the largest square, the number of values by one. A
//! median that a range is searched from is then bought at half of its share: a replaced row is one that goes and one that comes.
//!
//! How epsilon is split between a search and the sums follows from a noisy number of rows, which is bought first: the more rows,
//! the less it takes to find them. Every split costs the same.

mod measure;
mod pooled;

pub(crate) use pooled::Pooled;

use super::{
    Answering, Expected,
    bar::Bar,
    cell_quantiles::Limits,
    clip::{Clip, FINE, Lattice},
    count::counted,
    divisor::{Divisor, Known},
    exact::Exact,
    holding::{DOUBT, Holding},
    measured::Measured,
    noise::Noise,
    population::Population,
    stages::{self, Searched, SharedRange, failures, share},
    sums::{Moved, Sums, Which},
};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar, at_most},
    error::PlanError,
    lattice,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{Ask, RowFacts, steps::Frame},
    rows::cells,
    source::ColumnType,
    statistic::Argument,
    statistic::Statistic,
};
use equipoise_core::{adjacency::Adjacency, coins::Coins, loss::Loss, ratio::Ratio};

/// One row moves a sum by at most this many steps.
const STEPS: i64 = 1 << 30;
/// Hundredths of epsilon for the number of rows and for the sum, of a sum over a declared range: it needs the number for nothing
/// but how far rounding may add up.
const DECLARED_SUM: [u64; 2] = [1, 99];
/// What doubles lose on the way from a row to its steps, in parts of the farthest row or of the farthest end.
const FLOATING: f64 = 1.0 / (1u64 << 49) as f64;

/// From how many rows on an error over the number of rows is no more than this.
fn enough_rows(over_rows: f64, wanted: f64) -> String {
    let rows = (over_rows / wanted).ceil();
    if rows.is_finite() && wanted > 0.0 {
        format!(", so that about {rows:.0} rows are enough for ±{}", at_most(wanted))
    } else {
        String::new()
    }
}

/// What is said of rows that are neither among those counted as yes nor among those counted as no.
const UNKNOWN: &str = "rows of which it is unknown take no part";
/// What is said where the search bounds the rows outside by no fewer than there are.
const MANY_OUTSIDE: &str = "any number of the rows may lie outside, as far as noise tells";
/// What the answer is where it is a part of one, which people read in percent.
const SHARE: &str = "share";

/// Which moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Sum,
    Mean,
    Variance,
}

/// A sum, mean or variance of one column.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    need: Need,
    kind: ColumnType,
    moment: Moment,
    /// What was asked for: of a variance the root may be released, which costs nothing more, and of yes and no the mean is a share.
    statistic: Statistic,
    /// Steps from the centre to the farthest row, and to the farthest square.
    steps: i64,
    square_steps: i64,
    /// Where steps are units of the column, so that sums are exact.
    exact: Option<Exact>,
    /// What was said, where its parts are not added up as concentrated losses.
    cost: Option<Loss>,
    range: RangeBy,
    divisor: Divisor,
    confidence: f64,
    population: Option<Population>,
    /// How many rows there are, where that was stated.
    stated_rows: Option<u64>,
    /// What is said of rows without a value, where they can be counted for nothing.
    holding: Option<Holding>,
    /// Is each value that of a person, made of all rows of theirs?
    of_people: bool,
    /// How many steps of add/remove a median that a range is searched from is charged for.
    search_steps: u64,
}

/// How finely rows are looked at. Audits run the same on what is coarse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fineness {
    /// From the middle of a range to its end.
    pub steps: i64,
    /// What a search looks at.
    pub lattice: Lattice,
}

/// As shipped.
pub(super) const FINEST: Fineness = Fineness { steps: STEPS, lattice: FINE };

#[derive(Clone, Debug)]
enum RangeBy {
    Declared(Clip, Box<Sums>),
    Searched(Box<Searched>),
}

impl Moments {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        Self::with(said, FINEST, false)
    }

    /// The same with so many steps from the middle of the range to its end; few can be enumerated.
    #[cfg(test)]
    pub fn with_steps(said: &ResolvedRequest, steps: i64) -> Result<Self, PlanError> {
        Self::with(said, Fineness { steps, lattice: FINE }, false)
    }

    /// The same for several moments that follow from one draw, where it is not for this one alone.
    fn with(said: &ResolvedRequest, fineness: Fineness, for_several: bool) -> Result<Self, PlanError> {
        let Fineness { steps, lattice } = fineness;
        let confidence = said.confidence();
        // Half of what may fail is for the rows, where a population is meant.
        let half = said.failure() / &Ratio::from(2u64);
        let population = said.population().then(|| Population::new(&half, 0));
        let said = &if population.is_some() { said.with_failure(half) } else { said.clone() };
        let column = said.column()?;
        let need = said.numbers(column)?;
        let kind = need.wanted().map_or(ColumnType::Float, |wanted| wanted.kind);
        let moment = match said.statistic() {
            // A count of rows is the sum of people's counts.
            Statistic::Sum | Statistic::Count => Moment::Sum,
            Statistic::Mean | Statistic::Share => Moment::Mean,
            _ => Moment::Variance,
        };
        // A yes or no has public ends.
        let said_range =
            said.range().or((kind == ColumnType::Boolean).then_some("0,1")).or(said.public_ends());
        let exact = match said_range {
            Some(text) if kind.is_whole() => Exact::of_range(kind, text, moment == Moment::Sum, steps)?,
            _ => None,
        };
        let (steps, square_steps) = exact.map_or((steps, steps), |exact| {
            let far = exact.farthest();
            (far, far.checked_mul(far).filter(|&squared| squared <= steps).unwrap_or(steps))
        });
        let known = if said_range.is_some() { Known::plan(said)? } else { Known::No };
        let two_sides = known == Known::No && moment != Moment::Sum;
        let which = match moment {
            Moment::Variance if for_several => Which::Both,
            Moment::Variance => Which::Squares,
            Moment::Sum | Moment::Mean => Which::First,
        };
        let (range, divisor) = if let Some(text) = said_range {
            let clip = if let Some(exact) = exact {
                exact.clip(kind)
            } else {
                let (low, high) = lattice::float_ends(text)?;
                Clip { low, high, middle: low / 2.0 + high / 2.0 }
            };
            let span = exact.map_or_else(
                || Frame::new(moment == Moment::Sum, &clip).span(&clip, steps),
                |exact| exact.span(),
            );
            let moved = Moved { steps, square_steps, span };
            // Whole numbers of people are not rounded, and so nobody needs to know how many there are.
            let free = exact.is_some() && said.fold().is_some() && moment == Moment::Sum;
            let [rows_share, sums_share] = match (known, moment) {
                (Known::No, Moment::Sum) if !free => DECLARED_SUM,
                _ => [0, 100],
            };
            let (of_rows, of_sums) = failures(said, rows_share);
            let sums = Sums::plan(&of_sums, &share(said.eps(), sums_share)?, &moved, two_sides, which)?;
            let divisor = match known {
                Known::Public => Divisor::Public,
                Known::Stated(rows) => Divisor::Stated(rows),
                Known::No if free => Divisor::Stated(0),
                Known::No if two_sides => Divisor::TwoSides,
                Known::No => Divisor::bought(&share(said.eps(), rows_share)?, &of_rows)?,
            };
            (RangeBy::Declared(clip, Box::new(sums)), divisor)
        } else {
            let moved = Moved { steps, square_steps, span: 2 * steps };
            let searched = stages::search(said, &moved, moment == Moment::Sum, which, lattice)?;
            let divisor = if two_sides { Divisor::TwoSides } else { searched.count.clone() };
            (RangeBy::Searched(Box::new(searched)), divisor)
        };
        let first = match &range {
            RangeBy::Declared(_, sums) => &sums.first,
            RangeBy::Searched(searched) => &searched.stages[0].sums.first,
        };
        let cost = match first {
            _ if said.is_concentrated() => None,
            Noise::Laplace(_) => Some(Loss::pure(said.eps())),
            Noise::Gaussian(_) => Some(Loss::approx(said.eps(), said.delta())),
        };
        Self {
            need,
            kind,
            moment,
            statistic: said.statistic(),
            steps,
            square_steps,
            exact,
            range,
            divisor,
            confidence,
            population,
            cost,
            stated_rows: said.rows()?,
            holding: Holding::where_free(said),
            of_people: said.fold().is_some(),
            search_steps: if said.adjacency() == Adjacency::Replace { 2 } else { 1 },
        }
        .with_rows_enough()
    }

    /// The same where rows without a value are not counted, which is enumerated by itself ([`holding`](super::holding)).
    #[cfg(test)]
    pub fn without_pair(self) -> Self {
        Self { holding: None, ..self }
    }

    /// Too few stated rows need no data to be refused.
    fn with_rows_enough(self) -> Result<Self, PlanError> {
        match (&self.range, self.stated_rows) {
            (_, Some(0)) => Err(PlanError::about(Argument::Rows, "no rows have no mean")
                .hint("state `rows` as a whole number above 0")),
            (RangeBy::Searched(searched), Some(rows))
                if i64::try_from(rows)
                    .is_ok_and(|rows| rows < searched.enough(self.moment == Moment::Sum)) =>
            {
                let problem = format!(
                    "{rows} rows are too few: a range is found from about {} rows on",
                    searched.enough(self.moment == Moment::Sum)
                );
                Err(PlanError::about(Argument::Range, problem).hint("raise epsilon, or declare `range`"))
            }
            _ => Ok(self),
        }
    }

    pub fn need(&self) -> Need {
        self.need.clone()
    }

    fn sum_kind(&self) -> ColumnType {
        if self.kind == ColumnType::Boolean { ColumnType::Integer } else { self.kind }
    }

    /// The number of rows that the predicted error takes for granted.
    fn condition(&self) -> Option<u64> {
        self.stated_rows.filter(|_| self.moment != Moment::Sum && self.predicted().is_some())
    }

    fn is_root(&self) -> bool {
        self.statistic == Statistic::Std
    }

    fn is_share(&self) -> bool {
        self.statistic == Statistic::Share
    }

    /// A sum of rows in a declared range is never refused.
    fn is_declared_sum(&self) -> bool {
        self.moment == Moment::Sum && matches!(self.range, RangeBy::Declared(..))
    }

    /// Count, mean and standard deviation from one run of a variance; the noisy sums carry all three. With the range that they are over,
    /// where there are rows enough for one.
    pub fn summary<C: Coins>(
        &self,
        shared: Option<&SharedRange>,
        gathered: &dyn RowFacts,
        coins: &mut C,
    ) -> ([(&'static str, Answer); 3], Option<Limits>) {
        let (measured, rows) = self.read(&self.draw(shared, gathered, coins));
        let count = counted(self.confidence, rows.about, rows.within);
        let answer = |take: &dyn Fn(&Measured) -> Bar| match &measured {
            Ok(measured) => self.released(take(measured), measured),
            Err(refused) => refused.clone(),
        };
        let mean = answer(&|measured| measured.mean());
        let deviation = answer(&|measured| measured.variance().sqrt());
        let limits = measured.ok().map(|measured| Limits { clip: measured.clip, outside: measured.outside });
        ([("count", count), ("mean", mean), ("standard-deviation", deviation)], limits)
    }

    fn frame(&self, clip: &Clip) -> Frame {
        // Two sides are those of the middle, whatever is made of them.
        let frame = Frame::new(self.moment == Moment::Sum && !self.has_two_sides(), clip);
        match self.exact {
            // Doubles may hold neither the ends nor their distance.
            Some(exact) => Frame { farthest: exact.farthest_number(self.kind), ..frame },
            None => frame,
        }
    }

    /// A sentence about rows, of which each is a person where people's values are asked about.
    fn of_whom(&self, words: String) -> String {
        if !self.of_people {
            return words;
        }
        words.replace("rows beyond the range are", "values beyond the range are").replace("rows", "people")
    }

    /// What to do where there are too few rows: those that a search counted, of all groups where they share a range, and those that
    /// the sums tell of. A sum of a group tells none. Where the column may hold none at all, though there are rows, no epsilon helps.
    fn too_few(&self, shared: bool, counted: Option<i64>, told: i64, none: bool) -> Option<String> {
        let is_sum = self.moment == Moment::Sum;
        match &self.range {
            RangeBy::Declared(..) if is_sum => None,
            RangeBy::Declared(..) if none => Some("too few rows".to_string()),
            RangeBy::Declared(..) if told >= 1 => None,
            RangeBy::Declared(..) if !self.divisor.is_noisy() => Some("there are no rows".to_string()),
            RangeBy::Declared(..) => {
                // Where they are not counted, those without a value may be all.
                let unknown = self.holding.is_none() && !self.is_share();
                let doubt = if unknown { format!(": {DOUBT}") } else { String::new() };
                Some(format!(
                    "too few rows: a noisy count of them found none{doubt}; raise epsilon, or bring more rows"
                ))
            }
            RangeBy::Searched(searched)
                if counted.is_some_and(|rows| rows < searched.needed)
                    || (!is_sum && !shared && told < searched.told) =>
            {
                Some(format!(
                    "too few rows: a range is found from about {} rows on; raise epsilon, or declare `range`",
                    searched.enough(is_sum)
                ))
            }
            RangeBy::Searched(_) if is_sum => None,
            RangeBy::Searched(_) if shared && told < 1 => {
                Some("too few rows: a noisy count of them found none".to_string())
            }
            RangeBy::Searched(_) => None,
        }
    }

    /// A sum of a whole type is a value of that type: where sums are exact, all of its digits are.
    fn released_sum(&self, measured: &Measured) -> Answer {
        // Counts, and sums of what is never below zero, are not below it either.
        let from_zero = self.statistic == Statistic::Count || measured.clip.low >= 0.0;
        let bar = measured.sum();
        let bar = if from_zero { bar.between(0.0, f64::INFINITY) } else { bar };
        let kind = self.sum_kind();
        if !kind.is_whole() {
            return self.released(bar, measured);
        }
        let answer = self.released(bar, measured);
        let [low, value, high] = if self.exact.is_some() && !self.has_two_sides() {
            // As with other bars, the upper end stays as far above what was moved up.
            let least = if from_zero { 0 } else { i64::MIN };
            let noisy = measured.noisy.max(least);
            let at = |moved: i64| kind.value(noisy.saturating_add(moved).max(least));
            let within = self.largest().within;
            [at(-within), at(0), at(within)]
        } else {
            [kind.near(bar.low, f64::floor), kind.near(bar.value, f64::round), kind.near(bar.high, f64::ceil)]
        };
        match answer.error {
            Some(error) => {
                let mut exact = [low, high].into_iter();
                Answer::released(value, error.map_ends(|end| exact.next().unwrap_or(end)))
            }
            None => answer,
        }
    }

    fn released(&self, bar: Bar, measured: &Measured) -> Answer {
        let clip = &measured.clip;
        let bar = match (&self.population, &self.range) {
            (None, _) => bar,
            (Some(population), RangeBy::Declared(..)) => {
                population.mean(bar, measured.count.low, measured.ends)
            }
            (Some(population), RangeBy::Searched(_)) => {
                population.mean_of_found(bar, measured.count.low, measured.ends)
            }
        };
        // A share of yes lies between none and all.
        let bar = if self.kind == ColumnType::Boolean && self.moment == Moment::Mean {
            bar.between(0.0, 1.0)
        } else {
            bar
        };
        // Nothing lies beyond a yes or no.
        let limited =
            (self.kind != ColumnType::Boolean).then_some(Condition::LimitedTo([clip.low, clip.high]));
        let divided = match self.divisor {
            _ if self.moment == Moment::Sum => None,
            Divisor::Bought { .. } | Divisor::TwoSides => None,
            Divisor::Public => Some(Condition::EmptyAs(clip.middle)),
            Divisor::Stated(rows) => Some(Condition::StatedRows(rows)),
        };
        let unknown = self.is_share().then(|| Condition::Given(UNKNOWN.to_string()));
        let error = ErrorBar::noise(self.confidence, bar.low, bar.high).on(limited);
        let searched = matches!(self.range, RangeBy::Searched(_)) && self.kind != ColumnType::Boolean;
        let unbounded = (searched && measured.outside.is_none())
            .then(|| Condition::Given(self.of_whom(MANY_OUTSIDE.to_string())));
        let error = error.on(measured.outside.map(Condition::Outside)).on(divided).on(unknown).on(unbounded);
        let error = error.on(self.population.as_ref().map(|_| Condition::Population));
        let error = error.on(measured.doubt.clone().map(Condition::Given));
        Answer::number(bar.value, error)
    }

    /// What would have to be known for a prediction.
    fn unknown(&self) -> &'static str {
        match (&self.range, self.stated_rows) {
            (RangeBy::Searched(_), _) if self.moment == Moment::Sum => {
                "its range; declare `range`, or give `epsilon`"
            }
            (RangeBy::Searched(_), _) => {
                "its range and the number of rows; declare `range` and `rows`, or give `epsilon`"
            }
            (RangeBy::Declared(..), None) => {
                "the number of rows; state `rows` where it is public and there are no groups, or give `epsilon`"
            }
            (RangeBy::Declared(..), Some(_)) => "a noisy number of rows, which may be 0 here; give `epsilon`",
        }
    }

    /// The sums that there will be with most rows.
    fn largest(&self) -> &Sums {
        match &self.range {
            RangeBy::Declared(_, sums) => sums,
            RangeBy::Searched(searched) => &searched.stages.last().expect("some stage").sums,
        }
    }

    /// How far noise moves the answer, in parts of the farthest that a row can lie (squared for a variance), and of
    /// one over the number of rows except for a sum.
    fn noise_parts(&self, sums: &Sums) -> f64 {
        let parts = |within: i64, steps: i64| within as f64 / steps as f64;
        let first = parts(sums.within, self.steps);
        let rows = match self.divisor {
            Divisor::TwoSides => first,
            _ => self.divisor.within() as f64,
        };
        match &sums.second {
            // A mean of at most one is off by what the number of rows is off by; of two sides that is counted already.
            None => first,
            // A square is off by twice the mean, which is at most one.
            Some((_, second)) => parts(*second, self.square_steps) + rows + 2.0 * first,
        }
    }
}

impl Answering for Moments {
    fn mechanism(&self) -> &'static str {
        self.largest().first.law()
    }

    fn cost(&self) -> Loss {
        self.cost.clone().unwrap_or_else(|| price::sum(self.losses()))
    }

    fn losses(&self) -> Vec<Loss> {
        self.parts_lost()
    }

    fn answer_type(&self) -> Option<String> {
        match self.moment {
            Moment::Sum if self.kind.is_whole() => Some(self.sum_kind().to_string()),
            _ if self.is_share() => Some(SHARE.to_string()),
            _ => None,
        }
    }

    fn rows_needed(&self) -> Option<u64> {
        match &self.range {
            RangeBy::Declared(..) => None,
            RangeBy::Searched(searched) => u64::try_from(searched.enough(self.moment == Moment::Sum)).ok(),
        }
    }

    fn rows_assured(&self) -> Option<u64> {
        let RangeBy::Searched(searched) = &self.range else { return None };
        searched.assured(self.moment == Moment::Sum, |sums| self.told_within(sums))
    }

    fn rows_within(&self) -> u64 {
        let RangeBy::Searched(searched) = &self.range else { return 0 };
        let within = match self.moment {
            Moment::Sum => searched.count.within(),
            Moment::Mean | Moment::Variance => searched.told_within(|sums| self.told_within(sums)),
        };
        within.unsigned_abs()
    }

    fn predicted(&self) -> Option<f64> {
        let RangeBy::Declared(clip, sums) = &self.range else { return None };
        let farthest = self.frame(clip).farthest;
        if self.moment == Moment::Sum {
            return Some(self.noise_parts(sums) * farthest);
        }
        let parts = |within: i64, steps: i64| within as f64 / steps as f64;
        let (first, rows_within) = match self.divisor {
            // The noisy number of rows, by which sums are divided, may be that much smaller.
            Divisor::TwoSides => (sums.within_both, parts(sums.within_both, self.steps)),
            _ => (sums.within, 0.0),
        };
        let rows = self.stated_rows? as f64 - rows_within;
        if rows < 1.0 {
            return None;
        }
        let mean = parts(first, self.steps) / rows;
        Some(match &sums.second {
            None => mean * farthest,
            // A square is off by twice the mean, which is at most one, and the square of the error.
            Some((_, second)) => {
                let squares = (parts(*second, self.square_steps) + rows_within) / rows;
                let variance = (squares + mean * (2.0 + mean)) * farthest.powi(2);
                // Two roots lie at most the root of the distance of their squares apart.
                if self.is_root() { variance.sqrt() } else { variance }
            }
        })
    }

    fn no_prediction(&self) -> String {
        let statistic = self.statistic;
        format!("the error of a {statistic} depends on {}", self.unknown())
    }

    fn expected(&self) -> Expected {
        let per_row = match self.moment {
            Moment::Sum => "",
            Moment::Mean | Moment::Variance if self.divisor.is_noisy() => " over a noisy number of rows",
            Moment::Mean | Moment::Variance => " over the number of rows",
        };
        let words = match &self.range {
            RangeBy::Declared(clip, sums) => {
                let farthest = self.frame(clip).farthest;
                let per_row = if self.predicted().is_some() { "" } else { per_row };
                let share = self.noise_parts(sums);
                let error = match self.moment {
                    Moment::Sum | Moment::Mean => share * farthest,
                    Moment::Variance => share * farthest.powi(2),
                };
                let error = at_most(self.predicted().unwrap_or(error));
                let refused = match (self.moment, &self.divisor) {
                    (Moment::Sum, _) | (_, Divisor::Stated(_)) => "never refused".to_string(),
                    (_, Divisor::Bought { .. } | Divisor::TwoSides) => {
                        "refused when a noisy count of the rows is below 1".to_string()
                    }
                    (_, Divisor::Public) => {
                        format!("empty fields count as {}; refused without rows", clip.middle)
                    }
                };
                // An error over the number of rows is known only if that is what was stated.
                let given = self
                    .condition()
                    .map_or(String::new(), |rows| format!(" if {rows} rows have a value, as stated"));
                let whose = if self.is_root() && self.predicted().is_none() { "its square is " } else { "" };
                let rows = if self.is_share() { UNKNOWN } else { "rows beyond the range are moved into it" };
                let enough = match self.moment {
                    Moment::Mean if !per_row.is_empty() && self.is_share() => {
                        let rows = (100.0 * share * farthest).ceil();
                        format!(", so that about {rows:.0} rows are enough for ±1 %")
                    }
                    Moment::Mean if !per_row.is_empty() => {
                        enough_rows(share * farthest, (clip.high - clip.low) / 100.0)
                    }
                    // Two roots lie at most the root of the distance of their squares apart.
                    Moment::Variance if !per_row.is_empty() && self.is_root() => {
                        let wanted = (clip.high - clip.low) / 100.0;
                        let rows = (share * (farthest / wanted).powi(2)).ceil();
                        format!(", so that about {rows:.0} rows are enough for ±{}", at_most(wanted))
                    }
                    _ => String::new(),
                };
                format!("{whose}off by at most {error}{per_row}{enough}{given}; {rows}; {refused}")
            }
            RangeBy::Searched(searched) => {
                let of = match self.moment {
                    Moment::Sum => "its farther end",
                    Moment::Mean => "half of its width",
                    Moment::Variance => "the square of half of its width",
                };
                let noise = if self.is_root() { "the noise of its square" } else { "the noise" };
                let shares = searched.stages.iter().map(|stage| self.noise_parts(&stage.sums));
                let most = shares.fold(0.0, f64::max);
                let enough = match self.moment {
                    Moment::Mean => {
                        let rows = (50.0 * self.noise_parts(self.largest())).ceil();
                        format!(", so that about {rows:.0} rows are enough for a hundredth of its width")
                    }
                    Moment::Variance if self.is_root() => {
                        let rows = (2500.0 * self.noise_parts(self.largest())).ceil();
                        format!(", so that about {rows:.0} rows are enough for a hundredth of its width")
                    }
                    _ => String::new(),
                };
                format!(
                    "a range is searched privately and released with the answer; {noise} is at most {:.3} times {of}{per_row} \
                     ({most:.3} with few rows){enough}; refused where noisy counts tell of fewer than about {} rows",
                    self.noise_parts(self.largest()),
                    searched.enough(self.moment == Moment::Sum)
                )
            }
        };
        let stated = self.condition().map(Condition::StatedRows);
        let error = self.predicted().map(|error| ErrorBar::noise(self.confidence, -error, error).on(stated));
        let first = if self.of_people { "each person's rows are first made one value; " } else { "" };
        Expected { error, words: format!("{first}{}", self.of_whom(words)) }
    }

    fn noise_share(&self) -> Option<f64> {
        Some(self.noise_parts(self.largest()))
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        self.answer_group(None, gathered, coins)
    }

    fn asks(&self, shared: Option<&SharedRange>) -> Vec<Ask> {
        self.group_asks(shared)
    }

    fn shared_need(&self) -> Option<Need> {
        let RangeBy::Searched(_) = self.range else { return None };
        self.need.wanted().map(Need::Cells)
    }

    fn shared<C: Coins>(&self, all: &dyn RowFacts, coins: &mut C) -> Option<SharedRange> {
        let RangeBy::Searched(searched) = &self.range else { return None };
        Some(searched.run(&all.cells(&self.shared_need()?, 0, cells::FINE), coins))
    }

    fn answer_group<C: Coins>(
        &self,
        shared: Option<&SharedRange>,
        gathered: &dyn RowFacts,
        coins: &mut C,
    ) -> Answer {
        self.told(&self.draw(shared, gathered, coins))
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need()]
    }
}

#[path = "moments_price.rs"]
mod price;
#[cfg(test)]
#[path = "moments_tests.rs"]
mod tests;
