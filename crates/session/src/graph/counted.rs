//! Counts that one edge moves by a public number: edges and components by one, the degree histogram by four in all.

use super::{Count, Covered, Said};
use crate::{answer::Answer, bar::ErrorBar, error::PlanError, statistic::Argument, task::bar::Bar};
use equipoise_core::{
    coins::Coins,
    loss::Loss,
    mechanism::{
        Noise, Values,
        laplace::{self, Laplace},
    },
    ratio::Ratio,
    stability::graph::SparseGraph,
    wording,
};
use serde_json::json;

/// Counts with Laplace noise.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    count: Count,
    /// The last bin of a histogram, which has the larger degrees too; one number otherwise.
    bins: u64,
    law: laplace::Calibrated,
    confidence: f64,
    within: Ratio,
}

/// Degrees that a histogram has where nobody says how many.
const BINS: u64 = 30;
/// The most bins, and the most edges that a node keeps for a histogram.
pub(super) const MOST_BINS: u64 = 1 << 16;
/// One edge moves two nodes from one bin to another each.
const MOVED_BINS: u64 = 4;

impl Counted {
    pub fn plan(said: &Said<'_>) -> Result<Self, PlanError> {
        said.mechanism(&["laplace"])?;
        let histogram = said.count == Count::DegreeHistogram;
        let bins = match said.request.max_degree.as_deref() {
            None => BINS,
            Some(text) if histogram => whole(text, MOST_BINS)?,
            Some(_) => return Err(no_bound()),
        };
        let (bins, sensitivity) = if histogram { (bins, MOVED_BINS) } else { (1, 1) };
        let law = Laplace {
            eps: said.eps.clone(),
            sensitivity: Ratio::from(sensitivity),
            grid: Ratio::one(),
            dimensions: usize::try_from(bins).expect("at most 65536"),
            values: Values::OnGrid,
            noise: Noise::Discrete,
        };
        let law = law.calibrate()?;
        let within = law.accuracy(&said.failure);
        Ok(Self { count: said.count, bins, law, confidence: said.confidence, within })
    }

    pub fn cost(&self) -> Loss {
        self.law.cost()
    }

    /// How many bins a histogram has.
    pub fn bins(&self) -> u64 {
        self.bins
    }

    pub fn expected(&self) -> String {
        let within = self.within.to_short_up(6, 12);
        if self.count == Count::DegreeHistogram {
            return format!(
                "how many nodes have each degree from 1 to {}, the last with those of more; all within {within}; never refused",
                self.bins
            );
        }
        format!("{}, within {within}; never refused", self.count.noun())
    }

    /// The counts of a graph, without noise. Private.
    pub fn look(&self, graph: &SparseGraph) -> Vec<i64> {
        match self.count {
            Count::Components => vec![signed(graph.components())],
            Count::DegreeHistogram => histogram(graph.degrees(), self.bins),
            _ => vec![signed(graph.edges())],
        }
    }

    /// An answer, and what its bars are about.
    pub fn answer<C: Coins>(&self, counts: &[i64], coins: &mut C) -> (Answer, Covered) {
        let mut noisy = counts.to_vec();
        self.law.run_counts(&mut noisy, coins);
        let answer = if self.count == Count::DegreeHistogram {
            let groups = (1..).zip(&noisy).map(|(degree, &count): (u64, _)| {
                let key = if degree == self.bins { format!("{degree} or more") } else { degree.to_string() };
                number(count, &self.within, self.confidence).into_group(&vec![Some(key)])
            });
            Answer::grouped(groups.collect(), String::new)
        } else {
            number(noisy[0], &self.within, self.confidence)
        };
        (answer, exactly(counts))
    }
}

/// Bars that are about these counts.
pub(super) fn exactly(counts: &[i64]) -> Covered {
    counts.iter().map(|&count| (count as f64, count as f64)).collect()
}

/// How many of these degrees there are from one to the last bin, which has the larger ones too.
pub(super) fn histogram(degrees: impl Iterator<Item = u64>, bins: u64) -> Vec<i64> {
    let mut counts = vec![0; usize::try_from(bins).expect("at most 65536")];
    for degree in degrees.filter(|&degree| degree > 0) {
        counts[usize::try_from(degree.min(bins) - 1).expect("a bin")] += 1;
    }
    counts
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A count with a bar; neither is below zero.
pub(super) fn number(count: i64, within: &Ratio, confidence: f64) -> Answer {
    let bar = Bar::around(count, within.ceil_i64().unwrap_or(i64::MAX)).between(0.0, 2f64.powi(63));
    Answer::released(json!(count.max(0)), ErrorBar::noise(confidence, bar.low, bar.high))
}

/// A whole number of at least one that was typed.
pub(super) fn whole(text: &str, most: u64) -> Result<u64, PlanError> {
    text.trim().parse().ok().filter(|number| (1..=most).contains(number)).ok_or_else(|| {
        PlanError::line(format!("`max_degree={}` is not accepted:", wording::shown(text)))
            .hint(format!("give a whole number from 1 to {most}"))
    })
}

fn no_bound() -> PlanError {
    PlanError::about(Argument::Adjacency, "`max_degree` is for histograms, and for nodes that are protected")
        .hint("leave it out, or use `adjacency=node`")
}
