//! What the examples share: made-up numbers, and the four steps from rows to an answer.

use equipoise_core::{
    adjacency::{Adjacency, RowCount},
    coins::Words,
    loss::{Delta, Eps},
    outcome::Outcome,
    subsample::{
        ball::Ball,
        blocks::{Block, Runner, labels, vectors},
        majority::Majority,
        partition::{Blocks, Design, Partition},
        plan::{Output, Question},
    },
};
use equipoise_entropy::OsCoins;
use std::{error::Error, fmt::Debug};

/// Whatever goes wrong before data is looked at.
pub type Failure = Box<dyn Error>;

/// A number strictly between zero and one.
pub fn uniform(words: &mut impl Words) -> f64 {
    ((words.word() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// A standard normal number.
pub fn normal(words: &mut impl Words) -> f64 {
    (-2.0 * uniform(words).ln()).sqrt() * (std::f64::consts::TAU * uniform(words)).cos()
}

/// What is asked for: epsilon and delta of everything together.
pub struct Budget {
    /// Epsilon.
    pub eps: Eps,
    /// Delta.
    pub delta: Delta,
}

impl Budget {
    /// From decimals.
    pub fn new(eps: &str, delta: &str) -> Result<Self, Failure> {
        Ok(Self { eps: eps.parse()?, delta: delta.parse()? })
    }

    fn question(&self, output: Output, rows: usize, rows_per_block: u64) -> Question {
        Question {
            eps: self.eps.clone(),
            delta: self.delta.clone(),
            output,
            rows: RowCount::Declared(rows as u64),
            rows_per_block,
            adjacency: Adjacency::AddRemove,
            people: false,
        }
    }

    /// The label that most blocks agree on: as many blocks as the plan says, at most rows over `rows_per_block`.
    pub fn label<T: Ord + Clone + Send>(
        &self,
        rows: usize,
        rows_per_block: u64,
        default: &T,
        function: impl Fn(&Block) -> T + Sync,
        coins: &mut OsCoins,
    ) -> Result<Outcome<T>, Failure> {
        let plan = self.question(Output::Label, rows, rows_per_block).choices()?[0];
        let (blocks, touch) = deal(rows, plan.blocks, coins)?;
        let election = Majority { eps: self.eps.clone(), delta: self.delta.clone(), touch }.calibrate()?;
        println!("  plan: {} blocks, {}", plan.blocks, election.cost());
        let votes = labels(Runner::default().run(&blocks, function), default);
        Ok(election.run(&votes, coins))
    }

    /// The vector that most blocks are near, without bounds. The number of rows is declared by who holds the data:
    /// everybody sees the number of blocks that it leads to.
    pub fn vector(
        &self,
        rows: usize,
        rows_per_block: u64,
        dimensions: usize,
        function: impl Fn(&Block) -> Vec<f64> + Sync,
        coins: &mut OsCoins,
    ) -> Result<Outcome<Vec<f64>>, Failure> {
        let blocks = u32::try_from(rows as u64 / rows_per_block)?;
        let (blocks, touch) = deal(rows, blocks, coins)?;
        let ball =
            Ball { eps: self.eps.clone(), delta: self.delta.clone(), dimensions, touch }.calibrate()?;
        println!("  plan: {} blocks, {}", touch.votes(), ball.cost());
        let votes = vectors(Runner::default().run(&blocks, function), &vec![0.0; dimensions]);
        Ok(ball.run(&votes, coins).map(|located| located.value))
    }
}

fn deal(
    rows: usize,
    blocks: u32,
    coins: &mut OsCoins,
) -> Result<(Blocks, equipoise_core::subsample::Touch), Failure> {
    let design = Design::Rows { blocks, rounds: 1 };
    let partition = Partition { design, adjacency: Adjacency::AddRemove }.calibrate()?;
    Ok((partition.deal_rows(rows, coins), partition.touch()))
}

/// Print both answers.
pub fn show<T: Debug, U: Debug>(private: &Outcome<T>, bare: &U) {
    match private {
        Outcome::Value(value) => println!("  private: {value:.3?}"),
        Outcome::Refused => println!(
            "  private: refused. The blocks do not agree enough for this epsilon; more rows, a larger epsilon, or a coarser question may help."
        ),
    }
    println!("  bare:    {bare:.3?}");
}
