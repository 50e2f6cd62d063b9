//! The answers of mechanisms that add real noise: multiples of a public grid that cover a public range.

use crate::{
    loss::ParameterError,
    ratio::Ratio,
    sampler::real::{RealVariable, tail_upper},
    stability::Range,
};
use std::ops::RangeInclusive;

/// The answers that can come out.
#[derive(Clone, Debug)]
pub(super) struct Outputs {
    pub range: Range,
    pub grid: Ratio,
    /// The multiples from the one at or below the range to the one at or above it.
    pub clamp: RangeInclusive<i64>,
}

impl Outputs {
    pub(super) fn new(range: Option<Range>, grid: &Ratio) -> Result<Self, ParameterError> {
        let Some(range) = range else {
            return Err(ParameterError::out_of_range(
                "range",
                "unbounded",
                "give LO,HI, without which a smooth bound is infinite; or use inverse-sensitivity, which needs none",
            ));
        };
        let refuse = |accepted| ParameterError::out_of_range("grid", grid, accepted);
        if !grid.is_positive() {
            return Err(refuse("give a positive step such as 1 or 0.01"));
        }
        let first = (Ratio::from(range.lo()) / grid).floor_i64();
        let last = (Ratio::from(range.hi()) / grid).ceil_i64();
        match (first, last) {
            (Some(first), Some(last)) => Ok(Self { range, grid: grid.clone(), clamp: first..=last }),
            _ => Err(refuse("the range must have fewer than 2^63 multiples of it; give a coarser one")),
        }
    }

    /// No error exceeds this: value and answer both lie between the outermost multiples.
    fn widest_error(&self) -> Ratio {
        Ratio::from(self.range.width()) + &self.grid
    }

    /// An error that noise of this scale exceeds with probability at most `failure`.
    pub(super) fn error(&self, variable: &impl RealVariable, scale: &Ratio, failure: &Ratio) -> Ratio {
        let rounding = &self.grid / Ratio::from(2u64);
        let widest = self.widest_error();
        if scale.is_zero() {
            return rounding;
        }
        match tail_upper(variable, failure, &(&widest / scale)) {
            Some(tail) => (tail * scale + rounding).min(widest),
            None => widest,
        }
    }
}
