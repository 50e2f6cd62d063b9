//! How far neighbouring vectors are apart in L2, exactly, and how many steps of a grid that is.
//!
//! # Guarantee
//!
//! Round the coordinates of two vectors that are at most D apart to their nearest multiples of a grid. The
//! squares of the whole steps between them add up to at most [`L2::squared_steps`].
//!
//! # Why
//!
//! 1. Vectors that lie on the grid are whole steps apart, so the sum of squares is a whole number, at most
//!    `D²/grid²`; with one coordinate it is a square as well.
//! 2. Rounding: a coordinate that moved by d steps moves by s < d + 1 whole steps. Where s >= 1, c = s - 1
//!    is a whole number below d; elsewhere let c = 0. So the sum of c² is below `D²/grid²`, and at most
//!    `q = ceil(D²/grid²) - 1`.
//! 3. The sum of c is at most that of c², and at most `sqrt(k·q)` for k coordinates. So the sum of
//!    s² <= (c + 1)² is at most `q + 2·min(q, floor(sqrt(k·q))) + k`, which is at most the usual
//!    `(D/grid + sqrt(k))²`. One coordinate moves by at most `floor(sqrt(q)) + 1`.

use super::Values;
use crate::ratio::Ratio;
use dashu_base::{SquareRoot, UnsignedAbs};
use dashu_int::IBig;

/// An exact distance in L2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum L2 {
    /// This number.
    Exact(Ratio),
    /// The square root of this number, as for the histogram that moves one row from bin to bin: the root
    /// of two.
    RootOf(Ratio),
}

impl L2 {
    /// Is it above zero?
    pub fn is_positive(&self) -> bool {
        let (Self::Exact(value) | Self::RootOf(value)) = self;
        value.is_positive()
    }

    /// Its square.
    pub fn squared(&self) -> Ratio {
        match self {
            Self::Exact(distance) => distance.squared(),
            Self::RootOf(square) => square.clone(),
        }
    }

    /// The largest sum of squared whole steps between two vectors so far apart, on this grid.
    pub fn squared_steps(&self, grid: &Ratio, dimensions: usize, values: Values) -> Ratio {
        let squared = &self.squared() / &grid.squared();
        let one_coordinate = dimensions == 1;
        match values {
            Values::OnGrid if one_coordinate => floor_root(&squared).squared(),
            Values::OnGrid => Ratio::whole(squared.floor_big()),
            Values::Any => {
                let below = Ratio::whole(squared.ceil_big() - IBig::ONE);
                if one_coordinate {
                    return (floor_root(&below) + Ratio::one()).squared();
                }
                let count = Ratio::from(dimensions as u64);
                let sum = floor_root(&(&count * &below)).min(below.clone());
                below + &sum + sum + count
            }
        }
    }
}

/// The largest whole number whose square is at most this number of at least zero.
pub(crate) fn floor_root(value: &Ratio) -> Ratio {
    Ratio::whole(value.floor_big().unsigned_abs().sqrt().into())
}

/// The square root of a number of at least zero: exact where it is rational, else rounded up by less than
/// one part in 2^128.
pub(crate) fn root_up(value: &Ratio) -> Ratio {
    const BITS: usize = 128;
    // sqrt(a/b) = sqrt(ab)/b, and ab is a square where a and b are.
    let den = IBig::from(value.denominator().clone());
    let scaled = (value.numerator() * &den).unsigned_abs() << (2 * BITS);
    let root = scaled.sqrt();
    let exact = &root * &root == scaled;
    let root = IBig::from(root) + if exact { IBig::ZERO } else { IBig::ONE };
    Ratio::dyadic(root, BITS) / Ratio::whole(den)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    #[test]
    fn hand_computed_steps() {
        use Values::{Any, OnGrid};
        for (distance, grid, dimensions, values, squared_steps) in [
            (L2::Exact(ratio("1")), "1", 1, OnGrid, "1"),
            (L2::Exact(ratio("3.7")), "1", 1, OnGrid, "9"),
            (L2::Exact(ratio("3.7")), "1", 2, OnGrid, "13"),
            (L2::RootOf(ratio("2")), "1", 2, OnGrid, "2"),
            (L2::RootOf(ratio("2")), "1", 1, OnGrid, "1"),
            (L2::RootOf(ratio("2")), "1/3", 1, OnGrid, "16"),
            (L2::Exact(ratio("0.5")), "1", 9, OnGrid, "0"),
            // One coordinate: ceil(D/grid).
            (L2::Exact(ratio("3.7")), "1", 1, Any, "16"),
            (L2::Exact(ratio("3")), "1", 1, Any, "9"),
            (L2::Exact(ratio("1")), "0.01", 1, Any, "10000"),
            (L2::RootOf(ratio("2")), "1", 1, Any, "4"),
            // Two coordinates that moved by 0.7 each move by one step each, and no farther.
            (L2::Exact(ratio("1")), "1", 2, Any, "2"),
            // q = 99999999: 99999999 + 2·min(q, floor(sqrt(3q))) + 3, against (10000 + sqrt 3)² = 100034644.0.
            (L2::Exact(ratio("1")), "0.0001", 3, Any, "100034642"),
        ] {
            let got = distance.squared_steps(&ratio(grid), dimensions, values);
            assert_eq!(got, ratio(squared_steps), "{distance:?} {grid} {dimensions} {values:?}");
        }
    }

    /// Two coordinates that start and end at multiples of an eighth of a step, up to 3 steps apart.
    #[test]
    fn no_rounding_moves_farther_and_some_moves_that_far() {
        let rounded = |eighths: i64| (eighths + 4).div_euclid(8);
        let most = |by: i64| (0..8).map(|from| rounded(from + by) - rounded(from)).max().unwrap();
        let mut farthest = vec![0; 24 * 24 + 1];
        for (x, y) in (0..=24i64).flat_map(|x| (0..=24i64).map(move |y| (x, y))) {
            if let Some(steps) = farthest.get_mut(usize::try_from(x * x + y * y).unwrap()) {
                *steps = (most(x).pow(2) + most(y).pow(2)).max(*steps);
            }
        }
        let (mut seen, mut attained) = (0, 0);
        for (squared, steps) in farthest.into_iter().enumerate().skip(1) {
            seen = seen.max(steps);
            let distance = L2::RootOf(Ratio::new(i64::try_from(squared).unwrap(), 64));
            let bound = distance.squared_steps(&Ratio::one(), 2, Values::Any);
            assert!(Ratio::from(seen) <= bound, "{squared}: {seen} beyond {bound}");
            attained += usize::from(Ratio::from(seen) == bound);
        }
        assert!(attained > 100, "{attained}");
    }

    #[test]
    fn never_more_than_the_usual_bound() {
        for (distance, dimensions) in [("0.1", 5usize), ("1", 2), ("2.5", 3), ("7", 100), ("1000", 7)] {
            let steps = L2::Exact(ratio(distance)).squared_steps(&Ratio::one(), dimensions, Values::Any);
            let usual = distance.parse::<f64>().unwrap() + (dimensions as f64).sqrt();
            assert!(steps.to_f64() <= usual * usual, "{distance} {dimensions}");
        }
    }

    #[test]
    fn roots() {
        for (square, root) in [("4", "2"), ("9/16", "0.75"), ("0", "0"), ("1e-80", "1e-40")] {
            assert_eq!(root_up(&ratio(square)), ratio(root));
        }
        for square in ["2", "1/3", "1e-301", "12345678901234567890"] {
            let (square, root) = (ratio(square), root_up(&ratio(square)));
            assert!(root.squared() > square);
            assert!((&root * &(Ratio::one() - Ratio::dyadic(1.into(), 127))).squared() < square);
        }
        assert_eq!((floor_root(&ratio("15.99")), floor_root(&ratio("16"))), (ratio("3"), ratio("4")));
    }
}
