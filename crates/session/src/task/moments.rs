//! Sums, means and variances: exact sums of clipped rows with noise, over a range that was declared or paid for.
//!
//! Each row becomes one whole number of steps between public ends; how floats round on the way does not matter,
//! because one row gives one such number. Where a column has a whole type and a declared range, the steps are its own
//! units, and nothing is rounded. Under replace the add/remove form runs at half of epsilon: a replaced
//! row is one that goes and one that comes. The noise of the sums is `laplace`, or `gaussian` where there is a delta, which
//! goes to the sums alone.

use super::{
    Expected,
    clip::{Clip, FINE, Search},
    count::{whole_noise, within},
    exact::Exact,
    guard,
    noise::{LAWS, Noise},
};
use crate::{
    answer::{Answer, ErrorBar},
    gather::{Gathered, Need},
    plan::{PlanError, Said},
    rows::values::Values as Rows,
    source::Kind,
    space,
};
use equipoise_core::{
    coins::Coins,
    loss::{Delta, Eps, Loss},
    mechanism::laplace,
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
    kind: Kind,
    moment: Moment,
    /// Steps from the centre to the farthest row, and to the farthest square.
    steps: i64,
    square_steps: i64,
    /// Where steps are units of the column, so that sums are exact.
    exact: Option<Exact>,
    cost: Loss,
    range: RangeBy,
    rows: laplace::Calibrated,
    rows_within: i64,
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
    pub fn plan(said: &Said) -> Result<Self, PlanError> {
        Self::with_steps(said, STEPS)
    }

    /// The same with so many steps from the middle of the range to its end; few can be enumerated.
    pub fn with_steps(said: &Said, steps: i64) -> Result<Self, PlanError> {
        said.accepts(&LAWS, &[])?;
        let column = said.column()?;
        let need = said.numbers(column)?;
        let kind = said.kind(column).unwrap_or(Kind::Float);
        let moment = match said.statistic() {
            "sum" => Moment::Sum,
            "mean" => Moment::Mean,
            _ => Moment::Variance,
        };
        let single = said.in_single_steps()?;
        let share =
            |hundredths: u64| Eps::new(single.eps().ratio() * &Ratio::new(hundredths.cast_signed(), 100));
        // Each of the error bars' parts may fail with an equal share; in a sum nearly all of it is that of the sum.
        let failure = said.failure() / &Ratio::from(if moment == Moment::Variance { 3u64 } else { 2 });
        let (rows_failure, failure) = match moment {
            Moment::Sum => (said.failure() / &Ratio::from(100u64), said.failure() * &Ratio::new(99, 100)),
            Moment::Mean | Moment::Variance => (failure.clone(), failure),
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
        let (range, rows_share, sums_share) = if let Some(text) = said_range {
            let clip = if let Some(exact) = exact {
                exact.clip(kind)
            } else {
                let (low, high) = space::float_ends(text)?;
                Clip { low, high, middle: low / 2.0 + high / 2.0 }
            };
            let [rows, sums] = if moment == Moment::Sum { DECLARED_SUM } else { DECLARED };
            (RangeBy::Declared(clip), rows, sums)
        } else {
            let search = Search::new(&share(SEARCHED[0])?, &share(SEARCHED[1])?, said.failure(), FINE)?;
            (RangeBy::Searched(Box::new(search)), SEARCHED[2], SEARCHED[3])
        };
        let rows = whole_noise(&share(rows_share)?)?;
        let sums = share(sums_share)?;
        // The sum of squares is what a variance is mostly made of.
        let (first_share, second_share) = match moment {
            Moment::Variance => (Ratio::new(1, 3), Some(Ratio::new(2, 3))),
            Moment::Sum | Moment::Mean => (Ratio::one(), None),
        };
        let noise = |share: &Ratio, steps: i64| {
            let (eps, delta) = (Eps::new(sums.ratio() * share)?, Delta::new(single.delta().ratio() * share)?);
            let noise = Noise::plan(said, &eps, &delta, steps)?;
            noise.within(&failure).map(|within| (noise, within))
        };
        let (first, first_within) = noise(&first_share, steps)?;
        let second = second_share.map(|share| noise(&share, square_steps)).transpose()?;
        let cost = match first {
            Noise::Laplace(_) => Loss::pure(said.eps()),
            Noise::Gaussian(_) => Loss::approx(said.eps(), said.delta()),
        };
        Self {
            need,
            kind,
            moment,
            steps,
            square_steps,
            exact,
            range,
            rows_within: within(&rows, &rows_failure)?,
            rows,
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
            (RangeBy::Searched(search), Some(rows)) if rows < needed(search) => {
                Err(PlanError::line(format!(
                    "{rows} rows are too few: a range is found from about {} rows on; raise epsilon, or declare --range",
                    needed(search)
                )))
            }
            _ => Ok(self),
        }
    }

    pub fn mechanism(&self) -> &'static str {
        self.first.law()
    }

    pub fn cost(&self) -> Loss {
        self.cost.clone()
    }

    /// What the parts cost under add/remove, added up.
    #[cfg(test)]
    pub fn spent(&self) -> Loss {
        let sums = self.rows.cost().compose(&self.first.cost());
        let sums = self.second.iter().fold(sums, |sum, (noise, _)| sum.compose(&noise.cost()));
        match &self.range {
            RangeBy::Declared(_) => sums,
            RangeBy::Searched(search) => sums.compose(&search.spent()),
        }
    }

    pub fn need(&self) -> Need {
        self.need.clone()
    }

    /// What the answer is, where it is no plain number: a sum stays what it sums.
    pub fn answer_type(&self) -> Option<String> {
        (self.moment == Moment::Sum && self.kind.is_whole()).then(|| self.sum_kind().to_string())
    }

    fn sum_kind(&self) -> Kind {
        if self.kind == Kind::Boolean { Kind::Integer } else { self.kind }
    }

    /// How far noise moves the answer where the range was declared, and for all but sums the number of rows too.
    pub fn predicted(&self) -> Option<f64> {
        let RangeBy::Declared(clip) = &self.range else { return None };
        let half = clip.high / 2.0 - clip.low / 2.0;
        if self.moment == Moment::Sum {
            return Some(self.noise_share() * clip.low.abs().max(clip.high.abs()));
        }
        // The noisy number of rows, by which sums are divided, may be that much smaller.
        let rows = self.stated_rows? as f64 - self.rows_within as f64;
        if rows < 1.0 {
            return None;
        }
        let parts = |within: i64, steps: i64| (within as f64 / steps as f64 + self.rows_within as f64) / rows;
        let mean = parts(self.first_within, self.steps);
        Some(match &self.second {
            None => mean * half,
            // A square is off by twice the mean, which is at most one, and the square of the error.
            Some((_, second)) => (parts(*second, self.square_steps) + mean * (2.0 + mean)) * half * half,
        })
    }

    /// What would have to be known for a prediction.
    pub fn no_prediction(&self) -> &'static str {
        match (&self.range, self.stated_rows) {
            (RangeBy::Searched(_), _) if self.moment == Moment::Sum => {
                "its range; declare --range, or give --epsilon"
            }
            (RangeBy::Searched(_), _) => {
                "its range and the number of rows; declare --range and --rows, or give --epsilon"
            }
            (RangeBy::Declared(_), None) => {
                "the number of rows; state --rows where it is public and there are no groups, or give --epsilon"
            }
            (RangeBy::Declared(_), Some(_)) => "a noisy number of rows, which may be 0 here; give --epsilon",
        }
    }

    pub fn expected(&self) -> Expected {
        let share = self.noise_share();
        let per_row = match self.moment {
            Moment::Sum => "",
            Moment::Mean | Moment::Variance => " over the number of rows",
        };
        let words = match &self.range {
            RangeBy::Declared(clip) => {
                let half = clip.high / 2.0 - clip.low / 2.0;
                let per_row = if self.predicted().is_some() { "" } else { per_row };
                let (error, refused) = match self.moment {
                    Moment::Sum => (share * clip.low.abs().max(clip.high.abs()), "never refused"),
                    Moment::Mean => (share * half, "refused when a noisy count of the rows is below 1"),
                    Moment::Variance => {
                        (share * half * half, "refused when a noisy count of the rows is below 1")
                    }
                };
                let error = self.predicted().unwrap_or(error);
                format!(
                    "off by at most {error:.6}{per_row}; rows beyond the range are moved into it; {refused}"
                )
            }
            RangeBy::Searched(search) => {
                let of = match self.moment {
                    Moment::Sum => "its farther end",
                    Moment::Mean => "its half",
                    Moment::Variance => "the square of its half",
                };
                format!(
                    "a range is searched privately and told with the answer; the noise is at most {share:.3} times \
                     {of}{per_row}; refused when a noisy count of the rows is below {}",
                    needed(search)
                )
            }
        };
        let error = self.predicted().map(|error| ErrorBar::noise(self.confidence, -error, error));
        Expected { error, words }
    }

    /// How far noise moves the answer, in parts of the farthest that a row can lie (squared for a variance), and of
    /// one over the number of rows except for a sum. A noisy number of rows moves a mean of at most one by one part.
    pub fn noise_share(&self) -> f64 {
        let parts = |within: i64, steps: i64| within as f64 / steps as f64;
        let (first, rows) = (parts(self.first_within, self.steps), self.rows_within as f64);
        match (self.moment, &self.second) {
            (Moment::Sum, _) => first,
            (_, None) => first + rows,
            (_, Some((_, second))) => parts(*second, self.square_steps) + rows + 2.0 * (first + rows),
        }
    }

    pub fn answer<C: Coins>(&self, gathered: &Gathered<'_>, coins: &mut C) -> Answer {
        let (measured, rows) = self.measure(gathered, coins);
        let answer = match measured {
            Ok(measured) if self.moment == Moment::Sum => self.released_sum(&measured),
            Ok(measured) => self.released(measured.bar(self.moment), &measured.clip),
            Err(refused) => refused,
        };
        // Too little is spent on it there for the number to be of use.
        answer.with_rows((!self.is_declared_sum()).then_some(rows))
    }

    /// A sum of rows in a declared range is never refused.
    fn is_declared_sum(&self) -> bool {
        self.moment == Moment::Sum && matches!(self.range, RangeBy::Declared(_))
    }

    /// Count, mean and standard deviation from one run of a variance; the noisy sums carry all three.
    pub fn summary<C: Coins>(&self, gathered: &Gathered<'_>, coins: &mut C) -> [(&'static str, Answer); 3] {
        let (measured, rows) = self.measure(gathered, coins);
        let count = Bar::around(rows as f64, self.rows_within as f64);
        let count = Answer::released(rows.into(), self.error_bar(count.at_least_zero(), None));
        let answer = |take: &dyn Fn(&Measured) -> Bar| match &measured {
            Ok(measured) => self.released(take(measured), &measured.clip),
            Err(refused) => refused.clone(),
        };
        let mean = answer(&|measured| measured.bar(Moment::Mean));
        let deviation = answer(&|measured| measured.bar(Moment::Variance).sqrt());
        [("count", count), ("mean", mean), ("standard-deviation", deviation)]
    }

    /// The noisy sums and the noisy number of rows, or a refusal.
    fn measure<C: Coins>(&self, gathered: &Gathered<'_>, coins: &mut C) -> (Result<Measured, Answer>, i64) {
        // Records that are not numbers do not take part.
        let numbers = gathered.values(&self.need);
        let count = i64::try_from(numbers.count(false)).unwrap_or(i64::MAX);
        let rows = self.rows.run_whole(count, coins);
        let (clip, needed) = match &self.range {
            RangeBy::Declared(clip) => (*clip, 1),
            RangeBy::Searched(search) => {
                (search.run(numbers, rows, coins), i64::try_from(needed(search)).unwrap_or(i64::MAX))
            }
        };
        let centre = if self.moment == Moment::Sum { 0.0 } else { clip.middle };
        let farthest = match self.exact {
            Some(exact) => self.kind.number(exact.farthest()),
            None => (clip.high - centre).abs().max((centre - clip.low).abs()).max(f64::MIN_POSITIVE),
        };
        // Bars stay in shares of the farthest until the end: sums of large floats would overflow.
        let most_rows = rows.saturating_add(self.rows_within).max(0) as f64;
        let shares = |noisy: i64, within: i64, steps: i64, rounded: bool| {
            // Where rows are rounded, each is by up to half a step.
            let rounding = if rounded { most_rows / 2.0 } else { 0.0 };
            Bar::around(noisy as f64, within as f64 + rounding).times((steps as f64).recip())
        };
        let first = match self.exact {
            Some(exact) => exact.sum(numbers, false),
            None => sum(numbers, &clip, self.steps, |row| (row - centre) / farthest),
        };
        let noisy = self.first.run(first, coins);
        let first = shares(noisy, self.first_within, self.steps, self.exact.is_none());
        let second = self.second.as_ref().map(|(noise, within)| {
            let whole = self.exact.filter(|exact| exact.farthest().checked_pow(2) == Some(self.square_steps));
            let squares = match whole {
                Some(exact) => exact.sum(numbers, true),
                None => sum(numbers, &clip, self.square_steps, |row| ((row - centre) / farthest).powi(2)),
            };
            shares(noise.run(squares, coins), *within, self.square_steps, whole.is_none())
        });
        if rows < needed && !self.is_declared_sum() {
            return (Err(Answer::refused(self.too_few(needed))), rows);
        }
        let count = Bar::around(rows as f64, self.rows_within as f64);
        (Ok(Measured { count, noisy, first, second, centre, farthest, clip }), rows)
    }

    /// What to do where the noisy number of rows is below what is needed.
    fn too_few(&self, needed: i64) -> String {
        match &self.range {
            RangeBy::Declared(_) => {
                "too few rows: a noisy count of them found none; raise epsilon, or bring more rows"
                    .to_string()
            }
            RangeBy::Searched(_) => format!(
                "too few rows: a range is found from about {needed} rows on; raise epsilon, or declare --range"
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
            Some(error) => Answer::released(value, ErrorBar { low: Some(low), high: Some(high), ..error }),
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
        let range = (self.kind != Kind::Boolean).then_some([clip.low, clip.high]);
        Answer::number(bar.value, self.error_bar(bar, range))
    }

    fn error_bar(&self, bar: Bar, range: Option<[f64; 2]>) -> ErrorBar {
        ErrorBar { range, ..ErrorBar::noise(self.confidence, bar.low, bar.high) }
    }
}

/// A declared range of a whole type, where steps of its own are few enough.
fn whole_range(kind: Kind, text: &str, moment: Moment, most: i64) -> Result<Option<Exact>, PlanError> {
    match space::whole_ends(kind, text)? {
        (low, high) if low < high => Ok(Exact::new(low, high, moment == Moment::Sum, most)),
        _ => Err(PlanError::line(
            "the range holds one value of the column's type; give LO,HI with LO below HI",
        )),
    }
}

/// The exact sum of whole steps, one number of at most `most` for each row.
fn sum(numbers: Rows<'_, '_>, clip: &Clip, most: i64, share: impl Fn(f64) -> f64) -> i64 {
    let most = most as f64;
    let steps = |&row: &f64| {
        let share = share(row.clamp(clip.low, clip.high));
        #[expect(clippy::cast_possible_truncation, reason = "clamped; not a number becomes zero")]
        let steps = (share * most).round().clamp(-most, most) as i64;
        i128::from(steps)
    };
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
    centre: f64,
    farthest: f64,
    clip: Clip,
}

impl Measured {
    fn bar(&self, moment: Moment) -> Bar {
        let &Self { count, first, second, centre, farthest, .. } = self;
        match (moment, second) {
            (Moment::Sum, _) => first.times(farthest),
            (Moment::Mean, _) => first.over(count).times(farthest).plus(centre),
            (Moment::Variance, Some(second)) => {
                second.over(count).minus_square(first.over(count)).times(farthest).times(farthest)
            }
            (Moment::Variance, None) => unreachable!("a variance has a second sum"),
        }
    }
}

/// From how many rows on the quartiles of a search lie among the rows.
fn needed(search: &Search) -> u64 {
    guard::needed(search.ranks(), &Ratio::new(1, 4))
}

/// A number and where the true one lies.
#[derive(Clone, Copy, Debug)]
struct Bar {
    value: f64,
    low: f64,
    high: f64,
}

impl Bar {
    fn around(value: f64, within: f64) -> Self {
        Self { value, low: value - within, high: value + within }
    }

    fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, low: self.low * factor, high: self.high * factor }
    }

    fn at_least_zero(self) -> Self {
        Self { low: self.low.max(0.0), high: self.high.max(0.0), ..self }
    }

    fn between(self, low: f64, high: f64) -> Self {
        let moved = |value: f64| value.clamp(low, high);
        Self { value: moved(self.value), low: moved(self.low), high: moved(self.high) }
    }

    /// The root of what is not negative.
    fn sqrt(self) -> Self {
        let root = |value: f64| value.max(0.0).sqrt();
        Self { value: root(self.value), low: root(self.low), high: root(self.high) }
    }

    fn plus(self, more: f64) -> Self {
        Self { value: self.value + more, low: self.low + more, high: self.high + more }
    }

    /// The quotient by a count, which is at least one.
    fn over(self, count: Self) -> Self {
        let (few, many) = (count.low.max(1.0), count.high.max(1.0));
        let ends = [self.low / few, self.low / many, self.high / few, self.high / many];
        Self {
            value: self.value / count.value.max(1.0),
            low: ends.iter().copied().fold(f64::INFINITY, f64::min),
            high: ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The difference to a square, which is not negative.
    fn minus_square(self, other: Self) -> Self {
        let squares = [other.low * other.low, other.high * other.high];
        let least = if other.low <= 0.0 && other.high >= 0.0 { 0.0 } else { squares[0].min(squares[1]) };
        Self {
            value: (self.value - other.value * other.value).max(0.0),
            low: (self.low - squares[0].max(squares[1])).max(0.0),
            high: (self.high - least).max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gather::tests::{FixedWords, Memory, all_rows},
        plan::DataFacts,
        request::Request,
    };

    fn moments(statistic: &str, range: Option<&str>, eps: &str) -> Moments {
        let facts = DataFacts {
            name: "people".into(),
            columns: vec!["salary".into()],
            registered: None,
            kinds: Vec::new(),
        };
        let request = Request {
            column: Some("salary".into()),
            epsilon: Some(eps.into()),
            range: range.map(str::to_string),
            ..Request::new(statistic)
        };
        Moments::plan(&Said::new(&request, &facts).unwrap()).unwrap()
    }

    fn ask(task: &Moments, rows: &[f64], coins: &mut FixedWords) -> Answer {
        let memory = Memory::new(rows.to_vec(), &["a"]);
        task.answer(&all_rows(&memory, &[task.need()], 1), coins)
    }

    /// An infinite answer is null in JSON and then reads as "there are no rows"; an infinite square minus another was
    /// told as a variance of zero, surely.
    #[test]
    fn an_answer_beyond_floats_is_refused_and_never_null_or_zero() {
        let mut coins = FixedWords(7);
        let far: Vec<f64> = (0..2000).map(|i| if i % 2 == 0 { 1.0e308 } else { -1.7e308 }).collect();
        for (statistic, range) in
            [("sum", None), ("mean", None), ("variance", None), ("variance", Some("-1e200,3e200"))]
        {
            let answer = ask(&moments(statistic, range, "5"), &far, &mut coins);
            let Some(value) = answer.value else { continue };
            let value = value.as_f64().unwrap_or_else(|| panic!("{statistic}: not a number"));
            let error = answer.error.expect("a bar");
            let [low, high] = [error.low, error.high].map(|end| end.unwrap().as_f64().unwrap());
            assert!(statistic == "mean" || statistic == "sum", "{statistic}: {value}");
            assert!(
                low.is_finite() && high.is_finite() && low <= value && value <= high,
                "{statistic} {value}"
            );
        }
        // A mean of huge numbers is a number, though their sum is none.
        let answer = ask(&moments("mean", Some("-1.7e308,1.7e308"), "5"), &far, &mut coins);
        assert!(answer.value.and_then(|value| value.as_f64()).is_some_and(|mean| mean < -1e307));
    }

    #[test]
    fn a_declared_range_is_not_advised_to_be_declared() {
        let task = moments("mean", Some("0,1"), "1");
        assert!(!task.expected().words.contains("never refused"), "{}", task.expected().words);
        assert!(!task.too_few(1).contains("--range"));
    }
}
