//! Permute-and-flip.

use super::conditions;
use crate::{Audit, Kind};
use equipoise_core::{
    loss::Eps,
    mechanism::{permute_and_flip::PermuteAndFlip, selection::Candidates},
    ratio::Ratio,
    tape::Tape,
};

pub(super) static AUDIT: Audit = Audit {
    name: "permute-and-flip",
    about: "candidates in random order, each accepted with probability e^(epsilon·(score - best)/(2·sensitivity))",
    source: "McKenna, Sheldon 2020; Ding et al. 2021: the law of Algorithm 3 of 004_5f92a75732c1853f.txt",
    kind: Kind::Claim {
        shipped: || conditions::shipped(choose),
        change: conditions::CHANGE,
        mutant: || conditions::taken_for_monotone(choose),
    },
};

fn choose(eps: &Eps, candidates: &Candidates, scores: &[Ratio], tape: &mut Tape) -> usize {
    let mechanism = PermuteAndFlip { eps: eps.clone(), candidates: candidates.clone() };
    mechanism.calibrate().expect("valid parameters").run(scores, tape)
}
