//! Coins that take every path: the exact distribution of the code that ships.
//!
//! [`enumerate`] runs a function again and again; each run follows one path through its random decisions,
//! and the paths' probabilities, enclosed and rounded outwards, add up to a [`Pmf`]. Paths less likely
//! than a floor are cut and their probability counted as lost, so that loops which end with probability
//! one can be enumerated too.
//!
//! # Guarantee
//!
//! The true probability of a value lies in `[mass.lower, mass.upper + lost.upper]`. A test refutes this
//! by finding a function whose distribution is known and lies outside.

use crate::{
    chance::Chance,
    coins::{Coins, Law, Uniform},
    interval::{AUDIT_BITS, Interval},
    ladder::Ladder,
    pick::Pick,
    ratio::Ratio,
    stop,
};
use dashu_int::IBig;
use std::{any::Any, collections::BTreeMap, fmt, panic, rc::Rc};

/// A distribution with certified lower and upper probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Pmf<T> {
    masses: BTreeMap<T, Interval>,
    lost: Interval,
}

/// Coins that follow one path of many. Made by [`enumerate`] only.
pub struct Tape {
    steps: Vec<Step>,
    at: usize,
    path: Interval,
    lost: Interval,
    floor: Interval,
    floor_ratio: Ratio,
}

struct Step {
    /// The branches worth following: their index, and the probability of the path up to and including them.
    branches: Vec<(usize, Interval)>,
    taken: usize,
    /// The values behind the indexes, where a law was sampled.
    values: Option<Rc<dyn Any>>,
}

/// Thrown to leave a path that is too unlikely to follow.
struct PathLost;

/// The distribution of what `run` returns. Paths with probability below `floor` are cut.
pub fn enumerate<T: Ord>(floor: &Ratio, mut run: impl FnMut(&mut Tape) -> T) -> Pmf<T> {
    let mut tape = Tape {
        steps: Vec::new(),
        at: 0,
        path: Interval::one(AUDIT_BITS),
        lost: Interval::zero(AUDIT_BITS),
        floor: Interval::exact(floor, AUDIT_BITS),
        floor_ratio: floor.clone(),
    };
    let mut masses: BTreeMap<T, Interval> = BTreeMap::new();
    loop {
        stop::look();
        tape.at = 0;
        tape.path = Interval::one(AUDIT_BITS);
        match panic::catch_unwind(panic::AssertUnwindSafe(|| run(&mut tape))) {
            Ok(value) => {
                let mass = &tape.path;
                masses.entry(value).and_modify(|sum| *sum = sum.add(mass)).or_insert_with(|| mass.clone());
            }
            Err(payload) if payload.is::<PathLost>() => {}
            Err(payload) => panic::resume_unwind(payload),
        }
        if !tape.next_path() {
            break;
        }
    }
    let pmf = Pmf { masses, lost: tape.lost };
    let total = pmf.masses.values().fold(pmf.lost.clone(), |sum, mass| sum.add(mass));
    assert!(
        total.lower() <= Ratio::one() && total.upper() >= Ratio::one(),
        "the branches of some decision do not add up to one"
    );
    pmf
}

impl Tape {
    /// How many decisions this path has taken so far.
    pub fn decisions(&self) -> usize {
        self.at
    }

    fn next_path(&mut self) -> bool {
        while let Some(step) = self.steps.last_mut() {
            step.taken += 1;
            if step.taken < step.branches.len() {
                return true;
            }
            self.steps.pop();
        }
        false
    }

    fn lose(&mut self, mass: &Interval) {
        self.lost = self.lost.add(mass);
    }

    /// Take a branch; `branches` gives the probabilities in order, the first time this point is reached.
    fn decide(&mut self, branches: impl FnOnce() -> (Vec<Interval>, Option<Rc<dyn Any>>)) -> usize {
        if self.at == self.steps.len() {
            let (masses, values) = branches();
            let mut kept = Vec::new();
            let mut rest = Interval::one(AUDIT_BITS);
            for (index, mass) in masses.iter().enumerate() {
                rest = rest.sub(mass);
                let path = self.path.mul(mass);
                if !path.certainly_below(&self.floor) {
                    kept.push((index, path));
                } else if path.upper().is_positive() {
                    self.lose(&path);
                }
            }
            if values.is_some() {
                // A law's masses leave out a tail.
                self.lose(&self.path.mul(&rest.max(&Interval::zero(AUDIT_BITS))));
            }
            if kept.is_empty() {
                panic::resume_unwind(Box::new(PathLost));
            }
            self.steps.push(Step { branches: kept, taken: 0, values });
        }
        let step = &self.steps[self.at];
        let (index, path) = &step.branches[step.taken];
        self.path = path.clone();
        self.at += 1;
        *index
    }
}

impl Coins for Tape {
    fn bernoulli<C: Chance>(&mut self, chance: &C) -> bool {
        self.decide(|| {
            let yes = chance.enclose(AUDIT_BITS);
            let no = Interval::one(AUDIT_BITS).sub(&yes);
            (vec![yes, no], None)
        }) == 0
    }

    fn bits(&mut self, count: u32) -> u64 {
        assert!(count <= 20, "a tape does not branch 2^{count} ways; make the width a parameter");
        let each = Interval::exact(&Ratio::dyadic(IBig::ONE, count as usize), AUDIT_BITS);
        self.decide(|| (vec![each; 1 << count], None)) as u64
    }

    fn rung(&mut self, ladder: &Ladder) -> usize {
        self.decide(|| {
            let mut masses = Vec::new();
            let mut above = Interval::one(AUDIT_BITS);
            for index in 0..ladder.heads().len() {
                let rung = ladder.enclose(index, AUDIT_BITS);
                masses.push(above.sub(&rung));
                above = rung;
            }
            masses.push(above);
            (masses, None)
        })
    }

    fn pick(&mut self, pick: &Pick) -> usize {
        self.decide(|| {
            let mass = |&weight: &u64| Interval::exact(&Ratio::dyadic(weight.into(), 64), AUDIT_BITS);
            (pick.weights().iter().map(mass).collect(), None)
        })
    }

    /// One bit at a time, so that the fewest paths are followed.
    fn refine(&mut self, uniform: &mut Uniform) {
        let bit = self.bits(1);
        uniform.append(1, bit);
    }

    fn sample<L: Law>(&mut self, law: &L) -> L::Value {
        let floor = self.floor_ratio.clone();
        let index = self.decide(|| {
            let (values, masses): (Vec<L::Value>, Vec<Interval>) =
                law.masses(&floor, AUDIT_BITS).into_iter().unzip();
            (masses, Some(Rc::new(values)))
        });
        let values = self.steps[self.at - 1].values.as_ref().expect("a law was sampled here");
        values.downcast_ref::<Vec<L::Value>>().expect("the same law as before")[index].clone()
    }
}

impl<T: Ord> Pmf<T> {
    /// A distribution from its enclosed masses; what they leave of one counts as lost.
    pub fn from_masses(masses: impl IntoIterator<Item = (T, Interval)>) -> Self {
        let mut sum = BTreeMap::new();
        let mut rest = Interval::one(AUDIT_BITS);
        for (value, mass) in masses {
            rest = rest.sub(&mass);
            sum.entry(value).and_modify(|total: &mut Interval| *total = total.add(&mass)).or_insert(mass);
        }
        Self { masses: sum, lost: rest.max(&Interval::zero(AUDIT_BITS)) }
    }

    /// The values seen, with their probabilities.
    pub fn iter(&self) -> impl Iterator<Item = (&T, &Interval)> {
        self.masses.iter()
    }

    /// The probability of a value, apart from what was lost.
    pub fn mass(&self, value: &T) -> Interval {
        self.masses.get(value).cloned().unwrap_or_else(|| Interval::zero(AUDIT_BITS))
    }

    /// The probability of the paths that were cut.
    pub fn lost(&self) -> &Interval {
        &self.lost
    }

    /// The distribution of a function of the value.
    pub fn map<U: Ord>(self, transform: impl Fn(T) -> U) -> Pmf<U> {
        let mut masses = BTreeMap::new();
        for (value, mass) in self.masses {
            masses
                .entry(transform(value))
                .and_modify(|sum: &mut Interval| *sum = sum.add(&mass))
                .or_insert(mass);
        }
        Pmf { masses, lost: self.lost }
    }

    /// The least delta for which `P(E) <= e^eps·Q(E) + delta` for every event E, P being this
    /// distribution and Q the other; enclosed.
    pub fn delta_at(&self, eps: &Ratio, other: &Self) -> Interval {
        let zero = Interval::zero(AUDIT_BITS);
        let factor = Interval::exact(eps, AUDIT_BITS).exp();
        let mut sum = zero.clone();
        for (value, mass) in &self.masses {
            sum = sum.add(&mass.sub(&factor.mul(&other.mass(value))).max(&zero));
        }
        // What this side lost may all count; what the other side lost may all count against it.
        let low = sum.sub(&factor.mul(&other.lost)).max(&zero);
        let high = sum.add(&self.lost);
        low.hull(&high)
    }

    /// A certified lower bound on the largest log-ratio of two probabilities, as a float for display.
    pub fn largest_loss(&self, other: &Self) -> f64 {
        let ratio = |(value, mass): (&T, &Interval)| {
            let most = other.mass(value).add(&other.lost).upper();
            if most.is_zero() { f64::INFINITY } else { (mass.lower() / most).to_f64().ln() }
        };
        self.masses.iter().map(ratio).fold(0.0, f64::max)
    }
}

impl<T: Ord> Pmf<Option<T>> {
    /// The distribution of repeating a round until it is accepted: the accepted part over its mass.
    ///
    /// Enumerating one round instead of the loop keeps the number of paths small and loses no mass.
    pub fn given_some(self) -> Pmf<T> {
        let one = Interval::one(AUDIT_BITS);
        let rejected = self.mass(&None);
        // What was lost may have been accepted or not.
        let accepted = one.sub(&rejected.hull(&rejected.add(&self.lost)));
        let masses =
            self.masses.into_iter().filter_map(|(value, mass)| Some((value?, mass.div(&accepted)))).collect();
        Pmf { masses, lost: self.lost.div(&accepted) }
    }
}

/// The larger of both directions of [`Pmf::delta_at`].
pub fn delta_between<T: Ord>(eps: &Ratio, a: &Pmf<T>, b: &Pmf<T>) -> Interval {
    a.delta_at(eps, b).max(&b.delta_at(eps, a))
}

/// Enumerate the sampler of a law and hold it against the law's own masses. If the enumeration excludes no
/// claimed probability, the mass that was lost, which says how closely it looked; else the first value it
/// excludes.
///
/// Every law of this crate must pass; only then may [`Coins::sample`] branch over its masses.
pub fn confirm<L: Law>(law: &L, floor: &Ratio) -> Result<Interval, String>
where
    L::Value: Ord + fmt::Debug,
{
    let drawn = enumerate(floor, |tape| law.draw(tape));
    let claimed = Pmf::from_masses(law.masses(floor, AUDIT_BITS));
    let excludes = |this: &Pmf<L::Value>, other: &Pmf<L::Value>, value: &L::Value| {
        this.mass(value).lower() > other.mass(value).add(&other.lost).upper()
    };
    for value in drawn.masses.keys().chain(claimed.masses.keys()) {
        if excludes(&drawn, &claimed, value) || excludes(&claimed, &drawn, value) {
            let (drawn, claimed) = (drawn.mass(value).to_f64(), claimed.mass(value).to_f64());
            return Err(format!("{value:?}: drawn {drawn}, claimed {claimed}"));
        }
    }
    Ok(drawn.lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::{ExpNeg, Odds};

    fn floor() -> Ratio {
        "1e-12".parse().unwrap()
    }

    #[test]
    fn a_loop_is_enumerated_up_to_its_lost_tail() {
        let third = Odds::new(&Ratio::new(1, 3));
        let pmf = enumerate(&floor(), |tape| {
            let mut count = 0u32;
            while tape.bernoulli(&third) {
                count += 1;
            }
            count
        });
        for count in 0..20i32 {
            let expected = 2.0 / 3.0 * (1.0f64 / 3.0).powi(count);
            assert!((pmf.mass(&count.unsigned_abs()).to_f64() - expected).abs() < 1e-15);
        }
        assert!(pmf.lost().upper() < "2e-12".parse().unwrap() && pmf.lost().lower().is_positive());
    }

    #[test]
    fn randomized_response_has_the_delta_it_should() {
        let eps: Ratio = "1".parse().unwrap();
        // Tells the truth with probability e/(1+e): exactly 1-DP, and (0.5, delta) with a known delta.
        let half = crate::chance::Enclosed::new(|bits| {
            let e = ExpNeg::new(&eps).enclose(bits);
            Interval::one(bits).div(&e.add(&Interval::one(bits)))
        });
        let respond = |bit: bool| enumerate(&floor(), |tape| tape.bernoulli(&half) == bit);
        let (yes, no) = (respond(true), respond(false));
        assert!(delta_between(&eps, &yes, &no).upper() < "1e-50".parse().unwrap());
        let at_half = delta_between(&Ratio::new(1, 2), &yes, &no);
        let e = 1f64.exp();
        assert!((at_half.to_f64() - (e / (1.0 + e) - 0.5f64.exp() / (1.0 + e))).abs() < 1e-15);
        assert!((yes.largest_loss(&no) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_round_given_acceptance_is_the_loop() {
        let (third, fifth) = (Odds::new(&Ratio::new(1, 3)), Odds::new(&Ratio::new(1, 5)));
        let round = |tape: &mut Tape| {
            let value = tape.bernoulli(&third);
            let accepted = value || tape.bernoulli(&fifth);
            accepted.then_some(value)
        };
        let conditioned = enumerate(&floor(), round).given_some();
        let looped = enumerate(&floor(), |tape| {
            loop {
                if let Some(value) = round(tape) {
                    break value;
                }
            }
        });
        for value in [true, false] {
            let difference = conditioned.mass(&value).to_f64() - looped.mass(&value).to_f64();
            assert!(difference.abs() < 1e-11);
        }
        assert!((conditioned.mass(&true).to_f64() - 5.0 / 7.0).abs() < 1e-15);
    }

    #[test]
    fn lost_mass_widens_the_bracket_both_ways() {
        let point = |value: u8, mass: &str| {
            Pmf::from_masses([(value, Interval::exact(&mass.parse().unwrap(), AUDIT_BITS))])
        };
        let bracket = point(1, "0.9").delta_at(&Ratio::zero(), &point(2, "0.95"));
        assert!(
            (bracket.lower().to_f64() - 0.85).abs() < 1e-12 && (bracket.upper().to_f64() - 1.0).abs() < 1e-12
        );
    }

    #[test]
    #[should_panic(expected = "a broken mechanism")]
    fn a_panic_of_the_function_itself_is_not_swallowed() {
        enumerate(&floor(), |tape: &mut Tape| {
            assert!(tape.bits(1) == 0, "a broken mechanism");
        });
    }

    #[test]
    fn decisions_are_counted_on_each_path() {
        let pmf = enumerate(&floor(), |tape| {
            let first = tape.bits(2);
            if first == 0 {
                tape.bits(1);
            }
            tape.decisions()
        });
        assert_eq!((pmf.mass(&2).to_f64(), pmf.mass(&1).to_f64()), (0.25, 0.75));
    }
}
