//! Exact audits of what robust answers rest on: the private median of copies, how rarely it misses, and the step from "off on fixed
//! updates" to "off for whoever reacts".

use crate::{
    grid::Grid,
    parameters::{Plan, Wanted},
};
use equipoise_audit::{Audit, Kind, Measured, pairs::Claim};
use equipoise_core::{
    adjacency::Adjacency,
    interval::{AUDIT_BITS, Interval},
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

/// Every audit of this crate.
pub const ALL: &[&Audit] = &[&MEDIAN, &MISSES, &TRANSFER];

static MEDIAN: Audit = Audit {
    name: "robust-median",
    about: "the private median of what copies say: epsilon for the coins of one copy, whatever the copies say",
    source: "003_82bbcee9e9852ea0.txt, Algorithm B, step 3; the exponential mechanism of 004_5f92a75732c1853f.txt",
    kind: Kind::Claim {
        shipped: || vec![median_of(4, "1", "1"), median_of(5, "1", "1"), median_of(4, "0.25", "0.25")],
        change: "the score is taken to move by half of what it does",
        mutant: || vec![median_of(4, "2", "1")],
    },
};

static MISSES: Audit = Audit {
    name: "robust-misses",
    about: "an answer beyond all copies that are not off is rarer than the plan says, with as many copies off as it allows",
    source: "crates/robust/src/parameters.rs, step 4",
    kind: Kind::Claim {
        shipped: || vec![misses(&planned(3, "0.2", 4), 1), misses(&planned(40, "0.05", 6), 1)],
        change: "half of the copies",
        mutant: || vec![misses(&planned(40, "0.05", 6), 2)],
    },
};

static TRANSFER: Audit = Audit {
    name: "robust-transfer",
    about: "a copy is off for whoever reacts to private medians no more often than the plan's bound, from how often it is on fixed updates",
    source: "crates/robust/src/parameters.rs, steps 1 to 3",
    kind: Kind::Claim {
        shipped: || {
            let games = [("0.25", 1), ("0.5", 1), ("1", 1), ("0.5", 2), ("1", 2), ("1", 3)];
            games.into_iter().map(|(eps, copies)| reacted(eps, eps, copies)).collect()
        },
        change: "answers without noise",
        mutant: || vec![reacted("40", "0.5", 1)],
    },
};

fn ratio(text: &str) -> Ratio {
    text.parse().expect("a decimal")
}

fn small_grid() -> Grid {
    Grid::growing(&ratio("0.5"), 4).expect("a small grid")
}

/// All lists of what so many copies say, one of which is replaced.
fn median_of(copies: usize, eps: &str, claimed: &str) -> Measured {
    let grid = small_grid();
    let claim = Claim::new(ratio(claimed), Ratio::zero(), Adjacency::Replace);
    let law = |says: &[i64]| -> Pmf<i128> {
        let says: Vec<i128> = says.iter().map(|&one| one.into()).collect();
        let median = grid.median(eps.parse().expect("a loss"));
        enumerate(&ratio("1e-20"), |tape| median.run(&says, tape))
    };
    claim.over_votes(&[-1, 0, 2, 9], copies, 1, law).case(format!("{copies} copies at epsilon {claimed}"))
}

fn planned(answers: u64, beta: &str, grid: usize) -> Plan {
    Wanted { answers, beta: ratio(beta), grid }.plan().expect("small sizes")
}

/// The chance that the median names a value beyond all copies that are not off: these all say one number, the others the farthest
/// ones there are, in every way to share them between both sides. Fewer copies than planned: divided by this.
fn misses(plan: &Plan, divided: usize) -> Measured {
    let bound = plan.beta() / &Ratio::from(2 * plan.answers());
    let copies = plan.copies() / divided;
    let off = copies / 50;
    let grid = Grid::even(1, i128::try_from((plan.grid() - 1) / 2).expect("small")).expect("a small grid");
    let values: Vec<i128> = grid.values().to_vec();
    let mut worst = Interval::zero(AUDIT_BITS);
    for &right in &values {
        for below in 0..=off {
            let mut says = vec![right; copies - off];
            says.extend(std::iter::repeat_n(values[0], below));
            says.extend(std::iter::repeat_n(values[values.len() - 1], off - below));
            let median = grid.median(plan.eps().clone());
            let law = enumerate(&ratio("1e-12"), |tape| median.run(&says, tape) == right);
            worst = worst.max(&law.mass(&false));
        }
    }
    let claim = Claim::new(Ratio::zero(), bound, Adjacency::Replace);
    let over = format!("{} values that {copies} copies can agree on, of which {off} are off", values.len());
    claim.measured(worst, over).case(format!("{} answers, beta {}", plan.answers(), plan.beta()))
}

/// A game: each copy is off for one secret input of four, which it shows by a high answer. Who asks stays with an input where the
/// answer was high, and goes on to the next where it was low; after three answers, is the first copy off?
fn reacted(eps: &str, claimed: &str, copies: usize) -> Measured {
    const ANSWERS: u64 = 3;
    let grid = small_grid();
    let secrets = 4u64.pow(u32::try_from(copies).expect("a few"));
    let mut off = Interval::zero(AUDIT_BITS);
    for secret in 0..secrets {
        let secret_of = |copy: u32| secret / 4u64.pow(copy) % 4;
        let law = enumerate(&ratio("1e-12"), |tape| {
            let mut input = 0u64;
            for _ in 0..ANSWERS {
                let says = |copy: usize| -> i128 {
                    if secret_of(u32::try_from(copy).expect("a few")) == input { 4 } else { 0 }
                };
                let says: Vec<i128> = (0..copies).map(says).collect();
                let answer = grid.median(eps.parse().expect("a loss")).run(&says, tape);
                input = if answer >= 2 { input } else { (input + 1) % 4 };
            }
            secret_of(0) == input
        });
        off = off.add(&law.mass(&true));
    }
    let off = off.mul_ratio(&Ratio::from(secrets).recip());
    // exp(-(sqrt(ln 1/q) - sqrt(rho))^2), rounded up, of q = 1/4 and what three medians cost at the claimed loss.
    let rho = Ratio::from(ANSWERS) * ratio(claimed).squared() / Ratio::from(8u64);
    let root = |interval: Interval| interval.sqrt();
    let ln = Interval::exact(&Ratio::from(4u64), AUDIT_BITS).ln();
    let gap = root(ln).sub(&root(Interval::exact(&rho, AUDIT_BITS)));
    let bound = gap.square().neg().exp().upper();
    let claim = Claim::new(Ratio::zero(), bound, Adjacency::Replace);
    claim
        .measured(off, "every secret of every copy, and one who reacts to three answers")
        .case(format!("{copies} copies, answers at epsilon {claimed}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_holds_and_every_mutant_is_caught() {
        for audit in ALL {
            let Kind::Claim { shipped, mutant, .. } = &audit.kind else { panic!("claims only") };
            for found in shipped() {
                println!(
                    "{} {}: {} of {}",
                    audit.name,
                    found.case,
                    found.worst.to_f64(),
                    found.delta.to_f64()
                );
                assert!(found.holds(), "{} {}", audit.name, found.case);
            }
            assert!(mutant().iter().any(Measured::refuted), "{}: the mutant was not caught", audit.name);
        }
    }
}
