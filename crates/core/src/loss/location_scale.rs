//! The exact loss of noise whose centre and scale both move, as they do with smooth sensitivity.
//!
//! Source: Nissim, Raskhodnikova, Smith 2007 (the setting); the closed forms are proved here.
//!
//! # Guarantee
//!
//! Between two neighbours the logarithm of the scale moves by at most `spread`, and the centre by at most
//! `shift` times the smaller scale. Then each `.._eps` and `.._delta` is the exact worst case over both
//! directions, enclosed, and each `.._shift_lower` is at most the largest shift that keeps to its budget.
//!
//! # Why: Cauchy and Student
//!
//! 1. Student's density at y is, up to a constant, `h^((nu+1)/2)·c^((nu-1)/2)` with
//!    `h = c/(c² + (y-f)²/nu)`, the Poisson kernel of the point `(f/√nu, c)` of the upper half-plane.
//! 2. The logarithm of a ratio of Poisson kernels is at most the hyperbolic distance of the two points, and
//!    attains it at the end of the line through both. So the loss is `(nu-1)/2·t + (nu+1)/2·distance` where
//!    t is how far the logarithms of the scales are apart, and `cosh distance = cosh t + shift²·e^-t/(2 nu)`.
//! 3. The distance to a point that moves along a straight line (here upwards) is convex in t, and grows with
//!    the shift. So the worst t is 0 or the spread. Cauchy noise is nu = 1.
//!
//! # Why: PolyPlace
//!
//! 4. Put the first centre at 0 with scale 1 and the second at d with scale e^t. The loss at y is
//!    `t + alpha·ln((1 + |y-d|e^-t)/(1 + |y|))`, a fraction that is monotone on each of three pieces. Its largest
//!    value is `1 + d·e^-t`, at y = 0, or e^-t, far out.
//! 5. With `d <= shift·min(1, e^t)` this is `t + alpha·ln(1 + shift·e^-t)` for t >= 0, convex in t, less than its
//!    value at 0 for t < 0, and `-(alpha-1)·t` far out. So the worst t is 0, the spread or minus the spread.
//!
//! # Why: Laplace, for `shift <= eps` and `spread <= eps`
//!
//! 6. `1 - delta` is the integral of `min(p, e^eps·q)`: at each level the overlap of two intervals, which only
//!    shrinks when one centre moves away. So the largest shift is the worst.
//! 7. Let N be the narrow and W the wide density, t apart. By integration, W against N needs
//!    `D(t) = ½(1 - e^-t)(e^-z + e^-z')`, `z = (eps+t-shift)/(e^t-1)`, `z' = (eps+t+shift)/(e^t-1)`. Both z fall
//!    in t, since `e^t(1-t) <= 1`; so D grows, and the spread is the worst t.
//! 8. N against W needs nothing unless `A = t - eps + r·shift > 0`, r = e^-t, and then
//!    `1 + ½(1/r-1)e^(-A/(1-r)) - ½(1/r+1)e^(-A/(1+r))`, which is at most D(t). For let a = A/(1-r) and
//!    m = t/(e^t-1): then `0 <= a <= m <= 1`, it is at most `½(1-r)(a-1+e^-a)/r` by `e^-x >= 1-x`, and D(t) is at
//!    least `½(1-r)e^(a-2m)`. The quotient of the two grows in a, and at a = m the claim is
//!    `1-r <= (1-m)e^m`, which follows from `(1-m)e^m >= 1-m²` and `m <= e^(-t/2)`.

use super::amount::significant_down;
use crate::{
    interval::{Interval, ln_lower, ln_upper},
    ratio::Ratio,
};
use dashu_base::BitTest;

const BITS: usize = 192;
/// Shifts are rounded down to this many bits.
const SHIFT_BITS: usize = 64;

/// How far the noise of two neighbours can be apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moves {
    /// The distance of the centres, over the smaller of the two scales.
    pub shift: Ratio,
    /// The distance of the logarithms of the scales.
    pub spread: Ratio,
}

fn exact(value: &Ratio) -> Interval {
    Interval::exact(value, BITS)
}

fn one() -> Interval {
    Interval::one(BITS)
}

fn positive_down(shift: &Interval) -> Option<Ratio> {
    let shift = shift.lower();
    shift.is_positive().then(|| significant_down(&shift, SHIFT_BITS))
}

/// The epsilon of Student's noise with `nu >= 1` degrees of freedom; of Cauchy noise for one.
pub fn student_eps(nu: &Ratio, moves: &Moves) -> Interval {
    let half = Ratio::new(1, 2);
    let (less, more) = ((nu - &Ratio::one()) * &half, (nu + &Ratio::one()) * &half);
    let fraction = moves.shift.squared() / (nu + nu);
    let at = |t: &Ratio| {
        let cosh = exact(t).cosh().add(&exact(&-t.clone()).exp().mul_ratio(&fraction));
        cosh.acosh().mul_ratio(&more).add(&exact(&(t * &less)))
    };
    at(&Ratio::zero()).max(&at(&moves.spread))
}

/// The largest shift that Student's noise hides with this epsilon and spread, rounded down; `None` unless
/// the spread is below `eps/nu`.
pub fn student_shift_lower(nu: &Ratio, eps: &Ratio, spread: &Ratio) -> Option<Ratio> {
    let (less, more) = (nu - &Ratio::one(), nu + &Ratio::one());
    if spread * nu >= *eps {
        return None;
    }
    let two = Ratio::from(2u64);
    // The two conditions of the forward formula, solved: at t = 0 and at t = spread.
    let level = exact(&(eps / &more)).sinh().mul(&exact(nu).sqrt()).mul_ratio(&two);
    let eta = (eps * &two - less * spread) / more;
    let rise = exact(&eta).cosh().sub(&exact(spread).cosh()).max(&Interval::zero(BITS));
    let sloped = rise.mul(&exact(spread).exp()).mul_ratio(&(nu + nu)).sqrt();
    positive_down(&level.min(&sloped))
}

/// The epsilon of PolyPlace noise with a density that falls like `|x|^-alpha`, alpha above one.
pub fn poly_place_eps(alpha: &Ratio, moves: &Moves) -> Interval {
    let near = |t: &Ratio| {
        let tilted = exact(&-t.clone()).exp().mul_ratio(&moves.shift);
        one().add(&tilted).ln().mul_ratio(alpha).add(&exact(t))
    };
    let far = exact(&(&moves.spread * (alpha - Ratio::one())));
    near(&Ratio::zero()).max(&near(&moves.spread)).max(&far)
}

/// The largest shift that PolyPlace noise hides with this epsilon and spread, rounded down; `None` unless the
/// spread is below epsilon and `alpha <= 1 + eps/spread`.
pub fn poly_place_shift_lower(alpha: &Ratio, eps: &Ratio, spread: &Ratio) -> Option<Ratio> {
    if spread >= eps || spread * (alpha - Ratio::one()) > *eps {
        return None;
    }
    let level = exact(&(eps / alpha)).exp_minus_one();
    let sloped = exact(&((eps - spread) / alpha)).exp_minus_one().mul(&exact(spread).exp());
    positive_down(&level.min(&sloped))
}

/// The delta of Laplace noise at this epsilon. Panics unless shift and spread are at most epsilon and the
/// spread is above zero.
pub fn laplace_pair_delta(eps: &Ratio, moves: &Moves) -> Interval {
    let Moves { shift, spread } = moves;
    assert!(spread.is_positive() && spread <= eps && shift <= eps, "the proof needs small moves");
    let pair = LaplacePair::new(spread);
    let tail = |numerator: Ratio| pair.over_growth(&numerator).neg().exp();
    let tails = tail(eps + spread - shift).add(&tail(eps + spread + shift));
    pair.fall.mul(&tails).div_small(2)
}

/// `e^spread - 1` and `1 - e^-spread`, precise enough for any spread.
struct LaplacePair {
    growth: Interval,
    fall: Interval,
}

impl LaplacePair {
    fn new(spread: &Ratio) -> Self {
        let bits = BITS + spread.denominator().bit_len();
        let one = Interval::one(bits);
        let power = |t: &Ratio| Interval::exact(t, bits).exp();
        Self { growth: power(spread).sub(&one), fall: one.sub(&power(&-spread.clone())) }
    }

    fn over_growth(&self, numerator: &Ratio) -> Interval {
        Interval::exact(numerator, self.growth.bits()).div(&self.growth)
    }
}

/// The largest shift, up to epsilon, that Laplace noise hides with this epsilon, delta and spread, rounded
/// down; `None` where no noise does: the spread alone needs a larger delta, or is above epsilon.
///
/// `delta = (1 - e^-spread)·e^(-(eps+spread)/g)·cosh(shift/g)` with `g = e^spread - 1`, solved for the shift.
pub fn laplace_pair_shift_lower(eps: &Ratio, delta: &Ratio, spread: &Ratio) -> Option<Ratio> {
    if !delta.is_positive() || !spread.is_positive() || spread > eps {
        return None;
    }
    let pair = LaplacePair::new(spread);
    let bits = pair.growth.bits();
    let ln_delta = Interval::between(&ln_lower(delta), &ln_upper(delta), bits);
    let ln_cosh = ln_delta.add(&pair.over_growth(&(eps + spread))).sub(&pair.fall.ln());
    if !ln_cosh.lower().is_positive() {
        return None;
    }
    let angle = if ln_cosh.lower() > Ratio::from(40u64) {
        // acosh x >= ln 2x - x^-2, without a number as large as x.
        let ln_two = Interval::integer(2, bits).ln();
        ln_cosh.add(&ln_two).sub(&ln_cosh.add(&ln_cosh).neg().exp())
    } else {
        ln_cosh.exp().acosh()
    };
    positive_down(&pair.growth.mul(&angle).min(&Interval::exact(eps, bits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn moves(shift: &str, spread: &str) -> Moves {
        Moves { shift: ratio(shift), spread: ratio(spread) }
    }

    fn close(found: f64, wanted: f64, slack: f64) {
        assert!((found - wanted).abs() <= slack, "{found} is not {wanted}");
    }

    #[test]
    fn figures_of_the_theory() {
        // Cauchy noise at k = 1/shift.
        let k = |nu: &str, eps: &str, spread: &str| {
            student_shift_lower(&ratio(nu), &ratio(eps), &ratio(spread)).unwrap().recip().to_f64()
        };
        close(k("1", "1", "0.5"), 0.960, 5e-4);
        close(k("3", "1", "0.1"), 1.241, 5e-4);
        // Student: standard deviation √(nu/(nu-2))/shift.
        close(k("3", "1", "0.1") * 3f64.sqrt(), 2.15, 5e-3);
        // PolyPlace at its largest alpha: standard deviation √(2/((alpha-2)(alpha-3)))/shift.
        for (spread, std) in [("0.02", 1.47), ("0.05", 1.57), ("0.1", 1.77), ("0.2", 2.34), ("0.3", 3.39)] {
            let alpha = Ratio::one() + ratio(spread).recip();
            let shift = poly_place_shift_lower(&alpha, &Ratio::one(), &ratio(spread)).unwrap().to_f64();
            let a = alpha.to_f64();
            close((2.0 / ((a - 2.0) * (a - 3.0))).sqrt() / shift, std, 7e-3);
        }
        // Laplace noise at the published spread eps/(2 ln(2/delta)).
        for (eps, wanted) in [("1", 1.443), ("0.5", 2.779)] {
            let spread = ratio(eps) / (ln_upper(&ratio("2e6")) * ratio("2"));
            let shift = laplace_pair_shift_lower(&ratio(eps), &ratio("1e-6"), &spread).unwrap();
            close(shift.recip().to_f64(), wanted, 6e-4);
            // The published scale 2S/eps is far too much noise: delta 4e-9 for 1e-6.
            let published = Moves { shift: ratio(eps) / ratio("2"), spread };
            let delta = laplace_pair_delta(&ratio(eps), &published).to_f64();
            assert!(eps != "1" || (3.5e-9..4.5e-9).contains(&delta), "{delta}");
            assert!(delta < 1e-8);
        }
    }

    #[test]
    fn cauchy_noise_as_printed_loses_more_than_promised() {
        // Spread eps and shift eps.
        for (eps, loss) in [("0.1", 0.138), ("0.5", 0.628), ("1", 1.143), ("2", 2.072)] {
            close(student_eps(&Ratio::one(), &moves(eps, eps)).to_f64(), loss, 6e-4);
        }
    }

    #[test]
    fn inverses_attain_their_budget_and_no_more() {
        let rounding = ratio("1e-15");
        for (eps, spread) in [("1", "0.5"), ("1", "0.1"), ("0.1", "0.001"), ("5", "1"), ("1000", "1")] {
            let (eps, spread) = (ratio(eps), ratio(spread));
            let attains = |loss: Interval| {
                assert!(
                    loss.lower() <= eps && loss.lower() > &eps - &(&rounding * &eps),
                    "{}",
                    loss.to_f64()
                );
            };
            for nu in ["1", "3/2", "1.9"] {
                let shift = student_shift_lower(&ratio(nu), &eps, &spread).unwrap();
                attains(student_eps(&ratio(nu), &Moves { shift, spread: spread.clone() }));
            }
            for alpha in ["1.5", "2.5", "3"] {
                let shift = poly_place_shift_lower(&ratio(alpha), &eps, &spread).unwrap();
                attains(poly_place_eps(&ratio(alpha), &Moves { shift, spread: spread.clone() }));
            }
        }
        for (eps, delta, spread) in
            [("1", "1e-6", "0.03"), ("1", "1e-6", "1e-9"), ("0.1", "1e-3", "0.01"), ("2", "0.2", "0.9")]
        {
            let (eps, delta, spread) = (ratio(eps), ratio(delta), ratio(spread));
            let shift = laplace_pair_shift_lower(&eps, &delta, &spread).unwrap();
            let found = laplace_pair_delta(&eps, &Moves { shift: shift.clone(), spread });
            assert!(found.lower() <= delta);
            assert!(shift == eps || found.lower() > &delta * &ratio("0.999999999"), "{}", found.to_f64());
        }
    }

    #[test]
    fn budgets_that_the_spread_alone_uses_up_have_no_shift() {
        let none = |shift: Option<Ratio>| assert_eq!(shift, None);
        none(student_shift_lower(&ratio("3"), &ratio("1"), &ratio("1/3")));
        none(student_shift_lower(&ratio("1"), &ratio("1"), &ratio("1")));
        none(poly_place_shift_lower(&ratio("2"), &ratio("1"), &ratio("1")));
        none(poly_place_shift_lower(&ratio("3"), &ratio("1"), &ratio("0.51")));
        none(laplace_pair_shift_lower(&ratio("1"), &ratio("0"), &ratio("0.01")));
        none(laplace_pair_shift_lower(&ratio("1"), &ratio("1e-6"), &ratio("0.5")));
        none(laplace_pair_shift_lower(&ratio("1"), &ratio("0.9"), &ratio("1.01")));
        assert!(student_shift_lower(&ratio("3"), &ratio("1"), &ratio("0.333")).is_some());
        // Numbers too small or too large for any use are answered all the same.
        none(student_shift_lower(&ratio("1e300"), &ratio("1"), &ratio("1e-301")));
        none(poly_place_shift_lower(&ratio("1e300"), &ratio("1"), &ratio("1e-301")));
        for spread in ["1e-70", "1e-300"] {
            let shift = laplace_pair_shift_lower(&ratio("1"), &ratio("1e-300"), &ratio(spread)).unwrap();
            assert!(shift > ratio("0.999999") && shift <= Ratio::one());
            assert!(laplace_pair_delta(&ratio("1"), &moves("0.5", spread)).upper() < ratio("1e-50"));
        }
    }

    /// Two neighbours as (centre, scale), the first at (0, 1); all extremes and some between.
    fn neighbours(shift: f64, spread: f64) -> impl Iterator<Item = (f64, f64)> {
        let steps = |n: i32| (-n..=n).map(move |i| f64::from(i) / f64::from(n));
        steps(10).flat_map(move |t| {
            let scale = (t * spread).exp();
            steps(4).map(move |part| (part * shift * scale.min(1.0), scale))
        })
    }

    /// The largest loss over the neighbours and a fine list of places, both ways round.
    fn brute_force(moves: &Moves, ln_density: impl Fn(f64) -> f64) -> f64 {
        let places: Vec<f64> = (-800..=800).map(|i| (f64::from(i) / 40.0).sinh()).collect();
        let mut worst = f64::NEG_INFINITY;
        for (centre, scale) in neighbours(moves.shift.to_f64(), moves.spread.to_f64()) {
            for y in places.iter().flat_map(|y| [*y, y * scale + centre]) {
                let loss = ln_density(y) - ln_density((y - centre) / scale) + scale.ln();
                worst = worst.max(loss).max(-loss);
            }
        }
        worst
    }

    #[test]
    fn no_neighbours_lose_more_than_the_closed_forms() {
        for (shift, spread) in [("0.7", "0.3"), ("1", "1"), ("0.1", "0.2"), ("2.5", "0.01"), ("0.01", "0.9")]
        {
            let moves = moves(shift, spread);
            for nu in [1.0f64, 1.7, 3.0, 8.0] {
                let closed = student_eps(&Ratio::from_f64_exact(nu).unwrap(), &moves).to_f64();
                let found = brute_force(&moves, |x| -(nu + 1.0) / 2.0 * (x * x / nu).ln_1p());
                assert!(found <= closed + 1e-9 && found > closed * 0.995 - 1e-9, "{nu}: {found} {closed}");
            }
            for alpha in [1.2f64, 2.0, 5.5] {
                let closed = poly_place_eps(&Ratio::from_f64_exact(alpha).unwrap(), &moves).to_f64();
                let found = brute_force(&moves, |x| -alpha * x.abs().ln_1p());
                assert!(found <= closed + 1e-9 && found > closed * 0.995 - 1e-9, "{alpha}: {found} {closed}");
            }
        }
    }

    /// The least delta of Laplace(0, 1) against Laplace(centre, scale), integrated piece by piece: between 0,
    /// the centre and the ends the log-ratio is linear, so it crosses eps at most once on each.
    fn hockey_stick(eps: f64, centre: f64, scale: f64) -> f64 {
        let cdf = |x: f64| if x < 0.0 { x.exp() / 2.0 } else { 1.0 - (-x).exp() / 2.0 };
        let excess = |x: f64| (x - centre).abs() / scale - x.abs() + scale.ln() - eps;
        let mut cuts = vec![-900.0, centre.min(0.0), centre.max(0.0), 900.0];
        for piece in 0..3 {
            let (a, b) = (cuts[piece], cuts[piece + 1]);
            if excess(a) * excess(b) < 0.0 {
                cuts.push(a + (b - a) * excess(a) / (excess(a) - excess(b)));
            }
        }
        cuts.sort_by(f64::total_cmp);
        let inside = |pair: &[f64]| {
            let mass = |from: f64, to: f64| cdf(to) - cdf(from);
            let (a, b) = (pair[0], pair[1]);
            mass(a, b) - eps.exp() * mass((a - centre) / scale, (b - centre) / scale)
        };
        cuts.windows(2).map(inside).map(|part| part.max(0.0)).sum()
    }

    #[test]
    fn no_neighbours_need_more_delta_than_the_closed_form() {
        for eps in ["0.1", "1", "3"] {
            for (shift, spread) in
                [("0.5", "0.1"), ("1", "1"), ("0.9", "0.9"), ("1", "0.3"), ("0.2", "1"), ("0.01", "0.5")]
            {
                let (shift, spread) = (ratio(shift) * ratio(eps), ratio(spread) * ratio(eps));
                let moves = Moves { shift, spread };
                let closed = laplace_pair_delta(&ratio(eps), &moves).to_f64();
                let deltas = neighbours(moves.shift.to_f64(), moves.spread.to_f64())
                    .map(|(centre, scale)| hockey_stick(ratio(eps).to_f64(), centre, scale));
                let worst = deltas.fold(0.0, f64::max);
                close(worst, closed, 1e-13 + closed * 1e-10);
            }
        }
    }
}
