//! Made-up tables, least squares and logistic regression, as any user might write them.

use crate::data::{normal, uniform};
use equipoise_core::coins::Words;

/// Rows of features with one response each.
pub struct Table {
    features: Vec<f64>,
    width: usize,
    response: Vec<f64>,
}

impl Table {
    /// Coefficients 1, -2, 3, … over a third, and noise that leaves an r² of about 0.911.
    pub fn linear(rows: usize, width: usize, words: &mut impl Words) -> Self {
        let weights = weights(width, 1.0 / 3.0);
        let signal: f64 = weights.iter().map(|w| w * w).sum();
        let noise = (signal * (1.0 / 0.911 - 1.0)).sqrt();
        Self::make(rows, width, words, |score, words| score + 1.0 + noise * normal(words), &weights)
    }

    /// Labels 0 and 1 with the odds of a linear score.
    pub fn logistic(rows: usize, width: usize, words: &mut impl Words) -> Self {
        let weights = weights(width, 0.15);
        let label = |score: f64, words: &mut _| f64::from(uniform(words) < 1.0 / (1.0 + (-score).exp()));
        Self::make(rows, width, words, label, &weights)
    }

    fn make<W: Words>(
        rows: usize,
        width: usize,
        words: &mut W,
        response: impl Fn(f64, &mut W) -> f64,
        weights: &[f64],
    ) -> Self {
        let features: Vec<f64> = (0..rows * width).map(|_| normal(words)).collect();
        let score = |row: &[f64]| row.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
        let response = features.chunks_exact(width).map(|row| response(score(row), words)).collect();
        Self { features, width, response }
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.response.len()
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.features[row * self.width..(row + 1) * self.width]
    }

    fn score(&self, row: usize, fit: &[f64]) -> f64 {
        fit[0] + self.row(row).iter().zip(&fit[1..]).map(|(x, w)| x * w).sum::<f64>()
    }
}

fn weights(width: usize, scale: f64) -> Vec<f64> {
    (0..width).map(|i| scale * (i + 1) as f64 * if i % 2 == 0 { 1.0 } else { -1.0 }).collect()
}

/// Weighted sums of squares and products, with an intercept first, then solved by Cholesky's method.
fn solve(table: &Table, rows: &[usize], weight: impl Fn(usize) -> (f64, f64)) -> Vec<f64> {
    let n = table.width + 1;
    let (mut matrix, mut right) = (vec![0.0; n * n], vec![0.0; n]);
    let mut x = vec![1.0; n];
    for &row in rows {
        x[1..].copy_from_slice(table.row(row));
        let (weight, response) = weight(row);
        for i in 0..n {
            right[i] += weight * response * x[i];
            for j in 0..=i {
                matrix[i * n + j] += weight * x[i] * x[j];
            }
        }
    }
    for i in 0..n {
        matrix[i * n + i] += 1e-6;
        for j in 0..=i {
            let sum = matrix[i * n + j] - (0..j).map(|k| matrix[i * n + k] * matrix[j * n + k]).sum::<f64>();
            matrix[i * n + j] = if i == j { sum.max(1e-12).sqrt() } else { sum / matrix[j * n + j] };
        }
    }
    for i in 0..n {
        right[i] = (right[i] - (0..i).map(|k| matrix[i * n + k] * right[k]).sum::<f64>()) / matrix[i * n + i];
    }
    for i in (0..n).rev() {
        right[i] =
            (right[i] - (i + 1..n).map(|k| matrix[k * n + i] * right[k]).sum::<f64>()) / matrix[i * n + i];
    }
    right
}

/// Least squares with an intercept.
pub fn least_squares(table: &Table, rows: &[usize]) -> Vec<f64> {
    solve(table, rows, |row| (1.0, table.response[row]))
}

/// Logistic regression with an intercept by eight Newton steps, with a weak prior so that small blocks have an answer.
pub fn logistic(table: &Table, rows: &[usize]) -> Vec<f64> {
    let mut fit = vec![0.0; table.width + 1];
    for _ in 0..8 {
        let current = fit.clone();
        fit = solve(table, rows, |row| {
            let score = table.score(row, &current);
            let chance = 1.0 / (1.0 + (-score).exp());
            let weight = (chance * (1.0 - chance)).max(1e-4);
            (weight, score + (table.response[row] - chance) / weight)
        });
    }
    fit
}

/// The share of the response's variance that the fit explains.
pub fn r_squared(table: &Table, fit: &[f64]) -> f64 {
    let mean = table.response.iter().sum::<f64>() / table.rows() as f64;
    let total: f64 = table.response.iter().map(|y| (y - mean).powi(2)).sum();
    let left: f64 = (0..table.rows()).map(|row| (table.response[row] - table.score(row, fit)).powi(2)).sum();
    1.0 - left / total
}

/// The share of labels that the fit gets right.
pub fn accuracy_of(table: &Table, fit: &[f64]) -> f64 {
    let right = (0..table.rows()).filter(|&row| (table.score(row, fit) > 0.0) == (table.response[row] > 0.5));
    right.count() as f64 / table.rows() as f64
}
