//! Random words for published answers: ChaCha20 keyed by the operating system, with no seed.
//!
//! Source: "fast key erasure" (D. J. Bernstein, 2017), ChaCha20 (RFC 8439).
//!
//! # Guarantee
//!
//! If the operating system's bytes are independent and uniform and ChaCha20 is a pseudorandom function, the
//! words of all [`OsCoins`] of a program and of its forked children are, to any efficient observer,
//! independent and uniform. In particular:
//! - no word of the keystream is handed out twice, and a forked child hands out none of its parent's or its
//!   siblings';
//! - memory holds neither a word that was handed out, nor a key from which one could be computed.
//!
//! # Why
//!
//! 1. A refill turns the key into 4096 bytes of keystream, written over the key. The first 32 bytes are the
//!    next key, the other 508 words wait. No key makes two buffers, and ChaCha20 does not run backwards.
//! 2. A word is erased from the buffer as it is taken, before its caller sees it.
//! 3. Buffer and key live in a page that the kernel presents to a forked child as zeros (`MADV_WIPEONFORK`,
//!    Linux 4.14), however it was forked. Zeros have no words left and no key: the child asks the operating
//!    system for one. The child never held its parent's future words.
//! 4. Where the kernel does not offer that, or only claims to, a `pthread_atfork` handler counts forks: coins
//!    keyed under another count are keyed anew. There, a bare `clone` system call goes unseen.
//! 5. One comparison per word covers both: the count now, by a relaxed load, against the count that the page
//!    remembers. It is made after the word is taken, so that a child forked by a signal handler in the middle
//!    of a draw throws that word away. A child of `vfork` shares its parent's memory: nothing repeats.
//! 6. Every 2^20 refills (4 GiB) fresh bytes of the operating system are mixed into the key: whoever once
//!    stole the key does not keep up for ever.
//!
//! # Failure
//!
//! [`OsCoins::new`] returns an error. A draw that needs a new key and gets none panics, and so does every
//! draw after it until a key is there: it never goes on with old coins.
//!
//! # What remains trusted
//!
//! - The operating system's generator, through the crate `getrandom`; flags that replace it do not compile.
//! - The crate `chacha20`; a test compares it with a plain transcription of RFC 8439.
//! - Registers, the stack below a refill and swapped pages are not wiped.
//! - A machine or process restored twice from one snapshot repeats its coins; nothing here notices.

#![deny(unsafe_code)]

use chacha20::cipher::{Array, KeyIvInit, StreamCipherCore, consts::U64};
use chacha20::{ChaChaCore, Key, Nonce, R20, variants::Ietf};
use equipoise_core::coins::Words;
use page::{FORKS, Page};
use std::sync::atomic::{Ordering::Relaxed, Ordering::SeqCst, compiler_fence};
use std::{fmt, io, mem};
use zeroize::{Zeroize, Zeroizing};

#[cfg(not(unix))]
compile_error!("equipoise-entropy detects forks on unix; it has no other port yet");

#[allow(unexpected_cfgs)]
mod no_replacement {
    #[cfg(any(
        getrandom_backend = "custom",
        getrandom_backend = "extern_impl",
        getrandom_backend = "rdrand",
        getrandom_backend = "rndr",
        getrandom_backend = "unsupported"
    ))]
    compile_error!("getrandom_backend replaces the operating system's randomness; build without it");
}

pub mod fork;
#[allow(unsafe_code)]
mod page;

const KEY_BYTES: usize = 32;
/// Measured: 4 KiB is within 2 % of 32 KiB, and leaves little in memory.
const BUFFER_BYTES: usize = 4096;
const WORDS_PER_REFILL: usize = (BUFFER_BYTES - KEY_BYTES) / 8;
const REFILLS_PER_RESEED: u32 = 1 << 20;

/// Random words that nobody can repeat.
///
/// It can move to another thread, not be shared between two: each thread makes its own.
///
/// ```
/// use equipoise_core::coins::Coins;
/// let mut coins = equipoise_entropy::OsCoins::new()?;
/// assert!(coins.bits(6) < 64);
/// # Ok::<(), equipoise_entropy::EntropyError>(())
/// ```
pub struct OsCoins {
    page: Page,
}

impl OsCoins {
    /// Coins under a fresh key of the operating system.
    pub fn new() -> Result<Self, EntropyError> {
        page::watch_forks()?;
        let mut page = Page::map()?;
        page.wipe_on_fork();
        let mut coins = Self { page };
        coins.renew(getrandom::fill)?;
        Ok(coins)
    }

    /// New words; under a new key if this process has none yet or the old one has served its refills.
    fn renew(&mut self, system: fn(&mut [u8]) -> Result<(), getrandom::Error>) -> Result<(), EntropyError> {
        let (pool, keyed_at) = self.page.parts();
        let here = FORKS.load(Relaxed);
        if keyed_at.load(Relaxed) != here || pool.refills == REFILLS_PER_RESEED {
            // Mark first, ask second: a fork in between clears the mark, so that no two processes keep one
            // answer of the system.
            keyed_at.store(here, Relaxed);
            compiler_fence(SeqCst);
            let mut fresh = Zeroizing::new([0; KEY_BYTES]);
            if let Err(cause) = system(&mut *fresh) {
                keyed_at.store(0, Relaxed);
                return Err(EntropyError { call: "getrandom", cause: cause.into() });
            }
            pool.mix(&fresh);
        }
        pool.refill();
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn renew_or_panic(&mut self) {
        if let Err(error) = self.renew(getrandom::fill) {
            panic!("{error}");
        }
    }
}

impl Words for OsCoins {
    #[inline]
    fn word(&mut self) -> u64 {
        loop {
            let (pool, keyed_at) = self.page.parts();
            let word = pool.take();
            compiler_fence(SeqCst); // The check comes last, also if a signal handler forks right here.
            if let Some(word) = word
                && keyed_at.load(Relaxed) == FORKS.load(Relaxed)
            {
                return word;
            }
            self.renew_or_panic();
        }
    }
}

impl fmt::Debug for OsCoins {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OsCoins")
    }
}

/// The system gave no randomness, or no memory to keep it in.
#[derive(Debug)]
pub struct EntropyError {
    call: &'static str,
    cause: io::Error,
}

impl fmt::Display for EntropyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { call, cause } = self;
        write!(formatter, "no random coins: {call} failed ({cause}); check this process's ")?;
        formatter.write_str("system-call filter and memory limit, then run again")
    }
}

impl std::error::Error for EntropyError {}

/// Keystream: first the next key, then words, of which the first `left` still wait. All zeros is empty.
#[repr(C)]
struct Pool {
    buffer: [u8; BUFFER_BYTES],
    left: usize,
    refills: u32,
}

impl Pool {
    /// The last word that waits, erased where it stood.
    #[inline]
    fn take(&mut self) -> Option<u64> {
        let (words, _) = self.buffer[KEY_BYTES..].as_chunks_mut();
        let word = words.get_mut(self.left.wrapping_sub(1))?;
        self.left -= 1;
        Some(u64::from_le_bytes(mem::take(word)))
    }

    /// The key's keystream, over the key.
    fn refill(&mut self) {
        let key = self.buffer.first_chunk::<KEY_BYTES>().expect("the buffer is longer than a key");
        let mut cipher = ChaChaCore::<R20, Ietf>::new(<&Key>::from(key), &Nonce::default());
        let (blocks, _) = Array::<u8, U64>::slice_as_chunks_mut(&mut self.buffer);
        cipher.write_keystream_blocks(blocks);
        self.left = WORDS_PER_REFILL;
        self.refills += 1;
    }

    /// A key that is unknown if either the old key or the fresh bytes are.
    fn mix(&mut self, fresh: &[u8; KEY_BYTES]) {
        self.buffer.iter_mut().zip(fresh).for_each(|(key, fresh)| *key ^= fresh);
        self.refills = 0;
    }

    fn wipe(&mut self) {
        self.left.zeroize();
        self.buffer.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8439, section 2.3, word for word; nonce zero.
    fn plain_block(key: &[u8; 32], counter: u32) -> [u8; 64] {
        let mut input =
            [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574, 0, 0, 0, 0, 0, 0, 0, 0, counter, 0, 0, 0];
        let words = key.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        input[4..12].iter_mut().zip(words).for_each(|(slot, word)| *slot = word);
        let mut state: [u32; 16] = input;
        for round in 0..20 {
            for column in 0..4 {
                let [a, b, c, d] = [0, 1, 2, 3].map(|row| 4 * row + (column + (round % 2) * row) % 4);
                for (sum, add, xor, turn) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
                    state[sum] = state[sum].wrapping_add(state[add]);
                    state[xor] = (state[xor] ^ state[sum]).rotate_left(turn);
                }
            }
        }
        std::array::from_fn(|i| state[i / 4].wrapping_add(input[i / 4]).to_le_bytes()[i % 4])
    }

    /// What a refill under this key must give: the next key, and the words in the order of drawing.
    fn plain_refill(key: &[u8; 32]) -> ([u8; 32], Vec<u64>) {
        let stream: Vec<u8> = (0..64).flat_map(|counter| plain_block(key, counter)).collect();
        let words = stream[32..].as_chunks().0.iter().rev().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        (*stream.first_chunk().unwrap(), words)
    }

    fn key_of(coins: &mut OsCoins) -> [u8; 32] {
        *coins.page.parts().0.buffer.first_chunk().unwrap()
    }

    fn draw(coins: &mut OsCoins, count: usize) -> Vec<u64> {
        (0..count).map(|_| coins.word()).collect()
    }

    #[test]
    fn the_plain_block_is_that_of_the_rfc() {
        // RFC 8439, appendix A.1, test vectors 1 and 2.
        for (counter, first) in [(0, 0x903d_f1a0_ade0_b876), (1, 0x7a38_5155_bee7_079f)] {
            assert_eq!(plain_block(&[0; 32], counter)[..8], u64::to_le_bytes(first));
        }
    }

    #[test]
    fn each_refill_is_the_keystream_of_a_key_that_it_erases() {
        let mut pool = Pool { buffer: [0; BUFFER_BYTES], left: 0, refills: 0 };
        let mut key = std::array::from_fn(|i| u8::try_from(i).unwrap());
        pool.mix(&key);
        for _ in 0..5 {
            pool.refill();
            let (next, words) = plain_refill(&key);
            assert_eq!(pool.buffer[..KEY_BYTES], next);
            assert_eq!(std::iter::from_fn(|| pool.take()).collect::<Vec<_>>(), words);
            assert!(pool.buffer[KEY_BYTES..].iter().all(|&byte| byte == 0), "a word stayed");
            key = next;
        }
        pool.wipe();
        assert!(pool.buffer.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_word_is_gone_from_the_buffer_when_it_is_handed_out() {
        let mut coins = OsCoins::new().unwrap();
        for _ in 0..2 * WORDS_PER_REFILL {
            let word = coins.word().to_le_bytes();
            assert!(coins.page.parts().0.buffer.windows(8).all(|bytes| bytes != word));
        }
    }

    #[test]
    fn the_system_is_asked_again_after_so_many_refills_and_not_before() {
        let mut coins = OsCoins::new().unwrap();
        for (refills, chained) in [(REFILLS_PER_RESEED - 1, true), (REFILLS_PER_RESEED, false)] {
            let (_, expected) = plain_refill(&key_of(&mut coins));
            let (pool, _) = coins.page.parts();
            (pool.left, pool.refills) = (0, refills);
            assert_eq!(draw(&mut coins, WORDS_PER_REFILL) == expected, chained);
        }
    }

    #[test]
    fn a_failed_rekey_hands_out_nothing_and_is_tried_again() {
        let mut coins = OsCoins::new().unwrap();
        let (_, mut old) = plain_refill(&key_of(&mut coins));
        let (pool, keyed_at) = coins.page.parts();
        keyed_at.store(0, Relaxed);
        old.extend(pool.buffer.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
        let error = coins.renew(|_| Err(getrandom::Error::UNSUPPORTED)).unwrap_err();
        assert_eq!(error.call, "getrandom");
        assert!(draw(&mut coins, 2 * WORDS_PER_REFILL).iter().all(|word| !old.contains(word)));
        let denied = EntropyError { call: "getrandom", cause: io::Error::from_raw_os_error(libc::EPERM) };
        assert_eq!(
            denied.to_string(),
            "no random coins: getrandom failed (Operation not permitted (os error 1)); \
             check this process's system-call filter and memory limit, then run again"
        );
    }
}
