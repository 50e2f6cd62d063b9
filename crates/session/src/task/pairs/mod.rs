//! The covariance or correlation of two columns: exact sums of what rows add, with noise, over ranges that were declared or paid for.
//!
//! What a row adds and what that costs is in [`parts`], how far the noise goes in [`tails`]. A range that was not declared is searched as for
//! a mean; where both are, each search has half.
//!
//! # Why the bars are as they say
//!
//! 1. The number of rows, both means, the mean product and both mean squares are each made of a few noisy sums, and each lies within
//!    its reach of the true one, all at once, except with the stated probability.
//! 2. A covariance is the mean product less the product of the means, a correlation that over the roots of both variances: ends are carried
//!    through, rounded outwards at each step ([`Bar`]). What cannot be, such as a correlation beyond one, is cut off.
//! 3. Where the lower end of a variance is not above zero, there may be no correlation at all, and it is refused.

mod parts;
mod tails;

use super::{
    Answering, Expected,
    bar::Bar,
    clip::{Clip, FINE},
    noise::LAWS,
    stages::{self, Searched, SharedRange},
};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar, at_most},
    error::PlanError,
    lattice,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::RowFacts,
    rows::cells::Cells,
    source::{ColumnRead, ColumnType},
    statistic::{Argument, Statistic},
};
use equipoise_core::{coins::Coins, loss::Loss, wording};
pub(crate) use parts::FIRST_SHARE;
use parts::{Frames, PairSums, Parts, ROUNDED, Totals};

/// Steps from the middle of a range to its end.
const STEPS: i64 = 1 << 30;
/// What doubles lose on the way from a row to its steps, in parts of the farthest row or of the farthest end.
const FLOATING: f64 = 1.0 / (1u64 << 49) as f64;
/// Of values that lie evenly over their range, in parts of the square of half its width.
const EVEN_VARIANCE: f64 = 1.0 / 3.0;

/// The covariance or correlation of two columns.
#[derive(Clone, Debug)]
pub(crate) struct PairStatistic {
    need: Need,
    kinds: [ColumnType; 2],
    names: [String; 2],
    is_correlation: bool,
    ranges: Ranges,
    cost: Loss,
    confidence: f64,
    /// As it was asked for, to say how much would do.
    eps: f64,
    /// How many rows take a correlation of values that lie evenly over declared ranges.
    even_rows: u64,
}

#[derive(Clone, Debug)]
enum Ranges {
    Declared([Clip; 2], Box<PairSums>),
    /// Of one column, or of both.
    Searched([Option<Clip>; 2], Box<Searched<PairSums>>),
}

/// Means of rows in shares of half the width of their ranges, from noisy sums.
struct Measured {
    rows: Bar,
    covariance: Bar,
    /// Of both columns, where squares were summed.
    variances: Option<[Bar; 2]>,
}

impl PairStatistic {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        Self::with_steps(said, STEPS)
    }

    /// The same with so many steps from the middle of a range to its end; few can be enumerated.
    pub fn with_steps(said: &ResolvedRequest, steps: i64) -> Result<Self, PlanError> {
        let columns = [said.column()?, said.second_column()?];
        let [x, y] = [said.numbers(columns[0])?, said.numbers(columns[1])?];
        let read =
            |need: &Need, column| need.wanted().unwrap_or(ColumnRead { column, kind: ColumnType::Float });
        let reads = [read(&x, columns[0]), read(&y, columns[1])];
        let kinds = reads.map(|read| read.kind);
        let is_correlation = said.statistic() == Statistic::Correlation;
        let parts = if is_correlation { Parts::Five } else { Parts::Three };
        let clip = |text: Option<&str>,
                    kind: ColumnType,
                    argument: Argument|
         -> Result<Option<Clip>, PlanError> {
            // A yes or no has public ends.
            let Some(text) = text.or((kind == ColumnType::Boolean).then_some("0,1")) else { return Ok(None) };
            let (low, high) = lattice::float_ends_of(argument, text)?;
            Ok(Some(Clip { low, high, middle: low / 2.0 + high / 2.0 }))
        };
        let clips = [
            clip(said.range(), kinds[0], Argument::Range)?,
            clip(said.range_y(), kinds[1], Argument::RangeY)?,
        ];
        let whole = PairSums::plan(said, said.eps(), parts, steps)?;
        let even_rows = Self::rows_if_even(&whole);
        let ranges = if let [Some(x), Some(y)] = clips {
            Ranges::Declared([x, y], Box::new(whole))
        } else {
            let searched = clips.iter().filter(|clip| clip.is_none()).count() as u64;
            let sums = |eps: &_| PairSums::plan(said, eps, parts, steps);
            Ranges::Searched(
                clips,
                Box::new(stages::search_each(said, searched, said.failure(), FINE, sums)?),
            )
        };
        Ok(Self {
            need: Need::Pairs(reads[0], reads[1]),
            kinds,
            names: columns.map(|column| said.column_name(column)),
            is_correlation,
            ranges,
            cost: Loss::pure(said.eps()),
            confidence: said.confidence(),
            eps: said.eps().ratio().to_f64(),
            even_rows,
        })
    }

    /// Find the ranges that were not declared.
    fn search<C: Coins>(
        declared: &[Option<Clip>; 2],
        searched: &Searched<PairSums>,
        rows: &dyn RowFacts,
        need: &Need,
        coins: &mut C,
    ) -> SharedRange {
        let open = [0, 1].into_iter().filter(|&side| declared[side].is_none());
        let cells: Vec<Cells> = open.map(|side| rows.cells(need, side, FINE.cells)).collect();
        let found = searched.run_each(&cells, coins);
        let (clip, second) = match declared {
            [None, None] => (found.clip, found.second),
            [Some(x), _] => (*x, Some(found.clip)),
            [None, Some(y)] => (found.clip, Some(*y)),
        };
        // A declared range may leave any number of rows outside.
        let both = declared.iter().all(Option::is_none);
        SharedRange { clip, second, outside: found.outside.filter(|_| both), ..found }
    }

    /// The noisy sums of values, of rows that are two numbers each, over declared ranges: what audits enumerate.
    pub fn noisy_first<C: Coins>(&self, rows: &[f64], coins: &mut C) -> [i64; 2] {
        let (sums, exact) = self.exact(rows);
        sums.run_first(&exact, coins)
    }

    /// The noisy sums of products, and what is left of each row.
    pub fn noisy_parts<C: Coins>(&self, rows: &[f64], coins: &mut C) -> [i64; 5] {
        let (sums, exact) = self.exact(rows);
        sums.run_parts(&exact, coins)
    }

    fn exact(&self, rows: &[f64]) -> (&PairSums, Totals) {
        let Ranges::Declared(clips, sums) = &self.ranges else { unreachable!("declared ranges are audited") };
        let steps = sums.of_rows(clips);
        let mut exact = vec![0; steps.many()];
        steps.add_numbers(rows, &mut exact);
        (sums, Totals::of(&exact))
    }

    /// The sums that there will be with most rows.
    fn largest(&self) -> &PairSums {
        match &self.ranges {
            Ranges::Declared(_, sums) => sums,
            Ranges::Searched(_, searched) => &searched.stages.last().expect("some stage").sums,
        }
    }

    /// By how many steps the place of a row is rounded at most, for either column.
    fn rounding(&self, frames: &Frames<'_>, steps: i64) -> f64 {
        let of = |side: usize| {
            let Clip { low, high, .. } = frames.clips[side];
            // A row of a whole type is rounded to a double before.
            let ends = if self.kinds[side].is_whole() { low.abs().max(high.abs()) } else { 0.0 };
            0.5 + steps as f64 * FLOATING * (1.0 + ends / frames.frames[side].farthest)
        };
        of(0).max(of(1))
    }

    /// What noisy sums tell.
    fn measured(&self, sums: &PairSums, noisy: &Totals, frames: &Frames<'_>) -> Measured {
        let steps = sums.steps as f64;
        let [sum, difference] = noisy.first;
        let [a, b, c, d, e] = noisy.parts;
        let add = |numbers: &[i64]| numbers.iter().fold(0i64, |sum, &one| sum.saturating_add(one));
        let rows = Bar::around(add(&[a, b, c, d, e]), sums.within.rows).divided(steps);
        let most_rows = rows.high.max(0.0);
        let rounding = self.rounding(frames, sums.steps);
        let mean = |twice: i64| {
            let twice = Bar::around(twice, sums.within.twice_one).widened(2.0 * rounding * most_rows);
            twice.divided(2.0 * steps).over(rows).between(-1.0, 1.0)
        };
        // A product or square moves by what both of its factors, at most one each, are rounded by.
        let second = |number: i64, within: i64| {
            let bar = Bar::around(number, within).widened((ROUNDED + 2.0 * rounding) * most_rows);
            bar.divided(steps).over(rows)
        };
        let means = [mean(add(&[sum, difference])), mean(sum.saturating_sub(difference))];
        let product = second(a.saturating_sub(b), sums.within.product).between(-1.0, 1.0);
        let covariance = product.less(means[0].multiplied(means[1])).between(-1.0, 1.0);
        let variances = (sums.parts == Parts::Five).then(|| {
            let both = add(&[a, b]);
            let apart = c.saturating_sub(d);
            let squares = [both.saturating_add(apart), both.saturating_sub(apart)];
            [0, 1].map(|side| second(squares[side], sums.within.square).minus_square(means[side]))
        });
        Measured { rows, covariance, variances }
    }

    /// What to do where there are too few rows, as a search counted them and as the sums tell.
    fn too_few(&self, shared: bool, counted: Option<i64>, told: i64) -> Option<String> {
        match &self.ranges {
            Ranges::Searched(_, searched)
                if counted.is_some_and(|rows| rows < searched.needed) || (!shared && told < searched.told) =>
            {
                // As few as there may be none.
                let none = told <= searched.told_within(told_within);
                let doubt = if none { " (perhaps none holds both values)" } else { "" };
                Some(format!(
                    "too few rows{doubt}: ranges are found from about {} rows with both values on; raise epsilon, or declare `range` and `range_y`",
                    searched.told
                ))
            }
            _ if told < 1 => Some(
                "too few rows: a noisy count of those with both values found none; raise epsilon, or bring more rows"
                    .to_string(),
            ),
            _ => None,
        }
    }

    /// A refusal where the values of a column may all be the same, as far as noise tells, with what would do where that can be told.
    fn no_spread(&self, side: usize, variances: [Bar; 2], rows: i64) -> Answer {
        let name = wording::shown(&self.names[side]);
        let less_spread = "a narrower range of its values helps too, and a covariance takes no such spread";
        let enough = match (&self.ranges, times_enough(variances)) {
            // A range is found anew, and may be many times wider or narrower then: nothing follows for another epsilon.
            (Ranges::Searched(..), _) => {
                "declare `range` and `range_y`, for what is found is often many times wider than the values, raise epsilon, or bring more rows; a \
                 covariance takes no such spread"
                    .to_string()
            }
            (Ranges::Declared(..), Some(times)) => {
                let eps = two_digits_up(self.eps * times);
                format!("about {:.0} rows would do, or `epsilon={eps}`; {less_spread}", rows as f64 * times)
            }
            (Ranges::Declared(..), None) => {
                format!("raise epsilon, or bring more rows; {less_spread}")
            }
        };
        Answer::refused(format!(
            "as far as noise tells of about {rows} rows, the values of '{name}' may all be the same, and then there is no correlation: {enough}"
        ))
    }

    fn released(&self, measured: &Measured, frames: &Frames<'_>, outside: Option<u64>, rows: i64) -> Answer {
        let bar = match measured.variances {
            None => {
                let [x, y] = [0, 1].map(|side| Bar::exact(frames.frames[side].farthest));
                measured.covariance.times(x).times(y)
            }
            Some(variances) => {
                if let Some(side) = variances.iter().position(|variance| variance.low <= 0.0) {
                    return self.no_spread(side, variances, rows);
                }
                measured.covariance.over_roots(variances).between(-1.0, 1.0)
            }
        };
        let error = ErrorBar::noise(self.confidence, bar.low, bar.high);
        // Nothing lies beyond a yes or no.
        let error = if self.kinds == [ColumnType::Boolean; 2] {
            error
        } else {
            let [x, y] = [0, 1].map(|side| [frames.clips[side].low, frames.clips[side].high]);
            error.on(Condition::LimitedTo(x)).on(Condition::SecondLimitedTo(y))
        };
        Answer::number(bar.value, error.on(outside.map(Condition::Outside)))
    }

    /// From how many rows on a correlation of values that lie evenly over ranges that are declared is released, about.
    fn rows_if_even(sums: &PairSums) -> u64 {
        let parts = |within: i64| within as f64 / sums.steps as f64;
        let off = parts(sums.within.square) + EVEN_VARIANCE * parts(sums.within.rows);
        // The mean may be off too, by a share whose square counts.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of rows")]
        let rows = ((off + parts(sums.within.twice_one) / 2.0) / EVEN_VARIANCE).ceil() as u64;
        rows
    }

    fn statistic(&self) -> Statistic {
        if self.is_correlation { Statistic::Correlation } else { Statistic::Covariance }
    }
}

impl Answering for PairStatistic {
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
        let parts = |within: i64| within as f64 / self.largest().steps as f64;
        let sums = self.largest();
        // The product, and each mean times the other, which is at most one.
        let off = parts(sums.within.product) + parts(sums.within.rows) + parts(sums.within.twice_one);
        let both = "rows without both values take no part, rows beyond a range are moved into it";
        // Ranges that are found are wider than the values, nobody knows by how much: up to thirty times the rows were not enough.
        let wider = match &self.ranges {
            Ranges::Declared(..) => "",
            Ranges::Searched(..) => {
                " where ranges are declared, and many times as many where they are searched"
            }
        };
        let spread = if self.is_correlation {
            format!(
                "; refused where the values of a column may all be the same: evenly spread ones take about {} rows{wider}",
                self.even_rows
            )
        } else {
            String::new()
        };
        let words = match &self.ranges {
            Ranges::Declared(clips, _) if !self.is_correlation => {
                let widths = clips.iter().map(|clip| (clip.high - clip.low) / 2.0).product::<f64>();
                format!(
                    "off by at most {} over a noisy number of rows; {both}; refused when a noisy count of the rows is below 1",
                    at_most(off * widths)
                )
            }
            Ranges::Declared(..) => {
                format!("{both}; refused when a noisy count of the rows is below 1{spread}")
            }
            Ranges::Searched(_, searched) => format!(
                "ranges are searched privately and released with the answer; {both}; refused where noisy counts tell of fewer than about {} \
                 rows{spread}",
                searched.told
            ),
        };
        Expected { error: None, words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        self.answer_group(None, gathered, coins)
    }

    fn shared_need(&self) -> Option<Need> {
        matches!(self.ranges, Ranges::Searched(..)).then(|| self.need.clone())
    }

    fn shared<C: Coins>(&self, all: &dyn RowFacts, coins: &mut C) -> Option<SharedRange> {
        let Ranges::Searched(declared, searched) = &self.ranges else { return None };
        Some(Self::search(declared, searched, all, &self.need, coins))
    }

    fn answer_group<C: Coins>(
        &self,
        shared: Option<&SharedRange>,
        gathered: &dyn RowFacts,
        coins: &mut C,
    ) -> Answer {
        let (clips, outside, sums, counted) = match &self.ranges {
            Ranges::Declared(clips, sums) => (*clips, None, &**sums, None),
            Ranges::Searched(declared, searched) => {
                let found = match shared {
                    Some(shared) => shared.clone(),
                    None => Self::search(declared, searched, gathered, &self.need, coins),
                };
                let second = found.second.expect("two columns have two ranges");
                let sums = &searched.stages[found.stage].sums;
                ([found.clip, second], found.outside, sums, Some(found.rows))
            }
        };
        let frames = Frames::new(&clips);
        let exact = gathered.sums(&self.need, &sums.of_rows(&clips));
        let noisy = sums.run(&Totals::of(&exact), coins);
        let measured = self.measured(sums, &noisy, &frames);
        #[expect(clippy::cast_possible_truncation, reason = "a number of rows")]
        let about = measured.rows.value.round() as i64;
        let answer = match self.too_few(shared.is_some(), counted, about) {
            Some(advice) => Answer::refused(advice),
            None => self.released(&measured, &frames, outside, about),
        };
        answer.with_rows(Some(about))
    }

    fn rows_needed(&self) -> Option<u64> {
        match &self.ranges {
            Ranges::Declared(..) => None,
            Ranges::Searched(_, searched) => u64::try_from(searched.told).ok(),
        }
    }

    fn rows_assured(&self) -> Option<u64> {
        // A correlation takes a spread besides, which no number of rows tells.
        let Ranges::Searched(_, searched) = &self.ranges else { return None };
        if self.is_correlation {
            return None;
        }
        searched.assured(false, told_within)
    }

    fn rows_within(&self) -> u64 {
        let Ranges::Searched(_, searched) = &self.ranges else { return 0 };
        searched.told_within(told_within).unsigned_abs()
    }

    fn no_prediction(&self) -> String {
        let statistic = self.statistic();
        format!(
            "the error of a {statistic} depends on the number of rows and on how far they spread; give `epsilon`"
        )
    }
}

/// How far off the number of rows is at most that the sums tell.
fn told_within(sums: &PairSums) -> i64 {
    sums.within.rows / sums.steps + 1
}

/// How many times as much epsilon, or as many rows, it takes until both variances are above zero, where noise lets anybody tell: bars are
/// as much shorter then. The noise that is in a variance is within half of its bar nearly always, when it is drawn anew too.
fn times_enough(variances: [Bar; 2]) -> Option<f64> {
    let times = variances.map(|variance| {
        // The lower end was cut at zero.
        let off = variance.high - variance.value;
        let (spread, off) = (variance.value - off / 2.0, off * 1.5);
        if spread > 0.0 { off / spread } else { f64::INFINITY }
    });
    let most = times[0].max(times[1]);
    (most < 1000.0).then_some(most.max(1.1))
}

/// The next number of two digits.
fn two_digits_up(number: f64) -> String {
    let places = (1.0 - number.log10().floor()).max(0.0);
    let unit = 10f64.powf(places);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few places")]
    let places = places as usize;
    let text = format!("{:.places$}", (number * unit).ceil() / unit);
    text.strip_suffix(".0").unwrap_or(&text).to_string()
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod tests;
