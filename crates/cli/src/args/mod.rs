//! What can be typed.

mod asked;
mod books;
mod monitor;
mod own;
mod question;
mod sql;
mod tools;

pub(crate) use asked::*;
pub(crate) use books::*;
use clap::{Parser, Subcommand};
pub(crate) use monitor::*;
pub(crate) use own::*;
pub(crate) use question::*;
pub(crate) use sql::*;
pub(crate) use tools::*;

/// Private answers to questions whose worst case is hopeless.
#[derive(Parser, Debug)]
#[command(name = "equipoise", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    #[command(flatten)]
    Ask(QuestionCommand),
    /// Several questions in one JSON file: one scan, one charge, one release
    #[command(
        after_help = "Examples:\n  equipoise batch questions.json salaries.csv\n  equipoise batch questions.json --dry-run\n\nA file such as {\"data\": \"salaries.csv\", \"epsilon\": 2, \"delta\": \"1e-6\", \"questions\": [\n{\"statistic\": \"median\", \"column\": \"salary\", \"weight\": 3}, {\"statistic\": \"histogram\", \"column\": \"town\"},\n{\"statistic\": \"count\", \"target_error\": 50}]}. What stands beside the questions holds for all; epsilon and\ndelta are totals, shared by weight after what wanted errors and own epsilons take."
    )]
    Batch(BatchOptions),
    /// A private SQL query about one table: group keys and aggregates, one charge, one release
    #[command(after_help = SQL_EXAMPLES)]
    Sql(Box<SqlOptions>),
    /// The same question on public or made-up data, many times: what answers to expect. Never on private rows
    #[command(
        after_help = "Examples:\n  equipoise simulate --trials 1000 median made-up.csv salary --epsilon 1\n  equipoise simulate --trials 1000 --plot answers.svg mean made-up.csv salary --epsilon 0.1\n  equipoise simulate histogram made-up.csv town --epsilon 1 --delta 1e-6\n  equipoise simulate --trials 200 batch questions.json made-up.csv\n  equipoise simulate --trials 100000 --neighbour one-less.csv count made-up.csv --epsilon 1\n\nNothing is charged, so what the ledger beside the data or the named one knows by its path is refused; copies and\nother ledgers are not seen."
    )]
    Simulate(SimulateOptions),
    /// The columns of a file, and what expressions about them are made of: no row is read
    #[command(after_help = "Example:\n  equipoise columns salaries.csv")]
    Columns(ColumnsOptions),
    /// What a file holds, exactly and not privately: for its holder, to find out why answers are bad
    #[command(
        after_help = "Example:\n  equipoise check salaries.csv\n\nIt reads private rows and is free; do not pass its output on."
    )]
    Check(CheckOptions),
    /// A table, a view or a query of a database, written to an Arrow file for its owner alone: then ask about that
    #[command(
        after_help = "Examples:\n  equipoise extract postgres://reader@db/staff --query 'SELECT * FROM hr.now_employed' --into people.arrow\n  equipoise extract sqlite:people.db --query 'SELECT salary, town FROM rich' --into rich.arrow\n  equipoise extract people.csv --type born=date --into people.arrow\n\nIt reads private rows and is free; questions about the file are charged. A new extract takes the place of the old one,\nwith its name and budget."
    )]
    Extract(ExtractOptions),
    /// Any program, run on blocks of the records in a sandbox, and one private answer from all of theirs
    #[cfg(target_os = "linux")]
    #[command(after_help = crate::run::EXAMPLES)]
    Run(Box<crate::run::RunOptions>),
    /// Threshold questions about a file for ever, one a line: paid for once, and the same after a crash
    #[command(
        after_help = "Questions are JSON lines, answers too:\n  {\"where\": \"age > 40 and town = 'Ayr'\", \"threshold\": 1000}\n  {\"sum\": \"hours\", \"most\": 24, \"threshold\": 5000}  (with --sums; each record counts from 0 to most)\n\nExamples:\n  equipoise monitor people.csv questions.jsonl --epsilon 1 --delta 1e-6 --budget-per-unit 10\n  some-program | equipoise monitor visits.csv --unit person --epsilon 1 --delta 1e-6 --budget-per-unit 10\n\nStarted again with the same words and state file it goes on where it ended and charges nothing. A question that was\nunder way when the program ended is answered 'lost' and spends like a positive answer; ask it again as a new one."
    )]
    Monitor(MonitorOptions),
    /// Counts of a graph whose edges are rows: edges, triangles, stars, degrees, components
    #[command(after_help = GRAPH_EXAMPLES)]
    Graph(Box<GraphOptions>),
    /// One of some public options, by a score that the rows add up to
    #[command(after_help = CHOOSE_EXAMPLES)]
    Choose(Box<ChooseOptions>),
    /// Which numbers of a stream lie above a threshold, until so many did: paid for once, the others are free
    #[command(after_help = ABOVE_THRESHOLD_EXAMPLES)]
    AboveThreshold(AboveThresholdOptions),
    /// Means from training rows, corrected by a holdout that many questions do not wear out
    #[command(after_help = HOLDOUT_EXAMPLES)]
    Holdout(HoldoutOptions),
    /// The ledger: what was spent, limits, and a proof that nothing was changed
    Budget(BudgetOptions),
    /// A paragraph about a release, for a paper or a privacy board
    #[command(after_help = "Example:\n  equipoise explain 3f9a2c")]
    Explain(ExplainOptions),
    /// Answers about a stream that stay right while users react to them: distinct, f2, point, min-cut
    Robust(crate::robust::RobustOptions),
    /// Attack every privacy claim exactly, and a zoo of broken mechanisms that must be caught
    #[command(
        after_help = "Examples:\n  equipoise audit\n  equipoise audit --only laplace --json\n  equipoise audit --list\n  equipoise audit --sampled\n  equipoise audit --compare with-me.txt without-me.txt --epsilon 1\n\nExit code 0 only when every claim holds and every zoo entry is caught."
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
    /// A server that analysts ask over HTTP, with pages; hands over to equipoise-server
    #[command(
        disable_help_flag = true,
        after_help = "Examples:\n  equipoise serve --demo\n  equipoise serve --data /srv/data --first-steward sam\n  equipoise serve --help"
    )]
    Serve(ServeOptions),
    /// Members of a cluster that makes relations of several tables; hands over to equipoise-sql
    #[command(
        disable_help_flag = true,
        after_help = "Examples:\n  equipoise cluster scheduler --listen 10.0.0.1:50050 --certificates /etc/equipoise\n  equipoise cluster executor --scheduler 10.0.0.1:50050 --listen 10.0.0.2:50051 --certificates /etc/equipoise\n  equipoise cluster --help"
    )]
    Cluster(ClusterOptions),
    /// Completions for a shell: bash, zsh, fish, elvish or powershell
    #[command(
        after_help = "Example:\n  equipoise completions bash > ~/.local/share/bash-completion/completions/equipoise"
    )]
    Completions(CompletionsOptions),
    /// The manual page, or all of them into a folder
    #[command(
        after_help = "Examples:\n  equipoise man | man -l -\n  equipoise man --folder ~/.local/share/man/man1"
    )]
    Man(ManOptions),
}
