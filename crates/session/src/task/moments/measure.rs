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
        measured::{Measured, NoisyRows, NoisySum},
        stages::{Searched, SharedRange},
        sums::Sums,
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
    /// The noisy sum in steps, or twice that where two sides have noise.
    sum: i64,
    /// The number of rows; of two sides twice the noisy number in steps.
    rows: i64,
    squares: Option<i64>,
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
        let (sum_of_rows, rows) = if self.has_two_sides() {
            sums.run_sides(first, gathered.count(&self.need, Nulls::LeftOut), self.steps, coins)
        } else {
            let rows = counted.unwrap_or_else(|| self.divisor.count(gathered, &self.need, coins));
            (sums.first.run(first, coins), rows)
        };
        let squares =
            sums.second.as_ref().map(|(noise, _)| noise.run(sum(&self.second_steps(clip, frame)), coins));
        let told = self.about(rows);
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
        Drawn { clip, outside, stage, sum: sum_of_rows, rows, squares, refused, doubt, shared }
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
            Divisor::TwoSides => self.told_within(sums),
            Divisor::Bought { within, .. } => *within,
            Divisor::Public | Divisor::Stated(_) => return None,
        };
        if self.holding.is_none() || matches!(self.range, RangeBy::Searched(_)) || with > within {
            return None;
        }
        let rows = without_a_value(gathered, &self.need);
        let without = match &self.divisor {
            Divisor::TwoSides => sums.run_without(rows, self.steps, coins),
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
        let (noisy, rows) = self.first(sums, drawn);
        if let Some(refused) = &drawn.refused {
            return (Err(refused.clone()), rows);
        }
        let (clip, frame) = (drawn.clip, self.frame(&drawn.clip));
        let second = sums.second.as_ref().zip(drawn.squares).map(|((_, within), squares)| {
            let rounded = (!self.squares_are_exact()).then_some((&frame, &clip));
            self.in_shares(Bar::around(squares, *within), self.square_steps, rows.most(), rounded)
        });
        let rounded = self.exact.is_none().then_some((&frame, &clip));
        let first = self.in_shares(noisy.bar(), self.steps, rows.most(), rounded);
        // The whole numbers that exact sums were taken of may be no doubles.
        let bar = if self.exact.is_some() { Bar::of_whole } else { Bar::exact };
        let (centre, farthest) = (bar(frame.centre), bar(frame.farthest));
        let measured = Measured {
            count: rows.bar,
            share: first.over(noisy.rows),
            noisy: noisy.value,
            first,
            second,
            sides: self.has_two_sides().then(|| self.sides(sums, drawn, rows.most(), &frame)),
            centre,
            farthest,
            clip,
            outside: drawn.outside,
            doubt: drawn.doubt.clone(),
            ends: [bar(clip.low).low, bar(clip.high).high],
        };
        (Ok(measured), rows)
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
        match self.exact.filter(|_| self.squares_are_exact()) {
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
        let squares = self.sums(stage).second.as_ref().map(|_| self.second_steps(clip, frame));
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

    /// Are squares counted in squares of the column's units?
    fn squares_are_exact(&self) -> bool {
        self.exact.is_some_and(|exact| exact.farthest().checked_pow(2) == Some(self.square_steps))
    }

    /// How many rows there seem to be.
    fn about(&self, rows: i64) -> i64 {
        if !self.has_two_sides() {
            return rows;
        }
        rows.saturating_add(self.steps).div_euclid(self.steps.saturating_mul(2))
    }

    /// The sum of rows with noise, and how many rows there seem to be.
    fn first(&self, sums: &Sums, drawn: &Drawn) -> (NoisySum, NoisyRows) {
        let about = self.about(drawn.rows);
        if !self.has_two_sides() {
            let within = self.divisor.within();
            let bar = Bar::around(about, within);
            let sum = NoisySum { value: drawn.sum, within: sums.within, multiple: 1.0, rows: bar };
            return (sum, NoisyRows { about, within, bar });
        }
        let twice_steps = 2.0 * self.steps as f64;
        // Noise of both sides by as much moves the number of rows by as much.
        let bar = Bar::around(drawn.rows, sums.within.saturating_mul(2)).divided(twice_steps);
        let within = self.told_within(sums);
        // The noisy number itself: what the noise does to it is part of what it does to the mean.
        let noisy = Bar::around(drawn.rows, 0).divided(twice_steps);
        let within_both = sums.within.saturating_mul(2);
        let sum = NoisySum { value: drawn.sum, within: within_both, multiple: 2.0, rows: noisy };
        (sum, NoisyRows { about, within, bar })
    }

    /// By how much noise on both sides moves the number of rows at most.
    pub(super) fn told_within(&self, sums: &Sums) -> i64 {
        sums.within / self.steps + 2
    }

    /// Both sides in rows, each as far off as its noise goes: any mixture of the two is off by no more, as often.
    fn sides(&self, sums: &Sums, drawn: &Drawn, most_rows: f64, frame: &Frame) -> [Bar; 2] {
        let rounding = most_rows * self.rounding(frame, &drawn.clip, self.steps);
        // Sums and differences of two whole numbers are both even or both odd, unless they were cut off at the ends of 64 bits.
        let side = |of: i128| {
            let side = (i128::from(drawn.rows) + of * i128::from(drawn.sum)).div_euclid(2);
            let side = i64::try_from(side).unwrap_or(if side > 0 { i64::MAX } else { i64::MIN });
            Bar::around(side, sums.within).widened(rounding).divided(2.0 * self.steps as f64)
        };
        [side(1), side(-1)]
    }

    /// A sum in shares of the farthest, where every row may have been rounded. Bars stay in shares until the end: sums of large
    /// floats would overflow.
    fn in_shares(&self, bar: Bar, steps: i64, most_rows: f64, rounded: Option<(&Frame, &Clip)>) -> Bar {
        let bar = match rounded {
            Some((frame, clip)) => bar.widened(most_rows * self.rounding(frame, clip, steps)),
            None => bar,
        };
        bar.over(Bar::exact(steps as f64))
    }

    /// By how much the steps of a row, or of its square, are rounded at most.
    pub(super) fn rounding(&self, frame: &Frame, clip: &Clip, steps: i64) -> f64 {
        // A row of a whole type is rounded to a double before.
        let ends = if self.kind.is_whole() { clip.low.abs().max(clip.high.abs()) } else { 0.0 };
        0.5 + steps as f64 * FLOATING * (1.0 + ends / frame.farthest)
    }
}
