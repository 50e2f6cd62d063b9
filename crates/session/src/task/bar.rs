//! A number and where the true one lies. Ends are rounded outwards at every step, so that rounding never loses the true one.

/// How far the numbers of a whole type are rounded at most, in parts: digits to a double, and by a power of ten.
const WHOLE_TO_FLOAT: f64 = 1.0 / (1u64 << 52) as f64;

/// A number and where the true one lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bar {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Bar {
    /// A whole number that is off by at most so much.
    pub fn around(value: i64, within: i64) -> Self {
        let (value, within) = (i128::from(value), i128::from(within));
        let float = |whole: i128, outwards: fn(f64) -> f64| {
            let float = whole as f64;
            #[expect(clippy::cast_possible_truncation, reason = "far from the ends of 128 bits")]
            let exact = float as i128 == whole;
            if exact { float } else { outwards(float) }
        };
        Self {
            value: value as f64,
            low: float(value - within, f64::next_down),
            high: float(value + within, f64::next_up),
        }
    }

    /// A number that is off by at most so much.
    pub fn near(value: f64, within: f64) -> Self {
        Self { value, low: value - within, high: value + within }.outwards()
    }

    /// A number that is what it says.
    pub fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// A number of a whole type, as the double next to it or the one after that.
    pub fn of_whole(value: f64) -> Self {
        Self::exact(value).widened(value.abs() * WHOLE_TO_FLOAT)
    }

    /// The same where the true one may be farther off by this.
    pub fn widened(self, by: f64) -> Self {
        Self { low: self.low - by, high: self.high + by, ..self }.outwards()
    }

    /// The product with a number that is not negative.
    pub fn times(self, factor: Self) -> Self {
        let ends = [self.low, self.high].map(|end| [end * factor.low.max(0.0), end * factor.high]);
        Self::spanning(self.value * factor.value, ends.as_flattened())
    }

    /// The quotient by a number of at least one.
    pub fn over(self, count: Self) -> Self {
        let (few, many) = (count.low.max(1.0), count.high.max(1.0));
        let ends = [self.low / few, self.low / many, self.high / few, self.high / many];
        Self::spanning(self.value / count.value.max(1.0), &ends)
    }

    /// The quotient by a positive number that is what it says, however small.
    pub fn divided(self, by: f64) -> Self {
        Self { value: self.value / by, low: self.low / by, high: self.high / by }.outwards()
    }

    /// The sum.
    pub fn plus(self, more: Self) -> Self {
        Self { value: self.value + more.value, low: self.low + more.low, high: self.high + more.high }
            .outwards()
    }

    /// The product of two numbers of any sign.
    pub fn multiplied(self, other: Self) -> Self {
        let ends = [self.low, self.high].map(|end| [end * other.low, end * other.high]);
        Self::spanning(self.value * other.value, ends.as_flattened())
    }

    /// The difference.
    pub fn less(self, other: Self) -> Self {
        Self { value: self.value - other.value, low: self.low - other.high, high: self.high - other.low }
            .outwards()
    }

    /// The quotient by the roots of two numbers above zero.
    pub fn over_roots(self, [one, other]: [Self; 2]) -> Self {
        let below = one.multiplied(other).sqrt();
        let few = below.low.max(f64::MIN_POSITIVE);
        let ends = [self.low / few, self.low / below.high, self.high / few, self.high / below.high];
        Self::spanning(self.value / below.value.max(f64::MIN_POSITIVE), &ends)
    }

    /// The difference to a square, which is not negative.
    pub fn minus_square(self, other: Self) -> Self {
        let squares = [other.low * other.low, other.high * other.high];
        let least = if other.low <= 0.0 && other.high >= 0.0 { 0.0 } else { squares[0].min(squares[1]) };
        let most = squares[0].max(squares[1]);
        let difference = Self {
            value: self.value - other.value * other.value,
            low: self.low - most.next_up(),
            high: self.high - least.next_down().max(0.0),
        };
        difference.outwards().at_least_zero()
    }

    /// The root of what is not negative.
    pub fn sqrt(self) -> Self {
        let root = |value: f64| value.max(0.0).sqrt();
        Self { value: root(self.value), low: root(self.low), high: root(self.high) }
            .outwards()
            .at_least_zero()
    }

    /// The same where the true one is not negative.
    pub fn at_least_zero(self) -> Self {
        self.between(0.0, f64::INFINITY)
    }

    /// The same where the true one lies between these. The number is moved there, its ends with it, and then the ends are cut.
    ///
    /// No coverage is lost. Let the true one lie between the ends of the bar, and between these. Where the number was moved
    /// up, the upper end was too, so that it is still not below the true one; and the lower end becomes `low`, which is not
    /// above it. Down is the same, and a cut leaves out only what cannot be. Nor does the bar become empty or a point: where
    /// the number was moved to `low`, the upper end stays as far above it as it was.
    pub fn between(self, low: f64, high: f64) -> Self {
        let value = self.value.clamp(low, high);
        let moved = value - self.value;
        let far = |end: f64, outwards: fn(f64) -> f64| {
            let end = end + moved;
            // A far move swallows a short bar.
            if end.total_cmp(&value).is_eq() { outwards(value) } else { end }
        };
        let (lower, upper) = if moved > 0.0 {
            (low, far(self.high, f64::next_up))
        } else if moved < 0.0 {
            (far(self.low, f64::next_down), high)
        } else {
            (self.low, self.high)
        };
        Self { value, low: lower.clamp(low, high), high: upper.clamp(low, high) }
    }

    fn spanning(value: f64, ends: &[f64]) -> Self {
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { value, low, high }.outwards()
    }

    /// An operation rounds its ends by at most half of the way to the next double.
    fn outwards(self) -> Self {
        Self { low: self.low.next_down(), high: self.high.next_up(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_core::ratio::Ratio;

    fn holds(bar: Bar, truth: &Ratio) -> bool {
        let exactly = |end: f64| Ratio::from_f64_exact(end).expect("a number");
        exactly(bar.low) <= *truth && *truth <= exactly(bar.high)
    }

    #[test]
    fn whole_numbers_stay_as_they_are_where_doubles_hold_them() {
        let bar = Bar::around(1000, 30);
        assert_eq!(format!("{bar:?}"), "Bar { value: 1000.0, low: 970.0, high: 1030.0 }");
        let odd = (1i64 << 53) + 1;
        assert!(holds(Bar::around(odd, 0), &Ratio::from(odd)));
        assert!(Bar::around(i64::MAX, i64::MAX).high >= 2.0 * 9.2e18);
    }

    /// A released count of -117 had the bar 0 to 0: both ends were cut to what is possible. Every bar around every number, cut
    /// to every range, holds each possible truth that it held before, and has a width.
    #[test]
    fn a_bar_that_is_cut_holds_what_it_held_and_is_never_a_point() {
        assert_eq!(
            format!("{:?}", Bar::around(-117, 3).at_least_zero()),
            "Bar { value: 0.0, low: 0.0, high: 3.0 }"
        );
        let numbers: Vec<i32> = (-9..=9).collect();
        for &value in &numbers {
            for (below, above) in [(1, 1), (3, 3), (1, 5), (4, 2)] {
                let bar = Bar {
                    value: f64::from(value),
                    low: f64::from(value - below),
                    high: f64::from(value + above),
                };
                for (low, high) in [(0, 1), (0, 5), (-2, 2), (3, 9), (-100, 100)] {
                    let cut = bar.between(f64::from(low), f64::from(high));
                    assert!(cut.low < cut.high && cut.low <= cut.value && cut.value <= cut.high, "{cut:?}");
                    assert!(f64::from(low) <= cut.low && cut.high <= f64::from(high), "{cut:?}");
                    for truth in (low..=high).filter(|truth| (value - below..=value + above).contains(truth))
                    {
                        let truth = f64::from(truth);
                        assert!(cut.low <= truth && truth <= cut.high, "{bar:?} to {cut:?}: {truth}");
                    }
                }
            }
        }
        let far = Bar { value: -1e300, low: -1e300 - 1.0, high: -1e300 + 1.0 }.at_least_zero();
        assert!(far.low < far.high && far.high.is_finite(), "{far:?}");
    }

    /// Squares between 1 and 9 take at least 1 away; those around zero may take nothing.
    #[test]
    fn a_difference_to_a_square_is_no_wider_than_the_square() {
        let less = |low: f64, high: f64| Bar::around(100, 0).minus_square(Bar { value: 2.0, low, high });
        for (low, high, ends) in
            [(1.0, 3.0, [91.0, 99.0]), (-3.0, -1.0, [91.0, 99.0]), (-2.0, 3.0, [91.0, 100.0])]
        {
            let bar = less(low, high);
            assert!(bar.low <= ends[0] && ends[1] <= bar.high, "{bar:?}");
            assert!(ends[0] - bar.low < 1e-9 && bar.high - ends[1] < 1e-9, "{bar:?}");
        }
    }

    /// Thirds and sevenths are no doubles: every operation holds what it would be without rounding.
    #[test]
    fn every_operation_holds_what_it_would_be_without_rounding() {
        for (a, b) in [(1, 3), (-5, 7), (22, 49), (-1_000_003, 10), (9_007_199_254_740_993, 3)] {
            let whole = |number: i64| (Bar::around(number, 0), Ratio::from(number));
            let ((x, exact_x), (y, exact_y)) = (whole(a), whole(b));
            let (quotient, exact_quotient) = (x.over(y), exact_x / exact_y);
            assert!(holds(quotient, &exact_quotient), "{a}/{b}");
            let (sum, exact_sum) = (quotient.plus(quotient), &exact_quotient + &exact_quotient);
            assert!(holds(sum, &exact_sum), "{a}/{b}");
            let (third, exact_third) = (Bar::around(1, 0).over(Bar::around(3, 0)), Ratio::new(1, 3));
            assert!(holds(quotient.times(third), &(&exact_quotient * &exact_third)), "{a}/{b}");
            let less = sum.minus_square(third);
            let exact = &exact_sum - &(&exact_third * &exact_third);
            assert!(exact.is_negative() || holds(less, &exact), "{a}/{b}");
            let root = third.sqrt();
            assert!(root.low * root.low <= 1.0 / 3.0 && root.high * root.high >= 1.0 / 3.0);
        }
    }
}
