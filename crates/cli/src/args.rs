//! What can be typed.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Private answers to questions whose worst case is hopeless.
#[derive(Parser, Debug)]
#[command(name = "equipoise", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// How many records there are, or how many have a field that is not empty
    #[command(after_help = "Example:\n  equipoise count people.csv --epsilon 0.1")]
    Count(CountOptions),
    /// The sum of a column of numbers
    #[command(
        after_help = "Examples:\n  equipoise sum sales.csv amount --epsilon 1 --range 0,500\n  equipoise sum sales.csv amount --epsilon 1\n\nWithout --range, a part of epsilon finds one; it is told with the answer."
    )]
    Sum(MomentOptions),
    /// The mean of a column of numbers, without bounds
    #[command(
        after_help = "Examples:\n  equipoise mean salaries.csv salary --epsilon 1\n  equipoise mean people.csv age --epsilon 0.5 --range 0,110"
    )]
    Mean(MomentOptions),
    /// The variance of a column of numbers, without bounds
    #[command(after_help = "Example:\n  equipoise variance salaries.csv salary --epsilon 1")]
    Variance(MomentOptions),
    /// The median of a column of numbers, without bounds
    #[command(
        after_help = "Examples:\n  equipoise median salaries.csv salary --epsilon 1\n  equipoise median salaries.csv salary --epsilon 0.1 --range 0,1000000 --resolution 1 --json\n  equipoise median visits.csv visits --epsilon 1 --delta 1e-6 --mechanism stable\n\nExit codes: 0 released, 3 refused, 4 over the budget, 2 wrong request (nothing charged), 1 lost."
    )]
    Median(NumberOptions),
    /// One quantile or several of a column of numbers, without bounds
    #[command(
        after_help = "Examples:\n  equipoise quantile salaries.csv salary 0.9 --epsilon 1\n  equipoise quantile salaries.csv salary 0.1,0.5,0.9 --epsilon 2"
    )]
    Quantile(QuantileOptions),
    /// The interquartile range of a column of numbers, without bounds
    #[command(
        after_help = "Examples:\n  equipoise iqr salaries.csv salary --epsilon 1\n  equipoise iqr salaries.csv salary --epsilon 1 --delta 1e-6 --mechanism scale --resolution 1"
    )]
    Iqr(NumberOptions),
    /// The most frequent value of a column, exact, or a refusal where it leads by too little
    #[command(after_help = "Example:\n  equipoise mode people.csv town --epsilon 1 --delta 1e-6")]
    Mode(ModeOptions),
    /// Any program, run on blocks of the records in a sandbox, and one private answer from all of theirs
    #[cfg(target_os = "linux")]
    #[command(after_help = crate::run::EXAMPLES)]
    Run(Box<crate::run::RunOptions>),
    /// The ledger: what was spent, limits, and a proof that nothing was changed
    Budget(BudgetOptions),
    /// A paragraph about a release, for a paper or a privacy board
    #[command(after_help = "Example:\n  equipoise explain 3f9a2c")]
    Explain(ExplainOptions),
    /// Answers about a stream that stay right while users react to them: distinct, f2, point, min-cut
    Robust(crate::robust::RobustOptions),
    /// Attack every privacy claim exactly, and a zoo of broken mechanisms that must be caught
    #[command(
        after_help = "Examples:\n  equipoise audit\n  equipoise audit --only laplace --json\n  equipoise audit --list\n  equipoise audit --sampled\n\nExit code 0 only when every claim holds and every zoo entry is caught."
    )]
    Audit(AuditOptions),
    /// What a fixed list of releases costs in all, under every accountant
    #[command(
        after_help = "Examples:\n  equipoise plan batch.json --delta 1e-6\n  equipoise plan batch.json --export > events.json\n\nA file such as {\"delta\": \"1e-6\", \"events\": [{\"mechanism\": \"laplace\", \"epsilon\": \"0.1\", \"times\": 100},\n{\"mechanism\": \"gaussian\", \"noise\": \"real\", \"sigma\": 20, \"rate\": \"0.01\"}]}; events of dp_accounting are read as well."
    )]
    Plan(PlanOptions),
    /// Print every number that a mechanism derives from its parameters: scale, threshold, cost, error
    #[command(
        after_help = "Examples:\n  equipoise calibrate\n  equipoise calibrate laplace --epsilon 0.5 --sensitivity 1\n  equipoise calibrate --list\n  equipoise calibrate --json sampled --epsilon 1 --rate 0.1\n\nWithout a mechanism, lists all mechanisms and their parameters."
    )]
    Calibrate(CalibrateOptions),
}

/// A question about a file; every verb takes these.
#[derive(Args, Debug)]
pub(crate) struct Question {
    /// A CSV file; its first line names the columns
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub privacy: Privacy,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub books: Books,
    #[command(flatten)]
    pub showing: Showing,
}

/// What an answer may cost, and what it promises.
#[derive(Args, Debug)]
#[command(next_help_heading = "Privacy")]
pub(crate) struct Privacy {
    /// The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub epsilon: Option<String>,
    /// How often the loss may be exceeded, such as 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub delta: Option<String>,
    /// What one person may change: add-remove (the number of rows is private too) or replace
    #[arg(long, value_name = "WHICH")]
    pub adjacency: Option<String>,
    /// The mechanism by name; auto chooses from public facts
    #[arg(long, value_name = "NAME")]
    pub mechanism: Option<String>,
    /// With which probability the error bar holds [default: 0.95]
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    pub confidence: Option<String>,
}

/// How the file is read.
#[derive(Args, Debug)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// The file has no first line of names; columns are called 1, 2, 3
    #[arg(long)]
    pub no_header: bool,
    /// The character between fields [default: ,]
    #[arg(long, value_name = "CHAR")]
    pub delimiter: Option<String>,
}

/// Where the charge is written down, and for whom.
#[derive(Args, Debug)]
#[command(next_help_heading = "Budget")]
pub(crate) struct Books {
    /// The ledger [default: equipoise.ledger beside the data]
    #[arg(long, value_name = "FILE", env = "EQUIPOISE_LEDGER")]
    pub ledger: Option<PathBuf>,
    /// Who asks, where the ledger keeps a limit for each analyst
    #[arg(long, value_name = "NAME", env = "EQUIPOISE_ANALYST")]
    pub analyst: Option<String>,
    /// A name for this request: asked again, it gives the stored answer for free
    #[arg(long, value_name = "ID")]
    pub request_id: Option<String>,
}

/// How the answer is shown.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct Showing {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print the plan, its price and the error to expect; read no rows and charge nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// The values that numbers can take; fewer of them make answers better.
#[derive(Args, Debug)]
#[command(next_help_heading = "Values")]
pub(crate) struct Values {
    /// Answers lie between these, and rows are moved there; never needed
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true)]
    pub range: Option<String>,
    /// Answers and rows are multiples of this
    #[arg(long, value_name = "STEP", allow_hyphen_values = true)]
    pub resolution: Option<String>,
    /// The number of rows, where you state it as public
    #[arg(long, value_name = "N")]
    pub rows: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct CountOptions {
    #[command(flatten)]
    pub question: Question,
    /// Count the fields of this column that are not empty, instead of all records
    pub column: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct NumberOptions {
    #[command(flatten)]
    pub question: Question,
    /// The column
    pub column: Option<String>,
    #[command(flatten)]
    pub values: Values,
}

#[derive(Args, Debug)]
pub(crate) struct MomentOptions {
    #[command(flatten)]
    pub question: Question,
    /// The column
    pub column: Option<String>,
    /// Rows beyond these count as these; searched privately where it is not given
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true)]
    pub range: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct QuantileOptions {
    #[command(flatten)]
    pub question: Question,
    /// The column
    pub column: Option<String>,
    /// Which quantiles: 0.9, or several as 0.25,0.5,0.75
    pub fraction: Option<String>,
    /// The same as a flag
    #[arg(long = "fraction", aliases = ["quantile", "q"], value_name = "P", conflicts_with = "fraction", allow_hyphen_values = true)]
    pub fraction_flag: Option<String>,
    #[command(flatten)]
    pub values: Values,
}

#[derive(Args, Debug)]
pub(crate) struct ModeOptions {
    #[command(flatten)]
    pub question: Question,
    /// The column
    pub column: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainOptions {
    /// The id of a receipt, or the first characters of it
    pub receipt: String,
    /// The ledger [default: equipoise.ledger in this folder]
    #[arg(long, value_name = "FILE", env = "EQUIPOISE_LEDGER")]
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
    Show(BooksOptions),
    /// Register a file and limit what may be spent on it, what was already spent included
    #[command(
        after_help = "Examples:\n  equipoise budget set salaries.csv --epsilon 5 --delta 1e-5\n  equipoise budget set salaries.csv --epsilon 1 --analyst ana\n  equipoise budget set salaries.csv --rho 0.5 --delta 1e-6\n  equipoise budget set salaries.csv --epsilon 5 --delta 1e-6 --accountant renyi\n\nA ledger with any limit answers only for registered files."
    )]
    Set(LimitOptions),
    /// Every entry, oldest first
    Log(BooksOptions),
    /// Recompute the chain, the sums and the limits
    Verify(VerifyOptions),
    /// All charges as JSON events that other accountants read
    Export(BooksOptions),
}

/// A ledger, and perhaps one file of it.
#[derive(Args, Debug)]
pub(crate) struct BooksOptions {
    /// The data file; all of the ledger's without one
    pub file: Option<PathBuf>,
    /// The ledger [default: equipoise.ledger beside the data, or in this folder]
    #[arg(long, value_name = "FILE", env = "EQUIPOISE_LEDGER")]
    pub ledger: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LimitOptions {
    /// The data file
    pub file: PathBuf,
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
    /// Limit this analyst instead of all together
    #[arg(long, value_name = "NAME")]
    pub analyst: Option<String>,
    /// What one person may change, fixed at registration [default: add-remove]
    #[arg(long, value_name = "WHICH")]
    pub adjacency: Option<String>,
    /// The ledger [default: equipoise.ledger beside the data]
    #[arg(long, value_name = "FILE", env = "EQUIPOISE_LEDGER")]
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

#[derive(Args, Debug)]
pub(crate) struct AuditOptions {
    /// Run only the audits whose name contains this text (may be given several times)
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Instead of enumerating, run mechanisms many times and attack what they put out
    #[arg(long)]
    pub sampled: bool,
    /// With --sampled: about how long in all
    #[arg(long, value_name = "SECONDS", default_value_t = 100.0, requires = "sampled")]
    pub seconds: f64,
    /// With --sampled: the confidence that no alarm is false
    #[arg(long, default_value_t = 0.999, requires = "sampled")]
    pub confidence: f64,
    /// List the audits without running them
    #[arg(long)]
    pub list: bool,
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CalibrateOptions {
    /// Print one JSON document instead of text (before the mechanism)
    #[arg(long)]
    pub json: bool,
    /// List the mechanisms, one a line (before the mechanism)
    #[arg(long)]
    pub list: bool,
    /// The mechanism, such as laplace
    pub mechanism: Option<String>,
    /// Its parameters, as --name value
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "--NAME VALUE")]
    pub parameters: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct PlanOptions {
    /// A JSON file of events
    #[arg(value_name = "FILE.json")]
    pub file: PathBuf,
    /// The delta of the total, if the file names none
    #[arg(long)]
    pub delta: Option<String>,
    /// Print the plan as an event of dp_accounting instead
    #[arg(long)]
    pub export: bool,
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}
