//! Two ways to get the distance of a stable release wrong: the raw gap of a mode, and an off-by-one.

use super::laplace_tail;
use crate::{Audit, Kind, Measured, pairs};
use equipoise_core::{
    adjacency::Adjacency,
    chance::Enclosed,
    coins::Coins,
    interval::Interval,
    outcome::Outcome,
    ratio::Ratio,
    tape::{Pmf, enumerate},
};

pub(super) static RAW_GAP: Audit = Audit {
    name: "mode-raw-gap-under-replace",
    about: "the stable mode takes the gap between the two top counts as its distance, though one replacement moves it by two",
    source: "errata of one-shot release, stable mode under replace",
    kind: Kind::Zoo { broken: raw_gap },
};

pub(super) static OFF_BY_ONE: Audit = Audit {
    name: "distance-off-by-one",
    about: "a stable release feeds the distance to another value where the distance to an unstable data set is due",
    source: "000_4d769f04a6a550e8.txt (d) against 001_3b43439ac39fb76e.txt (Delta): they differ by one",
    kind: Kind::Zoo { broken: off_by_one },
};

/// Release `value` if distance + Lap(1/eps) exceeds ln(1/(2 delta))/eps, which is tight for a true distance.
fn release(value: i64, distance: u64, eps: &Ratio, delta: &Ratio) -> Pmf<Outcome<i64>> {
    let pass = Enclosed::new(|bits| {
        let two_delta = Interval::exact(&(delta + delta), bits);
        let beyond = two_delta.ln().neg().sub(&Interval::exact(&(eps * &Ratio::from(distance)), bits));
        laplace_tail(&beyond)
    });
    enumerate(
        &pairs::floor(),
        |tape| if tape.bernoulli(&pass) { Outcome::Value(value) } else { Outcome::Refused },
    )
}

/// The mode of 0s and 1s, ties to 0, and the counts.
fn mode(data: &[i64]) -> (i64, u64, u64) {
    let ones = data.iter().filter(|&&x| x == 1).count() as u64;
    let zeros = data.len() as u64 - ones;
    if zeros >= ones { (0, zeros, ones) } else { (1, ones, zeros) }
}

fn raw_gap() -> Vec<Measured> {
    let claim = pairs::claim("1", "0.001", Adjacency::Replace);
    vec![claim.over_universe(&[0, 1], 7, |data| {
        let (value, top, second) = mode(data);
        release(value, top - second, &claim.eps, &claim.delta)
    })]
}

fn off_by_one() -> Vec<Measured> {
    let claim = pairs::claim("1", "1e-6", Adjacency::AddRemove);
    vec![claim.over_universe(&[0, 1], 6, |data| {
        let (value, top, second) = mode(data);
        // Under add/remove the mode changes after gap + 1 additions if it wins ties, after gap otherwise.
        let rows_to_change = if value == 0 { top - second + 1 } else { top - second };
        release(value, rows_to_change, &claim.eps, &claim.delta)
    })]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_figures_of_the_two_mistakes() {
        assert!((off_by_one()[0].worst.to_f64() - 1e-6 * 1f64.exp()).abs() < 1e-9);
        assert!((raw_gap()[0].worst.to_f64() - 0.369).abs() < 0.001);
    }
}
