//! Exact audits of whole answers to calls whose function is the caller's: small data sets, functions whose statement is true, and one
//! that is wrong by one.

use super::{Found, ScoredPlan, ScoredRequest, StatedPlan, StatedRequest};
use crate::{audits::Memory, plan::DataFacts};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};
use serde_json::json;

pub(crate) static STATED: Audit = Audit {
    name: "stated",
    about: "whole answers to calls with a function of the caller's: noise, choices, tests, removals, a secret sample",
    source: "what the caller states of the function, and shares of epsilon and delta",
    kind: Kind::Claim {
        shipped: || cases().iter().map(Case::measured).collect(),
        change: "the number of rows to change is stated one too large",
        mutant: || {
            vec![Case { found: |rows, plan| majority(rows, plan, 1), ..stable("add-remove") }.measured()]
        },
    },
};

pub(crate) static SCORES: Audit = Audit {
    name: "scores",
    about: "whole choices among options by an expression that rows add up",
    source: "limits on what a row adds, and the mechanisms of a choice",
    kind: Kind::Claim {
        shipped: || Adjacency::ALL.map(|adjacency| scored(adjacency, "0,1")).to_vec(),
        change: "what a row adds to a score is not limited",
        mutant: || vec![scored(Adjacency::AddRemove, "0,2")],
    },
};

/// A call, and what its function finds on rows.
struct Case {
    name: &'static str,
    request: StatedRequest,
    values: &'static [i64],
    size: usize,
    found: fn(&[i64], &StatedPlan) -> Found,
}

fn request(call: &str, epsilon: &str, delta: &str, adjacency: &str) -> StatedRequest {
    let text = |text: &str| Some(text.to_string());
    StatedRequest {
        statistic: call.into(),
        epsilon: text(epsilon),
        delta: text(delta),
        adjacency: text(adjacency),
        // A confidence of half asks for few removals, so that few rows are enough.
        confidence: text("0.5"),
        ..StatedRequest::default()
    }
}

fn sum(rows: &[i64], _: &StatedPlan) -> Found {
    Found { numbers: vec![rows.iter().sum::<i64>() as f64], ..Found::default() }
}

/// How many rows have each of three values: one person raises or lowers one score, and another where rows are replaced.
fn counts(rows: &[i64], _: &StatedPlan) -> Found {
    let count = |value: i64| rows.iter().filter(|&&row| row == value).count() as f64;
    Found { numbers: (0..3).map(count).collect(), ..Found::default() }
}

/// Which of two values most rows have, ties to the first, and how many rows must change before it is the other.
fn majority(rows: &[i64], plan: &StatedPlan, too_far: u64) -> Found {
    let ones = rows.iter().sum::<i64>();
    let ahead = i64::try_from(rows.len()).expect("a few") - 2 * ones;
    let (value, lead) = if ahead >= 0 { ("zero", ahead + 1) } else { ("one", -ahead) };
    let steps = u64::try_from(lead).expect("it leads");
    let steps = if plan.adjacency == Adjacency::Replace { steps.div_ceil(2) } else { steps };
    Found { value: json!(value), distance: Some(steps + too_far), ..Found::default() }
}

/// The largest of three rows at most, of which an absent one is zero, and how far it is from moving by more than one.
fn largest_if_close(rows: &[i64], _: &StatedPlan) -> Found {
    // A row moves the largest by more than one where the two largest differ by two or a row of two can come to no row above zero.
    let largest = rows.iter().copied().max().unwrap_or(0);
    let twos = rows.iter().filter(|&&row| row == 2).count();
    let ones = rows.iter().filter(|&&row| row == 1).count();
    // Unsafe: no one, and at most one two. Every one, and every two beyond the first, must go.
    let distance = ones + twos.saturating_sub(1);
    Found { numbers: vec![largest as f64], distance: Some(distance as u64), ..Found::default() }
}

/// Squares of the sum of up to three rows of one: one row more moves n^2 by 2n + 1, and that by two.
fn square(rows: &[i64], _: &StatedPlan) -> Found {
    let sum = rows.iter().sum::<i64>() as f64;
    Found { numbers: vec![sum * sum, 2.0 * sum + 1.0], ..Found::default() }
}

/// The largest row, after each number of removals; nothing is left after all of them.
fn largest_after(rows: &[i64], plan: &StatedPlan) -> Found {
    let mut sorted = rows.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let after = |removed: u64| {
        let place = usize::try_from(removed).expect("a few");
        sorted.get(place).map_or(0.0, |&row| row as f64)
    };
    Found { numbers: (0..=plan.wanted()).map(after).collect(), ..Found::default() }
}

fn stable(adjacency: &str) -> Case {
    Case {
        name: "stable",
        request: request("stable", "1", "0.05", adjacency),
        values: &[0, 1],
        size: 5,
        found: |rows, plan| majority(rows, plan, 0),
    }
}

fn cases() -> Vec<Case> {
    let text = |text: &str| Some(text.to_string());
    let options = || vec![json!("a"), json!("b"), json!("c")];
    let noise = |adjacency: &str, delta: &str, law: &str| Case {
        name: if law == "laplace" { "laplace noise" } else { "gaussian noise" },
        request: StatedRequest {
            sensitivity: text("2"),
            grid: text("1"),
            mechanism: text(law),
            ..request("noise", "1", delta, adjacency)
        },
        values: &[0, 1, 2],
        size: 2,
        found: sum,
    };
    let choose = |name, adjacency: &str, change: fn(&mut StatedRequest)| {
        let mut asked = StatedRequest {
            options: options(),
            sensitivity: text("1"),
            ..request("choose", "1", "0", adjacency)
        };
        change(&mut asked);
        Case { name, request: asked, values: &[0, 1, 2], size: 3, found: counts }
    };
    vec![
        noise("add-remove", "0", "laplace"),
        noise("replace", "0.05", "gaussian"),
        choose("permute-and-flip", "replace", |_| {}),
        choose("permute-and-flip, monotone", "add-remove", |asked| asked.monotone = true),
        choose("exponential over a base", "replace", |asked| {
            asked.base = Some(["1", "5", "1/3"].map(str::to_string).to_vec());
        }),
        choose("noisy-max, gumbel", "replace", |asked| asked.noise = Some("gumbel".into())),
        stable("add-remove"),
        stable("replace"),
        Case {
            name: "test and noise at a bound",
            request: StatedRequest {
                bound: text("1"),
                grid: text("1"),
                ..request("propose-test-release", "2", "0.05", "add-remove")
            },
            values: &[0, 1, 2],
            size: 3,
            found: largest_if_close,
        },
        Case {
            name: "released bound",
            request: StatedRequest {
                sensitivity: text("2"),
                grid: text("1"),
                ceiling: text("7"),
                // Two noises multiply their outcomes, which at a smaller epsilon take seconds for each data set.
                ..request("bounded-local-sensitivity", "4", "0.05", "add-remove")
            },
            // A row of zero changes nothing.
            values: &[1],
            size: 3,
            found: square,
        },
        Case {
            name: "shifted inverse",
            request: StatedRequest {
                range: text("0,2"),
                step: text("1"),
                ..request("shifted-inverse", "1", "0", "add-remove")
            },
            values: &[0, 1, 2],
            size: 4,
            found: largest_after,
        },
        choose("a secret sample", "add-remove", |asked| {
            asked.rate = Some("0.5".into());
            asked.epsilon = Some("2".into());
        }),
    ]
}

/// A choice by what the rows add to scores, which is limited to 0 to 1 where the price says so.
fn scored(adjacency: Adjacency, limited_to: &str) -> Measured {
    let facts = DataFacts {
        name: "people".into(),
        columns: vec!["salary".into(), "town".into()],
        registered: None,
        kinds: Vec::new(),
        windows: None,
    };
    let plan = |range: &str| {
        let request = ScoredRequest {
            statistic: "choose".into(),
            score: "case when salary = option then salary else 0 end".into(),
            options: "1,2".into(),
            range: Some(range.into()),
            epsilon: Some("1".into()),
            adjacency: Some(adjacency.to_string()),
            confidence: Some("0.5".into()),
            ..ScoredRequest::default()
        };
        ScoredPlan::new(&request, &facts).expect("a good request")
    };
    let (priced, limited) = (plan("0,1"), plan(limited_to));
    let floor: Ratio = "1e-10".parse().expect("a decimal");
    let law = |rows: &[i64]| -> Pmf<String> {
        let memory = Memory::new(rows.iter().map(|&row| row as f64).collect(), &["Ayr"]);
        let sums = limited.sums(&memory).expect("memory can be read");
        enumerate(&floor, |tape| format!("{:?}", priced.answer_at(&limited, &sums, tape)))
    };
    let claim = Claim::promised(&priced.cost(), adjacency).at_resolution("1e-6");
    claim.over_universe(&[0, 1, 2], 3, law).case("a score over rows")
}

impl Case {
    fn plan(&self) -> StatedPlan {
        let facts = DataFacts {
            name: "people".into(),
            columns: Vec::new(),
            registered: None,
            kinds: Vec::new(),
            windows: None,
        };
        StatedPlan::new(&self.request, &facts).expect("a good request")
    }

    fn measured(&self) -> Measured {
        let plan = self.plan();
        let floor: Ratio = "1e-10".parse().expect("a decimal");
        let law = |rows: &[i64]| -> Pmf<String> {
            enumerate(&floor, |tape| {
                let sample: Vec<i64> =
                    plan.sample(rows.len(), tape).iter().map(|&place| rows[place]).collect();
                let found = (self.found)(&sample, &plan);
                format!("{:?}", plan.answer(&found, tape).expect("what was stated"))
            })
        };
        let claim = Claim::promised(plan.cost(), plan.adjacency).at_resolution("1e-6");
        claim.over_universe(self.values, self.size, law).case(self.name)
    }
}
