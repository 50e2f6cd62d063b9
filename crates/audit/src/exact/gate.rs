//! The gate: every pair of neighbours that there can be is a pair of slacks.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::gate::{Calibrated, Gate},
    outcome::{Outcome, Slack},
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "gate",
    about: "a value that may differ only at one row to change passes the gate with (epsilon, delta)",
    source: "000_4d769f04a6a550e8.txt, Algorithm 13, with the optimal test in place of its threshold",
    kind: Kind::Claim { shipped, change: "the slack counts one row too many", mutant },
};

fn release(gate: &Calibrated, value: u8, rows: u64) -> Pmf<Outcome<u8>> {
    let slack = Slack::rows_to_change(rows, gate.adjacency());
    enumerate(
        &pairs::floor(),
        |tape| {
            if gate.run(slack, tape) { Outcome::Value(value) } else { Outcome::Refused }
        },
    )
}

fn measure(extra_rows: u64) -> Vec<Measured> {
    let parameters = [("1", "1e-6"), ("0.1", "0.001"), ("2", "0.3"), ("20", "1e-6")];
    let measure_one = |adjacency, (eps, delta): (&str, &str)| {
        let claim = pairs::claim(eps, delta, adjacency);
        let parsed = "an epsilon and a delta in range";
        let gate = Gate { eps: eps.parse().expect(parsed), delta: delta.parse().expect(parsed), adjacency };
        let gate = gate.calibrate().expect("a delta above zero");
        let certain = gate.slack_for(&Ratio::one()).and_then(Slack::until_change).expect("a short table");
        let at = |value, rows| release(&gate, value, rows + extra_rows);
        let same = (1..certain + 2).map(|rows| (at(0, rows), at(0, rows + 1)));
        claim.over("all distances until it surely opens", same.chain([(at(0, 1), at(1, 1))]))
    };
    Adjacency::ALL
        .into_iter()
        .flat_map(|adjacency| parameters.map(|parameters| measure_one(adjacency, parameters)))
        .collect()
}

fn shipped() -> Vec<Measured> {
    measure(0)
}

fn mutant() -> Vec<Measured> {
    measure(1)
}
