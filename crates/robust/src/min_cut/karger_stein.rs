//! A third algorithm for the minimum cut, randomised, to check the others with.
//!
//! Source: D. Karger and C. Stein, "A new approach to the minimum cut problem" (1996).

use super::graph::Graph;
use equipoise_core::{coins::Coins, sampler::uniform::below};

/// The least cut that so many runs find: a cut of the graph, and a minimum one with a chance of at least about one in
/// log n for each run.
pub fn karger_stein<C: Coins>(graph: &Graph, runs: usize, coins: &mut C) -> u64 {
    let count = graph.vertices() as usize;
    let mut weight = vec![vec![0u64; count]; count];
    for edge in graph.edges() {
        let [u, v] = edge.ends.map(|end| end as usize);
        weight[u][v] = edge.weight;
        weight[v][u] = edge.weight;
    }
    (0..runs).map(|_| least(&weight, coins)).min().unwrap_or(u64::MAX)
}

/// Merge to about n/sqrt 2 vertices, twice, and take the better of the two.
fn least<C: Coins>(weight: &[Vec<u64>], coins: &mut C) -> u64 {
    let count = weight.len();
    if count == 2 {
        return weight[0][1];
    }
    let fewer = if count <= 6 { 2 } else { (count * 100).div_ceil(141) + 1 };
    let repeats = if count <= 6 { 6 } else { 2 };
    (0..repeats).map(|_| least(&merged(weight.to_vec(), fewer, coins), coins)).min().expect("repeated")
}

/// Merge the ends of edges, chosen by weight, until so many vertices are left.
fn merged<C: Coins>(mut weight: Vec<Vec<u64>>, fewer: usize, coins: &mut C) -> Vec<Vec<u64>> {
    while weight.len() > fewer {
        let total: u64 = weight.iter().flatten().sum();
        // Without edges any two will do: the cut is zero.
        let (u, v) = if total == 0 { (0, 1) } else { pick(&weight, below(total, coins)) };
        let (keep, gone) = (u.min(v), u.max(v));
        let row = weight.swap_remove(gone);
        let last = weight.len();
        for line in &mut weight {
            line.swap_remove(gone);
        }
        for (other, &more) in row.iter().enumerate() {
            // The last vertex now stands in the place of the one that is gone.
            let place = if other == last { gone } else { other };
            if other != gone && place != keep {
                weight[keep][place] += more;
                weight[place][keep] += more;
            }
        }
    }
    weight
}

/// The edge at this place of all weights in a row.
fn pick(weight: &[Vec<u64>], mut place: u64) -> (usize, usize) {
    for (u, line) in weight.iter().enumerate() {
        for (v, &more) in line.iter().enumerate() {
            if place < more {
                return (u, v);
            }
            place -= more;
        }
    }
    unreachable!("the place is below the sum")
}
