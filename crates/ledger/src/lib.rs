//! The ledger: what was spent on each data set, durable, exact, and chained by hash.
//!
//! Without a limit it is an odometer: it records and shows. With a limit it is a filter: what does not fit is
//! refused. One table that only grows, in a file of SQLite or on a server; any number of processes may use it at once.
//!
//! # Guarantee
//!
//! - A [`Charge`] exists only after its entry is durable: no answer without a charge.
//! - For every limit, after every charge: what was spent, the charge included, is at most the limit. Sums are
//!   exact, or rounded up where no exact sum fits a line ([`Cost`]).
//! - A crash at any point loses at most the answer to a charge, never the charge of an answer.
//! - Unit and adjacency of a data set are those of its first use until its steward begins anew ([`Ledger::begin_anew`]), which
//!   erases nothing.
//! - [`Ledger::verify`] names the first entry that was edited, dropped or put in between.
//!
//! # Why
//!
//! 1. A charge is one transaction that excludes other writers (`BEGIN IMMEDIATE`), reads the sum, checks the
//!    limits and appends; it returns after the disk has it (write-ahead log, `synchronous = FULL`).
//! 2. The sum stands in the entry of the charge, so that it cannot fall behind.
//! 3. An answer is recorded by a second transaction before anybody sees it, so that asking again under the
//!    same request id gives the same answer for free.
//! 4. Each hash covers the entry and the hash before it.
//!
//! # What it cannot do
//!
//! - Stop who can write the file: it is then an honest record, not a lock.
//! - Notice that it was replaced by an older copy, unless it is compared with a later receipt or with a
//!   [`Head`] that was kept elsewhere.
//! - Survive being copied while in use without its `-wal` file.
//!
//! # Example
//!
//! ```
//! use equipoise_core::{adjacency::{Adjacency, Unit}, loss::Approx};
//! use equipoise_ledger::{ChargeRequest, Charging, DataSet, Ledger};
//!
//! let mut ledger = Ledger::in_memory()?;
//! let salaries =
//!     DataSet { name: "salaries".into(), unit: Unit::Row, adjacency: Adjacency::AddRemove };
//! ledger.register(&salaries, None)?;
//! let loss = |eps: &str| Approx::new(&eps.parse().unwrap(), &"0".parse().unwrap());
//! ledger.set_limit("salaries", None, Some(&loss("1").into()))?;
//! let request = ChargeRequest {
//!     data_set: salaries,
//!     analyst: None,
//!     request_id: Some("monday".into()),
//!     request: r#"{"statistic":"median"}"#.into(),
//!     question: r#"{"mechanism":"inverse-sensitivity"}"#.into(),
//!     cost: loss("0.7").into(),
//!     windows: None,
//! };
//! let Charging::Granted(charge) = ledger.charge(&request)? else { panic!("a new request") };
//! let receipt = ledger.record(&charge, r#"{"value":4200}"#)?;
//! assert_eq!(receipt.id, charge.id());
//! // Asking again is free; asking for more than is left is refused.
//! assert!(matches!(ledger.charge(&request)?, Charging::Replay(_)));
//! let more = ChargeRequest { request_id: None, ..request };
//! assert_eq!(ledger.charge(&more).unwrap_err().exit_code(), 4);
//! assert_eq!(ledger.verify(None)?.charges, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

// Limits hold because a file is known by its number on the disk, and the ledger is its owner's alone by mode 0600.
#[cfg(not(unix))]
compile_error!(
    "equipoise keeps its ledger as unix does, and there is no build for this system; on Windows use WSL or a container"
);

mod act;
mod balance;
mod calendar;
mod chain;
mod charge;
mod clock;
mod compare_accountants;
mod cost;
mod counted;
mod entries;
mod entry;
mod error;
mod export;
pub mod file_id;
mod files;
mod fingerprint;
mod forget;
mod hold;
mod limit;
mod registry;
mod renewing;
mod request_equality;
mod reregistration;
mod sqlite;
mod store;
mod verify;
mod window_fault;
mod witness;

pub use act::Act;
pub use balance::{Account, Balance, Charges};
pub use calendar::{Every, Window};
pub use chain::{Head, NotAHead};
pub use charge::{Charge, ChargeRequest, Charging, Receipt, Recorded};
pub use clock::{after as utc_after, at as utc, seconds_now, seconds_of as utc_seconds};
pub use compare_accountants::{Line, Standing};
pub use cost::Cost;
pub use entries::{Entries, Held, Kept, Outcome, ROW, Store, Value};
pub use entry::{Entry, Event, Row};
pub use error::{
    ChargeError, DataSetError, Fault, FingerprintError, LedgerError, OverBudget, RegisterError,
    SpentForOthers, path_shown,
};
pub use export::Pieces;
pub use files::{Apart, Charged, Elsewhere, Expected, Guarded, MOST_FILES};
pub use limit::{Accountant, AtOrder, Limit};
pub use registry::{DataSet, Registration, check_analyst};
pub use renewing::{AskedWindows, DayColumn, InWindow, MOST_WINDOWS, Renewing, Windows, cost_in_each};
pub use reregistration::Earlier;
pub use store::{NEWEST, Servers, install, is_address, on_servers};
pub use verify::{Verified, VerifyError};
pub use window_fault::WindowFault;
pub use witness::Witnessed;

use entries::values;
use equipoise_entropy::OsCoins;
use hold::Shared;
use std::{path::Path, sync::Arc};

/// A ledger, open in this process.
pub struct Ledger {
    shared: Arc<Shared>,
    /// For ids only.
    coins: OsCoins,
}

impl Ledger {
    /// The id that it got when it was made, which its receipts name.
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// Its file; `None` in memory and on a server.
    pub fn path(&self) -> Option<&Path> {
        self.shared.file()
    }

    /// The id for receipts; `None` for one that ends with its process.
    fn lasting_id(&self) -> Option<String> {
        self.shared.place().is_some().then(|| self.id().to_string())
    }

    /// The same ledger for other threads.
    pub fn share(&self) -> SharedLedger {
        SharedLedger(self.shared.clone())
    }
}

/// A ledger that is open, from which each thread takes a [`Ledger`] of its own.
#[derive(Clone)]
pub struct SharedLedger(Arc<Shared>);

impl SharedLedger {
    /// The ledger for one thread. Threads take turns, one transaction each.
    pub fn take(&self) -> Result<Ledger, LedgerError> {
        let coins = store::coins().map_err(|fault| fault.at(self.0.place()))?;
        Ok(Ledger { shared: self.0.clone(), coins })
    }
}

type Fallible<T> = Result<T, Fault>;

/// Why a transaction does not commit.
enum Stop<E> {
    /// What was asked for is not granted.
    Refused(E),
    /// The ledger failed.
    Failed(Fault),
}

impl<E> From<Fault> for Stop<E> {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}

impl<E: From<DataSetError>> From<DataSetError> for Stop<E> {
    fn from(error: DataSetError) -> Self {
        Self::Refused(error.into())
    }
}

/// The last row of a kind for a data set, and for one analyst if one is named, within a scope of entries.
fn latest(
    entries: &dyn Entries,
    kind: &str,
    data_set: &str,
    analyst: Option<&str>,
    scope: &str,
) -> Fallible<Option<entry::Row>> {
    let narrower = if analyst.is_some() { "AND analyst = ?3" } else { "AND ?3 = ''" };
    let condition = format!("kind = ?1 AND data_set = ?2 {narrower} {scope} ORDER BY number DESC");
    entries.one(&condition, values![kind, data_set, analyst.unwrap_or_default()])
}

fn entry_of(row: &entry::Row) -> Fallible<Entry> {
    row.entry().map_err(|what| Fault::damaged(row.number.unsigned_abs(), what))
}

#[cfg(test)]
mod files_tests;
#[cfg(test)]
mod renewing_tests;
#[cfg(test)]
mod reregistration_tests;
#[cfg(test)]
mod tamper_tests;
#[cfg(test)]
mod tests;
