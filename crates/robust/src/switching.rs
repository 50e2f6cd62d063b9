//! One sketch after another: for a value that changes few times, fewer copies than a private median needs.
//!
//! Source: O. Ben-Eliezer and others, "A framework for adversarially robust streaming algorithms" (2020), sketch switching.
//!
//! # Guarantee
//!
//! If each copy is within `1 ± alpha/8` of a positive value at one moment of one fixed stream except with probability
//! p, then, until it stops, every answer is within `1 ± alpha` of it, except with probability `copies·moments·p`, where
//! moments are the answers asked for; alpha is at most one half. It stops when the answer has changed `copies` times.
//!
//! # Why
//!
//! 1. The answer is what an earlier copy said. It stays while the present copy says a number within `1 ± alpha/2`
//!    of it; then the present copy's number becomes the answer and that copy is never asked again.
//! 2. Until then only whether it agrees was seen of the present copy. Suppose it always agrees: the stream is then a
//!    function of earlier copies, so to the present copy it is fixed, and it is right at all moments except with
//!    probability `moments·p`. The first moment when it does not agree is the last at which its coins matter.
//! 3. While it agrees, `answer·(1 ± alpha/2)` holds its number, which is within `1 ± alpha/8` of the truth:
//!    `(1 + alpha/8)/(1 - alpha/2) <= 1 + alpha` for alpha up to one half, and likewise below.
//! 4. Between two changes of the answer a value that only grows has grown by a factor of at least
//!    `(1 + alpha/2)(1 - alpha/8)/(1 + alpha/8) >= 1 + alpha/8`, so `2 + ln F/ln(1 + alpha/8)` copies follow it from one to F.

use super::{
    Guarantee, Oblivious, Shape,
    copies::Spent,
    fits_memory,
    flips::{agrees, check_changing},
    state::{Damaged, Kind, Stored, seal, unseal},
};
use equipoise_core::{coins::Coins, interval::ln_upper, loss::ParameterError, ratio::Ratio};
use std::collections::VecDeque;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How far off an answer may be, as a share, at most one half.
    pub alpha: Ratio,
    /// How likely some answer may be farther off.
    pub beta: Ratio,
    /// How many answers there will be at most.
    pub answers: u64,
    /// How often the answer may change: that many copies.
    pub changes: usize,
}

impl Wanted {
    fn check(&self) -> Result<(), ParameterError> {
        check_changing(&self.alpha, &self.beta, self.answers, self.changes as u64)
    }

    /// How rarely a copy within `1 ± alpha/8` must be off on fixed updates, as ln(1/chance).
    pub fn ln_inverse_failure(&self) -> Result<Ratio, ParameterError> {
        self.check()?;
        let moments = Ratio::from(self.answers) * Ratio::from(self.changes as u64);
        Ok(ln_upper(&(moments / &self.beta)))
    }
}

/// Copies that answer one after another.
#[derive(Debug)]
pub struct Switching<A> {
    wanted: Wanted,
    guarantee: Guarantee,
    /// Those that were never asked for the last time; the first is asked now.
    copies: VecDeque<A>,
    answer: Option<i128>,
    answers_left: u64,
}

impl<A: Oblivious> Switching<A> {
    /// Copies of this shape on this input. Refused where the shape fails too often for what is wanted.
    pub fn new<C: Coins>(
        wanted: Wanted,
        shape: &A::Shape,
        input: &A::Input,
        coins: &mut C,
    ) -> Result<Self, ParameterError> {
        fits_memory(wanted.changes, shape)?;
        let known = shape.ln_inverse_failure();
        if known < wanted.ln_inverse_failure()? {
            let next = "so many answers and changes need copies that fail more rarely; give a larger shape";
            return Err(ParameterError::out_of_range(
                "shape of a copy with ln(1/failure)",
                known.to_decimal_up(2),
                next,
            ));
        }
        if shape.alpha() > &wanted.alpha / &Ratio::from(8u64) {
            let next = "copies may be off by an eighth of that at most; give a finer shape";
            return Err(ParameterError::out_of_range("alpha", &wanted.alpha, next));
        }
        Ok(Self::begin(wanted, Guarantee::Proved, shape, input, coins))
    }

    /// Copies of any shape, on request: heuristic.
    pub fn heuristic<C: Coins>(
        wanted: Wanted,
        shape: &A::Shape,
        input: &A::Input,
        coins: &mut C,
    ) -> Result<Self, ParameterError> {
        wanted.check()?;
        fits_memory(wanted.changes, shape)?;
        Ok(Self::begin(wanted, Guarantee::Heuristic, shape, input, coins))
    }

    fn begin<C: Coins>(
        wanted: Wanted,
        guarantee: Guarantee,
        shape: &A::Shape,
        input: &A::Input,
        coins: &mut C,
    ) -> Self {
        let copies = (0..wanted.changes).map(|_| A::init(shape, input, coins)).collect();
        let answers_left = wanted.answers;
        Self { wanted, guarantee, copies, answer: None, answers_left }
    }

    /// How many copies follow a value that only grows, from one to `highest`: step 4, for display.
    pub fn copies_for(alpha: f64, highest: f64) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive count")]
        let copies = (highest.ln() / (alpha / 8.0).ln_1p()).ceil() as usize;
        copies + 2
    }

    /// Follow one change of the input. Copies that were asked for the last time need it no more.
    pub fn update(&mut self, update: &A::Update) {
        for copy in &mut self.copies {
            copy.update(update);
        }
    }

    /// Follow many changes, copy by copy.
    pub fn update_all(&mut self, updates: &[A::Update]) {
        for copy in &mut self.copies {
            copy.update_all(updates);
        }
    }

    /// The answer; an error once all copies are used up.
    pub fn query(&mut self, question: &A::Question) -> Result<i128, Spent> {
        let spent = Spent::Answers { answers: self.wanted.answers };
        let left = self.answers_left.checked_sub(1).ok_or(spent)?;
        let changes = self.wanted.changes as u64;
        let present = self.copies.front_mut().ok_or(Spent::Changes { changes })?;
        self.answers_left = left;
        let number = present.query(question);
        match self.answer {
            Some(answer) if agrees(&self.wanted.alpha, answer, number) => Ok(answer),
            _ => {
                self.answer = Some(number);
                self.copies.pop_front();
                Ok(number)
            }
        }
    }

    /// How many answers are left, if it does not change too often.
    pub fn queries_left(&self) -> u64 {
        self.answers_left
    }

    /// What stands behind the answers.
    pub fn guarantee(&self) -> Guarantee {
        self.guarantee
    }

    /// How many more times the answer can change.
    pub fn changes_left(&self) -> usize {
        self.copies.len()
    }

    /// Bytes of memory, about.
    pub fn space(&self) -> usize {
        self.copies.iter().map(A::space).sum()
    }
}

const KIND: Kind = *b"switch\0\0";

impl<A: Oblivious + Stored> Switching<A> {
    /// The state as bytes. They hold the keys: keep them secret.
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(KIND, |out| {
            self.wanted.alpha.write(out);
            self.wanted.beta.write(out);
            out.words([self.wanted.answers, self.wanted.changes as u64, self.answers_left]);
            (self.guarantee == Guarantee::Proved).write(out);
            self.answer.write(out);
            out.word(self.copies.len() as u64);
            for copy in &self.copies {
                copy.write(out);
            }
        })
    }

    /// Go on from a stored state. Do so once only: the coins are the same each time.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Damaged> {
        unseal(KIND, bytes, |from| {
            let (alpha, beta) = (Ratio::read(from)?, Ratio::read(from)?);
            let wanted = Wanted { alpha, beta, answers: from.word()?, changes: from.size()? };
            let answers_left = from.word()?;
            let guarantee = if bool::read(from)? { Guarantee::Proved } else { Guarantee::Heuristic };
            let answer = Option::read(from)?;
            let copies = VecDeque::from(Vec::read(from)?);
            let fits =
                wanted.check().is_ok() && copies.len() <= wanted.changes && answers_left <= wanted.answers;
            if !fits {
                return Err(Damaged::Content("its copies or answers are not those of its plan"));
            }
            Ok(Self { wanted, guarantee, copies, answer, answers_left })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::assert_refuses_damage;
    use crate::{
        TestWords,
        sketch::{
            Counts,
            attack::squares,
            table::{Buckets, F2},
        },
    };

    fn wanted(changes: usize) -> Wanted {
        Wanted { alpha: "0.5".parse().unwrap(), beta: "0.1".parse().unwrap(), answers: 1000, changes }
    }

    #[test]
    fn right_under_the_attack_that_breaks_one_sketch() {
        let copies = Switching::<F2>::copies_for(0.5, 4000.0);
        assert_eq!(copies, 139);
        let shape = Buckets::new(&"0.125".parse().unwrap(), 5, 512).unwrap();
        let mut coins = TestWords(7);
        assert!(Switching::<F2>::new(wanted(40), &shape, &Counts::new(), &mut coins).is_err());
        let mut switching =
            Switching::<F2>::heuristic(wanted(40), &shape, &Counts::new(), &mut coins).unwrap();
        assert_eq!(switching.guarantee(), Guarantee::Heuristic);
        let moments = squares(700, |item| {
            switching.update(&item);
            switching.query(&()).unwrap()
        });
        for moment in &moments {
            assert!((0.5..1.5).contains(&moment.ratio()), "{moment:?}");
        }
        assert!(switching.changes_left() > 0, "{}", switching.changes_left());
    }

    #[test]
    fn it_stops_when_all_copies_were_used() {
        let mut coins = TestWords(8);
        let eighth: Ratio = "1/16".parse().unwrap();
        let shape = Buckets::proved(&eighth, &wanted(2).ln_inverse_failure().unwrap()).unwrap();
        let mut switching = Switching::<F2>::new(wanted(2), &shape, &Counts::new(), &mut coins).unwrap();
        assert_eq!((switching.guarantee(), switching.queries_left()), (Guarantee::Proved, 1000));
        let item = |key| crate::sketch::Item { key, count: 100 };
        assert_eq!(switching.query(&()).unwrap(), 0);
        switching.update(&item(1));
        assert_eq!(switching.query(&()).unwrap(), 10_000);
        let bytes = switching.to_bytes();
        assert_refuses_damage(&bytes, |bytes| Switching::<F2>::from_bytes(bytes).err());
        switching = Switching::from_bytes(&bytes).unwrap();
        assert_eq!(switching.query(&()).unwrap_err(), Spent::Changes { changes: 2 });
        assert_eq!(switching.queries_left(), 998);
        let coarse = Buckets::proved(&"0.5".parse().unwrap(), &Ratio::from(30u64)).unwrap();
        assert!(Switching::<F2>::new(wanted(2), &coarse, &Counts::new(), &mut coins).is_err());
        let few = Wanted { answers: 1, ..wanted(2) };
        let mut switching = Switching::<F2>::new(few, &shape, &Counts::new(), &mut coins).unwrap();
        switching.query(&()).unwrap();
        assert_eq!(switching.query(&()).unwrap_err(), Spent::Answers { answers: 1 });
        for bad in [
            Wanted { alpha: Ratio::one(), ..wanted(2) },
            Wanted { beta: Ratio::one(), ..wanted(2) },
            Wanted { answers: 0, ..wanted(2) },
            wanted(0),
        ] {
            assert!(Switching::<F2>::heuristic(bad, &shape, &Counts::new(), &mut coins).is_err());
        }
    }
}
