//! The textbook's Gaussian scale sqrt(2 ln(1.25/delta))/epsilon beyond epsilon 1, where its proof ends.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    interval::{AUDIT_BITS, Interval, ln_upper},
    loss::{gaussian_delta_lower, gaussian_delta_upper},
    ratio::Ratio,
    sampler::discrete_gaussian::DiscreteGaussian,
    tape::enumerate,
};

pub(super) static AUDIT: Audit = Audit {
    name: "gaussian-classical-at-epsilon-10",
    about: "a count plus Gaussian noise at sqrt(2 ln(1.25/delta))/epsilon promises (epsilon, delta) for a large epsilon",
    source: "the textbook formula, which is proved for epsilon <= 1 and used beyond",
    kind: Kind::Zoo { broken },
};

/// The real noise of the textbook, by its exact curve, and the same variance on the whole numbers, enumerated.
fn broken() -> Vec<Measured> {
    ["10", "50"].iter().flat_map(|eps| both(eps, "0.00001")).collect()
}

fn both(eps: &str, delta: &str) -> [Measured; 2] {
    let claim = pairs::claim(eps, delta, Adjacency::AddRemove);
    // A little more noise than the textbook says, so that its shortfall is not ours.
    let ln = ln_upper(&(Ratio::new(5, 4) / &claim.delta));
    let variance = (ln * Ratio::from(2u64) / claim.eps.squared()).dyadic_up(64);
    let scale = Interval::exact(&variance, AUDIT_BITS).sqrt().upper();
    let (low, high) =
        (gaussian_delta_lower(&claim.eps, &scale.recip()), gaussian_delta_upper(&claim.eps, &scale.recip()));
    let real = claim.measured(Interval::between(&low, &high, AUDIT_BITS), "two neighbouring means");
    let law = DiscreteGaussian::new(&variance).expect("a small variance");
    let on_whole_numbers = claim.over_universe(&[0], 2, |data| {
        let count = i64::try_from(data.len()).expect("a few rows");
        // Losses of e^50 make even rare values count.
        enumerate(&"1e-40".parse().expect("a decimal"), |tape| count + tape.sample(&law))
    });
    [real, on_whole_numbers]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_exact_figures() {
        // Real noise as in the literature; the whole numbers are worse.
        for (measured, expected) in super::broken().iter().zip([2.27e-5, 7.70e-5, 0.586, 0.961]) {
            let worst = measured.worst.to_f64();
            assert!((worst / expected - 1.0).abs() < 3e-3, "{worst} {expected}");
            assert!(measured.refuted());
        }
    }
}
