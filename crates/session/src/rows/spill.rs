//! Bytes that wait for a later pass: in memory up to a public limit, then in a temporary file.
//!
//! The file lies in the folder for temporary files (`TMPDIR`, or `/tmp`), has mode 0600 and loses its name before the first
//! byte is written, so that it ends with the process however that ends. What it holds are private rows; a folder in memory
//! (tmpfs) or on an encrypted disk keeps them from a disk that is later read. A full disk is a lost answer.

use crate::unanswered::Unanswered;
use std::{
    fs::File,
    mem,
    os::unix::fs::FileExt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// How many bytes of rows one scan keeps in memory before it uses a file. Public and fixed.
pub(crate) const MEMORY: u64 = 512 << 20;

/// A place for bytes, shared by the threads of a scan.
pub(crate) struct Spill {
    memory_left: AtomicU64,
    file: Mutex<Option<Arc<File>>>,
    end: AtomicU64,
    lost: AtomicBool,
}

/// Bytes that were kept.
pub(crate) enum Piece {
    Memory(Vec<u8>),
    File { offset: u64, len: usize },
}

impl Spill {
    /// So many bytes stay in memory.
    pub fn new(memory: u64) -> Self {
        Self {
            memory_left: AtomicU64::new(memory),
            file: Mutex::new(None),
            end: AtomicU64::new(0),
            lost: AtomicBool::new(false),
        }
    }

    /// Keep these bytes and leave the buffer empty. What cannot be written shows in [`intact`](Self::intact).
    pub fn keep(&self, bytes: &mut Vec<u8>) -> Piece {
        let len = bytes.len();
        let room = bytes.capacity() as u64;
        let claim = |left: u64| left.checked_sub(room);
        if self.memory_left.try_update(Ordering::Relaxed, Ordering::Relaxed, claim).is_ok() {
            return Piece::Memory(mem::take(bytes));
        }
        let offset = self.end.fetch_add(len as u64, Ordering::Relaxed);
        if self.file().and_then(|file| file.write_all_at(bytes, offset).map_err(failed)).is_err() {
            self.lost.store(true, Ordering::Relaxed);
        }
        bytes.clear();
        Piece::File { offset, len }
    }

    /// Was everything kept?
    pub fn intact(&self) -> Result<(), Unanswered> {
        if self.lost.load(Ordering::Relaxed) { Err(Unanswered::Temporary) } else { Ok(()) }
    }

    /// The bytes of a piece, through a buffer where they lie in the file.
    pub fn read<'a>(&self, piece: &'a Piece, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], Unanswered> {
        match piece {
            Piece::Memory(bytes) => Ok(bytes),
            &Piece::File { offset, len } => {
                buffer.resize(len, 0);
                self.file()?.read_exact_at(buffer, offset).map_err(failed)?;
                Ok(buffer)
            }
        }
    }

    /// From here on it is like a full disk: the file cannot be written.
    #[cfg(test)]
    pub fn break_down(&self) {
        *self.file.lock().unwrap() = Some(Arc::new(File::open("/dev/null").unwrap()));
    }

    /// The file, made when it is first needed.
    fn file(&self) -> Result<Arc<File>, Unanswered> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &*file {
            return Ok(Arc::clone(file));
        }
        // A file with a name has mode 0600 whatever the umask; one without a name from the start would not.
        let (made, path) = tempfile::NamedTempFile::new().map_err(failed)?.into_parts();
        path.close().map_err(failed)?;
        let made = Arc::new(made);
        *file = Some(Arc::clone(&made));
        Ok(made)
    }
}

/// What the operating system said is left out: it may depend on how many rows there are.
fn failed<E>(_: E) -> Unanswered {
    Unanswered::Temporary
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn what_is_kept_is_read_again_wherever_it_lies() {
        for memory in [0, 7, 64, 1 << 20] {
            let spill = Spill::new(memory);
            let texts: Vec<Vec<u8>> = (0..20u8).map(|i| vec![i; usize::from(i)]).collect();
            let pieces: Vec<Piece> = texts.iter().map(|text| spill.keep(&mut text.clone())).collect();
            let mut buffer = Vec::new();
            for (piece, text) in pieces.iter().zip(&texts).rev() {
                assert_eq!(spill.read(piece, &mut buffer).unwrap(), text);
            }
            assert!(spill.intact().is_ok());
        }
    }

    #[test]
    fn the_file_has_no_name_and_one_reader() {
        let spill = Spill::new(0);
        let _ = spill.keep(&mut vec![7; 100]);
        let metadata = spill.file().unwrap().metadata().unwrap();
        assert_eq!((metadata.nlink(), metadata.mode() & 0o777, metadata.len()), (0, 0o600, 100));
    }

    /// A file that is not writable stands for a full disk.
    #[test]
    fn a_disk_that_fails_is_a_lost_answer() {
        let spill = Spill::new(0);
        spill.break_down();
        let piece = spill.keep(&mut vec![1, 2, 3]);
        assert_eq!(spill.intact(), Err(Unanswered::Temporary));
        assert_eq!(spill.read(&piece, &mut Vec::new()), Err(Unanswered::Temporary));
    }
}
