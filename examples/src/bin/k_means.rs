//! k-means: the centres of each block, in a fixed order, are one vector.

use equipoise_core::outcome::Outcome;
use equipoise_entropy::OsCoins;
use equipoise_examples::{Budget, Failure, normal, show, uniform};
use linfa::{DatasetBase, traits::Fit};
use linfa_clustering::KMeans;
use ndarray::{Array2, Axis};

fn main() -> Result<(), Failure> {
    let mut coins = OsCoins::new()?;
    let budget = Budget::new("1", "1e-6")?;
    for (name, apart) in [("three clusters", 8.0), ("one cluster taken for three", 0.0)] {
        let rows = 60_000;
        println!("k-means of {rows} points in the plane, {name}, epsilon 1");
        let centres = [[0.0, 0.0], [apart, 0.0], [0.0, apart]];
        let points = Array2::from_shape_vec(
            (rows, 2),
            (0..rows)
                .flat_map(|_| {
                    let centre = centres[(uniform(&mut coins) * 3.0) as usize];
                    [centre[0] + normal(&mut coins), centre[1] + normal(&mut coins)]
                })
                .collect(),
        )?;
        let fit = |rows: &[usize]| -> Vec<f64> {
            let data = DatasetBase::from(points.select(Axis(0), rows));
            let Ok(model) = KMeans::params(3).n_runs(4).max_n_iterations(60).fit(&data) else {
                return vec![0.0; 6];
            };
            let mut found: Vec<Vec<f64>> =
                model.centroids().rows().into_iter().map(|row| row.to_vec()).collect();
            // Along a fixed direction, so that centres come in the same order in every block.
            found.sort_by(|a, b| (a[0] + 3.0 * a[1]).total_cmp(&(b[0] + 3.0 * b[1])));
            found.concat()
        };
        let all: Vec<usize> = (0..rows).collect();
        match budget.vector(rows, 100, 6, |block| fit(block.rows()), &mut coins) {
            Ok(private) => show(&private, &fit(&all)),
            Err(reason) => show(&Outcome::<Vec<f64>>::Refused, &format!("not run: {reason}")),
        }
    }
    Ok(())
}
