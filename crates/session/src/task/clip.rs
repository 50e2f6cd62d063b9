//! A range for sums and means that nobody declared, found privately.
//!
//! Two quartiles over the leading bits of floats say where the rows are and how wide they lie; many rows are
//! near them, so they cost little. The ends are then looked for in spreads beyond the quartiles, on a short list
//! that prefers near ends: far ones would cost more in noise than they save.

use crate::plan::PlanError;
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

/// Quartiles look at the sign, the exponent and four bits of a float: 2^16 values in place of 2^64.
const SHIFT: u32 = 48;
/// How far beyond a quartile a range may end, in spreads.
const REACHES: [f64; 12] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

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
    quartiles: [inverse_sensitivity::Calibrated; 2],
    end_eps: Eps,
    ranks: u64,
}

impl Search {
    /// Each quartile costs `quartile`, each end `end`.
    pub fn new(quartile: &Eps, end: &Eps, failure: &Ratio) -> Result<Self, PlanError> {
        let range = Range::new(FLOATS.lo() >> SHIFT, FLOATS.hi() >> SHIFT)?;
        let at = |fraction: Ratio| {
            let target = Quantile::new(&fraction)?.into();
            InverseSensitivity { eps: quartile.clone(), target, range, adjacency: Adjacency::AddRemove }
                .calibrate()
        };
        let quartiles = [at(Ratio::new(1, 4))?, at(Ratio::new(3, 4))?];
        let ranks = quartiles[0].accuracy(failure)?;
        let search = Self { quartiles, end_eps: end.clone(), ranks };
        // Whether this calibrates does not depend on the fraction, so what can fail fails here.
        search.end(&Ratio::new(1, 2))?;
        Ok(search)
    }

    /// How many ranks the quartiles may be off.
    pub fn ranks(&self) -> u64 {
        self.ranks
    }

    fn end(&self, fraction: &Ratio) -> Result<inverse_sensitivity::Calibrated, ParameterError> {
        let last = i64::try_from(first_place(REACHES.len()) - 1).expect("a short list");
        InverseSensitivity {
            eps: self.end_eps.clone(),
            target: Quantile::new(fraction)?.into(),
            range: Range::new(0, last)?,
            adjacency: Adjacency::AddRemove,
        }
        .calibrate()
    }

    /// A range for rows that are numbers. `rows` is a noisy number of them.
    pub fn run<C: Coins>(&self, numbers: &[f64], rows: i64, coins: &mut C) -> Clip {
        let places: Vec<i64> = numbers.iter().map(|&number| place(number)).collect();
        let [a, b] = self.quartiles.each_ref().map(|quartile| quartile.run_integers(&places, coins));
        let edge = |place: i64| {
            float(FLOATS.clamp(place.saturating_mul(1 << SHIFT))).expect("clamped to the floats")
        };
        // The whole cells of both quartiles, so that the spread is never zero.
        let (low, high) = (edge(a.min(b)), edge(a.max(b) + 1));
        let spread = finite(high - low).max(f64::MIN_POSITIVE);
        let end = self.end(&self.fraction(rows)).expect("calibrated before at another fraction");
        let mut reach = |beyond: &dyn Fn(f64) -> f64| {
            let places: Vec<i64> =
                numbers.iter().map(|&number| reach_place(beyond(number) / spread)).collect();
            reach_of(end.run_integers(&places, coins))
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

fn place(number: f64) -> i64 {
    let clamped = finite(number);
    ordinal(clamped).unwrap_or(0) >> SHIFT
}

fn finite(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}

/// The first place of a reach: near ones have more places, and so are likelier where the rows leave a choice.
fn first_place(reach: usize) -> u64 {
    (0..reach).map(|before| 1 << (REACHES.len() - 1 - before)).sum()
}

/// The place of a row that lies this many spreads beyond the quartile: of the first reach that holds it.
fn reach_place(spreads: f64) -> i64 {
    let reach = REACHES.iter().position(|&reach| spreads <= reach).unwrap_or(REACHES.len() - 1);
    i64::try_from(first_place(reach)).expect("a short list")
}

/// The reach that a place belongs to.
fn reach_of(place: i64) -> f64 {
    let reach = (1..REACHES.len())
        .rev()
        .find(|&reach| u64::try_from(place).is_ok_and(|place| place >= first_place(reach)));
    REACHES[reach.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_reaches_are_inverse() {
        for (reach, &spreads) in REACHES.iter().enumerate() {
            let place = reach_place(spreads);
            assert!((reach_of(place) - spreads).abs() < 1e-12, "{spreads}");
            let last = i64::try_from(first_place(reach + 1)).unwrap() - 1;
            assert!((reach_of(last) - spreads).abs() < 1e-12, "{spreads}");
        }
        assert_eq!(reach_place(-3.0), 0);
        assert_eq!(reach_place(1e300), reach_place(256.0));
        assert_eq!(reach_place(f64::NAN), reach_place(256.0));
    }

    #[test]
    fn a_range_holds_most_rows_and_no_row_breaks_it() {
        let eps = |text: &str| text.parse::<Eps>().unwrap();
        let search = Search::new(&eps("4"), &eps("4"), &Ratio::new(1, 20)).unwrap();
        let mut coins = crate::gather::tests::FixedWords(7);
        let rows: Vec<f64> = (0..2000).map(|i| 1000.0 + f64::from(i % 500)).collect();
        let clip = search.run(&rows, 2000, &mut coins);
        assert!(clip.low <= 1100.0 && clip.high >= 1400.0 && clip.high < 4000.0, "{clip:?}");
        for odd in [vec![], vec![f64::INFINITY; 9], vec![f64::MAX, f64::MIN], vec![0.0; 50], vec![-5e-324; 3]]
        {
            let clip = search.run(&odd, -7, &mut coins);
            assert!(
                clip.low.is_finite() && clip.high.is_finite() && clip.low < clip.high,
                "{odd:?} {clip:?}"
            );
            assert!(clip.middle.is_finite() && clip.low <= clip.middle && clip.middle <= clip.high);
        }
    }
}
