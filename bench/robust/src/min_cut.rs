//! Minimum cuts of graphs that change: the exact structure beside computing from scratch, the sampled one under
//! copies, and the attack on it. All times are CPU times of one thread.
//!
//! `min-cut` prints everything and writes two plots; `min-cut --check` instead compares the exact structure with
//! the fixed algorithm after every one of 10^5 changes of each kind of graph; `min-cut --attack` has the attack alone.

mod plot;

use equipoise_core::ratio::Ratio;
use equipoise_entropy::OsCoins;
use equipoise_robust::{
    Oblivious,
    copies::Copies,
    grid::Grid,
    min_cut::{
        attack::{DeleteSampled, Target, planted},
        exact::MinCut,
        fixed::min_cut,
        graph::{Change, Graph},
        kinds::{ALL, Kind, Mixed},
        sampled::{Levels, Sampled},
    },
    parameters::{Costs, Wanted},
};
use plot::{Labels, Line};
use std::{env, error::Error, hint::black_box, path::PathBuf};

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let mut coins = OsCoins::new()?;
    match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => {
            speed(&mut coins);
            growth(&mut coins)?;
            crossover(&mut coins)?;
            attack(&mut coins)
        }
        [flag] if flag == "--check" => check(&mut coins),
        [flag] if flag == "--attack" => attack(&mut coins),
        _ => Err("usage: min-cut [--check | --attack]".into()),
    }
}

/// CPU time of this thread in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn timed<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let start = cpu_seconds();
    let result = run();
    (cpu_seconds() - start, result)
}

/// Vertices for a number of edges.
fn vertices(kind: Kind, edges: usize) -> u32 {
    let vertices = match kind {
        Kind::Random => edges / 10,
        Kind::Clustered => edges / 20,
        Kind::Grid => edges / 2,
        Kind::PowerLaw => edges / 5,
    };
    u32::try_from(vertices).expect("fits")
}

struct Speed {
    fixed: f64,
    update: f64,
    slowest: f64,
    cut: MinCut,
    values: (u64, u64),
}

/// Mixed changes, each followed by an answer; the fixed algorithm is timed at five moments on the way.
fn run(kind: Kind, edges: usize, heaviest: u64, steps: usize, coins: &mut OsCoins) -> Speed {
    let graph = kind.graph(vertices(kind, edges), edges, heaviest, coins);
    let mut cut = MinCut::new(graph);
    let mut changes = Mixed::new(cut.graph(), heaviest);
    let first = cut.value();
    let (mut fixed, mut update, mut slowest) = (0.0, 0.0, 0.0f64);
    for step in 0..steps {
        if step % (steps / 5) == 0 {
            let (time, value) = timed(|| min_cut(cut.graph()).value);
            fixed += time / 5.0;
            assert_eq!(value, cut.value());
        }
        let change = changes.next(cut.graph(), coins);
        let (time, _) = timed(|| {
            cut.change(change).expect("it fits");
            black_box(cut.value())
        });
        update += time / steps as f64;
        slowest = slowest.max(time);
    }
    assert_eq!(cut.value(), min_cut(cut.graph()).value);
    let values = (first, cut.value());
    Speed { fixed, update, slowest, cut, values }
}

fn speed(coins: &mut OsCoins) {
    println!("Exact minimum cut, 20,000 mixed changes with an answer after each, about 100,000 edges.");
    println!(
        "{:<10} {:>7} {:>8} {:>8} {:>11} {:>12} {:>12} {:>12} {:>7}  work",
        "kind", "weights", "vertices", "edges", "cut", "from scratch", "one change", "slowest", "times"
    );
    for (kind, heaviest) in [1, 100].into_iter().flat_map(|heaviest| ALL.map(|kind| (kind, heaviest))) {
        let speed = run(kind, 100_000, heaviest, 20_000, coins);
        println!(
            "{:<10} {heaviest:>7} {:>8} {:>8} {:>5}->{:<5} {:>9.2} ms {:>9.2} us {:>9.2} ms {:>7.0}  {:?}",
            format!("{kind:?}"),
            speed.cut.graph().vertices(),
            speed.cut.graph().edge_count(),
            speed.values.0,
            speed.values.1,
            speed.fixed * 1e3,
            speed.update * 1e6,
            speed.slowest * 1e3,
            speed.fixed / speed.update,
            speed.cut.work()
        );
    }
}

fn plot_path(name: &str) -> Result<PathBuf, Failure> {
    let folder = PathBuf::from(env::var("BENCH_PLOTS").unwrap_or_else(|_| "target/plots".to_string()));
    std::fs::create_dir_all(&folder)?;
    Ok(folder.join(name))
}

fn growth(coins: &mut OsCoins) -> Result<(), Failure> {
    let sizes = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000];
    let mut lines = Vec::new();
    println!("\nGrowth with the number of edges: microseconds from scratch / for one change.");
    for kind in ALL {
        let mut scratch = Line { name: format!("{kind:?}, from scratch"), points: Vec::new() };
        let mut change = Line { name: format!("{kind:?}, one change"), points: Vec::new() };
        print!("{:<10}", format!("{kind:?}"));
        for edges in sizes {
            let speed = run(kind, edges, 1, 4_000, coins);
            print!("  {edges}: {:.0}/{:.1}", speed.fixed * 1e6, speed.update * 1e6);
            scratch.points.push((edges as f64, speed.fixed * 1e6));
            change.points.push((edges as f64, speed.update * 1e6));
        }
        println!();
        lines.extend([scratch, change]);
    }
    let path = plot_path("min-cut-growth.svg")?;
    let labels = Labels { title: "Exact minimum cut of a changing graph", x: "edges", y: "microseconds" };
    plot::logarithmic(&path, &labels, &lines)?;
    println!("plot: {}", path.display());
    Ok(())
}

/// When does the sampled structure under copies beat computing from scratch?
fn crossover(coins: &mut OsCoins) -> Result<(), Failure> {
    println!(
        "\nSampled structure under copies, alpha 1/2, beta 0.01, proved sizes; times of one copy, CPU. An edge has weight one."
    );
    println!(
        "{:>8} {:>8} {:>8} {:>6} {:>10} {:>10} {:>10} {:>12} {:>8} {:>7} {:>12} {:>22} {:>8}",
        "vertices",
        "pairs",
        "|E|",
        "keep",
        "init",
        "update",
        "query",
        "from scratch",
        "answers",
        "copies",
        "per answer",
        "/ (sqrt|E| |V|^(1/4))",
        "wins"
    );
    let mut lines = [
        Line { name: "copies, one answer".to_string(), points: Vec::new() },
        Line { name: "exact from scratch".to_string(), points: Vec::new() },
        Line { name: "sqrt(|E|)·|V|^(1/4) microseconds".to_string(), points: Vec::new() },
    ];
    let (alpha, copy_alpha): (Ratio, Ratio) = ("0.5".parse()?, "7/16".parse()?);
    let beta: Ratio = "0.01".parse()?;
    let grid = Grid::growing(&(&alpha / &Ratio::from(8u64)), 1 << 40)?.len();
    // Many parallel edges between few vertices; then simple graphs, the last nearly complete.
    for (vertices, weight) in [
        (16u32, 1_000usize),
        (16, 10_000),
        (16, 100_000),
        (64, 200_000),
        (100, 2_000),
        (300, 10_000),
        (300, 40_000),
    ] {
        let mut graph = Kind::Random.graph(vertices, weight, 1, coins);
        let wanted = Wanted { answers: 1 << 12, beta: beta.clone(), grid };
        let shape = Levels::proved(vertices, &copy_alpha, wanted.plan()?.ln_inverse_failure())?;
        let (init, mut copy) = timed(|| Sampled::init(&shape, &graph, coins));
        let mut changes = Mixed::new(&graph, 1);
        let (steps, mut update, mut query) = (20, 0.0, 0.0);
        for _ in 0..steps {
            let change = changes.next(&graph, coins);
            graph.change(change)?;
            update += timed(|| copy.update(&change)).0 / f64::from(steps);
            query += timed(|| black_box(copy.query(&()))).0 / f64::from(steps);
        }
        let scratch = timed(|| min_cut(&graph)).0;
        let costs = Costs { init, update, query };
        let plan = costs.best_plan(&beta, grid, 0)?;
        let each = costs.per_answer(&plan);
        let theory = (graph.total_weight() as f64).sqrt() * f64::from(vertices).powf(0.25);
        println!(
            "{vertices:>8} {:>8} {:>8} {:>6} {:>7.2} ms {:>7.1} us {:>7.1} us {:>9.1} us {:>8} {:>7} {:>9.1} ms {:>19.2} us {:>8}",
            graph.edge_count(),
            graph.total_weight(),
            shape.keep(),
            init * 1e3,
            update * 1e6,
            query * 1e6,
            scratch * 1e6,
            plan.answers(),
            plan.copies(),
            each * 1e3,
            each * 1e6 / theory,
            if each < scratch { "copies" } else { "scratch" }
        );
        if vertices >= 100 || vertices == 16 {
            let at = graph.total_weight() as f64;
            for (line, value) in lines.iter_mut().zip([each * 1e6, scratch * 1e6, theory]) {
                line.points.push((at, value));
            }
        }
    }
    println!(
        "Where copies could win: an answer looks at keep·|V| edges in each of several copies, computing from scratch at |E|. With\n\
         ten copies and keep 3,500, a simple graph needs more than 70,000 vertices and 2·10^9 edges. The exact structure above\n\
         needs neither copies nor coins: use that one."
    );
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let path = plot_path("min-cut-copies.svg")?;
    let labels =
        Labels { title: "Copies of sampled cuts beside the exact cut", x: "edges", y: "microseconds" };
    plot::logarithmic(&path, &labels, &lines)?;
    println!("plot: {}", path.display());
    Ok(())
}

struct Plain(Sampled);

impl Target for Plain {
    fn change(&mut self, change: Change) {
        self.0.update(&change);
    }
    fn answer(&mut self) -> i128 {
        self.0.query(&())
    }
}

struct Wrapped<'a>(Copies<Sampled>, &'a mut OsCoins);

impl Target for Wrapped<'_> {
    fn change(&mut self, change: Change) {
        self.0.update(&change).expect("it fits");
    }
    fn answer(&mut self) -> i128 {
        self.0.query(&(), self.1).expect("phases begin anew")
    }
}

/// Answer over truth after each step.
fn attacked(target: &mut impl Target, mut graph: Graph) -> Vec<(f64, f64)> {
    let mut attack = DeleteSampled::new(&graph, 3);
    let mut points = Vec::new();
    while attack.step(target, &mut graph) {
        let truth = min_cut(&graph).value as f64;
        points.push((points.len() as f64 + 1.0, target.answer() as f64 / truth));
    }
    points
}

fn attack(coins: &mut OsCoins) -> Result<(), Failure> {
    let graph = planted(60);
    println!(
        "\nAttack that deletes sampled edges: 60 vertices, cut {}; answer / truth.",
        min_cut(&graph).value
    );
    let shape = Levels::new(60, &Ratio::one(), 24)?;
    let plain = attacked(&mut Plain(Sampled::init(&shape, &graph, coins)), graph.clone());
    let reach = |points: &[(f64, f64)]| {
        let low = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|p| p.1).fold(0.0, f64::max);
        format!("last {:.3}, lowest {low:.3}, highest {high:.3}", points.last().map_or(0.0, |p| p.1))
    };
    println!("one structure of 24 forests, no copies: {}", reach(&plain));
    let grid = Grid::growing(&"0.1".parse()?, 1 << 20)?;
    let wanted = Wanted { answers: 1_000, beta: "0.05".parse()?, grid: grid.len() };
    let plan = wanted.clone().heuristic(60, "1.5".parse()?)?;
    let mut lines = vec![Line { name: "one sampled structure".to_string(), points: plain }];
    // Of the proved size level zero keeps more than the whole cut, so that every copy is exact: nothing is there to attack. The
    // smaller size is the one that is attacked in earnest.
    let proved = wanted.plan()?;
    let proved_shape = Levels::proved(60, &"0.5".parse()?, proved.ln_inverse_failure())?;
    for (plan, shape) in [(plan, shape), (proved, proved_shape)] {
        let (count, guarantee, keep) = (plan.copies(), plan.guarantee(), shape.keep());
        let copies = Copies::new(plan, grid.clone(), shape, graph.clone(), true, coins)?;
        let wrapped = attacked(&mut Wrapped(copies, coins), graph.clone());
        println!("{count} copies of {keep} forests, guarantee: {guarantee}: {}", reach(&wrapped));
        lines.push(Line { name: format!("{count} copies, {guarantee}"), points: wrapped });
    }
    let path = plot_path("min-cut-attack.svg")?;
    let labels = Labels { title: "Deleting what was sampled", x: "steps of the attack", y: "answer / truth" };
    plot::linear(&path, &labels, &lines)?;
    println!("plot: {}", path.display());
    Ok(())
}

/// The exact structure against the fixed algorithm after every change.
fn check(coins: &mut OsCoins) -> Result<(), Failure> {
    for kind in ALL {
        for heaviest in [1, 10] {
            let mut cut = MinCut::new(kind.graph(60, 180, heaviest, coins));
            let mut changes = Mixed::new(cut.graph(), heaviest);
            for step in 0..100_000 {
                cut.change(changes.next(cut.graph(), coins))?;
                let expected = min_cut(cut.graph()).value;
                assert_eq!(cut.value(), expected, "{kind:?}, weights to {heaviest}, change {step}");
            }
            println!(
                "{kind:?}, weights to {heaviest}: equal after each of 100,000 changes; {:?}",
                cut.work()
            );
        }
    }
    Ok(())
}
