//! A bound found by a paid search, and noise for it.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::{gate::Gate, searched_bound::SearchedBound},
    outcome::Slack,
    stability::{Median, Range, Reach},
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "searched-bound",
    about: "the bound that a search finds and the median with noise for it together keep (search + test + noise epsilons, delta)",
    source: "000_4d769f04a6a550e8.txt, section 7.2, with the analyst's idea of the bound replaced by a paid search",
    kind: Kind::Claim {
        shipped: || measure_all(1),
        change: "distances are counted tenfold, so that the search moves by ten where it may move by one",
        mutant: || measure_all(10),
    },
};

fn measure_all(times: u64) -> Vec<Measured> {
    let one = |adjacency, size| {
        let claim = pairs::claim("3", "0.05", adjacency);
        let parsed = "in range";
        let searched = SearchedBound {
            search_eps: "1".parse().expect(parsed),
            test: Gate { eps: "1".parse().expect(parsed), delta: "0.05".parse().expect(parsed), adjacency },
            noise_eps: "1".parse().expect(parsed),
            bounds: vec![1, 2, 4],
            beta: "0.9".parse().expect(parsed),
        };
        let calibrated = searched.calibrate().expect(parsed);
        claim.over_universe(&[0, 1, 4], size, |rows| {
            let window = Median.window(rows, Range::new(0, 4).expect("in order"), Reach::All);
            let distance = |bound| {
                let slack = Median.slack_below_sensitivity(&window, bound, adjacency);
                slack
                    .until_unstable()
                    .map_or(slack, |steps| Slack::steps_to_unstable(times * steps, adjacency))
            };
            enumerate(&pairs::coarse_floor(), |tape| calibrated.run(window.target().or(0), distance, tape))
        })
    };
    vec![one(Adjacency::Replace, 5), one(Adjacency::AddRemove, 4)]
}
