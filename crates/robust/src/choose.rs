//! Which robust structure suits a stream, what it costs and what it promises.

use super::{
    Shape,
    flips::{self, Flips},
    grid::Grid,
    parameters::Wanted,
    sketch::{kmv::Size, table::Buckets},
    switching::Switching,
};
use crate::sketch::table::F2;
use equipoise_core::{interval::ln_upper, loss::ParameterError, ratio::Ratio};
use std::fmt;

/// What is asked of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// How many distinct items came.
    Distinct,
    /// The sum of squared counts.
    SquaredCounts,
}

/// What is known of a stream before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// What is asked.
    pub question: Question,
    /// How far off an answer may be, as a share.
    pub alpha: Ratio,
    /// How likely some answer may be farther off.
    pub beta: Ratio,
    /// How many answers there will be.
    pub answers: u64,
    /// Do items only come, in one stream, never merged with another?
    pub insertions_only: bool,
}

/// A way to be robust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// One sketch under a secret key.
    Keyed,
    /// One sketch after another.
    Switching,
    /// Copies behind a monitor.
    Flips,
    /// Copies behind a private median.
    Copies,
}

/// A method with its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Which.
    pub method: Method,
    /// How many sketches.
    pub copies: usize,
    /// Bytes of each.
    pub bytes_each: usize,
}

impl Choice {
    /// Bytes of all sketches.
    pub fn bytes(&self) -> usize {
        self.copies.saturating_mul(self.bytes_each)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.method {
            Method::Keyed => {
                "one sketch under a secret key; right at all moments, without a limit on answers"
            }
            Method::Switching => {
                "one sketch after another; right until the value has changed as often as planned"
            }
            Method::Flips => "copies behind a monitor; right until the value has changed as often as planned",
            Method::Copies => "copies behind a private median; right for the declared answers, deletions too",
        };
        write!(f, "{name}: {} of {} bytes", self.copies, self.bytes_each)
    }
}

/// The proved choices for this stream, that with the least memory first.
pub fn choices(stream: &Stream) -> Result<Vec<Choice>, ParameterError> {
    let grid = Grid::growing(&(&stream.alpha / &Ratio::from(2u64)), 1 << 50)?;
    let plan = Wanted { answers: stream.answers, beta: stream.beta.clone(), grid: grid.len() }.plan()?;
    let half = &stream.alpha / &Ratio::from(2u64);
    let each = sketch_bytes(stream.question, &half, plan.ln_inverse_failure())?;
    let mut choices = vec![Choice { method: Method::Copies, copies: plan.copies(), bytes_each: each }];
    if stream.insertions_only && stream.alpha <= Ratio::new(1, 2) {
        let copies = Switching::<F2>::copies_for(stream.alpha.to_f64(), 2f64.powi(50));
        let failure = Ratio::from(stream.answers) * Ratio::from(copies as u64) / &stream.beta;
        let eighth = &stream.alpha / &Ratio::from(8u64);
        let bytes_each = sketch_bytes(stream.question, &eighth, &ln_upper(&failure))?;
        choices.push(Choice { method: Method::Switching, copies, bytes_each });
        let changes = Flips::<F2>::changes_for(stream.alpha.to_f64(), 2f64.powi(50));
        let (alpha, beta) = (stream.alpha.clone(), stream.beta.clone());
        let grid = Grid::growing(&eighth, 1 << 50)?.len();
        let plan = flips::Wanted { alpha, beta, answers: stream.answers, changes, grid }.plan()?;
        let bytes_each = sketch_bytes(stream.question, &eighth, plan.ln_inverse_failure())?;
        choices.push(Choice { method: Method::Flips, copies: plan.copies(), bytes_each });
    }
    if stream.insertions_only && stream.question == Question::Distinct {
        let bytes_each = 16 * Size::keyed(&stream.alpha, &stream.beta)?.size();
        choices.push(Choice { method: Method::Keyed, copies: 1, bytes_each });
    }
    choices.sort_by_key(Choice::bytes);
    Ok(choices)
}

fn sketch_bytes(question: Question, alpha: &Ratio, ln_inverse: &Ratio) -> Result<usize, ParameterError> {
    Ok(match question {
        Question::Distinct => 16 * Size::proved(alpha, ln_inverse)?.size(),
        Question::SquaredCounts => {
            let shape = Buckets::proved(alpha, ln_inverse)?;
            debug_assert!(shape.ln_inverse_failure() >= *ln_inverse);
            shape.rows() * (8 * shape.width() + 32)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn methods(question: Question, answers: u64, insertions_only: bool) -> Vec<Method> {
        let (alpha, beta) = ("0.2".parse().unwrap(), "0.01".parse().unwrap());
        let stream = Stream { question, alpha, beta, answers, insertions_only };
        choices(&stream).unwrap().iter().map(|choice| choice.method).collect()
    }

    #[test]
    fn a_key_where_it_suffices_and_copies_where_items_go_again() {
        use Method::{Copies, Flips, Keyed, Switching};
        assert_eq!(methods(Question::Distinct, 1000, true)[0], Keyed);
        assert_eq!(methods(Question::Distinct, 1000, false), [Copies]);
        assert_eq!(methods(Question::SquaredCounts, 1000, false), [Copies]);
        // A stream asked often: switching does not care, and errors of an eighth cost sixteen times a half's.
        assert_eq!(methods(Question::SquaredCounts, 100, true), [Copies, Switching, Flips]);
        // A stream asked very often: copies for each answer grow, the others hardly.
        assert_eq!(methods(Question::SquaredCounts, 1 << 30, true), [Switching, Flips, Copies]);
    }

    #[test]
    fn choices_speak() {
        let (alpha, beta) = ("0.2".parse().unwrap(), "0.01".parse().unwrap());
        let stream =
            Stream { question: Question::Distinct, alpha, beta, answers: 1000, insertions_only: true };
        let text = choices(&stream).unwrap()[0].to_string();
        assert!(text.starts_with("one sketch under a secret key; right at all moments"), "{text}");
        assert!(choices(&Stream { beta: Ratio::zero(), ..stream }).is_err());
    }
}
