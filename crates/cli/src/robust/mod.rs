//! `equipoise robust`: a stream of updates and questions, one a line; answers stay right while users react to them.

mod choose;
mod follow;
mod settled;
mod state_file;

use crate::{Exit, fail};
use clap::{Args, Subcommand};
use equipoise_core::{ratio::Ratio, wording};
use equipoise_entropy::OsCoins;
use equipoise_robust::{
    choose::Method,
    min_cut::graph::{Change, EdgeWeight, Graph},
    ready::{Own, Promise, RobustDistinct, RobustF2, RobustMinCut, RobustPoint},
    sketch::Item,
    state::Damaged,
};
use follow::{Answer, Follower, Words, follow};
use serde_json::json;
use settled::Settled;
use std::{
    fmt::{Display, Write},
    path::{Path, PathBuf},
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
    F2(F2Options),
    /// The count of single items. Lines: `ITEM [COUNT]` comes, or goes with a negative count; `? ITEM` asks
    Point(SketchOptions),
    /// The exact minimum cut of a graph. Lines: `+ U V [WEIGHT]` comes; `- U V [WEIGHT]` goes; `?` asks
    #[command(
        after_help = "Example:\n  printf '+ 0 1\\n+ 1 2\\n+ 2 0\\n?\\n- 0 1\\n?\\n' | equipoise robust min-cut --vertices 3"
    )]
    MinCut(MinCutOptions),
    /// Which way suits a stream, what it costs and what it promises. Reads nothing
    #[command(after_help = "Example:\n  equipoise robust choose f2 --answers 1000000 --insertions-only")]
    Choose(choose::ChooseOptions),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct Stream {
    /// A file of lines; standard input without one
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Print one JSON document for each answer
    #[arg(long)]
    pub json: bool,
    /// Keep the structure in this file from run to run; it holds keys, so that only you may read it
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Go on from a state that was copied or brought back, without a guarantee
    #[arg(long, requires = "state")]
    pub copied: bool,
    /// Every question is one for the side of a cut too.
    #[arg(skip)]
    pub side: bool,
}

#[derive(Args, Debug)]
pub(crate) struct MinCutOptions {
    #[command(flatten)]
    pub stream: Stream,
    /// How many vertices the graph has; they are called 0, 1 and so on
    #[arg(long)]
    pub vertices: Option<u32>,
    /// Begin with the edges of this file: CSV, Parquet or Arrow, columns of two vertices and perhaps a weight
    #[arg(long, value_name = "EDGES")]
    pub graph: Option<PathBuf>,
    /// The file of edges has no header line
    #[arg(long, requires = "graph")]
    pub no_header: bool,
    /// The exact cut, or copies of sampled graphs behind a private median
    #[arg(long, value_parser = ["exact", "sampled"])]
    pub method: Option<String>,
    /// How far off a sampled answer may be, as a share: 0.5 unless given
    #[arg(long)]
    pub alpha: Option<String>,
    /// How likely some sampled answer may be farther off, all together: 0.01 unless given
    #[arg(long)]
    pub beta: Option<String>,
    /// How many sampled answers a phase gives; what is quickest on this machine unless given
    #[arg(long)]
    pub answers: Option<u64>,
    /// Also print the smaller side of the cut
    #[arg(long)]
    pub side: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Promised {
    #[command(flatten)]
    pub stream: Stream,
    /// How far off an answer may be, as a share: 0.2 for distinct, else 0.5, unless given
    #[arg(long)]
    pub alpha: Option<String>,
    /// How likely some answer may be farther off, all together: 0.01 unless given
    #[arg(long)]
    pub beta: Option<String>,
    /// How many answers there will be at most (copies): 1000 unless given; with --keep, how many a phase gives, and what is
    /// quickest on this machine unless given
    #[arg(long)]
    pub answers: Option<u64>,
    /// Keep all items in memory, so that new answers follow when these are given (copies)
    #[arg(long)]
    pub keep: bool,
    /// How many of the copies answer, others each time; more of them follow then. For slow questions
    #[arg(long, value_name = "COPIES")]
    pub asked: Option<usize>,
}

#[derive(Args, Debug)]
pub(crate) struct F2Options {
    #[command(flatten)]
    pub sketch: SketchOptions,
    /// Copies behind a private median, one sketch after another, or copies behind a monitor
    #[arg(long, value_parser = ["copies", "switching", "flips"])]
    pub method: Option<String>,
    /// How often the answer may change (switching, flips): 100 unless given
    #[arg(long)]
    pub changes: Option<u64>,
}

#[derive(Args, Debug)]
pub(crate) struct DistinctOptions {
    #[command(flatten)]
    pub promise: Promised,
    /// One sketch under a secret key, copies behind a private median, one sketch after another, or copies behind a monitor
    #[arg(long, value_parser = ["keyed", "copies", "switching", "flips"])]
    pub method: Option<String>,
    /// How often the answer may change (switching, flips): 100 unless given
    #[arg(long)]
    pub changes: Option<u64>,
}

#[derive(Args, Debug)]
pub(crate) struct SketchOptions {
    #[command(flatten)]
    pub promise: Promised,
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
        Structure::Choose(options) => choose::run(options),
    };
    result.unwrap_or_else(|error| fail(&error, 2))
}

fn text(error: impl Display) -> String {
    error.to_string()
}

fn ratio(given: Option<&str>, name: &str, otherwise: &str) -> Result<Ratio, String> {
    given.unwrap_or(otherwise).parse().map_err(|error| format!("{name}: {error}"))
}

/// How far off answers may be unless that is typed: of distinct items, and of everything else; and how likely one is farther.
const ALPHA_DISTINCT: &str = "0.2";
const ALPHA: &str = "0.5";
const BETA: &str = "0.01";

impl Promised {
    fn promise(&self, otherwise: &str) -> Result<Promise, String> {
        Ok(Promise {
            alpha: ratio(self.alpha.as_deref(), "alpha", otherwise)?,
            beta: ratio(self.beta.as_deref(), "beta", BETA)?,
            answers: declared(self.answers, if self.keep { 0 } else { 1000 })?,
            asked: self.asked.unwrap_or(0),
            keep: self.keep,
        })
    }

    /// For a method without phases: a line for what belongs to copies only.
    fn only_for_copies(&self, method: &str, answers: bool) -> Result<(), String> {
        let given = [("--keep", self.keep), ("--asked", self.asked.is_some()), ("--answers", answers)];
        match given.into_iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => Err(format!(
                "{flag} is for copies, not for the method {method}; add --method copies, or leave it out"
            )),
        }
    }

    /// What a state settles, and what of it was typed.
    fn settled<const N: usize>(&self, alpha: &'static str, more: [Settled; N]) -> Vec<Settled> {
        let mut settled = vec![
            Settled::new("--alpha", self.alpha.as_ref(), alpha),
            Settled::new("--beta", self.beta.as_ref(), BETA),
            Settled::new("--answers", self.answers, ""),
            Settled::given("--keep", self.keep),
            Settled::new("--asked", self.asked, ""),
        ];
        settled.extend(more);
        settled
    }
}

/// A method whose answer changes rarely, and how often.
fn rarely(method: Option<&str>, changes: Option<u64>) -> Result<Option<(Method, u64)>, String> {
    let method = match method {
        Some("switching") => Method::Switching,
        Some("flips") => Method::Flips,
        _ if changes.is_some() => {
            return Err(
                "--changes is for the methods switching and flips; add --method, or leave it out".to_string()
            );
        }
        _ => return Ok(None),
    };
    Ok(Some((method, changes.unwrap_or(100))))
}

/// Zero stands for a choice by measured times, which nobody types.
fn declared(given: Option<u64>, otherwise: u64) -> Result<u64, String> {
    match given {
        Some(0) => {
            Err("answers 0 is not accepted: give from 1 to 2^40 answers for each phase, such as 1000"
                .to_string())
        }
        given => Ok(given.unwrap_or(otherwise)),
    }
}

fn number<T: std::str::FromStr>(word: &[u8], what: &str, accepted: &str) -> Result<T, String> {
    let word = String::from_utf8_lossy(word);
    word.parse().map_err(|_| format!("{what} '{}' is not accepted; give {accepted}", wording::shown(&word)))
}

/// What a structure says when it begins.
struct Begins<'a> {
    copies: usize,
    answers: Option<u64>,
    changes: Option<u64>,
    bytes: usize,
    guarantee: &'a str,
}

impl Begins<'_> {
    fn announce(&self) {
        let mut text = format!("copies {}, answers ", self.copies);
        match self.answers {
            None => text.push_str("without limit"),
            Some(answers) => write!(text, "{answers}").expect("memory"),
        }
        if let Some(changes) = self.changes {
            write!(text, ", changes of the answer {changes}").expect("memory");
        }
        let megabytes = self.bytes as f64 / 1e6;
        eprintln!("equipoise: {text}, memory {megabytes:.1} MB, guarantee: {}", self.guarantee);
    }
}

/// An answer, what is left, and what stands behind it.
fn answer(value: i128, left: Option<u64>, changes: Option<u64>, guarantee: &impl Display) -> Answer {
    let text = value.to_string();
    let mut json = json!({ "answer": text, "queries_left": left, "guarantee": guarantee.to_string() });
    if let Some(changes) = changes {
        json["changes_left"] = changes.into();
    }
    Answer { text, json }
}

fn distinct(options: &DistinctOptions) -> Result<Exit, String> {
    let promised = &options.promise;
    let method = Settled::new("--method", options.method.as_ref(), "keyed");
    let typed = promised.settled(ALPHA_DISTINCT, [method, Settled::new("--changes", options.changes, "")]);
    let rarely = rarely(options.method.as_deref(), options.changes)?;
    follow(&promised.stream, &typed, |coins| {
        let promise = promised.promise(ALPHA_DISTINCT)?;
        let distinct = match (options.method.as_deref(), rarely) {
            (Some("copies"), _) => RobustDistinct::copies(&promise, coins),
            (Some(name), Some((method, changes))) => {
                promised.only_for_copies(name, false)?;
                RobustDistinct::of_changes(method, &promise, changes, coins)
            }
            _ => {
                promised.only_for_copies("keyed", promised.answers.is_some())?;
                RobustDistinct::keyed(&promise, coins)
            }
        };
        distinct.map_err(text)
    })
}

impl Follower for RobustDistinct {
    fn from_bytes(bytes: &[u8], coins: &mut OsCoins) -> Result<Self, Damaged> {
        Self::from_bytes(bytes, coins)
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes()
    }

    fn goes_on_often(&self) -> bool {
        self.keeps_input()
    }

    type Update = u64;

    fn read(&self, words: &Words<'_>) -> Result<u64, String> {
        let [item] = words else { return Err("write one item, or `?`".to_string()) };
        Ok(self.number(item))
    }

    fn update_all(&mut self, numbers: &[u64]) -> Result<(), (usize, String)> {
        self.update(numbers).map_err(|(followed, error)| (followed, text(error)))
    }

    fn ask(&mut self, words: &Words<'_>, coins: &mut OsCoins) -> Result<Answer, String> {
        if !words.is_empty() {
            return Err("write one item, or `?`".to_string());
        }
        let value = self.query(coins).map_err(text)?;
        Ok(answer(value, self.queries_left(), self.changes_left(), &self.guarantee()))
    }

    fn count_answer(&mut self) {
        self.count_answer();
    }

    fn announce(&self, guarantee: Option<&str>) {
        let own = self.guarantee().to_string();
        Begins {
            copies: self.copy_count(),
            answers: self.queries_left(),
            changes: self.changes_left(),
            bytes: self.space(),
            guarantee: guarantee.unwrap_or(&own),
        }
        .announce();
    }
}

/// Sizes as typed: copies, rows, buckets in a row, loss.
fn own(options: &SketchOptions) -> Result<Option<Own>, String> {
    let Some(own) = &options.heuristic else { return Ok(None) };
    let words: Vec<&str> = own.split(',').collect();
    let [copies, rows, width, loss] = words[..] else {
        return Err("--heuristic takes COPIES,ROWS,WIDTH,LOSS, such as 64,5,400,1".to_string());
    };
    let whole = |word: &str| number::<usize>(word.as_bytes(), "size", "a whole number");
    let loss = loss.parse().map_err(|error: equipoise_core::loss::ParameterError| text(error))?;
    Ok(Some(Own { copies: whole(copies)?, rows: whole(rows)?, width: whole(width)?, loss }))
}

/// The promise and the sizes; with sizes of one's own nothing is measured.
fn sketch_sizes(options: &SketchOptions) -> Result<(Promise, Option<Own>), String> {
    let (mut promise, own) = (options.promise.promise(ALPHA)?, own(options)?);
    if own.is_some() && promise.answers == 0 {
        promise.answers = 1000;
    }
    Ok((promise, own))
}

fn f2(options: &F2Options) -> Result<Exit, String> {
    let sketch = &options.sketch;
    let method = Settled::new("--method", options.method.as_ref(), "copies");
    let heuristic = Settled::new("--heuristic", sketch.heuristic.as_ref(), "");
    let changes = Settled::new("--changes", options.changes, "");
    let typed = sketch.promise.settled(ALPHA, [heuristic, method, changes]);
    let rarely = rarely(options.method.as_deref(), options.changes)?;
    follow(&sketch.promise.stream, &typed, |coins| {
        let (promise, own) = sketch_sizes(sketch)?;
        let Some((method, changes)) = rarely else {
            return RobustF2::new(&promise, own.as_ref(), coins).map_err(text);
        };
        sketch.promise.only_for_copies(options.method.as_deref().unwrap_or_default(), false)?;
        if own.is_some() {
            return Err("--heuristic is for copies; leave it out, or add --method copies".to_string());
        }
        RobustF2::of_changes(method, &promise, changes, coins).map_err(text)
    })
}

fn point(options: &SketchOptions) -> Result<Exit, String> {
    let heuristic = Settled::new("--heuristic", options.heuristic.as_ref(), "");
    let typed = options.promise.settled(ALPHA, [heuristic]);
    follow(&options.promise.stream, &typed, |coins| {
        let (promise, own) = sketch_sizes(options)?;
        RobustPoint::new(&promise, own.as_ref(), coins).map_err(text)
    })
}

/// `ITEM` or `ITEM COUNT`.
fn item(words: &Words<'_>, number_of: impl Fn(&[u8]) -> u64) -> Result<Item, String> {
    let (word, count) = match words {
        [word] => (word, 1),
        [word, count] => (word, number(count, "count", "a whole number, below zero for items that go")?),
        _ => return Err("write an item and perhaps a count, or `?`".to_string()),
    };
    Ok(Item { key: number_of(word), count })
}

macro_rules! follow_items {
    ($name:ty, |$structure:ident, $words:ident, $coins:ident| $ask:expr) => {
        impl Follower for $name {
            fn from_bytes(bytes: &[u8], coins: &mut OsCoins) -> Result<Self, Damaged> {
                Self::from_bytes(bytes, coins)
            }

            fn to_bytes(&self) -> Vec<u8> {
                self.to_bytes()
            }

            fn goes_on_often(&self) -> bool {
                self.keeps_input()
            }

            type Update = Item;

            fn read(&self, words: &Words<'_>) -> Result<Item, String> {
                item(words, |item| self.number(item))
            }

            fn update_all(&mut self, items: &[Item]) -> Result<(), (usize, String)> {
                self.update(items).map_err(|(followed, error)| (followed, text(error)))
            }

            fn ask(&mut self, $words: &Words<'_>, $coins: &mut OsCoins) -> Result<Answer, String> {
                let $structure = &mut *self;
                let value = $ask?;
                Ok(answer(value, Some(self.queries_left()), self.changes_left(), &self.guarantee()))
            }

            fn count_answer(&mut self) {
                self.count_answer();
            }

            fn announce(&self, guarantee: Option<&str>) {
                let own = self.guarantee().to_string();
                Begins {
                    copies: self.copy_count(),
                    answers: Some(self.queries_left()),
                    changes: self.changes_left(),
                    bytes: self.space(),
                    guarantee: guarantee.unwrap_or(&own),
                }
                .announce();
            }
        }
    };
}

follow_items!(RobustF2, |structure, words, coins| match words {
    [] => structure.query(&(), coins).map_err(text),
    _ => Err("write an item and perhaps a count, or `?`".to_string()),
});

follow_items!(RobustPoint, |structure, words, coins| match words {
    [word] => {
        let number = structure.number(word);
        structure.query(&number, coins).map_err(text)
    }
    _ => Err("name the item: `? ITEM`".to_string()),
});

fn min_cut(options: &MinCutOptions) -> Result<Exit, String> {
    let graph = options.graph.as_ref().map(|path| path.to_string_lossy());
    let typed = [
        Settled::new("--vertices", options.vertices, ""),
        Settled::new("--graph", graph, ""),
        Settled::new("--method", options.method.as_ref(), "exact"),
        Settled::new("--alpha", options.alpha.as_ref(), ALPHA),
        Settled::new("--beta", options.beta.as_ref(), BETA),
        Settled::new("--answers", options.answers, ""),
    ];
    let sampled = options.method.as_deref() == Some("sampled");
    if let Some(Settled { flag, .. }) = typed[3..]
        .iter()
        .find(|settled| settled.typed.is_some() && !sampled && options.stream.state.is_none())
    {
        return Err(format!(
            "{flag} is for samples; the exact cut needs none. Add --method sampled, or leave it out"
        ));
    }
    if options.side && sampled {
        return Err("--side needs the exact cut: samples know the weight only".to_string());
    }
    let stream = Stream { side: options.side, ..options.stream.clone() };
    follow(&stream, &typed, |coins| {
        let graph = match (&options.graph, options.vertices) {
            (Some(path), vertices) => read_graph(path, options.no_header, vertices)?,
            (None, Some(vertices)) => Graph::new(vertices).map_err(text)?,
            (None, None) => {
                return Err("give the number of vertices, or a file of edges with --graph".to_string());
            }
        };
        let cut = if sampled {
            let promise = Promise {
                alpha: ratio(options.alpha.as_deref(), "alpha", ALPHA)?,
                beta: ratio(options.beta.as_deref(), "beta", BETA)?,
                answers: declared(options.answers, 0)?,
                asked: 0,
                keep: true,
            };
            RobustMinCut::sampled(&promise, graph, coins).map_err(text)?
        } else {
            RobustMinCut::exact(graph)
        };
        Ok(cut)
    })
}

/// The graph of a file of edges.
fn read_graph(path: &Path, no_header: bool, vertices: Option<u32>) -> Result<Graph, String> {
    let rows = equipoise_engine::read_edges(path, no_header)?;
    let edges: Vec<EdgeWeight> =
        rows.iter().map(|row| EdgeWeight { ends: row.ends, weight: row.weight }).collect();
    Graph::from_list(vertices, &edges)
        .map_err(|(place, error)| format!("'{}', record {}: {error}", path.display(), place + 1))
}

/// Two vertices and perhaps a weight.
fn edge(words: &Words<'_>) -> Result<EdgeWeight, String> {
    let (ends, weight) = match words {
        [u, v] => ([u, v], None),
        [u, v, weight] => ([u, v], Some(weight)),
        _ => return Err("an edge has two vertices and perhaps a weight".to_string()),
    };
    let vertex = |word: &[u8]| number(word, "vertex", "a whole number");
    let weight = weight.map_or(Ok(1), |word| number(word, "weight", "a whole number from 1 to 2^60"))?;
    Ok(EdgeWeight { ends: [vertex(ends[0])?, vertex(ends[1])?], weight })
}

impl Follower for RobustMinCut {
    fn from_bytes(bytes: &[u8], coins: &mut OsCoins) -> Result<Self, Damaged> {
        Self::from_bytes(bytes, coins)
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes()
    }

    /// There are no coins, or fresh ones each time.
    fn goes_on_often(&self) -> bool {
        true
    }

    type Update = Change;

    fn read(&self, words: &Words<'_>) -> Result<Change, String> {
        match words {
            [b"+", rest @ ..] => Ok(Change::Insert(edge(rest)?)),
            [b"-", rest @ ..] => Ok(Change::Delete(edge(rest)?)),
            _ => Err("write `+ U V [WEIGHT]`, `- U V [WEIGHT]` or `?`".to_string()),
        }
    }

    fn update_all(&mut self, changes: &[Change]) -> Result<(), (usize, String)> {
        self.update(changes).map_err(|(followed, error)| (followed, text(error)))
    }

    fn ask(&mut self, words: &Words<'_>, coins: &mut OsCoins) -> Result<Answer, String> {
        let side = match words {
            [] => None,
            [b"side"] => Some(self.smaller_side().ok_or("samples know the weight only; ask `?`")?),
            _ => return Err("write `+ U V [WEIGHT]`, `- U V [WEIGHT]` or `?`".to_string()),
        };
        let value = self.query(coins).map_err(text)?;
        let mut answer = answer(value, self.queries_left(), None, &self.guarantee());
        if let Some(side) = side {
            answer.text = side.iter().fold(format!("{value}:"), |text, vertex| format!("{text} {vertex}"));
            answer.json["side"] = json!(side);
        }
        Ok(answer)
    }

    fn count_answer(&mut self) {}

    /// What is exact needs no words; samples say whether they are worth it.
    fn announce(&self, _: Option<&str>) {
        if self.queries_left().is_none() {
            return;
        }
        let (answers, changes) = (self.queries_left(), None);
        let (copies, bytes, guarantee) = (self.copy_count(), self.space(), &self.guarantee());
        Begins { copies, answers, changes, bytes, guarantee }.announce();
        if let Some(beside) = self.beside() {
            eprintln!("equipoise: {beside}");
        }
    }
}
