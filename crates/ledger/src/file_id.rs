//! Which file it is, whatever it is called: its number on the disk and when it was made.
//!
//! A hard link is the same file and so is one that was moved within a disk; a copy is another, and so is one that a backup
//! brought back. Where the disk knows when a file was made, number and time tell it from every other; the number of the device
//! counts only where it does not, because that changes when a machine starts anew.

use std::{
    fmt,
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
    str::FromStr,
    time::UNIX_EPOCH,
};

/// What tells a file from every other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
    /// In nanoseconds since 1970; zero where the disk does not know.
    made: u64,
}

impl FileId {
    /// Of an open file, or of what was looked up.
    pub fn of(metadata: &Metadata) -> Self {
        let made = metadata.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
        // Nanoseconds of 64 bits reach beyond the year 2500.
        let made = made.and_then(|made| u64::try_from(made.as_nanos()).ok()).unwrap_or(0);
        Self { device: metadata.dev(), inode: metadata.ino(), made }
    }

    /// Of the file that a path leads to, through links.
    pub fn at(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|found| Self::of(&found))
    }

    /// Is it that file?
    pub fn is(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// What two are compared by: equal for the same file.
    pub fn identity(&self) -> [u64; 3] {
        [if self.made == 0 { self.device } else { 0 }, self.inode, self.made]
    }

    /// As three numbers.
    pub fn words(&self) -> [u64; 3] {
        [self.device, self.inode, self.made]
    }

    /// From three numbers.
    pub fn from_words([device, inode, made]: [u64; 3]) -> Self {
        Self { device, inode, made }
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, inode, made } = self;
        write!(f, "{device}:{inode}:{made}")
    }
}

impl FromStr for FileId {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let words: Vec<u64> = text.split(':').map(str::parse).collect::<Result<_, _>>().map_err(|_| ())?;
        let id = Self::from_words(words.try_into().map_err(|_| ())?);
        // One id, one text.
        if id.to_string() == text { Ok(id) } else { Err(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_moves_are_the_same_file_and_copies_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "1").unwrap();
        let first = FileId::at(&path("a")).unwrap();
        fs::hard_link(path("a"), path("link")).unwrap();
        std::os::unix::fs::symlink(path("a"), path("soft")).unwrap();
        fs::copy(path("a"), path("copy")).unwrap();
        for same in ["a", "link", "soft"] {
            assert!(FileId::at(&path(same)).unwrap().is(&first), "{same}");
        }
        assert!(!FileId::at(&path("copy")).unwrap().is(&first));
        fs::rename(path("a"), path("moved")).unwrap();
        assert!(FileId::at(&path("moved")).unwrap().is(&first));
        assert!(FileId::at(&path("none")).is_err());
    }

    #[test]
    fn the_device_counts_where_nobody_knows_when_a_file_was_made() {
        let id = |words| FileId::from_words(words);
        assert!(id([1, 2, 3]).is(&id([9, 2, 3])) && !id([1, 2, 3]).is(&id([1, 2, 4])));
        assert!(id([1, 2, 0]).is(&id([1, 2, 0])) && !id([1, 2, 0]).is(&id([9, 2, 0])));
        assert!(!id([1, 2, 3]).is(&id([1, 5, 3])));
    }

    #[test]
    fn one_id_has_one_text() {
        let id = FileId::from_words([1, u64::MAX, 3]);
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in ["", "1:2", "1:2:3:4", "01:2:3", "+1:2:3", "a:2:3", "1:2:-3"] {
            assert_eq!(bad.parse::<FileId>(), Err(()), "{bad}");
        }
    }
}
