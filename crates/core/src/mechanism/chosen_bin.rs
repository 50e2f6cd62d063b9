//! Releases the bin that holds the interquartile range, the narrowest that the rows allow, or refuses where a few rows could take it out.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.2.1, Algorithm 12 (Scale), whose bins have one width; the choice among widths and positions is
//! by 004_5f92a75732c1853f.txt, Algorithm 2.
//!
//! # Guarantee
//!
//! (choice_eps + gate_eps, delta)-DP under the adjacency given, with or without a public number of rows. What is released is true: the range
//! lies in the bin. A range of zero, and that of no rows, are released as such.
//!
//! # Why
//!
//! 1. The slack of a width and position is the fewest changed rows that take the range out of its bin there: it moves by at most one between
//!    neighbours, and is one wherever neighbours do not share that bin. So does the slack cut off at a public number.
//! 2. [`Exponential`](super::exponential) names a width and position by that score over public masses, which are larger for narrower bins:
//!    choice_eps.
//! 3. Given the name, the [gate](super::gate) opens by the slack of that one. Neighbours who share its bin release the same; others both have one
//!    row to change, and open with probability at most delta.
//!
//! # Differs
//!
//! [`Scale`](super::scale) keeps secret in which position the range is stable, so that noise has to hide which of a bin's cells it lies in: at
//! epsilon 1 and delta 1e-6 by a factor of 40 in 19 of 20 cases. Here the position is bought, for three tenths of epsilon, nothing else is hidden, and
//! what is left of epsilon opens the gate.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{
//!     adjacency::Adjacency, coins::ScriptedWords, mechanism::chosen_bin::{ChosenBin, Spread, WIDTHS}, outcome::Outcome,
//!     stability::{Range, Sorted},
//! };
//!
//! let mechanism = ChosenBin {
//!     choice_eps: "0.3".parse()?,
//!     gate_eps: "0.7".parse()?,
//!     delta: "1e-6".parse()?,
//!     widths: WIDTHS.to_vec(),
//!     adjacency: Adjacency::AddRemove,
//! };
//! let calibrated = mechanism.calibrate()?;
//! assert_eq!(calibrated.cost().to_string(), "(1, 0.000001)-differential privacy");
//! // The first quartile is 25,000, the third 75,000.
//! let rows = Sorted::new(&(0..100_000).collect::<Vec<_>>(), Range::WHOLE);
//! # let mut coins = ScriptedWords::new(vec![1 << 40; 8]);
//! let Outcome::Value(Spread::Between(low, high)) = calibrated.run(&rows, &mut coins) else { panic!("thousands of rows to change") };
//! assert!(low <= 50_000 && 50_000 <= high && high < 2 * low);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{
    exponential::{self, Exponential},
    gate::{self, Gate},
    selection::Candidates,
};
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Approx, Delta, Eps, Loss, ParameterError},
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::{
        Answer, InOrder,
        bins::{Bins, float_powers, powers_up},
        iqr,
    },
};
use dashu_int::IBig;

/// Cells of an octave; public.
pub const PARTS: u32 = 16;
/// Widths that are tried where none is stated, in cells: a factor of 1.09, 1.19, 1.41, 2, 4 and 16.
pub const WIDTHS: [u32; 6] = [2, 4, 8, 16, 32, 64];

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenBin {
    /// How much the choice of a width and a position may show.
    pub choice_eps: Eps,
    /// How much the slack may show.
    pub gate_eps: Eps,
    /// How often a bin that a neighbour does not share may be released. Above zero.
    pub delta: Delta,
    /// Widths of bins in cells of a sixteenth of an octave, narrowest first, each even.
    pub widths: Vec<u32>,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A mechanism that is ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    shape: ChosenBin,
    /// Each width in each of its two positions.
    places: Vec<Bins>,
    choice: exponential::Calibrated,
    gate: gate::Calibrated,
    /// Slacks beyond this one count as it.
    most: u64,
}

/// What is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spread {
    /// There are no rows.
    Empty,
    /// The interquartile range is zero.
    Zero,
    /// It lies between these, both included: whole numbers of steps, or ordinals of floats.
    Between(u64, u64),
}

const MOST_WIDTH: u32 = 1024;

impl ChosenBin {
    /// Compute bins, masses and the gate. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        self.over(&powers_up(&Ratio::from(2u64), PARTS))
    }

    /// The same for rows that are floats, as they are: [`Sorted`](crate::stability::Sorted) rows whose places are
    /// [`Spacing::Floats`](crate::stability::Spacing::Floats) apart.
    pub fn calibrate_floats(&self) -> Result<Calibrated, ParameterError> {
        self.over(&float_powers(PARTS))
    }

    fn over(&self, bounds: &[u64]) -> Result<Calibrated, ParameterError> {
        let fits = |width: &u32| (2..=MOST_WIDTH).contains(width) && width.is_multiple_of(2);
        if self.widths.is_empty() || !self.widths.iter().all(fits) || !self.widths.is_sorted() {
            let given = self.widths.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
            let accepted = "give even numbers from 2 to 1024, narrowest first, such as 16";
            return Err(ParameterError::out_of_range("widths", given, accepted));
        }
        let gate = Gate { eps: self.gate_eps.clone(), delta: self.delta.clone(), adjacency: self.adjacency };
        let gate = gate.calibrate()?;
        let places: Vec<Bins> = self
            .widths
            .iter()
            .flat_map(|&width| [0, width / 2].map(|offset| (width as usize, offset as usize)))
            .map(|(width, offset)| Bins::of_cells(bounds, width, offset))
            .collect();
        // Half of the mass for each wider one.
        let mass = |place: usize| Ratio::dyadic(IBig::ONE, place / 2);
        let masses = (0..places.len()).map(mass).collect();
        let candidates = Candidates { count: places.len(), sensitivity: Ratio::one(), monotone: false };
        let choice =
            Exponential { eps: self.choice_eps.clone(), candidates }.calibrate()?.with_base(masses)?;
        let most = self.most(&gate)?;
        Ok(Calibrated { shape: self.clone(), places, choice, gate, most })
    }

    /// From which slack on all are one. A narrow bin that the gate would keep shut is not to be preferred for its mass: so far beyond the slack
    /// at which the gate surely opens that this outweighs all masses.
    fn most(&self, gate: &gate::Calibrated) -> Result<u64, ParameterError> {
        let certain = gate.slack_for(&Ratio::one()).and_then(Slack::until_change).unwrap_or(u64::MAX >> 1);
        let units = Ratio::from(self.widths.len() as u64 + 2);
        let more = (units * Ratio::from(2u64) / self.choice_eps.ratio()).ceil_i64();
        let more = more.and_then(|more| u64::try_from(more).ok()).ok_or_else(|| {
            ParameterError::out_of_range("epsilon", &self.choice_eps, "give a larger one, such as 0.01")
        })?;
        Ok(certain.saturating_add(more))
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        let choice = Approx::new(&self.shape.choice_eps, &Delta::zero());
        Loss::Approx(Approx::new(&self.shape.gate_eps, &self.shape.delta).compose(&choice))
    }

    /// How many changed rows take the range out of its bin, in each place, cut off where it makes no difference.
    pub fn slacks(&self, rows: &dyn InOrder) -> Vec<Slack> {
        let slack = |bins: &Bins| match rows.all() {
            Some(all) => iqr::slack(all, bins, self.shape.adjacency),
            None => iqr::slack_within(rows, bins, self.most, self.shape.adjacency),
        };
        self.places.iter().map(slack).collect()
    }

    /// Where the interquartile range lies, or a refusal.
    pub fn run<C: Coins>(&self, rows: &dyn InOrder, coins: &mut C) -> Outcome<Spread> {
        let slacks = self.slacks(rows);
        let chosen = self.chosen(&slacks, coins);
        let open = self.gate.run(slacks[chosen], coins);
        if open { Outcome::Value(self.released(chosen, rows)) } else { Outcome::Refused }
    }

    fn chosen<C: Coins>(&self, slacks: &[Slack], coins: &mut C) -> usize {
        let score = |slack: &Slack| Ratio::from(slack.until_change().unwrap_or(u64::MAX).min(self.most));
        self.choice.run(&slacks.iter().map(score).collect::<Vec<_>>(), coins)
    }

    fn released(&self, chosen: usize, rows: &dyn InOrder) -> Spread {
        match iqr::value(rows) {
            Answer::Empty => Spread::Empty,
            Answer::Value(0) => Spread::Zero,
            Answer::Value(here) => {
                let bin = self.places[chosen].bin(0, here);
                // No range is larger than that of the rows, which is public.
                let last = rows.gap(rows.range().lo(), rows.range().hi());
                Spread::Between(bin.lower, bin.upper.map_or(last, |upper| last.min(upper - 1)))
            }
        }
    }

    /// The slack with which the best place is released, except with this probability.
    pub fn accuracy(&self, beta: &Ratio) -> Result<u64, ParameterError> {
        let half = beta / &Ratio::from(2u64);
        let open = self.gate.slack_for(&(Ratio::one() - &half)).and_then(Slack::until_change);
        let worse = self.choice.accuracy(&half)?.ceil_i64().and_then(|worse| u64::try_from(worse).ok());
        let needed = open.unwrap_or(u64::MAX).saturating_add(worse.unwrap_or(u64::MAX));
        Ok(needed.min(self.most))
    }

    /// The chance of a refusal at this slack, whichever place was named.
    pub fn chance_of_refusal(&self, slack: Slack) -> Ratio {
        self.gate.accuracy(slack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::{AUDIT_BITS, Interval},
        stability::{
            Range, Sorted, Spacing,
            lattice::{FLOATS, ordinal},
        },
        tape::{Pmf, Tape, delta_between, enumerate},
        universe::neighbouring_pairs,
    };
    use Adjacency::{AddRemove, Replace};
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn shape(choice: &str, gate: &str, widths: &[u32], adjacency: Adjacency) -> ChosenBin {
        ChosenBin {
            choice_eps: choice.parse().unwrap(),
            gate_eps: gate.parse().unwrap(),
            delta: "0.1".parse().unwrap(),
            widths: widths.to_vec(),
            adjacency,
        }
    }

    #[test]
    fn hand_computed_costs_and_slacks() {
        let one = shape("1", "2", &[16], AddRemove).calibrate().unwrap();
        assert_eq!(one.cost().to_string(), "(3, 0.1)-differential privacy");
        let tight = ChosenBin { delta: "1e-6".parse().unwrap(), ..shape("0.3", "0.7", &WIDTHS, AddRemove) };
        let calibrated = tight.calibrate().unwrap();
        // The gate at 0.7 is certain from 38 on, and eight units of the choice are 54 rows.
        assert_eq!(calibrated.most, 38 + 54);
        // Even numbers: fifty of them, between 46 and 63 or 32 and 63.
        let rows = Sorted::new(&(0..100).collect::<Vec<_>>(), Range::new(0, 1000).unwrap());
        let slacks = one.slacks(&rows);
        let both = iqr::slack(&rows, &Bins::new(&Ratio::from(2u64), 2).unwrap(), AddRemove);
        assert_eq!(slacks.iter().max(), Some(&both));
    }

    #[test]
    fn bad_parameters_are_refused_in_one_line() {
        for widths in [&[][..], &[3], &[0], &[8, 4], &[2000]] {
            let error = shape("1", "1", widths, Replace).calibrate().unwrap_err().to_string();
            assert!(error.contains("give even numbers from 2 to 1024") && !error.contains('\n'), "{error}");
        }
        let sure = ChosenBin { delta: Delta::zero(), ..shape("1", "1", &[16], Replace) };
        assert!(sure.calibrate().unwrap_err().to_string().starts_with("delta 0 is not accepted"));
    }

    /// Rows of a small universe, with an interquartile range of 0, 1, 3 or 4.
    const VALUES: [i64; 3] = [0, 1, 4];

    fn worst(
        eps: &str,
        (values, size, adjacency): (&[i64], usize, Adjacency),
        sorted: impl Fn(&[i64]) -> Sorted,
        run: impl Fn(&Sorted, &mut Tape) -> Outcome<Spread>,
    ) -> Interval {
        let mut seen: BTreeMap<Vec<i64>, Pmf<Outcome<Spread>>> = BTreeMap::new();
        let mut worst = Interval::zero(AUDIT_BITS);
        for (a, b) in neighbouring_pairs(values, size, adjacency) {
            for rows in [&a, &b] {
                let distribution = || enumerate(&ratio("1e-10"), |tape| run(&sorted(rows), tape));
                seen.entry(rows.clone()).or_insert_with(distribution);
            }
            worst = worst.max(&delta_between(&ratio(eps), &seen[&a], &seen[&b]));
        }
        worst
    }

    fn small(rows: &[i64]) -> Sorted {
        Sorted::new(rows, Range::new(0, 4).unwrap())
    }

    #[test]
    fn exact_audit_under_both_adjacencies() {
        for (adjacency, size) in [(Replace, 1), (Replace, 2), (Replace, 9), (AddRemove, 7)] {
            for widths in [&[16][..], &[16, 32], &[8, 32]] {
                let bins = shape("1", "2", widths, adjacency).calibrate().unwrap();
                let found = worst("3", (&VALUES, size, adjacency), small, |rows, tape| bins.run(rows, tape));
                assert!(found.upper() <= ratio("0.1") + ratio("1e-7"), "{adjacency} {}", found.to_f64());
                assert!(size == 1 || found.lower() > ratio("0.0999"), "{adjacency} {}", found.to_f64());
            }
        }
    }

    /// The same enumeration with rows that are floats of all magnitudes.
    #[test]
    fn exact_audit_of_floats_without_a_step() {
        let values = [-1e300, 0.0, 0.3, 1e300].map(|value| ordinal(value).unwrap());
        let spaced = |rows: &[i64]| Sorted::new(rows, FLOATS).spaced(Spacing::Floats);
        for adjacency in Adjacency::ALL {
            let bins = shape("1", "2", &[16, 64], adjacency).calibrate_floats().unwrap();
            let found = worst("3", (&values, 5, adjacency), spaced, |rows, tape| bins.run(rows, tape));
            assert!(found.upper() <= ratio("0.1") + ratio("1e-7"), "{adjacency} {}", found.to_f64());
        }
    }

    #[test]
    fn a_mutant_whose_gate_asks_the_most_stable_place_is_caught() {
        let bins = shape("1", "2", &[16], Replace).calibrate().unwrap();
        let mutant = |rows: &Sorted, tape: &mut Tape| {
            let slacks = bins.slacks(rows);
            let chosen = bins.chosen(&slacks, tape);
            let best = *slacks.iter().max().expect("two places");
            let open = bins.gate.run(best, tape);
            if open { Outcome::Value(bins.released(chosen, rows)) } else { Outcome::Refused }
        };
        let found = worst("3", (&VALUES, 9, Replace), small, mutant);
        assert!(found.lower() > ratio("0.15"), "{}", found.to_f64());
    }

    #[test]
    fn a_mutant_that_chooses_for_nothing_is_caught() {
        let bins = shape("4", "1", &[16, 32], Replace).calibrate().unwrap();
        let found = worst("1", (&VALUES, 9, Replace), small, |rows, tape| bins.run(rows, tape));
        assert!(found.lower() > ratio("0.11"), "{}", found.to_f64());
    }

    /// What is released holds the range, and is narrow where many rows would have to change: of 10,000 even rows at epsilon 1 within a
    /// tenth, where noise on cells of one gate was off by a factor of 40.
    #[test]
    fn a_scripted_run_holds_the_range() {
        let tight = ChosenBin { delta: "1e-6".parse().unwrap(), ..shape("0.3", "0.7", &WIDTHS, AddRemove) };
        let floats = tight.calibrate_floats().unwrap();
        let mut state = 7u64;
        let mut words = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state.rotate_left(31)
        };
        for (count, most) in [(10_000, 1.2), (2_000, 2.1), (1_000, 4.1)] {
            let rows: Vec<i64> = (0..count).map(|row| ordinal(1e5 + f64::from(row)).unwrap()).collect();
            let rows = Sorted::new(&rows, FLOATS).spaced(Spacing::Floats);
            let truth = f64::from(count) / 2.0;
            let mut narrow = 0;
            for _ in 0..40 {
                let mut coins = ScriptedWords::new((0..24).map(|_| words()).collect());
                let Outcome::Value(Spread::Between(low, high)) = floats.run(&rows, &mut coins) else {
                    continue;
                };
                let [low, high] = [low, high].map(f64::from_bits);
                assert!(low <= truth && truth <= high, "{count} {low} {high}");
                narrow += usize::from(high / low <= most);
            }
            assert!(narrow >= 30, "{count}: {narrow}");
        }
        for odd in [vec![], vec![0; 50], vec![5]] {
            let rows = Sorted::new(&odd, FLOATS).spaced(Spacing::Floats);
            let _ = floats.run(&rows, &mut ScriptedWords::new(vec![1 << 40; 24]));
        }
    }

    #[test]
    fn slack_that_is_said_to_be_enough_is() {
        let tight = ChosenBin { delta: "1e-6".parse().unwrap(), ..shape("0.3", "0.7", &WIDTHS, Replace) };
        let calibrated = tight.calibrate().unwrap();
        let enough = calibrated.accuracy(&ratio("0.05")).unwrap();
        assert!((40..=calibrated.most).contains(&enough), "{enough}");
        assert!(calibrated.chance_of_refusal(Slack::rows_to_change(enough, Replace)).is_zero());
    }
}
