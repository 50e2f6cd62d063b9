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
    parameters::Wanted,
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
    for rows in [1, 5] {
        let mut f2 = F2::init(&Buckets::new(&"0.1".parse()?, rows, 2400)?, &Counts::new(), coins);
        let mut items = vec![Item { key: 0, count: 1 }; BATCH];
        print(
            &format!("F2, {rows} rows of 2400 buckets"),
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

/// Lowest, highest and last answer over truth, after a start in which there is little to be right about.
fn shown(moments: &[Moment], skip: usize) -> String {
    let ratios = || moments.iter().skip(skip).map(Moment::ratio);
    let last = moments.last().map_or(f64::NAN, Moment::ratio);
    let (low, high) = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(f64::NEG_INFINITY, f64::max));
    format!("last {last:.3}, lowest {low:.3}, highest {high:.3}")
}

fn attacks(runs: usize, coins: &mut OsCoins) -> Result<(), Failure> {
    let mut reach = (f64::INFINITY, f64::NEG_INFINITY);
    for run in 1..=runs {
        println!("run {run} of {runs}");
        let (low, high) = squares(run == runs, coins)?;
        reach = (reach.0.min(low), reach.1.max(high));
    }
    println!("F2, copies, over all {runs} runs: answer / truth from {:.3} to {:.3}", reach.0, reach.1);
    sets(coins)?;
    nothing(coins)
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

/// Adaptive insertions against the sum of squared counts; copies of proved sizes.
fn squares(plotted: bool, coins: &mut OsCoins) -> Result<(f64, f64), Failure> {
    const INSERTIONS: usize = 10_000;
    let (alpha, half): (Ratio, Ratio) = ("0.5".parse()?, "0.25".parse()?);
    let mut plain = F2::init(&Buckets::new(&half, 1, 2048)?, &Counts::new(), coins);
    let plain = attack::squares(INSERTIONS, |item| {
        plain.update(&item);
        plain.query(&())
    });
    let grid = Grid::growing(&half, 1 << 40)?;
    let plan = Wanted { answers: INSERTIONS as u64, beta: "0.01".parse()?, grid: grid.len() }.plan()?;
    let shape = Buckets::proved(&half, plan.ln_inverse_failure())?;
    let about = format!("{} copies of {} rows of {}", plan.copies(), shape.rows(), shape.width());
    let mut robust = Copies::<F2>::new(plan, grid, shape, Counts::new(), false, coins)?;
    let robust_moments = attack::squares(INSERTIONS, |item| {
        robust.update(&item).expect("a small count");
        robust.query(&(), coins).expect("as many answers as declared")
    });
    let below = plain.iter().position(|moment| moment.ratio() < 0.5);
    println!("F2, {INSERTIONS} adaptive insertions; answer / truth:");
    println!("  plain, 2048 buckets:  {}; below half after {below:?}", shown(&plain, 100));
    println!("  {about}, alpha {alpha}, guarantee: {}: {}", robust.guarantee(), shown(&robust_moments, 0));
    if plotted {
        let lines =
            [line("one sketch of 2048 buckets", &plain, 20), line("copies, proved", &robust_moments, 20)];
        let labels = Labels { title: "Squared counts under attack", x: "insertions", y: "answer / truth" };
        draw("sketch-attack-f2.svg", &labels, &lines)?;
    }
    let ratios = || robust_moments.iter().map(Moment::ratio);
    Ok((ratios().fold(f64::INFINITY, f64::min), ratios().fold(f64::NEG_INFINITY, f64::max)))
}

/// Sets under one key against distinct counts.
fn sets(coins: &mut OsCoins) -> Result<(), Failure> {
    const ROUNDS: [usize; 9] = [50, 100, 200, 300, 400, 500, 600, 750, 900];
    let alpha: Ratio = "0.1".parse()?;
    let size = Size::new(&alpha, 256)?;
    let mut plain = Sets::init(&size, &(), coins);
    let kmv = attack::sets(8000, &ROUNDS, coins, |set| plain.query(set));
    let mut plain = HyperLogLogSets::init(&Registers::new(8)?, &(), coins);
    let hll = attack::sets(8000, &ROUNDS, coins, |set| plain.query(set));
    let grid = Grid::growing(&alpha, 1 << 20)?;
    let wanted = Wanted { answers: 909, beta: "0.01".parse()?, grid: grid.len() };
    let plan = wanted.clone().plan()?;
    let size = Size::proved(&"0.4".parse()?, plan.ln_inverse_failure())?;
    let about = format!("{} copies of {} hashes", plan.copies(), size.size());
    let mut robust = Copies::<Sets>::new(plan, grid.clone(), size, (), false, coins)?;
    let mut asks = OsCoins::new()?;
    let proved = attack::sets(8000, &ROUNDS, coins, |set| robust.query(set, &mut asks).expect("as declared"));
    let plan = wanted.heuristic(64, "1.5".parse()?)?;
    let mut own = Copies::<HyperLogLogSets>::new(plan, grid, Registers::new(8)?, (), false, coins)?;
    let copied = attack::sets(8000, &ROUNDS, coins, |set| own.query(set, &mut asks).expect("as declared"));
    println!(
        "Distinct counts, one key for many sets of 4000; answer / truth on the attacked set after {ROUNDS:?} sets:"
    );
    for (name, moments) in [
        ("plain KMV, 256 hashes".to_string(), &kmv),
        ("plain HyperLogLog, 256 registers".to_string(), &hll),
        (format!("{about}, alpha 0.5, guarantee: {}", robust.guarantee()), &proved),
        (format!("64 HyperLogLogs, guarantee: {}", own.guarantee()), &copied),
    ] {
        let ratios: Vec<String> = moments.iter().map(|moment| format!("{:.2}", moment.ratio())).collect();
        println!("  {name}: {}", ratios.join(" "));
    }
    let at = |name: &str, moments: &[Moment]| Line {
        name: name.to_string(),
        points: ROUNDS.iter().zip(moments).map(|(&round, moment)| (round as f64, moment.ratio())).collect(),
    };
    let lines = [
        at("KMV", &kmv),
        at("HyperLogLog", &hll),
        at("KMV copies, proved", &proved),
        at("HLL copies", &copied),
    ];
    let labels = Labels { title: "Distinct counts under attack", x: "sets asked", y: "answer / truth" };
    draw("sketch-attack-distinct.svg", &labels, &lines)
}

/// The count of a number that never came.
fn nothing(coins: &mut OsCoins) -> Result<(), Failure> {
    const STEPS: u64 = 500;
    const TOGETHER: u64 = 64;
    let alpha: Ratio = "0.5".parse()?;
    let mut plain = Point::init(&Buckets::new(&alpha, 5, 64)?, &Counts::new(), coins);
    let broken = attack::count_of_nothing(STEPS, TOGETHER, |items| {
        plain.update_all(items);
        plain.query(&0)
    });
    println!(
        "Count-Sketch, {STEPS} adaptive steps of {TOGETHER} items; error over the root of squared counts:"
    );
    println!("  plain, 5 rows of 64: {}", shown(&broken, 50));
    let grid = Grid::even(4, 1 << 16)?;
    let plan = Wanted { answers: 2 * STEPS, beta: "0.01".parse()?, grid: grid.len() }.plan()?;
    let shape = Buckets::proved(&alpha, plan.ln_inverse_failure())?;
    let about = format!("{} copies of {} rows of {}", plan.copies(), shape.rows(), shape.width());
    let mut robust = Copies::<Point>::new(plan, grid, shape, Counts::new(), false, coins)?;
    let moments = attack::count_of_nothing(STEPS, TOGETHER, |items| {
        robust.update_all(items).expect("small counts");
        robust.query(&0, coins).expect("as declared")
    });
    println!("  {about}, guarantee: {} ({alpha}): {}", robust.guarantee(), shown(&moments, 10));
    let lines = [line("Count-Sketch", &broken, 5), line("copies, proved", &moments, 5)];
    let labels =
        Labels { title: "The count of nothing under attack", x: "steps", y: "error / root of squares" };
    draw("sketch-attack-point.svg", &labels, &lines)
}
