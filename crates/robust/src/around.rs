//! Any estimator of one's own as an oblivious algorithm: made by a closure, followed and asked by two methods.
//!
//! # Claim
//!
//! Whatever [`copies`](crate::copies), [`switching`](crate::switching) and [`flips`](crate::flips) promise rests on what is *stated*
//! here: that one copy, on updates that were fixed in advance, is off by more than `alpha` with chance at most
//! `e^-ln_inverse_failure`. Nobody can check that from outside.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{coins::ScriptedWords, ratio::Ratio};
//! use equipoise_robust::{around::{Around, Estimator, Maker}, copies::Copies, grid::Grid, parameters::Wanted};
//!
//! /// Counts; every copy is right.
//! struct Counter(i128);
//! impl Estimator<u64> for Counter {
//!     fn update(&mut self, item: &u64) { self.0 += i128::from(*item); }
//!     fn query(&mut self) -> i128 { self.0 }
//! }
//!
//! let plan = Wanted { answers: 10, beta: "0.01".parse()?, grid: 200 }.plan()?;
//! let never_off = Ratio::from(1000u64);
//! let maker = Maker::new(|_seed| Box::new(Counter(0)), never_off, Ratio::zero());
//! let grid = Grid::growing(&"0.1".parse()?, 1000)?;
//! # let mut coins = ScriptedWords::new((0..1000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect());
//! let mut robust = Copies::<Around<u64>>::new(plan, grid, maker, Vec::new(), true, &mut coins)?;
//! robust.update(&40).unwrap();
//! let answer = robust.query(&(), &mut coins)?;
//! assert!((36..=40).contains(&answer));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{Oblivious, Shape};
use equipoise_core::{coins::Coins, ratio::Ratio};
use std::{convert::Infallible, fmt, sync::Arc};

/// What follows updates and answers about the present.
pub trait Estimator<U> {
    /// Follow one change of the input.
    fn update(&mut self, update: &U);

    /// The answer about the present input, a whole number of whatever it is counted in.
    fn query(&mut self) -> i128;
}

/// What makes an estimator of a seed: fresh coins for each.
type Make<U> = dyn Fn(u64) -> Box<dyn Estimator<U>> + Send + Sync;

/// How copies are made, and what is stated of each.
pub struct Maker<U> {
    make: Arc<Make<U>>,
    ln_inverse_failure: Ratio,
    alpha: Ratio,
    space: usize,
}

impl<U> Maker<U> {
    /// Copies by this closure, each from a seed of its own; a copy is off by more than the share `alpha` with chance at most
    /// `e^-ln_inverse_failure`, on updates that do not depend on its seed.
    pub fn new(
        make: impl Fn(u64) -> Box<dyn Estimator<U>> + Send + Sync + 'static,
        ln_inverse_failure: Ratio,
        alpha: Ratio,
    ) -> Self {
        Self { make: Arc::new(make), ln_inverse_failure, alpha, space: 1 }
    }

    /// The same where a copy takes about so many bytes.
    #[must_use]
    pub fn of_space(self, space: usize) -> Self {
        Self { space, ..self }
    }
}

impl<U> Clone for Maker<U> {
    fn clone(&self) -> Self {
        let (make, ln_inverse_failure, alpha) =
            (Arc::clone(&self.make), self.ln_inverse_failure.clone(), self.alpha.clone());
        Self { make, ln_inverse_failure, alpha, space: self.space }
    }
}

impl<U> fmt::Debug for Maker<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Maker").field("alpha", &self.alpha).finish_non_exhaustive()
    }
}

impl<U> Shape for Maker<U> {
    fn ln_inverse_failure(&self) -> Ratio {
        self.ln_inverse_failure.clone()
    }

    fn alpha(&self) -> Ratio {
        self.alpha.clone()
    }

    fn space(&self) -> usize {
        self.space
    }
}

/// An estimator as an oblivious algorithm. Its input is the list of updates so far, which a new phase follows again.
pub struct Around<U>(Box<dyn Estimator<U>>, usize);

impl<U> fmt::Debug for Around<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Around(secret)")
    }
}

impl<U: Clone> Oblivious for Around<U> {
    type Shape = Maker<U>;
    type Input = Vec<U>;
    type Update = U;
    type Question = ();
    type Refused = Infallible;

    fn apply(input: &mut Vec<U>, update: &U) -> Result<(), Infallible> {
        input.push(update.clone());
        Ok(())
    }

    fn init<C: Coins>(shape: &Maker<U>, input: &Vec<U>, coins: &mut C) -> Self {
        let mut copy = (shape.make)(coins.bits(64));
        for update in input {
            copy.update(update);
        }
        Self(copy, shape.space)
    }

    fn update(&mut self, update: &U) {
        self.0.update(update);
    }

    fn query(&mut self, (): &()) -> i128 {
        self.0.query()
    }

    fn space(&self) -> usize {
        self.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        TestWords,
        copies::Copies,
        flips::{self, Flips},
        grid::Grid,
        parameters::Wanted,
        switching::{self, Switching},
    };

    /// Counts, and is off by a half for one seed of sixteen.
    struct Sometimes(i128, bool);

    impl Estimator<i128> for Sometimes {
        fn update(&mut self, update: &i128) {
            self.0 += update;
        }

        fn query(&mut self) -> i128 {
            if self.1 { self.0 / 2 } else { self.0 }
        }
    }

    fn maker(ln_inverse_failure: u64) -> Maker<i128> {
        let make =
            |seed: u64| -> Box<dyn Estimator<i128>> { Box::new(Sometimes(0, seed.trailing_zeros() >= 4)) };
        Maker::new(make, Ratio::from(ln_inverse_failure), Ratio::zero()).of_space(24)
    }

    fn grid() -> Grid {
        Grid::growing(&"0.1".parse().unwrap(), 10_000).unwrap()
    }

    #[test]
    fn copies_of_ones_own_answer_together_phase_after_phase() {
        let mut coins = TestWords(7);
        let plan = Wanted { answers: 20, beta: "0.01".parse().unwrap(), grid: grid().len() }.plan().unwrap();
        let refused = Copies::new(plan.clone(), grid(), maker(3), Vec::new(), true, &mut coins);
        let refused: Result<Copies<Around<i128>>, _> = refused;
        assert!(refused.unwrap_err().to_string().contains("fail more rarely"));
        let mut robust: Copies<Around<i128>> =
            Copies::new(plan, grid(), maker(1000), Vec::new(), true, &mut coins).unwrap();
        for step in 1..=60 {
            robust.update(&100).unwrap();
            let answer = robust.query(&(), &mut coins).unwrap();
            assert!(answer * 11 >= step * 1000 && answer <= step * 100, "{step}: {answer}");
        }
        assert_eq!((robust.phase(), robust.input().map(Vec::len)), (3, Some(60)));
    }

    #[test]
    fn switching_and_flips_take_them_too() {
        let mut coins = TestWords(8);
        let (alpha, beta): (Ratio, Ratio) = ("0.5".parse().unwrap(), "0.01".parse().unwrap());
        // Flips ask for a grid that is off by an eighth of alpha at most.
        let grid = || Grid::growing(&"0.05".parse().unwrap(), 10_000).unwrap();
        let wanted = switching::Wanted { alpha: alpha.clone(), beta: beta.clone(), answers: 50, changes: 60 };
        let certain = Maker::new(|_| Box::new(Sometimes(0, false)), Ratio::from(1000u64), Ratio::zero());
        let mut switching =
            Switching::<Around<i128>>::new(wanted, &certain, &Vec::new(), &mut coins).unwrap();
        let plan =
            flips::Wanted { alpha, beta, answers: 50, changes: 60, grid: grid().len() }.plan().unwrap();
        let mut flips = Flips::<Around<i128>>::new(plan, grid(), &certain, &Vec::new(), &mut coins).unwrap();
        for step in 1..=40 {
            let truth = step * 10;
            switching.update(&10);
            flips.update_all(&[10]);
            for answer in [switching.query(&()).unwrap(), flips.query(&(), &mut coins).unwrap()] {
                assert!(2 * answer >= truth && 2 * answer <= 3 * truth, "{step}: {answer}");
            }
        }
    }
}
