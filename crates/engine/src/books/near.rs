//! Ledgers beside and above data, and what in them is the same files under whatever name. No row is read.
//!
//! Looked at are files that end in `.ledger` in the folders of the data and in every folder above, as the path was typed and as it
//! really is. A file is the same by its number on the disk and when it was made: a hard link, a link and one that was moved within
//! the disk are recognised, where a ledger near them knows the file. A copy is not, nor a ledger in a folder that is not above.

use super::{FILE_NAME, folder, is_called, ledger_path, shown};
use crate::{
    STANDARD_INPUT, TableAddress, expand, is_pattern, on_disk,
    remote::{self, FoundTable, PostgresAddress},
    sqlite,
};
use equipoise_session::{
    file_id::FileId,
    ledger::{Fault, Guarded, Ledger, LedgerError},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    env, fmt, fs, io,
    os::fd::AsFd,
    path::{Path, PathBuf, absolute},
};

/// The files that data is made of, and the folders in which ledgers may know them.
#[derive(Default)]
pub(super) struct Members {
    pub files: Vec<(PathBuf, FileId)>,
    /// The folders that the files really lie in, each with one of them.
    pub homes: BTreeMap<PathBuf, PathBuf>,
    /// Those, and the ones that were typed.
    beside: BTreeSet<PathBuf>,
    /// Those and all above.
    folders: BTreeSet<PathBuf>,
    /// Of a table: its name and all names of tables in its database.
    table: Option<(String, Vec<String>)>,
    /// Of a table of a server: what it is called there.
    remote: Option<FoundTable>,
    /// What a folder that was typed really is: looked up once for all of its files.
    real: BTreeMap<PathBuf, PathBuf>,
}

impl Members {
    /// Of a file, a pattern, a folder or standard input. What cannot be looked up is left to who opens it.
    pub fn of(data: &Path) -> Self {
        let mut members = Self::default();
        if data == Path::new(STANDARD_INPUT) {
            members.standard_input();
            return members;
        }
        if let Some(found) = remote::look_up(data) {
            members.on_a_server(data, found.ok());
            return members;
        }
        members.table = TableAddress::of(data).and_then(|address| sqlite::spelled(&address).ok());
        for file in expand(data).unwrap_or_default() {
            let file = on_disk(&file).into_owned();
            if let Ok(id) = FileId::at(&file) {
                members.add(file, id);
            }
        }
        // What a folder or a pattern will take in tomorrow lies there too.
        let typed = on_disk(data);
        let typed = absolute(&typed).unwrap_or_else(|_| typed.to_path_buf());
        members.folders.extend(typed.ancestors().filter(|folder| folder.is_dir()).map(Path::to_path_buf));
        members
    }

    fn add(&mut self, file: PathBuf, id: FileId) {
        let typed = absolute(folder(&file)).unwrap_or_else(|_| folder(&file));
        let is_link = fs::symlink_metadata(&file).is_ok_and(|found| found.is_symlink());
        let home = if is_link {
            file.canonicalize().map_or_else(|_| typed.clone(), |real| folder(&real))
        } else {
            let real = |typed: &PathBuf| typed.canonicalize().unwrap_or_else(|_| typed.clone());
            self.real.entry(typed.clone()).or_insert_with_key(real).clone()
        };
        for near in [&typed, &home] {
            // The folders above were taken in with the first file in this one.
            if self.beside.insert(near.clone()) {
                self.folders.extend(near.ancestors().map(Path::to_path_buf));
            }
        }
        self.homes.entry(home).or_insert_with(|| file.clone());
        self.files.push((file, id));
    }

    /// A table of a server lies in no folder: its ledgers are looked for from here, and where its user keeps one.
    fn on_a_server(&mut self, data: &Path, found: Option<FoundTable>) {
        self.beside.insert(folder(&ledger_path(None, Some(data))));
        self.folders.extend(self.beside.iter().cloned());
        if let Ok(here) = env::current_dir() {
            self.folders.extend(here.ancestors().map(Path::to_path_buf));
        }
        let ids = found.iter().flat_map(|found| &found.ids);
        self.files = ids.map(|(address, id)| (PathBuf::from(address), *id)).collect();
        self.remote = found;
    }

    /// What is redirected from a file is that file; of a pipe nothing is known. Without a name it is looked for from here.
    fn standard_input(&mut self) {
        let open = io::stdin().as_fd().try_clone_to_owned();
        let Some(found) = open.ok().and_then(|open| fs::File::from(open).metadata().ok()) else { return };
        if !found.is_file() {
            return;
        }
        let id = FileId::of(&found);
        let named = fs::read_link("/proc/self/fd/0").or_else(|_| fs::read_link("/dev/fd/0"));
        let is_it = |path: &PathBuf| FileId::at(path).is_ok_and(|at| at.is(&id));
        match named.ok().filter(is_it) {
            Some(path) => self.add(path, id),
            None => self.files.push((PathBuf::from(STANDARD_INPUT), id)),
        }
        if let Ok(here) = env::current_dir() {
            self.folders.extend(here.ancestors().map(Path::to_path_buf));
        }
    }

    /// Which files they are.
    pub fn ids(&self) -> Vec<FileId> {
        self.files.iter().map(|(_, id)| *id).collect()
    }

    /// Is there a file that both have, and in it no two different tables?
    pub fn share_rows(&self, other: &Self) -> bool {
        let other_tables = match (&self.table, &other.table) {
            (Some((one, _)), Some((other, _))) => !one.eq_ignore_ascii_case(other),
            _ => false,
        };
        !other_tables && self.find(&other.ids()).is_some()
    }

    /// Is a data set of this name another table of the same database? One that is gone may be this one under a new name.
    fn is_beside(&self, name: &str) -> bool {
        let theirs = TableAddress::of(Path::new(name)).and_then(|address| address.table);
        match (&self.table, theirs) {
            (Some((own, _)), Some(theirs)) => !own.eq_ignore_ascii_case(&theirs) && !self.has_lost(name),
            _ => false,
        }
    }

    /// Is a data set of this name a table that the database does not have any more?
    fn has_lost(&self, name: &str) -> bool {
        let theirs = TableAddress::of(Path::new(name)).and_then(|address| address.table);
        match (&self.table, theirs) {
            (Some((_, all)), Some(theirs)) => !all.iter().any(|table| table.eq_ignore_ascii_case(&theirs)),
            _ => false,
        }
    }

    fn find(&self, files: &[FileId]) -> Option<&Path> {
        let sought: HashSet<[u64; 3]> = files.iter().map(FileId::identity).collect();
        let is_one = |(_, id): &&(PathBuf, FileId)| sought.contains(&id.identity());
        self.files.iter().find(is_one).map(|(path, _)| path.as_path())
    }
}

/// Every file that may be a ledger beside or above the members, each once.
pub(super) fn ledgers(members: &Members) -> Vec<PathBuf> {
    let mut found: Vec<(FileId, PathBuf)> = Vec::new();
    for folder in &members.folders {
        let listed = fs::read_dir(folder).map(|entries| {
            let names = entries.filter_map(Result::ok).map(|entry| entry.file_name());
            names.filter(|name| name.as_encoded_bytes().ends_with(b".ledger")).collect()
        });
        // A folder that may be entered and not listed.
        let mut names: Vec<_> = listed.unwrap_or_else(|_| vec![FILE_NAME.into()]);
        names.sort();
        for path in names.into_iter().map(|name| folder.join(name)) {
            let Some(metadata) = fs::metadata(&path).ok().filter(fs::Metadata::is_file) else { continue };
            let id = FileId::of(&metadata);
            if !found.iter().any(|(known, _)| known.is(&id)) {
                found.push((id, path));
            }
        }
    }
    found.into_iter().map(|(_, path)| path).collect()
}

/// The ledger for looking; `None` for what is none, and for another user's above: who alone can charge it. One that lies beside the
/// data, or that is broken, might have a limit that nobody sees.
pub(super) fn opened(ledger: &Path, members: &Members) -> Result<Option<Ledger>, LedgerError> {
    match Ledger::open_read_only(ledger) {
        Ok(opened) => Ok(Some(opened)),
        Err(LedgerError { fault: Fault::Missing | Fault::NotAFile | Fault::NotALedger, .. }) => Ok(None),
        Err(LedgerError { fault: Fault::NoAccess, .. }) if !members.beside.contains(&folder(ledger)) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A data set of a ledger that is, or takes in, one of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covering {
    /// The file.
    pub member: PathBuf,
    /// The data set, as the ledger names it.
    pub name: String,
    /// The ledger.
    pub ledger: PathBuf,
    /// Is any limit in force on it?
    pub limited: bool,
    /// Does the name still lead to the file?
    pub(super) present: bool,
    /// Is it a pattern or a folder?
    pub(super) several: bool,
}

impl fmt::Display for Covering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [member, name, ledger] = [self.member.as_path(), Path::new(&self.name), &self.ledger].map(shown);
        let counted = if self.limited { "limited" } else { "counted" };
        if self.several {
            let parts = if PostgresAddress::is(Path::new(&self.name)) { "tables" } else { "files" };
            write!(
                f,
                "'{member}' is one of the {parts} of '{name}', which is {counted} in the ledger '{ledger}'"
            )
        } else {
            write!(f, "'{member}' is {counted} in the ledger '{ledger}' as '{name}'")
        }
    }
}

/// Every data set of the ledger that covers one of the members.
pub(super) fn coverings(
    opened: &Ledger,
    ledger: &Path,
    members: &Members,
) -> Result<Vec<Covering>, LedgerError> {
    if members.files.is_empty() {
        return Ok(Vec::new());
    }
    // Names are from the folder of the ledger itself, not of a link to it.
    let home = folder(&ledger.canonicalize().unwrap_or_else(|_| ledger.to_path_buf()));
    let covering = |Guarded { name, limited, files }: Guarded| {
        if members.is_beside(&name) {
            return None;
        }
        if PostgresAddress::is(Path::new(&name)) {
            let member = members.find(&files)?.to_path_buf();
            let present = members.remote.as_ref().is_some_and(|found| is_called(&name, found));
            let several = !present && files.len() > 1;
            let ledger = ledger.to_path_buf();
            return Some(Covering { member, name, ledger, limited, present, several });
        }
        let (now, several) = lead_to(&home, &name);
        let present = members.find(&now).filter(|_| !members.has_lost(&name));
        let member = present.or_else(|| members.find(&now)).or_else(|| members.find(&files))?.to_path_buf();
        Some(Covering {
            member,
            ledger: ledger.to_path_buf(),
            limited,
            present: present.is_some(),
            several,
            name,
        })
    };
    Ok(opened.guarded()?.into_iter().filter_map(covering).collect())
}

/// The files that a name leads to from a folder, and whether it can be several.
fn lead_to(home: &Path, name: &str) -> (Vec<FileId>, bool) {
    let path = home.join(on_disk(Path::new(name)));
    if let Ok(metadata) = fs::metadata(&path)
        && !metadata.is_dir()
    {
        return (vec![FileId::of(&metadata)], false);
    }
    let pattern = is_pattern(Path::new(name));
    // Only the name is a pattern, not the folder that it begins in.
    let path = match (pattern && !Path::new(name).is_absolute(), home.to_str()) {
        (true, Some(home)) => Path::new(&glob::Pattern::escape(home)).join(name),
        _ => path,
    };
    if !pattern && !path.is_dir() {
        return (Vec::new(), false);
    }
    let files = expand(&path).unwrap_or_default();
    (files.iter().filter_map(|file| FileId::at(file).ok()).collect(), true)
}
