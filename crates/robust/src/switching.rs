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
    Oblivious,
    copies::Spent,
    flips::agrees,
    state::{Damaged, Kind, Stored, seal, unseal},
};
use equipoise_core::{coins::Coins, loss::ParameterError, ratio::Ratio};
use std::collections::VecDeque;

/// Copies that answer one after another.
#[derive(Debug)]
pub struct Switching<A> {
    alpha: Ratio,
    /// How many copies there were.
    declared: u64,
    /// Those that were never asked for the last time; the first is asked now.
    copies: VecDeque<A>,
    answer: Option<i128>,
}

impl<A: Oblivious> Switching<A> {
    /// So many copies on this input.
    pub fn new<C: Coins>(
        alpha: &Ratio,
        copies: usize,
        shape: &A::Shape,
        input: &A::Input,
        coins: &mut C,
    ) -> Result<Self, ParameterError> {
        if !alpha.is_positive() || *alpha > Ratio::new(1, 2) {
            let accepted = "give a number above 0 and at most 1/2, such as 0.2";
            return Err(ParameterError::out_of_range("alpha", alpha, accepted));
        }
        if copies == 0 {
            return Err(ParameterError::out_of_range("copies", copies, "give at least one"));
        }
        let declared = copies as u64;
        let copies = (0..copies).map(|_| A::init(shape, input, coins)).collect();
        Ok(Self { alpha: alpha.clone(), declared, copies, answer: None })
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
        let present = self.copies.front_mut().ok_or(Spent { answers: self.declared })?;
        let number = present.query(question);
        match self.answer {
            Some(answer) if agrees(&self.alpha, answer, number) => Ok(answer),
            _ => {
                self.answer = Some(number);
                self.copies.pop_front();
                Ok(number)
            }
        }
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
            self.alpha.write(out);
            out.word(self.declared);
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
            let alpha = Ratio::read(from)?;
            let (declared, answer) = (from.word()?, Option::read(from)?);
            let copies = VecDeque::from(Vec::read(from)?);
            let range = alpha.is_positive() && alpha <= Ratio::new(1, 2) && copies.len() as u64 <= declared;
            if !range {
                return Err(Damaged::Content("its copies or its alpha are out of range"));
            }
            Ok(Self { alpha, declared, copies, answer })
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

    #[test]
    fn right_under_the_attack_that_breaks_one_sketch() {
        let alpha: Ratio = "0.5".parse().unwrap();
        let copies = Switching::<F2>::copies_for(0.5, 4000.0);
        assert_eq!(copies, 139);
        let shape = Buckets::new(&"0.125".parse().unwrap(), 5, 512).unwrap();
        let mut switching =
            Switching::<F2>::new(&alpha, 40, &shape, &Counts::new(), &mut TestWords(7)).unwrap();
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
        let shape = Buckets::new(&"0.5".parse().unwrap(), 1, 64).unwrap();
        let half: Ratio = "0.5".parse().unwrap();
        let mut switching =
            Switching::<F2>::new(&half, 2, &shape, &Counts::new(), &mut TestWords(8)).unwrap();
        let item = |key| crate::sketch::Item { key, count: 100 };
        assert_eq!(switching.query(&()).unwrap(), 0);
        switching.update(&item(1));
        assert_eq!(switching.query(&()).unwrap(), 10_000);
        let bytes = switching.to_bytes();
        assert_refuses_damage(&bytes, |bytes| Switching::<F2>::from_bytes(bytes).err());
        switching = Switching::from_bytes(&bytes).unwrap();
        assert_eq!(switching.query(&()).unwrap_err(), Spent { answers: 2 });
        assert!(Switching::<F2>::new(&Ratio::one(), 2, &shape, &Counts::new(), &mut TestWords(8)).is_err());
        assert!(Switching::<F2>::new(&half, 0, &shape, &Counts::new(), &mut TestWords(8)).is_err());
    }
}
