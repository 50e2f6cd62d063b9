//! Who may speak with whom: members of one cluster, which hold certificates of one authority.
//!
//! Every member shows its certificate to every other one, in both directions. All certificates have one name, `equipoise-cluster`, so that one
//! fits any host; what makes a member is the authority, which signs nothing else. Without certificates a member speaks and listens on its
//! own host alone.

use ballista_core::extension::EndpointOverrideFn;
use std::{fmt, fs, net::IpAddr, path::Path, sync::Arc, time::Duration};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, Server, ServerTlsConfig};

/// The name that every certificate of a member has.
pub const NAME: &str = "equipoise-cluster";

/// What a folder of certificates holds.
const FILES: [&str; 3] = ["ca.pem", "member.pem", "member.key"];

/// The largest message, in bytes: a plan, or a piece of rows.
pub const MESSAGE_BYTES: usize = 16 << 20;

/// So many bytes may be under way before the receiver has to say that it has read some.
const WINDOW_BYTES: u32 = 8 << 20;

/// Why a cluster is not there, not to be spoken with, or cannot make a relation. It depends on no row. `Display` is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong.
    pub problem: String,
    /// What to do next.
    pub next: String,
}

impl Refused {
    pub(crate) fn new(problem: impl Into<String>, next: impl Into<String>) -> Self {
        Self { problem: problem.into(), next: next.into() }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem, self.next)
    }
}

impl std::error::Error for Refused {}

/// What a member shows and asks for. Clones share it.
#[derive(Clone)]
pub struct Membership {
    certificates: Option<Arc<Certificates>>,
}

struct Certificates {
    authority: Certificate,
    own: Identity,
}

impl fmt::Debug for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Membership").field("encrypted", &self.is_encrypted()).finish()
    }
}

impl Membership {
    /// A member that speaks on its own host alone.
    pub fn of_this_host() -> Self {
        Self { certificates: None }
    }

    /// A member with the certificates of a folder: `ca.pem`, `member.pem`, `member.key`.
    pub fn of_folder(folder: &Path) -> Result<Self, Refused> {
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read(&path).map_err(|error| {
                Refused::new(
                    format!("'{}' could not be read ({})", path.display(), error.kind()),
                    format!("give a folder with {}, as docs/sql-cluster.md makes one", FILES.join(", ")),
                )
            })
        };
        let [authority, certificate, key] = [read(FILES[0])?, read(FILES[1])?, read(FILES[2])?];
        let certificates = Certificates {
            authority: Certificate::from_pem(authority),
            own: Identity::from_pem(certificate, key),
        };
        let this = Self { certificates: Some(Arc::new(certificates)) };
        // What is no certificate is found out here, before anything listens.
        let readable = this.endpoint("127.0.0.1:1").is_ok() && this.server().is_ok();
        if readable {
            Ok(this)
        } else {
            Err(Refused::new(
                format!("the files in '{}' are no certificates and key in PEM", folder.display()),
                "make them as docs/sql-cluster.md does",
            ))
        }
    }

    /// Does it speak encrypted, and with members alone?
    pub fn is_encrypted(&self) -> bool {
        self.certificates.is_some()
    }

    /// May it speak with, or listen at, this address?
    pub fn allows(&self, address: IpAddr) -> Result<(), Refused> {
        if self.is_encrypted() || address.is_loopback() {
            return Ok(());
        }
        Err(Refused::new(
            format!(
                "{address} is not of this host alone, and members of a cluster speak with other hosts only with certificates"
            ),
            "add --certificates FOLDER",
        ))
    }

    /// How another member is spoken to.
    pub(crate) fn endpoint(&self, address: &str) -> Result<Endpoint, tonic::transport::Error> {
        let scheme = if self.is_encrypted() { "https" } else { "http" };
        let endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))?
            .connect_timeout(Duration::from_secs(10))
            .tcp_nodelay(true)
            // Rows come in large pieces: with the usual 64 KiB a busy host waits for itself after each of them.
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(2 * WINDOW_BYTES)
            // A peer that vanishes without a word is noticed.
            .http2_keep_alive_interval(Duration::from_secs(5))
            .keep_alive_timeout(Duration::from_secs(10))
            .keep_alive_while_idle(true);
        match &self.certificates {
            None => Ok(endpoint),
            Some(certificates) => endpoint.tls_config(
                ClientTlsConfig::new()
                    .ca_certificate(certificates.authority.clone())
                    .identity(certificates.own.clone())
                    .domain_name(NAME),
            ),
        }
    }

    /// The same for connections that the engine makes by itself.
    pub(crate) fn endpoints(&self) -> EndpointOverrideFn {
        let this = self.clone();
        Arc::new(move |endpoint| {
            let address = endpoint.uri().authority().map(ToString::to_string).unwrap_or_default();
            Ok(this.endpoint(&address)?)
        })
    }

    /// A server that answers members alone.
    pub(crate) fn server(&self) -> Result<Server, tonic::transport::Error> {
        let server = Server::builder()
            .tcp_nodelay(true)
            .http2_keepalive_interval(Some(Duration::from_secs(5)))
            .http2_keepalive_timeout(Some(Duration::from_secs(10)));
        match &self.certificates {
            None => Ok(server),
            Some(certificates) => server.tls_config(
                ServerTlsConfig::new()
                    .identity(certificates.own.clone())
                    .client_ca_root(certificates.authority.clone()),
            ),
        }
    }
}
