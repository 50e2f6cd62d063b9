//! Clopper and Pearson's bounds on a probability from a count.
//!
//! # Guarantee
//!
//! `lower(k, n, a)` exceeds the true chance with probability at most a, and `upper` falls below it with probability at
//! most a, for k successes among n independent runs.
//!
//! # Why
//!
//! The lower bound is the chance p at which k or more successes have probability a. Tails are summed term by term, from
//! k outwards, in floats; the first term comes from Stirling's series. Both together are right within a part in 10^8, and
//! the bounds are moved outwards by a part in 10^7.

/// ln n!, by Stirling's series from 16 on.
fn ln_factorial(n: usize) -> f64 {
    if n < 16 {
        return (2..=n).map(|i| (i as f64).ln()).sum();
    }
    let x = n as f64;
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    (x + 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

/// The chance of `k` or more successes among `n` at chance `p`, for p below k/n.
fn tail(k: usize, n: usize, p: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    let log = ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
        + k as f64 * p.ln()
        + (n - k) as f64 * (-p).ln_1p();
    let odds = p / (1.0 - p);
    let (mut sum, mut term, mut i) = (0.0, 1.0, k);
    while i <= n && term > 1e-12 * sum {
        sum += term;
        term *= odds * (n - i) as f64 / (i + 1) as f64;
        i += 1;
    }
    log.exp() * sum
}

/// A lower bound on the chance that gave `k` successes among `n`, wrong with probability at most `risk`.
pub fn lower(k: usize, n: usize, risk: f64) -> f64 {
    assert!(k <= n && risk > 0.0 && risk < 1.0, "a count among runs, and a risk");
    if k == 0 {
        return 0.0;
    }
    // `low` has always been certified: its tail is at most the risk.
    let (mut low, mut high) = (0.0, k as f64 / n as f64);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if tail(k, n, middle) <= risk { low = middle } else { high = middle }
    }
    low * (1.0 - 1e-7)
}

/// An upper bound, likewise.
pub fn upper(k: usize, n: usize, risk: f64) -> f64 {
    (1.0 - lower(n - k, n, risk)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use equipoise_core::ratio::Ratio;

    /// The tail in exact numbers.
    fn exact_tail(k: usize, n: usize, p: &Ratio) -> f64 {
        let mut sum = Ratio::zero();
        let (mut choose, q) = (Ratio::one(), Ratio::one() - p);
        let power = |base: &Ratio, times: usize| (0..times).fold(Ratio::one(), |product, _| product * base);
        for i in 0..=n {
            if i >= k {
                sum = sum + &choose * &(power(p, i) * power(&q, n - i));
            }
            choose = choose * Ratio::from((n - i) as u64) / Ratio::from(i as u64 + 1);
        }
        sum.to_f64()
    }

    #[test]
    fn tails_agree_with_exact_sums() {
        for (k, n, p) in [(1, 10, "0.05"), (7, 20, "0.1"), (20, 40, "0.3"), (40, 40, "0.9"), (3, 37, "0.001")]
        {
            let p: Ratio = p.parse().unwrap();
            let (got, truth) = (tail(k, n, p.to_f64()), exact_tail(k, n, &p));
            assert!((got / truth - 1.0).abs() < 1e-8, "{k} {n}: {got} {truth}");
        }
    }

    #[test]
    fn bounds_are_those_of_the_tables() {
        // 0 of 10 at 2.5%: 1 - 0.025^(1/10).
        assert!((upper(0, 10, 0.025) - (1.0 - 0.025f64.powf(0.1))).abs() < 1e-6);
        assert!((lower(10, 10, 0.025) - 0.025f64.powf(0.1)).abs() < 1e-6);
        assert!(lower(0, 10, 0.025) <= 0.0 && upper(10, 10, 0.025) >= 1.0);
        // 5 of 20 at 2.5% each side: 0.0866 to 0.4910.
        assert!((lower(5, 20, 0.025) - 0.0866).abs() < 1e-4 && (upper(5, 20, 0.025) - 0.4910).abs() < 1e-4);
        let (low, high) = (lower(500_000, 1_000_000, 1e-9), upper(500_000, 1_000_000, 1e-9));
        assert!(low > 0.4965 && high < 0.5035 && (low + high - 1.0).abs() < 1e-6, "{low} {high}");
    }

    #[test]
    fn at_its_bound_the_tail_is_the_risk() {
        for (k, n, risk) in [(3, 50, 1e-3), (49, 50, 1e-6), (1, 1000, 0.1)] {
            let bound = lower(k, n, risk);
            assert!(tail(k, n, bound) <= risk && tail(k, n, bound * 1.001) > risk * 0.9);
        }
    }
}
