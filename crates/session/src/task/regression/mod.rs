//! How a column depends on others, by least squares: exact sums of what rows add, with noise, over ranges that were declared or paid for.
//!
//! What a row adds and what that costs is in [`sums`], how far the noise goes together in [`ball`], and the model that is made of noisy sums, with its
//! bars, in [`fit`]. Ranges that were not declared are searched as for a mean; the searches share what one costs.

mod ball;
mod fit;
mod sums;

use super::{
    Answering, Expected,
    bar::Bar,
    clip::{Clip, FINE},
    noise::LAWS,
    stages::{self, FoundRanges, Searched},
};
use crate::{
    answer::{Answer, Named},
    bar::{Condition, ErrorBar, at_most},
    error::PlanError,
    lattice,
    need::Need,
    resolved::ResolvedRequest,
    row_facts::{
        RowFacts, saturated,
        steps::{Frame, sums_of},
    },
    rows::cells::Cells,
    source::{ColumnRead, ColumnType},
    statistic::Argument,
};
use equipoise_core::{coins::Coins, loss::Loss, wording};
use fit::{Measured, Model};
use serde_json::{Value, json};
use std::ops::Range;
use sums::MomentSums;

/// Steps from the middle of a range to its end, as a power of two.
pub(super) const BITS: u32 = 30;
/// What doubles lose on the way from a row to its steps, in parts of the farthest row or of the farthest end.
const FLOATING: f64 = 1.0 / (1u64 << 49) as f64;
/// So many columns may explain one: the noise of each sum grows with all of them.
const MOST_COLUMNS: usize = 50;
/// A model that may explain less than this, as far as noise tells, is refused: the mean of the column alone explains zero.
const LEAST_EXPLAINED: f64 = -0.1;

/// Intercept and coefficients of a regression.
#[derive(Clone, Debug)]
pub(crate) struct Regression {
    need: Need,
    kinds: Vec<ColumnType>,
    /// Of the columns that explain, and then of the one that is explained.
    names: Vec<String>,
    ranges: Ranges,
    mechanism: &'static str,
    cost: Loss,
    confidence: f64,
    /// As it was asked for, to say how much would do.
    eps: f64,
}

#[derive(Clone, Debug)]
enum Ranges {
    Declared(Vec<Clip>, Box<MomentSums>),
    /// Of the columns without one.
    Searched(Vec<Option<Clip>>, Box<Searched<MomentSums>>),
}

impl Regression {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        Self::with_bits(said, BITS)
    }

    /// The same with so many bits for the steps from the middle of a range to its end; few can be enumerated.
    pub fn with_bits(said: &ResolvedRequest, bits: u32) -> Result<Self, PlanError> {
        let columns = columns(said)?;
        let width = columns.len();
        let read = |&column: &usize| -> Result<ColumnRead, PlanError> {
            Ok(said.numbers(column)?.wanted().unwrap_or(ColumnRead { column, kind: ColumnType::Float }))
        };
        let reads: Vec<ColumnRead> = columns.iter().map(read).collect::<Result<_, _>>()?;
        let kinds: Vec<ColumnType> = reads.iter().map(|read| read.kind).collect();
        let clips = clips(said, &kinds)?;
        let ranges = if clips.iter().all(Option::is_some) {
            let sums = MomentSums::plan(said, said.eps(), width, bits)?;
            Ranges::Declared(clips.into_iter().flatten().collect(), Box::new(sums))
        } else {
            let searched = clips.iter().filter(|clip| clip.is_none()).count() as u64;
            let sums = |eps: &_| MomentSums::plan(said, eps, width, bits);
            Ranges::Searched(
                clips,
                Box::new(stages::search_each(said, searched, said.failure(), FINE, sums)?),
            )
        };
        let gaussian = said.mechanism() == Some(LAWS[1]);
        Ok(Self {
            need: Need::Table(reads),
            kinds,
            names: columns.iter().map(|&column| said.column_name(column)).collect(),
            ranges,
            mechanism: LAWS[usize::from(gaussian)],
            cost: if gaussian { Loss::approx(said.eps(), said.delta()) } else { Loss::pure(said.eps()) },
            confidence: said.confidence(),
            eps: said.eps().ratio().to_f64(),
        })
    }

    /// Some of the noisy sums of rows, whose numbers stand one after the other, over declared ranges: what audits enumerate.
    pub fn noisy_sums<C: Coins>(&self, rows: &[f64], some: Range<usize>, coins: &mut C) -> Vec<i64> {
        let Ranges::Declared(clips, sums) = &self.ranges else { unreachable!("declared ranges are audited") };
        let steps = sums.of_rows(clips);
        let mut exact = vec![0; steps.many()];
        steps.add_numbers(rows, &mut exact);
        sums.run(exact[some].iter().map(|&sum| saturated(sum)).collect(), coins)
    }

    /// The ranges that were declared and those that are found, in the order of the columns.
    fn found<C: Coins>(
        &self,
        declared: &[Option<Clip>],
        searched: &Searched<MomentSums>,
        gathered: &dyn RowFacts,
        coins: &mut C,
    ) -> FoundRanges {
        let open = (0..declared.len()).filter(|&column| declared[column].is_none());
        let cells: Vec<Cells> = open.map(|column| gathered.cells(&self.need, column, FINE.cells)).collect();
        let found = searched.run_all(&cells, coins);
        let mut searched = found.clips.iter().copied();
        let clip = |declared: &Option<Clip>| declared.or_else(|| searched.next()).expect("a range for each");
        // A declared range may leave any number of rows outside.
        let all = declared.iter().all(Option::is_none);
        let clips = declared.iter().map(clip).collect();
        FoundRanges { clips, outside: found.outside.filter(|_| all), ..found }
    }

    /// The sums that there will be with most rows.
    fn largest(&self) -> &MomentSums {
        match &self.ranges {
            Ranges::Declared(_, sums) => sums,
            Ranges::Searched(_, searched) => &searched.stages.last().expect("some stage").sums,
        }
    }

    /// By how many steps the place of a row is rounded at most, in any column.
    fn rounding(&self, clips: &[Clip], steps: i64) -> f64 {
        let of = |(clip, kind): (&Clip, &ColumnType)| {
            let (half, ends) = (half_width(clip), clip.low.abs().max(clip.high.abs()));
            // A row of a whole type is rounded to a double before.
            let ends = if kind.is_whole() { ends } else { 0.0 };
            0.5 + steps as f64 * FLOATING * (1.0 + ends / half)
        };
        clips.iter().zip(&self.kinds).map(of).fold(0.5, f64::max)
    }

    /// What to do where there are too few rows, as a search counted them and as the sums tell.
    fn too_few(&self, counted: Option<i64>, told: i64) -> Option<String> {
        match &self.ranges {
            Ranges::Searched(_, searched)
                if told < searched.told || counted.is_some_and(|rows| rows < searched.needed) =>
            {
                // As few as there may be none.
                let none = told <= searched.told_within(told_within);
                let doubt = if none { " (perhaps none holds all values)" } else { "" };
                Some(format!(
                    "too few rows{doubt}: ranges of {} columns are found from about {} rows with all values on; raise epsilon, or declare `range` and `range_on`",
                    self.names.len(),
                    searched.told
                ))
            }
            _ if told < 1 => Some(
                "too few rows: a noisy count of those with all values found none; raise epsilon, or bring more rows".to_string(),
            ),
            _ => None,
        }
    }

    /// A refusal of a model that may be worse than none, with what would do, about.
    fn worse_than_none(&self, measured: &Measured, explained: Bar, rows: i64) -> Answer {
        let spread = measured.spread();
        if spread.value <= 0.0 {
            let name = wording::shown(self.names.last().expect("a column that is explained"));
            return Answer::refused(format!(
                "as far as noise tells of about {rows} rows, the values of '{name}' may all be the same: raise epsilon, bring more rows, or declare \
                 a narrower range"
            ));
        }
        // What the bar would be, were noise so many times smaller beside the rows.
        let (left, off) = (1.0 - explained.value, (spread.value - spread.low) / spread.value);
        let wide = (1.0 - explained.low).min(1e12) * (1.0 - off).max(0.0) - left;
        let wide = if wide.is_finite() && wide > 0.0 { wide } else { 1.0 + off };
        let would = |times: f64| 1.0 - (left + wide / times) / (1.0 - off / times);
        let enough = (1..400)
            .map(|step| 1.1f64.powi(step))
            .find(|&times| off / times < 1.0 && would(times) > LEAST_EXPLAINED)
            .filter(|&times| times < 1000.0);
        let enough = enough.map_or_else(
            || "raise epsilon, or bring more rows".to_string(),
            |times| {
                // Noise is drawn anew, and ranges are found anew: of what seemed just enough a third was refused again.
                let eps = (self.eps * times * 1.5 * 10.0).ceil() / 10.0;
                format!("about {:.0} rows would do, or `epsilon={eps}`", rows as f64 * times * 1.5)
            },
        );
        Answer::refused(format!(
            "as far as noise tells of about {rows} rows, a model of them may predict worse than the mean alone: {enough}; narrower ranges and fewer \
             columns help too"
        ))
    }

    fn released(&self, measured: &Measured, model: &Model, clips: &[Clip], outside: Option<u64>) -> Answer {
        let last = clips.len() - 1;
        let conditions = |error: ErrorBar| {
            let ranges = clips.iter().map(|clip| [clip.low, clip.high]).collect();
            error.on(Condition::EachLimitedTo(ranges)).on(outside.map(Condition::Outside))
        };
        // Of a column in its own unit.
        let mean = |column: usize| {
            let clip = &clips[column];
            measured.mean(column).times(Bar::exact(half_width(clip))).plus(Bar::exact(clip.middle))
        };
        let coefficient = |column: usize| {
            let within = model.within.as_ref().map_or(f64::INFINITY, |within| within[column]);
            let ratio = Bar::exact(half_width(&clips[last])).divided(half_width(&clips[column]));
            Bar::near(model.coefficients[column], within).times(ratio)
        };
        let coefficients: Vec<Bar> = (0..last).map(coefficient).collect();
        let less = |sum: Bar, (column, one): (usize, &Bar)| sum.less(one.multiplied(mean(column)));
        let intercept = coefficients.iter().enumerate().fold(mean(last), less);
        let answer = |bar: Bar| {
            let error = (bar.low.is_finite() && bar.high.is_finite())
                .then(|| conditions(ErrorBar::noise(self.confidence, bar.low, bar.high)));
            Answer { error, ..Answer::released(json!(bar.value), ErrorBar::exact()) }
        };
        let named = |statistic: &'static str, column: &str, bar: Bar| Named {
            statistic,
            column: Some(column.to_string()),
            mechanism: self.mechanism,
            answer: answer(bar),
        };
        let target = &self.names[last];
        let mut several = vec![named("intercept", target, intercept)];
        several
            .extend((0..last).map(|column| named("coefficient", &self.names[column], coefficients[column])));
        several.push(named("r-squared", target, model.explained));
        several.push(named("mean", target, mean(last)));
        if several.iter().any(|one| one.answer.value.as_ref().is_none_or(Value::is_null)) {
            return Answer::refused(
                "the model is beyond what a 64-bit float can hold; declare smaller ranges, or scale the columns",
            );
        }
        let by_name: serde_json::Map<String, Value> =
            (0..last).map(|column| (self.names[column].clone(), json!(coefficients[column].value))).collect();
        let value = json!({
            "intercept": intercept.value,
            "coefficients": by_name,
            "r-squared": model.explained.value,
            "mean": mean(last).value,
        });
        Answer { value: Some(value), ..Answer::summary(several) }
    }
}

/// The columns that explain, and then the one that is explained.
fn columns(said: &ResolvedRequest) -> Result<Vec<usize>, PlanError> {
    let (mut columns, target) = (said.on()?, said.column()?);
    if columns.len() > MOST_COLUMNS {
        return Err(PlanError::about(
            Argument::On,
            format!("{} columns that explain are not accepted:", columns.len()),
        )
        .hint(format!("give at most {MOST_COLUMNS}")));
    }
    columns.push(target);
    for (place, column) in columns.iter().enumerate() {
        if columns[..place].contains(column) {
            let name = wording::shown(&said.column_name(*column));
            let problem = format!("'{name}' is in the model twice");
            return Err(PlanError::about(Argument::On, problem).hint("name each column once"));
        }
    }
    Ok(columns)
}

/// The ranges that were declared, in the order of the columns.
fn clips(said: &ResolvedRequest, kinds: &[ColumnType]) -> Result<Vec<Option<Clip>>, PlanError> {
    let last = kinds.len() - 1;
    let mut texts: Vec<Option<String>> = vec![None; kinds.len()];
    if let Some(text) = said.range_on() {
        let ends: Vec<&str> = text.split(',').map(str::trim).collect();
        if ends.len() != 2 * last {
            let problem = format!("`range_on` has {} numbers for {last} columns:", ends.len());
            return Err(PlanError::about(Argument::RangeOn, problem)
                .hint(format!("give LO,HI for each column of `on`, {} numbers", 2 * last)));
        }
        for (text, ends) in texts.iter_mut().zip(ends.chunks(2)) {
            *text = Some(ends.join(","));
        }
    }
    texts[last] = said.range().map(str::to_string);
    let clip = |(column, text): (usize, &Option<String>)| {
        // A yes or no has public ends.
        let text = text.as_deref().or((kinds[column] == ColumnType::Boolean).then_some("0,1"));
        let argument = if column == last { Argument::Range } else { Argument::RangeOn };
        let ends = text.map(|text| lattice::float_ends_of(argument, text)).transpose()?;
        Ok(ends.map(|(low, high)| Clip { low, high, middle: low / 2.0 + high / 2.0 }))
    };
    texts.iter().enumerate().map(clip).collect()
}

/// What a share of one is in the unit of a column.
fn half_width(clip: &Clip) -> f64 {
    Frame::new(false, clip).farthest
}

impl Answering for Regression {
    fn mechanism(&self) -> &'static str {
        self.mechanism
    }

    fn cost(&self) -> Loss {
        self.cost.clone()
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need.clone()]
    }

    fn expected(&self) -> Expected {
        let sums = self.largest();
        let all = "rows without all values take no part, rows beyond a range are moved into it";
        let noise = format!(
            "each of {} sums is off by at most {} rows' worth",
            sums_of(self.names.len()),
            at_most(sums.within as f64 / sums.steps() as f64)
        );
        let found = match &self.ranges {
            Ranges::Declared(..) => "refused when a noisy count of the rows is below 1".to_string(),
            Ranges::Searched(_, searched) => format!(
                "ranges are searched privately and released with the answer; refused where noisy counts tell of fewer than about {} rows",
                searched.told
            ),
        };
        let words = format!(
            "{noise}; {all}; {found}, and where the model may predict worse than the mean alone, as far as noise tells"
        );
        Expected { error: None, words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let (clips, outside, sums, counted) = match &self.ranges {
            Ranges::Declared(clips, sums) => (clips.clone(), None, &**sums, None),
            Ranges::Searched(declared, searched) => {
                let found = self.found(declared, searched, gathered, coins);
                let sums = &searched.stages[found.stage].sums;
                (found.clips, found.outside, sums, Some(found.rows))
            }
        };
        let exact = gathered.sums(&self.need, &sums.of_rows(&clips));
        let noisy = sums.run(exact.into_iter().map(saturated).collect(), coins);
        let measured = Measured::new(sums, &noisy, self.rounding(&clips, sums.steps()));
        #[expect(clippy::cast_possible_truncation, reason = "a number of rows")]
        let about = measured.rows.value.round() as i64;
        let answer = if let Some(advice) = self.too_few(counted, about) {
            Answer::refused(advice)
        } else {
            let model = measured.fit(sums.deviation / sums.steps() as f64);
            if model.explained.low < LEAST_EXPLAINED {
                self.worse_than_none(&measured, model.explained, about)
            } else {
                self.released(&measured, &model, &clips, outside)
            }
        };
        answer.with_rows(Some(about))
    }

    fn answers(&self) -> usize {
        self.names.len() + 2
    }

    fn noise_share(&self) -> Option<f64> {
        let sums = self.largest();
        Some(sums.ball / sums.steps() as f64)
    }

    fn rows_needed(&self) -> Option<u64> {
        match &self.ranges {
            Ranges::Declared(..) => None,
            Ranges::Searched(_, searched) => u64::try_from(searched.told).ok(),
        }
    }

    /// How much the model explains no number of rows tells.
    fn rows_assured(&self) -> Option<u64> {
        None
    }

    fn rows_within(&self) -> u64 {
        let Ranges::Searched(_, searched) = &self.ranges else { return 0 };
        searched.told_within(told_within).unsigned_abs()
    }

    fn no_prediction(&self) -> String {
        "the error of a regression depends on the number of rows and on how far they spread; give `epsilon`"
            .to_string()
    }
}

/// How far off the number of rows is at most that the sums tell.
fn told_within(sums: &MomentSums) -> i64 {
    sums.within / sums.steps() + 1
}

#[cfg(test)]
#[path = "regression_tests.rs"]
mod tests;
