//! Made-up columns: salaries and counts. The words are the operating system's, so that no two runs agree.

use equipoise_core::coins::Words;

/// A number strictly between zero and one.
#[allow(dead_code, reason = "not every program draws it")]
pub fn uniform(words: &mut impl Words) -> f64 {
    ((words.word() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

#[allow(dead_code, reason = "not every program draws it")]
pub fn normal(words: &mut impl Words) -> f64 {
    (-2.0 * uniform(words).ln()).sqrt() * (std::f64::consts::TAU * uniform(words)).cos()
}

/// Lognormal with median 45,000 and sigma 0.6.
#[allow(dead_code, reason = "not every program has salaries")]
pub fn salaries(rows: usize, words: &mut impl Words) -> Vec<f64> {
    (0..rows).map(|_| 45_000.0 * (0.6 * normal(words)).exp()).collect()
}

/// Poisson with this mean.
#[allow(dead_code, reason = "only one of the programs counts")]
pub fn counts(mean: f64, rows: usize, words: &mut impl Words) -> Vec<f64> {
    // The number of uniform numbers whose product stays above e^-mean.
    let draw = |_| {
        let (mut product, mut count) = (uniform(words), 0.0);
        while product > (-mean).exp() {
            product *= uniform(words);
            count += 1.0;
        }
        count
    };
    (0..rows).map(draw).collect()
}
