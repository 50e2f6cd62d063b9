//! Exact audits of the noisy sums of a regression: what a row adds to them, and the noise, enumerated.
//!
//! Each sum has noise of its own, so that what some of them lose and what the others lose adds up; they are enumerated in two parts, each held to its
//! part of epsilon. That every lattice, and not the smallest alone, moves by what the noise is for is enumerated in `task/regression/sums.rs`, the
//! bell curve in `core/mechanism/gaussian.rs`.

use super::answers::facts;
use crate::{request::Request, resolved::ResolvedRequest, task::regression::Regression};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    interval::exp_upper,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};
use std::ops::Range;

pub(super) static REGRESSION: Audit = Audit {
    name: "regression",
    about: "the noisy sums of a regression, from which intercept, coefficients and what they explain are computed",
    source: "counts, sums, centred squares and products of limited values",
    kind: Kind::Claim {
        shipped: || Adjacency::ALL.into_iter().flat_map(|adjacency| measured(adjacency, adjacency)).collect(),
        change: "noise for a row that comes or goes, where one is replaced",
        mutant: || measured(Adjacency::AddRemove, Adjacency::Replace),
    },
};

/// Corners, the middle of a side and the middle of both ranges; another code is a row without both values.
const PLACES: [[f64; 2]; 5] = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [0.0, 1.0], [0.0, 0.0]];
const CODES: [i64; 6] = [-1, 0, 1, 2, 3, 4];
const EPSILON: u64 = 20;
/// The steps from the middle of a range to its end are two to this power.
const BITS: u32 = 1;

/// Which sums are enumerated together, and by how many halves of all steps a row moves them, for each adjacency.
const PARTS: [(&str, Range<usize>, [i64; 2]); 2] =
    [("rows and sums", 0..3, [6, 8]), ("squares and products", 3..6, [4, 8])];

/// The sums with noise for one adjacency, measured under another.
fn measured(planned: Adjacency, adjacency: Adjacency) -> Vec<Measured> {
    let request = Request {
        column: Some("salary".into()),
        on: vec!["town".into()],
        epsilon: Some(EPSILON.to_string()),
        adjacency: Some(planned.to_string()),
        range: Some("-1,1".into()),
        range_on: Some("-1,1".into()),
        mechanism: Some("laplace".into()),
        ..Request::new("regression")
    };
    let facts = facts();
    let said = ResolvedRequest::new(&request, &facts).expect("a good request");
    let sums = Regression::with_bits(&said, BITS).expect("a good plan");
    let of = |(what, part, halves): &(&str, Range<usize>, [i64; 2])| {
        let place = usize::from(planned == Adjacency::Replace);
        let all: i64 = PARTS.iter().map(|(.., halves)| halves[place]).sum();
        let eps = Ratio::from(EPSILON) * &Ratio::new(halves[place], all.unsigned_abs());
        let claim = Claim::new(eps, Ratio::zero(), adjacency).at_resolution("1e-5");
        let floor = "1e-9".parse::<Ratio>().expect("a decimal") / exp_upper(&claim.eps);
        let law = |codes: &[i64]| -> Pmf<Vec<i64>> {
            enumerate(&floor, |tape| sums.noisy_sums(&rows(codes), part.clone(), tape))
        };
        claim.over_universe(&CODES, 1, law).case(what.to_string())
    };
    PARTS.iter().map(of).collect()
}

/// Both numbers of each row, one after the other.
fn rows(codes: &[i64]) -> Vec<f64> {
    let place = |&code: &i64| usize::try_from(code).ok().map(|code| PLACES[code]);
    codes.iter().filter_map(place).flatten().collect()
}
