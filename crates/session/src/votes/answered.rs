//! Did at least half of the blocks answer? One part in ten of epsilon buys the noisy number of those that did.
//!
//! # Guarantee
//!
//! That part of epsilon, for the number and for all that is decided by it: one person changes t votes ([`VotesPerUnit::per_unit`]), so
//! that the number moves by at most t, and Laplace noise hides that.
//!
//! # Claim
//!
//! Where fewer than half of the blocks answered, there is an answer with probability at most 1 - confidence. Where all did, there
//! is none with probability at most 1 - confidence.
//!
//! # Why
//!
//! 1. Let w be the least number that noise exceeds with probability at most 1 - confidence. There is an answer where the noisy
//!    number less w is at least half of all. From fewer than half this takes noise above w.
//! 2. Noise is as often below -w as above w. Where all of n answered and `n/2 >= 2w`, noise of -w and more leaves
//!    `n - w - w >= n/2`: an answer. With fewer blocks there is no plan, because answers of all blocks would be refused too often.

use crate::{error::PlanError, resolved::ResolvedRequest};
use equipoise_core::{
    coins::Coins,
    loss::{Eps, Loss, ParameterError},
    mechanism::{
        Noise, Values,
        laplace::{self, Laplace},
    },
    ratio::Ratio,
    solve,
    subsample::VotesPerUnit,
};

/// One part in this many of epsilon buys the number of blocks that answered.
const SHARE: u64 = 10;

/// The noisy number of blocks that answered, ready to be drawn.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    noise: Box<laplace::Calibrated>,
    blocks: u64,
    /// Noise exceeds this with probability at most 1 - confidence.
    above: i64,
    /// Noise goes farther than this to either side with probability at most 1 - confidence.
    within: i64,
}

/// What came of it; public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// About how many blocks answered; noise may take it below none and above all.
    pub noisy: i64,
    /// Does it show that at least half did?
    pub enough: bool,
}

impl Answered {
    /// With the epsilon that is left for the answer.
    pub fn plan(said: &ResolvedRequest, touch: VotesPerUnit) -> Result<(Self, Eps), PlanError> {
        let answered = Self::at(said.eps(), said.failure(), touch)?;
        let rest = said.eps().ratio() - &(said.eps().ratio() / &Ratio::from(SHARE));
        Ok((answered, Eps::new(rest)?))
    }

    fn at(whole: &Eps, failure: &Ratio, touch: VotesPerUnit) -> Result<Self, ParameterError> {
        let eps = Eps::new(whole.ratio() / &Ratio::from(SHARE))?;
        let (sensitivity, grid) = (Ratio::from(touch.per_unit()), Ratio::one());
        let (values, noise) = (Values::OnGrid, Noise::Discrete);
        let noise = Laplace { eps, sensitivity, grid, dimensions: 1, values, noise }.calibrate()?;
        let reach = |failure: &Ratio| noise.accuracy(failure).ceil_i64().unwrap_or(i64::MAX);
        // Noise is as often above as below, so that it exceeds what it stays within twice as rarely.
        let (above, within) = (reach(&(failure * &Ratio::from(2u64))), reach(failure));
        Ok(Self { noise: Box::new(noise), blocks: touch.votes(), above, within })
    }

    /// From so many blocks on the answers of all are refused rarely.
    fn least_blocks(&self) -> i128 {
        4 * i128::from(self.above)
    }

    fn can_tell(&self) -> bool {
        i128::from(self.blocks) >= self.least_blocks()
    }

    /// With too few blocks there is no plan.
    pub fn check(&self, said: &ResolvedRequest, touch: VotesPerUnit) -> Result<(), PlanError> {
        if self.can_tell() {
            return Ok(());
        }
        let enough = |eps: &Ratio| {
            let at = Eps::new(eps.clone()).and_then(|eps| Self::at(&eps, said.failure(), touch));
            at.is_ok_and(|answered| answered.can_tell())
        };
        let more = Some(self.least_blocks()).filter(|&blocks| blocks <= i128::from(super::MOST_BLOCKS));
        let more = more.map_or(String::new(), |blocks| format!("give `blocks={blocks}`, or "));
        let eps = solve::smallest_of_digits(1, -16..3, enough);
        let eps = eps.map_or(String::new(), |eps| format!("`epsilon={eps}`, or "));
        Err(PlanError::about_option(
            "blocks",
            format!(
                "{} blocks are too few at epsilon {} to show that at least half of them answered: {more}{eps}a `default`, which \
                 blocks without an answer count as",
                self.blocks,
                said.eps()
            ),
        ))
    }

    pub fn cost(&self) -> Loss {
        self.noise.cost()
    }

    /// How far off the number may be.
    pub fn within(&self) -> u64 {
        self.within.unsigned_abs()
    }

    /// An answer takes a noisy number of at least this.
    fn least(&self) -> i128 {
        i128::from(self.blocks.div_ceil(2)) + i128::from(self.above)
    }

    /// Draws its noise in every case.
    pub fn run<C: Coins>(&self, answered: usize, coins: &mut C) -> Seen {
        let noisy = self.noise.run_whole(i64::try_from(answered).unwrap_or(i64::MAX), coins);
        Seen { noisy, enough: i128::from(noisy) >= self.least() }
    }

    /// When there is an answer, for plans and refusals.
    pub fn words(&self) -> String {
        format!(
            "a noisy count of the blocks that answered (off by at most {}, from 1/{SHARE} of epsilon) is at least {} of {}",
            self.within,
            self.least(),
            self.blocks
        )
    }

    /// The same with another share of epsilon behind the noise: for mutants that audits must catch.
    #[cfg(test)]
    pub fn with_noise_of(&self, eps: &str, touch: VotesPerUnit) -> Self {
        let whole = eps.parse::<Ratio>().expect("a number") * Ratio::from(SHARE);
        let other = Self::at(&Eps::new(whole).expect("an epsilon"), &Ratio::new(1, 20), touch);
        Self { noise: other.expect("calibrates").noise, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_core::{
        adjacency::Adjacency,
        interval::Interval,
        tape::{delta_between, enumerate},
    };

    fn answered(eps: &str, failure: &str, blocks: u64, per_unit: u64) -> Answered {
        let touch = VotesPerUnit::new(blocks, per_unit, Adjacency::AddRemove).unwrap();
        Answered::at(&eps.parse().unwrap(), &failure.parse().unwrap(), touch).unwrap()
    }

    #[test]
    fn hand_computed_reaches() {
        // Noise of scale 10: above t with probability q^(t + 1)/(1 + q), q = e^-0.1, which is 0.0476 at 23 and 0.0526 at 22.
        let usual = answered("1", "0.05", 100, 1);
        assert_eq!((usual.above, usual.within, usual.least_blocks()), (23, 30, 92));
        assert_eq!((usual.least(), usual.can_tell()), (73, true));
        assert_eq!(answered("1", "0.05", 101, 1).least(), 74);
        assert!(!answered("1", "0.05", 91, 1).can_tell() && answered("1", "0.05", 92, 1).can_tell());
        assert!(answered("1", "0.05", 92, 2).least_blocks() >= 184);
        // A confidence of half is had without any noise to the safe side.
        assert_eq!(answered("1", "0.5", 3, 1).above, 0);
    }

    /// The number and what is decided by it, over all numbers of blocks that answered of which one person changes so many.
    fn worst(answered: &Answered, changed: usize, eps: &str) -> Interval {
        let law = |count| {
            enumerate(&"1e-9".parse().unwrap(), |tape| {
                let Seen { noisy, enough } = answered.run(count, tape);
                (noisy, enough)
            })
        };
        let laws: Vec<_> = (0..=4).map(law).collect();
        let pairs = (0..=4usize).flat_map(|a| (0..=4).map(move |b| (a, b)));
        pairs
            .filter(|&(a, b)| a.abs_diff(b) <= changed)
            .map(|(a, b)| delta_between(&eps.parse().unwrap(), &laws[a], &laws[b]))
            .reduce(|a, b| a.max(&b))
            .expect("some pair")
    }

    #[test]
    fn exact_audit_of_the_number_and_of_mutants_with_less_noise() {
        let slack: Ratio = "1e-6".parse().unwrap();
        for per_unit in [1u64, 2] {
            let touch = VotesPerUnit::new(4, per_unit, Adjacency::Replace).unwrap();
            let shipped = answered("1", "0.5", 4, per_unit);
            let changed = usize::try_from(per_unit).unwrap();
            assert!(worst(&shipped, changed, "0.1").certainly_at_most(&slack));
            // Half of the noise, the exact number, and one who is in one block more than was counted.
            for mutant in ["0.2", "100"] {
                let measured = worst(&shipped.with_noise_of(mutant, touch), changed, "0.1");
                assert!(
                    measured.certainly_above(&"0.01".parse().unwrap()),
                    "{mutant}: {}",
                    measured.to_f64()
                );
            }
            assert!(worst(&shipped, changed + 1, "0.1").certainly_above(&"0.01".parse().unwrap()));
        }
    }

    /// The chance of an answer where so many blocks answered, enclosed.
    fn chance(answered: &Answered, count: u64) -> Interval {
        let count = usize::try_from(count).unwrap();
        let pmf = enumerate(&"1e-25".parse().unwrap(), |tape| answered.run(count, tape).enough);
        pmf.mass(&true)
    }

    /// Both halves of the claim, for every number of blocks that answered. A mutant that asks for less than it must is
    /// caught, and so is one that plans with fewer blocks.
    #[test]
    fn exact_audit_of_both_claims() {
        for (eps, failure, per_unit) in
            [("1", "0.05", 1), ("5", "0.01", 1), ("8", "0.2", 2), ("40", "0.05", 1)]
        {
            let beta: Ratio = failure.parse().unwrap();
            let blocks = u64::try_from(answered(eps, failure, 4000, per_unit).least_blocks()).unwrap().max(1);
            for blocks in [blocks, blocks + 1] {
                let right = answered(eps, failure, blocks, per_unit);
                assert!(right.can_tell());
                for count in (0..blocks).filter(|count| 2 * count < blocks) {
                    assert!(chance(&right, count).certainly_at_most(&beta), "{eps} {blocks}: {count}");
                }
                assert!(chance(&right, blocks).lower() >= Ratio::one() - &beta, "{eps} {blocks}");
            }
            let lenient = Answered { above: 0, ..answered(eps, failure, blocks, per_unit) };
            assert!(blocks < 4 || chance(&lenient, (blocks - 1) / 2).certainly_above(&beta), "{eps}");
        }
        let few = answered("1", "0.05", 80, 1);
        assert!(chance(&few, 80).upper() < "0.95".parse().unwrap());
    }
}
