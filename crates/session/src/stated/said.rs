//! What was said, read as what it is.

use super::{StatedRequest, missing};
use crate::{
    error::PlanError,
    facts::DataFacts,
    request::Request,
    resolved,
    statistic::{Argument, Statistic},
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::{Delta, Eps, ParameterError},
    ratio::Ratio,
    wording,
};

/// A request whose price, adjacency and confidence are known.
pub(super) struct Said<'a> {
    pub request: &'a StatedRequest,
    pub eps: Eps,
    pub delta: Delta,
    pub adjacency: Adjacency,
    pub unit: Unit,
    pub failure: Ratio,
    pub confidence: f64,
}

/// The most coordinates, options, answers and distances: what is computed is computed in memory.
pub(super) const MOST: u64 = 1 << 16;

impl<'a> Said<'a> {
    pub fn new(request: &'a StatedRequest, facts: &DataFacts) -> Result<Self, PlanError> {
        let eps = request.epsilon.as_deref().ok_or_else(|| {
            PlanError::about(Argument::Epsilon, "how much privacy may it cost?")
                .hint("Give `epsilon`, such as `epsilon=1`")
        })?;
        let confidence: Ratio = request.confidence.as_deref().unwrap_or("0.95").parse().map_err(|_| {
            let text = request.confidence.as_deref().unwrap_or_default();
            ParameterError::out_of_range("confidence", wording::shown(text), "give a number such as 0.95")
        })?;
        let failure = Ratio::one() - &confidence;
        if !confidence.is_positive() || failure < Ratio::new(1, 1_000_000_000) {
            let accepted = "give a number above 0 and at most 0.999999999, such as 0.95";
            return Err(ParameterError::out_of_range("confidence", &confidence, accepted).into());
        }
        let words = Request { adjacency: request.adjacency.clone(), ..Request::new(Statistic::Count.name()) };
        Ok(Self {
            request,
            eps: eps.parse()?,
            delta: request.delta.as_deref().map_or(Ok(Delta::zero()), str::parse)?,
            adjacency: resolved::adjacency(&words, facts)?,
            unit: unit(request, facts)?,
            failure,
            confidence: confidence.to_f64(),
        })
    }

    /// A share of epsilon: so many parts of all.
    pub fn share(&self, part: i64, of: u64) -> Result<Eps, PlanError> {
        Ok(Eps::new(self.eps.ratio() * &Ratio::new(part, of))?)
    }

    /// The range, where one was said: its low end and its width.
    pub fn range(&self) -> Result<Option<(Ratio, Ratio)>, PlanError> {
        let Some(text) = self.request.range.as_deref() else { return Ok(None) };
        let wrong = || {
            PlanError::about(Argument::Range, format!("the range '{}' is not accepted", wording::shown(text)))
                .hint("give two numbers, the lower one first, such as `range=0,100`")
        };
        let (low, high) = text.split_once(',').ok_or_else(wrong)?;
        let parse = |text: &str| text.trim().parse::<Ratio>().map_err(|_| wrong());
        let (low, high) = (parse(low)?, parse(high)?);
        let width = &high - &low;
        if width.is_positive() { Ok(Some((low, width))) } else { Err(wrong()) }
    }
}

/// A decimal or a fraction, exactly.
pub(super) fn number(name: &'static str, text: &str) -> Result<Ratio, PlanError> {
    text.trim().parse().map_err(|_| {
        ParameterError::out_of_range(name, wording::shown(text), "give a number such as 1 or 0.5").into()
    })
}

/// A float that has a value, exactly.
pub(super) fn finite(value: f64) -> Option<Ratio> {
    Ratio::from_f64_exact(value)
}

/// Whose privacy the statement is about; a data set keeps the unit that it was registered with.
fn unit(request: &StatedRequest, facts: &DataFacts) -> Result<Unit, PlanError> {
    let registered = facts.registered.as_ref().map(|(unit, _)| unit.clone());
    match (&request.unit, registered) {
        // A statement that was meant of one row is none about a person, and nobody else can tell which was meant.
        (None, Some(Unit::Column(name))) => {
            let (data, name) = (wording::shown(&facts.name), wording::shown(&name));
            let problem = format!(
                "'{data}' is registered for one {name}: what is stated must hold for all rows of one"
            );
            Err(PlanError::about(Argument::Unit, problem)
                .hint(format!("say that it does with `unit={name}`")))
        }
        (None, _) => Ok(Unit::default()),
        (Some(name), None) => Ok(Unit::Column(name.clone())),
        (Some(name), Some(unit)) if unit == Unit::Column(name.clone()) => Ok(unit),
        (Some(_), Some(unit)) => Err(PlanError::about(
            Argument::Unit,
            format!(
                "'{}' is registered for one {}",
                wording::shown(&facts.name),
                wording::shown(&unit.to_string())
            ),
        )
        .hint("ask without `unit`, or register it under another name")),
    }
}

/// A number above zero that must have been said.
pub(super) fn positive(
    name: &'static str,
    text: Option<&String>,
    why: &str,
    hint: &str,
) -> Result<Ratio, PlanError> {
    let text = text.ok_or_else(|| missing(name, why, hint))?;
    let value = number(name, text)?;
    if value.is_positive() {
        return Ok(value);
    }
    Err(ParameterError::out_of_range(name, value, "give a number above 0").into())
}
