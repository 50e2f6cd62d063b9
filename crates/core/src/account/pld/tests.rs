//! The certified distribution against exact answers: never below, and close.

use super::{
    atoms::{self, Atom, Atoms, Detail, Direction},
    compose::{Sum, Task, transform_error},
    grid::OnGrid,
    *,
};
use crate::{
    account::Homogeneous,
    interval::Interval,
    loss::{DiscreteLaplaceLoss, discrete_gaussian_delta_lower, gaussian_delta_lower, laplace_delta_upper},
};
use proptest::prelude::*;
use rustfft::{FftPlanner, num_complex::Complex};

fn amount(text: &str) -> Amount {
    Amount::new(text.parse().unwrap()).unwrap()
}

fn ratio(text: &str) -> Ratio {
    text.parse().unwrap()
}

fn known(eps: &str, delta: &str) -> Event {
    Event::Approx(Approx { eps: amount(eps), delta: amount(delta) })
}

fn sampled(base: Event, rate: &str) -> Event {
    Event::Sampled { base: Box::new(base), rate: rate.parse().unwrap() }
}

fn eps_of(event: Event, times: u64, delta: &str) -> f64 {
    let total = LossDistribution::new([(event, times)]).eps_above(&delta.parse().unwrap());
    total.unwrap().eps.ratio().to_f64()
}

/// At least the truth, and above it by at most this part.
fn close_above(got: &Ratio, truth: &Ratio, part: f64) {
    assert!(got >= truth, "{} is below {}", got.to_f64(), truth.to_f64());
    assert!(got.to_f64() <= truth.to_f64() * (1.0 + part), "{} against {}", got.to_f64(), truth.to_f64());
}

#[test]
fn a_hundred_gaussians_are_one_of_a_tenth_of_the_noise() {
    let total = LossDistribution::new([(Event::Gaussian { ratio: Ratio::new(1, 20) }, 100)]);
    // Splitting losses counts for more the farther out: at 14 the delta is 1.5e-157.
    for (eps, part) in
        [("0", 1e-3), ("0.5", 1e-3), ("1", 2e-3), ("2.25", 0.01), ("4", 0.03), ("8", 0.1), ("14", 0.4)]
    {
        let got = total.delta_above(&ratio(eps)).unwrap();
        close_above(&got, &gaussian_delta_lower(&ratio(eps), &Ratio::new(1, 2)), part);
    }
    let eps = eps_of(Event::Gaussian { ratio: Ratio::new(1, 20) }, 100, "1e-6");
    assert!(eps > 2.254_08 && eps < 2.2543, "{eps}");
    // As certain far out.
    let eps = eps_of(Event::Gaussian { ratio: Ratio::new(1, 20) }, 100, "1e-40");
    let truth = gaussian_delta_lower(&Ratio::from_f64_exact(eps).unwrap(), &Ratio::new(1, 2)).to_f64();
    assert!(truth <= 1e-40 && truth > 0.98e-40, "{truth}");
}

#[test]
fn equal_releases_are_the_optimal_composition() {
    for (eps, delta, times) in [("0.1", "0", 100u64), ("0.1", "1e-9", 100), ("1", "0", 7), ("3", "1e-5", 2)] {
        let exact = Homogeneous { each: Approx { eps: amount(eps), delta: amount(delta) }, count: times };
        let total = LossDistribution::new([(known(eps, delta), times)]);
        let whole = exact.each.eps.times_up(times).ratio().to_f64();
        for part in [0.0, 0.1, 0.35, 0.7, 0.9] {
            let at = Ratio::from_f64_exact(part * whole).unwrap();
            let (got, truth) = (total.delta_above(&at).unwrap(), exact.delta(&at));
            assert!(got >= truth.upper(), "{eps} {times} {part}: {} {}", got.to_f64(), truth.to_f64());
            assert!(got.to_f64() <= truth.to_f64() * 1.05 + 1e-9, "{} {}", got.to_f64(), truth.to_f64());
        }
    }
    // Basic composition says 10, zCDP 5.22, and nothing can say less than 4.7746.
    let eps = eps_of(known("0.1", "0"), 100, "1e-6");
    assert!(eps > 4.774_567 && eps < 4.7747, "{eps}");
}

#[test]
fn one_release_of_each_kind_is_its_curve() {
    let one = |event: Event| LossDistribution::new([(event, 1)]);
    let lattice = DiscreteLaplaceLoss { eps: amount("1"), steps: 5 };
    let (steps, variance) = (ratio("2"), ratio("9.5"));
    for eps in ["0", "0.3", "0.9"] {
        let at = ratio(eps);
        let laplace = one(Event::Laplace { eps: amount("1") }).delta_above(&at).unwrap();
        let truth = laplace_delta_upper(&amount("1"), &at);
        assert!(laplace.to_f64() >= truth.to_f64() * (1.0 - 1e-12));
        close_above(&laplace, &(truth * ratio("0.999999999999")), 0.01);
        let discrete = one(Event::DiscreteLaplace(lattice.clone())).delta_above(&at).unwrap();
        close_above(&discrete, &(lattice.delta_upper(&at) * ratio("0.999999999999")), 0.02);
        let bell = Event::DiscreteGaussian { steps: steps.clone(), variance: variance.clone() };
        close_above(
            &one(bell).delta_above(&at).unwrap(),
            &discrete_gaussian_delta_lower(&at, &steps, &variance),
            0.02,
        );
    }
}

/// Each loss on a sample is that of the mixture, not below and hardly above it, also where it is far beyond what the rate makes up for.
#[test]
fn losses_on_samples_are_those_of_the_mixture() {
    let noise = Event::DiscreteGaussian { steps: ratio("4"), variance: ratio("1") };
    let detail = Detail { step: 0.01, tail: 1e-22 };
    for rate in ["1e-14", "1e-5", "0.3"] {
        let p: f64 = rate.parse().unwrap();
        for (direction, sign) in [(Direction::Remove, 1.0), (Direction::Add, -1.0)] {
            let whole = atoms::atoms(&noise, direction, detail).unwrap();
            let mixed = atoms::atoms(&sampled(noise.clone(), rate), direction, detail).unwrap();
            assert!(whole.list.iter().any(|atom| (30.5..33.0).contains(&atom.loss)));
            for (from, to) in whole.list.iter().zip(&mixed.list) {
                let truth = sign * (p * from.loss.exp_m1()).ln_1p();
                let little = 1e-10 * (1.0 + truth.abs());
                assert!(to.loss >= truth - little / 10.0, "{rate} {direction:?} {}: {}", from.loss, to.loss);
                assert!(to.loss <= truth + little, "{rate} {direction:?} {}: {}", from.loss, to.loss);
            }
        }
    }
}

/// Every output of `times` sampled randomized responses, in both directions.
fn enumerate_sampled(eps: f64, rate: f64, times: u32, at: f64) -> f64 {
    let (yes, no) = (eps.exp() / (1.0 + eps.exp()), 1.0 / (1.0 + eps.exp()));
    let (with, without) = ([rate * yes + (1.0 - rate) * no, rate * no + (1.0 - rate) * yes], [no, yes]);
    let stick = |p: [f64; 2], q: [f64; 2]| -> f64 {
        (0..1u32 << times)
            .map(|outputs| {
                let product =
                    |law: [f64; 2]| -> f64 { (0..times).map(|i| law[(outputs >> i & 1) as usize]).product() };
                (product(p) - at.exp() * product(q)).max(0.0)
            })
            .sum()
    };
    stick(with, without).max(stick(without, with))
}

#[test]
fn samples_keep_both_directions() {
    for (eps, rate) in [("1", "0.5"), ("2", "0.1"), ("0.5", "0.9")] {
        let total = LossDistribution::new([(sampled(known(eps, "0"), rate), 5)]);
        for at in ["0", "0.2", "0.6", "1.1"] {
            let truth =
                enumerate_sampled(eps.parse().unwrap(), rate.parse().unwrap(), 5, at.parse().unwrap());
            let got = total.delta_above(&ratio(at)).unwrap().to_f64();
            assert!(
                got >= truth * (1.0 - 1e-12) && got <= truth * 1.02 + 1e-12,
                "{eps} {rate} {at}: {got} {truth}"
            );
        }
    }
    // A sample of everything is no sample.
    let (all, base) =
        (sampled(Event::Gaussian { ratio: Ratio::one() }, "1"), Event::Gaussian { ratio: Ratio::one() });
    assert!((eps_of(all, 3, "1e-6") - eps_of(base, 3, "1e-6")).abs() < 1e-9);
    // The figure of other accountants for a thousand steps of noise 1 at rate 0.01.
    let steps = eps_of(sampled(Event::Gaussian { ratio: Ratio::one() }, "0.01"), 1000, "1e-6");
    assert!(steps > 2.1244 && steps < 2.1252, "{steps}");
}

/// One release on a small sample: `p·delta_base(ln(1 + (e^eps - 1)/p))`. Its losses are rare and far above their
/// standard deviation, so that no tilt serves and transforms found nothing.
#[test]
fn one_release_on_a_small_sample_is_its_curve() {
    for (rate, delta, truth) in [("0.001", "1e-15", 0.871_710_279), ("1e-6", "1e-12", 1.314_875_7e-4)] {
        let eps = eps_of(sampled(Event::Gaussian { ratio: Ratio::one() }, rate), 1, delta);
        assert!(eps >= truth && eps < truth * 1.02, "{rate}: {eps} {truth}");
    }
}

#[test]
fn losses_of_any_size_are_answered_or_refused() {
    let noisy = |ratio: &str| Event::Gaussian { ratio: super::tests::ratio(ratio) };
    // The grid had as many places as the largest loss has steps of the smallest spread.
    assert!(eps_of(sampled(noisy("3"), "1e-7"), 1, "1e-6") < 1e-4);
    for event in [known("1e13", "0"), noisy("1e7"), noisy("0"), noisy("-1"), sampled(noisy("1e7"), "0.1")] {
        let total = LossDistribution::new([(event.clone(), 1)]).eps_above(&"1e-6".parse().unwrap());
        assert!(total.is_none() || event.approx().is_some(), "{event:?}");
    }
}

/// Where the exponential ends, a tilted mass is infinite and the answer is one; it was cut off at e^700.
#[test]
fn a_tilt_beyond_the_exponential_certifies_nothing() {
    let atom = |loss, mass| Atom { loss, mass };
    let grid = OnGrid::new(&Atoms::of(vec![atom(0.0, 1.0), atom(1.0, 1e-200)]), 0.125);
    let parts = [(grid, 2)];
    let task = Task {
        parts: &parts,
        tilt: 1000.0,
        steep: 1000.0,
        enough: 1e-30,
        shifts: &[0.0],
        length: 64,
        first: -8,
    };
    assert!(Sum::new(&task).delta_above(0.0) >= 1.0);
}

/// Long exponents are rounded, and more is added for that: a thousand certain losses of 100 are not less than certain.
#[test]
fn what_long_exponents_are_rounded_by_is_added() {
    let parts = [(OnGrid { first: 100, masses: vec![1.0], infinite: 0.0, step: 1.0 }, 1000)];
    let shifts = [100.0001];
    let (length, first) = (64, 99_980);
    let task = Task { parts: &parts, tilt: 1.0, steep: 1.0, enough: 1e-30, shifts: &shifts, length, first };
    let (got, truth) = (Sum::new(&task).delta_above(99_990.0), -(-10f64).exp_m1());
    assert!(got >= truth && got < truth * (1.0 + 1e-6), "{got} {truth}");
}

/// Two samples beside a whole release: adding a record is then worse than removing one, 0.2186 against 0.1340.
#[test]
fn samples_among_other_releases_keep_both_directions() {
    let mixed = LossDistribution::new([(sampled(known("3", "0"), "0.1"), 2), (known("1", "0"), 1)]);
    let got = mixed.delta_above(&ratio("0.8")).unwrap();
    // All eight outputs, added up by hand.
    close_above(&got, &ratio("0.2185578"), 0.02);
}

#[test]
fn what_has_no_pair_or_no_delta_has_no_distribution() {
    let rho = Event::Concentrated(crate::loss::Zcdp::new(&"0.1".parse().unwrap()));
    assert!(LossDistribution::new([(rho, 1)]).eps_above(&"1e-6".parse().unwrap()).is_none());
    let leaky = LossDistribution::new([(known("1", "1e-5"), 1)]);
    assert!(leaky.eps_above(&"1e-6".parse().unwrap()).is_none());
    assert!(leaky.eps_above(&Delta::zero()).is_none());
    let nothing = LossDistribution::new([(known("0", "1e-7"), 3)]);
    assert!(nothing.eps_above(&"1e-6".parse().unwrap()).unwrap().eps.is_zero());
    assert!(nothing.eps_above(&"2e-7".parse().unwrap()).is_none());
    assert_eq!(LossDistribution::new([]).delta_above(&Ratio::zero()), Some(Ratio::zero()));
}

#[test]
fn the_rule_of_twelve_nodes_is_exact_to_the_23rd_power() {
    let rule = atoms::NODES;
    for power in (0..24).step_by(2) {
        let sum: f64 = rule.iter().map(|&(node, weight)| 2.0 * weight * node.powi(power)).sum();
        assert!((sum - 2.0 / f64::from(power + 1)).abs() < 4e-16, "{power}: {sum}");
    }
}

/// The transform of one impulse is a list of roots of unity: each within the 16 units that the bound allows.
#[test]
fn roots_of_unity_are_as_close_as_the_bound_says() {
    let length = 4096;
    let mut buffer = vec![Complex::new(0.0, 0.0); length];
    buffer[1].re = 1.0;
    FftPlanner::new().plan_fft_forward(length).process(&mut buffer);
    for (index, value) in buffer.iter().enumerate().step_by(37) {
        let turn = Interval::exact(&Ratio::new(-i64::try_from(index).unwrap(), length as u64), 128);
        let (sin, cos) = turn.sin_cos_turns();
        let off = (value.re - cos.to_f64()).hypot(value.im - sin.to_f64());
        assert!(off < 16.0 * f64::EPSILON / 2.0, "{index}: {off}");
    }
}

#[test]
fn the_transform_is_within_its_bound_of_an_exact_one() {
    let length = 64u64;
    let input: Vec<f64> = (0..length).map(|i| ((i * i * 7 + 3) % 61) as f64 / 61.0).collect();
    let mut buffer: Vec<_> = input.iter().map(|&value| Complex::new(value, 0.0)).collect();
    FftPlanner::new().plan_fft_forward(64).process(&mut buffer);
    let (mut off, mut size) = (0.0, 0.0);
    for (k, got) in buffer.iter().enumerate() {
        let (mut re, mut im) = (Interval::zero(160), Interval::zero(160));
        for (j, value) in input.iter().enumerate() {
            let turn = Ratio::new(-i64::try_from(j * k).unwrap(), length);
            let (sin, cos) = Interval::exact(&turn, 160).sin_cos_turns();
            let value = Ratio::from_f64_exact(*value).unwrap();
            (re, im) = (re.add(&cos.mul_ratio(&value)), im.add(&sin.mul_ratio(&value)));
        }
        off += (got.re - re.to_f64()).powi(2) + (got.im - im.to_f64()).powi(2);
        size += re.to_f64().powi(2) + im.to_f64().powi(2);
    }
    assert!(off.sqrt() <= transform_error(64) * size.sqrt(), "{} {}", off.sqrt(), size.sqrt());
    assert!(transform_error(1 << 20) < 1e-12);
}

/// All masses of the sum, by convolution in exact numbers.
fn exact_power(masses: &[Ratio], times: u64) -> Vec<Ratio> {
    let mut sum = vec![Ratio::one()];
    for _ in 0..times {
        let mut next = vec![Ratio::zero(); sum.len() + masses.len() - 1];
        for (i, a) in sum.iter().enumerate() {
            for (j, b) in masses.iter().enumerate() {
                next[i + j] = &next[i + j] + &(a * b);
            }
        }
        sum = next;
    }
    sum
}

fn exact_delta(masses: &[Ratio], first: i64, step: &Ratio, eps: &Ratio) -> Interval {
    let bits = 256;
    let mut delta = Interval::zero(bits);
    for (index, mass) in (first..).zip(masses) {
        let over = step * &Ratio::from(index) - eps;
        if over.is_positive() {
            let part = Interval::one(bits).sub(&Interval::exact(&-over, bits).exp());
            delta = delta.add(&part.mul_ratio(mass));
        }
    }
    delta
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The sum by transform against the sum in exact numbers, at tilts good and bad.
    #[test]
    fn sums_are_never_below_exact_convolution(
        weights in proptest::collection::vec(1u32..1000, 2..9), first in -6i64..3, times in 1u64..9,
        tilt in 0.0f64..6.0, place in 0.0f64..1.0,
    ) {
        let total: u32 = weights.iter().sum();
        let step = 0.0625;
        let list: Vec<Atom> = (first..).zip(&weights)
            .map(|(index, &weight)| Atom { loss: index as f64 * step, mass: f64::from(weight) / f64::from(total) })
            .collect();
        let masses: Vec<Ratio> =
            list.iter().map(|atom| Ratio::from_f64_exact(atom.mass).unwrap()).collect();
        let grid = OnGrid::new(&Atoms::of(list), step);
        let start = first * i64::try_from(times).unwrap();
        let shift = cumulant(&grid.outline(), tilt).0;
        let parts = [(grid, times)];
        let task = Task { parts: &parts, tilt, steep: tilt + 1.0, enough: 1e-30, shifts: &[shift], length: 128, first: start - 8 };
        let sum = Sum::new(&task);
        let end = (start as f64 + (weights.len() as f64 - 1.0) * times as f64) * step;
        let eps = (start as f64 * step).max(0.0) + place * (end - start as f64 * step).max(0.0);
        let exact = exact_delta(&exact_power(&masses, times), start, &Ratio::new(1, 16), &Ratio::from_f64_exact(eps).unwrap());
        let got = sum.delta_above(eps);
        prop_assert!(Ratio::from_f64_exact(got).unwrap() >= exact.lower(), "{got} {}", exact.to_f64());
        prop_assert!(got <= exact.to_f64() * (1.0 + 1e-6) + 1e-9, "{got} {}", exact.to_f64());
        if let Some(back) = sum.eps_above(got) {
            prop_assert!(sum.delta_above(back) <= got);
        }
    }

    /// Splitting an atom between neighbours of the grid keeps both laws: the delta grows, and only a little.
    #[test]
    fn losses_are_split_upwards(loss in -3.0f64..3.0, eps in 0.0f64..2.0) {
        let grid = OnGrid::new(&Atoms::of(vec![Atom { loss, mass: 1.0 }]), 0.125);
        let stick = |loss: f64| (1.0 - (eps - loss).exp()).max(0.0);
        let split: f64 = grid.iter().map(|(index, mass)| mass * stick(index as f64 * 0.125)).sum();
        prop_assert!(split >= stick(loss) && split <= stick(loss + 0.125) * (1.0 + 1e-9) + 1e-9);
    }
}

/// A grid that rounds losses down is the mutant that the same comparison catches.
#[test]
fn a_mutant_that_rounds_losses_down_is_below_the_truth() {
    let exact = Homogeneous { each: Approx { eps: amount("0.1"), delta: amount("0") }, count: 20 };
    let detail = Detail { step: 0.03125, tail: 1e-12 };
    let event = known("0.1", "0");
    let at = |round: fn(f64) -> f64| {
        let mut atoms = atoms::atoms(&event, Direction::Remove, detail).unwrap();
        for atom in &mut atoms.list {
            atom.loss = round(atom.loss / detail.step) * detail.step;
        }
        let parts = [(OnGrid::new(&atoms, detail.step), 20)];
        let task = Task {
            parts: &parts,
            tilt: 2.0,
            steep: 3.0,
            enough: 1e-30,
            shifts: &[0.02],
            length: 256,
            first: -128,
        };
        Sum::new(&task).delta_above(0.5)
    };
    let truth = exact.delta(&Ratio::new(1, 2)).to_f64();
    assert!(at(f64::ceil) > truth && at(f64::floor) < truth, "{} {truth} {}", at(f64::floor), at(f64::ceil));
}

/// Only equal events are gathered: a small loss first must not make the larger one after it as small.
#[test]
fn unequal_events_are_not_gathered() {
    let eps = |events: &[(Event, u64)]| {
        LossDistribution::new(events.to_vec()).eps_above(&"1e-6".parse().unwrap()).unwrap().eps
    };
    let (small, large) = (known("0.1", "0"), known("2", "0"));
    let both = eps(&[(small.clone(), 1), (large.clone(), 1)]);
    assert_eq!(both, eps(&[(large.clone(), 1), (small.clone(), 1)]));
    assert!(both > eps(&[(large.clone(), 1)]) && both < eps(&[(large.clone(), 2)]));
    assert_eq!(eps(&[(small.clone(), 2), (large, 0), (small.clone(), 3)]), eps(&[(small, 5)]));
}
