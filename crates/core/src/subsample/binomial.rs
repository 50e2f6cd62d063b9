//! Exact tails of binomial variables: how often votes agree, how often a row is drawn.

use crate::{
    interval::{Interval, exp_upper},
    ratio::Ratio,
};

/// P(Bin(trials, p) = k) for every k, enclosed. For a number of trials that may be listed.
pub(super) fn masses(trials: u64, p: &Ratio) -> Vec<Interval> {
    let q = Ratio::one() - p;
    let bits = work_bits(trials, p);
    if q.is_zero() || p.is_zero() {
        let certain = if q.is_zero() { trials } else { 0 };
        return (0..=trials)
            .map(|k| if k == certain { Interval::one(bits) } else { Interval::zero(bits) })
            .collect();
    }
    let odds = p / &q;
    let mut mass = power(&q, trials, bits);
    let mut all = Vec::with_capacity(usize::try_from(trials).expect("a list in memory") + 1);
    for k in 0..=trials {
        all.push(mass.clone());
        mass = mass.mul_ratio(&(&odds * &(Ratio::from(trials - k) / Ratio::from(k + 1))));
    }
    all
}

/// Bits that leave more than a hundred for the least likely mass.
fn work_bits(trials: u64, p: &Ratio) -> usize {
    let smaller = p.clone().min(Ratio::one() - p);
    let each = if smaller.is_zero() { 1.0 } else { -smaller.to_f64().log2() };
    // An accuracy hint: too few bits make the enclosures wide, never wrong. The product can be no smaller than this.
    let most = (trials as f64 * each.max(1.0)).min(1e6);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1e6")]
    let bits = 160 + most as usize;
    bits
}

fn power(base: &Ratio, exponent: u64, bits: usize) -> Interval {
    let (mut square, mut product, mut left) = (Interval::exact(base, bits), Interval::one(bits), exponent);
    while left > 0 {
        if left % 2 == 1 {
            product = product.mul(&square);
        }
        square = square.square();
        left /= 2;
    }
    product
}

/// P(Bin(trials, p) > most), rounded up: the exact sum, or Chernoff's bound where that is long.
pub(super) fn above_upper(trials: u64, p: &Ratio, most: u64) -> Ratio {
    if most >= trials || p.is_zero() {
        return Ratio::zero();
    }
    // Odds of one against nothing are not a number.
    if *p >= Ratio::one() {
        return Ratio::one();
    }
    if trials > LONGEST_SUM {
        return chernoff_upper(trials, p, most + 1);
    }
    // The term after `most`, then each by the ratio to the one before. All in a relative precision: the first is
    // factored out.
    let first = mass_upper(trials, p, most + 1);
    let odds = p / &(Ratio::one() - p);
    let (mut term, mut sum) = (Ratio::one(), Ratio::one());
    for k in most + 1..trials {
        term = (term * &odds * Ratio::from(trials - k) / Ratio::from(k + 1)).dyadic_up(160);
        sum = sum + &term;
        if term < Ratio::dyadic(1.into(), 150) {
            // The ratios fall, so what is left is below a geometric series.
            let ratio = &odds * &(Ratio::from(trials - k - 1) / Ratio::from(k + 2));
            if ratio < Ratio::new(1, 2) {
                sum = sum + &term + term;
                break;
            }
        }
    }
    (first * sum).min(Ratio::one())
}

/// Longer sums take too long.
const LONGEST_SUM: u64 = 1 << 20;

/// P(Bin(trials, p) = k), rounded up, by logarithms of factorials.
fn mass_upper(trials: u64, p: &Ratio, k: u64) -> Ratio {
    const BITS: usize = 256;
    let ln = |x: &Ratio| Interval::exact(x, BITS).ln();
    let q = Ratio::one() - p;
    let mut log = ln(p).mul_ratio(&Ratio::from(k));
    if k < trials {
        log = log.add(&ln(&q).mul_ratio(&Ratio::from(trials - k)));
    }
    // ln C(n, k) by products of chunks, so that few logarithms are taken.
    let small = k.min(trials - k);
    let mut product = Ratio::one();
    for i in 0..small {
        product = product * Ratio::from(trials - i) / Ratio::from(i + 1);
        if i % 16 == 15 {
            log = log.add(&ln(&product.dyadic_up(256)));
            product = Ratio::one();
        }
    }
    log.add(&ln(&product.dyadic_up(256))).exp().upper().min(Ratio::one())
}

/// P(Bin(n, p) >= k) <= e^(-n·KL(k/n, p)) for k above np, rounded up.
fn chernoff_upper(trials: u64, p: &Ratio, k: u64) -> Ratio {
    const BITS: usize = 256;
    let share = Ratio::from(k) / Ratio::from(trials);
    if share <= *p {
        return Ratio::one();
    }
    let ln = |x: &Ratio| Interval::exact(x, BITS).ln();
    let rest = Ratio::one() - &share;
    let mut exponent = ln(&(&share / p)).mul_ratio(&share);
    if rest.is_positive() {
        exponent = exponent.add(&ln(&(&rest / &(Ratio::one() - p))).mul_ratio(&rest));
    }
    let exponent = exponent.mul_ratio(&Ratio::from(trials)).lower();
    // Far below anything a delta is compared with, and quick to compute.
    let capped = exponent.min(Ratio::from(2000u64)).max(Ratio::zero());
    exp_upper(&-capped)
}

/// The least number that Bin(trials, p) exceeds with probability at most `delta`.
pub(super) fn least_exceeded(trials: u64, p: &Ratio, delta: &Ratio) -> u64 {
    let (mut low, mut high) = (None, trials);
    while low.map_or(high > 0, |low: u64| high - low > 1) {
        let middle = low.map_or(high / 2, |low| low + (high - low) / 2);
        if above_upper(trials, p, middle) <= *delta {
            high = middle;
        } else {
            low = Some(middle);
        }
        if low.is_none() && high == 0 {
            break;
        }
    }
    high
}

/// `1 - (1 - 1/rows)^size`: the chance that a sample with repetition has a given row, enclosed and rounded up.
pub(super) fn in_sample_upper(rows: u64, size: u64) -> Ratio {
    const BITS: usize = 256;
    if rows <= 1 {
        return Ratio::one();
    }
    let stays = Ratio::one() - Ratio::new(1, rows);
    let log = Interval::exact(&stays, BITS).ln().mul_ratio(&Ratio::from(size));
    Interval::one(BITS).sub(&log.exp()).upper().min(Ratio::one())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(text: &str) -> Ratio {
        text.parse().unwrap()
    }

    #[test]
    fn a_single_row_is_in_every_sample() {
        assert_eq!([in_sample_upper(1, 3), in_sample_upper(0, 1)], [Ratio::one(), Ratio::one()]);
        assert!((in_sample_upper(4, 2).to_f64() - 7.0 / 16.0).abs() < 1e-15);
    }

    #[test]
    fn masses_are_the_binomials() {
        let found = masses(4, &ratio("1/4"));
        for (mass, expected) in found.iter().zip([81, 108, 54, 12, 1]) {
            assert!((mass.to_f64() - f64::from(expected) / 256.0).abs() < 1e-15);
        }
        let all = masses(110, &ratio("0.75"));
        let sum = all.iter().fold(Interval::zero(all[0].bits()), |sum, mass| sum.add(mass));
        assert!(
            (sum.to_f64() - 1.0).abs() < 1e-14 && sum.upper() >= Ratio::one() && sum.lower() <= Ratio::one()
        );
        assert!(masses(3, &Ratio::one())[3].lower() == Ratio::one());
    }

    #[test]
    fn tails_are_the_sums_of_masses_rounded_up() {
        for (trials, p, most) in [(10, "0.3", 4), (64, "1/64", 6), (200, "0.05", 25), (30, "0.5", 0)] {
            let exact = masses(trials, &ratio(p)).iter().skip(most + 1).map(Interval::to_f64).sum::<f64>();
            let found = above_upper(trials, &ratio(p), most as u64).to_f64();
            assert!(
                found >= exact * (1.0 - 1e-12) && found <= exact * (1.0 + 1e-9),
                "{trials} {p} {most}: {found} {exact}"
            );
        }
        assert!(above_upper(5, &ratio("0.5"), 5).is_zero());
        assert!(above_upper(5, &ratio("0"), 0).is_zero());
        let long = chernoff_upper(1000, &ratio("0.1"), 200).to_f64();
        assert!(long >= above_upper(1000, &ratio("0.1"), 199).to_f64() && long < 1e-19);
    }

    /// The terms after the one at which the sum stops add up to nearly as much as it does, here.
    #[test]
    fn what_a_long_tail_leaves_out_is_counted() {
        for (trials, most) in [(4000, 1600), (4000, 1610), (3000, 1200)] {
            let p = ratio("1/4");
            let (mut term, mut sum) = (Ratio::one(), Ratio::one());
            for k in most + 1..trials {
                // Odds of one to three.
                term = (term * Ratio::from(trials - k) / Ratio::from(3 * (k + 1))).dyadic_down(400);
                sum = sum + &term;
            }
            let below = mass_upper(trials, &p, most + 1) * sum;
            let found = above_upper(trials, &p, most);
            assert!(
                found >= below && (found.to_f64() / below.to_f64() - 1.0).abs() < 1e-12,
                "{trials} {most}"
            );
        }
    }

    #[test]
    fn the_least_exceeded_number_is_least() {
        for (trials, p, delta) in
            [(100, "0.1", "1e-3"), (20, "0.5", "0.5"), (1900, "1/64", "5e-7"), (3, "0.9", "0.9")]
        {
            let (p, delta) = (ratio(p), ratio(delta));
            let found = least_exceeded(trials, &p, &delta);
            assert!(above_upper(trials, &p, found) <= delta);
            assert!(found == 0 || above_upper(trials, &p, found - 1) > delta);
        }
    }

    #[test]
    fn what_is_certain_has_a_tail_of_one() {
        assert_eq!(above_upper(5, &Ratio::one(), 4), Ratio::one());
        assert_eq!(least_exceeded(5, &Ratio::one(), &ratio("1e-3")), 5);
    }

    #[test]
    fn samples_with_repetition() {
        assert!((in_sample_upper(64, 1).to_f64() - 1.0 / 64.0).abs() < 1e-15);
        assert!((in_sample_upper(2, 2).to_f64() - 0.75).abs() < 1e-15);
        // Exactly 5/9, and 1 - (63/64)^40 and the like, which no enclosure holds exactly: it is above, and by hardly anything.
        for (rows, size) in [(3, 2), (7, 5), (1000, 40)] {
            let exact = Ratio::one()
                - (0..size).fold(Ratio::one(), |left, _| left * (Ratio::one() - Ratio::new(1, rows)));
            let found = in_sample_upper(rows, size);
            assert!(found >= exact && found - exact < Ratio::dyadic(1.into(), 200), "{rows} {size}");
        }
    }
}
