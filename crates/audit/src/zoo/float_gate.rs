//! The optimal gate computed in floats: 1 - p has no digits left where p is close to one.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    chance::Odds,
    coins::Coins,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static AUDIT: Audit = Audit {
    name: "gate-in-floats",
    about: "the probabilities of opening come from their recursion in 64-bit floats and promise (epsilon, delta)",
    source: "the recursion of optimal partition selection, as it is often written",
    kind: Kind::Zoo { broken },
};

/// p(0), p(1), … up to two ones, from e^eps and e^-eps as floats.
fn probabilities(growth: f64, decay: f64, delta: f64) -> Vec<f64> {
    let mut all = vec![0.0];
    let mut open: f64 = 0.0;
    while open < 1.0 {
        open = (growth * open + delta).min(1.0 - decay * (1.0 - open - delta)).min(1.0);
        all.push(open);
    }
    all.push(1.0);
    all
}

fn opens(probability: f64) -> Pmf<bool> {
    let odds = Odds::new(&Ratio::from_f64_exact(probability).expect("a finite float"));
    enumerate(&pairs::floor(), |tape| tape.bernoulli(&odds))
}

fn broken() -> Vec<Measured> {
    // e^20 and e^-20 to the last digit of a float.
    let (growth, decay, delta) = (485_165_195.409_790_3, 2.061_153_622_438_558e-9, 1e-10);
    let claim = pairs::claim("20", "1e-10", Adjacency::AddRemove);
    let all = probabilities(growth, decay, delta);
    vec![claim.over("neighbouring distances", all.windows(2).map(|pair| (opens(pair[0]), opens(pair[1]))))]
}

#[cfg(test)]
mod tests {
    #[test]
    fn delta_is_inflated_239_times() {
        let inflated = super::broken()[0].worst.to_f64() / 1e-10;
        assert!((inflated - 239.5).abs() < 0.1, "{inflated}");
    }
}
