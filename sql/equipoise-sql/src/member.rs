//! `equipoise cluster`: the scheduler and the executors that make relations of several tables, as programs.

use clap::{Args, Parser, Subcommand};
use equipoise_sql_cluster::{Membership, Refused, executor, scheduler};
use std::{ffi::OsString, net::SocketAddr, path::PathBuf, process::ExitCode};
use tokio::runtime::Builder;

const EXAMPLES: &str = "Examples, on one host:
  equipoise cluster scheduler
  equipoise cluster executor
  equipoise sql --cluster 127.0.0.1:50050 \"SELECT ..\"
On several, with certificates (docs/sql-cluster.md makes them):
  equipoise cluster scheduler --listen 10.0.0.1:50050 --certificates /etc/equipoise
  equipoise cluster executor --scheduler 10.0.0.1:50050 --listen 10.0.0.2:50051 --certificates /etc/equipoise
  equipoise sql --cluster 10.0.0.1:50050 --certificates /etc/equipoise \"SELECT ..\"
Whoever reaches a member reads private rows, or plans about them: keep analysts away from all of them.";

/// Members of a cluster that makes relations of several tables.
#[derive(Parser, Debug)]
#[command(name = "equipoise cluster", version, max_term_width = 100, arg_required_else_help = true, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    member: Member,
}

#[derive(Subcommand, Debug)]
enum Member {
    /// Splits plans into tasks; one for each cluster
    Scheduler(SchedulerOptions),
    /// Runs tasks; one for each host
    Executor(ExecutorOptions),
}

#[derive(Args, Debug)]
struct Certified {
    /// The folder with this member's certificates: ca.pem, member.pem, member.key. Without it, this host alone
    #[arg(long, value_name = "FOLDER")]
    certificates: Option<PathBuf>,
}

impl Certified {
    fn members(&self) -> Result<Membership, Refused> {
        match &self.certificates {
            None => Ok(Membership::of_this_host()),
            Some(folder) => Membership::of_folder(folder),
        }
    }
}

#[derive(Args, Debug)]
struct SchedulerOptions {
    /// Where executors and coordinators reach it
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50050")]
    listen: SocketAddr,
    #[command(flatten)]
    certified: Certified,
}

#[derive(Args, Debug)]
struct ExecutorOptions {
    /// The scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    scheduler: String,
    /// Where other members reach it; port 0 is any free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Where it makes the folder for what tasks write, which is its own and goes with it [default: the system's temporary folder]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// How many tasks run side by side [default: one for each core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// How much memory all tasks may use together, in mebibytes; what does not fit is spilled
    #[arg(long, value_name = "MEBIBYTES", default_value_t = 4096)]
    memory: u64,
    #[command(flatten)]
    certified: Certified,
}

/// Run a member until it is told to end. The first word is the program, the second `cluster`.
pub fn main(words: Vec<OsString>) -> ExitCode {
    let words = words.into_iter().enumerate().filter(|(place, _)| *place != 1).map(|(_, word)| word);
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    match run(&arguments.member) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refused) => {
            eprintln!("equipoise: {refused}");
            ExitCode::from(2)
        }
    }
}

fn run(member: &Member) -> Result<(), Refused> {
    // Nothing that rows can decide is ever printed by a member: no panic says what it was about.
    std::panic::set_hook(Box::new(|_| eprintln!("equipoise: a task ended early; its answer is lost")));
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(|error| Refused {
        problem: format!("no thread could be started ({})", error.kind()),
        next: "try again".to_string(),
    })?;
    match member {
        Member::Scheduler(options) => {
            let members = options.certified.members()?;
            let ready = |address| println!("scheduler at {address}");
            runtime.block_on(scheduler::run(options.listen, &members, ready))
        }
        Member::Executor(options) => {
            let members = options.certified.members()?;
            let settings = executor::Settings {
                scheduler: options.scheduler.clone(),
                listen: options.listen,
                folder: options.folder.clone(),
                threads: options.threads,
                memory: options.memory << 20,
            };
            runtime.block_on(executor::run(&settings, &members, |address| println!("executor at {address}")))
        }
    }
}
