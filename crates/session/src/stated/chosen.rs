//! One of some public options whose stated score is nearly the highest.

use super::{
    Found,
    said::{MOST, Said, finite, number},
};
use crate::{
    answer::Answer,
    bar::ErrorBar,
    error::PlanError,
    simulate::{
        Simulation,
        own::{Judged, Telling, Tried, trials},
    },
    statistic::Argument,
    unanswered::Unanswered,
};
use equipoise_core::{
    coins::Coins,
    loss::{Loss, ParameterError},
    mechanism::{
        exponential::{self, Exponential},
        noisy_max::{self, Noise, NoisyMax},
        permute_and_flip::{self, PermuteAndFlip},
        selection::Candidates,
    },
    ratio::Ratio,
    wording,
};
use serde_json::Value;

/// A choice among options, ready for scores.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    law: Law,
    options: Vec<Value>,
    gap: Ratio,
    confidence: f64,
    stated: Vec<String>,
}

#[derive(Clone, Debug)]
enum Law {
    PermuteAndFlip(permute_and_flip::Calibrated),
    Exponential(exponential::Calibrated),
    NoisyMax(noisy_max::Calibrated),
}

const MECHANISMS: [&str; 3] = ["permute-and-flip", "exponential", "noisy-max"];
const NOISES: [&str; 3] = ["exponential", "gumbel", "laplace"];

impl Chosen {
    pub fn plan(said: &Said<'_>) -> Result<Self, PlanError> {
        let request = said.request;
        let count = request.options.len();
        if count == 0 || count as u64 > MOST {
            let accepted = "give at least 1 and at most 65536";
            return Err(ParameterError::out_of_range("options", count, accepted).into());
        }
        let mut seen = std::collections::BTreeSet::new();
        if let Some(twice) = request.options.iter().find(|option| !seen.insert(option.to_string())) {
            let shown = wording::shown(&twice.to_string());
            return Err(PlanError::line(format!("the option {shown} is there twice")).hint("name it once"));
        }
        let why = "it is the most that one person moves any one score";
        let hint = "give sensitivity, such as 1 for counts";
        let sensitivity = super::said::positive("sensitivity", request.sensitivity.as_ref(), why, hint)?;
        let candidates = Candidates { count, sensitivity: sensitivity.clone(), monotone: request.monotone };
        let law = Self::law(said, candidates)?;
        let gap = law.gap(&said.failure)?;
        let together = if request.monotone { ", monotone" } else { "" };
        let stated = vec![format!("scores of sensitivity {}{together}", sensitivity.to_exact())];
        Ok(Self { law, options: request.options.clone(), gap, confidence: said.confidence, stated })
    }

    fn law(said: &Said<'_>, candidates: Candidates) -> Result<Law, PlanError> {
        let (request, eps) = (said.request, said.eps.clone());
        let name = request.mechanism.as_deref().filter(|name| *name != "auto");
        let noise = request.noise.as_deref();
        if noise.is_some() && name.is_some_and(|name| name != "noisy-max") {
            return Err(PlanError::about(Argument::Mechanism, "a noise is for the mechanism noisy-max")
                .hint("leave it out, or use `mechanism=noisy-max`"));
        }
        if let Some(masses) = &request.base {
            if name.is_some_and(|name| name != "exponential") || noise.is_some() {
                let problem = "a base measure is for the mechanism exponential";
                return Err(PlanError::about(Argument::Mechanism, problem)
                    .hint("leave it out, or use `mechanism=exponential`"));
            }
            let masses: Vec<Ratio> =
                masses.iter().map(|mass| number("base", mass)).collect::<Result<_, _>>()?;
            return Ok(Law::Exponential(Exponential { eps, candidates }.calibrate()?.with_base(masses)?));
        }
        Ok(match (name, noise) {
            (Some("exponential"), _) => Law::Exponential(Exponential { eps, candidates }.calibrate()?),
            (Some("noisy-max"), noise) | (None, noise @ Some(_)) => {
                let noise = match noise.unwrap_or(NOISES[0]) {
                    "exponential" => Noise::Exponential,
                    "gumbel" => Noise::Gumbel,
                    "laplace" => Noise::Laplace,
                    other => return Err(PlanError::unknown("noise", other, &NOISES)),
                };
                Law::NoisyMax(NoisyMax { eps, noise, candidates }.calibrate()?)
            }
            (None | Some("permute-and-flip"), _) => {
                Law::PermuteAndFlip(PermuteAndFlip { eps, candidates }.calibrate()?)
            }
            (Some(other), _) => return Err(PlanError::unknown("mechanism", other, &MECHANISMS)),
        })
    }

    pub fn cost(&self) -> Loss {
        match &self.law {
            Law::PermuteAndFlip(law) => law.cost(),
            Law::Exponential(law) => law.cost(),
            Law::NoisyMax(law) => law.cost(),
        }
    }

    pub fn mechanism(&self) -> &'static str {
        match self.law {
            Law::PermuteAndFlip(_) => MECHANISMS[0],
            Law::Exponential(_) => MECHANISMS[1],
            Law::NoisyMax(_) => MECHANISMS[2],
        }
    }

    pub fn stated(&self) -> Vec<String> {
        self.stated.clone()
    }

    pub fn expected(&self) -> (Option<ErrorBar>, String) {
        let words = format!(
            "one of {} options, which scores at most {} less than the best one; never refused",
            self.options.len(),
            self.gap.to_short_up(6, 12)
        );
        (Some(self.bar()), words)
    }

    fn bar(&self) -> ErrorBar {
        ErrorBar::score(self.confidence, self.gap.to_f64().next_up())
    }

    /// Scores are floats, taken exactly; one without a value is a mistake of the score.
    pub fn answer<C: Coins>(&self, found: &Found, coins: &mut C) -> Option<Answer> {
        let scores: Vec<Ratio> = found.numbers.iter().copied().map(finite).collect::<Option<_>>()?;
        (scores.len() == self.options.len()).then(|| self.pick(&scores, coins))
    }

    /// One of the options by its score; there are as many scores.
    pub fn pick<C: Coins>(&self, scores: &[Ratio], coins: &mut C) -> Answer {
        self.placed(scores, coins).1
    }

    fn placed<C: Coins>(&self, scores: &[Ratio], coins: &mut C) -> (usize, Answer) {
        let place = match &self.law {
            Law::PermuteAndFlip(law) => law.run(scores, coins),
            Law::Exponential(law) => law.run(scores, coins),
            Law::NoisyMax(law) => law.run(scores, coins),
        };
        (place, Answer::released(self.options[place].clone(), self.bar()))
    }
}

impl Chosen {
    /// Many choices by public scores; where rows are drawn for each, `all` has those of all rows.
    pub fn simulate(
        &self,
        many: usize,
        all: Option<&[Ratio]>,
        scores: impl Fn() -> Result<Vec<Ratio>, Unanswered> + Sync,
    ) -> Result<Simulation, Unanswered> {
        let best = |scores: &[Ratio]| {
            let place = (0..scores.len()).rev().max_by_key(|&place| &scores[place]);
            place.map(|place| self.options[place].clone())
        };
        let telling = Telling { name: "choose", frequent: true, all_rows: all.and_then(best) };
        trials(&telling, many, |coins| {
            let scores = scores()?;
            let (place, answer) = self.placed(&scores, coins);
            // The bar says how much more the best option scores at most.
            let most = scores.iter().max().expect("there is an option");
            let held = Some(most - &scores[place] <= self.gap);
            Ok(Tried { answer, judged: vec![Judged { truth: best(&scores), held }] })
        })
    }

    /// The same by what the caller computed of public rows.
    pub fn simulate_found(&self, found: &Found, many: usize) -> Result<Simulation, Unanswered> {
        let scores: Option<Vec<Ratio>> = found.numbers.iter().copied().map(finite).collect();
        let scores =
            scores.filter(|scores| scores.len() == self.options.len()).ok_or(Unanswered::Function)?;
        self.simulate(many, None, || Ok(scores.clone()))
    }
}

impl Law {
    fn gap(&self, failure: &Ratio) -> Result<Ratio, PlanError> {
        Ok(match self {
            Self::PermuteAndFlip(law) => law.accuracy(failure),
            Self::Exponential(law) => law.accuracy(failure),
            Self::NoisyMax(law) => law.accuracy(failure),
        }?)
    }
}
