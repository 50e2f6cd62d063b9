//! The interquartile range up to a factor: `iqr --mechanism scale`. Where no base is stated, the bin that holds it, as narrow as the rows allow
//! ([`chosen_bin`]); with a base noise on the cells of its bins ([`scale`]).

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
    mechanism::{
        chosen_bin::{self, ChosenBin, WIDTHS},
        scale::{self, Spread},
    },
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::Spacing,
    wording,
};
use serde_json::{Value, json};

/// Its name.
pub(super) const NAME: &str = "scale";
/// The ratio of the ends of a bin of floats, where one is stated, its positions and its cells: public.
const BASE: u64 = 2;
const SHIFTS: u32 = 4;
const PARTS: u32 = 8;
/// Hundredths of epsilon for the choice of a width and a position.
const CHOICE: i64 = 30;
/// One of so many even rows must change before their range leaves every factor of two, and one of so many before it leaves
/// every one of the widest bins.
const EVEN: u64 = 10;
const EVEN_WIDEST: u64 = 5;

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
    by: By,
    confidence: f64,
    likely: Option<PredictedError>,
}

/// How a range is told.
#[derive(Clone, Debug)]
enum By {
    /// Noise on the cells of bins of a stated base: a released answer is off by at most this factor.
    Noise { mechanism: scale::Calibrated, base: Ratio, factor: f64 },
    /// The bin that holds it.
    Bin(chosen_bin::Calibrated),
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
        let (spacing, step) =
            if stepped { (Spacing::Even, space.step_length()) } else { (Spacing::Floats, 1.0) };
        let (by, needed, factor) = match said.base() {
            Some(text) => Self::with_base(said, &base(text, stepped)?, stepped)?,
            None => Self::with_bins(said, stepped)?,
        };
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
            by,
            confidence: said.confidence(),
            likely,
        })
    }

    /// A mechanism, how many rows it needs, and the factor that it is off by at most.
    fn with_base(said: &ResolvedRequest, base: &Ratio, stepped: bool) -> Result<(By, u64, f64), PlanError> {
        let half = Eps::new(said.eps().ratio() / &Ratio::from(2u64))?;
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
        // Even rows leave every factor of two only when about a tenth of them have changed, and smaller factors in proportion.
        let rows = mechanism.slack_for(&Ratio::new(1, 20)).and_then(Slack::until_change).unwrap_or(u64::MAX);
        let times = (EVEN as f64 * std::f64::consts::LN_2 / base.to_f64().ln()).max(1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of rows, cut off at 2^64"
        )]
        let needed = (rows as f64 * times).ceil() as u64;
        Ok((By::Noise { mechanism, base: base.clone(), factor }, needed, factor))
    }

    /// The same for the bin that holds the range. Where no more rows are known than are needed, that is one of the widest.
    fn with_bins(said: &ResolvedRequest, stepped: bool) -> Result<(By, u64, f64), PlanError> {
        let share = |hundredths: i64| Eps::new(said.eps().ratio() * &Ratio::new(hundredths, 100));
        let bins = ChosenBin {
            choice_eps: share(CHOICE)?,
            gate_eps: share(100 - CHOICE)?,
            delta: said.delta().clone(),
            widths: WIDTHS.to_vec(),
            adjacency: said.adjacency(),
        };
        let mechanism = if stepped { bins.calibrate() } else { bins.calibrate_floats() }?;
        let needed = mechanism.accuracy(&Ratio::new(1, 20))?.saturating_mul(EVEN_WIDEST);
        Ok((By::Bin(mechanism), needed, widest()))
    }

    pub fn need(&self) -> Need {
        self.need.clone()
    }

    /// Are so many rows enough for an answer in most cases, as far as that is known beforehand?
    pub fn suits(&self, rows: u64) -> bool {
        rows >= self.needed
    }
}

/// The factor that the middle of the widest bin is off by at most.
fn widest() -> f64 {
    let octaves = f64::from(WIDTHS[WIDTHS.len() - 1]) / f64::from(chosen_bin::PARTS);
    2f64.powf(octaves / 2.0)
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

impl Scale {
    /// The range between its ends; those of no rows are nothing, and zero is exact.
    fn told(&self, spread: Outcome<Option<[f64; 3]>>) -> Answer {
        match spread {
            Outcome::Value(None) => Answer::released(Value::Null, ErrorBar::exact()),
            Outcome::Value(Some([low, estimate, high])) if low < high => {
                Answer::number(estimate, ErrorBar::noise(self.confidence, low, high))
            }
            Outcome::Value(Some([_, estimate, _])) => Answer::released(json!(estimate), ErrorBar::exact()),
            Outcome::Refused => Answer::refused(
                "the interquartile range is not stable enough; raise epsilon or delta, bring more rows, or leave the mechanism to auto",
            ),
        }
    }
}

impl Answering for Scale {
    fn cost(&self) -> Loss {
        match &self.by {
            By::Noise { mechanism, .. } => mechanism.cost(),
            By::Bin(mechanism) => mechanism.cost(),
        }
    }

    fn answer_type(&self) -> Option<String> {
        self.space.kind()?.measure().map(str::to_string)
    }

    fn likely(&self) -> Option<PredictedError> {
        self.likely
    }

    fn expected(&self) -> Expected {
        let words = match &self.by {
            By::Noise { base, factor, .. } => format!(
                "within a factor of {factor:.3}, or a refusal where a few rows can move the range out of a factor of {}",
                base.to_short_up(6, 12)
            ),
            By::Bin(_) => format!(
                "within a factor of {:.3} with many rows and of {} with few, which is told with the answer; a refusal where a few rows can move \
                 the range out of a factor of 16",
                2f64.powf(f64::from(WIDTHS[0]) / f64::from(2 * chosen_bin::PARTS)),
                widest()
            ),
        };
        Expected { error: None, words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let places = Places { space: self.space.clone(), adjacency: self.adjacency };
        let rows = gathered.in_order(&self.need, &places, self.spacing);
        match &self.by {
            By::Noise { mechanism, factor, .. } => {
                self.told(mechanism.run(&*rows, coins).map(|spread| match spread {
                    Spread::Empty => None,
                    Spread::Zero => Some([0.0; 3]),
                    Spread::Cell(_) => {
                        let estimate =
                            mechanism.estimate(&spread).map_or(0.0, |steps| steps.to_f64()) * self.step;
                        Some([estimate / factor, estimate, estimate * factor])
                    }
                }))
            }
            By::Bin(mechanism) => self.told(mechanism.run(&*rows, coins).map(|spread| match spread {
                chosen_bin::Spread::Empty => None,
                chosen_bin::Spread::Zero => Some([0.0; 3]),
                chosen_bin::Spread::Between(low, high) => {
                    let ends = [low, high].map(|end| match self.spacing {
                        Spacing::Even => end as f64 * self.step,
                        Spacing::Floats => f64::from_bits(end),
                    });
                    // Roots first: ends may be as large and as small as floats are.
                    Some([ends[0], ends[0].sqrt() * ends[1].sqrt(), ends[1]])
                }
            })),
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
