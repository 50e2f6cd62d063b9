//! Numbers with noise: at a stated sensitivity, at a smooth bound, at a bound that is released first.
//!
//! # Why rounding costs nothing that is not paid for
//!
//! 1. A float is a dyadic number, and is taken exactly; what the caller's own arithmetic rounded is part of the sensitivity that the
//!    caller states.
//! 2. Discrete noise lives on a public lattice. Values are rounded to it, which moves a value that moved by d by at most ceil(d/step)
//!    steps, and k coordinates together by at most k - 1 steps more: that is what the noise is scaled to. Steps are so fine
//!    ([`fine`]) that this widens the sensitivity by less than one part in 2^16.
//! 3. Real noise is added to the exact value and rounded once, behind the noise.

use super::{
    Found, missing, needs_delta,
    said::{MOST, Said, finite, number},
};
use crate::{
    answer::Answer,
    bar::{Condition, ErrorBar},
    error::PlanError,
    statistic::Argument,
    task::bar::Bar,
};
use equipoise_core::{
    coins::Coins,
    loss::{Loss, ParameterError},
    mechanism::{
        Noise, Values,
        bound_local_sensitivity::{self, BoundLocalSensitivity, Ceiling},
        gaussian::{self, Gaussian, Target},
        l2::L2,
        laplace::{self, Laplace},
        released_scale::{self, ReleasedScale},
        smooth,
        smooth_plan::{self, even_gaps},
    },
    outcome::Outcome,
    ratio::Ratio,
    stability::{Profile, Range},
};
use serde_json::json;

const SENSITIVITY: &str = "it is the most that one person moves the value";

/// The largest power of two that is at most one part in 2^16 of a sensitivity, for each of so many coordinates.
pub(super) fn fine(sensitivity: &Ratio, coordinates: u64) -> Ratio {
    let target = sensitivity / &Ratio::from(coordinates.saturating_mul(1 << 16));
    let (two, mut step) = (Ratio::from(2u64), Ratio::one());
    while step > target {
        step = step / &two;
    }
    while &step * &two <= target {
        step = step * &two;
    }
    step
}

/// A number with a bar around it, both as floats; rounding is outwards.
pub(super) fn number_within(value: &Ratio, within: &Ratio, confidence: f64) -> Answer {
    let bar = Bar::near(value.to_f64(), within.to_f64().next_up());
    Answer::number(bar.value, ErrorBar::noise(confidence, bar.low, bar.high))
}

/// The value of a statement about a number: the first that was found, if it has a value at all.
fn first(found: &Found) -> Option<Ratio> {
    found.numbers.first().copied().and_then(finite)
}

/// A value, or the coordinates of a vector, with noise at a stated sensitivity.
#[derive(Clone, Debug)]
pub(super) struct Noisy {
    law: Law,
    dimensions: Option<u64>,
    confidence: f64,
    within: Ratio,
    stated: Vec<String>,
}

#[derive(Clone, Debug)]
enum Law {
    Laplace(Box<laplace::Calibrated>),
    Gaussian(Box<gaussian::Calibrated>),
}

impl Noisy {
    pub fn plan(said: &Said<'_>) -> Result<Self, PlanError> {
        let request = said.request;
        let hint = "give sensitivity, such as 1 for a count";
        let sensitivity =
            super::said::positive("sensitivity", request.sensitivity.as_ref(), SENSITIVITY, hint)?;
        let coordinates = request.dimensions.unwrap_or(1);
        if coordinates == 0 || coordinates > MOST {
            let accepted = "give at least 1 and at most 65536 numbers";
            return Err(ParameterError::out_of_range("dimensions", coordinates, accepted).into());
        }
        let norm = match request.norm.as_deref() {
            None | Some("l1") => "l1",
            Some("l2") => "l2",
            Some(other) => return Err(PlanError::unknown("norm", other, &["l1", "l2"])),
        };
        let (grid, values) = match request.grid.as_deref() {
            Some(text) => (number("grid", text)?, Values::OnGrid),
            None => (fine(&sensitivity, coordinates), Values::Any),
        };
        let shape = Shape { sensitivity: &sensitivity, grid: &grid, values, coordinates };
        let law = Self::law(said, norm, &shape)?;
        let within = law.within(&said.failure);
        let mut stated = vec![match request.dimensions {
            Some(_) => format!("{} sensitivity {}", norm.to_uppercase(), sensitivity.to_exact()),
            None => format!("sensitivity {}", sensitivity.to_exact()),
        }];
        if request.grid.is_some() {
            stated.push(format!("values that are multiples of {}", grid.to_exact()));
        }
        Ok(Self { law, dimensions: request.dimensions, confidence: said.confidence, within, stated })
    }

    /// The law that was asked for, or the one with the smaller error of those that can be used.
    fn law(said: &Said<'_>, norm: &str, shape: &Shape<'_>) -> Result<Law, PlanError> {
        match said.request.mechanism.as_deref().unwrap_or("auto") {
            "laplace" => shape.laplace(said, norm),
            "gaussian" => shape.gaussian(said),
            "auto" if said.delta.is_zero() => shape.laplace(said, norm),
            "auto" if norm == "l2" && shape.coordinates > 1 => shape.gaussian(said),
            "auto" => {
                let (laplace, gaussian) = (shape.laplace(said, norm)?, shape.gaussian(said)?);
                let nearer = gaussian.within(&said.failure) < laplace.within(&said.failure);
                Ok(if nearer { gaussian } else { laplace })
            }
            other => Err(PlanError::unknown("mechanism", other, &["laplace", "gaussian"])),
        }
    }

    pub fn cost(&self) -> Loss {
        match &self.law {
            Law::Laplace(law) => law.cost(),
            Law::Gaussian(law) => law.cost(),
        }
    }

    pub fn mechanism(&self) -> &'static str {
        match self.law {
            Law::Laplace(_) => "laplace",
            Law::Gaussian(_) => "gaussian",
        }
    }

    pub fn stated(&self) -> Vec<String> {
        self.stated.clone()
    }

    pub fn expected(&self) -> (Option<ErrorBar>, String) {
        let within = self.within.to_f64().next_up();
        let each = if self.dimensions.is_some() { "every number" } else { "the value" };
        let words =
            format!("{each} with {} noise, within {within:.4} of it; never refused", self.mechanism());
        (Some(ErrorBar::within(self.confidence, within)), words)
    }

    pub fn answer<C: Coins>(&self, found: &Found, coins: &mut C) -> Option<Answer> {
        let values: Vec<Ratio> = found.numbers.iter().copied().map(finite).collect::<Option<_>>()?;
        if values.len() as u64 != self.dimensions.unwrap_or(1) {
            return None;
        }
        let noisy = match &self.law {
            Law::Laplace(law) => law.run(&values, coins),
            Law::Gaussian(law) => law.run(&values, coins),
        };
        if self.dimensions.is_none() {
            return Some(number_within(&noisy[0], &self.within, self.confidence));
        }
        let values: Vec<f64> = noisy.iter().map(Ratio::to_f64).collect();
        // A number far from zero is rounded by more than the bar may be wide.
        let largest = values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
        let within = self.within.to_f64().next_up() + largest * f64::EPSILON;
        if !within.is_finite() {
            return Some(Answer::refused(
                "the answer is beyond what a 64-bit float can hold; scale the values",
            ));
        }
        Some(Answer::released(json!(values), ErrorBar::within(self.confidence, within.next_up())))
    }
}

impl Law {
    fn within(&self, failure: &Ratio) -> Ratio {
        match self {
            Self::Laplace(law) => law.accuracy(failure),
            Self::Gaussian(law) => law.accuracy(failure),
        }
    }
}

/// What noise is calibrated to.
struct Shape<'a> {
    sensitivity: &'a Ratio,
    grid: &'a Ratio,
    values: Values,
    coordinates: u64,
}

impl Shape<'_> {
    fn dimensions(&self) -> usize {
        usize::try_from(self.coordinates).expect("at most 65536")
    }

    fn laplace(&self, said: &Said<'_>, norm: &str) -> Result<Law, PlanError> {
        if norm == "l2" && self.coordinates > 1 {
            return Err(PlanError::about(Argument::Mechanism, "laplace noise hides what moves in L1")
                .hint("state the L1 sensitivity, or give a delta and use gaussian"));
        }
        let laplace = Laplace {
            eps: said.eps.clone(),
            sensitivity: self.sensitivity.clone(),
            grid: self.grid.clone(),
            dimensions: self.dimensions(),
            values: self.values,
            noise: Noise::Discrete,
        };
        Ok(Law::Laplace(Box::new(laplace.calibrate()?)))
    }

    /// What moves by so much in L1 moves by no more in L2, so that either norm will do.
    fn gaussian(&self, said: &Said<'_>) -> Result<Law, PlanError> {
        if said.delta.is_zero() {
            return Err(needs_delta("gaussian"));
        }
        let one_on_grid = self.coordinates == 1 && self.values == Values::OnGrid;
        let gaussian = Gaussian {
            target: Target::Approx { eps: said.eps.clone(), delta: said.delta.clone() },
            sensitivity: L2::Exact(self.sensitivity.clone()),
            grid: self.grid.clone(),
            dimensions: self.dimensions(),
            values: self.values,
            noise: if one_on_grid { Noise::Discrete } else { Noise::Real },
        };
        Ok(Law::Gaussian(Box::new(gaussian.calibrate()?)))
    }
}

/// A value in a range with noise in proportion to its smooth bound.
#[derive(Clone, Debug)]
pub(super) struct Smoothed {
    law: SmoothLaw,
    low: Ratio,
    width: Ratio,
    /// What one step of the lattice is; the range begins at its first place.
    step: Ratio,
    steps: Range,
    distances: u64,
    confidence: f64,
    failure: Ratio,
    mechanism: &'static str,
}

#[derive(Clone, Debug)]
enum SmoothLaw {
    /// The bound stays private, so the bar is that of the widest one.
    Private { mechanism: Box<smooth::Calibrated>, at_worst: Ratio, noise: &'static str },
    /// The bound is released with the value, and makes the bar.
    Released(Box<released_scale::Calibrated>),
}

/// A range has this many steps or a few more.
const STEPS: u64 = 1 << 40;
/// Distances that are looked at where nobody says: what lies beyond counts as the whole range.
const DISTANCES: u64 = 1000;
/// Noises by name.
const NOISES: [&str; 4] = ["cauchy", "student-t", "poly-place", "laplace"];

impl Smoothed {
    pub fn plan(said: &Said<'_>) -> Result<Self, PlanError> {
        let (low, width) = said.range()?.ok_or_else(|| {
            PlanError::about(Argument::Range, "a smooth bound needs a range, without which it is infinite")
                .hint("give `range`, into which values are moved")
        })?;
        let step = fine(&width, 1) / Ratio::from(STEPS >> 16);
        let last = (&width / &step).ceil_i64().expect("about 2^40 steps");
        let steps = Range::new(0, last)?;
        let request = said.request;
        let beta = request.beta.as_deref().map(|text| number("beta", text)).transpose()?;
        let name = request.mechanism.as_deref().filter(|name| *name != "auto");
        let released = match name {
            Some("released-scale") => true,
            Some("smooth") => false,
            // A bound that is released makes a bar that follows the data; it needs a delta.
            None => !said.delta.is_zero() && request.noise.is_none(),
            Some(other) => {
                return Err(PlanError::unknown("mechanism", other, &["smooth", "released-scale"]));
            }
        };
        let law =
            if released { Self::released(said, steps, beta)? } else { Self::private(said, steps, beta)? };
        let table = match &law {
            SmoothLaw::Private { mechanism, .. } => mechanism.decay().distances(),
            SmoothLaw::Released(mechanism) => mechanism.decay().distances(),
        };
        let distances = request.distances.unwrap_or(DISTANCES).min(table);
        if distances == 0 || distances > MOST {
            let accepted = "give at least 1 and at most 65536";
            return Err(ParameterError::out_of_range("distances", distances, accepted).into());
        }
        let (confidence, failure) = (said.confidence, said.failure.clone());
        let mechanism = if released { "released-scale" } else { "smooth" };
        Ok(Self { law, low, width, step, steps, distances, confidence, failure, mechanism })
    }

    /// Half of epsilon for the bound and half for the value.
    fn released(said: &Said<'_>, steps: Range, beta: Option<Ratio>) -> Result<SmoothLaw, PlanError> {
        let half = said.share(1, 2)?;
        let beta = beta.unwrap_or_else(|| said.eps.ratio() / &Ratio::from(10u64));
        let mechanism = ReleasedScale {
            eps_scale: half.clone(),
            eps_value: half,
            delta: said.delta.clone(),
            beta,
            range: Some(steps),
            grid: Ratio::one(),
        };
        Ok(SmoothLaw::Released(Box::new(mechanism.calibrate()?)))
    }

    /// The noise and the decay that suit a value whose local sensitivity grows evenly, among those that were asked for.
    fn private(said: &Said<'_>, steps: Range, beta: Option<Ratio>) -> Result<SmoothLaw, PlanError> {
        if let Some(other) = said.request.noise.as_deref().filter(|name| !NOISES.contains(name)) {
            return Err(PlanError::unknown("noise", other, &NOISES));
        }
        let question = smooth_plan::Question {
            eps: said.eps.clone(),
            delta: said.delta.clone(),
            range: steps,
            grid: Ratio::one(),
            failure: said.failure.clone(),
        };
        let gap = Ratio::from(steps.width()) / Ratio::from(1000u64);
        let betas = beta.map_or_else(|| smooth_plan::betas(&said.eps, &said.delta), |beta| vec![beta]);
        let choices = smooth_plan::plan(&question, &betas, |beta| even_gaps(&gap, steps, beta));
        let wanted = |choice: &&smooth_plan::Choice| {
            let name = noise_name(&choice.mechanism.noise);
            said.request.noise.as_deref().is_none_or(|wanted| wanted == name)
        };
        let best = choices.iter().find(wanted).ok_or_else(|| {
            PlanError::about(Argument::Epsilon, "no such noise follows a smooth bound at this price")
                .hint("give a smaller beta, another noise, or a larger `epsilon`")
        })?;
        let noise = noise_name(&best.mechanism.noise);
        let mechanism = Box::new(best.mechanism.calibrate()?);
        let at_worst = mechanism.accuracy_at_worst(&said.failure);
        Ok(SmoothLaw::Private { mechanism, at_worst, noise })
    }

    pub fn cost(&self) -> Loss {
        match &self.law {
            SmoothLaw::Private { mechanism, .. } => mechanism.cost(),
            SmoothLaw::Released(mechanism) => mechanism.cost(),
        }
    }

    pub fn mechanism(&self) -> &'static str {
        self.mechanism
    }

    /// How many local sensitivities are looked at, from distance zero on.
    pub fn distances(&self) -> u64 {
        self.distances
    }

    pub fn stated() -> Vec<String> {
        vec!["local sensitivities by distance".to_string()]
    }

    pub fn expected(&self) -> (Option<ErrorBar>, String) {
        let words = match &self.law {
            SmoothLaw::Private { noise, .. } => format!(
                "{noise} noise that follows how far single rows can move it here, which stays private: the error bar is the widest of \
                 all; never refused"
            ),
            SmoothLaw::Released(_) => {
                "noise that follows how far single rows can move it here, which is released with some noise: the error bar comes \
                 with the answer; never refused"
                    .to_string()
            }
        };
        (None, words)
    }

    pub fn answer<C: Coins>(&self, found: &Found, coins: &mut C) -> Option<Answer> {
        let (value, local) = found.numbers.split_first()?;
        let value = (self.moved(*value)? - &self.low) / &self.step;
        let profile = Profile { at_distance: self.local(local)?, beyond: Ratio::from(self.steps.width()) };
        let (noisy, within) = match &self.law {
            SmoothLaw::Private { mechanism, at_worst, .. } => {
                let bound = mechanism.decay().profile(&profile);
                (mechanism.run(&value, &bound, coins), at_worst.clone())
            }
            SmoothLaw::Released(mechanism) => {
                let bound = mechanism.decay().profile(&profile);
                let released = mechanism.run(&value, &bound, coins);
                let within = mechanism.accuracy(&released, &self.failure);
                (released.value, within)
            }
        };
        let value = noisy * &self.step + &self.low;
        let (low, high) = self.ends();
        let bar = Bar::near(value.to_f64(), (within * &self.step).to_f64().next_up()).between(low, high);
        let error = ErrorBar::noise(self.confidence, bar.low, bar.high);
        Some(Answer::number(bar.value, error.on(Condition::Given(self.moved_words()))))
    }

    /// A value moved into the range; what is infinite lies at an end.
    fn moved(&self, value: f64) -> Option<Ratio> {
        if value.is_nan() {
            return None;
        }
        let high = &self.low + &self.width;
        let Some(value) = finite(value) else {
            return Some(if value > 0.0 { high } else { self.low.clone() });
        };
        Some(value.max(self.low.clone()).min(high))
    }

    /// As many local sensitivities in steps as the plan looks at, none above the width of the range; those that were not given are
    /// the whole of it.
    fn local(&self, given: &[f64]) -> Option<Vec<Ratio>> {
        let widest = Ratio::from(self.steps.width());
        let steps = |&local: &f64| {
            if local.is_nan() || local < 0.0 {
                return None;
            }
            Some(finite(local).map_or(widest.clone(), |local| (local / &self.step).min(widest.clone())))
        };
        let known = given.iter().take(usize::try_from(self.distances).ok()?).map(steps);
        let mut local: Vec<Ratio> = known.collect::<Option<_>>()?;
        local.resize(usize::try_from(self.distances).ok()?, widest);
        Some(local)
    }

    fn ends(&self) -> (f64, f64) {
        (self.low.to_f64(), (&self.low + &self.width).to_f64())
    }

    fn moved_words(&self) -> String {
        let high = &self.low + &self.width;
        format!("the value is limited to {} to {}", self.low.to_exact(), high.to_exact())
    }
}

fn noise_name(noise: &smooth::Noise) -> &'static str {
    match noise {
        smooth::Noise::Cauchy => NOISES[0],
        smooth::Noise::StudentT { .. } => NOISES[1],
        smooth::Noise::PolyPlace { .. } => NOISES[2],
        smooth::Noise::Laplace { .. } => NOISES[3],
    }
}

/// A value with noise at a bound on its local sensitivity that is released first.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    mechanism: bound_local_sensitivity::Calibrated,
    sensitivity: Ratio,
    ceiling: Option<Ratio>,
    confidence: f64,
    failure: Ratio,
}

/// A bound above this many steps refuses the value, where no ceiling is stated.
const LARGEST_BOUND: u64 = 1 << 40;

impl Bounded {
    pub fn plan(said: &Said<'_>) -> Result<Self, PlanError> {
        if said.delta.is_zero() {
            return Err(needs_delta("bounded-local-sensitivity"));
        }
        let request = said.request;
        let why = "it is the most that one person moves the local sensitivity itself";
        let hint = "give sensitivity, such as 1 for triangles of a graph";
        let sensitivity = super::said::positive("sensitivity", request.sensitivity.as_ref(), why, hint)?;
        let ceiling = match &request.ceiling {
            Some(_) => Some(super::said::positive("ceiling", request.ceiling.as_ref(), "", "")?),
            None => None,
        };
        let (grid, values) = match request.grid.as_deref() {
            Some(text) => (number("grid", text)?, Values::OnGrid),
            None => (fine(&sensitivity, 1), Values::Any),
        };
        if !grid.is_positive() {
            return Err(ParameterError::out_of_range("grid", grid, "give a positive step such as 1").into());
        }
        let half = said.share(1, 2)?;
        let refuse_above = || {
            let largest = &grid * &Ratio::from(LARGEST_BOUND);
            Ceiling::RefuseAbove(largest * half.ratio().clone().min(Ratio::one()))
        };
        let mechanism = BoundLocalSensitivity {
            bound_eps: half.clone(),
            value_eps: half.clone(),
            delta: said.delta.clone(),
            sensitivity: sensitivity.clone(),
            grid: grid.clone(),
            values,
            floor: grid.clone(),
            ceiling: ceiling.clone().map_or_else(refuse_above, Ceiling::Global),
        };
        let (confidence, failure) = (said.confidence, said.failure.clone());
        Ok(Self { mechanism: mechanism.calibrate()?, sensitivity, ceiling, confidence, failure })
    }

    pub fn cost(&self) -> Loss {
        self.mechanism.cost()
    }

    pub fn stated(&self) -> Vec<String> {
        let moves =
            format!("a local sensitivity that one person moves by at most {}", self.sensitivity.to_exact());
        let most = |most: &Ratio| format!("no change that moves the value by more than {}", most.to_exact());
        [moves].into_iter().chain(self.ceiling.as_ref().map(most)).collect()
    }

    pub fn expected(&self) -> String {
        format!(
            "a bound on the local sensitivity, on average {} above it, and the value with laplace noise at that bound: the error bar \
             comes with the answer",
            self.mechanism.offset().to_short_up(6, 12)
        )
    }

    pub fn answer<C: Coins>(&self, found: &Found, coins: &mut C) -> Option<Answer> {
        let value = first(found)?;
        let local = found.numbers.get(1).copied().filter(|local| *local >= 0.0).and_then(finite)?;
        let released = self.mechanism.run(&value, &local, coins);
        let bound = released.bound.to_short_up(6, 12);
        let Outcome::Value(value) = released.value else {
            return Some(Answer::refused(format!(
                "one person could move the value by more than {bound}; state a ceiling, or round values to a grid"
            )));
        };
        let within = self.mechanism.error_given(&released.bound, &self.failure);
        let answer = number_within(&value, &within, self.confidence);
        let bound = Condition::Given(format!("the released bound on the local sensitivity is {bound}"));
        Some(Answer { error: answer.error.map(|bar| bar.on(bound)), ..answer })
    }
}

/// Laplace noise at a bound that was proposed: for a value that moves by at most so much where the test is passed.
pub(super) fn laplace_at(said: &Said<'_>, bound: &Ratio) -> Result<laplace::Calibrated, PlanError> {
    let (grid, values) = match said.request.grid.as_deref() {
        Some(text) => (number("grid", text)?, Values::OnGrid),
        None => (fine(bound, 1), Values::Any),
    };
    let laplace = Laplace {
        eps: said.share(1, 2)?,
        sensitivity: bound.clone(),
        grid,
        dimensions: 1,
        values,
        noise: Noise::Discrete,
    };
    Ok(laplace.calibrate()?)
}

/// The number that a test is about, exactly.
pub(super) fn tested_value(found: &Found) -> Option<Ratio> {
    first(found)
}

/// What to say where a bound is missing.
pub(super) fn no_bound() -> PlanError {
    missing(
        "bound",
        "it is the most that one person moves the value on data sets that pass",
        "give bound, or inner for a mechanism of your own",
    )
}
