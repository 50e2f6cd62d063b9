//! What can be typed.

use clap::{Args, Parser, Subcommand};

/// Private answers to questions whose worst case is hopeless.
#[derive(Parser, Debug)]
#[command(name = "equipoise", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Attack every privacy claim exactly, and a zoo of broken mechanisms that must be caught
    #[command(
        after_help = "Examples:\n  equipoise audit\n  equipoise audit --only laplace --json\n  equipoise audit --list\n\nExit code 0 only when every claim holds and every zoo entry is caught."
    )]
    Audit(AuditOptions),
    /// Print every number that a mechanism derives from its parameters: scale, threshold, cost, error
    #[command(
        after_help = "Examples:\n  equipoise calibrate\n  equipoise calibrate laplace --epsilon 0.5 --sensitivity 1\n  equipoise calibrate --list\n  equipoise calibrate --json sampled --epsilon 1 --rate 0.1\n\nWithout a mechanism, lists all mechanisms and their parameters."
    )]
    Calibrate(CalibrateOptions),
}

#[derive(Args, Debug)]
pub(crate) struct AuditOptions {
    /// Run only the audits whose name contains this text (may be given several times)
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
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
