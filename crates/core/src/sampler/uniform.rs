//! A whole number below n, each equally likely, and a fair shuffle.
//!
//! # Guarantee
//!
//! [`below`] and [`BelowSecret`] return each of 0, …, n-1 with probability exactly 1/n; [`shuffle`] leaves
//! each of the orders of d items with probability exactly 1/d!.
//!
//! # Why
//!
//! 1. The fewest bits that can write n-1 give every number below a power of two the same chance.
//! 2. Numbers from n on are thrown away and drawn afresh, so those that remain stay equally likely.
//! 3. For a secret n instead, U·n is rounded down for a uniform U in [0, 1), of which ever more bits are drawn
//!    until all numbers that begin with them round to the same.
//! 4. A shuffle gives the last place to any of the d items, the one before to any of the rest, and so on:
//!    d! equally likely ways, one for each order.
//!
//! # Grade
//!
//! Constant per round: a round is one decision, ends with probability above one half, and its end says
//! nothing about the number. But how many rounds there are tells of n. [`BelowSecret`] has constant coins:
//! two words, and a third with probability below n·2^-128.

use crate::{
    coins::{Coins, Law, Uniform},
    interval::Interval,
    ratio::Ratio,
};
use dashu_int::IBig;

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

/// The uniform law on 0, …, n-1 for an n that is private.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BelowSecret(
    /// How many numbers there are; at least one.
    pub u64,
);

impl Law for BelowSecret {
    type Value = u64;

    fn draw<C: Coins>(&self, coins: &mut C) -> u64 {
        assert!(self.0 > 0, "no number is below zero");
        let mut uniform = Uniform::unknown();
        coins.refine(&mut uniform);
        loop {
            coins.refine(&mut uniform);
            let known = uniform.known();
            let ends = uniform.enclose(known);
            let n = IBig::from(self.0);
            // U lies below its upper end.
            let least = (ends.low_scaled() * &n) >> known;
            let most = (ends.high_scaled() * &n - IBig::ONE) >> known;
            if least == most {
                return u64::try_from(least).expect("below n");
            }
        }
    }

    fn masses(&self, floor: &Ratio, bits: usize) -> Vec<(u64, Interval)> {
        Below(self.0).masses(floor, bits)
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

    #[test]
    fn exact_audit_of_the_secret_form_with_its_decisions() {
        for n in [1, 2, 3, 7, 8, 100] {
            let lost = confirm(&BelowSecret(n), &"1e-9".parse().unwrap()).unwrap();
            assert!(lost.upper() < "1e-6".parse().unwrap(), "{n}");
        }
        // Two words, whatever n; three thirds of 2^128 lie between words, where a third word decides.
        for n in [1, 3, 1 << 40, u64::MAX] {
            let mut coins = ScriptedWords::new(vec![1 << 63, 12345]);
            assert_eq!((BelowSecret(n).draw(&mut coins), coins.used()), (n / 2, 2));
        }
        let third = 0x5555_5555_5555_5555;
        let mut coins = ScriptedWords::new(vec![third, third, u64::MAX]);
        assert_eq!((BelowSecret(3).draw(&mut coins), coins.used()), (1, 3));
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
