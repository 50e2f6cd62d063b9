//! A cold job: one median and counts for fifty departments out of a file of ten million rows, beside DuckDB and Polars.
//!
//! Each is a process of its own that reports all its CPU time, ours from its start to its answers; DuckDB and Polars, which
//! answer without privacy, also that of their queries alone, without Python and its modules. In turn, five rounds over.
//! Ours reads the file once for both questions, as the session does, and draws a private median and private counts.

use equipoise_core::{
    adjacency::Adjacency,
    mechanism::inverse_sensitivity::InverseSensitivity,
    stability::{Median, lattice::FLOATS},
};
use equipoise_engine::{OpenOptions, open};
use equipoise_entropy::OsCoins;
use equipoise_session::source::{Batch, Cells, Kind, Visitor, Wanted};
use std::{
    collections::HashMap,
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

const ROUNDS: usize = 5;
const ROWS: usize = 10_000_000;
/// The file, whom it is compared with, and the most that ours may take beside it.
const CASES: [(&str, &str, f64); 3] =
    [("rows.parquet", "duckdb", 1.0), ("rows.csv", "polars", 1.5), ("rows.csv", "duckdb", f64::NAN)];

type Failure = Box<dyn Error>;

/// What a process said: CPU seconds in all and of the query, peak megabytes, median.
#[derive(Clone, Copy)]
struct Said {
    cpu: f64,
    query: f64,
    peak: f64,
    median: f64,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["ours", path] => ours(Path::new(path)),
        [] => compare(false),
        ["--json"] => compare(true),
        _ => Err("usage: files [--json]".into()),
    }
}

fn compare(json: bool) -> Result<(), Failure> {
    let python = env::var("BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let theirs = |arguments: &[&str]| {
        let mut command = Command::new(&python);
        command.args(["-c", include_str!("files.py")]).args(arguments);
        command
    };
    let folder = Folder(env::temp_dir().join(format!("equipoise-bench-files-{}", std::process::id())));
    fs::create_dir_all(&folder.0)?;
    let place = folder.0.display().to_string();
    let made = theirs(&["make", &place, &ROWS.to_string()]).status()?;
    if !made.success() {
        return Err("the files could not be made".into());
    }
    let mut results = Vec::new();
    for (file, peer, most) in CASES {
        let path = format!("{place}/{file}");
        let (mut our, mut their) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let (a, b) = (
                said(Command::new(env::current_exe()?).args(["ours", &path]))?,
                said(&mut theirs(&[peer, &path]))?,
            );
            assert!((a.median / b.median - 1.0).abs() < 0.001, "both read the same rows: {} and {}", a.median, b.median);
            // The first round warms the cache.
            if round > 0 {
                our.push(a);
                their.push(b);
            }
        }
        results.push((file, peer, most, our, their));
    }
    if json { print_json(&results) } else { print_table(&results) }
    Ok(())
}

/// A folder that goes away.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(command: &mut Command) -> Result<Said, Failure> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let line = String::from_utf8(output.stdout)?;
    let numbers: Vec<f64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [cpu, query, peak, median, departments] = numbers[..] else { return Err("five numbers".into()) };
    assert!((departments - 50.0).abs() < 0.5, "there are fifty departments");
    Ok(Said { cpu, query, peak: peak / 1024.0, median })
}

/// Floats and counts, gathered as the session gathers them.
#[derive(Default)]
struct Taker {
    floats: Vec<f64>,
    counts: HashMap<Box<str>, u64>,
}

impl Taker {
    fn add(&mut self, text: &str, count: u64) {
        match self.counts.get_mut(text) {
            Some(seen) => *seen += count,
            None => {
                self.counts.insert(text.into(), count);
            }
        }
    }
}

impl Visitor for Taker {
    fn batch(&mut self, batch: Batch<'_>) {
        let [Cells::Floats(floats), texts] = batch.cells else { panic!("two columns") };
        self.floats.extend_from_slice(floats);
        match texts {
            Cells::Coded { texts, codes } => {
                let mut counts = vec![0u64; texts.len() + 1];
                for code in *codes {
                    counts[code.map_or(texts.len(), |code| code as usize).min(texts.len())] += 1;
                }
                for (text, &count) in texts.iter().zip(&counts) {
                    self.add(text, count);
                }
            }
            Cells::Texts(texts) => texts.iter().flatten().for_each(|text| self.add(text, 1)),
            _ => panic!("texts"),
        }
    }
}

fn ours(path: &Path) -> Result<(), Failure> {
    let source = open(&[path], &OpenOptions::default())?;
    let place = |name: &str| source.columns().iter().position(|column| column == name).ok_or("no such column");
    let wanted = [
        Wanted { column: place("salary")?, kind: Kind::Float },
        Wanted { column: place("department")?, kind: Kind::Text },
    ];
    let mut takers: Vec<Taker> = (0..thread::available_parallelism()?.get()).map(|_| Taker::default()).collect();
    let mut visitors: Vec<&mut dyn Visitor> = takers.iter_mut().map(|taker| taker as _).collect();
    source.scan(&wanted, &mut visitors)?;
    let mut all = Taker::default();
    for taker in takers {
        all.floats.extend_from_slice(&taker.floats);
        for (text, count) in taker.counts {
            all.add(&text, count);
        }
    }
    let mut coins = OsCoins::new()?;
    let (target, adjacency) = (Median.quantile().into(), Adjacency::AddRemove);
    let median = InverseSensitivity { eps: "1".parse()?, target, range: FLOATS, adjacency }.calibrate()?;
    let answer = median.run_floats(&all.floats, &mut coins);
    let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let cpu = cpu.tv_sec as f64 + cpu.tv_nsec as f64 * 1e-9;
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no peak")?;
    let peak = peak.trim().trim_end_matches(" kB");
    println!("{cpu} {cpu} {peak} {answer} {}", all.counts.len());
    Ok(())
}

fn middle(said: &[Said], of: impl Fn(&Said) -> f64) -> f64 {
    let mut sorted: Vec<f64> = said.iter().map(of).collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

type Results = [(&'static str, &'static str, f64, Vec<Said>, Vec<Said>)];

fn print_table(results: &Results) {
    println!("CPU seconds and peak megabytes for one median and 50 counts of {ROWS} rows, medians of {ROUNDS} rounds.");
    println!(
        "{:>14}  {:>8}  {:>14}  {:>14}  {:>14}  {:>9}  {:>9}  {:>8}  {:>8}",
        "file", "beside", "its process", "its query", "ours, process", "/ process", "/ query", "MB", "its MB"
    );
    for (file, peer, _, our, their) in results {
        let (process, query) = (middle(their, |said| said.cpu), middle(their, |said| said.query));
        let cpu = middle(our, |said| said.cpu);
        println!(
            "{file:>14}  {peer:>8}  {process:>14.3}  {query:>14.3}  {cpu:>14.3}  {:>9.2}  {:>9.2}  {:>8.0}  {:>8.0}",
            cpu / process,
            cpu / query,
            middle(our, |said| said.peak),
            middle(their, |said| said.peak),
        );
    }
}

fn print_json(results: &Results) {
    let rows: Vec<_> = results
        .iter()
        .map(|(file, peer, most, our, their)| {
            let cpu = |said: &[Said]| said.iter().map(|said| said.cpu).collect::<Vec<_>>();
            serde_json::json!({
                "file": file, "peer": peer, "most": most,
                "equipoise": cpu(our), "peer_process": cpu(their),
                "peer_query": their.iter().map(|said| said.query).collect::<Vec<_>>(),
                "over_process": middle(our, |said| said.cpu) / middle(their, |said| said.cpu),
                "over_query": middle(our, |said| said.cpu) / middle(their, |said| said.query),
                "peak_megabytes": middle(our, |said| said.peak),
            })
        })
        .collect();
    println!("{:#}", serde_json::json!({ "unit": "CPU seconds", "rows": ROWS, "rounds": ROUNDS, "cases": rows }));
}
