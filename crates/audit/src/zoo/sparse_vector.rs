//! Four ways to get the sparse vector technique wrong: no cut-off, noise that ignores it, no noise on queries, and the
//! noisy value itself.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    chance::ExpNeg,
    coins::Coins,
    ratio::Ratio,
    sampler::geometric::Geometric,
    tape::{Pmf, enumerate},
};

pub(super) static NO_CUTOFF: Audit = Audit {
    name: "sparse-vector-without-cutoff",
    about: "questions go on after positive answers with the same noisy threshold, and promise epsilon",
    source: "003_82bbcee9e9852ea0.txt, DPAboveThreshold without its halt; a variant often written",
    kind: Kind::Zoo { broken: no_cutoff },
};

pub(super) static NOISE_IGNORES_CUTOFF: Audit = Audit {
    name: "sparse-vector-noise-ignores-cutoff",
    about: "two positive answers are allowed, but the questions' noise is that of one, and promises epsilon",
    source: "a variant often written; Lyu, Su, Li 2017 list it",
    kind: Kind::Zoo { broken: noise_ignores_cutoff },
};

pub(super) static NO_QUERY_NOISE: Audit = Audit {
    name: "sparse-vector-without-query-noise",
    about: "only the threshold is noisy, and promises epsilon",
    source: "a variant often written; Lyu, Su, Li 2017 list it",
    kind: Kind::Zoo { broken: no_query_noise },
};

pub(super) static VALUE: Audit = Audit {
    name: "sparse-vector-releases-the-value",
    about: "a positive answer comes with the noisy value that was compared, and promises epsilon",
    source: "a variant often written; Lyu, Su, Li 2017 list it",
    kind: Kind::Zoo { broken: value },
};

/// Answers to questions with whole-number values, by one-sided geometric noise; halts after `cutoff` positives.
///
/// A question's noise only matters through its comparison with the threshold, so it is drawn as that decision.
fn answers(
    values: &[i64],
    cutoff: usize,
    query_rate: Option<&Ratio>,
    threshold_rate: &Ratio,
) -> Pmf<Vec<bool>> {
    let threshold_law = Geometric::new(threshold_rate).expect("a positive rate");
    enumerate(&pairs::floor(), |tape| {
        let threshold = i64::try_from(tape.sample(&threshold_law)).unwrap_or(i64::MAX);
        let mut transcript = Vec::new();
        for value in values {
            let missing = u64::try_from(threshold - value).unwrap_or(0);
            let above = match query_rate {
                Some(rate) => tape.bernoulli(&ExpNeg::new(&(rate * &Ratio::from(missing)))),
                None => missing == 0,
            };
            transcript.push(above);
            if transcript.iter().filter(|&&above| above).count() == cutoff {
                break;
            }
        }
        transcript
    })
}

/// Two neighbours whose questions move in opposite directions, half of them each way.
fn measure(
    eps: &str,
    questions: usize,
    cutoff: usize,
    query_rate: Option<&str>,
    threshold_rate: &str,
) -> Vec<Measured> {
    let claim = pairs::claim(eps, "0", Adjacency::AddRemove);
    let decimal = |text: &str| -> Ratio { text.parse().expect("a decimal") };
    let here: Vec<i64> = (0..questions).map(|i| i64::from(i % 2 == 0)).collect();
    let there: Vec<i64> = (0..questions).map(|i| i64::from(i % 2 == 1)).collect();
    let query = query_rate.map(decimal);
    let run = |values: &[i64]| answers(values, cutoff, query.as_ref(), &decimal(threshold_rate));
    vec![claim.over("one pair", [(run(&here), run(&there))])]
}

/// Epsilon 4 split in half: threshold scale 1/2, question scale 2·1/2 for one positive answer.
fn no_cutoff() -> Vec<Measured> {
    measure("4", 6, usize::MAX, Some("1"), "2")
}

fn noise_ignores_cutoff() -> Vec<Measured> {
    measure("4", 4, 2, Some("1"), "2")
}

fn no_query_noise() -> Vec<Measured> {
    measure("4", 2, 1, None, "4")
}

/// One positive answer, and the noisy value of its question. The noisy threshold must lie between that value and
/// those of the questions before.
fn noisy_value(values: &[i64], query_rate: &Ratio, threshold_rate: &Ratio) -> Pmf<(usize, i64)> {
    let law = |rate: &Ratio| Geometric::new(rate).expect("a positive rate");
    let (threshold_law, query_law) = (law(threshold_rate), law(query_rate));
    enumerate(&pairs::floor(), |tape| {
        let noise = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let threshold = noise(tape.sample(&threshold_law));
        for (index, value) in values.iter().enumerate() {
            let noisy = value + noise(tape.sample(&query_law));
            if noisy >= threshold {
                return (index, noisy);
            }
        }
        (values.len(), 0)
    })
}

fn value() -> Vec<Measured> {
    let claim = pairs::claim("4", "0", Adjacency::AddRemove);
    let (query, threshold) = (Ratio::one(), Ratio::from(2u64));
    let run = |values: &[i64]| noisy_value(values, &query, &threshold);
    vec![claim.over("one pair", [(run(&[0, 1]), run(&[1, 0]))])]
}
