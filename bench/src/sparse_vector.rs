//! CPU time of a million threshold questions: ours beside a hand-written, insecure numpy version.
//!
//! Both are asked in turn, five rounds over, each timed by its own CPU clock, on the same values in memory. numpy
//! is asked twice, with the textbook's Laplace noise and with one-sided noise, which it draws faster.

mod python;

use equipoise_core::{
    mechanism::Values,
    monitor::above_threshold::{AboveThreshold, Form},
    ratio::Ratio,
};
use equipoise_entropy::OsCoins;
use python::Python;
use std::{env, error::Error, fs, hint::black_box, path::Path};

const ROUNDS: usize = 5;
const QUESTIONS: usize = 1_000_000;
/// Below the cut-off, so that every question is looked at.
const POSITIVES: usize = 3;
const NOISES: [&str; 2] = ["laplace", "exponential"];

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let python = env::var("BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut coins = OsCoins::new()?;
    let values = questions(&mut coins);
    let path = env::temp_dir().join(format!("equipoise-bench-{}.i64", std::process::id()));
    fs::write(&path, values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>())?;
    let mut numpy = Numpy::start(&python)?;
    let stream = AboveThreshold {
        eps: "1".parse()?,
        threshold: Ratio::from(1000u64),
        sensitivity: Ratio::one(),
        grid: Ratio::one(),
        values: Values::OnGrid,
        cutoff: 10,
        monotone: true,
        form: Form::OneSided,
    };
    let stream = stream.calibrate()?;
    let scale = stream.question_scale().to_f64();
    let (mut ours, mut theirs) = (Vec::new(), [Vec::new(), Vec::new()]);
    for _ in 0..ROUNDS {
        for (noise, seconds) in NOISES.iter().zip(&mut theirs) {
            seconds.push(numpy.seconds(noise, scale, &path)?);
        }
        let start = cpu_seconds();
        let batch = black_box(stream.start(&mut coins).ask_all(&values, &mut coins));
        ours.push(cpu_seconds() - start);
        if (batch.answered, batch.positives.len()) != (QUESTIONS, POSITIVES) {
            return Err("not every question was looked at".into());
        }
    }
    fs::remove_file(&path)?;
    println!(
        "Milliseconds of CPU time for {QUESTIONS} threshold questions, median of {ROUNDS} rounds (fastest .. slowest)."
    );
    println!("{:>24}  {:>28}  {:>14}", "", "milliseconds", "ours / theirs");
    println!("{:>24}  {:>28}", "ours", cell(&ours));
    for (noise, seconds) in NOISES.iter().zip(&theirs) {
        let name = format!("numpy, {noise}");
        println!("{name:>24}  {:>28}  {:>14.3}", cell(seconds), median(&ours) / median(seconds));
    }
    Ok(())
}

/// Values far below the threshold, and three far above.
fn questions(coins: &mut OsCoins) -> Vec<i64> {
    use equipoise_core::coins::Coins;
    let mut values: Vec<i64> = (0..QUESTIONS).map(|_| i64::try_from(coins.bits(9)).unwrap_or(0)).collect();
    for index in 0..POSITIVES {
        values[(index + 1) * QUESTIONS / 4] = 2000;
    }
    values
}

/// CPU time of this thread in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn cell(seconds: &[f64]) -> String {
    let low = seconds.iter().copied().fold(f64::INFINITY, f64::min) * 1e3;
    let high = seconds.iter().copied().fold(0.0, f64::max) * 1e3;
    format!("{:.2} ({low:.2} .. {high:.2})", median(seconds) * 1e3)
}

/// A Python process that answers the questions on request, with its own CPU time.
struct Numpy(Python);

impl Numpy {
    fn start(python: &str) -> Result<Self, Failure> {
        Ok(Self(Python::start(python, include_str!("sparse_vector.py"))?))
    }

    fn seconds(&mut self, noise: &str, scale: f64, path: &Path) -> Result<f64, Failure> {
        let line = self.0.ask(&format!("{noise} {scale} {}", path.display()))?;
        let (seconds, positives) = line.split_once(' ').ok_or("two numbers")?;
        if positives.parse::<usize>()? != POSITIVES {
            return Err("numpy found other positives".into());
        }
        Ok(seconds.parse()?)
    }
}
