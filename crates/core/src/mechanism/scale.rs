//! Releases the interquartile range up to a factor, or refuses where a few rows could change it by more.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.2.1, Algorithm 12 (Scale) and Theorem 7.1.
//!
//! # Guarantee
//!
//! (gate_eps + noise_eps, delta)-DP under the adjacency given, with or without a public number of rows. An
//! interquartile range of zero, and that of no rows, are released as such. [`TwoTests`], the form of the text with
//! its threshold corrected, is (2 epsilon, delta - delta²/4)-DP.
//!
//! # Why
//!
//! 1. The powers of the base cut the numbers into bins, in several shifted positions. The slack is the fewest
//!    changed rows that take the range out of its bin, in the position where that is most: it moves by at most one
//!    between neighbours, and it is one where neighbours share a bin in no position.
//! 2. The [gate] opens by that slack. Two neighbours without a common bin both open with probability
//!    at most delta; all others lose gate_eps, and delta, by opening or not.
//! 3. Each bin is cut into `parts` cells whose ends are ends of bins in every position. Numbers in one bin are at
//!    most `parts - 1` cells apart, so discrete Laplace noise of scale `(parts - 1)/noise_eps` on the number of the
//!    cell hides which it was: noise_eps more. Zero is a bin of its own in all positions and needs no noise.
//! 4. With two tests in place of the gate, each with Laplace noise: where neighbours share a bin, passing at least
//!    one test changes by a factor of at most e^epsilon, failing both by e^(2 epsilon), the cell by e^epsilon.
//!    Where they do not, each test is passed with probability delta/2.
//!
//! # Differs
//!
//! The text compares a noisy distance with `1 + ln(1/delta)`, which forgets to divide by epsilon and is not private
//! (`equipoise audit --only scale-threshold-without-epsilon`), and counts two tests as two releases. One gate over
//! all positions costs what the tests really cost; it opens more often where one position is near the end of its
//! bin, and for certain where the slack is large. Noise on cells has less scale than noise on the logarithm: half
//! of it with two cells in a bin, which is best unless noise_eps is large. The text needs the number of rows, and
//! a noisy one would not do; slack under add/remove needs none.
//!
//! The coins are the same whether it releases or refuses.
//!
//! # Example
//!
//! ```
//! use equipoise_core::mechanism::scale::{Scale, Spread};
//! use equipoise_core::{adjacency::Adjacency, coins::ScriptedWords, outcome::Outcome, ratio::Ratio};
//! use equipoise_core::stability::{Range, Sorted};
//!
//! let mechanism = Scale {
//!     gate_eps: "1".parse()?,
//!     noise_eps: "1".parse()?,
//!     delta: "1e-6".parse()?,
//!     base: Ratio::from(2u64),
//!     shifts: 2,
//!     parts: 2,
//!     adjacency: Adjacency::AddRemove,
//! };
//! let scale = mechanism.calibrate()?;
//! assert_eq!(scale.cost().to_string(), "(2, 0.000001)-differential privacy");
//! let rows = Sorted::new(&(0..1000).collect::<Vec<_>>(), Range::WHOLE);
//! # let mut coins = ScriptedWords::new(vec![0, 0, 0]);
//! let Outcome::Value(spread) = scale.run(&rows, &mut coins) else { unreachable!() };
//! // 500 lies in the cell from 2^8.5 = 362 to 512. With probability 0.95 its middle is within a factor of 2^1.75.
//! assert_eq!(spread, Spread::Cell(17));
//! assert_eq!(scale.estimate(&spread).unwrap().round_i64(), Some(431));
//! assert_eq!(scale.accuracy(&"0.05".parse()?), "1.75".parse()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{
    gate::{self, Gate},
    laplace::discrete_tail_steps,
    threshold::{self, NoisyThreshold, Threshold},
};
use crate::{
    adjacency::Adjacency,
    coins::Coins,
    interval::Interval,
    loss::{Amount, Approx, Delta, Eps, Loss, ParameterError, significant_down},
    outcome::{Outcome, Slack},
    ratio::Ratio,
    sampler::discrete_laplace::DiscreteLaplace,
    solve,
    stability::{
        Answer, InOrder, Sorted,
        bins::{Bins, LEAST, float_powers, powers_up},
        iqr,
    },
};

/// Parameters; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// How much the slack may show.
    pub gate_eps: Eps,
    /// Privacy of the cell that is released.
    pub noise_eps: Eps,
    /// How often a range that differs by more than a factor of the base from a neighbour's may be released.
    /// Above zero.
    pub delta: Delta,
    /// The ratio of the ends of a bin.
    pub base: Ratio,
    /// In how many positions bins are tried.
    pub shifts: u32,
    /// Cells of a bin: a multiple of the positions, at least two.
    pub parts: u32,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// A private scale ready to run.
#[derive(Clone, Debug)]
pub struct Calibrated {
    shape: Scale,
    gate: gate::Calibrated,
    cells: Cells,
}

/// What is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spread {
    /// There are no rows.
    Empty,
    /// The interquartile range is zero.
    Zero,
    /// It lies about here: between the base to this number over `parts`, and to the next.
    Cell(u64),
}

/// The cells with their noise, and the bins they are cut from.
#[derive(Clone, Debug)]
struct Cells {
    bins: Bins,
    /// The smallest whole number of each cell, or of a later one where it has none.
    first: Vec<u64>,
    base: Ratio,
    parts: u32,
    scale_steps: Ratio,
    law: DiscreteLaplace,
    /// The first cell begins at the base to this power.
    lowest: i32,
}

const MOST_CELLS: f64 = 1e5;

impl Cells {
    fn new(base: &Ratio, shifts: u32, parts: u32, eps: &Eps) -> Result<Self, ParameterError> {
        let bins = Bins::new(base, shifts)?;
        let refuse = |next| Err(ParameterError::out_of_range("parts", parts, next));
        if parts < 2 || !parts.is_multiple_of(shifts) {
            return refuse("give a multiple of the shifts, at least 2");
        }
        // A public number and a limit on memory: a float will do.
        if f64::from(parts) * 64.0 * std::f64::consts::LN_2 / base.to_f64().ln() > MOST_CELLS {
            return refuse(
                "that makes more than 100000 cells of 64-bit numbers; give fewer, or a larger base",
            );
        }
        let scale_steps = Ratio::from(u64::from(parts - 1)) / eps.ratio();
        let law = DiscreteLaplace::new(&scale_steps)?;
        let first = powers_up(base, parts);
        Ok(Self { bins, first, base: base.clone(), parts, scale_steps, law, lowest: 0 })
    }

    /// The same with cells and bins of gaps between floats, all powers of two.
    fn of_floats(self, shifts: u32) -> Result<Self, ParameterError> {
        if self.base != Ratio::from(2u64) {
            return Err(ParameterError::out_of_range(
                "base",
                &self.base,
                "floats are measured in powers of 2",
            ));
        }
        let first = float_powers(self.parts);
        Ok(Self { bins: Bins::of_floats(&first, self.parts, shifts), first, lowest: LEAST, ..self })
    }

    /// The cell of a number; zero is put into the first.
    fn cell(&self, number: u64) -> u64 {
        (self.first.partition_point(|&first| first <= number) as u64).saturating_sub(1)
    }

    /// What is released of these rows, if anything is. Draws the same coins for all.
    fn noisy(&self, rows: &dyn InOrder, coins: &mut impl Coins) -> Spread {
        let noise = coins.sample(&self.law);
        match iqr::value(rows) {
            Answer::Empty => Spread::Empty,
            Answer::Value(0) => Spread::Zero,
            // No range is larger than that of the rows, which is public.
            Answer::Value(here) => Spread::Cell(
                self.cell(here)
                    .saturating_add_signed(noise)
                    .min(self.cell(rows.gap(rows.range().lo(), rows.range().hi()))),
            ),
        }
    }

    /// The middle of what was released, on the logarithmic scale, to about 64 digits in binary.
    fn estimate(&self, spread: &Spread) -> Option<Ratio> {
        const BITS: usize = 192;
        match spread {
            Spread::Empty => None,
            Spread::Zero => Some(Ratio::zero()),
            Spread::Cell(cell) => {
                // Whole powers are exact, so that those of floats are not beyond what intervals hold.
                let parts = u64::from(self.parts);
                let (whole, rest) = (cell / parts, cell % parts);
                let exponent = (Ratio::from(rest) + Ratio::new(1, 2)) / Ratio::from(parts);
                let power = Interval::exact(&self.base, BITS).pow(&Interval::exact(&exponent, BITS));
                let whole = i64::try_from(whole).expect("at most a few thousand") + i64::from(self.lowest);
                Some(significant_down(&power.lower(), 64) * whole_power(&self.base, whole))
            }
        }
    }

    /// With probability 1 - beta the estimate is off by at most a factor of the base to this power.
    fn accuracy(&self, beta: &Ratio) -> Ratio {
        (discrete_tail_steps(&self.scale_steps, beta) + Ratio::new(1, 2)) / Ratio::from(u64::from(self.parts))
    }
}

/// The base to a whole power.
fn whole_power(base: &Ratio, exponent: i64) -> Ratio {
    let times = usize::try_from(exponent.unsigned_abs()).expect("at most a few thousand");
    let power = std::iter::repeat_n(base, times).fold(Ratio::one(), |power, base| power * base);
    if exponent < 0 { power.recip() } else { power }
}

impl Scale {
    /// The same for rows that are floats, as they are: [`Sorted`] rows whose places are
    /// [`Spacing::Floats`](crate::stability::Spacing::Floats) apart. The base is two.
    pub fn calibrate_floats(&self) -> Result<Calibrated, ParameterError> {
        let calibrated = self.calibrate()?;
        Ok(Calibrated { cells: calibrated.cells.of_floats(self.shifts)?, ..calibrated })
    }

    /// Compute bins, cells and the gate. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let cells = Cells::new(&self.base, self.shifts, self.parts, &self.noise_eps)?;
        let gate = Gate { eps: self.gate_eps.clone(), delta: self.delta.clone(), adjacency: self.adjacency };
        Ok(Calibrated { shape: self.clone(), gate: gate.calibrate()?, cells })
    }

    /// The least epsilon of the noise (six digits) with which a released answer is off by at most a factor of the
    /// base to this power, with probability 1 - beta.
    pub fn noise_eps_for(&self, power: &Ratio, beta: &Ratio) -> Option<Eps> {
        let cells = self.calibrate().ok()?.cells;
        solve::smallest_eps(|eps| {
            let scale_steps = Ratio::from(u64::from(self.parts - 1)) / eps.ratio();
            Cells { scale_steps, ..cells.clone() }.accuracy(beta) <= *power
        })
    }
}

impl Calibrated {
    /// What a run costs.
    pub fn cost(&self) -> Loss {
        let noise = Approx::new(&self.shape.noise_eps, &Delta::zero());
        Loss::Approx(Approx::new(&self.shape.gate_eps, &self.shape.delta).compose(&noise))
    }

    /// How many changed rows take the range out of its bin, in the best position.
    pub fn slack(&self, rows: &Sorted) -> Slack {
        iqr::slack(rows, &self.cells.bins, self.shape.adjacency)
    }

    /// The same as far as the gate can tell: from the slack on at which it opens for certain all slacks are one.
    fn slack_told(&self, rows: &dyn InOrder) -> Slack {
        if let Some(all) = rows.all() {
            return self.slack(all);
        }
        let certain = self.gate.slack_for(&Ratio::one()).and_then(Slack::until_change);
        iqr::slack_within(rows, &self.cells.bins, certain.unwrap_or(u64::MAX), self.shape.adjacency)
    }

    /// Where the interquartile range lies, or a refusal.
    pub fn run(&self, rows: &dyn InOrder, coins: &mut impl Coins) -> Outcome<Spread> {
        let open = self.gate.run(self.slack_told(rows), coins);
        let spread = self.cells.noisy(rows, coins);
        if open { Outcome::Value(spread) } else { Outcome::Refused }
    }

    /// The middle of a released cell, on the logarithmic scale; `None` where there were no rows.
    pub fn estimate(&self, spread: &Spread) -> Option<Ratio> {
        self.cells.estimate(spread)
    }

    /// With probability 1 - beta an estimate is off by at most a factor of the base to this power.
    pub fn accuracy(&self, beta: &Ratio) -> Ratio {
        self.cells.accuracy(beta)
    }

    /// The chance of a refusal at this slack.
    pub fn chance_of_refusal(&self, slack: Slack) -> Ratio {
        self.gate.accuracy(slack)
    }

    /// The least slack that is refused with probability at most beta.
    pub fn slack_for(&self, beta: &Ratio) -> Option<Slack> {
        self.gate.slack_for(&(Ratio::one() - beta))
    }
}

/// The form of the text, its threshold divided by epsilon: two positions, a test with Laplace noise for each.
/// For comparison with [`Scale`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoTests {
    /// The epsilon of each noise.
    pub eps: Eps,
    /// Tests are against `1 + ln(1/delta)/epsilon`. Above zero.
    pub delta: Delta,
    /// The ratio of the ends of a bin; two in the text.
    pub base: Ratio,
    /// Cells of a bin: even.
    pub parts: u32,
    /// What one person may change.
    pub adjacency: Adjacency,
}

/// The form of the text, ready to run.
#[derive(Clone, Debug)]
pub struct CalibratedTwoTests {
    shape: TwoTests,
    test: threshold::Calibrated,
    cells: Cells,
}

impl TwoTests {
    /// Compute bins, cells and the odds of the tests. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<CalibratedTwoTests, ParameterError> {
        let cells = Cells::new(&self.base, 2, self.parts, &self.eps)?;
        // The distance to another bin beyond 1 + ln(1/delta)/epsilon is one less than that beyond ln(1/delta)/epsilon.
        let threshold = Threshold::Algorithm13 { delta: self.delta.clone() };
        let test = NoisyThreshold { eps: self.eps.clone(), threshold, adjacency: self.adjacency };
        Ok(CalibratedTwoTests { shape: self.clone(), test: test.calibrate()?, cells })
    }
}

impl CalibratedTwoTests {
    /// What a run costs: (2 epsilon, delta - delta²/4).
    pub fn cost(&self) -> Loss {
        let delta = self.shape.delta.ratio();
        let kept = delta * &(Ratio::one() - delta / &Ratio::from(4u64));
        let delta = Amount::new(kept).expect("delta is below one");
        Loss::Approx(Approx { eps: Amount::from(&self.shape.eps).times_up(2), delta })
    }

    /// Where the interquartile range lies, or a refusal.
    pub fn run(&self, rows: &Sorted, coins: &mut impl Coins) -> Outcome<Spread> {
        let here = iqr::value(rows).or(0);
        let passed = [0, 1].map(|shift| {
            let slack = iqr::slack_in_bin(rows, self.cells.bins.bin(shift, here), self.shape.adjacency);
            self.test.run((), slack, coins) == Outcome::Value(())
        });
        let spread = self.cells.noisy(rows, coins);
        if passed.contains(&true) { Outcome::Value(spread) } else { Outcome::Refused }
    }

    /// The middle of a released cell, on the logarithmic scale; `None` where there were no rows.
    pub fn estimate(&self, spread: &Spread) -> Option<Ratio> {
        self.cells.estimate(spread)
    }

    /// With probability 1 - beta an estimate is off by at most a factor of the base to this power.
    pub fn accuracy(&self, beta: &Ratio) -> Ratio {
        self.cells.accuracy(beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::AUDIT_BITS,
        stability::{
            Range, Spacing,
            lattice::{FLOATS, ordinal},
        },
        tape::{Pmf, Tape, delta_between, enumerate},
        universe::{datasets, neighbouring_pairs},
    };
    use Adjacency::{AddRemove, Replace};
    use std::collections::BTreeMap;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn shape(base: &str, shifts: u32, parts: u32, adjacency: Adjacency) -> Scale {
        Scale {
            gate_eps: "1".parse().unwrap(),
            noise_eps: "2".parse().unwrap(),
            delta: "0.1".parse().unwrap(),
            base: ratio(base),
            shifts,
            parts,
            adjacency,
        }
    }

    fn two_tests(base: &str, parts: u32, adjacency: Adjacency) -> TwoTests {
        let Scale { gate_eps: eps, delta, base, .. } = shape(base, 2, parts, adjacency);
        TwoTests { eps, delta, base, parts, adjacency }
    }

    /// Without noise an estimate is in the middle of its cell, so that half a cell is what it may be off by.
    #[test]
    fn errors_are_half_a_cell_and_the_noise() {
        let scale = shape("2", 2, 8, AddRemove).calibrate().unwrap();
        assert_eq!(scale.cells.accuracy(&Ratio::one()), ratio("1/16"));
        let tail = discrete_tail_steps(&ratio("7/2"), &ratio("0.05"));
        assert_eq!(scale.cells.accuracy(&ratio("0.05")), tail / ratio("8") + ratio("1/16"));
    }

    #[test]
    fn hand_computed_cells_and_costs() {
        let scale = shape("2", 2, 2, AddRemove).calibrate().unwrap();
        // Cells begin at 1, 1.41, 2, 2.83, 4, 5.66, 8, …
        let cells = [1, 2, 3, 4, 5, 6, 7, 8, 1 << 40, u64::MAX].map(|number| scale.cells.cell(number));
        assert_eq!(cells, [0, 2, 3, 4, 4, 5, 5, 6, 80, 127]);
        assert_eq!(scale.cost().to_string(), "(3, 0.1)-differential privacy");
        assert_eq!(scale.cells.scale_steps, ratio("1/2"));
        assert_eq!(shape("2", 2, 8, Replace).calibrate().unwrap().cells.scale_steps, ratio("7/2"));
        assert_eq!(scale.estimate(&Spread::Zero), Some(Ratio::zero()));
        assert_eq!(scale.estimate(&Spread::Empty), None);
        // The middle of the cell from 2 to 2.83 is 2^1.25 = 2.3784.
        assert!((scale.estimate(&Spread::Cell(2)).unwrap().to_f64() - 2f64.powf(1.25)).abs() < 1e-14);
        let printed = two_tests("2", 2, Replace).calibrate().unwrap();
        assert_eq!(printed.cost().to_string(), "(2, 0.0975)-differential privacy");
    }

    #[test]
    fn bad_parameters_are_refused_in_one_line() {
        for (base, shifts, parts, expected) in [
            ("2", 2, 3, "parts 3 is not accepted: give a multiple of the shifts, at least 2"),
            ("2", 1, 1, "parts 1 is not accepted: give a multiple of the shifts, at least 2"),
            ("2", 2, 0, "parts 0 is not accepted: give a multiple of the shifts, at least 2"),
            (
                "1.001",
                2,
                4000,
                "parts 4000 is not accepted: that makes more than 100000 cells of 64-bit numbers; \
                 give fewer, or a larger base",
            ),
            ("1", 2, 2, "base 1 is not accepted: give a number from 1.001 to 65536, such as 2 or 1.2"),
        ] {
            let error = shape(base, shifts, parts, Replace).calibrate().unwrap_err().to_string();
            assert_eq!(error, expected);
        }
        let sure = Scale { delta: Delta::zero(), ..shape("2", 2, 2, Replace) };
        assert!(sure.calibrate().unwrap_err().to_string().starts_with("delta 0 is not accepted"));
        assert!(TwoTests { delta: Delta::zero(), ..two_tests("2", 2, Replace) }.calibrate().is_err());
    }

    /// Rows of a small universe, with an interquartile range of 0, 1, 3 or 4.
    const VALUES: [i64; 3] = [0, 1, 4];

    fn sorted(rows: &[i64]) -> Sorted {
        Sorted::new(rows, Range::new(0, 4).unwrap())
    }

    /// The worst delta over all neighbours.
    fn worst(
        eps: &str,
        size: usize,
        adjacency: Adjacency,
        run: impl Fn(&Sorted, &mut Tape) -> Outcome<Spread>,
    ) -> Interval {
        let mut seen: BTreeMap<Vec<i64>, Pmf<Outcome<Spread>>> = BTreeMap::new();
        let mut worst = Interval::zero(AUDIT_BITS);
        for (a, b) in neighbouring_pairs(&VALUES, size, adjacency) {
            for rows in [&a, &b] {
                let distribution = || enumerate(&ratio("1e-10"), |tape| run(&sorted(rows), tape));
                seen.entry(rows.clone()).or_insert_with(distribution);
            }
            worst = worst.max(&delta_between(&ratio(eps), &seen[&a], &seen[&b]));
        }
        worst
    }

    #[test]
    fn exact_audit_under_both_adjacencies() {
        for (adjacency, size) in [(Replace, 1), (Replace, 2), (Replace, 6), (Replace, 9), (AddRemove, 7)] {
            for (base, shifts, parts) in [("2", 2, 2), ("4", 2, 4), ("5", 1, 3)] {
                let scale = shape(base, shifts, parts, adjacency).calibrate().unwrap();
                let worst = worst("3", size, adjacency, |rows, tape| scale.run(rows, tape));
                assert!(
                    worst.upper() <= ratio("0.1") + ratio("1e-7"),
                    "{adjacency} {size} {}",
                    worst.to_f64()
                );
                // Zero and not zero are told apart by every release. One row has no spread.
                assert!(
                    size == 1 || worst.lower() > ratio("0.0999"),
                    "{adjacency} {size} {}",
                    worst.to_f64()
                );
            }
        }
    }

    /// The same enumeration with rows that are floats of all magnitudes; a mutant whose gate opens three times as
    /// often is caught.
    #[test]
    fn exact_audit_of_floats_without_a_step() {
        let values = [-1e300, 0.0, 0.3, 1e300].map(|value| ordinal(value).unwrap());
        let spaced = |rows: &[i64]| Sorted::new(rows, FLOATS).spaced(Spacing::Floats);
        let audit = |scale: &Calibrated, size: usize, adjacency| {
            let mut seen: BTreeMap<Vec<i64>, Pmf<Outcome<Spread>>> = BTreeMap::new();
            let mut worst = Interval::zero(AUDIT_BITS);
            for (a, b) in neighbouring_pairs(&values, size, adjacency) {
                for rows in [&a, &b] {
                    let distribution = || enumerate(&ratio("1e-10"), |tape| scale.run(&spaced(rows), tape));
                    seen.entry(rows.clone()).or_insert_with(distribution);
                }
                worst = worst.max(&delta_between(&ratio("3"), &seen[&a], &seen[&b]));
            }
            worst
        };
        for (adjacency, size) in [(Replace, 5), (AddRemove, 5)] {
            let scale = shape("2", 2, 4, adjacency).calibrate_floats().unwrap();
            let measured = audit(&scale, size, adjacency);
            assert!(measured.upper() <= ratio("0.1") + ratio("1e-7"), "{adjacency} {}", measured.to_f64());
            // A gate that opens three times as often as delta allows.
            let open = Scale { delta: "0.3".parse().unwrap(), ..shape("2", 2, 4, adjacency) };
            let mutant = audit(&open.calibrate_floats().unwrap(), size, adjacency);
            assert!(mutant.lower() > ratio("0.2"), "{adjacency} {}", mutant.to_f64());
        }
        assert!(shape("3", 2, 4, Replace).calibrate_floats().is_err());
    }

    #[test]
    fn estimates_of_floats_are_near_what_they_are_of() {
        let scale = shape("2", 4, 8, Replace).calibrate_floats().unwrap();
        for gap in [1e-300f64, 0.002, 1.0, 17.3, 1e12, 1e300] {
            let cell = Spread::Cell(scale.cells.cell(gap.to_bits()));
            let estimate = scale.estimate(&cell).unwrap().to_f64();
            assert!((estimate / gap).log2().abs() <= 1.0 / 16.0 + 1e-9, "{gap} {estimate}");
        }
    }

    #[test]
    fn exact_audit_of_the_two_tests_with_what_they_really_cost() {
        for (adjacency, size) in [(Replace, 6), (Replace, 9), (AddRemove, 6)] {
            let printed = two_tests("4", 4, adjacency).calibrate().unwrap();
            let run = |rows: &Sorted, tape: &mut Tape| printed.run(rows, tape);
            let kept = worst("2", size, adjacency, run);
            assert!(kept.upper() <= ratio("0.0975") + ratio("1e-7") && kept.lower() > ratio("0.0974"));
        }
    }

    #[test]
    fn a_mutant_whose_noise_hides_one_cell_instead_of_a_bin_is_caught() {
        let mut mutant = shape("5", 1, 5, Replace).calibrate().unwrap();
        mutant.cells.law = DiscreteLaplace::new(&ratio("1/2")).unwrap();
        let delta = worst("3", 9, Replace, |rows, tape| mutant.run(rows, tape));
        assert!(delta.lower() > ratio("0.11"), "{}", delta.to_f64());
    }

    #[test]
    fn a_mutant_that_takes_the_distance_to_an_unstable_data_set_for_the_one_to_another_bin_is_caught() {
        let scale = shape("2", 2, 2, Replace).calibrate().unwrap();
        let delta = worst("3", 6, Replace, |rows, tape| {
            let slack = scale
                .slack(rows)
                .until_change()
                .map_or(scale.slack(rows), |changes| Slack::rows_to_change(changes + 1, Replace));
            let open = scale.gate.run(slack, tape);
            let spread = scale.cells.noisy(rows, tape);
            if open { Outcome::Value(spread) } else { Outcome::Refused }
        });
        assert!(delta.lower() > ratio("0.3"), "{}", delta.to_f64());
    }

    #[test]
    fn one_gate_opens_more_often_than_two_tests_where_one_position_is_at_its_worst() {
        let printed = two_tests("2", 2, Replace);
        let test = printed.calibrate().unwrap().test;
        let gate = Gate { eps: printed.eps.clone(), delta: "0.0975".parse().unwrap(), adjacency: Replace };
        let gate = gate.calibrate().unwrap();
        for changes in 2..12 {
            let slack = Slack::rows_to_change(changes, Replace);
            let fails = 1.0 - test.probability(slack, 64).to_f64();
            let other = 1.0 - test.probability(Slack::rows_to_change(1, Replace), 64).to_f64();
            assert!(gate.probability(slack).to_f64() > 1.0 - fails * other, "{changes}");
        }
        // With both positions far from their ends, the gate alone is certain.
        let far = Slack::rows_to_change(8, Replace);
        assert!(gate.probability(far) == Ratio::one() && test.probability(far, 64).upper() < Ratio::one());
    }

    #[test]
    fn accuracy_is_the_tail_of_the_noise_and_its_inverse_agrees() {
        // Far from both ends, so that nothing is clamped.
        let rows = Sorted::new(&(0..400).map(|row| row * 1000).collect::<Vec<_>>(), Range::WHOLE);
        let mechanism = shape("2", 2, 4, AddRemove);
        let scale = mechanism.calibrate().unwrap();
        let (beta, truth) = (ratio("0.05"), 200_000f64);
        assert!(scale.chance_of_refusal(scale.slack(&rows)).is_zero());
        let power = scale.accuracy(&beta).to_f64();
        let pmf = enumerate(&ratio("1e-9"), |tape| scale.run(&rows, tape));
        let off = pmf.iter().filter(|(outcome, _)| {
            let Outcome::Value(spread) = outcome else { return true };
            (scale.estimate(spread).unwrap().to_f64() / truth).log2().abs() > power
        });
        assert!(off.map(|(_, mass)| mass.to_f64()).sum::<f64>() <= 0.05);
        let eps = mechanism.noise_eps_for(&scale.accuracy(&beta), &beta).unwrap();
        assert!(eps <= mechanism.noise_eps && *eps.ratio() > ratio("1"));
        assert!(mechanism.noise_eps_for(&ratio("0.01"), &beta).is_none());
    }

    #[test]
    fn ends_of_the_domain_are_public() {
        for adjacency in Adjacency::ALL {
            let scale = shape("2", 2, 2, adjacency).calibrate().unwrap();
            for rows in datasets(&VALUES, 3, AddRemove) {
                for words in [vec![0, 1 << 59, 0], vec![0, 1 << 59, 1 << 63]] {
                    let mut coins = ScriptedWords::new(words);
                    let outcome = scale.run(&sorted(&rows), &mut coins);
                    assert_eq!(coins.used(), 3, "{rows:?}");
                    let Outcome::Value(spread) = outcome else { panic!("the gate opens on a word of zero") };
                    match iqr::value(&sorted(&rows)) {
                        Answer::Empty => assert_eq!(spread, Spread::Empty),
                        Answer::Value(0) => assert_eq!(spread, Spread::Zero),
                        Answer::Value(_) => assert!(matches!(spread, Spread::Cell(0..=4))),
                    }
                }
            }
        }
    }

    #[test]
    fn a_scripted_run() {
        let scale = shape("2", 2, 2, Replace).calibrate().unwrap();
        // 0, 0, 1, 4, 4, 4: the range is 4, in cell 4, which is the last one here.
        let rows = sorted(&[0, 0, 1, 4, 4, 4]);
        // The gate, a strip of zero or of one, the sign.
        for (words, outcome) in [
            (vec![0, 0, 0], Outcome::Value(Spread::Cell(4))),
            (vec![0, 1 << 59, 0], Outcome::Value(Spread::Cell(4))),
            (vec![0, 1 << 59, 1 << 63], Outcome::Value(Spread::Cell(3))),
            (vec![u64::MAX, 0, 0], Outcome::Refused),
        ] {
            assert_eq!(scale.run(&rows, &mut ScriptedWords::new(words)), outcome);
        }
    }
}
