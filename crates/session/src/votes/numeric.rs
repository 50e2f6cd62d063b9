//! Aggregators of numbers and vectors, chosen and calibrated from public facts.

use super::{
    choose::{Chooser, Kind},
    output::Vote,
};
use crate::{error::PlanError, lattice::float_ends, statistic::Argument};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss, ParameterError, rho_for},
    mechanism::inverse_sensitivity::{self, InverseSensitivity},
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::{Median, Range, digits::Digits, lattice::Grid},
    subsample::{
        ball::Ball,
        bounded::Bounded,
        choice::{self, Choice},
        clip::DEFAULT_BITS,
        consensus::ProposedMedian,
        grid::{self, GridVotes},
        location::Location,
        robust_mean::{RobustMean, Scale, Statistic},
        vectors::Vectors,
    },
};

/// A range is cut into this many steps.
pub(super) const STEPS: u64 = 1 << 20;
/// One vote in this many is left out at each end, where nobody says.
const TRIM: (i64, u64) = (1, 10);
/// One part in this many of epsilon chooses among widths.
const CHOICE: u64 = 5;
/// Significant digits of the median of answers without a range: the most of these with which a quarter of the answers lies to either side of
/// where it may be off to, else the fewest. Few digits are few values, among which fewer answers agree on one.
const DIGITS: [u32; 4] = [7, 5, 3, 2];
/// The most widths to choose among.
const MOST_WIDTHS: usize = 16;

impl Chooser<'_> {
    pub(super) fn number(&self) -> Result<Kind, PlanError> {
        let details = &self.wanted.details;
        match self.wanted.mechanism {
            Some("median") => return self.median(),
            Some("consensus") => return self.consensus(),
            None if details.bound.is_some() => return self.consensus(),
            Some("grid" | "choice") => return self.grid(1),
            None if details.width.is_some() => return self.grid(1),
            _ => {}
        }
        if self.wanted.range.is_some() {
            return self.ranged();
        }
        let (eps, touch, delta) = (self.eps.clone(), self.touch, self.said.delta().clone());
        let location = Location { eps: eps.clone(), bits: DEFAULT_BITS, touch }.calibrate();
        let may_be_ball = self.wanted.allows("ball") && !delta.is_zero();
        let ball = may_be_ball.then(|| Ball { eps, delta, dimensions: 1, touch }.calibrate());
        let as_ball = |mean| Ok(Kind::Ball { mean: Box::new(mean), single: true });
        match (location, ball) {
            _ if self.wanted.mechanism == Some("ball") && self.said.delta().is_zero() => {
                Err(PlanError::about(Argument::Delta, "agreement needs a delta above 0")
                    .hint("give `delta=1e-6`"))
            }
            (_, Some(ball)) if self.wanted.mechanism == Some("ball") => as_ball(ball?),
            (Ok(location), Some(Ok(ball))) if ball.noise_in_spreads() < location.noise_in_spreads() => {
                as_ball(ball)
            }
            (Err(_), Some(Ok(ball))) => as_ball(ball),
            (Ok(location), _) => Ok(Kind::Location { mean: Box::new(location) }),
            (Err(error), _) => self.median_of_few().ok_or_else(|| or_a_range(&error)),
        }
    }

    /// Where there are too few blocks for a range of their answers, their median, if it lies among them for certain enough.
    fn median_of_few(&self) -> Option<Kind> {
        let lies_among = |median: &MedianVote| median.ranks < self.touch.votes() / 2;
        match self.median() {
            Ok(Kind::Median { median }) if self.wanted.allows("median") && lies_among(&median) => {
                Some(Kind::Median { median })
            }
            _ => None,
        }
    }

    /// A trimmed or winsorized mean in the range, with Laplace noise at the most that one person can do.
    fn ranged(&self) -> Result<Kind, PlanError> {
        let Steps { ends, low, high, resolution } = self.steps()?;
        let winsorized = self.wanted.mechanism == Some("winsorized");
        let trim = self.trim()?;
        let statistic = if winsorized { Statistic::Winsorized { trim } } else { Statistic::Trimmed { trim } };
        let (eps, touch) = (self.eps.clone(), self.touch);
        let mean = RobustMean { eps, statistic, scale: Scale::Global, low, high, resolution, touch };
        Ok(Kind::Ranged { mean: Box::new(mean.calibrate()?), ends, trim, winsorized })
    }

    /// How many votes are left out, or moved inwards, at each end: the share that was said of all.
    fn trim(&self) -> Result<u64, PlanError> {
        let share = match self.wanted.details.trim {
            None => Ratio::new(TRIM.0, TRIM.1),
            Some(text) => {
                let good = |share: &Ratio| !share.is_negative() && *share < Ratio::new(1, 2);
                let accepted = "give a share of at least 0 and below 0.5, such as 0.1";
                text.parse()
                    .ok()
                    .filter(good)
                    .ok_or_else(|| ParameterError::out_of_range("trim", text, accepted))?
            }
        };
        let votes = share * Ratio::from(self.touch.votes());
        Ok(votes.floor_i64().and_then(|votes| u64::try_from(votes).ok()).unwrap_or(0))
    }

    /// The ends of the range, and the steps that votes are rounded to.
    fn steps(&self) -> Result<Steps, PlanError> {
        let range = self.wanted.range.ok_or_else(|| {
            PlanError::about(Argument::Range, "this aggregator needs a range").hint("give `range=LO,HI`")
        })?;
        let ends = float_ends(range)?;
        let end = |value: f64| {
            Ratio::from_f64_shortest(value)
                .ok_or_else(|| ParameterError::out_of_range("range", range, "give finite numbers"))
        };
        let (low, high) = (end(ends.0)?, end(ends.1)?);
        let resolution = (&high - &low) / Ratio::from(STEPS);
        Ok(Steps { ends, low, high, resolution })
    }

    /// A value near the middle of the sorted votes, by how many votes would have to change to make it the median.
    fn median(&self) -> Result<Kind, PlanError> {
        let per_unit = Ratio::from(self.touch.per_unit());
        // As many votes as one person changes cost as much as that many people who change one each.
        let eps = Eps::new(self.eps.ratio() / &per_unit)?;
        let target = Median.quantile().into();
        let by = |range: Range| InverseSensitivity {
            eps: eps.clone(),
            target,
            range,
            adjacency: Adjacency::Replace,
        };
        let (space, range, ends) = if self.wanted.range.is_some() {
            let steps = self.steps()?;
            let range = steps.places()?;
            (Space::Grid(Grid::new(steps.resolution)?), range, Some(steps.ends))
        } else {
            let each = DIGITS.map(Digits::without_wholes);
            let mut lattices = each.into_iter().collect::<Result<Vec<_>, _>>()?;
            let few = lattices.pop().expect("some digits");
            let among = |digits: &Digits| {
                let ranks = by(digits.range()).ranks_for(self.said.failure());
                ranks.is_ok_and(|ranks| ranks <= self.touch.votes() / 4)
            };
            let digits = lattices.into_iter().find(among).unwrap_or(few);
            let range = digits.range();
            (Space::Digits(digits), range, None)
        };
        let inner = by(range).calibrate()?;
        let ranks = inner.accuracy(self.said.failure())?;
        let cost = Loss::pure(&self.eps);
        Ok(Kind::Median { median: Box::new(MedianVote { inner, space, ends, ranks, cost }) })
    }

    /// The median where votes agree within a proposed bound: half of epsilon tests, half is noise.
    fn consensus(&self) -> Result<Kind, PlanError> {
        let delta = self.said.delta().clone();
        if delta.is_zero() {
            return Err(PlanError::about(Argument::Delta, "agreement needs a delta above 0")
                .hint("give `delta=1e-6`"));
        }
        let steps = self.steps()?;
        let accepted = "give the most that one block's answer may move their median: a number above 0";
        let text = self.wanted.details.bound.ok_or_else(|| {
            PlanError::about_option("bound", "consensus tests whether answers agree within a bound")
                .hint("give `bound`, such as a hundredth of the range")
        })?;
        let wrong = || ParameterError::out_of_range("bound", text, accepted);
        let said: Ratio = text.parse().ok().filter(Ratio::is_positive).ok_or_else(wrong)?;
        let bound = (said / &steps.resolution).ceil_i64().and_then(|bound| u64::try_from(bound).ok());
        let bound = bound.filter(|&bound| bound <= STEPS).ok_or_else(wrong)?;
        let half = Eps::new(self.eps.ratio() / &Ratio::from(2u64))?;
        let steps_high = i64::try_from(STEPS).expect("a small number");
        let (range, touch) = (Range::new(0, steps_high)?, self.touch);
        let median = ProposedMedian { test_eps: half.clone(), noise_eps: half, delta, bound, range, touch };
        let bound = steps.resolution.to_f64() * bound as f64;
        Ok(Kind::Consensus { median: Box::new(median.calibrate()?), ends: steps.ends, bound })
    }

    /// Cells of one width, or of one that is chosen among several by how many agree.
    fn grid(&self, dimensions: usize) -> Result<Kind, PlanError> {
        let delta = self.said.delta().clone();
        if delta.is_zero() {
            return Err(PlanError::about(Argument::Delta, "agreement needs a delta above 0")
                .hint("give `delta=1e-6`"));
        }
        let text = self.wanted.details.width.ok_or_else(|| {
            PlanError::about(Argument::Width, "answers that nearly agree are counted in cells of a width")
                .hint("give `width=0.1`, or several widths to choose among")
        })?;
        let widths = widths(text, self.wanted.mechanism)?;
        let grids = Grids::plan(self, &delta, widths, dimensions)?;
        Ok(Kind::Grid { grids: Box::new(grids), single: dimensions == 1 && !self.is_vector() })
    }

    fn is_vector(&self) -> bool {
        matches!(self.wanted.output, super::Output::Vector(_))
    }

    pub(super) fn vector(&self, length: usize) -> Result<Kind, PlanError> {
        let (eps, delta, touch) = (self.eps.clone(), self.said.delta().clone(), self.touch);
        if delta.is_zero() {
            return Err(
                PlanError::about(Argument::Delta, "vectors need a delta above 0").hint("give `delta=1e-6`")
            );
        }
        match self.wanted.mechanism {
            Some("grid" | "choice") => return self.grid(length),
            None if self.wanted.details.width.is_some() => return self.grid(length),
            _ => {}
        }
        if let Some(range) = self.wanted.range {
            let ends = float_ends(range)?;
            let radius = (ends.1 / 2.0 - ends.0 / 2.0) * (length as f64).sqrt();
            let mean = Bounded { eps, delta, dimensions: length, radius, touch }.calibrate()?;
            return Ok(Kind::Bounded { mean: Box::new(mean), ends });
        }
        let rho = rho_for(&eps, &delta)?;
        let vectors = Vectors { rho, dimensions: length, bits: DEFAULT_BITS, touch }.calibrate();
        let ball = Ball { eps, delta, dimensions: length, touch }.calibrate();
        let use_vectors = match (&vectors, &ball) {
            _ if self.wanted.mechanism.is_some() => self.wanted.allows("vectors"),
            (Ok(vectors), Ok(ball)) => vectors.noise_in_spreads() <= ball.noise_in_spreads(),
            (Ok(_), Err(_)) => true,
            (Err(_), _) => false,
        };
        if use_vectors {
            Ok(Kind::Vectors { mean: Box::new(vectors.map_err(|error| or_a_range(&error))?) })
        } else {
            Ok(Kind::Ball { mean: Box::new(ball.map_err(|error| or_a_range(&error))?), single: false })
        }
    }
}

fn or_a_range(error: &ParameterError) -> PlanError {
    let (problem, hint) = error.parts();
    PlanError::about(Argument::Range, problem).hint(format!("{hint}; or give `range=LO,HI`"))
}

/// The widths that were said: one for `grid`, several for `choice`, the finest first.
fn widths(text: &str, mechanism: Option<&str>) -> Result<Vec<f64>, PlanError> {
    let wrong = |accepted| ParameterError::out_of_range("width", text, accepted);
    let read = |part: &str| part.trim().parse::<f64>().ok().filter(|width| width.is_finite() && *width > 0.0);
    let found: Option<Vec<f64>> = text.split(',').map(read).collect();
    let mut widths = found.ok_or_else(|| wrong("give numbers above 0, such as 0.1 or 0.1,1,10"))?;
    widths.sort_unstable_by(f64::total_cmp);
    widths.dedup();
    let fits = match mechanism {
        Some("grid") => widths.len() == 1,
        Some("choice") => (2..=MOST_WIDTHS).contains(&widths.len()),
        _ => widths.len() <= MOST_WIDTHS,
    };
    if fits {
        return Ok(widths);
    }
    Err(wrong("give one width for grid, and 2 to 16 with commas between them for choice").into())
}

/// A range in steps.
struct Steps {
    ends: (f64, f64),
    low: Ratio,
    high: Ratio,
    resolution: Ratio,
}

impl Steps {
    /// The places of the steps, as multiples of one.
    fn places(&self) -> Result<Range, PlanError> {
        let place = |end: &Ratio| {
            (end / &self.resolution).round_i64().ok_or_else(|| {
                ParameterError::out_of_range("range", end, "give a range that is not so narrow so far from 0")
            })
        };
        Ok(Range::new(place(&self.low)?, place(&self.high)?)?)
    }
}

/// The median of the votes by inverse sensitivity, in ranks.
#[derive(Clone, Debug)]
pub(super) struct MedianVote {
    inner: inverse_sensitivity::Calibrated,
    space: Space,
    pub ends: Option<(f64, f64)>,
    /// How many ranks off the answer may be.
    pub ranks: u64,
    cost: Loss,
}

/// Where a median may lie: in steps of a range, or at decimals of a few digits.
#[derive(Clone, Debug)]
enum Space {
    Grid(Grid),
    Digits(Digits),
}

impl MedianVote {
    pub fn cost(&self) -> Loss {
        self.cost.clone()
    }

    /// How many significant digits answers are rounded to, where they are.
    pub fn digits(&self) -> Option<u32> {
        match &self.space {
            Space::Grid(_) => None,
            Space::Digits(digits) => Some(digits.digits()),
        }
    }

    pub fn run<C: Coins>(&self, votes: &[f64], coins: &mut C) -> f64 {
        match &self.space {
            Space::Grid(grid) => self.inner.run_grid(votes, grid, coins).to_f64(),
            Space::Digits(digits) => {
                let clean = |&vote: &f64| digits.clean(Some(vote), digits.range(), Adjacency::Replace);
                let places: Vec<i64> = votes.iter().filter_map(clean).collect();
                digits.float(self.inner.run_integers(&places, coins))
            }
        }
    }
}

/// Cells of one width, or of several among which one is chosen.
///
/// A choice is by slack, the fewest people after whom another cell has most votes, cut at a public cap: enough that an answer is
/// nearly certain for the coarsest width, and as much more for each finer one as the choice may err by. So where several widths have
/// enough agreement the finest of them is taken.
#[derive(Clone, Debug)]
pub(super) struct Grids {
    each: Vec<grid::Calibrated>,
    widths: Vec<f64>,
    choice: Option<(choice::Calibrated, Vec<u64>)>,
    adjacency: Adjacency,
    dimensions: usize,
}

/// Beyond this many widths below zero lie no answers, but what stands for those that are missing.
const NOWHERE: f64 = -9.2e18;

impl Grids {
    fn plan(
        chooser: &Chooser<'_>,
        delta: &equipoise_core::loss::Delta,
        widths: Vec<f64>,
        dimensions: usize,
    ) -> Result<Self, PlanError> {
        let (touch, adjacency) = (chooser.touch, chooser.touch.adjacency());
        let grid = |eps: &Eps, width: f64| {
            let (eps, delta, widths) = (eps.clone(), delta.clone(), vec![width; dimensions]);
            GridVotes { eps, delta, widths, touch }.calibrate()
        };
        if let [width] = widths[..] {
            let grids = vec![grid(&chooser.eps, width)?];
            return Ok(Self { each: grids, widths, choice: None, adjacency, dimensions });
        }
        let eps = Eps::new(chooser.eps.ratio() / &Ratio::from(CHOICE))?;
        let rest = Eps::new(chooser.eps.ratio() - eps.ratio())?;
        let grids = widths.iter().map(|&width| grid(&rest, width)).collect::<Result<Vec<_>, _>>()?;
        let options = widths.len();
        let failure = chooser.said.failure();
        let most = touch.votes();
        let certain = |people: &u64| grids[0].accuracy(Slack::rows_to_change(*people, adjacency)) <= *failure;
        let enough = (1..=most).find(certain).unwrap_or(most);
        let choice = |cap| Choice { eps: eps.clone(), options, cap, adjacency }.calibrate();
        let err = choice(enough)?.accuracy(failure)?.ceil_i64().and_then(|err| u64::try_from(err).ok());
        let cap = |finer: usize| {
            enough.saturating_add(err.unwrap_or(most).saturating_mul(finer as u64)).min(most.max(1))
        };
        let caps: Vec<u64> = (0..options).map(|place| cap(options - 1 - place)).collect();
        Ok(Self { each: grids, widths, choice: Some((choice(caps[0])?, caps)), adjacency, dimensions })
    }

    pub fn is_choice(&self) -> bool {
        self.choice.is_some()
    }

    pub fn cost(&self) -> Loss {
        let grid = self.each[0].cost();
        self.choice.iter().fold(grid, |sum, (choice, _)| sum.compose(&choice.cost()))
    }

    /// The widths, for words.
    pub fn words(&self) -> String {
        let each: Vec<String> = self.widths.iter().map(f64::to_string).collect();
        each.join(", ")
    }

    /// The middle of the cell that most votes are in, and its width; or a refusal. Votes that are missing lie in a cell of their
    /// own, which is never released.
    pub fn run<C: Coins>(&self, votes: &[Option<&Vote>], coins: &mut C) -> Outcome<(Vec<f64>, f64)> {
        let shifts: Vec<Vec<f64>> = self.each.iter().map(|grid| grid.shifts(coins)).collect();
        self.run_shifted(votes, &shifts, coins)
    }

    /// The same for given shifts of each grid: as private for any that are chosen without looking at votes.
    pub fn run_shifted<C: Coins>(
        &self,
        votes: &[Option<&Vote>],
        shifts: &[Vec<f64>],
        coins: &mut C,
    ) -> Outcome<(Vec<f64>, f64)> {
        let placed = |vote: Vec<f64>| {
            if vote.len() == self.dimensions { vote } else { vec![f64::NEG_INFINITY; self.dimensions] }
        };
        let votes: &[Vec<f64>] = &vectors(votes).into_iter().map(placed).collect::<Vec<_>>();
        let chosen = self.choice.as_ref().map_or(0, |(choice, caps)| {
            let capped = |place: usize| {
                let slack = self.each[place].slack(votes, &shifts[place]).until_change().unwrap_or(u64::MAX);
                Slack::rows_to_change(slack.min(caps[place]), self.adjacency)
            };
            let slacks: Vec<Slack> = (0..self.each.len()).map(capped).collect();
            choice.run(&slacks, coins)
        });
        let width = self.widths[chosen];
        match self.each[chosen].run_shifted(votes, &shifts[chosen], coins) {
            Outcome::Value(middle) if middle.iter().all(|middle| *middle > NOWHERE * width) => {
                Outcome::Value((middle, width))
            }
            _ => Outcome::Refused,
        }
    }
}

/// Numbers; what is missing was filled.
pub(super) fn numbers(votes: &[Option<&Vote>]) -> Vec<f64> {
    let number = |vote: Option<&Vote>| match vote {
        Some(Vote::Number(value)) => *value,
        _ => 0.0,
    };
    votes.iter().copied().map(number).collect()
}

/// Numbers are vectors of one coordinate.
pub(super) fn vectors(votes: &[Option<&Vote>]) -> Vec<Vec<f64>> {
    let vector = |vote: Option<&Vote>| match vote {
        Some(Vote::Vector(value)) => value.clone(),
        Some(Vote::Number(value)) => vec![*value],
        _ => Vec::new(),
    };
    votes.iter().copied().map(vector).collect()
}

#[cfg(test)]
#[path = "numeric_tests.rs"]
mod tests;
