//! Updates per second of the sketches on one core, in batches, beside Apache DataSketches from Python; what copies cost beside
//! one sketch; whether a new phase stalls. All times are CPU times of one thread. With `--attack [RUNS]`, plain
//! sketches and copies of them under attacks, and plots.

#[allow(dead_code, reason = "the other benchmark draws logarithmic axes")]
mod plot;
#[path = "../../src/python.rs"]
mod python;

use equipoise_core::ratio::Ratio;
use equipoise_entropy::OsCoins;
use equipoise_robust::{
    Oblivious,
    copies::Copies,
    grid::Grid,
    hash::Key,
    parameters::Wanted,
    ready::{Promise, RobustF2, RobustPoint},
    sketch::{
        Counts, Item,
        attack::{self, Moment},
        hyperloglog::{HyperLogLog, HyperLogLogSets, Registers},
        kmv::{Kmv, Sets, Size},
        table::{Buckets, F2, Point},
    },
};
use plot::{Labels, Line};
use std::{env, error::Error, hint::black_box, path::PathBuf};

type Failure = Box<dyn Error>;

const BATCH: usize = 1 << 16;
const ROUNDS: usize = 5;
const SECONDS: f64 = 0.3;

/// CPU time of this thread in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Million updates per second, slowest, median and fastest round. Every batch has new numbers.
fn rates(mut update: impl FnMut(&[u64])) -> [f64; 3] {
    let mut numbers: Vec<u64> = (0..BATCH as u64).collect();
    let mut rates: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let (start, mut batches) = (cpu_seconds(), 0);
            loop {
                for number in &mut numbers {
                    *number += BATCH as u64;
                }
                update(black_box(&numbers));
                batches += 1;
                let elapsed = cpu_seconds() - start;
                if elapsed > SECONDS {
                    return (batches * BATCH) as f64 / elapsed / 1e6;
                }
            }
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    [rates[0], rates[ROUNDS / 2], rates[ROUNDS - 1]]
}

fn main() -> Result<(), Failure> {
    let mut coins = OsCoins::new()?;
    match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => speed(&mut coins),
        [flag] if flag == "--attack" => attacks(1, &mut coins),
        [flag, runs] if flag == "--attack" => attacks(runs.parse()?, &mut coins),
        _ => Err("usage: sketches [--attack [RUNS]]".into()),
    }
}

fn speed(coins: &mut OsCoins) -> Result<(), Failure> {
    println!(
        "Million updates per CPU second in batches of {BATCH}: median of {ROUNDS} rounds (slowest .. fastest)"
    );
    let print = |name: &str, [low, middle, high]: [f64; 3]| {
        println!("{name:<34} {middle:>8.1} ({low:.1} .. {high:.1})")
    };
    let mut hll = HyperLogLog::new(Registers::new(14)?, coins);
    print("HyperLogLog, 2^14 registers", rates(|numbers| hll.insert_all(numbers)));
    for size in [1 << 10, 1 << 14] {
        let mut kmv = Kmv::new(&Size::new(&"0.1".parse()?, size)?, coins);
        print(&format!("KMV, {size} hashes"), rates(|numbers| kmv.insert_all(numbers)));
    }
    for (rows, width) in [(1, 2048), (5, 2048), (111, 128)] {
        let mut f2 = F2::init(&Buckets::new(&"0.1".parse()?, rows, width)?, &Counts::new(), coins);
        let mut items = vec![Item { key: 0, count: 1 }; BATCH];
        print(
            &format!("F2, {rows} rows of {width} buckets"),
            rates(|numbers| {
                for (item, &number) in items.iter_mut().zip(numbers) {
                    item.key = number;
                }
                f2.update_all(&items);
            }),
        );
    }
    black_box(hll.distinct());
    datasketches()?;
    wrapper(coins)?;
    phases(coins)
}

/// The same in Python, where `bench/run` made one ready.
fn datasketches() -> Result<(), Failure> {
    let Ok(interpreter) = env::var("BENCH_PYTHON") else {
        println!("Apache DataSketches: not measured; bench/run sets up its Python");
        return Ok(());
    };
    let mut python = python::Python::start(&interpreter, include_str!("datasketches.py"))?;
    for (name, title) in [("hll", "HLL"), ("theta", "theta (KMV)"), ("cpc", "CPC")] {
        let rates: Result<Vec<f64>, Failure> =
            (0..ROUNDS).map(|_| Ok(python.ask(name)?.parse::<f64>()?)).collect();
        let mut rates = rates?;
        rates.sort_by(f64::total_cmp);
        println!(
            "{:<34} {:>8.1} ({:.1} .. {:.1})",
            format!("DataSketches {title}, 2^14, loop"),
            rates[ROUNDS / 2],
            rates[0],
            rates[ROUNDS - 1]
        );
    }
    Ok(())
}

/// Updates through copies, beside copies times one sketch.
fn wrapper(coins: &mut OsCoins) -> Result<(), Failure> {
    let half: Ratio = "0.1".parse()?;
    let grid = Grid::growing(&half, 1 << 50)?;
    let plan = Wanted { answers: 1000, beta: "0.01".parse()?, grid: grid.len() }.plan()?;
    let size = Size::proved(&half, plan.ln_inverse_failure())?;
    let count = plan.copies();
    let mut one = Kmv::new(&size, coins);
    let mut copies = Copies::<Kmv>::new(plan, grid, size, Counts::new(), false, coins)?;
    let one = rates(|numbers| one.insert_all(numbers))[ROUNDS / 2];
    let all = rates(|numbers| copies.update_all(numbers).expect("nothing is kept"))[ROUNDS / 2];
    println!(
        "{count} copies of KMV, proved for alpha 0.2 and 1000 answers: {all:.3} million updates a second; \
         one sketch {one:.1}; cost / (copies x one) = {:.2}",
        one / (all * count as f64)
    );
    Ok(())
}

/// The time of each answer over five phases, where the next phase's copies begin during the present one.
fn phases(coins: &mut OsCoins) -> Result<(), Failure> {
    let half: Ratio = "0.25".parse()?;
    let grid = Grid::growing(&half, 1 << 50)?;
    let plan = Wanted { answers: 500, beta: "0.01".parse()?, grid: grid.len() }.plan()?;
    let size = Size::proved(&half, plan.ln_inverse_failure())?;
    let mut copies = Copies::<Kmv>::new(plan, grid, size, Counts::new(), true, coins)?;
    copies.update_all(&(0..100_000).collect::<Vec<u64>>()).expect("small counts");
    let mut times = Vec::new();
    let mut changes = Vec::new();
    for step in 0..2500u64 {
        copies.update(&(100_000 + step)).expect("small counts");
        let (start, phase) = (cpu_seconds(), copies.phase());
        black_box(copies.query(&(), coins).expect("phases begin anew"));
        let time = cpu_seconds() - start;
        if copies.phase() == phase {
            times.push(time);
        } else {
            changes.push(time);
        }
    }
    times.sort_by(f64::total_cmp);
    println!(
        "answers over 5 phases of {} copies on 100,000 items: median {:.2} ms, slowest {:.2} ms; at a change of phase {:?} ms",
        copies.plan().copies(),
        times[times.len() / 2] * 1e3,
        times[times.len() - 1] * 1e3,
        changes.iter().map(|time| (time * 1e5).round() / 1e2).collect::<Vec<_>>()
    );
    Ok(())
}

fn reach(moments: &[Moment]) -> (f64, f64) {
    let ratios = moments.iter().map(Moment::ratio);
    ratios.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), ratio| (low.min(ratio), high.max(ratio)))
}

/// What happened to one structure over all runs.
struct Tally {
    name: String,
    /// The last ratio of each run of a plain structure, or lowest and highest of a robust one.
    last: Vec<f64>,
    low: f64,
    high: f64,
}

impl Tally {
    fn new(name: &str) -> Self {
        Self { name: name.to_string(), last: Vec::new(), low: f64::INFINITY, high: f64::NEG_INFINITY }
    }

    fn add(&mut self, moments: &[Moment]) {
        let (low, high) = reach(moments);
        (self.low, self.high) = (self.low.min(low), self.high.max(high));
        self.last.push(moments.last().map_or(f64::NAN, Moment::ratio));
    }

    fn print(&mut self) {
        self.last.sort_by(f64::total_cmp);
        let (first, middle, last) =
            (self.last[0], self.last[self.last.len() / 2], self.last[self.last.len() - 1]);
        println!(
            "  {}: at the end {middle:.3} ({first:.3} .. {last:.3}); at all times {:.3} .. {:.3}",
            self.name, self.low, self.high
        );
    }
}

fn attacks(runs: usize, coins: &mut OsCoins) -> Result<(), Failure> {
    println!(
        "Answer / truth over {runs} runs: the median of the last answers (lowest .. highest), then all answers."
    );
    squares(runs, coins)?;
    sets(runs, coins)?;
    nothing(runs, coins)
}

fn line(name: &str, moments: &[Moment], every: usize) -> Line {
    let points = moments.iter().enumerate().step_by(every).map(|(at, moment)| (at as f64, moment.ratio()));
    Line { name: name.to_string(), points: points.collect() }
}

fn draw(name: &str, labels: &Labels, lines: &[Line]) -> Result<(), Failure> {
    let folder = PathBuf::from(env::var("BENCH_PLOTS").unwrap_or_else(|_| "target/plots".to_string()));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(name);
    plot::linear(&path, labels, lines)?;
    println!("  plot: {}", path.display());
    Ok(())
}

/// The sketch as it was first written down: rows of one signed sum each, and the mean of their squares.
struct Ams {
    keys: Vec<Key>,
    sums: Vec<i64>,
}

impl Ams {
    /// So many rows, a multiple of 64: each bit of a hash is the sign of one row.
    fn new(rows: usize, coins: &mut OsCoins) -> Self {
        Self { keys: (0..rows / 64).map(|_| Key::draw(coins)).collect(), sums: vec![0; rows] }
    }

    fn update(&mut self, item: Item) {
        for (key, sums) in self.keys.iter().zip(self.sums.chunks_exact_mut(64)) {
            let hash = key.hash(item.key);
            for (bit, sum) in sums.iter_mut().enumerate() {
                *sum += if hash >> bit & 1 == 0 { item.count } else { -item.count };
            }
        }
    }

    fn query(&self) -> i128 {
        let squares: i128 = self.sums.iter().map(|&sum| i128::from(sum) * i128::from(sum)).sum();
        squares / self.sums.len() as i128
    }
}

/// After how many insertions the answer was first below half of the truth.
fn below_half(moments: &[Moment]) -> usize {
    let first = moments.iter().skip(100).position(|moment| moment.ratio() < 0.5);
    first.map_or(usize::MAX, |first| first + 100)
}

/// Adaptive insertions against the sum of squared counts; copies of proved sizes, every answer of the budget.
fn squares(runs: usize, coins: &mut OsCoins) -> Result<(), Failure> {
    const INSERTIONS: usize = 10_000;
    const MOST: usize = 20_000;
    println!("Sum of squared counts, {INSERTIONS} adaptive insertions ({MOST} for plain sketches):");
    let alpha: Ratio = "0.5".parse()?;
    let mut dense = Tally::new("plain AMS, 2048 rows");
    let mut bucketed = Tally::new("plain, 2048 buckets ");
    let mut halves = [Vec::new(), Vec::new()];
    let mut robust = Tally::new("");
    let mut lines = Vec::new();
    for run in 1..=runs {
        let mut ams = Ams::new(2048, coins);
        let ams = attack::squares(MOST, |item| {
            ams.update(item);
            ams.query()
        });
        let mut f2 = F2::init(&Buckets::new(&alpha, 1, 2048)?, &Counts::new(), coins);
        let f2 = attack::squares(MOST, |item| {
            f2.update(&item);
            f2.query(&())
        });
        halves[0].push(below_half(&ams));
        halves[1].push(below_half(&f2));
        dense.add(&ams[100..]);
        bucketed.add(&f2[100..]);
        let promise = Promise { alpha: alpha.clone(), answers: INSERTIONS as u64, ..Promise::default() };
        let mut copies = RobustF2::new(&promise, None, coins)?;
        let moments = attack::squares(INSERTIONS, |item| {
            copies.update(&[item]).expect("a small count");
            copies.query(&(), coins).expect("as many answers as declared")
        });
        let name =
            format!("{} copies, alpha {alpha}, guarantee: {}", copies.copy_count(), copies.guarantee());
        let (low, high) = reach(&moments);
        println!(
            "  run {run}: AMS below half after {}, buckets after {}; copies {low:.3} .. {high:.3}",
            halves[0][run - 1],
            halves[1][run - 1]
        );
        robust.name = name;
        robust.add(&moments);
        lines = vec![
            line("AMS, 2048 rows", &ams, 20),
            line("one sketch of 2048 buckets", &f2, 20),
            line("copies, proved", &moments, 20),
        ];
    }
    for tally in [&mut dense, &mut bucketed, &mut robust] {
        tally.print();
    }
    for (name, half) in ["AMS, 2048 rows", "2048 buckets"].iter().zip(&mut halves) {
        half.sort_unstable();
        println!(
            "  {name}: below half after {} .. {} insertions, median {}",
            half[0],
            half[runs - 1],
            half[runs / 2]
        );
    }
    let labels = Labels { title: "Squared counts under attack", x: "insertions", y: "answer / truth" };
    draw("sketch-attack-f2.svg", &labels, &lines)
}

/// Sets under one key against distinct counts.
fn sets(runs: usize, coins: &mut OsCoins) -> Result<(), Failure> {
    const ROUNDS: [usize; 9] = [50, 100, 200, 300, 400, 500, 600, 750, 900];
    println!("Distinct counts, one key for many sets of 4000; on the attacked set after up to 900 sets:");
    let alpha: Ratio = "0.1".parse()?;
    let grid = Grid::growing(&alpha, 1 << 20)?;
    let wanted = Wanted { answers: 909, beta: "0.01".parse()?, grid: grid.len() };
    let plan = wanted.clone().plan()?;
    let size = Size::proved(&"0.4".parse()?, plan.ln_inverse_failure())?;
    let mut tallies = [
        Tally::new("plain KMV, 256 hashes"),
        Tally::new("plain HyperLogLog, 256 registers"),
        Tally::new(&format!(
            "{} copies of KMV, {} hashes, alpha 0.5, guarantee: proved",
            plan.copies(),
            size.size()
        )),
        Tally::new("64 copies of HyperLogLog, 256 registers, guarantee: heuristic"),
    ];
    let mut lines = Vec::new();
    let mut asks = OsCoins::new()?;
    for _ in 0..runs {
        let mut plain = Sets::init(&Size::new(&alpha, 256)?, &(), coins);
        let kmv = attack::sets(8000, &ROUNDS, coins, |set| plain.query(set));
        let mut plain = HyperLogLogSets::init(&Registers::new(8)?, &(), coins);
        let hll = attack::sets(8000, &ROUNDS, coins, |set| plain.query(set));
        let mut robust = Copies::<Sets>::new(plan.clone(), grid.clone(), size.clone(), (), false, coins)?;
        let proved =
            attack::sets(8000, &ROUNDS, coins, |set| robust.query(set, &mut asks).expect("as declared"));
        let own = wanted.clone().heuristic(64, "1.5".parse()?)?;
        let mut own =
            Copies::<HyperLogLogSets>::new(own, grid.clone(), Registers::new(8)?, (), false, coins)?;
        let copied =
            attack::sets(8000, &ROUNDS, coins, |set| own.query(set, &mut asks).expect("as declared"));
        let at = |name: &str, moments: &[Moment]| Line {
            name: name.to_string(),
            points: ROUNDS
                .iter()
                .zip(moments)
                .map(|(&round, moment)| (round as f64, moment.ratio()))
                .collect(),
        };
        lines = vec![
            at("KMV", &kmv),
            at("HyperLogLog", &hll),
            at("KMV copies, proved", &proved),
            at("HLL copies", &copied),
        ];
        for (tally, moments) in tallies.iter_mut().zip([kmv, hll, proved, copied]) {
            tally.add(&moments);
        }
    }
    tallies.iter_mut().for_each(Tally::print);
    let labels = Labels { title: "Distinct counts under attack", x: "sets asked", y: "answer / truth" };
    draw("sketch-attack-distinct.svg", &labels, &lines)
}

/// The count of a number that never came.
fn nothing(runs: usize, coins: &mut OsCoins) -> Result<(), Failure> {
    const STEPS: u64 = 500;
    const TOGETHER: u64 = 64;
    println!(
        "Count-Sketch, {STEPS} adaptive steps of {TOGETHER} items; error over the root of squared counts:"
    );
    let alpha: Ratio = "0.5".parse()?;
    let mut plain = Tally::new("plain, 5 rows of 64");
    let mut robust = Tally::new("");
    let mut lines = Vec::new();
    for _ in 0..runs {
        let mut sketch = Point::init(&Buckets::new(&alpha, 5, 64)?, &Counts::new(), coins);
        let broken = attack::count_of_nothing(STEPS, TOGETHER, |items| {
            sketch.update_all(items);
            sketch.query(&0)
        });
        let promise = Promise { alpha: alpha.clone(), answers: 2 * STEPS, ..Promise::default() };
        let mut copies = RobustPoint::new(&promise, None, coins)?;
        let moments = attack::count_of_nothing(STEPS, TOGETHER, |items| {
            copies.update(items).expect("small counts");
            copies.query(&0, coins).expect("as declared")
        });
        robust.name =
            format!("{} copies, alpha {alpha}, guarantee: {}", copies.copy_count(), copies.guarantee());
        lines = vec![line("Count-Sketch", &broken, 5), line("copies, proved", &moments, 5)];
        plain.add(&broken);
        robust.add(&moments);
    }
    plain.print();
    robust.print();
    let labels =
        Labels { title: "The count of nothing under attack", x: "steps", y: "error / root of squares" };
    draw("sketch-attack-point.svg", &labels, &lines)
}
