//! A quantile over a declared grid with noise that follows how far single rows can move it near these rows:
//! `--mechanism smooth`, `released-scale` and `propose-test-release`.
//!
//! What a row can do is measured in steps of the grid, so a range and a resolution must be declared. Which noise and
//! which decay are taken is worked out beforehand for rows that lie evenly; a wrong guess costs accuracy, never privacy.

use super::{Answering, Expected, even::EvenRows};
use crate::{
    answer::Answer,
    bar::ErrorBar,
    error::PlanError,
    lattice::AnswerLattice,
    need::Need,
    planned::PredictedError,
    resolved::ResolvedRequest,
    row_facts::{Around, RowFacts, places::Places},
    source,
    statistic::Argument,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::{Eps, Loss},
    mechanism::{
        gate::Gate,
        propose_test_release::{CalibratedLaplace, LaplaceAtBound},
        released_scale::{self, ReleasedScale},
        searched_bound::{self, SearchedBound, doubling_bounds},
        smooth,
        smooth_plan::{self, even_gaps},
    },
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::{Quantile, Reach, Window},
    wording,
};

/// The mechanisms of this file.
pub(super) const NAMES: [&str; 3] = ["smooth", "released-scale", "propose-test-release"];

/// Fractions of epsilon that a released bound may decay by.
const BETAS: [i64; 3] = [10, 20, 50];

/// A noisy quantile of one column.
#[derive(Clone, Debug)]
pub(crate) struct SensitivityNoise {
    need: Need,
    adjacency: Adjacency,
    space: AnswerLattice,
    quantile: Quantile,
    kind: Kind,
    confidence: f64,
    failure: Ratio,
    likely: PredictedError,
}

#[derive(Clone, Debug)]
enum Kind {
    /// The bound stays private, so the bar is that of the widest one.
    Smooth { mechanism: Box<smooth::Calibrated>, at_worst: Ratio },
    /// The bound is released with the value.
    Released(Box<released_scale::Calibrated>),
    /// A bound is searched and tested; the value is refused where the test fails.
    Tested(Box<searched_bound::Calibrated>),
    /// A bound was proposed and is tested.
    Proposed(Box<CalibratedLaplace>),
}

impl SensitivityNoise {
    pub fn plan(said: &ResolvedRequest, name: &str, fraction: &Ratio) -> Result<Self, PlanError> {
        let column = said.column()?;
        let need = said.numbers(column)?;
        let values = said.kind(column).unwrap_or(source::ColumnType::Float);
        if said.range().is_none() || !(said.has_step() || values.is_whole()) {
            return Err(PlanError::about(
                Argument::Range,
                format!("the mechanism {name} measures what one row can do in steps of a range"),
            )
            .hint("give `range` and `resolution`, or use inverse-sensitivity"));
        }
        let space = said.lattice(column)?;
        let even = EvenRows::new(said, &space)?.expect("a range was declared");
        let step = space.step_length();
        let gap = Ratio::from_f64_exact(even.gap() / step).filter(Ratio::is_positive).unwrap_or(Ratio::one());
        let (kind, likely) = match name {
            name if name == NAMES[0] => plan_smooth(said, &space, &gap)?,
            name if name == NAMES[1] => plan_released(said, &space, &gap)?,
            _ if said.bound().is_some() => plan_proposed(said, &space, &gap, &even)?,
            _ => plan_tested(said, &space, &gap, &even)?,
        };
        Ok(Self {
            need,
            adjacency: said.adjacency(),
            space,
            quantile: Quantile::new(fraction)?,
            kind,
            confidence: said.confidence(),
            failure: said.failure().clone(),
            likely: even.likely(likely.to_f64() * step),
        })
    }

    pub fn need(&self) -> Need {
        self.need.clone()
    }

    fn drawn<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        let places = Places { space: self.space.clone(), adjacency: self.adjacency };
        let window = |reach: Reach| {
            let around = Around { target: self.quantile.into(), reach };
            gathered.windows(&self.need, &places, &[around]).remove(0)
        };
        let value = |window: &Window| Ratio::from(window.target().or(window.range().lo()));
        match &self.kind {
            Kind::Smooth { mechanism, at_worst } => {
                let window = window(mechanism.decay().reach(self.quantile, self.adjacency));
                let bound = mechanism.decay().quantile(self.quantile, &window, self.adjacency);
                self.released(&mechanism.run(&value(&window), &bound, coins), at_worst)
            }
            Kind::Released(mechanism) => {
                let window = window(mechanism.decay().reach(self.quantile, self.adjacency));
                let bound = mechanism.decay().quantile(self.quantile, &window, self.adjacency);
                let released = mechanism.run(&value(&window), &bound, coins);
                self.released(&released.value, &mechanism.accuracy(&released, &self.failure))
            }
            Kind::Tested(mechanism) => {
                let found = mechanism.quantile(self.quantile, &window(mechanism.reach()), coins);
                let within = mechanism.accuracy(found.bound, &self.failure).expect("a bound of the list");
                self.passed(&found.outcome, &within, FEW)
            }
            Kind::Proposed(mechanism) => {
                let found = mechanism.quantile(self.quantile, &window(mechanism.reach()), coins);
                self.passed(&found, &mechanism.accuracy(&self.failure), FEW_FOR_BOUND)
            }
        }
    }

    /// The value behind a test, or a refusal.
    fn passed(&self, outcome: &Outcome<i64>, within: &Ratio, refusal: &str) -> Answer {
        match outcome {
            Outcome::Value(value) => self.released(&Ratio::from(*value), within),
            Outcome::Refused => Answer::refused(refusal),
        }
    }

    /// The true value lies in the range, so the answer is moved there and the bar with it: why that loses no coverage, and
    /// leaves a bar, is said at [`Bar::between`](super::bar::Bar::between).
    fn released(&self, noisy: &Ratio, within: &Ratio) -> Answer {
        let range = self.space.range();
        let place = |at: Option<i64>, beyond: i64| range.clamp(at.unwrap_or(beyond));
        let value = |place: i64| self.space.value(place);
        let noisy = &noisy.clone().max(Ratio::from(range.lo())).min(Ratio::from(range.hi()));
        let (low, high) = ((noisy - within).floor_i64(), (noisy + within).ceil_i64());
        let (low, high) = (value(place(low, range.lo())), value(place(high, range.hi())));
        let bar = ErrorBar::noise_between(self.confidence, low, high);
        Answer::released(value(place(noisy.round_i64(), range.lo())), bar)
    }
}

impl Answering for SensitivityNoise {
    fn mechanism(&self) -> &'static str {
        match self.kind {
            Kind::Smooth { .. } => NAMES[0],
            Kind::Released(_) => NAMES[1],
            Kind::Tested(_) | Kind::Proposed(_) => NAMES[2],
        }
    }

    fn cost(&self) -> Loss {
        match &self.kind {
            Kind::Smooth { mechanism, .. } => mechanism.cost(),
            Kind::Released(mechanism) => mechanism.cost(),
            Kind::Tested(mechanism) => mechanism.cost(),
            Kind::Proposed(mechanism) => mechanism.cost(),
        }
    }

    fn answer_type(&self) -> Option<String> {
        self.space.kind().map(|kind| kind.to_string())
    }

    fn likely(&self) -> Option<PredictedError> {
        Some(self.likely)
    }

    fn expected(&self) -> Expected {
        let words = match &self.kind {
            Kind::Smooth { .. } => {
                "noise that follows how far single rows can move it here, which stays private: the error bar is the \
                 widest of all; never refused"
                    .to_string()
            }
            Kind::Released(_) => {
                "noise that follows how far single rows can move it here, which is released with some noise: the \
                 error bar comes with the answer; never refused"
                    .to_string()
            }
            Kind::Tested(mechanism) => format!(
                "how far single rows can move it is searched and tested, and the error bar comes with the answer; refused \
                 in at most 1 case of 20 where {} rows must change before they can move it farther",
                mechanism.target().until_change().unwrap_or(u64::MAX)
            ),
            Kind::Proposed(mechanism) => format!(
                "within {} where it is released; refused in at most 1 case of 20 where {} rows must change before one row can move it \
                 by more than {}",
                short(mechanism.accuracy(&self.failure).to_f64() * self.space.step_length()),
                rows_for(mechanism),
                short(mechanism.bound() as f64 * self.space.step_length()),
            ),
        };
        Expected { error: None, words }
    }

    fn answer<C: Coins>(&self, gathered: &dyn RowFacts, coins: &mut C) -> Answer {
        self.drawn(gathered, coins).with_empty_lowest(self.adjacency)
    }

    fn needs(&self) -> Vec<Need> {
        vec![self.need()]
    }

    fn no_prediction(&self) -> String {
        format!(
            "the error of {} follows the rows; give `epsilon`, or use inverse-sensitivity, whose error in ranks holds for all rows",
            self.mechanism()
        )
    }
}

const FEW: &str = "a few rows could move it too far; raise epsilon or delta, bring more rows, or use \
                   `mechanism=inverse-sensitivity`";
const FEW_FOR_BOUND: &str = "a few rows could let one move it farther than the bound; give a larger `bound`, raise epsilon or delta, or \
                             leave `bound` out, which searches one";

/// A number for words, with few digits.
fn short(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}

/// How many rows must change before the bound is exceeded, so that one case of twenty is refused at most.
fn rows_for(mechanism: &CalibratedLaplace) -> u64 {
    let enough = mechanism.distance_for(&Ratio::new(1, 20)).and_then(Slack::until_unstable);
    enough.unwrap_or(u64::MAX)
}

/// Half of epsilon for the test of a proposed bound, half for the noise.
fn plan_proposed(
    said: &ResolvedRequest,
    space: &AnswerLattice,
    gap: &Ratio,
    even: &EvenRows,
) -> Result<(Kind, Ratio), PlanError> {
    let text = said.bound().unwrap_or_default();
    let wrong = |hint: String| {
        let problem = format!("`bound={}` is not accepted:", wording::shown(text));
        PlanError::about(Argument::Bound, problem).hint(hint)
    };
    let step = space.step_length();
    let bound: Ratio = text.trim().parse().map_err(|_| wrong("give a number such as 100".into()))?;
    // Values lie whole steps apart. The guarantee is about the number of steps, however that was found.
    let steps = Ratio::from_f64_exact(step).map(|step| bound / step).and_then(|steps| steps.floor_i64());
    let steps = steps.and_then(|steps| u64::try_from(steps).ok()).filter(|&steps| steps > 0);
    let steps = steps.ok_or_else(|| wrong(format!("give at least one step, which is {}", short(step))))?;
    let half = Eps::new(said.eps().ratio() / &Ratio::from(2u64))?;
    let test = Gate { eps: half.clone(), delta: said.delta().clone(), adjacency: said.adjacency() };
    let mechanism = LaplaceAtBound { test, noise_eps: half, bound: steps }.calibrate()?;
    // Even rows are moved one gap farther by each change.
    let rows = rows_for(&mechanism);
    let passes = gap * &Ratio::from(rows) <= Ratio::from(steps) && even.has(2 * rows);
    let error = if passes { mechanism.accuracy(said.failure()) } else { Ratio::from(space.range().width()) };
    Ok((Kind::Proposed(Box::new(mechanism)), error))
}

/// The noise and decay that are best for even rows, and their error in steps.
fn plan_smooth(
    said: &ResolvedRequest,
    space: &AnswerLattice,
    gap: &Ratio,
) -> Result<(Kind, Ratio), PlanError> {
    let question = smooth_plan::Question {
        eps: said.eps().clone(),
        delta: said.delta().clone(),
        range: space.range(),
        grid: Ratio::one(),
        failure: said.failure().clone(),
    };
    let guess = |beta: &Ratio| even_gaps(gap, question.range, beta);
    let betas = smooth_plan::betas(&question.eps, &question.delta);
    let best = smooth_plan::plan(&question, &betas, guess).into_iter().next().ok_or_else(|| {
        PlanError::about(Argument::Mechanism, "no noise follows the rows at this epsilon")
            .hint("use inverse-sensitivity")
    })?;
    let mechanism = Box::new(best.mechanism.calibrate()?);
    let at_worst = mechanism.accuracy_at_worst(said.failure());
    Ok((Kind::Smooth { mechanism, at_worst }, best.error))
}

/// Half of epsilon for the bound and half for the value.
fn plan_released(
    said: &ResolvedRequest,
    space: &AnswerLattice,
    gap: &Ratio,
) -> Result<(Kind, Ratio), PlanError> {
    let half = Eps::new(said.eps().ratio() / &Ratio::from(2u64))?;
    let mut best: Option<(released_scale::Calibrated, Ratio)> = None;
    for parts in BETAS {
        let beta = said.eps().ratio() / &Ratio::from(parts);
        let guess = even_gaps(gap, space.range(), &beta);
        let mechanism = ReleasedScale {
            eps_scale: half.clone(),
            eps_value: half.clone(),
            delta: said.delta().clone(),
            beta,
            range: Some(space.range()),
            grid: Ratio::one(),
        }
        .calibrate()?;
        let error = mechanism.accuracy_for(&guess, said.failure());
        if best.as_ref().is_none_or(|(_, least)| error < *least) {
            best = Some((mechanism, error));
        }
    }
    let (mechanism, error) = best.expect("some decay was tried");
    Ok((Kind::Released(Box::new(mechanism)), error))
}

/// A quarter of epsilon for the search and for the test, half for the noise.
fn plan_tested(
    said: &ResolvedRequest,
    space: &AnswerLattice,
    gap: &Ratio,
    even: &EvenRows,
) -> Result<(Kind, Ratio), PlanError> {
    let part = |parts: u64| Eps::new(said.eps().ratio() / &Ratio::from(parts));
    let bounds = doubling_bounds(space.range());
    let mechanism = SearchedBound {
        search_eps: part(4)?,
        test: Gate { eps: part(4)?, delta: said.delta().clone(), adjacency: said.adjacency() },
        noise_eps: part(2)?,
        bounds: bounds.clone(),
        beta: Ratio::new(1, 20),
    }
    .calibrate()?;
    // Even rows are moved one gap farther by each change.
    let rows = mechanism.target().until_change().unwrap_or(u64::MAX);
    let needed = gap * &Ratio::from(rows);
    let bound = bounds.iter().find(|&&bound| Ratio::from(bound) >= needed).filter(|_| even.has(2 * rows));
    let error = bound.and_then(|&bound| mechanism.accuracy(bound, said.failure()));
    let error = error.unwrap_or_else(|| Ratio::from(space.range().width()));
    Ok((Kind::Tested(Box::new(mechanism)), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{plan::DataFacts, request::Request};

    /// Rows lie as far apart in the column's unit however short the steps are that they are measured in.
    #[test]
    fn what_is_likely_does_not_follow_the_length_of_a_step() {
        let facts = DataFacts {
            name: "people".into(),
            columns: vec!["salary".into()],
            registered: None,
            kinds: Vec::new(),
            windows: None,
        };
        let likely = |name: &str, resolution: &str| {
            let asked = Request {
                column: Some("salary".into()),
                epsilon: Some("1".into()),
                delta: Some("1e-6".into()),
                range: Some("0,100000".into()),
                resolution: Some(resolution.into()),
                mechanism: Some(name.into()),
                ..Request::new("median")
            };
            let said = ResolvedRequest::new(&asked, &facts).unwrap();
            SensitivityNoise::plan(&said, name, &Ratio::new(1, 2)).unwrap().likely.error
        };
        for name in ["smooth", "released-scale"] {
            let ratio = likely(name, "0.01") / likely(name, "1");
            assert!((0.9..1.1).contains(&ratio), "{name}: {ratio}");
        }
    }
}
