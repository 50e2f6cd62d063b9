//! Binary weights that fall by at most e^beta, and gaps multiplied with them: all exact after one rounding.
//!
//! # Claim
//!
//! [`Ends::widest`] finds the widest weighted window exactly, with as many products for all rows.
//! [`weights`] starts with one and never rises; each weight is at most e^beta times the next. A [`Scaled`]
//! is the exact product of a whole number and two weights, and is ordered as a number.

use crate::{interval::exp_upper, ratio::Ratio};
use dashu_base::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};

/// The weights for one beta above zero, until the list is `done`: e^-beta times the one before, rounded up.
pub(super) fn weights(beta: &Ratio, done: impl Fn(&[Weight]) -> bool) -> Vec<Weight> {
    let step = Weight::from_up(&exp_upper(&-beta.clone()).min(Ratio::one()));
    let mut weights = vec![Weight::ONE];
    while !done(&weights) {
        weights.push(weights[weights.len() - 1].times_up(step));
    }
    weights
}

/// The number `mantissa·2^-exponent`, the mantissa with its top bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Weight {
    mantissa: u64,
    exponent: i64,
}

impl Weight {
    pub(super) const ONE: Self = Self { mantissa: 1 << 63, exponent: 63 };

    /// Not below this number of (0, 1], by less than one part in 2^63.
    pub(super) fn from_up(value: &Ratio) -> Self {
        let length = |bits: usize| i64::try_from(bits).expect("short numbers");
        let size = length(value.numerator().clone().unsigned_abs().bit_len())
            - length(value.denominator().bit_len());
        // 2^(size-1) < value < 2^(size+1).
        let exponent = 64 - size;
        let shift = usize::try_from(exponent).expect("at most one");
        let scaled = (value * &Ratio::whole(IBig::ONE << shift)).ceil_big();
        Self::shortened_up(u128::try_from(scaled).expect("65 bits"), exponent)
    }

    /// `value·2^-exponent`, rounded up to 64 bits.
    fn shortened_up(value: u128, exponent: i64) -> Self {
        let excess = 64 - i64::from(value.leading_zeros());
        if excess <= 0 {
            let mantissa = u64::try_from(value << excess.unsigned_abs()).expect("64 bits");
            return Self { mantissa, exponent: exponent - excess };
        }
        let rounded =
            (value >> excess) + u128::from(u64::from(value.trailing_zeros()) < excess.unsigned_abs());
        match u64::try_from(rounded) {
            Ok(mantissa) => Self { mantissa, exponent: exponent - excess },
            Err(_) => Self { mantissa: 1 << 63, exponent: exponent - excess - 1 },
        }
    }

    /// The weight is below two to the power of this.
    pub(super) fn size(self) -> i64 {
        64 - self.exponent
    }

    fn times_up(self, other: Self) -> Self {
        let product = u128::from(self.mantissa) * u128::from(other.mantissa);
        Self::shortened_up(product, self.exponent + other.exponent)
    }

    pub(super) fn ratio(self) -> Ratio {
        Scaled::new(1, self, Self::ONE).ratio()
    }
}

/// A gap times two weights, exactly. Ordered by its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scaled {
    /// The value is below `2^size`; the least number stands for zero.
    size: i64,
    high: u128,
    low: u64,
}

impl Scaled {
    pub(super) const ZERO: Self = Self { size: i64::MIN, high: 0, low: 0 };

    /// `gap·a·b`.
    pub(super) fn new(gap: u64, a: Weight, b: Weight) -> Self {
        if gap == 0 {
            return Self::ZERO;
        }
        let lead = gap.leading_zeros();
        let word = |value: u128| u64::try_from(value & u128::from(u64::MAX)).expect("masked");
        let first = u128::from(gap << lead) * u128::from(a.mantissa);
        let low = (first & u128::from(u64::MAX)) * u128::from(b.mantissa);
        let high = (first >> 64) * u128::from(b.mantissa) + (low >> 64);
        // Three factors of at least 2^63 make at least 2^189, so at most two places are left open.
        let open = high.leading_zeros();
        let wide = u128::from(word(low)) << open;
        Self {
            size: 192 - i64::from(open) - i64::from(lead) - a.exponent - b.exponent,
            high: (high << open) | (wide >> 64),
            low: word(wide),
        }
    }

    pub(super) fn ratio(self) -> Ratio {
        if self == Self::ZERO {
            return Ratio::zero();
        }
        let digits = (UBig::from(self.high) << 64) + UBig::from(self.low);
        let shift = self.size - 192;
        let places = usize::try_from(shift.unsigned_abs()).expect("short numbers");
        if shift < 0 {
            Ratio::dyadic(digits.into(), places)
        } else {
            Ratio::whole(IBig::from(digits << places))
        }
    }
}

/// As many lower ends, going down, as upper ends, going up, with a weight for each place.
pub(super) struct Ends<'a> {
    pub lows: &'a [i64],
    pub highs: &'a [i64],
    pub weights: &'a [Weight],
}

impl Ends<'_> {
    /// Raises `best` to the widest weighted window; tells how many products were compared.
    pub(super) fn widest(&self, best: &mut Scaled) -> usize {
        // A full tree of lower ends, the last one repeated, so that every level compares as many products.
        let rows = (self.lows.len() + 1).next_power_of_two() - 1;
        if self.lows.is_empty() { 0 } else { self.search((0, rows), (0, self.highs.len()), best) }
    }

    /// The lower ends `rows.0..rows.1` have their best upper ends in `columns.0..columns.1`.
    fn search(&self, rows: (usize, usize), columns: (usize, usize), best: &mut Scaled) -> usize {
        if rows.0 == rows.1 {
            return 0;
        }
        let middle = usize::midpoint(rows.0, rows.1);
        let row = middle.min(self.lows.len() - 1);
        let scaled = |column: usize, other| {
            Scaled::new(self.highs[column].abs_diff(self.lows[row]), self.weights[column], other)
        };
        let by_size = |column: &usize| scaled(*column, Weight::ONE);
        let column = (columns.0..columns.1).max_by_key(by_size).expect("at least one upper end");
        *best = (*best).max(scaled(column, self.weights[row]));
        columns.1 - columns.0
            + self.search((rows.0, middle), (column, columns.1), best)
            + self.search((middle + 1, rows.1), (columns.0, column + 1), best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Interval;
    use proptest::prelude::*;

    /// Numbers of 64 digits stay as they are, also where zeros follow; one digit more is rounded up.
    #[test]
    fn what_fits_is_not_rounded() {
        let odd = (1u128 << 63) + 1;
        for zeros in [0, 1, 2, 40] {
            assert_eq!(Weight::shortened_up(odd << zeros, 100).mantissa, (1 << 63) + 1, "{zeros}");
        }
        assert_eq!(Weight::shortened_up((odd << 1) + 1, 100).mantissa, (1 << 63) + 2);
        assert_eq!(Weight::shortened_up((odd << 40) + 1, 100).mantissa, (1 << 63) + 2);
    }

    #[test]
    fn weights_fall_by_at_most_e_to_the_beta() {
        for text in ["1e-25", "0.001", "0.1", "1/3", "1", "40", "1000"] {
            let beta: Ratio = text.parse().unwrap();
            let factor = Interval::exact(&beta, 128).exp().lower();
            let list = weights(&beta, |weights| weights.len() > 300);
            assert_eq!((list.len(), list[0].ratio()), (301, Ratio::one()));
            for pair in list.windows(2) {
                let (one, next) = (pair[0].ratio(), pair[1].ratio());
                assert!(next <= one && one <= &next * &factor, "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn scaled_gaps_are_exact_and_ordered(
            gaps in (any::<u64>(), 0..9u64),
            a in (any::<u64>(), -9..99i64),
            b in (any::<u64>(), -9..99i64),
            shift in 0u32..64,
        ) {
            let weight = |(mantissa, exponent)| Weight { mantissa: mantissa | 1 << 63, exponent };
            let product = |gap: u64, a: Weight, b: Weight| {
                let one = |w: Weight| {
                    let power = |e: i64| Ratio::whole(IBig::ONE << usize::try_from(e).unwrap());
                    let (up, down) = ((-w.exponent).max(0), w.exponent.max(0));
                    Ratio::from(w.mantissa) * power(up) / power(down)
                };
                Ratio::from(gap) * one(a) * one(b)
            };
            let (a, b) = (weight(a), weight(b));
            let (first, second) = (gaps.0 >> shift, gaps.1);
            let (x, y) = (Scaled::new(first, a, b), Scaled::new(second, b, b));
            prop_assert_eq!(x.ratio(), product(first, a, b));
            prop_assert_eq!(x.cmp(&y), product(first, a, b).cmp(&product(second, b, b)));
        }

        #[test]
        fn the_search_finds_the_widest_window_in_a_fixed_number_of_steps(
            mut lows in proptest::collection::vec(-1000i64..0, 1..40),
            mut highs in proptest::collection::vec(0i64..1000, 40),
            spread in 0u32..20,
            beta in 1u64..2000,
        ) {
            lows.sort_unstable_by(|a, b| b.cmp(a));
            for low in &mut lows {
                *low <<= spread;
            }
            highs.truncate(lows.len());
            highs.sort_unstable();
            let list = weights(&Ratio::new(1, beta), |weights| weights.len() > 40);
            let ends = Ends { lows: &lows, highs: &highs, weights: &list };
            let mut found = Scaled::ZERO;
            let compared = ends.widest(&mut found);
            let all = (0..lows.len()).flat_map(|row| (0..highs.len()).map(move |column| (row, column)));
            let naive = all.map(|(row, column)| {
                Scaled::new(highs[column].abs_diff(lows[row]), list[column], list[row])
            });
            prop_assert_eq!(found, naive.max().unwrap());
            let rows = (lows.len() + 1).next_power_of_two();
            let levels = rows.ilog2() as usize;
            prop_assert_eq!(compared, levels * lows.len() + rows - 1 - levels);
        }
    }
}
