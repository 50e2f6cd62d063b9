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

/// Two questions, the second after the first answer; neighbours differ by `weight` rows of the mean.
fn measure(weight: u64) -> Measured {
    let parsed = "a parameter in range";
    let decimal = |text: &str| -> Ratio { text.parse().expect(parsed) };
    let shape = Holdout {
        rows: 16,
        questions: 2,
        corrections: 1,
        tolerance: decimal("0.5"),
        threshold: decimal("0.25"),
        beta: decimal("0.5"),
        eps: "6".parse().expect(parsed),
    };
    let calibrated = shape.calibrate().expect("enough rows");
    let run = |ones: u64| -> Pmf<Vec<Answer>> {
        let mean = Ratio::from(ones) / Ratio::from(shape.rows);
        enumerate(&decimal("1e-13"), |tape| {
            let mut asking = calibrated.start(tape);
            let first = asking.ask(&Ratio::zero(), &mean, tape);
            let training = if matches!(first, Answer::Training(_)) { Ratio::zero() } else { Ratio::one() };
            vec![first, asking.ask(&training, &mean, tape)]
        })
    };
    let claim = pairs::claim("6", "0", Adjacency::Replace);
    claim.over([(run(3), run(3 + weight))])
}
