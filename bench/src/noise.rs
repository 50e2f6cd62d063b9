//! Draws per second of discrete Laplace and discrete Gaussian noise: Equipoise, OpenDP, numpy.
//!
//! All are asked in turn, five rounds over, each timed by its own CPU clock. Peers are processes of their
//! own. OpenDP is asked twice, as its users get it and at its fastest. numpy's noise is floating point,
//! rounded: no guarantee, but the speed to compare with.

use equipoise_core::{
    ratio::Ratio,
    sampler::{discrete_gaussian::DiscreteGaussian, discrete_laplace::DiscreteLaplace},
};
use equipoise_entropy::OsCoins;
use std::{
    env,
    error::Error,
    hint::black_box,
    io::{BufRead, BufReader, Lines, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const ROUNDS: usize = 5;
/// Draws per call; they fit into the second-level cache.
const BATCH: usize = 1 << 16;
/// How long each measurement takes, about.
const SECONDS: f64 = 0.25;
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
struct Rates {
    law: Law,
    scale: u64,
    /// In the order of the peers.
    peers: Vec<Vec<f64>>,
    equipoise: Vec<f64>,
}

fn main() -> Result<(), Failure> {
    let json = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--json" => true,
        _ => return Err("usage: noise [--json]".into()),
    };
    let python = env::var("BENCH_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let here = env::current_exe()?;
    let beside = |name: &str| Command::new(here.parent().unwrap_or(Path::new(".")).join(name));
    let mut numpy = Command::new(python);
    numpy.args(["-c", include_str!("noise.py")]);
    let mut peers = [
        Peer::start("numpy, rounded", "numpy", numpy, BATCH)?,
        Peer::start("OpenDP 0.16, default", "opendp", beside("peer-opendp-openssl"), 256)?,
        Peer::start("OpenDP, no OpenSSL", "opendp_without_openssl", beside("peer-opendp"), 256)?,
    ];
    let mut coins = OsCoins::new()?;
    let mut rows: Vec<Rates> = [Law::Laplace, Law::Gaussian]
        .into_iter()
        .flat_map(|law| SCALES.map(|scale| (law, scale)))
        .map(|(law, scale)| Rates { law, scale, peers: vec![Vec::new(); peers.len()], equipoise: Vec::new() })
        .collect();
    for round in 0..ROUNDS {
        eprintln!("round {} of {ROUNDS}", round + 1);
        for row in &mut rows {
            for (peer, rates) in peers.iter_mut().zip(&mut row.peers) {
                rates.push(peer.rate(row.law, row.scale)?);
            }
            row.equipoise.push(equipoise_rate(row.law, row.scale, &mut coins)?);
        }
    }
    if json {
        print_json(&peers, &rows);
    } else {
        print_table(&peers, &rows);
    }
    Ok(())
}

/// CPU time of this thread in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn equipoise_rate(law: Law, scale: u64, coins: &mut OsCoins) -> Result<f64, Failure> {
    let scale = Ratio::from(scale);
    Ok(match law {
        Law::Laplace => {
            let noise = DiscreteLaplace::new(&scale)?;
            rate_of(|out| noise.fill(out, coins))
        }
        Law::Gaussian => {
            let noise = DiscreteGaussian::new(&scale.squared())?;
            rate_of(|out| noise.fill(out, coins))
        }
    })
}

/// Fills batches until enough time has passed; millions of draws per second.
fn rate_of(mut fill: impl FnMut(&mut [i64])) -> f64 {
    let mut out = vec![0; BATCH];
    fill(black_box(&mut out)); // warm
    let start = cpu_seconds();
    let mut calls = 0;
    loop {
        fill(black_box(&mut out));
        calls += 1;
        let elapsed = cpu_seconds() - start;
        if elapsed > SECONDS {
            return (calls * BATCH) as f64 / elapsed / 1e6;
        }
    }
}

/// A process that draws on request and answers with its own CPU time.
struct Peer {
    title: &'static str,
    /// What JSON calls it.
    key: &'static str,
    /// Draws per call.
    batch: usize,
    child: Child,
    questions: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Peer {
    fn start(
        title: &'static str,
        key: &'static str,
        mut command: Command,
        batch: usize,
    ) -> Result<Self, Failure> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = child.stdin.take().ok_or("no pipe to a peer")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe from a peer")?).lines();
        Ok(Self { title, key, batch, child, questions, answers })
    }

    fn seconds(&mut self, law: Law, scale: u64, calls: usize) -> Result<f64, Failure> {
        writeln!(self.questions, "{} {scale} {} {calls}", law.name(), self.batch)?;
        Ok(self.answers.next().ok_or_else(|| format!("{} stopped", self.title))??.parse()?)
    }

    fn rate(&mut self, law: Law, scale: u64) -> Result<f64, Failure> {
        // Some calls to warm up and to learn how many to ask for.
        let calls = (4.0 * SECONDS / self.seconds(law, scale, 4)?).ceil() as usize;
        Ok((self.batch * calls) as f64 / self.seconds(law, scale, calls)? / 1e6)
    }
}

impl Drop for Peer {
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

fn print_table(peers: &[Peer], rows: &[Rates]) {
    println!("Million draws per CPU second, median of {ROUNDS} rounds (slowest .. fastest); at the end,");
    println!("how many times as fast Equipoise is as each of the others, in their order.");
    let titles = peers.iter().map(|peer| peer.title).chain(["Equipoise"]);
    let cells: String = titles.map(|title| format!("  {title:>26}")).collect();
    println!("{:<9} {:>8}{cells}", "noise", "scale");
    for row in rows {
        let cell = |rates: &Vec<f64>| {
            let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
            let high = rates.iter().copied().fold(0.0, f64::max);
            let text = format!("{:.3} ({low:.3} .. {high:.3})", median(rates));
            format!("  {text:>26}")
        };
        let cells: String = row.peers.iter().chain([&row.equipoise]).map(cell).collect();
        let over = |peer: &Vec<f64>| format!("  {:>8.2}", median(&row.equipoise) / median(peer));
        let ratios: String = row.peers.iter().map(over).collect();
        println!("{:<9} {:>8}{cells}{ratios}", row.law.name(), row.scale);
    }
}

fn print_json(peers: &[Peer], rows: &[Rates]) {
    let row_of = |row: &Rates| {
        let mut json = serde_json::json!({
            "noise": row.law.name(), "scale": row.scale, "equipoise": row.equipoise
        });
        for (peer, rates) in peers.iter().zip(&row.peers) {
            json[peer.key] = rates.clone().into();
            json[format!("equipoise_over_{}", peer.key)] = (median(&row.equipoise) / median(rates)).into();
        }
        json
    };
    let rows: Vec<_> = rows.iter().map(row_of).collect();
    let report =
        serde_json::json!({ "unit": "million draws per CPU second", "rounds": ROUNDS, "rows": rows });
    println!("{report:#}");
}
