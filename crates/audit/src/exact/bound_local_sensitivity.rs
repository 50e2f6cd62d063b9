//! A noisy bound on local sensitivity, then noise at that bound: triangles of every small graph, and every
//! value and local bound that the guarantee speaks of.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::{
        Values,
        bound_local_sensitivity::{BoundLocalSensitivity, Calibrated, Ceiling},
    },
    ratio::Ratio,
    stability::triangles::Graph,
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "bounded-local-sensitivity",
    about: "a bound on local sensitivity that fails with probability delta is published, then the value with noise at that bound",
    source: "002_c9075a084346ce80.txt, section 1.5, framework 1; Vadhan 2017, section 7.3.4",
    kind: Kind::Claim {
        shipped: || {
            let claim = pairs::claim("3", "0.05", Adjacency::Replace);
            vec![
                measure(&claim, &mechanism("0.05", 2).calibrate().expect("valid"), &graphs())
                    .case("triangles; one edge comes or goes"),
                measure(&claim, &mechanism("0.05", 4).calibrate().expect("valid"), &everything(3))
                    .case("every value and local bound"),
                pairs_of_ones(Adjacency::AddRemove),
                pairs_of_ones(Adjacency::Replace),
            ]
        },
        change: "the bound is the noisy local sensitivity itself, without the term ln(1/(2 delta))",
        mutant: || {
            let claim = pairs::claim("3", "0.05", Adjacency::Replace);
            // A delta of one half needs no such term.
            vec![measure(&claim, &mechanism("0.5", 4).calibrate().expect("valid"), &everything(2))]
        },
    },
};

/// Epsilon 1 for the bound, 2 for the value; a floor near zero, so that a failed bound shows the value.
fn mechanism(delta: &str, most: u64) -> BoundLocalSensitivity {
    BoundLocalSensitivity {
        bound_eps: "1".parse().expect("an epsilon"),
        value_eps: "2".parse().expect("an epsilon"),
        delta: delta.parse().expect("a delta"),
        sensitivity: Ratio::one(),
        grid: Ratio::one(),
        values: Values::OnGrid,
        floor: Ratio::new(1, 20),
        ceiling: Ceiling::Global(Ratio::from(most)),
    }
}

/// A data set as the mechanism sees it: the value, and how far one change can move it.
type Seen = (u64, u64);

/// Every two graphs on four vertices that differ in one edge.
fn graphs() -> Vec<(Seen, Seen)> {
    let edges: Vec<(usize, usize)> = (0..4).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let seen = |bits: usize| {
        let chosen = edges.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
        let graph = Graph::new(4, chosen.map(|(_, &edge)| edge));
        (graph.triangles(), graph.local_sensitivity())
    };
    let more = |bits: usize| (0..6).map(move |edge| bits | 1 << edge).filter(move |&other| other != bits);
    (0..64)
        .flat_map(|bits| more(bits).map(move |other| (bits, other)))
        .map(|(a, b)| (seen(a), seen(b)))
        .collect()
}

/// Every two data sets whose values are apart by at most both local bounds, and those by at most one.
fn everything(most: u64) -> Vec<(Seen, Seen)> {
    let locals = (0..=most).flat_map(|local| [(local, local), (local, local + 1)]);
    locals.flat_map(|(a, b)| (0..=a).map(move |apart| ((0, a), (apart, b)))).collect()
}

/// How many pairs c(c + 1)/2 there are of c ones, a one with itself too: the next one makes c + 1 more, so the local sensitivity moves by
/// at most one when a record comes, goes or is replaced.
fn pairs_of_ones(adjacency: Adjacency) -> Measured {
    const ROWS: usize = 3;
    let claim = pairs::claim("3", "0.05", adjacency);
    let calibrated = mechanism("0.05", ROWS as u64 + 1).calibrate().expect("valid");
    let floor = Ratio::new(1, 1_000_000_000);
    let found = claim.over_universe(&[0, 1], ROWS, |rows| {
        let ones = rows.iter().filter(|&&row| row == 1).count() as u64;
        let can_grow = adjacency == Adjacency::AddRemove || rows.contains(&0);
        let (value, local) = (Ratio::from(ones * (ones + 1) / 2), Ratio::from(ones + u64::from(can_grow)));
        enumerate(&floor, |tape| calibrated.run(&value, &local, tape))
    });
    found.case("pairs of ones among records")
}

fn measure(claim: &Claim, calibrated: &Calibrated, pairs: &[(Seen, Seen)]) -> Measured {
    // What is lost here lies far below the distance of the worst pair from the claim.
    let floor = Ratio::new(1, 1_000_000_000);
    claim.over_inputs("all of them", pairs.iter().copied(), |data: &Seen| {
        let (value, local) = (Ratio::from(data.0), Ratio::from(data.1));
        enumerate(&floor, |tape| calibrated.run(&value, &local, tape))
    })
}
