//! A count of a public graph, many times. The rows are read once; nodes keep other edges in each trial, as each answer does.

use super::{Count, Covered, GraphPlan, Way, edges::GraphRows, order_key};
use crate::{
    answer::Answer,
    bar::ErrorBar,
    error::PlanError,
    quiet::privately,
    simulate::{
        Simulation,
        own::{Judged, Simulated, Telling, Tried, trials},
    },
    source::Source,
    unanswered::Unanswered,
};
use equipoise_core::loss::Approx;
use serde_json::{Value, json};

impl Simulated for GraphPlan {
    fn costs(&self) -> Approx {
        self.cost.clone()
    }

    fn is_readable_in(&self, source: &dyn Source) -> Result<(), PlanError> {
        self.readable_in(source)
    }

    fn simulate(&self, source: &dyn Source, many: usize) -> Result<Simulation, Unanswered> {
        let rows = privately(|| Ok(GraphRows::read(source, self.columns)?))?;
        let looked = self.way.look(&rows);
        let truths = Truths::of(&self.way, self.count, &rows);
        let telling = Telling { name: &self.request.count, frequent: false, all_rows: None };
        trials(&telling, many, |coins| {
            let key = order_key(coins);
            let (answer, covered) = self.way.answer(&looked, &rows, key, coins);
            let judged = judged(&answer, &covered, &truths);
            Ok(Tried { answer, judged })
        })
    }
}

/// What is true of all edges: one number, or the nodes of each degree.
enum Truths {
    One(Value),
    Degrees { counts: Vec<u64>, bins: Option<u64> },
}

impl Truths {
    fn of(way: &Way, count: Count, rows: &GraphRows) -> Self {
        let graph = &rows.graph;
        Self::One(match count {
            Count::Edges => json!(graph.edges()),
            Count::Triangles => json!(graph.triangles()),
            // Beyond 2^64 a float is as near as JSON gets.
            Count::Stars(edges) => {
                let stars = graph.stars(edges);
                u64::try_from(stars).map_or_else(|_| json!(stars as f64), |stars| json!(stars))
            }
            Count::Components => json!(graph.components()),
            Count::DegreeHistogram => {
                let mut counts = Vec::new();
                for degree in graph.degrees() {
                    let place = usize::try_from(degree).expect("a degree");
                    if counts.len() <= place {
                        counts.resize(place + 1, 0);
                    }
                    counts[place] += 1;
                }
                let bins = match way {
                    Way::Counted(counted) => Some(counted.bins()),
                    _ => None,
                };
                return Self::Degrees { counts, bins };
            }
        })
    }

    /// What is true of the number at this place of an answer, the first of which is degree one.
    fn at(&self, place: usize) -> Value {
        match self {
            Self::One(value) => value.clone(),
            Self::Degrees { counts, bins } => {
                let degree = place + 1;
                // The last bin of edges that are protected has the larger degrees too.
                let last = bins.is_some_and(|bins| degree as u64 == bins);
                let to = if last { counts.len() } else { counts.len().min(degree + 1) };
                json!(counts.get(degree..to).map_or(0, |bin| bin.iter().sum::<u64>()))
            }
        }
    }
}

/// A bar holds where what it is about has a part in it.
fn judged(answer: &Answer, covered: &Covered, truths: &Truths) -> Vec<Judged> {
    let bars: Vec<_> = match &answer.groups {
        Some(groups) => groups.iter().map(|group| group.error.as_ref()).collect(),
        None => vec![answer.error.as_ref()],
    };
    let one = |(place, (bar, &(low, high))): (usize, (Option<&ErrorBar>, &(f64, f64)))| {
        let held = bar.and_then(ErrorBar::numeric_ends).map(|[from, to]| from <= high && low <= to);
        Judged { truth: Some(truths.at(place)), held }
    };
    bars.into_iter().zip(covered).enumerate().map(one).collect()
}
