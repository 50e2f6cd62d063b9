//! The `equipoise-server` command.

#![forbid(unsafe_code)]

use clap::{Args, Parser, Subcommand};
use equipoise_server::{
    acts::review::bound,
    app, backup, demo, metrics,
    rate::Rates,
    serve,
    sink::{SYSLOG, Sink},
    state::{Settings, State},
    store::Role,
};
use equipoise_session::ledger::is_address;
use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
};
use tokio::net::TcpListener;

/// Private answers over HTTP.
#[derive(Parser)]
#[command(name = "equipoise-server", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server
    Serve(Box<Options>),
    /// Back the server's directory up, or put a backup back
    #[command(subcommand)]
    Ledger(Books),
}

#[derive(Subcommand)]
enum Books {
    /// Copy ledger, members and monitors to a new folder; the server may go on meanwhile
    Backup {
        /// The folder to make
        #[arg(value_name = "TO")]
        to: PathBuf,
        #[command(flatten)]
        place: Place,
    },
    /// Put a backup back, with the server stopped; every limit then counts as spent unless a bound is stated
    Restore {
        /// The folder of the backup
        #[arg(value_name = "FROM")]
        from: PathBuf,
        #[command(flatten)]
        place: Place,
        /// Who puts it back, for the ledger
        #[arg(long, value_name = "NAME")]
        by: String,
        /// What was spent at most since the backup, on each data set and by each analyst
        #[arg(long, value_name = "E")]
        epsilon: Option<String>,
        /// The delta of that
        #[arg(long, value_name = "D", requires = "epsilon")]
        delta: Option<String>,
        /// The file of heads that the server is started with, which has later ones: the new head is written there
        #[arg(long, value_name = "FILE")]
        head_file: Option<PathBuf>,
    },
}

#[derive(Args)]
struct Place {
    /// The server's own folder
    #[arg(long, value_name = "DIR", env = "EQUIPOISE_SERVER_DIRECTORY", default_value = "equipoise-server")]
    directory: PathBuf,
}

/// How the server runs.
#[derive(Args)]
struct Options {
    /// Its own folder: ledger and members
    #[arg(
        long,
        value_name = "DIR",
        env = "EQUIPOISE_SERVER_DIRECTORY",
        default_value = "equipoise-server",
        conflicts_with = "demo"
    )]
    directory: PathBuf,
    /// A ledger in a database that several hosts share, as in postgres://ROLE@HOST/DATABASE; else it is a file in that folder
    #[arg(long, value_name = "ADDRESS", conflicts_with = "demo")]
    ledger: Option<PathBuf>,
    /// A folder below which data may be registered, or a database whose tables may be, as in postgres://ROLE@HOST/DATABASE; can be
    /// given several times
    #[arg(long, value_name = "DIR", conflicts_with = "demo")]
    data: Vec<PathBuf>,
    /// A folder of programs, of which stewards may allow some to run on blocks of the data; can be given several times
    #[arg(long, value_name = "DIR", conflicts_with = "demo")]
    programs: Vec<PathBuf>,
    /// Where it listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8470")]
    listen: SocketAddr,
    /// How browsers reach it, such as https://answers.example.org
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// The certificate for HTTPS, a PEM file
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// Its key, a PEM file
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// A proxy before it speaks HTTPS: listen beyond this machine without a certificate
    #[arg(long, requires = "public_url")]
    behind_proxy: bool,
    /// Print a link with which this steward signs in once
    #[arg(long, value_name = "NAME")]
    first_steward: Option<String>,
    /// Plans a minute for each member
    #[arg(long, value_name = "N", default_value_t = Rates::default().plans)]
    plans_a_minute: u32,
    /// Questions a minute for each member
    #[arg(long, value_name = "N", default_value_t = Rates::default().questions)]
    questions_a_minute: u32,
    /// Write the head of the ledger to this file at every commit; keep it on another disk
    #[arg(long, value_name = "FILE")]
    head_file: Option<PathBuf>,
    /// Write the head of the ledger to the system's log at every commit
    #[arg(long)]
    head_syslog: bool,
    /// Serve counts for Prometheus at an address of this machine, such as 127.0.0.1:9470
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<SocketAddr>,
    /// Start with example data, a steward, an analyst and a reviewer, and print their links
    #[arg(long)]
    demo: bool,
}

fn main() -> ExitCode {
    // Started by itself as the keeper of a sandbox.
    if let Some(code) = equipoise_runner::sandbox::take_part() {
        return ExitCode::from(code);
    }
    equipoise_postgres::install();
    let done = match Arguments::parse().command {
        Command::Serve(options) => run(&options),
        Command::Ledger(books) => keep(&books),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(line) => {
            eprintln!("equipoise-server: {}", equipoise_core::wording::line(&line));
            ExitCode::from(2)
        }
    }
}

fn keep(books: &Books) -> Result<(), String> {
    match books {
        Books::Backup { to, place } => {
            let head = backup::back_up(&place.directory, to)?;
            println!("backed up; keep its head elsewhere too:\n{head}");
        }
        Books::Restore { from, place, by, epsilon, delta, head_file } => {
            let bound = bound(epsilon.as_deref(), delta.as_deref())?;
            let head = backup::restore(&place.directory, from, by, bound.as_ref())?;
            if let Some(file) = head_file {
                // What is missing is counted: the server does not ask for it once more.
                drop(Sink::File(file.clone()).follow(Some(&head))?);
            }
            println!(
                "put back; the ledger says so and counts what is missing; links and sessions of the backup are worth nothing, so start with --first-steward:\n{head}"
            );
        }
    }
    Ok(())
}

fn run(options: &Options) -> Result<(), String> {
    if options.metrics.is_some_and(|address| !address.ip().is_loopback()) {
        return Err("metrics are for this machine alone; give an address such as 127.0.0.1:9470".to_string());
    }
    let acceptor = match (&options.certificate, &options.key) {
        (Some(certificate), Some(key)) => Some(serve::tls(certificate, key)?),
        _ => None,
    };
    let alone = options.listen.ip().is_loopback();
    if !alone && acceptor.is_none() && !options.behind_proxy {
        return Err(
            "an address beyond this machine needs --certificate and --key, or --behind-proxy".to_string()
        );
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let listener = TcpListener::bind(options.listen)
            .await
            .map_err(|error| format!("{} cannot be listened at: {error}", options.listen))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let temporary = options.demo.then(Temporary::new).transpose()?;
        let settings = settings(options, address, acceptor.is_some(), temporary.as_ref())?;
        let state = State::open(settings)?;
        let metrics = match options.metrics {
            None => None,
            Some(address) => {
                let listener = TcpListener::bind(address)
                    .await
                    .map_err(|error| format!("{address} cannot be listened at: {error}"))?;
                let (address, router) = (listener.local_addr(), metrics::router(state.clone()));
                tokio::spawn(serve::serve(listener, None, router, std::future::pending()));
                address.ok()
            }
        };
        greet(&state, options, metrics)?;
        serve::serve(listener, acceptor, app(state.clone()), ended()).await;
        state.desk.close();
        Ok(())
    })
}

/// The folder of a demonstration, which is removed with it.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("equipoise-demo-{}", std::process::id()));
        std::fs::create_dir(&folder)
            .map_err(|error| format!("no folder for the demo could be made: {error}"))?;
        for part in ["data", "programs"] {
            std::fs::create_dir(folder.join(part)).map_err(|error| error.to_string())?;
        }
        Ok(Self(folder))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn settings(
    options: &Options,
    address: SocketAddr,
    tls: bool,
    demo: Option<&Temporary>,
) -> Result<Settings, String> {
    let rates =
        Rates { plans: options.plans_a_minute, questions: options.questions_a_minute, ..Rates::default() };
    let scheme = if tls { "https" } else { "http" };
    let mut origins = match &options.public_url {
        Some(url) => vec![url.trim_end_matches('/').to_string()],
        None if address.ip().is_unspecified() => {
            return Err("say how browsers reach it with --public-url, such as https://answers.example.org"
                .to_string());
        }
        None => vec![format!("{scheme}://{address}")],
    };
    if !origins.iter().all(|origin| is_origin(origin)) {
        return Err("--public-url is a scheme and a host, such as https://answers.example.org".to_string());
    }
    // Cookies and tokens would go over the network for everybody to read.
    if (tls || !origins.iter().all(|origin| is_of_this_machine(origin)))
        && origins.iter().any(|origin| !origin.starts_with("https://"))
    {
        return Err("browsers beyond this machine reach it by HTTPS alone; begin --public-url with https://"
            .to_string());
    }
    if options.ledger.as_ref().is_some_and(|ledger| !is_address(ledger)) {
        return Err("--ledger takes the address of a database; a file lies in the server's own folder, which --directory names"
            .to_string());
    }
    let data = options.data.iter().filter(|data| !is_address(data));
    if let Some(folder) = data.chain(&options.programs).find(|folder| !folder.is_dir()) {
        return Err(format!("{} is no folder; make it, or name another", folder.display()));
    }
    if options.public_url.is_none() && matches!(address.ip(), IpAddr::V4(ip) if ip.is_loopback()) {
        origins.push(format!("{scheme}://localhost:{}", address.port()));
    }
    if options.data.is_empty() && demo.is_none() {
        return Err(
            "say below which folder data may be registered with --data; --demo needs none".to_string()
        );
    }
    let (directory, data, programs) = demo.map_or_else(
        || (options.directory.clone(), options.data.clone(), options.programs.clone()),
        |folder| (folder.0.join("server"), vec![folder.0.join("data")], vec![folder.0.join("programs")]),
    );
    let file = options.head_file.clone().map(Sink::File);
    let heads = file.into_iter().chain(options.head_syslog.then(|| Sink::Syslog(SYSLOG.into()))).collect();
    let ledger = options.ledger.clone().filter(|_| demo.is_none());
    Ok(Settings { directory, ledger, data, origins, rates, heads, programs, keeper: None })
}

/// A scheme and a host, without a path.
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-:[]".contains(c);
    host.is_some_and(|host| !host.is_empty() && host.chars().all(plain))
}

/// Is it an address by which only this machine reaches itself?
fn is_of_this_machine(origin: &str) -> bool {
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name);
    let ip = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

fn greet(
    state: &std::sync::Arc<State>,
    options: &Options,
    metrics: Option<SocketAddr>,
) -> Result<(), String> {
    let origin = state.settings.origins.first().map_or("", String::as_str);
    println!("listening at {origin}");
    if let Some(address) = metrics {
        println!("metrics at http://{address}/metrics");
    }
    if state.rollback.is_found() {
        println!(
            "the ledger is an older copy: nothing is charged until a steward says on the page Review what can be missing"
        );
    }
    if options.demo {
        let links = demo::prepare(state).map_err(|problem| problem.detail)?;
        println!("open one of these links; they are valid as long as this runs:");
        for (role, link) in links {
            println!("  {role:<8}  {link}");
        }
        println!("Ctrl-C ends it and removes everything");
    }
    let has_steward =
        state.store.members().iter().any(|member| member.active && member.role == Role::Steward);
    if !has_steward && options.first_steward.is_none() {
        println!("nobody can sign in yet: start it once with --first-steward NAME, which prints a link");
    }
    if let Some(name) = &options.first_steward {
        let link = state.first_steward(name).map_err(|problem| problem.detail)?;
        println!("{name} signs in once, within a week, with {link}");
    }
    Ok(())
}

/// Until Ctrl-C, or until the system asks for an end.
async fn ended() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminated) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}
