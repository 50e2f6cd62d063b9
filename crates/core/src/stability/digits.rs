//! Decimals of a few significant digits as whole numbers: a coarse public lattice without bounds.
//!
//! # Claim
//!
//! With `digits` = d the lattice is zero and the decimals `±m·10^e` with d digits in m, for every e that floats reach. Whole
//! numbers below `10^wholes` are among them whatever their digits, and near zero steps get no shorter than `10^lowest`.
//! Places are contiguous whole numbers in the order of the decimals, zero at zero. Every finite float has one place, that of
//! the nearest decimal, halves away from zero; a float beyond the largest decimal has the place of that.
//!
//! # Why
//!
//! 1. Which decimal is nearest depends on the float alone, so neighbouring files stay neighbouring rows.
//! 2. Nearest decimals of rising floats rise or stay, and halves are decided by their sign alone, so places are in the order
//!    of floats. A map that keeps the order takes the row of a rank to the row of that rank: rounding the few rows of a
//!    window is rounding all rows and taking the window then ([`Window::mapped`](super::Window::mapped)).
//! 3. Up to 15 digits the float nearest to a decimal is nearest to no other one, so the place of a place's float is the
//!    place. Among the smallest floats, which have fewer digits themselves, a step of `10^-323` is two of theirs.
//! 4. Steps are counted in floats where their error, less than 2^-50 of the count, cannot move it over a half; else exactly.
//!
//! # Example
//!
//! ```
//! use equipoise_core::stability::digits::Digits;
//!
//! let seven = Digits::new(7)?;
//! let rounded = |value: f64| seven.float(seven.place(value));
//! assert_eq!([rounded(36_637.169_2), rounded(-0.0012345678)], [36_637.17, -0.001234568]);
//! // A whole number below 10^10 is itself: seconds since 1970, populations, incomes.
//! assert_eq!(rounded(1_700_123_456.0), 1_700_123_456.0);
//! assert_eq!(seven.place(1.0) + 1, seven.place(1.000001));
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{
    Range,
    lattice::{FLOATS, clean, float},
};
use crate::{adjacency::Adjacency, loss::ParameterError, ratio::Ratio};
use dashu_int::{IBig, UBig};
use std::sync::Arc;

/// The most digits that every float of a lattice is told apart by.
pub const MOST_DIGITS: u32 = 15;

/// Which decimals a lattice has; all public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Significant digits: from 1 to 15.
    pub digits: u32,
    /// Whole numbers with at most so many digits are in the lattice, whatever `digits` is.
    pub wholes: i32,
    /// The power of ten of the shortest step, at most zero.
    pub lowest: i32,
    /// The power of ten of the largest decimals, at least `lowest + digits`.
    pub highest: i32,
}

impl Shape {
    /// All magnitudes that floats have, and whole numbers below 10^10.
    fn of_all_floats(digits: u32) -> Self {
        Self { digits, wholes: 10, lowest: -323, highest: 308 }
    }
}

/// A lattice of decimals.
#[derive(Clone, Debug)]
pub struct Digits {
    shape: Shape,
    tables: Arc<Tables>,
}

/// A lattice is what its shape says.
impl PartialEq for Digits {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape
    }
}

impl Eq for Digits {}

/// What follows from the shape.
#[derive(Debug)]
struct Tables {
    decades: Vec<Decade>,
    /// The decade of each power of two, by the exponent bits of its float.
    by_exponent: Vec<usize>,
    /// The place of the largest decimal.
    last: i64,
}

/// Decimals with one step: those from a power of ten to below the next, or from zero on.
#[derive(Clone, Debug)]
struct Decade {
    /// The step is ten to this power.
    step: i32,
    /// How many steps the first decimal is from zero.
    first: i64,
    /// The place of the first decimal.
    start: i64,
    /// The float nearest to the first decimal.
    from: f64,
    /// Two floats whose product is about one over the step, each next to a power of ten.
    scale: [f64; 2],
}

/// What a count of steps in floats may be off by, as a part of it: four factors, each off by 2^-53 at most.
const ERROR: f64 = 1.0 / (1u64 << 50) as f64;

impl Digits {
    /// Decimals of so many digits, of every magnitude.
    pub fn new(digits: u32) -> Result<Self, ParameterError> {
        if !(1..=MOST_DIGITS).contains(&digits) {
            return Err(ParameterError::out_of_range("digits", digits, "give a whole number from 1 to 15"));
        }
        Ok(Self::shaped(Shape::of_all_floats(digits)))
    }

    /// The same without whole numbers of more digits: where digits are few, so are the values. Three are a million, in place of
    /// the twenty thousand million that whole numbers below 10^10 are.
    pub fn without_wholes(digits: u32) -> Result<Self, ParameterError> {
        let shape = Self::new(digits)?.shape;
        Ok(Self::shaped(Shape { wholes: 0, ..shape }))
    }

    /// The lattice of any shape, for audits: a handful of decimals run the same lines as all. Panics where there is none.
    pub fn shaped(shape: Shape) -> Self {
        let Shape { digits, wholes, lowest, highest } = shape;
        assert!((1..=MOST_DIGITS).contains(&digits) && lowest <= 0 && wholes <= 15, "a shape of decimals");
        let digits = i32::try_from(digits).expect("a few");
        let mut decades = vec![Decade::new(lowest, 0, 0, 0.0)];
        let mut start = power(digits);
        for top in lowest + digits..=highest {
            let step = if top < wholes { (top + 1 - digits).min(0) } else { top + 1 - digits };
            let first = power(top - step);
            decades.push(Decade::new(step, first, start, nearest_float(1, top)));
            start += 9 * first;
        }
        let by_exponent = (0..2047u64).map(|bits| {
            let least = f64::from_bits(bits << 52);
            decades.partition_point(|decade| decade.from <= least) - 1
        });
        let by_exponent = by_exponent.collect();
        let mut made = Self { shape, tables: Arc::new(Tables { decades, by_exponent, last: start - 1 }) };
        let largest = made.at_most(&Ratio::from_f64_exact(f64::MAX).expect("finite"));
        Arc::get_mut(&mut made.tables).expect("nobody else has it").last = largest;
        made
    }

    /// Which decimals it has.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// How many significant digits its decimals have at least.
    pub fn digits(&self) -> u32 {
        self.shape.digits
    }

    /// All places.
    pub fn range(&self) -> Range {
        Range { lo: -self.tables.last, hi: self.tables.last }
    }

    /// The place of the decimal nearest to a finite float, halves away from zero.
    pub fn place(&self, value: f64) -> i64 {
        let size = value.abs();
        let place = self.decade(size).place(size).min(self.tables.last);
        if value < 0.0 { -place } else { place }
    }

    /// One record as a place in the range, cleaned for this adjacency.
    pub fn clean(&self, record: Option<f64>, range: Range, adjacency: Adjacency) -> Option<i64> {
        clean(record, range, adjacency, |value| self.place(value))
    }

    /// The decimal at a place, exactly; the largest one beyond it.
    pub fn value(&self, place: i64) -> Ratio {
        let (steps, step) = self.decimal(place);
        let size = Ratio::from(steps) * ten_to(step);
        if place < 0 { Ratio::zero() - size } else { size }
    }

    /// The float nearest to the decimal at a place.
    pub fn float(&self, place: i64) -> f64 {
        let (steps, step) = self.decimal(place);
        let size = nearest_float(steps, step);
        if place < 0 { -size } else { size }
    }

    /// The least and the greatest float at a place of the lattice.
    pub fn cell(&self, place: i64) -> (f64, f64) {
        // Places rise with floats: the first float at a place or beyond is found by halves.
        let first = |place: i64| {
            let (mut low, mut high) = (FLOATS.lo, FLOATS.hi);
            while low < high {
                // Rounded down, so that one end always moves.
                let middle = (low & high) + ((low ^ high) >> 1);
                if self.place(float(middle).expect("finite")) < place {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        let last = if place < self.tables.last { first(place + 1) - 1 } else { FLOATS.hi };
        (float(first(place)).expect("finite"), float(last).expect("finite"))
    }

    /// The places of the decimals from one number to another, where there are any.
    pub fn between(&self, low: &Ratio, high: &Ratio) -> Option<Range> {
        let least = -self.signed_at_most(&(Ratio::zero() - low));
        Range::new(least, self.signed_at_most(high)).ok()
    }

    /// The place of the largest decimal that is not above this number.
    fn signed_at_most(&self, number: &Ratio) -> i64 {
        if !number.is_negative() {
            return self.at_most(number);
        }
        let size = number.abs();
        let below = self.at_most(&size);
        -below - i64::from(self.value(below) < size)
    }

    /// The place of the largest decimal that is not above this number, which is not below zero.
    fn at_most(&self, size: &Ratio) -> i64 {
        let decades = &self.tables.decades;
        let decade =
            decades.partition_point(|decade| Ratio::from(decade.first) * ten_to(decade.step) <= *size);
        let decade = &decades[decade - 1];
        let steps = (size / &ten_to(decade.step)).floor_i64().unwrap_or(i64::MAX);
        (steps - decade.first).saturating_add(decade.start).min(self.tables.last)
    }

    /// How many steps from zero a place is, and of which power of ten.
    fn decimal(&self, place: i64) -> (i64, i32) {
        let place = place.saturating_abs().min(self.tables.last);
        let decades = &self.tables.decades;
        let decade = &decades[decades.partition_point(|decade| decade.start <= place) - 1];
        (place - decade.start + decade.first, decade.step)
    }

    /// The decade that a float which is not below zero lies in. A float that is nearest to a power of ten and below it is taken
    /// to lie above: it has that power's place either way.
    fn decade(&self, size: f64) -> &Decade {
        let Tables { decades, by_exponent, .. } = &*self.tables;
        let exponent = usize::try_from(size.to_bits() >> 52).expect("eleven bits");
        let mut at = by_exponent[exponent.min(by_exponent.len() - 1)];
        while decades.get(at + 1).is_some_and(|next| next.from <= size) {
            at += 1;
        }
        &decades[at]
    }
}

impl Decade {
    fn new(step: i32, first: i64, start: i64, from: f64) -> Self {
        // Ten to the 323 is beyond floats, but not in two factors.
        let more = (-step - 300).max(0);
        Self { step, first, start, from, scale: [nearest_float(1, -step - more), nearest_float(1, more)] }
    }

    fn place(&self, size: f64) -> i64 {
        self.start.saturating_add(self.steps(size) - self.first)
    }

    /// The nearest number of steps, halves up.
    fn steps(&self, size: f64) -> i64 {
        let near = size * self.scale[0] * self.scale[1];
        let whole = near.floor();
        let rest = near - whole;
        if (rest - 0.5).abs() > near * ERROR {
            #[expect(clippy::cast_possible_truncation, reason = "below 2^50, where halves are told apart")]
            return whole as i64 + i64::from(rest > 0.5);
        }
        self.exact_steps(size)
    }

    /// The same by whole numbers. Exact halves are met where the step is at most ten to the 22, or one over that, so that
    /// long division is as rare as the error of floats whatever the rows.
    fn exact_steps(&self, size: f64) -> i64 {
        let bits = size.to_bits();
        let (fraction, biased) = (bits & ((1 << 52) - 1), i32::try_from(bits >> 52).expect("eleven bits"));
        let (mantissa, exponent) =
            if biased == 0 { (fraction, -1074) } else { (fraction + (1 << 52), biased - 1075) };
        self.short_steps(mantissa.into(), exponent).unwrap_or_else(|| {
            let steps = Ratio::from_f64_exact(size).expect("finite") / ten_to(self.step);
            (steps + Ratio::new(1, 2)).floor_i64().unwrap_or(i64::MAX)
        })
    }

    /// `mantissa · 2^exponent / 10^step` in 128 bits, halves up, where all of it fits.
    fn short_steps(&self, mantissa: u128, exponent: i32) -> Option<i64> {
        let fives = 5u128.checked_pow(self.step.unsigned_abs()).filter(|fives| *fives < 1 << 63)?;
        let (above, below) = if self.step < 0 { (mantissa * fives, 1) } else { (mantissa, fives) };
        let twos = exponent - self.step;
        // One bit more is needed to double it.
        let shifted = |number: u128| {
            (twos.unsigned_abs() + 2 <= number.leading_zeros()).then(|| number << twos.unsigned_abs())
        };
        let (above, below) = if twos < 0 { (above, shifted(below)?) } else { (shifted(above)?, below) };
        i64::try_from((2 * above + below) / (2 * below)).ok()
    }
}

/// Ten to a power that 64 bits hold.
fn power(exponent: i32) -> i64 {
    10i64.pow(u32::try_from(exponent).expect("not below zero"))
}

/// Ten to any power, exactly.
fn ten_to(exponent: i32) -> Ratio {
    let power = UBig::from(10u32).pow(usize::try_from(exponent.unsigned_abs()).expect("a few hundred"));
    let power = Ratio::from_parts(IBig::from(power), UBig::ONE);
    if exponent < 0 { power.recip() } else { power }
}

/// The float nearest to a decimal: reading one rounds correctly.
fn nearest_float(steps: i64, step: i32) -> f64 {
    format!("{steps}e{step}").parse().expect("a decimal")
}

#[cfg(test)]
#[path = "digits_tests.rs"]
mod tests;
