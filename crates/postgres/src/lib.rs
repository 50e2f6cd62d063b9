//! Tables of Postgres as rows, and ledgers in Postgres (`ledger`).
//!
//! A table is read as it lies, in one `REPEATABLE READ READ ONLY` transaction and from its first row to its last. Only columns are left to
//! the server to choose: no filter, no cast, no join and no view, because what it does with them, how long it takes and whether it fails may
//! follow from rows. Where a question reads the rows twice, it reads the same ones: the transaction lasts as long as the source.
//!
//! # What one row can do
//!
//! Nothing: cells come in binary and each is read by the rule of all files. A text of more than 2^20 bytes is null, and is left out by the
//! server, which knows its length without unpacking it; otherwise one row could be longer than the memory that is there. Texts come as the
//! bytes that are stored, so that none fails to be converted.
//!
//! # What the server says
//!
//! Its errors may quote rows, so nobody sees them: before the charge a code becomes one of our lines, after it the answer is lost.

#![forbid(unsafe_code)]

mod catalogue;
mod connect;
mod ledger;
mod line;
mod password;
mod schema;
mod settings;
mod source;
mod types;
mod wire;

use connect::Session;
use equipoise_engine::remote::{self, FoundTable, PostgresAddress, Queried, ServerProblem, Tables};
use equipoise_session::source::Source;
use settings::Settings;
use source::{Origin, Rows};
use std::path::Path;

/// Reads tables of Postgres wherever the engine meets their addresses.
struct Postgres;

/// From now on, in this process.
pub fn install() {
    remote::install(&Postgres);
    equipoise_session::ledger::install(&ledger::Postgres);
}

/// Use this password for the server, database and role that an address names, in this process alone; an address itself has none.
pub fn hand_password(address: &Path, password: String) -> Result<(), String> {
    let address = PostgresAddress::of(address).and_then(Result::ok).unwrap_or_default();
    let settings = Settings::of(&address).map_err(|problem| problem.what())?;
    if password::hand(&settings, password) {
        Ok(())
    } else {
        Err("a password is for a role; name it in the address".to_string())
    }
}

impl Tables for Postgres {
    fn look_up(&self, address: &PostgresAddress) -> Result<FoundTable, ServerProblem> {
        let settings = Settings::of(address)?;
        let table = connect::apart(|| Session::begin(&settings)?.table(address.table.as_ref()))?;
        Ok(table.found(&settings))
    }

    fn open(&self, address: &PostgresAddress) -> Result<Box<dyn Source>, ServerProblem> {
        let settings = Settings::of(address)?;
        let table = connect::apart(|| Session::begin(&settings)?.table(address.table.as_ref()))?;
        let (columns, as_stored) = (table.columns.clone(), table.as_stored);
        Ok(Box::new(Rows::new(settings, Origin::Table(table), columns, as_stored)))
    }

    fn query(&self, address: &PostgresAddress, query: &str) -> Result<Box<dyn Queried>, ServerProblem> {
        let settings = Settings::of(address)?;
        let query = query.trim().trim_end_matches(';').to_string();
        let (columns, as_stored) = connect::apart(|| Session::begin(&settings)?.query(&query))?;
        Ok(Box::new(Rows::new(settings, Origin::Query(query), columns, as_stored)))
    }
}
