//! What can be wrong with a table of a server before the charge: one line for each, from addresses, catalogues and codes alone. What the
//! server itself says is never shown: it may quote rows.

use super::AddressProblem;
use equipoise_core::wording;
use std::fmt;

/// Why a table of a server cannot be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerProblem {
    /// The address.
    Address(AddressProblem),
    /// This program was built without what reads such tables.
    NotBuilt,
    /// The address names no table.
    NoTableNamed {
        /// Tables that there are.
        known: Vec<String>,
    },
    /// There is no such table, or the role may not know of it.
    NoTable {
        /// Tables of the same schema.
        known: Vec<String>,
    },
    /// No server answers there.
    Unreachable,
    /// The server speaks no TLS, or shows no certificate that can be trusted.
    NoTls,
    /// A word of `sslmode` that is none, or that leaves it to others whether the line is encrypted.
    TlsMode,
    /// A file of certificates that cannot be read.
    Certificates,
    /// There is no such service, or its file cannot be read.
    Service,
    /// The role is unknown, or its password is missing or wrong.
    Refused,
    /// There is no such database.
    NoDatabase,
    /// The server takes no more connections, or is about to stop.
    Busy,
    /// The server is older than what is understood.
    TooOld,
    /// The role may do everything.
    Superuser,
    /// The role may write to the table.
    MayWrite,
    /// The role may not read the table.
    NotPermitted,
    /// It is no table but this.
    NotATable(&'static str),
    /// Policies leave rows out.
    Policies,
    /// One of its partitions is not read like a table.
    Partition(String),
    /// A query of the steward's, with what the server says of it: whoever extracts may see every row.
    Query(String),
    /// The server failed to answer a question about its catalogues.
    Failed,
}

impl ServerProblem {
    /// What is wrong and what to do, without where.
    pub fn what(&self) -> String {
        struct Words<'a>(&'a ServerProblem);
        impl fmt::Display for Words<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.line(f, "")
            }
        }
        let words = Words(self).to_string();
        words.strip_prefix(": ").map_or(words.clone(), str::to_string)
    }

    /// One line about the table at this address.
    pub(crate) fn line(&self, f: &mut fmt::Formatter<'_>, at: &str) -> fmt::Result {
        match self {
            Self::Address(problem) => f.write_str(problem.line()),
            Self::NotBuilt => write!(
                f,
                "{at}: tables of Postgres are read by 'equipoise-postgres', which is not installed beside this program or on PATH; build it with 'cargo install --path crates/cli-postgres' in the source of equipoise"
            ),
            Self::NoTableNamed { known } => {
                write!(f, "{at} names no table; add ?table=SCHEMA.NAME{}", listed("; there are: ", known))
            }
            Self::NoTable { known } => write!(
                f,
                "{at}: there is no such table that this role may know of; names are as in SQL, with quotes around capitals{}",
                listed("; the schema has: ", known)
            ),
            Self::Unreachable => {
                write!(f, "{at}: no server answers there; check host, port and that it is started")
            }
            Self::NoTls => write!(
                f,
                "{at}: no encrypted line to a server whose certificate can be trusted; name its authority with sslrootcert=FILE or PGSSLROOTCERT, or say sslmode=disable where nobody else can listen"
            ),
            Self::TlsMode => write!(
                f,
                "{at}: sslmode is verify-full or disable; the words between leave it to whoever sits on the line"
            ),
            Self::Certificates => {
                write!(f, "{at}: the file of certificates cannot be read; check sslrootcert or PGSSLROOTCERT")
            }
            Self::Service => write!(
                f,
                "{at}: there is no such service; check PGSERVICE, PGSERVICEFILE and ~/.pg_service.conf"
            ),
            Self::Refused => write!(
                f,
                "{at}: the server does not let this role in; name it as in postgres://ROLE@HOST/.., and put its password into ~/.pgpass or PGPASSWORD"
            ),
            Self::NoDatabase => write!(f, "{at}: the server has no such database; check its name"),
            Self::Busy => write!(f, "{at}: the server takes no connection now; try again later"),
            Self::TooOld => write!(f, "{at}: the server is older than Postgres 12; read from a newer one"),
            Self::Superuser => write!(
                f,
                "{at}: the role is a superuser; ask as one that may only read, made with CREATE ROLE reader LOGIN and GRANT SELECT"
            ),
            Self::MayWrite => write!(
                f,
                "{at}: the role may write to the table; ask as one that may only read, made with CREATE ROLE reader LOGIN and GRANT SELECT"
            ),
            Self::NotPermitted => {
                write!(
                    f,
                    "{at}: the role may not read the table; its owner can GRANT USAGE ON SCHEMA and SELECT"
                )
            }
            Self::NotATable(what) => write!(
                f,
                "{at} is {what}, which one row could make fail for all others; ask about a table, or write it to a file first, which 'extract' does for a query"
            ),
            Self::Policies => write!(
                f,
                "{at}: row security leaves rows out for this role, and which ones follows from rows; ask as a role that has BYPASSRLS and may only read"
            ),
            Self::Partition(name) => write!(
                f,
                "{at}: its part '{}' is a foreign table, has row security or is stored in a way of its own; ask about the other parts",
                wording::shown(name)
            ),
            Self::Query(said) => write!(f, "{at}: the query cannot be run: {}", wording::line(said)),
            Self::Failed => write!(f, "{at}: the server could not say what the table is; try again later"),
        }
    }
}

impl AddressProblem {
    fn line(self) -> &'static str {
        match self {
            Self::Password => {
                "an address takes no password, which others could read where it is typed; put it into ~/.pgpass or PGPASSWORD"
            }
            Self::Setting => {
                "the address has a setting that is none of: host, port, user, dbname, service, sslmode, sslrootcert, connect_timeout, application_name, table"
            }
            Self::Unreadable => {
                "the address cannot be understood; write postgres://ROLE@HOST:PORT/DATABASE?table=SCHEMA.NAME with one host, and %20 and the like for odd characters"
            }
            Self::Table => {
                "table= takes a name as in SQL: hr.salaries, or \"Odd name\".t with quotes, and %26 for an ampersand"
            }
        }
    }
}

fn listed(before: &str, known: &[String]) -> String {
    const SHOWN: usize = 8;
    if known.is_empty() {
        return String::new();
    }
    let mut names: Vec<String> = known.iter().take(SHOWN).map(|name| wording::shown(name)).collect();
    if known.len() > SHOWN {
        names.push(format!("{} more", known.len() - SHOWN));
    }
    format!("{before}{}", names.join(", "))
}
