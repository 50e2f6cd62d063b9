//! A window of ranks of floats on a grid of equal steps, without rounding the floats that it leaves out.
//!
//! # Claim
//!
//! [`window`] is the window around the target of the rows cleaned by [`Grid::clean`], one by one. (Infinities count
//! as the largest finite floats, which are beyond the range unless that is wider than all floats.)
//!
//! # Why
//!
//! 1. Cleaning keeps the order of floats, so the row of each rank is the cleaned float of that rank: select among the
//!    floats, then round the window.
//! 2. The target's ties are counted in the window where it shows both ends of them, and else by one more pass.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::Adjacency, stability::{Answer, Median, Range, Reach, lattice::Grid, on_grid}};
//!
//! let cents = Grid::new("0.01".parse().unwrap())?;
//! let range = Range::new(0, 100_000)?;
//! let rows = [12.34, f64::NAN, 99.999, -3.0];
//! let window = on_grid::window(&rows, Median.quantile().into(), &cents, range, Reach::Ranks(1), Adjacency::AddRemove);
//! assert_eq!(window.values(), [0, 1234, 10_000]);
//! # Ok::<(), equipoise_core::loss::ParameterError>(())
//! ```

use super::{
    Range, Reach, Window, bracket,
    lattice::{FLOATS, Grid, clean_float, float},
    reachable::Target,
    selection::WindowParts,
};
use crate::adjacency::Adjacency;

/// The rows around the target, as places on the grid, cleaned for this adjacency.
pub fn window(
    rows: &[f64],
    target: Target,
    grid: &Grid,
    range: Range,
    reach: Reach,
    adjacency: Adjacency,
) -> Window {
    let floats = bracket::window(rows, target, FLOATS, reach, adjacency);
    let place = |ordinal: i64| {
        let value = float(ordinal).expect("a place of a float");
        grid.clean(Some(value), range, adjacency).expect("a number is not dropped")
    };
    let values: Vec<i64> = floats.values().iter().map(|&ordinal| place(ordinal)).collect();
    let (rank, below) = (floats.rank(), floats.below());
    let (less, equal) =
        usize::try_from(rank - 1 - below).ok().and_then(|at| values.get(at)).map_or((0, 0), |target| {
            let first = values.partition_point(|value| value < target);
            let last = values.partition_point(|value| value <= target);
            let shown = (first > 0 || below == 0) && (last < values.len() || floats.above() == 0);
            if shown {
                (below + first as u64, (last - first) as u64)
            } else {
                ties(rows, *target, place, adjacency)
            }
        });
    Window::from_parts(WindowParts { range, reach, rank, rows: floats.rows(), below, values, less, equal })
}

/// How many rows are below and at this place of the grid.
fn ties(rows: &[f64], target: i64, place: impl Fn(i64) -> i64, adjacency: Adjacency) -> (u64, u64) {
    let first = first_ordinal(|ordinal| place(ordinal) >= target);
    let beyond = first_ordinal(|ordinal| place(ordinal) > target);
    let (mut less, mut equal) = (0, 0);
    for ordinal in rows.iter().filter_map(|&row| clean_float(Some(row), FLOATS, adjacency)) {
        less += u64::from(ordinal < first);
        equal += u64::from((first..beyond).contains(&ordinal));
    }
    (less, equal)
}

/// The first float for which this holds, or the place after the last; once it holds it must hold for all after.
fn first_ordinal(holds: impl Fn(i64) -> bool) -> i64 {
    let (mut low, mut high) = (FLOATS.lo(), FLOATS.hi() + 1);
    while low < high {
        // Rounded down, so that it stays below `high`.
        let middle = low.saturating_add_unsigned(high.abs_diff(low) / 2);
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stability::Quantile;
    use proptest::prelude::*;

    fn check(rows: &[f64], step: &str, range: Range) {
        let grid = Grid::new(step.parse().unwrap()).unwrap();
        for adjacency in Adjacency::ALL {
            let places: Vec<i64> =
                rows.iter().filter_map(|&row| grid.clean(Some(row), range, adjacency)).collect();
            for (p, ranks) in [("1/2", 0), ("1/2", 3), ("1/4", 1), ("0.99", 2), ("1/3", 900)] {
                let target = Target::from(Quantile::new(&p.parse().unwrap()).unwrap());
                let reach = Reach::Ranks(ranks);
                let found = window(rows, target, &grid, range, reach, adjacency);
                assert_eq!(found, target.window(&places, range, reach), "{p} {ranks} {adjacency}");
            }
        }
    }

    #[test]
    fn rows_of_all_kinds() {
        let range = Range::new(-50, 1000).unwrap();
        let mixed =
            |i: u64| ((i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / 2f64.powi(24) - 0.3) * 700.0;
        let many: Vec<f64> = (0..5000).map(mixed).collect();
        let odd = [f64::NAN, f64::INFINITY, 3.5, f64::NEG_INFINITY, -0.0, 0.0, 3.5, 1e300, -1e300, f64::NAN];
        for step in ["1", "0.01", "7/3", "100", "1e9"] {
            for rows in [&many[..], &odd[..], &[], &[f64::NAN; 3], &[2.5; 4]] {
                check(rows, step, range);
            }
        }
        check(&odd, "1", Range::new(4, 4).unwrap());
    }

    proptest! {
        #[test]
        fn any_few_rows(rows in proptest::collection::vec(-9.0f64..9.0, 0..30), lo in -9i64..3, width in 0i64..9) {
            check(&rows, "1/2", Range::new(lo, lo + width).unwrap());
        }
    }
}
