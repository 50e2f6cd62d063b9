//! A whole number below n, each equally likely, and a fair shuffle.
//!
//! # Guarantee
//!
//! [`below`] returns each of 0, …, n-1 with probability exactly 1/n, and [`UpTo`] each of 0, …, n;
//! [`shuffle`] leaves each of the orders of d items with probability exactly 1/d!.
//!
//! # Why
//!
//! 1. The fewest bits that can write n-1 give every number below a power of two the same chance.
//! 2. Numbers from n on are thrown away and drawn afresh, so those that remain stay equally likely.
//! 3. A shuffle gives the last place to any of the d items, the one before to any of the rest, and so on:
//!    d! equally likely ways, one for each order.
//! 4. A uniform real U in [0, 1) times n + 1 is equally likely to lie between any two neighbouring whole
//!    numbers. [`UpTo`] learns bits of U until all numbers with these bits round down to the same one.
//!
//! # Grade
//!
//! Constant per round: a round is one decision, ends with probability above one half, and its end says
//! nothing about the number; but how likely it is to end depends on n. [`UpTo`], for an n that is private,
//! has constant coins: three words, and a fourth with probability at most `n·2^-192`.

use crate::{
    coins::{Coins, Law, Uniform},
    interval::Interval,
    ratio::Ratio,
};
use dashu_int::{IBig, UBig};

/// One round: a number below n, or nothing if the bits showed a larger one. Panics if n is zero.
pub fn below_round<C: Coins>(n: u64, coins: &mut C) -> Option<u64> {
    assert!(n > 0, "no number is below zero");
    let drawn = coins.bits(u64::BITS - (n - 1).leading_zeros());
    (drawn < n).then_some(drawn)
}

/// A number below n, each equally likely. Panics if n is zero.
pub fn below<C: Coins>(n: u64, coins: &mut C) -> u64 {
    loop {
        if let Some(drawn) = below_round(n, coins) {
            return drawn;
        }
    }
}

/// Put the items in an order that is equally likely to be any.
pub fn shuffle<T, C: Coins>(items: &mut [T], coins: &mut C) {
    for last in (1..items.len()).rev() {
        let taken = coins.sample(&Below(last as u64 + 1));
        items.swap(last, usize::try_from(taken).expect("an index of the slice"));
    }
}

/// The uniform law on 0, …, n-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Below(
    /// How many numbers there are; at least one.
    pub u64,
);

impl Law for Below {
    type Value = u64;

    fn draw<C: Coins>(&self, coins: &mut C) -> u64 {
        below(self.0, coins)
    }

    fn masses(&self, _floor: &Ratio, bits: usize) -> Vec<(u64, Interval)> {
        let each = Interval::exact(&Ratio::new(1, self.0), bits);
        (0..self.0).map(|value| (value, each.clone())).collect()
    }
}

/// The uniform law on 0, …, last, in constant coins whatever `last` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpTo(
    /// The last number.
    pub u128,
);

impl UpTo {
    /// The number that U times the count rounds down to, once that is certain.
    fn find(self, uniform: &Uniform) -> Option<u128> {
        let count = UBig::from(self.0) + UBig::ONE;
        let low = (uniform.numerator() * &count) >> uniform.known();
        // U lies strictly below the next numerator, so what it is multiplied to lies below this by one unit.
        let high = ((uniform.numerator() + UBig::ONE) * count - UBig::ONE) >> uniform.known();
        (low == high).then(|| u128::try_from(low).expect("at most the last number"))
    }
}

impl Law for UpTo {
    type Value = u128;

    fn draw<C: Coins>(&self, coins: &mut C) -> u128 {
        let mut uniform = Uniform::unknown();
        coins.refine(&mut uniform);
        coins.refine(&mut uniform);
        loop {
            coins.refine(&mut uniform);
            if let Some(number) = self.find(&uniform) {
                return number;
            }
        }
    }

    fn masses(&self, _floor: &Ratio, bits: usize) -> Vec<(u128, Interval)> {
        let count = Ratio::from_parts(IBig::from(self.0) + IBig::ONE, UBig::ONE);
        let each = Interval::exact(&count.recip(), bits);
        (0..=self.0).map(|value| (value, each.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        interval::AUDIT_BITS,
        tape::{Pmf, confirm, delta_between, enumerate},
    };

    fn floor() -> Ratio {
        "1e-12".parse().unwrap()
    }

    #[test]
    fn exact_audit_of_a_round_every_number_is_equally_likely() {
        for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 33] {
            let round = enumerate(&floor(), |tape| below_round(n, tape));
            for value in 0..n {
                assert_eq!(round.mass(&Some(value)), round.mass(&Some(0)), "{value} of {n}");
            }
            assert_eq!(round.iter().count() as u64, n + u64::from(!n.is_power_of_two()));
        }
        // The loop itself, as far as its many rejected paths can be followed.
        for n in [1, 2, 3, 7, 8] {
            confirm(&Below(n), &"1e-6".parse().unwrap()).unwrap();
        }
    }

    /// A mutant that leaves out the last number.
    struct Mutant;
    impl Law for Mutant {
        type Value = u128;
        fn draw<C: Coins>(&self, coins: &mut C) -> u128 {
            UpTo(4).draw(coins)
        }
        fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(u128, Interval)> {
            UpTo(5).masses(floor, bits)
        }
    }

    #[test]
    fn exact_audit_of_numbers_in_constant_coins() {
        for last in [0, 1, 2, 4, 6, 7, 30] {
            let lost = confirm(&UpTo(last), &"1e-9".parse().unwrap()).unwrap();
            assert!(lost.upper() < "1e-6".parse().unwrap(), "{last} loses {}", lost.to_f64());
        }
        assert!(confirm(&Mutant, &"1e-9".parse().unwrap()).is_err());
    }

    #[test]
    fn three_words_give_any_number_and_a_tie_takes_a_fourth() {
        let third = 0x5555_5555_5555_5555;
        for (last, words, number, used) in [
            (u64::MAX.into(), vec![7, 0, 0], 7, 3),
            (u64::MAX.into(), vec![u64::MAX; 3], u64::MAX.into(), 3),
            (u128::MAX, vec![u64::MAX; 3], u128::MAX, 3),
            (0, vec![u64::MAX; 3], 0, 3),
            (2, vec![third, third, third - 1], 0, 3),
            (2, vec![third, third, third + 1], 1, 3),
            (2, vec![third, third, third, 0], 0, 4),
            (2, vec![third, third, third, u64::MAX], 1, 4),
        ] {
            let mut coins = ScriptedWords::new(words);
            assert_eq!((UpTo(last).draw(&mut coins), coins.used()), (number, used));
        }
    }

    #[test]
    fn every_order_is_equally_likely() {
        let pmf = enumerate(&floor(), |tape| {
            let mut items = [0, 1, 2, 3];
            shuffle(&mut items, tape);
            items
        });
        assert_eq!(pmf.iter().count(), 24);
        for (_, mass) in pmf.iter() {
            let width = &mass.upper() - &mass.lower();
            assert!(width < "1e-40".parse().unwrap());
            assert!(mass.lower() <= Ratio::new(1, 24) && Ratio::new(1, 24) <= mass.upper());
        }
    }

    #[test]
    fn a_mutant_shuffle_that_swaps_with_any_place_is_caught() {
        // The mutant draws each place from all d items instead of from those that are left.
        let naive = enumerate(&floor(), |tape| {
            let mut items = [0, 1, 2];
            for place in 0..3 {
                items.swap(place, usize::try_from(tape.sample(&Below(3))).unwrap());
            }
            items
        });
        let fair = Pmf::from_masses(
            naive.iter().map(|(&order, _)| (order, Interval::exact(&Ratio::new(1, 6), AUDIT_BITS))),
        );
        assert!(delta_between(&Ratio::zero(), &naive, &fair).certainly_above(&Ratio::new(1, 20)));
    }

    #[test]
    fn a_round_is_one_decision_and_rejects_the_same_for_all() {
        let pmf = enumerate(&floor(), |tape| (below_round(5, tape), tape.decisions()));
        for value in 0..5 {
            assert_eq!(pmf.mass(&(Some(value), 1)).lower(), Ratio::new(1, 8));
        }
        assert_eq!(pmf.mass(&(None, 1)).lower(), Ratio::new(3, 8));
    }

    #[test]
    fn a_script_is_followed() {
        // Three bits of each word: 7 and 5 are thrown away, 4 is below five.
        let mut coins = ScriptedWords::new(vec![7 << 61, 5 << 61, 4 << 61]);
        assert_eq!((below(5, &mut coins), coins.used()), (4, 3));
        let mut coins = ScriptedWords::new(vec![u64::MAX, u64::MAX - 1]);
        assert_eq!(below(u64::MAX, &mut coins), u64::MAX - 1);
    }
}
