//! The private aggregator of votes: chosen and calibrated from public facts.
//!
//! | answers | with a range or options | without |
//! |---|---|---|
//! | number | trimmed mean in the range, Laplace noise | a range by private quantiles, or agreement of most |
//! | vector | mean in the box, Gaussian noise | coordinate by coordinate, or agreement of most |
//! | label | one of the options, never refused | the majority, or a refusal |
//! | labels | each option that more than half name | the majority of whole sets, or a refusal |
//!
//! A block without a vote counts as the default that was stated. Where none was, numbers and vectors spend a tenth of epsilon on the
//! number of blocks that answered at all: where hardly any did, defaults would look like an answer, and it is refused.

use super::output::{Output, Vote};
use crate::{
    answer::{Answer, ErrorBar},
    plan::{PlanError, Said},
    space::float_ends,
};
use equipoise_core::{
    coins::Coins,
    loss::{Approx, Eps, Loss, ParameterError, rho_for},
    mechanism::{
        Noise, Values,
        laplace::{self, Laplace},
    },
    outcome::Outcome,
    ratio::Ratio,
    subsample::{
        Touch,
        arg_max::{self, ArgMax},
        ball::{self, Ball},
        bounded::{self, Bounded},
        clip::DEFAULT_BITS,
        features::{self, Features},
        location::{self, Location},
        majority::{self, Majority},
        robust_mean::{self, RobustMean, Scale, Statistic},
        vectors::{self, Vectors},
    },
};
use serde_json::{Value, json};

/// An aggregator, ready for votes.
#[derive(Clone, Debug)]
pub(super) struct Aggregate {
    kind: Kind,
    cost: Approx,
    failure: Ratio,
    confidence: f64,
    blocks: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Trimmed { mean: Box<robust_mean::Calibrated>, missing: Missing<f64>, ends: (f64, f64) },
    Location { mean: Box<location::Calibrated>, missing: Missing<f64> },
    Ball { mean: Box<ball::Calibrated>, missing: Missing<Vec<f64>>, single: bool },
    Bounded { mean: Box<bounded::Calibrated>, missing: Missing<Vec<f64>>, ends: (f64, f64) },
    Vectors { mean: Box<vectors::Calibrated>, missing: Missing<Vec<f64>> },
    Majority { election: Box<majority::Calibrated>, default: Option<Vote>, options: Vec<String> },
    Options { election: Box<arg_max::Calibrated>, default: usize, options: Vec<String> },
    Features { counts: Box<features::Calibrated>, options: Vec<String> },
}

/// What a request says of the answers.
#[derive(Clone, Debug)]
pub(super) struct Wanted<'a> {
    pub output: Output,
    pub range: Option<&'a str>,
    pub options: Option<Vec<String>>,
    /// What a block without a vote counts as, where that is stated.
    pub default: Option<Vote>,
    /// An aggregator by its name.
    pub mechanism: Option<&'a str>,
}

impl Wanted<'_> {
    /// Is this aggregator the one that was asked for, or may it be chosen?
    fn allows(&self, name: &str) -> bool {
        self.mechanism.is_none_or(|wanted| wanted == name)
    }

    /// The names that there are for these answers.
    fn names(&self) -> &'static [&'static str] {
        match (self.output, self.range.is_some(), self.options.is_some()) {
            (Output::Number, false, _) => &["winsorized", "ball"],
            (Output::Number, true, _) => &["trimmed"],
            (Output::Vector(_), false, _) => &["ball", "vectors"],
            (Output::Vector(_), true, _) => &["bounded"],
            (Output::Label | Output::Labels, _, false) => &["majority"],
            (Output::Label, _, true) => &["arg-max", "majority"],
            (Output::Labels, _, true) => &["counts"],
        }
    }
}

/// One part in this many of epsilon buys the number of blocks that answered.
const SHARE: u64 = 10;
/// A range is cut into this many steps.
const STEPS: u64 = 1 << 20;
/// One vote in this many is left out at each end.
const TRIM: u64 = 10;

impl Aggregate {
    pub fn plan(said: &Said, wanted: &Wanted, touch: Touch) -> Result<Self, PlanError> {
        if wanted.options.is_some() && !matches!(wanted.output, Output::Label | Output::Labels) {
            return Err(PlanError::line("options are for label and labels; leave them out"));
        }
        if wanted.range.is_some() && !matches!(wanted.output, Output::Number | Output::Vector(_)) {
            return Err(PlanError::line("a range is for numbers and vectors; leave it out"));
        }
        if let Some(name) = wanted.mechanism.filter(|name| !wanted.names().contains(name)) {
            return Err(PlanError::unknown("mechanism", name, wanted.names()));
        }
        let kind = match wanted.output {
            Output::Number => number(said, wanted, touch)?,
            Output::Vector(length) => vector(said, wanted, length, touch)?,
            Output::Label => label(said, wanted, touch)?,
            Output::Labels => label_sets(said, wanted, touch)?,
        };
        let cost = match kind.cost() {
            Loss::Approx(approx) => approx,
            // The rho was taken from this epsilon and delta.
            Loss::Zcdp(_) | Loss::Renyi(_) => Approx::new(said.eps(), said.delta()),
        };
        let (failure, confidence) = (said.failure().clone(), said.confidence());
        Ok(Self { kind, cost, failure, confidence, blocks: touch.votes() })
    }

    pub fn cost(&self) -> &Approx {
        &self.cost
    }

    /// The name by which it can be asked for.
    pub fn mechanism(&self) -> &'static str {
        match self.kind {
            Kind::Trimmed { .. } => "trimmed",
            Kind::Location { .. } => "winsorized",
            Kind::Ball { .. } => "ball",
            Kind::Bounded { .. } => "bounded",
            Kind::Vectors { .. } => "vectors",
            Kind::Majority { .. } => "majority",
            Kind::Options { .. } => "arg-max",
            Kind::Features { .. } => "counts",
        }
    }

    /// What it makes of the answers, in words.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Trimmed { .. } => "trimmed mean",
            Kind::Location { .. } => "mean in a private range",
            Kind::Ball { .. } => "mean of those that agree",
            Kind::Bounded { .. } => "mean in a box",
            Kind::Vectors { .. } => "means in private ranges",
            Kind::Majority { .. } => "majority",
            Kind::Options { .. } => "arg-max",
            Kind::Features { .. } => "counts",
        }
    }

    /// What can be told beforehand, in words.
    pub fn expected(&self) -> String {
        let of = format!("the {} of {} answers", self.name(), self.blocks);
        let spreads =
            |spreads: f64| format!("{of}, with noise of about {spreads:.2} standard deviations of an answer");
        match &self.kind {
            Kind::Trimmed { mean, .. } => {
                let within = mean.accuracy(&self.failure).map_or(0.0, |within| within.to_f64());
                format!("{of}, within {within:.4} of it")
            }
            Kind::Bounded { mean, .. } => {
                format!("{of}, each coordinate within {:.4} of it", mean.accuracy(&self.failure))
            }
            Kind::Location { mean, .. } => spreads(mean.noise_in_spreads()),
            Kind::Vectors { mean, .. } => spreads(mean.noise_in_spreads()),
            Kind::Ball { mean, .. } => {
                format!("{}, or a refusal where they do not agree", spreads(mean.noise_in_spreads()))
            }
            Kind::Majority { election, .. } => {
                let success = election.success_lower(&Ratio::new(3, 4)).to_f64();
                format!(
                    "{of}, exact, or a refusal: released with probability {success:.2} where three blocks of four agree"
                )
            }
            Kind::Options { election, options, .. } => {
                let success = election.success_lower(&Ratio::new(3, 4)).to_f64();
                format!(
                    "{of} among {}: right with probability {success:.2} where three blocks of four agree",
                    options.len()
                )
            }
            Kind::Features { counts, options } => format!(
                "{of} for each of {} options, within {:.0} of the true ones",
                options.len(),
                counts.accuracy(&self.failure).to_f64()
            ),
        }
    }

    /// The error bar of a released answer, where it is known beforehand.
    pub fn expected_error(&self) -> Option<ErrorBar> {
        match &self.kind {
            Kind::Trimmed { mean, .. } => Some(self.bar(mean.accuracy(&self.failure)?.to_f64())),
            Kind::Bounded { mean, .. } => Some(self.bar(mean.accuracy(&self.failure))),
            Kind::Majority { .. } => Some(ErrorBar::exact()),
            _ => None,
        }
    }

    fn bar(&self, scale: f64) -> ErrorBar {
        ErrorBar::scale(self.confidence, scale)
    }

    /// The answer from the votes, nothing where there is none. Never fails.
    pub fn answer<C: Coins>(&self, votes: &[Option<Vote>], coins: &mut C) -> Answer {
        match &self.kind {
            Kind::Trimmed { mean, missing, ends } => {
                let (votes, enough) = missing.filled(numbers(votes), coins);
                let value = mean.run(&votes, coins).to_f64();
                let within = mean.accuracy(&self.failure).map_or(0.0, |within| within.to_f64());
                self.number(enough, value, (value - within).max(ends.0), (value + within).min(ends.1))
            }
            Kind::Location { mean, missing } => {
                let (votes, enough) = missing.filled(numbers(votes), coins);
                let located = mean.run(&votes, coins);
                let within = mean.accuracy(&located.clip, &self.failure);
                self.number(enough, located.value, located.value - within, located.value + within)
            }
            Kind::Ball { mean, missing, single } => {
                let (votes, enough) = missing.filled(vectors(votes), coins);
                match mean.run(&votes, coins) {
                    Outcome::Refused => self.too_few_agree(),
                    Outcome::Value(found) if *single => {
                        let (value, within) = (found.value[0], mean.accuracy(&self.failure) * found.radius);
                        self.number(enough, value, value - within, value + within)
                    }
                    Outcome::Value(found) => {
                        self.vector(enough, &found.value, mean.accuracy(&self.failure) * found.radius)
                    }
                }
            }
            Kind::Bounded { mean, missing, ends } => {
                let middle = f64::midpoint(ends.0, ends.1);
                let (votes, enough) = missing.filled(vectors(votes), coins);
                let moved =
                    |vote: Vec<f64>| vote.iter().map(|value| value.clamp(ends.0, ends.1) - middle).collect();
                let votes: Vec<Vec<f64>> = votes.into_iter().map(moved).collect();
                let value: Vec<f64> = mean.run(&votes, coins).iter().map(|value| value + middle).collect();
                self.vector(enough, &value, mean.accuracy(&self.failure))
            }
            Kind::Vectors { mean, missing } => {
                let (votes, enough) = missing.filled(vectors(votes), coins);
                let found = mean.run(&votes, coins);
                let widest =
                    found.clips.iter().map(equipoise_core::subsample::clip::Clip::width).fold(0.0, f64::max);
                self.vector(enough, &found.value, mean.accuracy(&self.failure) * widest)
            }
            Kind::Majority { election, default, options } => {
                let vote = |vote: &Option<Vote>| elected_by(vote.as_ref().or(default.as_ref())?, options);
                let votes: Vec<Option<Elected>> = votes.iter().map(vote).collect();
                self.elected(election.run(&votes, coins).map(|vote| vote.map(Elected::into_json)))
            }
            Kind::Options { election, default, options } => {
                // What is no option counts as the default, or as one more option, which stands for no answer.
                let place = |vote: &Option<Vote>| match vote {
                    Some(Vote::Listed(place)) => *place as u64,
                    _ => *default as u64,
                };
                let votes: Vec<u64> = votes.iter().map(place).collect();
                let named = usize::try_from(election.run(&votes, coins).option).unwrap_or(options.len());
                self.elected(Outcome::Value(options.get(named).map(|option| json!(option))))
            }
            Kind::Features { counts, options } => {
                let places = |vote: &Option<Vote>| match vote {
                    Some(Vote::Named(named)) => named
                        .iter()
                        .enumerate()
                        .filter(|(_, named)| **named)
                        .map(|(place, _)| place)
                        .collect(),
                    _ => Vec::new(),
                };
                let votes: Vec<Vec<usize>> = votes.iter().map(places).collect();
                let named: Vec<&String> =
                    counts.run(&votes, coins).into_iter().map(|(place, _)| &options[place]).collect();
                Answer::released(json!(named), self.bar(counts.accuracy(&self.failure).to_f64()))
            }
        }
    }

    fn number(&self, enough: bool, value: f64, low: f64, high: f64) -> Answer {
        if !enough {
            return nobody_answered();
        }
        Answer::number(value, ErrorBar::noise(self.confidence, low, high))
    }

    fn vector(&self, enough: bool, value: &[f64], within: f64) -> Answer {
        if !enough {
            return nobody_answered();
        }
        if !value.iter().chain([&within]).all(|value| value.is_finite()) {
            return Answer::refused(
                "the answer is beyond what a 64-bit float can hold; let the program scale it",
            );
        }
        Answer::released(json!(value), self.bar(within))
    }

    fn elected(&self, outcome: Outcome<Option<Value>>) -> Answer {
        match outcome {
            Outcome::Refused => self.too_few_agree(),
            Outcome::Value(None) => nobody_answered(),
            Outcome::Value(Some(value)) => Answer::released(value, ErrorBar::exact()),
        }
    }

    fn too_few_agree(&self) -> Answer {
        Answer::refused(format!(
            "too few of the {} blocks agree; use fewer and larger blocks, a coarser answer, or a larger epsilon",
            self.blocks
        ))
    }
}

fn nobody_answered() -> Answer {
    Answer::refused(
        "most blocks gave no answer that can be read; try it on made-up rows of the same columns, \
         with more time, memory or rows in a block",
    )
}

impl Kind {
    fn cost(&self) -> Loss {
        match self {
            Self::Trimmed { mean, missing, .. } => missing.with_cost(mean.cost()),
            Self::Location { mean, missing } => missing.with_cost(mean.cost()),
            Self::Ball { mean, missing, .. } => missing.with_cost(mean.cost()),
            Self::Bounded { mean, missing, .. } => missing.with_cost(mean.cost()),
            // What its rho and the rest cost together is what was said.
            Self::Vectors { mean, .. } => mean.cost(),
            Self::Majority { election, .. } => election.cost(),
            Self::Options { election, .. } => election.cost(),
            Self::Features { counts, .. } => counts.cost(),
        }
    }
}

fn numbers(votes: &[Option<Vote>]) -> Vec<Option<f64>> {
    let number = |vote: &Option<Vote>| match vote {
        Some(Vote::Number(value)) => Some(*value),
        _ => None,
    };
    votes.iter().map(number).collect()
}

/// Numbers are vectors of one coordinate.
fn vectors(votes: &[Option<Vote>]) -> Vec<Option<Vec<f64>>> {
    let vector = |vote: &Option<Vote>| match vote {
        Some(Vote::Vector(value)) => Some(value.clone()),
        Some(Vote::Number(value)) => Some(vec![*value]),
        _ => None,
    };
    votes.iter().map(vector).collect()
}

/// What can win an election.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Elected {
    Label(String),
    Labels(Vec<String>),
}

fn elected_by(vote: &Vote, options: &[String]) -> Option<Elected> {
    match vote {
        Vote::Label(label) => Some(Elected::Label(label.clone())),
        Vote::Labels(labels) => Some(Elected::Labels(labels.clone())),
        Vote::Listed(place) => options.get(*place).cloned().map(Elected::Label),
        _ => None,
    }
}

impl Elected {
    fn into_json(self) -> Value {
        match self {
            Self::Label(label) => json!(label),
            Self::Labels(labels) => json!(labels),
        }
    }
}

/// What stands for the votes of blocks that have none.
#[derive(Clone, Debug)]
struct Missing<T> {
    default: T,
    /// Nothing where the default was stated: then it is as good a vote as any.
    answered: Option<Answered>,
}

/// The noisy number of blocks that answered.
#[derive(Clone, Debug)]
struct Answered {
    noise: Box<laplace::Calibrated>,
    least: i64,
}

impl<T: Clone> Missing<T> {
    /// With the epsilon that is left: all of it where a default is stated.
    fn plan(said: &Said, stated: Option<T>, otherwise: T, touch: Touch) -> Result<(Self, Eps), PlanError> {
        if let Some(default) = stated {
            return Ok((Self { default, answered: None }, said.eps().clone()));
        }
        let eps = Eps::new(said.eps().ratio() / &Ratio::from(SHARE))?;
        let rest = Eps::new(said.eps().ratio() - eps.ratio())?;
        let (sensitivity, grid) = (Ratio::from(touch.per_unit()), Ratio::one());
        let (values, noise) = (Values::OnGrid, Noise::Discrete);
        let noise = Laplace { eps, sensitivity, grid, dimensions: 1, values, noise }.calibrate()?;
        // Refused only where it is nearly certain that fewer than half answered.
        let within = noise.accuracy(said.failure()).ceil_i64().unwrap_or(i64::MAX);
        let half = i64::try_from(touch.votes() / 2).unwrap_or(i64::MAX);
        let answered = Answered { noise: Box::new(noise), least: half.saturating_sub(within) };
        Ok((Self { default: otherwise, answered: Some(answered) }, rest))
    }

    fn with_cost(&self, cost: Loss) -> Loss {
        match &self.answered {
            Some(answered) => cost.compose(&answered.noise.cost()),
            None => cost,
        }
    }

    /// The votes with the default for those that are missing, and whether enough are there.
    fn filled<C: Coins>(&self, votes: Vec<Option<T>>, coins: &mut C) -> (Vec<T>, bool) {
        let count = votes.iter().filter(|vote| vote.is_some()).count();
        let enough = self.answered.as_ref().is_none_or(|answered| {
            answered.noise.run_whole(i64::try_from(count).unwrap_or(i64::MAX), coins) >= answered.least
        });
        (votes.into_iter().map(|vote| vote.unwrap_or_else(|| self.default.clone())).collect(), enough)
    }
}

fn number(said: &Said, wanted: &Wanted, touch: Touch) -> Result<Kind, PlanError> {
    let stated = match wanted.default {
        Some(Vote::Number(value)) => Some(value),
        _ => None,
    };
    if let Some(range) = wanted.range {
        let ends = float_ends(range)?;
        let (missing, eps) = Missing::plan(said, stated, f64::midpoint(ends.0, ends.1), touch)?;
        let end = |value: f64| {
            Ratio::from_f64_shortest(value)
                .ok_or_else(|| ParameterError::out_of_range("range", range, "give finite numbers"))
        };
        let (low, high) = (end(ends.0)?, end(ends.1)?);
        let resolution = (&high - &low) / Ratio::from(STEPS);
        let statistic = Statistic::Trimmed { trim: touch.votes() / TRIM };
        let mean =
            RobustMean { eps, statistic, scale: Scale::Global, low, high, resolution, touch }.calibrate()?;
        return Ok(Kind::Trimmed { mean: Box::new(mean), missing, ends });
    }
    let (missing, eps) = Missing::plan(said, stated, 0.0, touch)?;
    let location = Location { eps: eps.clone(), bits: DEFAULT_BITS, touch }.calibrate();
    let may_be_ball = wanted.allows("ball") && !said.delta().is_zero();
    let ball =
        may_be_ball.then(|| Ball { eps, delta: said.delta().clone(), dimensions: 1, touch }.calibrate());
    let as_ball = |mean, missing: Missing<f64>| {
        let missing = Missing { default: vec![missing.default], answered: missing.answered };
        Ok(Kind::Ball { mean: Box::new(mean), missing, single: true })
    };
    match (location, ball) {
        _ if wanted.mechanism == Some("ball") && said.delta().is_zero() => {
            Err(PlanError::line("agreement needs a delta above 0; give --delta 1e-6"))
        }
        (_, Some(ball)) if wanted.mechanism == Some("ball") => as_ball(ball?, missing),
        (Ok(location), Some(Ok(ball))) if ball.noise_in_spreads() < location.noise_in_spreads() => {
            as_ball(ball, missing)
        }
        (Err(_), Some(Ok(ball))) => as_ball(ball, missing),
        (Ok(location), _) => Ok(Kind::Location { mean: Box::new(location), missing }),
        (Err(error), _) => Err(PlanError::line(format!("{error}; or give --range LO,HI"))),
    }
}

fn vector(said: &Said, wanted: &Wanted, length: usize, touch: Touch) -> Result<Kind, PlanError> {
    if said.delta().is_zero() {
        return Err(PlanError::line("vectors need a delta above 0; give --delta 1e-6"));
    }
    let stated = match &wanted.default {
        Some(Vote::Vector(value)) => Some(value.clone()),
        _ => None,
    };
    let delta = said.delta().clone();
    if let Some(range) = wanted.range {
        let ends = float_ends(range)?;
        let (missing, eps) = Missing::plan(said, stated, vec![f64::midpoint(ends.0, ends.1); length], touch)?;
        let radius = (ends.1 / 2.0 - ends.0 / 2.0) * (length as f64).sqrt();
        let mean = Bounded { eps, delta, dimensions: length, radius, touch }.calibrate()?;
        return Ok(Kind::Bounded { mean: Box::new(mean), missing, ends });
    }
    let (missing, eps) = Missing::plan(said, stated, vec![0.0; length], touch)?;
    let vectors =
        Vectors { rho: rho_for(&eps, &delta)?, dimensions: length, bits: DEFAULT_BITS, touch }.calibrate();
    let ball = Ball { eps, delta, dimensions: length, touch }.calibrate();
    let use_vectors = match (&vectors, &ball) {
        _ if wanted.mechanism.is_some() => wanted.allows("vectors"),
        (Ok(vectors), Ok(ball)) => vectors.noise_in_spreads() <= ball.noise_in_spreads(),
        (Ok(_), Err(_)) => true,
        (Err(_), _) => false,
    };
    let hint = |error: ParameterError| PlanError::line(format!("{error}; or give --range LO,HI"));
    if use_vectors {
        Ok(Kind::Vectors { mean: Box::new(vectors.map_err(hint)?), missing })
    } else {
        Ok(Kind::Ball { mean: Box::new(ball.map_err(hint)?), missing, single: false })
    }
}

fn label(said: &Said, wanted: &Wanted, touch: Touch) -> Result<Kind, PlanError> {
    let Some(options) = wanted.options.as_ref().filter(|_| wanted.allows("arg-max")) else {
        return majority(said, wanted, touch);
    };
    let default = match wanted.default {
        Some(Vote::Listed(place)) => place,
        _ => options.len(),
    };
    let count = options.len().max(default + 1) as u64;
    let election = ArgMax { eps: said.eps().clone(), popularity_eps: None, options: count, touch };
    Ok(Kind::Options { election: Box::new(election.calibrate()?), default, options: options.clone() })
}

fn label_sets(said: &Said, wanted: &Wanted, touch: Touch) -> Result<Kind, PlanError> {
    let Some(options) = &wanted.options else { return majority(said, wanted, touch) };
    if said.delta().is_zero() {
        return Err(PlanError::line("counts of options need a delta above 0; give --delta 1e-6"));
    }
    let rho = rho_for(said.eps(), said.delta())?;
    let counts = Features { rho, features: options.len(), largest: options.len(), touch }.calibrate()?;
    Ok(Kind::Features { counts: Box::new(counts), options: options.clone() })
}

fn majority(said: &Said, wanted: &Wanted, touch: Touch) -> Result<Kind, PlanError> {
    if said.delta().is_zero() {
        return Err(PlanError::line(
            "labels that are not listed need a delta above 0; give --delta 1e-6, or --options A,B,C",
        ));
    }
    let election = Majority { eps: said.eps().clone(), delta: said.delta().clone(), touch }.calibrate()?;
    let (default, options) = (wanted.default.clone(), wanted.options.clone().unwrap_or_default());
    Ok(Kind::Majority { election: Box::new(election), default, options })
}
