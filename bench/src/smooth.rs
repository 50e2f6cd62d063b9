//! CPU time of the smooth sensitivity of a median, beside that of the plain median in numpy.
//!
//! Incomes as floats, rounded to cents within a range of ten million, and the same as whole cents. Each side makes its
//! own rows from the same distribution and keeps them in memory; both are asked in turn, five rounds over, each timed
//! by its own CPU clock. Ours selects the window of ranks, rounds it and finds the smooth bound at beta = 0.1.

use equipoise_core::{
    adjacency::Adjacency,
    ratio::Ratio,
    stability::{Median, Range, bracket, lattice::Grid, on_grid, smooth::Decay},
};
use std::{
    env,
    error::Error,
    hint::black_box,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

const ROUNDS: usize = 5;
const CALLS: usize = 3;
const ROWS: usize = 10_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let python = env::var("BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut child = Command::new(python)
        .args(["-c", include_str!("smooth.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut questions = child.stdin.take().ok_or("no pipe to Python")?;
    let mut answers = BufReader::new(child.stdout.take().ok_or("no pipe from Python")?).lines();
    let floats = incomes();
    let cents: Vec<i64> = floats.iter().map(|income| (income * 100.0).round() as i64).collect();
    let range = Range::new(0, 1_000_000_000)?;
    let decay = Decay::for_range(&Ratio::new(1, 10), range)?;
    let grid = Grid::new(Ratio::new(1, 100))?;
    let target = Median.quantile().into();
    println!("CPU milliseconds for {ROWS} rows, median of {ROUNDS} rounds (fastest .. slowest).");
    println!(
        "{:<5} {:<11} {:>24} {:>24} {:>7}",
        "rows", "adjacency", "numpy.median", "smooth sensitivity", "ratio"
    );
    for adjacency in Adjacency::ALL {
        let reach = decay.reach(Median.quantile(), adjacency);
        for kind in ["f64", "i64"] {
            let (mut numpy, mut ours) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                writeln!(questions, "{kind} {ROWS} {CALLS}")?;
                numpy.push(answers.next().ok_or("Python stopped; is numpy installed?")??.parse::<f64>()?);
                ours.push(seconds_of(|| {
                    let window = match kind {
                        "f64" => on_grid::window(black_box(&floats), target, &grid, range, reach, adjacency),
                        _ => bracket::window(black_box(&cents), target, range, reach, adjacency),
                    };
                    black_box(decay.median(&window, adjacency));
                }));
            }
            let ratio = median(&ours) / median(&numpy);
            println!("{kind:<5} {adjacency:<11} {:>24} {:>24} {ratio:>7.2}", cell(&numpy), cell(&ours));
        }
    }
    drop(questions);
    child.wait()?;
    Ok(())
}

/// Lognormal incomes around 22,000, from words that look random.
fn incomes() -> Vec<f64> {
    let mut state = 1u64;
    let mut uniform = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / 2f64.powi(53)
    };
    let mut normal = || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
    (0..ROWS).map(|_| (10.0 + 0.7 * normal()).exp()).collect()
}

/// CPU time of this thread in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn seconds_of(run: impl Fn()) -> f64 {
    let start = cpu_seconds();
    (0..CALLS).for_each(|_| run());
    (cpu_seconds() - start) / CALLS as f64
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn cell(times: &[f64]) -> String {
    let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
    let slowest = times.iter().copied().fold(0.0, f64::max);
    format!("{:.1} ({:.1} .. {:.1})", median(times) * 1e3, fastest * 1e3, slowest * 1e3)
}
