//! Options of questions about a file.

use super::QuestionCommand;
use clap::{Args, Subcommand};
use std::{collections::BTreeMap, path::PathBuf};

/// A question about a file; every verb takes these.
#[derive(Args, Debug)]
pub(crate) struct Question {
    /// CSV (plain, .gz or .zst), Parquet or Arrow: a file, a folder, a pattern in quotes, or - for standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub rows: Rows,
    #[command(flatten)]
    pub privacy: Privacy,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub types: Types,
    #[command(flatten)]
    pub books: Books,
    #[command(flatten)]
    pub showing: Showing,
}

/// Which rows take part, and whose they are.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub(crate) struct Rows {
    /// Only rows of which this is true: comparisons, and, or, not, in, between, is null; a null is never true
    #[arg(long = "where", value_name = "CONDITION")]
    pub filter: Option<String>,
    /// The column that names the person, where people have several rows: all of a person's rows are protected
    #[arg(long, value_name = "COLUMN")]
    pub unit: Option<String>,
    /// With a unit: how many rows of each person take part, drawn at random [default: 1]
    #[arg(long, value_name = "R")]
    pub max_rows_per_unit: Option<String>,
    /// With a unit and groups: in how many groups each person takes part, drawn at random, with R rows in each
    #[arg(long, value_name = "G")]
    pub max_groups_per_unit: Option<String>,
}

/// What an answer may cost, and what it promises.
#[derive(Args, Debug)]
#[command(next_help_heading = "Privacy")]
pub(crate) struct Privacy {
    /// The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub epsilon: Option<String>,
    /// By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6: well below one over the number of rows
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub delta: Option<String>,
    /// What may change between data sets that look alike, one row or person: add-remove (the number of rows is private too) or replace
    #[arg(long, value_name = "WHICH")]
    pub adjacency: Option<String>,
    /// The mechanism by name; auto takes the least predicted error, and --dry-run shows the others
    #[arg(long, value_name = "NAME")]
    pub mechanism: Option<String>,
    /// How far off the answer may be, instead of epsilon: rows of a count, ranks of a quantile, the column's unit for a
    /// sum, or for a mean or variance with --range and --rows; the least epsilon is used
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub target_error: Option<String>,
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

/// What columns hold, where no schema says so.
#[derive(Args, Debug)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Types {
    /// What a column holds: date, timestamp, decimal:2 (digits after the point), integer, boolean, number or text
    #[arg(long = "type", value_name = "COLUMN=TYPE", value_parser = column_and_type)]
    pub types: Vec<(String, String)>,
}

impl Types {
    /// By column. A column with two types has none that there is.
    pub fn by_column(&self) -> BTreeMap<String, String> {
        let mut types: BTreeMap<String, String> = BTreeMap::new();
        for (column, name) in &self.types {
            types
                .entry(column.clone())
                .and_modify(|known| *known = format!("{known} and {name}"))
                .or_insert_with(|| name.clone());
        }
        types
    }
}

fn column_and_type(text: &str) -> Result<(String, String), String> {
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
    #[arg(long, value_name = "FILE", env = "EQUIPOISE_LEDGER")]
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

/// Answers for groups of records.
#[derive(Args, Debug)]
#[command(next_help_heading = "Groups")]
pub(crate) struct Groups {
    /// Answer for each group of records that agree in these columns; finding the groups needs a delta
    #[arg(long, value_name = "COLUMN,..")]
    pub group_by: Option<String>,
    #[command(flatten)]
    pub keys: Keys,
}

/// Groups that everybody knows of.
#[derive(Args, Debug)]
#[command(next_help_heading = "Groups")]
pub(crate) struct Keys {
    /// The groups, where they are public: values of the one column; needs no delta
    #[arg(long, value_name = "KEY,..", value_delimiter = ',', allow_hyphen_values = true)]
    pub keys: Vec<String>,
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
    /// Draw the answer, its error bar and the budget as a picture too
    #[arg(long, value_name = "OUT.svg")]
    pub plot: Option<PathBuf>,
}

/// The values that numbers can take; fewer of them make answers better.
#[derive(Args, Debug)]
#[command(next_help_heading = "Values")]
pub(crate) struct Values {
    /// Answers lie between these, and rows are moved there; never needed. Of the column's type, as 2000-01-01,2030-12-31
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true)]
    pub range: Option<String>,
    /// Answers and rows are multiples of this; of dates in days, of timestamps in seconds
    #[arg(long, value_name = "STEP", allow_hyphen_values = true)]
    pub resolution: Option<String>,
    /// Spend half of epsilon on an interval of values that holds the true answer; for several quantiles one each
    #[arg(long)]
    pub interval: bool,
    /// The number of rows, where you state it as public
    #[arg(long, value_name = "N")]
    pub rows: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct BatchOptions {
    /// A JSON file of questions
    #[arg(value_name = "FILE.json")]
    pub questions: PathBuf,
    /// The data [default: what the questions' file names, from its folder]
    #[arg(value_name = "FILE")]
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub books: Books,
    #[command(flatten)]
    pub showing: Showing,
}

#[derive(Args, Debug)]
pub(crate) struct CountOptions {
    #[command(flatten)]
    pub question: Question,
    /// Count the fields of this column that are not empty, instead of all records
    #[arg(help_heading = None::<&str>)]
    pub column: Option<String>,
    #[command(flatten)]
    pub groups: Groups,
}

#[derive(Args, Debug)]
pub(crate) struct NumberOptions {
    #[command(flatten)]
    pub question: Question,
    /// The column
    #[arg(help_heading = None::<&str>)]
    pub column: Option<String>,
    #[command(flatten)]
    pub values: Values,
    #[command(flatten)]
    pub groups: Groups,
}

#[derive(Args, Debug)]
pub(crate) struct MomentOptions {
    #[command(flatten)]
    pub question: Question,
    /// The column
    #[arg(help_heading = None::<&str>)]
    pub column: Option<String>,
    /// Rows beyond these count as these; searched privately where it is not given
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true, help_heading = "Values")]
    pub range: Option<String>,
    /// How many rows have a value, exactly, where you state it as public: a mean or variance over a --range of all rows is
    /// divided by it instead of by a noisy count, and is right if it is right; its error can then be told beforehand
    #[arg(long, value_name = "N", help_heading = "Values")]
    pub rows: Option<String>,
    #[command(flatten)]
    pub groups: Groups,
}

#[derive(Args, Debug)]
pub(crate) struct QuantileOptions {
    #[command(flatten)]
    pub question: Question,
    /// The column
    #[arg(help_heading = None::<&str>)]
    pub column: Option<String>,
    /// Which quantiles: 0.9, or several as 0.25,0.5,0.75
    #[arg(help_heading = None::<&str>)]
    pub fraction: Option<String>,
    /// The same as a flag
    #[arg(long = "fraction", aliases = ["quantile", "q"], value_name = "P", conflicts_with = "fraction", allow_hyphen_values = true, help_heading = "Values")]
    pub fraction_flag: Option<String>,
    #[command(flatten)]
    pub values: Values,
    #[command(flatten)]
    pub groups: Groups,
}

#[derive(Args, Debug)]
pub(crate) struct TextOptions {
    #[command(flatten)]
    pub question: Question,
    /// The column
    #[arg(help_heading = None::<&str>)]
    pub column: Option<String>,
    #[command(flatten)]
    pub groups: Groups,
}

#[derive(Args, Debug)]
pub(crate) struct HistogramOptions {
    #[command(flatten)]
    pub question: Question,
    /// The column, or several as town,year
    #[arg(help_heading = None::<&str>)]
    pub columns: Option<String>,
    #[command(flatten)]
    pub keys: Keys,
}

#[derive(Args, Debug)]
pub(crate) struct SelectOptions {
    #[command(flatten)]
    pub question: Question,
    /// The column
    #[arg(help_heading = None::<&str>)]
    pub column: Option<String>,
    /// The candidates, where they are public; needs no delta
    #[arg(
        long,
        value_name = "VALUE,..",
        value_delimiter = ',',
        allow_hyphen_values = true,
        help_heading = "Values"
    )]
    pub among: Vec<String>,
    #[command(flatten)]
    pub groups: Groups,
}

#[derive(Args, Debug)]
pub(crate) struct SummaryOptions {
    #[command(flatten)]
    pub question: Question,
    /// The column
    #[arg(help_heading = None::<&str>)]
    pub column: Option<String>,
    #[command(flatten)]
    pub values: Values,
    #[command(flatten)]
    pub groups: Groups,
}

/// A question, asked many times of data that is not private.
#[derive(Args, Debug)]
pub(crate) struct SimulateOptions {
    /// How many times
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub trials: u32,
    /// A file that differs in one record: also look for an event that tells the two apart more than the promise allows
    #[arg(long, value_name = "FILE")]
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
