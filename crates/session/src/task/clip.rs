//! A range for sums and means that nobody declared, found privately.
//!
//! Two quartiles over the leading bits of floats say where the rows are and how wide they lie; many rows are
//! near them, so they cost little. The ends are then looked for in spreads beyond the quartiles, on a short list
//! that prefers near ends: far ones would cost more in noise than they save.

use crate::{error::PlanError, rows::values::Values};
#[cfg(test)]
use equipoise_core::loss::Loss;
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, ParameterError},
    mechanism::inverse_sensitivity::{self, InverseSensitivity},
    ratio::Ratio,
    stability::{
        Quantile, Range,
        lattice::{FLOATS, float, ordinal},
    },
};

/// What a search looks at; public. Audits run the same search on a coarse one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lattice {
    /// Quartiles are found among floats without so many of their bits.
    pub shift: u32,
    /// How far beyond a quartile a range may end, in spreads, nearest first.
    pub reaches: &'static [f64],
    /// Where lengths are cut off, if not where they weigh nothing any more; any number is as private.
    pub cut_off: Option<usize>,
}

/// Quartiles look at the sign, the exponent and four bits of a float: 2^16 values in place of 2^64.
pub(crate) const FINE: Lattice = Lattice {
    shift: 48,
    reaches: &[0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0],
    cut_off: None,
};

/// Rows are moved into this range, each on its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clip {
    pub low: f64,
    pub high: f64,
    /// A point where many rows are near.
    pub middle: f64,
}

/// A search for a range, ready to run. It costs two quartiles and two ends.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    lattice: Lattice,
    quartiles: [inverse_sensitivity::Calibrated; 2],
    end_eps: Eps,
    ranks: u64,
}

impl Search {
    /// Each quartile costs `quartile`, each end `end`.
    pub fn new(quartile: &Eps, end: &Eps, failure: &Ratio, lattice: Lattice) -> Result<Self, PlanError> {
        let range = Range::new(FLOATS.lo() >> lattice.shift, FLOATS.hi() >> lattice.shift)?;
        let at = |fraction: Ratio| {
            let target = Quantile::new(&fraction)?.into();
            let eps = quartile.clone();
            lattice.calibrate(InverseSensitivity { eps, target, range, adjacency: Adjacency::AddRemove })
        };
        let quartiles = [at(Ratio::new(1, 4))?, at(Ratio::new(3, 4))?];
        // What is cut off early for an audit has no accuracy.
        let ranks = if lattice.cut_off.is_none() { quartiles[0].accuracy(failure)? } else { 1 };
        let search = Self { lattice, quartiles, end_eps: end.clone(), ranks };
        // Whether this calibrates does not depend on the fraction, so what can fail fails here.
        search.end(&Ratio::new(1, 2))?;
        Ok(search)
    }

    /// What a run costs under add/remove, added up from its draws.
    #[cfg(test)]
    pub fn spent(&self) -> Loss {
        let end = self.end(&Ratio::new(1, 2)).expect("calibrated before").cost();
        let quartiles = self.quartiles[0].cost().compose(&self.quartiles[1].cost());
        quartiles.compose(&end).compose(&end)
    }

    /// How many ranks the quartiles may be off.
    pub fn ranks(&self) -> u64 {
        self.ranks
    }

    fn end(&self, fraction: &Ratio) -> Result<inverse_sensitivity::Calibrated, ParameterError> {
        let last = self.lattice.first_place(self.lattice.reaches.len()) - 1;
        self.lattice.calibrate(InverseSensitivity {
            eps: self.end_eps.clone(),
            target: Quantile::new(fraction)?.into(),
            range: Range::new(0, last)?,
            adjacency: Adjacency::AddRemove,
        })
    }

    /// A range for rows that are numbers. `rows` is a noisy number of them.
    pub fn run<C: Coins>(&self, numbers: Values<'_, '_>, rows: i64, coins: &mut C) -> Clip {
        let lattice = self.lattice;
        let mut draw = |mechanism: &inverse_sensitivity::Calibrated, place: &dyn Fn(f64) -> i64| {
            let InverseSensitivity { target, range, .. } = *mechanism.params();
            mechanism.run(&numbers.window(target, range, mechanism.reach(), place), coins)
        };
        let [a, b] =
            self.quartiles.each_ref().map(|quartile| draw(quartile, &|number| lattice.place(number)));
        let edge = |place: i64| {
            float(FLOATS.clamp(place.saturating_mul(1 << lattice.shift))).expect("clamped to the floats")
        };
        // The whole cells of both quartiles, so that the spread is never zero.
        let (low, high) = (edge(a.min(b)), edge(a.max(b) + 1));
        let spread = finite(high - low).max(f64::MIN_POSITIVE);
        let end = self.end(&self.fraction(rows)).expect("calibrated before at another fraction");
        let mut reach = |beyond: &dyn Fn(f64) -> f64| {
            lattice.reach_of(draw(&end, &|number| lattice.reach_place(beyond(number) / spread)))
        };
        let above = reach(&|number| number - high);
        let below = reach(&|number| low - number);
        Clip {
            low: finite(low - below * spread),
            high: finite(high + above * spread),
            middle: low / 2.0 + high / 2.0,
        }
    }

    /// All but about 1/epsilon of the rows lie on this side of an end.
    fn fraction(&self, rows: i64) -> Ratio {
        let beyond = self.end_eps.ratio().recip().ceil_i64().unwrap_or(i64::MAX);
        match u64::try_from(rows) {
            Ok(rows) if beyond.saturating_mul(4) < rows.cast_signed() => {
                Ratio::new(rows.cast_signed() - beyond, rows)
            }
            _ => Ratio::new(3, 4),
        }
    }
}

fn finite(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}

impl Lattice {
    fn calibrate(
        &self,
        mechanism: InverseSensitivity,
    ) -> Result<inverse_sensitivity::Calibrated, ParameterError> {
        match self.cut_off {
            Some(length) => Ok(mechanism.cut_off_at(length)),
            None => mechanism.calibrate(),
        }
    }

    fn place(&self, number: f64) -> i64 {
        ordinal(finite(number)).unwrap_or(0) >> self.shift
    }

    /// The first place of a reach: near ones have more places, and so are likelier where the rows leave a choice.
    fn first_place(&self, reach: usize) -> i64 {
        (0..reach).map(|before| 1 << (self.reaches.len() - 1 - before)).sum()
    }

    /// The place of a row that lies this many spreads beyond the quartile: of the first reach that holds it.
    fn reach_place(&self, spreads: f64) -> i64 {
        let reach = self.reaches.iter().position(|&reach| spreads <= reach);
        self.first_place(reach.unwrap_or(self.reaches.len() - 1))
    }

    /// The reach that a place belongs to.
    fn reach_of(&self, place: i64) -> f64 {
        let reach = (1..self.reaches.len()).rev().find(|&reach| place >= self.first_place(reach));
        self.reaches[reach.unwrap_or(0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{gather::tests::FixedWords, rows::numbers::Numbers};
    use equipoise_core::{
        interval::Interval,
        tape::{delta_between, enumerate},
        universe::neighbouring_pairs,
    };
    use std::borrow::Cow;

    fn eps(text: &str) -> Eps {
        text.parse().unwrap()
    }

    #[test]
    fn places_and_reaches_are_inverse() {
        for (reach, &spreads) in FINE.reaches.iter().enumerate() {
            let place = FINE.reach_place(spreads);
            assert!((FINE.reach_of(place) - spreads).abs() < 1e-12, "{spreads}");
            let last = FINE.first_place(reach + 1) - 1;
            assert!((FINE.reach_of(last) - spreads).abs() < 1e-12, "{spreads}");
        }
        assert_eq!(FINE.reach_place(-3.0), 0);
        assert_eq!(FINE.reach_place(1e300), FINE.reach_place(256.0));
        assert_eq!(FINE.reach_place(f64::NAN), FINE.reach_place(256.0));
    }

    #[test]
    fn a_range_holds_most_rows_and_no_row_breaks_it() {
        let search = Search::new(&eps("4"), &eps("4"), &Ratio::new(1, 20), FINE).unwrap();
        let mut coins = FixedWords(5);
        let rows: Vec<f64> = (0..2000).map(|i| 1000.0 + f64::from(i % 500)).collect();
        let clip = search.run(Values::Floats(&Numbers::InMemory(Cow::Owned(rows))), 2000, &mut coins);
        assert!(clip.low <= 1100.0 && clip.high >= 1400.0 && clip.high < 4000.0, "{clip:?}");
        for odd in [vec![], vec![f64::INFINITY; 9], vec![f64::MAX, f64::MIN], vec![0.0; 50], vec![-5e-324; 3]]
        {
            let clip = search.run(Values::Floats(&Numbers::InMemory(Cow::Borrowed(&odd))), -7, &mut coins);
            assert!(
                clip.low.is_finite() && clip.high.is_finite() && clip.low < clip.high,
                "{odd:?} {clip:?}"
            );
            assert!(clip.middle.is_finite() && clip.low <= clip.middle && clip.middle <= clip.high);
        }
    }

    /// Four cells of floats, two reaches, lengths cut off at two: every path of the whole search.
    const COARSE: Lattice = Lattice { shift: 62, reaches: &[0.0, 1.0], cut_off: Some(2) };

    /// The largest delta over all pairs of small files, at this epsilon, of a search with these parts.
    fn worst(quartile: &str, end: &str, at: &str) -> Interval {
        let search = Search::new(&eps(quartile), &eps(end), &Ratio::new(1, 20), COARSE).unwrap();
        // In three of the four cells, two of them far beyond the others.
        let number = |&code: &i64| [-1e200, 1.0, 3.0, 1e250][usize::try_from(code).unwrap()];
        let found = |codes: &[i64]| {
            let numbers = Numbers::InMemory(codes.iter().map(number).collect::<Vec<f64>>().into());
            enumerate(&"1e-30".parse().unwrap(), |tape| {
                format!("{:?}", search.run(Values::Floats(&numbers), 9, tape))
            })
        };
        let at: Ratio = at.parse().unwrap();
        neighbouring_pairs(&[0, 1, 2, 3], 2, Adjacency::AddRemove)
            .iter()
            .map(|(a, b)| delta_between(&at, &found(a), &found(b)))
            .reduce(|a, b| a.max(&b))
            .expect("some pair")
    }

    /// Two quartiles and two ends, whose price depends on nothing else: the ends are measured from the quartiles that were
    /// drawn, and their fraction comes from the noisy number of rows.
    #[test]
    fn exact_audit_of_the_whole_search_on_a_small_lattice() {
        let measured = worst("1", "0.5", "3");
        assert!(measured.upper() <= "1e-20".parse().unwrap(), "{}", measured.to_f64());
    }

    #[test]
    fn a_mutant_whose_ends_cost_more_than_it_says_is_caught() {
        let measured = worst("1", "8", "3");
        assert!(measured.lower() > "0.001".parse().unwrap(), "{}", measured.to_f64());
    }

    /// On so small a lattice the search loses far less than it may. What it does lose at epsilon 1 is known exactly, and a tenth
    /// more for the quartiles or for the ends shows.
    #[test]
    fn mutants_with_one_changed_constant_are_caught() {
        let measured = worst("1", "0.5", "1");
        let (least, most): (Ratio, Ratio) = ("0.01163089".parse().unwrap(), "0.01163090".parse().unwrap());
        assert!(least < measured.lower() && measured.upper() < most, "{}", measured.to_f64());
        for (quartile, end) in [("1.1", "0.5"), ("1", "0.55")] {
            let mutant = worst(quartile, end, "1");
            assert!(most < mutant.lower(), "{quartile} {end}: {}", mutant.to_f64());
        }
    }
}
