//! An executor: it asks the scheduler for tasks, runs them, and hands what they wrote to other executors and the coordinator.
//!
//! What tasks write lies in a folder that this account alone reads. It goes with its job, at the latest after an hour, and with the executor;
//! what a killed executor left goes when another one starts in the same place.

use crate::{
    counted::CountingEngine,
    engine::{Codec, registry, settings},
    members::{MESSAGE_BYTES, Membership, Refused},
    spool,
};
use arrow_flight::flight_service_server::FlightServiceServer;
use ballista_core::{config::TaskSchedulingPolicy, error::BallistaError};
use ballista_executor::{
    ArrowFlightServerProvider,
    executor_process::{ExecutorProcessConfig, start_executor_process},
    flight_service::BallistaFlightService,
};
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    net::{SocketAddr, TcpListener},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::TempDir;

/// How the folders of executors begin.
const PREFIX: &str = "equipoise-executor-";
/// The file that a running executor holds locked.
const LOCK: &str = "lock";
/// The folder with one folder for each job.
const ROWS: &str = "rows";
/// What no job has written to for so many seconds is removed.
const KEPT_SECONDS: u64 = 3_600;
const CLEANED_EVERY_SECONDS: u64 = 60;

/// What an executor is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The scheduler, as `HOST:PORT`.
    pub scheduler: String,
    /// Where other members reach it; port 0 is any.
    pub listen: SocketAddr,
    /// Where it makes its folder; the system's temporary one unless it is said.
    pub folder: Option<PathBuf>,
    /// How many tasks run side by side; 0 is one for each core.
    pub threads: usize,
    /// Bytes of memory for all tasks together; what does not fit is spilled.
    pub memory: u64,
}

fn failed(error: impl std::fmt::Display) -> Refused {
    Refused::new(format!("the executor could not start: {error}"), "look at --listen and --folder")
}

/// A folder of this executor, and its lock.
struct Own {
    folder: TempDir,
    _lock: File,
}

/// Make a folder for this executor, and remove those of executors that are gone.
fn own_folder(inside: &Path) -> std::io::Result<Own> {
    for entry in fs::read_dir(inside)?.flatten() {
        let named = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // Another account's cannot be opened, and stays.
        if named && let Ok(lock) = OpenOptions::new().write(true).open(entry.path().join(LOCK)) {
            match lock.try_lock() {
                Ok(()) => drop(fs::remove_dir_all(entry.path())),
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
            }
        }
    }
    let folder = spool::own_folder(PREFIX, inside)?;
    // Locked before it has its name: an executor that starts now must not take this one for gone.
    let unnamed = folder.path().join("lock.new");
    let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unnamed)?;
    lock.try_lock().map_err(std::io::Error::other)?;
    fs::rename(&unnamed, folder.path().join(LOCK))?;
    fs::create_dir(folder.path().join(ROWS))?;
    Ok(Own { folder, _lock: lock })
}

/// Run tasks until the process is told to end, or its services fail. `ready` is called before it first asks for work.
pub async fn run(
    settings_of: &Settings,
    members: &Membership,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), Refused> {
    members.allows(settings_of.listen.ip())?;
    let mut listen = settings_of.listen;
    if listen.port() == 0 {
        // Ballista tells others its port before it listens: a free one is looked for.
        listen = TcpListener::bind(listen).and_then(|listener| listener.local_addr()).map_err(failed)?;
    }
    let (host, port) = split(&settings_of.scheduler)?;
    let inside = settings_of.folder.clone().unwrap_or_else(std::env::temp_dir);
    let own = own_folder(&inside).map_err(failed)?;
    let folder = own.folder.path().join(ROWS);
    let folder = folder.to_str().ok_or_else(|| failed("its folder's name is no text"))?;
    let of_tasks = members.clone();
    let message = u32::try_from(MESSAGE_BYTES).unwrap_or(u32::MAX);
    let config = ExecutorProcessConfig {
        bind_host: listen.ip().to_string(),
        external_host: Some(listen.ip().to_string()),
        port: listen.port(),
        grpc_port: listen.port(),
        scheduler_host: host,
        scheduler_port: port,
        scheduler_connect_timeout_seconds: 30,
        vcores: settings_of.threads,
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        work_dir: Some(folder.to_string()),
        job_data_ttl_seconds: KEPT_SECONDS,
        job_data_clean_up_interval_seconds: CLEANED_EVERY_SECONDS,
        grpc_max_decoding_message_size: message,
        grpc_max_encoding_message_size: message,
        memory_pool_size: Some(settings_of.memory),
        override_execution_engine: Some(Arc::new(CountingEngine::default())),
        override_function_registry: Some(Arc::new(registry(settings(members)).map_err(failed)?)),
        override_config_producer: Some(Arc::new(move || settings(&of_tasks))),
        override_physical_codec: Some(Arc::new(Codec::new(members))),
        override_arrow_flight_service: Some(rows(members)),
        override_create_grpc_client_endpoint: Some(members.endpoints()),
        ..ExecutorProcessConfig::default()
    };
    ready(listen);
    start_executor_process(Arc::new(config)).await.map_err(|error| match error {
        // No word of tasks is in these.
        BallistaError::GrpcConnectionError(_) | BallistaError::General(_) => silent(&settings_of.scheduler),
        _ => Refused::new("the executor ended", "start it again"),
    })
}

/// Nobody is there.
pub(crate) fn silent(scheduler: &str) -> Refused {
    Refused::new(
        format!("no scheduler answered at {scheduler}"),
        format!("start one there: equipoise cluster scheduler --listen {scheduler}"),
    )
}

/// Host and port of an address.
pub(crate) fn split(address: &str) -> Result<(String, u16), Refused> {
    let parts = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    match parts {
        Some((host, port)) if !host.is_empty() => Ok((host.to_string(), port)),
        _ => Err(Refused::new(format!("'{address}' is no HOST:PORT"), "write one, as in 127.0.0.1:50050")),
    }
}

/// What tasks wrote, for members alone.
fn rows(members: &Membership) -> Arc<ArrowFlightServerProvider> {
    let members = members.clone();
    Arc::new(move |folder, address, mut shutdown, _| {
        let members = members.clone();
        tokio::spawn(async move {
            let service = FlightServiceServer::new(BallistaFlightService::new(folder))
                .max_decoding_message_size(MESSAGE_BYTES)
                .max_encoding_message_size(MESSAGE_BYTES);
            let server = members.server().map_err(BallistaError::TonicError)?.add_service(service);
            let ended = async move {
                shutdown.recv().await;
            };
            server.serve_with_shutdown(address, ended).await.map_err(BallistaError::TonicError)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// What a killed executor left goes; what a running one has stays.
    #[test]
    fn folders_of_executors_that_are_gone_are_removed() {
        let inside = tempfile::tempdir().unwrap();
        let running = own_folder(inside.path()).unwrap();
        let mode = fs::metadata(running.folder.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let killed = inside.path().join(format!("{PREFIX}killed"));
        fs::create_dir_all(killed.join("job")).unwrap();
        fs::write(killed.join(LOCK), "").unwrap();
        fs::create_dir(inside.path().join("other")).unwrap();
        let second = own_folder(inside.path()).unwrap();
        assert!(running.folder.path().exists() && second.folder.path().exists());
        assert!(!killed.exists());
        assert!(inside.path().join("other").exists());
    }

    #[test]
    fn addresses_have_a_host_and_a_port() {
        assert_eq!(split("db.example:50050").unwrap(), ("db.example".to_string(), 50050));
        assert!(["db.example", ":50050", "db:port", ""].iter().all(|address| split(address).is_err()));
    }
}
