//! Noise for the sums of a column: what a mean or a variance is made of.
//!
//! # Parts of a row
//!
//! Let v be the share of the way from the centre of the range to its end that a row lies at, between -1 and 1. A row is split into parts whose
//! sums get noise of one law; together they tell how many rows there are, the sum of v and the sum of v².
//!
//! 1. A mean over a number of rows that is not known: (1 + v)/2 above and (1 - v)/2 below. Together that is one, whatever v is, so that both
//!    sides cost no more than a count alone.
//! 2. A variance too: a row stands on three points, at the ends and in the middle, as a quadratic function is told by three of its values. With
//!    Laplace noise the parts are (1 + v)(1 + 2v)/6, 2(1 - v²)/3 and (1 - v)(1 - 2v)/6: their sizes add up to at most 25/24, and those of what a replaced
//!    row moves to 49/24. With the bell curve they are (v² + v)/2, 1 - v² and (v² - v)/2, whose squares add up to at most one, and those of what a
//!    replaced row moves to less than 1.4501².
//! 3. A variance where the number of rows is known: (v² + v)/2 and (v² - v)/2, whose sizes add up to |v|. A replaced row can move v by two, but v² by no
//!    more than one: (v² + v/2)/2 and (v² - v/2)/2 move by at most one together, and their squares by less than 0.8021².
//!
//! What rounding to whole steps may add is paid for too. Where squares are whole steps nothing is rounded.
//!
//! # Why the bars are as they say
//!
//! A function of the noisy sums that is zero for the true ones, whatever the noise, leaves a sum of noises, each times a number: how far that goes is
//! known ([`mixtures`](super::mixtures)).
//!
//! 1. With mean m, the sum of v less m times the number of rows is zero. So m is among the numbers for which the same of the noisy sums is no larger
//!    than what noise explains: a set that is exact. Noise goes the farther the farther m is from zero (5. there), so that the ends of the set follow
//!    from those of a larger one, again and again.
//! 2. With mean m and variance s, the sum of v² less 2m times the sum of v, and m² - s times the number of rows, is zero. Let n', m' and s' be
//!    those of the noisy sums: s = s' + (m' - m)² up to noise over n'. So what is not known of m counts only by its square.
//!
//! # Rows on neither side
//!
//! A row without a value has no part. Where rows come and go, the number of these is one number more with the noise of a part: a row moves
//! the parts, or this number by as much, and never both. So all cost what the parts do. A row that is replaced can move all, and nobody draws that
//! number then ([`holding`](super::holding)).

use super::{
    bar::Bar,
    mixtures::{Fails, Mixtures},
    noise::Noise,
};
use crate::{error::PlanError, resolved::ResolvedRequest};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss},
};

/// What one row does to sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    /// The farthest from the centre that a row lies, in steps; that of squares.
    pub steps: i64,
    pub square_steps: i64,
    /// How far a replaced row goes.
    pub span: i64,
    /// Are rows whole steps, and squares their squares?
    pub exact: bool,
}

/// Which sums there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// That of rows.
    First,
    /// That of squares too.
    Squares,
}

/// A part of a row, over the unit of its [`Shape`].
#[derive(Clone, Copy, Debug)]
struct Part {
    /// How often it has one, the share and its square.
    of: [i64; 3],
    /// What it counts for: in the number of rows, in the sum of shares, and in halves in that of squares.
    stands: [i64; 3],
}

/// The parts of a row.
#[derive(Debug)]
struct Shape {
    parts: &'static [Part],
    unit: i64,
    /// What a row that comes, and one that is replaced, moves at most, in ten-thousandths: the sizes together, and the root of their squares.
    moves: [(i64, i64); 2],
}

const fn part(of: [i64; 3], stands: [i64; 3]) -> Part {
    Part { of, stands }
}

/// The sum alone.
static ALONE: Shape =
    Shape { parts: &[part([0, 1, 0], [0, 1, 0])], unit: 1, moves: [(10_000, 10_000), (20_000, 20_000)] };
/// Above and below.
static SIDES: Shape = Shape {
    parts: &[part([1, 1, 0], [1, 1, 0]), part([1, -1, 0], [1, -1, 0])],
    unit: 2,
    moves: [(10_000, 10_000), (20_000, 14_143)],
};
/// Three points, for Laplace noise and for the bell curve.
static POINTS: Shape = Shape {
    parts: &[part([1, 3, 2], [1, 1, 2]), part([4, 0, -4], [1, 0, -1]), part([1, -3, 2], [1, -1, 2])],
    unit: 6,
    moves: [(10_417, 10_000), (20_417, 14_501)],
};
static BELL_POINTS: Shape = Shape {
    parts: &[part([0, 1, 1], [1, 1, 2]), part([2, 0, -2], [1, 0, 0]), part([0, -1, 1], [1, -1, 2])],
    unit: 2,
    moves: [(12_500, 10_000), (25_000, 14_501)],
};
/// Over a known number of rows that come and go, or lie on one side of the centre.
static KNOWN: Shape = Shape {
    parts: &[part([0, 1, 1], [0, 1, 2]), part([0, -1, 1], [0, -1, 2])],
    unit: 2,
    moves: [(10_000, 10_000), (20_000, 14_143)],
};
/// The same of rows that are replaced.
static KNOWN_REPLACED: Shape = Shape {
    parts: &[part([0, 1, 2], [0, 2, 2]), part([0, -1, 2], [0, -2, 2])],
    unit: 4,
    moves: [(10_000, 8_021), (10_000, 8_021)],
};

impl Shape {
    fn of(said: &ResolvedRequest, known: bool, which: Which) -> &'static Self {
        match (which, known) {
            (Which::First, true) => &ALONE,
            (Which::First, false) => &SIDES,
            (Which::Squares, false) if Noise::is_bell(said) => &BELL_POINTS,
            (Which::Squares, false) => &POINTS,
            (Which::Squares, true) if said.adjacency() == Adjacency::Replace => &KNOWN_REPLACED,
            (Which::Squares, true) => &KNOWN,
        }
    }

    /// The parts of a row in steps: of one, of its share and of its square, each in the steps of squares.
    fn split(&self, [rows, shares, squares]: [i128; 3]) -> Vec<i128> {
        let of = |part: &Part| {
            let [one, share, square] = part.of.map(i128::from);
            one * rows + share * shares + square * squares
        };
        self.parts.iter().map(of).collect()
    }

    /// What one row moves: the sizes together, and the root of their squares, rounded up.
    fn one_row(&self, adjacency: Adjacency, moved: &Moved) -> (i64, i64) {
        let Moved { steps, square_steps, span, exact } = *moved;
        let replaced = adjacency == Adjacency::Replace;
        if self.parts.len() == 1 {
            let most = if replaced { span } else { steps };
            return (most, most);
        }
        if self.parts.iter().all(|part| part.of[2] == 0) {
            // A row that comes or goes moves both sides by two steps for each step of the farthest, if on one side alone. One that is
            // replaced takes from one side what it gives to the other. 1.41422 is above the root of two.
            let comes = 2 * steps;
            let diagonal = i128::from(span) * 141_422 / 100_000 + 1;
            let diagonal = i64::try_from(diagonal).expect("below twice the span");
            return if replaced { (comes.max(2 * span), comes.max(diagonal)) } else { (comes, comes) };
        }
        if exact && steps <= FEW {
            return self.one_of_few(replaced, steps);
        }
        let (sizes, root) = self.moves[usize::from(replaced)];
        let most = |parts: i64| {
            let steps = i128::from(self.unit) * i128::from(square_steps) * i128::from(parts);
            i64::try_from(steps.div_euclid(10_000) + 1).expect("a few times the steps")
        };
        // The steps of a row and of its square, both of one share, are off by half a step each, and by what floats lose.
        let halves: i64 = self.parts.iter().map(|part| part.of[1].abs() + part.of[2].abs()).sum();
        let rounded = if exact { 0 } else { halves / 2 + 2 };
        let rounded = if replaced { 2 * rounded } else { rounded };
        (most(sizes) + rounded, most(root) + rounded)
    }

    /// The same where all rows that there are can be tried, and no row.
    fn one_of_few(&self, replaced: bool, steps: i64) -> (i64, i64) {
        let row = |place: i64| {
            let place = i128::from(place);
            self.split([i128::from(steps * steps), place * i128::from(steps), place * place])
        };
        let none = vec![0; self.parts.len()];
        let rows: Vec<Vec<i128>> = (-steps..=steps).map(row).chain([none.clone()]).collect();
        let (mut together, mut squares) = (1, 1);
        let others = if replaced { &rows[..] } else { std::slice::from_ref(&none) };
        for (one, other) in rows.iter().flat_map(|one| others.iter().map(move |other| (one, other))) {
            let apart = one.iter().zip(other).map(|(one, other)| (one - other).unsigned_abs());
            together = together.max(apart.clone().sum::<u128>());
            squares = squares.max(apart.map(|part| part * part).sum::<u128>());
        }
        let root = (0..).find(|root: &u128| root * root >= squares).expect("some number");
        (i64::try_from(together).expect("few"), i64::try_from(root).expect("few"))
    }
}

/// So many steps are tried one by one.
const FEW: i64 = 8;

/// Noise for the parts of a column's rows.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    noise: Noise,
    shape: &'static Shape,
    mixtures: Mixtures,
    /// From the centre to the farthest row, and the steps that parts are counted in.
    steps: i64,
    square_steps: i64,
    /// How far the noise of one number goes.
    pub within: i64,
}

/// Noisy sums of parts; of one or two, the others are nothing.
pub(super) type Numbers = [i64; 3];

impl Sums {
    /// For this epsilon in all, and the request's delta. Whether the number of rows is known decides which parts there are.
    pub fn plan(
        said: &ResolvedRequest,
        eps: &Eps,
        moved: &Moved,
        known: bool,
        which: Which,
    ) -> Result<Self, PlanError> {
        let shape = Shape::of(said, known, which);
        let square_steps = if which == Which::Squares { moved.square_steps } else { moved.steps };
        let one_row = shape.one_row(said.adjacency(), moved);
        let noise = match shape.parts.len() {
            1 => Noise::plan(said, eps, said.delta(), one_row.0)?,
            many => Noise::plan_several(said, eps, said.delta(), one_row, many)?,
        };
        assert!(square_steps % moved.steps == 0, "a square has steps as fine as its root");
        let mixtures = Mixtures::new(&noise, said.failure())?;
        let within = noise.within(said.failure())?;
        Ok(Self { noise, shape, mixtures, steps: moved.steps, square_steps, within })
    }

    /// What they cost.
    pub fn cost(&self) -> Loss {
        self.noise.cost()
    }

    /// The name of the noise.
    pub fn law(&self) -> &'static str {
        self.noise.law()
    }

    /// Is it Laplace noise?
    pub fn is_pure(&self) -> bool {
        matches!(self.noise, Noise::Laplace(_))
    }

    /// Is the sum of squares among what they tell?
    pub fn has_squares(&self) -> bool {
        self.shape.parts.iter().any(|part| part.of[2] != 0)
    }

    /// Do they tell the number of rows?
    pub fn tell_rows(&self) -> bool {
        self.shape.parts[0].stands[0] != 0
    }

    /// The sums of the parts of so many rows with noise, from the sums of their steps and of their squares in steps.
    pub fn run<C: Coins>(&self, rows: u64, first: i64, squares: i64, coins: &mut C) -> Numbers {
        let [first, steps, square_steps] = [first, self.steps, self.square_steps].map(i128::from);
        let sums = self.shape.split([
            i128::from(rows) * square_steps,
            first * (square_steps / steps),
            i128::from(squares),
        ]);
        let clamped = |sum: i128| i64::try_from(sum).unwrap_or(if sum > 0 { i64::MAX } else { i64::MIN });
        let mut numbers: Vec<i64> = sums.into_iter().map(clamped).collect();
        self.noise.run_several(&mut numbers, coins);
        numbers.resize(3, 0);
        numbers.try_into().expect("three")
    }

    /// By how much noise moves the number of rows hardly ever: as far as if each of the parts went as far as one does.
    pub fn rows_surely_within(&self) -> i64 {
        let parts = i64::try_from(self.shape.parts.len()).expect("three at most");
        self.within.saturating_mul(parts) / self.unit() + 2
    }

    /// The noisy number of rows without a part.
    pub fn run_without<C: Coins>(&self, rows: u64, coins: &mut C) -> i64 {
        debug_assert!(self.tell_rows());
        let one = i128::from(self.unit());
        let noisy = self.noise.run(i64::try_from(i128::from(rows) * one).unwrap_or(i64::MAX), coins);
        in_whole(noisy.into(), one)
    }

    /// The steps of a row's parts together.
    fn unit(&self) -> i64 {
        self.shape.unit * self.square_steps
    }

    fn total(&self, numbers: &Numbers, place: usize) -> i128 {
        let each = self.shape.parts.iter().zip(numbers);
        each.map(|(part, &number)| i128::from(part.stands[place]) * i128::from(number)).sum()
    }

    /// How many rows they tell of, to the nearest.
    pub fn about(&self, numbers: &Numbers) -> i64 {
        in_whole(self.total(numbers, 0), self.unit().into())
    }

    /// The number of rows, as it was drawn.
    pub fn rows(&self, numbers: &Numbers) -> Bar {
        Bar::whole(self.total(numbers, 0)).divided(self.unit() as f64)
    }

    /// The sum of shares, as it was drawn.
    pub fn shares(&self, numbers: &Numbers) -> Bar {
        Bar::whole(self.total(numbers, 1)).divided(self.unit() as f64)
    }

    /// The sum of squares of shares, as it was drawn.
    pub fn squares(&self, numbers: &Numbers) -> Bar {
        Bar::whole(self.total(numbers, 2)).divided(2.0 * self.unit() as f64)
    }

    /// A row at this place counts for the number of rows, the sum of shares and that of squares; what these multiples of them add up to.
    fn factors(&self, of: [f64; 3]) -> impl Iterator<Item = f64> {
        self.shape.parts.iter().map(move |part| {
            let [rows, share, halves] = part.stands.map(|times| times as f64);
            of[0] * rows + of[1] * share + of[2] * halves / 2.0
        })
    }

    /// How far noise moves what these multiples of the number of rows, the sum of shares and that of squares add up to.
    pub fn within_of(&self, of: [f64; 3], fails: Fails) -> f64 {
        self.within_factors(&self.factors(of).collect::<Vec<_>>(), fails)
    }

    fn within_factors(&self, factors: &[f64], fails: Fails) -> f64 {
        self.mixtures.within(factors, fails) / self.unit() as f64 * (1.0 + 1e-9)
    }

    /// How far noise moves a mean, times the number of rows, if it lies so far from the centre; no less where it lies farther.
    pub fn within_mean(&self, far: f64, fails: Fails) -> f64 {
        self.within_of([-far.min(1.0), 1.0, 0.0], fails)
    }

    /// The same for a variance, whatever the mean and the variance are. By their sizes, one after the other, one and two together and all, no
    /// numbers are larger than those of a mean at an end and no variance.
    pub fn within_variance(&self, fails: Fails) -> f64 {
        self.within_of([1.0, -2.0, 1.0], fails)
    }

    /// Where the mean lies, in shares. Of so many rows in all, each may have been rounded by so much.
    pub fn mean(&self, numbers: &Numbers, rows: Bar, rounded: f64, fails: Fails) -> Bar {
        let shares = self.shares(numbers);
        let value = shares.value / rows.value;
        let off = |far: f64| self.within_mean(far, fails) + rounded;
        let low = |far: f64| Bar { low: shares.low - off(far), ..shares }.over_positive(rows).low;
        let high = |far: f64| Bar { high: shares.high + off(far), ..shares }.over_positive(rows).high;
        let mut ends = [low(1.0), high(1.0)];
        for _ in 0..ROUNDS {
            // What lies between an end and the value is no farther from the centre than either.
            let far = |end: f64| end.abs().max(value.abs()) * (1.0 + 1e-9);
            ends = [ends[0].max(low(far(ends[0]))), ends[1].min(high(far(ends[1])))];
        }
        Bar { value, low: ends[0], high: ends[1] }
    }

    /// Where the variance lies, in squares of shares, the mean lying in this bar as often as is said of few.
    pub fn variance(&self, numbers: &Numbers, rows: Bar, mean: Bar, rounded: f64) -> Bar {
        let squares = self.squares(numbers);
        let (over, square) = (squares.value / rows.value, mean.value * mean.value);
        let value = over - square;
        // What floats lose on the way.
        let room = 1e-13 * (over.abs() + square + 1.0);
        let [low_mean, high_mean] = [mean.low, mean.high].map(|end| end.clamp(-1.0, 1.0));
        let apart = (mean.value - low_mean).abs().max((high_mean - mean.value).abs());
        let mut ends = [0.0, 1.0];
        let mut bar = Bar { value, low: f64::NEG_INFINITY, high: f64::INFINITY };
        for _ in 0..ROUNDS {
            let factors = self.shape.parts.iter().map(|part| {
                let [rows, share, halves] = part.stands.map(|times| times as f64);
                // A square of the mean with one factor, of which the least lies at an end or at the vertex.
                let at = |mean: f64| rows * mean * mean - 2.0 * share * mean + halves / 2.0;
                let vertex = if rows > 0.0 { (share / rows).clamp(low_mean, high_mean) } else { low_mean };
                let each = [at(low_mean), at(high_mean), at(vertex)];
                let most = each.into_iter().fold(f64::MIN, f64::max) - rows * ends[0];
                let least = each.into_iter().fold(f64::MAX, f64::min) - rows * ends[1];
                most.abs().max(least.abs()) * (1.0 + 1e-9)
            });
            let off = (self.within_factors(&factors.collect::<Vec<_>>(), Fails::Most) + rounded) / rows.low;
            bar.low = bar.low.max(value - off - room);
            bar.high = bar.high.min(value + apart * apart + off + room);
            ends = [bar.low.clamp(0.0, 1.0), bar.high.clamp(0.0, 1.0)];
        }
        bar
    }

    /// The sum itself, of rows that are measured from a centre, in numbers of the farthest.
    pub fn sum(&self, numbers: &Numbers, [centre, farthest]: [Bar; 2], rounded: f64) -> Bar {
        let unit = self.unit() as f64;
        let factor = |part: &Part| {
            let times = |factor: i64, bar: Bar| Bar::exact(factor as f64).multiplied(bar);
            times(part.stands[0], centre).plus(times(part.stands[1], farthest))
        };
        let factors: Vec<Bar> = self.shape.parts.iter().map(factor).collect();
        let exact = factors
            .iter()
            .zip(numbers)
            .map(|(factor, &number)| Bar::around(number, 0).divided(unit).multiplied(*factor));
        let exact = exact.reduce(Bar::plus).expect("some part");
        let largest: Vec<f64> = factors.iter().map(|bar| bar.low.abs().max(bar.high.abs())).collect();
        // Ends of ranges may be as large as floats are.
        let most = largest.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let shares: Vec<f64> = largest.iter().map(|factor| factor / most).collect();
        let off = self.within_factors(&shares, Fails::All) * most * (1.0 + 1e-9);
        exact.widened(off + rounded * farthest.high)
    }
}

/// How often the ends of a set are drawn nearer.
const ROUNDS: usize = 4;

/// In whole units, to the nearest.
fn in_whole(steps: i128, unit: i128) -> i64 {
    let whole = (steps + unit / 2).div_euclid(unit);
    i64::try_from(whole).unwrap_or(if whole > 0 { i64::MAX } else { i64::MIN })
}

#[cfg(test)]
#[path = "sums_tests.rs"]
mod tests;
