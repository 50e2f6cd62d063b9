//! An answer that stays until most copies disagree: far fewer copies than answers, for a value that changes rarely.
//!
//! Source: A. Hassidim and others, "Adversarially robust streaming algorithms via differential privacy" (2020), with the
//! monitor of 003_82bbcee9e9852ea0.txt.
//!
//! # Guarantee
//!
//! If each copy is within `1 ± alpha/8` of a value that is never negative at one moment of one fixed stream, except with
//! probability `e^-ln_inverse_failure`, then with probability at least `1 - beta` every one of `answers` answers is within
//! `1 ± alpha` of the value, until it stops; alpha is at most one half. It stops once the answer has changed `changes`
//! times, which a value that only grows to F does not make happen for `changes >= 2 + ln F/ln(1 + alpha/16)`.
//!
//! # Why
//!
//! Write `l = ln(2·answers/(gamma·beta))` with gamma = 1/50, and D for divergences of order two.
//!
//! 1. The monitor is asked how many copies disagree with the answer, being off it by more than alpha/2. Another copy in the
//!    place of one changes that count by at most one either way, so each "above" costs `mu = -a - ln(2 - e^a)`, a being the
//!    slope of the [monitor](equipoise_core::monitor::threshold_monitor), and "below" costs nothing; after at most
//!    `changes` of them it stops. A private median with the loss eps costs `eps²/4`. With `changes·mu <= l` and
//!    `changes·eps²/4 <= l`, all that is seen has D at most 2l.
//! 2. As in [`parameters`](super::parameters): with fresh coins in the place of a copy's, it is off with chance q at most;
//!    so it is off with chance at most `sqrt(q·e^(2l))`, which is `e^-l` for `ln 1/q = 4l`. By Markov's inequality at
//!    all answers together fewer than `gamma·copies` copies are off, except with probability beta/2.
//! 3. Where the answer is not within `1 ± alpha` of the value, all copies that are not off disagree, which are more than the
//!    threshold of half: the monitor misses that with chance at most `e^-strength <= beta/(8·answers)`.
//! 4. Where no copy that is not off disagrees, fewer than `gamma·copies` do: a false alarm has chance at most
//!    `strength·e^(-a·(1/2 - gamma)·copies) <= beta/(8·answers)`. So an answer changes only if the value did: a new one
//!    is within `1 + alpha/8`, twice, of the value, and to disagree with it takes a factor of `1 + alpha/16`.
//! 5. A median outside the copies that are not off has chance at most `grid·exp(-eps·(1/2 - gamma)·copies/2)`, which is at
//!    most `beta/(4·changes)`.
//!
//! # Example
//!
//! ```
//! use equipoise_robust::flips::Wanted;
//!
//! let wanted = Wanted { alpha: "0.2".parse()?, beta: "0.01".parse()?, answers: 1_000_000, changes: 1000, grid: 1500 };
//! // A private median for each answer would take 7,500 copies.
//! assert_eq!(wanted.plan()?.copies(), 350);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::{
    Oblivious, Shape,
    copies::Spent,
    fits_memory,
    grid::Grid,
    state::{Damaged, Kind, Reader, Stored, Writer, seal, unseal},
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    interval::{Interval, ln_upper},
    loss::{Delta, Eps, ParameterError},
    monitor::threshold_monitor::{Answer, Contributions, Noise, ThresholdMonitor, Watch},
    ratio::Ratio,
};

/// The precision of roots and logarithms.
const BITS: usize = 128;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How far off an answer may be, as a share, at most one half.
    pub alpha: Ratio,
    /// How likely some answer may be farther off.
    pub beta: Ratio,
    /// How many answers there will be at most.
    pub answers: u64,
    /// How often the answer may change.
    pub changes: u64,
    /// How many values an answer can have.
    pub grid: usize,
}

/// Checked sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    wanted: Wanted,
    copies: usize,
    eps: Eps,
    scale: Ratio,
    strength: u64,
    ln_inverse_failure: Ratio,
}

fn gamma() -> Ratio {
    Ratio::new(1, 50)
}

/// What an "above" of a monitor with this scale costs at order two, rounded up; `None` without a bound.
fn above_upper(scale: &Ratio) -> Option<Ratio> {
    let slope = Interval::exact(&scale.recip(), BITS);
    let two = Interval::integer(2, BITS);
    let left = two.sub(&slope.exp());
    if left.lower() <= Ratio::zero() {
        return None;
    }
    let up = slope.neg().sub(&left.ln());
    let down = slope.sub(&two.sub(&slope.neg().exp()).ln());
    Some(up.upper().max(down.upper()))
}

/// What methods for few changes of value accept.
pub(super) fn check_changing(
    alpha: &Ratio,
    beta: &Ratio,
    answers: u64,
    changes: u64,
) -> Result<(), ParameterError> {
    let refuse = |name, value: &dyn std::fmt::Display, accepted| {
        Err(ParameterError::out_of_range(name, value, accepted))
    };
    if !alpha.is_positive() || *alpha > Ratio::new(1, 2) {
        return refuse("alpha", alpha, "give a number above 0 and at most 1/2, such as 0.2");
    }
    if !beta.is_positive() || *beta >= Ratio::one() {
        return refuse("beta", beta, "give a number between 0 and 1, such as 0.01");
    }
    if !(1..=1 << 40).contains(&answers) {
        return refuse("answers", &answers, "give from 1 to 2^40 answers, such as 1000000");
    }
    if !(1..=1_000_000).contains(&changes) {
        return refuse("changes", &changes, "give from 1 to 1000000 changes, such as 1000");
    }
    Ok(())
}

impl Wanted {
    fn check(&self) -> Result<(), ParameterError> {
        check_changing(&self.alpha, &self.beta, self.answers, self.changes)?;
        if self.grid == 0 {
            return Err(ParameterError::out_of_range("grid", self.grid, "give at least one possible answer"));
        }
        Ok(())
    }

    /// The sizes for which the theorem holds.
    pub fn plan(self) -> Result<Plan, ParameterError> {
        self.check()?;
        let (answers, changes) = (Ratio::from(self.answers), Ratio::from(self.changes));
        let l = ln_upper(&(Ratio::from(2u64) * &answers / (gamma() * &self.beta)));
        let each = &l / &changes;
        let eps = Interval::exact(&(Ratio::from(4u64) * &each), BITS).sqrt().lower().dyadic_down(48);
        let scale = least_scale(&each);
        let strength = ln_upper(&(Ratio::from(8u64) * &answers / &self.beta)).ceil_i64();
        let strength = strength.and_then(|strength| u64::try_from(strength).ok()).expect("a small logarithm");
        let half = Ratio::new(1, 2) - gamma();
        let alarms = ln_upper(&(Ratio::from(8 * strength) * answers / &self.beta));
        let misses = ln_upper(&(Ratio::from(4 * self.grid as u64) * changes / &self.beta));
        let copies = (&scale * &alarms).max(Ratio::from(2u64) * misses / &eps) / half;
        let copies =
            copies.ceil_i64().and_then(|copies| usize::try_from(copies).ok()).expect("some thousands");
        let ln_inverse_failure = Ratio::from(4u64) * l;
        Ok(Plan { wanted: self, copies, eps: Eps::new(eps)?, scale, strength, ln_inverse_failure })
    }
}

/// The least scale, in steps of 1/1024, at which an "above" costs at most this.
fn least_scale(cost: &Ratio) -> Ratio {
    let (mut low, mut high) = (1024u64, 1 << 50);
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        let at = Ratio::from(middle) / Ratio::from(1024u64);
        if above_upper(&at).is_some_and(|above| above <= *cost) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ratio::from(high) / Ratio::from(1024u64)
}

impl Plan {
    /// How many copies run at once.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// How rarely a copy within `1 ± alpha/8` must be off on fixed updates, as ln(1/chance).
    pub fn ln_inverse_failure(&self) -> &Ratio {
        &self.ln_inverse_failure
    }

    fn watch(&self) -> Watch {
        // Steps 1 and 2 count what it costs; its own price is not asked for, only its noise.
        let monitor = ThresholdMonitor {
            eps: Eps::new(Ratio::one()).expect("one is a loss"),
            delta: Delta::new(Ratio::new(1, 1_000_000)).expect("a small chance"),
            budget: self.wanted.changes,
            contributions: Contributions::Binary,
            noise: Noise::Saturated { strength: self.strength },
            adjacency: Adjacency::Replace,
        };
        monitor.at_scale(&self.scale).expect("a scale of at least one has a price").start(self.copies)
    }
}

/// Copies, and an answer that stays until they disagree.
pub struct Flips<A: Oblivious> {
    plan: Plan,
    grid: Grid,
    copies: Vec<A>,
    watch: Watch,
    answer: Option<i128>,
    changes_left: u64,
    answers_left: u64,
    /// Did it stop because the answer changed as often as planned?
    over: bool,
}

impl<A: Oblivious> Flips<A> {
    /// Copies of this shape on this input. Refused where the shape fails too often, or the grid has more values than planned.
    pub fn new<C: Coins>(
        plan: Plan,
        grid: Grid,
        shape: &A::Shape,
        input: &A::Input,
        coins: &mut C,
    ) -> Result<Self, ParameterError> {
        fits_memory(plan.copies, shape)?;
        let known = shape.ln_inverse_failure();
        if known < plan.ln_inverse_failure {
            let next = "the plan needs copies that fail more rarely; give a larger shape";
            return Err(ParameterError::out_of_range(
                "shape of a copy with ln(1/failure)",
                known.to_decimal_up(2),
                next,
            ));
        }
        let eighth = &plan.wanted.alpha / &Ratio::from(8u64);
        if shape.alpha() > eighth || grid.rounding().is_none_or(|rounding| *rounding > eighth) {
            let next = "copies and the grid may be off by an eighth of that at most; give finer ones";
            return Err(ParameterError::out_of_range("alpha", &plan.wanted.alpha, next));
        }
        if grid.len() > plan.wanted.grid {
            return Err(ParameterError::out_of_range("grid", grid.len(), "the plan allows fewer values"));
        }
        let copies = (0..plan.copies).map(|_| A::init(shape, input, coins)).collect();
        let (changes_left, answers_left) = (plan.wanted.changes, plan.wanted.answers);
        let (watch, answer, over) = (plan.watch(), None, false);
        Ok(Self { plan, grid, copies, watch, answer, changes_left, answers_left, over })
    }

    /// How often the answer may change for a value that only grows, from one to `highest`: for display.
    pub fn changes_for(alpha: f64, highest: f64) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive count")]
        let changes = (highest.ln() / (alpha / 16.0).ln_1p()).ceil() as u64;
        changes + 2
    }

    /// Follow many changes of the input.
    pub fn update_all(&mut self, updates: &[A::Update]) {
        for copy in &mut self.copies {
            copy.update_all(updates);
        }
    }

    /// The answer; an error once all answers were given or the answer has changed as often as planned.
    pub fn query<C: Coins>(&mut self, question: &A::Question, coins: &mut C) -> Result<i128, Spent> {
        let Wanted { answers, changes, .. } = self.plan.wanted;
        let left = self.answers_left.checked_sub(1);
        self.answers_left = left.ok_or_else(|| self.spent(answers, changes))?;
        let numbers: Vec<i128> = self.copies.iter_mut().map(|copy| copy.query(question)).collect();
        if let Some(answer) = self.answer {
            let mut off = vec![0u64; numbers.len().div_ceil(64)];
            for (place, &number) in numbers.iter().enumerate() {
                off[place / 64] |=
                    u64::from(!agrees(&self.plan.wanted.alpha, answer, number)) << (place % 64);
            }
            let half = Ratio::new(1, 2) * Ratio::from(numbers.len() as u64);
            if self.watch.ask(&off, &half, coins) == Answer::Below {
                return Ok(answer);
            }
        }
        let Some(left) = self.changes_left.checked_sub(1) else {
            (self.answers_left, self.over) = (0, true);
            return Err(self.spent(answers, changes));
        };
        self.changes_left = left;
        let answer = self.grid.median(self.plan.eps.clone()).run(&numbers, coins);
        self.answer = Some(answer);
        Ok(answer)
    }

    fn spent(&self, answers: u64, changes: u64) -> Spent {
        if self.over { Spent::Changes { changes } } else { Spent::Answers { answers } }
    }

    /// Count an answer that was given before, from a log: perhaps the answer changed then, and nobody knows to what.
    pub fn count_answer(&mut self) {
        self.answers_left = self.answers_left.saturating_sub(1);
        self.changes_left = self.changes_left.saturating_sub(1);
        self.answer = None;
    }

    /// How many copies there are.
    pub fn copies(&self) -> usize {
        self.copies.len()
    }

    /// How many more times the answer can change.
    pub fn changes_left(&self) -> u64 {
        self.changes_left
    }

    /// How many answers are left.
    pub fn queries_left(&self) -> u64 {
        self.answers_left
    }

    /// Bytes of memory, about.
    pub fn space(&self) -> usize {
        self.copies.iter().map(A::space).sum()
    }
}

/// Is the number within `1 ± alpha/2` of the answer?
pub(super) fn agrees(alpha: &Ratio, answer: i128, number: i128) -> bool {
    // Both lose the same low bits where they are large, which moves them by less than any alpha that matters.
    let longest = answer.unsigned_abs().max(number.unsigned_abs());
    let shift = (128 - longest.leading_zeros()).saturating_sub(62);
    let [answer, number] =
        [answer, number].map(|value| Ratio::from(i64::try_from(value >> shift).expect("at most 62 bits")));
    Ratio::from(2u64) * (number - &answer).abs() <= alpha * &answer.abs()
}

const KIND: Kind = *b"flips\0\0\0";

impl<A: Oblivious + Stored> Flips<A> {
    /// The state as bytes. They hold the keys: keep them secret.
    pub fn to_bytes(&self) -> Vec<u8> {
        seal(KIND, |out| {
            self.plan.wanted.write(out);
            self.grid.write(out);
            out.words([self.changes_left, self.answers_left]);
            self.over.write(out);
            self.answer.write(out);
            self.copies.write(out);
        })
    }

    /// Go on from a stored state. Do so once only: the coins are the same each time.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Damaged> {
        unseal(KIND, bytes, |from| {
            let plan = Wanted::read(from)?.plan();
            let plan = plan.map_err(|_| Damaged::Content("its plan is out of range"))?;
            let grid = Grid::read(from)?;
            let (changes_left, answers_left) = (from.word()?, from.word()?);
            let (over, answer) = (bool::read(from)?, Option::read(from)?);
            let copies = Vec::<A>::read(from)?;
            let fits = copies.len() == plan.copies
                && grid.len() <= plan.wanted.grid
                && changes_left <= plan.wanted.changes
                && answers_left <= plan.wanted.answers;
            if !fits {
                return Err(Damaged::Content("its copies or answers are not those of its plan"));
            }
            Ok(Self { watch: plan.watch(), plan, grid, copies, answer, changes_left, answers_left, over })
        })
    }
}

impl Stored for Wanted {
    fn write(&self, out: &mut Writer) {
        self.alpha.write(out);
        self.beta.write(out);
        out.words([self.answers, self.changes, self.grid as u64]);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let (alpha, beta) = (Ratio::read(from)?, Ratio::read(from)?);
        Ok(Self { alpha, beta, answers: from.word()?, changes: from.word()?, grid: from.size()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        TestWords,
        state::assert_refuses_damage,
        test_counter::{Counter, Rarely},
    };
    use equipoise_core::loss::renyi_curve_upper;

    fn wanted(answers: u64, changes: u64) -> Wanted {
        let (alpha, beta) = ("0.5".parse().unwrap(), "0.01".parse().unwrap());
        Wanted { alpha, beta, answers, changes, grid: 500 }
    }

    #[test]
    fn sizes_near_those_of_the_theory_page() {
        // The page has 101, 167, 338, 1014 with a slightly other split of beta.
        for (changes, least, most) in
            [(50, 101, 120), (200, 167, 195), (1000, 338, 390), (10_000, 1014, 1160)]
        {
            let copies = Wanted { grid: 200, ..wanted(1_000_000, changes) }.plan().unwrap().copies();
            assert!((least..most).contains(&copies), "{changes}: {copies}");
        }
    }

    #[test]
    fn the_price_of_an_above_is_that_of_the_monitor() {
        for scale in ["2", "15.5", "400"] {
            let scale: Ratio = scale.parse().unwrap();
            let curve = renyi_curve_upper(1, &scale.recip());
            let mut orders = curve.iter().filter(|(order, _)| **order == Ratio::from(2u64));
            let known = orders.next().unwrap().1.unwrap().ratio().to_f64();
            let here = above_upper(&scale).unwrap().to_f64();
            assert!((known - here).abs() < 1e-9, "{known} {here}");
        }
        assert!(above_upper(&Ratio::one()).is_none());
        // Mutant: with a scale one part in a thousand smaller the budget is overspent.
        let plan = wanted(1000, 100).plan().unwrap();
        let l = plan.ln_inverse_failure() / &Ratio::from(4u64);
        let all = |scale: &Ratio| above_upper(scale).unwrap() * Ratio::from(100u64);
        assert!(all(&plan.scale) <= l && all(&(&plan.scale * &"0.999".parse().unwrap())) > l);
    }

    #[test]
    fn the_answer_follows_a_value_that_grows_and_changes_rarely() {
        let mut coins = TestWords(3);
        let grid = Grid::growing(&"1/16".parse().unwrap(), 1 << 20).unwrap();
        let plan = wanted(2000, 400).plan().unwrap();
        let mut flips = Flips::<Counter>::new(plan, grid.clone(), &Rarely(128), &0, &mut coins).unwrap();
        let mut value = 0i128;
        for step in 0..1500u32 {
            flips.update_all(&[7]);
            value += 7;
            if step == 700 {
                flips = Flips::from_bytes(&flips.to_bytes()).unwrap();
            }
            let answer = flips.query(&(), &mut coins).unwrap();
            assert!(2 * answer >= value && 2 * answer <= 3 * value, "{answer} for {value}");
        }
        let changed = 400 - flips.changes_left();
        // From 7 to 10,500 in factors of at least 1 + 1/32, and about 1 + 1/4 each time.
        assert!((15..120).contains(&changed), "{changed}");
        assert_eq!(flips.queries_left(), 500);
        assert_refuses_damage(&flips.to_bytes(), |bytes| Flips::<Counter>::from_bytes(bytes).err());
        let plan = wanted(10, 1).plan().unwrap();
        let mut flips = Flips::<Counter>::new(plan, grid, &Rarely(128), &50, &mut coins).unwrap();
        flips.query(&(), &mut coins).unwrap();
        flips.query(&(), &mut coins).unwrap();
        flips.update_all(&[1000]);
        assert_eq!(flips.query(&(), &mut coins).unwrap_err(), Spent::Changes { changes: 1 });
        let mut flips = Flips::<Counter>::from_bytes(&flips.to_bytes()).unwrap();
        assert_eq!(flips.query(&(), &mut coins).unwrap_err(), Spent::Changes { changes: 1 });
        assert_eq!(flips.queries_left(), 0);
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        for bad in [
            Wanted { alpha: Ratio::one(), ..wanted(9, 9) },
            Wanted { beta: Ratio::zero(), ..wanted(9, 9) },
            wanted(0, 9),
            wanted(9, 0),
            Wanted { grid: 0, ..wanted(9, 9) },
        ] {
            assert!(bad.plan().is_err());
        }
        let grid = Grid::growing(&"1/16".parse().unwrap(), 1 << 20).unwrap();
        let plan = wanted(9, 9).plan().unwrap();
        let mut coins = TestWords(1);
        let coarse = Grid::growing(&"1/8".parse().unwrap(), 1 << 20).unwrap();
        for (grid, rarely) in [(grid, 10), (coarse, 128)] {
            assert!(Flips::<Counter>::new(plan.clone(), grid, &Rarely(rarely), &0, &mut coins).is_err());
        }
    }
}
