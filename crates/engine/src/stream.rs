//! Where a stream of bytes comes from, and how it is unpacked.

use crate::{
    bytes::{Bytes, Reader, Stamp},
    problem::Problem,
};
use equipoise_session::source::Lost;
use std::{
    io::{self, BufReader, Read},
    sync::{Arc, Mutex, PoisonError},
};

/// Bytes from their beginning on.
pub(crate) type Stream = Box<dyn Read + Send>;

/// The logarithm of how many unpacked bytes a file may ask to be kept at hand: 128 MiB, as the `zstd` command allows.
const LONGEST_ZSTD_WINDOW: u32 = 27;

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Packing {
    /// By the first bytes.
    pub fn of_magic(bytes: &[u8]) -> Self {
        match bytes {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }

    /// A stream without its packing. What it unpacks to is never held as a whole.
    pub fn unpack(self, stream: Stream) -> io::Result<Stream> {
        Ok(match self {
            Self::Plain => stream,
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(stream)),
            Self::Zstd => {
                let mut unpacked = zstd::Decoder::new(stream)?;
                // What stands farther back than this has to be kept in memory to be repeated.
                unpacked.window_log_max(LONGEST_ZSTD_WINDOW)?;
                Box::new(unpacked)
            }
        })
    }
}

/// A stream that can be opened again, or one that can be read once.
pub(crate) enum Origin {
    /// A file; every scan opens it from the beginning.
    File { bytes: Arc<Bytes>, packing: Packing },
    /// Standard input. After the header has been read, the rest waits here for its one scan.
    Once(Mutex<Option<Stream>>, Packing),
}

impl Origin {
    /// The stream from its beginning, unpacked. That of a pipe is handed out once and then given back by [`Self::keep`].
    pub fn open(&self) -> Result<Stream, Problem> {
        let (packed, packing): (Stream, Packing) = match self {
            Self::File { bytes, packing } => {
                (Box::new(BufReader::with_capacity(1 << 16, Reader::new(bytes.clone(), 0))), *packing)
            }
            Self::Once(waiting, packing) => {
                let stream = waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
                (stream.ok_or(Problem::ReadBefore)?, *packing)
            }
        };
        packing.unpack(packed).map_err(|error| self.problem(error.kind()))
    }

    /// Keep what is left after the header, where it cannot be read again.
    pub fn keep(&self, rest: Stream) {
        if let Self::Once(waiting, _) = self {
            *waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(rest);
        }
    }

    /// What was kept; `None` where the stream can be opened again.
    pub fn kept(&self) -> Option<Result<Stream, Lost>> {
        match self {
            Self::File { .. } => None,
            Self::Once(waiting, _) => {
                Some(waiting.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or(Lost))
            }
        }
    }

    /// The last bytes of what can be read at any place; `None` where they are only seen at the end.
    pub fn last_bytes(&self, count: usize) -> Option<Vec<u8>> {
        let Self::File { bytes, packing: Packing::Plain } = self else { return None };
        let at = bytes.stamp().ok()?.length().saturating_sub(count as u64);
        let mut last = vec![0; count];
        bytes.fill_at(&mut last, at).ok()?;
        Some(last)
    }

    /// What changes when a file does.
    pub fn stamp(&self) -> Result<Option<Stamp>, Lost> {
        match self {
            Self::File { bytes, .. } => bytes.stamp().map(Some).map_err(|_| Lost),
            Self::Once(..) => Ok(None),
        }
    }

    /// Why the beginning cannot be read: packed bytes that cannot be unpacked are told from a disk that fails.
    pub fn problem(&self, kind: io::ErrorKind) -> Problem {
        let packing = match self {
            Self::File { packing, .. } | Self::Once(_, packing) => *packing,
        };
        match (packing, kind) {
            (Packing::Plain, _) | (_, io::ErrorKind::PermissionDenied) => Problem::of(kind),
            (Packing::Gzip, _) => Problem::NotPacked("gzip"),
            (Packing::Zstd, _) => Problem::NotPacked("zstd"),
        }
    }
}
