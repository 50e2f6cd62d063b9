//! Threshold questions for ever: exact transcripts of adversaries that react to answers, one record more or less.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    monitor::threshold_monitor::{Answer, Calibrated, Contributions, Noise, ThresholdMonitor},
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "threshold-monitor",
    about: "answers for ever keep (epsilon, delta), as records drop out once their budget is spent",
    source: "003_82bbcee9e9852ea0.txt, ThresholdMonitor, with the exact curve of the k-th arrival",
    kind: Kind::Claim {
        shipped: || [measure(7, None), parts_and_signs()].concat(),
        change: "records are never deleted while the adversary asks",
        mutant: || measure(9, Some(9)),
    },
};

const NOISES: [Noise; 4] =
    [Noise::Gumbel, Noise::Saturated { strength: 2 }, Noise::Laplace, Noise::TwoLaplace { factor: 3 }];

/// The next question, by the answers so far: which values say yes, and the threshold.
fn question(answers: &[Answer]) -> ([i64; 2], u64) {
    match answers.last() {
        None | Some(Answer::Below) => ([1, 2], 2 + answers.len() as u64 % 2),
        Some(_) => ([1, 1], 1),
    }
}

fn transcript(watched: &Calibrated, rows: &[i64], rounds: usize) -> Pmf<Vec<Answer>> {
    enumerate(&pairs::floor(), |tape| {
        let mut watch = watched.start(rows.len());
        let mut answers = Vec::new();
        for _ in 0..rounds {
            let (values, threshold) = question(&answers);
            let bit = |bits, (place, row)| bits | u64::from(values.contains(row)) << place;
            let yes = rows.iter().enumerate().fold(0, bit);
            answers.push(watch.ask(&[yes], &Ratio::from(threshold), tape));
        }
        answers
    })
}

/// Every two sets of up to `ROWS` records of which one has a record more, against the exact curve of a budget of one; the mutant
/// lets records contribute more often.
fn measure(rounds: usize, budget: Option<u64>) -> Vec<Measured> {
    let scale = Ratio::from(2u64);
    let of = |noise| {
        let shape = shape(noise, Contributions::Binary, Adjacency::AddRemove);
        let mut claim = pairs::claim("0.5", "0", Adjacency::AddRemove);
        claim.delta = shape.delta_upper(&scale, &claim.eps).expect("an exact curve");
        let shape = ThresholdMonitor { budget: budget.unwrap_or(1), ..shape };
        let watched = shape.at_scale(&scale).expect("a scale in range");
        let found = claim.over_universe(&[0, 1, 2], ROWS, |rows| transcript(&watched, rows, rounds));
        found.case(format!("{noise:?} noise, yes or no, exact curve"))
    };
    NOISES.into_iter().map(of).collect()
}

const ROWS: usize = 3;

/// Parts of one and both signs, one record more, less or replaced, against the Renyi claim at epsilon one.
fn parts_and_signs() -> Vec<Measured> {
    let cases = [
        (Contributions::Binary, Adjacency::Replace, &[0, 1][..]),
        (Contributions::Fractional { bits: 1 }, Adjacency::AddRemove, &[0, 1, 2]),
        (Contributions::Fractional { bits: 1 }, Adjacency::Replace, &[0, 1, 2]),
        (Contributions::Signed { bits: 1 }, Adjacency::AddRemove, &[-2, 0, 1]),
        (Contributions::Signed { bits: 1 }, Adjacency::Replace, &[-2, 1, 2]),
    ];
    let of = |(contributions, adjacency, units): (Contributions, Adjacency, &[i64])| {
        let watched = shape(Noise::Gumbel, contributions, adjacency).calibrate().expect("in range");
        let claim = pairs::claim("1", "0.01", adjacency);
        let found = claim.over_universe(units, 2, |rows| {
            enumerate(&pairs::floor(), |tape| {
                let mut watch = watched.start(rows.len());
                let mut answers = Vec::new();
                for _ in 0..5 {
                    let (_, threshold) = question(&answers);
                    answers.push(watch.ask_units(rows, &Ratio::from(threshold), tape));
                }
                answers
            })
        });
        found.case(format!("{contributions:?}, Renyi bound"))
    };
    cases.map(of).to_vec()
}

fn shape(noise: Noise, contributions: Contributions, adjacency: Adjacency) -> ThresholdMonitor {
    let parsed = "a parameter in range";
    let (eps, delta) = ("1".parse().expect(parsed), "0.01".parse().expect(parsed));
    ThresholdMonitor { eps, delta, budget: 1, contributions, noise, adjacency }
}
