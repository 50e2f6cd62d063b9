//! Which aggregator the votes get: chosen and calibrated from public facts.
//!
//! | answers | with a range or options | without | by name besides |
//! |---|---|---|---|
//! | number | trimmed mean in the range, Laplace noise | a range by private quantiles, or agreement of most, or the median where blocks are too few for either | `winsorized`, `median`, `consensus`, `grid`, `choice` |
//! | vector | mean in the box, Gaussian noise | coordinate by coordinate, or agreement of most | `grid`, `choice` |
//! | label | one of the options by the exponential mechanism | the majority, or a refusal | `popularity`, and samples: `bootstrap`, `a-samp`, `sa` |
//! | labels | each option that more than half name, up to noise | the majority of whole sets, or a refusal | samples, as for labels |
//!
//! What numbers and vectors take is in [`numeric`](super::numeric), samples are in [`samples`](super::samples).
//!
//! A block without a vote counts as the default that was stated. Where none was, a tenth of epsilon tells whether at least half of
//! the blocks answered ([`answered`](super::answered)): without it defaults would look like an answer. Then the middle of the
//! range or zero stands for a number that is missing; labels that are missing count for none, and "no answer" can win no
//! election.

use super::{
    aggregate::{Aggregate, Size},
    answered::Answered,
    numeric::{Grids, MedianVote},
    output::{Output, Vote},
};
use crate::{error::PlanError, lattice::float_ends, resolved::ResolvedRequest, statistic::Argument};
use equipoise_core::{
    coins::Coins,
    loss::{Approx, Eps, Loss, rho_for},
    outcome::Outcome,
    ratio::Ratio,
    subsample::{
        VotesPerUnit,
        arg_max::{self, ArgMax},
        ball,
        bootstrap::{CalibratedPrinted, SampleAndAggregate},
        bounded, consensus,
        features::{self, Features},
        location,
        majority::{self, Majority},
        robust_mean, vectors,
    },
};

/// How votes become one answer.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A trimmed or winsorized mean in a public range, so many votes left out or moved inwards at each end.
    Ranged {
        mean: Box<robust_mean::Calibrated>,
        ends: (f64, f64),
        trim: u64,
        winsorized: bool,
    },
    Location {
        mean: Box<location::Calibrated>,
    },
    Median {
        median: Box<MedianVote>,
    },
    /// The median where votes agree within a proposed bound; places are whole steps from the low end.
    Consensus {
        median: Box<consensus::Calibrated>,
        ends: (f64, f64),
        bound: f64,
    },
    /// The cell that most votes are in, of one grid or of one that is chosen among several.
    Grid {
        grids: Box<Grids>,
        single: bool,
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
    /// The majority of samples that share rows; "no answer" is a candidate that is never released.
    Bootstrap {
        election: Box<majority::Calibrated>,
    },
    /// A_samp as printed.
    Printed {
        form: Box<CalibratedPrinted>,
    },
    /// SA as printed, with so many samples.
    Sa {
        form: SampleAndAggregate,
        samples: u64,
    },
    /// An option, and how many votes more another one may have; with its popularity, off by at most so many votes.
    Options {
        election: Box<arg_max::Calibrated>,
        gap: u64,
        popularity: Option<u64>,
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
            Self::Ranged { winsorized: false, .. } => "trimmed",
            Self::Ranged { winsorized: true, .. } | Self::Location { .. } => "winsorized",
            Self::Median { .. } => "median",
            Self::Consensus { .. } => "consensus",
            Self::Grid { grids, .. } if grids.is_choice() => "choice",
            Self::Grid { .. } => "grid",
            Self::Ball { .. } => "ball",
            Self::Bounded { .. } => "bounded",
            Self::Vectors { .. } => "vectors",
            Self::Majority { .. } => "majority",
            Self::Bootstrap { .. } => "bootstrap",
            Self::Printed { .. } => "a-samp",
            Self::Sa { .. } => "sa",
            Self::Options { popularity: None, .. } => "arg-max",
            Self::Options { popularity: Some(_), .. } => "popularity",
            Self::Counts { .. } => "counts",
        }
    }

    /// What it makes of the answers, in words.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ranged { winsorized: false, .. } => "trimmed mean",
            Self::Ranged { winsorized: true, .. } => "winsorized mean",
            Self::Location { .. } => "mean in a private range",
            Self::Median { .. } => "median",
            Self::Consensus { .. } => "median, where they agree",
            Self::Grid { grids, .. } if grids.is_choice() => {
                "cell that most are in, of a width chosen privately"
            }
            Self::Grid { .. } => "cell that most are in",
            Self::Ball { .. } => "mean of those that agree",
            Self::Bounded { .. } => "mean in a box",
            Self::Vectors { .. } => "means in private ranges",
            Self::Majority { .. } | Self::Bootstrap { .. } => "majority",
            Self::Printed { .. } | Self::Sa { .. } => "most frequent",
            Self::Options { popularity: None, .. } => "arg-max",
            Self::Options { popularity: Some(_), .. } => "arg-max with its popularity",
            Self::Counts { .. } => "counts",
        }
    }

    /// What it costs, apart from the number of blocks that answered.
    pub fn cost(&self) -> Loss {
        match self {
            Self::Ranged { mean, .. } => mean.cost(),
            Self::Location { mean } => mean.cost(),
            Self::Median { median } => median.cost(),
            Self::Consensus { median, .. } => median.cost(),
            Self::Grid { grids, .. } => grids.cost(),
            Self::Ball { mean, .. } => mean.cost(),
            Self::Bounded { mean, .. } => mean.cost(),
            Self::Vectors { mean } => mean.cost(),
            Self::Majority { election } | Self::Bootstrap { election } => election.cost(),
            Self::Printed { form } => form.cost(),
            Self::Sa { form, samples } => form.cost(*samples),
            Self::Options { election, .. } => election.cost(),
            Self::Counts { counts, .. } => counts.cost(),
        }
    }

    /// The cell for given shifts, for audits.
    pub fn cells<C: Coins>(
        &self,
        votes: &[Option<&Vote>],
        shifts: &[Vec<f64>],
        coins: &mut C,
    ) -> Option<Vec<f64>> {
        match self {
            Self::Grid { grids, .. } => match grids.run_shifted(votes, shifts, coins) {
                Outcome::Value((middle, width)) => Some([middle, vec![width]].concat()),
                Outcome::Refused => None,
            },
            _ => None,
        }
    }

    /// Are votes those of samples that share rows?
    pub fn is_sampled(&self) -> bool {
        matches!(self, Self::Bootstrap { .. } | Self::Printed { .. } | Self::Sa { .. })
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
    /// What some aggregators take besides.
    pub details: Details<'a>,
    /// How many rows or people there are, where that was stated.
    pub rows: Option<u64>,
    /// Are people dealt, and not rows?
    pub people: bool,
}

/// What some aggregators take, as words; nothing where it was not said.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Details<'a> {
    /// The share of the votes that is left out, or moved inwards, at each end.
    pub trim: Option<&'a str>,
    /// The width of a cell, or several to choose among.
    pub width: Option<&'a str>,
    /// The most that one vote may move the median.
    pub bound: Option<&'a str>,
    /// The share of the rows in a sample.
    pub rate: Option<&'a str>,
    /// Rows of a sample.
    pub size: Option<&'a str>,
}

impl Details<'_> {
    /// Each that was said, and the aggregators that take it.
    fn said(&self) -> impl Iterator<Item = (&'static str, &'static [&'static str])> + use<'_> {
        let all: [(&'static str, Option<&str>, &'static [&'static str]); 5] = [
            ("trim", self.trim, &["trimmed", "winsorized"]),
            ("width", self.width, &["grid", "choice"]),
            ("bound", self.bound, &["consensus"]),
            ("rate", self.rate, &["bootstrap"]),
            ("size", self.size, &["bootstrap", "sa"]),
        ];
        all.into_iter().filter_map(|(name, said, by)| said.map(|_| (name, by)))
    }
}

/// What the texts call some of them besides.
const ALSO: [(&str, &str); 5] = [
    ("feature-by-feature", "counts"),
    ("whole-set", "majority"),
    ("A_samp", "a-samp"),
    ("a_samp", "a-samp"),
    ("SA", "sa"),
];

/// An aggregator by its one name.
pub(super) fn by_name(said: &str) -> &str {
    ALSO.iter().find(|(other, _)| *other == said).map_or(said, |(_, name)| name)
}

impl Wanted<'_> {
    /// Is this aggregator the one that was asked for, or may it be chosen?
    pub fn allows(&self, name: &str) -> bool {
        self.mechanism.is_none_or(|wanted| wanted == name)
    }

    /// The names that there are for these answers.
    fn names(&self) -> &'static [&'static str] {
        match (self.output, self.range.is_some(), self.options.is_some()) {
            (Output::Number, false, _) => &["winsorized", "ball", "median", "grid", "choice"],
            (Output::Number, true, _) => &["trimmed", "winsorized", "median", "consensus"],
            (Output::Vector(_), false, _) => &["ball", "vectors", "grid", "choice"],
            (Output::Vector(_), true, _) => &["bounded"],
            (Output::Label | Output::Labels, _, false) => &["majority", "bootstrap", "a-samp", "sa"],
            (Output::Label, _, true) => &["arg-max", "popularity", "majority", "bootstrap", "a-samp", "sa"],
            (Output::Labels, _, true) => &["counts", "majority", "bootstrap", "a-samp", "sa"],
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
        let Some(name) = self.mechanism.filter(|name| !self.names().contains(name)) else { return Ok(()) };
        // An aggregator that there is, but for other answers: what is missing says more than a list.
        let missing = match (self.output, name) {
            (Output::Number, "trimmed" | "consensus") => {
                Some(("range", "needs a `range`, such as `range=0,100`"))
            }
            (Output::Number, "grid" | "choice" | "ball") => Some(("range", "needs no `range`; leave it out")),
            (Output::Label, "arg-max" | "popularity") => {
                Some(("options", "needs `options`, the labels that there can be"))
            }
            (Output::Labels, "counts") => Some(("options", "needs `options`, the labels that there can be")),
            _ => None,
        };
        Err(match missing {
            Some((option, needs)) => {
                PlanError::about_option(option, format!("the aggregator {name} {needs}"))
            }
            None => PlanError::unknown("mechanism", name, self.names()),
        })
    }

    /// Is everything that was said of use to this aggregator?
    fn check_details(&self, kind: &Kind) -> Result<(), PlanError> {
        let name = kind.mechanism();
        // In a range that is found privately the mean is limited to that range, and no share of the answers is moved.
        if matches!(kind, Kind::Location { .. }) && self.details.trim.is_some() {
            let problem = "`trim` is of use in a stated range, and without one the answers are limited to a range that is found privately";
            return Err(PlanError::about_option("trim", problem).hint("leave it out, or give `range=LO,HI`"));
        }
        match self.details.said().find(|(_, by)| !by.contains(&name)) {
            Some((detail, by)) => Err(PlanError::about_option(
                detail,
                format!("`{detail}` is for {}, and these answers get {name}", by.join(" and ")),
            )
            .hint(format!("leave it out, or give `mechanism={}`", by[0]))),
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

/// The aggregator for what was said, of blocks that nobody shares.
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
    wanted.check_details(&kind)?;
    // What is wrong with the request besides says more than that blocks are few.
    if let Some(answered) = &answered {
        answered.check(said, touch)?;
    }
    let missing = match &wanted.default {
        Some(stated) => Some(stated.clone()),
        // Cells have one of their own for what is missing.
        None if matches!(kind, Kind::Grid { .. }) => None,
        None => wanted.otherwise()?,
    };
    Ok(finished(said, wanted, touch, kind, missing, answered))
}

/// The aggregator of votes of samples that share rows: the majority, where "no answer" is one more vote that is never released, so
/// that nothing has to be paid for how many answered.
pub(super) fn plan_sampled(
    said: &ResolvedRequest,
    wanted: &Wanted,
    touch: VotesPerUnit,
    kind: Kind,
) -> Result<Aggregate, PlanError> {
    wanted.check()?;
    wanted.check_details(&kind)?;
    Ok(finished(said, wanted, touch, kind, wanted.default.clone(), None))
}

fn finished(
    said: &ResolvedRequest,
    wanted: &Wanted,
    touch: VotesPerUnit,
    kind: Kind,
    missing: Option<Vote>,
    answered: Option<Answered>,
) -> Aggregate {
    let of = if wanted.people { "people" } else { "rows" };
    let size = Size { of, stated: wanted.rows, public: None, share: 1.0 / touch.votes() as f64 };
    let aggregate = Aggregate {
        output: wanted.output,
        kind,
        missing,
        answered,
        default_stated: wanted.default.is_some(),
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
    Aggregate { cost, ..aggregate }
}

/// What an aggregator is chosen by.
pub(super) struct Chooser<'a> {
    pub said: &'a ResolvedRequest<'a>,
    pub wanted: &'a Wanted<'a>,
    pub touch: VotesPerUnit,
    /// What the number of blocks that answered has left.
    pub eps: Eps,
}

impl Chooser<'_> {
    fn label(&self) -> Result<Kind, PlanError> {
        let by_options = self.wanted.allows("arg-max") || self.wanted.allows("popularity");
        let Some(options) = self.wanted.options.as_ref().filter(|_| by_options) else {
            return self.majority();
        };
        let options = options.len() as u64;
        let popular = self.wanted.mechanism == Some("popularity");
        // The popularity has a quarter: noise of a count is small beside the gaps that a choice among options needs.
        let share = |parts: i64| Eps::new(self.eps.ratio() * &Ratio::new(parts, 4));
        let (eps, popularity_eps) =
            if popular { (share(3)?, Some(share(1)?)) } else { (self.eps.clone(), None) };
        let election = ArgMax { eps, popularity_eps, options, touch: self.touch }.calibrate()?;
        let gap = election.gap(self.said.failure())?;
        // Noise of counts is whole.
        let whole = |within: Ratio| within.ceil_i64().and_then(|within| u64::try_from(within).ok());
        let popularity =
            election.accuracy(self.said.failure()).map(|within| whole(within).unwrap_or(u64::MAX));
        Ok(Kind::Options { election: Box::new(election), gap, popularity })
    }

    fn label_sets(&self) -> Result<Kind, PlanError> {
        let Some(options) = self.wanted.options.as_ref().filter(|_| self.wanted.allows("counts")) else {
            return self.majority();
        };
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
