//! The sum of floats as if each were added exactly and the end rounded once: the same in any order, whoever adds which part.
//!
//! # Guarantee
//!
//! The sum is a function of the multiset of numbers. Finite ones are added as whole multiples of the least float, 2^-1074, of which every finite
//! float is one; the end is the float next to the exact sum, the even one of two that are as near, and infinite beyond the largest. One infinity
//! among them is the sum; both are none, and so is a null.

/// Numbers of 32 bits: 2,098 bits hold every finite float, and 2^63 of the largest are 63 bits longer.
const LIMBS: usize = 68;
const BITS: usize = 32;
/// So many numbers can be added before a limb of 64 bits may be full.
const PENDING: u32 = 1 << 30;
/// The bits of a float behind its exponent.
const MANTISSA: usize = 52;

/// Numbers that are added.
#[derive(Clone)]
pub(crate) struct ExactSum {
    /// The first numbers, while there are no more than two: their sum as floats is the exact one, rounded once.
    few: [f64; 2],
    finite: u64,
    infinite: [bool; 2],
    limbs: [i64; LIMBS],
    pending: u32,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { few: [0.0; 2], finite: 0, infinite: [false; 2], limbs: [0; LIMBS], pending: 0 }
    }
}

impl ExactSum {
    /// Begin anew.
    pub fn clear(&mut self) {
        if self.finite > 2 {
            self.limbs = [0; LIMBS];
        }
        (self.few, self.finite, self.infinite, self.pending) = ([0.0; 2], 0, [false; 2], 0);
    }

    /// One number more, which is not null.
    pub fn add(&mut self, number: f64) {
        if number.is_infinite() {
            self.infinite[usize::from(number > 0.0)] = true;
            return;
        }
        self.finite += 1;
        match self.finite {
            1 => self.few[0] = number,
            2 => self.few[1] = number,
            3 => [self.few[0], self.few[1], number].into_iter().for_each(|number| self.put(number)),
            _ => self.put(number),
        }
    }

    /// The sum; not-a-number of both infinities.
    pub fn sum(&self) -> f64 {
        match self.infinite {
            [true, true] => f64::NAN,
            [true, false] => f64::NEG_INFINITY,
            [false, true] => f64::INFINITY,
            // Zero has one sign here.
            [false, false] if self.finite <= 2 => self.few[0] + self.few[1] + 0.0,
            [false, false] => self.rounded(),
        }
    }

    fn put(&mut self, number: f64) {
        let bits = number.abs().to_bits();
        let exponent = bits >> MANTISSA;
        let hidden = u64::from(exponent > 0) << MANTISSA;
        let mantissa = bits & ((1 << MANTISSA) - 1) | hidden;
        let shift = usize::try_from(exponent.saturating_sub(1)).expect("eleven bits");
        let wide = u128::from(mantissa) << (shift % BITS);
        for (place, limb) in self.limbs[shift / BITS..][..3].iter_mut().enumerate() {
            let part = i64::try_from(wide >> (BITS * place) & 0xffff_ffff).expect("32 bits");
            *limb += if number.is_sign_negative() { -part } else { part };
        }
        self.pending += 1;
        if self.pending == PENDING {
            carry(&mut self.limbs);
            self.pending = 0;
        }
    }

    fn rounded(&self) -> f64 {
        let mut limbs = self.limbs;
        carry(&mut limbs);
        let negative = limbs[LIMBS - 1] < 0;
        if negative {
            for limb in &mut limbs {
                *limb = -*limb;
            }
            carry(&mut limbs);
        }
        let magnitude = nearest(&limbs);
        if negative { -magnitude } else { magnitude }
    }
}

/// Leave 32 bits in each limb but the last, which has the sign.
fn carry(limbs: &mut [i64; LIMBS]) {
    for place in 0..LIMBS - 1 {
        let over = limbs[place] >> BITS;
        limbs[place] &= 0xffff_ffff;
        limbs[place + 1] += over;
    }
}

/// The float next to what limbs of 32 bits say.
fn nearest(limbs: &[i64; LIMBS]) -> f64 {
    let bit = |place: usize| limbs[place / BITS] >> (place % BITS) & 1;
    let Some(top) = (0..LIMBS).rev().find(|&limb| limbs[limb] != 0) else { return 0.0 };
    let highest = top * BITS + (63 - limbs[top].leading_zeros() as usize);
    let lowest = highest.saturating_sub(MANTISSA);
    let mantissa = (lowest..=highest).rev().fold(0u64, |bits, place| bits << 1 | bit(place).cast_unsigned());
    if lowest == 0 {
        // Multiples of the least float below 2^53 are their own bits.
        return f64::from_bits(mantissa);
    }
    let half = bit(lowest - 1) == 1;
    let below = || (0..lowest - 1).any(|place| bit(place) == 1);
    let up = half && (mantissa & 1 == 1 || below());
    // The hidden bit adds one to the exponent, and so does rounding up to a power of two.
    let bits = (lowest as u64) << MANTISSA;
    let bits = bits + mantissa + u64::from(up);
    if bits >= f64::INFINITY.to_bits() { f64::INFINITY } else { f64::from_bits(bits) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_core::ratio::Ratio;
    use proptest::prelude::*;

    fn sum(numbers: &[f64]) -> f64 {
        let mut sum = ExactSum::default();
        for &number in numbers {
            sum.add(number);
        }
        sum.sum()
    }

    #[test]
    fn sums_by_hand() {
        let is = |numbers: &[f64], wanted: f64| {
            assert_eq!(sum(numbers).to_bits(), wanted.to_bits(), "{numbers:?}");
        };
        is(&[], 0.0);
        is(&[-0.0], 0.0);
        is(&[1e16, 1.0, -1e16], 1.0);
        is(&[0.1; 10], 1.0);
        is(&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX);
        is(&[f64::MAX, f64::MAX, f64::MAX], f64::INFINITY);
        is(&[-f64::MAX, -f64::MAX, 1.0], f64::NEG_INFINITY);
        is(&[5e-324, 5e-324, 5e-324], 1.5e-323);
        is(&[1.0, f64::EPSILON / 2.0, f64::EPSILON / 2.0], 1.0 + f64::EPSILON);
        // Half of the last digit goes to the even neighbour, and a grain more away from it.
        is(&[1.0, f64::EPSILON / 2.0, 0.0], 1.0);
        is(&[1.0, f64::EPSILON / 2.0, 5e-324], 1.0 + f64::EPSILON);
        is(&[f64::INFINITY, 3.0], f64::INFINITY);
        is(&[3.0, f64::NEG_INFINITY], f64::NEG_INFINITY);
        assert!(sum(&[f64::INFINITY, 1.0, f64::NEG_INFINITY]).is_nan());
    }

    #[test]
    fn what_is_cleared_is_forgotten() {
        let mut all = ExactSum::default();
        for numbers in [&[1e300, -3.0, 7.0, f64::INFINITY][..], &[2.0], &[], &[1.5, 1.5, 1.5]] {
            all.clear();
            for &number in numbers {
                all.add(number);
            }
            assert_eq!(all.sum().to_bits(), sum(numbers).to_bits(), "{numbers:?}");
        }
    }

    /// Limbs are emptied in time: the same with a carry after each number.
    #[test]
    fn carries_change_nothing() {
        let numbers = [1e300, -1e300, 0.1, f64::MAX, -5e-324, 3.7e-200, -f64::MAX, 1e16];
        let mut carried = ExactSum::default();
        for &number in &numbers {
            carried.add(number);
            carry(&mut carried.limbs);
        }
        assert_eq!(carried.sum().to_bits(), sum(&numbers).to_bits());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        /// The float next to the sum of exact fractions, in any order.
        #[test]
        fn the_sum_is_the_exact_one_rounded_once(
            mut numbers in prop::collection::vec(prop_oneof![
                -1e3..1e3f64, any::<f64>().prop_filter("finite", |number| number.is_finite() && number.abs() < 1e300),
                Just(1e16), Just(-1e16), Just(0.1),
            ], 0..40),
        ) {
            let found = sum(&numbers);
            let exact = numbers.iter().fold(Ratio::zero(), |sum, &number| sum + Ratio::from_f64_exact(number).unwrap());
            let off = |float: f64| (Ratio::from_f64_exact(float).unwrap() - &exact).abs();
            prop_assert!(off(found) <= off(found.next_up()) && off(found) <= off(found.next_down()), "{found}");
            numbers.reverse();
            prop_assert_eq!(sum(&numbers).to_bits(), found.to_bits());
            let middle = numbers.len() / 2;
            numbers.rotate_left(middle);
            prop_assert_eq!(sum(&numbers).to_bits(), found.to_bits());
        }
    }
}
