//! Options of the ledger's commands.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct ExplainOptions {
    /// The id of a receipt, or the first characters of it
    pub receipt: String,
    /// The ledger [default: equipoise.ledger in this folder]
    #[arg(long, value_name = "FILE|ADDRESS", env = "EQUIPOISE_LEDGER")]
    pub ledger: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct BudgetOptions {
    #[command(subcommand)]
    pub command: BudgetCommand,
}

#[derive(Subcommand, Debug)]
pub(crate) enum BudgetCommand {
    /// What has been spent and what is left
    Show(ShowOptions),
    /// Register a file and limit what may be spent on it, what was already spent included
    #[command(
        after_help = "Examples:\n  equipoise budget set salaries.csv --epsilon 5 --delta 1e-5\n  equipoise budget set salaries.csv --epsilon 1 --analyst ana\n  equipoise budget set salaries.csv --rho 0.5 --delta 1e-6\n  equipoise budget set salaries.csv --epsilon 5 --delta 1e-6 --accountant renyi\n  equipoise budget set visits.csv --unit person --anew --epsilon 5\n  equipoise budget set visits.csv --epsilon 1 --every month --day visited\n\nA ledger with any limit answers only for registered files."
    )]
    Set(LimitOptions),
    /// One page for a privacy board: every release, what it cost, and what all of them tell about one person
    #[command(
        after_help = "Examples:\n  equipoise budget report salaries.csv --out report.html\n  equipoise budget report --ledger all.ledger --format md"
    )]
    Report(ReportOptions),
    /// Every entry, oldest first
    Log(BooksOptions),
    /// Say as the steward that the ledger's clock is right, after it moved over the end of a window
    #[command(
        after_help = "Example:\n  equipoise budget clock --is 2026-11-18\n\nA limit that renews with the ledger's time (budget set --every month, without --day) counts by the later of the clock and\nthe last charge. Where a window ended more than a day after that charge, nothing is charged until this is said."
    )]
    Clock(ClockOptions),
    /// Recompute the chain, the sums and the limits
    Verify(VerifyOptions),
    /// All charges as JSON events that other accountants read
    Export(BooksOptions),
    /// Make a ledger in a Postgres database, for several hosts to share
    #[command(
        after_help = "Example:\n  equipoise budget init --ledger postgres://steward@db.example.org/books --role asking\n\nThe role of the address makes the schema 'equipoise'; the other one may add entries, and neither change nor delete any."
    )]
    Init(InitOptions),
}

#[derive(Args, Debug)]
pub(crate) struct InitOptions {
    /// The database, as a role that may make a schema in it
    #[arg(long, value_name = "ADDRESS", env = "EQUIPOISE_LEDGER")]
    pub ledger: PathBuf,
    /// The role that charges, which is there already
    #[arg(long, value_name = "ROLE")]
    pub role: String,
}

#[derive(Args, Debug)]
pub(crate) struct ClockOptions {
    /// The day that it is, in UTC
    #[arg(long, value_name = "DAY")]
    pub is: String,
    /// The ledger [default: equipoise.ledger in this folder]
    #[arg(long, value_name = "FILE|ADDRESS", env = "EQUIPOISE_LEDGER")]
    pub ledger: Option<PathBuf>,
}

/// A ledger, and perhaps one file of it.
#[derive(Args, Debug)]
pub(crate) struct BooksOptions {
    /// The data file; all of the ledger's without one
    pub file: Option<PathBuf>,
    /// With - for FILE: the name that the budget of standard input belongs to
    #[arg(long, value_name = "NAME", requires = "file")]
    pub name: Option<String>,
    /// The ledger [default: equipoise.ledger beside the data, or in this folder]
    #[arg(long, value_name = "FILE|ADDRESS", env = "EQUIPOISE_LEDGER")]
    pub ledger: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What a page is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Markdown.
    Md,
    /// One HTML file that asks for nothing from elsewhere.
    Html,
}

#[derive(Args, Debug)]
pub(crate) struct ReportOptions {
    /// The data file; all of the ledger's without one
    pub file: Option<PathBuf>,
    /// With - for FILE: the name that the budget of standard input belongs to
    #[arg(long, value_name = "NAME", requires = "file")]
    pub name: Option<String>,
    /// The ledger [default: equipoise.ledger beside the data, or in this folder]
    #[arg(long, value_name = "FILE|ADDRESS", env = "EQUIPOISE_LEDGER")]
    pub ledger: Option<PathBuf>,
    /// Markdown or HTML [default: as --out ends, or md]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,
    /// Write the page to this file, which ends in .md or .html, instead of to standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ShowOptions {
    #[command(flatten)]
    pub books: BooksOptions,
    /// Compare all accountants also where there are more than 10000 charges, which reads every one of them
    #[arg(long)]
    pub accountants: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LimitOptions {
    /// The data file
    pub file: PathBuf,
    /// With - for FILE: the name that the budget of standard input belongs to
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// All that may be spent, as the sum of epsilons
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub epsilon: Option<String>,
    /// The same in zero-concentrated loss, which adds up more slowly over many answers
    #[arg(long, value_name = "R", allow_hyphen_values = true, conflicts_with = "epsilon")]
    pub rho: Option<String>,
    /// The same for delta [default: 0]
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub delta: Option<String>,
    /// How answers are added up under a limit of epsilon and delta: basic, zcdp or renyi [default: basic]
    #[arg(long, value_name = "NAME", conflicts_with = "rho")]
    pub accountant: Option<String>,
    /// A limit for each day, week, month, quarter or year, beside the one in total; never lifts it
    #[arg(long, value_name = "WINDOW", conflicts_with = "analyst")]
    pub every: Option<String>,
    /// With --every: the column of days by which rows lie in windows; COLUMN=timestamp where CSV holds moments. Each window of
    /// rows has the limit for ever, and questions say which they are about with --window
    #[arg(long, value_name = "COLUMN", requires = "every")]
    pub day: Option<String>,
    /// With --every and without --day: renew the limit for the same rows with the ledger's time, knowing that this adds up
    #[arg(long, requires = "every", conflicts_with = "day")]
    pub adds_up: bool,
    /// Limit this analyst instead of all together
    #[arg(long, value_name = "NAME")]
    pub analyst: Option<String>,
    /// What may change between data sets that look alike, one row or person: add-remove or replace, fixed at registration [default: add-remove]
    #[arg(long, value_name = "WHICH")]
    pub adjacency: Option<String>,
    /// The column that names the person, or row for single rows, fixed at registration [default: row]
    #[arg(long, value_name = "COLUMN")]
    pub unit: Option<String>,
    /// Count for another unit or adjacency from now on; what was spent before is kept and told, but no longer counted
    #[arg(long)]
    pub anew: bool,
    /// The ledger [default: equipoise.ledger beside the data]
    #[arg(long, value_name = "FILE|ADDRESS", env = "EQUIPOISE_LEDGER")]
    pub ledger: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyOptions {
    #[command(flatten)]
    pub books: BooksOptions,
    /// A receipt's hash, or a head that was kept elsewhere, that must be in the chain: tells a restored old copy
    #[arg(long, value_name = "HASH|HEAD")]
    pub head: Option<String>,
}
