//! Tests of the threshold monitor: figures, exact transcripts, the worst adversary.

use super::*;
use crate::{
    coins::ScriptedWords,
    interval::{AUDIT_BITS, Interval},
    tape::{Pmf, Tape, delta_between, enumerate},
};
use Adjacency::{AddRemove, Replace};

fn ratio(text: &str) -> Ratio {
    text.parse().unwrap()
}

fn monitor(eps: &str, delta: &str, budget: u64, noise: Noise) -> ThresholdMonitor {
    ThresholdMonitor {
        eps: eps.parse().unwrap(),
        delta: delta.parse().unwrap(),
        budget,
        contributions: Contributions::Binary,
        noise,
        adjacency: AddRemove,
    }
}

/// The table of scales on the theory page, delta 1e-6: exact, Renyi, Laplace.
#[test]
fn scales_of_the_theory_page() {
    for (budget, eps, exact, renyi, laplace) in [
        (1, "1", 10.92, 13.45, 15.75),
        (10, "1", 19.72, 22.3, 28.45),
        (100, "1", 48.36, 52.8, 69.8),
        (1000, "1", 139.6, 151.0, 202.0),
        (1, "0.1", 84.4, 108.0, 122.0),
        (10, "0.1", 162.0, 186.0, 233.0),
        (100, "0.1", 408.0, 452.0, 589.0),
    ] {
        let gumbel = monitor(eps, "1e-6", budget, Noise::Gumbel);
        let parts =
            ThresholdMonitor { contributions: Contributions::Fractional { bits: 10 }, ..gumbel.clone() };
        let printed = ThresholdMonitor { noise: Noise::Laplace, ..gumbel.clone() };
        for (shape, expected) in [(gumbel, exact), (parts, renyi), (printed, laplace)] {
            // The least scale that keeps the claim is within six parts in a thousand of the page's.
            let near = |factor: f64| shape.keeps(&Ratio::from_f64_exact(expected * factor).unwrap());
            assert!(near(1.006) && !near(0.994), "{budget} {eps} {shape:?}");
        }
    }
    let claimed = monitor("1", "1e-6", 10, Noise::Gumbel).calibrate().unwrap();
    assert!(*claimed.scale() <= ratio("19.8"));
}

#[test]
fn calibration_goes_both_ways() {
    let gumbel = monitor("1", "1e-6", 10, Noise::Gumbel).calibrate().unwrap();
    let back = monitor("5", "1e-6", 10, Noise::Gumbel).at_scale(gumbel.scale()).unwrap();
    assert_eq!(back.cost().to_string(), "(1, 0.000001)-differential privacy");
    let less = gumbel.at_delta(&"1e-3".parse().unwrap()).unwrap();
    assert!(less.eps.ratio().to_f64() < 0.7, "{:?}", less.eps);
    // Two budgets under replace, by the Renyi bound: that of 2k.
    let replace = ThresholdMonitor { adjacency: Replace, ..monitor("1", "1e-6", 5, Noise::Gumbel) };
    let parts = Contributions::Fractional { bits: 4 };
    let twice = ThresholdMonitor { contributions: parts, ..monitor("1", "1e-6", 10, Noise::Gumbel) };
    assert_eq!(replace.calibrate().unwrap().scale(), twice.calibrate().unwrap().scale());
}

/// The noise that the text prints for epsilon 1 keeps an epsilon below one tenth.
#[test]
fn printed_forms_cost_what_their_noise_keeps() {
    let simplified = simplified_monitor(&"1".parse().unwrap(), &"1e-6".parse().unwrap()).unwrap();
    assert!((simplified.scale().to_f64() - 10.0 * 13.815_510_557_964_274f64.powi(2)).abs() < 1e-6);
    let Loss::Approx(cost) = simplified.cost() else { panic!("(epsilon, delta)") };
    assert!(cost.eps.ratio().to_f64() < 0.01, "{}", cost.eps);
    let half = simplified_monitor(&"0.5".parse().unwrap(), &"1e-6".parse().unwrap()).unwrap();
    assert!((half.scale().to_f64() - 20.0 * 13.815_510_557_964_274f64.powi(2)).abs() < 1e-6);
    let halting = above_noiseless_threshold(&"1".parse().unwrap(), &"1e-6".parse().unwrap()).unwrap();
    let mut watch = halting.start(1);
    let far = ratio("-1e9");
    let mut coins = ScriptedWords::new(vec![1 << 63]);
    assert_eq!(watch.ask(&[0], &far, &mut coins), Answer::Above);
    assert_eq!(watch.ask(&[0], &far, &mut coins), Answer::Halted);
}

/// Questions of an adversary: which values say yes, and the threshold, by all answers so far.
type Adversary = fn(&[Answer]) -> (Vec<i64>, i64);

const STUBBORN: Adversary = |_| (vec![1], 3);
const CURIOUS: Adversary = |so_far| match so_far.last() {
    None | Some(Answer::Below) => (vec![1, 2], 2 + i64::try_from(so_far.len()).unwrap() % 2),
    Some(_) => (vec![1], 1),
};

fn transcript(watched: &Calibrated, rows: &[i64], rounds: usize, adversary: Adversary) -> Pmf<Vec<Answer>> {
    enumerate(&ratio("1e-14"), |tape: &mut Tape| {
        let mut watch = watched.start(rows.len());
        let mut answers = Vec::new();
        for _ in 0..rounds {
            let (values, threshold) = adversary(&answers);
            let yes =
                rows.iter().enumerate().fold(0, |bits, (i, row)| bits | u64::from(values.contains(row)) << i);
            answers.push(watch.ask(&[yes], &Ratio::from(threshold), tape));
        }
        answers
    })
}

/// The worst delta at `eps` over one row more.
fn worst(watched: &Calibrated, eps: &str, rounds: usize) -> Interval {
    let mut worst = Interval::zero(AUDIT_BITS);
    for adversary in [STUBBORN, CURIOUS] {
        for rows in [&[][..], &[1], &[1, 2]] {
            let with = [rows, &[1]].concat();
            let pair = [rows, &with].map(|rows| transcript(watched, rows, rounds, adversary));
            worst = worst.max(&delta_between(&ratio(eps), &pair[0], &pair[1]));
        }
    }
    worst
}

const NOISES: [Noise; 4] =
    [Noise::Gumbel, Noise::Saturated { strength: 2 }, Noise::Laplace, Noise::TwoLaplace { factor: 3 }];

#[test]
fn exact_audit_transcripts_keep_the_claim() {
    for noise in NOISES {
        for budget in [1, 2] {
            let shape = monitor("1", "1e-6", budget, noise);
            let watched = shape.at_scale(&ratio("2")).unwrap();
            let claim = shape.delta_upper(&ratio("2"), &ratio("0.5")).unwrap();
            let found = worst(&watched, "0.5", 7);
            assert!(found.upper() <= claim, "{noise:?} {budget}: {} {}", found.to_f64(), claim.to_f64());
            assert!(found.lower() > claim / Ratio::from(40u64), "{noise:?} {budget} {}", found.to_f64());
        }
    }
}

#[test]
fn a_mutant_that_never_deletes_is_caught() {
    for noise in NOISES {
        let shape = monitor("1", "1e-6", 1, noise);
        let claim = shape.delta_upper(&ratio("2"), &ratio("0.5")).unwrap();
        let mut watched = shape.at_scale(&ratio("2")).unwrap();
        watched.monitor.budget = 1000;
        assert!(worst(&watched, "0.5", 9).lower() > claim, "{noise:?}");
    }
}

/// The best delta that any adversary reaches, by dynamic programming over the log-ratio (Bellman's equation).
///
/// Each step chooses a rate r; staying silent moves the log-ratio by -+u·r, a whole number of grid steps, and
/// an arrival by the log-ratio of both arrival chances, between grid points.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "places on a small grid")]
fn best_adversary(budget: usize, scale: f64, eps: f64, with_the_record: bool) -> f64 {
    let (a, step, reach) = (1.0 / scale, 0.004, 4.0);
    let (growth, u) = (f64::exp(a), f64::exp_m1(a));
    let points = 2 * (reach / step) as usize + 1;
    let at = |i: usize| i as f64 * step - reach;
    let payoff = |loss: f64| (1.0 - (eps - loss).exp()).max(0.0);
    let mut after: Vec<f64> = (0..points).map(|i| payoff(at(i))).collect();
    let jumps = [1usize, 2, 4, 8, 16, 64, 256];
    for _ in 0..budget {
        let mut now = vec![0.0; points];
        let order: Vec<usize> =
            if with_the_record { (0..points).collect() } else { (0..points).rev().collect() };
        for i in order {
            let mut best = payoff(at(i));
            for jump in jumps {
                let r = jump as f64 * step / u;
                // In the world that counts, silence is this likely and moves this way.
                let (silent, moved, sign) = if with_the_record {
                    ((-r * growth).exp(), i.checked_sub(jump), 1.0)
                } else {
                    ((-r).exp(), Some(i + jump).filter(|&j| j < points), -1.0)
                };
                let ring = ((-r * growth).exp_m1() / (-r).exp_m1()).ln() * sign;
                let place = (at(i) + ring + reach) / step;
                let (low, part) = (place.floor().clamp(0.0, points as f64 - 2.0), place.fract());
                let low = low as usize;
                let then = after[low] * (1.0 - part) + after[low + 1] * part;
                best = best.max(silent * moved.map_or(0.0, |j| now[j]) + (1.0 - silent) * then);
            }
            now[i] = best;
        }
        after = now;
    }
    after[points / 2]
}

#[test]
fn no_adversary_does_better_than_the_curve_and_some_do_as_well() {
    for (budget, scale, eps) in [(1, 6.0, 1.0), (4, 6.0, 1.0), (2, 3.0, 0.5)] {
        let claim = Arrivals::new(budget as u64, &Ratio::from_f64_exact(1.0 / scale).unwrap())
            .delta_upper(&Ratio::from_f64_exact(eps).unwrap())
            .to_f64();
        let found = [true, false].map(|with| best_adversary(budget, scale, eps, with));
        let best = found[0].max(found[1]);
        assert!(best < claim * 1.02 && best > claim * 0.97, "{budget} {scale} {eps}: {found:?} {claim}");
    }
}

/// Parts of one, both signs, both adjacencies: the Renyi claim holds for exact transcripts.
#[test]
fn exact_audit_parts_and_signs_keep_the_renyi_claim() {
    let eps = ratio("1");
    for (contributions, adjacency, rows) in [
        (Contributions::Fractional { bits: 1 }, AddRemove, [vec![2, 1], vec![2]]),
        (Contributions::Signed { bits: 1 }, AddRemove, [vec![-2, 1], vec![1]]),
        (Contributions::Signed { bits: 1 }, Replace, [vec![2, 1], vec![-2, 1]]),
    ] {
        let shape = ThresholdMonitor { contributions, adjacency, ..monitor("1", "0.05", 1, Noise::Gumbel) };
        let watched = shape.calibrate().unwrap();
        let run = |rows: &Vec<i64>| {
            enumerate(&ratio("1e-14"), |tape: &mut Tape| {
                let mut watch = watched.start(rows.len());
                (0..6).map(|_| watch.ask_units(rows, &Ratio::one(), tape)).collect::<Vec<_>>()
            })
        };
        let found = delta_between(&eps, &run(&rows[0]), &run(&rows[1]));
        assert!(found.upper() <= ratio("0.05"), "{contributions:?} {adjacency}: {}", found.to_f64());
    }
}

#[test]
fn contributions_are_cut_to_what_is_left() {
    let shape = ThresholdMonitor {
        contributions: Contributions::Fractional { bits: 2 },
        ..monitor("1", "0.1", 1, Noise::Gumbel)
    };
    let mut watch = shape.calibrate().unwrap().start(2);
    watch.record_units(&[3, 1], Answer::Above);
    let cut = [(3, 1), (-1, 4)].map(|(units, left)| cut(units, left, watch.range()));
    assert_eq!((watch.left.as_slice(), cut), ([1, 3].as_slice(), [1, 0]));
    watch.record_units(&[3, 1, 4], Answer::Above);
    watch.record_units(&[3, 1], Answer::Below);
    assert_eq!((watch.left.as_slice(), watch.active[0]), ([0, 2].as_slice(), 0b10));
    // A yes counts one whole, or what is left.
    watch.record(&[0b11], Answer::Above);
    assert_eq!((watch.left.as_slice(), watch.active[0]), ([0, 0].as_slice(), 0));
    let bits = Contributions::Signed { bits: 3 };
    let real = [0.3, -0.99, 2.0, f64::NEG_INFINITY, f64::NAN, -0.0].map(|x| bits.units(x));
    assert_eq!(real, [2, -7, 8, -8, 0, 0]);
    assert_eq!(Contributions::Binary.units(0.99), 0);
}

/// A log of answers brings back the same state as asking did.
#[test]
fn a_log_rebuilds_the_monitor() {
    let watched = monitor("1", "0.1", 2, Noise::Gumbel).calibrate().unwrap();
    let (mut live, mut rebuilt) = (watched.start(70), watched.start(70));
    let mut coins = ScriptedWords::new((0..30u64).map(|i| i << 59).collect());
    for round in 0..20u64 {
        let yes = [u64::MAX >> round, round];
        let answer = live.ask(&yes, &Ratio::from(50u64), &mut coins);
        rebuilt.record(&yes, answer);
    }
    assert_eq!((&live.left, &live.active), (&rebuilt.left, &rebuilt.active));
    assert!(live.left.iter().any(|&left| left < 2));
}

#[test]
fn a_scripted_question() {
    let watched = monitor("1", "0.1", 1, Noise::Saturated { strength: 1 }).calibrate().unwrap();
    // At the threshold: silent with probability 1/e = 0.3679, word 0x5e2d58d8b3bcdf1a.
    for (word, answer) in [(0x5e2d_58d8_b3bc_df19, Answer::Below), (0x5e2d_58d8_b3bc_df1b, Answer::Above)] {
        let mut watch = watched.start(2);
        assert_eq!(watch.ask(&[0b111], &Ratio::from(2u64), &mut ScriptedWords::new(vec![word])), answer);
        assert_eq!(watch.active[0], if answer == Answer::Above { 0 } else { 0b11 });
    }
}

#[test]
fn far_values_are_answered_rightly_as_often_as_said() {
    let (questions, beta) = (10, ratio("0.01"));
    for noise in
        [Noise::Gumbel, Noise::Saturated { strength: 8 }, Noise::Laplace, Noise::TwoLaplace { factor: 4 }]
    {
        let watched = monitor("1", "0.01", 1, noise).calibrate().unwrap();
        let accuracy = watched.accuracy(questions, &beta);
        let silent = |excess: Ratio| {
            use crate::chance::Chance as _;
            let silence = Silence { noise, scale: watched.scale(), threshold: &-excess, one: 1, value: 0 };
            silence.enclose(AUDIT_BITS)
        };
        let each = &beta / &Ratio::from(questions);
        assert!(silent(accuracy.above.unwrap()).upper() <= each, "{noise:?}");
        assert!(Ratio::one() - silent(-accuracy.below).lower() <= each, "{noise:?}");
    }
    let weak = monitor("1", "0.01", 1, Noise::Saturated { strength: 1 }).calibrate().unwrap();
    assert_eq!(weak.accuracy(questions, &beta).above, None);
}

#[test]
fn what_cannot_be_calibrated_is_said_in_one_line() {
    let good = monitor("1", "1e-6", 10, Noise::Gumbel);
    for (bad, text) in [
        (
            ThresholdMonitor { delta: Delta::zero(), ..good.clone() },
            "delta 0 is not accepted: a monitor needs",
        ),
        (ThresholdMonitor { budget: 0, ..good.clone() }, "budget 0 is not accepted"),
        (ThresholdMonitor { budget: 2_000_000, ..good.clone() }, "budget 2000000 is not accepted"),
        (ThresholdMonitor { noise: Noise::Saturated { strength: 0 }, ..good.clone() }, "strength 0"),
        (ThresholdMonitor { contributions: Contributions::Signed { bits: 33 }, ..good.clone() }, "bits 33"),
    ] {
        let error = bad.calibrate().unwrap_err().to_string();
        assert!(error.starts_with(text) && !error.contains('\n'), "{error}");
    }
    assert!(good.at_scale(&ratio("-1")).unwrap_err().to_string().starts_with("scale -1 is not accepted"));
}

#[test]
fn the_simplified_monitor_needs_a_delta_too() {
    let error = simplified_monitor(&"1".parse().unwrap(), &Delta::zero()).unwrap_err().to_string();
    assert!(error.contains("a monitor needs a delta above 0"), "{error}");
}
