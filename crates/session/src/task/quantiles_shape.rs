//! Which quantiles a question asks for, and what becomes of them.

use crate::{
    error::PlanError,
    resolved::ResolvedRequest,
    statistic::{Argument, Statistic},
};
use equipoise_core::{loss::ParameterError, ratio::Ratio, stability::Quantile};

/// How the quantiles become an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One number.
    Single,
    /// A list, in the order that was asked for.
    List,
    /// The last less the first.
    Difference,
}

impl Shape {
    /// What else answers with fewer rows, to stand behind an advice.
    pub fn instead(self) -> &'static str {
        match self {
            Self::Single | Self::List => "",
            Self::Difference => ", or give `delta=1e-6` and `mechanism=scale`, which needs fewer",
        }
    }
}

/// Which quantiles the statistic asks for.
pub(super) fn fractions(said: &ResolvedRequest) -> Result<(Vec<Ratio>, Shape), PlanError> {
    let half = || Ratio::new(1, 2);
    match said.statistic() {
        Statistic::Median => Ok((vec![half()], Shape::Single)),
        Statistic::Iqr => Ok((vec![Ratio::new(1, 4), Ratio::new(3, 4)], Shape::Difference)),
        _ => {
            let text = said.fraction().ok_or_else(|| {
                PlanError::about(
                    Argument::Fraction,
                    "quantile needs a fraction between 0 and 1, such as 0.9 or 0.25,0.5,0.75",
                )
            })?;
            let one = |part: &str| {
                let wrong = || {
                    ParameterError::out_of_range(
                        "fraction",
                        part,
                        "give a number between 0 and 1, such as 0.9",
                    )
                };
                let fraction: Ratio = part.trim().parse().map_err(|_| wrong())?;
                Quantile::new(&fraction)?;
                Ok::<_, PlanError>(fraction)
            };
            let fractions = text.split(',').map(one).collect::<Result<Vec<_>, _>>()?;
            if !fractions.windows(2).all(|pair| pair[0] < pair[1]) {
                return Err(PlanError::about(
                    Argument::Fraction,
                    "give the fractions in rising order, each once",
                ));
            }
            let shape = if fractions.len() > 1 { Shape::List } else { Shape::Single };
            Ok((fractions, shape))
        }
    }
}
