//! The exponential mechanism over finitely many candidates.

use super::conditions;
use crate::{Audit, Kind};
use equipoise_core::{
    loss::Eps,
    mechanism::{
        exponential::{Calibrated, Exponential},
        selection::Candidates,
    },
    ratio::Ratio,
    tape::Tape,
};

pub(super) static AUDIT: Audit = Audit {
    name: "exponential",
    about: "a candidate is chosen with probability proportional to e^(epsilon·score/(2·sensitivity))",
    source: "004_5f92a75732c1853f.txt, Algorithm 2 and Theorem 4",
    kind: Kind::Claim {
        shipped: || {
            let rho = |eps: &Eps, candidates: &Candidates| calibrated(eps, candidates).bounded_range_rho();
            [conditions::shipped(choose), conditions::in_rho(choose, rho)].concat()
        },
        change: conditions::CHANGE,
        mutant: || conditions::taken_for_monotone(choose),
    },
};

fn calibrated(eps: &Eps, candidates: &Candidates) -> Calibrated {
    let mechanism = Exponential { eps: eps.clone(), candidates: candidates.clone() };
    mechanism.calibrate().expect("valid parameters")
}

fn choose(eps: &Eps, candidates: &Candidates, scores: &[Ratio], tape: &mut Tape) -> usize {
    calibrated(eps, candidates).run(scores, tape)
}
