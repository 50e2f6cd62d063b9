//! The sum of floats as if each were added exactly and the end rounded once: the same in any order, whoever adds which part.
//!
//! # Guarantee
//!
//! The sum is a function of the multiset of numbers. Finite ones are added as whole multiples of the least float, 2^-1074, of which every
//! finite float is one; the end is the float next to the exact sum, the even one of two that are as near, and infinite beyond the largest.
//! One infinity among them is the sum; both are none.
//!
//! The session crate has one like it for one table, with all 68 limbs in place; here millions of groups may each have one, so it has the few
//! limbs that its numbers reach, and can be sent between partitions.

/// Bits of a limb; the other 32 of its 64 take what is carried.
const BITS: usize = 32;
/// So many numbers can be added before a limb may be full.
const PENDING: u32 = 1 << 30;
/// The bits of a float behind its exponent.
const MANTISSA: usize = 52;
/// A float reaches three limbs; 2^63 of them two more.
const REACH: usize = 5;

/// Numbers that are added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExactSum {
    /// The place of the first limb.
    low: usize,
    limbs: Vec<i64>,
    pending: u32,
    infinite: [bool; 2],
}

impl ExactSum {
    /// One number more, which is not NaN.
    pub fn add(&mut self, number: f64) {
        if number.is_infinite() {
            self.infinite[usize::from(number > 0.0)] = true;
            return;
        }
        let bits = number.abs().to_bits();
        let exponent = bits >> MANTISSA;
        let hidden = u64::from(exponent > 0) << MANTISSA;
        let mantissa = bits & ((1 << MANTISSA) - 1) | hidden;
        let shift = usize::try_from(exponent.saturating_sub(1)).expect("eleven bits");
        let wide = u128::from(mantissa) << (shift % BITS);
        let place = shift / BITS;
        self.reach(place, place + REACH);
        let from = place - self.low;
        for (part, limb) in self.limbs[from..from + 3].iter_mut().enumerate() {
            let part = i64::try_from(wide >> (BITS * part) & 0xffff_ffff).expect("32 bits");
            *limb += if number.is_sign_negative() { -part } else { part };
        }
        self.count(1);
    }

    /// All that another has added.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.infinite.iter_mut().zip(other.infinite) {
            *mine |= theirs;
        }
        if other.limbs.is_empty() {
            return;
        }
        let mut other = other.clone();
        carry(&mut other.limbs);
        self.reach(other.low, other.low + other.limbs.len());
        let from = other.low - self.low;
        for (mine, theirs) in self.limbs[from..].iter_mut().zip(&other.limbs) {
            *mine += theirs;
        }
        self.count(1);
    }

    /// The sum; none of both infinities.
    pub fn sum(&self) -> Option<f64> {
        match self.infinite {
            [true, true] => None,
            [true, false] => Some(f64::NEG_INFINITY),
            [false, true] => Some(f64::INFINITY),
            [false, false] => Some(self.rounded()),
        }
    }

    /// Limbs from one place up to another, which is not among them.
    fn reach(&mut self, from: usize, to: usize) {
        if self.limbs.is_empty() {
            self.low = from;
        }
        if from < self.low {
            let more = self.low - from;
            self.limbs.splice(0..0, std::iter::repeat_n(0, more));
            self.low = from;
        }
        // Empty limbs above change nothing: any limb may be negative, and `carry` moves the sign to the last.
        let length = self.limbs.len().max(to - self.low);
        self.limbs.resize(length, 0);
    }

    fn count(&mut self, more: u32) {
        self.pending += more;
        if self.pending >= PENDING {
            carry(&mut self.limbs);
            self.pending = 0;
        }
    }

    fn rounded(&self) -> f64 {
        let mut limbs = self.limbs.clone();
        carry(&mut limbs);
        let negative = limbs.last().is_some_and(|&last| last < 0);
        if negative {
            for limb in &mut limbs {
                *limb = -*limb;
            }
            carry(&mut limbs);
        }
        let magnitude = nearest(self.low, &limbs);
        if negative { -magnitude } else { magnitude }
    }

    pub fn write(&self, bytes: &mut Vec<u8>) {
        let mut limbs = self.limbs.clone();
        carry(&mut limbs);
        let low = u16::try_from(self.low).expect("fewer than 70 places");
        bytes.push(u8::from(self.infinite[0]) | u8::from(self.infinite[1]) << 1);
        bytes.extend(low.to_le_bytes());
        for limb in &limbs {
            bytes.extend(limb.to_le_bytes());
        }
    }

    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (&flags, rest) = bytes.split_first()?;
        let (low, rest) = rest.split_first_chunk::<2>()?;
        let (limbs, []) = rest.as_chunks::<8>() else { return None };
        Some(Self {
            low: usize::from(u16::from_le_bytes(*low)),
            limbs: limbs.iter().map(|limb| i64::from_le_bytes(*limb)).collect(),
            pending: 1,
            infinite: [flags & 1 != 0, flags & 2 != 0],
        })
    }

    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.limbs.capacity() * size_of::<i64>()
    }
}

/// Leave 32 bits in each limb but the last, which has the sign.
fn carry(limbs: &mut [i64]) {
    for place in 1..limbs.len() {
        let over = limbs[place - 1] >> BITS;
        limbs[place - 1] &= 0xffff_ffff;
        limbs[place] += over;
    }
}

/// The float next to what limbs of 32 bits say, the first of which has this place.
fn nearest(low: usize, limbs: &[i64]) -> f64 {
    let bit = |place: usize| {
        let limb = (place / BITS).checked_sub(low).and_then(|limb| limbs.get(limb)).copied().unwrap_or(0);
        limb >> (place % BITS) & 1
    };
    let Some(top) = (0..limbs.len()).rev().find(|&limb| limbs[limb] != 0) else { return 0.0 };
    let highest = (low + top) * BITS + (63 - limbs[top].leading_zeros() as usize);
    let lowest = highest.saturating_sub(MANTISSA);
    let mantissa = (lowest..=highest).rev().fold(0u64, |bits, place| bits << 1 | bit(place).cast_unsigned());
    if lowest == 0 {
        // Multiples of the least float below 2^53 are their own bits.
        return f64::from_bits(mantissa);
    }
    let half = bit(lowest - 1) == 1;
    let below = || (low * BITS..lowest - 1).any(|place| bit(place) == 1);
    let up = half && (mantissa & 1 == 1 || below());
    // The hidden bit adds one to the exponent, and so does rounding up to a power of two.
    let bits = ((lowest as u64) << MANTISSA) + mantissa + u64::from(up);
    if bits >= f64::INFINITY.to_bits() { f64::INFINITY } else { f64::from_bits(bits) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(numbers: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        for &number in numbers {
            sum.add(number);
        }
        sum
    }

    fn sum(numbers: &[f64]) -> f64 {
        of(numbers).sum().unwrap_or(f64::NAN)
    }

    #[test]
    fn sums_by_hand() {
        let is = |numbers: &[f64], wanted: f64| {
            assert_eq!(sum(numbers).to_bits(), wanted.to_bits(), "{numbers:?}");
        };
        is(&[], 0.0);
        is(&[-0.0], 0.0);
        is(&[-3.5], -3.5);
        is(&[1e16, 1.0, -1e16], 1.0);
        is(&[0.1; 10], 1.0);
        is(&[f64::MAX, f64::MAX, -f64::MAX], f64::MAX);
        is(&[f64::MAX, f64::MAX], f64::INFINITY);
        is(&[-f64::MAX, -f64::MAX, 1.0], f64::NEG_INFINITY);
        is(&[5e-324, 5e-324, 5e-324], 1.5e-323);
        is(&[1.0, f64::EPSILON / 2.0, f64::EPSILON / 2.0], 1.0 + f64::EPSILON);
        // Half of the last digit goes to the even neighbour, and a grain more away from it.
        is(&[1.0, f64::EPSILON / 2.0], 1.0);
        is(&[1.0, f64::EPSILON / 2.0, 5e-324], 1.0 + f64::EPSILON);
        is(&[-5e-324, -f64::EPSILON / 2.0, -1.0], -1.0 - f64::EPSILON);
        is(&[f64::INFINITY, 3.0], f64::INFINITY);
        is(&[3.0, f64::NEG_INFINITY], f64::NEG_INFINITY);
        assert_eq!(of(&[f64::INFINITY, 1.0, f64::NEG_INFINITY]).sum(), None);
    }

    /// Every finite float is this many times 2^-1074, as digits of 2^32: an addition in the simplest way, to compare with.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Rational {
        negative: bool,
        digits: Vec<u32>,
    }

    impl Rational {
        fn new(number: f64) -> Self {
            let exponent = number.abs().to_bits() >> MANTISSA;
            let mantissa =
                number.abs().to_bits() & ((1 << MANTISSA) - 1) | u64::from(exponent > 0) << MANTISSA;
            let shift = exponent.saturating_sub(1);
            let mut digits = vec![0u32; 80];
            for place in 0..53u64 {
                if mantissa >> place & 1 == 1 {
                    let bit = usize::try_from(place + shift).unwrap();
                    digits[bit / 32] |= 1 << (bit % 32);
                }
            }
            Self { negative: number.is_sign_negative(), digits }
        }

        fn less(&self, other: &Self) -> bool {
            self.digits.iter().rev().lt(other.digits.iter().rev())
        }

        fn plus(&self, other: &Self) -> Self {
            if self.negative == other.negative {
                let mut over = 0u64;
                let digits = self.digits.iter().zip(&other.digits).map(|(&a, &b)| {
                    over += u64::from(a) + u64::from(b);
                    let digit = u32::try_from(over & 0xffff_ffff).unwrap();
                    over >>= 32;
                    digit
                });
                return Self { negative: self.negative, digits: digits.collect() };
            }
            if self.less(other) {
                return other.plus(self);
            }
            let mut borrow = 0i64;
            let digits = self.digits.iter().zip(&other.digits).map(|(&a, &b)| {
                borrow += i64::from(a) - i64::from(b);
                let digit = u32::try_from(borrow & 0xffff_ffff).unwrap();
                borrow >>= 32;
                digit
            });
            Self { negative: self.negative, digits: digits.collect() }
        }

        fn distance(&self, float: f64) -> Self {
            let mut distance = self.plus(&Self::new(-float));
            distance.negative = false;
            distance
        }
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            -1e3..1e3f64,
            any::<f64>().prop_filter("finite", |number| number.is_finite() && number.abs() < 1e300),
            Just(1e16),
            Just(-1e16),
            Just(0.1),
            Just(5e-324),
            Just(-0.0),
            Just(1e300),
            Just(-1e300),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn the_sum_is_the_exact_one_rounded_once(mut numbers in prop::collection::vec(number(), 0..40), cut in 0usize..40) {
            let found = sum(&numbers);
            let exact = numbers.iter().fold(Rational::new(0.0), |sum, &number| sum.plus(&Rational::new(number)));
            let off = exact.distance(found);
            prop_assert!(!exact.distance(found.next_up()).less(&off) && !exact.distance(found.next_down()).less(&off), "{found}");
            // Any order, any parts, over the wire and back.
            numbers.reverse();
            prop_assert_eq!(sum(&numbers).to_bits(), found.to_bits());
            let (first, second) = numbers.split_at(cut.min(numbers.len()));
            let mut bytes = Vec::new();
            of(second).write(&mut bytes);
            let mut merged = of(first);
            merged.merge(&ExactSum::read(&bytes).unwrap());
            prop_assert_eq!(merged.sum().unwrap().to_bits(), found.to_bits());
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
        assert_eq!(carried.sum().unwrap().to_bits(), sum(&numbers).to_bits());
    }
}
