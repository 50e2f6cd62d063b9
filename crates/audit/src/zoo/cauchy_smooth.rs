//! Cauchy noise at smooth sensitivity over epsilon, as the text prints it: the tail is heavy enough, the scale is not.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    ratio::Ratio,
    sampler::{
        cauchy::Cauchy,
        real::{Placement, Rounded},
    },
    stability::{Median, Range, smooth::Decay},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "cauchy-at-smooth-over-epsilon",
    about: "the median plus Cauchy noise at SS/epsilon, with beta = epsilon, promises epsilon",
    source: "002_c9075a084346ce80.txt, section 1.6: f(x) + Z·SS(x)/epsilon with the standard Cauchy distribution",
    kind: Kind::Zoo { broken },
};

/// The printed mechanism on a coarse public grid, which is post-processing.
fn measure(eps: &str, values: &[i64], size: usize) -> Measured {
    let claim = pairs::claim(eps, "0", Adjacency::Replace);
    let range = Range::new(values[0], values[values.len() - 1]).expect("in order");
    let decay = Decay::for_range(&claim.eps, range).expect("a beta in range");
    claim.over_universe(values, size, |rows| {
        let window = Median.window(rows, range, decay.reach(Median.quantile(), claim.adjacency));
        let bound = decay.median(&window, claim.adjacency);
        let placement = Placement {
            center: Ratio::from(window.target().or(0)),
            scale: bound.value() / &claim.eps,
            grid: Ratio::from(4u64),
            clamp: -100..=100,
        };
        enumerate(&pairs::floor(), |tape| tape.sample(&Rounded::new(Cauchy, placement.clone())))
    })
}

fn broken() -> Vec<Measured> {
    vec![measure("0.5", &[0, 2, 13, 30], 3), measure("1", &[0, 1, 8], 4)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_core::loss::{Moves, student_eps};

    #[test]
    fn each_printed_epsilon_is_exceeded() {
        for (eps, loss) in [("0.1", 0.138), ("0.5", 0.628), ("1", 1.143), ("2", 2.072)] {
            let eps: Ratio = eps.parse().unwrap();
            let moves = Moves { shift: eps.clone(), spread: eps };
            assert!((student_eps(&Ratio::one(), &moves).to_f64() - loss).abs() < 6e-4);
        }
        assert!(broken().iter().all(Measured::refuted));
    }
}
