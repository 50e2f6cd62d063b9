//! How likely a gate may open at each distance: the largest probabilities that (epsilon, delta) allows.
//!
//! Source: Desfontaines, Voss, Gipson and Mandayam 2022, "Differentially private partition selection".
//!
//! # Claim
//!
//! With p(0) = 0 the numbers p(1) <= p(2) <= … are exact, and for every j
//! `p(j+1) <= e^eps·p(j) + delta` and `1 - p(j) <= e^eps·(1 - p(j+1)) + delta`.
//! No real numbers that satisfy both are larger anywhere by more than a part in 2^39.
//!
//! # Why
//!
//! 1. The largest p(j+1) that satisfies both grows with p(j), so taking the largest at each step is best at
//!    every step: `p(j+1) = min(e^eps·p(j) + delta, 1 - e^-eps·(1 - p(j) - delta), 1)`.
//! 2. Table: in fixed point each entry is computed from the rounded one before it, e^eps rounded down, e^-eps
//!    up, p down. Both conditions are about two neighbouring entries, so they hold of the rounded ones.
//! 3. Formula, where the table would be long: up to the switch, `p(j) = delta·(e^(j·eps) - 1)/(e^eps - 1)`;
//!    k steps beyond it, `1 - p = e^(-k·eps)·(1 - p(switch) + c) - c` with `c = delta/(e^eps - 1)`. It is
//!    evaluated for a slightly smaller delta, and what that leaves of each condition is more than rounding
//!    takes. A switch that is off by rounding is a near tie of both rules; calibration checks it.

use crate::{chance::Odds, coins::Coins, interval::Interval, ratio::Ratio};
use dashu_int::IBig;

/// Longer tables are replaced by the formula: slower to ask, but there at once.
const LONGEST_TABLE: usize = 1 << 14;
/// Significant bits of the smallest probability.
const SIGNIFICANT_BITS: usize = 128;
/// The formula gives up this power of two of delta.
const RESERVE_BITS: usize = 40;

/// The probabilities p(1), p(2), ….
#[derive(Clone, Debug)]
pub(crate) enum Opening {
    /// Up to the first that is one.
    Table(Vec<Odds>),
    /// One by one.
    Formula(Box<Formula>),
}

impl Opening {
    /// For these parameters, both positive, delta below one. `None` where epsilon is so small that rows would
    /// have to be counted beyond 64 bits.
    pub(crate) fn new(eps: &Ratio, delta: &Ratio) -> Option<Self> {
        let bits = SIGNIFICANT_BITS + delta.bits_of_inverse();
        Some(match table(eps, delta, bits) {
            Some(table) => Self::Table(table),
            None => Self::Formula(Box::new(Formula::new(eps, delta, bits)?)),
        })
    }

    /// p(rows), exactly.
    pub(crate) fn probability(&self, rows: u64) -> Ratio {
        match self {
            _ if rows == 0 => Ratio::zero(),
            Self::Table(table) => table[place(rows, table)].probability().clone(),
            Self::Formula(formula) => formula.probability(rows),
        }
    }

    /// True with probability p(rows); certainly where there is no such number of rows.
    pub(crate) fn draw(&self, rows: Option<u64>, coins: &mut impl Coins) -> bool {
        match (self, rows) {
            (Self::Table(table), _) if rows != Some(0) => {
                coins.bernoulli(&table[place(rows.unwrap_or(u64::MAX), table)])
            }
            (_, Some(rows)) => coins.bernoulli(&Odds::new(&self.probability(rows))),
            (_, None) => coins.bernoulli(&Odds::new(&Ratio::one())),
        }
    }

    /// The least number of rows whose probability is at least this one.
    pub(crate) fn first_reaching(&self, probability: &Ratio) -> Option<u64> {
        let (mut low, mut high) = match self {
            Self::Table(table) => (0, table.len() as u64),
            Self::Formula(_) => (0, u64::MAX),
        };
        if self.probability(high) < *probability {
            return None;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.probability(middle) >= *probability { high = middle } else { low = middle }
        }
        Some(if probability.is_positive() { high } else { 0 })
    }
}

/// The entry for this many rows, at least one; the last entry stands for all beyond.
fn place(rows: u64, table: &[Odds]) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX).min(table.len()) - 1
}

/// Every entry up to the first that is one, unless there are too many.
fn table(eps: &Ratio, delta: &Ratio, bits: usize) -> Option<Vec<Odds>> {
    let unit = IBig::ONE << bits;
    let growth_down = Interval::exact(eps, bits).exp().low_scaled().clone();
    let decay_up = Interval::exact(&-eps.clone(), bits).exp().high_scaled().clone();
    let delta_down = Interval::exact(delta, bits).low_scaled().clone();
    let mut open = IBig::ZERO;
    let mut entries = Vec::new();
    while entries.len() < LONGEST_TABLE {
        let refused = &unit - &open;
        // Shifts round down, so the negated shift of the negated number rounds up.
        let grown_down = ((&growth_down * &open) >> bits) + &delta_down;
        let decayed_up = -((-(&decay_up * (refused - &delta_down))) >> bits);
        let next_refused = IBig::ZERO.max(&unit - grown_down).max(decayed_up);
        open = &unit - &next_refused;
        entries.push(Odds::new(&Ratio::dyadic(open.clone(), bits)));
        if next_refused == IBig::ZERO {
            return Some(entries);
        }
    }
    None
}

/// The closed form, at any number of rows.
#[derive(Clone, Debug)]
pub(crate) struct Formula {
    eps: Ratio,
    delta: Ratio,
    bits: usize,
    work: usize,
    growth_minus_one: Interval,
    switch: u64,
    refused_at_switch: Interval,
}

impl Formula {
    /// `None` where rows would have to be counted beyond 64 bits.
    fn new(eps: &Ratio, delta: &Ratio, bits: usize) -> Option<Self> {
        let full_delta = delta;
        let delta = delta * &(Ratio::one() - Ratio::dyadic(IBig::ONE, RESERVE_BITS));
        // delta/(e^eps - 1) has as many bits before its point as 1/eps; cancelling them needs twice as many.
        let work = bits + 64 + 2 * eps.bits_of_inverse();
        let growth_minus_one = Interval::exact(eps, work).exp_minus_one();
        let (one, small) = (Interval::one(work), Interval::exact(&delta, work));
        let sum = growth_minus_one.add(&one).add(&one).mul(&small);
        let steps = growth_minus_one.add(&small).add(&small).div(&sum).ln().mul_ratio(&eps.recip());
        let steps = steps.lower().floor_big();
        let switch = if steps < IBig::ZERO { 1 } else { u64::try_from(steps).ok()?.checked_add(1)? };
        // Certainty lies at most as far beyond; all of it must be countable.
        switch.checked_mul(4)?;
        let mut formula = Self {
            eps: eps.clone(),
            delta,
            bits,
            work,
            growth_minus_one,
            switch,
            refused_at_switch: Interval::zero(work),
        };
        formula.refused_at_switch = one.sub(&formula.before_switch(switch));
        let growth_down = Interval::exact(eps, work).exp().lower();
        for rows in switch.saturating_sub(2)..switch.saturating_add(2) {
            let [here, next] = [rows, rows.saturating_add(1)].map(|rows| formula.probability(rows));
            assert!(allowed(&growth_down, full_delta, &here, &next), "the switch of the closed form");
        }
        Some(formula)
    }

    fn before_switch(&self, rows: u64) -> Interval {
        let exponent = &self.eps * &Ratio::from(rows);
        let grown = Interval::exact(&exponent, self.work).exp_minus_one();
        grown.mul_ratio(&self.delta).div(&self.growth_minus_one)
    }

    fn refused_beyond_switch(&self, steps: u64) -> Interval {
        let decay = Interval::exact(&-(&self.eps * &Ratio::from(steps)), self.work).exp();
        let shift = Interval::exact(&self.delta, self.work).div(&self.growth_minus_one);
        decay.mul(&self.refused_at_switch.add(&shift)).sub(&shift)
    }

    /// p(rows), rounded down to a whole number of parts of two to the bits.
    fn probability(&self, rows: u64) -> Ratio {
        let open_down = if rows <= self.switch {
            self.before_switch(rows).lower()
        } else {
            Ratio::one() - self.refused_beyond_switch(rows - self.switch).upper()
        };
        open_down.dyadic_down(self.bits).max(Ratio::zero()).min(Ratio::one())
    }
}

/// Do two neighbouring probabilities satisfy both conditions, with a lower bound on e^eps?
fn allowed(growth_down: &Ratio, delta: &Ratio, here: &Ratio, next: &Ratio) -> bool {
    let one = Ratio::one();
    *next <= growth_down * here + delta && &one - here <= growth_down * &(&one - next) + delta
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    fn formula(eps: &str, delta: &str) -> Opening {
        let (eps, delta) = (ratio(eps), ratio(delta));
        let bits = SIGNIFICANT_BITS + delta.bits_of_inverse();
        Opening::Formula(Box::new(Formula::new(&eps, &delta, bits).unwrap()))
    }

    fn assert_allowed(opening: &Opening, eps: &str, delta: &str, rows: impl IntoIterator<Item = u64>) {
        let (growth_down, delta) = (Interval::exact(&ratio(eps), 4000).exp().lower(), ratio(delta));
        for rows in rows {
            let [here, next] = [rows, rows.saturating_add(1)].map(|rows| opening.probability(rows));
            assert!(here <= next && next <= Ratio::one(), "{eps} {delta} {rows}");
            assert!(allowed(&growth_down, &delta, &here, &next), "{eps} {delta} {rows}");
        }
    }

    const SMALL: [(&str, &str); 9] = [
        ("1", "1e-6"),
        ("0.1", "1e-3"),
        ("0.05", "0.5"),
        ("20", "1e-10"),
        ("1000", "1e-6"),
        ("1000", "0.999"),
        ("5", "1e-300"),
        ("0.001", "0.01"),
        ("1/3", "1/7"),
    ];

    #[test]
    fn every_entry_of_a_table_is_allowed() {
        for (eps, delta) in SMALL {
            let opening = Opening::new(&ratio(eps), &ratio(delta)).unwrap();
            let Opening::Table(table) = &opening else { panic!("{eps} {delta} is short") };
            assert_allowed(&opening, eps, delta, 0..table.len() as u64 + 2);
            assert_eq!(opening.probability(u64::MAX), Ratio::one());
        }
    }

    #[test]
    fn the_formula_is_the_table_up_to_its_reserve() {
        for (eps, delta) in SMALL.into_iter().filter(|(eps, _)| ratio(eps) < ratio("10")) {
            let (table, formula) = (Opening::new(&ratio(eps), &ratio(delta)).unwrap(), formula(eps, delta));
            let end = table.first_reaching(&Ratio::one()).unwrap();
            assert_allowed(&formula, eps, delta, 0..end + 2);
            for rows in 1..end {
                let [exact, close] = [&table, &formula].map(|opening| opening.probability(rows));
                let (lost, part) = (&exact - &close, Ratio::dyadic(IBig::ONE, RESERVE_BITS - 1));
                assert!(!lost.is_negative() && lost <= &exact * &part, "{eps} {delta} {rows}");
            }
        }
    }

    #[test]
    fn tiny_parameters_have_a_formula_at_every_distance() {
        for (eps, delta) in [("1e-6", "1e-6"), ("1e-9", "1e-30"), ("1e-200", "1e-12"), ("1e-4", "1e-400")] {
            let opening = Opening::new(&ratio(eps), &ratio(delta)).unwrap();
            let Opening::Formula(formula) = &opening else { panic!("{eps} {delta} is long") };
            let powers = (0..64).map(|bit| 1u64 << bit);
            let near_switch = formula.switch.saturating_sub(3)..formula.switch.saturating_add(3);
            let near_end = opening.first_reaching(&Ratio::one()).into_iter().flat_map(|end| end - 3..end + 3);
            let rows = powers.chain(near_switch).chain(near_end).chain([0, u64::MAX]);
            assert_allowed(&opening, eps, delta, rows);
            assert!(opening.first_reaching(&ratio("0.5")).is_some() || eps == "1e-200");
        }
    }

    #[test]
    fn first_reaching_is_the_inverse() {
        let opening = Opening::new(&ratio("1"), &ratio("1e-6")).unwrap();
        assert_eq!(opening.first_reaching(&Ratio::zero()), Some(0));
        assert_eq!(opening.first_reaching(&ratio("2")), None);
        for rows in 1..20 {
            let at = opening.probability(rows);
            assert_eq!(opening.first_reaching(&at), Some(rows));
            assert_eq!(opening.first_reaching(&(at + ratio("1e-50"))), Some(rows + 1));
        }
    }

    /// Each condition alone, at its edge and beyond: odds of opening, and of staying closed, grow by e^eps and delta at most.
    #[test]
    fn neighbouring_probabilities_are_allowed_up_to_both_edges() {
        let number = |text: &str| text.parse::<Ratio>().unwrap();
        for (here, next, fine) in [
            ("0.1", "0.3", true),
            ("0.1", "0.3000001", false),
            ("0.7", "0.9", true),
            ("0.7", "0.9000001", false),
            ("0.5", "1", false),
            ("0", "0.1", true),
            ("0.9", "1", true),
            ("0.8999999", "1", false),
            ("0.3", "0.1", true),
        ] {
            let found = allowed(&number("2"), &number("0.1"), &number(here), &number(next));
            assert_eq!(found, fine, "{here} {next}");
        }
    }
}
