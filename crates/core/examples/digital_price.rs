//! At which price does a song earn most? (The second story of the selection text.)
//!
//! ```sh
//! cargo run -p equipoise-core --example digital_price -- 1
//! ```
//!
//! The argument is epsilon. A price p earns p times the number of people who would pay at least p. One
//! person, who comes, goes or changes their mind, moves the revenue at every price the same way and by at
//! most the highest price, 0.99. The answers to the survey are made up, so the truth may be printed beside.

use equipoise_core::{
    loss::Eps,
    mechanism::{exponential::Exponential, permute_and_flip::PermuteAndFlip, selection::Candidates},
    ratio::Ratio,
};
use equipoise_entropy::OsCoins;
use std::{error::Error, process::ExitCode};

/// What 500 people would pay, in cents: many about 30, some about 75.
fn answers() -> Vec<u64> {
    let spread = |person: u64| (person.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 40;
    (1..=500).map(|person| if person % 3 == 0 { 55 + spread(person) } else { 10 + spread(person) }).collect()
}

fn main() -> ExitCode {
    match answer() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn answer() -> Result<(), Box<dyn Error>> {
    let eps: Eps = std::env::args().nth(1).as_deref().unwrap_or("1").parse()?;
    let prices: Vec<Ratio> = (1..=99).map(|cents| Ratio::new(cents, 100)).collect();
    let candidates = Candidates { count: prices.len(), sensitivity: "0.99".parse()?, monotone: true };
    let mechanism = PermuteAndFlip { eps: eps.clone(), candidates: candidates.clone() }.calibrate()?;

    let answers = answers();
    let buyers = |cents: u64| answers.iter().filter(|&&most| most >= cents).count() as u64;
    let revenue: Vec<Ratio> =
        (1..=99u64).zip(&prices).map(|(cents, price)| price * &Ratio::from(buyers(cents))).collect();
    let named = mechanism.run(&revenue, &mut OsCoins::new()?);

    let beta = "0.05".parse()?;
    let error = mechanism.accuracy(&beta)?;
    let exponential = Exponential { eps: eps.clone(), candidates }.calibrate()?.accuracy(&beta)?;
    println!("private answer   ${}", prices[named].to_decimal_up(2));
    println!("privacy          epsilon {eps}, add-remove or replace, permute-and-flip");
    println!("error            at most ${} below the best revenue, 95 % of the time", error.to_decimal_up(2));
    println!("                 (the exponential mechanism: ${})", exponential.to_decimal_up(2));
    let best = (0..revenue.len()).max_by_key(|&index| &revenue[index]).expect("99 prices");
    let show = |index: usize| format!("${} earns ${}", prices[index], revenue[index]);
    println!("(truth, not private: {}; {})", show(best), show(named));
    Ok(())
}
