//! The reusable holdout: its answers are a threshold stream and noisy means, each at its share of epsilon.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    monitor::holdout::{Answer, Holdout},
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "holdout",
    about: "answers that come from the holdout only where training rows mislead keep epsilon, under replace",
    source: "Dwork, Feldman, Hardt, Pitassi, Reingold, Roth 2015, Thresholdout",
    kind: Kind::Claim {
        shipped: || vec![measure(1)],
        change: "one row counts for an eighth of its weight",
        mutant: || vec![measure(8)],
    },
};

/// Three records, of which each of two questions may hold or not; the second is asked after the first answer. The mutant
/// is calibrated for `lighter` times as many records, so that each counts for that part of its weight.
fn measure(lighter: u64) -> Measured {
    let parsed = "a parameter in range";
    let decimal = |text: &str| -> Ratio { text.parse().expect(parsed) };
    let shape = Holdout {
        rows: ROWS * lighter,
        questions: 2,
        corrections: 1,
        tolerance: decimal("0.9"),
        threshold: decimal("0.25"),
        beta: decimal("0.5"),
        eps: "6".parse().expect(parsed),
    };
    let calibrated = shape.calibrate().expect("enough rows");
    let run = |ones: &[u64; 2]| -> Pmf<Vec<Answer>> {
        let mean = ones.map(|ones| Ratio::from(ones) / Ratio::from(ROWS));
        enumerate(&decimal("1e-13"), |tape| {
            let mut asking = calibrated.start(tape);
            let first = asking.ask(&Ratio::zero(), &mean[0], tape);
            let training = if matches!(first, Answer::Training(_)) { Ratio::zero() } else { Ratio::one() };
            vec![first, asking.ask(&training, &mean[1], tape)]
        })
    };
    let all: Vec<[u64; 2]> = (0..=ROWS).flat_map(|a| (0..=ROWS).map(move |b| [a, b])).collect();
    let near = |a: &[u64; 2], b: &[u64; 2]| a < b && a.iter().zip(b).all(|(a, b)| a.abs_diff(*b) <= 1);
    let pairs = all.iter().flat_map(|a| all.iter().filter(|b| near(a, b)).map(|b| (*a, *b)));
    let claim = pairs::claim("6", "0", Adjacency::Replace);
    claim.over_inputs("all holdouts of 3 records and 2 questions", pairs, run)
}

const ROWS: u64 = 3;
