//! A function or program on blocks of public or made-up rows, many times: what to expect, before anything is paid for.
//!
//! Source: 000_4d769f04a6a550e8.txt, section 7.3.1 (q-subsampling stability); 001_3b43439ac39fb76e.txt, Definition 2 (m-stability). Both ask
//! how often a sample has the value of all rows, and want three of four.
//!
//! Nothing here is private: it looks at rows and says what it sees. Nothing is charged or recorded, and what comes out is no
//! [`Release`](crate::release::Release).

use super::{
    VotePlan,
    output::{Output, Vote},
};
use crate::unanswered::Unanswered;
use equipoise_core::{
    adjacency::Adjacency,
    coins::Coins,
    loss::Rate,
    ratio::Ratio,
    stop,
    subsample::partition::{Blocks, Design, Partition},
};
use equipoise_entropy::OsCoins;
use serde_json::{Value, json};

/// Samples whose answers are compared with that of all rows.
const SAMPLES: u32 = 100;
/// What both texts ask for.
const STABLE: f64 = 0.75;

/// Rows on which the function is to be run once each, and what for.
#[derive(Clone, Debug)]
pub struct Look {
    purpose: Purpose,
    /// The places of each block's rows.
    pub blocks: Vec<Vec<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Purpose {
    /// All rows.
    Whole,
    /// Blocks as they will be dealt.
    Round,
    /// Samples with each row, or person, at this rate.
    Rate(f64),
    /// Samples of so many rows with repetition.
    Size(u64),
    /// So many blocks in place of those that were said.
    Blocks(u64),
}

/// Who the rows belong to.
#[derive(Clone, Copy, Debug)]
pub enum Dealt<'a> {
    /// So many rows, each on its own.
    Rows(usize),
    /// Rows of people; those of nobody are left out.
    People(&'a [Option<String>]),
}

impl Dealt<'_> {
    fn count(&self) -> usize {
        match self {
            Self::Rows(rows) => *rows,
            Self::People(people) => people.len(),
        }
    }
}

impl VotePlan {
    /// What to run the function on: all rows, as many rounds of blocks as was said, samples for stability, and other numbers of blocks.
    pub fn looks<C: Coins>(&self, dealt: Dealt<'_>, rounds: usize, coins: &mut C) -> Vec<Look> {
        let look = |purpose, blocks| Look { purpose, blocks };
        let mut looks = vec![look(Purpose::Whole, vec![(0..dealt.count()).collect()])];
        for _ in 0..rounds.max(1) {
            let blocks = match dealt {
                Dealt::Rows(rows) => self.deal_rows(rows, coins),
                Dealt::People(people) => self.deal_people(people.iter().map(Option::as_deref), coins),
            };
            looks.push(look(Purpose::Round, blocks));
        }
        let share = self.aggregate.share().clamp(0.0, 1.0);
        if let Some(rate) = Ratio::from_f64_exact(share).and_then(|share| Rate::new(share).ok()) {
            let blocks = Self::sampled(dealt, &rate, coins);
            looks.push(look(Purpose::Rate(share), blocks));
        }
        if let Dealt::Rows(rows) = dealt {
            let size = (rows as f64 * share).round().max(1.0);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most the rows")]
            let size = size as u32;
            let design = Design::Repeated { samples: SAMPLES, size, cap: SAMPLES };
            let dealt = Partition { design, adjacency: Adjacency::Replace }.calibrate();
            let blocks = dealt.map(|partition| places(&partition.deal_rows(rows, coins)));
            looks.push(look(Purpose::Size(size.into()), blocks.unwrap_or_default()));
        }
        let votes = self.touch.votes();
        for other in [votes / 2, votes * 2] {
            let Some(blocks) = u32::try_from(other).ok().filter(|&blocks| blocks > 0 && !self.is_sampled())
            else {
                continue;
            };
            looks.push(look(Purpose::Blocks(other), Self::others(dealt, blocks, coins)));
        }
        looks
    }

    fn is_sampled(&self) -> bool {
        self.aggregate.kind.is_sampled()
    }

    fn sampled<C: Coins>(dealt: Dealt<'_>, rate: &Rate, coins: &mut C) -> Vec<Vec<usize>> {
        let (samples, rate, cap) = (SAMPLES, rate.clone(), SAMPLES);
        match dealt {
            Dealt::Rows(rows) => {
                let design = Design::SampledRows { samples, rate, cap };
                let partition = Partition { design, adjacency: Adjacency::AddRemove }.calibrate();
                partition.map(|partition| places(&partition.deal_rows(rows, coins))).unwrap_or_default()
            }
            Dealt::People(people) => {
                let design = Design::SampledPeople { samples, rate, cap };
                of_people(design, people, coins)
            }
        }
    }

    fn others<C: Coins>(dealt: Dealt<'_>, blocks: u32, coins: &mut C) -> Vec<Vec<usize>> {
        match dealt {
            Dealt::Rows(rows) => {
                let design = Design::Rows { blocks, rounds: 1 };
                let partition = Partition { design, adjacency: Adjacency::AddRemove }.calibrate();
                partition.map(|partition| places(&partition.deal_rows(rows, coins))).unwrap_or_default()
            }
            Dealt::People(people) => of_people(Design::People { blocks, rounds: 1 }, people, coins),
        }
    }

    /// What was seen, as one JSON object: the votes are those of each look's blocks, in their order.
    pub fn rehearsed(
        &self,
        looks: &[Look],
        votes: &[Vec<Option<Vote>>],
        trials: usize,
    ) -> Result<Value, Unanswered> {
        let of = |wanted: fn(&Purpose) -> bool| {
            looks.iter().zip(votes).filter(move |(look, _)| wanted(&look.purpose)).map(|(_, votes)| votes)
        };
        let whole = of(|purpose| *purpose == Purpose::Whole).next().and_then(|votes| votes.first()?.as_ref());
        let rows = looks.first().map_or(0, |look| look.blocks.first().map_or(0, Vec::len));
        let rounds: Vec<&Vec<Option<Vote>>> = of(|purpose| *purpose == Purpose::Round).collect();
        let mut coins = OsCoins::new().map_err(|_| Unanswered::Coins)?;
        let mut answers = Vec::with_capacity(trials);
        for trial in 0..trials {
            stop::look();
            let ballot =
                super::Ballot { votes: rounds[trial % rounds.len()].clone(), rows: None, chosen: None };
            answers.push(self.tally(ballot, &mut coins).answer.value.unwrap_or_default());
        }
        let all: Vec<Option<Vote>> = rounds.iter().copied().flatten().cloned().collect();
        let shown = whole.map_or(Value::Null, |vote| self.aggregate.shown(vote));
        let mut document = json!({
            "outcome": "simulated",
            "statistic": self.request.statistic,
            "mechanism": self.aggregate.kind.mechanism(),
            "epsilon": self.cost().eps.to_exact(),
            "delta": self.cost().delta.to_exact(),
            "blocks": self.touch.votes(),
            "trials": trials,
            "rounds": rounds.len(),
            "rows": rows,
            "refused": answers.iter().filter(|answer| answer.is_null()).count(),
            "all_rows": shown,
            "block_answers": self.seen(&all, whole),
            "stability": stability(looks, votes, whole),
            "asked": STABLE,
            "by_blocks": self.by_blocks(looks, votes, whole, rows),
        });
        let released: Vec<&Value> = answers.iter().filter(|answer| !answer.is_null()).collect();
        match self.ballots.output() {
            Output::Label | Output::Labels => {
                document["equal"] = json!(released.iter().filter(|answer| ***answer == shown).count());
            }
            Output::Number | Output::Vector(_) => {
                let mut errors: Vec<f64> =
                    released.iter().filter_map(|answer| farthest(answer, &shown)).collect();
                errors.sort_unstable_by(f64::total_cmp);
                let at = |share: f64| quantile(&errors, share);
                document["error"] = json!({ "median": at(0.5), "nine_of_ten": at(0.9) });
            }
        }
        document["answers"] = json!(answers);
        Ok(document)
    }

    /// What blocks answer, beside what all rows do.
    fn seen(&self, votes: &[Option<Vote>], whole: Option<&Vote>) -> Value {
        let answered = votes.iter().flatten().count();
        let mut seen = json!({
            "count": votes.len(),
            "answered": answered,
            "agree": agreeing(votes, whole),
        });
        let means = match self.ballots.output() {
            Output::Number | Output::Vector(_) => means(votes),
            Output::Label | Output::Labels => None,
        };
        if let (Some((mean, deviation)), Some(whole)) = (means, whole.and_then(coordinates)) {
            let bias: Vec<f64> = mean.iter().zip(&whole).map(|(mean, whole)| mean - whole).collect();
            // How far the mean of so many answers is off by chance.
            let chance: Vec<f64> =
                deviation.iter().map(|deviation| 2.0 * deviation / (answered as f64).sqrt()).collect();
            for (name, numbers) in
                [("mean", mean), ("deviation", deviation), ("bias", bias), ("bias_within", chance)]
            {
                seen[name] =
                    if self.ballots.output() == Output::Number { json!(numbers[0]) } else { json!(numbers) };
            }
        }
        seen
    }

    /// Other numbers of blocks, and those that were said, the fewest first.
    fn by_blocks(
        &self,
        looks: &[Look],
        votes: &[Vec<Option<Vote>>],
        whole: Option<&Vote>,
        rows: usize,
    ) -> Vec<Value> {
        let mut found: Vec<(u64, Value)> = Vec::new();
        for (look, votes) in looks.iter().zip(votes) {
            let blocks = match look.purpose {
                Purpose::Round if !self.is_sampled() => self.touch.votes(),
                Purpose::Blocks(blocks) => blocks,
                _ => continue,
            };
            if found.iter().any(|(known, _)| *known == blocks) {
                continue;
            }
            let mut seen = self.seen(votes, whole);
            seen["blocks"] = json!(blocks);
            seen["rows"] = json!((rows as f64 / blocks as f64).round());
            found.push((blocks, seen));
        }
        found.sort_by_key(|(blocks, _)| *blocks);
        found.into_iter().map(|(_, seen)| seen).collect()
    }
}

fn places(blocks: &Blocks) -> Vec<Vec<usize>> {
    blocks.iter().map(<[usize]>::to_vec).collect()
}

/// Blocks of people, by the places of their rows; nobody's rows are in none.
fn of_people<C: Coins>(design: Design, people: &[Option<String>], coins: &mut C) -> Vec<Vec<usize>> {
    let named: Vec<(usize, &str)> = people
        .iter()
        .enumerate()
        .filter_map(|(row, name)| Some((row, crate::rows::id::canonical(name.as_deref())?)))
        .collect();
    let names: Vec<&str> = named.iter().map(|(_, name)| *name).collect();
    let Ok(partition) = (Partition { design, adjacency: Adjacency::AddRemove }).calibrate() else {
        return Vec::new();
    };
    let dealt = partition.deal_people(&names, coins);
    dealt.iter().map(|block| block.iter().map(|&place| named[place].0).collect()).collect()
}

/// How many votes are that of all rows, of how many.
fn agreeing(votes: &[Option<Vote>], whole: Option<&Vote>) -> usize {
    whole.map_or(0, |whole| votes.iter().flatten().filter(|vote| *vote == whole).count())
}

fn stability(looks: &[Look], votes: &[Vec<Option<Vote>>], whole: Option<&Vote>) -> Vec<Value> {
    let mut found = Vec::new();
    for (look, votes) in looks.iter().zip(votes) {
        let (name, measure) = match look.purpose {
            Purpose::Rate(rate) => ("rate", json!(rate)),
            Purpose::Size(size) => ("size", json!(size)),
            _ => continue,
        };
        let agree = agreeing(votes, whole);
        let share = agree as f64 / votes.len().max(1) as f64;
        let mut one = json!({ "samples": votes.len(), "agree": agree, "stable": share >= STABLE });
        one[name] = measure;
        found.push(one);
    }
    found
}

fn coordinates(vote: &Vote) -> Option<Vec<f64>> {
    match vote {
        Vote::Number(value) => Some(vec![*value]),
        Vote::Vector(values) => Some(values.clone()),
        _ => None,
    }
}

/// The mean and the standard deviation of each coordinate.
fn means(votes: &[Option<Vote>]) -> Option<(Vec<f64>, Vec<f64>)> {
    let all: Vec<Vec<f64>> = votes.iter().flatten().filter_map(coordinates).collect();
    let length = all.first()?.len();
    let count = all.len() as f64;
    let mean: Vec<f64> = (0..length).map(|at| all.iter().map(|one| one[at] / count).sum()).collect();
    let spread = |at: usize| {
        let squares: f64 = all.iter().map(|one| (one[at] - mean[at]).powi(2)).sum();
        (squares / (count - 1.0).max(1.0)).sqrt()
    };
    let deviation = (0..length).map(spread).collect();
    Some((mean, deviation))
}

/// By how much an answer is off, in its worst coordinate.
fn farthest(answer: &Value, truth: &Value) -> Option<f64> {
    match (answer, truth) {
        (Value::Array(answer), Value::Array(truth)) if answer.len() == truth.len() => answer
            .iter()
            .zip(truth)
            .map(|(one, truth)| farthest(one, truth))
            .try_fold(0.0, |worst: f64, one| Some(worst.max(one?))),
        (answer, truth) => Some((answer.as_f64()? - truth.as_f64()?).abs()),
    }
}

fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place of the list")]
    let place = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(place).copied()
}

/// What a rehearsal came to, a few lines.
pub fn words(document: &Value) -> String {
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_f64().map_or(String::new(), short),
        Value::Array(numbers) => {
            numbers.iter().filter_map(Value::as_f64).map(short).collect::<Vec<_>>().join(", ")
        }
        other => crate::bar::value(other),
    };
    let whole = |value: &Value| value.as_u64().unwrap_or_default();
    let (trials, refused) = (whole(&document["trials"]), whole(&document["refused"]));
    let mut lines = vec![format!(
        "{} by {}, epsilon {} (simulated; nothing was charged or released)",
        crate::bar::value(&document["statistic"]),
        crate::bar::value(&document["mechanism"]),
        crate::bar::value(&document["epsilon"]),
    )];
    lines.push(format!(
        "  trials     {trials} over {} deals of {} rows into {} blocks, {refused} refused",
        whole(&document["rounds"]),
        whole(&document["rows"]),
        whole(&document["blocks"])
    ));
    lines.push(format!("  all rows   {}", number(&document["all_rows"])));
    if trials > refused {
        lines.push(match document.get("equal") {
            Some(equal) => {
                format!("  answers    {} of {} released are that of all rows", whole(equal), trials - refused)
            }
            None => format!(
                "  answers    half are within {} of it, nine of ten within {}",
                number(&document["error"]["median"]),
                number(&document["error"]["nine_of_ten"])
            ),
        });
    }
    let blocks = &document["block_answers"];
    let mut seen = format!(
        "  blocks     {} of {} answered, {} as all rows do",
        whole(&blocks["answered"]),
        whole(&blocks["count"]),
        whole(&blocks["agree"])
    );
    if !blocks["mean"].is_null() {
        seen = format!(
            "{seen}; mean {}, deviation {}; bias {} (off by about {} by chance)",
            number(&blocks["mean"]),
            number(&blocks["deviation"]),
            number(&blocks["bias"]),
            number(&blocks["bias_within"])
        );
    }
    lines.push(seen);
    lines.extend(stability_words(document));
    for other in document["by_blocks"].as_array().into_iter().flatten() {
        let bias = if other["bias"].is_null() {
            String::new()
        } else {
            format!(", bias {}", number(&other["bias"]))
        };
        lines.push(format!(
            "  size       {} blocks of about {} rows: {} of {} as all rows do{bias}",
            whole(&other["blocks"]),
            number(&other["rows"]),
            whole(&other["agree"]),
            whole(&other["count"])
        ));
    }
    lines.join("\n")
}

fn stability_words(document: &Value) -> Vec<String> {
    let found = document["stability"].as_array().into_iter().flatten();
    let line = |one: &Value| {
        let of = match one.get("rate").and_then(Value::as_f64) {
            Some(rate) => format!("each row with probability {} (q-stability)", short(rate)),
            None => {
                format!("{} rows with repetition (m-stability)", one["size"].as_u64().unwrap_or_default())
            }
        };
        let enough = if one["stable"] == true { "stable" } else { "not stable" };
        format!(
            "  stability  samples of {of}: {} of {} answer as all rows do; {enough}, the texts ask for 3 of 4",
            one["agree"].as_u64().unwrap_or_default(),
            one["samples"].as_u64().unwrap_or_default()
        )
    };
    found.map(line).collect()
}

/// A number in six digits.
fn short(value: f64) -> String {
    let text = format!("{value:.6e}");
    let rounded: f64 = text.parse().unwrap_or(value);
    json!(rounded).to_string().trim_end_matches(".0").to_string()
}
