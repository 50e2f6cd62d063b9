//! Tells which questions of a stream lie above a threshold, until a given number of them did; the others are free.
//!
//! Source: 003_82bbcee9e9852ea0.txt, DPAboveThreshold; Lyu, Su, Li 2017 (several positives, the split);
//! Ding, Wang, Zhang, Kifer 2019 (the free gap).
//!
//! # Guarantee
//!
//! Let one person move the value of every question by at most the sensitivity, and, where `monotone` is said, all
//! values the same way (counts under add/remove do; under replace they do not). Then all answers together, gaps
//! included, are epsilon-DP: for any number of questions, each chosen with the earlier answers in mind.
//!
//! # Why
//!
//! In grid steps: D the sensitivity, z the noise of the threshold, drawn once, with P(z >= j) = e^(-j·epsilon_1/D);
//! nu the noise of a question with P(nu >= j) = e^(-j·epsilon_2/(w·D)); c the cut-off; w = 2c, or c if monotone.
//! 1. Fix the noise of all questions below. For a neighbour, move z to z + D, and nu at each question above to
//!    nu + D + (value here - value there), which is nu plus 0 to 2D. Then the same questions are above and below,
//!    and every gap, value + nu - threshold - z, is the same.
//! 2. All moves go up, so that one-sided noise stays in its range; the move of z costs epsilon_1, those of c
//!    questions at most c·2D·epsilon_2/(2c·D) = epsilon_2.
//! 3. Monotone: if values there are the lower ones, z stays and nu moves by 0 to D; if they are the higher ones, z
//!    moves by D and nu by 0 to D. So w = c will do.
//! 4. nu matters only through "is nu at least as large as what is missing?", which is one decision with chance
//!    e^(-missing·epsilon_2/(w·D)). What nu has beyond, the gap, is a fresh variable of the same law, because that
//!    law has no memory: it is drawn at a positive answer and only there.
//! 5. The mean of z minus that of nu is public and is added to the threshold, so that a value at the threshold is
//!    above it about every other time.
//!
//! # Differs
//!
//! The text has Laplace noise, half of epsilon for the threshold, and one positive. One-sided noise has half the
//! variance; the split 1 : w^(2/3) has the least. The text's form is [`Form::Textbook`], with noise on the grid.
//! What is often got wrong cannot be written down here: no cut-off, noise that ignores it, noise on the threshold
//! alone, or the noisy value itself (it would tell z; the gap does not). The zoo of `equipoise audit` has them.
//!
//! # Grade
//!
//! Every question takes one decision, whatever its value; a positive answer, which is public, draws its gap as
//! well. After the cut-off nothing is drawn.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{coins::ScriptedWords, mechanism::Values, monitor::above_threshold::*, ratio::Ratio};
//!
//! let stream = AboveThreshold {
//!     eps: "1".parse()?,
//!     threshold: Ratio::from(1000u64),
//!     sensitivity: Ratio::one(),
//!     grid: Ratio::one(),
//!     values: Values::OnGrid,
//!     cutoff: 1,
//!     monotone: true,
//!     form: Form::OneSided,
//! };
//! let stream = stream.calibrate()?;
//! assert_eq!(stream.cost().to_string(), "1-differential privacy");
//! # let mut coins = ScriptedWords::new(vec![0, 0, u64::MAX, 1 << 63, 1 << 63, 0, 0, 0, u64::MAX, 0, 0, u64::MAX]);
//! let mut questions = stream.start(&mut coins);
//! assert_eq!(questions.ask(200, &mut coins), Answer::Below);
//! assert!(matches!(questions.ask(1700, &mut coins), Answer::Above { .. }));
//! assert_eq!(questions.ask(1700, &mut coins), Answer::Halted);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{
    coins::Coins,
    interval::ln_upper,
    loss::{Eps, Loss, ParameterError},
    mechanism::Values,
    ratio::Ratio,
    sampler::{discrete_laplace::DiscreteLaplace, geometric::Geometric},
    solve,
    tail::Tail,
};

/// Which noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One-sided geometric noise, epsilon split in 1 : w^(2/3).
    OneSided,
    /// Laplace noise, epsilon split in halves, as texts have it.
    Textbook,
}

/// Parameters of a stream of questions; all public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AboveThreshold {
    /// The privacy parameter of all answers together.
    pub eps: Eps,
    /// What values are compared with.
    pub threshold: Ratio,
    /// The most that one person moves the value of any question.
    pub sensitivity: Ratio,
    /// The step of the values.
    pub grid: Ratio,
    /// Whether values lie on the grid already.
    pub values: Values,
    /// How many positive answers there can be.
    pub cutoff: u64,
    /// One person moves all values the same way.
    pub monotone: bool,
    /// Which noise.
    pub form: Form,
}

/// A stream ready to start.
#[derive(Clone, Debug)]
pub struct Calibrated {
    stream: AboveThreshold,
    threshold_steps: i64,
    /// One over the scale of the threshold's noise, in steps.
    threshold_rate: Ratio,
    /// One over the scale of a question's noise, in steps.
    question_rate: Ratio,
    laws: Laws,
}

#[derive(Clone, Debug)]
enum Laws {
    OneSided { threshold: Box<Geometric>, question: Box<Geometric>, tail: Tail, bias: i64 },
    Textbook { threshold: Box<DiscreteLaplace>, question: Box<DiscreteLaplace> },
}

/// A running stream: the noisy threshold is drawn and stays secret.
#[derive(Clone)]
pub struct Questions {
    calibrated: Calibrated,
    noisy_threshold: i64,
    left: u64,
}

/// What is said of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// Its noisy value is below the noisy threshold.
    Below,
    /// It is not; and the noisy value exceeds the noisy threshold by this many grid steps.
    Above {
        /// The excess, free of charge.
        gap: u64,
    },
    /// The cut-off was reached before; the question was not looked at.
    Halted,
}

/// A positive answer within a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Positive {
    /// The place of its question in the batch.
    pub index: usize,
    /// As in [`Answer::Above`].
    pub gap: u64,
}

/// Answers to a batch: positives, and how many questions were looked at; those without a positive were below.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Batch {
    /// The positive answers, in order.
    pub positives: Vec<Positive>,
    /// How many questions were answered before the cut-off.
    pub answered: usize,
}

/// Thresholds beyond this would let the noise leave 64 bits.
const LARGEST_THRESHOLD: u64 = 1 << 61;

impl AboveThreshold {
    /// Compute the noise. Sees no data, so it may fail freely and costs nothing.
    pub fn calibrate(&self) -> Result<Calibrated, ParameterError> {
        let refuse = |name, value: &Ratio, accepted| Err(ParameterError::out_of_range(name, value, accepted));
        if !self.sensitivity.is_positive() {
            return refuse(
                "sensitivity",
                &self.sensitivity,
                "give a positive number; a constant needs no noise",
            );
        }
        if !self.grid.is_positive() {
            return refuse("grid", &self.grid, "give a positive step such as 1 or 0.01");
        }
        if self.cutoff == 0 {
            return refuse("cutoff", &Ratio::zero(), "allow at least one positive answer");
        }
        let exact = &self.sensitivity / &self.grid;
        // Values apart by at most k steps, k whole, are apart by at most k after rounding both.
        let steps =
            Ratio::whole(if self.values == Values::OnGrid { exact.floor_big() } else { exact.ceil_big() });
        if !steps.is_positive() {
            let accepted = "the grid step must not exceed the sensitivity when values lie on the grid";
            return refuse("grid", &self.grid, accepted);
        }
        let threshold = (&self.threshold / &self.grid).round_i64();
        let Some(threshold_steps) = threshold.filter(|steps| steps.unsigned_abs() <= LARGEST_THRESHOLD)
        else {
            return refuse(
                "threshold",
                &self.threshold,
                "it must lie within 2^61 grid steps; use a coarser grid",
            );
        };
        let weight = self.weight();
        let share = self.threshold_share(&weight);
        let threshold_rate = self.eps.ratio() * &share / &steps;
        let question_rate = self.eps.ratio() * &(Ratio::one() - share) / (weight * steps);
        let laws = self.laws(&threshold_rate, &question_rate)?;
        Ok(Calibrated { stream: self.clone(), threshold_steps, threshold_rate, question_rate, laws })
    }

    /// How many times the sensitivity all moves of questions' noise add up to.
    fn weight(&self) -> Ratio {
        Ratio::from(self.cutoff) * Ratio::from(if self.monotone { 1u64 } else { 2 })
    }

    /// The part of epsilon that the threshold's noise gets: any part is private, this one has the least variance.
    fn threshold_share(&self, weight: &Ratio) -> Ratio {
        if self.form == Form::Textbook {
            return Ratio::new(1, 2);
        }
        let best = 1.0 / (1.0 + weight.to_f64().cbrt().powi(2));
        // Between 0 and 1, both left out.
        let parts = Ratio::from_f64_exact((best * 1e9).round().max(1.0)).expect("a finite number");
        parts * Ratio::new(1, 1_000_000_000)
    }

    fn laws(&self, threshold_rate: &Ratio, question_rate: &Ratio) -> Result<Laws, ParameterError> {
        Ok(match self.form {
            Form::OneSided => {
                let law = |rate| Geometric::new(rate).map(Box::new);
                let (threshold, question) = (law(threshold_rate)?, law(question_rate)?);
                let mean = |rate: &Ratio| 1.0 / rate.to_f64().exp_m1();
                let bias = (mean(question_rate) - mean(threshold_rate)).round();
                let bias = Ratio::from_f64_exact(bias).and_then(|bias| bias.round_i64()).unwrap_or(0);
                Laws::OneSided { threshold, question, tail: Tail::new(question_rate), bias }
            }
            Form::Textbook => Laws::Textbook {
                threshold: Box::new(DiscreteLaplace::new(&threshold_rate.recip())?),
                question: Box::new(DiscreteLaplace::new(&question_rate.recip())?),
            },
        })
    }

    /// The least epsilon (six digits) at which `questions` answers are right beyond `error` of the threshold.
    pub fn eps_for(&self, error: &Ratio, questions: u64, beta: &Ratio) -> Option<Eps> {
        solve::smallest_eps(|eps| {
            let stream = Self { eps: eps.clone(), ..self.clone() };
            stream.calibrate().is_ok_and(|stream| stream.accuracy(questions, beta) <= *error)
        })
    }
}

impl Calibrated {
    /// What it was calibrated for.
    pub fn parameters(&self) -> &AboveThreshold {
        &self.stream
    }

    /// What all answers together cost.
    pub fn cost(&self) -> Loss {
        Loss::pure(&self.stream.eps)
    }

    /// The scale of the threshold's noise, in the unit of the values.
    pub fn threshold_scale(&self) -> Ratio {
        self.threshold_rate.recip() * &self.stream.grid
    }

    /// The scale of a question's noise, in the unit of the values.
    pub fn question_scale(&self) -> Ratio {
        self.question_rate.recip() * &self.stream.grid
    }

    /// A value in grid steps, rounded, as [`Questions::ask`] takes it.
    pub fn steps(&self, value: &Ratio) -> i64 {
        let steps = value / &self.stream.grid;
        steps.round_i64().unwrap_or(if steps.is_negative() { i64::MIN } else { i64::MAX })
    }

    /// The same for floats, one after the other: a whole column in one go. What is not a number is as low as can be.
    pub fn steps_of_floats(&self, values: &[f64]) -> Vec<i64> {
        // A float that is checked to be the grid up to one part in 2^50, or nothing that a quotient is taken by.
        let grid = self.stream.grid.to_f64();
        let off = Ratio::from_f64_exact(grid).map(|grid| (grid - &self.stream.grid).abs());
        let is_near = off.is_some_and(|off| off * Ratio::from(1_u64 << 50) <= self.stream.grid);
        let grid = if is_near { grid } else { f64::NAN };
        let step = |&value: &f64| {
            // The quotient is rounded once more, so below 2^40 it is off by less than 2^-9: where it lies farther than that from a half, it
            // is rounded to what the exact quotient is rounded to.
            let quotient = value / grid;
            let (down, rest) = (quotient.floor(), quotient - quotient.floor());
            if quotient.abs() < (1_u64 << 40) as f64 && (rest - 0.5).abs() > 1.0 / 256.0 {
                #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^41")]
                return if rest > 0.5 { down as i64 + 1 } else { down as i64 };
            }
            match Ratio::from_f64_exact(value) {
                Some(value) => self.steps(&value),
                None if value > 0.0 => i64::MAX,
                None => i64::MIN,
            }
        };
        values.iter().map(step).collect()
    }

    /// Draw the noise of the threshold. Do so once for one budget: a second start is a second stream.
    pub fn start(&self, coins: &mut impl Coins) -> Questions {
        let noise = match &self.laws {
            Laws::OneSided { threshold, bias, .. } => {
                let noise = i64::try_from(coins.sample(&**threshold)).unwrap_or(i64::MAX);
                noise.saturating_add(*bias)
            }
            Laws::Textbook { threshold, .. } => coins.sample(&**threshold),
        };
        let noisy_threshold = self.threshold_steps.saturating_add(noise);
        Questions { calibrated: self.clone(), noisy_threshold, left: self.stream.cutoff }
    }

    /// With probability 1 - beta, none of this many questions is answered wrongly whose value is farther from the
    /// threshold than this.
    pub fn accuracy(&self, questions: u64, beta: &Ratio) -> Ratio {
        assert!(beta.is_positive(), "certainty has no finite bound");
        let each = beta / &Ratio::from(2u64);
        let log = |share: Ratio| ln_upper(&share.recip()).max(Ratio::zero());
        // The noise of the threshold exceeds this with probability beta/2, that of some question with beta/2.
        let of_threshold = log(each.clone()) / &self.threshold_rate;
        let of_questions = log(each / Ratio::from(questions.max(1))) / &self.question_rate;
        let steps = match &self.laws {
            Laws::OneSided { bias, .. } => {
                // Missed: z + bias > error, as nu >= 0. False alarm: nu >= bias + error, as z >= 0.
                let bias = Ratio::from(*bias);
                (of_threshold + &bias).max(of_questions - &bias).max(Ratio::zero())
            }
            Laws::Textbook { .. } => of_threshold + of_questions,
        };
        // Strictly beyond, and half a step for a threshold between grid points.
        (steps + Ratio::from(2u64)) * &self.stream.grid
    }
}

impl Questions {
    /// How many positive answers are left.
    pub fn positives_left(&self) -> u64 {
        self.left
    }

    /// Answer one question with this value in grid steps. Total: whatever the value.
    #[inline]
    pub fn ask(&mut self, value: i64, coins: &mut impl Coins) -> Answer {
        self.answer(value, true, coins)
    }

    /// The same where nobody looks at the gap: it is not drawn, and said to be zero.
    #[inline]
    pub(super) fn ask_without_gap(&mut self, value: i64, coins: &mut impl Coins) -> Answer {
        self.answer(value, false, coins)
    }

    #[inline]
    fn answer(&mut self, value: i64, gap: bool, coins: &mut impl Coins) -> Answer {
        if self.left == 0 {
            return Answer::Halted;
        }
        let missing = self.noisy_threshold.saturating_sub(value);
        let excess = match &self.calibrated.laws {
            Laws::OneSided { tail, question, .. } => {
                let above = coins.bernoulli(&tail.at(u64::try_from(missing).unwrap_or(0)));
                above.then(|| {
                    let surplus = u64::try_from(missing.saturating_neg()).unwrap_or(0);
                    if gap { surplus.saturating_add(coins.sample(&**question)) } else { 0 }
                })
            }
            Laws::Textbook { question, .. } => {
                u64::try_from(coins.sample(&**question).saturating_sub(missing)).ok()
            }
        };
        match excess {
            None => Answer::Below,
            Some(gap) => {
                self.left -= 1;
                Answer::Above { gap }
            }
        }
    }

    /// Answer questions in turn, until they or the positive answers are used up.
    pub fn ask_all(&mut self, values: &[i64], coins: &mut impl Coins) -> Batch {
        let mut positives = Vec::new();
        for (index, &value) in values.iter().enumerate() {
            match self.ask(value, coins) {
                Answer::Below => {}
                Answer::Above { gap } => positives.push(Positive { index, gap }),
                Answer::Halted => return Batch { positives, answered: index },
            }
        }
        Batch { positives, answered: values.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::{AUDIT_BITS, Interval},
        tape::{Pmf, delta_between, enumerate},
    };

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn stream(eps: &str, cutoff: u64, monotone: bool, form: Form) -> AboveThreshold {
        AboveThreshold {
            eps: eps.parse().unwrap(),
            threshold: Ratio::zero(),
            sensitivity: Ratio::one(),
            grid: Ratio::one(),
            values: Values::OnGrid,
            cutoff,
            monotone,
            form,
        }
    }

    /// Halves, their neighbours, ends of the short way, a grid that no float is, tiny and huge values, and what is no number.
    #[test]
    fn floats_are_rounded_as_their_exact_values_are() {
        for grid in ["1", "0.001", "1/3", "1000", "1e-30", "1e-320"] {
            let calibrated = AboveThreshold {
                grid: ratio(grid),
                values: Values::Any,
                ..stream("1", 1, false, Form::OneSided)
            }
            .calibrate();
            let Ok(calibrated) = calibrated else { continue };
            let step = ratio(grid).to_f64();
            let mut values =
                vec![0.0, -0.0, f64::MAX, -f64::MAX, 5e-324, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
            for whole in [0.0, 1.0, 2.0, 7.0, 1e6, 1_099_511_627_775.0, 1_099_511_627_776.0, 9e15] {
                for part in [0.0, 0.25, 0.499, 0.4999, 0.5, 0.5001, 0.501, 0.75] {
                    let value: f64 = (whole + part) * step;
                    values.extend([value, -value, value.next_up(), value.next_down(), -value.next_up()]);
                }
            }
            let exact = |value: &f64| match Ratio::from_f64_exact(*value) {
                Some(value) => calibrated.steps(&value),
                None if *value > 0.0 => i64::MAX,
                None => i64::MIN,
            };
            let wanted: Vec<i64> = values.iter().map(exact).collect();
            assert_eq!(calibrated.steps_of_floats(&values), wanted, "grid {grid}");
        }
    }

    #[test]
    fn hand_computed_scales() {
        // The text: Lap(2/epsilon) on the threshold, Lap(4/epsilon) on questions.
        let printed = stream("0.5", 1, false, Form::Textbook).calibrate().unwrap();
        assert_eq!((printed.threshold_scale(), printed.question_scale()), (ratio("4"), ratio("8")));
        // Monotone with one positive: halves, scale 2 each at epsilon 1.
        let even = stream("1", 1, true, Form::OneSided).calibrate().unwrap();
        assert_eq!((even.threshold_scale(), even.question_scale()), (ratio("2"), ratio("2")));
        // w = 8: 1 : 4, so scales 5 and 8·5/4.
        let four = stream("1", 4, false, Form::OneSided).calibrate().unwrap();
        assert_eq!((four.threshold_scale(), four.question_scale()), (ratio("5"), ratio("10")));
        // Dollars to the cent: the sensitivity in steps is 100 times as large, and the scale in dollars the same.
        let cents = AboveThreshold { grid: ratio("0.01"), ..stream("1", 1, true, Form::OneSided) };
        assert_eq!(cents.calibrate().unwrap().question_scale(), ratio("2"));
    }

    /// Standard deviations of the theory page, at epsilon 1.
    #[test]
    fn one_sided_noise_has_half_the_variance() {
        let spread = |stream: AboveThreshold, factor: f64| {
            let calibrated = stream.calibrate().unwrap();
            let scales = [calibrated.threshold_scale(), calibrated.question_scale()].map(|s| s.to_f64());
            factor * scales[0].hypot(scales[1])
        };
        let printed = spread(stream("1", 25, false, Form::Textbook), 2f64.sqrt());
        let ours = spread(stream("1", 25, false, Form::OneSided), 1.0);
        assert!((printed - 141.0).abs() < 1.0 && (ours - 55.6).abs() < 0.1, "{printed} {ours}");
        assert!((spread(stream("1", 1, true, Form::OneSided), 1.0) - 2.8).abs() < 0.1);
    }

    /// The distribution of the whole transcript.
    fn transcript(calibrated: &Calibrated, values: &[i64], gaps: bool) -> Pmf<Vec<Answer>> {
        enumerate(&ratio("1e-16"), |tape| {
            let mut questions = calibrated.start(tape);
            let mut answers = Vec::new();
            for &value in values {
                let answer = match questions.ask(value, tape) {
                    Answer::Above { .. } if !gaps => Answer::Above { gap: 0 },
                    answer => answer,
                };
                answers.push(answer);
            }
            answers
        })
    }

    /// The worst delta at `eps` over neighbours whose values move by -1, 0 or 1, or all the same way.
    fn worst(eps: &str, calibrated: &Calibrated, values: &[i64], gaps: bool) -> Interval {
        let moves = if calibrated.stream.monotone { vec![0, 1] } else { vec![-1, 0, 1] };
        let mut all = vec![Vec::new()];
        for &value in values {
            all = all
                .iter()
                .flat_map(|start: &Vec<i64>| {
                    moves.iter().map(move |by| [start.as_slice(), &[value + by]].concat())
                })
                .collect();
        }
        let here = transcript(calibrated, values, gaps);
        let delta =
            |there: &Vec<i64>| delta_between(&ratio(eps), &here, &transcript(calibrated, there, gaps));
        all.iter().map(delta).fold(Interval::zero(AUDIT_BITS), |worst, delta| worst.max(&delta))
    }

    #[test]
    fn exact_audit_no_transcript_tells_more_than_epsilon() {
        for (monotone, form) in [(false, Form::OneSided), (true, Form::OneSided), (false, Form::Textbook)] {
            for (cutoff, values) in [(1, [0i64, 0].as_slice()), (2, &[0, 1, 0])] {
                // Laplace noise is drawn at each question, and paths multiply.
                if form == Form::Textbook && cutoff > 1 {
                    continue;
                }
                let calibrated = stream("12", cutoff, monotone, form).calibrate().unwrap();
                let worst = worst("12", &calibrated, values, cutoff == 1);
                assert!(worst.upper() < ratio("1e-8"), "{form:?} {cutoff} {}", worst.to_f64());
            }
        }
    }

    #[test]
    fn the_claim_is_nearly_attained() {
        let calibrated = stream("6", 1, false, Form::OneSided).calibrate().unwrap();
        assert!(worst("5.8", &calibrated, &[0, 0], false).lower().is_positive());
    }

    #[test]
    fn a_mutant_with_the_noise_of_monotone_questions_is_caught() {
        let mut calibrated = stream("6", 1, true, Form::OneSided).calibrate().unwrap();
        calibrated.stream.monotone = false;
        assert!(worst("6", &calibrated, &[0, 0], false).lower() > ratio("1e-6"));
    }

    /// The chance of a positive answer is that of drawing the noise and comparing; the gap is the excess.
    #[test]
    fn one_decision_stands_for_the_noise_of_a_question() {
        let calibrated = stream("2", 1, true, Form::OneSided).calibrate().unwrap();
        let Laws::OneSided { question, .. } = &calibrated.laws else { panic!("one-sided") };
        for missing in [-2i64, 0, 3] {
            let shipped = enumerate(&ratio("1e-12"), |tape| {
                let mut questions =
                    Questions { calibrated: calibrated.clone(), noisy_threshold: missing, left: 1 };
                questions.ask(0, tape)
            });
            let plain = enumerate(&ratio("1e-12"), |tape| {
                let noise = i64::try_from(tape.sample(&**question)).unwrap();
                u64::try_from(noise - missing).map_or(Answer::Below, |gap| Answer::Above { gap })
            });
            assert!(delta_between(&ratio("0"), &shipped, &plain).upper() < ratio("1e-9"), "{missing}");
        }
    }

    #[test]
    fn every_question_takes_one_decision() {
        let calibrated = stream("1", 1, true, Form::OneSided).calibrate().unwrap();
        for value in [i64::MIN, -1000, 0, 5, 1000, i64::MAX] {
            let decisions = enumerate(&ratio("1e-6"), |tape| {
                let mut questions = Questions { calibrated: calibrated.clone(), noisy_threshold: 3, left: 1 };
                let answer = questions.ask(value, tape);
                (answer == Answer::Below, tape.decisions())
            });
            assert!(decisions.iter().all(|((below, decisions), _)| *decisions == if *below { 1 } else { 2 }));
        }
    }

    #[test]
    fn answers_far_from_the_threshold_are_right_as_often_as_said() {
        for form in [Form::OneSided, Form::Textbook] {
            let calibrated = stream("4", 1, false, form).calibrate().unwrap();
            let beta = ratio("0.1");
            let error = calibrated.accuracy(2, &beta).round_i64().unwrap();
            for value in [error, -error] {
                let wrong = transcript(&calibrated, &[value, -error], false);
                let right = if value > 0 { Answer::Above { gap: 0 } } else { Answer::Below };
                let mass = wrong.iter().filter(|(answers, _)| answers[0] == right);
                let mass = mass.fold(Interval::zero(AUDIT_BITS), |sum, (_, mass)| sum.add(mass));
                assert!(mass.lower() >= Ratio::one() - beta.clone(), "{form:?} {value} {}", mass.to_f64());
            }
        }
        let shape = stream("1", 1, true, Form::OneSided);
        let eps = shape.eps_for(&ratio("20"), 1000, &ratio("0.05")).unwrap();
        let reached = AboveThreshold { eps, ..shape }.calibrate().unwrap().accuracy(1000, &ratio("0.05"));
        assert!(reached <= ratio("20") && reached > ratio("19.9"));
    }

    #[test]
    fn a_scripted_stream() {
        // Scales 2 and 2, bias 0. The noise of the threshold: no low bits, then a word above the first rung: 0.
        let calibrated = stream("1", 2, true, Form::Textbook).calibrate().unwrap();
        assert_eq!(calibrated.start(&mut ScriptedWords::new(vec![0; 4])).positives_left(), 2);
        let calibrated = stream("1", 1, true, Form::OneSided).calibrate().unwrap();
        let mut coins = ScriptedWords::new(vec![u64::MAX, u64::MAX / 2, u64::MAX / 3, 0, u64::MAX]);
        let mut questions = calibrated.start(&mut coins);
        assert_eq!((questions.noisy_threshold, questions.positives_left()), (0, 1));
        // e^(-1/2) = 0.607, e^(-1) = 0.368: a word of one half is above the second, a third below it.
        assert_eq!(questions.ask(-2, &mut coins), Answer::Below);
        assert_eq!(questions.ask_all(&[-2, -2], &mut coins).answered, 1);
        assert_eq!((questions.positives_left(), questions.ask(9, &mut coins)), (0, Answer::Halted));
    }

    #[test]
    fn what_cannot_be_calibrated_is_said_in_one_line() {
        let good = stream("1", 1, true, Form::OneSided);
        for (bad, text) in [
            (AboveThreshold { cutoff: 0, ..good.clone() }, "cutoff 0 is not accepted: allow at least"),
            (AboveThreshold { sensitivity: Ratio::zero(), ..good.clone() }, "sensitivity 0 is not accepted"),
            (AboveThreshold { grid: ratio("-1"), ..good.clone() }, "grid -1 is not accepted"),
            (AboveThreshold { grid: ratio("2"), ..good.clone() }, "grid 2 is not accepted: the grid step"),
            (AboveThreshold { threshold: ratio("1e19"), ..good.clone() }, "threshold 10000000000000000000"),
            (AboveThreshold { grid: ratio("1e-20"), ..good.clone() }, "noise rate"),
        ] {
            let error = bad.calibrate().unwrap_err().to_string();
            assert!(error.starts_with(text) && !error.contains('\n'), "{error}");
        }
        // Any numbers: a move of one and a half is a move of at most two steps after rounding.
        let any = AboveThreshold { sensitivity: ratio("1.5"), values: Values::Any, ..good };
        assert_eq!(any.calibrate().unwrap().question_scale(), ratio("4"));
    }

    /// One-sided noise has means 1/(e^rate - 1); the threshold is moved by their difference, so that a value at the
    /// threshold is above it as often as below.
    #[test]
    fn the_threshold_is_moved_by_the_difference_of_means() {
        let calibrated = stream("0.01", 10, false, Form::OneSided).calibrate().unwrap();
        let mean = |scale: Ratio| 1.0 / scale.recip().to_f64().exp_m1();
        let wanted = mean(calibrated.question_scale()) - mean(calibrated.threshold_scale());
        let Laws::OneSided { bias, .. } = calibrated.laws else { panic!("one-sided") };
        assert!(wanted > 100.0 && (wanted - bias as f64).abs() <= 0.5, "{wanted} {bias}");
    }
}
