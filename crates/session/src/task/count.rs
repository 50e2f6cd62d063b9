//! How many records there are, or how many have a field that is not empty: exact noise on whole numbers.

use super::Expected;
use crate::{
    answer::{Answer, ErrorBar},
    gather::{Gathered, Need},
    plan::{PlanError, Said},
    source::Wanted,
};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::Loss,
    mechanism::{
        gaussian::{self, Gaussian, Target},
        l2::L2,
        laplace::{self, Laplace},
    },
    ratio::Ratio,
};
use serde_json::json;

/// A noisy count.
#[derive(Clone, Debug)]
pub(crate) struct Count {
    column: Option<Wanted>,
    noise: Noise,
    confidence: f64,
    /// Noise stays within this, with that confidence.
    within: i64,
}

#[derive(Clone, Debug)]
enum Noise {
    Laplace(Box<laplace::Calibrated>),
    Gaussian(Box<gaussian::Calibrated>),
}

impl Count {
    pub fn plan(said: &Said) -> Result<Self, PlanError> {
        said.accepts(&["laplace", "gaussian"], &[])?;
        let column = said.optional_column()?.map(|column| said.key(column));
        if column.is_none() && said.adjacency() == Adjacency::Replace && said.takes_all_rows() {
            return Err(PlanError::line(
                "under replace the number of rows is public: count it with any tool, or name a column to count its fields that are not empty",
            ));
        }
        let (noise, within) = if said.mechanism() == Some("gaussian") {
            let noise = whole_gaussian(said)?;
            let within = whole(&noise.accuracy(said.failure()))?;
            (Noise::Gaussian(Box::new(noise)), within)
        } else {
            let noise = whole_noise(said.eps())?;
            let within = within(&noise, said.failure())?;
            (Noise::Laplace(Box::new(noise)), within)
        };
        Ok(Self { column, noise, confidence: said.confidence(), within })
    }

    pub fn mechanism(&self) -> &'static str {
        match self.noise {
            Noise::Laplace(_) => "laplace",
            Noise::Gaussian(_) => "gaussian",
        }
    }

    pub fn cost(&self) -> Loss {
        match &self.noise {
            Noise::Laplace(noise) => noise.cost(),
            Noise::Gaussian(noise) => noise.cost(),
        }
    }

    pub fn need(&self) -> Need {
        self.column.map_or(Need::Records, Need::Present)
    }

    pub fn within(&self) -> f64 {
        self.within as f64
    }

    pub fn expected(&self) -> Expected {
        let error = ErrorBar::noise(self.confidence, -(self.within as f64), self.within as f64);
        let words = format!("the count is off by at most {}; it is never refused", self.within);
        Expected { error: Some(error), words }
    }

    pub fn answer<C: Coins>(&self, gathered: &Gathered<'_>, coins: &mut C) -> Answer {
        let count = self.column.map_or(gathered.records(), |column| gathered.present(column.column));
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let noisy = match &self.noise {
            Noise::Laplace(noise) => noise.run_whole(count, coins),
            Noise::Gaussian(noise) => {
                let mut counts = [count];
                noise.run_counts(&mut counts, coins);
                counts[0]
            }
        };
        let error = ErrorBar::noise(
            self.confidence,
            noisy.saturating_sub(self.within).max(0) as f64,
            noisy.saturating_add(self.within).max(0) as f64,
        );
        Answer::released(json!(noisy), error)
    }
}

/// Noise for a count that one unit moves by one.
pub(super) fn whole_noise(eps: &equipoise_core::loss::Eps) -> Result<laplace::Calibrated, PlanError> {
    let laplace = Laplace {
        eps: eps.clone(),
        sensitivity: Ratio::one(),
        grid: Ratio::one(),
        dimensions: 1,
        values: equipoise_core::mechanism::Values::OnGrid,
        noise: equipoise_core::mechanism::Noise::Discrete,
    };
    Ok(laplace.calibrate()?)
}

/// The same with a bell curve, which reaches less far where a bar must hardly ever fail.
fn whole_gaussian(said: &Said) -> Result<gaussian::Calibrated, PlanError> {
    if said.delta().is_zero() {
        return Err(PlanError::line(
            "the mechanism gaussian needs a delta above 0; give --delta 1e-6, or use laplace",
        ));
    }
    let gaussian = Gaussian {
        target: Target::Approx { eps: said.eps().clone(), delta: said.delta().clone() },
        sensitivity: L2::Exact(Ratio::one()),
        grid: Ratio::one(),
        dimensions: 1,
        values: equipoise_core::mechanism::Values::OnGrid,
        noise: equipoise_core::mechanism::Noise::Discrete,
    };
    Ok(gaussian.calibrate()?)
}

/// How far noise goes, rounded up to a whole number.
pub(super) fn within(noise: &laplace::Calibrated, failure: &Ratio) -> Result<i64, PlanError> {
    whole(&noise.accuracy(failure))
}

fn whole(error: &Ratio) -> Result<i64, PlanError> {
    error.ceil_i64().ok_or_else(|| {
        PlanError::line("the noise would exceed every count; give a larger epsilon or a smaller confidence")
    })
}
