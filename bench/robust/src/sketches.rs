//! Updates per second of the sketches on one core, in batches; all times are CPU times of one thread. Then, with
//! `--attack [RUNS]`, plain sketches and copies of them under attacks, and a plot.

#[allow(dead_code, reason = "the other benchmark draws logarithmic axes")]
mod plot;

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
        hyperloglog::{HyperLogLog, Registers},
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
    for run in 1..=runs {
        println!("run {run} of {runs}");
        squares(run == runs, coins)?;
    }
    sets(coins)?;
    nothing(coins)
}

/// Adaptive insertions against the sum of squared counts; copies of proved sizes.
fn squares(plotted: bool, coins: &mut OsCoins) -> Result<(), Failure> {
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
        let folder = PathBuf::from(env::var("BENCH_PLOTS").unwrap_or_else(|_| "target/plots".to_string()));
        std::fs::create_dir_all(&folder)?;
        let path = folder.join("sketch-attack.svg");
        let line = |name: &str, moments: &[Moment]| Line {
            name: name.to_string(),
            points: moments.iter().enumerate().step_by(20).map(|(at, m)| (at as f64, m.ratio())).collect(),
        };
        let lines = [line("one sketch of 2048 buckets", &plain), line("copies, proved", &robust_moments)];
        let labels = Labels { title: "Squared counts under attack", x: "insertions", y: "answer / truth" };
        plot::linear(&path, &labels, &lines)?;
        println!("  plot: {}", path.display());
    }
    Ok(())
}

/// Sets under one key against distinct counts.
fn sets(coins: &mut OsCoins) -> Result<(), Failure> {
    const ROUNDS: [usize; 3] = [100, 300, 900];
    let alpha: Ratio = "0.1".parse()?;
    let size = Size::new(&alpha, 2048)?;
    let mut plain = Sets::init(&size, &(), coins);
    let moments = attack::sets(8000, &ROUNDS, coins, |set| plain.query(set));
    println!("KMV, one key for {ROUNDS:?} sets; answer / truth on the attacked set:");
    println!("  plain, 2048 hashes: {:?}", moments.iter().map(|m| m.ratio()).collect::<Vec<_>>());
    let grid = Grid::growing(&alpha, 1 << 20)?;
    let plan = Wanted { answers: 903, beta: "0.01".parse()?, grid: grid.len() }.plan()?;
    let size = Size::proved(&"0.4".parse()?, plan.ln_inverse_failure())?;
    let about = format!("{} copies of {} hashes", plan.copies(), size.size());
    let mut robust = Copies::<Sets>::new(plan, grid, size, (), false, coins)?;
    let mut asks = OsCoins::new()?;
    let moments =
        attack::sets(8000, &ROUNDS, coins, |set| robust.query(set, &mut asks).expect("as declared"));
    println!(
        "  {about}, guarantee: {} (0.4): {:?}",
        robust.guarantee(),
        moments.iter().map(|m| m.ratio()).collect::<Vec<_>>()
    );
    Ok(())
}

/// The count of a number that never came.
fn nothing(coins: &mut OsCoins) -> Result<(), Failure> {
    const STEPS: u64 = 2000;
    let alpha: Ratio = "0.5".parse()?;
    let mut plain = Point::init(&Buckets::new(&alpha, 5, 64)?, &Counts::new(), coins);
    let moments = attack::count_of_nothing(STEPS, |items| {
        plain.update_all(items);
        plain.query(&0)
    });
    println!("Count-Sketch, {STEPS} adaptive steps of eight items; error over the root of squared counts:");
    println!("  plain, 5 rows of 64: {}", shown(&moments, 200));
    let grid = Grid::even(4, 1 << 16)?;
    let plan = Wanted { answers: 2 * STEPS, beta: "0.01".parse()?, grid: grid.len() }.plan()?;
    let shape = Buckets::proved(&alpha, plan.ln_inverse_failure())?;
    let about = format!("{} copies of {} rows of {}", plan.copies(), shape.rows(), shape.width());
    let mut robust = Copies::<Point>::new(plan, grid, shape, Counts::new(), false, coins)?;
    let moments = attack::count_of_nothing(STEPS, |items| {
        robust.update_all(items).expect("small counts");
        robust.query(&0, coins).expect("as declared")
    });
    println!("  {about}, guarantee: {} ({alpha}): {}", robust.guarantee(), shown(&moments, 10));
    Ok(())
}
