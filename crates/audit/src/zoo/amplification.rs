//! The amplification theorem as printed, and sampling for a mechanism that shows how much it was given.

use crate::{Audit, Kind, Measured, exact::any_one, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    chance::Odds,
    coins::Coins,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static PRINTED: Audit = Audit {
    name: "amplification-without-exponential",
    about: "a 1-DP mechanism on a sample of rate p promises (p, 0)",
    source: "003_82bbcee9e9852ea0.txt, amplification theorem",
    kind: Kind::Zoo { broken: printed },
};

pub(super) static SIZE: Audit = Audit {
    name: "amplification-of-replace-only",
    about: "a mechanism that is private under replace and shows its row count is sampled, and promises ln(1 + p(e - 1))",
    source: "003_82bbcee9e9852ea0.txt, amplification theorem, which names no adjacency",
    kind: Kind::Zoo { broken: size },
};

fn sampled<Y: Ord>(
    data: &[i64],
    rate: &Ratio,
    run: impl Fn(&[i64], &mut equipoise_core::tape::Tape) -> Y,
) -> Pmf<Y> {
    let keep = Odds::new(rate);
    enumerate(&pairs::floor(), |tape| {
        let sample: Vec<i64> = data.iter().copied().filter(|_| tape.bernoulli(&keep)).collect();
        run(&sample, tape)
    })
}

fn printed() -> Vec<Measured> {
    let measure = |rate: &&str| {
        let claim = pairs::claim(rate, "0", Adjacency::AddRemove);
        claim.over_universe(&[0, 1], 3, |data| sampled(data, &claim.eps, any_one))
    };
    ["0.1", "0.25", "0.5", "0.9"].iter().map(measure).collect()
}

fn size() -> Vec<Measured> {
    // ln(1 + (e - 1)/2) = 0.62011…, rounded up.
    let claim = pairs::claim("0.6202", "0", Adjacency::Replace);
    let half = Ratio::new(1, 2);
    vec![claim.over_universe(&[0, 1], 1, |data| {
        sampled(data, &half, |sample, coins| (sample.len(), any_one(sample, coins)))
    })]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_exact_figures_of_the_theorem() {
        for (measured, expected) in super::printed().iter().zip([0.0179, 0.0391, 0.0566, 0.0234]) {
            assert!((measured.worst.to_f64() - expected).abs() < 5e-5, "{}", measured.worst.to_f64());
        }
        assert!((super::size()[0].worst.to_f64() - 0.1155).abs() < 1e-4);
    }
}
