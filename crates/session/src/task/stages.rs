//! How epsilon is split between the search for a range and the sums over it: the more rows there seem to be, the less it takes
//! to find them. All splits are calibrated beforehand, and each costs the same.

use super::{
    clip::{Clip, Found, Lattice, Search, Start},
    divisor::Divisor,
    sums::{Moved, Sums, Which},
};
use crate::{
    error::PlanError,
    resolved::ResolvedRequest,
    rows::cells::{CellLattice, Cells},
};
use equipoise_core::{adjacency::Adjacency, coins::Coins, loss::Eps, ratio::Ratio};

/// Hundredths of epsilon that the number of rows gets where the range is searched.
const COUNT_SHARE: u64 = 5;
/// How the other hundredths are split, from so many rows times epsilon on.
struct Split {
    from: f64,
    /// For the median that a search begins at; nothing where it begins at zero.
    median: u64,
    /// For each end.
    end: u64,
    sums: u64,
    /// What an end that lies twice as far must save, in factors of two.
    slope: f64,
}
/// With few rows finding them costs most. `bench/run quality` compares what comes out.
const SPLITS: [Split; 4] = [
    Split { from: 0.0, median: 0, end: 25, sums: 45, slope: 1.0 },
    Split { from: 250.0, median: 25, end: 13, sums: 44, slope: 2.0 },
    Split { from: 1000.0, median: 5, end: 15, sums: 60, slope: 3.0 },
    Split { from: 8000.0, median: 1, end: 14, sums: 66, slope: 3.0 },
];
/// Rows times epsilon from which on a range is found: an end for numbers of a hundred thousand costs 15 factors of e from zero, and each end
/// has a quarter of epsilon there. By the number that was bought for the split, which is off by 20 or more in a third of cases.
const ENOUGH: f64 = 55.0;
/// The same by the number that the sums tell, which is off by less than 10 nearly always.
const TOLD: f64 = 70.0;
/// A range that is searched, or one for each of two columns, and the sums over it.
#[derive(Clone, Debug)]
pub(super) struct Searched<S = Sums> {
    /// The number of rows, which decides on the stage.
    pub count: Divisor,
    /// From the fewest rows to the most.
    pub stages: Vec<Stage<S>>,
    /// From so many rows on there is an answer.
    pub needed: i64,
    /// And from so many on that the sums tell of.
    pub told: i64,
    /// How often more rows may lie outside than is told.
    failure: Ratio,
}

/// One split of epsilon between the search and the sums.
#[derive(Clone, Debug)]
pub(super) struct Stage<S = Sums> {
    pub from_rows: i64,
    pub search: Search,
    pub sums: S,
}

impl<S> Searched<S> {
    /// From how many rows on there is an answer, about: a sum tells no number of rows of its own.
    pub fn enough(&self, is_sum: bool) -> i64 {
        if is_sum { self.needed } else { self.told }
    }

    /// From how many rows on it is refused as seldom as a bar fails, where the sums of a stage tell a number that may be so far off.
    pub fn assured(&self, is_sum: bool, within: impl Fn(&S) -> i64) -> Option<u64> {
        let counted = self.needed.saturating_add(self.count.within());
        let told = self.told.saturating_add(self.told_within(within));
        u64::try_from(if is_sum { counted } else { counted.max(told) }).ok()
    }

    /// How far off the number of rows is at most that is told, by the sums of whatever stage.
    pub fn told_within(&self, within: impl Fn(&S) -> i64) -> i64 {
        self.stages.iter().map(|stage| within(&stage.sums)).max().unwrap_or_default()
    }

    /// The cells that rows are counted in.
    pub fn cells(&self) -> CellLattice {
        self.stages[0].search.cells()
    }

    /// Find a range for rows that lie in these cells.
    pub fn run<C: Coins>(&self, cells: &Cells, coins: &mut C) -> SharedRange {
        self.run_each(std::slice::from_ref(cells), coins)
    }

    /// Find a range for each of two columns of the same rows, or for one.
    pub fn run_each<C: Coins>(&self, columns: &[Cells], coins: &mut C) -> SharedRange {
        let FoundRanges { clips, outside, stage, rows } = self.run_all(columns, coins);
        SharedRange { clip: clips[0], second: clips.get(1).copied(), outside, stage, rows }
    }

    /// Find a range for each of some columns of the same rows.
    pub fn run_all<C: Coins>(&self, columns: &[Cells], coins: &mut C) -> FoundRanges {
        let rows = self.count.noisy(columns.first().map_or(0, Cells::rows), coins);
        let stage = self.stages.iter().rposition(|stage| rows >= stage.from_rows).unwrap_or_default();
        let search = &self.stages[stage].search;
        let found: Vec<Found> = columns.iter().map(|cells| search.run(cells, coins)).collect();
        // Each column may have more outside in its part of the cases.
        let failure = &self.failure / &Ratio::from(columns.len() as u64);
        let outside_of = |found: &Found| {
            // Beyond the largest floats lies what no count of cells sees.
            let ends = [found.clip.low, found.clip.high];
            search.outside(found, &failure).filter(|_| ends.iter().all(|end| end.abs() < f64::MAX))
        };
        let outside: Option<u64> = found.iter().map(outside_of).sum();
        // Where all rows may lie outside it says nothing.
        let outside = outside.filter(|&outside| i64::try_from(outside).is_ok_and(|outside| outside < rows));
        FoundRanges { clips: found.iter().map(|found| found.clip).collect(), outside, stage, rows }
    }
}

/// The ranges that were found, one for each column, by which split, and how many rows there seem to be.
#[derive(Clone, Debug)]
pub(super) struct FoundRanges {
    pub clips: Vec<Clip>,
    /// At most so many rows lie outside of any of them, where that is told.
    pub outside: Option<u64>,
    pub stage: usize,
    pub rows: i64,
}

/// A range that was found, by which split, and how many rows there seem to be.
#[derive(Clone, Debug)]
pub(crate) struct SharedRange {
    pub(super) clip: Clip,
    /// That of the second column, where there are two.
    pub(super) second: Option<Clip>,
    /// At most so many rows lie outside of it, or of either, where that is told.
    pub(super) outside: Option<u64>,
    pub(super) stage: usize,
    pub(super) rows: i64,
}

/// Hundredths of epsilon.
pub(super) fn share(eps: &Eps, hundredths: u64) -> Result<Eps, PlanError> {
    Ok(Eps::new(eps.ratio() * &Ratio::new(hundredths.cast_signed(), 100))?)
}

/// How often the number of rows may be farther off than its bar says, and the request whose sums may be so in the other cases.
/// In a sum nearly all of it is that of the sum.
pub(super) fn failures<'a>(said: &ResolvedRequest<'a>, rows_share: u64) -> (Ratio, ResolvedRequest<'a>) {
    if rows_share == 0 {
        return (Ratio::zero(), said.clone());
    }
    let whole = said.failure();
    (whole / &Ratio::from(100u64), said.with_failure(whole * &Ratio::new(99, 100)))
}

/// Every split of epsilon between a search and sums that can be calibrated.
pub(super) fn search(
    said: &ResolvedRequest,
    moved: &Moved,
    is_sum: bool,
    which: Which,
    lattice: Lattice,
) -> Result<Searched, PlanError> {
    let (of_rows, of_sums) = failures(said, if is_sum { COUNT_SHARE } else { 0 });
    let of_rows = if is_sum { of_rows } else { said.failure().clone() };
    search_each(said, 1, &of_rows, lattice, |eps| Sums::plan(&of_sums, eps, moved, !is_sum, which))
}

/// The same for each of some columns, which share what a search costs, with any sums.
pub(super) fn search_each<S>(
    said: &ResolvedRequest,
    columns: u64,
    of_rows: &Ratio,
    lattice: Lattice,
    sums: impl Fn(&Eps) -> Result<S, PlanError>,
) -> Result<Searched<S>, PlanError> {
    let count = Divisor::bought(&share(said.eps(), COUNT_SHARE)?, of_rows)?;
    let single = said.in_single_steps()?;
    let eps = said.eps().ratio().to_f64();
    // What costs twice as much under replace takes twice as many rows.
    let doubled = if said.adjacency() == Adjacency::Replace { 2.0 } else { 1.0 };
    // And what each of some columns has a part of.
    let doubled = doubled * columns as f64;
    let of_column = |eps: &Eps, hundredths: u64| -> Result<Eps, PlanError> {
        Ok(Eps::new(share(eps, hundredths)?.ratio() / &Ratio::from(columns))?)
    };
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^63 rows")]
    let rows = |parts: f64| (parts / eps).ceil() as i64;
    let stage = |split: &Split| -> Result<Stage<S>, PlanError> {
        let start = match split.median {
            0 => Start::Zero,
            part => Start::Median { eps: of_column(single.eps(), part)?, slope: split.slope },
        };
        Ok(Stage {
            from_rows: rows(split.from * doubled),
            search: Search::new(start, of_column(said.eps(), split.end)?, lattice)?,
            sums: sums(&share(said.eps(), split.sums)?)?,
        })
    };
    // A small share of a small epsilon may be too little for a median: then more rows do not change the split.
    let mut stages = vec![stage(&SPLITS[0])?];
    stages.extend(SPLITS[1..].iter().map_while(|split| stage(split).ok()));
    Ok(Searched {
        count,
        stages,
        needed: rows(ENOUGH * doubled),
        told: rows(TOLD * doubled),
        failure: said.failure().clone(),
    })
}
