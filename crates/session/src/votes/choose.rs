//! Which aggregator the votes get: chosen and calibrated from public facts.
//!
//! | answers | with a range or options | without |
//! |---|---|---|
//! | number | trimmed mean in the range, Laplace noise | a range by private quantiles, or agreement of most |
//! | vector | mean in the box, Gaussian noise | coordinate by coordinate, or agreement of most |
//! | label | one of the options by the exponential mechanism | the majority, or a refusal |
//! | labels | each option that more than half name, up to noise | the majority of whole sets, or a refusal |
//!
//! A block without a vote counts as the default that was stated. Where none was, a tenth of epsilon tells whether at least half of
//! the blocks answered ([`answered`](super::answered)): without it defaults would look like an answer. Then the middle of the
//! range or zero stands for a number that is missing; labels that are missing count for none, and "no answer" can win no
//! election.

use super::{
    aggregate::{Aggregate, Size},
    answered::Answered,
    output::{Output, Vote},
};
use crate::{error::PlanError, lattice::float_ends, resolved::ResolvedRequest, statistic::Argument};
use equipoise_core::{
    loss::{Approx, Eps, Loss, ParameterError, rho_for},
    ratio::Ratio,
    subsample::{
        VotesPerUnit,
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

/// How votes become one answer.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Trimmed {
        mean: Box<robust_mean::Calibrated>,
        ends: (f64, f64),
    },
    Location {
        mean: Box<location::Calibrated>,
    },
    Ball {
        mean: Box<ball::Calibrated>,
        single: bool,
    },
    Bounded {
        mean: Box<bounded::Calibrated>,
        ends: (f64, f64),
    },
    Vectors {
        mean: Box<vectors::Calibrated>,
    },
    Majority {
        election: Box<majority::Calibrated>,
    },
    /// An option, and how many votes more another one may have.
    Options {
        election: Box<arg_max::Calibrated>,
        gap: u64,
    },
    /// How often each option is named, off by at most so many.
    Counts {
        counts: Box<features::Calibrated>,
        within: u64,
    },
}

impl Kind {
    /// The name by which it can be asked for.
    pub fn mechanism(&self) -> &'static str {
        match self {
            Self::Trimmed { .. } => "trimmed",
            Self::Location { .. } => "winsorized",
            Self::Ball { .. } => "ball",
            Self::Bounded { .. } => "bounded",
            Self::Vectors { .. } => "vectors",
            Self::Majority { .. } => "majority",
            Self::Options { .. } => "arg-max",
            Self::Counts { .. } => "counts",
        }
    }

    /// What it makes of the answers, in words.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Trimmed { .. } => "trimmed mean",
            Self::Location { .. } => "mean in a private range",
            Self::Ball { .. } => "mean of those that agree",
            Self::Bounded { .. } => "mean in a box",
            Self::Vectors { .. } => "means in private ranges",
            Self::Majority { .. } => "majority",
            Self::Options { .. } => "arg-max",
            Self::Counts { .. } => "counts",
        }
    }

    /// What it costs, apart from the number of blocks that answered.
    pub fn cost(&self) -> Loss {
        match self {
            Self::Trimmed { mean, .. } => mean.cost(),
            Self::Location { mean } => mean.cost(),
            Self::Ball { mean, .. } => mean.cost(),
            Self::Bounded { mean, .. } => mean.cost(),
            Self::Vectors { mean } => mean.cost(),
            Self::Majority { election } => election.cost(),
            Self::Options { election, .. } => election.cost(),
            Self::Counts { counts, .. } => counts.cost(),
        }
    }
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
    /// How many rows or people there are, where that was stated.
    pub rows: Option<u64>,
    /// Are people dealt, and not rows?
    pub people: bool,
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

    fn check(&self) -> Result<(), PlanError> {
        if self.options.is_some() && !matches!(self.output, Output::Label | Output::Labels) {
            return Err(
                PlanError::about_option("options", "options are for label and labels").hint("leave them out")
            );
        }
        if self.range.is_some() && !matches!(self.output, Output::Number | Output::Vector(_)) {
            return Err(
                PlanError::about(Argument::Range, "a range is for numbers and vectors").hint("leave it out")
            );
        }
        match self.mechanism.filter(|name| !self.names().contains(name)) {
            Some(name) => Err(PlanError::unknown("mechanism", name, self.names())),
            None => Ok(()),
        }
    }

    /// What stands for a missing answer where nobody stated it: nothing for labels, which need not have a vote.
    fn otherwise(&self) -> Result<Option<Vote>, PlanError> {
        let middle = match self.range {
            Some(range) => {
                let (low, high) = float_ends(range)?;
                f64::midpoint(low, high)
            }
            None => 0.0,
        };
        Ok(match self.output {
            Output::Number => Some(Vote::Number(middle)),
            Output::Vector(length) => Some(Vote::Vector(vec![middle; length])),
            Output::Label | Output::Labels => None,
        })
    }
}

/// A range is cut into this many steps.
const STEPS: u64 = 1 << 20;
/// One vote in this many is left out at each end.
const TRIM: u64 = 10;

/// How many votes are left out at each end.
pub(super) fn trimmed(votes: u64) -> u64 {
    votes / TRIM
}

/// The aggregator for what was said.
pub(super) fn plan(
    said: &ResolvedRequest,
    wanted: &Wanted,
    touch: VotesPerUnit,
) -> Result<Aggregate, PlanError> {
    wanted.check()?;
    let (answered, rest) = if wanted.default.is_some() {
        (None, said.eps().clone())
    } else {
        let (answered, rest) = Answered::plan(said, touch)?;
        (Some(answered), rest)
    };
    let chooser = Chooser { said, wanted, touch, eps: rest };
    let kind = match wanted.output {
        Output::Number => chooser.number()?,
        Output::Vector(length) => chooser.vector(length)?,
        Output::Label => chooser.label()?,
        Output::Labels => chooser.label_sets()?,
    };
    // What is wrong with the request besides says more than that blocks are few.
    if let Some(answered) = &answered {
        answered.check(said, touch)?;
    }
    let missing = match &wanted.default {
        Some(stated) => Some(stated.clone()),
        None => wanted.otherwise()?,
    };
    let size = Size { of: if wanted.people { "people" } else { "rows" }, stated: wanted.rows, public: None };
    let aggregate = Aggregate {
        output: wanted.output,
        kind,
        missing,
        answered,
        options: wanted.options.clone().unwrap_or_default(),
        cost: Approx::new(said.eps(), said.delta()),
        failure: said.failure().clone(),
        confidence: said.confidence(),
        blocks: touch.votes(),
        size,
    };
    let cost = match aggregate.loss() {
        Loss::Approx(approx) => approx,
        // The rho was taken from what is left of this epsilon, and this delta.
        Loss::Zcdp(_) | Loss::Renyi(_) => aggregate.cost.clone(),
    };
    Ok(Aggregate { cost, ..aggregate })
}

/// What an aggregator is chosen by.
struct Chooser<'a> {
    said: &'a ResolvedRequest<'a>,
    wanted: &'a Wanted<'a>,
    touch: VotesPerUnit,
    /// What the number of blocks that answered has left.
    eps: Eps,
}

impl Chooser<'_> {
    fn number(&self) -> Result<Kind, PlanError> {
        let (eps, touch) = (self.eps.clone(), self.touch);
        if let Some(range) = self.wanted.range {
            let ends = float_ends(range)?;
            let end = |value: f64| {
                Ratio::from_f64_shortest(value)
                    .ok_or_else(|| ParameterError::out_of_range("range", range, "give finite numbers"))
            };
            let (low, high) = (end(ends.0)?, end(ends.1)?);
            let resolution = (&high - &low) / Ratio::from(STEPS);
            let statistic = Statistic::Trimmed { trim: trimmed(touch.votes()) };
            let mean = RobustMean { eps, statistic, scale: Scale::Global, low, high, resolution, touch };
            return Ok(Kind::Trimmed { mean: Box::new(mean.calibrate()?), ends });
        }
        let delta = self.said.delta().clone();
        let location = Location { eps: eps.clone(), bits: DEFAULT_BITS, touch }.calibrate();
        let may_be_ball = self.wanted.allows("ball") && !delta.is_zero();
        let ball = may_be_ball.then(|| Ball { eps, delta, dimensions: 1, touch }.calibrate());
        let as_ball = |mean| Ok(Kind::Ball { mean: Box::new(mean), single: true });
        match (location, ball) {
            _ if self.wanted.mechanism == Some("ball") && self.said.delta().is_zero() => {
                Err(PlanError::about(Argument::Delta, "agreement needs a delta above 0")
                    .hint("give `delta=1e-6`"))
            }
            (_, Some(ball)) if self.wanted.mechanism == Some("ball") => as_ball(ball?),
            (Ok(location), Some(Ok(ball))) if ball.noise_in_spreads() < location.noise_in_spreads() => {
                as_ball(ball)
            }
            (Err(_), Some(Ok(ball))) => as_ball(ball),
            (Ok(location), _) => Ok(Kind::Location { mean: Box::new(location) }),
            (Err(error), _) => Err(or_a_range(&error)),
        }
    }

    fn vector(&self, length: usize) -> Result<Kind, PlanError> {
        let (eps, delta, touch) = (self.eps.clone(), self.said.delta().clone(), self.touch);
        if delta.is_zero() {
            return Err(
                PlanError::about(Argument::Delta, "vectors need a delta above 0").hint("give `delta=1e-6`")
            );
        }
        if let Some(range) = self.wanted.range {
            let ends = float_ends(range)?;
            let radius = (ends.1 / 2.0 - ends.0 / 2.0) * (length as f64).sqrt();
            let mean = Bounded { eps, delta, dimensions: length, radius, touch }.calibrate()?;
            return Ok(Kind::Bounded { mean: Box::new(mean), ends });
        }
        let rho = rho_for(&eps, &delta)?;
        let vectors = Vectors { rho, dimensions: length, bits: DEFAULT_BITS, touch }.calibrate();
        let ball = Ball { eps, delta, dimensions: length, touch }.calibrate();
        let use_vectors = match (&vectors, &ball) {
            _ if self.wanted.mechanism.is_some() => self.wanted.allows("vectors"),
            (Ok(vectors), Ok(ball)) => vectors.noise_in_spreads() <= ball.noise_in_spreads(),
            (Ok(_), Err(_)) => true,
            (Err(_), _) => false,
        };
        if use_vectors {
            Ok(Kind::Vectors { mean: Box::new(vectors.map_err(|error| or_a_range(&error))?) })
        } else {
            Ok(Kind::Ball { mean: Box::new(ball.map_err(|error| or_a_range(&error))?), single: false })
        }
    }

    fn label(&self) -> Result<Kind, PlanError> {
        let Some(options) = self.wanted.options.as_ref().filter(|_| self.wanted.allows("arg-max")) else {
            return self.majority();
        };
        let (eps, options) = (self.eps.clone(), options.len() as u64);
        let election = ArgMax { eps, popularity_eps: None, options, touch: self.touch }.calibrate()?;
        let gap = election.gap(self.said.failure())?;
        Ok(Kind::Options { election: Box::new(election), gap })
    }

    fn label_sets(&self) -> Result<Kind, PlanError> {
        let Some(options) = &self.wanted.options else { return self.majority() };
        let (delta, touch) = (self.said.delta(), self.touch);
        if delta.is_zero() {
            return Err(PlanError::about(Argument::Delta, "counts of options need a delta above 0")
                .hint("give `delta=1e-6`"));
        }
        let rho = rho_for(&self.eps, delta)?;
        let counts = Features { rho, features: options.len(), largest: options.len(), touch }.calibrate()?;
        // Noise is whole.
        let within = counts.accuracy(self.said.failure()).floor_i64();
        let within = within.and_then(|within| u64::try_from(within).ok()).unwrap_or(u64::MAX);
        Ok(Kind::Counts { counts: Box::new(counts), within })
    }

    fn majority(&self) -> Result<Kind, PlanError> {
        let delta = self.said.delta().clone();
        if delta.is_zero() {
            return Err(PlanError::about(Argument::Delta, "labels that are not listed need a delta above 0")
                .hint("give `delta=1e-6`, or `options=A,B,C`"));
        }
        let election = Majority { eps: self.eps.clone(), delta, touch: self.touch }.calibrate()?;
        Ok(Kind::Majority { election: Box::new(election) })
    }
}

fn or_a_range(error: &ParameterError) -> PlanError {
    let (problem, hint) = error.parts();
    PlanError::about(Argument::Range, problem).hint(format!("{hint}; or give `range=LO,HI`"))
}
