//! The values that an answer can take: all finite floats, or a public range or grid of them.
//!
//! Rank-based mechanisms need no bounds, because the finite floats are a finite lattice. A declared range or
//! resolution makes the lattice smaller and so the answers better.

use crate::plan::PlanError;
use equipoise_core::{
    adjacency::Adjacency,
    loss::ParameterError,
    ratio::Ratio,
    stability::{
        Range,
        lattice::{self, FLOATS, Grid},
    },
};

/// A lattice of numbers, chosen from public words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    range: Range,
    grid: Option<Grid>,
}

impl Space {
    /// From `--range LO,HI` and `--resolution STEP`, where said.
    pub fn new(range: Option<&str>, resolution: Option<&str>) -> Result<Self, PlanError> {
        let ends = range.map(ends).transpose()?;
        let Some(resolution) = resolution else {
            let range = match &ends {
                Some((lo, hi)) => lattice::range_of_floats(lo.to_f64(), hi.to_f64())?,
                None => FLOATS,
            };
            return Ok(Self { range, grid: None });
        };
        let step: Ratio = resolution.parse().map_err(|_| not_a_number("resolution", resolution))?;
        let grid = Grid::new(step)?;
        let range = match &ends {
            Some((lo, hi)) => {
                let places = (lo / grid.step()).ceil_i64().zip((hi / grid.step()).floor_i64());
                let (lo, hi) = places.ok_or_else(|| {
                    ParameterError::out_of_range(
                        "resolution",
                        grid.step(),
                        "give one with fewer than 2^63 steps in the range",
                    )
                })?;
                Range::new(lo, hi).map_err(|_| {
                    ParameterError::out_of_range(
                        "resolution",
                        grid.step(),
                        "give one with a multiple in the range",
                    )
                })?
            }
            None => Range::WHOLE,
        };
        Ok(Self { range, grid: Some(grid) })
    }

    /// The lattice as places.
    pub fn range(&self) -> Range {
        self.range
    }

    /// A row's place, cleaned for this adjacency; nothing if it is dropped.
    pub fn place(&self, row: f64, adjacency: Adjacency) -> Option<i64> {
        match &self.grid {
            Some(grid) => grid.clean(Some(row), self.range, adjacency),
            None => lattice::clean_float(Some(row), self.range, adjacency),
        }
    }

    /// Does every place stand for its float, so that rows can be used as they are?
    pub fn is_floats(&self) -> bool {
        self.grid.is_none()
    }

    /// The number at a place, as the nearest finite float.
    pub fn number(&self, place: i64) -> f64 {
        match &self.grid {
            Some(grid) => finite(grid.value(place).to_f64()),
            None => lattice::float(FLOATS.clamp(place)).expect("the ordinal of a finite float"),
        }
    }

    /// The distance between two places, as the nearest finite float.
    pub fn distance(&self, low: i64, high: i64) -> f64 {
        finite(match &self.grid {
            Some(grid) => (grid.value(high) - grid.value(low)).to_f64(),
            None => self.number(high) - self.number(low),
        })
    }
}

/// An infinite answer would be null in JSON, which reads as no rows.
fn finite(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}

/// The ends of a range as finite floats, the lower one below the upper one.
pub(crate) fn float_ends(text: &str) -> Result<(f64, f64), PlanError> {
    let (lo, hi) = ends(text)?;
    let (lo, hi) = (lo.to_f64(), hi.to_f64());
    if lo < hi && lo.is_finite() && hi.is_finite() {
        return Ok((lo, hi));
    }
    Err(ParameterError::out_of_range(
        "range",
        text,
        "give LO,HI as finite numbers with LO below HI, such as 0,100",
    )
    .into())
}

fn ends(text: &str) -> Result<(Ratio, Ratio), PlanError> {
    let wrong = || {
        ParameterError::out_of_range(
            "range",
            text,
            "give LO,HI as finite numbers with LO at most HI, such as 0,100",
        )
    };
    let (lo, hi) = text.split_once(',').ok_or_else(wrong)?;
    let (lo, hi): (Ratio, Ratio) = lo.trim().parse().ok().zip(hi.trim().parse().ok()).ok_or_else(wrong)?;
    if lo > hi { Err(wrong().into()) } else { Ok((lo, hi)) }
}

pub(crate) fn not_a_number(name: &'static str, text: &str) -> PlanError {
    ParameterError::out_of_range(name, text, "give a number such as 0.5").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(space: &Space, rows: &[f64], adjacency: Adjacency) -> Vec<i64> {
        rows.iter().filter_map(|&row| space.place(row, adjacency)).collect()
    }

    #[test]
    fn ranges_and_grids_become_places() {
        let floats = Space::new(None, None).unwrap();
        assert_eq!(floats.range(), FLOATS);
        assert_eq!(places(&floats, &[2.5, f64::NAN], Adjacency::AddRemove).len(), 1);
        assert_eq!(
            floats.number(places(&floats, &[2.5], Adjacency::AddRemove)[0]).to_bits(),
            2.5f64.to_bits()
        );
        let cents = Space::new(Some("0,10"), Some("0.01")).unwrap();
        assert_eq!(cents.range(), Range::new(0, 1000).unwrap());
        assert_eq!(places(&cents, &[1.234, -4.0, 1e300, f64::NAN], Adjacency::Replace), [123, 0, 1000, 0]);
        assert_eq!(cents.number(123).to_string(), "1.23");
        assert_eq!(cents.distance(10, 43).to_string(), "0.33");
        assert_eq!(Space::new(None, Some("1")).unwrap().range(), Range::WHOLE);
        // An infinite distance would be null in JSON.
        let ends = places(&floats, &[-1.7e308, 1.7e308], Adjacency::AddRemove);
        assert_eq!(floats.distance(ends[0], ends[1]).to_bits(), f64::MAX.to_bits());
        let coarse = Space::new(None, Some("1e300")).unwrap();
        assert_eq!(coarse.number(i64::MIN).to_bits(), f64::MIN.to_bits());
    }

    #[test]
    fn impossible_ranges_and_grids_say_what_to_do() {
        for (range, resolution, said) in [
            (Some("5,1"), None, "LO at most HI"),
            (Some("5"), None, "LO,HI"),
            (Some("a,b"), None, "LO,HI"),
            (None, Some("0"), "above 0"),
            (None, Some("-1"), "above 0"),
            (None, Some("fine"), "number"),
            (Some("0.2,0.4"), Some("1"), "multiple in the range"),
            (Some("0,1"), Some("1e-30"), "fewer than 2^63"),
        ] {
            let error = Space::new(range, resolution).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains('\n'), "{range:?} {resolution:?}: {error}");
        }
    }
}
