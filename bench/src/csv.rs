//! CPU and wall time of one column of floats out of a CSV file, beside Polars.
//!
//! Ten million made-up rows of four columns (id, city, salary, age), in the operating system's cache. Both sum the
//! salaries and collect them in memory, in turn, five rounds over, on all cores, each timed by its own clocks.
//! Polars guesses the types from the first rows; ours is told and checks that every line is a whole record.

mod data;
mod python;

use equipoise_engine::csv::{Csv, CsvOptions};
use equipoise_entropy::OsCoins;
use equipoise_session::source::{Batch, Cells, ColumnType, Source, Visitor, ColumnRead};
use python::Python;
use std::{
    env,
    error::Error,
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    thread,
    time::Instant,
};

const ROUNDS: usize = 5;
const ROWS: usize = 10_000_000;
const TASKS: [&str; 2] = ["sum", "collect"];

type Failure = Box<dyn Error>;

/// CPU and wall seconds, one pair for each round.
#[derive(Default)]
struct Times {
    polars: Vec<[f64; 2]>,
    equipoise: Vec<[f64; 2]>,
}

fn main() -> Result<(), Failure> {
    let json = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--json" => true,
        _ => return Err("usage: csv [--json]".into()),
    };
    let python = env::var("BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut polars = Polars::start(&python)?;
    let file = MadeUp::new()?;
    let mut results = TASKS.map(|_| Times::default());
    for round in 0..=ROUNDS {
        for (task, times) in TASKS.iter().zip(&mut results) {
            let (theirs, their_result) = polars.run(task, &file.path)?;
            let (ours, our_result) = equipoise(task, &file.path)?;
            let close = (their_result - our_result).abs() <= 1e-9 * their_result.abs();
            assert!(close, "both read the same rows: {their_result} and {our_result}");
            // The first round warms the cache.
            if round > 0 {
                times.polars.push(theirs);
                times.equipoise.push(ours);
            }
        }
    }
    if json {
        print_json(&results);
    } else {
        print_table(&results);
    }
    Ok(())
}

/// A file that goes away.
struct MadeUp {
    path: PathBuf,
}

impl MadeUp {
    fn new() -> Result<Self, Failure> {
        let file = Self { path: env::temp_dir().join(format!("equipoise-bench-{}.csv", std::process::id())) };
        let mut coins = OsCoins::new()?;
        let mut out = BufWriter::new(File::create(&file.path)?);
        writeln!(out, "id,city,salary,age")?;
        let cities = ["Bern", "Zürich", "Basel", "Lugano", "Biel", "St. Gallen", "Chur"];
        for id in 0..ROWS {
            let [salary] = data::salaries(1, &mut coins)[..] else { return Err("one salary".into()) };
            writeln!(out, "{id},{},{salary:.2},{}", cities[id * 31 % 7], 18 + id * 17 % 60)?;
        }
        out.flush()?;
        Ok(file)
    }
}

impl Drop for MadeUp {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Takes in one column.
enum Taker {
    Sum(f64),
    Collect(Vec<f64>),
}

impl Visitor for Taker {
    fn batch(&mut self, batch: Batch<'_>) {
        if let [Cells::Floats(values)] = batch.cells {
            match self {
                Self::Sum(sum) => *sum += values.iter().sum::<f64>(),
                Self::Collect(all) => all.extend_from_slice(values),
            }
        }
    }
}

fn equipoise(task: &str, path: &Path) -> Result<([f64; 2], f64), Failure> {
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let csv = Csv::open(path, &CsvOptions::default())?;
    let column = csv.columns().iter().position(|name| name == "salary").ok_or("no salaries")?;
    let threads = thread::available_parallelism()?.get();
    let taker = |_| if task == "sum" { Taker::Sum(0.0) } else { Taker::Collect(Vec::new()) };
    let mut takers: Vec<Taker> = (0..threads).map(taker).collect();
    let mut visitors: Vec<&mut dyn Visitor> = takers.iter_mut().map(|taker| taker as _).collect();
    csv.scan(&[ColumnRead { column, kind: ColumnType::Float }], &mut visitors).map_err(|lost| format!("the rows were lost: {lost:?}"))?;
    let result = takers.iter().map(|taker| match taker {
        Taker::Sum(sum) => *sum,
        Taker::Collect(all) => all.len() as f64,
    });
    let result = result.sum();
    Ok(([cpu_seconds() - cpu, wall.elapsed().as_secs_f64()], result))
}

/// CPU time of all threads of this process in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// A Python process that reads files on request and answers with its own times.
struct Polars(Python);

impl Polars {
    fn start(python: &str) -> Result<Self, Failure> {
        Ok(Self(Python::start(python, include_str!("csv.py"))?))
    }

    fn run(&mut self, task: &str, path: &Path) -> Result<([f64; 2], f64), Failure> {
        let line = self.0.ask(&format!("{task} {}", path.display()))?;
        let numbers: Vec<f64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let [cpu, wall, result] = numbers[..] else { return Err("three numbers".into()) };
        Ok(([cpu, wall], result))
    }
}

fn sorted(times: &[[f64; 2]], clock: usize) -> Vec<f64> {
    let mut seconds: Vec<f64> = times.iter().map(|pair| pair[clock]).collect();
    seconds.sort_by(f64::total_cmp);
    seconds
}

fn median(times: &[[f64; 2]], clock: usize) -> f64 {
    sorted(times, clock)[times.len() / 2]
}

fn print_table(results: &[Times]) {
    println!("Seconds for one column of {ROWS} rows, median of {ROUNDS} rounds (fastest .. slowest).");
    println!("{:>8}  {:>5}  {:>24}  {:>24}  {:>8}", "task", "clock", "Polars", "Equipoise", "/ Polars");
    for (task, times) in TASKS.iter().zip(results) {
        for (clock, name) in ["CPU", "wall"].iter().enumerate() {
            let cell = |pairs: &[[f64; 2]]| {
                let seconds = sorted(pairs, clock);
                format!("{:.3} ({:.3} .. {:.3})", median(pairs, clock), seconds[0], seconds[ROUNDS - 1])
            };
            let ratio = median(&times.equipoise, clock) / median(&times.polars, clock);
            println!(
                "{task:>8}  {name:>5}  {:>24}  {:>24}  {ratio:>8.2}",
                cell(&times.polars),
                cell(&times.equipoise)
            );
        }
    }
}

fn print_json(results: &[Times]) {
    let tasks: Vec<_> = TASKS
        .iter()
        .zip(results)
        .map(|(task, times)| {
            serde_json::json!({
                "task": task,
                "polars": times.polars,
                "equipoise": times.equipoise,
                "cpu_over_polars": median(&times.equipoise, 0) / median(&times.polars, 0),
                "wall_over_polars": median(&times.equipoise, 1) / median(&times.polars, 1),
            })
        })
        .collect();
    let unit = "[CPU, wall] seconds";
    println!("{:#}", serde_json::json!({ "unit": unit, "rows": ROWS, "rounds": ROUNDS, "tasks": tasks }));
}
