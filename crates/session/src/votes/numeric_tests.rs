//! The median of votes on few digits: what it costs, exactly, and a mutant that costs more.

use super::*;
use equipoise_core::{
    interval::Interval,
    stability::digits::Shape,
    tape::{Pmf, delta_between, enumerate},
};

/// The median of votes on 0, 0.1 to 0.9, 1 to 9, 10 to 90 and their negatives, for epsilon 2.
fn median() -> MedianVote {
    let digits = Digits::shaped(Shape { digits: 1, wholes: 0, lowest: -1, highest: 1 });
    let eps: Eps = "2".parse().unwrap();
    let (target, range) = (Median.quantile().into(), digits.range());
    let inner =
        InverseSensitivity { eps: eps.clone(), target, range, adjacency: Adjacency::Replace }.calibrate();
    MedianVote {
        inner: inner.unwrap(),
        space: Space::Digits(digits),
        ends: None,
        ranks: 0,
        cost: Loss::pure(&eps),
    }
}

/// The worst delta at this epsilon between all lists of five votes that differ in one, after a map of all votes.
fn worst(eps: &str, prepared: impl Fn(&[f64]) -> Vec<f64>) -> Interval {
    const VALUES: [f64; 3] = [0.449, 96.0, f64::NAN];
    let median = median();
    let list = |code: usize| [1, 3, 9, 27, 81].map(|place| code / place % 3);
    let law = |code: usize| -> Pmf<u64> {
        let votes = prepared(&list(code).map(|vote| VALUES[vote]));
        enumerate(&"1e-9".parse().unwrap(), |tape| (median.run(&votes, tape) + 0.0).to_bits())
    };
    let laws: Vec<Pmf<u64>> = (0..243).map(law).collect();
    let mut worst: Option<Interval> = None;
    for a in 0..243 {
        let differs = |b: &usize| list(a).iter().zip(list(*b)).filter(|(a, b)| **a != *b).count() == 1;
        for b in (0..243).filter(differs) {
            let delta = delta_between(&eps.parse().unwrap(), &laws[a], &laws[b]);
            worst = Some(worst.map_or(delta.clone(), |worst| worst.max(&delta)));
        }
    }
    worst.expect("some pair")
}

/// A median on few digits keeps what it promises, whichever vote changes, and costs more than half of it. A mutant that rounds all votes
/// to the step of the largest is caught: one vote moves the others.
#[test]
fn the_median_on_few_digits_keeps_what_it_promises() {
    assert_eq!(median().cost().to_string(), "2-differential privacy");
    let kept = worst("2", <[f64]>::to_vec);
    assert!(kept.upper() <= "1e-4".parse().unwrap(), "{}", kept.to_f64());
    let less = worst("1", <[f64]>::to_vec);
    assert!(less.lower() > "0.01".parse().unwrap(), "{}", less.to_f64());
    let by_the_largest = |votes: &[f64]| {
        let largest = votes.iter().copied().fold(0.1, |most: f64, vote| most.max(vote.abs()));
        let step = 10f64.powf(largest.log10().floor());
        votes.iter().map(|vote| (vote / step).round() * step).collect()
    };
    let caught = worst("2", by_the_largest);
    assert!(caught.lower() > "0.01".parse().unwrap(), "{}", caught.to_f64());
}
