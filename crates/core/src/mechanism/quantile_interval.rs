//! Releases an interval that holds a quantile of the population the rows were drawn from: it covers the
//! chance of the sample and the noise. It never refuses.
//!
//! Source: order statistics and the binomial law, with the bounds of Zubkov and Serov 2013; noise by inverse
//! sensitivity (framework 2 of 002_c9075a084346ce80.txt, section 1.5).
//!
//! # Guarantee
//!
//! (epsilon, 0) for both ends together, under the adjacency given, for any rows. If the rows are at most
//! `rows_at_most` independent draws from one population, the interval holds the population's quantile with
//! probability at least 1 - beta.
//!
//! # Why
//!
//! 1. The ends are two quantiles by inverse sensitivity, each for half of epsilon, at ranks a fixed number
//!    below and above the wanted one: `ceil(p n) - shift`, `ceil(p n) + shift`.
//! 2. With probability 1 - beta_noise an end lies at most e ranks from its target.
//! 3. The row of rank a is above the quantile of the population only if at most a - 1 rows are not, and
//!    that number is binomial with a chance of at least p. By Zubkov and Serov this happens with probability
//!    at most `Φ(-sqrt(2 n H(a/n)))`, where H(x) is the divergence of a coin of chance x from one of chance p.
//! 4. With x = p - D/n, `n H >= D²/(2(n p (1-p) + c D/3))`, c = max(0, 2p - 1): the second derivative of H
//!    is 1/(x(1-x)) and x(1-x) is at most p(1-p) + c(p - x). So D = z²c/6 + sqrt(z⁴c²/36 + z² n p(1-p)) is
//!    enough for Φ(-z), and grows with n: what is enough for `rows_at_most` is enough for fewer rows.
//! 5. `shift = ceil(D) + e + 1` puts both together; the upper end is the lower one mirrored, c = max(0, 1 - 2p).
//!
//! # Differs
//!
//! Without knowing the number of rows, which is private under add/remove, ranks cannot be chosen for it. A
//! public upper bound is enough: the interval is right for fewer rows too, only wider than need be.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{
//!     adjacency::Adjacency, mechanism::quantile_interval::QuantileInterval,
//!     stability::{Median, lattice::FLOATS},
//! };
//!
//! let interval = QuantileInterval {
//!     eps: "1".parse()?, quantile: Median.quantile(), range: FLOATS, adjacency: Adjacency::AddRemove,
//!     beta: "0.05".parse()?, rows_at_most: 100_000,
//! };
//! let calibrated = interval.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "1-differential privacy");
//! // The sample alone needs 310 ranks to either side.
//! assert_eq!(calibrated.shift(), 418);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::inverse_sensitivity::{self, InverseSensitivity};
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    interval::Interval,
    loss::{Eps, Loss, ParameterError},
    ratio::Ratio,
    stability::{Quantile, Range, reachable::Target},
};

/// Parameters of the mechanism; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantileInterval {
    /// The privacy loss of both ends together.
    pub eps: Eps,
    /// Which quantile of the population.
    pub quantile: Quantile,
    /// The lattice of answers; rows are moved into it, and the population is that of moved rows.
    pub range: Range,
    /// What one person may change.
    pub adjacency: Adjacency,
    /// How often the interval may miss.
    pub beta: Ratio,
    /// A public upper bound on the number of rows: the number itself under replace, or a declared one, or a
    /// released one plus its error.
    pub rows_at_most: u64,
}

/// A mechanism that is ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    params: QuantileInterval,
    low: inverse_sensitivity::Calibrated,
    high: inverse_sensitivity::Calibrated,
    shift: u64,
}

/// Parts of the failure probability that may go to the noise, in sixteenths; the best is taken.
const NOISE_SHARES: std::ops::Range<u64> = 1..16;

impl QuantileInterval {
    /// Choose the ranks of both ends.
    pub fn calibrate(self) -> Result<Calibrated, ParameterError> {
        if !self.beta.is_positive() || self.beta >= Ratio::one() {
            return Err(ParameterError::out_of_range(
                "beta",
                &self.beta,
                "give a number between 0 and 1, such as 0.05",
            ));
        }
        if self.rows_at_most >= 1 << 60 {
            return Err(ParameterError::out_of_range(
                "rows",
                self.rows_at_most,
                "give a number below 2^60, the most rows there may be",
            ));
        }
        let shift = self.shift()?;
        let [low, high] = [-shift.cast_signed(), shift.cast_signed()].map(|shift| self.end(shift));
        Ok(Calibrated { low: low?.calibrate()?, high: high?.calibrate()?, shift, params: self })
    }

    /// The ends at this shift, lengths cut off at this number, for audits: any are as private, but the
    /// interval need not hold anything.
    pub fn with_details(self, shift: u64, cut_off: usize) -> Result<Calibrated, ParameterError> {
        let [low, high] = [-shift.cast_signed(), shift.cast_signed()].map(|shift| self.end(shift));
        Ok(Calibrated { low: low?.cut_off_at(cut_off), high: high?.cut_off_at(cut_off), shift, params: self })
    }

    /// One of the two ends.
    fn end(&self, shift: i64) -> Result<InverseSensitivity, ParameterError> {
        let eps = Eps::new(self.eps.ratio() / &Ratio::from(2u64))?;
        let target = Target::shifted(self.quantile, shift);
        Ok(InverseSensitivity { eps, target, range: self.range, adjacency: self.adjacency })
    }

    /// The fewest ranks that are enough for both ends.
    fn shift(&self) -> Result<u64, ParameterError> {
        let end = self.end(0)?;
        let mut best = None;
        for sixteenths in NOISE_SHARES {
            // Half of beta for each end.
            let noise = &self.beta * &Ratio::new(sixteenths.cast_signed(), 32);
            let sample = &self.beta / &Ratio::from(2u64) - &noise;
            let ranks = end.ranks_for(&noise)? + self.sample_ranks_up(&sample) + 1;
            best = Some(best.map_or(ranks, |best: u64| best.min(ranks)));
        }
        Ok(best.expect("some share was tried"))
    }

    /// The whole number D such that the row of any rank up to `p n - D` is above the quantile of the
    /// population with probability at most beta, and the row of any rank from `p n + D + 1` on below it, for
    /// every n up to the bound. Rounded up.
    fn sample_ranks_up(&self, beta: &Ratio) -> u64 {
        const BITS: usize = 128;
        let (num, den) = self.quantile.parts();
        let p = Ratio::from(num) / Ratio::from(den);
        let q = Ratio::one() - &p;
        let squared = normal_quantile_up(beta).squared();
        // Of the two ends one has c = |p - q|, the other zero: the larger serves both.
        let linear = &squared * &(&p - &q).abs() / Ratio::from(6u64);
        let variance = &squared * &(p * q * Ratio::from(self.rows_at_most));
        let root = Interval::exact(&(linear.squared() + variance), BITS).sqrt().upper();
        u64::try_from((linear + root).ceil_i64().expect("far below 2^63")).expect("not negative")
    }
}

/// A z with `Φ(-z) <= beta`, not more than 2^-20 above the least.
fn normal_quantile_up(beta: &Ratio) -> Ratio {
    const BITS: usize = 128;
    let small =
        |steps: i64| Interval::exact(&-Ratio::new(steps, 1 << 20), BITS).normal_cdf().certainly_at_most(beta);
    let (mut low, mut high) = (0, 1 << 20);
    while !small(high) {
        (low, high) = (high, 2 * high);
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if small(middle) { high = middle } else { low = middle }
    }
    Ratio::new(high, 1 << 20)
}

impl Calibrated {
    /// What a run costs: half of epsilon for each end.
    pub fn cost(&self) -> Loss {
        self.low.cost().compose(&self.high.cost())
    }

    /// The parameters.
    pub fn params(&self) -> &QuantileInterval {
        &self.params
    }

    /// How many ranks below and above the quantile of the rows the two ends aim.
    pub fn shift(&self) -> u64 {
        self.shift
    }

    /// With probability 1 - beta, both ends lie at most this many ranks from the quantile of the rows.
    pub fn accuracy(&self, beta: &Ratio) -> Result<u64, ParameterError> {
        let each = self.low.accuracy(&(beta / &Ratio::from(2u64)))?;
        Ok(self.shift + each)
    }

    /// The interval of whole numbers.
    pub fn run_integers<C: Coins>(&self, rows: &[i64], coins: &mut C) -> (i64, i64) {
        let (a, b) = (self.low.run_integers(rows, coins), self.high.run_integers(rows, coins));
        (a.min(b), a.max(b))
    }

    /// The interval of floats, cleaned as by
    /// [`run_floats`](inverse_sensitivity::Calibrated::run_floats) of a quantile.
    pub fn run_floats<C: Coins>(&self, rows: &[f64], coins: &mut C) -> (f64, f64) {
        let (a, b) = (self.low.run_floats(rows, coins), self.high.run_floats(rows, coins));
        (a.min(b), a.max(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::AUDIT_BITS,
        stability::{Median, lattice},
        tape::{Pmf, delta_between, enumerate},
        universe::neighbouring_pairs,
    };
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn params(eps: &str, p: &str, range: Range, adjacency: Adjacency, rows_at_most: u64) -> QuantileInterval {
        let quantile = Quantile::new(&ratio(p)).unwrap();
        QuantileInterval {
            eps: eps.parse().unwrap(),
            quantile,
            range,
            adjacency,
            beta: ratio("0.05"),
            rows_at_most,
        }
    }

    /// P(Bin(n, p) <= k), exactly.
    fn binomial_cdf(n: u64, p: &Ratio, k: i64) -> Ratio {
        let q = Ratio::one() - p;
        let (mut term, mut sum) = ((0..n).fold(Ratio::one(), |power, _| power * &q), Ratio::zero());
        for i in 0..=u64::try_from(k.max(-1) + 1).unwrap().min(n + 1) {
            if i > n || i.cast_signed() > k {
                break;
            }
            sum = sum + &term;
            term = term * p / &q * Ratio::from(n - i) / Ratio::from(i + 1);
        }
        sum
    }

    #[test]
    fn the_sample_misses_as_rarely_as_claimed() {
        assert_eq!(binomial_cdf(4, &ratio("1/2"), 1), ratio("5/16"));
        for p in ["1/2", "1/4", "0.9", "0.05"] {
            for beta in ["0.2", "0.025", "0.001"] {
                for most in [1, 5, 30, 100] {
                    let wanted = params("1", p, lattice::FLOATS, Adjacency::AddRemove, most);
                    let ranks = wanted.sample_ranks_up(&ratio(beta));
                    for n in (1..=most).filter(|n| most <= 30 || n % 9 == 1) {
                        check_tails(&ratio(p), n, ranks, &ratio(beta));
                    }
                }
            }
        }
    }

    /// Ranks up to `p n - ranks` and from `p n + ranks + 1` on are on their side of the quantile.
    fn check_tails(p: &Ratio, n: u64, ranks: u64, beta: &Ratio) {
        let centre = p * &Ratio::from(n);
        let a = (&centre - &Ratio::from(ranks)).floor_i64().unwrap();
        assert!(a < 1 || binomial_cdf(n, p, a - 1) <= *beta, "{p} {n} {ranks} {beta}");
        let b = (&centre + &Ratio::from(ranks + 1)).ceil_i64().unwrap();
        let above = Ratio::one() - binomial_cdf(n, p, b - 1);
        assert!(b.cast_unsigned() > n || above <= *beta, "{p} {n} {ranks} {beta}");
    }

    #[test]
    fn the_bounds_of_zubkov_and_serov_hold_where_they_are_used() {
        // P(Bin(n, p) <= a - 1) <= Φ(-sqrt(2 n H(a/n))) for 0 < a < p n, by exact sums.
        let (bits, one) = (128, Ratio::one());
        let ln = |x: &Ratio| Interval::exact(x, bits).ln();
        for (p, n) in
            ["1/2", "1/4", "0.9", "0.02"].iter().flat_map(|p| [2, 3, 7, 20, 61].map(|n| (ratio(p), n)))
        {
            for a in (1..n).filter(|&a| Ratio::from(a) < &p * &Ratio::from(n)) {
                let x = Ratio::from(a) / Ratio::from(n);
                let y = &one - &x;
                let divergence = ln(&(&x / &p)).mul_ratio(&x).add(&ln(&(&y / &(&one - &p))).mul_ratio(&y));
                let bound = divergence.mul_ratio(&Ratio::from(2 * n)).sqrt().neg().normal_cdf();
                assert!(binomial_cdf(n, &p, a.cast_signed() - 1) <= bound.upper(), "{p} {n} {a}");
            }
        }
    }

    #[test]
    fn hand_computed_calibrations() {
        // 1.959964 at one in forty.
        assert!((normal_quantile_up(&ratio("0.025")).to_f64() - 1.959_964).abs() < 2e-6);
        // The sample alone: 1.96·sqrt(100000)/2 = 309.9 ranks; sqrt(100000·.09)·1.96 = 185.9 and 3.84·.8/6 = .5.
        let sample = |p| params("1", p, lattice::FLOATS, Adjacency::AddRemove, 100_000);
        assert_eq!(sample("1/2").sample_ranks_up(&ratio("0.025")), 310);
        assert_eq!(sample("0.9").sample_ranks_up(&ratio("0.025")), 187);
        for (eps, rows, adjacency, shift) in [
            ("1", 1000, Adjacency::AddRemove, 133),
            ("1", 100_000, Adjacency::AddRemove, 418),
            ("1", 100_000, Adjacency::Replace, 519),
            ("0.1", 100_000, Adjacency::AddRemove, 1319),
        ] {
            let calibrated = params(eps, "1/2", lattice::FLOATS, adjacency, rows).calibrate().unwrap();
            assert_eq!(calibrated.shift(), shift, "{eps} {rows} {adjacency}");
            assert_eq!(calibrated.cost().to_string(), format!("{eps}-differential privacy"));
            assert!(calibrated.accuracy(&ratio("0.05")).unwrap() > shift);
        }
    }

    #[test]
    fn what_cannot_be_calibrated_says_why() {
        let mut wanted = params("1", "1/2", lattice::FLOATS, Adjacency::AddRemove, 1 << 60);
        assert_eq!(
            wanted.clone().calibrate().unwrap_err().to_string(),
            "rows 1152921504606846976 is not accepted: give a number below 2^60, the most rows there may be"
        );
        wanted.beta = Ratio::one();
        assert_eq!(
            wanted.calibrate().unwrap_err().to_string(),
            "beta 1 is not accepted: give a number between 0 and 1, such as 0.05"
        );
    }

    fn worst(claim: &str, calibrated: &Calibrated, adjacency: Adjacency) -> (Interval, f64) {
        let run = |rows: &[i64]| -> Pmf<(i64, i64)> {
            enumerate(&ratio("1e-16"), |tape| calibrated.run_integers(rows, tape))
        };
        let mut seen: BTreeMap<Vec<i64>, Pmf<(i64, i64)>> = BTreeMap::new();
        let mut worst = (Interval::zero(AUDIT_BITS), 0f64);
        for (a, b) in neighbouring_pairs(&[0, 1, 2], 5, adjacency) {
            for data in [&a, &b] {
                seen.entry(data.clone()).or_insert_with(|| run(data));
            }
            let (here, there) = (&seen[&a], &seen[&b]);
            worst.0 = worst.0.max(&delta_between(&ratio(claim), here, there));
            worst.1 = worst.1.max(here.largest_loss(there)).max(there.largest_loss(here));
        }
        worst
    }

    /// Both ends one rank from the median, so that the few rows of a small universe matter.
    fn narrow(eps: &str, adjacency: Adjacency) -> Calibrated {
        params(eps, "1/2", Range::new(0, 2).unwrap(), adjacency, 3).with_details(1, 6).unwrap()
    }

    #[test]
    fn exact_audit_over_all_neighbours_of_a_small_universe() {
        for adjacency in Adjacency::ALL {
            let (delta, loss) = worst("1", &narrow("1", adjacency), adjacency);
            assert!(delta.certainly_at_most(&ratio("1e-9")), "{adjacency}: loss {loss}");
        }
    }

    #[test]
    fn a_mutant_with_the_whole_epsilon_for_each_end_is_caught() {
        for adjacency in Adjacency::ALL {
            let (delta, loss) = worst("1", &narrow("2", adjacency), adjacency);
            assert!(delta.certainly_above(&ratio("0.001")), "{adjacency}: {} at {loss}", delta.to_f64());
        }
    }

    #[test]
    fn the_exact_coverage_is_at_least_what_is_claimed() {
        // Rows drawn from a coin of three values; the median of the population is 1. Over all samples of seven
        // rows, with their probabilities, the interval misses less often than claimed.
        let mut wanted = params("6", "1/2", Range::new(0, 2).unwrap(), Adjacency::Replace, 7);
        wanted.beta = ratio("0.5");
        let calibrated = wanted.calibrate().unwrap();
        let chances = [0.3f64, 0.3, 0.4];
        let mut missed = 0.0;
        for rows in crate::universe::multisets(&[0, 1, 2], 7) {
            let counts = [0, 1, 2].map(|value| rows.iter().filter(|&&row| row == value).count());
            let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
            let ways = factorial(7) / counts.iter().map(|&count| factorial(count)).product::<f64>();
            let chance: f64 = chances.iter().zip(counts).map(|(p, count)| p.powf(count as f64)).product();
            let pmf = enumerate(&ratio("1e-12"), |tape| calibrated.run_integers(&rows, tape));
            let outside = pmf.iter().filter(|((low, high), _)| *low > 1 || *high < 1);
            missed += ways * chance * outside.map(|(_, mass)| mass.to_f64()).sum::<f64>();
        }
        assert!(missed <= 0.5, "{missed}");
    }

    #[test]
    fn a_script_is_followed() {
        let calibrated =
            params("1", "1/2", lattice::FLOATS, Adjacency::AddRemove, 10_000).calibrate().unwrap();
        let rows: Vec<f64> = (0..10_000).map(f64::from).collect();
        let mut coins = ScriptedWords::new(vec![1 << 62; 10]);
        let (low, high) = calibrated.run_floats(&rows, &mut coins);
        let shift = calibrated.shift() as f64;
        assert!(
            (low - (4999.0 - shift)).abs() < 40.0 && (high - (4999.0 + shift)).abs() < 40.0,
            "{low} {high}"
        );
        assert_eq!(coins.used(), 10);
        assert_eq!(Median.quantile(), calibrated.params().quantile);
    }
}
