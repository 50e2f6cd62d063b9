//! An approximate minimum cut from samples of the edges: right for updates that do not depend on its coins.
//!
//! Source: 003_82bbcee9e9852ea0.txt, the application of Algorithm B; D. Karger, "Random sampling in cut, flow, and
//! network design problems" (1999).
//!
//! # Guarantee
//!
//! For one fixed sequence of updates and one moment of it, the answer lies in `(1 ± alpha)·cut`, except with
//! probability `e^-`[`Shape::ln_inverse_failure`]. Not more: whoever deletes what was sampled breaks it, see
//! [`attack`](super::attack). Under [`copies`](crate::copies) it holds against everybody.
//!
//! # Why
//!
//! A unit of weight is in level i with chance 2^-i, in all levels below too. The answer is `2^i·m`, where i is the
//! first level whose sample has a minimum cut m below `keep`.
//!
//! 1. Let p be the chance of a level, c the cut and `theta = keep/(2(1 + alpha))`. By Chernoff's bound a cut C is off
//!    by more than alpha with chance at most `2·e^(-alpha²·p·C/3)`. There are at most n^(2a) cuts of at most a·c.
//! 2. If `p·c >= theta = 3(d + 2)·ln n/alpha²`, summing 1 over all cuts gives at most `n^-d·(2 + 4/d)`, so at most
//!    `6·n^-d` for d at least one. Over all levels with `p·c >= theta`, at most `6·levels·n^-d`.
//! 3. Otherwise all those levels are right. The last of them has `p·c < 2·theta`, so m is below `keep` there: the
//!    answer comes from it or from one before. If there is none, the cut is below theta, and level zero, which has
//!    all edges, answers exactly.
//! 4. In each level the forests keep all cuts up to `keep`, so m is exact.
//!
//! The hash of a unit stands for its coins; see [`hash`](crate::hash) for what that assumes.

use super::{
    fixed::{self, Rows},
    forests::{Forests, Unit},
    graph::{Change, EdgeWeight, Graph, Misfit},
};
use crate::state::{Damaged, Reader, Stored, Writer, stored_whole};
use crate::{Oblivious, Shape, hash::Key};
use equipoise_core::{coins::Coins, interval::ln_upper, loss::ParameterError, ratio::Ratio};
use std::collections::HashMap;

/// The sizes of the structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    vertices: u32,
    alpha: Ratio,
    keep: u32,
}

/// The most units of a change; a graph may have 16 times as many.
const MOST_UNITS: u64 = 1 << 20;

/// How many samples there are, each of half of the one before: enough for cuts up to 2^40.
const LEVELS: usize = 40;

impl Levels {
    /// The sizes for which the answer is off with chance at most `e^-ln_inverse_failure`.
    pub fn proved(vertices: u32, alpha: &Ratio, ln_inverse_failure: &Ratio) -> Result<Self, ParameterError> {
        Self::new(vertices, alpha, 2)?;
        let exponent = ln_inverse_failure + &ln_six_levels_upper();
        let ln_n = ln_upper(&Ratio::from(u64::from(vertices)));
        let exponent = exponent.max(ln_n.clone()) + Ratio::from(2u64) * ln_n;
        let theta = Ratio::from(3u64) * exponent / alpha.squared();
        let keep = Ratio::from(2u64) * (Ratio::one() + alpha) * theta;
        let keep = keep.ceil_i64().and_then(|keep| u32::try_from(keep).ok());
        let too_fine =
            || ParameterError::out_of_range("alpha", alpha, "so small an error needs too many forests");
        Self::new(vertices, alpha, keep.ok_or_else(too_fine)?)
    }

    /// Sizes of one's own: how many forests each level keeps.
    pub fn new(vertices: u32, alpha: &Ratio, keep: u32) -> Result<Self, ParameterError> {
        if !alpha.is_positive() || *alpha > Ratio::one() {
            return Err(ParameterError::out_of_range(
                "alpha",
                alpha,
                "give a number above 0 and at most 1, such as 0.5",
            ));
        }
        if vertices < 2 {
            return Err(ParameterError::out_of_range("vertices", vertices, "a cut needs at least 2"));
        }
        if !(2..=1 << 20).contains(&keep) {
            return Err(ParameterError::out_of_range("keep", keep, "give from 2 to 2^20 forests"));
        }
        Ok(Self { vertices, alpha: alpha.clone(), keep })
    }

    /// Can samples follow this graph unit by unit?
    pub fn can_follow(graph: &Graph) -> bool {
        graph.total_weight() <= 16 * MOST_UNITS
    }

    /// How many forests each level keeps.
    pub fn keep(&self) -> u32 {
        self.keep
    }
}

fn ln_six_levels_upper() -> Ratio {
    ln_upper(&Ratio::from(6 * LEVELS as u64))
}

impl Shape for Levels {
    fn ln_inverse_failure(&self) -> Ratio {
        let theta = Ratio::from(u64::from(self.keep)) / (Ratio::from(2u64) * (Ratio::one() + &self.alpha));
        let ln_n = ln_upper(&Ratio::from(u64::from(self.vertices)));
        let d_ln_n = self.alpha.squared() * theta / Ratio::from(3u64) - Ratio::from(2u64) * &ln_n;
        if d_ln_n < ln_n { Ratio::zero() } else { (d_ln_n - ln_six_levels_upper()).max(Ratio::zero()) }
    }

    fn alpha(&self) -> Ratio {
        self.alpha.clone()
    }

    fn space(&self) -> usize {
        28 * LEVELS * self.vertices as usize
    }
}

/// Sampled levels with their forests.
#[derive(Clone, Debug)]
pub struct Sampled {
    shape: Levels,
    key: Key,
    levels: Vec<Forests>,
    /// For each level, the minimum cut of its sample if below `keep`, as of a version of the forests.
    known: Vec<Option<(u64, Option<u64>)>>,
    /// The weight between two vertices, which numbers their units.
    weight: HashMap<[u32; 2], u64>,
}

impl Sampled {
    fn empty(shape: &Levels, key: Key) -> Self {
        Self {
            shape: shape.clone(),
            key,
            levels: vec![Forests::new(shape.vertices, shape.keep); LEVELS],
            known: vec![None; LEVELS],
            weight: HashMap::new(),
        }
    }

    /// In how many levels above zero is this unit?
    fn height(&self, (u, v, number): Unit) -> usize {
        let hash = self.key.hash_pair([u64::from(u) << 32 | u64::from(v), number]);
        (hash.leading_zeros() as usize).min(self.levels.len() - 1)
    }

    fn minimum(&mut self, level: usize) -> Option<u64> {
        let version = self.levels[level].version();
        if let Some((at, answer)) = self.known[level]
            && at == version
        {
            return answer;
        }
        let mut graph = Graph::new(self.shape.vertices).expect("at least two vertices");
        for ends in self.levels[level].certificate() {
            graph.grow(ends, 1);
        }
        let answer = fixed::below(Rows::of(&graph), u64::from(self.shape.keep)).map(|cut| cut.value);
        self.known[level] = Some((version, answer));
        answer
    }
}

/// The key and the graph; the samples follow from them.
impl Stored for Sampled {
    fn write(&self, out: &mut Writer) {
        self.shape.write(out);
        self.key.write(out);
        let mut edges: Vec<_> = self.weight.iter().collect();
        edges.sort_unstable();
        out.word(edges.len() as u64);
        out.words(edges.into_iter().flat_map(|(&[u, v], &weight)| [u64::from(u), u64::from(v), weight]));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let shape = Levels::read(from)?;
        let mut sampled = Self::empty(&shape, Key::read(from)?);
        for _ in 0..from.count()? {
            let ends = [from.word()?, from.word()?].map(|end| u32::try_from(end).unwrap_or(u32::MAX));
            let weight = from.word()?;
            if ends[0] >= ends[1] || ends[1] >= shape.vertices || weight == 0 || weight > 1 << 30 {
                return Err(Damaged::Content("its graph has an edge that cannot be"));
            }
            sampled.update(&Change::Insert(EdgeWeight { ends, weight }));
        }
        Ok(sampled)
    }
}

stored_whole!(Sampled, b"sampled\0");

impl Stored for Levels {
    fn write(&self, out: &mut Writer) {
        out.words([u64::from(self.vertices), u64::from(self.keep)]);
        self.alpha.write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let [vertices, keep] = [from.word()?, from.word()?].map(|size| u32::try_from(size).unwrap_or(0));
        let levels = Self::new(vertices, &Ratio::read(from)?, keep);
        levels.map_err(|_| Damaged::Content("its levels are out of range"))
    }
}

impl Oblivious for Sampled {
    type Shape = Levels;
    type Input = Graph;
    type Update = Change;
    type Question = ();
    type Refused = Misfit;

    /// Weights are followed unit by unit, so too many of them are refused.
    fn apply(input: &mut Graph, update: &Change) -> Result<(), Misfit> {
        let (Change::Insert(edge) | Change::Delete(edge)) = update;
        let all =
            matches!(update, Change::Insert(_)).then(|| input.total_weight().saturating_add(edge.weight));
        if edge.weight > MOST_UNITS || all.is_some_and(|all| all > 16 * MOST_UNITS) {
            return Err(Misfit::TooManyUnits { most: MOST_UNITS });
        }
        input.change(*update)
    }

    fn init<C: Coins>(shape: &Levels, input: &Graph, coins: &mut C) -> Self {
        let mut sampled = Self::empty(shape, Key::draw(coins));
        for edge in input.edges() {
            sampled.update(&Change::Insert(edge));
        }
        sampled
    }

    fn update(&mut self, update: &Change) {
        let (Change::Insert(EdgeWeight { ends: [u, v], weight })
        | Change::Delete(EdgeWeight { ends: [u, v], weight })) = *update;
        let (u, v) = (u.min(v), u.max(v));
        let inserts = matches!(update, Change::Insert(_));
        let there = self.weight.entry([u, v]).or_default();
        let before = *there;
        *there = if inserts { before + weight } else { before - weight };
        let numbers = if inserts { before..before + weight } else { before - weight..before };
        for number in numbers {
            let unit = (u, v, number);
            for level in 0..=self.height(unit) {
                if inserts {
                    self.levels[level].insert(unit);
                } else {
                    self.levels[level].delete(unit);
                }
            }
        }
    }

    fn query(&mut self, (): &()) -> i128 {
        for level in 0..self.levels.len() {
            if let Some(minimum) = self.minimum(level) {
                return i128::from(minimum) << level;
            }
        }
        // Even the sparsest sample is full of edges, which the sizes make all but impossible.
        i128::from(self.shape.keep) << self.levels.len()
    }

    fn space(&self) -> usize {
        self.levels.iter().map(Forests::space).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::kinds::{Kind, Mixed};
    use super::*;
    use crate::TestWords;

    #[test]
    fn exact_below_what_is_kept_and_near_above() {
        let mut coins = TestWords(8);
        let alpha: Ratio = "1".parse().unwrap();
        let shape = Levels::new(20, &alpha, 24).unwrap();
        for edges in [60, 2000] {
            let mut graph = Kind::Random.graph(20, edges, 1, &mut coins);
            let mut sampled = Sampled::init(&shape, &graph, &mut coins);
            let mut changes = Mixed::new(&graph, 1);
            let mut far = 0;
            for _ in 0..100 {
                let change = changes.next(&graph, &mut coins);
                graph.change(change).unwrap();
                sampled.update(&change);
                let (truth, answer) = (i128::from(fixed::min_cut(&graph).value), sampled.query(&()));
                if truth < 24 {
                    assert_eq!(answer, truth);
                }
                far += usize::from(answer * 2 < truth || answer > 2 * truth);
            }
            assert_eq!(far, 0);
        }
    }

    #[test]
    fn sizes_and_what_they_prove() {
        let alpha: Ratio = "0.5".parse().unwrap();
        // 3·(64 + ln 240 + 2·ln 1000)/0.25 = 999.6 is theta; kept is 2·1.5 times that.
        let shape = Levels::proved(1000, &alpha, &Ratio::from(64u64)).unwrap();
        assert_eq!(shape.keep(), 2999);
        let known = shape.ln_inverse_failure().to_f64();
        assert!((64.0..64.1).contains(&known), "{known}");
        assert!(Levels::new(1000, &alpha, 24).unwrap().ln_inverse_failure().is_zero());
        for (vertices, alpha, keep) in [(1, "0.5", 9), (9, "0", 9), (9, "0.5", 1)] {
            assert!(Levels::new(vertices, &alpha.parse().unwrap(), keep).is_err());
        }
    }
}
