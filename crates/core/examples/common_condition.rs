//! Which medical condition is most common in a clinical study? (The first story of the selection text.)
//!
//! ```sh
//! cargo run -p equipoise-core --example common_condition -- 0.5
//! ```
//!
//! The argument is epsilon. Persons come and go (add/remove): one person adds at most one to each count, and
//! all counts move the same way. The patients are made up, which is why the truth may be printed beside.

use equipoise_core::{
    loss::Eps,
    mechanism::{permute_and_flip::PermuteAndFlip, selection::Candidates},
    ratio::Ratio,
};
use equipoise_entropy::OsCoins;
use std::{error::Error, process::ExitCode};

const CONDITIONS: [&str; 8] =
    ["asthma", "migraine", "eczema", "hypertension", "anaemia", "diabetes", "gout", "psoriasis"];
/// How many of a hundred patients have each.
const PERCENT: [u64; 8] = [9, 14, 7, 21, 6, 11, 3, 4];

/// 240 patients; each is the list of conditions they have.
fn patients() -> Vec<[bool; 8]> {
    let has = |patient: u64, condition: usize| {
        let mixed = (patient * 8 + condition as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) % 100 < PERCENT[condition]
    };
    (0..240).map(|patient| std::array::from_fn(|condition| has(patient, condition))).collect()
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
    let eps: Eps = std::env::args().nth(1).as_deref().unwrap_or("0.5").parse()?;
    let candidates = Candidates { count: CONDITIONS.len(), sensitivity: Ratio::one(), monotone: true };
    let mechanism = PermuteAndFlip { eps: eps.clone(), candidates }.calibrate()?;

    let patients = patients();
    let count = |condition: usize| patients.iter().filter(|patient| patient[condition]).count() as u64;
    let counts: Vec<u64> = (0..CONDITIONS.len()).map(count).collect();
    let scores: Vec<Ratio> = counts.iter().map(|&count| Ratio::from(count)).collect();
    let named = mechanism.run(&scores, &mut OsCoins::new()?);

    let error = mechanism.accuracy(&"0.05".parse()?)?;
    println!("private answer   {}", CONDITIONS[named]);
    println!("privacy          epsilon {eps}, add-remove, permute-and-flip");
    println!("error            at most {} below the largest count, 95 % of the time", error.to_decimal_up(2));
    let best = (0..counts.len()).max_by_key(|&condition| counts[condition]).expect("eight conditions");
    println!(
        "(truth, not private: {} with {}; {} has {})",
        CONDITIONS[best], counts[best], CONDITIONS[named], counts[named]
    );
    Ok(())
}
