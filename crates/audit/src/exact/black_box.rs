//! Any function, by its values on subsets without a few rows: the mean, the parity, the median, and whether there
//! are few rows.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::{
        black_box::{BlackBox, Calibrated, Rows},
        shifted_inverse::Answers,
    },
    ratio::Ratio,
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "black-box",
    about: "any function is answered by its largest value without a few rows, which grows with the rows",
    source: "Fang, Dong, Yi 2022; Linder, Raskhodnikova, Smith, Steinke 2025",
    kind: Kind::Claim {
        shipped: || FUNCTIONS.iter().flat_map(|&function| [private(function), public(function)]).collect(),
        change: "a private number of rows is taken for a public one",
        mutant: || vec![taken_for_public(few)],
    },
};

type Function = fn(&[&i64]) -> Ratio;
const FUNCTIONS: [Function; 4] = [mean, parity, median, few];

fn mean(rows: &[&i64]) -> Ratio {
    Ratio::new(rows.iter().copied().sum(), rows.len() as u64)
}

fn parity(rows: &[&i64]) -> Ratio {
    Ratio::from(rows.iter().copied().sum::<i64>().rem_euclid(2))
}

fn median(rows: &[&i64]) -> Ratio {
    Ratio::from(*rows[rows.len().div_ceil(2) - 1])
}

fn few(rows: &[&i64]) -> Ratio {
    Ratio::from(u64::from(rows.len() <= 2))
}

/// Answers 0, 1/2 and 1, with a beta that leads to a shift of two.
fn mechanism(rows: Rows) -> Calibrated {
    let mechanism = BlackBox {
        eps: "1".parse().expect("an epsilon"),
        rows,
        answers: Answers::Even { first: Ratio::zero(), step: Ratio::new(1, 2), count: 3 },
        beta: "0.4".parse().expect("a decimal"),
        // Sizes above two are refused, and from six rows on a size of one confines what is looked at.
        evaluations: 250,
    };
    mechanism.calibrate().expect("valid parameters")
}

fn private(function: Function) -> Measured {
    let mechanism = mechanism(Rows::Private { eps: "1".parse().expect("an epsilon") });
    pairs::claim("2", "0", Adjacency::AddRemove).over_universe(&[0, 1], 7, |rows| {
        enumerate(&pairs::floor(), |tape| mechanism.run(rows, function, tape))
    })
}

fn public(function: Function) -> Measured {
    let mechanism = mechanism(Rows::Public { count: 5 });
    pairs::claim("1", "0", Adjacency::Replace).over_universe(&[0, 1], 5, |rows| {
        enumerate(&pairs::floor(), |tape| mechanism.run(rows, function, tape))
    })
}

fn taken_for_public(function: Function) -> Measured {
    pairs::claim("1", "0", Adjacency::AddRemove).over_universe(&[0], 7, |rows| {
        let mechanism = mechanism(Rows::Public { count: rows.len() as u64 });
        enumerate(&pairs::floor(), |tape| mechanism.run(rows, function, tape))
    })
}
