//! How far private quantiles without bounds are off, on made-up salaries and counts, and how often
//! mechanisms that may refuse do so.
//!
//! Quantiles are searched among all finite floats; everything is under add/remove. Errors are against the same
//! statistic of the same rows; the coverage of intervals is against the population.

mod data;

use equipoise_core::{
    adjacency::Adjacency,
    loss::Eps,
    mechanism::{
        inverse_sensitivity::InverseSensitivity,
        quantile_interval::QuantileInterval,
        quantiles::Quantiles,
        scale::{Scale, Spread, TwoTests},
        stable::Stable,
    },
    outcome::{Outcome, Slack},
    ratio::Ratio,
    stability::{Answer, Median, Quantile, Range, Reach, Sorted, ValueAndSlack, iqr, lattice::FLOATS, mode},
};
use equipoise_entropy::OsCoins;
use std::error::Error;

const TRIALS: usize = 200;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let mut coins = OsCoins::new()?;
    println!("Median of {TRIALS} trials unless said otherwise; all finite floats, add/remove.\n");
    medians(&mut coins)?;
    ties(&mut coins)?;
    spreads(&mut coins)?;
    scales(&mut coins)?;
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
    println!();
    Ok(())
}

/// Many equal rows: what is released unchanged, and how likely that was by the exact chances of each trial.
fn ties(coins: &mut OsCoins) -> Result<(), Failure> {
    println!("Counts with many ties: exact answers at delta 1e-6 where there is one.");
    println!(
        "{:>12}  {:>8}  {:>7}  {:<26}  {:>10}  {:>17}  {:>13}",
        "counts", "rows", "epsilon", "", "exact", "mean chance", "trials > 0.999"
    );
    for (mean, rows, eps) in
        [(8.0, 1_000, "1"), (8.0, 100_000, "0.1"), (8.0, 100_000, "1"), (8.5, 100_000, "1")]
    {
        let adjacency = Adjacency::AddRemove;
        let stable = Stable { eps: eps.parse()?, delta: "1e-6".parse()?, adjacency }.calibrate()?;
        let inverse = single(eps.parse()?, "1/2")?.calibrate()?;
        let mut results = [const { (0, Vec::new()) }; 3];
        for _ in 0..TRIALS {
            let column = data::counts(mean, rows, coins);
            let whole: Vec<i64> = column.iter().map(|&count| count as i64).collect();
            let median =
                Median.value_and_slack(&Median.window(&whole, Range::WHOLE, Reach::Ranks(0)), adjacency);
            let most = mode::value_and_slack(&whole, Range::WHOLE, adjacency);
            let released = |found: ValueAndSlack<i64>, coins: &mut OsCoins| {
                stable.run(found.value, found.slack, coins) == Outcome::Value(found.value)
            };
            let chance = |slack: Slack| 1.0 - stable.accuracy(slack).to_f64();
            // Any other of fewer than 2^64 values weighs at most e^(-epsilon·rows to change/2) of the median.
            let other = |slack: Slack| {
                let steps = slack.until_change().map_or(f64::INFINITY, |rows| rows as f64);
                1.0 - (64.0 * std::f64::consts::LN_2 - eps.parse().unwrap_or(0.0) * steps / 2.0).exp()
            };
            let drawn = Answer::Value(inverse.run_floats(&column, coins) as i64);
            for ((exact, chances), (hit, chance)) in results.iter_mut().zip([
                (released(median, coins), chance(median.slack)),
                (released(most, coins), chance(most.slack)),
                (drawn == median.value, other(median.slack).max(0.0)),
            ]) {
                *exact += usize::from(hit);
                chances.push(chance);
            }
        }
        let names = ["stable median", "stable mode", "inverse-sensitivity median"];
        for (name, (exact, chances)) in names.iter().zip(results) {
            let sure = chances.iter().filter(|&&chance| chance > 0.999).count();
            let bound = if name.starts_with("inverse") { ">= " } else { "" };
            let mean_chance = format!("{bound}{:.6}", chances.iter().sum::<f64>() / TRIALS as f64);
            println!(
                "{:>12}  {rows:>8}  {eps:>7}  {name:<26}  {exact:>3} of {TRIALS}  {mean_chance:>17}  {sure:>6} of {TRIALS}",
                format!("Poisson({mean})")
            );
        }
    }
    println!();
    Ok(())
}

/// The interquartile range as the difference of two quantiles.
fn spreads(coins: &mut OsCoins) -> Result<(), Failure> {
    println!(
        "{:>8}  {:>7}  relative error of the interquartile range of salaries, as two quantiles",
        "rows", "epsilon"
    );
    for (rows, eps) in [(1_000, "0.1"), (1_000, "1"), (100_000, "0.1"), (100_000, "1")] {
        let fractions = vec![Ratio::new(1, 4), Ratio::new(3, 4)];
        let quartiles =
            Quantiles { eps: eps.parse()?, fractions, range: FLOATS, adjacency: Adjacency::AddRemove };
        let quartiles = quartiles.calibrate()?;
        let errors = (0..TRIALS).map(|_| {
            let column = sorted(data::salaries(rows, coins));
            let answers = quartiles.run_floats(&column, coins);
            ((answers[1] - answers[0]) / (column[rows * 3 / 4 - 1] - column[rows / 4 - 1]) - 1.0).abs()
        });
        println!("{rows:>8}  {eps:>7}  {:.2e}", middle(errors.collect()));
    }
    println!();
    Ok(())
}

/// The interquartile range up to a factor, or a refusal: how often it releases and how far it is off, beside what
/// its slack and its noise say.
fn scales(coins: &mut OsCoins) -> Result<(), Failure> {
    println!(
        "Scale of salaries at delta 1e-6, base 2, two cells in a bin; epsilon is that of test and noise together."
    );
    println!(
        "{:>8}  {:>7}  {:>11}  {:>11}  {:>11}  {:>15}  {:>20}",
        "rows", "epsilon", "releases", "by theory", "two tests", "median factor", "within 95 % factor"
    );
    for (rows, eps) in
        [(200, "2"), (1_000, "0.2"), (1_000, "1"), (1_000, "2"), (10_000, "0.2"), (10_000, "2")]
    {
        let half = Eps::new(eps.parse::<Ratio>()? / Ratio::from(2u64))?;
        let (delta, base, adjacency): (equipoise_core::loss::Delta, _, _) =
            ("1e-6".parse()?, Ratio::from(2u64), Adjacency::AddRemove);
        let one = Scale {
            gate_eps: half.clone(),
            noise_eps: half.clone(),
            delta: delta.clone(),
            base: base.clone(),
            shifts: 2,
            parts: 2,
            adjacency,
        };
        let (one, two) =
            (one.calibrate()?, TwoTests { eps: half, delta, base, parts: 2, adjacency }.calibrate()?);
        let power = one.accuracy(&"0.05".parse()?).to_f64();
        let (mut released, mut expected, mut tested, mut off) = (0, 0.0, 0, Vec::new());
        for _ in 0..TRIALS {
            let whole: Vec<i64> = data::salaries(rows, coins).iter().map(|&salary| salary as i64).collect();
            let column = Sorted::new(&whole, Range::WHOLE);
            expected += 1.0 - one.chance_of_refusal(one.slack(&column)).to_f64();
            tested += usize::from(two.run(&column, coins) != Outcome::Refused);
            if let Outcome::Value(spread @ Spread::Cell(_)) = one.run(&column, coins) {
                released += 1;
                let estimate = one.estimate(&spread).map_or(f64::NAN, |estimate| estimate.to_f64());
                off.push((estimate / iqr::value(&column).or(0) as f64).log2().abs());
            }
        }
        let within = off.iter().filter(|&&off| off <= power).count();
        let factor = if off.is_empty() { "none".to_string() } else { format!("{:.2}", middle(off).exp2()) };
        println!(
            "{rows:>8}  {eps:>7}  {released:>4} of {TRIALS}  {expected:>11.1}  {tested:>4} of {TRIALS}  {factor:>15}  {:>20}",
            format!("{within} of {released} ({:.1})", power.exp2())
        );
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
            let (mut joint, mut split) = (Vec::new(), Vec::new());
            for _ in 0..TRIALS / 2 {
                let column = sorted(data::salaries(rows, coins));
                let off = |(answer, p): (f64, &&str)| {
                    let wanted = p.parse::<Ratio>().map_or(f64::NAN, |p| p.to_f64()) * rows as f64;
                    (column.partition_point(|&row| row < answer) as f64 - wanted).abs()
                };
                let answers = together.run_floats(&column, coins);
                joint.extend(answers.into_iter().zip(list).map(off));
                let answers: Vec<f64> = apart.iter().map(|one| one.run_floats(&column, coins)).collect();
                split.extend(answers.into_iter().zip(list).map(off));
            }
            let cell = |off: Vec<f64>| {
                format!("{:.1} mean, {:.1} median", off.iter().sum::<f64>() / off.len() as f64, middle(off))
            };
            println!("{rows:>8}  {eps:>7}  {:>9}  {:>24}  {:>24}", list.len(), cell(joint), cell(split));
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
