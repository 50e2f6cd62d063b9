//! The shifted inverse of statistics that grow with the rows: the largest row, the number of distinct values, the
//! sum of the two largest rows, the sum.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::shifted_inverse::{Answers, Calibrated, ShiftedInverse},
    ratio::Ratio,
    stability::{
        Range, Sorted,
        distinct::Multiplicities,
        max::{self, TopSum},
        removals::Removals,
        sum,
    },
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "shifted-inverse",
    about: "a value that a growing statistic comes down to when a few rows are removed, chosen by how many that takes",
    source: "Fang, Dong, Yi 2022; 002_c9075a084346ce80.txt, section 1.4",
    kind: Kind::Claim {
        shipped: || Adjacency::ALL.iter().flat_map(|&adjacency| measure("1", adjacency)).collect(),
        change: "losses are weighed with epsilon instead of epsilon/2",
        mutant: || measure("2", Adjacency::AddRemove),
    },
};

const VALUES: [i64; 4] = [0, 1, 2, 3];

fn mechanism(eps: &str, count: u64) -> Calibrated {
    let mechanism = ShiftedInverse {
        eps: eps.parse().expect("an epsilon"),
        answers: Answers::Even { first: Ratio::zero(), step: Ratio::one(), count },
        beta: "0.4".parse().expect("a decimal"),
    };
    mechanism.calibrate().expect("valid parameters")
}

/// A statistic after removals, looking at so many, and how many values it has.
type Statistic = (fn(&[i64], u64) -> Removals, u64);

fn unsigned(rows: &[i64]) -> Vec<u64> {
    rows.iter().map(|row| row.unsigned_abs()).collect()
}

fn largest(rows: &[i64], limit: u64) -> Removals {
    max::removals(&Sorted::new(rows, Range::new(0, 3).expect("in order")), limit)
}

const STATISTICS: [Statistic; 4] = [
    (largest, 4),
    (|rows, limit| Multiplicities::from_sorted(rows, None).removals(limit), 5),
    (|rows, limit| TopSum { k: 2 }.removals(&unsigned(rows), limit), 7),
    (|rows, limit| sum::removals(&unsigned(rows), limit), 13),
];

/// All data sets of up to four rows, against a claim of epsilon one.
fn measure(eps: &str, adjacency: Adjacency) -> Vec<Measured> {
    let measure = |(removals, count): &Statistic| {
        let mechanism = mechanism(eps, *count);
        pairs::claim("1", "0", adjacency).over_universe(&VALUES, 4, |rows| {
            let removals = removals(rows, mechanism.limit());
            enumerate(&pairs::floor(), |tape| mechanism.run(&removals, tape))
        })
    };
    STATISTICS.iter().map(measure).collect()
}
