//! Noise for the sums of a column: what a mean or a variance is made of.
//!
//! # Two sides
//!
//! Where the number of rows is not known, a row at the share v of the way from the centre of the range to its end, between -1
//! and 1, is counted on two sides: (1 + v) halves above and (1 - v) below. Together that is one, whatever v is, so that the
//! noise for one row on both sides costs no more than that for a count alone; the two numbers add up to the number of rows, and
//! differ by the sum.
//!
//! # Why the bar of the mean is as it says
//!
//! 1. Let a and b be the true sides and u = a/(a + b), so that the mean lies at the share 2u - 1. With noise x and y on them,
//!    (1 - u)(a + x) - u(b + y) = (1 - u)x - uy: the noisy sides give u back but for that, over their sum.
//! 2. The laws of x and y are the same, symmetric, and their densities are log-concave: no mixture of the two goes beyond t more
//!    often than x alone does (Proschan 1965, peakedness of convex combinations). So u lies within t over the noisy sum of
//!    the noisy share, as often as x stays within t.
//! 3. Noise on whole numbers is at most one step off noise that has a density, on either side; two steps more allow for that.
//!
//! # Rows on neither side
//!
//! A row without a value is on no side. Where rows come and go, the number of these is a third number with the noise of a side: a row moves
//! the sides, together by two steps for each step of the farthest, or this number by as much, and never both. So all three cost what two
//! do. A row that is replaced can move all three, and nobody draws the third then ([`holding`](super::holding)).

use super::noise::Noise;
use crate::{error::PlanError, resolved::ResolvedRequest};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Delta, Eps, Loss},
    ratio::Ratio,
};

/// What one row does to sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    /// The farthest from the centre that a row lies, in steps; that of squares.
    pub steps: i64,
    pub square_steps: i64,
    /// How far a replaced row goes.
    pub span: i64,
}

/// Which sums there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// That of rows.
    First,
    /// That of squares too, for a variance alone.
    Squares,
    /// That of squares too, where a sum or mean is asked for beside a variance.
    Both,
}

impl Which {
    /// The part of epsilon for the sum of rows; the sum of squares, which a variance is mostly made of, has the rest. Of two questions
    /// together, half is what a mean alone would have, and more than a variance alone would give its squares.
    fn first_share(self) -> Ratio {
        match self {
            Self::First => Ratio::one(),
            Self::Squares => Ratio::new(2, 5),
            Self::Both => Ratio::new(1, 2),
        }
    }
}

/// Noise for the sum of a column, or for its two sides, and for the sum of squares where a variance is due.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    pub first: Noise,
    /// The first sum, or the mean of two sides times the number of rows, is off by at most this.
    pub within: i64,
    /// The same where the number of rows may be off by as much.
    pub within_both: i64,
    pub second: Option<(Noise, i64)>,
    two_sides: bool,
}

impl Sums {
    /// For this epsilon in all, and the request's delta. Each part may fail with this probability.
    pub fn plan(
        said: &ResolvedRequest,
        eps: &Eps,
        moved: &Moved,
        two_sides: bool,
        which: Which,
    ) -> Result<Self, PlanError> {
        let first_share = which.first_share();
        let squares = which != Which::First;
        let second_share = squares.then(|| Ratio::one() - &first_share);
        let part = |share: &Ratio| -> Result<(Eps, Delta), PlanError> {
            Ok((Eps::new(eps.ratio() * share)?, Delta::new(said.delta().ratio() * share)?))
        };
        let (first_eps, delta) = part(&first_share)?;
        let parts = match (two_sides, squares) {
            (_, false) => 1u64,
            (false, true) => 2,
            (true, true) => 3,
        };
        let failure = said.failure() / &Ratio::from(parts);
        let first = if two_sides {
            Noise::plan_two(said, &first_eps, &delta, one_row(said.adjacency(), moved))?
        } else {
            let steps = if said.adjacency() == Adjacency::Replace { moved.span } else { moved.steps };
            Noise::plan(said, &first_eps, &delta, steps)?
        };
        let room = if two_sides { 2 } else { 0 };
        let within = first.within(&failure)?.saturating_add(room);
        let within_both = first.within(&(&failure / &Ratio::from(2u64)))?.saturating_add(room);
        let second = match second_share {
            Some(share) => {
                let (eps, delta) = part(&share)?;
                let noise = Noise::plan(said, &eps, &delta, moved.square_steps)?;
                let within = noise.within(&failure)?;
                Some((noise, within))
            }
            None => None,
        };
        Ok(Self { first, within, within_both, second, two_sides })
    }

    /// The same where the first sum alone is told, which then may fail in all of these cases.
    pub fn of_first_alone(&self, failure: &Ratio) -> Result<Self, PlanError> {
        let room = if self.two_sides { 2 } else { 0 };
        let within = self.first.within(failure)?.saturating_add(room);
        let within_both = self.first.within(&(failure / &Ratio::from(2u64)))?.saturating_add(room);
        Ok(Self { within, within_both, second: None, ..self.clone() })
    }

    /// What each of them costs.
    pub fn losses(&self) -> Vec<Loss> {
        let second = self.second.as_ref().map(|(noise, _)| noise.cost());
        std::iter::once(self.first.cost()).chain(second).collect()
    }

    /// What they cost together.
    #[cfg(test)]
    pub fn cost(&self) -> Loss {
        self.losses().into_iter().reduce(|sum, part| sum.compose(&part)).expect("a sum")
    }

    /// Twice the noisy sum, and twice the noisy number of rows in steps, from two sides.
    pub fn run_sides<C: Coins>(&self, sum: i64, rows: u64, steps: i64, coins: &mut C) -> (i64, i64) {
        debug_assert!(self.two_sides);
        let all = i128::from(rows) * i128::from(steps);
        let side = |side: i128| i64::try_from(side).unwrap_or(i64::MAX);
        let [above, below] =
            self.first.run_two([side(all + i128::from(sum)), side(all - i128::from(sum))], coins);
        (above.saturating_sub(below), above.saturating_add(below))
    }

    /// The noisy number of rows on neither side.
    pub fn run_without<C: Coins>(&self, rows: u64, steps: i64, coins: &mut C) -> i64 {
        debug_assert!(self.two_sides);
        let one = 2 * i128::from(steps);
        let noisy = self.first.run(i64::try_from(i128::from(rows) * one).unwrap_or(i64::MAX), coins);
        noisy.saturating_add(steps).div_euclid(steps.saturating_mul(2))
    }
}

/// How far one row moves the two sides together: in the sum of both, and in the root of the sum of their squares.
///
/// A row that comes or goes moves them by two steps for each step of the farthest, if on one side alone. One that is replaced
/// takes from one side what it gives to the other.
fn one_row(adjacency: Adjacency, moved: &Moved) -> (i64, i64) {
    let comes = 2 * moved.steps;
    match adjacency {
        Adjacency::AddRemove => (comes, comes),
        // 1.41422 is above the root of two.
        Adjacency::Replace => {
            let diagonal = i128::from(moved.span) * 141_422 / 100_000 + 1;
            (comes.max(2 * moved.span), comes.max(i64::try_from(diagonal).expect("below twice the span")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gather::tests::FixedWords, plan::DataFacts, request::Request};
    use equipoise_core::{
        tape::{delta_between, enumerate},
        universe::neighbouring_pairs,
    };

    fn sums(confidence: &str, mechanism: &str) -> Sums {
        let facts = DataFacts {
            name: "people".into(),
            columns: Vec::new(),
            registered: None,
            kinds: Vec::new(),
            windows: None,
        };
        let request = Request {
            epsilon: Some("1".into()),
            delta: Some("1e-6".into()),
            confidence: Some(confidence.into()),
            mechanism: Some(mechanism.into()),
            ..Request::new("count")
        };
        let said = ResolvedRequest::new(&request, &facts).unwrap();
        let moved = Moved { steps: 1000, square_steps: 1000, span: 2000 };
        Sums::plan(&said, said.eps(), &moved, true, Which::First).unwrap()
    }

    /// Wherever the mean lies, the noisy share is within what is said as often as is said, and not much more often at the ends
    /// of the range, where one side alone decides.
    #[test]
    fn the_noisy_share_is_off_by_what_is_said() {
        const TRIALS: usize = 4000;
        let mut coins = FixedWords(3);
        for mechanism in ["laplace", "gaussian"] {
            for (confidence, least) in [("0.95", 0.94), ("0.8", 0.78)] {
                let sums = sums(confidence, mechanism);
                for (share, sum) in
                    [(-1.0f64, -200_000), (-0.9, -180_000), (0.0, 0), (0.5, 100_000), (1.0, 200_000)]
                {
                    let within = |_: &usize| {
                        let (twice_sum, twice_rows) = sums.run_sides(sum, 200, 1000, &mut coins);
                        let found = twice_sum as f64 / twice_rows as f64;
                        (found - share).abs() <= 2.0 * sums.within as f64 / twice_rows as f64
                    };
                    let held = (0..TRIALS).filter(within).count() as f64 / TRIALS as f64;
                    assert!(held >= least, "{mechanism} {confidence} {share}: {held}");
                    let one_side = share.abs() > 0.99;
                    assert!(!one_side || held <= least + 0.04, "{mechanism} {confidence} {share}: {held}");
                }
            }
        }
    }

    /// Two sides and the rows on neither, all three shown: what two cost where rows come and go. A mutant that counts a row on neither side
    /// twice is caught, and so is a third number where a row can be replaced by one on neither side.
    #[test]
    fn rows_on_neither_side_are_counted_at_the_price_of_two_sides() {
        const EMPTY: i64 = 9;
        let small = |adjacency: Adjacency| {
            let columns = vec!["salary".into()];
            let facts = DataFacts {
                name: "people".into(),
                columns,
                registered: None,
                kinds: Vec::new(),
                windows: None,
            };
            let request = Request {
                column: Some("salary".into()),
                epsilon: Some("2".into()),
                adjacency: Some(adjacency.to_string()),
                ..Request::new("count")
            };
            let said = ResolvedRequest::new(&request, &facts).unwrap();
            let moved = Moved { steps: 1, square_steps: 1, span: 2 };
            Sums::plan(&said, said.eps(), &moved, true, Which::First).unwrap()
        };
        let worst = |adjacency: Adjacency, times: u64| {
            let sums = small(Adjacency::AddRemove);
            let law = |rows: &[i64]| {
                let with: Vec<i64> = rows.iter().copied().filter(|&row| row != EMPTY).collect();
                let (sum, count) = (with.iter().sum(), with.len() as u64);
                let without = (rows.len() - with.len()) as u64 * times;
                enumerate(&"1e-7".parse().unwrap(), |tape| {
                    (sums.run_sides(sum, count, 1, tape), sums.run_without(without, 1, tape))
                })
            };
            let pairs = neighbouring_pairs(&[EMPTY, -1, 0, 1], 1, adjacency);
            let deltas =
                pairs.into_iter().map(|(a, b)| delta_between(&Ratio::from(2u64), &law(&a), &law(&b)));
            deltas.reduce(|one, other| one.max(&other)).expect("some pair")
        };
        let [promised, caught] = ["1e-3", "0.05"].map(|text| text.parse::<Ratio>().unwrap());
        assert!(worst(Adjacency::AddRemove, 1).upper() <= promised);
        assert!(worst(Adjacency::AddRemove, 2).lower() > caught);
        assert!(worst(Adjacency::Replace, 1).lower() > caught);
        // The bell curve is as wide in every direction, and a row on neither side goes no farther than one on a side.
        let moved = Moved { steps: 10, square_steps: 100, span: 20 };
        assert_eq!(one_row(Adjacency::AddRemove, &moved).1, 2 * moved.steps);
    }

    #[test]
    fn a_replaced_row_takes_from_one_side_what_it_gives_to_the_other() {
        let moved = Moved { steps: 10, square_steps: 100, span: 20 };
        assert_eq!(one_row(Adjacency::AddRemove, &moved), (20, 20));
        assert_eq!(one_row(Adjacency::Replace, &moved), (40, 29));
        let one_sided = Moved { span: 10, ..moved };
        assert_eq!(one_row(Adjacency::Replace, &one_sided), (20, 20));
    }
}
