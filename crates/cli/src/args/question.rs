//! Options of questions about a file.

use super::{ChooseOptions, GraphOptions, QuestionCommand, SqlOptions};
use crate::show::Order;
use clap::{Args, Subcommand};
use std::path::PathBuf;

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

/// What columns hold, where no schema says so.
#[derive(Args, Debug)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Types {
    /// What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text
    #[arg(long = "type", value_name = "COLUMN=TYPE", value_parser = column_and_type)]
    pub types: Vec<(String, String)>,
}

pub(crate) fn column_and_type(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once('=') {
        Some((column, name)) if !column.is_empty() => Ok((column.to_string(), name.to_string())),
        _ => Err("give COLUMN=TYPE, such as hired=date".to_string()),
    }
}

/// Where the charge is written down, and for whom.
#[derive(Args, Debug)]
#[command(next_help_heading = "Budget")]
pub(crate) struct Books {
    /// The ledger [default: equipoise.ledger beside the data]
    #[arg(long, value_name = "FILE|ADDRESS", env = "EQUIPOISE_LEDGER")]
    pub ledger: Option<PathBuf>,
    /// Who asks, where the ledger keeps a limit for each analyst
    #[arg(long, value_name = "NAME", env = "EQUIPOISE_ANALYST")]
    pub analyst: Option<String>,
    /// With - for FILE: the name that the budget of standard input belongs to
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Count this apart from a limit that covers the same file in another ledger or under another name; both write it down
    #[arg(long)]
    pub apart: bool,
    /// A name for this request: asked again, it gives the stored answer for free
    #[arg(long, value_name = "ID")]
    pub request_id: Option<String>,
}

/// How the answer is shown.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line, each on its own")]
pub(crate) struct Showing {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print the plan, its price and the error to expect; read no rows and charge nothing
    #[arg(long)]
    pub dry_run: bool,
    /// With --dry-run: also the mechanisms that cannot be used, and what each would need
    #[arg(long, requires = "dry_run")]
    pub explain: bool,
    /// Ask although an earlier count shows that there are too few rows
    #[arg(long)]
    pub anyway: bool,
    /// Draw the answer, its error bar and the budget as a picture too
    #[arg(long, value_name = "OUT.svg")]
    pub plot: Option<PathBuf>,
    /// Show groups by their answers, the largest first (or --sort=smallest), instead of by key; JSON keeps its order
    #[arg(long, value_name = "ORDER", num_args = 0..=1, require_equals = true, default_missing_value = "largest", hide_possible_values = true)]
    sort: Option<Order>,
    /// Show so many groups; JSON has all [default: 40]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    show: Option<u32>,
}

/// So many groups fit a screen.
const SCREENFUL: usize = 40;

impl Showing {
    /// The same for a plan, which reads and charges nothing.
    pub(crate) fn of_a_plan(&self) -> Self {
        Self { dry_run: true, plot: None, ..self.clone() }
    }

    /// Was an order or a number of groups given?
    pub(crate) fn picks_groups(&self) -> bool {
        self.sort.is_some() || self.show.is_some()
    }

    /// In which order groups are shown.
    pub(crate) fn order(&self) -> Order {
        self.sort.unwrap_or_default()
    }

    /// How many groups a table shows.
    pub(crate) fn most(&self) -> usize {
        self.show.map_or(SCREENFUL, |most| usize::try_from(most).unwrap_or(usize::MAX))
    }
}

#[derive(Args, Debug)]
pub(crate) struct BatchOptions {
    /// A JSON file of questions
    #[arg(value_name = "FILE.json")]
    pub questions: PathBuf,
    /// The data [default: what the questions' file names, from its folder]
    #[arg(value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Leave these questions out, counted from 1: what they share of epsilon and delta is for the others
    #[arg(long, value_name = "N,..", value_delimiter = ',')]
    pub leave_out: Vec<usize>,
    #[command(flatten)]
    pub books: Books,
    #[command(flatten)]
    pub showing: Showing,
}

/// A question, asked many times of data that is not private.
#[derive(Args, Debug)]
pub(crate) struct SimulateOptions {
    /// How many times
    #[arg(long, global = true, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub trials: u32,
    /// A file that differs in one record: also look for an event that tells the two apart more than the promise allows
    #[arg(long, global = true, value_name = "FILE")]
    pub neighbour: Option<PathBuf>,
    /// Print one JSON object with every answer
    #[arg(long)]
    pub json: bool,
    /// Draw the answers and refusals as a picture too
    #[arg(long, value_name = "OUT.svg")]
    pub plot: Option<PathBuf>,
    #[command(subcommand)]
    pub question: SimulateCommand,
}

/// What is simulated.
#[derive(Subcommand, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one in a run of the program")]
pub(crate) enum SimulateCommand {
    #[command(flatten)]
    Ask(QuestionCommand),
    /// Several questions in one JSON file
    #[command(after_help = "Example:\n  equipoise simulate --trials 200 batch questions.json made-up.csv")]
    Batch(BatchOptions),
    /// A SQL query; what is simulated is its questions, without HAVING, ORDER BY and LIMIT
    #[command(
        after_help = "Example:\n  equipoise simulate --trials 200 sql \"SELECT AVG(salary) FROM 'made-up.csv'\" --epsilon 1"
    )]
    Sql(Box<SqlOptions>),
    /// A count of a graph whose edges are rows
    #[command(
        after_help = "Example:\n  equipoise simulate --trials 200 graph made-up.csv --statistic triangles --adjacency edge --epsilon 1 --delta 1e-6"
    )]
    Graph(Box<GraphOptions>),
    /// One of some public options by a score over the rows
    #[command(
        after_help = "Example:\n  equipoise simulate --trials 200 choose made-up.csv --score \"town = option\" --options Ayr,Bath,Deal --epsilon 1"
    )]
    Choose(Box<ChooseOptions>),
    /// A program on blocks: how often it is refused, how far off, how stable it is, and what the size of blocks does
    #[cfg(target_os = "linux")]
    #[command(
        after_help = "Example:\n  equipoise simulate --trials 200 run made-up.csv --epsilon 1 --delta 1e-6 --output label -- python3 choose_model.py\n\nThe rows are dealt three times; besides, the program runs on all rows, on 200 samples and on half and twice as many blocks."
    )]
    Run(Box<crate::run::RunOptions>),
}

#[derive(Args, Debug)]
pub(crate) struct ExtractOptions {
    /// A database (sqlite:FILE, postgres://ROLE@HOST/DATABASE) with --query, or any data
    pub file: PathBuf,
    /// What is read, in the SQL of the database
    #[arg(long, value_name = "SQL")]
    pub query: Option<String>,
    /// The Arrow file to write; it is replaced where it is there
    #[arg(long, value_name = "FILE.arrow")]
    pub into: PathBuf,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub types: Types,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ColumnsOptions {
    /// The data file
    pub file: PathBuf,
    #[command(flatten)]
    pub reading: Reading,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct CheckOptions {
    /// The data file
    pub file: PathBuf,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub types: Types,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
