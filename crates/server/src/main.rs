//! The `equipoise-server` command.

#![forbid(unsafe_code)]

use clap::{Args, Parser, Subcommand};
use equipoise_server::{
    app, demo,
    rate::Rates,
    serve,
    state::{Settings, State},
};
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
    /// A folder below which data may be registered; can be given several times
    #[arg(long, value_name = "DIR", conflicts_with = "demo")]
    data: Vec<PathBuf>,
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
    /// Start with example data, a steward, an analyst and a reviewer, and print their links
    #[arg(long)]
    demo: bool,
}

fn main() -> ExitCode {
    let Arguments { command: Command::Serve(options) } = Arguments::parse();
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(line) => {
            eprintln!("equipoise-server: {}", equipoise_core::wording::line(&line));
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
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
        greet(&state, options)?;
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
        std::fs::create_dir(folder.join("data")).map_err(|error| error.to_string())?;
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
    if options.public_url.is_none() && matches!(address.ip(), IpAddr::V4(ip) if ip.is_loopback()) {
        origins.push(format!("{scheme}://localhost:{}", address.port()));
    }
    if options.data.is_empty() && demo.is_none() {
        return Err(
            "say below which folder data may be registered with --data; --demo needs none".to_string()
        );
    }
    let (directory, data) = demo.map_or_else(
        || (options.directory.clone(), options.data.clone()),
        |folder| (folder.0.join("server"), vec![folder.0.join("data")]),
    );
    Ok(Settings { directory, data, origins, rates })
}

/// A scheme and a host, without a path.
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']))
}

fn greet(state: &std::sync::Arc<State>, options: &Options) -> Result<(), String> {
    let origin = state.settings.origins.first().map_or("", String::as_str);
    println!("listening at {origin}");
    if options.demo {
        let links = demo::prepare(state).map_err(|problem| problem.detail)?;
        println!("open one of these links; they are valid as long as this runs:");
        for (role, link) in links {
            println!("  {role:<8}  {link}");
        }
        println!("Ctrl-C ends it and removes everything");
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
