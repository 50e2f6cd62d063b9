//! Example 7.2: which features does LASSO find significant? As a whole set, and feature by feature.

use equipoise_core::{
    adjacency::Adjacency,
    loss::rho_for,
    subsample::{
        blocks::{Runner, labels},
        features::Features,
        partition::{Design, Partition},
    },
};
use equipoise_entropy::OsCoins;
use equipoise_examples::{Budget, Failure, normal, show};
use linfa::{Dataset, traits::Fit};
use linfa_elasticnet::ElasticNet;
use ndarray::{Array1, Array2};

const FEATURES: usize = 40;
const ROWS: usize = 30_000;

fn main() -> Result<(), Failure> {
    let mut coins = OsCoins::new()?;
    let budget = Budget::new("1", "1e-6")?;
    for (name, strength) in [("three features matter", 1.0), ("they hardly matter", 0.14)] {
        println!("LASSO on {ROWS} rows and {FEATURES} features, {name}, epsilon 1");
        let x = Array2::from_shape_fn((ROWS, FEATURES), |_| normal(&mut coins));
        let y = Array1::from_shape_fn(ROWS, |row| {
            strength * (2.0 * x[[row, 3]] - 1.5 * x[[row, 17]] + x[[row, 31]]) + normal(&mut coins)
        });
        let lasso = |rows: &[usize]| -> Vec<usize> {
            let data = Dataset::new(x.select(ndarray::Axis(0), rows), y.select(ndarray::Axis(0), rows));
            let Ok(model) = ElasticNet::lasso().penalty(0.2).fit(&data) else { return Vec::new() };
            (0..FEATURES).filter(|&feature| model.hyperplane()[feature] != 0.0).collect()
        };
        let all = lasso(&(0..ROWS).collect::<Vec<_>>());
        println!(" as a whole:");
        let private = budget.label(ROWS, 100, &Vec::new(), |block| lasso(block.rows()), &mut coins)?;
        show(&private, &all);
        println!(" feature by feature:");
        let partition =
            Partition { design: Design::Rows { blocks: 200, rounds: 1 }, adjacency: Adjacency::AddRemove }
                .calibrate()?;
        let touch = partition.touch();
        let rho = rho_for(&budget.eps, &budget.delta)?;
        let counter = Features { rho, features: FEATURES, largest: 8, touch }.calibrate()?;
        println!("  plan: 200 blocks, {}", counter.cost());
        let blocks = partition.deal_rows(ROWS, &mut coins);
        let votes = labels(Runner::default().run(&blocks, |block| lasso(block.rows())), &Vec::new());
        let chosen: Vec<usize> =
            counter.run(&votes, &mut coins).into_iter().map(|(feature, _)| feature).collect();
        println!("  private: {chosen:?}\n  bare:    {all:?}");
    }
    Ok(())
}
