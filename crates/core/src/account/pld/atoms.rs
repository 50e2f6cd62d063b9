//! The worst pair of an event as atoms: losses, and how likely each is under the first law.
//!
//! # Guarantee
//!
//! For each event there is a pair of laws (P, Q) that no neighbouring pair exceeds (post-processing it gives every
//! one), and P gives the loss `ln P/Q` of each atom a probability of at most `mass`, and infinite losses one of at most
//! `infinite`; losses may have been moved upwards. Masses may sum to a little more than one.
//!
//! # Why
//!
//! 1. A piece of the line on which the loss lies between two neighbours l < r of the grid becomes two atoms, at
//!    l and r, with the same P-mass and Q-mass: `mass(r) = sum of p·(1 - e^-(loss-l))/(1 - e^-(r-l))`. Merging losses
//!    between l and r is post-processing of those two atoms (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi,
//!    "Connect the dots", 2022).
//! 2. Moving losses up, or raising masses, raises the delta of every composition.
//! 3. Parameters are rounded to floats on the side that loses more: a larger sensitivity, epsilon or rate can be
//!    post-processed into a smaller one.
//! 4. Pieces of the bell curve are integrated by Gauss and Legendre with 12 nodes. For half-width s <= 1/16 and a
//!    centre |m| <= 38, e^(-mt - t²/2) on the circle |t| = R has size at most e^(38R + R²/2), so that what 12 nodes miss,
//!    the powers from 24 on, is below `4·e^(38R + R²/2)·(s/R)^24` of the whole; at R = 0.6 that is 2^-41.
//!    All terms are positive, so rounding adds less than 2^-44. `ABOVE` covers both.

use super::{
    super::event::Event,
    float::{ABOVE, above, exp, exp_above, one_minus_exp_neg},
};

/// One loss and its mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Atom {
    pub loss: f64,
    pub mass: f64,
}

/// The law of the loss in one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Atoms {
    pub list: Vec<Atom>,
    /// The mass of outputs that only P has.
    pub infinite: f64,
    /// The mass under Q of outputs that are not listed, at most.
    only_second: f64,
    /// Losses were raised without counting what Q has there: fit to be added up, not to be mixed.
    raised: bool,
}

impl Atoms {
    /// The largest loss in size.
    pub(super) fn largest(&self) -> f64 {
        self.list.iter().map(|atom| atom.loss.abs()).fold(0.0, f64::max)
    }

    #[cfg(test)]
    pub(super) fn of(list: Vec<Atom>) -> Self {
        Self { list, ..Self::default() }
    }
}

/// Which neighbour is P.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// P has the record.
    Remove,
    /// Q has the record.
    Add,
}

/// How finely to look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    /// The step of the grid; a short dyadic number, so that its multiples are exact.
    pub step: f64,
    /// What may be cut off.
    pub tail: f64,
}

/// About the standard deviation of the loss, a hint.
pub(super) fn spread(event: &Event) -> f64 {
    match event {
        Event::Approx(loss) => loss.eps.ratio().to_f64(),
        Event::Concentrated(_) => 0.0,
        Event::Gaussian { ratio } => ratio.to_f64(),
        Event::Laplace { eps } => eps.ratio().to_f64(),
        Event::DiscreteLaplace(loss) => loss.eps.ratio().to_f64(),
        Event::DiscreteGaussian { steps, variance } => (steps.squared() / variance).to_f64().sqrt(),
        Event::Sampled { base, rate } => {
            let (base, rate) = (spread(base), rate.ratio().to_f64());
            (rate * (base * base).min(50.0).exp_m1().sqrt()).min(base).max(rate * base)
        }
    }
}

/// Events with larger losses, which are no privacy, are not looked at.
const LOSS_REACH: f64 = 1e6;

/// The atoms of an event; `None` for one that has no pair, or nearly no privacy.
pub(super) fn atoms(event: &Event, direction: Direction, detail: Detail) -> Option<Atoms> {
    let noise = if let Event::Sampled { base, .. } = event { base } else { event };
    let spread = spread(noise);
    let largest = match noise {
        // Of no scale at all there is no pair.
        Event::Gaussian { .. } | Event::DiscreteGaussian { .. } if spread <= 0.0 => return None,
        Event::Gaussian { .. } | Event::DiscreteGaussian { .. } => spread * (spread / 2.0 + 40.0),
        _ => spread,
    };
    if largest.is_nan() || largest > LOSS_REACH {
        return None;
    }
    Some(match event {
        Event::Concentrated(_) => return None,
        Event::Approx(loss) => leaky(above(loss.eps.ratio()), above(loss.delta.ratio())),
        Event::Gaussian { ratio } => gaussian(above(ratio), detail, |_| detail.step),
        Event::Laplace { eps } => laplace(above(eps.ratio()), detail),
        Event::DiscreteLaplace(loss) => discrete_laplace(above(loss.eps.ratio()), loss.steps.max(1)),
        Event::DiscreteGaussian { steps, variance } => {
            discrete_gaussian(steps.to_f64(), variance.to_f64(), detail.tail)
        }
        // A base with two directions of its own would need both here.
        Event::Sampled { base, .. } if matches!(**base, Event::Sampled { .. }) => return None,
        Event::Sampled { base, rate } => {
            let rate = above(rate.ratio());
            let base = match &**base {
                Event::Gaussian { ratio } => {
                    gaussian(above(ratio), detail, |loss| mixed_width(loss, rate, detail))
                }
                base => atoms(base, direction, detail)?,
            };
            match rate {
                1.0.. => base,
                _ if base.raised || base.largest() > MIXED_REACH => return None,
                _ => sampled(&base, rate, direction),
            }
        }
    })
}

/// Larger losses are not mixed.
const MIXED_REACH: f64 = 600.0;

/// A width that one step of the grid becomes, or eight where a small sample makes large losses rare: the loss of a
/// mixture grows by `p·e^l/(1 - p + p·e^l)` for each unit of l.
fn mixed_width(loss: f64, rate: f64, detail: Detail) -> f64 {
    let part = rate * exp(loss + 0.1);
    let slope = part / (1.0 - rate + part);
    let rare = if rate < 0.05 && slope > 5.0 * rate { 8.0 } else { 1.0 };
    detail.step * rare / slope
}

/// A loss computed in a few roundings, moved above its true value.
fn raise(loss: f64) -> f64 {
    loss + (1.0 + loss.abs()) / (1u64 << 40) as f64
}

/// Randomized response that shows the record with probability delta.
fn leaky(eps: f64, delta: f64) -> Atoms {
    let delta = delta.min(1.0);
    let no = exp(-eps);
    let list = [(eps, 1.0), (-eps, no)]
        .map(|(loss, odds)| Atom { loss, mass: odds / (1.0 + no) * (1.0 - delta) * ABOVE });
    Atoms { list: list.to_vec(), infinite: delta, only_second: delta, raised: false }
}

/// Nodes in (0, 1) and weights of Gauss and Legendre's rule of 12 points; it is symmetric.
pub(super) const NODES: [(f64, f64); 6] = [
    (0.125_233_408_511_468_9, 0.249_147_045_813_402_8),
    (0.367_831_498_998_180_2, 0.233_492_536_538_354_8),
    (0.587_317_954_286_617_4, 0.203_167_426_723_065_92),
    (0.769_902_674_194_304_7, 0.160_078_328_543_346_23),
    (0.904_117_256_370_474_9, 0.106_939_325_995_318_43),
    (0.981_560_634_246_719_3, 0.047_175_336_386_511_83),
];

/// Not above 1/sqrt(2 pi) by more than a rounding, which `ABOVE` covers.
const DENSITY: f64 = 0.398_942_280_401_432_7;

/// How a piece of one width is integrated: places and weights, and the part that goes to the upper end.
struct Rule {
    half: f64,
    nodes: [(f64, f64, f64); 12],
}

impl Rule {
    fn new(width: f64, ratio: f64) -> Self {
        let half = width / ratio / 2.0;
        let whole = one_minus_exp_neg(width);
        let nodes = std::array::from_fn(|i| {
            let (node, weight) = NODES[i / 2];
            let t = half * if i % 2 == 0 { -node } else { node };
            let up = one_minus_exp_neg(ratio * (t + half)) / whole;
            (t, weight * half * exp(-t * t / 2.0) * DENSITY, up.min(1.0))
        });
        Self { half, nodes }
    }

    /// The masses of the piece that begins at `left`, for its lower and upper end.
    fn masses(&self, left: f64) -> (f64, f64) {
        let middle = left + self.half;
        let bell = exp(-middle * middle / 2.0) * ABOVE;
        let (mut lower, mut upper) = (0.0, 0.0);
        for &(t, weight, up) in &self.nodes {
            let mass = weight * exp(-middle * t);
            upper += mass * up;
            lower += mass * (1.0 - up);
        }
        (bell * lower, bell * upper)
    }
}

/// P is normal around zero, Q one `ratio` below: the loss at y is `ratio·y + ratio²/2`. Pieces are of about the width
/// that `width` gives for the loss at their lower end, an eighth of a scale at most.
fn gaussian(ratio: f64, detail: Detail, width: impl Fn(f64) -> f64) -> Atoms {
    // Beyond this many scales lies less than the tail: e^(-y²/2)/2 bounds it.
    let far = (2.0 * (1.0 / detail.tail.max(1e-300)).ln()).sqrt().clamp(2.0, 37.0);
    let mut unit = detail.step;
    while unit > ratio / 8.0 {
        unit /= 2.0;
    }
    let centre = ratio * ratio / 2.0;
    let place = |loss: f64| (loss - centre) / ratio;
    // From far below the centre of Q to far above that of P; every end of a piece is a multiple of the unit.
    let mut loss = ((-centre - far * ratio) / unit).floor() * unit;
    let last = centre + far * ratio;
    let first = place(loss);
    let mut list = vec![Atom { loss, mass: normal_tail_above(-first) }];
    let mut rules: Vec<Rule> = Vec::new();
    while loss < last {
        let mut doublings = 0;
        let widest = width(loss).min(ratio / 8.0);
        while unit * (2u64 << doublings) as f64 <= widest {
            doublings += 1;
        }
        while rules.len() <= doublings {
            rules.push(Rule::new(unit * (1u64 << rules.len()) as f64, ratio));
        }
        let (lower, upper) = rules[doublings].masses(place(loss));
        loss += unit * (1u64 << doublings) as f64;
        if let Some(last) = list.last_mut() {
            last.mass += lower;
        }
        list.push(Atom { loss, mass: upper });
    }
    // What lies below the first piece: P's part rises to it, Q's is kept aside. What lies beyond the last is infinite,
    // and counted there once more, for Q's part of it.
    let beyond = normal_tail_above(place(loss));
    if let Some(last) = list.last_mut() {
        last.mass += beyond;
    }
    Atoms { list, infinite: beyond, only_second: normal_tail_above(-first - ratio), raised: false }
}

/// At least the chance of a standard normal number beyond y > 0.
fn normal_tail_above(y: f64) -> f64 {
    (exp_above(-y * y / 2.0) * DENSITY / y * ABOVE).min(0.5)
}

/// The loss is plus or minus epsilon outside, and has density e^((l - epsilon)/2)/4 between.
///
/// Of a piece from l to r, the part `1/(1 + e^(-(r-l)/2))` goes to r: the mean of step 1 under that density.
fn laplace(eps: f64, detail: Detail) -> Atoms {
    let mut step = detail.step;
    while step > eps / 4.0 {
        step /= 2.0;
    }
    let mut list = vec![Atom { loss: -eps, mass: exp(-eps) / 2.0 * ABOVE }];
    let (mut left, mut index) = (-eps, (-eps / step).floor() + 1.0);
    while left < eps {
        let right = (index * step).min(eps);
        // (e^((right-eps)/2) - e^((left-eps)/2))/2
        let mass = exp((right - eps) / 2.0) * one_minus_exp_neg((right - left) / 2.0) / 2.0 * ABOVE;
        let up = 1.0 / (1.0 + exp((left - right) / 2.0));
        if let Some(last) = list.last_mut() {
            last.mass += mass * (1.0 - up) * ABOVE;
        }
        list.push(Atom { loss: right, mass: mass * up * ABOVE });
        (left, index) = (right, index + 1.0);
    }
    if let Some(last) = list.last_mut() {
        last.mass += 0.5 * ABOVE;
    }
    Atoms { list, infinite: 0.0, only_second: 0.0, raised: false }
}

/// Places on the lattice that are told apart; beyond, neighbours share the larger loss.
const PLACES: u64 = 1 << 13;

/// The loss at k steps from the centre towards the neighbour is `eps·(1 - 2k/steps)`.
fn discrete_laplace(eps: f64, steps: u64) -> Atoms {
    let length = steps as f64;
    let decay = eps / length;
    let group = steps.div_ceil(PLACES);
    let norm = 1.0 / (1.0 + exp(-decay));
    let mut list =
        vec![Atom { loss: eps, mass: norm * ABOVE }, Atom { loss: -eps, mass: exp(-eps) * norm * ABOVE }];
    let mut from = 1;
    while from < steps {
        let count = group.min(steps - from);
        // q^from·(1 - q^count)/(1 + q)
        let mass = exp(-decay * from as f64) * one_minus_exp_neg(decay * count as f64) * norm * ABOVE;
        list.push(Atom { loss: raise(eps * (1.0 - 2.0 * from as f64 / length)), mass });
        from += count;
    }
    Atoms { list, infinite: 0.0, only_second: 0.0, raised: group > 1 }
}

/// The loss at x is `(steps² - 2·x·steps)/(2v)`, for x as likely as e^(-x²/(2v)).
fn discrete_gaussian(steps: f64, variance: f64, tail: f64) -> Atoms {
    let far = (2.0 * (1.0 / tail.max(1e-300)).ln()).sqrt().clamp(2.0, 37.0);
    let reach = (far * variance.sqrt()).ceil() + 1.0;
    let group = (2.0 * reach / (4.0 * PLACES as f64)).ceil().max(1.0);
    let bell = |x: f64| exp(-x * x / (2.0 * variance));
    let loss = |x: f64| steps * (steps - 2.0 * x) / (2.0 * variance);
    // With groups the largest term of each stands for all, and the norm counts the smallest.
    let mut list = Vec::new();
    let mut norm = 0.0;
    let mut x = -reach;
    // As far beyond the centre of Q as before that of P.
    while x <= reach + steps {
        let last = x + group - 1.0;
        let (near, far) = if x.abs() < last.abs() { (x, last) } else { (last, x) };
        let largest = if x <= 0.0 && last >= 0.0 { 1.0 } else { bell(near) };
        list.push(Atom { loss: raise(loss(x)), mass: largest * group });
        norm += bell(far) * group;
        x += group;
    }
    for atom in &mut list {
        atom.mass *= ABOVE / norm;
    }
    // The sum of the curve beyond n is at most e^(-n²/(2v))·v/n. Before the first place P's part is infinite, and
    // counted there once more for Q's; beyond the last P's rises to it and Q's is kept aside.
    let beyond = exp_above(-reach * reach / (2.0 * variance)) * (1.0 + variance / reach) / norm * ABOVE;
    if let [first, .., last] = &mut list[..] {
        first.mass += beyond;
        last.mass += beyond;
    }
    Atoms { list, infinite: beyond, only_second: beyond, raised: group > 1.0 }
}

/// The pair on a sample: `((1-p)·Q + p·P, Q)` or `(Q, (1-p)·Q + p·P)`.
fn sampled(base: &Atoms, rate: f64, direction: Direction) -> Atoms {
    let keep = 1.0 - rate;
    // The mixture's density over Q's is 1 - p + p·e^l; its logarithm is a hint that our own exponential checks.
    let ratio = |loss: f64| keep + rate * exp(loss);
    let hint = |loss: f64| {
        if loss > 30.0 { loss + (rate + keep * exp(-loss)).ln() } else { (rate * loss.exp_m1()).ln_1p() }
    };
    let up_to = |hint: f64, reached: &dyn Fn(f64) -> bool| {
        let mut value = raise(hint);
        while !reached(value) {
            value += (1.0 + value.abs()) / (1u64 << 39) as f64;
        }
        value
    };
    let sure = 1.0 + 1.0 / (1u64 << 44) as f64;
    let place = |loss: f64| match direction {
        Direction::Remove => up_to(hint(loss), &|value| exp(value) >= ratio(loss) * sure),
        Direction::Add => up_to(-hint(loss), &|value| exp(-value) * sure <= ratio(loss)),
    };
    let mass = |first: f64, second: f64| match direction {
        Direction::Remove => (keep * second + rate * first) * ABOVE,
        Direction::Add => second,
    };
    // An atom's loss may lie a little above the true one, which is too little for what Q has there.
    let lowered = |loss: f64| loss - 2.0 * (1.0 + loss.abs()) / (1u64 << 40) as f64;
    let mix = |atom: &Atom| {
        let low = lowered(atom.loss);
        let loss = if direction == Direction::Remove { atom.loss } else { low };
        Atom { loss: place(loss), mass: mass(atom.mass, atom.mass * exp_above(-low)) }
    };
    let mut list: Vec<Atom> = base.list.iter().map(mix).collect();
    // Where P has nothing, the loss is that of minus infinity.
    list.push(Atom { loss: place(-MIXED_REACH), mass: mass(0.0, base.only_second) });
    let infinite = if direction == Direction::Remove { rate * base.infinite * ABOVE } else { 0.0 };
    Atoms { list, infinite, only_second: 0.0, raised: true }
}
