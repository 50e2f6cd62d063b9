//! What would be run, as one hash: the command lines, and what stands in the files that they name and in those that are shown.
//!
//! A stored answer is given again only for the same programs; a changed script is another question. Programs of the
//! system and of whole installations count by their paths: who installs them answers for them.

use crate::Refusal;
use sha2::{Digest, Sha256};
use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// A hash over words and files, in the order in which they are told.
#[derive(Default)]
pub(crate) struct Fingerprint(Sha256);

impl Fingerprint {
    /// A word. Its length comes first, so that no two lists of words are one.
    pub fn word(&mut self, word: &OsStr) {
        self.0.update((word.len() as u64).to_le_bytes());
        self.0.update(word.as_bytes());
    }

    /// A file or a folder with all that is in it, by path and content. Links inside are words: they are not followed.
    pub fn path(&mut self, path: &Path) -> Result<(), Refusal> {
        self.any(path).map_err(|error| Refusal::line(format!("cannot read '{}': {error}", path.display())))
    }

    fn any(&mut self, path: &Path) -> io::Result<()> {
        self.word(path.as_os_str());
        // Only the path that was named may be a link.
        if fs::metadata(path)?.is_dir() { self.folder(path) } else { self.file(path) }
    }

    fn folder(&mut self, path: &Path) -> io::Result<()> {
        let entries: io::Result<Vec<PathBuf>> = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect();
        let mut entries = entries?;
        entries.sort();
        self.0.update((entries.len() as u64).to_le_bytes());
        for entry in entries {
            self.word(entry.file_name().unwrap_or_default());
            let kind = fs::symlink_metadata(&entry)?;
            if kind.is_symlink() {
                self.word(fs::read_link(&entry)?.as_os_str());
            } else if kind.is_dir() {
                self.folder(&entry)?;
            } else if kind.is_file() {
                self.file(&entry)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> io::Result<()> {
        let mut content = Sha256::new();
        let (mut file, mut part) = (File::open(path)?, vec![0; 1 << 16]);
        loop {
            match file.read(&mut part)? {
                0 => break,
                count => content.update(&part[..count]),
            }
        }
        self.0.update(content.finalize());
        Ok(())
    }

    pub fn text(self) -> String {
        let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
        self.0.finalize().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &Path) -> String {
        let mut fingerprint = Fingerprint::default();
        fingerprint.path(path).expect("it can be read");
        fingerprint.text()
    }

    #[test]
    fn a_change_anywhere_in_a_folder_is_seen_and_links_are_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = folder.path();
        fs::create_dir(whole.join("inner")).expect("a folder");
        fs::write(whole.join("inner/fit.py"), "print(1)").expect("a file");
        std::os::unix::fs::symlink(whole, whole.join("inner/loop")).expect("a link");
        let first = of(whole);
        assert_eq!(of(whole), first);
        fs::write(whole.join("inner/fit.py"), "print(2)").expect("a file");
        let second = of(whole);
        assert_ne!(first, second);
        fs::rename(whole.join("inner/fit.py"), whole.join("inner/fit2.py")).expect("another name");
        assert_ne!(of(whole), second);
        assert!(Fingerprint::default().path(&whole.join("nowhere")).is_err());
    }

    #[test]
    fn words_do_not_run_together() {
        let of = |words: &[&str]| {
            let mut fingerprint = Fingerprint::default();
            for word in words {
                fingerprint.word(OsStr::new(word));
            }
            fingerprint.text()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
    }
}
