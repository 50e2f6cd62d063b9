//! Which ledger, and under which name it knows a file.

use std::{
    io,
    path::{Path, PathBuf},
};

/// The name of a ledger that nobody named.
const FILE_NAME: &str = "equipoise.ledger";

/// The ledger that was named, or the one beside the data, or the one in this folder.
pub(crate) fn ledger_path(named: Option<&Path>, data: Option<&Path>) -> PathBuf {
    match (named, data) {
        (Some(path), _) => path.to_path_buf(),
        (None, Some(data)) => home(data).join(FILE_NAME),
        (None, None) => PathBuf::from(FILE_NAME),
    }
}

/// The name that a file's budget belongs to: its path from the ledger's folder where it lies below it, so that
/// the folder can move, else its whole path.
pub(crate) fn data_name(data: &Path, ledger: &Path) -> io::Result<String> {
    let data = data.canonicalize()?;
    // A link to a ledger is that ledger, also for the names in it; a new one will lie in its folder.
    let ledger =
        ledger.canonicalize().map(|ledger| folder(&ledger)).or_else(|_| folder(ledger).canonicalize());
    let beside = ledger.ok().and_then(|folder| data.strip_prefix(folder).ok().map(Path::to_path_buf));
    let name = beside.unwrap_or(data).into_os_string().into_string();
    // Replacing what is not text would give two files one budget.
    name.map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidFilename, "its path is not UTF-8 text; rename the file")
    })
}

/// The folder that a data file lies in; behind a link, that of the file itself, so that it has one ledger.
fn home(data: &Path) -> PathBuf {
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
