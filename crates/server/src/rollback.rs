//! A ledger that was put back from an older copy is recognised, and nothing is charged to it or changed until a steward says what can
//! have been spent in what is missing.
//!
//! # Guarantee
//!
//! - Once somebody shows a witness of an entry that the ledger lacks, or a file of heads has a later one, nothing is charged and
//!   nothing changed until `restored` is written; a restart changes nothing about that. What was charged before is answered.
//! - Nobody but the ledger makes witnesses, so that nobody can call a good ledger an old copy.

use crate::{log, problem::Problem, sink::Sink};
use axum::http::StatusCode;
use equipoise_session::ledger::{Ledger, Witnessed, seconds_now};
use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// What is known of lost entries.
pub struct Rollback {
    /// Its being there says that the ledger is an older copy.
    marker: PathBuf,
    found: AtomicBool,
    /// When a witness last agreed, in seconds since 1970; zero before the first.
    agreed: AtomicU64,
    /// How many were none of ours.
    pub foreign: AtomicU64,
    marking: Mutex<()>,
}

/// The one line while nothing can be written.
const LINE: &str = "the ledger lacks an entry that it once had: an older copy was put back; nothing is charged or changed until a \
                    steward says on the page Review what can be missing";

impl Rollback {
    /// What an earlier start found, and what files of heads say of the ledger.
    pub fn open(directory: &Path, ledger: &Ledger, sinks: &[Sink]) -> Result<Self, String> {
        let marker = directory.join("rolled-back");
        let rollback = Self {
            found: AtomicBool::new(marker.exists()),
            marker,
            agreed: AtomicU64::new(0),
            foreign: AtomicU64::new(0),
            marking: Mutex::default(),
        };
        for sink in sinks {
            let Some(head) = sink.last()? else { continue };
            if head.ledger != ledger.id() {
                return Err("the file of heads is of another ledger; give another file".to_string());
            }
            if !ledger.has_head(&head).map_err(|error| error.to_string())? {
                rollback.mark(&format!("head {head}"))?;
            }
        }
        Ok(rollback)
    }

    /// Is the ledger an older copy that nobody has accounted for?
    pub fn is_found(&self) -> bool {
        self.found.load(Ordering::SeqCst)
    }

    /// May the ledger be written?
    pub fn check(&self) -> Result<(), Problem> {
        if self.is_found() {
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, LINE).exit(1).with("read_only", true));
        }
        Ok(())
    }

    /// How many seconds ago a witness agreed.
    pub fn agreed_ago(&self) -> Option<u64> {
        let agreed = self.agreed.load(Ordering::SeqCst);
        (agreed > 0).then(|| seconds_now().saturating_sub(agreed))
    }

    /// Look at what a member saw last.
    pub fn heed(&self, ledger: &Ledger, witness: &str) -> Result<(), Problem> {
        match ledger.witnessed(witness)? {
            Witnessed::Agrees => self.agreed.store(seconds_now(), Ordering::SeqCst),
            Witnessed::Missing => self.mark(&format!("witness {witness}")).map_err(Problem::inside)?,
            Witnessed::Foreign => {
                self.foreign.fetch_add(1, Ordering::SeqCst);
            }
            Witnessed::Counted => {}
        }
        Ok(())
    }

    fn mark(&self, what: &str) -> Result<(), String> {
        let _one = self.marking.lock().unwrap_or_else(PoisonError::into_inner);
        // Also where the marker cannot be written: this start does not write to the ledger.
        if self.found.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        log::failure("the ledger is an older copy: it lacks what was seen of it; it is not written any more");
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&self.marker);
        let written = file.as_mut().map_err(|error| error.to_string()).and_then(|file| {
            writeln!(file, "{what}").and_then(|()| file.sync_all()).map_err(|error| error.to_string())
        });
        written
            .map_err(|error| format!("that the ledger is an older copy could not be written down: {error}"))
    }

    /// What is missing was accounted for in the ledger.
    pub fn is_settled(&self) -> Result<(), Problem> {
        let _one = self.marking.lock().unwrap_or_else(PoisonError::into_inner);
        match fs::remove_file(&self.marker) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Problem::inside(error)),
            _ => self.found.store(false, Ordering::SeqCst),
        }
        Ok(())
    }
}
