//! Triangles and stars, which one edge moves by as much as the graph lets it: noise that follows how much that is near here, or an answer
//! between the count and what it comes down to without a few edges.

use super::{Count, Covered, Said};
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
        shifted_inverse::{self, Answers, ShiftedInverse},
        smooth, smooth_plan,
    },
    outcome::Outcome,
    ratio::Ratio,
    stability::{
        Profile, Range,
        graph::{Pairs, SparseGraph},
        removals::Removals,
        smooth::{Bound, Decay},
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
    /// What removed edges bring the count down to.
    Shifted(Box<shifted_inverse::Calibrated>),
}

/// What an answer is drawn from: the count, and what edges can do to it. Private.
pub(super) struct Here {
    count: u64,
    near: NearHere,
}

enum NearHere {
    Smooth(Bound),
    Local(Ratio),
    Removals(Removals),
}

const SMOOTH: &str = "smooth";
const BOUNDED: &str = "bounded-local-sensitivity";
const RELEASED: &str = "released-scale";
const SHIFTED: &str = "shifted-inverse";
const MECHANISMS: [&str; 4] = [SMOOTH, BOUNDED, RELEASED, SHIFTED];
/// Answers that removed edges bring a count down to: whole numbers, and from a hundred on each at most a hundredth above the one before.
const ANSWER_BASE: (i64, u64) = (101, 100);
/// An answer that is nowhere near the count comes so many times less often than a bar may fail.
const RARELY: u64 = 1000;
/// Larger counts, and larger moves, count as this.
pub(super) const LARGEST: u64 = 1 << 50;
/// A bound on the local sensitivity above this refuses the value.
const LARGEST_BOUND: u64 = 1 << 40;
/// What one edge is thought to do where a noise is picked; a wrong guess costs accuracy, never privacy.
const TYPICAL: f64 = 30.0;
/// Parts of epsilon that a released bound may decay by.
const BETAS: [u64; 3] = [10, 20, 50];

impl Near {
    /// Over numbers up to `largest`.
    pub fn plan_within(said: &Said<'_>, largest: u64) -> Result<Self, PlanError> {
        if said.request.max_degree.is_some() {
            return Err(PlanError::line("`max_degree` is for histograms, and for nodes that are protected")
                .hint("leave it out"));
        }
        let large_star = matches!(said.count, Count::Stars(edges) if edges > 2);
        let default = match (said.delta.is_zero(), large_star) {
            (true, _) => SMOOTH,
            (false, true) => RELEASED,
            (false, false) => BOUNDED,
        };
        let name = said.mechanism(&MECHANISMS)?.unwrap_or(default);
        let pure = [SMOOTH, SHIFTED].contains(&name);
        if !pure && said.delta.is_zero() {
            return Err(PlanError::about(
                Argument::Delta,
                format!("the mechanism {name} needs a delta above 0"),
            )
            .hint("give `delta=1e-6`, or use smooth or shifted-inverse"));
        }
        if [BOUNDED, SHIFTED].contains(&name) && large_star {
            let problem = "what one edge does to stars of more than two edges is itself moved by any number by one edge";
            return Err(PlanError::about(Argument::Mechanism, problem).hint("use smooth or released-scale"));
        }
        let range = Range::new(0, i64::try_from(largest).expect("51 bits"))?;
        let law = match name {
            SMOOTH => Law::Smooth(Box::new(plan_smooth(said, range)?)),
            BOUNDED => Law::Bounded(Box::new(plan_bounded(said)?)),
            SHIFTED => Law::Shifted(Box::new(plan_shifted(said, largest)?)),
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
            Law::Shifted(mechanism) => mechanism.cost(),
        }
    }

    pub fn mechanism(&self) -> &'static str {
        match self.law {
            Law::Smooth(_) => SMOOTH,
            Law::Bounded(_) => BOUNDED,
            Law::Released(_) => RELEASED,
            Law::Shifted(_) => SHIFTED,
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
            Law::Shifted(mechanism) => format!("{}; never refused", self.left_of_it(mechanism.limit())),
        }
    }

    /// What a bar of the shifted inverse is about.
    fn left_of_it(&self, edges: u64) -> String {
        let (noun, taken) = match self.count {
            Count::Stars(_) => (self.count.noun(), "stars"),
            _ => (self.count.noun(), "triangles"),
        };
        format!(
            "a number between {noun} and what is left of it without those of the {edges} edges that are in most {taken}, the j-th of which \
             counts as in at least (j - 1)/2 of them"
        )
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

    /// What of a graph an answer is drawn from.
    pub fn look(&self, graph: &SparseGraph) -> Here {
        let smooth = |decay: &Decay| {
            let pairs = self.pairs(graph);
            NearHere::Smooth(decay.profile(&self.profile(&pairs, decay.distances())))
        };
        let near = match &self.law {
            Law::Smooth(mechanism) => smooth(mechanism.decay()),
            Law::Released(mechanism) => smooth(mechanism.decay()),
            Law::Bounded(_) => NearHere::Local(Ratio::from(self.local(&self.pairs(graph), 0))),
            Law::Shifted(mechanism) => NearHere::Removals(match self.count {
                Count::Stars(_) => graph.two_star_removals(mechanism.limit()),
                _ => graph.triangle_removals(mechanism.limit()),
            }),
        };
        Here { count: self.value(graph), near }
    }

    /// A mutant: what one edge that is there does, as if no other could come.
    pub fn look_at_joined(&self, graph: &SparseGraph) -> Here {
        let most = u64::try_from(graph.triangle_removals(1).down_sensitivity()).expect("a small graph");
        Here { count: self.value(graph), near: NearHere::Local(Ratio::from(most)) }
    }

    /// A mutant: what removals leave by plain sums of what edges take.
    pub fn look_at_plain_sums(&self, graph: &SparseGraph) -> Here {
        let Law::Shifted(mechanism) = &self.law else { unreachable!("a mutant of the shifted inverse") };
        let removals = graph.triangle_removals_by_plain_sums(mechanism.limit());
        Here { count: self.value(graph), near: NearHere::Removals(removals) }
    }

    /// An answer, and what its bar is about.
    pub fn answer<C: Coins>(&self, here: &Here, coins: &mut C) -> (Answer, Covered) {
        let count = Ratio::from(here.count);
        let exactly = vec![(here.count as f64, here.count as f64)];
        match (&self.law, &here.near) {
            (Law::Smooth(mechanism), NearHere::Smooth(bound)) => {
                let noisy = mechanism.run(&count, bound, coins);
                let answer = match &self.ceiling {
                    None => self.bar(&noisy, &mechanism.accuracy_at_worst(&self.failure), None),
                    Some((nodes, most)) => {
                        let given = format!("at most {nodes} nodes, as stated by the caller");
                        self.bar(&noisy, &mechanism.accuracy(most, &self.failure), Some(given))
                    }
                };
                (answer, exactly)
            }
            (Law::Released(mechanism), NearHere::Smooth(bound)) => {
                let released = mechanism.run(&count, bound, coins);
                let within = mechanism.accuracy(&released, &self.failure);
                (self.bar(&released.value, &within, None), exactly)
            }
            (Law::Bounded(mechanism), NearHere::Local(local)) => {
                let released = mechanism.run(&count, local, coins);
                let bound = released.bound.to_short_up(6, 12);
                let Outcome::Value(noisy) = released.value else {
                    let advice = format!("one edge could move it by more than {bound}; use smooth");
                    return (Answer::refused(advice), exactly);
                };
                let within = mechanism.error_given(&released.bound, &self.failure);
                let given = format!("the released bound on what one edge moves is {bound}");
                (self.bar(&noisy, &within, Some(given)), exactly)
            }
            (Law::Shifted(mechanism), NearHere::Removals(removals)) => {
                let answer = self.fallen(mechanism, &mechanism.run(removals, coins));
                // Both are below 2^128, and a float is near enough for what is only compared.
                (answer, vec![(removals.least() as f64, removals.value() as f64)])
            }
            _ => unreachable!("what is looked at is what the law asks for"),
        }
    }

    /// One of the answers that removed edges bring the count down to. Some number between the count and what is left of it lies above the answer
    /// before and is at most this one.
    fn fallen(&self, mechanism: &shifted_inverse::Calibrated, value: &Ratio) -> Answer {
        let answers = mechanism.answers();
        let place = answers.first_not_below(value);
        let above = |before: u64| &answers.value(before) + &Ratio::one();
        let low = place.checked_sub(1).map_or_else(Ratio::zero, above);
        let last = answers.value(answers.count() - 1).to_short_up(6, 12);
        let bar = ErrorBar::noise(self.confidence, low.to_f64(), value.to_f64())
            .about(self.left_of_it(mechanism.limit()))
            .on(Condition::Given(format!("if there are at most {last} of them")));
        Answer::released(json!(value.round_i64().unwrap_or(i64::MAX)), bar)
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

/// All of epsilon for the choice of an answer. One outside of the bar may be any of the answers, and most of those are far above every count: that
/// has a thousandth of the chance that was said, for a few edges more.
fn plan_shifted(said: &Said<'_>, largest: u64) -> Result<shifted_inverse::Calibrated, PlanError> {
    let answers = Answers::growing(&Ratio::new(ANSWER_BASE.0, ANSWER_BASE.1), largest)?;
    let beta = &said.failure / &Ratio::from(RARELY);
    let mechanism = ShiftedInverse { eps: said.eps.clone(), answers, beta };
    Ok(mechanism.calibrate()?)
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
            PlanError::line(format!("`nodes={}` is not accepted:", wording::shown(text)))
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
