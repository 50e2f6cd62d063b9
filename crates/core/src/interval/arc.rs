//! The arc tangent, for the distribution functions of the heavy-tailed laws.

use super::Interval;
use dashu_base::Signed;
use dashu_int::IBig;

impl Interval {
    /// The angle in (-pi/2, pi/2) with this tangent.
    #[must_use]
    pub fn atan(&self) -> Self {
        let low = atan_of_point(&self.low, self.bits);
        if self.low == self.high {
            return low;
        }
        let high = atan_of_point(&self.high, self.bits);
        self.map_ends(low.low, high.high)
    }
}

/// atan x for the exact dyadic x = value·2^-bits: reduced to [0, 1] by atan x = pi/2 - atan(1/x), then three
/// times by atan x = 2 atan(x / (1 + sqrt(1 + x²))), then the series.
fn atan_of_point(value: &IBig, bits: usize) -> Interval {
    if value.is_negative() {
        return atan_of_point(&-value, bits).neg();
    }
    let work = bits + 24;
    let one = Interval::one(work);
    let x = Interval { low: value.clone(), high: value.clone(), bits }.to_precision(work);
    let above_one = x.low > one.low;
    let mut x = if above_one { one.div(&x) } else { x };
    for _ in 0..3 {
        let root = one.add(&x.square()).sqrt();
        x = x.div(&one.add(&root));
    }
    let sum = series(&x).mul(&Interval::integer(8, work));
    let half_pi = Interval::pi(work).div_small(2);
    let angle = if above_one { half_pi.sub(&sum) } else { sum };
    angle.to_precision(bits)
}

/// x - x³/3 + x⁵/5 - … for 0 <= x <= tan(pi/32) < 1/10.
fn series(x: &Interval) -> Interval {
    let squared = x.square();
    let mut power = x.clone();
    let mut sum = x.clone();
    let mut index = 1u64;
    loop {
        power = power.mul(&squared);
        let term = power.div_small(2 * index + 1);
        sum = if index % 2 == 1 { sum.sub(&term) } else { sum.add(&term) };
        if term.high <= IBig::ONE {
            // The rest of an alternating series is below its first omitted term.
            sum.low -= &term.high;
            sum.high += &term.high;
            return sum;
        }
        index += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio::Ratio;
    use proptest::prelude::*;

    #[test]
    fn the_angle_of_one_is_an_eighth_of_a_turn() {
        let gap = Interval::one(160).atan().mul(&Interval::integer(4, 160)).sub(&Interval::pi(160));
        assert!(!gap.lower().is_positive() && !gap.upper().is_negative());
        assert!(gap.upper() - gap.lower() < Ratio::dyadic(IBig::ONE, 150));
        assert!(Interval::zero(64).atan().to_f64().abs() < 1e-18);
    }

    proptest! {
        #[test]
        fn the_tangent_undoes_it(num in -1_000_000i64..1_000_000, den in 1u64..100_000) {
            let x = Interval::exact(&Ratio::new(num, den), 200);
            let angle = x.atan();
            prop_assert!((angle.to_f64() - (num as f64 / den as f64).atan()).abs() < 1e-12);
            let two_pi = Interval::pi(200).mul(&Interval::integer(2, 200));
            let turns = angle.neg().max(&angle).div(&two_pi);
            let (sin, cos) = turns.sin_cos_turns();
            let back = sin.div(&cos);
            let x = x.neg().max(&x);
            prop_assert!(back.lower() <= x.upper() && x.lower() <= back.upper());
            prop_assert!((back.upper() - back.lower()).to_f64() < 1e-35 * (1.0 + x.to_f64().powi(2)));
        }
    }
}
