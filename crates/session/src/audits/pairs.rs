//! Exact audits of the noisy sums of covariances and correlations: what a row adds to them, and the noise, enumerated.
//!
//! The first sums and the parts of the second ones have noise of their own, so that each keeps its share of epsilon and both together all of
//! it. That every lattice, and not the smallest alone, moves by what the noise is for is enumerated in `task/pairs/parts.rs`.

use super::answers::facts;
use crate::{
    request::Request,
    resolved::ResolvedRequest,
    task::pairs::{FIRST_SHARE, PairStatistic},
};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    interval::exp_upper,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static PAIRS: Audit = Audit {
    name: "pairs",
    about: "the noisy sums of a covariance or correlation of two columns, from which all of it is computed",
    source: "parts of a row that add up to the same for every row",
    kind: Kind::Claim {
        shipped: || {
            let both = |adjacency| {
                ["covariance", "correlation"]
                    .into_iter()
                    .flat_map(move |name| measured(name, adjacency, adjacency))
            };
            Adjacency::ALL.into_iter().flat_map(both).collect()
        },
        change: "noise for a row that comes or goes, where one is replaced",
        mutant: || measured("correlation", Adjacency::AddRemove, Adjacency::Replace),
    },
};

/// The corners, the middle of a side and the middle of both ranges; another code is a row without both values.
const PLACES: [[f64; 2]; 5] = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [0.0, 1.0], [0.0, 0.0]];
const CODES: [i64; 6] = [-1, 0, 1, 2, 3, 4];
const EPSILON: u64 = 10;

/// The law of noisy sums of rows, and below which probability it is cut off.
type Law<'a> = dyn Fn(&[f64], &Ratio) -> Pmf<Vec<i64>> + 'a;

/// The sums of a statistic with noise for one adjacency, measured under another.
fn measured(statistic: &str, planned: Adjacency, adjacency: Adjacency) -> Vec<Measured> {
    let ends = Some("-1,1".to_string());
    let request = Request {
        column: Some("salary".into()),
        y: Some("salary".into()),
        epsilon: Some(EPSILON.to_string()),
        adjacency: Some(planned.to_string()),
        range: ends.clone(),
        range_y: ends,
        ..Request::new(statistic)
    };
    let facts = facts();
    let said = ResolvedRequest::new(&request, &facts).expect("a good request");
    let sums = PairStatistic::with_steps(&said, 1).expect("a good plan");
    let first = Ratio::from(EPSILON) * &Ratio::new(FIRST_SHARE.0, FIRST_SHARE.1);
    let rest = Ratio::from(EPSILON) - &first;
    let of = |eps: Ratio, law: &Law<'_>, what: &str| {
        let claim = Claim::new(eps, Ratio::zero(), adjacency).at_resolution("1e-5");
        let floor = "1e-9".parse::<Ratio>().expect("a decimal") / exp_upper(&claim.eps);
        let found = claim.over_universe(&CODES, 1, |codes| law(&rows(codes), &floor));
        found.case(format!("{statistic}, {what}"))
    };
    vec![
        of(
            first,
            &|rows, floor| enumerate(floor, |tape| sums.noisy_first(rows, tape).to_vec()),
            "sums of values",
        ),
        of(
            rest,
            &|rows, floor| enumerate(floor, |tape| sums.noisy_parts(rows, tape).to_vec()),
            "sums of products",
        ),
    ]
}

/// Both numbers of each row, one after the other.
fn rows(codes: &[i64]) -> Vec<f64> {
    let place = |&code: &i64| usize::try_from(code).ok().map(|code| PLACES[code]);
    codes.iter().filter_map(place).flatten().collect()
}
