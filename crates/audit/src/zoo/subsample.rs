//! Blocks whose votes are counted wrongly: a replaced person under a hash, and equal blocks under add/remove.

use crate::{
    Audit, Kind, Measured,
    exact::partition::{elect, election},
    pairs,
};
use equipoise_core::{
    adjacency::Adjacency,
    outcome::Outcome,
    subsample::partition::{Blocks, Design, Partition},
    tape::{Pmf, enumerate},
};

pub(super) static HASHED: Audit = Audit {
    name: "hashed-person-counted-once",
    about: "under replace, the block of a person is a public hash of the person and one vote is counted for them",
    source: "often written; the texts deal rows, not people",
    kind: Kind::Zoo { broken: hashed },
};

pub(super) static EQUAL: Audit = Audit {
    name: "equal-blocks-under-add-remove",
    about: "rows are shuffled into blocks of equal size and one vote is counted for a row that comes or goes",
    source: "000_4d769f04a6a550e8.txt, section 7.1 (\"randomly partitioned into m blocks, each of size n/m\"), read under add/remove",
    kind: Kind::Zoo { broken: equal },
};

/// Person p lies in block p mod 3. Block 0 asks whether its person 0 is there, block 1 whether person 1 is not.
fn hashed() -> Vec<Measured> {
    let function = |index: usize, people: &[i64]| match index {
        0 => i64::from(!people.contains(&0)),
        1 => i64::from(people.contains(&1)),
        _ => 0,
    };
    let election = election(3, 1, Adjacency::Replace);
    let claim = pairs::claim("1", "0.01", Adjacency::Replace);
    vec![claim.over_universe(&[0, 1, 2], 2, |people| -> Pmf<Outcome<i64>> {
        let labels: Vec<u64> = people.iter().map(|person| person.unsigned_abs() % 3).collect();
        let blocks = Blocks::from_labels(3, &labels);
        enumerate(&pairs::floor(), |tape| elect(&blocks, function, people, &election, tape))
    })]
}

/// The first two blocks ask whether their row is row 2, the third whether it has any.
fn equal() -> Vec<Measured> {
    let function = |index: usize, rows: &[i64]| match index {
        2 => i64::from(!rows.is_empty()),
        _ => i64::from(rows.contains(&2)),
    };
    // The design refuses add/remove; here it is dealt under replace and accounted for under add/remove.
    let design = Design::Equal { blocks: 3, rounds: 1 };
    let partition = Partition { design, adjacency: Adjacency::Replace }.calibrate().expect("allowed");
    let election = election(3, 1, Adjacency::AddRemove);
    let claim = pairs::claim("1", "0.01", Adjacency::AddRemove);
    let law = |rows: &[i64]| -> Pmf<Outcome<i64>> {
        enumerate(&pairs::floor(), |tape| {
            let blocks = partition.deal_rows(rows.len(), tape);
            elect(&blocks, function, rows, &election, tape)
        })
    };
    vec![claim.over("one pair", [(law(&[0, 1]), law(&[0, 1, 2]))])]
}
