//! Exact audits of several moments of one column that are told from one draw: all answers together, enumerated over every neighbouring pair
//! of small files with empty fields in them; the sums over a declared range, and a whole search on a coarse lattice with its sums.

use super::answers::{CODES, facts, source};
use crate::{
    gather::ScanResult,
    request::Request,
    resolved::ResolvedRequest,
    rows::{Rows, ScanKeys, cells::CellLattice},
    statistic::Statistic,
    task::{Answering, Fineness, Lattice, Pooled},
};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    coins::ScriptedWords,
    interval::exp_upper,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static POOLED: Audit = Audit {
    name: "pooled",
    about: "the sum, mean and variance of one column from one searched range and one set of noisy sums: all answers together",
    source: "what is drawn for one of them, at the price of all",
    kind: Kind::Claim {
        shipped: || Adjacency::ALL.into_iter().flat_map(shipped).collect(),
        change: "a draw for each answer, at the price of one",
        mutant: || {
            let (sums, claim) = over_a_declared_range(&BOTH, "8", Adjacency::AddRemove);
            vec![measured(&sums, claim, 1, &each_alone)]
        },
    },
};

const BOTH: [Statistic; 2] = [Statistic::Sum, Statistic::Mean];
const ALL: [Statistic; 3] = [Statistic::Sum, Statistic::Mean, Statistic::Variance];

/// Four cells of floats and three reaches of either end.
const COARSE: Lattice = Lattice { cells: CellLattice { shift: 62 }, every: 12, reaches: 3, cut_off: Some(2) };

/// All answers of a run.
type Run<'a> = dyn Fn(&Pooled, &[i64], &Ratio) -> Pmf<String> + 'a;

fn request(statistics: &[Statistic], range: Option<&str>, eps: &str, adjacency: Adjacency) -> Request {
    Request {
        column: Some("salary".into()),
        epsilon: Some(eps.into()),
        adjacency: Some(adjacency.to_string()),
        range: range.map(str::to_string),
        // Under replace a declared range would make the number of rows public, which a search does not.
        filter: range.map(|_| "salary < 9".to_string()),
        ..Request::new(Pooled::lead_of(statistics).name())
    }
}

fn planned(request: &Request, statistics: &[Statistic]) -> (Pooled, Claim) {
    let (facts, adjacency) = (facts(), request.adjacency.as_deref());
    let said = ResolvedRequest::new(request, &facts).expect("a good request");
    let fineness = Fineness { steps: 1, lattice: COARSE };
    let pooled = Pooled::with(&said, statistics, fineness).expect("a good plan");
    let adjacency = Adjacency::ALL.into_iter().find(|one| Some(one.to_string().as_str()) == adjacency);
    let promised = request.epsilon.as_deref().and_then(|text| text.parse().ok()).expect("a price");
    let claim = Claim::new(promised, Ratio::zero(), adjacency.expect("one of both"));
    (pooled, claim)
}

fn over_a_declared_range(statistics: &[Statistic], eps: &str, adjacency: Adjacency) -> (Pooled, Claim) {
    planned(&request(statistics, Some("-1,1"), eps, adjacency), statistics)
}

fn over_a_searched_range(statistics: &[Statistic], eps: &str, adjacency: Adjacency) -> (Pooled, Claim) {
    planned(&request(statistics, None, eps, adjacency), statistics)
}

fn gathered<T>(pooled: &Pooled, codes: &[i64], of: impl FnOnce(&ScanResult<'_>) -> T) -> T {
    // Without people a key draws nothing.
    let keys = ScanKeys::new(1, &mut ScriptedWords::new(vec![1; 6]));
    let memory = source(codes);
    of(&ScanResult::scan(&memory, &Rows::default(), &pooled.needs(), &keys).expect("memory"))
}

/// As shipped: one draw.
fn together(pooled: &Pooled, codes: &[i64], floor: &Ratio) -> Pmf<String> {
    gathered(pooled, codes, |gathered| {
        enumerate(floor, |tape| format!("{:?}", pooled.answers_group(None, gathered, tape)))
    })
}

/// The mutant: each answer has its own.
fn each_alone(pooled: &Pooled, codes: &[i64], floor: &Ratio) -> Pmf<String> {
    gathered(pooled, codes, |gathered| {
        enumerate(floor, |tape| {
            let alone = |place: usize| pooled.only(place).answer(gathered, tape);
            format!("{:?}", (0..pooled.answers()).map(alone).collect::<Vec<_>>())
        })
    })
}

fn measured(pooled: &Pooled, claim: Claim, size: usize, run: &Run<'_>) -> Measured {
    // What one side cuts off weighs e^epsilon against the other, and a thousand outcomes lie at the cut.
    let floor = "1e-6".parse::<Ratio>().expect("a decimal") / exp_upper(&claim.eps);
    let found = claim.at_resolution("1e-3").over_universe(&CODES, size, |codes| run(pooled, codes, &floor));
    let range = if pooled.is_searched() { "a searched range" } else { "a declared range" };
    found.case(format!("{} answers over {range}", pooled.answers()))
}

fn shipped(adjacency: Adjacency) -> Vec<Measured> {
    let (declared, of_declared) = over_a_declared_range(&ALL, "8", adjacency);
    // At this price a range is found from two rows on, so that answers of one row and its noise are among what is enumerated.
    let (searched, of_searched) = over_a_searched_range(&BOTH, "40", adjacency);
    assert!(searched.is_searched() && !declared.is_searched(), "a range of each kind");
    vec![measured(&declared, of_declared, 2, &together), measured(&searched, of_searched, 1, &together)]
}
