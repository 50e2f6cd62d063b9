//! Which robust structure suits a stream, what it costs and what it promises.

use super::{
    Shape,
    flips::{self, Flips},
    parameters::Wanted,
    ready::{split, split_signed},
    sketch::{kmv::Size, table::Buckets},
    switching::{self, Switching},
};
use crate::sketch::table::F2;
use equipoise_core::{loss::ParameterError, ratio::Ratio};
use std::fmt;

/// What is asked of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// How many distinct items came.
    Distinct,
    /// The sum of squared counts.
    SquaredCounts,
    /// The count of single items.
    Point,
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
    /// How often the answer may change; `None` for a value that only grows, up to 2^50.
    pub changes: Option<u64>,
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

impl Choice {
    /// What it guarantees, and for how long.
    pub fn promise(&self) -> &'static str {
        match self.method {
            Method::Keyed => {
                "one sketch under a secret key; right at all moments, without a limit on answers, while items only come"
            }
            Method::Switching => {
                "one sketch after another; right until the value has changed as often as planned"
            }
            Method::Flips => "copies behind a monitor; right until the value has changed as often as planned",
            Method::Copies => "copies behind a private median; right for the declared answers, deletions too",
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} of {} bytes", self.promise(), self.copies, self.bytes_each)
    }
}

impl Stream {
    /// How often the answer changes when one sketch follows another, and behind a monitor. Nobody knows where items go again,
    /// unless it is declared.
    fn known_changes(&self) -> Option<[u64; 2]> {
        if self.question == Question::Point {
            return None;
        }
        let grown = || {
            let (alpha, highest) = (self.alpha.to_f64(), 2f64.powi(50));
            let switches = Switching::<F2>::copies_for(alpha, highest) as u64;
            [switches, Flips::<F2>::changes_for(alpha, highest)]
        };
        self.changes.map(|changes| [changes; 2]).or_else(|| self.insertions_only.then(grown))
    }
}

/// The proved choices for this stream, that with the least memory first.
pub fn choices(stream: &Stream) -> Result<Vec<Choice>, ParameterError> {
    if !stream.alpha.is_positive() || stream.alpha > Ratio::one() {
        let accepted = "give a number above 0 and at most 1, such as 0.1";
        return Err(ParameterError::out_of_range("alpha", &stream.alpha, accepted));
    }
    if stream.question == Question::Distinct && !stream.insertions_only {
        let next = "no distinct count here follows items that go again; declare that they only come";
        return Err(ParameterError::out_of_range("stream", "with deletions", next));
    }
    let (grid, alpha) = match stream.question {
        Question::Distinct => split(&stream.alpha, 1 << 50)?,
        Question::SquaredCounts => split(&stream.alpha, 1 << 120)?,
        Question::Point => split_signed(&stream.alpha, 1 << 61)?,
    };
    let plan = Wanted { answers: stream.answers, beta: stream.beta.clone(), grid: grid.len() }.plan()?;
    let mut choices = Vec::new();
    // A sketch whose failure is not proved to be so rare is no choice.
    let mut add = |method, copies, alpha: &Ratio, ln_inverse: &Ratio| {
        if let Ok(bytes_each) = sketch_bytes(stream.question, alpha, ln_inverse) {
            choices.push(Choice { method, copies, bytes_each });
        }
    };
    add(Method::Copies, plan.copies(), &alpha, plan.ln_inverse_failure());
    let changes = stream.known_changes();
    if let Some([switches, flips]) = changes.filter(|_| stream.alpha <= Ratio::new(1, 2)) {
        let (alpha, beta, answers) = (stream.alpha.clone(), stream.beta.clone(), stream.answers);
        let eighth = &alpha / &Ratio::from(8u64);
        let copies = usize::try_from(switches).unwrap_or(usize::MAX);
        let wanted = switching::Wanted { alpha: alpha.clone(), beta: beta.clone(), answers, changes: copies };
        if let Ok(ln_inverse) = wanted.ln_inverse_failure() {
            add(Method::Switching, copies, &eighth, &ln_inverse);
        }
        if let Ok(plan) = (flips::Wanted { alpha, beta, answers, changes: flips, grid: grid.len() }).plan() {
            add(Method::Flips, plan.copies(), &eighth, plan.ln_inverse_failure());
        }
    }
    if stream.insertions_only && stream.question == Question::Distinct {
        let bytes_each = Size::keyed(&stream.alpha, &stream.beta)?.space();
        choices.push(Choice { method: Method::Keyed, copies: 1, bytes_each });
    }
    choices.sort_by_key(Choice::bytes);
    Ok(choices)
}

fn sketch_bytes(question: Question, alpha: &Ratio, ln_inverse: &Ratio) -> Result<usize, ParameterError> {
    Ok(match question {
        Question::Distinct => Size::proved(alpha, ln_inverse)?.space(),
        Question::SquaredCounts | Question::Point => Buckets::proved(alpha, ln_inverse)?.space(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TestWords;
    use crate::ready::{Promise, RobustDistinct, RobustF2};

    fn stream(question: Question, answers: u64, insertions_only: bool) -> Stream {
        let (alpha, beta) = ("0.2".parse().unwrap(), "0.01".parse().unwrap());
        Stream { question, alpha, beta, answers, insertions_only, changes: None }
    }

    fn methods(question: Question, answers: u64, insertions_only: bool) -> Vec<Method> {
        let choices = choices(&stream(question, answers, insertions_only)).unwrap();
        choices.iter().map(|choice| choice.method).collect()
    }

    #[test]
    fn a_key_where_it_suffices_and_copies_where_items_go_again() {
        use Method::{Copies, Flips, Keyed, Switching};
        assert_eq!(methods(Question::Distinct, 1000, true)[0], Keyed);
        assert!(choices(&stream(Question::Distinct, 1000, false)).is_err(), "nothing here follows those");
        assert_eq!(methods(Question::Distinct, 1 << 40, true)[0], Keyed);
        assert_eq!(methods(Question::SquaredCounts, 1000, false), [Copies]);
        assert_eq!(methods(Question::Point, 1000, true), [Copies]);
        // A stream asked often: switching does not care, and errors of an eighth cost sixteen times a half's.
        assert_eq!(methods(Question::SquaredCounts, 100, true), [Copies, Switching, Flips]);
        // A stream asked very often: copies for each answer grow, the others hardly.
        assert_eq!(methods(Question::SquaredCounts, 1 << 30, true), [Switching, Flips, Copies]);
    }

    #[test]
    fn choices_speak() {
        let stream = stream(Question::Distinct, 1000, true);
        let text = choices(&stream).unwrap()[0].to_string();
        assert!(text.starts_with("one sketch under a secret key; right at all moments"), "{text}");
        assert!(choices(&Stream { beta: Ratio::zero(), ..stream }).is_err());
    }

    #[test]
    fn a_choice_has_the_size_of_what_is_built() {
        let stream = Stream { alpha: "0.5".parse().unwrap(), ..stream(Question::SquaredCounts, 10, false) };
        let promise = Promise { alpha: stream.alpha.clone(), answers: 10, ..Promise::default() };
        let [f2, keyed] = [
            choices(&stream).unwrap(),
            choices(&Stream { question: Question::Distinct, insertions_only: true, ..stream }).unwrap(),
        ];
        let built = RobustF2::new(&promise, None, &mut TestWords(1)).unwrap();
        assert_eq!((f2[0].copies, f2[0].method), (built.copy_count(), Method::Copies));
        // The keys of rows that share a hash are counted once.
        assert!((built.space()..built.space() * 11 / 10).contains(&f2[0].bytes()), "{}", built.space());
        let built = RobustDistinct::keyed(&promise, &mut TestWords(1)).unwrap();
        assert!((built.space()..built.space() * 11 / 10).contains(&keyed[0].bytes()), "{}", built.space());
    }
}
