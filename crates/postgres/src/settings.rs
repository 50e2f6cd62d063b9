//! Where a server is and as whom it is asked: what the address says, then a service of `~/.pg_service.conf`, then the environment, as libpq
//! has it.

use crate::password;
use equipoise_engine::remote::{AddressProblem, PostgresAddress, ServerProblem, text};
use std::{
    collections::BTreeMap,
    env, fmt, fs,
    net::IpAddr,
    path::{Path, PathBuf},
    time::Duration,
};

/// Where the socket of a server is where nobody says otherwise, in Debian and elsewhere.
const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];
const PORT: u16 = 5432;
/// A server that does not answer is waited for so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Settings, and what libpq calls them in the environment.
const ENVIRONMENT: [(&str, &str); 9] = [
    ("host", "PGHOST"),
    ("port", "PGPORT"),
    ("user", "PGUSER"),
    ("dbname", "PGDATABASE"),
    ("password", "PGPASSWORD"),
    ("passfile", "PGPASSFILE"),
    ("sslmode", "PGSSLMODE"),
    ("sslrootcert", "PGSSLROOTCERT"),
    ("connect_timeout", "PGCONNECT_TIMEOUT"),
];

/// A server and a role on it.
#[derive(Clone)]
pub(crate) struct Settings {
    /// A name, an address, or the folder of a socket.
    pub host: String,
    pub port: u16,
    /// Nothing for the user of this process.
    pub user: Option<String>,
    pub database: String,
    pub password: Option<String>,
    /// Is the line encrypted and the server's certificate checked?
    pub encrypted: bool,
    /// A file of authorities in place of the system's.
    pub authorities: Option<PathBuf>,
    pub patience: Duration,
}

/// A password is nobody's to see.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Of an address.
    pub fn of(address: &PostgresAddress) -> Result<Self, ServerProblem> {
        Self::among(address, &|name| env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn among(
        address: &PostgresAddress,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ServerProblem> {
        let typed = &address.settings;
        let service = match typed.get("service").cloned().or_else(|| variable("PGSERVICE")) {
            Some(name) => service(&name, variable)?,
            None => BTreeMap::new(),
        };
        let environment: BTreeMap<&str, String> =
            ENVIRONMENT.iter().filter_map(|(key, name)| Some((*key, variable(name)?))).collect();
        let get =
            |key: &str| typed.get(key).or_else(|| service.get(key)).or_else(|| environment.get(key)).cloned();
        let host = get("host").unwrap_or_else(nearest_socket);
        // The names of machines have no case, those of folders do.
        let host = if host.starts_with('/') { host } else { host.to_lowercase() };
        let port = get("port").map_or(Ok(PORT), |port| port.parse());
        let port = port.map_err(|_| ServerProblem::Address(AddressProblem::Unreadable))?;
        if host.contains(',') {
            return Err(ServerProblem::Address(AddressProblem::Unreadable));
        }
        let user = get("user");
        // As with libpq a database is called like its user where nobody says otherwise.
        let database = get("dbname").or_else(|| user.clone()).or_else(|| variable("USER"));
        let database = database.ok_or(ServerProblem::NoDatabase)?;
        let encrypted = match get("sslmode").as_deref() {
            None => !is_near(&host),
            Some("disable") => false,
            // Who asks for less gets more: without a certificate nobody knows whom the line leads to.
            Some("require" | "verify-ca" | "verify-full") => !host.starts_with('/'),
            Some(_) => return Err(ServerProblem::TlsMode),
        };
        let patience =
            get("connect_timeout").and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
        let settings = Self {
            encrypted,
            authorities: get("sslrootcert").filter(|file| file != "system").map(PathBuf::from),
            patience: patience.filter(|patience| !patience.is_zero()).unwrap_or(PATIENCE),
            password: get("password"),
            host,
            port,
            user,
            database,
        };
        if let Some(handed) = password::handed(&settings) {
            return Ok(Self { password: Some(handed), ..settings });
        }
        if settings.password.is_some() {
            return Ok(settings);
        }
        let file = get("passfile").map(PathBuf::from).or_else(|| Some(home(variable)?.join(".pgpass")));
        let user = settings.user.clone().or_else(|| variable("USER"));
        let password = file.and_then(|file| password::of(&file, &settings, user.as_deref()));
        Ok(Self { password, ..settings })
    }

    /// The server as it stands in an address; the port only where it is not the usual one.
    pub fn address(&self, table: &str) -> String {
        let port = (self.port != PORT).then(|| self.port.to_string());
        text(Some(&self.host), port.as_deref(), &self.database, Some(table))
    }
}

/// Can nobody else listen? A socket, and this machine by number or name.
fn is_near(host: &str) -> bool {
    host.starts_with('/') || host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn nearest_socket() -> String {
    let is_there = |folder: &&str| Path::new(folder).join(format!(".s.PGSQL.{PORT}")).exists();
    SOCKETS.iter().find(|folder| is_there(folder)).unwrap_or(&"localhost").to_string()
}

fn home(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    variable("HOME").map(PathBuf::from)
}

/// The settings of a service, out of the first file that has it.
fn service(
    name: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, String>, ServerProblem> {
    let own = variable("PGSERVICEFILE").map(PathBuf::from);
    let own = own.or_else(|| Some(home(variable)?.join(".pg_service.conf")));
    let system = variable("PGSYSCONFDIR").unwrap_or_else(|| "/etc/postgresql-common".to_string());
    let system = Path::new(&system).join("pg_service.conf");
    let mut files = own.into_iter().chain([system]).filter_map(|file| fs::read_to_string(file).ok());
    files.find_map(|text| section(&text, name)).ok_or(ServerProblem::Service)
}

/// `[name]` and the lines `key=value` behind it.
fn section(text: &str, name: &str) -> Option<BTreeMap<String, String>> {
    let mut lines = text.lines().map(str::trim);
    lines
        .by_ref()
        .find(|line| line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) == Some(name))?;
    let lines = lines.take_while(|line| !line.starts_with('['));
    let pairs = lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    Some(pairs.map(|(key, value)| (key.trim().to_string(), value.trim().to_string())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(address: &str, environment: &[(&str, &str)]) -> Result<Settings, ServerProblem> {
        let address = PostgresAddress::of(Path::new(address)).expect("an address").expect("readable");
        let variable = |name: &str| {
            environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_string())
        };
        Settings::among(&address, &variable)
    }

    #[test]
    fn the_address_counts_before_the_service_and_that_before_the_environment() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("services");
        fs::write(&file, "[other]\nhost=x\n[books]\n# no\nhost = db.example.org\nport=6000\ndbname=staff\n")
            .expect("a file");
        let environment = [
            ("PGSERVICEFILE", file.to_str().expect("text")),
            ("PGSERVICE", "books"),
            ("PGHOST", "elsewhere"),
            ("PGUSER", "ann"),
            ("PGPASSWORD", "secret"),
        ];
        let found = settings("postgres://:7000?table=t", &environment).expect("settings");
        assert_eq!(
            (found.host.as_str(), found.port, found.database.as_str()),
            ("db.example.org", 7000, "staff")
        );
        assert_eq!((found.user.as_deref(), found.password.as_deref()), (Some("ann"), Some("secret")));
        assert!(found.encrypted && !format!("{found:?}").contains("secret"));
        assert_eq!(found.address("hr.t"), "postgres://db.example.org:7000/staff?table=hr.t");
        assert_eq!(
            settings("postgres://h/d?service=none", &[]).err(),
            Some(ServerProblem::Service),
            "no such service"
        );
    }

    #[test]
    fn a_line_that_others_can_listen_to_is_encrypted_unless_its_user_says_otherwise() {
        for (address, encrypted) in [
            ("postgres://localhost/d", false),
            ("postgres://127.0.0.1/d", false),
            ("postgres://[::1]/d", false),
            ("postgres:///d?host=/tmp", false),
            ("postgres:///d?host=/tmp&sslmode=verify-full", false),
            ("postgres://db.example.org/d", true),
            ("postgres://10.0.0.1/d", true),
            ("postgres://db.example.org/d?sslmode=disable", false),
            ("postgres://localhost/d?sslmode=require", true),
        ] {
            assert_eq!(settings(address, &[]).expect("settings").encrypted, encrypted, "{address}");
        }
        for word in ["prefer", "allow", "x"] {
            let address = format!("postgres://h/d?sslmode={word}");
            assert_eq!(settings(&address, &[]).err(), Some(ServerProblem::TlsMode), "{word}");
        }
    }
}
