//! The private aggregator of a program's answers: chosen and calibrated from public facts.
//!
//! | answers | with a range or options | without |
//! |---|---|---|
//! | number | trimmed mean in the range, Laplace noise | a range by private quantiles, or agreement of most |
//! | vector | mean in the box, Gaussian noise | coordinate by coordinate, or agreement of most |
//! | label | one of the options, never refused | the majority, or a refusal |
//! | labels | each option that more than half name | the majority of whole sets, or a refusal |
//!
//! Numbers and vectors spend a tenth of epsilon on the number of blocks that answered at all: where hardly any did, the
//! defaults would look like an answer, and it is refused.

use super::votes::{self, Output};
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
    Trimmed { mean: Box<robust_mean::Calibrated>, answered: Answered, ends: (f64, f64) },
    Location { mean: Box<location::Calibrated>, answered: Answered },
    Ball { mean: Box<ball::Calibrated>, answered: Answered, length: Option<usize> },
    Bounded { mean: Box<bounded::Calibrated>, answered: Answered, ends: (f64, f64), length: usize },
    Vectors { mean: Box<vectors::Calibrated>, answered: Answered, length: usize },
    Majority { election: Box<majority::Calibrated>, sets: bool },
    Options { election: Box<arg_max::Calibrated>, options: Vec<String> },
    Features { counts: Box<features::Calibrated>, options: Vec<String> },
}

/// What a request says of the answers.
#[derive(Clone, Debug)]
pub(super) struct Wanted<'a> {
    pub output: Output,
    pub range: Option<&'a str>,
    pub options: Option<Vec<String>>,
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
        let kind = match wanted.output {
            Output::Number => number(said, wanted.range, touch)?,
            Output::Vector(length) => vector(said, wanted.range, length, touch)?,
            Output::Label => label(said, wanted.options.as_ref(), touch)?,
            Output::Labels => label_sets(said, wanted.options.as_ref(), touch)?,
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
            Kind::Options { election, options } => {
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

    /// The answer from what the programs printed, nothing where they failed. Never fails.
    pub fn answer<C: Coins>(&self, printed: &[Option<Vec<u8>>], coins: &mut C) -> Answer {
        let numbers = || printed.iter().map(|one| votes::number(one.as_deref()?)).collect::<Vec<_>>();
        let vectors =
            |length| printed.iter().map(|one| votes::vector(one.as_deref()?, length)).collect::<Vec<_>>();
        match &self.kind {
            Kind::Trimmed { mean, answered, ends } => {
                let (votes, enough) = answered.of(numbers(), f64::midpoint(ends.0, ends.1), coins);
                let value = mean.run(&votes, coins).to_f64();
                let within = mean.accuracy(&self.failure).map_or(0.0, |within| within.to_f64());
                self.number(enough, value, (value - within).max(ends.0), (value + within).min(ends.1))
            }
            Kind::Location { mean, answered } => {
                let (votes, enough) = answered.of(numbers(), 0.0, coins);
                let located = mean.run(&votes, coins);
                let within = mean.accuracy(&located.clip, &self.failure);
                self.number(enough, located.value, located.value - within, located.value + within)
            }
            Kind::Ball { mean, answered, length } => {
                let votes = match length {
                    Some(length) => vectors(*length),
                    None => numbers().into_iter().map(|vote| vote.map(|value| vec![value])).collect(),
                };
                let (votes, enough) = answered.of(votes, vec![0.0; length.unwrap_or(1)], coins);
                match (mean.run(&votes, coins), length) {
                    (Outcome::Refused, _) => self.too_few_agree(),
                    (Outcome::Value(found), Some(_)) => {
                        self.vector(enough, &found.value, mean.accuracy(&self.failure) * found.radius)
                    }
                    (Outcome::Value(found), None) => {
                        let (value, within) = (found.value[0], mean.accuracy(&self.failure) * found.radius);
                        self.number(enough, value, value - within, value + within)
                    }
                }
            }
            Kind::Bounded { mean, answered, ends, length } => {
                let middle = f64::midpoint(ends.0, ends.1);
                let (votes, enough) = answered.of(vectors(*length), vec![middle; *length], coins);
                let moved =
                    |vote: Vec<f64>| vote.iter().map(|value| value.clamp(ends.0, ends.1) - middle).collect();
                let votes: Vec<Vec<f64>> = votes.into_iter().map(moved).collect();
                let value: Vec<f64> = mean.run(&votes, coins).iter().map(|value| value + middle).collect();
                self.vector(enough, &value, mean.accuracy(&self.failure))
            }
            Kind::Vectors { mean, answered, length } => {
                let (votes, enough) = answered.of(vectors(*length), vec![0.0; *length], coins);
                let found = mean.run(&votes, coins);
                let widest =
                    found.clips.iter().map(equipoise_core::subsample::clip::Clip::width).fold(0.0, f64::max);
                self.vector(enough, &found.value, mean.accuracy(&self.failure) * widest)
            }
            Kind::Majority { election, sets: false } => {
                let votes: Vec<Option<String>> =
                    printed.iter().map(|one| votes::label(one.as_deref()?)).collect();
                self.elected(election.run(&votes, coins).map(|vote| vote.map(Value::from)))
            }
            Kind::Majority { election, sets: true } => {
                let votes: Vec<Option<Vec<String>>> = printed
                    .iter()
                    .map(|one| Some(votes::labels(one.as_deref()?)?.into_iter().collect()))
                    .collect();
                self.elected(election.run(&votes, coins).map(|vote| vote.map(|set| json!(set))))
            }
            Kind::Options { election, options } => {
                let place = |label: &String| options.iter().position(|option| option == label);
                let vote = |one: &Option<Vec<u8>>| place(&votes::label(one.as_deref()?)?);
                // What is no option counts as one more, which stands for no answer.
                let votes: Vec<u64> =
                    printed.iter().map(|one| vote(one).unwrap_or(options.len()) as u64).collect();
                let named = usize::try_from(election.run(&votes, coins).option).unwrap_or(options.len());
                self.elected(Outcome::Value(options.get(named).map(|option| json!(option))))
            }
            Kind::Features { counts, options } => {
                let places = |one: &Option<Vec<u8>>| -> Option<Vec<usize>> {
                    let set = votes::labels(one.as_deref()?)?;
                    Some(
                        options
                            .iter()
                            .enumerate()
                            .filter(|(_, option)| set.contains(*option))
                            .map(|(place, _)| place)
                            .collect(),
                    )
                };
                let votes: Vec<Vec<usize>> =
                    printed.iter().map(|one| places(one).unwrap_or_default()).collect();
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
        "most blocks gave no answer that can be read; try the program on made-up rows of the same columns, \
         with more time, memory or rows in a block",
    )
}

impl Kind {
    fn cost(&self) -> Loss {
        match self {
            Self::Trimmed { mean, answered, .. } => mean.cost().compose(&answered.noise.cost()),
            Self::Location { mean, answered } => mean.cost().compose(&answered.noise.cost()),
            Self::Ball { mean, answered, .. } => mean.cost().compose(&answered.noise.cost()),
            Self::Bounded { mean, answered, .. } => mean.cost().compose(&answered.noise.cost()),
            // What its rho and the rest cost together is what was said.
            Self::Vectors { mean, .. } => mean.cost(),
            Self::Majority { election, .. } => election.cost(),
            Self::Options { election, .. } => election.cost(),
            Self::Features { counts, .. } => counts.cost(),
        }
    }
}

/// The noisy number of blocks that answered.
#[derive(Clone, Debug)]
struct Answered {
    noise: Box<laplace::Calibrated>,
    least: i64,
}

impl Answered {
    /// The count, and the epsilon that is left.
    fn plan(said: &Said, touch: Touch) -> Result<(Self, Eps), PlanError> {
        let eps = Eps::new(said.eps().ratio() / &Ratio::from(SHARE))?;
        let rest = Eps::new(said.eps().ratio() - eps.ratio())?;
        let (sensitivity, grid) = (Ratio::from(touch.per_unit()), Ratio::one());
        let (values, noise) = (Values::OnGrid, Noise::Discrete);
        let noise = Laplace { eps, sensitivity, grid, dimensions: 1, values, noise }.calibrate()?;
        // Refused only where it is nearly certain that fewer than half answered.
        let within = noise.accuracy(said.failure()).ceil_i64().unwrap_or(i64::MAX);
        let half = i64::try_from(touch.votes() / 2).unwrap_or(i64::MAX);
        Ok((Self { noise: Box::new(noise), least: half.saturating_sub(within) }, rest))
    }

    /// The votes with the default for those that are missing, and whether enough are there.
    fn of<T: Clone, C: Coins>(&self, votes: Vec<Option<T>>, default: T, coins: &mut C) -> (Vec<T>, bool) {
        let count = votes.iter().filter(|vote| vote.is_some()).count();
        let noisy = self.noise.run_whole(i64::try_from(count).unwrap_or(i64::MAX), coins);
        let votes = votes.into_iter().map(|vote| vote.unwrap_or_else(|| default.clone())).collect();
        (votes, noisy >= self.least)
    }
}

fn number(said: &Said, range: Option<&str>, touch: Touch) -> Result<Kind, PlanError> {
    let (answered, eps) = Answered::plan(said, touch)?;
    if let Some(range) = range {
        let ends = float_ends(range)?;
        let end = |value: f64| {
            Ratio::from_f64_shortest(value)
                .ok_or_else(|| ParameterError::out_of_range("range", range, "give finite numbers"))
        };
        let (low, high) = (end(ends.0)?, end(ends.1)?);
        let resolution = (&high - &low) / Ratio::from(STEPS);
        let statistic = Statistic::Trimmed { trim: touch.votes() / TRIM };
        let mean =
            RobustMean { eps, statistic, scale: Scale::Global, low, high, resolution, touch }.calibrate()?;
        return Ok(Kind::Trimmed { mean: Box::new(mean), answered, ends });
    }
    let location = Location { eps: eps.clone(), bits: DEFAULT_BITS, touch }.calibrate();
    let ball = (!said.delta().is_zero())
        .then(|| Ball { eps, delta: said.delta().clone(), dimensions: 1, touch }.calibrate());
    match (location, ball) {
        (Ok(location), Some(Ok(ball))) if ball.noise_in_spreads() < location.noise_in_spreads() => {
            Ok(Kind::Ball { mean: Box::new(ball), answered, length: None })
        }
        (Err(_), Some(Ok(ball))) => Ok(Kind::Ball { mean: Box::new(ball), answered, length: None }),
        (Ok(location), _) => Ok(Kind::Location { mean: Box::new(location), answered }),
        (Err(error), _) => Err(PlanError::line(format!("{error}; or give --range LO,HI"))),
    }
}

fn vector(said: &Said, range: Option<&str>, length: usize, touch: Touch) -> Result<Kind, PlanError> {
    if said.delta().is_zero() {
        return Err(PlanError::line("vectors need a delta above 0; give --delta 1e-6"));
    }
    let (answered, eps) = Answered::plan(said, touch)?;
    let delta = said.delta().clone();
    if let Some(range) = range {
        let ends = float_ends(range)?;
        let radius = (ends.1 / 2.0 - ends.0 / 2.0) * (length as f64).sqrt();
        let mean = Bounded { eps, delta, dimensions: length, radius, touch }.calibrate()?;
        return Ok(Kind::Bounded { mean: Box::new(mean), answered, ends, length });
    }
    let vectors =
        Vectors { rho: rho_for(&eps, &delta)?, dimensions: length, bits: DEFAULT_BITS, touch }.calibrate();
    let ball = Ball { eps, delta, dimensions: length, touch }.calibrate();
    match (vectors, ball) {
        (Ok(vectors), Ok(ball)) if vectors.noise_in_spreads() <= ball.noise_in_spreads() => {
            Ok(Kind::Vectors { mean: Box::new(vectors), answered, length })
        }
        (_, Ok(ball)) => Ok(Kind::Ball { mean: Box::new(ball), answered, length: Some(length) }),
        (Ok(vectors), Err(_)) => Ok(Kind::Vectors { mean: Box::new(vectors), answered, length }),
        (Err(_), Err(error)) => Err(PlanError::line(format!("{error}; or give --range LO,HI"))),
    }
}

fn label(said: &Said, options: Option<&Vec<String>>, touch: Touch) -> Result<Kind, PlanError> {
    if let Some(options) = options {
        let count = options.len() as u64 + 1;
        let election = ArgMax { eps: said.eps().clone(), popularity_eps: None, options: count, touch };
        return Ok(Kind::Options { election: Box::new(election.calibrate()?), options: options.clone() });
    }
    majority(said, touch, false)
}

fn label_sets(said: &Said, options: Option<&Vec<String>>, touch: Touch) -> Result<Kind, PlanError> {
    let Some(options) = options else { return majority(said, touch, true) };
    if said.delta().is_zero() {
        return Err(PlanError::line("counts of options need a delta above 0; give --delta 1e-6"));
    }
    let rho = rho_for(said.eps(), said.delta())?;
    let counts = Features { rho, features: options.len(), largest: options.len(), touch }.calibrate()?;
    Ok(Kind::Features { counts: Box::new(counts), options: options.clone() })
}

fn majority(said: &Said, touch: Touch, sets: bool) -> Result<Kind, PlanError> {
    if said.delta().is_zero() {
        return Err(PlanError::line(
            "labels that are not listed need a delta above 0; give --delta 1e-6, or --options A,B,C",
        ));
    }
    let election = Majority { eps: said.eps().clone(), delta: said.delta().clone(), touch }.calibrate()?;
    Ok(Kind::Majority { election: Box::new(election), sets })
}
