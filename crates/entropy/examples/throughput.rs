//! How many words a second: `cargo run --release -p equipoise-entropy --example throughput`. Wall time, so on an
//! idle core; elsewhere divide the 10^9 words by the user time that the shell reports.

use equipoise_core::coins::Words;
use equipoise_entropy::{EntropyError, OsCoins};
use std::{hint::black_box, time::Instant};

fn main() -> Result<(), EntropyError> {
    const WORDS: u32 = 200_000_000;
    let mut coins = OsCoins::new()?;
    for round in 1..=5 {
        let start = Instant::now();
        black_box((0..WORDS).fold(0, |sum: u64, _| sum.wrapping_add(coins.word())));
        let seconds = start.elapsed().as_secs_f64();
        println!("round {round}: {:.0} million words per second", f64::from(WORDS) / seconds / 1e6);
    }
    Ok(())
}
