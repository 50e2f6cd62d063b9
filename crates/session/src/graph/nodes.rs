//! Edges, and degrees, where one node with all of its edges comes or goes: every node keeps a bounded number of edges first.
//!
//! # Why
//!
//! 1. Edges are kept in the order of a hash of each edge alone while both ends have kept fewer than the bound: one node moves the number of kept
//!    edges by at most the bound D, and their histogram of degrees by at most 2·D + 1 ([`equipoise_core::stability::graph::kept`]).
//! 2. The bound is public, or one of a public list, chosen by how much worse it is than the others
//!    ([`regrets`]), which one node moves by at most one: a quarter of epsilon.

use super::{
    Count, Covered, Said,
    counted::{MOST_BINS, exactly, histogram, number, whole},
};
use crate::{answer::Answer, error::PlanError};
use equipoise_core::{
    coins::Coins,
    loss::{Approx, Delta, Loss},
    mechanism::{
        Noise, Values,
        laplace::{self, Laplace},
        permute_and_flip::{self, PermuteAndFlip},
        selection::Candidates,
    },
    ratio::Ratio,
    stability::graph::{kept, kept_histogram_sensitivity, regrets},
};

/// Kept edges with Laplace noise.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    histogram: bool,
    /// The bounds that there are, in growing order, and the noise of each.
    bounds: Vec<u64>,
    laws: Vec<laplace::Calibrated>,
    /// How one of several is chosen, and how much noise there is for each unit of a bound.
    choice: Option<(Box<permute_and_flip::Calibrated>, Ratio)>,
    cost: Approx,
    confidence: f64,
    failure: Ratio,
}

/// Bounds to choose from where none is stated: 1, 2, 4 and so on to this.
const LARGEST_SEARCHED: u64 = 1024;
/// No node keeps more edges than this.
const MOST_EDGES: u64 = 1 << 32;
/// One part of epsilon in so many chooses the bound.
const CHOICE: u64 = 4;

impl Kept {
    pub fn plan(said: &Said<'_>) -> Result<Self, PlanError> {
        said.mechanism(&["laplace"])?;
        let histogram = said.count == Count::DegreeHistogram;
        let bounds =
            bounds(said.request.max_degree.as_deref(), if histogram { MOST_BINS } else { MOST_EDGES })?;
        let (chosen_by, value) = match bounds.len() {
            1 => (None, said.eps.clone()),
            _ => (Some(said.share(1, CHOICE)?), said.share(3, CHOICE)?),
        };
        let law = |&bound: &u64| {
            let (sensitivity, bins) =
                if histogram { (kept_histogram_sensitivity(bound), bound) } else { (bound, 1) };
            Laplace {
                eps: value.clone(),
                sensitivity: Ratio::from(sensitivity),
                grid: Ratio::one(),
                dimensions: usize::try_from(bins).expect("at most 65536"),
                values: Values::OnGrid,
                noise: Noise::Discrete,
            }
            .calibrate()
        };
        let laws = bounds.iter().map(law).collect::<Result<_, _>>()?;
        let choice = chosen_by
            .map(|eps| {
                let noise = value.ratio().recip() + eps.ratio().recip();
                let candidates =
                    Candidates { count: bounds.len(), sensitivity: Ratio::one(), monotone: false };
                PermuteAndFlip { eps, candidates }.calibrate().map(|choice| (Box::new(choice), noise))
            })
            .transpose()?;
        Ok(Self {
            histogram,
            bounds,
            laws,
            choice,
            cost: Approx::new(&said.eps, &Delta::zero()),
            confidence: said.confidence,
            failure: said.failure.clone(),
        })
    }

    pub fn cost(&self) -> Loss {
        Loss::Approx(self.cost.clone())
    }

    pub fn expected(&self) -> String {
        let what = if self.histogram {
            "how many nodes keep each number of edges"
        } else {
            "the number of edges that are kept"
        };
        let within = |place: usize| self.laws[place].accuracy(&self.failure).to_short_up(6, 12);
        match self.bounds[..] {
            [bound] => {
                format!("{what} where each node keeps at most {bound}, within {}; never refused", within(0))
            }
            _ => format!(
                "{what} where each node keeps at most a number that a quarter of epsilon chooses, {} to {}; within {} to {}; never refused",
                self.bounds[0],
                self.bounds[self.bounds.len() - 1],
                within(0),
                within(self.bounds.len() - 1)
            ),
        }
    }

    /// An answer, and what its bars are about. Edges come in the order in which they are kept.
    pub fn answer<C: Coins>(&self, ordered: &[(u32, u32)], coins: &mut C) -> (Answer, Covered) {
        let place = self.choice.as_ref().map_or(0, |(choice, noise)| {
            let counts: Vec<u64> = self.bounds.iter().map(|&bound| kept(ordered, bound).1).collect();
            let scores: Vec<Ratio> =
                regrets(&self.bounds, &counts, noise).into_iter().map(|regret| -regret).collect();
            choice.run(&scores, coins)
        });
        self.noisy(place, &self.laws[place], ordered, coins)
    }

    /// A mutant: the first bound, with the noise of another plan.
    pub fn answer_with_noise_of<C: Coins>(
        &self,
        other: &Self,
        ordered: &[(u32, u32)],
        coins: &mut C,
    ) -> Answer {
        self.noisy(0, &other.laws[0], ordered, coins).0
    }

    fn noisy<C: Coins>(
        &self,
        place: usize,
        law: &laplace::Calibrated,
        ordered: &[(u32, u32)],
        coins: &mut C,
    ) -> (Answer, Covered) {
        let bound = self.bounds[place];
        let (degrees, edges) = kept(ordered, bound);
        let mut counts = if self.histogram {
            histogram(degrees.into_iter(), bound)
        } else {
            vec![i64::try_from(edges).unwrap_or(i64::MAX)]
        };
        let covered = exactly(&counts);
        law.run_counts(&mut counts, coins);
        let within = law.accuracy(&self.failure);
        let about = |what: &str, answer: Answer| Answer {
            error: answer.error.map(|bar| bar.about(format!("{what} where each node keeps at most {bound}"))),
            ..answer
        };
        if !self.histogram {
            return (about("the number of edges", number(counts[0], &within, self.confidence)), covered);
        }
        let groups = (1..).zip(&counts).map(|(degree, &count): (u64, _)| {
            let answer =
                about("the number of nodes that keep so many edges", number(count, &within, self.confidence));
            answer.into_group(&vec![Some(degree.to_string())])
        });
        (Answer::grouped(groups.collect(), String::new), covered)
    }
}

/// The bound that was stated, a public list, or powers of two.
fn bounds(text: Option<&str>, most: u64) -> Result<Vec<u64>, PlanError> {
    let Some(text) = text else {
        return Ok(std::iter::successors(Some(1u64), |bound| Some(bound * 2))
            .take_while(|&bound| bound <= LARGEST_SEARCHED)
            .collect());
    };
    let bounds: Vec<u64> = text.split(',').map(|one| whole(one, most)).collect::<Result<_, _>>()?;
    if bounds.len() > 1000 || !bounds.is_sorted_by(|one, next| one < next) {
        return Err(PlanError::line("`max_degree` is not accepted:")
            .hint("give at most 1000 in growing order, such as 4,16,64"));
    }
    Ok(bounds)
}
