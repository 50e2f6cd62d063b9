//! CPU time of the private median beside numpy.median, on the same rows in memory.
//!
//! Both are asked in turn, five rounds over, each timed by its own CPU clock. Ours searches all finite
//! floats, without bounds, under add/remove.

mod data;
mod python;

use equipoise_core::{
    adjacency::Adjacency,
    mechanism::inverse_sensitivity::InverseSensitivity,
    stability::{Median, lattice::FLOATS},
};
use equipoise_entropy::OsCoins;
use python::Python;
use std::{
    env,
    error::Error,
    fs,
    hint::black_box,
    path::{Path, PathBuf},
};

const ROUNDS: usize = 5;
/// Rows, and calls in a round.
const CASES: [(usize, usize); 3] = [(1_000, 5_000), (100_000, 200), (10_000_000, 3)];
const EPSILONS: [&str; 2] = ["1", "0.1"];

type Failure = Box<dyn Error>;

/// Seconds for one call, one number for each round.
#[derive(Default)]
struct Times {
    numpy: Vec<f64>,
    equipoise: [Vec<f64>; EPSILONS.len()],
}

fn main() -> Result<(), Failure> {
    let json = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--json" => true,
        _ => return Err("usage: median [--json]".into()),
    };
    let python = env::var("BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut numpy = Numpy::start(&python)?;
    let mut coins = OsCoins::new()?;
    let columns: Vec<Column> =
        CASES.iter().map(|&(rows, _)| Column::new(rows, &mut coins)).collect::<Result<_, _>>()?;
    let mut results: Vec<Times> = CASES.iter().map(|_| Times::default()).collect();
    for round in 0..ROUNDS {
        eprintln!("round {} of {ROUNDS}", round + 1);
        for ((column, &(_, calls)), times) in columns.iter().zip(&CASES).zip(&mut results) {
            times.numpy.push(numpy.seconds(&column.path, calls)?);
            for (eps, seconds) in EPSILONS.iter().zip(&mut times.equipoise) {
                seconds.push(equipoise_seconds(eps, &column.rows, calls, &mut coins)?);
            }
        }
    }
    if json {
        print_json(&results)
    } else {
        print_table(&results)
    }
    Ok(())
}

/// Rows in memory, and the same rows in a file for numpy.
struct Column {
    rows: Vec<f64>,
    path: PathBuf,
}

impl Column {
    fn new(count: usize, coins: &mut OsCoins) -> Result<Self, Failure> {
        let rows = data::salaries(count, coins);
        let path = env::temp_dir().join(format!("equipoise-bench-{}-{count}.f64", std::process::id()));
        let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_ne_bytes()).collect();
        fs::write(&path, bytes)?;
        Ok(Self { rows, path })
    }
}

impl Drop for Column {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// CPU time of this thread in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn equipoise_seconds(eps: &str, rows: &[f64], calls: usize, coins: &mut OsCoins) -> Result<f64, Failure> {
    let (target, adjacency) = (Median.quantile().into(), Adjacency::AddRemove);
    let median = InverseSensitivity { eps: eps.parse()?, target, range: FLOATS, adjacency }.calibrate()?;
    black_box(median.run_floats(rows, coins)); // warm
    let start = cpu_seconds();
    for _ in 0..calls {
        black_box(median.run_floats(black_box(rows), coins));
    }
    Ok((cpu_seconds() - start) / calls as f64)
}

/// A Python process that computes medians on request and answers with its own CPU time.
struct Numpy(Python);

impl Numpy {
    fn start(python: &str) -> Result<Self, Failure> {
        Ok(Self(Python::start(python, include_str!("median.py"))?))
    }

    fn seconds(&mut self, path: &Path, calls: usize) -> Result<f64, Failure> {
        let seconds: f64 = self.0.ask(&format!("{} {calls}", path.display()))?.parse()?;
        Ok(seconds / calls as f64)
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn print_table(results: &[Times]) {
    println!("Milliseconds of CPU time for one median, median of {ROUNDS} rounds (fastest .. slowest).");
    println!(
        "{:>10}  {:>8}  {:>32}  {:>32}  {:>9}",
        "rows", "epsilon", "numpy.median", "private median", "/ numpy"
    );
    for ((rows, _), times) in CASES.iter().zip(results) {
        let cell = |seconds: &[f64]| {
            let low = seconds.iter().copied().fold(f64::INFINITY, f64::min) * 1e3;
            let high = seconds.iter().copied().fold(0.0, f64::max) * 1e3;
            format!("{:.4} ({low:.4} .. {high:.4})", median(seconds) * 1e3)
        };
        for (eps, seconds) in EPSILONS.iter().zip(&times.equipoise) {
            let ratio = median(seconds) / median(&times.numpy);
            println!("{rows:>10}  {eps:>8}  {:>32}  {:>32}  {ratio:>9.3}", cell(&times.numpy), cell(seconds));
        }
    }
}

fn print_json(results: &[Times]) {
    let rows: Vec<_> = CASES
        .iter()
        .zip(results)
        .flat_map(|(&(rows, _), times)| {
            EPSILONS.iter().zip(&times.equipoise).map(move |(eps, seconds)| {
                serde_json::json!({
                    "rows": rows,
                    "epsilon": eps,
                    "numpy": times.numpy,
                    "equipoise": seconds,
                    "equipoise_over_numpy": median(seconds) / median(&times.numpy),
                })
            })
        })
        .collect();
    let report = serde_json::json!({ "unit": "CPU seconds for one median", "rounds": ROUNDS, "rows": rows });
    println!("{report:#}");
}
