//! What a file may claim. Nothing is made room for by a number that stands in a file alone: it is held against what its
//! format allows, against the bytes that are there, and against the memory of the machine.
//!
//! A request for memory that cannot be had ends the process in Rust; so does a call that goes too deep. Both would be
//! somebody's file killing somebody's notebook, so each is asked for here first, where it can fail.

use equipoise_session::source::Lost;
use std::{fs, io::Read, iter};

/// How many levels of columns may stand in each other.
pub(crate) const DEEPEST: usize = 64;

/// How many columns a schema may have, those inside of others too.
pub(crate) const MOST_FIELDS: usize = 1 << 20;

/// How many bytes the names of all columns may have, each written with the names of those that it stands in.
pub(crate) const LONGEST_NAMES: usize = 1 << 26;

/// How many bytes the cells of a column of fixed length may have.
pub(crate) const WIDEST: usize = 1 << 20;

/// How many rows one batch or row group may claim: where all cells of a column are null, no byte has to stand for them.
pub(crate) const MOST_ROWS: u64 = 1 << 32;

/// How many rows are handed to a visitor at once, at most.
pub(crate) const ROWS_AT_ONCE: usize = 1 << 20;

/// Rows in parts that are handed over at once.
pub(crate) fn parts(rows: u64) -> impl Iterator<Item = usize> {
    let mut left = rows;
    iter::from_fn(move || {
        let part = left.min(ROWS_AT_ONCE as u64);
        left -= part;
        usize::try_from(part).ok().filter(|&part| part > 0)
    })
}

/// Below this, memory is not asked about: any machine has as much.
const SMALL: u64 = 1 << 26;

/// Whether there is memory for so many bytes at once; lost if not.
pub(crate) fn room(bytes: u64) -> Result<(), Lost> {
    if bytes <= SMALL {
        return Ok(());
    }
    let length = usize::try_from(bytes).map_err(|_| Lost)?;
    // What is reserved and not written to costs no memory, so that asking is cheap.
    Vec::<u8>::new().try_reserve_exact(length).map_err(|_| Lost)?;
    match available() {
        Some(available) if available < bytes => Err(Lost),
        _ => Ok(()),
    }
}

/// An empty list with room for so many bytes.
pub(crate) fn reserved(bytes: usize) -> Result<Vec<u8>, Lost> {
    let mut list = Vec::new();
    room(bytes as u64)?;
    list.try_reserve_exact(bytes).map_err(|_| Lost)?;
    Ok(list)
}

/// At most so many bytes of a stream. Room is made as bytes come, so that a length that lies takes none.
pub(crate) fn up_to(stream: &mut impl Read, length: u64) -> Result<Vec<u8>, Lost> {
    const STEP: u64 = 1 << 16;
    let mut bytes = Vec::new();
    loop {
        let have = bytes.len() as u64;
        let step = (length - have).min(STEP.max(have));
        room(have + step)?;
        bytes.try_reserve(usize::try_from(step).map_err(|_| Lost)?).map_err(|_| Lost)?;
        stream.by_ref().take(step).read_to_end(&mut bytes).map_err(|_| Lost)?;
        let now = bytes.len() as u64;
        if now == length || now < have + step {
            return Ok(bytes);
        }
    }
}

/// How much memory the machine, or the container that this runs in, can still give; `None` where that cannot be told.
fn available() -> Option<u64> {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let memory = fs::read_to_string("/proc/meminfo").ok();
    let machine = memory.as_deref().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
    });
    let limit = number("/sys/fs/cgroup/memory.max");
    let used = number("/sys/fs/cgroup/memory.current");
    let container = limit.zip(used).map(|(limit, used)| limit.saturating_sub(used));
    machine.into_iter().chain(container).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_lost_and_not_the_end() {
        assert_eq!(room(1 << 20), Ok(()));
        assert_eq!(room(2_800_000_000_000_000_000), Err(Lost));
        assert_eq!(room(u64::MAX), Err(Lost));
        assert_eq!(reserved(usize::MAX).map(|list| list.capacity()), Err(Lost));
        assert!(available().is_none_or(|bytes| bytes > 1 << 20));
    }

    #[test]
    fn a_length_that_lies_takes_no_room() {
        let text = vec![7; 300_000];
        for length in [0, 1, 65_536, 65_537, 300_000, u64::MAX] {
            let read = up_to(&mut text.as_slice(), length).unwrap();
            assert_eq!(read.len() as u64, length.min(300_000));
            assert!(read.capacity() <= 700_000);
        }
    }
}
