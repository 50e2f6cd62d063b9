//! Shipped mechanisms, run as they are. An attack must find nothing.

use super::{
    Borrowed, Entry, Expect, Run, Seen, Which,
    tracing::{Crowd, attack_on, counts},
};
use equipoise_core::{
    adjacency::Adjacency,
    mechanism::{
        Noise, Values,
        exponential::Exponential,
        gate::Gate,
        gaussian::{Gaussian, Target},
        inverse_sensitivity::InverseSensitivity,
        l2::L2,
        laplace::Laplace,
        noisy_max::{self, NoisyMax},
        permute_and_flip::PermuteAndFlip,
        selection::Candidates,
    },
    outcome::Slack,
    ratio::Ratio,
    stability::{Median, lattice::FLOATS},
};

const fn entry(
    name: &'static str,
    about: &'static str,
    promise: (&'static str, &'static str),
    pairs: usize,
    prepare: fn() -> Run,
) -> Entry {
    Entry { name, about, source: "shipped", expect: Expect::Quiet, promise, pairs, prepare }
}

pub(super) const ALL: &[Entry] = &[
    entry("laplace", "a count with discrete Laplace noise", ("1", "0"), 1, laplace),
    entry("laplace-real", "a value with real Laplace noise, rounded once", ("1", "0"), 1, laplace_real),
    entry(
        "laplace-vector",
        "forty averages with noise for all forty, against tracing",
        ("1", "0"),
        1,
        laplace_vector,
    ),
    entry("gaussian", "a count with discrete Gaussian noise", ("1", "0.001"), 1, gaussian),
    entry("exponential", "one of four candidates", ("1", "0"), 2, || selection(Chooser::Exponential)),
    entry("permute-and-flip", "one of four candidates", ("1", "0"), 2, || selection(Chooser::PermuteAndFlip)),
    entry("noisy-max", "one of four candidates", ("1", "0"), 2, || selection(Chooser::NoisyMax)),
    entry("inverse-sensitivity", "the median of nine floats without bounds", ("1", "0"), 2, median),
    entry("gate", "a refusal or an answer, by distance", ("1", "0.01"), 3, gate),
];

fn side<T>(which: Which, first: T, second: T) -> T {
    if which.second { second } else { first }
}

fn laplace_of(
    sensitivity: Ratio,
    grid: Ratio,
    dimensions: usize,
    noise: Noise,
) -> equipoise_core::mechanism::laplace::Calibrated {
    let eps = "1".parse().expect("an epsilon");
    Laplace { eps, sensitivity, grid, dimensions, values: Values::OnGrid, noise }
        .calibrate()
        .expect("in range")
}

fn laplace() -> Run {
    let calibrated = laplace_of(Ratio::one(), Ratio::one(), 1, Noise::Discrete);
    Box::new(move |which, words| {
        Seen::Number(calibrated.run_whole(side(which, 0, 1), &mut Borrowed(words)) as f64)
    })
}

fn laplace_real() -> Run {
    let grid = Ratio::new(1, 1 << 20);
    let calibrated = laplace_of(Ratio::one(), grid, 1, Noise::Real);
    Box::new(move |which, words| {
        let value = Ratio::from(side(which, 0u64, 1));
        Seen::Number(calibrated.run(&[value], &mut Borrowed(words))[0].to_f64())
    })
}

fn laplace_vector() -> Run {
    const PEOPLE: usize = 20;
    const ATTRIBUTES: usize = 40;
    let calibrated = laplace_of(Ratio::from(ATTRIBUTES as u64), Ratio::one(), ATTRIBUTES, Noise::Discrete);
    attack_on(
        Crowd { people: PEOPLE, attributes: ATTRIBUTES },
        Box::new(move |rows, words| {
            let mut counts = counts(rows);
            calibrated.run_counts(&mut counts, &mut Borrowed(words));
            counts.into_iter().map(|count| count as f64 / PEOPLE as f64).collect()
        }),
    )
}

fn gaussian() -> Run {
    let target =
        Target::Approx { eps: "1".parse().expect("an epsilon"), delta: "0.001".parse().expect("a delta") };
    let mechanism = Gaussian {
        target,
        sensitivity: L2::Exact(Ratio::one()),
        grid: Ratio::one(),
        dimensions: 1,
        values: Values::OnGrid,
        noise: Noise::Discrete,
    };
    let calibrated = mechanism.calibrate().expect("in range");
    Box::new(move |which, words| {
        let mut count = [side(which, 0, 1)];
        calibrated.run_counts(&mut count, &mut Borrowed(words));
        Seen::Number(count[0] as f64)
    })
}

#[derive(Clone, Copy)]
enum Chooser {
    Exponential,
    PermuteAndFlip,
    NoisyMax,
}

/// Scores that one row moves apart by two, and scores that it moves one by one.
fn selection(chooser: Chooser) -> Run {
    let candidates = || Candidates { count: 4, sensitivity: Ratio::one(), monotone: false };
    let eps = || "1".parse().expect("an epsilon");
    let scores = |which: Which| {
        let scores: [u64; 4] = match (which.pair, which.second) {
            (0, false) => [3, 3, 3, 3],
            (0, true) => [4, 2, 2, 2],
            (_, false) => [5, 4, 1, 0],
            (_, true) => [4, 5, 1, 0],
        };
        scores.map(Ratio::from)
    };
    let seen = |choice: usize| Seen::Text(format!("candidate {choice}"));
    match chooser {
        Chooser::Exponential => {
            let calibrated =
                Exponential { eps: eps(), candidates: candidates() }.calibrate().expect("in range");
            Box::new(move |which, words| seen(calibrated.run(&scores(which), &mut Borrowed(words))))
        }
        Chooser::PermuteAndFlip => {
            let calibrated =
                PermuteAndFlip { eps: eps(), candidates: candidates() }.calibrate().expect("in range");
            Box::new(move |which, words| seen(calibrated.run(&scores(which), &mut Borrowed(words))))
        }
        Chooser::NoisyMax => {
            let noise = noisy_max::Noise::Exponential;
            let mechanism = NoisyMax { eps: eps(), noise, candidates: candidates() };
            let calibrated = mechanism.calibrate().expect("in range");
            Box::new(move |which, words| seen(calibrated.run(&scores(which), &mut Borrowed(words))))
        }
    }
}

fn median() -> Run {
    let mechanism = InverseSensitivity {
        eps: "1".parse().expect("an epsilon"),
        target: Median.quantile().into(),
        range: FLOATS,
        adjacency: Adjacency::AddRemove,
    };
    let calibrated = mechanism.calibrate().expect("in range");
    Box::new(move |which, words| {
        let mut rows: Vec<f64> = (1..=9).map(f64::from).collect();
        if which.second {
            rows.push(if which.pair == 0 { 1e9 } else { 5.5 });
        }
        Seen::Number(calibrated.run_floats(&rows, &mut Borrowed(words)))
    })
}

fn gate() -> Run {
    let mechanism = Gate {
        eps: "1".parse().expect("an epsilon"),
        delta: "0.01".parse().expect("a delta"),
        adjacency: Adjacency::AddRemove,
    };
    let calibrated = mechanism.calibrate().expect("in range");
    Box::new(move |which, words| {
        let rows = 1 + which.pair as u64 + side(which, 0, 1);
        let slack = Slack::rows_to_change(rows, Adjacency::AddRemove);
        Seen::Text(side_word(calibrated.run(slack, &mut Borrowed(words))))
    })
}

fn side_word(open: bool) -> String {
    if open { "an answer" } else { "a refusal" }.to_string()
}
