//! Blocks of whole lines from a file, claimed by several threads, in bounded memory.
//!
//! A block owns the lines that *begin* in its range of bytes. So it may read past its end, up to the end of its last
//! line, but never further than the longest line that counts: a longer one is cut, and still too long to count.
//! Where a line crosses a whole block, that block owns nothing. Blocks of any size own the same lines.

use crate::bytes::{Bytes, Stamp};
use equipoise_session::source::Lost;
use memchr::memchr;
use std::{
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
};

/// The lines of some bytes, handed out block by block.
pub struct Blocks<'a> {
    bytes: &'a Bytes,
    /// Where the records are.
    records: Range<u64>,
    block_bytes: usize,
    longest_line: usize,
    claimed: AtomicU64,
}

/// How far a block reads on in the hope to find the end of its last line.
const AHEAD: usize = 4096;

impl<'a> Blocks<'a> {
    /// All lines from `begin` on, as the bytes stand now.
    pub fn new(
        bytes: &'a Bytes,
        begin: u64,
        stamp: &Stamp,
        block_bytes: usize,
        longest_line: usize,
    ) -> Result<Self, Lost> {
        assert!(block_bytes > 0, "a block has bytes");
        if stamp.length() < begin {
            return Err(Lost);
        }
        let records = begin..stamp.length();
        Ok(Self { bytes, records, block_bytes, longest_line, claimed: AtomicU64::new(0) })
    }

    /// Read the next block of whole lines into the buffer; where they stand in it, or `None` after the last block.
    pub fn next(&self, buffer: &mut Vec<u8>) -> Result<Option<Range<usize>>, Lost> {
        let number = self.claimed.fetch_add(1, Ordering::Relaxed);
        let skipped = number.checked_mul(self.block_bytes as u64).ok_or(Lost)?;
        let begin = match self.records.start.checked_add(skipped) {
            Some(begin) if begin < self.records.end => begin,
            _ => return Ok(None),
        };
        let end = self.records.end.min(begin + self.block_bytes as u64);
        // One byte before: a line begins after a line end.
        let from = if begin > self.records.start { begin - 1 } else { begin };
        let mut to = self.records.end.min(end + AHEAD as u64);
        buffer.clear();
        self.extend(buffer, from, to)?;
        let first = if begin > self.records.start {
            match memchr(b'\n', &buffer[..length(from, end) - 1]) {
                Some(at) => at + 1,
                None => return Ok(Some(0..0)),
            }
        } else {
            0
        };
        // The last line that begins before `end` ends at the first line end from here on.
        let mut searched = length(from, end) - 1;
        let furthest = self.records.end.min(end.saturating_add(self.longest_line as u64 + 1));
        loop {
            if let Some(at) = memchr(b'\n', &buffer[searched..]) {
                return Ok(Some(first..searched + at + 1));
            }
            searched = buffer.len();
            if to >= furthest {
                return Ok(Some(first..buffer.len()));
            }
            let next = furthest.min(to + searched as u64);
            self.extend(buffer, to, next)?;
            to = next;
        }
    }

    fn extend(&self, buffer: &mut Vec<u8>, from: u64, to: u64) -> Result<(), Lost> {
        let old = buffer.len();
        buffer.resize(old + length(from, to), 0);
        self.bytes.fill_at(&mut buffer[old..], from)
    }
}

fn length(from: u64, to: u64) -> usize {
    usize::try_from(to - from).expect("a block fits in memory")
}
