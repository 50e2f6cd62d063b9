//! Releases the interquartile range without any bounds: a width that fewer changed rows would make the range is more likely. It
//! never refuses.
//!
//! Source: Asi and Duchi, inverse sensitivity (framework 2 of 002_c9075a084346ce80.txt, section 1.5), for the interquartile range of
//! 000_4d769f04a6a550e8.txt, section 7.2.1.
//!
//! # Guarantee
//!
//! (epsilon, 0) under the adjacency given, and `epsilon²/8`-zero-concentrated, for any rows. Width y of a public lattice is
//! released with probability exactly proportional to `e^(-epsilon·length(y)/2)`.
//!
//! # Why
//!
//! 1. The length of y is the number of changed rows after which the range can be y or beyond
//!    ([`iqr::reachable`]). It is the larger of two numbers of changes: to a range of at least y's cell, and
//!    to one below the next cell. Either is a distance from the rows to a set of data sets, and moves by at most one between neighbours; so do
//!    the larger of the two, and the length cut off at a public number, which is what is used.
//! 2. So all weights move by a factor of at most `e^(epsilon/2)`, their sum too, and each probability by at most `e^epsilon`; the
//!    log-ratios lie in an interval of length epsilon.
//! 3. Widths of a length are counted, a length is drawn, then one of its widths: no loop over the lattice.
//!
//! # Differs
//!
//! Two quartiles that are drawn apart have half of epsilon each, and each pays for a lattice of values in ranks; one width pays once, for
//! a lattice that has no sign. The text's `scale` releases a factor, and refuses where the range is not stable.
//!
//! No rows read as a width of zero. After sorting the number of steps depends on public numbers and the number of rows, apart
//! from a further word with a probability below 2^-60.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{
//!     adjacency::Adjacency, coins::ScriptedWords, mechanism::spread::{InverseSpread, Widths},
//!     stability::{Sorted, Spacing, digits::Digits, lattice::{FLOATS, ordinal}},
//! };
//!
//! let spread = InverseSpread { eps: "1".parse()?, widths: Widths::Decimals(Digits::new(6)?), adjacency: Adjacency::AddRemove };
//! let calibrated = spread.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "1-differential privacy");
//! // Among all decimals of six digits, with probability 0.95, each quartile is at most 39 ranks off.
//! assert_eq!(calibrated.accuracy(&"0.05".parse()?)?, 39);
//! let salaries: Vec<i64> = (0..1000).map(|i| ordinal(20_000.0 + 50.0 * f64::from(i)).unwrap()).collect();
//! let rows = Sorted::new(&salaries, FLOATS).spaced(Spacing::Floats);
//! # let mut coins = ScriptedWords::new(vec![1 << 62; 5]);
//! let width = calibrated.run(&rows, &mut coins);
//! assert!((width - 25_000.0).abs() < 1000.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{
    exponential::{rho_of_bounded_range, units_up},
    inverse_sensitivity::{Shell, counts},
};
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    interval::ln_upper,
    loss::{Eps, Loss, ParameterError, Rho},
    ratio::Ratio,
    sampler::{damped::Damping, uniform::UpTo},
    stability::{InOrder, digits::Digits, iqr, lattice::float, reachable::Span},
};
use dashu_int::{IBig, UBig};
use std::sync::Arc;

/// The widths that may be released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Widths {
    /// Whole numbers of steps up to this one, for rows that are so many steps apart.
    Steps(i64),
    /// The decimals of a lattice that are not below zero, for rows whose gaps are those of floats.
    Decimals(Digits),
}

impl Widths {
    /// The largest one.
    fn last(&self) -> i64 {
        match self {
            Self::Steps(last) => *last,
            Self::Decimals(digits) => digits.range().hi(),
        }
    }

    /// The place of a gap.
    fn place(&self, gap: u64) -> i64 {
        let gap = i64::try_from(gap).unwrap_or(i64::MAX);
        match self {
            Self::Steps(last) => gap.min(*last),
            Self::Decimals(digits) => digits.place(float(gap).unwrap_or(f64::MAX)),
        }
    }

    fn value(&self, place: i64) -> f64 {
        match self {
            Self::Steps(_) => place as f64,
            Self::Decimals(digits) => digits.float(place),
        }
    }
}

/// Parameters of the mechanism; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InverseSpread {
    /// The privacy loss.
    pub eps: Eps,
    /// What may be released. Fewer widths err less.
    pub widths: Widths,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A mechanism that is ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    params: InverseSpread,
    damping: Arc<Damping>,
}

/// More lengths than this are refused: each looks at as many rows.
const MOST_LENGTHS: i64 = 1 << 14;
/// Widths beyond the cut-off weigh at most 2^-64 of the best one.
const CUT_OFF_BITS: usize = 64;

impl InverseSpread {
    /// Choose the cut-off and write down the weights of all lengths.
    pub fn calibrate(self) -> Result<Calibrated, ParameterError> {
        let whole = (self.others() + Ratio::one()) * Ratio::from_parts(IBig::ONE << CUT_OFF_BITS, UBig::ONE);
        let length = (ln_upper(&whole) / self.step()).ceil_i64().filter(|&length| length <= MOST_LENGTHS);
        let length = length.and_then(|length| usize::try_from(length).ok()).ok_or_else(|| {
            ParameterError::out_of_range(
                "epsilon",
                &self.eps,
                "a range this wide needs a larger one, such as 0.01",
            )
        })?;
        Ok(self.cut_off_at(length))
    }

    /// The mechanism whose lengths are cut off at this number, for audits: any number is as private. Panics at zero.
    pub fn cut_off_at(self, length: usize) -> Calibrated {
        assert!(length > 0, "some length differs from another");
        let damping = Arc::new(Damping::new(&self.step(), length));
        Calibrated { params: self, damping }
    }

    /// How many ranks each quartile is off at most, with probability 1 - beta: the accuracy, known before any weight is written down.
    pub fn ranks_for(&self, beta: &Ratio) -> Result<u64, ParameterError> {
        let units = units_up(&self.others(), beta)?;
        let kept = *beta >= Ratio::dyadic(IBig::ONE, CUT_OFF_BITS);
        self.ranks_at(&units).filter(|_| kept).ok_or_else(|| {
            ParameterError::out_of_range("beta", beta, "give a number of at least 1e-19: lengths are cut off")
        })
    }

    fn step(&self) -> Ratio {
        self.eps.ratio() / &Ratio::from(2u64)
    }

    /// How many widths there are beside the best one.
    fn others(&self) -> Ratio {
        Ratio::from(self.widths.last())
    }

    /// The ranks where `e^(-epsilon·length/2)` falls to `e^-units`. Of k rows that come or go, each quartile moves by three quarters at most.
    fn ranks_at(&self, units: &Ratio) -> Option<u64> {
        let unlikely = (units / &self.step()).ceil_i64()?;
        let length = u64::try_from(unlikely - 1).unwrap_or(0);
        Some(match self.adjacency {
            Adjacency::Replace => length,
            Adjacency::AddRemove => (3 * length).div_ceil(4),
        })
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
    pub fn params(&self) -> &InverseSpread {
        &self.params
    }

    /// A width. Rows lie in their public range, and as far apart as the widths say.
    pub fn run<C: Coins>(&self, rows: &dyn InOrder, coins: &mut C) -> f64 {
        self.params.widths.value(self.run_place(rows, coins))
    }

    /// The place of a width in its lattice.
    pub fn run_place<C: Coins>(&self, rows: &dyn InOrder, coins: &mut C) -> i64 {
        let InverseSpread { widths, adjacency, .. } = &self.params;
        let reached = iqr::reachable(rows, self.damping.last(), *adjacency);
        let span = |(low, high): (u64, u64)| Span { low: widths.place(low), high: widths.place(high) };
        let mut spans: Vec<Span> = reached.into_iter().map(span).collect();
        spans.push(Span { low: 0, high: widths.last() });
        let length = coins.sample(&self.damping.law(counts(&spans)));
        let shell = Shell::of(&spans, length);
        let place = coins.sample(&UpTo(u128::from(shell.count() - 1)));
        shell.value(u64::try_from(place).expect("below the count"))
    }

    /// With probability 1 - beta, the answer lies between the least and the largest distance of two rows that are each at most this many ranks
    /// from their quartile, as the lattice rounds them; where there is no such row, the end of the range stands for it.
    pub fn accuracy(&self, beta: &Ratio) -> Result<u64, ParameterError> {
        self.params.ranks_for(beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::{AUDIT_BITS, Interval},
        stability::{Range, Sorted, Spacing, lattice},
        tape::{Pmf, delta_between, enumerate},
        universe::neighbouring_pairs,
    };
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn steps(eps: &str, last: i64, adjacency: Adjacency) -> InverseSpread {
        InverseSpread { eps: eps.parse().unwrap(), widths: Widths::Steps(last), adjacency }
    }

    #[test]
    fn hand_computed_calibrations() {
        // Ten widths at epsilon 2: e^-(length) is below one in 19 of 10 others from ln(190) = 5.25 on, which is length 6.
        let few = steps("2", 10, Adjacency::Replace);
        assert_eq!(few.ranks_for(&ratio("0.05")).unwrap(), 5);
        assert_eq!(steps("2", 10, Adjacency::AddRemove).ranks_for(&ratio("0.05")).unwrap(), 4);
        assert!(few.ranks_for(&ratio("1e-30")).is_err());
        assert_eq!(*few.calibrate().unwrap().bounded_range_rho().ratio(), ratio("0.5"));
        assert!(steps("0.001", i64::MAX, Adjacency::Replace).calibrate().is_err());
    }

    /// The chance of each width, against weights written down by hand.
    #[test]
    fn widths_weigh_what_their_lengths_say() {
        let rows = Sorted::new(&[0, 1, 3, 4], Range::new(0, 4).unwrap());
        let mechanism = steps("2", 4, Adjacency::Replace).cut_off_at(9);
        let law = enumerate(&ratio("1e-12"), |tape| mechanism.run_place(&rows, tape));
        // From the first row to the third: 3. One changed row makes it any width from 1 to 4: the second row moves to the third, or
        // beyond the first; two make it zero.
        let weights = [(-2f64).exp(), (-1f64).exp(), (-1f64).exp(), 1.0, (-1f64).exp()];
        let all: f64 = weights.iter().sum();
        for (width, weight) in weights.iter().enumerate() {
            let found = law.mass(&i64::try_from(width).expect("a few")).to_f64();
            assert!((found - weight / all).abs() < 1e-6, "{width}: {found} {}", weight / all);
        }
    }

    fn worst(run: impl Fn(&[i64]) -> Pmf<i64>, size: usize, eps: &str, adjacency: Adjacency) -> Interval {
        let mut seen: BTreeMap<Vec<i64>, Pmf<i64>> = BTreeMap::new();
        let mut worst = Interval::zero(AUDIT_BITS);
        for (a, b) in neighbouring_pairs(&[0, 1, 3, 4], size, adjacency) {
            for data in [&a, &b] {
                seen.entry(data.clone()).or_insert_with(|| run(data));
            }
            for (one, other) in [(&a, &b), (&b, &a)] {
                worst = worst.max(&delta_between(&ratio(eps), &seen[one], &seen[other]));
            }
        }
        worst
    }

    fn law(eps: &str, adjacency: Adjacency) -> impl Fn(&[i64]) -> Pmf<i64> {
        let mechanism = steps(eps, 4, adjacency).cut_off_at(7);
        move |data| {
            let rows = Sorted::new(data, Range::new(0, 4).unwrap());
            enumerate(&ratio("1e-14"), |tape| mechanism.run_place(&rows, tape))
        }
    }

    #[test]
    fn exact_audit_over_every_pair() {
        for adjacency in Adjacency::ALL {
            let found = worst(law("1", adjacency), 5, "1", adjacency);
            assert!(found.certainly_at_most(&ratio("1e-9")), "{adjacency}: {}", found.to_f64());
        }
    }

    #[test]
    fn a_mutant_whose_lengths_count_twice_is_caught() {
        for adjacency in Adjacency::ALL {
            assert!(
                worst(law("2", adjacency), 5, "1", adjacency).certainly_above(&ratio("0.01")),
                "{adjacency}"
            );
        }
    }

    /// Floats and their decimals run the same lines.
    #[test]
    fn a_scripted_run_is_near_the_range_of_floats() {
        let digits = Digits::new(6).unwrap();
        for adjacency in Adjacency::ALL {
            let spread = InverseSpread {
                eps: "1".parse().unwrap(),
                widths: Widths::Decimals(digits.clone()),
                adjacency,
            };
            let spread = spread.calibrate().unwrap();
            for scale in [1e-9, 1.0, 1e12] {
                let rows: Vec<i64> =
                    (0..2000).map(|i| lattice::ordinal(scale * f64::from(i)).unwrap()).collect();
                let rows = Sorted::new(&rows, lattice::FLOATS).spaced(Spacing::Floats);
                let width = spread.run(&rows, &mut ScriptedWords::new(vec![1 << 62; 8]));
                assert!((width / scale - 1000.0).abs() < 60.0, "{width}");
            }
            let same = Sorted::new(&[5; 2000], lattice::FLOATS).spaced(Spacing::Floats);
            assert!(spread.run(&same, &mut ScriptedWords::new(vec![1 << 62; 8])) < f64::MAX);
        }
    }
}
