//! CSV that can only be read from its beginning: unpacked on the way, or out of a pipe.
//!
//! One thread at a time takes the next lines out of the stream; parsing goes on side by side. The records are those of the
//! same text in a file.

use super::{
    CsvOptions, Header, begin,
    rows::{Rows, Rules},
};
use crate::{
    bytes::Bytes,
    problem::Problem,
    stream::{Origin, Stream},
    threads,
};
use equipoise_session::source::{ColumnRead, Lost, Source, Visitor};
use memchr::{memchr, memrchr};
use std::{
    io::{self, Cursor, Read},
    sync::{Mutex, PoisonError},
};

/// A stream of CSV whose header has been read.
pub(crate) struct CsvStream {
    origin: Origin,
    columns: Vec<String>,
    /// The byte order mark and the header line, as they were read.
    head: Vec<u8>,
    rules: Rules,
    block_bytes: usize,
}

impl CsvStream {
    /// Read the header. Of what came with it in one piece nothing is looked at, and all is kept.
    pub fn new(origin: Origin, options: &CsvOptions) -> Result<Self, Problem> {
        let mut stream = origin.open()?;
        let beginning = beginning(&mut stream, options).map_err(|error| origin.problem(error.kind()))?;
        let beginning = Bytes::Memory(beginning);
        let (head, rules) = begin(&beginning, options)?;
        if let Bytes::Memory(mut beginning) = beginning {
            let rest = beginning.split_off(head.bytes.len());
            origin.keep(Box::new(Cursor::new(rest).chain(stream)));
        }
        let block_bytes = options.block_bytes.clamp(1, 1 << 28);
        Ok(Self { origin, columns: head.columns, head: head.bytes, rules, block_bytes })
    }

    /// The stream from its first record on.
    fn records(&self) -> Result<Stream, Lost> {
        if let Some(kept) = self.origin.kept() {
            return kept;
        }
        let mut stream = self.origin.open().map_err(|_| Lost)?;
        let mut now = vec![0; self.head.len()];
        stream.read_exact(&mut now).map_err(|_| Lost)?;
        if now == self.head { Ok(stream) } else { Err(Lost) }
    }
}

/// What is surely enough of a stream to find the header in, or all of it.
fn beginning(stream: &mut Stream, options: &CsvOptions) -> io::Result<Vec<u8>> {
    const STEP: u64 = 4096;
    // Enough to see that a line is too long, with a byte order mark before it.
    let most = if options.header == Header::FirstLine { super::LONGEST_LINE + 8 } else { 3 };
    let mut read = Vec::new();
    loop {
        let step = STEP.min((most - read.len()) as u64);
        let before = read.len();
        stream.by_ref().take(step).read_to_end(&mut read)?;
        let ended = read.len() == before;
        if ended || read.len() >= most || memchr(b'\n', &read[before..]).is_some() {
            return Ok(read);
        }
    }
}

impl Source for CsvStream {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The answer is lost if the stream breaks off, if it was read before and cannot be read again, or if a visitor panics.
    fn scan(&self, wanted: &[ColumnRead], visitors: &mut [&mut dyn Visitor]) -> Result<(), Lost> {
        let before = self.origin.stamp()?;
        let lines = Mutex::new(Lines {
            stream: self.records()?,
            carried: Vec::new(),
            block_bytes: self.block_bytes,
            longest_line: self.rules.longest_line,
        });
        threads::each(visitors, |visitor| {
            let mut rows = Rows::new(self.rules, wanted);
            let mut block = Vec::new();
            loop {
                let more = lines.lock().unwrap_or_else(PoisonError::into_inner).next(&mut block)?;
                if !more {
                    return Ok(());
                }
                rows.visit(&block, visitor);
            }
        })?;
        if before == self.origin.stamp()? { Ok(()) } else { Err(Lost) }
    }
}

/// Blocks of whole lines out of a stream.
struct Lines {
    stream: Stream,
    /// The beginning of the next line, which came with the block before.
    carried: Vec<u8>,
    block_bytes: usize,
    longest_line: usize,
}

impl Lines {
    /// Take the next lines; false after the last one. Only the last line of a stream may lack its line end.
    fn next(&mut self, block: &mut Vec<u8>) -> Result<bool, Lost> {
        block.clear();
        block.append(&mut self.carried);
        loop {
            let searched = block.len();
            if self.read(self.block_bytes, block)? == 0 {
                return Ok(!block.is_empty());
            }
            if let Some(at) = memrchr(b'\n', &block[searched..]) {
                let end = searched + at + 1;
                self.carried.extend_from_slice(&block[end..]);
                block.truncate(end);
                return Ok(true);
            }
            if block.len() > self.longest_line {
                // Too long to count; so much of it shows that.
                block.truncate(self.longest_line + 1);
                self.skip_line(block)?;
                return Ok(true);
            }
        }
    }

    /// Read on to the end of a line that does not count.
    fn skip_line(&mut self, block: &mut Vec<u8>) -> Result<(), Lost> {
        let mut skipped = Vec::new();
        while self.read(self.block_bytes, &mut skipped)? > 0 {
            if let Some(at) = memchr(b'\n', &skipped) {
                block.push(b'\n');
                self.carried.extend_from_slice(&skipped[at + 1..]);
                return Ok(());
            }
            skipped.clear();
        }
        Ok(())
    }

    fn read(&mut self, most: usize, into: &mut Vec<u8>) -> Result<usize, Lost> {
        self.stream.by_ref().take(most as u64).read_to_end(into).map_err(|_| Lost)
    }
}
