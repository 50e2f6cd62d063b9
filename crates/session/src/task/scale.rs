//! The interquartile range up to a factor, by one gate over bins of powers: `iqr --mechanism scale`.

use super::{Answering, Expected, even::EvenRows, quantiles::no_interval};
use crate::{
    answer::Answer,
    bar::ErrorBar,
    error::PlanError,
    lattice::AnswerLattice,
    need::Need,
    planned::PredictedError,
    resolved::ResolvedRequest,
    row_facts::{RowFacts, places::Places},
    statistic::Argument,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss},
    mechanism::scale::{self, Spread},
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::Spacing,
    wording,
};
use serde_json::{Value, json};

/// Its name.
pub(super) const NAME: &str = "scale";
/// The ratio of the ends of a bin where none is stated, its positions and its cells: public.
const BASE: u64 = 2;
const SHIFTS: u32 = 4;
const PARTS: u32 = 8;
/// One of so many even rows must change before their range leaves every factor of two.
const EVEN: u64 = 10;

/// A private scale: in steps of a declared grid or of a type, or in powers of two of floats.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    need: Need,
    adjacency: Adjacency,
    space: AnswerLattice,
    spacing: Spacing,
    step: f64,
    /// Fewer even rows than this are refused more often than in one case of twenty.
    needed: u64,
    mechanism: scale::Calibrated,
    base: Ratio,
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
        let space = said.exact_lattice(column)?;
        let stepped = said.has_step() || space.kind().is_some();
        let half = Eps::new(said.eps().ratio() / &Ratio::from(2u64))?;
        let base = said.base().map_or(Ok(Ratio::from(BASE)), |text| base(text, stepped))?;
        let scale = scale::Scale {
            gate_eps: half.clone(),
            noise_eps: half,
            delta: said.delta().clone(),
            base: base.clone(),
            shifts: SHIFTS,
            parts: PARTS,
            adjacency: said.adjacency(),
        };
        let mechanism = if stepped { scale.calibrate() } else { scale.calibrate_floats() }?;
        let factor = base.to_f64().powf(mechanism.accuracy(said.failure()).to_f64());
        let (spacing, step) =
            if stepped { (Spacing::Even, space.step_length()) } else { (Spacing::Floats, 1.0) };
        // Even rows leave every factor of two only when about a tenth of them have changed, and smaller factors in proportion.
        let rows = mechanism.slack_for(&Ratio::new(1, 20)).and_then(Slack::until_change).unwrap_or(u64::MAX);
        let times = (EVEN as f64 * std::f64::consts::LN_2 / base.to_f64().ln()).max(1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of rows, cut off at 2^64"
        )]
        let needed = (rows as f64 * times).ceil() as u64;
        let likely = EvenRows::new(said, &space)?.map(|even| {
            let error = if even.has(needed) { factor - 1.0 } else { f64::INFINITY };
            even.likely(error * even.quartiles_apart())
        });
        Ok(Self {
            need,
            adjacency: said.adjacency(),
            space,
            spacing,
            step,
            needed,
            mechanism,
            base,
            confidence: said.confidence(),
            factor,
            likely,
        })
    }

    pub fn need(&self) -> Need {
        self.need.clone()
    }

    /// Are so many rows enough for an answer in most cases, as far as that is known beforehand?
    pub fn suits(&self, rows: u64) -> bool {
        rows >= self.needed
    }
}

/// A stated ratio of the ends of a bin.
fn base(text: &str, stepped: bool) -> Result<Ratio, PlanError> {
    let number: Result<Ratio, _> = text.trim().parse();
    let wrong = |why: &str, hint: &str| {
        let problem = format!("`base={}` is not accepted: {why}", wording::shown(text));
        PlanError::about(Argument::Base, problem).hint(hint.to_string())
    };
    let Some(base) = number.ok().filter(|base| *base > Ratio::one()) else {
        return Err(wrong("factors are above 1", "give a number such as 1.5 or 2"));
    };
    if !stepped && base != Ratio::from(BASE) {
        return Err(wrong("floats are measured in powers of 2", "give `resolution`, or leave it out"));
    }
    Ok(base)
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
            "within a factor of {:.3}, or a refusal where a few rows can move the range out of a factor of {}",
            self.factor,
            self.base.to_short_up(6, 12)
        );
        Expected { error: None, words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let places = Places { space: self.space.clone(), adjacency: self.adjacency };
        let rows = gathered.in_order(&self.need, &places, self.spacing);
        match self.mechanism.run(&*rows, coins) {
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
