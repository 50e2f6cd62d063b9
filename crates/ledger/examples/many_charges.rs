//! Makes a ledger of many charges, each with its answer, by the same steps as any question: for measuring what reads it.
//!
//! `cargo run --release -p equipoise-ledger --example many_charges -- LEDGER CHARGES`. On a disk in memory (`/dev/shm`) a million take
//! minutes; elsewhere each charge waits for the disk twice.

use equipoise_core::{
    adjacency::{Adjacency, Unit},
    loss::Approx,
};
use equipoise_ledger::{ChargeRequest, Charging, DataSet, Ledger};
use std::{env, error::Error, path::Path, process::ExitCode};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let [path, charges] = &words[..] else {
        eprintln!("many_charges LEDGER CHARGES");
        return ExitCode::from(2);
    };
    match charges.parse().map_err(Box::from).and_then(|charges| made(Path::new(path), charges)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn made(path: &Path, charges: u64) -> Result<(), Box<dyn Error>> {
    let mut ledger = Ledger::open(path)?;
    let data_set = DataSet { name: "salaries.csv".into(), unit: Unit::Row, adjacency: Adjacency::AddRemove };
    for number in 0..charges {
        // A hundred prices, ten analysts: a year of people and programs that ask.
        let eps = format!("0.{:03}", 1 + number % 100).parse()?;
        let request = ChargeRequest {
            data_set: data_set.clone(),
            analyst: Some(format!("analyst {}", number % 10)),
            request_id: Some(format!("request {number}")),
            request: format!(r#"{{"statistic":"median","column":"salary","epsilon":"{number}"}}"#),
            question: QUESTION.to_string(),
            cost: Approx::new(&eps, &"0".parse()?).into(),
            windows: None,
        };
        let Charging::Granted(charge) = ledger.charge(&request)? else { return Err("charged before".into()) };
        ledger.record(&charge, RELEASE)?;
    }
    Ok(())
}

/// As questions and releases of the program look like, and as long.
const QUESTION: &str = r#"{"statistic":"median","column":"salary","group_by":[],"mechanism":"inverse-sensitivity","guarantee":{"epsilon":"1","delta":"0","adjacency":"add-remove","unit":"row"},"expected":"within 50 ranks; refused when fewer rows than that"}"#;
const RELEASE: &str = r#"{"outcome":"released","value":41250.5,"statistic":"median","column":"salary","data":"salaries.csv","mechanism":"inverse-sensitivity","guarantee":{"epsilon":"1","delta":"0","adjacency":"add-remove","unit":"row"},"error":{"confidence":0.95,"kind":"rank","rank":50},"rows":1003,"spent":{"epsilon":"1","delta":"0"},"remaining":null,"receipt":null}"#;
