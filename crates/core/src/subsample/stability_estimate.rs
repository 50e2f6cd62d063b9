//! How stable a function is on blocks of public or made-up data: whether it will be answered, seen beforehand.
//!
//! Source: 000_4d769f04a6a550e8.txt, 7.3.1 (q-subsampling stability); 001_3b43439ac39fb76e.txt, Definition 2.
//!
//! # Claim
//!
//! Nothing here is private: it looks at the rows and says what it sees. For public or synthetic data only. The estimate is the
//! share of blocks on which the function has the value that it has on all rows; the text asks for three quarters.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{coins::ScriptedWords, subsample::stability_estimate::estimate};
//!
//! let rows: Vec<i64> = (0..1000).map(|i| i64::from(i % 10 == 0)).collect();
//! let mode = |rows: &[usize], data: &[i64]| 2 * rows.iter().map(|&row| data[row]).sum::<i64>() > rows.len() as i64;
//! # let mut coins = ScriptedWords::new((0..2000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect());
//! let found = estimate(rows.len(), 20, 1, |block| mode(block, &rows), &mut coins);
//! assert_eq!(found.share(), 1.0);
//! ```

use super::{
    majority::Calibrated,
    partition::{Design, Partition},
};
use crate::{adjacency::Adjacency, coins::Coins, ratio::Ratio};

/// How many blocks agreed with the whole, of how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stability {
    /// Blocks with the value of all rows.
    pub agreeing: u64,
    /// All blocks looked at.
    pub blocks: u64,
}

/// Run the function on all rows and on the blocks of so many rounds.
pub fn estimate<T: PartialEq, C: Coins>(
    rows: usize,
    blocks: u32,
    rounds: u32,
    function: impl Fn(&[usize]) -> T,
    coins: &mut C,
) -> Stability {
    let all: Vec<usize> = (0..rows).collect();
    let whole = function(&all);
    let design = Design::Rows { blocks, rounds };
    let Ok(partition) = (Partition { design, adjacency: Adjacency::AddRemove }).calibrate() else {
        return Stability { agreeing: 0, blocks: 0 };
    };
    let dealt = partition.deal_rows(rows, coins);
    let agreeing = dealt.iter().filter(|block| function(block) == whole).count();
    Stability { agreeing: agreeing as u64, blocks: dealt.count() as u64 }
}

impl Stability {
    /// The share of blocks that agreed.
    pub fn share(self) -> f64 {
        if self.blocks == 0 { 0.0 } else { self.agreeing as f64 / self.blocks as f64 }
    }

    /// Is the function stable in the sense of the texts?
    pub fn is_stable(self) -> bool {
        self.blocks > 0 && 4 * self.agreeing >= 3 * self.blocks
    }

    /// How likely an election would answer rightly if blocks agree as often as here.
    pub fn success(self, election: &Calibrated) -> Ratio {
        let share = if self.blocks == 0 {
            Ratio::zero()
        } else {
            Ratio::from(self.agreeing) / Ratio::from(self.blocks)
        };
        election.success_lower(&share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        coins::ScriptedWords,
        subsample::{VotesPerUnit, majority::Majority},
    };

    #[test]
    fn one_block_can_agree_and_none_cannot() {
        assert!(Stability { agreeing: 1, blocks: 1 }.is_stable());
        assert!(!Stability { agreeing: 0, blocks: 1 }.is_stable());
        assert!(!Stability { agreeing: 0, blocks: 0 }.is_stable());
    }

    #[test]
    fn shares_and_what_follows_from_them() {
        let touch = VotesPerUnit::new(110, 1, Adjacency::AddRemove).unwrap();
        let (eps, delta) = ("1".parse().unwrap(), "1e-6".parse().unwrap());
        let election = Majority { eps, delta, touch }.calibrate().unwrap();
        let stable = Stability { agreeing: 75, blocks: 100 };
        assert!(stable.is_stable() && stable.success(&election) > "0.99".parse().unwrap());
        let shaky = Stability { agreeing: 55, blocks: 100 };
        assert!(!shaky.is_stable() && shaky.success(&election) < "0.2".parse().unwrap());
        let none = Stability { agreeing: 0, blocks: 0 };
        assert!(!none.is_stable() && none.share() == 0.0 && none.success(&election).is_zero());
    }

    #[test]
    fn a_function_of_single_rows_is_not_stable() {
        let words: Vec<u64> = (0..3000u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let found = estimate(100, 10, 2, |rows| rows.contains(&7), &mut ScriptedWords::new(words));
        assert_eq!(found, Stability { agreeing: 2, blocks: 20 });
        assert_eq!(estimate(0, 0, 1, |_| 0, &mut ScriptedWords::new(vec![])).blocks, 0);
    }
}
