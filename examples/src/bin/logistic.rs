//! Logistic regression by a library that knows nothing of privacy, without bounds on its coefficients.

use equipoise_core::outcome::Outcome;
use equipoise_entropy::OsCoins;
use equipoise_examples::{Budget, Failure, normal, show, uniform};
use linfa::{Dataset, traits::Fit};
use linfa_logistic::LogisticRegression;
use ndarray::{Array1, Array2, Axis};

const WEIGHTS: [f64; 3] = [1.5, -1.0, 0.5];

fn main() -> Result<(), Failure> {
    let mut coins = OsCoins::new()?;
    for (rows, eps) in [(60_000, "1"), (4_000, "0.3")] {
        println!("Logistic regression, {rows} rows, 3 features, epsilon {eps}");
        let x = Array2::from_shape_fn((rows, 3), |_| normal(&mut coins));
        let y = Array1::from_shape_fn(rows, |row| {
            let score: f64 = (0..3).map(|i| WEIGHTS[i] * x[[row, i]]).sum();
            usize::from(uniform(&mut coins) < 1.0 / (1.0 + (-score).exp()))
        });
        let fit = |rows: &[usize]| -> Vec<f64> {
            let data = Dataset::new(x.select(Axis(0), rows), y.select(Axis(0), rows));
            match LogisticRegression::default().max_iterations(60).fit(&data) {
                // The library names its classes by itself; the second of the labels is the one we mean.
                Ok(model) => {
                    let sign = if model.labels().pos.class == 1 { 1.0 } else { -1.0 };
                    model
                        .params()
                        .iter()
                        .map(|weight| sign * weight)
                        .chain([sign * model.intercept()])
                        .collect()
                }
                Err(_) => vec![0.0; 4],
            }
        };
        let all: Vec<usize> = (0..rows).collect();
        match Budget::new(eps, "1e-6")?.vector(rows, 80, 4, |block| fit(block.rows()), &mut coins) {
            Ok(private) => show(&private, &fit(&all)),
            Err(reason) => show(&Outcome::<Vec<f64>>::Refused, &format!("not run: {reason}")),
        }
    }
    Ok(())
}
