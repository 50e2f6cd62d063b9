//! Answers questions about a population from training rows, and from holdout rows only where the two disagree.
//!
//! Source: Dwork, Feldman, Hardt, Pitassi, Reingold, Roth 2015 (Thresholdout); 004_5f92a75732c1853f.txt for why
//! stability makes answers generalize.
//!
//! # Guarantee
//!
//! The holdout rows are independent draws of a population. Questions are functions from a row to [0, 1], chosen with
//! all earlier answers and the training rows in mind. With probability 1 - beta, the holdout mean of every question
//! that was answered is within the tolerance of its population mean; and with probability 1 - 2·beta every answer is
//! within [`Calibrated::accuracy`] of it. Besides, all answers together are epsilon-DP for the holdout rows, under
//! replace.
//!
//! # Why
//!
//! 1. An answer is the training mean unless the difference of both means, with noise, exceeds a threshold; then it is
//!    the holdout mean with noise, rounded to a grid of the tolerance within [0, 1]. At most B answers are of the
//!    second kind, and at most m questions are answered: this is enforced.
//! 2. Fix the coins and the training rows. Whoever asks sees one of at most N = sum over i <= B of C(m, i)·G^i
//!    transcripts, G being the points of the grid, and each transcript fixes all questions.
//! 3. For each of at most m·N pairs of a transcript and a question, Hoeffding's bound fails with probability at most
//!    2·e^(-2·n·tolerance²). So n >= (ln N + ln(2m/beta))/(2·tolerance²) rows suffice, which calibration checks.
//! 4. Privacy: the comparison is [`above_threshold`] with half of epsilon, each of B answers
//!    Laplace noise with its share of the other half; one row moves a mean by at most 1/n.
//!
//! # Differs
//!
//! The compression argument needs no noise and has explicit constants; the paper's own theorem is asymptotic. The
//! threshold's noise is drawn once, not after each positive answer.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{monitor::holdout::*, ratio::Ratio};
//!
//! let holdout = Holdout {
//!     rows: 46_900,
//!     questions: 1000,
//!     corrections: 30,
//!     tolerance: "0.05".parse()?,
//!     threshold: "0.04".parse()?,
//!     beta: "0.05".parse()?,
//!     eps: "1".parse()?,
//! };
//! assert_eq!(holdout.rows_needed()?, 46_814);
//! assert!(holdout.calibrate()?.accuracy() < "0.16".parse()?);
//! // A tenth of the rows cannot carry as much.
//! assert!(Holdout { rows: 4690, ..holdout }.calibrate().is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::above_threshold::{self, AboveThreshold, Form, Questions};
use crate::{
    coins::Coins,
    interval::Interval,
    loss::{Eps, Loss, ParameterError},
    mechanism::{
        Noise, Values,
        laplace::{self, Laplace},
    },
    ratio::Ratio,
};
use dashu_int::UBig;

/// Parameters of a reusable holdout; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holdout {
    /// How many rows are held out.
    pub rows: u64,
    /// How many questions can be asked.
    pub questions: u64,
    /// How many answers can come from the holdout.
    pub corrections: u64,
    /// How far holdout means may be from the population's; also the grid of answers from the holdout.
    pub tolerance: Ratio,
    /// From which difference between training and holdout on the holdout answers.
    pub threshold: Ratio,
    /// How likely the tolerance may be missed.
    pub beta: Ratio,
    /// The privacy parameter of all answers together.
    pub eps: Eps,
}

/// A holdout ready to start.
#[derive(Clone, Debug)]
pub struct Calibrated {
    holdout: Holdout,
    comparison: above_threshold::Calibrated,
    correction: laplace::Calibrated,
}

/// A holdout in use.
pub struct Asking {
    calibrated: Calibrated,
    comparisons: Questions,
    questions_left: u64,
}

/// What is said of one question.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// The training mean, which the holdout does not contradict.
    Training(Ratio),
    /// The holdout mean with noise: the training rows mislead.
    Holdout(Ratio),
    /// Questions or corrections are used up; fresh rows are needed.
    Exhausted,
}

const MOST_CORRECTIONS: u64 = 10_000;
/// Steps of the comparison for each n-th part.
const STEPS: u64 = 16;

impl Holdout {
    /// The least number of rows that the guarantee needs, whatever [`Holdout::rows`] says.
    pub fn rows_needed(&self) -> Result<u64, ParameterError> {
        self.check()?;
        let grid = self.grid_points();
        let mut term = UBig::ONE;
        let mut transcripts = UBig::ONE;
        for i in 0..self.corrections.min(self.questions) {
            // C(m, i + 1)·G^(i + 1) from the one before: the quotient is whole.
            term = term * UBig::from(self.questions - i) * UBig::from(grid) / UBig::from(i + 1);
            transcripts += &term;
        }
        let pairs =
            Ratio::whole(transcripts.into()) * Ratio::from(self.questions) * Ratio::from(2u64) / &self.beta;
        let rows = Interval::exact(&pairs, 96).ln().upper() / (self.tolerance.squared() * Ratio::from(2u64));
        let accepted = "so small a tolerance needs more rows than can be counted; give a larger one";
        let refused = || ParameterError::out_of_range("tolerance", &self.tolerance, accepted);
        rows.ceil_i64().and_then(|rows| u64::try_from(rows).ok()).ok_or_else(refused)
    }

    /// How many corrections these rows can carry at most, for the same questions; `None` where they carry not one.
    pub fn most_corrections(&self) -> Option<u64> {
        let carries = |corrections| {
            Self { corrections, ..self.clone() }.rows_needed().is_ok_and(|needed| needed <= self.rows)
        };
        let (mut low, mut high) = (0, self.questions.min(MOST_CORRECTIONS) + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if carries(middle) { low = middle } else { high = middle }
        }
        (low > 0).then_some(low)
    }

    /// Multiples of the tolerance in [0, 1].
    fn grid_points(&self) -> u64 {
        let last = self.tolerance.recip().floor_i64().and_then(|last| u64::try_from(last).ok());
        last.unwrap_or(u64::MAX - 1) + 1
    }

    fn check(&self) -> Result<(), ParameterError> {
        let refuse = |name, value: &dyn std::fmt::Display, accepted| {
            Err(ParameterError::out_of_range(name, value, accepted))
        };
        let between = |value: &Ratio| value.is_positive() && *value < Ratio::one();
        if self.tolerance < Ratio::new(1, 1_000_000) || !between(&self.tolerance) {
            return refuse("tolerance", &self.tolerance, "give a number from 1e-6 to 1, such as 0.05");
        }
        if !between(&self.threshold) {
            return refuse("threshold", &self.threshold, "give a number between 0 and 1, such as 0.04");
        }
        if !between(&self.beta) {
            return refuse("beta", &self.beta, "give a number between 0 and 1, such as 0.05");
        }
        if self.questions == 0 || self.questions > 1_000_000_000 {
            return refuse("questions", &self.questions, "give a whole number from 1 to 10^9");
        }
        if self.corrections == 0 || self.corrections > MOST_CORRECTIONS {
            return refuse("corrections", &self.corrections, "give a whole number from 1 to 10000");
        }
        Ok(())
    }

    /// Check that the rows carry the questions, and compute the noise.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let needed = self.rows_needed()?;
        if self.rows < needed {
            let accepted =
                "hold out more rows, or allow fewer questions, fewer corrections or a larger tolerance";
            return Err(ParameterError::out_of_range("rows", format!("{} of {needed}", self.rows), accepted));
        }
        let share = |parts: u64| Eps::new(self.eps.ratio() / &Ratio::from(parts));
        let one_row = Ratio::from(self.rows).recip();
        let comparison = AboveThreshold {
            eps: share(2)?,
            threshold: self.threshold.clone(),
            sensitivity: one_row.clone(),
            grid: &one_row / &Ratio::from(STEPS),
            values: Values::Any,
            cutoff: self.corrections,
            monotone: false,
            form: Form::OneSided,
        };
        let correction = Laplace {
            eps: share(2 * self.corrections)?,
            sensitivity: one_row,
            grid: self.tolerance.clone(),
            dimensions: 1,
            values: Values::Any,
            noise: Noise::Real,
        };
        let (comparison, correction) = (comparison.calibrate()?, correction.calibrate()?);
        Ok(Calibrated { holdout: self.clone(), comparison, correction })
    }
}

impl Calibrated {
    /// What it was calibrated for.
    pub fn parameters(&self) -> &Holdout {
        &self.holdout
    }

    /// What all answers together cost, under replace.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.holdout.eps)
    }

    /// How far any answer may be from its population mean, with probability 1 - 2·beta.
    pub fn accuracy(&self) -> Ratio {
        let half = &self.holdout.beta / &Ratio::from(2u64);
        let agreed = &self.holdout.threshold + &self.comparison.accuracy(self.holdout.questions, &half);
        let corrected = self.correction.accuracy(&(half / Ratio::from(self.holdout.corrections)));
        // Cutting to [0, 1] brings an answer closer, but for the last part of the grid.
        agreed.max(corrected + &self.holdout.tolerance) + &self.holdout.tolerance
    }

    /// Start asking. Do so once for these rows: a second start is a second holdout.
    pub fn start(&self, coins: &mut impl Coins) -> Asking {
        let comparisons = self.comparison.start(coins);
        Asking { calibrated: self.clone(), comparisons, questions_left: self.holdout.questions }
    }
}

/// The exact mean of values cut to [0, 1] and rounded down to multiples of 2^-32; what is not a number counts as zero.
pub fn mean(values: &[f64]) -> Ratio {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within 2^32; NaN becomes zero"
    )]
    let units = |value: &f64| (value.clamp(0.0, 1.0) * 2f64.powi(32)) as u64;
    let sum: u64 = values.iter().map(units).sum();
    Ratio::from(sum) / (Ratio::from(values.len().max(1) as u64) * Ratio::from(1u64 << 32))
}

impl Asking {
    /// How many questions are left.
    pub fn questions_left(&self) -> u64 {
        if self.corrections_left() == 0 { 0 } else { self.questions_left }
    }

    /// How many answers can still come from the holdout; at zero it is exhausted.
    pub fn corrections_left(&self) -> u64 {
        self.comparisons.positives_left()
    }

    /// Answer one question, given its mean over the training rows and over the holdout rows; see [`mean`].
    pub fn ask(&mut self, training: &Ratio, holdout: &Ratio, coins: &mut impl Coins) -> Answer {
        if self.questions_left() == 0 {
            return Answer::Exhausted;
        }
        self.questions_left -= 1;
        let difference = (training - holdout).abs();
        let steps = self.calibrated.comparison.steps(&difference);
        match self.comparisons.ask_without_gap(steps, coins) {
            above_threshold::Answer::Below => Answer::Training(training.clone()),
            above_threshold::Answer::Above { .. } => {
                let noisy = self.calibrated.correction.run(std::slice::from_ref(holdout), coins);
                let tolerance = &self.calibrated.holdout.tolerance;
                let top = Ratio::from(self.calibrated.holdout.grid_points() - 1) * tolerance;
                Answer::Holdout(noisy.into_iter().sum::<Ratio>().max(Ratio::zero()).min(top))
            }
            above_threshold::Answer::Halted => Answer::Exhausted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        adjacency::Adjacency,
        interval::AUDIT_BITS,
        tape::{Pmf, delta_between, enumerate},
        universe::neighbouring_pairs,
    };

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn holdout() -> Holdout {
        Holdout {
            rows: 1_000_000,
            questions: 1000,
            corrections: 30,
            tolerance: ratio("0.05"),
            threshold: ratio("0.04"),
            beta: ratio("0.05"),
            eps: "1".parse().unwrap(),
        }
    }

    #[test]
    fn rows_of_the_theory_page() {
        assert_eq!(holdout().rows_needed().unwrap() / 100, 468);
        let large = Holdout { questions: 100_000, corrections: 100, ..holdout() };
        assert_eq!(large.rows_needed().unwrap() / 1000, 221);
        // One question, one correction: 1 + 21 transcripts.
        let one = Holdout { questions: 1, corrections: 5, ..holdout() };
        let by_hand = ((22.0f64.ln() + (2.0f64 / 0.05).ln()) / 0.005).ceil();
        assert!((one.rows_needed().unwrap() as f64 - by_hand).abs() < 0.5);
    }

    #[test]
    fn too_few_rows_are_refused_and_the_right_number_is_said() {
        let small = Holdout { rows: 5000, ..holdout() };
        let error = small.calibrate().unwrap_err().to_string();
        assert!(error.starts_with("rows 5000 of 468") && error.contains("hold out more rows"), "{error}");
        assert_eq!(small.most_corrections(), Some(1));
        let enough = Holdout { corrections: 1, ..small.clone() };
        assert!(enough.calibrate().is_ok() && Holdout { corrections: 2, ..small }.calibrate().is_err());
        for (bad, text) in [
            (Holdout { tolerance: ratio("0"), ..holdout() }, "tolerance 0"),
            (Holdout { threshold: ratio("1"), ..holdout() }, "threshold 1"),
            (Holdout { beta: ratio("-1"), ..holdout() }, "beta -1"),
            (Holdout { corrections: 0, ..holdout() }, "corrections 0"),
            (Holdout { questions: 0, ..holdout() }, "questions 0"),
        ] {
            assert!(bad.calibrate().unwrap_err().to_string().starts_with(text));
        }
    }

    /// A small holdout whose rows do not carry its guarantee, so that the tape can follow it.
    fn small(eps: &str, rows: u64, told: u64) -> Calibrated {
        let shape = Holdout {
            rows,
            questions: 2,
            corrections: 1,
            tolerance: ratio("0.5"),
            threshold: ratio("0.5"),
            beta: ratio("0.5"),
            eps: eps.parse().unwrap(),
        };
        let needed = shape.rows_needed().unwrap();
        let mut calibrated = Holdout { rows: needed.max(told), ..shape.clone() }.calibrate().unwrap();
        // The noise for this many rows, and no check.
        let half = Eps::new(shape.eps.ratio() / &Ratio::from(2u64)).unwrap();
        let sensitivity = Ratio::from(told).recip();
        let comparison = AboveThreshold {
            eps: half.clone(),
            threshold: shape.threshold.clone(),
            sensitivity: sensitivity.clone(),
            grid: Ratio::from(rows).recip(),
            values: Values::Any,
            cutoff: 1,
            monotone: false,
            form: Form::OneSided,
        };
        let correction = Laplace {
            eps: half,
            sensitivity,
            grid: shape.tolerance.clone(),
            dimensions: 1,
            values: Values::Any,
            noise: Noise::Real,
        };
        (calibrated.comparison, calibrated.correction) =
            (comparison.calibrate().unwrap(), correction.calibrate().unwrap());
        calibrated.holdout = shape;
        calibrated
    }

    fn transcript(calibrated: &Calibrated, rows: &[i64]) -> Pmf<Vec<Answer>> {
        let share = |value| {
            Ratio::from(rows.iter().filter(|&&row| row == value).count() as u64)
                / Ratio::from(rows.len() as u64)
        };
        enumerate(&ratio("1e-12"), |tape| {
            let mut asking = calibrated.start(tape);
            let first = asking.ask(&Ratio::zero(), &share(1), tape);
            // The second question depends on the first answer.
            let value = i64::from(matches!(first, Answer::Training(_)));
            vec![first, asking.ask(&Ratio::one(), &share(value), tape)]
        })
    }

    fn worst(calibrated: &Calibrated, eps: &str) -> Interval {
        let pairs = neighbouring_pairs(&[0, 1], 2, Adjacency::Replace);
        let pairs = pairs.iter().filter(|(a, _)| a.len() == 2);
        pairs.fold(Interval::zero(AUDIT_BITS), |worst, (a, b)| {
            worst.max(&delta_between(&ratio(eps), &transcript(calibrated, a), &transcript(calibrated, b)))
        })
    }

    #[test]
    fn exact_audit_answers_keep_epsilon() {
        assert!(worst(&small("6", 2, 2), "6").upper() < ratio("1e-6"));
    }

    #[test]
    fn a_mutant_that_takes_a_row_for_half_of_its_weight_is_caught() {
        assert!(worst(&small("6", 2, 4), "6").lower() > ratio("1e-5"));
    }

    #[test]
    fn corrections_are_counted_and_then_it_is_over() {
        let calibrated = Holdout { corrections: 2, ..holdout() }.calibrate().unwrap();
        let mut coins = scattered_words();
        let mut asking = calibrated.start(&mut coins);
        assert_eq!((asking.questions_left(), asking.corrections_left()), (1000, 2));
        let same = asking.ask(&ratio("0.5"), &ratio("0.5"), &mut coins);
        assert_eq!(same, Answer::Training(ratio("0.5")));
        for left in [1, 0] {
            let Answer::Holdout(value) = asking.ask(&ratio("0.9"), &ratio("0.52"), &mut coins) else {
                panic!()
            };
            assert!((value.to_f64() - 0.5).abs() < 1e-9 && asking.corrections_left() == left);
        }
        assert_eq!(asking.ask(&ratio("0.5"), &ratio("0.5"), &mut coins), Answer::Exhausted);
        assert_eq!(asking.questions_left(), 0);
    }

    /// Words of a counter scattered by a multiplication: any words will do here.
    fn scattered_words() -> crate::coins::ScriptedWords {
        crate::coins::ScriptedWords::new((1..200u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect())
    }

    #[test]
    fn means_are_exact_and_total() {
        assert_eq!(mean(&[0.5, 1.0, 7.0, -3.0]), ratio("0.625"));
        assert_eq!((mean(&[]), mean(&[f64::NAN, 1.0])), (Ratio::zero(), ratio("0.5")));
    }

    #[test]
    fn answers_stay_on_the_grid_between_zero_and_one() {
        let calibrated = small("6", 2, 2);
        let answers = transcript(&calibrated, &[1, 1]);
        for (answers, _) in answers.iter() {
            for answer in answers {
                if let Answer::Holdout(value) = answer {
                    assert!([ratio("0"), ratio("0.5"), ratio("1")].contains(value), "{value}");
                }
            }
        }
    }

    /// Half of epsilon pays for comparisons, the other half for all corrections together; none of it is left over.
    #[test]
    fn the_parts_cost_what_was_said() {
        let calibrated = holdout().calibrate().unwrap();
        let pure = |text: &str| Loss::pure(&Eps::new(text.parse().unwrap()).unwrap());
        assert_eq!(calibrated.comparison.cost(), pure("1/2"));
        assert_eq!(calibrated.correction.cost(), pure("1/60"));
        assert_eq!(calibrated.cost(), pure("1"));
    }

    /// The accuracy is that of the worse of the two ways to an answer, each within half of beta over all answers.
    #[test]
    fn the_accuracy_is_that_of_the_worse_answer() {
        for (threshold, corrected_is_worse) in [("0.04", true), ("0.2", false)] {
            let calibrated = Holdout { threshold: ratio(threshold), ..holdout() }.calibrate().unwrap();
            let agreed = ratio(threshold) + calibrated.comparison.accuracy(1000, &ratio("0.025"));
            let corrected =
                calibrated.correction.accuracy(&(ratio("0.025") / Ratio::from(30u64))) + ratio("0.05");
            assert_eq!(corrected > agreed, corrected_is_worse, "{} {}", agreed.to_f64(), corrected.to_f64());
            assert_eq!(calibrated.accuracy(), agreed.max(corrected) + ratio("0.05"));
        }
    }
}
