//! A released smooth bound, and a median with Laplace noise at it.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::released_scale::ReleasedScale,
    ratio::Ratio,
    stability::{Median, Profile, Range, Reach, smooth::Bound, smooth::Decay},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "released-scale",
    about: "a noisy smooth bound, too small with probability delta, and then Laplace noise at it keep (scale + value epsilons, delta)",
    source: "002_c9075a084346ce80.txt, sections 1.5 and 1.6; Vadhan 2017, 7.3.4",
    kind: Kind::Claim {
        shipped: || measure(smooth),
        change: "the logarithm of the local sensitivity, which jumps between neighbours, is released in place of the bound's",
        mutant: || measure(local),
    },
};

fn range() -> Range {
    Range::new(0, 4).expect("in order")
}

type MakeBound = fn(&Decay, &[i64], Adjacency) -> Bound;

fn measure(bound: MakeBound) -> Vec<Measured> {
    let number = "a number in range";
    let mechanism = ReleasedScale {
        eps_scale: "0.5".parse().expect(number),
        eps_value: "1".parse().expect(number),
        delta: "0.01".parse().expect(number),
        beta: "1.2".parse().expect(number),
        range: Some(range()),
        grid: Ratio::one(),
    };
    let calibrated = mechanism.calibrate().expect("valid parameters");
    let one = |(adjacency, size)| {
        let claim = pairs::claim("1.5", "0.01", adjacency);
        claim.over_universe(&[0, 1, 4], size, |rows| {
            let window = Median.window(rows, range(), Reach::All);
            let value = Ratio::from(window.target().or(0));
            let bound = bound(calibrated.decay(), rows, adjacency);
            enumerate(&pairs::coarse_floor(), |tape| calibrated.run(&value, &bound, tape))
        })
    };
    [(Adjacency::Replace, 3), (Adjacency::AddRemove, 2)].map(one).into()
}

fn smooth(decay: &Decay, rows: &[i64], adjacency: Adjacency) -> Bound {
    decay.median(&Median.window(rows, range(), decay.reach(Median.quantile(), adjacency)), adjacency)
}

fn local(decay: &Decay, rows: &[i64], adjacency: Adjacency) -> Bound {
    let window = Median.window(rows, range(), Reach::All);
    let moved = Median.local_sensitivity_at_distance(&window, 0, adjacency).expect("a whole window");
    // A sensitivity of zero has no logarithm: a sixteenth stands for it.
    let moved = Ratio::from(moved).max(Ratio::new(1, 16));
    decay.profile(&Profile { at_distance: vec![moved; 20], beyond: Ratio::from(4u64) })
}
