//! Laplace noise scaled to the local or the down-sensitivity of this data set: the scale itself tells.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    ratio::Ratio,
    sampler::discrete_laplace::DiscreteLaplace,
    tape::{Pmf, enumerate},
    universe::neighbours,
};

pub(super) static LOCAL: Audit = Audit {
    name: "laplace-at-local-sensitivity",
    about: "the median plus Laplace noise at local sensitivity over epsilon promises epsilon",
    source: "002_c9075a084346ce80.txt, section 1.3, which says itself that it fails",
    kind: Kind::Zoo { broken: local },
};

pub(super) static DOWN: Audit = Audit {
    name: "laplace-at-down-sensitivity",
    about: "the median plus Laplace noise at down-sensitivity over epsilon promises epsilon",
    source: "002_c9075a084346ce80.txt, section 1.4, which asks for a different mechanism",
    kind: Kind::Zoo { broken: down },
};

const VALUES: [i64; 3] = [0, 1, 4];

fn low_median(data: &[i64]) -> i64 {
    if data.is_empty() { 0 } else { data[data.len().div_ceil(2) - 1] }
}

fn noisy(data: &[i64], sensitivity: i64, eps: &Ratio) -> Pmf<i64> {
    let median = low_median(data);
    if sensitivity == 0 {
        return enumerate(&pairs::floor(), |_| median);
    }
    let law = DiscreteLaplace::new(&(&Ratio::from(sensitivity) / eps)).expect("a positive scale");
    enumerate(&pairs::floor(), |tape| median + tape.sample(&law))
}

fn largest_change<'a>(data: &[i64], others: impl IntoIterator<Item = &'a Vec<i64>>) -> i64 {
    others.into_iter().map(|other| (low_median(other) - low_median(data)).abs()).max().unwrap_or(0)
}

fn local() -> Vec<Measured> {
    let claim = pairs::claim("1", "0", Adjacency::Replace);
    vec![claim.over_universe(&VALUES, 5, |data| {
        noisy(data, largest_change(data, &neighbours(data, &VALUES, Adjacency::Replace)), &claim.eps)
    })]
}

fn down() -> Vec<Measured> {
    let claim = pairs::claim("1", "0", Adjacency::AddRemove);
    vec![claim.over_universe(&VALUES, 4, |data| {
        let subsets = neighbours(data, &VALUES, Adjacency::AddRemove);
        noisy(data, largest_change(data, subsets.iter().filter(|other| other.len() < data.len())), &claim.eps)
    })]
}
