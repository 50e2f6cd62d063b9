//! How quantiles are planned: which share buys the number of rows, what the rest draws, and how far off that may be.

use super::{
    super::{
        cell_quantiles::{CELLS, CellQuantiles},
        each::Each,
        ends::IntervalEnds,
        even::EvenRows,
        guard::{self, MinimumRows},
    },
    Kind, ManyQuantiles, largest,
    shape::Shape,
};
use crate::{
    error::PlanError, lattice::AnswerLattice, planned::PredictedError, resolved::ResolvedRequest,
    statistic::Argument,
};
use equipoise_core::{
    loss::Eps,
    mechanism::{inverse_sensitivity::InverseSensitivity, quantiles, stable::Stable},
    outcome::Slack,
    ratio::Ratio,
    stability::Quantile,
};
use std::slice;

/// How far off the answer is on rows that lie evenly over a declared range.
pub(super) fn likely(
    said: &ResolvedRequest,
    space: &AnswerLattice,
    kind: &Kind,
    shape: Shape,
) -> Result<Option<PredictedError>, PlanError> {
    let Some(even) = EvenRows::new(said, space)? else { return Ok(None) };
    Ok(match kind {
        Kind::One { mechanism, .. } => {
            let InverseSensitivity { eps, target, adjacency, .. } = mechanism.params();
            Some(even.likely(even.inverse_error(eps, *target, *adjacency, said.failure())))
        }
        // Two quartiles that are drawn apart; halves of the rows do no worse where they are taken.
        Kind::Several { .. } if shape == Shape::Difference => {
            let half = Ratio::new(1, 2);
            let share = Ratio::new(1, if said.interval() { 4 } else { 2 });
            let eps = Eps::new(said.eps().ratio() * &share)?;
            let target = Quantile::new(&Ratio::new(1, 4))?.into();
            let error = even.inverse_error(&eps, target, said.adjacency(), &(said.failure() * &half));
            Some(even.likely(2.0 * error))
        }
        Kind::Several { .. } | Kind::Stable { .. } => None,
    })
}

pub(super) fn plan_one(
    said: &ResolvedRequest,
    space: &AnswerLattice,
    fraction: &Ratio,
) -> Result<Kind, PlanError> {
    let (guard, eps) = plan_guard(said, space, slice::from_ref(fraction), Shape::Single)?;
    let (eps, ends) = with_ends(said, eps, space, slice::from_ref(fraction))?;
    let target = Quantile::new(fraction)?.into();
    let (range, adjacency) = (space.range(), said.adjacency());
    let mechanism = InverseSensitivity { eps, target, range, adjacency }.calibrate()?;
    let rank_error = mechanism.accuracy(said.failure())?;
    let needed = guard::needed(rank_error, fraction);
    guard.check_declared(rank_error, needed, "")?;
    Ok(Kind::One { mechanism, guard, rank_error, needed, ends })
}

/// The guard of quantiles, which buys the number of rows with the share that suits the one that decides whether there is an
/// answer: of a list the one with most rows around it, else the one with least.
fn plan_guard(
    said: &ResolvedRequest,
    space: &AnswerLattice,
    fractions: &[Ratio],
    shape: Shape,
) -> Result<(MinimumRows, Eps), PlanError> {
    let shorter = |fraction: &&Ratio| (*fraction).clone().min(Ratio::one() - *fraction);
    let all = fractions.iter();
    let deciding = if shape == Shape::List { all.max_by_key(shorter) } else { all.min_by_key(shorter) };
    let deciding = deciding.expect("some quantile");
    let target = Quantile::new(deciding)?.into();
    let many = Ratio::from(fractions.len() as u64);
    let parts = if said.interval() { &many * &Ratio::from(2u64) } else { many.clone() };
    MinimumRows::plan(said, |eps| {
        let eps = Eps::new(eps.ratio() / &parts).ok()?;
        let one = InverseSensitivity { eps, target, range: space.range(), adjacency: said.adjacency() };
        let ranks = one.ranks_for(&(said.failure() / &many)).ok()?;
        Some(guard::needed(ranks, deciding))
    })
}

/// The epsilon of the answer, and the ends of intervals, which get as much where they were asked for.
fn with_ends(
    said: &ResolvedRequest,
    eps: Eps,
    space: &AnswerLattice,
    fractions: &[Ratio],
) -> Result<(Eps, Option<IntervalEnds>), PlanError> {
    if !said.interval() {
        return Ok((eps, None));
    }
    let half = Eps::new(eps.ratio() / &Ratio::from(2u64))?;
    let ends = IntervalEnds::plan(said, &half, space, fractions)?;
    Ok((half, Some(ends)))
}

pub(super) fn plan_several(
    said: &ResolvedRequest,
    space: &AnswerLattice,
    fractions: &[Ratio],
    shape: Shape,
    with_cells: bool,
) -> Result<Kind, PlanError> {
    let (guard, eps) = plan_guard(said, space, fractions, shape)?;
    let (eps, ends) = with_ends(said, eps, space, fractions)?;
    let cells = with_cells.then(|| CellQuantiles::plan(said, &eps, fractions, &CELLS));
    let cells = cells.transpose()?.map(Box::new);
    let (range, adjacency) = (space.range(), said.adjacency());
    let each = Each::plan(said, &eps, space, fractions, &guard);
    let halves = quantiles::Quantiles { eps, fractions: fractions.to_vec(), range, adjacency }.calibrate();
    let halves = halves.and_then(|halves| halves.accuracy(said.failure()).map(|errors| (halves, errors)));
    let better = |each: &Each| {
        halves.as_ref().map_or(true, |(_, errors)| largest(&each.rank_errors) < largest(errors))
    };
    let (mechanism, rank_errors, rising_from) = match (each.filter(better).and_then(Each::calibrate), halves)
    {
        (Some((each, errors, rising_from)), _) => (ManyQuantiles::Each(each), errors, rising_from),
        (None, Ok((halves, errors))) => (ManyQuantiles::Halves(Box::new(halves)), errors, 0),
        (None, Err(error)) => return Err(error.into()),
    };
    let enough = |(&error, fraction): (&u64, &Ratio)| guard::needed(error, fraction).max(rising_from);
    let needed: Vec<u64> = rank_errors.iter().zip(fractions).map(enough).collect();
    let (error, rows) = first_told(&rank_errors, &needed, shape);
    if cells.is_none() {
        guard.check_declared(error, rows, shape.instead())?;
    }
    Ok(Kind::Several { mechanism, guard, rank_errors, needed, ends, cells })
}

/// The error that decides whether there is an answer, and the rows that it takes: of a list the least, else the most.
pub(super) fn first_told(errors: &[u64], needed: &[u64], shape: Shape) -> (u64, u64) {
    let pairs = errors.iter().copied().zip(needed.iter().copied());
    let by_rows = |&(_, rows): &(u64, u64)| rows;
    let told = if shape == Shape::List { pairs.min_by_key(by_rows) } else { pairs.max_by_key(by_rows) };
    told.unwrap_or_default()
}

pub(super) fn plan_stable(said: &ResolvedRequest, fraction: &Ratio) -> Result<Kind, PlanError> {
    if said.delta().is_zero() {
        return Err(PlanError::about(Argument::Delta, "the mechanism stable needs a delta above 0")
            .hint("give `delta=1e-6`, or use inverse-sensitivity"));
    }
    let stable = Stable { eps: said.eps().clone(), delta: said.delta().clone(), adjacency: said.adjacency() };
    let mechanism = stable.calibrate()?;
    let changes = mechanism.slack_for(&Ratio::new(1, 20)).and_then(Slack::until_change);
    Ok(Kind::Stable { mechanism, quantile: Quantile::new(fraction)?, changes })
}
