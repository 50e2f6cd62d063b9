//! Subsample and aggregate measured: how often labels are right, how good private regressions are without bounds, and
//! what it costs beside the bare functions.
//!
//! `bench/run subsample [labels|linear|logistic|curve|overhead]`; everything if nothing is named.

mod data;
mod fit;

use data::normal;
use equipoise_core::{
    adjacency::{Adjacency, RowCount},
    coins::Words,
    loss::rho_for,
    outcome::Outcome,
    ratio::Ratio,
    subsample::{
        Touch,
        arg_max::ArgMax,
        ball::Ball,
        blocks::{Runner, vectors},
        clip::DEFAULT_BITS,
        majority::Majority,
        partition::{Blocks, Design, Partition},
        plan::{Aggregator, Choice, Output, Prediction, Question},
        vectors::Vectors,
    },
};
use equipoise_entropy::OsCoins;
use fit::{accuracy_of, r_squared, Table};
use std::{error::Error, time::Instant};

type Failure = Box<dyn Error>;

const ROWS: usize = 100_000;
const FEATURES: usize = 10;
const TRIALS: usize = 9;

fn main() -> Result<(), Failure> {
    let wanted = std::env::args().nth(1);
    let mut coins = OsCoins::new()?;
    let parts: [(&str, fn(&mut OsCoins) -> Result<(), Failure>); 5] =
        [("labels", labels), ("linear", linear), ("logistic", logistic), ("curve", curve), ("overhead", overhead)];
    for (name, part) in parts {
        if wanted.as_deref().is_none_or(|wanted| wanted == name) {
            part(&mut coins)?;
            println!();
        }
    }
    Ok(())
}

/// Chances computed exactly, not measured.
fn labels(_coins: &mut OsCoins) -> Result<(), Failure> {
    println!("Chance of the right label, for votes that are right three times in four; epsilon 1, delta 1e-6; exact");
    for (votes, per_unit, design) in [(110, 1, "add/remove, or replace by slot"), (150, 2, "replace, hashed people")] {
        let touch = Touch::new(votes, per_unit, Adjacency::AddRemove)?;
        let majority = Majority { eps: "1".parse()?, delta: "1e-6".parse()?, touch }.calibrate()?;
        let success = majority.success_lower(&Ratio::new(3, 4)).to_f64();
        println!("  {votes} blocks, {design}: {success:.4}");
    }
    println!("  options        10     1000   100000  1000000   (110 blocks)");
    let touch = Touch::new(110, 1, Adjacency::AddRemove)?;
    let majority = Majority { eps: "1".parse()?, delta: "1e-6".parse()?, touch }.calibrate()?;
    let stable = majority.success_lower(&Ratio::new(3, 4)).to_f64();
    println!("  majority   {stable:.4}   {stable:.4}   {stable:.4}   {stable:.4}");
    for (votes, agreement) in [(110, "3/4"), (40, "0.8"), (25, "0.9")] {
        let chances = [10, 1000, 100_000, 1_000_000].map(|options| -> Result<f64, Failure> {
            let touch = Touch::new(votes, 1, Adjacency::AddRemove)?;
            let election = ArgMax { eps: "1".parse()?, popularity_eps: None, options, touch }.calibrate()?;
            Ok(election.success_lower(&agreement.parse()?).to_f64())
        });
        let shown: Vec<String> =
            chances.into_iter().map(|chance| chance.map(|chance| format!("{chance:.4}"))).collect::<Result<_, _>>()?;
        println!("  arg-max    {}   ({votes} blocks, right with probability {agreement})", shown.join("   "));
    }
    Ok(())
}

fn question(eps: &str, rows: usize, rows_per_block: u64) -> Result<Question, Failure> {
    Ok(Question {
        eps: eps.parse()?,
        delta: "1e-6".parse()?,
        output: Output::Vector { dimensions: FEATURES + 1 },
        rows: RowCount::Declared(rows as u64),
        rows_per_block,
        adjacency: Adjacency::AddRemove,
        people: false,
    })
}

/// Ten rows for each parameter: the default.
const ROWS_PER_BLOCK: u64 = 10 * (FEATURES as u64 + 1);

type Fit = fn(&Table, &[usize]) -> Vec<f64>;

/// A private fit with this choice; nothing where it was refused.
fn private_fit(table: &Table, fit: Fit, eps: &str, choice: Choice, coins: &mut OsCoins) -> Result<Option<Vec<f64>>, Failure> {
    let partition = Partition {
        design: Design::Rows { blocks: choice.blocks, rounds: 1 },
        adjacency: Adjacency::AddRemove,
    }
    .calibrate()?;
    let blocks = partition.deal_rows(table.rows(), coins);
    let outputs = Runner::default().run(&blocks, |block| fit(table, block.rows()));
    let votes = vectors(outputs, &[0.0; FEATURES + 1]);
    let touch = partition.touch();
    let (eps, delta, dimensions) = (eps.parse()?, "1e-6".parse()?, FEATURES + 1);
    Ok(match choice.aggregator {
        Aggregator::Ball => match (Ball { eps, delta, dimensions, touch }).calibrate()?.run(&votes, coins) {
            Outcome::Value(found) => Some(found.value),
            Outcome::Refused => None,
        },
        Aggregator::Vectors => {
            let rho = rho_for(&eps, &delta)?;
            let mean = Vectors { rho, dimensions, bits: DEFAULT_BITS, touch }.calibrate()?;
            Some(mean.run(&votes, coins).value)
        }
        Aggregator::Majority | Aggregator::Location => unreachable!("a plan of vectors"),
    })
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn show(choice: &Choice) -> String {
    let (Prediction::StandardErrors(size) | Prediction::Failure(size)) = choice.prediction;
    format!("{:?}, {} blocks, predicted error {size:.2} standard errors", choice.aggregator, choice.blocks)
}

fn compare(name: &str, eps: &str, question: &Question, make: impl Fn(&mut OsCoins) -> Table, fit: Fit, score: fn(&Table, &[f64]) -> f64, coins: &mut OsCoins) -> Result<(), Failure> {
    println!("{name}, {ROWS} rows, {FEATURES} features, epsilon {eps}, delta 1e-6, no bounds; median of {TRIALS} runs");
    let choices = question.choices()?;
    for (place, choice) in choices.iter().enumerate().filter(|(place, choice)| *place == 0 || choice.blocks % 2 == 1).take(4) {
        let (mut scores, mut bare, mut refused) = (Vec::new(), Vec::new(), 0);
        for _ in 0..TRIALS {
            let table = make(coins);
            let all: Vec<usize> = (0..table.rows()).collect();
            bare.push(score(&table, &fit(&table, &all)));
            match private_fit(&table, fit, eps, *choice, coins)? {
                Some(found) => scores.push(score(&table, &found)),
                None => refused += 1,
            }
        }
        let shown = if scores.is_empty() { "-".to_string() } else { format!("{:.4}", middle(scores)) };
        let mark = if place == 0 { "default" } else { "other" };
        println!("  {mark}: {}: private {shown}, bare {:.4}, refused {refused}", show(choice), middle(bare));
    }
    Ok(())
}

fn linear(coins: &mut OsCoins) -> Result<(), Failure> {
    compare("Linear regression, r²", "1", &question("1", ROWS, ROWS_PER_BLOCK)?, |words| Table::linear(ROWS, FEATURES, words), fit::least_squares, r_squared, coins)
}

fn logistic(coins: &mut OsCoins) -> Result<(), Failure> {
    for eps in ["1", "0.1"] {
        let rows_per_block = if eps == "1" { ROWS_PER_BLOCK } else { ROWS_PER_BLOCK / 2 };
        compare("Logistic regression, accuracy", eps, &question(eps, ROWS, rows_per_block)?, |words| Table::logistic(ROWS, FEATURES, words), fit::logistic, accuracy_of, coins)?;
    }
    Ok(())
}

/// The claim of section 7.1 that maximum likelihood loses nothing asymptotically: error of the private answer over that
/// of the bare one, as the rows grow.
fn curve(coins: &mut OsCoins) -> Result<(), Failure> {
    println!("A mean by maximum likelihood (exponential lifetimes), epsilon 1: error beside that of all rows, root mean square of 40");
    println!("  rows      blocks   private/bare");
    for rows in [10_000usize, 40_000, 160_000, 640_000, 2_560_000] {
        // Blocks grow like the root of rows times a constant: both noise and bias vanish against the standard error.
        let blocks = u32::try_from(((rows as f64).powf(0.6) * 1.2) as u64)?;
        let touch = Touch::new(blocks.into(), 1, Adjacency::AddRemove)?;
        let mean = equipoise_core::subsample::location::Location { eps: "1".parse()?, bits: DEFAULT_BITS, touch }.calibrate()?;
        let (mut private, mut bare) = (0.0, 0.0);
        for _ in 0..40 {
            let lifetimes: Vec<f64> = (0..rows).map(|_| -data::uniform(coins).ln()).collect();
            let partition = Partition { design: Design::Rows { blocks, rounds: 1 }, adjacency: Adjacency::AddRemove }.calibrate()?;
            let dealt = partition.deal_rows(rows, coins);
            let rate = |rows: &[usize]| rows.len() as f64 / rows.iter().map(|&row| lifetimes[row]).sum::<f64>();
            let votes = equipoise_core::subsample::blocks::numbers(Runner::default().run(&dealt, |block| rate(block.rows())), 0.0);
            let all: Vec<usize> = (0..rows).collect();
            private += (mean.run(&votes, coins).value - 1.0).powi(2);
            bare += (rate(&all) - 1.0).powi(2);
        }
        println!("  {rows:<9} {blocks:<8} {:.3}", (private / bare).sqrt());
    }
    Ok(())
}

/// Wall time of the whole release beside that of the bare function on the same blocks and as many threads.
fn overhead(coins: &mut OsCoins) -> Result<(), Failure> {
    let table = Table::logistic(ROWS, FEATURES, coins);
    let choice = question("1", ROWS, ROWS_PER_BLOCK)?.choices()?[0];
    let threads = std::thread::available_parallelism()?.get();
    println!("Overhead: logistic regression on {} blocks, {threads} threads, five rounds, interleaved", choice.blocks);
    let (mut whole, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let start = Instant::now();
        private_fit(&table, fit::logistic, "1", choice, coins)?;
        whole.push(start.elapsed().as_secs_f64());
        let labels: Vec<u64> = (0..ROWS).map(|_| coins.word() % u64::from(choice.blocks)).collect();
        let blocks = Blocks::from_labels(choice.blocks, &labels);
        let start = Instant::now();
        bare_blocks(&table, &blocks, threads);
        bare.push(start.elapsed().as_secs_f64());
    }
    let (whole, bare) = (middle(whole), middle(bare));
    println!("  release {whole:.3} s, bare {bare:.3} s, ratio {:.3}", whole / bare);
    let _ = normal(coins);
    Ok(())
}

/// The function on every block, split evenly over threads by hand.
fn bare_blocks(table: &Table, blocks: &Blocks, threads: usize) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for index in (thread..blocks.count()).step_by(threads) {
                    std::hint::black_box(fit::logistic(table, blocks.block(index)));
                }
            });
        }
    });
}
