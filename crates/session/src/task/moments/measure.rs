//! From rows to noisy sums, once; and from noisy sums to an answer with its bar, for each moment that they tell.
//!
//! Noise is drawn in [`Moments::draw`] and nowhere else: what comes after it is computed from what was drawn and from public numbers, so
//! that any number of answers from one draw costs what the draw does.

use super::{
    super::{
        bar::Bar,
        clip::Clip,
        divisor::Divisor,
        guard::without_a_value,
        holding::{self, DOUBT},
        measured::{Measured, NoisyRows},
        mixtures::Fails,
        stages::{Searched, SharedRange},
        sums::{Numbers, Sums},
    },
    FLOATING, Moment, Moments, RangeBy,
};
use crate::{
    answer::Answer,
    row_facts::{
        Ask, Nulls, RowFacts, saturated,
        steps::{Frame, Steps},
    },
};
use equipoise_core::coins::Coins;

/// Noisy sums as they were drawn, with the range that they are over.
pub(in crate::task) struct Drawn {
    clip: Clip,
    /// At most so many rows lie outside of it, where that is known.
    outside: Option<u64>,
    /// By which split of epsilon the range was found.
    stage: Option<usize>,
    /// The noisy sums of the parts of rows.
    numbers: Numbers,
    /// The number of rows: bought, public, stated, or to the nearest what the parts add up to.
    rows: i64,
    /// Why there is no answer.
    refused: Option<Answer>,
    /// What is to be known of a sum over a column in which no number may be.
    doubt: Option<String>,
    /// Do groups share the range?
    shared: bool,
}

/// How many rows have a value and how many have none, with noise.
struct Pair {
    with: i64,
    without: i64,
    within: i64,
}

impl Pair {
    fn maybe_none(&self) -> bool {
        holding::maybe_none(self.with, self.without, self.within)
    }
}

impl Moments {
    /// Draw the noisy sums; over a range that groups share, if there is one.
    pub(in crate::task) fn draw<C: Coins>(
        &self,
        shared: Option<&SharedRange>,
        gathered: &dyn RowFacts,
        coins: &mut C,
    ) -> Drawn {
        // Records that are not numbers do not take part.
        let (clip, found) = match &self.range {
            RangeBy::Declared(clip, _) => (*clip, None),
            RangeBy::Searched(searched) => {
                let found = match shared {
                    Some(shared) => shared.clone(),
                    None => searched.run(&gathered.cells(&self.need, 0, searched.cells()), coins),
                };
                (found.clip, Some(found))
            }
        };
        let stage = found.as_ref().map(|found| found.stage);
        // A group has no more rows than all of them.
        let counted = found.as_ref().map(|found| found.rows);
        let sums = self.sums(stage);
        let frame = self.frame(&clip);
        let sum = |steps: &Steps| saturated(gathered.sums(&self.need, steps)[0]);
        let first = sum(&self.first_steps(clip, frame));
        let squares = if sums.has_squares() { sum(&self.second_steps(clip, frame)) } else { 0 };
        let (numbers, told) = if self.has_two_sides() {
            let rows = gathered.count(&self.need, Nulls::LeftOut);
            let numbers = sums.run(rows, first, squares, coins);
            (numbers, sums.about(&numbers))
        } else {
            let rows = counted.unwrap_or_else(|| self.divisor.count(gathered, &self.need, coins));
            (sums.run(0, first, squares, coins), rows)
        };
        let mut pair = self.declared_pair(sums, told, gathered, coins);
        let none = pair.as_ref().is_some_and(Pair::maybe_none);
        let refused = self.too_few(shared.is_some(), counted, told, none).map(|refused| {
            let about = if self.moment == Moment::Sum { counted } else { Some(told) };
            if let (RangeBy::Searched(searched), None) = (&self.range, shared) {
                pair = self.searched_pair(searched, about, gathered, coins);
            }
            let seen = self.pair_words(pair.as_ref()).map_or(String::new(), |seen| format!(" ({seen})"));
            let refused = if seen.contains(DOUBT) {
                format!("too few rows{seen}")
            } else {
                refused.replacen("too few rows", &format!("too few rows{seen}"), 1)
            };
            let answer = Answer::refused(self.of_whom(refused));
            answer.with_rows(about.filter(|_| self.divisor.is_noisy()))
        });
        let outside = found.and_then(|found| found.outside);
        let doubt = self.pair_words(pair.filter(Pair::maybe_none).as_ref());
        let shared = shared.is_some();
        Drawn { clip, outside, stage, numbers, rows: told, refused, doubt, shared }
    }

    /// Rows without a value beside those that a search bought the number of.
    fn searched_pair<C: Coins>(
        &self,
        searched: &Searched,
        with: Option<i64>,
        gathered: &dyn RowFacts,
        coins: &mut C,
    ) -> Option<Pair> {
        self.holding.as_ref()?;
        let without = searched.count.noisy(without_a_value(gathered, &self.need), coins);
        Some(Pair { with: with.unwrap_or_default(), without, within: searched.count.within() })
    }

    /// The same over a declared range, where there may be no row with a value by what was drawn: with the noise of the two sides, or of
    /// the number that was bought. It is drawn by what is told already, and where it is not, nobody misses it.
    fn declared_pair<C: Coins>(
        &self,
        sums: &Sums,
        with: i64,
        gathered: &dyn RowFacts,
        coins: &mut C,
    ) -> Option<Pair> {
        let within = match &self.divisor {
            Divisor::TwoSides => sums.rows_surely_within(),
            Divisor::Bought { within, .. } => *within,
            Divisor::Public | Divisor::Stated(_) => return None,
        };
        if self.holding.is_none() || matches!(self.range, RangeBy::Searched(_)) || with > within {
            return None;
        }
        let rows = without_a_value(gathered, &self.need);
        let without = match &self.divisor {
            Divisor::TwoSides => sums.run_without(rows, coins),
            divisor => divisor.noisy(rows, coins),
        };
        Some(Pair { with, without, within })
    }

    fn pair_words(&self, pair: Option<&Pair>) -> Option<String> {
        let Pair { with, without, within } = pair?;
        Some(self.holding.as_ref()?.words(*with, *without, *within))
    }

    /// The bars of what was drawn, or a refusal; and the noisy number of rows.
    pub(in crate::task) fn read(&self, drawn: &Drawn) -> (Result<Measured, Answer>, NoisyRows) {
        let sums = self.sums(drawn.stage);
        let (rows, number) = self.number_of_rows(sums, drawn);
        if let Some(refused) = &drawn.refused {
            return (Err(refused.clone()), rows);
        }
        let (clip, frame, numbers) = (drawn.clip, self.frame(&drawn.clip), &drawn.numbers);
        // The whole numbers that exact sums were taken of may be no doubles.
        let bar = if self.exact.is_some() { Bar::of_whole } else { Bar::exact };
        let (centre, farthest) = (bar(frame.centre), bar(frame.farthest));
        let rounded = self.rounded(&frame, &clip, rows.most());
        // Beside what chance does to rows, noise fails less often.
        let (of_mean, of_rows) = match &self.population {
            Some(_) => (Fails::Most, Fails::Little),
            None => (Fails::All, Fails::All),
        };
        let share = |fails: Fails| sums.mean(numbers, number, rounded, fails);
        let measured = Measured {
            count: if of_rows == Fails::All { rows.bar } else { self.rows_bar(sums, drawn, of_rows) },
            share: share(if self.moment == Moment::Variance { Fails::All } else { of_mean }),
            variance: (sums.has_squares() && self.moment == Moment::Variance).then(|| {
                // The squares of rows are rounded too, and the mean counts for at most twice.
                sums.variance(numbers, number, share(Fails::Little), 3.0 * rounded)
            }),
            noisy: numbers[0],
            sum: if self.has_two_sides() {
                sums.sum(numbers, [centre, farthest], rounded)
            } else {
                let within = sums.within as f64 + rounded * self.steps as f64;
                Bar::around(numbers[0], 0).widened(within).over(Bar::exact(self.steps as f64)).times(farthest)
            },
            centre,
            farthest,
            clip,
            outside: drawn.outside,
            doubt: drawn.doubt.clone(),
            ends: [bar(clip.low).low, bar(clip.high).high],
        };
        (Ok(measured), rows)
    }

    /// By how much rounding moves the sum of all rows' shares at most.
    fn rounded(&self, frame: &Frame, clip: &Clip, rows: f64) -> f64 {
        if self.exact.is_some() {
            0.0
        } else {
            rows * self.rounding(frame, clip, self.steps) / self.steps as f64
        }
    }

    /// The answer that was drawn.
    pub(in crate::task) fn told(&self, drawn: &Drawn) -> Answer {
        let (measured, rows) = self.read(drawn);
        let answer = match measured {
            Ok(measured) if self.moment == Moment::Sum => self.released_sum(&measured),
            Ok(measured) => {
                let bar = match self.moment {
                    Moment::Variance if self.is_root() => measured.variance().sqrt(),
                    Moment::Variance => measured.variance(),
                    _ => measured.mean(),
                };
                self.released(bar, &measured)
            }
            Err(refused) => refused,
        };
        // Too little is spent on it in a sum alone for the number to be of use, and beside a shared range it is that of all groups.
        let of_little_use =
            self.moment == Moment::Sum && !self.has_two_sides() && (self.is_declared_sum() || drawn.shared);
        answer.with_rows((self.divisor.is_noisy() && !of_little_use).then_some(rows.about))
    }

    /// What each row adds to the sum.
    fn first_steps(&self, clip: Clip, frame: Frame) -> Steps {
        match self.exact {
            Some(exact) => exact.steps(false),
            None => Steps::Shares { clip, frame, most: self.steps },
        }
    }

    /// What each row adds to the sum of squares.
    fn second_steps(&self, clip: Clip, frame: Frame) -> Steps {
        match self.exact {
            Some(exact) => exact.steps(true),
            None => Steps::Squares { clip, frame, most: self.square_steps },
        }
    }

    /// What will be asked of each group, once the range that all share is known.
    pub(super) fn group_asks(&self, shared: Option<&SharedRange>) -> Vec<Ask> {
        let (clip, stage) = match (&self.range, shared) {
            (RangeBy::Declared(clip, _), _) => (*clip, None),
            (RangeBy::Searched(_), Some(shared)) => (shared.clip, Some(shared.stage)),
            (RangeBy::Searched(searched), None) => {
                return vec![Ask::Cells(self.need.clone(), 0, searched.cells())];
            }
        };
        let frame = self.frame(&clip);
        let squares = self.sums(stage).has_squares().then(|| self.second_steps(clip, frame));
        let sums = [self.first_steps(clip, frame)].into_iter().chain(squares);
        let sums = sums.map(|steps| Ask::Sums(self.need.clone(), steps));
        [Nulls::LeftOut, Nulls::Counted]
            .map(|nulls| Ask::Count(self.need.clone(), nulls))
            .into_iter()
            .chain(sums)
            .collect()
    }

    /// The sums over a declared range, or by the split that a search ended in.
    fn sums(&self, stage: Option<usize>) -> &Sums {
        match &self.range {
            RangeBy::Declared(_, sums) => sums,
            RangeBy::Searched(searched) => &searched.stages[stage.unwrap_or_default()].sums,
        }
    }

    pub(super) fn has_two_sides(&self) -> bool {
        matches!(self.divisor, Divisor::TwoSides)
    }

    /// How many rows there seem to be, and by which number sums are divided: of a noisy one, what noise does to it is part of what it does to
    /// the mean.
    fn number_of_rows(&self, sums: &Sums, drawn: &Drawn) -> (NoisyRows, Bar) {
        if !self.has_two_sides() {
            let within = self.divisor.within();
            let rows = NoisyRows { about: drawn.rows, within, bar: Bar::around(drawn.rows, within) };
            return (rows, Bar::around(drawn.rows.max(1), 0));
        }
        let bar = self.rows_bar(sums, drawn, Fails::All);
        (NoisyRows { about: drawn.rows, within: self.rows_within(sums), bar }, sums.rows(&drawn.numbers))
    }

    /// How many rows there are, with the bar that fails so often.
    fn rows_bar(&self, sums: &Sums, drawn: &Drawn, fails: Fails) -> Bar {
        if !self.has_two_sides() {
            return Bar::around(drawn.rows, self.divisor.within());
        }
        sums.rows(&drawn.numbers).widened(sums.within_of([1.0, 0.0, 0.0], fails))
    }

    /// By how much noise moves the number of rows at most.
    #[expect(clippy::cast_possible_truncation, reason = "far below 2^63, or the end of what is counted")]
    fn rows_within(&self, sums: &Sums) -> i64 {
        debug_assert!(self.has_two_sides());
        sums.within_of([1.0, 0.0, 0.0], Fails::All).ceil() as i64 + 1
    }

    /// By how much the steps of a row, or of its square, are rounded at most.
    pub(super) fn rounding(&self, frame: &Frame, clip: &Clip, steps: i64) -> f64 {
        // A row of a whole type is rounded to a double before.
        let ends = if self.kind.is_whole() { clip.low.abs().max(clip.high.abs()) } else { 0.0 };
        0.5 + steps as f64 * FLOATING * (1.0 + ends / frame.farthest)
    }
}
