//! What is released where the data is far from an accident, and refused elsewhere: an exact value by its distance to another one, and
//! any mechanism behind a test of its distance to unsafe data.

use super::{Found, added, needs_delta, said::Said};
use crate::{answer::Answer, bar::ErrorBar, error::PlanError, statistic::Argument};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Amount, Approx, Delta, Eps, Loss},
    mechanism::{
        gate::Gate,
        laplace,
        propose_test_release::{self, ProposeTestRelease},
        stable::{self, Stable},
    },
    outcome::{Outcome, Slack},
    ratio::Ratio,
};

/// What is stated of a value that is released by its distance.
pub(super) const STATED: &str =
    "how many rows must change before the value does, which one person moves by at most one";

/// How often a value that is far enough may be refused, in what is said beforehand.
fn seldom() -> Ratio {
    Ratio::new(1, 20)
}

/// An exact value, unless few changed rows could change it.
#[derive(Clone, Debug)]
pub(super) struct Gated {
    mechanism: stable::Calibrated,
    adjacency: Adjacency,
}

impl Gated {
    pub fn plan(said: &Said<'_>) -> Result<Self, PlanError> {
        if said.delta.is_zero() {
            return Err(needs_delta("stable"));
        }
        let stable = Stable { eps: said.eps.clone(), delta: said.delta.clone(), adjacency: said.adjacency };
        Ok(Self { mechanism: stable.calibrate()?, adjacency: said.adjacency })
    }

    pub fn cost(&self) -> Loss {
        self.mechanism.cost()
    }

    fn far(&self) -> String {
        rows(self.mechanism.slack_for(&seldom()).and_then(Slack::until_change))
    }

    pub fn expected(&self) -> (Option<ErrorBar>, String) {
        let words = format!(
            "the exact value, or a refusal: in at most 1 case of 20 where {} rows must change before it does",
            self.far()
        );
        (Some(ErrorBar::exact()), words)
    }

    pub fn answer<C: Coins>(&self, found: &Found, coins: &mut C) -> Answer {
        let slack = match found.distance {
            Some(rows) => Slack::rows_to_change(rows, self.adjacency),
            None => Slack::constant(self.adjacency),
        };
        match self.mechanism.run(found.value.clone(), slack, coins) {
            Outcome::Value(value) => Answer::released(value, ErrorBar::exact()),
            Outcome::Refused => Answer::refused(format!(
                "a few rows could change the value: it needs about {}; raise `epsilon` or `delta`, or round the value",
                self.far()
            )),
        }
    }
}

/// A mechanism behind a test.
#[derive(Clone, Debug)]
pub(super) struct Tested {
    gate: propose_test_release::Calibrated,
    inner: Inner,
    adjacency: Adjacency,
    confidence: f64,
    failure: Ratio,
}

#[derive(Clone, Debug)]
enum Inner {
    /// Laplace noise for a value that moves by at most the bound where the test is passed.
    Laplace { noise: Box<laplace::Calibrated>, bound: Ratio },
    /// Whatever the caller runs, with this loss on safe data.
    Own(Approx),
}

impl Tested {
    pub fn plan(said: &Said<'_>) -> Result<Self, PlanError> {
        if said.delta.is_zero() {
            return Err(needs_delta("propose-test-release"));
        }
        let request = said.request;
        let (inner, eps, delta) = match (&request.inner, &request.bound) {
            (Some(_), Some(_)) => {
                return Err(PlanError::line("bound is for a value and inner for a mechanism of your own")
                    .hint("give one of them"));
            }
            (None, None) => return Err(added::no_bound()),
            (None, Some(_)) => {
                let bound = super::said::positive("bound", request.bound.as_ref(), "", "")?;
                let noise = Box::new(added::laplace_at(said, &bound)?);
                (Inner::Laplace { noise, bound }, said.share(1, 2)?, said.delta.clone())
            }
            (Some([eps, delta]), None) => {
                let (eps, delta): (Eps, Delta) = (eps.parse()?, delta.parse()?);
                let left = Eps::new(said.eps.ratio() - eps.ratio());
                let left_over =
                    Delta::new(said.delta.ratio() - delta.ratio()).ok().filter(|left| !left.is_zero());
                let (Ok(test), Some(rest)) = (left, left_over) else {
                    return Err(PlanError::about(
                        Argument::Epsilon,
                        "the mechanism behind the test costs as much as everything together may",
                    )
                    .hint("give a larger `epsilon` and `delta` than inner: the test takes what is left"));
                };
                (Inner::Own(Approx::new(&eps, &delta)), test, rest)
            }
        };
        let cost = match &inner {
            Inner::Laplace { .. } => Approx::new(&said.share(1, 2)?, &Delta::zero()),
            Inner::Own(cost) => cost.clone(),
        };
        let test = Gate { eps, delta, adjacency: said.adjacency };
        let gate = ProposeTestRelease { test, inner: cost }.calibrate()?;
        let (adjacency, confidence) = (said.adjacency, said.confidence);
        Ok(Self { gate, inner, adjacency, confidence, failure: said.failure.clone() })
    }

    pub fn cost(&self) -> Loss {
        self.gate.cost()
    }

    pub fn stated(&self) -> Vec<String> {
        let distance = "a distance to unsafe data that one person moves by at most one".to_string();
        vec![
            match &self.inner {
                Inner::Laplace { bound, .. } => {
                    format!("a value that one person moves by at most {} on safe data", bound.to_exact())
                }
                Inner::Own(loss) => format!(
                    "a mechanism that loses at most epsilon {} and delta {} on safe data",
                    Amount::to_exact(&loss.eps),
                    Amount::to_exact(&loss.delta)
                ),
            },
            distance,
        ]
    }

    fn far(&self) -> String {
        rows(self.gate.distance_for(&seldom()).and_then(Slack::until_unstable))
    }

    pub fn expected(&self) -> (Option<ErrorBar>, String) {
        let far = self.far();
        let words = |what: &str| {
            format!(
                "{what}, or a refusal: in at most 1 case of 20 where unsafe data is {far} changed rows away"
            )
        };
        match &self.inner {
            Inner::Laplace { noise, .. } => {
                let within = noise.accuracy(&self.failure).to_f64().next_up();
                let bar = ErrorBar::within(self.confidence, within);
                (Some(bar), words(&format!("the value with laplace noise, within {within:.4} of it")))
            }
            Inner::Own(_) => (None, words("what the mechanism answers")),
        }
    }

    /// Both the noise and the test are drawn in any case, so that a refusal takes as long as an answer.
    pub fn answer<C: Coins>(&self, found: &Found, coins: &mut C) -> Option<Answer> {
        let slack = match found.distance {
            Some(steps) => Slack::steps_to_unstable(steps, self.adjacency),
            None => Slack::constant(self.adjacency),
        };
        let refused = || {
            Answer::refused(format!(
                "unsafe data is too near: it needs about {} changed rows; raise `epsilon` or `delta`, or propose another bound",
                self.far()
            ))
        };
        Some(match &self.inner {
            Inner::Laplace { noise, .. } => {
                let value = [added::tested_value(found)?];
                match self.gate.run(slack, |coins| noise.run(&value, coins), coins) {
                    Outcome::Value(noisy) => {
                        added::number_within(&noisy[0], &noise.accuracy(&self.failure), self.confidence)
                    }
                    Outcome::Refused => refused(),
                }
            }
            Inner::Own(_) => match self.gate.run(slack, |_| found.value.clone(), coins) {
                // Nothing is known of the error of somebody else's mechanism.
                Outcome::Value(value) => Answer { value: Some(value), ..Answer::given_elsewhere() },
                Outcome::Refused => refused(),
            },
        })
    }
}

fn rows(rows: Option<u64>) -> String {
    rows.map_or("more rows than can be counted".to_string(), |rows| rows.to_string())
}
