//! Hyperbolic functions and their inverses: distances in the half-plane, which heavy-tailed noise loses.

use super::Interval;

impl Interval {
    /// The hyperbolic sine.
    #[must_use]
    pub fn sinh(&self) -> Self {
        self.exp().sub(&self.neg().exp()).div_small(2)
    }

    /// The hyperbolic cosine.
    #[must_use]
    pub fn cosh(&self) -> Self {
        self.exp().add(&self.neg().exp()).div_small(2)
    }

    /// The number at least zero with this hyperbolic sine. Ends below zero count as zero.
    #[must_use]
    pub fn asinh(&self) -> Self {
        let x = self.max(&Self::zero(self.bits));
        x.add(&x.square().add(&Self::one(self.bits)).sqrt()).ln().max(&Self::zero(self.bits))
    }

    /// The number at least zero with this hyperbolic cosine. Ends below one count as one.
    #[must_use]
    pub fn acosh(&self) -> Self {
        let one = Self::one(self.bits);
        let x = self.max(&one);
        x.add(&x.square().sub(&one).sqrt()).ln().max(&Self::zero(self.bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio::Ratio;
    use proptest::prelude::*;

    #[test]
    fn known_digits() {
        let one = Interval::one(160);
        for (found, low) in [
            (one.sinh(), "1.17520119364380145688238185059560081515"),
            (one.cosh(), "1.54308063481524377847790562075706168260"),
            (one.asinh(), "0.88137358701954302523260932497979230902"),
            (one.add(&one).acosh(), "1.31695789692481670862504634730796844402"),
        ] {
            let low: Ratio = low.parse().unwrap();
            let high = &low + &"1e-38".parse().unwrap();
            assert!(found.lower() <= high && low <= found.upper(), "{}", found.to_f64());
            assert!(found.upper() - found.lower() < "1e-40".parse().unwrap());
        }
        assert!(Interval::zero(160).acosh().upper() < "1e-20".parse().unwrap());
        assert!(Interval::zero(160).asinh().upper() < "1e-40".parse().unwrap());
    }

    proptest! {
        #[test]
        fn inverses_undo_them(num in 1i64..20_000) {
            let x = Interval::exact(&Ratio::new(num, 1000), 160);
            for back in [x.sinh().asinh(), x.cosh().acosh()] {
                prop_assert!(back.lower() <= x.upper() && x.lower() <= back.upper());
                prop_assert!((back.upper() - back.lower()).to_f64() < 1e-30);
            }
            let unit = x.cosh().square().sub(&x.sinh().square());
            prop_assert!(unit.lower() <= Ratio::one() && Ratio::one() <= unit.upper());
        }
    }
}
