//! Which ledger, and under which name it knows a file, a pattern, a folder or standard input: one rule for the command line and for
//! Python, because a second one would be a way around a limit.

use crate::{STANDARD_INPUT, expand, is_pattern};
use equipoise_core::wording;
use equipoise_session::ledger::{DataSet, Fault, Ledger, LedgerError};
use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

/// The name of a ledger that nobody named.
const FILE_NAME: &str = "equipoise.ledger";

/// The ledger that was named, or the one beside the data, or the one in this folder.
pub fn ledger_path(named: Option<&Path>, data: Option<&Path>) -> PathBuf {
    match (named, data) {
        (Some(path), _) => path.to_path_buf(),
        (None, Some(data)) => home(data).join(FILE_NAME),
        (None, None) => PathBuf::from(FILE_NAME),
    }
}

/// The ledger that a question is charged to, or one line that says why not: a folder or a pattern that nobody named a ledger for must
/// not walk around the ledger that lies beside one of its files, nor a file the ledger above it that counts it with others.
pub fn charged_ledger(named: Option<&Path>, data: &Path) -> Result<PathBuf, String> {
    let charged = ledger_path(named, Some(data));
    if named.is_some() || data == Path::new(STANDARD_INPUT) {
        return Ok(charged);
    }
    let members = expand(data).unwrap_or_default();
    for member in &members {
        let beside = ledger_path(None, Some(member));
        if beside.exists() && beside.canonicalize().ok() != charged.canonicalize().ok() {
            return Err(format!(
                "'{}' has a ledger beside it, '{}'; name that with --ledger, or ask of the file itself",
                shown(member),
                shown(&beside)
            ));
        }
    }
    let Some(Above { member, name, ledger }) = counted_above(&members, &charged) else { return Ok(charged) };
    let (member, ledger, name) = (shown(&member), shown(&ledger), Path::new(&name));
    Err(if is_pattern(name) || folder(Path::new(&ledger)).join(name).is_dir() {
        let name = shown(name);
        format!(
            "'{member}' is one of the files of '{name}', which is counted in the ledger '{ledger}'; ask of those, or name that ledger with --ledger"
        )
    } else {
        format!("'{member}' is counted in the ledger '{ledger}'; name that ledger with --ledger")
    })
}

fn shown(path: &Path) -> String {
    wording::shown(&path.to_string_lossy())
}

/// A file that a ledger in a folder above it counts, by itself or as one of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Above {
    /// The file.
    pub member: PathBuf,
    /// The file, pattern or folder, as the ledger names it.
    pub name: String,
    /// The ledger.
    pub ledger: PathBuf,
}

/// The name under which a ledger knows this data, or one of its files, or what they are part of: their rows are private. It is
/// looked for in the ledger that was named and in those beside and above the files.
pub fn known_as(data: &Path, given: Option<&str>, named: Option<&Path>) -> Result<Option<String>, Looking> {
    let members =
        if data == Path::new(STANDARD_INPUT) { Vec::new() } else { expand(data).unwrap_or_default() };
    let files = members.iter().map(|member| (&**member, None));
    for (one, given) in std::iter::once((data, given)).chain(files) {
        for ledger in [ledger_path(named, Some(one)), ledger_path(None, Some(one))] {
            let name = data_name(one, given, &ledger).map_err(Looking::Named)?;
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
    Ok(counted_above(&members, &ledger_path(None, Some(data))).map(|above| above.name))
}

/// Why it is not known whether a ledger knows some data. `Display` is one line.
#[derive(Debug)]
pub enum Looking {
    /// The data has no name.
    Named(String),
    /// A ledger cannot be read.
    Ledger(LedgerError),
}

impl From<LedgerError> for Looking {
    fn from(error: LedgerError) -> Self {
        Self::Ledger(error)
    }
}

/// Is one of these files known to a ledger above it, or part of a pattern or a folder that is? A ledger that cannot be opened is another
/// user's, who alone can charge it.
pub fn counted_above(members: &[PathBuf], charged: &Path) -> Option<Above> {
    let real: BTreeSet<PathBuf> = members.iter().filter_map(|member| member.canonicalize().ok()).collect();
    let folders: BTreeSet<&Path> = real.iter().flat_map(|member| member.ancestors().skip(1)).collect();
    let charged = charged.canonicalize().ok();
    for folder in folders {
        let ledger = folder.join(FILE_NAME);
        if !ledger.is_file() || ledger.canonicalize().ok() == charged {
            continue;
        }
        let known = Ledger::open_read_only(&ledger).and_then(|opened| opened.data_sets());
        for DataSet { name, .. } in known.unwrap_or_default() {
            let files = expand(&folder.join(&name)).unwrap_or_default();
            let found =
                files.iter().filter_map(|file| file.canonicalize().ok()).find(|file| real.contains(file));
            if let Some(member) = found {
                return Some(Above { member, name, ledger });
            }
        }
    }
    None
}

/// The name that the budget of this data belongs to, or one line that says why it has none. Standard input has the name that
/// is given; everything else goes by its path, so that nobody renames what was spent on.
pub fn data_name(data: &Path, given: Option<&str>, ledger: &Path) -> Result<String, String> {
    match (data == Path::new(STANDARD_INPUT), given) {
        (true, Some(name)) => Ok(name.to_string()),
        (true, None) => {
            Err("standard input has no name; say --name NAME, which its budget belongs to".to_string())
        }
        (false, Some(_)) => {
            Err("--name is for standard input alone; a file goes by its path, so leave it out".to_string())
        }
        (false, None) => path_name(data, ledger).map_err(|error| no_file(data, &error)),
    }
}

/// Why a file cannot be asked about, as one line.
pub fn no_file(file: &Path, error: &io::Error) -> String {
    let shown = wording::shown(&file.to_string_lossy());
    match error.kind() {
        io::ErrorKind::NotFound => format!("there is no file '{shown}'; check the path"),
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
        assert!(data_name(stdin, None, ledger).is_err_and(|line| line.contains("--name NAME")));
        assert!(
            data_name(Path::new("a.csv"), Some("b"), ledger).is_err_and(|line| line.contains("leave it out"))
        );
    }
}
