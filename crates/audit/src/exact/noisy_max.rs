//! Report-noisy-max with exponential, Gumbel and Laplace noise.

use super::conditions;
use crate::{Audit, Kind};
use equipoise_core::{
    loss::Eps,
    mechanism::{
        noisy_max::{Noise, NoisyMax},
        selection::Candidates,
    },
    ratio::Ratio,
    tape::Tape,
};

pub(super) static AUDIT: Audit = Audit {
    name: "noisy-max",
    about: "the candidate with the largest score plus noise of scale 2·sensitivity/epsilon, by each of three noises",
    source: "004_5f92a75732c1853f.txt, Algorithm 3",
    kind: Kind::Claim {
        shipped: || {
            [conditions::shipped(exponential), conditions::shipped(gumbel), conditions::shipped(laplace)]
                .concat()
        },
        change: conditions::CHANGE,
        mutant: || conditions::taken_for_monotone(laplace),
    },
};

fn choose(noise: Noise, eps: &Eps, candidates: &Candidates, scores: &[Ratio], tape: &mut Tape) -> usize {
    let mechanism = NoisyMax { eps: eps.clone(), noise, candidates: candidates.clone() };
    mechanism.calibrate().expect("valid parameters").run(scores, tape)
}

pub(crate) fn exponential(eps: &Eps, candidates: &Candidates, scores: &[Ratio], tape: &mut Tape) -> usize {
    choose(Noise::Exponential, eps, candidates, scores, tape)
}

fn gumbel(eps: &Eps, candidates: &Candidates, scores: &[Ratio], tape: &mut Tape) -> usize {
    choose(Noise::Gumbel, eps, candidates, scores, tape)
}

fn laplace(eps: &Eps, candidates: &Candidates, scores: &[Ratio], tape: &mut Tape) -> usize {
    choose(Noise::Laplace, eps, candidates, scores, tape)
}
