//! `sqlite:people.db?table=salaries`: a table of a database file where the name of a file may stand.

use std::{
    borrow::Cow,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

const SCHEME: &[u8] = b"sqlite:";
const TABLE: &[u8] = b"?table=";

/// Where a table is, as it was typed. What stands between the scheme and the last `?table=` is the file, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableAddress {
    /// The database.
    pub file: PathBuf,
    /// The table; without one the database has to have one only.
    pub table: Option<String>,
}

impl TableAddress {
    /// The address that a path is, or `None` for a path of a file.
    pub fn of(path: &Path) -> Option<Self> {
        let rest = path.as_os_str().as_bytes().strip_prefix(SCHEME)?;
        let at = rest.windows(TABLE.len()).rposition(|part| part == TABLE);
        let (file, table) = match at {
            Some(at) => (&rest[..at], Some(&rest[at + TABLE.len()..])),
            None => (rest, None),
        };
        Some(Self {
            file: PathBuf::from(OsStr::from_bytes(file)),
            table: table.map(|table| String::from_utf8_lossy(table).into_owned()),
        })
    }

    /// The address of a table in a file of this name.
    pub fn text(file: &str, table: &str) -> String {
        format!("sqlite:{file}?table={table}")
    }
}

/// The file on the disk that a path leads to: of a table, its database.
pub fn on_disk(path: &Path) -> Cow<'_, Path> {
    match TableAddress::of(path) {
        Some(address) => Cow::Owned(address.file),
        None => Cow::Borrowed(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_by_hand() {
        let of = |text: &str| TableAddress::of(Path::new(text));
        let address = |file: &str, table: Option<&str>| {
            Some(TableAddress { file: file.into(), table: table.map(Into::into) })
        };
        assert_eq!(of("sqlite:a/b.db?table=t u"), address("a/b.db", Some("t u")));
        assert_eq!(of("sqlite:a.db"), address("a.db", None));
        assert_eq!(of("sqlite:?table=x?table=y"), address("?table=x", Some("y")));
        assert_eq!(of("a.db?table=t"), None);
        assert_eq!(of("./sqlite:a.db?table=t"), None);
        assert_eq!(of(&TableAddress::text("a.db", "t")), address("a.db", Some("t")));
        assert_eq!(on_disk(Path::new("sqlite:a.db?table=t")), Path::new("a.db"));
        assert_eq!(on_disk(Path::new("a.csv")), Path::new("a.csv"));
    }
}
