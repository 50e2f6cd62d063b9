//! The interquartile range up to a factor, by one gate over bins of powers: `iqr --mechanism scale`.

use super::{Answering, Expected, even::EvenRows, quantiles::no_interval};
use crate::{
    answer::Answer, bar::ErrorBar, error::PlanError, gather::ScanResult, lattice::AnswerLattice, need::Need,
    planned::PredictedError, resolved::ResolvedRequest, source::Kind, statistic::Argument,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss},
    mechanism::scale::{self, Spread},
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::Sorted,
};
use serde_json::{Value, json};

/// Its name.
pub(super) const NAME: &str = "scale";
/// The ratio of the ends of a bin, its positions and its cells: public and fixed.
const BASE: u64 = 2;
const SHIFTS: u32 = 4;
const PARTS: u32 = 8;

/// A private scale over a declared grid.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    need: Need,
    adjacency: Adjacency,
    space: AnswerLattice,
    step: f64,
    mechanism: scale::Calibrated,
    confidence: f64,
    /// A released answer is off by at most this factor.
    factor: f64,
    likely: Option<PredictedError>,
}

impl Scale {
    pub fn plan(said: &ResolvedRequest) -> Result<Self, PlanError> {
        let column = said.column()?;
        if said.interval() {
            return Err(no_interval());
        }
        let need = said.numbers(column)?;
        let kind = said.kind(column).unwrap_or(Kind::Float);
        if said.resolution().is_none() && !kind.is_whole() {
            return Err(PlanError::about(Argument::Resolution, "the mechanism scale measures in steps")
                .hint("give `resolution`, such as 0.01"));
        }
        let space = AnswerLattice::of(kind, said.range(), said.resolution())?;
        let half = Eps::new(said.eps().ratio() / &Ratio::from(2u64))?;
        let mechanism = scale::Scale {
            gate_eps: half.clone(),
            noise_eps: half,
            delta: said.delta().clone(),
            base: Ratio::from(BASE),
            shifts: SHIFTS,
            parts: PARTS,
            adjacency: said.adjacency(),
        }
        .calibrate()?;
        let factor = (BASE as f64).powf(mechanism.accuracy(said.failure()).to_f64());
        let step = space.step_length();
        // Even rows leave every factor of two only when about a tenth of them have changed.
        let rows = mechanism.slack_for(&Ratio::new(1, 20)).and_then(Slack::until_change).unwrap_or(u64::MAX);
        let likely = EvenRows::new(said, &space)?.map(|even| {
            let error = if even.has(rows.saturating_mul(10)) { factor - 1.0 } else { f64::INFINITY };
            even.likely(error * even.quartiles_apart())
        });
        Ok(Self {
            need,
            adjacency: said.adjacency(),
            space,
            step,
            mechanism,
            confidence: said.confidence(),
            factor,
            likely,
        })
    }

    pub fn need(&self) -> Need {
        self.need.clone()
    }
}

impl Answering for Scale {
    fn cost(&self) -> Loss {
        self.mechanism.cost()
    }

    fn answer_type(&self) -> Option<String> {
        self.space.kind()?.measure().map(str::to_string)
    }

    fn likely(&self) -> Option<PredictedError> {
        self.likely
    }

    fn expected(&self) -> Expected {
        let words = format!(
            "within a factor of {:.3}, or a refusal where a few rows can move the range out of a factor of {BASE}",
            self.factor
        );
        Expected { error: None, words }
    }

    fn answer<C: Coins>(&self, gathered: &ScanResult<'_>, coins: &mut C) -> Answer {
        let places = gathered.values(&self.need).places(&self.space, self.adjacency);
        let rows = Sorted::new(&places, self.space.range());
        match self.mechanism.run(&rows, coins) {
            Outcome::Value(Spread::Empty) => Answer::released(Value::Null, ErrorBar::exact()),
            Outcome::Value(Spread::Zero) => Answer::released(json!(0.0), ErrorBar::exact()),
            Outcome::Value(spread) => {
                let estimate =
                    self.mechanism.estimate(&spread).map_or(0.0, |steps| steps.to_f64()) * self.step;
                let error = ErrorBar::noise(self.confidence, estimate / self.factor, estimate * self.factor);
                Answer::number(estimate, error)
            }
            Outcome::Refused => Answer::refused(
                "the interquartile range is not stable enough; raise epsilon or delta, bring more rows, or leave the mechanism to auto",
            ),
        }
    }

    fn mechanism(&self) -> &'static str {
        NAME
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need()]
    }

    fn no_prediction(&self) -> String {
        "the error of scale is a factor; give `epsilon`, or use inverse-sensitivity, whose error is in ranks"
            .to_string()
    }
}
