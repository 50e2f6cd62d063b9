//! The atoms of single events: where they lie, how many there are, and where nothing is looked at any more.

use super::{
    super::event::Event,
    atoms::{Atoms, Detail, Direction, atoms},
};
use crate::{loss::Amount, ratio::Ratio};

fn ratio(text: &str) -> Ratio {
    text.parse().unwrap()
}

fn seen(event: &Event, step: f64) -> Option<Atoms> {
    atoms(event, Direction::Remove, Detail { step, tail: 1e-22 })
}

/// Losses of Laplace noise lie at its ends and at every multiple of the step between them.
#[test]
fn laplace_noise_has_an_atom_at_every_multiple() {
    let found = seen(&Event::Laplace { eps: Amount::new(ratio("1.1")).unwrap() }, 0.25).unwrap();
    let losses: Vec<f64> = found.list.iter().map(|atom| atom.loss).collect();
    let inner = [-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0];
    assert_eq!(losses[1..losses.len() - 1], inner);
    assert!((losses[0] + 1.1).abs() < 1e-12 && (losses[10] - 1.1).abs() < 1e-12);
}

/// Pieces of a bell are an eighth of a scale at most, as the rule of twelve nodes wants them, and not much narrower.
#[test]
fn pieces_of_a_bell_are_about_an_eighth_of_a_scale() {
    for (ratio, step) in [("1", 64.0), ("0.3", 1.0), ("4", 0.5)] {
        let event = Event::Gaussian { ratio: self::ratio(ratio) };
        let found = seen(&event, step).unwrap();
        let scale: f64 = ratio.parse().unwrap();
        for pair in found.list.windows(2) {
            let width = (pair[1].loss - pair[0].loss) / scale;
            assert!(width > 1.0 / 16.0 && width <= 1.0 / 8.0, "{ratio}: {width}");
        }
    }
}

/// Where a bell on a lattice has too many places, neighbours share one: there are never many more than thirty thousand, nor fewer
/// than half of that where there are as many.
#[test]
fn wide_bells_on_a_lattice_have_about_as_many_places() {
    for (variance, places) in [("2600000", 32_000..33_000), ("10000000", 31_000..33_000), ("100", 200..220)] {
        let event = Event::DiscreteGaussian { steps: ratio("1"), variance: ratio(variance) };
        let found = seen(&event, 0.01).unwrap().list.len();
        assert!(places.contains(&found), "{variance}: {found}");
    }
}

/// Losses beyond a million, which are no privacy, are not looked at; those before are.
#[test]
fn losses_up_to_a_million_are_looked_at() {
    let bell = |ratio: &str| Event::Gaussian { ratio: self::ratio(ratio) };
    let lattice = |steps: &str| Event::DiscreteGaussian { steps: ratio(steps), variance: Ratio::one() };
    assert!(seen(&bell("1300"), 64.0).is_some() && seen(&lattice("1300"), 64.0).is_some());
    assert!(seen(&bell("1400"), 64.0).is_none() && seen(&lattice("1400"), 64.0).is_none());
    let laplace = |eps: &str| Event::Laplace { eps: Amount::new(ratio(eps)).unwrap() };
    assert!(seen(&laplace("1e6"), 64.0).is_some() && seen(&laplace("1000001"), 64.0).is_none());
}
