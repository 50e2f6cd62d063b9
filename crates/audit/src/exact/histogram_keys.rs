//! Keys from a universe that nobody wrote down.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::histogram_keys::{Calibrated, HistogramKeys},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "histogram-keys",
    about: "keys that enough people have are named, and one person with up to two counted keys is hidden by (epsilon, delta)",
    source: "Desfontaines, Voss, Gipson and Mandayam 2022, with each person's keys bounded by coins",
    kind: Kind::Claim {
        shipped: || {
            let one_key = Adjacency::ALL.map(|adjacency| measure(1, adjacency, &ONE_KEY, false));
            let two_keys = Adjacency::ALL.map(|adjacency| measure(2, adjacency, &MORE_KEYS, false));
            one_key.into_iter().chain(two_keys).collect()
        },
        change: "people with several keys are counted under all of them, on the budget of one",
        mutant: || vec![measure(1, Adjacency::AddRemove, &MORE_KEYS, true)],
    },
};

/// A person is a number whose bits are the keys.
const ONE_KEY: [i64; 3] = [1, 2, 4];
const MORE_KEYS: [i64; 4] = [0, 3, 4, 7];

fn keys_of(person: i64) -> impl Iterator<Item = u32> {
    (0..3).filter(move |key| person >> key & 1 == 1)
}

fn measure(max_keys_per_unit: u64, adjacency: Adjacency, people: &[i64], unbounded: bool) -> Measured {
    let claim = pairs::claim("1", "0.01", adjacency);
    let keys = HistogramKeys {
        eps: "1".parse().expect("an epsilon"),
        delta: "0.01".parse().expect("a delta"),
        max_keys_per_unit,
        adjacency,
    };
    let calibrated: Calibrated = keys.calibrate().expect("in range");
    claim.over_universe(people, 2, |data| {
        enumerate(&pairs::floor(), |tape| {
            if unbounded {
                let count = |key| data.iter().filter(|&&person| person >> key & 1 == 1).count() as u64;
                return calibrated.run_counts((0..3).map(|key| (key, count(key))), tape);
            }
            calibrated.run(data.iter().map(|&person| keys_of(person)), tape)
        })
    })
}
