//! A session with a server: one transaction that reads and never writes, on a thread and a runtime of its own.

use crate::{
    catalogue::{self, Column, Table},
    settings::Settings,
};
use equipoise_engine::remote::{ServerProblem, TableName};
use equipoise_session::quiet::quietly;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject as _},
};
use std::{sync::Arc, thread, time::Duration};
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinHandle,
    time::timeout,
};
use tokio_postgres::{Client, Config, Error, NoTls, Socket, config::SslMode, tls::MakeTlsConnect};
use tokio_postgres_rustls::MakeRustlsConnect;

/// A server that says nothing is given up after so long while its catalogues are asked.
const PATIENCE: Duration = Duration::from_mins(1);

/// One snapshot of everything, read in one way whatever the table is like: which plan is taken, where a scan begins and how many workers
/// share it would otherwise follow statistics of the rows. Locals, because a pool may give the connection to somebody else afterwards.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL search_path = '';
SET LOCAL row_security = off;
SET LOCAL synchronize_seqscans = off;
SET LOCAL enable_seqscan = on;
SET LOCAL enable_indexscan = off;
SET LOCAL enable_indexonlyscan = off;
SET LOCAL enable_bitmapscan = off;
SET LOCAL max_parallel_workers_per_gather = 0;
SET LOCAL jit = off;
SET LOCAL lock_timeout = '60s';
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0";

/// A connection in a transaction.
pub(crate) struct Session {
    pub client: Client,
    runtime: Runtime,
    line: JoinHandle<()>,
}

/// Work on a thread of its own: whoever calls may be in a runtime already, which cannot wait for another one.
pub(crate) fn apart<T: Send>(
    work: impl FnOnce() -> Result<T, ServerProblem> + Send,
) -> Result<T, ServerProblem> {
    thread::scope(|scope| {
        let thread = scope.spawn(|| quietly(|| Ok(work())).unwrap_or(Err(ServerProblem::Failed)));
        thread.join().unwrap_or(Err(ServerProblem::Failed))
    })
}

impl Session {
    /// Connect, and begin.
    pub fn begin(settings: &Settings) -> Result<Self, ServerProblem> {
        let session = Self::connect(settings)?;
        session.wait(session.client.batch_execute(BEGIN))?;
        Ok(session)
    }

    /// Connect, outside of any transaction.
    pub fn connect(settings: &Settings) -> Result<Self, ServerProblem> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|_| ServerProblem::Failed)?;
        let mut config = Config::new();
        config.host(&settings.host).port(settings.port).dbname(&settings.database);
        config.application_name("equipoise").connect_timeout(settings.patience);
        // A line that died in the middle of a read is noticed in minutes.
        config.keepalives_idle(Duration::from_mins(1)).keepalives_interval(Duration::from_secs(15));
        if let Some(user) = &settings.user {
            config.user(user);
        }
        if let Some(password) = &settings.password {
            config.password(password);
        }
        let (client, line) = if settings.encrypted {
            config.ssl_mode(SslMode::Require);
            connected(&runtime, &config, MakeRustlsConnect::new(trusting(settings)?), settings.patience)?
        } else {
            config.ssl_mode(SslMode::Disable);
            connected(&runtime, &config, NoTls, settings.patience)?
        };
        Ok(Self { client, runtime, line })
    }

    /// What the server says to this, within a minute.
    fn wait<T>(&self, asked: impl Future<Output = Result<T, Error>>) -> Result<T, ServerProblem> {
        let asked = self.runtime.block_on(async { timeout(PATIENCE, asked).await });
        asked.map_err(|_| ServerProblem::Unreachable)?.map_err(|error| problem(&error))
    }

    /// The table of this name, if it can be asked about.
    pub fn table(&self, name: Option<&TableName>) -> Result<Table, ServerProblem> {
        let table =
            self.runtime.block_on(async { timeout(PATIENCE, catalogue::table(&self.client, name)).await });
        table.map_err(|_| ServerProblem::Unreachable)?
    }

    /// The columns of a query, and whether texts come as they are stored.
    pub fn query(&self, query: &str) -> Result<(Vec<Column>, bool), ServerProblem> {
        let columns =
            self.runtime.block_on(async { timeout(PATIENCE, catalogue::query(&self.client, query)).await });
        columns.map_err(|_| ServerProblem::Unreachable)?
    }

    /// Do this with the connection, however long it takes.
    pub fn run<T>(&self, work: impl AsyncFnOnce(&Client) -> T) -> T {
        self.runtime.block_on(work(&self.client))
    }

    /// Take leave of the server, so that it does not wonder.
    pub fn end(self) {
        let Self { client, runtime, line } = self;
        drop(client);
        let _ = runtime.block_on(async { timeout(Duration::from_secs(1), line).await });
        runtime.shutdown_background();
    }
}

/// A connection, and what keeps it going.
fn connected<T>(
    runtime: &Runtime,
    config: &Config,
    tls: T,
    patience: Duration,
) -> Result<(Client, JoinHandle<()>), ServerProblem>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    runtime.block_on(async {
        let connected = timeout(patience, config.connect(tls)).await;
        let connected = connected.map_err(|_| ServerProblem::Unreachable)?;
        let (client, line) = connected.map_err(|error| problem(&error))?;
        Ok((client, tokio::spawn(async { drop(line.await) })))
    })
}

/// What is wrong, by the code of an error and by the kind that the driver calls it; never by what the server says.
fn problem(error: &Error) -> ServerProblem {
    if let Some(code) = error.code() {
        return match code.code() {
            "3D000" => ServerProblem::NoDatabase,
            "42501" => ServerProblem::NotPermitted,
            code if code.starts_with("28") => ServerProblem::Refused,
            code if code.starts_with("53") || code.starts_with("57P") => ServerProblem::Busy,
            _ => ServerProblem::Failed,
        };
    }
    // Fixed words of the driver: its kinds have no other name.
    match error.to_string().as_str() {
        "error performing TLS handshake" => ServerProblem::NoTls,
        "authentication error" | "invalid configuration" => ServerProblem::Refused,
        _ => ServerProblem::Unreachable,
    }
}

/// Certificates of these authorities, or of those that the system trusts.
fn trusting(settings: &Settings) -> Result<ClientConfig, ServerProblem> {
    let mut roots = RootCertStore::empty();
    match &settings.authorities {
        Some(file) => {
            let found = CertificateDer::pem_file_iter(file).map_err(|_| ServerProblem::Certificates)?;
            for certificate in found {
                let certificate = certificate.map_err(|_| ServerProblem::Certificates)?;
                roots.add(certificate).map_err(|_| ServerProblem::Certificates)?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|_| ServerProblem::NoTls)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
