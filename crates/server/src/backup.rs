//! Backups: a copy of the ledger of one moment with its head, of members and monitors; and how one is put back, which the ledger says.

use crate::{state::LEDGER, store};
use equipoise_core::loss::Approx;
use equipoise_session::ledger::{Head, Ledger};
use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
};

/// What lies beside the ledger and belongs to it.
const OTHERS: [&str; 2] = [MEMBERS, ASKED];
const MEMBERS: &str = "members.json";
const ASKED: &str = "asked.jsonl";
const MONITORS: &str = "monitors";
const HEAD: &str = "head";

/// Copy everything to a folder that is not there yet, while the server goes on. Only its owner reads it. The head of the copy.
pub fn back_up(directory: &Path, to: &Path) -> Result<Head, String> {
    let failed = |error: io::Error| format!("the backup cannot be written: {error}");
    let ledger = Ledger::open_read_only(&directory.join(LEDGER)).map_err(|error| error.to_string())?;
    fs::DirBuilder::new().mode(0o700).create(to).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            "the folder of the backup is there already; name one that is not".to_string()
        }
        _ => failed(error),
    })?;
    // What is in force is copied first: whoever was let in later is let in again, and nobody who was not.
    for name in OTHERS {
        copy(&directory.join(name), &to.join(name)).map_err(failed)?;
    }
    if let Ok(monitors) = fs::read_dir(directory.join(MONITORS)) {
        fs::DirBuilder::new().mode(0o700).create(to.join(MONITORS)).map_err(failed)?;
        for entry in monitors {
            let entry = entry.map_err(failed)?;
            copy(&entry.path(), &to.join(MONITORS).join(entry.file_name())).map_err(failed)?;
        }
    }
    let head = ledger.back_up(&to.join(LEDGER)).map_err(|error| error.to_string())?;
    write(&to.join(HEAD), format!("{head}\n").as_bytes()).map_err(failed)?;
    Ok(head)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    match fs::read(from) {
        Ok(bytes) => write(to, &bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Put a backup back in a directory that no server uses, and write down in the ledger that it was: every limit counts as spent, or as much
/// more as the bound says. Whatever was there is kept beside it, under a name that ends in `.before`.
pub fn restore(directory: &Path, from: &Path, by: &str, bound: Option<&Approx>) -> Result<Head, String> {
    let failed = |error: io::Error| format!("the backup cannot be put back: {error}");
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let kept: Head = fs::read_to_string(from.join(HEAD))
        .map_err(failed)?
        .parse()
        .map_err(|_| "the head of the backup cannot be read; it is not whole".to_string())?;
    let backup = Ledger::open_read_only(&from.join(LEDGER)).map_err(|error| said(&error))?;
    backup.verify(Some(&kept)).map_err(|error| said(&error))?;
    drop(backup);
    let _lock = store::lock(directory)?;
    let there = directory.join(LEDGER);
    if let Ok(ledger) = Ledger::open_read_only(&there)
        && ledger.verify(Some(&kept)).is_ok()
    {
        return Err("the ledger that is there holds together and has everything that the backup has; nothing is to be put back"
            .to_string());
    }
    let last = fs::read(directory.join(MEMBERS)).ok();
    let members = fs::read(from.join(MEMBERS)).map_err(failed)?;
    let members = store::put_back(&members, last.as_deref())
        .ok_or_else(|| "the members of the backup cannot be read; it is not whole".to_string())?;
    let logs = ["-wal", "-shm"].map(|ending| format!("{LEDGER}{ending}"));
    let old = logs.iter().map(String::as_str).chain([LEDGER, MONITORS]).chain(OTHERS);
    for name in old {
        let (now, before) = (directory.join(name), directory.join(format!("{name}.before")));
        if now.exists() {
            if before.exists() {
                return Err(format!("{name}.before is there already; move it elsewhere first"));
            }
            fs::rename(&now, &before).map_err(failed)?;
        }
    }
    for name in [LEDGER, ASKED] {
        copy(&from.join(name), &directory.join(name)).map_err(failed)?;
    }
    write(&directory.join(MEMBERS), &members).map_err(failed)?;
    // Monitors of the backup lie elsewhere now, and the ledger knows a monitor's file by its place on the disk: they end here.
    let mut ledger = Ledger::open(&there).map_err(|error| said(&error))?;
    ledger.restored(by, bound).map_err(|error| said(&error))?;
    match fs::remove_file(directory.join("rolled-back")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    ledger.head().map_err(|error| said(&error))
}
