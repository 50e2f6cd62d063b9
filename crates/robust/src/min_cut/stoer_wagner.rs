//! A second algorithm for the minimum cut, slow and simple, to check the others with.
//!
//! Source: M. Stoer and F. Wagner, "A simple min-cut algorithm" (1997).

use super::graph::Graph;

/// The weight of a minimum cut. Cubic in the number of vertices.
pub fn stoer_wagner(graph: &Graph) -> u64 {
    let count = graph.vertices() as usize;
    let mut weight = vec![vec![0u64; count]; count];
    for edge in graph.edges() {
        let [u, v] = edge.ends.map(|end| end as usize);
        weight[u][v] = edge.weight;
        weight[v][u] = edge.weight;
    }
    let mut vertices: Vec<usize> = (0..count).collect();
    let mut best = u64::MAX;
    while vertices.len() > 1 {
        let [before, last] = last_two(&vertices, &weight, &mut best);
        for &other in vertices.iter().filter(|&&other| other != before && other != last) {
            let more = weight[last][other];
            weight[before][other] += more;
            weight[other][before] += more;
        }
        vertices.retain(|&vertex| vertex != last);
    }
    best
}

/// The last two of a visit that always goes to the vertex with the most weight to those visited.
fn last_two(vertices: &[usize], weight: &[Vec<u64>], best: &mut u64) -> [usize; 2] {
    let mut reach = vec![0; weight.len()];
    let mut left = vertices.to_vec();
    let mut two = [0, 0];
    while !left.is_empty() {
        let next = (0..left.len()).max_by_key(|&index| reach[left[index]]).expect("not empty");
        let vertex = left.swap_remove(next);
        two = [two[1], vertex];
        for &other in &left {
            reach[other] += weight[vertex][other];
        }
    }
    *best = reach[two[1]].min(*best);
    two
}
