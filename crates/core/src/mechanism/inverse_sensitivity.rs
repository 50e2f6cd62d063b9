//! Releases a quantile without any bounds: a value that fewer changed rows would make the quantile is more
//! likely. It never refuses.
//!
//! Source: Asi and Duchi, inverse sensitivity (framework 2 of 002_c9075a084346ce80.txt, section 1.5).
//!
//! # Guarantee
//!
//! (epsilon, 0) under the adjacency given, and `epsilon²/8`-zero-concentrated, for any rows and any finite
//! lattice of values: all finite floats, all 64-bit integers, or a declared range of either. Value y is
//! released with probability exactly proportional to `e^(-epsilon·length(y)/2)`.
//!
//! # Why
//!
//! 1. The length of y is the number of changed rows after which the quantile can be y or beyond
//!    ([`reachable`](crate::stability::reachable)). It moves by at most one between neighbours, and so does
//!    the length cut off at a public number, which is what is used.
//! 2. So all weights move by a factor of at most `e^(epsilon/2)`, their sum too, and each probability by at
//!    most `e^epsilon`. The log-ratios lie in an interval of length epsilon, hence the concentrated loss.
//! 3. A length is drawn with the number of its values as its weight, then one of these values, all equally
//!    likely: together exactly the stated probabilities, with no loop over the lattice.
//! 4. Lengths are cut off where all values beyond weigh less than 2^-64 of the value of length 0. Only
//!    rows up to that many changes away matter: a window around the target, whose size is public.
//!
//! # Differs
//!
//! The text names the framework only; the paper draws from a density between sorted rows. A finite lattice
//! needs no bounds and no floats. Cutting off the length, instead of widening the window when a draw asks
//! for it, keeps the work the same for all rows and moves the distribution by less than 2^-64. Under
//! add/remove the length of a value is up to twice its distance in ranks, at every quantile at least that
//! distance, so that answers err up to half as far.
//!
//! No rows read as the low end. After selection the number of steps depends on public numbers only, apart
//! from a further word with a probability below 2^-60.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{
//!     adjacency::Adjacency, coins::ScriptedWords, mechanism::inverse_sensitivity::InverseSensitivity,
//!     stability::{Median, lattice::FLOATS},
//! };
//!
//! let median = InverseSensitivity {
//!     eps: "1".parse()?, target: Median.quantile().into(), range: FLOATS, adjacency: Adjacency::AddRemove,
//! };
//! let calibrated = median.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "1-differential privacy");
//! // Among all finite floats, with probability 0.95, at most 47 ranks from the middle.
//! assert_eq!(calibrated.accuracy(&"0.05".parse()?)?, 47);
//! let salaries: Vec<f64> = (0..1000).map(|i| 20_000.0 + 50.0 * f64::from(i)).collect();
//! # let mut coins = ScriptedWords::new(vec![1 << 62; 5]);
//! let answer = calibrated.run_floats(&salaries, &mut coins);
//! assert!((answer - 45_000.0).abs() < 1000.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::exponential::{rho_of_bounded_range, units_up};
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    interval::ln_upper,
    loss::{Eps, Loss, ParameterError, Rho},
    ratio::Ratio,
    sampler::{damped::Damping, uniform::UpTo},
    solve,
    stability::{
        Range, Reach, Window, bracket,
        lattice::{FLOATS, Grid, float},
        reachable::{Span, Target},
    },
};
use dashu_int::{IBig, UBig};
use std::sync::Arc;

/// Parameters of the mechanism; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InverseSensitivity {
    /// The privacy loss.
    pub eps: Eps,
    /// Which quantile.
    pub target: Target,
    /// The lattice of answers; rows are moved into it, each on its own. Fewer values err less.
    pub range: Range,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A mechanism that is ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    params: InverseSensitivity,
    /// Shared by all quantiles of one price.
    damping: Arc<Damping>,
}

/// More lengths than this are refused: each takes 24 bytes and some nanoseconds.
const MOST_LENGTHS: i64 = 1 << 20;
/// Values beyond the cut-off weigh at most 2^-64 of the best one.
const CUT_OFF_BITS: usize = 64;

impl InverseSensitivity {
    /// Choose the cut-off and write down the weights of all lengths.
    pub fn calibrate(self) -> Result<Calibrated, ParameterError> {
        let cut_off = self.cut_off()?;
        Ok(self.cut_off_at(cut_off))
    }

    /// Whether it can be calibrated, before any weight is written down.
    pub fn check(&self) -> Result<(), ParameterError> {
        self.cut_off().map(|_| ())
    }

    /// The least length at which all values together weigh at most 2^-64.
    fn cut_off(&self) -> Result<usize, ParameterError> {
        let values = self.other_values() + Ratio::one();
        let whole = &values * &Ratio::from_parts(IBig::ONE << CUT_OFF_BITS, UBig::ONE);
        let length = (ln_upper(&whole) / self.step()).ceil_i64().filter(|&length| length <= MOST_LENGTHS);
        length.and_then(|length| usize::try_from(length).ok()).ok_or_else(|| {
            ParameterError::out_of_range(
                "epsilon",
                &self.eps,
                "a range this wide needs a larger one; 0.0002 is enough for every range",
            )
        })
    }

    /// The mechanism whose lengths are cut off at this number, for audits: any number is as private, but
    /// values far away are as likely as those at the cut-off. Panics at zero.
    pub fn cut_off_at(self, length: usize) -> Calibrated {
        assert!(length > 0, "some length differs from another");
        let damping = Arc::new(Damping::new(&self.step(), length));
        Calibrated { params: self, damping }
    }

    /// The least epsilon, in six digits, whose answer lies within this many ranks of the target with
    /// probability 1 - beta.
    pub fn eps_for(&self, ranks: u64, beta: &Ratio) -> Result<Option<Eps>, ParameterError> {
        let units = units_up(&self.other_values(), beta)?;
        let within = |eps: &Eps| self.ranks_at(&units, eps.ratio()).is_some_and(|found| found <= ranks);
        Ok(solve::smallest_eps(within))
    }

    /// How many ranks from the target the answer lies at most, with probability 1 - beta: the accuracy, known before
    /// any weight is written down.
    pub fn ranks_for(&self, beta: &Ratio) -> Result<u64, ParameterError> {
        let units = units_up(&self.other_values(), beta)?;
        // The cut-off is where all values together weigh 2^-64, so it is not below this one.
        let kept = *beta >= Ratio::dyadic(IBig::ONE, CUT_OFF_BITS);
        self.ranks_at(&units, self.eps.ratio()).filter(|_| kept).ok_or_else(|| beyond_cut_off(beta))
    }

    fn step(&self) -> Ratio {
        self.eps.ratio() / &Ratio::from(2u64)
    }

    /// How many values there are beside the best one.
    fn other_values(&self) -> Ratio {
        Ratio::from(self.range.width())
    }

    /// The rank error where `e^(-epsilon·length/2)` falls to `e^-units`.
    fn ranks_at(&self, units: &Ratio, eps: &Ratio) -> Option<u64> {
        // Lengths from this one on are unlikely enough.
        let unlikely = (units * &Ratio::from(2u64) / eps).ceil_i64()?;
        let length = u64::try_from(unlikely - 1).unwrap_or(0);
        Some(self.target.ranks_within(length, self.adjacency))
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.params.eps)
    }

    /// What a run costs in zero-concentrated accounting: epsilon²/8, a quarter of what pure epsilon implies.
    pub fn bounded_range_rho(&self) -> Rho {
        rho_of_bounded_range(&self.params.eps)
    }

    /// The parameters.
    pub fn params(&self) -> &InverseSensitivity {
        &self.params
    }

    /// The same for another quantile, which changes no weight: one calibration serves many.
    #[must_use]
    pub fn at(&self, target: Target) -> Self {
        Self {
            params: InverseSensitivity { target, ..self.params.clone() },
            damping: Arc::clone(&self.damping),
        }
    }

    /// How many ranks to either side of the target a window must hold.
    pub fn reach(&self) -> Reach {
        Reach::Ranks(self.ranks())
    }

    fn ranks(&self) -> u64 {
        let farthest = u64::try_from(self.damping.last() - 1).expect("64 bits count lengths");
        self.params.target.ranks_within(farthest, self.params.adjacency)
    }

    /// Whether the window is large enough must not depend on how many rows there happen to be.
    fn reach_is_enough(&self, reach: Reach) -> bool {
        match reach {
            Reach::All => true,
            Reach::Ranks(ranks) => ranks >= self.ranks(),
        }
    }

    /// A value of the lattice. Panics unless the window is one of this target and range that holds the
    /// [reach](Self::reach).
    pub fn run<C: Coins>(&self, window: &Window, coins: &mut C) -> i64 {
        let InverseSensitivity { target, range, adjacency, .. } = self.params;
        assert!(window.range() == range, "a window of the same range");
        assert!(self.reach_is_enough(window.reach()), "a window that reaches as far as the mechanism looks");
        let mut spans = target.reachable(window, self.damping.last(), adjacency);
        spans.push(Span { low: range.lo(), high: range.hi() });
        let length = coins.sample(&self.damping.law(counts(&spans)));
        let shell = Shell::of(&spans, length);
        let place = coins.sample(&UpTo(u128::from(shell.count() - 1)));
        shell.value(u64::try_from(place).expect("below the count"))
    }

    /// The quantile of whole numbers.
    pub fn run_integers<C: Coins>(&self, rows: &[i64], coins: &mut C) -> i64 {
        let InverseSensitivity { target, range, adjacency, .. } = self.params;
        self.run(&bracket::window(rows, target, range, self.reach(), adjacency), coins)
    }

    /// The quantile of floats, with a range of [ordinals](crate::stability::lattice). A row that is not a
    /// number is dropped under add/remove and counts as the low end under replace.
    pub fn run_floats<C: Coins>(&self, rows: &[f64], coins: &mut C) -> f64 {
        let InverseSensitivity { target, range, adjacency, .. } = self.params;
        let place = self.run(&bracket::window(rows, target, range, self.reach(), adjacency), coins);
        float(FLOATS.clamp(place)).expect("the ordinal of a finite float")
    }

    /// The quantile of floats rounded to a grid, with a range of the grid's places; cleaned as above.
    pub fn run_grid<C: Coins>(&self, rows: &[f64], grid: &Grid, coins: &mut C) -> Ratio {
        let InverseSensitivity { range, adjacency, .. } = self.params;
        let places: Vec<i64> =
            rows.iter().filter_map(|&row| grid.clean(Some(row), range, adjacency)).collect();
        grid.value(self.run_integers(&places, coins))
    }

    /// With probability 1 - beta, the answer lies between the rows this many ranks before and after the
    /// target, whatever the rows; where there is no such row, the end of the range stands for it.
    ///
    /// The bound is attained where all values but one are equally far.
    pub fn accuracy(&self, beta: &Ratio) -> Result<u64, ParameterError> {
        let units = units_up(&self.params.other_values(), beta)?;
        let cut_off = Ratio::from(self.damping.last() as u64) * self.params.step();
        let ranks = self.params.ranks_at(&units, self.params.eps.ratio()).filter(|_| units <= cut_off);
        ranks.ok_or_else(|| beyond_cut_off(beta))
    }
}

fn beyond_cut_off(beta: &Ratio) -> ParameterError {
    ParameterError::out_of_range("beta", beta, "give a number of at least 1e-19: lengths are cut off")
}

/// How many values have each length.
pub(super) fn counts(spans: &[Span]) -> Vec<u64> {
    (0..spans.len()).map(|length| Shell::of(spans, length).count()).collect()
}

/// The values of one length: those of a span that are not in the span before.
pub(super) struct Shell {
    low: i64,
    below: u64,
    above: i64,
    count: u64,
}

impl Shell {
    pub fn of(spans: &[Span], length: usize) -> Self {
        let span = spans[length];
        match length.checked_sub(1).map(|before| spans[before]) {
            // The first span holds one value, the quantile itself.
            None => Self { low: span.low, below: 1, above: span.high, count: 1 },
            Some(inner) => {
                let (below, above) = (inner.low.abs_diff(span.low), span.high.abs_diff(inner.high));
                Self { low: span.low, below, above: inner.high, count: below + above }
            }
        }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The value at this place, from zero.
    pub fn value(&self, place: u64) -> i64 {
        if place < self.below {
            self.low.wrapping_add_unsigned(place)
        } else {
            self.above.wrapping_add_unsigned(place - self.below + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::Interval,
        stability::{Median, Quantile, lattice},
        tape::{Pmf, delta_between, enumerate},
        universe::{datasets, neighbouring_pairs},
    };
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn target(p: &str) -> Target {
        Quantile::new(&ratio(p)).unwrap().into()
    }

    fn params(eps: &str, p: &str, range: Range, adjacency: Adjacency) -> InverseSensitivity {
        InverseSensitivity { eps: eps.parse().unwrap(), target: target(p), range, adjacency }
    }

    fn small() -> Range {
        Range::new(0, 4).unwrap()
    }

    #[test]
    fn hand_computed_calibrations() {
        // Lengths: (2/eps)·ln(values·2^64) = (2/eps)·(44.361 + ln(values)), rounded up.
        for (eps, range, adjacency, lengths, reach) in [
            ("1", lattice::FLOATS, Adjacency::AddRemove, 178, 89),
            ("1", lattice::FLOATS, Adjacency::Replace, 178, 177),
            ("0.1", lattice::FLOATS, Adjacency::AddRemove, 1775, 887),
            ("1", Range::WHOLE, Adjacency::AddRemove, 178, 89),
            ("1", small(), Adjacency::AddRemove, 92, 46),
            ("2", Range::new(7, 7).unwrap(), Adjacency::Replace, 45, 44),
        ] {
            let calibrated = params(eps, "1/2", range, adjacency).calibrate().unwrap();
            assert_eq!(calibrated.damping.last(), lengths, "{eps} {range:?}");
            assert_eq!(calibrated.reach(), Reach::Ranks(reach));
        }
        // accuracy: length (2/eps)·ln((values - 1)·19) at beta 0.05; times q in ranks under add/remove.
        for (eps, p, range, adjacency, ranks) in [
            ("1", "1/2", lattice::FLOATS, Adjacency::AddRemove, 47),
            ("1", "1/2", lattice::FLOATS, Adjacency::Replace, 94),
            ("1", "0.9", lattice::FLOATS, Adjacency::AddRemove, 85),
            ("0.1", "1/2", lattice::FLOATS, Adjacency::AddRemove, 473),
            ("1", "1/2", Range::new(0, 99).unwrap(), Adjacency::AddRemove, 8),
            ("1", "1/2", Range::new(3, 3).unwrap(), Adjacency::AddRemove, 0),
        ] {
            let calibrated = params(eps, p, range, adjacency).calibrate().unwrap();
            assert_eq!(calibrated.accuracy(&ratio("0.05")).unwrap(), ranks, "{eps} {p} {range:?}");
        }
        let calibrated = params("1", "1/2", small(), Adjacency::Replace).calibrate().unwrap();
        assert_eq!(*calibrated.bounded_range_rho().ratio(), ratio("1/8"));
    }

    #[test]
    fn what_cannot_be_calibrated_says_why() {
        let error = params("1e-5", "1/2", Range::WHOLE, Adjacency::AddRemove).calibrate().unwrap_err();
        assert_eq!(
            error.to_string(),
            "epsilon 0.00001 is not accepted: a range this wide needs a larger one; 0.0002 is enough for every range"
        );
        assert!(params("0.0002", "1/2", Range::WHOLE, Adjacency::AddRemove).cut_off().is_ok());
        let calibrated = params("1", "1/2", Range::WHOLE, Adjacency::AddRemove).calibrate().unwrap();
        for (beta, accepted) in [("0", false), ("1", false), ("1e-20", false), ("1e-19", true)] {
            assert_eq!(calibrated.accuracy(&ratio(beta)).is_ok(), accepted, "{beta}");
        }
    }

    #[test]
    fn another_quantile_at_the_same_price_is_what_its_own_calibration_gives() {
        let median = params("0.5", "1/2", small(), Adjacency::AddRemove).calibrate().unwrap();
        let wanted = params("0.5", "0.9", small(), Adjacency::AddRemove);
        let (own, other) = (wanted.clone().calibrate().unwrap(), median.at(target("0.9")));
        assert_eq!((own.params(), own.reach()), (other.params(), other.reach()));
        let rows = [0, 1, 1, 3, 4];
        for words in [[1 << 60; 5], [1 << 63; 5], [u64::MAX - 9; 5]] {
            let draw = |calibrated: &Calibrated| {
                calibrated.run_integers(&rows, &mut ScriptedWords::new(words.to_vec()))
            };
            assert_eq!(draw(&own), draw(&other));
        }
        let beta = ratio("0.05");
        assert_eq!(wanted.ranks_for(&beta).unwrap(), own.accuracy(&beta).unwrap());
    }

    #[test]
    fn the_inverse_gives_the_least_epsilon() {
        let wanted = params("1", "1/4", lattice::FLOATS, Adjacency::AddRemove);
        let beta = ratio("0.05");
        let eps = wanted.eps_for(100, &beta).unwrap().unwrap();
        let ranks = |eps: Eps| {
            InverseSensitivity { eps, ..wanted.clone() }.calibrate().unwrap().accuracy(&beta).unwrap()
        };
        assert!(ranks(eps.clone()) <= 100);
        assert!(ranks(Eps::new(eps.ratio() - &ratio("1e-5")).unwrap()) > 100);
        assert!(wanted.eps_for(0, &ratio("0")).is_err());
    }

    fn distribution(calibrated: &Calibrated, rows: &[i64]) -> Pmf<i64> {
        enumerate(&ratio("1e-14"), |tape| calibrated.run_integers(rows, tape))
    }

    /// The worst delta at this epsilon over all neighbouring pairs, and the largest loss for display.
    fn worst(
        eps: &str,
        size: usize,
        adjacency: Adjacency,
        run: impl Fn(&[i64]) -> Pmf<i64>,
    ) -> (Interval, f64) {
        let values: Vec<i64> = (small().lo()..=small().hi()).collect();
        let mut seen: BTreeMap<Vec<i64>, Pmf<i64>> = BTreeMap::new();
        let mut worst = (Interval::zero(crate::interval::AUDIT_BITS), 0f64);
        for (a, b) in neighbouring_pairs(&values, size, adjacency) {
            for data in [&a, &b] {
                seen.entry(data.clone()).or_insert_with(|| run(data));
            }
            let (here, there) = (&seen[&a], &seen[&b]);
            worst.0 = worst.0.max(&delta_between(&ratio(eps), here, there));
            worst.1 = worst.1.max(here.largest_loss(there)).max(there.largest_loss(here));
        }
        worst
    }

    #[test]
    fn exact_audit_over_all_neighbours_of_a_small_universe() {
        for (p, adjacency) in ["1/4", "1/2", "0.9"].iter().flat_map(|p| Adjacency::ALL.map(|a| (p, a))) {
            // Cut off where nothing is lost, and so early that most values are beyond.
            for cut_off in [1, 2, 92] {
                let calibrated = params("1", p, small(), adjacency).cut_off_at(cut_off);
                let (delta, loss) = worst("1", 4, adjacency, |rows| distribution(&calibrated, rows));
                assert!(delta.certainly_at_most(&ratio("1e-10")), "{p} {adjacency} {cut_off}: loss {loss}");
            }
        }
    }

    #[test]
    fn the_exact_losses_of_the_theory_page() {
        // The median of six rows among five values: far below one, so the bound leaves room.
        for (adjacency, expected) in [(Adjacency::Replace, 0.739), (Adjacency::AddRemove, 0.780)] {
            let calibrated = params("1", "1/2", small(), adjacency).calibrate().unwrap();
            let (_, loss) = worst("1", 6, adjacency, |rows| distribution(&calibrated, rows));
            assert!((loss - expected).abs() < 0.002, "{adjacency}: {loss}");
        }
    }

    #[test]
    fn a_mutant_that_spends_epsilon_on_one_side_only_is_caught() {
        // The whole epsilon for each step of length instead of half of it.
        for adjacency in Adjacency::ALL {
            let mutant = params("2", "1/2", small(), adjacency).cut_off_at(92);
            let (delta, loss) = worst("1", 4, adjacency, |rows| distribution(&mutant, rows));
            assert!(delta.certainly_above(&ratio("0.01")), "{adjacency}: loss {loss}");
        }
    }

    #[test]
    fn probabilities_are_those_of_the_lengths() {
        // Rows 1, 1, 3 under add/remove: the median is 1. By hand: lengths of 0 ..= 4 are 3, 0, 2, 2, 4.
        let calibrated = params("1", "1/2", small(), Adjacency::AddRemove).calibrate().unwrap();
        let pmf = distribution(&calibrated, &[3, 1, 1]);
        let weights = [3, 0, 2, 2, 4].map(|length| (-0.5 * f64::from(length)).exp());
        let total: f64 = weights.iter().sum();
        for (value, weight) in (0..).zip(weights) {
            assert!((pmf.mass(&value).to_f64() - weight / total).abs() < 1e-12, "{value}");
        }
    }

    #[test]
    fn the_median_follows_the_closed_lengths_of_the_theory_page() {
        for adjacency in Adjacency::ALL {
            let calibrated = params("1", "1/2", small(), adjacency).calibrate().unwrap();
            for data in (1..=4).flat_map(|size| crate::universe::multisets(&[0, 1, 2, 3, 4], size)) {
                let length = |y: i64| {
                    let count = |holds: fn(&i64, &i64) -> bool| {
                        i32::try_from(data.iter().filter(|row| holds(row, &y)).count()).unwrap()
                    };
                    let (less, equal, more) = (count(i64::lt), count(i64::eq), count(i64::gt));
                    let rank = (less + equal + more + 1) / 2;
                    match adjacency {
                        Adjacency::Replace => (less - rank + 1).max(rank - less - equal).max(0),
                        Adjacency::AddRemove => (less - equal - more + 1).max(more - less - equal).max(0),
                    }
                };
                let weights = [0, 1, 2, 3, 4].map(|y| (-0.5 * f64::from(length(y))).exp());
                let total: f64 = weights.iter().sum();
                let pmf = distribution(&calibrated, &data);
                for (y, weight) in (0..).zip(weights) {
                    assert!(
                        (pmf.mass(&y).to_f64() - weight / total).abs() < 1e-12,
                        "{data:?} {y} {adjacency}"
                    );
                }
            }
        }
    }

    #[test]
    fn errors_keep_to_their_bound_and_one_case_attains_it() {
        for (p, adjacency) in ["1/4", "1/2", "0.9"].iter().flat_map(|p| Adjacency::ALL.map(|a| (p, a))) {
            let calibrated = params("2", p, small(), adjacency).calibrate().unwrap();
            let beta = ratio("0.3");
            let ranks = calibrated.accuracy(&beta).unwrap().cast_signed();
            for data in datasets(&[0, 1, 3, 4], 6, adjacency) {
                let rank = target(p).rank(data.len() as u64);
                let row = |rank: i64| match usize::try_from(rank - 1) {
                    Ok(index) => data.get(index).copied().unwrap_or(small().hi()),
                    Err(_) => small().lo(),
                };
                let (low, high) = (row(rank - ranks), row(rank + ranks));
                let outside = distribution(&calibrated, &data);
                let outside = outside.iter().filter(|(value, _)| !(low..=high).contains(value));
                let chance: f64 = outside.map(|(_, mass)| mass.to_f64()).sum();
                assert!(chance <= 0.3, "{p} {adjacency} {data:?}: {chance}");
            }
        }
        // Seven rows at the low end: the four other values are all eight changes away.
        let calibrated = params("1", "1/2", small(), Adjacency::AddRemove).calibrate().unwrap();
        let attained = distribution(&calibrated, &[0; 7]);
        let others = 4.0 * (-4f64).exp();
        assert!((1.0 - attained.mass(&0).to_f64() - others / (1.0 + others)).abs() < 1e-12);
    }

    #[test]
    fn ends_and_empty_data_have_answers() {
        let coins = || ScriptedWords::new(vec![0x9e37_79b9_7f4a_7c15, 1, 2 << 60, 3, 4]);
        for adjacency in Adjacency::ALL {
            for range in [Range::WHOLE, lattice::FLOATS, Range::new(5, 5).unwrap()] {
                let calibrated = params("1", "1/2", range, adjacency).calibrate().unwrap();
                for rows in
                    [vec![], vec![i64::MIN], vec![i64::MAX; 900], vec![i64::MIN, i64::MAX], vec![0; 400]]
                {
                    let answer = calibrated.run_integers(&rows, &mut coins());
                    assert_eq!(range.clamp(answer), answer, "{rows:?}");
                    if rows.len() > 300 {
                        assert_eq!(answer, range.clamp(rows[0]));
                    }
                }
            }
        }
        let calibrated = params("1", "1/2", lattice::FLOATS, Adjacency::AddRemove).calibrate().unwrap();
        let rows = [vec![f64::NAN; 5000], vec![2.5; 400], vec![f64::INFINITY; 9]].concat();
        assert_eq!(lattice::ordinal(calibrated.run_floats(&rows, &mut coins())), lattice::ordinal(2.5));
        let cents = lattice::Grid::new(ratio("0.01")).unwrap();
        let salaries = params("1", "1/2", Range::new(0, 100_000_000).unwrap(), Adjacency::AddRemove);
        let rows = [vec![f64::NAN; 300], vec![1234.567; 300]].concat();
        let answer = salaries.calibrate().unwrap().run_grid(&rows, &cents, &mut coins());
        assert_eq!(answer, ratio("1234.57"));
        let calibrated = params("1", "1/2", lattice::FLOATS, Adjacency::Replace).calibrate().unwrap();
        let rows = [vec![f64::NAN; 5000], vec![2.5; 400]].concat();
        assert_eq!(lattice::ordinal(calibrated.run_floats(&rows, &mut coins())), lattice::ordinal(f64::MIN));
    }

    #[test]
    fn shells_cover_the_lattice_once() {
        let calibrated = params("1", "1/4", small(), Adjacency::AddRemove).calibrate().unwrap();
        for data in datasets(&[0, 1, 2, 3, 4], 5, Adjacency::AddRemove) {
            let window = target("1/4").window(&data, small(), calibrated.reach());
            let mut spans = target("1/4").reachable(&window, 92, Adjacency::AddRemove);
            spans.push(Span { low: 0, high: 4 });
            let mut values: Vec<i64> = (0..spans.len())
                .map(|length| Shell::of(&spans, length))
                .flat_map(|shell| (0..shell.count()).map(move |place| shell.value(place)))
                .collect();
            values.sort_unstable();
            assert_eq!(values, [0, 1, 2, 3, 4], "{data:?}");
        }
        let whole = [Span { low: 7, high: 7 }, Span { low: i64::MIN, high: i64::MAX }];
        let shell = Shell::of(&whole, 1);
        assert_eq!(
            (shell.count(), shell.value(0), shell.value(u64::MAX - 1)),
            (u64::MAX, i64::MIN, i64::MAX)
        );
    }

    #[test]
    fn a_script_is_followed() {
        // Lengths 0, 2, 3, 4 of the rows 1, 1, 3 weigh 1, 2e^-1, e^-3/2, e^-2 of 2.0942: sums .4775, .8288, .9354.
        let calibrated = params("1", "1/2", small(), Adjacency::AddRemove).calibrate().unwrap();
        for (first, place, answer) in [
            (0.47, 0, 1),
            (0.48, 0, 2),
            (0.48, u64::MAX, 3),
            (0.82, 1 << 63, 3),
            (0.83, 0, 0),
            (0.94, 1 << 63, 4),
        ] {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a word of a script")]
            let word = (first * 2f64.powi(64)) as u64;
            let mut coins = ScriptedWords::new(vec![word, 0, place, 0, 0]);
            assert_eq!((calibrated.run_integers(&[1, 3, 1], &mut coins), coins.used()), (answer, 5));
        }
    }

    #[test]
    #[should_panic = "a window that reaches as far as the mechanism looks"]
    fn a_window_that_is_too_small_is_refused_however_few_rows_it_has() {
        let target = Target::from(crate::stability::Quantile::half());
        let median = InverseSensitivity {
            eps: "1".parse().unwrap(),
            target,
            range: Range::WHOLE,
            adjacency: Adjacency::AddRemove,
        };
        let window = target.window(&[], Range::WHOLE, Reach::Ranks(1));
        median.calibrate().unwrap().run(&window, &mut crate::coins::ScriptedWords::new(vec![0; 9]));
    }

    #[test]
    fn the_median_type_is_a_target() {
        assert_eq!(Target::from(Median.quantile()), target("1/2"));
    }
}
