//! The smooth bound: the largest of what one row can move after k changes, discounted by e^-beta for each.
//!
//! Source: 002_c9075a084346ce80.txt, definition 1.10; Nissim, Raskhodnikova, Smith 2007.
//!
//! # Claim
//!
//! A [`Bound`] S' satisfies, exactly and for all data sets x and neighbours x' of its adjacency:
//! `|f(x) - f(x')| <= S'(x)` and `S'(x) <= e^beta·S'(x')`. It exceeds the smooth sensitivity
//! `max_k e^(-beta k) LS_k(x)` by less than one part in 2^40, or is a public floor where that is more. (Only for
//! quantiles other than the median under add/remove, and a beta so small that more than 2048 distances count, it may
//! be larger.)
//!
//! # Why
//!
//! Rounding a smooth bound up, row by row, would break its smoothness. So the weights are rounded, once
//! and publicly, and everything that looks at rows is exact.
//! 1. The weights are binary numbers `1 = w_0 >= w_1 >= …` with `w_k <= e^beta·w_(k+1)`: each is e^-beta
//!    times the one before, rounded up.
//! 2. `S'(x) = max_k w_k·LS_k(x)`, in whole numbers. Since `LS_k(x) <= LS_(k+1)(x')`, each term of x is at
//!    most e^beta times a term of x'. The term k = 0 is `LS_0`.
//! 3. From the public distance K on every local sensitivity counts as the widest possible, so step 2 holds
//!    at the end of the table, and `w_K·width` is the floor.
//! 4. Under replace a window of a quantile or a trimmed mean has two ends. One replaced row moves all
//!    sorted rows up by at most one place, or all down: so a window that reaches a ranks up and b down
//!    lies in one of the neighbour's that reaches one rank more on one side. Therefore the weight `w_a·w_b` in
//!    place of `w_(a+b)` is as good, and splits into a part of each end.
//! 5. For a lower end z the upper ends a compete with `w_a·(x_a - z)`: lines in z, the steeper the smaller
//!    a. As z falls, a smaller a can only gain, so the best a for the middle lower end bounds it for
//!    all others: K log K products in all, as many for every data set.
//! 6. The windows of step 4 make a smooth bound under add/remove too: a row that comes or goes moves the rank of a
//!    quantile and the ranks of other rows by at most one, so again one rank more on one side is enough. Exact
//!    quantiles other than the median need K² windows; beyond 2048 distances the smaller of both bounds is taken.
//!
//! # Differs
//!
//! The text takes real exponentials. The usual algorithm stops once no farther window can win; this one
//! looks at a public number of distances, so that its time does not depend on the rows.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, ratio::Ratio, stability::{Median, Range, smooth::Decay}};
//!
//! // Ten rows at the low end of [0, 1000]: nothing moves the median before five rows have changed.
//! let range = Range::new(0, 1000)?;
//! let decay = Decay::for_range(&Ratio::one(), range)?;
//! let window = Median.window(&[0; 10], range, decay.reach(Median.quantile(), Adjacency::Replace));
//! let bound = decay.median(&window, Adjacency::Replace);
//! assert!((bound.value().to_f64() - 1000.0 * (-5f64).exp()).abs() < 1e-9);
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{
    Median, Profile, Quantile, Range, Reach, Sorted, TrimmedMean, Window,
    decay::{Ends, Scaled, Weight, weights},
};
use crate::{adjacency::Adjacency, loss::ParameterError, ratio::Ratio, redact::debug_only_public};

/// The floor of a bound over a range is below this part of a step, where the table is long enough.
const FLOOR_BITS: i64 = 16;
/// No table is longer: a smaller beta gets a higher floor.
const MOST_DISTANCES: u64 = 1 << 20;
/// Quantiles other than the median need as many windows as this squared under add/remove.
const MOST_DISTANCES_OF_QUANTILES: u64 = 1 << 11;

/// Public weights by distance, made for one beta.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decay {
    beta: Ratio,
    weights: Vec<Weight>,
}

/// A smooth bound on what one row can move a statistic. Private: it depends on the rows.
#[derive(Clone, PartialEq, Eq)]
pub struct Bound {
    beta: Ratio,
    value: Ratio,
    least: Ratio,
    most: Ratio,
}

debug_only_public!(Bound { beta, least, most });

impl Bound {
    /// The bound, in the unit of the statistic.
    pub fn value(&self) -> &Ratio {
        &self.value
    }

    /// It changes by at most e^beta between neighbours.
    pub fn beta(&self) -> &Ratio {
        &self.beta
    }

    /// No data set has a smaller bound: public.
    pub fn least(&self) -> &Ratio {
        &self.least
    }

    /// No data set has a larger bound: public.
    pub fn most(&self) -> &Ratio {
        &self.most
    }

    /// The smaller of two bounds of one statistic over one range, which is the most that either says.
    fn smaller(self, other: Self) -> Self {
        Self { value: self.value.min(other.value), least: self.least.min(other.least), ..self }
    }

    /// The bound of the statistic divided by a public number.
    fn over(self, divisor: &Ratio) -> Self {
        let [value, least, most] = [&self.value, &self.least, &self.most].map(|part| part / divisor);
        Self { value, least, most, ..self }
    }
}

impl Decay {
    /// The table of e^(-beta k) up to k = `distances`, or as long as tables get.
    pub fn new(beta: &Ratio, distances: u64) -> Result<Self, ParameterError> {
        let distances = distances.min(MOST_DISTANCES);
        Self::until(beta, |weights| weights.len() as u64 > distances)
    }

    /// The table that brings the floor of bounds over this range below 2^-16 steps.
    pub fn for_range(beta: &Ratio, range: Range) -> Result<Self, ParameterError> {
        let width = i64::from(u64::BITS - range.width().leading_zeros());
        let low_enough =
            |weights: &[Weight]| weights.last().is_some_and(|last| last.size() + width <= -FLOOR_BITS);
        Self::until(beta, |weights| weights.len() as u64 > MOST_DISTANCES || low_enough(weights))
    }

    fn until(beta: &Ratio, done: impl Fn(&[Weight]) -> bool) -> Result<Self, ParameterError> {
        if !beta.is_positive() || *beta > Ratio::from(1000u64) {
            return Err(ParameterError::out_of_range(
                "beta",
                beta,
                "give a number above 0 and at most 1000, such as a tenth of epsilon",
            ));
        }
        Ok(Self { beta: beta.clone(), weights: weights(beta, done) })
    }

    /// How fast a bound may change between neighbours.
    pub fn beta(&self) -> &Ratio {
        &self.beta
    }

    /// The distance from which on a local sensitivity counts as the widest possible.
    pub fn distances(&self) -> u64 {
        self.weights.len() as u64 - 1
    }

    /// The window of ranks that this table can make use of.
    pub fn reach(&self, quantile: Quantile, adjacency: Adjacency) -> Reach {
        let exact = quantile == Median.quantile() || self.distances() <= MOST_DISTANCES_OF_QUANTILES;
        // The windows of replace look at a rank for each distance.
        let looks = if exact { adjacency } else { Adjacency::Replace };
        quantile.reach_for(self.distances(), looks)
    }

    /// The bound of the low median, with the low end of the range as the median of no rows.
    pub fn median(&self, window: &Window, adjacency: Adjacency) -> Bound {
        self.quantile(Median.quantile(), window, adjacency)
    }

    /// The bound of a quantile, with the low end of the range as the quantile of no rows.
    ///
    /// A window smaller than [`Self::reach`] gives a higher floor.
    pub fn quantile(&self, quantile: Quantile, window: &Window, adjacency: Adjacency) -> Bound {
        assert_eq!(window.rank(), quantile.rank(window.rows()), "a window around the quantile");
        match adjacency {
            Adjacency::Replace => self.around_target(window),
            Adjacency::AddRemove if quantile == Median.quantile() => {
                self.by_distance(window, self.known(quantile, window), |k| {
                    Median.local_sensitivity_at_distance(window, k, adjacency)
                })
            }
            Adjacency::AddRemove => self.quantile_add_remove(quantile, window, MOST_DISTANCES_OF_QUANTILES),
        }
    }

    /// For how many distances this window fixes the local sensitivity under add/remove.
    fn known(&self, quantile: Quantile, window: &Window) -> u64 {
        let known = quantile.distances(window.reach(), Adjacency::AddRemove);
        known.map_or(self.distances(), |known| known.min(self.distances()))
    }

    /// Exact up to the distance `most`, where the number of windows grows with the square; beyond it the smaller of
    /// two bounds, which is smooth since both are.
    fn quantile_add_remove(&self, quantile: Quantile, window: &Window, most: u64) -> Bound {
        let known = self.known(quantile, window);
        let near = self.by_distance(window, known.min(most), |k| {
            quantile.local_sensitivity_at_distance(window, k, Adjacency::AddRemove)
        });
        if known <= most { near } else { near.smaller(self.around_target(window)) }
    }

    /// The bound from all windows of ranks that touch the target.
    fn around_target(&self, window: &Window) -> Bound {
        let distances = match window.reach() {
            Reach::Ranks(ranks) => ranks.min(self.distances()),
            Reach::All => self.distances(),
        };
        let rank = i128::from(window.rank());
        let best = self.two_sided(distances, (rank - 1, rank), |rank| window.at(rank));
        self.bound(best, distances, window.range().width())
    }

    /// The bound of a trimmed mean of values of which one is replaced.
    pub fn trimmed_mean(&self, mean: TrimmedMean, values: &Sorted) -> Bound {
        assert_eq!(values.count(), mean.count(), "the public number of values");
        let ends = (i128::from(mean.trim()), i128::from(mean.count() - mean.trim()));
        let best = self.two_sided(self.distances(), ends, |rank| values.at(rank));
        let middle = Ratio::from(mean.count() - 2 * mean.trim());
        self.bound(best, self.distances(), values.range().width()).over(&middle)
    }

    /// The bound of any statistic from its local sensitivities by distance.
    pub fn profile<S: Clone + Into<Ratio>>(&self, profile: &Profile<S>) -> Bound {
        let mut best = Ratio::zero();
        let mut weights = self.weights.iter();
        let last = weights.next_back().expect("starts with one");
        let (mut entries, mut floor) = (profile.at_distance.iter(), None);
        for weight in weights {
            let Some(entry) = entries.next() else {
                floor = Some(weight);
                break;
            };
            best = best.max(weight.ratio() * entry.clone().into());
        }
        let most: Ratio = profile.beyond.clone().into();
        let least = floor.unwrap_or(last).ratio() * &most;
        Bound { beta: self.beta.clone(), value: best.max(least.clone()), least, most }
    }

    fn weight(&self, distance: u64) -> Weight {
        self.weights[usize::try_from(distance).expect("a distance of the table")]
    }

    fn bound(&self, best: Scaled, distances: u64, width: u64) -> Bound {
        let floor = Scaled::new(width, self.weight(distances), Weight::ONE);
        Bound {
            beta: self.beta.clone(),
            value: best.max(floor).ratio(),
            least: floor.ratio(),
            most: Ratio::from(width),
        }
    }

    fn by_distance(
        &self,
        window: &Window,
        distances: u64,
        sensitivity: impl Fn(u64) -> Option<u64>,
    ) -> Bound {
        let term = |k| {
            let moved = sensitivity(k).expect("within the reach of the window");
            Scaled::new(moved, self.weight(k), Weight::ONE)
        };
        let best = (0..distances).map(term).max().unwrap_or(Scaled::ZERO);
        self.bound(best, distances, window.range().width())
    }

    /// The largest `w_a·w_b·gap` over the windows from rank `first + 1 - b` to `last + 1 + a` and from
    /// `first - b` to `last + a`, for a and b below `distances`.
    fn two_sided(&self, distances: u64, (first, last): (i128, i128), at: impl Fn(i128) -> i64) -> Scaled {
        let ranks = i128::from(distances);
        let lows: Vec<i64> = (-1..ranks).map(|b| at(first - b)).collect();
        let highs: Vec<i64> = (0..=ranks).map(|a| at(last + a)).collect();
        let count = lows.len() - 1;
        let mut best = Scaled::ZERO;
        for (lows, highs) in [(&lows[..count], &highs[1..]), (&lows[1..], &highs[..count])] {
            Ends { lows, highs, weights: &self.weights }.widest(&mut best);
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{interval::Interval, stability::brute_force::Neighbourhoods, universe};

    const BITS: usize = 256;
    const ADJACENCIES: [Adjacency; 2] = Adjacency::ALL;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn range(hi: i64) -> Range {
        Range::new(0, hi).unwrap()
    }

    fn quantiles() -> Vec<Quantile> {
        ["1/2", "1/4", "0.9"].map(|text| Quantile::new(&ratio(text)).unwrap()).to_vec()
    }

    fn value(quantile: Quantile, data: &[i64]) -> i64 {
        let rank = usize::try_from(quantile.rank(data.len() as u64)).unwrap();
        data.get(rank - 1).copied().unwrap_or(0)
    }

    #[test]
    fn the_smaller_of_two_bounds_is_smooth_between_all_neighbours() {
        let (values, adjacency) = ([0, 1, 2, 5], Adjacency::AddRemove);
        for (beta, most) in [("0.1", 0), ("0.3", 1), ("0.3", 2), ("1", 3)] {
            let decay = Decay::for_range(&ratio(beta), range(5)).unwrap();
            for quantile in quantiles() {
                let statistic = |data: &[i64]| Ratio::from(value(quantile, data));
                let bound = |data: &[i64]| {
                    let window = quantile.window(data, range(5), Reach::Ranks(decay.distances()));
                    let smaller = decay.quantile_add_remove(quantile, &window, most);
                    let exact = decay.quantile_add_remove(quantile, &window, u64::MAX);
                    let (replace, slack) = (decay.around_target(&window), ratio("1.0000000001"));
                    assert!(exact.value <= &smaller.value * &slack && smaller.value <= replace.value);
                    smaller.value
                };
                let found = violations(&values, 5, adjacency, decay.beta(), statistic, bound);
                assert_eq!(found, 0, "{quantile:?} {beta} {most}");
            }
        }
    }

    fn bound_of(decay: &Decay, quantile: Quantile, data: &[i64], hi: i64, adjacency: Adjacency) -> Ratio {
        let window = quantile.window(data, range(hi), decay.reach(quantile, adjacency));
        decay.quantile(quantile, &window, adjacency).value
    }

    /// Neighbours where the bound is below what one row moves, or grows by more than e^beta.
    fn violations(
        values: &[i64],
        size: usize,
        adjacency: Adjacency,
        beta: &Ratio,
        statistic: impl Fn(&[i64]) -> Ratio,
        bound: impl Fn(&[i64]) -> Ratio,
    ) -> usize {
        let factor = Interval::exact(beta, BITS).exp().lower();
        let pairs = universe::neighbouring_pairs(values, size, adjacency);
        assert!(pairs.len() > 20);
        let broken = |(a, b): &&(Vec<i64>, Vec<i64>)| {
            let (here, there) = (bound(a), bound(b));
            let moved = (statistic(a) - statistic(b)).abs();
            moved > here || moved > there || here > &there * &factor || there > &here * &factor
        };
        pairs.iter().filter(broken).count()
    }

    #[test]
    fn quantiles_are_smooth_between_all_neighbours() {
        let values = [0, 1, 2, 5];
        for (adjacency, beta) in
            ADJACENCIES.into_iter().flat_map(|a| ["0.1", "0.7", "2"].map(|b| (a, ratio(b))))
        {
            for decay in [
                Decay::for_range(&beta, range(5)),
                Decay::new(&beta, 0),
                Decay::new(&beta, 1),
                Decay::new(&beta, 3),
            ] {
                let decay = decay.unwrap();
                for quantile in quantiles() {
                    let statistic = |data: &[i64]| Ratio::from(value(quantile, data));
                    let bound = |data: &[i64]| bound_of(&decay, quantile, data, 5, adjacency);
                    assert_eq!(violations(&values, 5, adjacency, &beta, statistic, bound), 0, "{quantile:?}");
                }
            }
        }
    }

    #[test]
    fn trimmed_means_are_smooth_between_all_neighbours() {
        let beta = ratio("0.3");
        for (count, trim) in [(6, 2), (5, 1), (4, 0), (5, 2)] {
            let mean = TrimmedMean::new(count, trim).unwrap();
            for distances in [0, 2, 60] {
                let decay = Decay::new(&beta, distances).unwrap();
                let sorted = |data: &[i64]| Sorted::new(data, range(5));
                let statistic = |data: &[i64]| mean.value(&sorted(data));
                let bound = |data: &[i64]| decay.trimmed_mean(mean, &sorted(data)).value;
                let size = usize::try_from(count).unwrap();
                assert_eq!(violations(&[0, 1, 2, 5], size, Adjacency::Replace, &beta, statistic, bound), 0);
            }
        }
    }

    #[test]
    fn mutants_that_round_elsewhere_are_caught() {
        let (beta, quantile) = (ratio("0.2"), Median.quantile());
        let decay = Decay::for_range(&beta, range(5)).unwrap();
        let statistic = |data: &[i64]| Ratio::from(value(quantile, data));
        for adjacency in ADJACENCIES {
            let count = |bound: &dyn Fn(&[i64]) -> Ratio| {
                violations(&[0, 1, 2, 5], 5, adjacency, &beta, statistic, bound)
            };
            // The bound rounded up to whole steps, or to a tenth.
            for step in ["1", "0.1"] {
                let rounded = |data: &[i64]| {
                    let steps = bound_of(&decay, quantile, data, 5, adjacency) / ratio(step);
                    Ratio::whole(steps.ceil_big()) * ratio(step)
                };
                assert!(count(&rounded) > 0, "{step}");
            }
            // Each weight rounded up by itself instead of from the one before.
            let mut apart = decay.clone();
            for (k, weight) in (0u64..).zip(&mut apart.weights) {
                let exact = Interval::exact(&-(&beta * &Ratio::from(k)), BITS).exp();
                *weight = Weight::from_up(&exact.upper().dyadic_up(4));
            }
            assert!(count(&|data| bound_of(&apart, quantile, data, 5, adjacency)) > 0);
            // The local sensitivity itself.
            let local = |data: &[i64]| {
                let window = Median.window(data, range(5), Reach::All);
                Ratio::from(Median.local_sensitivity_at_distance(&window, 0, adjacency).unwrap())
            };
            assert!(count(&local) > 0);
        }
    }

    /// `max_k e^(-beta k) levels[k]`, enclosed.
    fn smooth_sensitivity(beta: &Ratio, levels: impl Iterator<Item = Ratio>) -> Interval {
        let term = |(k, level): (u64, Ratio)| {
            Interval::exact(&-(beta * &Ratio::from(k)), BITS).exp().mul_ratio(&level)
        };
        (0u64..).zip(levels).map(term).reduce(|a, b| a.max(&b)).unwrap()
    }

    fn assert_close(found: &Ratio, exact: &Interval) {
        assert!(*found >= exact.lower(), "{} {}", found.to_f64(), exact.to_f64());
        assert!(*found <= exact.upper() * ratio("1.0000000001"), "{} {}", found.to_f64(), exact.to_f64());
    }

    #[test]
    fn bounds_of_quantiles_are_the_smooth_sensitivity_found_by_search() {
        let values = [0, 1, 3, 8];
        for (adjacency, size) in [(Adjacency::Replace, 4), (Adjacency::Replace, 5), (Adjacency::AddRemove, 7)]
        {
            let all = Neighbourhoods::new(&values, size, adjacency);
            for (quantile, beta) in quantiles().into_iter().flat_map(|q| ["0.2", "1"].map(|b| (q, ratio(b))))
            {
                let decay = Decay::for_range(&beta, range(8)).unwrap();
                let levels =
                    all.local_sensitivities(|data| value(quantile, data), |a, b| a.abs_diff(*b), size + 1);
                for (i, data) in all.datasets().iter().enumerate() {
                    // After as many changes as there are rows, one row can move anything.
                    if all.covers(data, data.len() as u64) {
                        let here = levels.iter().map(|level| Ratio::from(level[i].unwrap()));
                        let exact = smooth_sensitivity(&beta, here.take(data.len() + 1));
                        assert_close(&bound_of(&decay, quantile, data, 8, adjacency), &exact);
                    }
                }
            }
        }
    }

    #[test]
    fn bounds_of_trimmed_means_and_profiles_agree_with_each_other() {
        let (values, beta) = ([0, 1, 3, 8], ratio("0.4"));
        let decay = Decay::for_range(&beta, range(8)).unwrap();
        for (count, trim) in [(5, 1), (6, 2), (3, 1), (1, 0)] {
            let mean = TrimmedMean::new(count, trim).unwrap();
            for data in universe::datasets(&values, usize::try_from(count).unwrap(), Adjacency::Replace) {
                let sorted = Sorted::new(&data, range(8));
                let profile = mean.profile(&sorted, 9);
                let exact = smooth_sensitivity(&beta, profile.at_distance.iter().cloned());
                assert_close(&decay.trimmed_mean(mean, &sorted).value, &exact);
                assert_close(&decay.profile(&profile).value, &exact);
            }
        }
        // A short profile ends in its ceiling: e^(-2 beta)·9.
        let short = Profile { at_distance: vec![1u64, 2], beyond: 9 };
        let bound = decay.profile(&short);
        let weight = Interval::exact(&ratio("-0.8"), BITS).exp();
        assert_close(bound.value(), &weight.mul_ratio(&Ratio::from(9u64)));
        assert_eq!((bound.value(), bound.most()), (bound.least(), &Ratio::from(9u64)));
    }

    fn median_of(data: &[i64], hi: i64, beta: &str, adjacency: Adjacency) -> f64 {
        let decay = Decay::for_range(&ratio(beta), range(hi)).unwrap();
        bound_of(&decay, Median.quantile(), data, hi, adjacency).to_f64()
    }

    #[test]
    fn worked_numbers_of_the_text() {
        // Example 1.11: ten zeros in [0, R] have smooth sensitivity e^(-5 epsilon) R, not e^(-4 epsilon) R.
        for (beta, exponent) in [("1", 5.0f64), ("0.5", 2.5), ("0.1", 0.5)] {
            let found = median_of(&[0; 10], 1000, beta, Adjacency::Replace);
            assert!((found - 1000.0 * (-exponent).exp()).abs() < 1e-9, "{found}");
        }
        // With the two middle rows averaged it is half of e^(-4 epsilon) R.
        let decay = Decay::for_range(&Ratio::one(), range(1000)).unwrap();
        let averaged =
            decay.trimmed_mean(TrimmedMean::new(10, 4).unwrap(), &Sorted::new(&[0; 10], range(1000)));
        assert!((averaged.value().to_f64() - 500.0 * (-4f64).exp()).abs() < 1e-9);
        // The bound is of order one from about 2 ln(R)/epsilon zeros on: 28 at R = 10^6, where ln R = 13.8.
        let of_zeros = |rows: usize| median_of(&vec![0; rows], 1_000_000, "1", Adjacency::Replace);
        assert_eq!((1..40).find(|&rows| of_zeros(rows) <= 1.0), Some(28));
        // Any number of equal rows: e^(-beta floor(n/2)) (hi - lo).
        for rows in 1..9i32 {
            let found = median_of(&vec![0; rows.unsigned_abs() as usize], 64, "0.3", Adjacency::Replace);
            assert!((found - 64.0 * (-0.3 * f64::from(rows / 2)).exp()).abs() < 1e-9);
        }
    }

    #[test]
    fn edges() {
        for adjacency in ADJACENCIES {
            // No rows: one can be anything. A range of one value: nothing can move.
            assert!((median_of(&[], 7, "0.3", adjacency) - 7.0).abs() < 1e-12);
            assert!(median_of(&[0, 0], 0, "0.3", adjacency).abs() < 1e-300);
            assert!(median_of(&[3], 7, "0.3", adjacency) >= 4.0);
        }
        for text in ["0", "-1", "1001"] {
            let error = Decay::new(&ratio(text), 3).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("beta {text} is not accepted: give a number above 0")),
                "{error}"
            );
        }
        // The largest and the smallest beta keep their promise: a floor below 2^-16 steps, or the longest table.
        for (text, most) in [("1000", 2), ("1e-30", MOST_DISTANCES)] {
            let decay = Decay::for_range(&ratio(text), Range::WHOLE).unwrap();
            assert!(decay.distances() <= most);
        }
        let decay = Decay::for_range(&ratio("0.1"), Range::WHOLE).unwrap();
        let floor = Ratio::from(u64::MAX) * decay.weight(decay.distances()).ratio();
        assert!(floor < ratio("1/65536") && decay.distances() < 570, "{}", decay.distances());
    }

    #[test]
    fn the_whole_of_64_bits_does_not_overflow() {
        let beta = ratio("0.2");
        let decay = Decay::for_range(&beta, Range::WHOLE).unwrap();
        for adjacency in ADJACENCIES {
            for data in [vec![i64::MIN, i64::MAX], vec![i64::MIN; 5], vec![0; 9], vec![]] {
                let reach = decay.reach(Median.quantile(), adjacency);
                let bound = decay.median(&Median.window(&data, Range::WHOLE, reach), adjacency);
                assert!(bound.least() <= bound.value() && bound.value() <= bound.most());
            }
        }
    }
}
