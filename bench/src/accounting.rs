//! The total of a plan by privacy-loss distributions: Equipoise beside Google's dp_accounting, same run, CPU time.
//!
//! dp_accounting runs with its own defaults (a grid of 1e-4). Both round up, so that the smaller epsilon is the better one.

use equipoise_core::{
    account::{Event, LossDistribution},
    loss::{Amount, Approx, DiscreteLaplaceLoss},
    ratio::Ratio,
};
use std::{
    env,
    error::Error,
    hint::black_box,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

const ROUNDS: usize = 5;

type Failure = Box<dyn Error>;

/// kind, parameter, rate, times, delta
const PLANS: &[(&str, &str, &str, u64, &str)] = &[
    ("gaussian", "20", "1", 100, "1e-6"),
    ("gaussian", "5", "1", 10, "1e-9"),
    ("gaussian", "100", "1", 10_000, "1e-6"),
    ("laplace", "0.1", "1", 100, "1e-6"),
    ("laplace", "0.5", "1", 20, "1e-9"),
    ("approx", "0.1", "1", 100, "1e-6"),
    ("approx", "0.1", "1", 1000, "1e-6"),
    ("discrete-laplace", "0.1", "1", 100, "1e-6"),
    ("discrete-gaussian", "20", "1", 100, "1e-6"),
    ("gaussian", "1", "0.01", 1000, "1e-6"),
    ("gaussian", "2", "0.05", 200, "1e-6"),
    ("laplace", "1", "0.1", 50, "1e-6"),
];

fn event(kind: &str, parameter: &Ratio, rate: &str) -> Result<Event, Failure> {
    let amount = |value: Ratio| Amount::new(value);
    let base = match kind {
        "gaussian" => Event::Gaussian { ratio: parameter.recip() },
        "laplace" => Event::Laplace { eps: amount(parameter.clone())? },
        "discrete-laplace" => {
            Event::DiscreteLaplace(DiscreteLaplaceLoss { eps: amount(parameter.clone())?, steps: 1 })
        }
        "discrete-gaussian" => Event::DiscreteGaussian { steps: Ratio::one(), variance: parameter.squared() },
        _ => Event::Approx(Approx { eps: amount(parameter.clone())?, delta: Amount::zero() }),
    };
    Ok(if rate == "1" { base } else { Event::Sampled { base: Box::new(base), rate: rate.parse()? } })
}

fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Result<(), Failure> {
    let python = env::var("BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut child = Command::new(python)
        .args(["-c", include_str!("accounting.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut questions = child.stdin.take().ok_or("no pipe to python")?;
    let mut answers = BufReader::new(child.stdout.take().ok_or("no pipe from python")?).lines();
    println!(
        "Milliseconds of CPU time for one total, median of {ROUNDS} rounds, and how many times as fast Equipoise is."
    );
    println!(
        "{:<18} {:>9} {:>5} {:>6} {:>6}  {:>13} {:>13}  {:>10} {:>10} {:>7}",
        "mechanism",
        "parameter",
        "rate",
        "times",
        "delta",
        "dp_accounting",
        "Equipoise",
        "theirs ms",
        "ours ms",
        "times"
    );
    let mut least = f64::INFINITY;
    for &(kind, parameter, rate, times, delta) in PLANS {
        let number: Ratio = parameter.parse()?;
        let wanted = delta.parse()?;
        let plan = LossDistribution::new([(event(kind, &number, rate)?, times)]);
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        let (mut their_eps, mut our_eps) = (0.0, 0.0);
        for _ in 0..ROUNDS {
            writeln!(questions, "{kind} {parameter} {rate} {times} {delta} 1")?;
            let line = answers.next().ok_or("python stopped")??;
            let (eps, seconds) = line.split_once(' ').ok_or("an odd answer")?;
            their_eps = eps.parse()?;
            theirs.push(seconds.parse::<f64>()? * 1e3);
            let start = cpu_seconds();
            const CALLS: usize = 5;
            for _ in 0..CALLS {
                let total = black_box(&plan).eps_above(&wanted).ok_or("no total")?;
                our_eps = black_box(total).eps.ratio().to_f64();
            }
            ours.push((cpu_seconds() - start) * 1e3 / CALLS as f64);
        }
        let (theirs, ours) = (median(&mut theirs), median(&mut ours));
        least = least.min(theirs / ours);
        println!(
            "{kind:<18} {parameter:>9} {rate:>5} {times:>6} {delta:>6}  {their_eps:>13.6} {our_eps:>13.6}  {theirs:>10.3} {ours:>10.3} {:>7.1}",
            theirs / ours
        );
    }
    println!("least ratio: {least:.1}");
    drop(questions);
    child.wait()?;
    Ok(())
}
