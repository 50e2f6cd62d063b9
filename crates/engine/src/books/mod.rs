//! Which ledger, and under which name it knows a file, a pattern, a folder or standard input: one rule for the command line and for
//! Python, because a second one would be a way around a limit.

mod account;
mod content;
mod near;

pub use account::{Account, Asked};
pub use content::content_of;
pub use near::Covering;

use crate::{
    OpenError, STANDARD_INPUT, TableAddress, expand, is_pattern, on_disk,
    problem::not_there,
    remote::{self, FoundTable, PostgresAddress},
    sqlite,
};
use equipoise_core::wording;
use equipoise_session::ledger::{Fault, Guarded, Ledger, LedgerError, utc};
use near::Members;
use std::{
    env, fmt,
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

/// The name of a ledger that nobody named.
const FILE_NAME: &str = "equipoise.ledger";

/// The ledger that was named, or the one beside the data, or the one in this folder. A table of a server lies beside nothing: it has
/// the ledger of whoever asks, wherever they ask from.
pub fn ledger_path(named: Option<&Path>, data: Option<&Path>) -> PathBuf {
    match (named, data) {
        (Some(path), _) => path.to_path_buf(),
        (None, Some(data)) if PostgresAddress::is(data) => users_folder().join(FILE_NAME),
        (None, Some(data)) => home(data).join(FILE_NAME),
        (None, None) => PathBuf::from(FILE_NAME),
    }
}

/// Where programs keep what they have to remember of their user; the folder is made where there is none. This folder where nobody is at home.
fn users_folder() -> PathBuf {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local").join("state")));
    let Some(folder) = state.map(|state| state.join("equipoise")) else { return PathBuf::from(".") };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    if made.is_ok() { folder } else { PathBuf::from(".") }
}

/// When a file was changed or put into its place last, as ledgers write times: what was told before is about other rows. Nothing for what is
/// not one file.
pub fn changed_at(file: &Path) -> Option<String> {
    settled_at(file, 0)
}

/// The same so many seconds later: where answers are recorded that long after their rows were read.
pub fn settled_at(file: &Path, seconds: u64) -> Option<String> {
    let metadata = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    let written = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs();
    Some(utc(written.max(placed(&metadata)).saturating_add(seconds)))
}

/// When a file was renamed or given back its old time, which leaves the time of its content as it was.
#[cfg(unix)]
fn placed(metadata: &std::fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    u64::try_from(metadata.ctime()).unwrap_or(0)
}

#[cfg(not(unix))]
fn placed(_: &std::fs::Metadata) -> u64 {
    0
}

fn shown(path: &Path) -> String {
    wording::visible_name(&remote::shown(path))
}

/// The name under which a ledger knows this data, or one of its files, or what they are part of: their rows are private. It is
/// looked for in the ledger that was named and in those beside and above the files, by name and by which files they are.
pub fn known_as(
    data: &Path,
    given: Option<&str>,
    named: Option<&Path>,
) -> Result<Option<String>, LookupError> {
    let files = if data == Path::new(STANDARD_INPUT) { Vec::new() } else { expand(data).unwrap_or_default() };
    let files = files.iter().map(|file| (&**file, None));
    for (one, given) in std::iter::once((data, given)).chain(files) {
        for ledger in [ledger_path(named, Some(one)), ledger_path(None, Some(one))] {
            let name = data_name(one, given, &ledger).map_err(LookupError::Named)?;
            let known = match Ledger::open_read_only(&ledger) {
                Ok(opened) => opened.data_set(&name)?.is_some(),
                Err(LedgerError { fault: Fault::Missing, .. }) => false,
                Err(error) => return Err(error.into()),
            };
            if known {
                return Ok(Some(name));
            }
        }
    }
    let members = Members::of(data);
    let near = near::ledgers(&members).into_iter().chain(named.map(Path::to_path_buf));
    for ledger in near {
        let Some(opened) = near::opened(&ledger, &members)? else { continue };
        if let Some(found) = near::coverings(&opened, &ledger, &members)?.into_iter().next() {
            return Ok(Some(found.name));
        }
    }
    Ok(None)
}

/// Have two paths rows in common, as far as files tell: one file under two names or behind a link, one that a folder or a pattern takes in,
/// one table of a database however it is spelled. A copy is another file. No row is read.
pub fn share_rows(one: &Path, other: &Path) -> bool {
    Members::of(one).share_rows(&Members::of(other))
}

/// Why data has no account, or why it is not known whether a ledger knows it. `Display` is one line.
#[derive(Debug)]
pub enum LookupError {
    /// The data has no name, or a limit covers it that is not the one to be charged.
    Named(String),
    /// A ledger cannot be read, and nobody knows what it says of the data.
    Ledger(LedgerError),
}

impl LookupError {
    /// The exit code of the command line.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Named(_) => 2,
            Self::Ledger(error) => error.exit_code(),
        }
    }
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(line) => f.write_str(line),
            Self::Ledger(error) => f.write_str(&error.without("nothing was charged")),
        }
    }
}

impl std::error::Error for LookupError {}

impl From<LedgerError> for LookupError {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

/// The name that the budget of this data belongs to, or one line that says why it has none. Standard input has the name that
/// is given; everything else goes by its path, so that nobody renames what was spent on.
pub fn data_name(data: &Path, given: Option<&str>, ledger: &Path) -> Result<String, String> {
    match (data == Path::new(STANDARD_INPUT), given) {
        (true, Some(name)) => Ok(name.to_string()),
        (true, None) => {
            Err("standard input has no name; say `name=NAME`, which its budget belongs to".to_string())
        }
        (false, Some(_)) => {
            Err("`name` is for standard input alone; a file goes by its path, so leave it out".to_string())
        }
        (false, None) => match (remote::look_up(data), TableAddress::of(data)) {
            (Some(found), _) => {
                let failed = |problem| OpenError { path: Some(data.to_path_buf()), problem }.to_string();
                remote_name(found.map_err(failed)?, ledger)
            }
            (None, Some(address)) => table_name(&address, data, ledger),
            (None, None) => path_name(data, ledger).map_err(|error| no_file(data, &error)),
        },
    }
}

/// The address of a table of a server without a user. A server has many names: where the ledger knows the same table of the same database
/// already, that is its name, however it is reached now.
fn remote_name(found: FoundTable, ledger: &Path) -> Result<String, String> {
    let known = match Ledger::open_read_only(ledger) {
        Ok(opened) => opened.guarded().map_err(|error| LookupError::Ledger(error).to_string())?,
        Err(LedgerError { fault: Fault::Missing, .. }) => return Ok(found.name),
        Err(error) => return Err(LookupError::Ledger(error).to_string()),
    };
    let is_it = |known: &Guarded| {
        is_called(&known.name, &found) && known.files.iter().any(|file| file.is(&found.ids[0].1))
    };
    // The spelling that was typed, where that is known too: it may be another server now.
    if known.iter().any(|known| known.name == found.name) {
        return Ok(found.name);
    }
    Ok(known.into_iter().find(is_it).map_or(found.name, |known| known.name))
}

/// Is this name that of the table, whatever the host is called?
fn is_called(name: &str, found: &FoundTable) -> bool {
    let Some(Ok(named)) = PostgresAddress::of(Path::new(name)) else { return false };
    named.table.as_ref() == Some(&found.table.1) && named.settings.get("dbname") == Some(&found.table.0)
}

/// The address of a table by the path of its database and the name that it has there: in any other case it is the same table.
fn table_name(address: &TableAddress, typed: &Path, ledger: &Path) -> Result<String, String> {
    let file = path_name(&address.file, ledger).map_err(|error| no_file(&address.file, &error))?;
    let named = sqlite::spelled(address);
    let (table, _) =
        named.map_err(|problem| OpenError { path: Some(typed.to_path_buf()), problem }.to_string())?;
    Ok(TableAddress::text(&file, &table))
}

/// Why a file cannot be asked about, as one line.
pub fn no_file(file: &Path, error: &io::Error) -> String {
    let shown = shown(file);
    match error.kind() {
        io::ErrorKind::NotFound => not_there(&format!("'{shown}'")),
        io::ErrorKind::InvalidFilename => format!("'{shown}' is not UTF-8 text; rename the file"),
        kind => format!("'{shown}' cannot be read ({kind}); check its permissions"),
    }
}

/// The path from the ledger's folder where it lies below it, so that the folder can move, else the whole path. A pattern is
/// named by itself, below the real path of the folder that it begins in.
fn path_name(data: &Path, ledger: &Path) -> io::Result<String> {
    let data = if is_pattern(data) {
        let (folder, rest) = split_pattern(data);
        folder.canonicalize()?.join(rest)
    } else {
        data.canonicalize()?
    };
    // A link to a ledger is that ledger, also for the names in it; a new one will lie in its folder.
    let ledger =
        ledger.canonicalize().map(|ledger| folder(&ledger)).or_else(|_| folder(ledger).canonicalize());
    let beside = ledger.ok().and_then(|folder| data.strip_prefix(folder).ok().map(Path::to_path_buf));
    // The folder that the ledger lies in is a dot, so that it can move too.
    let beside = beside.map(|name| if name.as_os_str().is_empty() { PathBuf::from(".") } else { name });
    let name = beside.unwrap_or(data).into_os_string().into_string();
    // Replacing what is not text would give two files one budget.
    name.map_err(|_| io::Error::from(io::ErrorKind::InvalidFilename))
}

/// The folder that a pattern begins in, and the rest of it.
fn split_pattern(pattern: &Path) -> (PathBuf, PathBuf) {
    let plain = |part: &Path| !part.to_string_lossy().contains(['*', '?', '[']);
    let begins = pattern.ancestors().skip(1).find(|folder| plain(folder)).unwrap_or(Path::new(""));
    let rest = pattern.strip_prefix(begins).unwrap_or(pattern).to_path_buf();
    let begins = if begins.as_os_str().is_empty() { Path::new(".") } else { begins };
    (begins.to_path_buf(), rest)
}

/// The folder that a data file lies in; behind a link, that of the file itself, so that it has one ledger. A folder of data
/// holds its ledger itself, as its files do.
fn home(data: &Path) -> PathBuf {
    let data = &*on_disk(data);
    if is_pattern(data) {
        return split_pattern(data).0;
    }
    if data.is_dir() {
        return data.to_path_buf();
    }
    let typed = folder(data);
    match (data.canonicalize(), typed.canonicalize()) {
        (Ok(real), Ok(near)) if folder(&real) != near => folder(&real),
        _ => typed,
    }
}

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_named_by_itself_below_the_folder_that_it_begins_in() {
        let table = [("*.csv", ".", "*.csv"), ("a/b/*.csv", "a/b", "*.csv"), ("a/*/b.csv", "a", "*/b.csv")];
        for (pattern, folder, rest) in table {
            assert_eq!(split_pattern(Path::new(pattern)), (folder.into(), rest.into()));
        }
    }

    #[test]
    fn standard_input_has_the_name_that_is_given_and_files_have_none_but_their_paths() {
        let ledger = Path::new("equipoise.ledger");
        let stdin = Path::new("-");
        assert_eq!(data_name(stdin, Some("sales"), ledger).as_deref(), Ok("sales"));
        assert!(data_name(stdin, None, ledger).is_err_and(|line| line.contains("`name=NAME`")));
        assert!(
            data_name(Path::new("a.csv"), Some("b"), ledger).is_err_and(|line| line.contains("leave it out"))
        );
    }
}
