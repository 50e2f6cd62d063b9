//! Witnesses: what whoever was given an answer keeps, by which a ledger that was put back from an old copy is recognised.
//!
//! # Guarantee
//!
//! - A witness names an entry of a ledger under a code that only this ledger makes: nobody else can make one, so that nobody can
//!   call a good ledger an old copy.
//! - A ledger that lacks the entry of a genuine witness has lost entries; what was missing when it was last restored
//!   ([`Ledger::restored`]) is counted, and no news.
//!
//! # Why
//!
//! The code is an HMAC-SHA-256, under the ledger's secret, over its id, how often it had been restored, the id of a charge and the hash of
//! the charge or of its record. Hashes cover everything before them, so a copy that went on in another way has another hash there.

use super::{
    Fallible, Fault, Ledger,
    chain::{Head, hex},
    charge::by_id,
    entries::{Entries, values},
    entry::kind,
    error::LedgerError,
    sqlite,
};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::{
    fs::OpenOptions,
    io,
    os::unix::{ffi::OsStrExt as _, fs::OpenOptionsExt as _},
    path::Path,
};

/// What a witness says of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witnessed {
    /// It is none of this ledger: forged, or of another one.
    Foreign,
    /// The ledger has the entry.
    Agrees,
    /// The ledger made it and lacks the entry: it was put back from an older copy.
    Missing,
    /// The ledger lacks the entry, and was restored since: what is missing was counted then.
    Counted,
}

impl Ledger {
    /// A witness of the entry with this hash, which belongs to the charge with this id: one line for whoever asked to keep.
    pub fn witness(&self, id: &str, hash: &str) -> Result<String, LedgerError> {
        self.read(|entries| {
            let times = restored(entries)?.to_string();
            let code = code(entries, [self.id(), &times, id, hash])?;
            Ok(format!("{}.{times}.{id}.{hash}.{code}", self.id()))
        })
    }

    /// Does the ledger have what this witness saw?
    pub fn witnessed(&self, witness: &str) -> Result<Witnessed, LedgerError> {
        let parts: Vec<&str> = witness.trim().split('.').collect();
        let [ledger, times, id, hash, said] = parts[..] else { return Ok(Witnessed::Foreign) };
        if ledger != self.id() {
            return Ok(Witnessed::Foreign);
        }
        self.read(|entries| {
            // Both are 64 letters of which the caller knows none beforehand; how far they agree says nothing of the code of another
            // entry, so the comparison need not take the same time.
            if code(entries, [ledger, times, id, hash])? != said {
                return Ok(Witnessed::Foreign);
            }
            for kind in [kind::CHARGE, kind::RECORD] {
                if by_id(entries, kind, id)?.is_some_and(|row| row.hash == hash) {
                    return Ok(Witnessed::Agrees);
                }
            }
            let before = times.parse().is_ok_and(|times: i64| times < restored(entries).unwrap_or(0));
            Ok(if before { Witnessed::Counted } else { Witnessed::Missing })
        })
    }

    /// Does the ledger have the entry that was its head once?
    pub fn has_head(&self, head: &Head) -> Result<bool, LedgerError> {
        let Ok(number) = i64::try_from(head.entries) else { return Ok(false) };
        let found =
            self.read(|entries| entries.any("number = ?1 AND hash = ?2", values![number, &head.hash]))?;
        Ok(found && head.ledger == self.id())
    }

    /// Tell the new head after every commit of this process, in order. Others wait for it.
    pub fn after_each_commit(&self, tell: impl Fn(&Head) + Send + Sync + 'static) {
        self.shared.after_each_commit(Box::new(tell));
    }

    /// Write a copy of one state to a file that is not there yet, while others go on, and give its head. Only the owner can read
    /// the copy.
    pub fn back_up(&self, to: &Path) -> Result<Head, LedgerError> {
        let at = |fault: Fault| fault.at(Some(to));
        let made = |error: io::Error| at(Fault::Io { reason: error.to_string() });
        let Some(from) = self.path() else { return Err(Fault::NotAFile.at(self.shared.place())) };
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).map_err(made)?;
        let Ok(name) = std::str::from_utf8(to.as_os_str().as_bytes()) else {
            return Err(at(Fault::NotAFile));
        };
        sqlite::copy(from, name).map_err(at)?;
        OpenOptions::new().read(true).open(to).and_then(|file| file.sync_all()).map_err(made)?;
        let copy = Self::open_read_only(to)?;
        copy.head()
    }
}

/// How often the ledger was restored.
fn restored(entries: &dyn Entries) -> Fallible<i64> {
    let sql = "SELECT count(*) FROM entries WHERE kind = ?1";
    entries.number(sql, values![kind::RESTORED])
}

fn code(entries: &dyn Entries, said: [&str; 4]) -> Fallible<String> {
    let secret = entries.secret()?;
    let mut state = Hmac::<Sha256>::new_from_slice(&secret).expect("a key of any length");
    state.update(b"equipoise ledger witness 1");
    for text in said {
        state.update(&(text.len() as u64).to_le_bytes());
        state.update(text.as_bytes());
    }
    Ok(hex(&state.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{granted, loss, on_disk, request, salaries};
    use std::{
        os::unix::fs::PermissionsExt as _,
        sync::{Arc, Mutex},
    };

    fn begun(path: &Path) -> Ledger {
        let mut ledger = Ledger::open(path).unwrap();
        ledger.register(&salaries(), None).unwrap();
        ledger.set_limit("salaries", None, Some(&loss("2", "0").into())).unwrap();
        ledger
    }

    #[test]
    fn a_ledger_that_was_put_back_lacks_what_its_witnesses_saw() {
        let (_folder, path) = on_disk();
        let mut ledger = begun(&path);
        let backup = path.with_extension("backup");
        let first = path.with_extension("first");
        let head = ledger.back_up(&backup).unwrap();
        assert_eq!(head, ledger.head().unwrap());
        ledger.back_up(&first).unwrap();
        let charge = granted(&mut ledger, &request("0.5"));
        let charged = ledger.witness(charge.id(), charge.hash()).unwrap();
        let receipt = ledger.record(&charge, "{}").unwrap();
        let recorded = ledger.witness(&receipt.id, &receipt.hash).unwrap();
        for witness in [&charged, &recorded] {
            assert_eq!(ledger.witnessed(witness).unwrap(), Witnessed::Agrees);
        }
        assert!(ledger.has_head(&head).unwrap());
        let later = ledger.head().unwrap();
        drop(ledger);
        let mut old = Ledger::open(&backup).unwrap();
        old.verify(None).unwrap();
        for witness in [&charged, &recorded] {
            assert_eq!(old.witnessed(witness).unwrap(), Witnessed::Missing);
        }
        assert!(!old.has_head(&later).unwrap() && old.has_head(&head).unwrap());
        // A copy that goes on has other entries at these places.
        let charge = granted(&mut old, &request("0.5"));
        old.record(&charge, "{}").unwrap();
        assert_eq!(old.head().unwrap().entries, later.entries);
        assert!(!old.has_head(&later).unwrap());
        assert_eq!(old.witnessed(&recorded).unwrap(), Witnessed::Missing);
        // Once that was counted it is no news; what is lost afterwards is.
        let second = path.with_extension("second");
        old.restored("sam", None).unwrap();
        old.back_up(&second).unwrap();
        assert_eq!(old.witnessed(&recorded).unwrap(), Witnessed::Counted);
        old.set_limit("salaries", None, Some(&loss("9", "0").into())).unwrap();
        let charge = granted(&mut old, &request("0.5"));
        let third = old.witness(charge.id(), charge.hash()).unwrap();
        assert_eq!(old.witnessed(&third).unwrap(), Witnessed::Agrees);
        for copy in [&second, &first] {
            let copy = Ledger::open(copy).unwrap();
            assert_eq!(copy.witnessed(&third).unwrap(), Witnessed::Missing);
        }
    }

    #[test]
    fn nobody_else_makes_a_witness() {
        let (_folder, path) = on_disk();
        let mut ledger = begun(&path);
        let charge = granted(&mut ledger, &request("0.5"));
        let good = ledger.witness(charge.id(), charge.hash()).unwrap();
        let parts: Vec<&str> = good.split('.').collect();
        let zeros = "0".repeat(64);
        for forged in [
            String::new(),
            "...".into(),
            format!("{}.0.{}.{zeros}.{}", parts[0], parts[2], parts[4]),
            format!("{}.0.{zeros}.{}.{}", parts[0], parts[3], parts[4]),
            format!("{}.0.{}.{}.{zeros}", parts[0], parts[2], parts[3]),
            format!("{}.1.{}.{}.{}", parts[0], parts[2], parts[3], parts[4]),
            format!("{}.{}", good, parts[4]),
            good.replace(parts[0], &"a".repeat(32)),
            "é".repeat(9000),
        ] {
            assert_eq!(ledger.witnessed(&forged).unwrap(), Witnessed::Foreign, "{forged}");
        }
        let (_other, path) = on_disk();
        assert_eq!(begun(&path).witnessed(&good).unwrap(), Witnessed::Foreign);
    }

    #[test]
    fn heads_are_told_after_every_commit_in_order_and_a_copy_overwrites_nothing() {
        let (_folder, path) = on_disk();
        let mut ledger = Ledger::open(&path).unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let heads = told.clone();
        ledger.after_each_commit(move |head| heads.lock().unwrap().push(head.clone()));
        ledger.register(&salaries(), None).unwrap();
        assert!(ledger.set_limit("nothing", None, None).is_err(), "what is refused has no head");
        let mut other = ledger.share().take().unwrap();
        other.set_limit("salaries", None, Some(&loss("2", "0").into())).unwrap();
        let told = told.lock().unwrap();
        assert_eq!(told.iter().map(|head| head.entries).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(told.last(), Some(&ledger.head().unwrap()));
        assert!(ledger.back_up(&path).is_err());
        ledger.verify(None).unwrap();
        let backup = path.with_extension("backup");
        ledger.back_up(&backup).unwrap();
        assert_eq!(std::fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
        Ledger::open_read_only(&backup).unwrap().verify(Some(&ledger.head().unwrap())).unwrap();
    }
}
