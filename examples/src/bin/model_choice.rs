//! Example 7.1: which of many models fits best? The election does not mind how many there are; noisy arg-max does.
//!
//! Each model says that one of many coins is biased. The plot shows how often the right one is named.

use equipoise_core::{
    adjacency::Adjacency,
    ratio::Ratio,
    subsample::{Touch, arg_max::ArgMax, majority::Majority},
};
use equipoise_entropy::OsCoins;
use equipoise_examples::{Budget, Failure, show, uniform};
use plotters::prelude::*;

fn main() -> Result<(), Failure> {
    let mut coins = OsCoins::new()?;
    let budget = Budget::new("1", "1e-6")?;
    for (name, bias, rows) in [("a clear winner", 0.8, 40_000), ("no winner", 0.5, 40_000)] {
        println!("Which of 64 coins is biased? {name}, {rows} rows, epsilon 1");
        let table: Vec<u64> = (0..rows).map(|_| flips(bias, &mut coins)).collect();
        let best = |rows: &mut dyn Iterator<Item = usize>| {
            let mut heads = [0u32; 64];
            for row in rows {
                for (coin, count) in heads.iter_mut().enumerate() {
                    *count += u32::from(table[row] >> coin & 1 == 1);
                }
            }
            (0..64usize).max_by_key(|&coin| heads[coin]).unwrap_or(0)
        };
        let private =
            budget.label(rows, 100, &0, |block| best(&mut block.rows().iter().copied()), &mut coins)?;
        show(&private, &best(&mut (0..rows)));
    }
    let path = std::env::args().nth(1).unwrap_or_else(|| "model_choice.svg".to_string());
    plot(&path)?;
    println!("\nSuccess against the number of models: {path}");
    Ok(())
}

/// One flip of each coin, of which number 17 is biased.
fn flips(bias: f64, coins: &mut OsCoins) -> u64 {
    let fair = equipoise_core::coins::Words::word(coins) & !(1 << 17);
    fair | u64::from(uniform(coins) < bias) << 17
}

/// Exact chances, for votes that are right nine times in ten.
fn plot(path: &str) -> Result<(), Failure> {
    let options: Vec<u64> =
        (1..=12).map(|half| 10f64.powf(f64::from(half) / 2.0) as u64).filter(|&k| k >= 10).collect();
    let agreement = Ratio::new(9, 10);
    let arg_max = |votes: u64| -> Result<Vec<(f64, f64)>, Failure> {
        let chance = |&options: &u64| -> Result<(f64, f64), Failure> {
            let touch = Touch::new(votes, 1, Adjacency::AddRemove)?;
            let election = ArgMax { eps: "1".parse()?, popularity_eps: None, options, touch }.calibrate()?;
            Ok(((options as f64).log10(), election.success_lower(&agreement).to_f64()))
        };
        options.iter().map(chance).collect()
    };
    let majority = |votes: u64| -> Result<Vec<(f64, f64)>, Failure> {
        let touch = Touch::new(votes, 1, Adjacency::AddRemove)?;
        let election = Majority { eps: "1".parse()?, delta: "1e-6".parse()?, touch }.calibrate()?;
        let success = election.success_lower(&agreement).to_f64();
        Ok(options.iter().map(|&options| ((options as f64).log10(), success)).collect())
    };
    println!(
        "\nChance of the right model, votes right nine times in ten, epsilon 1 (delta 1e-6 for the majority)"
    );
    let root = SVGBackend::new(path, (720, 440)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(20)
        .caption("Is the right model named?", ("sans-serif", 20))
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d(1f64..6f64, 0f64..1.02)?;
    chart.configure_mesh().x_desc("models, power of ten").y_desc("probability").draw()?;
    for (name, line, colour) in [
        ("majority, 60 blocks", majority(60)?, BLUE),
        ("arg-max, 40 blocks", arg_max(40)?, GREEN),
        ("arg-max, 25 blocks", arg_max(25)?, RED),
    ] {
        let shown: Vec<String> = line.iter().map(|(x, y)| format!("10^{x:.1}: {y:.3}")).collect();
        println!("  {name}: {}", shown.join(", "));
        let series = chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
        series.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
    }
    chart.configure_series_labels().position(SeriesLabelPosition::LowerLeft).border_style(BLACK).draw()?;
    root.present()?;
    Ok(())
}
