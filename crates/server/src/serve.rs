//! Sockets: a bounded number of connections, each with a bounded time for its headers, behind TLS where a certificate is given.
//!
//! Where all places are taken, the oldest connection over which no member has asked for anything yet gives way to a new one: many
//! that say nothing keep nobody waiting.

use crate::{http::Known, log};
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
use std::{
    collections::BTreeMap,
    future::Future,
    io,
    path::Path,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, oneshot},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

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

/// Connections over which no member has asked for anything yet, the oldest first; each can be told to end.
#[derive(Default)]
struct Strangers(Mutex<BTreeMap<u64, oneshot::Sender<()>>>);

impl Strangers {
    fn come(&self, number: u64) -> oneshot::Receiver<()> {
        let (tell, told) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(number, tell);
        told
    }

    /// It is over, or a member's.
    fn leave(&self, number: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }

    /// The oldest gives way.
    fn make_room(&self) {
        let oldest = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_first();
        if let Some((_, tell)) = oldest {
            // One that ended meanwhile has made room already.
            let _ = tell.send(());
        }
    }
}

/// Answer connections until this future ends.
pub async fn serve(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    until: impl Future<Output = ()>,
) {
    let (places, strangers) = (Arc::new(Semaphore::new(MOST_CONNECTIONS)), Arc::new(Strangers::default()));
    let mut until = pin!(until);
    for number in 0.. {
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
        if places.available_permits() == 0 {
            strangers.make_room();
        }
        let place = tokio::select! {
            place = places.clone().acquire_owned() => place,
            () = &mut until => break,
        };
        let Ok(place) = place else { return };
        let (router, acceptor, strangers) = (router.clone(), acceptor.clone(), strangers.clone());
        let gone = strangers.come(number);
        tokio::spawn(async move {
            let known = strangers.clone();
            let work = connection(stream, acceptor, router, move || known.leave(number));
            tokio::select! {
                _ = timeout(CONNECTION_TIME, work) => {}
                () = told(gone) => {}
            }
            strangers.leave(number);
            drop(place);
        });
    }
    let all = u32::try_from(MOST_CONNECTIONS).unwrap_or(u32::MAX);
    let _ = timeout(ENDING_TIME, places.acquire_many(all)).await;
}

/// Until a connection is told to end; one that nobody can tell any more goes on.
async fn told(gone: oneshot::Receiver<()>) {
    if gone.await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Where a connection cannot be taken, as when there are no file descriptors left, the next is tried a little later.
async fn refused(error: &io::Error) {
    log::failure(&format!("a connection could not be taken: {}", error.kind()));
    tokio::time::sleep(Duration::from_millis(50)).await;
}

async fn connection(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    known: impl Fn() + Clone + Send + Sync + 'static,
) {
    // Small answers go out at once.
    let _ = stream.set_nodelay(true);
    match acceptor {
        None => requests(stream, router, known).await,
        Some(acceptor) => {
            if let Ok(Ok(stream)) = timeout(HEADER_TIME, acceptor.accept(stream)).await {
                requests(stream, router, known).await;
            }
        }
    }
}

/// Answer the requests of a connection; `known` is called when a member has sent one.
async fn requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send,
    router: Router,
    known: impl Fn() + Clone + Send + Sync + 'static,
) {
    let router = ServiceExt::<hyper::Request<hyper::body::Incoming>>::map_response(
        router,
        move |response: axum::response::Response| {
            if response.extensions().get::<Known>().is_some() {
                known();
            }
            response
        },
    );
    // Whatever goes wrong with a connection is its own affair.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .await;
}
