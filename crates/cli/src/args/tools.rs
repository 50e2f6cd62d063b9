//! Options of audits, plans and calibrations.

use clap::Args;
use std::{ffi::OsString, path::PathBuf};

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
    /// With --sampled or --compare: the confidence that no alarm is false
    #[arg(long, default_value_t = 0.999)]
    pub confidence: f64,
    /// Compare the answers that a pipeline of yours gave, one a line: many independent runs, in no order that means anything, on one data set and on a neighbour
    #[arg(long, num_args = 2, value_names = ["FIRST", "SECOND"], conflicts_with_all = ["sampled", "only", "list"])]
    pub compare: Vec<PathBuf>,
    /// With --compare: what the pipeline promises
    #[arg(long, value_name = "E", requires = "compare", allow_hyphen_values = true)]
    pub epsilon: Option<f64>,
    /// With --compare: the same for delta
    #[arg(long, value_name = "D", default_value_t = 0.0, requires = "compare", allow_hyphen_values = true)]
    pub delta: f64,
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

#[derive(Args, Debug)]
pub(crate) struct ServeOptions {
    /// What the server is told; --help lists it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "--NAME VALUE")]
    pub arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct ClusterOptions {
    /// What the member is told; --help lists it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "MEMBER --NAME VALUE")]
    pub arguments: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsOptions {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManOptions {
    /// Write one page for each command into this folder, instead of the first page to the terminal
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
}
