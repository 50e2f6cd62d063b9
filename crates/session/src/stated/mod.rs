//! A value that the caller computes, and what the caller knows of it: planned, charged and recorded like any question.
//!
//! # Guarantee
//!
//! (epsilon, delta) for one record, or for one person where the statement is about people, *if what is [stated](StatedPlan::stated) is
//! true of the function on every data set*: its sensitivity, its distance, its local sensitivities. Nothing here can check that; a
//! search of small data sets may refute it. The statement is part of the plan, of the release and of what its error bar says.
//!
//! - The charge comes first: [`Session::answer_stated`] takes a [`Charged`], which only [`Session::charge`] makes, and what the caller
//!   computes is computed behind it.
//! - How much is computed (how many distances, how many coordinates) is decided by the plan, never by the rows.
//! - A function that fails, or gives something else than was stated, is one fixed line. That it failed is seen, so "it gives such a
//!   value on every data set" is part of what the caller states.
//!
//! # Why
//!
//! Each mechanism is the core's own, run on exact numbers: floats are dyadic numbers and are taken as they are. Where noise lives on a
//! lattice, the lattice is public and the sensitivity is widened for the rounding (`added`).
//!
//! # Example
//!
//! ```
//! use equipoise_session::{
//!     ledger::Ledger,
//!     session::{Paid, Session, facts},
//!     stated::{Found, StatedPlan, StatedRequest},
//! };
//!
//! let text = |text: &str| Some(text.to_string());
//! let request = StatedRequest {
//!     statistic: "noise".into(),
//!     epsilon: text("1"),
//!     sensitivity: text("1"),
//!     grid: text("1"),
//!     ..StatedRequest::default()
//! };
//! let mut session = Session::new(Ledger::in_memory()?, None)?;
//! let plan = StatedPlan::new(&request, &facts(Some(session.ledger()), "people", &[])?)?;
//! let Paid::Charged(charged) = session.charge(plan, None)? else { unreachable!("no request id was given") };
//! // Behind the charge: what nobody has seen yet.
//! let people = [1.0; 4200];
//! let found = Found { numbers: vec![people.iter().sum()], ..Found::default() };
//! let release = session.answer_stated(*charged, Some(&found))?;
//! assert_eq!(release.stated[0], "sensitivity 1, as stated by the caller");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod added;
mod chosen;
mod gated;
mod removed;
mod said;
mod scored;

use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar, Shape},
    caution,
    error::PlanError,
    facts::DataFacts,
    ledger::DataSet,
    planned::PlanSummary,
    quiet::privately,
    release::{Promise, Release, Spent},
    session::{Charged, Held, Priced, Session},
    simulate::Simulation,
    statistic::Argument,
    unanswered::Unanswered,
};
use added::{Bounded, Noisy, Smoothed};
use chosen::Chosen;
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    coins::Coins,
    loss::{Approx, Loss},
    mechanism::sampled::{CalibratedPoisson, InnerLoss, PoissonSampled},
    ratio::Ratio,
    wording,
};
use gated::{Gated, Tested};
use removed::{Fallen, Subsets};
use said::Said;
pub use scored::{ScoredPlan, ScoredRequest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was said: the call, its price, and what the caller knows. Fields that were not said take their defaults in the plan. A stored
/// answer is given again for an equal request only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StatedRequest {
    /// The call: one of [`CALLS`].
    pub statistic: String,
    /// The privacy loss.
    pub epsilon: Option<String>,
    /// By how much any set of outcomes may be likelier than e^epsilon allows.
    pub delta: Option<String>,
    /// add-remove or replace: what the statement is about.
    pub adjacency: Option<String>,
    /// The column that names the person, where the statement is about all rows of one.
    pub unit: Option<String>,
    /// How sure the error bar is.
    pub confidence: Option<String>,
    /// The mechanism by name.
    pub mechanism: Option<String>,
    /// The most that one person moves the value, every score, or for `bounded-local-sensitivity` the local sensitivity.
    pub sensitivity: Option<String>,
    /// How the coordinates of a vector are put together for that: l1 or l2.
    pub norm: Option<String>,
    /// How many coordinates a vector has; a number where nothing is said.
    pub dimensions: Option<u64>,
    /// All values are multiples of this.
    pub grid: Option<String>,
    /// What can be chosen: texts or numbers.
    pub options: Vec<Value>,
    /// Do all scores always move the same way between neighbours?
    pub monotone: bool,
    /// Public weights of the options.
    pub base: Option<Vec<String>>,
    /// Which noise: of the noisy maximum, or of smooth sensitivity.
    pub noise: Option<String>,
    /// LO,HI: where the value lies, or is moved.
    pub range: Option<String>,
    /// How fast a smooth bound may change between neighbours.
    pub beta: Option<String>,
    /// How many distances are looked at.
    pub distances: Option<u64>,
    /// The proposed bound on the local sensitivity.
    pub bound: Option<String>,
    /// Epsilon and delta of the mechanism behind a test.
    pub inner: Option<[String; 2]>,
    /// No change ever moves the value farther than this.
    pub ceiling: Option<String>,
    /// What can be answered, in growing order.
    pub answers: Option<Vec<String>>,
    /// The distance of answers over a range.
    pub step: Option<String>,
    /// How many rows there are, where that is public.
    pub rows: Option<u64>,
    /// How often a function of subsets may be called.
    pub evaluations: Option<u64>,
    /// The probability with which each row is in a secret sample.
    pub rate: Option<String>,
    /// What else makes a request another one, such as what the function is.
    pub settings: Vec<String>,
}

/// The calls by name.
pub const CALLS: [&str; 8] = [
    "noise",
    "choose",
    "stable",
    "propose-test-release",
    "smooth",
    "bounded-local-sensitivity",
    "shifted-inverse",
    "black-box",
];

/// What the caller computed behind the charge; each call reads the parts that it needs. Private.
#[derive(Clone, Default)]
pub struct Found {
    /// The value that is released as it is: of `stable`, or what a mechanism behind a test answered.
    pub value: Value,
    /// The value or its coordinates, scores, the value and then local sensitivities, or what removals leave.
    pub numbers: Vec<f64>,
    /// Rows to change (`stable`), or steps to an unsafe data set; nothing where there is no way there.
    pub distance: Option<u64>,
}

/// How one call is answered.
#[derive(Clone, Debug)]
enum Kind {
    Noisy(Noisy),
    Chosen(Box<Chosen>),
    Gated(Gated),
    Tested(Box<Tested>),
    Smoothed(Box<Smoothed>),
    Bounded(Box<Bounded>),
    Fallen(Fallen),
    Subsets(Box<Subsets>),
}

/// A call that can be answered, with its price.
#[derive(Clone, Debug)]
pub struct StatedPlan {
    request: StatedRequest,
    data: String,
    unit: Unit,
    adjacency: Adjacency,
    kind: Kind,
    sampled: Option<(CalibratedPoisson, String)>,
    cost: Approx,
    charge: Approx,
    charged_in: Adjacency,
}

impl StatedPlan {
    /// Understand what was said. Free, and blind.
    pub fn new(request: &StatedRequest, facts: &DataFacts) -> Result<Self, PlanError> {
        crate::windows::none(facts)?;
        let said = Said::new(request, facts)?;
        let kind = match request.statistic.as_str() {
            "noise" => Kind::Noisy(Noisy::plan(&said)?),
            "choose" => Kind::Chosen(Box::new(Chosen::plan(&said)?)),
            "stable" => Kind::Gated(Gated::plan(&said)?),
            "propose-test-release" => Kind::Tested(Box::new(Tested::plan(&said)?)),
            "smooth" => Kind::Smoothed(Box::new(Smoothed::plan(&said)?)),
            "bounded-local-sensitivity" => Kind::Bounded(Box::new(Bounded::plan(&said)?)),
            "shifted-inverse" => Kind::Fallen(Fallen::plan(&said)?),
            "black-box" => Kind::Subsets(Box::new(Subsets::plan(&said)?)),
            other => return Err(PlanError::unknown("call", other, &CALLS)),
        };
        if let (Unit::Column(name), Some(_)) = (&said.unit, &request.rate) {
            let name = wording::shown(name);
            let problem =
                format!("a sample is drawn row by row, and what is promised is for all rows of one {name}");
            return Err(PlanError::line(problem).hint("leave rate out, or draw a sample of people yourself"));
        }
        let inner = kind.cost();
        let sampled =
            request.rate.as_deref().map(|rate| sampled(rate, &inner, said.adjacency)).transpose()?;
        let cost = match &sampled {
            Some((sampled, _)) => approx(sampled.cost()),
            None => inner,
        };
        let charged_in = facts.registered.as_ref().map_or(said.adjacency, |(_, adjacency)| *adjacency);
        let charge = match (said.adjacency, charged_in) {
            (Adjacency::AddRemove, Adjacency::Replace) => cost.two_steps(),
            _ => cost.clone(),
        };
        Ok(Self {
            unit: said.unit,
            adjacency: said.adjacency,
            request: request.clone(),
            data: facts.name.clone(),
            kind,
            sampled,
            cost,
            charge,
            charged_in,
        })
    }

    /// What the caller stated and answers for, one clause each.
    pub fn stated(&self) -> Vec<String> {
        let mut stated = self.kind.stated();
        if let Unit::Column(name) = &self.unit {
            stated.push(format!("all of it for all rows of one {}", wording::shown(name)));
        }
        stated.into_iter().map(|clause| format!("{clause}, as stated by the caller")).collect()
    }

    /// How many numbers the caller computes beside the value: distances, or removals. Decided without rows.
    pub fn wanted(&self) -> u64 {
        self.kind.wanted()
    }

    /// What an answer costs under the adjacency of its guarantee.
    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// The places of the rows of a secret sample, or of all rows where none is drawn. Private.
    pub fn sample<C: Coins>(&self, rows: usize, coins: &mut C) -> Vec<usize> {
        let all: Vec<usize> = (0..rows).collect();
        match &self.sampled {
            Some((sampled, _)) => sampled.run(&all, |kept, _| kept.to_vec(), coins),
            None => all,
        }
    }

    /// The answer; nothing where what was found is not what was stated.
    pub(crate) fn answer<C: Coins>(&self, found: &Found, coins: &mut C) -> Option<Answer> {
        let answer = match &self.kind {
            Kind::Noisy(noisy) => noisy.answer(found, coins),
            Kind::Chosen(chosen) => chosen.answer(found, coins),
            Kind::Gated(gated) => Some(gated.answer(found, coins)),
            Kind::Tested(tested) => tested.answer(found, coins),
            Kind::Smoothed(smoothed) => smoothed.answer(found, coins),
            Kind::Bounded(bounded) => bounded.answer(found, coins),
            Kind::Fallen(fallen) => fallen.answer(found, coins),
            // What is run on subsets is handed in as a function.
            Kind::Subsets(_) => None,
        };
        Some(self.covered(answer?))
    }

    /// The same for a function that is called on subsets of so many rows; nothing where it gives no number for one.
    pub(crate) fn answer_subsets<C: Coins>(
        &self,
        rows: usize,
        function: impl FnMut(&[usize]) -> Option<Option<f64>>,
        coins: &mut C,
    ) -> Option<Answer> {
        let Kind::Subsets(subsets) = &self.kind else { return None };
        Some(self.covered(subsets.answer(rows, function, coins)?))
    }

    /// The same answer, its bar on what was stated.
    fn covered(&self, answer: Answer) -> Answer {
        Answer { error: answer.error.map(|bar| self.on_what_was_stated(bar)), ..answer }
    }

    fn on_what_was_stated(&self, bar: ErrorBar) -> ErrorBar {
        let bar = match &self.sampled {
            Some((_, rate)) => {
                let otherwise =
                    if matches!(bar.shape(), Shape::Score(_)) { "the best option" } else { "the value" };
                let of = bar.subject().unwrap_or(otherwise).to_string();
                bar.about(format!("{of} of a secret sample that has each row with probability {rate}"))
            }
            None => bar,
        };
        self.stated().into_iter().fold(bar, |bar, clause| bar.on(Condition::Given(clause)))
    }

    /// A choice by what was computed of public or made-up rows, many times: no charge, no release. Nothing for other calls.
    pub fn simulate(&self, found: &Found, trials: usize) -> Option<Result<Simulation, Unanswered>> {
        match &self.kind {
            Kind::Chosen(chosen) => Some(chosen.simulate_found(found, trials)),
            _ => None,
        }
    }

    fn promise(&self) -> Promise {
        Promise {
            epsilon: self.cost.eps.to_exact(),
            delta: self.cost.delta.to_exact(),
            adjacency: self.adjacency.to_string(),
            unit: self.unit.to_string(),
            max_rows_per_unit: None,
            per_unit: false,
            composition: None,
            max_groups_per_unit: None,
            once_for_each_value: false,
            windows: None,
        }
    }
}

impl Kind {
    fn cost(&self) -> Approx {
        approx(match self {
            Self::Noisy(noisy) => noisy.cost(),
            Self::Chosen(chosen) => chosen.cost(),
            Self::Gated(gated) => gated.cost(),
            Self::Tested(tested) => tested.cost(),
            Self::Smoothed(smoothed) => smoothed.cost(),
            Self::Bounded(bounded) => bounded.cost(),
            Self::Fallen(fallen) => fallen.cost(),
            Self::Subsets(subsets) => subsets.cost(),
        })
    }

    fn mechanism(&self) -> &'static str {
        match self {
            Self::Noisy(noisy) => noisy.mechanism(),
            Self::Chosen(chosen) => chosen.mechanism(),
            Self::Gated(_) => "stable",
            Self::Tested(_) => "propose-test-release",
            Self::Smoothed(smoothed) => smoothed.mechanism(),
            Self::Bounded(_) => "bounded-local-sensitivity",
            Self::Fallen(_) => "shifted-inverse",
            Self::Subsets(_) => "black-box",
        }
    }

    fn stated(&self) -> Vec<String> {
        match self {
            Self::Noisy(noisy) => noisy.stated(),
            Self::Chosen(chosen) => chosen.stated(),
            Self::Gated(_) => vec![gated::STATED.to_string()],
            Self::Tested(tested) => tested.stated(),
            Self::Smoothed(_) => Smoothed::stated(),
            Self::Bounded(bounded) => bounded.stated(),
            Self::Fallen(_) => Fallen::stated(),
            Self::Subsets(_) => vec!["a function of the rows alone".to_string()],
        }
    }

    fn wanted(&self) -> u64 {
        match self {
            Self::Smoothed(smoothed) => smoothed.distances(),
            Self::Fallen(fallen) => fallen.removals(),
            _ => 0,
        }
    }

    /// The bar that an answer will have, where it is known, and what can be told in words.
    fn expected(&self) -> (Option<ErrorBar>, String) {
        match self {
            Self::Noisy(noisy) => noisy.expected(),
            Self::Chosen(chosen) => chosen.expected(),
            Self::Gated(gated) => gated.expected(),
            Self::Tested(tested) => tested.expected(),
            Self::Smoothed(smoothed) => smoothed.expected(),
            Self::Bounded(bounded) => (None, bounded.expected()),
            Self::Fallen(fallen) => (None, fallen.expected()),
            Self::Subsets(subsets) => (None, subsets.expected()),
        }
    }
}

fn approx(loss: Loss) -> Approx {
    match loss {
        Loss::Approx(approx) => approx,
        Loss::Zcdp(_) | Loss::Renyi(_) => unreachable!("these are calibrated in (epsilon, delta)"),
    }
}

/// What a secret sample makes of a price, and its rate as it is shown.
fn sampled(
    rate: &str,
    inner: &Approx,
    adjacency: Adjacency,
) -> Result<(CalibratedPoisson, String), PlanError> {
    let shown: Ratio = said::number("rate", rate)?;
    let inner = match adjacency {
        Adjacency::AddRemove => InnerLoss::add_remove(inner.clone()),
        // What was stated is about replaced rows alone, so the size of the sample may show.
        Adjacency::Replace => InnerLoss::replace(inner.clone()),
    };
    let sampled = PoissonSampled { rate: rate.parse()?, adjacency, inner }.calibrate()?;
    Ok((sampled, shown.to_exact()))
}

impl Priced for StatedPlan {
    fn data_set(&self) -> DataSet {
        DataSet { name: self.data.clone(), unit: self.unit.clone(), adjacency: self.charged_in }
    }

    fn asked(&self) -> String {
        serde_json::to_string(&self.request).expect("texts are always JSON")
    }

    fn summary(&self) -> PlanSummary {
        let promise = self.promise();
        let (error, mut expected) = self.kind.expected();
        if let Some((_, rate)) = &self.sampled {
            expected = format!("on a secret sample that has each row with probability {rate}: {expected}");
        }
        PlanSummary {
            mechanism: self.kind.mechanism().to_string(),
            error: error.map(|bar| self.on_what_was_stated(bar)),
            expected,
            stated: self.stated(),
            charge: Spent::from(&self.charge),
            warnings: caution::warnings(&promise, caution::Rows::Unknown),
            ..PlanSummary::bare(&self.request.statistic, &self.data, promise)
        }
    }

    fn price(&self) -> Approx {
        self.charge.clone()
    }
}

impl Session {
    /// Answer with what was found behind the charge, and record it; nothing was found where the caller's function failed. The charge is
    /// used up whatever happens.
    pub fn answer_stated(
        &mut self,
        charged: Charged<StatedPlan>,
        found: Option<&Found>,
    ) -> Result<Release, Unanswered> {
        self.hold_stated(charged, |plan, coins| plan.answer(found?, coins))
    }

    /// The same for a function of subsets of so many rows: it is called behind the charge, with the places of rows.
    pub fn answer_subsets(
        &mut self,
        charged: Charged<StatedPlan>,
        rows: usize,
        function: impl FnMut(&[usize]) -> Option<Option<f64>>,
    ) -> Result<Release, Unanswered> {
        self.hold_stated(charged, |plan, coins| plan.answer_subsets(rows, function, coins))
    }

    fn hold_stated(
        &mut self,
        charged: Charged<StatedPlan>,
        answer: impl FnOnce(&StatedPlan, &mut equipoise_entropy::OsCoins) -> Option<Answer>,
    ) -> Result<Release, Unanswered> {
        let Charged { plan, charge } = charged;
        let coins = &mut self.coins;
        let answer = privately(|| answer(&plan, coins).ok_or(Unanswered::Function))?;
        let release = Release::of(&plan.summary(), answer, &charge);
        self.record(Held::new(release, charge))
    }
}

/// An option that the core has no name for is an argument of these calls.
fn missing(name: &str, why: &str, hint: &str) -> PlanError {
    PlanError::line(format!("{name} is missing: {why}")).hint(hint.to_string())
}

/// What needs a delta, in one line.
fn needs_delta(mechanism: &str) -> PlanError {
    PlanError::about(Argument::Delta, format!("the mechanism {mechanism} needs a delta above 0"))
        .hint("give `delta=1e-6`")
}

pub(crate) mod audits;
#[cfg(test)]
mod tests;
