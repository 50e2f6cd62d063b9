//! Memory that a forked child finds empty, and a count of forks: the workspace's only unsafe code.
//!
//! # Guarantee
//!
//! After any fork on Linux 4.14 or later the child finds zeros in the page; after `fork` on any unix the
//! child finds another count in [`FORKS`]. In the parent neither changes.
//!
//! # Why
//!
//! 1. The page is a private anonymous mapping of its own, the kind that `MADV_WIPEONFORK` is for.
//! 2. QEMU's user mode, at least up to 5.0, accepted that advice and forgot it. So the handler is registered
//!    in any case, and neither mechanism relies on the other.

use crate::{EntropyError, Pool, fork};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::{io, mem::size_of, ptr, ptr::NonNull};

/// One more than the forks that the handler has seen. Never zero: zero is what a wiped page says.
pub static FORKS: AtomicU64 = AtomicU64::new(1);

/// Valid as all zeros, which is how it begins and what a child finds.
#[repr(C)]
struct Content {
    pool: Pool,
    /// `FORKS` when the key came from the system.
    keyed_at: AtomicU64,
}

pub struct Page(NonNull<Content>);

// SAFETY: the page is private to its owner, and nothing in it belongs to a thread.
unsafe impl Send for Page {}

impl Page {
    /// Zeros of our own.
    pub fn map() -> Result<Self, EntropyError> {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice overlaps nothing.
        let start = unsafe { libc::mmap(ptr::null_mut(), size_of::<Content>(), access, kind, -1, 0) };
        match NonNull::new(start) {
            Some(start) if start.as_ptr() != libc::MAP_FAILED => Ok(Self(start.cast())),
            _ => Err(EntropyError { call: "mmap", cause: io::Error::last_os_error() }),
        }
    }

    /// Ask the kernel to keep the content from children. If it refuses, the handler below remains.
    pub fn wipe_on_fork(&mut self) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        // SAFETY: the range is our own mapping; the advice changes nothing in this process.
        let _ = unsafe { libc::madvise(self.0.as_ptr().cast(), size_of::<Content>(), libc::MADV_WIPEONFORK) };
    }

    /// The content. Borrowed anew for each draw: between two draws the kernel may have wiped it.
    #[inline]
    pub fn parts(&mut self) -> (&mut Pool, &AtomicU64) {
        let content = self.0.as_ptr();
        // SAFETY: the mapping lives as long as self, starts on a page boundary and has room for a
        // Content; zeros, and what safe code wrote since, are valid ones. The two fields do not overlap,
        // and self is borrowed as long as they are.
        unsafe { (&mut (*content).pool, &(*content).keyed_at) }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.parts().0.wipe();
        // SAFETY: the mapping is ours, of this size, and this was the last use of it.
        unsafe { libc::munmap(self.0.as_ptr().cast(), size_of::<Content>()) };
    }
}

/// Count forks and hold the gate around them, from before the first coins on. No lock, which a fork could leave locked: two
/// threads may both register, and a fork then counts twice, which is as good.
pub fn watch_forks() -> Result<(), EntropyError> {
    extern "C" fn before() {
        fork::hold();
    }
    extern "C" fn after() {
        fork::release();
    }
    extern "C" fn forked() {
        FORKS.fetch_add(1, Relaxed);
        fork::release();
    }
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.load(Relaxed) {
        // SAFETY: the handlers live as long as the program and let no panic out. The child's only adds to an atomic number and
        // gives back a lock that its own thread took.
        let code = unsafe { libc::pthread_atfork(Some(before), Some(after), Some(forked)) };
        if code != 0 {
            let cause = io::Error::from_raw_os_error(code);
            return Err(EntropyError { call: "pthread_atfork", cause });
        }
        WATCHED.store(true, Relaxed);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BUFFER_BYTES, OsCoins, WORDS_PER_REFILL};
    use equipoise_core::coins::Words;

    /// Does the child find this true? It is forked from a process with threads, so it must not allocate.
    fn child_says(check: impl FnOnce() -> bool) -> bool {
        let mut status = 0;
        // SAFETY: the child computes on memory it has and leaves by _exit; the parent waits for that child.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::_exit(i32::from(!check()));
            }
            assert!(child > 0 && libc::waitpid(child, &raw mut status, 0) == child);
        }
        status == 0
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_finds_nothing_of_its_parents_coins() {
        let mut coins = OsCoins::new().unwrap();
        assert!(child_says(|| {
            let (pool, keyed_at) = coins.page.parts();
            pool.buffer == [0; BUFFER_BYTES]
                && pool.left == 0
                && keyed_at.load(Relaxed) == 0
                && coins.word() != 0
        }));
        assert_ne!(coins.page.parts().0.left, 0);
    }

    #[test]
    fn without_the_kernels_help_the_handler_sees_the_fork() {
        let mut coins = OsCoins { page: Page::map().unwrap() };
        watch_forks().and_then(|()| coins.renew(getrandom::fill)).unwrap();
        let waiting = coins.page.parts().0.buffer;
        let repeats = |coins: &mut OsCoins| {
            let word = coins.word().to_le_bytes();
            waiting.windows(8).any(|bytes| bytes == word)
        };
        assert!(child_says(|| !(0..2 * WORDS_PER_REFILL).any(|_| repeats(&mut coins))));
        assert!(repeats(&mut coins), "the parent goes on with its own");
    }
}
