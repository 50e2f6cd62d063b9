//! Draws per second of discrete Laplace and discrete Gaussian noise: Equipoise, OpenDP, numpy.
//!
//! All three are asked in turn, five rounds over, each timed by its own CPU clock. numpy's noise is
//! floating point, rounded: no guarantee, but the speed to compare with.

mod coins;
use coins::OsCoins;

use dashu::rational::RBig;
use equipoise_core::{
    ratio::Ratio,
    sampler::{discrete_gaussian::DiscreteGaussian, discrete_laplace::DiscreteLaplace},
};
use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};
use std::{
    env,
    error::Error,
    hint::black_box,
    io::{BufRead, BufReader, Lines, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const ROUNDS: usize = 5;
/// Draws per call; they fit into the second-level cache.
const BATCH: usize = 1 << 16;
const SCALES: [u64; 3] = [1, 100, 1_000_000];

type Failure = Box<dyn Error>;

#[derive(Clone, Copy, PartialEq)]
enum Law {
    Laplace,
    Gaussian,
}

impl Law {
    fn name(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Gaussian => "gaussian",
        }
    }
}

/// Millions of draws per CPU second, one number for each round.
#[derive(Default)]
struct Rates {
    opendp: Vec<f64>,
    numpy: Vec<f64>,
    equipoise: Vec<f64>,
}

fn main() -> Result<(), Failure> {
    let json = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--json" => true,
        _ => return Err("usage: noise [--json]".into()),
    };
    let python = env::var("BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut numpy = Numpy::start(&python)?;
    let mut coins = OsCoins::new()?;
    let cases: Vec<(Law, u64)> =
        [Law::Laplace, Law::Gaussian].into_iter().flat_map(|law| SCALES.map(|scale| (law, scale))).collect();
    let mut results: Vec<Rates> = cases.iter().map(|_| Rates::default()).collect();
    for round in 0..ROUNDS {
        eprintln!("round {} of {ROUNDS}", round + 1);
        for (&(law, scale), rates) in cases.iter().zip(&mut results) {
            rates.opendp.push(opendp_rate(law, scale)?);
            rates.numpy.push(numpy.rate(law, scale)?);
            rates.equipoise.push(equipoise_rate(law, scale, &mut coins)?);
        }
    }
    if json {
        print_json(&cases, &results)
    } else {
        print_table(&cases, &results)
    }
    Ok(())
}

/// CPU time of this thread in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Calls `draw`, which draws `each` times, until enough time has passed; millions of draws per second.
fn rate_of(each: usize, mut draw: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    draw()?; // warm
    let start = cpu_seconds();
    let mut calls = 0;
    loop {
        draw()?;
        calls += 1;
        let elapsed = cpu_seconds() - start;
        if elapsed > 0.2 {
            return Ok((calls * each) as f64 / elapsed / 1e6);
        }
    }
}

/// Through the samplers themselves, which is what OpenDP's measurements on vectors call for each element.
fn opendp_rate(law: Law, scale: u64) -> Result<f64, Failure> {
    const EACH: usize = 256;
    let scale = RBig::from(scale);
    rate_of(EACH, || {
        for _ in 0..EACH {
            let draw = match law {
                Law::Laplace => sample_discrete_laplace(scale.clone()),
                Law::Gaussian => sample_discrete_gaussian(scale.clone()),
            };
            black_box(draw.map_err(|error| format!("{error:?}"))?);
        }
        Ok(())
    })
}

fn equipoise_rate(law: Law, scale: u64, coins: &mut OsCoins) -> Result<f64, Failure> {
    let mut out = vec![0; BATCH];
    let scale = Ratio::from(scale);
    match law {
        Law::Laplace => {
            let noise = DiscreteLaplace::new(&scale)?;
            rate_of(BATCH, || {
                noise.fill(black_box(&mut out), coins);
                Ok(())
            })
        }
        Law::Gaussian => {
            let noise = DiscreteGaussian::new(&scale.squared())?;
            rate_of(BATCH, || {
                noise.fill(black_box(&mut out), coins);
                Ok(())
            })
        }
    }
}

/// A Python process that draws on request and answers with its own CPU time.
struct Numpy {
    child: Child,
    questions: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Numpy {
    fn start(python: &str) -> Result<Self, Failure> {
        let mut child = Command::new(python)
            .args(["-c", include_str!("noise.py")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let questions = child.stdin.take().ok_or("no pipe to Python")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe from Python")?).lines();
        Ok(Self { child, questions, answers })
    }

    fn rate(&mut self, law: Law, scale: u64) -> Result<f64, Failure> {
        const CALLS: usize = 200;
        writeln!(self.questions, "{} {scale} {BATCH} {CALLS}", law.name())?;
        let seconds: f64 = self.answers.next().ok_or("Python stopped; is numpy installed?")??.parse()?;
        Ok((BATCH * CALLS) as f64 / seconds / 1e6)
    }
}

impl Drop for Numpy {
    fn drop(&mut self) {
        // Nothing is owed to a process that only answers questions.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn median(rates: &[f64]) -> f64 {
    let mut sorted = rates.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn print_table(cases: &[(Law, u64)], results: &[Rates]) {
    println!("Million draws per CPU second, median of {ROUNDS} rounds (slowest .. fastest).");
    println!(
        "{:<9} {:>8}  {:>26}  {:>26}  {:>26}  {:>8}  {:>8}",
        "noise", "scale", "OpenDP 0.16", "numpy, rounded", "Equipoise", "/OpenDP", "/numpy"
    );
    for ((law, scale), rates) in cases.iter().zip(results) {
        let cell = |rates: &[f64]| {
            let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
            let high = rates.iter().copied().fold(0.0, f64::max);
            format!("{:.3} ({low:.3} .. {high:.3})", median(rates))
        };
        let over = |peer: &[f64]| format!("{:.2}", median(&rates.equipoise) / median(peer));
        println!(
            "{:<9} {scale:>8}  {:>26}  {:>26}  {:>26}  {:>8}  {:>8}",
            law.name(),
            cell(&rates.opendp),
            cell(&rates.numpy),
            cell(&rates.equipoise),
            over(&rates.opendp),
            over(&rates.numpy)
        );
    }
}

fn print_json(cases: &[(Law, u64)], results: &[Rates]) {
    let rows: Vec<_> = cases
        .iter()
        .zip(results)
        .map(|((law, scale), rates)| {
            let ratio = |peer: &[f64]| median(&rates.equipoise) / median(peer);
            serde_json::json!({
                "noise": law.name(),
                "scale": scale,
                "opendp": rates.opendp,
                "numpy": rates.numpy,
                "equipoise": rates.equipoise,
                "equipoise_over_opendp": ratio(&rates.opendp),
                "equipoise_over_numpy": ratio(&rates.numpy),
            })
        })
        .collect();
    let report =
        serde_json::json!({ "unit": "million draws per CPU second", "rounds": ROUNDS, "rows": rows });
    println!("{report:#}");
}
