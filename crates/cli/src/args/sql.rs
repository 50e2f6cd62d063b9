//! Options of SQL queries.

use super::{Books, Reading, Showing, Types};
use clap::Args;
use std::path::PathBuf;

/// What the help says besides the options.
pub(crate) const SQL_EXAMPLES: &str = "Examples:
  equipoise sql \"SELECT town, COUNT(*) AS n, AVG(salary) FROM 'people.csv' GROUP BY town\" --epsilon 1 --delta 1e-6
  equipoise sql \"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6, privacy_unit_column=id)
    town, COUNT(*), MEDIAN(salary) FROM 'people.parquet' WHERE age >= 18 GROUP BY town ORDER BY 2 DESC\"
  equipoise sql \"SELECT MEDIAN(salary) AS m, DP_INTERVAL_LOW(m), DP_INTERVAL_HIGH(m) FROM people.csv\" --epsilon 1 --dry-run

Options stand in the query or beside it. Aggregates: COUNT, COUNTIF, SUM, AVG, MEDIAN, QUANTILE, APPROX_QUANTILES, VAR_POP,
STDDEV_POP, IQR, MODE. HAVING, ORDER BY, LIMIT and arithmetic are about released values. Without a query it is a prompt;
.help says what it takes.";

/// A query, what it may cost and whose privacy it protects.
#[derive(Args, Debug)]
pub(crate) struct SqlOptions {
    /// The query; without one there is a prompt
    pub query: Option<String>,
    #[command(flatten)]
    pub price: SqlPrice,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub types: Types,
    #[command(flatten)]
    pub on: SqlCluster,
    #[command(flatten)]
    pub books: Books,
    #[command(flatten)]
    pub showing: Showing,
}

/// Where relations of several tables are made.
#[derive(Args, Debug)]
#[command(next_help_heading = "Several tables")]
pub(crate) struct SqlCluster {
    /// Join tables on a cluster, whose scheduler is at this address
    #[arg(long, value_name = "HOST:PORT")]
    pub cluster: Option<String>,
    /// With --cluster: the folder with this member's certificates
    #[arg(long, value_name = "FOLDER", requires = "cluster")]
    pub certificates: Option<PathBuf>,
}

/// What the clause WITH DIFFERENTIAL_PRIVACY may say too.
#[derive(Args, Debug)]
#[command(next_help_heading = "Privacy")]
pub(crate) struct SqlPrice {
    /// The privacy loss of all answers together
    #[arg(long, value_name = "NUMBER")]
    pub epsilon: Option<String>,
    /// By how much any set of outcomes may be likelier than e^epsilon allows; finding group keys needs one
    #[arg(long, value_name = "NUMBER")]
    pub delta: Option<String>,
    /// Where a limit renews by a column of days: the calendar windows whose rows alone take part, as 2026-11 or 2026-07..2026-09
    #[arg(long, value_name = "WINDOW,..")]
    pub window: Option<String>,
    /// The column that names the person: all records with one value of it are protected together
    #[arg(long, value_name = "COLUMN")]
    pub unit: Option<String>,
    /// How many records of each person take part, drawn at random [default: 1]
    #[arg(long, value_name = "N")]
    pub max_rows_per_unit: Option<String>,
    /// In how many groups records of each person take part
    #[arg(long, value_name = "N")]
    pub max_groups_per_unit: Option<String>,
    /// What one person may do: add-remove or replace
    #[arg(long, value_name = "NAME")]
    pub adjacency: Option<String>,
    /// With which probability the error bar holds [default: 0.95]
    #[arg(long, value_name = "NUMBER")]
    pub confidence: Option<String>,
}
