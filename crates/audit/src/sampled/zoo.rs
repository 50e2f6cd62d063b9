//! Broken mechanisms that only sampling sees: whole pipelines, floats, and questions nobody counted.

use super::{
    Entry, Expect, Run, Seen, Which, careless_uniform,
    tracing::{Crowd, attack_on, counts},
};
use equipoise_core::coins::Words;

pub(super) const ALL: &[Entry] = &[
    Entry {
        name: "laplace-in-floats",
        about: "a count plus -b·sign(u)·ln(1 - 2|u|), as textbooks write it, in 64-bit floats",
        source: "Mironov, On significance of the least significant bits for differential privacy (2012)",
        expect: Expect::Caught,
        promise: ("1", "0"),
        pairs: 1,
        prepare: laplace_in_floats,
    },
    Entry {
        name: "winsorized-after-paid-quantiles",
        about: "sample-and-aggregate: two quantiles of the block outputs at epsilon/4 each, then the clamped mean plus Lap(|u - l|/(2 epsilon k))",
        source: "the sample-and-aggregate recipe of the literature, run as a whole",
        expect: Expect::Caught,
        promise: ("1", "0"),
        pairs: 1,
        prepare: winsorized,
    },
    Entry {
        name: "uncounted-questions",
        about: "forty averages, each with the noise of one question at epsilon, published for epsilon in all; found by tracing",
        source: "accounting that counts releases instead of questions",
        expect: Expect::Caught,
        promise: ("1", "0"),
        pairs: 1,
        prepare: uncounted,
    },
    Entry {
        name: "laplace-rounded-before-adding",
        about: "the same textbook noise rounded to multiples of 2^-40 before it is added: the grid of the sum still depends on the value",
        source: "a repair of textbook noise that is often proposed",
        expect: Expect::Caught,
        promise: ("1", "0"),
        pairs: 1,
        prepare: rounded_before,
    },
];

/// As textbooks write it.
fn float_laplace(scale: f64, words: &mut dyn Words) -> f64 {
    let u = careless_uniform(words) - 0.5;
    -scale * u.signum() * (1.0 - 2.0 * u.abs()).ln()
}

fn laplace_in_floats() -> Run {
    Box::new(|which: Which, words| {
        let count = if which.second { 1.0 } else { 0.0 };
        Seen::Number(count + float_laplace(1.0, words))
    })
}

fn rounded_before() -> Run {
    const GRID: f64 = 1.0 / (1u64 << 40) as f64;
    Box::new(|which: Which, words| {
        // The sensitivity is one tenth, which is no multiple of the grid.
        let value = if which.second { 0.1 } else { 0.0 };
        let noise = (float_laplace(0.1, words) / GRID).round() * GRID;
        Seen::Number(value + noise)
    })
}

/// The exponential mechanism for a quantile over the two ends of [0, 1].
fn paid_quantile(blocks: &[f64], share: f64, eps: f64, words: &mut dyn Words) -> f64 {
    let rank = share * blocks.len() as f64;
    let below = blocks.iter().filter(|&&block| block < 0.5).count() as f64;
    // How many blocks must change before the quantile is 0, or 1.
    let (to_zero, to_one) = ((rank - below).max(0.0), (below - rank).max(0.0));
    let odds = (eps / 2.0 * (to_one - to_zero)).exp();
    if careless_uniform(words) < odds / (1.0 + odds) { 0.0 } else { 1.0 }
}

fn winsorized() -> Run {
    const BLOCKS: usize = 40;
    const EPS: f64 = 1.0;
    Box::new(|which: Which, words| {
        let mut blocks = [[0.0; BLOCKS / 2], [1.0; BLOCKS / 2]].concat();
        if which.second {
            blocks[0] = 1.0;
        }
        let low = paid_quantile(&blocks, 0.25, EPS / 4.0, words);
        let high = paid_quantile(&blocks, 0.75, EPS / 4.0, words).max(low);
        let mean = blocks.iter().map(|block| block.clamp(low, high)).sum::<f64>() / BLOCKS as f64;
        let noise = float_laplace((high - low) / (2.0 * EPS * BLOCKS as f64), words);
        // Rounded, so that the holes of floats are not what is found.
        Seen::Number(((mean + noise) * 4096.0).round() / 4096.0)
    })
}

fn uncounted() -> Run {
    const PEOPLE: usize = 20;
    let crowd = Crowd { people: PEOPLE, attributes: 40 };
    attack_on(
        crowd,
        Box::new(|rows, words| {
            let noisy = |count: i64| (count as f64 + float_laplace(1.0, words)).round() / PEOPLE as f64;
            counts(rows).into_iter().map(noisy).collect()
        }),
    )
}
