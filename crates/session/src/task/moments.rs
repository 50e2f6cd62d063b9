//! Sums, means, variances and standard deviations: exact sums of clipped rows with noise, over a range that was declared or paid for.
//!
//! Each row becomes one whole number of steps between public ends; how floats round on the way does not matter,
//! because one row gives one such number. Where a column has a whole type and a declared range, the steps are its own
//! units, and nothing is rounded. The noise of the sums is `laplace`, or `gaussian` where there is a delta, which
//! goes to the sums alone.
//!
//! Under replace a row that has a value takes the place of another, or of one that has none and counts nothing: the sum of
//! distances from the centre moves by the whole range, that of squares by the largest square, the number of values by one. A
//! range is then searched by the add/remove form at half of its share: a replaced row is one that goes and one that comes.

use super::{
    Answering, Expected,
    bar::Bar,
    clip::{Clip, FINE, Search},
    count::counted_bar,
    divisor::{Divisor, Known},
    exact::Exact,
    guard,
    noise::Noise,
};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar},
    error::PlanError,
    gather::ScanResult,
    lattice,
    need::Need,
    resolved::ResolvedRequest,
    rows::values::Values as Rows,
    source::Kind,
    statistic::Argument,
    statistic::Statistic,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Delta, Eps, Loss},
    ratio::Ratio,
};

/// One row moves a sum by at most this many steps.
const STEPS: i64 = 1 << 30;
/// Hundredths of epsilon where the range is searched: two quartiles, two ends, the number of rows, the sums.
const SEARCHED: [u64; 4] = [15, 9, 5, 47];
/// The same where it was declared: the number of rows, the sums.
const DECLARED: [u64; 2] = [15, 85];
/// The same for a sum, which needs the number of rows for nothing but how far rounding may add up.
const DECLARED_SUM: [u64; 2] = [1, 99];
/// The same where the number of rows is public or was stated.
const KNOWN: [u64; 2] = [0, 100];
/// What doubles lose on the way from a row to its steps, in parts of the farthest row or of the farthest end.
const FLOATING: f64 = 1.0 / (1u64 << 49) as f64;

/// Which moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Sum,
    Mean,
    Variance,
}

impl Moment {
    fn statistic(self) -> Statistic {
        match self {
            Self::Sum => Statistic::Sum,
            Self::Mean => Statistic::Mean,
            Self::Variance => Statistic::Variance,
        }
    }
}

/// A sum, mean or variance of one column.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    need: Need,
    kind: Kind,
    moment: Moment,
    /// Whether the root of the variance is released, which costs nothing more.
    root: bool,
    /// Steps from the centre to the farthest row, and to the farthest square.
    steps: i64,
    square_steps: i64,
    /// Where steps are units of the column, so that sums are exact.
    exact: Option<Exact>,
    cost: Loss,
    range: RangeBy,
    divisor: Divisor,
    /// Noise for the sum of rows, and of their squares where a variance is due.
    first: Noise,
    first_within: i64,
    second: Option<(Noise, i64)>,
    confidence: f64,
    /// How many rows there are, where that was stated.
    stated_rows: Option<u64>,
}

#[derive(Clone, Debug)]
enum RangeBy {
    Declared(Clip),
    Searched(Box<Search>),
}

impl Moments {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        Self::with_steps(said, STEPS)
    }

    /// The same with so many steps from the middle of the range to its end; few can be enumerated.
    pub fn with_steps(said: &ResolvedRequest, steps: i64) -> Result<Self, PlanError> {
        let column = said.column()?;
        let need = said.numbers(column)?;
        let kind = said.kind(column).unwrap_or(Kind::Float);
        let moment = match said.statistic() {
            Statistic::Sum => Moment::Sum,
            Statistic::Mean => Moment::Mean,
            _ => Moment::Variance,
        };
        // A yes or no has public ends.
        let said_range = said.range().or((kind == Kind::Boolean).then_some("0,1"));
        let exact = match said_range {
            Some(text) if kind.is_whole() => whole_range(kind, text, moment, steps)?,
            _ => None,
        };
        let (steps, square_steps) = exact.map_or((steps, steps), |exact| {
            let far = exact.farthest();
            (far, far.checked_mul(far).filter(|&squared| squared <= steps).unwrap_or(steps))
        });
        let share =
            |eps: &Eps, hundredths: u64| Eps::new(eps.ratio() * &Ratio::new(hundredths.cast_signed(), 100));
        let (range, known, [rows_share, sums_share]) = if let Some(text) = said_range {
            let clip = if let Some(exact) = exact {
                exact.clip(kind)
            } else {
                let (low, high) = lattice::float_ends(text)?;
                Clip { low, high, middle: low / 2.0 + high / 2.0 }
            };
            let known = Known::plan(said)?;
            let shares = match (known, moment) {
                (Known::Public | Known::Stated(_), _) => KNOWN,
                (Known::No, Moment::Sum) => DECLARED_SUM,
                (Known::No, Moment::Mean | Moment::Variance) => DECLARED,
            };
            (RangeBy::Declared(clip), known, shares)
        } else {
            let single = said.in_single_steps()?;
            let [quartile, end] = [SEARCHED[0], SEARCHED[1]].map(|part| share(single.eps(), part));
            let search = Search::new(&quartile?, &end?, said.failure(), FINE)?;
            (RangeBy::Searched(Box::new(search)), Known::No, [SEARCHED[2], SEARCHED[3]])
        };
        let (rows_failure, failure) = failures(said.failure(), moment, known);
        let divisor = match known {
            Known::Public => Divisor::Public,
            Known::Stated(rows) => Divisor::Stated(rows),
            Known::No => Divisor::bought(&share(said.eps(), rows_share)?, &rows_failure)?,
        };
        let sums = share(said.eps(), sums_share)?;
        // The sum of squares is what a variance is mostly made of.
        let (first_share, second_share) = match moment {
            Moment::Variance => (Ratio::new(1, 3), Some(Ratio::new(2, 3))),
            Moment::Sum | Moment::Mean => (Ratio::one(), None),
        };
        let noise = |share: &Ratio, moved: i64| {
            let (eps, delta) = (Eps::new(sums.ratio() * share)?, Delta::new(said.delta().ratio() * share)?);
            let noise = Noise::plan(said, &eps, &delta, moved)?;
            noise.within(&failure).map(|within| (noise, within))
        };
        let moved = match (said.adjacency(), &range, exact) {
            (Adjacency::AddRemove, ..) => steps,
            (Adjacency::Replace, RangeBy::Searched(_), _) => 2 * steps,
            (Adjacency::Replace, RangeBy::Declared(_), Some(exact)) => exact.span(),
            (Adjacency::Replace, RangeBy::Declared(clip), None) => Frame::new(moment, clip).span(clip, steps),
        };
        let (first, first_within) = noise(&first_share, moved)?;
        let second = second_share.map(|share| noise(&share, square_steps)).transpose()?;
        let cost = match first {
            Noise::Laplace(_) => Loss::pure(said.eps()),
            Noise::Gaussian(_) => Loss::approx(said.eps(), said.delta()),
        };
        Self {
            need,
            kind,
            moment,
            root: said.statistic() == Statistic::Std,
            steps,
            square_steps,
            exact,
            range,
            divisor,
            first_within,
            first,
            second,
            confidence: said.confidence(),
            cost,
            stated_rows: said.rows()?,
        }
        .with_rows_enough()
    }

    /// Too few stated rows need no data to be refused.
    fn with_rows_enough(self) -> Result<Self, PlanError> {
        match (&self.range, self.stated_rows) {
            (_, Some(0)) => Err(PlanError::about(Argument::Rows, "no rows have no mean")
                .hint("state `rows` as a whole number above 0")),
            (RangeBy::Searched(search), Some(rows)) if rows < needed(search) => Err(PlanError::about(
                Argument::Range,
                format!("{rows} rows are too few: a range is found from about {} rows on", needed(search)),
            )
            .hint("raise epsilon, or declare `range`")),
            _ => Ok(self),
        }
    }

    /// What the parts cost under the adjacency that was asked for, added up.
    #[cfg(test)]
    pub fn spent(&self, adjacency: Adjacency) -> Loss {
        let search = match (&self.range, adjacency) {
            (RangeBy::Declared(_), _) => None,
            (RangeBy::Searched(search), Adjacency::AddRemove) => Some(search.spent()),
            (RangeBy::Searched(search), Adjacency::Replace) => Some(search.spent().compose(&search.spent())),
        };
        let second = self.second.as_ref().map(|(noise, _)| noise.cost());
        let parts = [self.divisor.cost(), second, search];
        parts.into_iter().flatten().fold(self.first.cost(), |sum, part| sum.compose(&part))
    }

    pub fn need(&self) -> Need {
        self.need.clone()
    }

    fn sum_kind(&self) -> Kind {
        if self.kind == Kind::Boolean { Kind::Integer } else { self.kind }
    }

    /// The number of rows that the predicted error takes for granted.
    fn condition(&self) -> Option<u64> {
        self.stated_rows.filter(|_| self.moment != Moment::Sum && self.predicted().is_some())
    }

    /// A sum of rows in a declared range is never refused.
    fn is_declared_sum(&self) -> bool {
        self.moment == Moment::Sum && matches!(self.range, RangeBy::Declared(_))
    }

    /// Count, mean and standard deviation from one run of a variance; the noisy sums carry all three.
    pub fn summary<C: Coins>(&self, gathered: &ScanResult<'_>, coins: &mut C) -> [(&'static str, Answer); 3] {
        let (measured, rows) = self.measure(gathered, coins);
        let count = counted_bar(self.confidence, rows, self.divisor.within());
        let count = Answer::released(rows.into(), count);
        let answer = |take: &dyn Fn(&Measured) -> Bar| match &measured {
            Ok(measured) => self.released(take(measured), &measured.clip),
            Err(refused) => refused.clone(),
        };
        let mean = answer(&|measured| measured.bar(Moment::Mean));
        let deviation = answer(&|measured| measured.bar(Moment::Variance).sqrt());
        [("count", count), ("mean", mean), ("standard-deviation", deviation)]
    }

    /// The noisy sums and the noisy number of rows, or a refusal.
    fn measure<C: Coins>(&self, gathered: &ScanResult<'_>, coins: &mut C) -> (Result<Measured, Answer>, i64) {
        // Records that are not numbers do not take part.
        let numbers = gathered.values(&self.need);
        let rows = self.divisor.count(numbers, coins);
        let (clip, needed) = match &self.range {
            RangeBy::Declared(clip) => (*clip, 1),
            RangeBy::Searched(search) => {
                (search.run(numbers, rows, coins), i64::try_from(needed(search)).unwrap_or(i64::MAX))
            }
        };
        let frame = self.frame(&clip);
        // Bars stay in shares of the farthest until the end: sums of large floats would overflow.
        let most_rows = rows.saturating_add(self.divisor.within()).max(0) as f64;
        let shares = |noisy: i64, within: i64, steps: i64, rounded: bool| {
            let bar = Bar::around(noisy, within);
            let bar =
                if rounded { bar.widened(most_rows * self.rounding(&frame, &clip, steps)) } else { bar };
            bar.over(Bar::exact(steps as f64))
        };
        let first = match self.exact {
            Some(exact) => exact.sum(numbers, false),
            None => sum(numbers, &clip, |row| frame.place(row, self.steps)),
        };
        let noisy = self.first.run(first, coins);
        let first = shares(noisy, self.first_within, self.steps, self.exact.is_none());
        let second = self.second.as_ref().map(|(noise, within)| {
            let whole = self.exact.filter(|exact| exact.farthest().checked_pow(2) == Some(self.square_steps));
            let squares = match whole {
                Some(exact) => exact.sum(numbers, true),
                None => sum(numbers, &clip, |row| steps_of(frame.share(row).powi(2), self.square_steps)),
            };
            shares(noise.run(squares, coins), *within, self.square_steps, whole.is_none())
        });
        if rows < needed && !self.is_declared_sum() {
            return (Err(Answer::refused(self.too_few(needed))), rows);
        }
        let count = Bar::around(rows, self.divisor.within());
        // The whole numbers that exact sums were taken of may be no doubles.
        let bar = if self.exact.is_some() { Bar::of_whole } else { Bar::exact };
        let (centre, farthest) = (bar(frame.centre), bar(frame.farthest));
        (Ok(Measured { count, noisy, first, second, centre, farthest, clip }), rows)
    }

    fn frame(&self, clip: &Clip) -> Frame {
        let frame = Frame::new(self.moment, clip);
        match self.exact {
            // Doubles may hold neither the ends nor their distance.
            Some(exact) => Frame { farthest: self.kind.number(exact.farthest()), ..frame },
            None => frame,
        }
    }

    /// By how much the steps of a row, or of its square, are rounded at most.
    fn rounding(&self, frame: &Frame, clip: &Clip, steps: i64) -> f64 {
        // A row of a whole type is rounded to a double before.
        let ends = if self.kind.is_whole() { clip.low.abs().max(clip.high.abs()) } else { 0.0 };
        0.5 + steps as f64 * FLOATING * (1.0 + ends / frame.farthest)
    }

    /// What to do where the noisy number of rows is below what is needed.
    fn too_few(&self, needed: i64) -> String {
        match &self.range {
            RangeBy::Declared(_) if !self.divisor.is_bought() => "there are no rows".to_string(),
            RangeBy::Declared(_) => {
                "too few rows: a noisy count of them found none; raise epsilon, or bring more rows"
                    .to_string()
            }
            RangeBy::Searched(_) => format!(
                "too few rows: a range is found from about {needed} rows on; raise epsilon, or declare `range`"
            ),
        }
    }

    /// A sum of a whole type is a value of that type: where sums are exact, all of its digits are.
    fn released_sum(&self, measured: &Measured) -> Answer {
        let (bar, clip) = (measured.bar(Moment::Sum), &measured.clip);
        let kind = self.sum_kind();
        if !kind.is_whole() {
            return self.released(bar, clip);
        }
        let answer = self.released(bar, clip);
        let [low, value, high] = if self.exact.is_some() {
            let at = |moved: i64| kind.value(measured.noisy.saturating_add(moved));
            [at(-self.first_within), at(0), at(self.first_within)]
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

    fn released(&self, bar: Bar, clip: &Clip) -> Answer {
        // A share of yes lies between none and all.
        let bar = if self.kind == Kind::Boolean && self.moment == Moment::Mean {
            bar.between(0.0, 1.0)
        } else {
            bar
        };
        // Nothing lies beyond a yes or no.
        let limited = (self.kind != Kind::Boolean).then_some(Condition::LimitedTo([clip.low, clip.high]));
        let divided = match self.divisor {
            _ if self.moment == Moment::Sum => None,
            Divisor::Bought { .. } => None,
            Divisor::Public => Some(Condition::EmptyAs(clip.middle)),
            Divisor::Stated(rows) => Some(Condition::StatedRows(rows)),
        };
        let error = ErrorBar::noise(self.confidence, bar.low, bar.high).on(limited).on(divided);
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
            (RangeBy::Declared(_), None) => {
                "the number of rows; state `rows` where it is public and there are no groups, or give `epsilon`"
            }
            (RangeBy::Declared(_), Some(_)) => "a noisy number of rows, which may be 0 here; give `epsilon`",
        }
    }

    /// How far noise moves the answer, in parts of the farthest that a row can lie (squared for a variance), and of
    /// one over the number of rows except for a sum. A noisy number of rows moves a mean of at most one by one part.
    fn noise_parts(&self) -> f64 {
        let parts = |within: i64, steps: i64| within as f64 / steps as f64;
        let (first, rows) = (parts(self.first_within, self.steps), self.divisor.within() as f64);
        match (self.moment, &self.second) {
            (Moment::Sum, _) => first,
            (_, None) => first + rows,
            (_, Some((_, second))) => parts(*second, self.square_steps) + rows + 2.0 * (first + rows),
        }
    }
}

impl Answering for Moments {
    fn mechanism(&self) -> &'static str {
        self.first.law()
    }

    fn cost(&self) -> Loss {
        self.cost.clone()
    }

    fn answer_type(&self) -> Option<String> {
        (self.moment == Moment::Sum && self.kind.is_whole()).then(|| self.sum_kind().to_string())
    }

    fn predicted(&self) -> Option<f64> {
        let RangeBy::Declared(clip) = &self.range else { return None };
        let farthest = self.frame(clip).farthest;
        if self.moment == Moment::Sum {
            return Some(self.noise_parts() * farthest);
        }
        // The noisy number of rows, by which sums are divided, may be that much smaller.
        let rows_within = self.divisor.within() as f64;
        let rows = self.stated_rows? as f64 - rows_within;
        if rows < 1.0 {
            return None;
        }
        let parts = |within: i64, steps: i64| (within as f64 / steps as f64 + rows_within) / rows;
        let mean = parts(self.first_within, self.steps);
        Some(match &self.second {
            None => mean * farthest,
            // A square is off by twice the mean, which is at most one, and the square of the error.
            Some((_, second)) => {
                let variance = (parts(*second, self.square_steps) + mean * (2.0 + mean)) * farthest.powi(2);
                // Two roots lie at most the root of the distance of their squares apart.
                if self.root { variance.sqrt() } else { variance }
            }
        })
    }

    fn no_prediction(&self) -> String {
        let statistic = if self.root { Statistic::Std } else { self.moment.statistic() };
        format!("the error of a {statistic} depends on {}", self.unknown())
    }

    fn expected(&self) -> Expected {
        let share = self.noise_parts();
        let per_row = match self.moment {
            Moment::Sum => "",
            Moment::Mean | Moment::Variance => " over the number of rows",
        };
        let words = match &self.range {
            RangeBy::Declared(clip) => {
                let farthest = self.frame(clip).farthest;
                let per_row = if self.predicted().is_some() { "" } else { per_row };
                let error = match self.moment {
                    Moment::Sum | Moment::Mean => share * farthest,
                    Moment::Variance => share * farthest.powi(2),
                };
                let error = self.predicted().unwrap_or(error);
                let refused = match (self.moment, &self.divisor) {
                    (Moment::Sum, _) | (_, Divisor::Stated(_)) => "never refused".to_string(),
                    (_, Divisor::Bought { .. }) => {
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
                let whose = if self.root && self.predicted().is_none() { "its square is " } else { "" };
                format!(
                    "{whose}off by at most {error:.6}{per_row}{given}; rows beyond the range are moved into it; {refused}"
                )
            }
            RangeBy::Searched(search) => {
                let of = match self.moment {
                    Moment::Sum => "its farther end",
                    Moment::Mean => "the distance from its centre to its farther end",
                    Moment::Variance => "the square of the distance from its centre to its farther end",
                };
                let noise = if self.root { "the noise of its square" } else { "the noise" };
                format!(
                    "a range is searched privately and told with the answer; {noise} is at most {share:.3} times \
                     {of}{per_row}; refused when a noisy count of the rows is below {}",
                    needed(search)
                )
            }
        };
        let stated = self.condition().map(Condition::StatedRows);
        let error = self.predicted().map(|error| ErrorBar::noise(self.confidence, -error, error).on(stated));
        Expected { error, words }
    }

    fn noise_share(&self) -> Option<f64> {
        Some(self.noise_parts())
    }

    fn answer<C: Coins>(&self, gathered: &ScanResult<'_>, coins: &mut C) -> Answer {
        let (measured, rows) = self.measure(gathered, coins);
        let answer = match measured {
            Ok(measured) if self.moment == Moment::Sum => self.released_sum(&measured),
            Ok(measured) => {
                let bar = measured.bar(self.moment);
                self.released(if self.root { bar.sqrt() } else { bar }, &measured.clip)
            }
            Err(refused) => refused,
        };
        // Too little is spent on it in a sum for the number to be of use.
        answer.with_rows((self.divisor.is_bought() && !self.is_declared_sum()).then_some(rows))
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need()]
    }
}

/// How often the number of rows and each of the sums may be farther off than a bar says. In a sum nearly all of it is that of
/// the sum.
fn failures(whole: &Ratio, moment: Moment, known: Known) -> (Ratio, Ratio) {
    let sums = if moment == Moment::Variance { 2u64 } else { 1 };
    match (known, moment) {
        (Known::Public | Known::Stated(_), _) => (Ratio::zero(), whole / &Ratio::from(sums)),
        (Known::No, Moment::Sum) => (whole / &Ratio::from(100u64), whole * &Ratio::new(99, 100)),
        (Known::No, Moment::Mean | Moment::Variance) => {
            let each = whole / &Ratio::from(sums + 1);
            (each.clone(), each)
        }
    }
}

/// A declared range of a whole type, where steps of its own are few enough.
fn whole_range(kind: Kind, text: &str, moment: Moment, most: i64) -> Result<Option<Exact>, PlanError> {
    match lattice::whole_ends(kind, text)? {
        (low, high) if low < high => Ok(Exact::new(low, high, moment == Moment::Sum, most)),
        _ => Err(PlanError::about(Argument::Range, "the range holds one value of the column's type")
            .hint("give LO,HI with LO below HI")),
    }
}

/// What rows are measured from, and the farthest that they lie from there.
struct Frame {
    centre: f64,
    farthest: f64,
}

impl Frame {
    fn new(moment: Moment, clip: &Clip) -> Self {
        let centre = if moment == Moment::Sum { 0.0 } else { clip.middle };
        let farthest = (clip.high - centre).abs().max((centre - clip.low).abs()).max(f64::MIN_POSITIVE);
        Self { centre, farthest }
    }

    fn share(&self, row: f64) -> f64 {
        (row - self.centre) / self.farthest
    }

    /// The steps of a row. Larger rows never have fewer.
    fn place(&self, row: f64, most: i64) -> i64 {
        steps_of(self.share(row), most)
    }

    /// How far a replaced row moves a sum of steps, where a row without a value counts nothing.
    fn span(&self, clip: &Clip, most: i64) -> i64 {
        // Ends so near that steps cannot tell them apart still get some noise.
        (self.place(clip.high, most).max(0) - self.place(clip.low, most).min(0)).max(1)
    }
}

/// The whole steps of a share between -1 and 1.
fn steps_of(share: f64, most: i64) -> i64 {
    let most = most as f64;
    #[expect(clippy::cast_possible_truncation, reason = "clamped; not a number becomes zero")]
    let steps = (share * most).round().clamp(-most, most) as i64;
    steps
}

/// The exact sum of whole steps, one number for each row that has a value.
fn sum(numbers: Rows<'_, '_>, clip: &Clip, steps: impl Fn(f64) -> i64) -> i64 {
    let steps = |&row: &f64| i128::from(steps(row.clamp(clip.low, clip.high)));
    let mut sum = 0;
    numbers.each_number(|some| sum += some.iter().filter(|row| !row.is_nan()).map(steps).sum::<i128>());
    i64::try_from(sum).unwrap_or(if sum > 0 { i64::MAX } else { i64::MIN })
}

/// Noisy sums, in shares of the farthest that a row can lie from the centre.
struct Measured {
    count: Bar,
    /// The noisy sum in steps.
    noisy: i64,
    first: Bar,
    second: Option<Bar>,
    centre: Bar,
    farthest: Bar,
    clip: Clip,
}

impl Measured {
    fn bar(&self, moment: Moment) -> Bar {
        let &Self { count, first, second, centre, farthest, .. } = self;
        match (moment, second) {
            (Moment::Sum, _) => first.times(farthest),
            (Moment::Mean, _) => first.over(count).times(farthest).plus(centre),
            (Moment::Variance, Some(second)) => {
                // Rounding a lower end of zero outwards would leave it below.
                let squares = second.over(count).minus_square(first.over(count));
                squares.times(farthest).times(farthest).at_least_zero()
            }
            (Moment::Variance, None) => unreachable!("a variance has a second sum"),
        }
    }
}

/// From how many rows on the quartiles of a search lie among the rows.
fn needed(search: &Search) -> u64 {
    guard::needed(search.ranks(), &Ratio::new(1, 4))
}

#[cfg(test)]
#[path = "moments_tests.rs"]
mod tests;
