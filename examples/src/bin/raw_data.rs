//! Example 7.3: analysts who may do as they like choose what to publish; each sees one block, with a method of their own.
//! What they chose is then computed privately.

use equipoise_core::{
    adjacency::Adjacency,
    mechanism::inverse_sensitivity::InverseSensitivity,
    outcome::Outcome,
    stability::{Median, lattice::FLOATS},
};
use equipoise_entropy::OsCoins;
use equipoise_examples::{Budget, Failure, normal, show};

const COLUMNS: [&str; 4] = ["height", "income", "age", "distance"];

fn main() -> Result<(), Failure> {
    let mut coins = OsCoins::new()?;
    let budget = Budget::new("1", "1e-6")?;
    for (name, effect) in [("income differs between the groups", 1.0), ("nothing differs", 0.0)] {
        println!(
            "Which of four statistics is worth publishing? {name}, 20000 rows, epsilon 1 for the choice"
        );
        let table: Vec<([f64; 4], bool)> =
            (0..20_000).map(|row| person(row % 2 == 0, effect, &mut coins)).collect();
        // Analysts with an even number compare means, the others count who is above zero.
        let analyst = |index: usize, rows: &[usize]| -> usize {
            let score = |column: usize| {
                let side = |group: bool| {
                    let of_group: Vec<f64> = rows
                        .iter()
                        .filter(|&&row| table[row].1 == group)
                        .map(|&row| {
                            if index % 2 == 0 {
                                table[row].0[column]
                            } else {
                                f64::from(table[row].0[column] > 0.0)
                            }
                        })
                        .collect();
                    of_group.iter().sum::<f64>() / of_group.len() as f64
                };
                (side(true) - side(false)).abs()
            };
            (0..4).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(0)
        };
        let all: Vec<usize> = (0..table.len()).collect();
        let chosen =
            budget.label(table.len(), 100, &0, |block| analyst(block.index(), block.rows()), &mut coins)?;
        show(&chosen.clone().map(|column| COLUMNS[column]), &COLUMNS[analyst(0, &all)]);
        if let Outcome::Value(column) = chosen {
            let median = InverseSensitivity {
                eps: "1".parse()?,
                target: Median.quantile().into(),
                range: FLOATS,
                adjacency: Adjacency::AddRemove,
            };
            let values: Vec<f64> = table.iter().map(|row| row.0[column]).collect();
            let answer = median.calibrate()?.run_floats(&values, &mut coins);
            println!("  second step, another epsilon of 1: median {} is {answer:.3}", COLUMNS[column]);
        }
    }
    Ok(())
}

fn person(group: bool, effect: f64, coins: &mut OsCoins) -> ([f64; 4], bool) {
    let mut values = [0.0; 4].map(|_: f64| normal(coins));
    values[1] += if group { effect } else { 0.0 };
    (values, group)
}
