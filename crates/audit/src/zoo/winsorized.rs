//! The winsorized sample-and-aggregate that adds Lap(|u - l|/(2 epsilon k)) to the mean of k clamped block outputs.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    ratio::Ratio,
    sampler::discrete_laplace::DiscreteLaplace,
    tape::{Pmf, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "winsorized-under-noised",
    about: "block outputs clamped to a paid range [l, u] are averaged with noise Lap(|u - l|/(2 epsilon k)) for the last epsilon",
    source: "the sample-and-aggregate recipe of the literature; the range is public here, as after two paid quantiles",
    kind: Kind::Zoo { broken },
};

/// k times the noisy mean of k block outputs in [0, 4]: the sum plus Laplace noise at half its sensitivity.
fn noisy_sum(blocks: &[i64], range: u64, eps: &Ratio) -> Pmf<i64> {
    let scale = &Ratio::from(range) / &(eps * &Ratio::from(2u64));
    let law = DiscreteLaplace::new(&scale).expect("a positive scale");
    let sum: i64 = blocks.iter().sum();
    enumerate(&pairs::floor(), |tape| sum + tape.sample(&law))
}

fn broken() -> Vec<Measured> {
    // One row changes one block's output by anything within the range.
    let claim = pairs::claim("1", "0", Adjacency::Replace);
    vec![claim.over_universe(&[0, 4], 3, |blocks| noisy_sum(blocks, 4, &claim.eps))]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_loss_is_twice_what_was_promised() {
        let one = |blocks: &[i64]| super::noisy_sum(blocks, 4, &"1".parse().unwrap());
        assert!((one(&[0, 0, 0]).largest_loss(&one(&[0, 0, 4])) - 2.0).abs() < 0.01);
    }
}
