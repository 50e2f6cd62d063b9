//! e^-t in 64-bit fixed point with a proved error: settles nearly every comparison with an exponential.
//!
//! # Guarantee
//!
//! For every t in [0, 1) that is a multiple of the unit 2^-64, [`FixedExp::exp_neg`] lies between
//! e^-t − 7 units and e^-t + 14 units.
//!
//! # Why
//!
//! All steps are whole-number arithmetic in units, so they are the same on every machine.
//! 1. t = j/128 + r with 0 <= r < 1/128, exactly. With ρ = 128·r the sum 1 − c₁ρ + c₂ρ² − … + c₆ρ⁶,
//!    c_k = 1/(k!·128^k), exceeds e^-r by at most r⁷/7! < 2^-61.3, which is less than 7 units (an
//!    alternating series with falling terms).
//! 2. D = ρ(c₁ − ρ(c₂ − …)) is computed inside out, each c_k rounded down by at most one unit and each
//!    product rounded down by at most one. If an inner value is right within [−α, +β], the next one is
//!    right within [−1−β, +α+1]: c₆ [−1, 0], then [−1, +2], [−3, +2], [−3, +4], [−5, +4], [−5, +6], and
//!    the last product, D, within [−6, +6].
//! 3. So 1 − D is right within [−6, +13] as a value of e^-r. The table holds e^-(j/128) rounded down by at
//!    most one unit; subtracting a product rounded down adds at most one: within [−7, +14].

use crate::{ladder::exp_neg_heads, ratio::Ratio};
use std::sync::LazyLock;

/// A table of e^-(j/128) and the series between its entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedExp {
    table: &'static [u64; ENTRIES],
}

const ENTRIES: usize = 128;

/// 1/(k!·128^k) for k = 1 ..= 6, in units of 2^-64, rounded down.
const SERIES: [u64; 6] = [1 << 57, 1 << 49, (1 << 43) / 6, (1 << 36) / 24, (1 << 29) / 120, (1 << 22) / 720];

static TABLE: LazyLock<[u64; ENTRIES]> = LazyLock::new(|| {
    let heads = exp_neg_heads(&Ratio::new(1, ENTRIES as u64), ENTRIES - 1);
    heads.try_into().expect("one head for each entry")
});

/// See [`crate::prepare`].
pub(crate) fn prepare() {
    LazyLock::force(&TABLE);
}

/// The product of two numbers in units, rounded down.
#[inline]
pub(crate) fn product(a: u64, b: u64) -> u64 {
    a.carrying_mul(b, 0).1
}

impl FixedExp {
    /// The result is at least e^-t minus this many units.
    pub(crate) const BELOW: u64 = 7;
    /// The result is at most e^-t plus this many units.
    pub(crate) const ABOVE: u64 = 14;

    pub(crate) fn new() -> Self {
        Self { table: &TABLE }
    }

    /// e^-t, t and the result in units of 2^-64.
    #[inline]
    pub(crate) fn exp_neg(self, t: u64) -> u64 {
        let at_entry = self.table[usize::try_from(t >> 57).unwrap_or(0)];
        let rho = t << 7;
        let [c1, c2, c3, c4, c5, c6] = SERIES;
        let inner = c3 - product(rho, c4 - product(rho, c5 - product(rho, c6)));
        let drop = product(rho, c1 - product(rho, c2 - product(rho, inner)));
        at_entry - product(at_entry, drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Interval;
    use dashu_int::IBig;
    use proptest::prelude::*;

    /// The result minus e^-t, in units.
    fn error_in_units(t: u64) -> f64 {
        let truth = Interval::exact(&-Ratio::dyadic(t.into(), 64), 128).exp();
        let found = Ratio::dyadic(IBig::from(FixedExp::new().exp_neg(t)), 64);
        (&found - &truth.lower()).to_f64() * 2f64.powi(64)
    }

    fn within_bounds(t: u64) -> bool {
        let error = error_in_units(t);
        (-7.0..=14.0).contains(&error)
    }

    #[test]
    fn known_values_and_the_ends_of_every_entry() {
        assert!(within_bounds(0) && within_bounds(1) && within_bounds(u64::MAX));
        for entry in 0..128u64 {
            let first = entry << 57;
            for t in [first, first + 1, first + (1 << 56), first + ((1 << 57) - 1)] {
                assert!(within_bounds(t), "{t}: {}", error_in_units(t));
            }
        }
    }

    #[test]
    fn the_series_is_what_it_says() {
        let mut factor = 1u128;
        for (k, coefficient) in (1u128..).zip(SERIES) {
            factor *= 128 * k;
            assert_eq!(u128::from(coefficient), (1 << 64) / factor);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_error_is_within_its_bounds(t in any::<u64>()) {
            prop_assert!(within_bounds(t), "{}", error_in_units(t));
        }
    }
}
