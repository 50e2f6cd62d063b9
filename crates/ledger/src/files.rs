//! Which files a data set is, whatever they are called; and what was asked of them apart from a limit that covers them.
//!
//! # Guarantee
//!
//! - With a charge or a registration of a data set whose files are known, the ledger has which files they are: a link, or a file
//!   that was moved within its disk, is recognised by whoever looks at the ledger.
//! - What is counted apart from a limit elsewhere is written down in the ledger of that limit before it is charged here, and here
//!   with the charge. Where the other ledger cannot be written nothing is charged.
//! - A monitor's state of a version that did not say which file it is goes on in one file only.
//!
//! No row is read for any of this. A copy is another file: only its content tells, and that is looked at where a steward
//! registers it.

use super::{
    Fallible, Ledger, Stop,
    chain::{self, Head, Link},
    charge::{self, ChargeRequest},
    cost::Cost,
    entries::{Entries, values},
    entry::{self, Event, kind},
    entry_of,
    error::{ChargeError, Fault, LedgerError},
    registry, store,
};
use crate::file_id::FileId;
use equipoise_entropy::OsCoins;
use std::{collections::BTreeSet, path::PathBuf};

/// Of more files than these it is not kept which the others are; their names still tell.
pub const MOST_FILES: usize = 100_000;

/// So many files in one entry, so that each can be read in a small memory.
const FILES_OF_AN_ENTRY: usize = 1000;

/// What is known of a data set by whoever opens its ledger to charge it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Its files; none for data that lie in none.
    pub files: Vec<FileId>,
    /// Limits elsewhere that cover the same files, and that it is to be counted apart from.
    pub apart: Vec<Elsewhere>,
}

/// A data set of a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The ledger.
    pub ledger: PathBuf,
    /// The data set, by its name there.
    pub data_set: String,
}

/// A data set as far as it matters for what else it may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarded {
    /// Its name.
    pub name: String,
    /// Is any limit in force, for all or for one analyst?
    pub limited: bool,
    /// Every file that was ever asked about under that name.
    pub files: Vec<FileId>,
}

/// Where the charge of what was counted apart stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charged {
    /// In this ledger.
    Here,
    /// In the other one.
    There,
}

/// What an entry about something counted apart says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apart {
    /// Where the charge stands.
    pub charged: Charged,
    /// The id of the other ledger.
    pub ledger: String,
    /// Its path, as it was then.
    pub path: String,
    /// The data set there.
    pub data_set: String,
    /// What was to be charged.
    pub cost: Cost,
}

impl Ledger {
    /// What is known of a data set until more is said: it is written down with its next charge or registration.
    pub fn expect(&self, data_set: &str, expected: Expected) {
        self.shared.expect(data_set, expected);
    }

    /// Every data set, and by which files it can be recognised.
    pub fn guarded(&self) -> Result<Vec<Guarded>, LedgerError> {
        self.read(|entries| {
            let guarded = |name: String| {
                let limited = !limited_analysts(entries, &name)?.is_empty();
                Ok(Guarded { limited, files: every_file(entries, &name)?, name })
            };
            registry::names(entries)?.into_iter().map(guarded).collect()
        })
    }

    /// Does this ledger have that entry? Then it has all that a ledger with that head has.
    pub fn contains(&self, head: &Head) -> Result<bool, LedgerError> {
        let number = i64::try_from(head.entries).unwrap_or(i64::MAX);
        self.read(|entries| {
            let has = entries.any("number = ?1 AND hash = ?2", values![number, &head.hash])?;
            Ok(has && self.id() == head.ledger)
        })
    }

    /// May the monitor that this charge paid for go on in this file? The first file that asks is the one.
    pub fn adopt(&mut self, charge: &str, file: FileId) -> Result<bool, LedgerError> {
        let known = self.read(|entries| adopted(entries, charge))?;
        if let Some(known) = known {
            return Ok(known.is(&file));
        }
        self.write(|entries, _| {
            if let Some(known) = adopted(entries, charge)? {
                return Ok(known.is(&file));
            }
            let Some(paid) = charge::by_id(entries, kind::CHARGE, charge)? else {
                return Err(Stop::Failed(Fault::NotItsCharge));
            };
            let analyst = (!paid.analyst.is_empty()).then_some(paid.analyst.as_str());
            let body = entry::files_body(&[file]);
            let link = Link {
                kind: kind::ADOPT,
                id: charge,
                data_set: &paid.data_set,
                analyst,
                request_id: None,
                body,
            };
            chain::append(entries, link)?;
            entries.raise(store::WITH_FILES)?;
            Ok(true)
        })
    }

    /// Say in the ledgers of the limits that cover the same files that this is charged here; then what to say here.
    pub(super) fn said_elsewhere(&mut self, request: &ChargeRequest) -> Result<Vec<Apart>, ChargeError> {
        let Some(expected) = self.shared.expected(&request.data_set.name) else { return Ok(Vec::new()) };
        let here = Apart {
            charged: Charged::There,
            ledger: self.id().to_string(),
            path: self.shared.place().map_or(String::new(), |place| place.to_string_lossy().into_owned()),
            data_set: request.data_set.name.clone(),
            cost: request.cost.written_up(),
        };
        let analyst = request.analyst.as_deref();
        let say = |Elsewhere { ledger, data_set }: &Elsewhere| {
            let mut other = Self::open(ledger)?;
            other.write(|entries, coins| {
                enter(entries, &store::fresh_id(coins), data_set, analyst, &here)
                    .map_err(Stop::<LedgerError>::Failed)
            })?;
            let (ledger, path) = (other.id().to_string(), ledger.to_string_lossy().into_owned());
            Ok(Apart { charged: Charged::Here, ledger, path, data_set: data_set.clone(), ..here.clone() })
        };
        expected.apart.iter().map(say).collect::<Result<_, LedgerError>>().map_err(ChargeError::Apart)
    }
}

/// Who has a limit of their own in force on a data set; the empty name stands for everybody.
pub(super) fn limited_analysts(entries: &dyn Entries, name: &str) -> Fallible<Vec<String>> {
    let sql = "SELECT DISTINCT analyst FROM entries WHERE kind = ?1 AND data_set = ?2 ORDER BY analyst";
    let mut found = entries.texts(sql, values![kind::LIMIT, name])?;
    let mut failed = None;
    found.retain(|analyst| match super::balance::limit(entries, name, analyst) {
        Ok(limit) => limit.is_some(),
        Err(error) => {
            failed = Some(error);
            false
        }
    });
    if !found.iter().any(String::is_empty) && super::renewing::in_force(entries, name)?.is_some() {
        found.insert(0, String::new());
    }
    failed.map_or(Ok(found), Err)
}

/// Keep which files a data set is, as far as that is not kept yet.
pub(super) fn note(
    entries: &dyn Entries,
    coins: &mut OsCoins,
    data_set: &str,
    files: &[FileId],
) -> Fallible<()> {
    let known = if files.is_empty() { Vec::new() } else { every_file(entries, data_set)? };
    let mut known: BTreeSet<[u64; 3]> = known.iter().map(FileId::identity).collect();
    let room = MOST_FILES.saturating_sub(known.len());
    let new: Vec<FileId> =
        files.iter().filter(|file| known.insert(file.identity())).take(room).copied().collect();
    for part in new.chunks(FILES_OF_AN_ENTRY) {
        let (id, body) = (store::fresh_id(coins), entry::files_body(part));
        let link = Link { kind: kind::FILES, id: &id, data_set, analyst: None, request_id: None, body };
        chain::append(entries, link)?;
    }
    if new.is_empty() { Ok(()) } else { entries.raise(store::WITH_FILES) }
}

/// Keep that something is counted apart.
pub(super) fn enter(
    entries: &dyn Entries,
    id: &str,
    data_set: &str,
    analyst: Option<&str>,
    apart: &Apart,
) -> Fallible<()> {
    let body = entry::apart_body(apart);
    chain::append(entries, Link { kind: kind::APART, id, data_set, analyst, request_id: None, body })?;
    entries.raise(store::WITH_FILES)
}

fn every_file(entries: &dyn Entries, name: &str) -> Fallible<Vec<FileId>> {
    let mut found: Vec<FileId> = Vec::new();
    for row in entries.all("kind = ?1 AND data_set = ?2 ORDER BY number", values![kind::FILES, name])? {
        if let Event::Files { files } = entry_of(&row)?.event {
            found.extend(files);
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn adopted(entries: &dyn Entries, charge: &str) -> Fallible<Option<FileId>> {
    let Some(row) = charge::by_id(entries, kind::ADOPT, charge)? else { return Ok(None) };
    match entry_of(&row)?.event {
        Event::Adopted { file } => Ok(Some(file)),
        _ => unreachable!("a row of this kind reads as such an event"),
    }
}
