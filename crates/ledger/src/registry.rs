//! Data sets by name: what is protected, fixed when the name is first used.

use super::{
    Fallible, Ledger, Stop,
    chain::{self, Link},
    entries::{Entries, values},
    entry::{self, Row, kind},
    error::{DataSetError, FingerprintError, LedgerError, RegisterError},
    files, fingerprint, reregistration, store,
};
use equipoise_core::{
    adjacency::{Adjacency, Unit},
    wording,
};
use std::io::Read;

/// The longest name of a data set, an analyst or a request, in characters.
pub(super) const LONGEST_NAME: usize = 200;

/// What [`check_name`] checks most strictly.
pub(super) const ANALYST: &str = "analyst";

/// A data set as the ledger knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataSet {
    /// Its name: the budget belongs to it.
    pub name: String,
    /// Whose privacy is protected.
    pub unit: Unit,
    /// What one of them may change.
    pub adjacency: Adjacency,
}

impl DataSet {
    /// Whom it protects from what, in words: "one row (add-remove)".
    pub fn words(&self) -> String {
        format!("one {} ({})", wording::shown(&self.unit.to_string()), self.adjacency)
    }
}

/// What a registration found. It is for the steward, never for an analyst.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The name is new.
    pub new: bool,
    /// Other names under which the same content is registered: what is spent on them adds up on the same
    /// people, and no limit here sees it.
    pub same_content: Vec<String>,
}

impl Ledger {
    /// Enter a data set, or look at its content again. Its unit and adjacency are fixed from now on, until its steward
    /// begins anew.
    ///
    /// With `content`, a fingerprint is kept by which the same content is recognised under another name.
    pub fn register(
        &mut self,
        data_set: &DataSet,
        content: Option<&mut dyn Read>,
    ) -> Result<Registration, RegisterError> {
        check_name("data set", &data_set.name)?;
        let fingerprint = content.map(|content| self.fingerprint(content)).transpose()?;
        let files_known = self.shared.expected(&data_set.name).map_or(Vec::new(), |expected| expected.files);
        self.write(|entries, coins| {
            let new = check(entries, data_set)?.is_none();
            let earlier = registrations(entries)?;
            let same = |row: &&Row| row.fingerprint().is_some() && row.fingerprint() == fingerprint;
            let mut same_content: Vec<String> =
                earlier.iter().filter(same).map(|row| row.data_set.clone()).collect();
            // Content is entered once under each name.
            let known = same_content.contains(&data_set.name);
            if new || (fingerprint.is_some() && !known) {
                enter(entries, &store::fresh_id(coins), data_set, fingerprint.as_deref())?;
            }
            files::note(entries, coins, &data_set.name, &files_known)?;
            same_content.retain(|name| *name != data_set.name);
            same_content.sort();
            Ok(Registration { new, same_content })
        })
    }

    /// The names under which this content is registered. It is for the steward, never for an analyst.
    pub fn same_content(&self, content: &mut dyn Read) -> Result<Vec<String>, FingerprintError> {
        let fingerprint = Some(self.fingerprint(content)?);
        let mut names: Vec<String> = self.read(|entries| {
            let rows = registrations(entries)?;
            Ok(rows
                .into_iter()
                .filter(|row| row.fingerprint() == fingerprint)
                .map(|row| row.data_set)
                .collect())
        })?;
        names.sort();
        Ok(names)
    }

    /// What is registered under a name.
    pub fn data_set(&self, name: &str) -> Result<Option<DataSet>, LedgerError> {
        self.read(|entries| find(entries, name))
    }

    /// Every registered data set, in the order of registration.
    pub fn data_sets(&self) -> Result<Vec<DataSet>, LedgerError> {
        self.read(|entries| {
            let mut found: Vec<DataSet> = Vec::new();
            for name in names(entries)? {
                found.extend(find(entries, &name)?);
            }
            Ok(found)
        })
    }

    /// Other names under which the same content was registered when it was last looked at: what is spent on them adds up on the same
    /// people. For the steward, never for an analyst.
    pub fn same_content_as(&self, name: &str) -> Result<Vec<String>, LedgerError> {
        self.read(|entries| {
            let mut latest = std::collections::BTreeMap::new();
            for row in registrations(entries)? {
                if let Some(fingerprint) = row.fingerprint() {
                    latest.insert(row.data_set, fingerprint);
                }
            }
            let Some(own) = latest.remove(name) else { return Ok(Vec::new()) };
            Ok(latest.into_iter().filter(|(_, other)| *other == own).map(|(name, _)| name).collect())
        })
    }

    /// The fingerprint of content. It is kept in files that only their owner reads, and never shown.
    pub fn fingerprint(&self, content: &mut dyn Read) -> Result<String, FingerprintError> {
        let secret = self.read(|entries| entries.secret())?;
        fingerprint::of(&secret, content).map_err(|error| FingerprintError::Content(error.kind()))
    }
}

/// Is this a name for an analyst? It is 1 to 200 characters that can be seen.
pub fn check_analyst(name: &str) -> Result<(), DataSetError> {
    check_name(ANALYST, name)
}

pub(super) fn check_name(what: &'static str, name: &str) -> Result<(), DataSetError> {
    let length = name.chars().count();
    // A file has the name it has; who asks is told apart by eye.
    let bad = if what == ANALYST { wording::is_unseen } else { char::is_control };
    if (1..=LONGEST_NAME).contains(&length) && !name.chars().any(bad) {
        return Ok(());
    }
    Err(DataSetError::BadName { what, name: name.to_string() })
}

/// What is registered, if it agrees with what is asked for.
pub(super) fn check<E: From<DataSetError>>(
    entries: &dyn Entries,
    wanted: &DataSet,
) -> Result<Option<DataSet>, Stop<E>> {
    let Some(registered) = find(entries, &wanted.name)? else { return Ok(None) };
    let name = wanted.name.clone();
    if registered.unit != wanted.unit {
        let (registered, requested) = (registered.unit, wanted.unit.clone());
        return Err(DataSetError::OtherUnit { name, registered, requested }.into());
    }
    if registered.adjacency != wanted.adjacency {
        let (registered, requested) = (registered.adjacency, wanted.adjacency);
        return Err(DataSetError::OtherAdjacency { name, registered, requested }.into());
    }
    Ok(Some(registered))
}

/// The names of all data sets, in the order of registration.
pub(super) fn names(entries: &dyn Entries) -> Fallible<Vec<String>> {
    let sql = "SELECT data_set FROM entries WHERE kind = ?1 GROUP BY data_set ORDER BY min(number)";
    entries.texts(sql, values![kind::REGISTER])
}

pub(super) fn any_limit(entries: &dyn Entries) -> Fallible<bool> {
    entries.any("kind IN (?1, ?2)", values![kind::LIMIT, kind::RENEW])
}

pub(super) fn find(entries: &dyn Entries, name: &str) -> Fallible<Option<DataSet>> {
    reregistration::current(entries, name)
}

pub(super) fn enter(
    entries: &dyn Entries,
    id: &str,
    data_set: &DataSet,
    fingerprint: Option<&str>,
) -> Fallible<()> {
    let body = entry::register_body(&data_set.unit, data_set.adjacency, fingerprint);
    let link =
        Link { kind: kind::REGISTER, id, data_set: &data_set.name, analyst: None, request_id: None, body };
    chain::append(entries, link).map(|_| ())
}

fn registrations(entries: &dyn Entries) -> Fallible<Vec<Row>> {
    entries.all("kind = ?1 ORDER BY number", values![kind::REGISTER])
}
