//! Sockets: a bounded number of connections, each with a bounded time for its headers, behind TLS where a certificate is given.

use crate::log;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use std::{future::Future, io, path::Path, pin::pin, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

/// So many connections are open at once; others wait in the queue of the operating system.
pub const MOST_CONNECTIONS: usize = 4096;
/// How long headers, or a handshake, may take to come.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// How long a connection may be open: longer than any answer is waited for, events included, and not for ever.
const CONNECTION_TIME: Duration = Duration::from_hours(1);
/// How long connections have to end when the server does.
const ENDING_TIME: Duration = Duration::from_secs(5);

/// The certificate and the key of a server.
pub fn tls(certificate: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let unreadable = |what: &str, error: &dyn std::fmt::Display| {
        format!("{what} cannot be read ({error}); give a PEM file")
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| unreadable("the certificate", &error))?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable("the key", &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| format!("the certificate does not fit the key ({error})"))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Answer connections until this future ends.
pub async fn serve(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    until: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut until = pin!(until);
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut until => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                refused(&error).await;
                continue;
            }
        };
        let (router, acceptor) = (router.clone(), acceptor.clone());
        tokio::spawn(async move {
            let _ = timeout(CONNECTION_TIME, connection(stream, acceptor, router)).await;
            drop(place);
        });
    }
    let all = u32::try_from(MOST_CONNECTIONS).unwrap_or(u32::MAX);
    let _ = timeout(ENDING_TIME, places.acquire_many(all)).await;
}

/// Where a connection cannot be taken, as when there are no file descriptors left, the next is tried a little later.
async fn refused(error: &io::Error) {
    log::failure(&format!("a connection could not be taken: {}", error.kind()));
    tokio::time::sleep(Duration::from_millis(50)).await;
}

async fn connection(stream: TcpStream, acceptor: Option<TlsAcceptor>, router: Router) {
    // Small answers go out at once.
    let _ = stream.set_nodelay(true);
    match acceptor {
        None => requests(stream, router).await,
        Some(acceptor) => {
            if let Ok(Ok(stream)) = timeout(HEADER_TIME, acceptor.accept(stream)).await {
                requests(stream, router).await;
            }
        }
    }
}

async fn requests(stream: impl AsyncRead + AsyncWrite + Unpin + Send, router: Router) {
    // Whatever goes wrong with a connection is its own affair.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .await;
}
