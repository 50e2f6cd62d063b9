//! Any closure: how concentrated incomes are (Gini), which nobody has analysed, with panics and nonsense in some blocks.

use equipoise_core::{
    adjacency::Adjacency,
    subsample::{
        blocks::{Limit, Runner, numbers},
        clip::DEFAULT_BITS,
        location::Location,
        partition::{Design, Partition},
    },
};
use equipoise_entropy::OsCoins;
use equipoise_examples::{Budget, Failure, normal};

fn main() -> Result<(), Failure> {
    let mut coins = OsCoins::new()?;
    let budget = Budget::new("1", "0")?;
    for rows in [100_000usize, 500] {
        println!("Gini coefficient of {rows} made-up incomes, epsilon 1");
        let incomes: Vec<f64> = (0..rows).map(|_| 45_000.0 * (0.6 * normal(&mut coins)).exp()).collect();
        let gini = |rows: &[usize]| -> f64 {
            let mut sorted: Vec<f64> = rows.iter().map(|&row| incomes[row]).collect();
            sorted.sort_by(f64::total_cmp);
            let (count, total) = (sorted.len() as f64, sorted.iter().sum::<f64>());
            let ranked: f64 = sorted.iter().zip(1..).map(|(income, rank)| f64::from(rank) * income).sum();
            2.0 * ranked / (count * total) - (count + 1.0) / count
        };
        let design = Design::Rows { blocks: u32::try_from(rows / 100)?, rounds: 1 };
        let partition = Partition { design, adjacency: Adjacency::AddRemove }.calibrate()?;
        let touch = partition.touch();
        let mean = match (Location { eps: budget.eps.clone(), bits: DEFAULT_BITS, touch }).calibrate() {
            Ok(mean) => mean,
            Err(reason) => {
                println!("  private: refused before any row was read: {reason}");
                continue;
            }
        };
        let blocks = partition.deal_rows(rows, &mut coins);
        let runner = Runner { limit: Limit::Steps(1_000_000), ..Runner::default() };
        let outputs = runner.run(&blocks, |block| match block.index() % 50 {
            7 => panic!("some blocks fail, and nobody sees it"),
            8 => f64::NAN,
            _ => gini(block.rows()),
        });
        let found = mean.run(&numbers(outputs, 0.0), &mut coins);
        let error = mean.accuracy(&found.clip, &"0.05".parse()?);
        println!("  plan: {} blocks, {}", touch.votes(), mean.cost());
        println!("  private: {:.3}, noise at most {error:.3} with probability 0.95", found.value);
        println!("  bare:    {:.3}", gini(&(0..rows).collect::<Vec<_>>()));
    }
    Ok(())
}
