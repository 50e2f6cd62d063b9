//! Triangles and stars, which one edge moves by as much as the graph lets it: noise that follows how much that is near here.

use super::{Count, Said};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar},
    error::PlanError,
    statistic::Argument,
    task::bar::Bar,
};
use equipoise_core::{
    coins::Coins,
    loss::Loss,
    mechanism::{
        Values,
        bound_local_sensitivity::{self, BoundLocalSensitivity, Ceiling},
        released_scale::{self, ReleasedScale},
        smooth, smooth_plan,
    },
    outcome::Outcome,
    ratio::Ratio,
    stability::{
        Profile, Range,
        graph::{Pairs, SparseGraph},
    },
    wording,
};
use serde_json::json;

/// A count with noise that follows the graph.
#[derive(Clone, Debug)]
pub(super) struct Near {
    count: Count,
    law: Law,
    /// Larger counts, and larger moves, count as this.
    largest: u64,
    /// The most that one edge can ever move it, where a number of nodes was stated; for error bars only.
    ceiling: Option<(u64, Ratio)>,
    confidence: f64,
    failure: Ratio,
}

#[derive(Clone, Debug)]
enum Law {
    /// The smooth bound stays private.
    Smooth(Box<smooth::Calibrated>),
    /// The smooth bound is released.
    Released(Box<released_scale::Calibrated>),
    /// The local sensitivity, which moves by at most one, is released.
    Bounded(Box<bound_local_sensitivity::Calibrated>),
}

const MECHANISMS: [&str; 3] = ["smooth", "bounded-local-sensitivity", "released-scale"];
/// Larger counts, and larger moves, count as this.
const LARGEST: u64 = 1 << 50;
/// A bound on the local sensitivity above this refuses the value.
const LARGEST_BOUND: u64 = 1 << 40;
/// What one edge is thought to do where a noise is picked; a wrong guess costs accuracy, never privacy.
const TYPICAL: f64 = 30.0;
/// Parts of epsilon that a released bound may decay by.
const BETAS: [u64; 3] = [10, 20, 50];

impl Near {
    pub fn plan(said: &Said<'_>) -> Result<Self, PlanError> {
        Self::plan_within(said, LARGEST)
    }

    /// The same over other numbers: those of small graphs can be enumerated.
    pub fn plan_within(said: &Said<'_>, largest: u64) -> Result<Self, PlanError> {
        if said.request.max_degree.is_some() {
            return Err(PlanError::line("max_degree is for histograms, and for nodes that are protected")
                .hint("leave it out"));
        }
        let large_star = matches!(said.count, Count::Stars(edges) if edges > 2);
        let default = match (said.delta.is_zero(), large_star) {
            (true, _) => MECHANISMS[0],
            (false, true) => MECHANISMS[2],
            (false, false) => MECHANISMS[1],
        };
        let name = said.mechanism(&MECHANISMS)?.unwrap_or(default);
        if name != MECHANISMS[0] && said.delta.is_zero() {
            return Err(PlanError::about(
                Argument::Delta,
                format!("the mechanism {name} needs a delta above 0"),
            )
            .hint("give `delta=1e-6`, or use smooth"));
        }
        if name == MECHANISMS[1] && large_star {
            let problem = "what one edge does to stars of more than two edges is itself moved by any number by one edge";
            return Err(PlanError::about(Argument::Mechanism, problem).hint("use smooth or released-scale"));
        }
        let range = Range::new(0, i64::try_from(largest).expect("51 bits"))?;
        let law = match name {
            name if name == MECHANISMS[0] => Law::Smooth(Box::new(plan_smooth(said, range)?)),
            name if name == MECHANISMS[1] => Law::Bounded(Box::new(plan_bounded(said)?)),
            _ => Law::Released(Box::new(plan_released(said, range)?)),
        };
        let ceiling = said.request.nodes.as_deref().map(|text| ceiling(text, said.count)).transpose()?;
        let (confidence, failure) = (said.confidence, said.failure.clone());
        Ok(Self { count: said.count, law, largest, ceiling, confidence, failure })
    }

    pub fn cost(&self) -> Loss {
        match &self.law {
            Law::Smooth(mechanism) => mechanism.cost(),
            Law::Released(mechanism) => mechanism.cost(),
            Law::Bounded(mechanism) => mechanism.cost(),
        }
    }

    pub fn mechanism(&self) -> &'static str {
        match self.law {
            Law::Smooth(_) => MECHANISMS[0],
            Law::Bounded(_) => MECHANISMS[1],
            Law::Released(_) => MECHANISMS[2],
        }
    }

    pub fn expected(&self) -> String {
        let noun = self.count.noun();
        match &self.law {
            Law::Smooth(_) => format!(
                "{noun} with noise that follows how far single edges can move it here, which stays private: the error bar is the widest that \
                 there is, and of use where the number of nodes is stated; never refused"
            ),
            Law::Released(_) => format!(
                "{noun} with noise that follows how far single edges can move it here, which is released with some noise: the error bar comes \
                 with the answer; never refused"
            ),
            Law::Bounded(mechanism) => format!(
                "{noun} with noise at a released bound on how far one edge can move it here, on average {} above it: the error bar comes with \
                 the answer",
                mechanism.offset().to_short_up(6, 12)
            ),
        }
    }

    fn limited(&self, count: u128) -> u64 {
        u64::try_from(count).map_or(self.largest, |count| count.min(self.largest))
    }

    fn value(&self, graph: &SparseGraph) -> u64 {
        match self.count {
            Count::Stars(edges) => self.limited(graph.stars(edges)),
            _ => graph.triangles().min(self.largest),
        }
    }

    fn pairs(&self, graph: &SparseGraph) -> Pairs {
        match self.count {
            Count::Stars(_) => graph.star_pairs(),
            _ => graph.triangle_pairs(),
        }
    }

    /// The most that one edge can move it after so many have changed.
    fn local(&self, pairs: &Pairs, distance: u64) -> u64 {
        match self.count {
            Count::Stars(edges) => self.limited(pairs.stars_at(edges, distance)),
            _ => pairs.triangles_at(distance).min(self.largest),
        }
    }

    fn profile(&self, pairs: &Pairs, distances: u64) -> Profile<u64> {
        let at_distance = (0..distances).map(|distance| self.local(pairs, distance)).collect();
        Profile { at_distance, beyond: self.largest }
    }

    pub fn answer<C: Coins>(&self, graph: &SparseGraph, coins: &mut C) -> Answer {
        let pairs = self.pairs(graph);
        self.drawn(graph, &pairs, |distances| self.profile(&pairs, distances), coins)
    }

    fn drawn<C: Coins>(
        &self,
        graph: &SparseGraph,
        pairs: &Pairs,
        profile: impl Fn(u64) -> Profile<u64>,
        coins: &mut C,
    ) -> Answer {
        let value = Ratio::from(self.value(graph));
        match &self.law {
            Law::Smooth(mechanism) => {
                let decay = mechanism.decay();
                let bound = decay.profile(&profile(decay.distances()));
                let noisy = mechanism.run(&value, &bound, coins);
                match &self.ceiling {
                    None => self.bar(&noisy, &mechanism.accuracy_at_worst(&self.failure), None),
                    Some((nodes, most)) => {
                        let given = format!("at most {nodes} nodes, as stated by the caller");
                        self.bar(&noisy, &mechanism.accuracy(most, &self.failure), Some(given))
                    }
                }
            }
            Law::Released(mechanism) => {
                let decay = mechanism.decay();
                let bound = decay.profile(&profile(decay.distances()));
                let released = mechanism.run(&value, &bound, coins);
                let within = mechanism.accuracy(&released, &self.failure);
                self.bar(&released.value, &within, None)
            }
            Law::Bounded(mechanism) => {
                let local = Ratio::from(self.local(pairs, 0));
                let released = mechanism.run(&value, &local, coins);
                let bound = released.bound.to_short_up(6, 12);
                let Outcome::Value(noisy) = released.value else {
                    return Answer::refused(format!(
                        "one edge could move it by more than {bound}; use smooth"
                    ));
                };
                let within = mechanism.error_given(&released.bound, &self.failure);
                let given = format!("the released bound on what one edge moves is {bound}");
                self.bar(&noisy, &within, Some(given))
            }
        }
    }

    /// A whole number with a bar; neither is below zero.
    fn bar(&self, noisy: &Ratio, within: &Ratio, given: Option<String>) -> Answer {
        let bar = Bar::near(noisy.to_f64(), within.to_f64().next_up()).between(0.0, self.largest as f64);
        let value = noisy.round_i64().unwrap_or(i64::MAX).max(0);
        let error = ErrorBar::noise(self.confidence, bar.low, bar.high);
        Answer::released(
            json!(value),
            given.into_iter().fold(error, |bar, clause| bar.on(Condition::Given(clause))),
        )
    }
}

/// The smooth bound of a graph in which one edge does what is typical, and each change before it lets it do one more.
fn typical(beta: &Ratio) -> Ratio {
    let beta = beta.to_f64();
    let distance = (1.0 / beta - TYPICAL).max(0.0);
    let bound = (TYPICAL + distance) * (-beta * distance).exp();
    Ratio::from_f64_exact(bound).unwrap_or_else(Ratio::one)
}

/// The noise and the decay that are best for a typical graph.
fn plan_smooth(said: &Said<'_>, range: Range) -> Result<smooth::Calibrated, PlanError> {
    let question = smooth_plan::Question {
        eps: said.eps.clone(),
        delta: said.delta.clone(),
        range,
        grid: Ratio::one(),
        failure: said.failure.clone(),
    };
    let betas = smooth_plan::betas(&said.eps, &said.delta);
    let best = smooth_plan::plan(&question, &betas, typical).into_iter().next().ok_or_else(|| {
        PlanError::about(Argument::Epsilon, "no noise follows the graph at this price")
            .hint("give a larger `epsilon`")
    })?;
    Ok(best.mechanism.calibrate()?)
}

/// Half of epsilon for the bound and half for the value.
fn plan_released(said: &Said<'_>, range: Range) -> Result<released_scale::Calibrated, PlanError> {
    let half = said.share(1, 2)?;
    let mut best: Option<(released_scale::Calibrated, Ratio)> = None;
    for parts in BETAS {
        let beta = said.eps.ratio() / &Ratio::from(parts);
        let guess = typical(&beta);
        let mechanism = ReleasedScale {
            eps_scale: half.clone(),
            eps_value: half.clone(),
            delta: said.delta.clone(),
            beta,
            range: Some(range),
            grid: Ratio::one(),
        };
        let mechanism = mechanism.calibrate()?;
        let error = mechanism.accuracy_for(&guess, &said.failure);
        if best.as_ref().is_none_or(|(_, least)| error < *least) {
            best = Some((mechanism, error));
        }
    }
    Ok(best.expect("some decay was tried").0)
}

/// Half of epsilon for the bound and half for the value.
fn plan_bounded(said: &Said<'_>) -> Result<bound_local_sensitivity::Calibrated, PlanError> {
    let half = said.share(1, 2)?;
    let largest = Ratio::from(LARGEST_BOUND) * half.ratio().clone().min(Ratio::one());
    let mechanism = BoundLocalSensitivity {
        bound_eps: half.clone(),
        value_eps: half,
        delta: said.delta.clone(),
        sensitivity: Ratio::one(),
        grid: Ratio::one(),
        values: Values::OnGrid,
        floor: Ratio::one(),
        ceiling: Ceiling::RefuseAbove(largest),
    };
    Ok(mechanism.calibrate()?)
}

/// The most that one edge can do among so many nodes.
fn ceiling(text: &str, count: Count) -> Result<(u64, Ratio), PlanError> {
    let nodes =
        text.trim().parse::<u64>().ok().filter(|nodes| (2..=LARGEST).contains(nodes)).ok_or_else(|| {
            PlanError::line(format!("nodes {} is not accepted:", wording::shown(text)))
                .hint("give a whole number of at least 2, such as 1000")
        })?;
    let most = match count {
        // Both ends have an edge to everybody else.
        Count::Stars(edges) => (0..u64::from(edges) - 1)
            .map(|taken| Ratio::from((nodes - 2).saturating_sub(taken)) / Ratio::from(taken + 1))
            .fold(Ratio::from(2u64), |product, factor| product * factor),
        _ => Ratio::from(nodes - 2),
    };
    Ok((nodes, most.min(Ratio::from(LARGEST)).max(Ratio::one())))
}
