//! Which ledger, and under which name it knows a file.

use std::{
    env, io,
    path::{Path, PathBuf},
};

/// The name of a ledger that nobody named.
const FILE_NAME: &str = "equipoise.ledger";

/// The ledger that was named, or the one beside the data, or the one in this folder.
pub(crate) fn ledger_path(named: Option<&Path>, data: Option<&Path>) -> PathBuf {
    match (named, data) {
        (Some(path), _) => path.to_path_buf(),
        (None, Some(data)) => folder(data).join(FILE_NAME),
        (None, None) => PathBuf::from(FILE_NAME),
    }
}

/// The name that a file's budget belongs to: its path from the ledger's folder where it lies below it, so that
/// the folder can move, else its whole path.
pub(crate) fn data_name(data: &Path, ledger: &Path) -> io::Result<String> {
    let data = data.canonicalize()?;
    let ledger = env::current_dir()?.join(folder(ledger));
    let beside =
        ledger.canonicalize().ok().and_then(|folder| data.strip_prefix(folder).ok().map(Path::to_path_buf));
    Ok(beside.unwrap_or(data).to_string_lossy().into_owned())
}

fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}
