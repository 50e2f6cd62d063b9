//! Structures with their sizes worked out: say what is wanted, send batches of updates, ask.
//!
//! All of them have `update`, `query`, `queries_left`, `guarantee`, `space`, `to_bytes` and `from_bytes`.
//!
//! An answer may be off by alpha in all. Seven eighths of that are for the copies and one for rounding down to the grid:
//! `(1 - 7·alpha/8)/(1 + alpha/8) >= 1 - alpha`. A coarser grid would save few copies, a finer one would spare them little.
//!
//! # Example
//!
//! ```
//! use equipoise_robust::ready::{Promise, RobustDistinct};
//! # struct Fixed(u64);
//! # impl equipoise_core::coins::Words for Fixed {
//! #     fn word(&mut self) -> u64 { self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1); self.0 ^ self.0 >> 29 }
//! # }
//! # let mut coins = Fixed(1);
//! let promise = Promise { alpha: "0.2".parse()?, beta: "0.01".parse()?, ..Promise::default() };
//! let mut distinct = RobustDistinct::keyed(&promise, &mut coins)?;
//! distinct.update(&[1, 2, 3, 2, 1]).expect("items that come");
//! assert_eq!(distinct.query(&mut coins)?, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod counts;
mod cut;
mod distinct;
mod paced;
mod way;

pub use counts::{Own, RobustF2, RobustPoint, RowSketch, Sketched};
pub use cut::{Beside, RobustMinCut};
pub use distinct::RobustDistinct;

use super::{
    grid::Grid,
    state::{Damaged, Reader, Stored, Writer},
};
use equipoise_core::{loss::ParameterError, ratio::Ratio};

/// What is wanted of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// How far off an answer may be, as a share.
    pub alpha: Ratio,
    /// How likely some answer may be farther off, all phases together.
    pub beta: Ratio,
    /// How many answers there will be, or a phase gives; zero to choose for each phase what measured times make quickest,
    /// if input is kept.
    pub answers: u64,
    /// How many of the copies answer, others each time; all of them if zero.
    pub asked: usize,
    /// Keep the input in memory, so that a new phase begins when all answers are given.
    pub keep: bool,
}

impl Default for Promise {
    /// A tenth, but for one case in a hundred, for a thousand answers.
    fn default() -> Self {
        let (alpha, beta) = (Ratio::new(1, 10), Ratio::new(1, 100));
        Self { alpha, beta, answers: 1000, asked: 0, keep: false }
    }
}

impl Promise {
    fn alpha(&self) -> Result<&Ratio, ParameterError> {
        if !self.alpha.is_positive() || self.alpha > Ratio::one() {
            let accepted = "give a number above 0 and at most 1, such as 0.1";
            return Err(ParameterError::out_of_range("alpha", &self.alpha, accepted));
        }
        Ok(&self.alpha)
    }

    /// Are phases as long as measured times make quickest?
    fn measured(&self) -> bool {
        self.answers == 0 && self.keep
    }
}

impl Stored for Promise {
    fn write(&self, out: &mut Writer) {
        self.alpha.write(out);
        self.beta.write(out);
        out.words([self.answers, self.asked as u64]);
        self.keep.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let (alpha, beta) = (Ratio::read(from)?, Ratio::read(from)?);
        Ok(Self { alpha, beta, answers: from.word()?, asked: from.size()?, keep: bool::read(from)? })
    }
}

/// The grid of values that are never negative, and how far off a copy may be.
pub(crate) fn split(alpha: &Ratio, highest: i128) -> Result<(Grid, Ratio), ParameterError> {
    let eighth = alpha / &Ratio::from(8u64);
    Ok((Grid::growing(&eighth, highest)?, Ratio::from(7u64) * eighth))
}

/// The grid of counts with a sign, and how far off a copy may be, both as shares of the root of squared counts, which is at
/// least any count: `3/4·alpha + alpha/8·(1 + 3/4·alpha) <= alpha`.
pub(crate) fn split_signed(alpha: &Ratio, highest: i128) -> Result<(Grid, Ratio), ParameterError> {
    let eighth = alpha / &Ratio::from(8u64);
    Ok((Grid::signed(&eighth, highest)?, Ratio::from(6u64) * eighth))
}
