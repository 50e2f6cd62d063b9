//! Spanning forests, each of what those before it left over, while edges come and go.
//!
//! Together `k` forests are a certificate: a cut of the graph has the same edges in them, or at least k of them.
//!
//! An edge that goes from a forest is replaced by one of the next forest, whose place is filled from the one
//! after, and so on: if any edge left over joins the two parts, then so does one of the next forest, because that
//! spans what is left over. The smaller part is searched. That may be half of the vertices; structures with a
//! logarithmic bound exist and are slower on graphs of the size where this one is used.

use std::collections::HashMap;

/// An edge of its own, also between vertices that have others: its ends in order, and a number.
pub(super) type Unit = (u32, u32, u64);

/// One forest, or what is left over by all.
#[derive(Clone, Debug, Default)]
struct Part {
    /// For each vertex, its neighbours.
    near: Vec<Vec<(u32, u64)>>,
    /// For each vertex, the name of its tree. Not kept for what is left over.
    tree: Vec<u32>,
    next_name: u32,
}

/// Where an edge is that no forest has.
const LEFT_OVER: u32 = u32::MAX;

/// Forests, and the edges left over.
#[derive(Clone, Debug)]
pub(super) struct Forests {
    vertices: u32,
    /// How many there may be.
    most: usize,
    /// Those that have an edge, or had one.
    parts: Vec<Part>,
    left_over: Part,
    place: HashMap<Unit, u32>,
    /// Counts changes of the forests, so that who computed something from them knows.
    version: u64,
}

impl Forests {
    pub(super) fn new(vertices: u32, forests: u32) -> Self {
        let (most, left_over) = (forests as usize, Part::default());
        Self { vertices, most, parts: Vec::new(), left_over, place: HashMap::new(), version: 0 }
    }

    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Bytes of memory of so many edges, about.
    pub(super) fn space_of(edges: usize) -> usize {
        96 * edges
    }

    /// The edges of all forests.
    pub(super) fn certificate(&self) -> impl Iterator<Item = [u32; 2]> {
        self.parts.iter().flat_map(|part| {
            let near = part.near.iter().zip(0u32..);
            near.flat_map(|(list, u)| list.iter().filter(move |(v, _)| u < *v).map(move |&(v, _)| [u, v]))
        })
    }

    pub(super) fn insert(&mut self, unit: Unit) {
        let joins = |part: &Part| part.tree[unit.0 as usize] != part.tree[unit.1 as usize];
        let mut place = self.parts.iter().position(joins);
        if place.is_none() && self.parts.len() < self.most {
            self.parts.push(Part::new(self.vertices));
            place = Some(self.parts.len() - 1);
        }
        let Some(place) = place else {
            self.left_over.near.resize(self.vertices as usize, Vec::new());
            self.left_over.add(unit);
            self.place.insert(unit, LEFT_OVER);
            return;
        };
        self.version += 1;
        self.parts[place].join(unit);
        self.parts[place].add(unit);
        self.place.insert(unit, u32::try_from(place).expect("as many as were asked for"));
    }

    pub(super) fn delete(&mut self, unit: Unit) {
        let place = self.place.remove(&unit).expect("the edge is there");
        if place == LEFT_OVER {
            self.left_over.remove(unit);
            return;
        }
        self.parts[place as usize].remove(unit);
        self.version += 1;
        let mut gone = unit;
        for at in place as usize..self.parts.len() {
            let small = self.parts[at].part_off(gone);
            let next = self.parts.get(at + 1).unwrap_or(&self.left_over);
            let Some(found) = next.joining(&small, &self.parts[at].tree) else {
                self.parts[at].name_anew(&small);
                return;
            };
            self.parts[at].name_as_the_other_end(&small, found);
            self.parts[at].add(found);
            self.parts.get_mut(at + 1).unwrap_or(&mut self.left_over).remove(found);
            self.place.insert(found, u32::try_from(at).expect("as many as were asked for"));
            gone = found;
        }
    }
}

impl Part {
    fn new(vertices: u32) -> Self {
        let near = vec![Vec::new(); vertices as usize];
        Self { near, tree: (0..vertices).collect(), next_name: vertices }
    }

    fn add(&mut self, (u, v, number): Unit) {
        self.near[u as usize].push((v, number));
        self.near[v as usize].push((u, number));
    }

    fn remove(&mut self, (u, v, number): Unit) {
        for (from, to) in [(u, v), (v, u)] {
            let list = &mut self.near[from as usize];
            let at = list.iter().position(|&half| half == (to, number)).expect("the edge is there");
            list.swap_remove(at);
        }
    }

    /// Give the smaller of two trees the name of the other, before they are joined.
    fn join(&mut self, (u, v, _): Unit) {
        let small = self.smaller(u, v);
        let other = if self.tree[small[0] as usize] == self.tree[u as usize] { v } else { u };
        self.name(&small, self.tree[other as usize]);
    }

    /// The vertices of the smaller part, after an edge of a tree went. Marked by a name that no tree has.
    fn part_off(&mut self, (u, v, _): Unit) -> Vec<u32> {
        let small = self.smaller(u, v);
        self.name(&small, u32::MAX);
        small
    }

    fn name(&mut self, vertices: &[u32], name: u32) {
        for &vertex in vertices {
            self.tree[vertex as usize] = name;
        }
    }

    fn name_anew(&mut self, vertices: &[u32]) {
        self.name(vertices, self.next_name);
        self.next_name += 1;
        assert!(self.next_name < u32::MAX, "fewer than 2^32 trees were ever parted");
    }

    /// The marked vertices are joined by this edge to a tree with a name.
    fn name_as_the_other_end(&mut self, vertices: &[u32], (u, v, _): Unit) {
        let names = [u, v].map(|end| self.tree[end as usize]);
        self.name(vertices, names[0].min(names[1]));
    }

    /// An edge of this part between the marked vertices of the forest before and the tree they were parted from.
    fn joining(&self, small: &[u32], marked: &[u32]) -> Option<Unit> {
        small.iter().find_map(|&u| {
            // What is left over has no lists until something is.
            let list = self.near.get(u as usize).into_iter().flatten();
            let out = list.copied().find(|&(v, _)| marked[v as usize] != u32::MAX);
            out.map(|(v, number)| (u.min(v), u.max(v), number))
        })
    }

    /// The vertices of the smaller of the trees of two vertices, both searched at once.
    fn smaller(&self, u: u32, v: u32) -> Vec<u32> {
        let mut sides = [vec![(u, u32::MAX)], vec![(v, u32::MAX)]];
        let mut done = [0, 0];
        loop {
            for side in 0..2 {
                let Some(&(vertex, before)) = sides[side].get(done[side]) else {
                    return sides[side].iter().map(|&(vertex, _)| vertex).collect();
                };
                done[side] += 1;
                for &(to, _) in &self.near[vertex as usize] {
                    if to != before {
                        sides[side].push((to, vertex));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TestWords;
    use equipoise_core::{coins::Coins, sampler::uniform::below};

    /// How many edges leave a set of vertices.
    fn leaving(edges: impl Iterator<Item = [u32; 2]>, set: u32) -> u32 {
        edges.map(|[u, v]| (set >> u ^ set >> v) & 1).sum()
    }

    #[test]
    fn every_cut_keeps_its_edges_or_as_many_as_there_are_forests() {
        let mut coins = TestWords(4);
        for forests in [1, 2, 4] {
            let mut kept = Forests::new(8, forests);
            let mut there: Vec<Unit> = Vec::new();
            for step in 0..400 {
                if there.len() > 30 || (!there.is_empty() && coins.bits(1) == 0) {
                    let at = usize::try_from(below(there.len() as u64, &mut coins)).unwrap();
                    kept.delete(there.swap_remove(at));
                } else {
                    let [a, b] = [8, 7].map(|n| u32::try_from(below(n, &mut coins)).unwrap());
                    let b = if b < a { b } else { b + 1 };
                    let unit = (a.min(b), a.max(b), step);
                    there.push(unit);
                    kept.insert(unit);
                }
                assert_eq!(kept.place.len(), there.len());
                for set in 1..1 << 7 {
                    let all = leaving(there.iter().map(|&(u, v, _)| [u, v]), set);
                    assert!(leaving(kept.certificate(), set) >= all.min(forests), "step {step}");
                }
                assert!(kept.certificate().count() <= 7 * forests as usize);
            }
        }
    }
}
