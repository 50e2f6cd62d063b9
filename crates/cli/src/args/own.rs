//! Options of choices, threshold streams, holdouts and graphs.

use super::{Books, Reading, Showing, Types};
use clap::Args;
use std::path::PathBuf;

/// `equipoise choose`.
#[derive(Args, Debug)]
pub(crate) struct ChooseOptions {
    /// The data: CSV, Parquet, Arrow, a folder, a pattern, - for standard input, or a table of SQLite
    pub file: PathBuf,
    /// What each row adds to the score of an option, which is called option in it: a condition counts the rows of which it is true
    #[arg(long, value_name = "EXPRESSION")]
    pub score: String,
    /// The options: texts or numbers as A,B,C, or numbers as LO..HI or LO..HI:STEP
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub options: String,
    #[command(flatten)]
    pub privacy: ChoosePrivacy,
    #[command(flatten)]
    pub rows: ChooseRows,
    #[command(flatten)]
    pub types: Types,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub books: Books,
    #[command(flatten)]
    pub showing: Showing,
}

/// What a choice may cost, and how it is made.
#[derive(Args, Debug)]
#[command(next_help_heading = "Privacy")]
pub(crate) struct ChoosePrivacy {
    /// The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub epsilon: Option<String>,
    /// Between which numbers a row adds to a score: what lies beyond counts as these. Needed where the words of the score do not tell
    #[arg(long, value_name = "LO,HI", allow_hyphen_values = true)]
    pub range: Option<String>,
    /// permute-and-flip, exponential or noisy-max [default: permute-and-flip]
    #[arg(long, value_name = "NAME")]
    pub mechanism: Option<String>,
    /// With noisy-max: exponential, gumbel or laplace [default: exponential]
    #[arg(long, value_name = "NAME")]
    pub noise: Option<String>,
    /// Public weights of the options, in their order: the mechanism exponential over that measure
    #[arg(long, value_name = "W,..")]
    pub base: Option<String>,
    /// What may change between data sets that look alike, one row or person: add-remove or replace
    #[arg(long, value_name = "WHICH")]
    pub adjacency: Option<String>,
    /// With which probability the error bar holds [default: 0.95]
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    pub confidence: Option<String>,
}

/// Which rows take part.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rows")]
pub(crate) struct ChooseRows {
    /// Only rows of which this is true
    #[arg(long = "where", value_name = "CONDITION")]
    pub filter: Option<String>,
    /// The column that names the person, where people have several rows
    #[arg(long, value_name = "COLUMN")]
    pub unit: Option<String>,
    /// With --unit: how many rows of each person take part, drawn at random [default: 1]
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub max_rows_per_unit: Option<String>,
}

pub(crate) const CHOOSE_EXAMPLES: &str = "Examples:
  equipoise choose bids.csv --score \"case when bid >= option then option else 0 end\" --options 1..30:0.5 --epsilon 1
  equipoise choose visits.csv --score \"town = option\" --options Ayr,Bath,Deal --unit person --epsilon 1
  equipoise choose bids.csv --score \"bid - option\" --options 1,2,5 --range 0,100 --epsilon 1 --mechanism exponential

The score of an option is the sum over the rows; the option with nearly the highest is released. What a row can add
follows from the words where they are constants, as the revenue of a price above, or is limited to --range.";

/// Where a stream is charged, as a whole and once.
#[derive(Args, Debug)]
#[command(next_help_heading = "Budget")]
pub(crate) struct StreamBooks {
    /// The ledger [default: equipoise.ledger beside the data]
    #[arg(long, value_name = "FILE|ADDRESS", env = "EQUIPOISE_LEDGER")]
    pub ledger: Option<PathBuf>,
    /// Who asks, where the ledger keeps a limit for each analyst
    #[arg(long, value_name = "NAME", env = "EQUIPOISE_ANALYST")]
    pub analyst: Option<String>,
    /// With - for FILE: the name that the budget belongs to
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Count this apart from a limit that covers the same file in another ledger or under another name; both write it down
    #[arg(long)]
    pub apart: bool,
}

impl StreamBooks {
    /// The same as for questions, which have ids besides.
    pub(crate) fn books(&self) -> Books {
        let Self { ledger, analyst, name, apart } = self;
        Books {
            ledger: ledger.clone(),
            analyst: analyst.clone(),
            name: name.clone(),
            apart: *apart,
            request_id: None,
        }
    }
}

/// `equipoise above-threshold`.
#[derive(Args, Debug)]
pub(crate) struct AboveThresholdOptions {
    /// The data that the numbers are computed from, whose budget is charged; - with --name for data that is no file
    pub file: PathBuf,
    /// Which numbers are above this?
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub threshold: String,
    /// How many positive answers there can be
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub cutoff: u64,
    #[command(flatten)]
    pub privacy: StreamPrivacy,
    #[command(flatten)]
    pub books: StreamBooks,
    /// Print one JSON object for each answer
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print the plan and its price; read no number and charge nothing
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
}

/// What all answers of a stream may cost, and what is stated of its numbers.
#[derive(Args, Debug)]
#[command(next_help_heading = "Privacy")]
pub(crate) struct StreamPrivacy {
    /// The privacy loss of all answers together
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub epsilon: String,
    /// The most that one row moves any number, as you state
    #[arg(long, value_name = "S", default_value = "1", allow_hyphen_values = true)]
    pub sensitivity: String,
    /// One row moves all numbers the same way, as you state: counts under add-remove do
    #[arg(long)]
    pub monotone: bool,
    /// Numbers are rounded to multiples of this
    #[arg(long, value_name = "STEP", default_value = "1", allow_hyphen_values = true)]
    pub resolution: String,
    /// What may change between data sets that look alike: add-remove or replace [default: the data set's own, or add-remove]
    #[arg(long, value_name = "WHICH")]
    pub adjacency: Option<String>,
    /// one-sided, or textbook for two Laplace noises as texts have it
    #[arg(long, value_name = "NAME", default_value = "one-sided")]
    pub form: String,
}

pub(crate) const ABOVE_THRESHOLD_EXAMPLES: &str = "Examples:
  some-program | equipoise above-threshold visits.csv --threshold 1000 --epsilon 1 --monotone
  seq 0 100 3000 | equipoise above-threshold - --name made-up --threshold 1000 --cutoff 3 --epsilon 1

Reads one number a line and answers each line at once: below, or above with the excess over the noisy threshold. It is charged once,
before the first line is read; all answers together cost epsilon. A line that is no number counts as the least there is. After
--cutoff positive answers it ends. It lives in memory: started again it is another stream, with another charge.";

/// `equipoise holdout`.
#[derive(Args, Debug)]
pub(crate) struct HoldoutOptions {
    /// Training rows, which are yours: answers from them are exact
    pub training: PathBuf,
    /// Holdout rows, which epsilon protects and whose budget is charged
    pub holdout: PathBuf,
    /// How many rows the holdout has, which is public here (replace)
    #[arg(long, value_name = "N")]
    pub rows: u64,
    /// How many questions can be asked
    #[arg(long, value_name = "N")]
    pub questions: u64,
    /// How many answers can come from the holdout
    #[arg(long, value_name = "N")]
    pub corrections: u64,
    /// How far holdout means may be from the population's, such as 0.05; corrected answers are multiples of it
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub tolerance: String,
    /// From which difference between both means on the holdout answers [default: the tolerance]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub threshold: Option<String>,
    /// How likely the tolerance may be missed
    #[arg(long, value_name = "B", default_value = "0.05", allow_hyphen_values = true)]
    pub beta: String,
    /// The privacy loss of all answers together, for one row of the holdout
    #[arg(long, value_name = "E", allow_hyphen_values = true, help_heading = "Privacy")]
    pub epsilon: String,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub books: StreamBooks,
    /// Print one JSON object for each answer
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print the plan and its price; read no rows and charge nothing
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,
}

pub(crate) const HOLDOUT_EXAMPLES: &str = "Example:
  equipoise holdout train.csv holdout.csv --rows 60000 --questions 1000 --corrections 10 --tolerance 0.05 --epsilon 1

Reads one question a line from standard input, an expression about a row such as \"prediction = label\" or \"abs(error) / 10\": a condition,
or a number that is limited to 0 to 1. The answer is its mean over the training rows, unless the holdout disagrees: then that of the
holdout with noise. It is charged once, before the first row is read. A question that cannot be read is free. It lives in memory:
started again it is another one, with another charge.";

/// `equipoise graph`.
#[derive(Args, Debug)]
pub(crate) struct GraphOptions {
    /// A list of edges, one a row: CSV, Parquet, Arrow, a folder, a pattern, - for standard input, or a table of SQLite
    pub file: PathBuf,
    /// edges, triangles, stars:K (K edges at one node, 2 to 4), degree-histogram or components
    #[arg(long, value_name = "WHAT")]
    pub statistic: String,
    /// The two columns with the ends of each edge [default: both columns of a file that has two]
    #[arg(long, value_name = "FROM,TO")]
    pub columns: Option<String>,
    #[command(flatten)]
    pub privacy: GraphPrivacy,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub books: Books,
    #[command(flatten)]
    pub showing: Showing,
}

/// What a count of a graph may cost, and whom it protects.
#[derive(Args, Debug)]
#[command(next_help_heading = "Privacy")]
pub(crate) struct GraphPrivacy {
    /// What comes or goes between graphs that look alike: edge, or node with all of its edges (for edges and degree-histogram)
    #[arg(long, value_name = "WHICH")]
    pub adjacency: Option<String>,
    /// The privacy loss: 0.1 is careful, 1 is usual, above 10 protects little
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub epsilon: Option<String>,
    /// By how much any set of outcomes may be likelier than e^epsilon allows, such as 1e-6
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub delta: Option<String>,
    /// Of triangles and stars: smooth, bounded-local-sensitivity, released-scale or shifted-inverse [default: by delta]
    #[arg(long, value_name = "NAME")]
    pub mechanism: Option<String>,
    /// For nodes: how many edges each keeps, or a public list to choose from [default: 1,2,4 to 1024]; for edges: the last bin of a histogram [default: 30]
    #[arg(long, value_name = "D|D,D,..")]
    pub max_degree: Option<String>,
    /// At most so many nodes, as you state: makes the error bar of smooth narrower, and nothing else rests on it
    #[arg(long, value_name = "N")]
    pub nodes: Option<String>,
    /// With which probability the error bar holds [default: 0.95]
    #[arg(long, value_name = "C", allow_hyphen_values = true)]
    pub confidence: Option<String>,
}

pub(crate) const GRAPH_EXAMPLES: &str = "Examples:
  equipoise graph friends.csv --statistic triangles --adjacency edge --epsilon 1 --delta 1e-6
  equipoise graph friends.csv --statistic degree-histogram --adjacency edge --max-degree 10 --epsilon 1
  equipoise graph calls.parquet --columns caller,called --statistic edges --adjacency node --max-degree 20 --epsilon 1

Rows that name the same two nodes are one edge, in either direction; a row that names none, one, or one twice is no edge.
docs/graphs.md says what is protected and how each count is answered.";
