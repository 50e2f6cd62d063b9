//! Subsample and aggregate measured: how often labels are right, how good private regressions are without bounds, and
//! what it costs beside the bare functions.
//!
//! `bench/run subsample [labels|linear|logistic|curve|overhead]`; everything if nothing is named.

mod data;
mod fit;

use equipoise_core::{
    adjacency::{Adjacency, RowCount},
    loss::rho_for,
    outcome::Outcome,
    ratio::Ratio,
    subsample::{
        VotesPerUnit,
        arg_max::ArgMax,
        ball::Ball,
        blocks::{Runner, numbers, vectors},
        bounded::Bounded,
        clip::DEFAULT_BITS,
        location::Location,
        majority::Majority,
        partition::{Blocks, Design, Partition},
        plan::{Aggregator, Choice, Output, Prediction, Question, ROWS_PER_PARAMETER},
        vectors::Vectors,
    },
};
use equipoise_entropy::OsCoins;
use fit::{Table, accuracy_of, r_squared};
use std::{error::Error, hint::black_box, time::Instant};

type Failure = Box<dyn Error>;

const ROWS: usize = 100_000;
const FEATURES: usize = 10;
const TRIALS: usize = 9;

fn main() -> Result<(), Failure> {
    let wanted = std::env::args().nth(1);
    let mut coins = OsCoins::new()?;
    let parts: [(&str, fn(&mut OsCoins) -> Result<(), Failure>); 5] = [
        ("labels", labels),
        ("linear", linear),
        ("logistic", logistic),
        ("curve", curve),
        ("overhead", overhead),
    ];
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
    println!(
        "Chance of the right label, for votes that are right three times in four; epsilon 1, delta 1e-6; exact"
    );
    for (votes, per_unit, design) in
        [(110, 1, "add/remove, or replace by slot"), (150, 2, "replace, hashed people")]
    {
        let touch = VotesPerUnit::new(votes, per_unit, Adjacency::AddRemove)?;
        let majority = Majority { eps: "1".parse()?, delta: "1e-6".parse()?, touch }.calibrate()?;
        let success = majority.success_lower(&Ratio::new(3, 4)).to_f64();
        println!("  {votes} blocks, {design}: {success:.4}");
    }
    println!("  options        10     1000   100000  1000000   (110 blocks)");
    let touch = VotesPerUnit::new(110, 1, Adjacency::AddRemove)?;
    let majority = Majority { eps: "1".parse()?, delta: "1e-6".parse()?, touch }.calibrate()?;
    let stable = majority.success_lower(&Ratio::new(3, 4)).to_f64();
    println!("  majority   {stable:.4}   {stable:.4}   {stable:.4}   {stable:.4}");
    for (votes, agreement) in [(110, "3/4"), (40, "0.8"), (25, "0.9")] {
        let chances = [10, 1000, 100_000, 1_000_000].map(|options| -> Result<f64, Failure> {
            let touch = VotesPerUnit::new(votes, 1, Adjacency::AddRemove)?;
            let election = ArgMax { eps: "1".parse()?, popularity_eps: None, options, touch }.calibrate()?;
            Ok(election.success_lower(&agreement.parse()?).to_f64())
        });
        let shown: Vec<String> = chances
            .into_iter()
            .map(|chance| chance.map(|chance| format!("{chance:.4}")))
            .collect::<Result<_, _>>()?;
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

/// The default.
const ROWS_PER_BLOCK: u64 = ROWS_PER_PARAMETER * (FEATURES as u64 + 1);

type Fit = fn(&Table, &[usize]) -> Vec<f64>;

/// A private fit with this choice; nothing where it was refused.
fn private_fit(
    table: &Table,
    fit: Fit,
    eps: &str,
    choice: Choice,
    coins: &mut OsCoins,
) -> Result<Option<Vec<f64>>, Failure> {
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
    let predicted =
        if size.is_nan() { String::new() } else { format!(", predicted error {size:.1} standard errors") };
    format!("{:?}, {} blocks{predicted}", choice.aggregator, choice.blocks)
}

fn compare(
    name: &str,
    eps: &str,
    question: &Question,
    make: impl Fn(&mut OsCoins) -> Table,
    fit: Fit,
    score: fn(&Table, &[f64]) -> f64,
    coins: &mut OsCoins,
) -> Result<(), Failure> {
    println!(
        "{name}, {ROWS} rows, {FEATURES} features, epsilon {eps}, delta 1e-6, no bounds; median of {TRIALS} runs"
    );
    let choices = question.choices()?;
    let asked =
        |blocks, aggregator| Choice { blocks, aggregator, prediction: Prediction::StandardErrors(f64::NAN) };
    let others = [200, 500, 2000, 4000]
        .into_iter()
        .flat_map(|blocks| [asked(blocks, Aggregator::Ball), asked(blocks, Aggregator::Vectors)]);
    for (place, choice) in choices.iter().copied().take(1).chain(others).enumerate() {
        let (mut scores, mut bare, mut refused) = (Vec::new(), Vec::new(), 0);
        for _ in 0..TRIALS {
            let table = make(coins);
            let all: Vec<usize> = (0..table.rows()).collect();
            bare.push(score(&table, &fit(&table, &all)));
            match private_fit(&table, fit, eps, choice, coins) {
                Ok(Some(found)) => scores.push(score(&table, &found)),
                // Too few blocks: refused before a row is read.
                Ok(None) | Err(_) => refused += 1,
            }
        }
        let shown = if scores.is_empty() { "-".to_string() } else { format!("{:.4}", middle(scores)) };
        let mark = if place == 0 { "default" } else { "other" };
        println!("  {mark}: {}: private {shown}, bare {:.4}, refused {refused}", show(&choice), middle(bare));
    }
    Ok(())
}

fn linear(coins: &mut OsCoins) -> Result<(), Failure> {
    compare(
        "Linear regression, r²",
        "1",
        &question("1", ROWS, ROWS_PER_BLOCK)?,
        |words| Table::linear(ROWS, FEATURES, words),
        fit::least_squares,
        r_squared,
        coins,
    )
}

fn logistic(coins: &mut OsCoins) -> Result<(), Failure> {
    compare(
        "Logistic regression, accuracy",
        "1",
        &question("1", ROWS, ROWS_PER_BLOCK)?,
        |words| Table::logistic(ROWS, FEATURES, words),
        fit::logistic,
        accuracy_of,
        coins,
    )?;
    directions(coins)
}

/// Where labels are all that is wanted, the direction of the coefficients is enough; it lies in the unit ball by its nature.
fn directions(coins: &mut OsCoins) -> Result<(), Failure> {
    println!(
        "The same by directions of coefficients, which lie in the unit ball; epsilon 0.1, delta 1e-6; median of {TRIALS} runs"
    );
    for blocks in [500u32, 909, 1818] {
        let design = Design::Rows { blocks, rounds: 1 };
        let partition = Partition { design, adjacency: Adjacency::AddRemove }.calibrate()?;
        let (eps, delta, touch) = ("0.1".parse()?, "1e-6".parse()?, partition.touch());
        let mean = Bounded { eps, delta, dimensions: FEATURES + 1, radius: 1.0, touch }.calibrate()?;
        let (mut scores, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..TRIALS {
            let table = Table::logistic(ROWS, FEATURES, coins);
            let all: Vec<usize> = (0..ROWS).collect();
            bare.push(accuracy_of(&table, &fit::logistic(&table, &all)));
            let dealt = partition.deal_rows(ROWS, coins);
            let outputs = Runner::default().run(&dealt, |block| {
                let fit = fit::logistic(&table, block.rows());
                let norm = fit.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
                fit.iter().map(|weight| weight / norm).collect::<Vec<f64>>()
            });
            let found = mean.run(&vectors(outputs, &[0.0; FEATURES + 1]), coins);
            scores.push(accuracy_of(&table, &found));
        }
        println!("  {blocks} blocks: private {:.4}, bare {:.4}", middle(scores), middle(bare));
    }
    Ok(())
}

/// The claim of section 7.1 that maximum likelihood loses nothing asymptotically: error of the private answer over that
/// of the bare one, as the rows grow. The estimate of a rate is biased by one over the rows of a block; with the usual
/// correction, and so without that bias, the claim is seen sooner.
fn curve(coins: &mut OsCoins) -> Result<(), Failure> {
    println!(
        "The rate of exponential lifetimes by maximum likelihood, epsilon 1: error over that of all rows, root mean square of 40"
    );
    println!("  rows      blocks   as it is   corrected for bias");
    for rows in [10_000usize, 40_000, 160_000, 640_000, 2_560_000] {
        // Fewer than the root of the rows, so that the bias of blocks vanishes against the standard error.
        let blocks = u32::try_from((250.0 * (rows as f64 / 1e4).powf(0.4)) as u64)?;
        let design = Design::Rows { blocks, rounds: 1 };
        let partition = Partition { design, adjacency: Adjacency::AddRemove }.calibrate()?;
        let mean =
            Location { eps: "1".parse()?, bits: DEFAULT_BITS, touch: partition.touch() }.calibrate()?;
        let (mut private, mut bare) = ([0.0; 2], 0.0);
        for _ in 0..40 {
            let lifetimes: Vec<f64> = (0..rows).map(|_| -data::uniform(coins).ln()).collect();
            let dealt = partition.deal_rows(rows, coins);
            let rate = |rows: &[usize], less: f64| {
                (rows.len() as f64 - less) / rows.iter().map(|&row| lifetimes[row]).sum::<f64>()
            };
            for (less, error) in [0.0, 1.0].into_iter().zip(&mut private) {
                let votes = numbers(Runner::default().run(&dealt, |block| rate(block.rows(), less)), 0.0);
                *error += (mean.run(&votes, coins).value - 1.0).powi(2);
            }
            bare += (rate(&(0..rows).collect::<Vec<_>>(), 0.0) - 1.0).powi(2);
        }
        let [plain, corrected] = private.map(|error| (error / bare).sqrt());
        println!("  {rows:<9} {blocks:<8} {plain:<10.2} {corrected:.2}");
    }
    Ok(())
}

/// Wall time of dealing, running and aggregating beside that of the bare function on such blocks and as many threads.
/// Calibration sees no data, is done once, and is timed apart.
fn overhead(coins: &mut OsCoins) -> Result<(), Failure> {
    let table = Table::logistic(ROWS, FEATURES, coins);
    let choice = question("1", ROWS, ROWS_PER_BLOCK)?.choices()?[0];
    let threads = std::thread::available_parallelism()?.get();
    println!(
        "Overhead: logistic regression on {} blocks, {threads} threads, five rounds, interleaved",
        choice.blocks
    );
    let start = Instant::now();
    let design = Design::Rows { blocks: choice.blocks, rounds: 1 };
    let partition = Partition { design, adjacency: Adjacency::AddRemove }.calibrate()?;
    let (eps, delta, touch) = ("1".parse()?, "1e-6".parse()?, partition.touch());
    let rho = rho_for(&eps, &delta)?;
    let ball = Ball { eps, delta, dimensions: FEATURES + 1, touch }.calibrate()?;
    let mean = Vectors { rho, dimensions: FEATURES + 1, bits: DEFAULT_BITS, touch }.calibrate()?;
    println!("  calibration of both aggregators, once: {:.3} s", start.elapsed().as_secs_f64());
    let (mut whole, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let start = Instant::now();
        let blocks = partition.deal_rows(ROWS, coins);
        let outputs = Runner::default().run(&blocks, |block| fit::logistic(&table, block.rows()));
        let votes = vectors(outputs, &[0.0; FEATURES + 1]);
        match choice.aggregator {
            Aggregator::Ball => drop(black_box(ball.run(&votes, coins))),
            _ => drop(black_box(mean.run(&votes, coins))),
        }
        whole.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        bare_blocks(&table, &blocks, threads);
        bare.push(start.elapsed().as_secs_f64());
    }
    let (whole, bare) = (middle(whole), middle(bare));
    println!("  release {whole:.3} s, bare {bare:.3} s, ratio {:.3}", whole / bare);
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
