//! What is known of a real number so far, and the few functions that real noise is made of.
//!
//! A [`Span`] may be open towards infinity: while the first known bits of a uniform number are all zero,
//! its logarithm has no lower bound. The functions here take a uniform number of which some bits are
//! known. Each is monotone on the piece it is used on, so that its exact values at the two ends of the
//! uniform's cell enclose it tightly; where the cell is so small that the slope is nearly constant, one
//! value and a bound on the slope stand for both.

use crate::{
    coins::Uniform,
    interval::{Interval, point},
    ratio::Ratio,
};
use dashu_base::{BitTest, DivEuclid, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, UBig};

/// A real number known to lie in `[low, high]·2^-bits`; a missing end is infinite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    low: Option<IBig>,
    high: Option<IBig>,
    bits: usize,
}

/// How closely a real variable is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Look {
    /// Ends are multiples of `2^-bits`.
    pub bits: usize,
    /// A number beyond `2^reach` may count as infinite. Whether it is below is all that is asked.
    pub reach: usize,
}

impl Span {
    /// Nothing is known.
    pub fn everything(bits: usize) -> Self {
        Self { low: None, high: None, bits }
    }

    pub(crate) fn new(low: Option<IBig>, high: Option<IBig>, bits: usize) -> Self {
        debug_assert!(low.is_none() || high.is_none() || low <= high);
        Self { low, high, bits }
    }

    /// The lower end in units of `2^-bits`, `None` where there is none.
    pub(crate) fn low_scaled(&self) -> Option<&IBig> {
        self.low.as_ref()
    }

    /// The upper end in units of `2^-bits`, `None` where there is none.
    pub(crate) fn high_scaled(&self) -> Option<&IBig> {
        self.high.as_ref()
    }

    /// The lower end, `None` where there is none.
    pub fn lower(&self) -> Option<Ratio> {
        Some(Ratio::dyadic(self.low.clone()?, self.bits))
    }

    /// The upper end, `None` where there is none.
    pub fn upper(&self) -> Option<Ratio> {
        Some(Ratio::dyadic(self.high.clone()?, self.bits))
    }

    /// The precision: ends are multiples of `2^-bits`.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The negated number.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { low: self.high.map(|end| -end), high: self.low.map(|end| -end), bits: self.bits }
    }

    /// The number, negated if asked.
    pub(crate) fn signed(self, negative: bool) -> Self {
        if negative { self.negated() } else { self }
    }

    /// `offset + scale` times the number, for a scale above zero, at this precision or a coarser one.
    pub(crate) fn placed(&self, offset: &Ratio, scale: &Ratio, bits: usize) -> Self {
        let offset_den = IBig::from(offset.denominator().clone());
        let scale_den = IBig::from(scale.denominator().clone());
        let constant = (offset.numerator() * &scale_den) << self.bits;
        let slope = scale.numerator() * &offset_den;
        let divisor = (offset_den * scale_den) << (self.bits - bits);
        let low = self.low.as_ref().map(|end| (&constant + &slope * end).div_euclid(&divisor));
        let high = self.high.as_ref().map(|end| -(-(&constant + &slope * end)).div_euclid(&divisor));
        Self { low, high, bits }
    }

    /// Certainly less than the other number, at the same precision.
    pub fn certainly_below(&self, other: &Self) -> bool {
        assert_eq!(self.bits, other.bits, "spans of different precision do not mix");
        matches!((&self.high, &other.low), (Some(high), Some(low)) if high < low)
    }

    /// How far apart the ends are: whether infinitely, and else how many units.
    pub(crate) fn width(&self) -> (bool, IBig) {
        match (&self.low, &self.high) {
            (Some(low), Some(high)) => (false, high - low),
            _ => (true, IBig::ZERO),
        }
    }

    /// The number times an exact factor above zero.
    pub(crate) fn scaled(&self, factor: &Ratio) -> Self {
        let (num, den) = (factor.numerator(), IBig::from(factor.denominator().clone()));
        // A quotient by a positive divisor, cut towards minus infinity.
        let low = self.low.as_ref().map(|end| (end * num).div_euclid(den.clone()));
        let high = self.high.as_ref().map(|end| -(-(end * num)).div_euclid(den.clone()));
        Self { low, high, bits: self.bits }
    }

    /// This number, at least zero, times a number in [-1, 1]: the two are independent, so this is tight.
    fn times(&self, factor: &Interval, bits: usize) -> Self {
        let down = self.bits + factor.bits() - bits;
        let (least, most) = (factor.low_scaled(), factor.high_scaled());
        let near = self.low.as_ref().expect("at least zero");
        let product = |size: Option<&IBig>, factor: &IBig| Some(size? * factor);
        let low = product(if *least < IBig::ZERO { self.high.as_ref() } else { Some(near) }, least);
        let high = product(if *most > IBig::ZERO { self.high.as_ref() } else { Some(near) }, most);
        // A shift cuts towards minus infinity.
        Self { low: low.map(|end| end >> down), high: high.map(|end| -(-end >> down)), bits }
    }
}

/// Everything between `numerator` and `numerator + 1` in units of `2^-bits`; a part of [0, 1].
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    numerator: UBig,
    bits: usize,
}

impl Cell {
    /// Where the uniform number lies.
    pub(crate) fn of(uniform: &Uniform) -> Self {
        Self { numerator: uniform.numerator().clone(), bits: uniform.known() }
    }

    /// The uniform number folded at one half: whether it is below, and where twice its distance from the
    /// nearer of 0 and 1 lies. `None` while not even its first bit is known.
    pub(crate) fn folded(uniform: &Uniform) -> Option<(bool, Self)> {
        let bits = uniform.known().checked_sub(1)?;
        let numerator = uniform.numerator();
        let below = !numerator.bit(bits);
        let numerator =
            if below { numerator.clone() } else { (UBig::ONE << (bits + 1)) - UBig::ONE - numerator };
        Some((below, Self { numerator, bits }))
    }

    /// Half the number.
    #[cfg(test)]
    pub(crate) fn halved(&self) -> Self {
        Self { numerator: self.numerator.clone(), bits: self.bits + 1 }
    }

    fn end(&self) -> UBig {
        &self.numerator + UBig::ONE
    }

    /// Minus the logarithm. It falls from infinity at 0 to 0 at 1.
    pub(crate) fn neg_ln(&self, bits: usize) -> Span {
        if self.numerator == UBig::ZERO {
            let low = point::ln(&UBig::ONE, self.bits, bits).neg();
            return Span::new(Some(at_least_zero(low.low_scaled())), None, bits);
        }
        let ln = ln_between(&self.numerator, &self.end(), self.bits, bits).neg();
        Span::new(Some(at_least_zero(ln.low_scaled())), Some(ln.high_scaled().clone()), bits)
    }

    /// The number to the power of minus `exponent`, less one. It falls from infinity at 0 to 0 at 1.
    /// Off by a few units of `2^-bits`, and by about `2^-relative_bits` of itself.
    pub(crate) fn power_excess(&self, exponent: &Ratio, look: Look, relative_bits: usize) -> Span {
        // An error of the exponent is multiplied by the result.
        let work = relative_bits + exponent.ceil_big().unsigned_abs().bit_len() + 8;
        let ln = self.neg_ln(work);
        let one = IBig::ONE << look.bits;
        let (num, den) = (exponent.numerator(), IBig::from(exponent.denominator().clone()));
        let down = |end: &IBig| (end * num / &den).unsigned_abs();
        let up = |end: &IBig| down(end) + UBig::ONE;
        let low = down(ln.low_scaled().expect("minus a logarithm is at least zero"));
        // 0.6931 < ln 2 < 0.6932.
        let far = |tenth_thousands: usize| (UBig::from(look.reach * tenth_thousands) << work) / 10_000u32;
        if low > far(6932) {
            return Span::new(Some((IBig::ONE << (look.reach + look.bits)) - one), None, look.bits);
        }
        let at_low = point::exp(&low, work, look.bits);
        let high = ln.high_scaled().map(up).filter(|high| *high <= far(6932) + (UBig::ONE << work));
        let high = high.map(|high| {
            let step = &high - &low;
            if step.bit_len() + 24 < work {
                // e^(x+d) <= e^x·(1+2d) for d <= 1.
                at_low.high_scaled() + ((at_low.high_scaled() * IBig::from(step)) >> (work - 1)) + IBig::ONE
            } else {
                point::exp(&high, work, look.bits).high_scaled().clone()
            }
        });
        let low = at_least_zero(&(at_low.low_scaled() - &one));
        Span::new(Some(low), high.map(|end| end - one), look.bits)
    }

    /// The cotangent of `pi/2` times the number. It falls from infinity at 0 to 0 at 1.
    pub(crate) fn cot_quarter(&self, look: Look) -> Span {
        let Look { bits, reach } = look;
        let at = |numerator: &UBig| point::cot_quarter(numerator, self.bits, bits, reach);
        let beyond = IBig::ONE << (reach + bits);
        let high = (self.numerator != UBig::ZERO).then(|| at(&self.numerator));
        let low = match &high {
            Some(high) if self.numerator.bit_len() >= SMALL_CELL => {
                // The slope is at most (pi/2)·(1 + cot²) <= 2·(1 + cot²), steepest at the left end.
                let squared = high.high_scaled() * high.high_scaled();
                let slope = ((IBig::ONE << (2 * bits)) + squared) >> (bits + self.bits - 1);
                high.low_scaled() - slope - IBig::ONE
            }
            _ => at(&self.end()).low_scaled().clone(),
        };
        if low > beyond {
            return Span::new(Some(beyond), None, bits);
        }
        let high = high.map(|high| high.high_scaled().clone()).filter(|high| *high <= beyond << 1);
        Span::new(Some(at_least_zero(&low)), high, bits)
    }

    /// The cosine of pi times the number. It falls from 1 at 0 to -1 at 1.
    fn cos_half_turns(&self, bits: usize) -> Interval {
        let one = Interval::one(bits);
        let cos = if self.bits >= SMALL_CELL {
            // The slope is at most pi < 4; four units of the cell, and one for the cut.
            let at = point::cos_turns(&self.numerator, self.bits + 1, bits);
            let slope = (IBig::from(4) << bits >> self.bits) + IBig::ONE;
            Interval::dyadic(at.low_scaled() - slope, at.high_scaled().clone(), bits, bits)
        } else {
            let at = |numerator: &UBig| point::cos_turns(numerator, self.bits + 1, bits);
            at(&self.numerator).hull(&at(&self.end()))
        };
        cos.min(&one).max(&one.neg())
    }
}

/// From so many known bits on, one value and a bound on the slope stand for both ends.
const SMALL_CELL: usize = 48;

fn at_least_zero(end: &IBig) -> IBig {
    end.clone().max(IBig::ZERO)
}

/// The logarithm of everything between two numbers in units of `2^-scale`, the lower one above zero.
fn ln_between(low: &UBig, high: &UBig, scale: usize, bits: usize) -> Interval {
    let at_low = point::ln(low, scale, bits);
    let step = high - low;
    if low.bit_len() < step.bit_len() + SMALL_CELL {
        return at_low.hull(&point::ln(high, scale, bits));
    }
    // ln(x+d) <= ln x + d/x.
    let slope = IBig::from((step << bits) / low) + IBig::ONE;
    Interval::dyadic(at_low.low_scaled().clone(), at_low.high_scaled() + slope, bits, bits)
}

/// The logarithm of a number that is at least zero: without a lower end while zero is possible.
pub(crate) fn ln(span: &Span) -> Span {
    let bits = span.bits;
    let positive = |end: &Option<IBig>| end.clone().filter(|end| *end > IBig::ZERO).map(IBig::unsigned_abs);
    match (positive(&span.low), positive(&span.high)) {
        (Some(low), Some(high)) => {
            let ln = ln_between(&low, &high, bits, bits);
            Span::new(Some(ln.low_scaled().clone()), Some(ln.high_scaled().clone()), bits)
        }
        (low, high) => Span::new(
            low.map(|low| point::ln(&low, bits, bits).low_scaled().clone()),
            high.map(|high| point::ln(&high, bits, bits).high_scaled().clone()),
            bits,
        ),
    }
}

/// The square root of a number that is at least zero, at another precision.
pub(crate) fn sqrt(span: &Span, bits: usize) -> Span {
    let root = |end: &IBig| IBig::from((end.clone().unsigned_abs() << (2 * bits - span.bits)).sqrt());
    Span::new(span.low.as_ref().map(root), span.high.as_ref().map(|end| root(end) + IBig::ONE), bits)
}

/// A radius of at least zero times the cosine of a uniform angle.
pub(crate) fn polar(radius: &Span, angle: &Uniform, look: Look) -> Span {
    // An error of the cosine is multiplied by the radius, which is below 2^reach.
    let bits = look.bits + look.reach + 2;
    let cos = Cell::folded(angle).map(|(_, cell)| cell.cos_half_turns(bits));
    let anything = || Interval::one(bits).neg().hull(&Interval::one(bits));
    radius.times(&cos.unwrap_or_else(anything), look.bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FINE: usize = 1600;

    fn end_value(numerator: &UBig, bits: usize) -> Interval {
        Interval::exact(&Ratio::dyadic(numerator.clone().into(), bits), FINE)
    }

    /// Does the span contain both values, and at most twice what lies between them on either side?
    fn tight(span: &Span, low: &Interval, high: Option<&Interval>) -> bool {
        let (low, unit) = (low.to_precision(FINE), Ratio::dyadic(IBig::ONE, span.bits));
        let room = &unit * Ratio::from(16u64);
        let Some(span_low) = span.lower() else { return false };
        let Some(high) = high else { return span_low <= low.upper() && low.lower() <= span_low + room };
        let Some(span_high) = span.upper() else { return false };
        let true_width = high.upper() - low.lower();
        let close = &room + &true_width * Ratio::from(2u64);
        span_low <= low.upper()
            && low.lower() - &span_low <= close
            && span_high >= high.lower()
            && span_high - high.upper() <= close
    }

    fn any_cell() -> impl Strategy<Value = Cell> {
        let word = prop_oneof![1 => Just(0u64), 1 => Just(u64::MAX), 8 => any::<u64>()];
        (word.clone(), word, 1usize..=128, 0usize..128).prop_map(|(a, b, bits, zeros)| {
            let words = (UBig::from(a) << 64) + UBig::from(b);
            Cell { numerator: words >> (128 - bits) >> (zeros % bits), bits }
        })
    }

    /// Few digits of the logarithm make powers rough, and never too narrow; large exponents take more digits.
    #[test]
    fn rough_powers_contain_both_ends() {
        let look = Look { bits: 120, reach: 60 };
        for (top, exponent) in [(3u64, "1"), (7, "3/7"), (100, "19/3"), (1000, "1000/3"), (999, "77")] {
            let exponent: Ratio = exponent.parse().unwrap();
            // From top/(top+1) on, in a cell of 2^-80.
            let cell = Cell { numerator: (UBig::from(top) << 80) / UBig::from(top + 1), bits: 80 };
            let at = |numerator: &UBig| {
                let power = end_value(numerator, cell.bits).ln().neg().mul_ratio(&exponent).exp();
                power.sub(&Interval::one(FINE))
            };
            let (low, high) = (at(&cell.end()), at(&cell.numerator));
            for digits in 16..40 {
                let span = cell.power_excess(&exponent, look, digits);
                let (least, most) = (span.lower().unwrap(), span.upper().unwrap());
                assert!(least <= low.lower() && high.upper() <= most, "{top} {exponent} {digits}");
                let allowed = (high.upper() + Ratio::one()) * Ratio::dyadic(IBig::ONE, digits);
                assert!(most - least <= allowed, "{top} {exponent} {digits}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn logarithms_are_tight(cell in any_cell(), bits in 60usize..200) {
            let at = |numerator: &UBig| end_value(numerator, cell.bits).ln().neg();
            let high = (cell.numerator != UBig::ZERO).then(|| at(&cell.numerator));
            prop_assert!(tight(&cell.neg_ln(bits), &at(&cell.end()), high.as_ref()));
        }

        #[test]
        fn powers_are_tight(cell in any_cell(), bits in 60usize..150, num in 1i64..20, den in 1u64..20) {
            let exponent = Ratio::new(num, den);
            let look = Look { bits, reach: 60 };
            let at = |numerator: &UBig| {
                end_value(numerator, cell.bits).ln().neg().mul_ratio(&exponent).exp().sub(&Interval::one(FINE))
            };
            let span = cell.power_excess(&exponent, look, bits + 60);
            let low = at(&cell.end());
            let reach = Ratio::dyadic(IBig::ONE << 60, 0);
            if low.upper() > reach {
                prop_assert!(span.lower().unwrap() <= low.upper() && span.lower().unwrap() >= &reach - Ratio::one());
            } else {
                let high = (cell.numerator != UBig::ZERO).then(|| at(&cell.numerator));
                let high = high.filter(|high| high.lower() < reach);
                match high {
                    Some(high) => prop_assert!(tight(&span, &low, Some(&high))),
                    None => prop_assert!(span.lower().unwrap() <= low.upper()),
                }
            }
        }

        #[test]
        fn cotangents_are_tight(cell in any_cell(), bits in 60usize..150) {
            let at = |numerator: &UBig| {
                let (sin, cos) = end_value(numerator, cell.bits + 2).sin_cos_turns();
                cos.div(&sin)
            };
            let span = cell.cot_quarter(Look { bits, reach: 130 });
            let high = (cell.numerator != UBig::ZERO).then(|| at(&cell.numerator));
            prop_assert!(tight(&span, &at(&cell.end()), high.as_ref()));
        }

        #[test]
        fn cosines_are_tight(cell in any_cell(), bits in 60usize..150) {
            let at = |numerator: &UBig| end_value(numerator, cell.bits + 1).sin_cos_turns().1;
            let cos = cell.cos_half_turns(bits);
            let (low, high) = (at(&cell.end()), at(&cell.numerator));
            prop_assert!(cos.lower() <= low.upper() && high.lower() <= cos.upper());
            let room = Ratio::dyadic(IBig::from(16), bits) + Ratio::dyadic(IBig::from(8), cell.bits.max(SMALL_CELL));
            prop_assert!(low.lower() - cos.lower() <= room && cos.upper() - high.upper() <= room);
        }
    }

    #[test]
    fn an_infinite_radius_leaves_the_sign_of_the_cosine() {
        let radius = Span::new(Some(IBig::from(3) << 8), None, 8);
        let factor =
            |low: &str, high: &str| Interval::between(&low.parse().unwrap(), &high.parse().unwrap(), 8);
        let spans = [("0.5", "0.75"), ("-0.75", "-0.5"), ("-0.5", "0.5"), ("0", "1")]
            .map(|(low, high)| radius.times(&factor(low, high), 8));
        let ends =
            spans.map(|span| (span.lower().map(|end| end.to_f64()), span.upper().map(|end| end.to_f64())));
        assert_eq!(ends, [(Some(1.5), None), (None, Some(-1.5)), (None, None), (Some(0.0), None)]);
    }

    #[test]
    fn placing_and_comparing_round_outwards() {
        let span = Span::new(Some(IBig::from(-5)), Some(IBig::from(5)), 3);
        let placed = span.placed(&Ratio::new(1, 3), &Ratio::new(1, 7), 2);
        assert!(placed.lower().unwrap() <= Ratio::new(1, 3) - Ratio::new(5, 56));
        assert!(placed.upper().unwrap() >= Ratio::new(1, 3) + Ratio::new(5, 56));
        let above = Span::new(Some(IBig::from(9)), None, 3);
        assert!(span.certainly_below(&above) && !above.certainly_below(&span));
        assert!(above.width() > span.width());
        let thirds = span.scaled(&Ratio::new(1, 3));
        assert_eq!(
            (thirds.low_scaled(), thirds.high_scaled()),
            (Some(&IBig::from(-2)), Some(&IBig::from(2)))
        );
    }
}
