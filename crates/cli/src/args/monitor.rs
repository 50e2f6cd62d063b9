//! Options of monitors.

use super::Reading;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct MonitorOptions {
    /// A CSV file; its first line names the columns
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// A file of questions; standard input without one, or for -
    #[arg(value_name = "QUESTIONS.jsonl")]
    pub questions: Option<PathBuf>,
    /// The privacy loss of all answers together, for ever
    #[arg(long, value_name = "E", allow_hyphen_values = true, help_heading = "Privacy")]
    pub epsilon: Option<String>,
    /// By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the number of rows
    #[arg(long, value_name = "D", allow_hyphen_values = true, help_heading = "Privacy")]
    pub delta: Option<String>,
    /// To how many positive answers one record, or person, may add before it drops out
    #[arg(long, value_name = "K", allow_hyphen_values = true, help_heading = "Privacy")]
    pub budget_per_unit: Option<String>,
    /// The column that names people: a person with any such row counts once
    #[arg(long, value_name = "COLUMN", help_heading = "Privacy")]
    pub unit: Option<String>,
    /// What may change between data sets that look alike, one row or person: add-remove or replace
    #[arg(long, value_name = "WHICH", help_heading = "Privacy")]
    pub adjacency: Option<String>,
    /// Sums will be asked for besides counts, which takes more noise
    #[arg(long, help_heading = "Privacy")]
    pub sums: bool,
    /// A form of the text in place of the monitor: above-noiseless-threshold (two noises; ends at its first positive answer) or simplified-monitor
    #[arg(long, value_name = "NAME", help_heading = "Privacy")]
    pub form: Option<String>,
    #[command(flatten)]
    pub reading: Reading,
    /// What was asked and answered, for the next start [default: FILE.monitor]
    #[arg(long, value_name = "FILE", help_heading = "Budget")]
    pub state: Option<PathBuf>,
    /// The ledger [default: equipoise.ledger beside the data]
    #[arg(long, value_name = "FILE|ADDRESS", env = "EQUIPOISE_LEDGER", help_heading = "Budget")]
    pub ledger: Option<PathBuf>,
    /// Who asks, where the ledger keeps a limit for each analyst
    #[arg(long, value_name = "NAME", env = "EQUIPOISE_ANALYST", help_heading = "Budget")]
    pub analyst: Option<String>,
    /// Count this apart from a limit that covers the same file in another ledger or under another name; both write it down
    #[arg(long, help_heading = "Budget")]
    pub apart: bool,
    /// First print every earlier question with its answer
    #[arg(long, help_heading = "Output")]
    pub history: bool,
    /// Print the plan as one JSON object; read no rows and charge nothing
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
}
