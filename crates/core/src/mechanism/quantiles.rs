//! Releases several quantiles at once, without bounds: the middle one first, then each half of the rows by
//! itself. It never refuses.
//!
//! Source: Kaplan, Schnapp and Stemmer 2022 (recursion), on the inverse sensitivity of Asi and Duchi
//! (framework 2 of 002_c9075a084346ce80.txt, section 1.5).
//!
//! # Guarantee
//!
//! (epsilon, 0) for all answers together, under the adjacency given, for any rows and any finite lattice.
//! The answers are in order.
//!
//! # Why
//!
//! 1. Equal rows are told apart: the j-th of them gets the j-th label of one fixed sequence (van der
//!    Corput's). So one row more is one labelled row more and leaves the others as they were.
//! 2. The first cut of the labelled rows is drawn by inverse sensitivity; its level of the tree costs its
//!    share of epsilon under add/remove ([`inverse_sensitivity`](super::inverse_sensitivity)).
//! 3. Given the cut, each row lies on one side. Of the two sides, one row more changes one, by that row.
//!    So the levels below cost, for both sides together, what they cost for one.
//! 4. The shares of the levels add up to epsilon. A replaced row is one removed and one added, so under
//!    replace all of it is run with half of epsilon.
//!
//! # Differs
//!
//! The source assumes that no two rows are equal and that the answers lie in a known interval. Van der
//! Corput's labels spread ties evenly, so that a cut within ties has the right number of rows on either
//! side. For an even number of quantiles a cut half-way between the middle two comes first and is not
//! released: it costs no further level.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{
//!     adjacency::Adjacency, coins::ScriptedWords, mechanism::quantiles::Quantiles, stability::lattice::FLOATS,
//! };
//!
//! let quartiles = Quantiles {
//!     eps: "1".parse()?,
//!     fractions: ["1/4", "3/4"].map(|p| p.parse().unwrap()).to_vec(),
//!     range: FLOATS,
//!     adjacency: Adjacency::AddRemove,
//! };
//! let calibrated = quartiles.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "1-differential privacy");
//! let salaries: Vec<f64> = (0..1000).map(|i| 20_000.0 + 50.0 * f64::from(i)).collect();
//! # let mut coins = ScriptedWords::new(vec![1 << 62; 15]);
//! let answers = calibrated.run_floats(&salaries, &mut coins);
//! assert!((answers[0] - 32_500.0).abs() < 1000.0 && (answers[1] - 57_500.0).abs() < 1000.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::exponential::units_up;
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    interval::ln_upper,
    loss::{Eps, Loss, ParameterError, Rho},
    ratio::Ratio,
    sampler::{
        uniform::UpTo,
        weighted::{Power, Weighted},
    },
    solve,
    stability::{
        InOrder, Quantile, Range, Sorted,
        bracket::{self, Row},
        labels::Labelled,
        lattice::{FLOATS, float},
        reachable::Target,
    },
};
use dashu_int::{IBig, UBig};

/// Parameters of the mechanism; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantiles {
    /// The privacy loss of all answers together.
    pub eps: Eps,
    /// Which quantiles, in increasing order.
    pub fractions: Vec<Ratio>,
    /// The lattice of answers; rows are moved into it, each on its own.
    pub range: Range,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A mechanism that is ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    params: Quantiles,
    tree: Tree,
    levels: Vec<Level>,
    /// Labels of equal rows have this many bits.
    label_bits: u32,
}

/// What all cuts of one depth share.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Level {
    /// The part of epsilon, under add/remove.
    share: Ratio,
    /// Lengths are cut off here.
    cut_off: usize,
}

/// A cut, and the cuts to either side of it.
#[derive(Clone, Debug)]
struct Tree {
    /// Which quantile of the rows between the cuts around it.
    target: Target,
    /// Which of the wanted quantiles this is, if any.
    answer: Option<usize>,
    sides: Option<Box<[Tree; 2]>>,
}

/// The rows of these places in order, and the labelled values between the cuts around them.
#[derive(Clone, Copy)]
struct Slice {
    from: usize,
    to: usize,
    low: u128,
    high: u128,
}

/// What a run carries from cut to cut.
struct Run<'a, C> {
    rows: Labelled<'a>,
    answers: Vec<i64>,
    coins: &'a mut C,
}

/// Enough to tell 2^32 equal rows apart.
const LABEL_BITS: u32 = 32;
/// Values beyond the cut-off weigh at most 2^-64 of the best one.
const CUT_OFF_BITS: usize = 64;
/// More lengths take too long.
const MOST_LENGTHS: i64 = 1 << 20;
const MOST_QUANTILES: usize = 1000;

impl Quantiles {
    /// Plan the cuts and spread epsilon over their levels.
    pub fn calibrate(self) -> Result<Calibrated, ParameterError> {
        let tree = self.tree()?;
        let whole =
            labelled_values(self.range, LABEL_BITS) * Ratio::from_parts(IBig::ONE << CUT_OFF_BITS, UBig::ONE);
        let units = Ratio::from(2u64) * ln_upper(&whole);
        let level = |share: Ratio| {
            let cut_off = (&units / &share).ceil_i64().filter(|&most| most <= MOST_LENGTHS)?;
            Some(Level { share, cut_off: usize::try_from(cut_off).ok()? })
        };
        match self.shares(&self.eps).into_iter().map(level).collect() {
            Some(levels) => Ok(Calibrated { params: self, tree, levels, label_bits: LABEL_BITS }),
            None => Err(ParameterError::out_of_range(
                "epsilon",
                &self.eps,
                "so many quantiles of so wide a range need a larger one",
            )),
        }
    }

    /// The same with one cut-off for all levels and other labels, for audits: any are as private.
    pub fn with_details(self, cut_off: usize, label_bits: u32) -> Result<Calibrated, ParameterError> {
        assert!(cut_off > 0 && label_bits <= LABEL_BITS, "some length differs; labels fit");
        let tree = self.tree()?;
        let levels = self.shares(&self.eps).into_iter().map(|share| Level { share, cut_off }).collect();
        Ok(Calibrated { params: self, tree, levels, label_bits })
    }

    /// The least epsilon, in six digits, with which every answer lies within this many ranks, all of them
    /// together with probability 1 - beta.
    pub fn eps_for(&self, ranks: u64, beta: &Ratio) -> Result<Option<Eps>, ParameterError> {
        let tree = self.tree()?;
        let units = self.units(&tree, beta)?;
        Ok(solve::smallest_eps(|eps| {
            let errors = self.errors(&tree, &units, &self.shares(eps));
            errors.is_some_and(|errors| errors.iter().all(|&error| error <= ranks))
        }))
    }

    /// The parts of epsilon that the levels of cuts get, under add/remove.
    ///
    /// Each level gets 7/5 of the one above: it has half as many rows on each side, and of an error above it
    /// only half arrives. (The square root of two would be best for the outer quartiles.)
    fn shares(&self, eps: &Eps) -> Vec<Ratio> {
        let steps = Ratio::from(match self.adjacency {
            Adjacency::AddRemove => 1u64,
            Adjacency::Replace => 2,
        });
        let deeper = |part: &Ratio| Some(part * &Ratio::new(7, 5));
        let parts: Vec<Ratio> =
            std::iter::successors(Some(Ratio::one()), deeper).take(levels(self.fractions.len())).collect();
        let unit = eps.ratio() / &(steps * parts.iter().cloned().sum::<Ratio>());
        parts.iter().map(|part| part * &unit).collect()
    }

    fn tree(&self) -> Result<Tree, ParameterError> {
        let refuse =
            |value: String, accepted| Err(ParameterError::out_of_range("quantiles", value, accepted));
        if self.fractions.is_empty() || self.fractions.len() > MOST_QUANTILES {
            return refuse(self.fractions.len().to_string(), "give between 1 and 1000 of them");
        }
        if let Some([a, b]) = self.fractions.array_windows().find(|[a, b]| a >= b) {
            return refuse(format!("{a},{b}"), "give them in increasing order, each once");
        }
        for fraction in &self.fractions {
            Quantile::new(fraction)?;
        }
        let wanted: Vec<(usize, &Ratio)> = self.fractions.iter().enumerate().collect();
        Tree::of(&wanted, &Ratio::zero(), &Ratio::one())
    }

    /// The weight in the exponent at which every cut is within its error, all together.
    fn units(&self, tree: &Tree, beta: &Ratio) -> Result<Ratio, ParameterError> {
        let others = labelled_values(self.range, LABEL_BITS) - Ratio::one();
        units_up(&others, &(beta / &Ratio::from(tree.cuts())))
    }

    /// The rank error of each answer: those of the cuts that lead to it, and one for each rounded rank.
    fn errors(&self, tree: &Tree, units: &Ratio, shares: &[Ratio]) -> Option<Vec<u64>> {
        let length = |share: &Ratio| {
            let unlikely = (units * &Ratio::from(2u64) / share).ceil_i64()?;
            u64::try_from(unlikely - 1).ok()
        };
        let lengths: Vec<u64> = shares.iter().map(length).collect::<Option<_>>()?;
        let mut errors = vec![0; self.fractions.len()];
        tree.add_errors(&lengths, 0, &mut errors);
        Some(errors)
    }
}

/// How many levels of cuts lead to this many quantiles: each level halves what is left.
fn levels(quantiles: usize) -> usize {
    (usize::BITS - quantiles.leading_zeros()) as usize
}

/// How many labelled values there are.
fn labelled_values(range: Range, label_bits: u32) -> Ratio {
    Ratio::from_parts((IBig::from(range.width()) + IBig::ONE) << label_bits as usize, UBig::ONE)
}

impl Tree {
    /// The cuts for these quantiles, all between two cuts at the fractions `low` and `high`. Both sides
    /// have equally many, so that all lie at the same depth.
    fn of(wanted: &[(usize, &Ratio)], low: &Ratio, high: &Ratio) -> Result<Self, ParameterError> {
        let (left, right) = (&wanted[..wanted.len() / 2], &wanted[wanted.len().div_ceil(2)..]);
        let (fraction, answer) = if wanted.len() % 2 == 1 {
            let (index, fraction) = wanted[left.len()];
            (fraction.clone(), Some(index))
        } else {
            ((left[left.len() - 1].1 + right[0].1) / Ratio::from(2u64), None)
        };
        let local = (&fraction - low) / (high - low);
        let sides = if left.is_empty() {
            None
        } else {
            Some(Box::new([Self::of(left, low, &fraction)?, Self::of(right, &fraction, high)?]))
        };
        Ok(Self { target: Quantile::new(&local)?.into(), answer, sides })
    }

    fn cuts(&self) -> u64 {
        1 + self.sides.iter().flat_map(|sides| sides.iter()).map(Self::cuts).sum::<u64>()
    }

    /// `lengths` are those that each level, from this one on, keeps to.
    fn add_errors(&self, lengths: &[u64], before: u64, errors: &mut [u64]) {
        let here = before + self.target.ranks_within(lengths[0], Adjacency::AddRemove) + 1;
        if let Some(index) = self.answer {
            errors[index] = here;
        }
        for side in self.sides.iter().flat_map(|sides| sides.iter()) {
            side.add_errors(&lengths[1..], here, errors);
        }
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.params.eps)
    }

    /// What a run costs in zero-concentrated accounting: an eighth of the square of each level's share, and under replace that of two steps.
    pub fn bounded_range_rho(&self) -> Rho {
        let squares: Ratio = self.levels.iter().map(|level| level.share.squared()).sum();
        let steps = if self.params.adjacency == Adjacency::Replace { 4u64 } else { 1 };
        Rho::new(squares * Ratio::from(steps) / Ratio::from(8u64)).expect("epsilon is at most 1000")
    }

    /// The parameters.
    pub fn params(&self) -> &Quantiles {
        &self.params
    }

    /// The quantiles, in order. Panics unless the rows are those of this range.
    pub fn run<C: Coins>(&self, rows: &dyn InOrder, coins: &mut C) -> Vec<i64> {
        let range = self.params.range;
        assert!(rows.range() == range, "rows of the same range");
        let labelled = Labelled::new(rows, self.label_bits);
        let many = usize::try_from(rows.count()).expect("64 bits count rows");
        let slice = Slice { from: 0, to: many, low: 0, high: labelled.last() };
        let answers = vec![range.lo(); self.params.fractions.len()];
        let mut run = Run { rows: labelled, answers, coins };
        run.cut(&self.tree, &self.levels, slice);
        run.answers
    }

    /// The quantiles of whole numbers.
    pub fn run_integers<C: Coins>(&self, rows: &[i64], coins: &mut C) -> Vec<i64> {
        self.run(&self.sorted(rows), coins)
    }

    /// The quantiles of floats, with a range of [ordinals](crate::stability::lattice). A row that is not a
    /// number is dropped under add/remove and counts as the low end under replace.
    pub fn run_floats<C: Coins>(&self, rows: &[f64], coins: &mut C) -> Vec<f64> {
        let value = |place: &i64| float(FLOATS.clamp(*place)).expect("the ordinal of a finite float");
        self.run(&self.sorted(rows), coins).iter().map(value).collect()
    }

    /// With probability 1 - beta, each answer lies between the rows this many ranks before and after its
    /// quantile, all of them together, whatever the rows (no 2^32 of them equal).
    pub fn accuracy(&self, beta: &Ratio) -> Result<Vec<u64>, ParameterError> {
        let units = self.params.units(&self.tree, beta)?;
        let shares: Vec<Ratio> = self.levels.iter().map(|level| level.share.clone()).collect();
        let reaches =
            |level: &Level| Ratio::from(level.cut_off as u64) * &level.share >= &units * &Ratio::from(2u64);
        let errors =
            self.params.errors(&self.tree, &units, &shares).filter(|_| self.levels.iter().all(reaches));
        errors.ok_or_else(|| {
            ParameterError::out_of_range("beta", beta, "give a larger one: lengths are cut off at 2^-64")
        })
    }

    fn sorted<T: Row>(&self, rows: &[T]) -> Sorted {
        let Quantiles { range, adjacency, .. } = self.params;
        Sorted::new(&bracket::places(rows, range, adjacency), range)
    }
}

impl<C: Coins> Run<'_, C> {
    /// Draw a cut of these rows, then the cuts of either side at the levels below.
    fn cut(&mut self, tree: &Tree, levels: &[Level], slice: Slice) {
        let cut = levels[0].draw(tree.target, slice, &self.rows, self.coins);
        if let Some(index) = tree.answer {
            self.answers[index] = self.rows.value(cut);
        }
        if let Some(sides) = &tree.sides {
            let middle = self.rows.count_up_to(cut).clamp(slice.from, slice.to);
            let left = Slice { to: middle, high: cut, ..slice };
            let right = Slice { from: middle, low: (cut + 1).min(slice.high), ..slice };
            self.cut(&sides[0], &levels[1..], left);
            self.cut(&sides[1], &levels[1..], right);
        }
    }
}

impl Level {
    /// A labelled value, by inverse sensitivity among the rows of a slice.
    fn draw<C: Coins>(&self, target: Target, slice: Slice, rows: &Labelled, coins: &mut C) -> u128 {
        let count = slice.to - slice.from;
        let at = |rank: i64| match usize::try_from(rank) {
            Ok(rank) if rank > count => slice.high,
            Ok(rank) if rank > 0 => rows.at(slice.from + rank - 1),
            _ => slice.low,
        };
        let ranks = target.reachable_ranks(count as u64, Adjacency::AddRemove).take(self.cut_off);
        let ranks: Vec<(i64, i64)> = ranks.collect();
        if let (Some(&(low, high)), Some(last)) = (ranks.last(), count.checked_sub(1)) {
            let within = |rank: i64| slice.from + usize::try_from(rank - 1).unwrap_or(0).min(last);
            rows.look_at(within(low), within(high));
        }
        let mut spans: Vec<(u128, u128)> = ranks.into_iter().map(|(low, high)| (at(low), at(high))).collect();
        spans.push((slice.low, slice.high));
        let new_values = |length: usize| match length.checked_sub(1).map(|before| spans[before]) {
            None => (1, 0),
            Some((low, high)) => (low - spans[length].0, spans[length].1 - high),
        };
        let powers = (0..).zip(0..spans.len()).map(|(steps, length)| {
            let (below, above) = new_values(length);
            Power { multiplier: below + above, steps }
        });
        let step = &self.share / &Ratio::from(2u64);
        let length = coins.sample(&Weighted::powers(&step, powers));
        let (below, above) = new_values(length);
        let place = coins.sample(&UpTo(below + above - 1));
        if place < below { spans[length].0 + place } else { spans[length].1 - (below + above - 1 - place) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::{AUDIT_BITS, Interval},
        stability::lattice,
        tape::{Pmf, delta_between, enumerate},
        universe::{datasets, neighbouring_pairs},
    };
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn params(eps: &str, fractions: &[&str], range: Range, adjacency: Adjacency) -> Quantiles {
        let fractions = fractions.iter().map(|p| ratio(p)).collect();
        Quantiles { eps: eps.parse().unwrap(), fractions, range, adjacency }
    }

    const QUARTILES: &[&str] = &["1/4", "1/2", "3/4"];

    fn small() -> Range {
        Range::new(0, 2).unwrap()
    }

    #[test]
    fn hand_computed_calibrations() {
        // Shares 1 : 7/5 : 49/25 …; lengths (2/share)·ln(2^160) = (2/share)·110.904 on all integers.
        for (count, adjacency, expected) in [
            (1, Adjacency::AddRemove, &[("1", 222)][..]),
            (2, Adjacency::AddRemove, &[("5/12", 533), ("7/12", 381)]),
            (3, Adjacency::AddRemove, &[("5/12", 533), ("7/12", 381)]),
            (7, Adjacency::AddRemove, &[("25/109", 968), ("35/109", 691), ("49/109", 494)]),
            (3, Adjacency::Replace, &[("5/24", 1065), ("7/24", 761)]),
        ] {
            let fractions: Vec<String> = (1..=count).map(|i| format!("{i}/{}", count + 1)).collect();
            let fractions: Vec<&str> = fractions.iter().map(String::as_str).collect();
            let calibrated = params("1", &fractions, Range::WHOLE, adjacency).calibrate().unwrap();
            let level = |&(share, cut_off): &(&str, usize)| Level { share: ratio(share), cut_off };
            assert_eq!(calibrated.levels, expected.iter().map(level).collect::<Vec<_>>(), "{count}");
        }
        assert_eq!([1, 2, 3, 4, 7, 8, 9, 1000].map(levels), [1, 2, 2, 3, 3, 4, 4, 10]);
        // Quartiles: the hidden median, then the median of each half; odds of 2^96·59 are e^70.619. Lengths up to
        // 2·70.619·12/5 = 338.97 and 2·70.619·12/7 = 242.12, half of that in ranks, plus one for each level.
        let calibrated =
            params("1", &["1/4", "3/4"], Range::WHOLE, Adjacency::AddRemove).calibrate().unwrap();
        assert_eq!(calibrated.tree.cuts(), 3);
        assert_eq!(calibrated.accuracy(&ratio("0.05")).unwrap(), [169 + 121 + 2; 2]);
        assert!(calibrated.accuracy(&ratio("1e-20")).is_err());
    }

    #[test]
    fn what_cannot_be_calibrated_says_why() {
        for (eps, fractions, expected) in [
            ("1", vec![], "quantiles 0 is not accepted: give between 1 and 1000 of them"),
            (
                "1",
                vec!["1/2", "1/4"],
                "quantiles 0.5,0.25 is not accepted: give them in increasing order, each once",
            ),
            (
                "1",
                vec!["1/2", "1/2"],
                "quantiles 0.5,0.5 is not accepted: give them in increasing order, each once",
            ),
            (
                "1",
                vec!["1/2", "1"],
                "quantile 1 is not accepted: give a fraction above 0 and below 1 of at most 19 digits, such as 0.9",
            ),
            (
                "1e-4",
                vec!["1/2"],
                "epsilon 0.0001 is not accepted: so many quantiles of so wide a range need a larger one",
            ),
        ] {
            let error = params(eps, &fractions, Range::WHOLE, Adjacency::AddRemove).calibrate().unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn the_inverse_gives_the_least_epsilon() {
        let wanted = params("1", &["0.1", "0.5", "0.9"], lattice::FLOATS, Adjacency::AddRemove);
        let beta = ratio("0.05");
        let eps = wanted.eps_for(1000, &beta).unwrap().unwrap();
        let most = |eps: Eps| {
            let calibrated = Quantiles { eps, ..wanted.clone() }.calibrate().unwrap();
            calibrated.accuracy(&beta).unwrap().into_iter().max().unwrap()
        };
        assert!(most(eps.clone()) <= 1000);
        assert!(most(Eps::new(eps.ratio() - &ratio("1e-5")).unwrap()) > 1000);
    }

    fn worst(
        claim: &str,
        calibrated: &Calibrated,
        values: &[i64],
        size: usize,
        adjacency: Adjacency,
    ) -> (Interval, f64) {
        let mut seen: BTreeMap<Vec<i64>, Pmf<Vec<i64>>> = BTreeMap::new();
        let run = |rows: &[i64]| enumerate(&ratio("1e-14"), |tape| calibrated.run_integers(rows, tape));
        let mut worst = (Interval::zero(AUDIT_BITS), 0f64);
        for (a, b) in neighbouring_pairs(values, size, adjacency) {
            for data in [&a, &b] {
                seen.entry(data.clone()).or_insert_with(|| run(data));
            }
            let (here, there) = (&seen[&a], &seen[&b]);
            worst.0 = worst.0.max(&delta_between(&ratio(claim), here, there));
            worst.1 = worst.1.max(here.largest_loss(there)).max(there.largest_loss(here));
        }
        worst
    }

    #[test]
    fn exact_audit_over_all_neighbours_of_a_small_universe() {
        for adjacency in Adjacency::ALL {
            for (fractions, cut_off, label_bits) in [
                (&["1/4", "3/4"][..], 3, 1),
                (&["1/2"], 9, 2),
                (&["0.1", "1/2", "0.9"], 2, 1),
                (&["1/3", "1/2"], 4, 0),
            ] {
                let calibrated =
                    params("1", fractions, small(), adjacency).with_details(cut_off, label_bits).unwrap();
                let (delta, loss) = worst("1", &calibrated, &[0, 1, 2], 3, adjacency);
                assert!(delta.certainly_at_most(&ratio("1e-9")), "{fractions:?} {adjacency}: loss {loss}");
            }
        }
    }

    #[test]
    fn a_mutant_that_takes_a_replaced_row_for_one_step_is_caught() {
        let mutant = params("2", QUARTILES, small(), Adjacency::Replace).with_details(6, 0).unwrap();
        let (delta, loss) = worst("1", &mutant, &[0, 1, 2], 5, Adjacency::Replace);
        assert!(delta.certainly_above(&ratio("0.001")), "{} at loss {loss}", delta.to_f64());
    }

    #[test]
    fn a_mutant_that_gives_each_level_the_whole_epsilon_is_caught() {
        let mutant = params("2", QUARTILES, small(), Adjacency::AddRemove).with_details(6, 1).unwrap();
        let (delta, loss) = worst("1", &mutant, &[0, 1, 2], 4, Adjacency::AddRemove);
        assert!(delta.certainly_above(&ratio("0.001")), "{} at loss {loss}", delta.to_f64());
    }

    #[test]
    fn errors_keep_to_their_bounds() {
        let adjacency = Adjacency::AddRemove;
        let calibrated = params("8", &["1/4", "3/4"], small(), adjacency).with_details(20, 1).unwrap();
        let beta = ratio("0.4");
        let errors = calibrated.accuracy(&beta).unwrap();
        for data in datasets(&[0, 2], 12, adjacency) {
            let inside = |answers: &[i64]| {
                calibrated.params.fractions.iter().zip(answers).zip(&errors).all(|((p, answer), &error)| {
                    let rank = Target::from(Quantile::new(p).unwrap()).rank(data.len() as u64);
                    let row = |rank: i64| match usize::try_from(rank - 1) {
                        Ok(index) => data.get(index).copied().unwrap_or(2),
                        Err(_) => 0,
                    };
                    (row(rank - error.cast_signed())..=row(rank + error.cast_signed())).contains(answer)
                })
            };
            let answers = enumerate(&ratio("1e-9"), |tape| calibrated.run_integers(&data, tape));
            let missed: f64 = answers.iter().filter(|(a, _)| !inside(a)).map(|(_, m)| m.to_f64()).sum();
            assert!(missed <= 0.4, "{data:?}: {missed}");
        }
    }

    #[test]
    fn answers_are_in_order_and_exact_on_heavy_ties() {
        // 9000 rows on ten values. A cut within the ties of the hidden median has the right rows beside it.
        let rows: Vec<i64> = (0..9000).map(|i| [1, 1, 2, 5, 5, 5, 5, 5, 6, 7][i % 10]).collect();
        let deciles: Vec<String> = (1..=9).map(|i| format!("{i}/10")).collect();
        let deciles: Vec<&str> = deciles.iter().map(String::as_str).collect();
        let at = |tenth: usize| [1, 1, 2, 5, 5, 5, 5, 5, 6, 7][tenth];
        for fractions in [&["0.15", "0.25", "0.75", "0.85"][..], &["1/4", "3/4"], &deciles] {
            let calibrated =
                params("2", fractions, lattice::FLOATS, Adjacency::AddRemove).calibrate().unwrap();
            let words = (1..200u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)).collect();
            let answers = calibrated.run_integers(&rows, &mut ScriptedWords::new(words));
            assert!(answers.is_sorted());
            for (p, answer) in fractions.iter().zip(answers) {
                let tenths = ratio(p) * Ratio::from(10u64);
                // Away from the steps of the data the answer is exact.
                if !tenths.is_integer() {
                    let index = usize::try_from(tenths.floor_i64().unwrap()).unwrap();
                    assert_eq!(answer, at(index), "{p}");
                }
            }
        }
    }

    #[test]
    fn ends_and_empty_data_have_answers() {
        for adjacency in Adjacency::ALL {
            let calibrated = params("1", &["1/4", "3/4"], Range::WHOLE, adjacency).calibrate().unwrap();
            for rows in [vec![], vec![i64::MIN], vec![i64::MAX; 4000], vec![i64::MIN, i64::MAX]] {
                let words = (1..20u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
                let answers = calibrated.run_integers(&rows, &mut ScriptedWords::new(words));
                assert!(answers.is_sorted(), "{rows:?}");
                if rows.len() == 4000 {
                    assert_eq!(answers, [i64::MAX; 2]);
                }
            }
        }
    }

    #[test]
    fn a_script_is_followed() {
        // One cut among three values without labels, rows 0, 1, 1: the median is 1, lengths 1, 0, 4. They weigh
        // e^-1/2, 1, e^-2 of 1.7418: sums by length .574, .922.
        let calibrated = params("1", &["1/2"], small(), Adjacency::AddRemove).with_details(9, 0).unwrap();
        for (first, place, answer) in [(1 << 62, 0, 1), (3 << 62, u64::MAX, 0), (u64::MAX, 0, 2)] {
            let mut coins = ScriptedWords::new(vec![first, 0, place, 0, 0]);
            assert_eq!((calibrated.run_integers(&[1, 0, 1], &mut coins), coins.used()), (vec![answer], 5));
        }
    }
}
