//! Copies that live elsewhere: whoever holds them hands over what each says, and what is decided from it is decided here.
//!
//! A copy here is its place in the list of those that say something, so that [`copies`](crate::copies), [`switching`] and
//! [`flips`] run the same lines for copies in other languages as for their own. What is stated of a copy is stated by
//! whoever holds it.

use crate::{
    Guarantee, Oblivious, Shape,
    copies::{Copies, Spent},
    flips::{self, Flips},
    grid::Grid,
    parameters::{self, Plan},
    state::{Damaged, Reader, Stored, Writer},
    switching::{self, Switching},
};
use equipoise_core::{coins::Coins, loss::ParameterError, ratio::Ratio};
use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// What is stated of copies, and how many there are.
#[derive(Clone, Debug)]
pub struct Stated {
    /// A copy is off by more than `alpha` with chance at most e to the minus this, on updates that were fixed.
    pub ln_inverse_failure: Ratio,
    /// How far off an answer may be, as a share, and not count as off.
    pub alpha: Ratio,
    copies: usize,
    made: Arc<AtomicUsize>,
}

impl Stated {
    /// Of so many copies, which take places one after the other.
    pub fn new(copies: usize, ln_inverse_failure: Ratio, alpha: Ratio) -> Self {
        Self { ln_inverse_failure, alpha, copies: copies.max(1), made: Arc::default() }
    }
}

impl Shape for Stated {
    fn ln_inverse_failure(&self) -> Ratio {
        self.ln_inverse_failure.clone()
    }

    fn alpha(&self) -> Ratio {
        self.alpha.clone()
    }

    fn space(&self) -> usize {
        1
    }
}

impl Stored for Stated {
    fn write(&self, out: &mut Writer) {
        self.ln_inverse_failure.write(out);
        self.alpha.write(out);
        out.word(self.copies as u64);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let (ln_inverse_failure, alpha) = (Ratio::read(from)?, Ratio::read(from)?);
        Ok(Self::new(from.size()?, ln_inverse_failure, alpha))
    }
}

/// A copy that lives elsewhere, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elsewhere(pub usize);

/// Nothing is kept here of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nothing;

impl Stored for Nothing {
    fn write(&self, _: &mut Writer) {}

    fn read(_: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(Self)
    }
}

impl Stored for Elsewhere {
    fn write(&self, out: &mut Writer) {
        out.word(self.0 as u64);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        Ok(Self(from.size()?))
    }
}

impl Oblivious for Elsewhere {
    type Shape = Stated;
    type Input = Nothing;
    type Update = ();
    /// What each copy says, by its place.
    type Question = [i128];
    type Refused = Infallible;

    fn apply(_: &mut Nothing, (): &()) -> Result<(), Infallible> {
        Ok(())
    }

    fn init<C: Coins>(shape: &Stated, _: &Nothing, _: &mut C) -> Self {
        Self(shape.made.fetch_add(1, Ordering::Relaxed) % shape.copies)
    }

    fn update(&mut self, (): &()) {}

    fn query(&mut self, says: &[i128]) -> i128 {
        says.get(self.0).copied().unwrap_or(0)
    }

    fn space(&self) -> usize {
        1
    }
}

/// A way to be robust around copies that live elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Algorithm B: a private median of all copies for each answer.
    Copies,
    /// One copy after another, each until the answer changes.
    Switching,
    /// An answer that stays until most copies disagree.
    Flips,
}

/// What is asked, and what is stated of one copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Which way.
    pub way: Way,
    /// How far off an answer may be: as a share, or in units.
    pub alpha: Ratio,
    /// How likely some answer, of a phase where phases follow one another, may be farther off.
    pub beta: Ratio,
    /// How many answers, of a phase.
    pub answers: u64,
    /// How often the answer may change; for switching and flips.
    pub changes: u64,
    /// The largest answer there can be, in units.
    pub highest: i128,
    /// Is alpha a number of units, and not a share?
    pub absolute: bool,
    /// What is stated of one copy, as ln(1/chance); nothing makes the sizes a heuristic.
    pub ln_inverse_failure: Option<Ratio>,
    /// Does a new phase follow when its answers are given?
    pub keep: bool,
}

/// What a wish comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// How many copies.
    pub copies: usize,
    /// How rarely one must be off on fixed updates, as ln(1/chance).
    pub ln_inverse_failure: Ratio,
    /// By how much one may be off and not count as off.
    pub copy_alpha: Ratio,
}

impl Wish {
    fn eighths(&self, parts: u64) -> Ratio {
        &self.alpha * &Ratio::new(i64::try_from(parts).expect("a few"), 8)
    }

    /// The values that answers can have. Numbers of units are whole, so that none of them is rounded further.
    fn grid(&self) -> Result<Grid, ParameterError> {
        if self.absolute {
            Grid::even(1, self.highest)
        } else {
            Grid::growing(&self.eighths(1), self.highest)
        }
    }

    fn check(&self) -> Result<(), ParameterError> {
        if self.absolute && self.way != Way::Copies {
            let next = "switching and flips follow changes by a share; use copies, or a share";
            return Err(ParameterError::out_of_range("error", "absolute", next));
        }
        Ok(())
    }

    fn plan(&self, answers: u64) -> Result<Plan, ParameterError> {
        parameters::Wanted { answers, beta: self.beta.clone(), grid: self.grid()?.len() }.plan()
    }

    fn switching(&self) -> Result<switching::Wanted, ParameterError> {
        let changes = usize::try_from(self.changes)
            .map_err(|_| ParameterError::out_of_range("changes", self.changes, "give fewer"))?;
        let (alpha, beta, answers) = (self.alpha.clone(), self.beta.clone(), self.answers);
        Ok(switching::Wanted { alpha, beta, answers, changes })
    }

    fn flips(&self) -> Result<flips::Plan, ParameterError> {
        let (alpha, beta, answers) = (self.alpha.clone(), self.beta.clone(), self.answers);
        flips::Wanted { alpha, beta, answers, changes: self.changes, grid: self.grid()?.len() }.plan()
    }

    /// How many copies, and what each must be.
    pub fn sizes(&self) -> Result<Sizes, ParameterError> {
        self.check()?;
        Ok(match self.way {
            Way::Copies => {
                let plan = self.plan(self.answers)?;
                let ln_inverse_failure = plan.ln_inverse_failure().clone();
                Sizes { copies: plan.copies(), ln_inverse_failure, copy_alpha: self.eighths(7) }
            }
            Way::Switching => {
                let wanted = self.switching()?;
                let ln_inverse_failure = wanted.ln_inverse_failure()?;
                Sizes { copies: wanted.changes, ln_inverse_failure, copy_alpha: self.eighths(1) }
            }
            Way::Flips => {
                let plan = self.flips()?;
                let ln_inverse_failure = plan.ln_inverse_failure().clone();
                Sizes { copies: plan.copies(), ln_inverse_failure, copy_alpha: self.eighths(1) }
            }
        })
    }

    /// The most answers that so many copies give by a private median.
    pub fn answers_of(&self, copies: usize) -> Result<u64, ParameterError> {
        let enough = |answers: u64| self.plan(answers).is_ok_and(|plan| plan.copies() <= copies);
        if !enough(1) {
            let next = "so few do not answer even once; give more, or a larger alpha";
            return Err(ParameterError::out_of_range("copies", copies, next));
        }
        let (mut low, mut high) = (1u64, 2u64);
        while high < 1 << 40 && enough(high) {
            (low, high) = (high, high * 2);
        }
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if enough(middle) { low = middle } else { high = middle }
        }
        Ok(low)
    }
}

/// Copies that live elsewhere, and what is decided from what they say.
pub enum Together {
    /// Behind a private median.
    Copies(Box<Copies<Elsewhere>>),
    /// One after another.
    Switching(Box<Switching<Elsewhere>>, usize),
    /// Behind a monitor.
    Flips(Box<Flips<Elsewhere>>),
}

impl std::fmt::Debug for Together {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Together({} copies)", self.copies())
    }
}

impl Together {
    /// Begin. Refused where the copies are stated to fail too often for what is wanted.
    pub fn new<C: Coins>(wish: &Wish, coins: &mut C) -> Result<Self, ParameterError> {
        let Sizes { copies, copy_alpha, .. } = wish.sizes()?;
        let stated = wish.ln_inverse_failure.clone();
        let shape = Stated::new(copies, stated.clone().unwrap_or(Ratio::zero()), copy_alpha);
        Ok(match (wish.way, stated) {
            (Way::Copies, stated) => {
                let plan = wish.plan(wish.answers)?;
                let plan = if stated.is_some() {
                    plan
                } else {
                    let (eps, grid) = (plan.eps().clone(), plan.grid());
                    let wanted = parameters::Wanted { answers: wish.answers, beta: wish.beta.clone(), grid };
                    wanted.heuristic(copies, eps)?
                };
                Self::Copies(Box::new(Copies::new(plan, wish.grid()?, shape, Nothing, wish.keep, coins)?))
            }
            (Way::Switching, Some(_)) => {
                Self::Switching(Box::new(Switching::new(wish.switching()?, &shape, &Nothing, coins)?), copies)
            }
            (Way::Switching, None) => {
                let made = Switching::heuristic(wish.switching()?, &shape, &Nothing, coins)?;
                Self::Switching(Box::new(made), copies)
            }
            (Way::Flips, Some(_)) => {
                Self::Flips(Box::new(Flips::new(wish.flips()?, wish.grid()?, &shape, &Nothing, coins)?))
            }
            (Way::Flips, None) => {
                let next = "flips are proved or not at all; state how rarely a copy is off, or use copies";
                return Err(ParameterError::out_of_range("failure", "not stated", next));
            }
        })
    }

    /// How many copies.
    pub fn copies(&self) -> usize {
        match self {
            Self::Copies(copies) => copies.plan().copies(),
            Self::Switching(_, copies) => *copies,
            Self::Flips(flips) => flips.copies(),
        }
    }

    /// The places of the copies that the next answer asks; the others need not say anything.
    pub fn asks(&self) -> std::ops::Range<usize> {
        match self {
            Self::Switching(switching, copies) => {
                let used = copies - switching.changes_left().min(*copies);
                used..(used + 1).min(*copies)
            }
            _ => 0..self.copies(),
        }
    }

    /// Does the next answer begin a new phase, for which all copies are to be made anew on the present input?
    pub fn begins_anew(&self) -> bool {
        matches!(self, Self::Copies(copies) if copies.queries_left() == 0 && copies.input().is_some())
    }

    /// The answer, from what each copy says by its place.
    pub fn answer<C: Coins>(&mut self, says: &[i128], coins: &mut C) -> Result<i128, Spent> {
        match self {
            Self::Copies(copies) => copies.query(says, coins),
            Self::Switching(switching, _) => switching.query(says),
            Self::Flips(flips) => flips.query(says, coins),
        }
    }

    /// How many answers are left, of this phase where phases follow one another.
    pub fn queries_left(&self) -> u64 {
        match self {
            Self::Copies(copies) => copies.queries_left(),
            Self::Switching(switching, _) => switching.queries_left(),
            Self::Flips(flips) => flips.queries_left(),
        }
    }

    /// How often the answer may still change; nothing without a limit.
    pub fn changes_left(&self) -> Option<u64> {
        match self {
            Self::Copies(_) => None,
            Self::Switching(switching, _) => Some(switching.changes_left() as u64),
            Self::Flips(flips) => Some(flips.changes_left()),
        }
    }

    /// What stands behind the answers, if what is stated of copies is true.
    pub fn guarantee(&self) -> Guarantee {
        match self {
            Self::Copies(copies) => copies.guarantee(),
            Self::Switching(switching, _) => switching.guarantee(),
            Self::Flips(_) => Guarantee::Proved,
        }
    }

    /// The state as bytes, without the copies. Go on from it once only.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Copies(copies) => copies.to_bytes(),
            Self::Switching(switching, _) => switching.to_bytes(),
            Self::Flips(flips) => flips.to_bytes(),
        }
    }

    /// Go on from a stored state of this way, with so many copies.
    pub fn from_bytes<C: Coins>(
        way: Way,
        copies: usize,
        bytes: &[u8],
        coins: &mut C,
    ) -> Result<Self, Damaged> {
        Ok(match way {
            Way::Copies => Self::Copies(Box::new(Copies::from_bytes(bytes, coins)?)),
            Way::Switching => Self::Switching(Box::new(Switching::from_bytes(bytes)?), copies),
            Way::Flips => Self::Flips(Box::new(Flips::from_bytes(bytes)?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TestWords;

    fn wish(way: Way) -> Wish {
        let (alpha, beta) = ("0.4".parse().unwrap(), "0.01".parse().unwrap());
        let (highest, ln_inverse_failure) = (10_000, Some(Ratio::from(500u64)));
        Wish {
            way,
            alpha,
            beta,
            answers: 30,
            changes: 60,
            highest,
            absolute: false,
            ln_inverse_failure,
            keep: false,
        }
    }

    #[test]
    fn what_copies_say_elsewhere_becomes_one_answer_and_survives_the_disk() {
        let mut coins = TestWords(5);
        for way in [Way::Copies, Way::Switching, Way::Flips] {
            let wish = wish(way);
            let mut together = Together::new(&wish, &mut coins).unwrap();
            assert_eq!(together.copies(), wish.sizes().unwrap().copies);
            for step in 1..=20i128 {
                let truth = step * 100;
                // One copy of fifty is far off.
                let says: Vec<i128> =
                    (0..together.copies()).map(|copy| if copy % 50 == 49 { 9999 } else { truth }).collect();
                assert!(!together.asks().is_empty());
                let answer = together.answer(&says, &mut coins).unwrap();
                assert!(answer * 10 >= truth * 6 && answer * 10 <= truth * 14, "{way:?} {step}: {answer}");
                if step == 10 {
                    let bytes = together.to_bytes();
                    let copies = together.copies();
                    together = Together::from_bytes(way, copies, &bytes, &mut coins).unwrap();
                }
            }
            assert_eq!(together.queries_left(), 10, "{way:?}");
        }
    }

    #[test]
    fn copies_and_answers_belong_together_and_rare_failures_are_asked_for() {
        let wish = wish(Way::Copies);
        for copies in [40, 100, 400] {
            let answers = wish.answers_of(copies).unwrap();
            let sizes = |answers| Wish { answers, ..wish.clone() }.sizes().unwrap().copies;
            assert!(sizes(answers) <= copies && sizes(answers + 1) > copies, "{copies} {answers}");
        }
        assert!(wish.answers_of(3).unwrap_err().to_string().contains("do not answer even once"));
        let often = Wish { ln_inverse_failure: Some(Ratio::from(5u64)), ..wish.clone() };
        assert!(
            Together::new(&often, &mut TestWords(1)).unwrap_err().to_string().contains("fail more rarely")
        );
        let unstated =
            Together::new(&Wish { ln_inverse_failure: None, ..wish.clone() }, &mut TestWords(1)).unwrap();
        assert_eq!(unstated.guarantee(), Guarantee::Heuristic);
        let absolute = Wish { absolute: true, alpha: Ratio::from(8u64), ..wish.clone() };
        let mut together = Together::new(&absolute, &mut TestWords(2)).unwrap();
        let says = vec![-37; together.copies()];
        assert_eq!(together.answer(&says, &mut TestWords(3)).unwrap(), -37);
        let error = Together::new(&Wish { way: Way::Flips, ..absolute }, &mut TestWords(1)).unwrap_err();
        assert!(error.to_string().contains("follow changes by a share"), "{error}");
    }

    #[test]
    fn phases_follow_where_that_is_wanted() {
        let mut coins = TestWords(6);
        let mut together =
            Together::new(&Wish { answers: 2, keep: true, ..wish(Way::Copies) }, &mut coins).unwrap();
        let says = vec![50; together.copies()];
        for step in 0..6 {
            assert_eq!(together.begins_anew(), step > 0 && step % 2 == 0, "{step}");
            assert!((40..=50).contains(&together.answer(&says, &mut coins).unwrap()));
        }
    }
}
