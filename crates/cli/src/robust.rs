//! `equipoise robust`: a stream of updates and questions, one a line; answers stay right while users react to them.

use crate::{Exit, fail};
use clap::{Args, Subcommand};
use equipoise_core::{
    coins::Coins,
    loss::{Eps, ParameterError},
    ratio::Ratio,
    wording,
};
use equipoise_entropy::OsCoins;
use equipoise_robust::{
    Guarantee, Oblivious, Shape,
    copies::Copies,
    grid::Grid,
    hash::Key,
    min_cut::{
        exact::MinCut,
        graph::{Change, EdgeWeight, Graph},
    },
    parameters::{Plan, Wanted},
    sketch::{
        Counts, Item,
        kmv::{Kmv, Size},
        table::{Buckets, F2, Point},
    },
};
use serde_json::json;
use std::{
    fmt::Display,
    fs::File,
    io::{self, BufRead, BufReader, Write},
    path::PathBuf,
};

#[derive(Args, Debug)]
pub(crate) struct RobustOptions {
    #[command(subcommand)]
    pub structure: Structure,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Structure {
    /// How many distinct items came. Lines: `ITEM` comes; `?` asks
    #[command(after_help = "Example:\n  printf 'ann\\nbob\\nann\\n?\\n' | equipoise robust distinct")]
    Distinct(DistinctOptions),
    /// The sum of squared counts. Lines: `ITEM [COUNT]` comes, or goes with a negative count; `?` asks
    F2(SketchOptions),
    /// The count of single items. Lines: `ITEM [COUNT]` comes, or goes with a negative count; `? ITEM` asks
    Point(SketchOptions),
    /// The exact minimum cut of a graph. Lines: `+ U V [WEIGHT]` comes; `- U V [WEIGHT]` goes; `?` asks
    #[command(
        after_help = "Example:\n  printf '+ 0 1\\n+ 1 2\\n+ 2 0\\n?\\n- 0 1\\n?\\n' | equipoise robust min-cut --vertices 3"
    )]
    MinCut(MinCutOptions),
}

#[derive(Args, Debug)]
pub(crate) struct Stream {
    /// A file of lines; standard input without one
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Print one JSON document for each answer
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct MinCutOptions {
    #[command(flatten)]
    pub stream: Stream,
    /// How many vertices the graph has; they are called 0, 1 and so on
    #[arg(long)]
    pub vertices: u32,
    /// Also print the smaller side of the cut
    #[arg(long)]
    pub side: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Promise {
    #[command(flatten)]
    pub stream: Stream,
    /// How far off an answer may be, as a share: 0.2 for distinct, else 0.5, unless given
    #[arg(long)]
    pub alpha: Option<String>,
    /// How likely some answer may be farther off
    #[arg(long, default_value = "0.01")]
    pub beta: String,
    /// How many answers there will be at most (copies)
    #[arg(long, default_value_t = 1000)]
    pub answers: u64,
    /// Keep all items in memory, so that new answers follow when these are given
    #[arg(long)]
    pub keep: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DistinctOptions {
    #[command(flatten)]
    pub promise: Promise,
    /// One sketch under a secret key, or copies behind a private median
    #[arg(long, value_parser = ["keyed", "copies"], default_value = "keyed")]
    pub method: String,
}

#[derive(Args, Debug)]
pub(crate) struct SketchOptions {
    #[command(flatten)]
    pub promise: Promise,
    /// Sizes of your own instead of the proved ones: copies, rows, buckets in a row, loss of an answer
    #[arg(long, value_name = "COPIES,ROWS,WIDTH,LOSS")]
    pub heuristic: Option<String>,
}

pub(crate) fn run(options: &RobustOptions) -> Exit {
    let result = match &options.structure {
        Structure::Distinct(options) => distinct(options),
        Structure::F2(options) => f2(options),
        Structure::Point(options) => point(options),
        Structure::MinCut(options) => min_cut(options),
    };
    result.unwrap_or_else(|error| fail(&error, 2))
}

/// What a line asks for, once it is understood.
enum Said {
    /// Nothing to print.
    Followed,
    Answer(Answer),
}

struct Answer {
    text: String,
    json: serde_json::Value,
}

impl Said {
    fn answer(value: &impl Display, left: Option<u64>, guarantee: Guarantee) -> Self {
        let text = value.to_string();
        let json = json!({ "answer": text, "queries_left": left, "guarantee": guarantee.to_string() });
        Self::Answer(Answer { text, json })
    }
}

/// Every line in turn. A bad one is named and left out, and the rest goes on; the exit code tells.
fn follow(stream: &Stream, mut said: impl FnMut(&[&str]) -> Result<Said, String>) -> Result<Exit, String> {
    let input: Box<dyn BufRead> = match &stream.file {
        None => Box::new(io::stdin().lock()),
        Some(path) => {
            let file =
                File::open(path).map_err(|error| format!("cannot open '{}': {error}", path.display()))?;
            Box::new(BufReader::new(file))
        }
    };
    let mut out = io::stdout().lock();
    let mut exit = Exit::Done;
    for (index, line) in input.split(b'\n').enumerate() {
        let line = line.map_err(|error| format!("cannot read on after line {index}: {error}"))?;
        let text = String::from_utf8_lossy(&line);
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() || words[0].starts_with('#') {
            continue;
        }
        match said(&words) {
            Ok(Said::Followed) => {}
            Ok(Said::Answer(answer)) => {
                let line = if stream.json { answer.json.to_string() } else { answer.text };
                // Whoever reads may react to each answer: it goes out at once.
                if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
                    return Ok(exit);
                }
            }
            Err(error) => {
                eprintln!("equipoise: line {}: {error}", index + 1);
                exit = Exit::Usage;
            }
        }
    }
    Ok(exit)
}

fn number<T: std::str::FromStr>(word: &str, what: &str, accepted: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("{what} '{}' is not accepted; give {accepted}", wording::shown(word)))
}

fn min_cut(options: &MinCutOptions) -> Result<Exit, String> {
    let graph = Graph::new(options.vertices).map_err(|error| error.to_string())?;
    let mut cut = MinCut::new(graph);
    follow(&options.stream, |words| {
        let change = match words {
            ["?"] => return Ok(cut_answer(&mut cut, options.side)),
            ["+", rest @ ..] => Change::Insert(edge(rest)?),
            ["-", rest @ ..] => Change::Delete(edge(rest)?),
            _ => return Err("write `+ U V [WEIGHT]`, `- U V [WEIGHT]` or `?`".to_string()),
        };
        cut.change(change).map_err(|error| error.to_string())?;
        Ok(Said::Followed)
    })
}

fn edge(words: &[&str]) -> Result<EdgeWeight, String> {
    let (ends, weight) = match words {
        [u, v] => ([u, v], None),
        [u, v, weight] => ([u, v], Some(weight)),
        _ => return Err("an edge has two vertices and perhaps a weight".to_string()),
    };
    let vertex = |word: &str| number(word, "vertex", "a whole number");
    let weight = weight.map_or(Ok(1), |word| number(word, "weight", "a whole number from 1 to 2^60"))?;
    Ok(EdgeWeight { ends: [vertex(ends[0])?, vertex(ends[1])?], weight })
}

fn cut_answer(cut: &mut MinCut, with_side: bool) -> Said {
    let value = cut.value();
    let mut answer = Answer {
        text: value.to_string(),
        json: json!({ "answer": value.to_string(), "queries_left": null, "guarantee": "exact" }),
    };
    if with_side {
        let side = cut.side();
        let inside = side.iter().filter(|&&inside| inside).count();
        let smaller = 2 * inside <= side.len();
        let vertices = (0..side.len()).filter(|&vertex| side[vertex] == smaller);
        let vertices: Vec<usize> = vertices.collect();
        answer.text = vertices.iter().fold(format!("{value}:"), |text, vertex| format!("{text} {vertex}"));
        answer.json["side"] = json!(vertices);
    }
    Said::Answer(answer)
}

/// The parameters that were typed, checked.
struct Checked {
    alpha: Ratio,
    wanted: Wanted,
    grid: Grid,
}

impl Promise {
    fn alpha(&self, otherwise: &str) -> Result<Ratio, String> {
        let text = self.alpha.as_deref().unwrap_or(otherwise);
        let alpha: Ratio = text.parse().map_err(|error| format!("alpha: {error}"))?;
        if alpha.is_zero() || alpha.is_negative() || alpha > Ratio::one() {
            let accepted = "give a number above 0 and at most 1, such as 0.1";
            return Err(ParameterError::out_of_range("alpha", alpha, accepted).to_string());
        }
        Ok(alpha)
    }

    fn beta(&self) -> Result<Ratio, String> {
        self.beta.parse().map_err(|error| format!("beta: {error}"))
    }

    /// Where answers lie on a growing grid, it gets half of the error and the sketches the other half.
    fn check(&self, otherwise: &str, highest: i128) -> Result<Checked, String> {
        let half = self.alpha(otherwise)? / Ratio::from(2u64);
        let grid = Grid::growing(&half, highest).map_err(|error| error.to_string())?;
        let wanted = Wanted { answers: self.answers, beta: self.beta()?, grid: grid.len() };
        Ok(Checked { alpha: half, wanted, grid })
    }
}

/// Items are words; a number of 64 bits stands for each.
struct Items {
    key: Key,
}

impl Items {
    fn new(coins: &mut impl Coins) -> Self {
        Self { key: Key::draw(coins) }
    }

    fn number(&self, word: &str) -> u64 {
        self.key.hash_bytes(word.as_bytes())
    }
}

fn coins() -> Result<OsCoins, String> {
    OsCoins::new().map_err(|error| error.to_string())
}

fn announce(copies: usize, answers: &str, bytes: usize, guarantee: Guarantee) {
    let megabytes = bytes as f64 / 1e6;
    eprintln!(
        "equipoise: copies {copies}, answers {answers}, memory {megabytes:.1} MB, guarantee: {guarantee}"
    );
}

fn distinct(options: &DistinctOptions) -> Result<Exit, String> {
    if options.method == "keyed" {
        return keyed_distinct(&options.promise);
    }
    let mut coins = coins()?;
    let checked = options.promise.check("0.2", 1 << 50)?;
    let items = Items::new(&mut coins);
    let plan = checked.wanted.clone().plan().map_err(|error| error.to_string())?;
    let size = Size::proved(&checked.alpha, plan.ln_inverse_failure()).map_err(|error| error.to_string())?;
    let mut copies = begin::<Kmv>(plan, checked.grid, size, options.promise.keep, &mut coins)?;
    follow(&options.promise.stream, |words| match words {
        ["?"] => ask(&mut copies, &(), &mut coins),
        [item] => {
            copies.update(&items.number(item)).map_err(|error| error.to_string())?;
            Ok(Said::Followed)
        }
        _ => Err("write one item, or `?`".to_string()),
    })
}

/// One sketch under a secret key: enough for one stream of items that come.
fn keyed_distinct(promise: &Promise) -> Result<Exit, String> {
    let mut coins = coins()?;
    let (alpha, beta) = (promise.alpha("0.2")?, promise.beta()?);
    let mut sketch = Kmv::new(&Size::keyed(&alpha, &beta).map_err(|error| error.to_string())?, &mut coins);
    let items = Items::new(&mut coins);
    announce(1, "without limit", sketch.space(), Guarantee::Proved);
    follow(&promise.stream, |words| match words {
        ["?"] => Ok(Said::answer(&sketch.distinct(), None, Guarantee::Proved)),
        [item] => {
            sketch.insert_all(&[items.number(item)]);
            Ok(Said::Followed)
        }
        _ => Err("write one item, or `?`".to_string()),
    })
}

fn begin<A: Oblivious<Input = Counts>>(
    plan: Plan,
    grid: Grid,
    shape: A::Shape,
    keep: bool,
    coins: &mut OsCoins,
) -> Result<Copies<A>, String> {
    let copies =
        Copies::<A>::new(plan, grid, shape, Counts::new(), keep, coins).map_err(|error| error.to_string())?;
    let answers = copies.plan().answers();
    let answers = if keep { format!("{answers} a phase") } else { answers.to_string() };
    announce(copies.plan().copies(), &answers, copies.space(), copies.guarantee());
    Ok(copies)
}

fn ask<A: Oblivious>(
    copies: &mut Copies<A>,
    question: &A::Question,
    coins: &mut OsCoins,
) -> Result<Said, String> {
    let answer = copies.query(question, coins).map_err(|error| error.to_string())?;
    Ok(Said::answer(&answer, Some(copies.queries_left()), copies.guarantee()))
}

/// `ITEM` or `ITEM COUNT`.
fn item(items: &Items, words: &[&str]) -> Result<Item, String> {
    let (word, count) = match words {
        [word] => (word, 1),
        [word, count] => (word, number(count, "count", "a whole number, below zero for items that go")?),
        _ => return Err("write an item and perhaps a count, or `?`".to_string()),
    };
    if !(-(1 << 40)..=1 << 40).contains(&count) {
        return Err(format!("count {count} is not accepted; give a whole number from -2^40 to 2^40"));
    }
    Ok(Item { key: items.number(word), count })
}

/// The plan and the rows, proved or as typed.
fn sizes(options: &SketchOptions, checked: &Checked) -> Result<(Plan, Buckets), String> {
    let text = |error: ParameterError| error.to_string();
    let Some(own) = &options.heuristic else {
        let plan = checked.wanted.clone().plan().map_err(text)?;
        let shape = Buckets::proved(&checked.alpha, plan.ln_inverse_failure()).map_err(text)?;
        debug_assert!(shape.ln_inverse_failure() >= *plan.ln_inverse_failure());
        return Ok((plan, shape));
    };
    let words: Vec<&str> = own.split(',').collect();
    let [copies, rows, width, loss] = words[..] else {
        return Err("--heuristic takes COPIES,ROWS,WIDTH,LOSS, such as 64,5,400,1".to_string());
    };
    let whole = |word: &str| number::<usize>(word, "size", "a whole number");
    let loss: Eps = loss.parse().map_err(text)?;
    let plan = checked.wanted.clone().heuristic(whole(copies)?, loss).map_err(text)?;
    Ok((plan, Buckets::new(&checked.alpha, whole(rows)?, whole(width)?).map_err(text)?))
}

fn f2(options: &SketchOptions) -> Result<Exit, String> {
    let mut coins = coins()?;
    let checked = options.promise.check("0.5", 1 << 100)?;
    let (plan, shape) = sizes(options, &checked)?;
    let items = Items::new(&mut coins);
    let mut copies = begin::<F2>(plan, checked.grid, shape, options.promise.keep, &mut coins)?;
    follow(&options.promise.stream, |words| match words {
        ["?"] => ask(&mut copies, &(), &mut coins),
        words => {
            copies.update(&item(&items, words)?).map_err(|error| error.to_string())?;
            Ok(Said::Followed)
        }
    })
}

fn point(options: &SketchOptions) -> Result<Exit, String> {
    let mut coins = coins()?;
    // Counts are whole numbers up to about a million, so the grid rounds nothing.
    let grid = Grid::even(1, 1 << 20).map_err(|error| error.to_string())?;
    let promise = &options.promise;
    let wanted = Wanted { answers: promise.answers, beta: promise.beta()?, grid: grid.len() };
    let checked = Checked { alpha: promise.alpha("0.5")?, wanted, grid };
    let (plan, shape) = sizes(options, &checked)?;
    let items = Items::new(&mut coins);
    let mut copies = begin::<Point>(plan, checked.grid, shape, options.promise.keep, &mut coins)?;
    follow(&options.promise.stream, |words| match words {
        ["?", word] => ask(&mut copies, &items.number(word), &mut coins),
        ["?"] => Err("name the item: `? ITEM`".to_string()),
        words => {
            copies.update(&item(&items, words)?).map_err(|error| error.to_string())?;
            Ok(Said::Followed)
        }
    })
}
