//! The private interquartile range: one gate over all positions of the bins, and the two tests of the text.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim},
};
use equipoise_core::{
    adjacency::Adjacency,
    loss::Loss,
    mechanism::scale::{Scale, Spread, TwoTests},
    outcome::Outcome,
    ratio::Ratio,
    stability::{Range, Sorted},
    tape::{Tape, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "scale",
    about: "the interquartile range is released up to noise on a logarithmic scale, if few rows leave it in a bin",
    source: "000_4d769f04a6a550e8.txt, Algorithm 12 and Theorem 7.1, with one gate and with the threshold corrected",
    kind: Kind::Claim {
        shipped: || {
            let shipped = |adjacency| [one_gate("2", adjacency), two_tests(adjacency)];
            Adjacency::ALL.into_iter().flat_map(shipped).collect()
        },
        change: "noise of a scale for neighbouring cells is added where a bin has four",
        mutant: || vec![one_gate("6", Adjacency::Replace)],
    },
};

/// Interquartile ranges of 0, 1, 3 and 4; the last three share a bin from one to five.
const VALUES: [i64; 3] = [0, 1, 4];

fn measure(claim: &Claim, run: impl Fn(&Sorted, &mut Tape) -> Outcome<Spread>) -> Measured {
    let size = if claim.adjacency == Adjacency::Replace { 9 } else { 7 };
    claim.over_universe(&VALUES, size, |rows| {
        let rows = Sorted::new(rows, Range::new(0, 4).expect("in order"));
        enumerate(&pairs::floor(), |tape| run(&rows, tape))
    })
}

/// Epsilon 1 for the gate and 2 for the noise, which is what the claim says; `noise_eps` is what is used.
fn one_gate(noise_eps: &str, adjacency: Adjacency) -> Measured {
    let scale = Scale {
        gate_eps: "1".parse().expect("an epsilon"),
        noise_eps: noise_eps.parse().expect("an epsilon"),
        delta: "0.01".parse().expect("a delta"),
        base: Ratio::from(5u64),
        shifts: 2,
        parts: 4,
        adjacency,
    };
    let scale = scale.calibrate().expect("valid parameters");
    measure(&pairs::claim("3", "0.01", adjacency), |rows, tape| scale.run(rows, tape))
}

fn two_tests(adjacency: Adjacency) -> Measured {
    let two_tests = TwoTests {
        eps: "1".parse().expect("an epsilon"),
        delta: "0.1".parse().expect("a delta"),
        base: Ratio::from(5u64),
        parts: 4,
        adjacency,
    };
    let two_tests = two_tests.calibrate().expect("valid parameters");
    let Loss::Approx(cost) = two_tests.cost() else { unreachable!("a cost in (epsilon, delta)") };
    let claim = Claim::promised(&cost, adjacency);
    measure(&claim, |rows, tape| two_tests.run(rows, tape))
}
