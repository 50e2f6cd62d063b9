//! A range for sums and means that nobody declared, found privately.
//!
//! A search looks at how many rows lie in each cell of a coarse lattice of floats. A median over the cells says where the rows
//! are; with few rows the search begins at zero instead. From there each end is named on a ladder of public reaches, each
//! longer than the one before: the nearest one beyond which hardly any row lies. What an end costs is a few rows for each time
//! it lies farther ([`far_end`]), so that neither a far row nor an empty neighbourhood carries it away.

use crate::{
    error::PlanError,
    rows::cells::{self, CellLattice, Cells},
};
#[cfg(test)]
use equipoise_core::loss::Loss;
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Rho},
    mechanism::{
        exponential::rho_of_bounded_range,
        far_end::{self, FarEnd},
        inverse_sensitivity::{self, InverseSensitivity},
    },
    ratio::Ratio,
    stability::Quantile,
};
use std::sync::OnceLock;

/// What a search looks at; public. Audits run the same search on a coarse one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lattice {
    /// The cells that rows are counted in.
    pub cells: CellLattice,
    /// Every so many of the reaches that there are, and no more than so many.
    pub every: usize,
    pub reaches: usize,
    /// Where lengths are cut off, if not where they weigh nothing any more; any number is as private.
    pub cut_off: Option<usize>,
}

/// All reaches over the cells that scans count in.
pub(crate) const FINE: Lattice = Lattice { cells: cells::FINE, every: 1, reaches: usize::MAX, cut_off: None };

pub(crate) use crate::row_facts::steps::Clip;

/// A range that was found, and what can be told of the rows outside of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    pub clip: Clip,
    /// By how many rows the farthest ends cost more than those that were named.
    beyond: f64,
    /// Among how many ends each was chosen.
    ends: usize,
}

/// Where a search begins.
#[derive(Clone, Debug)]
pub(crate) enum Start {
    /// At zero: what there is of epsilon goes to the ends.
    Zero,
    /// At the cell of the median, which costs this much under add/remove. An end that lies twice as far is worth so many
    /// factors of e^epsilon.
    Median { eps: Eps, slope: f64 },
}

/// A search for a range. It costs what the start costs, and two ends.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    lattice: Lattice,
    start: Start,
    end_eps: Eps,
    /// The median's, calibrated when it is first needed.
    median: OnceLock<inverse_sensitivity::Calibrated>,
}

impl Search {
    /// Each end costs `end`. Fails where the median cannot be calibrated, so that nothing fails later.
    pub fn new(start: Start, end: Eps, lattice: Lattice) -> Result<Self, PlanError> {
        let search = Self { lattice, start, end_eps: end, median: OnceLock::new() };
        if let Start::Median { eps, .. } = &search.start {
            search.median_at(eps).check()?;
        }
        Ok(search)
    }

    /// The cells that rows are counted in.
    pub fn cells(&self) -> CellLattice {
        self.lattice.cells
    }

    fn median_at(&self, eps: &Eps) -> InverseSensitivity {
        let target = Quantile::new(&Ratio::new(1, 2)).expect("a half").into();
        let (eps, range) = (eps.clone(), self.lattice.cells.range());
        InverseSensitivity { eps, target, range, adjacency: Adjacency::AddRemove }
    }

    fn calibrated(&self, eps: &Eps) -> &inverse_sensitivity::Calibrated {
        self.median.get_or_init(|| {
            let median = self.median_at(eps);
            match self.lattice.cut_off {
                Some(length) => median.cut_off_at(length),
                None => median.calibrate().expect("checked before"),
            }
        })
    }

    /// What the start and the ends cost as concentrated losses, each under add/remove, and the ends under replace too.
    pub fn rho(&self) -> (Option<Rho>, Rho) {
        let start = match &self.start {
            Start::Zero => None,
            Start::Median { eps, .. } => Some(rho_of_bounded_range(eps)),
        };
        (start, rho_of_bounded_range(&self.end_eps))
    }

    /// What the start and the ends cost, each under add/remove, and the ends under replace too.
    #[cfg(test)]
    pub fn spent(&self) -> (Option<Loss>, Loss) {
        let start = match &self.start {
            Start::Zero => None,
            Start::Median { eps, .. } => Some(self.calibrated(eps).cost()),
        };
        let end = self.end(&[0.0]).cost();
        (start, end.compose(&end))
    }

    /// A range for rows that lie in these cells.
    pub fn run<C: Coins>(&self, rows: &Cells, coins: &mut C) -> Found {
        let cells = self.lattice.cells;
        let (first, last) = match &self.start {
            Start::Zero => (0.0, 0.0),
            Start::Median { eps, .. } => {
                let median = self.calibrated(eps);
                let params = median.params();
                let cell = median.run(&rows.window(params.target, params.range, median.reach()), coins);
                (cells.edge(cell), cells.edge(cell + 1))
            }
        };
        let rungs = self.rungs(first, last);
        let prices: Vec<f64> = rungs.iter().map(|rung| rung.price).collect();
        let end = self.end(&prices);
        let mut saved = 0.0;
        let mut name = |cell: &dyn Fn(f64) -> i64, beyond: &dyn Fn(i64) -> u64| {
            // Where floats end, a farther reach ends where the one before it does.
            let ends: Vec<i64> = rungs.iter().map(|rung| cell(rung.reach)).collect();
            let counts: Vec<u64> = ends.iter().map(|&end| beyond(end)).collect();
            let named = end.run(&counts, coins);
            saved += end.dearer_than(named);
            ends[named]
        };
        let above = name(&|reach| cells.cell(finite(last + reach)), &|cell| rows.after(cell));
        let below = name(&|reach| cells.cell(finite(first - reach)), &|cell| rows.before(cell));
        let (low, high) = (cells.edge(below), cells.edge(above + 1));
        let clip = Clip { low, high, middle: low / 2.0 + high / 2.0 };
        Found { clip, beyond: saved, ends: rungs.len() }
    }

    /// At most so many rows lie outside of a range that was found, except with this probability. The farthest end has none beyond it, so
    /// that the named one has no more than what it saved and what the choice among the ends may be off by.
    pub fn outside(&self, found: &Found, failure: &Ratio) -> Option<u64> {
        let each = failure / &Ratio::from(2u64);
        let off = self.end(&vec![0.0; found.ends]).accuracy(&each).ok()?.to_f64();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "floats beyond 2^64 become it"
        )]
        Some((found.beyond + 2.0 * off * (1.0 + 1e-9)).ceil() as u64)
    }

    fn end(&self, prices: &[f64]) -> far_end::Calibrated {
        let eps = self.end_eps.ratio().to_f64();
        // However large epsilon is, a farther end costs more than the one before.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a few thousand over epsilon"
        )]
        let price =
            |(rung, price): (u64, &f64)| ((price / eps * far_end::PARTS as f64).ceil() as u64).max(rung);
        let prices = (0..).zip(prices).map(price).collect();
        FarEnd { eps: self.end_eps.clone(), prices }.calibrate().expect("some reach")
    }

    /// The reaches from a start between these, nearest first, and what they cost in factors of e.
    fn rungs(&self, low: f64, high: f64) -> Vec<Rung> {
        let slope = match self.start {
            // The cell of zero is too narrow to measure anything by.
            Start::Median { slope, .. } if low * high > 0.0 => slope,
            _ => return self.some(zero_rungs()),
        };
        let unit = finite(high - low);
        if unit * 2f64.powi(NEAR / 2) < SMALL {
            return self.some(speck_rungs(unit, slope).into_iter());
        }
        let price = |rung: i32| slope * std::f64::consts::LN_2 / 2.0 * f64::from(rung);
        // Half powers of two as far as most ranges go, then ever more octaves at a time to the end of the floats: what the farthest end
        // costs bounds how many rows may lie outside, so that there are few.
        let near = (0..NEAR).map(|rung| unit * 2f64.powf(f64::from(rung) / 2.0));
        let far = (1..8).map(|rung| unit * 2f64.powi(NEAR / 2 + 8 * ((1 << rung) - 1)));
        let last = |reach: &f64| reach.is_finite() && *reach < f64::MAX / 256.0;
        let reaches = [0.0].into_iter().chain(near.chain(far).take_while(last)).chain([f64::MAX]);
        let rungs = reaches.enumerate().map(|(rung, reach)| Rung {
            reach,
            price: price(i32::try_from(rung).expect("a few hundred reaches")),
        });
        self.some(rungs)
    }

    fn some(&self, rungs: impl Iterator<Item = Rung>) -> Vec<Rung> {
        rungs.step_by(self.lattice.every).take(self.lattice.reaches).collect()
    }
}

/// How far an end may lie from the start, and what that costs in factors of e.
#[derive(Clone, Copy, Debug)]
struct Rung {
    reach: f64,
    price: f64,
}

/// So many reaches grow by the root of two.
const NEAR: i32 = 48;

/// A start whose near reaches all end below this is a speck: where half of the rows are zero and half are ones, or where numbers lie on
/// both sides of zero, any number between is as good a median, and most floats between are specks.
const SMALL: f64 = 1024.0;

/// Reaches from a speck: a few of its own size, for columns that hold nothing else, and then those that zero has. The search knows
/// that there are many rows, so that an end that lies twice as far costs what it costs from any other median, a third of it below
/// one and half of it from a million on: where it costs less, every tenth end of a column around zero lies eight times too far.
fn speck_rungs(unit: f64, slope: f64) -> Vec<Rung> {
    const OWN: i32 = 12;
    const PRICE: f64 = 0.5;
    let own = (0..=OWN).map(|rung| (unit * 4f64.powi(rung), PRICE));
    let between = [-512, -256, -128, -64, -32, -16].map(|octave| (2f64.powi(octave), PRICE / 5.0));
    let doubled = slope * std::f64::consts::LN_2;
    let whole = ZERO_OCTAVES.clone().chain(FAR_OCTAVES).map(|octave| {
        let part = if octave <= 0 {
            1.0 / 3.0
        } else if octave <= 20 {
            1.0
        } else {
            0.5
        };
        (finite(2f64.powi(octave)), doubled * part)
    });
    let mut rungs = vec![Rung { reach: 0.0, price: 0.0 }];
    for (reach, more) in own.chain(between).chain(whole) {
        let last = rungs[rungs.len() - 1];
        if reach > last.reach {
            rungs.push(Rung { reach, price: last.price + more });
        }
    }
    rungs
}

/// Powers of two that a range may end at where its start has no size of its own, and the last ones.
const ZERO_OCTAVES: std::ops::RangeInclusive<i32> = -10..=64;
const FAR_OCTAVES: [i32; 4] = [128, 256, 512, 1024];

/// Reaches from zero: a thousandth, and twice as far each time. The first thousand times cost little, because most columns are
/// larger than one; each later doubling costs a factor of 2.3, so that an end is seldom much too far, and its root from a million
/// on, so that large numbers are found with few rows too.
fn zero_rungs() -> impl Iterator<Item = Rung> {
    let first = *ZERO_OCTAVES.start();
    ZERO_OCTAVES.clone().chain(FAR_OCTAVES).enumerate().map(move |(rung, octave)| {
        let doublings = f64::from(i32::try_from(rung).expect("a few") + first);
        let small = f64::from((octave - first).min(-first)) / 10.0;
        let large = doublings.clamp(0.0, 20.0) * 0.85;
        let larger = (doublings - 20.0).max(0.0) * 0.425;
        Rung { reach: finite(2f64.powi(octave)), price: small + large + larger }
    })
}

fn finite(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gather::tests::FixedWords,
        rows::{numbers::Numbers, values::Values},
    };
    use equipoise_core::{
        interval::Interval,
        tape::{delta_between, enumerate},
        universe::neighbouring_pairs,
    };
    use std::borrow::Cow;

    fn eps(text: &str) -> Eps {
        text.parse().unwrap()
    }

    fn counted(rows: &[f64], lattice: Lattice) -> Cells {
        Cells::of(Values::Floats(&Numbers::InMemory(Cow::Borrowed(rows))), lattice.cells)
    }

    fn starts(text: &str) -> [Start; 2] {
        [Start::Zero, Start::Median { eps: eps(text), slope: 3.0 }]
    }

    #[test]
    fn reaches_grow_and_cost_more_each_time() {
        for start in starts("1") {
            let search = Search::new(start, eps("1"), FINE).unwrap();
            for (low, high) in [(40_000.0, 40_128.0), (-1e300, -9.9e299), (0.0, 5e-324), (f64::MIN, -1.7e308)]
            {
                let rungs = search.rungs(low, high);
                assert!(rungs.is_sorted_by(|one, next| one.reach < next.reach && one.price < next.price));
                assert!(rungs.len() < 400 && rungs.last().unwrap().reach > 1e300, "{low} {}", rungs.len());
            }
        }
    }

    #[test]
    fn a_range_holds_most_rows_and_no_row_breaks_it() {
        let mut coins = FixedWords(5);
        for start in starts("4") {
            let search = Search::new(start, eps("4"), FINE).unwrap();
            let rows: Vec<f64> = (0..2000).map(|i| 1000.0 + f64::from(i % 500)).collect();
            let Found { clip, .. } = search.run(&counted(&rows, FINE), &mut coins);
            assert!(clip.low <= 1002.0 && clip.high >= 1497.0 && clip.high < 20_000.0, "{clip:?}");
            // One row far away does not move an end.
            let far: Vec<f64> = rows.iter().copied().chain([1e12, -1e200]).collect();
            let Found { clip, .. } = search.run(&counted(&far, FINE), &mut coins);
            assert!(clip.low > -2000.0 && clip.high >= 1497.0 && clip.high < 20_000.0, "{clip:?}");
            // Most rows are zero, the others lie far from there.
            let zeros: Vec<f64> =
                (0..2000).map(|i| if i % 10 == 0 { 5e4 + f64::from(i) } else { 0.0 }).collect();
            let Found { clip, .. } = search.run(&counted(&zeros, FINE), &mut coins);
            assert!(clip.low > -1.0 && clip.high >= 5.2e4 && clip.high < 1e6, "{clip:?}");
            for odd in
                [vec![], vec![f64::INFINITY; 9], vec![f64::MAX, f64::MIN], vec![0.0; 50], vec![-5e-324; 3]]
            {
                let Found { clip, .. } = search.run(&counted(&odd, FINE), &mut coins);
                assert!(
                    clip.low.is_finite() && clip.high.is_finite() && clip.low < clip.high,
                    "{odd:?} {clip:?}"
                );
                assert!(clip.middle.is_finite() && clip.low <= clip.middle && clip.middle <= clip.high);
            }
        }
    }

    /// Half of the rows are zero and the others two: a median between them may be any float there is, and the range is none of those.
    #[test]
    fn a_median_among_specks_does_not_carry_the_ends_away() {
        let rows: Vec<f64> = (0..2000).map(|i| f64::from(i % 2) * 2.0).collect();
        let cells = counted(&rows, FINE);
        let mut coins = FixedWords(6);
        let search = Search::new(Start::Median { eps: eps("1"), slope: 3.0 }, eps("1"), FINE).unwrap();
        let (mut specks, mut wide) = (0, 0);
        for _ in 0..300 {
            let Found { clip, .. } = search.run(&cells, &mut coins);
            assert!((-1e3..=0.0).contains(&clip.low) && (2.0..1e3).contains(&clip.high), "{clip:?}");
            wide += usize::from(clip.high - clip.low > 17.0);
            specks += usize::from(clip.low > -1e-6);
        }
        assert!(specks > 100 && wide < 60, "{specks} {wide}");
        // Columns of specks have a range of their own size.
        let small: Vec<f64> = rows.iter().map(|row| (row + 3.0) * 1e-150).collect();
        let Found { clip, .. } = search.run(&counted(&small, FINE), &mut coins);
        assert!(clip.high > 4e-150 && clip.high < 1e-147, "{clip:?}");
    }

    /// Four cells of floats, three reaches, lengths cut off at two: every path of the whole search.
    const COARSE: Lattice =
        Lattice { cells: CellLattice { shift: 62 }, every: 12, reaches: 3, cut_off: Some(2) };

    /// The largest delta over all pairs of small files, at this epsilon, of a search with these parts.
    fn worst(start: &Start, end: &str, at: &str, adjacency: Adjacency) -> Interval {
        let search = Search::new(start.clone(), eps(end), COARSE).unwrap();
        // In three of the four cells, two of them far beyond the others.
        let number = |&code: &i64| [-1e200, 1.0, 3.0, 1e250][usize::try_from(code).unwrap()];
        let found = |codes: &[i64]| {
            let rows: Vec<f64> = codes.iter().map(number).collect();
            let cells = counted(&rows, COARSE);
            enumerate(&"1e-30".parse().unwrap(), |tape| format!("{:?}", search.run(&cells, tape).clip))
        };
        let at: Ratio = at.parse().unwrap();
        neighbouring_pairs(&[0, 1, 2, 3], 3, adjacency)
            .iter()
            .map(|(a, b)| delta_between(&at, &found(a), &found(b)))
            .reduce(|a, b| a.max(&b))
            .expect("some pair")
    }

    fn median(text: &str) -> Start {
        Start::Median { eps: eps(text), slope: 0.1 }
    }

    /// A start and two ends, whose price depends on nothing else: the ends are measured from the median that was drawn. Under
    /// replace the median costs twice, the ends as much as before.
    #[test]
    fn exact_audit_of_the_whole_search_on_a_small_lattice() {
        let least: Ratio = "1e-20".parse().unwrap();
        for (start, at, adjacency) in [
            (Start::Zero, "1", Adjacency::AddRemove),
            (Start::Zero, "1", Adjacency::Replace),
            (median("1"), "2", Adjacency::AddRemove),
            (median("1"), "3", Adjacency::Replace),
        ] {
            let measured = worst(&start, "0.5", at, adjacency);
            assert!(measured.upper() <= least, "{start:?} {adjacency}: {}", measured.to_f64());
        }
    }

    /// A search that pays less than its ends or its median cost is caught.
    #[test]
    fn mutants_that_promise_too_much_are_caught() {
        let caught: Ratio = "0.001".parse().unwrap();
        for (start, end, at, adjacency) in [
            (Start::Zero, "4", "1", Adjacency::AddRemove),
            (Start::Zero, "4", "1", Adjacency::Replace),
            (median("1"), "8", "2", Adjacency::AddRemove),
            (median("16"), "0.5", "2", Adjacency::AddRemove),
        ] {
            let measured = worst(&start, end, at, adjacency);
            assert!(measured.lower() > caught, "{start:?} {end} {adjacency}: {}", measured.to_f64());
        }
    }

    #[test]
    fn no_more_rows_lie_outside_than_is_told_as_often_as_is_told() {
        // Tails of all lengths, ties, and one row that lies far off.
        let power =
            |exponent: f64| (1..=3000).map(move |rank| (3000.0 / f64::from(rank)).powf(exponent)).collect();
        let laws: [Vec<f64>; 6] = [
            power(0.5),
            power(2.0),
            (0..3000).map(|row| f64::from(row % 7)).collect(),
            (0..3000).map(|row| if row == 0 { 1e12 } else { 500.0 + f64::from(row) }).collect(),
            // As many where floats end as are worth the farthest end, and a few more.
            (0..3000).map(|row| if row < 150 { 1e308 } else { 500.0 }).collect(),
            (0..3000).map(|row| if row < 220 { 1e308 } else { 500.0 }).collect(),
        ];
        let failure = Ratio::new(1, 5);
        let (mut told, mut runs) = (0, 0);
        for rows in &laws {
            for start in starts("0.05") {
                let search = Search::new(start, eps("0.14"), FINE).unwrap();
                let cells = counted(rows, FINE);
                for key in 0..100 {
                    let found = search.run(&cells, &mut FixedWords(key));
                    let outside =
                        rows.iter().filter(|&&row| row < found.clip.low || row >= found.clip.high).count();
                    told += usize::from(outside as u64 <= search.outside(&found, &failure).unwrap());
                    runs += 1;
                }
            }
        }
        assert!(told * 5 >= runs * 4, "{told} of {runs}");
        // The farthest ends hold all rows, and then only the choice among ends counts.
        let search = Search::new(Start::Zero, eps("1"), FINE).unwrap();
        let all = Found { clip: Clip { low: f64::MIN, high: f64::MAX, middle: 0.0 }, beyond: 0.0, ends: 79 };
        let most = search.outside(&all, &Ratio::new(1, 20)).unwrap();
        // Twice the logarithm of 78 other ends over a fortieth each.
        assert_eq!(most, 17);
    }
}
