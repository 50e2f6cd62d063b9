//! How far private quantiles without bounds are off, on made-up salaries and counts.
//!
//! Everything searches all finite floats under add/remove. Errors are against the same statistic of the
//! same rows; the coverage of intervals is against the population.

mod data;

use equipoise_core::{
    adjacency::Adjacency,
    loss::Eps,
    mechanism::{
        inverse_sensitivity::InverseSensitivity, quantile_interval::QuantileInterval, quantiles::Quantiles,
    },
    ratio::Ratio,
    stability::{Median, Quantile, lattice::FLOATS},
};
use equipoise_entropy::OsCoins;
use std::error::Error;

const TRIALS: usize = 200;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let mut coins = OsCoins::new()?;
    println!("Median of {TRIALS} trials unless said otherwise; all finite floats, add/remove.\n");
    medians(&mut coins)?;
    several(&mut coins)?;
    intervals(&mut coins)
}

fn single(eps: Ratio, p: &str) -> Result<InverseSensitivity, Failure> {
    let target = Quantile::new(&p.parse()?)?.into();
    Ok(InverseSensitivity { eps: Eps::new(eps)?, target, range: FLOATS, adjacency: Adjacency::AddRemove })
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn sorted(mut rows: Vec<f64>) -> Vec<f64> {
    rows.sort_by(f64::total_cmp);
    rows
}

fn medians(coins: &mut OsCoins) -> Result<(), Failure> {
    println!("{:>8}  {:>7}  relative error of the median of salaries", "rows", "epsilon");
    for (rows, eps) in [(1_000, "0.1"), (1_000, "1"), (100_000, "0.1"), (100_000, "1")] {
        let median = single(eps.parse()?, "1/2")?.calibrate()?;
        let errors = (0..TRIALS).map(|_| {
            let column = sorted(data::salaries(rows, coins));
            let answer = median.run_floats(&column, coins);
            (answer / column[(rows - 1) / 2] - 1.0).abs()
        });
        println!("{rows:>8}  {eps:>7}  {:.2e}", middle(errors.collect()));
    }
    println!("\n{:>8}  {:>7}  trials with the exact median of Poisson(8) counts", "rows", "epsilon");
    for (rows, eps) in [(1_000, "1"), (100_000, "0.1"), (100_000, "1")] {
        let median = single(eps.parse()?, "1/2")?.calibrate()?;
        let exact = (0..TRIALS).filter(|_| {
            let column = sorted(data::counts(rows, coins));
            let answer = median.run_floats(&column, coins);
            answer.total_cmp(&column[(rows - 1) / 2]).is_eq()
        });
        println!("{rows:>8}  {eps:>7}  {} of {TRIALS}", exact.count());
    }
    println!();
    Ok(())
}

/// Ranks off: the mean and the median over all answers of all trials.
fn several(coins: &mut OsCoins) -> Result<(), Failure> {
    let deciles: Vec<String> = (1..=9).map(|i| format!("0.{i}")).collect();
    let deciles: Vec<&str> = deciles.iter().map(String::as_str).collect();
    let lists = [&["1/4", "3/4"][..], &["1/4", "1/2", "3/4"], &["0.1", "1/4", "1/2", "3/4", "0.9"], &deciles];
    println!(
        "{:>8}  {:>7}  {:>9}  {:>24}  {:>24}",
        "rows", "epsilon", "quantiles", "recursive: ranks off", "one by one: ranks off"
    );
    for (rows, eps) in [(1_000, "1"), (1_000, "0.1"), (10_000, "0.1"), (100_000, "1")] {
        for list in lists {
            let fractions: Vec<Ratio> = list.iter().map(|p| p.parse()).collect::<Result<_, _>>()?;
            let together =
                Quantiles { eps: eps.parse()?, fractions, range: FLOATS, adjacency: Adjacency::AddRemove };
            let together = together.calibrate()?;
            let share = eps.parse::<Ratio>()? / Ratio::from(list.len() as u64);
            let apart: Vec<_> = list
                .iter()
                .map(|p| Ok(single(share.clone(), p)?.calibrate()?))
                .collect::<Result<_, Failure>>()?;
            let (mut joint, mut split, mut spreads) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..TRIALS / 2 {
                let column = sorted(data::salaries(rows, coins));
                let off = |(answer, p): (f64, &&str)| {
                    let wanted = p.parse::<Ratio>().map_or(f64::NAN, |p| p.to_f64()) * rows as f64;
                    (column.partition_point(|&row| row < answer) as f64 - wanted).abs()
                };
                let answers = together.run_floats(&column, coins);
                spreads.push(
                    ((answers[answers.len() - 1] - answers[0])
                        / (column[rows * 3 / 4 - 1] - column[rows / 4 - 1])
                        - 1.0)
                        .abs(),
                );
                joint.extend(answers.into_iter().zip(list).map(off));
                let answers: Vec<f64> = apart.iter().map(|one| one.run_floats(&column, coins)).collect();
                split.extend(answers.into_iter().zip(list).map(off));
            }
            let cell = |off: Vec<f64>| {
                format!("{:.1} mean, {:.1} median", off.iter().sum::<f64>() / off.len() as f64, middle(off))
            };
            let note = if list.len() == 2 {
                format!("  relative error of the range between: {:.3}", middle(spreads))
            } else {
                String::new()
            };
            println!(
                "{rows:>8}  {eps:>7}  {:>9}  {:>24}  {:>24}{note}",
                list.len(),
                cell(joint),
                cell(split)
            );
        }
    }
    println!();
    Ok(())
}

fn intervals(coins: &mut OsCoins) -> Result<(), Failure> {
    println!(
        "{:>8}  {:>7}  95 % intervals for the median of the population: trials that hold it, width over it",
        "rows", "epsilon"
    );
    for (rows, eps) in [(1_000, "1"), (10_000, "1"), (100_000, "1"), (100_000, "0.1")] {
        let interval = QuantileInterval {
            eps: eps.parse()?,
            quantile: Median.quantile(),
            range: FLOATS,
            adjacency: Adjacency::AddRemove,
            beta: "0.05".parse()?,
            rows_at_most: rows as u64,
        };
        let calibrated = interval.calibrate()?;
        let (mut held, mut widths) = (0, Vec::new());
        for _ in 0..TRIALS {
            let (low, high) = calibrated.run_floats(&data::salaries(rows, coins), coins);
            held += usize::from((low..=high).contains(&45_000.0));
            widths.push((high - low) / 45_000.0);
        }
        println!("{rows:>8}  {eps:>7}  {held} of {TRIALS}, {:.4}", middle(widths));
    }
    Ok(())
}
