//! The printed test of A_samp on votes, as many of them replaced as a row may touch.

use crate::{
    Audit, Kind, Measured,
    pairs::{self, Claim},
};
use equipoise_core::{
    adjacency::{Adjacency, RowCount},
    loss::Loss,
    ratio::Ratio,
    subsample::bootstrap::{CalibratedPrinted, Printed, SampleAndAggregate},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "bootstrap",
    about: "A_samp as printed keeps (epsilon, delta/2), under add/remove with the chance of overload; SA as printed keeps what its test and its samples allow",
    source: "000_4d769f04a6a550e8.txt, Algorithm 14 and Theorem 7.3; 001_3b43439ac39fb76e.txt, SA",
    kind: Kind::Claim {
        shipped: || {
            vec![
                test(2),
                whole(Adjacency::Replace),
                whole(Adjacency::AddRemove),
                overload(),
                sample_and_aggregate(1),
            ]
        },
        change: "a row is in twice as many samples as the check allows",
        mutant: || vec![test(4)],
    },
};

/// Six samples of rate 1/6 in the printed places: a row that passes the check is in at most two.
fn test(replaced: u64) -> Measured {
    let claim = pairs::claim("1", "0.01", Adjacency::Replace);
    let printed = printed(RowCount::Public(9), Adjacency::Replace).with_details(6, Ratio::new(1, 6));
    let found = claim.over_votes(&[0, 1, 2], 6, replaced, |votes| {
        enumerate(&pairs::floor(), |tape| printed.run(Some(votes), tape))
    });
    found.case("A_samp, the test on votes")
}

fn printed(rows: RowCount, adjacency: Adjacency) -> CalibratedPrinted {
    let (eps, delta) = ("1".parse().expect("an epsilon"), "0.02".parse().expect("a delta"));
    Printed { eps, delta, rows, adjacency }.calibrate().expect("in range")
}

/// All of A_samp, the draws of its samples included: four samples of rate 1/4, in each of which the function looks for a one.
fn whole(adjacency: Adjacency) -> Measured {
    let rows = match adjacency {
        Adjacency::Replace => RowCount::Public(3),
        Adjacency::AddRemove => RowCount::Declared(3),
    };
    let printed = printed(rows, adjacency).with_details(4, Ratio::new(1, 4));
    let Loss::Approx(cost) = printed.cost() else { unreachable!("a cost in (epsilon, delta)") };
    let claim = Claim::promised(&cost, adjacency);
    let found = claim.over_universe(&[0, 1], 3, |rows| {
        enumerate(&pairs::floor(), |tape| {
            let votes = printed.deal(rows.len(), tape).map(|samples| -> Vec<bool> {
                samples.iter().map(|sample| sample.iter().any(|&place| rows[place] == 1)).collect()
            });
            printed.run(votes.as_deref(), tape)
        })
    });
    found.case("A_samp, samples and test together")
}

/// The part of delta that pays for one row more in too many samples, which ends the run.
fn overload() -> Measured {
    let adjacency = Adjacency::AddRemove;
    let printed = printed(RowCount::Declared(3), adjacency).with_details(4, Ratio::new(1, 4));
    let Loss::Approx(cost) = printed.cost() else { unreachable!("a cost in (epsilon, delta)") };
    let delta = cost.delta.ratio() - &Ratio::new(1, 100);
    let claim = Claim::new(Ratio::zero(), delta, adjacency);
    let found = claim.over_universe(&[0], 3, |rows| {
        enumerate(&pairs::floor(), |tape| printed.deal(rows.len(), tape).is_some())
    });
    found.case("A_samp, whether the samples of a row are too many")
}

/// SA as printed on sixteen samples of one of 32 rows, so that a row is counted for in one of them; the chance of more is the other part
/// of its delta and depends on no data.
fn sample_and_aggregate(replaced: u64) -> Measured {
    let printed = SampleAndAggregate { eps: "1".parse().expect("an epsilon"), rows: 32, size: 1 };
    let claim = Claim::new(Ratio::one(), printed.passes_upper(), Adjacency::Replace);
    let found = claim.over_votes(&[0, 1], 16, replaced, |votes| {
        enumerate(&pairs::floor(), |tape| printed.run(votes, tape))
    });
    found.case("SA, the test on votes")
}
