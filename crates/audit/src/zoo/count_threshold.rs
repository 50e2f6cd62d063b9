//! Keys are named when their true count reaches a number, as in k-anonymity.

use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{adjacency::Adjacency, tape::enumerate};

pub(super) static AUDIT: Audit = Audit {
    name: "keys-with-at-least-k",
    about: "keys that at least three people have are named, and that is taken for (epsilon, delta)",
    source: "minimum cell counts, as they are often used for disclosure control",
    kind: Kind::Zoo { broken },
};

fn broken() -> Vec<Measured> {
    let claim = pairs::claim("1", "0.001", Adjacency::AddRemove);
    vec![claim.over_universe(&[0, 1], 3, |data| {
        enumerate(&pairs::floor(), |_| [0, 1].map(|key| data.iter().filter(|&&row| row == key).count() >= 3))
    })]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_third_person_is_certain_to_be_seen() {
        assert!((super::broken()[0].worst.to_f64() - 1.0).abs() < 1e-12);
    }
}
