//! Randomness as decisions: "is a fresh uniform number below this?", never "give me a word".
//!
//! A sampler is written once, over [`Coins`]. Three sources answer its decisions:
//! - [`Words`] of fresh random bits decide them when an answer is published (the operating system's, in
//!   the crate `equipoise-entropy`);
//! - the [tape](crate::tape) takes every branch of every decision in turn, with its exact probability, and
//!   so computes the distribution of the very code that ships;
//! - scripted words replay one path in a test.
//!
//! # Guarantee
//!
//! If the words are independent and uniform, each decision has exactly the stated probability, whatever
//! real number that is: a decision looks at 64 bits, and at more with probability 2^-64.

use crate::{
    chance::Chance, interval::Interval, ladder::Ladder, pick::Pick, ratio::Ratio, redact::debug_only_public,
};
use dashu_int::{IBig, UBig};

/// A source of independent uniform 64-bit words.
pub trait Words {
    /// The next word, never used before.
    fn word(&mut self) -> u64;
}

/// A source of random decisions.
pub trait Coins: Sized {
    /// True with exactly this probability.
    fn bernoulli<C: Chance>(&mut self, chance: &C) -> bool;

    /// A whole number below `2^count`, each equally likely. `count` is at most 64.
    fn bits(&mut self, count: u32) -> u64;

    /// A whole number below `2^count`, and then true with exactly the probability that this number asks
    /// for. Two decisions, for which one word is nearly always enough.
    #[inline]
    fn bits_then<C: Chance>(&mut self, count: u32, chance: impl FnOnce(u64) -> C) -> (u64, bool) {
        let number = self.bits(count);
        (number, self.bernoulli(&chance(number)))
    }

    /// How many rungs of the ladder lie above a fresh uniform number.
    fn rung(&mut self, ladder: &Ladder) -> usize;

    /// An index with probability exactly its weight over 2^64.
    fn pick(&mut self, pick: &Pick) -> usize;

    /// Learn more bits of a uniform number.
    fn refine(&mut self, uniform: &mut Uniform);

    /// A value of an audited law. Published answers run its sampler; the tape branches over its masses,
    /// which that sampler's own audit has confirmed.
    fn sample<L: Law>(&mut self, law: &L) -> L::Value {
        law.draw(self)
    }
}

/// A distribution with a sampler and a claim about it.
///
/// # Guarantee
///
/// `draw` returns each value with the probability that `masses` encloses. The audit of each
/// implementation enumerates `draw` on the tape and compares.
pub trait Law {
    /// What is drawn.
    type Value: Clone + 'static;

    /// The sampler.
    fn draw<C: Coins>(&self, coins: &mut C) -> Self::Value;

    /// Values with their enclosed probabilities; what is left out has less than `floor` in all.
    fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(Self::Value, Interval)>;
}

/// A uniform number in [0, 1) of which only the leading bits are known so far.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Uniform {
    numerator: UBig,
    known: usize,
}

debug_only_public!(Uniform { known });

impl Uniform {
    /// A uniform number of which nothing is known.
    pub fn unknown() -> Self {
        Self { numerator: UBig::ZERO, known: 0 }
    }

    pub(crate) fn append(&mut self, count: usize, bits: u64) {
        self.numerator = (&self.numerator << count) + UBig::from(bits);
        self.known += count;
    }

    /// How many bits are known.
    pub fn known(&self) -> usize {
        self.known
    }

    /// The known bits as a whole number below `2^known`.
    pub(crate) fn numerator(&self) -> &UBig {
        &self.numerator
    }

    /// Where the number lies, at a precision that shows all known bits.
    pub fn enclose(&self, bits: usize) -> Interval {
        let low = IBig::from(self.numerator.clone());
        let high = &low + IBig::ONE;
        Interval::dyadic(low, high, self.known, bits)
    }
}

impl<W: Words> Coins for W {
    #[inline]
    fn bernoulli<C: Chance>(&mut self, chance: &C) -> bool {
        let word = self.word();
        chance.settle(word, word).unwrap_or_else(|| is_below(self, word, |bits| chance.enclose(bits)))
    }

    #[inline]
    fn bits(&mut self, count: u32) -> u64 {
        let word = self.word();
        if count == 0 { 0 } else { word >> (64 - count) }
    }

    /// The first bits of a word are the number, the others begin a uniform number. It goes on with the
    /// first bits of the next word in the rare case that those do not settle the chance.
    #[inline]
    fn bits_then<C: Chance>(&mut self, count: u32, chance: impl FnOnce(u64) -> C) -> (u64, bool) {
        let mask = u64::MAX.checked_shr(64 - count).unwrap_or(0);
        // The first bits come last, where the uniform number has room for more.
        let word = self.word().rotate_left(count);
        let (number, from) = (word & mask, word & !mask);
        let chance = chance(number);
        let answer = chance.settle(from, from | mask);
        (number, answer.unwrap_or_else(|| with_another_word(self, from, count, chance)))
    }

    #[inline]
    fn rung(&mut self, ladder: &Ladder) -> usize {
        let word = self.word();
        let above = ladder.heads().partition_point(|&head| head > word);
        if ladder.heads().get(above) == Some(&word) { rung_of_tie(self, word, above, ladder) } else { above }
    }

    #[inline]
    fn pick(&mut self, pick: &Pick) -> usize {
        pick.find(self.word())
    }

    fn refine(&mut self, uniform: &mut Uniform) {
        uniform.append(64, self.word());
    }
}

/// Decide with the first bits of another word in the place of the last of `from`.
#[cold]
#[inline(never)]
#[expect(clippy::needless_pass_by_value, reason = "a caller need not keep in memory what it moves here")]
fn with_another_word<W: Words, C: Chance>(words: &mut W, from: u64, count: u32, chance: C) -> bool {
    let uniform = from | words.bits(count);
    chance.settle(uniform, uniform).unwrap_or_else(|| is_below(words, uniform, |bits| chance.enclose(bits)))
}

/// Is the uniform number that starts with this word below the number that `enclose` closes in on?
#[cold]
fn is_below<W: Words>(words: &mut W, first: u64, enclose: impl Fn(usize) -> Interval) -> bool {
    let mut uniform = Uniform::unknown();
    uniform.append(64, first);
    loop {
        let bits = uniform.known + 64;
        let (here, cut) = (uniform.enclose(bits), enclose(bits));
        if here.high_scaled() <= cut.low_scaled() {
            return true;
        }
        if here.low_scaled() >= cut.high_scaled() {
            return false;
        }
        uniform.append(64, words.word());
    }
}

/// The word equals the first 64 bits of one or more rungs: decide between them with more bits of the same number.
#[cold]
fn rung_of_tie<W: Words>(words: &mut W, first: u64, mut above: usize, ladder: &Ladder) -> usize {
    let mut uniform = Uniform::unknown();
    uniform.append(64, first);
    while above < ladder.heads().len() {
        let bits = uniform.known + 64;
        let (here, cut) = (uniform.enclose(bits), ladder.enclose(above, bits));
        if here.high_scaled() <= cut.low_scaled() {
            above += 1;
        } else if here.low_scaled() >= cut.high_scaled() {
            break;
        } else {
            uniform.append(64, words.word());
        }
    }
    above
}

/// Words written down in advance, for tests that follow one path. Panics when they run out.
#[derive(Clone, Debug)]
pub struct ScriptedWords {
    words: std::vec::IntoIter<u64>,
    used: usize,
}

impl ScriptedWords {
    /// These words, in this order.
    pub fn new(words: Vec<u64>) -> Self {
        Self { words: words.into_iter(), used: 0 }
    }

    /// How many words were used.
    pub fn used(&self) -> usize {
        self.used
    }
}

impl Words for ScriptedWords {
    fn word(&mut self) -> u64 {
        self.used += 1;
        self.words.next().expect("the script has no more words")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::{ExpNeg, Odds};

    #[test]
    fn a_tie_with_the_first_word_is_decided_by_more_bits() {
        let third = Odds::new(&Ratio::new(1, 3));
        let head = third.head();
        assert_eq!(head, 0x5555_5555_5555_5555);
        for (second, expected) in [(0, true), (0x5555_5555_5555_5554, true), (0x5555_5555_5555_5556, false)] {
            let mut coins = ScriptedWords::new(vec![head, second]);
            assert_eq!(coins.bernoulli(&third), expected);
            assert_eq!(coins.used(), 2);
        }
        let mut coins = ScriptedWords::new(vec![head, head, head - 1]);
        assert!(coins.bernoulli(&third));
        assert_eq!(coins.used(), 3);
    }

    #[test]
    fn certain_and_impossible_chances_stay_so_on_every_word() {
        for word in [0, 1, u64::MAX - 1, u64::MAX] {
            assert!(ScriptedWords::new(vec![word]).bernoulli(&Odds::new(&Ratio::one())));
            assert!(ScriptedWords::new(vec![word]).bernoulli(&ExpNeg::new(&Ratio::zero())));
            assert!(!ScriptedWords::new(vec![word]).bernoulli(&Odds::new(&Ratio::zero())));
        }
    }

    #[test]
    fn one_word_gives_bits_and_then_a_decision() {
        let third = |_| Odds::new(&Ratio::new(1, 3));
        // Four bits, then 60 of the uniform number; the next word has its last four.
        for (words, expected, used) in [
            (vec![0xa555_5555_5555_5554], (10, true), 1),
            (vec![0xa555_5555_5555_5556], (10, false), 1),
            (vec![0xa555_5555_5555_5555, 4 << 60], (10, true), 2),
            (vec![0xa555_5555_5555_5555, 6 << 60], (10, false), 2),
            (vec![0xa555_5555_5555_5555, 5 << 60, 0], (10, true), 3),
        ] {
            let mut coins = ScriptedWords::new(words);
            assert_eq!((coins.bits_then(4, third), coins.used()), (expected, used));
        }
        let head = 0x5555_5555_5555_5555;
        assert_eq!(ScriptedWords::new(vec![head - 1]).bits_then(0, third), (0, true));
        assert_eq!(ScriptedWords::new(vec![7, head + 1]).bits_then(64, third), (7, false));
        for word in [0, u64::MAX] {
            let sure = |_| Odds::new(&Ratio::one());
            assert!(ScriptedWords::new(vec![word, word]).bits_then(4, sure).1);
        }
    }

    #[test]
    fn the_decision_may_depend_on_the_bits() {
        let run = |coins: &mut ScriptedWords| coins.bits_then(1, |bit| Odds::new(&Ratio::from(bit)));
        assert_eq!(run(&mut ScriptedWords::new(vec![0, 0])), (0, false));
        assert_eq!(run(&mut ScriptedWords::new(vec![u64::MAX, u64::MAX])), (1, true));
    }

    #[test]
    fn a_rung_is_found_by_its_word_and_ties_by_more() {
        let ladder = Ladder::new(&Ratio::one());
        let heads = ladder.heads().to_vec();
        assert_eq!(ScriptedWords::new(vec![u64::MAX]).rung(&ladder), 0);
        assert_eq!(ScriptedWords::new(vec![heads[0] + 1]).rung(&ladder), 0);
        assert_eq!(ScriptedWords::new(vec![heads[0] - 1]).rung(&ladder), 1);
        assert_eq!(ScriptedWords::new(vec![heads[4] - 1]).rung(&ladder), 5);
        assert_eq!(ScriptedWords::new(vec![heads[4], 0]).rung(&ladder), 5);
        assert_eq!(ScriptedWords::new(vec![heads[4], u64::MAX]).rung(&ladder), 4);
        assert_eq!(ScriptedWords::new(vec![0, 0, 0]).rung(&ladder), heads.len());
    }
}
