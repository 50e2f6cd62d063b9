//! Which noise and which beta: the smooth-sensitivity mechanisms that a guess of the data favours.
//!
//! # Claim
//!
//! [`plan`] sees public numbers only: the budget, the range, a list of betas and a guess of the smooth bound at each.
//! Every mechanism it returns can be calibrated, and its `error` is what that mechanism itself says of a data set
//! whose bound is the guess. A wrong guess costs accuracy, never privacy.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{ratio::Ratio, stability::Range};
//! use equipoise_core::mechanism::smooth_plan::{Question, betas, even_gaps, plan};
//!
//! let question = Question {
//!     eps: "1".parse()?,
//!     delta: "0".parse()?,
//!     range: Range::new(0, 200_000)?,
//!     grid: Ratio::one(),
//!     failure: "0.1".parse()?,
//! };
//! // Rows in the middle are believed to lie about 20 apart.
//! let guess = |beta: &Ratio| even_gaps(&"20".parse().unwrap(), question.range, beta);
//! let choices = plan(&question, &betas(&question.eps, &question.delta), guess);
//! // Cauchy noise at beta = 1/2 would have 148.
//! assert_eq!(choices[0].error.ceil_i64(), Some(120));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::smooth::{Noise, Smooth};
use crate::{
    interval::ln_upper,
    loss::{Delta, Eps},
    ratio::Ratio,
    stability::Range,
};

/// What is wanted; all public.
#[derive(Clone, Debug)]
pub struct Question {
    /// Privacy.
    pub eps: Eps,
    /// Zero leaves Laplace noise out.
    pub delta: Delta,
    /// The range of the statistic.
    pub range: Range,
    /// Answers are multiples of this.
    pub grid: Ratio,
    /// The probability with which the error may be exceeded.
    pub failure: Ratio,
}

/// One mechanism and what it would do.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Ready to be calibrated.
    pub mechanism: Smooth,
    /// The guessed smooth bound at its beta.
    pub bound: Ratio,
    /// The error that a data set with that bound has, except with probability `failure`.
    pub error: Ratio,
}

/// A list of betas to try: fractions of epsilon, and around the published one for Laplace noise.
pub fn betas(eps: &Eps, delta: &Delta) -> Vec<Ratio> {
    let fractions = ["3/5", "1/2", "1/3", "1/5", "1/10", "1/20", "1/50"];
    let mut betas: Vec<Ratio> =
        fractions.iter().map(|text| eps.ratio() * &text.parse::<Ratio>().expect("a fraction")).collect();
    if !delta.is_zero() {
        let published = eps.ratio() / (ln_upper(&(Ratio::from(2u64) / delta.ratio())) * Ratio::from(2u64));
        // Short numbers: nothing depends on their last digits.
        let short = |factor: Ratio| (&published * &factor).dyadic_up(40);
        betas.extend([Ratio::new(1, 2), Ratio::one(), Ratio::new(3, 2)].map(short));
    }
    betas
}

/// The smooth bound of a median or quantile if the rows around it lie `gap` apart: `max_k e^(-beta k)(k+1)·gap`,
/// which is largest at k = 1/beta - 1. A guess, so floats will do.
pub fn even_gaps(gap: &Ratio, range: Range, beta: &Ratio) -> Ratio {
    let beta = beta.to_f64();
    let at = |k: f64| (-beta * k).exp() * (k + 1.0) * gap.to_f64();
    let best = (1.0 / beta - 1.0).max(0.0).floor();
    let guess = at(best).max(at(best + 1.0));
    Ratio::from_f64_exact(guess).unwrap_or_else(|| Ratio::from(range.width())).min(Ratio::from(range.width()))
}

/// Every noise that can be used with this beta.
fn noises(question: &Question, beta: &Ratio) -> Vec<Noise> {
    let steepest = question.eps.ratio() / beta + Ratio::one();
    let gentler = (&steepest + &Ratio::one()) * Ratio::new(1, 2);
    let mut noises = vec![Noise::Cauchy];
    noises.extend(["2", "3", "5"].map(|nu| Noise::StudentT { nu: nu.parse().expect("a number") }));
    noises.extend([steepest, gentler].map(|alpha| Noise::PolyPlace { alpha }));
    if !question.delta.is_zero() {
        noises.push(Noise::Laplace { delta: question.delta.clone() });
    }
    noises
}

/// The mechanisms for each noise and beta that go together, the least error first.
pub fn plan(question: &Question, betas: &[Ratio], guess: impl Fn(&Ratio) -> Ratio) -> Vec<Choice> {
    let mut choices: Vec<Choice> = Vec::new();
    for beta in betas {
        let bound = guess(beta);
        for noise in noises(question, beta) {
            let mechanism = Smooth {
                eps: question.eps.clone(),
                noise,
                beta: beta.clone(),
                range: Some(question.range),
                grid: question.grid.clone(),
            };
            if let Ok(error) = mechanism.error(&bound, &question.failure) {
                choices.push(Choice { mechanism, bound: bound.clone(), error });
            }
        }
    }
    choices.sort_by(|a, b| a.error.cmp(&b.error));
    choices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(delta: &str, failure: &str) -> Question {
        Question {
            eps: "1".parse().unwrap(),
            delta: delta.parse().unwrap(),
            range: Range::new(0, 1_000_000).unwrap(),
            grid: Ratio::one(),
            failure: failure.parse().unwrap(),
        }
    }

    fn best(delta: &str, failure: &str) -> Choice {
        let question = question(delta, failure);
        let guess = |beta: &Ratio| even_gaps(&Ratio::from(100u64), question.range, beta);
        let choices = plan(&question, &betas(&question.eps, &question.delta), guess);
        assert!(choices.len() > 15 && choices.is_sorted_by(|a, b| a.error <= b.error));
        for choice in &choices[..2] {
            let calibrated = choice.mechanism.calibrate().unwrap();
            assert_eq!(calibrated.accuracy(&choice.bound, &question.failure), choice.error);
        }
        choices[0].clone()
    }

    #[test]
    fn heavy_tails_win_in_the_middle_and_light_ones_far_out() {
        assert_eq!(best("0", "0.5").mechanism.noise, Noise::Cauchy);
        assert!(matches!(best("0", "0.001").mechanism.noise, Noise::PolyPlace { .. }));
        assert!(matches!(best("1e-3", "1e-9").mechanism.noise, Noise::Laplace { .. }));
    }

    #[test]
    fn a_guess_of_even_gaps_is_the_bound_of_such_rows() {
        use crate::{
            adjacency::Adjacency,
            stability::{Median, smooth::Decay},
        };
        let (range, gap) = (Range::new(0, 100_000).unwrap(), Ratio::from(10u64));
        let rows: Vec<i64> = (0..10_000).map(|row| 10 * row).collect();
        for beta in ["0.6", "0.3", "0.1", "0.02"].map(|text| text.parse::<Ratio>().unwrap()) {
            let decay = Decay::for_range(&beta, range).unwrap();
            let guess = even_gaps(&gap, range, &beta).to_f64();
            for adjacency in Adjacency::ALL {
                let window = Median.window(&rows, range, decay.reach(Median.quantile(), adjacency));
                let found = decay.median(&window, adjacency).value().to_f64();
                assert!((found / guess - 1.0).abs() < 1e-9, "{beta} {found} {guess}");
            }
        }
    }

    #[test]
    fn nothing_fits_a_beta_above_epsilon() {
        let question = question("0", "0.1");
        assert!(plan(&question, &[Ratio::from(2u64)], |_| Ratio::one()).is_empty());
    }
}
